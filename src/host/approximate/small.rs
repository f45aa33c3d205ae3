//! Small dense systems.

use super::at;

/// The solution of `B y = e`, where `e` is 1 in the last place, for a symmetric positive definite matrix of side `n` row by row; `None`
/// where it is not positive definite. By Cholesky, of which the last step alone is left of the forward substitution.
pub(super) fn last_column_of_inverse(mut b: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    // The lower triangle becomes the factor.
    for j in 0..n {
        let (done, rest) = b.split_at_mut_checked(j * n + j)?;
        let own = done.get(j * n..j * n + j)?;
        let pivot = rest.first_mut()?;
        let root = (*pivot - own.iter().map(|v| v * v).sum::<f64>()).sqrt();
        if !(root > 0.0 && root.is_finite()) {
            return None;
        }
        *pivot = root;
        let own = own.to_vec();
        for i in j + 1..n {
            let row = b.get_mut(i * n..i * n + j + 1)?;
            let (before, last) = row.split_at_mut_checked(j)?;
            let last = last.first_mut()?;
            *last = (*last - before.iter().zip(&own).map(|(x, y)| x * y).sum::<f64>()) / root;
        }
    }
    let mut y = vec![0.0; n];
    *y.last_mut()? = 1.0 / b.last()?;
    for i in (0..n).rev() {
        let own = at(&y, i) / b.get(i * n + i)?;
        *y.get_mut(i)? = own;
        let row = b.get(i * n..i * n + i)?;
        y.iter_mut().zip(row).for_each(|(y, v)| *y -= own * v);
    }
    y.iter().all(|v| v.is_finite()).then_some(y)
}

/// The least-squares solution of `min ‖C m - e‖` for columns of `C` and a unit vector `e` with its 1 at `one`, by reflections
/// (Householder). Where columns depend on one another the later ones get 0.
pub(super) fn least_squares(mut columns: Vec<Vec<f64>>, one: Option<usize>) -> Vec<f64> {
    let (rows, n) = (columns.first().map_or(0, Vec::len), columns.len());
    let mut e = vec![0.0; rows];
    if let Some(slot) = one.and_then(|one| e.get_mut(one)) {
        *slot = 1.0;
    }
    let sizes: Vec<f64> = columns.iter().map(|c| c.iter().fold(0.0f64, |m, v| m.max(v.abs()))).collect();
    let mut diagonal = vec![0.0; n];
    for k in 0..n.min(rows) {
        let Some((column, rest)) = columns.get_mut(k..).and_then(|c| c.split_first_mut()) else { break };
        let Some(below) = column.get_mut(k..) else { break };
        let norm = below.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm <= 1e-14 * at(&sizes, k) || !norm.is_finite() {
            continue; // depends on those before
        }
        let head = below.first().copied().unwrap_or(0.0);
        let image = if head > 0.0 { -norm } else { norm };
        if let Some(first) = below.first_mut() {
            *first -= image;
        }
        let square = below.iter().map(|v| v * v).sum::<f64>();
        let reflect = |v: &mut [f64]| {
            let part = 2.0 * v.iter().zip(&*below).map(|(x, y)| x * y).sum::<f64>() / square;
            v.iter_mut().zip(&*below).for_each(|(x, y)| *x -= part * y);
        };
        rest.iter_mut().filter_map(|c| c.get_mut(k..)).for_each(reflect);
        if let Some(rest) = e.get_mut(k..) {
            reflect(rest);
        }
        if let Some(slot) = diagonal.get_mut(k) {
            *slot = image;
        }
    }
    let mut solution = vec![0.0; n];
    for k in (0..n).rev() {
        let pivot = at(&diagonal, k);
        if pivot == 0.0 {
            continue;
        }
        let value = at(&e, k) / pivot;
        if let (Some(slot), Some(column)) = (solution.get_mut(k), columns.get(k)) {
            *slot = value;
            e.iter_mut().zip(column).take(k).for_each(|(e, v)| *e -= value * v);
        }
    }
    solution
}
