//! Orders along a graph.

use super::Csr;
use crate::error::{Error, Result};

/// Reverse Cuthill-McKee: neighbours close to one another. E. Cuthill, J. McKee, 1969; A. George, 1971.
///
/// Part by part, in the order of their first nodes, each from a node of least degree; neighbours by degree. Ties go to the lower number.
pub(crate) fn cuthill_mckee(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let list = |v: u32| neighbours.get(v as usize).map(Vec::as_slice).unwrap_or_default();
    let rank = |v: u32| (list(v).len(), v);
    let mut seen = vec![false; neighbours.len()];
    let mut take = |v: u32| seen.get_mut(v as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let mut order = Vec::with_capacity(neighbours.len());
    for part in parts(neighbours) {
        let Some(root) = part.into_iter().min_by_key(|&v| rank(v)) else { continue };
        take(root);
        let mut next = order.len();
        order.push(root);
        while let Some(&v) = order.get(next) {
            let from = order.len();
            order.extend(list(v).iter().filter(|&&w| take(w)));
            if let Some(new) = order.get_mut(from..) {
                new.sort_unstable_by_key(|&w| rank(w));
            }
            next += 1;
        }
    }
    order.reverse();
    order
}

/// The connected parts, in the order of their first nodes.
fn parts(neighbours: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut seen = vec![false; neighbours.len()];
    let mut parts = Vec::new();
    for first in 0..neighbours.len() as u32 {
        let mut take = |v: u32| seen.get_mut(v as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        if !take(first) {
            continue;
        }
        let mut part = vec![first];
        let mut next = 0;
        while let Some(&v) = part.get(next) {
            part.extend(neighbours.get(v as usize).into_iter().flatten().filter(|&&w| take(w)));
            next += 1;
        }
        parts.push(part);
    }
    parts
}

impl Csr {
    /// Reverse Cuthill-McKee by the pattern of `A + Aᵀ`: which row and column comes in each place, so that entries lie close to the
    /// diagonal (E. Cuthill, J. McKee, 1969; A. George, 1971). Of a matrix that is not square, by what both sides have.
    ///
    /// *Cost*: O(nnz log nnz) at most.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// // A path through 0, 3, 1, 4, 2.
    /// let path = [(0, 3), (3, 1), (1, 4), (4, 2)];
    /// let entries = path.into_iter().flat_map(|(i, j)| [(i, j, 1.0), (j, i, 1.0)]);
    /// let a = Triplets::from_entries(Shape::new(5, 5), entries.collect::<Vec<_>>())?.to_csr();
    /// let order = a.reverse_cuthill_mckee();
    /// assert_eq!(order, [2, 4, 1, 3, 0]);
    /// assert_eq!(a.permuted(&order, &order)?.bandwidth(), 1);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn reverse_cuthill_mckee(&self) -> Vec<usize> {
        let n = self.shape().rows.min(self.shape().cols);
        let mut neighbours = vec![Vec::new(); n];
        for (i, j, _) in self.entries().filter(|(i, j, _)| i != j && *i < n && *j < n) {
            for (from, to) in [(i, j), (j, i)] {
                if let Some(list) = neighbours.get_mut(from) {
                    list.push(to as u32);
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        cuthill_mckee(&neighbours).into_iter().map(|v| v as usize).collect()
    }

    /// The matrix whose element `(i, j)` is `A[rows[i], cols[j]]`.
    ///
    /// *Errors*: [`Error::LengthMismatch`] unless there are as many as the matrix has rows and columns; [`Error::Matrix`] where one is
    /// missing or named twice.
    pub fn permuted(&self, rows: &[usize], cols: &[usize]) -> Result<Self> {
        let op = "Csr::permuted";
        inverse(op, "rows", rows, self.shape().rows)?;
        let places = inverse(op, "cols", cols, self.shape().cols)?;
        let mut entries = Vec::with_capacity(self.nnz());
        for (i, from) in (0u32..).zip(rows) {
            let begin = entries.len();
            entries.extend(self.row(*from).filter_map(|(j, v)| places.get(j).map(|to| (i, *to, v))));
            if let Some(row) = entries.get_mut(begin..) {
                row.sort_unstable_by_key(|(_, j, _)| *j);
            }
        }
        Ok(Self::from_sorted(self.shape(), &entries))
    }
}

/// Where each number comes in a permutation.
fn inverse(op: &'static str, operand: &'static str, order: &[usize], n: usize) -> Result<Vec<u32>> {
    if order.len() != n {
        return Err(Error::LengthMismatch { op, operand, found: order.len(), expected: n });
    }
    let mut places = vec![u32::MAX; n];
    for (place, of) in (0u32..).zip(order) {
        match places.get_mut(*of) {
            Some(slot) if *slot == u32::MAX => *slot = place,
            _ => {
                let detail =
                    format!("cannot be permuted: {of} in `{operand}` is out of range or named twice");
                return Err(Error::Matrix { op, detail });
            }
        }
    }
    Ok(places)
}
