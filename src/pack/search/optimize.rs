//! The whole search: seeds, annealing, refinement.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::annealer::{AnnealParams, Annealed, Annealer};
use super::chain::Chain;
use super::refine::Descent;
use super::schedule::{CoolingSchedule, Progress, SearchLimits, SearchStop, Start};
use super::seeds::{Origin, Seed, seeds};
use super::stream::Stream;
use super::trace::Trace;
use crate::error::Result;
use crate::pack::{Axis, Cost, CostModel, Evaluator, LinearExpression, Packing};
use crate::platform::Instant;

/// Streams of restarts are numbered from 0; what is left over by the seeds is packed from this one.
const TAIL_STREAM: u64 = 1 << 63;

/// Seeds with something left over that is packed by annealing, at most.
const TAILS: usize = 4;

/// Runs at low temperature from the same packing, before they start at a better one.
const REHEATS: u64 = 4;

/// How to search.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchParams<C> {
    /// Temperatures and proposals; if none, [`CoolingSchedule::fitted`].
    pub schedule: Option<CoolingSchedule>,
    /// Where restarts of the annealing begin.
    pub start: Start,
    /// Of the random streams; any number.
    pub seed: u64,
    /// Rows and columns ordered by themselves: for y that never becomes an x of the same layout.
    pub independent: bool,
    /// Threads; 0 for as many as there are cores.
    pub threads: usize,
    /// Points of the trace; 0 for none.
    pub trace: usize,
    /// Whether to try the seeds. The identity is always tried.
    pub seeds: bool,
    /// Whether to refine what annealing has found.
    pub refine: bool,
    /// A cost that no packing is below, where a better one is known than [`CostModel::lower_bound`].
    pub lower_bound: Option<C>,
}

with!([C] SearchParams<C>:
    with_schedule(schedule: Option<CoolingSchedule>),
    with_start(start: Start),
    with_seed(seed: u64),
    with_independent(independent: bool),
    with_threads(threads: usize),
    with_trace(trace: usize),
    with_seeds(seeds: bool),
    with_refine(refine: bool),
    with_lower_bound(lower_bound: Option<C>),
);

impl<C> Default for SearchParams<C> {
    fn default() -> Self {
        let AnnealParams { start, seed, independent, threads, trace, .. } = AnnealParams::default();
        let (schedule, lower_bound) = (None, None);
        Self { schedule, start, seed, independent, threads, trace, seeds: true, refine: true, lower_bound }
    }
}

/// What the search has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Optimized<C> {
    /// The best packing; none found is better.
    pub packing: Packing,
    /// Its cost.
    pub cost: C,
    /// The cost of the identity.
    pub cost_before: C,
    /// No packing costs less.
    pub lower_bound: C,
    /// What found the packing.
    pub origin: Origin,
    /// Swaps proposed.
    pub proposals: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// Of it, until the packing was found.
    pub found_after: f64,
    /// Why the search ended.
    pub reason: SearchStop,
    /// The course of the best run of the annealing; none if the seeds were enough.
    pub trace: Option<Trace<C>>,
}

impl<C: PartialOrd> Optimized<C> {
    /// True if nothing can cost less.
    pub fn is_optimal(&self) -> bool {
        self.cost <= self.lower_bound
    }
}

/// The packing of least cost that the limits allow to find; never worse than the identity.
///
/// 1. Seeds: reverse Cuthill-McKee; unions of paths folded in four; orbits of symmetries of the pattern of order four, one to a
///    quad, which are optimal where every orbit has four nodes (ceil(nnz / 4): all blocks are full). What an incomplete
///    symmetry leaves over is packed by a short annealing of its own.
/// 2. [Annealing](Annealer) with restarts, for three quarters of what the limits allow.
/// 3. Refinement of the best: swaps and pairs of swaps while they help, then annealing from there at lower temperatures.
///
/// It ends once the lower bound, or the target, is reached. With limits other than time and interruption the result is the same
/// on every machine and with any number of threads. The search for symmetries takes a second or a few, and no
/// more than half of the time. Past [`CostModel::most_unknowns`] it is all there is ([`SearchStop::Size`]).
///
/// *Errors*: those of [`Annealer::new`], [`Annealer::anneal`] and [`CostModel::evaluator`].
///
/// *Source*: \[Bajaj04\] section 2.3.3 for annealing; the rest is beyond the paper.
///
/// ```
/// use texla::pack::{Instructions, SearchLimits, Origin, SearchParams, SimdMachine, instances, optimize};
/// let cube = instances::gauss_seidel_64()?;
/// let found = optimize(&SimdMachine, &cube, &SearchParams::default(), &SearchLimits::default())?;
/// assert_eq!((found.cost_before, found.cost), (Instructions(112), Instructions(72)));
/// assert!(found.is_optimal() && found.origin == Origin::Symmetry); // by the three half-turns of the cube
/// # Ok::<(), texla::Error>(())
/// ```
pub fn optimize<M: CostModel>(
    model: &M,
    e: &LinearExpression,
    params: &SearchParams<M::Cost>,
    limits: &SearchLimits<'_, M::Cost>,
) -> Result<Optimized<M::Cost>> {
    limits.check("optimize")?;
    let schedule = params.schedule.unwrap_or_else(|| CoolingSchedule::fitted(e, params.independent, limits));
    let mut search = Search::new(model, e, params, limits)?;
    // Refuses bad parameters before any work is done.
    search.annealer(schedule, params.start.clone(), params.seed)?;
    if let Start::Given(packing) = &params.start {
        search.offer(packing, model.cost(e, packing)?, Origin::Given);
    }
    if params.seeds {
        search.try_seeds()?;
    }
    if search.is_too_large() {
        search.stopped.set(search.stopped.get().or(Some(SearchStop::Size)));
    }
    search.anneal(schedule)?;
    if params.refine {
        search.refine(schedule)?;
    }
    Ok(search.finish())
}

struct Search<'a, 'b, M: CostModel> {
    model: &'a M,
    e: &'a LinearExpression,
    params: &'a SearchParams<M::Cost>,
    limits: &'a SearchLimits<'b, M::Cost>,
    began: Instant,
    spent: Cell<u64>,
    stopped: Cell<Option<SearchStop>>,
    before: M::Cost,
    lower_bound: M::Cost,
    target: M::Cost,
    best: (Packing, M::Cost, Origin),
    found_after: f64,
    trace: Option<Trace<M::Cost>>,
}

impl<'a, 'b, M: CostModel> Search<'a, 'b, M> {
    fn new(
        model: &'a M,
        e: &'a LinearExpression,
        params: &'a SearchParams<M::Cost>,
        limits: &'a SearchLimits<'b, M::Cost>,
    ) -> Result<Self> {
        let identity = Packing::identity(e.unknowns());
        let before = model.cost(e, &identity)?;
        let higher = |a: M::Cost, b: Option<M::Cost>| b.filter(|&b| b > a).unwrap_or(a);
        let lower_bound = higher(model.lower_bound(e), params.lower_bound);
        Ok(Self {
            model,
            e,
            params,
            limits,
            began: Instant::now(),
            spent: Cell::new(0),
            stopped: Cell::new(None),
            before,
            lower_bound,
            target: higher(lower_bound, limits.target),
            best: (identity, before, Origin::Identity),
            found_after: 0.0,
            trace: None,
        })
    }

    fn offer(&mut self, packing: &Packing, cost: M::Cost, origin: Origin) {
        if cost < self.best.1 {
            self.best = (packing.clone(), cost, origin);
            self.found_after = self.began.elapsed().as_secs_f64();
        }
    }

    /// Whether swaps are out of the question.
    fn is_too_large(&self) -> bool {
        self.e.unknowns() > self.model.most_unknowns()
    }

    fn is_done(&self) -> bool {
        self.best.1 <= self.target || self.stopped.get().is_some()
    }

    /// Counts proposals, and says whether to stop.
    fn watch(&self, done: u64) -> Option<SearchStop> {
        self.spent.set(self.spent.get().saturating_add(done));
        let stop = if self.limits.interrupt.is_some_and(|flag| flag.load(Relaxed)) {
            Some(SearchStop::Interrupted)
        } else if self.limits.time.is_some_and(|time| self.began.elapsed() >= time) {
            Some(SearchStop::Time)
        } else if self.limits.proposals.is_some_and(|proposals| self.spent.get() >= proposals) {
            Some(SearchStop::Proposals)
        } else {
            None
        };
        self.stopped.set(self.stopped.get().or(stop));
        stop
    }

    /// Prices the seeds, and packs what the best of them leave over.
    fn try_seeds(&mut self) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let mut unfinished = Vec::new();
        // Half of the time is for what comes after.
        let (e, limits, began) = (self.e, self.limits, self.began);
        let over = || limits.time.is_some_and(|time| began.elapsed() >= time / 2);
        let stop = || over() || limits.interrupt.is_some_and(|flag| flag.load(Relaxed));
        for seed in seeds(e, &stop) {
            let packing = Packing::symmetric(seed.order.clone());
            let cost = self.model.cost(self.e, &packing)?;
            self.offer(&packing, cost, seed.origin);
            // Before the next one is looked for.
            if self.is_done() {
                return Ok(());
            }
            // A single quad left over is packed already.
            if seed.tail + 4 < seed.order.len() && !self.is_too_large() {
                unfinished.push((cost, seed));
            }
        }
        unfinished.sort_by(|a, b| a.0.value().total_cmp(&b.0.value()));
        for (_, seed) in unfinished.into_iter().take(TAILS) {
            if !self.is_done() {
                self.pack_tail(&seed)?;
            }
        }
        Ok(())
    }

    /// Anneals the positions from the seed's tail on.
    fn pack_tail(&mut self, seed: &Seed) -> Result<()> {
        let left = (seed.order.len() - seed.tail) as u64;
        let proposals = (200 * left).min(50_000);
        let chain = Chain {
            schedule: CoolingSchedule { temperature: 1.0, rate: 0.85, steps: 16, proposals, boltzmann: 1.0 },
            budget: u64::MAX,
            target: Some(self.target),
            first: seed.tail as u32,
            independent: false,
            trace: 0,
            watch: &|done| self.watch(done),
            report: &|_, _, _| {},
        };
        let mut evaluator = self.model.evaluator(self.e, &Packing::symmetric(seed.order.clone()))?;
        let run = chain.run(&mut evaluator, &mut Stream::new(self.params.seed, TAIL_STREAM));
        self.offer(&run.packing, run.cost, seed.origin);
        Ok(())
    }

    fn annealer(&self, schedule: CoolingSchedule, start: Start, seed: u64) -> Result<Annealer<'a, M>> {
        let SearchParams { independent, threads, trace, .. } = *self.params;
        Annealer::new(self.model, self.e, AnnealParams { schedule, start, seed, independent, threads, trace })
    }

    /// Anneals within a share of what is left of the limits, given in quarters.
    fn run(
        &mut self,
        annealer: &Annealer<'a, M>,
        quarters: u32,
        restarts: Option<u64>,
    ) -> Result<Annealed<M::Cost>> {
        let part = |left: u64| (left / 4 * u64::from(quarters)).max(1);
        let (began, spent, best) = (self.began, self.spent.get(), self.best.1);
        let report = |p: &Progress<M::Cost>| {
            let least = if best < p.best { best } else { p.best };
            let told =
                Progress { best: least, proposals: p.proposals + spent, elapsed: began.elapsed(), ..*p };
            self.limits.progress.map(|progress| progress(&told)).unwrap_or_default();
        };
        let time = self.limits.time.map(|time| time.saturating_sub(began.elapsed()) / 4 * quarters);
        let limits = SearchLimits {
            time: time.map(|time| time.max(Duration::from_micros(1))),
            proposals: self.limits.proposals.map(|proposals| part(proposals.saturating_sub(spent))),
            restarts,
            target: Some(self.target),
            interrupt: self.limits.interrupt,
            progress: self.limits.progress.is_some().then_some(&report),
        };
        let found = annealer.anneal(&limits)?;
        self.watch(found.proposals);
        Ok(found)
    }

    fn anneal(&mut self, schedule: CoolingSchedule) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let annealer = self.annealer(schedule, self.params.start.clone(), self.params.seed)?;
        let quarters = if self.params.refine { 3 } else { 4 };
        let found = self.run(&annealer, quarters, self.limits.restarts)?;
        self.offer(&found.packing, found.cost, Origin::Annealing);
        self.trace = Some(found.trace);
        if !self.params.refine && self.stopped.get().is_none() {
            self.stopped.set(Some(found.reason));
        }
        Ok(())
    }

    /// Descends, then anneals at lower temperatures, until the limits are reached.
    fn refine(&mut self, schedule: CoolingSchedule) -> Result<()> {
        let low = CoolingSchedule {
            temperature: 0.75 * schedule.temperature,
            steps: schedule.steps.div_ceil(2),
            proposals: schedule.proposals.div_ceil(2),
            ..schedule
        };
        let annealed = self.spent.get();
        for round in 1u64.. {
            if self.is_done() {
                break;
            }
            let before = self.best.1;
            self.descend(REHEATS * low.total())?;
            // Restarts bound the number of annealing runs only: refinement then takes a third of what they took.
            let unbounded = self.limits.time.is_none() && self.limits.proposals.is_none();
            if unbounded && self.spent.get() - annealed > annealed / 3 {
                self.stopped.set(Some(SearchStop::Restarts));
            }
            if self.is_done() {
                break;
            }
            let start = Start::Given(self.best.0.clone());
            let annealer = self.annealer(low, start, self.params.seed.wrapping_add(round))?;
            let found = self.run(&annealer, 4, Some(REHEATS))?;
            self.offer(&found.packing, found.cost, Origin::Refinement);
            debug_assert!(self.best.1 <= before);
        }
        Ok(())
    }

    /// Descends from the best packing with at most so many swaps, as for large expressions not all can be tried.
    fn descend(&mut self, swaps: u64) -> Result<()> {
        let axes: &[Axis] = if self.params.independent { &[Axis::Rows, Axis::Cols] } else { &[Axis::Both] };
        let mut evaluator = self.model.evaluator(self.e, &self.best.0)?;
        let n = 4 * self.e.quads();
        let end = self.spent.get().saturating_add(swaps);
        let watch = |done| self.watch(done).or((self.spent.get() >= end).then_some(SearchStop::Proposals));
        Descent { evaluator: &mut evaluator, n, axes, watch: &watch, unseen: 0 }.run();
        self.offer(&evaluator.packing(), evaluator.cost(), Origin::Refinement);
        Ok(())
    }

    fn finish(self) -> Optimized<M::Cost> {
        let (packing, cost, origin) = self.best;
        let reason = if cost <= self.target { Some(SearchStop::Target) } else { self.stopped.get() };
        Optimized {
            packing,
            cost,
            cost_before: self.before,
            lower_bound: self.lower_bound,
            origin,
            proposals: self.spent.get(),
            seconds: self.began.elapsed().as_secs_f64(),
            found_after: self.found_after,
            reason: reason.unwrap_or(SearchStop::Restarts),
            trace: self.trace,
        }
    }
}
