//! Histograms without float blending: each bin goes through all elements and adds those that belong to it.

use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Capabilities, glsl};
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::shape::Extent;

/// Fragments that keep a device busy. Elements are counted in ranges, side by side, where the bins are fewer.
const FRAGMENTS: u64 = 1 << 12;

/// Rounds of one fragment's loop at most. A fragment that runs alone waits for each of its fetches; this many take tens of
/// milliseconds.
const LONGEST_LOOP: u32 = 1 << 15;

/// The elements whose places in the bins are known, and what they add.
pub(super) struct Gathering<'a> {
    pub device: &'a Device,
    /// The place of each element, see `scatter/places.frag`.
    pub places: View<'a>,
    /// Texels of `places` in use.
    pub texels: usize,
    /// What the elements add: 1 each where there are no weights.
    pub weights: Option<View<'a>>,
    /// The texel of `weights` that belongs to the first place.
    pub first_texel: usize,
    pub bins: usize,
    pub apart: bool,
}

impl Gathering<'_> {
    /// Counts into `out`, whatever it holds; weights are added to what it holds, one by one.
    pub fn run(&self, out: &Vector) -> Result<()> {
        let (device, fold) = (self.device, out.extent());
        let ranges = match self.weights {
            // A sum of weights depends on their order.
            Some(_) => 1,
            None => ranges(fold, self.texels, device.max_texture_size()),
        };
        let extent = Extent::new(fold.width * ranges, fold.height);
        let range = self.texels.div_ceil(ranges as usize);
        let rounds = rounds(&device.gl().caps.borrow(), extent.width);
        let mut sums: Option<PooledTexture> = None;
        for begin in (0..range).step_by(rounds) {
            let next = device.scratch(extent, "Histogram")?;
            let before = match &sums {
                Some(sums) => Some(View::part(device, sums.texture(), extent)),
                None => self.weights.map(|_| out.view()),
            };
            Draw::new(device, glsl!("scatter/gather.frag"))
                .define("APART", self.apart)
                .define("WEIGHTED", self.weights.is_some())
                .define("SIDE", fold.width)
                .input("places", self.places)
                .input_if("weights", self.weights)
                .carried("START", ("before", "before_here()"), before)
                .param("first_texel", self.first_texel as i32)
                .param("bin_count", self.bins as i32)
                .param("texels", self.texels as i32)
                .param("range", [range as i32, begin as i32, (begin + rounds).min(range) as i32])
                .target(View::part(device, next.texture(), extent))
                .rounds(rounds.min(range) as u64)
                .run()?;
            sums = Some(next);
        }
        let Some(sums) = sums else { return Ok(()) };
        Draw::new(device, glsl!("dense/total.frag"))
            .define("KEPT", false)
            .define("SIDE", fold.width)
            .define("START", "vec4(0.0)")
            .lines("#define COMBINE(sum) (sum)")
            .addressed("partial", View::part(device, sums.texture(), extent))
            .param("first_row", 0)
            .param("shares", [ranges as i32, fold.height as i32])
            .param("factors", [1.0, 1.0])
            .masked(true)
            .rounds(u64::from(ranges))
            .target(out.view())
            .run()
    }
}

/// Ranges of `texels` elements that are counted side by side for bins folded like this: as many as keep the device busy, and
/// no more than each has elements, so that adding the ranges takes no longer than a range.
fn ranges(fold: Extent, texels: usize, limit: u32) -> u32 {
    let busy = FRAGMENTS / fold.area().max(1);
    let wide = limit / fold.width.max(1);
    // At most 2¹².
    (busy.min(texels.isqrt() as u64) as u32).min(wide).max(1)
}

/// Rounds that each fragment of a draw of this width makes at most. A draw covers at least two rows.
fn rounds(caps: &Capabilities, width: u32) -> usize {
    let rounds = caps.rounds_a_draw / width.saturating_mul(2).max(1);
    rounds.min(caps.loop_rounds).clamp(1, LONGEST_LOOP) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_keep_what_the_device_allows() {
        let of = |rounds_a_draw, loop_rounds, width| {
            rounds(&Capabilities { rounds_a_draw, loop_rounds, ..Capabilities::default() }, width)
        };
        assert_eq!(of(1 << 19, 65_535, 1), 1 << 15);
        assert_eq!(of(1 << 19, 65_535, 64), 1 << 12);
        assert_eq!(of(1 << 25, u32::MAX, 1), 1 << 15);
        assert_eq!(of(1 << 25, 255, 64), 255);
        assert_eq!(of(1 << 10, u32::MAX, 4096), 1);
        assert_eq!(of(1 << 10, 0, 1), 1);
    }

    #[test]
    fn ranges_fit_the_texture_and_are_no_more_than_their_elements() {
        for (fold, texels, limit, want) in [
            (Extent::new(1, 1), 1, 16384, 1),
            (Extent::new(1, 1), 250_000, 16384, 500),
            (Extent::new(1, 1), 1 << 22, 16384, 2048),
            (Extent::new(1, 1), 1 << 12, 64, 64),
            (Extent::new(8, 8), 250_000, 16384, 64),
            (Extent::new(8, 8), 250_000, 64, 8),
            (Extent::new(64, 64), 1 << 22, 64, 1),
            (Extent::new(4096, 1024), 1 << 22, 4096, 1),
            (Extent::new(1, 1), 0, 64, 1),
        ] {
            assert_eq!(ranges(fold, texels, limit), want, "{texels} texels in bins of {fold}");
        }
    }
}
