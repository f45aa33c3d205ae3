//! Conjugate gradients for least squares.

mod of_b;
mod orthogonal;
mod recipe;

use of_b::{OfB, require_orthogonal};

use recipe::{Given, LeastSquares};

use crate::data::{Scalar, Vector};
use crate::error::Result;
use crate::ops::{self, Accuracy, Accurate, Combine, LinOp, Part, Windows};
use crate::solve::drive::facts::{Facts, norm_of};
use crate::solve::drive::finite::Small;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::drive::rounding::{error_bound, norm_of_bound, norm_of_error, of_norms};
use crate::solve::drive::scales::{exponent_of, scale_of};
use crate::solve::drive::state::{Bounds, Flag, Report};
use crate::solve::drive::unknown::exact_transposed;
use crate::solve::drive::verdict::Kept;
use crate::solve::drive::{After, Method};
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner, check_definite};
use crate::solve::space::{Options, Running};

/// Parameters of [`Cgls`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CglsParams {
    /// Most iterations, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop: the bound is on `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`, or on `‖b - A x‖ / ‖b‖` if that is met first.
    pub stop: Stop,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const CglsParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_windows(windows: Windows),
);

impl Default for CglsParams {
    fn default() -> Self {
        CglsParams { max_iters: 20_000, stop: Stop::default(), windows: Windows::Balanced }
    }
}

/// Least squares `min ‖b - A x‖` for a matrix of any shape, by conjugate gradients on `AᵀA` without forming it.
///
/// Iterations end when either residual meets the bound, as those of LSQR do (C. Paige, M. Saunders, *LSQR*, ACM Trans. Math.
/// Softw. 8, 1982): that of the normal equations
/// ([`true_residual`](crate::solve::SolveReport::true_residual)), or of a consistent system its own
/// ([`least_squares_residual`](crate::solve::SolveReport::least_squares_residual)). Both are in the report:
/// where `A` is ill-conditioned, the first may be small long before the second.
///
/// Unknowns that are [pairs](crate::DoubleVector) go on to residuals of 1e-12 and less, whether the system is consistent or
/// not: both residuals are then recomputed in some 70 bits, by exact products with `A` and with `Aᵀ`
/// ([`LinOp::accumulate`](crate::solve::LinOp::accumulate)). Of many solutions the one found from zero is the least to 32 bits: no residual tells more.
///
/// *Cost* of an iteration: a product with `A`, one with `Aᵀ`, two reductions, three vector updates, of pairs four; no
/// readback.
///
/// # Errors
///
/// - [`new`](Krylov::new): [`Error::Parameter`](crate::Error::Parameter).
/// - [`preconditioned`](Krylov::preconditioned), with a preconditioner for `AᵀA` such as
///   [`Jacobi::for_least_squares`](crate::solve::Jacobi::for_least_squares): also
///   [`Error::Unsupported`](crate::Error::Unsupported) for one that is known not to be positive definite.
/// - [`solve`](Krylov::solve): also [`Error::Unsupported`](crate::Error::Unsupported) when the operator has no
///   transposed product. A `b` with a part in the null space is no error: whatever `b` is, there is an answer.
///
/// # Examples
///
/// ```
/// use texla::{Shape, SparseFormat, SparseMatrix, Vector, host::Triplets, solve::{Cgls, CglsParams}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // The line through (0, 1), (1, 3), (2, 5): slope 2, height 1.
/// let rows = [(0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0), (2, 0, 2.0), (2, 1, 1.0)];
/// let t = Triplets::from_entries(Shape::new(3, 2), rows)?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Gather)?;
/// let b = Vector::from_slice(dev, &[1.0, 3.0, 5.0])?;
/// let mut x = Vector::zeros(dev, 2)?;
/// let report = Cgls::new(&a, CglsParams::default())?.solve(&mut x, &b)?;
/// assert!(report.converged());
/// let x = x.read()?;
/// assert!((x[0] - 2.0).abs() < 1e-4 && (x[1] - 1.0).abs() < 1e-4);
/// # Ok::<(), texla::Error>(())
/// ```
pub type Cgls<A, P = Identity> = Krylov<CglsParams, A, P>;

impl KrylovMethod for CglsParams {
    const NAME: &'static str = "Cgls";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, _: &dyn LinOp, m: &dyn Preconditioner) -> Result<()> {
        check_definite(Self::NAME, m)
    }
}

impl Runs for CglsParams {
    const SOLVE: &'static str = "Cgls::solve";
    type Run<'r> = Run<'r>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Run<'r>> {
        Run::new(solver, at).await
    }
}

/// A solve.
pub(in crate::solve) struct Run<'a> {
    running: Running<'a, LeastSquares>,
    /// `Aᵀ r`, scaled; of pairs as it is recomputed [larger](Iterate::room).
    s: Vector,
    /// `Aᵀ` times what rounding has left of the last true `r`.
    rest: Option<Vector>,
    since: Option<Since>,
    /// `‖Aᵀb‖` in the scaled units.
    norm: f64,
    /// `‖b - A x‖ / ‖b‖` of the last true residual, and where iterations stop by that.
    residual: f64,
    aim: f64,
    /// The bound on the square of `Aᵀ r`, and whether the last run has met that on `r` instead: found when the direction had
    /// been turned for another step already.
    threshold: f32,
    ahead: bool,
    /// `Aᵀb` is zero, and so is `x`; and how that is known.
    orthogonal: Option<Accuracy>,
}

/// Of pairs: what the last true residual was, and what has changed since. The residual of an inconsistent system does not
/// vanish, and 2⁻²⁴ of it, mapped by `Aᵀ`, is far more than is to be left of `Aᵀ r`. What has changed is as small as what
/// was left: `Aᵀ r` is the true one, and `Aᵀ` times the change.
struct Since {
    /// A power of two by which both, and the direction, are larger than they are beside `r`: `Aᵀ r` then is about 1, and no
    /// square of it, nor of what it is to become in this run, leaves the range.
    lift: f32,
    /// The same of the run before.
    before: f32,
}

impl Since {
    /// To go on from a true `Aᵀ r` of this norm.
    fn lift(&mut self, norm: f64, x_scale: f32) {
        // Updates of `x` are divided by it, and are to stay in range themselves.
        let most = (f64::from(x_scale) * 120f64.exp2()).max(1.0) as f32;
        self.lift = scale_of(norm).clamp(1.0, most);
    }
}

impl<'a> Run<'a> {
    async fn new(solver: Parts<'a, CglsParams>, at: &mut Iterate<'_>) -> Result<Self> {
        let Parts { m, params, .. } = solver;
        let of_b = OfB::seen(at).await?;
        let own_scale = scale_of(at.norm_b);
        let mut norm = of_b.unit(at).await? * (f64::from(at.scale) / f64::from(own_scale));
        let mut orthogonal = None;
        if norm == 0.0 {
            orthogonal = Some(require_orthogonal(at).await?);
            // b is orthogonal to all columns: zero is a solution.
            at.x.set_zero()?;
            (norm, at.from_zero) = (1.0, true);
        }
        let pairs = at.is_double();
        let make = move |_| {
            let mut store = solver.store(params.windows, false, Options::default())?;
            let recipe = LeastSquares::new(&mut store, pairs)?;
            Ok((store, recipe))
        };
        Ok(Run {
            running: Running::new(m, false, at, make)?,
            s: of_b.s,
            rest: None,
            since: pairs.then_some(Since { lift: 1.0, before: 1.0 }),
            norm,
            residual: 0.0,
            aim: params.stop.relative,
            threshold: 0.0,
            ahead: false,
            orthogonal,
        })
    }

    /// `r = b - A x` and `Aᵀ r` in double-float, of pairs in three floats, scaled. `Aᵀ` is applied to what rounding leaves of
    /// `r` as well: beside a large `r` that is more than a small `Aᵀ r`.
    fn residual(&mut self, at: &mut Iterate<'_>) -> Result<Accuracy> {
        let a = at.a;
        if at.is_double() {
            let r = at.exact_residual(false)?;
            self.s = exact_transposed(a, roomy(at), r.parts(), false)?.into_rounded();
            *at.r.front_mut() = at.without_room(r.into_rounded())?;
            return Ok(Accuracy::DoubleFloat);
        }
        // r = b - A x
        let first = at.residual()?;
        let mut rest = Vector::uninit(a.device(), at.b.len())?;
        self.rest = match first == Accuracy::DoubleFloat
            && ops::product_part(&mut rest, a, at.terms(), Part::Rest)?
        {
            false => None,
            true => {
                let mut of_rest = Vector::uninit(a.device(), at.x.high.len())?;
                ops::product_transposed(&mut of_rest, Combine::Replace, at.matrix_scale, a, &rest)?;
                Some(of_rest)
            }
        };
        // s = Aᵀ r
        let second = ops::product_accurate(&mut self.s, a, transposed(at, &self.rest))?;
        Ok(if first == second { first } else { Accuracy::Single })
    }
}

/// The sum that `Aᵀ r` is, with `Aᵀ` times the rest of `r` where that is known.
fn transposed<'v>(at: &'v Iterate<'_>, rest: &'v Option<Vector>) -> Accurate<'v> {
    let plus = rest.as_ref().map(|of_rest| (1.0, of_rest));
    Accurate { transposed: true, alpha: at.matrix_scale, x: at.r.front(), plus }
}

/// By what `Aᵀ` is scaled where it is applied to a residual of pairs as that is computed, for a product that is larger by as
/// much as there is [room](Iterate::room).
fn roomy(at: &Iterate<'_>) -> f32 {
    at.matrix_scale * (at.room / at.residual_room())
}

impl Method for Run<'_> {
    const NAME: &'static str = "conjugate gradients for least squares";
    const CONSISTENT: bool = false;
    const BY_COMPONENTS: bool = false;
    const SMALL: Small = Small::None;

    async fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        at.gather_up()?;
        let mut accuracy = self.residual(at)?;
        let facts = at.facts()?;
        let mut norm = facts.norm(at.r.front()).await?;
        if !facts.is_finite().await? {
            self.residual = f64::INFINITY;
            return Ok((f64::INFINITY, accuracy));
        }
        let before = at.scale;
        if before < scale_of(at.norm_b) && at.rescale(norm).await? {
            self.norm *= f64::from(at.scale) / f64::from(before);
            accuracy = self.residual(at)?;
            norm = norm_of(at.r.front()).await?;
        }
        self.residual = norm / at.unit();
        let norm = norm_of(&self.s).await? / f64::from(at.room);
        if let Some(since) = &mut self.since {
            since.lift(norm, at.x_scale());
        }
        Ok((norm / self.norm, self.orthogonal.unwrap_or(accuracy)))
    }

    async fn rounding(&self, at: &Iterate<'_>, residual: f64) -> Result<f64> {
        if self.orthogonal.is_some() {
            return Ok(0.0); // zero beyond doubt, or not certified
        }
        let summed = residual * of_norms(&self.s);
        if at.is_double() {
            // Of the product with r as it is, and what r errs by goes through |Aᵀ|.
            let (r, of_r) = (at.exact_residual(false)?, at.exact_residual(true)?);
            let bounds = |parts: &[&Vector]| exact_transposed(at.a, roomy(at), parts.iter().copied(), true);
            let own = norm_of_bound(bounds(&r.parts().collect::<Vec<_>>())?.error()).await?;
            let carried = norm_of_bound(bounds(&[of_r.error()])?.rounded()).await?;
            return Ok((own + carried) / f64::from(at.room) / self.norm + summed);
        }
        // Of the product with r, twice to cover that with the rest, which is so much smaller and rounded so much more.
        let facts = Facts::ask(at.r.front(), at.r.front())?;
        let own = norm_of_error(at.a, transposed(at, &self.rest)).await?;
        if !facts.is_finite().await? {
            return Ok(f64::INFINITY);
        }
        let of_r = error_bound(at.a, at.terms()).await?;
        let mut carried = Vector::uninit(at.a.device(), at.x.high.len())?;
        let terms = Accurate { transposed: true, alpha: at.matrix_scale, x: &of_r, plus: None };
        let carried = if self.rest.is_some() && ops::product_part(&mut carried, at.a, terms, Part::Magnitude)?
        {
            norm_of(&carried).await?
        } else {
            // What rounding to 32 bits has taken from r counts as well, where it is not known.
            let lost = norm_of(&of_r).await? + facts.norm(at.r.front()).await? / f64::from(1u32 << 24);
            f64::from(exponent_of(at.a)? + 1).exp2() * f64::from(at.matrix_scale) * lost
        };
        Ok((2.0 * own + carried) / self.norm + summed)
    }

    fn other_residual(&self) -> Option<f64> {
        Some(self.residual)
    }

    async fn other_rounding(&self, at: &Iterate<'_>) -> Result<f64> {
        at.rounding(self.residual).await
    }

    fn unit(&self, _: &Iterate<'_>) -> f64 {
        self.norm * self.since.as_ref().map_or(1.0, |since| f64::from(since.lift))
    }

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()> {
        // Closer, where the bound was met and what was recomputed does not confirm it.
        self.aim = self.aim.min(0.5 * self.residual);
        self.threshold = bounds.threshold;
        let keep = keep && !std::mem::take(&mut self.ahead);
        let least = (self.aim * at.unit()).powi(2) as f32;
        let mut given = Given { s: Some(self.s.copied()?), then: None, apart: 1.0, least, lift: 1.0 };
        if let Some(Since { lift, before }) = &mut self.since {
            let mut then = Vector::uninit(at.a.device(), self.s.len())?;
            ops::scaled(&mut then, *lift / at.room, &self.s)?;
            // As beta is the quotient of squares, the direction of before is as much too large.
            given.apart = std::mem::replace(before, *lift) / *lift;
            given.lift = *lift;
            given.s = Some(then.copied()?);
            given.then = Some(then);
        }
        self.running.store.lift = given.lift;
        self.running.recipe_mut().given = given;
        self.running.restart(at, bounds, iterations, keep)
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        self.running.iterate(at)
    }

    fn report(&self) -> &Scalar {
        self.running.report()
    }

    fn after(&mut self, last: &Report) -> After {
        self.ahead = last.flag == Flag::Met && last.rr > self.threshold;
        self.running.after(last)
    }

    fn dear(&self) -> bool {
        self.running.dear()
    }
}
