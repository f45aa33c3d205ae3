//! What solvers refuse before they draw anything.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::LinOp;
use crate::shape::Shape;

/// Refuses an operator that is not square.
pub(in crate::solve) fn check_square(op: &'static str, a: &dyn LinOp) -> Result<()> {
    if a.shape().is_square() {
        return Ok(());
    }
    let detail = format!("is {}, expected as many rows as columns", a.shape());
    Err(Error::Matrix { op, detail })
}

/// Refuses an operator that is known not to be symmetric.
pub(in crate::solve) fn check_symmetric(op: &'static str, a: &dyn LinOp) -> Result<()> {
    let Some((i, j, v, w)) = a.asymmetry()? else { return Ok(()) };
    let detail = format!(
        "is not symmetric: A[{i}, {j}] = {v:e} and A[{j}, {i}] = {w:e} (counted from 0); bicgstab and gmres solve such \
         systems, cgls any in the sense of least squares"
    );
    Err(Error::Matrix { op, detail })
}

/// What is asked of the vectors of `A x = b`: `x` is written to, and all are of one device and fit together.
pub(in crate::solve) fn check_vectors(op: &'static str, a: &dyn LinOp, x: &Vector, b: &Vector) -> Result<()> {
    check_vectors_of(op, a.device(), a.shape(), x, b)
}

/// The same for what is no [`LinOp`], but has a device and a shape.
pub(in crate::solve) fn check_vectors_of(
    op: &'static str,
    device: &Device,
    Shape { rows, cols }: Shape,
    x: &Vector,
    b: &Vector,
) -> Result<()> {
    x.writable(op)?;
    ops::check_shape(op, "x", x.shape(), Shape::column(cols))?;
    check_given(op, ("b", b), rows, device)?;
    ops::check_device(op, "x", x.device(), device)
}

/// What is asked of a vector that is read alone.
pub(in crate::solve) fn check_given(
    op: &'static str,
    (name, v): (&'static str, &Vector),
    len: usize,
    device: &Device,
) -> Result<()> {
    ops::check_shape(op, name, v.shape(), Shape::column(len))?;
    ops::check_device(op, name, v.device(), device)
}

/// Refuses more iterations than the device can count.
pub(in crate::solve) fn check_count(op: &'static str, name: &'static str, count: usize) -> Result<()> {
    if count < 1 << 24 {
        return Ok(());
    }
    let expected = "less than 2^24, to which a float counts";
    Err(Error::Parameter { op, name, value: count.to_string(), expected })
}

/// The diagonal of a square operator, one entry for each row.
pub(in crate::solve) fn square_diagonal(op: &'static str, a: &dyn LinOp) -> Result<Vec<f64>> {
    check_square(op, a)?;
    let diagonal = a.diagonal()?;
    let (found, expected) = (diagonal.len(), a.shape().rows);
    if found != expected {
        return Err(Error::LengthMismatch { op, operand: "diagonal", found, expected });
    }
    Ok(diagonal)
}
