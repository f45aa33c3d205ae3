//! Stationary methods around a smoother, and weighted Jacobi.

use crate::common::bounds::{self, U, gamma, product_bound};
use crate::common::harness::{assert_padded, on_both};
use crate::common::{random, reference};
use crate::systems::{self, System, bits, csr, entries, fits, mapped, relative_residual, row_terms};
use texla::host::{Csr, problems};
use texla::ops::{self, Combine};
use texla::solve::{
    ConjugateGradient, HistoryPoint, LinOp, Preconditioner, Smoother, SolveReport, Stationary,
    StationaryParams, Stop, StopReason, WeightedJacobi,
};
use texla::{Device, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

fn params(tol: f64) -> StationaryParams {
    StationaryParams::default().with_stop(Stop::relative(tol))
}

/// Systems for which Jacobi converges.
fn contracting() -> Vec<System> {
    vec![
        System::of_ones("poisson 1d", problems::poisson_1d(30).to_csr()),
        System::of_ones("poisson 2d", problems::poisson_2d(12, 9).to_csr()),
        System::of_ones("dominant", csr(&random::spd(1, 151, 0.05))),
    ]
}

/// Solves from zero by weighted Jacobi.
fn solve(
    device: &Device,
    system: &System,
    format: MatrixFormat,
    omega: f64,
    params: StationaryParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), format)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let jacobi = WeightedJacobi::new(&a, omega)?;
    let report = Stationary::new(&a, &jacobi, params)?.solve(&mut x, &b)?;
    assert_padded(&x, &system.name);
    Ok((x.read()?, report))
}

/// A sweep in f64 and, given bounds on the error of `x`, those on the error of the result.
fn sweep(a: &Csr, omega: f64, x: &[f64], error: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let product = systems::apply(a, x);
    let spread = systems::apply(&mapped(a, f64::abs), error);
    let magnitudes = systems::apply_abs(a, x);
    let diagonal = a.diagonal();
    let mut next = Vec::new();
    let mut bound = Vec::new();
    for (i, terms) in row_terms(a).into_iter().enumerate() {
        let w = omega / diagonal[i];
        let r = b[i] - product[i];
        next.push(x[i] + w * r);
        // |x + w (b - A x)| changes by at most the sum over the row, the diagonal's own part included.
        let passed =
            (1.0 - w * diagonal[i]).abs() * error[i] + w.abs() * (spread[i] - diagonal[i].abs() * error[i]);
        let abs_sum = magnitudes[i] + spread[i] + b[i].abs();
        let residual = product_bound(abs_sum, terms + 1);
        let local = w.abs() * (residual * (1.0 + gamma(3)) + gamma(3) * (r.abs() + spread[i]));
        let size = x[i].abs() + error[i] + w.abs() * (r.abs() + spread[i] + residual);
        bound.push(passed + local + U * size * (1.0 + gamma(2)) + 2.0 * bounds::TINY);
    }
    (next, bound)
}

#[test]
fn sweeps_agree_with_their_twin() {
    on_both(|device| {
        let mut systems = contracting();
        systems.push(System::of_ones("unsymmetric", csr(&random::sparse_rows(7, 97, 97, 5))));
        for n in [1, 2, 3, 5] {
            systems.push(System::of_ones(&format!("poisson {n}"), problems::poisson_1d(n).to_csr()));
        }
        for mut system in systems {
            // Rows without a diagonal get one.
            let d = system.a.diagonal();
            let more = d.iter().enumerate().filter(|(_, d)| **d == 0.0).map(|(i, _)| (i, i, 3.0));
            let n = system.n();
            system.a = systems::rounded(&entries(n, n, system.a.entries().chain(more).collect::<Vec<_>>()));
            for format in [MatrixFormat::Banded, MatrixFormat::Sparse(SparseFormat::Gather)] {
                if !fits(device, &system.a, format) {
                    continue;
                }
                let a = StoredMatrix::new(device, system.a.clone(), format).unwrap();
                for omega in [1.0, 0.7] {
                    let jacobi = WeightedJacobi::new(&a, omega).unwrap();
                    let start = random::uniform(3, n);
                    let mut x = Vector::from_slice(device, &start).unwrap();
                    let b = Vector::from_f64(device, &system.b).unwrap();
                    let mut twin = reference::widen(&start);
                    let mut bound = vec![0.0; n];
                    for (sweeps, count) in [(0, 0), (1, 1), (2, 1), (5, 3), (12, 7)] {
                        jacobi.smooth(&mut x, &b, count).unwrap();
                        for _ in 0..count {
                            (twin, bound) = sweep(&system.a, omega, &twin, &bound, &system.b);
                        }
                        let label = format!("{} {format:?} ω {omega}, {sweeps} sweeps", system.name);
                        bounds::assert_componentwise(&label, &x.read().unwrap(), &twin, &bound);
                        assert_padded(&x, &label);
                    }
                }
            }
        }
    });
}

#[test]
fn what_converges_is_certified() {
    on_both(|device| {
        for system in contracting() {
            for format in [MatrixFormat::Banded, MatrixFormat::Sparse(SparseFormat::Gather)] {
                for tol in [1e-3, 1e-6] {
                    if !fits(device, &system.a, format) {
                        continue;
                    }
                    let (x, report) = solve(device, &system, format, 1.0, params(tol)).unwrap();
                    let label = format!("{} {format:?} {tol:e}: {report:?}", system.name);
                    let residual = relative_residual(&system.a, &x, &system.b);
                    assert_eq!(report.reason, StopReason::Converged, "{label}");
                    assert!(residual <= 2.0 * tol, "{label}: {residual:e}");
                    assert!((report.true_residual - residual).abs() <= 0.05 * residual, "{label}");
                    assert!(systems::lapack_ratio(&system.a, &x, &system.b) < 30.0 || tol > 1e-6, "{label}");
                    assert_eq!((report.readbacks_in_loop, report.iterations % 8), (0, 0), "{label}");
                    // A sweep is one pass, unless diagonals leave its textures no room.
                    let draws = report.draws_per_iteration;
                    assert!(draws == 1 || format == MatrixFormat::Banded && draws > 0, "{label}");
                    assert!(report.history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}");
                }
            }
        }
    });
}

#[test]
fn the_rate_is_that_of_the_theory() {
    on_both(|device| {
        // b is an eigenvector of the iteration: each sweep multiplies the residual by cos(π / (n + 1)) exactly.
        let n = 19;
        let h = std::f64::consts::PI / (n as f64 + 1.0);
        let b = (1..=n).map(|i| f64::from((h * i as f64).sin() as f32)).collect();
        let system = System { name: "mode".into(), a: problems::poisson_1d(n).to_csr(), b };
        let params = params(1e-3).with_test_every(1);
        let (_, report) = solve(device, &system, MatrixFormat::Auto, 1.0, params).unwrap();
        let wanted = (1e-3f64.ln() / h.cos().ln()).ceil();
        assert!((report.iterations as f64 - wanted).abs() <= 1.0, "{} for {wanted}", report.iterations);
    });
}

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        for mut system in contracting() {
            // A solution that 32 bits do not hold.
            system.b = random::uniform(8, system.n()).iter().map(|v| f64::from(*v)).collect();
            for (tol, max_sweeps, test_every) in
                [(1e-4, 20_000, 8), (1e-10, 20_000, 5), (1e-6, 21, 8), (1e-6, 7, 8)]
            {
                let run = |every| {
                    let stop = Stop::relative(tol).check_every(every);
                    let params =
                        params(tol).with_stop(stop).with_max_sweeps(max_sweeps).with_test_every(test_every);
                    let (x, report) = solve(device, &system, MatrixFormat::Auto, 1.0, params).unwrap();
                    let said = (report.iterations, report.reason, report.true_residual, report.replacements);
                    (bits(&x), said)
                };
                let once = run(1);
                for every in [1, 16, 100] {
                    assert_eq!(run(every), once, "{} {tol:e} every {every}", system.name);
                }
                let (iterations, reason, ..) = once.1;
                let wanted = match (tol, max_sweeps) {
                    (1e-4, _) => StopReason::Converged,
                    (1e-10, _) => StopReason::Stagnated,
                    _ => StopReason::MaxIterations,
                };
                // The dominant one is done before.
                if !(wanted == StopReason::MaxIterations && reason == StopReason::Converged) {
                    assert_eq!(reason, wanted, "{} {tol:e} {iterations}", system.name);
                }
                assert!(iterations <= max_sweeps);
            }
        }
    });
}

#[test]
fn what_diverges_is_reported_and_the_start_comes_back() {
    on_both(|device| {
        // The spectral radius of Jacobi is 2, that of the damped one with ω = 2 about 3, and one that overflows at once.
        let coupled = entries(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]);
        let huge = entries(2, 2, [(0, 0, 1e-12), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1e-12)]);
        let cases = [
            ("coupled", coupled, 1.0),
            ("poisson", problems::poisson_1d(50).to_csr(), 2.0),
            ("huge", huge, 1.0),
        ];
        for (name, a, omega) in cases {
            let system = System::of_ones(name, a);
            for test_every in [1, 8, 64] {
                let params = params(1e-6).with_test_every(test_every);
                let (x, report) =
                    solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), omega, params)
                        .unwrap();
                assert_eq!(report.reason, StopReason::Diverged, "{name} {report:?}");
                assert!(x.iter().all(|v| *v == 0.0), "{name}: {x:?}");
                assert_eq!(report.true_residual, 1.0, "{name}");
            }
        }
    });
}

#[test]
fn far_starts_zero_sides_and_extremes() {
    on_both(|device| {
        let system = System::of_ones("dominant", csr(&random::spd(1, 60, 0.1)));
        let a =
            StoredMatrix::new(device, system.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let solver = Stationary::new(&a, &jacobi, params(1e-5)).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        for start in [1e6f32, 1e20, -1e30] {
            let mut x = Vector::filled(device, 60, start).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{start:e}: {report:?}");
            assert!(relative_residual(&system.a, &x.read().unwrap(), &system.b) <= 2e-5);
        }
        let zero = Vector::zeros(device, 60).unwrap();
        let mut x = Vector::filled(device, 60, 3.0).unwrap();
        let report = solver.solve(&mut x, &zero).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
        assert!(x.read().unwrap().iter().all(|v| *v == 0.0));
        // From the solution, nothing is done.
        let mut x = Vector::filled(device, 60, 1.0).unwrap();
        let report = solver.solve(&mut x, &b).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
    });
}

#[test]
fn powers_of_two_change_no_bit() {
    on_both(|device| {
        for base in contracting() {
            let run = |s: &System| solve(device, s, MatrixFormat::Auto, 0.9, params(1e-5));
            systems::assert_scales(&base, &systems::POWERS, run);
        }
    });
}

/// Richardson's method: a smoother of the test's own.
struct Richardson<'a>(&'a dyn LinOp, f32);

impl Smoother for Richardson<'_> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        for _ in 0..sweeps {
            let mut r = Vector::zeros(x.device(), x.len())?;
            ops::product(&mut r, Combine::SubtractFrom(b), 1.0, self.0, x)?;
            ops::accumulate_scaled(x, self.1, &r)?;
        }
        Ok(())
    }
}

#[test]
fn a_users_smoother_is_solved_with() {
    on_both(|device| {
        let system = System::of_ones("poisson", problems::poisson_2d(7, 7).to_csr());
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        let mut x = Vector::zeros(device, 49).unwrap();
        let smoother = Richardson(&a, 0.25);
        let mut seen = Vec::new();
        let solver = Stationary::new(&a, &smoother, params(1e-5)).unwrap();
        let report = solver.solve_observed(&mut x, &b, |point| seen.push(point)).unwrap();
        assert!(report.converged(), "{report:?}");
        // Of one iterate the certified residual comes last, and stays.
        let last = |k: usize| seen.iter().rev().find(|point| point.iteration == k).copied().unwrap();
        let told: Vec<HistoryPoint> = report.history.iter().map(|point| last(point.iteration)).collect();
        assert_eq!(report.history, told);
        assert!(seen.iter().all(|point| told.iter().any(|kept| kept.iteration == point.iteration)));
        assert!(x.read().unwrap().iter().all(|v| (v - 1.0).abs() < 1e-3));
        // The same as Jacobi: the diagonal is 4.
        let (y, jacobi) = solve(device, &system, MatrixFormat::Auto, 1.0, params(1e-5)).unwrap();
        assert_eq!((report.iterations, bits(&x.read().unwrap())), (jacobi.iterations, bits(&y)));
    });
}

#[test]
fn as_a_preconditioner_it_is_jacobis() {
    on_both(|device| {
        let a = csr(&random::spd(5, 120, 0.06));
        let scale: Vec<f64> = (0..120).map(|i| 2f64.powi(i % 9 - 4)).collect();
        let scaled = a.entries().map(|(i, j, v)| (i, j, v * scale[i] * scale[j])).collect::<Vec<_>>();
        let system = System::of_ones("badly scaled", entries(120, 120, scaled));
        let a =
            StoredMatrix::new(device, system.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let m = WeightedJacobi::new(&a, 1.0).unwrap();
        assert!(m.diagonal().is_some());
        let b = Vector::from_f64(device, &system.b).unwrap();
        let mut counts = Vec::new();
        for schedule in systems::schedules(device) {
            let params = systems::params(1e-6).with_schedule(schedule);
            let mut x = Vector::zeros(device, 120).unwrap();
            let report =
                ConjugateGradient::preconditioned(&a, &m, params).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{schedule:?} {report:?}");
            counts.push(report.iterations);
        }
        let plain = systems::solve(
            device,
            &system,
            MatrixFormat::Sparse(SparseFormat::Gather),
            false,
            systems::params(1e-6),
        )
        .unwrap();
        assert!(counts.iter().all(|c| 2 * c < plain.1.iterations), "{counts:?} {}", plain.1.iterations);
    });
}

#[test]
fn errors_name_what_is_wrong() {
    on_both(|device| {
        let no_diagonal = entries(3, 3, [(0, 0, 1.0), (1, 0, 1.0), (2, 2, 1.0)]);
        let a = StoredMatrix::new(device, no_diagonal, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        match WeightedJacobi::new(&a, 1.0).err() {
            Some(Error::Matrix { op: "WeightedJacobi", detail }) => {
                assert!(detail.contains("0 in row 1"), "{detail}")
            }
            other => panic!("{other:?}"),
        }
        let wide = StoredMatrix::new(
            device,
            entries(2, 3, [(0, 0, 1.0)]),
            MatrixFormat::Sparse(SparseFormat::Gather),
        )
        .unwrap();
        assert!(matches!(WeightedJacobi::new(&wide, 1.0).err(), Some(Error::Matrix { .. })));
        let a = StoredMatrix::new(device, problems::poisson_1d(8).to_csr(), MatrixFormat::Auto).unwrap();
        for omega in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = WeightedJacobi::new(&a, omega).err();
            assert!(matches!(refused, Some(Error::Parameter { name: "omega", .. })), "{refused:?}");
        }
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        assert!(matches!(
            Stationary::new(&wide, &jacobi, params(1e-5)).err(),
            Some(Error::Matrix { op: "Stationary", .. })
        ));
        for (bad, name) in [
            (params(1e-5).with_max_sweeps(1 << 24), "max_sweeps"),
            (params(1e-5).with_test_every(0), "test_every"),
            (params(0.0), "relative"),
        ] {
            match Stationary::new(&a, &jacobi, bad).err() {
                Some(Error::Parameter { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{other:?}"),
            }
        }
        let of = |n| Vector::filled(device, n, 1.0).unwrap();
        for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
            match Stationary::new(&a, &jacobi, params(1e-5)).unwrap().solve(&mut of(n), &of(m)) {
                Err(Error::ShapeMismatch { op: "Stationary::solve", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
            match jacobi.smooth(&mut of(n), &of(m), 1) {
                Err(Error::ShapeMismatch { op: "WeightedJacobi::smooth", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

/// One unknown is solved for at once while two others grow tenfold a sweep, from next to nothing: in range at the first
/// test, far out of it at the second. What comes back is the iterate of the first, not the start, and nothing out of range.
#[test]
fn an_iterate_out_of_range_does_not_replace_one_that_is_better_than_the_start() {
    on_both(|device| {
        let a = entries(3, 3, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (1, 2, 10.0), (2, 1, 10.0)]);
        let a = StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_slice(device, &[1.0, 0.0, 0.0]).unwrap();
        let mut x = Vector::from_slice(device, &[0.0, 1e-30, 1e-30]).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let params = params(1e-7).with_test_every(25);
        let report = Stationary::new(&a, &jacobi, params).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::Diverged, "{report:?}");
        let x = x.read().unwrap();
        // 25 sweeps change the sign and come to 1e-5.
        assert!(x[0] == 1.0 && (x[1] / -1e-5 - 1.0).abs() < 1e-4 && x[1] == x[2], "{x:?}");
    });
}

/// What counts as grown is the smallest residual so far, not the start's: 6e-4 after one sweep, twenty times as much after
/// each of the next, which is 1.6e5 times as much after four.
#[test]
fn growth_is_measured_from_the_smallest_residual() {
    on_both(|device| {
        let a = entries(3, 3, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (1, 2, 20.0), (2, 1, 20.0)]);
        let a = StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_slice(device, &[1.0, 0.0, 0.0]).unwrap();
        let mut x = Vector::from_slice(device, &[0.0, 1e-6, 1e-6]).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let params = params(1e-6).with_test_every(1);
        let report = Stationary::new(&a, &jacobi, params).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Diverged, 5), "{report:?}");
    });
}
