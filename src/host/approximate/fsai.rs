//! Factorised sparse approximate inverses (L. Kolotilina, A. Yeremin, 1993).

use super::small::last_column_of_inverse;
use super::{Row, at, from_rows, picked, row_of, squared};
use crate::error::{Error, Result};
use crate::host::parallel::Threads;
use crate::host::{Csr, number};

/// Elements of the matrix, scaled to a diagonal of 1, that are less than this do not take part in the pattern of its square.
const SMALL: f64 = 0.02;

/// Most elements of a row of the factor on the pattern of the square.
const MOST: usize = 40;

/// Elements of the factor less than this share of its row's diagonal are dropped.
const DROPPED: f64 = 2e-3;

/// The lower triangular `G` with `GᵀG ≈ A⁻¹` and `diag(G A Gᵀ) = 1`, for a symmetric positive definite matrix: on the pattern of its
/// lower triangle, or of that of its square without small elements.
///
/// Row `i` is the last row of the inverse of `A[S, S]` by the root of its last element, where `S` is the pattern of the row. Where that is
/// not positive definite the diagonal alone is taken.
pub(crate) fn fsai(a: &Csr, power: usize) -> Result<Csr> {
    let diagonal = a.diagonal();
    if let Some((i, d)) = diagonal.iter().enumerate().find(|(_, d)| !(**d > 0.0 && d.is_finite())) {
        let d = number(*d);
        let detail =
            format!("has the diagonal entry {d} at {i} (counted from 0), expected a positive number");
        return Err(Error::Matrix { op: "Fsai", detail });
    }
    let roots: Vec<f64> = diagonal.iter().map(|d| d.sqrt()).collect();
    let pattern = |i: usize| -> Vec<u32> {
        if power > 1 {
            return squared(a, &roots, i, |size| size >= SMALL, MOST, i);
        }
        row_of(a, i).0.iter().copied().filter(|j| *j as usize <= i).collect()
    };
    // Systems are scaled to a diagonal of 1: pivots of any magnitude stay in range.
    let row = |i: usize| -> Row {
        let places = pattern(i);
        let n = places.len();
        let own = at(&roots, i);
        let scaled = |of: u32| {
            let root = at(&roots, of as usize);
            let values = picked(a, of as usize, &places);
            places.iter().zip(values).map(move |(j, v)| (*j, v / root)).collect::<Vec<_>>()
        };
        let system =
            places.iter().flat_map(|of| scaled(*of)).map(|(j, v)| v / at(&roots, j as usize)).collect();
        let alone = || vec![(i as u32, 1.0 / own)];
        let Some(solution) = last_column_of_inverse(system, n) else { return alone() };
        let last = solution.last().copied().unwrap_or(1.0).sqrt();
        if !(last > 0.0 && last.is_finite()) {
            return alone();
        }
        let entries = places.iter().zip(&solution).filter(|(_, v)| v.abs() >= DROPPED * last * last);
        entries.map(|(j, v)| (*j, v / last / at(&roots, *j as usize))).collect()
    };
    Ok(from_rows(a.shape(), Threads::all().each(a.shape().rows, row)))
}
