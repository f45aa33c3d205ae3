//! One run of a schedule: the loop of \[Bajaj04\] Figure 4.

use super::metropolis::Metropolis;
use super::schedule::{CoolingSchedule, SearchStop};
use super::stream::Stream;
use super::trace::{Trace, TracePoint};
use crate::pack::{Axis, Cost, Evaluator, Packing};

/// Proposals between two looks at the clock: some 0.1 ms.
const UNWATCHED: u64 = 1024;

/// What a run has found.
pub(super) struct Run<C> {
    pub packing: Packing,
    pub cost: C,
    pub proposals: u64,
    pub accepted: u64,
    pub trace: Trace<C>,
    /// Why it ended before its schedule, if it did.
    pub stopped: Option<SearchStop>,
}

/// What a run is asked to do.
pub(super) struct Chain<'a, C> {
    pub schedule: CoolingSchedule,
    /// Proposals, if fewer than the schedule's.
    pub budget: u64,
    pub target: Option<C>,
    /// Positions before this one keep what they hold.
    pub first: u32,
    /// Rows and columns by themselves.
    pub independent: bool,
    /// Points of the trace.
    pub trace: usize,
    /// Asked now and then, with the proposals since it was asked last: whether to stop.
    pub watch: &'a dyn Fn(u64) -> Option<SearchStop>,
    /// Told at the end of every step: temperature, cost, best.
    pub report: &'a dyn Fn(f64, C, C),
}

impl<C: Cost> Chain<'_, C> {
    /// Anneals from where the evaluator stands.
    pub fn run<E: Evaluator<Cost = C>>(&self, evaluator: &mut E, stream: &mut Stream) -> Run<C> {
        let mut state = State::new(evaluator, self);
        let mut temperature = self.schedule.temperature;
        for _ in 0..self.schedule.steps {
            if state.step(temperature, stream) {
                break;
            }
            (self.report)(temperature, state.cost, state.best);
            temperature *= self.schedule.rate;
        }
        state.finish(temperature)
    }
}

struct State<'a, C, E> {
    chain: &'a Chain<'a, C>,
    evaluator: &'a mut E,
    /// Positions.
    n: u32,
    cost: C,
    best: C,
    packing: Packing,
    /// True while the evaluator stands at a best packing that has not been copied yet.
    fresh: bool,
    proposals: u64,
    accepted: u64,
    trace: Trace<C>,
    stopped: Option<SearchStop>,
}

impl<'a, C: Cost, E: Evaluator<Cost = C>> State<'a, C, E> {
    fn new(evaluator: &'a mut E, chain: &'a Chain<'a, C>) -> Self {
        let (packing, cost) = (evaluator.packing(), evaluator.cost());
        let trace = Trace::new(chain.schedule.total().min(chain.budget), chain.trace);
        let n = packing.rows().len() as u32;
        let (fresh, stopped) = (false, None);
        let stopped = if reached(cost, chain.target) { Some(SearchStop::Target) } else { stopped };
        let mut state = Self {
            chain,
            evaluator,
            n,
            cost,
            best: cost,
            packing,
            fresh,
            proposals: 0,
            accepted: 0,
            trace,
            stopped,
        };
        if chain.trace > 0 {
            state.note(chain.schedule.temperature);
        }
        state
    }

    /// All proposals at one temperature; true if that was the end.
    fn step(&mut self, temperature: f64, stream: &mut Stream) -> bool {
        let metropolis = Metropolis::new(self.chain.schedule.boltzmann * temperature);
        let mut left = self.chain.schedule.proposals;
        while left > 0 && self.stopped.is_none() {
            let allowed = self.chain.budget - self.proposals;
            if allowed == 0 {
                self.stopped = Some(SearchStop::Proposals);
                break;
            }
            let some = left.min(allowed).min(UNWATCHED).min(self.trace.until_next(self.proposals));
            let done = self.propose(some, &metropolis, stream);
            self.proposals += done;
            left -= done;
            if self.chain.trace > 0 && self.proposals.is_multiple_of(self.trace.stride) {
                self.note(temperature);
            }
            let watched = (self.chain.watch)(done);
            self.stopped = self.stopped.or(watched);
        }
        self.stopped.is_some()
    }

    /// The inner loop; returns the number of proposals, fewer than asked for if the target is reached.
    fn propose(&mut self, count: u64, metropolis: &Metropolis, stream: &mut Stream) -> u64 {
        for done in 1..=count {
            let axis = match self.chain.independent {
                false => Axis::Both,
                true if stream.bits() & 1 == 0 => Axis::Rows,
                true => Axis::Cols,
            };
            let (p, q) = stream.pair(self.n - self.chain.first);
            let (p, q) = (p + self.chain.first as usize, q + self.chain.first as usize);
            if self.evaluator.is_neutral(axis, p, q) {
                continue;
            }
            let next = self.evaluator.swap(axis, p, q);
            let rise = next.value() - self.cost.value();
            if rise > 0.0 {
                if !metropolis.accepts(rise, stream) {
                    self.evaluator.undo();
                    continue;
                }
                if self.fresh {
                    self.evaluator.undo();
                    self.keep();
                    self.evaluator.swap(axis, p, q);
                }
            }
            self.accepted += 1;
            self.cost = next;
            if next < self.best {
                (self.best, self.fresh) = (next, true);
                if reached(next, self.chain.target) {
                    self.stopped = Some(SearchStop::Target);
                    return done;
                }
            }
        }
        count
    }

    /// Copies the best packing, which is where the evaluator stands: only on leaving it, or a long descent would copy all the
    /// way down.
    fn keep(&mut self) {
        self.packing = self.evaluator.packing();
        self.fresh = false;
    }

    fn note(&mut self, temperature: f64) {
        let Self { proposals, accepted, cost, best, .. } = *self;
        self.trace.points.push(TracePoint { proposals, accepted, temperature, cost, best });
    }

    fn finish(mut self, temperature: f64) -> Run<C> {
        if self.fresh {
            self.keep();
        }
        if self.trace.points.last().is_some_and(|point| point.proposals < self.proposals) {
            self.note(temperature);
        }
        let Self { packing, best: cost, proposals, accepted, trace, stopped, .. } = self;
        Run { packing, cost, proposals, accepted, trace, stopped }
    }
}

fn reached<C: Cost>(cost: C, target: Option<C>) -> bool {
    target.is_some_and(|target| cost <= target)
}
