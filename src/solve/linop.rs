//! What a solver needs of a matrix.

use crate::data::{BandedMatrix, FoldedBands, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::ops::{self, Accurate, Combine};
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

    /// `y = combine(α A x)`.
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
    fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        None
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

    /// `floor(log2 max |a_ij|)`, as far as known: solvers divide by this power of two inside.
    fn exponent(&self) -> i32 {
        0
    }
}

macro_rules! stored_matrix {
    ($type:ty, $product:ident, $transposed:ident, $accurate:expr) => {
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
                $accurate(out, self, terms)?;
                Ok(Accuracy::DoubleFloat)
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

            fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
                self.asymmetry()
            }

            fn exponent(&self) -> i32 {
                self.exponent()
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

stored_matrix!(SparseMatrix, sparse_product, sparse_product_transposed, ops::sparse_accurate);
stored_matrix!(FoldedBands, folded_product, folded_product_transposed, ops::folded_accurate);
stored_matrix!(BandedMatrix, banded_product, banded_product_transposed, ops::banded_accurate);
