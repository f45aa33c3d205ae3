//! Powers of two that bring a matrix into the range of 32-bit floats.

use crate::host::Csr;
use crate::host::prepare::{Exponents, exponent, power};

/// Scales by the diagonal are given up where an entry would be larger than 2^100.
const HIGHEST: i32 = 100;

/// No scale is beyond 2^600: half the way to 1 for entries of any size.
const FARTHEST: i32 = 600;

/// Logarithms of scales: entry (i, j) is to be multiplied by `2^(rows_i + columns_j)`.
#[derive(Debug)]
pub(super) struct Scales {
    pub rows: Vec<i32>,
    pub columns: Vec<i32>,
    /// The zero of the diagonal, or the entry that would be too large, for which scales are not those of the diagonal.
    pub given_up: Option<(usize, usize)>,
}

impl Scales {
    pub fn none(n: usize) -> Self {
        Self { rows: vec![0; n], columns: vec![0; n], given_up: None }
    }

    /// `D^-1/2` for both sides, in powers of two: the diagonal is then within 1/2 and 2. Else the largest entries of rows and
    /// columns are brought within 1/4 and 2.
    pub fn new(a: &Csr) -> Self {
        let diagonal: Vec<Option<i32>> = a.diagonal().iter().map(|&d| exponent(d)).collect();
        let zero = diagonal.iter().position(Option::is_none).map(|i| (i, i));
        let roots: Vec<i32> = diagonal.iter().map(|e| -((e.unwrap_or_default() + 1) >> 1)).collect();
        let of = |k: usize| roots.get(k).copied().unwrap_or_default();
        let too_large =
            |(i, j, v): &(usize, usize, f64)| exponent(*v).is_some_and(|e| e + of(*i) + of(*j) >= HIGHEST);
        let given_up = zero.or_else(|| a.entries().find(too_large).map(|(i, j, _)| (i, j)));
        if given_up.is_none() {
            return Self { columns: roots.clone(), rows: roots, given_up };
        }
        let Exponents { rows, columns } = Exponents::balanced(a, FARTHEST);
        Self { rows, columns, given_up }
    }

    /// The matrix with these scales, negated or not. Nothing is rounded, but for what falls below 2^-1022.
    pub fn apply(&self, a: Csr, negated: bool) -> Csr {
        let of = |list: &[i32], k: usize| list.get(k).copied().unwrap_or_default();
        a.map(|i, j, v| {
            let scaled = times_power(v, of(&self.rows, i) + of(&self.columns, j));
            if negated { -scaled } else { scaled }
        })
    }
}

/// `v 2^e`, for |e| up to 2,000: in two steps, so that neither power leaves the range.
fn times_power(v: f64, e: i32) -> f64 {
    v * power(e / 2) * power(e - e / 2)
}
