//! Sizes of matrices and of the textures that hold them.

mod fold;
mod grid;
pub mod layout;
mod stack;
mod texels;
mod tiles;

pub use fold::{fold_extent, max_folded_len};
pub use grid::Grid;
pub use layout::{Layout, Place};
pub(crate) use stack::{StackGrid, StackPart};
pub use tiles::TileGrid;

use std::fmt;

/// Rows and columns of a matrix; a column vector of length `n` is `n x 1`.
///
/// ```
/// use texla::Shape;
/// let s = Shape::new(3, 2);
/// assert_eq!((s.rows, s.cols, s.len()), (3, 2, 6));
/// assert_eq!(s.to_string(), "3x2");
/// assert_eq!(s.transposed(), Shape::new(2, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Shape {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
}

impl Shape {
    /// A shape of `rows` by `cols`; either may be zero.
    pub const fn new(rows: usize, cols: usize) -> Self {
        Self { rows, cols }
    }

    /// The shape of a column vector with `n` elements.
    pub const fn column(n: usize) -> Self {
        Self { rows: n, cols: 1 }
    }

    /// Number of elements, saturating at `usize::MAX`.
    pub const fn len(self) -> usize {
        self.rows.saturating_mul(self.cols)
    }

    /// True if there is no element.
    pub const fn is_empty(self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    /// Rows and columns exchanged.
    pub const fn transposed(self) -> Self {
        Self { rows: self.cols, cols: self.rows }
    }

    /// True if rows and columns are equal in number.
    pub const fn is_square(self) -> bool {
        self.rows == self.cols
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.cols)
    }
}

/// Width and height of a texture or of a region of one, in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Extent {
    /// Texels per row.
    pub width: u32,
    /// Rows of texels.
    pub height: u32,
}

impl Extent {
    /// An extent of `width` by `height` texels.
    pub const fn new(width: u32, height: u32) -> Self {
        Self { width, height }
    }

    /// Number of texels.
    pub const fn area(self) -> u64 {
        self.width as u64 * self.height as u64
    }

    /// The texels that a driver sets aside: textures are laid out in blocks, of 4x4 texels in Mesa's software rasterisers
    /// and of no fewer on most devices. A texture of one row takes four.
    #[cfg(feature = "script")]
    pub(crate) const fn in_blocks(self) -> Self {
        Self { width: self.width.saturating_add(3) & !3, height: self.height.saturating_add(3) & !3 }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{} texels", self.width, self.height)
    }
}
