//! Threads that search the parts of a level, one part after the other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use super::level::{LevelRun, Outcome};
use super::limits::{ProofLimits, ProofProgress};
use super::search::{Next, next};
use super::state::State;
use super::{Level, Verdict};
use crate::pack::Packing;
use crate::platform::Instant;

/// Nodes between two looks at the limits.
const LOOK: u64 = 64;
/// Nodes between two reports.
const REPORT: u64 = 4096;

/// What the threads have in common.
pub(super) struct Shared<'a, 'b> {
    run: &'a LevelRun<'a>,
    limits: &'a ProofLimits<'b>,
    spent: u64,
    began: Instant,
    /// Nodes that this level may visit in all, and in its parts.
    allowed: u64,
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

impl<'a, 'b> Shared<'a, 'b> {
    pub fn new(run: &'a LevelRun<'a>, limits: &'a ProofLimits<'b>, spent: u64, began: Instant) -> Self {
        let allowed = limits.nodes.map_or(u64::MAX, |nodes| nodes.saturating_sub(spent));
        Self {
            run,
            limits,
            spent,
            began,
            allowed,
            budget: allowed.saturating_sub(run.divided),
            next: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            nodes: run.parts.iter().map(|_| AtomicU64::new(0)).collect(),
            found: AtomicUsize::new(usize::MAX),
            result: Mutex::new((None, None)),
        }
    }

    pub fn work(&self) {
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

    pub fn finish(&self) -> (Outcome, Level) {
        let nodes = self.nodes_to(self.found.load(Relaxed));
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        let level = |nodes| Level { target: self.run.target, cases: self.run.cases, nodes };
        let (all, over) = (self.run.divided + nodes, nodes > self.budget);
        match (result.0.take(), result.1.take()) {
            (Some(packing), _) if !over => (Outcome::Found(packing), level(all)),
            (None, None) if !over => (Outcome::Exhausted, level(all)),
            (_, Some(by)) if !over => (Outcome::Stopped(by), level(all)),
            _ => (Outcome::Stopped(Verdict::Nodes), level(self.allowed)),
        }
    }
}
