//! A host matrix put on the device in the format that suits it.

use std::collections::BTreeSet;

use super::linop::{Accuracy, LinOp};
use crate::data::{BandedMatrix, SparseFormat, SparseMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::host::Csr;
use crate::ops::{Accurate, Combine, Part};
use crate::shape::Shape;

/// How a matrix is kept on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatrixFormat {
    /// Banded when there are at most [`MOST_BANDS`] diagonals and storing them takes at most twice the nonzeros; else
    /// as [`SparseFormat::Auto`] chooses.
    #[default]
    Auto,
    /// Diagonals.
    Banded,
    /// Points with additive blending.
    Points,
    /// Rows padded in slices.
    Gather,
}

/// Most diagonals that [`MatrixFormat::Auto`] keeps as such: two passes' worth.
pub const MOST_BANDS: usize = 24;

/// A matrix on the device in one of the formats.
pub enum StoredMatrix {
    /// Diagonals.
    Banded(Box<BandedMatrix>),
    /// Points or gathered rows.
    Sparse(Box<SparseMatrix>),
}

impl StoredMatrix {
    /// Puts a matrix on the device.
    ///
    /// *Cost* and *errors*: as [`BandedMatrix::from_csr`] and [`SparseMatrix::from_csr`].
    pub fn new(device: &Device, csr: Csr, format: MatrixFormat) -> Result<Self> {
        let sparse = match format {
            MatrixFormat::Banded => None,
            MatrixFormat::Points => Some(SparseFormat::Points),
            MatrixFormat::Gather => Some(SparseFormat::Gather),
            MatrixFormat::Auto if few_bands(&csr).is_some() => None,
            MatrixFormat::Auto => Some(SparseFormat::Auto),
        };
        Ok(match sparse {
            None => StoredMatrix::Banded(Box::new(BandedMatrix::from_csr(device, csr)?)),
            Some(format) => StoredMatrix::Sparse(Box::new(SparseMatrix::from_csr(device, csr, format)?)),
        })
    }

    /// Bytes on the device of `A` and of `Aᵀ`, which some formats make when it is first asked for, in the format that
    /// [`MatrixFormat::Auto`] chooses. No more than that is taken.
    pub(crate) fn bytes(device: &Device, csr: &Csr) -> [u64; 2] {
        match few_bands(csr) {
            Some(bands) => [BandedMatrix::bytes(device, csr.shape().rows, bands), 0],
            None => SparseMatrix::bytes(device, csr),
        }
    }

    /// The format in use: never [`MatrixFormat::Auto`].
    pub fn format(&self) -> MatrixFormat {
        match self {
            StoredMatrix::Banded(_) => MatrixFormat::Banded,
            StoredMatrix::Sparse(m) if m.format() == SparseFormat::Points => MatrixFormat::Points,
            StoredMatrix::Sparse(_) => MatrixFormat::Gather,
        }
    }

    /// The entries as given.
    pub fn pattern(&self) -> &Csr {
        match self {
            StoredMatrix::Banded(m) => m.pattern(),
            StoredMatrix::Sparse(m) => m.pattern(),
        }
    }

    fn inner(&self) -> &dyn LinOp {
        match self {
            StoredMatrix::Banded(m) => m.as_ref(),
            StoredMatrix::Sparse(m) => m.as_ref(),
        }
    }
}

/// The number of diagonals, where [`MatrixFormat::Auto`] keeps them as such.
fn few_bands(csr: &Csr) -> Option<usize> {
    let mut found = BTreeSet::new();
    for (row, col, _) in csr.entries() {
        // Looking further would take memory for each of them.
        if found.insert(col as i64 - row as i64) && found.len() > MOST_BANDS {
            return None;
        }
    }
    let bands = found.len();
    let stored = bands.saturating_mul(csr.shape().rows);
    (stored <= csr.nnz().saturating_mul(2)).then_some(bands)
}

impl LinOp for StoredMatrix {
    fn device(&self) -> &Device {
        self.inner().device()
    }

    fn shape(&self) -> Shape {
        self.inner().shape()
    }

    fn apply(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        self.inner().apply(y, combine, alpha, x)
    }

    fn apply_transposed(&self, y: &mut Vector, combine: Combine<'_>, alpha: f32, x: &Vector) -> Result<()> {
        self.inner().apply_transposed(y, combine, alpha, x)
    }

    fn apply_accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> Result<Accuracy> {
        self.inner().apply_accurate(out, terms)
    }

    fn accurate_part(&self, out: &mut Vector, terms: Accurate<'_>, part: Part) -> Result<bool> {
        self.inner().accurate_part(out, terms, part)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.inner().diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.inner().column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        self.inner().asymmetry()
    }

    fn exponent(&self) -> Result<i32> {
        self.inner().exponent()
    }
}
