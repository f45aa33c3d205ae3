//! What a solver keeps from one solve to the next changes nothing but how fast it is.

use crate::common::harness::on_both;
use crate::common::random::uniform;
use std::rc::Rc;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Identity, Jacobi,
    Krylov, KrylovMethod, Minres, MinresParams, Multigrid, MultigridParams, Preconditioner, Recurrence,
    Slice, Stop,
};
use texla::{Device, DoubleVector, Grid, Side, Sides, Stencil, StencilParams, Vector};

type Shared<M> = Krylov<M, Rc<Stencil>, Rc<dyn Preconditioner>>;

const GRID: Grid = Grid::new_2d(13, 11);

fn right(device: &Device, seed: u64) -> Vector {
    Vector::from_slice(device, &uniform(seed, GRID.len())).unwrap()
}

fn bits(x: &Vector) -> Vec<u32> {
    x.read().unwrap().iter().map(|v| v.to_bits()).collect()
}

/// Other right-hand sides, other starts, textures in another order, after a trim, in turns with a clone: what a fresh solver finds,
/// bit for bit.
fn is_as_fresh<M: KrylovMethod>(device: &Device, fresh: impl Fn() -> Shared<M>) {
    let kept = fresh();
    for round in 0..4 {
        let b = right(device, round);
        // Every second start is not zero, and what is held on to takes textures away from the pool.
        let _held: Vec<Vector> = (0..round).map(|k| right(device, k)).collect();
        let start = match round % 2 {
            0 => Vector::zeros(device, GRID.len()).unwrap(),
            _ => right(device, 90 + round),
        };
        if round == 3 {
            device.trim().unwrap();
        }
        let solve = |solver: &Shared<M>| {
            let mut x = Vector::zeros(device, GRID.len()).unwrap();
            texla::ops::copy(&mut x, &start).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{solver:?}: {report:?}");
            (bits(&x), report.iterations, report.true_residual)
        };
        assert_eq!(solve(&kept), solve(&fresh()), "{kept:?}, round {round}");
    }
    // In turns, each between two iterations of the other.
    let sides = [right(device, 7), right(device, 8)];
    let zero = || Box::new(Vector::zeros(device, GRID.len()).unwrap());
    let [mut one, mut other] = [0, 1].map(|k| kept.begin(zero(), &sides[k]));
    while !(one.progress().done && other.progress().done) {
        for solving in [&mut one, &mut other] {
            if !solving.progress().done {
                solving.advance(Slice::iterations(1)).unwrap();
            }
        }
    }
    for (solving, b) in [one, other].into_iter().zip(&sides) {
        let (x, report) = solving.finish();
        let mut alone = Vector::zeros(device, GRID.len()).unwrap();
        let wanted = fresh().solve(&mut alone, b).unwrap();
        assert_eq!((bits(&x), report.unwrap().iterations), (bits(&alone), wanted.iterations), "{kept:?}");
    }
}

#[test]
fn a_kept_solver_is_as_good_as_a_fresh_one() {
    on_both(|device| {
        let a =
            Stencil::new(device, GRID, StencilParams::new([1.0; 3], Sides::all(Side::DIRICHLET))).unwrap();
        let a = Rc::new(a);
        let diagonal = Rc::new(Jacobi::new(&*a).unwrap());
        let multigrid = Rc::new(Multigrid::new(&a, MultigridParams::default()).unwrap());
        let all: [Rc<dyn Preconditioner>; 3] = [Rc::new(Identity), diagonal, multigrid];
        let stop = Stop::relative(1e-5);
        for m in &all {
            for schedule in [CgSchedule::Auto, CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused] {
                let params = CgParams::default().with_stop(stop).with_schedule(schedule);
                if ConjugateGradient::preconditioned(a.clone(), m.clone(), params).is_ok() {
                    is_as_fresh(device, || {
                        ConjugateGradient::preconditioned(a.clone(), m.clone(), params).unwrap()
                    });
                }
            }
            is_as_fresh(device, || {
                let params = MinresParams::default().with_stop(stop);
                Minres::preconditioned(a.clone(), m.clone(), params).unwrap()
            });
            for ell in [1, 2] {
                let params = BiCgStabParams::default().with_stop(stop).with_ell(ell);
                is_as_fresh(device, || BiCgStab::preconditioned(a.clone(), m.clone(), params).unwrap());
            }
        }
        is_as_fresh(device, || {
            let params = CglsParams::default().with_stop(Stop::relative(1e-4));
            Cgls::preconditioned(a.clone(), Rc::new(Identity) as Rc<dyn Preconditioner>, params).unwrap()
        });
    });
}

#[test]
fn pairs_are_kept_as_well() {
    on_both(|device| {
        let a =
            Stencil::new(device, GRID, StencilParams::new([1.0; 3], Sides::all(Side::DIRICHLET))).unwrap();
        let params = CgParams::default().with_stop(Stop::relative(1e-11)).with_recurrence(Recurrence::Double);
        let kept = ConjugateGradient::new(&a, params).unwrap();
        let rights = [1, 2, 3].map(|seed| {
            let values: Vec<f64> = uniform(seed, GRID.len()).iter().map(|v| f64::from(*v) / 3.0).collect();
            DoubleVector::from_f64(device, &values).unwrap()
        });
        for b in &rights {
            let solve = |solver: &ConjugateGradient<&Stencil>| {
                let mut x = DoubleVector::zeros(device, GRID.len()).unwrap();
                let report = solver.solve(&mut x, b).unwrap();
                assert!(report.converged() && report.double_iterations > 0, "{report:?}");
                (x.read().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>(), report.iterations)
            };
            assert_eq!(solve(&kept), solve(&ConjugateGradient::new(&a, params).unwrap()));
        }
    });
}

#[test]
fn fixed_runs_are_kept_as_well() {
    on_both(|device| {
        let a =
            Stencil::new(device, GRID, StencilParams::new([1.0; 3], Sides::all(Side::DIRICHLET))).unwrap();
        for schedule in [CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused] {
            let fresh = || ConjugateGradient::new(&a, CgParams::default().with_schedule(schedule)).unwrap();
            let kept = fresh();
            for (seed, scale) in [(1, 1.0), (2, 1e-6), (3, 1e9)] {
                let values: Vec<f32> = uniform(seed, GRID.len()).iter().map(|v| v * scale).collect();
                let b = Vector::from_slice(device, &values).unwrap();
                let from_zero = |solver: &ConjugateGradient<&Stencil>| {
                    let (x, run) = solver.iterate_from_zero(&b, 9).unwrap();
                    (bits(&x), run.read().unwrap())
                };
                assert_eq!(from_zero(&kept), from_zero(&fresh()), "{schedule:?}, b {seed}");
                let from = |solver: &ConjugateGradient<&Stencil>| {
                    let mut x = right(device, 50 + seed);
                    let run = solver.iterate(&mut x, &b, 9).unwrap();
                    (bits(&x), run.read().unwrap())
                };
                assert_eq!(from(&kept), from(&fresh()), "{schedule:?}, b {seed}, from a start");
            }
        }
    });
}
