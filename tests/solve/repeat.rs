//! Results depend on the system alone: not on when the host looks, and on the schedule within rounding only.

use crate::common::harness::on_both;
use crate::systems::{self, Method, System, bits, params, relative_error, solve};
use texla::host::problems;
use texla::ops;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, ConjugateGradient, FlexibleCgParams,
    FlexibleConjugateGradient, Gmres, GmresParams, HistoryPoint, Identity, Minres, MinresParams, Multigrid,
    MultigridParams, Preconditioner, SolveReport, Stop,
};
use texla::{
    Grid, MatrixFormat, Result, Side, Sides, SparseFormat, Stencil, StencilParams, StoredMatrix, Vector,
};

#[test]
fn looks_do_not_change_the_result() {
    on_both(|device| {
        for system in systems::generated() {
            for schedule in systems::schedules(device) {
                for (tol, max_iters) in [(1e-5, 20_000), (1e-9, 400), (1e-6, 21)] {
                    let run = |every| {
                        let stop = Stop::relative(tol).check_every(every);
                        let params = CgParams::default()
                            .with_schedule(schedule)
                            .with_stop(stop)
                            .with_max_iters(max_iters);
                        let (x, report) = solve(device, &system, MatrixFormat::Auto, true, params).unwrap();
                        let first = report.history.first().copied();
                        assert_eq!(first.map(|h| h.iteration), Some(0), "the history begins with the start");
                        assert!(
                            report.history.windows(2).all(|w| w[0].iteration < w[1].iteration),
                            "{:?}",
                            report.history
                        );
                        assert!(
                            report
                                .history
                                .iter()
                                .all(|h| h.iteration <= report.iterations && h.residual.is_finite())
                        );
                        (
                            bits(&x),
                            report.iterations,
                            report.reason,
                            report.true_residual,
                            report.replacements,
                        )
                    };
                    let once = run(1);
                    for every in [1, 7, 16, 64] {
                        assert_eq!(run(every), once, "{} {schedule:?} {tol:e} every {every}", system.name);
                    }
                }
            }
        }
    });
}

/// Condition numbers of the generated systems are at most this: poisson 1d with 70 unknowns has 2043.
const CONDITION: f64 = 2100.0;

/// Textures come from a pool as whoever had them has left them, and a factor of zero makes NaN of an infinity.
#[test]
fn what_the_pool_holds_changes_nothing() {
    on_both(|device| {
        let grid = Grid::new_2d(16, 12);
        let walls = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL));
        let a = Stencil::new(device, grid, walls).unwrap();
        let multigrid = Multigrid::new(&a, MultigridParams::default()).unwrap();
        let b = Vector::from_slice(device, &crate::common::random::uniform(4, grid.len())).unwrap();
        let preconditioners: [&dyn Preconditioner; 2] = [&Identity, &multigrid];
        type Solve = fn(&Stencil, &dyn Preconditioner, &mut Vector, &Vector) -> Result<SolveReport>;
        let of_two = |a: &Stencil, m: &dyn Preconditioner, x: &mut Vector, b: &Vector| {
            BiCgStab::preconditioned(a, m, BiCgStabParams::default().with_ell(2))?.solve(x, b)
        };
        let solves: [Solve; 6] = [
            |a, m, x, b| {
                let params = params(1e-4).with_schedule(CgSchedule::Listing);
                ConjugateGradient::preconditioned(a, m, params)?.solve(x, b)
            },
            |a, m, x, b| BiCgStab::preconditioned(a, m, BiCgStabParams::default())?.solve(x, b),
            of_two,
            |a, m, x, b| Gmres::preconditioned(a, m, GmresParams::default())?.solve(x, b),
            |a, m, x, b| Minres::preconditioned(a, m, MinresParams::default())?.solve(x, b),
            |a, m, x, b| {
                FlexibleConjugateGradient::preconditioned(a, m, FlexibleCgParams::default())?.solve(x, b)
            },
        ];
        for (m, solve) in preconditioners.iter().flat_map(|m| solves.map(|solve| (*m, solve))) {
            let spoilt: Vec<Vector> = (0..24)
                .map(|_| {
                    let large = Vector::filled(device, grid.len(), 3e38).unwrap();
                    let mut infinite = Vector::zeros(device, grid.len()).unwrap();
                    ops::scaled(&mut infinite, 10.0, &large).unwrap();
                    infinite
                })
                .collect();
            drop(spoilt);
            let mut x = Vector::zeros(device, grid.len()).unwrap();
            let report = solve(&a, m, &mut x, &b).unwrap();
            assert!(report.converged(), "{report:?}");
        }
    });
}

#[test]
fn schedules_agree() {
    on_both(|device| {
        if systems::schedules(device).len() < 2 {
            return;
        }
        let tol = 1e-5;
        for system in systems::generated() {
            for jacobi in [false, true] {
                let run = |schedule| {
                    let params = params(tol).with_schedule(schedule);
                    solve(device, &system, MatrixFormat::Auto, jacobi, params).unwrap()
                };
                let (x, listing) = run(CgSchedule::Listing);
                let mut together = Vec::new();
                for schedule in [CgSchedule::Merged, CgSchedule::Fused] {
                    let (y, other) = run(schedule);
                    let label = format!("{} {schedule:?} jacobi {jacobi}", system.name);
                    let apart = listing.iterations.abs_diff(other.iterations);
                    assert!(apart <= 2, "{label}: {} and {}", listing.iterations, other.iterations);
                    assert_eq!(listing.reason, other.reason, "{label}");
                    // Both residuals are at most tol ‖b‖.
                    let wide: Vec<f64> = y.iter().map(|v| f64::from(*v)).collect();
                    assert!(relative_error(&x, &wide) <= 2.0 * CONDITION * tol, "{label}");
                    together.push(bits(&y));
                }
                let auto = bits(&run(CgSchedule::Auto).0);
                assert!(together.contains(&auto), "{}: auto is one of both for diagonals", system.name);
            }
        }
    });
}

#[test]
fn schedules_agree_on_real_matrices() {
    let matrices = systems::data_matrices(&[("spd", 15)], "schedules on real matrices");
    on_both(|device| {
        if systems::schedules(device).len() < 2 {
            return;
        }
        for (name, a) in &matrices {
            // Well-conditioned with the diagonal taken out: rounding does not decide how many iterations it takes.
            let tame = ["pts5ldd03", "gr_30_30", "bcsstm22", "nos4"].iter().any(|w| name.contains(w));
            if !tame || !systems::gather_fits(device, a) {
                continue;
            }
            let system = System::of_ones(name, a.clone());
            let run = |schedule| {
                let params = params(1e-5).with_schedule(schedule);
                solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), true, params).unwrap().1
            };
            let (listing, merged) = (run(CgSchedule::Listing), run(CgSchedule::Merged));
            let apart = listing.iterations.abs_diff(merged.iterations);
            assert!(apart <= 2, "{name}: {} and {}", listing.iterations, merged.iterations);
            assert!(listing.converged() && merged.converged(), "{name}");
        }
    });
}

/// An entry of the history is of the iterate after so many iterations: a solve that ends there finds the same by itself.
#[test]
fn residuals_of_the_history_are_of_their_iterations() {
    on_both(|device| {
        let system = System::of_ones("poisson", problems::poisson_2d(9, 7).to_csr());
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        let schedules = systems::schedules(device).into_iter().map(Method::Cg);
        for method in
            schedules.chain([Method::BiCgStab, Method::BiCgStab2, Method::Cgls, Method::Jacobi(0.8)])
        {
            let run = |most| {
                let mut x = Vector::zeros(device, system.n()).unwrap();
                method.solve(&a, &mut x, &b, most, Stop::relative(1e-6).check_every(1)).unwrap()
            };
            let whole = run(6);
            assert_eq!(whole.iterations, 6, "{method:?}: {whole:?}");
            let last = whole.history.last().unwrap();
            assert_eq!(last.iteration, 6, "{method:?}: the history ends at the end: {:?}", whole.history);
            for HistoryPoint { iteration: k, residual, .. } in &whole.history[1..] {
                let there = run(*k).true_residual;
                let off = (residual - there).abs();
                assert!(
                    off <= 1e-3 * there + f64::from(f32::EPSILON),
                    "{method:?}, iteration {k}: {residual} in the history, {there} there"
                );
            }
        }
    });
}
