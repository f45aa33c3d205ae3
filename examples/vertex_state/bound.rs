//! How far a linear recursion may be off that is carried out in 32 bits.

use super::support::{self, worst, worst_of};

/// Unit roundoff of 32 bits; the last factor covers second order terms and the twin's own rounding.
pub const U: f64 = (1.0 + 1e-4) / 16_777_216.0;
/// What a result flushed to zero is off by.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// What a sum of `terms` products may be off by that add up to `magnitude` in absolute values, in any order.
pub fn sum(terms: usize, magnitude: f64) -> f64 {
    (terms + 1) as f64 * (U * magnitude + TINY)
}

/// The recursion x(k+1) = M x(k) + c(k), each step of which is off by at most `local`: then x(k) is off by at most
/// the sum of |M^j| local over j < k.
pub struct Carried {
    /// The rows of M, without zeros.
    rows: Vec<Vec<(usize, f64)>>,
    /// M^k and the sum of |M^j|, row by row.
    power: Vec<f64>,
    sum: Vec<f64>,
    /// The largest local errors of all steps so far.
    local: Vec<f64>,
}

impl Carried {
    /// `step` is x -> M x for `n` unknowns.
    pub fn new(n: usize, step: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let mut rows = vec![Vec::new(); n];
        let mut power = vec![0.0; n * n];
        for j in 0..n {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(i == j)).collect();
            for (row, value) in rows.iter_mut().zip(step(&unit)).filter(|(_, value)| *value != 0.0) {
                row.push((j, value));
            }
            power[j * n + j] = 1.0;
        }
        Carried { rows, power, sum: vec![0.0; n * n], local: vec![0.0; n] }
    }

    /// One more step, whose own error is at most `local`.
    pub fn advance(&mut self, local: &[f64]) {
        let n = self.rows.len();
        for (most, &local) in self.local.iter_mut().zip(local) {
            *most = worst(*most, local);
        }
        for (sum, power) in self.sum.iter_mut().zip(&self.power) {
            *sum += power.abs();
        }
        let mut next = vec![0.0; n * n];
        for (row, next) in self.rows.iter().zip(next.chunks_mut(n)) {
            for &(k, value) in row {
                for (next, power) in next.iter_mut().zip(&self.power[k * n..]) {
                    *next += value * power;
                }
            }
        }
        self.power = next;
    }

    /// How far each unknown may be off after the steps so far.
    pub fn bound(&self) -> Vec<f64> {
        let n = self.rows.len();
        let product = |row: &[f64]| row.iter().zip(&self.local).map(|(s, local)| s * local).sum();
        self.sum.chunks(n).map(product).collect()
    }
}

/// The largest share of its bound that a value is off by.
pub fn share(found: &[f32], twin: &[f64], bound: &[f64]) -> f64 {
    let wanted: Vec<(f64, f64)> = twin.iter().copied().zip(bound.iter().copied()).collect();
    worst_of(found, &wanted, |found, (twin, bound)| support::share((f64::from(*found) - twin).abs(), *bound))
}
