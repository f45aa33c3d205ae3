//! The maps between the elements of a matrix and the channels of texels.
//!
//! Pure arithmetic without any GL: what a shader does with its position, the host can check here.

use super::fold::{LANES, count, fold};
use super::{Extent, Shape};
use crate::error::{Error, Result};

/// How the elements of a matrix lie in a texture.
///
/// In the diagrams a number is an element's row-major position `row * cols + col`, a bracket is one texel with its
/// channels red, green, blue, alpha, and a dot is a padding lane, which always holds zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Four consecutive elements per texel, texels folded row by row: the layout of vectors.
    ///
    /// Element `k` is in channel `k % 4` of texel `t = k / 4`, which is at `(t % width, t / width)`. The width is the
    /// power of two of [`fold_extent`](super::fold_extent). After \[Krueger05\] 44.2.2, with runs of four in place of
    /// 2x2 blocks. A column of 10:
    ///
    /// ```text
    ///            x=0         x=1
    ///   y=0  [0 1 2 3]   [4 5 6 7]
    ///   y=1  [8 9 . .]   [. . . .]
    /// ```
    Folded,
    /// Four elements of one column per texel: the layout of dense matrices, \[Moravanszky03\] 2.1.
    ///
    /// Element `(i, j)` is in channel `i % 4` of texel `(j, i / 4)`. A 5x3 matrix:
    ///
    /// ```text
    ///    0  1  2                 x=0              x=1              x=2
    ///    3  4  5        y=0  [ 0  3  6  9]    [ 1  4  7 10]    [ 2  5  8 11]
    ///    6  7  8        y=1  [12  .  .  .]    [13  .  .  .]    [14  .  .  .]
    ///    9 10 11
    ///   12 13 14
    /// ```
    Column4,
    /// A block of 2x2 elements per texel, \[Krueger05\] 44.2.2.
    ///
    /// Element `(i, j)` is in channel `2 (i % 2) + j % 2` of texel `(j / 2, i / 2)`. A 3x3 matrix:
    ///
    /// ```text
    ///   0 1 2               x=0         x=1
    ///   3 4 5      y=0  [0 1 3 4]   [2 . 5 .]
    ///   6 7 8      y=1  [6 7 . .]   [8 . . .]
    /// ```
    Block2x2,
    /// One element per texel, in the red channel: the RED layout of \[Goeddeke05\].
    ///
    /// Element `(i, j)` is in channel 0 of texel `(j, i)`. A 2x3 matrix:
    ///
    /// ```text
    ///   0 1 2               x=0         x=1         x=2
    ///   3 4 5      y=0  [0 . . .]   [1 . . .]   [2 . . .]
    ///              y=1  [3 . . .]   [4 . . .]   [5 . . .]
    /// ```
    Single,
    /// Four systems side by side, one per channel: the RGBA layout of \[Goeddeke05\].
    ///
    /// Each system has `q = ceil(len / 4)` unknowns, so that size N means four systems of N/4. Element `k` belongs
    /// to system `k / q`, its channel; unknown `m = k % q` is at `(m % width, m / width)`, with the width of
    /// [`Layout::Folded`]. If 4 does not divide the length, the last systems are short. A column of 10, `q = 3`:
    ///
    /// ```text
    ///            x=0         x=1
    ///   y=0  [0 3 6 9]   [1 4 7 .]
    ///   y=1  [2 5 8 .]   [. . . .]
    /// ```
    Batch4,
}

/// One channel of one texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Place {
    /// Column of the texel.
    pub x: u32,
    /// Row of the texel.
    pub y: u32,
    /// Channel: 0 red, 1 green, 2 blue, 3 alpha.
    pub channel: u8,
}

impl Layout {
    /// The texels that a matrix of `shape` takes, where textures have sides up to `limit`.
    ///
    /// A shape without elements gives `0x0`: legal, and no texture is made for it.
    ///
    /// ```
    /// use texla::{Extent, Layout, Shape};
    /// assert_eq!(Layout::Folded.extent(Shape::column(1000), 64)?, Extent::new(16, 16));
    /// assert_eq!(Layout::Column4.extent(Shape::new(50, 9), 64)?, Extent::new(9, 13));
    /// assert_eq!(Layout::Block2x2.extent(Shape::new(50, 9), 64)?, Extent::new(5, 25));
    /// assert_eq!(Layout::Single.extent(Shape::new(50, 9), 64)?, Extent::new(9, 50));
    /// assert_eq!(Layout::Batch4.extent(Shape::column(4096), 64)?, Extent::new(32, 32));
    /// assert_eq!(Layout::Column4.extent(Shape::new(0, 9), 64)?, Extent::new(0, 0));
    /// assert!(Layout::Column4.extent(Shape::new(50, 65), 64).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooLarge`] if a side would exceed `limit`. Nothing is allocated.
    pub fn extent(self, shape: Shape, limit: u32) -> Result<Extent> {
        if shape.is_empty() {
            return Ok(Extent::default());
        }
        let what = self.noun();
        let Some((width, height)) = self.sides(shape) else {
            return fold(what, count(shape).unwrap_or(u64::MAX), limit);
        };
        match (u32::try_from(width), u32::try_from(height)) {
            (Ok(width), Ok(height)) if width.max(height) <= limit => Ok(Extent { width, height }),
            _ => {
                let requested = width.max(height);
                Err(Error::TooLarge { what, requested, limit: u64::from(limit), unit: "texels a side" })
            }
        }
    }

    /// Where element (`row`, `col`) lies; the inverse of [`Layout::element`].
    ///
    /// `extent` is normally that of [`Layout::extent`], but may be larger. `None` if the element is outside `shape`,
    /// or if `extent` cannot hold the whole shape.
    ///
    /// ```
    /// use texla::shape::Place;
    /// use texla::{Extent, Layout, Shape};
    /// let (shape, extent) = (Shape::new(5, 3), Extent::new(3, 2));
    /// assert_eq!(Layout::Column4.place(shape, extent, 3, 1), Some(Place { x: 1, y: 0, channel: 3 }));
    /// assert_eq!(Layout::Column4.place(shape, extent, 5, 0), None);
    /// ```
    pub fn place(self, shape: Shape, extent: Extent, row: usize, col: usize) -> Option<Place> {
        if row >= shape.rows || col >= shape.cols || !self.holds(shape, extent) {
            return None;
        }
        let len = count(shape)?;
        let (i, j) = (row as u64, col as u64);
        let k = i * shape.cols as u64 + j; // below len
        let q = len.div_ceil(LANES);
        let width = u64::from(extent.width);
        let folded = |t: u64, channel: u64| Some((t.checked_rem(width)?, t.checked_div(width)?, channel));
        let (x, y, channel) = match self {
            Self::Folded => folded(k / LANES, k % LANES)?,
            Self::Column4 => (j, i / 4, i % 4),
            Self::Block2x2 => (j / 2, i / 2, 2 * (i % 2) + j % 2),
            Self::Single => (j, i, 0),
            Self::Batch4 => folded(k % q, k / q)?,
        };
        Some(Place { x: x.try_into().ok()?, y: y.try_into().ok()?, channel: channel.try_into().ok()? })
    }

    /// The element (row, column) at a place; the inverse of [`Layout::place`].
    ///
    /// `None` on padding lanes, outside `extent`, and if `extent` cannot hold the whole shape.
    ///
    /// ```
    /// use texla::shape::Place;
    /// use texla::{Extent, Layout, Shape};
    /// let (shape, extent) = (Shape::new(3, 3), Extent::new(2, 2));
    /// assert_eq!(Layout::Block2x2.element(shape, extent, Place { x: 1, y: 0, channel: 2 }), Some((1, 2)));
    /// assert_eq!(Layout::Block2x2.element(shape, extent, Place { x: 1, y: 0, channel: 3 }), None);
    /// ```
    pub fn element(self, shape: Shape, extent: Extent, place: Place) -> Option<(usize, usize)> {
        let Place { x, y, channel } = place;
        let inside = x < extent.width && y < extent.height && u64::from(channel) < LANES;
        if !inside || shape.is_empty() || !self.holds(shape, extent) {
            return None;
        }
        let (len, cols) = (count(shape)?, shape.cols as u64);
        let (x, y, channel) = (u64::from(x), u64::from(y), u64::from(channel));
        let texel = y * u64::from(extent.width) + x;
        let linear = |k: Option<u64>| k.filter(|&k| k < len).map(|k| (k / cols, k % cols));
        let (i, j) = match self {
            Self::Folded => linear(texel.checked_mul(LANES).map(|k| k + channel))?,
            Self::Column4 => (4 * y + channel, x),
            Self::Block2x2 => (2 * y + channel / 2, 2 * x + channel % 2),
            Self::Single if channel == 0 => (y, x),
            Self::Single => return None,
            Self::Batch4 => {
                let q = len.div_ceil(LANES);
                linear((texel < q).then(|| channel * q + texel))?
            }
        };
        let (row, col) = (usize::try_from(i).ok()?, usize::try_from(j).ok()?);
        (row < shape.rows && col < shape.cols).then_some((row, col))
    }

    /// True if every element of `shape` has its place within `extent`.
    ///
    /// ```
    /// use texla::{Extent, Layout, Shape};
    /// assert!(Layout::Column4.holds(Shape::new(5, 3), Extent::new(3, 2)));
    /// assert!(!Layout::Column4.holds(Shape::new(5, 3), Extent::new(2, 3)));
    /// assert!(Layout::Folded.holds(Shape::column(24), Extent::new(2, 3)));
    /// ```
    pub fn holds(self, shape: Shape, extent: Extent) -> bool {
        if shape.is_empty() {
            return true;
        }
        match self.sides(shape) {
            Some((width, height)) => width <= u64::from(extent.width) && height <= u64::from(extent.height),
            None => count(shape).is_some_and(|len| len.div_ceil(LANES) <= extent.area()),
        }
    }

    /// Width and height in texels that the shape itself prescribes; `None` for the folded layouts.
    fn sides(self, shape: Shape) -> Option<(u64, u64)> {
        let (rows, cols) = (shape.rows as u64, shape.cols as u64);
        match self {
            Self::Folded | Self::Batch4 => None,
            Self::Column4 => Some((cols, rows.div_ceil(4))),
            Self::Block2x2 => Some((cols.div_ceil(2), rows.div_ceil(2))),
            Self::Single => Some((cols, rows)),
        }
    }

    /// What the error message calls a texture of this layout.
    fn noun(self) -> &'static str {
        match self {
            Self::Folded => "a folded vector",
            Self::Column4 => "a matrix in 4x1 columns",
            Self::Block2x2 => "a matrix in 2x2 blocks",
            Self::Single => "a matrix of single elements",
            Self::Batch4 => "a batch of four systems",
        }
    }
}
