//! Conjugate gradients for least squares.

use super::orthogonal::is_orthogonal;
use super::precondition::{Identity, Preconditioner};
use super::steps::{Entry, Steps};
use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::kernel::PingPong;
use crate::ops::{self, Accuracy, Accurate, Combine, LinOp, Part, Windows};
use crate::shape::Shape;
use crate::solve::drive::facts::{Facts, norm_of};
use crate::solve::drive::finite::Small;
use crate::solve::drive::front;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::report::{SolveReport, Stop};
use crate::solve::drive::rounding::{error_bound, norm_of_error};
use crate::solve::drive::scales::{exponent_of, scale_of};
use crate::solve::drive::state::Bounds;
use crate::solve::drive::{Limits, Method};

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
/// Softw. 8, 1982): that of the normal equations ([`SolveReport::true_residual`]), or of a consistent system its own
/// ([`SolveReport::least_squares_residual`]). Both are in the report: where `A` is ill-conditioned, the first may be small
/// long before the second.
///
/// *Cost* of an iteration: a product with `A`, one with `Aᵀ`, two reductions, three vector updates; no readback.
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
pub struct Cgls<'a> {
    a: &'a dyn LinOp,
    m: &'a dyn Preconditioner,
    params: CglsParams,
}

shown!(Cgls<'_>, |s| "Cgls({}, {:?})", s.a.shape(), s.params);

impl<'a> Cgls<'a> {
    /// A solver without preconditioner. *Errors*: [`Error::Parameter`](crate::Error::Parameter).
    pub fn new(a: &'a dyn LinOp, params: CglsParams) -> Result<Self> {
        Self::preconditioned(a, &Identity, params)
    }

    /// A solver with a preconditioner for `AᵀA`, such as
    /// [`Jacobi::for_least_squares`](crate::solve::Jacobi::for_least_squares).
    pub fn preconditioned(a: &'a dyn LinOp, m: &'a dyn Preconditioner, params: CglsParams) -> Result<Self> {
        params.stop.check("Cgls")?;
        Ok(Cgls { a, m, params })
    }

    /// Minimises `‖b - A x‖`, from the initial guess in `x`. For an operator with a [null space](LinOp::null_space),
    /// the answer is the one orthogonal to it; whatever `b` is, it has one.
    ///
    /// *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::NonFinite`](crate::Error::NonFinite);
    /// [`Error::Unsupported`](crate::Error::Unsupported) when the operator has no transposed product. `x` is then as it
    /// was. Not converging is no error, nor is a breakdown: see [`SolveReport::reason`].
    pub fn solve(&self, x: &mut Vector, b: &Vector) -> Result<SolveReport> {
        self.solve_observed(x, b, |_, _| {})
    }

    /// As [`solve`](Self::solve), telling `observe` at every look how many iterations are done and the relative
    /// residual of the recurrence.
    pub fn solve_observed(
        &self,
        x: &mut Vector,
        b: &Vector,
        mut observe: impl FnMut(usize, f64),
    ) -> Result<SolveReport> {
        let limits = Limits { stop: self.params.stop, max_iters: self.params.max_iters };
        front::solve("Cgls::solve", (self.a, x, b), limits, &mut observe, |at| Run::new(self, at))
    }
}

/// The vectors of a solve.
struct Run<'a> {
    m: &'a dyn Preconditioner,
    /// `Aᵀ r`, scaled.
    s: Vector,
    /// `Aᵀ` times what rounding has left of the last true `r`.
    rest: Option<Vector>,
    d: PingPong<Vector>,
    q: Vector,
    z: Option<Vector>,
    steps: Steps,
    /// `‖Aᵀb‖` in the scaled units.
    norm: f64,
    /// `‖b - A x‖ / ‖b‖` of the last true residual, and where iterations stop by that.
    residual: f64,
    aim: f64,
    /// `Aᵀb` is zero, and so is `x`; and how that is known.
    orthogonal: Option<Accuracy>,
}

impl<'a> Run<'a> {
    fn new(solver: &Cgls<'a>, at: &mut Iterate<'_>) -> Result<Self> {
        let (a, m) = (at.a, solver.m);
        let Shape { rows, cols } = a.shape();
        let of = |n| Vector::uninit(a.device(), n);
        let mut s = of(cols)?;
        let mut scaled_b = of(rows)?;
        let own_scale = scale_of(at.norm_b);
        ops::scaled(&mut scaled_b, own_scale, at.b)?;
        // s = Aᵀ b
        let terms = Accurate { transposed: true, alpha: at.matrix_scale, x: &scaled_b, plus: None };
        ops::product_accurate(&mut s, a, terms)?;
        let mut norm = f64::from(ops::norm2(&s)?.read()?) * (f64::from(at.scale) / f64::from(own_scale));
        let mut orthogonal = None;
        if norm == 0.0 {
            orthogonal = Some(require_orthogonal(at)?);
            // b is orthogonal to all columns: zero is a solution.
            at.x.set_zero()?;
            (norm, at.from_zero) = (1.0, true);
        }
        Ok(Run {
            m,
            s,
            rest: None,
            d: PingPong::new(of(cols)?, of(cols)?),
            q: of(rows)?,
            z: m.room(&at.x.high)?,
            steps: Steps::new(a.device(), solver.params.windows)?,
            norm,
            residual: 0.0,
            aim: solver.params.stop.relative,
            orthogonal,
        })
    }

    /// `r = b - A x` and `Aᵀ r` in double-float, scaled. `Aᵀ` is applied to what rounding leaves of `r` as well: beside
    /// a large `r` that is more than a small `Aᵀ r`.
    fn residual(&mut self, at: &mut Iterate<'_>) -> Result<Accuracy> {
        let a = at.a;
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

/// `Aᵀb` came out as zero. Is it, or has it vanished in rounding or below the range of floats? The host tells, where it
/// keeps the entries. Else the device is asked again, 2¹⁰⁰ times larger, and what is zero then may be taken for that, but
/// is not certain.
fn require_orthogonal(at: &Iterate<'_>) -> Result<Accuracy> {
    let values = at.b.read()?;
    let known = match at.a.pattern() {
        _ if values.iter().all(|v| *v == 0.0) => Some(true),
        Some(csr) => Some(is_orthogonal(csr, &values)),
        None => None,
    };
    if known == Some(true) {
        return Ok(Accuracy::DoubleFloat);
    }
    let mut b = Vector::uninit(at.a.device(), at.b.len())?;
    ops::scaled(&mut b, scale_of(at.norm_b), at.b)?;
    let mut s = Vector::uninit(at.a.device(), at.x.high.len())?;
    let alpha = (100.0 - f64::from(exponent_of(at.a)?)).clamp(-125.0, 125.0).exp2() as f32;
    ops::product_accurate(&mut s, at.a, Accurate { transposed: true, alpha, x: &b, plus: None })?;
    if known.is_none() && ops::max_abs(&s)?.read()? == 0.0 {
        return Ok(Accuracy::Single);
    }
    let detail = "has coefficients so small or so far apart that the transposed product with b vanishes in 32-bit floats";
    Err(Error::Matrix { op: "Cgls", detail: detail.into() })
}

impl Method for Run<'_> {
    const NAME: &'static str = "conjugate gradients for least squares";
    const CONSISTENT: bool = false;
    const SMALL: Small = Small::None;

    fn true_residual(&mut self, at: &mut Iterate<'_>) -> Result<(f64, Accuracy)> {
        at.gather_up()?;
        let mut accuracy = self.residual(at)?;
        let facts = at.facts()?;
        let mut norm = facts.norm(at.r.front())?;
        if !facts.is_finite()? {
            self.residual = f64::INFINITY;
            return Ok((f64::INFINITY, accuracy));
        }
        let before = at.scale;
        if before < scale_of(at.norm_b) && at.rescale(norm) {
            self.norm *= f64::from(at.scale) / f64::from(before);
            accuracy = self.residual(at)?;
            norm = norm_of(at.r.front())?;
        }
        self.residual = norm / at.unit();
        Ok((norm_of(&self.s)? / self.norm, self.orthogonal.unwrap_or(accuracy)))
    }

    fn rounding(&self, at: &Iterate<'_>) -> Result<f64> {
        if self.orthogonal.is_some() {
            return Ok(0.0); // zero beyond doubt, or not certified
        }
        // Of the product with r, twice to cover that with the rest, which is so much smaller and rounded so much more.
        let facts = Facts::ask(at.r.front(), at.r.front())?;
        let own = norm_of_error(at.a, transposed(at, &self.rest))?;
        if !facts.is_finite()? {
            return Ok(f64::INFINITY);
        }
        let of_r = error_bound(at.a, at.terms())?;
        let mut carried = Vector::uninit(at.a.device(), at.x.high.len())?;
        let terms = Accurate { transposed: true, alpha: at.matrix_scale, x: &of_r, plus: None };
        let carried = if self.rest.is_some() && ops::product_part(&mut carried, at.a, terms, Part::Magnitude)?
        {
            norm_of(&carried)?
        } else {
            // What rounding to 32 bits has taken from r counts as well, where it is not known.
            let lost = norm_of(&of_r)? + facts.norm(at.r.front())? / f64::from(1u32 << 24);
            f64::from(exponent_of(at.a)? + 1).exp2() * f64::from(at.matrix_scale) * lost
        };
        Ok((2.0 * own + carried) / self.norm)
    }

    fn other_residual(&self) -> Option<f64> {
        Some(self.residual)
    }

    fn other_rounding(&self, at: &Iterate<'_>) -> Result<f64> {
        Ok(norm_of(&error_bound(at.a, at.terms())?)? / at.unit())
    }

    fn unit(&self, _: &Iterate<'_>) -> f64 {
        self.norm
    }

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()> {
        self.steps.reset(bounds, iterations)?;
        // Closer, where the bound was met and what was recomputed does not confirm it.
        self.aim = self.aim.min(0.5 * self.residual);
        self.steps.stop_at((self.aim * at.unit()).powi(2) as f32);
        let keep = keep && !at.take_rescaled();
        let mut z = Vector::uninit(at.a.device(), self.s.len())?;
        self.m.precondition(&mut z, &self.s)?;
        self.steps.begin(&mut self.d, &self.s, z, keep)
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let Run { m, s, d, q, z, steps, .. } = self;
        let x_scale = at.x_scale();
        let Iterate { a, y, r, matrix_scale, .. } = at;
        // q = A d
        ops::product(q, Combine::Replace, *matrix_scale, *a, d.front())?;
        // alpha = s.z / q.q
        steps.alpha_step(q, r.front())?;
        // y = y + alpha d
        steps.advance(y, x_scale, d.front(), None)?;
        // r = r - alpha q
        steps.advance(r, -1.0, q, None)?;
        // s = Aᵀ r
        ops::product_transposed(s, Combine::Replace, *matrix_scale, *a, r.front())?;
        // z = M s
        let z = m.preconditioned(z, s)?;
        // beta = s.z / (s.z of before)
        steps.beta_step(s, z, Entry::Iteration)?;
        // d = z + beta d
        steps.turn(d, z)
    }

    fn report(&self) -> &Scalar {
        self.steps.report()
    }

    fn dear(&self) -> bool {
        self.m.is_dear()
    }
}
