//! Flexible conjugate gradients, for preconditioners that vary.

use crate::error::Result;
use crate::ops::{LinOp, Windows};
use crate::solve::drive::check::{check_square, check_symmetric};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::krylov::cg::predicted;
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner};
use crate::solve::space::{Ends, Number, Options, Recipe, Register, Running, Space, Store};

/// Parameters of [`FlexibleConjugateGradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FlexibleCgParams {
    /// Most iterations, less than 2²⁴. Each has one product.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const FlexibleCgParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_windows(windows: Windows),
);

impl Default for FlexibleCgParams {
    fn default() -> Self {
        FlexibleCgParams { max_iters: 20_000, stop: Stop::default(), windows: Windows::Balanced }
    }
}

/// Flexible conjugate gradients for symmetric positive definite systems whose preconditioner changes from one iteration to
/// the next, or is not quite symmetric.
///
/// With `z = M r` and the direction `p` of the iteration before, an iteration computes
///
/// ```text
/// β = -(z · A p) / (p · A p)      p ← z + β p
/// α =  (p · r) / (p · A p)        x ← x + α p      r ← r - α A p
/// ```
///
/// [`ConjugateGradient`](crate::solve::ConjugateGradient) has `β = (z · r) / (z · r)_before` instead, which is the same number
/// if `M` is one symmetric matrix. If it is not, directions are no longer conjugate there, and the method may need many more
/// iterations or stagnate. Here each direction is conjugate to the one before by its definition: an iteration minimises the error,
/// in the norm of `A`, over `x + span(z, p)`, whatever `M` is. Preconditioners of this kind are, for example, a few iterations of
/// another method, sweeps until a tolerance is met, cycles of multigrid that smooth differently before and after, and incomplete
/// factors ([`IncompleteLu`](crate::solve::IncompleteLu)) or approximate inverses ([`Spai`](crate::solve::Spai)) of a symmetric
/// matrix, which are not symmetric themselves.
///
/// Residuals are certified at the end as those of `ConjugateGradient` are: see [numerics](crate::guide::numerics). Until then the
/// [history](crate::solve::SolveReport::history) has upper [bounds](crate::solve::ResidualKind::Bound) on the residuals of the
/// recurrence. For [pairs](crate::DoubleVector) the recurrence changes to arithmetic in pairs where 32 bits gain nothing more.
///
/// A direction with `p·Ap` not positive, which shows that `A` is not positive definite, or a residual with `r·Mr` not positive
/// ends a solve with [`StopReason::Breakdown`](crate::solve::StopReason::Breakdown).
///
/// # Errors
///
/// - [`new`](Krylov::new) and [`preconditioned`](Krylov::preconditioned): [`Error::Matrix`](crate::Error::Matrix) when `a`
///   is not square, or is known not to be symmetric; [`Error::Parameter`](crate::Error::Parameter). No preconditioner is refused.
/// - [`solve`](Krylov::solve): no others.
///
/// # Examples
///
/// Polynomials of two degrees in turn. `ConjugateGradient` takes 47 iterations without them and 48 with them:
///
/// ```
/// use std::cell::Cell;
/// use texla::solve::{Chebyshev, ChebyshevParams, FlexibleCgParams, FlexibleConjugateGradient, Preconditioner};
/// use texla::{BandedMatrix, Result, Vector};
///
/// struct InTurn<'a>([Chebyshev<&'a BandedMatrix>; 2], Cell<usize>);
///
/// impl Preconditioner for InTurn<'_> {
///     fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
///         let count = self.1.replace(self.1.get() + 1);
///         self.0[count % 2].apply(z, r)
///     }
/// }
///
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 32, 32)?;
/// let b = Vector::filled(dev, 1024, 1.0)?;
/// let mut x = Vector::zeros(dev, 1024)?; // initial guess in, solution out
/// let of_degree = |degree| Chebyshev::new(&a, ChebyshevParams::default().with_degree(degree));
/// let m = InTurn([of_degree(4)?, of_degree(8)?], Cell::new(0));
/// let solver = FlexibleConjugateGradient::preconditioned(&a, m, FlexibleCgParams::default())?;
/// let report = solver.solve(&mut x, &b)?;
/// assert!(report.converged() && report.true_residual <= 1e-5);
/// assert!((20..25).contains(&report.iterations), "{report}");
/// assert_eq!(report.readbacks_in_loop, 0);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// # Cost
///
/// An iteration costs a product, an application of the preconditioner, two reductions, two small passes, and two for the
/// vectors, without a readback: as the [listing](crate::solve::CgSchedule::Listing) of conjugate gradients. It keeps
/// four vectors, `x`, `r`, `p` and `A p`, and `z` unless the preconditioner is a diagonal or none.
///
/// # Source
///
/// Y. Notay, *Flexible conjugate gradients*, SIAM J. Sci. Comput. 22 (2000): FCG(1), which keeps one direction.
pub type FlexibleConjugateGradient<A, P = Identity> = Krylov<FlexibleCgParams, A, P>;

impl KrylovMethod for FlexibleCgParams {
    const NAME: &'static str = "FlexibleConjugateGradient";

    fn stop(&self) -> Stop {
        self.stop
    }

    fn max_iters(&self) -> usize {
        self.max_iters
    }

    fn check(&self, a: &dyn LinOp, _: &dyn Preconditioner) -> Result<()> {
        check_square(Self::NAME, a)?;
        check_symmetric(Self::NAME, a)
    }
}

impl Runs for FlexibleCgParams {
    const SOLVE: &'static str = "FlexibleConjugateGradient::solve";
    type Run<'r> = Running<'r, Flexible>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let Parts { m, params, .. } = solver;
        Running::new(m, at.is_double(), at, move |wide| {
            let mut store = solver.store(params.windows, wide, Options::default())?;
            let recipe = Flexible::new(&mut store)?;
            Ok((store, recipe))
        })
    }
}

/// Algorithm FCG(1) of Notay. `curvature` is `p·Ap` of the iteration before, `square` the `r·r` that this one begins with.
pub(in crate::solve) struct Flexible {
    p: Register,
    q: Register,
    z: Register,
    alpha: Number,
    beta: Number,
    curvature: Number,
}

impl Flexible {
    fn new(s: &mut Store) -> Result<Self> {
        let ([p, q, z], [alpha, beta]) = (s.registers(), s.coefficients(["alpha", "beta"])?);
        let [curvature, _square] = s.numbers(["curvature", "square"])?;
        Ok(Flexible { p, q, z, alpha, beta, curvature })
    }
}

impl Recipe for Flexible {
    const NAME: &'static str = "flexible conjugate gradients";

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        let Flexible { p, q, curvature, .. } = *self;
        if keeps {
            s.project(p)?;
            s.product(q, p)?;
            return s.numbers([("pq", p.dot(q))], "curvature = pq;");
        }
        s.set(curvature, 0.0)?;
        s.clear(p)?;
        s.clear(q)
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        s.scale(self.p, factor)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Flexible { p, q, z, alpha, beta, .. } = *self;
        let (x, r) = (Space::X, Space::R);
        // β = -z·q / p·q, p = z + β p
        s.precondition(z, r)?;
        let direction = "
            meets(rr);
            breaks(rz <= 0.0, INDEFINITE, rz);
            beta = curvature > 0.0 ? -zq / curvature : 0.0;
            square = rr;";
        s.numbers([("rz", r.dot(z)), ("zq", z.dot(q)), ("rr", r.dot(r))], direction)?;
        s.update([p.is(z).plus(beta, p)])?;
        // q = A p, α = p·r / p·q
        s.product(q, p)?;
        let step = "
            breaks(pq <= 0.0, CURVATURE, pq);
            alpha = pr / pq;
            curvature = pq;
            counts();";
        s.numbers(
            [("pq", p.dot(q)), ("pr", p.dot(r)), ("rq", r.dot(q)), ("qq", q.dot(q))],
            &[step, &predicted("square")].concat(),
        )?;
        s.update([x.plus(alpha, p), r.minus(alpha, q)])
    }
}

impl Ends for Flexible {
    /// The residual is predicted.
    fn reports_bound(&self, _: bool) -> bool {
        true
    }
}
