//! The cheapest way to make groups of four of all rows, by kinds only.

use super::kinds::Kinds;

/// Steps of the dynamic program past which the bound is not worth its time: a second or so.
const STEPS: u64 = 1 << 26;
/// Groups of four kinds past which the table is not made.
const GROUPS: usize = 20_000;
/// Numbers of rows left that the dynamic program may tell apart.
const STATES: u64 = 1 << 22;

/// A group of four rows, by their kinds in ascending order, and the least it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub kinds: [usize; 4],
    pub cost: u32,
}

/// Every group that the kinds allow; none if there are too many.
pub(crate) fn groups(kinds: &Kinds) -> Option<Vec<Group>> {
    let k = kinds.list.len();
    let longest = kinds.list.first().map_or(0, |kind| u64::from(kind.degree) + 1);
    let number = k.checked_mul(k + 1)?.checked_mul(k + 2)?.checked_mul(k + 3)? / 24;
    if number > GROUPS || number as u64 * longest * 20 > STEPS {
        return None;
    }
    let mut all = Vec::with_capacity(number);
    for a in 0..k {
        for b in a..k {
            for c in b..k {
                for d in c..k {
                    let group = [a, b, c, d];
                    let enough = |&g: &usize| {
                        let needed = group.iter().filter(|&&other| other == g).count() as u32;
                        kinds.counts.get(g).is_some_and(|&count| count >= needed)
                    };
                    if group.iter().all(enough) {
                        all.push(Group { kinds: group, cost: kinds.least_cost(group) });
                    }
                }
            }
        }
    }
    Some(all)
}

/// The least cost of making groups of any number of rows of each kind.
#[derive(Clone, Debug)]
pub(crate) struct Compositions {
    /// Every group, by its first kind.
    pub groups: Vec<Vec<Group>>,
    /// By the index of the numbers of rows left.
    least: Vec<u32>,
    /// What one row of a kind contributes to that index.
    strides: Vec<usize>,
    counts: Vec<u32>,
}

impl Compositions {
    /// The table for all rows; none where it would take too long.
    ///
    /// Some group holds a row of the first kind that is left, so only such groups are tried.
    pub fn new(kinds: &Kinds) -> Option<Self> {
        let all = groups(kinds)?;
        let states = kinds.counts.iter().try_fold(1u64, |p, &c| p.checked_mul(u64::from(c) + 1))?;
        if states > STATES || states.checked_mul(all.len() as u64)? > STEPS {
            return None;
        }
        let mut by_first: Vec<Vec<Group>> = vec![Vec::new(); kinds.list.len()];
        for group in all {
            let [first, ..] = group.kinds;
            by_first.get_mut(first)?.push(group);
        }
        let mut stride = 1;
        let mut strides = Vec::with_capacity(kinds.counts.len());
        for &count in &kinds.counts {
            strides.push(stride);
            stride *= count as usize + 1;
        }
        let counts = kinds.counts.clone();
        let mut table = Self { groups: by_first, least: vec![u32::MAX; stride], strides, counts };
        let mut left = vec![0u32; kinds.counts.len()];
        for state in 0..stride {
            let cost = if state == 0 { 0 } else { table.cheapest(state, &left) };
            if let Some(least) = table.least.get_mut(state) {
                *least = cost;
            }
            for (left, &count) in left.iter_mut().zip(&kinds.counts) {
                *left = if *left == count { 0 } else { *left + 1 };
                if *left > 0 {
                    break;
                }
            }
        }
        Some(table)
    }

    fn cheapest(&self, state: usize, left: &[u32]) -> u32 {
        if left.iter().sum::<u32>() % 4 != 0 {
            return u32::MAX;
        }
        let Some(first) = left.iter().position(|&c| c > 0) else { return 0 };
        let with = |group: &Group| {
            let rest = self.without(state, left, group)?;
            self.least.get(rest).map(|least| least.saturating_add(group.cost))
        };
        self.groups.get(first).into_iter().flatten().filter_map(with).min().unwrap_or(u32::MAX)
    }

    /// The index of what is left after a group; none if there are not enough rows for it.
    pub fn without(&self, state: usize, left: &[u32], group: &Group) -> Option<usize> {
        let mut rest = state;
        let mut run = (usize::MAX, 0);
        for &kind in &group.kinds {
            run = if run.0 == kind { (kind, run.1 + 1) } else { (kind, 1) };
            if left.get(kind).is_none_or(|&c| c < run.1) {
                return None;
            }
            rest = rest.checked_sub(self.strides.get(kind).copied()?)?;
        }
        Some(rest)
    }

    /// The index of all rows.
    pub fn start(&self) -> usize {
        self.counts.iter().zip(&self.strides).map(|(&c, s)| c as usize * s).sum()
    }

    /// The least cost for the rows of an index.
    pub fn least(&self, state: usize) -> u32 {
        self.least.get(state).copied().unwrap_or(u32::MAX)
    }

    /// The least cost for all rows: the bound.
    pub fn bound(&self) -> u32 {
        self.least(self.start())
    }
}
