//! The flow in a square cavity whose lid moves.

use texla::sim::fluid::{Advection, Boundaries, Boundary, Fluid, FluidParams};
use texla::{Device, Grid, Result};

/// Speed and side are 1, so the viscosity is one over the Reynolds number.
pub const REYNOLDS: f64 = 100.0;

pub struct Cavity {
    pub fluid: Fluid,
    pub n: usize,
}

/// Velocities on the two centre lines: (y, u) and (x, v), walls included.
pub struct Profiles {
    pub u: Vec<(f64, f64)>,
    pub v: Vec<(f64, f64)>,
}

impl Cavity {
    /// `n` cells a side; an even number, so that faces lie on the centre lines.
    pub fn new(device: &Device, n: usize, advection: Advection) -> Result<Self> {
        let lid = Boundary::NoSlip { velocity: [1.0, 0.0, 0.0] };
        let boundaries = Boundaries { y: [Boundary::WALL, lid], ..Boundaries::all(Boundary::WALL) };
        let params =
            FluidParams { viscosity: 1.0 / REYNOLDS, boundaries, advection, ..FluidParams::new(1.0 / n as f64) };
        Ok(Cavity { fluid: Fluid::new(device, Grid::new_2d(n, n), params, &[])?, n })
    }

    pub fn profiles(&self) -> Result<Profiles> {
        let n = self.n;
        let (u, v) = (self.fluid.velocity(0)?.read()?, self.fluid.velocity(1)?.read()?);
        let (along_x, along_y) = (self.fluid.faces(1), self.fluid.faces(0));
        let line = |values: &dyn Fn(usize) -> f32, ends: [f64; 2]| {
            let inside = (0..n).map(|k| ((k as f64 + 0.5) / n as f64, f64::from(values(k))));
            std::iter::once((0.0, ends[0])).chain(inside).chain([(1.0, ends[1])]).collect()
        };
        Ok(Profiles {
            u: line(&|k| u[along_y.index(n / 2, k, 0)], [0.0, 1.0]),
            v: line(&|k| v[along_x.index(k, n / 2, 0)], [0.0, 0.0]),
        })
    }
}
