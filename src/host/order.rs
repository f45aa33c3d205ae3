//! Orders along a graph.

/// Reverse Cuthill-McKee: neighbours close to one another. E. Cuthill, J. McKee, 1969; A. George, 1971.
///
/// `neighbours` has a list for every node, of others and each once; who is a neighbour has the other as one. Part by part in
/// the order of their lowest numbers, each from a node of least degree; neighbours by degree. Ties go to the lower number.
pub(crate) fn reverse_cuthill_mckee(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let list = |v: u32| neighbours.get(v as usize).map(Vec::as_slice).unwrap_or_default();
    let rank = |v: u32| (list(v).len(), v);
    let (mut found, mut placed) = (Marks::new(neighbours.len()), Marks::new(neighbours.len()));
    let mut order: Vec<u32> = Vec::with_capacity(neighbours.len());
    let mut part: Vec<u32> = Vec::new();
    for lowest in 0..neighbours.len() as u32 {
        if !found.set(lowest) {
            continue;
        }
        // The root can be anywhere in the part, which so is walked once before.
        part.clear();
        part.push(lowest);
        let mut next = 0;
        while let Some(&v) = part.get(next) {
            part.extend(list(v).iter().filter(|&&w| found.set(w)));
            next += 1;
        }
        let root = part.iter().copied().min_by_key(|&v| rank(v)).unwrap_or(lowest);
        placed.set(root);
        let mut next = order.len();
        order.push(root);
        while let Some(&v) = order.get(next) {
            let from = order.len();
            order.extend(list(v).iter().filter(|&&w| placed.set(w)));
            if let Some(new) = order.get_mut(from..) {
                new.sort_unstable_by_key(|&w| rank(w));
            }
            next += 1;
        }
    }
    order.reverse();
    order
}

/// Which nodes have been met.
struct Marks(Vec<bool>);

impl Marks {
    fn new(len: usize) -> Self {
        Self(vec![false; len])
    }

    /// Whether the node had no mark: it has one now.
    fn set(&mut self, v: u32) -> bool {
        self.0.get_mut(v as usize).is_some_and(|mark| !std::mem::replace(mark, true))
    }
}
