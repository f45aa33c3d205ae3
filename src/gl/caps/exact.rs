//! Probes of arithmetic: sums and products as exact pairs, and what neighbours in a quad hand over.

use super::{Lcg, Probe};
use crate::error::Result;
use crate::gl::draw::{Area, Blend};
use crate::gl::glsl;

impl Probe<'_> {
    /// Every fragment gets what its neighbours in the quad hold, bit for bit.
    pub(super) fn derivatives(&self) -> Result<bool> {
        let side = self.gl.caps.borrow().max_texture_size.min(32) & !1;
        if side == 0 {
            return Ok(false);
        }
        let program = self.program(glsl!("quad.vert"), glsl!("probe/exchange.frag"), &["a"], 1)?;
        let mut random = Lcg(3);
        let mut value = |i: u32| random.next() * 2.0f32.powi(i as i32 % 60 - 30);
        let texels: Vec<[f32; 4]> = (0..side * side).map(|i| [0, 1, 2, 3].map(|c| value(i + c))).collect();
        let source = self.texture(side, side, Some(bytemuck::cast_slice(&texels)))?;
        let target = self.texture(side, side, None)?;
        let area = Area::Rect([0, 0, side as i32, side as i32]);
        self.draw(&program, &[&target], &[&source], area, Blend::Replace)?;
        let got = self.gl.read(&target, "probe")?;
        let of = |x: u32, y: u32| texels.get((y * side + x) as usize).copied().unwrap_or_default();
        Ok(got.chunks(4).zip(0..).all(|(texel, i)| {
            let (x, y) = (i % side, i / side);
            let ([r, g, ..], [.., b, a]) = (of(x ^ 1, y), of(x, y ^ 1));
            texel == [r, g, b, a]
        }))
    }

    /// Two-sum and two-product of 256 pairs, each against its exact value in f64.
    pub(super) fn exact(&self) -> Result<bool> {
        let program = self.program(glsl!("quad.vert"), glsl!("probe/exact.frag"), &["a"], 1)?;
        let mut random = Lcg(7);
        let pairs: Vec<[f32; 4]> = (0..256)
            .map(|i| {
                let spread = 2.0f32.powi(i % 40 - 20);
                [random.next(), random.next() * spread, 0.0, 0.0]
            })
            .collect();
        let source = self.texture(16, 16, Some(bytemuck::cast_slice(&pairs)))?;
        let target = self.texture(16, 16, None)?;
        self.draw(&program, &[&target], &[&source], Area::Rect([0, 0, 16, 16]), Blend::Replace)?;
        let results = self.gl.read(&target, "probe")?;
        Ok(results.chunks(4).zip(&pairs).all(|(r, pair)| {
            let (Some((s, e)), Some((p, f))) = (r.first().zip(r.get(1)), r.get(2).zip(r.get(3))) else {
                return false;
            };
            let [a, b, ..] = pair.map(f64::from);
            f64::from(*s) + f64::from(*e) == a + b && f64::from(*p) + f64::from(*f) == a * b
        }))
    }
}
