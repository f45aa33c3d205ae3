//! Where the columns of a stack lie: tiles of one size, each a folded vector, side by side in few textures.

use std::ops::Range;

use super::fold::count;
use super::{Extent, Shape, fold_extent};
use crate::error::{Error, Result};

/// Most elements of a dense matrix: shaders count them with signed 32-bit integers.
const MOST_ELEMENTS: u64 = i32::MAX as u64;

/// Most texels that are put in one texture: a draw over all of them stays short of what display watchdogs allow on the
/// slowest device measured, and 64 MiB are found where 4 GiB are not.
const MOST_TEXELS: u64 = 1 << 22;

/// Ways to put the tiles of a unit, most columns first: tiles side by side, tiles one below the other.
const UNITS: [[u32; 2]; 6] = [[4, 1], [2, 2], [1, 4], [2, 1], [1, 2], [1, 1]];

/// A matrix cut into columns, each of which is a tile: a vector as \[Krueger05\] 44.2.2 folds it. Four tiles make a unit,
/// the columns that meet one texel of a vector; units lie side by side, a power of two of them in each row.
///
/// Where a texture has no room for four tiles, units are of two columns or one, and every texture holds one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackGrid {
    shape: Shape,
    /// Of a column, in texels; at least 1x1.
    pub tile: Extent,
    /// Tiles of a unit: side by side, one below the other.
    unit: [u32; 2],
    /// Units side by side.
    pub across: u32,
    /// Units in each texture but the last.
    per_texture: usize,
}

/// The part of a stack that one texture holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StackPart {
    /// Columns of the matrix.
    pub columns: Range<usize>,
    /// The quad of columns, or texel of a vector, that the first unit meets.
    pub first_quad: usize,
    /// Units.
    pub units: usize,
    /// The column within its quad that the part begins with: not 0 only for units of fewer than four columns.
    pub first_lane: usize,
}

impl StackGrid {
    /// The stack of a matrix of `shape` where textures have sides up to `limit`.
    pub fn new(shape: Shape, limit: u32) -> Result<Self> {
        Self::within(shape, limit, MOST_TEXELS)
    }

    fn within(shape: Shape, limit: u32, most: u64) -> Result<Self> {
        let what = "a stack of columns";
        let elements = count(shape).unwrap_or(u64::MAX);
        if elements > MOST_ELEMENTS {
            return Err(Error::TooLarge {
                what,
                requested: elements,
                limit: MOST_ELEMENTS,
                unit: "elements",
            });
        }
        let tile = fold_extent(shape.rows as u64, limit)?;
        let tile = Extent::new(tile.width.max(1), tile.height.max(1));
        let fits = |[w, h]: &[u32; 2]| tile.width * w <= limit && tile.height * h <= limit;
        let unit = UNITS.into_iter().find(fits).unwrap_or([1, 1]);
        let columns = (unit[0] * unit[1]) as usize;
        let units = shape.cols.div_ceil(columns).max(1);
        let size = Extent::new(tile.width * unit[0], tile.height * unit[1]);
        // A power of two, so that shaders find a unit by shift and mask.
        let widest = prev_power_of_two(limit / size.width);
        let room = u64::from(widest) * u64::from(limit / size.height);
        let room = if columns < 4 { 1 } else { room.min(most / size.area()).max(1) };
        let per_texture = usize::try_from(room).unwrap_or(usize::MAX).min(units);
        // Nearly square in texels.
        let side = (per_texture as u64 * size.area()).isqrt();
        let wanted = u32::try_from(side.div_ceil(u64::from(size.width))).unwrap_or(u32::MAX);
        let across = wanted.max(1).checked_next_power_of_two().unwrap_or(widest).min(widest).max(1);
        Ok(StackGrid { shape, tile, unit, across, per_texture })
    }

    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Tiles of a unit side by side, and one below the other.
    pub fn unit_tiles(&self) -> [usize; 2] {
        self.unit.map(|n| n as usize)
    }

    /// Columns of a unit: 4, 2 or 1.
    pub fn unit_columns(&self) -> usize {
        (self.unit[0] * self.unit[1]) as usize
    }

    /// Texels of a unit in both directions.
    pub fn unit_extent(&self) -> Extent {
        Extent::new(self.tile.width * self.unit[0], self.tile.height * self.unit[1])
    }

    /// Number of textures: 1 or more.
    pub fn textures(&self) -> usize {
        let per_texture = self.per_texture * self.unit_columns();
        self.shape.cols.div_ceil(per_texture).max(1)
    }

    /// What texture `k` holds.
    pub fn part(&self, k: usize) -> StackPart {
        let (columns, per_texture) = (self.unit_columns(), self.per_texture * self.unit_columns());
        let begin = (k * per_texture).min(self.shape.cols);
        let end = (begin + per_texture).min(self.shape.cols);
        StackPart {
            columns: begin..end,
            first_quad: begin / 4,
            units: (end - begin).div_ceil(columns),
            first_lane: begin % 4,
        }
    }

    /// All parts in the order of their textures.
    pub fn parts(&self) -> impl Iterator<Item = StackPart> + '_ {
        (0..self.textures()).map(|k| self.part(k))
    }

    /// The extent of a part's texture.
    pub fn extent(&self, part: &StackPart) -> Extent {
        let unit = self.unit_extent();
        let units = u32::try_from(part.units.max(1)).unwrap_or(u32::MAX);
        Extent::new(unit.width * self.across.min(units), unit.height * units.div_ceil(self.across))
    }

    /// Where tile `k` of a unit begins within it, in texels.
    pub fn lane(&self, k: usize) -> [u32; 2] {
        let k = k as u32;
        [k % self.unit[0] * self.tile.width, k / self.unit[0] * self.tile.height]
    }

    /// The texture of a column and the texel where its tile begins.
    pub fn place(&self, column: usize) -> (usize, [u32; 2]) {
        let (columns, per_texture) = (self.unit_columns(), self.per_texture * self.unit_columns());
        let inside = column % per_texture;
        let (unit, [x, y]) = ((inside / columns) as u32, self.lane(inside % columns));
        let size = self.unit_extent();
        (column / per_texture, [unit % self.across * size.width + x, unit / self.across * size.height + y])
    }
}

/// The largest power of two that is at most `n`; 1 for 0.
fn prev_power_of_two(n: u32) -> u32 {
    n.checked_ilog2().map_or(1, |e| 1 << e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every column has a tile of its own, inside its texture, and parts follow one another.
    fn check(shape: Shape, limit: u32, most: u64) -> StackGrid {
        let grid = StackGrid::within(shape, limit, most).unwrap();
        let mut taken = HashSet::new();
        let mut next = 0;
        for (k, part) in grid.parts().enumerate() {
            let extent = grid.extent(&part);
            assert!(extent.width <= limit && extent.height <= limit, "{shape} {limit}: {extent}");
            assert_eq!(part.columns.start, next, "{shape} {limit}");
            assert!(part.first_lane == 0 || part.units == 1, "{shape} {limit}");
            assert_eq!(4 * part.first_quad + part.first_lane, part.columns.start, "{shape} {limit}");
            next = part.columns.end;
            for j in part.columns {
                let (texture, [x, y]) = grid.place(j);
                assert_eq!(texture, k, "{shape} {limit}: column {j}");
                assert!(x + grid.tile.width <= extent.width && y + grid.tile.height <= extent.height);
                assert!(x % grid.tile.width == 0 && y % grid.tile.height == 0);
                assert!(taken.insert((k, x, y)), "{shape} {limit}: column {j} has another's place");
            }
        }
        assert_eq!(next, shape.cols, "{shape} {limit}");
        grid
    }

    #[test]
    fn columns_have_places_of_their_own() {
        let sides = [0, 1, 2, 3, 4, 5, 9, 16, 17, 50, 64, 97, 300];
        for limit in [4, 5, 16, 64, 100, 16_384] {
            for rows in sides.into_iter().filter(|r| fold_extent(*r as u64, limit).is_ok()) {
                for cols in sides {
                    check(Shape::new(rows, cols), limit, MOST_TEXELS);
                    check(Shape::new(rows, cols), limit, 300);
                }
            }
        }
    }

    #[test]
    fn one_texture_while_it_fits() {
        let grid = check(Shape::new(1000, 1000), 16_384, MOST_TEXELS);
        assert_eq!((grid.textures(), grid.tile, grid.unit_columns()), (1, Extent::new(16, 16), 4));
        // 250 units of 64 x 16 texels: nearly square.
        assert_eq!(grid.extent(&grid.part(0)), Extent::new(512, 512));
        assert_eq!(check(Shape::new(4096, 4096), 16_384, MOST_TEXELS).textures(), 1);
        assert_eq!(check(Shape::new(4096, 4100), 16_384, MOST_TEXELS).textures(), 2);
    }

    #[test]
    fn long_columns_share_a_texture_as_long_as_two_fit() {
        // 64 x 64 texels and three columns: one each.
        let grid = check(Shape::new(16_384, 3), 64, MOST_TEXELS);
        assert_eq!((grid.unit_columns(), grid.textures()), (1, 3));
        // 64 x 32: two.
        let grid = check(Shape::new(8_192, 7), 64, MOST_TEXELS);
        assert_eq!((grid.unit_columns(), grid.textures()), (2, 4));
        assert!(StackGrid::new(Shape::new(16_385, 1), 64).is_err());
        assert!(StackGrid::new(Shape::new(1 << 16, 1 << 16), 16_384).is_err());
    }
}
