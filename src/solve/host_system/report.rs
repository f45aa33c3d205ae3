//! The outcome of a solve of a host's system.

use std::fmt;
use std::time::Duration;

use crate::solve::auto::{Attempt, AutoReport, Choice, MethodKind, PreconditionerKind};
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

impl SolvedBy {
    /// Returns its name, unless it was iterations.
    pub fn without_iterations(self) -> Option<&'static str> {
        match self {
            SolvedBy::Elimination => Some("elimination"),
            SolvedBy::Iterations(_) => None,
            SolvedBy::Factors { cholesky: true } => Some("sparse Cholesky factors"),
            SolvedBy::Factors { cholesky: false } => Some("sparse LU factors"),
        }
    }
}

impl fmt::Display for SolvedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SolvedBy::Iterations(choice) => choice.fmt(f),
            other => f.write_str(other.without_iterations().unwrap_or_default()),
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
    /// What was tried before, or could not be used, in that order. What [`Auto`](crate::solve::Auto) gave up within a run is in the report of that run.
    pub given_up: Vec<Attempt>,
}

impl HostReport {
    /// True for [`StopReason::Converged`](crate::solve::StopReason::Converged) alone.
    pub fn converged(&self) -> bool {
        self.solved.converged()
    }

    /// Returns the first run of iterations, with the verdict on `x` and what all runs have tried: what programs show. Without any it is one of no iterations.
    pub fn as_run(&self) -> AutoReport {
        let Some(run) = self.runs.first() else {
            let none = Choice::new(MethodKind::Gmres, PreconditionerKind::None);
            return AutoReport::of(self.solved.clone(), none, [Duration::ZERO; 3]);
        };
        let first = &run.solved;
        let solved = SolveReport {
            history: first.history.clone(),
            double_iterations: first.double_iterations,
            draws_useful: first.draws_useful,
            draws_in_vain: first.draws_in_vain,
            draws_per_iteration: first.draws_per_iteration,
            passes_per_iteration: first.passes_per_iteration,
            async_checks: first.async_checks,
            replacements: first.replacements,
            ..self.solved.clone()
        };
        let choice = match self.by {
            SolvedBy::Iterations(choice) => choice,
            _ => run.choice,
        };
        let tried = self.runs.iter().flat_map(|run| run.tried.iter().cloned()).collect();
        AutoReport { solved, choice, tried, ..run.clone() }
    }
}

/// By what, how it ended, and what the normal form did.
impl fmt::Display for HostReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (normal form: {})", self.by, self.solved, self.normal)?;
        self.given_up.iter().try_for_each(|Attempt { what, why, .. }| write!(f, "\nnot by {what}: {why}"))
    }
}
