//! Vectors of either kind.

use super::{DoubleVector, Vector};

mod sealed {
    use crate::data::Vector;

    /// The high part, and the low one of pairs.
    pub trait Parts {
        fn parts(&self) -> (&Vector, Option<&Vector>);
        fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>);
    }
}

/// What a system can be solved for, and with what right-hand side: a [`Vector`] or a [`DoubleVector`].
///
/// Unknowns of 32 bits reach a relative residual of about 2⁻²⁴ `‖A‖ ‖x‖ / ‖b‖`, however it is computed: some 1e-3 where `x`
/// is large and smooth. Pairs reach what 64-bit arithmetic does. Iterations run in 32 bits in either case, unless a
/// [`Recurrence`](crate::solve::Recurrence) in pairs is asked for or called for; what they add is gathered in pairs, and the
/// residual is recomputed from them in some 70 bits ([`ExactSum`](crate::ops::ExactSum)).
pub trait Unknowns: sealed::Parts {}

impl sealed::Parts for Vector {
    fn parts(&self) -> (&Vector, Option<&Vector>) {
        (self, None)
    }

    fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>) {
        (self, None)
    }
}

impl Unknowns for Vector {}

pub(crate) use sealed::Parts;

impl sealed::Parts for DoubleVector {
    fn parts(&self) -> (&Vector, Option<&Vector>) {
        (self.high(), Some(self.low()))
    }

    fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>) {
        let (high, low) = DoubleVector::parts_mut(self);
        (high, Some(low))
    }
}

impl Unknowns for DoubleVector {}
