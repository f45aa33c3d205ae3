//! C(E) by the definition, against hand-counted examples and the values that the paper prints.

use texla::host::Triplets;
use texla::pack::{
    Axis, Charge, CostModel, Evaluator, FetchOperations, Form, Instructions, LinearExpression, Measured,
    Order, Packing, Recount, SimdMachine, TexelFetch, instances,
};
use texla::{Error, Shape};

/// An expression from rows of ones; `b` for all rows.
fn pattern(rows: &[&[usize]], b: bool) -> LinearExpression {
    let entries = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i, j, 1.0)));
    let a = Triplets::from_entries(Shape::new(rows.len(), rows.len()), entries).unwrap();
    LinearExpression::new(&a, &vec![b; rows.len()]).unwrap()
}

fn simd(e: &LinearExpression, at: &[usize]) -> u32 {
    let packing = Packing::symmetric(Order::new(e.unknowns(), at).unwrap());
    SimdMachine.cost(e, &packing).unwrap().0
}

fn identity(e: &LinearExpression) -> u32 {
    simd(e, &(0..4 * e.quads()).collect::<Vec<_>>())
}

pub fn instance(name: &str) -> LinearExpression {
    instances::ALL.iter().find(|(n, _)| *n == name).unwrap().1().unwrap()
}

/// Closed-form optimal orders, one quad after the other.
pub fn accordion(q: usize) -> Vec<usize> {
    (0..q).flat_map(|k| [k, 2 * q - 1 - k, 2 * q + k, 4 * q - 1 - k]).collect()
}

pub const WAVE: [usize; 64] = [
    9, 15, 63, 57, 10, 23, 62, 49, 11, 31, 61, 41, 12, 39, 60, 33, 13, 47, 59, 25, 14, 55, 58, 17, 18, 22,
    54, 50, 19, 30, 53, 42, 20, 38, 52, 34, 21, 46, 51, 26, 27, 29, 45, 43, 28, 37, 44, 35, 36, 0, 3, 40, 24,
    5, 56, 1, 48, 16, 2, 6, 4, 32, 7, 8,
];

#[test]
fn worked_examples_of_one_and_two_blocks() {
    let all: &[usize] = &[0, 1, 2, 3];
    let none: &[usize] = &[];
    for (rows, with_b, without) in [
        (vec![&[1, 2][..], &[0, 2, 3], &[1, 2], &[0, 1]], 3, 3),
        (vec![all, all, all, all], 4, 4),
        (vec![&[0][..], &[1], &[2], &[3]], 1, 1),
        (vec![all, none, none, none], 2, 1),
        (vec![all, all, none, none], 3, 2),
        (vec![&[0, 1][..], none, none, none], 2, 1),
        (vec![&[0][..], &[0], &[0], &[0]], 1, 1),
        (vec![none, none, none, none], 0, 0),
    ] {
        assert_eq!(identity(&pattern(&rows, true)), with_b, "{rows:?} with b");
        assert_eq!(identity(&pattern(&rows, false)), without, "{rows:?} without b");
    }
    let eight: Vec<usize> = (0..8).collect();
    let mut rows = vec![none; 8];
    rows[0] = &eight;
    assert_eq!((identity(&pattern(&rows, true)), identity(&pattern(&rows, false))), (4, 3));
}

#[test]
fn gauss_seidel_paths() {
    let path = |n: usize| {
        let entries = (0..n).flat_map(|i| {
            (i.saturating_sub(1)..n.min(i + 2)).map(move |j| (i, j, if i == j { 2.0 } else { -1.0 }))
        });
        LinearExpression::gauss_seidel(&Triplets::from_entries(Shape::new(n, n), entries).unwrap()).unwrap()
    };
    assert_eq!(identity(&path(4)), 4);
    assert_eq!(identity(&path(8)), 10);
    assert_eq!(simd(&path(8), &[0, 2, 4, 6, 1, 3, 5, 7]), 4);
    assert_eq!(simd(&path(8), &[0, 3, 4, 7, 1, 2, 5, 6]), 7);
}

#[test]
fn instances_have_the_sizes_and_costs_that_the_paper_prints() {
    for (name, n, nnz, scalar, before) in [
        ("wave2d", 64, 231, 462, 82),
        ("rk20", 20, 50, 90, 20),
        ("gs64", 64, 288, 576, 112),
        ("poisson2d_s8", 8, 14, 28, 6),
        ("poisson3d_s40", 40, 78, 156, 38),
        ("wave_s32", 32, 94, 188, 38),
    ] {
        let e = instance(name);
        assert_eq!((e.unknowns(), e.nnz(), e.scalar_operations()), (n, nnz, scalar), "{name}");
        assert_eq!(identity(&e), before, "{name}");
        assert_eq!(e.form() == Form::GaussSeidel, name == "gs64");
    }
}

#[test]
fn closed_form_orders_cost_what_the_paper_found() {
    for (name, q) in [("poisson2d_s8", 2), ("poisson3d_s40", 10), ("wave_s32", 8)] {
        let after = [4, 20, 24][usize::from(q == 10) + 2 * usize::from(q == 8)];
        assert_eq!(simd(&instance(name), &accordion(q)), after, "{name}");
    }
    assert_eq!(simd(&instance("wave2d"), &WAVE), 63);
    let cars = [0, 1, 2, 3, 5, 9, 13, 17, 4, 8, 12, 16, 7, 11, 15, 19, 6, 10, 14, 18];
    assert_eq!(simd(&instance("rk20"), &cars), 14);
    // Orbits of the three half-turns of the cube.
    let at = |i: usize, j: usize, k: usize| (k * 4 + j) * 4 + i;
    let mut cube = Vec::new();
    for (i, j, k) in (0..64).map(|c| (c % 4, c / 4 % 4, c / 16)) {
        if !cube.contains(&at(i, j, k)) {
            cube.extend([at(i, j, k), at(3 - i, 3 - j, k), at(3 - i, j, 3 - k), at(i, 3 - j, 3 - k)]);
        }
    }
    assert_eq!(simd(&instance("gs64"), &cube), 72);
}

#[test]
fn other_orders_cost_what_they_should() {
    let reversed = |n: usize| (0..n).rev().collect::<Vec<_>>();
    let stride: Vec<usize> = (0..64).map(|k| 16 * (k % 4) + k / 4).collect();
    let transposed: Vec<usize> = (0..64).map(|k| 8 * (k % 8) + k / 8).collect();
    let (wave, cars, cube) = (instance("wave2d"), instance("rk20"), instance("gs64"));
    assert_eq!((simd(&wave, &reversed(64)), simd(&cube, &reversed(64))), (82, 112));
    assert_eq!((simd(&wave, &stride), simd(&cube, &stride)), (68, 112));
    assert_eq!((simd(&wave, &transposed), simd(&cube, &transposed)), (82, 120));
    assert_eq!(simd(&cars, &reversed(20)), 20);
    assert_eq!(simd(&cars, &(0..20).map(|k| (4 * k) % 20 + k / 5).collect::<Vec<_>>()), 22);
    let folded = wave.fold_zero_nodes();
    assert_eq!((folded.nnz(), identity(&folded), simd(&folded, &WAVE)), (217, 80, 56));
}

#[test]
fn swaps_one_after_the_other() {
    for (name, swaps, costs) in [
        ("wave2d", [(0, 63), (5, 18), (9, 54)], [87, 95, 103]),
        ("gs64", [(0, 63), (5, 18), (9, 54)], [120, 128, 138]),
        ("rk20", [(0, 5), (3, 14), (7, 19)], [22, 24, 27]),
    ] {
        let e = instance(name);
        let start = Packing::identity(e.unknowns());
        let mut evaluator = SimdMachine.evaluator(&e, &start).unwrap();
        for ((p, q), cost) in swaps.into_iter().zip(costs) {
            assert_eq!(evaluator.swap(Axis::Both, p, q), Instructions(cost), "{name}: {p} and {q}");
            assert_eq!(SimdMachine.cost(&e, &evaluator.packing()).unwrap(), Instructions(cost));
        }
        for (p, q) in swaps.into_iter().rev() {
            evaluator.swap(Axis::Both, p, q); // twice is the identity
        }
        assert_eq!(evaluator.packing(), start);
        assert_eq!(evaluator.cost(), SimdMachine.cost(&e, &start).unwrap());
    }
}

#[test]
fn evaluators_of_any_model_agree_with_those_of_their_own() {
    for name in ["wave2d", "gs64", "rk20"] {
        let e = instance(name);
        let start = Packing::identity(e.unknowns());
        let mut plain = Recount::new(SimdMachine, &e, &start).unwrap();
        let mut own = SimdMachine.evaluator(&e, &start).unwrap();
        for (k, axis) in [Axis::Both, Axis::Rows, Axis::Cols].into_iter().cycle().take(30).enumerate() {
            let (p, q) = (k * 7 % e.unknowns(), (k * 13 + 5) % e.unknowns());
            assert_eq!(plain.swap(axis, p, q), own.swap(axis, p, q), "{name}: {axis:?} {p} {q}");
            if k % 3 == 0 {
                plain.undo();
                own.undo();
            }
            assert_eq!((plain.cost(), plain.packing()), (own.cost(), own.packing()), "{name}");
            assert_eq!(SimdMachine.cost(&e, &plain.packing()).unwrap(), plain.cost(), "{name}");
        }
    }
}

#[test]
fn fetches_of_a_scalar_gpu() {
    for (name, order, identity, optimum) in [
        ("wave2d", WAVE.to_vec(), 54, 60),
        ("poisson3d_s40", accordion(10), 28, 20),
        ("wave_s32", accordion(8), 22, 22),
        ("poisson2d_s8", accordion(2), 4, 4),
        ("rk20", vec![0, 1, 2, 3, 5, 9, 13, 17, 4, 8, 12, 16, 7, 11, 15, 19, 6, 10, 14, 18], 5, 11),
    ] {
        let e = instance(name);
        let start = Packing::identity(e.unknowns());
        assert_eq!(TexelFetch.fetches(&e, &start).unwrap(), identity, "{name}");
        let packed = Packing::symmetric(Order::new(e.unknowns(), &order).unwrap());
        assert_eq!(TexelFetch.fetches(&e, &packed).unwrap(), optimum, "{name}");
        assert_eq!(TexelFetch.cost(&e, &start).unwrap(), FetchOperations(identity + e.nnz() as u32));
        assert!(TexelFetch.lower_bound(&e).0 <= identity + e.nnz() as u32);
    }
    let cube = instance("gs64");
    assert_eq!(TexelFetch.fetches(&cube, &Packing::identity(64)).unwrap(), 64);
}

#[test]
fn measured_charges_lie_between_fetches_and_operations() {
    let value = |c: Charge| f64::from(c.0);
    for (name, make) in instances::ALL {
        let e = make().unwrap();
        let packing = Packing::identity(e.unknowns());
        let fetches = f64::from(TexelFetch.fetches(&e, &packing).unwrap());
        for (fetch, operation) in [(1e-9, 0.0), (1e-9, 1e-10), (2e-9, 2e-9), (0.0, 1e-9)] {
            let model = Measured::new(fetch, operation).unwrap();
            let [f, m] = model.weights().map(f64::from);
            let cost = model.cost(&e, &packing).unwrap();
            assert!(model.lower_bound(&e) <= cost, "{name}");
            // A row-major block has at most four rows.
            let least = f * fetches + m * e.nnz() as f64;
            assert!(
                (least..=least + 4.0 * m * (fetches + e.quads() as f64)).contains(&value(cost)),
                "{name}"
            );
            // Weights are whole numbers: within half a part of each.
            let part = model.seconds(Charge(1));
            assert!(
                (part * f - fetch).abs() <= 0.5001 * part && (part * m - operation).abs() <= 0.5001 * part
            );
        }
    }
    // Row by row: a DP4 of four and an addition. Column by column: a peel.
    let row = LinearExpression::new(
        &Triplets::from_entries(Shape::new(4, 4), (0..4).map(|j| (0, j, 1.0)).collect::<Vec<_>>()).unwrap(),
        &[true; 4],
    )
    .unwrap();
    let model = Measured::new(8.0, 1.0).unwrap();
    assert_eq!(model.cost(&row, &Packing::identity(4)).unwrap(), Charge(80 + 10 * (4 + 1)));
    for (fetch, operation) in [(0.0, 0.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY)] {
        assert!(matches!(Measured::new(fetch, operation), Err(Error::Parameter { .. })));
    }
}

#[test]
fn packings_that_do_not_fit_are_refused() {
    let (cars, cube) = (instance("rk20"), instance("gs64"));
    let found = SimdMachine.cost(&cars, &Packing::identity(21));
    assert!(matches!(found, Err(Error::LengthMismatch { found: 21, expected: 20, .. })));
    let mut two = Packing::identity(64);
    two.swap(Axis::Rows, 0, 1);
    assert!(matches!(SimdMachine.cost(&cube, &two), Err(Error::Parameter { name: "packing", .. })));
    for bad in [vec![0, 1, 2], vec![0, 1, 2, 4], vec![0, 1, 2, 2]] {
        assert!(Order::new(4, &bad).is_err(), "{bad:?}");
    }
}
