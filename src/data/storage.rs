//! Where the texels of data lie.

use crate::device::Device;
use crate::gl::Texture;
use crate::kernel::PooledTexture;

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
