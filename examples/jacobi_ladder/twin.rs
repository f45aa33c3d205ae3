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
/// one may have come to, and the last one's carried on. Neighbours are found in two dimensions, not by offsets.
pub fn twin(a: &NineBands, b: &[f32], x: &[f32], omega: f64, sweeps: usize) -> (Vec<f64>, Vec<f64>) {
    let side = a.side();
    let mut x: Vec<f64> = x.iter().map(|v| f64::from(*v)).collect();
    let mut error = vec![0.0; x.len()];
    let diagonals = a.band(NineBands::DD);
    for _ in 0..sweeps {
        let (mut next, mut bound) = (x.clone(), x.clone());
        for i in 0..x.len() {
            let (column, row, diagonal) = (i % side, i / side, diagonals[i]);
            let b = f64::from(b[i]);
            let (mut residual, mut size) = (b, b.abs());
            let mut carried = (1.0 - omega).abs() * error[i];
            for k in 0..9 {
                // Each by one too many, so that none is negative.
                let (cx, cy) = (column + k % 3, row + k / 3);
                if cx == 0 || cy == 0 || cx > side || cy > side {
                    continue;
                }
                let (value, j) = (a.band(k)[i], (cy - 1) * side + cx - 1);
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
