//! What the search knows of the matrix.

use super::lanes::{GROUPS, ROWS, Table};
use crate::pack::LinearExpression;
use crate::pack::bound::Kinds;

/// The zero pattern of a padded matrix of at most [`ROWS`] rows, sets of rows and columns as words.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Number of groups.
    pub groups: usize,
    /// By row: its columns.
    pub columns: Table<u64, ROWS>,
    /// By column: the rows that have it.
    pub readers: Table<u64, ROWS>,
    /// By row: its kind, see [`Kinds`].
    pub kind: Table<u16, ROWS>,
    /// Rows with trivial b.
    pub trivial: u64,
    /// Rows that may cost something: with a non-zero or a non-trivial b.
    pub active: u64,
    /// Inert rows whose column is not empty: they matter as columns only. What is neither this nor active fits anywhere.
    pub inert: u64,
}

impl Pattern {
    /// None if there are too many rows.
    pub fn new(e: &LinearExpression, kinds: &Kinds) -> Option<Self> {
        let groups = e.quads();
        if groups > GROUPS {
            return None;
        }
        let mut p = Self {
            groups,
            columns: Table::default(),
            readers: Table::default(),
            kind: Table::default(),
            trivial: 0,
            active: 0,
            inert: 0,
        };
        for (i, &kind) in kinds.of.iter().enumerate() {
            p.kind.set(i, kind as u16);
            for (j, _) in e.row(i) {
                p.columns.change(i, |set| set | 1 << j);
                p.readers.change(j, |set| set | 1 << i);
            }
            if !e.is_nontrivial(i) {
                p.trivial |= 1 << i;
            }
        }
        for i in 0..kinds.of.len() {
            if p.columns.at(i) != 0 || p.trivial >> i & 1 == 0 {
                p.active |= 1 << i;
            } else if p.readers.at(i) != 0 {
                p.inert |= 1 << i;
            }
        }
        Some(p)
    }
}
