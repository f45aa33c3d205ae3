//! A column vector on the device.

use super::pending::PendingRead;
use super::storage::{Storage, checked_extent, folded_texels};
use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::{Format, Lent, Texture};
use crate::host::parallel::Threads;
use crate::kernel::{Operand, Tail, TargetOperand, View};
use crate::shape::{Extent, Shape, fold_extent};

/// A column vector of 32-bit floats, folded into a nearly square RGBA texture with four consecutive elements in each
/// texel ([`Layout::Folded`](crate::Layout::Folded); the fold is that of \[Krueger05\] 44.2.2). Lanes past the last element are zero after every
/// operation.
///
/// The length ends at the texture area: `4 · limit²` elements for a limit that is a power of two.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert_eq!((x.len(), x.extent().width, x.extent().height), (5, 2, 1));
/// assert_eq!(x.read()?, [1.0, 2.0, 3.0, 4.0, 5.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Vector {
    storage: Storage,
    length: usize,
}

impl Vector {
    /// Refuses a length past the texture area, with no more work than that takes: no look at the values, no GL.
    pub(crate) fn check_length(device: &Device, length: usize) -> Result<Extent> {
        fold_extent(length as u64, device.max_texture_size())
    }

    /// A vector whose elements are yet to be written. Every element must be, padding included.
    pub(crate) fn uninit(device: &Device, length: usize) -> Result<Self> {
        let extent = Self::check_length(device, length)?;
        // An empty vector has a texel that is all padding, so that no operation needs a case for it.
        let extent = Extent::new(extent.width.max(1), extent.height.max(1));
        let texture = device.texture(extent, Format::Rgba32F, "Vector")?;
        Ok(Vector { storage: Storage::Owned(texture), length })
    }

    /// A vector of zeros.
    ///
    /// *Cost*: 1 clear. *Errors*: [`Error::TooLarge`] past the texture area, before anything is allocated;
    /// [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, length: usize) -> Result<Self> {
        Self::check_length(device, length)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, length)?;
        made.clear()?;
        Ok(made)
    }

    /// A vector with these elements.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::NonFinite`] with the index of the first NaN or infinity (a shader would
    /// not keep it); [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn from_slice(device: &Device, values: &[f32]) -> Result<Self> {
        Self::check_length(device, values.len())?;
        check_values("Vector::from_slice", values)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, values.len())?;
        made.upload(values)?;
        Ok(made)
    }

    /// A vector with these elements, each rounded to 32 bits. *Cost* and *errors*: as
    /// [`from_slice`](Self::from_slice); a value that overflows 32 bits is [`Error::NonFinite`].
    pub fn from_f64(device: &Device, values: &[f64]) -> Result<Self> {
        Self::check_length(device, values.len())?;
        check_values("Vector::from_f64", values)?;
        let rounded = Threads::all().made(values.len(), |i| values.get(i).map_or(0.0, |v| *v as f32));
        Self::from_slice(device, &rounded)
    }

    /// Borrows the host's own float texture as an input, without a copy: element `4 (y w + x) + c` is channel `c` of
    /// texel `(x, y)`. All `4 w h` channels are elements, so there are no padding lanes to be kept zero.
    ///
    /// The texture is read only: as the target of an operation it is [`Error::Unsupported`]. Values are not checked
    /// for NaN.
    ///
    /// *Cost*: a dozen queries; nothing is drawn or copied. *Errors*: [`Error::TooLarge`] past the texture size and
    /// [`Error::Parameter`] without texels; [`Error::Unsupported`] when the driver says that the texture has another size (OpenGL ES 3.0 cannot be
    /// asked), another format than RGBA32F or RGBA16F, a base level other than 0, or a swizzle.
    ///
    /// # Safety
    /// `texture` is a complete 2-D texture of this extent in this device's context, lives as long as the vector, and
    /// keeps what is checked here while it does. If another context has made or changed it, that work has been
    /// [waited for](crate::guide::threads).
    #[allow(unsafe_code)]
    pub unsafe fn from_texture(
        device: &Device,
        texture: glow::Texture,
        width: usize,
        height: usize,
    ) -> Result<Self> {
        let extent = checked_extent(device, "Vector::from_texture", width, height)?;
        let length = usize::try_from(extent.area().saturating_mul(4)).unwrap_or(usize::MAX);
        let _scope = device.scope()?;
        let texture = Texture::borrowed(device.gl(), texture, extent, Lent::ToRead)?;
        Ok(Vector { storage: Storage::Borrowed(device.clone(), texture), length })
    }

    fn clear(&mut self) -> Result<()> {
        let _scope = self.device().scope()?;
        self.device().gl().clear(self.gl_texture(), [0.0; 4], "Vector")
    }

    /// Sets every element to zero. *Cost*: 1 clear.
    pub fn set_zero(&mut self) -> Result<()> {
        self.writable("Vector::set_zero")?;
        self.clear()
    }

    /// Replaces all elements. *Cost*: 1 upload. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`].
    pub fn write(&mut self, values: &[f32]) -> Result<()> {
        self.writable("Vector::write")?;
        if values.len() != self.length {
            let (found, expected) = (values.len(), self.length);
            return Err(Error::LengthMismatch { op: "Vector::write", operand: "values", found, expected });
        }
        check_values("Vector::write", values)?;
        self.upload(values)
    }

    /// Refuses what would write to a borrowed texture, or exchange it for another.
    pub(crate) fn writable(&self, what: &str) -> Result<()> {
        match self.storage {
            Storage::Owned(_) => Ok(()),
            Storage::Borrowed(..) => Err(Error::Unsupported {
                what: what.to_owned(),
                why: "a texture borrowed from the host is read-only".into(),
            }),
        }
    }

    fn upload(&mut self, values: &[f32]) -> Result<()> {
        let texels = folded_texels(values, self.extent())?;
        let _scope = self.device().scope()?;
        self.device().gl().upload(self.gl_texture(), bytemuck::cast_slice(&texels), "Vector")
    }

    /// Copies the elements to the host. *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        let _scope = self.device().scope()?;
        let mut values = self.device().gl().read(self.gl_texture(), "Vector")?;
        values.truncate(self.length);
        Ok(values)
    }

    /// Copies the elements into a slice. *Cost*: as [`read`](Self::read). *Errors*: [`Error::LengthMismatch`].
    pub fn read_into(&self, out: &mut [f32]) -> Result<()> {
        if out.len() != self.length {
            let (found, expected) = (out.len(), self.length);
            return Err(Error::LengthMismatch { op: "Vector::read_into", operand: "out", found, expected });
        }
        out.copy_from_slice(&self.read()?);
        Ok(())
    }

    /// One element on the host. *Cost*: 1 readback of a texel, which waits for the device. *Errors*:
    /// [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let x = texla::Vector::from_slice(ctx.device(), &[1.0, 2.0, 3.0, 4.0, 5.0])?;
    /// assert_eq!((x.element(1)?, x.element(4)?), (2.0, 5.0));
    /// assert!(x.element(5).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn element(&self, index: usize) -> Result<f32> {
        if index >= self.length {
            let (what, bound) = ("Vector::element", self.length);
            return Err(Error::IndexOutOfRange { what, index, bound });
        }
        let _scope = self.device().scope()?;
        let width = self.extent().width.max(1) as usize;
        // The texel lies within a texture, whose sides fit 32 bits.
        let at = [(index / 4 % width) as u32, (index / 4 / width) as u32];
        let texel = self.device().gl().read_region(self.gl_texture(), at, Extent::new(1, 1), "Vector")?;
        Ok(texel.get(index % 4).copied().unwrap_or_default())
    }

    /// All texels, padding lanes included: for tests of the rule that those are zero. *Cost*: 1 readback.
    pub fn read_texels(&self) -> Result<Vec<f32>> {
        let _scope = self.device().scope()?;
        self.device().gl().read(self.gl_texture(), "Vector")
    }

    /// Starts to copy the elements to the host; poll the result. *Cost*: 1 asynchronous readback.
    pub fn read_async(&self) -> Result<PendingRead> {
        PendingRead::start(self.device(), self.gl_texture(), self.length)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// `len` x 1.
    pub fn shape(&self) -> Shape {
        Shape::column(self.length)
    }

    /// The texture's extent in texels.
    pub fn extent(&self) -> Extent {
        self.gl_texture().extent()
    }

    /// The device the vector lives on.
    pub fn device(&self) -> &Device {
        self.storage.device()
    }

    /// The RGBA32F texture that holds the elements, for the host to sample or draw. It stays texla's: valid until the
    /// vector drops or an operation in place exchanges it for another (`scale`, [`Combine::Accumulate`](crate::ops::Combine));
    /// writing to it breaks the rule of the padding lanes.
    ///
    /// Sample it with a nearest filter. Where OpenGL ES or WebGL has no `OES_texture_float_linear`, a float texture is incomplete
    /// under a linear filter and samples black; a [`Picture`](crate::Picture) can be filtered everywhere. Which parameters a host may
    /// set by the name is in [the guide](crate::guide::host#results-in-the-applications-shaders).
    pub fn texture(&self) -> glow::Texture {
        self.gl_texture().hand_out()
    }

    pub(crate) fn gl_texture(&self) -> &Texture {
        self.storage.texture()
    }
}

impl Operand for Vector {
    fn view(&self) -> View<'_> {
        let tail = Tail::folded(self.length, self.extent().width);
        View { tail, ..View::whole(self.device(), self.gl_texture()) }
    }
}

impl TargetOperand for Vector {}

impl std::fmt::Debug for Vector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Vector({} in {})", self.length, self.extent())
    }
}
