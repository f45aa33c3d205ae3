//! Stationary methods: sweeps of a smoother until the residual is small.

mod gauss_seidel;
mod nine_band;
mod smoother;
mod sweep;

pub use gauss_seidel::{Direction, GaussSeidel, MOST_COLOURS, Sweepable};
pub use nine_band::{
    JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep, NineBandJacobi, NineBandSmoother,
};
#[cfg(feature = "sim")]
pub(crate) use smoother::JacobiWeights;
pub use smoother::{Smoother, WeightedJacobi};
pub(in crate::solve) use sweep::{Sweep, Sweeper, prefers_one_pass};

use std::ops::{Deref, DerefMut};

use crate::data::{PendingRead, Scalar, Unknowns, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Combine, LinOp, Windows, keeping};
use crate::solve::drive::check::{check_count, check_square};
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::execute::{Executor, execute};
use crate::solve::drive::finite::Small;
use crate::solve::drive::front::{self, Solver};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::looks::{Cost, Course, Iterated, Observer, Seen, Work, run_until_frozen};
use crate::solve::drive::null_space::project_out;
use crate::solve::drive::report::{Components, HistoryPoint, ResidualKind, SolveReport, Stop};
use crate::solve::drive::scales::{exponent_of, power, times_power};
use crate::solve::drive::slices::Stopwatch;
use crate::solve::drive::state::{Flag, Report};
use crate::solve::drive::unknown::Iterand;
use crate::solve::drive::verdict::Kept;
use crate::solve::judge::{
    AT_ONCE_OF_PAIRS, After, Event, Judge, Measured, Order, Policy, Ran, Sweeps, Terms,
};
use crate::solve::solving::Solving;

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
#[derive(Clone)]
pub struct Stationary<A, S> {
    a: A,
    smoother: S,
    params: StationaryParams,
}

shown!([A: LinOp, S] Stationary<A, S>, |s| "Stationary({}, {:?})", s.a.shape(), s.params);

const OP: &str = "Stationary";

/// How far down one run goes: past that its squares come near the end of the range.
const AT_ONCE: f64 = 1e-15;

impl<A: LinOp, S: Smoother> Stationary<A, S> {
    /// A solver, for an operator and a smoother that are borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Errors*: [`Error::Matrix`] when `a` is not square; [`Error::Parameter`].
    pub fn new(a: A, smoother: S, params: StationaryParams) -> Result<Self> {
        params.check(&a)?;
        Ok(Stationary { a, smoother, params })
    }

    /// Returns the operator.
    pub fn operator(&self) -> &A {
        &self.a
    }

    /// Returns the smoother.
    pub fn smoother(&self) -> &S {
        &self.smoother
    }

    /// Solves `A x = b`, from the initial guess in `x`. For an operator with a [null space](crate::solve::LinOp::null_space), the
    /// solution is the one orthogonal to it. Not converging is no error: see [`SolveReport::reason`].
    ///
    /// Of [pairs](crate::DoubleVector) sweeps improve a correction of 32 bits, `x ← x + y` with `A y = b - A x`, and what they
    /// leave of the residual is recomputed whenever it has fallen tenfold: *cost* two [products in three
    /// floats](crate::ops::ExactSum) and a number waited for.
    ///
    /// # Errors
    ///
    /// [`Error::ShapeMismatch`]; [`Error::NonFinite`]; [`Error::Inconsistent`] when `b` has a part in the null space;
    /// [`Error::Unsupported`] for pairs where the operator has no [`accumulate`](crate::solve::LinOp::accumulate), where the
    /// device has no exact two-sum, and for a `b` of pairs with an `x` of 32 bits; the smoother's. `x` is then as it was.
    pub fn solve<X: Unknowns, B: Unknowns>(&self, x: &mut X, b: &B) -> Result<SolveReport> {
        self.solve_observed(x, b, |_| {})
    }

    /// Solves as [`solve`](Self::solve) does, and calls `observe` at every poll with the number of
    /// sweeps and the relative residual.
    pub fn solve_observed<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        mut observe: impl FnMut(HistoryPoint),
    ) -> Result<SolveReport> {
        front::run(self, x, b, &mut observe)
    }

    /// Begins the same solve, to be advanced a [slice](crate::solve::Slice) at a time: see
    /// [`Krylov::begin`](crate::solve::Krylov::begin).
    pub fn begin<'s, X, B>(&self, x: X, b: B) -> Solving<'s, X, SolveReport>
    where
        Self: Clone + 's,
        X: DerefMut<Target: Unknowns + Sized> + 's,
        B: Deref<Target: Unknowns + Sized> + 's,
    {
        front::begin(self.a.device(), self.clone(), x, b)
    }
}

impl<A: LinOp, S: Smoother> Solver for Stationary<A, S> {
    type Report = SolveReport;

    async fn solving<X: Unknowns, B: Unknowns>(
        &self,
        x: &mut X,
        b: &B,
        observe: &mut Observer<'_>,
    ) -> Result<SolveReport> {
        solve((&self.a, &self.smoother), self.params, (x, b), observe).await
    }
}

impl StationaryParams {
    fn check(&self, a: &dyn LinOp) -> Result<()> {
        self.stop.check(OP)?;
        check_count(OP, "max_sweeps", self.max_sweeps)?;
        if !(1..=Stop::MOST_UNSEEN).contains(&self.test_every) {
            let (name, value) = ("test_every", self.test_every.to_string());
            let expected = "1 to 1000 sweeps between two tests";
            return Err(Error::Parameter { op: OP, name, value, expected });
        }
        check_square(OP, a)
    }
}

/// A whole solve, whatever the types of operator and smoother are.
async fn solve(
    (a, smoother): (&dyn LinOp, &dyn Smoother),
    params: StationaryParams,
    (x, b): (&mut impl Unknowns, &impl Unknowns),
    observe: &mut Observer<'_>,
) -> Result<SolveReport> {
    let bound = (params.stop.relative, true);
    front::iterated("Stationary::solve", (a, x, b), bound, Small::BesideNorm, async |at, finite| {
        let run = Run::new(smoother, params, at)?;
        run.at.lost = finite.check().await?;
        Solve::new(run).solve(observe).await
    })
    .await
}

/// A solve under way. Sweeps have units of their own: of 32 bits they are those of the caller times `2^shift`, and sweeps go on
/// from the iterate; of pairs they are made for `A y = b - A x` from zero, in units that change with the residual.
struct Run<'r, 'a> {
    /// What is certified, in the units of the caller.
    at: &'r mut Iterate<'a>,
    smoother: &'r dyn Smoother,
    params: StationaryParams,
    /// What sweeps have for a right-hand side.
    b: Vector,
    /// The iterate of the last test that counts, and the one that sweeps go on from.
    kept: PingPong<Vector>,
    x: Vector,
    reducer: Reducer,
    report: PingPong<Scalar>,
    /// (smallest r.r, sweep of the last progress).
    best: PingPong<Scalar>,
    /// Of the matrix.
    exponent: i32,
    shift: i32,
    /// By what residuals and iterates are multiplied before they are squared.
    factors: [f32; 2],
    /// Sweeps done when this run began, and sent off since.
    begin: usize,
    sent: usize,
    threshold: f32,
    sweep: Cost,
}

impl<'r, 'a> Run<'r, 'a> {
    fn new(smoother: &'r dyn Smoother, params: StationaryParams, at: &'r mut Iterate<'a>) -> Result<Self> {
        let device = at.a.device().clone();
        let n = at.b.len();
        let fresh = || Vector::uninit(&device, n);
        // b becomes about 2^(e/2) and x about 2^(-e/2), so that both are in range whatever the matrix is.
        let e = exponent_of(at.a)?;
        let shift = exponent(f64::from(at.scale)) + e / 2;
        let (mut b, mut start) = (fresh()?, fresh()?);
        if !at.is_double() {
            times_power(&mut b, shift, at.b)?;
            times_power(&mut start, shift, &at.x.high)?;
        }
        let zeros = || Ok::<_, Error>(PingPong::new(Scalar::zero(&device)?, Scalar::zero(&device)?));
        Ok(Run {
            smoother,
            params,
            b,
            kept: PingPong::new(start, fresh()?),
            x: fresh()?,
            reducer: Reducer::new(&device, params.windows),
            report: zeros()?,
            best: zeros()?,
            exponent: e,
            shift,
            factors: [1.0, power(e - e / 2)],
            begin: 0,
            sent: 0,
            threshold: 0.0,
            sweep: Cost::default(),
            at,
        })
    }

    /// Hands what sweeps have come to on to the iterate.
    ///
    /// What is certified is what the caller gets: an iterate of 32 bits loses what it has no room for without the scale. And
    /// it is certified for what the caller has given: in the units of the sweeps `b` may have lost digits, or all of
    /// itself.
    fn gather_up(&mut self) -> Result<()> {
        let kept = self.kept.front_mut();
        project_out(kept, self.at.a.null_space())?;
        if self.at.is_double() {
            let mut y = Vector::uninit(kept.device(), kept.len())?;
            times_power(&mut y, -self.shift, kept)?;
            self.at.x.add(&y, None)?;
            return project_out(&mut self.at.x, self.at.a.null_space());
        }
        times_power(&mut self.at.x.high, -self.shift, kept)?;
        if self.shift != 0 {
            times_power(kept, self.shift, &self.at.x.high)?;
        }
        Ok(())
    }

    /// The norm of the caller's `b` in the units of the sweeps.
    fn norm_b(&self) -> f64 {
        self.at.norm_b * f64::from(self.shift).exp2()
    }

    /// Sets sweeps going towards the residual `aim`, from one of `residual`, both relative.
    fn restart(&mut self, aim: f64, residual: f64, sweeps: usize) -> Result<()> {
        if self.at.is_double() {
            let e = self.exponent / 2 - exponent(residual * self.at.unit());
            times_power(&mut self.b, e, self.at.r.front())?;
            self.shift = exponent(f64::from(self.at.scale)) + e;
            self.kept.front_mut().set_zero()?;
        }
        ops::copy(&mut self.x, self.kept.front())?;
        let norm = self.norm_b() * residual;
        let unit = f64::from(-exponent(norm).clamp(-125, 125)).exp2();
        self.factors[0] = unit as f32;
        self.threshold = (self.norm_b() * aim * unit).powi(2) as f32;
        let device = self.at.a.device();
        *self.report.front_mut() = Scalar::from_texel(device, [0.0, sweeps as f32, 0.0, 0.0])?;
        let rr = (norm * unit).powi(2) as f32;
        *self.best.front_mut() = Scalar::from_texel(device, [rr, sweeps as f32, 0.0, 0.0])?;
        (self.begin, self.sent) = (sweeps, 0);
        Ok(())
    }

    fn test(&mut self, count: usize) -> Result<()> {
        /// Tests without progress before sweeps can be called still.
        const PATIENCE: usize = 8;
        let Iterate { a, r, .. } = &mut *self.at;
        let (device, r) = (a.device(), r.front_mut());
        // A large part in the null space would change no residual, and cost digits.
        project_out(&mut self.x, a.null_space())?;
        // r = b - A x
        ops::product(r, Combine::SubtractFrom(&self.b), 1.0, *a, &self.x)?;
        // r.r, s.s and x.x, where s = x - kept
        let sums =
            self.reducer.sum(Dots::Progress { factors: self.factors }, &[&*r, &self.x, self.kept.front()])?;
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
}

/// Sweeps that carry out what their judge orders.
struct Solve<'r, 'a> {
    run: Run<'r, 'a>,
    work: Work,
    clock: Stopwatch,
    /// The best iterate so far.
    copy: Option<Iterand>,
    /// Sweeps of all runs, and the residual that was recomputed last.
    sweeps: usize,
    residual: f64,
}

impl<'r, 'a> Solve<'r, 'a> {
    fn new(run: Run<'r, 'a>) -> Self {
        Solve {
            run,
            work: Work::default(),
            clock: Stopwatch::start(),
            copy: None,
            sweeps: 0,
            residual: f64::INFINITY,
        }
    }

    async fn solve(mut self, observe: &mut Observer<'_>) -> Result<SolveReport> {
        let Run { at, params, .. } = &self.run;
        let pairs = at.is_double();
        let at_once = if pairs { AT_ONCE_OF_PAIRS } else { AT_ONCE };
        let terms = Terms {
            bound: params.stop.relative,
            least: at.least_bound(),
            max_iters: params.max_sweeps,
            from_zero: at.from_zero,
            restarts: true,
            far: f64::MAX,
            zero_solves: false,
            reports_rounding: true,
            components: Some(Components::LEAST),
            policy: Policy::Sweeps(Sweeps { pairs, at_once, forgives: false }),
        };
        let verdict = execute(Judge::new(terms), &mut self, observe).await?;
        Ok(self.work.report(verdict, self.run.sweep, observe))
    }

    async fn recompute(&mut self, observe: &mut Observer<'_>) -> Result<Event> {
        let at = &mut *self.run.at;
        let (norm, accuracy) = at.recomputed().await?;
        self.residual = norm / at.unit();
        self.work.certified(self.sweeps, self.residual, observe);
        Ok(Event::Residual(Measured { own: self.residual, other: None, accuracy }))
    }

    async fn run(&mut self, aim: f64, observe: &mut Observer<'_>) -> Result<Event> {
        let Solve { run, work, sweeps: begin, .. } = self;
        let StationaryParams { max_sweeps, stop, test_every, .. } = run.params;
        run.restart(aim, self.residual, *begin)?;
        let most = (max_sweeps - *begin).div_ceil(test_every);
        let clock = (self.clock, stop.within);
        let course = Course { every: stop.every, begin: *begin, most, aim: Some(aim), clock };
        let last = run_until_frozen(run, course, work, observe).await?;
        let Report { flag, iterations, .. } = Report::from_texel(&last.texels);
        run.gather_up()?;
        self.sweeps = iterations;
        let flag = last.flag(flag);
        Ok(Event::Ended(Ran { flag, iterations, recurrence: aim, after: After::Judge }))
    }
}

impl Executor for Solve<'_, '_> {
    async fn carry_out(&mut self, order: Order, observe: &mut Observer<'_>) -> Result<Event> {
        let at = &mut *self.run.at;
        match order {
            Order::Recompute => return self.recompute(observe).await,
            Order::Certify => return Ok(Event::Rounding(at.rounding(self.residual).await?)),
            Order::Components(most) => return Ok(Event::Components(at.components(most).await?)),
            Order::Run(run) => return self.run(run.aim, observe).await,
            Order::Keep => self.copy = Some(at.x.copied()?),
            Order::TakeBack => self.copy.take().into_iter().for_each(|copy| at.put(copy)),
            Order::FromZero => {
                at.x.set_zero()?;
                self.run.kept.front_mut().set_zero()?;
            }
            // Of recurrences, and of methods with two residuals.
            Order::Back | Order::Widen | Order::CertifyOther | Order::End(_) => {}
        }
        Ok(Event::Done)
    }
}

impl Iterated for Run<'_, '_> {
    fn device(&self) -> &Device {
        self.at.a.device()
    }

    /// The sweeps up to the next test, and that.
    fn iterate(&mut self) -> Result<()> {
        let left = self.params.max_sweeps.saturating_sub(self.begin + self.sent);
        let count = self.params.test_every.min(left.max(1));
        let before = self.at.a.device().counters();
        // x = x + M (b - A x), count times
        keeping("Smoother::smooth", &mut self.x, |x| self.smoother.smooth(x, &self.b, count))?;
        let spent = self.at.a.device().counters().since(&before);
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
        let residual = f64::from(report.rr).sqrt() / (self.norm_b() * f64::from(self.factors[0]));
        let iterations = report.iterations;
        let residual = HistoryPoint::new(iterations, residual, ResidualKind::Recurrence);
        Seen { iterations, residual, frozen: report.flag != Flag::Running }
    }

    fn steps(&self) -> usize {
        self.params.test_every
    }

    /// Runs of so few sweeps have none to spare.
    fn dear(&self) -> bool {
        self.at.is_double() && self.params.test_every == 1
    }
}
