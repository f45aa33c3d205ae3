//! BiCGStab for systems that are not symmetric.

mod two;

use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::gl::{Source, glsl};
use crate::kernel::{Draw, Operand, PingPong, View};
use crate::ops::reduce::Partial;
use crate::ops::{self, Accuracy, Combine, LinOp, Windows};
use crate::solve::drive::check::check_square;
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::null_space::project_out;
use crate::solve::drive::report::Stop;
use crate::solve::drive::state::{Bounds, Flag, Report};
use crate::solve::drive::{After, KEPT_GROWTH, Method};
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner};

/// Parameters of [`BiCgStab`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BiCgStabParams {
    /// Most iterations, less than 2²⁴. Each has two products, of BiCGStab(2) four.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// Degree of the polynomial that an iteration makes the residual least by: 1, or 2 for BiCGStab(2).
    pub ell: usize,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const BiCgStabParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_ell(ell: usize),
    with_windows(windows: Windows),
);

impl Default for BiCgStabParams {
    fn default() -> Self {
        BiCgStabParams { max_iters: 20_000, stop: Stop::default(), ell: 1, windows: Windows::Balanced }
    }
}

/// BiCGStab (H. van der Vorst, 1992) for square systems that need not be symmetric, entirely in textures.
///
/// The preconditioner stands on the right, `A M y = b`, `x = M y`, so that residuals are those of the system itself; it
/// need not be symmetric or definite. Where the second half of an iteration would hardly reduce the residual, ω is kept
/// from sinking (G. Sleijpen, H. van der Vorst, *Maintaining convergence properties of BiCGstab methods in finite
/// precision arithmetic*, Numer. Algorithms 10, 1995). Residuals are replaced on the way down and certified at the end
/// as those of [`ConjugateGradient`](crate::solve::ConjugateGradient) are: see [numerics](crate::guide::numerics).
///
/// [`ell`](BiCgStabParams::ell) of 2 is BiCGStab(2) (G. Sleijpen, D. Fokkema, *BiCGstab(ℓ) for linear equations involving unsymmetric
/// matrices with complex spectrum*, ETNA 1, 1993): a polynomial of the first degree has a real zero, and leaves the residual as it is
/// where eigenvalues are imaginary or nearly so, as those of advection are; one of the second degree may have two complex ones.
///
/// *Breakdowns*: when the shadow residual is orthogonal, within rounding, to the residual or to what the direction is
/// mapped to, a flag ends the run, and the method starts afresh from there with the residual for a shadow. If a run has not
/// reduced the residual, or has enlarged it ten thousandfold, the next one starts where it did, with a shadow of random
/// numbers; the third of these that leads to nothing ends it: [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown), or
/// [`Diverged`](crate::solve::StopReason::Diverged).
///
/// *Cost* of an iteration: two products, two applications of the preconditioner, two reductions of four sums each, and
/// two passes for the vectors; no readback. Of BiCGStab(2): four, four, five, and four passes.
///
/// # Errors
///
/// - [`new`](Krylov::new) and [`preconditioned`](Krylov::preconditioned): [`Error::Matrix`] when `a` is not
///   square; [`Error::Parameter`].
/// - [`solve`](Krylov::solve): no others.
///
/// # Examples
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::{BiCgStab, BiCgStabParams, StopReason}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Diffusion with a strong wind from the left.
/// let mut t = Triplets::new(texla::Shape::new(50, 50));
/// for i in 0..50 {
///     t.push(i, i, 3.0)?;
///     if i > 0 { t.push(i, i - 1, -2.0)?; t.push(i - 1, i, -1.0)?; }
/// }
/// let a = BandedMatrix::from_triplets(dev, &t)?;
/// let b = Vector::filled(dev, 50, 1.0)?;
/// let mut x = Vector::zeros(dev, 50)?; // initial guess in, solution out
/// let report = BiCgStab::new(&a, BiCgStabParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.true_residual <= 1e-5, "{report:?}");
/// assert!(report.iterations < 80, "{report:?}");
/// assert_eq!(report.readbacks_in_loop, 0);
/// # Ok::<(), texla::Error>(())
/// ```
pub type BiCgStab<A, P = Identity> = Krylov<BiCgStabParams, A, P>;

impl KrylovMethod for BiCgStabParams {
    const NAME: &'static str = "BiCgStab";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, a: &dyn LinOp, _: &dyn Preconditioner) -> Result<()> {
        let op = Self::NAME;
        if !(1..=2).contains(&self.ell) {
            let (value, expected) = (self.ell.to_string(), "1, or 2 for BiCGStab(2)");
            return Err(Error::Parameter { op, name: "ell", value, expected });
        }
        check_square(op, a)
    }
}

impl Runs for BiCgStabParams {
    const SOLVE: &'static str = "BiCgStab::solve";
    type Run<'r> = Run<'r>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Run<'r>> {
        Run::new(solver, at)
    }
}

/// The vectors of a solve, named as in the paper but for the shadow residual `h` and `mp = M p`, `ms = M s`.
pub(in crate::solve) struct Run<'a> {
    m: &'a dyn Preconditioner,
    p: PingPong<Vector>,
    v: Vector,
    s: Vector,
    t: Vector,
    h: Vector,
    mp: Option<Vector>,
    ms: Option<Vector>,
    /// Of BiCGStab(2) of two vectors more.
    ell: usize,
    mu: Option<Vector>,
    mt: Option<Vector>,
    reducer: Reducer,
    coefficients: PingPong<Scalar>,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// Norm of the true residual, scaled, and the squared norm of `h`.
    norm_r: f64,
    shadow: f64,
    /// Least relative residual that was certified, and at the breakdown before; the iteration at which the run began.
    least: f64,
    before: f64,
    begin: usize,
    /// Shadows that have led to nothing since the last one that did, and whether the run has kept its shadow and direction.
    tries: i32,
    kept: bool,
    /// Breakdowns in a row that came before the residual had fallen.
    fruitless: usize,
}

impl<'a> Run<'a> {
    fn new(solver: Parts<'a, BiCgStabParams>, at: &Iterate<'_>) -> Result<Self> {
        let (m, ell) = (solver.m, solver.params.ell);
        let device = at.a.device();
        let more = || if ell == 1 { Ok(None) } else { m.room(&at.x.high) };
        let fresh = || Vector::uninit(device, at.b.len());
        let pair = || Ok::<_, Error>(PingPong::new(Scalar::zero(device)?, Scalar::zero(device)?));
        Ok(Run {
            m,
            p: PingPong::new(fresh()?, fresh()?),
            v: fresh()?,
            s: fresh()?,
            t: fresh()?,
            h: fresh()?,
            mp: m.room(&at.x.high)?,
            ms: m.room(&at.x.high)?,
            ell,
            mu: more()?,
            mt: more()?,
            reducer: Reducer::new(device, solver.params.windows),
            coefficients: pair()?,
            report: pair()?,
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            norm_r: 0.0,
            shadow: 1.0,
            least: f64::MAX,
            before: f64::MAX,
            begin: 0,
            tries: 0,
            fruitless: 0,
            kept: false,
        })
    }

    /// A scalar step: of new coefficients and a new report from sums and those before what all of them read.
    fn told<'s>(&'s self, source: Source<'static>, sums: &'s Partial) -> Draw<'s> {
        sums.left_to(Draw::new(&self.reducer.device, source))
            .input("last", self.report.front().view())
            .param("threshold", self.bounds.threshold)
            .param("shadow", self.shadow as f32)
    }

    /// The first one of an iteration.
    fn first_step(&mut self, sums: &Partial) -> Result<()> {
        self.told(glsl!("solve/bicg_alpha.frag"), sums)
            .param("ceiling", self.bounds.ceiling)
            .param("limit", self.bounds.limit as f32)
            .targets(self.stepped())
            .run()?;
        self.step();
        Ok(())
    }

    /// One that goes on from the coefficients before.
    fn next_step(&mut self, source: Source<'static>, sums: &Partial) -> Result<()> {
        let draw = self.told(source, sums).input("coefficients", self.coefficients.front().view());
        draw.targets(self.stepped()).run()?;
        self.step();
        Ok(())
    }

    /// Where a scalar step leaves what it finds.
    fn stepped(&self) -> [View<'_>; 2] {
        [self.coefficients.back().view(), self.report.back().view()]
    }

    fn step(&mut self) {
        self.coefficients.swap();
        self.report.swap();
    }

    /// `s = r - alpha v`.
    fn half(&self, r: &Vector) -> Result<()> {
        Draw::new(&self.reducer.device, glsl!("solve/bicg_half.frag"))
            .input("r", r.view())
            .input("v", self.v.view())
            .input("coefficients", self.coefficients.front().view())
            .target(self.s.view())
            .run()
    }

    /// The updates of y, r and p, in one pass where the device has the draw buffers.
    fn update(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let device = &self.reducer.device;
        let at_once = device.gl().caps.borrow().max_draw_buffers >= 3;
        let (y, r, p) = (at.y.front(), at.r.front(), self.p.front());
        let (mp, ms) = (self.mp.as_ref().unwrap_or(p), self.ms.as_ref().unwrap_or(&self.s));
        let named: [(&'static str, &dyn Operand); 9] = [
            ("y", y),
            ("r", r),
            ("p", p),
            ("v", &self.v),
            ("s", &self.s),
            ("t", &self.t),
            ("mp", mp),
            ("ms", ms),
            ("coefficients", self.coefficients.front()),
        ];
        // Compilers drop what a part does not read, and a pass may bind it all the same.
        let x_scale = at.x_scale();
        let run = |part: u32, targets: &[&Vector]| {
            let draw = Draw::new(device, glsl!("solve/bicg_update.frag")).define("PART", part);
            let draw = named.iter().fold(draw, |draw, (name, v)| draw.input(*name, v.view()));
            draw.param("factor", x_scale).targets(targets.iter().map(|t| t.view())).run()
        };
        let targets = [at.y.back(), at.r.back(), self.p.back()];
        if at_once {
            run(3, &targets)?;
        } else {
            targets.iter().zip(0..).try_for_each(|(target, part)| run(part, &[target]))?;
        }
        at.y.swap();
        at.r.swap();
        self.p.swap();
        Ok(())
    }

    /// Chooses the shadow residual of a fresh start.
    fn cast_shadow(&mut self, r: &Vector) -> Result<()> {
        if self.tries == 0 {
            self.shadow = self.norm_r * self.norm_r;
            return ops::copy(&mut self.h, r);
        }
        // The mean square of numbers from 1/2 to 3/2.
        self.shadow = r.len() as f64 * 13.0 / 12.0;
        Draw::new(&self.reducer.device, glsl!("solve/shadow.frag"))
            .param("seed", self.tries)
            .masked(true)
            .target(self.h.view())
            .run()
    }
}

impl Method for Run<'_> {
    const NAME: &'static str = "BiCGStab";
    const GROWTH: f64 = 1e4;

    async fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        let (norm, accuracy) = at.true_residual().await?;
        let relative = norm / at.unit();
        (self.norm_r, self.least) = (norm, self.least.min(relative));
        Ok((relative, accuracy))
    }

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()> {
        (self.bounds, self.begin) = (bounds, iterations);
        let report = [0.0, iterations as f32, 0.0, 0.0];
        *self.report.front_mut() = Scalar::from_texel(&self.reducer.device, report)?;
        self.kept = keep && !at.take_rescaled();
        if self.kept {
            return project_out(self.p.front_mut(), at.a.null_space());
        }
        self.cast_shadow(at.r.front())?;
        ops::copy(self.p.front_mut(), at.r.front())
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let (a, scale) = (at.a, at.matrix_scale);
        // v = A M p
        let mp = self.m.preconditioned(&mut self.mp, self.p.front())?;
        ops::product(&mut self.v, Combine::Replace, scale, a, mp)?;
        // alpha = h.r / h.v
        let sums = self.reducer.sum(Dots::Alpha, &[&self.h, &self.v, at.r.front()])?;
        self.first_step(&sums)?;
        // s = r - alpha v
        self.half(at.r.front())?;
        // t = A M s
        let ms = self.m.preconditioned(&mut self.ms, &self.s)?;
        ops::product(&mut self.t, Combine::Replace, scale, a, ms)?;
        if self.ell == 2 {
            return self.second(at);
        }
        // omega = t.s / t.t, beta = -h.t / h.v
        let sums = self.reducer.sum(Dots::Omega, &[&self.t, &self.s, &self.h])?;
        self.next_step(glsl!("solve/bicg_omega.frag"), &sums)?;
        // y = y + alpha M p + omega M s, r = s - omega t, p = r + beta (p - omega v)
        self.update(at)
    }

    fn report(&self) -> &Scalar {
        self.report.front()
    }

    fn tests_before_updating(&self) -> bool {
        true
    }

    fn dear(&self) -> bool {
        self.m.is_dear()
    }

    fn after(&mut self, at: &mut Iterate<'_>, last: &Report) -> Result<After> {
        /// Shadows of random numbers that are tried after the residual's own.
        const TRIES: i32 = 3;
        /// A residual that has fallen by a fiftieth is progress; so many breakdowns in a row without any are the end.
        const PROGRESS: f64 = 0.98;
        const MOST_FRUITLESS: usize = 64;
        const NONE_LEFT: &str = "more than 1e-6 either way, or it is rounding: no shadow residual h leads on";
        let quantity = match last.flag {
            Flag::Shadow => "cos(h, r)",
            Flag::ShadowDirection => "cos(h, AMp)",
            Flag::OutOfRange => "r.r",
            Flag::Curvature => {
                let expected = "more than 0: the matrix or the preconditioner is singular";
                return Ok(After::End(last.broken("|AMs|²", expected)));
            }
            _ => {
                self.tries = 0;
                return Ok(After::Judge);
            }
        };
        let idle = last.iterations <= self.begin;
        let worth_keeping = f64::from(last.rr).sqrt() <= KEPT_GROWTH * self.least * at.unit();
        if last.flag != Flag::OutOfRange && !idle && worth_keeping {
            // Afresh from where the run has come to, unless runs go on leading nowhere.
            // By what was certified since: the recurrence of a singular matrix may say that it falls, and fall again.
            let fallen = self.least <= PROGRESS * std::mem::replace(&mut self.before, self.least);
            self.fruitless = if fallen { 0 } else { self.fruitless + 1 };
            if self.fruitless > MOST_FRUITLESS {
                return Ok(After::End(last.broken(quantity, NONE_LEFT)));
            }
            self.tries = 0;
            return Ok(After::Afresh);
        }
        // Back to where it began, with another shadow unless it had kept an old one.
        at.discard()?;
        self.tries += i32::from(!self.kept);
        if self.tries <= TRIES {
            return Ok(After::Afresh);
        }
        if last.flag == Flag::OutOfRange {
            return Ok(After::Judge);
        }
        Ok(After::End(last.broken(quantity, NONE_LEFT)))
    }
}
