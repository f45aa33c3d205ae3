//! Products summed in three floats: what residuals of unknowns in pairs are certified by.

use super::{Accurate, Checked, LinOp, check, finite};
use crate::data::{DoubleVector, Vector};
use crate::device::Device;
use crate::error::Result;
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
    /// Parts of the sum, each some 2⁻²⁴ of the one before; or magnitude, bound, and nothing.
    pub(super) parts: [Vector; 3],
    bounds: bool,
}

shown!(ExactSum, |s| "ExactSum({})", s.parts[0].len());

impl ExactSum {
    /// `β z`, for a power of two. *Cost*: 2 draws and a clear. *Errors*: [`Error::OutOfMemory`](crate::Error::OutOfMemory);
    /// [`Error::Parameter`](crate::Error::Parameter) for a factor that is not finite.
    pub fn of(beta: f32, z: &DoubleVector) -> Result<Self> {
        Self::begun((beta, z.high(), Some(z.low())), false)
    }

    /// The bound for such a sum: of [`rounded`](Self::rounded) the magnitude, and the bound by [`error`](Self::error).
    pub fn bounding(beta: f32, z: &DoubleVector) -> Result<Self> {
        Self::begun((beta, z.high(), Some(z.low())), true)
    }

    pub(crate) fn begun((beta, high, low): (f32, &Vector, Option<&Vector>), bounds: bool) -> Result<Self> {
        finite("ExactSum::of", "beta", beta)?;
        let (device, n) = (high.device().clone(), high.len());
        let _scope = device.scope()?;
        let mut parts =
            [Vector::uninit(&device, n)?, Vector::uninit(&device, n)?, Vector::zeros(&device, n)?];
        let [first, second, _] = &mut parts;
        ops::scaled(first, beta, high)?;
        match low.filter(|_| !bounds) {
            Some(low) => ops::scaled(second, beta, low)?,
            None => second.set_zero()?,
        }
        Ok(ExactSum { parts, bounds })
    }

    /// A sum of nothing, or the bound of one.
    pub(crate) fn zero(device: &Device, n: usize, bounds: bool) -> Result<Self> {
        let zeros = || Vector::zeros(device, n);
        Ok(ExactSum { parts: [zeros()?, zeros()?, zeros()?], bounds })
    }

    /// Adds `α op(A) x`, where `op(A)` is `Aᵀ` if it is transposed and `α` is a power of two; false, with nothing added,
    /// where operator or device cannot do that ([`LinOp::accumulate`]).
    ///
    /// *Shapes*: `op(A)` m x n, `x` n, the sum m. *Cost*: the draws of [`product_accurate`](crate::ops::product_accurate),
    /// into three targets, with three times the arithmetic. *Errors*: as of that.
    pub fn add_product<A: LinOp + ?Sized>(
        &mut self,
        a: &A,
        alpha: f32,
        transposed: bool,
        x: &Vector,
    ) -> Result<bool> {
        let op = "ExactSum::add_product";
        let shape = if transposed { a.shape().transposed() } else { a.shape() };
        check(op, a.device(), shape, &self.parts[0], x, None)?;
        finite(op, "alpha", alpha)?;
        a.accumulate(self, Checked(Accurate { transposed, alpha, x, plus: None }))
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

    /// All parts of the sum; or magnitude, bound, and nothing.
    pub(crate) fn parts(&self) -> &[Vector; 3] {
        &self.parts
    }

    pub(crate) fn is_bound(&self) -> bool {
        self.bounds
    }

    /// Takes the rounded sum out.
    pub(crate) fn into_rounded(self) -> Vector {
        let [first, ..] = self.parts;
        first
    }

    pub(crate) fn into_error(self) -> Vector {
        let [_, second, _] = self.parts;
        second
    }

    pub(crate) fn device(&self) -> &Device {
        self.parts[0].device()
    }

    /// Runs a draw that adds its terms to what is there.
    pub(super) fn add(&mut self, draw: Draw<'_>) -> Result<()> {
        let (device, n) = (self.device().clone(), self.parts[0].len());
        let fresh = || Vector::uninit(&device, n);
        let next = [fresh()?, fresh()?, fresh()?];
        let [high, low, rest] = &self.parts;
        let draw = draw
            .carried("START_HIGH", ("carried_high", "carried_high_here()"), Some(high.view()))
            .carried("START_LOW", ("carried_low", "carried_low_here()"), Some(low.view()));
        let [first, second, third] = next.each_ref().map(Operand::view);
        match self.bounds {
            true => draw.define("BOUND", 1u8).define("FINE", 1u8).targets([first, second]).run()?,
            false => draw
                .define("TRIPLE", 1u8)
                .carried("START_REST", ("carried_rest", "carried_rest_here()"), Some(rest.view()))
                .targets([first, second, third])
                .run()?,
        }
        self.parts = next;
        Ok(())
    }
}
