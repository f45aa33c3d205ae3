//! Rows of a matrix by what their group's cost can see of them.

use std::collections::BTreeMap;

use crate::pack::{Form, LinearExpression, Orders};

/// Pairs of rows with a common column past which shared columns are not counted.
const PAIRS: u64 = 1 << 24;

/// What the composition bound knows of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Its number of non-zeros.
    pub degree: u32,
    /// True if it has a diagonal, which then stands in its own block.
    pub diagonal: bool,
    /// True if its b is the constant 0.
    pub trivial: bool,
}

/// The rows of a padded matrix, sorted into kinds.
#[derive(Clone, Debug)]
pub(crate) struct Kinds {
    /// The kinds, the largest degree first.
    pub list: Vec<Kind>,
    /// How many rows each kind has.
    pub counts: Vec<u32>,
    /// The kind of each row, padding included.
    pub of: Vec<usize>,
    /// For a pair of kinds: the most off-diagonal columns of the second that a row of the first has. Empty where a row's own
    /// block means nothing.
    meets: Vec<Vec<u32>>,
    /// For a pair of kinds: the most columns that a row of the first shares with another one of the second. Empty if unknown.
    shared: Vec<Vec<u32>>,
    /// Additions saved in a group: one for each of its sums without b.
    pub waived: [u32; 2],
}

impl Kinds {
    pub fn new(e: &LinearExpression, orders: Orders) -> Self {
        // Two orders, or an iteration, whose matrix has no diagonal and whose own block is two terms: no own block is told apart.
        let own_block = orders == Orders::One && e.form() == Form::Affine;
        let kind = |i: usize| Kind {
            degree: e.row(i).count() as u32,
            diagonal: own_block && e.row(i).any(|(j, _)| j == i),
            trivial: !e.is_nontrivial(i),
        };
        let rows: Vec<Kind> = (0..4 * e.quads()).map(kind).collect();
        let mut sorted: BTreeMap<Kind, u32> = BTreeMap::new();
        for &kind in &rows {
            *sorted.entry(kind).or_default() += 1;
        }
        let (list, counts): (Vec<Kind>, Vec<u32>) = sorted.into_iter().rev().unzip();
        let number = |kind: &Kind| list.iter().position(|k| k == kind).unwrap_or_default();
        let of: Vec<usize> = rows.iter().map(number).collect();
        let few = list.len() <= 256;
        let meets = if own_block && few { meets(e, &of, list.len()) } else { Vec::new() };
        let shared = if few { shared(e, &of, list.len()) } else { Vec::new() };
        let waived = if e.form() == Form::GaussSeidel { [1, 2] } else { [0, 1] };
        Self { list, counts, of, meets, shared, waived }
    }

    /// True for rows that cost nothing wherever they stand: without non-zeros and with trivial b.
    pub fn is_inert(&self, kind: usize) -> bool {
        self.list.get(kind).is_some_and(|k| k.degree == 0 && k.trivial)
    }

    /// The most columns that a row of one kind shares with a row of another; 4, which a block has, if unknown.
    pub fn shared(&self, a: usize, b: usize) -> u32 {
        self.shared.get(a).and_then(|row| row.get(b)).map_or(4, |&most| most.min(4))
    }

    /// The most non-zeros that each row of a group can have in the group's own block; none where that is not told apart.
    pub fn own(&self, group: [usize; 4]) -> Option<[u32; 4]> {
        if self.meets.is_empty() {
            return None;
        }
        let mut at = 0;
        Some(group.map(|kind| {
            let row = at;
            at += 1;
            let of =
                |other: usize| group.iter().enumerate().filter(|&(p, &g)| g == other && p != row).count();
            let met = self.meets.get(kind).into_iter().flatten().enumerate();
            let others: u32 = met.map(|(other, &most)| most.min(of(other) as u32)).sum();
            others + u32::from(self.list.get(kind).is_some_and(|k| k.diagonal))
        }))
    }
}

/// A table of every pair of kinds.
type Pairs = Vec<Vec<u32>>;

fn raise(pairs: &mut Pairs, a: usize, b: usize, to: u32) {
    if let Some(most) = pairs.get_mut(a).and_then(|row| row.get_mut(b)) {
        *most = to.max(*most);
    }
}

fn meets(e: &LinearExpression, of: &[usize], kinds: usize) -> Pairs {
    let mut meets = vec![vec![0; kinds]; kinds];
    for (i, &kind) in of.iter().enumerate() {
        let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
        for other in e.row(i).filter(|&(j, _)| j != i).filter_map(|(j, _)| of.get(j)) {
            *seen.entry(*other).or_default() += 1;
        }
        for (other, count) in seen {
            raise(&mut meets, kind, other, count);
        }
    }
    meets
}

fn shared(e: &LinearExpression, of: &[usize], kinds: usize) -> Pairs {
    let columns = e.matrix().transposed();
    let work: u64 = (0..e.unknowns()).map(|j| columns.row(j).count() as u64).map(|n| n * n).sum();
    if work > PAIRS {
        return Vec::new();
    }
    let mut shared = vec![vec![0; kinds]; kinds];
    let mut common = vec![0u32; of.len()];
    for (i, &kind) in of.iter().enumerate() {
        let others =
            || e.row(i).flat_map(|(j, _)| columns.row(j)).map(|(other, _)| other).filter(|&o| o != i);
        for other in others() {
            common.get_mut(other).map(|c| *c += 1).unwrap_or_default();
        }
        for other in others() {
            let count = common.get_mut(other).map(std::mem::take).unwrap_or_default();
            raise(&mut shared, kind, of.get(other).copied().unwrap_or_default(), count);
        }
    }
    shared
}
