//! The form to depend on: it converges, and what it says is so.

use crate::common::bounds::{TINY, U, assert_componentwise, gamma, product_bounds};
use crate::common::harness::{on_both, on_both_with};
use crate::common::systems::{apply, apply_abs, gather_fits, rounded, row_terms};
use crate::common::worst::worst;
use crate::common::{data, random, reference};
use crate::problems::{
    Lcp, assert_honest, bits, correlated, dense, entries, flow, generated, mixed, obstacle, params, solve,
    wall,
};
use texla::solve::{LcpParams, LcpSolver, ProjectedJacobi, Relaxation, Stop, StopReason};
use texla::{Device, Error, MatrixFormat, SparseFormat, StoredMatrix, Vector};

fn from(device: &Device, lcp: &Lcp, params: LcpParams, start: &[f32]) -> (Vec<f32>, texla::solve::LcpReport) {
    let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
    let b = Vector::from_f64(device, &lcp.b).unwrap();
    let mut x = Vector::from_slice(device, start).unwrap();
    let report =
        LcpSolver::new(&a, params).unwrap().solve(&mut x, &b).unwrap_or_else(|e| panic!("{}: {e}", lcp.name));
    (x.read().unwrap(), report)
}

#[test]
fn problems_of_many_kinds_converge() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            for relaxation in [Relaxation::Accelerated, Relaxation::Estimated] {
                for tol in [1e-3, 1e-4] {
                    let params = params(tol).with_relaxation(relaxation);
                    let label = format!("{} {relaxation:?} {tol:e}", lcp.name);
                    let (x, report) = solve(device, &lcp, MatrixFormat::Auto, params)
                        .unwrap_or_else(|e| panic!("{label}: {e}"));
                    if std::env::var_os("TEXLA_TEST_VERBOSE").is_some() {
                        data::say(&format!("{label}: {:?} {}", report.outcome, report.certifications));
                    }
                    assert_eq!(report.outcome.reason, StopReason::Converged, "{label}: {report:?}");
                    assert_honest(&lcp, &x, &report.outcome, tol);
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    assert!(report.history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}");
                    assert!(report.outcome.sweeps <= 2000, "{label}: {} sweeps", report.outcome.sweeps);
                    // Momentum where A is symmetric, and nowhere else.
                    let expected = relaxation == Relaxation::Accelerated && lcp.symmetric();
                    assert_eq!(report.outcome.accelerated, expected, "{label}");
                }
            }
        }
    });
}

#[test]
fn sizes_that_tend_to_go_wrong() {
    on_both(|device| {
        for n in [0, 1, 2, 3, 5, 9, 50, 127, 1000] {
            let a = crate::common::systems::csr(&random::spd(n as u64, n, (8.0 / n.max(1) as f64).min(0.7)));
            let (x, slack) = mixed(n as u64, n);
            let lcp = Lcp::with_solution(&format!("dominant {n}"), a, &x, &slack);
            let (found, report) =
                solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-5)).unwrap();
            assert_eq!(report.outcome.reason, StopReason::Converged, "{n}: {report:?}");
            assert_honest(&lcp, &found, &report.outcome, 1e-5);
            // Diagonally dominant by an eighth of the others at least: the inverse is at most 9 / a_ii.
            let largest = lcp.unit();
            for (i, (x, want)) in found.iter().zip(&x).enumerate() {
                let bound =
                    9.0 * 1.1e-5 * largest / lcp.a.diagonal().iter().copied().fold(f64::MAX, f64::min);
                assert!((f64::from(*x) - want).abs() <= bound, "{n}: element {i} is {x}, not {want}");
            }
        }
    });
}

/// `λ_max(D⁻¹ A)` is 2.5: relaxation 1 oscillates (see the tests of the paper's form), this one finds its own.
#[test]
fn a_contact_problem_without_a_word_on_the_relaxation() {
    on_both(|device| {
        let (x, _) = mixed(5, 128);
        let positive: Vec<f64> = x.iter().map(|v| 0.5 + v).collect();
        let lcp = Lcp::with_solution("contacts", correlated(8, 16, 0.1), &positive, &vec![0.0; 128]);
        let (found, report) = solve(device, &lcp, MatrixFormat::Auto, LcpParams::default()).unwrap();
        assert!(report.converged(), "{report:?}");
        assert_honest(&lcp, &found, &report.outcome, 1e-4);
        let estimate = report.outcome.lambda_max.unwrap();
        assert!((2.3..=2.5 + 1e-4).contains(&estimate), "{estimate}");
        assert!(report.outcome.omega < 0.8 && report.outcome.omega > 0.3);
        let fixed = params(1e-4).with_relaxation(Relaxation::Fixed(1.0)).with_max_sweeps(3000);
        let (x, report) = solve(device, &lcp, MatrixFormat::Auto, fixed).unwrap();
        assert!(
            matches!(report.outcome.reason, StopReason::Stagnated | StopReason::MaxIterations),
            "{report:?}"
        );
        assert_honest(&lcp, &x, &report.outcome, 1e-4);
        assert_eq!(report.outcome.lambda_max, None);
    });
}

/// The estimate never exceeds the eigenvalue of a symmetric matrix, but for rounding, and comes near it.
#[test]
fn the_estimate_comes_from_below() {
    on_both(|device| {
        for (lcp, largest) in [
            (Lcp::new("ones", dense(2, &[1.0; 4]), [-1.0, -1.0]), 2.0),
            // With a start of ones, the estimate would be zero.
            (Lcp::new("alternating", dense(2, &[1.0, -1.0, -1.0, 1.0]), [1.0, -1.0]), 2.0),
            (Lcp::new("diagonal", entries(5, 5, (0..5).map(|i| (i, i, 1.0 + i as f64))), [-1.0; 5]), 1.0),
            (Lcp::new("group", correlated(3, 20, 0.5), [-1.0; 60]), 10.5),
            (obstacle(24), 1.0 + (std::f64::consts::PI / 25.0).cos()),
        ] {
            let (_, report) =
                solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-4)).unwrap();
            let estimate = report.outcome.lambda_max.unwrap();
            let label = &lcp.name;
            assert!(estimate <= largest * (1.0 + 1e-5), "{label}: {estimate} is more than {largest}");
            assert!(estimate >= 0.93 * largest, "{label}: {estimate} is far below {largest}");
            assert!(report.converged(), "{label}");
        }
    });
}

/// The reason for momentum: sweeps grow with the square root of the condition number, not with the number itself.
#[test]
fn momentum_pays() {
    on_both(|device| {
        for (lcp, times) in [(wall(6, 10), 4), (obstacle(32), 4), (wall(1, 10), 6)] {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            let sweeps = |relaxation| {
                let (x, report) =
                    solve(device, &lcp, MatrixFormat::Auto, params(1e-4).with_relaxation(relaxation))
                        .unwrap();
                assert!(report.converged(), "{}: {report:?}", lcp.name);
                assert_honest(&lcp, &x, &report.outcome, 1e-4);
                report.outcome.sweeps
            };
            let (with, without) = (sweeps(Relaxation::Accelerated), sweeps(Relaxation::Estimated));
            assert!(with * times <= without, "{}: {with} and {without}", lcp.name);
        }
    });
}

#[test]
fn a_start_at_the_solution_takes_no_sweep() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            let (x, first) = from(device, &lcp, params(1e-4), &vec![0.0; lcp.n()]);
            let (y, again) = from(device, &lcp, params(1e-4), &x);
            assert_eq!(
                (again.outcome.sweeps, again.outcome.reason),
                (0, StopReason::Converged),
                "{}",
                lcp.name
            );
            assert_eq!(bits(&x), bits(&y), "{}", lcp.name);
            assert_eq!(again.outcome.residual(), first.outcome.residual());
            // A start near the solution is not worse than none.
            let near: Vec<f32> = x.iter().map(|v| v * 1.0005).collect();
            let (_, warm) = from(device, &lcp, params(1e-4), &near);
            assert!(warm.outcome.sweeps <= first.outcome.sweeps + 8, "{}", lcp.name);
        }
    });
}

#[test]
fn starts_of_any_sign_and_size() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            for size in [1.0f32, 1e6, 1e30] {
                let start: Vec<f32> = random::uniform(2, lcp.n()).iter().map(|v| v * size).collect();
                let (x, report) = from(device, &lcp, params(1e-3), &start);
                assert!(report.converged(), "{} from {size:e}: {report:?}", lcp.name);
                assert_honest(&lcp, &x, &report.outcome, 1e-3);
            }
        }
    });
}

#[test]
fn a_right_hand_side_that_asks_for_nothing_gives_zero() {
    on_both(|device| {
        for mut lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            lcp.b.fill(0.0);
            let (x, report) = from(device, &lcp, params(1e-4), &vec![3.0; lcp.n()]);
            assert!(x.iter().all(|v| *v == 0.0));
            assert_eq!((report.outcome.reason, report.outcome.sweeps), (StopReason::Converged, 0));
            lcp.b.fill(1.0);
            let (x, report) = from(device, &lcp, params(1e-4), &vec![0.0; lcp.n()]);
            assert!(x.iter().all(|v| *v == 0.0));
            assert_eq!(
                (report.outcome.reason, report.outcome.natural_residual),
                (StopReason::Converged, 0.0)
            );
        }
    });
}

/// A sweep with momentum in f64 from two iterates of the device's.
fn sweep(lcp: &Lcp, omega: f64, beta: f64, x: &[f32], before: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let a = rounded(&lcp.a);
    let (x, before) = (reference::widen(x), reference::widen(before));
    let w = |x: &[f64]| reference::add(&apply(&a, x), &lcp.b);
    let error = |x: &[f64]| {
        let sums = reference::add(&apply_abs(&a, x), &reference::abs(&lcp.b));
        product_bounds(&sums, row_terms(&a).into_iter().map(|k| k + 1))
    };
    let (w0, w1, e0, e1) = (w(&x), w(&before), error(&x), error(&before));
    let d = lcp.a.diagonal();
    let on = |v: f64, old: f64| v + beta * (v - old);
    let want =
        (0..x.len()).map(|i| (on(x[i], before[i]) - omega / d[i] * on(w0[i], w1[i])).max(0.0)).collect();
    // v and y take three roundings each and that of beta's two, 1 / d one, its products two, the difference one.
    let size = |v: f64, old: f64| v.abs() + beta * (v.abs() + old.abs());
    let bound = (0..x.len()).map(|i| {
        let v = size(w0[i], w1[i]) + size(e0[i], e1[i]);
        let product = omega / d[i] * (size(e0[i], e1[i]) * (1.0 + gamma(9)) + gamma(9) * v);
        product + gamma(6) * size(x[i], before[i]) + 20.0 * TINY
    });
    (want, bound.collect())
}

/// The iterates themselves, by letting the solver run for 0, 1, 2, ... sweeps.
#[test]
fn every_sweep_is_within_its_bound() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            for relaxation in [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(0.3)] {
                let iterate = |max_sweeps| {
                    let params = LcpParams::default()
                        .with_max_sweeps(max_sweeps)
                        .with_relaxation(relaxation)
                        .with_stop(Stop::relative(1e-12));
                    let (x, report) =
                        solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params).unwrap();
                    assert_eq!(report.outcome.sweeps, max_sweeps, "{} {relaxation:?}", lcp.name);
                    assert_eq!(report.outcome.reason, StopReason::MaxIterations);
                    (x, report)
                };
                let (mut before, mut now) = (vec![0.0; lcp.n()], vec![0.0; lcp.n()]);
                // Up to the first test, that changes relaxation and momentum.
                for k in 0..8 {
                    let (next, report) = iterate(k + 1);
                    let outcome = &report.outcome;
                    if outcome.residual() >= report.history[0].residual {
                        // Worse than the start, which is then what comes back.
                        break;
                    }
                    let beta = if outcome.accelerated { k as f64 / (k as f64 + 3.0) } else { 0.0 };
                    let (want, bound) = sweep(&lcp, outcome.omega, beta, &now, &before);
                    let label = format!("{} {relaxation:?} sweep {k}", lcp.name);
                    let ratio = assert_componentwise(&label, &next, &want, &bound);
                    assert!(ratio <= 1.0);
                    before = std::mem::replace(&mut now, next);
                }
            }
        }
    });
}

/// With a relaxation that is a power of two, the scales inside and out are too: the paper's form to the bit.
#[test]
fn a_fixed_relaxation_is_the_papers_form() {
    on_both(|device| {
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            let a =
                StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            for sweeps in [1, 7, 8, 9, 33] {
                let stop = Stop::relative(1e-12);
                let params = LcpParams::default()
                    .with_max_sweeps(sweeps)
                    .with_relaxation(Relaxation::Fixed(0.25))
                    .with_stop(stop);
                let mut x = Vector::zeros(device, lcp.n()).unwrap();
                let report = LcpSolver::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
                let mut y = Vector::zeros(device, lcp.n()).unwrap();
                ProjectedJacobi::new(&a, 0.25).unwrap().run(&mut y, &b, sweeps).unwrap();
                // Else the start was better, and is what comes back.
                if report.outcome.residual() < report.history[0].residual {
                    let label = format!("{} after {sweeps}", lcp.name);
                    let (x, y) = (x.read().unwrap(), y.read().unwrap());
                    let largest = y.iter().copied().fold(0.0, worst);
                    for (x, y) in x.iter().zip(&y) {
                        // omega / d is rounded in another place where d is no power of two.
                        let allowed = 1e-5 * largest;
                        assert!((x - y).abs() <= allowed, "{label}: {x} and {y}");
                    }
                    if lcp.name.starts_with("obstacle") || lcp.name.starts_with("flow") {
                        assert_eq!(bits(&x), bits(&y), "{label}");
                    }
                }
            }
        }
    });
}

#[test]
fn bounds_past_32_bits_stagnate_and_say_so() {
    on_both(|device| {
        for lcp in [wall(4, 4), flow(100, 0.5), generated().remove(0)] {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            let (x, report) = solve(device, &lcp, MatrixFormat::Auto, params(1e-9)).unwrap();
            let outcome = &report.outcome;
            assert_honest(&lcp, &x, outcome, 1e-9);
            assert_eq!(outcome.reason, StopReason::Stagnated, "{}: {report:?}", lcp.name);
            assert!(outcome.residual() < 1e-5, "{}: {report:?}", lcp.name);
            assert!(outcome.sweeps < 20_000, "{}: {report:?}", lcp.name);
        }
    });
}

/// Neither a bound on x nor a solution: w_1 + w_2 = -2 whatever x is.
#[test]
fn a_problem_without_solution_is_no_success() {
    on_both(|device| {
        let lcp = Lcp::new("infeasible", dense(2, &[1.0, -1.0, -1.0, 1.0]), [-1.0, -1.0]);
        for relaxation in [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(0.5)] {
            let (x, report) =
                solve(device, &lcp, MatrixFormat::Auto, params(1e-4).with_relaxation(relaxation)).unwrap();
            assert_eq!(report.outcome.reason, StopReason::Stagnated, "{report:?}");
            assert_honest(&lcp, &x, &report.outcome, 1e-4);
            assert!(report.outcome.natural_residual >= 1.0 - 1e-6);
        }
    });
}

/// Every sweep multiplies: an error with the number in it, and no NaN comes out.
#[test]
fn divergence_is_a_typed_error() {
    on_both(|device| {
        let lcp = Lcp::new("no P-matrix", dense(2, &[1.0, -3.0, -3.0, 1.0]), [-1.0, -1.0]);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        for relaxation in [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(1.0)] {
            let mut x = Vector::from_slice(device, &[0.25, 0.5]).unwrap();
            match LcpSolver::new(&a, params(1e-4).with_relaxation(relaxation)).unwrap().solve(&mut x, &b) {
                Err(Error::Breakdown { solver: "projected Jacobi", iteration, value, quantity, .. }) => {
                    let least = if relaxation == Relaxation::Fixed(1.0) { 1e15 } else { 1e3 };
                    assert!(iteration > 0 && value > least, "{relaxation:?}: {iteration} {value:e}");
                    assert!(quantity.contains("min(x, Ax + b)"));
                }
                other => panic!("{relaxation:?}: {other:?}"),
            }
            assert_eq!(x.read().unwrap(), [0.25, 0.5], "the best that was computed is the start");
        }
    });
}

/// The solution is 2^160, which no 32-bit float is: among the causes that the error names there is this one.
#[test]
fn a_solution_out_of_range_is_one_of_the_causes() {
    on_both(|device| {
        let lcp = Lcp::new("out of range", dense(1, &[2f64.powi(-100)]), [-(2f64.powi(60))]);
        match solve(device, &lcp, MatrixFormat::Auto, params(1e-4)) {
            Err(Error::Breakdown { expected, .. }) => {
                assert!(expected.contains("one that leaves the range of 32-bit floats"), "{expected}");
                assert!(!expected.contains("  "), "{expected}");
            }
            other => panic!("{:?}", other.map(|(x, report)| (x, report.outcome))),
        }
    });
}

#[test]
fn max_sweeps_is_kept_to_exactly() {
    on_both(|device| {
        let lcp = obstacle(16);
        for relaxation in [Relaxation::Accelerated, Relaxation::Fixed(0.25)] {
            for count in [0, 1, 2, 7, 8, 9, 16, 17] {
                for every in [1, 16] {
                    let stop = Stop::relative(1e-10).check_every(every);
                    let params = LcpParams::default()
                        .with_max_sweeps(count)
                        .with_relaxation(relaxation)
                        .with_stop(stop);
                    let (_, report) = solve(device, &lcp, MatrixFormat::Auto, params).unwrap();
                    assert_eq!(
                        (report.outcome.sweeps, report.outcome.reason),
                        (count, StopReason::MaxIterations),
                        "{relaxation:?} every {every}"
                    );
                }
            }
        }
    });
}

/// With textures of 64 texels, formats and sums change; the verdict does not.
#[test]
fn small_textures() {
    let limits = crate::common::harness::limits().with_max_texture_size(Some(64));
    on_both_with(limits, |device| {
        for lcp in generated() {
            let (x, report) = solve(device, &lcp, MatrixFormat::Auto, params(1e-4)).unwrap();
            assert!(report.converged(), "{}: {report:?}", lcp.name);
            assert_honest(&lcp, &x, &report.outcome, 1e-4);
        }
        let too_long = Vector::zeros(device, 16_385).err();
        assert!(matches!(too_long, Some(Error::TooLarge { .. })));
    });
    assert_eq!(U, f64::from(f32::EPSILON) / 2.0);
}
