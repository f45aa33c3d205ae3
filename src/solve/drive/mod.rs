//! The loop around a method: iterate without reading back, look now and then, certify, start again or stop.

pub(super) mod check;
pub(super) mod dots;
pub(super) mod facts;
pub(super) mod finite;
#[cfg(feature = "sim")]
pub(super) mod fit;
pub(super) mod front;
pub(super) mod iterate;
pub(super) mod looks;
pub(super) mod null_space;
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
use check::check_count;
use finite::Small;
use iterate::Iterate;
use looks::{Course, Iterated, Observer, Seen, Work, run_until_frozen};
pub use null_space::project_out;
pub use report::{Breakdown, SolveReport, Stop, StopReason};
use rounding::counted;
use state::{Bounds, Flag, Report};
use unknown::Iterand;
use verdict::{Best, Judged, Residuals, Standing, WORTH_ANOTHER, hides};

/// An iterative method as the driver sees it: a recurrence for an [iterate](Iterate) whose residual is its own.
pub(super) trait Method {
    /// Its name, for errors.
    const NAME: &'static str;

    /// How far the residual may grow in a run that was started afresh.
    const GROWTH: f64 = f64::MAX;

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

    /// What follows from a run that has ended like this.
    fn after(&mut self, at: &mut Iterate<'_>, last: &Report) -> Result<After> {
        let _ = at;
        Ok(last.breakdown().map_or(After::Judge, After::End))
    }
}

impl<M: Method> Judged for (&mut M, &mut Iterate<'_>) {
    type Kept = Iterand;

    fn put(&mut self, x: Iterand) {
        self.1.put(x);
    }

    async fn recomputed(&mut self) -> Result<bool> {
        let (method, at) = self;
        Ok(method.true_residual(at).await?.0.is_finite())
    }

    async fn rounding(&mut self, residual: f64) -> Result<f64> {
        let (method, at) = self;
        method.rounding(at, residual).await
    }
}

/// What follows when a run has ended.
pub(super) enum After {
    /// What its flag and the true residual say.
    Judge,
    /// Another run, afresh from the iterate as it is.
    Afresh,
    /// Nothing leads on.
    End(Breakdown),
    /// The same, unless the true residual has come down to this share of the best before: what it is of that is the value that
    /// broke down.
    Unless(f64, Breakdown),
}

/// Iterations after which the residual of pairs is replaced in any case. A product `A d` of 32 bits errs by 2⁻²⁴ `|A| |d|`,
/// which of a smooth direction is far more than of what `A d` is: the residual is then kept from falling by what the
/// recurrence makes of it, and the bound, or an aim on the way, is long in coming. Of 50, 100 and 200 this took the fewest
/// on most matrices that were tried.
pub(super) const SPELL: usize = 100;

/// Whether residuals recomputed on the way still fall: by half from one of these stretches to the next. Where directions in
/// 32 bits do not tell small eigenvalues apart they stay as large for thousands of iterations, and may fall in the end; but
/// on the way to that they grow on well-conditioned grids, too, at the beginning.
struct Gains {
    /// Iterations after which nothing is gained in any case: in exact arithmetic half of them would do.
    most: usize,
    /// Where the stretch began.
    begin: usize,
    /// Least residual of the one before, and of this one.
    before: f64,
    least: f64,
}

impl Gains {
    const STRETCH: usize = 4 * SPELL;

    fn new(unknowns: usize) -> Self {
        let most = unknowns.saturating_add(SPELL).saturating_mul(2);
        Gains { most, begin: 0, before: f64::INFINITY, least: f64::INFINITY }
    }

    /// Whether the stretch that ends here, if one does, has gained nothing.
    fn none(&mut self, iterations: usize, residual: f64) -> bool {
        if iterations == 0 {
            return false;
        }
        self.least = self.least.min(residual);
        if iterations >= self.most {
            return true;
        }
        if iterations < self.begin + Self::STRETCH {
            return false;
        }
        let none = self.least > WORTH_ANOTHER * self.before;
        *self = Gains { begin: iterations, before: self.least, least: f64::INFINITY, ..*self };
        none
    }
}

/// A kept direction along which the residual grows by more than this is no direction of this residual's.
pub(super) const KEPT_GROWTH: f64 = 100.0;

/// When the recurrence's residual is replaced by the true one, and what is aimed at next.
///
/// On the way down the two are exchanged while they still agree: the search direction then stays valid, and rounding
/// errors of the large early steps are left behind (H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22, 2000). At
/// the end a residual that does not hold what the recurrence promised means a fresh start with a closer aim.
struct Replacements {
    /// Stops to come on the way; none are planned before a residual is known.
    stops: Option<usize>,
    fell_short: usize,
    /// The residual of before.
    before: f64,
    /// The last aim was no stop on the way.
    last: bool,
    /// That aim.
    aimed: f64,
}

impl Replacements {
    /// Digits that are left in one go: what 32 bits gather meanwhile is little beside the residual at their end.
    const AT_EASE: f64 = 1.5;

    /// Further down than this 32 bits of a recurrence say nothing of the true residual, and lead away from the solution where
    /// the matrix is singular.
    const AT_ONCE: f64 = 1e-5;

    /// A true residual of more than this many times the recurrence's own is another one: the direction does not belong
    /// to it, and going on along that diverges.
    const AGREES: f64 = 2.0;

    /// A solve of few iterations gathers little on its way; one of pairs gathers little, too.
    fn new<M: Method>(method: &M) -> Self {
        Replacements {
            stops: (method.dear() || method.is_wide() || method.loses_what_it_has()).then_some(0),
            fell_short: 0,
            before: f64::INFINITY,
            last: false,
            aimed: 0.0,
        }
    }

    /// The next relative residual to aim at, and whether to keep the direction on the way there. The recurrence has a
    /// residual once it has run, and no direction before.
    fn next(&mut self, residual: f64, recurrence: Option<f64>, bound: f64) -> (f64, bool) {
        let agrees = recurrence.is_some_and(|r| residual <= Self::AGREES * r);
        let falls = recurrence.is_none() || residual <= WORTH_ANOTHER * self.before;
        self.before = residual;
        let (aim, keep) = self.aim(residual, bound, falls);
        self.aimed = aim;
        (aim, keep && agrees)
    }

    /// The same aim again, after a run that was not to come so far.
    fn again(&mut self, residual: f64, recurrence: Option<f64>) -> (f64, bool) {
        (self.aimed, recurrence.is_some_and(|r| residual <= Self::AGREES * r))
    }

    fn aim(&mut self, residual: f64, bound: f64, falls: bool) -> (f64, bool) {
        // Aims on the way, while they lead on.
        if falls {
            let digits = (residual / bound).log10();
            let left = (digits / Self::AT_EASE - 1.0).max(0.0) as usize;
            let stops = self.stops.get_or_insert(left);
            *stops = left.min(*stops);
            let share = 1.0 / (*stops as f64 + 1.0);
            let aim = (residual * (bound / residual).powf(share)).max(residual * Self::AT_ONCE);
            *stops = stops.saturating_sub(1);
            if aim > 2.0 * bound {
                self.last = false;
                return (aim, true);
            }
        }
        self.last = true;
        self.fell_short += 1;
        let first = self.fell_short == 1;
        let aim = if first { bound } else { 0.5 * bound };
        (aim.max(residual * Self::AT_ONCE), first)
    }

    /// True if the recurrence has met the bound itself, not an aim on the way.
    fn last_aim_met(&self, flag: Flag) -> bool {
        flag == Flag::Met && self.fell_short > 1 && self.last
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
        Seen { iterations: report.iterations, residual: (of, residual), frozen }
    }

    fn dear(&self) -> bool {
        self.method.dear()
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
    let mut work = Work::default();
    let (mut iterations, mut replacements) = (0, 0);
    let mut best = Best::default();
    let mut flag = Flag::Running;
    let mut recurrence = None;
    let (mut breakdown, mut unless) = (None, None);
    let mut idle = false;
    let mut gains = Gains::new(at.a.shape().cols);
    let mut widened = method.is_wide().then_some(0);
    let mut plan = Replacements::new(method);
    loop {
        let (mut residual, accuracy) = method.true_residual(at).await?;
        let mut other = method.other_residual();
        if iterations == 0 && work.history.is_empty() {
            work.history.push((0, residual));
        }
        let bound = limits.stop.relative;
        // Where squares vanish, any aim is met by doing nothing.
        let aim_met = plan.last_aim_met(flag) || idle;
        let mut stuck = aim_met && best.is_hardly_beaten_by(residual);
        let mut lost = !residual.is_finite();
        let mut rounded = None;
        if lost {
            flag = Flag::OutOfRange;
        } else if (residual <= bound || stuck) && accuracy == Accuracy::DoubleFloat {
            let rounding = method.rounding(at, residual).await?;
            rounded = Some(rounding);
            residual += counted(rounding, bound);
            lost = hides(rounding, bound);
            // The best has all of that in it, too: only sums are compared with sums.
            stuck |= aim_met && best.is_hardly_beaten_by(residual);
        }
        if lost && !at.from_zero {
            // So large that nobody can tell how good it is: zero is the better start.
            if residual.is_finite() {
                best.offer(Residuals { own: residual, rounding: rounded, other }, &at.x)?;
            }
            (at.from_zero, at.near) = (true, true);
            at.x.set_zero()?;
            at.discard()?;
            (plan, flag, recurrence, breakdown) = (Replacements::new(method), Flag::Running, None, None);
            continue;
        }
        if let Some(other) = &mut other
            && *other <= bound
            && accuracy == Accuracy::DoubleFloat
        {
            *other += counted(method.other_rounding(at).await?, bound);
        }
        let residuals = Residuals { own: residual, rounding: rounded, other };
        let standing = Standing {
            met: residual <= bound || other.is_some_and(|r| r <= bound),
            bound,
            least: at.least_bound(),
            accuracy,
            flag,
            exhausted: iterations >= limits.max_iters,
            stuck,
        };
        // What ends a recurrence in 32 bits is no end where it can go on in pairs.
        let left = flag == Flag::OutOfRange;
        let ends = stuck || left || breakdown.is_some() || gains.none(iterations, residual);
        if ends && !standing.met && !standing.exhausted && method.widens() {
            best.offer(residuals, &at.x)?;
            if left {
                best.back(residual, &mut at.x)?;
            }
            method.widen(at)?;
            (widened, plan) = (Some(iterations), Replacements::new(method));
            (flag, recurrence, breakdown, idle) = (Flag::Running, None, None, false);
            continue;
        }
        if let Some((most, of)) = unless.take()
            && let Some(share) = best.share(residual)
        {
            breakdown = (share > most).then_some(Breakdown { value: share, ..of });
        }
        // Iterates freeze before a breakdown, and the last one may have met the bound.
        let broken = breakdown.filter(|_| !standing.met);
        if let Some(reason) = broken.map(|_| StopReason::Breakdown).or_else(|| standing.verdict()) {
            let residuals = match standing.met {
                // Perhaps by the other residual.
                true => residuals,
                false => best.told(residuals, accuracy, &mut (&mut *method, &mut *at)).await?,
            };
            let each = work.cost();
            let report = work.report(reason, iterations, residuals, replacements, each);
            return Ok(SolveReport {
                breakdown: broken,
                double_iterations: widened.map_or(0, |from| iterations - from),
                ..report
            });
        }
        best.offer(residuals, &at.x)?;
        let (aim, keep_direction) = match flag {
            Flag::Exhausted => plan.again(residual, recurrence),
            _ => plan.next(residual, recurrence, limits.stop.relative),
        };
        replacements += usize::from(matches!(flag, Flag::Met | Flag::Exhausted));
        let unit = method.unit(at).powi(2);
        let target = aim.powi(2) * unit;
        let growth = if keep_direction { KEPT_GROWTH } else { M::GROWTH };
        let ceiling = ((growth * residual).powi(2) * unit).min(Bounds::CEILING) as f32;
        let limit = match method.spell(at.is_double()) {
            Some(spell) => limits.max_iters.min(iterations + spell),
            None => limits.max_iters,
        };
        let bounds = Bounds { threshold: target as f32, ceiling, limit };
        method.restart(at, bounds, iterations, keep_direction)?;
        // Not past the limit by more than the step that notices it.
        let most = (limit + 1).saturating_sub(iterations);
        let course = Course { every: limits.stop.every, begin: iterations, most, aim: Some(aim) };
        let mut looked = Looked { method: &mut *method, at: &mut *at };
        let last = run_until_frozen(&mut looked, course, &mut work, observe).await?;
        let last = Report::from_texel(&last);
        method.finish(at)?;
        idle = last.flag == Flag::Met && last.iterations == iterations;
        iterations = last.iterations;
        flag = last.flag;
        recurrence = Some((f64::from(last.rr) / unit).sqrt());
        let blameless = matches!(flag, Flag::Met | Flag::Exhausted | Flag::Shadow | Flag::ShadowDirection);
        if keep_direction && !blameless {
            // The direction is to blame, not the matrix: back to where this run began, and afresh from there.
            at.discard()?;
            (flag, recurrence) = (Flag::Running, None);
            continue;
        }
        match method.after(at, &last)? {
            After::Judge => {}
            After::Afresh => (flag, recurrence) = (Flag::Running, None),
            After::End(of) => breakdown = Some(of),
            After::Unless(most, of) => unless = Some((most, of)),
        }
    }
}
