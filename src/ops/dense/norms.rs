//! Numbers that belong to a matrix.

use super::vector::{Use, product};
use crate::data::{Matrix, Scalar, Vector};
use crate::error::Result;
use crate::ops::{self, Combine, Product};

/// `Σ a_ii`; 0 for no elements.
///
/// *Shapes*: any; of a matrix that is not square, the main diagonal. *Cost*: 1 draw for each tile, and a
/// [`sum`](ops::sum). *Bound*: as of that.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// use texla::{Matrix, Shape, ops};
/// let a = Matrix::from_rows(ctx.device(), Shape::new(2, 2), &[1., 2., 3., -4.])?;
/// assert_eq!(ops::trace(&a)?.read()?, -3.0);
/// assert_eq!(ops::norm1(&a)?.read()?, 6.0); // the largest column sum of |A|
/// assert_eq!(ops::norm_inf(&a)?.read()?, 7.0); // the largest row sum
/// assert_eq!(ops::max_abs(&a)?.read()?, 4.0);
/// assert_eq!(ops::norm_squared(&a)?.read()?, 30.0); // of the Frobenius norm, which is ops::norm2
/// # Ok::<(), texla::Error>(())
/// ```
pub fn trace(a: &Matrix) -> Result<Scalar> {
    let _scope = a.device().exclusive_scope()?;
    ops::sum(&a.diagonal()?)
}

/// `max_j Σ_i |a_ij|`; 0 for no elements. *Cost*: a product of `|A|ᵀ` with a vector of ones, and a reduction; no
/// readback. *Bound*: `γ_(n+2)` of the result.
pub fn norm1(a: &Matrix) -> Result<Scalar> {
    largest_sum(a, true)
}

/// `max_i Σ_j |a_ij|`; 0 for no elements. *Cost* and *bound*: as [`norm1`], with rows and columns exchanged.
pub fn norm_inf(a: &Matrix) -> Result<Scalar> {
    largest_sum(a, false)
}

fn largest_sum(a: &Matrix, columns: bool) -> Result<Scalar> {
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    let shape = if columns { a.shape().transposed() } else { a.shape() };
    let ones = Vector::filled(device, shape.cols, 1.0)?;
    let mut sums = Vector::zeros(device, shape.rows)?;
    let terms = Product { combine: Combine::Replace, alpha: 1.0.into(), x: &ones };
    product(&mut sums, a, terms, Use { transposed: columns, absolute: true })?;
    ops::max_abs(&sums)
}
