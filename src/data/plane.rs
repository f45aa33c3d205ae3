//! A grid with one element a texel, for rendering.

use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::Format;
use crate::kernel::{Operand, PooledTexture, TargetOperand, View};
use crate::shape::{Extent, Shape};

/// A grid of `width` x `height` elements with one 32-bit float a texel (R32F): the unpacked form of \[Krueger05\] 44.3.4,
/// which an application's shader samples as a height field or an image, without knowing how vectors fold.
///
/// Element (x, y) is texel (x, y). [`ops::vector_to_plane`](crate::ops::vector_to_plane) fills it from a vector in natural
/// order, [`ops::plane_to_vector`](crate::ops::plane_to_vector) goes back. There are no padding lanes, so the application may
/// also draw into the texture, with a framebuffer of its own: paint drops, then go back. What it draws is not checked for NaN.
///
/// ```
/// use texla::{Plane, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let heights = Vector::from_slice(dev, &[0., 1., 2., 10., 11., 12.])?; // 3 x 2, row by row
/// let mut plane = Plane::zeros(dev, 3, 2)?;
/// ops::vector_to_plane(&mut plane, &heights)?; // 1 draw, nothing is read back
/// let name_for_the_host = plane.texture(); // sample it: texel (2, 1) holds 12
/// assert_eq!(plane.read()?, [0., 1., 2., 10., 11., 12.]);
/// # let _ = name_for_the_host;
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Plane {
    texture: PooledTexture,
    width: usize,
    height: usize,
}

impl Plane {
    fn uninit(device: &Device, width: usize, height: usize) -> Result<Self> {
        let limit = device.max_texture_size();
        let side = |n: usize| u32::try_from(n.max(1)).ok().filter(|n| *n <= limit);
        let (Some(w), Some(h)) = (side(width), side(height)) else {
            let (what, requested, limit) = ("Plane", width.max(height) as u64, u64::from(limit));
            return Err(Error::TooLarge { what, requested, limit, unit: "texels in one direction" });
        };
        let texture = device.texture(Extent::new(w, h), Format::R32F, "Plane")?;
        Ok(Plane { texture, width, height })
    }

    /// A grid of zeros.
    ///
    /// *Cost*: 1 clear. *Errors*: [`Error::TooLarge`] past the texture size, before anything is allocated;
    /// [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, width: usize, height: usize) -> Result<Self> {
        let _scope = device.scope()?;
        let made = Self::uninit(device, width, height)?;
        device.gl().clear(made.texture.texture(), [0.0; 4], "Plane")?;
        Ok(made)
    }

    /// A grid from its elements, row by row. *Cost*: 1 upload. *Errors*: as [`zeros`](Self::zeros),
    /// [`Error::LengthMismatch`], [`Error::NonFinite`].
    pub fn from_rows(device: &Device, width: usize, height: usize, values: &[f32]) -> Result<Self> {
        let op = "Plane::from_rows";
        check_length(op, "values", values.len(), width.saturating_mul(height))?;
        check_values(op, values)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, width, height)?;
        made.upload(values)?;
        Ok(made)
    }

    /// Replaces all elements, row by row. *Cost*: 1 upload. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`];
    /// the grid then stays as it was.
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let mut plane = texla::Plane::zeros(ctx.device(), 2, 2)?;
    /// plane.write(&[1., 2., 3., 4.])?;
    /// let mut out = [0.0; 4];
    /// plane.read_into(&mut out)?;
    /// assert_eq!(out, [1., 2., 3., 4.]);
    /// assert!(plane.write(&[1., 2., 3.]).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn write(&mut self, values: &[f32]) -> Result<()> {
        check_length("Plane::write", "values", values.len(), self.len())?;
        check_values("Plane::write", values)?;
        self.upload(values)
    }

    fn upload(&mut self, values: &[f32]) -> Result<()> {
        let none;
        let texels = if values.is_empty() {
            none = vec![0.0; self.extent().area() as usize];
            &none
        } else {
            values
        };
        let _scope = self.device().scope()?;
        self.device().gl().upload(self.texture.texture(), bytemuck::cast_slice(texels), "Plane")
    }

    /// Copies the elements to the host, row by row. *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        let _scope = self.device().scope()?;
        let mut values = self.device().gl().read(self.texture.texture(), "Plane")?;
        values.truncate(self.len());
        Ok(values)
    }

    /// Copies the elements into a slice, row by row. *Cost*: as [`read`](Self::read). *Errors*:
    /// [`Error::LengthMismatch`].
    pub fn read_into(&self, out: &mut [f32]) -> Result<()> {
        check_length("Plane::read_into", "out", out.len(), self.len())?;
        out.copy_from_slice(&self.read()?);
        Ok(())
    }

    /// Element (x, y) on the host. *Cost*: 1 readback of a texel, which waits for the device. *Errors*:
    /// [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let plane = texla::Plane::from_rows(ctx.device(), 3, 2, &[0., 1., 2., 10., 11., 12.])?;
    /// assert_eq!((plane.element(2, 0)?, plane.element(1, 1)?), (2.0, 11.0));
    /// assert!(plane.element(0, 2).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn element(&self, x: usize, y: usize) -> Result<f32> {
        for (what, index, bound) in
            [("Plane::element: x", x, self.width), ("Plane::element: y", y, self.height)]
        {
            if index >= bound {
                return Err(Error::IndexOutOfRange { what, index, bound });
            }
        }
        let _scope = self.device().scope()?;
        // Both lie within the texture, whose sides fit 32 bits.
        let at = [x as u32, y as u32];
        let texel = self.device().gl().read_region(self.texture.texture(), at, Extent::new(1, 1), "Plane")?;
        Ok(texel.first().copied().unwrap_or_default())
    }

    /// Elements in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.width * self.height
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows and columns: `height` x `width`.
    pub fn shape(&self) -> Shape {
        Shape::new(self.height, self.width)
    }

    /// The texture's extent in texels; 1 where the grid has none.
    pub fn extent(&self) -> Extent {
        self.texture.texture().extent()
    }

    /// The device the grid lives on.
    pub fn device(&self) -> &Device {
        self.texture.device()
    }

    /// The R32F texture, for the host to sample or to draw into: nearest filter, edges clamped, no mipmaps, unless a
    /// sampler object of the host's says otherwise. It is texla's, and the same until the grid drops.
    ///
    /// Sample it with a nearest filter. Where OpenGL ES or WebGL has no `OES_texture_float_linear`, a float texture is incomplete
    /// under a linear filter and samples black; a [`Picture`](crate::Picture) can be filtered everywhere.
    pub fn texture(&self) -> glow::Texture {
        self.texture.texture().hand_out()
    }
}

fn check_length(op: &'static str, operand: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::LengthMismatch { op, operand, found, expected }) }
}

impl Operand for Plane {
    fn view(&self) -> View<'_> {
        View::whole(self.device(), self.texture.texture())
    }
}

impl TargetOperand for Plane {}

impl std::fmt::Debug for Plane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plane({}x{})", self.width, self.height)
    }
}
