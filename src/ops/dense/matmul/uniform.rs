//! Products with `B` in a uniform buffer: what lies where, and the passes of a range of the inner dimension.

use super::plan::{MatmulForm, Stretch};
use super::run::{Product, Region, operand};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Block, DataBuffer, Format, glsl};
use crate::kernel::{Accum, Domain, Draw, View};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// Columns of a draw: one for each of its targets.
pub(super) const COLUMNS: u32 = 8;

/// The least texture side with room for all that is laid out here.
const LEAST_SIDE: u32 = 64;

/// Groups of four inner indices in one pass at most, as many as a block and the textures have room for; `None` where
/// textures are too small.
pub(super) fn most_quads(device: &Device) -> Option<u32> {
    let room = device.gl().caps.borrow().max_block_vec4s.min(device.max_texture_size());
    (device.max_texture_size() >= LEAST_SIDE).then(|| (1 << room.max(1).ilog2()) / COLUMNS)
}

/// `vec4`s of a block for so many groups of four inner indices: a power of two, so that few programs are compiled, and at
/// least the alignment of ranges, which is 256 bytes at most.
pub(super) fn block(quads: u32) -> u32 {
    (COLUMNS * quads).next_power_of_two().max(16)
}

/// Fragments of a draw side by side; they are two rows, so that quads of the rasteriser are whole and textures of `A` not
/// too tall. In whole blocks of texels, where textures have room for that.
pub(super) fn width(region: Extent, side: u32) -> u32 {
    region.height.div_ceil(2).next_multiple_of(16).min(side)
}

/// The copies of both operands in front of a range, for panels of this extent; the one to a buffer counts as a texture's.
pub(super) fn copies(panel: Extent, quads: u32, form: MatmulForm) -> Workload {
    let spread = Extent::new(panel.width, 8 * quads);
    let grouped = Extent::new(block(quads), panel.height / 2);
    let [a, b] = [spread, grouped].map(|e| e.area() as f64);
    let fetches = match form.transposes_a() {
        true => Fetches::default().with_strided(4.0 * a),
        false => Fetches::default().with_adjacent(a),
    };
    let copied = Workload::pass(grouped, 1, Fetches::default().with_strided(b));
    let buffer = Workload::pass(grouped, 1, Fetches::default()).with_draws(0.0).with_target_changes(0.0);
    Workload::pass(spread, 1, fetches) + copied + buffer
}

impl Product<'_> {
    /// One range of the inner dimension: both operands are laid out as they are read, `B` is copied to a buffer, and each
    /// draw computes all rows of eight columns.
    pub(super) fn uniform_pass(
        &self,
        targets: &[View<'_>],
        region: &Region<'_>,
        range: &Stretch,
        accum: Accum,
        carried: &[View<'_>],
    ) -> Result<()> {
        let device = self.c.device();
        let a = operand(self.a, self.form.transposes_a(), region.rows.second.0, range.first.0);
        let b = operand(self.b, false, range.second.0, region.cols.second.0);
        let (Some(a), Some(b)) = (a, b) else { return Ok(()) };
        let width = width(region.extent, device.max_texture_size());
        let groups = region.extent.width.div_ceil(COLUMNS);
        // Within a texture, sizes fit 32 bits.
        let quads = range.length.div_ceil(4) as u32;
        let block = block(quads);
        let spread = device.texture(Extent::new(width, 8 * quads), Format::Rgba32F, "matmul")?;
        Draw::new(device, glsl!("dense/spread_a.frag"))
            .define("A_TRANSPOSED", self.form.transposes_a())
            .addressed("a", a)
            .param("begin", [range.first.1 as i32, (region.rows.second.1 / 4) as i32])
            .param("width", width as i32)
            .target(View::whole(device, spread.texture()))
            .run()?;
        let grouped = device.texture(Extent::new(block, groups), Format::Rgba32F, "matmul")?;
        Draw::new(device, glsl!("dense/group_b.frag"))
            .addressed("b", b)
            .param("begin", [region.cols.second.1 as i32, (range.second.1 / 4) as i32])
            .param("groups", groups as i32)
            .target(View::whole(device, grouped.texture()))
            .run()?;
        let vec4s = (block * groups) as usize;
        let buffer = device.allocate(|| DataBuffer::new(device.gl(), vec4s, "matmul"))?;
        buffer.copy_texels(grouped.texture(), vec4s)?;
        for group in 0..groups {
            let first = (group * block) as usize;
            Draw::new(device, glsl!("dense/uniform.frag"))
                .define("START(carried)", if carried.is_empty() { "vec4(0.0)" } else { "(carried)" })
                .addressed("a", View::whole(device, spread.texture()))
                .inputs("carried", carried.iter().copied())
                .block("b", Block { buffer: &buffer, first, vec4s: block })
                .param("quads", quads as i32)
                .targets(targets.iter().copied())
                .on(Domain::Rect { x: 0, y: 2 * group, width, height: 2 })
                .accumulate(accum)
                .run()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_their_columns_and_are_aligned() {
        for quads in [1, 2, 3, 250, 512] {
            assert!(block(quads) >= 8 * quads && block(quads) < (16 * quads).max(17));
            assert_eq!(block(quads) * 16 % 256, 0);
        }
        assert_eq!((block(1), block(250), block(512)), (16, 2048, 4096));
        assert_eq!(width(Extent::new(1, 250), 16384), 128);
        assert_eq!(width(Extent::new(1, 64), 64), 32);
    }
}
