//! How well single equations are satisfied: what a norm hides is not called converged, and the worst row is the one that a
//! computation in 64 bits finds.

use crate::common::harness::on_both;
use crate::common::pairs::{is_exact, paired};
use crate::systems::entries;
use texla::host::{Csr, Triplets};
use texla::solve::{
    CgParams, Components, ConjugateGradient, Minres, MinresParams, SolveReport, Stop, StopReason,
};
use texla::{Device, DoubleVector, MatrixFormat, SparseFormat, StoredMatrix, Vector};

/// A rod whose left end is held at 1 by a penalty of this size.
fn held(n: usize, penalty: f64) -> (Csr, Vec<f64>) {
    let middle = (0..n).map(|i| (i, i, if i == 0 { penalty } else { 2.0 }));
    let beside = (1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
    let mut b = vec![0.0; n];
    b[0] = penalty;
    (entries(n, n, middle.chain(beside)), b)
}

fn largest(list: &[f64]) -> f64 {
    let sizes = list.iter().map(|v| v.abs());
    sizes.max_by(f64::total_cmp).unwrap_or(0.0)
}

/// The share of each row in 64 bits.
fn shares(a: &Csr, x: &[f64], b: &[f64]) -> Vec<f64> {
    let largest = largest(x);
    let mut of: Vec<(f64, f64)> = b.iter().map(|b| (*b, b.abs())).collect();
    for (i, j, v) in a.entries() {
        of[i].0 -= v * x[j];
        of[i].1 += v.abs() * (x[j].abs() + 0.01 * largest);
    }
    of.into_iter().map(|(r, m)| if r == 0.0 { 0.0 } else { r.abs() / m }).collect()
}

fn assert_components(report: &SolveReport, shares: &[f64], tol: f64, slack: f64, label: &str) {
    let Some(Components { omega, rows, of, .. }) = report.components else { panic!("{label}: {report:?}") };
    let worst = largest(shares);
    assert!((omega - worst).abs() <= 1e-5 * worst + slack, "{label}: {omega:e}, {worst:e} in 64 bits");
    assert_eq!(of, shares.len(), "{label}");
    let past = |limit: f64| shares.iter().filter(|s| **s > limit * Components::limit(tol)).count();
    assert!((past(1.001)..=past(0.999)).contains(&rows), "{label}: {rows} rows, {} in 64 bits", past(1.0));
}

fn solved(device: &Device, a: &StoredMatrix, b: &[f64], tol: f64) -> (SolveReport, Vec<f64>) {
    let params = CgParams::default().with_stop(Stop::relative(tol));
    let mut x = Vector::zeros(device, b.len()).unwrap();
    let right = Vector::from_f64(device, b).unwrap();
    let report = ConjugateGradient::new(a, params).unwrap().solve(&mut x, &right).unwrap();
    (report, x.read().unwrap().into_iter().map(f64::from).collect())
}

#[test]
fn a_penalty_hides_the_other_rows_from_a_norm() {
    on_both(|device| {
        for format in [SparseFormat::Points.into(), SparseFormat::Gather.into(), MatrixFormat::Banded] {
            for n in [1, 2, 37, 211] {
                let (a, b) = held(n, 2f64.powi(27));
                let stored = StoredMatrix::new(device, a.clone(), format).unwrap();
                let (report, x) = solved(device, &stored, &b, 1e-5);
                let label = format!("{format:?} {n}: {report}");
                if !is_exact(device) {
                    assert_eq!(report.reason, StopReason::Uncertified, "{label}");
                    continue;
                }
                let expected = if n == 1 { StopReason::Converged } else { StopReason::NormOnly };
                assert_eq!((report.reason, report.converged()), (expected, n == 1), "{label}");
                // By the last digit of what is subtracted.
                assert_components(&report, &shares(&a, &x, &b), 1e-5, 1e-7, &label);
                if n > 1 {
                    let rows = report.components.map_or(0, |c| c.rows);
                    assert!(label.contains(&format!(": {rows} of {n} rows are off by up to ")), "{label}");
                }
            }
        }
    });
}

#[test]
fn what_satisfies_every_row_converges() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (a, b) = held(60, 4.0);
        let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
        let (report, x) = solved(device, &stored, &b, 1e-5);
        assert!(report.converged(), "{report}");
        assert_components(&report, &shares(&a, &x, &b), 1e-5, 1e-7, "32 bits");

        let b: Vec<f64> = b.into_iter().map(|b| paired(b / 3.0)).collect();
        let right = DoubleVector::from_f64(device, &b).unwrap();
        let mut x = DoubleVector::zeros(device, 60).unwrap();
        let params = MinresParams::default().with_stop(Stop::relative(1e-10));
        let report = Minres::new(&stored, params).unwrap().solve(&mut x, &right).unwrap();
        assert!(report.converged(), "{report}");
        assert_components(&report, &shares(&a, &x.read().unwrap(), &b), 1e-10, 1e-13, "pairs");
    });
}

/// An equation whose terms overflow is not satisfied, wherever it stands.
#[test]
fn terms_that_overflow_satisfy_nothing() {
    let a = Triplets::from_diagonal(&[1e300, 1.0, 1.0]).to_csr();
    let b = [1e300, 1.0, 1.0];
    for limit in [0.0, 1e-3] {
        let found = Components::measured(&a, &[1e300, 1.0, 1.0], &b, limit).unwrap();
        assert!(found.omega.is_nan() && found.rows == 1, "{found:?}");
        assert_eq!(Components::measured(&a, &[1.0; 3], &b, limit).unwrap().omega, 0.0);
    }
}
