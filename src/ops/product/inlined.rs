//! Products within passes that do something else with them than to write them.

use super::LinOp;
use crate::data::Vector;
use crate::error::Result;
use crate::kernel::{Draw, Operand};

/// A pass that needs `α A x` texel by texel, and computes it where it is read (`glsl/include/product.glsl`): where writing
/// is dear, that is cheaper than to write it and to read it again.
pub struct Inlined<'a> {
    draw: Draw<'a>,
    x: &'a Vector,
    /// The vector that is multiplied is one of pairs, and so is the product.
    paired: bool,
    alpha: f32,
    /// Textures that the pass has room for.
    room: usize,
    /// What it fetches for a texel of the product, as a rule.
    fetches: usize,
}

shown!(Inlined<'_>, |pass| "Inlined({})", pass.x.len());

impl<'a> Inlined<'a> {
    /// The vector that is multiplied: the input `x`, named before all others.
    pub(crate) fn x(&self) -> &'a Vector {
        self.x
    }

    /// Whether `x` is one of pairs, with the input `x_low` named next.
    pub(crate) fn is_paired(&self) -> bool {
        self.paired
    }

    /// Whether so many textures besides fit the pass.
    pub(crate) fn fits(&self, textures: usize) -> bool {
        textures <= self.room
    }

    /// With what the form of an operator tells the draw, which is given the factor; and how many fetches a texel takes.
    pub(crate) fn form(
        self,
        number: u8,
        fetches: usize,
        tell: impl FnOnce(Draw<'a>, f32) -> Draw<'a>,
    ) -> Self {
        let draw = tell(self.draw.define("FORM", number), self.alpha);
        Inlined { draw, fetches, ..self }
    }
}

/// Makes `α A x`, or `α A (x + x_low)` in pairs, part of a draw that has named nothing yet and will name so many other inputs, and tells how many
/// fetches a texel takes; `None` where the operator cannot.
pub(crate) fn inlined<'a>(
    a: &'a dyn LinOp,
    draw: Draw<'a>,
    alpha: f32,
    (x, x_low): (&'a Vector, Option<&'a Vector>),
    others: usize,
) -> Result<Option<(Draw<'a>, usize)>> {
    let units = a.device().gl().caps.borrow().texture_units as usize;
    let len = i32::try_from(x.len()).unwrap_or(i32::MAX);
    let padded = x.extent().area() as usize != x.len().div_ceil(4) || !x.len().is_multiple_of(4);
    let draw = draw
        .define("INLINED", 1u8)
        .define("PADDED", padded)
        .input("x", x.view())
        .input_if("x_low", x_low.map(Operand::view))
        .param("row", [x.extent().width as i32, len]);
    let paired = x_low.is_some();
    let draw = if paired { draw.define("PAIRED", 1u8) } else { draw };
    let room = units.saturating_sub(others + 1 + usize::from(paired));
    let pass = Inlined { draw, x, paired, alpha, room, fetches: 0 };
    Ok(a.inlined(pass)?.map(|pass| (pass.draw, pass.fetches)))
}
