//! How a matrix-vector product meets its factor and other vectors: `matrixVectorOp` of \[Krueger05\] Listing 44-1.

use crate::data::{Scalar, Vector};
use crate::error::Result;
use crate::kernel::{Draw, Operand};
use crate::ops::{self, Coefficient};

/// What becomes of the product `P = α A x`.
#[derive(Clone, Copy, Debug)]
pub enum Combine<'a> {
    /// `y = P` (`CL_NULL`).
    Replace,
    /// `y = y + P`, in place.
    Accumulate,
    /// `y = z + P` (`CL_ADD`).
    AddTo(&'a Vector),
    /// `y = z - P`: a residual.
    SubtractFrom(&'a Vector),
    /// `y = P - z` (`CL_SUB`).
    Subtract(&'a Vector),
    /// `y_i = P_i z_i` (`CL_MUL`).
    Multiply(&'a Vector),
    /// `y_i = P_i / z_i`, to 2.5 ulp; infinite or undefined where `z_i` is zero.
    Divide(&'a Vector),
    /// `y_i = max(P_i, z_i)`.
    Max(&'a Vector),
    /// `y_i = min(P_i, z_i)`.
    Min(&'a Vector),
}

impl<'a> Combine<'a> {
    /// The other vector.
    pub(crate) fn operand(&self) -> Option<&'a Vector> {
        match self {
            Combine::Replace | Combine::Accumulate => None,
            Combine::AddTo(z)
            | Combine::SubtractFrom(z)
            | Combine::Subtract(z)
            | Combine::Multiply(z)
            | Combine::Divide(z)
            | Combine::Max(z)
            | Combine::Min(z) => Some(z),
        }
    }

    /// What the shaders compute.
    fn body(&self) -> &'static str {
        match self {
            Combine::Replace | Combine::Accumulate => "(P)",
            Combine::AddTo(_) => "(z_here() + (P))",
            Combine::SubtractFrom(_) => "(z_here() - (P))",
            Combine::Subtract(_) => "((P) - z_here())",
            Combine::Multiply(_) => "((P) * z_here())",
            Combine::Divide(_) => "((P) / z_here())",
            Combine::Max(_) => "max(P, z_here())",
            Combine::Min(_) => "min(P, z_here())",
        }
    }
}

/// A product but for its matrix: `y = combine(α A x)`.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// What becomes of `α A x`. [`Combine::Accumulate`] reaches only an operator that
    /// [`accumulates`](super::LinOp::accumulates).
    pub combine: Combine<'a>,
    /// The factor.
    pub alpha: Coefficient<'a>,
    /// The vector that is multiplied.
    pub x: &'a Vector,
}

impl<'a> Product<'a> {
    /// `y = combine(α P)` where `P = A x` lies in a vector already: what an operator of one's own does in the end of
    /// [`LinOp::apply`](super::LinOp::apply).
    ///
    /// *Shapes*: equal. *Cost*: 1 draw, or 2 where `α` is not 1 and the product is multiplied, divided or compared; no
    /// readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
    /// [`Error::Parameter`](crate::Error::Parameter) for an `α` that is not finite.
    ///
    /// ```
    /// use texla::{Vector, ops::{Combine, Product}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let (p, z) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[4.0, 8.0])?);
    /// let mut y = Vector::zeros(dev, 2)?;
    /// let x = &z; // what was multiplied
    /// Product { combine: Combine::SubtractFrom(&z), alpha: 3.0.into(), x }.finish(&mut y, &p)?;
    /// assert_eq!(y.read()?, [1.0, 2.0]);
    /// Product { combine: Combine::Divide(&z), alpha: 3.0.into(), x }.finish(&mut y, &p)?;
    /// assert_eq!(y.read()?, [0.75, 0.75]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn finish(&self, y: &mut Vector, product: &Vector) -> Result<()> {
        let (alpha, one) = (self.alpha, matches!(self.alpha, Coefficient::Host(1.0)));
        let scaled;
        let p = match self.combine {
            Combine::Multiply(_) | Combine::Divide(_) | Combine::Max(_) | Combine::Min(_) if !one => {
                let mut other = Vector::uninit(product.device(), product.len())?;
                ops::scaled(&mut other, alpha, product)?;
                scaled = other;
                &scaled
            }
            _ => product,
        };
        match self.combine {
            Combine::Replace => ops::scaled(y, alpha, p),
            Combine::Accumulate => ops::accumulate_scaled(y, alpha, p),
            Combine::AddTo(z) => ops::axpy(y, alpha, p, z),
            Combine::SubtractFrom(z) => match alpha {
                Coefficient::Host(alpha) => ops::axpy(y, -alpha, p, z),
                Coefficient::Device(_) => ops::minus_scaled(y, alpha, p, z),
            },
            Combine::Subtract(z) => ops::axpby(y, alpha, p, -1.0, z),
            Combine::Multiply(z) => ops::mul(y, p, z),
            Combine::Divide(z) => ops::div(y, p, z),
            Combine::Max(z) => ops::max(y, p, z),
            Combine::Min(z) => ops::min(y, p, z),
        }
    }

    /// The factor that shaders are told: of one on the device, which they multiply by in the end, none.
    pub(crate) fn factor(&self) -> f32 {
        match self.alpha {
            Coefficient::Host(alpha) => alpha,
            Coefficient::Device(_) => 1.0,
        }
    }

    /// `factor() A x` alone: a sum that goes on into another pass.
    pub(crate) fn partial(self) -> Self {
        Product { combine: Combine::Replace, alpha: Coefficient::Host(self.factor()), ..self }
    }

    /// What is left to do with such a sum.
    pub(crate) fn rest(self) -> Self {
        match self.alpha {
            Coefficient::Host(_) => Product { alpha: Coefficient::Host(1.0), ..self },
            Coefficient::Device(_) => self,
        }
    }

    /// The same for a shader.
    pub(crate) fn ending(&self) -> Ending<'a> {
        match self.alpha {
            Coefficient::Host(_) => Ending { combine: self.combine, factor: None },
            Coefficient::Device(factor) => Ending { combine: self.combine, factor: Some(factor) },
        }
    }
}

/// What a shader does with a sum.
#[derive(Clone, Copy)]
pub(crate) struct Ending<'a> {
    combine: Combine<'a>,
    factor: Option<&'a Scalar>,
}

impl<'a> Ending<'a> {
    /// Nothing.
    pub const NONE: Self = Ending { combine: Combine::Replace, factor: None };

    /// Tells a draw: `COMBINE`, with the other vector as the input `z` and a factor on the device as `factor`, if there
    /// are such.
    pub fn describe(&self, draw: Draw<'a>) -> Draw<'a> {
        let body = self.combine.body();
        let draw = match self.factor {
            None => draw.define("COMBINE(P)", body),
            Some(factor) => draw
                .define("COMBINED(P)", body)
                .define("COMBINE(P)", "COMBINED(factor_value() * (P))")
                .input("factor", factor.view()),
        };
        draw.input_if("z", self.combine.operand().map(Operand::view))
    }

    /// True if `y`'s padding lanes have to be put back to zero: a borrowed `z` has elements there, a quotient of zeros is
    /// none, and a factor on the device may be infinite.
    pub fn fills_padding(&self, y: &Vector) -> bool {
        matches!(self.combine, Combine::Divide(_))
            || self.factor.is_some()
            || self.combine.operand().is_some_and(|z| z.extent() != y.extent())
    }
}
