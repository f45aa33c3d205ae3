//! Krylov methods and their preconditioners.

mod bicgstab;
mod cg;
mod cgls;
mod precondition;
mod steps;

pub use bicgstab::{BiCgStab, BiCgStabParams};
pub use cg::{CgParams, CgSchedule, ConjugateGradient, FixedReport, FixedRun, Recurrence};
pub use cgls::{Cgls, CglsParams};
pub use precondition::{Identity, Jacobi, Preconditioner};
