//! Jacobi sweeps in f64, and what 32 bits may make of them.

use texla::host::NineBands;

/// Roundings between an input and what a sweep makes of it: a coefficient and a product (2), nine terms and the
/// right-hand side (9), the diagonal and a division by it (1 and 2.5 ulp = 5), omega and a product (2), the last sum (1).
const ROUNDINGS: f64 = 20.0;
/// The same as a relative error, of 32-bit floats.
const GAMMA: f64 = ROUNDINGS / 16_777_216.0 / (1.0 - ROUNDINGS / 16_777_216.0);
/// What a flushed result is wrong by at most.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// The iterate after so many sweeps beside a bound for each of its elements: the bound of each sweep at what the last
/// one may have come to, and the last one's carried on. The tutorial's loop over one array: `X[i ± 1 ± SQRT(N)]`.
pub fn twin(a: &NineBands, b: &[f32], x: &[f32], omega: f64, sweeps: usize) -> (Vec<f64>, Vec<f64>) {
    let side = a.side();
    let mut x: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
    let mut error = vec![0.0; x.len()];
    let diagonals = a.band(NineBands::DD);
    for _ in 0..sweeps {
        let (mut next, mut bound) = (x.clone(), x.clone());
        for i in 0..x.len() {
            let (diagonal, b) = (diagonals[i], f64::from(b[i]));
            let (mut residual, mut size) = (b, b.abs());
            let mut carried = (1.0 - omega).abs() * error[i];
            for k in 0..9 {
                // By `side + 1` too many, so that it is not negative.
                let Some(j) = (i + k / 3 * side + k % 3).checked_sub(side + 1).filter(|j| *j < x.len())
                else {
                    continue;
                };
                let value = a.band(k)[i];
                residual -= value * x[j];
                size += value.abs() * (x[j].abs() + error[j]);
                if k != NineBands::DD {
                    carried += (omega * value / diagonal).abs() * error[j];
                }
            }
            let weight = omega / diagonal.abs();
            next[i] = x[i] + omega * residual / diagonal;
            bound[i] =
                carried + GAMMA * (x[i].abs() + error[i] + weight * size) + ROUNDINGS * TINY * (2.0 + weight);
        }
        (x, error) = (next, bound);
    }
    (x, error)
}

/// A matrix whose nine diagonals are full, at the ends of grid rows too: what a sweep reads there counts. Rows are
/// diagonally dominant, so that iterates stay where they can be told apart.
pub fn full(side: usize, seed: usize) -> texla::Result<NineBands> {
    let n = side * side;
    let entry = |k: usize, i: usize| {
        let column = (i + k / 3 * side + k % 3).checked_sub(side + 1);
        let size = 0.25 + ((i * 7919 + k * 104_729 + seed * 31) % 1000) as f64 / 1000.0;
        let signed = if (i + k).is_multiple_of(3) { size } else { -size };
        if column.is_some_and(|j| j < n) { signed } else { 0.0 }
    };
    let others = |i: usize| (0..9).filter(|k| *k != NineBands::DD).map(move |k| entry(k, i).abs());
    let value = |k, i| if k == NineBands::DD { 1.0 + 1.1 * others(i).sum::<f64>() } else { entry(k, i) };
    NineBands::from_bands(side, std::array::from_fn(|k| (0..n).map(|i| value(k, i)).collect()))
}
