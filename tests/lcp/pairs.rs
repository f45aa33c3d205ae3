//! Complementarity problems for pairs of floats: sweeps in 32 bits improve what pairs hold.

use crate::common::harness::{assert_padded, on_both};
use crate::common::pairs::{OfUsers, is_exact, paired, residual_twin, wide};
use crate::common::systems::{apply, csr, gather_fits, lcp_unit, mapped};
use crate::common::worst::worst;
use crate::common::{random, reference};
use crate::problems::{dense, generated, mixed, params};
use texla::host::Csr;
use texla::ops::{Accuracy, LinOp};
use texla::solve::{LcpParams, LcpReport, LcpSolver, Relaxation, Stop, StopReason, natural_residual};
use texla::{
    Device, DoubleVector, Error, Matrix, Result, Shape, SparseFormat, SparseMatrix, Unknowns, Vector,
};

/// `A x + b` with all its digits.
fn slack(a: &Csr, x: &[f64], b: &[f64]) -> Vec<f64> {
    let negative: Vec<f64> = b.iter().map(|b| -b).collect();
    residual_twin(a, x, &negative).0.iter().map(|w| -w).collect()
}

/// What residuals are relative to.
fn unit(b: &[f64]) -> f64 {
    if b.iter().any(|b| *b < 0.0) { lcp_unit(b) } else { 1.0 }
}

/// Both residuals, relative.
fn residuals(a: &Csr, x: &[f64], b: &[f64]) -> (f64, f64) {
    let w = slack(a, x, b);
    let of = |x: &[f64]| reference::max_abs(&reference::min2(x, &w)) / unit(b);
    (of(x), of(&reference::mul(&a.diagonal(), x)))
}

/// Solves from a start: the elements, none of them negative, and the report.
fn solve(
    a: &dyn LinOp,
    start: &[f64],
    b: &impl Unknowns,
    params: LcpParams,
) -> Result<(Vec<f64>, LcpReport)> {
    let mut x = DoubleVector::from_f64(a.device(), start)?;
    let report = LcpSolver::new(a, params)?.solve(&mut x, b)?;
    assert_padded(x.high(), "high");
    assert_padded(x.low(), "low");
    let read = x.read()?;
    assert!(read.iter().all(|v| *v >= 0.0), "negative: {read:?}");
    Ok((read, report))
}

#[track_caller]
fn certified(label: &str, report: &LcpReport, a: &Csr, x: &[f64], b: &[f64], tol: f64) {
    assert_eq!(report.outcome.reason, StopReason::Converged, "{label}: {report:?}");
    let (natural, scaled) = residuals(a, x, b);
    assert!(natural <= tol && scaled <= tol, "{label}: {natural:e} {scaled:e} {report:?}");
    let told = (report.outcome.natural_residual, report.outcome.scaled_residual);
    // Reading rounds to 53 bits, of which pairs may have more.
    let close = |found: f64, told: f64| (found - told).abs() <= 1e-5 * told + 1e-15;
    assert!(close(natural, told.0) && close(scaled, told.1), "{label}: {natural:e} {scaled:e} for {told:?}");
    assert_eq!(report.readbacks_in_loop, 0, "{label}");
    assert!(report.history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}: {report:?}");
}

fn gathered(device: &Device, a: &Csr) -> SparseMatrix {
    SparseMatrix::from_csr(device, a.clone(), SparseFormat::Gather).unwrap()
}

#[test]
fn problems_of_many_kinds_come_to_ten_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for lcp in generated() {
            if !gather_fits(device, &lcp.a) {
                continue;
            }
            let a = mapped(&lcp.a, paired);
            // A wall rests on more contacts than it needs: sides of 32 bits have a solution to so many digits only.
            let singular = lcp.name.starts_with("wall");
            let sides = if singular { with_solution(&a, 5).1 } else { lcp.b.clone() };
            let stored = gathered(device, &a);
            let b = DoubleVector::from_f64(device, &sides).unwrap();
            for relaxation in [Relaxation::Accelerated, Relaxation::Estimated] {
                let run = |tol: f64| {
                    let params = params(tol).with_relaxation(relaxation);
                    solve(&stored, &vec![0.0; lcp.n()], &b, params).unwrap()
                };
                let label = format!("{} {relaxation:?}", lcp.name);
                for tol in [1e-4, 1e-10] {
                    let (x, report) = run(tol);
                    certified(&label, &report, &a, &x, &sides, tol);
                }
                let ((x, report), (same, again)) = (run(1e-10), run(1e-10));
                assert!(x == same && report.outcome == again.outcome, "{label}: not the same when repeated");
            }
        }
    });
}

/// A problem of 48 bits and its solution, about half of it zero.
fn with_solution(a: &Csr, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let n = a.shape().rows;
    let x: Vec<f64> = wide(seed, n).into_iter().map(|v| paired(v.max(0.0))).collect();
    let product = apply(a, &x);
    let free = product.iter().zip(&x).zip(mixed(seed, n).1);
    let b = free.map(|((p, x), w)| paired(if *x > 0.0 { -p } else { w + 0.1 - p }));
    let b = b.collect();
    (x, b)
}

/// Sizes that fill texels and do not, with the solution that problems were made of.
#[test]
fn problems_are_solved_for_the_digits_that_were_given() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let tol = 1e-11;
        for n in [0, 1, 2, 3, 5, 50, 127, 1000] {
            let a = csr(&random::spd(n as u64, n, (8.0 / n.max(1) as f64).min(0.7)));
            let a = mapped(&a, |v| paired(v * (1.0 + 1e-9)));
            let (want, b) = with_solution(&a, n as u64 + 1);
            let stored = gathered(device, &a);
            let db = DoubleVector::from_f64(device, &b).unwrap();
            let (x, report) = solve(&stored, &vec![0.0; n], &db, params(tol)).unwrap();
            let label = format!("n = {n}");
            if n == 0 {
                assert!(report.converged(), "{report:?}");
                continue;
            }
            certified(&label, &report, &a, &x, &b, tol);
            let off = x.iter().zip(&want).map(|(x, w)| (x - w).abs()).fold(0.0, worst);
            assert!(off <= 100.0 * tol * unit(&b), "{label}: off by {off:e}");
            // What does not move is zero, exactly.
            assert!(x.iter().zip(&want).all(|(x, w)| (*x == 0.0) == (*w == 0.0)), "{label}");
            // As measured by what is public.
            let dx = DoubleVector::from_f64(device, &x).unwrap();
            let found = natural_residual(&stored, &dx, &db).unwrap();
            assert_eq!(found.accuracy, Accuracy::DoubleFloat);
            let (natural, _) = residuals(&a, &x, &b);
            let unit = unit(&b);
            assert!((found.largest - natural * unit).abs() <= 1e-5 * natural * unit + 1e-25, "{label}");
            assert!((found.relative - natural).abs() <= 1e-5 * natural + 1e-25, "{label}: {found:?}");
        }
    });
}

#[test]
fn starts_of_any_sign_and_size() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, tol) = (61, 1e-11);
        let a = csr(&random::spd(4, n, 0.1));
        let (_, b) = with_solution(&a, 5);
        let (stored, db) = (gathered(device, &a), DoubleVector::from_f64(device, &b).unwrap());
        let (solution, report) = solve(&stored, &vec![0.0; n], &db, params(tol)).unwrap();
        certified("zero", &report, &a, &solution, &b, tol);
        let from = |start: &[f64]| {
            let (x, report) = solve(&stored, start, &db, params(tol)).unwrap();
            certified("start", &report, &a, &x, &b, tol);
            report.outcome.sweeps
        };
        assert_eq!(from(&solution), 0);
        let rounded: Vec<f64> = solution.iter().map(|v| f64::from(*v as f32)).collect();
        let steps = from(&rounded);
        assert!(0 < steps && steps < report.outcome.sweeps, "{steps} of {report:?}");
        for size in [1e-3, 1.0, 1e6, 1e12, 1e30, 1e38] {
            from(&wide(6, n).iter().map(|v| v.signum() * size).collect::<Vec<f64>>());
        }
        // What nothing presses.
        let up = DoubleVector::from_f64(device, &vec![0.5; n]).unwrap();
        let (x, report) = solve(&stored, &wide(7, n), &up, params(tol)).unwrap();
        assert!(report.converged() && x == vec![0.0; n], "{report:?}");
    });
}

/// What ends at the bound loses its low part with the high one, which would else be left to another run.
#[test]
fn what_comes_to_the_bound_is_zero_at_once() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[1.0, 0.0, 0.0, 1.0]).unwrap();
        let b = DoubleVector::from_f64(device, &[1.0, -1.0]).unwrap();
        for start in [0.3, 0.7, 3.1] {
            assert_ne!(paired(start), f64::from(start as f32));
            let params = params(1e-12).with_relaxation(Relaxation::Fixed(1.0));
            let (x, report) = solve(&a, &[start, 0.0], &b, params).unwrap();
            assert!(x == [0.0, 1.0] && report.certifications <= 2, "{start}: {x:?} {report:?}");
        }
    });
}

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let n = 90;
        let a = csr(&random::spd(9, n, 0.1));
        let (_, b) = with_solution(&a, 8);
        let (stored, db) = (gathered(device, &a), DoubleVector::from_f64(device, &b).unwrap());
        let cases = [
            (1e-10, 20_000, StopReason::Converged),
            (1e-17, 20_000, StopReason::Stagnated),
            (1e-10, 21, StopReason::MaxIterations),
        ];
        for (tol, max_sweeps, reason) in cases {
            let run = |every| {
                let params = LcpParams::default()
                    .with_stop(Stop::relative(tol).check_every(every))
                    .with_max_sweeps(max_sweeps);
                let (x, report) = solve(&stored, &vec![0.0; n], &db, params).unwrap();
                (x, report.outcome, report.certifications)
            };
            let once = run(1);
            assert_eq!(once.1.reason, reason, "{tol:e}: {:?}", once.1);
            assert!(once.1.sweeps <= max_sweeps);
            let (natural, scaled) = residuals(&a, &once.0, &b);
            let told = once.1.residual();
            assert!(
                (worst(natural, scaled) - told).abs() <= 1e-4 * told,
                "{tol:e}: {natural:e} for {told:e}"
            );
            for every in [16, 100] {
                assert_eq!(run(every), once, "{tol:e} every {every}");
            }
        }
    });
}

/// Powers of two in A and b: the same verdict, the same sweeps, the same bits.
#[test]
fn the_same_iterates() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (n, tol) = (45, 1e-10);
        let side = csr(&random::spd(3, n, 0.1));
        let (_, right) = with_solution(&side, 2);
        let run = |e: i32, f: i32| {
            let a = mapped(&side, |v| v * 2f64.powi(e));
            let b: Vec<f64> = right.iter().map(|v| v * 2f64.powi(f)).collect();
            let db = DoubleVector::from_f64(device, &b).unwrap();
            let (x, report) = solve(&gathered(device, &a), &vec![0.0; n], &db, params(tol)).unwrap();
            certified(&format!("A 2^{e}, b 2^{f}"), &report, &a, &x, &b, tol);
            (x.iter().map(|v| v * 2f64.powi(e - f)).collect::<Vec<f64>>(), report.outcome.sweeps)
        };
        let once = run(0, 0);
        for (e, f) in [(60, 60), (60, 0), (0, 60), (0, -60), (-60, -60), (20, -20)] {
            assert!(run(e, f) == once, "A 2^{e}, b 2^{f}");
        }
        // Where A is tiny, the plain residual asks for more.
        run(-60, 0);
    });
}

#[test]
fn what_has_no_solution_is_no_success() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let relaxations = [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(1.0)];
        let b = Vector::filled(device, 2, -1.0).unwrap();
        let solver = |a: &dyn LinOp, relaxation, start: &[f64]| {
            let mut x = DoubleVector::from_f64(device, start).unwrap();
            let params = params(1e-9).with_relaxation(relaxation);
            let solved = LcpSolver::new(a, params).unwrap().solve(&mut x, &b);
            (solved, x.read().unwrap())
        };
        // w_1 + w_2 = -2 whatever x is.
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[1.0, -1.0, -1.0, 1.0]).unwrap();
        for relaxation in [Relaxation::Accelerated, Relaxation::Estimated, Relaxation::Fixed(0.5)] {
            let (solved, _) = solver(&a, relaxation, &[0.0; 2]);
            let report = solved.unwrap();
            assert_eq!(report.outcome.reason, StopReason::Stagnated, "{report:?}");
        }
        // Every sweep multiplies.
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[1.0, -3.0, -3.0, 1.0]).unwrap();
        for relaxation in relaxations {
            let start = [0.25, paired(0.3)];
            let (solved, x) = solver(&a, relaxation, &start);
            assert!(matches!(solved, Err(Error::Breakdown { .. })), "{solved:?}");
            assert_eq!(x, start, "the best that was computed is the start");
        }
    });
}

#[test]
fn what_cannot_be_solved_for_pairs_is_refused_with_the_reason() {
    on_both(|device| {
        let a = Matrix::from_rows(device, Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0]).unwrap();
        let host = dense(2, &[2.0, 0.0, 0.0, 4.0]);
        let b = Vector::from_slice(device, &[-1.0, -0.5]).unwrap();
        let pairs = DoubleVector::from_f64(device, &[-1.0 - 2f64.powi(-40), 0.5]).unwrap();
        let unsupported = |error: Error, why: &str| {
            let text = error.to_string();
            assert!(matches!(error, Error::Unsupported { .. }) && text.contains(why), "{text}");
        };
        struct Diagonal<'a>(OfUsers<'a>);
        impl LinOp for Diagonal<'_> {
            fn device(&self) -> &Device {
                self.0.device()
            }
            fn shape(&self) -> Shape {
                self.0.shape()
            }
            fn apply(
                &self,
                y: &mut Vector,
                terms: texla::ops::Checked<texla::ops::Product<'_>>,
            ) -> Result<()> {
                self.0.apply(y, terms)
            }
            fn diagonal(&self) -> Result<Vec<f64>> {
                Ok(vec![2.0, 4.0])
            }
        }
        let refused = |a: &dyn LinOp| {
            let start = [-3.0, paired(0.1)];
            let mut x = DoubleVector::from_f64(device, &start).unwrap();
            let error = LcpSolver::new(a, params(1e-9)).unwrap().solve(&mut x, &b).unwrap_err();
            assert_eq!(x.read().unwrap(), start, "x is as it was: {error}");
            error
        };
        let blind = Diagonal(OfUsers(&a));
        unsupported(refused(&blind), "no exact product");
        let x = DoubleVector::from_f64(device, &[0.5 + 2f64.powi(-41), 0.0]).unwrap();
        unsupported(natural_residual(&blind, &x, &b).unwrap_err(), "no exact product");
        if !is_exact(device) {
            return unsupported(refused(&a), "no exact two-sum");
        }
        let mut single = Vector::filled(device, 2, 7.0).unwrap();
        let error = LcpSolver::new(&a, params(1e-5)).unwrap().solve(&mut single, &pairs).unwrap_err();
        unsupported(error, "x of 32 bits");
        assert_eq!(single.read().unwrap(), [7.0; 2]);
        // What 32 bits are worth for such sides may be asked, though.
        assert_eq!(natural_residual(&a, &x, &pairs).unwrap().largest, 0.0);
        assert_eq!(natural_residual(&a, x.high(), &pairs).unwrap().largest, 2f64.powi(-40));
        // The last bit, and closer.
        for (tol, reason) in [(2f64.powi(-48), StopReason::Converged), (1e-16, StopReason::Uncertified)] {
            let (found, report) = solve(&a, &[0.0; 2], &pairs, params(tol)).unwrap();
            assert_eq!(report.outcome.reason, reason, "{tol:e}: {report:?}");
            let (natural, _) = residuals(&host, &found, &pairs.read().unwrap());
            assert!((natural - report.outcome.natural_residual).abs() <= 1e-16, "{natural:e}: {report:?}");
            assert_eq!(found, [0.5 + 2f64.powi(-41), 0.0]);
        }
    });
}
