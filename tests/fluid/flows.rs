//! What the parts promise together: exact shifts, known solutions, two and three dimensions.

use std::f64::consts::PI;

use texla::sim::fluid::{Advection, Boundaries, Boundary, Fluid, FluidParams};
use texla::{Device, Grid, Vector};

use crate::common::harness::on_both;
use crate::common::random::uniform;
use crate::common::worst::{worst, worst_of};
use crate::{GRIDS, MIXED, axes, stirred, twin, velocity};

const BOTH: [Advection; 2] = [Advection::SemiLagrangian, Advection::MacCormack];

/// A stream by whole cells a step shifts a field, and changes no bit of it.
#[test]
fn a_shift_by_whole_cells_is_exact() {
    on_both(|dev| {
        let stream = Boundary::Inflow { velocity: [2.0, -1.0, 3.0] };
        for advection in BOTH {
            for cells in [Grid::new_2d(13, 11), Grid::new_3d(5, 6, 8), Grid::new_2d(16, 8)] {
                let shift = [2, -1, if cells.nz > 1 { 3 } else { 0 }];
                let boundaries = Boundaries::all(stream);
                let params = FluidParams::new(0.5).with_boundaries(boundaries).with_advection(advection);
                let mut fluid = Fluid::new(dev, cells, params, &[]).unwrap();
                for (axis, v) in [2.0, -1.0, 3.0].into_iter().enumerate().take(axes(cells)) {
                    fluid.set_velocity(axis, &vec![v; fluid.faces(axis).len()]).unwrap();
                }
                let dye = uniform(7, cells.len());
                let mut moved = Vector::from_slice(dev, &dye).unwrap();
                fluid.transport(&mut moved, 0.5).unwrap();
                let moved = moved.read().unwrap();
                let n = twin::sides(cells, 3);
                let mut seen = 0;
                for (i, q) in twin::places(cells, 3).into_iter().enumerate() {
                    let from = [0, 1, 2].map(|a| q[a] - shift[a]);
                    // The correction looks forth too.
                    let inside = |k: i64, a: usize| (0..n[a]).contains(&k);
                    if (0..3).all(|a| inside(from[a], a) && inside(q[a] + shift[a], a)) {
                        let j = from[0] + n[0] * (from[1] + n[1] * from[2]);
                        assert_eq!(moved[i], dye[j as usize], "{cells} {q:?}");
                        seen += 1;
                    }
                }
                assert!(seen > 0);
            }
        }
    });
}

/// No value leaves the range of those before it, but for the rounding of an interpolation.
#[test]
fn advection_makes_no_new_extrema() {
    on_both(|dev| {
        for advection in BOTH {
            for (seed, cells) in (1..).zip(GRIDS) {
                let params = FluidParams::new(0.5).with_boundaries(MIXED).with_advection(advection);
                let fluid = stirred(dev, cells, params, &[], seed);
                let mut dye = Vector::from_slice(dev, &uniform(seed, cells.len())).unwrap();
                let range = |dye: &Vector| {
                    let values = dye.read().unwrap();
                    values.iter().fold((f32::MAX, f32::MIN), |(l, h), v| (-worst(-l, -v), worst(h, *v)))
                };
                let (low, high) = range(&dye);
                for _ in 0..5 {
                    fluid.transport(&mut dye, 0.9).unwrap();
                }
                let (l, h) = range(&dye);
                assert!(l >= low - 2e-6 && h <= high + 2e-6, "{cells}: {low} {l}, {high} {h}");
            }
        }
    });
}

/// The vortex of Taylor and Green in a box of walls without friction, at a time.
fn vortex(n: usize, amplitude: f64) -> [Vec<f32>; 2] {
    let cells = Grid::new_2d(n, n);
    let h = 1.0 / n as f64;
    let at = |axis: usize, f: &dyn Fn(f64, f64) -> f64| {
        let origin = [0, 1].map(|a| if a == axis { 0.0 } else { 0.5 });
        let places = twin::places(cells, axis).into_iter();
        places
            .map(|q| (amplitude * f((q[0] as f64 + origin[0]) * h, (q[1] as f64 + origin[1]) * h)) as f32)
            .collect()
    };
    let u = at(0, &|x, y| (PI * x).sin() * (PI * y).cos());
    let v = at(1, &|x, y| -(PI * x).cos() * (PI * y).sin());
    [u, v]
}

/// The largest error of a vortex that has decayed for a time of 1/2 in so many steps.
fn vortex_error(dev: &Device, n: usize, steps: usize, advection: Advection) -> f64 {
    let (viscosity, end) = (0.02, 0.5);
    let boundaries = Boundaries::all(Boundary::FreeSlip);
    let params = FluidParams::new(1.0 / n as f64)
        .with_boundaries(boundaries)
        .with_viscosity(viscosity)
        .with_advection(advection);
    let mut fluid = Fluid::new(dev, Grid::new_2d(n, n), params, &[]).unwrap();
    let start = vortex(n, 1.0);
    for (axis, values) in start.iter().enumerate() {
        fluid.set_velocity(axis, values).unwrap();
    }
    for _ in 0..steps {
        fluid.step(end / steps as f64).unwrap();
    }
    let want = vortex(n, (-2.0 * PI * PI * viscosity * end).exp());
    let off = |axis: usize| {
        let got = fluid.velocity(axis).unwrap().read().unwrap();
        worst_of(&got, &want[axis], |a, b| f64::from((a - b).abs()))
    };
    worst(off(0), off(1))
}

/// The parts are of first order in time, so half the step and half the cell halve the error.
#[test]
fn a_vortex_decays_as_it_should() {
    on_both(|dev| {
        for advection in BOTH {
            let errors: Vec<f64> =
                [(8, 8), (16, 16), (32, 32)].map(|(n, steps)| vortex_error(dev, n, steps, advection)).into();
            eprintln!("{advection:?}: {errors:?}");
            assert!(errors.windows(2).all(|e| e[1] < 0.62 * e[0]), "{advection:?}: {errors:?}");
        }
    });
}

/// However long the step and whatever the viscosity, nothing grows: interpolation and implicit viscosity keep the
/// maximum, and a projection does not add energy.
#[test]
fn nothing_grows_with_any_step() {
    on_both(|dev| {
        let cells = Grid::new_2d(24, 20);
        for dt in [0.01, 1.0, 100.0] {
            for viscosity in [0.0, 1e-3, 10.0] {
                let params = FluidParams::new(0.05).with_viscosity(viscosity);
                let mut fluid = stirred(dev, cells, params, &[], 3);
                fluid.project().unwrap();
                let energy = |fluid: &Fluid| -> f64 {
                    velocity(fluid).iter().flat_map(|u| u.values.iter()).map(|v| v * v).sum()
                };
                let start = energy(&fluid);
                for k in 0..10 {
                    fluid.advect(dt).unwrap();
                    let a = energy(&fluid);
                    fluid.diffuse(dt).map_err(|e| format!("diffuse {k} {a:e} {dt} {viscosity} {e}")).unwrap();
                    let b = energy(&fluid);
                    fluid
                        .project()
                        .map_err(|e| format!("project {k} {a:e} {b:e} {dt} {viscosity} {e}"))
                        .unwrap();
                }
                let end = energy(&fluid);
                assert!(end <= 1.02 * start, "dt {dt}, viscosity {viscosity}: {start} {end}");
            }
        }
    });
}

/// Nothing stirs any more: every solve on the way to rest goes well, down to the bottom of the range of floats.
#[test]
fn a_fluid_comes_to_rest() {
    on_both(|dev| {
        for (cells, viscosity) in [(Grid::new_2d(24, 20), 2.0), (Grid::new_3d(7, 6, 5), 9.0)] {
            let params = FluidParams::new(0.1).with_viscosity(viscosity);
            let mut fluid = stirred(dev, cells, params, &[], 11);
            let mut largest = f64::MAX;
            for step in 0..60 {
                fluid.step(0.4).unwrap_or_else(|e| panic!("{cells}, step {step}, {largest:e}: {e}"));
                let fields = velocity(&fluid);
                largest = fields.iter().flat_map(|u| &u.values).map(|v| v.abs()).fold(0.0, worst);
            }
            assert_eq!(largest, 0.0, "{cells}");
        }
    });
}

/// A flow that is the same in every layer is the flow in two dimensions.
#[test]
fn three_dimensions_hold_two() {
    on_both(|dev| {
        let (flat, deep) = (Grid::new_2d(13, 6), Grid::new_3d(13, 6, 4));
        let mut sides = Boundaries::all(Boundary::WALL);
        sides.z = [Boundary::FreeSlip; 2];
        for advection in BOTH {
            let params =
                FluidParams::new(0.5).with_advection(advection).with_boundaries(sides).with_confinement(3.0);
            let mut two = stirred(dev, flat, params, &[], 5);
            let mut three = Fluid::new(dev, deep, params, &[]).unwrap();
            for axis in 0..2 {
                let layer = two.velocity(axis).unwrap().read().unwrap();
                three.set_velocity(axis, &layer.repeat(4)).unwrap();
            }
            let dye = uniform(9, flat.len());
            let mut dyes = [&dye, &dye.repeat(4)].map(|dye| Vector::from_slice(dev, dye).unwrap());
            let same = |two: &Fluid, three: &Fluid, tolerance: f64, what: &str| {
                for (a, b) in velocity(two).iter().zip(velocity(three)) {
                    for (i, v) in b.values.iter().enumerate() {
                        let w = a.values[i % a.values.len()];
                        assert!((v - w).abs() <= tolerance, "{what}, axis {}: {v} {w}", a.axis);
                    }
                }
            };
            two.confine(0.2).unwrap();
            three.confine(0.2).unwrap();
            same(&two, &three, 1e-6, "confine");
            two.advect(0.2).unwrap();
            three.advect(0.2).unwrap();
            same(&two, &three, 1e-5, "advect");
            two.transport(&mut dyes[0], 0.3).unwrap();
            three.transport(&mut dyes[1], 0.3).unwrap();
            let (a, b) = (dyes[0].read().unwrap(), dyes[1].read().unwrap());
            let off = b.iter().enumerate().map(|(i, v)| (v - a[i % a.len()]).abs()).fold(0.0, worst);
            assert!(off <= 2e-5, "dye: {off:e}");
            two.project().unwrap();
            three.project().unwrap();
            same(&two, &three, 1e-4, "project");
            let third = three.velocity(2).unwrap().read().unwrap();
            assert!(third.iter().all(|w| w.abs() <= 1e-4));
        }
    });
}

/// Dye in a closed box: what advection adds or takes away vanishes with the cell size.
#[test]
fn the_mass_of_dye_is_kept_the_better_the_finer_the_grid() {
    on_both(|dev| {
        let loss = |n: usize| {
            let params =
                FluidParams::new(1.0 / n as f64).with_boundaries(Boundaries::all(Boundary::FreeSlip));
            let mut fluid = Fluid::new(dev, Grid::new_2d(n, n), params, &[]).unwrap();
            for (axis, values) in vortex(n, 1.0).iter().enumerate() {
                fluid.set_velocity(axis, values).unwrap();
            }
            let mut dye = Vector::zeros(dev, n * n).unwrap();
            fluid.splat(&mut dye, [0.5, 0.3, 0.0], 0.12, 1.0).unwrap();
            let mass = |dye: &Vector| dye.read().unwrap().iter().map(|v| f64::from(*v)).sum::<f64>();
            let start = mass(&dye);
            for _ in 0..n {
                fluid.transport(&mut dye, 1.0 / n as f64).unwrap();
            }
            (mass(&dye) / start - 1.0).abs()
        };
        let losses = [16, 32, 64].map(loss);
        eprintln!("{losses:?}");
        assert!(losses[1] < 0.25 * losses[0] && losses[2] < 0.1 * losses[0], "{losses:?}");
    });
}
