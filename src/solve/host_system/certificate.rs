//! The verdict on a solution of the system as it was given.

use std::borrow::Cow;
use std::rc::Rc;

use super::units::{difference, largest, mapped, norm2, power_of, range};
use super::{HostSystem, SolvedBy};
use crate::data::{DoubleVector, StoredMatrix, Unknowns, Vector};
use crate::error::Result;
use crate::solve::auto::{AutoReport, Choice, ChoiceParams, MethodKind, PreconditionerKind};
use crate::solve::drive::front::Solver;
use crate::solve::drive::report::{Components, SolveReport, StopReason};

/// An element that is this much smaller than the largest has no low part in pairs of floats that are scaled by one power of two.
const LOST: f64 = (1u128 << 90) as f64;

/// Units of right-hand sides are exact for elements no larger than this, and no smaller than its inverse.
const FAR: f64 = 1e200;

/// A solution whose equations hold to this share of their terms is the best there is, whatever the norm of its residual is.
const SOUND: f64 = 1e-12;

/// The best solution so far.
pub(super) struct Best {
    pub x: Vec<f64>,
    pub report: SolveReport,
    /// It does not meet the bound, but its backward error by components is rounding.
    pub is_sound: bool,
    pub by: SolvedBy,
    pub corrections: usize,
}

impl Best {
    /// What decides between solutions: the residual, or what it hides.
    pub fn score(report: &SolveReport) -> f64 {
        let hidden = report.components.map_or(0.0, |Components { omega, .. }| omega / Components::LIMIT);
        if report.true_residual.is_nan() { f64::INFINITY } else { report.true_residual.max(hidden) }
    }

    /// What is sound comes before what has not gained ten times; else the score decides.
    pub fn rank(report: &SolveReport, is_sound: bool) -> (bool, f64) {
        let score = Self::score(report);
        (score > 0.1 && !is_sound, score)
    }
}

impl HostSystem {
    /// Whether the residual is what rounding `x` to pairs leaves of it, `2⁻⁴⁸ ‖|A| |x|‖ / ‖b‖`, so that nothing gains more: it has
    /// then stagnated.
    pub(super) fn is_all_that_pairs_hold(&self, b: &[f64], best: &mut Option<Best>) -> Result<bool> {
        let Some(Best { x, report, .. }) = best else { return Ok(false) };
        if report.least_residual.is_some() {
            return Ok(true);
        }
        if !self.pairs() || report.reason != StopReason::MaxIterations || norm2(b) == 0.0 {
            return Ok(false);
        }
        let least = self.least_residual(x, b);
        let held = report.true_residual <= least;
        if held {
            (report.reason, report.least_residual) = (StopReason::Stagnated, Some(least));
        }
        Ok(held)
    }

    /// The same verdict with components that no unknowns solve, by the part of their right-hand side along their null vector: the norm of all
    /// need not show them. What is rounding beside the whole right-hand side does not count.
    pub(super) fn with_unsolvable_parts(&self, report: SolveReport, b: &[f64]) -> Result<SolveReport> {
        const ROUNDING: f64 = 1e-12;
        let found = report.components.filter(|_| report.reason == StopReason::Converged);
        let Some(found) = found.filter(|_| self.normal.is_symmetric()) else { return Ok(report) };
        let most = Components::limit(self.params.auto.stop.relative);
        let right = self.normal.right(b)?;
        let least = ROUNDING * norm2(&right);
        let (mut omega, mut rows) = (found.omega, found.rows);
        for vector in self.normal.null_vectors() {
            let (part, own): (Vec<f64>, Vec<f64>) =
                vector.iter().map(|(i, v)| (right.get(*i).copied().unwrap_or_default(), *v)).unzip();
            let along = part.iter().zip(&own).map(|(r, v)| r * v).sum::<f64>().abs() / norm2(&own);
            let share = along / norm2(&part);
            if along > least && share > most {
                omega = f64::max(omega, share);
                rows += vector.len();
            }
        }
        if rows == found.rows {
            return Ok(report);
        }
        let components = Some(Components { omega, rows, ..found });
        Ok(SolveReport { reason: StopReason::NormOnly, components, ..report })
    }

    /// Puts the start in the place of what is further from a solution.
    pub(super) async fn no_worse_than(
        &self,
        start: &[f64],
        b: &[f64],
        best: &mut Option<Best>,
    ) -> Result<()> {
        let met = |best: &Best| {
            best.is_sound || best.report.converged() || best.report.reason == StopReason::NormOnly
        };
        let Some(found) = best.as_mut().filter(|best| !met(best)) else { return Ok(()) };
        let ax = self.matrix().mul_vec(start)?;
        let rest = difference(b, &ax);
        if found.report.true_residual * norm2(b) <= norm2(&rest) {
            return Ok(());
        }
        found.x = start.to_vec();
        let certified = self.certificate(&mut found.x, b).await?;
        found.report = self.with_small_rows(certified, &found.x, b)?;
        Ok(())
    }

    /// The verdict on `found` in place of the one on `x`, which certifying has made of it, where each equation held but for rounding
    /// and no longer does: what is further off by the norm than zero is taken back there. Whether each does in the
    /// end, where the bound is not met.
    pub(super) fn with_sound(
        &self,
        report: SolveReport,
        x: &mut Vec<f64>,
        found: Vec<f64>,
        b: &[f64],
    ) -> Result<(SolveReport, bool)> {
        if report.converged() || report.reason == StopReason::NormOnly {
            return Ok((report, false));
        }
        if self.backward_error(x, b)?.0 {
            return Ok((report, true));
        }
        if !self.backward_error(&found, b)?.0 {
            return Ok((report, false));
        }
        let ax = self.matrix().mul_vec(&found)?;
        let rest = difference(b, &ax);
        *x = found;
        let (true_residual, least) = (norm2(&rest) / norm2(b), self.least_residual(x, b));
        let report = SolveReport {
            reason: StopReason::Stagnated,
            true_residual,
            rounding: None,
            least_residual: Some(least),
            ..report
        };
        Ok((report, true))
    }

    /// What rounding `x` to pairs may leave of the residual, relative to the right-hand side.
    fn least_residual(&self, x: &[f64], b: &[f64]) -> f64 {
        let mut terms = vec![0.0; b.len()];
        for (i, j, v) in self.matrix().entries() {
            if let (Some(sum), Some(x)) = (terms.get_mut(i), x.get(j)) {
                *sum += (v * x).abs();
            }
        }
        48f64.exp2().recip() * norm2(&terms) / norm2(b)
    }

    /// Whether each equation holds but for rounding of its terms, and which share of them is left.
    pub(super) fn backward_error(&self, x: &[f64], b: &[f64]) -> Result<(bool, Components)> {
        let found = Components { rows: 0, ..Components::measured(self.matrix(), x, b, 0.0)? };
        Ok((found.omega <= SOUND, found))
    }

    /// The verdict of a run from zero that has met the bound, where its matrix was the one given: `x` is what it was about, in units
    /// of its right-hand side, unless elements are too far apart for pairs to hold all.
    pub(super) fn certified_by(&self, run: &AutoReport, x: &[f64]) -> Option<SolveReport> {
        if !run.converged() || !self.pairs() || !self.is_as_given() {
            return None;
        }
        let [most, least] = range(x);
        (least >= most / LOST && most < FAR && least > FAR.recip()).then(|| run.solved.clone())
    }

    /// The verdict on a solution of the system as given: a solve of no iterations from there, which leaves in `x` what it is about,
    /// rounded to pairs.
    pub(super) async fn certificate(&self, x: &mut [f64], b: &[f64]) -> Result<SolveReport> {
        let (given, units) = self.in_units(x)?;
        let own = |j: usize| units.get(j).copied().unwrap_or(1.0);
        // Between the sizes of both, so that neither is near an end of the range of floats.
        let in_own = mapped(x, |j, x| x / own(j));
        let unit = power_of(power_of(largest(b)).sqrt() * power_of(largest(&in_own)).sqrt());
        let scaled = |list: &[f64]| mapped(list, |_, v| v / unit);
        let (start, b, device) = (scaled(&in_own), scaled(b), given.device());
        let (report, certified) = if self.pairs() {
            let mut on_device = DoubleVector::from_f64(device, &start)?;
            let report = self.judged(&given, &mut on_device, &DoubleVector::from_f64(device, &b)?).await?;
            (report, on_device.read()?)
        } else {
            let mut on_device = Vector::from_f64(device, &start)?;
            let report = self.judged(&given, &mut on_device, &Vector::from_f64(device, &b)?).await?;
            (report, on_device.read()?.into_iter().map(f64::from).collect())
        };
        x.copy_from_slice(&mapped(&certified, |j, v| v * unit * own(j)));
        Ok(report)
    }

    /// The matrix on the device, and the units of its columns: those of the elements of `x` where pairs of floats would lose some
    /// beside others, in those in which it is kept.
    fn in_units(&self, x: &[f64]) -> Result<(Rc<StoredMatrix>, Cow<'_, [f64]>)> {
        let kept: &[f64] = self.apart.as_ref().map_or(&[], |(_, units)| units);
        let of = |j: usize| kept.get(j).copied().unwrap_or(1.0);
        let [most, least] = if kept.is_empty() { range(x) } else { range(&mapped(x, |j, x| x / of(j))) };
        if !self.pairs() || least >= most / LOST {
            return Ok((Rc::clone(&self.given), Cow::Borrowed(kept)));
        }
        let own = |(j, x): (usize, &f64)| if *x == 0.0 { of(j) } else { power_of(x.abs()) };
        let units: Vec<f64> = x.iter().enumerate().map(own).collect();
        let unit = |units: &[f64], j: usize| units.get(j).copied().unwrap_or(1.0);
        // No entry of the matrix may leave the range either.
        let largest =
            self.matrix().entries().map(|(_, j, v)| (v * unit(&units, j)).abs()).fold(0.0, f64::max);
        let units: Vec<f64> = units.into_iter().map(|unit| unit / power_of(largest)).collect();
        let scaled = self.matrix().clone().map(|_, j, v| v * unit(&units, j));
        let scaled = StoredMatrix::new(self.given.device(), scaled, self.params.format)?;
        Ok((Rc::new(scaled), Cow::Owned(units)))
    }

    /// The same verdict with equations that the norm hides and the device does not see, in 64 bits: of fields that are small beside
    /// others, and below the range of floats.
    pub(super) fn with_small_rows(&self, report: SolveReport, x: &[f64], b: &[f64]) -> Result<SolveReport> {
        // The device may have had the elements in other units, and has another margin.
        let said = report.reason == StopReason::NormOnly;
        let known = said || report.reason == StopReason::Converged;
        let Some(found) = report.components.filter(|_| known) else { return Ok(report) };
        let most = Components::limit(self.params.auto.stop.relative);
        let measured = Components::measured(self.matrix(), x, b, most)?;
        if measured.rows == 0 {
            let found = if said { measured } else { found };
            return Ok(SolveReport { reason: StopReason::Converged, components: Some(found), ..report });
        }
        let components = Some(Components { omega: measured.omega.max(found.omega), ..measured });
        Ok(SolveReport { reason: StopReason::NormOnly, components, ..report })
    }

    async fn judged<X: Unknowns>(&self, given: &StoredMatrix, x: &mut X, b: &X) -> Result<SolveReport> {
        let params = ChoiceParams::default().with_stop(self.params.auto.stop).with_max_iters(0);
        let choice = Choice::new(MethodKind::BiCgStab, PreconditionerKind::None);
        choice.prepare(given, params)?.solving(x, b, &mut |_| {}).await
    }
}
