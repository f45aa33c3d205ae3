//! Approximate inverses and incomplete factors of sparse matrices: what preconditioners are set up from.

mod fsai;
mod incomplete;
mod order;
mod small;
mod spai;
mod sweeps;

pub(crate) use sweeps::largest;
#[cfg(test)]
mod tests;

pub(crate) use fsai::fsai;
pub(crate) use incomplete::{Factors, ic0, ilu0, ilut};
pub(crate) use order::minimum_degree;
pub(crate) use spai::spai;

use super::Csr;
use crate::shape::Shape;

/// Rows of a matrix as they are made: columns ascend.
type Row = Vec<(u32, f64)>;

/// A matrix of these rows.
fn from_rows(shape: Shape, rows: impl IntoIterator<Item = Row>) -> Csr {
    let entries = (0u32..).zip(rows).flat_map(|(i, row)| row.into_iter().map(move |(j, v)| (i, j, v)));
    Csr::from_sorted(shape, &entries.collect::<Vec<_>>())
}

/// Row `i`: columns and values.
fn row_of(a: &Csr, i: usize) -> (&[u32], &[f64]) {
    let at = |k: usize| a.row_ptr().get(k).copied().unwrap_or(a.nnz());
    let range = at(i)..at(i + 1);
    (a.cols().get(range.clone()).unwrap_or_default(), a.values().get(range).unwrap_or_default())
}

/// An element of a list that is long enough; zero of one that is not.
fn at(list: &[f64], i: usize) -> f64 {
    list.get(i).copied().unwrap_or(0.0)
}

/// The elements of a row at the places of a list, both ascending; zero where it has none.
fn picked(a: &Csr, row: usize, places: &[u32]) -> Vec<f64> {
    let (cols, values) = row_of(a, row);
    let mut entries = cols.iter().zip(values).peekable();
    let of = |place: &u32| {
        while entries.next_if(|(col, _)| *col < place).is_some() {}
        entries.next_if(|(col, _)| *col == place).map_or(0.0, |(_, value)| *value)
    };
    places.iter().map(of).collect()
}

/// The places that the rows of a list have, but for the small elements that `counts` leaves out, beside those of the list itself;
/// the `most` of them with the largest product of two elements, ascending. Elements are as if the diagonal were 1.
fn squared(
    a: &Csr,
    roots: &[f64],
    i: usize,
    counts: impl Fn(f64) -> bool,
    most: usize,
    below: usize,
) -> Vec<u32> {
    let scaled = |i: usize, j: u32, v: f64| (v / at(roots, i) / at(roots, j as usize)).abs();
    let mut found: Vec<(u32, f64)> = Vec::new();
    let neighbours = |i: usize| {
        let (cols, values) = row_of(a, i);
        let own = cols
            .iter()
            .zip(values)
            .map(move |(j, v)| (*j, if *j as usize == i { 1.0 } else { scaled(i, *j, *v) }));
        own.filter(|(_, size)| counts(*size))
    };
    for (k, first) in neighbours(i).collect::<Vec<_>>() {
        found.extend(
            neighbours(k as usize)
                .filter(|(j, _)| *j as usize <= below)
                .map(|(j, second)| (j, first * second)),
        );
    }
    // The largest of each place.
    found.sort_unstable_by(|x, y| x.0.cmp(&y.0).then(y.1.total_cmp(&x.1)));
    found.dedup_by_key(|entry| entry.0);
    if found.len() > most {
        found.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        found.truncate(most);
        found.sort_unstable_by_key(|entry| entry.0);
    }
    found.into_iter().map(|entry| entry.0).collect()
}
