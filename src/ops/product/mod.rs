//! The one verb for a matrix and a vector: `y = combine(α A x)`, for every operator.
//!
//! What is asked is checked here, once, and only what has been checked reaches the code of a form ([`LinOp::apply`],
//! [`LinOp::accurate`]).

mod accurate;
mod combine;
mod exact;
mod handle;
mod inlined;
mod linop;

pub use accurate::{Accuracy, Accurate, Part, product_accurate, product_part};
pub use combine::{Combine, Product};
pub use exact::{ExactSum, Summand};
pub use handle::Handle;
pub use inlined::Inlined;
pub use linop::LinOp;

pub(super) use accurate::{Sums, is_exact};
pub(super) use combine::Ending;
pub(crate) use exact::{no_exact_product, pair_product};
pub(crate) use inlined::inlined;

use std::ops::Deref;

use super::Coefficient;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// Operands that [`product`] or [`product_accurate`] has checked: shapes, devices, factors, and that none of them is the
/// result. Nobody else makes one, so whoever implements [`LinOp`] need not look again; an operator made of another one
/// of the same shape hands it on as it is.
#[derive(Clone, Copy, Debug)]
pub struct Checked<T>(T);

impl<T> Deref for Checked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// `y = combine(α A x)`: the `matrixVectorOp` of \[Krueger05\] Listing 44-1, for every operator. `α` is a number, or a
/// [`Scalar`](crate::Scalar) that never leaves the device.
///
/// | `matrixVectorOp(op, x, z, y)` | `combine` |
/// |---|---|
/// | `CL_NULL` | [`Combine::Replace`] |
/// | `CL_ADD`, `CL_SUB`, `CL_MUL` | [`Combine::AddTo`], [`Combine::Subtract`], [`Combine::Multiply`] |
/// | not in the paper | [`Combine::SubtractFrom`] (a residual), [`Combine::Accumulate`], [`Combine::Divide`], [`Combine::Max`], [`Combine::Min`] |
///
/// *Shapes*: `A` m x n, `x` n, `y` and the vector in `combine` m. *Cost*: no readback, and for
///
/// | `A` | |
/// |---|---|
/// | [`Matrix`](crate::Matrix) | 1 draw if small; else 2, the first of which sums ranges of columns side by side; tiled 2 for each row of tiles and 1 for each tile. 5 fetches for 16 multiply-adds |
/// | [`ColumnStack`](crate::ColumnStack) | 1 draw for each texture, and one more where ranges are summed side by side because `y` is small; 5 fetches for 16 multiply-adds |
/// | [`BandedMatrix`](crate::BandedMatrix) | 1 draw for every 12 diagonals; each texel of `x` that several diagonals of a pass need is fetched once |
/// | [`FoldedBands`](crate::FoldedBands) | 1 draw that writes `x` twice in a row, and 1 for every 12 vectors |
/// | [`SparseMatrix`](crate::SparseMatrix) gathered | 1 draw; for each texel of `y` as many slots as its slice is wide, 6 fetches each |
/// | as points | 1 clear or 1 draw for `combine`, and 1 draw of one point for four nonzeros of a row; 1 or 2 more with a factor on the device |
/// | [`Stencil`](crate::Stencil) | 1 draw; 5 fetches a texel on a plane and 7 in space where nx is a multiple of four, about twice as many elsewhere |
///
/// *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`], [`Error::Feedback`] if `x` or the vector in `combine` is
/// `y`, [`Error::Parameter`] for an `α` that is not finite. *Bound*: `γ_(k+2) (|α| |A| |x| + |z|)_i` for the k terms of
/// row i (one more with a factor on the device): columns of a dense matrix, diagonals or folded vectors, nonzeros, 1 +
/// twice the axes of a stencil (and 1 for `z`). *Source*: \[Krueger05\] 44.3.3, 44.3.5; dense \[Moravanszky03\] 4.1.
///
/// ```
/// use texla::{BandedMatrix, Scalar, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 2, 1)?; // 4 -1, -1 4
/// let (x, b) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[0.5, 10.0])?);
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [2.0, 7.0]);
/// ops::product(&mut y, Combine::Subtract(&b), 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [1.5, -3.0]);
/// ops::product(&mut y, Combine::Multiply(&b), &Scalar::new(dev, 3.0)?, &a, &x)?;
/// assert_eq!(y.read()?, [3.0, 210.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[doc(alias = "matrixVectorOp")]
#[doc(alias = "spmv")]
#[doc(alias = "gemv")]
pub fn product<'a, A: LinOp + ?Sized>(
    y: &mut Vector,
    combine: Combine<'a>,
    alpha: impl Into<Coefficient<'a>>,
    a: &A,
    x: &'a Vector,
) -> Result<()> {
    run(y, a, a.shape(), &Product { combine, alpha: alpha.into(), x }, false)
}

/// `y = combine(α Aᵀ x)`, without transposing `A` in memory ([`SparseMatrix`](crate::SparseMatrix) puts `Aᵀ` on the
/// device when it is first used).
///
/// *Shapes*: `A` m x n, `x` m, `y` and the vector in `combine` n. *Cost*, *errors* and *bound*: as [`product`], with
/// rows and columns exchanged; of diagonals whose offset is no multiple of four two fetches each, and 1 draw more for
/// [`FoldedBands`](crate::FoldedBands), which adds two halves. [`Error::Unsupported`] for an operator without it.
///
/// ```
/// use texla::{Matrix, Shape, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let x = Vector::from_slice(dev, &[1., 10.])?;
/// let mut y = Vector::zeros(dev, 3)?;
/// ops::product_transposed(&mut y, Combine::Replace, 2.0, &a, &x)?;
/// assert_eq!(y.read()?, [82., 104., 126.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn product_transposed<'a, A: LinOp + ?Sized>(
    y: &mut Vector,
    combine: Combine<'a>,
    alpha: impl Into<Coefficient<'a>>,
    a: &A,
    x: &'a Vector,
) -> Result<()> {
    run(y, a, a.shape().transposed(), &Product { combine, alpha: alpha.into(), x }, true)
}

fn run<A: LinOp + ?Sized>(
    y: &mut Vector,
    a: &A,
    shape: Shape,
    terms: &Product<'_>,
    transposed: bool,
) -> Result<()> {
    let op = if transposed { "product_transposed" } else { "product" };
    check(op, a.device(), shape, y, terms.x, terms.combine.operand())?;
    match terms.alpha {
        Coefficient::Host(alpha) => finite(op, "alpha", alpha)?,
        Coefficient::Device(alpha) => super::check_device(op, "alpha", alpha.device(), y.device())?,
    }
    let apply = |y: &mut Vector, terms: Product<'_>| {
        keeping(op, y, |y| match transposed {
            false => a.apply(y, Checked(terms)),
            true => a.apply_transposed(y, Checked(terms)),
        })
    };
    if !matches!(terms.combine, Combine::Accumulate) || a.accumulates() {
        return apply(y, *terms);
    }
    // The sum goes into a pooled texture, which then changes places with that of `y`.
    y.writable("accumulating a product")?;
    if y.is_empty() {
        return Ok(()); // nothing to add to, and padding that is to stay zero
    }
    let mut sum = Vector::uninit(y.device(), y.len())?;
    apply(&mut sum, Product { combine: Combine::AddTo(y), ..*terms })?;
    std::mem::swap(y, &mut sum);
    Ok(())
}

/// What every product checks, of `A` or of `Aᵀ`.
fn check(
    op: &'static str,
    device: &Device,
    shape: Shape,
    y: &Vector,
    x: &Vector,
    z: Option<&Vector>,
) -> Result<()> {
    super::check_shape(op, "x", x.shape(), Shape::column(shape.cols))?;
    super::check_shape(op, "y", y.shape(), Shape::column(shape.rows))?;
    super::check_device(op, "y", y.device(), device)?;
    y.writable(op)?;
    if let Some(z) = z {
        super::check_shape(op, "z", z.shape(), Shape::column(shape.rows))?;
    }
    for (operand, v) in [("x", Some(x)), ("z", z)] {
        let Some(v) = v else { continue };
        super::check_device(op, operand, v.device(), device)?;
        if v.gl_texture().raw() == y.gl_texture().raw() {
            return Err(Error::Feedback { kernel: op.to_owned(), input: operand.to_owned() });
        }
    }
    Ok(())
}

impl<'a> Product<'a> {
    /// `b - A x` for a form that computes it in some texels of `r` alone.
    pub(crate) fn residual(
        op: &'static str,
        r: &Vector,
        b: &'a Vector,
        a: &dyn LinOp,
        x: &'a Vector,
    ) -> Result<Self> {
        check(op, a.device(), a.shape(), r, x, Some(b))?;
        Ok(Product { combine: Combine::SubtractFrom(b), alpha: Coefficient::Host(1.0), x })
    }
}

fn finite(op: &'static str, name: &'static str, value: f32) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    let (value, expected) = (value.to_string(), "a finite number");
    Err(Error::Parameter { op, name, value, expected })
}

/// Lets code that may be a user's write `y`. An exchange for another vector is as good as writing, if that is of the same
/// length, on the same device and texla's own; the passes that read it next rely on all three.
pub(crate) fn keeping<T>(
    op: &'static str,
    y: &mut Vector,
    write: impl FnOnce(&mut Vector) -> Result<T>,
) -> Result<T> {
    let (shape, device) = (y.shape(), y.device().clone());
    let done = write(y)?;
    super::check_shape(op, "y", y.shape(), shape)?;
    super::check_device(op, "y", y.device(), &device)?;
    y.writable(op)?;
    Ok(done)
}
