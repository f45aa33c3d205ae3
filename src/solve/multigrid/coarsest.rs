//! The inverse on the coarsest level, found on the host in 64 bits.

use super::cycle::Start;
use crate::data::{Matrix, Stencil, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::Csr;
use crate::ops::{self, Combine, LinOp};
use crate::shape::Shape;

/// Levels end at this many unknowns.
pub(super) const MOST_DENSE: usize = 256;

/// Pairs of sweeps on a coarsest level that is too large to be solved. One long polynomial would damp more in exact
/// arithmetic; in floats its large weights blow rounding up.
pub(super) const PAIRS_IN_PLACE_OF_SOLVING: usize = 12;

/// A symmetric matrix row by row on the device, rounded alike on both sides of the diagonal.
pub(super) fn dense(device: &Device, n: usize, inverse: Vec<f64>) -> Result<Matrix> {
    let rounded: Vec<f32> = inverse.into_iter().map(|v| v as f32).collect();
    Matrix::from_rows(device, Shape::new(n, n), &rounded)
}

/// `x = (α A)⁻¹ b`, by an inverse; where there is a start, of what it leaves.
pub(super) fn solve(
    inverse: &Matrix,
    (alpha, a): (f32, &dyn LinOp),
    x: &mut Vector,
    b: &Vector,
    start: Start,
) -> Result<()> {
    if let Start::Zero = start {
        return ops::product(x, Combine::Replace, 1.0, inverse, b);
    }
    let mut r = Vector::uninit(x.device(), x.len())?;
    ops::product(&mut r, Combine::SubtractFrom(b), alpha, a, x)?;
    ops::product(x, Combine::Accumulate, 1.0, inverse, &r)
}

/// All elements row by row; entries of the same place are summed.
pub(super) fn full(a: &Csr) -> Vec<f64> {
    let n = a.shape().cols;
    let mut matrix = vec![0.0f64; a.shape().len()];
    for (i, j, value) in a.entries() {
        if let Some(slot) = matrix.get_mut(i * n + j) {
            *slot += value;
        }
    }
    matrix
}

/// The inverse of a symmetric positive definite operator row by row, or the pseudo-inverse of a semidefinite one.
pub(super) fn inverse(a: &Stencil) -> Result<Vec<f64>> {
    let n = a.grid().len();
    let mut matrix = full(a.csr());
    // v vᵀ for every null vector v, of the diagonal's size, makes the matrix definite; what it adds to the inverse is
    // taken out again.
    let size = a.interior();
    let null: Vec<Vec<f64>> = a
        .null_space()
        .iter()
        .map(|v| {
            let v: Vec<f64> = v.read()?.into_iter().map(f64::from).collect();
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            Ok(v.into_iter().map(|x| x / norm).collect())
        })
        .collect::<Result<_>>()?;
    let add = |matrix: &mut [f64], factor: f64| {
        for v in &null {
            for (row, x) in matrix.chunks_mut(n.max(1)).zip(v) {
                row.iter_mut().zip(v).for_each(|(slot, y)| *slot += factor * x * y);
            }
        }
    };
    add(&mut matrix, size);
    let mut inverse = invert(matrix, n, 0.0).ok_or_else(|| Error::Matrix {
        op: "Multigrid",
        detail: format!("is not positive definite on the coarsest grid, a {}", a.grid()),
    })?;
    add(&mut inverse, -1.0 / size);
    Ok(inverse)
}

/// The inverse of a symmetric positive definite matrix by elimination without exchanges, exactly symmetric; `None` where a
/// pivot is no more than `least`.
pub(super) fn invert(a: Vec<f64>, n: usize, least: f64) -> Option<Vec<f64>> {
    let inverse = eliminated::<false>(a, n, least)?;
    let transposed = |i: usize, j: usize| inverse.get(j * n + i).copied();
    let mut symmetric = Vec::with_capacity(n * n);
    for i in 0..n {
        for j in 0..n {
            symmetric.push(0.5 * (inverse.get(i * n + j)? + transposed(i, j)?));
        }
    }
    Some(symmetric)
}

/// The inverse of any matrix, with exchanges of rows; `None` where no pivot is larger than `least`.
pub(super) fn invert_any(a: Vec<f64>, n: usize, least: f64) -> Option<Vec<f64>> {
    eliminated::<true>(a, n, least)
}

/// Two functions, so that who has no use for exchanges does not carry them.
fn eliminated<const EXCHANGES: bool>(mut a: Vec<f64>, n: usize, least: f64) -> Option<Vec<f64>> {
    let mut inverse = vec![0.0; n * n];
    for (i, row) in inverse.chunks_mut(n.max(1)).enumerate() {
        *row.get_mut(i)? = 1.0;
    }
    // Gauss-Jordan: rows of both are copied out, so that the others can be changed.
    for k in 0..n {
        if EXCHANGES {
            let size = |i: usize| a.get(i * n + k).map_or(0.0, |v| v.abs());
            let largest = (k..n).fold(k, |best, i| if size(i) > size(best) { i } else { best });
            for j in (0..n).filter(|_| largest != k) {
                a.swap(k * n + j, largest * n + j);
                inverse.swap(k * n + j, largest * n + j);
            }
        }
        let pivot = *a.get(k * n + k)?;
        if (if EXCHANGES { pivot.abs() } else { pivot }) <= least || !pivot.is_finite() {
            return None;
        }
        let of = |m: &[f64]| -> Option<Vec<f64>> {
            Some(m.get(k * n..(k + 1) * n)?.iter().map(|v| v / pivot).collect())
        };
        let (row_a, row_i) = (of(&a)?, of(&inverse)?);
        for (i, (other_a, other_i)) in a.chunks_mut(n).zip(inverse.chunks_mut(n)).enumerate() {
            if i == k {
                other_a.copy_from_slice(&row_a);
                other_i.copy_from_slice(&row_i);
                continue;
            }
            let factor = *other_a.get(k)?;
            if factor == 0.0 {
                continue;
            }
            other_a.iter_mut().zip(&row_a).for_each(|(v, r)| *v -= factor * r);
            other_i.iter_mut().zip(&row_i).for_each(|(v, r)| *v -= factor * r);
        }
    }
    Some(inverse)
}
