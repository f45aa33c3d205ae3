//! Where the texels of data lie.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Texture;
use crate::kernel::PooledTexture;
use crate::shape::Extent;

/// A texture of texla's, or one that the host has lent.
pub(super) enum Storage {
    Owned(PooledTexture),
    Borrowed(Device, Texture),
}

impl Storage {
    pub fn texture(&self) -> &Texture {
        match self {
            Storage::Owned(texture) => texture.texture(),
            Storage::Borrowed(_, texture) => texture,
        }
    }

    pub fn device(&self) -> &Device {
        match self {
            Storage::Owned(texture) => texture.device(),
            Storage::Borrowed(device, _) => device,
        }
    }
}

/// Checks a width and a height in texels, which the caller has given, against zero and against the device's limit.
pub(super) fn checked_extent(
    device: &Device,
    what: &'static str,
    width: usize,
    height: usize,
) -> Result<Extent> {
    let limit = device.max_texture_size();
    let side = |name, side: usize| match u32::try_from(side).ok().filter(|n| *n <= limit) {
        Some(0) => Err(Error::Parameter { op: what, name, value: "0".into(), expected: "1 texel at least" }),
        Some(n) => Ok(n),
        None => {
            let (requested, limit, unit) = (side as u64, u64::from(limit), "texels in one direction");
            Err(Error::TooLarge { what, requested, limit, unit })
        }
    };
    Ok(Extent::new(side("width", width)?, side("height", height)?))
}
