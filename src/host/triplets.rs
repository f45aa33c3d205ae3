//! Sparse matrices in coordinate form.

use crate::error::{Error, Result};
use crate::host::Csr;
use crate::shape::Shape;

/// A sparse matrix in coordinate form: a list of entries `(row, column, value)`, counted from 0, with `f64` values.
///
/// Entries may come in any order and more than once at the same place; the matrix is the *sum* of its entries.
/// Explicit zeros are kept. Values are not checked here: what does not fit a 32-bit float is refused at upload.
///
/// *Cost*: 16 bytes per stored entry, nothing per row or column.
///
/// ```
/// use texla::{Shape, host::Triplets};
/// let mut a = Triplets::new(Shape::new(2, 3));
/// a.push(0, 0, 1.5)?;
/// a.push(1, 2, 2.0)?;
/// a.push(1, 2, 0.25)?; // the same place again: summed by `to_csr`
/// assert_eq!((a.nnz(), a.to_csr().nnz()), (3, 2));
/// assert_eq!(a.to_csr().mul_vec(&[2.0, 7.0, 4.0])?, [3.0, 9.0]);
/// assert!(a.push(2, 0, 1.0).is_err());
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Triplets {
    shape: Shape,
    entries: Vec<(u32, u32, f64)>,
}

impl Triplets {
    /// The zero matrix of the given shape, without entries.
    pub const fn new(shape: Shape) -> Self {
        Self { shape, entries: Vec::new() }
    }

    /// The zero matrix, with memory set aside for `capacity` entries. *Panics*: as [`Vec::with_capacity`] does.
    pub fn with_capacity(shape: Shape, capacity: usize) -> Self {
        Self { shape, entries: Vec::with_capacity(capacity) }
    }

    /// A matrix from entries `(row, column, value)`, kept in the order given.
    ///
    /// *Errors*: [`Error::IndexOutOfRange`] for the first entry outside `shape`.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_entries(Shape::new(2, 2), [(1, 0, 3.0), (0, 1, 4.0)])?;
    /// assert_eq!(a.entries().collect::<Vec<_>>(), [(1, 0, 3.0), (0, 1, 4.0)]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn from_entries(
        shape: Shape,
        entries: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self> {
        let mut out = Self::new(shape);
        for (row, col, value) in entries {
            out.push(row, col, value)?;
        }
        Ok(out)
    }

    /// The non-zero elements of a dense matrix given row by row; exact zeros (of either sign) are left out.
    ///
    /// *Errors*: [`Error::LengthMismatch`] if `values` does not hold `rows * cols` numbers.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_dense(Shape::new(2, 2), &[0.0, 5.0, 6.0, 0.0])?;
    /// assert_eq!(a.entries().collect::<Vec<_>>(), [(0, 1, 5.0), (1, 0, 6.0)]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn from_dense(shape: Shape, values: &[f64]) -> Result<Self> {
        if values.len() != shape.len() {
            let (found, expected) = (values.len(), shape.len());
            return Err(Error::LengthMismatch {
                op: "Triplets::from_dense",
                operand: "values",
                found,
                expected,
            });
        }
        let mut out = Self::new(shape);
        for (row, line) in values.chunks(shape.cols.max(1)).enumerate() {
            for (col, &value) in line.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                out.push(row, col, value)?;
            }
        }
        Ok(out)
    }

    /// The square matrix with the given diagonal, one entry per element, zeros included.
    pub fn from_diagonal(diagonal: &[f64]) -> Self {
        let n = diagonal.len();
        let entries = (0u32..).zip(diagonal).map(|(i, &v)| (i, i, v)).collect();
        Self { shape: Shape::new(n, n), entries }
    }

    /// Adds `value` at (`row`, `col`), counted from 0.
    ///
    /// *Errors*: [`Error::IndexOutOfRange`] if either index lies outside the shape, or beyond 2^32 - 1.
    pub fn push(&mut self, row: usize, col: usize, value: f64) -> Result<()> {
        let row = checked_index("row index", row, self.shape.rows)?;
        let col = checked_index("column index", col, self.shape.cols)?;
        self.push_valid(row, col, value);
        Ok(())
    }

    /// Adds an entry whose indices are known to lie inside the shape.
    pub(crate) fn push_valid(&mut self, row: u32, col: u32, value: f64) {
        debug_assert!((row as usize) < self.shape.rows && (col as usize) < self.shape.cols);
        self.entries.push((row, col, value));
    }

    /// Rows and columns.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of stored entries, duplicates and explicit zeros included.
    pub const fn nnz(&self) -> usize {
        self.entries.len()
    }

    /// The stored entries `(row, column, value)` in the order in which they were added.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (usize, usize, f64)> + '_ {
        self.entries.iter().map(|&(row, col, value)| (row as usize, col as usize, value))
    }

    /// The transposed matrix: entry (i, j) becomes entry (j, i), in the same order.
    pub fn transposed(&self) -> Self {
        let entries = self.entries.iter().map(|&(row, col, value)| (col, row, value)).collect();
        Self { shape: self.shape.transposed(), entries }
    }

    /// The diagonal a_ii, i < min(rows, cols); entries at the same place are summed, missing ones are 0.
    ///
    /// *Cost*: memory for min(rows, cols) elements, whatever is stored. *Panics*: as `Vec` does, past its longest.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_entries(Shape::new(2, 3), [(1, 1, 3.0), (0, 2, 9.0), (1, 1, 4.0)])?;
    /// assert_eq!(a.diagonal(), [0.0, 7.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn diagonal(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.shape.rows.min(self.shape.cols)];
        for &(row, _, value) in self.entries.iter().filter(|(row, col, _)| row == col) {
            if let Some(d) = out.get_mut(row as usize) {
                *d += value;
            }
        }
        out
    }

    /// Compressed rows: sorted by row, then column; entries at the same place are summed in `f64`, in the order in
    /// which they were added. Explicit zeros, and sums that happen to be zero, are kept.
    ///
    /// *Cost*: O(nnz log nnz) time, O(nnz) if already sorted; memory for `rows + 1` row starts, whatever is stored. *Panics*: as `Vec`
    /// does, past its longest.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_entries(Shape::new(2, 2), [(1, 1, 1.0), (0, 0, 0.0), (1, 1, 2.0), (1, 0, 5.0)])?;
    /// let csr = a.to_csr();
    /// assert_eq!((csr.row_ptr(), csr.cols(), csr.values()), (&[0, 1, 3][..], &[0, 0, 1][..], &[0.0, 5.0, 3.0][..]));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn to_csr(&self) -> Csr {
        if self.entries.is_sorted_by_key(|&(row, col, _)| (row, col)) {
            return Csr::from_sorted(self.shape, &self.entries);
        }
        let mut sorted = self.entries.clone();
        sorted.sort_by_key(|&(row, col, _)| (row, col)); // stable: keeps the order of duplicates
        Csr::from_sorted(self.shape, &sorted)
    }
}

/// The index as stored, or the error that names it.
fn checked_index(what: &'static str, index: usize, bound: usize) -> Result<u32> {
    let out_of_range = Error::IndexOutOfRange { what, index, bound: bound.min(u32::MAX as usize) };
    if index >= bound {
        return Err(out_of_range);
    }
    u32::try_from(index).map_err(|_| out_of_range)
}
