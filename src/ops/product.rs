//! How a matrix-vector product meets other vectors: `matrixVectorOp` of \[Krueger05\] Listing 44-1.

use crate::data::Vector;
use crate::error::Result;
use crate::kernel::{Draw, Operand, View};
use crate::shape::Shape;

/// What becomes of the product `P = α A x`.
#[derive(Clone, Copy)]
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
    /// `y = combine(α P)` for a product that lies in a vector already: what an operator of one's own does in the end of
    /// [`LinOp::apply`](crate::solve::LinOp::apply).
    ///
    /// *Shapes*: equal. *Cost*: 1 draw, or 2 where `α` is not 1 and the product is multiplied, divided or compared; no
    /// readback. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
    /// [`Error::Parameter`](crate::Error::Parameter) for an `α` that is not finite.
    ///
    /// ```
    /// use texla::{Vector, ops::Combine};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let (p, z) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[4.0, 8.0])?);
    /// let mut y = Vector::zeros(dev, 2)?;
    /// Combine::SubtractFrom(&z).finish(&mut y, 3.0, &p)?;
    /// assert_eq!(y.read()?, [1.0, 2.0]);
    /// Combine::Divide(&z).finish(&mut y, 3.0, &p)?;
    /// assert_eq!(y.read()?, [0.75, 0.75]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn finish(self, y: &mut Vector, alpha: f32, product: &Vector) -> Result<()> {
        let scaled;
        let p = match self {
            Combine::Multiply(_) | Combine::Divide(_) | Combine::Max(_) | Combine::Min(_) if alpha != 1.0 => {
                let mut other = Vector::uninit(product.device(), product.len())?;
                super::scaled(&mut other, alpha, product)?;
                scaled = other;
                &scaled
            }
            _ => product,
        };
        match self {
            Combine::Replace => super::scaled(y, alpha, p),
            Combine::Accumulate => super::accumulate_scaled(y, alpha, p),
            Combine::AddTo(z) => super::axpy(y, alpha, p, z),
            Combine::SubtractFrom(z) => super::axpy(y, -alpha, p, z),
            Combine::Subtract(z) => super::axpby(y, alpha, p, -1.0, z),
            Combine::Multiply(z) => super::mul(y, p, z),
            Combine::Divide(z) => super::div(y, p, z),
            Combine::Max(z) => super::max(y, p, z),
            Combine::Min(z) => super::min(y, p, z),
        }
    }

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

    /// What the shaders call it.
    pub(crate) fn define(&self) -> &'static str {
        match self {
            Combine::Replace | Combine::Accumulate => "#define COMBINE(P) (P)",
            Combine::AddTo(_) => "#define COMBINE(P) (z_here() + (P))",
            Combine::SubtractFrom(_) => "#define COMBINE(P) (z_here() - (P))",
            Combine::Subtract(_) => "#define COMBINE(P) ((P) - z_here())",
            Combine::Multiply(_) => "#define COMBINE(P) ((P) * z_here())",
            Combine::Divide(_) => "#define COMBINE(P) ((P) / z_here())",
            Combine::Max(_) => "#define COMBINE(P) max(P, z_here())",
            Combine::Min(_) => "#define COMBINE(P) min(P, z_here())",
        }
    }

    /// Tells a draw: `COMBINE`, and the other vector as the input `z`, if there is one.
    pub(crate) fn describe(self, draw: Draw<'a>) -> Draw<'a> {
        draw.lines(self.define()).input_if("z", self.operand().map(Operand::view))
    }

    /// True if `y`'s padding lanes have to be put back to zero: a borrowed `z` has elements there, and a quotient of
    /// zeros is none.
    pub(crate) fn fills_padding(&self, y: &Vector) -> bool {
        matches!(self, Combine::Divide(_)) || self.operand().is_some_and(|z| z.extent() != y.extent())
    }
}

/// The shape checks of every product, of `A` or of `Aᵀ`.
pub(crate) fn check_product(
    op: &'static str,
    shape: Shape,
    y: &Vector,
    combine: &Combine<'_>,
    alpha: f32,
    x: &Vector,
) -> Result<()> {
    super::check_shape(op, "x", x.shape(), Shape::column(shape.cols))?;
    super::check_shape(op, "y", y.shape(), Shape::column(shape.rows))?;
    if let Some(z) = combine.operand() {
        super::check_shape(op, "z", z.shape(), Shape::column(shape.rows))?;
    }
    for (operand, v) in [("x", Some(x)), ("z", combine.operand())] {
        let Some(v) = v else { continue };
        if !v.device().same(y.device()) {
            return Err(crate::Error::WrongDevice { op: op.to_owned(), operand: operand.to_owned() });
        }
        if v.texture() == y.texture() {
            return Err(crate::Error::Feedback { kernel: op.to_owned(), input: operand.to_owned() });
        }
    }
    if !alpha.is_finite() {
        let (name, value, expected) = ("alpha", alpha.to_string(), "a finite number");
        return Err(crate::Error::Parameter { op, name, value, expected });
    }
    Ok(())
}

/// `Accumulate` for products that gather: the sum goes into a pooled texture, which then changes places with `y`'s.
pub(crate) fn accumulate(
    y: &mut Vector,
    f: impl FnOnce(&mut Vector, Combine<'_>) -> Result<()>,
) -> Result<()> {
    y.writable("accumulating a product")?;
    if y.is_empty() {
        // Nothing to add to, and padding that is to stay zero.
        return Ok(());
    }
    let mut sum = Vector::uninit(y.device(), y.len())?;
    f(&mut sum, Combine::AddTo(y))?;
    std::mem::swap(y, &mut sum);
    Ok(())
}

/// `out = α op(A) x + β z` accumulated in double-float and rounded once: the operands besides the matrix.
#[derive(Clone, Copy)]
pub struct Accurate<'a> {
    /// Whether `op(A)` is `Aᵀ`.
    pub transposed: bool,
    /// A power of two.
    pub alpha: f32,
    /// The vector that is multiplied.
    pub x: &'a Vector,
    /// A power of two and the vector that is added.
    pub plus: Option<(f32, &'a Vector)>,
}

impl<'a> Accurate<'a> {
    /// `scale (b - A x)`: a residual.
    pub(crate) fn residual(scale: f32, b: &'a Vector, x: &'a Vector) -> Self {
        Accurate { transposed: false, alpha: -scale, x, plus: Some((scale, b)) }
    }

    /// `β`, and zero where nothing is added.
    pub(crate) fn beta(&self) -> f32 {
        self.plus.map_or(0.0, |(beta, _)| beta)
    }

    /// `z` as an input.
    pub(crate) fn z(&self) -> Option<View<'a>> {
        self.plus.map(|(_, z)| z.view())
    }

    /// True if `out`'s padding lanes have to be put back to zero: a borrowed `z` has elements there.
    pub(crate) fn fills_padding(&self, out: &Vector) -> bool {
        self.plus.is_some_and(|(_, z)| z.extent() != out.extent())
    }

    /// Tells a draw where the sums of a dense product start: at both numbers of the pass before, if there was one.
    pub(crate) fn start(&self, draw: Draw<'a>, carried: Option<[View<'a>; 2]>) -> Draw<'a> {
        let (input, view) = match carried {
            Some([high, _]) => (("carried_high", "carried_high_here()"), Some(high)),
            None => (("z", "beta * z_here()"), self.z()),
        };
        draw.carried("START_HIGH", input, view).carried(
            "START_LOW",
            ("carried_low", "carried_low_here()"),
            carried.map(|[_, low]| low),
        )
    }
}

/// What is asked of a sum in double-float ([`LinOp::accurate_part`](crate::solve::LinOp::accurate_part)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The sum itself, rounded once.
    Sum,
    /// What rounding has left of it: both together have some 46 bits.
    Rest,
    /// `|α| |op(A)| |x| + |β| |z|`, in 32 bits.
    Magnitude,
    /// A bound on the error of sum and rest together, element by element: 2⁻⁴⁴ times all partial sums of the magnitude,
    /// and what a step may lose below the range of floats.
    Error,
}

impl Part {
    /// Whether magnitudes are summed.
    pub(crate) fn is_bound(self) -> bool {
        matches!(self, Part::Magnitude | Part::Error)
    }

    /// Tells a draw what is summed.
    pub(crate) fn describe(self, draw: Draw<'_>) -> Draw<'_> {
        if self.is_bound() { draw.define("BOUND", 1u8) } else { draw }
    }

    /// Which of the two numbers that a shader computes is asked for.
    pub(crate) fn name(self) -> &'static str {
        if self.is_second() { "low" } else { "high" }
    }

    fn is_second(self) -> bool {
        matches!(self, Part::Rest | Part::Error)
    }

    /// The two targets of a shader that writes both numbers: what is asked for goes to `out`.
    pub(crate) fn targets<'v>(self, out: View<'v>, other: View<'v>) -> [View<'v>; 2] {
        if self.is_second() { [other, out] } else { [out, other] }
    }
}
