//! What lies below the range of floats, or leaves it when it is scaled, is refused or not certified: coefficients,
//! right-hand sides, and what a user's operator says of its size.

use crate::common::harness::on_both;
use crate::systems::{Method, entries, mapped, normal_residual, relative_residual};
use texla::host::{Csr, problems};
use texla::ops::{Accurate, Checked, LinOp, Part, Product};
use texla::solve::{
    CgSchedule, Cgls, CglsParams, Identity, Jacobi, LcpParams, LcpSolver, Multigrid, MultigridParams,
    Preconditioner, SolveReport, Stationary, StationaryParams, Stop, StopReason,
};
use texla::{
    ColumnStack, Device, Error, FoldedBands, Grid, Matrix, MatrixFormat, Result, Shape, Side, Sides,
    SparseFormat, SparseMatrix, Stencil, StencilParams, StoredMatrix, Vector,
};

const METHODS: [Method; 6] = [
    Method::Cg(CgSchedule::Auto),
    Method::Cg(CgSchedule::Listing),
    Method::BiCgStab,
    Method::BiCgStab2,
    Method::Cgls,
    Method::Jacobi(0.6),
];

const FORMATS: [MatrixFormat; 3] = [
    MatrixFormat::Sparse(SparseFormat::Gather),
    MatrixFormat::Sparse(SparseFormat::Points),
    MatrixFormat::Banded,
];

fn diagonal(values: &[f64]) -> Csr {
    let n = values.len();
    entries(n, n, values.iter().enumerate().map(|(i, v)| (i, i, *v)))
}

/// Whether what is said of `x` is so: of the residual, or of the normal equations; no number where nothing is said.
#[track_caller]
fn assert_so(label: &str, (a, b): (&Csr, &[f64]), x: &[f32], report: &SolveReport, bound: f64) {
    if report.reason != StopReason::Converged {
        return;
    }
    let own = relative_residual(a, x, b);
    let normal = report.least_squares_residual.map(|_| normal_residual(a, x, b));
    let met = [Some(own), normal].into_iter().flatten().any(|residual| residual <= 1.001 * bound);
    assert!(met, "{label}: {own:e}, normal equations {normal:?}, x = {x:?}: {report:?}");
}

/// `Aᵀb` is not zero because its products vanish.
#[test]
fn what_vanishes_of_a_transposed_product_is_not_orthogonal() {
    on_both(|device| {
        for tiny in [1e-37, 1e-38, 1e-40, 1e-45, 1e-50, 1e-300] {
            let csr = diagonal(&[1.0, tiny]);
            for format in FORMATS {
                let Ok(a) = StoredMatrix::new(device, csr.clone(), format) else { continue };
                let b = Vector::from_slice(device, &[0.0, 1.0]).unwrap();
                let jacobi = Jacobi::for_least_squares(&a);
                let helps = [Some(&Identity as &dyn Preconditioner), jacobi.as_ref().ok().map(|j| j as _)];
                for help in helps.into_iter().flatten() {
                    let mut x = Vector::zeros(device, 2).unwrap();
                    let found =
                        Cgls::preconditioned(&a, help, CglsParams::default()).unwrap().solve(&mut x, &b);
                    let label = format!("diag(1, {tiny:e}), {format:?}");
                    if let Ok(report) = found {
                        assert_so(&label, (&csr, &[0.0, 1.0]), &x.read().unwrap(), &report, 1e-5);
                    }
                }
            }
        }
    });
}

/// What is orthogonal beyond doubt is certified, also where 32 bits do not hold the coefficients.
#[test]
fn what_is_orthogonal_is_certified_where_the_host_knows_it() {
    on_both(|device| {
        let third = 1.0 / 3.0;
        for (values, certain) in [
            ([third, third], true),
            ([1e-50, 1e-50], true),
            // Not even that: 32 bits twice do not tell these apart.
            ([1.0 + 2f64.powi(-24) + 2f64.powi(-52), 1.0 + 2f64.powi(-24)], false),
        ] {
            let csr = entries(2, 1, [(0, 0, values[0]), (1, 0, values[1])]);
            for format in FORMATS {
                let Ok(a) = StoredMatrix::new(device, csr.clone(), format) else { continue };
                let b = Vector::from_slice(device, &[1.0, -1.0]).unwrap();
                let mut x = Vector::filled(device, 1, 3.0).unwrap();
                let found = Cgls::new(&a, CglsParams::default()).unwrap().solve(&mut x, &b);
                let converged = found.as_ref().is_ok_and(SolveReport::converged);
                assert_eq!(converged, certain, "{values:?}, {format:?}: {found:?}");
            }
        }
        // An operator that keeps no entries on the host.
        let a = Matrix::from_rows(device, Shape::new(2, 1), &[1.0, 1.0]).unwrap();
        let b = Vector::from_slice(device, &[1.0, -1.0]).unwrap();
        let mut x = Vector::filled(device, 1, 3.0).unwrap();
        let report = Cgls::new(&a, CglsParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!((report.reason, x.read().unwrap()), (StopReason::Uncertified, vec![0.0]));
        let b = Vector::zeros(device, 2).unwrap();
        assert!(Cgls::new(&a, CglsParams::default()).unwrap().solve(&mut x, &b).unwrap().converged());
    });
}

/// An operator with its name.
type Named = (&'static str, Box<dyn LinOp>);

/// Every operator of a 1-D Laplacian times `2^e`.
fn operators(device: &Device, n: usize, e: i32) -> (Csr, Vec<Named>) {
    let w = 2f64.powi(e);
    let csr = mapped(&problems::poisson_1d(n).to_csr(), |v| v * w);
    let sides = Sides { x: [Side::DIRICHLET; 2], y: [Side::Neumann; 2], z: [Side::Neumann; 2] };
    let stored =
        |format| StoredMatrix::new(device, csr.clone(), format).map(|a| Box::new(a) as Box<dyn LinOp>);
    let values: Vec<f64> =
        (0..n * n).map(|k| csr.entries().find(|t| t.0 * n + t.1 == k).map_or(0.0, |t| t.2)).collect();
    let all: Vec<(&'static str, Result<Box<dyn LinOp>>)> = vec![
        ("gather", stored(FORMATS[0])),
        ("points", stored(FORMATS[1])),
        ("banded", stored(FORMATS[2])),
        ("folded", FoldedBands::from_csr(device, csr.clone()).map(|a| Box::new(a) as _)),
        ("dense", Matrix::from_csr(device, &csr).map(|a| Box::new(a) as _)),
        ("stack", ColumnStack::from_f64(device, Shape::new(n, n), &values).map(|a| Box::new(a) as _)),
        (
            "stencil",
            Stencil::new(device, Grid::new_2d(n, 1), StencilParams::new([w, w, 0.0], sides))
                .map(|a| Box::new(a) as _),
        ),
    ];
    (csr, all.into_iter().filter_map(|(name, a)| Some((name, a.ok()?))).collect())
}

#[test]
fn matrices_of_any_size_are_solved_or_not_certified() {
    on_both(|device| {
        let n = 6;
        let mut converged = 0;
        for e in [-127, -145, -240, -252, -300] {
            let (csr, operators) = operators(device, n, e);
            for (name, a) in &operators {
                for f in [0, -120, 100] {
                    let b = vec![2f64.powi(f); n];
                    for method in METHODS {
                        let label = format!("{name} 2^{e}, b 2^{f}, {method:?}");
                        let side = Vector::from_f64(device, &b).unwrap();
                        let mut x = Vector::zeros(device, n).unwrap();
                        let stop = Stop::relative(1e-4);
                        let Ok(report) = method.solve(a.as_ref(), &mut x, &side, 200, stop) else { continue };
                        assert_so(&label, (&csr, &b), &x.read().unwrap(), &report, 1e-4);
                        converged += u32::from(report.converged());
                    }
                }
            }
        }
        assert!(converged >= 40, "only {converged}");
    });
}

/// A dense matrix may hold what lies below the range; what is said of products with that is no certificate.
#[test]
fn dense_coefficients_below_the_range_are_not_taken_for_zero() {
    on_both(|device| {
        let csr = mapped(&problems::poisson_1d(6).to_csr(), |v| v * 2f64.powi(-127));
        let sparse = SparseMatrix::from_csr(device, csr.clone(), SparseFormat::Gather).unwrap();
        let values: Vec<f64> =
            (0..36).map(|k| csr.entries().find(|t| t.0 * 6 + t.1 == k).map_or(0.0, |t| t.2)).collect();
        let a = [
            Box::new(Matrix::from_csr(device, &csr).unwrap()) as Box<dyn LinOp>,
            Box::new(sparse.to_matrix().unwrap()),
            Box::new(ColumnStack::from_f64(device, Shape::new(6, 6), &values).unwrap()),
        ];
        let b = vec![1.0; 6];
        for (a, method) in a.iter().flat_map(|a| METHODS.map(|method| (a, method))) {
            let side = Vector::from_f64(device, &b).unwrap();
            let mut x = Vector::zeros(device, 6).unwrap();
            let stop = Stop::relative(1e-4);
            if let Ok(report) = method.solve(a.as_ref(), &mut x, &side, 200, stop) {
                assert_so(&format!("{method:?}"), (&csr, &b), &x.read().unwrap(), &report, 1e-4);
            }
        }
        for a in &a {
            let side = Vector::filled(device, 6, -1.0).unwrap();
            let mut x = Vector::zeros(device, 6).unwrap();
            let solver = LcpSolver::new(a.as_ref(), LcpParams::default());
            let found = solver.and_then(|solver| solver.solve(&mut x, &side));
            assert!(!found.as_ref().is_ok_and(|report| report.converged()), "{found:?}");
        }
        // All of it is refused at every door.
        let small = diagonal(&[1e-40, 1e-40]);
        let sparse = SparseMatrix::from_csr(device, small.clone(), SparseFormat::Gather).unwrap();
        for found in [Matrix::from_csr(device, &small), sparse.to_matrix()] {
            assert!(matches!(found, Err(Error::Parameter { op: "Matrix::from_csr", .. })), "{found:?}");
        }
    });
}

/// Single coefficients that vanish beside the largest count where an element of `x` is large.
#[test]
fn coefficients_that_vanish_beside_others_are_not_forgotten() {
    on_both(|device| {
        let p = |e: i32| 2f64.powi(e);
        for e in [-127, -130, -140, -150, -160, -170] {
            let csr = entries(2, 2, [(0, 0, 1.0), (0, 1, p(e)), (1, 0, 1.0), (1, 1, p(-125))]);
            let b = [0.0, p(-5 + e + 130)];
            let start = [0.0, 2f32.powi((120 + e + 130).min(126))];
            for (format, method) in FORMATS.into_iter().flat_map(|f| METHODS.map(|m| (f, m))) {
                for bound in [1e-1, 1e-3, 1e-5] {
                    let a = StoredMatrix::new(device, csr.clone(), format).unwrap();
                    let side = Vector::from_f64(device, &b).unwrap();
                    let mut x = Vector::from_slice(device, &start).unwrap();
                    let Ok(report) = method.solve(&a, &mut x, &side, 50, Stop::relative(bound)) else {
                        continue;
                    };
                    let label = format!("2^{e}, {format:?}, {method:?}, bound {bound:e}");
                    assert_so(&label, (&csr, &b), &x.read().unwrap(), &report, bound);
                }
            }
        }
    });
}

/// A right-hand side whose elements may be taken for zero is refused where that counts, and nowhere else.
#[test]
fn right_hand_sides_below_the_range_are_refused() {
    on_both(|device| {
        let a = StoredMatrix::new(device, diagonal(&[1.0, 1.0]), MatrixFormat::Auto).unwrap();
        for (b, fine) in
            [([1.2e-38, 1.1e-38], false), ([1e-30, 1e-39], false), ([1.0, 1e-40], true), ([1e-37; 2], true)]
        {
            for method in METHODS {
                let side = Vector::from_f64(device, &b).unwrap();
                let mut x = Vector::zeros(device, 2).unwrap();
                let found = method.solve(&a, &mut x, &side, 50, Stop::relative(1e-4));
                let refused = matches!(found, Err(Error::Parameter { name: "b", .. }));
                // Least squares may weigh small elements more than all others.
                let refusal = !fine || method == Method::Cgls && b[1] == 1e-40;
                assert_eq!(refused, refusal, "{b:?}, {method:?}: {found:?}");
                if let Ok(report) = found {
                    assert!(report.converged(), "{b:?}, {method:?}: {report:?}");
                }
            }
        }
    });
}

/// An operator that says of its size what is not so.
struct Sized<'a> {
    a: &'a dyn LinOp,
    exponent: i32,
}

impl LinOp for Sized<'_> {
    fn device(&self) -> &Device {
        self.a.device()
    }

    fn shape(&self) -> Shape {
        self.a.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.a.apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.a.apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        self.a.accurate(out, terms, part)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.a.diagonal()
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.exponent)
    }
}

#[test]
fn what_an_operator_says_of_its_size_changes_no_verdict_into_a_false_one() {
    on_both(|device| {
        let n = 9;
        let csr = problems::poisson_1d(n).to_csr();
        let a = StoredMatrix::new(device, csr.clone(), FORMATS[0]).unwrap();
        for exponent in [i32::MIN, -1000, -240, -60, 60, 240, 1000, i32::MAX] {
            let a = Sized { a: &a, exponent };
            for method in METHODS {
                let b = Vector::filled(device, n, 1.0).unwrap();
                let mut x = Vector::zeros(device, n).unwrap();
                let report = method.solve(&a, &mut x, &b, 400, Stop::relative(1e-4)).unwrap();
                let x = x.read().unwrap();
                assert_so(&format!("2^{exponent}, {method:?}"), (&csr, &[1.0; 9]), &x, &report, 1e-4);
            }
            let b = Vector::filled(device, n, -1.0).unwrap();
            let mut x = Vector::zeros(device, n).unwrap();
            let solver = LcpSolver::new(&a, LcpParams::default());
            if solver.and_then(|s| s.solve(&mut x, &b)).is_ok_and(|report| report.converged()) {
                let x = x.read().unwrap();
                assert!(relative_residual(&csr, &x, &[1.0; 9]) <= 1e-3, "2^{exponent}: {x:?}");
            }
        }
    });
}

/// Zero has the residual 1, whatever the size of the operator.
#[test]
fn residuals_of_stationary_methods_are_told_as_they_are() {
    on_both(|device| {
        for e in [-140, -240, -251, -260, -300, -500, -1000] {
            let w = 2f64.powi(e);
            let params = StencilParams::new([w, w, 0.0], Sides::all(Side::DIRICHLET));
            let a = Stencil::new(device, Grid::new_2d(8, 8), params).unwrap();
            let multigrid = Multigrid::new(&a, MultigridParams::default()).unwrap();
            let params = StationaryParams::default().with_test_every(1).with_max_sweeps(20);
            let b = Vector::filled(device, 64, 1.0).unwrap();
            let mut x = Vector::zeros(device, 64).unwrap();
            let report = Stationary::new(&a, &multigrid, params).unwrap().solve(&mut x, &b).unwrap();
            let so = relative_residual(a.csr(), &x.read().unwrap(), &[1.0; 64]);
            let near = (report.true_residual - so).abs() <= 1e-4 * so + 1e-8;
            assert!(near, "2^{e}: {:e} told, {so:e} is so: {report:?}", report.true_residual);
        }
    });
}
