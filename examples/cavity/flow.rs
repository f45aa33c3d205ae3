//! The flow in a square cavity whose lid moves, on one grid after the other.

use texla::sim::fluid::{Advection, Boundaries, Boundary, Fluid, FluidParams};
use texla::{Device, Grid, Result};

use crate::support::worst;

/// Speed of the lid and side of the cavity are 1, so the viscosity is one over this.
pub const REYNOLDS: f64 = 100.0;

/// Cells that the fluid at the lid passes in a step.
const CELLS_A_STEP: f64 = 4.0;

/// The flow is steady when no velocity on the centre lines changes by more than this in a unit of time.
pub const STEADY: f64 = 1e-4;

/// And is not expected to become so after this time.
const LONGEST: f64 = 60.0;

pub struct Cavity {
    fluid: Fluid,
    n: usize,
}

/// Velocities on the two centre lines, walls included.
#[derive(Clone)]
pub struct Profiles {
    /// (y, u) at x = 1/2.
    pub u: Vec<(f64, f64)>,
    /// (x, v) at y = 1/2.
    pub v: Vec<(f64, f64)>,
}

/// What it took on one grid.
pub struct Run {
    pub steps: usize,
    /// Of the pressure's solver, all steps together.
    pub iterations: usize,
    /// The last change in a unit of time.
    pub change: f64,
    pub profiles: Profiles,
    /// Largest divergence at the end.
    pub divergence: f64,
}

impl Cavity {
    /// `n` cells a side; an even number, so that faces lie on the centre lines.
    pub fn new(device: &Device, n: usize, advection: Advection) -> Result<Self> {
        let lid = Boundary::NoSlip { velocity: [1.0, 0.0, 0.0] };
        let boundaries = Boundaries { y: [Boundary::WALL, lid], ..Boundaries::all(Boundary::WALL) };
        let params = FluidParams::new(1.0 / n as f64)
            .with_viscosity(1.0 / REYNOLDS)
            .with_boundaries(boundaries)
            .with_advection(advection);
        Ok(Cavity { fluid: Fluid::new(device, Grid::new_2d(n, n), params, &[])?, n })
    }

    /// Begins with the flow on a grid half as fine: every face takes the value of the nearest one there.
    pub fn begin_with(&mut self, coarse: &Cavity) -> Result<()> {
        for axis in 0..2 {
            let (from, to) = (coarse.fluid.faces(axis), self.fluid.faces(axis));
            let values = coarse.fluid.velocity(axis)?.read()?;
            let nearest = |i: usize| {
                let (x, y, _) = to.place(i);
                values[from.index(x / 2, y / 2, 0)]
            };
            self.fluid.set_velocity(axis, &(0..to.len()).map(nearest).collect::<Vec<_>>())?;
        }
        self.fluid.project()?;
        Ok(())
    }

    /// Steps until the flow is steady.
    pub fn run(&mut self) -> Result<Run> {
        let dt = CELLS_A_STEP / self.n as f64;
        let (mut steps, mut iterations, mut change) = (0, 0, f64::INFINITY);
        let mut profiles = self.profiles()?;
        while change > STEADY && steps as f64 * dt < LONGEST {
            for _ in 0..(1.0 / dt).round() as usize {
                iterations += self.fluid.step(dt)?.iterations;
                steps += 1;
            }
            let now = self.profiles()?;
            change = profiles.distance(&now);
            profiles = now;
        }
        Ok(Run { steps, iterations, change, profiles, divergence: self.fluid.max_divergence()? })
    }

    fn profiles(&self) -> Result<Profiles> {
        let n = self.n;
        let line = |axis: usize, ends: [f64; 2]| -> Result<Vec<(f64, f64)>> {
            let (grid, values) = (self.fluid.faces(axis), self.fluid.velocity(axis)?.read()?);
            let at = |k: usize| if axis == 0 { grid.index(n / 2, k, 0) } else { grid.index(k, n / 2, 0) };
            let inside = (0..n).map(|k| ((k as f64 + 0.5) / n as f64, f64::from(values[at(k)])));
            Ok(std::iter::once((0.0, ends[0])).chain(inside).chain([(1.0, ends[1])]).collect())
        };
        Ok(Profiles { u: line(0, [0.0, 1.0])?, v: line(1, [0.0, 0.0])? })
    }
}

impl Profiles {
    /// The largest difference; NaN where one is.
    fn distance(&self, other: &Profiles) -> f64 {
        let pairs = self.u.iter().zip(&other.u).chain(self.v.iter().zip(&other.v));
        pairs.map(|(a, b)| (a.1 - b.1).abs()).fold(0.0, worst)
    }
}
