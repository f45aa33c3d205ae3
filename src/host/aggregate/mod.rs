//! Smoothed aggregation: what algebraic multigrid needs of a matrix to make the next coarser one, in 64 bits.

mod blocks;
mod groups;
mod null;
mod spectrum;
mod suits;

pub(crate) use blocks::coarser_by_blocks;
pub(crate) use null::{null_vectors, orthonormal};
pub(crate) use spectrum::{largest_eigenvalue, largest_row_sum};
pub(crate) use suits::{blocks_of, has_hubs, is_damped, suits};

use std::borrow::Cow;

use super::Csr;
use super::parallel::Threads;
use crate::error::{Error, Result};
use crate::shape::Shape;
use groups::aggregates;

/// So many terms of a product are made in a second.
const MOST_TERMS: usize = 1 << 27;

/// Beyond that so many for an entry of the matrix: 3 to 10 on meshes.
const TERMS_AN_ENTRY: usize = 100;

/// A coarser matrix `R A P`, and what leads to it and back.
#[derive(Debug)]
pub(crate) struct Coarser {
    /// `P`: unknowns by aggregates.
    pub prolongator: Csr,
    /// `R`: `Pᵀ` of a symmetric matrix.
    pub restriction: Csr,
    /// `R A P`, exactly symmetric where it is `Pᵀ A P`.
    pub a: Csr,
}

/// A matrix with a positive diagonal.
#[derive(Clone, Copy)]
pub(crate) struct Fine<'a> {
    pub a: &'a Csr,
    pub diagonal: &'a [f64],
    /// [About](largest_eigenvalue) that of `D⁻¹ A`; of one that is not symmetric its [bound](largest_row_sum).
    pub largest_eigenvalue: f64,
}

/// The next coarser matrix of a symmetric one, where connections count from `theta` on; `None` where no unknown has one that does.
pub(crate) fn coarser(threads: Threads, fine: Fine<'_>, theta: f64) -> Result<Option<Coarser>> {
    let strong = strong(threads, fine, theta);
    let (of, count) = aggregates(&strong);
    if count == 0 {
        return Ok(None);
    }
    let divisors = divisors(threads, &strong, fine.diagonal);
    // Where nothing is weak that may be the matrix whose eigenvalue is known.
    let known = std::ptr::eq(strong.as_ref(), fine.a) && divisors == fine.diagonal;
    let largest =
        if known { fine.largest_eigenvalue } else { largest_eigenvalue(threads, &strong, &divisors) };
    let prolongator = prolongator(threads, &strong, &divisors, largest, &of, count);
    let restriction = prolongator.transposed_on(threads);
    let a = galerkin(threads, &restriction, fine.a, &prolongator)?.evened(threads);
    Ok(Some(Coarser { prolongator, restriction, a }))
}

/// The next coarser matrix of any other: a connection counts by the larger of its two entries, nothing is filtered, and `R` is the
/// transpose of what smoothing by `Aᵀ` makes of the same aggregates.
///
/// *Source*: M. Sala, R. Tuminaro, *A new Petrov-Galerkin smoothed aggregation preconditioner for nonsymmetric linear systems*, 2008,
/// with one factor for all unknowns.
pub(crate) fn coarser_of_any(threads: Threads, fine: Fine<'_>, theta: f64) -> Result<Option<Coarser>> {
    let transposed = fine.a.transposed_on(threads);
    let graph = larger(threads, fine.a, &transposed);
    let (of, count) = aggregates(&strong(threads, Fine { a: &graph, ..fine }, theta));
    if count == 0 {
        return Ok(None);
    }
    let smoothed = |a: &Csr| {
        let divisors = divisors(threads, a, fine.diagonal);
        prolongator(threads, a, &divisors, largest_row_sum(threads, a, &divisors), &of, count)
    };
    let (prolongator, restriction) = (smoothed(fine.a), smoothed(&transposed).transposed_on(threads));
    let a = galerkin(threads, &restriction, fine.a, &prolongator)?;
    Ok(Some(Coarser { prolongator, restriction, a }))
}

/// `R A P`, unless rows with very many entries make it so full that it costs out of all proportion.
///
/// *Errors*: [`Error::Matrix`], before the product that costs so much.
fn galerkin(threads: Threads, restriction: &Csr, a: &Csr, prolongator: &Csr) -> Result<Csr> {
    let limit = MOST_TERMS.max(TERMS_AN_ENTRY * a.nnz());
    let check = |left: &Csr, right: &Csr| {
        let terms = left.terms_of_product(right);
        if terms <= limit {
            return Ok(());
        }
        let [rows, coarse] = [a, restriction].map(|m| m.shape().rows);
        let detail = format!(
            "the matrix of {coarse} aggregates of {rows} unknowns is a sum of {terms} products, expected at most {limit}: rows \
             with very many entries fill it"
        );
        Err(Error::Matrix { op: "AggregationMultigrid", detail })
    };
    check(a, prolongator)?;
    let ap = a.product(threads, prolongator);
    check(restriction, &ap)?;
    Ok(restriction.product(threads, &ap))
}

/// Sizes of entries, each the larger of those at (i, j) and (j, i).
fn larger(threads: Threads, a: &Csr, transposed: &Csr) -> Csr {
    Csr::by_rows(threads, a.shape(), a.nnz(), Vec::new, |i, both: &mut Vec<(usize, f64)>, rows| {
        both.clear();
        both.extend(a.row(i).chain(transposed.row(i)).map(|(j, v)| (j, v.abs())));
        both.sort_by_key(|(j, _)| *j);
        for same in both.chunk_by(|a, b| a.0 == b.0) {
            let Some((j, _)) = same.first() else { continue };
            rows.push(*j as u32, same.iter().map(|(_, v)| *v).fold(0.0, f64::max));
        }
    })
}

/// `A_F`: the entries with `|a_ij| > theta sqrt(a_ii a_jj)`, and the others added to the diagonal, so that rows sum to what
/// they did. The matrix itself where all are strong.
fn strong<'a>(threads: Threads, Fine { a, diagonal, .. }: Fine<'a>, theta: f64) -> Cow<'a, Csr> {
    // Square roots first: products of two entries may leave the range.
    let roots: Vec<f64> = diagonal.iter().map(|d| theta.sqrt() * d.sqrt()).collect();
    let root = |i: usize| roots.get(i).copied().unwrap_or_default();
    let counts = |i: usize, j: usize, value: f64| i == j || value.abs() > root(i) * root(j);
    let all = |i: usize| a.row(i).all(|(j, value)| counts(i, j, value));
    if threads.parts(a.shape().rows, 4096, |mut part| part.all(all)).into_iter().all(|all| all) {
        return Cow::Borrowed(a);
    }
    Cow::Owned(Csr::by_rows(
        threads,
        a.shape(),
        a.nnz(),
        || (),
        |i, (), rows| {
            let lumped: f64 =
                a.row(i).filter(|&(j, value)| i == j || !counts(i, j, value)).map(|(_, v)| v).sum();
            for (j, value) in a.row(i).filter(|&(j, value)| counts(i, j, value)) {
                rows.push(j as u32, if i == j { lumped } else { value });
            }
        },
    ))
}

/// The diagonal of `A_F`, but never less than its row has beside it: what was added to it may be negative.
fn divisors(threads: Threads, strong: &Csr, diagonal: &[f64]) -> Vec<f64> {
    let divisor = |i: usize, own: f64| {
        let (mut lumped, mut beside) = (0.0, 0.0);
        strong.row(i).for_each(|(j, value)| if i == j { lumped = value } else { beside += value.abs() });
        let divisor = f64::max(lumped, beside);
        if divisor > 0.0 { divisor } else { own }
    };
    let mut divisors = diagonal.to_vec();
    threads.blocks(&mut divisors, |begin, block| {
        (begin..).zip(block).for_each(|(i, slot)| *slot = divisor(i, *slot));
    });
    divisors
}

/// `P = (I - ω D⁻¹ A_F) T` with ω = 4/3 / λ_max(D⁻¹ A_F), where `T` is 1 at an unknown's aggregate.
fn prolongator(
    threads: Threads,
    strong: &Csr,
    divisors: &[f64],
    largest: f64,
    of: &[u32],
    count: usize,
) -> Csr {
    let omega = 4.0 / 3.0 / largest;
    let (n, expected) = (of.len(), of.len() + of.len() / 2);
    Csr::by_rows(threads, Shape::new(n, count), expected, Vec::new, |i, terms: &mut Vec<(u32, f64)>, rows| {
        terms.clear();
        let group = |j: usize| of.get(j).copied().unwrap_or(groups::NONE);
        terms.extend(strong.row(i).map(|(j, value)| (group(j), value)).filter(|(g, _)| *g != groups::NONE));
        // Stable, so that sums keep the order of columns.
        terms.sort_by_key(|(group, _)| *group);
        let factor = omega / divisors.get(i).copied().unwrap_or(1.0);
        for terms in terms.chunk_by(|a, b| a.0 == b.0) {
            let Some((group_of, _)) = terms.first() else { continue };
            let sum: f64 = terms.iter().map(|(_, value)| value).sum();
            rows.push(*group_of, f64::from(u8::from(group(i) == *group_of)) - factor * sum);
        }
    })
}

#[cfg(test)]
mod tests;
