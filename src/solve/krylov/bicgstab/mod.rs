//! BiCGStab for systems that are not symmetric.

mod recipe;

use recipe::Stabilised;

use crate::error::{Error, Result};
use crate::ops::{LinOp, Windows};
use crate::solve::drive::check::check_square;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner};
use crate::solve::space::{Options, Running};

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
    type Run<'r> = Running<'r, Stabilised>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let Parts { m, params, .. } = solver;
        Running::new(m, at.is_double(), at, move |wide| {
            let mut store = solver.store(params.windows, wide, Options::default())?;
            let recipe = Stabilised::new(params.ell, &mut store)?;
            Ok((store, recipe))
        })
    }
}
