//! Division by the matrix itself, by its factors on the host.

use super::{HostInverse, Preconditioner, entries};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{Direct, DirectPlan};
use crate::ops::{self, LinOp};
use crate::shape::Shape;
use crate::solve::drive::check::{check_square, check_vectors_of};

/// Name of the operation in errors.
const OP: &str = "SparseFactors";

/// The inverse of a sparse matrix: `z = A⁻¹ r` by [factors](Direct) on the host, rounded to 32 bits.
///
/// A Krylov method with it begins with up to three corrections `A⁻¹ (b - A x)` in 64 bits ([`Preconditioner::on_host`]), after which
/// most systems need no iteration. An iteration rounds `z` to 32 bits, which spoils it from a condition of a million on. Factors pay
/// where nothing else leads to a solution, or where one set-up serves many right-hand sides.
///
/// # Cost
/// Of a correction and of an application: a readback, the substitutions of [`Direct::solve`] and an upload. Both wait for the device.
/// Feature `direct`.
///
/// # Examples
/// ```
/// use texla::{SparseFormat, StoredMatrix, Vector, host::problems};
/// use texla::solve::{Gmres, GmresParams, SparseFactors};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = StoredMatrix::new(dev, problems::poisson_2d(30, 30).to_csr(), SparseFormat::Auto)?;
/// let (mut x, b) = (Vector::zeros(dev, 900)?, Vector::filled(dev, 900, 1.0)?);
/// let solver = Gmres::preconditioned(&a, SparseFactors::new(&a)?, GmresParams::default())?;
/// let report = solver.solve(&mut x, &b)?;
/// assert!(report.converged() && report.iterations == 0, "{report}");
/// # Ok::<(), texla::Error>(())
/// ```
pub struct SparseFactors {
    direct: Direct,
    device: Device,
    n: usize,
}

shown!(SparseFactors, |m| "SparseFactors({})", m.n);

impl SparseFactors {
    /// Factors the entries of a square operator, whatever that takes.
    ///
    /// # Errors
    /// Those of [`Direct::new`]; [`Error::Unsupported`] if the operator does not give its entries ([`LinOp::pattern`]).
    pub fn new(a: impl LinOp) -> Result<Self> {
        Self::of(&a, false)
    }

    /// The same where it is predicted to take little enough.
    pub(in crate::solve) fn feasible(a: &dyn LinOp) -> Result<Self> {
        Self::of(a, true)
    }

    fn of(a: &dyn LinOp, only_feasible: bool) -> Result<Self> {
        check_square(OP, a)?;
        let pattern = entries(OP, a)?;
        let plan = DirectPlan::new(pattern)?;
        if only_feasible && !plan.is_feasible() {
            return Err(plan.is_too_much());
        }
        Ok(SparseFactors {
            direct: plan.factor(pattern)?,
            device: a.device().clone(),
            n: pattern.shape().rows,
        })
    }
}

impl HostInverse for Direct {
    fn solve(&self, r: &[f64]) -> Result<Vec<f64>> {
        Direct::solve(self, r)
    }
}

impl Preconditioner for SparseFactors {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        check_vectors_of(OP, &self.device, Shape::new(self.n, self.n), z, r)?;
        let right: Vec<f64> = r.read()?.into_iter().map(f64::from).collect();
        if !right.iter().all(|r| r.is_finite()) {
            // An iteration past a breakdown: the method sees it.
            return ops::copy(z, r);
        }
        let solution: Vec<f32> = self.direct.solve(&right)?.into_iter().map(|v| v as f32).collect();
        match solution.iter().position(|v| !v.is_finite()) {
            None => z.write(&solution),
            Some(i) => Err(Error::Matrix {
                op: OP,
                detail: format!("has an inverse that takes element {i} past the range of 32-bit floats"),
            }),
        }
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        Some(&self.direct)
    }

    fn indefinite(&self) -> Option<String> {
        (!self.direct.is_cholesky()).then(|| "is one of LU factors".to_owned())
    }
}
