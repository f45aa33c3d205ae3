//! Conjugate gradients for least squares.

use super::iterate::gather_up;
use super::precondition::{Identity, Preconditioner};
use super::steps::{Entry, Steps};
use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::PingPong;
use crate::ops::{self, Accurate, Combine, Part, Windows};
use crate::solve::drive::check::check_vectors;
use crate::solve::drive::dots::Dots;
use crate::solve::drive::finite::{AllFinite, Finite};
use crate::solve::drive::looks::Observer;
use crate::solve::drive::null_space::project_out;
use crate::solve::drive::report::{SolveReport, Stop};
use crate::solve::drive::rounding::{error_bound, norm_of_error};
use crate::solve::drive::scales::{Scales, closer_scale, norm_of, scale_of};
use crate::solve::drive::state::Bounds;
use crate::solve::drive::{Limits, Method, drive};
use crate::solve::linop::{Accuracy, LinOp};

/// Parameters of [`Cgls`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CglsParams {
    /// Most iterations, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop: the bound is on `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`, or on `‖b - A x‖ / ‖b‖` if that is met first.
    pub stop: Stop,
    /// Windows of the reductions.
    pub windows: Windows,
}

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
        check_vectors("Cgls::solve", self.a, x, b)?;
        let device = self.a.device().clone();
        let _scope = device.scope()?;
        let limits = Limits { stop: self.params.stop, max_iters: self.params.max_iters };
        let finite = Finite::ask("Cgls::solve", &[("x", x), ("b", b)])?;
        let mut run = Run::new(self.a, self.m, x, b, (self.params.windows, self.params.stop.relative))?;
        finite.check()?;
        if run.norm == 0.0 {
            run.require_orthogonal()?;
            // b is orthogonal to all columns: zero is a solution.
            run.x.set_zero()?;
            (run.norm, run.began_at_zero, run.orthogonal) = (1.0, true, true);
        }
        let report = drive(&mut run, limits, &mut observe as &mut Observer<'_>)?;
        // Into the caller's texture, which the application may hold.
        ops::copy(x, &run.x)?;
        Ok(report)
    }
}

struct Run<'a> {
    a: &'a dyn LinOp,
    m: &'a dyn Preconditioner,
    b: &'a Vector,
    /// The iterate as of the last true residual, and what has been added since.
    x: Vector,
    y: PingPong<Vector>,
    /// `b - A x`, scaled.
    r: PingPong<Vector>,
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
    norm_b: f64,
    /// `‖b - A x‖ / ‖b‖` of the last true residual, and where iterations stop by that.
    residual: f64,
    aim: f64,
    began_at_zero: bool,
    /// `Aᵀb` is zero, and so is `x`.
    orthogonal: bool,
    scale: f32,
    /// The scale has changed since the direction was found.
    rescaled: bool,
    matrix_scale: f32,
}

impl<'a> Run<'a> {
    fn new(
        a: &'a dyn LinOp,
        m: &'a dyn Preconditioner,
        x: &Vector,
        b: &'a Vector,
        (windows, aim): (Windows, f64),
    ) -> Result<Self> {
        let device = a.device();
        let (rows, cols) = (a.shape().rows, a.shape().cols);
        let of = |n| Vector::uninit(device, n);
        let (mut r, mut start) = (of(rows)?, of(cols)?);
        ops::copy(&mut start, x)?;
        project_out(&mut start, a.null_space())?;
        let scales = Scales::find(a, &mut start, b, &mut r)?;
        let Scales { norm_b, from_zero, residual: scale, matrix: matrix_scale } = scales;
        let mut s = of(cols)?;
        let mut scaled_b = of(rows)?;
        let own_scale = scale_of(norm_b);
        ops::scaled(&mut scaled_b, own_scale, b)?;
        let terms = Accurate { transposed: true, alpha: matrix_scale, x: &scaled_b, plus: None };
        a.product_accurate(&mut s, terms)?;
        let norm = f64::from(ops::norm2(&s)?.read()?) * (f64::from(scale) / f64::from(own_scale));
        Ok(Run {
            a,
            m,
            b,
            x: start,
            y: PingPong::new(Vector::zeros(device, cols)?, of(cols)?),
            r: PingPong::new(r, of(rows)?),
            s,
            rest: None,
            d: PingPong::new(of(cols)?, of(cols)?),
            q: of(rows)?,
            z: if m.is_identity() { None } else { Some(of(cols)?) },
            steps: Steps::new(device, windows)?,
            norm,
            norm_b,
            residual: 0.0,
            aim,
            began_at_zero: from_zero,
            orthogonal: false,
            scale,
            rescaled: false,
            matrix_scale,
        })
    }
}

impl Run<'_> {
    /// `Aᵀb` came out as zero. Is it, or has it vanished below the range of floats? Asked again 2¹⁰⁰ times larger.
    fn require_orthogonal(&self) -> Result<()> {
        let mut b = Vector::uninit(self.a.device(), self.b.len())?;
        ops::scaled(&mut b, scale_of(self.norm_b), self.b)?;
        let mut s = Vector::uninit(self.a.device(), self.s.len())?;
        let alpha = (100.0 - f64::from(self.a.exponent()?)).clamp(-125.0, 125.0).exp2() as f32;
        self.a.product_accurate(&mut s, Accurate { transposed: true, alpha, x: &b, plus: None })?;
        if ops::max_abs(&s)?.read()? == 0.0 {
            return Ok(());
        }
        let detail =
            "has coefficients so far apart that the transposed product with b underflows 32-bit floats";
        Err(Error::Matrix { op: "Cgls", detail: detail.into() })
    }

    /// `r = b - A x` and `Aᵀ r` in double-float, scaled. `Aᵀ` is applied to what rounding leaves of `r` as well: beside
    /// a large `r` that is more than a small `Aᵀ r`.
    fn residual(&mut self) -> Result<Accuracy> {
        let (a, terms) = (self.a, Accurate::residual(self.scale, self.b, &self.x));
        let first = a.product_accurate(self.r.front_mut(), terms)?;
        let mut rest = Vector::uninit(a.device(), self.b.len())?;
        self.rest = match first == Accuracy::DoubleFloat && a.product_part(&mut rest, terms, Part::Rest)? {
            false => None,
            true => {
                let mut of_rest = Vector::uninit(a.device(), self.x.len())?;
                a.product_transposed(&mut of_rest, Combine::Replace, self.matrix_scale, &rest)?;
                Some(of_rest)
            }
        };
        let plus = self.rest.as_ref().map(|of_rest| (1.0, of_rest));
        let terms = Accurate { transposed: true, alpha: self.matrix_scale, x: self.r.front(), plus };
        let second = a.product_accurate(&mut self.s, terms)?;
        Ok(if first == second { first } else { Accuracy::Single })
    }

    /// A bound on the error of `r` with its rest.
    fn error(&self) -> Result<Vector> {
        error_bound(self.a, Accurate::residual(self.scale, self.b, &self.x))
    }

    /// `‖b‖` in the scaled units; 1 where that is 0.
    fn unit_b(&self) -> f64 {
        if self.norm_b == 0.0 { 1.0 } else { self.norm_b * f64::from(self.scale) }
    }
}

impl Method for Run<'_> {
    const NAME: &'static str = "conjugate gradients for least squares";

    fn device(&self) -> &Device {
        self.a.device()
    }

    fn true_residual(&mut self) -> Result<(f64, Accuracy)> {
        gather_up(&mut self.x, &mut self.y)?;
        project_out(&mut self.x, self.a.null_space())?;
        let finite = AllFinite::ask(&self.x)?;
        let mut accuracy = self.residual()?;
        let mut norm = norm_of(self.r.front())?;
        if !finite.wait()? {
            self.residual = f64::INFINITY;
            return Ok((f64::INFINITY, accuracy));
        }
        if self.scale < scale_of(self.norm_b)
            && let Some(scale) = closer_scale(self.norm_b, norm, self.scale)
        {
            self.norm *= f64::from(scale) / f64::from(self.scale);
            (self.scale, self.rescaled) = (scale, true);
            accuracy = self.residual()?;
            norm = norm_of(self.r.front())?;
        }
        self.residual = norm / self.unit_b();
        Ok((norm_of(&self.s)? / self.norm, accuracy))
    }

    fn rounding(&mut self) -> Result<f64> {
        if self.orthogonal {
            return Ok(0.0); // what is zero has been looked at 2¹⁰⁰ times larger
        }
        let (transposed, alpha) = (true, self.matrix_scale);
        // Of the product with r, twice to cover that with the rest, which is so much smaller and rounded so much more.
        let plus = self.rest.as_ref().map(|of_rest| (1.0, of_rest));
        let own = norm_of_error(self.a, Accurate { transposed, alpha, x: self.r.front(), plus })?;
        let of_r = self.error()?;
        let mut carried = Vector::uninit(self.a.device(), self.x.len())?;
        let terms = Accurate { transposed, alpha, x: &of_r, plus: None };
        let carried = if self.rest.is_some() && self.a.product_part(&mut carried, terms, Part::Magnitude)? {
            norm_of(&carried)?
        } else {
            // What rounding to 32 bits has taken from r counts as well, where it is not known.
            let lost = norm_of(&of_r)? + norm_of(self.r.front())? / f64::from(1u32 << 24);
            f64::from(self.a.exponent()? + 1).exp2() * f64::from(alpha) * lost
        };
        Ok((2.0 * own + carried) / self.norm)
    }

    fn began_at_zero(&mut self) -> &mut bool {
        &mut self.began_at_zero
    }

    fn other_residual(&self) -> Option<f64> {
        Some(self.residual)
    }

    fn other_rounding(&mut self) -> Result<f64> {
        Ok(norm_of(&self.error()?)? / self.unit_b())
    }

    fn restart(&mut self, bounds: Bounds, iterations: usize, keep_direction: bool) -> Result<()> {
        self.steps.reset(bounds, iterations)?;
        // Closer, where the bound was met and what was recomputed does not confirm it.
        self.aim = self.aim.min(0.5 * self.residual);
        self.steps.stop_at((self.aim * self.unit_b()).powi(2) as f32);
        let keep_direction = keep_direction && !std::mem::take(&mut self.rescaled);
        let mut z = Vector::uninit(self.a.device(), self.s.len())?;
        self.m.precondition(&mut z, &self.s)?;
        self.steps.begin(&mut self.d, &self.s, z, keep_direction)
    }

    fn iterate(&mut self) -> Result<()> {
        self.a.product(&mut self.q, Combine::Replace, self.matrix_scale, self.d.front())?;
        self.steps.alpha_step(Dots::LeastSquares, &[&self.q, self.r.front()])?;
        let x_scale = (f64::from(self.matrix_scale) / f64::from(self.scale)) as f32;
        self.steps.advance(&mut self.y, x_scale, self.d.front())?;
        self.steps.advance(&mut self.r, -1.0, &self.q)?;
        self.a.product_transposed(&mut self.s, Combine::Replace, self.matrix_scale, self.r.front())?;
        let z = match &mut self.z {
            Some(z) => {
                self.m.precondition(z, &self.s)?;
                z
            }
            None => &self.s,
        };
        self.steps.beta_step(&self.s, z, Entry::Iteration)?;
        self.steps.turn(&mut self.d, z)
    }

    fn report(&self) -> &Scalar {
        self.steps.report()
    }

    fn unit(&self) -> f64 {
        self.norm * self.norm
    }

    fn iterate_mut(&mut self) -> &mut Vector {
        &mut self.x
    }

    fn discard(&mut self) -> Result<()> {
        self.y.front_mut().set_zero()
    }
}
