//! The one pass of weighted Jacobi, for whoever sweeps by it.

use crate::data::Vector;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::{self, Combine, LinOp, inlined};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// Textures that a sweep reads besides `x` and the operator.
pub(super) const OTHERS: usize = 2;

/// Sweeps by an operator.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Sweeper<'a> {
    pub a: &'a dyn LinOp,
    /// The inverse of its diagonal but for a factor; nothing where that is all there is to it.
    pub w: Option<&'a Vector>,
    /// What [`prefers_one_pass`] says.
    pub one_pass: bool,
}

/// The numbers of a sweep.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Sweep {
    /// `x` stands for this times itself.
    pub start: f32,
    /// The operator stands for this times itself.
    pub unit: f32,
    /// What the residual is multiplied by, beside `w`.
    pub factor: f32,
}

impl Sweeper<'_> {
    /// `next = s x + factor w (b - unit A s x)` with the start `s`. A vector that operators without passes of their own need
    /// is made once in `room`.
    pub fn sweep(
        &self,
        next: &mut Vector,
        x: &Vector,
        b: &Vector,
        numbers: Sweep,
        room: &mut Option<Vector>,
    ) -> Result<()> {
        let Sweep { start, unit, factor } = numbers;
        let device = self.a.device();
        let alpha = start * unit;
        let draw = || Draw::new(device, glsl!("solve/relax.frag"));
        // r = b - A x: in the same pass, or written
        let in_draw = || inlined(self.a, draw(), alpha, x, OTHERS);
        let draw = match if self.one_pass { in_draw()? } else { None } {
            Some((draw, _)) => draw.input("b", b.view()).masked(true),
            None => {
                let r = match room {
                    Some(r) => r,
                    none => none.insert(Vector::uninit(device, x.len())?),
                };
                ops::product(r, Combine::SubtractFrom(b), alpha, self.a, x)?;
                draw().input("x", x.view()).input("r", r.view())
            }
        };
        let scaled = start != 1.0;
        // x = x + ω D⁻¹ r
        let draw = draw.define("SCALED", scaled).define("WEIGHTED", self.w.is_some());
        let draw = draw.input_if("w", self.w.map(Operand::view)).param("factor", factor);
        let draw = if scaled { draw.param("start", start) } else { draw };
        draw.target(next.view()).run()
    }
}

/// A sweep in one pass, and by a product and an update.
pub(super) fn ways(a: &dyn LinOp, extent: Extent) -> Vec<(bool, Workload)> {
    let Some(product) = a.workload() else { return Vec::new() };
    let texels = extent.area() as f64;
    let under = |n: f64| Fetches::default().with_own(n * texels);
    let pass = |fetches, n| Workload::pass(extent, 1, fetches).with_multiply_adds(4.0 * n * texels);
    let one = pass(under(2.0), 2.0).fetching(extent, product.fetches).cut(true);
    let one = one + Workload::default().with_multiply_adds(product.multiply_adds);
    // What adds to what is there begins with a copy in place of zeros.
    let begun = product.draws + f64::from(u8::from(a.accumulates()));
    let residual = product.fetching(extent, under(1.0)).with_draws(begun);
    vec![(true, one), (false, residual + pass(under(3.0), 1.0))]
}

/// Whether a sweep is one pass where it can be: where that is not predicted to take longer.
pub(in crate::solve) fn prefers_one_pass(a: &dyn LinOp, extent: Extent) -> bool {
    a.device().quickest(|| ways(a, extent)).unwrap_or(true)
}
