//! The passes of a cycle.

use super::cycle::{Start, omega};
use super::hierarchy::{Level, Transfer};
use crate::data::{Stencil, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::grid::{cells, grid, grid_params, links, operator_params};

impl Transfer {
    /// Tells a draw which axes are coarsened, and whether rows of both grids are whole texels.
    fn describe<'a>(&self, draw: Draw<'a>, fine: &Stencil) -> Draw<'a> {
        let [x, y, z] = self.coarse;
        draw.define("COARSE_X", x)
            .define("COARSE_Y", y)
            .define("COARSE_Z", z)
            .define("FAST_X", self.is_fast(fine))
    }

    /// Whether rows of both grids are whole texels, and are coarsened.
    fn is_fast(&self, fine: &Stencil) -> bool {
        let [x, ..] = self.coarse;
        x && fine.grid().nx.is_multiple_of(8)
    }

    fn ends(&self) -> Vec<f32> {
        self.ends.as_flattened().iter().map(|v| *v as f32).collect()
    }
}

impl Level {
    /// The smallest eigenvalue of `D⁻¹ A` that the next grid does not see: half the highest frequency along one axis.
    fn low(&self) -> f64 {
        let shift = self.a.shift();
        let all = shift + 2.0 * self.a.weights().iter().sum::<f64>();
        let coarse = self.transfer.as_ref().map_or([true; 3], |t| t.coarse);
        let weights = self.a.weights().into_iter().zip(coarse).filter(|(w, c)| *c && *w > 0.0);
        let weakest = weights.fold(f64::INFINITY, |m, (w, _)| m.min(w));
        if weakest.is_finite() { (shift + 2.0 * weakest) / all } else { 1.0 }
    }

    /// Improves `x` by what is left of `count` sweeps.
    pub fn sweep(&self, x: &mut Vector, b: &Vector, count: usize, start: Start) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let weight = |k| omega([self.low(), 2.0], k, count);
        let (mut k, mut zero) = match start {
            Start::Zero => (0, true),
            Start::After(k) => (k, false),
        };
        let mut next = Vector::uninit(device, x.len())?;
        while k < count {
            // The diagonal of neighbours follows from where they are, but not with solid cells beside them.
            let twice = zero && k + 1 < count && a.links.is_none();
            let ratio = if twice { weight(k + 1) / weight(k) } else { 0.0 };
            // From zero `x` is `b`, or not looked at, but named in functions that the include holds.
            let draw = grid(Draw::new(device, glsl!("multigrid/sweep.frag")), a)
                .define("FROM_ZERO", zero)
                .define("TWICE", twice)
                .input("x", if zero { b.view() } else { x.view() })
                .input("b", b.view());
            operator_params(links(draw, a), a)
                .param("omega", [weight(k), ratio])
                .masked(true)
                .target(next.view())
                .run()?;
            std::mem::swap(x, &mut next);
            k += 1 + usize::from(twice);
            zero = false;
        }
        Ok(())
    }

    /// `r = S (b - A x)`.
    pub fn residual(&self, r: &mut Vector, transfer: &Transfer, x: &Vector, b: &Vector) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let draw = grid(Draw::new(device, glsl!("multigrid/residual.frag")), a);
        let draw = transfer.describe(draw, a).input("x", x.view()).input("b", b.view());
        let draw = links(draw, a).input_if("scales", transfer.scales.as_ref().map(Operand::view));
        operator_params(draw, a).floats("ends", transfer.ends()).masked(true).target(r.view()).run()
    }

    /// The coarser grid's right-hand side, from a residual that has been scaled.
    pub fn restrict(&self, b: &mut Vector, transfer: &Transfer, coarser: &Level, r: &Vector) -> Result<()> {
        let device = self.a.device();
        let draw = grid(Draw::new(device, glsl!("multigrid/restrict.frag")), &coarser.a);
        let draw = links(transfer.describe(draw, &self.a).input("x", r.view()), &coarser.a);
        grid_params(draw, &coarser.a).param("fine", cells(&self.a)).masked(true).target(b.view()).run()
    }

    /// Whether the correction and the first sweep after it are one pass: where it needs few more texels than either, in
    /// the plane with rows of whole texels, where no solid cell makes a neighbour its own case, and where what it divides the
    /// residual by, for that has been multiplied by it, does not come near the end of the range.
    pub fn corrects_and_sweeps(&self, transfer: &Transfer) -> bool {
        const LEAST: f64 = 1.0 / (1u64 << 60) as f64;
        let [_, _, across] = self.a.weights();
        let at_least: f64 =
            transfer.ends.iter().map(|ends| ends.iter().fold(1.0, |m: f64, e| m.min(*e))).product();
        at_least >= LEAST
            && transfer.is_fast(&self.a)
            && self.a.grid().nz == 1
            && across == 0.0
            && self.a.links.is_none()
    }

    /// `x = x + S B e`, and the first of `count` sweeps where the residual `S r` is given.
    pub fn correct(
        &self,
        x: &mut Vector,
        transfer: &Transfer,
        coarser: &Level,
        e: &Vector,
        sweep: Option<(&Vector, usize)>,
    ) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let mut next = Vector::uninit(device, x.len())?;
        let draw = grid(Draw::new(device, glsl!("multigrid/correct.frag")), a);
        let draw = transfer.describe(draw, a).define("INTERPOLATES", ()).define("SWEEPS", sweep.is_some());
        let draw = links(draw.input("x", x.view()).input("e", e.view()), a);
        let draw = match sweep {
            Some((r, count)) => operator_params(draw.input("r", r.view()), a)
                .param("omega", omega([self.low(), 2.0], 0, count)),
            None => grid_params(draw.input_if("scales", transfer.scales.as_ref().map(Operand::view)), a),
        };
        draw.param("coarse", cells(&coarser.a))
            .floats("ends", transfer.ends())
            .masked(true)
            .target(next.view())
            .run()?;
        std::mem::swap(x, &mut next);
        Ok(())
    }
}
