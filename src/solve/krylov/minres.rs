//! MINRES for symmetric systems that need not be definite.

use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Accuracy, Combine, LinOp, Windows};
use crate::solve::drive::check::{check_square, check_symmetric};
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::drive::state::{Bounds, Flag, Report};
use crate::solve::drive::{After, Method, SPELL};
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner, check_definite};

/// Parameters of [`Minres`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MinresParams {
    /// Most iterations, less than 2²⁴. Each has one product.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const MinresParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_windows(windows: Windows),
);

impl Default for MinresParams {
    fn default() -> Self {
        MinresParams { max_iters: 20_000, stop: Stop::default(), windows: Windows::Balanced }
    }
}

/// MINRES (C. Paige, M. Saunders, 1975) for symmetric systems that need not be positive definite, entirely in textures.
///
/// Of all `x` in `x0 + M K`, with the Krylov space `K` of `A M`, it takes the one whose residual is least in the norm of the
/// preconditioner `M`, which has to be symmetric and positive definite ([`Jacobi::absolute`](crate::solve::Jacobi::absolute)); without
/// one, in the ordinary norm. Three vectors of Lanczos and three directions are kept, however long it runs. Residuals are certified at
/// the end as those of [`ConjugateGradient`](crate::solve::ConjugateGradient) are: see [numerics](crate::guide::numerics).
///
/// *Breakdowns*: a preconditioner that is not positive definite; a singular matrix, where a column of the triangle vanishes or the
/// residual comes to a halt: less than a thousandth off in `n` iterations, and 500 at least. If the run has led on until then it
/// begins afresh, else it ends: [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown).
///
/// *Cost* of an iteration: a product, an application of the preconditioner, two reductions, two small passes and two for the vectors;
/// no readback.
///
/// # Errors
///
/// - [`new`](Krylov::new): [`Error::Matrix`] when `a` is not square, or is known not to be symmetric;
///   [`Error::Parameter`].
/// - [`preconditioned`](Krylov::preconditioned): also [`Error::Unsupported`] for a preconditioner that is
///   known not to be positive definite.
/// - [`solve`](Krylov::solve): no others.
///
/// # Examples
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::{Minres, MinresParams, StopReason}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // A saddle point: conjugate gradients break down.
/// let mut t = Triplets::from_diagonal(&[2.0, 3.0, 0.0]);
/// for (i, j) in [(0, 2), (2, 0), (1, 2), (2, 1)] { t.push(i, j, 1.0)?; }
/// let a = BandedMatrix::from_triplets(dev, &t)?;
/// let b = Vector::from_slice(dev, &[3.0, 4.0, 2.0])?;
/// let mut x = Vector::zeros(dev, 3)?; // initial guess in, solution out
/// let report = Minres::new(&a, MinresParams::default())?.solve(&mut x, &b)?;
/// assert_eq!((report.reason, report.iterations), (StopReason::Converged, 3));
/// assert!(x.read()?.iter().all(|x| (x - 1.0).abs() < 1e-4));
/// # Ok::<(), texla::Error>(())
/// ```
pub type Minres<A, P = Identity> = Krylov<MinresParams, A, P>;

impl KrylovMethod for MinresParams {
    const NAME: &'static str = "Minres";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, a: &dyn LinOp, m: &dyn Preconditioner) -> Result<()> {
        let op = Self::NAME;
        check_square(op, a)?;
        check_symmetric(op, a)?;
        check_definite(op, m)
    }
}

impl Runs for MinresParams {
    const SOLVE: &'static str = "Minres::solve";
    type Run<'r> = Run<'r>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Run<'r>> {
        Run::new(solver, at)
    }
}

/// The vectors of a solve: `z = M v` where that is another one, and the directions `w`.
pub(in crate::solve) struct Run<'a> {
    m: &'a dyn Preconditioner,
    v: Vector,
    v_before: Vector,
    z: Option<Vector>,
    w: PingPong<Vector>,
    reducer: Reducer,
    rotations: PingPong<Scalar>,
    norms: PingPong<Scalar>,
    mark: PingPong<Scalar>,
    coefficients: Scalar,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// Norm of the true residual with which the run began, scaled.
    norm_r: f64,
}

/// What so many iterations have to leave of the square of the residual: more than that is a halt.
const LEAST_GAIN: f32 = 0.998;

/// Iterations after which a halt is looked for, if there are fewer unknowns.
const PATIENCE: usize = 500;

impl<'a> Run<'a> {
    fn new(solver: Parts<'a, MinresParams>, at: &Iterate<'_>) -> Result<Self> {
        let device = at.a.device();
        let fresh = || Vector::uninit(device, at.b.len());
        let pair = || Ok::<_, Error>(PingPong::new(Scalar::zero(device)?, Scalar::zero(device)?));
        Ok(Run {
            m: solver.m,
            v: fresh()?,
            v_before: fresh()?,
            z: solver.m.room(&at.x.high)?,
            w: PingPong::new(fresh()?, fresh()?),
            reducer: Reducer::new(device, solver.params.windows),
            rotations: pair()?,
            norms: pair()?,
            mark: pair()?,
            coefficients: Scalar::zero(device)?,
            report: pair()?,
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            norm_r: 0.0,
        })
    }
}

impl Method for Run<'_> {
    const NAME: &'static str = "MINRES";

    async fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        let (norm, accuracy) = at.true_residual().await?;
        self.norm_r = norm;
        Ok((norm / at.unit(), accuracy))
    }

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, _: bool) -> Result<()> {
        self.bounds = bounds;
        ops::copy(&mut self.v, at.r.front())?;
        self.v_before.set_zero()?;
        let z = self.m.preconditioned(&mut self.z, &self.v)?;
        let sums = self.reducer.sum(Dots::Residual, &[&self.v, z])?;
        let last = Scalar::from_texel(&self.reducer.device, [0.0, iterations as f32, 0.0, 0.0])?;
        sums.left_to(Draw::new(&self.reducer.device, glsl!("solve/minres_begin.frag")))
            .input("last", last.view())
            .param("threshold", bounds.threshold)
            .param("ceiling", bounds.ceiling)
            .param("limit", bounds.limit as f32)
            .targets([&self.report, &self.rotations, &self.norms, &self.mark].map(|s| s.front().view()))
            .run()
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let device = &self.reducer.device;
        let n = at.b.len();
        // p = A z, delta = p.z
        let mut p = Vector::uninit(device, n)?;
        let z = self.z.as_ref().unwrap_or(&self.v);
        ops::product(&mut p, Combine::Replace, at.matrix_scale, at.a, z)?;
        let sums = self.reducer.sum(Dots::Residual, &[&p, z])?;
        let lanczos = Scalar::uninit(device)?;
        sums.left_to(Draw::new(device, glsl!("solve/minres_alpha.frag")))
            .input("last", self.report.front().view())
            .input("norms", self.norms.front().view())
            .input("mark_before", self.mark.front().view())
            .param("patience", n.max(PATIENCE) as f32)
            .param("least_gain", LEAST_GAIN)
            .target(lanczos.view())
            .target(self.mark.back().view())
            .run()?;
        self.mark.swap();
        // v' = p / gamma - (delta / gamma) v - (gamma / gamma_before) v_before
        let next = Vector::uninit(device, n)?;
        Draw::new(device, glsl!("solve/minres_next.frag"))
            .input("p", p.view())
            .input("v", self.v.view())
            .input("before", self.v_before.view())
            .input("lanczos", lanczos.view())
            .target(next.view())
            .run()?;
        // z' = M v', gamma' from v'.z'
        let mut next_z = self.m.room(&next)?;
        let mapped = self.m.preconditioned(&mut next_z, &next)?;
        let sums = self.reducer.sum(Dots::Residual, &[&next, mapped])?;
        let Bounds { threshold, limit, .. } = self.bounds;
        sums.left_to(Draw::new(device, glsl!("solve/minres_step.frag")))
            .input("last", self.report.front().view())
            .input("rotations_before", self.rotations.front().view())
            .input("norms_before", self.norms.front().view())
            .input("lanczos", lanczos.view())
            .input("mark", self.mark.front().view())
            .param("threshold", threshold)
            .param("limit", limit as f32)
            .targets([&self.report, &self.rotations, &self.norms].map(|s| s.back().view()))
            .target(self.coefficients.view())
            .run()?;
        self.report.swap();
        self.rotations.swap();
        self.norms.swap();
        // w' = (z / gamma - alpha_3 w_before - alpha_2 w) / alpha_1, y = y + c eta w'
        let fresh = Vector::uninit(device, n)?;
        Draw::new(device, glsl!("solve/minres_update.frag"))
            .input("z", z.view())
            .input("w", self.w.front().view())
            .input("before", self.w.back().view())
            .input("y", at.y.front().view())
            .input("coefficients", self.coefficients.view())
            .param("factor", at.x_scale())
            .target(fresh.view())
            .target(at.y.back().view())
            .run()?;
        at.y.swap();
        *self.w.back_mut() = fresh;
        self.w.swap();
        self.v_before = std::mem::replace(&mut self.v, next);
        self.z = next_z;
        Ok(())
    }

    fn report(&self) -> &Scalar {
        self.report.front()
    }

    fn dear(&self) -> bool {
        self.m.is_dear()
    }

    fn loses_what_it_has(&self) -> bool {
        true
    }

    /// A run loses what it knows where it ends; but so many iterations do in exact arithmetic, twice, and beyond them the
    /// recurrence of a singular system may promise what is not so.
    fn spell(&self, _: bool) -> Option<usize> {
        Some(2 * (self.v.len() + SPELL))
    }

    fn after(&mut self, _: &mut Iterate<'_>, last: &Report) -> Result<After> {
        /// A residual that has fallen by a fiftieth is progress: the true one may lead on from there.
        const PROGRESS: f64 = 0.98;
        let (quantity, expected) = match last.flag {
            Flag::Curvature => ("|A M v|", "more than 0: the matrix is singular"),
            Flag::Stalled => (
                "r.r by that of n iterations before",
                "less than 0.998: the matrix is singular or nearly so, and b has a part that it does not reach",
            ),
            Flag::Exhausted => {
                let expected =
                    "at most 0.9: the matrix is singular or nearly so, or too ill-conditioned for 32 bits";
                return Ok(After::Unless(0.9, last.broken("|r| by that of 2 n iterations before", expected)));
            }
            _ => return Ok(last.breakdown().map_or(After::Judge, After::End)),
        };
        let led_on = f64::from(last.rr).sqrt() <= PROGRESS * self.norm_r;
        Ok(if led_on { After::Afresh } else { After::End(last.broken(quantity, expected)) })
    }
}
