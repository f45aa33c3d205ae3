//! Matrix coefficients on their way to the device: checked, scaled into range, and split into double-float pairs.

use std::cell::OnceCell;
use std::ops::{Range, RangeInclusive};

use crate::error::{Result, check_finite};
use crate::host::Csr;
use crate::host::parallel::Threads;

/// Coefficients that are worth a thread.
const MANY: usize = 1 << 15;

/// The exponent by which a matrix's coefficients are divided on the device.
///
/// Zero for matrices of ordinary size, whose coefficients are stored as they are. Beyond 2^60 and below 2^-20 the largest becomes
/// about that, so that neither products nor their squares leave the range of 32-bit floats, nor coefficients far smaller than
/// the largest and what is small in a product with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scaling {
    /// floor(log2 max |a|); 0 for a matrix of zeros.
    pub exponent: i32,
    /// Power of two taken out of the stored coefficients.
    pub stored: i32,
    /// Remainders are left out: of a matrix that nothing multiplies by exactly.
    pub rounds: bool,
}

impl Scaling {
    /// Exponents of coefficients that are stored unscaled.
    const ORDINARY: RangeInclusive<i32> = -20..=60;

    /// Refuses what does not fit 32 bits (the finite-input rule), else finds the exponent.
    pub fn new(what: &str, values: &[f64]) -> Result<Self> {
        let parts = Threads::all().parts(values.len(), MANY, |part| {
            let values = values.get(part).unwrap_or_default();
            let fits = values.iter().all(|v| (*v as f32).is_finite());
            fits.then(|| values.iter().fold(0.0, |m: f64, v| m.max(v.abs())))
        });
        let largest = parts.into_iter().try_fold(0.0, |m: f64, part| Some(m.max(part?)));
        if largest.is_none() {
            check_finite(what, values.iter().copied())?;
        }
        let largest = largest.unwrap_or_default();
        let exponent = exponent(largest);
        // No further than into the ordinary range, so that small coefficients beside the largest stay normal.
        // A power of two that 64 bits have, as has its inverse, also for the least numbers.
        let stored = (exponent - exponent.clamp(*Self::ORDINARY.start(), *Self::ORDINARY.end())).max(-1000);
        Ok(Scaling { exponent, stored, rounds: false })
    }

    /// The pair (rounded, remainder) in which a coefficient is stored.
    ///
    /// One that would round to zero becomes the smallest float of its sign: products take it for zero, but bounds on
    /// their errors go by the bits, and so know that there is a coefficient.
    pub fn split(self, value: f64) -> (f32, f32) {
        // Powers of two take time.
        let scaled = if self.stored == 0 { value } else { value * (-f64::from(self.stored)).exp2() };
        let high = scaled as f32;
        if high == 0.0 && value != 0.0 {
            return (f32::from_bits(1).copysign(value as f32), 0.0);
        }
        (high, if self.rounds { 0.0 } else { (scaled - f64::from(high)) as f32 })
    }

    /// What that pair leaves of the coefficient: of 53 bits the last four or five.
    pub fn rest(self, value: f64) -> f64 {
        // Most coefficients of most matrices: 32 bits hold them, and powers of two take time.
        if self.stored == 0 && f64::from(value as f32) == value {
            return 0.0;
        }
        let scaled = value * (-f64::from(self.stored)).exp2();
        match self.split(value) {
            // Products take it for zero.
            _ if scaled as f32 == 0.0 => value,
            (high, low) => (scaled - f64::from(high) - f64::from(low)) * f64::from(self.stored).exp2(),
        }
    }

    /// `alpha · 2^stored` as two factors of about the same size, either of them in range: their product may not be.
    /// With both on one side of 1, what is multiplied by one and then by the other leaves the range in between only
    /// if it does in the end.
    pub fn factors(self, alpha: f32) -> [f32; 2] {
        if self.stored == 0 {
            return [alpha, 1.0];
        }
        let alpha = f64::from(alpha);
        let own = exponent(alpha.abs());
        let half = (self.stored + own) / 2;
        let other = self.stored + own - half;
        [(alpha * f64::from(other - own).exp2()) as f32, f64::from(half).exp2() as f32]
    }
}

/// What pairs leave of the coefficients of a matrix, as a matrix of its form; nothing of most. It is made when it is first asked
/// for, by residuals that are to have 70 bits: where `|A| |x|` is many times `b`, the last bits of a coefficient count.
pub(crate) struct Rest<T>(OnceCell<Option<Box<T>>>);

impl<T> Rest<T> {
    pub fn unknown() -> Self {
        Rest(OnceCell::new())
    }

    pub fn none() -> Self {
        Rest(OnceCell::from(None))
    }

    pub fn get<'c>(
        &self,
        csr: impl FnOnce() -> &'c Csr,
        scaling: Scaling,
        form: impl FnOnce(Csr) -> Result<T>,
    ) -> Result<Option<&T>> {
        if self.0.get().is_none() {
            let csr = csr();
            let is_zero = |part: Range<usize>| {
                csr.values().get(part).is_some_and(|part| part.iter().all(|v| scaling.rest(*v) == 0.0))
            };
            let parts = Threads::all().parts(csr.nnz(), MANY, is_zero);
            let made = match parts.into_iter().all(|is_zero| is_zero) {
                true => None,
                false => Some(Box::new(form(csr.nonzeros(|v| scaling.rest(v)))?)),
            };
            // Nothing has been put there meanwhile.
            let _ = self.0.set(made);
        }
        Ok(self.0.get().and_then(Option::as_deref))
    }
}

/// Whether products with this have no remainder: zero, or a power of two.
pub(crate) fn is_power_of_two(v: f64) -> bool {
    v == 0.0 || v.to_bits() << 12 == 0
}

/// `2^e x`, also for powers that 64 bits do not hold.
pub(crate) fn times_power_of_two(x: f64, e: i32) -> f64 {
    x * f64::from(e / 2).exp2() * f64::from(e - e / 2).exp2()
}

/// floor(log2 x) for positive finite `x`, 0 for 0.
pub(crate) fn exponent(x: f64) -> i32 {
    if x == 0.0 { 0 } else { x.log2().floor() as i32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_matrices_are_stored_as_they_are() {
        let s = Scaling::new("a", &[3.0, -0.1]).unwrap();
        assert_eq!(s, Scaling { exponent: 1, stored: 0, rounds: false });
        assert_eq!(Scaling { rounds: true, ..s }.split(0.1), (0.1f32, 0.0));
        let (high, low) = s.split(0.1);
        assert_eq!(high, 0.1f32);
        assert!((f64::from(high) + f64::from(low) - 0.1).abs() < 1e-15);
    }

    #[test]
    fn extreme_matrices_are_scaled_by_a_power_of_two() {
        let s = Scaling::new("a", &[2f64.powi(113), 1.0]).unwrap();
        assert_eq!(s, Scaling { exponent: 113, stored: 53, rounds: false });
        assert_eq!(s.split(2f64.powi(113)), (2f32.powi(60), 0.0));
        // A coefficient 2^186 smaller is still kept exactly.
        assert_eq!(s.split(2f64.powi(-73)), (2f32.powi(-126), 0.0));
        let least = Scaling::new("a", &[1e-310, -5e-324]).unwrap();
        for value in [1e-310, -5e-324] {
            let (high, low) = least.split(value);
            assert!(high != 0.0 && low.is_finite() && least.rest(value) == 0.0, "{high} {low}");
        }
        // One too small for that is not forgotten.
        assert_eq!(s.split(-2f64.powi(-150)), (-f32::from_bits(1), 0.0));
        assert_eq!(s.split(0.0), (0.0, 0.0));
        assert_eq!((s.rest(-2f64.powi(-150)), s.rest(2f64.powi(113))), (-2f64.powi(-150), 0.0));
        let long = (1.0 + 2f64.powi(-25)) * 2f64.powi(113) + 2f64.powi(61);
        assert_eq!(s.rest(long), 2f64.powi(61));
        assert_eq!(s.factors(0.5), [2f32.powi(26), 2f32.powi(26)]);
        assert_eq!(s.factors(-3.0), [-1.5 * 2f32.powi(27), 2f32.powi(27)]);
        // What undoes the scale of the matrix brings the stored coefficients to about 1.
        assert_eq!(s.factors(2f32.powi(-113)), [2f32.powi(-30), 2f32.powi(-30)]);
        assert_eq!(s.factors(0.0)[0], 0.0);
        assert!(Scaling::new("a", &[1e39]).is_err());
    }
}
