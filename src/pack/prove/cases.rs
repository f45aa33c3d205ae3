//! The cases of a search: how many active rows each group has, and what it may cost at most.

use std::collections::BTreeSet;

use crate::pack::bound::{Compositions, Group, Kinds};

/// Compositions and cases past which a search does not tell them apart.
const CASES: usize = 20_000;
/// Steps of their enumeration.
const STEPS: u64 = 1 << 24;

/// What is laid down of a group in advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Allowance {
    /// Number of active rows.
    pub active: u8,
    /// The most it may cost.
    pub cap: u8,
}

/// One allowance for each group, in ascending order.
pub(super) type Case = Vec<Allowance>;

/// Every case that a partition of cost at most `target` can be in; none if there are too many.
///
/// A partition's groups G have a composition and a cost of at least its f(G). What is left of `target` above their sum is
/// handed out to the groups in every way: in one of these, each group costs no more than it may.
pub(super) fn cases(kinds: &Kinds, table: &Compositions, target: u32) -> Option<Vec<Case>> {
    let mut walk = Walk { kinds, table, target, steps: 0, chosen: Vec::new(), bases: BTreeSet::new() };
    let mut left = kinds.counts.clone();
    walk.compositions(table.start(), &mut left, 0, 0)?;
    let bases = walk.bases;
    let mut cases = BTreeSet::new();
    for base in bases {
        let slack = target.checked_sub(base.iter().map(|a| u32::from(a.cap)).sum())?;
        let mut case = base.clone();
        hand_out(&mut case, 0, u8::try_from(slack).ok().filter(|&s| s < 64)?, &mut cases)?;
    }
    Some(cases.into_iter().collect())
}

struct Walk<'a> {
    kinds: &'a Kinds,
    table: &'a Compositions,
    target: u32,
    steps: u64,
    chosen: Vec<Group>,
    bases: BTreeSet<Case>,
}

impl Walk<'_> {
    /// Every multiset of groups for the rows left, groups of the same first kind in the order of the list.
    fn compositions(&mut self, state: usize, left: &mut [u32], from: usize, cost: u32) -> Option<()> {
        self.steps += 1;
        if self.steps > STEPS || self.bases.len() > CASES {
            return None;
        }
        let Some(first) = left.iter().position(|&c| c > 0) else {
            let mut base: Case = self.chosen.iter().map(|g| self.allowance(g)).collect();
            base.sort_unstable();
            self.bases.insert(base);
            return Some(());
        };
        let table = self.table;
        let groups = table.groups.get(first)?;
        // Of one first kind, groups are taken in the order of the list; the next kind starts anew.
        let same = self.chosen.last().is_some_and(|g| g.kinds.first() == Some(&first));
        let from = if same { from } else { 0 };
        for (number, group) in groups.iter().enumerate().skip(from) {
            self.steps += 1;
            let Some(rest) = table.without(state, left, group) else { continue };
            let total = cost + group.cost;
            if total.saturating_add(table.least(rest)) > self.target {
                continue;
            }
            let take = |left: &mut [u32], by: i32| {
                for &kind in &group.kinds {
                    left.get_mut(kind).map(|c| *c = c.wrapping_add_signed(by)).unwrap_or_default();
                }
            };
            take(left, -1);
            self.chosen.push(*group);
            let done = self.compositions(rest, left, number, total);
            self.chosen.pop();
            take(left, 1);
            done?;
        }
        Some(())
    }

    fn allowance(&self, group: &Group) -> Allowance {
        let active = group.kinds.iter().filter(|&&k| !self.kinds.is_inert(k)).count();
        Allowance { active: active as u8, cap: group.cost as u8 }
    }
}

/// Hands out `slack` to the groups from number `from` on, in every way that differs.
fn hand_out(case: &mut Case, from: usize, slack: u8, cases: &mut BTreeSet<Case>) -> Option<()> {
    if cases.len() > CASES {
        return None;
    }
    let spare = case.get(from + 1..).unwrap_or_default().iter().any(|a| a.active > 0);
    let Some(group) = case.get(from).copied() else { return Some(()) };
    // Groups of inert rows cost nothing; the last of the others takes what is left.
    let least = if spare { 0 } else { slack };
    let most = if group.active > 0 { slack } else { 0 };
    for extra in least..=most {
        if let Some(group) = case.get_mut(from) {
            group.cap += extra;
        }
        if extra == slack {
            let mut sorted = case.clone();
            sorted.sort_unstable();
            cases.insert(sorted);
        } else {
            hand_out(case, from + 1, slack - extra, cases)?;
        }
        if let Some(place) = case.get_mut(from) {
            *place = group;
        }
    }
    Some(())
}
