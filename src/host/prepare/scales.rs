//! Powers of two for rows and columns.

use super::matching::{Duals, matching};
use crate::host::Csr;

/// No factor is beyond 2^100 or below 2^-100: 32 bits hold them all, and what is not extreme times one.
pub(super) const FARTHEST: i32 = 100;

/// Steps of equilibration at most: each halves logarithms, of which none is beyond 2200.
const STEPS: usize = 32;

/// Row `i` is to be multiplied by `2^rows_i`, column `j` by `2^columns_j`.
#[derive(Debug)]
pub(in crate::host) struct Exponents {
    pub rows: Vec<i32>,
    pub columns: Vec<i32>,
}

impl Exponents {
    /// Those for a matrix whose matching is its diagonal, from the logarithms of its scales if there are any. Of a
    /// `symmetric` one, rows and columns get the same.
    pub(super) fn new(a: &Csr, duals: Option<Duals>, symmetric: bool) -> Self {
        let n = a.shape().rows;
        let mut made = match duals {
            Some(duals) if symmetric => Self::halved(&duals),
            Some(duals) => Self::centred(a, duals, FARTHEST),
            None => Self { rows: vec![0; n], columns: vec![0; n] },
        };
        made.equilibrate(a, FARTHEST);
        made
    }

    /// Scales from the largest elements of rows and columns alone, within `2^-farthest` and `2^farthest`; of entries more than
    /// `2^APART` apart, from the matching with the largest product first. Those of a symmetric matrix are equal for rows and
    /// columns.
    pub fn balanced(a: &Csr, farthest: i32) -> Self {
        /// The largest entry of every row may then be of one column, and all others vanish beside it.
        const APART: i32 = 40;
        let mut made = Self { rows: vec![0; a.shape().rows], columns: vec![0; a.shape().cols] };
        let sizes = || a.values().iter().filter_map(|&v| exponent(v));
        let range = sizes().max().zip(sizes().min()).map_or(0, |(most, least)| most - least);
        if range > APART
            && !a.is_symmetric()
            && let Some(duals) = matching(a).duals
        {
            made = Self::centred(a, duals, farthest);
        }
        made.equilibrate(a, farthest);
        made
    }

    /// The mean of both logarithms: by symmetry the bounds hold with either, so with their mean too.
    fn halved(duals: &Duals) -> Self {
        let pairs = duals.rows.iter().zip(&duals.columns);
        let rows: Vec<i32> = pairs.map(|(u, v)| rounded(0.5 * (u + v), FARTHEST)).collect();
        Self { columns: rows.clone(), rows }
    }

    /// Rows may give to columns what they like, as long as all of an independent group do: it is chosen so that both reach
    /// equally far, and fewest are clamped.
    fn centred(a: &Csr, mut duals: Duals, farthest: i32) -> Self {
        for group in a.independent_groups() {
            let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
            for &i in &group {
                for value in duals.rows.get(i).into_iter().copied().chain(duals.columns.get(i).map(|v| -v)) {
                    (low, high) = (low.min(value), high.max(value));
                }
            }
            // Whole numbers, so that powers of two stay what they are.
            let middle = (0.5 * (low + high)).trunc();
            for &i in &group {
                if let (Some(u), Some(v)) = (duals.rows.get_mut(i), duals.columns.get_mut(i)) {
                    (*u, *v) = (*u - middle, *v + middle);
                }
            }
        }
        let round = |list: &[f64]| list.iter().map(|log| rounded(*log, farthest)).collect();
        Self { rows: round(&duals.rows), columns: round(&duals.columns) }
    }

    /// Brings the largest element of every row and column below 2, and to 1/4 at least (D. Ruiz, 2001, in powers of two).
    fn equilibrate(&mut self, a: &Csr, farthest: i32) {
        let sizes: Vec<Option<i32>> = a.values().iter().map(|&v| exponent(v)).collect();
        for _ in 0..STEPS {
            let (mut tops, mut column_tops) = (vec![None; self.rows.len()], vec![None; self.columns.len()]);
            for ((i, j, _), size) in a.entries().zip(&sizes) {
                let (Some(size), Some(row), Some(column)) = (size, self.rows.get(i), self.columns.get(j))
                else {
                    continue;
                };
                let size = Some(size + row + column);
                for top in tops.get_mut(i).into_iter().chain(column_tops.get_mut(j)) {
                    *top = size.max(*top);
                }
            }
            let rows = towards_one(&mut self.rows, &tops, farthest);
            let columns = towards_one(&mut self.columns, &column_tops, farthest);
            if !rows && !columns {
                break;
            }
        }
    }
}

/// Half the way to 1, for each of a row's and a column's factor has a part in it; all the way down from what is too large.
fn towards_one(exponents: &mut [i32], tops: &[Option<i32>], farthest: i32) -> bool {
    let mut changed = false;
    for (exponent, top) in exponents.iter_mut().zip(tops) {
        let step = match *top {
            Some(top) if top > 0 => -(top + 1) / 2,
            Some(top) => -top / 2,
            None => 0,
        };
        let new = (*exponent + step).clamp(-farthest, farthest);
        changed |= new != *exponent;
        *exponent = new;
    }
    changed
}

fn rounded(log: f64, farthest: i32) -> i32 {
    (log.round() as i32).clamp(-farthest, farthest)
}

/// floor(log2 |x|), exactly; none for 0.
pub(in crate::host) fn exponent(x: f64) -> Option<i32> {
    let of_bits = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    match x.abs() {
        0.0 => None,
        tiny if tiny < f64::MIN_POSITIVE => Some(of_bits(tiny * power(54)) - 54),
        size => Some(of_bits(size)),
    }
}

/// `2^e` for normal results, exactly on every machine.
pub(in crate::host) fn power(e: i32) -> f64 {
    f64::from_bits(((1023 + e.clamp(-1022, 1023)) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_and_powers_are_exact() {
        for e in -1074..=1023 {
            let x = 2f64.powi(e / 2) * 2f64.powi(e - e / 2);
            assert_eq!(exponent(-x), Some(e));
            if e >= -1022 {
                assert_eq!(power(e), x);
                assert_eq!(exponent(x.next_down()), Some(e - 1));
            }
        }
        assert_eq!(exponent(0.0), None);
        assert_eq!(exponent(-0.0), None);
    }
}
