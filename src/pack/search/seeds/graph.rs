//! The pattern of an expression as a directed graph.

use crate::pack::LinearExpression;

/// Node v stands for the unknown `unknowns[v]`; an edge v -> w for a non-zero off the diagonal in row v and column w.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    pub unknowns: Vec<u32>,
    /// What sets nodes apart from the start: whether b is trivial, and whether the diagonal is there.
    pub labels: Vec<u64>,
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
}

impl Graph {
    /// The graph of the unknowns for which `keep` holds, and of the non-zeros between them.
    pub fn new(e: &LinearExpression, keep: impl Fn(usize) -> bool) -> Self {
        let unknowns: Vec<u32> = (0..e.unknowns()).filter(|&i| keep(i)).map(|i| i as u32).collect();
        let mut node = vec![None; e.unknowns()];
        for (&i, v) in unknowns.iter().zip(0u32..) {
            node.get_mut(i as usize).map(|node| *node = Some(v)).unwrap_or_default();
        }
        let mut graph = Self {
            labels: Vec::with_capacity(unknowns.len()),
            out: vec![Vec::new(); unknowns.len()],
            into: vec![Vec::new(); unknowns.len()],
            unknowns,
        };
        for (&i, v) in graph.unknowns.iter().zip(0u32..) {
            let i = i as usize;
            let mut label = u64::from(e.is_nontrivial(i));
            for (j, _) in e.row(i) {
                match node.get(j).copied().flatten() {
                    Some(w) if w == v => label |= 2,
                    Some(w) => {
                        graph.out.get_mut(v as usize).map(|out| out.push(w)).unwrap_or_default();
                        graph.into.get_mut(w as usize).map(|into| into.push(v)).unwrap_or_default();
                    }
                    None => {}
                }
            }
            graph.labels.push(label);
        }
        graph
    }

    /// The graph of some of the nodes.
    pub fn induced(&self, nodes: &[u32]) -> Self {
        let mut number = vec![None; self.len()];
        for (&v, k) in nodes.iter().zip(0u32..) {
            number.get_mut(v as usize).map(|number| *number = Some(k)).unwrap_or_default();
        }
        let kept =
            |list: &[u32]| list.iter().filter_map(|&w| number.get(w as usize).copied().flatten()).collect();
        Self {
            unknowns: nodes.iter().map(|&v| self.unknown(v)).collect(),
            labels: nodes.iter().map(|&v| self.labels.get(v as usize).copied().unwrap_or_default()).collect(),
            out: nodes.iter().map(|&v| kept(self.out(v))).collect(),
            into: nodes.iter().map(|&v| kept(self.into(v))).collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.unknowns.len()
    }

    pub fn edges(&self) -> usize {
        self.out.iter().map(Vec::len).sum()
    }

    /// The unknown of a node.
    pub fn unknown(&self, v: u32) -> u32 {
        self.unknowns.get(v as usize).copied().unwrap_or_default()
    }

    /// Where the edges of a node lead to.
    pub fn out(&self, v: u32) -> &[u32] {
        self.out.get(v as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Where the edges to a node come from.
    pub fn into(&self, v: u32) -> &[u32] {
        self.into.get(v as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// Neighbours in either direction: by number, each once.
    pub fn neighbours(&self, v: u32) -> Vec<u32> {
        let mut all: Vec<u32> = self.out(v).iter().chain(self.into(v)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The nodes of each connected part, by lowest number, in the order of a breadth-first search.
    pub fn components(&self) -> Vec<Vec<u32>> {
        let mut seen = vec![false; self.len()];
        let mut take = |v: u32| seen.get_mut(v as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        let mut found = Vec::new();
        for root in 0..self.len() as u32 {
            if !take(root) {
                continue;
            }
            let (mut part, mut next) = (vec![root], 0);
            while let Some(&v) = part.get(next) {
                part.extend(self.out(v).iter().chain(self.into(v)).filter(|&&w| take(w)));
                next += 1;
            }
            found.push(part);
        }
        found
    }
}
