//! GMRES: the iterates of a plain one in 64 bits, cycles of all lengths, halts and breakdowns, and pairs.

use std::cell::Cell;

use crate::bicgstab::{convection, generated, honest};
use crate::common::data;
use crate::common::harness::{assert_padded, on_both};
use crate::common::pairs::{certified, certified_in_norm, is_exact, paired, wide};
use crate::common::reference::dot;
use crate::systems::{self, System, apply, bits, entries, norm, relative_error, relative_residual};
use texla::host::Csr;
use texla::ops;
use texla::solve::{
    Gmres, GmresParams, HistoryPoint, Identity, Jacobi, MOST_RESTART, Preconditioner, ResidualKind,
    SolveReport, Stop, StopReason,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

fn params(tol: f64) -> GmresParams {
    GmresParams::default().with_stop(Stop::relative(tol))
}

fn solve(
    device: &Device,
    system: &System,
    jacobi: bool,
    params: GmresParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let m: Box<dyn Preconditioner> = if jacobi { Box::new(Jacobi::new(&a)?) } else { Box::new(Identity) };
    let solved = Gmres::preconditioned(&a, m.as_ref(), params)?.solve(&mut x, &b);
    assert_padded(&x, &system.name);
    let values = x.read()?;
    assert!(values.iter().all(|v| v.is_finite()), "{}: not finite", system.name);
    Ok((values, solved?))
}

/// GMRES in 64 bits by normal equations of nothing: the least residual of each Krylov space by orthonormal `A M V`, which are
/// directions of the residual. The relative residual after each iteration, and the solution.
fn twin(a: &Csr, b: &[f64], jacobi: bool, (restart, tol): (usize, f64), most: usize) -> (Vec<f64>, Vec<f64>) {
    let inverse: Vec<f64> = a.diagonal().iter().map(|d| if jacobi { 1.0 / d } else { 1.0 }).collect();
    let (mut x, mut r) = (vec![0.0; b.len()], b.to_vec());
    let mut history = vec![1.0];
    while *history.last().unwrap() > tol && history.len() <= most {
        // Directions, and what A maps them to, orthonormal: generalised conjugate residuals.
        let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for _ in 0..restart {
            let from = pairs.last().map_or(&r, |(_, q)| q);
            let mut p: Vec<f64> = from.iter().zip(&inverse).map(|(v, d)| v * d).collect();
            let mut q = apply(a, &p);
            for _ in 0..2 {
                for (before, mapped) in &pairs {
                    let part = dot(&q, mapped);
                    p.iter_mut().zip(before).for_each(|(p, v)| *p -= part * v);
                    q.iter_mut().zip(mapped).for_each(|(q, v)| *q -= part * v);
                }
            }
            let size = norm(&q);
            p.iter_mut().chain(&mut q).for_each(|v| *v /= size);
            let step = dot(&r, &q);
            x.iter_mut().zip(&p).for_each(|(x, p)| *x += step * p);
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
            pairs.push((p, q));
            history.push(norm(&r) / norm(b));
            if *history.last().unwrap() <= tol || history.len() > most || pairs.len() == b.len() {
                break;
            }
        }
    }
    (history, x)
}

#[test]
fn solutions_and_residuals_are_those_of_the_twin() {
    on_both(|device| {
        for system in generated() {
            for (restart, jacobi) in [(50, false), (50, true), (7, true), (4, false)] {
                let stop = Stop::relative(1e-5).check_every(1);
                let asked = params(1e-5).with_restart(restart).with_stop(stop);
                let (x, report) = solve(device, &system, jacobi, asked).unwrap();
                let label = format!("{}, {restart}, Jacobi {jacobi}: {report:?}", system.name);
                let (history, solution) = twin(&system.a, &system.b, jacobi, (restart, 1e-5), 2000);
                if history.len() > 2000 {
                    continue; // short cycles lead nowhere, or nearly
                }
                assert_eq!(report.reason, StopReason::Converged, "{label}");
                let residual = relative_residual(&system.a, &x, &system.b);
                assert!(residual <= 1.01e-5, "{label}: {residual:e}");
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
                let wanted = history.len() - 1;
                // A cycle more where rounding is far from the bound, on the way.
                let most = wanted + wanted / 5 + restart.min(10);
                assert!(report.iterations <= most, "{label}: {wanted} in 64 bits");
                assert!(relative_error(&x, &solution) <= 2100.0 * 4e-5, "{label}");
                // In the first cycle, as long as what is left is far above what 32 bits are off by.
                let early = report.history.iter().filter(|point| point.iteration <= restart.min(wanted));
                for HistoryPoint { iteration: k, residual: found, .. } in early {
                    let off = (found - history[*k]).abs();
                    assert!(off <= 1e-2 * history[*k] + 1e-5, "{label}: {found:e} for {:e}", history[*k]);
                }
                assert!(report.history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}");
                // By its recurrence: a certified residual may be larger than that has promised.
                let polled = report.history.iter().filter(|point| point.kind == ResidualKind::Recurrence);
                let polled: Vec<f64> = polled.map(|point| point.residual).collect();
                assert!(polled.windows(2).all(|w| w[1] <= 1.01 * w[0] + 1e-6), "{label}");
            }
        }
    });
}

#[test]
fn cycles_of_all_lengths() {
    on_both(|device| {
        let system = System::of_ones("wind", convection(13, 7, 2.0));
        for restart in [1, 2, 3, 4, 5, 8, 31, 90, 91, 92, MOST_RESTART] {
            for flexible in [false, true] {
                let asked = params(1e-5).with_restart(restart).with_flexible(flexible);
                let (x, report) = solve(device, &system, true, asked).unwrap();
                assert!(report.converged(), "{restart}: {report:?}");
                assert!(relative_residual(&system.a, &x, &system.b) <= 1.01e-5, "{restart}");
            }
        }
        for n in [1, 2, 3, 4, 5] {
            let system = System::of_ones("short", convection(n, 1, 0.3));
            let (_, report) = solve(device, &system, false, params(1e-6)).unwrap();
            // At most as many directions as unknowns, twice where the first is cut off by rounding.
            assert!(report.converged() && report.iterations <= 2 * n, "{n}: {report:?}");
        }
    });
}

/// Another diagonal in every application.
struct Changing<'a>(&'a Jacobi, Cell<u32>);

impl Preconditioner for Changing<'_> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let count = self.1.get();
        self.1.set(count + 1);
        if count.is_multiple_of(3) { ops::scaled(z, -3.0, r) } else { self.0.apply(z, r) }
    }
}

#[test]
fn flexible_cycles_take_any_preconditioner() {
    on_both(|device| {
        let system = System::of_ones("wind", convection(17, 9, 1.0));
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let jacobi = Jacobi::new(&a).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        let run = |flexible| {
            let m = Changing(&jacobi, Cell::new(0));
            let mut x = Vector::zeros(device, system.n()).unwrap();
            let asked = params(1e-5).with_flexible(flexible).with_max_iters(300);
            let report = Gmres::preconditioned(&a, &m, asked).unwrap().solve(&mut x, &b).unwrap();
            honest("changing", &system.a, &system.b, &x.read().unwrap(), &report, 1e-5);
            report
        };
        let (plain, flexible) = (run(false), run(true));
        assert!(flexible.converged(), "{flexible:?}");
        // Of vectors mapped by one, and the sum by another, nothing comes.
        assert!(!plain.converged() || plain.iterations > 2 * flexible.iterations, "{plain:?}, {flexible:?}");
    });
}

#[test]
fn what_leads_nowhere_ends() {
    on_both(|device| {
        // All around: the residual stays as it is, whatever it is, until the last unknown.
        let n = 12;
        let around = entries(n, n, (0..n).map(|i| (i, (i + 1) % n, 1.0)));
        let mut b = vec![0.0; n];
        b[0] = 1.5;
        let system = System { name: "around".into(), a: around, b };
        let (_, report) = solve(device, &system, false, params(1e-5).with_restart(n - 1)).unwrap();
        let text = report.to_string();
        assert!(text.contains("longer cycles or another preconditioner may help"), "{text}");
        assert!(report.iterations == n - 1 && report.true_residual == 1.0, "{report:?}");
        assert_eq!(report.breakdown.unwrap().value, 1.0, "of it nothing has been taken off");
        let (x, report) = solve(device, &system, false, params(1e-5).with_restart(n)).unwrap();
        assert!(report.converged() && report.iterations == n, "{report:?}");
        assert!((x[1] - 1.5).abs() < 1e-5, "{x:?}");
        // Skew-symmetric, and an exchange: nothing breaks down.
        let skew = (0..20).flat_map(|k| {
            let v = 1.0 + k as f64 / 8.0;
            [(2 * k, 2 * k + 1, v), (2 * k + 1, 2 * k, -v)]
        });
        for (name, a) in [
            ("skew", entries(40, 40, skew.collect::<Vec<_>>())),
            ("exchange", entries(2, 2, [(0, 1, 1.0), (1, 0, 1.0)])),
        ] {
            let system = System::of_ones(name, a);
            let (x, report) = solve(device, &system, false, params(1e-5)).unwrap();
            honest(name, &system.a, &system.b, &x, &report, 1e-5);
            assert!(report.converged(), "{name}: {report:?}");
        }
        // A solution past the range.
        let tiny = entries(2, 2, [(0, 0, 1e-39), (1, 1, 2e-39), (0, 1, 5e-40)]);
        let system = System { name: "tiny".into(), a: tiny, b: vec![1.0, 1.0] };
        let b = Vector::from_f64(device, &system.b).unwrap();
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let mut x = Vector::zeros(device, 2).unwrap();
        let report = Gmres::new(&a, params(1e-5)).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::Diverged, "{report:?}");
        assert_eq!(x.read().unwrap(), [0.0, 0.0]);
        // Mapped to zero, and to nothing that the residual is part of: there is no solution.
        for (name, a) in [
            ("zero", entries(3, 3, [(0, 0, 0.0)])),
            ("nilpotent", entries(2, 2, [(0, 1, 1.0)])),
            ("singular", entries(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)])),
        ] {
            let n = a.shape().rows;
            let system = System { name: name.into(), a, b: vec![0.0, 1.0, 1.0][..n].to_vec() };
            let (x, report) = solve(device, &system, false, params(1e-5).with_max_iters(500)).unwrap();
            honest(name, &system.a, &system.b, &x, &report, 1e-5);
            assert!(!report.converged() && report.iterations < 20, "{name}: {report:?}");
            let broken = report.breakdown.map(|broken| (broken.quantity, broken.value));
            assert!(name != "zero" || broken == Some(("|AMv|", 0.0)), "{name}: {report:?}");
        }
    });
}

#[test]
fn looks_and_powers_of_two_change_nothing() {
    on_both(|device| {
        for system in generated() {
            for (tol, max_iters, restart) in [(1e-5, 20_000, 10), (1e-9, 150, 33), (1e-6, 9, 4)] {
                let run = |every| {
                    let stop = Stop::relative(tol).check_every(every);
                    let asked = params(tol).with_stop(stop).with_max_iters(max_iters).with_restart(restart);
                    let (x, report) = solve(device, &system, true, asked).unwrap();
                    assert!(report.iterations <= max_iters);
                    (bits(&x), report.iterations, report.reason, report.true_residual, report.replacements)
                };
                let once = run(1);
                for every in [7, 64] {
                    assert_eq!(run(every), once, "{} {tol:e} every {every}", system.name);
                }
            }
        }
        for base in generated().into_iter().skip(1).take(6) {
            systems::assert_scales(&base, &systems::POWERS, |s: &System| {
                solve(device, s, true, params(1e-5))
            });
        }
    });
}

#[test]
fn pairs_come_to_eleven_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, a) in [("wind", convection(23, 11, 5.0)), ("point", convection(1, 1, 1.0))] {
            let n = a.shape().rows;
            let b: Vec<f64> = wide(3, n).into_iter().map(paired).collect();
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let right = DoubleVector::from_f64(device, &b).unwrap();
            for restart in [20, 50] {
                let mut x = DoubleVector::zeros(device, n).unwrap();
                let asked = params(1e-11).with_restart(restart);
                let report = Gmres::new(&stored, asked).unwrap().solve(&mut x, &right).unwrap();
                certified(&format!("{name}, {restart}"), &report, &a, &x.read().unwrap(), &b, 1e-11);
            }
        }
    });
}

/// U S V of reflections and singular values from 1 to `least`; and a circle of such weights, where nothing falls for a whole cycle.
fn nearly_singular(n: usize, least: f64) -> [(&'static str, Csr); 2] {
    let value = |i: usize| least.powf(i as f64 / (n - 1) as f64);
    let axis = |seed: u64| {
        let v: Vec<f64> = crate::common::random::uniform(seed, n).into_iter().map(f64::from).collect();
        let size = norm(&v);
        v.into_iter().map(|v| v / size).collect::<Vec<_>>()
    };
    let (u, v) = (axis(7), axis(8));
    let reflected = |axis: &[f64], i: usize, j: usize| f64::from(u8::from(i == j)) - 2.0 * axis[i] * axis[j];
    let element = |i: usize, j: usize| {
        let terms = (0..n).map(|k| reflected(&u, i, k) * value(k) * reflected(&v, k, j));
        (i, j, paired(terms.sum()))
    };
    let dense: Vec<_> = (0..n * n).map(|k| element(k / n, k % n)).collect();
    let circle: Vec<_> = (0..n).map(|i| (i, (i + 1) % n, paired(value(i)))).collect();
    [("dense", systems::entries(n, n, dense)), ("circle", systems::entries(n, n, circle))]
}

#[test]
fn what_32_bits_do_not_gain_on_is_solved_in_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let mut by_pairs = 0;
        for (name, a) in [1e-9, 1e-10].into_iter().flat_map(|least| nearly_singular(33, least)) {
            let b = apply(&a, &vec![1.0; 33]).into_iter().map(paired).collect::<Vec<_>>();
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let right = DoubleVector::from_f64(device, &b).unwrap();
            // Longer cycles than unknowns, and ones that take every fourth and fifth image as a chunk of its own.
            for (restart, flexible) in [(50, false), (33, true)] {
                let mut x = DoubleVector::zeros(device, 33).unwrap();
                let asked = params(1e-11).with_restart(restart).with_flexible(flexible);
                let report = Gmres::new(&stored, asked).unwrap().solve(&mut x, &right).unwrap();
                let label = format!("{name}, {restart}: {report:?}");
                certified_in_norm(&label, &report, &a, &x.read().unwrap(), &b, 1e-11);
                // Rows of the circle are as small as its singular values.
                assert!(name == "circle" || report.converged(), "{label}");
                // One cycle of all unknowns, or less after a good start; none where the device's roundings happen to suit 32 bits.
                assert!(report.double_iterations <= 33, "{label}");
                by_pairs += usize::from(report.double_iterations > 0);
            }
            // Short ones have nothing to gain from them.
            let mut x = DoubleVector::zeros(device, 33).unwrap();
            let report = Gmres::new(&stored, params(1e-11).with_restart(5)).unwrap().solve(&mut x, &right);
            let report = report.unwrap();
            assert!(!report.converged() && report.breakdown.is_some(), "{name}: {report:?}");
        }
        assert!(by_pairs >= 6, "{by_pairs} of 8 systems in pairs");
    });
}

#[test]
fn real_unsymmetric_matrices_are_honest() {
    let matrices = systems::data_matrices(&[("unsym", 6)], "unsymmetric systems by GMRES");
    on_both(|device| {
        for (name, a) in &matrices {
            let gather = MatrixFormat::Sparse(SparseFormat::Gather);
            if !systems::gather_fits(device, a) || !systems::fits(device, a, gather) {
                continue;
            }
            let system = System::of_ones(name, a.clone());
            let (x, report) = solve(device, &system, false, params(1e-4).with_max_iters(400)).unwrap();
            data::say(&format!("{name}: {report}"));
            honest(name, a, &system.b, &x, &report, 1e-4);
        }
    });
}

#[test]
fn starts_right_hand_sides_and_parameters_of_all_kinds() {
    on_both(|device| {
        let system = System::of_ones("wind", convection(12, 9, 2.0));
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let solver = Gmres::new(&a, params(1e-5)).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        for start in [1.0f32, 1e6, -1e20] {
            let mut x = Vector::filled(device, system.n(), start).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{start:e}: {report:?}");
            assert!(relative_residual(&system.a, &x.read().unwrap(), &system.b) <= 1.01e-5);
            assert!(start != 1.0 || report.iterations == 0);
        }
        let mut x = Vector::filled(device, system.n(), 3.0).unwrap();
        let report = solver.solve(&mut x, &Vector::zeros(device, system.n()).unwrap()).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
        assert!(x.read().unwrap().iter().all(|v| *v == 0.0));
        for restart in [0, MOST_RESTART + 1] {
            let error = Gmres::new(&a, params(1e-5).with_restart(restart)).unwrap_err();
            assert!(matches!(error, Error::Parameter { name: "restart", .. }), "{error}");
        }
        let wide = StoredMatrix::new(device, entries(2, 3, [(0, 0, 1.0)]), MatrixFormat::Auto).unwrap();
        assert!(matches!(Gmres::new(&wide, params(1e-5)), Err(Error::Matrix { .. })));
        let wrong = solver.solve(&mut Vector::zeros(device, 5).unwrap(), &b);
        assert!(matches!(wrong, Err(Error::ShapeMismatch { .. })));
        assert!(Gmres::new(&a, params(-1.0)).is_err());
    });
}
