//! Sparse matrices that are nearly the inverse of another one.

use super::{Preconditioner, entries};
use crate::data::{SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::Csr;
use crate::host::approximate::{fsai, spai};
use crate::ops::{self, Combine, LinOp};
use crate::solve::drive::check::{check_square, check_symmetric, check_vectors_of};
use crate::solve::drive::scales::exponent_of;

/// A factorised sparse approximate inverse `GᵀG ≈ A⁻¹` of a symmetric positive definite matrix (L. Kolotilina, A. Yeremin, SIAM J.
/// Matrix Anal. Appl. 14, 1993): for [`ConjugateGradient`](crate::solve::ConjugateGradient).
///
/// `G` is the lower triangular matrix on the pattern of a power of `A` for which `‖I - G L‖` is least in the norm of Frobenius, with the
/// factor `L` of Cholesky, which nobody needs to know: each row is the solution of a small dense system. `diag(G A Gᵀ) = 1`.
///
/// *Cost* of an application: two products, with `G` and with `Gᵀ`.
///
/// ```
/// use texla::{SparseFormat, SparseMatrix, Vector, host::problems, solve::{CgParams, ConjugateGradient, Fsai}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = SparseMatrix::from_triplets(dev, &problems::poisson_2d(40, 40), SparseFormat::Auto)?;
/// let b = Vector::filled(dev, 1600, 1.0)?;
/// let plain = ConjugateGradient::new(&a, CgParams::default())?.solve(&mut Vector::zeros(dev, 1600)?, &b)?;
/// let m = Fsai::new(&a, 2)?;
/// let cg = ConjugateGradient::preconditioned(&a, &m, CgParams::default())?;
/// let fewer = cg.solve(&mut Vector::zeros(dev, 1600)?, &b)?;
/// assert!(3 * fewer.iterations < 2 * plain.iterations, "{fewer}; {plain}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct Fsai {
    factor: SparseMatrix,
}

impl Fsai {
    /// From the entries of a symmetric operator, on the pattern of its lower triangle (`power` 1) or of that of its square without
    /// small elements (2).
    ///
    /// *Cost*: on the host, on all its cores, a dense system for each row; up to 4 uploads. *Errors*: [`Error::Parameter`];
    /// [`Error::Matrix`] when it is not square or not symmetric, or naming a row whose diagonal is not positive;
    /// [`Error::Unsupported`] when the operator does not give its entries ([`pattern`](crate::ops::LinOp::pattern)).
    pub fn new(a: impl LinOp, power: usize) -> Result<Self> {
        Self::of(&a, power)
    }

    fn of(a: &dyn LinOp, power: usize) -> Result<Self> {
        let op = "Fsai";
        check_square(op, a)?;
        check_symmetric(op, a)?;
        check_power(op, "power", power)?;
        let factor = fsai(entries(op, a)?, power)?;
        // Twice half of it: A times what is applied is about 1, as is the matrix on the device.
        Ok(Fsai { factor: scaled(a.device(), &factor, exponent_of(a)? / 2)? })
    }

    /// Nonzeros of `G`.
    pub fn nonzeros(&self) -> usize {
        self.factor.pattern().nnz()
    }
}

impl Preconditioner for Fsai {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let g = &self.factor;
        check_vectors_of("Fsai::apply", g.device(), g.shape(), z, r)?;
        let _scope = g.device().scope()?;
        let mut between = Vector::uninit(g.device(), r.len())?;
        ops::product(&mut between, Combine::Replace, 1.0, g, r)?;
        ops::product_transposed(z, Combine::Replace, 1.0, g, &between)
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

/// A sparse approximate inverse `M` of any square matrix: `‖A M - I‖` is least in the norm of Frobenius, column by column, on the
/// pattern of `A` or of its square (M. Grote, T. Huckle, SIAM J. Sci. Comput. 18, 1997, with a pattern that is given). For
/// [`Gmres`](crate::solve::Gmres) and [`BiCgStab`](crate::solve::BiCgStab).
///
/// *Cost* of an application: a product.
///
/// ```
/// use texla::{SparseFormat, SparseMatrix, Vector, host::Triplets, solve::{BiCgStab, BiCgStabParams, Spai}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut t = Triplets::new(texla::Shape::new(50, 50)); // diffusion with a strong wind
/// for i in 0..50 {
///     t.push(i, i, 3.0)?;
///     if i > 0 { t.push(i, i - 1, -2.0)?; t.push(i - 1, i, -1.0)?; }
/// }
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Auto)?;
/// let b = Vector::filled(dev, 50, 1.0)?;
/// let plain = BiCgStab::new(&a, BiCgStabParams::default())?.solve(&mut Vector::zeros(dev, 50)?, &b)?;
/// let m = Spai::new(&a, 2)?;
/// let solver = BiCgStab::preconditioned(&a, &m, BiCgStabParams::default())?;
/// let fewer = solver.solve(&mut Vector::zeros(dev, 50)?, &b)?;
/// assert!(fewer.converged() && fewer.iterations < plain.iterations, "{fewer}; {plain}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct Spai {
    inverse: SparseMatrix,
}

impl Spai {
    /// From the entries of a square operator, on the pattern of `A` (`steps` 1) or of `A²` (2).
    ///
    /// *Cost*: on the host, on all its cores, a dense least-squares problem for each column; up to 4 uploads. *Errors*: as of
    /// [`Fsai::new`], but for symmetry.
    pub fn new(a: impl LinOp, steps: usize) -> Result<Self> {
        Self::of(&a, steps)
    }

    fn of(a: &dyn LinOp, steps: usize) -> Result<Self> {
        let op = "Spai";
        check_square(op, a)?;
        check_power(op, "steps", steps)?;
        let inverse = spai(entries(op, a)?, steps)?;
        Ok(Spai { inverse: scaled(a.device(), &inverse, exponent_of(a)?)? })
    }

    /// Nonzeros of `M`.
    pub fn nonzeros(&self) -> usize {
        self.inverse.pattern().nnz()
    }
}

impl Preconditioner for Spai {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let m = &self.inverse;
        check_vectors_of("Spai::apply", m.device(), m.shape(), z, r)?;
        ops::product(z, Combine::Replace, 1.0, m, r)
    }

    fn indefinite(&self) -> Option<String> {
        Some("is a sparse approximate inverse that need not be symmetric (Fsai is)".to_owned())
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

fn check_power(op: &'static str, name: &'static str, power: usize) -> Result<()> {
    if (1..=2).contains(&power) {
        return Ok(());
    }
    Err(Error::Parameter { op, name, value: power.to_string(), expected: "1 or 2" })
}

/// `2^exponent` times a matrix of the host's, on the device.
pub(super) fn scaled(device: &Device, csr: &Csr, exponent: i32) -> Result<SparseMatrix> {
    let unit = f64::from(exponent).exp2();
    let values: Vec<f64> = csr.values().iter().map(|v| v * unit).collect();
    SparseMatrix::from_csr(device, csr.with_values(&values)?, SparseFormat::Auto)
}
