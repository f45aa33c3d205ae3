//! What rounding in double-float may have done to a recomputed residual.

use super::facts::Facts;
use super::scales::exponent_of;
use super::slices::number;
use crate::data::Vector;
use crate::error::Result;
use crate::ops::{self, Accurate, LinOp, Part, ReducePlan, Windows};

/// By how much of `‖A‖ ‖x‖` an operator that does not tell is taken to err.
const UNTOLD: f64 = 1.0 / (1u64 << 40) as f64;

fn rows_of(a: &dyn LinOp, transposed: bool) -> usize {
    if transposed { a.shape().cols } else { a.shape().rows }
}

/// A bound on the error of a sum in double-float, element by element, if the operator tells one.
pub(in crate::solve) fn told_bound(a: &dyn LinOp, terms: Accurate<'_>) -> Result<Option<Vector>> {
    let mut bound = Vector::uninit(a.device(), rows_of(a, terms.transposed))?;
    Ok(if ops::product_part(&mut bound, a, terms, Part::Error)? { Some(bound) } else { None })
}

/// The same of any operator. *Cost*: waits where it does not tell.
pub(in crate::solve) async fn error_bound(a: &dyn LinOp, terms: Accurate<'_>) -> Result<Vector> {
    if let Some(bound) = told_bound(a, terms)? {
        return Ok(bound);
    }
    let matrix = f64::from(exponent_of(a)? + 1).exp2() * f64::from(terms.alpha).abs();
    let x = number(ops::norm2(terms.x)?).await?;
    Vector::filled(
        a.device(),
        rows_of(a, terms.transposed),
        (UNTOLD * matrix * x).min(f64::from(f32::MAX)) as f32,
    )
}

/// By how much of it rounding may have changed a quotient of two norms of such vectors: a norm of 32 bits is a sum of squares, and
/// half as far off as that. A certificate that left it out would be one to seven digits only.
pub(in crate::solve) fn of_norms(v: &Vector) -> f64 {
    let chain = ReducePlan::on(v.device(), v.extent(), Windows::Balanced, 2).longest_chain();
    (chain as f64 + 4.0) / f64::from(1u32 << 24)
}

/// The norm of such a bound; infinite where it has left the range of floats. Of a finite `x`. *Cost*: waits.
pub(in crate::solve) async fn norm_of_error(a: &dyn LinOp, terms: Accurate<'_>) -> Result<f64> {
    norm_of_bound(&error_bound(a, terms).await?).await
}

/// The norm of a bound element by element; infinite where that has left the range of floats. *Cost*: waits.
pub(in crate::solve) async fn norm_of_bound(bound: &Vector) -> Result<f64> {
    let facts = Facts::ask_bounded(bound, bound, Some(bound))?;
    if let Some(norm) = facts.norm_of_bound().await? {
        return Ok(norm);
    }
    Ok(if facts.is_finite().await? { facts.norm(bound).await? } else { f64::INFINITY })
}
