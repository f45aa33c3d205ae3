//! What a solver claims against what is so.

use texla::Error;
use texla::solve::{Breakdown, StopReason};

use crate::common::bounds::{TINY, U};
use crate::common::reference;
use crate::common::systems::{lcp_unit, norm};
use crate::common::worst::worst;
use crate::exact::{self, Term};
use crate::table;

/// What a verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// `‖b - A x‖` against `‖b‖`, of a `b` without its part in the null space.
    Residual,
    /// The same of `b` as it is: least squares leave none of it out.
    Own,
    /// `‖Aᵀ(b - A x)‖` against `‖Aᵀb‖`.
    Normal,
    /// The larger of `max |min(x, A x + b)|` and `max |min(D x, A x + b)|` against `max(-b, 0)`.
    Complementarity,
    /// Nothing is claimed but that numbers are numbers.
    Nothing,
}

/// A system as the device was given it.
pub struct Problem {
    /// The matrix as the format holds it.
    pub terms: Vec<Term>,
    pub rows: usize,
    pub cols: usize,
    /// `b` in 64 bits, and as [`Vector::from_f64`](texla::Vector::from_f64) rounds it.
    pub given: Vec<f64>,
    pub held: Vec<f64>,
    pub x0: Vec<f32>,
    pub null_space: bool,
    pub bound: f64,
    /// Coefficients kept in 32 bits that are below the normal range: a device may take them for zero.
    pub flushed: bool,
    /// The power of two that is taken out of coefficients where they are stored.
    pub taken: f64,
    pub definite: bool,
}

/// What came back.
pub struct Outcome {
    /// The verdict; none where nothing is said of the residual.
    pub reason: Result<Option<StopReason>, Error>,
    pub breakdown: Option<Breakdown>,
    /// Residuals in the report: one, or the natural and the scaled one.
    pub reported: Vec<f64>,
    /// Of least squares, the residual of [`Measure::Own`].
    pub own: Option<f64>,
    pub x: Vec<f32>,
    /// `b` afterwards.
    pub b: Option<Vec<f32>>,
}

/// In which way an answer is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Converged, and the residual of the `b` on the device does not meet the bound.
    Converged,
    /// Converged below what 32 bits of `b` hold: met for the rounded `b`, not for the given one.
    ConvergedRounded,
    /// The residual reported is another one.
    Reported,
    /// `x` has elements that are no numbers.
    NotFinite,
    /// A solution of a complementarity problem with negative elements.
    Negative,
    /// `x` is worse than the start.
    Worse,
    /// An error, and `x` is worse than the start.
    ErrorWorse,
    /// An error or a breakdown that says of the system what is not so.
    Accused,
    /// An error that no system can be the reason of.
    Internal,
    /// `b` is not as it was.
    Changed,
    Panicked,
    /// More iterations than allowed, or others in pairs, or a history whose iterations do not grow.
    Counted,
    /// Converged, and not so times a power of two, or the other way round.
    Scaled,
}

/// Bounds below this say nothing of a `b` that 32 bits had to round.
const HELD: f64 = 6e-8;

/// What the norms in 32 bits may be off by.
const NORMS: f64 = 1e-5;

/// What an accurate product may be off by: `k 2^-46` times the magnitudes of its `k` terms.
fn double_float(terms: &[Term], rows: usize) -> f64 {
    let mut counts = vec![2usize; rows];
    terms.iter().for_each(|t| counts[t.0] += 1);
    counts.into_iter().max().unwrap_or(2) as f64 * 2f64.powi(-46)
}

/// Whether an error says that the library, the driver or the context failed: no system is the reason of that.
pub fn is_internal(error: &Error) -> bool {
    matches!(error, Error::Internal { .. } | Error::Gl { .. } | Error::HostGl { .. } | Error::ContextLost)
}

/// A residual, what computing it as documented may be off by, and the largest magnitude on the way.
struct Measured {
    size: f64,
    slack: f64,
    largest: f64,
    /// What the bound on rounding may have in it for what falls below the range of floats.
    below: f64,
}

impl Problem {
    /// `b` without its part along constants, where these are declared to be the null space.
    fn consistent(&self, b: &[f64]) -> Vec<f64> {
        if !self.null_space {
            return b.to_vec();
        }
        let mean = self.mean(b);
        b.iter().map(|v| v - mean).collect()
    }

    fn mean(&self, b: &[f64]) -> f64 {
        let mut sum = exact::Expansion::default();
        b.iter().for_each(|v| sum.add(*v));
        sum.value() / b.len() as f64
    }

    pub fn diagonal(&self) -> Vec<f64> {
        let mut d = vec![0.0; self.rows.min(self.cols)];
        self.terms.iter().filter(|t| t.0 == t.1).for_each(|t| d[t.0] += t.2);
        d
    }

    fn is_symmetric(&self) -> bool {
        let sorted = |mut terms: Vec<Term>| {
            terms.sort_by(|a, b| a.partial_cmp(b).unwrap());
            terms
        };
        sorted(self.terms.clone()) == sorted(exact::flipped(&self.terms))
    }

    /// What a device may have taken for zero that is below the normal range of 32 bits: of `b`, of `x`, and of coefficients
    /// that are kept as they are.
    pub fn flushed(&self, x: &[f32], b: &[f64]) -> f64 {
        let mut lost: f64 = b.iter().map(|v| v.abs()).filter(|v| *v < TINY).sum();
        for &(_, j, v) in &self.terms {
            let x = x[j];
            if x.is_subnormal() || self.flushed && v.abs() < TINY {
                lost += (v * f64::from(x)).abs();
            }
        }
        lost
    }

    /// What the bound on rounding counts for what falls below the range: 2^-122 (1 + |x|) a term, in the units in which the
    /// solver's `b` and the stored coefficients are about 1. Twice for the norm of a sum.
    pub fn below(&self, terms: &[Term], rows: usize, x: &[f64], unit: f64) -> Vec<f64> {
        let largest = terms.iter().map(|t| t.2.abs()).fold(0.0, worst);
        let exponent = if largest == 0.0 { 0.0 } else { largest.log2().floor() };
        let stored = (exponent - exponent.clamp(-60.0, 60.0)).exp2();
        let mut lost = vec![0.0; rows];
        terms.iter().for_each(|t| lost[t.0] += 2f64.powi(-120) * (unit + stored * x[t.1].abs()));
        lost
    }

    /// What products with `x` may miss of low parts that fall below the normal range, those of coefficients below 2^-100 as they
    /// are stored. Complementarity is told without that.
    fn low_parts_lost(&self, x: &[f64]) -> f64 {
        let mut lost = vec![0.0; self.rows];
        for t in self.terms.iter().filter(|t| t.2.abs() < self.taken * 2f64.powi(-100)) {
            lost[t.0] += self.taken * TINY * x[t.1].abs();
        }
        reference::max_abs(&lost)
    }

    /// The coefficients that a device may take for zero, as they are and as the smallest normal number, for which bounds count each.
    pub fn gone(&self, terms: &[Term]) -> [Vec<Term>; 2] {
        let small = |t: &&Term| self.flushed && t.2.abs() < TINY;
        let gone: Vec<Term> = terms.iter().filter(small).copied().collect();
        let smallest = gone.iter().map(|t| (t.0, t.1, TINY)).collect();
        [gone, smallest]
    }

    fn unit(&self, measure: Measure, b: &[f64]) -> f64 {
        match measure {
            Measure::Residual | Measure::Nothing => norm(&self.consistent(b)),
            Measure::Own => norm(b),
            Measure::Normal => {
                let r = exact::residual(&[], &[], b);
                norm(&exact::values(&exact::transposed(&self.terms, self.cols, &r)))
            }
            Measure::Complementarity => lcp_unit(b),
        }
    }

    /// The natural and the scaled residual, or twice the only one.
    fn measured(&self, measure: Measure, x: &[f32], b: &[f64]) -> [Measured; 2] {
        let wide: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
        let magnitudes =
            reference::add(&exact::magnitudes(&self.terms, self.rows, &wide), &reference::abs(b));
        let k = double_float(&self.terms, self.rows);
        let flushed = self.flushed(x, b);
        let largest = magnitudes.iter().copied().fold(0.0, worst);
        let lost = self.below(&self.terms, self.rows, &wide, norm(b));
        // A projected b is rounded to 32 bits, and so is a projected iterate.
        let projected = if self.null_space { 8.0 * U } else { 0.0 };
        match measure {
            Measure::Residual | Measure::Own | Measure::Nothing => {
                let b = if measure == Measure::Own { b.to_vec() } else { self.consistent(b) };
                let size = norm(&exact::values(&exact::residual(&self.terms, x, &b)));
                let slack = (k + projected) * norm(&magnitudes) + flushed;
                let below = norm(&lost);
                let of = || Measured { size, slack, largest, below };
                [of(), of()]
            }
            Measure::Normal => {
                let r = exact::residual(&self.terms, x, b);
                let size = norm(&exact::values(&exact::transposed(&self.terms, self.cols, &r)));
                let flipped = exact::flipped(&self.terms);
                let rounded: Vec<f64> = exact::values(&r)
                    .iter()
                    .zip(&magnitudes)
                    .map(|(r, m)| 2.0 * U * r.abs() + (k + projected) * m + flushed)
                    .collect();
                let kt = double_float(&flipped, self.cols);
                let slack = norm(&exact::magnitudes(&flipped, self.cols, &rounded))
                    + kt * norm(&exact::magnitudes(&flipped, self.cols, &exact::values(&r)));
                let unit = norm(b) * reference::max_abs(&self.terms.iter().map(|t| t.2).collect::<Vec<_>>());
                let own = self.below(&flipped, self.cols, &exact::values(&r), unit);
                // What a device takes for zero of the coefficients is gone from products with r, too; and what residuals are
                // relative to is told as the least that it may be, with the smallest normal number for each of these.
                let [gone, smallest] = self.gone(&flipped);
                let through = |terms: &[Term], v: &[f64]| norm(&exact::magnitudes(terms, self.cols, v));
                let slack = slack + through(&gone, &exact::values(&r));
                let of_unit = kt * through(&flipped, b) + through(&smallest, b);
                let share = match self.unit(measure, b) {
                    0.0 => 0.0,
                    unit => of_unit / unit,
                };
                let below = through(&flipped, &lost) + 2.0 * norm(&own) + share * size;
                let of = || Measured { size, slack, largest, below };
                [of(), of()]
            }
            Measure::Complementarity => {
                let minus: Vec<Term> = self.terms.iter().map(|&(i, j, v)| (i, j, -v)).collect();
                let w = exact::values(&exact::residual(&minus, x, b));
                let slack = k * largest + flushed + self.low_parts_lost(&wide);
                let of = |x: &[f64]| {
                    let size = reference::max_abs(&reference::min2(x, &w));
                    Measured { size, slack, largest, below: reference::max_abs(&lost) }
                };
                [of(&wide), of(&reference::mul(&self.diagonal(), &wide))]
            }
        }
    }

    pub fn judge(&self, measure: Measure, outcome: &Outcome) -> Vec<(Fault, String)> {
        let mut found = Vec::new();
        if let Some(b) = &outcome.b
            && !b.iter().zip(&self.held).all(|(now, then)| f64::from(*now) == *then)
        {
            found.push((Fault::Changed, String::new()));
        }
        // A fixed run has no iterate to go back to, and says so.
        let told = measure == Measure::Nothing && outcome.reason == Ok(Some(StopReason::Breakdown));
        let lost = outcome.x.iter().enumerate().find(|(_, v)| !v.is_finite());
        if let Some((i, v)) = lost.filter(|_| !told) {
            found.push((Fault::NotFinite, format!("{}: x[{i}] = {v}", said(outcome))));
            return found;
        }
        found.extend(self.accused(outcome));
        if measure == Measure::Nothing {
            return found;
        }
        let lcp = measure == Measure::Complementarity;
        if let Some((i, v)) = outcome.x.iter().enumerate().find(|(_, v)| lcp && **v < 0.0)
            && outcome.reason.is_ok()
        {
            found.push((Fault::Negative, format!("x[{i}] = {v:e}")));
        }
        let now = self.measured(measure, &outcome.x, &self.held);
        let unit = self.unit(measure, &self.held);
        let size = worst(now[0].size, now[1].size);
        if let Ok(Some(StopReason::Converged | StopReason::Uncertified)) = outcome.reason {
            found.extend(self.verdict(measure, outcome, &now, unit));
        }
        // b = 0 is measured in units of 1.
        let one = if unit == 0.0 { 1.0 } else { unit };
        for (reported, now) in outcome.reported.iter().zip(&now) {
            found.extend(self.reported(outcome, *reported, now, one));
        }
        if let Some(reported) = outcome.own {
            let [own, _] = self.measured(Measure::Own, &outcome.x, &self.held);
            let unit = self.unit(Measure::Own, &self.held);
            found.extend(self.reported(outcome, reported, &own, if unit == 0.0 { 1.0 } else { unit }));
        }
        // What is negative in a start of a complementarity problem is cut off.
        let cut: Vec<f32> = self.x0.iter().map(|v| if lcp { v.max(0.0) } else { *v }).collect();
        let before = self.measured(measure, &cut, &self.held);
        let start = worst(before[0].size, before[1].size);
        let slack = now[0].slack + before[0].slack + NORMS * start;
        let untouched = outcome.x == self.x0;
        let solved = measure == Measure::Normal && self.is_consistent(outcome);
        let no_worse = size <= start + slack;
        if !no_worse && !untouched && !solved {
            let fault = if outcome.reason.is_ok() { Fault::Worse } else { Fault::ErrorWorse };
            found.push((fault, format!("{}: {:e} after {:e}", said(outcome), size / one, start / one)));
        }
        found
    }

    /// Whether a residual is told as it is.
    fn reported(
        &self,
        outcome: &Outcome,
        reported: f64,
        now: &Measured,
        one: f64,
    ) -> Option<(Fault, String)> {
        let size = now.size / one;
        let flushed = self.flushed(&outcome.x, &self.held) / one;
        let slack = NORMS * size + now.slack / one + flushed;
        // What meets a bound is told with the bound on its error, which is some times as large as errors are.
        // The scales in which a dense form multiplies are not known here: what it counts for what falls below the range
        // may be more than `below`, and misleads nobody while it is small beside what was asked for.
        let above = NORMS * size + 64.0 * now.slack / one + now.below / one + flushed + 0.1 * self.bound;
        // Where products or the quotient leave the range of floats, so may the report.
        let lost = !reported.is_finite() && (size > 1e30 || now.largest > f64::from(f32::MAX));
        let near = size - reported <= slack && reported - size <= above;
        let wrong = || format!("{}: {reported:e} reported, {size:e} true", said(outcome));
        (!near && !lost).then(|| (Fault::Reported, wrong()))
    }

    fn verdict(
        &self,
        measure: Measure,
        outcome: &Outcome,
        now: &[Measured; 2],
        unit: f64,
    ) -> Option<(Fault, String)> {
        let allowed = self.bound * (1.0 + NORMS);
        // A projected b is rounded to 32 bits.
        let projected = if self.null_space { 4.0 * U * norm(&self.held) } else { 0.0 };
        let size = worst(now[0].size, now[1].size);
        let detail = format!("{}: {:e} true", said(outcome), size / unit);
        let certified = outcome.reason == Ok(Some(StopReason::Converged)) && self.bound < HELD;
        // A projected b is rounded, and what is told of it says nothing of the given one.
        if certified && self.null_space && measure != Measure::Complementarity {
            return Some((Fault::ConvergedRounded, detail));
        }
        if measure == Measure::Normal && self.is_consistent(outcome) {
            return None;
        }
        let most = allowed * unit + projected;
        let met = size <= most;
        if !met {
            return Some((Fault::Converged, detail));
        }
        if measure == Measure::Complementarity || !certified {
            return None;
        }
        let [given, _] = self.measured(measure, &outcome.x, &self.given);
        let unit = self.unit(measure, &self.given);
        let met = given.size <= allowed * unit;
        let rounded = || format!("{}: {:e} of the b given", said(outcome), given.size / unit);
        (!met).then(|| (Fault::ConvergedRounded, rounded()))
    }

    /// Least squares may end by the residual itself.
    fn is_consistent(&self, outcome: &Outcome) -> bool {
        let [own, _] = self.measured(Measure::Own, &outcome.x, &self.held);
        own.size <= self.bound * (1.0 + NORMS) * self.unit(Measure::Own, &self.held)
    }

    pub fn accused(&self, outcome: &Outcome) -> Option<(Fault, String)> {
        if let Some(text) = outcome.breakdown.map(|broken| broken.to_string()) {
            let wrong = self.definite && text.contains("positive definite");
            return wrong.then_some((Fault::Accused, text));
        }
        let error = outcome.reason.as_ref().err()?;
        let text = error.to_string();
        if is_internal(error) {
            return Some((Fault::Internal, text));
        }
        let wrong = match error {
            Error::Matrix { .. } => text.contains("not symmetric") && self.is_symmetric(),
            Error::Inconsistent { .. } => {
                let part = self.mean(&self.held).abs() * (self.held.len() as f64).sqrt();
                part <= 0.5 * self.bound * norm(&self.held)
            }
            _ => false,
        };
        wrong.then_some((Fault::Accused, text))
    }
}

/// The verdict in words.
pub fn said(outcome: &Outcome) -> String {
    match &outcome.reason {
        Ok(Some(reason)) => reason.to_string(),
        Ok(None) => "ran".into(),
        Err(error) => format!("error {}", table::name(error)),
    }
}
