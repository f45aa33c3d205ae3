//! Propagation along known partitions.

use super::cases::{Allowance, Case};
use super::counting::Counting;
use super::lanes::members;
use super::least::Least;
use super::state::{Problem, State};
use super::*;
use crate::host::Triplets;
use crate::pack::bound::{Compositions, Kinds};
use crate::pack::{CostModel, LinearExpression, Order, Orders, Packing, SimdMachine, instances};
use crate::shape::Shape;

/// Numbers below `n`, the same ones each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn shuffled(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }
}

/// Assigns the rows of a partition to their groups in a random order: nothing true may be excluded on the way. Each group is
/// allowed just what it costs.
fn follow(e: &LinearExpression, at: &[usize], exact: bool, draw: &mut Draw) -> usize {
    let kinds = Kinds::new(e, Orders::One);
    let pattern = Pattern::new(e, &kinds).unwrap();
    let packing = Packing::symmetric(Order::new(e.unknowns(), at).unwrap());
    let mut groups: Vec<(Allowance, &[usize])> = (0..pattern.groups)
        .map(|g| {
            let rows = &at[4 * g..4 * g + 4];
            let active = rows.iter().filter(|&&v| pattern.active >> v & 1 == 1).count() as u8;
            let cap = SimdMachine::block_row(e, &packing, g) as u8;
            (if exact { Allowance { active, cap } } else { Allowance { active: 4, cap: 64 } }, rows)
        })
        .collect();
    groups.sort();
    let target = SimdMachine.price(e, &packing).0;
    let table = Compositions::new(&kinds).unwrap();
    let least =
        if exact { Least::new(&kinds, table.groups.iter().flatten()).unwrap() } else { Least::default() };
    let counting = Counting::new(&pattern, &least);
    let p = Problem { pattern: &pattern, least: &least, counting: &counting, target, exact };
    let case: Case = groups.iter().map(|(allowance, _)| *allowance).collect();
    let home = |v: usize| groups.iter().position(|(_, rows)| rows.contains(&v)).unwrap();
    let mut state = State::new(&p, &case);
    let mut checks = 0;
    for v in draw.shuffled(at.len()) {
        assert_eq!(state.propagate(&p), Ok(()), "{at:?}");
        for w in members(pattern.active | pattern.inert) {
            assert!(state.domain(w) >> home(w) & 1 == 1, "row {w} of {at:?}");
            checks += 1;
        }
        if state.unassigned >> v & 1 == 1 {
            state.assign(&p, v, home(v));
        }
    }
    assert_eq!(state.propagate(&p), Ok(()));
    assert_eq!(state.unassigned, 0);
    checks
}

#[test]
fn nothing_true_is_excluded_on_the_wave() {
    let wave = instances::wave_2d().unwrap();
    let folded = wave.fold_zero_nodes();
    // Quarter turns about the middle of the nodes that move, those held at zero as they best stand.
    let best: [usize; 64] = [
        9, 15, 63, 57, 10, 23, 62, 49, 11, 31, 61, 41, 12, 39, 60, 33, 13, 47, 59, 25, 14, 55, 58, 17, 18,
        22, 54, 50, 19, 30, 53, 42, 20, 38, 52, 34, 21, 46, 51, 26, 27, 29, 45, 43, 28, 37, 44, 35, 36, 0, 3,
        40, 24, 5, 56, 1, 48, 16, 2, 6, 4, 32, 7, 8,
    ];
    let packed = Packing::symmetric(Order::new(64, &best).unwrap());
    assert_eq!(SimdMachine.price(&wave, &packed).0, 63);
    let mut draw = Draw(1);
    for round in 0..24 {
        let mut order = best;
        // The best partition, some swaps away from it, and none that is any good.
        for _ in 0..[0, 1, 3, 200][round % 4] {
            order.swap(draw.below(64), draw.below(64));
        }
        for e in [&wave, &folded] {
            assert!(follow(e, &order, round % 5 != 4, &mut draw) > 3000);
        }
    }
}

#[test]
fn nothing_true_is_excluded_on_random_patterns() {
    let mut draw = Draw(2);
    for _ in 0..150 {
        let n = 5 + draw.below(9);
        let density = 1 + draw.below(10);
        let entries: Vec<_> =
            (0..n * n).filter(|_| draw.below(10) < density).map(|k| (k / n, k % n, 1.0)).collect();
        let a = Triplets::from_entries(Shape::new(n, n), entries).unwrap();
        let threshold = draw.below(4);
        let nontrivial: Vec<bool> = (0..n).map(|_| draw.below(3) < threshold).collect();
        let e = LinearExpression::new(&a, &nontrivial).unwrap();
        if Compositions::new(&Kinds::new(&e, Orders::One)).is_none() {
            continue;
        }
        let order = draw.shuffled(4 * e.quads());
        follow(&e, &order, draw.below(3) > 0, &mut draw);
    }
}
