//! What a [`Judge`](super::Judge) is made from, what it receives, and what it answers.

use crate::ops::Accuracy;
use crate::solve::drive::report::{Breakdown, Components, StopReason};
use crate::solve::drive::state::Flag;

/// Vectors of 32 bits represent the right-hand side to within this relative error.
pub(in crate::solve) const LEAST_BOUND: f64 = 1.0 / (1u32 << 24) as f64;

/// Pairs of floats represent it to within this one.
pub(in crate::solve) const LEAST_BOUND_OF_PAIRS: f64 = LEAST_BOUND * LEAST_BOUND;

/// A solve, described for its judge. Residuals are relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Terms {
    /// Bound on the residual.
    pub bound: f64,
    /// The least bound that can be certified.
    pub least: f64,
    /// Most iterations.
    pub max_iters: usize,
    /// The start is zero already, or zero is no better start.
    pub from_zero: bool,
    /// Zero replaces a lost iterate once, whenever it is lost; else only if that is the start.
    pub restarts: bool,
    /// A start whose residual is larger than this is replaced by zero.
    pub far: f64,
    /// Zero is known to be a solution.
    pub zero_solves: bool,
    /// The verdict names the rounding of a residual that does not meet the bound, too.
    pub reports_rounding: bool,
    /// The least share of a row that counts as too much, where the executor can tell how well single equations are satisfied.
    pub components: Option<f64>,
    /// How runs are aimed, and when they stop being worthwhile.
    pub policy: Policy,
}

/// How runs are aimed, and when they stop being worthwhile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum Policy {
    /// Of a recurrence whose residual drifts away from the true one.
    Recurrence(Traits),
    /// Of sweeps, whose residual is computed anew at each of their tests.
    Sweeps(Sweeps),
}

/// Traits of a method that is a recurrence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Traits {
    /// The residual is not replaced on the way to the bound: iterations are few, they are made in pairs of floats, or a restart
    /// loses what they make use of.
    pub direct: bool,
    /// The preconditioner takes passes of its own: a run is to gain a lot.
    pub dear: bool,
    /// How far the residual may grow in a run that was started afresh.
    pub growth: f64,
    /// Iterations after which the residual is replaced in any case.
    pub spell: Option<usize>,
    /// The method can go on as a recurrence in pairs of floats.
    pub widens: bool,
    /// It is one from the beginning.
    pub wide: bool,
    /// Number of unknowns.
    pub unknowns: usize,
}

/// Traits of a method of sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Sweeps {
    /// Unknowns are pairs of floats, which the sweeps of a run correct by a vector of 32 bits.
    pub pairs: bool,
    /// The share of the residual to which one run goes.
    pub at_once: f64,
    /// Only consecutive runs without progress end a solve of pairs. Else two are enough wherever they occur.
    pub forgives: bool,
}

/// What an executor has found when it carried out an [`Order`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum Event {
    /// The order is carried out, and there was nothing to measure.
    Done,
    /// The residual, recomputed from the iterate.
    Residual(Measured),
    /// By how much rounding may have changed the residual in question.
    Rounding(f64),
    /// How well single equations are satisfied, where the operator tells that.
    Components(Option<Components>),
    /// A run has ended.
    Ended(Ran),
}

/// Residuals recomputed from an iterate, without what rounding may have done to them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Measured {
    /// Relative; not finite where an element of the iterate or of the residual is not.
    pub own: f64,
    /// Another residual, of which it is enough that it meets the bound.
    pub other: Option<f64>,
    /// How exactly they were computed.
    pub accuracy: Accuracy,
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Ran {
    pub flag: Flag,
    /// Iterations of all runs together.
    pub iterations: usize,
    /// The relative residual by the method's own recurrence.
    pub recurrence: f64,
    /// What the method's theory says of such an end.
    pub after: After,
}

/// What a method's theory says of a run that has ended like this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum After {
    /// Nothing: the flag and the true residual decide.
    Judge,
    /// The method cannot go on.
    End(Breakdown),
    /// It cannot, unless the run has reduced its own residual: the true one may allow another run.
    UnlessProgress(Breakdown),
    /// It cannot, unless the true residual is at most this share of the best one before. The value of the breakdown is then
    /// that share.
    Unless(f64, Breakdown),
    /// It can from another start of the recurrence, of which there are a few.
    Retry(Breakdown),
}

/// What an executor does next. It then tells its judge what it has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) enum Order {
    /// Recompute the residual from the iterate: [`Event::Residual`].
    Recompute,
    /// Bound what rounding may have done to the residual just recomputed: [`Event::Rounding`].
    Certify,
    /// The same for the other residual: [`Event::Rounding`].
    CertifyOther,
    /// Find out how well the iterate satisfies single equations, of which none may exceed this share: [`Event::Components`].
    Components(f64),
    /// Keep a copy of the iterate, in place of the one kept before.
    Keep,
    /// Replace the iterate by the copy, which is then no longer kept.
    TakeBack,
    /// Discard what the last run has added to the iterate.
    Back,
    /// Replace the iterate by zero.
    FromZero,
    /// Go on in pairs of floats.
    Widen,
    /// Iterate until the method freezes: [`Event::Ended`].
    Run(Run),
    /// Return the iterate with this verdict.
    End(Verdict),
}

/// A run of iterations. Residuals are relative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Run {
    /// The residual at which iterations freeze.
    pub aim: f64,
    /// The residual past which the run has failed.
    pub ceiling: f64,
    /// Iterations of all runs together at which it ends.
    pub limit: usize,
    /// The search direction of the run before is still valid.
    pub keep_direction: bool,
    /// Starts that have failed since the last one that did not: a method that has several takes the next one.
    pub attempt: usize,
}

/// Residuals of an iterate as they are reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Residuals {
    /// The relative residual; with the rounding where that was needed to judge the iterate.
    pub own: f64,
    /// By how much rounding may have changed it, where that is known.
    pub rounding: Option<f64>,
    /// The other residual of a method that has two.
    pub other: Option<f64>,
}

/// The outcome of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Verdict {
    pub reason: StopReason,
    /// Of the iterate that is returned.
    pub residuals: Residuals,
    pub components: Option<Components>,
    pub breakdown: Option<Breakdown>,
    pub iterations: usize,
    /// How many of them were made in pairs of floats.
    pub double_iterations: usize,
    /// How often the residual of the recurrence was replaced by the recomputed one.
    pub replacements: usize,
}
