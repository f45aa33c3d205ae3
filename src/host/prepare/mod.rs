//! A matrix made better for elimination: rows exchanged, both sides scaled, and an order.

mod matching;
#[cfg(test)]
mod tests;

use super::{Csr, Triplets};
use crate::error::{Error, Result};

/// A square matrix whose rows are exchanged so that the product of the magnitudes on the diagonal is the largest there is, and
/// whose rows and columns are scaled by powers of two so that the diagonal is about 1 and nothing is much larger:
/// `A' = R P A Q C`, and `A x = b` where `A' y = R P b` and `x = Q C y`, both exactly.
///
/// What stands for `P` is found by shortest augmenting paths on the logarithms (I. Duff, J. Koster, *On algorithms for permuting large
/// entries to the diagonal of a sparse matrix*, 2001), whose dual variables are the logarithms of the scales. `Q` is the identity
/// unless the matrix is [reordered](Self::reordered).
///
/// ```
/// use texla::{Shape, host::{Prepared, Triplets}};
/// let a = Triplets::from_dense(Shape::new(2, 2), &[0.0, 8.0, 0.25, 1.0])?.to_csr();
/// let prepared = Prepared::new(&a)?;
/// assert_eq!(prepared.rows(), [1, 0]);
/// assert_eq!(prepared.matrix().diagonal(), [1.0, 1.0]);
/// // A x = b for x = (4, 1/8).
/// let b = prepared.right(&[1.0, 1.125])?;
/// let y = [4.0 / prepared.column_scales()[0], 0.125 / prepared.column_scales()[1]];
/// assert_eq!(prepared.matrix().mul_vec(&y)?, b);
/// assert_eq!(prepared.solution(&y)?, [4.0, 0.125]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    matrix: Csr,
    rows: Vec<usize>,
    columns: Vec<usize>,
    row_scales: Vec<f64>,
    column_scales: Vec<f64>,
    rank: usize,
}

/// Scales are no larger than this power of two, and no smaller than its inverse: products of two and an element of 32 bits are
/// numbers still.
const FARTHEST: f64 = 400.0;

impl Prepared {
    /// Prepares a square matrix.
    ///
    /// *Cost*: O(n nnz log n) at most, mostly a small multiple of nnz log n. *Errors*: [`Error::Matrix`] when it is not square.
    pub fn new(a: &Csr) -> Result<Self> {
        let shape = a.shape();
        if !shape.is_square() {
            let detail = format!("is {shape}, expected as many rows as columns");
            return Err(Error::Matrix { op: "Prepared", detail });
        }
        let found = matching::matched(a);
        let powers = |logs: &[f64]| -> Vec<f64> {
            let of = |log: &f64| (log * std::f64::consts::LOG2_E).round().clamp(-FARTHEST, FARTHEST).exp2();
            logs.iter().map(of).collect()
        };
        let of_rows = powers(&found.row_logs);
        let row_scales = found.rows.iter().map(|i| of_rows.get(*i).copied().unwrap_or(1.0)).collect();
        let columns = (0..shape.cols).collect();
        Self {
            matrix: a.clone(),
            rows: found.rows,
            columns,
            row_scales,
            column_scales: powers(&found.column_logs),
            rank: found.rank,
        }
        .of(a)
    }

    /// With the matrix that it makes of this one.
    fn of(self, a: &Csr) -> Result<Self> {
        let matrix = a.permuted(&self.rows, &self.columns)?;
        let factors = matrix.rows().zip(&self.row_scales).flat_map(|((cols, values), row)| {
            let at = |j: &u32| self.column_scales.get(*j as usize).copied().unwrap_or(1.0);
            cols.iter().zip(values).map(move |(j, v)| v * row * at(j))
        });
        let values: Vec<f64> = factors.collect();
        Ok(Self { matrix: matrix.with_values(&values)?, ..self })
    }

    /// The same with rows and columns of `A'` in the order of [reverse Cuthill-McKee](Csr::reverse_cuthill_mckee): entries lie closer to the
    /// diagonal.
    ///
    /// *Errors*: none but for want of memory.
    pub fn reordered(self) -> Result<Self> {
        let order = self.matrix.reverse_cuthill_mckee();
        let matrix = self.matrix.permuted(&order, &order)?;
        fn picked<T: Copy>(list: &[T], order: &[usize]) -> Vec<T> {
            order.iter().filter_map(|k| list.get(*k).copied()).collect()
        }
        Ok(Self {
            matrix,
            rows: picked(&self.rows, &order),
            columns: picked(&self.columns, &order),
            row_scales: picked(&self.row_scales, &order),
            column_scales: picked(&self.column_scales, &order),
            rank: self.rank,
        })
    }

    /// `A'`: element `(i, j)` is `row_scales[i] A[rows[i], columns[j]] column_scales[j]`.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Which row of `A` each row of `A'` is.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Which column of `A` each column of `A'` is.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The powers of two by which rows of `A'` are scaled.
    pub fn row_scales(&self) -> &[f64] {
        &self.row_scales
    }

    /// The powers of two by which columns of `A'` are scaled.
    pub fn column_scales(&self) -> &[f64] {
        &self.column_scales
    }

    /// Columns that could be matched to a row: fewer than there are only where the matrix is singular by its pattern alone.
    pub fn structural_rank(&self) -> usize {
        self.rank
    }

    /// `R P b`, exactly.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn right(&self, b: &[f64]) -> Result<Vec<f64>> {
        check_len("Prepared::right", "b", b, self.rows.len())?;
        let of = |(i, scale): (&usize, &f64)| scale * b.get(*i).copied().unwrap_or(0.0);
        Ok(self.rows.iter().zip(&self.row_scales).map(of).collect())
    }

    /// `Q C y`, exactly.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn solution(&self, y: &[f64]) -> Result<Vec<f64>> {
        check_len("Prepared::solution", "y", y, self.columns.len())?;
        let mut x = vec![0.0; y.len()];
        for ((j, scale), y) in self.columns.iter().zip(&self.column_scales).zip(y) {
            if let Some(slot) = x.get_mut(*j) {
                *slot = scale * y;
            }
        }
        Ok(x)
    }

    /// `R P` and `Q C` as matrices of one element in each row.
    ///
    /// *Errors*: none but for want of memory.
    pub fn factors(&self) -> Result<[Triplets; 2]> {
        let shape = self.matrix.shape();
        let rows =
            self.rows.iter().zip(&self.row_scales).enumerate().map(|(i, (from, scale))| (i, *from, *scale));
        let columns =
            self.columns.iter().zip(&self.column_scales).enumerate().map(|(j, (to, scale))| (*to, j, *scale));
        Ok([Triplets::from_entries(shape, rows)?, Triplets::from_entries(shape, columns)?])
    }
}

fn check_len(op: &'static str, operand: &'static str, v: &[f64], expected: usize) -> Result<()> {
    if v.len() == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch { op, operand, found: v.len(), expected })
}
