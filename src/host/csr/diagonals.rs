//! Which diagonals hold entries.

use std::ops::Range;

use super::Csr;
use crate::host::parallel::Threads;
use crate::shape::Shape;

/// A diagonal as it is found among the entries.
pub(crate) struct Diagonal {
    pub offset: i64,
    first: f64,
    count: usize,
    same: bool,
}

impl Diagonal {
    /// With what there is further down.
    fn join(&mut self, below: &Diagonal) {
        self.count += below.count;
        self.same &= below.same && self.first == below.first;
    }

    /// The coefficient, if it is equal wherever row and column exist.
    pub fn constant(&self, Shape { rows, cols }: Shape) -> Option<f64> {
        let begin = usize::try_from(-self.offset).unwrap_or(0).min(rows);
        let end = usize::try_from(cols as i64 - self.offset).unwrap_or(0).min(rows);
        (self.same && begin + self.count == end).then_some(self.first)
    }
}

impl Csr {
    /// The diagonals that hold entries, by ascending offset; `None` where there are more than `most`.
    pub(crate) fn diagonals(&self, most: usize) -> Option<Vec<Diagonal>> {
        /// Rows that are worth a thread.
        const LEAST: usize = 1 << 14;
        let parts = Threads::all().parts(self.shape.rows, LEAST, |rows| self.diagonals_of(rows, most));
        let mut parts = parts.into_iter();
        let mut all = parts.next()??;
        for part in parts {
            for diagonal in part? {
                match all.binary_search_by_key(&diagonal.offset, |d| d.offset) {
                    Ok(at) => all.get_mut(at)?.join(&diagonal),
                    Err(at) => all.insert(at, diagonal),
                }
            }
        }
        (all.len() <= most).then_some(all)
    }

    fn diagonals_of(&self, rows: Range<usize>, most: usize) -> Option<Vec<Diagonal>> {
        let mut found: Vec<Diagonal> = Vec::new();
        for row in rows {
            // Rows tend to have the diagonals of the row before.
            let mut next = 0;
            for (col, value) in self.row(row) {
                let offset = col as i64 - row as i64;
                let one = Diagonal { offset, first: value, count: 1, same: true };
                let is_next = found.get(next).is_some_and(|d| d.offset == offset);
                let at = if is_next { Ok(next) } else { found.binary_search_by_key(&offset, |d| d.offset) };
                match at {
                    Ok(at) => found.get_mut(at)?.join(&one),
                    Err(_) if found.len() == most => return None,
                    Err(at) => found.insert(at, one),
                }
                next = at.unwrap_or_else(|at| at) + 1;
            }
        }
        Some(found)
    }

    /// The offsets j - i of the diagonals that hold entries, ascending.
    ///
    /// ```
    /// let a = texla::host::problems::poisson_2d(4, 3).to_csr();
    /// assert_eq!(a.diagonal_offsets(), [-4, -1, 0, 1, 4]);
    /// assert_eq!(a.distinct_diagonals(), 5);
    /// ```
    pub fn diagonal_offsets(&self) -> Vec<i64> {
        self.diagonals(usize::MAX).unwrap_or_default().iter().map(|d| d.offset).collect()
    }

    /// Number of diagonals that hold entries.
    pub fn distinct_diagonals(&self) -> usize {
        self.diagonal_offsets().len()
    }
}
