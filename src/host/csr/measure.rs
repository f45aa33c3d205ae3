//! What one wants to know of a matrix before choosing a storage or a solver.

use super::Csr;
use crate::host::parallel::Threads;
use std::ops::Range;

impl Csr {
    /// The diagonal a_ii, i < min(rows, cols); missing entries are 0.
    pub fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.shape.rows.min(self.shape.cols)];
        Threads::all().blocks(&mut diagonal, |begin, block| {
            (begin..).zip(block).for_each(|(i, slot)| *slot = self.at(i, i));
        });
        diagonal
    }

    /// `Σ_i a_ij²` for every column j.
    pub fn column_squares(&self) -> Vec<f64> {
        let mut squares = vec![0.0; self.shape.cols];
        for (_, col, value) in self.entries() {
            if let Some(sum) = squares.get_mut(col) {
                *sum += value * value;
            }
        }
        squares
    }

    /// max |a_ij|, 0 without entries. A NaN is passed over.
    pub fn max_abs(&self) -> f64 {
        self.values.iter().fold(0.0, |max, v| v.abs().max(max))
    }

    /// The 1-norm: the largest sum of |a_ij| over a column, 0 without entries.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_dense(Shape::new(2, 2), &[1.0, -2.0, 3.0, -4.0])?.to_csr();
    /// assert_eq!((a.norm1(), a.max_abs()), (6.0, 4.0));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn norm1(&self) -> f64 {
        let mut sums = vec![0.0_f64; self.shape.cols];
        for (&col, value) in self.cols.iter().zip(self.values.iter()) {
            if let Some(sum) = sums.get_mut(col as usize) {
                *sum += value.abs();
            }
        }
        sums.into_iter().fold(0.0, f64::max)
    }

    /// Half bandwidth: max |i - j| over the stored entries, 0 for a diagonal matrix.
    pub fn bandwidth(&self) -> usize {
        self.entries().map(|(row, col, _)| row.abs_diff(col)).max().unwrap_or(0)
    }

    /// True if the matrix is square and equal to its transpose, pattern and values, exactly.
    pub fn is_symmetric(&self) -> bool {
        self.shape.is_square() && self.asymmetry().is_none()
    }

    /// The first place (i, j), row by row, where A and A^T differ, as `(i, j, a_ij, a_ji)`; `None` if there is none.
    ///
    /// The comparison is exact, of pattern and values: an explicit zero whose mirror image is not stored differs.
    /// *Cost*: all entries, once; clones know it too. An entry that is not stored is given as 0. For a matrix that is not square only the rows that both have are compared.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_entries(Shape::new(2, 2), [(0, 1, 3.0), (1, 0, 4.0)])?.to_csr();
    /// assert_eq!(a.asymmetry(), Some((0, 1, 3.0, 4.0)));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        *self.known.asymmetry.get_or_init(|| self.first_asymmetry())
    }
}

impl Csr {
    fn first_asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        if self.mirrors_itself() {
            return None;
        }
        let transposed = self.transposed();
        let mut pairs = self.rows().zip(transposed.rows()).enumerate();
        pairs.find_map(|(row, (a, b))| {
            let (col, a, b) = first_difference(a, b)?;
            Some((row, col as usize, a, b))
        })
    }

    /// Whether it is its transpose: each entry above the diagonal has an equal one below, of which there are no more.
    fn mirrors_itself(&self) -> bool {
        let mirrored = |i: usize, j: u32, value: f64| {
            let (cols, values) = self.row_slices(j as usize);
            cols.binary_search(&(i as u32)).is_ok_and(|at| values.get(at) == Some(&value))
        };
        let beyond = |part: Range<usize>| {
            let mut above = 0isize;
            for i in part {
                let (cols, values) = self.row_slices(i);
                for (&j, &value) in cols.iter().zip(values) {
                    let side = (j as usize).cmp(&i);
                    above += side as isize;
                    if side.is_ge() && !mirrored(i, j, value) {
                        return None;
                    }
                }
            }
            Some(above)
        };
        let parts = || Threads::all().parts(self.shape.rows, 4096, beyond);
        self.shape.is_square() && parts().into_iter().sum::<Option<isize>>() == Some(0)
    }
}

/// The first column in which two sorted rows differ, with both values.
fn first_difference(a: (&[u32], &[f64]), b: (&[u32], &[f64])) -> Option<(u32, f64, f64)> {
    let mut left = a.0.iter().copied().zip(a.1.iter().copied());
    let mut right = b.0.iter().copied().zip(b.1.iter().copied());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (Some(l), Some(r)) if l == r => {}
            (Some((lc, lv)), Some((rc, rv))) if lc == rc => return Some((lc, lv, rv)),
            (Some((lc, lv)), Some((rc, _))) if lc < rc => return Some((lc, lv, 0.0)),
            (Some((lc, lv)), None) => return Some((lc, lv, 0.0)),
            (_, Some((rc, rv))) => return Some((rc, 0.0, rv)),
        }
    }
}
