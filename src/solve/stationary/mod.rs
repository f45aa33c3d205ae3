//! Stationary methods: sweeps of a smoother until the residual is small.

mod gauss_seidel;
mod nine_band;
mod smoother;

pub use gauss_seidel::{Direction, GaussSeidel, MOST_COLOURS, Sweepable};
pub use nine_band::{
    JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep, NineBandJacobi, NineBandSmoother,
};
#[cfg(feature = "sim")]
pub(crate) use smoother::JacobiWeights;
pub use smoother::{Smoother, WeightedJacobi};

use crate::data::{PendingRead, Scalar, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Accuracy, Accurate, Combine, LinOp, Windows, keeping};
use crate::solve::drive::check::{check_count, check_square};
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::facts::Facts;
use crate::solve::drive::finite::Small;
use crate::solve::drive::front;
use crate::solve::drive::looks::{Cost, Course, Iterated, Observer, Seen, Work, run_until_frozen};
use crate::solve::drive::null_space::{project_out, start_in_range};
use crate::solve::drive::report::{SolveReport, Stop};
use crate::solve::drive::rounding::{counted, norm_of_error};
use crate::solve::drive::scales::{Scales, exponent_of, power, times_power};
use crate::solve::drive::state::{Flag, Report};
use crate::solve::drive::verdict::{Best, LEAST_BOUND, Standing, hides};

/// Parameters of [`Stationary`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StationaryParams {
    /// Most sweeps, less than 2²⁴.
    pub max_sweeps: usize,
    /// When to stop.
    pub stop: Stop,
    /// Sweeps from one test of the residual to the next, 1 to [`Stop::MOST_UNSEEN`]. The tests are made on the device; at
    /// one of them a run ends. 1 for sweeps that do much, such as multigrid cycles.
    pub test_every: usize,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const StationaryParams:
    with_max_sweeps(max_sweeps: usize),
    with_stop(stop: Stop),
    with_test_every(test_every: usize),
    with_windows(windows: Windows),
);

impl Default for StationaryParams {
    fn default() -> Self {
        let (stop, windows) = (Stop::default(), Windows::Balanced);
        StationaryParams { max_sweeps: 20_000, stop, test_every: 8, windows }
    }
}

/// A stationary method `x ← x + M (b - A x)`, around any [`Smoother`]: weighted Jacobi, Gauss-Seidel, SOR, multigrid.
///
/// *Cost* of a sweep: the smoother's ([`SolveReport::draws_per_iteration`]). Of a test, at every
/// [`test_every`](StationaryParams::test_every)-th: a product, a reduction, a copy (and
/// [`project_out`](crate::solve::project_out) if there is a null space). No readback.
///
/// [`Diverged`](crate::solve::StopReason::Diverged) when the residual has grown to 10⁴ times its smallest, or has left the
/// range of floats; [`Stagnated`](crate::solve::StopReason::Stagnated) also when sweeps no longer change more than the last
/// digits of `x`. See [numerics](crate::guide::numerics).
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{Stationary, StationaryParams, StopReason, WeightedJacobi}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 8, 8)?;
/// let b = Vector::filled(dev, 64, 1.0)?;
/// let mut x = Vector::zeros(dev, 64)?; // initial guess in, solution out
/// let jacobi = WeightedJacobi::new(&a, 1.0)?;
/// let report = Stationary::new(&a, &jacobi, StationaryParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.true_residual <= 1e-5);
/// // The spectral radius of Jacobi is cos(π / 9).
/// assert!((150..=200).contains(&report.iterations));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Stationary<'a> {
    a: &'a dyn LinOp,
    smoother: &'a dyn Smoother,
    params: StationaryParams,
}

shown!(Stationary<'_>, |s| "Stationary({}, {:?})", s.a.shape(), s.params);

const OP: &str = "Stationary";

impl<'a> Stationary<'a> {
    /// A solver.
    ///
    /// *Errors*: [`Error::Matrix`] when `a` is not square; [`Error::Parameter`].
    pub fn new(a: &'a dyn LinOp, smoother: &'a dyn Smoother, params: StationaryParams) -> Result<Self> {
        params.stop.check(OP)?;
        check_count(OP, "max_sweeps", params.max_sweeps)?;
        if !(1..=Stop::MOST_UNSEEN).contains(&params.test_every) {
            let (name, value) = ("test_every", params.test_every.to_string());
            let expected = "1 to 1000 sweeps between two tests";
            return Err(Error::Parameter { op: OP, name, value, expected });
        }
        check_square(OP, a)?;
        Ok(Stationary { a, smoother, params })
    }

    /// Solves `A x = b`, from the initial guess in `x`. For an operator with a [null space](LinOp::null_space), the
    /// solution is the one orthogonal to it.
    ///
    /// *Errors*: [`Error::ShapeMismatch`]; [`Error::NonFinite`]; [`Error::Inconsistent`] when `b` has a part in the null space; the
    /// smoother's. Not converging is no error: see [`SolveReport::reason`].
    pub fn solve(&self, x: &mut Vector, b: &Vector) -> Result<SolveReport> {
        self.solve_observed(x, b, |_, _| {})
    }

    /// As [`solve`](Self::solve), telling `observe` at every look how many sweeps are done and the relative residual.
    pub fn solve_observed(
        &self,
        x: &mut Vector,
        b: &Vector,
        mut observe: impl FnMut(usize, f64),
    ) -> Result<SolveReport> {
        let before = self.a.device().counters();
        let bound = Some(self.params.stop.relative);
        let (_scope, finite, projected) =
            front::asked("Stationary::solve", self.a, (x, b), bound, Small::BesideNorm)?;
        let mut run = Run::new(self, x, projected.as_ref().unwrap_or(b), finite.facts())?;
        finite.check()?;
        let report = run.solve(&mut observe)?;
        // Into the caller's texture, which the application may hold.
        times_power(x, -run.shift, run.kept.front())?;
        Ok(report.counted(self.a.device(), &before))
    }
}

/// A solve under way. Vectors are those of the system multiplied by `2^shift`, unless something else is said.
struct Run<'a> {
    a: &'a dyn LinOp,
    smoother: &'a dyn Smoother,
    params: StationaryParams,
    b: Vector,
    /// The right-hand side as the caller knows it, its norm, and by what residuals of it are scaled: those are certified.
    given: &'a Vector,
    norm_given: f64,
    scale: f32,
    /// The iterate in the units of the caller.
    unscaled: Vector,
    /// The iterate of the last test that counts, and the one that sweeps go on from.
    kept: PingPong<Vector>,
    x: Vector,
    r: Vector,
    reducer: Reducer,
    report: PingPong<Scalar>,
    /// (smallest r.r, sweep of the last progress).
    best: PingPong<Scalar>,
    shift: i32,
    /// `‖b‖` in these units.
    norm_b: f64,
    /// The iterate goes back to a start at zero.
    from_zero: bool,
    /// It is the start still.
    begins: bool,
    /// By what residuals and iterates are multiplied before they are squared.
    factors: [f32; 2],
    /// Sweeps done when this run began, and sent off since.
    begin: usize,
    sent: usize,
    threshold: f32,
    sweep: Cost,
}

impl<'a> Run<'a> {
    fn new(solver: &Stationary<'a>, x: &Vector, b: &'a Vector, given: &Facts) -> Result<Self> {
        let device = solver.a.device();
        let fresh = || Vector::uninit(device, b.len());
        let (mut r, mut from) = (fresh()?, start_in_range(solver.a, x)?);
        let projected = Facts::of_projected(solver.a, &from, b)?;
        let scales = Scales::find(solver.a, &mut from, b, projected.as_ref().unwrap_or(given), &mut r)?;
        // b becomes about 2^(e/2) and x about 2^(-e/2), so that both are in range whatever the matrix is.
        let e = exponent_of(solver.a)?;
        let shift = exponent(f64::from(scales.residual)) + e / 2;
        let (mut scaled_b, mut start) = (fresh()?, fresh()?);
        times_power(&mut scaled_b, shift, b)?;
        times_power(&mut start, shift, &from)?;
        let Scales { norm_b: mut norm_given, mut from_zero, residual: scale, .. } = scales;
        let mut norm_b = norm_given * f64::from(shift).exp2();
        if norm_given == 0.0 {
            // The solution of A x = 0 is known, and its residual is zero, whatever that is relative to.
            start.set_zero()?;
            (norm_b, norm_given, from_zero) = (1.0, 1.0, true);
        }
        let zeros = || Ok::<_, Error>(PingPong::new(Scalar::zero(device)?, Scalar::zero(device)?));
        Ok(Run {
            a: solver.a,
            smoother: solver.smoother,
            params: solver.params,
            b: scaled_b,
            given: b,
            norm_given,
            scale,
            unscaled: fresh()?,
            kept: PingPong::new(start, fresh()?),
            x: fresh()?,
            r,
            reducer: Reducer { device: device.clone(), windows: solver.params.windows },
            report: zeros()?,
            best: zeros()?,
            shift,
            norm_b,
            from_zero,
            begins: true,
            factors: [1.0, power(e - e / 2)],
            begin: 0,
            sent: 0,
            threshold: 0.0,
            sweep: Cost::default(),
        })
    }

    /// `‖b - A x‖ / ‖b‖` of the iterate that is kept, in double-float; infinite where that is out of range.
    ///
    /// What is certified is what the caller gets: first the iterate loses what it has no room for without the scale. And
    /// it is certified for what the caller has given: in the units of the sweeps `b` may have lost digits, or all of
    /// itself.
    fn true_residual(&mut self) -> Result<(f64, Accuracy)> {
        // A start has lost that part already.
        if !std::mem::take(&mut self.begins) {
            project_out(self.kept.front_mut(), self.a.null_space())?;
        }
        times_power(&mut self.unscaled, -self.shift, self.kept.front())?;
        if self.shift != 0 {
            times_power(self.kept.front_mut(), self.shift, &self.unscaled)?;
        }
        let terms = Accurate::residual(self.scale, self.given, &self.unscaled);
        let accuracy = ops::product_accurate(&mut self.r, self.a, terms)?;
        let facts = Facts::ask(self.kept.front(), &self.r)?;
        let norm = facts.norm(&self.r)?;
        Ok((if facts.is_finite()? { norm / self.unit() } else { f64::INFINITY }, accuracy))
    }

    /// By how much rounding may have changed that. *Cost*: waits.
    fn rounding(&self) -> Result<f64> {
        let terms = Accurate::residual(self.scale, self.given, &self.unscaled);
        Ok(norm_of_error(self.a, terms)? / self.unit())
    }

    /// The norm of the right-hand side, scaled as the residuals are that are certified.
    fn unit(&self) -> f64 {
        self.norm_given * f64::from(self.scale)
    }

    /// Sets sweeps going towards the residual `aim`, from one of `residual`, both relative.
    fn restart(&mut self, aim: f64, residual: f64, sweeps: usize) -> Result<()> {
        ops::copy(&mut self.x, self.kept.front())?;
        let norm = self.norm_b * residual;
        let unit = f64::from(-exponent(norm).clamp(-125, 125)).exp2();
        self.factors[0] = unit as f32;
        self.threshold = (self.norm_b * aim * unit).powi(2) as f32;
        let device = self.a.device();
        *self.report.front_mut() = Scalar::from_texel(device, [0.0, sweeps as f32, 0.0, 0.0])?;
        let rr = (norm * unit).powi(2) as f32;
        *self.best.front_mut() = Scalar::from_texel(device, [rr, sweeps as f32, 0.0, 0.0])?;
        (self.begin, self.sent) = (sweeps, 0);
        Ok(())
    }

    fn test(&mut self, count: usize) -> Result<()> {
        /// Tests without progress before sweeps can be called still.
        const PATIENCE: usize = 8;
        let device = self.a.device();
        // A large part in the null space would change no residual, and cost digits.
        project_out(&mut self.x, self.a.null_space())?;
        // r = b - A x
        ops::product(&mut self.r, Combine::SubtractFrom(&self.b), 1.0, self.a, &self.x)?;
        // r.r, s.s and x.x, where s = x - kept
        let sums = self
            .reducer
            .sum(Dots::Progress { factors: self.factors }, &[&self.r, &self.x, self.kept.front()])?;
        sums.left_to(Draw::new(device, glsl!("solve/test.frag")))
            .input("last", self.report.front().view())
            .input("best", self.best.front().view())
            .param("count", count as f32)
            .param("begin", self.begin as f32)
            .param("patience", PATIENCE.saturating_mul(self.params.test_every) as f32)
            .param("limit", self.params.max_sweeps as f32)
            .param("threshold", self.threshold)
            .targets([self.report.back().view(), self.best.back().view()])
            .run()?;
        // kept = x, unless the run has ended or that has left the range
        Draw::new(device, glsl!("solve/keep.frag"))
            .input("x", self.x.view())
            .input("kept", self.kept.front().view())
            .input("last", self.report.front().view())
            .input("report", self.report.back().view())
            .target(self.kept.back().view())
            .run()?;
        self.kept.swap();
        self.report.swap();
        self.best.swap();
        Ok(())
    }

    fn solve(&mut self, observe: &mut Observer<'_>) -> Result<SolveReport> {
        /// How far down one run goes: past that its squares come near the end of the range.
        const AT_ONCE: f64 = 1e-15;
        let StationaryParams { max_sweeps, stop, test_every, .. } = self.params;
        let mut work = Work::default();
        let (mut sweeps, mut runs, mut fell_short) = (0, 0, 0);
        let mut flag = Flag::Running;
        let mut best = Best::default();
        loop {
            let (mut residual, accuracy) = self.true_residual()?;
            if work.history.is_empty() {
                work.history.push((0, residual));
            }
            let stuck = flag == Flag::Stalled || fell_short > 1 && best.is_hardly_beaten_by(residual);
            let mut hidden = !residual.is_finite();
            let mut rounded = None;
            if hidden {
                flag = Flag::OutOfRange;
            } else if (residual <= stop.relative || stuck) && accuracy == Accuracy::DoubleFloat {
                let rounding = self.rounding()?;
                rounded = Some(rounding);
                residual += counted(rounding, stop.relative);
                hidden = hides(rounding, stop.relative);
            }
            if hidden && !self.from_zero {
                best.offer(residual, None, self.kept.front())?;
                self.from_zero = true;
                self.kept.front_mut().set_zero()?;
                (flag, fell_short) = (Flag::Running, 0);
                continue;
            }
            let standing = Standing {
                met: residual <= stop.relative,
                bound: stop.relative,
                least: LEAST_BOUND,
                accuracy,
                flag,
                exhausted: sweeps >= max_sweeps,
                stuck,
            };
            if let Some(reason) = standing.verdict() {
                let residuals = best.or_last(residual, None, self.kept.front_mut());
                let report = work.report(reason, sweeps, residuals, runs, self.sweep);
                return Ok(SolveReport { rounding: rounded.filter(|_| standing.met), ..report });
            }
            best.offer(residual, None, self.kept.front())?;
            // Residuals of 32 bits that fall short of the truth call for a closer aim.
            let wanted = stop.relative * 0.5f64.powi(fell_short);
            let aim = wanted.max(residual * AT_ONCE);
            self.restart(aim, residual, sweeps)?;
            let tests = (max_sweeps - sweeps).div_ceil(test_every);
            let course = Course { every: stop.every, begin: sweeps, most: tests, aim: Some(aim) };
            let last = run_until_frozen(self, course, &mut work, observe)?;
            let last = Report::from_texel(&last);
            (sweeps, flag) = (last.iterations, last.flag);
            fell_short += i32::from(flag == Flag::Met && aim == wanted);
            runs += usize::from(flag == Flag::Met);
        }
    }
}

impl Iterated for Run<'_> {
    fn device(&self) -> &Device {
        self.a.device()
    }

    /// The sweeps up to the next test, and that.
    fn iterate(&mut self) -> Result<()> {
        let left = self.params.max_sweeps.saturating_sub(self.begin + self.sent);
        let count = self.params.test_every.min(left.max(1));
        let before = self.a.device().counters();
        // x = x + M (b - A x), count times
        keeping("Smoother::smooth", &mut self.x, |x| self.smoother.smooth(x, &self.b, count))?;
        let spent = self.a.device().counters().since(&before);
        let share = |all: u64| all / count as u64;
        self.sweep = Cost { draws: share(spent.draws), passes: share(spent.passes) };
        self.sent += count;
        self.test(count)
    }

    fn look(&self) -> Result<PendingRead> {
        self.report.front().read_texel_async()
    }

    fn seen(&self, texels: &[f32]) -> Seen {
        let report = Report::from_texel(texels);
        let residual = f64::from(report.rr).sqrt() / (self.norm_b * f64::from(self.factors[0]));
        let iterations = report.iterations;
        Seen { iterations, residual: (iterations, residual), frozen: report.flag != Flag::Running }
    }

    fn steps(&self) -> usize {
        self.params.test_every
    }
}
