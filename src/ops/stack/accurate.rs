//! Products in double-float.

use super::{draw, inner};
use crate::data::{ColumnStack, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::ops::dense::factors;
use crate::ops::product::{Accurate, Part, Passes};

/// A part of `α op(A) x + β z`.
pub(super) fn accurate(out: &mut Vector, a: &ColumnStack, terms: Accurate<'_>, part: Part) -> Result<()> {
    let Accurate { transposed, alpha, x, .. } = terms;
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    // Blocks of a draw: as many multiply-adds as a dense matrix takes in one.
    let work: usize = if device.is_software() { 1 << 19 } else { 1 << 24 };
    let most = (work / out.len().div_ceil(4).max(1)).max(1);
    let mut passes = Vec::new();
    for panel in a.panels() {
        let length = inner(a.shape(), &panel, transposed);
        let begins = (0..length.max(1)).step_by(most);
        passes.extend(begins.map(|begin| (panel.clone(), [begin, (begin + most).min(length), most])));
    }
    let (factors, masked) = (factors(alpha), terms.fills_padding(out));
    Passes::new(out, terms, part)
        .run(&passes, |(panel, range)| {
            draw(glsl!("stack/accurate.frag"), (a, panel), x, *range, factors)
                .define("TRANSPOSED", transposed)
                .masked(masked)
        })
        .map(drop)
}
