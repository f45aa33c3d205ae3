//! Incompressible flow on a staggered grid, in two and three dimensions: stable fluids.
//!
//! A [`Fluid`] holds a velocity that is free of divergence. A step adds forces, carries the velocity along with itself
//! ([`Fluid::advect`]), lets viscosity act ([`Fluid::diffuse`]) and projects ([`Fluid::project`]). Every part is stable
//! for every time step. Dye and temperature are vectors of the caller's that [`Fluid::transport`] carries along.
//!
//! # How fields lie in textures
//!
//! Cells are numbered in natural order ([`Grid`]): element `x + nx (y + ny z)` of a folded [`Vector`], so that the slices
//! of a three-dimensional field follow one another in a two-dimensional texture. Scalars live at the centres of cells.
//! Velocity component a lives on the faces across axis a and is a vector of its own on a grid that has one more element
//! along that axis: `u` on `(nx + 1) ny nz` faces, the first and the last of each row on the sides of the box. In two
//! dimensions (`nz = 1`) there is no third component, and the same code runs without it.
//!
//! # What a step costs
//!
//! In d dimensions, with MacCormack: 2 d draws to carry the velocity (one of them a long one: each element looks up the
//! velocity twice and itself three times, 4 or 8 fetches each), 1 + d for confinement, and for the projection 1, for each
//! closed region a reduction and 2, for the guess a reduction and 1, those of the solve, and d. A scalar takes 2. With
//! [`Pressure::Fixed`], [`Pressure::Multigrid`], [`Pressure::Jacobi`] or sweeps of [`Pressure::EnhancedBlockJacobi`], and a
//! number of [viscous iterations](FluidParams::viscous_iterations), nothing is read back, and every step draws the same.
//!
//! # How far results can be trusted
//!
//! Each part is within a rounding bound of the same arithmetic in 64 bits (the tests derive it). Of the divergence as
//! much is left as of the residual: the gradient is exactly the adjoint of the divergence. Outflows below 2⁻²² of what
//! flows through a cell's faces are rounding, and count as none; velocities and outflows below 1e-30 are rest. At a Reynolds
//! number of 100 the velocities in a driven cavity of 128 x 128 cells are within 0.6 % of the published ones
//! (`examples/cavity`). Advection does not conserve a scalar's sum: what it loses or gains vanishes with the cell size.
//!
//! # Example
//!
//! ```
//! use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams};
//! use texla::{Grid, Vector};
//! # let ctx = texla::Headless::new(Default::default())?;
//! # let dev = ctx.device();
//! let grid = Grid::new_2d(32, 24);
//! let params = FluidParams::new(1.0 / 32.0).with_boundaries(Boundaries::all(Boundary::FreeSlip));
//! let mut fluid = Fluid::new(dev, grid, params, &[])?;
//! let mut dye = Vector::zeros(dev, grid.len())?;
//!
//! fluid.splat(&mut dye, [0.5, 0.2, 0.0], 0.1, 1.0)?;
//! fluid.push([0.5, 0.2, 0.0], 0.1, [0.0, 1.0, 0.0])?;
//! let report = fluid.project_reported()?;
//! assert!(report.after <= 1e-4 * report.before);
//! for _ in 0..4 {
//!     fluid.step(1.0 / 60.0)?;
//!     fluid.transport(&mut dye, 1.0 / 60.0)?;
//! }
//! let dye = dye.read()?;
//! let height = |i: usize| (i / 32) as f32 * dye[i];
//! let mean = (0..dye.len()).map(height).sum::<f32>() / dye.iter().sum::<f32>();
//! assert!(mean > 6.2, "from row 5.9 up to {mean}");
//! # Ok::<(), texla::Error>(())
//! ```
//!
//! *Sources*: J. Stam, *Stable Fluids*, SIGGRAPH 1999. F. Harlow and J. Welch, *Numerical calculation of time-dependent
//! viscous incompressible flow of fluid with free surface*, Phys. Fluids 8, 1965 (the grid). A. Selle, R. Fedkiw, B. Kim,
//! Y. Liu, J. Rossignac, *An unconditionally stable MacCormack method*, J. Sci. Comput. 35, 2008. R. Fedkiw, J. Stam,
//! H. W. Jensen, *Visual simulation of smoke*, SIGGRAPH 2001 (vorticity confinement).

mod advect;
mod boundary;
mod force;
mod kernels;
#[cfg(feature = "pack")]
mod lines;
mod pressure;
mod project;
mod viscous;

pub use boundary::{Boundaries, Boundary};
pub use pressure::{Pressure, PressureReport, PressureSolver};
pub use project::Projection;
pub use viscous::{Diffusion, ViscousReport};

use boundary::{Faces, faces};
use kernels::Space;

use crate::data::{Stencil, StencilParams, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{Draw, Operand};
use crate::ops;
use crate::shape::{Grid, Shape};
use crate::solve::Stop;

/// How fields are carried along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Advection {
    /// Back along the velocity, and linear interpolation there: first order, smooths.
    SemiLagrangian,
    /// A step forth and one back, half of whose error is taken off, within the range of the values that were
    /// interpolated: second order where the field is smooth.
    #[default]
    MacCormack,
}

/// What a fluid is like.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FluidParams {
    /// Side of a cell, `h`.
    pub cell: f64,
    /// Kinematic viscosity: not negative.
    pub viscosity: f64,
    /// Strength of the vorticity confinement in each step: 0 for none.
    pub confinement: f64,
    /// How fields are carried along.
    pub advection: Advection,
    /// What happens at the sides of the box.
    pub boundaries: Boundaries,
    /// How the pressure is found.
    pub pressure: Pressure,
    /// It is found in pairs of floats, so that 32 bits of it do not bound what is left of the divergence: rounding of the
    /// velocity does, however large the box is. For methods that [have pairs](Pressure::has_pairs), with a
    /// [`Stop`] of 1e-7 or less.
    pub double_pressure: bool,
    /// How the implicit viscous step is solved.
    pub diffusion: Diffusion,
    /// Relative residual of the implicit viscous step.
    pub viscous_stop: Stop,
    /// So many iterations in each viscous step, without a readback; none: until the residual is small.
    pub viscous_iterations: Option<usize>,
}

with!(const FluidParams:
    with_cell(cell: f64),
    with_viscosity(viscosity: f64),
    with_confinement(confinement: f64),
    with_advection(advection: Advection),
    with_boundaries(boundaries: Boundaries),
    with_pressure(pressure: Pressure),
    with_double_pressure(double_pressure: bool),
    with_diffusion(diffusion: Diffusion),
    with_viscous_stop(viscous_stop: Stop),
    with_viscous_iterations(viscous_iterations: Option<usize>),
);

impl FluidParams {
    /// Cells of this size in a box of walls, no viscosity, no confinement, MacCormack advection.
    pub fn new(cell: f64) -> Self {
        FluidParams {
            cell,
            viscosity: 0.0,
            confinement: 0.0,
            advection: Advection::MacCormack,
            boundaries: Boundaries::all(Boundary::WALL),
            pressure: Pressure::default(),
            double_pressure: false,
            diffusion: Diffusion::default(),
            viscous_stop: Stop::relative(1e-6),
            viscous_iterations: None,
        }
    }

    fn check_pairs(&self, device: &Device) -> Result<()> {
        let is_exact = device.capabilities().exact_form.is_some();
        let why = match (self.double_pressure, is_exact, self.pressure.has_pairs()) {
            (false, ..) | (true, true, true) => return Ok(()),
            (true, false, _) => "the device has no exact two-sum",
            (true, true, false) => "the method has a fixed number of steps, in 32 bits",
        };
        Err(Error::Unsupported { what: "FluidParams::double_pressure".into(), why: why.into() })
    }

    fn check(&self, dimensions: usize) -> Result<()> {
        let op = "Fluid::new";
        let positive = "a positive number between 1.2e-38 and 8.5e37";
        let not_negative = "a finite number that is not negative";
        // A cell size and its inverse are normal floats.
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        for (name, value, range, expected) in [
            ("cell", self.cell, least..=1.0 / least, positive),
            ("viscosity", self.viscosity, 0.0..=most, not_negative),
            ("confinement", self.confinement, 0.0..=most, not_negative),
        ] {
            if !range.contains(&value) {
                return Err(Error::Parameter { op, name, value: format!("{value:e}"), expected });
            }
        }
        self.boundaries.check(dimensions)
    }
}

/// Most cells of a fluid's grid: shaders count them in floats.
const MOST_CELLS: usize = 1 << 23;

/// An incompressible fluid in a box.
pub struct Fluid {
    params: FluidParams,
    space: Space,
    velocity: Vec<Vector>,
    faces: Vec<[Vector; 2]>,
    /// 1 in cells of fluid, 0 in solid ones; absent where nothing is solid.
    fluid_cells: Option<Vector>,
    /// Pressure times time step over density and cell size.
    pressure: Vector,
    poisson: Stencil,
    solver: Box<dyn PressureSolver>,
    viscous: Option<ViscousReport>,
    /// By axis, for the strength of the last viscous step.
    #[cfg(feature = "pack")]
    lines: Vec<Option<lines::Lines>>,
}

shown!(Fluid, |fluid| "Fluid({:?}, {:?})", fluid.space.cells, fluid.params);

impl Fluid {
    /// A fluid at rest (but for inflows). `solid` says for each cell whether it is
    /// an obstacle; empty stands for none. Obstacles are at rest, and the fluid sticks to them.
    ///
    /// *Cost*: 3 uploads for each component and 1 for the pressure; 1 for obstacles, and what they add to the pressure's
    /// matrix ([`Stencil::new`]); for a closed box a draw, with multigrid a draw and a readback more; with inflows, a
    /// readback for each closed region. *Errors*: [`Error::Parameter`] for
    /// an empty grid, a cell size or viscosity out of range, walls that move across themselves, and
    /// closed regions whose inflows do not cancel, and obstacles with [`Diffusion::EnhancedBlockJacobi`];
    /// [`Error::LengthMismatch`] for `solid`; [`Error::TooLarge`]; [`Error::Unsupported`] for a pressure in pairs that method or
    /// device do not have; [`Error::Matrix`] where obstacles cut the fluid into more
    /// than [`MOST_REGIONS`](crate::data::MOST_REGIONS) closed regions; those of [`Pressure::solver`].
    pub fn new(device: &Device, grid: Grid, params: FluidParams, solid: &[bool]) -> Result<Self> {
        let op = "Fluid::new";
        if grid.is_empty() {
            let (name, value, expected) = ("grid", grid.to_string(), "a cell or more");
            return Err(Error::Parameter { op, name, value, expected });
        }
        if grid.len() > MOST_CELLS {
            let (what, requested, limit) = ("a fluid's grid", grid.len() as u64, MOST_CELLS as u64);
            return Err(Error::TooLarge { what, requested, limit, unit: "cells" });
        }
        if !solid.is_empty() && solid.len() != grid.len() {
            let (operand, found, expected) = ("solid", solid.len(), grid.len());
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        params.diffusion.check(solid)?;
        params.check_pairs(device)?;
        let space = Space { cells: grid, ghosts: params.boundaries.ghosts() };
        params.check(space.dimensions())?;
        let on_host: Vec<_> =
            (0..space.dimensions()).map(|axis| Faces::new(grid, axis, &params.boundaries, solid)).collect();
        let _scope = device.scope()?;
        let mut made = (Vec::new(), Vec::new());
        for faces in &on_host {
            let held = Vector::from_slice(device, &faces.held)?;
            made.0.push(Vector::from_slice(device, &faces.held)?);
            made.1.push([Vector::from_slice(device, &faces.free)?, held]);
        }
        let (velocity, faces) = made;
        let solid = if solid.contains(&true) { solid } else { &[] };
        let weights = [1.0, 1.0, if space.dimensions() == 3 { 1.0 } else { 0.0 }];
        let open: Vec<f32> = solid.iter().map(|s| f32::from(u8::from(!s))).collect();
        let poisson = StencilParams::new(weights, params.boundaries.pressure_sides()).with_solid(solid);
        let poisson = Stencil::new(device, grid, poisson)?;
        boundary::check_balance(&on_host, grid, &poisson, solid)?;
        Ok(Fluid {
            velocity,
            faces,
            fluid_cells: (!open.is_empty()).then(|| Vector::from_slice(device, &open)).transpose()?,
            pressure: Vector::zeros(device, grid.len())?,
            solver: params.pressure.solver(&poisson)?,
            viscous: None,
            #[cfg(feature = "pack")]
            lines: Vec::new(),
            poisson,
            params,
            space,
        })
    }

    /// Finds the pressure by a method of the caller's from now on.
    pub fn set_pressure_solver(&mut self, solver: Box<dyn PressureSolver>) {
        self.solver = solver;
    }

    /// A step of `dt`: confinement, advection, viscosity, projection. Forces are added before it.
    ///
    /// *Cost*: the sum of these. *Errors*: as theirs.
    pub fn step(&mut self, dt: f64) -> Result<PressureReport> {
        self.rate("Fluid::step", dt)?;
        let device = self.device().clone();
        let _scope = device.scope()?;
        if self.params.confinement > 0.0 {
            self.confine(dt)?;
        }
        self.advect(dt)?;
        if self.params.viscosity > 0.0 {
            self.diffuse(dt)?;
        }
        self.project()
    }

    /// What the last [viscous step](Self::diffuse), also that of a [`step`](Self::step), has come to; nothing before it and
    /// where it has failed.
    pub fn viscous_report(&self) -> Option<ViscousReport> {
        self.viscous
    }

    /// Where the fluid lives.
    pub fn device(&self) -> &Device {
        self.pressure.device()
    }

    /// The grid of cells.
    pub fn cells(&self) -> Grid {
        self.space.cells
    }

    /// The grid of the faces across an axis, on which that component of the velocity lives; other axes: the cells.
    pub fn faces(&self, axis: usize) -> Grid {
        faces(self.space.cells, axis)
    }

    /// The parameters.
    pub fn params(&self) -> &FluidParams {
        &self.params
    }

    /// A component of the velocity, on [`faces`](Self::faces). *Errors*: [`Error::IndexOutOfRange`] for an axis that the
    /// grid does not have.
    pub fn velocity(&self, axis: usize) -> Result<&Vector> {
        let (what, bound) = ("Fluid::velocity", self.velocity.len());
        self.velocity.get(axis).ok_or(Error::IndexOutOfRange { what, index: axis, bound })
    }

    /// Gives a component of the velocity on all faces; what is held stays as it is.
    ///
    /// *Cost*: 1 upload, 1 draw. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`], [`Error::IndexOutOfRange`].
    pub fn set_velocity(&mut self, axis: usize, values: &[f32]) -> Result<()> {
        let (expected, found) = (self.velocity(axis)?.len(), values.len());
        if found != expected {
            let (op, operand) = ("Fluid::set_velocity", "values");
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        let device = self.device().clone();
        let _scope = device.scope()?;
        let values = Vector::from_slice(&device, values)?;
        self.take(axis, &values)
    }

    /// Other obstacles from now on, as in [`new`](Self::new); empty stands for none. Where the fluid decides before and after, its
    /// velocity stays as it is; where there was an obstacle the fluid is at rest, and so is the pressure everywhere. What flows into
    /// obstacles is left to the next [projection](Self::project). The pressure is found as [`params`](Self::params) say, since a
    /// [solver of the caller's](Self::set_pressure_solver) was made for another matrix.
    ///
    /// *Cost*: that of [`new`](Self::new) and a draw for each component; the velocity is not read. *Errors*: those of
    /// [`new`](Self::new), in its name; the fluid is then as it was.
    ///
    /// ```
    /// use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let params = FluidParams::new(0.25).with_boundaries(Boundaries::all(Boundary::Open));
    /// let mut fluid = Fluid::new(dev, texla::Grid::new_2d(4, 1), params, &[])?;
    /// fluid.set_velocity(0, &[1.0; 5])?;
    ///
    /// fluid.set_solid(&[false, true, false, false])?;
    /// assert_eq!(fluid.velocity(0)?.read()?, [1.0, 0.0, 0.0, 1.0, 1.0]);
    /// fluid.set_solid(&[])?;
    /// assert_eq!(fluid.velocity(0)?.read()?, [1.0, 0.0, 0.0, 1.0, 1.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn set_solid(&mut self, solid: &[bool]) -> Result<()> {
        let device = self.device().clone();
        let _scope = device.scope()?;
        let mut next = Fluid::new(&device, self.space.cells, self.params, solid)?;
        for (axis, u) in self.velocity.iter().enumerate() {
            next.take(axis, u)?;
        }
        *self = next;
        Ok(())
    }

    /// Takes a component of the velocity where the fluid decides.
    fn take(&mut self, axis: usize, values: &Vector) -> Result<()> {
        let mut next = Vector::uninit(self.device(), values.len())?;
        if let Some([free, held]) = self.faces.get(axis) {
            ops::mul_add(&mut next, values, free, held)?;
        }
        self.replace(axis, next);
        Ok(())
    }

    /// The pressure as the last projection left it, times time step over density and cell size.
    pub fn pressure(&self) -> &Vector {
        &self.pressure
    }

    /// The pressure's matrix: what a [`PressureSolver`] is made for.
    pub fn poisson(&self) -> &Stencil {
        &self.poisson
    }

    fn replace(&mut self, axis: usize, next: Vector) {
        if let Some(u) = self.velocity.get_mut(axis) {
            *u = next;
        }
    }

    /// `dt / h` for a time step that is one.
    fn rate(&self, op: &'static str, dt: f64) -> Result<f64> {
        let rate = dt / self.params.cell;
        if dt > 0.0 && rate <= f64::from(f32::MAX) {
            return Ok(rate);
        }
        let (name, value, expected) =
            ("dt", format!("{dt:e}"), "a positive number, dt / cell at most 3.4e38");
        Err(Error::Parameter { op, name, value, expected })
    }

    fn check_cells(&self, op: &'static str, operand: &'static str, field: &Vector) -> Result<()> {
        ops::check_device(op, operand, field.device(), self.device())?;
        ops::check_shape(op, operand, field.shape(), Shape::column(self.cells().len()))
    }

    /// What holds a result: faces whose velocity is given keep it, solid cells stay zero. Adds the inputs that it reads.
    fn hold<'a>(&'a self, draw: Draw<'a>, axis: usize) -> Draw<'a> {
        match self.faces.get(axis) {
            Some([free, held]) => draw
                .input("free", free.view())
                .input("held", held.view())
                .lines("#define HOLD(x) (free_here() * (x) + held_here())"),
            None if self.fluid_cells.is_some() => draw.lines("#define HOLD(x) (fluid_here() * (x))"),
            None => draw.lines("#define HOLD(x) (x)"),
        }
    }
}
