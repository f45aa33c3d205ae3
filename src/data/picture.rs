//! An image to look at.

use super::storage::{Storage, checked_extent};
use crate::device::Device;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::gl::{Format, Lent, Texture};
use crate::kernel::{Operand, TargetOperand, View};
use crate::shape::Extent;

/// An image of red, green, blue and alpha from 0 to 1: what a toolkit shows as it is, and what an engine's own texture is drawn
/// into through.
///
/// [`ops::vector_to_picture`](crate::ops::vector_to_picture) fills it from a vector in natural order; any
/// [`Kernel`](crate::kernel::Kernel) may have it for a target or an input. Its own texture is RGBA8; one of the host's
/// ([`from_texture`](Self::from_texture)) keeps its format. Colours are written as they are, not encoded: egui, imgui and others take
/// bytes for sRGB. Row 0 is the first in memory and the lowest one in GL; toolkits that begin at the top show it there.
///
/// ```
/// use texla::{Picture, Vector, ops::{self, Shades}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let v = Vector::from_slice(dev, &[0.0, 0.5, 1.0, 2.0])?; // 2 x 2, row by row
/// let mut picture = Picture::new(dev, 2, 2)?; // once
/// ops::vector_to_picture(&mut picture, &v, &Shades::grey(0.0, 1.0))?; // in every frame; nothing is read back
/// let name_for_the_toolkit = picture.texture();
/// assert_eq!(picture.read()?[0], [0, 0, 0, 255]);
/// assert_eq!(picture.read()?[3], [255; 4]);
/// # let _ = name_for_the_toolkit;
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Picture {
    storage: Storage,
}

shown!(Picture, |p| "Picture({})", p.extent());

impl Picture {
    /// An opaque black image of `width` x `height` texels.
    ///
    /// *Cost*: 1 clear; 4 bytes a texel. *Errors*: [`Error::TooLarge`] past the texture size and [`Error::Parameter`] without texels,
    /// before anything is allocated; [`Error::OutOfMemory`].
    pub fn new(device: &Device, width: usize, height: usize) -> Result<Self> {
        let extent = checked_extent(device, "Picture", width, height)?;
        let _scope = device.scope()?;
        let texture = device.texture(extent, Format::Rgba8, "Picture")?;
        device.gl().clear(texture.texture(), [0.0, 0.0, 0.0, 1.0], "Picture")?;
        Ok(Picture { storage: Storage::Owned(texture) })
    }

    /// Borrows a texture of the host's to draw into, of any format that takes floats: RGBA8, RGB10_A2, RGBA16F, RGBA32F, or with
    /// fewer channels, of which those that it has are written. Level 0 is drawn into; mipmaps stay as they are.
    ///
    /// *Cost*: a dozen queries; nothing is drawn or copied. *Errors*: those of the size, as [`new`](Self::new);
    /// [`Error::Unsupported`] when the driver says that the texture has another size (OpenGL ES 3.0 cannot be asked), holds integers,
    /// is encoded as sRGB (OpenGL ES would encode what OpenGL would not), cannot be drawn into, or has a base level other than 0 or a
    /// swizzle.
    ///
    /// # Safety
    /// `texture` is a complete 2-D texture of this extent in this device's context, lives as long as the picture, and keeps what is
    /// checked here while it does. If another context has made or used it, that work has been [waited for](crate::guide::threads).
    #[allow(unsafe_code)]
    pub unsafe fn from_texture(
        device: &Device,
        texture: glow::Texture,
        width: usize,
        height: usize,
    ) -> Result<Self> {
        let extent = checked_extent(device, "Picture", width, height)?;
        let _scope = device.scope()?;
        let texture = Texture::borrowed(device.gl(), texture, extent, Lent::ToDrawInto)?;
        Ok(Picture { storage: Storage::Borrowed(device.clone(), texture) })
    }

    /// Copies the texels to the host, row by row, in bytes: red, green, blue, alpha. Floats of a host's texture are cut off at 0 and 1.
    ///
    /// *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<Vec<[u8; 4]>> {
        let (gl, texture, what) = (self.device().gl(), self.gl_texture(), "Picture");
        let _scope = self.device().scope()?;
        let bytes = match texture.format() {
            // OpenGL ES makes no bytes of floats.
            Format::Rgba32F => gl.read(texture, what)?.iter().map(|v| (v * 255.0).round() as u8).collect(),
            _ => gl.read_bytes(texture, what)?,
        };
        Ok(bytemuck::cast_slice(&bytes).to_vec())
    }

    fn gl_texture(&self) -> &Texture {
        self.storage.texture()
    }

    /// Width and height.
    pub fn extent(&self) -> Extent {
        self.gl_texture().extent()
    }

    /// The device the picture lives on.
    pub fn device(&self) -> &Device {
        self.storage.device()
    }

    /// The texture, for the host to sample or draw; the same name until the picture drops. RGBA8, as the picture's own texture is,
    /// can be sampled with a linear filter on every device, which float textures cannot.
    pub fn texture(&self) -> glow::Texture {
        self.gl_texture().hand_out()
    }
}

impl Operand for Picture {
    fn view(&self) -> View<'_> {
        View::whole(self.device(), self.gl_texture())
    }
}

impl TargetOperand for Picture {}
