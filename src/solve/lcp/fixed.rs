//! Projected Jacobi with fixed relaxation and a fixed number of sweeps.

use super::diagonal::positive_diagonal;
use crate::data::Vector;
use crate::error::{Error, Result, check_finite};
use crate::gl::glsl;
use crate::host::number;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Combine, LinOp};
use crate::solve::drive::check::check_vectors;

/// `x ← max(x - ω D⁻¹ (A x + b), 0)`, a fixed number of times: the listing of \[Moravanszky03\] 4.2 for the linear
/// complementarity problem `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0`.
///
/// `D` is the diagonal of `A`. The paper writes `D = ω diag(A)⁻¹` and adds: its ω is negative (-0.1 where ω is 0.1
/// here). Nothing is looked at and nothing read back, so nothing is known of the result but that it is not negative:
/// ask [`natural_residual`](super::natural_residual), or use [`LcpSolver`](super::LcpSolver), which chooses the
/// relaxation by itself and says what it has reached. For symmetric positive definite `A` the sweeps converge if
/// `0 < ω < 2 / λ_max(D⁻¹ A)`; past that they may oscillate for ever.
///
/// *Cost* of a sweep: one product, one draw; no readback, no scalar.
///
/// ```
/// use texla::{Shape, SparseFormat, SparseMatrix, Vector, host::Triplets, solve::ProjectedJacobi};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let t = Triplets::from_dense(Shape::new(2, 2), &[2.0, 1.0, 1.0, 2.0])?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Gather)?;
/// let b = Vector::from_slice(dev, &[-5.0, -6.0])?;
/// let mut x = Vector::zeros(dev, 2)?; // warm start in, result out
/// ProjectedJacobi::new(&a, 1.0)?.run(&mut x, &b, 40)?;
/// let x = x.read()?;
/// assert!((x[0] - 4.0 / 3.0).abs() < 1e-6 && (x[1] - 7.0 / 3.0).abs() < 1e-6);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct ProjectedJacobi<A> {
    a: A,
    /// `ω / a_ii`.
    d: Vector,
}

shown!([A: LinOp] ProjectedJacobi<A>, |s| "ProjectedJacobi({})", s.a.shape());

impl<A: LinOp> ProjectedJacobi<A> {
    /// With the relaxation `omega`, for an operator that is borrowed, shared or owned: see
    /// [`Krylov`](crate::solve::Krylov#ownership).
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::Parameter`] unless `omega` is positive and finite; [`Error::Matrix`] when
    /// `a` is not square, or naming the first row whose diagonal is not positive; [`Error::Unsupported`] when the
    /// operator does not know its diagonal; [`Error::NonFinite`] when `omega / a_ii` overflows.
    pub fn new(a: A, omega: f32) -> Result<Self> {
        let op = "ProjectedJacobi";
        check_omega(op, omega)?;
        let diagonal = positive_diagonal(op, &a)?;
        let d: Vec<f64> = diagonal.iter().map(|d| f64::from(omega) / d).collect();
        check_finite("ProjectedJacobi: omega / a_ii", d.iter().copied())?;
        Ok(ProjectedJacobi { d: Vector::from_f64(a.device(), &d)?, a })
    }

    /// Runs `sweeps` sweeps, from the warm start in `x`.
    ///
    /// *Cost*: two copies besides the sweeps. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`].
    pub fn run(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        run(&self.a, &self.d, x, b, sweeps)
    }
}

fn run(a: &dyn LinOp, d: &Vector, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
    check_vectors("ProjectedJacobi::run", a, x, b)?;
    if sweeps == 0 {
        return Ok(());
    }
    let device = a.device();
    let _scope = device.scope()?;
    let fresh = || Vector::uninit(device, x.len());
    let mut iterate = PingPong::new(fresh()?, fresh()?);
    let mut w = fresh()?;
    ops::copy(iterate.front_mut(), x)?;
    for _ in 0..sweeps {
        // w = A x + b
        ops::product(&mut w, Combine::AddTo(b), 1.0, a, iterate.front())?;
        // x = max(x - ω D⁻¹ w, 0)
        Draw::new(device, glsl!("lcp/fixed.frag"))
            .input("x", iterate.front().view())
            .input("d", d.view())
            .input("w", w.view())
            .target(iterate.back().view())
            .run()?;
        iterate.swap();
    }
    // Into the caller's texture, which the application may hold.
    ops::copy(x, iterate.front())
}

/// Refuses a relaxation that is none.
pub(super) fn check_omega(op: &'static str, omega: f32) -> Result<()> {
    if omega > 0.0 && omega.is_finite() {
        return Ok(());
    }
    let expected = "a positive number (the negative one of the paper with its sign turned)";
    Err(Error::Parameter { op, name: "omega", value: number(omega), expected })
}
