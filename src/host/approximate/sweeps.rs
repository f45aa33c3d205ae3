//! Triangles solved by substitution, and by as many sweeps as come near to that.

use super::{Factors, at, row_of};
use crate::host::Csr;

impl Factors {
    /// The fewest sweeps for the lower and for the upper triangle that agree with substitution to a relative tolerance, for a few
    /// right-hand sides, and on the way there do not grow so far that 32 bits would lose the result; as many as there are links in
    /// the longest chain, which are exact, where fewer do not.
    pub fn sweeps(&self, tolerance: f64) -> [usize; 2] {
        let n = self.diagonal.len();
        let right: Vec<Vec<f64>> = (1..=2).map(|seed| scattered(seed, n)).collect();
        let lower = fewest(&self.lower, false, &right, tolerance);
        let between: Vec<Vec<f64>> = right
            .iter()
            .map(|r| {
                let y = substituted(&self.lower, false, r);
                y.iter().zip(&self.diagonal).map(|(y, d)| y / d).collect()
            })
            .collect();
        [lower, fewest(&self.upper, true, &between, tolerance)]
    }
}

/// Numbers from -1 to 1 that repeat.
fn scattered(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

/// `(I + T)⁻¹ r` for a strict triangle, from its first row on or from its last.
pub(super) fn substituted(t: &Csr, is_upper: bool, r: &[f64]) -> Vec<f64> {
    let mut z = r.to_vec();
    let mut solve = |i: usize| {
        let (cols, values) = row_of(t, i);
        let sum: f64 = cols.iter().zip(values).map(|(j, v)| v * at(&z, *j as usize)).sum();
        if let Some(slot) = z.get_mut(i) {
            *slot -= sum;
        }
    };
    if is_upper {
        (0..r.len()).rev().for_each(&mut solve)
    } else {
        (0..r.len()).for_each(&mut solve)
    }
    z
}

/// Links of the longest chain of rows that wait for one another: so many sweeps are exact.
pub(super) fn links(t: &Csr, is_upper: bool) -> usize {
    let n = t.shape().rows;
    let mut behind = vec![0usize; n];
    let mut count = |i: usize| {
        let of = |j: &u32| behind.get(*j as usize).map_or(0, |links| links + 1);
        let most = row_of(t, i).0.iter().map(of).max().unwrap_or(0);
        if let Some(slot) = behind.get_mut(i) {
            *slot = most;
        }
    };
    if is_upper {
        (0..n).rev().for_each(&mut count)
    } else {
        (0..n).for_each(&mut count)
    }
    behind.into_iter().max().unwrap_or(0)
}

/// `r - T z`.
pub(super) fn swept(t: &Csr, r: &[f64], z: &[f64]) -> Vec<f64> {
    let sum = |(cols, values): (&[u32], &[f64])| {
        cols.iter().zip(values).map(|(j, v)| v * at(z, *j as usize)).sum::<f64>()
    };
    t.rows().zip(r).map(|(row, r)| r - sum(row)).collect()
}

/// The largest magnitude; infinite if there is a NaN.
pub(crate) fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, v| if v.is_nan() { f64::INFINITY } else { v.abs().max(most) })
}

fn fewest(t: &Csr, is_upper: bool, right: &[Vec<f64>], tolerance: f64) -> usize {
    /// More than this many times the result costs 32 bits all but a few of its digits.
    const GROWTH: f64 = 1e4;
    let all = links(t, is_upper);
    let of = |r: &Vec<f64>| {
        let exact = substituted(t, is_upper, r);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let (size, limit) = (norm(&exact), GROWTH * largest(&exact));
        let mut z = r.clone();
        for k in 0..all {
            let off: Vec<f64> = z.iter().zip(&exact).map(|(z, e)| z - e).collect();
            if norm(&off) <= tolerance * size {
                return k;
            }
            // On the way down again rows that are exact stay so.
            if largest(&z) > limit {
                return all;
            }
            z = swept(t, r, &z);
        }
        all
    };
    right.iter().map(of).max().unwrap_or(0)
}
