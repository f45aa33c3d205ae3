//! The one product of \[Krueger05\], for every representation of a matrix.

use super::linop::LinOp;
use crate::data::Vector;
use crate::error::Result;
use crate::ops::Combine;

/// `y = A x (op) z`: the `matrixVectorOp` of \[Krueger05\] Listing 44-1, for every operator.
///
/// | `matrixVectorOp(op, x, z, y)` | `op` |
/// |---|---|
/// | `CL_NULL` | [`Combine::Replace`] |
/// | `CL_ADD`, `CL_SUB`, `CL_MUL` | [`Combine::AddTo`], [`Combine::Subtract`], [`Combine::Multiply`] |
/// | not in the paper | [`Combine::SubtractFrom`] (a residual), [`Combine::Accumulate`], [`Combine::Divide`], [`Combine::Max`], [`Combine::Min`] |
///
/// *Shapes*, *cost* and *errors*: those of the operator's product: [`ops::dense_product`](crate::ops::dense_product),
/// [`ops::stack_product`](crate::ops::stack_product), [`ops::banded_product`](crate::ops::banded_product),
/// [`ops::folded_product`](crate::ops::folded_product), [`ops::sparse_product`](crate::ops::sparse_product). No
/// readback. *Source*: \[Krueger05\] 44.3.3, 44.3.5.
///
/// ```
/// use texla::solve::matrix_vector_op;
/// use texla::{BandedMatrix, Vector, ops::Combine};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 2, 1)?; // 4 -1, -1 4
/// let (x, b) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[0.5, 10.0])?);
/// let mut y = Vector::zeros(dev, 2)?;
/// matrix_vector_op(&mut y, &a, Combine::Replace, &x)?;
/// assert_eq!(y.read()?, [2.0, 7.0]);
/// matrix_vector_op(&mut y, &a, Combine::Subtract(&b), &x)?;
/// assert_eq!(y.read()?, [1.5, -3.0]);
/// matrix_vector_op(&mut y, &a, Combine::Multiply(&b), &x)?;
/// assert_eq!(y.read()?, [1.0, 70.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn matrix_vector_op<A: LinOp + ?Sized>(y: &mut Vector, a: &A, op: Combine<'_>, x: &Vector) -> Result<()> {
    a.apply(y, op, 1.0, x)
}
