//! Products in double-float.

use super::{draw, inner};
use crate::data::ColumnStack;
use crate::error::Result;
use crate::gl::glsl;
use crate::ops::dense::factors;
use crate::ops::product::{Summand, Sums};

/// `α op(A) x` in several parts.
pub(super) fn accurate(a: &ColumnStack, terms: Summand<'_>, sums: Sums<'_>) -> Result<()> {
    let Summand { transposed, alpha, x, .. } = terms;
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    // Blocks of a draw: as many multiply-adds as a dense matrix takes in one.
    let work: usize = if device.is_software() { 1 << 19 } else { 1 << 24 };
    let most = (work / sums.len().div_ceil(4).max(1)).max(1);
    let mut passes = Vec::new();
    for panel in a.panels() {
        let length = inner(a.shape(), &panel, transposed);
        let begins = (0..length.max(1)).step_by(most);
        passes.extend(begins.map(|begin| (panel.clone(), [begin, (begin + most).min(length), most])));
    }
    let (factors, masked) = (factors(alpha), sums.fills_padding());
    sums.run(&passes, |(panel, range)| {
        let draw = draw(glsl!("stack/accurate.frag"), (a, panel), x, *range, factors);
        terms.with_low(draw).define("TRANSPOSED", transposed).masked(masked)
    })
    .map(drop)
}
