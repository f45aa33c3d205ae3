//! MINRES for symmetric systems that need not be definite.

use crate::error::Result;
use crate::ops::{LinOp, Windows};
use crate::solve::drive::check::{check_square, check_symmetric};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::Stop;
use crate::solve::drive::state::{Flag, Report};
use crate::solve::drive::{After, SPELL};
use crate::solve::krylov::solver::{Krylov, KrylovMethod, Parts, Runs};
use crate::solve::precondition::{Identity, Preconditioner, check_definite};
use crate::solve::space::{Ends, Number, Options, Recipe, Register, Running, Space, Store};

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
/// - [`new`](Krylov::new): [`Error::Matrix`](crate::Error::Matrix) when `a` is not square, or is known not to be symmetric;
///   [`Error::Parameter`](crate::Error::Parameter).
/// - [`preconditioned`](Krylov::preconditioned): also [`Error::Unsupported`](crate::Error::Unsupported) for a preconditioner that is
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
    type Run<'r> = Running<'r, Lanczos>;

    async fn start<'r>(solver: Parts<'r, Self>, at: &mut Iterate<'_>) -> Result<Self::Run<'r>> {
        let Parts { m, params, .. } = solver;
        let unknowns = at.b.len();
        Running::new(m, at.is_double(), at, move |wide| {
            let mut store = solver.store(params.windows, wide, Options::default())?;
            let recipe = Lanczos::new(&mut store, unknowns)?;
            Ok((store, recipe))
        })
    }
}

/// Iterations after which a halt is looked for, if there are fewer unknowns.
const PATIENCE: usize = 500;

/// The recurrences of Paige and Saunders: Lanczos vectors `v`, not divided by their norms in the preconditioner's, `z = M v`, and
/// directions `w`. `gamma` is the norm of `v`, `eta` that of the residual in the norm of the preconditioner, of whose square `share`
/// times is taken for r·r; (`c`, `s`) is the rotation that makes a triangle of a column.
pub(in crate::solve) struct Lanczos {
    v: Register,
    v_before: Register,
    next: Register,
    p: Register,
    z: Register,
    next_z: Register,
    w: Register,
    w_before: Register,
    next_w: Register,
    patience: Number,
    by_p: Number,
    by_v: Number,
    by_before: Number,
    by_z: Number,
    by_w_before: Number,
    by_w: Number,
    step: Number,
    unknowns: usize,
}

impl Lanczos {
    fn new(s: &mut Store, unknowns: usize) -> Result<Self> {
        let [v, v_before, next, p, z, next_z, w, w_before, next_w] = s.registers();
        let [patience] = s.numbers(["patience"])?;
        let _ = s.numbers(["mark", "marked", "left", "delta"])?;
        let _ = s.numbers(["c", "s", "c_before", "s_before"])?;
        let _ = s.numbers(["gamma", "gamma_before", "eta", "share"])?;
        let [by_p, by_v, by_before] = s.numbers(["by_p", "by_v", "by_before"])?;
        let [by_z, by_w_before, by_w, step] = s.numbers(["by_z", "by_w_before", "by_w", "stride"])?;
        Ok(Lanczos {
            v,
            v_before,
            next,
            p,
            z,
            next_z,
            w,
            w_before,
            next_w,
            patience,
            by_p,
            by_v,
            by_before,
            by_z,
            by_w_before,
            by_w,
            step,
            unknowns,
        })
    }
}

impl Recipe for Lanczos {
    const NAME: &'static str = "MINRES";
    const LOSES: bool = true;

    fn begin(&mut self, s: &mut Space<'_, '_>, _: bool) -> Result<()> {
        let Lanczos { v, v_before, z, w, w_before, .. } = *self;
        s.set(self.patience, self.unknowns.max(PATIENCE) as f32)?;
        [v_before, w, w_before].into_iter().try_for_each(|register| s.clear(register))?;
        s.update([v.is(Space::R)])?;
        s.precondition(z, v)?;
        let text = "
            will_meet(rr);
            breaks(rz <= 0.0, INDEFINITE, rz);
            gamma = sqrt(rz); gamma_before = 1.0; eta = gamma; share = rr / rz;
            c = 1.0; s = 0.0; c_before = 0.0; s_before = 0.0;
            mark = rr; marked = done; left = 0.0; delta = 0.0;";
        s.numbers([("rz", v.dot(z)), ("rr", Space::R.dot(Space::R))], text)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Lanczos { v, v_before, next, p, z, next_z, w, w_before, next_w, .. } = *self;
        s.product(p, z)?;
        // Every so many iterations, whether the residual has stalled.
        let lanczos = "
            if (done - marked >= patience) {
                left = square_of_r > 0.998 * mark ? square_of_r / mark : 0.0;
                mark = square_of_r;
                marked = done;
            }
            delta = pz / gamma / gamma;
            by_p = 1.0 / gamma; by_v = delta / gamma; by_before = gamma / gamma_before;";
        s.numbers([("pz", p.dot(z))], lanczos)?;
        // γ v' = p - δ v - γ² / γ_before v_before
        let v_next = next.sums().plus(self.by_p, p).minus(self.by_v, v).minus(self.by_before, v_before);
        s.update([v_next])?;
        s.precondition(next_z, next)?;
        let column = "
            float beta = square > 0.0 ? sqrt(square) : 0.0;
            float rest = c * delta - c_before * s * gamma;
            float diagonal = hypotenuse(rest, beta);
            breaks(square < 0.0, INDEFINITE, square);
            breaks(!(diagonal > 0.0), CURVATURE, diagonal);
            float inverse = 1.0 / diagonal;
            by_z = inverse / gamma; by_w_before = s_before * gamma * inverse;
            by_w = (s * delta + c_before * c * gamma) * inverse; stride = rest * inverse * eta;
            c_before = c; s_before = s; c = rest * inverse; s = beta * inverse;
            gamma_before = gamma; gamma = beta; eta = -s * eta;
            counts();
            will_meet(eta * eta * share);
            halts(left > 0.0, STALLED, left);";
        s.numbers([("square", next.dot(next_z))], column)?;
        let direction =
            next_w.sums().plus(self.by_z, z).minus(self.by_w_before, w_before).minus(self.by_w, w);
        s.update([direction, Space::X.plus(self.step, next_w)])?;
        s.turn([v_before, v, next])?;
        s.turn([w_before, w, next_w])?;
        s.turn([z, next_z])
    }
}

impl Ends for Lanczos {
    /// A run loses what it knows where it ends; but so many iterations do in exact arithmetic, twice, and beyond them the
    /// recurrence of a singular system may promise what is not so.
    fn spell(&self, _: bool) -> Option<usize> {
        Some(2 * (self.unknowns + SPELL))
    }

    fn after(&self, last: &Report) -> After {
        let (quantity, expected) = match last.flag {
            Flag::Curvature => ("|A M v|", "more than 0: the matrix is singular"),
            Flag::Stalled => (
                "r.r by that of n iterations before",
                "less than 0.998: the matrix is singular or nearly so, and b has a part that it does not reach",
            ),
            Flag::Exhausted => {
                let expected =
                    "at most 0.9: the matrix is singular or nearly so, or too ill-conditioned for 32 bits";
                return After::Unless(0.9, last.broken("|r| by that of 2 n iterations before", expected));
            }
            _ => return last.breakdown().map_or(After::Judge, After::End),
        };
        After::UnlessProgress(last.broken(quantity, expected))
    }
}
