//! Matrices made ready for methods that need a diagonal.

use crate::error::{Error, Result};
use crate::host::{Csr, Triplets, number};
pub(in crate::host) use matching::{Duals, matching};

pub(in crate::host) use scales::{Exponents, exponent, power};

mod matching;
mod scales;

/// A square matrix with its largest entries on the diagonal and all of them of about one size: `A' = R P A Q C`, of which
/// `P` and `Q` change orders and `R` and `C` are diagonals of powers of two.
///
/// `A x = b` if and only if `A' y = b'`, where `b' = R P b` is [`right`](Self::right) and `x = Q C y` is
/// [`solution`](Self::solution): `a'_ij = row_scales_i a_(rows_i)(columns_j) column_scales_j`. Powers of two round nothing, so
/// that this holds exactly; only what they bring below 2^-1022 or past the largest number does not come back.
///
/// The order of rows makes the product of the diagonal as large as any order of rows does. Scales, by the dual of that
/// problem, make `|a'_ij| < 2` and `|a'_ii| >= 1/2`, this but for the rounding of logarithms: so Jacobi's method, incomplete
/// factors and pivots on the diagonal have something to divide by. Two exceptions:
///
/// - Each scale is within 2^-100 and 2^100. Where a matrix would need more, its diagonal is smaller beside the rest, or all
///   of a row is smaller or larger: also one of a small range may, if each of many rows must outweigh the one before.
/// - Where the pattern alone makes the matrix singular ([`structural_rank`](Self::structural_rank) is less than its size), as
///   many places of the diagonal are filled as can be, and scales make just `|a'_ij| < 2` and every row and column reach 1/4.
///
/// A symmetric matrix whose largest product is that of its own diagonal, as of every positive definite one, stays symmetric:
/// `R = C`.
///
/// *Cost*: at worst n walks through the matrix, O(n nnz log n); for matrices of grids and networks a few walks. *Source*: I. Duff,
/// J. Koster, 2001 (MC64, job 5); D. Ruiz, 2001.
///
/// ```
/// use texla::{Shape, host::{Prepared, Triplets}};
/// let a = Triplets::from_dense(Shape::new(2, 2), &[0.0, 1024.0, 3.0, 5.0])?.to_csr();
/// let prepared = Prepared::new(&a)?;
/// assert_eq!((prepared.rows(), prepared.structural_rank()), (&[1, 0][..], 2));
/// let (r, c) = (prepared.row_scales(), prepared.column_scales());
/// assert_eq!(prepared.matrix().diagonal(), [r[0] * 3.0 * c[0], r[1] * 1024.0 * c[1]]);
/// assert!(prepared.matrix().diagonal().iter().all(|d| (0.5..2.0).contains(d)));
///
/// // x = (2, 1), by the prepared system.
/// let b = a.mul_vec(&[2.0, 1.0])?;
/// let y = prepared.unknowns(&[2.0, 1.0])?;
/// assert_eq!(prepared.matrix().mul_vec(&y)?, prepared.right(&b)?);
/// assert_eq!(prepared.solution(&y)?, [2.0, 1.0]);
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

impl Prepared {
    /// Chooses the order of rows and the scales; columns stay where they are.
    ///
    /// *Errors*: [`Error::Matrix`] for a matrix that is not square, or that has an entry that is not finite.
    pub fn new(a: &Csr) -> Result<Self> {
        let op = "Prepared";
        if !a.shape().is_square() {
            return Err(Error::Matrix { op, detail: format!("is {}, expected a square one", a.shape()) });
        }
        if let Some((i, j, v)) = a.entries().find(|entry| !entry.2.is_finite()) {
            let detail = format!("has {} at ({i}, {j}), expected finite entries", number(v));
            return Err(Error::Matrix { op, detail });
        }
        let found = matching(a);
        let columns: Vec<usize> = (0..a.shape().cols).collect();
        let symmetric = found.rows == columns && a.is_symmetric();
        let permuted = a.reordered(&found.rows, &columns);
        // The duals, too, in the order of the matrix.
        let duals = found.duals.map(|mut duals| {
            duals.rows = picked(&duals.rows, &found.rows);
            duals
        });
        let exponents = Exponents::new(&permuted, duals, symmetric);
        let factor = |(i, j, v): (usize, usize, f64)| {
            let of = |list: &[i32], k: usize| list.get(k).copied().unwrap_or_default();
            v * power(of(&exponents.rows, i) + of(&exponents.columns, j))
        };
        let values: Vec<f64> = permuted.entries().map(factor).collect();
        let powers = |list: &[i32]| list.iter().map(|&e| power(e)).collect();
        Ok(Self {
            matrix: permuted.with_values(&values)?,
            rows: found.rows,
            columns,
            row_scales: powers(&exponents.rows),
            column_scales: powers(&exponents.columns),
            rank: found.rank,
        })
    }

    /// The same with rows and columns in the order of [reverse Cuthill-McKee](Csr::reverse_cuthill_mckee), which leaves the
    /// diagonal on the diagonal and brings the other entries close to it, as a rule: what a shuffle of rows and columns
    /// alike has scattered, rather than what has no order as it is.
    ///
    /// ```
    /// use texla::host::{Prepared, problems};
    /// let grid = problems::poisson_2d(40, 5).to_csr();
    /// let prepared = Prepared::new(&grid)?.reordered();
    /// assert_eq!((grid.bandwidth(), prepared.matrix().bandwidth()), (40, 6));
    /// assert_eq!(prepared.rows(), prepared.columns());
    /// # Ok::<(), texla::Error>(())
    /// ```
    #[must_use]
    pub fn reordered(self) -> Self {
        let order = self.matrix.reverse_cuthill_mckee();
        self.in_order(&order)
    }

    /// The same with rows and columns in an order.
    pub(crate) fn in_order(self, order: &[usize]) -> Self {
        Self {
            matrix: self.matrix.reordered(order, order),
            rows: picked(&self.rows, order),
            columns: picked(&self.columns, order),
            row_scales: picked(&self.row_scales, order),
            column_scales: picked(&self.column_scales, order),
            rank: self.rank,
        }
    }

    /// The matrix A'.
    pub const fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// `R P` and `Q C` as matrices of one element in each row, for whoever applies them by products.
    pub(crate) fn factors(&self) -> Result<[Csr; 2]> {
        let shape = self.matrix.shape();
        let rows = self.rows.iter().zip(&self.row_scales).enumerate();
        let columns = self.columns.iter().zip(&self.column_scales).enumerate();
        let rows = Triplets::from_entries(shape, rows.map(|(i, (from, scale))| (i, *from, *scale)))?;
        let columns = Triplets::from_entries(shape, columns.map(|(j, (to, scale))| (*to, j, *scale)))?;
        Ok([rows.to_csr(), columns.to_csr()])
    }

    /// Row `i` of A' is row `rows()[i]` of A.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Column `j` of A' is column `columns()[j]` of A.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The factor of each row of A': powers of two.
    pub fn row_scales(&self) -> &[f64] {
        &self.row_scales
    }

    /// The factor of each column of A': powers of two.
    pub fn column_scales(&self) -> &[f64] {
        &self.column_scales
    }

    /// The most entries that are not 0 of which no two share a row or a column: as many places of A's diagonal are filled.
    /// If these are fewer than rows, the matrix is singular.
    ///
    /// ```
    /// use texla::{Shape, host::{Prepared, Triplets}};
    /// // Two rows that have only the last column.
    /// let a = Triplets::from_dense(Shape::new(3, 3), &[0.0, 0.0, 5.0, 0.0, 0.0, 7.0, 1.0, 2.0, 3.0])?.to_csr();
    /// assert_eq!(Prepared::new(&a)?.structural_rank(), 2);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub const fn structural_rank(&self) -> usize {
        self.rank
    }

    /// Whether A' is A, with nothing to do for right-hand sides and solutions.
    pub fn is_identity(&self) -> bool {
        let in_place = |order: &[usize]| order.iter().enumerate().all(|(i, &k)| i == k);
        let ones = |scales: &[f64]| scales.iter().all(|&s| s == 1.0);
        in_place(&self.rows) && in_place(&self.columns) && ones(&self.row_scales) && ones(&self.column_scales)
    }

    /// `b'_i = row_scales_i b_(rows_i)`: the right-hand side for A' of a right-hand side for A.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn right(&self, b: &[f64]) -> Result<Vec<f64>> {
        self.check("Prepared::right", "b", b)?;
        Ok(picked(b, &self.rows).iter().zip(&self.row_scales).map(|(b, r)| b * r).collect())
    }

    /// `x_(columns_j) = column_scales_j y_j`: the solution for A of a solution for A'.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn solution(&self, y: &[f64]) -> Result<Vec<f64>> {
        self.check("Prepared::solution", "y", y)?;
        let mut x = vec![0.0; y.len()];
        for ((&column, c), y) in self.columns.iter().zip(&self.column_scales).zip(y) {
            if let Some(x) = x.get_mut(column) {
                *x = c * y;
            }
        }
        Ok(x)
    }

    /// `y_j = x_(columns_j) / column_scales_j`: where to start with A', of where to start with A.
    ///
    /// *Errors*: [`Error::LengthMismatch`].
    pub fn unknowns(&self, x: &[f64]) -> Result<Vec<f64>> {
        self.check("Prepared::unknowns", "x", x)?;
        Ok(picked(x, &self.columns).iter().zip(&self.column_scales).map(|(x, c)| x / c).collect())
    }

    fn check(&self, op: &'static str, operand: &'static str, list: &[f64]) -> Result<()> {
        let (found, expected) = (list.len(), self.rows.len());
        if found != expected {
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        Ok(())
    }
}

/// The elements at these places.
fn picked<T: Copy>(list: &[T], places: &[usize]) -> Vec<T> {
    places.iter().filter_map(|&k| list.get(k).copied()).collect()
}

#[cfg(test)]
pub(in crate::host) mod tests;
