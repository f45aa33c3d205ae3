//! What Gauss-Seidel needs of an operator.

use crate::data::{BandedMatrix, SparseMatrix, Stencil, Vector};
use crate::data::{Kept, StoredMatrix};
use crate::error::Result;
use crate::host::Csr;
use crate::kernel::Predicate;
use crate::ops::{self, Handle, LinOp};

/// An operator whose unknowns can be visited in an order: its entries are known on the host, and residuals can be had in
/// some texels alone.
#[diagnostic::on_unimplemented(
    note = "a type implements `Sweepable` itself, or is a handle (`&`, `Rc`, `Box`) to one that does"
)]
pub trait Sweepable: LinOp {
    /// The entries.
    fn rows(&self) -> &Csr;

    /// `r = b - A x` in the texels for which the predicate holds; all others of `r` stay as they are.
    ///
    /// *Cost*: as a product; what is left out is as cheap as the device's early depth test makes it. *Errors*:
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch).
    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()>;
}

/// Forwards every function.
#[deny(clippy::missing_trait_methods)]
impl<H: Handle<Target: Sweepable>> Sweepable for H {
    fn rows(&self) -> &Csr {
        (**self).rows()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        (**self).residual_where(r, b, x, predicate)
    }
}

impl Sweepable for BandedMatrix {
    fn rows(&self) -> &Csr {
        self.pattern()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        ops::banded_residual(r, b, self, x, predicate)
    }
}

/// A matrix kept as points is put on the device in the gather format too: points cannot be left out by texel.
impl Sweepable for SparseMatrix {
    fn rows(&self) -> &Csr {
        self.pattern()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        ops::sparse_residual(r, b, self, x, predicate)
    }
}

impl Sweepable for Stencil {
    fn rows(&self) -> &Csr {
        self.csr()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        ops::stencil_residual(r, b, self, x, predicate)
    }
}

impl Sweepable for StoredMatrix {
    fn rows(&self) -> &Csr {
        self.pattern()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        match self.kept() {
            Kept::Banded(a) => a.residual_where(r, b, x, predicate),
            Kept::Sparse(a) => a.residual_where(r, b, x, predicate),
        }
    }
}
