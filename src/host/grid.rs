//! The grid that a matrix stands for, found in its entries.

use crate::host::Csr;
use crate::host::parallel::Threads;
use crate::shape::Grid;

/// Least cells along an axis.
const LEAST: usize = 5;

/// By how much coefficients may differ from those of the cell in the middle: a preconditioner made of these gains little less then.
const VARIES: f64 = 0.25;

/// Rows that are worth a thread.
const ROWS: usize = 4096;

/// An operator of nearly constant coefficients on a grid: `(A u)_i = shift u_i + Σ_axes weight Σ_{two neighbours j} (u_i - u_j)`, where a
/// side of the grid takes the place of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FoundGrid {
    /// In natural order: along the first, numbers of cells follow each other.
    pub axes: [FoundAxis; 3],
    pub shift: f64,
}

/// An axis of a [`FoundGrid`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FoundAxis {
    /// Cells.
    pub count: usize,
    /// Distance of neighbours.
    stride: usize,
    /// 0 for an axis of one cell.
    pub weight: f64,
    /// What the cells at either end hold for that side, in units of the weight: 0 where nothing flows, 1 for a value of zero at the next
    /// cell.
    pub shares: [f64; 2],
}

impl FoundAxis {
    fn cell(&self, i: usize) -> usize {
        i / self.stride % self.count
    }

    /// Whether a cell is the first, and the last.
    fn ends(&self, i: usize) -> [bool; 2] {
        let cell = self.cell(i);
        [cell == 0, cell + 1 == self.count]
    }
}

impl Csr {
    /// The grid that the matrix stands for, found in its entries: of a symmetric one of five or seven diagonals in the natural order of
    /// cells, five at least along an axis. No entry lies over an edge, all neighbours have entries, which are below zero and differ by
    /// a quarter at most along an axis, and rows sum to what one shift, and sides without flux or with given values, make of
    /// them. `None` for any other matrix. That it is symmetric is not looked at.
    ///
    /// *Cost*: the entries are looked at twice.
    ///
    /// ```
    /// use texla::{Grid, host::problems};
    /// assert_eq!(problems::poisson_2d(30, 20).to_csr().grid(), Some(Grid::new_2d(30, 20)));
    /// assert_eq!(problems::poisson_1d(30).to_csr().grid(), None);
    /// ```
    pub fn grid(&self) -> Option<Grid> {
        FoundGrid::new(self).map(|found| found.grid())
    }
}

impl FoundGrid {
    /// What [`Csr::grid`] finds.
    pub(crate) fn new(a: &Csr) -> Option<FoundGrid> {
        *a.known.grid.get_or_init(|| Self::found(a))
    }

    fn found(a: &Csr) -> Option<FoundGrid> {
        let [nx, ny, nz] = extents(a)?;
        let strides = [1, nx, nx * ny];
        let middle: usize = [nx, ny, nz].iter().zip(strides).map(|(count, stride)| count / 2 * stride).sum();
        let size: f64 = a.row(middle).map(|(_, v)| v.abs()).sum();
        let sum = |i: usize| {
            let sum: f64 = a.row(i).map(|(_, v)| v).sum();
            if sum.abs() <= 1e-6 * size { 0.0 } else { sum }
        };
        let shift = sum(middle);
        let axis = |(count, stride): (usize, usize)| {
            if count == 1 {
                return Some(FoundAxis { count, stride, weight: 0.0, shares: [0.0; 2] });
            }
            let weight = a.row(middle).find(|(j, _)| *j == middle + stride).map(|(_, v)| -v)?;
            let first = middle - count / 2 * stride;
            let shares = [first, first + (count - 1) * stride].map(|end| (sum(end) - shift) / weight);
            let is_side = |share: &f64| *share == 0.0 || (0.1..=20.0).contains(share);
            (weight > 0.0 && shares.iter().all(is_side)).then_some(FoundAxis {
                count,
                stride,
                weight,
                shares,
            })
        };
        let [x, y, z] = [(nx, 1), (ny, nx), (nz, nx * ny)].map(axis);
        let found = FoundGrid { axes: [x?, y?, z?], shift };
        let parts =
            Threads::all().parts(a.shape().rows, ROWS, |mut part| part.all(|i| found.fits(a, i, size)));
        (shift >= 0.0 && parts.into_iter().all(|fits| fits)).then_some(found)
    }

    /// The cells.
    pub fn grid(&self) -> Grid {
        let [nx, ny, nz] = self.axes.map(|axis| axis.count);
        Grid::new_3d(nx, ny, nz)
    }

    /// Whether a row is nearly that of a cell.
    fn fits(&self, a: &Csr, i: usize, size: f64) -> bool {
        let ends = self.axes.map(|axis| axis.ends(i));
        let axes = || self.axes.iter().zip(ends).filter(|(axis, _)| axis.count > 1);
        let (mut wanted, mut neighbours) = (self.shift, 0);
        for (axis, ends) in axes() {
            for (is_end, share) in ends.into_iter().zip(axis.shares) {
                wanted += if is_end { axis.weight * share } else { 0.0 };
                neighbours += usize::from(!is_end);
            }
        }
        let (mut sum, mut found) = (0.0, 0);
        for (j, value) in a.row(i) {
            sum += value;
            if i == j {
                continue;
            }
            let of = axes().find(|(axis, _)| axis.stride == i.abs_diff(j));
            let Some((axis, [is_first, is_last])) = of else { return false };
            // Over an edge there is no neighbour.
            let is_outside = if j > i { is_last } else { is_first };
            if is_outside || (value + axis.weight).abs() > VARIES * axis.weight {
                return false;
            }
            found += 1;
        }
        found == neighbours && (sum - wanted).abs() <= VARIES * wanted.abs() + 1e-6 * size
    }
}

/// Cells along each axis, by the offsets of the diagonals.
fn extents(a: &Csr) -> Option<[usize; 3]> {
    let n = a.shape().rows;
    let diagonals = a.diagonals(7)?;
    let above: Vec<usize> = diagonals
        .iter()
        .filter_map(|d| usize::try_from(d.offset).ok())
        .filter(|offset| *offset > 0)
        .collect();
    if !a.shape().is_square() || diagonals.len() != 2 * above.len() + 1 {
        return None;
    }
    let counts = match above[..] {
        [1, nx] if n.is_multiple_of(nx) => [nx, n / nx, 1],
        [1, nx, plane] if plane.is_multiple_of(nx) && n.is_multiple_of(plane) => [nx, plane / nx, n / plane],
        _ => return None,
    };
    counts.iter().all(|count| *count == 1 || *count >= LEAST).then_some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Triplets, problems};
    use crate::shape::Shape;

    /// Cells of an operator with these weights and shares.
    fn operator(counts: [usize; 3], weights: [f64; 3], shares: [[f64; 2]; 3], shift: f64) -> Csr {
        let [nx, ny, nz] = counts;
        let mut all = Vec::new();
        for i in 0..nx * ny * nz {
            let mut diagonal = shift;
            for (axis, stride) in [1, nx, nx * ny].into_iter().enumerate() {
                if counts[axis] == 1 {
                    continue;
                }
                let cell = i / stride % counts[axis];
                for (end, j, share) in [
                    (0, i.wrapping_sub(stride), shares[axis][0]),
                    (counts[axis] - 1, i + stride, shares[axis][1]),
                ] {
                    if cell == end {
                        diagonal += weights[axis] * share;
                    } else {
                        diagonal += weights[axis];
                        all.push((i, j, -weights[axis]));
                    }
                }
            }
            all.push((i, i, diagonal));
        }
        let n = nx * ny * nz;
        Triplets::from_entries(Shape::new(n, n), all).unwrap().to_csr()
    }

    #[test]
    fn operators_on_grids_are_found_as_they_were_made() {
        let five = FoundGrid::new(&problems::poisson_2d(9, 6).to_csr()).unwrap();
        assert_eq!(five.grid(), Grid::new_2d(9, 6));
        assert_eq!(five, FoundGrid::new(&operator([9, 6, 1], [1.0, 1.0, 0.0], [[1.0; 2]; 3], 0.0)).unwrap());
        let shares = [[1.0, 0.0], [2.0, 1.0], [0.0, 0.5]];
        let seven = FoundGrid::new(&operator([5, 7, 6], [1.0, 0.25, 3.0], shares, 0.125)).unwrap();
        assert_eq!(seven.grid(), Grid::new_3d(5, 7, 6));
        assert_eq!(seven.axes.map(|axis| (axis.count, axis.weight)), [(5, 1.0), (7, 0.25), (6, 3.0)]);
        assert!((seven.shift - 0.125).abs() < 1e-12);
        for (axis, shares) in seven.axes.iter().zip(shares) {
            assert!(axis.shares.iter().zip(shares).all(|(a, b)| (a - b).abs() < 1e-9), "{axis:?}");
        }
        // Nothing flows anywhere.
        let closed = FoundGrid::new(&operator([8, 5, 1], [1.0, 2.0, 0.0], [[0.0; 2]; 3], 0.0)).unwrap();
        assert_eq!(closed.axes.map(|axis| axis.shares), [[0.0; 2]; 3]);
        // Coefficients that vary by a tenth, first with rows that do not sum to what they should.
        let even = operator([12, 12, 1], [1.0, 1.0, 0.0], [[1.0; 2]; 3], 0.0);
        let part = |i: usize, j: usize| if (i + j).is_multiple_of(3) { 0.9 } else { 1.0 };
        let wavy = even.clone().map(|i, j, v| if i == j { v } else { part(i, j) * v });
        assert_eq!(wavy.grid(), None);
        let sum = |a: &Csr, i: usize| a.row(i).map(|(_, v)| v).sum::<f64>();
        let mended = wavy.clone().map(|i, j, v| if i == j { v - sum(&wavy, i) + sum(&even, i) } else { v });
        assert_eq!(mended.grid(), Some(Grid::new_2d(12, 12)));
    }

    #[test]
    fn what_is_no_grid_is_none() {
        let grid = problems::poisson_2d(9, 6).to_csr();
        let n = 54;
        let changed = |of: &(dyn Fn(usize, usize, f64) -> Option<f64> + Sync)| {
            let all: Vec<_> = grid.entries().filter_map(|(i, j, v)| Some((i, j, of(i, j, v)?))).collect();
            FoundGrid::new(&Triplets::from_entries(Shape::new(n, n), all).unwrap().to_csr())
        };
        assert!(changed(&|_, _, v| Some(v)).is_some());
        // A coupling is missing, one is far stronger or of the other sign, a row has a shift of its own.
        assert!(changed(&|i, j, v| (i.min(j) != 12 || i.abs_diff(j) != 1).then_some(v)).is_none());
        assert!(
            changed(&|i, j, v| Some(if i.min(j) == 12 && i.abs_diff(j) == 1 { 2.0 * v } else { v }))
                .is_none()
        );
        assert!(
            changed(&|i, j, v| Some(if i.min(j) == 12 && i.abs_diff(j) == 1 { -v } else { v })).is_none()
        );
        assert!(changed(&|i, j, v| Some(if i == 20 && i == j { v + 0.5 } else { v })).is_none());
        // Negative definite, too few cells, a ring, a chain.
        assert!(changed(&|_, _, v| Some(-v)).is_none());
        assert!(FoundGrid::new(&problems::poisson_2d(4, 9).to_csr()).is_none());
        assert!(FoundGrid::new(&problems::poisson_1d(40).to_csr()).is_none());
        // In the place of the cell before one over the edge.
        let turned = grid.entries().map(|(i, j, v)| if (i, j) == (8, 7) { (8, 9, v) } else { (i, j, v) });
        let turned = Triplets::from_entries(Shape::new(n, n), turned).unwrap().to_csr();
        assert_eq!(turned.grid(), None);
        let mut ring: Vec<_> = grid.entries().collect();
        ring.extend([(8, 9, -1.0), (9, 8, -1.0)]);
        assert!(FoundGrid::new(&Triplets::from_entries(Shape::new(n, n), ring).unwrap().to_csr()).is_none());
        assert!(FoundGrid::new(&Triplets::new(Shape::new(0, 0)).to_csr()).is_none());
    }
}
