//! How many texels masks hold for, where no query tells: by adding them up \[Krueger05\] 44.3.2.

use super::domain::Domain;
use super::draw::Draw;
use super::pass::View;
use super::pool::PooledTexture;
use super::predicate::Mask;
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::shape::Extent;

/// Texels along either side of a window.
const WINDOW: u32 = 16;

/// Counts that stay on the device, a texel for each, until they are taken together.
///
/// Sums of floats would be exact up to 2^24 alone, and those of `ops` are a layer above: these are of integers below 2^32, more than a
/// texture has texels.
pub(super) struct Counts {
    texture: PooledTexture,
    used: u32,
}

impl Counts {
    /// Room for so many, or as many as a texture is wide.
    pub fn new(device: &Device, room: u32) -> Result<Self> {
        let extent = Extent::new(room.min(device.max_texture_size()), 1);
        Ok(Counts { texture: device.texture(extent, Format::Rgba32F, "counts of masks")?, used: 0 })
    }

    /// How many there are to take.
    pub fn under_way(&self) -> usize {
        self.used as usize
    }

    /// No further one has room.
    pub fn full(&self) -> bool {
        self.used >= self.texture.texture().extent().width
    }

    /// Counts what the mask holds for now. *Cost*: a draw for each factor of 256 in its texels, of 256 fetches a texel; 1 for fewer.
    pub fn add(&mut self, mask: &Mask) -> Result<()> {
        let device = self.texture.device();
        let draw = |x: View<'_>, first: bool, place: u32, target: View<'_>, domain: Domain<'_>| {
            let source = [x.extent.width as i32, x.extent.height as i32];
            let draw = Draw::new(device, glsl!("predicate/total.frag")).define("WINDOW", WINDOW);
            let draw = if first { draw.define("FIRST", 1u8) } else { draw };
            let draw = draw.addressed("x", x).param("source", source).param("place", place as i32);
            draw.target(target).on(domain).rounds(u64::from(WINDOW * WINDOW)).run()
        };
        let mut from: Option<(PooledTexture, Extent)> = None;
        loop {
            let x = match &from {
                Some((texture, extent)) => View::part(device, texture.texture(), *extent),
                None => mask.view(),
            };
            let [width, height] = [x.extent.width, x.extent.height].map(|side| side.div_ceil(WINDOW));
            if width.max(height) <= 1 {
                let texel = Domain::Rect { x: self.used, y: 0, width: 1, height: 1 };
                let counts = View::whole(device, self.texture.texture());
                draw(x, from.is_none(), self.used, counts, texel)?;
                self.used += 1;
                return Ok(());
            }
            let extent = Extent::new(width, height);
            let next = device.scratch(extent, "counts of a mask")?;
            draw(x, from.is_none(), 0, View::part(device, next.texture(), extent), Domain::Full)?;
            from = Some((next, extent));
        }
    }

    /// All that have been added since the last time, in their order. *Cost*: 1 readback, which waits for the device.
    pub fn take(&mut self) -> Result<Vec<u64>> {
        let extent = Extent::new(std::mem::take(&mut self.used), 1);
        let gl = self.texture.device().gl();
        let texels = gl.read_region(self.texture.texture(), [0, 0], extent, "counts of masks")?;
        let whole = |texel: &[f32]| texel.iter().take(2).rev().fold(0, |n, half| (n << 16) + *half as u64);
        Ok(texels.chunks(4).map(whole).collect())
    }
}
