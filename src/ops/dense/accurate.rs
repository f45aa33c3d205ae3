//! Products with dense matrices in double-float.

use super::matmul::{Stretch, stretches};
use crate::data::{Matrix, Vector, exponent};
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::product::{Accurate, Combine, Part, check_product};
use crate::ops::{check_shape, require_exact};

/// `out = α op(A) x + β z` accumulated in double-float, rounded once.
///
/// *Shapes*: as [`dense_product`](crate::ops::dense_product). *Cost*: 1 draw into two targets for every `2²³ / n` columns (`2²⁸ / n` on a GPU) of
/// each tile. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch); [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `m 2⁻⁴⁶ |A| |x|`.
pub fn dense_accurate(out: &mut Vector, a: &Matrix, terms: Accurate<'_>) -> Result<()> {
    dense_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn dense_part(out: &mut Vector, a: &Matrix, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "dense_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    require_exact(device, op)?;
    let _scope = device.scope()?;
    let grid = a.tile_grid();
    let (tall, wide) = (grid.tile_rows(), grid.tile_cols());
    let (outer, inner) = if transposed { (wide, tall) } else { (tall, wide) };
    let work = if device.is_software() { 1 << 23 } else { 1 << 28 };
    let most = (work / shape.rows.clamp(1, outer)).max(4);
    let most = (most - most % 4).min(inner);
    let rows: Vec<_> = stretches(shape.rows, outer, usize::MAX).collect();
    let cols: Vec<_> = stretches(shape.cols, inner, usize::MAX)
        .flat_map(|whole| {
            (0..whole.length).step_by(most).map(move |begin| Stretch {
                length: most.min(whole.length - begin),
                first: (whole.first.0, whole.first.1 + begin),
                second: (whole.second.0, whole.second.1 + begin),
            })
        })
        .collect();
    let passes: Vec<_> = rows.iter().flat_map(|r| cols.iter().map(move |c| (r, c))).collect();
    if passes.is_empty() {
        return match (plus, part) {
            (Some((beta, z)), Part::Sum) => crate::ops::scaled(out, beta, z),
            (Some((beta, z)), Part::Magnitude) => {
                let mut scaled = Vector::uninit(device, z.len())?;
                crate::ops::scaled(&mut scaled, beta, z)?;
                crate::ops::abs(out, &scaled)
            }
            _ => out.set_zero(),
        };
    }
    let scratch = || device.texture(out.extent(), Format::Rgba32F, op);
    let mut carried: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (rows, cols)) in passes.iter().enumerate() {
        let last = i + 1 == passes.len();
        let (r, c) = (rows.first.0, cols.first.0);
        let (r, c) = if transposed { (c, r) } else { (r, c) };
        let Some(tile) = a.tiles().nth(r * grid.across() + c) else { continue };
        let half = f64::from(exponent(f64::from(alpha.abs())) / 2).exp2();
        let draw = part
            .describe(Draw::new(device, glsl!("dense/accurate.frag")))
            .define("A_TRANSPOSED", transposed)
            .addressed("a", tile.part())
            .input("x", x.view())
            .param("begin", [(cols.first.1 / 4) as i32, (cols.second.1 / 4) as i32])
            .param("quads", cols.length.div_ceil(4) as i32)
            .param("rows", [(rows.second.1 / 4) as i32, rows.length.div_ceil(4) as i32])
            .param("first_row", (rows.first.1 / 4) as i32)
            .param("factors", [(f64::from(alpha) / half) as f32, half as f32])
            .param("beta", terms.beta())
            .masked(true);
        let before = carried.as_ref().map(|(high, low)| [like(out, high), like(out, low)]);
        let draw = terms.start(draw, before);
        let low = scratch()?;
        if last {
            draw.targets(part.targets(out.view(), like(out, &low))).run()?;
        } else {
            let high = scratch()?;
            draw.target(like(out, &high)).target(like(out, &low)).run()?;
            carried = Some((high, low));
        }
    }
    Ok(())
}

/// A texture of the same extent, with the same padding lanes.
pub(crate) fn like<'a>(out: &'a Vector, texture: &'a PooledTexture) -> View<'a> {
    View { texture: texture.texture(), ..out.view() }
}
