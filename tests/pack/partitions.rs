//! Divisions of few unknowns into groups of four, all of them, and small random expressions.

use texla::Shape;
use texla::host::Triplets;
use texla::pack::{CostModel, Instructions, LinearExpression, Order, Packing, SimdMachine};

use crate::common::random::Rng;

/// A random pattern of any density, each b trivial or not, a diagonal or none.
pub fn random_expression(rng: &mut Rng, n: usize) -> LinearExpression {
    let (density, diagonal, trivial) = (rng.below(12), rng.below(3), rng.below(4));
    let present = |k: usize, rng: &mut Rng| match (k / n == k % n, diagonal) {
        (true, 0) => false,
        (true, 1) => true,
        _ => rng.below(12) <= density,
    };
    let entries: Vec<_> = (0..n * n).filter(|&k| present(k, rng)).map(|k| (k / n, k % n, 1.0)).collect();
    let nontrivial: Vec<bool> = (0..n).map(|_| rng.below(3) >= trivial).collect();
    LinearExpression::new(&Triplets::from_entries(Shape::new(n, n), entries).unwrap(), &nontrivial).unwrap()
}

/// Calls `visit` with every division of `left` into groups of four, as an order.
fn divide(left: &[usize], at: &mut Vec<usize>, visit: &mut impl FnMut(&[usize])) {
    let Some((&first, rest)) = left.split_first() else { return visit(at) };
    for a in 0..rest.len() {
        for b in 0..a {
            for c in 0..b {
                let group = [rest[a], rest[b], rest[c]];
                let others: Vec<usize> = rest.iter().copied().filter(|i| !group.contains(i)).collect();
                at.push(first);
                at.extend(group);
                divide(&others, at, visit);
                at.truncate(at.len() - 4);
            }
        }
    }
}

/// The least cost of all divisions: the optimum, since plain costs do not depend on the order of groups and within them.
pub fn cheapest(e: &LinearExpression) -> Instructions {
    let all: Vec<usize> = (0..4 * e.quads()).collect();
    let mut best = Instructions(u32::MAX);
    divide(&all, &mut Vec::new(), &mut |at| {
        let packing = Packing::symmetric(Order::new(e.unknowns(), at).unwrap());
        best = best.min(SimdMachine.cost(e, &packing).unwrap());
    });
    best
}
