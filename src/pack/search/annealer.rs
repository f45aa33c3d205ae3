//! Simulated annealing with restarts, on all cores.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::chain::{Chain, Run};
use super::schedule::{CoolingSchedule, Progress, SearchLimits, SearchStop, Start};
use super::stream::Stream;
use super::trace::Trace;
use crate::error::{Error, Result};
use crate::pack::{CostModel, Form, LinearExpression, Order, Packing};
use crate::platform::{Instant, threads};

/// How to anneal.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnnealParams {
    /// Temperatures and proposals.
    pub schedule: CoolingSchedule,
    /// Where every restart begins.
    pub start: Start,
    /// Of the random streams; any number.
    pub seed: u64,
    /// Rows and columns ordered by themselves: for y that never becomes an x of the same layout.
    pub independent: bool,
    /// Restarts at a time; 0 for as many as there are cores.
    pub threads: usize,
    /// Points of the trace; 0 for none.
    pub trace: usize,
}

with!(AnnealParams:
    with_schedule(schedule: CoolingSchedule),
    with_start(start: Start),
    with_seed(seed: u64),
    with_independent(independent: bool),
    with_threads(threads: usize),
    with_trace(trace: usize),
);

impl Default for AnnealParams {
    fn default() -> Self {
        let (schedule, start) = (CoolingSchedule::default(), Start::default());
        Self { schedule, start, seed: 0, independent: false, threads: 0, trace: 512 }
    }
}

/// What annealing has found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Annealed<C> {
    /// The best packing.
    pub packing: Packing,
    /// Its cost.
    pub cost: C,
    /// Number of the restart that found it.
    pub restart: u64,
    /// Restarts that count: all up to the one that reached the target.
    pub restarts: u64,
    /// Swaps proposed by those.
    pub proposals: u64,
    /// Swaps accepted by those.
    pub accepted: u64,
    /// Wall-clock time.
    pub seconds: f64,
    /// Why the search ended.
    pub reason: SearchStop,
    /// The course of the best restart.
    pub trace: Trace<C>,
}

/// Simulated annealing by (i, j)-swaps under any cost model, with restarts.
///
/// Positions are drawn evenly; a swap that the evaluator knows to be [neutral](crate::pack::Evaluator::is_neutral) counts as
/// proposed, and is passed over. The best packing is always kept. Restart k draws from a random stream of its own, a function of
/// the seed and k, and has its own share of the proposals; a restart that reaches the target stops those after it, not those
/// before. So a seed, a schedule and limits other than time and interruption give the same result on every machine, whatever the
/// number of threads; among equal costs the lowest restart wins.
///
/// *Cost*: a proposal O(non-zeros of two rows and columns). *Source*: \[Bajaj04\] section 2.3.3, Figure 4.
///
/// ```
/// use texla::pack::{AnnealParams, Annealer, Instructions, SearchLimits, CoolingSchedule, SimdMachine, instances};
/// let cars = instances::runge_kutta_20()?;
/// let schedule = CoolingSchedule::default().with_temperature(1.5).with_rate(0.9).with_steps(15).with_proposals(1000);
/// let params = AnnealParams::default().with_schedule(schedule).with_seed(1);
/// let limits = SearchLimits::default().with_restarts(Some(20)).with_target(Some(Instructions(14)));
/// let found = Annealer::new(&SimdMachine, &cars, params)?.anneal(&limits)?;
/// assert_eq!(found.cost, Instructions(14)); // from 20, as Figure 2
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Annealer<'a, M> {
    model: &'a M,
    expression: &'a LinearExpression,
    params: AnnealParams,
}

impl<'a, M: CostModel> Annealer<'a, M> {
    /// *Errors*: [`Error::Parameter`] for a schedule without steps or proposals, temperatures and rates that are not positive and
    /// finite, a rate above 1, and independent orders for an iteration in place; [`Error::LengthMismatch`] for a start of another
    /// size.
    pub fn new(model: &'a M, expression: &'a LinearExpression, params: AnnealParams) -> Result<Self> {
        let op = "Annealer::new";
        params.schedule.check(op)?;
        check_independent(op, expression, params.independent)?;
        if let Start::Given(packing) = &params.start {
            expression.check_packing(op, packing)?;
        }
        Ok(Self { model, expression, params })
    }

    /// Anneals until a limit is reached.
    ///
    /// *Errors*: [`Error::Parameter`] for a budget of zero, and where there is no limit at all; those of
    /// [`CostModel::evaluator`].
    pub fn anneal(&self, limits: &SearchLimits<'_, M::Cost>) -> Result<Annealed<M::Cost>> {
        limits.check("Annealer::anneal")?;
        let shared = Shared::new(self, limits)?;
        let threads = shared.restarts.min(threads(self.params.threads) as u64);
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| shared.work());
            }
            shared.work();
        });
        shared.finish()
    }

    fn start(&self, stream: &mut Stream) -> Packing {
        let n = self.expression.unknowns();
        let mut random = || Order::from_valid(n, stream.permutation(4 * self.expression.quads()));
        match &self.params.start {
            Start::Given(packing) => packing.clone(),
            Start::Identity => Packing::identity(n),
            Start::Random if self.params.independent => Packing::pair(random(), random()),
            Start::Random => Packing::symmetric(random()),
        }
    }
}

/// Refuses two orders where there can be only one.
pub(super) fn check_independent(op: &'static str, e: &LinearExpression, independent: bool) -> Result<()> {
    if independent && e.form() == Form::GaussSeidel {
        let expected = "one order for rows and columns: Gauss-Seidel works in place";
        return Err(Error::Parameter { op, name: "independent", value: "true".to_owned(), expected });
    }
    Ok(())
}

/// What the threads of a search have in common.
struct Shared<'a, 'b, M: CostModel> {
    annealer: &'a Annealer<'a, M>,
    limits: &'a SearchLimits<'b, M::Cost>,
    began: Instant,
    /// Number of restarts that there can be.
    restarts: u64,
    /// The next one that nobody has begun.
    next: AtomicU64,
    /// The lowest one that has reached the target: those above need not go on.
    hit: AtomicU64,
    proposals: AtomicU64,
    found: Mutex<Found<M::Cost>>,
}

struct Found<C> {
    best: Option<(u64, Run<C>)>,
    /// (restart, proposals, accepted).
    counts: Vec<(u64, u64, u64)>,
    /// Of any run, for progress.
    least: C,
    stopped: Option<SearchStop>,
    error: Option<Error>,
}

impl<'a, 'b, M: CostModel> Shared<'a, 'b, M> {
    fn new(annealer: &'a Annealer<'a, M>, limits: &'a SearchLimits<'b, M::Cost>) -> Result<Self> {
        let total = annealer.params.schedule.total();
        let affordable = limits.proposals.map_or(u64::MAX, |proposals| proposals.div_ceil(total));
        let least = annealer.model.cost(annealer.expression, &annealer.start(&mut Stream::new(0, 0)))?;
        let found = Found { best: None, counts: Vec::new(), least, stopped: None, error: None };
        Ok(Self {
            annealer,
            limits,
            began: Instant::now(),
            restarts: affordable.min(limits.restarts.unwrap_or(u64::MAX)),
            next: AtomicU64::new(0),
            hit: AtomicU64::new(u64::MAX),
            proposals: AtomicU64::new(0),
            found: Mutex::new(found),
        })
    }

    fn found(&self) -> MutexGuard<'_, Found<M::Cost>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One restart after the other, as long as there is one to do.
    fn work(&self) {
        loop {
            let restart = self.next.fetch_add(1, Relaxed);
            if restart >= self.restarts {
                return;
            }
            // The first restart always runs, so that there is a result.
            if let Some(reason) = self.stop(restart).filter(|_| restart > 0) {
                if reason != SearchStop::Target {
                    self.found().stopped = Some(reason);
                }
                return;
            }
            match self.run(restart) {
                Ok(run) => self.merge(restart, run),
                Err(error) => {
                    self.found().error.get_or_insert(error);
                    return;
                }
            }
        }
    }

    fn run(&self, restart: u64) -> Result<Run<M::Cost>> {
        let Annealer { model, expression, params } = self.annealer;
        let mut stream = Stream::new(params.seed, restart);
        let mut evaluator = model.evaluator(expression, &self.annealer.start(&mut stream))?;
        let watch = |done: u64| {
            self.proposals.fetch_add(done, Relaxed);
            self.stop(restart)
        };
        let report =
            |temperature: f64, cost: M::Cost, best: M::Cost| self.report(restart, temperature, cost, best);
        let schedule = params.schedule;
        let before = schedule.total().saturating_mul(restart);
        let chain = Chain {
            schedule,
            budget: self.limits.proposals.map_or(u64::MAX, |proposals| proposals.saturating_sub(before)),
            target: self.limits.target,
            first: 0,
            independent: params.independent,
            trace: params.trace,
            watch: &watch,
            report: &report,
        };
        Ok(chain.run(&mut evaluator, &mut stream))
    }

    /// Whether a restart has to end now.
    fn stop(&self, restart: u64) -> Option<SearchStop> {
        let interrupted = self.limits.interrupt.is_some_and(|flag| flag.load(Relaxed));
        let late = || self.limits.time.is_some_and(|time| self.began.elapsed() >= time);
        if self.hit.load(Relaxed) < restart {
            Some(SearchStop::Target)
        } else if interrupted {
            Some(SearchStop::Interrupted)
        } else if late() {
            Some(SearchStop::Time)
        } else {
            None
        }
    }

    fn report(&self, restart: u64, temperature: f64, cost: M::Cost, best: M::Cost) {
        let Some(progress) = self.limits.progress else { return };
        let mut found = self.found();
        found.least = if best < found.least { best } else { found.least };
        let best = found.least;
        drop(found);
        let (proposals, elapsed) = (self.proposals.load(Relaxed), self.began.elapsed());
        progress(&Progress { restart, temperature, cost, best, proposals, elapsed });
    }

    /// Takes a run's result in. The order in which runs end makes no difference.
    fn merge(&self, restart: u64, run: Run<M::Cost>) {
        let hits = |run: &Run<M::Cost>| self.limits.target.is_some_and(|target| run.cost <= target);
        if hits(&run) {
            self.hit.fetch_min(restart, Relaxed);
        }
        let mut found = self.found();
        found.counts.push((restart, run.proposals, run.accepted));
        if let Some(reason @ (SearchStop::Time | SearchStop::Interrupted)) = run.stopped {
            found.stopped = Some(reason);
        }
        let better = found.best.as_ref().is_none_or(|(k, best)| match (hits(&run), hits(best)) {
            (true, true) => restart < *k,
            (false, false) => run.cost < best.cost || (run.cost == best.cost && restart < *k),
            (hit, _) => hit,
        });
        if better {
            found.best = Some((restart, run));
        }
    }

    fn finish(self) -> Result<Annealed<M::Cost>> {
        let (hit, seconds) = (self.hit.load(Relaxed), self.began.elapsed().as_secs_f64());
        let Found { best, counts, stopped, error, .. } =
            self.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (restart, run) = match (best, error) {
            (Some(best), None) => best,
            (_, error) => {
                return Err(error.unwrap_or(Error::Unsupported {
                    what: "annealing".to_owned(),
                    why: "no restart ran".to_owned(),
                }));
            }
        };
        let counted = counts.iter().filter(|(k, _, _)| *k <= hit);
        let sums = counted
            .fold((0, 0, 0), |(n, p, a), (_, proposals, accepted)| (n + 1, p + proposals, a + accepted));
        let (restarts, proposals, accepted) = sums;
        let reason = match stopped {
            _ if hit < u64::MAX => SearchStop::Target,
            Some(reason) => reason,
            None if self.limits.restarts == Some(self.restarts) => SearchStop::Restarts,
            None => SearchStop::Proposals,
        };
        let Run { packing, cost, trace, .. } = run;
        Ok(Annealed { packing, cost, restart, restarts, proposals, accepted, seconds, reason, trace })
    }
}
