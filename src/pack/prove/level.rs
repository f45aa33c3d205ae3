//! The search for packings of one cost, divided into parts that any number of threads take one after the other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::cases::{Allowance, Case, cases};
use super::counting::Counting;
use super::lanes::{ROWS, Table, members};
use super::least::Least;
use super::limits::{ProofLimits, ProofProgress};
use super::pattern::Pattern;
use super::search::{Next, next};
use super::state::{Problem, State};
use super::symmetry::orbits;
use super::{Level, Verdict};
use crate::pack::bound::{Compositions, Kinds};
use crate::pack::{CostModel, Instructions, LinearExpression, Order, Packing, SimdMachine};

/// Parts into which a case is divided.
const PARTS: usize = 64;
/// Nodes between two looks at the limits.
const LOOK: u64 = 64;
/// Nodes between two reports.
const REPORT: u64 = 4096;

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
    target: Instructions,
    cases: usize,
    parts: Vec<State>,
    /// Nodes visited to make them.
    divided: u64,
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
        let orbits = orbits(pattern);
        for case in &cases {
            let parts = run.divide(run.begin(case, &orbits));
            run.parts.extend(parts);
        }
        run
    }

    fn problem(&self) -> Problem<'_> {
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
    /// group, an image has its first row in this group. Later orbits may leave out the earlier ones in all such groups.
    fn begin(&self, case: &Case, orbits: &Table<u64, ROWS>) -> Vec<State> {
        let problem = self.problem();
        let mut state = State::new(&problem, case);
        let single = |a: &Allowance| self.exact && a.active == 1;
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
    fn divide(&mut self, parts: Vec<State>) -> VecDeque<State> {
        let mut parts = VecDeque::from(parts);
        let mut whole = Vec::new();
        while parts.len() + whole.len() < PARTS {
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
        let shared = Shared {
            run: self,
            limits,
            spent,
            began,
            budget: limits.nodes.map_or(u64::MAX, |nodes| nodes.saturating_sub(spent + self.divided)),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            nodes: self.parts.iter().map(|_| AtomicU64::new(0)).collect(),
            found: AtomicUsize::new(usize::MAX),
            result: Mutex::new((None, None)),
        };
        let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
        let threads = if threads == 0 { cores() } else { threads }.min(self.parts.len());
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
    fn priced(&self, groups: &[u64]) -> Option<Packing> {
        self.packing(groups).filter(|packing| SimdMachine.price(self.e, packing) <= self.target)
    }
}

/// What the threads have in common.
struct Shared<'a, 'b> {
    run: &'a LevelRun<'a>,
    limits: &'a ProofLimits<'b>,
    spent: u64,
    began: Instant,
    budget: u64,
    next: AtomicUsize,
    done: AtomicUsize,
    /// Visited in each part.
    nodes: Vec<AtomicU64>,
    /// The first part that has found something.
    found: AtomicUsize,
    /// What it has found, and why others stopped.
    result: Mutex<(Option<Packing>, Option<Verdict>)>,
}

impl Shared<'_, '_> {
    fn work(&self) {
        loop {
            let number = self.next.fetch_add(1, Relaxed);
            // A part after one that has found something cannot change the answer.
            if number > self.found.load(Relaxed) {
                return;
            }
            let Some(part) = self.run.parts.get(number) else { return };
            self.search(number, part);
            self.done.fetch_add(1, Relaxed);
            self.report();
        }
    }

    fn search(&self, number: usize, part: &State) {
        let problem = self.run.problem();
        let mut nodes = 0;
        let mut open = vec![part.clone()];
        while let Some(state) = open.pop() {
            nodes += 1;
            if let Some(count) = self.nodes.get(number) {
                count.store(nodes, Relaxed);
            }
            if nodes % REPORT == 0 {
                self.report();
            }
            if nodes % LOOK == 1 && !self.goes_on(number) {
                return;
            }
            match next(&problem, state) {
                Next::Dead => {}
                Next::Branches(branches) => open.extend(branches.into_iter().rev()),
                Next::Full(groups) => {
                    if let Some(packing) = self.run.priced(&groups) {
                        return self.keep(number, packing);
                    }
                }
            }
        }
    }

    /// A part has found something.
    fn keep(&self, number: usize, packing: Packing) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        if number < self.found.load(Relaxed) {
            self.found.store(number, Relaxed);
            result.0 = Some(packing);
        }
    }

    /// Nodes of the parts up to this one.
    fn nodes_to(&self, number: usize) -> u64 {
        self.nodes.iter().take(number.saturating_add(1)).map(|n| n.load(Relaxed)).sum()
    }

    fn goes_on(&self, number: usize) -> bool {
        if number > self.found.load(Relaxed) {
            return false;
        }
        // In this order a single thread would have come no further either: the same answer whatever their number.
        let over = self.nodes_to(number) > self.budget;
        let verdict = if over {
            Verdict::Nodes
        } else if self.limits.interrupt.is_some_and(|flag| flag.load(Relaxed)) {
            Verdict::Interrupted
        } else if self.limits.time.is_some_and(|time| self.began.elapsed() >= time) {
            Verdict::Time
        } else {
            return true;
        };
        self.result.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(verdict);
        false
    }

    fn report(&self) {
        if let Some(progress) = self.limits.progress {
            progress(&ProofProgress {
                target: self.run.target,
                done: self.done.load(Relaxed),
                parts: self.run.parts.len(),
                nodes: self.spent + self.run.divided + self.nodes_to(usize::MAX),
                elapsed: self.began.elapsed(),
            });
        }
    }

    fn finish(&self) -> (Outcome, Level) {
        let nodes = self.nodes_to(self.found.load(Relaxed));
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let level =
            |nodes| Level { target: self.run.target, cases: self.run.cases, nodes: self.run.divided + nodes };
        let over = nodes > self.budget;
        match (result.0.take(), result.1.take()) {
            (Some(packing), _) if !over => (Outcome::Found(packing), level(nodes)),
            (None, None) if !over => (Outcome::Exhausted, level(nodes)),
            (_, Some(by)) if !over => (Outcome::Stopped(by), level(nodes)),
            _ => (Outcome::Stopped(Verdict::Nodes), level(self.budget)),
        }
    }
}
