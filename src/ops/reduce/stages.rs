//! The one executor of reductions: stages, each of which reads what the one before it has left.

use super::plan::{ReducePlan, Stage};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, PooledTexture, View};
use crate::shape::Extent;

/// Stages one after another, of which the first has nothing before it. Nothing is left of no stage.
pub(crate) fn chain<S, T>(
    stages: &[S],
    mut run: impl FnMut(&S, Option<&T>) -> Result<T>,
) -> Result<Option<T>> {
    stages.iter().try_fold(None, |before: Option<T>, stage| run(stage, before.as_ref()).map(Some))
}

/// The terms of a first stage that stand in a block of a shader file: the lines that select it, and what it reads.
pub(crate) type Block = (&'static str, &'static [&'static str]);

/// Selects a block and names its inputs.
pub(crate) fn block<'a>(
    draw: Draw<'a>,
    (lines, names): Block,
    views: impl IntoIterator<Item = View<'a>>,
) -> Draw<'a> {
    names.iter().zip(views).fold(draw.lines(lines), |draw, (name, view)| draw.input(*name, view))
}

/// What stages have left: a texel for each window of the last one of them.
pub(crate) struct Partial {
    texture: PooledTexture,
    extent: Extent,
}

impl Partial {
    /// Room for what is still to be drawn.
    pub fn uninit(device: &Device, extent: Extent, op: &'static str) -> Result<Self> {
        Ok(Partial { texture: device.scratch(extent, op)?, extent })
    }

    pub fn view(&self) -> View<'_> {
        View::part(self.texture.device(), self.texture.texture(), self.extent)
    }

    /// Leaves the rest to a draw whose shader asks for `total_of_dots` (`glsl/include/total.glsl`).
    pub fn left_to<'a>(&'a self, draw: Draw<'a>) -> Draw<'a> {
        self.left_as(draw, ("dots", "source"))
    }

    /// The same by other names of the input and its extent.
    pub fn left_as<'a>(&'a self, draw: Draw<'a>, (name, extent): (&'static str, &'static str)) -> Draw<'a> {
        let Extent { width, height } = self.extent;
        draw.input(name, self.view()).param(extent, [width as i32, height as i32])
    }
}

/// A reduction by windows.
pub(crate) struct Windowed<'a> {
    pub device: &'a Device,
    /// What messages call it.
    pub op: &'static str,
    pub plan: &'a ReducePlan,
    /// How terms are combined: a `#define` of `glsl/reduce/window.frag`.
    pub combine: &'static str,
    /// The draw of the first stage, which makes terms of what it reads.
    pub first: &'a dyn Fn(&Stage) -> Result<Draw<'a>>,
}

impl Windowed<'_> {
    /// All stages but the last, and which that is.
    pub fn to_the_last(&self) -> Result<(Option<Partial>, Stage)> {
        let Some((last, before)) = self.plan.stages().split_last() else {
            return Err(Error::Internal { place: "Windowed", detail: "a reduction of no stage" });
        };
        Ok((chain(before, |stage, from| self.leave(stage, from))?, *last))
    }

    /// What is left to whoever combines the last window: all stages but the last, or the only one.
    pub fn to_a_window(&self) -> Result<Partial> {
        match self.to_the_last()? {
            (Some(partial), _) => Ok(partial),
            (None, only) => self.leave(&only, None),
        }
    }

    fn leave(&self, stage: &Stage, from: Option<&Partial>) -> Result<Partial> {
        let next = Partial::uninit(self.device, stage.target, self.op)?;
        self.draw(stage, from)?.target(next.view()).run()?;
        Ok(next)
    }

    /// The draw of a stage, but for its target.
    pub fn draw<'s>(&'s self, stage: &Stage, from: Option<&'s Partial>) -> Result<Draw<'s>> {
        let draw = match from {
            None => (self.first)(stage)?,
            Some(from) => {
                let draw = window(self.device, self.op, self.combine);
                read(draw, from.view(), self.plan.is_filtered(stage))
            }
        };
        Ok(stage.describe(draw))
    }
}

/// A draw of `glsl/reduce/window.frag`.
pub(super) fn window<'a>(device: &'a Device, op: &'static str, combine: &'static str) -> Draw<'a> {
    Draw::new(device, glsl!("reduce/window.frag")).named(op).define(combine, 1u8)
}

/// Reads what is reduced, where `filtered` and possible whole windows by one fetch each.
pub(super) fn read<'a>(draw: Draw<'a>, x: View<'a>, filtered: bool) -> Draw<'a> {
    let Extent { width, height } = x.texture.extent();
    // A corner has to be met exactly.
    if filtered && width.is_power_of_two() && height.is_power_of_two() {
        draw.define("FILTERED", 1u8).filtered("x", x)
    } else {
        draw.input("x", x)
    }
}
