//! Solvers borrow, share or own their operator: a struct has both, the bits are the same, and nothing is left behind.

use std::rc::Rc;

use crate::common::harness::on_both;
use crate::systems::{System, bits};
use texla::gl::LiveObjects;
use texla::host::problems;
use texla::solve::{
    AggregationMultigrid, AggregationParams, Auto, AutoParams, BiCgStab, BiCgStabParams, BlockJacobi,
    CgParams, Cgls, CglsParams, Chebyshev, ChebyshevParams, Choice, ChoiceParams, ConjugateGradient,
    Direction, FlexibleCgParams, FlexibleConjugateGradient, Fsai, GaussSeidel, Gmres, GmresParams, Identity,
    IluParams, IncompleteCholesky, IncompleteLu, Jacobi, LcpParams, LcpSolver, LinOp, MethodKind, Minres,
    MinresParams, Multigrid, MultigridParams, Preconditioner, PreconditionerKind, ProjectedJacobi, Smoother,
    Spai, Stationary, StationaryParams, Stop, Sweepable, WeightedJacobi,
};
use texla::{Device, Grid, MatrixFormat, Result, Side, Sides, Stencil, StencilParams, StoredMatrix, Vector};

const N: usize = 24 * 16;

fn matrix(device: &Device) -> Result<StoredMatrix> {
    StoredMatrix::new(device, problems::poisson_2d(24, 16).to_csr(), MatrixFormat::Auto)
}

fn right(device: &Device, sign: f64) -> Vector {
    let System { b, .. } = System::of_ones("poisson", problems::poisson_2d(24, 16).to_csr());
    Vector::from_f64(device, &b.iter().map(|b| sign * b).collect::<Vec<_>>()).unwrap()
}

/// What is alive apart from what can be made again.
fn live(device: &Device) -> LiveObjects {
    device.trim().unwrap();
    device.live_objects()
}

/// An application: it can be moved, returned, and kept for as long as it likes.
struct Application {
    a: Rc<StoredMatrix>,
    m: Rc<dyn Preconditioner>,
    solver: ConjugateGradient<Rc<StoredMatrix>, Rc<dyn Preconditioner>>,
    x: Vector,
}

impl Application {
    fn new(device: &Device, stop: Stop) -> Result<Self> {
        let a = Rc::new(matrix(device)?);
        let m: Rc<dyn Preconditioner> = Rc::new(Chebyshev::new(a.clone(), ChebyshevParams::default())?);
        let solver =
            ConjugateGradient::preconditioned(a.clone(), m.clone(), CgParams::default().with_stop(stop))?;
        Ok(Application { a, m, solver, x: Vector::zeros(device, N)? })
    }
}

#[test]
fn a_struct_holds_matrix_preconditioner_and_solver() {
    on_both(|device| {
        let begin = live(device);
        let b = right(device, 1.0);
        let stops = [1e-3, 1e-5].map(Stop::relative);
        // The second solve goes on from the first.
        let borrowed = {
            let a = matrix(device).unwrap();
            let m = Chebyshev::new(&a, ChebyshevParams::default()).unwrap();
            let params = CgParams::default().with_stop(stops[0]);
            let solver = ConjugateGradient::preconditioned(&a, &m, params).unwrap();
            let mut x = Vector::zeros(device, N).unwrap();
            [0, 1].map(|_| (solver.solve(&mut x, &b).unwrap(), bits(&x.read().unwrap())))
        };
        let mut held = Application::new(device, stops[0]).unwrap();
        let twice = [0, 1].map(|_| {
            let report = held.solver.solve(&mut held.x, &b).unwrap();
            (report, bits(&held.x.read().unwrap()))
        });
        for ((found, bits), (want, of)) in twice.iter().zip(&borrowed) {
            assert!(found.converged(), "{found}");
            assert_eq!(bits, of);
            assert_eq!((found.iterations, found.true_residual), (want.iterations, want.true_residual));
        }
        assert!(twice[0].0.iterations > 0 && twice[1].0.iterations == 0, "{}", twice[1].0);
        // Another solver of the same matrix, moved to where the first one was.
        let Application { a, m, solver, x } = held;
        drop(solver);
        let params = CgParams::default().with_stop(stops[1]);
        let solver = ConjugateGradient::preconditioned(a.clone(), m.clone(), params).unwrap();
        let mut held = Application { a, m, solver, x };
        assert!(held.solver.solve(&mut held.x, &b).unwrap().iterations > 0);
        // The matrix: the field, the preconditioner and the solver.
        assert_eq!((Rc::strong_count(&held.a), Rc::strong_count(&held.m)), (3, 2));
        drop((held, b));
        assert_eq!(live(device), begin);
    });
}

/// What is held goes with the last who holds it, in whatever order, and not before.
#[test]
fn the_last_owner_takes_the_objects_along() {
    on_both(|device| {
        let begin = live(device);
        let b = right(device, 1.0);
        for order in 0..3 {
            let empty = live(device);
            let Application { a, m, solver, mut x } = Application::new(device, Stop::default()).unwrap();
            let full = live(device);
            match order {
                // The solver alone is left, and still solves.
                0 => {
                    drop((a, m));
                    assert_eq!(live(device), full);
                    assert!(solver.solve(&mut x, &b).unwrap().converged());
                    drop((solver, x));
                }
                // The matrix alone is left, and can be had back.
                1 => {
                    drop((solver, m, x));
                    let a = Rc::try_unwrap(a).expect("nobody else holds it");
                    assert!(ConjugateGradient::new(&a, CgParams::default()).is_ok());
                }
                // Outside a scope that was open when it was made.
                _ => {
                    let scope = device.scope().unwrap();
                    drop((solver, a));
                    drop(scope);
                    drop((x, m));
                }
            }
            assert_eq!(live(device), empty, "{order}");
        }
        // An error on the way lets go of what it was given.
        let a = Rc::new(matrix(device).unwrap());
        let wrong = CgParams::default().with_stop(Stop::relative(-1.0));
        assert!(ConjugateGradient::new(a.clone(), wrong).is_err());
        assert_eq!(Rc::strong_count(&a), 1);
        drop((a, b));
        assert_eq!(live(device), begin);
    });
}

/// What solvers are made of, in either form.
struct Parts<A, P, S> {
    a: A,
    preconditioners: Vec<P>,
    smoothers: Vec<S>,
}

/// What every solver finds that is made of these: of each the bits of two solves, and what it says of itself.
fn found<A, P, S>(device: &Device, parts: &Parts<A, P, S>) -> Result<Vec<(String, Vec<u32>)>>
where
    A: LinOp + Clone,
    P: Preconditioner + Clone,
    S: Smoother + Clone,
{
    let (b, pushing) = (right(device, 1.0), right(device, -1.0));
    let mut all = Vec::new();
    let mut twice = |name: String, solve: &dyn Fn(&mut Vector) -> Result<bool>| {
        for _ in 0..2 {
            let mut x = Vector::zeros(device, N)?;
            assert!(solve(&mut x)?, "{name}");
            all.push((name.clone(), bits(&x.read()?)));
        }
        Ok::<_, texla::Error>(())
    };
    let a = || parts.a.clone();
    let cg = ConjugateGradient::new(a(), CgParams::default())?;
    twice(format!("{cg:?}"), &|x| Ok(cg.solve(x, &b)?.converged()))?;
    twice("ConjugateGradient::iterate".into(), &|x| {
        cg.iterate(x, &b, 5)?;
        Ok(cg.workload()?.is_some())
    })?;
    for m in &parts.preconditioners {
        let cg = ConjugateGradient::preconditioned(a(), m.clone(), CgParams::default())?;
        twice(format!("{cg:?}"), &|x| Ok(cg.solve(x, &b)?.converged()))?;
    }
    for m in parts.preconditioners.iter().take(1) {
        let minres = Minres::preconditioned(a(), m.clone(), MinresParams::default())?;
        twice(format!("{minres:?}"), &|x| Ok(minres.solve(x, &b)?.converged()))?;
        let flexible =
            FlexibleConjugateGradient::preconditioned(a(), m.clone(), FlexibleCgParams::default())?;
        twice(format!("{flexible:?}"), &|x| Ok(flexible.solve(x, &b)?.converged()))?;
        let bicgstab = BiCgStab::preconditioned(a(), m.clone(), BiCgStabParams::default())?;
        twice(format!("{bicgstab:?}"), &|x| Ok(bicgstab.solve(x, &b)?.converged()))?;
        let gmres = Gmres::preconditioned(a(), m.clone(), GmresParams::default())?;
        twice(format!("{gmres:?}"), &|x| Ok(gmres.solve(x, &b)?.converged()))?;
        let cgls = Cgls::preconditioned(a(), m.clone(), CglsParams::default())?;
        twice(format!("{cgls:?}"), &|x| Ok(cgls.solve(x, &b)?.converged()))?;
    }
    for smoother in &parts.smoothers {
        let params = StationaryParams::default().with_stop(Stop::relative(1e-2));
        let stationary = Stationary::new(a(), smoother.clone(), params)?;
        twice(format!("{stationary:?}"), &|x| Ok(stationary.solve(x, &b)?.converged()))?;
    }
    let lcp = LcpSolver::new(a(), LcpParams::default())?;
    twice(format!("{lcp:?}"), &|x| Ok(lcp.solve(x, &pushing)?.converged()))?;
    let projected = ProjectedJacobi::new(a(), 0.5)?;
    twice(format!("{projected:?}"), &|x| projected.run(x, &pushing, 9).map(|()| true))?;
    let auto = Auto::new(a(), AutoParams::default())?;
    twice(format!("{auto:?}"), &|x| Ok(auto.solve(x, &b)?.converged()))?;
    for kind in [PreconditionerKind::Chebyshev, PreconditionerKind::Amg, PreconditionerKind::BlockJacobi] {
        let choice = Choice::new(MethodKind::Cg, kind);
        let chosen = choice.prepare(a(), ChoiceParams::default())?;
        twice(format!("{chosen:?}"), &|x| Ok(chosen.solve(x, &b)?.converged()))?;
    }
    let chosen = Choice::new(MethodKind::Gmres, PreconditionerKind::None).with_preconditioner(
        a(),
        Box::new(Identity),
        ChoiceParams::default(),
    )?;
    twice(format!("{chosen:?}"), &|x| Ok(chosen.solve(x, &b)?.converged()))?;
    Ok(all)
}

#[test]
fn what_is_shared_gives_the_bits_of_what_is_borrowed() {
    on_both(|device| {
        let borrowed = {
            let a = matrix(device).unwrap();
            let (rows, any): (&dyn Sweepable, &dyn LinOp) = (&a, &a);
            let jacobi = Jacobi::new(&a).unwrap();
            let chebyshev = Chebyshev::new(any, ChebyshevParams::default()).unwrap();
            let amg = AggregationMultigrid::new(&a, AggregationParams::default()).unwrap();
            let gs = GaussSeidel::new(rows, 1.0, Direction::Symmetric).unwrap();
            let weighted = WeightedJacobi::new(any, 1.0).unwrap();
            let dynamic: &dyn Preconditioner = &chebyshev;
            let parts = Parts {
                a: &a,
                preconditioners: vec![&jacobi as &dyn Preconditioner, dynamic, &amg, &gs],
                smoothers: vec![&weighted as &dyn Smoother, &gs, &amg],
            };
            assert_eq!(amg.levels().count(), 2);
            found(device, &parts).unwrap()
        };
        let before = live(device);
        let shared = {
            let a = Rc::new(matrix(device).unwrap());
            let (rows, any): (Rc<dyn Sweepable>, Rc<dyn LinOp>) = (a.clone(), a.clone());
            let jacobi = Rc::new(Jacobi::new(a.clone()).unwrap());
            let chebyshev = Chebyshev::new(any.clone(), ChebyshevParams::default()).unwrap();
            let amg = Rc::new(AggregationMultigrid::new(a.clone(), AggregationParams::default()).unwrap());
            let gs = Rc::new(GaussSeidel::new(rows, 1.0, Direction::Symmetric).unwrap());
            let weighted: Rc<dyn Smoother> = Rc::new(WeightedJacobi::new(any, 1.0).unwrap());
            let dynamic: Rc<dyn Preconditioner> = Rc::new(chebyshev);
            let parts: Parts<Rc<StoredMatrix>, Rc<dyn Preconditioner>, Rc<dyn Smoother>> = Parts {
                a,
                preconditioners: vec![jacobi, dynamic, amg.clone(), gs.clone()],
                smoothers: vec![weighted, gs, amg.clone()],
            };
            assert_eq!(amg.levels().count(), 2);
            found(device, &parts).unwrap()
        };
        assert_eq!(shared, borrowed);
        assert_eq!(live(device), before);
    });
}

/// Holding what is borrowed asks no more of a program than a reference does: nothing of `'a` is needed when a solver drops.
#[test]
fn borrowing_is_as_free_as_it_was() {
    on_both(|device| {
        let b = right(device, 1.0);
        let (solver, minres, bicgstab, gmres, cgls, stationary, auto, lcp, mut a);
        let (chebyshev, amg, gs, weighted, projected);
        a = matrix(device).unwrap();
        solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        assert!(solver.solve(&mut Vector::zeros(device, N).unwrap(), &b).unwrap().converged());
        minres = Minres::new(&a, MinresParams::default()).unwrap();
        bicgstab = BiCgStab::new(&a, BiCgStabParams::default()).unwrap();
        gmres = Gmres::new(&a, GmresParams::default()).unwrap();
        cgls = Cgls::new(&a, CglsParams::default()).unwrap();
        auto = Auto::new(&a, AutoParams::default()).unwrap();
        lcp = LcpSolver::new(&a, LcpParams::default()).unwrap();
        chebyshev = Chebyshev::new(&a, ChebyshevParams::default()).unwrap();
        amg = AggregationMultigrid::new(&a, AggregationParams::default()).unwrap();
        gs = GaussSeidel::new(&a, 1.0, Direction::Forward).unwrap();
        weighted = WeightedJacobi::new(&a, 1.0).unwrap();
        projected = ProjectedJacobi::new(&a, 0.5).unwrap();
        stationary = Stationary::new(&a, WeightedJacobi::new(&a, 1.0).unwrap(), Default::default()).unwrap();
        let all: [&dyn std::fmt::Debug; 12] = [
            &minres,
            &bicgstab,
            &gmres,
            &cgls,
            &auto,
            &lcp,
            &chebyshev,
            &amg,
            &gs,
            &weighted,
            &projected,
            &stationary,
        ];
        assert!(all.iter().all(|one| format!("{one:?}").contains("384x384")), "{all:?}");
        // Mutably, while the solver is still in scope though not used again.
        let values = a.pattern().values().to_vec();
        a.set_values(&values).unwrap();
        let shared: Rc<dyn Sweepable> = Rc::new(a);
        assert_eq!(shared.rows().shape().rows, N);
    });
}

/// A solve that ends a block, of a solver that is a temporary of its tail: in editions before 2024 that drops after `a`.
#[test]
fn a_solver_may_be_dropped_after_what_it_borrows() {
    on_both(|device| {
        let b = right(device, 1.0);
        let mut x = Vector::zeros(device, N).unwrap();
        let later;
        let report = {
            let a = matrix(device).unwrap();
            let m = Jacobi::new(&a).unwrap();
            later = ConjugateGradient::preconditioned(&a, &m, CgParams::default()).unwrap();
            later.solve(&mut x, &b).unwrap()
        };
        assert!(report.converged(), "{report}");
    });
}

/// A matrix and a preconditioner given to their solver, which lends them: the bits are those of borrowing, and both go with it.
#[test]
fn a_solver_may_own_what_it_is_made_of() {
    on_both(|device| {
        let begin = live(device);
        let b = right(device, 1.0);
        let borrowed = {
            let a = matrix(device).unwrap();
            let m = Jacobi::new(&a).unwrap();
            let solver = ConjugateGradient::preconditioned(&a, &m, CgParams::default()).unwrap();
            let mut x = Vector::zeros(device, N).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            (report.iterations, bits(&x.read().unwrap()))
        };
        let a = matrix(device).unwrap();
        let m = Jacobi::new(&a).unwrap();
        let solver = ConjugateGradient::preconditioned(a, m, CgParams::default()).unwrap();
        let mut x = Vector::zeros(device, N).unwrap();
        let report = solver.solve(&mut x, &b).unwrap();
        assert_eq!((report.iterations, bits(&x.read().unwrap())), borrowed);
        assert_eq!((solver.operator().pattern().shape().rows, solver.params()), (N, &CgParams::default()));
        assert!(solver.preconditioner().diagonal().is_some());
        drop((solver, x));

        let any: Box<dyn LinOp> = Box::new(matrix(device).unwrap());
        let auto = Auto::new(any, AutoParams::default()).unwrap();
        assert_eq!(auto.operator().shape().rows, N);
        assert!(auto.solve(&mut Vector::zeros(device, N).unwrap(), &b).unwrap().converged());
        let weighted = WeightedJacobi::new(matrix(device).unwrap(), 1.0).unwrap();
        let params = StationaryParams::default().with_stop(Stop::relative(1e-2));
        let stationary = Stationary::new(matrix(device).unwrap(), weighted, params).unwrap();
        assert!(stationary.solve(&mut Vector::zeros(device, N).unwrap(), &b).unwrap().converged());
        assert_eq!(stationary.operator().pattern().shape().rows, N);
        stationary.smoother().smooth(&mut Vector::zeros(device, N).unwrap(), &b, 1).unwrap();
        let lcp = LcpSolver::new(matrix(device).unwrap(), LcpParams::default()).unwrap();
        assert_eq!(lcp.operator().pattern().shape().rows, N);
        let pushing = right(device, -1.0);
        assert!(lcp.solve(&mut Vector::zeros(device, N).unwrap(), &pushing).unwrap().converged());
        // Shared, so that it can be cloned, and go on by slices after the matrix's other handles are gone.
        let solver = {
            let a = Rc::new(matrix(device).unwrap());
            ConjugateGradient::new(a, CgParams::default()).unwrap()
        };
        let mut solving = solver.begin(Box::new(Vector::zeros(device, N).unwrap()), &b);
        drop(solver);
        while !solving.advance(texla::solve::Slice::iterations(5)).unwrap().done {}
        assert!(solving.finish().1.unwrap().converged());
        drop((auto, stationary, lcp, pushing, b));
        assert_eq!(live(device), begin);
    });
}

/// Preconditioners that read a matrix once and keep nothing of it take it in the forms that solvers take, too.
#[test]
fn preconditioners_take_what_solvers_take() {
    on_both(|device| {
        let r = right(device, -1.0);
        let applied = |m: Result<Box<dyn Preconditioner>>| {
            let mut z = Vector::zeros(device, N).unwrap();
            m.unwrap().apply(&mut z, &r).unwrap();
            z.read().unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let a = Rc::new(matrix(device).unwrap());
        let dynamic: Rc<dyn LinOp> = a.clone();
        macro_rules! alike {
            ($(|$a:ident| $new:expr),+ $(,)?) => {
                $({
                    let new = |$a: &StoredMatrix| -> Result<Box<dyn Preconditioner>> { Ok(Box::new($new?)) };
                    let borrowed = applied(new(&a));
                    let $a = a.clone();
                    assert_eq!(applied($new.map(|m| Box::new(m) as _)), borrowed, stringify!($new));
                    let $a = &*dynamic;
                    assert_eq!(applied($new.map(|m| Box::new(m) as _)), borrowed, stringify!($new));
                    let $a = dynamic.clone();
                    assert_eq!(applied($new.map(|m| Box::new(m) as _)), borrowed, stringify!($new));
                })+
            };
        }
        alike!(
            |a| Jacobi::new(a),
            |a| Jacobi::absolute(a),
            |a| Jacobi::for_least_squares(a),
            |a| BlockJacobi::new(a),
            |a| IncompleteLu::new(a, IluParams::default()),
            |a| IncompleteCholesky::new(a, 1e-2),
            |a| Fsai::new(a, 1),
            |a| Spai::new(a, 1),
        );
        assert_eq!((Rc::strong_count(&a), Rc::strong_count(&dynamic)), (2, 2));

        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL));
        let stencil = Stencil::new(device, Grid::new_2d(24, 16), params).unwrap();
        let borrowed =
            applied(Multigrid::new(&stencil, MultigridParams::default()).map(|m| Box::new(m) as _));
        let stencil = Rc::new(stencil);
        let of_the_handle = Multigrid::new(&stencil, MultigridParams::default());
        assert_eq!(applied(of_the_handle.map(|m| Box::new(m) as _)), borrowed);
        let shared = Multigrid::new(stencil.clone(), MultigridParams::default());
        assert_eq!(applied(shared.map(|m| Box::new(m) as _)), borrowed);
    });
}
