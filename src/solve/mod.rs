//! Layer 5: solvers.
//!
//! A solver iteration reads nothing back: scalars stay on the device, and convergence is looked for every few
//! iterations through a pixel buffer whose fence is polled. Once the test on the device is met, a flag freezes the
//! iterates, so results never depend on when a poll succeeded. No solver says "converged" on the strength of its own
//! recurrence: the residual is recomputed from `b - A x` in double-float first.

mod bicgstab;
mod cg;
mod cgls;
mod check;
mod dots;
mod drive;
mod finite;
mod gauss_seidel;
mod iterate;
mod lcp;
mod looks;
mod multigrid;
mod nine_band;
mod null_space;
#[cfg(feature = "pack")]
mod packed;
mod precondition;
mod report;
mod rounding;
mod scales;
mod smoother;
mod state;
mod stationary;
mod verdict;

pub use bicgstab::{BiCgStab, BiCgStabParams};
pub use cg::{CgParams, CgSchedule, ConjugateGradient, FixedReport, FixedRun};
pub use cgls::{Cgls, CglsParams};
pub use gauss_seidel::{Direction, GaussSeidel, MOST_COLOURS, Sweepable};
pub use lcp::{
    LcpBatch, LcpOutcome, LcpParams, LcpProblem, LcpReport, LcpSolver, NaturalResidual, ProjectedJacobi,
    Relaxation, natural_residual,
};
pub use multigrid::{Cycle, Multigrid, MultigridParams};
pub use nine_band::{
    JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep, NineBandJacobi, NineBandSmoother,
};
pub use null_space::project_out;
#[cfg(feature = "pack")]
pub use packed::{FragmentExpression, VertexExpression, VertexGaussSeidel, VertexRungeKutta};
pub use precondition::{Identity, Jacobi, Preconditioner};
pub use report::{Breakdown, SolveReport, Stop, StopReason};
pub use smoother::{Smoother, WeightedJacobi};
pub use stationary::{Stationary, StationaryParams};

pub use crate::ops::{Accuracy, LinOp};
