//! "Converged" means converged: contacts that are apart say nothing about those that are not, and what is certified is
//! what the caller gets.

use crate::common::harness::on_both;
use crate::common::systems::csr;
use crate::common::{random, reference};
use crate::problems::{Lcp, assert_honest, dense, params, solve, wall};
use texla::solve::{LcpBatch, LcpProblem, LcpSolver, Relaxation, StopReason};
use texla::{Error, MatrixFormat, SparseFormat, StoredMatrix, Vector};

const RELAXATIONS: [Relaxation; 3] = [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(0.5)];

#[test]
fn a_contact_far_apart_changes_nothing_about_the_others() {
    on_both(|device| {
        let lcp = Lcp::new("one apart", dense(2, &[1.0, 0.0, 0.0, 1.0]), [-1.0, 1e6]);
        for relaxation in RELAXATIONS {
            let (x, report) =
                solve(device, &lcp, MatrixFormat::Auto, params(1e-4).with_relaxation(relaxation)).unwrap();
            assert!(report.converged(), "{report:?}");
            assert!((x[0] - 1.0).abs() <= 1e-4 && x[1] == 0.0, "{x:?}");
        }
        // A wall of contacts, and one free contact besides.
        let wall = wall(4, 4);
        let n = wall.n();
        let (alone, report) =
            solve(device, &wall, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-5)).unwrap();
        assert!(report.converged());
        let most = reference::max_abs(&wall.b);
        for factor in [1e2, 1e4, 1e12] {
            let a = texla::host::Triplets::from_entries(
                texla::Shape::new(n + 1, n + 1),
                wall.a.entries().chain([(n, n, 1.0)]),
            );
            let b: Vec<f64> = wall.b.iter().copied().chain([factor * most]).collect();
            let more = Lcp::new(&format!("free contact {factor:e}"), a.unwrap().to_csr(), b);
            let (x, report) =
                solve(device, &more, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-5)).unwrap();
            assert!(report.converged() && report.outcome.sweeps > 0, "{report:?}");
            assert_honest(&more, &x, &report.outcome, 1e-5);
            assert_eq!(x[n], 0.0);
            let (natural, scaled) = wall.residuals(&x[..n]);
            assert!(natural <= 1.001e-5 && scaled <= 1.001e-5, "{factor:e}: {natural:e} {scaled:e}");
        }
        assert!(alone.iter().any(|v| *v > 0.0));
    });
}

#[test]
fn zero_solves_what_nothing_presses() {
    on_both(|device| {
        let a =
            StoredMatrix::new(device, dense(3, &[2., 1., 0., 1., 2., 1., 0., 1., 2.]), MatrixFormat::Auto)
                .unwrap();
        for b in [[0.0, 0.0, 0.0], [1.0, 0.0, 1e-30], [1e30, 1.0, 5.0]] {
            let b = Vector::from_slice(device, &b).unwrap();
            let mut x = Vector::from_slice(device, &[1.0, 1e6, 3.0]).unwrap();
            let report = LcpSolver::new(&a, params(1e-4)).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.outcome.natural_residual == 0.0, "{report:?}");
            assert_eq!(x.read().unwrap(), [0.0; 3]);
        }
    });
}

#[test]
fn problems_of_any_size() {
    on_both(|device| {
        let a = csr(&random::spd(17, 10, 0.3));
        let b: Vec<f64> = random::uniform(18, 10).iter().map(|v| f64::from(*v)).collect();
        let base = Lcp::new("dominant", a, b);
        // By relaxation.
        let mut converged = [0; RELAXATIONS.len()];
        for e in [-120, -80, -40, 0, 40, 80, 120] {
            for f in [-120, -80, -40, 0, 40, 80, 120] {
                let lcp = base.scaled(e, f);
                for (relaxation, converged) in RELAXATIONS.into_iter().zip(&mut converged) {
                    let params = params(1e-5).with_relaxation(relaxation).with_max_sweeps(2000);
                    match solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params) {
                        // What vanishes at the door is refused there; what leaves the range is no solution.
                        Err(Error::Matrix { .. } | Error::NonFinite { .. } | Error::Breakdown { .. }) => {
                            continue;
                        }
                        Err(other) => panic!("{}: {other}", lcp.name),
                        Ok((x, report)) => {
                            *converged += u32::from(report.converged());
                            assert!(x.iter().all(|v| v.is_finite()), "{}: {x:?}", lcp.name);
                            let (natural, scaled) = lcp.residuals(&x);
                            let met = natural <= 1.001e-5 && scaled <= 1.001e-5;
                            assert!(met || !report.converged(), "{}: {natural:e} {scaled:e}", lcp.name);
                        }
                    }
                }
            }
        }
        assert!(converged.iter().all(|n| *n >= 20), "only {converged:?}");
    });
}

/// A batch holds its problems without their scales: those whose unknowns would be no floats with them are refused.
#[test]
fn a_batch_refuses_what_it_could_not_give_back() {
    on_both(|device| {
        let a = dense(1, &[2f64.powi(70)]);
        for (b, fine) in [(-(2f64.powi(-60)), false), (-1.0, true), (2f64.powi(-60), true)] {
            let found = LcpBatch::new(device, &[LcpProblem { a: &a, b: &[b] }]);
            match found {
                Ok(batch) => {
                    assert!(fine, "{b:e}");
                    let mut x = batch.start(&[0.0]).unwrap();
                    assert!(batch.solve(&mut x, params(1e-4)).unwrap().converged());
                    let x = f64::from(batch.read(&x).unwrap()[0]);
                    assert!((x * 2f64.powi(70) - (-b).max(0.0)).abs() <= 1e-4 * b.abs());
                }
                Err(Error::Matrix { op: "LcpBatch", detail }) => {
                    assert!(!fine && detail.contains("of problem 0") && detail.contains("2^-60"), "{detail}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    });
}

#[test]
fn a_start_that_hides_the_sides_is_no_solution() {
    on_both(|device| {
        // Any constant is mapped to zero, and a large one takes the sides with it.
        let w = 0.3;
        let lcp =
            Lcp::new("floating", dense(3, &[w, -w, 0.0, -w, 2.0 * w, -w, 0.0, -w, w]), [-1.0, 0.5, 0.75]);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        for start in [1e7, 1e10, 1e16, 1e30] {
            let mut x = Vector::filled(device, 3, start).unwrap();
            let report = LcpSolver::new(&a, params(1e-5)).unwrap().solve(&mut x, &b).unwrap();
            let x = x.read().unwrap();
            assert!(
                report.outcome.reason != StopReason::Converged || x.iter().all(|v| *v < 1e4),
                "{x:?} {report:?}"
            );
            assert_honest(&lcp, &x, &report.outcome, 1e-5);
        }
    });
}

/// Contacts that press with less than has room beside the others in 32 bits.
#[test]
fn what_has_no_room_beside_others_is_not_certified() {
    on_both(|device| {
        let eye = || dense(2, &[1.0, 0.0, 0.0, 1.0]);
        let problems = [
            Lcp::new("1e-37 and 1e38", eye(), [-1e-37, 1e38]),
            Lcp::new("1e-35 and 3e38", eye(), [-1e-35, 3e38]),
            Lcp::new("1e-37 and 1e30", eye(), [-1e-37, 1e30]),
            Lcp::new("three", dense(3, &[4., 1., 0., 1., 3., 0., 0., 0., 1.]), [-1e-28, -2e-28, 1e38]),
        ];
        for lcp in &problems {
            for relaxation in RELAXATIONS {
                for bound in [1e-4, 1e-6] {
                    let params = params(bound).with_relaxation(relaxation);
                    let (x, report) = solve(device, lcp, MatrixFormat::Auto, params).unwrap();
                    if report.converged() {
                        let (natural, _) = lcp.residuals(&x);
                        assert!(natural <= 1.001 * bound, "{}: {natural:e} {x:?} {report:?}", lcp.name);
                    }
                }
            }
        }
    });
}
