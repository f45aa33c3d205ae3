//! Stable fluids: each part against its twin in 64 bits, and what the parts promise together.
#![cfg(all(feature = "sim", feature = "pack"))]

mod boundaries;
mod cavity;
#[path = "../common/mod.rs"]
mod common;
mod errors;
mod flows;
mod forces;
mod parts;
mod solvers;
mod twin;

use common::random::uniform;
// By the name that the example's flow knows it by.
use common::worst as support;
use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams};
use texla::{Device, Grid};
use twin::Field;

/// Grids that tend to go wrong: single rows and columns, odd and prime sides, several layers, a texel and its neighbours.
pub const GRIDS: [Grid; 11] = [
    Grid::new_2d(1, 1),
    Grid::new_2d(1, 7),
    Grid::new_2d(7, 1),
    Grid::new_2d(2, 2),
    Grid::new_2d(4, 4),
    Grid::new_2d(13, 11),
    Grid::new_2d(31, 9),
    Grid::new_3d(2, 1, 3),
    Grid::new_3d(4, 4, 4),
    Grid::new_3d(5, 3, 7),
    Grid::new_3d(1, 5, 2),
];

/// Every kind of side at once.
pub const MIXED: Boundaries = Boundaries {
    x: [Boundary::Inflow { velocity: [0.75, -0.25, 0.5] }, Boundary::Open],
    y: [Boundary::FreeSlip, Boundary::NoSlip { velocity: [0.3, 0.0, -0.7] }],
    z: [Boundary::WALL, Boundary::FreeSlip],
};

pub const ALL_SIDES: [Boundaries; 3] =
    [Boundaries::all(Boundary::WALL), MIXED, Boundaries::all(Boundary::Open)];

/// A fluid with random velocities up to 1 in magnitude, what is held excepted.
pub fn stirred(dev: &Device, cells: Grid, params: FluidParams, solid: &[bool], seed: u64) -> Fluid {
    let mut fluid = Fluid::new(dev, cells, params, solid).unwrap();
    for axis in 0..axes(cells) {
        fluid.set_velocity(axis, &uniform(seed + axis as u64, fluid.faces(axis).len())).unwrap();
    }
    fluid
}

pub fn axes(cells: Grid) -> usize {
    if cells.nz > 1 { 3 } else { 2 }
}

/// The velocity on the host.
pub fn velocity(fluid: &Fluid) -> Vec<Field> {
    let one = |axis| Field::new(fluid.cells(), axis, &fluid.velocity(axis).unwrap().read().unwrap());
    (0..axes(fluid.cells())).map(one).collect()
}

/// Some cells solid: about one in five, no two runs of which are alike.
pub fn obstacles(cells: Grid, seed: u64) -> Vec<bool> {
    uniform(seed, cells.len()).into_iter().map(|v| v > 0.6).collect()
}

/// Solid cells that stand apart, so that none encloses fluid.
pub fn pillars(cells: Grid) -> Vec<bool> {
    let stands = |q: twin::Place| q[0] % 3 == 1 && q[1] % 3 == 1;
    twin::places(cells, 3).into_iter().map(stands).collect()
}
