//! What is refused, and in which words.

use texla::sim::fluid::{Boundaries, Boundary, Diffusion, Fluid, FluidParams, Pressure};
use texla::solve::{MultigridParams, StationaryParams, Stop};
use texla::{Error, Grid, Vector};

use crate::common::harness::on_both;
use crate::common::random::uniform;

const OPEN: Boundaries = Boundaries::all(Boundary::Open);

fn says(error: Error, words: &[&str]) {
    let text = error.to_string();
    assert!(words.iter().all(|w| text.contains(w)), "{text}: expected {words:?}");
}

#[test]
fn what_cannot_be_a_fluid_is_refused() {
    on_both(|dev| {
        let grid = Grid::new_2d(4, 3);
        let good = FluidParams::new(0.1);
        let refused = |grid, params, solid: &[bool], words: &[&str]| {
            let live = || {
                dev.trim().unwrap();
                dev.live_objects()
            };
            let before = live();
            says(Fluid::new(dev, grid, params, solid).err().unwrap(), words);
            assert_eq!(live(), before);
        };
        refused(Grid::new_2d(0, 3), good, &[], &["Fluid::new", "grid"]);
        refused(Grid::new_2d(1 << 12, 1 << 12), good, &[], &["fluid's grid", "cells"]);
        refused(grid, good, &[true; 5], &["solid", "5", "12"]);
        let stone: Vec<bool> = (0..12).map(|i| i == 5).collect();
        let blocks = |params| Pressure::EnhancedBlockJacobi { params, sweeps: None };
        let of_blocks = good.with_pressure(blocks(StationaryParams::default()));
        refused(grid, of_blocks, &stone, &["EnhancedBlockJacobi", "obstacles in 1 of 12", "expected none"]);
        let never = blocks(StationaryParams::default().with_test_every(0));
        refused(grid, good.with_pressure(never), &[], &["test_every"]);
        let of_lines = good.with_diffusion(Diffusion::EnhancedBlockJacobi);
        refused(grid, of_lines, &stone, &["Fluid::new", "diffusion", "1 solid", "no obstacles"]);
        for cell in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-38, 1e38] {
            refused(grid, good.with_cell(cell), &[], &["cell", "positive"]);
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            refused(grid, good.with_viscosity(bad), &[], &["viscosity"]);
            refused(grid, good.with_confinement(bad), &[], &["confinement"]);
        }
        let lifting = Boundary::NoSlip { velocity: [0.0, 1.0, 0.0] };
        let sides = Boundaries { y: [Boundary::WALL, lifting], ..good.boundaries };
        refused(grid, good.with_boundaries(sides), &[], &["velocity", "across the side"]);
        let nan = Boundary::Inflow { velocity: [f64::NAN, 0.0, 0.0] };
        let sides = Boundaries { x: [nan, Boundary::Open], ..good.boundaries };
        refused(grid, good.with_boundaries(sides), &[], &["NaN"]);
        let inflow = Boundary::Inflow { velocity: [1.0, 0.0, 0.0] };
        let sides = Boundaries { x: [inflow, Boundary::WALL], ..good.boundaries };
        refused(grid, good.with_boundaries(sides), &[], &["boundaries", "open side"]);
        // A pocket of obstacles at the inflow, though the box is open.
        let sides = Boundaries { x: [inflow, Boundary::Open], ..good.boundaries };
        let solid: Vec<bool> = (0..12).map(|i| i % 4 == 1).collect();
        refused(grid, good.with_boundaries(sides), &solid, &["boundaries", "closed region"]);
        // A pocket of one cell, which the pressure's matrix takes for solid; and one at either end, which balance each
        // other but not themselves.
        let square = Grid::new_2d(4, 4);
        let of = |cells: &[usize]| (0..16).map(|i| cells.contains(&i)).collect::<Vec<_>>();
        refused(square, good.with_boundaries(sides), &of(&[1, 4]), &["boundaries", "closed region"]);
        let sides = Boundaries { x: [inflow, inflow], ..good.boundaries };
        let both = of(&[1, 4, 11, 14]);
        refused(square, good.with_boundaries(sides), &both, &["boundaries", "closed region"]);
        // Of a single row the cell takes as much as it gives.
        let across = Boundaries {
            x: [Boundary::WALL; 2],
            y: [Boundary::Inflow { velocity: [0.0, 1.0, 0.0] }; 2],
            ..good.boundaries
        };
        let row = Grid::new_2d(3, 1);
        Fluid::new(dev, row, good.with_boundaries(across), &[true, false, true]).unwrap();
        Fluid::new(dev, grid, good.with_boundaries(sides), &[]).unwrap();
    });
}

#[test]
fn steps_and_fields_are_checked() {
    on_both(|dev| {
        let grid = Grid::new_2d(4, 3);
        let mut fluid = Fluid::new(dev, grid, FluidParams::new(0.1), &[]).unwrap();
        let mut cells = Vector::zeros(dev, 12).unwrap();
        let mut short = Vector::zeros(dev, 11).unwrap();
        for dt in [0.0, -0.1, f64::NAN, f64::INFINITY] {
            for result in [
                fluid.step(dt).map(|_| ()),
                fluid.advect(dt),
                fluid.diffuse(dt),
                fluid.confine(dt),
                fluid.transport(&mut cells, dt),
                fluid.accelerate([1.0; 3], dt),
                fluid.buoyancy(&cells, [1.0; 3], dt),
            ] {
                says(result.unwrap_err(), &["dt", "positive"]);
            }
        }
        for result in [
            fluid.transport(&mut short, 0.1),
            fluid.divergence(&mut short),
            fluid.splat(&mut short, [0.0; 3], 1.0, 1.0),
            fluid.buoyancy(&short, [1.0; 3], 0.1),
            fluid.force(0, &cells, 0.1),
        ] {
            assert!(matches!(result, Err(Error::ShapeMismatch { .. })), "{result:?}");
        }
        // Each factor is a float, or at least finite; the product is none.
        let large = [0.0, 1e38, 0.0];
        for (result, what) in [
            (fluid.accelerate(large, 1e10), "dt acceleration"),
            (fluid.buoyancy(&cells, large, 1e10), "dt acceleration"),
            (fluid.push([1e38; 3], 1.0, [1.0; 3]), "Fluid::push"),
        ] {
            assert!(matches!(result, Err(Error::NonFinite { .. })), "{result:?}");
            says(result.unwrap_err(), &[what]);
        }
        says(fluid.push([0.1; 3], 1e-40, [1.0; 3]).unwrap_err(), &["Fluid::push", "radius", "1e-40"]);
        says(fluid.splat(&mut cells, [0.1; 3], 1e-40, 1.0).unwrap_err(), &["Fluid::splat", "radius"]);
        let thick = FluidParams::new(0.1).with_viscosity(1e30).with_confinement(1e30);
        let mut thick = Fluid::new(dev, grid, thick, &[]).unwrap();
        says(thick.diffuse(1e20).unwrap_err(), &["Fluid::diffuse", "viscosity"]);
        says(thick.confine(1e20).unwrap_err(), &["Fluid::confine", "confinement"]);
        for axis in 0..2 {
            for fluid in [&fluid, &thick] {
                assert!(fluid.velocity(axis).unwrap().read().unwrap().iter().all(|v| *v == 0.0));
            }
        }
        let alternating: Vec<f32> = (0..15).map(|i| if i % 2 == 0 { 3e38 } else { -3e38 }).collect();
        thick.set_velocity(0, &alternating).unwrap();
        says(thick.project_reported().unwrap_err(), &["Fluid::project_reported", "divergence"]);
        // Infinite velocities everywhere, whose differences are NaN.
        let mut gone = Fluid::new(dev, grid, FluidParams::new(0.1).with_boundaries(OPEN), &[]).unwrap();
        for _ in 0..2 {
            gone.accelerate([3e38, 3e38, 0.0], 1.0).unwrap();
        }
        says(gone.project_reported().unwrap_err(), &["before", "NaN"]);
        let nan = [f64::NAN, 0.0, 0.0];
        for result in [
            fluid.accelerate(nan, 0.1),
            fluid.buoyancy(&cells, nan, 0.1),
            fluid.push(nan, 1.0, [1.0; 3]),
            fluid.push([0.0; 3], 1.0, nan),
            fluid.splat(&mut cells, nan, 1.0, 1.0),
            fluid.splat(&mut cells, [0.0; 3], 1.0, f64::NAN),
            fluid.set_velocity(0, &[f32::NAN; 15]),
        ] {
            assert!(matches!(result, Err(Error::NonFinite { .. })), "{result:?}");
        }
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            says(fluid.push([0.0; 3], radius, [1.0; 3]).unwrap_err(), &["radius"]);
        }
        says(fluid.velocity(2).unwrap_err(), &["Fluid::velocity", "2"]);
        says(fluid.force(2, &cells, 0.1).unwrap_err(), &["Fluid::velocity"]);
        says(fluid.set_velocity(0, &[0.0; 12]).unwrap_err(), &["values", "12", "15"]);
        assert_eq!(cells.read().unwrap(), [0.0; 12], "nothing has been written");
    });
}

#[test]
fn a_viscous_step_that_does_not_converge_is_told_of() {
    on_both(|dev| {
        let made = |bound, iterations| {
            let params = FluidParams::new(0.1)
                .with_viscosity(0.1)
                .with_viscous_stop(Stop::relative(bound))
                .with_viscous_iterations(iterations);
            let mut fluid = Fluid::new(dev, Grid::new_2d(16, 16), params, &[]).unwrap();
            assert_eq!(fluid.viscous_report(), None);
            fluid.push([0.8; 3], 0.3, [1.0; 3]).unwrap();
            fluid.step(1.0).unwrap();
            fluid.viscous_report().unwrap()
        };
        let good = made(1e-5, None);
        assert!(good.met == Some(true) && good.residual.unwrap() <= 1e-5 && good.iterations > 1, "{good:?}");
        // No float solution has such a residual.
        let bad = made(1e-12, None);
        assert!(bad.met == Some(false) && bad.residual.unwrap() > 1e-12, "{bad:?}");
        let fixed = made(1e-5, Some(7));
        assert_eq!((fixed.iterations, fixed.residual, fixed.met), (7, None, None));
    });
}

/// A guess that has overflown is none: what follows is projected as by a fluid that has seen nothing else.
#[test]
fn what_has_overflown_is_forgotten() {
    on_both(|dev| {
        let cells = Grid::new_2d(9, 7);
        let methods = [
            Pressure::default(),
            Pressure::Multigrid { params: MultigridParams::default(), cycles: 6 },
            Pressure::Jacobi { omega: 0.8, sweeps: 20 },
        ];
        for pressure in methods {
            let params = FluidParams::new(1.0).with_pressure(pressure);
            let set = |fluid: &mut Fluid, scale: f32| {
                for axis in 0..2 {
                    let values = uniform(axis as u64, fluid.faces(axis).len());
                    let values: Vec<f32> = values.into_iter().map(|v| v * scale).collect();
                    fluid.set_velocity(axis, &values).unwrap();
                }
            };
            let of = |fluid: &Fluid| [0, 1].map(|axis| fluid.velocity(axis).unwrap().read().unwrap());
            let mut fresh = Fluid::new(dev, cells, params, &[]).unwrap();
            set(&mut fresh, 1.0);
            fresh.project().unwrap();
            let mut fluid = Fluid::new(dev, cells, params, &[]).unwrap();
            // The inner products of its pressure are beyond the range: there is no number that fits it.
            for _ in 0..2 {
                set(&mut fluid, 2f32.powi(64));
                fluid.project().unwrap();
            }
            // Neither is there of velocities that are infinite.
            set(&mut fluid, f32::MAX);
            fluid.accelerate([3e38, 0.0, 0.0], 1.0).unwrap();
            let lost = fluid.project();
            assert!(lost.is_err() || !of(&fluid).iter().flatten().all(|v| v.is_finite()), "{pressure:?}");
            set(&mut fluid, 1.0);
            fluid.project().unwrap();
            assert_eq!(of(&fluid), of(&fresh), "{pressure:?}");
        }
    });
}
