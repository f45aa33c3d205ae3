//! Krylov methods.

mod bicgstab;
mod cg;
mod cgls;
mod flexible;
mod gmres;
mod minres;
mod own;
mod solver;

pub use bicgstab::{BiCgStab, BiCgStabParams};
pub use cg::{CgParams, CgSchedule, ConjugateGradient, FixedReport, FixedRun, Recurrence};
pub use cgls::{Cgls, CglsParams};
pub use flexible::{FlexibleCgParams, FlexibleConjugateGradient};
pub use gmres::{Gmres, GmresParams, MOST_RESTART};
pub use minres::{Minres, MinresParams};
pub use own::{Own, OwnMethod};
pub use solver::{Krylov, KrylovMethod};
