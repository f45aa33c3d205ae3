//! The Poisson solve of the projection, a parameter.

use crate::data::{Stencil, Vector};
use crate::error::Result;
use crate::solve::{CgParams, ConjugateGradient, Stop};

/// What a pressure solve has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureReport {
    /// Iterations, sweeps or cycles.
    pub iterations: usize,
    /// The relative residual, where the method knows it.
    pub residual: Option<f64>,
}

/// Solves the Poisson equation of a projection. Anything that can may take the place of [`Pressure`].
pub trait PressureSolver {
    /// Improves `p` for `A p = b`; what `p` holds is the last solve's solution, a good guess.
    ///
    /// The matrix is the five- or seven-point Laplacian, symmetric and positive semidefinite; in a closed box it is
    /// singular ([`Stencil::null_space`]) and `b` is orthogonal to its null space.
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport>;
}

/// The methods that texla brings along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pressure {
    /// Conjugate gradients.
    ConjugateGradient(CgParams),
}

impl Default for Pressure {
    /// Conjugate gradients to a relative residual of 1e-5.
    fn default() -> Self {
        Pressure::ConjugateGradient(CgParams { stop: Stop::relative(1e-5), ..CgParams::default() })
    }
}

impl PressureSolver for Pressure {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        match self {
            Pressure::ConjugateGradient(params) => {
                let report = ConjugateGradient::new(a, *params)?.solve(p, b)?;
                Ok(PressureReport { iterations: report.iterations, residual: Some(report.true_residual) })
            }
        }
    }
}
