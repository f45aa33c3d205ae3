//! Parameters of a solve, and what it has come to.

use super::fixed::check_omega;
use crate::error::Result;
use crate::solve::drive::check::check_count;
use crate::solve::drive::report::{HistoryPoint, Stop, StopReason};

/// How far a sweep goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Relaxation {
    /// From a power iteration's estimate of `λ_max(D⁻¹ A)`; with momentum where `A` is found to be symmetric. Lowered on
    /// the way where it proves too large.
    #[default]
    Accelerated,
    /// The same without momentum: projected Jacobi itself.
    Estimated,
    /// Projected Jacobi with this relaxation, whatever happens.
    Fixed(f32),
}

/// Parameters of [`LcpSolver`](super::LcpSolver) and [`LcpBatch`](super::LcpBatch).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpParams {
    /// Most sweeps, less than 2²⁴.
    pub max_sweeps: usize,
    /// When to stop: the bound is on the natural residual relative to that of zero, `max_i max(-b_i, 0)`.
    pub stop: Stop,
    /// How far a sweep goes.
    pub relaxation: Relaxation,
}

with!(const LcpParams:
    with_max_sweeps(max_sweeps: usize),
    with_stop(stop: Stop),
    with_relaxation(relaxation: Relaxation),
);

impl Default for LcpParams {
    fn default() -> Self {
        LcpParams { max_sweeps: 20_000, stop: Stop::relative(1e-4), relaxation: Relaxation::default() }
    }
}

impl LcpParams {
    /// The ranges of all parameters.
    pub(super) fn check(&self, op: &'static str) -> Result<()> {
        self.stop.check(op)?;
        if let Relaxation::Fixed(omega) = self.relaxation {
            check_omega(op, omega)?;
        }
        check_count(op, "max_sweeps", self.max_sweeps)
    }
}

/// What has become of one problem.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpOutcome {
    /// Why it stopped: see [`LcpSolver`](super::LcpSolver).
    pub reason: StopReason,
    /// Updates of the iterate, up to the one that met the test. The test is made at every eighth.
    pub sweeps: usize,
    /// `max_i |min(x_i, (A x + b)_i)| / max_i max(-b_i, 0)` of the returned `x`, recomputed in double-float. Of a start so
    /// large that rounding hides how good it is, returned because nothing better came: the largest that it may be.
    pub natural_residual: f64,
    /// The same with `a_ii x_i` in place of `x_i`: it does not depend on the units in which `x` is measured.
    pub scaled_residual: f64,
    /// The relaxation in the end.
    pub omega: f64,
    /// The estimate of `λ_max(D⁻¹ A)`, from below; none with [`Relaxation::Fixed`].
    pub lambda_max: Option<f64>,
    /// Whether momentum was in use in the end.
    pub accelerated: bool,
}

impl LcpOutcome {
    /// True for [`StopReason::Converged`] alone.
    pub fn converged(&self) -> bool {
        self.reason == StopReason::Converged
    }

    /// The larger of both residuals, on which the verdict stands.
    pub fn residual(&self) -> f64 {
        self.natural_residual.max(self.scaled_residual)
    }
}

/// What a solve has come to, its problems apart: one for [`LcpSolver`](super::LcpSolver).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LcpReport<O = LcpOutcome> {
    /// What has become of the problem, or of each in turn.
    pub outcome: O,
    /// The larger residual of the worst problem, each of a later sweep than the one before:
    /// [certified](crate::solve::ResidualKind::Certified) at the start, after each run and at the end, in 32 bits where that was
    /// polled in between. The last point is that of what is returned.
    pub history: Vec<HistoryPoint>,
    /// Times the residual was recomputed in double-float, the start's included. Each time the host waits, outside the
    /// loop.
    pub certifications: usize,
    /// Looks through a polled fence.
    pub async_checks: u64,
    /// Readbacks that waited, inside the loop: none.
    pub readbacks_in_loop: u64,
    /// Draws after all iterates had frozen, until that was noticed.
    pub draws_in_vain: u64,
    /// Draws of a sweep.
    pub draws_per_sweep: u64,
    /// Draws of a test besides, at every eighth sweep.
    pub draws_per_test: u64,
}

impl LcpReport {
    /// True for [`StopReason::Converged`] alone.
    pub fn converged(&self) -> bool {
        self.outcome.converged()
    }
}

impl LcpReport<Vec<LcpOutcome>> {
    /// True if every problem has converged.
    pub fn converged(&self) -> bool {
        self.outcome.iter().all(LcpOutcome::converged)
    }
}
