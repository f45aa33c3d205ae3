//! BiCGStab: systems that are not symmetric, breakdowns, and what every solver keeps to.

use crate::common::data;
use crate::common::harness::{assert_padded, limits, on_both, on_both_with};
use crate::common::{random, reference};
use crate::systems::{
    self, System, apply, bits, csr, entries, lapack_ratio, mapped, norm, relative_error, relative_residual,
};
use texla::gl::Limits;
use texla::host::{Csr, problems};
use texla::solve::{
    BiCgStab, BiCgStabParams, Direction, GaussSeidel, Identity, Jacobi, MatrixFormat, Preconditioner,
    SolveReport, Stop, StopReason, StoredMatrix,
};
use texla::{Device, Error, Result, Vector};

fn params(tol: f64) -> BiCgStabParams {
    BiCgStabParams { stop: Stop::relative(tol), ..BiCgStabParams::default() }
}

/// What stands on the right of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Right {
    Nothing,
    Jacobi,
    GaussSeidel,
}

const RIGHT: [Right; 3] = [Right::Nothing, Right::Jacobi, Right::GaussSeidel];

fn solve(
    device: &Device,
    system: &System,
    format: MatrixFormat,
    right: Right,
    params: BiCgStabParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), format)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let m: Box<dyn Preconditioner> = match right {
        Right::Nothing => Box::new(Identity),
        Right::Jacobi => Box::new(Jacobi::new(&a)?),
        Right::GaussSeidel => Box::new(GaussSeidel::new(&a, 1.0, Direction::Forward)?),
    };
    let solved = BiCgStab::preconditioned(&a, m.as_ref(), params)?.solve(&mut x, &b);
    assert_padded(&x, &system.name);
    let values = x.read()?;
    assert!(values.iter().all(|v| v.is_finite()), "{}: not finite", system.name);
    Ok((values, solved?))
}

/// Convection and diffusion on a grid: the wind makes it unsymmetric.
fn convection(nx: usize, ny: usize, wind: f64) -> Csr {
    let upwind = |(i, j, v): (usize, usize, f64)| {
        let more = if j + 1 == i { wind } else { 0.0 };
        let own = if i == j { wind } else { 0.0 };
        (i, j, v - more + own)
    };
    let a = problems::poisson_2d(nx, ny).to_csr();
    entries(nx * ny, nx * ny, a.entries().map(upwind).collect::<Vec<_>>())
}

fn generated() -> Vec<System> {
    let mut all = systems::generated();
    all.push(System::of_ones("gentle wind", convection(24, 17, 0.5)));
    all.push(System::of_ones("strong wind", convection(20, 20, 20.0)));
    let shifted = csr(&random::sparse_rows(7, 143, 143, 6));
    let diagonal = (0..143).map(|i| (i, i, 6.0));
    let off = shifted.entries().filter(|(i, j, _)| i != j);
    all.push(System::of_ones(
        "random",
        systems::rounded(&entries(143, 143, off.chain(diagonal).collect::<Vec<_>>())),
    ));
    for n in [1, 2, 3, 5] {
        all.push(System::of_ones(&format!("chain {n}"), convection(n, 1, 0.3)));
    }
    all
}

/// BiCGStab in 64 bits as its author wrote it: iterations to the bound, and the solution.
fn twin(a: &Csr, b: &[f64], jacobi: bool, tol: f64, most: usize) -> (usize, Vec<f64>) {
    let inverse: Vec<f64> = a.diagonal().iter().map(|d| if jacobi { 1.0 / d } else { 1.0 }).collect();
    let m = |v: &[f64]| -> Vec<f64> { v.iter().zip(&inverse).map(|(v, d)| v * d).collect() };
    let dot = reference::dot;
    let mut x = vec![0.0; b.len()];
    let mut r = b.to_vec();
    let h = r.clone();
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let (mut p, mut v) = (vec![0.0; b.len()], vec![0.0; b.len()]);
    for k in 0..most {
        if norm(&r) <= tol * norm(b) {
            return (k, x);
        }
        let before = std::mem::replace(&mut rho, dot(&h, &r));
        let beta = rho / before * (alpha / omega);
        p = (0..b.len()).map(|i| r[i] + beta * (p[i] - omega * v[i])).collect();
        let mp = m(&p);
        v = apply(a, &mp);
        alpha = rho / dot(&h, &v);
        let s: Vec<f64> = r.iter().zip(&v).map(|(r, v)| r - alpha * v).collect();
        let ms = m(&s);
        let t = apply(a, &ms);
        omega = if dot(&t, &t) == 0.0 { 0.0 } else { dot(&t, &s) / dot(&t, &t) };
        for i in 0..b.len() {
            x[i] += alpha * mp[i] + omega * ms[i];
            r[i] = s[i] - omega * t[i];
        }
    }
    (most, x)
}

#[test]
fn solutions_and_iterations_are_those_of_the_twin() {
    on_both(|device| {
        for system in generated() {
            for right in RIGHT {
                let (x, report) = solve(device, &system, MatrixFormat::Auto, right, params(1e-5)).unwrap();
                let label = format!("{} {right:?}: {report:?}", system.name);
                assert_eq!(report.reason, StopReason::Converged, "{label}");
                let residual = relative_residual(&system.a, &x, &system.b);
                assert!(residual <= 2e-5, "{label}: {residual:e}");
                assert!((report.true_residual - residual).abs() <= 0.05 * residual, "{label}: {residual:e}");
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
                assert!(report.history.windows(2).all(|w| w[0].0 < w[1].0), "{label}");
                if right == Right::GaussSeidel {
                    continue;
                }
                let (wanted, solution) = twin(&system.a, &system.b, right == Right::Jacobi, 1e-5, 1000);
                let most = wanted + wanted / 2 + 5;
                assert!(report.iterations <= most, "{label}: {wanted} in 64 bits");
                // Both residuals are at most 2e-5 of b, and no condition number here is past 2100.
                assert!(relative_error(&x, &solution) <= 2100.0 * 4e-5, "{label}");
            }
        }
    });
}

/// What becomes of a real matrix: a list of acceptable outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Reason(StopReason),
    Breakdown,
    ZeroDiagonal,
}

#[test]
fn real_matrices_are_solved_or_said_not_to_be() {
    let matrices = systems::data_matrices(&[("unsym", 6), ("sym", 1), ("spd", 15)], "unsymmetric systems");
    on_both(|device| {
        for (name, a) in &matrices {
            if !systems::gather_fits(device, a) || !systems::fits(device, a, MatrixFormat::Gather) {
                continue;
            }
            let system = System::of_ones(name, a.clone());
            if std::env::var_os("SUB").is_some()
                && !["sherman5", "685", "494", "stk01", "stk03", "stk10", "stk20", "west", "impcol"]
                    .iter()
                    .any(|w| name.contains(w))
            {
                continue;
            }
            for right in [Right::Nothing, Right::Jacobi] {
                for tol in [1e-4, 1e-6] {
                    let params = BiCgStabParams { max_iters: 3000, ..params(tol) };
                    let solved = solve(device, &system, MatrixFormat::Gather, right, params);
                    let said = solved
                        .as_ref()
                        .map(|(_, r)| (r.reason, r.iterations, r.true_residual, r.replacements));
                    data::say(&format!("{name} {right:?} {tol:e}: {said:?}"));
                }
            }
        }
    });
}
