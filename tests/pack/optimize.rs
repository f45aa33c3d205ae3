//! The whole search: what it finds without hints, by which means, and what it promises for any matrix.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use texla::host::{Triplets, problems};
use texla::pack::{
    CoolingSchedule, Cost, CostModel, FetchOperations, Instructions, LinearExpression, Optimized, Origin,
    Packing, Progress, SearchLimits, SearchParams, SearchStop, SimdMachine, Start, TexelFetch, instances,
    optimize,
};
use texla::{Error, Grid, Shape};

use super::common::data::{data_root, files, not_run};
use super::common::random::Rng;

fn instance(name: &str) -> LinearExpression {
    instances::ALL.iter().find(|(n, _)| *n == name).unwrap().1().unwrap()
}

/// With so many proposals at most.
fn search(e: &LinearExpression, proposals: u64) -> Optimized<Instructions> {
    let limits = SearchLimits::default().with_proposals(Some(proposals));
    checked(&SimdMachine, e, optimize(&SimdMachine, e, &SearchParams::default(), &limits).unwrap())
}

/// What holds for every result.
fn checked<M: CostModel>(model: &M, e: &LinearExpression, found: Optimized<M::Cost>) -> Optimized<M::Cost> {
    assert_eq!(found.cost, model.cost(e, &found.packing).unwrap());
    assert_eq!(found.cost_before, model.cost(e, &Packing::identity(e.unknowns())).unwrap());
    assert!(found.cost <= found.cost_before && found.cost >= found.lower_bound);
    assert!(found.found_after <= found.seconds);
    assert_eq!(found.is_optimal(), found.cost == found.lower_bound);
    found
}

fn affine(a: &Triplets) -> LinearExpression {
    LinearExpression::new(a, &vec![true; a.shape().rows]).unwrap()
}

/// `per_row` random entries in each row.
fn random(n: usize, per_row: usize, seed: u64) -> LinearExpression {
    let mut rng = Rng::new(seed);
    let entries: Vec<_> = (0..n * per_row).map(|k| (k / per_row, rng.below(n), 1.0)).collect();
    affine(&Triplets::from_entries(Shape::new(n, n), entries).unwrap())
}

#[test]
fn the_papers_costs_are_found_without_hints() {
    for (name, after, origin) in [
        ("wave2d", 63, Origin::Symmetry),
        ("rk20", 14, Origin::Symmetry),
        ("gs64", 72, Origin::Symmetry),
        ("poisson2d_s8", 4, Origin::Accordion),
        ("poisson3d_s40", 20, Origin::Accordion),
        ("wave_s32", 24, Origin::Accordion),
    ] {
        let e = instance(name);
        let found = search(&e, 300_000);
        assert_eq!((found.cost, found.origin), (Instructions(after), origin), "{name}");
        // ceil(nnz / 4) proves it where it is met.
        let proven = !["wave2d", "rk20"].contains(&name);
        assert_eq!((found.is_optimal(), found.reason == SearchStop::Target), (proven, proven), "{name}");
    }
    let folded = search(&instance("wave2d").fold_zero_nodes(), 300_000);
    assert_eq!((folded.cost, folded.origin), (Instructions(56), Origin::Symmetry));
}

/// Every orbit has four nodes: every block is full, and nothing is searched.
#[test]
fn free_symmetries_need_no_search() {
    let twisted = |n: usize| {
        // A ring whose node k stands at 5 k + 2 mod n.
        let at = |k: usize| (5 * k + 2) % n;
        let entries =
            (0..n).flat_map(|k| [(at(k), at(k + 1), 1.0), (at(k + 1), at(k), 1.0), (at(k), at(k), 1.0)]);
        affine(&Triplets::from_entries(Shape::new(n, n), entries).unwrap())
    };
    let cube = |n: usize| {
        let taps = [[0, 0, -1], [0, -1, 0], [-1, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
        problems::variable_stencil(Grid::new_3d(n, n, n), &taps, [false; 3], |_, tap| {
            if tap == 3 { 6.0 } else { -1.0 }
        })
    };
    for (e, cost) in [
        (affine(&problems::poisson_2d(8, 8)), 72),
        (affine(&problems::poisson_2d(16, 16)), 304),
        (affine(&problems::poisson_2d(12, 6)), 324 / 4),
        (LinearExpression::gauss_seidel(&cube(6)).unwrap(), 6 * 36 * 5 / 4),
        (twisted(24), 18),
    ] {
        let found = search(&e, 1_000);
        let expected = (Instructions(cost), Origin::Symmetry, 0, true);
        assert_eq!((found.cost, found.origin, found.proposals, found.is_optimal()), expected);
    }
}

/// Parts that are alike go in fours; a fifth one, and others, are packed by themselves.
#[test]
fn parts_that_are_alike_share_quads() {
    let part = |from: usize, rows: &[(usize, usize)], a: &mut Triplets| {
        rows.iter().for_each(|&(i, j)| a.push(from + i, from + j, 1.0).unwrap());
    };
    // Nine copies of a part without any symmetry, of five nodes, in scattered order of their nodes.
    let rows = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 4)];
    let mut a = Triplets::new(Shape::new(45, 45));
    (0..9).for_each(|k| {
        let shift = |v: usize| (v + k) % 5;
        part(5 * k, &rows.map(|(i, j)| (shift(i), shift(j))), &mut a);
    });
    let found = search(&affine(&a), 200_000);
    // Two groups of four copies at 6 each; the ninth has 6 non-zeros more, in two quads.
    assert_eq!(found.origin, Origin::Symmetry);
    assert!(found.cost <= Instructions(12 + 5), "{}", found.cost);
}

#[test]
fn independent_orders_gain_where_x_and_y_differ() {
    let e = random(32, 3, 5);
    let run = |independent: bool| {
        let params = SearchParams::default().with_independent(independent);
        let limits = SearchLimits::default().with_proposals(Some(3_000_000));
        checked(&SimdMachine, &e, optimize(&SimdMachine, &e, &params, &limits).unwrap())
    };
    let (one, two) = (run(false), run(true));
    assert!(one.packing.is_symmetric() && !two.packing.is_symmetric());
    assert!(two.cost < one.cost, "{} {}", one.cost, two.cost);
    assert!(one.cost.0 + 4 <= one.cost_before.0);
    let in_place = SearchParams::default().with_independent(true);
    let refused = optimize(&SimdMachine, &instance("gs64"), &in_place, &SearchLimits::default());
    assert!(matches!(refused, Err(Error::Parameter { name: "independent", .. })));
}

#[test]
fn the_other_model_is_searched_too() {
    let e = instance("wave2d");
    let limits = SearchLimits::default().with_proposals(Some(2_000_000));
    let found = optimize(&TexelFetch, &e, &SearchParams::default(), &limits).unwrap();
    let found = checked(&TexelFetch, &e, found);
    assert_eq!(found.cost_before, FetchOperations(54 + 231));
    assert!(found.cost <= FetchOperations(51 + 231), "{}", found.cost);
}

#[test]
fn searches_repeat_whatever_the_threads() {
    for (e, independent) in [(random(30, 3, 1), false), (random(30, 3, 2), true), (instance("wave2d"), false)]
    {
        let run = |threads: usize| {
            let params =
                SearchParams::default().with_threads(threads).with_independent(independent).with_seed(9);
            let limits = SearchLimits::default().with_proposals(Some(500_000));
            let found = optimize(&SimdMachine, &e, &params, &limits).unwrap();
            let mut found = checked(&SimdMachine, &e, found);
            (found.seconds, found.found_after) = (0.0, 0.0);
            found
        };
        let one = run(1);
        assert_eq!(one.reason, SearchStop::Proposals);
        for threads in [2, 5] {
            assert_eq!(run(threads), one);
        }
    }
}

#[test]
fn refinement_leaves_no_swap_that_helps() {
    let e = random(20, 2, 3);
    let schedule = CoolingSchedule::default().with_temperature(1e-3).with_steps(1).with_proposals(1);
    let params = |refine| {
        SearchParams::default()
            .with_schedule(Some(schedule))
            .with_start(Start::Identity)
            .with_seeds(false)
            .with_refine(refine)
    };
    let limits = SearchLimits::default().with_proposals(None).with_restarts(Some(1));
    let plain = checked(&SimdMachine, &e, optimize(&SimdMachine, &e, &params(false), &limits).unwrap());
    assert!(plain.proposals <= 1 && plain.reason == SearchStop::Restarts);
    let limits = limits.with_proposals(Some(200_000));
    let found = checked(&SimdMachine, &e, optimize(&SimdMachine, &e, &params(true), &limits).unwrap());
    assert!(found.cost < plain.cost && found.origin == Origin::Refinement);
    for (p, q) in (0..20).flat_map(|p| (0..p).map(move |q| (p, q))) {
        let mut moved = found.packing.clone();
        moved.swap(texla::pack::Axis::Both, p, q);
        assert!(SimdMachine.cost(&e, &moved).unwrap() >= found.cost);
    }
}

#[test]
fn a_better_bound_and_a_target_end_the_search() {
    let cars = instance("rk20");
    let params = SearchParams::default().with_lower_bound(Some(Instructions(14)));
    let found = checked(
        &SimdMachine,
        &cars,
        optimize(&SimdMachine, &cars, &params, &SearchLimits::default()).unwrap(),
    );
    assert!(
        found.is_optimal() && found.lower_bound == Instructions(14) && found.reason == SearchStop::Target
    );
    let wave = instance("wave2d");
    let limits = SearchLimits::default().with_target(Some(Instructions(70)));
    let found = optimize(&SimdMachine, &wave, &SearchParams::default(), &limits).unwrap();
    assert!(found.cost <= Instructions(70) && found.reason == SearchStop::Target && !found.is_optimal());
    // A bound below the model's own is no news.
    let params = params.with_lower_bound(Some(Instructions(1)));
    let found = optimize(&SimdMachine, &instance("gs64"), &params, &SearchLimits::default()).unwrap();
    assert_eq!(found.lower_bound, Instructions(72));
}

#[test]
fn searches_are_interruptible_and_tell_how_far_they_are() {
    let e = affine(&problems::poisson_2d(13, 11));
    let (flag, told) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let report = |p: &Progress<Instructions>| {
        let mut told = told.lock().unwrap();
        told.push(*p);
        flag.store(told.len() >= 5, Ordering::Relaxed);
    };
    let limits = SearchLimits::default()
        .with_time(Some(Duration::from_secs(600)))
        .with_proposals(None)
        .with_interrupt(Some(&flag))
        .with_progress(Some(&report));
    let found =
        checked(&SimdMachine, &e, optimize(&SimdMachine, &e, &SearchParams::default(), &limits).unwrap());
    assert_eq!(found.reason, SearchStop::Interrupted);
    let told = told.into_inner().unwrap();
    assert!(told.iter().all(|p| p.best <= p.cost && p.best <= found.cost_before && p.cost.value() > 0.0));
    let refused = optimize(
        &SimdMachine,
        &e,
        &SearchParams::default(),
        &SearchLimits::default().with_proposals(Some(0)),
    );
    assert!(matches!(refused, Err(Error::Parameter { name: "proposals", .. })));
}

#[test]
fn small_and_empty_expressions() {
    for n in 1..6 {
        let empty = affine(&Triplets::new(Shape::new(n, n)));
        assert_eq!(search(&empty, 1_000).cost, Instructions(0));
        let full = affine(
            &Triplets::from_entries(Shape::new(n, n), (0..n * n).map(|k| (k / n, k % n, 1.0))).unwrap(),
        );
        assert!(search(&full, 1_000).cost.0 as usize >= (n * n).div_ceil(4));
        let diagonal =
            affine(&Triplets::from_entries(Shape::new(n, n), (0..n).map(|k| (k, k, 1.0))).unwrap());
        assert_eq!(search(&diagonal, 1_000).cost.0 as usize, n.div_ceil(4));
    }
}

#[test]
fn any_matrix_of_the_collection_is_packed_within_its_time() {
    let Some(root) = data_root() else { return not_run(6, "square matrices to 4096 unknowns") };
    let mut seen = 0;
    for path in ["spd", "unsym"].iter().flat_map(|dir| files(&root, dir)) {
        let a = texla::host::market::read_matrix(&path).unwrap().triplets;
        if !["494_bus", "bcsstk01", "bcsstm22", "west0067", "sherman5", "arc130"]
            .contains(&path.file_stem().unwrap().to_str().unwrap())
        {
            continue;
        }
        // Patterns only: values past 32 bits are none of this test's business.
        let ones = a.entries().map(|(i, j, v)| (i, j, f64::from(u8::from(v != 0.0))));
        let e = affine(&Triplets::from_entries(a.shape(), ones).unwrap());
        let limits = SearchLimits::default().with_time(Some(Duration::from_millis(500))).with_proposals(None);
        let found = optimize(&SimdMachine, &e, &SearchParams::default(), &limits).unwrap();
        checked(&SimdMachine, &e, found);
        seen += 1;
    }
    assert_eq!(seen, 6);
}
