//! By what systems are scaled, so that squares of their norms are within the range of floats.

use super::facts::Facts;
use crate::data::{Vector, exponent};
use crate::error::Result;
use crate::ops::{self, Accuracy, Accurate, LinOp};

/// The power of two that makes vectors of this norm about 1.
pub(in crate::solve) fn scale_of(norm: f64) -> f32 {
    (-f64::from(exponent(norm).clamp(-125, 125))).exp2() as f32
}

/// `2^e`, for exponents of normal floats.
pub(in crate::solve) fn power(e: i32) -> f32 {
    f64::from(e.clamp(-126, 127)).exp2() as f32
}

/// `out = 2^e x`, also for powers that are no floats themselves.
pub(in crate::solve) fn times_power(out: &mut Vector, e: i32, x: &Vector) -> Result<()> {
    if e.abs() <= 120 {
        return ops::scaled(out, power(e), x);
    }
    let mut half = Vector::uninit(x.device(), x.len())?;
    ops::scaled(&mut half, power(e / 2), x)?;
    ops::scaled(out, power(e - e / 2), &half)
}

/// The exponent of an operator, no farther off than matrices can be whose systems have solutions in 32 bits: what a
/// user's operator says of itself may be anything.
pub(in crate::solve) fn exponent_of(a: &dyn LinOp) -> Result<i32> {
    const FARTHEST: i32 = 250;
    Ok(a.exponent()?.clamp(-FARTHEST, FARTHEST))
}

/// How much larger than about 1 the largest coefficient is kept, where it is: as it lies on the device, which stores
/// matrices of up to 2^60 as they are. Products of pairs take it out of what they come to, not of what is multiplied: low
/// parts that small would vanish.
pub(in crate::solve) fn room_of(a: &dyn LinOp) -> Result<f32> {
    Ok(power(exponent_of(a)?.clamp(0, 60)))
}

/// The scale for residuals of this norm, or of the least that counts, where the present one leaves them so many times
/// smaller: squares would vanish. After a start whose residual was far larger than `b`, for one. `None` where the present
/// one does.
pub(in crate::solve) fn closer_scale(least: f64, norm: f64, scale: f32, times: f32) -> Option<f32> {
    let wanted = scale_of(least.max(norm / f64::from(scale)));
    (norm.is_finite() && wanted > scale * times).then_some(wanted)
}

/// A start whose residual is more than this many times `b` is farther from the solution than zero, whose residual is `b`.
pub(in crate::solve) const FAR: f64 = (1u64 << 40) as f64;

/// What a solve finds out of its system before the first iteration.
pub(in crate::solve) struct Scales {
    pub norm_b: f64,
    /// The start is zero.
    pub from_zero: bool,
    /// Of residuals: the larger of `‖b‖` and `‖b - A x0‖` becomes about 1, for a start may be far off.
    pub residual: f32,
    /// Of the matrix: its largest coefficient becomes about 1.
    pub matrix: f32,
    /// `‖b - A x0‖`, scaled, and how it was computed, where `r` holds that residual, in double-float and scaled.
    pub first: Option<(f64, Accuracy)>,
}

impl Scales {
    /// `r` is overwritten, and a start `x` that is farther off than zero becomes zero. *Cost*: waits once before the loop,
    /// twice for a start other than zero; twice more where squares leave the range of floats.
    pub async fn find(
        a: &dyn LinOp,
        x: &mut Vector,
        b: &Vector,
        given: &Facts,
        r: &mut Vector,
    ) -> Result<Self> {
        let norm_b = given.norm(b).await?;
        let own = scale_of(norm_b);
        let matrix = (-f64::from(exponent_of(a)?.clamp(-125, 125))).exp2() as f32;
        if given.is_zero().await? && norm_b > 0.0 {
            // Exactly so: by a power of two.
            ops::scaled(r, own, b)?;
            let first = Some((norm_b * f64::from(own), Accuracy::DoubleFloat));
            return Ok(Scales { norm_b, from_zero: true, residual: own, matrix, first });
        }
        let accuracy = ops::product_accurate(r, a, Accurate::residual(own, b, x))?;
        let facts = Facts::ask(r, r)?;
        let mut norm_r = facts.norm(r).await? / f64::from(own);
        let mut from_zero = norm_b == 0.0 && given.is_zero().await?;
        // A residual that has left the range is as far off as can be.
        let near = facts.is_finite().await? && norm_r <= FAR * norm_b;
        if !near {
            x.set_zero()?;
            (norm_r, from_zero) = (norm_b, true);
        }
        let residual = scale_of(norm_b.max(norm_r));
        let first = (near && residual == own).then_some((norm_r * f64::from(own), accuracy));
        Ok(Scales { norm_b, from_zero, residual, matrix, first })
    }
}
