//! Nine-banded matrices of bilinear finite elements on quadrilaterals \[Goeddeke05\].

use crate::error::{Error, Result, check_finite};
use crate::host::{Triplets, number};
use crate::shape::Grid;

/// A matrix for a square grid of `side` by `side` unknowns with nine diagonals, of which each row couples an unknown with
/// its eight neighbours: nine bands of `side²` entries each \[Goeddeke05\].
///
/// Unknown (x, y) is number `i = y side + x`. Bands are numbered row by row, [`LL`](Self::LL), [`LD`](Self::LD),
/// [`LU`](Self::LU), [`DL`](Self::DL), [`DD`](Self::DD), [`DU`](Self::DU), [`UL`](Self::UL), [`UD`](Self::UD),
/// [`UU`](Self::UU): the first letter names the block (lower, diagonal, upper), the second the diagonal within it.
/// Entry `i` of a band is `A[i, i + offset]`, zero where there is no such column. The matrices of finite elements have
/// zeros at the ends of grid rows too: the last unknown of one has no neighbour to its right, although `i + 1` exists.
/// [`from_bands`](Self::from_bands) takes any entry there, which couples it with the first unknown of the next row, as the
/// tutorial's array `X[i + 1]` does.
///
/// ```
/// use texla::host::NineBands;
/// let a = NineBands::laplace(3)?;
/// // Of the element matrix 1/6 [4 -1 -1 -2; ...], four elements meet at an unknown.
/// let row: Vec<f64> = (0..9).map(|k| (3.0 * a.band(k)[4]).round()).collect();
/// assert_eq!(row, [-1., -1., -1., -1., 8., -1., -1., -1., -1.]);
/// assert_eq!((a.offset(NineBands::LL), a.offset(NineBands::DU)), (-4, 1));
/// assert_eq!(a.band(NineBands::DU)[2], 0.0); // the end of a row
/// assert_eq!(a.to_triplets().nnz(), 49);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NineBands {
    side: usize,
    bands: [Vec<f64>; 9],
}

/// Where a Gauss point of two lies on [0, 1].
const GAUSS: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
/// The corners of an element, in the order of its matrix.
const CORNERS: [[usize; 2]; 4] = [[0, 0], [1, 0], [0, 1], [1, 1]];

impl NineBands {
    /// The band of the neighbour at (-1, -1).
    pub const LL: usize = 0;
    /// At (0, -1).
    pub const LD: usize = 1;
    /// At (1, -1).
    pub const LU: usize = 2;
    /// At (-1, 0).
    pub const DL: usize = 3;
    /// The diagonal.
    pub const DD: usize = 4;
    /// At (1, 0).
    pub const DU: usize = 5;
    /// At (-1, 1).
    pub const UL: usize = 6;
    /// At (0, 1).
    pub const UD: usize = 7;
    /// At (1, 1).
    pub const UU: usize = 8;

    /// Longest side: its nine bands take 77 GB.
    const LONGEST: usize = 1 << 15;

    fn check_side(side: usize) -> Result<()> {
        let (op, what) = ("NineBands", "NineBands");
        if side == 0 {
            let (name, value) = ("side", "0".into());
            return Err(Error::Parameter { op, name, value, expected: "at least 1" });
        }
        if side > Self::LONGEST {
            let (requested, limit) = (side as u64, Self::LONGEST as u64);
            return Err(Error::TooLarge { what, requested, limit, unit: "unknowns in a row" });
        }
        Ok(())
    }

    /// A matrix from its bands, in the order above.
    ///
    /// *Errors*: [`Error::Parameter`] for a side of 0; [`Error::TooLarge`] past 32768; [`Error::LengthMismatch`];
    /// [`Error::NonFinite`] for entries that do not fit 32 bits; [`Error::Matrix`] for an entry that is not zero where there
    /// is no column.
    ///
    /// ```
    /// use texla::host::NineBands;
    /// let mut bands: [Vec<f64>; 9] = std::array::from_fn(|_| vec![0.0; 4]);
    /// bands[NineBands::DU][1] = 5.0; // from the end of one row to the beginning of the next
    /// let entries = NineBands::from_bands(2, bands.clone())?.to_triplets().to_csr();
    /// assert!(entries.entries().any(|entry| entry == (1, 2, 5.0)));
    /// bands[NineBands::DU][3] = 5.0; // there is no column 4
    /// assert!(NineBands::from_bands(2, bands).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn from_bands(side: usize, bands: [Vec<f64>; 9]) -> Result<Self> {
        let op = "NineBands::from_bands";
        Self::check_side(side)?;
        let made = NineBands { side, bands };
        for (k, band) in made.bands.iter().enumerate() {
            let (found, expected) = (band.len(), side * side);
            if found != expected {
                return Err(Error::LengthMismatch { op, operand: "bands", found, expected });
            }
            check_finite(op, band.iter().copied())?;
            let outside = |(i, v): &(usize, &f64)| **v != 0.0 && made.column(*i, k).is_none();
            if let Some((i, v)) = band.iter().enumerate().find(outside) {
                let v = number(*v);
                let detail = format!(
                    "has {v} in band {k} at unknown {i}, expected 0 where there is no column {}",
                    i as i64 + made.offset(k)
                );
                return Err(Error::Matrix { op, detail });
            }
        }
        Ok(made)
    }

    /// The Laplacian `-Δ u` with zero boundary values, by bilinear elements on squares: the element matrix is
    /// `1/6 [4 -1 -1 -2; -1 4 -2 -1; -1 -2 4 -1; -2 -1 -1 4]`, its rows for the corners (0, 0), (1, 0), (0, 1), (1, 1).
    ///
    /// *Errors*: as [`bilinear`](Self::bilinear).
    pub fn laplace(side: usize) -> Result<Self> {
        Self::bilinear(side, |x, y| [x as f64, y as f64], |_, _| 1.0)
    }

    /// `-div (k grad u)` with zero boundary values, by bilinear finite elements on quadrilaterals:
    /// `A[i, j] = ∫ k ∇φ_i · ∇φ_j`, by 2x2 Gauss points in each element.
    ///
    /// `node(x, y)` is where node (x, y) of the grid lies, `x, y <= side + 1`; the inner ones are the unknowns.
    /// `coefficient(x, y)` is k in the element between the nodes (x, y) and (x + 1, y + 1). Symmetric, and positive
    /// definite for positive coefficients.
    ///
    /// *Cost*: 64 evaluations an element. *Errors*: [`Error::Parameter`] for a side of 0, [`Error::TooLarge`] past
    /// 32768; [`Error::Matrix`] for an element that is folded over or has no area, or whose coefficient is not finite;
    /// [`Error::NonFinite`] for entries that do not fit 32 bits.
    ///
    /// ```
    /// use texla::host::NineBands;
    /// // Four elements around one unknown: each adds 4/6 of its coefficient.
    /// let a = NineBands::bilinear(1, |x, y| [x as f64, y as f64], |x, y| (1 + x + 2 * y) as f64)?;
    /// assert!((a.band(NineBands::DD)[0] - 10.0 * 4.0 / 6.0).abs() < 1e-14);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn bilinear(
        side: usize,
        node: impl Fn(usize, usize) -> [f64; 2],
        mut coefficient: impl FnMut(usize, usize) -> f64,
    ) -> Result<Self> {
        Self::check_side(side)?;
        let mut made = NineBands { side, bands: std::array::from_fn(|_| vec![0.0; side * side]) };
        for (ey, ex) in (0..=side).flat_map(|ey| (0..=side).map(move |ex| (ey, ex))) {
            let corners = CORNERS.map(|[dx, dy]| node(ex + dx, ey + dy));
            let k = coefficient(ex, ey);
            let element = stiffness(corners).filter(|_| k.is_finite()).ok_or_else(|| {
                let detail = format!("has an element at ({ex}, {ey}) with coefficient {k} and corners {corners:?}, expected a convex quadrilateral, counted anticlockwise");
                Error::Matrix { op: "NineBands::bilinear", detail }
            })?;
            for (row, [ax, ay]) in element.iter().zip(CORNERS) {
                // The node's number as an unknown; those on the boundary are none.
                let (Some(x), Some(y)) = ((ex + ax).checked_sub(1), (ey + ay).checked_sub(1)) else {
                    continue;
                };
                if x >= side || y >= side {
                    continue;
                }
                for (value, [bx, by]) in row.iter().zip(CORNERS) {
                    let band = 3 * (1 + by - ay) + 1 + bx - ax;
                    let i = y * side + x;
                    if made.neighbour(i, band).is_some()
                        && let Some(entry) = made.bands.get_mut(band).and_then(|b| b.get_mut(i))
                    {
                        *entry += k * value;
                    }
                }
            }
        }
        made.bands.iter().try_for_each(|band| check_finite("NineBands::bilinear", band.iter().copied()))?;
        Ok(made)
    }

    /// Unknowns in a row of the grid.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Unknowns.
    pub fn len(&self) -> usize {
        self.side * self.side
    }

    /// Never: there is one unknown at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// A band by its number; empty past the ninth.
    pub fn band(&self, band: usize) -> &[f64] {
        self.bands.get(band).map_or(&[], Vec::as_slice)
    }

    /// Column minus row of a band's entries.
    pub fn offset(&self, band: usize) -> i64 {
        let (dx, dy) = (band as i64 % 3 - 1, band as i64 / 3 - 1);
        dy * self.side as i64 + dx
    }

    /// The unknown that a band's entry `i` is multiplied by.
    fn column(&self, i: usize, band: usize) -> Option<usize> {
        i.checked_add_signed(self.offset(band) as isize).filter(|j| *j < self.len())
    }

    /// What schedules ask for that read a grid row's neighbours within the rows beside it.
    ///
    /// *Errors*: [`Error::Matrix`] naming the first entry that is not zero at the end of a row, where it couples unknowns
    /// that are no neighbours.
    pub(crate) fn check_row_ends(&self, op: &'static str) -> Result<()> {
        for i in 0..self.len() {
            for (k, band) in self.bands.iter().enumerate() {
                if let (None, Some(value)) = (self.neighbour(i, k), band.get(i).filter(|v| **v != 0.0)) {
                    let (x, y) = (i % self.side, i / self.side);
                    let value = number(*value);
                    let detail = format!(
                        "has {value} in band {k} at unknown {i}, which is ({x}, {y}) of the grid, expected 0 at the ends of rows: only the schedules of the host and of the tutorial go on in the next row"
                    );
                    return Err(Error::Matrix { op, detail });
                }
            }
        }
        Ok(())
    }

    /// The neighbour that a band couples unknown `i` with.
    fn neighbour(&self, i: usize, band: usize) -> Option<usize> {
        let inside = |at: usize, step: usize| (at + step).checked_sub(1).filter(|at| *at < self.side);
        let (x, y) = (inside(i % self.side, band % 3)?, inside(i / self.side, band / 3)?);
        Some(y * self.side + x)
    }

    /// The entries of all neighbours that exist, row by row, and what is not zero at the ends of rows: of nine diagonals,
    /// as a [`BandedMatrix`](crate::BandedMatrix) keeps them.
    pub fn to_triplets(&self) -> Triplets {
        let mut out = Triplets::new(Grid::new_2d(self.side, self.side).operator());
        for i in 0..self.len() {
            for (k, band) in self.bands.iter().enumerate() {
                let kept = |value: &&f64| **value != 0.0 || self.neighbour(i, k).is_some();
                if let (Some(j), Some(value)) = (self.column(i, k), band.get(i).filter(kept)) {
                    // Sides are short enough for 32 bits.
                    out.push_valid(i as u32, j as u32, *value);
                }
            }
        }
        out
    }
}

/// Whether a quadrilateral is folded over somewhere: the map's area is linear along either axis, so its ends tell.
fn folded([a, b, c, d]: [[f64; 2]; 4]) -> bool {
    let turn =
        |p: [f64; 2], q: [f64; 2], r: [f64; 2]| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    [turn(a, b, c), turn(b, d, a), turn(d, c, b), turn(c, a, d)].iter().any(|area| *area < 0.0)
}

/// `∫ ∇φ_a · ∇φ_b` over a quadrilateral for its four bilinear functions, or nothing where it is folded over.
fn stiffness(corners: [[f64; 2]; 4]) -> Option<[[f64; 4]; 4]> {
    if folded(corners) {
        return None;
    }
    let mut sum = [[0.0; 4]; 4];
    for (s, t) in GAUSS.into_iter().flat_map(|s| GAUSS.map(|t| (s, t))) {
        // The functions' derivatives along the unit square's axes, and the map's.
        let slopes = CORNERS.map(|[x, y]| {
            let along = |side: usize, at: f64| if side == 1 { (at, 1.0) } else { (1.0 - at, -1.0) };
            let ((fx, dx), (fy, dy)) = (along(x, s), along(y, t));
            [dx * fy, fx * dy]
        });
        let [mut xs, mut ys, mut xt, mut yt] = [0.0; 4];
        for ([ds, dt], [x, y]) in slopes.into_iter().zip(corners) {
            (xs, ys, xt, yt) = (xs + ds * x, ys + ds * y, xt + dt * x, yt + dt * y);
        }
        let area = xs * yt - ys * xt;
        if !(area > 0.0 && area.is_finite()) {
            return None;
        }
        let gradients = slopes.map(|[ds, dt]| [(yt * ds - ys * dt) / area, (xs * dt - xt * ds) / area]);
        for (row, [ax, ay]) in sum.iter_mut().zip(gradients) {
            for (entry, [bx, by]) in row.iter_mut().zip(gradients) {
                *entry += 0.25 * area * (ax * bx + ay * by);
            }
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_element_of_a_square() {
        let want = [[4., -1., -1., -2.], [-1., 4., -2., -1.], [-1., -2., 4., -1.], [-2., -1., -1., 4.]];
        let got = stiffness([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5], [0.5, 0.5]]).unwrap();
        for (got, want) in got.as_flattened().iter().zip(want.as_flattened()) {
            assert!((6.0 * got - want).abs() < 1e-14, "{got} {want}");
        }
        assert!(stiffness([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]).is_none());
        assert!(stiffness([[0.0; 2]; 4]).is_none());
        // A corner turned inwards, seen by no Gauss point; one on the line between its neighbours is no fold.
        assert!(stiffness([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.47, 0.47]]).is_none());
        assert!(stiffness([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).is_some());
    }

    /// A trapezium, whose map can be inverted: the same Gauss rule, of the functions' slopes in x and y as differences.
    #[test]
    fn the_element_of_a_trapezium() {
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 1.0]];
        let function = |k: usize, x: f64, y: f64| {
            let (s, t) = (x / (1.0 + y), y);
            (if k % 2 == 1 { s } else { 1.0 - s }) * (if k / 2 == 1 { t } else { 1.0 - t })
        };
        let h = 1e-5;
        let slope = |k: usize, x: f64, y: f64| {
            [
                (function(k, x + h, y) - function(k, x - h, y)) / (2.0 * h),
                (function(k, x, y + h) - function(k, x, y - h)) / (2.0 * h),
            ]
        };
        let got = stiffness(corners).unwrap();
        let root = (1.0f64 / 3.0).sqrt();
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let mut want = 0.0;
            for (s, t) in [(-root, -root), (-root, root), (root, -root), (root, root)] {
                let (s, t) = (0.5 + 0.5 * s, 0.5 + 0.5 * t);
                let ([ax, ay], [bx, by]) = (slope(a, s * (1.0 + t), t), slope(b, s * (1.0 + t), t));
                want += 0.25 * (1.0 + t) * (ax * bx + ay * by);
            }
            assert!((got[a][b] - want).abs() < 1e-8, "{a} {b}: {} {want}", got[a][b]);
            assert_eq!(got[a][b], got[b][a]);
        }
    }

    /// Linear functions are solved exactly on any quadrilaterals: rows far from the boundary sum to zero against them.
    #[test]
    fn linear_functions_are_in_the_space() {
        let node = |x: usize, y: usize| {
            let (fx, fy) = (x as f64, y as f64);
            [fx + 0.2 * (1.3 * fy + 0.7 * fx).sin(), fy + 0.2 * (0.9 * fx).cos()]
        };
        let a = NineBands::bilinear(6, node, |_, _| 2.5).unwrap();
        for i in (1..5).flat_map(|y| (1..5).map(move |x| 6 * y + x)) {
            let value = |i: usize| {
                let [x, y] = node(i % 6 + 1, i / 6 + 1);
                3.0 - 2.0 * x + 0.5 * y
            };
            let sum: f64 = (0..9).map(|k| a.band(k)[i] * value(a.neighbour(i, k).unwrap())).sum();
            assert!(sum.abs() < 1e-13, "{i}: {sum}");
        }
        assert_eq!(a.to_triplets().to_csr().asymmetry(), None);
    }

    #[test]
    fn what_is_no_matrix_is_refused() {
        assert!(matches!(NineBands::laplace(0), Err(Error::Parameter { .. })));
        assert!(matches!(NineBands::laplace(1 << 20), Err(Error::TooLarge { .. })));
        let folded = |x: usize, y: usize| [-(x as f64), y as f64];
        assert!(matches!(NineBands::bilinear(2, folded, |_, _| 1.0), Err(Error::Matrix { .. })));
        let square = |x: usize, y: usize| [x as f64, y as f64];
        assert!(matches!(NineBands::bilinear(2, square, |_, _| f64::NAN), Err(Error::Matrix { .. })));
        // Flat elements, and large coefficients: entries past the floats.
        let flat = |x: usize, y: usize| [x as f64, 1e-60 * y as f64];
        assert!(matches!(NineBands::bilinear(2, flat, |_, _| 1.0), Err(Error::NonFinite { .. })));
        let flatter = |x: usize, y: usize| [x as f64, 1e-200 * y as f64];
        assert!(matches!(NineBands::bilinear(2, flatter, |_, _| 1.0), Err(Error::NonFinite { .. })));
        assert!(matches!(NineBands::bilinear(2, square, |_, _| 1e39), Err(Error::NonFinite { .. })));
        // The longest side, with nothing allocated for it.
        let none = std::array::from_fn(|_| Vec::new());
        assert!(matches!(NineBands::from_bands(1 << 15, none), Err(Error::LengthMismatch { found: 0, .. })));
        let bands = |k: usize, length| std::array::from_fn(|b| vec![f64::from(u8::from(b == k)); length]);
        assert!(matches!(
            NineBands::from_bands(2, bands(NineBands::DD, 3)),
            Err(Error::LengthMismatch { .. })
        ));
        assert!(matches!(NineBands::from_bands(2, bands(NineBands::DU, 4)), Err(Error::Matrix { .. })));
        assert!(NineBands::from_bands(2, bands(NineBands::DD, 4)).is_ok());
    }
}
