//! "Converged" means converged: contacts that are apart say nothing about those that are not, and what is certified is
//! what the caller gets.

use crate::common::harness::on_both;
use crate::common::systems::csr;
use crate::common::{random, reference};
use crate::problems::{Lcp, assert_honest, dense, params, solve, wall};
use texla::solve::{LcpBatch, LcpProblem, LcpSolver, Relaxation, StopReason, natural_residual};
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

/// Contacts that press with less than has room beside the others in 32 bits are refused: whatever were told of residuals
/// relative to them would be false. Up to there what is told is so.
/// Too large for anybody to tell how good it is, but nothing better was found.
#[test]
fn a_start_that_rounding_hides_is_kept_where_nothing_better_comes() {
    on_both(|device| {
        let lcp = Lcp::new("floating", dense(2, &[1.0, -1.0, -1.0, 1.0]), [-1.0, 1.0]);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let start = [(1u32 << 22) as f32 + 1.0, (1u32 << 22) as f32];
        let params = params(5e-7).with_max_sweeps(0);
        let batch = LcpBatch::new(device, &[LcpProblem { a: &lcp.a, b: &lcp.b }]).unwrap();
        let mut x = batch.start(&start).unwrap();
        let report = batch.solve(&mut x, params).unwrap();
        assert_eq!(batch.read(&x).unwrap(), start, "{report:?}");
        assert_eq!(report.outcome[0].reason, StopReason::MaxIterations);
        // Its residual is 0 exactly, and what is told has what rounding may have done in it.
        assert!((5e-7..1e-5).contains(&report.outcome[0].natural_residual), "{report:?}");
        let mut x = Vector::from_slice(device, &start).unwrap();
        let report = LcpSolver::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(x.read().unwrap(), start, "{report:?}");
        assert_eq!(report.outcome.reason, StopReason::MaxIterations);
    });
}

#[test]
fn what_has_no_room_beside_others_is_refused() {
    on_both(|device| {
        let eye = || dense(2, &[1.0, 0.0, 0.0, 1.0]);
        let problems = [
            Lcp::new("1e-37 and 1e38", eye(), [-1e-37, 1e38]),
            Lcp::new("1e-35 and 3e38", eye(), [-1e-35, 3e38]),
            Lcp::new("1e-37 and 1e30", eye(), [-1e-37, 1e30]),
            Lcp::new("1e-30 and 1e38", eye(), [-1e-30, 1e38]),
            Lcp::new("1e-2 and 1e38", eye(), [-1e-2, 1e38]),
            Lcp::new("1e-40 and 1", dense(2, &[1e-10, 0.0, 0.0, 1.0]), [-1e-40, 1.0]),
            Lcp::new("three", dense(3, &[4., 1., 0., 1., 3., 0., 0., 0., 1.]), [-1e-28, -2e-28, 1e38]),
        ];
        for lcp in &problems {
            for relaxation in RELAXATIONS {
                let params = params(1e-4).with_relaxation(relaxation);
                let found = solve(device, lcp, MatrixFormat::Auto, params).map(|found| found.1);
                assert!(matches!(found, Err(Error::Parameter { name: "b", .. })), "{}: {found:?}", lcp.name);
            }
            let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let zero = Vector::zeros(device, lcp.n()).unwrap();
            let found = natural_residual(&a, &zero, &b);
            assert!(matches!(found, Err(Error::Parameter { name: "b", .. })), "{}: {found:?}", lcp.name);
        }
        let within = [
            Lcp::new("1e-1 and 1e38", eye(), [-1e-1, 1e38]),
            Lcp::new("1e-8 and 1e30", eye(), [-1e-8, 1e30]),
            Lcp::new("1e-37 and 1e-3", eye(), [-1e-37, 1e-3]),
            Lcp::new("1e-37 and 10", dense(2, &[1e-10, 0.0, 0.0, 1.0]), [-1e-37, 10.0]),
            Lcp::new("positive below the range", eye(), [1e-40, 1.0]),
            Lcp::new("three", dense(3, &[4., 1., 0., 1., 3., 0., 0., 0., 1.]), [-1e-1, -2e-1, 1e38]),
        ];
        for lcp in &within {
            let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let zero = Vector::zeros(device, lcp.n()).unwrap();
            let relative = natural_residual(&a, &zero, &b).unwrap().relative;
            let (one, _) = lcp.residuals(&vec![0.0; lcp.n()]);
            assert!((relative - one).abs() <= 1e-6, "{}: {relative:e} of zero", lcp.name);
            for relaxation in RELAXATIONS {
                for bound in [1e-4, 1e-6] {
                    let params = params(bound).with_relaxation(relaxation);
                    let (x, report) = solve(device, lcp, MatrixFormat::Auto, params).unwrap();
                    let (natural, scaled) = lcp.residuals(&x);
                    let outcome = &report.outcome;
                    assert!(
                        !report.converged() || natural <= 1.001 * bound,
                        "{}: {natural:e} {report:?}",
                        lcp.name
                    );
                    for (told, so) in [(outcome.natural_residual, natural), (outcome.scaled_residual, scaled)]
                    {
                        assert!(
                            (told - so).abs() <= 1e-5 * so + 1e-9,
                            "{}: {told:e}, {so:e} is so",
                            lcp.name
                        );
                    }
                }
            }
        }
    });
}

/// What 32 bits have no room for has some in a batch, which scales in 64 bits; what has none is refused.
#[test]
fn a_batch_solves_the_problems_it_was_given() {
    on_both(|device| {
        for (a, b) in
            [(1e-50, -1e-50), (1e-42, -1e-42), (1e-44, -1e-44), (1e-45, -1.3e-45), (1e-300, -1e-300)]
        {
            let one = dense(1, &[a]);
            let other = dense(1, &[2.0]);
            let problems = [LcpProblem { a: &one, b: &[b] }, LcpProblem { a: &other, b: &[-1.0] }];
            let batch = LcpBatch::new(device, &problems).unwrap();
            let mut x = batch.start(&[0.0; 2]).unwrap();
            assert!((batch.natural_residuals(&x).unwrap()[0].relative - 1.0).abs() <= 1e-6);
            let report = batch.solve(&mut x, params(1e-5)).unwrap();
            assert!(report.converged(), "{a:e} x = {b:e}: {report:?}");
            let x = f64::from(batch.read(&x).unwrap()[0]);
            assert!((x * a + b).abs() <= 1.001e-5 * -b, "{a:e} x + {b:e}: {x:e}");
        }
        for (a, b) in
            [([1.0, 1.0], [-1e-50, 0.0]), ([1e-30, 1.0], [-1e-50, 1.0]), ([1.0, 1.0], [-1e-300, 1.0])]
        {
            let a = dense(2, &[a[0], 0.0, 0.0, a[1]]);
            let found = LcpBatch::new(device, &[LcpProblem { a: &a, b: &b }]).map(|_| ());
            let refused = matches!(found, Err(Error::Matrix { .. } | Error::Parameter { name: "b", .. }));
            assert!(refused, "{b:?}: {found:?}");
        }
        let a = dense(2, &[1e-50, 0.0, 0.0, 1e-50]);
        let batch = LcpBatch::decompose(device, &a, &[-1e-50, -1e-20]).unwrap();
        let mut x = batch.start(&[0.0; 2]).unwrap();
        assert!(batch.solve(&mut x, params(1e-5)).unwrap().converged());
        let x = batch.read(&x).unwrap();
        assert!((x[0] - 1.0).abs() <= 2e-5 && (x[1] / 1e30 - 1.0).abs() <= 2e-5, "{x:?}");
    });
}

/// Elements of `x` that are residuals themselves are in the range of what is measured.
#[test]
fn a_natural_residual_of_a_large_negative_x_is_a_number() {
    on_both(|device| {
        for (e, f, x) in [(-136, -96, 46), (-100, 100, 20), (-60, -100, -3), (0, 0, 126)] {
            let a = dense(2, &[2f64.powi(e), 0.0, 0.0, 2f64.powi(e)]);
            let lcp = Lcp::new("negative", a, [-(2f64.powi(f)), 2f64.powi(f)]);
            let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let at = [2f32.powi(x), -(2f32.powi(x))];
            let found = natural_residual(&a, &Vector::from_slice(device, &at).unwrap(), &b).unwrap();
            let (natural, _) = lcp.residuals(&at);
            let near = (found.relative / natural - 1.0).abs() <= 1e-6;
            assert!(near, "A 2^{e}, b 2^{f}, x 2^{x}: {:e}, {natural:e} is so", found.relative);
        }
    });
}
