//! Which unknowns become one.

use crate::host::Csr;

/// Of an unknown in no aggregate.
pub(super) const NONE: u32 = u32::MAX;

/// The aggregate of every unknown by the strong connections of a symmetric matrix, and how many there are. Unknowns without
/// any are in none: a sweep solves for them.
///
/// An unknown whose neighbours all are free makes an aggregate with them; then what is left joins that of the neighbour to
/// which it is connected most. A third pass, for what has no neighbour in an aggregate, has nothing to do where connections
/// are symmetric: an unknown that made none had such a neighbour.
///
/// *Source*: P. Vaněk, J. Mandel, M. Brezina, *Algebraic multigrid by smoothed aggregation for second and fourth order
/// elliptic problems*, 1996, algorithm 5.1.
pub(super) fn aggregates(strong: &Csr) -> (Vec<u32>, usize) {
    let n = strong.shape().rows;
    let mut of = vec![NONE; n];
    let mut count = 0;
    for (i, (cols, _)) in strong.rows().enumerate() {
        let beside = || cols.iter().map(|c| *c as usize).filter(|j| *j != i);
        let free = |j: usize| of.get(j).is_some_and(|group| *group == NONE);
        if !free(i) || beside().next().is_none() || !beside().all(free) {
            continue;
        }
        for j in beside().chain([i]) {
            if let Some(group) = of.get_mut(j) {
                *group = count;
            }
        }
        count += 1;
    }
    let joined: Vec<u32> = of
        .iter()
        .enumerate()
        .map(|(i, own)| if *own == NONE { nearest(strong, &of, i) } else { *own })
        .collect();
    (joined, count as usize)
}

/// The aggregate to which an unknown is connected most, the first of equals.
fn nearest(strong: &Csr, of: &[u32], i: usize) -> u32 {
    let mut best = (0.0, NONE);
    for (j, value) in strong.row(i) {
        let group = of.get(j).copied().unwrap_or(NONE);
        if j != i && group != NONE && value.abs() > best.0 {
            best = (value.abs(), group);
        }
    }
    best.1
}
