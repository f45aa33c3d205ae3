//! A host matrix put on the device in the format that suits it.

use std::collections::BTreeMap;

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
    /// sparse, as [`SparseFormat::Auto`] chooses. Where both serve and the device has a [profile](Device::set_profile), the one
    /// whose product is predicted to take less.
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
            MatrixFormat::Auto => suitable(device, &csr),
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
        match (suitable(device, csr), few_bands(csr)) {
            (None, Some(bands)) => [BandedMatrix::bytes(device, csr.shape().rows, bands.len()), 0],
            _ => SparseMatrix::bytes(device, csr),
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

/// What [`MatrixFormat::Auto`] chooses; `None` stands for diagonals.
fn suitable(device: &Device, csr: &Csr) -> Option<SparseFormat> {
    let Some(bands) = few_bands(csr) else { return Some(SparseFormat::Auto) };
    let ways = || {
        let sparse = SparseMatrix::suitable(device, csr);
        let banded = BandedMatrix::count(device, csr.shape(), &bands).map(|work| (None, work));
        banded.into_iter().chain(SparseMatrix::count(device, csr, sparse).map(|work| (Some(sparse), work)))
    };
    device.quickest(ways).unwrap_or(None)
}

/// The diagonals and whether the coefficients of each are equal, where [`MatrixFormat::Auto`] may keep them as such.
fn few_bands(csr: &Csr) -> Option<Vec<(i64, bool)>> {
    let Shape { rows, cols } = csr.shape();
    // Of each diagonal its first coefficient, how many there are, and whether all are the same.
    let mut found: BTreeMap<i64, (f64, usize, bool)> = BTreeMap::new();
    for (row, col, value) in csr.entries() {
        let (first, count, same) = found.entry(col as i64 - row as i64).or_insert((value, 0, true));
        (*count, *same) = (*count + 1, *same && *first == value);
        // Looking further would take memory for each of them.
        if found.len() > MOST_BANDS {
            return None;
        }
    }
    let stored = found.len().saturating_mul(rows);
    let constant = |(offset, (_, count, same)): (i64, (f64, usize, bool))| {
        let begin = usize::try_from(-offset).unwrap_or(0);
        let end = usize::try_from(cols as i64 - offset).unwrap_or(0).min(rows);
        (offset, same && begin + count == end)
    };
    (stored <= csr.nnz().saturating_mul(2)).then(|| found.into_iter().map(constant).collect())
}
