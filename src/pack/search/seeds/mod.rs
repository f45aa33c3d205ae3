//! Orders that are worth a try before any search.

mod colours;
mod cuthill;
mod graph;
mod orbits;
mod symmetry;

use std::fmt;

use crate::pack::{LinearExpression, Order};
use colours::Budget;
use graph::Graph;

/// Visits of nodes and edges that the search for symmetries may take: a second or a few.
const WORK: u64 = 200_000_000;

/// Ways of filling quads with orbits that are priced.
const WAYS: usize = 24;

/// What found a packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The order given with the expression.
    Identity,
    /// The packing that the caller gave to start at.
    Given,
    /// Reverse Cuthill-McKee.
    CuthillMckee,
    /// A path, or several, folded in four.
    Accordion,
    /// Orbits of symmetries of the pattern, one to a quad.
    Symmetry,
    /// Simulated annealing.
    Annealing,
    /// Swaps, pairs of swaps and annealing at low temperature, from the best so far.
    Refinement,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "identity",
            Self::Given => "given",
            Self::CuthillMckee => "cuthill-mckee",
            Self::Accordion => "accordion",
            Self::Symmetry => "symmetry",
            Self::Annealing => "annealing",
            Self::Refinement => "refinement",
        })
    }
}

/// An order to try.
pub(super) struct Seed {
    pub origin: Origin,
    pub order: Order,
    /// From this position on it holds what was left over, in no particular order.
    pub tail: usize,
}

/// The seeds of an expression other than the identity. Symmetries, which take longer than all else, are looked for when the others
/// have been taken; and no more of them once `stop` says so.
pub(super) fn seeds<'a>(
    e: &'a LinearExpression,
    stop: &'a dyn Fn() -> bool,
) -> impl Iterator<Item = Seed> + 'a {
    let graph = Graph::new(e, |_| true);
    let whole = 4 * e.quads();
    let first = seed(e, Origin::CuthillMckee, cuthill::cuthill_mckee(&graph), whole);
    let folded = cuthill::accordion(&graph).map(|order| seed(e, Origin::Accordion, order, whole));
    [first].into_iter().chain(folded).chain(std::iter::once_with(move || symmetric(e, graph, stop)).flatten())
}

/// The seeds by symmetries of the pattern.
fn symmetric(e: &LinearExpression, graph: Graph, stop: &dyn Fn() -> bool) -> Vec<Seed> {
    let mut found = Vec::new();
    let mut budget = Budget { left: WORK, stop };
    // Rows that are empty cost nothing wherever they stand, and may hide the symmetry of the others.
    let occupied = Graph::new(e, |i| e.row(i).next().is_some());
    let narrower = Some(occupied).filter(|occupied| occupied.len() < graph.len());
    for graph in [Some(graph), narrower].into_iter().flatten() {
        for way in orbits::orbits(&graph, &mut budget).into_iter().take(WAYS) {
            let tail = 4 * way.quads.len();
            let order = way.quads.into_iter().flatten().chain(way.left).collect();
            found.push(seed(e, Origin::Symmetry, order, tail));
        }
    }
    found
}

/// An order of some unknowns; those that it leaves out follow, then padding.
fn seed(e: &LinearExpression, origin: Origin, mut order: Vec<u32>, tail: usize) -> Seed {
    let mut missing = vec![true; 4 * e.quads()];
    for &i in &order {
        missing.get_mut(i as usize).map(|missing| *missing = false).unwrap_or_default();
    }
    order.extend(missing.into_iter().zip(0u32..).filter(|(missing, _)| *missing).map(|(_, i)| i));
    Seed { origin, order: Order::from_valid(e.unknowns(), order), tail }
}
