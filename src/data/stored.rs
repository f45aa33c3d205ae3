//! A host matrix put on the device in the format that suits it.

use std::collections::BTreeSet;

use super::{BandedMatrix, SparseFormat, SparseMatrix};
use crate::device::Device;
use crate::error::Result;
use crate::host::Csr;
use crate::shape::Shape;

/// How a [`StoredMatrix`] is kept on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixFormat {
    /// Banded when there are at most [`MOST_BANDS`] diagonals and storing them takes at most twice the nonzeros; else
    /// sparse, as [`SparseFormat::Auto`] chooses.
    #[default]
    Auto,
    /// Diagonals.
    Banded,
    /// Points with additive blending, or rows padded in slices.
    Sparse(SparseFormat),
}

impl From<SparseFormat> for MatrixFormat {
    fn from(format: SparseFormat) -> Self {
        MatrixFormat::Sparse(format)
    }
}

/// Most diagonals that [`MatrixFormat::Auto`] keeps as such: two passes' worth.
pub const MOST_BANDS: usize = 24;

/// A matrix on the device in one of the formats.
#[derive(Debug)]
#[non_exhaustive]
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
    pub fn new(device: &Device, csr: Csr, format: impl Into<MatrixFormat>) -> Result<Self> {
        let sparse = match format.into() {
            MatrixFormat::Banded => None,
            MatrixFormat::Sparse(format) => Some(format),
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
    #[cfg(feature = "script")]
    pub(crate) fn bytes(device: &Device, csr: &Csr) -> [u64; 2] {
        match few_bands(csr) {
            Some(bands) => [BandedMatrix::bytes(device, csr.shape().rows, bands), 0],
            None => SparseMatrix::bytes(device, csr),
        }
    }

    /// The format in use: never [`MatrixFormat::Auto`] or [`SparseFormat::Auto`].
    pub fn format(&self) -> MatrixFormat {
        match self {
            StoredMatrix::Banded(_) => MatrixFormat::Banded,
            StoredMatrix::Sparse(m) => MatrixFormat::Sparse(m.format()),
        }
    }

    /// Where the matrix lives.
    pub fn device(&self) -> &Device {
        match self {
            StoredMatrix::Banded(m) => m.device(),
            StoredMatrix::Sparse(m) => m.device(),
        }
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.pattern().shape()
    }

    /// The entries as given.
    pub fn pattern(&self) -> &Csr {
        match self {
            StoredMatrix::Banded(m) => m.pattern(),
            StoredMatrix::Sparse(m) => m.pattern(),
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
