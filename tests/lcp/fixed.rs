//! The paper's form: each sweep within its bound, no readback, and honest answers to who asks.

use crate::common::bounds::{TINY, U, assert_componentwise, gamma, product_bounds};
use crate::common::harness::{assert_padded, on_both, on_both_with};
use crate::common::systems::{apply, apply_abs, csr, fits, gather_fits, mapped, rounded, row_terms};
use crate::common::worst::worst;
use crate::common::{random, reference};
use crate::problems::{Lcp, bits, correlated, dense, entries, flow, generated, mixed};
use texla::host::Csr;
use texla::solve::{Accuracy, LcpSolver, ProjectedJacobi, natural_residual};
use texla::{Device, Error, MatrixFormat, Shape, SparseFormat, StoredMatrix, Vector};

const FORMATS: [MatrixFormat; 3] = [
    MatrixFormat::Sparse(SparseFormat::Gather),
    MatrixFormat::Sparse(SparseFormat::Points),
    MatrixFormat::Banded,
];

/// The formats in which this matrix can be kept here.
fn formats(device: &Device, a: &Csr) -> Vec<MatrixFormat> {
    let blends = device.capabilities().float_blend;
    let can = |f: &MatrixFormat| match f {
        MatrixFormat::Sparse(SparseFormat::Points) => blends && fits(device, a, *f),
        MatrixFormat::Banded => a.distinct_diagonals() <= 40 && fits(device, a, *f),
        _ => fits(device, a, *f) && gather_fits(device, a),
    };
    FORMATS.into_iter().filter(can).collect()
}

/// The sweep in f64 from this `x`, with the coefficients that products use, and what the device may be off by.
fn sweep(lcp: &Lcp, omega: f64, x: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let a = rounded(&lcp.a);
    let x = reference::widen(x);
    let w = reference::add(&apply(&a, &x), &lcp.b);
    let sums = reference::add(&apply_abs(&a, &x), &reference::abs(&lcp.b));
    let product = product_bounds(&sums, row_terms(&a).into_iter().map(|k| k + 1));
    // omega / a_ii in 64 bits from the diagonal as given, rounded once.
    let d: Vec<f64> = lcp.a.diagonal().iter().map(|d| omega / d).collect();
    let want = (0..x.len()).map(|i| (x[i] - d[i] * w[i]).max(0.0)).collect();
    // Rounded: d, d w, and the difference. Taking the maximum enlarges no error.
    let bound = (0..x.len()).map(|i| {
        d[i] * product[i] * (1.0 + gamma(3)) + gamma(3) * (x[i].abs() + (d[i] * w[i]).abs()) + 3.0 * TINY
    });
    (want, bound.collect())
}

fn of_size(n: usize) -> Vec<Lcp> {
    let b = |seed| random::uniform(seed, n).into_iter().map(f64::from).collect::<Vec<_>>();
    let spd = csr(&random::spd(n as u64, n, (8.0 / n.max(1) as f64).min(0.7)));
    let lower = spd.entries().map(|(i, j, v)| (i, j, if i > j { 0.5 * v } else { v }));
    let lower = entries(n, n, lower.collect::<Vec<_>>());
    vec![
        Lcp::new(&format!("symmetric {n}"), spd, b(21)),
        Lcp::new(&format!("not symmetric {n}"), lower, b(22)),
        Lcp::new(
            &format!("flow {n}"),
            flow(n.max(1), 0.3).a,
            random::uniform(23, n.max(1)).into_iter().map(f64::from),
        ),
    ]
}

const SIZES: [usize; 9] = [0, 1, 2, 3, 5, 9, 50, 127, 1000];

#[test]
fn every_sweep_is_within_its_bound() {
    on_both(|device| {
        for n in SIZES {
            for lcp in of_size(n) {
                for format in formats(device, &lcp.a) {
                    let a = StoredMatrix::new(device, lcp.a.clone(), format).unwrap();
                    let b = Vector::from_f64(device, &lcp.b).unwrap();
                    for omega in [0.1f32, 0.7, 1.9] {
                        let jacobi = ProjectedJacobi::new(&a, omega).unwrap();
                        // A start with negative elements too.
                        let mut now = random::uniform(24, lcp.n());
                        let mut x = Vector::from_slice(device, &now).unwrap();
                        let mut ratio = 0.0f64;
                        for k in 0..6 {
                            jacobi.run(&mut x, &b, 1).unwrap();
                            let label = format!("{} {format:?} omega {omega} sweep {k}", lcp.name);
                            assert_padded(&x, &label);
                            let (want, bound) = sweep(&lcp, f64::from(omega), &now);
                            now = x.read().unwrap();
                            ratio = worst(ratio, assert_componentwise(&label, &now, &want, &bound));
                            assert!(now.iter().all(|v| *v >= 0.0), "{label}");
                        }
                        assert!(ratio <= 1.0 && (lcp.n() < 3 || ratio > 0.0), "{ratio}");
                        // All at once: the same bits.
                        let mut y = Vector::from_slice(device, &random::uniform(24, lcp.n())).unwrap();
                        jacobi.run(&mut y, &b, 6).unwrap();
                        assert_eq!(bits(&y.read().unwrap()), bits(&now), "{} {format:?}", lcp.name);
                    }
                }
            }
        }
    });
}

/// With textures of 64 texels a vector ends at 16,384 elements.
#[test]
fn small_textures() {
    let limits = crate::common::harness::limits().with_max_texture_size(Some(64));
    on_both_with(limits, |device| {
        // Diagonally dominant by a quarter.
        let n = 16_384;
        let a = mapped(&flow(n, 0.3).a, |v| if v > 0.0 { 2.5 } else { v });
        let lcp = Lcp::new("flow, damped", a, flow(n, 0.3).b);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Banded).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let mut x = Vector::zeros(device, n).unwrap();
        ProjectedJacobi::new(&a, 0.5).unwrap().run(&mut x, &b, 1).unwrap();
        let (want, bound) = sweep(&lcp, 0.5, &vec![0.0; n]);
        assert_componentwise("limit 64", &x.read().unwrap(), &want, &bound);
        let report = LcpSolver::new(&a, crate::problems::params(1e-5)).unwrap().solve(&mut x, &b).unwrap();
        assert!(report.converged(), "{report:?}");
        crate::problems::assert_honest(&lcp, &x.read().unwrap(), &report.outcome, 1e-5);
    });
}

#[test]
fn a_sweep_is_one_product_and_one_draw() {
    on_both(|device| {
        let lcp = &generated()[0];
        if !gather_fits(device, &lcp.a) {
            return;
        }
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let mut x = Vector::zeros(device, lcp.n()).unwrap();
        let jacobi = ProjectedJacobi::new(&a, 0.5).unwrap();
        for sweeps in [0, 1, 2, 37] {
            let texture = x.texture();
            let before = device.counters();
            jacobi.run(&mut x, &b, sweeps).unwrap();
            let work = device.counters().since(&before);
            let copies = if sweeps == 0 { 0 } else { 2 };
            assert_eq!(work.draws, 2 * sweeps as u64 + copies);
            assert_eq!((work.readbacks, work.async_checks, work.uploads), (0, 0, 0));
            assert_eq!(x.texture(), texture, "the caller's texture is kept");
        }
    });
}

/// A solution that 32 bits hold, with A x + b exactly zero where it is positive.
fn exact() -> (Lcp, Vec<f32>) {
    let n = 40;
    let a = texla::host::problems::poisson_1d(n).to_csr();
    let x: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 0.0 } else { (1 + i % 5) as f64 }).collect();
    let lcp = Lcp::with_solution("exact", a, &x, &vec![0.5; n]);
    (lcp, x.iter().map(|v| *v as f32).collect())
}

#[test]
fn a_warm_start_at_the_solution_stays() {
    on_both(|device| {
        let (lcp, solution) = exact();
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let mut x = Vector::from_slice(device, &solution).unwrap();
        ProjectedJacobi::new(&a, 0.9).unwrap().run(&mut x, &b, 25).unwrap();
        assert_eq!(x.read().unwrap(), solution);
        let found = natural_residual(&a, &x, &b).unwrap();
        assert_eq!((found.largest, found.relative, found.accuracy), (0.0, 0.0, Accuracy::DoubleFloat));
    });
}

/// `λ_max(D⁻¹ A) = 2.5`, so the limit is 0.8.
#[test]
fn relaxation_1_does_not_converge_where_the_eigenvalue_is_2_5() {
    on_both(|device| {
        let (x, _) = mixed(5, 128);
        let positive: Vec<f64> = x.iter().map(|v| 0.5 + v).collect();
        let lcp = Lcp::with_solution("contacts", correlated(8, 16, 0.1), &positive, &vec![0.0; 128]);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let after = |omega, sweeps| {
            let mut x = Vector::zeros(device, 128).unwrap();
            ProjectedJacobi::new(&a, omega).unwrap().run(&mut x, &b, sweeps).unwrap();
            natural_residual(&a, &x, &b).unwrap().relative
        };
        for sweeps in [500, 501, 2000, 2001] {
            assert!(after(1.0, sweeps) > 0.5, "{}", after(1.0, sweeps));
        }
        assert!(after(0.75, 500) < 1e-5, "{:e}", after(0.75, 500));
    });
}

/// The problem CPS_1: with relaxation 1 every sweep undoes the one before.
#[test]
fn oscillation_for_ever() {
    on_both(|device| {
        let a = StoredMatrix::new(device, dense(2, &[1.0; 4]), MatrixFormat::Sparse(SparseFormat::Gather))
            .unwrap();
        let b = Vector::from_slice(device, &[-1.0, -1.0]).unwrap();
        let jacobi = ProjectedJacobi::new(&a, 1.0).unwrap();
        for (sweeps, want) in [(1, 1.0), (1000, 0.0), (1001, 1.0)] {
            let mut x = Vector::zeros(device, 2).unwrap();
            jacobi.run(&mut x, &b, sweeps).unwrap();
            assert_eq!(x.read().unwrap(), [want; 2]);
            assert_eq!(natural_residual(&a, &x, &b).unwrap().relative, 1.0);
        }
        let mut x = Vector::zeros(device, 2).unwrap();
        ProjectedJacobi::new(&a, 0.5).unwrap().run(&mut x, &b, 1).unwrap();
        assert_eq!(x.read().unwrap(), [0.5; 2], "relaxation 0.5 needs one sweep");
    });
}

/// Off-diagonal elements so large that every sweep multiplies by 4: past the range of floats, where a shader does not
/// keep NaN, `x` is anything. Who asks is told of the `x` that is there.
#[test]
fn what_has_diverged_is_told() {
    on_both(|device| {
        let lcp = Lcp::new("no P-matrix", dense(2, &[1.0, -3.0, -3.0, 1.0]), [-1.0, -1.0]);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let jacobi = ProjectedJacobi::new(&a, 1.0).unwrap();
        for sweeps in [10, 30, 60, 63, 64, 65, 66, 79, 85, 200] {
            let mut x = Vector::zeros(device, 2).unwrap();
            jacobi.run(&mut x, &b, sweeps).unwrap();
            let found = natural_residual(&a, &x, &b).unwrap().relative;
            let x = x.read().unwrap();
            if x.iter().all(|v| v.is_finite()) {
                let (want, _) = lcp.residuals(&x);
                assert!(
                    (found - want).abs() <= 2.0 * U * want,
                    "{sweeps}: {found:e}, not {want:e}, for {x:?}"
                );
                assert!(found >= 1.0, "{sweeps}: {found:e}");
            } else {
                assert_eq!(found, f64::INFINITY, "{sweeps}: {x:?}");
            }
        }
    });
}

#[test]
fn the_residual_is_the_one_in_64_bits() {
    on_both(|device| {
        for base in generated() {
            for (e, f, g) in [(0, 0, 0), (60, 60, 0), (-60, 60, 60), (0, -60, -60), (60, -60, -100)] {
                let lcp = base.scaled(e, f);
                for format in formats(device, &lcp.a) {
                    let a = StoredMatrix::new(device, lcp.a.clone(), format).unwrap();
                    let b = Vector::from_f64(device, &lcp.b).unwrap();
                    // Not only what a solver leaves: any sign, any size.
                    let values: Vec<f32> =
                        random::uniform(31, lcp.n()).iter().map(|v| v * 2f32.powi(g)).collect();
                    let x = Vector::from_slice(device, &values).unwrap();
                    let found = natural_residual(&a, &x, &b).unwrap();
                    assert_eq!(found.accuracy, Accuracy::DoubleFloat);
                    let (want, _) = lcp.residuals(&values);
                    let label = format!("{} {format:?} x 2^{g}", lcp.name);
                    // Rounded once, after sums whose errors are 2^-20 of that.
                    assert!((found.relative - want).abs() <= 2.0 * U * want, "{label}: {found:?}, {want:e}");
                    let absolute = want * lcp.unit();
                    assert!((found.largest - absolute).abs() <= 2.0 * U * absolute, "{label}: {found:?}");
                }
            }
        }
    });
}

#[test]
fn wrong_arguments_are_typed_errors() {
    on_both(|device| {
        let stored =
            |a: Csr| StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let a = stored(texla::host::problems::poisson_1d(8).to_csr());
        for omega in [0.0, -0.1, f32::NAN, f32::INFINITY] {
            match ProjectedJacobi::new(&a, omega).err() {
                Some(Error::Parameter { op: "ProjectedJacobi", name: "omega", .. }) => {}
                other => panic!("{omega}: {other:?}"),
            }
        }
        for (bad, text) in [(0.0, "0 in row 2"), (-4.0, "-4 in row 2")] {
            let diagonal =
                stored(entries(4, 4, [1.0, 2.0, bad, 0.0].into_iter().enumerate().map(|(i, v)| (i, i, v))));
            match ProjectedJacobi::new(&diagonal, 0.5).err() {
                Some(Error::Matrix { op: "ProjectedJacobi", detail }) => {
                    assert!(detail.contains(text), "{detail}")
                }
                other => panic!("{other:?}"),
            }
        }
        let wide = stored(entries(2, 3, [(0, 0, 1.0), (1, 1, 1.0)]));
        assert!(matches!(ProjectedJacobi::new(&wide, 0.5).err(), Some(Error::Matrix { .. })));
        let tiny = stored(entries(2, 2, [(0, 0, 1e-37), (1, 1, 1.0)]));
        match ProjectedJacobi::new(&tiny, 100.0).err() {
            Some(Error::NonFinite { index: 0, .. }) => {}
            other => panic!("{other:?}"),
        }
        let of = |n| Vector::filled(device, n, 1.0).unwrap();
        let jacobi = ProjectedJacobi::new(&a, 0.5).unwrap();
        for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
            match jacobi.run(&mut of(n), &of(m), 3) {
                Err(Error::ShapeMismatch { op: "ProjectedJacobi::run", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
            match natural_residual(&a, &of(n), &of(m)) {
                Err(Error::ShapeMismatch { op: "natural_residual", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
        }
        match natural_residual(&wide, &of(3), &of(2)) {
            Err(Error::ShapeMismatch { operand: "A", found, .. }) => assert_eq!(found, Shape::new(2, 3)),
            other => panic!("{other:?}"),
        }
        assert_eq!(a.shape(), Shape::new(8, 8));
    });
}
