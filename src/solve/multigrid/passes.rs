//! The passes of a cycle.

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
            .define("FAST_X", x && fine.grid().nx.is_multiple_of(8))
    }

    fn ends(&self) -> Vec<f32> {
        self.ends.as_flattened().iter().map(|v| *v as f32).collect()
    }
}

/// Weight `k` of `count` whose sweeps damp the eigenvalues of `D⁻¹ A` from `low` to 2 best: the roots of a Chebyshev
/// polynomial.
fn omega(low: f64, k: usize, count: usize) -> f32 {
    let (centre, half) = ((2.0 + low) / 2.0, (2.0 - low) / 2.0);
    let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * count) as f64;
    (1.0 / (centre + half * angle.cos())) as f32
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

    /// Improves `x` by sweeps; the first needs no `x` where that is zero.
    pub fn sweep(&self, x: &mut Vector, b: &Vector, count: usize, from_zero: bool) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let low = self.low();
        let mut next = Vector::uninit(device, x.len())?;
        for k in 0..count {
            let start = from_zero && k == 0;
            // From zero `x` is not looked at, but named in functions that the include holds.
            let draw = grid(Draw::new(device, glsl!("multigrid/sweep.frag")), a)
                .define("FROM_ZERO", start)
                .input("x", if start { b.view() } else { x.view() })
                .input("b", b.view());
            operator_params(links(draw, a), a)
                .param("omega", omega(low, k, count))
                .masked(true)
                .target(next.view())
                .run()?;
            std::mem::swap(x, &mut next);
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

    /// `x = x + S B e`.
    pub fn correct(&self, x: &mut Vector, transfer: &Transfer, coarser: &Level, e: &Vector) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let mut next = Vector::uninit(device, x.len())?;
        let draw = grid(Draw::new(device, glsl!("multigrid/correct.frag")), a);
        let draw = transfer.describe(draw, a).define("INTERPOLATES", ());
        let draw = links(draw.input("x", x.view()).input("e", e.view()), a);
        grid_params(draw.input_if("scales", transfer.scales.as_ref().map(Operand::view)), a)
            .param("coarse", cells(&coarser.a))
            .floats("ends", transfer.ends())
            .masked(true)
            .target(next.view())
            .run()?;
        std::mem::swap(x, &mut next);
        Ok(())
    }
}
