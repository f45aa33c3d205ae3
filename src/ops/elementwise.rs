//! The element-wise family as one table: a name, the number of inputs and coefficients, and whether zero padding
//! stays zero by itself. The expressions stand in `glsl/elementwise/table.frag`.

use super::check_shape;
use crate::data::{Matrix, Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::glsl;
use crate::host::number;
use crate::kernel::{Draw, Operand, TargetOperand, View};
use crate::profile::{Fetches, Workload};
use crate::shape::Shape;

/// Data that the element-wise operations and the reductions work on: [`Vector`], [`Matrix`] and [`Scalar`].
pub trait Elements: TargetOperand {
    /// Rows and columns.
    fn shape(&self) -> Shape;
    /// Where it lives.
    fn device(&self) -> &Device;
    /// A target of the same shape with undefined contents.
    #[doc(hidden)]
    fn like(&self) -> Result<Self>
    where
        Self: Sized;
    /// One of the textures that hold the elements, as kernels see it: as many for equal shapes.
    #[doc(hidden)]
    fn part(&self, k: usize) -> Option<View<'_>> {
        (k == 0).then(|| self.view())
    }
}

/// All of them.
pub(super) fn parts<T: Elements + ?Sized>(x: &T) -> impl Iterator<Item = View<'_>> {
    (0..).map_while(|k| x.part(k))
}

impl Elements for Vector {
    fn shape(&self) -> Shape {
        Vector::shape(self)
    }

    fn device(&self) -> &Device {
        Vector::device(self)
    }

    fn like(&self) -> Result<Self> {
        Vector::uninit(Vector::device(self), self.len())
    }
}

impl Elements for Matrix {
    fn shape(&self) -> Shape {
        Matrix::shape(self)
    }

    fn device(&self) -> &Device {
        Matrix::device(self)
    }

    fn like(&self) -> Result<Self> {
        Matrix::uninit(Matrix::device(self), Matrix::shape(self))
    }

    fn part(&self, k: usize) -> Option<View<'_>> {
        self.tiles().nth(k).map(|tile| tile.part())
    }
}

impl Elements for Scalar {
    fn shape(&self) -> Shape {
        Shape::new(1, 1)
    }

    fn device(&self) -> &Device {
        Scalar::device(self)
    }

    fn like(&self) -> Result<Self> {
        Scalar::uninit(Scalar::device(self))
    }
}

/// A factor of an operation: a number of the host's, or a [`Scalar`] that never leaves the device.
#[derive(Clone, Copy, Debug)]
pub enum Coefficient<'a> {
    /// A number.
    Host(f32),
    /// A scalar on the device.
    Device(&'a Scalar),
}

impl From<f32> for Coefficient<'_> {
    fn from(value: f32) -> Self {
        Coefficient::Host(value)
    }
}

impl<'a> From<&'a Scalar> for Coefficient<'a> {
    fn from(scalar: &'a Scalar) -> Self {
        Coefficient::Device(scalar)
    }
}

/// One row of the table.
pub(super) struct Row {
    op: &'static str,
    define: &'static str,
    inputs: usize,
    coefficients: usize,
    /// f(0) is not 0: padding lanes have to be put back to zero.
    fills_padding: bool,
}

const fn row(op: &'static str, define: &'static str, inputs: usize, coefficients: usize) -> Row {
    Row { op, define, inputs, coefficients, fills_padding: false }
}

const fn filling(op: &'static str, define: &'static str, inputs: usize, coefficients: usize) -> Row {
    Row { op, define, inputs, coefficients, fills_padding: true }
}

const FILL: Row = filling("fill", "OP_FILL", 0, 1);
const COPY: Row = row("copy", "OP_COPY", 1, 0);
const NEG: Row = row("neg", "OP_NEG", 1, 0);
const ABS: Row = row("abs", "OP_ABS", 1, 0);
const SQRT: Row = row("sqrt", "OP_SQRT", 1, 0);
const RECIPROCAL: Row = filling("reciprocal", "OP_RECIPROCAL", 1, 0);
pub(super) const SCALE: Row = row("scale", "OP_SCALE", 1, 1);
const ADD_CONSTANT: Row = filling("add_constant", "OP_ADD_CONSTANT", 1, 1);
const CLAMP: Row = filling("clamp", "OP_CLAMP", 1, 2);
pub(super) const ADD: Row = row("add", "OP_ADD", 2, 0);
const SUB: Row = row("sub", "OP_SUB", 2, 0);
const MUL: Row = row("mul", "OP_MUL", 2, 0);
const DIV: Row = filling("div", "OP_DIV", 2, 0);
const DIV_OR_ZERO: Row = row("div_or_zero", "OP_DIV_OR_ZERO", 2, 0);
const MAX: Row = row("max", "OP_MAX", 2, 0);
const MIN: Row = row("min", "OP_MIN", 2, 0);
const MAX_CONSTANT: Row = filling("max_constant", "OP_MAX_CONSTANT", 1, 1);
pub(super) const AXPY: Row = row("axpy", "OP_AXPY", 2, 1);
pub(super) const MINUS_SCALED: Row = row("subtract_scaled", "OP_MINUS_SCALED", 2, 1);
const AXPBY: Row = row("axpby", "OP_AXPBY", 2, 2);
pub(super) const MUL_ADD: Row = row("mul_add", "OP_MUL_ADD", 3, 0);
const MADAD: Row = row("madad", "OP_MADAD", 4, 0);

const INPUTS: [&str; 4] = ["x", "y", "z", "w"];
const COEFFICIENTS: [(&str, &str); 2] = [("a", "alpha"), ("b", "beta")];

/// Refuses a number of the host's that is none, by the name that the caller gives it.
fn check_coefficient(op: &'static str, name: &'static str, coefficient: Coefficient<'_>) -> Result<()> {
    match coefficient {
        Coefficient::Host(value) if !value.is_finite() => {
            Err(Error::Parameter { op, name, value: value.to_string(), expected: "a finite number" })
        }
        _ => Ok(()),
    }
}

/// The one executor of the family.
pub(super) fn run(
    row: &Row,
    out: &mut dyn Elements,
    inputs: &[&dyn Elements],
    coefficients: &[Coefficient<'_>],
) -> Result<()> {
    for (input, name) in inputs.iter().zip(INPUTS) {
        check_shape(row.op, name, input.shape(), out.shape())?;
    }
    let mut on_device = [false; 2];
    for (i, coefficient) in coefficients.iter().enumerate() {
        check_coefficient(row.op, COEFFICIENTS.get(i).map_or("", |(name, _)| name), *coefficient)?;
        if let Coefficient::Device(_) = coefficient {
            on_device.iter_mut().skip(i).take(1).for_each(|on| *on = true);
        }
    }
    debug_assert_eq!((inputs.len(), coefficients.len()), (row.inputs, row.coefficients));
    let device = out.device().clone();
    let _scope = device.exclusive_scope()?;
    // A host's texture folds otherwise than the target and has no padding lanes: past its end lies whatever the
    // sampler's clamping makes of it.
    let extent = out.view().extent;
    let folds_differ = inputs.iter().any(|input| input.view().extent != extent);
    // And zero times a coefficient is zero only if that is finite, which no one has checked of one on the device.
    let masked = row.fills_padding || folds_differ || on_device.contains(&true);
    let [a_on_device, b_on_device] = on_device;
    for (k, target) in parts(out).enumerate() {
        let mut draw = Draw::new(&device, glsl!("elementwise/table.frag"))
            .named(row.op)
            .define(row.define, 1u8)
            .define("A_ON_DEVICE", a_on_device)
            .define("B_ON_DEVICE", b_on_device)
            .masked(masked)
            .target(target);
        for (input, name) in inputs.iter().zip(INPUTS) {
            draw = draw.input_if(name, input.part(k));
        }
        for (coefficient, (name, device_name)) in coefficients.iter().zip(COEFFICIENTS) {
            draw = match coefficient {
                Coefficient::Host(value) => draw.param(name, *value),
                Coefficient::Device(scalar) => draw.input(device_name, scalar.view()),
            };
        }
        draw.run()?;
    }
    Ok(())
}

impl Workload {
    /// What an element-wise operation into `out` comes to, of `inputs` operands of its shape and `multiply_adds` an element:
    /// 1 and 0 for [`copy`], 2 and 1 for [`add`] and for [`axpy`] by a number. (A coefficient on the device is one more
    /// fetch, [`adjacent`](Fetches::adjacent), a texel, and lanes past the end are cut:
    /// [`cut_texels`](Self::cut_texels).)
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let out = texla::Vector::zeros(ctx.device(), 4000)?; // 32 x 32 texels
    /// let axpy = texla::profile::Workload::elementwise(&out, 2, 1);
    /// assert_eq!((axpy.draws, axpy.target_changes, axpy.multiply_adds), (1.0, 1.0, 4096.0));
    /// assert_eq!((axpy.written_texels, axpy.fetches.own), ([1024.0, 0.0, 0.0, 0.0], 2048.0));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn elementwise<T: Elements>(out: &T, inputs: usize, multiply_adds: usize) -> Self {
        let of = |view: View<'_>| {
            let texels = view.extent.area() as f64;
            let fetches = Fetches::default().with_own(inputs as f64 * texels);
            Workload::pass(view.extent, 1, fetches).with_multiply_adds(4.0 * multiply_adds as f64 * texels)
        };
        parts(out).map(of).sum()
    }
}

/// `x_i = a`.
///
/// *Shapes*: any. *Cost*: 1 draw, no fetch. *Errors*: [`Error::Parameter`] for a coefficient that is not finite.
pub fn fill<'a, T: Elements>(x: &mut T, a: impl Into<Coefficient<'a>>) -> Result<()> {
    run(&FILL, x, &[], &[a.into()])
}

impl Vector {
    /// A vector of equal elements. *Cost*: 1 draw. *Errors*: as [`zeros`](Self::zeros), [`Error::NonFinite`].
    pub fn filled(device: &Device, length: usize, value: f32) -> Result<Self> {
        Self::check_length(device, length)?;
        check_values("Vector::filled", &[value])?;
        let _scope = device.exclusive_scope()?;
        let mut made = Self::uninit(device, length)?;
        fill(&mut made, value)?;
        Ok(made)
    }
}

impl Matrix {
    /// A matrix of equal elements. *Cost*: 1 draw a tile. *Errors*: as [`zeros`](Self::zeros), [`Error::NonFinite`].
    pub fn filled(device: &Device, shape: Shape, value: f32) -> Result<Self> {
        Self::grid(device, shape)?;
        check_values("Matrix::filled", &[value])?;
        let _scope = device.exclusive_scope()?;
        let mut made = Self::uninit(device, shape)?;
        fill(&mut made, value)?;
        Ok(made)
    }
}

macro_rules! unary {
    ($(#[$doc:meta])* $name:ident, $row:ident) => {
        $(#[$doc])*
        ///
        /// *Shapes*: equal. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::ShapeMismatch`],
        /// [`Error::WrongDevice`]. *Source*: \[Krueger05\] 44.3.1.
        pub fn $name<T: Elements>(out: &mut T, x: &T) -> Result<()> {
            run(&$row, out, &[x], &[])
        }
    };
}

macro_rules! binary {
    ($(#[$doc:meta])* $name:ident, $row:ident) => {
        $(#[$doc])*
        ///
        /// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`],
        /// [`Error::WrongDevice`]. *Source*: \[Krueger05\] 44.3.1.
        pub fn $name<T: Elements>(out: &mut T, x: &T, y: &T) -> Result<()> {
            run(&$row, out, &[x, y], &[])
        }
    };
}

unary!(
    /// `out_i = x_i`.
    copy, COPY
);
unary!(
    /// `out_i = -x_i`.
    neg, NEG
);
unary!(
    /// `out_i = |x_i|`.
    abs, ABS
);
unary!(
    /// `out_i = √x_i`, to 3 ulp; the result for negative `x_i` is undefined.
    sqrt, SQRT
);
unary!(
    /// `out_i = 1 / x_i`, to 2.5 ulp; infinite where `x_i` is zero.
    reciprocal, RECIPROCAL
);
binary!(
    /// `out_i = x_i + y_i`.
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// use texla::{Vector, ops};
    /// let (x, y) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[0.5, -2.0])?);
    /// let mut out = Vector::zeros(dev, 2)?;
    /// ops::add(&mut out, &x, &y)?;
    /// assert_eq!(out.read()?, [1.5, 0.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    add, ADD
);
binary!(
    /// `out_i = x_i - y_i`.
    sub, SUB
);
binary!(
    /// `out_i = x_i y_i`.
    mul, MUL
);
binary!(
    /// `out_i = x_i / y_i`, to 2.5 ulp; infinite or undefined where `y_i` is zero.
    div, DIV
);
binary!(
    /// `out_i = x_i / y_i`, or 0 where `y_i = 0` (the `divZ` of Listing 44-1).
    div_or_zero, DIV_OR_ZERO
);
binary!(
    /// `out_i = max(x_i, y_i)`. Of NaN it is either argument, as the device has it.
    max, MAX
);
binary!(
    /// `out_i = min(x_i, y_i)`. Of NaN it is either argument, as the device has it.
    min, MIN
);

/// `out_i = a x_i`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
pub fn scaled<'a, T: Elements>(out: &mut T, a: impl Into<Coefficient<'a>>, x: &T) -> Result<()> {
    run(&SCALE, out, &[x], &[a.into()])
}

/// `out_i = x_i + a`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
pub fn add_constant<'a, T: Elements>(out: &mut T, x: &T, a: impl Into<Coefficient<'a>>) -> Result<()> {
    run(&ADD_CONSTANT, out, &[x], &[a.into()])
}

/// `out_i = min(max(x_i, low), high)`; infinities become `low` and `high`. What becomes of a NaN is up to the device, mostly
/// `low`, so that a NaN may not be seen in the result: ask [`nonfinite`](super::nonfinite) of `x`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
pub fn clamp<'a, T: Elements>(
    out: &mut T,
    x: &T,
    low: impl Into<Coefficient<'a>>,
    high: impl Into<Coefficient<'a>>,
) -> Result<()> {
    let (low, high) = (low.into(), high.into());
    check_coefficient("clamp", "low", low)?;
    check_coefficient("clamp", "high", high)?;
    if let (Coefficient::Host(l), Coefficient::Host(h)) = (low, high)
        && l > h
    {
        let expected = "low <= high";
        return Err(Error::Parameter {
            op: "clamp",
            name: "low",
            value: format!("{} (high is {})", number(l), number(h)),
            expected,
        });
    }
    run(&CLAMP, out, &[x], &[low, high])
}

/// `out_i = a x_i + y_i`; the coefficient may be a [`Scalar`] on the device.
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
/// *Source*: \[Krueger05\] 44.3.5 (`addVector`).
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Vector, ops};
/// let (x, y) = (Vector::from_slice(dev, &[1.0, 2.0])?, Vector::from_slice(dev, &[10.0, 20.0])?);
/// let mut out = Vector::zeros(dev, 2)?;
/// let alpha = ops::dot(&x, &x)?;
/// ops::axpy(&mut out, &alpha, &x, &y)?;
/// assert_eq!(out.read()?, [15.0, 30.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn axpy<'a, T: Elements>(out: &mut T, a: impl Into<Coefficient<'a>>, x: &T, y: &T) -> Result<()> {
    run(&AXPY, out, &[x, y], &[a.into()])
}

/// `out_i = y_i - a x_i`.
pub(crate) fn minus_scaled<T: Elements>(out: &mut T, a: Coefficient<'_>, x: &T, y: &T) -> Result<()> {
    run(&MINUS_SCALED, out, &[x, y], &[a])
}

/// `out_i = a x_i + b y_i`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
pub fn axpby<'a, T: Elements>(
    out: &mut T,
    a: impl Into<Coefficient<'a>>,
    x: &T,
    b: impl Into<Coefficient<'a>>,
    y: &T,
) -> Result<()> {
    run(&AXPBY, out, &[x, y], &[a.into(), b.into()])
}

/// `out_i = x_i y_i + z_i`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 3 fetches a texel. *Errors*: [`Error::ShapeMismatch`].
pub fn mul_add<T: Elements>(out: &mut T, x: &T, y: &T, z: &T) -> Result<()> {
    run(&MUL_ADD, out, &[x, y, z], &[])
}

/// `out_i = max(x_i, a)`: the matrix class's `max(a, ref)`.
///
/// *Shapes*: equal. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::Parameter`].
/// *Source*: \[Moravanszky03\] 3.5.
pub fn max_constant<'a, T: Elements>(out: &mut T, x: &T, a: impl Into<Coefficient<'a>>) -> Result<()> {
    run(&MAX_CONSTANT, out, &[x], &[a.into()])
}

/// `out_i = x_i + (y_i + z_i) w_i`: the step of a projected Jacobi sweep.
///
/// *Shapes*: equal. *Cost*: 1 draw, 4 fetches a texel. *Errors*: [`Error::ShapeMismatch`]. *Source*:
/// \[Moravanszky03\] 3.5 (`madad`), 4.2.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Matrix, Shape, ops};
/// let of = |v: f32| Matrix::filled(dev, Shape::new(1, 2), v);
/// let mut out = Matrix::zeros(dev, Shape::new(1, 2))?;
/// ops::madad(&mut out, &of(1.0)?, &of(2.0)?, &of(3.0)?, &of(4.0)?)?;
/// assert_eq!(out.read()?, [21.0, 21.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn madad<T: Elements>(out: &mut T, x: &T, y: &T, z: &T, w: &T) -> Result<()> {
    run(&MADAD, out, &[x, y, z, w], &[])
}
