//! Products of sparse matrices, and what they need: transposed ones, and factors for rows and columns.

use super::Csr;
use crate::error::{Error, Result};
use crate::host::parallel::Threads;
use crate::shape::Shape;

impl Csr {
    /// `A B` in `f64`: each sum in the order of the columns of `A`. Where any term is stored the sum is, also one that comes
    /// to zero; so a product's pattern follows from patterns alone.
    ///
    /// *Errors*: [`Error::ShapeMismatch`] if `B` has not as many rows as `A` has columns. *Cost*: for each entry of `A` the
    /// row of `B` at its column, and the sorting of every row; a number and a mark for each column of `B` besides.
    /// *Source*: F. Gustavson, *Two fast algorithms for sparse matrices: multiplication and permuted transposition*, 1978.
    ///
    /// ```
    /// use texla::{Shape, host::{Csr, Triplets}};
    /// let dense = |shape, values: &[f64]| Ok::<Csr, texla::Error>(Triplets::from_dense(shape, values)?.to_csr());
    /// let a = dense(Shape::new(2, 3), &[1.0, 0.0, 2.0, 0.0, 3.0, 0.0])?;
    /// let b = dense(Shape::new(3, 2), &[1.0, 2.0, 0.0, 4.0, 5.0, 0.0])?;
    /// assert_eq!(a.mul(&b)?, dense(Shape::new(2, 2), &[11.0, 2.0, 0.0, 12.0])?);
    /// assert!(a.mul(&a).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    #[doc(alias = "spgemm")]
    pub fn mul(&self, other: &Csr) -> Result<Csr> {
        if self.shape.cols != other.shape.rows {
            let (found, expected) = (other.shape, Shape::new(self.shape.cols, other.shape.cols));
            return Err(Error::ShapeMismatch { op: "Csr::mul", operand: "other", found, expected });
        }
        Ok(self.product(Threads::all(), other))
    }

    /// The same of shapes that are known to fit.
    pub(in crate::host) fn product(&self, threads: Threads, other: &Csr) -> Csr {
        let shape = Shape::new(self.shape.rows, other.shape.cols);
        // Of every column the sum, and the row that it was begun for: nothing is cleared between rows.
        let room = || vec![(usize::MAX, 0.0); other.shape.cols];
        Csr::by_rows(threads, shape, self.nnz(), room, |i, sums, rows| {
            let begin = rows.cols.len();
            let (inner, factors) = self.row_slices(i);
            for (&k, &factor) in inner.iter().zip(factors) {
                let (columns, terms) = other.row_slices(k as usize);
                for (&j, &term) in columns.iter().zip(terms) {
                    let Some((row, sum)) = sums.get_mut(j as usize) else { continue };
                    if *row == i {
                        *sum += factor * term;
                    } else {
                        (*row, *sum) = (i, factor * term);
                        rows.cols.push(j);
                    }
                }
            }
            let found = rows.cols.get_mut(begin..).unwrap_or_default();
            found.sort_unstable();
            rows.values.extend(found.iter().map(|&j| sums.get(j as usize).map_or(0.0, |(_, sum)| *sum)));
        })
    }

    /// The transposed matrix, again in compressed rows. *Cost*: proportional to entries, rows and columns.
    pub fn transposed(&self) -> Self {
        let mut row_ptr = vec![0usize; self.shape.cols.saturating_add(1)];
        for &col in &self.cols {
            if let Some(count) = row_ptr.get_mut((col as usize).saturating_add(1)) {
                *count += 1;
            }
        }
        let mut begin = 0;
        for count in &mut row_ptr {
            begin += *count;
            *count = begin;
        }
        // Rows come in order, so columns ascend within every row of the result.
        let mut next = row_ptr.clone();
        let (mut cols, mut values) = (vec![0; self.nnz()], vec![0.0; self.nnz()]);
        for (row, (columns, terms)) in (0u32..).zip(self.rows()) {
            for (&col, &value) in columns.iter().zip(terms) {
                let Some(at) = next.get_mut(col as usize) else { continue };
                if let (Some(place), Some(slot)) = (cols.get_mut(*at), values.get_mut(*at)) {
                    (*place, *slot) = (row, value);
                }
                *at += 1;
            }
        }
        Csr { shape: self.shape.transposed(), row_ptr, cols, values }
    }

    /// Columns and values of one row; none past the last.
    pub(crate) fn row_slices(&self, i: usize) -> (&[u32], &[f64]) {
        let start = self.row_ptr.get(i).copied().unwrap_or_default();
        let end = self.row_ptr.get(i.saturating_add(1)).copied().unwrap_or(start);
        (self.cols.get(start..end).unwrap_or_default(), self.values.get(start..end).unwrap_or_default())
    }
}
