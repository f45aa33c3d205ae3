//! Elimination of one-entry rows and columns, of penalty rows and of empty rows and columns.

use super::NormalParams;
use super::penalties::{is_penalty, penalty_rows};
use crate::Shape;
use crate::host::Csr;
use crate::host::parallel::Threads;

/// A row and the unknown that is computed from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pivot {
    pub row: usize,
    pub column: usize,
    pub value: f64,
}

/// Eliminated rows and columns, and those that are left.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct Plan {
    /// One-entry and penalty rows, in the order in which they give their unknowns. The other
    /// unknowns of a one-entry row are known before it.
    pub known: Vec<Pivot>,
    /// Rows of one-entry columns. They give their unknowns in reverse order, after all others.
    pub later: Vec<Pivot>,
    /// Number of penalty rows in `known`.
    pub penalties: usize,
    /// Rows without entries in columns that are left.
    pub empty_rows: Vec<usize>,
    /// Removed unknowns that are in no equation that is left.
    pub free: Vec<usize>,
    /// Row `i` of the reduced matrix is row `rows[i]`.
    pub rows: Vec<usize>,
    /// Column `j` of the reduced matrix is column `columns[j]`.
    pub columns: Vec<usize>,
}

/// The rows of a matrix, or its columns as rows of the transposed matrix, during elimination.
pub(super) struct Side<'a> {
    pub lines: &'a Csr,
    /// Lines that are not eliminated.
    live: Vec<bool>,
    /// Number of entries in lines across that are not eliminated.
    counts: Vec<usize>,
}

impl<'a> Side<'a> {
    fn new(lines: &'a Csr) -> Self {
        let counts: Vec<usize> = lines.rows().map(|(places, _)| places.len()).collect();
        Self { lines, live: vec![true; counts.len()], counts }
    }

    pub fn is_live(&self, k: usize) -> bool {
        self.live.get(k).copied().unwrap_or_default()
    }

    pub fn live(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.live.len()).filter(|&k| self.is_live(k))
    }

    fn with_count(&self, count: usize) -> Vec<usize> {
        self.live().filter(|&k| self.counts.get(k) == Some(&count)).collect()
    }

    fn remove(&mut self, k: usize) {
        if let Some(live) = self.live.get_mut(k) {
            *live = false;
        }
    }

    /// Removes a line of any number of entries, and counts these off the lines across.
    fn take(&mut self, k: usize, other: &mut Side<'_>) {
        self.remove(k);
        for (across, _) in self.lines.row(k) {
            other.lose(across);
        }
    }

    /// Counts one entry off line `k` and returns the number left.
    fn lose(&mut self, k: usize) -> usize {
        let Some(count) = self.counts.get_mut(k) else { return 0 };
        *count = count.saturating_sub(1);
        *count
    }
}

/// Removes lines of one entry, each with the line across, until none is left. Returns triples of
/// line, line across and entry. Every line is traversed at most once on either side.
fn take_singles(own: &mut Side, other: &mut Side) -> Vec<(usize, usize, f64)> {
    let mut queue = own.with_count(1);
    let (mut taken, mut next) = (Vec::new(), 0);
    while let Some(&line) = queue.get(next) {
        next += 1;
        // None is live if another line has taken it.
        let Some((across, value)) = own.lines.row(line).find(|(k, _)| other.is_live(*k)) else { continue };
        own.remove(line);
        other.remove(across);
        taken.push((line, across, value));
        for (k, _) in other.lines.row(across) {
            if own.is_live(k) && own.lose(k) == 1 {
                queue.push(k);
            }
        }
    }
    taken
}

/// Whether every row and column has two entries or more, and no row is a penalty: as mostly, which is seen sooner by all cores.
fn is_reduced(a: &Csr, transposed: &Csr) -> bool {
    /// Rows that are worth a thread.
    const ROWS: usize = 4096;
    let of = |i: usize| {
        let several = a.row_slices(i).0.len() > 1 && transposed.row_slices(i).0.len() > 1;
        several && !is_penalty(a.row(i), i)
    };
    Threads::all().parts(a.shape().rows, ROWS, |mut part| part.all(of)).into_iter().all(|all| all)
}

impl Plan {
    /// Plans the elimination for a matrix without stored zeros.
    ///
    /// One pass over rows and one over columns suffice, because neither creates one-entry lines of
    /// the other kind. Penalty rows come after both, so that no column has its only entry in one of
    /// them.
    pub fn new(a: &Csr, transposed: &Csr, params: &NormalParams) -> Self {
        let mut plan = Self::default();
        if is_reduced(a, transposed) {
            let all = || Threads::all().made(a.shape().rows, |i| i);
            return Self { rows: all(), columns: all(), ..plan };
        }
        let (mut rows, mut columns) = (Side::new(a), Side::new(transposed));
        if !params.presolve.is_off() {
            plan.take_singles(&mut rows, &mut columns);
        }
        if !params.penalties.is_off() {
            plan.take_penalties(&mut rows, &mut columns);
            if plan.penalties > 0 && !params.presolve.is_off() {
                plan.take_singles(&mut rows, &mut columns);
            }
        }
        plan.empty_rows = rows.with_count(0);
        let mut partners = vec![0; a.shape().rows];
        for pivot in plan.known.iter().chain(&plan.later) {
            if let Some(partner) = partners.get_mut(pivot.row) {
                *partner = pivot.column;
            }
        }
        if !params.presolve.is_off() {
            plan.leave_out(&mut rows, &mut columns, &mut partners);
        }
        plan.order(&rows, &columns, &partners);
        plan
    }

    fn take_singles(&mut self, rows: &mut Side, columns: &mut Side) {
        let known = take_singles(rows, columns).into_iter();
        self.known.extend(known.map(|(row, column, value)| Pivot { row, column, value }));
        let later = take_singles(columns, rows).into_iter();
        self.later.extend(later.map(|(column, row, value)| Pivot { row, column, value }));
    }

    fn take_penalties(&mut self, rows: &mut Side, columns: &mut Side) {
        let found = penalty_rows(rows, columns);
        self.penalties = found.len();
        for (i, value) in found {
            rows.take(i, columns);
            columns.take(i, rows);
            self.known.push(Pivot { row: i, column: i, value });
        }
    }

    /// Removes empty rows and columns, equally many of both, so that the rest stays square.
    fn leave_out(&mut self, rows: &mut Side, columns: &mut Side, partners: &mut [usize]) {
        let empty_columns = columns.with_count(0);
        let is_in = |list: &[usize], k: &usize| list.binary_search(k).is_ok();
        let (both, lone_rows): (Vec<usize>, Vec<usize>) =
            self.empty_rows.iter().partition(|k| is_in(&empty_columns, k));
        let lone_columns = empty_columns.iter().copied().filter(|k| !is_in(&both, k));
        let pairs = both.iter().map(|&k| (k, k)).chain(lone_rows.iter().copied().zip(lone_columns));
        for (row, column) in pairs {
            rows.remove(row);
            columns.remove(column);
            self.free.push(column);
            if let Some(partner) = partners.get_mut(row) {
                *partner = column;
            }
        }
        self.free.sort_unstable();
    }

    /// Orders rows and columns that are left. Columns ascend, and row `i` is paired with column `i`
    /// if both are left, so that diagonal entries stay on the diagonal. For a column `j` whose row
    /// `j` is eliminated, the chain of eliminated rows and their columns ends in a row that is
    /// left.
    fn order(&mut self, rows: &Side, columns: &Side, partners: &[usize]) {
        self.columns = columns.live().collect();
        let row_of = |&column: &usize| {
            let mut row = column;
            while !rows.is_live(row) {
                let Some(&partner) = partners.get(row) else { break };
                row = partner;
            }
            row
        };
        self.rows = self.columns.iter().map(row_of).collect();
    }

    /// Returns whether nothing is eliminated.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && self.later.is_empty() && self.free.is_empty()
    }

    /// Returns the reduced matrix, and a matrix of all other entries at their original places.
    pub fn split(&self, a: &Csr) -> (Csr, Csr) {
        let n = a.shape().rows;
        let mut places = vec![u32::MAX; n];
        for (&column, place) in self.columns.iter().zip(0u32..) {
            if let Some(slot) = places.get_mut(column) {
                *slot = place;
            }
        }
        let place = |column: u32| places.get(column as usize).copied().filter(|&place| place != u32::MAX);
        let m = self.columns.len();
        let reduced = Csr::by_rows(
            Threads::all(),
            Shape::new(m, m),
            a.nnz(),
            || (),
            |i, (), rows| {
                let (columns, values) = a.row_slices(self.rows.get(i).copied().unwrap_or(n));
                for (&column, &value) in columns.iter().zip(values) {
                    if let Some(place) = place(column) {
                        rows.push(place, value);
                    }
                }
            },
        );
        let mut left = vec![false; n];
        for &row in &self.rows {
            if let Some(slot) = left.get_mut(row) {
                *slot = true;
            }
        }
        let rest = Csr::by_rows(
            Threads::all(),
            a.shape(),
            a.nnz() - reduced.nnz(),
            || (),
            |i, (), rows| {
                let (columns, values) = a.row_slices(i);
                let left = left.get(i).copied().unwrap_or_default();
                for (&column, &value) in columns.iter().zip(values) {
                    if !left || place(column).is_none() {
                        rows.push(column, value);
                    }
                }
            },
        );
        (reduced, rest)
    }
}
