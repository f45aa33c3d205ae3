//! Each part of a step against its twin.

use texla::Vector;
use texla::sim::fluid::{Advection, Boundaries, Boundary, Diffusion, FluidParams};

use crate::common::bounds::{TINY, assert_componentwise, gamma};
use crate::common::harness::{assert_padded, on_both};
use crate::common::random::uniform;
use crate::twin::{self, Field, Flow};
use crate::{ALL_SIDES, GRIDS, obstacles, pillars, stirred, velocity};

const CELL: f64 = 0.25;

fn params(boundaries: Boundaries, advection: Advection) -> FluidParams {
    FluidParams::new(CELL).with_boundaries(boundaries).with_advection(advection)
}

/// Steps of 3/10 and 27/10 cells at most.
const STEPS: [f64; 2] = [0.3 * CELL, 2.7 * CELL];

fn flow<'a>(velocity: &'a [Field], sides: &'a Boundaries, dt: f64) -> Flow<'a> {
    Flow { velocity, sides, rate: f64::from((dt / CELL) as f32) }
}

#[test]
fn velocity_is_carried_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (1..).zip(GRIDS) {
            for sides in &ALL_SIDES {
                for dt in STEPS {
                    let mut fluid = stirred(dev, cells, params(*sides, Advection::SemiLagrangian), &[], seed);
                    let before = velocity(&fluid);
                    fluid.advect(dt).unwrap();
                    let flow = flow(&before, sides, dt);
                    for u in &before {
                        let held = twin::faces(cells, u.axis, sides, &[]);
                        let want: Vec<_> =
                            flow.advected(u).into_iter().zip(held).map(|(v, h)| h.unwrap_or(v)).collect();
                        let bound = vec![flow.advection_bound(u); want.len()];
                        let got = fluid.velocity(u.axis).unwrap();
                        let name = format!("{cells}, axis {}, dt {dt}", u.axis);
                        assert_componentwise(&name, &got.read().unwrap(), &want, &bound);
                        assert_padded(got, &name);
                    }
                }
            }
        }
    });
}

#[test]
fn scalars_are_carried_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (30..).zip(GRIDS) {
            for sides in &ALL_SIDES {
                for dt in STEPS {
                    let fluid = stirred(dev, cells, params(*sides, Advection::SemiLagrangian), &[], seed);
                    let velocity = velocity(&fluid);
                    let dye = uniform(seed + 9, cells.len());
                    let mut on_device = Vector::from_slice(dev, &dye).unwrap();
                    fluid.transport(&mut on_device, dt).unwrap();
                    let (flow, dye) = (flow(&velocity, sides, dt), Field::new(cells, 3, &dye));
                    let bound = vec![flow.advection_bound(&dye); cells.len()];
                    let name = format!("{cells}, dt {dt}");
                    assert_componentwise(&name, &on_device.read().unwrap(), &flow.advected(&dye), &bound);
                    assert_padded(&on_device, &name);
                }
            }
        }
    });
}

/// The mean is over fluid cells alone: a quotient of two interpolations, whose errors add relative to the weight.
#[test]
fn scalars_flow_around_solid_cells() {
    on_both(|dev| {
        for (seed, cells) in (60..).zip(GRIDS) {
            let solid = obstacles(cells, seed);
            if !solid.contains(&true) {
                continue;
            }
            let sides = &Boundaries::all(Boundary::WALL);
            let fluid = stirred(dev, cells, params(*sides, Advection::SemiLagrangian), &solid, seed);
            let velocity = velocity(&fluid);
            let dye: Vec<f32> = uniform(seed + 9, cells.len())
                .iter()
                .zip(&solid)
                .map(|(v, s)| if *s { 0.0 } else { *v })
                .collect();
            let mut on_device = Vector::from_slice(dev, &dye).unwrap();
            fluid.transport(&mut on_device, STEPS[0]).unwrap();
            let (flow, dye) = (flow(&velocity, sides, STEPS[0]), Field::new(cells, 3, &dye));
            let ones =
                Field { values: solid.iter().map(|s| f64::from(u8::from(!s))).collect(), ..dye.clone() };
            let (of_values, of_weights) = (flow.advection_bound(&dye), flow.advection_bound(&ones));
            let (mut want, mut bound) = (Vec::new(), Vec::new());
            for ((value, weight), solid) in flow.advected_around(&dye, &solid).into_iter().zip(&solid) {
                // A displacement of less than a cell per axis cannot leave the cell's own neighbours: it is one of them.
                assert!(*solid || weight > 1e-3, "{cells}: {weight}");
                want.push(value);
                let size = if *solid {
                    0.0
                } else {
                    (of_values + value.abs() * of_weights) / weight + gamma(5) * value.abs()
                };
                bound.push(1.01 * size);
            }
            assert_componentwise(&cells.to_string(), &on_device.read().unwrap(), &want, &bound);
        }
    });
}

#[test]
fn the_correction_is_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (90..).zip(GRIDS) {
            for sides in &ALL_SIDES {
                let dt = STEPS[0];
                let mut fluid = stirred(dev, cells, params(*sides, Advection::MacCormack), &[], seed);
                let before = velocity(&fluid);
                fluid.advect(dt).unwrap();
                let flow = flow(&before, sides, dt);
                for u in &before {
                    let held = twin::faces(cells, u.axis, sides, &[]);
                    let keep = |values: Vec<f64>| -> Vec<f64> {
                        values.into_iter().zip(&held).map(|(v, h)| h.unwrap_or(v)).collect()
                    };
                    let forth = Field { values: keep(flow.advected(u)), ..u.clone() };
                    let (values, doubtful) = flow.corrected(u, &forth);
                    let (want, size) = (keep(values), flow.correction_bound(u, &forth));
                    let bound: Vec<_> = doubtful.iter().map(|d| if *d { 1e9 } else { size }).collect();
                    assert!(doubtful.iter().filter(|d| **d).count() <= 1 + want.len() / 100, "{cells}");
                    let got = fluid.velocity(u.axis).unwrap().read().unwrap();
                    assert_componentwise(&format!("{cells}, axis {}", u.axis), &got, &want, &bound);
                }
            }
        }
    });
}

#[test]
fn divergence_is_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (120..).zip(GRIDS) {
            let fluid = stirred(dev, cells, params(ALL_SIDES[1], Advection::MacCormack), &[], seed);
            let velocity = velocity(&fluid);
            let mut out = Vector::zeros(dev, cells.len()).unwrap();
            fluid.divergence(&mut out).unwrap();
            let want: Vec<_> = twin::outflow(&velocity).iter().map(|d| d / CELL).collect();
            let sizes = twin::outflow_size(&velocity);
            let bound: Vec<_> = sizes.iter().map(|s| gamma(7) * s / CELL + 7.0 * TINY).collect();
            assert_componentwise(&cells.to_string(), &out.read().unwrap(), &want, &bound);
            assert_padded(&out, "divergence");
        }
    });
}

/// What the velocity loses is the pressure's difference across each face.
#[test]
fn the_gradient_is_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (150..).zip(GRIDS) {
            let solid = obstacles(cells, seed);
            for (sides, solid) in [
                (ALL_SIDES[1], &pillars(cells)[..]),
                (ALL_SIDES[0], &solid),
                (ALL_SIDES[2], &[]),
                (ALL_SIDES[0], &[]),
            ] {
                let mut fluid = stirred(dev, cells, params(sides, Advection::MacCormack), solid, seed);
                let before = velocity(&fluid);
                fluid.project().unwrap();
                let p = Field::new(cells, 3, &fluid.pressure().read().unwrap());
                for u in &before {
                    let (steps, sizes) = twin::pressure_steps(&p, u.axis);
                    let held = twin::faces(cells, u.axis, &sides, solid);
                    let mut want = Vec::new();
                    let mut bound = Vec::new();
                    for (i, step) in steps.iter().enumerate() {
                        let free = held[i].is_none();
                        want.push(held[i].unwrap_or(u.values[i] - step));
                        let size = u.values[i].abs() + sizes[i];
                        // Below 1e-30 is rest.
                        bound.push(if free { gamma(3) * size + 1e-30 } else { 0.0 });
                    }
                    let got = fluid.velocity(u.axis).unwrap();
                    assert_componentwise(
                        &format!("{cells}, axis {}", u.axis),
                        &got.read().unwrap(),
                        &want,
                        &bound,
                    );
                    assert_padded(got, "gradient");
                }
            }
        }
    });
}

/// The implicit step solves its equation: the residual, in 64 bits, is at most what was asked for, and the rounding of the
/// residual that was looked at: its terms and the right-hand side's.
#[test]
fn the_viscous_step_solves_its_equation() {
    on_both(|dev| {
        for (seed, cells) in (180..).zip(GRIDS) {
            for sides in &ALL_SIDES {
                let (gradients, lines) = (Diffusion::ConjugateGradient, Diffusion::EnhancedBlockJacobi);
                for (viscosity, solid, diffusion) in [
                    (0.01, vec![], gradients),
                    (0.7, pillars(cells), gradients),
                    (40.0, vec![], gradients),
                    (0.01, vec![], lines),
                    (0.7, vec![], lines),
                    (4.0, vec![], lines),
                ] {
                    let params = params(*sides, Advection::MacCormack)
                        .with_viscosity(viscosity)
                        .with_diffusion(diffusion);
                    let mut fluid = stirred(dev, cells, params, &solid, seed);
                    let (before, dt) = (velocity(&fluid), 0.125);
                    fluid.diffuse(dt).unwrap();
                    // In 32 bits the rows of the stiffest have no smaller residual.
                    let met = fluid.viscous_report().unwrap().met;
                    assert!(met == Some(true) || viscosity > 1.0, "{cells} {sides:?} {viscosity}: {met:?}");
                    let strength = f64::from((viscosity * dt / CELL / CELL) as f32);
                    for (u, after) in before.iter().zip(velocity(&fluid)) {
                        let held = twin::faces(cells, u.axis, sides, &solid);
                        let back = twin::viscous(&after, &held, sides, strength);
                        let residual: f64 = back.iter().zip(&u.values).map(|(a, b)| (a - b).powi(2)).sum();
                        // The right-hand side holds the walls' part too, which only adds to its norm where it counts.
                        let neighbours = 6.0 * strength * after.largest(sides).max(u.largest(sides));
                        let size = neighbours + u.largest(sides);
                        let n = (u.values.len() as f64).sqrt();
                        let allowed = 2e-6 * n * size + gamma(16) * n * (1.0 + 12.0 * strength) * size;
                        assert!(residual.sqrt() <= allowed, "{cells} {strength}: {residual:e} {allowed:e}");
                        for (h, v) in held.iter().zip(&after.values) {
                            assert!(
                                h.is_none_or(|h| (h - v).abs() <= gamma(4) * h.abs()),
                                "{cells}: a held face moved"
                            );
                        }
                    }
                }
            }
        }
    });
}
