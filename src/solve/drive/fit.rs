//! The multiple of a guess that fits best.

use super::dots::{Dots, InlinedProduct, Reducer};
use crate::data::{Scalar, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::{LinOp, Windows};

/// `x ← (x·b / x·A x) x`, the multiple of `x` that is the best guess for `A x = b` in the energy norm; zero where `x·A x` is
/// not positive, or where one of the two is no number. `A x` is written nowhere: operators whose product cannot be
/// [inlined](LinOp::inlined) are an error.
///
/// *Cost*: two reductions and a draw; no readback.
pub(crate) fn fit(a: &dyn LinOp, x: &mut Vector, b: &Vector) -> Result<()> {
    let device = a.device();
    let mut reducer = Reducer::new(device, Windows::Balanced);
    reducer.relative_to(b)?;
    let product = InlinedProduct { a, alpha: 1.0, d: x };
    let sums = reducer.sum_inlined(Dots::Fit, product, b)?;
    let factor = Scalar::uninit(device)?;
    sums.left_to(Draw::new(device, glsl!("solve/coefficient.frag"))).target(factor.view()).run()?;
    let fitted = Vector::uninit(device, x.len())?;
    Draw::new(device, glsl!("solve/fitted.frag"))
        .input("x", x.view())
        .input("factor", factor.view())
        .target(fitted.view())
        .run()?;
    *x = fitted;
    Ok(())
}
