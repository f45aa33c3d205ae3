//! Preconditioners: what they apply, componentwise against 64 bits, and what methods and matrices they suit.

use crate::common::bounds::{assert_componentwise, gamma};
use crate::common::harness::{assert_padded, lengths, on_both};
use crate::common::{random, reference};
use crate::systems::{System, apply, apply_abs, entries};
use texla::host::{Csr, problems};
use texla::solve::{
    BiCgStab, BiCgStabParams, BlockJacobi, CgParams, Cgls, CglsParams, Chebyshev, ChebyshevParams,
    ConjugateGradient, Gmres, GmresParams, Jacobi, Preconditioner,
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
            let m = BlockJacobi::new(&stored(device, &a)).unwrap();
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
            let most = want.iter().fold(0.0f64, |m, v| m.max(v.abs()));
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
            let off = x.read().unwrap().iter().fold(0.0f32, |m, v| m.max((v - 1.0).abs()));
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
            assert!(why.contains("positive definite") && why.contains("Gmres"), "{why}");
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
