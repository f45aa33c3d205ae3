//! The operator of the implicit viscous step.

use super::Fluid;
use super::kernels::{Parameter, Space, number};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::{Checked, LinOp, Product};
use crate::shape::Shape;
use crate::solve::{CgParams, ConjugateGradient, SolveReport, StopReason};

/// How the implicit viscous step is solved, each component by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diffusion {
    /// Conjugate gradients.
    #[default]
    ConjugateGradient,
    /// [Enhanced block Jacobi](crate::solve::EnhancedBlockJacobi) on lines along x: where the viscosity is small, a few sweeps.
    /// Without obstacles. Coefficients are part of its programs, which are compiled anew for each
    /// other `viscosity dt / cell²`: steps should be of one length.
    ///
    /// *Source*: \[Bajaj04\] section 4.1.3.
    #[cfg(feature = "pack")]
    EnhancedBlockJacobi,
}

impl Diffusion {
    /// Refuses obstacles where it cannot have them.
    pub(super) fn check(self, solid: &[bool]) -> Result<()> {
        let obstacles = solid.iter().filter(|solid| **solid).count();
        if self == Diffusion::ConjugateGradient || obstacles == 0 {
            return Ok(());
        }
        let (op, name) = ("Fluid::new", "diffusion");
        let value = format!("{self:?} with {obstacles} solid cells");
        let expected = "no obstacles, or Diffusion::ConjugateGradient";
        Err(Error::Parameter { op, name, value, expected })
    }
}

/// What the viscous steps of all components have come to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ViscousReport {
    /// The most iterations that a component took.
    pub iterations: usize,
    /// The largest relative residual of a component; nothing with a fixed number of iterations.
    pub residual: Option<f64>,
    /// Every component met the bound, as recomputed in 32 bits; nothing with a fixed number of iterations.
    pub met: Option<bool>,
}

/// `1 + strength L` on the faces across an axis, `L` the five- or seven-point Laplacian with the conditions of the
/// sides; the identity in rows that are held. Symmetric and positive definite for every strength.
pub(super) struct Viscous<'a> {
    pub space: &'a Space,
    pub axis: usize,
    pub free: &'a Vector,
    /// Viscosity times time step over the square of the cell size.
    pub strength: f64,
}

impl Viscous<'_> {
    /// The right-hand side: `f`, what neighbours that are held add, and what the walls do.
    pub fn right_side(&self, out: &mut Vector, f: &Vector) -> Result<()> {
        let draw = self.draw(f, &[])?;
        draw.define("RIGHT_SIDE", true).target(out.view()).run()
    }

    /// A draw that reads `f` and is told these parameters.
    fn draw<'a>(&'a self, f: &'a Vector, params: &[Parameter]) -> Result<Draw<'a>> {
        let params = [params, &[number("strength", self.strength)]].concat();
        let inputs = [("f", f), ("free", self.free)];
        self.space.draw(self.free.device(), glsl!("fluid/viscous.frag"), self.axis, &inputs, &params)
    }
}

impl Fluid {
    /// Viscosity for a time `dt`: solves `(1 + ν dt / h² L) u' = u` for each component, as [`Diffusion`] says.
    ///
    /// Not converging is no error: [`viscous_report`](Self::viscous_report) tells.
    ///
    /// *Cost*: a draw and a solve for each component; with enhanced block Jacobi 3 draws more, and compilations where `dt` is not
    /// the last step's, for which nothing is chosen anew. *Errors*: [`Error::Parameter`]; [`Error::NonFinite`] where `ν dt /
    /// h²` is no float.
    /// *Source*: Stam 1999, section 2.2.
    pub fn diffuse(&mut self, dt: f64) -> Result<()> {
        let h = self.params.cell;
        let strength = self.params.viscosity * self.rate("Fluid::diffuse", dt)? / h;
        check_finite("Fluid::diffuse: viscosity dt / cell²", [strength])?;
        self.viscous = None;
        let fixed = self.params.viscous_iterations;
        let (residual, met) = (fixed.is_none().then_some(0.0), fixed.is_none().then_some(true));
        let mut all = ViscousReport { iterations: fixed.unwrap_or(0), residual, met };
        let device = self.device().clone();
        let _scope = device.scope()?;
        for axis in 0..self.velocity.len() {
            let report = match self.params.diffusion {
                Diffusion::ConjugateGradient => self.diffuse_by_gradients(axis, strength)?,
                #[cfg(feature = "pack")]
                Diffusion::EnhancedBlockJacobi => self.diffuse_by_lines(axis, strength)?,
            };
            if let Some(report) = report {
                all.iterations = all.iterations.max(report.iterations);
                all.residual = all.residual.map(|residual| residual.max(report.true_residual));
                let met = matches!(report.reason, StopReason::Converged | StopReason::Uncertified);
                all.met = all.met.map(|all| all && met);
            }
        }
        self.viscous = Some(all);
        Ok(())
    }

    fn diffuse_by_gradients(&mut self, axis: usize, strength: f64) -> Result<Option<SolveReport>> {
        let (Some(u), Some([free, _])) = (self.velocity.get_mut(axis), self.faces.get(axis)) else {
            return Ok(None);
        };
        let a = Viscous { space: &self.space, axis, free, strength };
        let mut b = Vector::uninit(free.device(), u.len())?;
        a.right_side(&mut b, u)?;
        let params = CgParams { stop: self.params.viscous_stop, ..CgParams::default() };
        let solver = ConjugateGradient::new(&a, params)?;
        match self.params.viscous_iterations {
            None => solver.solve(u, &b).map(Some),
            Some(count) => solver.iterate(u, &b, count).map(|_| None),
        }
    }
}

impl LinOp for Viscous<'_> {
    fn device(&self) -> &Device {
        self.free.device()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn shape(&self) -> Shape {
        Shape::new(self.free.len(), self.free.len())
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let draw = self.draw(terms.x, &[number("alpha", f64::from(terms.factor()))])?;
        terms.ending().describe(draw.define("RIGHT_SIDE", false)).target(y.view()).run()
    }
}
