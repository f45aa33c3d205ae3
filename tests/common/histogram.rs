//! The twin of the histograms: the loop of [BeyondVector] 28.4.3 in 32-bit floats.

use texla::ops::OutOfRange;

/// Below the normal range the device has zeros.
fn flushed(v: f32) -> f32 {
    if v.is_subnormal() { 0.0 } else { v }
}

/// The position of `x` among `bins` bins of equal width.
pub fn equal_width(x: f32, min: f32, max: f32, bins: usize) -> f32 {
    let scale = (bins as f64 / (f64::from(max) - f64::from(min))) as f32;
    flushed(flushed(x - min) * scale)
}

/// The element of the result to which a position belongs.
pub fn index(position: f32, bins: usize, rule: OutOfRange) -> Option<usize> {
    let below = position.is_nan() || position < 0.0;
    let above = position >= bins as f32;
    match rule {
        _ if !below && !above => Some(position as usize),
        OutOfRange::Clamp => Some(if below { 0 } else { bins - 1 }),
        OutOfRange::Drop => None,
        OutOfRange::Apart => Some(bins + usize::from(above)),
    }
}

/// How many elements a result has.
pub fn len(bins: usize, rule: OutOfRange) -> usize {
    bins + if rule == OutOfRange::Apart { 2 } else { 0 }
}

pub fn counts(positions: impl IntoIterator<Item = f32>, bins: usize, rule: OutOfRange) -> Vec<u64> {
    let mut counts = vec![0; len(bins, rule)];
    positions.into_iter().filter_map(|p| index(p, bins, rule)).for_each(|k| counts[k] += 1);
    counts
}

/// Sums in the order of the elements, each rounded to 32 bits.
pub fn sums(positions: &[f32], weights: &[f32], bins: usize, rule: OutOfRange) -> Vec<f32> {
    let mut sums = vec![0.0f32; len(bins, rule)];
    for (position, weight) in positions.iter().zip(weights) {
        if let Some(k) = index(*position, bins, rule) {
            sums[k] = flushed(sums[k] + weight);
        }
    }
    sums
}
