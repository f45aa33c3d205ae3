//! Unknowns of 32 bits, or of pairs.

use super::verdict::Kept;
use crate::data::{Parts, Unknowns, Vector};
use crate::error::{Error, Result};
use crate::ops::{self, ExactSum, LinOp, Summand};

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

    /// Both parts, or the only one.
    pub fn parts(self) -> impl Iterator<Item = &'a Vector> {
        [self.high].into_iter().chain(self.low)
    }
}

/// Refuses a right-hand side that `x` has not the digits for.
pub(in crate::solve) fn check_right(
    op: &'static str,
    x: (&Vector, Option<&Vector>),
    b: Right<'_>,
) -> Result<()> {
    match (x.1, b.low) {
        (None, Some(_)) => {
            refuse(op, "b of pairs with x of 32 bits", "what x cannot hold cannot be certified for it")
        }
        _ => Ok(()),
    }
}

fn refuse(op: &str, what: &str, why: &str) -> Result<()> {
    Err(Error::Unsupported { what: format!("{op}: {what}"), why: why.to_owned() })
}

/// `beta b + alpha A (x + ...)` in three parts, or a bound on its error.
pub(in crate::solve) fn exact_sum<'v>(
    a: &dyn LinOp,
    (beta, b): (f32, Right<'_>),
    alpha: f32,
    parts: impl IntoIterator<Item = &'v Vector>,
    bounds: bool,
) -> Result<ExactSum> {
    let sum = ExactSum::begun((beta, b.high, b.low), bounds)?;
    with_products(sum, a, (alpha, false), parts)
}

/// `alpha Aᵀ (r + ...)` in three parts, or a bound on its error.
pub(in crate::solve) fn exact_transposed<'v>(
    a: &dyn LinOp,
    alpha: f32,
    parts: impl IntoIterator<Item = &'v Vector>,
    bounds: bool,
) -> Result<ExactSum> {
    let sum = ExactSum::nothing(a.device(), a.shape().cols, bounds)?;
    with_products(sum, a, (alpha, true), parts)
}

fn with_products<'v>(
    mut sum: ExactSum,
    a: &dyn LinOp,
    (alpha, transposed): (f32, bool),
    parts: impl IntoIterator<Item = &'v Vector>,
) -> Result<ExactSum> {
    let mut parts = parts.into_iter();
    // Two at a time: a pass reads coefficients once for both.
    while let Some(x) = parts.next() {
        let x_low = parts.next();
        if !sum.add_summand(a, Summand { transposed, alpha, x, x_low })? {
            return Err(ops::no_exact_product(transposed));
        }
    }
    Ok(sum)
}

/// An iterate of either kind.
pub(in crate::solve) struct Iterand {
    pub high: Vector,
    pub low: Option<Vector>,
}

impl Parts for Iterand {
    fn parts(&self) -> (&Vector, Option<&Vector>) {
        (&self.high, self.low.as_ref())
    }

    fn parts_mut(&mut self) -> (&mut Vector, Option<&mut Vector>) {
        (&mut self.high, self.low.as_mut())
    }
}

impl Unknowns for Iterand {}

impl Iterand {
    /// Zero, of the same kind and length.
    pub fn zero(&self) -> Result<Self> {
        let zero = |like: &Vector| Vector::zeros(like.device(), like.len());
        Ok(Iterand { high: zero(&self.high)?, low: self.low.as_ref().map(zero).transpose()? })
    }

    pub fn set_zero(&mut self) -> Result<()> {
        self.high.set_zero()?;
        self.low.as_mut().map_or(Ok(()), Vector::set_zero)
    }

    /// `x = x + y`, with a low part of `y` where `x` has one.
    pub fn add(&mut self, y: &Vector, y_low: Option<&Vector>) -> Result<()> {
        let fresh = || Vector::uninit(y.device(), y.len());
        let mut high = fresh()?;
        match &self.low {
            None => ops::add(&mut high, &self.high, y)?,
            Some(low) => {
                let next = fresh()?;
                ops::add_to_pair([&high, &next], [&self.high, low], (y, y_low))?;
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
