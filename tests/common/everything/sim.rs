//! What simulations are asked, by every scheme and every solver of the pressure.

use std::cell::RefCell;

use texla::sim::fluid::{Diffusion, Fluid, FluidParams, Pressure};
use texla::sim::wave::{self, Boundaries, Boundary, Scheme, Wave, WaveParams};
use texla::solve::{CgParams, MultigridParams, StationaryParams, Stop};
use texla::{Device, Grid, Sides, Stencil, StencilParams, Vector};

use super::super::random::uniform;
use super::Step;

pub fn waves(dev: &Device, step: Step<'_>) {
    let x = Vector::from_slice(dev, &uniform(12, 63)).unwrap();
    let drop = wave::Drop { centre: [4.0, 3.0], radius: 2.5, height: 1.0, balanced: true };
    for (scheme, y) in [
        (Scheme::Explicit, Boundary::Fixed),
        (Scheme::CrankNicholson, Boundary::Fixed),
        (Scheme::CrankNicholson, Boundary::Reflecting),
    ] {
        let boundaries = Boundaries { x: [Boundary::Absorbing; 2], y: [y; 2] };
        let new =
            || Wave::new(dev, WaveParams::new(9, 7).with_boundaries(boundaries).with_scheme(scheme)).unwrap();
        step("Wave::new", &|| new().displacement().read().unwrap());
        let wave = RefCell::new(new());
        let mut to = |name: &str, f: &dyn Fn(&mut Wave) -> texla::Result<()>| {
            step(name, &|| {
                let mut wave = wave.borrow_mut();
                f(&mut wave).unwrap();
                wave.displacement().read().unwrap()
            });
        };
        to("Wave::start", &|wave| wave.start(&x, &x));
        to("Wave::drop", &|wave| wave.drop(drop));
        to("Wave::displace", &|wave| wave.displace(0.5, &x));
        to("Wave::strike", &|wave| wave.strike(0.5, &x));
        to("Wave::step", &|wave| wave.step());
        to("Wave::step_forced", &|wave| wave.step_forced(&x, 0.1));
        let wave = wave.into_inner();
        step("Wave::bump", &|| wave.bump(drop).unwrap().read().unwrap());
        step("Wave::energy", &|| vec![wave.energy().unwrap().read().unwrap()]);
        step("Wave::report", &|| {
            let report = wave.report().unwrap();
            assert_eq!(report.is_some(), scheme != Scheme::Explicit);
            // Nothing solves by the explicit scheme, and so nothing is read.
            let iterations = report.map_or(0, |report| report.iterations);
            vec![iterations as f32, wave.increment().element(0).unwrap()]
        });
    }
}

pub fn fluids(dev: &Device, step: Step<'_>) {
    let stop = Stop::relative(1e-4);
    let (cg, multigrid) = (CgParams::default().with_stop(stop), MultigridParams::default());
    let blocks = StationaryParams::default().with_stop(stop);
    for (grid, pressure, obstacle) in [
        (Grid::new_2d(9, 7), Pressure::ConjugateGradient(cg), true),
        (Grid::new_2d(9, 7), Pressure::MultigridConjugateGradient(cg, multigrid), true),
        (Grid::new_2d(5, 4), Pressure::ConjugateGradient(cg), false),
        (Grid::new_3d(5, 4, 3), Pressure::Fixed { params: cg, multigrid, iterations: 3 }, true),
        (Grid::new_3d(4, 3, 2), Pressure::ConjugateGradient(cg), false),
        (Grid::new_2d(9, 7), Pressure::Multigrid { params: multigrid, cycles: 2 }, true),
        (Grid::new_2d(9, 7), Pressure::Jacobi { omega: 1.0, sweeps: 5 }, true),
        (Grid::new_2d(9, 7), Pressure::EnhancedBlockJacobi { params: blocks, sweeps: None }, false),
        (Grid::new_3d(5, 4, 3), Pressure::EnhancedBlockJacobi { params: blocks, sweeps: Some(5) }, false),
    ] {
        let diffusion = match pressure {
            Pressure::EnhancedBlockJacobi { .. } => Diffusion::EnhancedBlockJacobi,
            _ => Diffusion::ConjugateGradient,
        };
        let exact = dev.capabilities().exact_form.is_some();
        let params = FluidParams::new(0.1)
            .with_pressure(pressure)
            .with_double_pressure(exact && obstacle && pressure.has_pairs())
            .with_diffusion(diffusion)
            .with_viscosity(0.01)
            .with_confinement(1.0);
        let [solid, moved] =
            [11, 13].map(|at| -> Vec<bool> { (0..grid.len()).map(|i| obstacle && i == at).collect() });
        let new = || Fluid::new(dev, grid, params, &solid).unwrap();
        step("Fluid::new", &|| new().pressure().read().unwrap());
        let made = new();
        let force = Vector::from_slice(dev, &uniform(13, made.faces(0).len())).unwrap();
        let faces = uniform(14, made.faces(1).len());
        let dye = RefCell::new(Vector::from_slice(dev, &uniform(12, grid.len())).unwrap());
        let fluid = RefCell::new(made);
        let middle = [0.4, 0.3, 0.1];
        let mut to = |name: &str, f: &dyn Fn(&mut Fluid, &mut Vector) -> texla::Result<()>| {
            step(name, &|| {
                let (mut fluid, mut dye) = (fluid.borrow_mut(), dye.borrow_mut());
                f(&mut fluid, &mut dye).unwrap();
                let read = [fluid.velocity(0).unwrap(), fluid.velocity(1).unwrap(), fluid.pressure(), &dye]
                    .map(|field| field.read().unwrap());
                read.concat()
            });
        };
        to("Fluid::set_velocity", &|fluid, _| fluid.set_velocity(1, &faces));
        to("Fluid::accelerate", &|fluid, _| fluid.accelerate([0.0, -1.0, 0.5], 0.1));
        to("Fluid::buoyancy", &|fluid, dye| fluid.buoyancy(dye, [0.0, 2.0, 0.5], 0.1));
        to("Fluid::force", &|fluid, _| fluid.force(0, &force, 0.1));
        to("Fluid::push", &|fluid, _| fluid.push(middle, 0.2, [1.0, 0.5, 0.2]));
        to("Fluid::splat", &|fluid, dye| fluid.splat(dye, middle, 0.2, 1.0));
        to("Fluid::confine", &|fluid, _| fluid.confine(0.1));
        to("Fluid::advect", &|fluid, _| fluid.advect(0.1));
        to("Fluid::diffuse", &|fluid, _| fluid.diffuse(0.1));
        to("Fluid::project", &|fluid, _| fluid.project().map(drop));
        to("Fluid::step", &|fluid, _| fluid.step(0.1).map(drop));
        to("Fluid::transport", &|fluid, dye| fluid.transport(dye, 0.1));
        to("Fluid::project_reported", &|fluid, _| fluid.project_reported().map(drop));
        to("Fluid::set_solid", &|fluid, _| fluid.set_solid(&moved));
        let fluid = fluid.into_inner();
        step("Fluid::velocity", &|| fluid.velocity(0).unwrap().read().unwrap());
        step("Fluid::divergence", &|| {
            let mut out = Vector::zeros(dev, grid.len()).unwrap();
            fluid.divergence(&mut out).unwrap();
            out.read().unwrap()
        });
        step("Fluid::max_divergence", &|| vec![fluid.max_divergence().unwrap() as f32]);
        step("Pressure::solver", &|| {
            let weights = [1.0, 1.0, if grid.nz > 1 { 1.0 } else { 0.0 }];
            let params = StencilParams::new(weights, Sides::all(texla::Side::WALL)).with_shift(0.1);
            let a = Stencil::new(dev, grid, params).unwrap();
            let b = Vector::from_slice(dev, &uniform(15, grid.len())).unwrap();
            super::changed(dev, &vec![0.0; grid.len()], |p| pressure.solver(&a)?.solve(&a, p, &b).map(drop))
        });
    }
}
