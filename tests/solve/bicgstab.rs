//! BiCGStab: systems that are not symmetric, breakdowns, and what every solver keeps to.

use crate::common::data;
use crate::common::harness::{assert_padded, limits, on_both, on_both_with};
use crate::common::pairs::{certified, is_exact, paired};
use crate::common::{random, reference};
use crate::systems::{
    self, System, apply, bits, csr, entries, lapack_ratio, norm, relative_error, relative_residual,
};
use texla::host::{Csr, problems};
use texla::solve::{
    BiCgStab, BiCgStabParams, Direction, GaussSeidel, HistoryPoint, Identity, Jacobi, Preconditioner,
    SolveReport, Stop, StopReason,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

fn params(tol: f64) -> BiCgStabParams {
    BiCgStabParams::default().with_stop(Stop::relative(tol))
}

/// Degrees of the polynomials.
const DEGREES: [usize; 2] = [1, 2];

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
pub fn convection(nx: usize, ny: usize, wind: f64) -> Csr {
    let upwind = |(i, j, v): (usize, usize, f64)| {
        let more = if j + 1 == i { wind } else { 0.0 };
        let own = if i == j { wind } else { 0.0 };
        (i, j, v - more + own)
    };
    let a = problems::poisson_2d(nx, ny).to_csr();
    entries(nx * ny, nx * ny, a.entries().map(upwind).collect::<Vec<_>>())
}

pub fn generated() -> Vec<System> {
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

/// The least cosine of two vectors that the device takes a factor at: see `glsl/include/shadow.glsl`.
const LEAST_COSINE: f64 = 0.7;

/// The factor by which `|s - factor t|` is least, of `t.s`, `s.s` and `t.t`; no less than for a cosine of `least`.
fn factor(ts: f64, ss: f64, tt: f64, least: f64) -> f64 {
    let size = (ss * tt).sqrt();
    let least = (least * size).copysign(ts);
    if tt == 0.0 { 0.0 } else { (if ts.abs() < least.abs() { least } else { ts }) / tt }
}

/// BiCGStab in 64 bits as its author wrote it, but for a cosine that is not let sink below `least`: relative residuals up to the
/// bound, one more than there are iterations, and the solution.
fn twin(a: &Csr, b: &[f64], jacobi: bool, least: f64, tol: f64, most: usize) -> (Vec<f64>, Vec<f64>) {
    let inverse: Vec<f64> = a.diagonal().iter().map(|d| if jacobi { 1.0 / d } else { 1.0 }).collect();
    let m = |v: &[f64]| -> Vec<f64> { v.iter().zip(&inverse).map(|(v, d)| v * d).collect() };
    let dot = reference::dot;
    let mut x = vec![0.0; b.len()];
    let mut r = b.to_vec();
    let h = r.clone();
    let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
    let (mut p, mut v) = (vec![0.0; b.len()], vec![0.0; b.len()]);
    let mut history = vec![1.0];
    while history[history.len() - 1] > tol && history.len() <= most {
        let before = std::mem::replace(&mut rho, dot(&h, &r));
        let beta = rho / before * (alpha / omega);
        p = (0..b.len()).map(|i| r[i] + beta * (p[i] - omega * v[i])).collect();
        let mp = m(&p);
        v = apply(a, &mp);
        alpha = rho / dot(&h, &v);
        let s: Vec<f64> = r.iter().zip(&v).map(|(r, v)| r - alpha * v).collect();
        let ms = m(&s);
        let t = apply(a, &ms);
        omega = factor(dot(&t, &s), dot(&s, &s), dot(&t, &t), least);
        for i in 0..b.len() {
            x[i] += alpha * mp[i] + omega * ms[i];
            r[i] = s[i] - omega * t[i];
        }
        history.push(norm(&r) / norm(b));
    }
    (history, x)
}

/// BiCGStab(2) in 64 bits, by the algorithm of its authors for any degree, but for the same.
fn twin_of_two(a: &Csr, b: &[f64], jacobi: bool, least: f64, tol: f64, most: usize) -> (Vec<f64>, Vec<f64>) {
    let inverse: Vec<f64> = a.diagonal().iter().map(|d| if jacobi { 1.0 / d } else { 1.0 }).collect();
    let m = |v: &[f64]| -> Vec<f64> { v.iter().zip(&inverse).map(|(v, d)| v * d).collect() };
    let (dot, n) = (reference::dot, b.len());
    let add = |y: &mut [f64], factor: f64, x: &[f64]| y.iter_mut().zip(x).for_each(|(y, x)| *y += factor * x);
    let mut x = vec![0.0; n];
    let mut r = [b.to_vec(), vec![0.0; n], vec![0.0; n]];
    let mut u = vec![vec![0.0; n]; 3];
    let (mut rho0, mut alpha, mut omega) = (1.0, 0.0, 1.0);
    let mut history = vec![1.0];
    while history[history.len() - 1] > tol && history.len() <= most {
        rho0 *= -omega;
        for j in 0..2 {
            // The first half may have come to the solution.
            if norm(&r[0]) <= tol * norm(b) {
                history.push(norm(&r[0]) / norm(b));
                return (history, m(&x));
            }
            let rho1 = dot(&r[j], b);
            let beta = alpha * rho1 / rho0;
            rho0 = rho1;
            for i in 0..=j {
                u[i] = (0..n).map(|l| r[i][l] - beta * u[i][l]).collect();
            }
            u[j + 1] = apply(a, &m(&u[j]));
            alpha = rho0 / dot(&u[j + 1], b);
            for i in 0..=j {
                let next = u[i + 1].clone();
                add(&mut r[i], -alpha, &next);
            }
            r[j + 1] = apply(a, &m(&r[j]));
            add(&mut x, alpha, &u[0]);
        }
        // The least residual by modified Gram-Schmidt.
        let sigma1 = dot(&r[1], &r[1]);
        let gamma1 = dot(&r[0], &r[1]) / sigma1;
        let tau = dot(&r[2], &r[1]) / sigma1;
        let rest: Vec<f64> = (0..n).map(|l| r[2][l] - tau * r[1][l]).collect();
        let left: Vec<f64> = (0..n).map(|l| r[0][l] - gamma1 * r[1][l]).collect();
        omega = factor(dot(&r[0], &rest), dot(&left, &left), dot(&rest, &rest), least);
        let gammas = [gamma1 - tau * omega, omega];
        for (i, gamma) in gammas.into_iter().enumerate() {
            add(&mut x, gamma, &r[i]);
        }
        for (i, gamma) in gammas.into_iter().enumerate() {
            let (of_r, of_u) = (r[i + 1].clone(), u[i + 1].clone());
            add(&mut r[0], -gamma, &of_r);
            add(&mut u[0], -gamma, &of_u);
        }
        history.push(norm(&r[0]) / norm(b));
    }
    (history, m(&x))
}

#[test]
fn solutions_and_iterations_are_those_of_the_twin() {
    on_both(|device| {
        for system in generated() {
            for (right, ell) in RIGHT.into_iter().flat_map(|right| DEGREES.map(|ell| (right, ell))) {
                let params = params(1e-5).with_ell(ell);
                let (x, report) = solve(device, &system, MatrixFormat::Auto, right, params).unwrap();
                let label = format!("{} {right:?} ({ell}): {report:?}", system.name);
                assert_eq!(report.reason, StopReason::Converged, "{label}");
                let residual = relative_residual(&system.a, &x, &system.b);
                assert!(residual <= 2e-5, "{label}: {residual:e}");
                assert!((report.true_residual - residual).abs() <= 0.05 * residual, "{label}: {residual:e}");
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
                assert!(report.history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}");
                if right == Right::GaussSeidel {
                    continue;
                }
                let twin = if ell == 2 { twin_of_two } else { twin };
                let (history, solution) = twin(&system.a, &system.b, right == Right::Jacobi, 0.0, 1e-5, 1000);
                let wanted = history.len() - 1;
                let most = wanted + wanted / 2 + 5;
                assert!(report.iterations <= most, "{label}: {wanted} in 64 bits");
                // Both residuals are at most 2e-5 of b, and no condition number here is past 2100.
                assert!(relative_error(&x, &solution) <= 2100.0 * 4e-5, "{label}");
            }
        }
    });
}

/// What becomes of the unsymmetric files, without and with Jacobi on the right, to 1e-4 and to 1e-6.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expect {
    Converged,
    /// No verdict is asked for, but that it is the truth.
    Honest,
    /// The diagonal has an entry that is not positive.
    Matrix,
}

const FILES: [(&str, [Expect; 4]); 6] = [
    ("arc130", [Expect::Converged; 4]),
    ("bfwa62", [Expect::Converged; 4]),
    ("impcol_a", [Expect::Honest, Expect::Honest, Expect::Matrix, Expect::Matrix]),
    ("qh1484", [Expect::Honest, Expect::Honest, Expect::Matrix, Expect::Matrix]),
    ("sherman5", [Expect::Converged, Expect::Honest, Expect::Converged, Expect::Honest]),
    ("west0067", [Expect::Honest, Expect::Honest, Expect::Matrix, Expect::Matrix]),
];

/// The LAPACK ratio and the certificate of whatever a solve has come to.
pub fn honest(label: &str, a: &Csr, b: &[f64], x: &[f32], report: &SolveReport, tol: f64) {
    let residual = relative_residual(a, x, b);
    let said = report.true_residual;
    assert!((said - residual).abs() <= 0.05 * residual, "{label}: {residual:e}, {report:?}");
    assert_eq!(report.readbacks_in_loop, 0, "{label}");
    if report.converged() {
        assert!(residual <= 2.0 * tol, "{label}: converged with {residual:e}");
        assert!(tol > 1e-6 || lapack_ratio(a, x, b) < 30.0, "{label}: {}", lapack_ratio(a, x, b));
    }
}

#[test]
fn real_unsymmetric_matrices() {
    let matrices = systems::data_matrices(&[("unsym", 6)], "unsymmetric systems");
    on_both(|device| {
        for (name, a) in &matrices {
            let file = name.trim_start_matches("unsym/").trim_end_matches(".mtx");
            let Some((_, expected)) = FILES.iter().find(|f| f.0 == file) else {
                data::say(&format!("no outcome is written down for {name}"));
                continue;
            };
            if !systems::gather_fits(device, a)
                || !systems::fits(device, a, MatrixFormat::Sparse(SparseFormat::Gather))
            {
                continue;
            }
            let system = System::of_ones(name, a.clone());
            for (k, expect) in expected.iter().enumerate() {
                let (right, tol) = ([Right::Nothing, Right::Jacobi][k / 2], [1e-4, 1e-6][k % 2]);
                // sherman5 takes 2300 to 1e-4.
                let most = if *expect == Expect::Converged { 5000 } else { 400 };
                let params = params(tol).with_max_iters(most);
                let label = format!("{name} {right:?} {tol:e}");
                match (
                    expect,
                    solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), right, params),
                ) {
                    (Expect::Matrix, Err(Error::Matrix { op: "Jacobi", .. })) => {}
                    (Expect::Converged | Expect::Honest, Ok((x, report))) => {
                        honest(&label, a, &system.b, &x, &report, tol);
                        let met = crate::systems::is_met(name, &report);
                        assert!(*expect == Expect::Honest || met, "{label}: {report:?}");
                    }
                    (_, other) => panic!("{label}: {other:?}"),
                }
            }
        }
    });
}

#[test]
fn real_symmetric_matrices_are_honest() {
    let matrices = systems::data_matrices(&[("spd", 15)], "symmetric systems by BiCGStab");
    on_both(|device| {
        for (name, a) in &matrices {
            if !systems::gather_fits(device, a)
                || !systems::fits(device, a, MatrixFormat::Sparse(SparseFormat::Gather))
            {
                continue;
            }
            let system = System::of_ones(name, a.clone());
            // These two are too badly conditioned for the short recurrence in 32 bits.
            let hard = ["494_bus", "685_bus"].iter().any(|w| name.contains(w));
            let params = params(1e-4).with_max_iters(1000);
            let (x, report) =
                solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), Right::Jacobi, params)
                    .unwrap();
            honest(name, a, &system.b, &x, &report, 1e-4);
            assert!(hard || crate::systems::is_met(name, &report), "{name}: {report:?}");
        }
    });
}

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        for system in generated() {
            for (tol, max_iters, ell) in
                [(1e-5, 20_000, 1), (1e-9, 150, 1), (1e-6, 9, 1), (1e-5, 20_000, 2), (1e-6, 9, 2)]
            {
                let run = |every| {
                    let stop = Stop::relative(tol).check_every(every);
                    let params = params(tol).with_stop(stop).with_max_iters(max_iters).with_ell(ell);
                    let (x, report) =
                        solve(device, &system, MatrixFormat::Auto, Right::Jacobi, params).unwrap();
                    assert!(report.iterations <= max_iters);
                    (bits(&x), report.iterations, report.reason, report.true_residual, report.replacements)
                };
                let once = run(1);
                for every in [7, 64] {
                    assert_eq!(run(every), once, "{} {tol:e} every {every}", system.name);
                }
            }
        }
    });
}

#[test]
fn powers_of_two_change_no_bit() {
    on_both(|device| {
        for base in generated().into_iter().skip(1).take(6) {
            for ell in DEGREES {
                let params = params(1e-5).with_ell(ell);
                let run = |s: &System| solve(device, s, MatrixFormat::Auto, Right::Jacobi, params);
                systems::assert_scales(&base, &systems::POWERS, run);
            }
        }
    });
}

/// Advection along a ring by central differences, with next to no diffusion: eigenvalues are imaginary or nearly so.
fn advection() -> System {
    let n = 200;
    let ring = (0..n).flat_map(|i| {
        let speed = 1.0 + 0.3 * (i as f64 * 0.37).sin();
        [(i, i, 0.05), (i, (i + 1) % n, speed), (i, (i + n - 1) % n, -speed)]
    });
    let a = systems::rounded(&entries(n, n, ring.collect::<Vec<_>>()));
    let b: Vec<f64> = random::uniform(5, n).into_iter().map(f64::from).collect();
    System { name: "advection".into(), a, b }
}

/// As long as 32 bits and 64 are near each other, cosines of all kinds among them.
#[test]
fn residuals_are_those_of_a_twin_whose_factors_do_not_sink() {
    let mut systems = vec![advection()];
    systems.extend([0.5, 3.0].map(|wind| System::of_ones(&format!("wind {wind}"), convection(20, 17, wind))));
    on_both(|device| {
        for system in &systems {
            for (jacobi, ell) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
                let right = if jacobi { Right::Jacobi } else { Right::Nothing };
                let asked = params(1e-5).with_stop(Stop::relative(1e-5).check_every(1)).with_ell(ell);
                let asked = asked.with_max_iters(8);
                let (_, report) = solve(device, system, MatrixFormat::Auto, right, asked).unwrap();
                let twin = if ell == 2 { twin_of_two } else { twin };
                let (wanted, _) = twin(&system.a, &system.b, jacobi, LEAST_COSINE, 1e-5, 8);
                let early = report.history.iter().filter(|point| point.iteration <= 4);
                for HistoryPoint { iteration: k, residual: found, .. } in early {
                    let label = format!("{} {right:?} ({ell}), {k}", system.name);
                    assert!(
                        (found / wanted[*k] - 1.0).abs() <= 1e-3,
                        "{label}: {found:e} for {:e}",
                        wanted[*k]
                    );
                }
                assert!(report.history.len() > 4, "{report:?}");
            }
        }
    });
}

/// Polynomials of the first degree, whose zeros are real, do not make residuals of imaginary eigenvalues less.
#[test]
fn polynomials_of_the_second_degree_reach_imaginary_eigenvalues() {
    let system = advection();
    on_both(|device| {
        let [one, two] = DEGREES.map(|ell| {
            let params = params(1e-5).with_ell(ell).with_max_iters(2000);
            let (x, report) = solve(device, &system, MatrixFormat::Auto, Right::Nothing, params).unwrap();
            honest("advection", &system.a, &system.b, &x, &report, 1e-5);
            report
        });
        assert!(two.converged(), "{two:?}");
        // Of twice as many products each.
        assert!(!one.converged() || 2 * two.iterations < one.iterations, "{one:?} for {two:?}");
    });
}

#[test]
fn breakdowns_change_the_shadow_or_are_typed() {
    on_both(|device| {
        // Skew-symmetric: r.A r = 0 for every r. Solved with another shadow where there is one.
        for (n, ell) in [(2, 1), (6, 1), (40, 1), (2, 2), (6, 2), (40, 2)] {
            let skew = (0..n / 2).flat_map(|k| {
                [(2 * k, 2 * k + 1, 1.0 + k as f64 / 8.0), (2 * k + 1, 2 * k, -1.0 - k as f64 / 8.0)]
            });
            let system = System::of_ones("skew", entries(n, n, skew.collect::<Vec<_>>()));
            let (x, report) = solve(
                device,
                &system,
                MatrixFormat::Sparse(SparseFormat::Gather),
                Right::Nothing,
                params(1e-5).with_ell(ell),
            )
            .unwrap();
            honest("skew", &system.a, &system.b, &x, &report, 1e-5);
            // With many pairs of eigenvalues it depends on rounding whether a shadow is left.
            let broken = n > 6 && report.reason == StopReason::Breakdown;
            assert!(report.converged() || broken, "{n} ({ell}): {report:?}");
        }
        // Ones everywhere: singular, and b is out of its range. The recurrence may say that it falls, time and again.
        let ones = entries(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]);
        let system = System { name: "ones".into(), a: ones, b: vec![1.0, 2.0] };
        for (right, ell) in
            [Right::Nothing, Right::Jacobi].into_iter().flat_map(|r| DEGREES.map(|ell| (r, ell)))
        {
            let params = params(1e-5).with_ell(ell);
            let (_, report) = solve(device, &system, MatrixFormat::Auto, right, params).unwrap();
            assert!(!report.converged() && report.iterations < 300, "{right:?} ({ell}): {report:?}");
        }
        // An exchange: the residual of b = (1, 0) is orthogonal to what it is mapped to.
        let exchange = entries(2, 2, [(0, 1, 1.0), (1, 0, 1.0)]);
        let system = System { name: "exchange".into(), a: exchange, b: vec![1.0, 0.0] };
        let (x, report) =
            solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), Right::Nothing, params(1e-5))
                .unwrap();
        assert!(report.converged() && (x[1] - 1.0).abs() < 1e-4 && x[0].abs() < 1e-4, "{x:?} {report:?}");
        // Mapped to zero, and to nothing that the residual is part of: there is no solution.
        for (name, a) in [("zero", entries(3, 3, [(0, 0, 0.0)])), ("nilpotent", entries(2, 2, [(0, 1, 1.0)]))]
        {
            let n = a.shape().rows;
            let system = System { name: name.into(), a, b: vec![0.0, 1.0, 1.0][..n].to_vec() };
            let most = params(1e-5).with_max_iters(100);
            let (_, report) =
                solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), Right::Nothing, most)
                    .unwrap();
            match report.breakdown {
                Some(broken) => {
                    let known = ["cos(h, AMp)", "cos(h, r)", "|AMs|²"].contains(&broken.quantity);
                    assert!(known && broken.value.abs() < 1e-3, "{name}: {broken}");
                    assert_eq!(report.reason, StopReason::Breakdown, "{name}: {report:?}");
                }
                None => assert!(name == "nilpotent" && !report.converged(), "{name}: {report:?}"),
            }
        }
    });
}

#[test]
fn starts_and_right_hand_sides_of_all_kinds() {
    on_both(|device| {
        let system = System::of_ones("wind", convection(12, 9, 2.0));
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let solver = BiCgStab::new(&a, params(1e-5)).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        for start in [1.0f32, 1e6, -1e20] {
            let mut x = Vector::filled(device, system.n(), start).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{start:e}: {report:?}");
            assert!(relative_residual(&system.a, &x.read().unwrap(), &system.b) <= 2e-5);
            assert!(start != 1.0 || report.iterations == 0);
        }
        let mut x = Vector::filled(device, system.n(), 3.0).unwrap();
        let report = solver.solve(&mut x, &Vector::zeros(device, system.n()).unwrap()).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
        assert!(x.read().unwrap().iter().all(|v| *v == 0.0));
        let texture = x.texture();
        solver.solve(&mut x, &b).unwrap();
        assert_eq!(x.texture(), texture, "into the caller's texture");
    });
}

#[test]
fn fewer_draw_buffers_change_no_bit() {
    let found = std::cell::RefCell::new(Vec::new());
    let run = |device: &Device| {
        let system = System::of_ones("wind", convection(24, 17, 0.5));
        let (x, report) = solve(device, &system, MatrixFormat::Auto, Right::Jacobi, params(1e-5)).unwrap();
        found.borrow_mut().push((device.api(), bits(&x), report.iterations));
        report.draws_per_iteration
    };
    let draws = std::cell::RefCell::new(Vec::new());
    on_both(|device| draws.borrow_mut().push(run(device)));
    on_both_with(limits().with_max_draw_buffers(Some(2)), |device| {
        assert_eq!(device.capabilities().max_draw_buffers, 2);
        assert_eq!(run(device), draws.borrow()[0] + 2);
    });
    let found = found.borrow();
    assert_eq!(found[..2], found[2..]);
}

#[test]
fn errors_name_what_is_wrong() {
    on_both(|device| {
        let wide = StoredMatrix::new(
            device,
            entries(2, 3, [(0, 0, 1.0)]),
            MatrixFormat::Sparse(SparseFormat::Gather),
        )
        .unwrap();
        let refused = BiCgStab::new(&wide, params(1e-5)).err();
        assert!(matches!(refused, Some(Error::Matrix { op: "BiCgStab", .. })), "{refused:?}");
        let a = StoredMatrix::new(device, convection(4, 2, 1.0), MatrixFormat::Auto).unwrap();
        assert!(matches!(
            BiCgStab::new(&a, params(2.0)).err(),
            Some(Error::Parameter { name: "relative", .. })
        ));
        let of = |n| Vector::filled(device, n, 1.0).unwrap();
        let most = params(1e-5).with_max_iters(1 << 24);
        let refused = BiCgStab::new(&a, most).unwrap().solve(&mut of(8), &of(8));
        assert!(matches!(refused, Err(Error::Parameter { name: "max_iters", .. })), "{refused:?}");
        for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
            match BiCgStab::new(&a, params(1e-5)).unwrap().solve(&mut of(n), &of(m)) {
                Err(Error::ShapeMismatch { op: "BiCgStab::solve", operand, .. }) => assert_eq!(operand, name),
                other => panic!("{other:?}"),
            }
        }
    });
}

/// A matrix of one dimension that leans to one side, with its least eigenvalue moved next to zero.
#[test]
fn what_32_bits_do_not_gain_on_is_solved_in_pairs_by_both_degrees() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 32_u32;
        let least = 2.0 - 2.0 * (std::f64::consts::PI / f64::from(n + 1)).cos();
        let n = n as usize;
        let entry = |i: usize, j: usize| match (i, j) {
            _ if i == j => Some((i, j, paired(2.0 - least + 1e-8))),
            _ if i == j + 1 => Some((i, j, paired(-1.25))),
            _ if i + 1 == j => Some((i, j, paired(-0.8))),
            _ => None,
        };
        let a = entries(n, n, (0..n * n).filter_map(|k| entry(k / n, k % n)).collect::<Vec<_>>());
        let b: Vec<f64> = apply(&a, &vec![1.0; n]).into_iter().map(paired).collect();
        let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
        let right = DoubleVector::from_f64(device, &b).unwrap();
        for ell in [1, 2] {
            let mut x = DoubleVector::zeros(device, n).unwrap();
            let params = BiCgStabParams::default().with_ell(ell).with_stop(Stop::relative(1e-11));
            let report = BiCgStab::new(&stored, params).unwrap().solve(&mut x, &right).unwrap();
            let label = format!("{ell}: {report:?}");
            certified(&label, &report, &a, &x.read().unwrap(), &b, 1e-11);
            assert!(report.double_iterations > 0, "{label}");
        }
    });
}
