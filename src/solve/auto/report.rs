//! What [`Auto`](super::Auto) has tried, and how it ended.

use std::fmt;
use std::time::Duration;

use super::Choice;
use crate::error::Error;
use crate::solve::drive::report::SolveReport;

/// Why something that was tried was given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GivenUp {
    /// It could not be set up, or does not take this system.
    Refused(Error),
    /// It ended like this; or it was cut short, as [`StopReason::MaxIterations`](crate::solve::StopReason::MaxIterations).
    Ended(Box<SolveReport>),
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenUp::Refused(error) => write!(f, "{error}"),
            GivenUp::Ended(report) => write!(f, "{report}"),
        }
    }
}

/// Something that [`Auto`](super::Auto) has tried and given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// What it was.
    pub choice: Choice,
    /// Time for its preconditioner.
    pub set_up: Duration,
    /// Time for its iterations.
    pub solving: Duration,
    /// Why it was given up.
    pub why: GivenUp,
}

/// A way to the solution that [`HostSystem`](crate::solve::HostSystem) has given up.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attempt {
    /// The last choice of iterations, or what else it was.
    pub what: String,
    /// How long it took.
    pub took: Duration,
    /// Why it was given up.
    pub why: GivenUp,
}

impl Attempt {
    /// Returns why it could not be used, if that was so.
    pub fn into_error(self) -> Option<Error> {
        match self.why {
            GivenUp::Refused(error) => Some(error),
            GivenUp::Ended(_) => None,
        }
    }
}

/// The outcome of a solve by [`Auto`](super::Auto).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutoReport {
    /// How the last run ended; `x` is what this is about.
    pub solved: SolveReport,
    /// What that was.
    pub choice: Choice,
    /// Time for its preconditioner.
    pub set_up: Duration,
    /// Time for its iterations.
    pub solving: Duration,
    /// How much of that went by while shaders were compiled.
    pub compiling: Duration,
    /// What was given up before, in the order in which it was tried.
    pub tried: Vec<Tried>,
}

impl AutoReport {
    /// Of a single run, with the times for its preconditioner, for its iterations and, of that, for compiling.
    pub fn of(solved: SolveReport, choice: Choice, [set_up, solving, compiling]: [Duration; 3]) -> Self {
        AutoReport { solved, choice, set_up, solving, compiling, tried: Vec::new() }
    }

    /// True for [`StopReason::Converged`](crate::solve::StopReason::Converged) alone.
    pub fn converged(&self) -> bool {
        self.solved.converged()
    }

    /// The relative residual from which the last run went on, where others had run before it: by itself the
    /// [choice](Self::choice) would begin elsewhere.
    pub fn went_on_from(&self) -> Option<f64> {
        self.tried.iter().rev().find_map(|tried| match &tried.why {
            GivenUp::Ended(report) => Some(report.true_residual),
            GivenUp::Refused(_) => None,
        })
    }

    /// Iterations of all that was tried.
    pub fn iterations(&self) -> usize {
        let of = |tried: &Tried| match &tried.why {
            GivenUp::Refused(_) => 0,
            GivenUp::Ended(report) => report.iterations,
        };
        self.solved.iterations + self.tried.iter().map(of).sum::<usize>()
    }
}

/// By what, how it ended, and a line for what was given up.
impl fmt::Display for AutoReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.choice, self.solved)?;
        if let Some(residual) = self.went_on_from() {
            write!(f, "; it went on from a relative residual of {residual:.1e}")?;
        }
        self.tried.iter().try_for_each(|Tried { choice, why, .. }| write!(f, "\nnot by {choice}: {why}"))
    }
}
