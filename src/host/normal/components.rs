//! Connected components of a reduced matrix, and their null spaces.

use super::sums::Sum;
use crate::host::Csr;
use crate::host::parallel::Threads;

/// A connected component of the pattern of `A + Aᵀ`, where `A` is the reduced matrix of a
/// [`NormalForm`](super::NormalForm).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Component {
    /// Rows and columns of the component in the reduced matrix, ascending.
    pub unknowns: Vec<usize>,
    /// Whether each of its rows sums to zero, up to 2^-46 of the sum of magnitudes, before scaling.
    /// Then there is a null vector that is constant on the component, in the unknowns of the given
    /// system.
    pub rows_sum_to_zero: bool,
    /// Whether each of its columns sums to zero, up to 2^-46 of the sum of magnitudes, before
    /// scaling. Then the system has a solution only if the right-hand side sums to zero over the
    /// component.
    pub columns_sum_to_zero: bool,
}

/// The largest sum that counts as rounding, relative to that of magnitudes: 64 bits add up a hundred entries to less, and of a sum that
/// is larger there is a solution in pairs of floats.
const ROUNDING: f64 = 1.0 / (1u64 << 46) as f64;

/// Finds the components of a matrix. `transposed` is used only if it is not symmetric.
pub(super) fn components(a: &Csr, symmetric: bool, transposed: &Csr) -> Vec<Component> {
    let rows = zero_sums(a);
    let columns = if symmetric { rows.clone() } else { zero_sums(transposed) };
    let all = |zero: &[bool], unknowns: &[usize]| unknowns.iter().all(|&k| zero.get(k) == Some(&true));
    let of = |unknowns: Vec<usize>| Component {
        rows_sum_to_zero: all(&rows, &unknowns),
        columns_sum_to_zero: all(&columns, &unknowns),
        unknowns,
    };
    // Of a symmetric one the entries below the diagonal say it all.
    let groups = if symmetric { a.groups_by(|i, j, _| j < i) } else { a.independent_groups() };
    groups.into_iter().map(of).collect()
}

/// Returns whether each row sums to zero up to rounding.
fn zero_sums(a: &Csr) -> Vec<bool> {
    let of = |i: usize| {
        let (_, values) = a.row_slices(i);
        let top = values.iter().fold(0.0, |top: f64, v| v.abs().max(top));
        let (mut sum, mut size) = (Sum::default(), 0.0);
        for v in values {
            // Relative to the largest entry, so that no sum overflows.
            let part = v / top;
            sum.add(part);
            size += part.abs();
        }
        sum.value().abs() <= ROUNDING * size
    };
    Threads::all().made(a.shape().rows, of)
}

/// A sum of right-hand sides that is zero if the system has a solution; see
/// [`NormalForm::imbalances`](super::NormalForm::imbalances).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Imbalance {
    /// The right-hand side of an empty row, after known unknowns have moved there.
    Row {
        /// The row of the given matrix.
        row: usize,
        /// `b_i - Σ_j a_ij x_j`, j over known unknowns.
        sum: f64,
        /// `|b_i| + Σ_j |a_ij x_j|`.
        size: f64,
    },
    /// The sum over a component whose columns sum to zero.
    Component {
        /// Index into [`NormalForm::components`](super::NormalForm::components).
        component: usize,
        /// `Σ_i (b_i - Σ_j a_ij x_j)`, i over its rows and j over known unknowns.
        sum: f64,
        /// `Σ_i (|b_i| + Σ_j |a_ij x_j|)`.
        size: f64,
    },
}

impl Imbalance {
    /// Returns `|sum| / size`, or 0 if both are 0. The system has no solution if this is more than
    /// the relative precision of `A x = b` explains: at least 2^-53, and more if terms of `A x`
    /// cancel in `b`.
    pub fn relative(&self) -> f64 {
        let (Imbalance::Row { sum, size, .. } | Imbalance::Component { sum, size, .. }) = *self;
        if size == 0.0 { 0.0 } else { sum.abs() / size }
    }
}
