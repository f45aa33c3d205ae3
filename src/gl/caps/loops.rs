//! How long a loop in a shader may be.

use super::Probe;
use crate::error::Result;
use crate::gl::draw::{Area, Blend};
use crate::gl::source::glsl;

/// Rounds that are tried: more than any loop of texla's that nothing else bounds.
const ROUNDS: u32 = 1 << 17;

impl Probe<'_> {
    /// The rounds after which a loop ends by itself; `u32::MAX` where none was met.
    pub(super) fn loop_rounds(&self) -> Result<u32> {
        let program = self.program(glsl!("quad.vert"), glsl!("probe/loops.frag"), &["a"], 1)?;
        let source = self.texture(1, 1, Some(&[ROUNDS as f32, 1.0, 0.0, 0.0]))?;
        let target = self.texture(1, 1, None)?;
        self.draw(&program, &[&target], &[&source], Area::Rect([0, 0, 1, 1]), Blend::Replace)?;
        let made = self.gl.read(&target, "probe")?.first().map_or(0, |rounds| *rounds as u32);
        Ok(if made == ROUNDS { u32::MAX } else { made })
    }
}
