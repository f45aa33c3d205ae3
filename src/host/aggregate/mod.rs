//! Smoothed aggregation: what algebraic multigrid needs of a matrix to make the next coarser one, in 64 bits.

mod groups;
mod spectrum;
mod suits;

pub(crate) use spectrum::largest_eigenvalue;
pub(crate) use suits::suits;

use std::borrow::Cow;

use super::Csr;
use crate::error::Result;
use crate::shape::Shape;
use groups::aggregates;

/// A coarser matrix `Pᵀ A P`, and what leads to it and back.
#[derive(Debug)]
pub(crate) struct Coarser {
    /// `P`: unknowns by aggregates.
    pub prolongator: Csr,
    /// `Pᵀ`
    pub restriction: Csr,
    /// `Pᵀ A P`, exactly symmetric.
    pub a: Csr,
}

/// The next coarser matrix of a symmetric one with a positive diagonal, where connections count from `theta` on; `None`
/// where no unknown has one that does.
pub(crate) fn coarser(a: &Csr, theta: f64) -> Result<Option<Coarser>> {
    let diagonal = a.diagonal();
    let strong = strong(a, &diagonal, theta);
    let (of, count) = aggregates(&strong);
    if count == 0 {
        return Ok(None);
    }
    let prolongator = prolongator(&strong, &diagonal, &of, count)?;
    let restriction = prolongator.transposed();
    let a = symmetric(restriction.mul(&a.mul(&prolongator)?)?);
    Ok(Some(Coarser { prolongator, restriction, a }))
}

/// `A_F`: the entries with `|a_ij| > theta sqrt(a_ii a_jj)`, and the others added to the diagonal, so that rows sum to what
/// they did. The matrix itself where all are strong.
fn strong<'a>(a: &'a Csr, diagonal: &[f64], theta: f64) -> Cow<'a, Csr> {
    // Square roots first: products of two entries may leave the range.
    let roots: Vec<f64> = diagonal.iter().map(|d| theta.sqrt() * d.sqrt()).collect();
    let root = |i: usize| roots.get(i).copied().unwrap_or_default();
    let counts = |i: usize, j: usize, value: f64| i == j || value.abs() > root(i) * root(j);
    if a.entries().all(|(i, j, value)| counts(i, j, value)) {
        return Cow::Borrowed(a);
    }
    Cow::Owned(Csr::by_rows(a.shape(), a.nnz(), |i, push| {
        let lumped: f64 = a.row(i).filter(|&(j, value)| i == j || !counts(i, j, value)).map(|(_, v)| v).sum();
        for (j, value) in a.row(i).filter(|&(j, value)| counts(i, j, value)) {
            push(j as u32, if i == j { lumped } else { value });
        }
    }))
}

/// `P = (I - ω D⁻¹ A_F) T` with ω = 4/3 / λ_max(D⁻¹ A_F), where `T` is 1 at an unknown's aggregate.
fn prolongator(strong: &Csr, diagonal: &[f64], of: &[u32], count: usize) -> Result<Csr> {
    let tentative = Csr::by_rows(Shape::new(of.len(), count), of.len(), |i, push| {
        if let Some(&group) = of.get(i)
            && group != groups::NONE
        {
            push(group, 1.0);
        }
    });
    // The diagonal of A_F, but never less than its row has beside it: what was added to it may be negative.
    let divisor = |(i, own): (usize, &f64)| {
        let (mut lumped, mut beside) = (0.0, 0.0);
        strong.row(i).for_each(|(j, value)| if i == j { lumped = value } else { beside += value.abs() });
        let divisor = f64::max(lumped, beside);
        if divisor > 0.0 { divisor } else { *own }
    };
    let divisors: Vec<f64> = diagonal.iter().enumerate().map(divisor).collect();
    let omega = 4.0 / 3.0 / largest_eigenvalue(strong, &divisors)?;
    let factors: Vec<f64> = divisors.iter().map(|d| omega / d).collect();
    let smoothed = strong.mul(&tentative)?;
    Ok(smoothed.map(|i, j, value| {
        let own = of.get(i).is_some_and(|&group| group as usize == j);
        f64::from(u8::from(own)) - factors.get(i).copied().unwrap_or_default() * value
    }))
}

/// The mean of a matrix and its transpose, whose patterns are the same: exactly symmetric.
fn symmetric(a: Csr) -> Csr {
    let mirrored = a.transposed();
    let values: Vec<f64> = a.values().iter().zip(mirrored.values()).map(|(a, b)| 0.5 * a + 0.5 * b).collect();
    a.with_values(&values).unwrap_or(a)
}

#[cfg(test)]
mod tests;
