//! A solver of a few numbers: the true residual of its iterate, how far what is measured is from it, what a run makes of both.
//! It carries out a judge's orders and checks each of them.

use super::super::rounding::counted;
use super::super::terms::Verdict;
use super::super::{
    After, Event, Judge, LEAST_BOUND, LEAST_BOUND_OF_PAIRS, Measured, Order, Policy, Ran, Run, Sweeps, Terms,
    Traits,
};
use super::tape::Tape;
use crate::ops::Accuracy;
use crate::solve::drive::report::{Breakdown, StopReason};
use crate::solve::drive::state::Flag;

/// An iterate: its true residuals, what is measured of them, and how far from the truth that may be.
#[derive(Clone, Copy, Debug)]
struct Iterate {
    own: Seen,
    other: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    truth: f64,
    measured: f64,
    rounding: f64,
}

/// What the theory of a method says of its flags.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Theory {
    Plain,
    Shadows,
    Cycles,
    Halts,
}

/// What an iterate was taken for when it was judged.
#[derive(Clone, Copy, Debug)]
struct Judged {
    own: f64,
    /// The same without rounding.
    bare: f64,
    /// By its rounding nobody can tell whether it meets the bound.
    hidden: bool,
}

pub struct Model<'b> {
    tape: Tape<'b>,
    pub terms: Terms,
    theory: Theory,
    accuracy: Accuracy,
    /// Runs come no further down than this.
    floor: f64,
    /// The relative residual 1, which is that of zero.
    unit: f64,
    x: Iterate,
    begin: Iterate,
    copy: Option<Iterate>,
    /// The iterate that was measured last, as it counts; of all the least so far, and the start as it was measured.
    judged: Option<Judged>,
    best: Option<f64>,
    /// The residual of the iterate as it is has been measured.
    measured: bool,
    /// Iterations of all runs and at the begin of the last one, runs in a row without any, orders since the last one.
    iterations: usize,
    begun: usize,
    idle: usize,
    orders: usize,
    zeroed: bool,
    widened: Option<usize>,
    /// The last run from the iterate that has not been replaced since.
    ran: Option<(Run, Ran)>,
    /// The copy has become the iterate, to be returned.
    ending: bool,
    /// What was found by components.
    components: Option<hidden::Found>,
    /// What was ordered and found, for a history that is to be read.
    pub log: Option<Vec<String>>,
    pub trace: Vec<Order>,
}

/// Ends the model with a sentence that says what is wrong.
macro_rules! require {
    ($holds:expr, $($what:tt)*) => {{
        // Of a NaN nothing holds.
        let holds: bool = $holds;
        if !holds {
            return Err(format!($($what)*));
        }
    }};
}

mod hidden;

const BREAKDOWN: Breakdown =
    Breakdown { iteration: 0, quantity: "p.Ap", value: -1.0, expected: "more than 0" };

impl<'b> Model<'b> {
    /// From choices; all residuals and bounds times this power of two.
    pub fn new(mut tape: Tape<'b>, unit: f64) -> Self {
        let pairs = tape.pick([false, true]);
        let least = if pairs { LEAST_BOUND_OF_PAIRS } else { LEAST_BOUND };
        let bound = unit
            * tape.pick([1e-5, 1e-2, LEAST_BOUND, 0.99 * LEAST_BOUND, 1e-10, LEAST_BOUND_OF_PAIRS, 1e-16]);
        let is_sweeps = tape.pick([false, false, true]);
        let policy = match is_sweeps {
            false => Policy::Recurrence(Traits {
                direct: tape.pick([false, true]),
                dear: tape.pick([false, true]),
                growth: tape.pick([f64::INFINITY, 1e4]),
                spell: tape.pick([None, Some(1), Some(5), Some(100)]),
                widens: pairs && tape.pick([false, true]),
                wide: false,
                unknowns: tape.pick([4, 1000]),
            }),
            true => Policy::Sweeps(Sweeps {
                pairs,
                at_once: if pairs { 0.1 } else { tape.pick([1e-15, 0.0]) },
                forgives: tape.pick([false, true]),
            }),
        };
        let start = bound * tape.pick([1e5, 1.5, 0.8, 1e3, 1e9, 1e17, 0.0, f64::INFINITY, f64::NAN]);
        let theory = tape.pick([Theory::Plain, Theory::Shadows, Theory::Cycles, Theory::Halts]);
        let terms = Terms {
            bound,
            least: unit * least,
            max_iters: tape.pick([1000, 5, 0, 1, 12]),
            from_zero: tape.pick([true, false]),
            restarts: tape.pick([true, false]),
            far: tape.pick([f64::MAX, unit * 1e6]),
            zero_solves: false,
            reports_rounding: tape.pick([true, false]),
            components: tape.pick([Some(unit * 1e-6), None]),
            policy,
        };
        let zero_solves = !terms.from_zero && tape.pick([false, false, false, true]);
        let nothing = Seen { truth: 0.0, measured: 0.0, rounding: 0.0 };
        let nowhere = Iterate { own: nothing, other: None };
        let mut model = Model {
            theory,
            accuracy: tape.pick([Accuracy::DoubleFloat, Accuracy::DoubleFloat, Accuracy::Single]),
            floor: bound * tape.pick([0.0, 0.0, 0.7, 1.1, 8.0, 1e4]),
            unit,
            x: nowhere,
            begin: nowhere,
            copy: None,
            judged: None,
            best: None,
            measured: false,
            iterations: 0,
            begun: 0,
            idle: 0,
            orders: 0,
            zeroed: terms.from_zero,
            widened: None,
            ran: None,
            ending: false,
            components: None,
            log: None,
            trace: Vec::new(),
            terms: Terms { zero_solves, ..terms },
            tape,
        };
        model.x = model.iterate(start);
        model
    }

    /// An iterate with this true residual.
    fn iterate(&mut self, truth: f64) -> Iterate {
        let own = self.seen(truth);
        let two = !matches!(self.terms.policy, Policy::Sweeps(_)) && self.theory == Theory::Plain;
        let other = match two && self.tape.pick([false, false, true]) {
            true => {
                let truth = self.terms.bound * self.tape.pick([100.0, 0.7, 1.2]);
                Some(self.seen(truth))
            }
            false => None,
        };
        Iterate { own, other }
    }

    fn seen(&mut self, truth: f64) -> Seen {
        let share = [1e-4, 0.0, 1e-25, 0.3, 0.5, 0.51, 1.5, 1e3, f64::INFINITY, f64::NAN];
        let rounding = self.terms.bound * self.tape.pick(share);
        let error = self.tape.pick([0.0, 1.0, -1.0, 0.5]);
        let measured = match rounding.is_finite() {
            true => (truth + 0.999 * error * rounding).max(0.0),
            // Anything.
            false => truth * (1.0 - 0.9 * error),
        };
        // The larger of a number and NaN is the number.
        Seen { truth, measured: if truth.is_nan() { truth } else { measured }, rounding }
    }

    /// Carries out a judge's orders to the end.
    pub fn history(&mut self, mut judge: Judge) -> Result<(), String> {
        let mut event = Event::Done;
        loop {
            let order = judge.next(event);
            if let Some(log) = &mut self.log {
                log.push(format!("{event:?}\n    -> {order:?}"));
            }
            self.trace.push(order);
            self.orders += 1;
            require!(self.orders <= 12, "12 orders without a run");
            event = match order {
                Order::End(verdict) => return self.end(&verdict),
                Order::Recompute => self.recompute(),
                Order::Certify => self.certify()?,
                Order::CertifyOther => self.certify_other()?,
                Order::Components(most) => self.by_components(most)?,
                Order::Run(run) => self.run(run)?,
                order => self.change(order)?,
            };
        }
    }

    fn recompute(&mut self) -> Event {
        let Iterate { own, other } = self.x;
        if !self.ending {
            self.measured = true;
            self.judged = Some(Judged { own: own.measured, bare: own.measured, hidden: false });
        }
        // What is returned was measured before; operators of users may do as they please.
        let lost = self.ending && self.tape.pick([false, false, false, true]);
        let own = if lost { f64::NAN } else { own.measured };
        Event::Residual(Measured { own, other: other.map(|other| other.measured), accuracy: self.accuracy })
    }

    fn certify(&mut self) -> Result<Event, String> {
        let Seen { measured, rounding, .. } = self.x.own;
        require!(self.accuracy == Accuracy::DoubleFloat, "certified what was computed in 32 bits");
        require!(measured.is_finite(), "certified what is not finite");
        if let Some(judged) = &mut self.judged
            && judged.own == measured
            && !self.ending
        {
            judged.own += counted(rounding, self.terms.bound);
            judged.hidden = !(judged.own <= self.terms.bound || rounding <= 0.5 * self.terms.bound);
        }
        Ok(Event::Rounding(rounding))
    }

    /// The iterate has been judged: what it is taken for stands.
    fn settle(&mut self) {
        if let Some(judged) = self.judged
            && judged.own.is_finite()
            && self.best.is_none_or(|best| judged.own < best)
        {
            self.best = Some(judged.own);
        }
    }

    /// Another iterate in place of this one, or none: it is to be measured before the next run.
    fn change(&mut self, order: Order) -> Result<Event, String> {
        require!(self.measured || order == Order::Back, "{order:?} before a residual is known");
        match order {
            Order::Keep => {
                require!(self.x.own.measured.is_finite(), "kept what is not finite");
                self.settle();
                self.copy = Some(self.x);
                self.ending = false;
            }
            Order::TakeBack => {
                self.settle();
                let Some(copy) = self.copy.take() else {
                    return Err("took back what is not kept".to_owned());
                };
                self.x = copy;
                self.ending = true;
            }
            Order::Back => {
                require!(self.ran.is_some() && !self.measured, "went back without a run");
                self.x = self.begin;
            }
            Order::FromZero => {
                require!(!self.zeroed, "went to zero twice");
                require!(self.terms.restarts || self.ran.is_none(), "went to zero late");
                self.settle();
                self.zeroed = true;
                // Whose residual is exact.
                let residual = if self.terms.zero_solves { 0.0 } else { self.unit };
                let own = Seen { truth: residual, measured: residual, rounding: 0.0 };
                self.x = Iterate { own, ..self.iterate(residual) };
                (self.measured, self.ran) = (false, None);
            }
            Order::Widen => {
                let widens = matches!(self.terms.policy, Policy::Recurrence(Traits { widens: true, .. }));
                require!(widens && self.widened.is_none(), "widened what cannot be");
                self.settle();
                self.widened = Some(self.iterations);
                self.floor *= 1e-6;
                (self.measured, self.ran, self.ending) = (false, None, false);
            }
            _ => return Err(format!("no change: {order:?}")),
        }
        Ok(Event::Done)
    }

    fn run(&mut self, run: Run) -> Result<Event, String> {
        self.settle();
        self.check(run)?;
        self.begin = self.x;
        let ran = self.ended(run);
        self.iterations = ran.iterations;
        (self.measured, self.orders) = (false, 0);
        self.ran = Some((run, ran));
        Ok(Event::Ended(ran))
    }

    /// Whether a run may be ordered from the iterate as it is.
    fn check(&mut self, run: Run) -> Result<(), String> {
        let Run { aim, ceiling, limit, keep_direction, attempt } = run;
        let Terms { bound, max_iters, policy, .. } = self.terms;
        let Seen { measured, .. } = self.x.own;
        require!(self.measured && !self.ending, "a run from an iterate whose residual is not known");
        require!(measured.is_finite(), "a run from a lost iterate");
        let hidden = self.judged.is_some_and(|judged| judged.hidden);
        let starts = self.ran.is_none() && self.iterations == 0;
        let may_return = !self.zeroed && (self.terms.restarts || starts);
        require!(!hidden || !may_return, "a run from an iterate that rounding hides");
        require!(!starts || self.zeroed || measured <= self.terms.far, "a run from a start that is far");
        require!(self.iterations < limit && limit <= max_iters, "a run up to {limit}");
        require!(attempt <= 3, "attempt {attempt}");
        require!(aim > 0.0 && aim.is_finite(), "an aim of {aim:e}");
        require!(ceiling >= measured, "a ceiling of {ceiling:e}");
        match policy {
            Policy::Recurrence(traits) => {
                let wide = self.widened.is_some();
                let spell = traits.spell.filter(|_| !wide).unwrap_or(max_iters);
                require!(limit <= self.iterations + spell, "a run past its spell");
                require!(aim >= 0.5 * bound, "an aim of {aim:e}");
            }
            Policy::Sweeps(_) => require!(!keep_direction, "sweeps have no direction"),
        }
        if keep_direction {
            let Some((_, ran)) = self.ran else { return Err("kept a direction that is none".to_owned()) };
            require!(
                matches!(ran.flag, Flag::Met | Flag::Exhausted | Flag::Stalled),
                "kept after {:?}",
                ran.flag
            );
            require!(measured <= 2.0 * ran.recurrence, "kept a direction of another residual");
        }
        self.idle = match self.ran {
            Some((_, ran)) if ran.iterations == self.begun => self.idle + 1,
            _ => 0,
        };
        require!(self.idle <= 8, "8 runs without an iteration");
        self.begun = self.iterations;
        Ok(())
    }

    /// How a run ends, and with which iterate.
    fn ended(&mut self, Run { aim, limit, .. }: Run) -> Ran {
        let left = limit - self.iterations;
        let mut count = match self.tape.pick([0, 1, 2, 3, 4]) {
            0 => left.min(2),
            1 => 0,
            2 => left,
            3 => left.min(7),
            _ => left / 2,
        };
        let sweeping = [Flag::Met, Flag::Stalled, Flag::Exhausted, Flag::OutOfRange, Flag::OutOfTime];
        let flag = match self.terms.policy {
            Policy::Recurrence(_) => self.tape.pick([
                Flag::Met,
                Flag::Exhausted,
                Flag::Met,
                Flag::OutOfRange,
                Flag::Shadow,
                Flag::Curvature,
                Flag::Stalled,
                Flag::Indefinite,
                Flag::ShadowDirection,
                Flag::OutOfTime,
            ]),
            Policy::Sweeps(_) => self.tape.pick(sweeping),
        };
        if flag == Flag::Exhausted {
            count = left;
        }
        let begin = self.x.own.measured;
        let recurrence = match flag {
            Flag::Met => aim * self.tape.pick([1.0, 0.5, 1e-3, 1e3]),
            _ if count == 0 => begin,
            _ => {
                begin
                    * self.tape.pick([0.5, 1e-3, 0.97, 0.99, 1.0, 50.0, 200.0, 1e6, f64::INFINITY, f64::NAN])
            }
        };
        if count > 0 {
            let truth = self.x.own.truth;
            let truth = match self.tape.pick([0, 1, 2, 3, 4, 5, 6, 7]) {
                0 => recurrence,
                1 => 3.0 * recurrence,
                2 => 0.4 * truth,
                3 => 0.6 * truth,
                4 => truth,
                5 => 1e3 * truth,
                6 => f64::INFINITY,
                _ => f64::NAN,
            };
            // Beyond the range of floats there is infinity; of a floor and NaN the larger is the floor.
            let truth = if truth > 1e38 * self.unit { f64::INFINITY } else { truth };
            let truth = if truth.is_nan() { truth } else { truth.max(self.floor) };
            self.x = self.iterate(truth);
        }
        let iterations = self.iterations + count;
        Ran { flag, iterations, recurrence, after: self.after(flag) }
    }

    fn after(&mut self, flag: Flag) -> After {
        if matches!(self.terms.policy, Policy::Sweeps(_)) {
            return After::Judge;
        }
        match (flag, self.theory) {
            (Flag::OutOfRange, Theory::Shadows) => After::Retry(BREAKDOWN),
            (Flag::Shadow | Flag::ShadowDirection, _) => After::Retry(BREAKDOWN),
            (Flag::Exhausted, Theory::Halts) => After::Unless(0.9, BREAKDOWN),
            (Flag::Curvature, Theory::Cycles | Theory::Halts) => After::UnlessProgress(BREAKDOWN),
            (Flag::Stalled, Theory::Cycles | Theory::Halts) => After::UnlessProgress(BREAKDOWN),
            (Flag::Curvature | Flag::Indefinite, _) => After::End(BREAKDOWN),
            _ => After::Judge,
        }
    }

    /// Whether a verdict is true.
    fn end(&mut self, verdict: &Verdict) -> Result<(), String> {
        let Terms { bound, least, max_iters, .. } = self.terms;
        let Verdict { reason, residuals, breakdown, iterations, double_iterations, .. } = *verdict;
        let Iterate { own, other } = self.x;
        require!(self.measured, "a verdict on what was not measured");
        require!(iterations == self.iterations, "a verdict after {iterations} iterations");
        let wide = self.widened.map_or(0, |from| self.iterations - from);
        require!(double_iterations == wide, "{double_iterations} iterations in pairs");
        require!(breakdown.is_some() == (reason == StopReason::Breakdown), "{reason:?} with {breakdown:?}");
        // What nobody adds to a residual is 2^-60 of the bound.
        let slack = 1.0 + 1e-15;
        let meets = |seen: Seen, said: f64| said <= bound && seen.truth <= slack * bound;
        self.hides_nothing(reason)?;
        match reason {
            StopReason::Converged | StopReason::NormOnly => {
                let exact = self.accuracy == Accuracy::DoubleFloat && bound >= least;
                require!(exact, "converged by what cannot certify");
                let met = meets(own, residuals.own)
                    || other.zip(residuals.other).is_some_and(|(seen, said)| meets(seen, said));
                require!(met, "converged above the bound");
            }
            StopReason::Uncertified => {
                let exact = self.accuracy == Accuracy::DoubleFloat && bound >= least;
                require!(!exact, "uncertified what was certified");
                let met = residuals.own <= bound || residuals.other.is_some_and(|said| said <= bound);
                require!(met, "met above the bound");
            }
            _ => {
                require!(residuals.own > bound || residuals.own.is_nan(), "{reason:?} below the bound");
                let best = self.could_be_best(residuals.own);
                require!(best, "not the best, which is of {:?} and {:?}", self.best, self.judged);
                require!(own.measured <= residuals.own || !residuals.own.is_finite(), "of another iterate");
            }
        }
        let flag = self.ran.map(|(_, ran)| ran.flag);
        match reason {
            StopReason::MaxIterations => {
                require!(iterations >= max_iters, "{iterations} iterations are not all")
            }
            StopReason::OutOfTime => {
                require!(flag == Some(Flag::OutOfTime), "out of time at {flag:?}");
            }
            StopReason::Stagnated => {
                let unbounded = self.judged.is_some_and(|judged| !judged.own.is_finite());
                require!(unbounded || flag.is_some(), "stagnated without a run");
                require!(iterations < max_iters, "stagnated after all iterations");
            }
            StopReason::Diverged => {
                let lost = self.judged.is_some_and(|judged| !judged.bare.is_finite());
                require!(lost || flag == Some(Flag::OutOfRange), "diverged at {flag:?}");
            }
            StopReason::Breakdown => require!(flag != Some(Flag::Met), "broke down at {flag:?}"),
            _ => {}
        }
        if let Some(rounding) = residuals.rounding {
            let sound = own.truth <= slack * residuals.own + rounding || rounding.is_nan();
            require!(sound, "the true residual is more than is reported with its rounding");
        }
        Ok(())
    }

    /// Whether that is the least residual. The last one may have been certified to judge it, or for the report alone.
    fn could_be_best(&self, said: f64) -> bool {
        let Some(Judged { own, bare, .. }) = self.judged else { return false };
        [own, bare].iter().any(|last| {
            let beaten = self.best.is_none_or(|best| *last < best);
            let least = self.best.filter(|_| !beaten).unwrap_or(*last);
            said == least || !least.is_finite() && !said.is_finite()
        })
    }
}
