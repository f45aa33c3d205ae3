//! What a solver needs of a matrix.

use crate::data::{BandedMatrix, FoldedBands, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ops::{self, Accurate, Combine, Part};
use crate::shape::Shape;

/// How exactly [`LinOp::apply_accurate`] has computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// In 32 bits, as [`LinOp::apply`] does. Such a residual cannot certify convergence.
    Single,
    /// In double-float, rounded once.
    DoubleFloat,
}

/// A linear operator on the device: a stored matrix, or anything that can multiply.
///
/// Only [`device`](Self::device), [`shape`](Self::shape) and [`apply`](Self::apply) are required. An operator that
/// does not provide [`apply_accurate`](Self::apply_accurate) can be solved with, but the report then says
/// [`StopReason::Uncertified`](super::StopReason::Uncertified) in place of converged.
pub trait LinOp {
    /// Where the operator lives.
    fn device(&self) -> &Device;

    /// Rows and columns.
    fn shape(&self) -> Shape;

    /// `y = combine(α A x)`. `y` may be exchanged for another vector of the same length on the same device, as operations
    /// in place do; solvers answer any other with a typed error.
    ///
    /// *Errors*: [`Error::ShapeMismatch`].
    fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()>;

    /// `y = combine(α Aᵀ x)`; needed by least squares. *Errors*: [`Error::Unsupported`] unless provided.
    fn apply_transposed(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        let _ = (y, combine, alpha, x);
        Err(Error::Unsupported {
            what: "apply_transposed".into(),
            why: "this operator does not provide it".into(),
        })
    }

    /// `out = α op(A) x + β z`, as exactly as the operator can; `α` and `β` are powers of two.
    fn apply_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
        let Accurate { transposed, alpha, x, plus } = terms;
        let scaled_z = match plus {
            None => None,
            Some((beta, z)) => {
                let mut scaled = Vector::uninit(z.device(), z.len())?;
                ops::scaled(&mut scaled, beta, z)?;
                Some(scaled)
            }
        };
        let combine = scaled_z.as_ref().map_or(Combine::Replace, Combine::AddTo);
        if transposed {
            self.apply_transposed(out, combine, alpha, x)?;
        } else {
            self.apply(out, combine, alpha, x)?;
        }
        Ok(Accuracy::Single)
    }

    /// A part of the sum that [`apply_accurate`](Self::apply_accurate) computes; false, with nothing written, where the
    /// operator cannot tell. By the bound on its error solvers know what a residual is worth. An operator that computes in
    /// double-float and does not provide this is taken to err by 2⁻⁴⁰ `‖A‖ ‖x‖`, with `‖A‖` about
    /// 2^([`exponent`](Self::exponent) + 1). *Errors*: as `apply_accurate`.
    fn accurate_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
        let _ = (out, terms, part);
        Ok(false)
    }

    /// The diagonal, for the Jacobi preconditioner. *Errors*: [`Error::Unsupported`] unless provided.
    fn diagonal(&self) -> Result<Vec<f64>> {
        Err(Error::Unsupported { what: "diagonal".into(), why: "this operator does not provide it".into() })
    }

    /// `Σ_i A[i, j]²` for every column j, for the Jacobi preconditioner of least squares. *Errors*:
    /// [`Error::Unsupported`] unless provided.
    fn column_squares(&self) -> Result<Vec<f64>> {
        Err(Error::Unsupported {
            what: "column_squares".into(),
            why: "this operator does not provide it".into(),
        })
    }

    /// A first pair of places where the operator is known not to be symmetric: row, column, and the two values.
    /// *Errors*: those of asking the device, where only the device knows.
    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        Ok(None)
    }

    /// Vectors that span the null space of `A` and of `Aᵀ`, mutually orthogonal, none of them zero, with elements of
    /// ordinary size (the sum of their squares is a float). None by default.
    ///
    /// A symmetric operator has one null space; that of all-Neumann or periodic sides is spanned by the indicator
    /// vectors of the connected regions. An operator whose `Aᵀ` has another null space than `A` declares none. Solvers
    /// work orthogonally to these vectors and refuse right-hand sides that are not: see
    /// [numerics](crate::guide::numerics).
    fn null_space(&self) -> &[Vector] {
        &[]
    }

    /// `floor(log2 max |a_ij|)`, as far as known: solvers divide by this power of two inside. *Errors*: as of
    /// [`asymmetry`](Self::asymmetry).
    fn exponent(&self) -> Result<i32> {
        Ok(0)
    }
}

/// What solvers call: products of an operator that may be anybody's, and so may leave another vector in place of `y`.
impl dyn LinOp + '_ {
    /// [`LinOp::apply`].
    pub(super) fn product(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        keeping("LinOp::apply", y, |y| self.apply(y, combine, alpha, x))
    }

    /// [`LinOp::apply_transposed`].
    pub(super) fn product_transposed(
        &self,
        y: &mut Vector,
        combine: Combine<'_>,
        alpha: f32,
        x: &Vector,
    ) -> Result<()> {
        keeping("LinOp::apply_transposed", y, |y| self.apply_transposed(y, combine, alpha, x))
    }

    /// [`LinOp::apply_accurate`].
    pub(super) fn product_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
        keeping("LinOp::apply_accurate", out, |out| self.apply_accurate(out, terms))
    }

    /// [`LinOp::accurate_part`].
    pub(super) fn product_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
        keeping("LinOp::accurate_part", out, |out| self.accurate_part(out, terms, part))
    }
}

/// Lets a user's code write `y`. An exchange for another vector is as good as writing, if that is of the same length, on
/// the same device and texla's own; the passes that read it next rely on all three.
pub(super) fn keeping<T>(
    op: &'static str,
    y: &mut Vector,
    write: impl FnOnce(&mut Vector) -> Result<T>,
) -> Result<T> {
    let (shape, device) = (y.shape(), y.device().clone());
    let done = write(y)?;
    ops::check_shape(op, "y", y.shape(), shape)?;
    if !y.device().same(&device) {
        return Err(Error::WrongDevice { op: op.to_owned(), operand: "y".to_owned() });
    }
    y.writable(op)?;
    Ok(done)
}

macro_rules! stored_matrix {
    ($type:ty, $product:ident, $transposed:ident, $part:ident) => {
        impl LinOp for $type {
            fn device(&self) -> &Device {
                self.device()
            }

            fn shape(&self) -> Shape {
                self.shape()
            }

            fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
                ops::$product(y, combine, alpha, self, x)
            }

            fn apply_transposed(
                &self,
                y: &mut Vector,
                combine: Combine<'_>,
                alpha: f32,
                x: &Vector,
            ) -> Result<()> {
                ops::$transposed(y, combine, alpha, self, x)
            }

            fn apply_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
                if self.device().gl().caps.borrow().exact_form.is_none() {
                    return single(self, out, terms);
                }
                ops::$part(out, self, terms, Part::Sum)?;
                Ok(Accuracy::DoubleFloat)
            }

            fn accurate_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
                ops::$part(out, self, terms, part)?;
                Ok(true)
            }

            fn diagonal(&self) -> Result<Vec<f64>> {
                Ok(self.pattern().diagonal())
            }

            fn column_squares(&self) -> Result<Vec<f64>> {
                let mut squares = vec![0.0; self.shape().cols];
                for (_, col, value) in self.pattern().entries() {
                    if let Some(sum) = squares.get_mut(col) {
                        *sum += value * value;
                    }
                }
                Ok(squares)
            }

            fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
                Ok(self.asymmetry())
            }

            fn exponent(&self) -> Result<i32> {
                Ok(self.exponent())
            }
        }
    };
}

/// The trait's own form of `apply_accurate`, for devices without exact arithmetic.
pub(super) fn single<A: LinOp>(a: &A, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
    /// Hides the operator's accurate form.
    struct Plain<'a, A>(&'a A);

    impl<A: LinOp> LinOp for Plain<'_, A> {
        fn device(&self) -> &Device {
            self.0.device()
        }

        fn shape(&self) -> Shape {
            self.0.shape()
        }

        fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
            self.0.apply(y, combine, alpha, x)
        }

        fn apply_transposed(&self, y: &mut Vector, c: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
            self.0.apply_transposed(y, c, alpha, x)
        }
    }

    Plain(a).apply_accurate(out, terms)
}

stored_matrix!(SparseMatrix, sparse_product, sparse_product_transposed, sparse_part);
stored_matrix!(FoldedBands, folded_product, folded_product_transposed, folded_part);
stored_matrix!(BandedMatrix, banded_product, banded_product_transposed, banded_part);
