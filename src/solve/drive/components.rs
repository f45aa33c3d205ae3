//! Whether a solution satisfies every equation, and not only the largest ones: a norm does not see small rows.

use super::slices::arrived;
use crate::data::Vector;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::{self, Accurate, LinOp, Part};
use crate::solve::drive::report::Components;

/// Computes `ω` of the residual `r` that these terms are, with the number of rows past the limit for this tolerance; `None` where the operator does not tell magnitudes. *Cost*: a product, four reductions, and one wait.
pub(in crate::solve) async fn components(
    a: &dyn LinOp,
    terms: Accurate<'_>,
    r: &Vector,
    tolerance: f64,
) -> Result<Option<Components>> {
    let Accurate { x, .. } = terms;
    let device = a.device();
    let empty = || Vector::uninit(device, x.len());
    let (mut sizes, mut with_margin) = (empty()?, empty()?);
    ops::scaled(&mut with_margin, Components::MARGIN as f32, x)?;
    ops::abs(&mut sizes, x)?;
    let margin = ops::max_abs(&with_margin)?;
    ops::add_constant(&mut with_margin, &sizes, &margin)?;
    let mut magnitudes = Vector::uninit(device, r.len())?;
    if !ops::product_part(&mut magnitudes, a, Accurate { x: &with_margin, ..terms }, Part::Magnitude)? {
        return Ok(None);
    }
    let (omega, beyond) = (Vector::uninit(device, r.len())?, Vector::uninit(device, r.len())?);
    Draw::new(device, glsl!("solve/components.frag"))
        .input("r", r.view())
        .input("m", magnitudes.view())
        .param("limit", (Components::LIMIT * tolerance) as f32)
        .targets([omega.view(), beyond.view()])
        .run()?;
    let (worst, rows) = (ops::max_abs(&omega)?.read_texel_async()?, ops::sum(&beyond)?.read_texel_async()?);
    let first = |texel: Vec<f32>| texel.first().copied().unwrap_or(f32::NAN);
    let (worst, rows) = (first(arrived(&worst).await?), first(arrived(&rows).await?));
    Ok(Some(Components { omega: worst.into(), rows: rows as usize, of: r.len() }))
}
