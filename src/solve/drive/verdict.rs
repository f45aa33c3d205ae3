//! Copies of iterates, and reports made of verdicts.

use super::looks::{Cost, Observer, Work};
use super::report::SolveReport;
use super::slices::counters;
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Counters;
use crate::ops;
use crate::solve::judge::{Residuals, Verdict};

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
        // Where one ends the other begins.
        let mut history = self.history;
        history.retain(|point| point.iteration < begin);
        history.extend(next.history.iter().map(|point| point.after(begin)));
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
    /// The report of a solve that ends with this verdict, whose iterations cost so much each.
    pub(in crate::solve) fn report(
        mut self,
        verdict: Verdict,
        each: Cost,
        observe: &mut Observer<'_>,
    ) -> SolveReport {
        let Residuals { own, rounding, other } = verdict.residuals;
        self.certified(verdict.iterations, own, observe);
        SolveReport {
            reason: verdict.reason,
            breakdown: verdict.breakdown,
            iterations: verdict.iterations,
            pairs: false,
            double_iterations: verdict.double_iterations,
            true_residual: own,
            rounding,
            least_squares_residual: other,
            components: verdict.components,
            least_residual: None,
            history: self.history,
            replacements: verdict.replacements,
            async_checks: self.async_checks,
            readbacks_in_loop: self.readbacks,
            draws_useful: 0,
            draws_in_vain: self.in_vain,
            draws_per_iteration: each.draws,
            passes_per_iteration: each.passes,
        }
    }
}
