//! Products in double-float.

use super::{draw, inner};
use crate::data::{ColumnStack, Vector};
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::kernel::{Operand, PooledTexture};
use crate::ops::dense::{factors, like};
use crate::ops::product::{Accurate, Combine, Part, check_product};
use crate::ops::{check_shape, require_exact};

/// `out = α op(A) x + β z` accumulated in double-float, rounded once.
///
/// *Shapes*: as [`stack_product`](crate::ops::stack_product). *Cost*: 1 draw into two targets for each texture of the
/// stack, cut up where that would take long. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch);
/// [`Error::Unsupported`](crate::Error::Unsupported) where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `m 2⁻⁴⁶ |A| |x|`.
pub fn stack_accurate(out: &mut Vector, a: &ColumnStack, terms: Accurate<'_>) -> Result<()> {
    stack_part(out, a, terms, Part::Sum)
}

/// A part of that sum.
pub(crate) fn stack_part(out: &mut Vector, a: &ColumnStack, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "stack_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    require_exact(device, op)?;
    let _scope = device.scope()?;
    // Blocks of a draw: as many multiply-adds as `dense_accurate` does in one.
    let work: usize = if device.is_software() { 1 << 19 } else { 1 << 24 };
    let most = (work / out.len().div_ceil(4).max(1)).max(1);
    let mut passes = Vec::new();
    for panel in a.panels() {
        let length = inner(a.shape(), &panel, transposed);
        let begins = (0..length.max(1)).step_by(most);
        passes.extend(begins.map(|begin| (panel.clone(), [begin, (begin + most).min(length), most])));
    }
    let scratch = || device.texture(out.extent(), Format::Rgba32F, op);
    let mut carried: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (panel, range)) in passes.iter().enumerate() {
        let draw = draw(glsl!("stack/accurate.frag"), (a, panel), x, *range, factors(alpha));
        let draw = part.describe(draw).define("TRANSPOSED", transposed).param("beta", terms.beta());
        let before = carried.as_ref().map(|(high, low)| [like(out, high), like(out, low)]);
        let draw = terms.start(draw, before).masked(terms.fills_padding(out));
        let low = scratch()?;
        if i + 1 == passes.len() {
            draw.targets(part.targets(out.view(), like(out, &low))).run()?;
        } else {
            let high = scratch()?;
            draw.target(like(out, &high)).target(like(out, &low)).run()?;
            carried = Some((high, low));
        }
    }
    Ok(())
}
