//! Reductions by shrinking viewports, the result staying on the device.

use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{UniformValue, glsl};
use crate::kernel::{Field, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};
use crate::shape::Extent;

/// The texels that one target texel combines in a stage.
///
/// The sources halve in both directions, `2 x 2`; larger windows need fewer passes, and a change of the render target
/// is what costs on a software rasteriser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Window {
    /// The window of \[Krueger05\] 44.3.2 and \[BeyondVector\] 28.4.2.
    pub const PAPERS: Window = Window { width: 2, height: 2 };

    /// A window of `width` by `height` texels; at least two texels. *Errors*: [`Error::Parameter`].
    pub fn new(width: u32, height: u32) -> Result<Self> {
        if width == 0 || height == 0 || width.saturating_mul(height) < 2 {
            let value = format!("{width}x{height}");
            let expected = "two texels or more";
            return Err(Error::Parameter { op: "Window::new", name: "width x height", value, expected });
        }
        Ok(Window { width, height })
    }
}

/// The windows of all stages of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Windows {
    /// What the measurements in `benches/RESULTS.md` speak for, by a fixed rule. A software rasteriser
    /// ([`Capabilities::software`](crate::gl::Capabilities::software)) pays for passes: while there are more than
    /// 65,536 texels, a window of at most 16x16 that leaves about 128x128, so that every thread has tiles to work on;
    /// then 16x16. A GPU pays for long windows, whose fetches follow one another: 4x2 down to 65,536 texels, then 4x4.
    #[default]
    Balanced,
    /// The same window in every stage.
    Each(Window),
    /// One window in the first stage, another in all later ones.
    Then(Window, Window),
}

impl From<Window> for Windows {
    fn from(window: Window) -> Self {
        Windows::Each(window)
    }
}

impl Windows {
    /// The window of a stage that reads `source`.
    fn of(self, source: Extent, first: bool, software: bool) -> Window {
        let square = |side| Window { width: side, height: side };
        match self {
            Windows::Each(window) => window,
            Windows::Then(window, rest) => {
                if first {
                    window
                } else {
                    rest
                }
            }
            Windows::Balanced if !software => {
                if source.area() > 65_536 {
                    Window { width: 4, height: 2 }
                } else {
                    square(4)
                }
            }
            Windows::Balanced if source.area() <= 65_536 => square(16),
            Windows::Balanced => Window {
                width: source.width.div_ceil(128).clamp(1, 16),
                height: source.height.div_ceil(128).clamp(1, 16),
            },
        }
    }
}

/// One stage: `target` texels, each combining a window of `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What is read.
    pub source: Extent,
    /// What is written.
    pub target: Extent,
    /// Texels combined into one.
    pub window: Window,
}

impl Stage {
    /// What the stage's program is told: small windows are part of it, and it then has no loop; where they cover the
    /// source evenly, no branch for the edge either. Larger windows are parameters.
    pub(crate) fn defines(&self) -> String {
        let Window { width, height } = self.window;
        if !width.is_power_of_two() || !height.is_power_of_two() || width * height > 16 {
            return String::new();
        }
        let even = self.source.width.is_multiple_of(width) && self.source.height.is_multiple_of(height);
        format!("#define WINDOW ivec2({width}, {height})\n#define EVEN {}", u8::from(even))
    }
}

/// The passes of a reduction: pure arithmetic, no GL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducePlan {
    stages: Vec<Stage>,
}

impl ReducePlan {
    /// The stages from `extent` down to one texel. There is always at least one. `software` is
    /// [`Capabilities::software`](crate::gl::Capabilities::software), on which [`Windows::Balanced`] depends.
    ///
    /// ```
    /// use texla::{Extent, ops::{ReducePlan, Window}};
    /// let plan = ReducePlan::new(Extent::new(5, 3), Window::PAPERS, true);
    /// let extents: Vec<_> = plan.stages().iter().map(|s| (s.target.width, s.target.height)).collect();
    /// assert_eq!(extents, [(3, 2), (2, 1), (1, 1)]);
    /// // Additions within windows of 4, 4 and 2 texels, and two more for the four lanes.
    /// assert_eq!(plan.longest_chain(), 3 + 3 + 1 + 2);
    /// ```
    pub fn new(extent: Extent, windows: impl Into<Windows>, software: bool) -> Self {
        let windows = windows.into();
        let mut stages = Vec::new();
        let mut source = Extent::new(extent.width.max(1), extent.height.max(1));
        loop {
            let window = windows.of(source, stages.is_empty(), software);
            // The fields are public: a window that would not shrink anything is taken for the smallest that does.
            let area = window.width.max(1).saturating_mul(window.height.max(1)).max(2);
            // A side that has shrunk to one lends its share of the window to the other.
            let window = match (source.width, source.height) {
                (1, _) => Window { width: 1, height: area },
                (_, 1) => Window { width: area, height: 1 },
                _ if area == 2 && window.width < 2 => Window { width: 1, height: 2 },
                _ => window,
            };
            // Cut to the texture, so that a shader's signed integers hold it.
            let window = Window {
                width: window.width.clamp(1, source.width),
                height: window.height.clamp(1, source.height),
            };
            let target =
                Extent::new(source.width.div_ceil(window.width), source.height.div_ceil(window.height));
            stages.push(Stage { source, target, window });
            source = target;
            if source.area() <= 1 {
                return ReducePlan { stages };
            }
        }
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The longest chain of roundings behind a sum: figure E2's `d`.
    pub fn longest_chain(&self) -> u64 {
        let each = |s: &Stage| u64::from(s.window.width) * u64::from(s.window.height) - 1;
        self.stages.iter().map(each).fold(2, u64::saturating_add)
    }
}

/// What is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// `Σ x_i`.
    Sum,
    /// `Σ x_i y_i`.
    Dot,
    /// `max x_i`.
    Max,
    /// `min x_i`.
    Min,
    /// `max |x_i|`.
    MaxAbs,
}

impl Reduction {
    const fn define(self) -> &'static str {
        match self {
            Reduction::Sum => "OP_SUM",
            Reduction::Dot => "OP_DOT",
            Reduction::Max => "OP_MAX",
            Reduction::Min => "OP_MIN",
            Reduction::MaxAbs => "OP_MAX_ABS",
        }
    }
}

/// The inputs of the first stage and what the last one needs besides.
struct Terms<'a> {
    define: &'static str,
    x: View<'a>,
    y: Option<View<'a>>,
    /// A scalar that the last stage reads.
    scale: Option<&'a Scalar>,
}

/// The one executor: `out` receives the reduction of the terms.
fn run(op: &'static str, out: &mut Scalar, terms: &Terms<'_>, windows: Windows) -> Result<()> {
    let device = terms.x.device;
    let _scope = device.scope()?;
    let plan = ReducePlan::new(terms.x.extent, windows, device.is_software());
    let last = plan.stages().len() - 1;
    let mut partial: Option<PooledTexture> = None;
    for (i, stage) in plan.stages().iter().enumerate() {
        let (is_first, is_last) = (i == 0, i == last);
        let kernel = stage_kernel(device, op, terms, &stage.defines(), is_first, is_last)?;
        let mut inputs = match &partial {
            None => vec![terms.x],
            Some(texture) => vec![View::part(device, texture.texture(), stage.source)],
        };
        if is_first {
            inputs.extend(terms.y);
        }
        if is_last {
            inputs.extend(terms.scale.map(Operand::view));
        }
        let params = vec![
            UniformValue::IVec2([stage.window.width as i32, stage.window.height as i32]),
            UniformValue::IVec2([stage.source.width as i32, stage.source.height as i32]),
            UniformValue::IVec2(terms.x.tail),
        ];
        if is_last {
            device.execute(&Pass::new(&kernel, vec![out.view()], inputs).params(params))?;
        } else {
            let target = device.scratch(stage.target, op)?;
            let view = View::part(device, target.texture(), stage.target);
            device.execute(&Pass::new(&kernel, vec![view], inputs).params(params))?;
            partial = Some(target);
        }
    }
    Ok(())
}

fn stage_kernel(
    device: &Device,
    op: &'static str,
    terms: &Terms<'_>,
    constant: &str,
    first: bool,
    last: bool,
) -> Result<std::rc::Rc<crate::kernel::Compiled>> {
    let define = terms.define;
    let stage = match (first, last) {
        (true, true) => " first last ",
        (true, false) => " first ",
        (false, true) => " last ",
        (false, false) => " middle ",
    };
    device.kernel(&[define, stage, constant].concat(), || {
        let mut inputs = vec!["x"];
        if first && terms.y.is_some() {
            inputs.push("y");
        }
        if last && terms.scale.is_some() {
            inputs.push("scale");
        }
        let pair = |name| Field { name, kind: <[i32; 2]>::KIND };
        let fields = [pair("window"), pair("source"), pair("tail")];
        let mut spec = KernelSpec::fragment(glsl!("reduce/window.frag"), &inputs, &fields, &["out"])
            .with(&format!("#define {define} 1\n{constant}"));
        if first {
            spec = spec.with("#define FIRST 1");
        }
        if last {
            spec = spec.with("#define LAST 1");
        }
        KernelSpec { name: op.to_owned(), ..spec }
    })
}

/// Reduces `x` (and `y`, for [`Reduction::Dot`]) into `out`, with windows of one's choice. The named functions
/// below call this with [`Windows::Balanced`].
///
/// *Cost*: `plan.stages().len()` draws, no readback. *Errors*: [`Error::ShapeMismatch`] when `y` has another length;
/// [`Error::Parameter`] for the largest or smallest of no elements. *Source*: \[Krueger05\] 44.3.2,
/// \[BeyondVector\] 28.4.2.
pub fn reduce_into(
    out: &mut Scalar,
    reduction: Reduction,
    x: &Vector,
    y: Option<&Vector>,
    windows: impl Into<Windows>,
) -> Result<()> {
    let op = "reduce";
    if x.is_empty() && matches!(reduction, Reduction::Max | Reduction::Min) {
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
        if y.extent() != x.extent() {
            let (mut x2, mut y2) =
                (Vector::uninit(x.device(), x.len())?, Vector::uninit(x.device(), x.len())?);
            super::copy(&mut x2, x)?;
            super::copy(&mut y2, y)?;
            return reduce_into(out, reduction, &x2, Some(&y2), windows);
        }
    }
    let define = reduction.define();
    run(op, out, &Terms { define, x: x.view(), y: y.map(Operand::view), scale: None }, windows.into())
}

fn reduce(reduction: Reduction, x: &Vector, y: Option<&Vector>) -> Result<Scalar> {
    let _scope = x.device().scope()?;
    let mut out = Scalar::uninit(x.device())?;
    reduce_into(&mut out, reduction, x, y, Windows::Balanced)?;
    Ok(out)
}

/// `Σ x_i`; 0 for no elements.
///
/// *Cost*: one draw a stage of the [`ReducePlan`], no readback. *Error bound*: `γ_(d+1) Σ |x_i|` with
/// `d = plan.longest_chain()`. *Source*: \[Krueger05\] 44.3.2.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert_eq!(texla::ops::sum(&x)?.read()?, 15.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn sum(x: &Vector) -> Result<Scalar> {
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
pub fn dot(x: &Vector, y: &Vector) -> Result<Scalar> {
    reduce(Reduction::Dot, x, Some(y))
}

/// `max x_i`. *Cost*: as [`sum`]; exact. *Errors*: [`Error::Parameter`] for no elements.
pub fn max_element(x: &Vector) -> Result<Scalar> {
    reduce(Reduction::Max, x, None)
}

/// `min x_i`. *Cost*: as [`sum`]; exact. *Errors*: [`Error::Parameter`] for no elements.
pub fn min_element(x: &Vector) -> Result<Scalar> {
    reduce(Reduction::Min, x, None)
}

/// `max |x_i|`; 0 for no elements. *Cost*: as [`sum`]; exact.
pub fn max_abs(x: &Vector) -> Result<Scalar> {
    reduce(Reduction::MaxAbs, x, None)
}

/// `√(Σ x_i²)`, scaled by a power of two near `max |x_i|`, so that neither 1e-19 nor 1e19 leaves the range of floats.
///
/// *Cost*: two reductions (the largest element, then the squares), no readback.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[3e30, 4e30])?;
/// assert_eq!(texla::ops::norm2(&x)?.read()?, 5e30);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn norm2(x: &Vector) -> Result<Scalar> {
    let _scope = x.device().scope()?;
    let largest = max_abs(x)?;
    let mut out = Scalar::uninit(x.device())?;
    let terms = Terms { define: "OP_SQUARES", x: x.view(), y: Some(largest.view()), scale: Some(&largest) };
    run("norm2", &mut out, &terms, Windows::Balanced)?;
    Ok(out)
}
