//! The loop around a method: iterate without reading back, look now and then, certify, start again or stop.

pub(super) mod check;
pub(super) mod components;
pub(super) mod dots;
pub(super) mod execute;
pub(super) mod facts;
pub(super) mod finite;
#[cfg(feature = "sim")]
pub(super) mod fit;
pub(super) mod front;
pub(super) mod iterate;
pub(super) mod looks;
pub(super) mod null_space;
mod on_host;
pub(super) mod report;
pub(super) mod rounding;
pub(super) mod scales;
pub(super) mod slices;
pub(super) mod state;
pub(super) mod unknown;
pub(super) mod verdict;

use crate::data::{PendingRead, Scalar};
use crate::device::Device;
use crate::error::Result;
use crate::ops::Accuracy;
use crate::solve::judge::{Event, Judge, Measured, Order, Policy, Ran, Run, Terms, Traits};
use check::check_count;
use execute::{Executor, execute};
use finite::Small;
use iterate::Iterate;
use looks::{Course, Iterated, Observer, Seen, Work, run_until_frozen};
pub use null_space::project_out;
pub use report::{Breakdown, Components, HistoryPoint, ResidualKind, SolveReport, Stop, StopReason};
use slices::Stopwatch;
use state::{Bounds, Flag, Report};
use unknown::Iterand;
use verdict::Kept;

pub(super) use crate::solve::judge::{After, SPELL};

/// An iterative method as the driver sees it: a recurrence for an [iterate](Iterate) whose residual is its own.
pub(super) trait Method {
    /// Its name, for errors.
    const NAME: &'static str;

    /// How far the residual may grow in a run that was started afresh.
    const GROWTH: f64 = f64::INFINITY;

    /// Whether `b` has to be consistent with the null space.
    const CONSISTENT: bool = true;

    /// Which elements of `b` may be too small to be told from zero.
    const SMALL: Small = Small::BesideNorm;

    /// Recomputes the residual from the iterate, keeps it as the recurrence's, and returns its relative norm.
    async fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        let (norm, accuracy) = at.true_residual().await?;
        Ok((norm / at.unit(), accuracy))
    }

    /// By how much rounding may have changed that norm, relative as it is: in double-float, and as it was summed. *Cost*: waits.
    async fn rounding(&self, at: &Iterate<'_>, residual: f64) -> Result<f64> {
        at.rounding(residual).await
    }

    /// Another residual by which an iterate may be a solution, relative: of least squares `b - A x` itself.
    fn other_residual(&self) -> Option<f64> {
        None
    }

    /// By how much rounding may have changed that. *Cost*: waits.
    async fn other_rounding(&self, at: &Iterate<'_>) -> Result<f64> {
        let _ = at;
        Ok(0.0)
    }

    /// Whether [`Iterate::components`] is about the residual that is judged.
    const BY_COMPONENTS: bool = true;

    /// The norm in the recurrence's units that corresponds to the relative residual 1.
    fn unit(&self, at: &Iterate<'_>) -> f64 {
        at.unit()
    }

    /// Sets the recurrence running with the residual just recomputed: afresh, or keeping the search direction.
    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()>;

    /// One iteration, without a readback.
    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()>;

    /// Does what iterations have left to the next one, once a run has ended.
    fn finish(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let _ = at;
        Ok(())
    }

    /// The report texel after the last iteration.
    fn report(&self) -> &Scalar;

    /// Whether the residual that an iteration reports, unless it freezes, is that of before its update.
    fn tests_before_updating(&self) -> bool {
        false
    }

    /// Whether that is an upper bound on it.
    fn reports_bound(&self) -> bool {
        false
    }

    /// Whether an iteration costs so much more than a look that none is begun unseen; nor is such a solve stopped on the
    /// way, since few iterations gather little rounding.
    fn dear(&self) -> bool {
        false
    }

    /// Whether starting afresh loses what an iteration makes use of: no stop is made on the way.
    fn loses_what_it_has(&self) -> bool {
        false
    }

    /// Iterations after which the residual is replaced in any case; none for a recurrence that keeps to the truth by itself.
    fn spell(&self, is_double: bool) -> Option<usize> {
        (is_double && !self.dear() && !self.is_wide()).then_some(SPELL)
    }

    /// Whether its recurrence is one of pairs of floats.
    fn is_wide(&self) -> bool {
        false
    }

    /// Whether it may [become one](Self::widen) where 32 bits gain nothing.
    fn widens(&self) -> bool {
        false
    }

    /// Makes it one: afresh from the iterate as it is, gathered up, whose residual is recomputed first.
    fn widen(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let _ = at;
        Ok(())
    }

    /// How often in a row a start of the recurrence has failed: the next run takes another one, if there are several.
    fn attempt(&mut self, failed: usize) {
        let _ = failed;
    }

    /// What the theory says of a run that has ended like this.
    fn after(&mut self, last: &Report) -> After {
        last.breakdown().map_or(After::Judge, After::End)
    }
}

/// How far a solve may go.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub stop: Stop,
    pub max_iters: usize,
}

/// A method as the inner loop sees it.
struct Looked<'m, 'a, M> {
    method: &'m mut M,
    at: &'m mut Iterate<'a>,
}

impl<M: Method> Iterated for Looked<'_, '_, M> {
    fn device(&self) -> &Device {
        self.at.a.device()
    }

    fn iterate(&mut self) -> Result<()> {
        self.method.iterate(self.at)
    }

    fn look(&self) -> Result<PendingRead> {
        self.method.report().read_texel_async()
    }

    fn seen(&self, texels: &[f32]) -> Seen {
        let report = Report::from_texel(texels);
        let residual = (f64::from(report.rr) / self.method.unit(self.at).powi(2)).sqrt();
        let frozen = report.flag != Flag::Running;
        let before = usize::from(!frozen && self.method.tests_before_updating());
        let of = report.iterations.saturating_sub(before);
        let kind = if self.method.reports_bound() { ResidualKind::Bound } else { ResidualKind::Recurrence };
        Seen { iterations: report.iterations, residual: HistoryPoint::new(of, residual, kind), frozen }
    }

    fn dear(&self) -> bool {
        self.method.dear()
    }
}

/// An iterate that is kept.
enum Best {
    /// A start at zero, of which there is no copy.
    Zero,
    Copy(Iterand),
}

/// A method under way: it carries out what its judge orders.
struct Solve<'m, 'a, M> {
    looked: Looked<'m, 'a, M>,
    limits: Limits,
    work: Work,
    clock: Stopwatch,
    /// The best iterate so far.
    best: Option<Best>,
    /// Iterations of all runs, and the residual that was recomputed last.
    iterations: usize,
    residual: f64,
}

impl<M: Method> Solve<'_, '_, M> {
    fn terms(&self) -> Terms {
        let Looked { method, at } = &self.looked;
        let Limits { stop, max_iters } = self.limits;
        Terms {
            bound: stop.relative,
            least: at.least_bound(),
            max_iters,
            from_zero: at.from_zero,
            restarts: true,
            far: f64::MAX,
            zero_solves: false,
            reports_rounding: true,
            components: M::BY_COMPONENTS.then_some(Components::LEAST),
            policy: Policy::Recurrence(Traits {
                direct: method.dear() || method.loses_what_it_has(),
                dear: method.dear() && !method.loses_what_it_has(),
                growth: M::GROWTH,
                spell: method.spell(at.is_double()),
                widens: method.widens(),
                wide: method.is_wide(),
                unknowns: at.a.shape().cols,
            }),
        }
    }

    async fn recompute(&mut self, observe: &mut Observer<'_>) -> Result<Event> {
        let Looked { method, at } = &mut self.looked;
        let (own, accuracy) = method.true_residual(at).await?;
        self.residual = own;
        self.work.certified(self.iterations, own, observe);
        Ok(Event::Residual(Measured { own, other: method.other_residual(), accuracy }))
    }

    async fn run(&mut self, run: Run, observe: &mut Observer<'_>) -> Result<Event> {
        let Looked { method, at } = &mut self.looked;
        let (begin, Run { aim, limit, keep_direction, .. }) = (self.iterations, run);
        let unit = method.unit(at).powi(2);
        let target = aim.powi(2) * unit;
        let ceiling = (run.ceiling.powi(2) * unit).min(Bounds::CEILING) as f32;
        let bounds = Bounds { threshold: target as f32, ceiling, limit };
        method.attempt(run.attempt);
        method.restart(at, bounds, begin, keep_direction)?;
        // Not past the limit by more than the step that notices it.
        let most = (limit + 1).saturating_sub(begin);
        let Stop { every, within, .. } = self.limits.stop;
        let course = Course { every, begin, most, aim: Some(aim), clock: (self.clock, within) };
        let found = run_until_frozen(&mut self.looked, course, &mut self.work, observe).await?;
        let last = Report::from_texel(&found.texels);
        let Looked { method, at } = &mut self.looked;
        method.finish(at)?;
        self.iterations = last.iterations;
        Ok(Event::Ended(Ran {
            flag: found.flag(last.flag),
            iterations: last.iterations,
            recurrence: (f64::from(last.rr) / unit).sqrt(),
            after: method.after(&last),
        }))
    }
}

impl<M: Method> Executor for Solve<'_, '_, M> {
    async fn carry_out(&mut self, order: Order, observe: &mut Observer<'_>) -> Result<Event> {
        let Looked { method, at } = &mut self.looked;
        match order {
            Order::Recompute => return self.recompute(observe).await,
            Order::Certify => return Ok(Event::Rounding(method.rounding(at, self.residual).await?)),
            Order::CertifyOther => return Ok(Event::Rounding(method.other_rounding(at).await?)),
            Order::Components(most) => return Ok(Event::Components(at.components(most).await?)),
            Order::Run(run) => return self.run(run, observe).await,
            Order::Keep if self.iterations == 0 && at.from_zero => self.best = Some(Best::Zero),
            Order::Keep => self.best = Some(Best::Copy(at.x.copied()?)),
            Order::TakeBack => match self.best.take() {
                Some(Best::Zero) => at.put(at.x.zero()?),
                Some(Best::Copy(copy)) => at.put(copy),
                None => {}
            },
            Order::Back => at.discard()?,
            Order::FromZero => at.back_to_zero()?,
            Order::Widen => method.widen(at)?,
            Order::End(_) => {}
        }
        Ok(Event::Done)
    }
}

pub(super) async fn drive<M: Method>(
    method: &mut M,
    at: &mut Iterate<'_>,
    limits: Limits,
    observe: &mut Observer<'_>,
) -> Result<SolveReport> {
    limits.stop.check(M::NAME)?;
    check_count(M::NAME, "max_iters", limits.max_iters)?;
    let looked = Looked { method, at };
    let mut solve = Solve {
        looked,
        limits,
        work: Work::default(),
        clock: Stopwatch::start(),
        best: None,
        iterations: 0,
        residual: f64::INFINITY,
    };
    let verdict = execute(Judge::new(solve.terms()), &mut solve, observe).await?;
    let each = solve.work.cost();
    Ok(solve.work.report(verdict, each, observe))
}
