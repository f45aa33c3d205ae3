//! A rectangular array of floats in one texture, in any of the layouts.

use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::gl::Format;
use crate::kernel::{Operand, PooledTexture, TargetOperand, View};
use crate::shape::{Extent, Layout, Shape};

/// A rectangular array in one texture, in a [`Layout`] of one's choice: what passes between the layouts of the
/// sources, and what a host draws from. Padding lanes are zero.
///
/// ```
/// use texla::{Layout, Packed, Shape};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let columns = Packed::from_rows(dev, Shape::new(2, 3), Layout::Column4, &[1., 2., 3., 4., 5., 6.])?;
/// let blocks = columns.repack(Layout::Block2x2)?;
/// assert_eq!(blocks.read()?, [1., 2., 3., 4., 5., 6.]);
/// assert_eq!((blocks.extent().width, blocks.extent().height), (2, 1));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Packed {
    texture: PooledTexture,
    shape: Shape,
    layout: Layout,
}

shown!(Packed, |a| "Packed({} as {:?} in {})", a.shape, a.layout, a.texture.texture().extent());

impl Packed {
    pub(crate) fn uninit(device: &Device, shape: Shape, layout: Layout) -> Result<Self> {
        let extent = layout.extent(shape, device.max_texture_size())?;
        let extent = Extent::new(extent.width.max(1), extent.height.max(1));
        let texture = device.texture(extent, Format::Rgba32F, "Packed")?;
        Ok(Packed { texture, shape, layout })
    }

    /// An array of zeros: a target to [repack](crate::ops::repack) into, or for a kernel.
    ///
    /// *Cost*: 1 clear. *Errors*: [`Error::TooLarge`], [`Error::OutOfMemory`].
    ///
    /// ```
    /// use texla::{Layout, Packed, Shape};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let batch = Packed::zeros(dev, Shape::new(3, 5), Layout::Batch4)?;
    /// assert_eq!(batch.read()?, [0.0; 15]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn zeros(device: &Device, shape: Shape, layout: Layout) -> Result<Self> {
        let _scope = device.scope()?;
        let made = Self::uninit(device, shape, layout)?;
        device.gl().clear(made.texture.texture(), [0.0; 4], "Packed")?;
        Ok(made)
    }

    /// An array from its elements, row by row.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`], [`Error::TooLarge`],
    /// [`Error::OutOfMemory`].
    pub fn from_rows(device: &Device, shape: Shape, layout: Layout, values: &[f32]) -> Result<Self> {
        if values.len() != shape.len() {
            let (found, expected) = (values.len(), shape.len());
            return Err(Error::LengthMismatch {
                op: "Packed::from_rows",
                operand: "values",
                found,
                expected,
            });
        }
        check_finite("Packed::from_rows", values.iter().map(|v| f64::from(*v)))?;
        let _scope = device.scope()?;
        let made = Self::uninit(device, shape, layout)?;
        let texels =
            if shape.is_empty() { vec![0.0; 4] } else { layout.texels(shape, made.extent(), values)? };
        device.gl().upload(made.texture.texture(), bytemuck::cast_slice(&texels), "Packed")?;
        Ok(made)
    }

    /// Copies the elements to the host, row by row. *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        if self.shape.is_empty() {
            return Ok(Vec::new());
        }
        self.layout.elements(self.shape, self.extent(), &self.read_texels()?)
    }

    /// All texels, padding lanes included. *Cost*: 1 readback.
    pub fn read_texels(&self) -> Result<Vec<f32>> {
        let _scope = self.device().scope()?;
        self.device().gl().read(self.texture.texture(), "Packed")
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The texture's extent in texels.
    pub fn extent(&self) -> Extent {
        self.texture.texture().extent()
    }

    /// The device the array lives on.
    pub fn device(&self) -> &Device {
        self.texture.device()
    }

    /// The RGBA32F texture, for the host to sample or draw; valid until the array drops.
    ///
    /// Sample it with a nearest filter. Where OpenGL ES or WebGL has no `OES_texture_float_linear`, a float texture is incomplete
    /// under a linear filter and samples black; a [`Picture`](crate::Picture) can be filtered everywhere.
    pub fn texture(&self) -> glow::Texture {
        self.texture.texture().hand_out()
    }
}

impl Operand for Packed {
    fn view(&self) -> View<'_> {
        View::whole(self.device(), self.texture.texture())
    }
}

impl TargetOperand for Packed {}
