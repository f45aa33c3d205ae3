//! How far the spectrum of `D⁻¹ A` reaches.

use crate::error::Result;
use crate::host::Csr;

/// Steps of the power method: the largest eigenvalue to some percent.
const STEPS: usize = 12;

/// By how much the power method may fall short. What is made of it stands a quarter more.
const MARGIN: f64 = 1.1;

/// About the largest eigenvalue of `D⁻¹ A` for a symmetric positive definite `A` and a positive diagonal, rather above it
/// than below: what the power method finds and a tenth, and no more than the largest row sum of `|D⁻¹ A|`, which it cannot
/// exceed. 1 for no unknowns.
pub(crate) fn largest_eigenvalue(a: &Csr, diagonal: &[f64]) -> Result<f64> {
    let n = a.shape().rows;
    let sums = a.rows().zip(diagonal).map(|((_, values), d)| values.iter().map(|v| v.abs()).sum::<f64>() / d);
    let most = sums.fold(0.0, f64::max);
    let mut x: Vec<f64> = (0..n as u32).map(scattered).collect();
    let mut found = 0.0;
    for _ in 0..STEPS {
        let y = a.mul_vec(&x)?;
        // The Rayleigh quotient xᵀ A x / xᵀ D x.
        let (mut above, mut below) = (0.0, 0.0);
        for ((x, y), d) in x.iter().zip(&y).zip(diagonal) {
            above += x * y;
            below += x * x * d;
        }
        if below <= 0.0 || !(above / below).is_finite() {
            break;
        }
        found = f64::max(found, above / below);
        let size = y.iter().zip(diagonal).fold(0.0, |m: f64, (y, d)| m.max((y / d).abs()));
        if size == 0.0 {
            break;
        }
        x = y.iter().zip(diagonal).map(|(y, d)| y / d / size).collect();
    }
    let about = f64::min(most, MARGIN * found);
    Ok(if about > 0.0 { about } else { 1.0 })
}

/// A number from -0.5 to 0.5 that has nothing to do with the next one's: no eigenvector is nearly orthogonal to a vector of
/// these. By the finalizer of MurmurHash3.
fn scattered(i: u32) -> f64 {
    let mut h = i.wrapping_add(0x9e37_79b9);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from(h ^ (h >> 16)) / f64::from(u32::MAX) - 0.5
}
