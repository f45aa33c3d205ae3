//! Every decision of a solve, made from numbers alone: no GL, nothing that waits, no vector.
//!
//! An executor (the Krylov methods in [`drive`](super::drive), sweeps in [`stationary`](super::stationary), complementarity
//! problems in [`lcp`](super::lcp)) carries out one [`Order`] after another and tells the [`Judge`] what it found, until that
//! orders the end. The judge alone compares residuals with bounds; it knows iterates by what was measured of them, and the best
//! one as "the copy", which the executor keeps.

mod aims;
mod rounding;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

pub(in crate::solve) use aims::{AT_ONCE_OF_PAIRS, SPELL};
pub(in crate::solve) use terms::{
    After, Event, LEAST_BOUND, LEAST_BOUND_OF_PAIRS, Measured, Order, Policy, Ran, Residuals, Run, Sweeps,
    Terms, Traits, Verdict,
};

use crate::ops::Accuracy;
use crate::solve::drive::report::{Breakdown, Components, StopReason};
use crate::solve::drive::state::Flag;
use aims::{Gains, KEPT_GROWTH, Pace, Reached, WORTH_ANOTHER};
use rounding::{counted, hides};

/// A run that has reduced the recurrence's residual to this share has made progress.
const PROGRESS: f64 = 0.98;

/// Starts that a method may try in a row.
const MOST_ATTEMPTS: usize = 3;

/// Runs in a row that end by a breakdown before the certified residual has fallen by [`PROGRESS`].
const MOST_FRUITLESS: usize = 64;

/// The residual whose rounding was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    Own,
    Other,
    /// That of the iterate that is returned, for the report alone.
    Returned,
}

/// Decides what a solve does next, from what was seen. See the [module](self).
#[derive(Clone, Debug)]
pub(in crate::solve) struct Judge {
    terms: Terms,
    pace: Pace,
    gains: Option<Gains>,
    /// What was decided and not yet ordered.
    orders: VecDeque<Order>,
    asked: Asked,
    /// No residual has been seen.
    begins: bool,
    /// Zero is no better start: the iterate has begun there, or has gone back to it.
    from_zero: bool,

    /// The last recomputed residual as it was measured, how exactly, and as it counts.
    measured: f64,
    accuracy: Accuracy,
    seen: Residuals,
    /// Nobody can tell how good the iterate is.
    lost: bool,
    /// The residuals of the copy.
    best: Option<Residuals>,
    /// The least residual that was measured.
    least: f64,

    /// The last run went on along a direction of before; iterations of all runs, and how the last one ended.
    kept_direction: bool,
    iterations: usize,
    flag: Flag,
    /// The residual by its recurrence, where the direction may be kept.
    recurrence: Option<f64>,
    /// It has met its aim, or stalled, without an iteration: where squares vanish, any aim is met by doing nothing.
    idle: bool,
    /// What ends the solve unless the bound is met, and what does unless the residual has fallen to a share.
    breakdown: Option<Breakdown>,
    unless: Option<(f64, Breakdown)>,
    /// Starts that have failed, breakdowns in a row, and the least residual at the last one.
    attempt: usize,
    fruitless: usize,
    before: f64,

    /// Iterations done when the recurrence became one of pairs.
    widened: Option<usize>,
    replacements: usize,
    /// The solve ends for this reason, as soon as what is returned is measured.
    ending: Option<Verdict>,
}

/// False for NaN.
fn within(share: f64, most: f64) -> bool {
    share <= most
}

impl Judge {
    pub fn new(terms: Terms) -> Self {
        let (wide, gains) = match &terms.policy {
            Policy::Recurrence(traits) => (traits.wide, Some(Gains::new(traits.unknowns))),
            Policy::Sweeps(_) => (false, None),
        };
        let nothing = Residuals { own: f64::INFINITY, rounding: None, other: None };
        Judge {
            pace: Pace::new(&terms.policy, wide),
            gains,
            orders: VecDeque::new(),
            asked: Asked::Own,
            begins: true,
            from_zero: terms.from_zero,
            measured: f64::INFINITY,
            accuracy: Accuracy::Single,
            seen: nothing,
            lost: false,
            best: None,
            least: f64::MAX,
            kept_direction: false,
            iterations: 0,
            flag: Flag::Running,
            recurrence: None,
            idle: false,
            breakdown: None,
            unless: None,
            attempt: 0,
            fruitless: 0,
            before: f64::MAX,
            widened: wide.then_some(0),
            replacements: 0,
            ending: None,
            terms,
        }
    }

    /// What to do next, after this. A solve begins with [`Event::Done`].
    pub fn next(&mut self, event: Event) -> Order {
        match event {
            Event::Done => {}
            Event::Residual(seen) => self.recomputed(seen),
            Event::Rounding(bound) => self.rounded(bound),
            Event::Components(found) => self.by_components(found),
            Event::Ended(ran) => self.ended(ran),
        }
        // What changes an iterate is followed by a look at what it has become.
        self.orders.pop_front().unwrap_or(Order::Recompute)
    }

    fn recomputed(&mut self, Measured { own, other, accuracy }: Measured) {
        if let Some(verdict) = self.ending {
            // The copy is the iterate again: its residual is known.
            return self.report_rounding(verdict, own.is_finite());
        }
        let start = std::mem::take(&mut self.begins);
        self.from_zero |= !start && !self.terms.restarts;
        (self.measured, self.accuracy) = (own, accuracy);
        self.least = self.least.min(own);
        self.seen = Residuals { own, rounding: None, other };
        let may_be_far = start && !self.from_zero;
        let near = own <= if may_be_far { self.terms.far } else { f64::MAX };
        self.lost = !near || may_be_far && self.terms.zero_solves;
        if self.lost {
            self.flag = Flag::OutOfRange;
        } else if self.accuracy == Accuracy::DoubleFloat
            && (own <= self.terms.bound || self.terms.reports_rounding && self.is_stuck())
        {
            self.asked = Asked::Own;
            return self.orders.push_back(Order::Certify);
        }
        self.weigh();
    }

    fn rounded(&mut self, rounding: f64) {
        let bound = self.terms.bound;
        match self.asked {
            Asked::Own => {
                self.seen.rounding = Some(rounding);
                self.seen.own += counted(rounding, bound);
                self.lost = hides(rounding, bound) && !self.is_within(self.seen.own);
                self.weigh();
            }
            Asked::Other => {
                self.seen.other = self.seen.other.map(|other| other + counted(rounding, bound));
                self.conclude();
            }
            Asked::Returned => {
                if let Some(mut verdict) = self.ending {
                    verdict.residuals.rounding = Some(rounding);
                    self.orders.push_back(Order::End(verdict));
                }
            }
        }
    }

    /// What the residual means, with the rounding where that counts.
    fn weigh(&mut self) {
        if self.lost && !self.from_zero {
            // So large that nobody can tell how good it is: zero is the better start.
            self.keep_if_best();
            self.from_zero = true;
            self.start_over();
            return self.orders.push_back(Order::FromZero);
        }
        if self.accuracy == Accuracy::DoubleFloat && self.seen.other.is_some_and(|r| self.is_within(r)) {
            self.asked = Asked::Other;
            return self.orders.push_back(Order::CertifyOther);
        }
        self.conclude();
    }

    /// The iterate is another one: nothing of the runs before says anything of it.
    fn start_over(&mut self) {
        self.pace = Pace::new(&self.terms.policy, self.widened.is_some());
        (self.flag, self.recurrence, self.idle) = (Flag::Running, None, false);
        (self.breakdown, self.unless, self.attempt) = (None, None, 0);
    }

    /// All is known of the iterate: the end, pairs of floats, or another run.
    fn conclude(&mut self) {
        let met = self.is_within(self.seen.own) || self.seen.other.is_some_and(|r| self.is_within(r));
        let late = self.flag == Flag::OutOfTime;
        let exhausted = late || self.iterations >= self.terms.max_iters;
        if !met && !exhausted && self.widens() && self.gains_nothing() {
            return self.widen();
        }
        self.compare_with_best();
        let reason = match self.flag {
            _ if met => Some(self.meaning_of_met()),
            _ if self.breakdown.is_some() => Some(StopReason::Breakdown),
            Flag::OutOfRange => Some(StopReason::Diverged),
            _ if late => Some(StopReason::OutOfTime),
            _ if exhausted => Some(StopReason::MaxIterations),
            _ if self.is_stuck() => Some(StopReason::Stagnated),
            _ => None,
        };
        match reason {
            Some(reason) => self.end(reason, met),
            None => self.go_on(),
        }
    }

    fn is_within(&self, residual: f64) -> bool {
        residual <= self.terms.bound
    }

    /// Whether the residual is so little below the best one that the run was not worthwhile.
    fn hardly(&self) -> bool {
        let residual = self.seen.own;
        self.best.is_some_and(|best| residual.is_nan() || residual > WORTH_ANOTHER * best.own)
    }

    fn is_stuck(&self) -> bool {
        // The bound is met, but for a rounding that nothing bounds: no run makes that smaller.
        let unbounded = self.measured.is_finite() && !self.seen.own.is_finite();
        unbounded || self.pace.is_stuck(self.flag, self.idle, self.hardly())
    }

    fn meaning_of_met(&self) -> StopReason {
        match self.accuracy {
            Accuracy::DoubleFloat if self.terms.bound >= self.terms.least => StopReason::Converged,
            _ => StopReason::Uncertified,
        }
    }

    fn traits(&self) -> Option<&Traits> {
        match &self.terms.policy {
            Policy::Recurrence(traits) => Some(traits),
            Policy::Sweeps(_) => None,
        }
    }

    fn widens(&self) -> bool {
        self.widened.is_none() && self.traits().is_some_and(|traits| traits.widens)
    }

    /// Whether the recurrence in 32 bits can gain nothing more.
    fn gains_nothing(&mut self) -> bool {
        let (iterations, residual) = (self.iterations, self.seen.own);
        self.is_stuck()
            || self.pace.gains_little(self.flag, residual)
            || self.flag == Flag::OutOfRange
            || self.breakdown.is_some()
            || self.gains.as_mut().is_some_and(|gains| gains.none(iterations, residual))
    }

    /// What ends a recurrence in 32 bits is no end where it can go on in pairs.
    fn widen(&mut self) {
        self.keep_if_best();
        if self.flag == Flag::OutOfRange && self.best.is_some_and(|best| best != self.seen) {
            self.orders.extend([Order::TakeBack, Order::Keep]);
        }
        self.orders.push_back(Order::Widen);
        self.widened = Some(self.iterations);
        self.start_over();
    }

    fn compare_with_best(&mut self) {
        if let Some((most, of)) = self.unless.take()
            && let Some(best) = self.best
        {
            let share = self.seen.own / best.own;
            self.breakdown = (share > most).then_some(Breakdown { value: share, ..of });
        }
    }

    /// Keeps a copy of an iterate that is better than all before.
    fn keep_if_best(&mut self) {
        let residual = self.seen.own;
        if residual.is_finite() && self.best.is_none_or(|best| residual < best.own) {
            self.best = Some(self.seen);
            self.orders.push_back(Order::Keep);
        }
    }

    fn end(&mut self, reason: StopReason, met: bool) {
        let mut verdict = Verdict {
            reason,
            residuals: self.seen,
            components: None,
            breakdown: self.breakdown.filter(|_| reason == StopReason::Breakdown),
            iterations: self.iterations,
            double_iterations: self.widened.map_or(0, |from| self.iterations.saturating_sub(from)),
            replacements: self.replacements,
        };
        if met
            && reason == StopReason::Converged
            && let Some(limit) = self.most_of_a_row()
        {
            self.ending = Some(verdict);
            return self.orders.push_back(Order::Components(limit));
        }
        if met {
            return self.orders.push_back(Order::End(verdict));
        }
        let residual = self.seen.own;
        let back = self.best.filter(|best| residual.is_nan() || best.own <= residual);
        if let Some(best) = back {
            verdict.residuals = best;
            self.orders.push_back(Order::TakeBack);
        }
        let Residuals { own, rounding, .. } = verdict.residuals;
        let known = rounding.is_some() || self.accuracy != Accuracy::DoubleFloat || !own.is_finite();
        if known || !self.terms.reports_rounding {
            return self.orders.push_back(Order::End(verdict));
        }
        self.ending = Some(verdict);
        // What the executor knows is of the last iterate.
        if back.is_some() {
            return self.orders.push_back(Order::Recompute);
        }
        self.report_rounding(verdict, true);
    }

    /// The share that no row may exceed, where shares are known.
    fn most_of_a_row(&self) -> Option<f64> {
        self.terms.components.map(|least| least.max(Components::LIMIT * self.terms.bound))
    }

    /// The norm meets the bound; single equations may be far from it.
    fn by_components(&mut self, found: Option<Components>) {
        let Some(mut verdict) = self.ending else { return };
        verdict.components = found;
        let exceeds = |found: Components| self.most_of_a_row().is_some_and(|most| !within(found.omega, most));
        if found.is_some_and(exceeds) {
            verdict.reason = StopReason::NormOnly;
        }
        self.orders.push_back(Order::End(verdict));
    }

    /// What has not met its bound may be far from its reported residual, too.
    fn report_rounding(&mut self, verdict: Verdict, is_finite: bool) {
        self.asked = Asked::Returned;
        self.orders.push_back(if is_finite { Order::Certify } else { Order::End(verdict) });
    }

    /// Another run, from the iterate as it is.
    fn go_on(&mut self) {
        let residual = self.seen.own;
        let (flag, recurrence, hardly) = (self.flag, self.recurrence, self.hardly());
        self.keep_if_best();
        let aim = self.pace.aim(Reached { flag, recurrence, residual, hardly }, self.terms.bound);
        let (mut limit, mut growth) = (self.terms.max_iters, f64::INFINITY);
        if let Some(traits) = self.traits().copied() {
            self.replacements += usize::from(matches!(flag, Flag::Met | Flag::Exhausted));
            if let Some(spell) = traits.spell.filter(|_| self.widened.is_none()) {
                limit = limit.min(self.iterations.saturating_add(spell));
            }
            growth = if aim.keep_direction { KEPT_GROWTH } else { traits.growth };
        }
        let run = Run {
            aim: aim.residual,
            ceiling: growth * residual,
            limit,
            keep_direction: aim.keep_direction,
            attempt: self.attempt,
        };
        self.kept_direction = run.keep_direction;
        self.orders.push_back(Order::Run(run));
    }

    fn ended(&mut self, Ran { flag, iterations, recurrence, after }: Ran) {
        let idle = iterations <= self.iterations;
        (self.flag, self.iterations) = (flag, iterations);
        (self.recurrence, self.idle) = (Some(recurrence), idle && matches!(flag, Flag::Met | Flag::Stalled));
        if self.traits().is_none() {
            self.replacements += usize::from(flag == Flag::Met);
        }
        let blameless = matches!(
            flag,
            Flag::Met | Flag::Exhausted | Flag::OutOfTime | Flag::Shadow | Flag::ShadowDirection
        );
        if self.kept_direction && !blameless {
            // The direction is to blame, not the matrix: back to where this run began, and afresh from there.
            self.orders.push_back(Order::Back);
            return self.afresh();
        }
        if let After::Retry(of) = after {
            return self.retry(of, idle, recurrence);
        }
        self.attempt = 0;
        match after {
            After::End(of) => self.breakdown = Some(of),
            After::UnlessProgress(_) if !idle && recurrence <= PROGRESS * self.measured => self.afresh(),
            After::UnlessProgress(of) => self.breakdown = Some(of),
            After::Unless(most, of) => self.unless = Some((most, of)),
            After::Judge | After::Retry(_) => {}
        }
    }

    /// The next run starts the recurrence anew.
    fn afresh(&mut self) {
        (self.flag, self.recurrence, self.idle) = (Flag::Running, None, false);
    }

    /// Another run of a method that has several starts, unless none of them makes progress.
    fn retry(&mut self, of: Breakdown, idle: bool, recurrence: f64) {
        let out_of_range = self.flag == Flag::OutOfRange;
        if !out_of_range && !idle && recurrence <= KEPT_GROWTH * self.least {
            // Afresh from what the run has reached. The certified residual says whether runs gain anything: the recurrence of
            // a singular matrix may say that it falls, and fall again.
            let fallen = self.least <= PROGRESS * std::mem::replace(&mut self.before, self.least);
            self.fruitless = if fallen { 0 } else { self.fruitless + 1 };
            if self.fruitless > MOST_FRUITLESS {
                self.breakdown = Some(of);
                return;
            }
            self.attempt = 0;
            return self.afresh();
        }
        // Back to where it began, with another start unless it went on from an old one.
        self.orders.push_back(Order::Back);
        self.attempt += usize::from(!self.kept_direction);
        if self.attempt <= MOST_ATTEMPTS {
            self.afresh();
        } else if !out_of_range {
            self.breakdown = Some(of);
        }
    }
}
