//! Where the texels of data lie.

use std::borrow::Cow;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Texture;
use crate::kernel::PooledTexture;
use crate::shape::{Extent, Layout, Shape};

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

/// The texels of a folded vector: its elements, where they fill all.
pub(super) fn folded_texels(values: &[f32], extent: Extent) -> Result<Cow<'_, [f32]>> {
    let lanes = 4 * extent.area().max(1) as usize;
    if values.len() == lanes {
        return Ok(Cow::Borrowed(values));
    }
    let mut texels = Layout::Folded.texels(Shape::column(values.len()), extent, values)?;
    texels.resize(lanes, 0.0);
    Ok(Cow::Owned(texels))
}
