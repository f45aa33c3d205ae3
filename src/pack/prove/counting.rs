//! How many rows of certain kinds fit into all groups together.

use super::lanes::{GROUPS, ROWS, Table, members};
use super::least::Least;
use super::pattern::Pattern;

/// Kinds past which their sets are not counted.
const KINDS: usize = 10;

/// Sets of kinds, longest rows first or shortest rows first, and the least cost of a group with some more rows of a set.
#[derive(Clone, Debug, Default)]
pub(super) struct Counting {
    /// By set: the rows of its kinds, and the kinds.
    sets: Vec<(u64, u32)>,
    /// By multiset of kinds, number of active rows in the end, set, and number of rows more of the set.
    cost: Vec<[u16; 5]>,
    kinds: usize,
}

/// The kinds that groups hold so far, a number of [`Least`]; how many active rows they will have; what they may cost.
pub(super) struct Fill<'a> {
    pub groups: usize,
    pub kinds: &'a Table<u16, GROUPS>,
    pub size: &'a Table<u8, GROUPS>,
    pub cap: &'a Table<u16, GROUPS>,
}

impl Counting {
    pub fn new(pattern: &Pattern, least: &Least) -> Self {
        let mut of = vec![0u64; least.kinds()];
        for v in members(pattern.active) {
            if let Some(rows) = of.get_mut(pattern.kind.at(v) as usize) {
                *rows |= 1 << v;
            }
        }
        let present: Vec<usize> =
            (0..of.len()).filter(|&k| of.get(k).is_some_and(|&rows| rows != 0)).collect();
        if present.len() < 2 || least.kinds() > KINDS {
            return Self::default();
        }
        let mut sets = Vec::new();
        for split in 1..present.len() {
            for part in [present.get(..split), present.get(split..)].into_iter().flatten() {
                let rows = part.iter().filter_map(|&k| of.get(k)).fold(0, |all, rows| all | rows);
                sets.push((rows, part.iter().fold(0u32, |all, k| all | 1 << k)));
            }
        }
        let mut counting = Self { sets, cost: Vec::new(), kinds: least.kinds() };
        counting.cost = vec![[u16::MAX; 5]; least.multisets() * 5 * counting.sets.len()];
        for more in 0..5usize {
            for multiset in 0..least.multisets() {
                for size in 0..5u8 {
                    for set in 0..counting.sets.len() {
                        let cost = counting.with(least, multiset as u16, size, set, more);
                        let at = counting.index(multiset as u16, size, set);
                        if let Some(entry) = counting.cost.get_mut(at).and_then(|costs| costs.get_mut(more)) {
                            *entry = cost;
                        }
                    }
                }
            }
        }
        counting
    }

    fn index(&self, multiset: u16, size: u8, set: usize) -> usize {
        (multiset as usize * 5 + size as usize) * self.sets.len() + set
    }

    /// The least cost of a group with `more` rows of a set, by that with one fewer.
    fn with(&self, least: &Least, multiset: u16, size: u8, set: usize, more: usize) -> u16 {
        let Some(fewer) = more.checked_sub(1) else {
            return u16::try_from(least.cost(multiset, size)).unwrap_or(u16::MAX);
        };
        let kinds = self.sets.get(set).map_or(0, |&(_, kinds)| kinds);
        let cost = |kind: usize| {
            let next = least.add(multiset, kind as u16);
            let costs = (next != Least::NONE).then(|| self.cost.get(self.index(next, size, set))).flatten();
            costs.and_then(|costs| costs.get(fewer)).copied().unwrap_or(u16::MAX)
        };
        members(u64::from(kinds)).map(cost).min().unwrap_or(u16::MAX)
    }

    /// How many rows more of a set a group can take.
    fn most(&self, multiset: u16, size: u8, cap: u16, set: usize) -> u32 {
        let costs = self.cost.get(self.index(multiset, size, set)).copied().unwrap_or_default();
        costs.iter().rposition(|&cost| cost <= cap).unwrap_or_default() as u32
    }

    /// The kinds, as sets, that each group cannot take any more if all unassigned rows are to have a place; none at all if they
    /// have none in any case.
    pub fn refused(&self, least: &Least, fill: &Fill, unassigned: u64) -> Option<Table<u32, GROUPS>> {
        let mut refused: Table<u32, GROUPS> = Table::default();
        let all_kinds = self.sets.iter().fold(0, |all, &(_, kinds)| all | kinds);
        for (set, &(rows, kinds)) in self.sets.iter().enumerate() {
            let waiting = (rows & unassigned).count_ones();
            let mut most = [0; GROUPS];
            for (g, most) in most.iter_mut().enumerate().take(fill.groups) {
                *most = self.most(fill.kinds.at(g), fill.size.at(g), fill.cap.at(g), set);
            }
            let total: u32 = most.iter().sum();
            let spare = total.checked_sub(waiting)?;
            for (g, &most) in most.iter().enumerate().take(fill.groups) {
                if most <= spare {
                    continue; // it need not take a single one
                }
                for kind in members(u64::from(all_kinds & !refused.at(g))) {
                    let next = least.add(fill.kinds.at(g), kind as u16);
                    if next == Least::NONE {
                        continue;
                    }
                    let then = self.most(next, fill.size.at(g), fill.cap.at(g), set) + (kinds >> kind & 1);
                    if most > then + spare {
                        refused.change(g, |r| r | 1 << kind);
                    }
                }
            }
        }
        Some(refused)
    }

    /// True if there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty() || self.kinds == 0
    }
}

const _: () = assert!(ROWS == 64 && KINDS <= 32);
