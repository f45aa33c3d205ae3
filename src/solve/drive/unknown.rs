//! Unknowns of 32 bits, or of pairs.

use super::verdict::Kept;
use crate::data::{DoubleVector, Vector};
use crate::error::{Error, Result};
use crate::ops::{self, ExactSum, LinOp};

mod sealed {
    use crate::data::Vector;

    /// The high part, and the low one of pairs.
    pub trait Parts {
        fn parts(&self) -> (&Vector, Option<&Vector>);
        fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>);
    }
}

pub(in crate::solve) use sealed::Parts;

/// What a system can be solved for, and with what right-hand side: a [`Vector`] or a [`DoubleVector`].
///
/// Unknowns of 32 bits reach a relative residual of about 2⁻²⁴ `‖A‖ ‖x‖ / ‖b‖`, however it is computed: some 1e-3 where `x`
/// is large and smooth. Pairs reach what 64-bit arithmetic does. The iteration runs in 32 bits in either case; what it adds
/// is gathered in pairs, and the residual is recomputed from them in some 70 bits ([`ExactSum`]).
pub trait Unknowns: Parts {}

impl Parts for Vector {
    fn parts(&self) -> (&Vector, Option<&Vector>) {
        (self, None)
    }

    fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>) {
        (self, None)
    }
}

impl Unknowns for Vector {}

impl Parts for DoubleVector {
    fn parts(&self) -> (&Vector, Option<&Vector>) {
        (self.high(), Some(self.low()))
    }

    fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>) {
        let (high, low) = DoubleVector::parts_mut(self);
        (high, Some(low))
    }
}

impl Unknowns for DoubleVector {}

/// A right-hand side.
#[derive(Clone, Copy)]
pub(in crate::solve) struct Right<'a> {
    pub high: &'a Vector,
    pub low: Option<&'a Vector>,
}

impl<'a> Right<'a> {
    pub fn of(b: &'a impl Unknowns) -> Self {
        let (high, low) = b.parts();
        Right { high, low }
    }
}

/// Refuses what cannot be solved in pairs.
pub(in crate::solve) fn check_pairs(
    op: &'static str,
    a: &dyn LinOp,
    x: (&Vector, Option<&Vector>),
    b: Right<'_>,
) -> Result<()> {
    let refuse = |what: &str, why: &str| {
        Err(Error::Unsupported { what: format!("{op}: {what}"), why: why.to_owned() })
    };
    let Some(low) = x.1 else {
        return match b.low {
            None => Ok(()),
            Some(_) => {
                refuse("b of pairs with x of 32 bits", "what x cannot hold cannot be certified for it")
            }
        };
    };
    if a.null_space().is_empty() {
        // Asked with nothing to add: what an operator cannot do it says before anything is drawn.
        return probe(op, a, low);
    }
    refuse("unknowns of pairs", "the operator has a null space, which is projected out in 32 bits")
}

fn probe(op: &'static str, a: &dyn LinOp, x: &Vector) -> Result<()> {
    let zero = Vector::zeros(x.device(), a.shape().rows)?;
    exact_sum(op, a, (1.0, Right { high: &zero, low: None }), 1.0, &[x], true).map(drop)
}

/// `beta b + alpha A (x + ...)` in three parts, or a bound on its error.
pub(in crate::solve) fn exact_sum(
    op: &'static str,
    a: &dyn LinOp,
    (beta, b): (f32, Right<'_>),
    alpha: f32,
    parts: &[&Vector],
    bounds: bool,
) -> Result<ExactSum> {
    let mut sum = ExactSum::begun((beta, b.high, b.low), bounds)?;
    for x in parts {
        if !sum.add_product(a, alpha, false, x)? {
            let why = "the operator has no exact product (LinOp::accumulate), or the device no exact two-sum";
            return Err(Error::Unsupported { what: format!("{op}: unknowns of pairs"), why: why.into() });
        }
    }
    Ok(sum)
}

/// An iterate of either kind.
pub(in crate::solve) struct Iterand {
    pub high: Vector,
    pub low: Option<Vector>,
}

impl Iterand {
    pub fn set_zero(&mut self) -> Result<()> {
        self.high.set_zero()?;
        self.low.as_mut().map_or(Ok(()), Vector::set_zero)
    }

    /// `x = x + y`.
    pub fn add(&mut self, y: &Vector) -> Result<()> {
        let fresh = || Vector::uninit(y.device(), y.len());
        let mut high = fresh()?;
        match &self.low {
            None => ops::add(&mut high, &self.high, y)?,
            Some(low) => {
                let next = fresh()?;
                ops::add_to_pair([&high, &next], [&self.high, low], y)?;
                self.low = Some(next);
            }
        }
        self.high = high;
        Ok(())
    }

    /// Into the caller's textures, which the application may hold.
    pub fn copy_to(&self, (high, low): (&mut Vector, Option<&mut Vector>)) -> Result<()> {
        ops::copy(high, &self.high)?;
        match (low, &self.low) {
            (Some(to), Some(from)) => ops::copy(to, from),
            _ => Ok(()),
        }
    }
}

impl Kept for Iterand {
    fn copied(&self) -> Result<Self> {
        let low = self.low.as_ref().map(Kept::copied).transpose()?;
        Ok(Iterand { high: self.high.copied()?, low })
    }
}
