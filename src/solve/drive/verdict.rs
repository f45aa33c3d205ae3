//! What recomputed residuals decide: whether a solve ends, and with which iterate.

use super::looks::{Cost, Work};
use super::report::{SolveReport, StopReason};
use super::slices::counters;
use super::state::Flag;
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Counters;
use crate::ops::{self, Accuracy};

/// Where a solve stands when its residual has been recomputed.
pub(in crate::solve) struct Standing {
    /// The residual, with what rounding may have changed of it, meets the bound.
    pub met: bool,
    pub bound: f64,
    /// Bounds below this cannot be certified.
    pub least: f64,
    pub accuracy: Accuracy,
    /// How the last run has ended.
    pub flag: Flag,
    /// All iterations are used up.
    pub exhausted: bool,
    /// Going on is not worth while.
    pub stuck: bool,
}

impl Standing {
    /// Why the solve ends here, if it does.
    pub fn verdict(&self) -> Option<StopReason> {
        if self.met {
            return Some(self.accuracy.verdict(self.bound, self.least));
        }
        match self.flag {
            Flag::OutOfRange => Some(StopReason::Diverged),
            _ if self.exhausted => Some(StopReason::MaxIterations),
            _ if self.stuck => Some(StopReason::Stagnated),
            _ => None,
        }
    }
}

/// Vectors of 32 bits hold the right-hand side no more closely than this.
pub(in crate::solve) const LEAST_BOUND: f64 = 1.0 / (1u32 << 24) as f64;

/// And pairs no more closely than this.
pub(in crate::solve) const LEAST_BOUND_OF_PAIRS: f64 = LEAST_BOUND * LEAST_BOUND;

impl Accuracy {
    /// What a bound that is met amounts to.
    pub(in crate::solve) fn verdict(self, bound: f64, least: f64) -> StopReason {
        match self {
            Accuracy::DoubleFloat if bound >= least => StopReason::Converged,
            _ => StopReason::Uncertified,
        }
    }
}

/// Whether an iterate is so large that rounding of its products hides whether the bound is met.
pub(in crate::solve) fn hides(rounding: f64, bound: f64) -> bool {
    // Of a NaN nothing can be said to be small.
    let small = rounding <= 0.5 * bound;
    !small
}

/// A run that does not cut the recomputed residual below this share of the best has reached what 32 bits can.
pub(in crate::solve) const WORTH_ANOTHER: f64 = 0.5;

/// How far down one run of pairs goes: a correction of 32 bits leaves `2⁻²⁴ ‖A‖ ‖y‖` of the residual, which is 3% of it for
/// Poisson's equation on 4096x4096, and a run that aims lower creeps up to its end. Multigrid cycles to 1e-9 on 1024x1024 and
/// 2048x2048 are 13 and 13 at 0.1 and at 0.03, 13 and 31 at 0.01, 32 and 31 at 0.001; what is recomputed more often at 0.1 than at
/// 0.03 is a tenth of the time.
pub(in crate::solve) const AT_ONCE_OF_PAIRS: f64 = 0.1;

/// What the next run aims at on its way from a residual to the one that is wanted, and whether that is the end of the way: less
/// than a factor of two is not worth another run.
pub(in crate::solve) fn next_aim(residual: f64, wanted: f64, at_once: f64) -> (f64, bool) {
    let on_the_way = residual * at_once;
    if on_the_way <= 2.0 * wanted { (wanted, true) } else { (on_the_way, false) }
}

/// What is known of an iterate once its residual has been recomputed.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Residuals {
    /// The relative residual, with the next one where that was asked for.
    pub own: f64,
    /// What rounding may have done to it, if that was asked for.
    pub rounding: Option<f64>,
    /// The other residual that a method may have.
    pub other: Option<f64>,
}

/// The best of the iterates whose residual was recomputed.
pub(in crate::solve) struct Best<V>(Option<(Residuals, V)>);

/// An iterate that can be kept.
pub(in crate::solve) trait Kept: Sized {
    fn copied(&self) -> Result<Self>;
}

impl Kept for Vector {
    fn copied(&self) -> Result<Self> {
        let mut copy = Vector::uninit(self.device(), self.len())?;
        ops::copy(&mut copy, self)?;
        Ok(copy)
    }
}

impl<V> Default for Best<V> {
    fn default() -> Self {
        Best(None)
    }
}

impl<V: Kept> Best<V> {
    fn residual(&self) -> Option<f64> {
        self.0.as_ref().map(|(residuals, _)| residuals.own)
    }

    fn is_beaten_by(&self, residual: f64) -> bool {
        self.residual().is_none_or(|best| best.is_nan() || residual < best)
    }

    /// What a residual is of the best, if there is one.
    pub fn share(&self, residual: f64) -> Option<f64> {
        self.residual().map(|best| residual / best)
    }

    /// Whether a run that has come to this residual was not worth while.
    pub fn is_hardly_beaten_by(&self, residual: f64) -> bool {
        self.residual().is_some_and(|best| residual.is_nan() || residual > WORTH_ANOTHER * best)
    }

    /// Keeps a copy of an iterate that is better than all before.
    pub fn offer(&mut self, residuals: Residuals, x: &V) -> Result<()> {
        if self.is_beaten_by(residuals.own) {
            self.0 = Some((residuals, x.copied()?));
        }
        Ok(())
    }

    /// Goes back to the best iterate, where that is better than the last one.
    pub fn back(&self, residual: f64, x: &mut V) -> Result<()> {
        match &self.0 {
            Some((best, kept)) if residual.is_nan() || residual > best.own => {
                *x = kept.copied()?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Puts the best iterate in the place of the last one, if it is better than that, and returns its residuals. What rounding may
    /// have done to them is asked for now where it was not before, and told beside them: what has not met its bound may be
    /// far from what is told of it, too.
    pub async fn told<J: Judged<Kept = V>>(
        self,
        last: Residuals,
        accuracy: Accuracy,
        judged: &mut J,
    ) -> Result<Residuals> {
        let beaten = self.is_beaten_by(last.own);
        let kept = self.0.filter(|_| !beaten);
        let is_kept = kept.is_some();
        let told = match kept {
            None => last,
            Some((best, kept)) => {
                judged.put(kept);
                best
            }
        };
        if told.rounding.is_some() || accuracy != Accuracy::DoubleFloat || !told.own.is_finite() {
            return Ok(told);
        }
        // What the method knows is of the last iterate.
        if is_kept && !judged.recomputed().await? {
            return Ok(told);
        }
        Ok(Residuals { rounding: Some(judged.rounding(told.own).await?), ..told })
    }
}

/// What can tell how good the iterate is that a solve returns.
pub(in crate::solve) trait Judged {
    type Kept;

    /// Makes this the iterate.
    fn put(&mut self, x: Self::Kept);

    /// Recomputes its residual; false where that is not finite.
    async fn recomputed(&mut self) -> Result<bool>;

    /// By how much rounding may have changed the residual, which is this. *Cost*: waits.
    async fn rounding(&mut self, residual: f64) -> Result<f64>;
}

impl SolveReport {
    /// With the draws of a solve that began with these counters and ends here.
    pub(in crate::solve) fn counted(self, device: &Device, before: &Counters) -> Self {
        let all = counters(device).since(before).draws;
        SolveReport { draws_useful: all.saturating_sub(self.draws_in_vain), ..self }
    }
}

impl SolveReport {
    /// This and what came next, from the iterate that it left after so many iterations of both.
    pub(in crate::solve) fn followed_by(self, next: SolveReport, begin: usize) -> Self {
        let mut history = self.history;
        history.extend(next.history.iter().skip(1).map(|(k, residual)| (begin + k, *residual)));
        SolveReport {
            iterations: self.iterations + next.iterations,
            double_iterations: self.double_iterations + next.double_iterations,
            history,
            replacements: self.replacements + next.replacements,
            async_checks: self.async_checks + next.async_checks,
            readbacks_in_loop: self.readbacks_in_loop + next.readbacks_in_loop,
            draws_useful: self.draws_useful + next.draws_useful,
            draws_in_vain: self.draws_in_vain + next.draws_in_vain,
            ..next
        }
    }
}

impl Work {
    /// What a solve that ends here reports.
    pub(in crate::solve) fn report(
        self,
        reason: StopReason,
        iterations: usize,
        Residuals { own, rounding, other }: Residuals,
        replacements: usize,
        each: Cost,
    ) -> SolveReport {
        SolveReport {
            reason,
            breakdown: None,
            iterations,
            pairs: false,
            double_iterations: 0,
            true_residual: own,
            rounding,
            least_squares_residual: other,
            history: self.history,
            replacements,
            async_checks: self.async_checks,
            readbacks_in_loop: self.readbacks,
            draws_useful: 0,
            draws_in_vain: self.in_vain,
            draws_per_iteration: each.draws,
            passes_per_iteration: each.passes,
        }
    }
}
