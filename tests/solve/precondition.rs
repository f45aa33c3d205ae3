//! Preconditioners: what they apply, componentwise against 64 bits, and what methods and matrices they suit.

use crate::common::bounds::{assert_componentwise, gamma};
use crate::common::harness::{assert_padded, lengths, on_both};
use crate::common::worst::worst;
use crate::common::{random, reference};
use crate::systems::{System, apply, apply_abs, entries};
use texla::host::{Csr, problems};
use texla::solve::{
    BiCgStab, BiCgStabParams, BlockJacobi, CgParams, Cgls, CglsParams, Chebyshev, ChebyshevParams,
    ConjugateGradient, Fsai, Gmres, GmresParams, IluParams, IncompleteCholesky, IncompleteLu, Jacobi,
    Preconditioner, Spai,
};
use texla::{Device, Error, MatrixFormat, Stencil, StencilParams, StoredMatrix, Vector};
use texla::{Grid, Side, Sides};

pub fn stored(device: &Device, a: &Csr) -> StoredMatrix {
    StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap()
}

/// `M r`, and `r` as the device has it.
pub fn applied(m: &dyn Preconditioner, device: &Device, seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let r = random::uniform(seed, n);
    let given = Vector::from_slice(device, &r).unwrap();
    let mut z = Vector::filled(device, n, 7.0).unwrap();
    m.apply(&mut z, &given).unwrap();
    assert_padded(&z, "z");
    (z.read().unwrap(), reference::widen(&r))
}

/// Tridiagonal blocks whose couplings are about as strong as their diagonals, and something outside of them.
fn blocked(n: usize) -> Csr {
    let of = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 3.0 + (i % 7) as f64,
        1 if i / 4 == j / 4 => -1.0 - 0.25 * (j % 3) as f64,
        2 if i / 4 == j / 4 => 0.5,
        6 => -0.125,
        _ => 0.0,
    };
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)).filter(move |(i, j)| i.abs_diff(*j) <= 6));
    entries(n, n, all.map(|(i, j)| (i, j, of(i, j))).filter(|e| e.2 != 0.0).collect::<Vec<_>>())
}

/// Elimination with pivots, dense.
pub fn dense_solve(a: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut rows: Vec<Vec<f64>> = a.iter().zip(b).map(|(row, b)| [&row[..], &[*b]].concat()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|i, j| rows[*i][k].abs().total_cmp(&rows[*j][k].abs())).unwrap();
        rows.swap(k, pivot);
        let row = rows[k].clone();
        for other in rows.iter_mut().skip(k + 1) {
            let factor = other[k] / row[k];
            other.iter_mut().zip(&row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - sum) / rows[k][k];
    }
    x
}

#[test]
fn block_jacobi_solves_with_its_blocks() {
    on_both(|device| {
        for n in lengths(device, 300).into_iter().filter(|n| *n <= 300) {
            let a = blocked(n);
            let m = BlockJacobi::new(stored(device, &a)).unwrap();
            let (z, r) = applied(&m, device, 5, n);
            let mut want = Vec::new();
            for first in (0..n).step_by(4) {
                let side = (n - first).min(4);
                let block: Vec<Vec<f64>> = (0..side)
                    .map(|i| {
                        (0..side)
                            .map(|j| a.row(first + i).find(|e| e.0 == first + j).map_or(0.0, |e| e.1))
                            .collect()
                    })
                    .collect();
                want.extend(dense_solve(&block, &r[first..first + side]));
            }
            // A power of two apart.
            let Some(at) = want.iter().position(|v| v.abs() > 1e-3) else { continue };
            let unit = (f64::from(z[at]) / want[at]).log2().round().exp2();
            let want: Vec<f64> = want.iter().map(|v| v * unit).collect();
            // Elements of the inverse rounded once, four products, three sums; none larger than ten times the largest.
            let most = want.iter().map(|v| v.abs()).fold(0.0, worst);
            let bound = vec![10.0 * gamma(6) * most; n];
            assert_componentwise("block Jacobi", &z, &want, &bound);
        }
    });
}

#[test]
fn chebyshev_is_its_polynomial() {
    on_both(|device| {
        let a = problems::poisson_2d(13, 9).to_csr();
        let n = 117;
        let diagonal = 4.0;
        for (degree, ratio) in [(1, 30.0), (2, 4.0), (3, 30.0), (8, 100.0)] {
            let operator = stored(device, &a);
            let m =
                Chebyshev::new(&operator, ChebyshevParams::default().with_degree(degree).with_ratio(ratio))
                    .unwrap();
            let largest = m.largest();
            // cos(π h) twice, plus one.
            assert!((1.9..=2.001).contains(&largest), "{largest}");
            let (z, r) = applied(&m, device, 3, n);
            let (theta, delta) = (0.5 * largest * (1.0 + 1.0 / ratio), 0.5 * largest * (1.0 - 1.0 / ratio));
            // The Chebyshev iteration, as books have it.
            let sigma = theta / delta;
            let mut rho = 1.0 / sigma;
            let mut d: Vec<f64> = r.iter().map(|r| r / diagonal / theta).collect();
            let mut want = d.clone();
            let mut size: Vec<f64> = d.iter().map(|v| v.abs()).collect();
            for _ in 1..degree {
                let left: Vec<f64> = apply(&a, &want).iter().zip(&r).map(|(q, r)| r - q).collect();
                let next = 1.0 / (2.0 * sigma - rho);
                d.iter_mut()
                    .zip(&left)
                    .for_each(|(d, l)| *d = next * rho * *d + 2.0 * next / delta * l / diagonal);
                let moved = apply_abs(&a, &size);
                for ((s, m), r) in size.iter_mut().zip(&moved).zip(&r) {
                    *s += 2.0 * *s + 2.0 * next / delta * (m + r.abs()) / diagonal;
                }
                want.iter_mut().zip(&d).for_each(|(z, d)| *z += d);
                rho = next;
            }
            let unit = 4.0; // 2^exponent of the diagonal
            let want: Vec<f64> = want.iter().map(|v| v * unit).collect();
            let bound: Vec<f64> = size.iter().map(|s| unit * gamma(12 * degree) * s).collect();
            assert_componentwise(&format!("Chebyshev of degree {degree}"), &z, &want, &bound);
        }
        // Of an operator that keeps no entries.
        let sides = Sides::all(Side::DIRICHLET);
        let grid =
            Stencil::new(device, Grid::new_2d(13, 9), StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let m = Chebyshev::new(&grid, ChebyshevParams::default()).unwrap();
        assert!((1.0..=2.4).contains(&m.largest()), "{}", m.largest());
    });
}

#[test]
fn they_save_iterations_and_end_where_one_ends_without() {
    on_both(|device| {
        let system = System::of_ones("grid", problems::poisson_2d(40, 31).to_csr());
        let a = stored(device, &system.a);
        let b = Vector::from_f64(device, &system.b).unwrap();
        let run = |m: &dyn Preconditioner| {
            let mut x = Vector::zeros(device, system.n()).unwrap();
            let cg = ConjugateGradient::preconditioned(&a, m, CgParams::default()).unwrap();
            let report = cg.solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{report:?}");
            let off = x.read().unwrap().iter().map(|v| (v - 1.0).abs()).fold(0.0, worst);
            assert!(off < 2e-3, "{off}");
            report.iterations
        };
        let plain = run(&Jacobi::new(&a).unwrap());
        let blocks = run(&BlockJacobi::new(&a).unwrap());
        let polynomial = run(&Chebyshev::new(&a, ChebyshevParams::default()).unwrap());
        assert!(blocks < plain && 2 * polynomial < plain, "{plain}, {blocks}, {polynomial}");
    });
}

#[test]
fn negative_diagonals_are_for_methods_that_do_not_mind() {
    on_both(|device| {
        let n = 60;
        let all = (0..n).flat_map(|i| {
            let sign = if i % 3 == 0 { -1.0 } else { 1.0 };
            [(i, i, 4.0 * sign), (i, (i + 1) % n, 1.0), (i, (i + 7) % n, -0.5)]
        });
        let system = System::of_ones("signs", entries(n, n, all.collect::<Vec<_>>()));
        let a = stored(device, &system.a);
        let b = Vector::from_f64(device, &system.b).unwrap();
        for m in [&Jacobi::new(&a).unwrap() as &dyn Preconditioner, &BlockJacobi::new(&a).unwrap()] {
            let mut x = Vector::zeros(device, n).unwrap();
            let report = BiCgStab::preconditioned(&a, m, BiCgStabParams::default())
                .unwrap()
                .solve(&mut x, &b)
                .unwrap();
            assert!(report.converged(), "{report:?}");
            let mut x = Vector::zeros(device, n).unwrap();
            let report =
                Gmres::preconditioned(&a, m, GmresParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.iterations <= 20, "{report:?}");
            let why = Cgls::preconditioned(&a, m, CglsParams::default()).unwrap_err().to_string();
            assert!(why.contains("positive definite") && why.contains("gmres"), "{why}");
        }
        let symmetric = stored(device, &entries(2, 2, [(0, 0, -2.0), (1, 1, 1.0)]));
        let m = Jacobi::new(&symmetric).unwrap();
        let error = ConjugateGradient::preconditioned(&symmetric, &m, CgParams::default()).unwrap_err();
        assert!(error.to_string().contains("has the diagonal entry -2 at 0"), "{error}");
        assert!(matches!(Chebyshev::new(&symmetric, ChebyshevParams::default()), Err(Error::Matrix { .. })));
    });
}

#[test]
fn what_they_cannot_take_is_refused_by_name() {
    on_both(|device| {
        let singular =
            stored(device, &entries(6, 6, [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (3, 3, 1.0), (4, 5, 1.0)]));
        let error = BlockJacobi::new(&singular).unwrap_err().to_string();
        assert!(error.contains("rows and columns 4 to 5"), "{error}");
        let flat = stored(device, &entries(2, 3, [(0, 0, 1.0)]));
        assert!(matches!(BlockJacobi::new(&flat), Err(Error::Matrix { op: "BlockJacobi", .. })));
        let good = stored(device, &problems::poisson_1d(5).to_csr());
        for (degree, ratio, name) in
            [(0, 30.0, "degree"), (65, 30.0, "degree"), (3, 1.0, "ratio"), (3, f64::NAN, "ratio")]
        {
            let params = ChebyshevParams::default().with_degree(degree).with_ratio(ratio);
            match Chebyshev::new(&good, params) {
                Err(Error::Parameter { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{other:?}"),
            }
        }
        let mut z = Vector::zeros(device, 4).unwrap();
        let r = Vector::zeros(device, 5).unwrap();
        for m in [
            &BlockJacobi::new(&good).unwrap() as &dyn Preconditioner,
            &Chebyshev::new(&good, ChebyshevParams::default()).unwrap(),
        ] {
            assert!(matches!(m.apply(&mut z, &r), Err(Error::ShapeMismatch { .. })));
        }
        // Nothing, and one.
        for n in [0, 1] {
            let a = stored(device, &problems::poisson_1d(n).to_csr());
            let of = |m: &dyn Preconditioner| applied(m, device, 1, n).0.len();
            assert_eq!(of(&BlockJacobi::new(&a).unwrap()), n);
            assert_eq!(of(&Chebyshev::new(&a, ChebyshevParams::default()).unwrap()), n);
        }
    });
}

/// Dense enough that the pattern is all there is: approximate inverses are inverses.
fn full(n: usize, symmetric: bool) -> Csr {
    let of = |i: usize, j: usize| {
        let (low, high) = if symmetric { (i.min(j), i.max(j)) } else { (i, j) };
        if i == j { 4.0 + i as f64 } else { ((low * 7 + high * 3) % 5) as f64 * 0.25 - 0.6 }
    };
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j, of(i, j)))).filter(|e| e.2 != 0.0);
    entries(n, n, all.collect::<Vec<_>>())
}

fn dense(a: &Csr) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; a.shape().cols]; a.shape().rows];
    a.entries().for_each(|(i, j, v)| rows[i][j] += v);
    rows
}

#[test]
fn whole_patterns_and_exact_sweeps_are_the_inverse() {
    on_both(|device| {
        for n in [1, 2, 3, 5, 8, 13] {
            let exact = IluParams::default().with_fill(n).with_drop(0.0).with_tolerance(0.0);
            for symmetric in [true, false] {
                let a = full(n, symmetric);
                let operator = stored(device, &a);
                let mut all: Vec<(&str, Box<dyn Preconditioner>, f64)> = vec![
                    ("ilut", Box::new(IncompleteLu::new(&operator, exact).unwrap()), 1.0),
                    (
                        "ilut as it is",
                        Box::new(IncompleteLu::new(&operator, exact.with_prepared(false)).unwrap()),
                        1.0,
                    ),
                    ("spai", Box::new(Spai::new(&operator, 1).unwrap()), 1.0),
                ];
                if symmetric {
                    all.push(("ic0", Box::new(IncompleteCholesky::new(&operator, 0.0).unwrap()), 1.0));
                    // Elements of a few thousandths of the diagonal are dropped.
                    all.push(("fsai", Box::new(Fsai::new(&operator, 1).unwrap()), 3e4));
                }
                for (name, m, loose) in all {
                    let (z, r) = applied(m.as_ref(), device, 9, n);
                    let want = dense_solve(&dense(&a), &r);
                    // A power of two apart.
                    let unit = (f64::from(z[0]) / want[0]).log2().round().exp2();
                    let want: Vec<f64> = want.iter().map(|v| v * unit).collect();
                    // Diagonals dominate: inverses are no larger than 1, and are products of at most 2 n numbers.
                    let most = r.iter().map(|v| v.abs()).fold(0.0, worst) * unit;
                    let bound = vec![loose * 4.0 * gamma(4 * n + 8) * most; n];
                    assert_componentwise(&format!("{name} of {n}, symmetric {symmetric}"), &z, &want, &bound);
                }
            }
        }
    });
}

#[test]
fn symmetric_ones_are_symmetric_and_scales_change_no_bit() {
    on_both(|device| {
        let a = blocked(57);
        let a = entries(57, 57, a.entries().flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]).collect::<Vec<_>>());
        type Make = fn(&StoredMatrix) -> Box<dyn Preconditioner + '_>;
        let all: [(&str, Make, bool); 7] = [
            ("fsai", |a| Box::new(Fsai::new(a, 1).unwrap()), true),
            ("fsai2", |a| Box::new(Fsai::new(a, 2).unwrap()), true),
            ("ic0", |a| Box::new(IncompleteCholesky::new(a, 0.1).unwrap()), true),
            ("chebyshev", |a| Box::new(Chebyshev::new(a, ChebyshevParams::default()).unwrap()), true),
            ("block jacobi", |a| Box::new(BlockJacobi::new(a).unwrap()), true),
            ("spai2", |a| Box::new(Spai::new(a, 2).unwrap()), false),
            ("ilut", |a| Box::new(IncompleteLu::new(a, IluParams::default()).unwrap()), false),
        ];
        for (name, make, symmetric) in all {
            let operator = stored(device, &a);
            let m = make(&operator);
            assert_eq!(m.indefinite().is_none(), symmetric, "{name}");
            let ((mx, x), (my, y)) = (applied(m.as_ref(), device, 1, 57), applied(m.as_ref(), device, 2, 57));
            if symmetric {
                let (left, right) =
                    (reference::dot(&y, &reference::widen(&mx)), reference::dot(&x, &reference::widen(&my)));
                let size = reference::norm2(&y) * reference::norm2(&reference::widen(&mx));
                assert!((left - right).abs() <= 1e-5 * size, "{name}: {left:e}, {right:e}");
                assert!(reference::dot(&x, &reference::widen(&mx)) > 0.0, "{name}");
            }
            // A power of two on the matrix is none on what is applied, or the same on all of it.
            for e in [40, -40, 100] {
                let scaled = crate::systems::mapped(&a, |v| v * f64::from(e).exp2());
                let operator = stored(device, &scaled);
                let (other, _) = applied(make(&operator).as_ref(), device, 1, 57);
                let unit = (f64::from(other[3]) / f64::from(mx[3])).log2();
                assert!(unit.fract() == 0.0, "{name}, 2^{e}: {unit}");
                let back: Vec<f32> = other.iter().map(|v| (f64::from(*v) * (-unit).exp2()) as f32).collect();
                assert_eq!(back, mx, "{name}, 2^{e}");
            }
        }
    });
}

#[test]
fn what_has_no_entries_or_no_definite_diagonal_is_refused() {
    on_both(|device| {
        let sides = Sides::all(Side::DIRICHLET);
        let grid =
            Stencil::new(device, Grid::new_2d(4, 4), StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let refused = |error: Option<Error>, what: &str| match error {
            Some(Error::Unsupported { why, .. }) => assert!(why.contains("LinOp::pattern"), "{why}"),
            other => panic!("{what}: {other:?}"),
        };
        refused(BlockJacobi::new(&grid).err(), "block Jacobi");
        refused(Fsai::new(&grid, 1).err(), "fsai");
        refused(Spai::new(&grid, 1).err(), "spai");
        refused(IncompleteLu::new(&grid, IluParams::default()).err(), "ilut");
        refused(IncompleteCholesky::new(&grid, 0.1).err(), "ic0");
        let skew = stored(device, &entries(2, 2, [(0, 0, 1.0), (1, 1, 1.0), (0, 1, 1.0)]));
        assert!(matches!(Fsai::new(&skew, 1), Err(Error::Matrix { op: "Fsai", .. })));
        assert!(matches!(IncompleteCholesky::new(&skew, 0.1), Err(Error::Matrix { .. })));
        assert!(matches!(Fsai::new(&skew, 3), Err(Error::Parameter { .. } | Error::Matrix { .. })));
        assert!(matches!(Spai::new(&skew, 0), Err(Error::Parameter { name: "steps", .. })));
        for (drop, tolerance, name) in [(-1.0, 0.1, "drop"), (f64::NAN, 0.1, "drop"), (0.1, 1.0, "tolerance")]
        {
            let params = IluParams::default().with_drop(drop).with_tolerance(tolerance);
            match IncompleteLu::new(&skew, params) {
                Err(Error::Parameter { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{other:?}"),
            }
        }
        // Nothing, and one.
        for n in [0, 1] {
            let a = stored(device, &problems::poisson_1d(n).to_csr());
            let of = |m: &dyn Preconditioner| applied(m, device, 1, n).0.len();
            assert_eq!(of(&Fsai::new(&a, 2).unwrap()), n);
            assert_eq!(of(&Spai::new(&a, 2).unwrap()), n);
            assert_eq!(of(&IncompleteLu::new(&a, IluParams::default()).unwrap()), n);
            assert_eq!(of(&IncompleteCholesky::new(&a, 0.1).unwrap()), n);
        }
    });
}
