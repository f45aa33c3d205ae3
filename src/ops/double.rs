//! Operations on pairs of floats.

use super::product::is_exact;
use super::reduce::{Partial, Windowed};
use super::{ReducePlan, Windows, check_device, check_shape};
use crate::data::{DoubleVector, Scalar, Unknowns, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};

impl DoubleVector {
    /// The elements of a vector of 32 bits, exactly. *Cost*: 1 draw and 1 clear. *Errors*: [`Error::OutOfMemory`].
    pub fn from_vector(x: &Vector) -> Result<Self> {
        let _scope = x.device().scope()?;
        let mut high = Vector::uninit(x.device(), x.len())?;
        super::copy(&mut high, x)?;
        Ok(DoubleVector::of_parts(high, Vector::zeros(x.device(), x.len())?))
    }
}

/// `out = α x + y` for pairs; `x` may be a [`Vector`].
///
/// *Shapes*: all equal. *Cost*: 1 draw into two targets; no readback. *Errors*:
/// [`Error::ShapeMismatch`], [`Error::WrongDevice`]; [`Error::Parameter`] for an `α` that is not finite;
/// [`Error::Unsupported`] where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: `2⁻⁴⁵ (|α x| + |y|)`, and `2⁻¹²⁴ (1 + |α| + |x|)` for
/// what falls below the range of floats.
///
/// ```
/// use texla::{DoubleVector, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = Vector::from_slice(dev, &[2f32.powi(-30), -1.0])?;
/// let y = DoubleVector::from_f64(dev, &[1.0, 1.0 + 2f64.powi(-40)])?;
/// let mut out = DoubleVector::zeros(dev, 2)?;
/// ops::axpy_double(&mut out, 1.0, &x, &y)?;
/// assert_eq!(out.read()?, [1.0 + 2f64.powi(-30), 2f64.powi(-40)]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn axpy_double(out: &mut DoubleVector, alpha: f32, x: &impl Unknowns, y: &DoubleVector) -> Result<()> {
    run("axpy_double", out, alpha, x.parts(), y)
}

/// `out = x + y` for pairs; `x` may be a [`Vector`]. *Shapes*, *cost*, *errors*, *bound*: as [`axpy_double`].
pub fn add_double(out: &mut DoubleVector, x: &impl Unknowns, y: &DoubleVector) -> Result<()> {
    run("add_double", out, 1.0, x.parts(), y)
}

/// `out = y - x` for pairs; `x` may be a [`Vector`]. *Shapes*, *cost*, *errors*, *bound*: as [`axpy_double`].
pub fn sub_double(out: &mut DoubleVector, y: &DoubleVector, x: &impl Unknowns) -> Result<()> {
    run("sub_double", out, -1.0, x.parts(), y)
}

/// `out_i = x_i y_i` for pairs; either may be a [`Vector`].
///
/// *Shapes*, *cost*, *errors*: as of [`axpy_double`]. *Bound*: `2⁻⁴⁴ |x_i y_i|`, and `2⁻¹²⁴ (1 + |x_i| + |y_i|)` for what falls below
/// the range of floats. Past that range nothing is said.
///
/// ```
/// use texla::{DoubleVector, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = DoubleVector::from_f64(dev, &[1.0 + 2f64.powi(-30), 3.0])?;
/// let y = Vector::from_slice(dev, &[1.5, 2.0])?;
/// let mut out = DoubleVector::zeros(dev, 2)?;
/// ops::mul_double(&mut out, &x, &y)?;
/// assert_eq!(out.read()?, [1.5 + 1.5 * 2f64.powi(-30), 6.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn mul_double(out: &mut DoubleVector, x: &impl Unknowns, y: &impl Unknowns) -> Result<()> {
    multiplied("mul_double", out, x.parts(), Factor::Elements(y.parts()))
}

/// `out = α x` for pairs; `x` may be a [`Vector`]. *Shapes*, *cost*, *errors*, *bound*: as of [`mul_double`], and
/// [`Error::Parameter`] for an `α` that is not finite.
pub fn scaled_double(out: &mut DoubleVector, alpha: f32, x: &impl Unknowns) -> Result<()> {
    check_alpha("scaled_double", alpha)?;
    multiplied("scaled_double", out, x.parts(), Factor::Number(alpha))
}

/// What elements are multiplied by.
enum Factor<'a> {
    Elements((&'a Vector, Option<&'a Vector>)),
    Number(f32),
}

fn multiplied(
    op: &'static str,
    out: &mut DoubleVector,
    (x, x_low): (&Vector, Option<&Vector>),
    by: Factor<'_>,
) -> Result<()> {
    let (y, y_low, alpha) = match by {
        Factor::Elements((y, low)) => (Some(y), low, None),
        Factor::Number(alpha) => (None, None, Some(alpha)),
    };
    for (operand, v) in y.map(|y| ("y", y)).into_iter().chain([("out", out.high())]) {
        check_shape(op, operand, v.shape(), x.shape())?;
        check_device(op, operand, v.device(), x.device())?;
    }
    check_exact(op, x.device())?;
    let masked = [Some(x), y].into_iter().flatten().any(|v| v.extent() != out.extent());
    Draw::new(x.device(), glsl!("double/mul.frag"))
        .named(op)
        .define("X_PAIR", x_low.is_some())
        .define("Y_PAIR", y_low.is_some())
        .define("SCALED", alpha.is_some())
        .input("x", x.view())
        .input_if("x_low", x_low.map(Operand::view))
        .input_if("y", y.map(Operand::view))
        .input_if("y_low", y_low.map(Operand::view))
        .param("alpha", alpha.unwrap_or(1.0))
        .masked(masked)
        .targets([out.high().view(), out.low().view()])
        .run()
}

fn check_alpha(op: &'static str, alpha: f32) -> Result<()> {
    if alpha.is_finite() {
        return Ok(());
    }
    let (value, expected) = (alpha.to_string(), "a finite number");
    Err(Error::Parameter { op, name: "alpha", value, expected })
}

/// `Σ x_i y_i` of pairs, as a vector of one; either may be a [`Vector`].
///
/// *Shapes*: equal. *Cost*: one draw a stage of the [`ReducePlan`], one more, no readback. *Errors*: as of [`axpy_double`].
/// *Bound*: `(d + 2) 2⁻⁴⁶ Σ |x_i y_i|`, where `d = plan.longest_chain()`, and `2⁻¹²⁴ Σ (1 + |x_i| + |y_i|)` for what
/// falls below the range of floats. Past that range, which may be told as an infinity or as NaN, nothing is said.
///
/// ```
/// use texla::{DoubleVector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = DoubleVector::from_f64(dev, &[1.0 + 2f64.powi(-20), 3.0])?;
/// let y = DoubleVector::from_f64(dev, &[1.0 - 2f64.powi(-20), -1.0 / 3.0])?;
/// let dot = ops::dot_double(&x, &y)?.read()?[0];
/// assert!((dot - -2f64.powi(-40)).abs() < 2f64.powi(-44));
/// # Ok::<(), texla::Error>(())
/// ```
pub fn dot_double(x: &impl Unknowns, y: &impl Unknowns) -> Result<DoubleVector> {
    let op = "dot_double";
    let ((x, x_low), (y, y_low)) = (x.parts(), y.parts());
    check_shape(op, "y", y.shape(), x.shape())?;
    check_device(op, "y", y.device(), x.device())?;
    check_exact(op, x.device())?;
    let _scope = x.device().exclusive_scope()?;
    // Both are read at the same texel, so a borrowed texture of another width is first folded like the rest.
    let folded = |v: &Vector| {
        let mut own = Vector::uninit(v.device(), v.len())?;
        super::copy(&mut own, v)?;
        Ok::<_, Error>(own)
    };
    let own = if x.extent() == y.extent() { None } else { Some((folded(x)?, folded(y)?)) };
    let (x, y) = own.as_ref().map_or((x, y), |(x, y)| (x, y));
    total(&reduced(op, ("DOT", (x, x_low)), Some((y, y_low)), None)?, None)
}

/// `√(Σ x_i²)` of pairs, as a vector of one, scaled by a power of two near `max |x_i|`, so that neither 1e-19 nor 1e19
/// leaves the range of floats.
///
/// *Cost*: two reductions (the largest element, then the squares), a draw, no readback. *Errors*: as of [`axpy_double`].
/// *Bound*: `(d + 6) 2⁻⁴⁶` of it, with `d` as of [`dot_double`], and `√n 2⁻¹²⁵` for what falls below the range of floats.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::DoubleVector::from_f64(ctx.device(), &[1e30, 1e30])?;
/// let norm = texla::ops::norm2_double(&x)?.read()?[0];
/// assert!((norm / 2f64.sqrt() - 1e30).abs() < 1e30 * 2f64.powi(-42));
/// # Ok::<(), texla::Error>(())
/// ```
pub fn norm2_double(x: &DoubleVector) -> Result<DoubleVector> {
    let op = "norm2_double";
    check_exact(op, x.device())?;
    let _scope = x.device().exclusive_scope()?;
    let largest = super::max_abs(x.high())?;
    let sums = reduced(op, ("SQUARES", (x.high(), Some(x.low()))), None, Some(&largest))?;
    total(&sums, Some(&largest))
}

/// The sums of a block of `glsl/double/dots.frag`, but for the last window.
fn reduced(
    op: &'static str,
    (which, (x, x_low)): (&'static str, (&Vector, Option<&Vector>)),
    y: Option<(&Vector, Option<&Vector>)>,
    scale: Option<&Scalar>,
) -> Result<Partial> {
    let device = x.device();
    let plan = ReducePlan::on(device, x.extent(), Windows::Balanced, 2);
    let (y, y_low) = y.map_or((None, None), |(y, low)| (Some(y), low));
    let first = |_: &_| {
        Ok(Draw::new(device, glsl!("double/dots.frag"))
            .named(op)
            .define(which, 1u8)
            .define("X_PAIR", x_low.is_some())
            .define("Y_PAIR", y_low.is_some())
            .input("x", x.view())
            .input_if("x_low", x_low.map(Operand::view))
            .input_if("y", y.map(Operand::view))
            .input_if("y_low", y_low.map(Operand::view))
            .input_if("scale", scale.map(Operand::view)))
    };
    Windowed { device, op, plan: &plan, combine: "OP_PAIRS", first: &first }.to_a_window()
}

/// What they come to.
fn total(sums: &Partial, root_of: Option<&Scalar>) -> Result<DoubleVector> {
    let device = sums.view().device;
    let out = [Vector::uninit(device, 1)?, Vector::uninit(device, 1)?];
    sums.left_to(Draw::new(device, glsl!("double/total.frag")))
        .define("NORM", root_of.is_some())
        .input_if("scale", root_of.map(Operand::view))
        .targets(out.each_ref().map(Operand::view))
        .run()?;
    let [high, low] = out;
    Ok(DoubleVector::of_parts(high, low))
}

/// `out = x + y` for `x` as a pair, on a device that can.
pub(crate) fn add_to_pair(out: [&Vector; 2], x: [&Vector; 2], y: (&Vector, Option<&Vector>)) -> Result<()> {
    summed(out, 1.0, y, x)
}

/// `out = α x + y` for a pair `y`, where a texel holds `α` as a pair.
pub(crate) fn add_scaled_to_pair(
    out: [&Vector; 2],
    coefficient: &Scalar,
    x: &Vector,
    [y, y_low]: [&Vector; 2],
) -> Result<()> {
    Draw::new(y.device(), glsl!("double/axpy.frag"))
        .define("SCALED", 1u8)
        .input("x", x.view())
        .input("y", y.view())
        .input("y_low", y_low.view())
        .input("coefficient", coefficient.view())
        .masked(x.extent() != y.extent())
        .targets(out.map(Operand::view))
        .run()
}

fn run(
    op: &'static str,
    out: &mut DoubleVector,
    alpha: f32,
    (x, x_low): (&Vector, Option<&Vector>),
    y: &DoubleVector,
) -> Result<()> {
    let device = y.device();
    for (operand, found) in [("x", x.shape()), ("out", out.shape())] {
        check_shape(op, operand, found, y.shape())?;
    }
    for (operand, found) in [("x", x.device()), ("out", out.device())] {
        check_device(op, operand, found, device)?;
    }
    check_alpha(op, alpha)?;
    check_exact(op, device)?;
    summed([out.high(), out.low()], alpha, (x, x_low), [y.high(), y.low()])
}

pub(crate) fn check_exact(op: &'static str, device: &Device) -> Result<()> {
    if is_exact(device) {
        return Ok(());
    }
    let why = "the device has no exact form of two-sum".into();
    Err(Error::Unsupported { what: format!("{op}: pairs of floats"), why })
}

fn summed(
    out: [&Vector; 2],
    alpha: f32,
    (x, x_low): (&Vector, Option<&Vector>),
    [y, y_low]: [&Vector; 2],
) -> Result<()> {
    let draw = Draw::new(y.device(), glsl!("double/axpy.frag"));
    let draw = if x_low.is_some() { draw.define("PAIR", 1u8) } else { draw };
    draw.input("x", x.view())
        .input_if("x_low", x_low.map(Operand::view))
        .input("y", y.view())
        .input("y_low", y_low.view())
        .param("alpha", alpha)
        .masked(x.extent() != y.extent())
        .targets(out.map(Operand::view))
        .run()
}
