//! Forces, sources and confinement against their twins.

use texla::sim::fluid::{Advection, Boundaries, Fluid, FluidParams};
use texla::{Device, Grid, Vector};

use crate::common::bounds::{TINY, U, assert_componentwise, gamma};
use crate::common::harness::{assert_padded, on_both};
use crate::common::random::uniform;
use crate::common::worst::worst;
use crate::twin::{self, Field, Place, places};
use crate::{ALL_SIDES, GRIDS, axes, stirred, velocity};

const CELL: f64 = 0.25;
const CONFINEMENT: f64 = 3.0;
const DT: f64 = 0.125;

fn fluid(dev: &Device, cells: Grid, boundaries: Boundaries, seed: u64) -> Fluid {
    let params = FluidParams::new(CELL)
        .with_boundaries(boundaries)
        .with_confinement(CONFINEMENT)
        .with_advection(Advection::SemiLagrangian);
    stirred(dev, cells, params, &[], seed)
}

fn moved(q: Place, axis: usize, by: i64) -> Place {
    let mut q = q;
    if axis < 3 {
        q[axis] += by;
    }
    q
}

/// Compares each component with what is added to it on its free faces: a value, and how far 32 bits may be off in it.
fn check(name: &str, fluid: &Fluid, before: &[Field], added: impl Fn(&Field, Place) -> (f64, f64)) {
    let cells = fluid.cells();
    for u in before {
        let held = twin::faces(cells, u.axis, &fluid.params().boundaries, &[]);
        let one = |(i, q): (usize, Place)| match held[i] {
            Some(held) => (held, 0.0),
            None => {
                let (more, error) = added(u, q);
                let size = u.values[i].abs() + more.abs();
                (u.values[i] + more, error + gamma(2) * size + TINY)
            }
        };
        let (want, bound): (Vec<_>, Vec<_>) = places(cells, u.axis).into_iter().enumerate().map(one).unzip();
        let got = fluid.velocity(u.axis).unwrap();
        assert_componentwise(
            &format!("{name}, {cells}, axis {}", u.axis),
            &got.read().unwrap(),
            &want,
            &bound,
        );
        assert_padded(got, name);
    }
}

/// `exp(-d^2 / r^2)` at a place in cells, and its error: places and the centre are rounded, squares summed, and GLSL
/// allows exp(x) `3 + 2 |x|` units in the last place.
fn bell(dimensions: usize, at: [f64; 3], centre: [f64; 3], radius: f64) -> (f64, f64) {
    let (mut square, mut error) = (0.0, 0.0);
    for a in 0..dimensions {
        let (c, r) = (centre[a] / CELL, radius / CELL);
        let d = (at[a] - c) / r;
        square += d * d;
        error += 2.0 * d.abs() * 3.0 * U * (at[a].abs() + c.abs()) / r;
    }
    let value = (-square).exp();
    (value, 1.1 * value * (error + gamma(8) * square + 2.0 * U * (3.0 + 2.0 * square)) + TINY)
}

#[test]
fn forces_are_within_their_bounds() {
    on_both(|dev| {
        for (seed, cells) in (300..).zip(GRIDS) {
            let dimensions = axes(cells);
            for sides in ALL_SIDES {
                let mut fluid = fluid(dev, cells, sides, seed);
                let amounts = [0.7, -1.3, 2.1];

                let before = velocity(&fluid);
                fluid.accelerate(amounts, DT).unwrap();
                check("accelerate", &fluid, &before, |u, _| {
                    let more = DT * amounts[u.axis];
                    (more, U * more.abs())
                });

                let before = velocity(&fluid);
                let values = uniform(seed + 7, cells.len());
                let scalar = Field::new(cells, 3, &values);
                fluid.buoyancy(&Vector::from_slice(dev, &values).unwrap(), amounts, DT).unwrap();
                check("buoyancy", &fluid, &before, |u, q| {
                    let [a, b] = [moved(q, u.axis, -1), q].map(|q| scalar.raw(scalar.clamped(q)));
                    let factor = DT * amounts[u.axis];
                    (factor * 0.5 * (a + b), gamma(4) * factor.abs() * 0.5 * (a.abs() + b.abs()))
                });

                for axis in 0..dimensions {
                    let before = velocity(&fluid);
                    let values = uniform(seed + 9 + axis as u64, before[axis].values.len());
                    let force = Field::new(cells, axis, &values);
                    fluid.force(axis, &Vector::from_slice(dev, &values).unwrap(), DT).unwrap();
                    check("force", &fluid, &before, |u, q| {
                        let more = if u.axis == axis { DT * force.raw(q) } else { 0.0 };
                        (more, gamma(2) * more.abs())
                    });
                }

                let (centre, radius) = ([0.4, 0.7, 0.3], 0.45);
                let before = velocity(&fluid);
                fluid.push(centre, radius, amounts).unwrap();
                check("push", &fluid, &before, |u, q| {
                    let at = [0, 1, 2].map(|a| q[a] as f64 + u.origin()[a]);
                    let (value, error) = bell(dimensions, at, centre, radius);
                    let factor = amounts[u.axis];
                    (factor * value, factor.abs() * (error + gamma(2) * value))
                });

                let dye = uniform(seed + 20, cells.len());
                let mut on_device = Vector::from_slice(dev, &dye).unwrap();
                fluid.splat(&mut on_device, centre, radius, 1.9).unwrap();
                let one = |(q, v): (Place, &f32)| {
                    let (value, error) = bell(dimensions, q.map(|q| q as f64 + 0.5), centre, radius);
                    let (v, more) = (f64::from(*v), 1.9 * value);
                    (v + more, 1.9 * error + gamma(3) * (v.abs() + more))
                };
                let (want, bound): (Vec<_>, Vec<_>) = places(cells, 3).into_iter().zip(&dye).map(one).unzip();
                let got = on_device.read().unwrap();
                assert_componentwise(&format!("splat, {cells}"), &got, &want, &bound);
                assert_padded(&on_device, "splat");
            }
        }
    });
}

/// The curl in a cell times the cell size, by central differences of the means in the cells.
fn curl(velocity: &[Field], sides: &Boundaries, q: Place) -> [f64; 3] {
    let mean = |u: &Field, q| 0.5 * (u.at(sides, q) + u.at(sides, moved(q, u.axis, 1)));
    let slope = |component: usize, axis: usize| {
        let difference = |u| 0.5 * (mean(u, moved(q, axis, 1)) - mean(u, moved(q, axis, -1)));
        velocity.get(component).map_or(0.0, difference)
    };
    let planar = velocity.len() == 2;
    let z = slope(1, 0) - slope(0, 1);
    if planar { [0.0, 0.0, z] } else { [slope(2, 1) - slope(1, 2), slope(0, 2) - slope(2, 0), z] }
}

fn length(v: [f64; 3]) -> f64 {
    v.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A cell's `N x curl`, and its error in each component: the curl's, and that of a direction between lengths that are off.
fn confining(strengths: &Field, curls: &[[f64; 3]], largest: f64, q: Place) -> ([f64; 3], f64) {
    let clamped = |q| strengths.clamped(q);
    let number = |q: Place| {
        let n = strengths.sides();
        (q[0] + n[0] * (q[1] + n[1] * q[2])) as usize
    };
    let planar = strengths.cells.nz == 1;
    let rise = |a: usize| {
        if a == 2 && planar {
            return 0.0;
        }
        let [high, low] = [1, -1].map(|by| strengths.raw(clamped(moved(q, a, by))));
        high - low
    };
    let w = curls[number(clamped(q))];
    let n = [0, 1, 2].map(rise);
    let size = length(n);
    let unit = if size > 1e-12 { n.map(|v| v / size) } else { [0.0; 3] };
    let force = [0, 1, 2].map(|a| {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        unit[b] * w[c] - unit[c] * w[b]
    });
    // Two slopes of up to `largest`, of numbers that are rounded up to three times past the sides.
    let of_curl = gamma(8) * 2.0 * largest;
    let of_strength = 2.0 * of_curl + gamma(8) * length(w);
    let of_rise = 2.0 * of_strength + gamma(8) * 4.0 * largest;
    let of_unit = if size == 0.0 { 2.0 } else { (4.0 * of_rise / size).min(2.0) + gamma(8) };
    (force, 2.0 * (of_unit * length(w) + of_curl) + gamma(4) * 2.0 * length(w))
}

#[test]
fn confinement_is_within_the_bound() {
    on_both(|dev| {
        for (seed, cells) in (400..).zip(GRIDS) {
            for sides in ALL_SIDES {
                let mut fluid = fluid(dev, cells, sides, seed);
                let before = velocity(&fluid);
                let largest = before.iter().map(|u| u.largest(&sides)).fold(0.0, worst);
                let curls: Vec<_> = places(cells, 3).into_iter().map(|q| curl(&before, &sides, q)).collect();
                let values = curls.iter().map(|w| length(*w)).collect();
                let strengths = Field { axis: 3, cells, values };
                fluid.confine(DT).unwrap();
                let factor = DT * CONFINEMENT;
                let mut loose = 0;
                let of_faces = |u: &Field, q: Place| {
                    let [(a, ea), (b, eb)] =
                        [q, moved(q, u.axis, -1)].map(|q| confining(&strengths, &curls, largest, q));
                    let more = factor * 0.5 * (a[u.axis] + b[u.axis]);
                    (more, factor * 0.5 * (ea + eb) + gamma(3) * factor * (a[u.axis].abs() + b[u.axis].abs()))
                };
                for u in &before {
                    loose += places(cells, u.axis).into_iter().filter(|q| of_faces(u, *q).1 > 1e-3).count();
                }
                let all: usize = before.iter().map(|u| u.values.len()).sum();
                // Where there is one cell alone, no direction is known.
                assert!(
                    loose <= all / 20 || cells.sides().into_iter().min() == Some(1),
                    "{cells}: {loose} of {all}"
                );
                check("confine", &fluid, &before, of_faces);
            }
        }
    });
}
