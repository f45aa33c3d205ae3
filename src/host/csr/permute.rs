//! Rows and columns in another order.

use super::Csr;
use crate::error::{Error, Result};
use crate::host::order;
use crate::host::parallel::Threads;

impl Csr {
    /// `b_ij = a_(rows[i])(cols[j])`: row `i` is row `rows[i]` of this matrix, column `j` is column `cols[j]`.
    ///
    /// *Shapes*: as many `rows` and `cols` as the matrix has, each number once. *Cost*: O(nnz log k), where rows have up to `k`
    /// entries.
    ///
    /// *Errors*: [`Error::LengthMismatch`]; [`Error::IndexOutOfRange`]; [`Error::Parameter`] for a number that comes twice.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let a = Triplets::from_dense(Shape::new(2, 3), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?.to_csr();
    /// let b = a.permuted(&[1, 0], &[2, 0, 1])?;
    /// assert_eq!(b.values(), [6.0, 4.0, 5.0, 3.0, 1.0, 2.0]);
    /// assert!(a.permuted(&[1, 1], &[2, 0, 1]).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn permuted(&self, rows: &[usize], cols: &[usize]) -> Result<Self> {
        check_order("rows", rows, self.shape.rows)?;
        check_order("cols", cols, self.shape.cols)?;
        Ok(self.reordered(rows, cols))
    }

    /// [`permuted`](Self::permuted) for orders that are known to be some.
    pub(in crate::host) fn reordered(&self, rows: &[usize], cols: &[usize]) -> Self {
        let mut places = vec![0u32; self.shape.cols];
        for (&col, place) in cols.iter().zip(0u32..) {
            if let Some(slot) = places.get_mut(col) {
                *slot = place;
            }
        }
        let line = Vec::new;
        Self::by_rows(Threads::all(), self.shape, self.nnz(), line, |i, line: &mut Vec<(u32, f64)>, made| {
            line.clear();
            let row = rows.get(i).into_iter().flat_map(|row| self.row(*row));
            line.extend(row.map(|(col, v)| (places.get(col).copied().unwrap_or_default(), v)));
            line.sort_unstable_by_key(|&(col, _)| col);
            line.iter().for_each(|&(col, v)| made.push(col, v));
        })
    }

    /// The order of reverse Cuthill-McKee, in which [`bandwidth`](Self::bandwidth) tends to be small: number `k` is the
    /// unknown for place `k`, so that `a.permuted(&order, &order)` has rows and columns in it.
    ///
    /// By the pattern of `A + Aᵀ`, stored zeros included. Independent groups come one after another, each from an unknown with
    /// the fewest neighbours; ties go to the lower number. Of a matrix that is not square, the rows and columns that both sides
    /// have are looked at.
    ///
    /// *Cost*: O(nnz log k) for up to `k` neighbours. *Source*: E. Cuthill, J. McKee, 1969; A. George, 1971.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// // The path 0 - 3 - 1 - 4 - 2, of which each entry is stored on one side only.
    /// let path = [(0, 3, 1.0), (1, 3, 1.0), (1, 4, 1.0), (4, 2, 1.0)];
    /// let a = Triplets::from_entries(Shape::new(5, 5), path)?.to_csr();
    /// let order = a.reverse_cuthill_mckee();
    /// assert_eq!(order, [2, 4, 1, 3, 0]);
    /// assert_eq!((a.bandwidth(), a.permuted(&order, &order)?.bandwidth()), (3, 1));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn reverse_cuthill_mckee(&self) -> Vec<usize> {
        let n = self.shape.rows.min(self.shape.cols);
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
        for (row, col, _) in self.entries().filter(|&(row, col, _)| row != col && row < n && col < n) {
            for (from, to) in [(row, col), (col, row)] {
                if let Some(list) = neighbours.get_mut(from) {
                    list.push(to as u32);
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        order::reverse_cuthill_mckee(&neighbours).into_iter().map(|v| v as usize).collect()
    }
}

/// Refuses what does not name each of `n` rows or columns once.
fn check_order(operand: &'static str, order: &[usize], n: usize) -> Result<()> {
    let op = "Csr::permuted";
    if order.len() != n {
        return Err(Error::LengthMismatch { op, operand, found: order.len(), expected: n });
    }
    let mut seen = vec![false; n];
    for &index in order {
        let Some(seen) = seen.get_mut(index) else {
            return Err(Error::IndexOutOfRange { what: op, index, bound: n });
        };
        if std::mem::replace(seen, true) {
            let (value, expected) = (format!("{index} twice"), "each number once");
            return Err(Error::Parameter { op, name: operand, value, expected });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::host::{Triplets, problems};

    #[test]
    fn permuted_is_what_the_elements_say() {
        let a =
            Triplets::from_entries(Shape::new(3, 4), [(0, 3, 1.0), (0, 1, 2.0), (2, 0, 0.0), (2, 2, -4.0)])
                .unwrap()
                .to_csr();
        let (rows, cols) = ([2, 0, 1], [3, 2, 0, 1]);
        let b = a.permuted(&rows, &cols).unwrap();
        let at = |m: &Csr, i: usize, j: usize| m.row(i).find(|&(col, _)| col == j).map(|(_, v)| v);
        for (i, &row) in rows.iter().enumerate() {
            for (j, &col) in cols.iter().enumerate() {
                assert_eq!(at(&b, i, j), at(&a, row, col));
            }
        }
        // Rows stay sorted: the form is that of the same matrix made from entries.
        assert_eq!(b, b.to_triplets().to_csr());
    }

    #[test]
    fn what_is_no_order_is_named() {
        let a = problems::poisson_1d(3).to_csr();
        let error = |rows: &[usize], cols: &[usize]| a.permuted(rows, cols).unwrap_err().to_string();
        assert_eq!(error(&[0, 1], &[0, 1, 2]), "Csr::permuted: `rows` has 2 values, expected 3");
        assert_eq!(
            error(&[0, 1, 2], &[0, 1, 3]),
            "Csr::permuted: index 3 is out of range, expected less than 3"
        );
        assert_eq!(
            error(&[0, 1, 2], &[2, 1, 2]),
            "Csr::permuted: parameter `cols` is 2 twice, expected each number once"
        );
    }

    #[test]
    fn a_scattered_grid_is_narrow_again() {
        let (n, grid) = (9 * 14, problems::poisson_2d(9, 14).to_csr());
        // 55 has no factor in common with 126.
        let scatter: Vec<usize> = (0..n).map(|v| 55 * v % n).collect();
        let scattered = grid.permuted(&scatter, &scatter).unwrap();
        assert!(scattered.bandwidth() > 50);
        let order = scattered.reverse_cuthill_mckee();
        // From a corner, along diagonals: none is longer than the short side.
        assert!(scattered.permuted(&order, &order).unwrap().bandwidth() <= 9 + 1);
        let mut sorted = order;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn lone_unknowns_and_nothing_have_orders() {
        assert_eq!(Triplets::new(Shape::new(0, 0)).to_csr().reverse_cuthill_mckee(), []);
        assert_eq!(Triplets::from_diagonal(&[1.0, 2.0]).to_csr().reverse_cuthill_mckee(), [1, 0]);
        // The third column has no row.
        let wide = Triplets::from_entries(Shape::new(2, 3), [(0, 1, 1.0), (1, 2, 1.0)]).unwrap().to_csr();
        assert_eq!(wide.reverse_cuthill_mckee(), [1, 0]);
    }
}
