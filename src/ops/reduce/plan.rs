//! The passes of a reduction: pure arithmetic, no GL.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Draw;
use crate::profile::{Fetches, Workload};
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
    /// The window of \[Krueger05\] 44.3.2 and \[BeyondVector\] 28.4.2: every stage halves both sides by a viewport of
    /// half the size. The sources' sides are powers of two; here an odd side is rounded up, and its last window is cut
    /// off. The four texels are added row by row, where 28.4.2 goes around them.
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
#[non_exhaustive]
pub enum Windows {
    /// What the measurements in `benches/JOURNAL.md` speak for on all kinds of devices: 8x8, the texels of a window as far apart
    /// as the target is wide and high, and the last 64 texels at once. On a device with a [profile](Device::set_profile): what
    /// that predicts to take least ([`ReducePlan::on`]).
    #[default]
    Balanced,
    /// The same window in every stage.
    Each(Window),
    /// One window in the first stage, another in all later ones.
    Then(Window, Window),
    /// [`Window::PAPERS`], a window's four texels by one linearly filtered fetch at their common corner: the remark at the
    /// end of \[BeyondVector\] 28.4.2. For sums, dot products and means, where
    /// [`Capabilities::float_filter`](crate::gl::Capabilities::float_filter) says that the average is exact enough.
    /// Windows past an odd edge, products in a first stage, and stages that read a texture with a side that is no power
    /// of two, where the corner's coordinates would be rounded, fetch texel by texel. Interpolation takes differences:
    /// where elements or partial sums pass half the range of floats (1.7e38), the result may be NaN though the sum is in
    /// range.
    Filtered,
}

impl From<Window> for Windows {
    fn from(window: Window) -> Self {
        Windows::Each(window)
    }
}

impl Windows {
    /// The same windows, all of them fetched texel by texel.
    pub(crate) fn fetched(self) -> Self {
        match self {
            Windows::Filtered => Windows::Each(Window::PAPERS),
            windows => windows,
        }
    }

    /// The window of a stage that reads `source`.
    fn of(self, source: Extent, first: bool) -> Window {
        match self {
            Windows::Each(window) | Windows::Then(window, _) if first => window,
            Windows::Each(window) | Windows::Then(_, window) => window,
            Windows::Filtered => Window::PAPERS,
            Windows::Balanced if source.area() <= Stage::MOST_KNOWN.into() => {
                Window { width: source.width, height: source.height }
            }
            Windows::Balanced => Window { width: 8, height: 8 },
        }
    }
}

/// One stage: `target` texels, each combining a window of `source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// What is read.
    pub source: Extent,
    /// What is written.
    pub target: Extent,
    /// Texels combined into one.
    pub window: Window,
    /// Texels of a window lie as far apart as the target is wide and high, not side by side: fragments side by side then read
    /// texels side by side.
    pub spread: bool,
}

impl Stage {
    /// Texels of the largest window whose loop is taken apart.
    const MOST_KNOWN: u32 = 64;

    /// Whether the window is part of the program.
    fn is_known(&self) -> bool {
        let Window { width, height } = self.window;
        width.is_power_of_two() && height.is_power_of_two() && width * height <= Self::MOST_KNOWN
    }

    /// Tells a draw about the stage: small windows are part of the program, and it then has no loop; where they cover the
    /// source evenly, no branch for the edge either. Larger windows are parameters alone.
    pub(crate) fn describe<'a>(&self, draw: Draw<'a>) -> Draw<'a> {
        // Sides of a texture fit.
        let pair = |width: u32, height: u32| [width as i32, height as i32];
        let Window { width, height } = self.window;
        let even = self.source.width.is_multiple_of(width) && self.source.height.is_multiple_of(height);
        let draw = if self.is_known() {
            draw.define("WINDOW", pair(width, height)).define("EVEN", even)
        } else {
            draw
        };
        let draw = draw.define("SPREAD", self.spread).param("window", pair(width, height));
        let draw = draw.param("source", pair(self.source.width, self.source.height));
        let draw = draw.rounds(u64::from(width) * u64::from(height));
        if self.spread { draw.param("apart", pair(self.target.width, self.target.height)) } else { draw }
    }
}

/// The passes of a reduction: pure arithmetic, no GL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReducePlan {
    stages: Vec<Stage>,
    filtered: bool,
}

impl ReducePlan {
    /// The stages from `extent` down to one texel. There is always at least one.
    ///
    /// ```
    /// use texla::{Extent, ops::{ReducePlan, Window}};
    /// let plan = ReducePlan::new(Extent::new(5, 3), Window::PAPERS);
    /// let extents: Vec<_> = plan.stages().iter().map(|s| (s.target.width, s.target.height)).collect();
    /// assert_eq!(extents, [(3, 2), (2, 1), (1, 1)]);
    /// // Additions within windows of 4, 4 and 2 texels, and two more for the four lanes.
    /// assert_eq!(plan.longest_chain(), 3 + 3 + 1 + 2);
    /// ```
    pub fn new(extent: Extent, windows: impl Into<Windows>) -> Self {
        let windows = windows.into();
        Self::beginning(None, extent, windows, windows == Windows::Balanced)
    }

    /// The same for terms that are computed from many fetches: where windows are the library's choice, some texels of a row
    /// in the first stage, whose fetches overlap. As many as leave one window, or four.
    pub(crate) fn of_products(extent: Extent, windows: Windows) -> Self {
        let width = if extent.area() <= u64::from(16 * Stage::MOST_KNOWN) { 16 } else { 4 };
        let strip = Window { width, height: 1 };
        let balanced = windows == Windows::Balanced;
        Self::beginning(balanced.then_some(strip), extent, windows, balanced)
    }

    /// As [`new`](Self::new), on a device that may have a [profile](Device::set_profile): windows that are the library's
    /// choice are then those that it predicts to take least, for a first stage that reads so many operands. What is
    /// chosen from: those of the rule, and windows of one size all along, 2x2, 4x4 and 16x16, their texels far apart too. Passes of
    /// solvers that compute a product within a reduction keep the rule's.
    ///
    /// ```
    /// use texla::ops::{ReducePlan, Windows};
    /// use texla::{Extent, profile::DeviceProfile};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let mut slow_to_draw = DeviceProfile::default();
    /// slow_to_draw.draw = 1.0;
    /// dev.set_profile(Some(slow_to_draw));
    /// let plan = ReducePlan::on(dev, Extent::new(256, 256), Windows::Balanced, 1);
    /// assert_eq!(plan.stages().len(), 2); // of 16x16
    /// # dev.set_profile(None);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn on(device: &Device, extent: Extent, windows: impl Into<Windows>, inputs: usize) -> Self {
        let windows = windows.into();
        let rule = || Self::new(extent, windows);
        if windows != Windows::Balanced {
            return rule();
        }
        let plans = || {
            let square = |side| Windows::Each(Window { width: side, height: side });
            let squares = [2, 4, 16].map(|side| Self::beginning(None, extent, square(side), true));
            [rule()].into_iter().chain(squares).map(move |plan| {
                let work = plan.workload(inputs);
                (plan, work)
            })
        };
        device.quickest(plans).unwrap_or_else(rule)
    }

    fn beginning(first: Option<Window>, extent: Extent, windows: Windows, spread: bool) -> Self {
        let mut stages = Vec::new();
        let mut source = Extent::new(extent.width.max(1), extent.height.max(1));
        loop {
            let window = first.filter(|_| stages.is_empty());
            // Terms of products share what they fetch along a row.
            let spread = spread && window.is_none();
            let window = window.unwrap_or_else(|| windows.of(source, stages.is_empty()));
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
            stages.push(Stage { source, target, window, spread });
            source = target;
            if source.area() <= 1 {
                return ReducePlan { stages, filtered: windows == Windows::Filtered };
            }
        }
    }

    /// The stages in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Whether windows of this stage are to be filtered.
    pub(super) fn is_filtered(&self, stage: &Stage) -> bool {
        self.filtered && stage.window == Window::PAPERS
    }

    /// The longest chain of roundings behind a sum: `d` of the [reduction bound](crate::guide::numerics#named-bounds).
    /// A filtered window counts as four, where three additions take three.
    pub fn longest_chain(&self) -> u64 {
        let each = |s: &Stage| {
            let most = |window: u32, source: u32, target: u32| {
                u64::from(if s.spread { source.div_ceil(target.max(1)) } else { window })
            };
            let texels = most(s.window.width, s.source.width, s.target.width)
                * most(s.window.height, s.source.height, s.target.height);
            texels - u64::from(!self.is_filtered(s))
        };
        self.stages.iter().map(each).fold(2, u64::saturating_add)
    }

    /// What the reduction comes to, of `inputs` operands: 1 for a sum, 2 for a dot product.
    /// [`norm2`](super::super::norm2) does that for a sum twice.
    ///
    /// ```
    /// use texla::{Extent, ops::{ReducePlan, Window}};
    /// let plan = ReducePlan::new(Extent::new(5, 3), Window::PAPERS); // to 3x2, 2x1, 1x1
    /// let dot = plan.workload(2);
    /// assert_eq!((dot.draws, dot.written_texels[0]), (3.0, 6.0 + 2.0 + 1.0));
    /// assert_eq!(dot.fetches.adjacent, 2.0 * 15.0 + 6.0 + 2.0);
    /// ```
    pub fn workload(&self, inputs: usize) -> Workload {
        self.stages_from(&self.stages, inputs)
    }

    /// The same without the last stage, or of the only one: what is left to whoever combines the last window.
    pub(crate) fn workload_to_a_window(&self, inputs: usize) -> Workload {
        let before = self.stages.len().saturating_sub(1).max(1);
        self.stages_from(self.stages.get(..before).unwrap_or(&self.stages), inputs)
    }

    fn stages_from(&self, stages: &[Stage], inputs: usize) -> Workload {
        let of = |(k, stage): (usize, &Stage)| {
            let read = if k == 0 { inputs } else { 1 } as f64;
            let texels = stage.source.area() as f64;
            let fetched = if self.is_filtered(stage) { stage.target.area() as f64 } else { texels };
            let fetches = Fetches::default();
            let fetches = match stage.is_known() {
                true => fetches.with_adjacent(read * fetched),
                // A round of the loop for each texel, whatever it reads there.
                false => fetches.with_looped(fetched).with_adjacent((read - 1.0) * fetched),
            };
            Workload::pass(stage.target, 1, fetches).with_multiply_adds(4.0 * read * texels)
        };
        stages.iter().enumerate().map(of).sum()
    }
}
