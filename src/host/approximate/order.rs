//! The order of unknowns in which incomplete factors fill least, and have the shortest chains.

use crate::host::Csr;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Minimum degree (Amestoy, Davis and Duff 1996, without their supervariables): the unknowns of a square A in the order in
/// which to eliminate them, by the pattern of A + Aᵀ. Unknown `order[k]` becomes the k-th.
///
/// Chains of factors become several times shorter than in the order of a band, and so do the sweeps that solve with them.
pub(crate) fn minimum_degree(a: &Csr) -> Vec<usize> {
    let mut graph = Graph::new(a);
    let n = graph.nodes.len();
    // Neighbours of everything would be visited with everything: they come last.
    let dense = 16 + 10 * n.isqrt();
    let (late, early): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| graph.degree(i) > dense);
    late.iter().for_each(|&i| graph.leave_out(i));
    let mut queue: BinaryHeap<_> = early.iter().map(|&i| Reverse((graph.degree(i), i))).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((degree, i))) = queue.pop() {
        // Entries of the queue are not taken out when the degree changes.
        if graph.is_done(i) || graph.degree(i) != degree {
            continue;
        }
        for &j in graph.eliminate(i).iter() {
            queue.push(Reverse((graph.degree(j), j)));
        }
        order.push(i);
    }
    order.extend(late);
    order
}

/// A node of the graph: an unknown, or, once that is eliminated, the clique of the neighbours that it had.
#[derive(Clone, Debug, Default)]
struct Node {
    done: bool,
    /// Of an unknown its neighbours, without those that a clique joins with it; of a clique its members.
    others: Vec<usize>,
    /// The cliques of an unknown.
    cliques: Vec<usize>,
    /// A bound of the number of neighbours.
    degree: usize,
    /// The last elimination that has met this node, plus 1.
    met: usize,
    /// Of a clique the members that are outside the one being made.
    outside: usize,
}

struct Graph {
    nodes: Vec<Node>,
    step: usize,
}

impl Graph {
    fn new(a: &Csr) -> Self {
        let mut nodes = vec![Node::default(); a.shape().rows];
        for (i, j, _) in a.entries().filter(|(i, j, _)| i != j) {
            for (from, to) in [(i, j), (j, i)] {
                nodes.get_mut(from).into_iter().for_each(|node| node.others.push(to));
            }
        }
        for node in &mut nodes {
            node.others.sort_unstable();
            node.others.dedup();
            node.degree = node.others.len();
        }
        Self { nodes, step: 0 }
    }

    fn degree(&self, i: usize) -> usize {
        self.nodes.get(i).map_or(0, |node| node.degree)
    }

    fn is_done(&self, i: usize) -> bool {
        self.nodes.get(i).is_none_or(|node| node.done)
    }

    /// Takes an unknown out as if it were not there.
    fn leave_out(&mut self, i: usize) {
        let Some(node) = self.nodes.get_mut(i) else { return };
        node.done = true;
        for j in std::mem::take(&mut node.others) {
            let Some(other) = self.nodes.get_mut(j) else { continue };
            other.others.retain(|k| *k != i);
            other.degree = other.others.len();
        }
    }

    /// Marks a node as met in this step; true the first time.
    fn meet(&mut self, i: usize) -> bool {
        let step = self.step;
        self.nodes.get_mut(i).is_some_and(|node| std::mem::replace(&mut node.met, step) != step)
    }

    /// Makes a clique of the neighbours of an unknown, and returns them.
    fn eliminate(&mut self, i: usize) -> Vec<usize> {
        self.step += 1;
        let own = self.nodes.get_mut(i).map(std::mem::take).unwrap_or_default();
        self.meet(i);
        let mut members = Vec::new();
        let mut join = |graph: &mut Self, others: Vec<usize>| {
            members.extend(others.into_iter().filter(|&j| graph.meet(j)));
        };
        join(self, own.others);
        for &clique in &own.cliques {
            // A clique that is joined to a larger one is no more.
            let others = self.nodes.get_mut(clique).map(|node| std::mem::take(&mut node.others));
            join(self, others.unwrap_or_default());
        }
        members.sort_unstable();
        self.update(i, &own.cliques, &members);
        members
    }

    /// The members know the new clique `i`, which stands for the `joined` ones and for the edges between them.
    fn update(&mut self, i: usize, joined: &[usize], members: &[usize]) {
        let step = self.step;
        for &j in members {
            let Some(node) = self.nodes.get_mut(j) else { continue };
            node.cliques.retain(|clique| !joined.contains(clique));
            for clique in node.cliques.clone() {
                let Some(clique) = self.nodes.get_mut(clique) else { continue };
                if std::mem::replace(&mut clique.met, step) != step {
                    clique.outside = clique.others.len();
                }
                clique.outside = clique.outside.saturating_sub(1);
            }
        }
        for &j in members {
            let Some(node) = self.nodes.get_mut(j) else { continue };
            let (others, mut cliques) = (std::mem::take(&mut node.others), std::mem::take(&mut node.cliques));
            // Edges within the new clique are part of it, and so are cliques that have no member outside.
            let met = |k: &usize| self.nodes.get(*k).is_none_or(|node| node.met == step);
            let others: Vec<usize> = others.into_iter().filter(|k| !met(k)).collect();
            cliques.retain(|k| self.nodes.get(*k).is_some_and(|clique| clique.outside > 0));
            let outside: usize = cliques.iter().filter_map(|k| self.nodes.get(*k)).map(|c| c.outside).sum();
            let degree = others.len() + outside + members.len() - 1;
            cliques.push(i);
            if let Some(node) = self.nodes.get_mut(j) {
                *node = Node { others, cliques, degree, ..std::mem::take(node) };
            }
        }
        if let Some(node) = self.nodes.get_mut(i) {
            *node = Node { done: true, others: members.to_vec(), ..Node::default() };
        }
    }
}
