//! What a matrix has to be able to do.

use super::{Accurate, Checked, ExactSum, Inlined, Part, Product, Summand};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::{Csr, NearNullSpace};
use crate::profile::Workload;
use crate::shape::Shape;

/// A linear operator on the device: a stored matrix, or anything that can multiply. It is multiplied by
/// [`ops::product`](crate::ops::product) and its kin, which check what is asked and call what is provided here.
///
/// Only [`device`](Self::device), [`shape`](Self::shape) and [`apply`](Self::apply) are required. An operator that
/// does not provide [`accurate`](Self::accurate) can be solved with, but the report then says
/// [`StopReason::Uncertified`](crate::solve::StopReason::Uncertified) in place of converged.
#[diagnostic::on_unimplemented(
    note = "a type implements `LinOp` itself, or is a handle (`&`, `Rc`, `Box`) to one that does"
)]
pub trait LinOp {
    /// Where the operator lives.
    fn device(&self) -> &Device;

    /// Rows and columns.
    fn shape(&self) -> Shape;

    /// `y = combine(α A x)`. `y` may be exchanged for another vector of the same length on the same device, as operations
    /// in place do; any other is answered with a typed error.
    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()>;

    /// `y = combine(α Aᵀ x)`; needed by least squares. *Errors*: [`Error::Unsupported`] unless provided.
    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let _ = (y, terms);
        Err(unprovided("apply_transposed"))
    }

    /// A part of `out = α op(A) x + β z`, as exactly as double-float is; false, with nothing written, where the operator
    /// cannot, for this part or at all. By [`Part::Error`] solvers know what a residual is worth: an operator that gives
    /// sums and no errors is taken to err by 2⁻⁴⁰ `‖A‖ ‖x‖`, with `‖A‖` about 2^([`exponent`](Self::exponent) + 1).
    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        let _ = (out, terms, part);
        Ok(false)
    }

    /// Adds `α op(A) (x + x_low)` to a sum in three parts, or to a bound on its error ([`ExactSum::add_product`]); false, with
    /// nothing added, where the operator cannot. Forms of the library's own can; an operator that is one of these in other
    /// clothes hands it on. Without it unknowns are 32 bits.
    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        let _ = (sum, terms);
        Ok(false)
    }

    /// Whether [`apply`](Self::apply) itself takes [`Combine::Accumulate`](super::Combine::Accumulate), because adding to
    /// what `y` holds costs it nothing. Else the sum is told as [`Combine::AddTo`](super::Combine::AddTo) another vector.
    fn accumulates(&self) -> bool {
        false
    }

    /// Makes the product part of another pass; `None` where the operator cannot. Forms of the library's own can; an operator
    /// that is one of these in other clothes hands it on.
    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        let _ = pass;
        Ok(None)
    }

    /// Whether a product with operands of the same layout and the same factor draws the same passes every time. What applies such
    /// an operator again and again (multigrid, sweeps, polynomials) may then record what [`apply`](Self::apply) draws the first time, and draw that again
    /// without calling it. False by default: forms of the library's own are such, and an operator made of one hands it on.
    fn is_replayable(&self) -> bool {
        false
    }

    /// What a product `y = A x` ([`Combine::Replace`](super::Combine::Replace), a factor of the host's) comes to, for
    /// [`DeviceProfile::predict`](crate::profile::DeviceProfile::predict); `None` unless provided.
    fn workload(&self) -> Option<Workload> {
        None
    }

    /// The entries, where the host keeps them: what is asked below is answered from them unless it is provided.
    fn pattern(&self) -> Option<&Csr> {
        None
    }

    /// The diagonal, for the Jacobi preconditioner. *Errors*: [`Error::Unsupported`] unless provided.
    fn diagonal(&self) -> Result<Vec<f64>> {
        self.pattern().map(Csr::diagonal).ok_or_else(|| unprovided("diagonal"))
    }

    /// `Σ_i A[i, j]²` for every column j, for the Jacobi preconditioner of least squares. *Errors*:
    /// [`Error::Unsupported`] unless provided.
    fn column_squares(&self) -> Result<Vec<f64>> {
        self.pattern().map(Csr::column_squares).ok_or_else(|| unprovided("column_squares"))
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

    /// Vectors that `A` maps nearly to zero, if that is not the vector of ones: what aggregation interpolates exactly. None by
    /// default.
    fn near_null_space(&self) -> Option<&NearNullSpace> {
        None
    }

    /// `floor(log2 max |a_ij|)`, as far as known: solvers divide by this power of two inside. *Errors*: as of
    /// [`asymmetry`](Self::asymmetry).
    fn exponent(&self) -> Result<i32> {
        Ok(0)
    }
}

fn unprovided(what: &str) -> Error {
    Error::Unsupported { what: what.to_owned(), why: "this operator does not provide it".into() }
}
