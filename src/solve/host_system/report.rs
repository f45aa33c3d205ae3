//! The outcome of a solve of a host's system.

use std::fmt;

use crate::error::Error;
use crate::solve::auto::{AutoReport, Choice};
use crate::solve::drive::report::SolveReport;

/// What computed the unknowns that the normal form left.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SolvedBy {
    /// The normal form left none.
    Elimination,
    /// Iterations.
    Iterations(Choice),
    /// Sparse factors.
    Factors {
        /// Those of Cholesky, else of LU.
        cholesky: bool,
    },
}

impl fmt::Display for SolvedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolvedBy::Elimination => f.write_str("elimination"),
            SolvedBy::Iterations(choice) => choice.fmt(f),
            SolvedBy::Factors { cholesky: true } => f.write_str("sparse Cholesky factors"),
            SolvedBy::Factors { cholesky: false } => f.write_str("sparse LU factors"),
        }
    }
}

/// The outcome of a solve by [`HostSystem`](crate::solve::HostSystem).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HostReport {
    /// The certificate on `x` for the system as given. Its iterations are those of all runs.
    pub solved: SolveReport,
    /// What computed `x`.
    pub by: SolvedBy,
    /// What the normal form did, in words.
    pub normal: String,
    /// Corrections by the residual of the system as given, after the first solution.
    pub corrections: usize,
    /// Runs of iterations, if there were any.
    pub runs: Vec<AutoReport>,
    /// What could not be used, and why.
    pub refused: Vec<(&'static str, Error)>,
}

impl HostReport {
    /// True for [`StopReason::Converged`](crate::solve::StopReason::Converged) alone.
    pub fn converged(&self) -> bool {
        self.solved.converged()
    }
}

/// By what, how it ended, and what the normal form did.
impl fmt::Display for HostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (normal form: {})", self.by, self.solved, self.normal)?;
        self.refused.iter().try_for_each(|(what, error)| write!(f, "\nnot by {what}: {error}"))
    }
}
