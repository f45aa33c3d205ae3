//! Multigrid by aggregation: its levels, its cycle against an f64 twin, and iterations.

mod common;

use common::aggregation::{Near, Twin, unit};
use common::bounds::gamma;
use common::harness::{assert_padded, fitting, on_both};
use common::random::{Rng, spd, uniform};
use common::reference::{max_abs, widen};
use common::systems;
use texla::host::{BlockOrder, Blocks, Csr, NearNullSpace, problems};
use texla::ops::{self, Checked, Combine, LinOp, Product};
use texla::solve::{
    AggregationLevel, AggregationMultigrid, AggregationParams, CgParams, ConjugateGradient, Cycle, Gmres,
    GmresParams, Jacobi, Preconditioner, Smoother, SolveReport, Stop, StopReason,
};
use texla::{
    BandedMatrix, Device, Error, Matrix, MatrixFormat, Result, Shape, SparseFormat, StoredMatrix, Vector,
};

type Params = AggregationParams;

/// The five-point matrix with other weights along y.
fn plane(nx: usize, ny: usize, across: f64) -> Csr {
    systems::mapped_places(&problems::poisson_2d(nx, ny).to_csr(), |i, j, _| match i.abs_diff(j) {
        0 => 2.0 + 2.0 * across,
        1 => -1.0,
        _ => -across,
    })
}

/// Rows and columns multiplied by factors that are no powers of two.
fn stretched(a: &Csr) -> Csr {
    let mut random = Rng::new(11);
    let by: Vec<f64> = (0..a.shape().rows).map(|_| (7.0 * random.unit()).exp()).collect();
    systems::mapped_places(a, |i, j, v| v * (by[i] * by[j]))
}

/// One matrix after another on the diagonal.
fn beside(parts: &[Csr]) -> Csr {
    let (mut all, mut n) = (Vec::new(), 0);
    for part in parts {
        all.extend(part.entries().map(|(i, j, v)| (n + i, n + j, v)));
        n += part.shape().rows;
    }
    systems::entries(n, n, all)
}

fn diagonal(n: usize) -> Csr {
    systems::entries(n, n, (0..n).map(|i| (i, i, 1.0 + (i % 5) as f64)))
}

/// The Laplacian of a graph without any order, and a little more.
fn tangled(n: usize) -> Csr {
    let mut random = Rng::new(3);
    let mut all: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 0.01)).collect();
    for i in 0..2 * n {
        let (i, j) = (i % n, (i % n + 1 + random.below(40)) % n);
        if i != j {
            let w = 0.5 + random.unit();
            all.extend([(i, i, w), (j, j, w), (i, j, -w), (j, i, -w)]);
        }
    }
    systems::entries(n, n, all)
}

fn cases() -> Vec<(&'static str, Csr)> {
    let plain = plane(40, 30, 1.0);
    vec![
        ("plane", plain.clone()),
        ("larger plane", plane(96, 64, 1.0)),
        ("weak across", plane(40, 30, 0.01)),
        ("stretched", stretched(&plain)),
        ("large", systems::mapped(&plain, |v| v * 3.0 * 2f64.powi(110))),
        ("small", systems::mapped(&plain, |v| v * 3.0 * 2f64.powi(-110))),
        ("two parts", beside(&[plane(30, 20, 1.0), plane(25, 16, 1.0)])),
        ("tangled", tangled(900)),
        ("half of it alone", beside(&[diagonal(300), plane(20, 20, 1.0)])),
        ("diagonal", diagonal(700)),
        ("dense", systems::csr(&spd(5, 60, 1.0))),
        ("springs", systems::springs(17, 13, 1.0).0),
        ("stretched springs", stretched(&systems::springs(14, 12, 1.0).0)),
        ("four", plane(2, 2, 1.0)),
        ("one", diagonal(1)),
        ("none", diagonal(0)),
    ]
}

/// The five-point matrix with transport along both axes, differences upwind or central.
fn wind(nx: usize, ny: usize, speed: f64, upwind: bool) -> Csr {
    // Against the wind on one side, with it on the other.
    let [behind, ahead] = if upwind { [speed, 0.0] } else { [speed / 2.0, -speed / 2.0] };
    systems::mapped_places(&problems::poisson_2d(nx, ny).to_csr(), |i, j, v| match i.cmp(&j) {
        std::cmp::Ordering::Greater => v - behind,
        std::cmp::Ordering::Less => v - ahead,
        std::cmp::Ordering::Equal => v + 2.0 * (behind + ahead),
    })
}

/// A graph walked along in one direction only, so that few entries have one opposite.
fn one_way(n: usize) -> Csr {
    let mut random = Rng::new(8);
    let steps = (0..3 * n).map(|i| (i % n, (i % n + 1 + random.below(30)) % n));
    let steps: Vec<_> = steps.filter(|(i, j)| i != j).collect();
    let entries = steps.into_iter().flat_map(|(i, j)| [(i, i, 1.0), (i, j, -1.0)]);
    systems::entries(n, n, entries.chain((0..n).map(|i| (i, i, 0.01))))
}

/// Matrices that are not symmetric.
fn winds() -> Vec<(&'static str, Csr)> {
    let mut random = Rng::new(12);
    let by: Vec<f64> = (0..1200).map(|_| (3.0 * random.unit()).exp()).collect();
    let plain = wind(40, 30, 2.0, true);
    vec![
        ("breeze", wind(40, 30, 0.1, false)),
        ("wind", plain.clone()),
        ("storm", wind(96, 64, 1e4, true)),
        ("larger rows", systems::mapped_places(&plain, |i, _, v| v * by[i])),
        ("large", systems::mapped(&plain, |v| v * 3.0 * 2f64.powi(100))),
        ("one way", one_way(800)),
        (
            "dense",
            systems::mapped_places(
                &systems::csr(&spd(5, 60, 1.0)),
                |i, j, v| if i > j { 0.9 * v } else { v },
            ),
        ),
        ("two", systems::entries(2, 2, [(0, 0, 1.0), (0, 1, -0.5), (1, 1, 2.0)])),
    ]
}

fn fitting_winds(dev: &Device) -> impl Iterator<Item = (&'static str, Csr)> {
    winds().into_iter().filter(|(_, a)| a.shape().rows <= fitting(dev, a.shape().rows))
}

fn fitting_cases(dev: &Device) -> impl Iterator<Item = (&'static str, Csr)> {
    cases().into_iter().filter(|(_, a)| a.shape().rows <= fitting(dev, a.shape().rows))
}

fn stored(dev: &Device, a: &Csr) -> StoredMatrix {
    StoredMatrix::new(dev, a.clone(), MatrixFormat::Auto).unwrap()
}

#[test]
fn a_cycle_is_that_of_the_twin() {
    on_both(|dev| {
        let mut deepest = 0;
        for (k, (name, csr)) in fitting_cases(dev).chain(fitting_winds(dev)).enumerate() {
            let a = stored(dev, &csr);
            let n = csr.shape().rows;
            for sweeps in 1..=3 {
                let cycle = if (k + sweeps) % 2 == 0 { Cycle::W } else { Cycle::V };
                let params = Params::default().with_sweeps(sweeps).with_cycle(cycle);
                let m = AggregationMultigrid::new(&a, params).unwrap();
                deepest = deepest.max(m.levels().count());
                let twin = Twin::new(&m, params);
                let b = uniform(1, n);
                let wide: Vec<f64> = b.iter().map(|v| f64::from(*v)).collect();
                let device_b = Vector::from_slice(dev, &b).unwrap();
                let roots: Vec<f64> = csr.diagonal().iter().map(|d| (d * unit(&csr)).sqrt()).collect();
                let check = |x: &Vector, want: &Near, what: &str| {
                    assert_padded(x, name);
                    // In units in which the diagonal is ones.
                    let sized: Vec<f64> = want.value.iter().zip(&roots).map(|(v, d)| v * d).collect();
                    let largest = max_abs(&sized);
                    let got = x.read().unwrap();
                    for (i, got) in got.into_iter().enumerate() {
                        let (error_of, want, root) = (want.error[i], want.value[i], roots[i]);
                        let error = (f64::from(got) - want).abs();
                        let bound = f64::min(error_of, gamma(twin.roundings(0)) * largest / root);
                        assert!(
                            error <= bound,
                            "{what} {name} {params:?} at {i}: {got} {want}, {error:e} > {bound:e}"
                        );
                    }
                };
                let mut x = Vector::zeros(dev, n).unwrap();
                m.apply(&mut x, &device_b).unwrap();
                check(&x, &twin.cycle(0, Near::zeros(n), &Near::exact(wide.clone())), "from zero");
                // Sweeps have the right-hand side of the caller.
                let start = uniform(2, n);
                let mut x = Vector::from_slice(dev, &start).unwrap();
                let scale = unit(&csr);
                let b: Vec<f32> = b.iter().map(|b| (f64::from(*b) / scale) as f32).collect();
                m.smooth(&mut x, &Vector::from_slice(dev, &b).unwrap(), 1).unwrap();
                let start = Near::exact(start.iter().map(|v| f64::from(*v)).collect());
                check(&x, &twin.cycle(0, start, &Near::exact(wide)), "from a start");
            }
        }
        assert!(deepest >= if fitting(dev, 6144) == 6144 { 3 } else { 2 });
    });
}

/// Each matrix is `R A P` of the one before, with ones on its diagonal and at most half of the unknowns.
fn check_levels(name: &str, levels: &[AggregationLevel<'_>]) {
    for (depth, pair) in levels.windows(2).enumerate() {
        let (fine, coarse) = (&pair[0], &pair[1]);
        let scale = if depth == 0 { unit(fine.a) } else { 1.0 };
        let a = systems::mapped(fine.a, |v| v * scale);
        let want = fine.r.unwrap().mul(&a.mul(fine.p.unwrap()).unwrap()).unwrap();
        assert_eq!((want.cols(), want.row_ptr()), (coarse.a.cols(), coarse.a.row_ptr()));
        for (got, want) in coarse.a.values().iter().zip(want.values()) {
            assert!((got - want).abs() <= 1e-12 * coarse.a.max_abs(), "{name}: {got} {want}");
        }
        assert!(coarse.a.diagonal().iter().all(|d| *d == 1.0), "{name}");
        assert!(2 * coarse.a.shape().rows <= fine.a.shape().rows, "{name}");
    }
    let last = levels.last().unwrap();
    assert!(last.p.is_none() && last.r.is_none());
}

/// The next matrix is `Pᵀ A P`, and no eigenvalue is much larger than sweeps take it
/// to be.
#[test]
fn levels_are_those_of_galerkin() {
    on_both(|dev| {
        for (name, csr) in fitting_cases(dev) {
            let a = stored(dev, &csr);
            let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
            let levels: Vec<_> = m.levels().collect();
            assert_eq!(levels[0].a, &csr);
            check_levels(name, &levels);
            for pair in levels.windows(2) {
                assert!(
                    pair[1].a.is_symmetric() && pair[0].r == pair[0].p.map(Csr::transposed).as_ref(),
                    "{name}"
                );
            }
            for level in &levels {
                let d = level.a.diagonal();
                let n = d.len();
                let mut x: Vec<f64> = uniform(9, n).into_iter().map(f64::from).collect();
                let mut found = 0.0;
                for _ in 0..200 {
                    let y = level.a.mul_vec(&x).unwrap();
                    let below: f64 = x.iter().zip(&d).map(|(x, d)| x * x * d).sum();
                    found = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / below.max(f64::MIN_POSITIVE);
                    let y: Vec<f64> = y.iter().zip(&d).map(|(y, d)| y / d).collect();
                    let size = max_abs(&y).max(f64::MIN_POSITIVE);
                    x = y.iter().map(|y| y / size).collect();
                }
                let taken = level.largest_eigenvalue;
                assert!(n == 0 || (found <= 1.1 * taken && taken <= 1.25 * found), "{name}: {found} {taken}");
            }
        }
    });
}

/// Without symmetry the next matrix is `R A P`, and no eigenvalue is larger than what sweeps go by.
#[test]
fn levels_without_symmetry_have_both_sides() {
    on_both(|dev| {
        for (name, csr) in fitting_winds(dev) {
            let a = stored(dev, &csr);
            let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
            assert_eq!(m.sweeps(), 2);
            let levels: Vec<_> = m.levels().collect();
            check_levels(name, &levels);
            for pair in levels.windows(2) {
                assert_ne!(pair[0].r.unwrap(), &pair[0].p.unwrap().transposed(), "{name}");
            }
            for level in &levels {
                // Growth over many products: no eigenvalue is larger than sweeps take it, nor much smaller than half of that.
                let d = level.a.diagonal();
                let mut x: Vec<f64> = uniform(9, d.len()).into_iter().map(f64::from).collect();
                let mut growth = 0.0;
                for k in 0..100 {
                    let y = level.a.mul_vec(&x).unwrap();
                    let y: Vec<f64> = y.iter().zip(&d).map(|(y, d)| y / d).collect();
                    let size = max_abs(&y);
                    growth += if k < 50 { 0.0 } else { (size / max_abs(&x)).ln() / 50.0 };
                    x = y.iter().map(|y| y / size).collect();
                }
                let (found, taken) = (growth.exp(), level.largest_eigenvalue);
                assert!(found <= 1.02 * taken && taken <= 3.0 * found, "{name}: {found} {taken}");
            }
        }
        // Of the transpose both change places.
        let csr = wind(40, 30, 2.0, true);
        let [one, other] = [csr.clone(), csr.transposed()].map(|csr| {
            let a = stored(dev, &csr);
            let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
            m.levels().map(|level| [level.p.cloned(), level.r.cloned()]).next().unwrap()
        });
        let [p, r] = one.map(Option::unwrap);
        let close = |a: &Csr, b: &Csr| {
            (a.cols(), a.row_ptr()) == (b.cols(), b.row_ptr())
                && a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-12)
        };
        let [p_other, r_other] = other.map(Option::unwrap);
        assert!(close(&p.transposed(), &r_other) && close(&r.transposed(), &p_other));
    });
}

/// From no transport to nothing else, and on larger grids.
#[test]
fn transport_takes_few_iterations() {
    on_both(|dev| {
        for (n, speed, upwind, most, most_by_w) in [
            (32, 0.1, false, 7, 7),
            (128, 0.1, false, 9, 7),
            (64, 0.8, false, 9, 7),
            (64, 1.0, true, 9, 7),
            (128, 1.0, true, 11, 7),
            (64, 1e4, true, 13, 9),
        ] {
            if n * n > fitting(dev, n * n) {
                continue;
            }
            let csr = wind(n, n, speed, upwind);
            let a = stored(dev, &csr);
            let b = Vector::from_f64(dev, &csr.mul_vec(&vec![1.0; n * n]).unwrap()).unwrap();
            for (cycle, most) in [(Cycle::V, most), (Cycle::W, most_by_w)] {
                let m = AggregationMultigrid::new(&a, Params::default().with_cycle(cycle)).unwrap();
                let params = GmresParams::default().with_stop(Stop::relative(1e-5).check_every(1));
                let mut x = Vector::zeros(dev, n * n).unwrap();
                let report = Gmres::preconditioned(&a, &m, params).unwrap().solve(&mut x, &b).unwrap();
                assert!(report.converged() && report.iterations <= most, "{n} {speed} {cycle:?}: {report}");
            }
        }
    });
}

#[test]
fn the_preconditioner_is_symmetric_and_positive() {
    on_both(|dev| {
        for (name, csr) in fitting_cases(dev) {
            let n = csr.shape().rows;
            let a = stored(dev, &csr);
            for params in [Params::default(), Params::default().with_sweeps(2).with_cycle(Cycle::W)] {
                let m = AggregationMultigrid::new(&a, params).unwrap();
                // In the units in which all levels beside the finest are.
                let d: Vec<f64> = csr.diagonal().iter().map(|d| (d * unit(&csr)).sqrt()).collect();
                let [u, v] = [3, 4].map(|seed| {
                    let by = |(x, d): (f32, &f64)| f64::from(x) * d;
                    let values: Vec<f64> = uniform(seed, n).into_iter().zip(&d).map(by).collect();
                    Vector::from_f64(dev, &values).unwrap()
                });
                let [mut mu, mut mv] = [(); 2].map(|()| Vector::zeros(dev, n).unwrap());
                m.apply(&mut mu, &u).unwrap();
                m.apply(&mut mv, &v).unwrap();
                let dot = |x: &Vector, y: &Vector| -> f64 {
                    let (x, y) = (x.read().unwrap(), y.read().unwrap());
                    x.iter().zip(&y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
                };
                let size = (dot(&u, &mu) * dot(&v, &mv)).sqrt();
                assert!(n == 0 || (dot(&u, &mu) > 0.0 && dot(&v, &mv) > 0.0), "{name}");
                let gap = (dot(&u, &mv) - dot(&mu, &v)).abs();
                assert!(gap <= 1e-5 * size, "{name}: {gap:e} of {size:e}");
            }
        }
    });
}

fn solve(a: &dyn LinOp, m: &dyn Preconditioner, b: &[f64]) -> SolveReport {
    let b = Vector::from_f64(a.device(), b).unwrap();
    let mut x = Vector::zeros(a.device(), b.len()).unwrap();
    let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(1)).with_max_iters(2000);
    ConjugateGradient::preconditioned(a, m, params).unwrap().solve(&mut x, &b).unwrap()
}

#[test]
fn iterations_hardly_grow_with_the_matrix() {
    on_both(|dev| {
        for (n, smooth, rough) in [(32, 7, 10), (64, 7, 10), (128, 7, 11), (512, 7, 12)] {
            if 4 * n * n > fitting(dev, 4 * n * n) {
                continue;
            }
            let csr = problems::poisson_2d(n, n).to_csr();
            let a = stored(dev, &csr);
            let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
            let random: Vec<f64> = uniform(6, n * n).into_iter().map(f64::from).collect();
            for (b, most) in [(csr.mul_vec(&vec![1.0; n * n]).unwrap(), smooth), (random, rough)] {
                let report = solve(&a, &m, &b);
                assert_eq!(report.reason, StopReason::Converged, "{n}: {report:?}");
                assert!(report.iterations <= most, "{n}: {} of {most} iterations", report.iterations);
                assert_eq!(report.readbacks_in_loop, 0);
            }
        }
        // Of matrices from elsewhere, against the diagonal alone.
        let data = [("494_bus", 20), ("685_bus", 20), ("gr_30_30", 4), ("bcsstk09", 1), ("bcsstk10", 2)];
        for (name, csr) in systems::data_matrices(&[("spd", 15)], "iterations by aggregation") {
            let Some((_, times)) = data.iter().find(|(of, _)| name.contains(of)) else { continue };
            if !systems::fits(dev, &csr, MatrixFormat::Sparse(SparseFormat::Gather)) {
                continue;
            }
            let a = stored(dev, &csr);
            let b = csr.mul_vec(&vec![1.0; csr.shape().rows]).unwrap();
            let few = solve(&a, &AggregationMultigrid::new(&a, Params::default()).unwrap(), &b);
            let many = solve(&a, &Jacobi::new(&a).unwrap(), &b);
            assert_eq!(few.reason, StopReason::Converged, "{name}: {few:?}");
            let (few, many) = (few.iterations, many.iterations);
            assert!(few * times < many, "{name}: {few}, not {times} times fewer than {many}");
        }
    });
}

/// An operator of a user's: a product, and entries or none.
struct Plain<'a>(&'a StoredMatrix, bool);

impl LinOp for Plain<'_> {
    fn device(&self) -> &Device {
        self.0.device()
    }

    fn shape(&self) -> Shape {
        self.0.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.0.apply(y, terms)
    }

    fn pattern(&self) -> Option<&Csr> {
        self.1.then(|| self.0.pattern())
    }
}

/// However the finest matrix is kept, and whatever its size, a cycle does the same.
#[test]
fn forms_and_magnitudes_make_no_difference() {
    on_both(|dev| {
        let (nx, ny) = (40, 30);
        let n = nx * ny;
        let csr = plane(nx, ny, 1.0);
        let b = csr.mul_vec(&vec![1.0; n]).unwrap();
        let of = |a: &dyn LinOp| {
            let m = AggregationMultigrid::new(a, Params::default()).unwrap();
            let mut z = Vector::zeros(dev, n).unwrap();
            m.apply(&mut z, &Vector::from_f64(dev, &b).unwrap()).unwrap();
            z.read().unwrap()
        };
        let want = of(&stored(dev, &csr));
        let largest = max_abs(&widen(&want)) as f32;
        let sparse = |format| StoredMatrix::new(dev, csr.clone(), format).unwrap();
        let a = stored(dev, &csr);
        let mut all: Vec<Box<dyn LinOp + '_>> = vec![
            Box::new(sparse(SparseFormat::Gather)),
            Box::new(BandedMatrix::from_csr(dev, csr.clone()).unwrap()),
            Box::new(Plain(&a, true)),
        ];
        if dev.capabilities().float_blend {
            all.push(Box::new(sparse(SparseFormat::Points)));
        }
        for (k, a) in all.iter().enumerate() {
            for (got, want) in of(a.as_ref()).iter().zip(&want) {
                assert!((got - want).abs() <= 1e-5, "form {k}: {got} {want}");
            }
        }
        for exponent in [-120, -60, 60, 120] {
            let csr = systems::mapped(&csr, |v| v * 2f64.powi(exponent));
            let a = stored(dev, &csr);
            // Exponents that are not taken out are as good as those that are.
            let left = (exponent + 2 - (exponent + 2).clamp(-100, 100)) as f32;
            let got = of(&a);
            for (got, want) in got.iter().zip(&want) {
                let got = got * left.exp2();
                assert!((got - want).abs() <= 1e-5 * largest, "2^{exponent}: {got} {want}");
            }
            let b: Vec<f64> = b.iter().map(|b| b * 2f64.powi(exponent)).collect();
            let report = solve(&a, &AggregationMultigrid::new(&a, Params::default()).unwrap(), &b);
            assert_eq!(report.reason, StopReason::Converged, "2^{exponent}");
        }
    });
}

#[test]
fn costs_are_those_documented() {
    on_both(|dev| {
        let plain = plane(40, 30, 1.0);
        for (csr, more) in [(stretched(&plain), 1), (plain, 0)] {
            for sweeps in [1, 2, 4] {
                let a = stored(dev, &csr);
                let m = AggregationMultigrid::new(&a, Params::default().with_sweeps(sweeps)).unwrap();
                let b = Vector::from_slice(dev, &uniform(1, csr.shape().rows)).unwrap();
                let mut x = Vector::zeros(dev, b.len()).unwrap();
                let n = m.levels().last().unwrap().a.shape().rows;
                let inverse = Matrix::zeros(dev, Shape::new(n, n)).unwrap();
                let [mut small, other] = [(); 2].map(|()| Vector::zeros(dev, n).unwrap());
                let mut draws = [0, 0];
                // What is compiled and filled the first time is left behind.
                for _ in 0..2 {
                    let before = dev.counters();
                    m.apply(&mut x, &b).unwrap();
                    let between = dev.counters();
                    ops::product(&mut small, Combine::Replace, 1.0, &inverse, &other).unwrap();
                    let (cycle, dense) = (between.since(&before), dev.counters().since(&between));
                    assert_eq!(cycle.readbacks, 0);
                    draws = [cycle.draws, dense.draws];
                }
                assert_eq!(m.levels().count(), 2);
                assert_eq!(draws[0], 2 * sweeps as u64 + 2 + more + draws[1], "{sweeps} sweeps");
            }
        }
    });
}

#[test]
fn what_cannot_be_solved_is_refused() {
    on_both(|dev| {
        let new = |csr: Csr| {
            AggregationMultigrid::new(&stored(dev, &csr), Params::default())
                .map(drop)
                .unwrap_err()
                .to_string()
        };
        let good = plane(20, 20, 1.0);
        let with = |at: (usize, usize), value: f64| {
            systems::mapped_places(&good, |i, j, v| if (i, j) == at { value } else { v })
        };
        for (csr, said) in [
            (with((7, 7), 0.0), "the diagonal entry at 7 (counted from 0) is 0"),
            (with((9, 9), -2.0), "the diagonal entry at 9 (counted from 0) is -2"),
            (systems::entries(2, 3, [(0, 0, 1.0)]), "is 2x3, expected as many rows as columns"),
            // Indefinite with a positive diagonal, on the coarsest level and on one before.
            (
                systems::entries(2, 2, [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)]),
                "has a pivot that is not positive",
            ),
            (
                systems::mapped_places(&good, |i, j, v| if i == j { 1.0 } else { v }),
                "is not positive definite",
            ),
            // Singular, without symmetry.
            (
                systems::entries(2, 2, [(0, 0, 1.0), (0, 1, -2.0), (1, 0, -1.0), (1, 1, 2.0)]),
                "its coarsest level, of 2 unknowns, is singular to working precision",
            ),
        ] {
            let e = new(csr);
            assert!(e.contains(said) && e.contains("AggregationMultigrid"), "{e}, not {said}");
        }
        let a = stored(dev, &good);
        for sweeps in [9, usize::MAX] {
            let e = AggregationMultigrid::new(&a, Params::default().with_sweeps(sweeps)).map(drop);
            assert!(matches!(e, Err(Error::Parameter { name: "sweeps", .. })), "{e:?}");
        }
        let e = AggregationMultigrid::new(&Plain(&a, false), Params::default()).map(drop);
        assert!(matches!(&e, Err(Error::Unsupported { why, .. }) if why.contains("entries")), "{e:?}");
        let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
        let (mut x, b) = (Vector::zeros(dev, 400).unwrap(), Vector::zeros(dev, 399).unwrap());
        for e in [m.smooth(&mut x, &b, 1), m.apply(&mut x, &b)] {
            assert!(matches!(e, Err(Error::ShapeMismatch { operand: "b", .. })), "{e:?}");
        }
    });
}

const BY_NODES: Blocks = Blocks::new(2, BlockOrder::Nodes);

fn iterations(dev: &Device, csr: &Csr, space: Option<NearNullSpace>, want: &[f64]) -> (usize, f64) {
    let a = stored(dev, csr);
    let a = match space {
        Some(space) => a.with_near_null_space(space).unwrap(),
        None => a,
    };
    let m = AggregationMultigrid::new(&a, Params::default()).unwrap();
    let b = csr.mul_vec(want).unwrap();
    let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(1)).with_max_iters(2000);
    let cg = ConjugateGradient::preconditioned(&a, &m, params).unwrap();
    let mut x = Vector::zeros(dev, want.len()).unwrap();
    let report = cg.solve(&mut x, &Vector::from_f64(dev, &b).unwrap()).unwrap();
    let ax = csr.mul_vec(&widen(&x.read().unwrap())).unwrap();
    let left: f64 = b.iter().zip(ax).map(|(b, ax)| (b - ax).powi(2)).sum();
    (report.iterations, (left / b.iter().map(|b| b * b).sum::<f64>()).sqrt())
}

/// Sheets of springs: nodes are found, in either order; coordinates save iterations, and one vector for all takes more.
#[test]
fn vectors_in_nodes_are_solved_by_their_motions() {
    on_both(|dev| {
        // Rows of eighteen entries, by four in a texel.
        let side = if fitting(dev, 70_000) == 70_000 { 44 } else { 18 };
        let (csr, axes) = systems::springs(side, side, 1.0);
        let n = csr.shape().rows;
        let want: Vec<f64> = (0..n).map(|i| (0.01 * i as f64).sin() + (i % 2) as f64).collect();
        let (constants, left) = iterations(dev, &csr, None, &want);
        assert!(left <= 2e-5, "{left}");
        let rigid = NearNullSpace::rigid(BY_NODES, &axes).unwrap();
        let (motions, left) = iterations(dev, &csr, Some(rigid), &want);
        assert!(left <= 2e-5 && motions <= 25 && motions < constants, "{motions} and {constants}, {left}");
        let ones = NearNullSpace::new(vec![vec![1.0; n]]).unwrap();
        let (scalar, _) = iterations(dev, &csr, Some(ones), &want);
        assert!(scalar > 2 * constants, "{scalar} and {constants}");
        // The same sheet with all nodes of a component one after another.
        let place = |i: usize| (i % 2) * (n / 2) + i / 2;
        let by_axis = systems::entries(n, n, csr.entries().map(|(i, j, v)| (place(i), place(j), v)));
        assert_eq!(Blocks::found(&by_axis), Some(Blocks::new(2, BlockOrder::Components)));
        let mut moved = vec![0.0; n];
        want.iter().enumerate().for_each(|(i, v)| moved[place(i)] = *v);
        let (other, left) = iterations(dev, &by_axis, None, &moved);
        assert!(left <= 2e-5 && other.abs_diff(constants) <= constants / 5, "{other} and {constants}");
        assert_eq!(AggregationMultigrid::new(&stored(dev, &csr), Params::default()).unwrap().sweeps(), 2);
        assert_eq!(
            AggregationMultigrid::new(&stored(dev, &plane(9, 9, 1.0)), Params::default()).unwrap().sweeps(),
            1
        );
    });
}

/// A free sheet: three motions are mapped to zero, on the coarsest level too.
#[test]
fn free_bodies_are_taken_with_what_moves_them() {
    on_both(|dev| {
        let (csr, axes) = systems::springs(20, 16, 0.0);
        let want: Vec<f64> = (0..csr.shape().rows).map(|i| (0.05 * i as f64).cos()).collect();
        let rigid = NearNullSpace::rigid(BY_NODES, &axes).unwrap();
        let (count, left) = iterations(dev, &csr, Some(rigid), &want);
        assert!(count <= 25 && left <= 2e-5, "{count}, {left}");
        let (count, left) = iterations(dev, &csr, None, &want);
        assert!(count <= 60 && left <= 2e-5, "{count}, {left}");
    });
}
