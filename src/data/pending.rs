//! Values on their way to the host.

use crate::device::Device;
use crate::error::Result;
use crate::gl::{PendingPixels, Texture};

/// A copy to the host that was started with `read_async` and is polled, not waited for: the device writes into a
/// pixel buffer, a fence tells when it has.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0, 2.0, 3.0])?;
/// let pending = x.read_async()?;
/// let values = loop {
///     if let Some(values) = pending.poll()? {
///         break values; // meanwhile, other work could be given to the device
///     }
/// };
/// assert_eq!(values, [1.0, 2.0, 3.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct PendingRead {
    device: Device,
    pixels: PendingPixels,
    length: usize,
}

shown!(PendingRead, |read| "PendingRead({})", read.length);

impl PendingRead {
    pub(crate) fn start(device: &Device, texture: &Texture, length: usize) -> Result<Self> {
        let _scope = device.scope()?;
        let pixels = device.allocate(|| device.gl().read_later(texture, "read_async"))?;
        Ok(PendingRead { device: device.clone(), pixels, length })
    }

    /// The values if they have arrived. Does not wait.
    ///
    /// *Errors*: [`Error::ContextLost`](crate::Error::ContextLost).
    pub fn poll(&self) -> Result<Option<Vec<f32>>> {
        self.look(0)
    }

    /// The values, waiting for them. *Cost*: waits until the device has reached the copy. *Errors*:
    /// [`Error::ContextLost`](crate::Error::ContextLost).
    pub fn wait(&self) -> Result<Vec<f32>> {
        loop {
            if let Some(values) = self.look(100_000_000)? {
                return Ok(values);
            }
        }
    }

    fn look(&self, wait_ns: i32) -> Result<Option<Vec<f32>>> {
        let _scope = self.device.scope()?;
        if !self.pixels.ready(wait_ns)? {
            return Ok(None);
        }
        let mut values = self.pixels.take()?;
        values.truncate(self.length);
        Ok(Some(values))
    }
}
