//! Exhaustive searches against every partition of small random matrices, and on the paper's instances.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use texla::host::{Triplets, problems};
use texla::pack::{
    BoundBy, Certificate, CostModel, Instructions, LinearExpression, LowerBound, Orders, Packing, Proof,
    ProofLimits, Prover, SimdMachine, Verdict, instances,
};
use texla::{Error, Shape};

use crate::common::random::Rng;
use crate::partitions::{cheapest, random_expression};

fn limits() -> ProofLimits<'static> {
    ProofLimits::default().with_nodes(Some(10_000_000))
}

fn prove(e: &LinearExpression, best: u32) -> Proof {
    Prover::new(e).prove(Instructions(best), &limits()).unwrap()
}

/// A search from any cost must end at the optimum, and one from the optimum must find nothing.
fn check_optimum(e: &LinearExpression, optimum: Instructions) {
    let proof = prove(e, optimum.0);
    assert_eq!(proof.verdict, Verdict::Exhausted, "{optimum}: {e:?}");
    assert_eq!(proof.bound.value, optimum, "{e:?}");
    let proof = prove(e, optimum.0 + 2);
    let Verdict::Found(packing) = &proof.verdict else {
        panic!("{:?} below {optimum}: {e:?}", proof.verdict)
    };
    assert_eq!(SimdMachine.cost(e, packing).unwrap(), optimum, "{e:?}");
    assert_eq!(proof.bound.value, optimum);
}

#[test]
fn searches_agree_with_every_partition_of_two_groups() {
    let mut rng = Rng::new(21);
    for n in [5, 6, 7, 8] {
        for _ in 0..100 {
            let e = random_expression(&mut rng, n);
            check_optimum(&e, cheapest(&e));
        }
    }
}

#[test]
fn searches_agree_with_every_partition_of_three_groups() {
    let mut rng = Rng::new(22);
    for n in [9, 10, 11, 12, 12, 12, 12, 12] {
        let e = random_expression(&mut rng, n);
        check_optimum(&e, cheapest(&e));
    }
}

/// Sparse patterns of few kinds, where compositions, symmetries and the counting of kinds matter.
#[test]
fn searches_agree_with_every_partition_of_regular_patterns() {
    let mut rng = Rng::new(23);
    for round in 0..8 {
        let n = 12 - round % 2;
        let offsets: Vec<usize> = (0..2 + rng.below(3)).map(|_| rng.below(n)).collect();
        let mut entries: Vec<_> =
            (0..n).flat_map(|i| offsets.iter().map(move |o| (i, (i + o) % n, 1.0))).collect();
        // Some rows are held at zero, as on a boundary.
        let held = rng.below(4);
        entries.retain(|&(i, _, _)| i >= held);
        let a = Triplets::from_entries(Shape::new(n, n), entries).unwrap();
        let with_b = rng.below(2) == 1;
        let e = LinearExpression::new(&a, &(0..n).map(|i| i >= held && with_b).collect::<Vec<_>>()).unwrap();
        check_optimum(&e, cheapest(&e));
    }
}

#[test]
fn instances_are_solved_from_their_identity() {
    let folded = instances::wave_2d().unwrap().fold_zero_nodes();
    let named = |name: &str| instances::ALL.iter().find(|(n, _)| *n == name).unwrap().1().unwrap();
    for (e, before, optimum) in [
        (folded, 80, 56),
        (named("rk20"), 20, 14),
        (named("poisson2d_s8"), 6, 4),
        (named("poisson3d_s40"), 38, 20),
        (named("wave_s32"), 38, 24),
    ] {
        let proof = prove(&e, before);
        let Verdict::Found(packing) = &proof.verdict else { panic!("{:?}", proof.verdict) };
        assert_eq!(SimdMachine.cost(&e, packing).unwrap(), Instructions(optimum));
        assert!(matches!(proof.certify(Instructions(optimum)), Certificate::Optimal(_)));
    }
}

#[test]
fn nothing_on_the_wave_costs_61_and_the_count_of_nodes_is_the_same_with_any_threads() {
    let wave = instances::wave_2d().unwrap();
    let proofs = [1, 3].map(|threads| {
        let proof = Prover::new(&wave).threads(threads).prove(Instructions(62), &limits()).unwrap();
        assert_eq!(proof.verdict, Verdict::Exhausted);
        assert_eq!((proof.bound.value, proof.bound.by), (Instructions(62), BoundBy::Search));
        assert_eq!(proof.certify(Instructions(63)), Certificate::Gap(Instructions(1)));
        proof.levels
    });
    let [one, three] = proofs;
    assert_eq!(one, three);
    let targets: Vec<u32> = one.iter().map(|level| level.target.0).collect();
    assert_eq!(targets, [60, 61]);
}

/// The whole proof of 63: minutes.
#[test]
#[ignore = "minutes; run by make soak"]
fn nothing_on_the_wave_costs_less_than_63() {
    let wave = instances::wave_2d().unwrap();
    let proof = prove(&wave, 63);
    println!("{:?} in {:?}", proof.levels, proof.elapsed);
    assert_eq!(proof.verdict, Verdict::Exhausted);
    assert_eq!(proof.certify(Instructions(63)), Certificate::Optimal(BoundBy::Search));
}

#[test]
fn budgets_end_in_the_same_place_with_any_threads() {
    let wave = instances::wave_2d().unwrap();
    let limits = limits().with_nodes(Some(1000));
    let [one, three] = [1, 3].map(|threads| {
        let proof = Prover::new(&wave).threads(threads).prove(Instructions(63), &limits).unwrap();
        assert_eq!(proof.verdict, Verdict::Nodes);
        assert_eq!((proof.bound.value, proof.nodes()), (Instructions(61), 1000));
        proof.levels
    });
    assert_eq!(one, three);
}

#[test]
fn interruption_and_time_end_a_proof() {
    let wave = instances::wave_2d().unwrap();
    let (flag, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let progress = |p: &texla::pack::ProofProgress| {
        assert!(p.done <= p.parts && p.target >= Instructions(60));
        calls.fetch_add(1, Relaxed);
        flag.store(p.nodes > 500, Relaxed);
    };
    let stopped = limits().with_interrupt(Some(&flag)).with_progress(Some(&progress));
    let proof = Prover::new(&wave).prove(Instructions(63), &stopped).unwrap();
    assert_eq!(proof.verdict, Verdict::Interrupted);
    assert!(calls.load(Relaxed) > 0 && proof.bound.value < Instructions(63));
    let limits = limits().with_time(Some(Duration::from_millis(20)));
    let proof = Prover::new(&wave).prove(Instructions(63), &limits).unwrap();
    assert_eq!(proof.verdict, Verdict::Time);
    assert!(proof.bound.value >= Instructions(60));
}

#[test]
fn what_cannot_be_searched_is_refused_unless_the_bound_is_met() {
    let cube = instances::gauss_seidel_64().unwrap();
    assert_eq!(prove(&cube, 72).certify(Instructions(72)), Certificate::Optimal(BoundBy::Multiplications));
    let found = Prover::new(&cube).prove(Instructions(73), &limits());
    assert!(matches!(found, Err(Error::Unsupported { .. })));
    let path = LinearExpression::new(&problems::poisson_1d(65), &[true; 65]).unwrap();
    let bound = LowerBound::new(&path, Orders::One).value;
    assert_eq!(prove(&path, bound.0).verdict, Verdict::Exhausted);
    let found = Prover::new(&path).prove(Instructions(bound.0 + 1), &limits());
    assert!(matches!(found, Err(Error::Unsupported { .. })));
    let found = Prover::new(&path).prove(Instructions(bound.0 - 1), &limits());
    assert!(matches!(found, Err(Error::Parameter { name: "best", .. })));
    for limits in [limits().with_nodes(Some(0)), limits().with_time(Some(Duration::ZERO))] {
        assert!(matches!(Prover::new(&path).prove(bound, &limits), Err(Error::Parameter { .. })));
    }
    let nothing = LinearExpression::new(&Triplets::new(Shape::new(5, 5)), &[false; 5]).unwrap();
    let cost = SimdMachine.cost(&nothing, &Packing::identity(5)).unwrap();
    assert_eq!(prove(&nothing, cost.0).verdict, Verdict::Exhausted);
}
