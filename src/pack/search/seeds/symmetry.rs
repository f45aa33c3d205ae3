//! Isomorphisms of patterns, by individualisation and refinement.

use super::colours::{Budget, refined};
use super::graph::Graph;

/// Isomorphisms kept for one image of the first node: those of a grid's corner are 2, of a cube's 6.
const PER_IMAGE: usize = 8;

/// Nodes fixed one after the other before a search gives up.
const DEPTH: usize = 64;

/// Isomorphisms from one graph to another: node v of the first goes to `map[v]` of the second.
///
/// Both are coloured; while colours do not tell all nodes apart, the lowest node of the smallest cell is fixed, and each node of
/// that cell in the other graph tried as its image (B. McKay, 1981). At most `most` are returned, and what the budget allows.
pub(crate) fn isomorphisms(from: &Graph, to: &Graph, most: usize, budget: &mut Budget<'_>) -> Vec<Vec<u32>> {
    let mut search = Search { from, to, most, budget, found: Vec::new() };
    let alike = from.len() == to.len() && from.edges() == to.edges();
    if let Some(here) = sorted(from, &[], search.budget).filter(|_| alike) {
        search.extend(&mut Vec::new(), &here, &mut Vec::new());
    }
    search.found
}

struct Search<'a, 'b> {
    from: &'a Graph,
    to: &'a Graph,
    most: usize,
    budget: &'a mut Budget<'b>,
    found: Vec<Vec<u32>>,
}

impl Search<'_, '_> {
    /// Tries all that map `fixed`, by which the first graph is coloured `here`, to `images`. None if the budget is used up.
    fn extend(&mut self, fixed: &mut Vec<u32>, here: &[(u64, u32)], images: &mut Vec<u32>) -> Option<()> {
        let there = sorted(self.to, images, self.budget)?;
        if here.iter().zip(&there).any(|(a, b)| a.0 != b.0) {
            return Some(());
        }
        let cells = here.chunk_by(|a, b| a.0 == b.0).zip(there.chunk_by(|a, b| a.0 == b.0));
        let Some((cell, candidates)) =
            cells.filter(|(cell, _)| cell.len() > 1).min_by_key(|(cell, _)| cell.len())
        else {
            self.keep(here, &there);
            return Some(());
        };
        let (Some(&(_, node)), true) = (cell.first(), fixed.len() < DEPTH) else { return Some(()) };
        let (before, top) = (self.found.len(), fixed.is_empty());
        fixed.push(node);
        let finer = sorted(self.from, fixed, self.budget)?;
        for &(_, image) in candidates {
            images.push(image);
            self.extend(fixed, &finer, images)?;
            images.pop();
            if self.found.len() >= self.most || (!top && self.found.len() >= before + PER_IMAGE) {
                break;
            }
        }
        fixed.pop();
        Some(())
    }

    /// Every node has a colour of its own: a map, if edges go to edges.
    fn keep(&mut self, here: &[(u64, u32)], there: &[(u64, u32)]) {
        let mut map = vec![0; here.len()];
        for (&(_, v), &(_, image)) in here.iter().zip(there) {
            map.get_mut(v as usize).map(|to| *to = image).unwrap_or_default();
        }
        let image = |v: &u32| map.get(*v as usize).copied().unwrap_or_default();
        let kept = (0..self.from.len() as u32).all(|v| {
            let mut out: Vec<u32> = self.from.out(v).iter().map(image).collect();
            out.sort_unstable();
            let mut expected = self.to.out(image(&v)).to_vec();
            expected.sort_unstable();
            out == expected
        });
        if kept {
            self.found.push(map);
        }
    }
}

/// The nodes by colour.
fn sorted(graph: &Graph, fixed: &[u32], budget: &mut Budget<'_>) -> Option<Vec<(u64, u32)>> {
    let mut nodes: Vec<(u64, u32)> = refined(graph, fixed, budget)?.into_iter().zip(0u32..).collect();
    nodes.sort_unstable();
    Some(nodes)
}
