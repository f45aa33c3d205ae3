//! The flow: a stream from the left around a disc, with dye in stripes, and out on the right.

use crate::support::angles::sine;
use texla::kernel::Kernel;
use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams, Pressure, PressureReport};
use texla::solve::{CgParams, MultigridParams, Stop};
use texla::{Device, Grid, Result, Vector};

texla::params! {
    /// Where dye comes in.
    pub struct Inlet { cells: [i32; 2], shift: f32, colour: i32 }
}

/// Length of the tunnel; its height and the speed of the stream are 1.
pub const LENGTH: f64 = 2.0;
/// Middle of the disc at first, and its radius.
const MIDDLE: [f64; 2] = [0.42, 0.49];
pub const RADIUS: f64 = 0.085;
/// Cells that the stream passes in a step.
const CELLS_A_STEP: f64 = 1.6;
/// Iterations of every pressure solve, and the residual at which they freeze.
const ITERATIONS: usize = 7;
const RESIDUAL: f64 = 1e-5;

pub struct Tunnel {
    pub fluid: Fluid,
    /// Amber and blue.
    pub dyes: [Vector; 2],
    inlet: Kernel<Inlet>,
    pub cells: Grid,
    /// Middle of the disc.
    pub disc: [f64; 2],
    pub dt: f64,
    pub time: f64,
}

/// The largest divergence before and after a projection.
#[derive(Clone, Copy)]
pub struct Look {
    pub before: f64,
    pub after: f64,
}

impl Tunnel {
    /// `height` cells from floor to ceiling, a multiple of four.
    pub fn new(device: &Device, height: usize) -> Result<Self> {
        Self::with_pressure(device, height, Self::fixed())
    }

    /// Conjugate gradients preconditioned by multigrid, always the same number of iterations: nothing is read back.
    fn fixed() -> Pressure {
        let params = CgParams::default().with_stop(Stop::relative(RESIDUAL));
        Pressure::Fixed { params, multigrid: MultigridParams::default(), iterations: ITERATIONS }
    }

    pub fn with_pressure(device: &Device, height: usize, pressure: Pressure) -> Result<Self> {
        let cells = Grid::new_2d((LENGTH * height as f64) as usize, height);
        let stream = Boundary::Inflow { velocity: [1.0, 0.0, 0.0] };
        let boundaries = Boundaries { x: [stream, Boundary::Open], ..Boundaries::all(Boundary::FreeSlip) };
        let h = 1.0 / height as f64;
        let params =
            FluidParams::new(h).with_boundaries(boundaries).with_pressure(pressure).with_confinement(1.5);
        let mut fluid = Fluid::new(device, cells, params, &solid(cells, MIDDLE))?;
        fluid.set_velocity(0, &vec![1.0; fluid.faces(0).len()])?;
        // A push from below behind the disc, so that the wake need not wait for rounding to sway.
        let [x, y] = MIDDLE;
        fluid.push([x + 2.0 * RADIUS, y, 0.0], RADIUS, [0.0, 0.4, 0.0])?;
        fluid.project()?;
        let body = crate::support::shader!("smoke/inlet.frag");
        Ok(Tunnel {
            fluid,
            dyes: [Vector::zeros(device, cells.len())?, Vector::zeros(device, cells.len())?],
            inlet: Kernel::new(device, "inlet", ["dye"], body)?,
            cells,
            disc: MIDDLE,
            dt: CELLS_A_STEP * h,
            time: 0.0,
        })
    }

    /// A step. Nothing is read back.
    pub fn step(&mut self) -> Result<()> {
        let device = self.fluid.device().clone();
        let _scope = device.scope()?;
        self.move_on()?;
        self.fluid.project()?;
        self.carry()
    }

    /// A step, and the divergence before and after its projection: two numbers are read.
    pub fn step_with_look(&mut self) -> Result<(Look, PressureReport)> {
        self.move_on()?;
        let projection = self.fluid.project_reported()?;
        self.carry()?;
        Ok((Look { before: projection.before, after: projection.after }, projection.pressure))
    }

    /// A step up to its projection.
    pub fn move_on(&mut self) -> Result<()> {
        self.fluid.confine(self.dt)?;
        self.fluid.advect(self.dt)
    }

    /// The rest of a step: dye comes in and is carried along.
    fn carry(&mut self) -> Result<()> {
        let cells = [self.cells.nx as i32, self.cells.ny as i32];
        let shift = (0.05 * sine(0.9 * self.time)) as f32;
        for (colour, dye) in (0..).zip(&mut self.dyes) {
            let mut next = Vector::zeros(dye.device(), dye.len())?;
            self.inlet.run(&mut next, [&*dye], &Inlet { cells, shift, colour })?;
            std::mem::swap(dye, &mut next);
            self.fluid.transport(dye, self.dt)?;
        }
        self.time += self.dt;
        Ok(())
    }

    /// Puts the disc elsewhere, as far as it stays in the tunnel; where it has been the fluid is at rest. Nothing is read back.
    #[allow(dead_code)] // the page in a browser lets it be dragged
    pub fn move_disc(&mut self, [x, y]: [f64; 2]) -> Result<()> {
        let room = 1.5 * RADIUS;
        self.disc = [x.clamp(room, LENGTH - room), y.clamp(room, 1.0 - room)];
        let device = self.fluid.device().clone();
        let _scope = device.scope()?;
        self.fluid.set_solid(&solid(self.cells, self.disc))?;
        self.fluid.project()?;
        Ok(())
    }

    /// Stirs: the fluid around a place is pushed, and takes dye along.
    pub fn stir(&mut self, [x, y]: [f64; 2], [u, v]: [f64; 2]) -> Result<()> {
        self.fluid.push([x, y, 0.0], 0.04, [u, v, 0.0])?;
        let [_, blue] = &mut self.dyes;
        self.fluid.splat(blue, [x, y, 0.0], 0.03, 0.25)
    }
}

/// Which cells have their middle in a disc.
fn solid(cells: Grid, [cx, cy]: [f64; 2]) -> Vec<bool> {
    let h = 1.0 / cells.ny as f64;
    let inside = |i: usize| {
        let (x, y, _) = cells.place(i);
        ((x as f64 + 0.5) * h - cx).hypot((y as f64 + 0.5) * h - cy) < RADIUS
    };
    (0..cells.len()).map(inside).collect()
}
