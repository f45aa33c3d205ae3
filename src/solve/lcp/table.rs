//! A few numbers for each of several items: one texel an item, folded like a vector.

use crate::data::PendingRead;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Format;
use crate::kernel::{PooledTexture, View};
use crate::shape::{Extent, fold_extent};
use crate::solve::drive::slices::arrived;

/// One texel for each problem, or for each range of a reduction.
pub(super) struct Table {
    texture: PooledTexture,
    items: usize,
}

impl Table {
    /// A table yet to be written.
    pub fn uninit(device: &Device, items: usize) -> Result<Self> {
        Self::of(device, items, Format::Rgba32F)
    }

    /// Four numbers for each item.
    pub fn floats(device: &Device, texels: &[[f32; 4]]) -> Result<Self> {
        let made = Self::uninit(device, texels.len())?;
        let mut values: Vec<f32> = texels.iter().flatten().copied().collect();
        values.resize(4 * made.texture.texture().extent().area() as usize, 0.0);
        made.upload(bytemuck::cast_slice(&values))
    }

    /// The same four numbers for each item.
    pub fn filled(device: &Device, items: usize, texel: [f32; 4]) -> Result<Self> {
        Self::floats(device, &vec![texel; items])
    }

    /// Four integers for each item.
    pub fn words(device: &Device, texels: &[[u32; 4]]) -> Result<Self> {
        let made = Self::of(device, texels.len(), Format::Rgba32Ui)?;
        let mut words: Vec<u32> = texels.iter().flatten().copied().collect();
        words.resize(4 * made.texture.texture().extent().area() as usize, 0);
        made.upload(&words)
    }

    fn of(device: &Device, items: usize, format: Format) -> Result<Self> {
        let extent = fold_extent((items as u64).saturating_mul(4), device.max_texture_size())?;
        let extent = Extent::new(extent.width.max(1), extent.height.max(1));
        Ok(Table { texture: device.texture(extent, format, "table")?, items })
    }

    fn upload(self, words: &[u32]) -> Result<Self> {
        let device = self.texture.device();
        let _scope = device.scope()?;
        device.gl().upload(self.texture.texture(), words, "table")?;
        Ok(self)
    }

    /// The table as a kernel sees it. Texels past the last item hold nothing of meaning.
    pub fn view(&self) -> View<'_> {
        View::whole(self.texture.device(), self.texture.texture())
    }

    /// Sends for all numbers.
    pub fn send(&self) -> Result<PendingRead> {
        PendingRead::start(self.texture.device(), self.texture.texture(), 4 * self.items)
    }

    /// All numbers, item by item. *Cost*: waits for the device.
    pub async fn read(&self) -> Result<Vec<[f32; 4]>> {
        Ok(texels(&arrived(&self.send()?).await?))
    }
}

/// Numbers that have arrived, item by item.
pub(super) fn texels(values: &[f32]) -> Vec<[f32; 4]> {
    values.as_chunks::<4>().0.to_vec()
}
