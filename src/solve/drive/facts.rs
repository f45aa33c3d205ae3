//! What a solve asks of its vectors before and between runs, in one reduction.

use std::cell::OnceCell;

use super::dots::{Dots, Reducer};
use super::scales::times_power;
use super::slices::{arrived, number};
use crate::data::{PendingRead, Vector, exponent};
use crate::error::Result;
use crate::kernel::Operand;
use crate::ops::{self, LinOp, Windows};

/// Of vectors x and v, on the way to the host: whether elements are finite, told by their bits since sums and extremes of
/// shaders may lose a NaN, whether x is zero, and the norm of v.
///
/// Sent for before something that is waited for anyway, they cost no wait of their own.
pub(in crate::solve) struct Facts {
    of_x: Answer,
    /// Apart where the two do not lie texel upon texel.
    of_v: Option<Answer>,
}

/// (elements of x that are not finite, of v that are not finite or below the normal range, of x other than zero, v.v); the third is
/// e.e in units of 2^-80 where a bound e on the error of v was asked about.
struct Answer {
    pending: PendingRead,
    arrived: OnceCell<[f32; 4]>,
}

impl Answer {
    fn ask(x: &Vector, v: &Vector, e: Option<&Vector>) -> Result<Self> {
        let reducer = Reducer::new(x.device(), Windows::Balanced);
        let operands: [&dyn Operand; 3] = [x, v, e.unwrap_or(v)];
        let (dots, count) = if e.is_some() { (Dots::Bounded, 3) } else { (Dots::Facts, 2) };
        let pending = reducer.totals(dots, operands.split_at(count).0)?.read_texel_async()?;
        Ok(Answer { pending, arrived: OnceCell::new() })
    }

    async fn arrived(&self) -> Result<[f32; 4]> {
        if let Some(arrived) = self.arrived.get() {
            return Ok(*arrived);
        }
        let mut facts = [f32::NAN; 4];
        facts.iter_mut().zip(arrived(&self.pending).await?).for_each(|(fact, value)| *fact = value);
        Ok(*self.arrived.get_or_init(|| facts))
    }
}

impl Facts {
    /// *Cost*: a reduction; two where the vectors do not lie texel upon texel.
    pub fn ask(x: &Vector, v: &Vector) -> Result<Self> {
        Self::ask_bounded(x, v, None)
    }

    /// The same, and the norm of a bound on the error of v, if there is one: then it is not known whether x is zero.
    pub fn ask_bounded(x: &Vector, v: &Vector, e: Option<&Vector>) -> Result<Self> {
        if x.extent() == v.extent() {
            return Ok(Facts { of_x: Answer::ask(x, v, e)?, of_v: None });
        }
        Ok(Facts { of_x: Answer::ask(x, x, None)?, of_v: Some(Answer::ask(v, v, e)?) })
    }

    /// The same where there is a null space, in which case what was known of the vectors that were given is so no more.
    pub fn of_projected(a: &dyn LinOp, x: &Vector, v: &Vector) -> Result<Option<Self>> {
        if a.null_space().is_empty() { Ok(None) } else { Self::ask(x, v).map(Some) }
    }

    async fn of_v(&self) -> Result<[f32; 4]> {
        self.of_v.as_ref().unwrap_or(&self.of_x).arrived().await
    }

    /// Whether all elements of x are finite; of v its norm tells. *Cost*: waits until the device has come to it, as what follows.
    pub async fn is_finite(&self) -> Result<bool> {
        let [odd, ..] = self.of_x.arrived().await?;
        Ok(odd == 0.0)
    }

    /// Whether x is zero.
    pub async fn is_zero(&self) -> Result<bool> {
        let [_, _, others, _] = self.of_x.arrived().await?;
        Ok(others == 0.0)
    }

    /// The norm of the bound that was asked about; `None` where squares may have left the range of floats.
    pub async fn norm_of_bound(&self) -> Result<Option<f64>> {
        let [_, _, square, _] = self.of_v().await?;
        let square = Some(f64::from(square)).filter(|square| (1e-20..1e36).contains(square));
        Ok(square.map(|square| square.sqrt() * (-40f64).exp2()))
    }

    /// Whether all elements of v are finite, and none so small that a device may take it for zero.
    pub async fn is_normal(&self) -> Result<bool> {
        let [_, odd, ..] = self.of_v().await?;
        Ok(odd == 0.0)
    }

    /// The norm of v, the vector that was asked about: by its plain square, as a rule; where that comes near an end of the
    /// range of floats, by that of the vector scaled. *Cost*: waits; longer in the latter case.
    pub async fn norm(&self, v: &Vector) -> Result<f64> {
        let [.., square] = self.of_v().await?;
        // What squares lose below the range is then less than the last digit.
        if (1e-20..1e36).contains(&square) {
            return Ok(f64::from(square).sqrt());
        }
        // Extremes may pass a NaN over.
        let largest = if square.is_nan() { f64::from(square) } else { number(ops::max_abs(v)?).await? };
        if largest == 0.0 || !largest.is_finite() {
            return Ok(largest);
        }
        let e = exponent(largest);
        let mut own = Vector::uninit(v.device(), v.len())?;
        times_power(&mut own, -e, v)?;
        let [.., square] = Answer::ask(&own, &own, None)?.arrived().await?;
        Ok(f64::from(square).sqrt() * f64::from(e).exp2())
    }
}

/// The norm of a vector. *Cost*: waits.
pub(in crate::solve) async fn norm_of(v: &Vector) -> Result<f64> {
    Facts::ask(v, v)?.norm(v).await
}
