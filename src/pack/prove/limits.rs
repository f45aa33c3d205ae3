//! What ends a proof before its end, and what is heard of it meanwhile.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::pack::Instructions;

/// What ends a proof, whichever comes first. Only `nodes` does so in the same place on every machine.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ProofLimits<'a> {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Partial assignments visited in all.
    pub nodes: Option<u64>,
    /// Stops once this is set, by another thread or a signal's handler.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called now and then, from any thread.
    pub progress: Option<&'a (dyn Fn(&ProofProgress) + Sync)>,
}

shown!(ProofLimits<'_>, |limits| "ProofLimits({:?}, {:?} nodes)", limits.time, limits.nodes);

with!(['a] const ProofLimits<'a>:
    with_time(time: Option<Duration>),
    with_nodes(nodes: Option<u64>),
    with_interrupt(interrupt: Option<&'a AtomicBool>),
    with_progress(progress: Option<&'a (dyn Fn(&ProofProgress) + Sync)>),
);

/// Twenty million nodes: an hour at most.
impl Default for ProofLimits<'_> {
    fn default() -> Self {
        Self { time: None, nodes: Some(20_000_000), interrupt: None, progress: None }
    }
}

impl ProofLimits<'_> {
    pub(super) fn check(&self, op: &'static str) -> Result<()> {
        if self.nodes == Some(0) {
            let (name, value, expected) = ("nodes", "0".to_owned(), "at least 1");
            return Err(Error::Parameter { op, name, value, expected });
        }
        if self.time == Some(Duration::ZERO) {
            let (name, value, expected) = ("time", "0 s".to_owned(), "more than nothing");
            return Err(Error::Parameter { op, name, value, expected });
        }
        Ok(())
    }
}

/// How far a proof is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProofProgress {
    /// Packings of this cost or less are searched for.
    pub target: Instructions,
    /// How many parts of this search are done.
    pub done: usize,
    /// How many there are; they differ much in length.
    pub parts: usize,
    /// Partial assignments visited in all.
    pub nodes: u64,
    /// Since the start.
    pub elapsed: Duration,
}
