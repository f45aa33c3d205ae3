//! Stationary methods for pairs of floats: sweeps in 32 bits improve what pairs hold.

use crate::common::forms::{all_forms, laplacian, sparse_forms};
use crate::common::harness::{assert_padded, on_both};
use crate::common::pairs::{OfUsers, certified, is_exact, paired, true_residual, wide};
use crate::common::random;
use crate::systems::{self, csr, entries, mapped};
use texla::host::{Csr, problems};
use texla::ops;
use texla::solve::{
    Direction, GaussSeidel, LinOp, Multigrid, MultigridParams, Smoother, SolveReport, Stationary,
    StationaryParams, Stop, StopReason, WeightedJacobi,
};
use texla::{
    DoubleVector, Error, Grid, Matrix, Result, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil,
    StencilParams, Unknowns, Vector,
};

fn params(tol: f64) -> StationaryParams {
    StationaryParams::default().with_stop(Stop::relative(tol))
}

/// Solves from a start: the elements and the report.
fn solve(
    (a, smoother): (&dyn LinOp, &dyn Smoother),
    start: &[f64],
    b: &impl Unknowns,
    params: StationaryParams,
) -> Result<(Vec<f64>, SolveReport)> {
    let mut x = DoubleVector::from_f64(a.device(), start)?;
    let report = Stationary::new(a, smoother, params)?.solve(&mut x, b)?;
    assert_padded(x.high(), "high");
    assert_padded(x.low(), "low");
    Ok((x.read()?, report))
}

/// Matrices for which Jacobi converges, of odd sizes and of one unknown.
fn contracting() -> Vec<(&'static str, Csr)> {
    let poisson = problems::poisson_2d(13, 9).to_csr();
    let unsymmetric = poisson.entries().map(|(i, j, v)| {
        (
            i,
            j,
            if i < j {
                1.25 * v
            } else if i > j {
                0.7 * v
            } else {
                v
            },
        )
    });
    let unsymmetric = entries(117, 117, unsymmetric.collect::<Vec<_>>());
    vec![
        ("one", entries(1, 1, [(0, 0, 0.3)])),
        ("three", problems::poisson_1d(3).to_csr()),
        ("poisson", poisson),
        ("unsymmetric", unsymmetric),
        ("dominant", csr(&random::spd(1, 151, 0.05))),
    ]
}

/// What a stencil's cycles do alone, where 32 bits end at 1e-3: as many cycles as digits.
#[test]
fn multigrid_cycles_alone_come_to_ten_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // Small textures have no room for the largest.
        let room = texla::shape::max_folded_len(device.capabilities().max_texture_size);
        let side = if room < 65_536 { 64 } else { 256 };
        for (nx, ny, tol, most) in [(side, side, 1e-10, 18), (67, 41, 1e-11, 30), (20, 1, 1e-12, 20)] {
            let n = nx * ny;
            let a = laplacian(device, nx, ny);
            let m = Multigrid::new(&a, MultigridParams::default()).unwrap();
            let b = Vector::filled(device, n, 1.0).unwrap();
            let params = params(tol).with_test_every(1);
            let run = || solve((&a, &m), &vec![0.0; n], &b, params).unwrap();
            let (x, report) = run();
            let label = format!("{nx}x{ny}");
            certified(&label, &report, &problems::poisson_2d(nx, ny).to_csr(), &x, &vec![1.0; n], tol);
            // A look that arrives late may find a cycle begun.
            let late = report.draws_in_vain <= 2 * report.draws_per_iteration;
            assert!(report.iterations <= most && late, "{label}: {report:?}");
            assert!(
                report.history.windows(2).all(|w| w[0].iteration < w[1].iteration),
                "{label}: {report:?}"
            );
            let (same, again) = run();
            assert_eq!(
                (again.iterations, same),
                (report.iterations, x),
                "{label}: not the same when repeated"
            );
        }
    });
}

/// Every form, coefficients and right-hand sides of 48 bits, with the solution that they were made of.
#[test]
fn sweeps_solve_for_the_digits_that_were_given() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let tol = 1e-12;
        for (name, a) in contracting() {
            let n = a.shape().rows;
            let want: Vec<f64> = wide(3, n).into_iter().map(paired).collect();
            let check = |form: &str, stored: &dyn LinOp, a: &Csr| {
                let label = format!("{name}, {form}");
                let b: Vec<f64> = systems::apply(a, &want).into_iter().map(paired).collect();
                let db = DoubleVector::from_f64(device, &b).unwrap();
                let jacobi = WeightedJacobi::new(stored, 1.0).unwrap();
                let (x, report) = solve((stored, &jacobi), &vec![0.0; n], &db, params(tol)).unwrap();
                certified(&label, &report, a, &x, &b, tol);
                for (got, want) in x.iter().zip(&want) {
                    assert!((got - want).abs() <= 1e-9 * systems::norm(&b), "{label}: {got} for {want}");
                }
            };
            // The dense forms hold 32 bits.
            let floats = systems::rounded(&a);
            for (form, stored) in all_forms(device, &floats) {
                check(form, stored.as_ref(), &floats);
            }
            let pairs = mapped(&a, |v| paired(v * (1.0 + 1e-9)));
            for (form, stored) in sparse_forms(device, &pairs, 30) {
                check(form, stored.as_ref(), &pairs);
            }
        }
    });
}

#[test]
fn gauss_seidel_comes_as_far_in_half_of_the_sweeps() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let tol = 1e-11;
        let host = problems::poisson_2d(21, 15).to_csr();
        let a = SparseMatrix::from_csr(device, host.clone(), SparseFormat::Gather).unwrap();
        let b = wide(4, 315).into_iter().map(paired).collect::<Vec<f64>>();
        let db = DoubleVector::from_f64(device, &b).unwrap();
        let counts = [
            Box::new(WeightedJacobi::new(&a, 1.0).unwrap()) as Box<dyn Smoother>,
            Box::new(GaussSeidel::new(&a, 1.0, Direction::Forward).unwrap()),
            Box::new(GaussSeidel::new(&a, 1.7, Direction::Forward).unwrap()),
        ]
        .map(|smoother| {
            let (x, report) = solve((&a, smoother.as_ref()), &vec![0.0; 315], &db, params(tol)).unwrap();
            certified("21x15", &report, &host, &x, &b, tol);
            report.iterations
        });
        assert!(3 * counts[1] < 2 * counts[0] && 4 * counts[2] < counts[1], "{counts:?}");
    });
}

/// A sweep is a linear map: in 32 bits and in pairs it takes as many to a bound that both meet.
#[test]
fn a_bound_that_32_bits_meet_takes_as_many_sweeps() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, host) in contracting() {
            let n = host.shape().rows;
            let a = SparseMatrix::from_csr(device, host, SparseFormat::Gather).unwrap();
            let jacobi = WeightedJacobi::new(&a, 0.9).unwrap();
            let b = Vector::from_slice(device, &random::uniform(5, n)).unwrap();
            let params = params(1e-4).with_test_every(1);
            let mut x = Vector::zeros(device, n).unwrap();
            let report = Stationary::new(&a, &jacobi, params).unwrap().solve(&mut x, &b).unwrap();
            let (_, pairs) = solve((&a, &jacobi), &vec![0.0; n], &b, params).unwrap();
            assert!(report.converged() && pairs.converged(), "{name}: {report:?} {pairs:?}");
            assert!(report.iterations.abs_diff(pairs.iterations) <= 1, "{name}: {report:?} {pairs:?}");
        }
    });
}

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (host, n) = (problems::poisson_2d(11, 8).to_csr(), 88);
        let a = SparseMatrix::from_csr(device, host, SparseFormat::Gather).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let b = Vector::from_slice(device, &random::uniform(8, n)).unwrap();
        let cases = [
            (1e-10, 20_000, 8, StopReason::Converged),
            (1e-15, 20_000, 5, StopReason::Stagnated),
            (1e-9, 133, 8, StopReason::MaxIterations),
            (1e-9, 7, 8, StopReason::MaxIterations),
        ];
        for (tol, max_sweeps, test_every, reason) in cases {
            let run = |every| {
                let stop = Stop::relative(tol).check_every(every);
                let params =
                    params(tol).with_stop(stop).with_max_sweeps(max_sweeps).with_test_every(test_every);
                let (x, report) = solve((&a, &jacobi), &vec![0.0; n], &b, params).unwrap();
                (x, report.iterations, report.reason, report.true_residual, report.replacements)
            };
            let once = run(1);
            assert_eq!(once.2, reason, "{tol:e}");
            assert!(once.1 <= max_sweeps, "{tol:e}");
            for every in [16, 100] {
                assert_eq!(run(every), once, "{tol:e} every {every}");
            }
        }
    });
}

/// Where sweeps lead no further, what comes back is the best that there was, and far better than 32 bits.
#[test]
fn what_pairs_cannot_hold_stagnates() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (side, n) = (64, 4096);
        let a = laplacian(device, side, side);
        let host = problems::poisson_2d(side, side).to_csr();
        let m = Multigrid::new(&a, MultigridParams::default()).unwrap();
        let b = Vector::filled(device, n, 1.0).unwrap();
        let params = params(1e-13).with_test_every(1);
        let (x, report) = solve((&a, &m), &vec![0.0; n], &b, params).unwrap();
        assert_eq!(report.reason, StopReason::Stagnated, "{report:?}");
        let found = true_residual(&host, &x, &vec![1.0; n]);
        assert!(found <= 1e-12 && (found / report.true_residual - 1.0).abs() <= 1e-3, "{found:e} {report:?}");
        assert!(report.iterations <= 40, "{report:?}");
        // 32 bits end there at once.
        let mut x = Vector::zeros(device, n).unwrap();
        let single = Stationary::new(&a, &m, params).unwrap().solve(&mut x, &b).unwrap();
        assert!(single.reason == StopReason::Stagnated && single.true_residual > 1e-6, "{single:?}");
    });
}

/// As close as pairs are, and closer.
#[test]
fn bounds_near_the_last_bit() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let host = csr(&random::spd(6, 90, 0.02));
        let b: Vec<f64> = wide(7, 90).into_iter().map(paired).collect();
        let db = DoubleVector::from_f64(device, &b).unwrap();
        let a = SparseMatrix::from_csr(device, host.clone(), SparseFormat::Gather).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let (x, report) = solve((&a, &jacobi), &[0.0; 90], &db, params(1e-14)).unwrap();
        certified("1e-14", &report, &host, &x, &b, 1e-14);
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0]).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let b = DoubleVector::from_f64(device, &[1.0 + 2f64.powi(-40), 0.5]).unwrap();
        for (tol, reason) in [(2f64.powi(-48), StopReason::Converged), (1e-16, StopReason::Uncertified)] {
            let (x, report) = solve((&a, &jacobi), &[0.0; 2], &b, params(tol)).unwrap();
            assert_eq!(report.reason, reason, "{tol:e}: {report:?}");
            assert_eq!(x, [0.5 + 2f64.powi(-41), 0.125]);
        }
    });
}

#[test]
fn starts_near_and_far() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, tol) = (97, 1e-11);
        let host = csr(&random::spd(1, n, 0.05));
        let a = SparseMatrix::from_csr(device, host.clone(), SparseFormat::Gather).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let b: Vec<f64> = wide(9, n).into_iter().map(paired).collect();
        let db = DoubleVector::from_f64(device, &b).unwrap();
        let (solution, report) = solve((&a, &jacobi), &vec![0.0; n], &db, params(tol)).unwrap();
        certified("zero", &report, &host, &solution, &b, tol);
        let from = |label: &str, start: &[f64]| {
            let (x, report) = solve((&a, &jacobi), start, &db, params(tol)).unwrap();
            certified(label, &report, &host, &x, &b, tol);
            report.iterations
        };
        // From the solution nothing is done; its low part is half of the way.
        assert_eq!(from("the solution", &solution), 0);
        let rounded: Vec<f64> = solution.iter().map(|v| f64::from(*v as f32)).collect();
        let steps = from("its high part", &rounded);
        assert!(0 < steps && steps < report.iterations, "{steps} of {report:?}");
        for far in [1.0, -1e6, 1e11, 1e20, -1e30, 1e38] {
            from("far", &wide(10, n).iter().map(|v| v.signum() * far).collect::<Vec<f64>>());
        }
        // A right-hand side of zero has one solution.
        for zero in [vec![0.0; n], wide(11, n)] {
            let none = DoubleVector::zeros(device, n).unwrap();
            let (x, report) = solve((&a, &jacobi), &zero, &none, params(tol)).unwrap();
            assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
            assert_eq!(x, vec![0.0; n]);
        }
        // No unknowns.
        let none = Matrix::from_rows(device, Shape::new(0, 0), &[]).unwrap();
        let jacobi = WeightedJacobi::new(&none, 1.0).unwrap();
        let b = DoubleVector::zeros(device, 0).unwrap();
        let (_, report) = solve((&none, &jacobi), &[], &b, params(tol)).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
    });
}

/// Powers of two in A, in b and in both change neither a verdict nor a bit.
#[test]
fn powers_of_two_change_no_bit() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 61;
        let side = systems::mapped(&csr(&random::spd(2, n, 0.05)), paired);
        let right: Vec<f64> = wide(12, n).into_iter().map(paired).collect();
        let run = |of_a: i32, of_b: i32, tol: f64| {
            let a = mapped(&side, |v| v * 2f64.powi(of_a));
            let b: Vec<f64> = right.iter().map(|v| v * 2f64.powi(of_b)).collect();
            let db = DoubleVector::from_f64(device, &b).unwrap();
            let stored = SparseMatrix::from_csr(device, a.clone(), SparseFormat::Gather).unwrap();
            let jacobi = WeightedJacobi::new(&stored, 0.9).unwrap();
            let (x, report) = solve((&stored, &jacobi), &vec![0.0; n], &db, params(tol)).unwrap();
            if report.converged() {
                certified(&format!("2^{of_a}, 2^{of_b}"), &report, &a, &x, &b, tol);
            }
            let unit = 2f64.powi(of_a - of_b);
            (x.iter().map(|v| v * unit).collect::<Vec<f64>>(), report.iterations, report.reason)
        };
        for (tol, reason) in [(1e-12, StopReason::Converged), (4e-17, StopReason::Stagnated)] {
            let once = run(0, 0, tol);
            assert_eq!(once.2, reason, "{tol:e}");
            for (of_a, of_b) in [(60, 0), (-60, 0), (0, 60), (0, -60), (60, 60), (-60, -60), (25, -25)] {
                let (x, sweeps, reason) = run(of_a, of_b, tol);
                assert_eq!((sweeps, reason), (once.1, once.2), "2^{of_a}, 2^{of_b}, {tol:e}");
                assert!(x == once.0, "2^{of_a}, 2^{of_b}, {tol:e}: not the same bits");
            }
        }
    });
}

#[test]
fn what_diverges_is_reported_and_the_start_comes_back() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let coupled = entries(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]);
        let huge = entries(2, 2, [(0, 0, 1e-12), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1e-12)]);
        let cases = [
            ("coupled", coupled, 1.0),
            ("poisson", problems::poisson_1d(50).to_csr(), 2.0),
            ("huge", huge, 1.0),
        ];
        for (name, host, omega) in cases {
            let n = host.shape().rows;
            let b = Vector::from_f64(device, &systems::rhs_of_ones(&host)).unwrap();
            let a = SparseMatrix::from_csr(device, host, SparseFormat::Gather).unwrap();
            let jacobi = WeightedJacobi::new(&a, omega).unwrap();
            for test_every in [1, 8, 64] {
                let params = params(1e-9).with_test_every(test_every);
                for start in [0.0, paired(0.3)] {
                    let (x, report) = solve((&a, &jacobi), &vec![start; n], &b, params).unwrap();
                    assert_eq!(report.reason, StopReason::Diverged, "{name} {report:?}");
                    assert_eq!(x, vec![start; n], "{name}");
                    assert_eq!(report.true_residual, report.history[0].residual, "{name}: {report:?}");
                }
            }
        }
    });
}

/// Sweeps that cannot.
struct Broken;

impl Smoother for Broken {
    fn smooth(&self, x: &mut Vector, b: &Vector, _: usize) -> Result<()> {
        ops::copy(x, b)?;
        Err(Error::Unsupported { what: "sweeps".into(), why: "they are broken".into() })
    }
}

#[test]
fn what_cannot_be_solved_for_pairs_is_refused_with_the_reason() {
    on_both(|device| {
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0]).unwrap();
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        let ones = Vector::filled(device, 2, 1.0).unwrap();
        let refused = |a: &dyn LinOp, smoother: &dyn Smoother, b: &Vector| {
            let start = [3.0, paired(0.1)];
            let mut x = DoubleVector::from_f64(device, &start).unwrap();
            let error = Stationary::new(a, smoother, params(1e-9)).unwrap().solve(&mut x, b).unwrap_err();
            assert_eq!(x.read().unwrap(), start, "x is as it was: {error}");
            error
        };
        let unsupported = |error: Error, why: &str| {
            let text = error.to_string();
            assert!(matches!(error, Error::Unsupported { .. }) && text.contains(why), "{text}");
        };
        unsupported(refused(&OfUsers(&a), &jacobi, &ones), "no exact product");
        if !is_exact(device) {
            return unsupported(refused(&a, &jacobi, &ones), "no exact two-sum");
        }
        unsupported(refused(&a, &Broken, &ones), "they are broken");
        let closed = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
        let closed = Stencil::new(device, Grid::new_2d(2, 1), closed).unwrap();
        let error = refused(&closed, &WeightedJacobi::new(&closed, 0.5).unwrap(), &ones);
        assert!(matches!(error, Error::Inconsistent { .. }), "{error}");
        let three = Vector::filled(device, 3, 1.0).unwrap();
        let error = refused(&a, &jacobi, &three);
        assert!(
            matches!(error, Error::ShapeMismatch { op: "Stationary::solve", operand: "b", .. }),
            "{error}"
        );
        let mut broken = Vector::filled(device, 2, 1.0).unwrap();
        ops::accumulate_scaled(&mut broken, f32::MAX, &ones).unwrap();
        ops::accumulate_scaled(&mut broken, f32::MAX, &ones).unwrap();
        let error = refused(&a, &jacobi, &broken);
        assert!(matches!(error, Error::NonFinite { index: 0, .. }), "{error}");
        // What x cannot hold.
        let b = DoubleVector::from_f64(device, &[1.0, 0.5]).unwrap();
        let mut x = Vector::filled(device, 2, 7.0).unwrap();
        let error = Stationary::new(&a, &jacobi, params(1e-5)).unwrap().solve(&mut x, &b).unwrap_err();
        unsupported(error, "x of 32 bits");
        assert_eq!(x.read().unwrap(), [7.0; 2]);
    });
}
