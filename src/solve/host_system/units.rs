//! Norms, and powers of two as units.

use crate::data::exponent;
use crate::host::Csr;
use crate::host::approximate::largest;

/// A power of two of about this size.
pub(super) fn power_of(size: f64) -> f64 {
    f64::from(exponent(size).clamp(-1000, 1000)).exp2()
}

/// Powers of two that make the largest entry of each column about 1, where columns are too far apart for pairs of floats to hold one
/// beside the other.
pub(super) fn units_apart(a: &Csr) -> Option<Vec<f64>> {
    const APART: f64 = (1u128 << 64) as f64;
    let mut sizes = vec![0.0; a.shape().cols];
    for (_, j, v) in a.entries() {
        sizes.get_mut(j).into_iter().for_each(|size| *size = f64::max(*size, v.abs()));
    }
    let some = || sizes.iter().copied().filter(|size| *size > 0.0);
    let apart = some().fold(0.0, f64::max) > APART * some().fold(f64::INFINITY, f64::min);
    apart.then(|| sizes.iter().map(|size| power_of(*size).recip()).collect())
}

pub(super) fn norm2(list: &[f64]) -> f64 {
    let unit = power_of(largest(list));
    list.iter().map(|v| (v / unit).powi(2)).sum::<f64>().sqrt() * unit
}
