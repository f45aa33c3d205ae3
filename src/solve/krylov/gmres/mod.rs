//! GMRES for systems that are not symmetric.

mod basis;
mod directions;
mod recipe;

use basis::Basis;
use directions::Directions;
use recipe::{Arnoldi, Cycles, Kind};

use crate::error::{Error, Result};
use crate::ops::{LinOp, Windows};
use crate::solve::drive::check::check_square;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner};
use crate::solve::space::{Options, Running};

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
/// readback. *Memory*: [`restart`](GmresParams::restart) + 1 vectors. Of unknowns that are [pairs](crate::DoubleVector), where
/// 32 bits gain nothing more, cycles go on in pairs: an iteration keeps four vectors, and has two reductions and three passes for every
/// four before it.
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
    type Run<'r> = Running<'r, Cycles>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let Parts { m, params, .. } = solver;
        let (unknowns, device) = (at.b.len(), solver.a.device());
        Running::new(m, at.is_double(), at, move |wide| {
            let mut store = solver.store(params.windows, wide, Options::default())?;
            let most = (device.max_texture_size() as usize).saturating_sub(1).max(1);
            let restart = params.restart.min(unknowns).min(most).max(1);
            let basis = || Basis::new(device, unknowns, restart);
            let kind = if wide {
                Kind::Pairs(Directions::new(&mut store, restart)?)
            } else {
                let mapped = if params.flexible && !m.is_identity() { Some(basis()?) } else { None };
                Kind::Floats(Arnoldi::new(&mut store, basis()?, mapped)?)
            };
            Ok((store, Cycles { kind, restart, unknowns }))
        })
    }
}
