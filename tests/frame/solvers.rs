//! Solvers on the representations: certified, within the LAPACK ratio, and least squares.

use crate::common::forms::{all_forms, elements};
use crate::common::harness::on_both;
use crate::common::random;
use crate::common::systems;
use texla::solve::{CgParams, Cgls, CglsParams, ConjugateGradient, Jacobi, LinOp, Stop, StopReason};
use texla::{ColumnStack, Device, Vector};

fn certified(device: &Device) -> StopReason {
    if device.capabilities().exact_form.is_some() { StopReason::Converged } else { StopReason::Uncertified }
}

#[test]
fn conjugate_gradients_on_every_form() {
    on_both(|device| {
        for n in [1, 2, 5, 50, 127] {
            let a = systems::rounded(&systems::csr(&random::spd(n as u64, n, 0.4)));
            let b = systems::rhs_of_ones(&a);
            for (name, form) in all_forms(device, &a) {
                for jacobi in [false, true] {
                    let label = format!("{name} {n} jacobi {jacobi}");
                    let params = CgParams::default().with_stop(Stop::relative(1e-6));
                    let hb = Vector::from_f64(device, &b).unwrap();
                    let mut x = Vector::zeros(device, n).unwrap();
                    let m = jacobi.then(|| Jacobi::new(&form).unwrap());
                    let cg = ConjugateGradient::preconditioned(&form, m, params).unwrap();
                    let report = cg.solve(&mut x, &hb).unwrap();
                    let x = x.read().unwrap();
                    assert_eq!(report.reason, certified(device), "{label}: {report:?}");
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    assert!(systems::relative_residual(&a, &x, &b) <= 2e-6, "{label}");
                    assert!(systems::lapack_ratio(&a, &x, &b) < 30.0, "{label}");
                }
            }
        }
    });
}

#[test]
fn least_squares_on_stacks() {
    on_both(|device| {
        for (m, n) in [(40, 7), (131, 30), (30, 30)] {
            // Columns that are not too far from orthogonal.
            let a = systems::csr(&random::sparse(m as u64, m, n, 0.3));
            let mut values = elements(&a);
            (0..n).for_each(|j| values[j * n + j] = 6.0);
            let rounded: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            let a = crate::common::forms::full(m, n, &rounded);
            let b: Vec<f64> = random::nonzero(3, m).iter().map(|v| f64::from(*v)).collect();
            let stack = ColumnStack::from_rows(device, a.shape(), &rounded).unwrap();
            let forms: [(&str, Box<dyn LinOp>); 1] = [("stack", Box::new(stack))];
            let folded = texla::FoldedBands::from_csr(device, a.clone()).ok();
            let folded = folded.map(|f| ("folded", Box::new(f) as Box<dyn LinOp>));
            for (name, form) in forms.into_iter().chain(folded) {
                let label = format!("{name} {m}x{n}");
                let params = CglsParams::default().with_stop(Stop::relative(1e-5));
                let hb = Vector::from_f64(device, &b).unwrap();
                let mut x = Vector::zeros(device, n).unwrap();
                let report = Cgls::new(form.as_ref(), params).unwrap().solve(&mut x, &hb).unwrap();
                assert_eq!(report.reason, certified(device), "{label}: {report:?}");
                let residual = systems::normal_residual(&a, &x.read().unwrap(), &b);
                assert!(residual <= 2e-5, "{label}: {residual:e}");
            }
        }
    });
}

/// Scale invariance: a system scaled by powers of two takes the same iterations.
#[test]
fn extreme_scales_take_the_same_iterations() {
    on_both(|device| {
        let a = systems::rounded(&systems::csr(&random::spd(7, 60, 0.3)));
        let b = systems::rhs_of_ones(&a);
        let mut iterations = Vec::new();
        for (of_a, of_b) in [(0, 0), (60, 0), (-60, 0), (0, 60), (100, 30), (-90, -30)] {
            let scaled = systems::mapped(&a, |v| v * 2f64.powi(of_a));
            let hb: Vec<f64> = b.iter().map(|v| v * 2f64.powi(of_b)).collect();
            let hb = Vector::from_f64(device, &hb).unwrap();
            for (name, form) in crate::common::forms::new_forms(device, &scaled) {
                let params = CgParams::default().with_stop(Stop::relative(1e-5));
                let mut x = Vector::zeros(device, 60).unwrap();
                let report =
                    ConjugateGradient::new(form.as_ref(), params).unwrap().solve(&mut x, &hb).unwrap();
                assert_eq!(report.reason, certified(device), "{name} 2^{of_a} 2^{of_b}: {report:?}");
                iterations.push((name, report.iterations));
            }
        }
        let first = iterations.first().unwrap().1;
        assert!(iterations.iter().all(|(_, n)| *n == first), "{iterations:?}");
    });
}
