//! The projection: divergence, Poisson solve, gradient.

use super::kernels::number;
use super::{Fluid, PressureReport};
use crate::data::{DoubleVector, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::Operand;
use crate::ops;
use crate::solve::{fit, project_out};

/// What a projection has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Projection {
    /// The largest absolute divergence before it.
    pub before: f64,
    /// And after it.
    pub after: f64,
    /// The pressure solve.
    pub pressure: PressureReport,
}

impl Fluid {
    /// The divergence in each cell: `out_i = Σ (difference of opposite faces) / h`.
    ///
    /// *Shapes*: `out` has an element for each cell. *Cost*: 1 draw. *Errors*:
    /// [`Error::ShapeMismatch`].
    pub fn divergence(&self, out: &mut Vector) -> Result<()> {
        self.check_cells("Fluid::divergence", "out", out)?;
        self.outflow(out, 1.0 / self.params.cell, false)
    }

    /// The largest absolute divergence; NaNs are passed over. *Cost*: a draw, a reduction, 1 readback.
    pub fn max_divergence(&self) -> Result<f64> {
        let _scope = self.device().scope()?;
        let mut out = Vector::uninit(self.device(), self.cells().len())?;
        self.divergence(&mut out)?;
        Ok(f64::from(ops::max_abs(&out)?.read()?))
    }

    /// Makes the velocity free of divergence by the smallest change that does: subtracts the gradient of a pressure.
    ///
    /// With `D` the outflow of each cell and `A` the Laplacian on cells, `A p = -D`, and then every free face loses
    /// the difference of `p` across it. On the staggered grid these are exactly adjoint, so that what is left of the
    /// divergence is the residual of the solve, and what rounding leaves of pressure and velocity
    /// ([`FluidParams::double_pressure`](super::FluidParams::double_pressure)). *Cost*: a draw for the divergence; for each closed
    /// region a reduction and 2 draws; two reductions and a draw for the guess; the solve; and a draw for each component.
    /// *Errors*: those of the solver. *Source*: Harlow and Welch 1965; Stam 1999, section 2.1.
    pub fn project(&mut self) -> Result<PressureReport> {
        let device = self.device().clone();
        let _scope = device.scope()?;
        let mut b = Vector::uninit(&device, self.cells().len())?;
        self.outflow(&mut b, -1.0, true)?;
        // No pressure can remove the mean that rounding leaves in a closed region, and solvers would refuse it.
        project_out(&mut b, self.poisson.null_space())?;
        // Of a flow that has come to rest the old pressure would be far too large, and take with it the digits of the new one.
        fit(&self.poisson, &mut self.pressure, &b)?;
        if !self.params.double_pressure {
            let report = self.solver.solve(&self.poisson, &mut self.pressure, &b)?;
            self.subtract_gradient(None)?;
            return Ok(report);
        }
        let mut pressure = DoubleVector::from_vector(&self.pressure)?;
        let report = self.solver.solve_double(&self.poisson, &mut pressure, &b)?;
        let (high, low) = pressure.into_parts();
        self.pressure = high;
        self.subtract_gradient(Some(&low))?;
        Ok(report)
    }

    /// [`project`](Self::project), and the largest divergence before and after it. *Cost*: two draws, four
    /// reductions and readbacks more. *Errors*: as there, and [`Error::NonFinite`] where a divergence is not finite, before
    /// the projection (which then is not made) or after it.
    pub fn project_reported(&mut self) -> Result<Projection> {
        let before = self.finite_divergence("Fluid::project_reported: largest divergence before")?;
        let pressure = self.project()?;
        let after = self.finite_divergence("Fluid::project_reported: largest divergence after")?;
        Ok(Projection { before, after, pressure })
    }

    fn finite_divergence(&self, what: &str) -> Result<f64> {
        let _scope = self.device().scope()?;
        let mut out = Vector::uninit(self.device(), self.cells().len())?;
        self.divergence(&mut out)?;
        let largest = f64::from(ops::max_abs(&out)?.read()?);
        // A maximum passes over what is no number; zero times that is none, as is zero times infinity.
        let zero = ops::dot(&out, &Vector::zeros(self.device(), out.len())?)?.read()?;
        let value = if zero == 0.0 { largest } else { f64::NAN };
        let error = || Error::NonFinite { what: what.to_owned(), index: 0, value };
        if value.is_finite() { Ok(value) } else { Err(error()) }
    }

    /// Of the pressure and, where that is a pair, of its low part.
    fn subtract_gradient(&mut self, low: Option<&Vector>) -> Result<()> {
        let device = self.device().clone();
        let mut next = Vec::with_capacity(self.velocity.len());
        for (axis, f) in self.velocity.iter().enumerate() {
            let out = Vector::uninit(&device, f.len())?;
            let inputs = [("f", f), ("pressure", &self.pressure)];
            let draw = self.space.draw(&device, glsl!("fluid/gradient.frag"), axis, &inputs, &[])?;
            let draw = draw.define("PAIRS", low.is_some()).input_if("pressure_low", low.map(Operand::view));
            self.hold(draw, axis).target(out.view()).run()?;
            next.push(out);
        }
        self.velocity = next;
        Ok(())
    }

    /// `factor` times what flows out of each cell through faces of area 1.
    fn outflow(&self, out: &mut Vector, factor: f64, skip_noise: bool) -> Result<()> {
        let inputs: Vec<_> = ["u", "v", "w"].into_iter().zip(&self.velocity).collect();
        let (source, params) = (glsl!("fluid/divergence.frag"), [number("factor", factor)]);
        let draw = self.space.draw(self.device(), source, super::kernels::CELLS, &inputs, &params)?;
        draw.define("SKIP_NOISE", skip_noise).target(out.view()).run()
    }
}
