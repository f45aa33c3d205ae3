//! Expressions from stencils on grids.

use crate::error::{Error, Result, check_finite};
use crate::host::Triplets;
use crate::pack::LinearExpression;
use crate::shape::{Grid, Shape};

/// What happens at a side of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[doc(alias = "Boundary")]
pub enum StencilBoundary {
    /// Neighbours outside are zero: their taps are dropped. Dirichlet, with the boundary just outside the grid.
    #[default]
    Dropped,
    /// The nodes on this side are held at zero: their rows are empty, their b trivial. Dirichlet, on the grid.
    Fixed,
    /// A neighbour outside has the value of the nearest node on the grid: its tap is added to that node's. Neumann.
    Copied,
    /// A neighbour outside has this number times the value of the nearest node on the grid. With -1 the mean of both is zero:
    /// Dirichlet, half a cell outside of the last nodes. 0 is `Dropped`, 1 `Copied`.
    Scaled(f64),
    /// The grid comes round from the other end. Both sides of an axis must say so.
    Periodic,
}

impl LinearExpression {
    /// y = A x + b on a grid, each row of A the same stencil: `taps` are the offsets (dx, dy, dz) of the neighbours with
    /// their coefficients, `sides` the treatment of the low and the high end of each axis. b is non-trivial everywhere but
    /// on nodes held at zero, if `with_b`.
    ///
    /// Unknowns are in natural order, see [`Grid`]. Taps with the coefficient 0 are dropped.
    ///
    /// *Errors*: as [`new`](Self::new); [`Error::NonFinite`] for a side's factor; [`Error::Parameter`] if one side of an axis is periodic and the other is not, or if an
    /// offset is longer than the grid.
    ///
    /// ```
    /// use texla::{Grid, pack::{StencilBoundary, LinearExpression}};
    /// let taps = [([-1, 0, 0], 1.0), ([0, 0, 0], -2.0), ([1, 0, 0], 1.0)];
    /// let free = [StencilBoundary::Copied; 2];
    /// let e = LinearExpression::stencil(Grid::new_2d(4, 1), &taps, [free, free, free], false)?;
    /// assert_eq!(e.evaluate(&[1.0, 2.0, 4.0, 8.0], &[0.0; 4])?, [1.0, 1.0, 2.0, -4.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn stencil(
        grid: Grid,
        taps: &[([i32; 3], f64)],
        sides: [[StencilBoundary; 2]; 3],
        with_b: bool,
    ) -> Result<Self> {
        let op = "LinearExpression::stencil";
        check_sides(op, &sides)?;
        check_offsets(op, grid, taps.iter().map(|(offset, _)| *offset))?;
        let n = grid.len();
        let mut a = Triplets::with_capacity(Shape::new(n, n), n.saturating_mul(taps.len()));
        let mut nontrivial = vec![with_b; n];
        for i in 0..n {
            let (x, y, z) = grid.place(i);
            let cell = [x, y, z];
            if is_fixed(grid, sides, cell) {
                nontrivial.get_mut(i).map(|b| *b = false).unwrap_or_default();
                continue;
            }
            for &(offset, weight) in taps {
                if let Some(([x, y, z], factor)) = neighbour(grid, sides, cell, offset) {
                    a.push(i, grid.index(x, y, z), factor * weight)?;
                }
            }
        }
        Self::new(&a, &nontrivial)
    }
}

/// Refuses an axis that is periodic at one end alone, and factors that are no 32-bit floats.
pub(super) fn check_sides(op: &'static str, sides: &[[StencilBoundary; 2]]) -> Result<()> {
    for (axis, side) in sides.iter().enumerate() {
        let periodic = side.map(|s| s == StencilBoundary::Periodic);
        if periodic == [true, false] || periodic == [false, true] {
            let value = format!("{side:?} along axis {axis}");
            let expected = "both sides of an axis periodic, or neither";
            return Err(Error::Parameter { op, name: "sides", value, expected });
        }
    }
    let factors = sides.iter().flatten().filter_map(|side| match side {
        StencilBoundary::Scaled(factor) => Some(*factor),
        _ => None,
    });
    check_finite(op, factors)
}

/// Refuses an offset that leads further than the grid is long.
pub(super) fn check_offsets(
    op: &'static str,
    grid: Grid,
    offsets: impl IntoIterator<Item = [i32; 3]>,
) -> Result<()> {
    let too_long =
        |offset: &[i32; 3]| offset.iter().zip(grid.sides()).any(|(o, n)| o.unsigned_abs() as usize > n);
    if let Some(offset) = offsets.into_iter().find(too_long) {
        let (name, value) = ("offset", format!("{offset:?} on a {grid}"));
        return Err(Error::Parameter { op, name, value, expected: "offsets no longer than the grid" });
    }
    Ok(())
}

/// Whether a cell is held at zero.
pub(super) fn is_fixed(grid: Grid, sides: [[StencilBoundary; 2]; 3], cell: [usize; 3]) -> bool {
    let along = |((at, n), [low, high]): ((usize, usize), [StencilBoundary; 2])| {
        (at == 0 && low == StencilBoundary::Fixed) || (at + 1 == n && high == StencilBoundary::Fixed)
    };
    cell.into_iter().zip(grid.sides()).zip(sides).any(along)
}

/// Where the neighbour's value stands, and what it is multiplied by; none if its tap is dropped.
pub(super) fn neighbour(
    grid: Grid,
    sides: [[StencilBoundary; 2]; 3],
    cell: [usize; 3],
    offset: [i32; 3],
) -> Option<([usize; 3], f64)> {
    let (mut at, mut factor) = (cell, 1.0);
    for (((at, o), n), [low, high]) in at.iter_mut().zip(offset).zip(grid.sides()).zip(sides) {
        let (n, to) = (n as i64, *at as i64 + i64::from(o));
        let side = if to < 0 { low } else { high };
        let inside = match side {
            _ if (0..n).contains(&to) => to,
            StencilBoundary::Dropped | StencilBoundary::Fixed => return None,
            StencilBoundary::Copied => to.clamp(0, n - 1),
            StencilBoundary::Scaled(side) => {
                factor *= side;
                to.clamp(0, n - 1)
            }
            StencilBoundary::Periodic => to.rem_euclid(n),
        };
        *at = inside as usize;
    }
    Some((at, factor))
}
