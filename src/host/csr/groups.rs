//! Parts of a matrix that know nothing of each other.

use super::Csr;
use crate::host::parallel::Threads;

impl Csr {
    /// The independent groups of unknowns: the connected components of the pattern, stored zeros included, taken for
    /// symmetric. No entry joins two groups, so a system or a complementarity problem falls apart into theirs.
    ///
    /// Every group ascends, and groups come in the order of their first unknowns. Of a matrix that is not square, the
    /// rows and columns that both sides have are looked at.
    ///
    /// *Cost*: O(nnz) or nearly so.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// let entries = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (0, 2, 5.0)];
    /// let a = Triplets::from_entries(Shape::new(4, 4), entries)?.to_csr();
    /// assert_eq!(a.independent_groups(), [vec![0, 2], vec![1], vec![3]]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn independent_groups(&self) -> Vec<Vec<usize>> {
        self.groups_by(|_, _, _| true)
    }

    /// The same of those entries alone, given by row, column and value.
    pub(crate) fn groups_by(&self, counts: impl Fn(usize, usize, f64) -> bool + Sync) -> Vec<Vec<usize>> {
        /// Rows that are worth a thread.
        const ROWS: usize = 4096;
        let n = self.shape.rows.min(self.shape.cols);
        // Where each unknown but the first is joined to one before it, all are one group.
        let joined =
            |i: usize| i == 0 || self.row(i).take_while(|(j, _)| *j < i).any(|(j, v)| counts(i, j, v));
        if n > 0 && Threads::all().parts(n, ROWS, |mut part| part.all(joined)).into_iter().all(|all| all) {
            return vec![Threads::all().made(n, |i| i)];
        }
        let mut leaders: Vec<usize> = (0..n).collect();
        for (row, col, _) in self.entries().filter(|&(i, j, v)| i < n && j < n && counts(i, j, v)) {
            let (a, b) = (leader(&mut leaders, row), leader(&mut leaders, col));
            // The smaller one leads, so that leaders are first unknowns.
            if let Some(slot) = leaders.get_mut(a.max(b)) {
                *slot = a.min(b);
            }
        }
        let mut numbers = vec![usize::MAX; n];
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in 0..n {
            let first = leader(&mut leaders, i);
            let Some(number) = numbers.get_mut(first) else { continue };
            if *number == usize::MAX {
                *number = groups.len();
                groups.push(Vec::new());
            }
            if let Some(group) = groups.get_mut(*number) {
                group.push(i);
            }
        }
        groups
    }
}

/// The first unknown of `i`'s group as known so far; paths are halved on the way.
fn leader(leaders: &mut [usize], mut i: usize) -> usize {
    loop {
        let above = leaders.get(i).copied().unwrap_or(i);
        if above == i {
            return i;
        }
        let next = leaders.get(above).copied().unwrap_or(above);
        if let Some(slot) = leaders.get_mut(i) {
            *slot = next;
        }
        i = next;
    }
}
