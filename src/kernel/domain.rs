//! What a pass covers and how its fragments meet the target.

use super::points::Points;
use super::predicate::Mask;

/// The texels that a pass covers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Domain<'a> {
    /// Every texel of the target.
    Full,
    /// The rectangle with its lower left corner at `(x, y)`; the interior of a grid \[Goeddeke05\].
    Rect {
        /// First column.
        x: u32,
        /// First row.
        y: u32,
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// One row of texels, drawn as a line.
    Row(u32),
    /// One column of texels, drawn as a line; the boundary of a grid \[Goeddeke05\].
    Column(u32),
    /// One texel for each point, chosen by the kernel \[Krueger05\] 44.2.3, \[BeyondVector\] 28.4.3.
    Points(&'a Points),
    /// A rectangle of texels for each point, chosen by the kernel; the footprint of a circle \[BeyondVector\] 28.4-4.
    Splats(&'a Points),
}

/// How a fragment meets what the target holds.
///
/// All but `Replace` are done by blending, where the device blends 32-bit floats exactly. This is probed:
/// [`Capabilities::float_blend`](crate::gl::Capabilities::float_blend) for `Add`,
/// [`Capabilities::float_min_max`](crate::gl::Capabilities::float_min_max) for `Max` and `Min`. On other devices
///
/// - quads ([`Kernel`](crate::kernel::Kernel)) give the same results, bit for bit but for NaN and the sign of a zero: the shader reads a copy of the target.
///   That costs a draw and a pooled texture more for each target, and a texture unit for each;
/// - points and splats are blended onto a [`Picture`](crate::Picture) of bytes, and are
///   [`Error::Unsupported`](crate::Error::Unsupported) onto floats. [`ops::Histogram`](crate::ops::Histogram) counts and sums
///   by bin there, and [`SparseFormat::Gather`](crate::SparseFormat::Gather) multiplies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accum {
    /// The fragment replaces it.
    #[default]
    Replace,
    /// The sum of both, rounded once, in the order of the primitives.
    Add,
    /// The larger of both.
    Max,
    /// The smaller of both.
    Min,
}

/// Which texels of the domain take part.
#[derive(Clone, Copy, Debug, Default)]
pub enum Predicate<'a> {
    /// All of them.
    #[default]
    Always,
    /// Those for which the mask's condition holds.
    If(&'a Mask),
    /// Those for which it does not hold.
    Unless(&'a Mask),
}
