//! Detection of penalty rows.

use super::eliminate::Side;
use crate::host::prepare::{Duals, matching};

/// The least ratio of a penalty to the sum of the other magnitudes of its row.
const PENALTY: f64 = (1u64 << 26) as f64;

/// The largest change to another row or column, relative to its largest entry, that neglecting the
/// rest of a penalty row may cause.
const CHANGE: f64 = 1.0 / (1u64 << 20) as f64;

/// Returns the rows `i` with `|a_ii| > 2^26 Σ_(j≠i) |a_ij| > 0`, each with `a_ii`.
///
/// The ratio alone is not enough. An unknown in another unit has a large column (`A D` for a
/// diagonal `D`), and in the saddle point `[D Bᵀ; B 0]` with a large `D` the neglected entries
/// determine the multipliers. A row is therefore a penalty only if the terms `a_ki a_ij / a_ii`
/// that elimination would add are small relative to the entries that row k and column j keep.
///
/// That does not see an unknown that is large beside its neighbours because both its equation and it
/// are in units of their own (`D A E`): row k and column j may have an entry that is larger still.
/// So the same terms are also compared with 1 in the units in which the entries of the matching with
/// the largest product are 1, which do not depend on scales.
pub(super) fn penalty_rows(rows: &Side, columns: &Side) -> Vec<(usize, f64)> {
    let mut found: Vec<Candidate> = rows.live().filter_map(|i| Candidate::new(rows, columns, i)).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let mut places = vec![false; rows.lines.shape().rows];
    for candidate in &found {
        if let Some(place) = places.get_mut(candidate.i) {
            *place = true;
        }
    }
    // The largest entries that rows and columns keep if all candidates are eliminated.
    let (row_tops, column_tops) = (tops(rows, columns, &places), tops(columns, rows, &places));
    found.retain(|candidate| {
        let Candidate { i, value, row_rest, column_rest } = *candidate;
        // Row k would get `a_ki / a_ii` times the rest of row i, column j `a_ij / a_ii` times that
        // of column i.
        changes_little(columns, rows, &places, &row_tops, i, row_rest / value.abs())
            && changes_little(rows, columns, &places, &column_tops, i, column_rest / value.abs())
    });
    if !found.is_empty()
        && let Some(duals) = matching(rows.lines).duals
    {
        found.retain(|candidate| adds_little(rows, columns, &duals, candidate));
    }
    found.iter().map(|candidate| (candidate.i, candidate.value)).collect()
}

/// Whether a row of other entries too has a diagonal entry as large as a penalty.
pub(super) fn is_penalty(row: impl Iterator<Item = (usize, f64)>, i: usize) -> bool {
    let (value, rest) = own_and_rest(row, i);
    value.abs() > PENALTY * rest
}

/// The entry of a row on the diagonal, and the sum of the other magnitudes.
fn own_and_rest(row: impl Iterator<Item = (usize, f64)>, i: usize) -> (f64, f64) {
    row.fold((0.0, 0.0), |(own, rest), (j, a)| if j == i { (a, rest) } else { (own, rest + a.abs()) })
}

/// A row whose diagonal entry is as large as a penalty.
#[derive(Clone, Copy)]
struct Candidate {
    i: usize,
    value: f64,
    /// `Σ_j |a_ij|`, j not i.
    row_rest: f64,
    /// `Σ_k |a_ki|`, k not i.
    column_rest: f64,
}

impl Candidate {
    fn new(rows: &Side, columns: &Side, i: usize) -> Option<Self> {
        if !columns.is_live(i) {
            return None;
        }
        let (value, row_rest) = own_and_rest(rows.lines.row(i).filter(|(j, _)| columns.is_live(*j)), i);
        if row_rest == 0.0 || value.abs() <= PENALTY * row_rest {
            return None;
        }
        let column = columns.lines.row(i).filter(|(k, _)| *k != i && rows.is_live(*k));
        let column_rest = column.map(|(_, a)| a.abs()).sum();
        Some(Self { i, value, row_rest, column_rest })
    }
}

/// Returns whether elimination adds little to any entry, where the entries of the matching are 1.
fn adds_little(rows: &Side, columns: &Side, duals: &Duals, candidate: &Candidate) -> bool {
    let Candidate { i, value, .. } = *candidate;
    let of = |list: &[f64], k: usize| list.get(k).copied().unwrap_or_default();
    let size = |row: usize, column: usize, v: f64| {
        v.abs().log2() + of(&duals.rows, row) + of(&duals.columns, column)
    };
    let largest = f64::max;
    let across = rows.lines.row(i).filter(|(j, _)| *j != i && columns.is_live(*j));
    let row = across.map(|(j, v)| size(i, j, v)).fold(f64::NEG_INFINITY, largest);
    let across = columns.lines.row(i).filter(|(k, _)| *k != i && rows.is_live(*k));
    let column = across.map(|(k, v)| size(k, i, v)).fold(f64::NEG_INFINITY, largest);
    row + column - size(i, i, value) <= CHANGE.log2()
}

fn is_in(places: &[bool], k: usize) -> bool {
    places.get(k).copied().unwrap_or_default()
}

/// Returns the largest magnitude of each line outside of the lines across that belong to
/// candidates.
fn tops(own: &Side, other: &Side, places: &[bool]) -> Vec<f64> {
    let of = |(columns, values): (&[u32], &[f64])| {
        let stays = |k: &u32| other.is_live(*k as usize) && !is_in(places, *k as usize);
        let kept = columns.iter().zip(values).filter(|(k, _)| stays(k));
        kept.fold(0.0, |top: f64, (_, v)| top.max(v.abs()))
    };
    own.lines.rows().map(of).collect()
}

/// Returns whether the entries of line `i` times `factor` are small relative to the largest entries
/// of the lines across. Lines of candidates do not count.
fn changes_little(own: &Side, other: &Side, places: &[bool], tops: &[f64], i: usize, factor: f64) -> bool {
    let mut across = own.lines.row(i).filter(|(k, _)| other.is_live(*k) && !is_in(places, *k));
    across.all(|(k, a)| a.abs() * factor <= CHANGE * tops.get(k).copied().unwrap_or_default())
}
