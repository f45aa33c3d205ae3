//! The loop of [BeyondVector] 28.4.3 on the CPU.

use texla::ops::OutOfRange;

/// Where `x` lies among bins of equal width: in 32-bit floats, as on the device, which has no denormal numbers.
pub fn position(x: f32, [min, max]: [f32; 2], bins: usize) -> f32 {
    let flushed = |v: f32| if v.is_subnormal() { 0.0 } else { v };
    let scale = (bins as f64 / (f64::from(max) - f64::from(min))) as f32;
    flushed(flushed(x - min) * scale)
}

/// Which element of the histogram a position belongs to.
fn element(position: f32, bins: usize, rule: OutOfRange) -> Option<usize> {
    let below = position.is_nan() || position < 0.0;
    if !below && position < bins as f32 {
        return Some(position as usize);
    }
    match rule {
        OutOfRange::Clamp => Some(if below { 0 } else { bins - 1 }),
        OutOfRange::Drop => None,
        OutOfRange::Apart => Some(if below { bins } else { bins + 1 }),
    }
}

/// How many positions fall to each element.
pub fn counts(
    positions: impl IntoIterator<Item = f32>,
    bins: usize,
    rule: OutOfRange,
    len: usize,
) -> Vec<u64> {
    let mut counts = vec![0; len];
    for k in positions.into_iter().filter_map(|p| element(p, bins, rule)) {
        counts[k] += 1;
    }
    counts
}

/// The sums of their weights in 64 bits, of the weights' magnitudes, and how many there are.
pub struct Sums {
    pub sum: Vec<f64>,
    pub size: Vec<f64>,
    pub terms: Vec<u64>,
}

pub fn sums(
    positions: impl IntoIterator<Item = f32>,
    weights: &[f32],
    bins: usize,
    rule: OutOfRange,
    len: usize,
) -> Sums {
    let mut sums = Sums { sum: vec![0.0; len], size: vec![0.0; len], terms: vec![0; len] };
    for (position, weight) in positions.into_iter().zip(weights) {
        if let Some(k) = element(position, bins, rule) {
            sums.sum[k] += f64::from(*weight);
            sums.size[k] += f64::from(weight.abs());
            sums.terms[k] += 1;
        }
    }
    sums
}
