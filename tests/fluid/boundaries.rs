//! What sides and obstacles hold.

use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams};
use texla::{Error, Vector};

use crate::common::harness::on_both;
use crate::common::random::uniform;
use crate::common::reference::max_abs;
use crate::common::worst::worst;
use crate::{ALL_SIDES, GRIDS, MIXED, axes, obstacles, pillars, stirred, twin, velocity};

/// No flow through walls and solid cells, after every part of a step, to the bit.
#[test]
fn held_faces_stay_as_they_are() {
    on_both(|dev| {
        for (seed, cells) in (1..).zip(GRIDS) {
            for sides in ALL_SIDES {
                let solid = pillars(cells);
                let params =
                    FluidParams::new(0.1).with_boundaries(sides).with_viscosity(0.01).with_confinement(2.0);
                let mut fluid = stirred(dev, cells, params, &solid, seed);
                let mut dye = Vector::from_slice(dev, &uniform(seed, cells.len())).unwrap();
                let check = |fluid: &Fluid, what: &str| {
                    for u in velocity(fluid) {
                        let held = twin::faces(cells, u.axis, &sides, &solid);
                        for (v, h) in u.values.iter().zip(held) {
                            // The solver of the viscous step passes the values on in a sum.
                            let same = |h: f64| {
                                (h - v).abs() <= if what == "diffuse" { 1e-6 * h.abs() } else { 0.0 }
                            };
                            assert!(h.is_none_or(same), "{what}, {cells}, axis {}: {v} {h:?}", u.axis);
                        }
                    }
                };
                check(&fluid, "set_velocity");
                fluid.accelerate([1.0, -2.0, 3.0], 0.1).unwrap();
                fluid.buoyancy(&dye, [1.0, -2.0, 3.0], 0.1).unwrap();
                fluid.push([0.1, 0.1, 0.1], 0.2, [1.0, 2.0, 3.0]).unwrap();
                for axis in 0..axes(cells) {
                    let force = Vector::filled(dev, fluid.faces(axis).len(), 1.5).unwrap();
                    fluid.force(axis, &force, 0.1).unwrap();
                }
                check(&fluid, "forces");
                fluid.confine(0.1).unwrap();
                check(&fluid, "confine");
                fluid.advect(0.1).unwrap();
                check(&fluid, "advect");
                fluid.project().unwrap();
                check(&fluid, "project");
                fluid.diffuse(0.1).unwrap();
                check(&fluid, "diffuse");
                fluid.splat(&mut dye, [0.2; 3], 0.5, 1.0).unwrap();
                fluid.transport(&mut dye, 0.1).unwrap();
                let inside = dye.read().unwrap().into_iter().zip(&solid).find(|(v, s)| **s && *v != 0.0);
                assert_eq!(inside, None, "dye in a solid cell of {cells}");
            }
        }
    });
}

/// Obstacles that come and go: what the fluid decides stays to the bit, an open box is not read, and it flows on as one that was made with
/// them; obstacles that cannot be leave everything as it was.
#[test]
fn obstacles_come_and_go() {
    on_both(|dev| {
        for (seed, cells) in (40..).zip(GRIDS).step_by(2) {
            for sides in ALL_SIDES {
                let params = FluidParams::new(0.1).with_boundaries(sides).with_viscosity(0.01);
                let mut fluid = stirred(dev, cells, params, &[], seed);
                fluid.project().unwrap();
                for solid in [pillars(cells), vec![]] {
                    let before = velocity(&fluid);
                    let counted = dev.counters();
                    fluid.set_solid(&solid).unwrap();
                    // Closed regions are looked at; open boxes have none.
                    if sides == ALL_SIDES[2] {
                        assert_eq!(dev.counters().since(&counted).readbacks, 0, "{cells}");
                    }
                    let mut made = Fluid::new(dev, cells, params, &solid).unwrap();
                    for u in before {
                        let values: Vec<f32> = u.values.iter().map(|v| *v as f32).collect();
                        made.set_velocity(u.axis, &values).unwrap();
                    }
                    for _ in 0..2 {
                        for axis in 0..axes(cells) {
                            let [there, here] =
                                [&fluid, &made].map(|f| f.velocity(axis).unwrap().read().unwrap());
                            assert_eq!(there, here, "{cells}, axis {axis}");
                        }
                        let [there, here] = [&fluid, &made].map(|f| f.pressure().read().unwrap());
                        assert_eq!(there, here, "{cells}, the pressure");
                        fluid.step(0.1).unwrap();
                        made.step(0.1).unwrap();
                    }
                }
                let before: Vec<_> = velocity(&fluid).into_iter().map(|u| u.values).collect();
                let wrong = vec![true; cells.len() + 1];
                assert!(matches!(fluid.set_solid(&wrong), Err(Error::LengthMismatch { .. })));
                let after: Vec<_> = velocity(&fluid).into_iter().map(|u| u.values).collect();
                assert_eq!(after, before, "{cells}: refused obstacles");
            }
        }
    });
}

/// After a projection nothing flows out of any cell: what is left is the residual of the solve.
#[test]
fn a_projection_leaves_no_divergence() {
    on_both(|dev| {
        for (seed, cells) in (20..).zip(GRIDS) {
            for sides in ALL_SIDES {
                for solid in [vec![], obstacles(cells, seed)] {
                    // An inflow into a pocket of solid cells has nowhere to go: no field without divergence exists.
                    let solid = if sides == MIXED && !solid.is_empty() { pillars(cells) } else { solid };
                    let params = FluidParams::new(0.1).with_boundaries(sides);
                    let mut fluid = stirred(dev, cells, params, &solid, seed);
                    let report = fluid.project_reported().unwrap();
                    assert!(report.after <= 1e-4 * report.before, "{cells}: {report:?}");
                    let field = velocity(&fluid);
                    let left = max_abs(&twin::outflow(&field)) / 0.1;
                    assert!(left <= 1.01e-4 * report.before, "{cells}: {left:e} in 64 bits, {report:?}");
                }
            }
        }
    });
}

/// Differences of a stream function with small whole numbers: not a bit of divergence, so that nothing is to be done.
#[test]
fn a_field_without_divergence_passes_unchanged() {
    on_both(|dev| {
        for cells in GRIDS.into_iter().filter(|g| g.nz == 1) {
            let (nx, ny) = (cells.nx as i64, cells.ny as i64);
            let stream = |x: i64, y: i64| {
                let edge = x == 0 || y == 0 || x == nx || y == ny;
                if edge { 0.0 } else { ((7 * x + 13 * y + x * y) % 11) as f32 }
            };
            let mut fluid = Fluid::new(dev, cells, FluidParams::new(0.1), &[]).unwrap();
            let u = twin::places(cells, 0).into_iter().map(|[x, y, _]| stream(x, y + 1) - stream(x, y));
            let v = twin::places(cells, 1).into_iter().map(|[x, y, _]| stream(x, y) - stream(x + 1, y));
            let (u, v): (Vec<f32>, Vec<f32>) = (u.collect(), v.collect());
            fluid.set_velocity(0, &u).unwrap();
            fluid.set_velocity(1, &v).unwrap();
            let report = fluid.project_reported().unwrap();
            assert_eq!((report.before, report.after), (0.0, 0.0), "{cells}");
            assert_eq!(fluid.velocity(0).unwrap().read().unwrap(), u, "{cells}");
            assert_eq!(fluid.velocity(1).unwrap().read().unwrap(), v, "{cells}");
        }
    });
}

/// Through open sides a uniform inflow passes as if nothing were there.
#[test]
fn a_uniform_stream_stays_uniform() {
    on_both(|dev| {
        let inflow = Boundary::Inflow { velocity: [1.0, 0.0, 0.0] };
        let free = [Boundary::FreeSlip; 2];
        let boundaries = Boundaries { x: [inflow, Boundary::Open], y: free, z: free };
        for cells in GRIDS {
            let params = FluidParams::new(0.1).with_boundaries(boundaries).with_viscosity(0.01);
            let mut fluid = Fluid::new(dev, cells, params, &[]).unwrap();
            fluid.set_velocity(0, &vec![1.0; fluid.faces(0).len()]).unwrap();
            for _ in 0..3 {
                fluid.step(0.13).unwrap();
            }
            for u in velocity(&fluid) {
                let want = if u.axis == 0 { 1.0 } else { 0.0 };
                let off = u.values.iter().map(|v| (v - want).abs()).fold(0.0, worst);
                assert!(off <= 1e-5, "{cells}, axis {}: {off:e}", u.axis);
            }
        }
    });
}
