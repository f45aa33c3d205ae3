//! The least cost of a group of which some rows are known.

use std::collections::BTreeMap;

use crate::pack::bound::{Group, Kinds};

/// For every multiset of up to four active kinds: the least cost of a group that holds at least these.
#[derive(Clone, Debug, Default)]
pub(super) struct Least {
    kinds: usize,
    /// By multiset and kind: the multiset with that kind added.
    next: Vec<u16>,
    /// By multiset and number of active rows in the end.
    cost: Vec<[u16; 5]>,
}

impl Least {
    pub fn new<'a>(kinds: &Kinds, groups: impl Iterator<Item = &'a Group>) -> Option<Self> {
        let mut costs: BTreeMap<Vec<usize>, [u16; 5]> = BTreeMap::new();
        for group in groups {
            let active: Vec<usize> = group.kinds.into_iter().filter(|&k| !kinds.is_inert(k)).collect();
            for subset in 0..1usize << active.len() {
                let chosen = active.iter().enumerate().filter(|(p, _)| subset >> p & 1 == 1);
                let known: Vec<usize> = chosen.map(|(_, &kind)| kind).collect();
                let cost = costs.entry(known).or_insert([u16::MAX; 5]);
                if let Some(cost) = cost.get_mut(active.len()) {
                    *cost = (*cost).min(group.cost as u16);
                }
            }
        }
        // The empty multiset sorts first, so it is number 0.
        let number: BTreeMap<&[usize], u16> =
            costs.keys().zip(0u16..).map(|(multiset, id)| (multiset.as_slice(), id)).collect();
        if number.len() != costs.len() {
            return None;
        }
        let mut next = Vec::with_capacity(costs.len() * kinds.list.len());
        for multiset in costs.keys() {
            for kind in 0..kinds.list.len() {
                let mut more = multiset.clone();
                more.push(kind);
                more.sort_unstable();
                next.push(number.get(more.as_slice()).copied().unwrap_or(Self::NONE));
            }
        }
        Some(Self { kinds: kinds.list.len(), next, cost: costs.values().copied().collect() })
    }

    /// How many kinds there are.
    pub fn kinds(&self) -> usize {
        self.kinds
    }

    /// How many multisets there are.
    pub fn multisets(&self) -> usize {
        self.cost.len()
    }

    /// No such group.
    pub const NONE: u16 = u16::MAX;

    /// The number of `multiset` with a row of `kind` added.
    #[inline(always)]
    pub fn add(&self, multiset: u16, kind: u16) -> u16 {
        if self.kinds == 0 {
            return 0;
        }
        self.next.get(multiset as usize * self.kinds + kind as usize).copied().unwrap_or(Self::NONE)
    }

    /// The least cost of a group of `active` active rows, at least those of `multiset`.
    #[inline(always)]
    pub fn cost(&self, multiset: u16, active: u8) -> u32 {
        if self.kinds == 0 {
            return 0;
        }
        let costs = self.cost.get(multiset as usize);
        costs.and_then(|c| c.get(active as usize)).map_or(u32::MAX, |&c| u32::from(c))
    }
}
