//! Parts of a reduced system that no entry joins, and their null spaces.

use super::sums::Sum;
use super::symmetry::ROUNDING;
use crate::host::Csr;

/// A connected component of the pattern of `A + Aᵀ`, for the reduced matrix of a [`NormalForm`](super::NormalForm).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Component {
    /// Its places in the reduced system, ascending: rows and columns alike.
    pub unknowns: Vec<usize>,
    /// Whether all its rows sum to zero, up to 2^-40 of the sum of magnitudes: before scaling, constants on this component are a null
    /// vector of the matrix.
    pub rows_sum_to_zero: bool,
    /// Whether all its columns sum to zero, up to 2^-40 of the sum of magnitudes: before scaling, constants on this component are a
    /// null vector of the transposed matrix, so that there is a solution only if the right-hand side sums to zero here.
    pub columns_sum_to_zero: bool,
}

/// The components of a matrix; of a `symmetric` one, sums of columns are those of rows.
pub(super) fn components(a: &Csr, symmetric: bool, transposed: &Csr) -> Vec<Component> {
    let rows = zero_sums(a);
    let columns = if symmetric { rows.clone() } else { zero_sums(transposed) };
    let all = |zero: &[bool], unknowns: &[usize]| unknowns.iter().all(|&k| zero.get(k) == Some(&true));
    let of = |unknowns: Vec<usize>| Component {
        rows_sum_to_zero: all(&rows, &unknowns),
        columns_sum_to_zero: all(&columns, &unknowns),
        unknowns,
    };
    a.independent_groups().into_iter().map(of).collect()
}

/// Whether each row sums to zero up to rounding.
fn zero_sums(a: &Csr) -> Vec<bool> {
    let of = |(_, values): (&[u32], &[f64])| {
        let top = values.iter().fold(0.0, |top: f64, v| v.abs().max(top));
        let (mut sum, mut size) = (Sum::default(), 0.0);
        for v in values {
            // Relative to the largest, so that no sum leaves the range.
            let part = v / top;
            sum.add(part);
            size += part.abs();
        }
        sum.value().abs() <= ROUNDING * size
    };
    a.rows().map(of).collect()
}

/// An equation that has a solution only if a sum of the right-hand side is zero:
/// [`NormalForm::imbalances`](super::NormalForm::imbalances).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Imbalance {
    /// A row without unknowns: what is left of its right-hand side where known values have been moved there.
    Row {
        /// The row of the given matrix.
        row: usize,
        /// `b_i - Σ_j a_ij x_j` over known unknowns.
        sum: f64,
        /// `|b_i| + Σ_j |a_ij x_j|`.
        size: f64,
    },
    /// A component whose columns sum to zero.
    Component {
        /// Its number in [`NormalForm::components`](super::NormalForm::components).
        component: usize,
        /// `Σ_i (b_i - Σ_j a_ij x_j)` over its rows and over known unknowns.
        sum: f64,
        /// `Σ_i (|b_i| + Σ_j |a_ij x_j|)`.
        size: f64,
    },
}

impl Imbalance {
    /// `|sum| / size`, 0 if both are: between 0 and 1. Rounding alone leaves about 2^-53; the system has no solution where this is
    /// more than the precision of `b`.
    pub fn relative(&self) -> f64 {
        let (Imbalance::Row { sum, size, .. } | Imbalance::Component { sum, size, .. }) = *self;
        if size == 0.0 { 0.0 } else { sum.abs() / size }
    }
}
