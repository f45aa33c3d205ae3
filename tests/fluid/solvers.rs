//! The pressure's solve as a parameter: all methods lead to one velocity, and some read nothing back.

use texla::ops::{ReducePlan, Windows};
use texla::profile::DeviceProfile;
use texla::sim::fluid::{
    Boundaries, Boundary, Diffusion, Fluid, FluidParams, Pressure, PressureReport, PressureSolver,
};
use texla::solve::{CgParams, ConjugateGradient, MultigridParams, StationaryParams, Stop};
use texla::{Device, Error, Grid, Result, Stencil, Vector};

use crate::common::bounds::{assert_componentwise, gamma};
use crate::common::harness::on_both;
use crate::common::products::fused_reduction;
use crate::common::random::uniform;
use crate::common::reference::widen;
use crate::common::worst::{worst, worst_of};
use crate::{axes, obstacles, pillars, stirred, velocity};

const GRIDS: [Grid; 3] = [Grid::new_2d(24, 20), Grid::new_3d(8, 6, 7), Grid::new_2d(17, 11)];

/// Of which the first five know obstacles.
fn methods() -> [Pressure; 7] {
    let params = CgParams::default().with_stop(Stop::relative(1e-6));
    let multigrid = MultigridParams::default();
    let blocks = StationaryParams::default().with_stop(Stop::relative(1e-6));
    [
        Pressure::ConjugateGradient(params),
        Pressure::MultigridConjugateGradient(params, multigrid),
        Pressure::Fixed { params, multigrid, iterations: 16 },
        Pressure::Multigrid { params: multigrid, cycles: 24 },
        Pressure::Jacobi { omega: 0.95, sweeps: 6000 },
        Pressure::EnhancedBlockJacobi { params: blocks, sweeps: None },
        Pressure::EnhancedBlockJacobi { params: blocks, sweeps: Some(2500) },
    ]
}

/// The projection of a field is one field, whatever finds the pressure, within what residuals of 1e-6 leave.
#[test]
fn all_methods_project_alike() {
    on_both(|dev| {
        for (seed, cells) in (1..).zip(GRIDS) {
            for boundary in [Boundary::WALL, Boundary::Open] {
                let boundaries = Boundaries::all(boundary);
                let mut all = Vec::new();
                for pressure in methods() {
                    let params = FluidParams::new(0.5).with_boundaries(boundaries).with_pressure(pressure);
                    let mut fluid = stirred(dev, cells, params, &[], seed);
                    let report = fluid.project_reported().unwrap();
                    assert!(report.after <= 1e-4 * report.before, "{cells} {pressure:?}: {report:?}");
                    all.push(velocity(&fluid));
                }
                for other in &all[1..] {
                    for (a, b) in all[0].iter().zip(other) {
                        let far = worst_of(&a.values, &b.values, |a, b| (a - b).abs());
                        assert!(far <= 1e-3, "{cells} {boundary:?}, axis {}: {far:e}", a.axis);
                    }
                }
            }
        }
    });
}

/// In a demo nothing is to be waited for: no readback, no look, and every step the same draws.
#[test]
fn steps_with_fixed_iterations_read_nothing() {
    on_both(|dev| {
        let [_, _, fixed, cycles, .., blocks] = methods();
        let Pressure::EnhancedBlockJacobi { params, .. } = blocks else { panic!("{blocks:?}") };
        let blocks = Pressure::EnhancedBlockJacobi { params, sweeps: Some(20) };
        for cells in GRIDS {
            for pressure in [fixed, cycles, Pressure::Jacobi { omega: 1.0, sweeps: 20 }, blocks] {
                for solid in [vec![], obstacles(cells, 3)] {
                    let of_lines = pressure == blocks;
                    if of_lines && !solid.is_empty() {
                        continue;
                    }
                    let diffusion =
                        if of_lines { Diffusion::EnhancedBlockJacobi } else { Diffusion::default() };
                    let params = FluidParams::new(0.1)
                        .with_pressure(pressure)
                        .with_viscosity(0.01)
                        .with_diffusion(diffusion)
                        .with_viscous_iterations(Some(5))
                        .with_confinement(1.0);
                    let mut fluid = stirred(dev, cells, params, &solid, 7);
                    let mut dye = Vector::filled(dev, cells.len(), 0.5).unwrap();
                    let mut step = || {
                        let before = dev.counters();
                        fluid.buoyancy(&dye, [0.0, 1.0, 0.0], 0.05).unwrap();
                        fluid.push([0.5, 0.3, 0.2], 0.2, [1.0, 0.0, 0.0]).unwrap();
                        fluid.step(0.05).unwrap();
                        fluid.transport(&mut dye, 0.05).unwrap();
                        let done = dev.counters().since(&before);
                        assert_eq!((done.readbacks, done.async_checks), (0, 0), "{cells} {pressure:?}");
                        (done.draws, done.upload_bytes)
                    };
                    let [first, second, third] = [step(), step(), step()];
                    assert!(
                        first.0 == second.0 && second == third,
                        "{cells} {pressure:?}: {first:?} {second:?}"
                    );
                    // Nothing that grows with the grid: the state of fixed runs.
                    assert!(third.1 <= 512, "{cells} {pressure:?}: {} bytes a step", third.1);
                }
            }
        }
    });
}

/// Another length of step is another matrix of the same pattern: what was chosen for the first stays, though the device's
/// profile would have something else chosen by now; and the coefficients are the new ones.
#[test]
fn another_step_keeps_what_was_chosen_for_its_lines() {
    on_both(|dev| {
        let cells = Grid::new_2d(31, 9);
        let params = FluidParams::new(0.1)
            .with_viscosity(0.3)
            .with_diffusion(Diffusion::EnhancedBlockJacobi)
            .with_viscous_iterations(Some(3));
        let diffused = |fluid: &mut Fluid, dt: f64| {
            for axis in 0..2 {
                fluid.set_velocity(axis, &uniform(5 + axis as u64, fluid.faces(axis).len())).unwrap();
            }
            let before = dev.counters();
            fluid.diffuse(dt).unwrap();
            let draws = dev.counters().since(&before).draws;
            let bits = |u: Vec<f32>| u.into_iter().map(f32::to_bits).collect::<Vec<_>>();
            (draws, [0, 1].map(|axis| bits(fluid.velocity(axis).unwrap().read().unwrap())))
        };
        let made = || Fluid::new(dev, cells, params, &[]).unwrap();
        let (mut fluid, mut fresh) = (made(), made());
        let expected = diffused(&mut fresh, 0.07);
        let (draws, other) = diffused(&mut fluid, 0.05);
        assert!(draws == expected.0 && other != expected.1);
        // By this one, quads go one by one into one texture.
        let mut profile = DeviceProfile::default();
        (profile.target_change, profile.draw, profile.written_texel[3]) = (60.0, 1.0, 60.0);
        dev.set_profile(Some(profile));
        let (kept, anew) = (diffused(&mut fluid, 0.07), diffused(&mut made(), 0.07));
        dev.set_profile(None);
        assert_eq!(kept, expected);
        assert_ne!(anew.0, expected.0);
    });
}

/// How many draws the parts take, as documented.
#[test]
fn parts_take_the_draws_they_say() {
    on_both(|dev| {
        for cells in [GRIDS[0], GRIDS[1]] {
            let mut fluid = stirred(dev, cells, FluidParams::new(0.1), &[], 7);
            let mut dye = Vector::filled(dev, cells.len(), 0.5).unwrap();
            let n = axes(cells) as u64;
            let count = |call: &mut dyn FnMut()| {
                let before = dev.counters();
                call();
                dev.counters().since(&before).draws
            };
            assert_eq!(count(&mut || fluid.advect(0.1).unwrap()), 2 * n);
            assert_eq!(count(&mut || fluid.confine(0.1).unwrap()), 1 + n);
            assert_eq!(count(&mut || fluid.transport(&mut dye, 0.1).unwrap()), 2);
            assert_eq!(count(&mut || fluid.splat(&mut dye, [0.1; 3], 0.1, 1.0).unwrap()), 1);
            assert_eq!(count(&mut || fluid.accelerate([1.0, 0.0, 0.0], 0.1).unwrap()), 1);
            assert_eq!(count(&mut || fluid.push([0.1; 3], 0.1, [1.0; 3]).unwrap()), n);
            assert_eq!(count(&mut || fluid.divergence(&mut dye).unwrap()), 1);
            // With open sides no mean is taken out.
            let open = FluidParams::new(0.1)
                .with_boundaries(Boundaries::all(Boundary::Open))
                .with_pressure(Pressure::Jacobi { omega: 0.8, sweeps: 3 });
            let mut fluid = stirred(dev, cells, open, &[], 7);
            let extent = fluid.pressure().extent();
            let largest = ReducePlan::new(extent, Windows::Balanced).stages().len() as u64;
            let guess = largest + fused_reduction(extent) + 1;
            assert_eq!(count(&mut || _ = fluid.project().unwrap()), 1 + guess + 3 + n);
        }
    });
}

/// What a solver of the caller's was given: the guess and the right-hand side.
struct Recording {
    given: std::rc::Rc<std::cell::RefCell<Option<[Vec<f64>; 2]>>>,
}

impl PressureSolver for Recording {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        *self.given.borrow_mut() = Some([widen(&p.read()?), widen(&b.read()?)]);
        let report = ConjugateGradient::new(a, CgParams::default())?.solve(p, b)?;
        Ok(PressureReport::new(report.iterations, Some(report.true_residual)))
    }
}

/// Of the old pressure, against 64 bits: `p·b / p·A p` with sums of so many terms, and a product that errs by six roundings of
/// its terms.
#[test]
fn the_guess_is_the_best_multiple_of_the_last_pressure() {
    on_both(|dev| {
        for cells in GRIDS {
            for boundary in [Boundary::WALL, Boundary::Open] {
                let params = FluidParams::new(0.5).with_boundaries(Boundaries::all(boundary));
                let mut fluid = stirred(dev, cells, params, &[], 3);
                let given = std::rc::Rc::default();
                fluid.set_pressure_solver(Box::new(Recording { given: std::rc::Rc::clone(&given) }));
                let recorded = || given.borrow_mut().take().unwrap();
                fluid.project().unwrap();
                assert!(recorded()[0].iter().all(|p| *p == 0.0), "nothing is known of a first one");
                fluid.push([1.5, 2.0, 1.0], 2.0, [0.7, -0.4, 0.2]).unwrap();
                let last = widen(&fluid.pressure().read().unwrap());
                fluid.project().unwrap();
                let [guess, b] = recorded();
                let mut product = vec![[0.0; 2]; last.len()];
                for (i, j, a) in fluid.poisson().csr().entries() {
                    product[i][0] += a * last[j];
                    product[i][1] += (a * last[j]).abs();
                }
                let sum = |terms: &mut dyn Iterator<Item = f64>| terms.sum::<f64>();
                let k = last.len() + 12;
                let along = sum(&mut last.iter().zip(&b).map(|(p, b)| p * b));
                let size = sum(&mut last.iter().zip(&b).map(|(p, b)| (p * b).abs()));
                let square = sum(&mut last.iter().zip(&product).map(|(p, a)| p * a[0]));
                let sizes = sum(&mut last.iter().zip(&product).map(|(p, a)| (p * a[1]).abs()));
                let factor = along / square;
                // Of the quotient, and the multiplication; a division errs by some ulps.
                let error = (gamma(k) * (size + factor.abs() * sizes)) / (square - gamma(k) * sizes);
                let error = error + gamma(8) * (factor.abs() + error);
                let exact: Vec<f64> = last.iter().map(|p| factor * p).collect();
                let bound: Vec<f64> = last.iter().map(|p| error * p.abs()).collect();
                let guess: Vec<f32> = guess.iter().map(|p| *p as f32).collect();
                assert_componentwise(&format!("{cells} {boundary:?}"), &guess, &exact, &bound);
            }
        }
    });
}

/// A solver of the caller's, which counts what it is asked.
struct Counting {
    solves: std::rc::Rc<std::cell::Cell<usize>>,
}

impl PressureSolver for Counting {
    fn solve(&mut self, a: &Stencil, p: &mut Vector, b: &Vector) -> Result<PressureReport> {
        self.solves.set(self.solves.get() + 1);
        let report = ConjugateGradient::new(a, CgParams::default())?.solve(p, b)?;
        Ok(PressureReport::new(report.iterations, Some(report.true_residual)))
    }
}

#[test]
fn a_solver_of_ones_own_takes_the_place() {
    on_both(|dev: &Device| {
        let solves = std::rc::Rc::default();
        let mut fluid: Fluid = stirred(dev, GRIDS[0], FluidParams::new(0.5), &[], 7);
        fluid.set_pressure_solver(Box::new(Counting { solves: std::rc::Rc::clone(&solves) }));
        let report = fluid.project_reported().unwrap();
        assert!(report.after <= 1e-3 * report.before && report.pressure.iterations > 10, "{report:?}");
        fluid.step(0.1).unwrap();
        assert_eq!(solves.get(), 2);
    });
}

/// The residual that 32 bits of a pressure leave grows with the box; one of pairs leaves what the velocity's own rounding does.
#[test]
fn a_pressure_of_pairs_leaves_no_divergence_but_the_velocitys_rounding() {
    on_both(|dev| {
        if dev.capabilities().exact_form.is_none() {
            return;
        }
        let params = CgParams::default().with_stop(Stop::relative(1e-9));
        let multigrid = Pressure::MultigridConjugateGradient(params, MultigridParams::default());
        let cells = Grid::new_2d(140, 110);
        let hole = pillars(cells);
        let blocks = StationaryParams::default().with_stop(Stop::relative(1e-9)).with_max_sweeps(100_000);
        let small = Grid::new_2d(24, 20);
        let cases = [
            (cells, multigrid, Vec::new()),
            (cells, multigrid, hole),
            (Grid::new_3d(17, 20, 23), Pressure::ConjugateGradient(params), Vec::new()),
            (small, Pressure::EnhancedBlockJacobi { params: blocks, sweeps: None }, Vec::new()),
        ];
        for (cells, pressure, solid) in cases {
            // A wind through the whole box, which walls stop: a pressure as large as the box.
            let left = |double: bool| {
                let params = FluidParams::new(1.0).with_pressure(pressure).with_double_pressure(double);
                let mut fluid = Fluid::new(dev, cells, params, &solid).unwrap();
                for axis in 0..axes(cells) {
                    let faces = fluid.faces(axis);
                    let wave = |i: usize| (i % faces.nx) as f32 / faces.nx as f32;
                    let values: Vec<f32> = (0..faces.len()).map(|i| 1.0 + wave(i)).collect();
                    fluid.set_velocity(axis, &values).unwrap();
                }
                let report = fluid.project().unwrap();
                let speed =
                    velocity(&fluid).iter().flat_map(|u| u.values.iter().map(|v| v.abs())).fold(0.0, worst);
                (fluid.max_divergence().unwrap(), speed, report)
            };
            let (divergence, speed, report) = left(true);
            assert!(report.residual.unwrap() <= 1e-9, "{cells} {pressure:?}: {report:?}");
            // Each face is rounded once as it is and once as it was summed, to 2^-24 of what it has been at most: 2.
            let faces = 2.0 * axes(cells) as f64;
            let bound = faces * 4.0 * 2f64.powi(-24) * speed.max(2.0) + 1e-6;
            assert!(divergence <= bound, "{cells} {pressure:?}: {divergence:e}, bound {bound:e}");
            let single = left(false).0;
            assert!(single > 10.0 * divergence, "{cells} {pressure:?}: {single:e} in 32 bits");
        }
        // What cannot is refused.
        let params = FluidParams::new(1.0).with_double_pressure(true);
        let fixed = Pressure::Fixed {
            params: CgParams::default(),
            multigrid: MultigridParams::default(),
            iterations: 3,
        };
        for pressure in [fixed, Pressure::Jacobi { omega: 0.8, sweeps: 3 }] {
            assert!(!pressure.has_pairs());
            let refused = Fluid::new(dev, small, params.with_pressure(pressure), &[]).err().unwrap();
            assert!(
                matches!(&refused, Error::Unsupported { what, .. } if what.contains("double_pressure")),
                "{refused}"
            );
        }
        // A method of the caller's says what it can.
        struct Own;
        impl PressureSolver for Own {
            fn solve(&mut self, _: &Stencil, _: &mut Vector, _: &Vector) -> Result<PressureReport> {
                Ok(PressureReport::new(0, None))
            }
        }
        let mut fluid = stirred(dev, small, params.with_pressure(multigrid), &[], 7);
        fluid.set_pressure_solver(Box::new(Own));
        let before = velocity(&fluid);
        let refused = fluid.project().unwrap_err();
        assert!(matches!(refused, Error::Unsupported { .. }), "{refused}");
        assert!(velocity(&fluid).iter().zip(&before).all(|(a, b)| a.values == b.values));
    });
}
