//! The diagonal that projected Jacobi divides by.

use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::check::square_diagonal;

/// The diagonal of a square operator, all of it positive.
///
/// *Errors*: [`Error::Matrix`] naming the first row whose diagonal is zero, negative or not finite; or when the
/// operator is not square. [`Error::Unsupported`] when it does not know its diagonal.
pub(super) fn positive_diagonal(op: &'static str, a: &dyn LinOp) -> Result<Vec<f64>> {
    let diagonal = square_diagonal(op, a)?;
    check_positive(op, &diagonal, "")?;
    Ok(diagonal)
}

/// Refuses the first entry that is not positive; `of` says of what, for one of several problems.
pub(super) fn check_positive(op: &'static str, diagonal: &[f64], of: &str) -> Result<()> {
    match diagonal.iter().enumerate().find(|(_, d)| !(**d > 0.0 && d.is_finite())) {
        None => Ok(()),
        Some((i, d)) => {
            let detail = format!(
                "{of}has the diagonal entry {d} in row {i} (counted from 0), expected a positive number: projected \
                 Jacobi does not apply"
            );
            Err(Error::Matrix { op, detail })
        }
    }
}
