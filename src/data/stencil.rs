//! Operators on regular grids that need no stored matrix.

mod regions;

use std::cell::OnceCell;

use super::banded::upload_folded;
use super::coefficients::Scaling;
use super::vector::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::host::{Csr, Triplets};
use crate::kernel::PooledTexture;
use crate::shape::{Grid, Shape};

pub use regions::MOST_REGIONS;

/// What lies behind a side of a grid.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Side {
    /// The value is zero `distance` cells from the last unknown: the row of a cell there holds `weight / distance`.
    Dirichlet {
        /// 1 where unknowns are grid points and the next point is given; 1/2 where they are cell centres and the wall
        /// is the cell's face.
        distance: f64,
    },
    /// No flux: the row of a cell there holds nothing for this side.
    Neumann,
    /// The cell at the other end. Both sides of an axis, or none.
    Periodic,
}

impl Side {
    /// The value is zero at the next grid point, as in [`BandedMatrix::poisson_2d`](crate::BandedMatrix::poisson_2d).
    pub const DIRICHLET: Side = Side::Dirichlet { distance: 1.0 };

    /// The value is zero on the face of the last cell.
    pub const WALL: Side = Side::Dirichlet { distance: 0.5 };

    /// What a cell at this side holds for it, in units of the axis' weight.
    pub(crate) fn share(self) -> f64 {
        match self {
            Side::Dirichlet { distance } => 1.0 / distance,
            Side::Neumann | Side::Periodic => 0.0,
        }
    }
}

/// The sides of a grid: low and high end of each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// At x = 0 and x = nx - 1.
    pub x: [Side; 2],
    /// At y = 0 and y = ny - 1.
    pub y: [Side; 2],
    /// At z = 0 and z = nz - 1.
    pub z: [Side; 2],
}

impl Sides {
    /// The same on every side.
    pub const fn all(side: Side) -> Self {
        Sides { x: [side; 2], y: [side; 2], z: [side; 2] }
    }

    /// Low and high end of each axis.
    pub const fn axes(&self) -> [[Side; 2]; 3] {
        [self.x, self.y, self.z]
    }
}

/// What a [`Stencil`] is like.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StencilParams<'a> {
    /// The weight of an axis multiplies the differences along it: for a Laplacian `1 / h²` of that axis, or 1.
    pub weights: [f64; 3],
    /// The sides of the grid.
    pub sides: Sides,
    /// What is added to the diagonal.
    pub shift: f64,
    /// Which cells are obstacles. An empty slice stands for none.
    pub solid: &'a [bool],
}

with!(['a] const StencilParams<'a>:
    with_weights(weights: [f64; 3]),
    with_sides(sides: Sides),
    with_shift(shift: f64),
    with_solid(solid: &'a [bool]),
);

impl StencilParams<'_> {
    /// No shift and no obstacles.
    pub const fn new(weights: [f64; 3], sides: Sides) -> Self {
        StencilParams { weights, sides, shift: 0.0, solid: &[] }
    }
}

/// A constant-coefficient 3-, 5- or 7-point operator on a grid, with obstacles if wanted, of which nothing is stored but
/// its numbers \[Krueger05\] 44.4:
///
/// `(A u)_i = shift u_i + Σ_axes weight Σ_{two neighbours j} (u_i - u_j)`
///
/// A side of the grid takes the place of a neighbour as [`Side`] says. An axis whose weight is zero takes no part. So
/// the five-point Laplacian is shift 0 and weights (1, 1, 0), the matrix of the implicit wave equation (Equation 44-1)
/// shift 1 and weights (α, α, 0), that of the explicit one (Equation 44-6) shift 2 and weights (-α, -α, 0).
///
/// Solid cells take no part in what goes on around them: no flux passes between one and its neighbours, and its own row
/// is `c u_i` with `c = |shift| + 2 Σ |weight|`, the diagonal of a cell in the interior where no number is negative. So is
/// a cell walled in on all sides if the shift is zero, whose row would be empty. An axis of one periodic cell takes no part:
/// [`weights`](Self::weights) then says 0.
///
/// Unknowns are those of an ordinary [`Vector`], in natural order: see [`Grid`]. Periodic sides are found by index
/// arithmetic, not by texture wrap: a folded vector's texture is not as wide as the grid.
///
/// ```
/// use texla::{Grid, Side, Sides, Stencil, StencilParams, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let grid = Grid::new_2d(4, 2);
/// let mut y = Vector::zeros(dev, 8)?;
/// let x = Vector::from_slice(dev, &[1., 1., 1., 1., 1., 1., 1., 5.])?;
/// let fixed = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
/// let fixed = Stencil::new(dev, grid, fixed)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &fixed, &x)?;
/// assert_eq!(y.read()?, [2., 1., 1., -2., 2., 1., -3., 18.]);
/// let closed = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
/// ops::product(&mut y, Combine::Replace, 1.0, &Stencil::new(dev, grid, closed)?, &x)?;
/// assert_eq!(y.read()?, [0., 0., 0., -4., 0., 0., -4., 8.]);
/// let last = [false, false, false, false, false, false, false, true];
/// let shifted = Stencil::new(dev, grid, closed.with_shift(1.0).with_solid(&last))?;
/// ops::product(&mut y, Combine::Replace, 1.0, &shifted, &x)?;
/// assert_eq!(y.read()?, [1., 1., 1., 1., 1., 1., 1., 25.]); // 1 + 2 (1 + 1) in the solid cell's row
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Stencil {
    device: Device,
    grid: Grid,
    shift: f64,
    weights: [f64; 3],
    sides: Sides,
    /// Which cells take no part; empty where all do.
    solid: Vec<bool>,
    /// For each cell: bit d if the neighbour in direction d is solid, bit 6 if it is itself.
    pub(crate) links: Option<PooledTexture>,
    pub(crate) scaling: Scaling,
    null_space: Vec<Vector>,
    csr: OnceCell<Csr>,
}

shown!(
    Stencil,
    |a| "Stencil({:?}, {:?}, {})",
    a.grid,
    a.sides,
    if a.links.is_some() { "with obstacles" } else { "open" }
);

impl AsRef<Stencil> for Stencil {
    fn as_ref(&self) -> &Stencil {
        self
    }
}

/// The bit of a solid cell in its links.
pub(crate) const SOLID: u8 = 1 << 6;

impl Stencil {
    /// An operator on the cells of a grid.
    ///
    /// *Cost*: nothing; 1 draw where there is a null space. With obstacles 1 upload, and 1 for each region of a singular
    /// operator. *Errors*: [`Error::NonFinite`] for a shift or weight (index 0, then 1 to 3) that does not fit 32 bits;
    /// [`Error::Parameter`] for a distance that is not positive, and for an axis that is periodic at one end alone;
    /// [`Error::LengthMismatch`] for `solid`; [`Error::TooLarge`] past the texture area; [`Error::Matrix`] past
    /// [`MOST_REGIONS`] regions of a singular operator.
    pub fn new(device: &Device, grid: Grid, params: StencilParams<'_>) -> Result<Self> {
        let StencilParams { mut weights, sides, shift, solid } = params;
        check_sides(sides)?;
        super::banded::check_sides(device, "Stencil", Shape::column(grid.len()))?;
        if !solid.is_empty() && solid.len() != grid.len() {
            let (found, expected) = (solid.len(), grid.len());
            return Err(Error::LengthMismatch { op: "Stencil", operand: "solid", found, expected });
        }
        check_finite("Stencil", std::iter::once(shift).chain(weights))?;
        // The neighbours of a single periodic cell are the cell itself: differences along that axis are zero.
        let axes = weights.iter_mut().zip(grid.sides()).zip(sides.axes());
        axes.filter(|((_, n), ends)| *n == 1 && ends.contains(&Side::Periodic))
            .for_each(|((w, _), _)| *w = 0.0);
        let mut made = Stencil {
            device: device.clone(),
            grid,
            shift,
            weights,
            sides,
            solid: if solid.contains(&true) { solid.to_vec() } else { Vec::new() },
            links: None,
            scaling: Scaling::default(),
            null_space: Vec::new(),
            csr: OnceCell::new(),
        };
        made.scaling = Scaling::new("Stencil", &made.magnitudes())?;
        made.close_walled_in();
        let _scope = device.scope()?;
        if !made.solid.is_empty() {
            let links: Vec<f32> = (0..grid.len()).map(|i| f32::from(made.link(i))).collect();
            made.links = Some(upload_folded(device, &links, "Stencil")?);
        }
        made.null_space = regions::null_space(&made)?;
        Ok(made)
    }

    /// The numbers from which rows are made.
    fn magnitudes(&self) -> Vec<f64> {
        let at_sides =
            self.sides.axes().into_iter().zip(self.weights).flat_map(|(s, w)| s.map(|s| w * s.share()));
        let mut all = vec![self.shift, self.interior()];
        all.extend(self.weights);
        all.extend(at_sides);
        all
    }

    /// A cell that nothing can pass to has an empty row if the shift is zero: it becomes solid.
    fn close_walled_in(&mut self) {
        if self.solid.is_empty() || self.shift != 0.0 {
            return;
        }
        let empty: Vec<usize> =
            (0..self.grid.len()).filter(|i| !self.is_solid(*i) && self.is_walled_in(*i)).collect();
        for i in empty {
            if let Some(cell) = self.solid.get_mut(i) {
                *cell = true;
            }
        }
    }

    /// No neighbour but solid ones, and no side with a value.
    fn is_walled_in(&self, i: usize) -> bool {
        let ends = self.sides.axes();
        self.directions(i).all(|(direction, neighbour)| match neighbour {
            Some(j) => self.is_solid(j),
            None => ends.as_flattened().get(direction).is_none_or(|side| side.share() == 0.0),
        })
    }

    /// The grid.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// The shift.
    pub fn shift(&self) -> f64 {
        self.shift
    }

    /// The weights along x, y and z.
    pub fn weights(&self) -> [f64; 3] {
        self.weights
    }

    /// The sides.
    pub fn sides(&self) -> Sides {
        self.sides
    }

    /// Which cells take no part; empty where all do.
    pub fn solids(&self) -> &[bool] {
        &self.solid
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.grid.operator()
    }

    /// The device the operator lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// `floor(log2 max |a_ij|)`, or one more: of the numbers that rows are made of.
    pub fn exponent(&self) -> i32 {
        self.scaling.exponent
    }

    /// Where the operator is singular, a vector of ones for each region that nothing passes out of; see
    /// [`LinOp::null_space`](crate::solve::LinOp::null_space).
    pub fn null_space(&self) -> &[Vector] {
        &self.null_space
    }

    /// What stands in the row of a solid cell: the diagonal of a cell with all its neighbours, where no number is
    /// negative; never zero.
    pub(crate) fn interior(&self) -> f64 {
        self.shift.abs() + 2.0 * self.weights.iter().map(|w| w.abs()).sum::<f64>()
    }

    pub(crate) fn is_solid(&self, i: usize) -> bool {
        self.solid.get(i).copied().unwrap_or(false)
    }

    /// The neighbours of a cell along each axis with a weight, solid ones included: the direction (0 low x, 1 high x,
    /// 2 low y, ...) and the element, or nothing where there is a side.
    pub(crate) fn directions(&self, i: usize) -> impl Iterator<Item = (usize, Option<usize>)> + use<> {
        let (x, y, z) = self.grid.place(i);
        let axes = [(x, self.grid.nx), (y, self.grid.ny), (z, self.grid.nz)];
        let (strides, weights, sides) = (self.grid.strides(), self.weights, self.sides.axes());
        let along = axes.into_iter().zip(strides).zip(weights).zip(sides).enumerate();
        along.filter(|(_, (((_, _), weight), _))| *weight != 0.0).flat_map(
            move |(axis, ((((at, count), stride), _), ends))| {
                let wraps = matches!(ends, [Side::Periodic, _]);
                let last = count.saturating_sub(1);
                let low = if at > 0 { Some(i - stride) } else { wraps.then_some(i + stride * last) };
                let high = if at < last { Some(i + stride) } else { wraps.then(|| i - stride * last) };
                [(2 * axis, low), (2 * axis + 1, high)]
            },
        )
    }

    /// The row of a cell.
    pub(crate) fn row(&self, i: usize) -> Row {
        if self.is_solid(i) {
            return Row { own: self.interior(), others: Vec::new() };
        }
        let mut row = Row { own: self.shift, others: Vec::new() };
        let ends = self.sides.axes();
        for (direction, neighbour) in self.directions(i) {
            let weight = self.weights.get(direction / 2).copied().unwrap_or(0.0);
            match neighbour {
                Some(j) if self.is_solid(j) => {}
                Some(j) => {
                    row.own += weight;
                    row.others.push((j, -weight));
                }
                None => {
                    let side = ends.as_flattened().get(direction).copied();
                    row.own += weight * side.map_or(0.0, Side::share);
                }
            }
        }
        row
    }

    fn link(&self, i: usize) -> u8 {
        let closed = self.directions(i).filter(|(_, j)| j.is_some_and(|j| self.is_solid(j)));
        let own = if self.is_solid(i) { SOLID } else { 0 };
        closed.fold(own, |bits, (direction, _)| bits | 1 << direction)
    }

    /// The diagonal.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.grid.len()).map(|i| self.row(i).own).collect()
    }

    /// The same matrix with stored entries, for other formats.
    pub fn csr(&self) -> &Csr {
        self.csr.get_or_init(|| {
            let mut out = Triplets::with_capacity(self.shape(), 7 * self.grid.len());
            for i in 0..self.grid.len() {
                let row = self.row(i);
                // Indices beyond 32 bits are past the texture area.
                out.push_valid(i as u32, i as u32, row.own);
                row.others.iter().for_each(|(j, value)| out.push_valid(i as u32, *j as u32, *value));
            }
            out.to_csr()
        })
    }
}

/// A row of the matrix.
pub(crate) struct Row {
    /// The diagonal.
    pub own: f64,
    /// Column and entry of each neighbour.
    pub others: Vec<(usize, f64)>,
}

/// Refuses sides that mean nothing.
fn check_sides(sides: Sides) -> Result<()> {
    for (name, axis) in ["sides.x", "sides.y", "sides.z"].into_iter().zip(sides.axes()) {
        let fail =
            |expected| Err(Error::Parameter { op: "Stencil", name, value: format!("{axis:?}"), expected });
        if axis.contains(&Side::Periodic) && axis != [Side::Periodic; 2] {
            return fail("Periodic at both ends or at none");
        }
        for side in axis {
            if let Side::Dirichlet { distance } = side
                && !(distance > 0.0 && distance.is_finite() && ((1.0 / distance) as f32).is_finite())
            {
                return fail("a positive distance whose reciprocal fits 32 bits");
            }
        }
    }
    Ok(())
}
