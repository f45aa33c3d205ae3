//! The matching of rows to columns with the largest product: shortest augmenting paths. M. Olschowka, A. Neumaier, 1996;
//! I. Duff, J. Koster, 2001 (MC64, job 5).
//!
//! An entry costs `c_ij = max_k log₂|a_kj| - log₂|a_ij|`, which is not negative. Potentials `u` of rows and `v` of columns keep
//! `c_ij - u_i - v_j >= 0`, with equality for matched entries. A column without a row gets one along the path of least cost
//! by those differences, which changes rows on its way.

use crate::host::Csr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A row for every column.
#[derive(Debug)]
pub(in crate::host) struct Matching {
    /// The row of each column: a permutation. Columns past the rank have rows that were left.
    pub rows: Vec<usize>,
    /// Largest number of entries of which no two share a row or a column, explicit zeros not counted.
    pub rank: usize,
    /// None if the rank is less than the number of rows.
    pub duals: Option<Duals>,
}

/// Logarithms of scales: `log₂|a_ij| + rows_i + columns_j <= 0`, but for rounding, and 0 for matched entries.
#[derive(Clone, Debug)]
pub(in crate::host) struct Duals {
    pub rows: Vec<f64>,
    pub columns: Vec<f64>,
}

/// The matching of a square matrix with the largest `Π |a_ij|`. Ties go to the diagonal where the first bounds show them.
///
/// At worst a walk through the whole matrix for every column; a few entries for most columns in practice.
pub(in crate::host) fn matching(a: &Csr) -> Matching {
    let mut search = Search::new(a);
    search.take_cheap();
    for column in 0..search.columns.len() {
        if search.columns.get(column).is_some_and(|column| column.matched.is_none()) {
            search.augment(column);
        }
    }
    search.finish()
}

#[derive(Clone, Copy)]
struct Entry {
    row: usize,
    cost: f64,
}

struct Column {
    /// The column's entries are `first .. end`.
    first: usize,
    end: usize,
    /// Entries before this one lead to no row that is free.
    next: usize,
    /// The logarithm of its largest entry.
    top: f64,
    v: f64,
    /// The matched entry.
    matched: Option<usize>,
}

#[derive(Clone, Copy)]
struct Row {
    u: f64,
    /// The matched column.
    column: Option<usize>,
    /// Length of the shortest path known from the root of the current search.
    distance: f64,
    /// The column and the entry by which that path gets here.
    from: (usize, usize),
    /// Whether there is no shorter one; or no path from here to a free row, for all searches to come.
    settled: bool,
}

struct Search {
    entries: Vec<Entry>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// Rows with their distances, whose bits are in the order of the numbers: none is negative.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    /// Rows that have a distance.
    touched: Vec<usize>,
    /// Rows settled by the current search.
    tree: Vec<usize>,
}

impl Search {
    /// The costs, and the first potentials: `u_i = min_j c_ij`, `v_j = min_i (c_ij - u_i)`.
    fn new(a: &Csr) -> Self {
        let untouched =
            Row { u: f64::INFINITY, column: None, distance: f64::INFINITY, from: (0, 0), settled: false };
        let mut rows = vec![untouched; a.shape().rows];
        let (mut entries, mut columns) = (Vec::with_capacity(a.nnz()), Vec::with_capacity(a.shape().cols));
        for (places, values) in a.transposed().rows() {
            let first = entries.len();
            let logs = places.iter().zip(values).filter(|(_, v)| **v != 0.0);
            entries.extend(logs.map(|(&row, v)| Entry { row: row as usize, cost: v.abs().log2() }));
            let column = entries.get_mut(first..).unwrap_or_default();
            let top = column.iter().fold(f64::NEG_INFINITY, |top, entry| entry.cost.max(top));
            for entry in column {
                entry.cost = top - entry.cost;
                if let Some(row) = rows.get_mut(entry.row) {
                    row.u = row.u.min(entry.cost);
                }
            }
            let end = entries.len();
            columns.push(Column { first, end, next: first, top, v: 0.0, matched: None });
        }
        for column in &mut columns {
            let entries = entries.get(column.first..column.end).unwrap_or_default();
            let rests = entries.iter().map(|e| e.cost - rows.get(e.row).map_or(0.0, |row| row.u));
            column.v = rests.fold(f64::INFINITY, f64::min);
        }
        let (heap, touched, tree) = (BinaryHeap::new(), Vec::new(), Vec::new());
        Self { entries, columns, rows, heap, touched, tree }
    }

    /// The entries of column `j` that lie on the bound, with their rows: from its `next` on.
    fn tight(&self, j: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let column = self.columns.get(j);
        let (range, v) = column.map_or((0..0, 0.0), |column| (column.next..column.end, column.v));
        let entries = self.entries.get(range.clone()).unwrap_or_default();
        let on_bound = move |e: &Entry| self.rows.get(e.row).is_some_and(|row| e.cost - row.u - v <= 0.0);
        range.zip(entries).filter(move |(_, e)| on_bound(e)).map(|(k, e)| (k, e.row))
    }

    fn is_free(&self, row: usize) -> bool {
        self.rows.get(row).is_some_and(|row| row.column.is_none())
    }

    /// Gives column `j` its entry `k`, in row `i`.
    fn join(&mut self, j: usize, k: usize, i: usize) {
        if let (Some(column), Some(row)) = (self.columns.get_mut(j), self.rows.get_mut(i)) {
            (column.matched, row.column) = (Some(k), Some(j));
        }
    }

    /// Matches most columns by entries on the bound alone: of the diagonal, of any free row, and of rows whose column can
    /// have another one.
    fn take_cheap(&mut self) {
        for j in 0..self.columns.len() {
            let diagonal = self.tight(j).find(|&(_, i)| i == j);
            if let Some((k, i)) = diagonal {
                self.join(j, k, i);
            }
        }
        for j in 0..self.columns.len() {
            if self.columns.get(j).is_some_and(|column| column.matched.is_none())
                && let Some((k, i)) = self.next_free(j)
            {
                self.join(j, k, i);
            }
        }
        for j in 0..self.columns.len() {
            if self.columns.get(j).is_none_or(|column| column.matched.is_some()) {
                continue;
            }
            let first = self.columns.get(j).map_or(0, |column| column.first);
            // All its rows on the bound are taken: from the first again, by columns that may have another.
            if let Some(column) = self.columns.get_mut(j) {
                column.next = first;
            }
            let taken: Vec<(usize, usize)> = self.tight(j).collect();
            for (k, i) in taken {
                let Some(other) = self.rows.get(i).and_then(|row| row.column) else { continue };
                if let Some((l, free)) = self.next_free(other) {
                    self.join(other, l, free);
                    self.join(j, k, i);
                    break;
                }
            }
        }
    }

    /// The next entry of column `j` on the bound whose row is free. A row once taken stays so: none is looked at twice.
    fn next_free(&mut self, j: usize) -> Option<(usize, usize)> {
        let found = self.tight(j).find(|&(_, i)| self.is_free(i));
        if let Some(column) = self.columns.get_mut(j) {
            column.next = found.map_or(column.end, |(k, _)| k + 1);
        }
        found
    }

    /// Matches one more column along a shortest path from it to a free row, if there is any path (Dijkstra).
    fn augment(&mut self, root: usize) {
        self.heap.clear();
        self.tree.clear();
        let (mut shortest, mut end) = (f64::INFINITY, None);
        let mut at = Some((root, 0.0));
        while let Some((j, base)) = at {
            let Some(&Column { first, end: last, v, .. }) = self.columns.get(j) else { return };
            for (k, entry) in (first..last).zip(self.entries.get(first..last).unwrap_or_default()) {
                let Some(row) = self.rows.get_mut(entry.row).filter(|row| !row.settled) else { continue };
                // Rounding may have left a difference below 0.
                let distance = base + (entry.cost - row.u - v).max(0.0);
                if distance >= shortest.min(row.distance) {
                    continue;
                }
                if row.distance == f64::INFINITY {
                    self.touched.push(entry.row);
                }
                (row.distance, row.from) = (distance, (j, k));
                if row.column.is_none() {
                    (shortest, end) = (distance, Some(entry.row));
                } else {
                    self.heap.push(Reverse((distance.to_bits(), entry.row)));
                }
            }
            at = self.settle(shortest);
        }
        if let Some(end) = end {
            self.turn(root, end, shortest);
            for i in &self.touched {
                if let Some(row) = self.rows.get_mut(*i) {
                    (row.distance, row.settled) = (f64::INFINITY, false);
                }
            }
        }
        // Otherwise rows stay settled: none will ever lead to a free one.
        self.touched.clear();
    }

    /// Settles the row next in distance if that is below `below`: its column, and the distance.
    fn settle(&mut self, below: f64) -> Option<(usize, f64)> {
        while let Some(Reverse((bits, i))) = self.heap.pop() {
            let distance = f64::from_bits(bits);
            if distance >= below {
                return None;
            }
            // A row lies in the heap once for every distance that it had.
            let Some(row) = self.rows.get_mut(i).filter(|row| !row.settled) else { continue };
            row.settled = true;
            self.tree.push(i);
            return row.column.map(|column| (column, distance));
        }
        None
    }

    /// Changes rows along the path that ends in row `end`, and the potentials of what the search has settled.
    fn turn(&mut self, root: usize, end: usize, length: f64) {
        let mut columns = vec![root];
        for i in &self.tree {
            if let Some(row) = self.rows.get_mut(*i) {
                row.u += row.distance - length;
                columns.extend(row.column);
            }
        }
        let mut at = Some(end);
        while let Some(i) = at {
            let Some((j, k)) = self.rows.get(i).map(|row| row.from) else { break };
            let before = self.columns.get(j).and_then(|column| column.matched);
            self.join(j, k, i);
            // Only the root had no entry.
            at = before.and_then(|before| self.entries.get(before)).map(|entry| entry.row);
        }
        for j in columns {
            let Some(column) = self.columns.get_mut(j) else { continue };
            let Some(entry) = column.matched.and_then(|k| self.entries.get(k)) else { continue };
            column.v = entry.cost - self.rows.get(entry.row).map_or(0.0, |row| row.u);
        }
    }

    fn finish(self) -> Matching {
        let row_of =
            |column: &Column| column.matched.and_then(|k| self.entries.get(k)).map(|entry| entry.row);
        let mut matched: Vec<Option<usize>> = self.columns.iter().map(row_of).collect();
        let rank = matched.iter().flatten().count();
        // Columns without a row get their own if it is left.
        let mut left: Vec<bool> = self.rows.iter().map(|row| row.column.is_none()).collect();
        for (j, (slot, left)) in matched.iter_mut().zip(&mut left).enumerate() {
            if slot.is_none() && *left {
                (*slot, *left) = (Some(j), false);
            }
        }
        let mut others = (0..left.len()).zip(&left).filter(|(_, left)| **left).map(|(i, _)| i);
        let rows = matched.iter().map(|slot| slot.or_else(|| others.next()).unwrap_or_default()).collect();
        let duals = (rank == self.rows.len()).then(|| Duals {
            rows: self.rows.iter().map(|row| row.u).collect(),
            columns: self.columns.iter().map(|column| column.v - column.top).collect(),
        });
        Matching { rows, rank, duals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::host::Triplets;
    use crate::host::prepare::tests::Numbers;

    /// All orders of 0 .. n.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for k in 0..n {
            let put = |order: &Vec<usize>, at: usize| [&order[..at], &[k], &order[at..]].concat();
            all = all.iter().flat_map(|order| (0..=k).map(move |at| put(order, at))).collect();
        }
        all
    }

    /// The number of entries on the places (rows[j], j), and the sum of their logarithms.
    fn worth(dense: &[f64], n: usize, rows: &[usize]) -> (usize, f64) {
        let on = rows.iter().enumerate().map(|(j, i)| dense[i * n + j].abs()).filter(|v| *v != 0.0);
        on.fold((0, 0.0), |(count, sum), v| (count + 1, sum + v.log2()))
    }

    fn check(dense: &[f64], n: usize) -> bool {
        // Zeros are stored here.
        let all = dense.iter().enumerate().map(|(k, v)| (k / n, k % n, *v));
        let a = Triplets::from_entries(Shape::new(n, n), all).unwrap().to_csr();
        let found = matching(&a);
        let mut sorted = found.rows.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..n).collect::<Vec<_>>());
        let all = orders(n).into_iter().map(|rows| worth(dense, n, &rows));
        let best =
            all.fold((0, f64::NEG_INFINITY), |a, b| if b.partial_cmp(&a).unwrap().is_gt() { b } else { a });
        assert_eq!(found.rank, best.0, "{dense:?}");
        assert_eq!(found.duals.is_some(), found.rank == n);
        let (count, sum) = worth(dense, n, &found.rows);
        assert_eq!(count, found.rank);
        let Some(duals) = found.duals else { return false };
        assert!((sum - best.1).abs() <= 1e-10, "{sum} of {best:?} for {dense:?}");
        // The duals certify it.
        for (i, j, v) in a.entries().filter(|entry| entry.2 != 0.0) {
            let above = v.abs().log2() + duals.rows[i] + duals.columns[j];
            assert!(above <= 1e-10, "{above}");
            assert!(above >= -1e-10 || found.rows[j] != i, "{above}");
        }
        true
    }

    #[test]
    fn no_order_of_rows_has_a_larger_product() {
        let mut numbers = Numbers(1);
        let (mut full, mut deficient) = (0, 0);
        for n in 1..=6 {
            for round in 0..200 {
                let filled = 0.2 + 0.8 * numbers.unit();
                // Small integers tie often, powers of ten seldom; the last ones reach across the whole range.
                let mut value = || {
                    let magnitude = match round % 3 {
                        0 => 1.0 + numbers.below(3) as f64,
                        1 => 10f64.powf(4.0 * numbers.unit()),
                        _ => 10f64.powf(600.0 * numbers.unit() - 300.0),
                    };
                    let kept = numbers.unit() < filled;
                    if kept { magnitude * [1.0, -1.0][numbers.below(2)] } else { 0.0 }
                };
                let dense: Vec<f64> = (0..n * n).map(|_| value()).collect();
                if check(&dense, n) { full += 1 } else { deficient += 1 }
            }
        }
        assert!(full > 300 && deficient > 300, "{full} {deficient}");
    }

    #[test]
    fn edges_of_the_range() {
        assert!(check(&[5e-324, f64::MAX, f64::MAX, 1.0], 2));
        assert!(check(&[5e-324, 1e-300, 1e300, f64::MAX], 2));
        assert!(check(&[-5e-324], 1));
        assert!(!check(&[0.0], 1));
    }

    #[test]
    fn nothing_has_full_rank() {
        let found = matching(&Triplets::new(Shape::new(0, 0)).to_csr());
        assert_eq!((found.rows.len(), found.rank, found.duals.is_some()), (0, 0, true));
    }

    #[test]
    fn ties_go_to_the_diagonal() {
        let ones = Triplets::from_dense(Shape::new(4, 4), &[1.0; 16]).unwrap().to_csr();
        assert_eq!(matching(&ones).rows, [0, 1, 2, 3]);
        // Columns without entries keep their rows where these are left.
        let a = Triplets::from_entries(Shape::new(4, 4), [(2, 1, 1.0)]).unwrap().to_csr();
        let found = matching(&a);
        assert_eq!((found.rows, found.rank), (vec![0, 2, 1, 3], 1));
    }

    #[test]
    fn long_paths_are_found() {
        // Every column but the last begins with its diagonal; the last has row 0 alone, for which all others must move on.
        let n = 300;
        let mut a = Triplets::new(Shape::new(n, n));
        for j in 0..n - 1 {
            a.push(j, j, 4.0).unwrap();
            a.push(j + 1, j, 1.0).unwrap();
        }
        a.push(0, n - 1, 1.0).unwrap();
        let found = matching(&a.to_csr());
        assert_eq!(found.rows, (0..n).map(|j| (j + 1) % n).collect::<Vec<_>>());
        assert_eq!(found.rank, n);
    }
}
