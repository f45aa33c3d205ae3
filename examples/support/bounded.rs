//! Numbers that know how far a device may be off: running error analysis (J. H. Wilkinson; N. J. Higham, *Accuracy and
//! Stability of Numerical Algorithms*, 3.3). A computation written once for any [`Number`] is the loop of a CPU in `f32`
//! or `f64`, and with [`Bounded`] the twin that a device's result is held to.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What a computation needs of its numbers.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// A number that the device is given as it is.
    fn of(value: f32) -> Self;
    /// The number in 64 bits.
    fn value(self) -> f64;
    /// The square root of `max(self, 0)`.
    fn root(self) -> Self;
    /// The larger of both.
    fn larger(self, other: Self) -> Self;
    /// Whether `self < other`. Where a device may decide otherwise, `sure` becomes false.
    fn below(self, other: Self, sure: &mut bool) -> bool;
}

macro_rules! plain_number {
    ($($float:ty),*) => {$(
        impl Number for $float {
            #[inline]
            fn of(value: f32) -> Self {
                value.into()
            }

            #[inline]
            fn value(self) -> f64 {
                self.into()
            }

            #[inline]
            fn root(self) -> Self {
                self.max(0.0).sqrt()
            }

            #[inline]
            fn larger(self, other: Self) -> Self {
                if self < other { other } else { self }
            }

            #[inline]
            fn below(self, other: Self, _: &mut bool) -> bool {
                self < other
            }
        }
    )*};
}

plain_number!(f32, f64);

/// Unit roundoff of 32 bits; the last factor covers the twin's own rounding in 64 bits.
const U: f64 = (1.0 + 1e-6) / 16_777_216.0;
/// What a result flushed to zero is off by.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// A value in 64 bits, and a bound on the distance of what a device has computed in 32 bits by the same operations. Sums
/// and products are rounded once, quotients are good to 2.5 units in the last place and roots to 3, as GL 4.1 promises.
#[derive(Clone, Copy, Debug)]
pub struct Bounded {
    pub value: f64,
    pub error: f64,
}

impl Bounded {
    /// The result `value` of operands that were off so that it is by `passed_on`, after `roundings` roundings.
    fn rounded(value: f64, passed_on: f64, roundings: f64) -> Self {
        Bounded { value, error: passed_on + roundings * U * (value.abs() + passed_on) + TINY }
    }

    /// How far a result is off, as a share of what is allowed; infinite for what is no number.
    pub fn share(&self, found: f64) -> f64 {
        let distance = (found - self.value).abs();
        if distance == 0.0 || distance <= self.error && self.error.is_infinite() {
            0.0
        } else if distance.is_nan() {
            f64::INFINITY
        } else {
            distance / self.error
        }
    }
}

impl Number for Bounded {
    #[inline]
    fn of(value: f32) -> Self {
        Bounded { value: value.into(), error: 0.0 }
    }

    #[inline]
    fn value(self) -> f64 {
        self.value
    }

    #[inline]
    fn root(self) -> Self {
        let [low, value, high] =
            [self.value - self.error, self.value, self.value + self.error].map(|v| v.max(0.0).sqrt());
        Self::rounded(value, (high - value).max(value - low), 6.0)
    }

    fn larger(self, other: Self) -> Self {
        // Of the ends of both intervals.
        let [low, value, high] =
            [-1.0, 0.0, 1.0].map(|k| (self.value + k * self.error).max(other.value + k * other.error));
        Bounded { value, error: (high - value).max(value - low) }
    }

    fn below(self, other: Self, sure: &mut bool) -> bool {
        // What is no number is not sure either.
        *sure &= (self.value - other.value).abs() > self.error + other.error;
        self.value < other.value
    }
}

impl Add for Bounded {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::rounded(self.value + other.value, self.error + other.error, 1.0)
    }
}

impl Sub for Bounded {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Bounded {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let passed_on =
            self.value.abs() * other.error + self.error * other.value.abs() + self.error * other.error;
        Self::rounded(self.value * other.value, passed_on, 1.0)
    }
}

impl Div for Bounded {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        let nearest = other.value.abs() - other.error;
        let passed_on =
            if nearest > 0.0 { (self.error + value.abs() * other.error) / nearest } else { f64::INFINITY };
        Self::rounded(value, passed_on, 5.0)
    }
}

impl Neg for Bounded {
    type Output = Self;
    fn neg(self) -> Self {
        Bounded { value: -self.value, ..self }
    }
}
