//! Histories: what each point is, and that the last one is the certificate.

use crate::common::harness::on_both;
use crate::common::systems::relative_residual;
use crate::systems::{Method, System};
use texla::host::problems;
use texla::solve::{
    Auto, AutoParams, CgParams, CgSchedule, Chebyshev, ChebyshevParams, ConjugateGradient, HistoryPoint,
    LcpParams, LcpSolver, ResidualKind, Slice, SolveReport, Stop, StopReason,
};
use texla::{DoubleVector, MatrixFormat, StoredMatrix, Vector};

/// Each point is of a later iteration than the one before, the first and the last are certified.
#[track_caller]
fn well_formed(label: &str, history: &[HistoryPoint], iterations: usize, certified: f64) {
    assert!(history.windows(2).all(|w| w[0].iteration < w[1].iteration), "{label}: {history:?}");
    let (Some(first), Some(last)) = (history.first(), history.last()) else { panic!("{label}: no history") };
    assert_eq!((first.iteration, first.kind), (0, ResidualKind::Certified), "{label}: {history:?}");
    assert_eq!((last.iteration, last.kind), (iterations, ResidualKind::Certified), "{label}: {history:?}");
    assert_eq!(last.residual, certified, "{label}: {history:?}");
}

/// Systems so small that a few iterations solve them.
#[test]
fn histories_of_small_systems_end_with_the_certificate() {
    on_both(|device| {
        for n in 2..=100 {
            let system = System::of_ones("poisson", problems::poisson_1d(n).to_csr());
            let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &system.b).unwrap();
            let methods = [Method::Cg(CgSchedule::Listing), Method::KRYLOV[n % Method::KRYLOV.len()]];
            for method in methods {
                let label = format!("{method:?}, {n}");
                let mut x = Vector::zeros(device, n).unwrap();
                let report = method.solve(&a, &mut x, &b, 2000, Stop::relative(1e-5)).unwrap();
                assert_eq!(report.reason, StopReason::Converged, "{label}: {report:?}");
                well_formed(&label, &report.history, report.iterations, report.true_residual);
                // Which the host confirms, of A x = b.
                let found = relative_residual(&system.a, &x.read().unwrap(), &system.b);
                if method != Method::Cgls {
                    assert!(
                        found <= report.true_residual,
                        "{label}: {found:e} of {:e}",
                        report.true_residual
                    );
                }
                let mut points = report.history.iter();
                assert!(points.all(|point| point.kind != ResidualKind::Bound), "{label}: {report:?}");
            }
        }
    });
}

/// Conjugate gradients with a preconditioner that takes passes of its own, whose residual is predicted.
fn predicted(a: &StoredMatrix, x: &mut Vector, b: &Vector, most: usize, stop: Stop) -> SolveReport {
    let m = Chebyshev::new(a, ChebyshevParams::default()).unwrap();
    let params = CgParams::default().with_max_iters(most).with_stop(stop);
    ConjugateGradient::preconditioned(a, m, params).unwrap().solve(x, b).unwrap()
}

/// A bound is one: no less than the residual of the iterate after so many iterations.
#[test]
fn bounds_are_no_less_than_residuals() {
    on_both(|device| {
        let mut seen = 0;
        for n in [2, 3, 5, 17, 60, 200] {
            let system = System::of_ones("poisson", problems::poisson_1d(n).to_csr());
            let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &system.b).unwrap();
            let run = |most| {
                let stop = Stop::relative(1e-5).check_every(1);
                let mut x = Vector::zeros(device, n).unwrap();
                predicted(&a, &mut x, &b, most, stop)
            };
            for point in run(1000).history.iter().filter(|point| point.kind == ResidualKind::Bound) {
                let there = run(point.iteration).true_residual;
                // Of the recurrence: the iterate itself has 32 bits.
                let rounding = 4.0 / f64::from(1 << 24);
                assert!(point.residual + rounding >= 0.999 * there, "{n}: {point:?}, {there:e} there");
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    });
}

#[test]
fn whatever_a_solve_comes_to_is_certified_last() {
    on_both(|device| {
        let system = System::of_ones("poisson", problems::poisson_2d(12, 12).to_csr());
        let n = system.n();
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        let methods = Method::KRYLOV.into_iter().chain([Method::Jacobi(0.8)]);
        // Converged, out of iterations, and as good as 32 bits can be.
        for (method, (most, bound)) in
            methods.flat_map(|method| [(3000, 1e-4), (5, 1e-4), (3000, 1e-9)].map(|limits| (method, limits)))
        {
            let label = format!("{method:?}, {most}, {bound:e}");
            let mut x = Vector::zeros(device, n).unwrap();
            let report = method.solve(&a, &mut x, &b, most, Stop::relative(bound)).unwrap();
            well_formed(&label, &report.history, report.iterations, report.true_residual);
            let certified =
                report.history.iter().filter(|point| point.kind == ResidualKind::Certified).count();
            assert!(certified <= report.replacements + 2, "{label}: {report:?}");
        }
        // A start so far off that zero is better, and the best of what was found.
        let mut x = Vector::filled(device, n, 1e30).unwrap();
        let report = Method::BiCgStab.solve(&a, &mut x, &b, 3000, Stop::relative(1e-5)).unwrap();
        well_formed("far", &report.history, report.iterations, report.true_residual);
        // Of several methods one after another, in pairs.
        let mut x = DoubleVector::zeros(device, n).unwrap();
        let params = AutoParams::default().with_stop(Stop::relative(1e-12));
        let mut seen: Vec<HistoryPoint> = Vec::new();
        let report =
            Auto::new(&a, params).unwrap().solve_observed(&mut x, &b, |point| seen.push(point)).unwrap();
        well_formed("auto", &report.solved.history, report.solved.iterations, report.solved.true_residual);
        assert_eq!(seen.last(), report.solved.history.last());
    });
}

#[test]
fn progress_says_what_it_is() {
    on_both(|device| {
        let a = StoredMatrix::new(device, problems::poisson_1d(40).to_csr(), MatrixFormat::Auto).unwrap();
        let b = Vector::filled(device, 40, 1.0).unwrap();
        let params = CgParams::default().with_stop(Stop::relative(1e-4));
        let m = Chebyshev::new(&a, ChebyshevParams::default()).unwrap();
        let solver = ConjugateGradient::preconditioned(&a, &m, params).unwrap();
        let mut x = Vector::zeros(device, 40).unwrap();
        let mut solving = solver.begin(&mut x, &b);
        let mut kinds = vec![solving.progress().kind];
        loop {
            let progress = solving.advance(Slice::iterations(1)).unwrap();
            kinds.push(progress.kind);
            if progress.done {
                break;
            }
        }
        let last = solving.progress();
        let (_, report) = solving.finish();
        let report = report.unwrap();
        assert_eq!((last.iterations, last.residual), (report.iterations, Some(report.true_residual)));
        assert_eq!((kinds.first(), kinds.last()), (Some(&None), Some(&Some(ResidualKind::Certified))));
        assert!(kinds.contains(&Some(ResidualKind::Bound)), "{kinds:?}");
    });
}

#[test]
fn complementarity_problems_end_with_the_certificate() {
    on_both(|device| {
        for n in [2, 7, 40, 100] {
            let a = StoredMatrix::new(device, problems::poisson_1d(n).to_csr(), MatrixFormat::Auto).unwrap();
            let b: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.5 } else { -1.0 }).collect();
            let b = Vector::from_f64(device, &b).unwrap();
            for most in [3, 20_000] {
                let params = LcpParams::default().with_max_sweeps(most);
                let mut x = Vector::zeros(device, n).unwrap();
                let report = LcpSolver::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
                let label = format!("{n}, {most}");
                well_formed(&label, &report.history, report.outcome.sweeps, report.outcome.residual());
            }
        }
    });
}

/// The kinds by their words, which JSON and charts use.
#[test]
fn kinds_have_names() {
    let kinds = [ResidualKind::Recurrence, ResidualKind::Bound, ResidualKind::Certified];
    assert_eq!(kinds.map(|kind| kind.to_string()), ["recurrence", "bound", "certified"]);
}
