//! Stam's solver for incompressible flow, whose projection gives the systems: smoke that a source, which goes round, blows
//! through a box that is open at both ends of x. Its own diffusion and projection are by enhanced block Jacobi.

use std::cell::RefCell;
use std::f64::consts::TAU;
use std::rc::Rc;

use texla::sim::fluid::{
    Advection, Boundaries, Boundary, Diffusion, Fluid, FluidParams, Pressure, PressureReport, PressureSolver,
};
use texla::solve::{StationaryParams, Stop};
use texla::{Device, Grid, Stencil, Vector};

use crate::support::{Failure, Result, worst};

/// Viscosity times time step over the square of the cell size: the paper leaves it open, as all of its scene.
const DIFFUSION: f64 = 0.05;
/// The relative residual that the diffusion step is solved to, and the projection.
pub const DIFFUSED: f64 = 1e-5;
const PROJECTED: f64 = 1e-3;
/// Steps in which the source goes round once.
const ROUND: f64 = 40.0;

/// Keeps the right-hand side of each projection.
struct Recorder {
    solver: Box<dyn PressureSolver>,
    b: Rc<RefCell<Vec<f32>>>,
}

impl PressureSolver for Recorder {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> texla::Result<PressureReport> {
        *self.b.borrow_mut() = b.read()?;
        self.solver.solve(a, p, b)
    }
}

pub struct Scene {
    fluid: Fluid,
    pub smoke: Vector,
    b: Rc<RefCell<Vec<f32>>>,
    dt: f64,
    steps: usize,
    /// Sweeps of the diffusion in each step, of the component that took the most, and of the projection.
    pub diffused: Vec<usize>,
    pub projected: Vec<usize>,
    /// The largest divergence that a projection has left, of that before it.
    pub left: f64,
}

impl Scene {
    pub fn new(device: &Device, grid: Grid) -> Result<Self> {
        let h = 1.0 / grid.ny as f64;
        // The source moves what is before it by about a cell in a step.
        let dt = h;
        let boundaries = Boundaries { x: [Boundary::Open; 2], ..Boundaries::all(Boundary::WALL) };
        let params = StationaryParams::default().with_stop(Stop::relative(PROJECTED)).with_test_every(32);
        let pressure = Pressure::EnhancedBlockJacobi { params, sweeps: None };
        let params = FluidParams::new(h)
            .with_boundaries(boundaries)
            .with_advection(Advection::SemiLagrangian)
            .with_viscosity(DIFFUSION * h * h / dt)
            .with_viscous_stop(Stop::relative(DIFFUSED))
            .with_diffusion(Diffusion::EnhancedBlockJacobi)
            .with_pressure(pressure);
        let mut fluid = Fluid::new(device, grid, params, &[])?;
        let b = Rc::default();
        let solver = pressure.solver(fluid.poisson())?;
        fluid.set_pressure_solver(Box::new(Recorder { solver, b: Rc::clone(&b) }));
        let smoke = Vector::zeros(device, grid.len())?;
        Ok(Self { fluid, smoke, b, dt, steps: 0, diffused: Vec::new(), projected: Vec::new(), left: 0.0 })
    }

    /// A time step. The right-hand side of its projection.
    pub fn step(&mut self) -> Result<Vec<f32>> {
        let (angle, h) = (TAU * self.steps as f64 / ROUND, self.fluid.params().cell);
        let [nx, ny, nz] = self.fluid.cells().sides().map(|n| n as f64 * h);
        // Off the middle, where nothing of the slowest mode would be in the right-hand side.
        let source = [0.3 * nx, ny * (0.5 + 0.25 * angle.cos()), nz * (0.5 + 0.25 * angle.sin())];
        let along = [0.3, -0.5 * angle.sin(), 0.5 * angle.cos()];
        let Self { fluid, smoke, dt, .. } = self;
        fluid.splat(smoke, source, 0.08, 0.3)?;
        fluid.push(source, 0.08, along)?;
        fluid.advect(*dt)?;
        fluid.diffuse(*dt)?;
        let projection = fluid.project_reported()?;
        fluid.transport(smoke, *dt)?;
        let diffused = fluid.viscous_report().filter(|report| report.met == Some(true));
        let diffused = diffused.ok_or_else(|| Failure::unsolved("the diffusion step did not converge"))?;
        self.diffused.push(diffused.iterations);
        self.projected.push(projection.pressure.iterations);
        self.left = worst(self.left, projection.after / projection.before);
        self.steps += 1;
        Ok(self.b.take())
    }
}
