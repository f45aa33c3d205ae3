//! Division by the diagonal.

use super::Preconditioner;
use crate::data::{Vector, exponent};
use crate::error::{Error, Result};
use crate::host::number;
use crate::ops::{self, LinOp};

/// Division by the diagonal: `z_i = c r_i / A[i, i]`, where `c` is a power of two that makes the largest factor about
/// 1; a multiple of a preconditioner is as good as the preconditioner, and this one cannot overflow.
pub struct Jacobi {
    inverse: Vector,
}

shown!(Jacobi, |m| "Jacobi({})", m.inverse.len());

impl Jacobi {
    /// From the operator's diagonal, for conjugate gradients.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::Matrix`] naming the first row whose diagonal is zero or negative;
    /// [`Error::Unsupported`] when the operator does not know its diagonal.
    pub fn new(a: &dyn LinOp) -> Result<Self> {
        Self::from_diagonal(a, &a.diagonal()?, "diagonal entry")
    }

    /// From the squared norms of the columns, which are the diagonal of `AᵀA`, for least squares.
    ///
    /// *Errors*: [`Error::Matrix`] naming the first column of zeros.
    pub fn for_least_squares(a: &dyn LinOp) -> Result<Self> {
        Self::from_diagonal(a, &a.column_squares()?, "squared norm of the column")
    }

    fn from_diagonal(a: &dyn LinOp, diagonal: &[f64], what: &str) -> Result<Self> {
        if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d > 0.0 && d.is_finite())) {
            let d = number(*d);
            let detail = format!("has the {what} {d} at {i} (counted from 0), expected a positive number");
            return Err(Error::Matrix { op: "Jacobi", detail });
        }
        let smallest = diagonal.iter().fold(f64::MAX, |m, d| m.min(*d));
        let scale = f64::from(exponent(smallest)).exp2();
        let inverse: Vec<f64> = diagonal.iter().map(|d| scale / d).collect();
        Ok(Jacobi { inverse: Vector::from_f64(a.device(), &inverse)? })
    }
}

impl Preconditioner for Jacobi {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::mul(z, &self.inverse, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        Some(&self.inverse)
    }
}
