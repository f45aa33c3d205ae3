//! Colour refinement: which nodes of a graph cannot be told apart by what is around them.

use super::graph::Graph;

/// Work that a search may still do, counted in visits of nodes and edges: so that it ends, and ends at the same place anywhere,
/// unless it is stopped from outside.
pub(crate) struct Budget<'a> {
    pub left: u64,
    /// Whether time is over, or someone has interrupted.
    pub stop: &'a dyn Fn() -> bool,
}

impl Budget<'_> {
    /// False if there is no more.
    pub fn spend(&mut self, work: u64) -> bool {
        self.left = self.left.saturating_sub(work);
        if (self.stop)() {
            self.left = 0;
        }
        self.left > 0
    }
}

/// Colours of the nodes such that nodes of one colour have equally many neighbours of each colour, in either direction; nodes
/// in `fixed` have colours of their own. None if the budget is used up.
///
/// Colours are 64-bit hashes of what surrounds a node, round by round until no colour splits any more: isomorphic graphs get the
/// same ones. Two that collide by chance make a symmetry overlooked or a false one tried, which is then found not to be one.
pub(crate) fn refined(graph: &Graph, fixed: &[u32], budget: &mut Budget<'_>) -> Option<Vec<u64>> {
    let mut colours: Vec<u64> = graph.labels.iter().map(|&label| mix(label)).collect();
    for (&v, k) in fixed.iter().zip(1u64..) {
        colours.get_mut(v as usize).map(|colour| *colour = mix(*colour ^ (k << 32))).unwrap_or_default();
    }
    let work = (graph.len() + 2 * graph.edges()) as u64;
    let mut known = count(&colours);
    loop {
        if !budget.spend(work) {
            return None;
        }
        let of = |w: &u32| colours.get(*w as usize).copied().unwrap_or_default();
        let around = |v: u32, colour: u64| {
            let out = graph.out(v).iter().fold(0u64, |sum, w| sum.wrapping_add(mix(of(w))));
            let into = graph.into(v).iter().fold(0u64, |sum, w| sum.wrapping_add(mix(!of(w))));
            mix(colour.wrapping_add(mix(out)).wrapping_add(mix(!into).rotate_left(17)))
        };
        let next: Vec<u64> = colours.iter().zip(0u32..).map(|(&colour, v)| around(v, colour)).collect();
        let (before, now) = (known, count(&next));
        (colours, known) = (next, now);
        if before == now {
            return Some(colours);
        }
    }
}

/// Number of different colours.
fn count(colours: &[u64]) -> usize {
    let mut sorted = colours.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// A scramble of 64 bits (the finaliser of splitmix64).
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
