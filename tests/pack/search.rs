//! Incremental evaluators against prices from scratch; annealing: what it finds, what it repeats, what it refuses.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use proptest::prelude::*;
use texla::host::{Triplets, problems};
use texla::pack::{
    AnnealParams, Annealer, Axis, CoolingSchedule, CostModel, Evaluator, Instructions, LinearExpression,
    MAX_UNKNOWNS, Measured, Order, Packing, SearchLimits, SearchParams, SearchStop, SimdMachine, Start,
    TexelFetch, instances, optimize,
};
use texla::{Error, Shape};

use super::common::random::Rng;

fn instance(name: &str) -> LinearExpression {
    instances::ALL.iter().find(|(n, _)| *n == name).unwrap().1().unwrap()
}

/// Random swaps, every third taken back; the price from scratch at the end, and every `every` moves.
fn agree<M: CostModel>(
    model: &M,
    e: &LinearExpression,
    axes: &[Axis],
    seed: u64,
    moves: usize,
    every: usize,
) {
    let (mut rng, n) = (Rng::new(seed), 4 * e.quads());
    let mut at: Vec<usize> = (0..n).collect();
    rng.shuffle(&mut at);
    let mut packing = Packing::symmetric(Order::new(e.unknowns(), &at).unwrap());
    let mut evaluator = model.evaluator(e, &packing).unwrap();
    assert_eq!(evaluator.cost(), model.cost(e, &packing).unwrap());
    for k in 1..=moves {
        let (axis, p, q) = (axes[rng.below(axes.len())], rng.below(n), rng.below(n));
        let (before, neutral) = (evaluator.cost(), evaluator.is_neutral(axis, p, q));
        let after = evaluator.swap(axis, p, q);
        assert!(!neutral || before == after, "{axis:?} {p} {q}");
        if k % 3 == 0 {
            evaluator.undo();
            assert_eq!(evaluator.cost(), before);
            evaluator.undo(); // the second time nothing
            assert_eq!(evaluator.cost(), before);
        } else {
            packing.swap(axis, p, q);
        }
        if k % every == 0 {
            assert_eq!(evaluator.cost(), model.cost(e, &packing).unwrap(), "after {k} moves");
        }
    }
    let found = evaluator.packing();
    assert_eq!((found.rows(), found.cols()), (packing.rows(), packing.cols()));
    assert_eq!(evaluator.cost(), model.cost(e, &found).unwrap());
}

#[test]
fn swaps_cost_what_a_recount_says() {
    const TWO: [Axis; 3] = [Axis::Rows, Axis::Cols, Axis::Both];
    for (k, (name, _)) in (0u64..).zip(instances::ALL) {
        let e = instance(name);
        agree(&SimdMachine, &e, &[Axis::Both], 10 + k, 20_000, 97);
        agree(&TexelFetch, &e, &[Axis::Both], 20 + k, 20_000, 97);
        for (fetch, operation) in [(8.0, 1.0), (1.0, 1.0), (0.0, 3.0), (2.0, 0.0)] {
            agree(&Measured::new(fetch, operation).unwrap(), &e, &[Axis::Both], 60 + k, 2_000, 97);
        }
        if name != "gs64" {
            agree(&SimdMachine, &e, &TWO, 30 + k, 20_000, 97);
            agree(&TexelFetch, &e, &TWO, 40 + k, 20_000, 97);
            agree(&Measured::new(5.0, 0.7).unwrap(), &e, &TWO, 70 + k, 2_000, 97);
        }
    }
    let large = LinearExpression::gauss_seidel(&problems::poisson_2d(30, 21)).unwrap();
    agree(&SimdMachine, &large, &[Axis::Both], 50, 1_000, 50);
    agree(&TexelFetch, &large, &[Axis::Both], 51, 1_000, 50);
}

/// A square pattern with some b trivial: plain, or an iteration in place.
fn any_expression() -> impl Strategy<Value = LinearExpression> {
    let entry = |n: usize| proptest::collection::vec((0..n, 0..n), 0..4 * n);
    let parts = (1usize..40)
        .prop_flat_map(move |n| (entry(n), proptest::collection::vec(any::<bool>(), n), any::<bool>()));
    parts.prop_map(|(places, b, in_place)| {
        let n = b.len();
        let entries = places.into_iter().map(|(i, j)| (i, j, 1.0));
        let mut a = Triplets::from_entries(Shape::new(n, n), entries).unwrap();
        if in_place {
            (0..n).for_each(|i| a.push(i, i, 100.0).unwrap());
            return LinearExpression::gauss_seidel(&a).unwrap();
        }
        LinearExpression::new(&a, &b).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swaps_of_any_matrix_cost_what_a_recount_says(e in any_expression(), seed: u64) {
        let both = LinearExpression::new(&e.matrix().entries().fold(
            Triplets::new(Shape::new(e.unknowns(), e.unknowns())),
            |mut a, (i, j, v)| { a.push(i, j, v).unwrap(); a },
        ), &vec![true; e.unknowns()]).unwrap();
        agree(&SimdMachine, &e, &[Axis::Both], seed, 100, 7);
        agree(&TexelFetch, &e, &[Axis::Both], seed, 100, 7);
        agree(&SimdMachine, &both, &[Axis::Rows, Axis::Cols], seed, 100, 7);
        prop_assert!(SimdMachine.cost(&e, &Packing::identity(e.unknowns())).unwrap() >= SimdMachine.lower_bound(&e));
    }
}

#[test]
fn an_axis_alone_moves_both_in_place_and_positions_past_the_end_none() {
    let e = instance("gs64");
    let start = Packing::identity(64);
    let mut evaluator = SimdMachine.evaluator(&e, &start).unwrap();
    evaluator.swap(Axis::Rows, 3, 60);
    assert!(evaluator.packing().is_symmetric() && evaluator.packing() != start);
    let before = evaluator.cost();
    assert_eq!(evaluator.swap(Axis::Both, 3, 64), before);
    assert_eq!(evaluator.swap(Axis::Both, 5, 5), before);
    evaluator.undo();
    assert_eq!(evaluator.cost(), before);
    assert!(!evaluator.is_neutral(Axis::Both, 0, 1));
    let plain = instance("wave2d");
    assert!(SimdMachine.evaluator(&plain, &start).unwrap().is_neutral(Axis::Both, 0, 3));
}

#[test]
fn expressions_past_the_table_are_refused() {
    let n = MAX_UNKNOWNS + 1;
    let e = LinearExpression::new(&Triplets::new(Shape::new(n, n)), &vec![true; n]).unwrap();
    let found = SimdMachine.evaluator(&e, &Packing::identity(n));
    assert!(matches!(found, Err(Error::Parameter { name: "expression", .. })));
    assert_eq!(SimdMachine.cost(&e, &Packing::identity(n)).unwrap(), Instructions(0));
    assert_eq!((SimdMachine.most_unknowns(), TexelFetch.most_unknowns()), (MAX_UNKNOWNS, MAX_UNKNOWNS));
}

#[test]
fn past_the_table_the_search_answers_with_the_seeds() {
    let n = MAX_UNKNOWNS + 1;
    let entries = (0..n).flat_map(|i| [(i, i, 1.0), (i, (i + n / 2) % n, 1.0)]);
    let e =
        LinearExpression::new(&Triplets::from_entries(Shape::new(n, n), entries).unwrap(), &vec![true; n]);
    let e = e.unwrap();
    // Of proposals, which it never comes to: on a busy machine a limit of time could be what ends it.
    let limits = SearchLimits::default().with_proposals(Some(1));
    let found = optimize(&SimdMachine, &e, &SearchParams::default(), &limits).unwrap();
    assert_eq!((found.reason, found.proposals), (SearchStop::Size, 0));
    assert!(found.lower_bound < found.cost && found.cost <= found.cost_before, "{:?}", found.cost);
    assert_eq!(found.cost, SimdMachine.cost(&e, &found.packing).unwrap());
}

fn short() -> CoolingSchedule {
    CoolingSchedule::default().with_temperature(1.5).with_rate(0.9).with_steps(15).with_proposals(1000)
}

#[test]
fn a_seed_and_a_budget_give_the_same_result_whatever_the_threads() {
    let (cars, wave) = (instance("rk20"), instance("wave2d"));
    for (e, target) in [(&cars, Some(Instructions(14))), (&cars, None), (&wave, Some(Instructions(75)))] {
        for seed in 0..3 {
            let run = |threads: usize| {
                let params =
                    AnnealParams::default().with_schedule(short()).with_seed(seed).with_threads(threads);
                // Not a multiple of the schedule's 15,000: the last restart has fewer.
                let limits = SearchLimits::default().with_proposals(Some(190_001)).with_target(target);
                let mut found = Annealer::new(&SimdMachine, e, params).unwrap().anneal(&limits).unwrap();
                found.seconds = 0.0;
                found
            };
            let one = run(1);
            assert_eq!(one.cost, SimdMachine.cost(e, &one.packing).unwrap());
            assert_eq!(one.proposals == 190_001, one.reason == SearchStop::Proposals);
            for threads in [2, 5] {
                assert_eq!(run(threads), one, "{threads} threads");
            }
        }
    }
}

/// Golden: a change of the random streams, of the draws or of the acceptance shows here.
#[test]
fn streams_do_not_change() {
    let params = AnnealParams::default().with_schedule(short()).with_seed(2004).with_trace(15);
    let limits = SearchLimits::default().with_restarts(Some(1));
    let found = Annealer::new(&SimdMachine, &instance("rk20"), params).unwrap().anneal(&limits).unwrap();
    let accepted: Vec<u64> = found.trace.points.iter().map(|point| point.accepted).collect();
    let golden = [0, 485, 897, 1186, 1496, 1768, 2018, 2136, 2324, 2464, 2572, 2608, 2619, 2619, 2621, 2621];
    assert_eq!((found.cost, &accepted[..]), (Instructions(14), &golden[..]));
}

#[test]
fn annealing_reaches_small_optima_and_keeps_the_best() {
    for (name, optimum) in [("rk20", 14), ("poisson2d_s8", 4)] {
        let e = instance(name);
        let params = AnnealParams::default().with_schedule(short());
        let limits = SearchLimits::default().with_target(Some(Instructions(optimum)));
        let found = Annealer::new(&SimdMachine, &e, params).unwrap().anneal(&limits).unwrap();
        assert_eq!((found.cost, found.reason), (Instructions(optimum), SearchStop::Target), "{name}");
        let last = found.trace.points.last().unwrap();
        assert!(last.best == found.cost && found.trace.points.len() <= 514);
        assert!(found.trace.points.windows(2).all(|w| w[0].proposals < w[1].proposals));
        assert!(found.trace.points.windows(2).all(|w| w[1].best <= w[0].best && w[1].best <= w[1].cost));
    }
    // So hot that everything is accepted: what comes out is the best seen, not the last.
    let hot = short().with_temperature(1e9).with_rate(1.0);
    let e = instance("wave2d");
    let params = AnnealParams::default().with_schedule(hot).with_start(Start::Identity);
    let limits = SearchLimits::default().with_restarts(Some(2));
    let found = Annealer::new(&SimdMachine, &e, params).unwrap().anneal(&limits).unwrap();
    assert_eq!((found.cost, found.packing), (Instructions(82), Packing::identity(64)));
    assert_eq!((found.restart, found.reason), (0, SearchStop::Restarts));
}

#[test]
fn time_and_interruption_stop_with_the_best_so_far() {
    let e = instance("wave2d");
    let annealer =
        |threads| Annealer::new(&SimdMachine, &e, AnnealParams::default().with_threads(threads)).unwrap();
    let unlimited = SearchLimits::default().with_proposals(None);
    let soon = unlimited.with_time(Some(Duration::from_millis(50)));
    let found = annealer(2).anneal(&soon).unwrap();
    assert_eq!(found.reason, SearchStop::Time);
    assert_eq!(found.cost, SimdMachine.cost(&e, &found.packing).unwrap());
    let flag = AtomicBool::new(false);
    // Interrupted from within the first report, which comes after one step.
    let stop =
        |_: &texla::pack::Progress<Instructions>| flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let interrupted =
        unlimited.with_restarts(Some(1000)).with_interrupt(Some(&flag)).with_progress(Some(&stop));
    let found = annealer(1).anneal(&interrupted).unwrap();
    assert_eq!(found.reason, SearchStop::Interrupted);
    assert!(found.proposals < CoolingSchedule::default().total());
}

#[test]
fn empty_budgets_and_impossible_temperatures_are_refused() {
    let e = instance("rk20");
    let refused = |schedule: CoolingSchedule, name: &str| {
        let params = AnnealParams::default().with_schedule(schedule);
        match Annealer::new(&SimdMachine, &e, params) {
            Err(Error::Parameter { name: found, .. }) => assert_eq!(found, name),
            _ => panic!("{name} accepted"),
        }
    };
    for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        refused(short().with_temperature(temperature), "temperature");
        refused(short().with_boltzmann(temperature), "boltzmann");
        refused(short().with_rate(temperature), "rate");
    }
    refused(short().with_rate(1.01), "rate");
    refused(short().with_steps(0), "steps");
    refused(short().with_proposals(0), "proposals");
    let annealer = Annealer::new(&SimdMachine, &e, AnnealParams::default()).unwrap();
    let open = SearchLimits::default();
    for (limits, name) in [
        (open.with_proposals(Some(0)), "proposals"),
        (open.with_restarts(Some(0)), "restarts"),
        (open.with_time(Some(Duration::ZERO)), "time"),
        (open.with_proposals(None), "limits"),
    ] {
        let found = annealer.anneal(&limits);
        assert!(matches!(found, Err(Error::Parameter { name: found, .. }) if found == name), "{name}");
    }
    let independent = AnnealParams::default().with_independent(true);
    assert!(Annealer::new(&SimdMachine, &instance("gs64"), independent).is_err());
    let given = AnnealParams::default().with_start(Start::Given(Packing::identity(21)));
    assert!(matches!(Annealer::new(&SimdMachine, &e, given), Err(Error::LengthMismatch { .. })));
}
