//! Krylov methods.

mod bicgstab;
mod cg;
mod cgls;
mod steps;

pub use bicgstab::{BiCgStab, BiCgStabParams};
pub use cg::{CgParams, CgSchedule, ConjugateGradient, FixedReport, FixedRun, Recurrence};
pub use cgls::{Cgls, CglsParams};
