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

/// What to try one after the other.
enum Branching {
    /// Each of these groups for a row.
    Places(usize, u16),
    /// Each of these rows as the next of a group, and never again after that.
    Mates(usize, u64),
}

/// The branching with the fewest branches. A row that costs something comes before one that does not, the row of a group in
/// between.
fn branching(p: &Problem, state: &State) -> Branching {
    let duplicates = state.duplicates(p);
    let mut best = (u32::MAX, Branching::Places(0, 0));
    for v in members(state.unassigned) {
        let places = state.domain(v) & !duplicates;
        let count = 4 * places.count_ones() + 2 * u32::from(p.pattern.active >> v & 1 == 0);
        if count < best.0 {
            best = (count, Branching::Places(v, places));
        }
    }
    let incomplete = |g: &usize| p.exact && state.missing(*g) > 0 && duplicates >> g & 1 == 0;
    for g in (0..p.pattern.groups).filter(incomplete) {
        let mates = state.candidates(g) & p.pattern.active;
        let count = 4 * (mates.count_ones() + 1).saturating_sub(state.missing(g)) + 1;
        if count < best.0 {
            best = (count, Branching::Mates(g, mates));
        }
    }
    best.1
}
