//! Scale invariance: problems multiplied by powers of two have the same iterates to the bit.

use crate::common::harness::on_both;
use crate::common::systems::gather_fits;
use crate::common::worst::worst;
use crate::problems::{assert_honest, generated, params, solve};
use texla::Error;
use texla::solve::{LcpParams, Relaxation, Stop, StopReason};
use texla::{MatrixFormat, SparseFormat};

/// The same bits, but for elements so far below the largest one that on the way some number was flushed to zero.
fn assert_same(label: &str, got: &[f32], want: &[f32]) {
    let largest = want.iter().map(|v| v.abs()).fold(0.0, worst);
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let flushed = (g - w).abs() <= largest * 2f32.powi(-60) && w.abs() <= largest * 2f32.powi(-24);
        assert!(g.to_bits() == w.to_bits() || flushed, "{label}: element {i} is {g:e}, not {w:e}");
    }
}

const SCALES: [(i32, i32); 8] =
    [(60, 60), (60, 0), (0, 60), (-60, -60), (-60, 0), (0, -60), (60, -40), (-40, 60)];

#[test]
fn the_same_iterates() {
    on_both(|device| {
        let mut compared = 0;
        for base in generated() {
            if !gather_fits(device, &base.a) {
                continue;
            }
            for relaxation in [Relaxation::Accelerated, Relaxation::Fixed(0.1)] {
                let params = LcpParams::default()
                    .with_max_sweeps(60)
                    .with_relaxation(relaxation)
                    .with_stop(Stop::relative(1e-12));
                let (x, report) =
                    solve(device, &base, MatrixFormat::Sparse(SparseFormat::Gather), params).unwrap();
                if report.outcome.residual() >= report.history[0].residual {
                    continue; // what comes back is the start
                }
                compared += 1;
                for (e, f) in SCALES {
                    let lcp = base.scaled(e, f);
                    let (y, other) = solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params)
                        .unwrap_or_else(|e| panic!("{}: {e}", lcp.name));
                    assert_eq!(other.outcome.sweeps, report.outcome.sweeps, "{}", lcp.name);
                    assert_eq!(other.outcome.scaled_residual, report.outcome.scaled_residual, "{}", lcp.name);
                    assert_eq!(other.outcome.lambda_max, report.outcome.lambda_max, "{}", lcp.name);
                    let back: Vec<f32> =
                        y.iter().map(|v| (f64::from(*v) * 2f64.powi(e - f)) as f32).collect();
                    assert_same(&lcp.name, &back, &x);
                }
            }
        }
        assert!(compared >= 12, "only {compared} had come nearer to the solution");
    });
}

/// The plain natural residual weighs `x` against `A x + b`, so tiny matrices take it a few sweeps longer.
#[test]
fn all_of_them_converge() {
    on_both(|device| {
        for base in generated() {
            if !gather_fits(device, &base.a) {
                continue;
            }
            let (_, report) =
                solve(device, &base, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-4)).unwrap();
            for (e, f) in SCALES.into_iter().chain([(100, 0), (-100, 0), (0, 120), (0, -100), (100, 110)]) {
                let lcp = base.scaled(e, f);
                let (x, other) =
                    match solve(device, &lcp, MatrixFormat::Sparse(SparseFormat::Gather), params(1e-4)) {
                        Err(Error::NonFinite { .. }) if lcp.b.iter().any(|v| (*v as f32).is_infinite()) => {
                            continue;
                        }
                        other => other.unwrap_or_else(|e| panic!("{}: {e}", lcp.name)),
                    };
                assert_eq!(other.outcome.reason, StopReason::Converged, "{}: {other:?}", lcp.name);
                assert_honest(&lcp, &x, &other.outcome, 1e-4);
                let (a, b) = (report.outcome.sweeps, other.outcome.sweeps);
                let allowed = if e >= 0 { 0 } else { a / 4 + 16 };
                assert!(a.abs_diff(b) <= allowed, "{}: {b} sweeps, not {a}", lcp.name);
            }
        }
    });
}
