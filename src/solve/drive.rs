//! The loop around a method: iterate without reading back, look now and then, certify, start again or stop.

use super::check::check_count;
use super::linop::{Accuracy, LinOp};
use super::looks::{Iterated, Seen, Work, run_until_frozen};
use super::report::{SolveReport, Stop, StopReason};
use super::state::{Bounds, Flag, Report};
use crate::data::{PendingRead, Scalar, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::PingPong;
use crate::ops::Accurate;

/// An iterative method as the driver sees it.
pub(super) trait Method {
    /// Its name, for errors.
    const NAME: &'static str;

    /// How far the residual may grow in a run that was started afresh.
    const GROWTH: f64 = f64::MAX;

    fn device(&self) -> &Device;

    /// Recomputes the residual from the iterate, keeps it as the recurrence's, and returns its relative norm.
    fn true_residual(&mut self) -> Result<(f64, Accuracy)>;

    /// Sets the recurrence running with the residual just recomputed: afresh, or keeping the search direction.
    fn restart(&mut self, bounds: Bounds, iterations: usize, keep_direction: bool) -> Result<()>;

    /// One iteration, without a readback.
    fn iterate(&mut self) -> Result<()>;

    /// The report texel after the last iteration.
    fn report(&self) -> &Scalar;

    /// The squared norm in the recurrence's units that corresponds to the relative residual 1.
    fn unit(&self) -> f64;

    /// The iterate.
    fn iterate_mut(&mut self) -> &mut Vector;

    /// Forgets what has been added to the iterate since the last true residual.
    fn discard(&mut self) -> Result<()>;

    /// What it means that a run has ended with this flag: an error, or whether to start afresh in spite of it.
    fn broken(&mut self, last: &Report) -> Result<bool> {
        let (quantity, expected) = match last.flag {
            Flag::Curvature if last.value == 0.0 => {
                ("p.Ap", "more than 0: the matrix is singular, or its coefficients are too far apart")
            }
            Flag::Curvature => ("p.Ap", "more than 0: the matrix is not positive definite"),
            Flag::Indefinite => ("r.Mr", "more than 0: the preconditioner is not positive definite"),
            _ => return Ok(false),
        };
        Err(breakdown(Self::NAME, last, quantity, expected))
    }
}

/// The error of a run that cannot go on.
pub(super) fn breakdown(
    solver: &'static str,
    last: &Report,
    quantity: &'static str,
    expected: &'static str,
) -> Error {
    let (iteration, value) = (last.iterations, f64::from(last.value));
    Error::Breakdown { solver, iteration, quantity, value, expected }
}

/// A kept direction along which the residual grows by more than this is no direction of this residual's.
pub(super) const KEPT_GROWTH: f64 = 100.0;

/// A restart that does not cut the true residual below this share of the last one has reached what 32 bits can.
const WORTH_RESTARTING: f64 = 0.5;

/// When the recurrence's residual is replaced by the true one, and what is aimed at next.
///
/// On the way down the two are exchanged while they still agree: the search direction then stays valid, and rounding
/// errors of the large early steps are left behind (H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22, 2000). At
/// the end a residual that does not hold what the recurrence promised means a fresh start with a closer aim.
#[derive(Default)]
struct Replacements {
    aims: usize,
    fell_short: usize,
}

impl Replacements {
    /// Relative residuals at which the recurrence is brought in line, if they lie above the bound.
    const ON_THE_WAY: [f64; 2] = [1e-2, 1e-4];

    /// A true residual of more than this many times the recurrence's own is another one: the direction does not belong
    /// to it, and going on along that diverges.
    const AGREES: f64 = 2.0;

    /// The next relative residual to aim at, and whether to keep the direction on the way there. The recurrence has a
    /// residual once it has run, and no direction before.
    fn next(&mut self, residual: f64, recurrence: Option<f64>, bound: f64) -> (f64, bool) {
        let agrees = recurrence.is_some_and(|r| residual <= Self::AGREES * r);
        let (aim, keep) = self.aim(residual, bound);
        (aim, keep && agrees)
    }

    /// How far down the recurrence goes in one run: past that 32 bits of it say nothing of the true residual, and
    /// further still its squares leave the range. Reached only by starts far from the solution.
    const AT_ONCE: f64 = 1e-7;

    fn aim(&mut self, residual: f64, bound: f64) -> (f64, bool) {
        let on_the_way = Self::ON_THE_WAY.get(self.aims).copied().unwrap_or(0.0);
        let nearest = residual * Self::AT_ONCE;
        if nearest > on_the_way.max(bound) {
            return (nearest, true);
        }
        while let Some(aim) = Self::ON_THE_WAY.get(self.aims) {
            self.aims += 1;
            // An aim that is met already, or nearly the bound itself, is not worth a replacement.
            if *aim < residual && *aim > 2.0 * bound {
                return (*aim, true);
            }
        }
        self.fell_short += 1;
        let first = self.fell_short == 1;
        (if first { bound } else { 0.5 * bound }, first)
    }

    /// True if the recurrence has met the bound itself, not an aim on the way.
    fn last_aim_met(&self, flag: Flag) -> bool {
        flag == Flag::Met && self.fell_short > 1
    }
}

/// How far a solve may go.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub stop: Stop,
    pub max_iters: usize,
}

pub(super) use super::looks::Observer;

/// A method as the inner loop sees it.
struct Looked<'a, M>(&'a mut M);

impl<M: Method> Iterated for Looked<'_, M> {
    fn device(&self) -> &Device {
        self.0.device()
    }

    fn iterate(&mut self) -> Result<()> {
        self.0.iterate()
    }

    fn look(&self) -> Result<PendingRead> {
        self.0.report().read_texel_async()
    }

    fn seen(&self, texels: &[f32]) -> Seen {
        let report = Report::from_texel(texels);
        let residual = (f64::from(report.rr) / self.0.unit()).sqrt();
        Seen { iterations: report.iterations, residual, frozen: report.flag != Flag::Running }
    }
}

pub(super) fn drive<M: Method>(
    method: &mut M,
    limits: Limits,
    observe: &mut Observer<'_>,
) -> Result<SolveReport> {
    limits.stop.check(M::NAME)?;
    check_count(M::NAME, "max_iters", limits.max_iters)?;
    let device = method.device().clone();
    let _scope = device.scope()?;
    let mut work = Work::default();
    let (mut iterations, mut replacements) = (0, 0);
    let mut best: Option<(f64, Vector)> = None;
    let mut flag = Flag::Running;
    let mut recurrence = None;
    let mut plan = Replacements::default();
    loop {
        let (residual, accuracy) = method.true_residual()?;
        if iterations == 0 && work.history.is_empty() {
            work.history.push((0, residual));
        }
        let before = best.as_ref().map(|(r, _)| *r);
        let met = residual <= limits.stop.relative;
        let improved = before.is_none_or(|b| b.is_nan() || residual < b);
        let ended = if met {
            Some(if accuracy == Accuracy::DoubleFloat {
                StopReason::Converged
            } else {
                StopReason::Uncertified
            })
        } else if flag == Flag::OutOfRange {
            Some(StopReason::Diverged)
        } else if iterations >= limits.max_iters {
            Some(StopReason::MaxIterations)
        } else if plan.last_aim_met(flag)
            && before.is_some_and(|b| residual.is_nan() || residual > WORTH_RESTARTING * b)
        {
            Some(StopReason::Stagnated)
        } else {
            None
        };
        if let Some(reason) = ended {
            let mut true_residual = residual;
            if let Some((kept, x)) = best.filter(|_| !improved) {
                *method.iterate_mut() = x;
                true_residual = kept;
            }
            let cost = work.cost();
            return Ok(SolveReport {
                reason,
                iterations,
                true_residual,
                history: work.history,
                replacements,
                async_checks: work.async_checks,
                readbacks_in_loop: work.readbacks,
                draws_per_iteration: cost.draws,
                passes_per_iteration: cost.passes,
            });
        }
        if improved {
            let mut copy = Vector::uninit(&device, method.iterate_mut().len())?;
            crate::ops::copy(&mut copy, method.iterate_mut())?;
            best = Some((residual, copy));
        }
        let (aim, keep_direction) = plan.next(residual, recurrence, limits.stop.relative);
        replacements += usize::from(flag == Flag::Met);
        let target = aim.powi(2) * method.unit();
        let growth = if keep_direction { KEPT_GROWTH } else { M::GROWTH };
        let ceiling = ((growth * residual).powi(2) * method.unit()).min(Bounds::CEILING) as f32;
        let bounds = Bounds { threshold: target as f32, ceiling, limit: limits.max_iters };
        method.restart(bounds, iterations, keep_direction)?;
        // Not past the limit by more than the step that notices it.
        let most = (limits.max_iters + 1).saturating_sub(iterations);
        let every = limits.stop.every;
        let last = run_until_frozen(&mut Looked(method), every, most, &mut work, observe)?;
        let last = Report::from_texel(&last);
        iterations = last.iterations;
        flag = last.flag;
        recurrence = Some((f64::from(last.rr) / method.unit()).sqrt());
        let blameless = matches!(flag, Flag::Met | Flag::Exhausted | Flag::Shadow | Flag::ShadowDirection);
        if keep_direction && !blameless {
            // The direction is to blame, not the matrix: back to where this run began, and afresh from there.
            method.discard()?;
            (flag, recurrence) = (Flag::Running, None);
            continue;
        }
        if method.broken(&last)? {
            (flag, recurrence) = (Flag::Running, None);
        }
    }
}

/// The power of two that makes vectors of this norm about 1.
pub(super) fn scale_of(norm: f64) -> f32 {
    (-f64::from(exponent(norm).clamp(-125, 125))).exp2() as f32
}

/// `2^e`, for exponents of normal floats.
pub(super) fn power(e: i32) -> f32 {
    f64::from(e.clamp(-126, 127)).exp2() as f32
}

/// `out = 2^e x`, also for powers that are no floats themselves.
pub(super) fn times_power(out: &mut Vector, e: i32, x: &Vector) -> Result<()> {
    if e.abs() <= 120 {
        return crate::ops::scaled(out, power(e), x);
    }
    let mut half = Vector::uninit(x.device(), x.len())?;
    crate::ops::scaled(&mut half, power(e / 2), x)?;
    crate::ops::scaled(out, power(e - e / 2), &half)
}

/// The scale for residuals of this norm where the present one leaves them, or their squares, below the range: after a
/// start whose residual was far larger than `b`. `None` where the present one does.
pub(super) fn closer_scale(norm_b: f64, norm: f64, scale: f32) -> Option<f32> {
    let wanted = scale_of(norm_b.max(norm / f64::from(scale)));
    (norm.is_finite() && wanted > scale * 65_536.0).then_some(wanted)
}

/// `x = x + y`, `y = 0`.
pub(super) fn gather_up(x: &mut Vector, y: &mut PingPong<Vector>) -> Result<()> {
    let mut sum = Vector::uninit(x.device(), x.len())?;
    crate::ops::add(&mut sum, x, y.front())?;
    *x = sum;
    y.front_mut().set_zero()
}

/// What a solve finds out of its system before the first iteration.
pub(super) struct Scales {
    pub norm_b: f64,
    /// Of residuals: the larger of `‖b‖` and `‖b - A x0‖` becomes about 1, for a start may be far off.
    pub residual: f32,
    /// Of the matrix: its largest coefficient becomes about 1.
    pub matrix: f32,
}

impl Scales {
    /// `r` is overwritten. *Cost*: two readbacks before the loop, four when `‖b‖` is no float.
    pub fn find(a: &dyn LinOp, x: &Vector, b: &Vector, r: &mut Vector) -> Result<Self> {
        let mut norm_b = f64::from(crate::ops::norm2(b)?.read()?);
        let mut own = scale_of(norm_b);
        if !norm_b.is_finite() {
            // The norm of a vector of floats need not be a float.
            own = scale_of(f64::from(crate::ops::max_abs(b)?.read()?));
            crate::ops::scaled(r, own, b)?;
            norm_b = f64::from(crate::ops::norm2(r)?.read()?) / f64::from(own);
        }
        a.apply_accurate(r, Accurate { transposed: false, alpha: -own, x, plus: Some((own, b)) })?;
        let norm_r = f64::from(crate::ops::norm2(r)?.read()?) / f64::from(own);
        let largest = if norm_r.is_finite() { norm_b.max(norm_r) } else { norm_b };
        let matrix = (-f64::from(a.exponent().clamp(-125, 125))).exp2() as f32;
        Ok(Scales { norm_b, residual: scale_of(largest), matrix })
    }
}
