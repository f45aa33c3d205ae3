//! The linear complementarity problem `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0` \[Moravanszky03\] 4.2.

mod batch;
mod certify;
mod diagonal;
mod fixed;
mod natural;
mod partition;
mod report;
mod run;
mod solver;
mod spectrum;
mod system;
mod table;

pub use batch::{LcpBatch, LcpProblem};
pub use fixed::ProjectedJacobi;
pub use natural::{NaturalResidual, natural_residual};
pub use report::{LcpOutcome, LcpParams, LcpReport, Relaxation};
pub use solver::LcpSolver;
