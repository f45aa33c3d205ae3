//! Least squares: real matrices, both shapes against the f64 twin, scaling, typed errors.

use crate::common::harness::on_both;
use crate::common::{random, reference};
use crate::systems::{self, bits, entries, fits, mapped, norm, normal_residual};
use texla::host::Csr;
use texla::solve::{Cgls, CglsParams, Identity, Jacobi, Preconditioner, SolveReport, Stop, StopReason};
use texla::{Device, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

/// Iterations in 32 bits on a CPU, to 1e-6.
const F32: [(&str, usize); 4] = [("ash219", 17), ("illc1033", 200), ("lp_share1b", 343), ("well1850", 334)];

fn solve(
    device: &Device,
    (a, b): (&Csr, &[f64]),
    format: MatrixFormat,
    jacobi: bool,
    params: CglsParams,
    start: &[f32],
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, a.clone(), format)?;
    let b = Vector::from_f64(device, b)?;
    let mut x = Vector::from_slice(device, start)?;
    let m: Box<dyn Preconditioner> =
        if jacobi { Box::new(Jacobi::for_least_squares(&a)?) } else { Box::new(Identity) };
    let report = Cgls::preconditioned(&a, m.as_ref(), params)?.solve(&mut x, &b)?;
    Ok((x.read()?, report))
}

fn to(tol: f64) -> CglsParams {
    CglsParams::default().with_stop(Stop::relative(tol))
}

#[test]
fn real_matrices() {
    let matrices = systems::data_matrices(&[("rect", 4)], "least squares with real matrices");
    on_both(|device| {
        for (name, a) in &matrices {
            if !fits(device, a, MatrixFormat::Sparse(SparseFormat::Gather)) {
                continue;
            }
            let b = systems::rhs_of_ones(a);
            let zeros = vec![0.0; a.shape().cols];
            let (x, report) =
                solve(device, (a, &b), MatrixFormat::Sparse(SparseFormat::Gather), false, to(1e-6), &zeros)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
            let residual = normal_residual(a, &x, &b);
            let said = report.true_residual;
            assert!((said - residual).abs() <= 0.05 * residual, "{name}: {said:e}, f64 {residual:e}");
            assert_eq!(report.reason, StopReason::Converged, "{name}: {report:?}");
            assert!(residual <= 2e-6, "{name}: {residual:e}");
            if let Some((_, count)) = F32.iter().find(|f| name.contains(f.0)) {
                let most = count + count / 2;
                assert!(
                    report.iterations <= most,
                    "{name}: {} iterations, at most {most}",
                    report.iterations
                );
            }
            assert_eq!(report.readbacks_in_loop, 0);
        }
    });
}

/// `[D; R]` with a diagonal of at least 1 over a sparse part: no singular value is below 1.
fn tall(seed: u64, cols: usize, more: usize) -> Csr {
    let mut list: Vec<_> = random::nonzero(seed, cols)
        .iter()
        .enumerate()
        .map(|(i, v)| (i, i, f64::from(v.signum()) * (0.5 + f64::from(v.abs()))))
        .collect();
    let below = random::sparse(seed + 1, more, cols, 0.1);
    list.extend(below.triplets().into_iter().map(|(i, j, v)| (cols + i, j, f64::from(v))));
    entries(cols + more, cols, list)
}

#[test]
fn over_and_underdetermined_systems_agree_with_the_twin() {
    on_both(|device| {
        for (cols, more) in [(1, 0), (1, 3), (20, 17), (63, 130)] {
            for wide in [false, true] {
                let a = if wide { tall(3, cols, more).transposed() } else { tall(3, cols, more) };
                let (m, n) = (a.shape().rows, a.shape().cols);
                // Not in the range of A where that is not everything.
                let b: Vec<f64> = reference::widen(&random::uniform(4, m));
                let t = a.transposed();
                let (apply, apply_t) = (|v: &[f64]| systems::apply(&a, v), |v: &[f64]| systems::apply(&t, v));
                let twin = reference::cgls(apply, apply_t, &b, &vec![0.0; n], 1e-13, 2000);
                assert!(twin.converged);
                let tol = 1e-5;
                for format in
                    [MatrixFormat::Sparse(SparseFormat::Gather), MatrixFormat::Sparse(SparseFormat::Points)]
                {
                    if format == MatrixFormat::Sparse(SparseFormat::Points)
                        && !device.capabilities().float_blend
                    {
                        continue;
                    }
                    for jacobi in [false, true] {
                        // With a preconditioner the solution of least norm is that of another norm.
                        if jacobi && wide && more > 0 {
                            continue;
                        }
                        let label = format!("{m}x{n} {format:?} jacobi {jacobi}");
                        let (x, report) =
                            solve(device, (&a, &b), format, jacobi, to(tol), &vec![0.0; n]).unwrap();
                        assert_eq!(report.reason, StopReason::Converged, "{label}: {report:?}");
                        assert!(normal_residual(&a, &x, &b) <= 2.0 * tol, "{label}");
                        // ‖x - x*‖ <= ‖Aᵀr‖ / s², s >= 1; and the rounding of updates that add up to x.
                        let error = norm(&reference::sub(&reference::widen(&x), &twin.x));
                        let bound = 2.0 * tol * norm(&systems::apply(&t, &b))
                            + 4.0 * crate::common::bounds::U * report.iterations as f64 * norm(&twin.x);
                        assert!(error <= bound, "{label}: error {error:e}, bound {bound:e}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_start_at_the_solution_takes_no_iteration() {
    on_both(|device| {
        let a = tall(5, 40, 30);
        let start = vec![1.0; 40];
        // b = A 1 as 32 bits hold it: what rounding took is far below the bound.
        let b = systems::rhs_of_ones(&a);
        let (x, report) = solve(device, (&a, &b), MatrixFormat::Auto, false, to(1e-5), &start).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
        assert_eq!(bits(&x), bits(&start));
        // Starting nearly there.
        let near: Vec<f32> = random::uniform(6, 40).iter().map(|v| 1.0 + v * 1e-3).collect();
        let (_, warm) = solve(device, (&a, &b), MatrixFormat::Auto, false, to(1e-5), &near).unwrap();
        let (_, cold) = solve(device, (&a, &b), MatrixFormat::Auto, false, to(1e-5), &[0.0; 40]).unwrap();
        assert!(warm.converged() && warm.iterations < cold.iterations, "{warm:?} {cold:?}");
    });
}

#[test]
fn a_huge_start_is_come_back_from() {
    on_both(|device| {
        let a = tall(11, 40, 30);
        let b = systems::rhs_of_ones(&a);
        for size in [1e3f32, 1e12, 1e30] {
            let start: Vec<f32> = random::uniform(12, 40).iter().map(|v| v * size).collect();
            for jacobi in [false, true] {
                let (x, report) = solve(device, (&a, &b), MatrixFormat::Auto, jacobi, to(1e-5), &start)
                    .unwrap_or_else(|e| panic!("{size:e}: {e}"));
                assert_eq!(report.reason, StopReason::Converged, "{size:e}: {report:?}");
                assert!(normal_residual(&a, &x, &b) <= 2e-5, "{size:e}");
            }
        }
    });
}

#[test]
fn a_right_hand_side_that_no_column_sees_has_the_solution_zero() {
    on_both(|device| {
        let a = entries(3, 2, [(0, 0, 1.0), (1, 1, 2.0)]);
        for b in [[0.0; 3], [0.0, 0.0, 5.0]] {
            for start in [0.0, 4.0] {
                let (x, report) =
                    solve(device, (&a, &b), MatrixFormat::Auto, false, to(1e-6), &[start; 2]).unwrap();
                assert!(report.converged() && report.iterations == 0, "{report:?}");
                assert_eq!(x, [0.0, 0.0]);
            }
        }
        // No unknowns, no equations.
        for (m, n) in [(0, 0), (3, 0), (0, 3)] {
            let empty = entries(m, n, []);
            let b = vec![1.0; m];
            let (x, report) =
                solve(device, (&empty, &b), MatrixFormat::Auto, false, to(1e-6), &vec![2.0; n]).unwrap();
            assert!(report.converged() && x.iter().all(|v| *v == 0.0), "{m}x{n}: {report:?}");
        }
    });
}

#[test]
fn a_column_of_zeros_is_named_by_jacobi() {
    on_both(|device| {
        let a = entries(4, 3, [(0, 0, 1.0), (3, 0, 2.0), (1, 2, 3.0), (2, 1, 0.0)]);
        match solve(
            device,
            (&a, &[1.0; 4]),
            MatrixFormat::Sparse(SparseFormat::Gather),
            true,
            to(1e-5),
            &[0.0; 3],
        ) {
            Err(Error::Matrix { op: "Jacobi", detail }) => {
                assert!(detail.contains("column 0 at 1"), "{detail}");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn scaled_systems_take_the_same_iterations_to_the_same_bits() {
    on_both(|device| {
        let a = tall(7, 50, 60);
        let b = reference::widen(&random::uniform(8, 110));
        let zeros = vec![0.0; 50];
        for jacobi in [false, true] {
            let (x, report) =
                solve(device, (&a, &b), MatrixFormat::Sparse(SparseFormat::Gather), jacobi, to(1e-5), &zeros)
                    .unwrap();
            assert!(report.converged());
            for (e, f) in [(60, 60), (-60, -60), (60, 0), (-60, 0), (0, 60), (0, -60)] {
                let scaled_a = mapped(&a, |v| v * 2f64.powi(e));
                let scaled_b: Vec<f64> = b.iter().map(|v| v * 2f64.powi(f)).collect();
                let label = format!("A 2^{e}, b 2^{f}, jacobi {jacobi}");
                let (y, other) = solve(
                    device,
                    (&scaled_a, &scaled_b),
                    MatrixFormat::Sparse(SparseFormat::Gather),
                    jacobi,
                    to(1e-5),
                    &zeros,
                )
                .unwrap_or_else(|e| panic!("{label}: {e}"));
                assert_eq!((other.iterations, other.reason), (report.iterations, report.reason), "{label}");
                let back: Vec<f32> = y.iter().map(|v| (f64::from(*v) * 2f64.powi(e - f)) as f32).collect();
                assert_eq!(bits(&back), bits(&x), "{label}");
            }
        }
    });
}

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        let a = tall(9, 60, 45);
        let b = reference::widen(&random::uniform(10, 105));
        let run = |every, max_iters| {
            let stop = Stop::relative(1e-5).check_every(every);
            let params = CglsParams::default().with_stop(stop).with_max_iters(max_iters);
            let (x, report) =
                solve(device, (&a, &b), MatrixFormat::Sparse(SparseFormat::Gather), true, params, &[0.0; 60])
                    .unwrap();
            (bits(&x), report.iterations, report.reason, report.true_residual)
        };
        for max_iters in [3, 5000] {
            let once = run(1, max_iters);
            if max_iters == 3 {
                assert_eq!((once.1, once.2), (3, StopReason::MaxIterations));
            }
            for every in [7, 16, 64] {
                assert_eq!(run(every, max_iters), once, "every {every}");
            }
        }
    });
}
