//! Symmetry up to rounding.

use std::ops::Range;

use crate::host::Csr;
use crate::host::parallel::Threads;

/// Rows that are worth a thread.
const ROWS: usize = 4096;

/// The largest relative difference of `a_ij` and `a_ji` that counts as rounding.
pub(super) const ROUNDING: f64 = 1.0 / (1u64 << 40) as f64;

/// The largest difference of a matrix from its transposed matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Asymmetry {
    /// `max |a_ij - a_ji| / s_ij`, s_ij as in [`measure`].
    pub ratio: f64,
    pub row: usize,
    pub column: usize,
    /// `a_ij`, `a_ji` and `s_ij`.
    pub entries: (f64, f64, f64),
}

/// Measures differences relative to `s_ij = √|a_ii a_jj|`, which scales as the entries do if rows
/// and columns are scaled alike. If either diagonal entry is 0, `s_ij` is the smaller of the
/// largest entries of rows i and j.
pub(super) fn measure(a: &Csr, transposed: &Csr) -> Asymmetry {
    let roots: Vec<f64> = a.diagonal().iter().map(|d| d.abs().sqrt()).collect();
    let top = |(_, values): (&[u32], &[f64])| values.iter().fold(0.0, |top: f64, v| v.abs().max(top));
    let tops: Vec<f64> = a.rows().map(top).collect();
    let of = |list: &[f64], k: usize| list.get(k).copied().unwrap_or_default();
    let of_rows = |rows: Range<usize>| {
        let mut worst = Asymmetry::default();
        pairs(a, transposed, rows, |i, j, a, b| {
            if a == b {
                return;
            }
            let (root, other) = (of(&roots, i), of(&roots, j));
            let by_diagonal = root * other;
            let size = if root > 0.0 && other > 0.0 { by_diagonal } else { of(&tops, i).min(of(&tops, j)) };
            // Unequal entries keep a ratio above 0, also where it underflows.
            let ratio = ((a - b).abs() / size).max(f64::MIN_POSITIVE);
            if ratio > worst.ratio {
                worst = Asymmetry { ratio, row: i, column: j, entries: (a, b, size) };
            }
        });
        worst
    };
    let parts = Threads::all().parts(a.shape().rows, ROWS, of_rows);
    // The first of equals, as without threads.
    parts
        .into_iter()
        .fold(Asymmetry::default(), |worst, found| if found.ratio > worst.ratio { found } else { worst })
}

/// Returns `(A + Aᵀ) / 2`.
pub(super) fn mean(a: &Csr, transposed: &Csr) -> Csr {
    Csr::by_rows(
        Threads::all(),
        a.shape(),
        a.nnz(),
        || (),
        |i, (), rows| {
            merge(a.row_slices(i), transposed.row_slices(i), |j, a, b| {
                // The sum could overflow, and the halves of equal entries could round.
                rows.push(j, if a == b { a } else { 0.5 * a + 0.5 * b });
            });
        },
    )
}

/// Calls a function for every place of either matrix in these rows, one after another, with the entries of both.
fn pairs(a: &Csr, b: &Csr, rows: Range<usize>, mut of: impl FnMut(usize, usize, f64, f64)) {
    for i in rows {
        merge(a.row_slices(i), b.row_slices(i), |j, a, b| of(i, j as usize, a, b));
    }
}

/// Calls a function for every column of either row, in order, with the entries of both; a missing
/// one is 0.
fn merge(left: (&[u32], &[f64]), right: (&[u32], &[f64]), mut of: impl FnMut(u32, f64, f64)) {
    let mut left = left.0.iter().copied().zip(left.1.iter().copied()).peekable();
    let mut right = right.0.iter().copied().zip(right.1.iter().copied()).peekable();
    loop {
        let column = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) => a.0.min(b.0),
            (Some(a), None) => a.0,
            (None, Some(b)) => b.0,
            (None, None) => return,
        };
        let a = left.next_if(|entry| entry.0 == column).map_or(0.0, |entry| entry.1);
        let b = right.next_if(|entry| entry.0 == column).map_or(0.0, |entry| entry.1);
        of(column, a, b);
    }
}
