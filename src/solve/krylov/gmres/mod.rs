//! GMRES for systems that are not symmetric.

mod basis;

use basis::Basis;

use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Accuracy, Combine, LinOp, Windows};
use crate::solve::drive::check::check_square;
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::drive::state::{Bounds, Flag, Report};
use crate::solve::drive::{After, Method, SPELL};
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner};

/// Parameters of [`Gmres`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GmresParams {
    /// Most iterations, less than 2²⁴. Each has one product.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// Iterations of a cycle: so many vectors are kept, and one more. 1 to [`MOST_RESTART`]; no more are made than there are
    /// unknowns, nor than a row of a texture holds, less one.
    pub restart: usize,
    /// Keeps what the preconditioner makes of each vector, too, so that it may be another one in every iteration: as many vectors
    /// again, and one application less a cycle.
    pub flexible: bool,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const GmresParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_restart(restart: usize),
    with_flexible(flexible: bool),
    with_windows(windows: Windows),
);

impl Default for GmresParams {
    fn default() -> Self {
        GmresParams {
            max_iters: 20_000,
            stop: Stop::default(),
            restart: 50,
            flexible: false,
            windows: Windows::Balanced,
        }
    }
}

/// Most iterations of a cycle.
pub const MOST_RESTART: usize = 200;

/// GMRES (Y. Saad, M. Schultz, 1986) for square systems that need not be symmetric, started again every few dozen iterations,
/// entirely in textures.
///
/// Of all `x` in `x0 + M K`, with the Krylov space `K` of `A M`, it takes the one with the least residual: within a cycle that
/// never grows, and nothing breaks down before the solution is found or the matrix is singular. The price is that all vectors of
/// a cycle are kept and each new one is made orthogonal to them, by classical Gram-Schmidt done twice: `Vᵀ w` of all of them is
/// one product with a [stack of columns](crate::ColumnStack). The small least-squares problem stays in a texture, where rotations
/// (Givens) turn it into a triangle column by column, so that the residual is known in every iteration. The preconditioner
/// stands on the right, `A M y = b`, `x = M y`; one that is not the same in every iteration asks for
/// [`flexible`](GmresParams::flexible) (Y. Saad, SIAM J. Sci. Comput. 14, 1993). Residuals are replaced between cycles and
/// certified at the end as those of [`ConjugateGradient`](crate::solve::ConjugateGradient) are: see
/// [numerics](crate::guide::numerics).
///
/// *Breakdowns*: a matrix, or a preconditioner, that maps a direction of the space to zero or into what it holds already is
/// singular; and a cycle that takes less than a thousandth off the residual leads nowhere, where more vectors or another
/// preconditioner may. If the run has led on until then it begins afresh, else
/// it ends: [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown).
///
/// *Cost* of iteration j of a cycle: a product, an application of the preconditioner, 2 products with the transpose of j vectors and 2
/// with those, a reduction, 4 small passes; of a cycle besides a product with all vectors, one with `A`, one application. No
/// readback. *Memory*: [`restart`](GmresParams::restart) + 1 vectors.
///
/// # Errors
///
/// - [`new`](Krylov::new) and [`preconditioned`](Krylov::preconditioned): [`Error::Matrix`] when `a` is not
///   square; [`Error::Parameter`].
/// - [`solve`](Krylov::solve): no others; [`Error::TooLarge`] and [`Error::OutOfMemory`] are likelier than
///   elsewhere, for the vectors of a cycle.
///
/// # Examples
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::{Gmres, GmresParams, StopReason}};
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
/// let report = Gmres::new(&a, GmresParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.true_residual <= 1e-5, "{report:?}");
/// assert!(report.iterations < 60, "{report:?}");
/// assert_eq!(report.readbacks_in_loop, 0);
/// # Ok::<(), texla::Error>(())
/// ```
pub type Gmres<A, P = Identity> = Krylov<GmresParams, A, P>;

impl KrylovMethod for GmresParams {
    const NAME: &'static str = "Gmres";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, a: &dyn LinOp, _: &dyn Preconditioner) -> Result<()> {
        let op = Self::NAME;
        if !(1..=MOST_RESTART).contains(&self.restart) {
            let (value, expected) = (self.restart.to_string(), "1 to 200 (MOST_RESTART)");
            return Err(Error::Parameter { op, name: "restart", value, expected });
        }
        check_square(op, a)
    }
}

impl Runs for GmresParams {
    const SOLVE: &'static str = "Gmres::solve";
    type Run<'r> = Run<'r>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Run<'r>> {
        Run::new(solver, at)
    }
}

/// The vectors of a solve.
pub(in crate::solve) struct Run<'a> {
    m: &'a dyn Preconditioner,
    /// Those of the cycle, and of a flexible one what the preconditioner has made of them.
    basis: Basis,
    mapped: Option<Basis>,
    /// Vectors of the cycle so far.
    done: usize,
    v: Vector,
    z: Option<Vector>,
    reducer: Reducer,
    state: PingPong<Scalar>,
    report: PingPong<Scalar>,
    bounds: Bounds,
    /// Norm of the true residual with which the run began, scaled.
    norm_r: f64,
}

/// What a cycle has to leave of the square of the residual: more than that is a halt. By a thousandth of the norm each, all
/// iterations that a solve has by default would halve it.
const LEAST_GAIN: f32 = 0.998;

impl<'a> Run<'a> {
    fn new(solver: Parts<'a, GmresParams>, at: &Iterate<'_>) -> Result<Self> {
        let (m, params) = (solver.m, solver.params);
        let (device, n) = (at.a.device(), at.b.len());
        let pair = || Ok::<_, Error>(PingPong::new(Scalar::zero(device)?, Scalar::zero(device)?));
        let most = (device.max_texture_size() as usize).saturating_sub(1).max(1);
        let restart = params.restart.min(n).min(most).max(1);
        let mapped = params.flexible && !m.is_identity();
        Ok(Run {
            m,
            basis: Basis::new(device, n, restart)?,
            mapped: if mapped { Some(Basis::new(device, n, restart)?) } else { None },
            done: 0,
            v: Vector::uninit(device, n)?,
            z: m.room(&at.x.high)?,
            reducer: Reducer::new(device, params.windows),
            state: pair()?,
            report: pair()?,
            bounds: Bounds { threshold: 0.0, ceiling: 0.0, limit: 0 },
            norm_r: 0.0,
        })
    }

    /// A cycle begins with the residual at hand.
    fn begin(&mut self, r: &Vector, is_fresh: bool) -> Result<()> {
        let Bounds { threshold, ceiling, limit } = self.bounds;
        let sums = self.reducer.sum(Dots::Residual, &[r, r])?;
        sums.left_to(Draw::new(&self.reducer.device, glsl!("solve/gmres_begin.frag")))
            .define("FRESH", is_fresh)
            .input("last", self.report.front().view())
            .input_if("state", Some(self.state.front().view()).filter(|_| !is_fresh))
            .param("threshold", threshold)
            .param("ceiling", ceiling)
            .param("limit", limit as f32)
            .param("least_gain", LEAST_GAIN)
            .target(self.report.back().view())
            .target(self.state.back().view())
            .run()?;
        self.report.swap();
        self.state.swap();
        self.done = 0;
        self.next(r)
    }

    /// The next vector of the basis, of what is to become one by its norm.
    fn next(&mut self, w: &Vector) -> Result<()> {
        Draw::new(&self.reducer.device, glsl!("solve/gmres_next.frag"))
            .input("w", w.view())
            .input("state", self.state.front().view())
            .target(self.v.view())
            .run()?;
        self.basis.set(self.done, &self.v)
    }

    /// Adds what the cycle has found to `y`; and takes what that is mapped to off the residual, if there is to be another cycle.
    fn gather(&mut self, at: &mut Iterate<'_>, goes_on: bool) -> Result<()> {
        let count = std::mem::take(&mut self.done);
        if count == 0 {
            return Ok(());
        }
        let coefficients = self.basis.solve(self.state.front(), count)?;
        // y = y + M V R⁻¹ g
        let mut sum = Vector::uninit(at.a.device(), at.b.len())?;
        let mapped = self.mapped.as_ref().unwrap_or(&self.basis);
        mapped.product(&mut sum, Combine::Replace, &coefficients)?;
        let applied = self.mapped.is_some() || self.m.is_identity();
        let update = if applied { &sum } else { self.m.preconditioned(&mut self.z, &sum)? };
        // By a factor that may leave the range, as the solution then does.
        Draw::new(at.a.device(), glsl!("solve/gmres_gather.frag"))
            .input("y", at.y.front().view())
            .input("update", update.view())
            .param("factor", at.x_scale())
            .target(at.y.back().view())
            .run()?;
        at.y.swap();
        if goes_on {
            let (r, next) = at.r.split();
            ops::product(next, Combine::SubtractFrom(r), at.matrix_scale, at.a, update)?;
            at.r.swap();
        }
        Ok(())
    }
}

impl Method for Run<'_> {
    const NAME: &'static str = "GMRES";

    async fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        let (norm, accuracy) = at.true_residual().await?;
        self.norm_r = norm;
        Ok((norm / at.unit(), accuracy))
    }

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, _: bool) -> Result<()> {
        self.bounds = bounds;
        let report = [0.0, iterations as f32, 0.0, 0.0];
        *self.report.front_mut() = Scalar::from_texel(&self.reducer.device, report)?;
        self.begin(at.r.front(), true)
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        // w = A M v
        let mut w = Vector::uninit(at.a.device(), at.b.len())?;
        let z = self.m.preconditioned(&mut self.z, &self.v)?;
        ops::product(&mut w, Combine::Replace, at.matrix_scale, at.a, z)?;
        if let Some(mapped) = &mut self.mapped {
            mapped.set(self.done, z)?;
        }
        // h = Vᵀ w, w = w - V h, twice
        let (j, count) = (self.done, self.done + 1);
        let [first, second] = [(); 2].map(|()| self.basis.take_out(&mut w, count));
        let sums = self.reducer.sum(Dots::Residual, &[&w, &w])?;
        let (report, state) = (self.report.front(), self.state.front());
        self.basis.column(j, [&first?, &second?], &sums, (report, state))?;
        let Bounds { threshold, limit, .. } = self.bounds;
        self.basis
            .step(j, (report, state))
            .param("threshold", threshold)
            .param("limit", limit as f32)
            .target(self.report.back().view())
            .target(self.state.back().view())
            .run()?;
        self.report.swap();
        self.state.swap();
        self.done = count;
        if count < self.basis.restart() {
            return self.next(&w);
        }
        self.gather(at, true)?;
        self.begin(at.r.front(), false)
    }

    fn finish(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        self.gather(at, false)
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

    /// Whole cycles.
    fn spell(&self, is_double: bool) -> Option<usize> {
        (is_double && !self.dear()).then(|| SPELL.next_multiple_of(self.basis.restart()))
    }

    fn after(&mut self, _: &mut Iterate<'_>, last: &Report) -> Result<After> {
        /// A residual that has fallen by a fiftieth is progress: the true one may lead on from there.
        const PROGRESS: f64 = 0.98;
        let (quantity, expected) = match last.flag {
            Flag::Curvature => (
                "|AMv|",
                "more than 0: the matrix or the preconditioner is singular, or what they make of v lies below the range of \
                 floats",
            ),
            // No cycle is longer than there are unknowns.
            Flag::Stalled if self.basis.restart() < self.v.len() => (
                "|r| by that of a cycle before",
                "less than 0.999: longer cycles or another preconditioner may lead on",
            ),
            Flag::Stalled => (
                "|r| by that of a cycle before",
                "less than 0.999: the matrix is singular or nearly so, and another preconditioner may lead on",
            ),
            _ => return Ok(After::Judge),
        };
        let led_on = f64::from(last.rr).sqrt() <= PROGRESS * self.norm_r;
        Ok(if led_on { After::Afresh } else { After::End(last.broken(quantity, expected)) })
    }
}
