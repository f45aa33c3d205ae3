//! The search for packings of one cost, divided into parts that any number of threads take one after the other.

use std::collections::VecDeque;

use super::cases::{Allowance, Case, cases};
use super::counting::Counting;
use super::crew::Shared;
use super::lanes::{ROWS, Table, members};
use super::least::Least;
use super::limits::ProofLimits;
use super::pattern::Pattern;
use super::search::{Next, next};
use super::state::{Problem, State};
use super::symmetry::orbits;
use super::{Level, Verdict};
use crate::pack::bound::{Compositions, Kinds};
use crate::pack::{CostModel, Instructions, LinearExpression, Order, Packing, SimdMachine};
use crate::platform::{self, Instant};

/// Parts into which a case is divided, and all cases together; many cases are parts enough.
const PARTS: usize = 64;
const ALL_PARTS: usize = 4096;

/// How a level ended.
pub(super) enum Outcome {
    Exhausted,
    Found(Packing),
    Stopped(Verdict),
}

/// Everything that the threads need.
pub(super) struct LevelRun<'a> {
    e: &'a LinearExpression,
    pattern: &'a Pattern,
    least: Least,
    counting: Counting,
    exact: bool,
    pub(super) target: Instructions,
    pub(super) cases: usize,
    pub(super) parts: Vec<State>,
    /// Nodes visited to make them.
    pub(super) divided: u64,
}

impl<'a> LevelRun<'a> {
    pub fn new(
        e: &'a LinearExpression,
        pattern: &'a Pattern,
        kinds: &Kinds,
        table: Option<&Compositions>,
        target: Instructions,
    ) -> Self {
        let named = table.and_then(|table| {
            let least = Least::new(kinds, table.groups.iter().flatten())?;
            Some((cases(kinds, table, target.0)?, least))
        });
        let exact = named.is_some();
        let (cases, least) = named.unwrap_or_else(|| {
            // Too many cases to be worth it: a single one that says nothing.
            let cap = u8::try_from(target.0).unwrap_or(u8::MAX);
            (vec![vec![Allowance { active: 4, cap }; pattern.groups]], Least::default())
        });
        let counting = Counting::new(pattern, &least);
        let mut run = Self {
            e,
            pattern,
            least,
            counting,
            exact,
            target,
            cases: cases.len(),
            parts: Vec::new(),
            divided: 0,
        };
        let share = (ALL_PARTS / cases.len().max(1)).min(PARTS);
        let orbits = if share == PARTS { orbits(pattern) } else { Table::default() };
        for case in &cases {
            let parts = run.divide(run.begin(case, &orbits), share);
            run.parts.extend(parts);
        }
        run
    }

    pub(super) fn problem(&self) -> Problem<'_> {
        Problem {
            pattern: self.pattern,
            least: &self.least,
            counting: &self.counting,
            target: self.target.0,
            exact: self.exact,
        }
    }

    /// The states in which the search of a case begins.
    ///
    /// Where a group has a single active row, that is one of each orbit of the pattern: groups of one allowance can be exchanged
    /// as long as nothing is assigned, and rows by an automorphism, so that of a partition with a row of the orbit in some such
    /// group, an image has its first row in this group. Later orbits may leave out the earlier ones in all such groups. Without
    /// orbits, where there are many cases, it is one state.
    fn begin(&self, case: &Case, orbits: &Table<u64, ROWS>) -> Vec<State> {
        let problem = self.problem();
        let mut state = State::new(&problem, case);
        let known = self.pattern.active != 0 && orbits.at(self.pattern.active.trailing_zeros() as usize) != 0;
        let single = |a: &Allowance| known && self.exact && a.active == 1;
        let Some((group, allowance)) = case.iter().enumerate().find(|(_, a)| single(a)) else {
            return vec![state];
        };
        let mut parts = Vec::new();
        let mut tried = 0u64;
        for row in members(self.pattern.active) {
            if tried >> row & 1 == 1 {
                continue;
            }
            let mut part = state.clone();
            part.assign(&problem, row, group);
            parts.push(part);
            tried |= orbits.at(row);
            for (g, _) in case.iter().enumerate().filter(|(_, a)| *a == allowance) {
                for v in members(orbits.at(row)) {
                    state.exclude(&problem, v, g);
                }
            }
        }
        parts
    }

    /// Branches until there are enough parts for any number of threads.
    fn divide(&mut self, parts: Vec<State>, share: usize) -> VecDeque<State> {
        let mut parts = VecDeque::from(parts);
        let mut whole = Vec::new();
        while parts.len() + whole.len() < share {
            let Some(part) = parts.pop_front() else { break };
            self.divided += 1;
            let copy = part.clone();
            match next(&self.problem(), part) {
                Next::Dead => {}
                Next::Full(_) => whole.push(copy),
                Next::Branches(branches) => parts.extend(branches),
            }
        }
        parts.extend(whole);
        parts
    }

    /// Searches all parts. `spent` nodes have been visited before.
    pub fn run(
        &self,
        threads: usize,
        limits: &ProofLimits<'_>,
        spent: u64,
        began: Instant,
    ) -> (Outcome, Level) {
        let shared = Shared::new(self, limits, spent, began);
        let threads = platform::threads(threads).min(self.parts.len());
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| shared.work());
            }
            shared.work();
        });
        shared.finish()
    }

    /// The packing with these rows in its groups; rows in none of them go where there is room.
    fn packing(&self, groups: &[u64]) -> Option<Packing> {
        let placed = groups.iter().fold(0, |all, g| all | g);
        let mut others = (0..4 * self.e.quads()).filter(|i| placed >> i & 1 == 0);
        let mut at = Vec::with_capacity(4 * self.e.quads());
        for &group in groups {
            let missing = 4usize.saturating_sub(group.count_ones() as usize);
            at.extend(members(group).chain(others.by_ref().take(missing)));
        }
        Order::new(self.e.unknowns(), &at).ok().map(Packing::symmetric)
    }

    /// The packing of a full assignment, if its price, by the definition, meets the target.
    pub(super) fn priced(&self, groups: &[u64]) -> Option<Packing> {
        self.packing(groups).filter(|packing| SimdMachine.price(self.e, packing) <= self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::{Orders, instances};

    /// Without cases, as where there are too many of them, the answers are the same.
    #[test]
    fn one_case_that_says_nothing_answers_the_same() {
        let entries =
            (0..12usize).flat_map(|i| [(i, i, 1.0), (i, (i * i + 1) % 12, 1.0), (i, (5 * i + 3) % 12, 1.0)]);
        let a = crate::host::Triplets::from_entries(crate::Shape::new(12, 12), entries).unwrap();
        let mixed: Vec<bool> = (0..12).map(|i| i % 3 == 0).collect();
        for e in [
            LinearExpression::new(&a, &[true; 12]).unwrap(),
            LinearExpression::new(&a, &mixed).unwrap(),
            LinearExpression::new(&a, &[false; 12]).unwrap(),
            instances::poisson_2d_s8().unwrap(),
        ] {
            let kinds = Kinds::new(&e, Orders::One);
            let pattern = Pattern::new(&e, &kinds).unwrap();
            let table = Compositions::new(&kinds).unwrap();
            let mut found = 0;
            for target in (0..24).map(Instructions) {
                let exists = [None, Some(&table)].map(|table| {
                    let run = LevelRun::new(&e, &pattern, &kinds, table, target);
                    match run.run(1, &ProofLimits::default(), 0, Instant::now()).0 {
                        Outcome::Exhausted => false,
                        Outcome::Found(packing) => {
                            assert!(SimdMachine.price(&e, &packing) <= target);
                            true
                        }
                        Outcome::Stopped(by) => panic!("{by:?}"),
                    }
                });
                let [without, with] = exists;
                assert_eq!(without, with, "{target}");
                found += usize::from(with);
            }
            assert!(found > 0 && found < 24);
        }
    }
}
