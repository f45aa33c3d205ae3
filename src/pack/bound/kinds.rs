//! Rows of a matrix by what their group's cost can see of them.

use std::collections::BTreeMap;

use crate::pack::{Form, LinearExpression, Orders};

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
        let mut meets = Vec::new();
        // A table of every pair only for numbers of kinds that the bound has a use for.
        if own_block && list.len() <= 256 {
            meets = vec![vec![0; list.len()]; list.len()];
            for (i, &kind) in of.iter().enumerate() {
                let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
                for j in e.row(i).map(|(j, _)| j).filter(|&j| j != i) {
                    *seen.entry(of.get(j).copied().unwrap_or_default()).or_default() += 1;
                }
                for (other, count) in seen {
                    if let Some(most) = meets.get_mut(kind).and_then(|row| row.get_mut(other)) {
                        *most = count.max(*most);
                    }
                }
            }
        }
        let waived = if e.form() == Form::GaussSeidel { [1, 2] } else { [0, 1] };
        Self { list, counts, of, meets, waived }
    }

    /// True for rows that cost nothing wherever they stand: without non-zeros and with trivial b.
    pub fn is_inert(&self, kind: usize) -> bool {
        self.list.get(kind).is_some_and(|k| k.degree == 0 && k.trivial)
    }

    /// The most non-zeros that each row of a group can have in the group's own block; none where that is not told apart.
    fn own(&self, group: [usize; 4]) -> Option<[u32; 4]> {
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

    /// The least that a group of four rows of these kinds can cost: f in the module's text.
    ///
    /// *Cost*: a few dozen operations for each non-zero of the longest row.
    pub fn least_cost(&self, group: [usize; 4]) -> u32 {
        let kinds = group.map(|g| self.list.get(g).copied());
        let degrees = kinds.map(|k| k.map_or(0, |k| k.degree));
        let trivial = kinds.iter().flatten().all(|k| k.trivial);
        let [with_b, without_b] = self.waived;
        let waived = if trivial { without_b } else { with_b };
        let Some(own) = self.own(group) else { return spread(degrees, 0, 0, waived) };
        let diagonal = kinds.map(|k| k.is_some_and(|k| k.diagonal));
        let mut least = u32::MAX;
        let mut offer = |room: [u32; 4], cost: u32, dots: u32| {
            let mut rest = degrees;
            for ((rest, room), own) in rest.iter_mut().zip(room).zip(own) {
                *rest = rest.saturating_sub(room.min(own));
            }
            least = least.min(spread(rest, cost, dots, waived));
        };
        // The own block column-major; null only if no row has its diagonal there.
        for peels in u32::from(diagonal.contains(&true))..=4 {
            offer([peels; 4], peels, 0);
        }
        // Or row-major with any one to three rows, among them all that have their diagonal there.
        for rows in 1..15u32 {
            let (mut at, mut fits) = (0, true);
            let room = diagonal.map(|diagonal| {
                let within = rows >> at & 1 == 1;
                at += 1;
                fits &= within || !diagonal;
                if within { 4 } else { 0 }
            });
            if fits {
                offer(room, rows.count_ones(), 1);
            }
        }
        least
    }
}

/// The least that four rows cost whose non-zeros lie in any blocks, on top of `cost` instructions with `terms` row-major
/// blocks among them.
///
/// With p peels a row still needs ceil((degree - p) / 4) dot products, and a row-major block holds those of three rows at most.
fn spread(degrees: [u32; 4], cost: u32, terms: u32, waived: u32) -> u32 {
    let longest = degrees.into_iter().max().unwrap_or_default();
    let with = |peels: u32| {
        let dots = degrees.map(|d| d.saturating_sub(peels).div_ceil(4));
        let (sum, most) = (dots.iter().sum::<u32>(), dots.into_iter().max().unwrap_or_default());
        let sums = terms + most.max(sum.div_ceil(3));
        cost + peels + sum + sums.saturating_sub(waived)
    };
    (0..=longest).map(with).min().unwrap_or(cost)
}
