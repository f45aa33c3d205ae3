//! Whether a solution satisfies every equation, and not only the largest ones: a norm does not see small rows.

use super::slices::number;
use crate::data::Vector;
use crate::error::Result;
use crate::ops::{self, Accurate, LinOp, Part};
use crate::solve::drive::report::Components;

/// Computes `ω` of the residual `r` that these terms are, with the number of rows past this limit; `None`
/// where the operator does not tell magnitudes. *Cost*: a product, four passes, two reductions, and one wait; more where rows are
/// past the limit.
pub(in crate::solve) async fn components(
    a: &dyn LinOp,
    terms: Accurate<'_>,
    r: &Vector,
    limit: f64,
) -> Result<Option<Components>> {
    let Accurate { x, .. } = terms;
    let like = |v: &Vector| Vector::uninit(v.device(), v.len());
    let (mut sizes, mut all) = (like(x)?, like(x)?);
    ops::scaled(&mut all, Components::MARGIN as f32, x)?;
    let margin = ops::max_abs(&all)?;
    ops::abs(&mut sizes, x)?;
    ops::add_constant(&mut all, &sizes, &margin)?;
    let (mut share, mut other) = (like(r)?, like(r)?);
    if !ops::product_part(&mut other, a, Accurate { x: &all, ..terms }, Part::Magnitude)? {
        return Ok(None);
    }
    ops::div_or_zero(&mut share, r, &other)?;
    let omega = number(ops::max_abs(&share)?).await?;
    let mut rows = 0;
    if omega > limit {
        // One for each row past the limit: (|share| / limit - 1) times so much that nothing else is between 0 and 1.
        ops::abs(&mut other, &share)?;
        ops::scaled(&mut share, (1.0 / limit) as f32, &other)?;
        ops::add_constant(&mut other, &share, -1.0)?;
        ops::scaled(&mut share, 60f32.exp2(), &other)?;
        ops::clamp(&mut other, &share, 0.0, 1.0)?;
        rows = number(ops::sum(&other)?).await? as usize;
    }
    Ok(Some(Components { omega, rows, of: r.len() }))
}
