//! Products in double-float: what residuals are certified by.

use super::{
    Checked, Combine, ExactSum, LinOp, Summand, check, finite, keeping, product, product_transposed,
};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::Format;
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops;
use crate::shape::Extent;

/// How exactly [`product_accurate`] has computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Accuracy {
    /// In 32 bits, as [`product`] does. Such a residual cannot certify convergence.
    Single,
    /// In double-float, rounded once.
    DoubleFloat,
}

/// `out = α op(A) x + β z` accumulated in double-float and rounded once: the operands besides the matrix.
#[derive(Clone, Copy, Debug)]
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

/// `out = α op(A) x + β z`, accumulated in double-float with the full coefficients and rounded once, where operator and
/// device can; else in 32 bits. Says which.
///
/// *Shapes*: `op(A)` m x n, `x` n, `out` and `z` m; `α` and `β` are powers of two. *Cost*: no readback, and for
///
/// | `A` | |
/// |---|---|
/// | [`Matrix`](crate::Matrix) | 1 draw into two targets for every `2²³ / n` columns (`2²⁸ / n` on a GPU) of each tile |
/// | [`ColumnStack`](crate::ColumnStack) | 1 draw into two targets for each texture, cut up where that would take long |
/// | [`BandedMatrix`](crate::BandedMatrix) | 1 draw into two targets for every 6 diagonals |
/// | [`FoldedBands`](crate::FoldedBands) | the same, and 1 draw before it, or for the transpose after it |
/// | [`SparseMatrix`](crate::SparseMatrix) | 1 draw; points are put on the device gathered too, when this is first used |
/// | [`Stencil`](crate::Stencil) | 1 draw into two targets |
///
/// *Errors*: as [`product`]. *Bound*: one rounding, and about `k 2⁻⁴⁶ |A| |x|` for k terms; what it is exactly
/// [`Part::Error`] tells. [`Accuracy::Single`] where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)).
///
/// ```
/// use texla::{Matrix, Shape, Vector, ops::{self, Accuracy, Accurate}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(1, 3), &[16777216., 1., -16777216.])?;
/// let x = Vector::from_slice(dev, &[1., 0.5, 1.])?;
/// let mut out = Vector::zeros(dev, 1)?;
/// let terms = Accurate { transposed: false, alpha: 1.0, x: &x, plus: None };
/// assert_eq!(ops::product_accurate(&mut out, &a, terms)?, Accuracy::DoubleFloat);
/// assert_eq!(out.read()?, [0.5]); // in 32 bits 0 or 1
/// # Ok::<(), texla::Error>(())
/// ```
pub fn product_accurate<A: LinOp + ?Sized>(out: &mut Vector, a: &A, terms: Accurate<'_>) -> Result<Accuracy> {
    if product_part(out, a, terms, Part::Sum)? {
        return Ok(Accuracy::DoubleFloat);
    }
    let Accurate { transposed, alpha, x, plus } = terms;
    let scaled_z = match plus {
        None => None,
        Some((beta, z)) => {
            let mut scaled = Vector::uninit(z.device(), z.len())?;
            ops::scaled(&mut scaled, beta, z)?;
            Some(scaled)
        }
    };
    let combine = scaled_z.as_ref().map_or(Combine::Replace, Combine::AddTo);
    match transposed {
        false => product(out, combine, alpha, a, x)?,
        true => product_transposed(out, combine, alpha, a, x)?,
    }
    Ok(Accuracy::Single)
}

/// A part of the sum of [`product_accurate`]; false, with nothing written, where operator or device cannot tell.
///
/// *Shapes*, *cost*, *errors*: as of that.
pub fn product_part<A: LinOp + ?Sized>(
    out: &mut Vector,
    a: &A,
    terms: Accurate<'_>,
    part: Part,
) -> Result<bool> {
    let op = "product_accurate";
    let shape = if terms.transposed { a.shape().transposed() } else { a.shape() };
    check(op, a.device(), shape, out, terms.x, terms.plus.map(|(_, z)| z))?;
    finite(op, "alpha", terms.alpha)?;
    finite(op, "beta", terms.beta())?;
    keeping(op, out, |out| a.accurate(out, Checked(terms), part))
}

impl<'a> Accurate<'a> {
    /// `scale (b - A x)`: a residual.
    pub(crate) fn residual(scale: f32, b: &'a Vector, x: &'a Vector) -> Self {
        Accurate { transposed: false, alpha: -scale, x, plus: Some((scale, b)) }
    }

    /// The product without what is added.
    pub(crate) fn alone(&self) -> Summand<'a> {
        let Accurate { transposed, alpha, x, .. } = *self;
        Summand { transposed, alpha, x, x_low: None }
    }

    /// `β`, and zero where nothing is added.
    pub(crate) fn beta(&self) -> f32 {
        self.plus.map_or(0.0, |(beta, _)| beta)
    }

    /// `z` as an input.
    pub(crate) fn z(&self) -> Option<View<'a>> {
        self.plus.map(|(_, z)| z.view())
    }
}

/// What is asked of a sum in double-float ([`product_part`]).
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
}

/// True if the device has arithmetic that [`LinOp::accurate`] of texla's own operators can be had in.
pub(crate) fn is_exact(device: &Device) -> bool {
    device.gl().caps.borrow().exact_form.is_some()
}

/// Where the sums of kernels go that leave one in several parts, each in a target of its own: in as many passes as the
/// terms take; each goes on where the one before has stopped.
pub(crate) enum Sums<'a> {
    /// A part of a sum in double-float.
    Part(&'a mut Vector, Accurate<'a>, Part),
    /// All of one in three parts, or of a bound, to what is there.
    Exact(&'a mut ExactSum),
}

impl<'a> Sums<'a> {
    fn out(&self) -> &Vector {
        match self {
            Sums::Part(out, ..) => out,
            Sums::Exact(sum) => &sum.parts[0],
        }
    }

    pub fn len(&self) -> usize {
        self.out().len()
    }

    pub fn extent(&self) -> Extent {
        self.out().extent()
    }

    /// The parts that passes after the first one read.
    pub fn carried(&self) -> usize {
        match self {
            Sums::Part(..) => 2,
            Sums::Exact(sum) => sum.parts().count(),
        }
    }

    /// True if padding lanes have to be put back to zero: a borrowed `z` has elements there.
    pub fn fills_padding(&self) -> bool {
        match self {
            Sums::Part(out, terms, _) => terms.plus.is_some_and(|(_, z)| z.extent() != out.extent()),
            Sums::Exact(_) => true, // bounds have something everywhere
        }
    }

    /// Runs all passes. Of the two numbers of a part the one not asked for is the texture given back. Nothing at all to sum
    /// takes one pass without a term.
    pub fn run<'p, P>(
        self,
        passes: &'p [P],
        describe: impl Fn(&'p P) -> Draw<'p>,
    ) -> Result<Option<PooledTexture>> {
        match self {
            Sums::Exact(sum) => passes.iter().try_for_each(|pass| sum.add(describe(pass))).map(|()| None),
            Sums::Part(out, terms, part) => run_part(out, terms, part, passes, describe).map(Some),
        }
    }
}

fn run_part<'p, P>(
    out: &mut Vector,
    terms: Accurate<'_>,
    part: Part,
    passes: &'p [P],
    describe: impl Fn(&'p P) -> Draw<'p>,
) -> Result<PooledTexture> {
    let texture = |out: &Vector| out.device().texture(out.extent(), Format::Rgba32F, "partial sums");
    let Some((last, others)) = passes.split_last() else { return texture(out) };
    let mut carried: Option<[PooledTexture; 2]> = None;
    for pass in others {
        let next = [texture(out)?, texture(out)?];
        let [high, low] = next.each_ref().map(|part| like(out, part));
        started(describe(pass), terms, part, out, carried.as_ref()).targets([high, low]).run()?;
        carried = Some(next);
    }
    let other = texture(out)?;
    let (own, rest) = (out.view(), like(out, &other));
    let targets = if part.is_second() { [rest, own] } else { [own, rest] };
    started(describe(last), terms, part, out, carried.as_ref()).targets(targets).run()?;
    Ok(other)
}

/// Tells a draw what is summed and where the sums start: at both numbers of the pass before, if there was one.
fn started<'d>(
    draw: Draw<'d>,
    terms: Accurate<'d>,
    part: Part,
    out: &'d Vector,
    before: Option<&'d [PooledTexture; 2]>,
) -> Draw<'d> {
    let (input, view) = match before {
        Some([high, _]) => (("carried_high", "carried_high_here()"), Some(like(out, high))),
        None => (("z", "beta * z_here()"), terms.z()),
    };
    let low = before.map(|[_, low]| like(out, low));
    part.describe(draw)
        .carried("START_HIGH", input, view)
        .carried("START_LOW", ("carried_low", "carried_low_here()"), low)
        .param("beta", terms.beta())
}

/// A texture like the result's, with the same padding lanes.
fn like<'d>(out: &'d Vector, texture: &'d PooledTexture) -> View<'d> {
    View { texture: texture.texture(), ..out.view() }
}
