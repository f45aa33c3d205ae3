//! Rows matched to columns so that the product of the elements that meet is the largest there is.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::host::Csr;

/// A matching of a square matrix, and by what its rows and columns are to be scaled.
pub(super) struct Matching {
    /// The row that each column is matched to: all rows, those of columns that have none in any order.
    pub rows: Vec<usize>,
    /// Columns matched to a row that has an element there.
    pub rank: usize,
    /// Logarithms of factors of rows and of columns, by which elements that meet have the magnitude 1, and no other is larger.
    pub row_logs: Vec<f64>,
    pub column_logs: Vec<f64>,
}

/// How far a row is from a column that has none yet. The least comes first.
struct Reached(f64, u32);

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0).then(other.1.cmp(&self.1))
    }
}

const NONE: u32 = u32::MAX;

fn get(list: &[f64], i: u32) -> f64 {
    list.get(i as usize).copied().unwrap_or(0.0)
}

fn link(list: &[u32], i: u32) -> u32 {
    list.get(i as usize).copied().unwrap_or(NONE)
}

fn put<T>(list: &mut [T], i: u32, value: T) {
    if let Some(slot) = list.get_mut(i as usize) {
        *slot = value;
    }
}

/// By shortest augmenting paths on the costs `log max_k |a_kj| - log |a_ij|` (I. Duff, J. Koster, SIAM J. Matrix Anal. Appl. 22, 2001;
/// M. Olschowka, A. Neumaier, Linear Algebra Appl. 240, 1996).
///
/// *Cost*: O(n nnz log n) at most; mostly a small multiple of nnz log n.
pub(super) fn matched(a: &Csr) -> Matching {
    let n = a.shape().rows;
    // Columns as rows: (row, cost), and the logarithm of the largest of each.
    let of_columns = a.transposed();
    let mut largest = Vec::with_capacity(n);
    let columns: Vec<Vec<(u32, f64)>> = of_columns
        .rows()
        .map(|(rows, values)| {
            let logs = || values.iter().map(|v| v.abs().ln());
            let most = logs().fold(f64::NEG_INFINITY, f64::max);
            largest.push(if most.is_finite() { most } else { 0.0 });
            rows.iter()
                .copied()
                .zip(logs())
                .filter(|(_, log)| log.is_finite())
                .map(|(i, log)| (i, most - log))
                .collect()
        })
        .collect();
    let mut search = Search {
        u: vec![f64::INFINITY; n],
        v: vec![0.0; n],
        row_of: vec![NONE; n],
        column_of: vec![NONE; n],
        distance: vec![f64::INFINITY; n],
        from: vec![NONE; n],
        settled: vec![false; n],
        columns: &columns,
    };
    search.begin();
    let mut rank = 0;
    for j in 0..n as u32 {
        rank += usize::from(link(&search.row_of, j) != NONE || search.augment(j));
    }
    let Search { u, v, mut row_of, column_of, .. } = search;
    // Rows that are left go to the columns that are.
    let mut left = (0u32..).zip(&column_of).filter(|(_, column)| **column == NONE).map(|(i, _)| i);
    row_of.iter_mut().filter(|row| **row == NONE).for_each(|row| *row = left.next().unwrap_or(0));
    let column_logs = v.iter().zip(&largest).map(|(v, log)| v - log).collect();
    let row_logs = u.into_iter().map(|u| if u.is_finite() { u } else { 0.0 }).collect();
    Matching { rows: row_of.into_iter().map(|i| i as usize).collect(), rank, row_logs, column_logs }
}

/// A matching as it grows, with duals `u_i + v_j <= c_ij`, equal where row and column are matched.
struct Search<'a> {
    u: Vec<f64>,
    v: Vec<f64>,
    row_of: Vec<u32>,
    column_of: Vec<u32>,
    /// Of rows, in the search under way: from which column they were reached, and how far.
    distance: Vec<f64>,
    from: Vec<u32>,
    settled: Vec<bool>,
    columns: &'a [Vec<(u32, f64)>],
}

impl Search<'_> {
    fn column(&self, j: u32) -> &[(u32, f64)] {
        self.columns.get(j as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Duals that are feasible, and what can be matched at once.
    fn begin(&mut self) {
        for (i, cost) in self.columns.iter().flatten() {
            let least = get(&self.u, *i).min(*cost);
            put(&mut self.u, *i, least);
        }
        for (j, column) in (0u32..).zip(self.columns) {
            let slack = |(i, cost): &(u32, f64)| cost - get(&self.u, *i);
            let least = column.iter().map(slack).fold(f64::INFINITY, f64::min);
            put(&mut self.v, j, if least.is_finite() { least } else { 0.0 });
            let tight =
                column.iter().find(|entry| slack(entry) <= least && link(&self.column_of, entry.0) == NONE);
            if let Some((i, _)) = tight {
                put(&mut self.row_of, j, *i);
                put(&mut self.column_of, *i, j);
            }
        }
    }

    /// Matches one column more, along the shortest path of exchanges; false where there is none.
    fn augment(&mut self, root: u32) -> bool {
        let mut reached = BinaryHeap::new();
        let mut touched: Vec<u32> = Vec::new();
        let mut tree: Vec<u32> = Vec::new();
        let (mut column, mut so_far) = (root, 0.0);
        let end = loop {
            let v = get(&self.v, column);
            for k in 0..self.column(column).len() {
                let Some((i, cost)) = self.column(column).get(k).copied() else { continue };
                // Rounding may leave a slack a little below zero.
                let next = so_far + (cost - get(&self.u, i) - v).max(0.0);
                let before = get(&self.distance, i);
                if next < before && !self.settled.get(i as usize).copied().unwrap_or(true) {
                    if before.is_infinite() {
                        touched.push(i);
                    }
                    put(&mut self.distance, i, next);
                    put(&mut self.from, i, column);
                    reached.push(Reached(next, i));
                }
            }
            // The nearest row that is not settled.
            let nearest = loop {
                match reached.pop() {
                    Some(Reached(_, i)) if self.settled.get(i as usize).copied().unwrap_or(true) => {}
                    other => break other,
                }
            };
            let Some(Reached(length, i)) = nearest else { break None };
            put(&mut self.settled, i, true);
            tree.push(i);
            so_far = length;
            match link(&self.column_of, i) {
                NONE => break Some(i),
                other => column = other,
            }
        };
        if let Some(last) = end {
            // Duals of what was settled before the end.
            for i in &tree {
                let gain = so_far - get(&self.distance, *i);
                let u = get(&self.u, *i) - gain;
                put(&mut self.u, *i, u);
                let j = link(&self.column_of, *i);
                if j != NONE {
                    let v = get(&self.v, j) + gain;
                    put(&mut self.v, j, v);
                }
            }
            let v = get(&self.v, root) + so_far;
            put(&mut self.v, root, v);
            let mut i = last;
            loop {
                let j = link(&self.from, i);
                let before = link(&self.row_of, j);
                put(&mut self.row_of, j, i);
                put(&mut self.column_of, i, j);
                if j == root {
                    break;
                }
                i = before;
            }
        }
        for i in touched {
            put(&mut self.distance, i, f64::INFINITY);
            put(&mut self.settled, i, false);
        }
        end.is_some()
    }
}
