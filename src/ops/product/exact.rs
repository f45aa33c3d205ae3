//! Products summed in three floats: what residuals of unknowns in pairs are certified by.

use super::{Checked, LinOp, check};
use crate::data::{DoubleVector, Unknowns, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Draw, Operand};
use crate::ops;

/// `β z` and products added to it, each element kept in three floats with some 70 bits together; or a bound on the error
/// of such a sum.
///
/// A residual `b - A (x + x')` of unknowns that are pairs cancels nearly all of its 48 bits: double-float would leave
/// nothing to certify. Operators add to it by [`LinOp::accumulate`].
///
/// *Bound*: of the sum before it is rounded, element by element, what a sum begun by [`bounding`](Self::bounding) comes to:
/// 2⁻⁶⁶ times all partial sums of the magnitude `|β z| + Σ |α A| |x|`, and what a step may lose below the range of floats.
///
/// ```
/// use texla::{DoubleVector, Matrix, Shape, Vector, ops::ExactSum};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(1, 2), &[1.0, -3.0])?;
/// let x = Vector::from_slice(dev, &[1.0, 1.0 / 1024.0])?;
/// let b = DoubleVector::from_f64(dev, &[1.0 + 2f64.powi(-45)])?;
/// let mut r = ExactSum::of(1.0, &b)?; // b - A x
/// assert!(r.add_product(&a, -1.0, false, &x)?);
/// assert_eq!(r.rounded().read()?, [3.0 / 1024.0 + 2f32.powi(-45)]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct ExactSum {
    /// The sum, and what rounding has left of it; or magnitude and bound.
    pub(super) parts: [Vector; 2],
    /// The third part, where there is one: each is some 2⁻²⁴ of the one before.
    rest: Option<Vector>,
    bounds: bool,
    /// Nothing has been written yet.
    is_nothing: bool,
}

shown!(ExactSum, |s| "ExactSum({})", s.parts[0].len());

impl ExactSum {
    /// `β z`, for a power of two. *Cost*: 2 draws and a clear. *Errors*: [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::Parameter`](crate::Error::Parameter) for a factor that is no power of two, of either sign.
    pub fn of(beta: f32, z: &DoubleVector) -> Result<Self> {
        Self::begun((beta, z.high(), Some(z.low())), false)
    }

    /// The bound for such a sum: of [`rounded`](Self::rounded) the magnitude, and the bound by [`error`](Self::error).
    pub fn bounding(beta: f32, z: &DoubleVector) -> Result<Self> {
        Self::begun((beta, z.high(), Some(z.low())), true)
    }

    pub(crate) fn begun((beta, high, low): (f32, &Vector, Option<&Vector>), bounds: bool) -> Result<Self> {
        power_of_two("ExactSum::of", "beta", beta)?;
        let (device, n) = (high.device().clone(), high.len());
        let _scope = device.scope()?;
        let mut parts = [Vector::uninit(&device, n)?, Vector::uninit(&device, n)?];
        let [first, second] = &mut parts;
        ops::scaled(first, beta, high)?;
        match low.filter(|_| !bounds) {
            Some(low) => ops::scaled(second, beta, low)?,
            None => second.set_zero()?,
        }
        let rest = if bounds { None } else { Some(Vector::zeros(&device, n)?) };
        Ok(ExactSum { parts, rest, bounds, is_nothing: false })
    }

    /// Nothing as yet, in two parts: a sum in double-float.
    fn in_two(device: &Device, n: usize) -> Result<Self> {
        let parts = [Vector::uninit(device, n)?, Vector::uninit(device, n)?];
        Ok(ExactSum { parts, rest: None, bounds: false, is_nothing: true })
    }

    /// Nothing as yet, in three parts or as a bound.
    pub(crate) fn nothing(device: &Device, n: usize, bounds: bool) -> Result<Self> {
        let rest = if bounds { None } else { Some(Vector::uninit(device, n)?) };
        Ok(ExactSum { rest, bounds, ..Self::in_two(device, n)? })
    }

    /// The same, of the kind that this is.
    pub(crate) fn nothing_like(&self, n: usize) -> Result<Self> {
        let device = self.device();
        let rest = self.rest.as_ref().map(|_| Vector::uninit(device, n)).transpose()?;
        Ok(ExactSum { rest, bounds: self.bounds, ..Self::in_two(device, n)? })
    }

    /// Adds `α op(A) x`, where `op(A)` is `Aᵀ` if it is transposed and `α` is a power of two; false, with nothing added,
    /// where operator or device cannot do that ([`LinOp::accumulate`]).
    ///
    /// *Shapes*: `op(A)` m x n, `x` n, the sum m. *Cost*: the draws of [`product_accurate`](crate::ops::product_accurate),
    /// into three targets, with three times the arithmetic; of an `x` of pairs the same draws, which read coefficients once, with
    /// six times the arithmetic (with 16 texture units bands take 1 draw for every 5 diagonals, not 6). *Errors*: as of that, and
    /// as of [`of`](Self::of).
    pub fn add_product<A: LinOp + ?Sized>(
        &mut self,
        a: &A,
        alpha: f32,
        transposed: bool,
        x: &impl Unknowns,
    ) -> Result<bool> {
        let (x, x_low) = x.parts();
        self.add_summand(a, Summand { transposed, alpha, x, x_low })
    }

    /// The same of parts that nobody holds as a pair.
    pub(crate) fn add_summand<A: LinOp + ?Sized>(&mut self, a: &A, terms: Summand<'_>) -> Result<bool> {
        let op = "ExactSum::add_product";
        let shape = if terms.transposed { a.shape().transposed() } else { a.shape() };
        for x in [terms.x].into_iter().chain(terms.x_low) {
            check(op, a.device(), shape, &self.parts[0], x, None)?;
        }
        power_of_two(op, "alpha", terms.alpha)?;
        a.accumulate(self, Checked(terms))
    }

    /// The sum in 32 bits; of a bound the magnitude.
    pub fn rounded(&self) -> &Vector {
        &self.parts[0]
    }

    /// The bound, element by element, of a sum begun by [`bounding`](Self::bounding); of others what rounding to 32 bits has
    /// left, but for the last part.
    pub fn error(&self) -> &Vector {
        &self.parts[1]
    }

    /// Whether it is of more digits than pairs have: what these leave of coefficients counts.
    pub(crate) fn is_fine(&self) -> bool {
        self.rest.is_some() || self.bounds
    }

    /// The third part, where there is one.
    pub(crate) fn rest(&self) -> Option<&Vector> {
        self.rest.as_ref()
    }

    /// All parts of the sum; or magnitude and bound.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Vector> {
        self.parts.iter().chain(&self.rest)
    }

    /// Takes the rounded sum out.
    pub(crate) fn into_rounded(self) -> Vector {
        let [first, _] = self.parts;
        first
    }

    /// Takes the bound out.
    pub(crate) fn into_error(self) -> Vector {
        let [_, second] = self.parts;
        second
    }

    /// Takes what [`rounded`](Self::rounded) and [`error`](Self::error) tell out.
    pub(crate) fn into_parts(self) -> [Vector; 2] {
        self.parts
    }

    pub(crate) fn device(&self) -> &Device {
        self.parts[0].device()
    }

    /// Runs a draw that adds its terms to what is there.
    pub(super) fn add(&mut self, draw: Draw<'_>) -> Result<()> {
        let (device, n) = (self.device().clone(), self.parts[0].len());
        let fresh = || Vector::uninit(&device, n);
        let next = [fresh()?, fresh()?];
        let rest = self.rest.as_ref().map(|_| fresh()).transpose()?;
        let carried = |part| Some(part).filter(|_| !self.is_nothing).map(Operand::view);
        let [high, low] = self.parts.each_ref().map(carried);
        let draw = draw.carried("START_HIGH", ("carried_high", "carried_high_here()"), high).carried(
            "START_LOW",
            ("carried_low", "carried_low_here()"),
            low,
        );
        let draw = match &self.rest {
            None => draw,
            Some(rest) => draw.define("TRIPLE", 1u8).carried(
                "START_REST",
                ("carried_rest", "carried_rest_here()"),
                carried(rest),
            ),
        };
        let draw = if self.bounds { draw.define("BOUND", 1u8).define("FINE", 1u8) } else { draw };
        draw.targets(next.each_ref().map(Operand::view)).targets(rest.as_ref().map(Operand::view)).run()?;
        (self.parts, self.rest, self.is_nothing) = (next, rest, false);
        Ok(())
    }
}

/// Refuses a factor by which products would be rounded: the sum would not be exact, and its bound would not say so.
fn power_of_two(op: &'static str, name: &'static str, value: f32) -> Result<()> {
    const FRACTION: u32 = (1 << 23) - 1;
    if value.is_normal() && value.to_bits() & FRACTION == 0 {
        return Ok(());
    }
    let (value, expected) = (value.to_string(), "a power of two in the normal range of floats, or minus one");
    Err(Error::Parameter { op, name, value, expected })
}

/// A product that [`LinOp::accumulate`] adds: `α op(A) (x + x_low)`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Summand<'a> {
    /// Whether `op(A)` is `Aᵀ`.
    pub transposed: bool,
    /// A power of two.
    pub alpha: f32,
    /// The vector that is multiplied; of pairs the high part.
    pub x: &'a Vector,
    /// The low part of pairs, to be multiplied and added too.
    pub x_low: Option<&'a Vector>,
}

impl<'a> Summand<'a> {
    /// Tells a draw that reads `x` of its low part, if there is one.
    pub(crate) fn with_low(self, draw: Draw<'a>) -> Draw<'a> {
        match self.x_low {
            None => draw,
            Some(low) => draw.input("x_low", low.view()).define("PAIRED", 1u8),
        }
    }
}

/// `α A x` for pairs, in double-float.
///
/// *Bound*: of a row of k terms `(k + 1) 2⁻⁴⁴ Σ |α a_j x_j|`. *Cost*: the draws of
/// [`product_accurate`](super::product_accurate), with a multiply-add more for each term. *Errors*: [`Error::Unsupported`] as where
/// unknowns cannot be pairs.
pub(crate) fn pair_product(a: &dyn LinOp, terms: Summand<'_>) -> Result<[Vector; 2]> {
    let shape = if terms.transposed { a.shape().transposed() } else { a.shape() };
    let mut sum = ExactSum::in_two(a.device(), shape.rows)?;
    if !sum.add_summand(a, terms)? {
        return Err(no_exact_product(terms.transposed));
    }
    Ok(sum.parts)
}

/// Unknowns of pairs where [`ExactSum::add_product`] cannot.
pub(crate) fn no_exact_product(transposed: bool) -> Error {
    let which = if transposed { "transposed " } else { "" };
    let why = format!(
        "the operator has no exact {which}product (LinOp::accumulate), or the device no exact two-sum"
    );
    Error::Unsupported { what: "unknowns of pairs".into(), why }
}
