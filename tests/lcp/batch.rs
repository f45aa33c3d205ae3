//! Many problems in the same draws: each as if it were alone.

use crate::common::harness::on_both;
use crate::common::random::{self, Rng};
use crate::common::systems::csr;
use crate::problems::{Lcp, assert_honest, bits, dense, entries, mixed, params, triangular, turning, wall};
use texla::host::Csr;
use texla::solve::{
    Accuracy, LcpBatch, LcpParams, LcpProblem, LcpSolver, ProjectedJacobi, Relaxation, StopReason,
};
use texla::{Device, Error, SparseFormat, SparseMatrix, Vector};

fn problems(all: &[Lcp]) -> Vec<LcpProblem<'_>> {
    all.iter().map(|l| LcpProblem { a: &l.a, b: &l.b }).collect()
}

/// Problems that have little in common: sizes, scales, symmetry; some cannot be solved.
fn motley() -> Vec<Lcp> {
    let dominant = |n: usize| {
        let (x, slack) = mixed(n as u64, n);
        Lcp::with_solution(&format!("dominant {n}"), csr(&random::spd(n as u64, n, 0.6)), &x, &slack)
    };
    vec![
        dominant(17),
        wall(2, 3),
        turning(14, 0.7).scaled(50, -30),
        Lcp::new("infeasible", dense(2, &[1.0, -1.0, -1.0, 1.0]), [-1.0, -1.0]),
        dominant(1),
        triangular(9).scaled(-60, 20),
        Lcp::new("diverging", dense(2, &[1.0, -3.0, -3.0, 1.0]), [-1.0, -1.0]),
        Lcp::new("nothing asked", dense(2, &[2.0, 1.0, 1.0, 2.0]), [0.0, 0.0]),
        dominant(30).scaled(60, 60),
        Lcp::new("empty", entries(0, 0, []), []),
        Lcp::new("ones", dense(2, &[1.0; 4]), [-1.0, -1.0]),
        dominant(8),
    ]
}

/// What the solver says of a problem by itself, in the format that batches use.
fn alone(device: &Device, lcp: &Lcp, params: LcpParams) -> (Vec<f32>, Option<texla::solve::LcpOutcome>) {
    let a = SparseMatrix::from_csr(device, lcp.a.clone(), SparseFormat::Gather).unwrap();
    let b = Vector::from_f64(device, &lcp.b).unwrap();
    let mut x = Vector::zeros(device, lcp.n()).unwrap();
    let solved = LcpSolver::new(&a, params).unwrap().solve(&mut x, &b);
    let outcome = match solved {
        Ok(report) => Some(report.outcome),
        Err(Error::Breakdown { .. }) => None,
        Err(e) => panic!("{}: {e}", lcp.name),
    };
    (x.read().unwrap(), outcome)
}

#[test]
fn every_problem_comes_out_as_if_it_were_alone() {
    on_both(|device| {
        let all = motley();
        let fixed = params(1e-3).with_relaxation(Relaxation::Fixed(0.5));
        for (tol, params) in [
            (1e-4, params(1e-4)),
            (1e-6, params(1e-6)),
            (1e-4, params(1e-4).with_relaxation(Relaxation::Estimated)),
            (1e-3, fixed),
            (1e-6, params(1e-6).with_max_sweeps(13)),
        ] {
            let batch = LcpBatch::new(device, &problems(&all)).unwrap();
            assert_eq!(batch.operator().format(), SparseFormat::Gather);
            let mut x = batch.start(&vec![0.0; all.iter().map(Lcp::n).sum()]).unwrap();
            let report = batch.solve(&mut x, params).unwrap();
            assert_eq!(report.outcome.len(), all.len());
            assert_eq!(report.readbacks_in_loop, 0);
            let parts = batch.split(&x).unwrap();
            let again = batch.natural_residuals(&x).unwrap();
            assert_eq!(again.len(), all.len());
            for (i, ((lcp, part), outcome)) in all.iter().zip(&parts).zip(&report.outcome).enumerate() {
                let label = format!("{} {params:?}", lcp.name);
                assert!(part.iter().all(|v| *v >= 0.0), "{label}");
                let found = again[i];
                assert_eq!(
                    (found.relative, found.accuracy),
                    (outcome.natural_residual, Accuracy::DoubleFloat)
                );
                let absolute = found.relative * lcp.unit();
                assert!((found.largest - absolute).abs() <= 1e-12 * absolute, "{label}: {found:?}");
                if outcome.reason != StopReason::Diverged {
                    assert_honest(lcp, part, outcome, tol);
                }
                let (x, own) = alone(device, lcp, params);
                assert_eq!(bits(part), bits(&x), "{label}");
                match own {
                    None => assert_eq!(outcome.reason, StopReason::Diverged, "{label}"),
                    Some(own) => {
                        assert_eq!(outcome.reason, own.reason, "{label}");
                        assert_eq!(outcome.sweeps, own.sweeps, "{label}");
                        assert_eq!(outcome.natural_residual, own.natural_residual, "{label}");
                        assert_eq!(outcome.scaled_residual, own.scaled_residual, "{label}");
                    }
                }
            }
        }
    });
}

#[test]
fn company_and_order_change_nothing() {
    on_both(|device| {
        let all = motley();
        let solve = |all: &[Lcp]| {
            let batch = LcpBatch::new(device, &problems(all)).unwrap();
            let mut x = batch.start(&vec![0.0; all.iter().map(Lcp::n).sum()]).unwrap();
            batch.solve(&mut x, params(1e-5)).unwrap();
            batch.split(&x).unwrap().iter().map(|p| bits(p)).collect::<Vec<_>>()
        };
        let first = solve(&all);
        assert_eq!(solve(&all), first, "again");
        let backwards: Vec<Lcp> = all.iter().rev().cloned().collect();
        let mut turned = solve(&backwards);
        turned.reverse();
        assert_eq!(turned, first, "backwards");
        for k in [1, 5, all.len()] {
            assert_eq!(solve(&all[..k]), first[..k], "the first {k}");
        }
    });
}

/// A problem whose unknowns are shuffled among those of others.
#[test]
fn one_problem_is_taken_apart_and_put_together() {
    on_both(|device| {
        let parts = [wall(2, 3), triangular(9), turning(14, 0.7), wall(1, 2)];
        let n: usize = parts.iter().map(Lcp::n).sum();
        let mut places: Vec<usize> = (0..n).collect();
        Rng::new(9).shuffle(&mut places);
        let (mut all, mut b, mut first) = (Vec::new(), vec![0.0; n], 0);
        let mut expected: Vec<Vec<usize>> = Vec::new();
        for part in &parts {
            let place = |i: usize| places[first + i];
            all.extend(part.a.entries().map(|(i, j, v)| (place(i), place(j), v)));
            (0..part.n()).for_each(|i| b[place(i)] = part.b[i]);
            let mut group: Vec<usize> = (0..part.n()).map(place).collect();
            group.sort_unstable();
            expected.push(group);
            first += part.n();
        }
        expected.sort();
        let whole = Lcp::new("shuffled", entries(n, n, all), b);
        assert_eq!(whole.a.independent_groups(), expected);
        let batch = LcpBatch::decompose(device, &whole.a, &whole.b).unwrap();
        assert_eq!(batch.groups(), expected);
        let start = random::uniform(3, n);
        let mut x = batch.start(&start).unwrap();
        assert_eq!(batch.read(&x).unwrap(), start, "there and back");
        let report = batch.solve(&mut x, params(1e-5)).unwrap();
        assert!(report.converged(), "{report:?}");
        let found = batch.read(&x).unwrap();
        let (natural, scaled) = whole.residuals(&found);
        assert!(natural <= 1.001e-5 && scaled <= 1.001e-5, "{natural:e} {scaled:e}");
        for ((group, part), outcome) in
            batch.groups().iter().zip(batch.split(&x).unwrap()).zip(&report.outcome)
        {
            let own: Vec<f32> = group.iter().map(|i| found[*i]).collect();
            assert_eq!(own, part);
            assert!(outcome.residual() <= 1e-5);
        }
        // The same problem whole meets the same bound.
        let (y, report) = crate::problems::solve(
            device,
            &whole,
            texla::MatrixFormat::Sparse(SparseFormat::Gather),
            params(1e-5),
        )
        .unwrap();
        assert!(report.converged());
        assert_honest(&whole, &y, &report.outcome, 1e-5);
    });
}

/// The paper's form with all problems in the same draws.
#[test]
fn fixed_sweeps_of_a_batch_are_those_of_its_problems() {
    on_both(|device| {
        let all: Vec<Lcp> =
            motley().into_iter().filter(|l| l.name != "diverging" && l.name != "empty").collect();
        let batch = LcpBatch::new(device, &problems(&all)).unwrap();
        let mut x = batch.start(&vec![0.0; all.iter().map(Lcp::n).sum()]).unwrap();
        ProjectedJacobi::new(batch.operator(), 0.1)
            .unwrap()
            .run(&mut x, batch.right_hand_side(), 25)
            .unwrap();
        for (lcp, part) in all.iter().zip(batch.split(&x).unwrap()) {
            let a = SparseMatrix::from_csr(device, lcp.a.clone(), SparseFormat::Gather).unwrap();
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let mut own = Vector::zeros(device, lcp.n()).unwrap();
            ProjectedJacobi::new(&a, 0.1).unwrap().run(&mut own, &b, 25).unwrap();
            assert_eq!(bits(&part), bits(&own.read().unwrap()), "{}", lcp.name);
        }
    });
}

/// As many draws for a hundred problems as for one: what the decomposition is for.
#[test]
fn draws_do_not_grow_with_the_number_of_problems() {
    on_both(|device| {
        let one = wall(2, 3);
        let draws = |count: usize| {
            let all = vec![one.clone(); count];
            let batch = LcpBatch::new(device, &problems(&all)).unwrap();
            let mut x = batch.start(&vec![0.0; count * one.n()]).unwrap();
            let report = batch.solve(&mut x, params(1e-4)).unwrap();
            assert!(report.converged());
            let parts = batch.split(&x).unwrap();
            assert!(parts.iter().all(|p| bits(p) == bits(&parts[0])));
            (report.draws_per_sweep, report.draws_per_test, report.outcome[0].sweeps)
        };
        let single = draws(1);
        assert_eq!(single.0, 2);
        // As many as the device's textures hold.
        let slots = crate::common::systems::slots(&one.a);
        let largest = texla::shape::max_folded_len(device.capabilities().max_texture_size);
        for count in [2, 9, 100] {
            if 2 * count as u64 * slots <= largest {
                assert_eq!(draws(count), single);
            }
        }
    });
}

#[test]
fn a_solution_is_a_start_that_takes_no_sweep() {
    on_both(|device| {
        let all: Vec<Lcp> =
            motley().into_iter().filter(|l| l.name != "diverging" && l.name != "infeasible").collect();
        let batch = LcpBatch::new(device, &problems(&all)).unwrap();
        let mut x = batch.start(&vec![0.0; all.iter().map(Lcp::n).sum()]).unwrap();
        batch.solve(&mut x, params(1e-4)).unwrap();
        let found = batch.read(&x).unwrap();
        let mut again = batch.start(&found).unwrap();
        let report = batch.solve(&mut again, params(1e-4)).unwrap();
        assert!(report.converged() && report.outcome.iter().all(|o| o.sweeps == 0), "{report:?}");
        assert_eq!(bits(&batch.read(&again).unwrap()), bits(&found));
    });
}

#[test]
fn no_problems_at_all() {
    on_both(|device| {
        let batch = LcpBatch::new(device, &[]).unwrap();
        let mut x = batch.start(&[]).unwrap();
        let report = batch.solve(&mut x, LcpParams::default()).unwrap();
        assert!(report.converged() && report.outcome.is_empty());
        assert!(batch.read(&x).unwrap().is_empty() && batch.split(&x).unwrap().is_empty());
        let nothing = entries(0, 0, []);
        assert!(LcpBatch::decompose(device, &nothing, &[]).unwrap().groups().is_empty());
    });
}

#[test]
fn what_does_not_suit_is_named_with_its_problem() {
    on_both(|device| {
        let good = wall(1, 2);
        let of = |a: &Csr, b: &[f64]| {
            LcpBatch::new(device, &[LcpProblem { a: &good.a, b: &good.b }, LcpProblem { a, b }]).err()
        };
        let matrix = |error: Option<Error>, text: &str| match error {
            Some(Error::Matrix { op: "LcpBatch", detail }) => {
                assert!(detail.contains(text) && detail.contains("problem 1"), "{detail}")
            }
            other => panic!("{text}: {other:?}"),
        };
        matrix(of(&dense(2, &[1.0, 0.0, 1.0, 0.0]), &[1.0, 1.0]), "entry 0 in row 1 (counted from 0)");
        matrix(of(&dense(2, &[-1.0, 0.0, 1.0, 0.0]), &[1.0, 1.0]), "entry -1 in row 0");
        matrix(of(&entries(2, 3, [(0, 0, 1.0)]), &[1.0, 1.0]), "2x3");
        let two = dense(2, &[2.0, 1.0, 1.0, 2.0]);
        assert!(matches!(of(&two, &[1.0]), Some(Error::LengthMismatch { found: 1, expected: 2, .. })));
        for bad in [f64::NAN, f64::INFINITY, 1e39] {
            assert!(matches!(of(&two, &[1.0, bad]), Some(Error::NonFinite { index: 1, .. })));
            assert!(matches!(
                of(&dense(2, &[2.0, bad, 1.0, 2.0]), &[1.0, 1.0]),
                Some(Error::NonFinite { index: 1, .. })
            ));
        }
        let unfit = LcpBatch::decompose(device, &two, &[1.0]).err();
        assert!(matches!(unfit, Some(Error::LengthMismatch { .. })), "{unfit:?}");
        let batch = LcpBatch::new(device, &[LcpProblem { a: &two, b: &[-1.0, -1.0] }]).unwrap();
        let short = batch.start(&[1.0]).err();
        assert!(matches!(short, Some(Error::LengthMismatch { found: 1, expected: 2, .. })), "{short:?}");
        // In the unit of the problem, which is about b's over the matrix': 2^-126, what 1 is is too large.
        let small = 2f64.powi(-120);
        let tiny = LcpBatch::new(device, &[LcpProblem { a: &two, b: &[small, small] }]).unwrap();
        for (batch, x, text) in
            [(&batch, f32::NAN, "LcpBatch::start: x"), (&tiny, 1e30, "LcpBatch::start: x in the unit")]
        {
            match batch.start(&[0.0, x]).err() {
                Some(Error::NonFinite { what, index: 1, .. }) => assert!(what.starts_with(text), "{what}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let wrong = batch.split(&Vector::zeros(device, 3).unwrap()).err();
        assert!(matches!(wrong, Some(Error::ShapeMismatch { .. })), "{wrong:?}");
        let mut x = Vector::zeros(device, 2).unwrap();
        assert!(matches!(batch.solve(&mut x, LcpParams::default()), Err(Error::ShapeMismatch { .. })));
        let mut x = batch.start(&[0.0; 2]).unwrap();
        assert!(matches!(batch.solve(&mut x, params(2.0)), Err(Error::Parameter { .. })));
    });
}
