//! The Poisson solve of the projection, a parameter.

use crate::data::{DoubleVector, Stencil, Unknowns, Vector};
use crate::error::{Error, Result};
use crate::solve::{
    CgParams, ConjugateGradient, JacobiWeights, Multigrid, MultigridParams, Smoother, SolveReport, Stop,
    WeightedJacobi,
};
#[cfg(feature = "pack")]
use crate::solve::{EnhancedBlockJacobi, Stationary, StationaryParams};

/// What a pressure solve has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PressureReport {
    /// Iterations, sweeps or cycles.
    pub iterations: usize,
    /// The relative residual, where the method knows it.
    pub residual: Option<f64>,
}

impl PressureReport {
    /// After so many iterations, sweeps or cycles, with this relative residual where the method knows it.
    pub const fn new(iterations: usize, residual: Option<f64>) -> Self {
        PressureReport { iterations, residual }
    }
}

/// Solves the Poisson equation of a projection. Anything that can may take the place of the methods in [`Pressure`].
pub trait PressureSolver {
    /// Improves `p` for `A p = b`; what `p` holds is the last solve's solution, a good guess.
    ///
    /// The matrix is the five- or seven-point Laplacian, symmetric and positive semidefinite; in a closed box it is
    /// singular ([`Stencil::null_space`]) and `b` is orthogonal to its null space.
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport>;

    /// The same for a pressure in pairs of floats ([`FluidParams::double_pressure`](super::FluidParams::double_pressure)),
    /// whose low part is zero before. *Errors*: [`Error::Unsupported`], unless it is implemented.
    fn solve_double(&mut self, a: &Stencil, p: &mut DoubleVector, b: &Vector) -> Result<PressureReport> {
        let _ = (a, p, b);
        let why = "the method has 32 bits".into();
        Err(Error::Unsupported { what: "PressureSolver::solve_double".into(), why })
    }
}

/// The methods that texla brings along.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pressure {
    /// Conjugate gradients until the residual is small.
    ConjugateGradient(CgParams),
    /// The same, preconditioned by a multigrid cycle: few iterations, whose number does not grow with the grid.
    MultigridConjugateGradient(CgParams, MultigridParams),
    /// So many iterations of the latter, without a readback; they freeze where the bound is met.
    Fixed {
        /// The bound.
        params: CgParams,
        /// The cycle.
        multigrid: MultigridParams,
        /// How many iterations.
        iterations: usize,
    },
    /// So many multigrid cycles, without a readback. Where obstacles are thin they may diverge.
    Multigrid {
        /// The cycle.
        params: MultigridParams,
        /// How many of them.
        cycles: usize,
    },
    /// So many sweeps of weighted Jacobi, without a readback: what many demos do. The residual falls slowly, and the
    /// more slowly the finer the grid.
    Jacobi {
        /// The weight, 1 for plain Jacobi.
        omega: f64,
        /// How many sweeps.
        sweeps: usize,
    },
    /// [Enhanced block Jacobi](crate::solve::EnhancedBlockJacobi) on lines along x, in the order that takes the fewest
    /// instructions. Without obstacles. Fewer sweeps than Jacobi's and more than Gauss-Seidel's; the residual falls the more
    /// slowly the finer the grid.
    ///
    /// *Source*: \[Bajaj04\] section 4.1.3, Stam's projection.
    #[cfg(feature = "pack")]
    EnhancedBlockJacobi {
        /// When to stop.
        params: StationaryParams,
        /// So many sweeps, without a readback; none: until the residual is small.
        sweeps: Option<usize>,
    },
}

impl Default for Pressure {
    /// Conjugate gradients to a relative residual of 1e-5, preconditioned by multigrid.
    fn default() -> Self {
        let stop = Stop::relative(1e-5).check_every(1);
        let params = CgParams { stop, ..CgParams::default() };
        Pressure::MultigridConjugateGradient(params, MultigridParams::default())
    }
}

impl Pressure {
    /// Whether it solves for a pressure in pairs of floats, too: those methods do that go on until the residual is small.
    pub const fn has_pairs(&self) -> bool {
        match self {
            Pressure::ConjugateGradient(_) | Pressure::MultigridConjugateGradient(..) => true,
            #[cfg(feature = "pack")]
            Pressure::EnhancedBlockJacobi { sweeps, .. } => sweeps.is_none(),
            _ => false,
        }
    }

    /// The method, made ready for a matrix.
    ///
    /// *Cost*: for multigrid, the set-up of its grids; for enhanced block Jacobi, a program for each four cells of a line.
    /// *Errors*: those of the methods' own constructors.
    pub fn solver(self, a: &Stencil) -> Result<Box<dyn PressureSolver>> {
        Ok(match self {
            Pressure::ConjugateGradient(params) => Box::new(Gradients { params, cycle: None, fixed: None }),
            Pressure::MultigridConjugateGradient(params, multigrid) => {
                Box::new(Gradients { params, cycle: Some(Multigrid::new(a, multigrid)?), fixed: None })
            }
            Pressure::Fixed { params, multigrid, iterations } => {
                let cycle = Some(Multigrid::new(a, multigrid)?);
                Box::new(Gradients { params, cycle, fixed: Some(iterations) })
            }
            Pressure::Multigrid { params, cycles } => {
                Box::new(Cycles { multigrid: Multigrid::new(a, params)?, cycles })
            }
            Pressure::Jacobi { omega, sweeps } => {
                Box::new(Sweeps { weights: WeightedJacobi::new(a, omega)?.weights(), sweeps })
            }
            #[cfg(feature = "pack")]
            Pressure::EnhancedBlockJacobi { params, sweeps } => {
                let jacobi = EnhancedBlockJacobi::from_stencil(a, None)?;
                Stationary::new(a, &jacobi, params)?; // refuses what is wrong now
                Box::new(Blocks { jacobi, params, sweeps })
            }
        })
    }
}

struct Gradients {
    params: CgParams,
    cycle: Option<Multigrid>,
    fixed: Option<usize>,
}

impl Gradients {
    fn solver<'a>(&'a self, a: &'a Stencil) -> Result<ConjugateGradient<&'a Stencil, Option<&'a Multigrid>>> {
        ConjugateGradient::preconditioned(a, self.cycle.as_ref(), self.params)
    }
}

impl PressureSolver for Gradients {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        let solver = self.solver(a)?;
        if let Some(iterations) = self.fixed {
            solver.iterate(p, b, iterations)?;
            return Ok(PressureReport { iterations, residual: None });
        }
        reported(solver.solve(p, b), p)
    }

    fn solve_double(&mut self, a: &Stencil, p: &mut DoubleVector, b: &Vector) -> Result<PressureReport> {
        reported(self.solver(a)?.solve(p, b), p)
    }
}

/// What a solve has come to.
fn reported(solved: Result<SolveReport>, p: &mut impl Unknowns) -> Result<PressureReport> {
    let report = match solved {
        Ok(report) => report,
        // So small that 32 bits do not hold it: as good as at rest.
        Err(Error::Parameter { name: "b", .. }) => {
            let (high, low) = p.parts_mut();
            high.set_zero()?;
            low.map_or(Ok(()), Vector::set_zero)?;
            return Ok(PressureReport { iterations: 0, residual: None });
        }
        Err(error) => return Err(error),
    };
    Ok(PressureReport { iterations: report.iterations, residual: Some(report.true_residual) })
}

#[cfg(feature = "pack")]
struct Blocks {
    jacobi: EnhancedBlockJacobi,
    params: StationaryParams,
    sweeps: Option<usize>,
}

#[cfg(feature = "pack")]
impl PressureSolver for Blocks {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        if let Some(iterations) = self.sweeps {
            self.jacobi.smooth(p, b, iterations)?;
            return Ok(PressureReport { iterations, residual: None });
        }
        reported(Stationary::new(a, &self.jacobi, self.params)?.solve(p, b), p)
    }

    fn solve_double(&mut self, a: &Stencil, p: &mut DoubleVector, b: &Vector) -> Result<PressureReport> {
        reported(Stationary::new(a, &self.jacobi, self.params)?.solve(p, b), p)
    }
}

struct Cycles {
    multigrid: Multigrid,
    cycles: usize,
}

impl PressureSolver for Cycles {
    fn solve(&mut self, _: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        self.multigrid.smooth(p, b, self.cycles)?;
        Ok(PressureReport { iterations: self.cycles, residual: None })
    }
}

struct Sweeps {
    weights: JacobiWeights,
    sweeps: usize,
}

impl PressureSolver for Sweeps {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        WeightedJacobi::with_weights(a, self.weights.clone())?.smooth(p, b, self.sweeps)?;
        Ok(PressureReport { iterations: self.sweeps, residual: None })
    }
}
