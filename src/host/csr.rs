//! Sparse matrices in compressed rows.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::host::Triplets;
use crate::host::grid::FoundGrid;
use crate::host::parallel::Threads;
use crate::shape::Shape;

mod diagonals;
mod groups;
mod measure;
mod multiply;
mod permute;
mod rows;

pub(crate) use diagonals::Diagonal;

/// A sparse matrix in compressed rows (CSR): each place at most once, sorted by row, then column.
///
/// Row `i` holds the columns `cols[row_ptr[i] .. row_ptr[i + 1]]` and the values at the same positions.
/// Made by [`Triplets::to_csr`]; cannot be changed, so that its form always holds. Clones share the entries.
///
/// ```
/// use texla::host::problems;
/// let a = problems::poisson_2d(3, 2).to_csr();
/// assert_eq!((a.shape().rows, a.nnz(), a.bandwidth(), a.is_symmetric()), (6, 20, 3, true));
/// assert_eq!(a.mul_vec(&[1.0; 6])?, [2.0, 1.0, 2.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    shape: Shape,
    row_ptr: Arc<Vec<usize>>,
    cols: Arc<Vec<u32>>,
    values: Arc<Vec<f64>>,
    /// Shared by clones too.
    pub(in crate::host) known: Arc<Known>,
}

/// What has been found of a matrix, once it has been asked for.
#[derive(Default)]
pub(in crate::host) struct Known {
    asymmetry: OnceLock<Option<(usize, usize, f64, f64)>>,
    pub grid: OnceLock<Option<FoundGrid>>,
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

/// It follows from the entries.
impl PartialEq for Known {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Csr {
    /// Compresses entries sorted by row, then column; runs at the same place are summed from the left.
    pub(super) fn from_sorted(shape: Shape, sorted: &[(u32, u32, f64)]) -> Self {
        let mut cols = Vec::with_capacity(sorted.len());
        let mut values = Vec::with_capacity(sorted.len());
        let mut row_ptr = Vec::with_capacity(shape.rows.saturating_add(1));
        row_ptr.push(0);
        for run in sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let Some(&(row, col, first)) = run.first() else { continue };
            while row_ptr.len() <= row as usize {
                row_ptr.push(cols.len());
            }
            cols.push(col);
            values.push(run.iter().skip(1).fold(first, |sum, entry| sum + entry.2));
        }
        row_ptr.resize(shape.rows.saturating_add(1), cols.len());
        Self::of_parts(shape, row_ptr, cols, values)
    }

    fn of_parts(shape: Shape, row_ptr: Vec<usize>, cols: Vec<u32>, values: Vec<f64>) -> Self {
        let (row_ptr, cols, values) = (Arc::new(row_ptr), Arc::new(cols), Arc::new(values));
        Self { shape, row_ptr, cols, values, known: Arc::default() }
    }

    /// The same pattern with other values, in the order of [`values`](Self::values).
    ///
    /// *Errors*: [`Error::LengthMismatch`] if there are not `nnz` of them.
    pub fn with_values(&self, values: &[f64]) -> Result<Self> {
        if values.len() != self.nnz() {
            let (found, expected) = (values.len(), self.nnz());
            return Err(Error::LengthMismatch { op: "Csr::with_values", operand: "values", found, expected });
        }
        Ok(self.clone().valued(values.to_vec()))
    }

    /// The same pattern with so many other values.
    fn valued(self, values: Vec<f64>) -> Self {
        Self { values: Arc::new(values), known: Arc::default(), ..self }
    }

    /// What a function makes of the values, without those that it makes zero.
    pub(crate) fn nonzeros(&self, of: impl Fn(f64) -> f64) -> Self {
        let all = self.entries().map(|(i, j, value)| (i as u32, j as u32, of(value)));
        Self::from_sorted(self.shape, &all.filter(|entry| entry.2 != 0.0).collect::<Vec<_>>())
    }

    /// Rows and columns.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Number of stored entries, explicit zeros included.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// Start of each row in [`cols`](Self::cols) and [`values`](Self::values), and the end of the last: `rows + 1` numbers.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }

    /// Column of each entry, row by row.
    pub fn cols(&self) -> &[u32] {
        &self.cols
    }

    /// Value of each entry, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Columns and values of each row in turn.
    pub fn rows(&self) -> impl Iterator<Item = (&[u32], &[f64])> {
        self.row_ptr.iter().zip(self.row_ptr.iter().skip(1)).map(|(&start, &end)| {
            (self.cols.get(start..end).unwrap_or_default(), self.values.get(start..end).unwrap_or_default())
        })
    }

    /// The entries `(column, value)` of one row, by column; none past the last row.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let start = self.row_ptr.get(i).copied().unwrap_or_default();
        let end = self.row_ptr.get(i.saturating_add(1)).copied().unwrap_or(start);
        let cols = self.cols.get(start..end).unwrap_or_default();
        let values = self.values.get(start..end).unwrap_or_default();
        cols.iter().zip(values).map(|(&col, &value)| (col as usize, value))
    }

    /// The entry at a place, zero where there is none.
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        let (cols, values) = self.row_slices(i);
        let found = u32::try_from(j).ok().and_then(|j| cols.binary_search(&j).ok());
        found.and_then(|k| values.get(k).copied()).unwrap_or_default()
    }

    /// The entries `(row, column, value)`, sorted by row, then column.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        self.rows().enumerate().flat_map(|(row, (cols, values))| {
            cols.iter().zip(values).map(move |(&col, &value)| (row, col as usize, value))
        })
    }

    /// y = A x in `f64`, each row summed from the left.
    ///
    /// *Errors*: [`Error::LengthMismatch`] if `x` does not have `cols` elements. *Cost*: 2 nnz operations.
    pub fn mul_vec(&self, x: &[f64]) -> Result<Vec<f64>> {
        check_len("Csr::mul_vec", x, self.shape.cols)?;
        let mut y = vec![0.0; self.shape.rows];
        Threads::all().blocks(&mut y, |begin, block| {
            (begin..).zip(block).for_each(|(i, y)| *y = self.row_times(i, x));
        });
        Ok(y)
    }

    /// A row times a vector, summed from the left.
    pub(in crate::host) fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let at = |col: u32| x.get(col as usize).copied().unwrap_or_default();
        let (cols, values) = self.row_slices(i);
        cols.iter().zip(values).fold(0.0, |sum, (&c, v)| sum + v * at(c))
    }

    /// y = A^T x in `f64`, without forming A^T.
    ///
    /// *Errors*: [`Error::LengthMismatch`] if `x` does not have `rows` elements. *Cost*: 2 nnz operations.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_dense(Shape::new(2, 3), &[1.0, 2.0, 0.0, 0.0, 3.0, 4.0])?.to_csr();
    /// assert_eq!(a.mul_vec_transposed(&[1.0, 10.0])?, [1.0, 32.0, 40.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn mul_vec_transposed(&self, x: &[f64]) -> Result<Vec<f64>> {
        check_len("Csr::mul_vec_transposed", x, self.shape.rows)?;
        let mut y = vec![0.0; self.shape.cols];
        for ((cols, values), xi) in self.rows().zip(x) {
            for (&col, value) in cols.iter().zip(values) {
                if let Some(yj) = y.get_mut(col as usize) {
                    *yj += value * xi;
                }
            }
        }
        Ok(y)
    }

    /// The same matrix in coordinate form, sorted by row, then column.
    pub fn to_triplets(&self) -> Triplets {
        let mut out = Triplets::with_capacity(self.shape, self.nnz());
        for (row, (cols, values)) in (0u32..).zip(self.rows()) {
            for (&col, &value) in cols.iter().zip(values) {
                out.push_valid(row, col, value);
            }
        }
        out
    }
}

fn check_len(op: &'static str, x: &[f64], expected: usize) -> Result<()> {
    if x.len() == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch { op, operand: "x", found: x.len(), expected })
}
