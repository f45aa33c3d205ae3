//! Division by the diagonal.

use super::Preconditioner;
use crate::data::{Vector, exponent};
use crate::error::{Error, Result};
use crate::host::number;
use crate::ops::{self, LinOp};
use crate::solve::drive::scales::power;

/// Division by the diagonal: `z_i = c r_i / A[i, i]`, where `c` is a power of two that makes the largest factor about
/// 1 (for least squares the one of the largest column, as far as others have room); a multiple of a preconditioner is as good as the
/// preconditioner, and this one cannot overflow.
pub struct Jacobi {
    inverse: Vector,
    /// `c = 2^exponent`.
    exponent: i32,
    /// The first row whose diagonal is negative.
    negative: Option<(usize, f64)>,
}

shown!(Jacobi, |m| "Jacobi({})", m.inverse.len());

/// The exponent that the largest factor may have where it is not to be about 1.
const MOST: i32 = 100;

impl Jacobi {
    /// From the operator's diagonal. Where that is negative somewhere, [`BiCgStab`](crate::solve::BiCgStab) and
    /// [`Gmres`](crate::solve::Gmres) take it; methods for which a preconditioner has to be positive definite refuse it.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::Matrix`] naming the first row whose diagonal is zero;
    /// [`Error::Unsupported`] when the operator does not know its diagonal.
    pub fn new(a: impl LinOp) -> Result<Self> {
        let a: &dyn LinOp = &a;
        let nonzero = |d: f64| d != 0.0;
        let what = ("diagonal entry", "a number other than 0", nonzero);
        Self::from_diagonal("Jacobi", a, &a.diagonal()?, what, i32::MIN)
    }

    /// From the absolute values of the diagonal, and where that is zero the norm of the column: positive definite, for symmetric
    /// operators that are not ([`Minres`](crate::solve::Minres)).
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::Matrix`] naming the first column of zeros; [`Error::Unsupported`] when the operator does
    /// not know its diagonal, or has zeros there and does not know the norms of its columns.
    pub fn absolute(a: impl LinOp) -> Result<Self> {
        let a: &dyn LinOp = &a;
        let mut diagonal: Vec<f64> = a.diagonal()?.into_iter().map(f64::abs).collect();
        if diagonal.contains(&0.0) {
            let norms = a.column_squares()?.into_iter().map(f64::sqrt);
            diagonal.iter_mut().zip(norms).filter(|(d, _)| **d == 0.0).for_each(|(d, norm)| *d = norm);
        }
        let what = ("norm of the column", "a positive number", |d: f64| d > 0.0);
        Self::from_diagonal("Jacobi", a, &diagonal, what, i32::MIN)
    }

    /// From the squared norms of the columns, which are the diagonal of `AᵀA`, for least squares.
    ///
    /// *Errors*: [`Error::Matrix`] naming the first column of zeros.
    pub fn for_least_squares(a: impl LinOp) -> Result<Self> {
        let a: &dyn LinOp = &a;
        let positive = |d: f64| d > 0.0;
        let what = ("squared norm of the column", "a positive number", positive);
        let squares = a.column_squares()?;
        // What it makes of `Aᵀ r` is mapped to about the size of `r` again, however far apart columns are, if that of the largest is
        // about 1: if that of the smallest were, `A p` would vanish.
        let largest = exponent(squares.iter().fold(0.0, |m, d| d.max(m)));
        Self::from_diagonal("Jacobi", a, &squares, what, largest)
    }

    /// For what takes a positive diagonal alone.
    pub(in crate::solve) fn positive(op: &'static str, a: &dyn LinOp) -> Result<Self> {
        let positive = |d: f64| d > 0.0;
        let what = ("diagonal entry", "a positive number", positive);
        Self::from_diagonal(op, a, &a.diagonal()?, what, i32::MIN)
    }

    fn from_diagonal(
        op: &'static str,
        a: &dyn LinOp,
        diagonal: &[f64],
        (what, expected, suits): (&str, &str, impl Fn(f64) -> bool),
        wanted: i32,
    ) -> Result<Self> {
        if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(suits(**d) && d.is_finite())) {
            let d = number(*d);
            let detail = format!("has the {what} {d} at {i} (counted from 0), expected {expected}");
            return Err(Error::Matrix { op, detail });
        }
        // So that the largest is about 1, or as much larger as is wanted and has room.
        let least = exponent(diagonal.iter().fold(f64::MAX, |m, d| m.min(d.abs())));
        let exponent = wanted.clamp(least, least + MOST);
        let scale = f64::from(exponent).exp2();
        let inverse: Vec<f64> = diagonal.iter().map(|d| scale / d).collect();
        let negative = diagonal.iter().copied().enumerate().find(|(_, d)| *d < 0.0);
        Ok(Jacobi { inverse: Vector::from_f64(a.device(), &inverse)?, exponent, negative })
    }

    /// `c` over the diagonal.
    pub(in crate::solve) fn values(&self) -> &Vector {
        &self.inverse
    }

    /// `1 / c`.
    pub(in crate::solve) fn unit(&self) -> f32 {
        power(-self.exponent)
    }
}

impl Preconditioner for Jacobi {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::mul(z, &self.inverse, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        Some(&self.inverse)
    }

    fn indefinite(&self) -> Option<String> {
        let (i, d) = self.negative?;
        Some(format!("has the diagonal entry {} at {i} (counted from 0)", number(d)))
    }
}
