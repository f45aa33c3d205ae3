//! A talk with a judge, event by event, for the tests of its numbers.

use super::super::{
    AT_ONCE_OF_PAIRS, After, Event, Judge, LEAST_BOUND, Measured, Order, Policy, Ran, Run, Sweeps, Terms,
    Traits, Verdict,
};
use crate::ops::Accuracy;
use crate::solve::drive::report::{Breakdown, StopReason};
use crate::solve::drive::state::Flag;

/// A recurrence with stops on the way.
pub const PLAIN: Traits = Traits {
    direct: false,
    dear: false,
    growth: 1e4,
    spell: None,
    widens: false,
    wide: false,
    unknowns: 1000,
};

/// To 1e-5 in 1000 iterations from zero.
pub fn terms(policy: Policy) -> Terms {
    Terms {
        bound: 1e-5,
        least: LEAST_BOUND,
        max_iters: 1000,
        from_zero: true,
        restarts: true,
        far: f64::MAX,
        zero_solves: false,
        reports_rounding: true,
        components: None,
        policy,
    }
}

pub fn recurrence(traits: Traits) -> Terms {
    terms(Policy::Recurrence(traits))
}

pub fn sweeps(pairs: bool, forgives: bool) -> Terms {
    let at_once = if pairs { AT_ONCE_OF_PAIRS } else { 1e-15 };
    terms(Policy::Sweeps(Sweeps { pairs, at_once, forgives }))
}

pub fn broken(value: f64) -> Breakdown {
    Breakdown { iteration: 7, quantity: "q", value, expected: "another one" }
}

/// A talk with a judge, in which what changes iterates is done without a word.
pub struct Talk {
    judge: Judge,
    pub order: Order,
    /// What was done since the last word.
    pub done: Vec<Order>,
    pub accuracy: Accuracy,
}

impl Talk {
    pub fn new(terms: Terms) -> Self {
        let mut judge = Judge::new(terms);
        let order = judge.next(Event::Done);
        assert_eq!(order, Order::Recompute);
        Talk { judge, order, done: Vec::new(), accuracy: Accuracy::DoubleFloat }
    }

    pub fn tell(&mut self, event: Event) -> &mut Self {
        self.done.clear();
        self.order = self.judge.next(event);
        while matches!(
            self.order,
            Order::Keep | Order::TakeBack | Order::Back | Order::FromZero | Order::Widen
        ) {
            self.done.push(self.order);
            self.order = self.judge.next(Event::Done);
        }
        self
    }

    pub fn residuals(&mut self, own: f64, other: Option<f64>) -> &mut Self {
        assert_eq!(self.order, Order::Recompute);
        self.tell(Event::Residual(Measured { own, other, accuracy: self.accuracy }))
    }

    pub fn residual(&mut self, own: f64) -> &mut Self {
        self.residuals(own, None)
    }

    pub fn rounding(&mut self, bound: f64) -> &mut Self {
        assert!(matches!(self.order, Order::Certify | Order::CertifyOther), "{:?}", self.order);
        self.tell(Event::Rounding(bound))
    }

    /// A run has ended after so many iterations of all.
    pub fn ended(&mut self, flag: Flag, iterations: usize, recurrence: f64, after: After) -> &mut Self {
        self.run();
        self.tell(Event::Ended(Ran { flag, iterations, recurrence, after }))
    }

    pub fn met(&mut self, iterations: usize, recurrence: f64) -> &mut Self {
        self.ended(Flag::Met, iterations, recurrence, After::Judge)
    }

    #[track_caller]
    pub fn run(&self) -> Run {
        match self.order {
            Order::Run(run) => run,
            order => panic!("{order:?} in place of a run"),
        }
    }

    #[track_caller]
    pub fn end(&self) -> Verdict {
        match self.order {
            Order::End(verdict) => verdict,
            order => panic!("{order:?} in place of an end"),
        }
    }

    #[track_caller]
    pub fn ends(&mut self, reason: StopReason) -> Verdict {
        for _ in 0..4 {
            match self.order {
                Order::Recompute => self.residual(0.125),
                Order::Certify => self.rounding(0.0),
                _ => self,
            };
        }
        let verdict = self.end();
        assert_eq!(verdict.reason, reason);
        verdict
    }
}

pub fn is_near(found: f64, wanted: f64) -> bool {
    (found - wanted).abs() <= 1e-12 * wanted
}

/// A run has met a shadow.
pub fn shadow(talk: &mut Talk, flag: Flag, iterations: usize, recurrence: f64) -> &mut Talk {
    talk.ended(flag, iterations, recurrence, After::Retry(broken(3.0)))
}
