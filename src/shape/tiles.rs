//! Cutting a matrix that exceeds the texture size into tiles.

use std::ops::Range;

use super::{Extent, Layout, Shape};
use crate::error::{Error, Result};

/// Most elements of a dense matrix: shaders count them with signed 32-bit integers.
const MOST_ELEMENTS: u64 = i32::MAX as u64;

/// The tiles of a dense matrix in 4x1 columns ([`Layout::Column4`]): as few as the largest texture side allows.
///
/// Every tile but those at the lower and right edge has `4 s` rows and `s` columns, where `s` is the largest multiple of
/// four within the limit. Boundaries between tiles are therefore multiples of four in both directions, so that four
/// elements of a texel, or four columns that meet such a texel in a product, never lie in two tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    shape: Shape,
    side: usize,
}

impl TileGrid {
    /// The tiles of a matrix of `shape` where textures have sides up to `limit`.
    ///
    /// ```
    /// use texla::{Extent, Shape, shape::TileGrid};
    /// let grid = TileGrid::new(Shape::new(300, 100), 66)?; // tiles of 256 x 64
    /// assert_eq!((grid.down(), grid.across(), grid.len()), (2, 2, 4));
    /// assert_eq!((grid.rows(1), grid.cols(1)), (256..300, 64..100));
    /// assert_eq!(grid.tile_shape(1, 0), Shape::new(44, 64));
    /// assert_eq!(grid.extent(1, 0), Extent::new(64, 11));
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] from 2³¹ elements on, or when `limit` is below 4.
    pub fn new(shape: Shape, limit: u32) -> Result<Self> {
        let what = "a dense matrix";
        let elements = super::fold::count(shape).unwrap_or(u64::MAX);
        if elements > MOST_ELEMENTS {
            let (requested, limit) = (elements, MOST_ELEMENTS);
            return Err(Error::TooLarge { what, requested, limit, unit: "elements" });
        }
        if limit < 4 {
            return Err(Error::TooLarge { what, requested: 4, limit: limit.into(), unit: "texels a side" });
        }
        Ok(TileGrid { shape, side: (limit - limit % 4) as usize })
    }

    /// The matrix's shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Rows of a tile that is not cut off.
    pub fn tile_rows(&self) -> usize {
        4 * self.side
    }

    /// Columns of a tile that is not cut off.
    pub fn tile_cols(&self) -> usize {
        self.side
    }

    /// Tiles one below the other; one where there are no elements, all padding.
    pub fn down(&self) -> usize {
        if self.shape.is_empty() { 1 } else { self.shape.rows.div_ceil(self.tile_rows()) }
    }

    /// Tiles side by side; one where there are no elements.
    pub fn across(&self) -> usize {
        if self.shape.is_empty() { 1 } else { self.shape.cols.div_ceil(self.tile_cols()) }
    }

    /// Number of tiles: 1 or more.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.down() * self.across()
    }

    /// The matrix's rows in the tiles of row `i` of the grid.
    pub fn rows(&self, i: usize) -> Range<usize> {
        cut(i, self.tile_rows(), self.shape.rows)
    }

    /// The matrix's columns in the tiles of column `j` of the grid.
    pub fn cols(&self, j: usize) -> Range<usize> {
        cut(j, self.tile_cols(), self.shape.cols)
    }

    /// Rows and columns of tile (`i`, `j`).
    pub fn tile_shape(&self, i: usize, j: usize) -> Shape {
        if self.shape.is_empty() {
            return self.shape;
        }
        Shape::new(self.rows(i).len(), self.cols(j).len())
    }

    /// Texels of tile (`i`, `j`); at least one.
    pub fn extent(&self, i: usize, j: usize) -> Extent {
        let shape = self.tile_shape(i, j);
        if shape.is_empty() {
            return Extent::new(1, 1);
        }
        // Neither exceeds the limit, which is 32 bits.
        Extent::new(shape.cols as u32, shape.rows.div_ceil(4) as u32)
    }

    /// Grid positions row by row, in the order in which a matrix keeps its tiles.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let across = self.across();
        (0..self.len()).map(move |k| (k / across, k % across))
    }

    /// The layout of every tile.
    pub const LAYOUT: Layout = Layout::Column4;
}

/// Part `k` of `0..end` cut into parts of `length`.
fn cut(k: usize, length: usize, end: usize) -> Range<usize> {
    let begin = k.saturating_mul(length).min(end);
    begin..begin.saturating_add(length).min(end)
}
