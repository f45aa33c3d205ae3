//! Reverse Cuthill-McKee, and accordions of paths: orders along the graph.

use super::graph::Graph;
use crate::host::order;

/// Reverse Cuthill-McKee along the pattern.
pub(crate) fn cuthill_mckee(graph: &Graph) -> Vec<u32> {
    let neighbours: Vec<Vec<u32>> = (0..graph.len() as u32).map(|v| graph.neighbours(v)).collect();
    order::reverse_cuthill_mckee(&neighbours)
}

/// The accordion of a union of paths: laid end to end and folded in four, so that quad k is {k, 2q-1-k, 2q+k, 4q-1-k}. Each quad
/// then has two neighbours, as each node has, and every block is full: ceil(nnz / 4) instructions for one path.
///
/// None if the graph is no union of paths. Positions past the last node stand for padding: numbers from n on.
pub(crate) fn accordion(graph: &Graph) -> Option<Vec<u32>> {
    let mut line = Vec::with_capacity(graph.len());
    for part in graph.components() {
        let degree = |v: u32| graph.neighbours(v).len();
        if part.iter().any(|&v| degree(v) > 2) {
            return None;
        }
        // A ring has no end.
        let mut at = part.iter().copied().filter(|&v| degree(v) < 2).min();
        at?;
        let mut before = None;
        while let Some(v) = at {
            line.push(v);
            at = graph.neighbours(v).into_iter().find(|&w| Some(w) != before);
            before = Some(v);
        }
    }
    let quads = line.len().div_ceil(4);
    line.extend((graph.len() as u32..).take(4 * quads - graph.len()));
    let node = |at: usize| line.get(at).copied();
    (0..quads).flat_map(|k| [k, 2 * quads - 1 - k, 2 * quads + k, 4 * quads - 1 - k]).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::problems;
    use crate::pack::{LinearExpression, instances};

    fn graph(e: &LinearExpression) -> Graph {
        Graph::new(e, |_| true)
    }

    #[test]
    fn cuthill_mckee_narrows_a_scattered_path() {
        // Node v of a path stands at 7 v mod 20.
        let mut a = crate::host::Triplets::new(crate::Shape::new(20, 20));
        for v in 0..19 {
            a.push(7 * v % 20, 7 * (v + 1) % 20, 1.0).unwrap();
        }
        let order = cuthill_mckee(&graph(&LinearExpression::new(&a, &[true; 20]).unwrap()));
        assert_eq!(order, (0..20).map(|v| 7 * (19 - v) % 20).collect::<Vec<_>>());
        let grid = cuthill_mckee(&graph(&LinearExpression::jacobi(&problems::poisson_2d(3, 2)).unwrap()));
        assert_eq!(grid, [5, 2, 4, 1, 3, 0]);
    }

    #[test]
    fn only_paths_have_accordions() {
        let path = instances::poisson_2d_s8().unwrap();
        assert_eq!(accordion(&graph(&path)).unwrap(), [0, 3, 4, 7, 1, 2, 5, 6]);
        assert_eq!(accordion(&graph(&instances::wave_2d().unwrap())), None);
        let mut ring = crate::host::Triplets::new(crate::Shape::new(5, 5));
        (0..5).for_each(|v| ring.push(v, (v + 1) % 5, 1.0).unwrap());
        assert_eq!(accordion(&graph(&LinearExpression::new(&ring, &[true; 5]).unwrap())), None);
        let lone = crate::host::Triplets::new(crate::Shape::new(3, 3));
        assert_eq!(
            accordion(&graph(&LinearExpression::new(&lone, &[true; 3]).unwrap())).unwrap(),
            [0, 1, 2, 3]
        );
    }
}
