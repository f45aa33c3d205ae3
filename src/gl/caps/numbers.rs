//! How many vertices of a draw know their number.

use super::Probe;
use crate::error::Result;
use crate::gl::draw::{Area, Blend};
use crate::gl::objects::VertexBuffer;
use crate::gl::source::glsl;

/// Points of one draw: a few tens of milliseconds where points are slowest (`benches/RESULTS.md`).
const MOST: u32 = 1 << 18;
/// Mesa's softpipe starts anew behind these, wherever the draw begins.
const FEW: u32 = 1 << 12;

impl Probe<'_> {
    /// [`Capabilities::points_a_draw`](super::Capabilities::points_a_draw).
    pub(super) fn numbers(&self) -> Result<u32> {
        Ok(if self.numbered(4 * FEW)? { MOST } else { FEW })
    }

    /// Whether the points of such a draw, which does not begin with the first vertex, lie where their numbers say.
    fn numbered(&self, count: u32) -> Result<bool> {
        let side = self.gl.caps.borrow().max_texture_size.min(128);
        let texels = side * side;
        let program = self.program(glsl!("probe/numbers.vert"), glsl!("probe/points.frag"), &["a"], 1)?;
        let extent = self.texture(side, side, None)?;
        let target = self.texture(side, side, Some(&vec![-1.0; 4 * texels as usize]))?;
        let vertices = VertexBuffer::new(self.gl, count as usize, &[], &[], "probe")?;
        let area = Area::Points { vertices: &vertices, first: 1, count: count as usize - 1 };
        self.draw(&program, &[&target], &[&extent], area, Blend::Replace)?;
        let got = self.gl.read(&target, "probe")?;
        Ok(got.chunks(4).zip(0..texels).all(|(texel, t)| {
            // The last point that falls there.
            let last = (t < count).then(|| t + (count - 1 - t) / texels * texels).filter(|i| *i > 0);
            texel.first() == Some(&last.map_or(-1.0, |i| i as f32))
        }))
    }
}
