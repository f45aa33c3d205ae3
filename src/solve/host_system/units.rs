//! Norms, and powers of two as units.

use crate::data::exponent;
use crate::host::Csr;
use crate::host::approximate::largest as largest_of;
use crate::host::parallel::Threads;

/// A power of two of about this size.
pub(super) fn power_of(size: f64) -> f64 {
    f64::from(exponent(size).clamp(-1000, 1000)).exp2()
}

/// Powers of two that make the largest entry of each column about 1, where columns are too far apart for pairs of floats to hold one
/// beside the other.
pub(super) fn units_apart(a: &Csr) -> Option<Vec<f64>> {
    const APART: f64 = (1u128 << 64) as f64;
    // As mostly, where no two entries are.
    let [most, least] = range(a.values());
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
    let of = |block: &[f64]| {
        let sizes = block.iter().map(|v| v.abs()).filter(|size| *size > 0.0);
        sizes.map(|size| [size, size]).fold(NOTHING, both)
    };
    Threads::all().of_blocks(list, of).into_iter().fold(NOTHING, both)
}

fn both([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a.max(c), b.min(d)]
}

/// The largest magnitude; infinite if there is a NaN.
pub(super) fn largest(list: &[f64]) -> f64 {
    Threads::all().of_blocks(list, largest_of).into_iter().fold(0.0, f64::max)
}

pub(super) fn norm2(list: &[f64]) -> f64 {
    let unit = power_of(largest(list));
    let of = |block: &[f64]| block.iter().map(|v| (v / unit).powi(2)).sum::<f64>();
    Threads::all().of_blocks(list, of).into_iter().sum::<f64>().sqrt() * unit
}

/// `a_i - b_i`.
pub(super) fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or_default();
    Threads::all().made(a.len(), |i| at(a, i) - at(b, i))
}

/// What `of` makes of each element and its place.
pub(super) fn mapped(list: &[f64], of: impl Fn(usize, f64) -> f64 + Sync) -> Vec<f64> {
    Threads::all().made(list.len(), |i| of(i, list.get(i).copied().unwrap_or_default()))
}
