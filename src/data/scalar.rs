//! One number on the device.

use super::pending::PendingRead;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Format;
use crate::kernel::{Operand, PooledTexture, Tail, TargetOperand, View};
use crate::shape::Extent;

/// A single 32-bit float in a 1x1 texture \[Krueger05\] 44.2.1: the result of a reduction, the coefficient of an
/// update. It stays on the device; [`read`](Self::read) is the one call that waits.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let s = texla::Scalar::new(dev, 2.5)?;
/// assert_eq!(s.read()?, 2.5);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Scalar {
    texture: PooledTexture,
}

shown!(Scalar, |s| "Scalar({:?})", s.texture.device());

impl Scalar {
    /// A scalar with this value. *Cost*: 1 upload. *Errors*: [`Error::NonFinite`](crate::Error::NonFinite).
    pub fn new(device: &Device, value: f32) -> Result<Self> {
        crate::error::check_finite("Scalar::new", [f64::from(value)])?;
        Self::from_texel(device, [value, 0.0, 0.0, 0.0])
    }

    /// Zero. *Cost*: 1 upload. *Errors*: [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn zero(device: &Device) -> Result<Self> {
        Self::from_texel(device, [0.0; 4])
    }

    /// A scalar whose value is yet to be written.
    pub(crate) fn uninit(device: &Device) -> Result<Self> {
        Ok(Scalar { texture: device.texture(Extent::new(1, 1), Format::Rgba32F, "Scalar")? })
    }

    /// A texel of four related numbers, as solvers keep them.
    pub(crate) fn from_texel(device: &Device, texel: [f32; 4]) -> Result<Self> {
        let _scope = device.scope()?;
        let texture = device.texture(Extent::new(1, 1), Format::Rgba32F, "Scalar")?;
        device.gl().upload(texture.texture(), bytemuck::cast_slice(&texel), "Scalar")?;
        Ok(Scalar { texture })
    }

    /// Makes it these numbers. *Cost*: 1 clear.
    pub(crate) fn set_texel(&mut self, texel: [f32; 4]) -> Result<()> {
        let _scope = self.device().scope()?;
        self.device().gl().clear(self.texture.texture(), texel, "Scalar")
    }

    /// Copies the value to the host. *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<f32> {
        Ok(self.read_texel()?[0])
    }

    pub(crate) fn read_texel(&self) -> Result<[f32; 4]> {
        let _scope = self.device().scope()?;
        let values = self.device().gl().read(self.texture.texture(), "Scalar")?;
        let mut texel = [0.0; 4];
        texel.iter_mut().zip(values).for_each(|(t, v)| *t = v);
        Ok(texel)
    }

    /// Starts to copy the value to the host; poll the result. *Cost*: 1 asynchronous readback.
    pub fn read_async(&self) -> Result<PendingRead> {
        PendingRead::start(self.device(), self.texture.texture(), 1)
    }

    /// The device the scalar lives on.
    pub fn device(&self) -> &Device {
        self.texture.device()
    }

    /// The 1x1 RGBA32F texture with the value in its red channel, for the host to sample. It stays texla's: valid
    /// until the scalar drops. Sample it with a nearest filter, as [`Vector::texture`](crate::Vector::texture).
    pub fn texture(&self) -> glow::Texture {
        self.texture.texture().hand_out()
    }

    /// All four channels on their way to the host.
    pub(crate) fn read_texel_async(&self) -> Result<PendingRead> {
        PendingRead::start(self.device(), self.texture.texture(), 4)
    }
}

impl Operand for Scalar {
    fn view(&self) -> View<'_> {
        View { tail: Tail::folded(1, 1), ..View::whole(self.device(), self.texture.texture()) }
    }
}

impl TargetOperand for Scalar {}
