//! Pairs of floats on the host, and what solves for pairs are held to.

use texla::host::Csr;
use texla::ops::{self, LinOp};
use texla::solve::{SolveReport, StopReason};
use texla::{Device, Matrix, Shape, Vector};

use super::products::Exact;
use super::{random, systems};

pub fn is_exact(device: &Device) -> bool {
    device.capabilities().exact_form.is_some()
}

/// Values of 53 random bits, of sizes a few powers of two apart.
pub fn wide(seed: u64, n: usize) -> Vec<f64> {
    let mut rng = random::Rng::new(seed);
    (0..n)
        .map(|_| {
            let size = 2f64.powi(rng.below(20) as i32 - 10);
            (0.5 + 0.5 * rng.unit()) * if rng.next_u32() & 1 == 0 { size } else { -size }
        })
        .collect()
}

/// What two floats hold of a value.
pub fn paired(v: f64) -> f64 {
    let high = f64::from(v as f32);
    high + f64::from((v - high) as f32)
}

/// `b - A x` for pairs, with coefficients of 64 bits.
pub fn residual_twin(a: &Csr, x: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>) {
    a.rows()
        .zip(b)
        .map(|((cols, values), b)| {
            let (mut sum, mut size) = (Exact::default(), b.abs());
            sum.add(*b);
            for (col, v) in cols.iter().zip(values) {
                sum.add_product(-v, x[*col as usize]);
                size += (v * x[*col as usize]).abs();
            }
            (sum.value(), size)
        })
        .unzip()
}

/// The relative residual of pairs in double-double, and the forward error beside `want`.
pub fn true_residual(a: &Csr, x: &[f64], b: &[f64]) -> f64 {
    systems::norm(&residual_twin(a, x, b).0) / systems::norm(b)
}

/// A report that says converged has to be right.
#[track_caller]
pub fn certified(label: &str, report: &SolveReport, a: &Csr, x: &[f64], b: &[f64], tol: f64) {
    assert_eq!(report.reason, StopReason::Converged, "{label}: {report:?}");
    certified_in_norm(label, report, a, x, b, tol);
}

/// The same where rows are of such different size that the norm may not see some of them.
pub fn certified_in_norm(label: &str, report: &SolveReport, a: &Csr, x: &[f64], b: &[f64], tol: f64) {
    let met = matches!(report.reason, StopReason::Converged | StopReason::NormOnly);
    assert!(met, "{label}: {report:?}");
    let (rest, size) = residual_twin(a, x, b);
    let found = systems::norm(&rest) / systems::norm(b);
    assert!(found <= tol && report.true_residual <= tol, "{label}: {found:e}, {report:?}");
    // Parts that are far apart are read as 53 bits.
    let read = 2f64.powi(-53) * systems::norm(&size) / systems::norm(b);
    assert!(found <= 1.001 * report.true_residual + read, "{label}: {found:e} is more than {report:?} says");
    assert_eq!(report.readbacks_in_loop, 0);
    // What rounding may have done is far below.
    assert!(report.rounding.is_some_and(|rounding| rounding <= 1e-3 * tol), "{label}: {report:?}");
}

/// An operator with nothing but a product.
pub struct OfUsers<'a>(pub &'a Matrix);

impl LinOp for OfUsers<'_> {
    fn device(&self) -> &Device {
        self.0.device()
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn apply(&self, y: &mut Vector, terms: ops::Checked<ops::Product<'_>>) -> texla::Result<()> {
        self.0.apply(y, terms)
    }
}
