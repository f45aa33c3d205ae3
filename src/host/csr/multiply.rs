//! Products of sparse matrices, and what they need: transposed ones, and factors for rows and columns.

use std::ops::Range;

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

    /// How many numbers [`mul`](Self::mul) multiplies and adds.
    pub(in crate::host) fn terms_of_product(&self, other: &Csr) -> usize {
        let row = |k: &u32| other.row_slices(*k as usize).0.len();
        self.rows().flat_map(|(cols, _)| cols).map(row).sum()
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
        self.transposed_on(Threads::all())
    }

    /// The same on so many threads, each of which makes a part of the rows and looks at all columns for that.
    pub(in crate::host) fn transposed_on(&self, threads: Threads) -> Self {
        /// Entries that are worth a thread.
        const MANY: usize = 1 << 16;
        let n = self.shape.cols;
        let count = threads.count().min(self.nnz() / MANY).max(1);
        let parts = threads.parts(n, n.div_ceil(count), |part| self.rows_of_transposed(part));
        let (mut row_ptr, mut begin) = (vec![0], 0);
        row_ptr.reserve(n);
        for (ends, cols, _) in &parts {
            row_ptr.extend(ends.iter().map(|end| begin + end));
            begin += cols.len();
        }
        let (cols, values) = parts.into_iter().map(|(_, cols, values)| (cols, values)).unzip();
        let (cols, values) = (threads.concat(cols), threads.concat(values));
        Csr::of_parts(self.shape.transposed(), row_ptr, cols, values)
    }

    /// Some rows of the transposed matrix: where they end, their columns and their values.
    fn rows_of_transposed(&self, part: Range<usize>) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        // Less than the first is past the last.
        let place = |col: u32| (col as usize).wrapping_sub(part.start);
        let mut ends = vec![0usize; part.len()];
        for &col in self.cols.iter() {
            ends.get_mut(place(col)).into_iter().for_each(|count| *count += 1);
        }
        let mut next = Vec::with_capacity(ends.len());
        let mut begin = 0;
        for end in &mut ends {
            next.push(begin);
            begin += *end;
            *end = begin;
        }
        // Rows come in order, so columns ascend within every row of the result.
        let (mut cols, mut values) = (vec![0; begin], vec![0.0; begin]);
        for (row, (columns, terms)) in (0u32..).zip(self.rows()) {
            for (&col, &value) in columns.iter().zip(terms) {
                let Some(at) = next.get_mut(place(col)) else { continue };
                if let (Some(place), Some(slot)) = (cols.get_mut(*at), values.get_mut(*at)) {
                    (*place, *slot) = (row, value);
                }
                *at += 1;
            }
        }
        (ends, cols, values)
    }

    /// Columns and values of one row; none past the last.
    pub(crate) fn row_slices(&self, i: usize) -> (&[u32], &[f64]) {
        let start = self.row_ptr.get(i).copied().unwrap_or_default();
        let end = self.row_ptr.get(i.saturating_add(1)).copied().unwrap_or(start);
        (self.cols.get(start..end).unwrap_or_default(), self.values.get(start..end).unwrap_or_default())
    }
}
