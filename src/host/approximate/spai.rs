//! Sparse approximate inverses by least squares (M. Grote, T. Huckle, 1997), on a pattern that is given.

use super::small::least_squares;
use super::{Row, from_rows, row_of, squared};
use crate::error::Result;
use crate::host::Csr;
use crate::host::parallel::Threads;

/// Most elements of a column on the pattern of the square.
const MOST: usize = 30;

/// `M` for which `‖A M - I‖` is least in the norm of Frobenius, column by column on the pattern of `A`, or of its square.
pub(crate) fn spai(a: &Csr, steps: usize) -> Result<Csr> {
    // Columns of A as rows.
    let of_columns = a.transposed();
    let norms: Vec<f64> = of_columns
        .rows()
        .map(|(_, v)| v.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE))
        .collect();
    let roots: Vec<f64> = norms.iter().map(|norm| norm.sqrt()).collect();
    let column = |j: usize| -> Row {
        let places: Vec<u32> = if steps > 1 {
            squared(&of_columns, &roots, j, |size| size > 0.0, MOST, usize::MAX)
        } else {
            let mut own = row_of(&of_columns, j).0.to_vec();
            if let Err(at) = own.binary_search(&(j as u32)) {
                own.insert(at, j as u32);
            }
            own
        };
        // The rows that these columns reach.
        let mut rows: Vec<u32> =
            places.iter().flat_map(|k| row_of(&of_columns, *k as usize).0).copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let dense = |k: &u32| super::picked(&of_columns, *k as usize, &rows);
        let one = rows.binary_search(&(j as u32)).ok();
        let solution = least_squares(places.iter().map(dense).collect(), one);
        places.into_iter().zip(solution).filter(|(_, v)| *v != 0.0 && v.is_finite()).collect()
    };
    Ok(from_rows(a.shape().transposed(), Threads::all().each(a.shape().cols, column)).transposed())
}
