//! Regular grids of unknowns.

use std::fmt;

use super::Shape;

/// A regular grid of `nx` by `ny` by `nz` cells in natural order: cell (x, y, z) is element `x + nx (y + ny z)` of a
/// folded vector. So the slices of a three-dimensional grid follow one another in a two-dimensional texture.
///
/// ```
/// use texla::Grid;
/// let g = Grid::new_2d(5, 3);
/// assert_eq!((g.len(), g.index(4, 2, 0), g.place(14)), (15, 14, (4, 2, 0)));
/// assert_eq!(Grid::new_3d(2, 3, 4).index(1, 2, 3), 23);
/// assert_eq!(g.to_string(), "5x3 grid");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Grid {
    /// Cells along x, the direction in which elements follow one another.
    pub nx: usize,
    /// Cells along y.
    pub ny: usize,
    /// Cells along z; 1 for a two-dimensional grid.
    pub nz: usize,
}

impl Grid {
    /// A two-dimensional grid.
    pub const fn new_2d(nx: usize, ny: usize) -> Self {
        Grid { nx, ny, nz: 1 }
    }

    /// A three-dimensional grid.
    pub const fn new_3d(nx: usize, ny: usize, nz: usize) -> Self {
        Grid { nx, ny, nz }
    }

    /// Number of cells, saturating at `usize::MAX`.
    pub const fn len(self) -> usize {
        self.nx.saturating_mul(self.ny).saturating_mul(self.nz)
    }

    /// True if there is no cell.
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Cells along each axis.
    pub const fn sides(self) -> [usize; 3] {
        [self.nx, self.ny, self.nz]
    }

    /// How far apart in natural order neighbours along each axis are.
    pub const fn strides(self) -> [usize; 3] {
        [1, self.nx, self.nx.saturating_mul(self.ny)]
    }

    /// The element that cell (x, y, z) is. Not checked: a cell outside has no element.
    pub const fn index(self, x: usize, y: usize, z: usize) -> usize {
        x + self.nx * (y + self.ny * z)
    }

    /// The cell that an element is; (0, 0, 0) in an empty grid.
    pub const fn place(self, index: usize) -> (usize, usize, usize) {
        if self.is_empty() {
            return (0, 0, 0);
        }
        let row = index / self.nx;
        (index % self.nx, row % self.ny, row / self.ny)
    }

    /// The shape of an operator from fields on this grid to fields on it.
    pub const fn operator(self) -> Shape {
        Shape::new(self.len(), self.len())
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nz {
            1 => write!(f, "{}x{} grid", self.nx, self.ny),
            _ => write!(f, "{}x{}x{} grid", self.nx, self.ny, self.nz),
        }
    }
}
