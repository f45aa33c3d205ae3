//! Norms, and powers of two as units.

use crate::data::exponent;
use crate::host::Csr;
use crate::host::approximate::largest;
use crate::host::parallel::Threads;

/// A power of two of about this size.
pub(super) fn power_of(size: f64) -> f64 {
    f64::from(exponent(size).clamp(-1000, 1000)).exp2()
}

/// Powers of two that make the largest entry of each column about 1, where columns are too far apart for pairs of floats to hold one
/// beside the other.
pub(super) fn units_apart(a: &Csr) -> Option<Vec<f64>> {
    const APART: f64 = (1u128 << 64) as f64;
    const MANY: usize = 1 << 16;
    // As mostly, where no two entries are.
    let of_entries =
        Threads::all().parts(a.nnz(), MANY, |part| range(a.values().get(part).unwrap_or_default()));
    let [most, least] = of_entries.into_iter().fold(NOTHING, both);
    if most <= APART * least {
        return None;
    }
    let mut sizes = vec![0.0; a.shape().cols];
    for (_, j, v) in a.entries() {
        sizes.get_mut(j).into_iter().for_each(|size| *size = f64::max(*size, v.abs()));
    }
    let [most, least] = range(&sizes);
    (most > APART * least).then(|| sizes.iter().map(|size| power_of(*size).recip()).collect())
}

const NOTHING: [f64; 2] = [0.0, f64::INFINITY];

/// The largest and the smallest size of elements that are not zero.
pub(super) fn range(list: &[f64]) -> [f64; 2] {
    list.iter().map(|v| v.abs()).filter(|size| *size > 0.0).map(|size| [size, size]).fold(NOTHING, both)
}

fn both([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a.max(c), b.min(d)]
}

pub(super) fn norm2(list: &[f64]) -> f64 {
    let unit = power_of(largest(list));
    list.iter().map(|v| (v / unit).powi(2)).sum::<f64>().sqrt() * unit
}
