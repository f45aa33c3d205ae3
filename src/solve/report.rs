//! When to stop, and what a solve has come to.

use std::fmt;

use crate::error::{Error, Result};

/// When a solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Bound on the relative residual.
    pub(crate) relative: f64,
    /// Iterations between two looks at the residual.
    pub(crate) every: usize,
}

impl Stop {
    /// Stop at `‖b - A x‖ <= t ‖b‖` (least squares: `‖Aᵀ(b - A x)‖ <= t ‖Aᵀb‖`). A look at every 16th iteration.
    pub const fn relative(t: f64) -> Self {
        Stop { relative: t, every: 16 }
    }

    /// Looks at the residual every `k` iterations. The iterates freeze at the iteration that met the test, whatever
    /// `k` is; it decides how many iterations run in vain and how fine the residual history is.
    pub const fn check_every(mut self, k: usize) -> Self {
        self.every = k;
        self
    }

    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        if !(self.relative >= 1e-18 && self.relative < 1.0) {
            let (name, value) = ("relative", self.relative.to_string());
            return Err(Error::Parameter { op, name, value, expected: "at least 1e-18 and less than 1" });
        }
        if self.every == 0 {
            return Err(Error::Parameter {
                op,
                name: "check_every",
                value: "0".into(),
                expected: "at least 1",
            });
        }
        Ok(())
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::relative(1e-5)
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The residual recomputed from `b - A x` in double-float meets the bound.
    Converged,
    /// The bound was not met in the iterations allowed.
    MaxIterations,
    /// The recurrence met the bound, the true residual does not, and starting again from it no longer helps:
    /// this is what 32-bit iterates can reach.
    Stagnated,
    /// The residual left the range of 32-bit floats.
    Diverged,
    /// The recurrence met the bound and the residual recomputed in 32 bits does too, but nothing could certify it: the
    /// operator or the device has no double-float product.
    Uncertified,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Converged => "converged",
            StopReason::MaxIterations => "max_iterations",
            StopReason::Stagnated => "stagnated",
            StopReason::Diverged => "diverged",
            StopReason::Uncertified => "uncertified",
        })
    }
}

/// What a solve has come to. Not converging is a report; a breakdown is an error.
#[derive(Clone, Debug, PartialEq)]
pub struct SolveReport {
    /// Why it stopped.
    pub reason: StopReason,
    /// Updates of the iterate, up to the one that met the test.
    pub iterations: usize,
    /// The relative residual of the returned iterate, recomputed from `b - A x` in double-float.
    pub true_residual: f64,
    /// Relative residuals of the recurrence where it was looked at: (iteration, residual).
    pub history: Vec<(usize, f64)>,
    /// Times the recurrence's residual was replaced by the recomputed one. Each time, as at the start and at the end,
    /// the host waits for one number, outside the loop: the norm on which it decides how to go on.
    pub replacements: usize,
    /// Looks at the residual through a polled fence.
    pub async_checks: u64,
    /// Readbacks that waited, inside the loop: none.
    pub readbacks_in_loop: u64,
    /// Draws of one iteration.
    pub draws_per_iteration: u64,
    /// Changes of the render target in one iteration.
    pub passes_per_iteration: u64,
}

impl SolveReport {
    /// True for [`StopReason::Converged`] alone.
    pub fn converged(&self) -> bool {
        self.reason == StopReason::Converged
    }
}
