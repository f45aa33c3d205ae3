//! Depth first through what can come of a partial assignment.

use super::lanes::members;
use super::state::{Problem, State};

/// What a partial assignment leads to.
pub(super) enum Next {
    /// Nothing.
    Dead,
    /// It is full: the rows of each group.
    Full(Vec<u64>),
    /// One of these assignments.
    Branches(Vec<State>),
}

/// Propagates, and branches where the fewest branches are.
pub(super) fn next(p: &Problem, mut state: State) -> Next {
    if state.propagate(p).is_err() {
        return Next::Dead;
    }
    if state.unassigned == 0 {
        return Next::Full((0..p.pattern.groups).map(|g| state.members.at(g)).collect());
    }
    let mut branches = Vec::new();
    match branching(p, &state) {
        Branching::Places(v, places) => {
            for g in members(u64::from(places)) {
                let mut branch = state.clone();
                branch.assign(p, v, g);
                branches.push(branch);
            }
        }
        Branching::Mates(g, mates) => {
            // Fewer than are missing cannot be left.
            let tries = (mates.count_ones() + 1).saturating_sub(state.missing(g));
            for v in members(mates).take(tries as usize) {
                let mut branch = state.clone();
                branch.assign(p, v, g);
                branches.push(branch);
                state.exclude(p, v, g);
            }
        }
    }
    Next::Branches(branches)
}

/// The branching with the fewest branches, a row's divided by its neighbours that stand already: what is near to them is
/// contradicted sooner. Rows that cost something come first.
///
/// On the 2D wave that takes a hundredth of the nodes that the fewest branches alone take.
fn branching(p: &Problem, state: &State) -> Branching {
    const UNIT: u32 = 64;
    let duplicates = state.duplicates(p);
    let mut best = (u32::MAX, Branching::Places(0, 0));
    for v in members(state.unassigned) {
        let places = state.domain(v) & !duplicates;
        let near = ((p.pattern.columns.at(v) | p.pattern.readers.at(v)) & !state.unassigned).count_ones();
        let inert = p.pattern.active >> v & 1 == 0;
        let score = UNIT * places.count_ones() / (1 + near) + if inert { UNIT / 2 } else { 0 };
        if score < best.0 {
            best = (score, Branching::Places(v, places));
        }
    }
    let incomplete = |g: &usize| p.exact && state.missing(*g) > 0 && duplicates >> g & 1 == 0;
    for g in (0..p.pattern.groups).filter(incomplete) {
        let mates = state.candidates(g) & p.pattern.active;
        let score = UNIT * (mates.count_ones() + 1).saturating_sub(state.missing(g)) + UNIT / 4;
        if score < best.0 {
            best = (score, Branching::Mates(g, mates));
        }
    }
    best.1
}

/// What to try one after the other.
enum Branching {
    /// Each of these groups for a row.
    Places(usize, u16),
    /// Each of these rows as the next of a group, and never again after that.
    Mates(usize, u64),
}
