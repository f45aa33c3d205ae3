//! What the theory excludes is a typed error or outcome, and no NaN comes out.

use crate::common::data;
use crate::common::harness::on_both;
use crate::systems::{self, Method, System, entries, fits, params, solve};
use texla::solve::{
    Breakdown, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Jacobi, Preconditioner, Stationary,
    StationaryParams, Stop, StopReason, WeightedJacobi,
};
use texla::{Device, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

/// What a file of the data folder comes to.
enum Expect {
    Breakdown(&'static str),
    Matrix(&'static str),
}

const FILES: [(&str, Expect); 11] = [
    ("sym/bcsstm10", Expect::Breakdown("p.Ap")),
    ("unsym/west0067", Expect::Matrix("is not symmetric: A[")),
    ("unsym/impcol_a", Expect::Matrix("is not symmetric: A[")),
    ("unsym/arc130", Expect::Matrix("is not symmetric: A[")),
    ("unsym/bfwa62", Expect::Matrix("is not symmetric: A[")),
    ("unsym/qh1484", Expect::Matrix("is not symmetric: A[")),
    ("unsym/sherman5", Expect::Matrix("is not symmetric: A[")),
    ("rect/ash219", Expect::Matrix("is 219x85, expected as many rows as columns")),
    ("rect/illc1033", Expect::Matrix("is 1033x320, expected as many rows as columns")),
    ("rect/lp_share1b", Expect::Matrix("is 117x253, expected as many rows as columns")),
    ("rect/well1850", Expect::Matrix("is 1850x712, expected as many rows as columns")),
];

#[test]
fn files_that_conjugate_gradients_cannot_solve() {
    let folders = [("sym", 1), ("unsym", 6), ("rect", 4)];
    let matrices = systems::data_matrices(&folders, "breakdowns with real matrices");
    on_both(|device| {
        for (name, a) in &matrices {
            let Some((_, expect)) = FILES.iter().find(|f| name.strip_suffix(".mtx") == Some(f.0)) else {
                data::say(&format!("no outcome is written down for {name}"));
                continue;
            };
            if !fits(device, a, MatrixFormat::Sparse(SparseFormat::Gather)) {
                continue;
            }
            let stored =
                StoredMatrix::new(device, a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
            let solver = ConjugateGradient::new(&stored, params(1e-5));
            match (expect, solver) {
                (Expect::Matrix(text), Err(Error::Matrix { op: "ConjugateGradient", detail })) => {
                    assert!(detail.contains(text), "{name}: {detail}");
                    // The pair that is named is one that differs.
                    if let Some((i, j, v, w)) = a.asymmetry().filter(|_| a.shape().is_square()) {
                        let pair = format!("A[{i}, {j}] = {v:e} and A[{j}, {i}] = {w:e}");
                        assert!(detail.contains(&pair) && v != w, "{name}: {detail}");
                    }
                }
                (Expect::Breakdown(of), Ok(solver)) => {
                    let b = Vector::from_f64(device, &systems::rhs_of_ones(a)).unwrap();
                    let mut x = Vector::zeros(device, a.shape().cols).unwrap();
                    match solver.solve(&mut x, &b) {
                        Ok(report) => {
                            assert_eq!(report.reason, StopReason::Breakdown, "{name}: {report:?}");
                            let Breakdown { quantity, value, iteration, .. } = report.breakdown.unwrap();
                            assert_eq!((quantity, iteration), (*of, report.iterations), "{name}");
                            // In 64 bits it is iteration 11.
                            assert!(value <= 0.0 && iteration < 30, "{name}: {value} in {iteration}");
                        }
                        Err(other) => panic!("{name}: {other:?}"),
                    }
                    assert!(x.read().unwrap().iter().all(|v| v.is_finite()), "{name}: x");
                }
                (_, other) => panic!("{name}: {:?}", other.map(|_| "a solver")),
            }
        }
    });
}

#[test]
fn indefinite_matrices_break_down_in_both_schedules() {
    on_both(|device| {
        // Negative definite, indefinite at once, and a zero matrix: p.Ap = 0.
        let cases = [
            ("negative", entries(5, 5, (0..5).map(|i| (i, i, -1.0 - i as f64)))),
            ("indefinite", entries(2, 2, [(0, 1, 1.0), (1, 0, 1.0), (0, 0, -3.0), (1, 1, 1.0)])),
            ("zero", entries(3, 3, [(0, 0, 0.0)])),
        ];
        for (name, a) in cases {
            for schedule in systems::schedules(device) {
                let n = a.shape().rows;
                let system =
                    System { name: name.into(), a: a.clone(), b: (0..n).map(|i| 1.0 + i as f64).collect() };
                let params = params(1e-5).with_schedule(schedule);
                let (_, report) =
                    solve(device, &system, MatrixFormat::Sparse(SparseFormat::Gather), false, params)
                        .unwrap();
                assert_eq!(report.reason, StopReason::Breakdown, "{name} {schedule:?}: {report:?}");
                let broken = report.breakdown.unwrap();
                let Breakdown { iteration, quantity, value, .. } = broken;
                assert!(quantity == "p.Ap" && value <= 0.0, "{name} {schedule:?}: {broken}");
                assert!(iteration <= 1 && iteration == report.iterations, "{name} {schedule:?}: {broken}");
                let why = if value < 0.0 { "the matrix is not positive definite" } else { "is singular" };
                assert!(broken.to_string().contains(why), "{name} {schedule:?}: {broken}");
            }
        }
    });
}

#[test]
fn jacobi_names_the_row_whose_diagonal_is_zero() {
    on_both(|device| {
        let a = entries(4, 4, [(0, 0, 1.0), (1, 1, 2.0), (2, 2, 0.0), (3, 3, 1.0), (0, 2, 1.0), (2, 0, 1.0)]);
        for format in [MatrixFormat::Sparse(SparseFormat::Gather), MatrixFormat::Banded] {
            let stored = StoredMatrix::new(device, a.clone(), format).unwrap();
            match Jacobi::new(&stored).err() {
                Some(Error::Matrix { op: "Jacobi", detail }) => {
                    assert!(detail.contains("0 at 2"), "{detail}")
                }
                other => panic!("{other:?}"),
            }
            // The norm of the column, where there is one.
            Jacobi::absolute(&stored).unwrap();
        }
        // A diagonal that is not stored is zero.
        let a = entries(2, 2, [(0, 1, 1.0), (1, 0, 1.0), (0, 0, 1.0)]);
        let stored = StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        assert!(
            matches!(Jacobi::new(&stored).err(), Some(Error::Matrix { detail, .. }) if detail.contains("0 at 1"))
        );
        let zeros = StoredMatrix::new(device, entries(2, 2, [(0, 0, 1.0)]), MatrixFormat::Banded).unwrap();
        assert!(
            matches!(Jacobi::absolute(&zeros).err(), Some(Error::Matrix { detail, .. }) if detail.contains("0 at 1"))
        );
    });
}

/// A diagonal of the test's own: through the merged schedule if it is given as such, else through the other.
struct Diagonal {
    values: Vector,
    known: bool,
}

impl Preconditioner for Diagonal {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        texla::ops::mul(z, &self.values, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        self.known.then_some(&self.values)
    }
}

#[test]
fn an_indefinite_preconditioner_breaks_down() {
    on_both(|device| {
        let system = System::of_ones("poisson", texla::host::problems::poisson_2d(9, 9).to_csr());
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &system.b).unwrap();
        for known in [true, false] {
            let m = Diagonal { values: Vector::filled(device, 81, -1.0).unwrap(), known };
            let mut x = Vector::zeros(device, 81).unwrap();
            let solver = ConjugateGradient::preconditioned(&a, &m, params(1e-5)).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            assert_eq!(report.reason, StopReason::Breakdown, "known {known}: {report:?}");
            let broken = report.breakdown.unwrap();
            assert!(broken.quantity == "r.Mr" && broken.iteration == 0 && broken.value < 0.0, "{broken}");
            assert!(broken.to_string().contains("the preconditioner is not positive definite"), "{broken}");
            assert!(x.read().unwrap().iter().all(|v| *v == 0.0));
        }
    });
}

#[test]
fn parameters_are_checked_when_the_solver_is_made() {
    on_both(|device| {
        let stored =
            StoredMatrix::new(device, texla::host::problems::poisson_1d(8).to_csr(), MatrixFormat::Auto)
                .unwrap();
        let refused = |error: Option<Error>, name: &str, case: &str| match error {
            Some(Error::Parameter { name: found, .. }) => assert_eq!(found, name, "{case}"),
            other => panic!("{case}: {other:?}"),
        };
        for tol in [0.0, -1e-5, 1.0, 2.0, 1e-30, f64::NAN, f64::INFINITY] {
            let case = format!("tol {tol}");
            let stop = Stop::relative(tol);
            refused(
                ConjugateGradient::new(&stored, CgParams::default().with_stop(stop)).err(),
                "relative",
                &case,
            );
            refused(Cgls::new(&stored, CglsParams::default().with_stop(stop)).err(), "relative", &case);
        }
        let ones = Vector::filled(device, 8, 1.0).unwrap();
        let jacobi = WeightedJacobi::new(&stored, 0.8).unwrap();
        for every in [0, Stop::MOST_UNSEEN + 1, usize::MAX] {
            let (stop, text) = (Stop::relative(1e-5).check_every(every), every.to_string());
            for method in [&Method::KRYLOV[..], &[Method::Jacobi(0.8)]].concat() {
                let mut x = Vector::zeros(device, 8).unwrap();
                let error = method.solve(&stored, &mut x, &ones, 10, stop).err();
                refused(error, "check_every", &format!("{method:?}, {text}"));
            }
            let params = StationaryParams::default().with_test_every(every);
            refused(Stationary::new(&stored, &jacobi, params).err(), "test_every", &text);
        }
        let stop = Stop::relative(1e-5).check_every(Stop::MOST_UNSEEN);
        assert!(ConjugateGradient::new(&stored, CgParams::default().with_stop(stop)).is_ok());
        let most = StationaryParams::default().with_test_every(Stop::MOST_UNSEEN);
        assert!(Stationary::new(&stored, &jacobi, most).is_ok());
        for tol in [1e-18, 0.999] {
            assert!(ConjugateGradient::new(&stored, params(tol)).is_ok(), "{tol}");
        }
        too_many_iterations(device, &stored);
        wrong_shapes(device, &stored);
        // Only a diagonal folds into the merged passes.
        let m = Diagonal { values: Vector::filled(device, 8, 1.0).unwrap(), known: false };
        let merged = CgParams::default().with_schedule(CgSchedule::Merged);
        let refused = ConjugateGradient::preconditioned(&stored, &m, merged).err();
        assert!(matches!(refused, Some(Error::Unsupported { .. })), "{refused:?}");
    });
}

fn too_many_iterations(device: &Device, a: &StoredMatrix) {
    let b = Vector::filled(device, 8, 1.0).unwrap();
    let mut x = Vector::zeros(device, 8).unwrap();
    let params = CgParams::default().with_max_iters(1 << 24);
    let error = ConjugateGradient::new(a, params).and_then(|s| s.solve(&mut x, &b)).err();
    assert!(matches!(error, Some(Error::Parameter { name: "max_iters", .. })), "{error:?}");
}

fn wrong_shapes(device: &Device, a: &StoredMatrix) {
    let solver = ConjugateGradient::new(a, CgParams::default()).unwrap();
    let of = |n| Vector::filled(device, n, 1.0).unwrap();
    for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
        match solver.solve(&mut of(n), &of(m)) {
            Err(Error::ShapeMismatch { op: "ConjugateGradient::solve", operand, .. }) => {
                assert_eq!(operand, name)
            }
            other => panic!("{other:?}"),
        }
        match Cgls::new(a, CglsParams::default()).unwrap().solve(&mut of(n), &of(m)) {
            Err(Error::ShapeMismatch { op: "Cgls::solve", operand, .. }) => assert_eq!(operand, name),
            other => panic!("{other:?}"),
        }
    }
}
