//! The two ways to multiply a block with its quad of x: which coefficient meets which component.

use super::ir::{Swizzle, WriteMask};
use crate::pack::terms::{Entry, Term};

/// One instruction's worth of a product: lane k multiplies `coefficients[k]` with component `swizzle[k]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Peel {
    pub coefficients: [f32; 4],
    pub swizzle: Swizzle,
    /// The rows that take part: lanes of a peel, or the one row of a dot product.
    pub rows: WriteMask,
}

/// Column-major: peel k takes the k-th non-zero of each row, from the left. Rows in `late` take part in the last peels in
/// place of the first.
pub(super) fn peels(term: &Term, late: WriteMask) -> Vec<Peel> {
    let (counts, total) = (term.counts(), term.peels() as usize);
    let mut peels = vec![Vec::new(); total];
    let mut taken = [0; 4];
    for &entry in &term.entries {
        let row = entry.0 as usize;
        let (Some(taken), Some(&count)) = (taken.get_mut(row), counts.get(row)) else { continue };
        let wait = if late.has(row) { total - count as usize } else { 0 };
        if let Some(peel) = peels.get_mut(wait + *taken) {
            peel.push(entry);
        }
        *taken += 1;
    }
    peels.iter().map(|entries| gathered(entries, |&(row, _, _)| row)).collect()
}

/// Row-major: a dot product for each row that holds a non-zero, with the row it belongs to.
pub(super) fn dots(term: &Term) -> Vec<Peel> {
    let row = |row: &[Entry]| {
        let rows = row.first().map_or(WriteMask::NONE, |first| WriteMask::one(first.0 as usize));
        Peel { rows, ..gathered(row, |&(_, col, _)| col) }
    };
    term.entries.chunk_by(|a, b| a.0 == b.0).map(row).collect()
}

/// The serial dot products of a diagonal L block: the row's own component has the coefficient 1, which adds what is there.
pub(super) fn serial_dots(term: &Term) -> Vec<Peel> {
    let fused = |dot: Peel| {
        let used = |k: usize| dot.coefficients.get(k).is_some_and(|&c| c != 0.0);
        let own = dot.rows.lanes().next().unwrap_or_default();
        let swizzle = std::array::from_fn(|k| if used(k) { k as u8 } else { own as u8 });
        let mut coefficients = dot.coefficients;
        if let Some(c) = coefficients.get_mut(own) {
            *c = 1.0;
        }
        Peel { coefficients, swizzle: Swizzle::new(swizzle), rows: dot.rows }
    };
    dots(term).into_iter().map(fused).collect()
}

/// Entries in the lanes that `lane` says. The other lanes multiply zero with a component that is read anyway, so that
/// they bring in no infinity of their own.
fn gathered(entries: &[Entry], lane: impl Fn(&Entry) -> u8) -> Peel {
    let used = entries.first().map_or(0, |&(_, col, _)| col);
    let (mut coefficients, mut swizzle, mut rows) = ([0.0; 4], [used; 4], WriteMask::NONE);
    for entry in entries {
        let k = lane(entry) as usize;
        if let (Some(c), Some(s)) = (coefficients.get_mut(k), swizzle.get_mut(k)) {
            (*c, *s) = (rounded(entry.2), entry.1);
        }
        rows = rows.with(WriteMask::one(k));
    }
    Peel { coefficients, swizzle: Swizzle::new(swizzle), rows }
}

/// A coefficient as the device holds it: 32 bits, with what lies below the normal range flushed.
fn rounded(value: f64) -> f32 {
    let value = value as f32;
    if value.is_normal() { value } else { 0.0f32.copysign(value) }
}
