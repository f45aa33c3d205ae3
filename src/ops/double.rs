//! Element-wise operations on pairs of floats.

use super::product::is_exact;
use super::{check_device, check_shape};
use crate::data::{DoubleVector, Unknowns, Vector};
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
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: `2⁻⁴⁵ (|α x| + |y|)`, and 2⁻¹²⁵ for what falls
/// below the range of floats.
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

/// `out = x + y` for `x` as a pair, on a device that can.
pub(crate) fn add_to_pair(out: [&Vector; 2], [high, low]: [&Vector; 2], y: &Vector) -> Result<()> {
    summed(out, 1.0, (y, None), [high, low])
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
    if !alpha.is_finite() {
        let (value, expected) = (alpha.to_string(), "a finite number");
        return Err(Error::Parameter { op, name: "alpha", value, expected });
    }
    if !is_exact(device) {
        let why = "the device has no exact form of two-sum".into();
        return Err(Error::Unsupported { what: format!("{op}: pairs of floats"), why });
    }
    summed([out.high(), out.low()], alpha, (x, x_low), [y.high(), y.low()])
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
