//! What least squares are relative to: `Aᵀb`, and whether it is zero.

use super::orthogonal::{is_orthogonal, transposed_norm};
use crate::data::Vector;
use crate::error::{Error, Result};
use crate::ops::{self, Accuracy, Accurate, Part};
use crate::solve::drive::facts::norm_of;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::rounding::{norm_of_bound, norm_of_error};
use crate::solve::drive::scales::{exponent_of, scale_of};
use crate::solve::drive::slices::elements;
use crate::solve::drive::unknown::exact_transposed;

/// Below this share of it what rounding may have done to a norm does not show; and below its root 32 bits are asked for that.
const UNSEEN: f64 = 1.0 / (1u64 << 20) as f64;

/// `Aᵀb`, scaled as residuals are recomputed.
pub(super) struct OfB {
    pub s: Vector,
    alpha: f32,
    pub norm: f64,
    /// What rounding may have done to that at most.
    lost: f64,
}

impl OfB {
    /// `alpha Aᵀb` for a `b` of norm 1 or so. A norm above `large` is taken for what it is in 32 bits.
    async fn new(at: &Iterate<'_>, alpha: f32, large: f64) -> Result<Self> {
        let (a, parts) = (at.a, near(at)?);
        if at.is_double() {
            let lost = norm_of_bound(exact_transposed(a, alpha, &parts, true)?.error()).await?;
            let s = exact_transposed(a, alpha, &parts, false)?.into_rounded();
            return Ok(OfB { norm: norm_of(&s).await?, s, alpha, lost });
        }
        let mut s = Vector::uninit(a.device(), a.shape().cols)?;
        let terms = mapped(&parts, alpha)?;
        let accuracy = ops::product_accurate(&mut s, a, terms)?;
        let norm = norm_of(&s).await?;
        // Of coefficients this small a device may take some for zero.
        let small = at.matrix_scale > 90f32.exp2();
        let known = norm > large && !small || accuracy == Accuracy::Single;
        let lost = if known { 0.0 } else { norm_of_error(a, terms).await? };
        Ok(OfB { s, alpha, norm, lost })
    }

    /// That, closer where it is so small that it comes near what may be lost below the range of floats.
    pub async fn seen(at: &Iterate<'_>) -> Result<Self> {
        let first = Self::new(at, at.matrix_scale * at.room, UNSEEN.sqrt()).await?;
        let alpha = (f64::from(first.alpha) * f64::from(scale_of(first.norm))).min(125f64.exp2()) as f32;
        let doubtful = first.norm > 0.0 && first.lost > UNSEEN * first.norm;
        if doubtful && alpha > first.alpha { Self::new(at, alpha, f64::INFINITY).await } else { Ok(first) }
    }

    /// What residuals are relative to, in the units that are about 1: no more than the norm is. Where `b` is all but orthogonal
    /// to the columns, or much is lost below the range of floats, the host tells, if it keeps the entries.
    pub async fn unit(&self, at: &Iterate<'_>) -> Result<f64> {
        let least = (self.norm - self.lost).max(0.0) * (f64::from(at.matrix_scale) / f64::from(self.alpha));
        match at.a.pattern() {
            Some(csr) if self.norm > 0.0 && self.lost > UNSEEN * self.norm => {
                let parts = right_side(at).await?;
                let own = f64::from(scale_of(at.norm_b)) * f64::from(at.matrix_scale);
                Ok(own * transposed_norm(csr, &parts))
            }
            _ => Ok(least),
        }
    }
}

/// The elements of all parts of `b`.
async fn right_side(at: &Iterate<'_>) -> Result<Vec<Vec<f32>>> {
    let mut parts = Vec::new();
    for part in at.right().parts() {
        parts.push(elements(part).await?);
    }
    Ok(parts)
}

/// The parts of `b`, for a norm of 1 or so.
fn near(at: &Iterate<'_>) -> Result<Vec<Vector>> {
    let scaled = |part: &Vector| {
        let mut own = Vector::uninit(part.device(), part.len())?;
        ops::scaled(&mut own, scale_of(at.norm_b), part)?;
        Ok(own)
    };
    at.right().parts().map(scaled).collect()
}

/// The sum that `alpha Aᵀb` is in 32 bits.
fn mapped<'v>(parts: &'v [Vector], alpha: f32) -> Result<Accurate<'v>> {
    match parts {
        [x] => Ok(Accurate { transposed: true, alpha, x, plus: None }),
        _ => Err(Error::Internal { place: "Cgls", detail: "b of pairs in 32 bits" }),
    }
}

/// Whether the device sees all of `alpha Aᵀb`: the bound on its error, which counts coefficients that are taken for zero, is that
/// of rounding. So it is of an operator that does not tell.
async fn is_whole(at: &Iterate<'_>, alpha: f32) -> Result<bool> {
    const NOTHING: f64 = 1.0 / (1u128 << 80) as f64;
    let parts = near(at)?;
    let (size, lost) = if at.is_double() {
        let bound = exact_transposed(at.a, alpha, &parts, true)?;
        (norm_of_bound(bound.rounded()).await?, norm_of_bound(bound.error()).await?)
    } else {
        let terms = mapped(&parts, alpha)?;
        let mut size = Vector::uninit(at.a.device(), at.a.shape().cols)?;
        if !ops::product_part(&mut size, at.a, terms, Part::Magnitude)? {
            return Ok(true);
        }
        (norm_of(&size).await?, norm_of_error(at.a, terms).await?)
    };
    Ok(lost <= UNSEEN * size + NOTHING)
}

/// `Aᵀb` came out as zero. Is it, or has it vanished in rounding or below the range of floats? The host tells, where it
/// keeps the entries. Else the device is asked again, 2¹⁰⁰ times larger, and what is zero then may be taken for that, but
/// is not certain.
pub(super) async fn require_orthogonal(at: &Iterate<'_>) -> Result<Accuracy> {
    let parts = right_side(at).await?;
    let known = match at.a.pattern() {
        _ if parts.iter().flatten().all(|v| *v == 0.0) => Some(true),
        Some(csr) => Some(is_orthogonal(csr, &parts)),
        None => None,
    };
    if known == Some(true) {
        return Ok(Accuracy::DoubleFloat);
    }
    let alpha = (100.0 - f64::from(exponent_of(at.a)?)).clamp(-125.0, 125.0).exp2() as f32;
    if known.is_none() && OfB::new(at, alpha, 0.0).await?.norm == 0.0 && is_whole(at, alpha).await? {
        return Ok(Accuracy::Single);
    }
    let detail = "has coefficients so small or so far apart that the transposed product with b vanishes in 32-bit floats";
    Err(Error::Matrix { op: "Cgls", detail: detail.into() })
}
