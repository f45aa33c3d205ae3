//! Reductions by shrinking viewports, the result staying on the device.

mod plan;
mod stages;

pub use plan::{ReducePlan, Stage, Window, Windows};
pub(crate) use stages::{Block, Partial, Windowed, block, chain};

use super::elementwise::{Elements, parts};
use crate::data::Scalar;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Domain, Draw, Operand, View};
use crate::shape::Extent;
use stages::{read, window};

/// What is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reduction {
    /// `Σ x_i`.
    Sum,
    /// `Σ x_i y_i`.
    Dot,
    /// `(Σ x_i) / n`.
    Mean,
    /// `max x_i`.
    Max,
    /// `min x_i`.
    Min,
    /// `max |x_i|`.
    MaxAbs,
    /// The number of `x_i` that are NaN or infinite.
    NonFinite,
}

impl Reduction {
    const fn define(self) -> &'static str {
        match self {
            Reduction::Sum | Reduction::Mean => "OP_SUM",
            Reduction::Dot => "OP_DOT",
            Reduction::Max => "OP_MAX",
            Reduction::Min => "OP_MIN",
            Reduction::MaxAbs => "OP_MAX_ABS",
            Reduction::NonFinite => "OP_NON_FINITE",
        }
    }
}

/// The inputs of the first stage and what the last one needs besides.
struct Terms<'a> {
    define: &'static str,
    x: Vec<View<'a>>,
    y: Option<Second<'a>>,
    /// A scalar that the last stage reads.
    scale: Option<&'a Scalar>,
    /// What the last stage divides by.
    count: Option<f32>,
}

/// What the first stage reads beside `x`.
enum Second<'a> {
    /// As many textures as `x` has.
    Parts(Vec<View<'a>>),
    /// The same for all of them.
    Scalar(View<'a>),
}

impl<'a> Second<'a> {
    fn of(&self, part: usize) -> Option<View<'a>> {
        match self {
            Second::Parts(parts) => parts.get(part).copied(),
            Second::Scalar(scalar) => Some(*scalar),
        }
    }
}

impl<'a> Terms<'a> {
    /// What the last stage does besides: the lanes are combined too.
    fn conclude<'d>(&self, draw: Draw<'d>) -> Draw<'d>
    where
        'a: 'd,
    {
        let draw = draw.define("LAST", 1u8).input_if("scale", self.scale.map(Operand::view));
        match self.count {
            Some(count) => draw.define("MEAN", 1u8).param("count", count),
            None => draw,
        }
    }
}

/// `out` receives the reduction of the terms. Data in several textures is first reduced to a texel for each of them.
fn run(op: &'static str, out: &mut Scalar, terms: &Terms<'_>, windows: Windows) -> Result<()> {
    let device = &out.device().clone();
    let _scope = device.exclusive_scope()?;
    let y_of = |term: Option<usize>| term.and_then(|k| terms.y.as_ref()?.of(k));
    // One texture, by its number among the terms unless it holds what others have come to: to a scalar, or to a texel.
    let reduce = |x: View<'_>, term: Option<usize>, place: Option<u32>, target: View<'_>| {
        let inputs = 1 + usize::from(y_of(term).is_some());
        let plan = ReducePlan::on(device, x.extent, windows, inputs);
        let y = y_of(term);
        let first = |stage: &Stage| {
            // Averages are of texels as they are.
            let draw = read(window(device, op, terms.define), x, y.is_none() && plan.is_filtered(stage));
            Ok(match term {
                None => draw,
                Some(_) => draw.define("FIRST", 1u8).input_if("y", y).uniform("tail", x.tail.uniform()),
            })
        };
        let stages = Windowed { device, op, plan: &plan, combine: terms.define, first: &first };
        let (partial, last) = stages.to_the_last()?;
        let draw = stages.draw(&last, partial.as_ref())?.target(target);
        match place {
            None => terms.conclude(draw).run(),
            Some(x) => {
                let texel = Domain::Rect { x, y: 0, width: 1, height: 1 };
                draw.define("PLACED", 1u8).param("place", x as i32).on(texel).run()
            }
        }
    };
    if let [x] = terms.x.as_slice() {
        return reduce(*x, Some(0), None, out.view());
    }
    let parts = Partial::uninit(device, Extent::new(terms.x.len() as u32, 1), op)?;
    for (k, x) in terms.x.iter().enumerate() {
        reduce(*x, Some(k), Some(k as u32), parts.view())?;
    }
    reduce(parts.view(), None, None, out.view())
}

/// Reduces `x` (and `y`, for [`Reduction::Dot`]) into `out`, with windows of one's choice. The named functions
/// below call this with [`Windows::Balanced`].
///
/// *Cost*: `plan.stages().len()` draws, no readback. *Errors*: [`Error::ShapeMismatch`] when `y` has another length;
/// [`Error::Parameter`] for the mean, the largest or the smallest of no elements, and for an extreme or a count
/// by [`Windows::Filtered`]; [`Error::Unsupported`] for that where filtering floats is not exact enough. *Source*:
/// \[Krueger05\] 44.3.2, \[BeyondVector\] 28.4.2.
pub fn reduce_into<T: Elements>(
    out: &mut Scalar,
    reduction: Reduction,
    x: &T,
    y: Option<&T>,
    windows: impl Into<Windows>,
) -> Result<()> {
    let op = "reduce";
    let windows = windows.into();
    if windows == Windows::Filtered {
        check_filter(x.device(), reduction)?;
    }
    if x.shape().is_empty() && matches!(reduction, Reduction::Max | Reduction::Min | Reduction::Mean) {
        let expected = "at least one element";
        return Err(Error::Parameter { op, name: "x.len()", value: "0".into(), expected });
    }
    let needed = reduction == Reduction::Dot;
    if needed != y.is_some() {
        let value = if needed { "absent" } else { "present" };
        return Err(Error::Parameter {
            op,
            name: "y",
            value: value.into(),
            expected: "a second vector for dot alone",
        });
    }
    if let Some(y) = y {
        super::check_shape(op, "y", y.shape(), x.shape())?;
        // Both are read at the same texel, so a borrowed texture of another width is first folded like the rest.
        if y.view().extent != x.view().extent {
            let (mut x2, mut y2) = (x.like()?, x.like()?);
            super::copy(&mut x2, x)?;
            super::copy(&mut y2, y)?;
            return reduce_into(out, reduction, &x2, Some(&y2), windows);
        }
    }
    let (define, y) = (reduction.define(), y.map(|y| Second::Parts(parts(y).collect())));
    // A number of elements past 2^24 is rounded, once.
    let count = (reduction == Reduction::Mean).then_some(x.shape().len() as f32);
    run(op, out, &Terms { define, x: parts(x).collect(), y, scale: None, count }, windows)
}

/// Whether filtered fetches can do this reduction, here.
fn check_filter(device: &Device, reduction: Reduction) -> Result<()> {
    if !matches!(reduction, Reduction::Sum | Reduction::Dot | Reduction::Mean) {
        let (name, value) = ("windows", "Filtered".to_owned());
        let expected = "windows of single fetches: averages give neither extremes nor what is not finite";
        return Err(Error::Parameter { op: "reduce", name, value, expected });
    }
    if device.gl().caps.borrow().float_filter {
        return Ok(());
    }
    let why = "filtering float textures is not exact on this device (OpenGL ES: OES_texture_float_linear)";
    Err(Error::Unsupported { what: "reduce with filtered windows".into(), why: why.into() })
}

fn reduce<T: Elements>(reduction: Reduction, x: &T, y: Option<&T>) -> Result<Scalar> {
    let _scope = x.device().exclusive_scope()?;
    let mut out = Scalar::uninit(x.device())?;
    reduce_into(&mut out, reduction, x, y, Windows::Balanced)?;
    Ok(out)
}

/// `Σ x_i`; 0 for no elements.
///
/// *Cost*: one draw a stage of the [`ReducePlan`], no readback. *Error bound*: `γ_(d+1) Σ |x_i|` with
/// `d = plan.longest_chain()`, for finite elements and partial sums; otherwise it says nothing (a device may make a number
/// of `∞ - ∞`, or 0 of NaN) and [`nonfinite`] does. *Source*: \[Krueger05\] 44.3.2.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert_eq!(texla::ops::sum(&x)?.read()?, 15.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn sum<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::Sum, x, None)
}

/// `Σ x_i y_i`.
///
/// *Cost*, *bound* and *source*: as [`sum`]. *Errors*: [`Error::ShapeMismatch`].
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0, 2.0, 3.0])?;
/// let y = texla::Vector::from_slice(dev, &[4.0, 5.0, 6.0])?;
/// assert_eq!(texla::ops::dot(&x, &y)?.read()?, 32.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn dot<T: Elements>(x: &T, y: &T) -> Result<Scalar> {
    reduce(Reduction::Dot, x, Some(y))
}

/// `s = Σ x_i y_i` into a scalar that is there already: the `reduceAdd` of \[Krueger05\] Listing 44-1.
///
/// *Cost*, *bound* and *errors*: as [`dot`], without a texture for the result.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0, 2.0, 3.0])?;
/// let mut s = texla::Scalar::zero(dev)?;
/// texla::ops::dot_into(&mut s, &x, &x)?;
/// assert_eq!(s.read()?, 14.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn dot_into<T: Elements>(out: &mut Scalar, x: &T, y: &T) -> Result<()> {
    reduce_into(out, Reduction::Dot, x, Some(y), Windows::Balanced)
}

/// `(Σ x_i) / n`. It overflows where the sum does.
///
/// *Cost*: as [`sum`]. *Error bound*: `γ_(d+7) Σ |x_i| / n`: the sum's, what GL promises of a division, and the rounding of
/// an `n` past 2²⁴. *Errors*: [`Error::Parameter`] for no elements. *Source*: \[BeyondVector\] 28.4.2.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[1.0, 2.0, 6.0])?;
/// assert_eq!(texla::ops::mean(&x)?.read()?, 3.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn mean<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::Mean, x, None)
}

/// `max x_i` of finite elements, exact. *Cost*: as [`sum`]. *Errors*: [`Error::Parameter`] for no elements.
///
/// What is not finite can only have been made on the device. `+∞` is the largest; `-∞` counts as the lowest finite number,
/// -3.4028235e38. A NaN is passed over, or is the result, or hides others, as the device has it: GLSL leaves `max` and `min`
/// of NaN open. [`nonfinite`] tells.
pub fn max_element<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::Max, x, None)
}

/// `min x_i` of finite elements, exact. *Cost*: as [`sum`]. *Errors*: [`Error::Parameter`] for no elements.
///
/// Of what is not finite `-∞` is the smallest, `+∞` counts as the largest finite number, 3.4028235e38, and NaN is as in
/// [`max_element`]; [`nonfinite`] tells.
pub fn min_element<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::Min, x, None)
}

/// `max |x_i|` of finite elements, exact; 0 for no elements. *Cost*: as [`sum`].
///
/// It is `∞` where an element is infinite. A NaN is as in [`max_element`]: `max_abs` of nothing but NaN may be 0;
/// [`nonfinite`] tells.
pub fn max_abs<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::MaxAbs, x, None)
}

/// The number of elements that are NaN or infinite: what an overflow, a division by zero or a kernel has made on the device,
/// since uploads refuse both. Told by the bits, of which a shader compiler cannot assume what it may of numbers: that
/// neither occurs.
///
/// *Cost*: as [`sum`], no readback. Exact up to 2²⁴; never 0 where there is one. *Errors*: none of its own.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut x = texla::Vector::from_slice(dev, &[1e30, 2.0, -1e30])?;
/// assert_eq!(texla::ops::nonfinite(&x)?.read()?, 0.0);
/// texla::ops::scale(&mut x, 1e30)?; // overflows twice
/// assert_eq!(texla::ops::nonfinite(&x)?.read()?, 2.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn nonfinite<T: Elements>(x: &T) -> Result<Scalar> {
    reduce(Reduction::NonFinite, x, None)
}

/// `Σ x_i²`, the dot product of `x` with itself (`normSquared` of \[Moravanszky03\] 3.5). *Cost*, *bound*: as [`dot`].
/// It overflows from `|x_i|` of about 1e19 on; [`norm2`] does not.
pub fn norm_squared<T: Elements>(x: &T) -> Result<Scalar> {
    dot(x, x)
}

/// `√(Σ x_i²)`, of a matrix the Frobenius norm, scaled by a power of two near `max |x_i|`, so that neither 1e-19 nor 1e19
/// leaves the range of floats.
///
/// *Cost*: two reductions (the largest element, then the squares), no readback.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[3e30, 4e30])?;
/// assert_eq!(texla::ops::norm2(&x)?.read()?, 5e30);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn norm2<T: Elements>(x: &T) -> Result<Scalar> {
    let _scope = x.device().exclusive_scope()?;
    let largest = max_abs(x)?;
    let mut out = Scalar::uninit(x.device())?;
    let y = Some(Second::Scalar(largest.view()));
    let terms = Terms { define: "OP_SQUARES", x: parts(x).collect(), y, scale: Some(&largest), count: None };
    run("norm2", &mut out, &terms, Windows::Balanced)?;
    Ok(out)
}
