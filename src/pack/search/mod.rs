//! The search for the packing of least cost.

mod annealer;
mod chain;
mod metropolis;
mod optimize;
mod refine;
mod schedule;
mod seeds;
mod stream;
mod trace;

pub use annealer::{AnnealParams, Annealed, Annealer};
pub use optimize::{Optimized, SearchParams, optimize};
pub use schedule::{CoolingSchedule, Progress, Report, SearchLimits, SearchStop, Start};
pub use seeds::Origin;
pub use trace::{Trace, TracePoint};
