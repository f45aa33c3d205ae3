//! Whether the sampler's linear filter averages floats well enough to sum them.

use super::{Lcg, Probe};
use crate::error::Result;
use crate::gl::draw::{Area, Blend};
use crate::gl::source::glsl;
use crate::gl::state::Filter;

impl Probe<'_> {
    /// Averages of quads whose elements differ in sign and by up to 2^40 in size, in a square texture and in the longest
    /// ones: coordinates are exact where sides are powers of two, and have to stay so.
    pub(super) fn filter(&self) -> Result<bool> {
        let Some(longest) = self.gl.caps.borrow().max_texture_size.checked_ilog2().filter(|e| *e > 0) else {
            return Ok(false);
        };
        let (side, small) = (1 << longest, 1 << longest.min(5));
        let program = self.program(glsl!("quad.vert"), glsl!("probe/average.frag"), &["a"], 1)?;
        let mut random = Lcg(5);
        for (w, h) in [(small, small), (side, 2), (2, side)] {
            let mut value =
                |i: u32| random.next() * 2.0f32.powi((i.wrapping_mul(2_654_435_761) >> 20) as i32 % 40 - 20);
            let texels: Vec<[f32; 4]> = (0..w * h).map(|i| [0, 1, 2, 3].map(|c| value(4 * i + c))).collect();
            let source = self.texture(w, h, Some(bytemuck::cast_slice(&texels)))?;
            let target = self.texture(w / 2, h / 2, None)?;
            let area = Area::Rect([0, 0, (w / 2) as i32, (h / 2) as i32]);
            self.draw_sampled(&program, &[&target], &[(&source, Filter::Linear)], area, Blend::Replace)?;
            let got = self.gl.read(&target, "probe")?;
            let at = |x: u32, y: u32| texels.get((y * w + x) as usize).copied().unwrap_or_default();
            let right = got.chunks(4).zip(0..).all(|(texel, i)| {
                let (x, y) = (2 * (i % (w / 2)), 2 * (i / (w / 2)));
                let quad = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
                texel.iter().enumerate().all(|(c, got)| {
                    let of = |t: &[f32; 4]| f64::from(t.get(c).copied().unwrap_or_default());
                    let (sum, size) = quad.iter().map(of).fold((0.0, 0.0), |(s, m), v| (s + v, m + v.abs()));
                    // 4 u of the average of the magnitudes.
                    (f64::from(*got) - 0.25 * sum).abs() <= size * 2.0f64.powi(-24)
                })
            });
            if !right {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
