//! Ways to solve the reduced system, and a solve that goes from one to the next.

use std::time::Duration;

use super::SolvedBy;
use crate::error::Error;
use crate::solve::auto::{Attempt, AutoEvent, AutoReport, GivenUp, Hear};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::report::{SolveReport, StopReason};
use crate::solve::drive::slices::Stopwatch;

/// A way to solve the reduced system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Road {
    Elimination,
    Iterations,
    #[cfg(feature = "direct")]
    Factors,
}

impl Road {
    pub fn name(self) -> &'static str {
        match self {
            Road::Elimination => "elimination",
            Road::Iterations => "iterations",
            #[cfg(feature = "direct")]
            Road::Factors => "sparse factors",
        }
    }
}

/// A solve under way.
pub(super) struct Under<'u, 'o> {
    pub runs: Vec<AutoReport>,
    pub started: Stopwatch,
    /// How long a run of iterations may take.
    pub patience: Option<Duration>,
    /// The solution so far is not what to go on from.
    pub fresh: bool,
    pub observe: &'u mut Observer<'o>,
    pub given_up: Vec<Attempt>,
    pub heard: Option<Hear>,
    /// What has ended without an answer: it is given up once something else begins.
    pub ended: Option<Attempt>,
}

impl<'u, 'o> Under<'u, 'o> {
    pub fn new(given_up: Vec<Attempt>, heard: Option<Hear>, observe: &'u mut Observer<'o>) -> Self {
        let (runs, started) = (Vec::new(), Stopwatch::start());
        Under { runs, started, patience: None, fresh: false, observe, given_up, heard, ended: None }
    }

    /// Of all runs.
    pub fn iterations(&self) -> usize {
        self.runs.iter().map(AutoReport::iterations).sum()
    }

    pub fn give_up(&mut self, attempt: Attempt) {
        if let Some(hear) = &self.heard {
            hear(&AutoEvent::Failed(&attempt));
        }
        self.given_up.push(attempt);
    }

    /// The same of what could not be used.
    pub fn refuse(&mut self, what: &str, took: Duration, error: Error) {
        self.give_up(Attempt { what: what.to_owned(), took, why: GivenUp::Refused(error) });
    }

    /// Gives up what has ended, as something else begins.
    pub fn go_on(&mut self) {
        if let Some(attempt) = self.ended.take() {
            self.give_up(attempt);
        }
    }

    /// Takes back that the best solution was given up, where what came after it was no better.
    pub fn keep(&mut self, by: Option<SolvedBy>) {
        let Some(by) = by.map(|by| by.to_string()) else { return };
        let is_other = |attempt: &Attempt| attempt.what != by || matches!(attempt.why, GivenUp::Refused(_));
        self.given_up.retain(is_other);
        self.ended = self.ended.take().filter(is_other);
    }

    /// Why the last run of iterations has ended, of which the certificate tells nothing, as it makes none.
    pub fn reason(&self) -> StopReason {
        let last = self.runs.last().map(|run| run.solved.reason).filter(|r| *r != StopReason::Converged);
        last.unwrap_or(StopReason::Stagnated)
    }
}

/// The report on a solution that is not converged, with why there is no better one.
pub(super) fn ended(report: &SolveReport, reason: StopReason, iterations: usize) -> GivenUp {
    let reason = if report.reason == StopReason::MaxIterations { reason } else { report.reason };
    GivenUp::Ended(Box::new(SolveReport { reason, iterations, ..report.clone() }))
}
