//! The lower bounds: the values of the instances, and against every partition of small random matrices.

use texla::host::{Triplets, problems};
use texla::pack::{
    BoundBy, Certificate, CostModel, Instructions, LinearExpression, LowerBound, Order, Orders, Packing,
    SimdMachine, StencilBoundary, instances,
};
use texla::{Grid, Shape};

use crate::common::random::Rng;
use crate::partitions::{cheapest, random_expression};

#[test]
fn bounds_of_the_instances() {
    for ((name, make), (one, two)) in
        instances::ALL.iter().zip([(60, 59), (14, 14), (72, 72), (4, 4), (20, 20), (24, 24)])
    {
        let e = make().unwrap();
        let bound = |orders| LowerBound::new(&e, orders);
        assert_eq!(bound(Orders::One).value, Instructions(one), "{name}");
        assert_eq!(bound(Orders::Two).value, Instructions(two), "{name}");
    }
    let folded = instances::wave_2d().unwrap().fold_zero_nodes();
    let bound = LowerBound::new(&folded, Orders::One);
    assert_eq!((bound.value, bound.by), (Instructions(56), BoundBy::Compositions));
    assert_eq!(LowerBound::new(&folded, Orders::Two).value, Instructions(56));
    assert_eq!(bound.certify(Instructions(56)), Certificate::Optimal(BoundBy::Compositions));
    assert_eq!(bound.certify(Instructions(58)), Certificate::Gap(Instructions(2)));
}

/// One symmetric packing for each division into groups: all there are, up to orders that plain costs do not see.
#[test]
fn no_division_into_groups_is_below_the_bound() {
    let mut rng = Rng::new(11);
    let mut met = 0;
    for n in [3, 4, 5, 6, 7, 8] {
        for _ in 0..60 {
            let e = random_expression(&mut rng, n);
            let (bound, best) = (LowerBound::new(&e, Orders::One).value, cheapest(&e));
            assert!(bound <= best, "{bound} of {best}: {e:?}");
            assert!(LowerBound::new(&e, Orders::Two).value <= bound);
            met += usize::from(bound == best);
        }
    }
    assert!(met > 120, "{met} of 360: the bound has become useless");
    for _ in 0..6 {
        let e = random_expression(&mut rng, 12);
        assert!(LowerBound::new(&e, Orders::One).value <= cheapest(&e));
    }
}

#[test]
fn no_order_of_an_iteration_is_below_the_bound() {
    let mut rng = Rng::new(12);
    for _ in 0..30 {
        let n = 5 + rng.below(4);
        let density = 1 + rng.below(8);
        let entries: Vec<_> = (0..n * n)
            .filter(|k| k / n == k % n || rng.below(8) < density)
            .map(|k| (k / n, k % n, if k / n == k % n { 4.0 } else { -1.0 }))
            .collect();
        let a = Triplets::from_entries(Shape::new(n, n), entries).unwrap();
        let e = LinearExpression::gauss_seidel(&a).unwrap();
        let bound = LowerBound::new(&e, Orders::One).value;
        let mut at: Vec<usize> = (0..8).collect();
        for _ in 0..500 {
            let (p, q) = (rng.below(8), rng.below(8));
            at.swap(p, q);
            let packing = Packing::symmetric(Order::new(n, &at).unwrap());
            assert!(bound <= SimdMachine.cost(&e, &packing).unwrap());
        }
    }
}

#[test]
fn two_orders_are_not_below_the_bound_either() {
    let mut rng = Rng::new(13);
    for _ in 0..60 {
        let e = random_expression(&mut rng, 8);
        let bound = LowerBound::new(&e, Orders::Two).value;
        let mut orders = [(0..8).collect::<Vec<usize>>(), (0..8).collect()];
        for _ in 0..300 {
            let (which, p, q) = (rng.below(2), rng.below(8), rng.below(8));
            orders[which].swap(p, q);
            let [rows, cols] = [0, 1].map(|k| Order::new(8, &orders[k]).unwrap());
            let packing = Packing::independent(rows, cols).unwrap();
            assert!(bound <= SimdMachine.cost(&e, &packing).unwrap());
        }
    }
}

/// Orbits of the quarter turn of a full grid meet nnz / 4; the bound must see that, and answer on large grids.
#[test]
fn large_grids_are_answered() {
    let taps = [[0, -1, 0], [-1, 0, 0], [1, 0, 0], [0, 1, 0]].map(|offset| (offset, 1.0));
    for side in [8, 16, 32, 64] {
        let grid = Grid::new_2d(side, side);
        let e = LinearExpression::stencil(grid, &taps, [[StencilBoundary::Dropped; 2]; 3], true).unwrap();
        let bound = LowerBound::new(&e, Orders::One);
        assert_eq!(bound.value, Instructions((side * side - side) as u32), "{side}");
    }
    // As many kinds as rows: only the multiplications are counted.
    let entries = (0..300).flat_map(|i| (0..=i).map(move |j| (i, j, 1.0)));
    let a = Triplets::from_entries(Shape::new(300, 300), entries).unwrap();
    let e = LinearExpression::new(&a, &[true; 300]).unwrap();
    let bound = LowerBound::new(&e, Orders::One);
    assert_eq!((bound.value, bound.by), (Instructions(300 * 301 / 8 + 1), BoundBy::Multiplications));
    let e = LinearExpression::gauss_seidel(&problems::poisson_1d(4096)).unwrap();
    assert_eq!(LowerBound::new(&e, Orders::One).value, Instructions(2 * 4095 / 4 + 1));
}

#[test]
fn empty_expressions_cost_nothing() {
    let e = LinearExpression::new(&Triplets::new(Shape::new(5, 5)), &[true; 5]).unwrap();
    assert_eq!(LowerBound::new(&e, Orders::One).value, Instructions(0));
}
