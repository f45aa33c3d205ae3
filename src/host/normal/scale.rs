//! Scaling by powers of two into the range of 32-bit floats.

use std::ops::Range;

use crate::host::Csr;
use crate::host::parallel::Threads;
use crate::host::prepare::{Exponents, exponent, power};

/// Rows that are worth a thread.
const ROWS: usize = 4096;

/// Logarithm of the bound on entries that are scaled by the diagonal.
const HIGHEST: i32 = 40;

/// Scales that differ by this factor at most, as a logarithm, are made equal: rows at the sides of a grid stay what they are beside
/// others then.
const ALIKE: i32 = 2;

/// One scale for all that is within this, as a logarithm, is left out.
const NEAR: i32 = 10;

/// Limit for logarithms of scales. Two of them reach from the least or the largest number to 1.
const FARTHEST: i32 = 600;

/// Logarithms of scales: entry (i, j) is to be multiplied by `2^(rows_i + columns_j)`.
#[derive(Debug)]
pub(super) struct Scales {
    pub rows: Vec<i32>,
    pub columns: Vec<i32>,
    /// The zero diagonal entry, or the entry that would be too large, because of which the diagonal
    /// does not determine the scales.
    pub given_up: Option<(usize, usize)>,
}

impl Scales {
    pub fn none(n: usize) -> Self {
        Self { rows: vec![0; n], columns: vec![0; n], given_up: None }
    }

    /// Chooses `D^-1/2` in powers of two for both sides, one for all where those are about the same, and none if that is near 1; or
    /// else scales that bring the largest entries of rows and columns into `1/4 .. 2`.
    pub fn new(a: &Csr) -> Self {
        let diagonal = a.diagonal();
        let zero = diagonal.iter().position(|d| exponent(*d).is_none()).map(|i| (i, i));
        let root = |d: &f64| -((exponent(*d).unwrap_or_default() + 1) >> 1);
        let mut roots = Threads::all().made(diagonal.len(), |i| diagonal.get(i).map_or(0, root));
        if let (Some(&most), Some(&least)) = (roots.iter().max(), roots.iter().min())
            && most - least <= ALIKE
        {
            // In the middle of the range nothing is gained.
            roots.fill(if least.abs() <= NEAR { 0 } else { least });
        }
        let of = |k: usize| roots.get(k).copied().unwrap_or_default();
        let too_large =
            |(i, j, v): &(usize, usize, f64)| exponent(*v).is_some_and(|e| e + of(*i) + of(*j) >= HIGHEST);
        let any = |mut rows: Range<usize>| rows.any(|i| a.row(i).any(|(j, v)| too_large(&(i, j, v))));
        let given_up = zero.or_else(|| {
            let parts = Threads::all().parts(a.shape().rows, ROWS, any);
            parts.contains(&true).then(|| a.entries().find(too_large).map(|(i, j, _)| (i, j))).flatten()
        });
        if given_up.is_none() {
            return Self { columns: roots.clone(), rows: roots, given_up };
        }
        let Exponents { rows, columns } = Exponents::balanced(a, FARTHEST);
        Self { rows, columns, given_up }
    }

    /// Scales a matrix, and negates it if asked to. Results are exact unless they fall below
    /// 2^-1022.
    pub fn apply(&self, a: Csr, negated: bool) -> Csr {
        if !negated && self.rows.iter().chain(&self.columns).all(|e| *e == 0) {
            return a;
        }
        let of = |list: &[i32], k: usize| list.get(k).copied().unwrap_or_default();
        a.map(|i, j, v| {
            let scaled = times_power(v, of(&self.rows, i) + of(&self.columns, j));
            if negated { -scaled } else { scaled }
        })
    }
}

/// Returns `v 2^e` for |e| up to 2,000, in two steps, because `2^e` itself may be out of range.
fn times_power(v: f64, e: i32) -> f64 {
    v * power(e / 2) * power(e - e / 2)
}
