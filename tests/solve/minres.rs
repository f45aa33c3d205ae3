//! MINRES: residuals of a plain one in 64 bits, saddle points, halts and breakdowns, and pairs.

use crate::bicgstab::honest;
use crate::common::harness::{assert_padded, on_both};
use crate::common::pairs::{certified, is_exact, paired, wide};
use crate::common::reference::dot;
use crate::common::worst::worst;
use crate::systems::{System, apply, bits, entries, norm, relative_error, relative_residual};
use texla::host::{Csr, problems};
use texla::solve::{
    HistoryPoint, Identity, Jacobi, Minres, MinresParams, Preconditioner, SaddlePoint, SolveReport, Stop,
    StopReason,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, Result, Shape, SparseFormat, StoredMatrix, Vector};

fn params(tol: f64) -> MinresParams {
    MinresParams::default().with_stop(Stop::relative(tol))
}

fn solve(
    device: &Device,
    system: &System,
    jacobi: bool,
    params: MinresParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let m: Box<dyn Preconditioner> =
        if jacobi { Box::new(Jacobi::absolute(&a)?) } else { Box::new(Identity) };
    let solved = Minres::preconditioned(&a, m.as_ref(), params)?.solve(&mut x, &b);
    assert_padded(&x, &system.name);
    let values = x.read()?;
    assert!(values.iter().all(|v| v.is_finite()), "{}: not finite", system.name);
    Ok((values, solved?))
}

/// The least residuals of Krylov spaces in 64 bits, by directions whose images are orthogonal to all before: what MINRES finds
/// with two of them.
fn twin(a: &Csr, b: &[f64], most: usize) -> Vec<f64> {
    let mut r = b.to_vec();
    let mut history = vec![1.0];
    let mut images: Vec<Vec<f64>> = Vec::new();
    while history.len() <= most {
        let mut q = apply(a, images.last().unwrap_or(&r));
        for _ in 0..2 {
            for image in &images {
                let part = dot(&q, image);
                q.iter_mut().zip(image).for_each(|(q, v)| *q -= part * v);
            }
        }
        let size = norm(&q);
        q.iter_mut().for_each(|v| *v /= size);
        let step = dot(&r, &q);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
        images.push(q);
        history.push(norm(&r) / norm(b));
    }
    history
}

/// `[A Bᵀ; B 0]` with the five-point Laplacian and sums over columns of the grid: indefinite.
pub fn saddle(nx: usize, ny: usize) -> Csr {
    let (laplacian, n) = (problems::poisson_2d(nx, ny).to_csr(), nx * ny);
    let sums = (0..n).flat_map(|i| [(i, n + i % nx, 1.0), (n + i % nx, i, 1.0)]);
    entries(n + nx, n + nx, laplacian.entries().chain(sums).collect::<Vec<_>>())
}

/// `A - s I`, whose eigenvalues lie on both sides of zero.
fn shifted(nx: usize, ny: usize, s: f64) -> Csr {
    let laplacian = problems::poisson_2d(nx, ny).to_csr();
    let n = nx * ny;
    entries(
        n,
        n,
        laplacian.entries().map(|(i, j, v)| (i, j, if i == j { v - s } else { v })).collect::<Vec<_>>(),
    )
}

fn generated() -> Vec<System> {
    vec![
        System::of_ones("poisson", problems::poisson_2d(12, 9).to_csr()),
        System::of_ones("saddle", saddle(9, 7)),
        System::of_ones("shifted", shifted(11, 8, 1.3)),
        System::of_ones("negative", shifted(6, 6, 9.0)),
    ]
}

#[test]
fn residuals_are_those_of_the_twin() {
    on_both(|device| {
        for system in generated() {
            for jacobi in [false, true] {
                let stop = Stop::relative(1e-5).check_every(1);
                let (x, report) = solve(device, &system, jacobi, params(1e-5).with_stop(stop)).unwrap();
                let label = format!("{}, Jacobi {jacobi}: {report:?}", system.name);
                assert_eq!(report.reason, StopReason::Converged, "{label}");
                let residual = relative_residual(&system.a, &x, &system.b);
                assert!(residual <= 1.01e-5, "{label}: {residual:e}");
                assert_eq!(report.readbacks_in_loop, 0, "{label}");
                assert!(relative_error(&x, &vec![1.0; system.n()]) <= 1e-2, "{label}");
                if jacobi {
                    continue;
                }
                // Until vectors of Lanczos are no longer orthogonal to the first ones.
                let history = twin(&system.a, &system.b, 12);
                let early = report.history.iter().filter(|point| point.iteration <= 12);
                for HistoryPoint { iteration: k, residual: found, .. } in early {
                    let off = (found - history[*k]).abs();
                    assert!(
                        off <= 1e-2 * history[*k] + 1e-4,
                        "{label}: {found:e} for {:e} at {k}",
                        history[*k]
                    );
                }
                let falls = report
                    .history
                    .windows(2)
                    .all(|w| w[0].iteration < w[1].iteration && w[1].residual <= 1.001 * w[0].residual);
                assert!(falls, "{label}");
            }
        }
    });
}

#[test]
fn what_leads_nowhere_ends() {
    on_both(|device| {
        // b outside of the range of a singular matrix: the least residual is reached, and no more.
        let path = |n: usize| {
            let of = |i: usize| if i == 0 || i == n - 1 { 1.0 } else { 2.0 };
            let off = (1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]);
            entries(n, n, (0..n).map(|i| (i, i, of(i))).chain(off).collect::<Vec<_>>())
        };
        let a = path(40);
        let b: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 3)).collect();
        let system = System { name: "path".into(), a, b };
        let (x, report) = solve(device, &system, false, params(1e-5)).unwrap();
        assert_eq!(report.reason, StopReason::Breakdown, "{report:?}");
        assert!(report.to_string().contains("singular"), "{report}");
        assert!(report.iterations < 5000, "{report:?}");
        honest("path", &system.a, &system.b, &x, &report, 1e-5);
        // A chain of pairs with hardly anything between them, from one end: the second direction takes a little off, and no other
        // one anything, as long as the chain is. That is told as it is.
        let n = 500;
        let chain =
            (1..n).flat_map(|i| [(i, i - 1), (i - 1, i)].map(|(i, j)| (i, j, [1.0, 0.03][i.max(j) % 2])));
        let mut b = vec![0.0; n];
        b[0] = 1.5;
        let system = System { name: "chain".into(), a: entries(n, n, chain.collect::<Vec<_>>()), b };
        let every = params(1e-5).with_stop(Stop::relative(1e-5).check_every(1));
        let (x, report) = solve(device, &system, false, every).unwrap();
        assert_eq!((report.reason, report.iterations), (StopReason::Breakdown, n + 1), "{report:?}");
        honest("chain", &system.a, &system.b, &x, &report, 1e-5);
        let told = report.breakdown.unwrap();
        let left = report.history.iter().find(|point| point.iteration == n).unwrap().residual.powi(2);
        assert!(told.quantity.contains("n iterations before"), "{told}");
        // 1 - 0.03²
        assert!((told.value - left).abs() <= 1e-6 && (left - 0.9991).abs() <= 1e-5, "{told}: {left}");
        // Slow is no halt: what hardly falls in one iteration does so in many, and ends with a spell of 2 (n + 100).
        let a = entries(300, 300, (0..300).map(|i| (i, i, i as f64)));
        let system = System { name: "slow".into(), a, b: vec![1.0; 300] };
        let (x, report) = solve(device, &system, false, params(1e-5)).unwrap();
        assert!(report.breakdown.is_some() && report.iterations % 800 == 0, "{report:?}");
        honest("slow", &system.a, &system.b, &x, &report, 1e-5);
        // Of zeros alone.
        let system = System { name: "zeros".into(), a: entries(3, 3, [(0, 0, 0.0)]), b: vec![1.0; 3] };
        let (x, report) = solve(device, &system, false, params(1e-5)).unwrap();
        assert!(report.reason == StopReason::Breakdown && x == [0.0; 3], "{report:?}");
        // A preconditioner that is not definite, as far as nobody has said so.
        struct Negative;
        impl Preconditioner for Negative {
            fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
                texla::ops::scaled(z, -1.0, r)
            }
        }
        let a = StoredMatrix::new(device, saddle(4, 3), MatrixFormat::Auto).unwrap();
        let b = Vector::filled(device, 16, 1.0).unwrap();
        let mut x = Vector::zeros(device, 16).unwrap();
        let report = Minres::preconditioned(&a, &Negative, params(1e-5)).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::Breakdown, "{report:?}");
        assert!(report.to_string().contains("the preconditioner is not positive definite"), "{report}");
        // And one that is known not to be.
        let negative = StoredMatrix::new(device, shifted(4, 4, 9.0), MatrixFormat::Auto).unwrap();
        let m = Jacobi::new(&negative).unwrap();
        let error = Minres::preconditioned(&negative, &m, params(1e-5)).unwrap_err().to_string();
        assert!(error.contains("has the diagonal entry -5 at 0"), "{error}");
        // What is not symmetric, or not square.
        let skew = StoredMatrix::new(device, entries(2, 2, [(0, 1, 1.0)]), MatrixFormat::Auto).unwrap();
        assert!(matches!(Minres::new(&skew, params(1e-5)), Err(Error::Matrix { op: "Minres", .. })));
        let flat = StoredMatrix::new(device, entries(2, 3, [(0, 1, 1.0)]), MatrixFormat::Auto).unwrap();
        assert!(matches!(Minres::new(&flat, params(1e-5)), Err(Error::Matrix { .. })));
        let empty = StoredMatrix::new(device, entries(0, 0, []), MatrixFormat::Auto).unwrap();
        let mut nothing = Vector::zeros(device, 0).unwrap();
        let b = Vector::zeros(device, 0).unwrap();
        assert!(Minres::new(&empty, params(1e-5)).unwrap().solve(&mut nothing, &b).unwrap().converged());
        assert_eq!(empty.shape(), Shape::new(0, 0));
    });
}

/// Norms and quotients without rounding: the next vector of Lanczos is zero, which is an end and no breakdown.
#[test]
fn an_exact_end_is_no_breakdown() {
    on_both(|device| {
        for sign in [1.0, -1.0] {
            let a = entries(3, 3, (0..3).map(|i| (i, i, sign)));
            let system = System { name: "ones".into(), a, b: vec![1.0, 2.0, 2.0] };
            let (x, report) = solve(device, &system, false, params(1e-5)).unwrap();
            assert_eq!((report.reason, report.iterations), (StopReason::Converged, 1), "{report:?}");
            assert!(relative_error(&x, &[sign, 2.0 * sign, 2.0 * sign]) <= 1e-6, "{x:?}");
        }
    });
}

#[test]
fn scales_and_repeats_change_nothing() {
    on_both(|device| {
        let a = saddle(8, 6);
        let run = |e: i32, f: i32| {
            let a = crate::systems::mapped(&a, |v| v * f64::from(e).exp2());
            let b: Vec<f64> = (0..56).map(|i| f64::from(f).exp2() * (1.0 + f64::from(i % 5))).collect();
            let (x, report) =
                solve(device, &System { name: "scaled".into(), a, b }, true, params(1e-5)).unwrap();
            let x: Vec<f32> = x.iter().map(|v| (f64::from(*v) * f64::from(e - f).exp2()) as f32).collect();
            (bits(&x), report.iterations, report.reason)
        };
        let first = run(0, 0);
        assert_eq!(first.2, StopReason::Converged);
        assert_eq!(run(0, 0), first);
        for (e, f) in [(60, 0), (-60, 0), (0, 60), (0, -60), (60, -30)] {
            assert_eq!(run(e, f), first, "2^{e}, 2^{f}");
        }
    });
}

/// Coefficients 2^42 apart, near the end of what is reached: updates multiply a small coefficient, a large direction and a factor that
/// beside `b` of 2^-60 is near the end of the range. (Found by a tally; within the range of pairs in every scale.)
#[test]
fn small_right_hand_sides_lose_no_update() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let run = |e: i32| {
            let entry = [(0, 0, 4058643.674379134), (0, 1, 1.326286400516476), (1, 0, 1.326286400516476)];
            let a = entries(2, 2, [&entry[..], &[(1, 1, 9.984762152675915e-07)]].concat());
            let stored = StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
            let m = Jacobi::absolute(&stored).unwrap();
            let b = [0.01697247082537905, 0.586114259885264].map(|v: f64| v * f64::from(e).exp2());
            let right = DoubleVector::from_f64(device, &b).unwrap();
            let mut x = DoubleVector::zeros(device, 2).unwrap();
            let params = params(1e-7).with_max_iters(1000);
            let report = Minres::preconditioned(&stored, &m, params).unwrap().solve(&mut x, &right).unwrap();
            let x = x.read().unwrap().into_iter().map(|v| (v * f64::from(-e).exp2()).to_bits());
            (report.reason, report.iterations, x.collect::<Vec<_>>())
        };
        let first = run(0);
        for e in [60, -30, -60] {
            assert_eq!(run(e), first, "2^{e}");
        }
    });
}

#[test]
fn pairs_come_to_ten_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, a) in [("saddle", saddle(12, 10)), ("shifted", shifted(13, 9, 1.3))] {
            let n = a.shape().rows;
            let b = apply(&a, &wide(3, n));
            let held: Vec<f64> = b.iter().copied().map(paired).collect();
            let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let m = Jacobi::absolute(&stored).unwrap();
            let right = DoubleVector::from_f64(device, &b).unwrap();
            let mut x = DoubleVector::zeros(device, n).unwrap();
            let solver = Minres::preconditioned(&stored, &m, params(1e-10)).unwrap();
            let report = solver.solve(&mut x, &right).unwrap();
            certified(name, &report, &a, &x.read().unwrap(), &held, 1e-10);
        }
    });
}

/// Stokes' equations on staggered cells, `n x n`: two velocities on the sides between cells, a pressure in each, in any order of
/// unknowns; the pressure is known up to a constant, of which the first is set.
fn stokes(n: usize, place: &dyn Fn(usize) -> usize) -> Csr {
    let (u, v) = (|i: usize, j: usize| j * (n - 1) + i, |i: usize, j: usize| n * (n - 1) + j * n + i);
    let p = |i: usize, j: usize| 2 * n * (n - 1) + j * n + i;
    let mut all = Vec::new();
    // A vector Laplacian: sides along the flow end at walls, sides across it half a cell before them.
    let mut laplace = |of: &dyn Fn(usize, usize) -> usize, [a, b]: [usize; 2], across: [bool; 2]| {
        for j in 0..b {
            for i in 0..a {
                let mut diagonal = 0.0;
                for (k, at, side) in [(0, i, a), (1, j, b)] {
                    for (is_last, step) in [(at == 0, -1), (at + 1 == side, 1)] {
                        diagonal += if is_last && across[k] { 2.0 } else { 1.0 };
                        if !is_last {
                            let [x, y] = if k == 0 {
                                [i as i64 + step, j as i64]
                            } else {
                                [i as i64, j as i64 + step]
                            };
                            all.push((of(i, j), of(x as usize, y as usize), -1.0));
                        }
                    }
                }
                all.push((of(i, j), of(i, j), diagonal));
            }
        }
    };
    laplace(&u, [n - 1, n], [false, true]);
    laplace(&v, [n, n - 1], [true, false]);
    for j in 0..n {
        for i in 0..n {
            let mut sides = Vec::new();
            if i > 0 {
                sides.push((u(i - 1, j), -1.0))
            }
            if i + 1 < n {
                sides.push((u(i, j), 1.0))
            }
            if j > 0 {
                sides.push((v(i, j - 1), -1.0))
            }
            if j + 1 < n {
                sides.push((v(i, j), 1.0))
            }
            all.extend(sides.into_iter().flat_map(|(k, value)| [(k, p(i, j), value), (p(i, j), k, value)]));
        }
    }
    all.push((p(0, 0), p(0, 0), -1.0));
    let size = 2 * n * (n - 1) + n * n;
    entries(size, size, all.into_iter().map(|(i, j, value)| (place(i), place(j), value)))
}

/// Velocities with multigrid, pressures by their masses: iterations hardly grow with the grid, in the order of cells and in any other.
#[test]
fn saddle_points_are_preconditioned_by_their_blocks() {
    on_both(|device| {
        let mut counts = Vec::new();
        for (n, times) in [(8, 1), (16, 1), (32, 1), (16, 17)] {
            let size = 2 * n * (n - 1) + n * n;
            // Rows of up to seven entries, four in a texel.
            if 2 * size > (device.capabilities().max_texture_size as usize).pow(2) {
                return;
            }
            // A shuffle that is the identity for one.
            let a = stokes(n, &|i| i * times % size);
            let system = System::of_ones("stokes", a);
            let stored = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
            let b = Vector::from_f64(device, &system.b).unwrap();
            let m = SaddlePoint::new(&stored).unwrap();
            let solver = Minres::preconditioned(&stored, &m, params(1e-5)).unwrap();
            let mut x = Vector::zeros(device, size).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            let expected = if is_exact(device) { StopReason::Converged } else { StopReason::Uncertified };
            assert_eq!(report.reason, expected, "{n}: {report}");
            let x = x.read().unwrap();
            let residual = relative_residual(&system.a, &x, &system.b);
            assert!(residual <= 2e-5, "{n}: {residual:e}");
            let jacobi = solve(device, &system, true, params(1e-5)).unwrap().1;
            assert!(2 * report.iterations < jacobi.iterations || n == 8, "{n}: {report}; by Jacobi {jacobi}");
            counts.push(report.iterations);
        }
        assert!(2 * counts[2] <= 3 * counts[1], "{counts:?}");
        assert!(counts[3].abs_diff(counts[1]) <= 10, "{counts:?}");
    });
}

/// What is applied is symmetric and positive, whatever the block beside it: the whole Schur complement of a diagonal K, of which MINRES takes a
/// handful of iterations.
#[test]
fn the_blocks_of_saddle_points_are_positive() {
    on_both(|device| {
        // Flow through a grid: fluxes with resistances, pressures without.
        let (n, sides) = (6, 60);
        let mut all: Vec<(usize, usize, f64)> = (0..sides).map(|k| (k, k, 1.0 + (k % 5) as f64)).collect();
        let mut k = 0;
        for j in 0..n {
            for i in 0..n {
                for beside in [(i + 1 < n).then_some(j * n + i + 1), (j + 1 < n).then_some(j * n + i + n)] {
                    let Some(beside) = beside else { continue };
                    for (cell, value) in [(j * n + i, 1.0), (beside, -1.0)] {
                        all.extend([(k, sides + cell, value), (sides + cell, k, value)]);
                    }
                    k += 1;
                }
            }
        }
        assert_eq!(k, sides);
        let size = sides + n * n;
        all.push((sides, sides, -0.5));
        let system = System::of_ones("darcy", entries(size, size, all));
        let stored = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let m = SaddlePoint::new(&stored).unwrap();
        let applied: Vec<Vec<f64>> = (0..size)
            .map(|k| {
                let unit: Vec<f64> = (0..size).map(|i| f64::from(i == k)).collect();
                let mut z = Vector::zeros(device, size).unwrap();
                m.apply(&mut z, &Vector::from_f64(device, &unit).unwrap()).unwrap();
                z.read().unwrap().into_iter().map(f64::from).collect()
            })
            .collect();
        let largest = applied.iter().flatten().fold(0.0, |a, b| worst(a, b.abs()));
        for (i, row) in applied.iter().enumerate() {
            for (j, column) in applied.iter().enumerate() {
                let apart = (row[j] - column[i]).abs();
                assert!(apart <= 1e-5 * largest, "{i}, {j}: {apart:e} of {largest}");
                assert!(row[j] == 0.0 || (i < sides) == (j < sides), "{i}, {j}");
            }
        }
        for seed in 0..20 {
            let v: Vec<f64> = (0..size).map(|i| ((i * (seed + 3) + seed) % 17) as f64 - 8.0).collect();
            let product: f64 = (0..size).map(|i| v[i] * dot(&applied[i], &v)).sum();
            assert!(product > 0.0, "{seed}: {product}");
        }
        let b = Vector::from_f64(device, &system.b).unwrap();
        let solver = Minres::preconditioned(&stored, &m, params(1e-5)).unwrap();
        let report = solver.solve(&mut Vector::zeros(device, size).unwrap(), &b).unwrap();
        assert!(report.iterations <= 12, "{report}");
    });
}

#[test]
fn what_is_no_saddle_point_is_refused() {
    on_both(|device| {
        let refused = |n, all: &[(usize, usize, f64)]| {
            let a = entries(n, n, all.iter().copied());
            let a = StoredMatrix::new(device, a, SparseFormat::Auto).unwrap();
            SaddlePoint::new(&a).unwrap_err().to_string()
        };
        let positive = refused(2, &[(0, 0, 2.0), (1, 1, 1.0)]);
        assert!(positive.starts_with("SaddlePoint: the matrix is no saddle point, expected"), "{positive}");
        let skew = refused(2, &[(0, 0, 2.0), (0, 1, 1.0), (1, 0, -1.0)]);
        assert!(skew.contains("is not symmetric: A[0, 1] = 1e0, A[1, 0] = -1e0"), "{skew}");
        let alone = refused(4, &[(0, 0, 2.0), (1, 1, 2.0), (2, 3, 1.0), (3, 2, 1.0)]);
        assert!(alone.contains("no saddle point"), "{alone}");
    });
}
