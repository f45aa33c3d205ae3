//! Dense matrices in the solvers: real systems, certified as any other, symmetric but for rounding, refused where they
//! are not, tiled.

use crate::common::harness::{limits, on_both, on_both_with};
use crate::common::random;
use crate::common::reference::widen;
use crate::systems::{
    self, csr, lapack_ratio, mapped, normal_residual, params, relative_residual, rounded, rounding_alone,
};
use texla::host::Csr;
use texla::ops::{self, Combine};
use texla::solve::{
    CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Identity, Jacobi, LinOp, Preconditioner,
    SolveReport, Stop, StopReason,
};
use texla::{Device, Error, Matrix, Result, Shape, Vector};

fn elements(a: &Csr) -> Vec<f64> {
    let mut values = vec![0.0; a.shape().len()];
    a.entries().for_each(|(i, j, v)| values[i * a.shape().cols + j] = v);
    values
}

fn dense(device: &Device, a: &Csr) -> Matrix {
    Matrix::from_f64(device, a.shape(), &elements(a)).unwrap()
}

fn cg(
    device: &Device,
    a: &Matrix,
    b: &[f64],
    jacobi: bool,
    params: CgParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let b = Vector::from_f64(device, b)?;
    let mut x = Vector::zeros(device, a.shape().cols)?;
    let m: Box<dyn Preconditioner> = if jacobi { Box::new(Jacobi::new(a)?) } else { Box::new(Identity) };
    let report = ConjugateGradient::preconditioned(a, m.as_ref(), params)?.solve(&mut x, &b)?;
    Ok((x.read()?, report))
}

/// Dense matrices are 32 bits, and that is the matrix whose system is solved.
#[test]
fn real_systems() {
    let matrices = systems::data_matrices(&[("spd", 15)], "dense solves with real matrices");
    let matrices: Vec<_> = matrices.iter().map(|(name, a)| (name, rounded(a))).collect();
    on_both(|device| {
        for (name, a) in matrices.iter().filter(|(_, a)| a.shape().rows <= 700) {
            let b = systems::rhs_of_ones(a);
            let matrix = dense(device, a);
            for (jacobi, tol) in [(true, 1e-5), (true, 1e-6), (false, 1e-4)] {
                let label = format!("{name}, jacobi {jacobi}, {tol:e}");
                let (x, report) =
                    cg(device, &matrix, &b, jacobi, params(tol)).unwrap_or_else(|e| panic!("{label}: {e}"));
                let residual = relative_residual(a, &x, &b);
                let said = report.true_residual;
                assert!((said - residual).abs() <= 0.05 * residual, "{label}: {said:e} against {residual:e}");
                if report.reason == StopReason::Converged {
                    assert!(residual <= 2.0 * tol, "{label}: converged with {residual:e}");
                }
                if jacobi {
                    // Where a solution may lose the bound by being rounded, whether it does is luck.
                    let floor = rounding_alone(a, &x, &b);
                    let lost = tol < floor && report.reason == StopReason::Stagnated && residual <= floor;
                    assert!(
                        lost || crate::systems::is_met(name, &report),
                        "{label}: {floor:e} of {report:?}"
                    );
                    let ratio = lapack_ratio(a, &x, &b);
                    assert!(tol > 1e-6 || ratio < 30.0, "{label}: LAPACK ratio {ratio}");
                }
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
            }
        }
    });
}

#[test]
fn sizes_schedules_and_tiles() {
    let test = |device: &Device| {
        for n in [1, 2, 3, 5, 9, 50, 127, 300] {
            let a = rounded(&csr(&random::spd(n as u64, n, 0.4)));
            let b = systems::rhs_of_ones(&a);
            let matrix = dense(device, &a);
            for schedule in systems::schedules(device) {
                let (x, report) =
                    cg(device, &matrix, &b, false, params(1e-5).with_schedule(schedule)).unwrap();
                assert_eq!(report.reason, StopReason::Converged, "{n} {schedule:?}: {report:?}");
                assert!(relative_residual(&a, &x, &b) <= 2e-5, "{n} {schedule:?}");
            }
        }
        let empty = Matrix::zeros(device, Shape::new(0, 0)).unwrap();
        assert!(cg(device, &empty, &[], false, params(1e-5)).unwrap().1.converged());
    };
    on_both(test);
    on_both_with(limits().with_max_texture_size(Some(64)), test);
}

#[test]
fn powers_of_two_change_nothing() {
    on_both(|device| {
        let a = rounded(&csr(&random::spd(7, 60, 0.4)));
        let b = systems::rhs_of_ones(&a);
        let solve = |e: i32, f: i32| {
            let b: Vec<f64> = b.iter().map(|v| v * 2f64.powi(f)).collect();
            let (x, report) =
                cg(device, &dense(device, &mapped(&a, |v| v * 2f64.powi(e))), &b, true, params(1e-5))
                    .unwrap();
            let x: Vec<f64> = widen(&x).iter().map(|v| v * 2f64.powi(e - f)).collect();
            (x, report.iterations, report.reason)
        };
        let base = solve(0, 0);
        assert_eq!(base.2, StopReason::Converged);
        for (e, f) in [(60, 60), (-60, -60), (60, 0), (0, -60), (100, 60), (-90, -30)] {
            assert_eq!(solve(e, f), base, "A 2^{e}, b 2^{f}");
        }
    });
}

#[test]
fn least_squares() {
    let matrices = systems::data_matrices(&[("rect", 4)], "dense least squares");
    on_both(|device| {
        let mut solved = 0;
        for (name, a) in matrices.iter().map(|(name, a)| (name, rounded(a))) {
            let limit = device.capabilities().max_texture_size as usize;
            if a.shape().rows.max(a.shape().cols) > 4 * limit * limit {
                continue;
            }
            let b = systems::rhs_of_ones(&a);
            let matrix = dense(device, &a);
            // One number for each tile has to fit a row of a texture.
            if let Err(Error::TooLarge { what: "reduce", limit, .. }) = LinOp::exponent(&matrix) {
                assert!(limit <= 64, "{name}");
                continue;
            }
            let m = Jacobi::for_least_squares(&matrix).unwrap();
            let mut x = Vector::zeros(device, a.shape().cols).unwrap();
            let params = CglsParams::default().with_stop(Stop::relative(1e-5)).with_max_iters(2000);
            let b32 = Vector::from_f64(device, &b).unwrap();
            let report = Cgls::preconditioned(&matrix, &m, params).unwrap().solve(&mut x, &b32).unwrap();
            let residual = normal_residual(&a, &x.read().unwrap(), &b);
            assert_eq!(report.reason, StopReason::Converged, "{name}: {report:?}");
            assert!(residual <= 2e-5, "{name}: {residual:e}");
            solved += 1;
        }
        assert!(solved > 0 || matrices.is_empty(), "none of {} is solved", matrices.len());
    });
}

#[test]
fn symmetry_up_to_rounding_and_no_further() {
    on_both(|device| {
        let n = 90;
        let g = Matrix::from_rows(device, Shape::new(n, 2 * n), &random::uniform(5, 2 * n * n)).unwrap();
        let mut product = Matrix::zeros(device, Shape::new(n, n)).unwrap();
        ops::matmul_bt(&mut product, &g, &g).unwrap();
        // As another library would have computed it: the other half in another order.
        let mut values = product.read().unwrap();
        for i in 0..n {
            for j in 0..i {
                let scale = (values[i * n + i] * values[j * n + j]).sqrt();
                values[i * n + j] += scale * 2f32.powi(-20);
            }
        }
        product.write(&values).unwrap();
        assert_eq!(product.asymmetry().unwrap(), None);
        let b = vec![1.0; n];
        assert!(cg(device, &product, &b, true, params(1e-4)).unwrap().1.converged());
        values[5 * n + 3] += 0.01;
        product.write(&values).unwrap();
        let e = ConjugateGradient::new(&product, params(1e-4)).err().unwrap();
        assert!(matches!(&e, Error::Matrix { detail, .. } if detail.contains("A[5, 3]")), "{e}");
        let tall = Matrix::zeros(device, Shape::new(3, 2)).unwrap();
        assert!(matches!(ConjugateGradient::new(&tall, params(1e-4)), Err(Error::Matrix { .. })));
    });
}

#[test]
fn breakdowns_are_typed() {
    on_both(|device| {
        let indefinite = Matrix::from_rows(device, Shape::new(2, 2), &[1.0, 0.0, 0.0, -1.0]).unwrap();
        let (_, report) = cg(device, &indefinite, &[1.0, 2.0], false, params(1e-5)).unwrap();
        assert_eq!(report.breakdown.map(|b| b.quantity), Some("p.Ap"), "{report:?}");
        assert_eq!(report.reason, StopReason::Breakdown);
        let e = cg(device, &indefinite, &[1.0, 2.0], true, params(1e-5)).unwrap_err();
        assert!(matches!(e, Error::Unsupported { .. }) && e.to_string().contains("entry -1 at 1"), "{e}");
        let singular = Matrix::filled(device, Shape::new(3, 3), 1.0).unwrap();
        let outcome = cg(device, &singular, &[1.0, -1.0, 0.0], false, params(1e-5));
        assert!(!matches!(&outcome, Ok((_, report)) if report.converged()), "{outcome:?}");
    });
}

/// An iteration draws a product, a reduction and an update, and reads nothing back.
#[test]
fn an_iteration_is_a_few_draws() {
    on_both(|device| {
        let a = dense(device, &rounded(&csr(&random::spd(3, 200, 0.5))));
        let b = vec![1.0; 200];
        let before = device.counters();
        let (_, report) = cg(device, &a, &b, false, params(1e-5).with_schedule(CgSchedule::Auto)).unwrap();
        assert!(report.iterations > 3 && report.readbacks_in_loop == 0);
        // The product in two, the inner products in one or two, the scalar step, the update.
        let tiles = a.tiles().count() as u64;
        assert!(report.draws_per_iteration <= 8 + 2 * tiles, "{report:?}");
        assert!(device.counters().since(&before).readbacks < 12);
        let mut y = Vector::zeros(device, 200).unwrap();
        let x = Vector::filled(device, 200, 1.0).unwrap();
        ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    });
}
