//! Layer 5: solvers.
//!
//! A solver iteration reads nothing back: scalars stay on the device, and convergence is looked for every few
//! iterations through a pixel buffer whose fence is polled. Once the test on the device is met, a flag freezes the
//! iterates, so results never depend on when a poll succeeded. No solver says "converged" on the strength of its own
//! recurrence: the residual is recomputed from `b - A x` in double-float first.

// What all solvers are asked and how they are driven: `drive`; every decision on what was seen: `judge`. The methods: `krylov`, `stationary` with the
// smoothers, `multigrid`, `lcp`; what helps them: `precondition`.
#[macro_use]
mod words;

mod auto;
mod drive;
mod host_system;
mod judge;
mod krylov;
mod lcp;
mod multigrid;
#[cfg(feature = "pack")]
mod packed;
mod precondition;
mod solving;
mod space;
mod stationary;

pub use auto::{
    Attempt, Auto, AutoEvent, AutoParams, AutoReport, Choice, ChoiceParams, Chosen, GivenUp, MethodKind,
    Precision, PreconditionerKind, Tried,
};
#[cfg(feature = "sim")]
pub(crate) use drive::fit::fit;
pub use drive::{
    Breakdown, Components, HistoryPoint, ResidualKind, SolveReport, Stop, StopReason, project_out,
};
pub use host_system::{DirectUse, HostReport, HostSystem, HostSystemParams, SolvedBy};
pub use krylov::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, FixedReport,
    FixedRun, FlexibleCgParams, FlexibleConjugateGradient, Gmres, GmresParams, Krylov, KrylovMethod,
    MOST_RESTART, Minres, MinresParams, Own, OwnMethod, Recurrence,
};
pub use lcp::{
    LcpBatch, LcpOutcome, LcpParams, LcpProblem, LcpReport, LcpSolver, NaturalResidual, ProjectedJacobi,
    Relaxation, natural_residual,
};
pub use multigrid::{
    AggregationLevel, AggregationMultigrid, AggregationParams, Cycle, Multigrid, MultigridParams, SaddlePoint,
};
#[cfg(feature = "pack")]
pub use packed::{
    BlockExpression, BlockLayout, BlockOperator, BlockParams, BlockPlan, BlockTexture, BlockUse, BlockVector,
    EnhancedBlockJacobi, FragmentExpression, VertexExpression, VertexGaussSeidel, VertexRungeKutta,
};
#[cfg(feature = "direct")]
pub use precondition::SparseFactors;
pub use precondition::{
    BlockJacobi, Chebyshev, ChebyshevParams, Fsai, HostInverse, Identity, IluParams, IncompleteCholesky,
    IncompleteLu, Jacobi, Preconditioner, Spai,
};
pub use solving::{Slice, SolveProgress, Solving};
pub use space::{Dot, M, Number, Operand, Recipe, Register, Space, Store, Update};
pub use stationary::{
    Direction, GaussSeidel, JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep, MOST_COLOURS,
    NineBandJacobi, NineBandSmoother, Smoother, Stationary, StationaryParams, Sweepable, WeightedJacobi,
};

#[cfg(feature = "sim")]
pub(crate) use stationary::JacobiWeights;

pub use crate::ops::{Accuracy, LinOp};
