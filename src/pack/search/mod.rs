//! The search for the packing of least cost.

mod annealer;
mod chain;
mod metropolis;
mod schedule;
mod stream;
mod trace;

pub use annealer::{AnnealParams, Annealed, Annealer};
pub use schedule::{Limits, Progress, Schedule, Start, StopReason};
pub use trace::{Trace, TracePoint};
