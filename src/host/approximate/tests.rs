//! Set-up against dense systems.

use super::sweeps::{links, substituted, swept};
use super::*;
use crate::host::{Triplets, problems};

fn dense(a: &Csr) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; a.shape().cols]; a.shape().rows];
    a.entries().for_each(|(i, j, v)| rows[i][j] += v);
    rows
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cols = b.first().map_or(0, Vec::len);
    a.iter().map(|row| (0..cols).map(|j| row.iter().zip(b).map(|(x, b)| x * b[j]).sum()).collect()).collect()
}

fn transposed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..a.first().map_or(0, Vec::len)).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Numbers at some places, and a diagonal that dominates.
fn dominant(n: usize, each: usize, symmetric: bool, seed: u64) -> Csr {
    let mut next = numbers(seed);
    let mut t = Triplets::new(Shape::new(n, n));
    let mut sums = vec![0.0; n];
    for i in 0..n {
        for _ in 0..each {
            let (j, v) = (((next() + 1.0) / 2.0 * n as f64) as usize % n, next());
            if i == j {
                continue;
            }
            for (i, j) in [(i, j), (j, i)].into_iter().take(if symmetric { 2 } else { 1 }) {
                t.push(i, j, v).unwrap();
                sums[i] += v.abs();
            }
        }
    }
    (0..n).for_each(|i| t.push(i, i, sums[i] + 0.5).unwrap());
    t.to_csr()
}

fn product(f: &Factors) -> Vec<Vec<f64>> {
    let n = f.diagonal.len();
    let unit = |mut m: Vec<Vec<f64>>| {
        (0..n).for_each(|i| m[i][i] += 1.0);
        m
    };
    let mut lower = unit(dense(&f.lower));
    lower.iter_mut().for_each(|row| row.iter_mut().zip(&f.diagonal).for_each(|(v, d)| *v *= d));
    times(&lower, &unit(dense(&f.upper)))
}

#[track_caller]
fn near(got: f64, want: f64, bound: f64) {
    assert!((got - want).abs() <= bound, "{got} for {want}");
}

#[test]
fn rows_of_fsai_are_those_of_the_inverse_on_their_pattern() {
    let path = problems::poisson_1d(9).to_csr();
    for (a, power) in [(&path, 1), (&dominant(30, 2, true, 3), 1), (&dominant(12, 20, true, 4), 2)] {
        let g = fsai(a, power).unwrap();
        let (of_g, of_a) = (dense(&g), dense(a));
        let mapped = times(&of_g, &of_a);
        let both = times(&mapped, &transposed(&of_g));
        for i in 0..a.shape().rows {
            assert!(g.row(i).all(|(j, _)| j <= i));
            // What is dropped is a few thousandths of the diagonal.
            near(both[i][i], 1.0, 0.02);
            g.row(i)
                .filter(|(j, _)| *j < i)
                .for_each(|(j, _)| near(mapped[i][j], 0.0, 0.02 * of_a[j][j].sqrt()));
        }
    }
    // Of a path nothing is dropped, and the numbers are those of 2x2 systems.
    let g = fsai(&path, 1).unwrap();
    near(dense(&g)[4][4], (2.0f64 / 3.0).sqrt(), 1e-14);
    near(dense(&g)[4][3], 0.5 * (2.0f64 / 3.0).sqrt(), 1e-14);
    // The whole triangle: the inverse itself.
    let full = dominant(5, 12, true, 9);
    let g = dense(&fsai(&full, 1).unwrap());
    let identity = times(&dense(&full), &times(&transposed(&g), &g));
    for (i, row) in identity.iter().enumerate() {
        row.iter().enumerate().for_each(|(j, v)| near(*v, f64::from(u8::from(i == j)), 0.02));
    }
}

#[test]
fn fsai_keeps_to_the_diagonal_where_a_part_is_not_definite_and_names_what_is_not_positive() {
    let t = Triplets::from_dense(Shape::new(2, 2), &[1.0, 3.0, 3.0, 1.0]).unwrap();
    assert_eq!(dense(&fsai(&t.to_csr(), 1).unwrap()), [[1.0, 0.0], [0.0, 1.0]]);
    for bad in [0.0, -2.0] {
        let a = Triplets::from_entries(Shape::new(2, 2), [(0, 0, 1.0), (1, 1, bad)]).unwrap().to_csr();
        let error = fsai(&a, 1).unwrap_err().to_string();
        assert!(error.contains("at 1 (counted from 0)"), "{error}");
        assert!(ic0(&a).is_err());
    }
    for a in [problems::poisson_1d(0).to_csr(), problems::poisson_1d(1).to_csr()] {
        assert_eq!(fsai(&a, 2).unwrap().nnz(), a.nnz());
    }
    // Far apart: nothing overflows.
    let a = Triplets::from_dense(Shape::new(2, 2), &[1e200, 1.0, 1.0, 1e-199]).unwrap().to_csr();
    assert!(fsai(&a, 2).unwrap().values().iter().all(|v| v.is_finite()));
}

/// What is left of `A m_j - e_j` is orthogonal to every column that could take part.
#[test]
fn columns_of_spai_leave_the_least() {
    for (seed, steps) in [(1, 1), (2, 2), (3, 1)] {
        let a = dominant(24, 3, false, seed);
        let m = spai(&a, steps).unwrap();
        let (of_a, of_m) = (dense(&a), dense(&m));
        let left = times(&of_a, &of_m);
        let columns = transposed(&of_a);
        for j in 0..24 {
            let rest: Vec<f64> = (0..24).map(|i| left[i][j] - f64::from(u8::from(i == j))).collect();
            for k in (0..24).filter(|k| of_m[*k][j] != 0.0) {
                near(columns[k].iter().zip(&rest).map(|(x, y)| x * y).sum(), 0.0, 1e-10);
            }
        }
    }
    // A column of zeros, and one that depends on another: no NaN.
    let a = Triplets::from_dense(Shape::new(3, 3), &[1.0, 2.0, 0.0, 2.0, 4.0, 0.0, 0.0, 1.0, 0.0])
        .unwrap()
        .to_csr();
    assert!(spai(&a, 2).unwrap().values().iter().all(|v| v.is_finite()));
    assert_eq!(spai(&problems::poisson_1d(0).to_csr(), 1).unwrap().nnz(), 0);
    let twice = Triplets::from_diagonal(&[2.0, -4.0, 1e100]).to_csr();
    assert_eq!(spai(&twice, 1).unwrap().diagonal(), [0.5, -0.25, 1e-100]);
}

#[test]
fn with_enough_fill_factors_are_exact() {
    for (n, seed) in [(1, 1), (2, 2), (17, 3), (40, 4)] {
        let a = dominant(n, 4, false, seed);
        let factors = ilut(&a, n, 0.0, false).unwrap();
        for (got, want) in product(&factors).iter().flatten().zip(dense(&a).iter().flatten()) {
            near(*got, *want, 1e-12);
        }
        assert!(
            factors.lower.entries().all(|(i, j, _)| j < i) && factors.upper.entries().all(|(i, j, _)| j > i)
        );
    }
}

/// Columns that change places keep pivots from sinking: factors are those of the matrix with its columns in that order, and exact with
/// enough fill; where none has to, none does.
#[test]
fn exchanges_keep_pivots_large() {
    for (n, seed) in [(2, 6), (17, 7), (40, 8), (61, 9)] {
        let mut next = numbers(seed);
        // Ones on the diagonal, and others as large: the next pivot may be next to nothing.
        let entries = (0..n).flat_map(|i| [0, 1, 5, 11].map(|k| (i, (i + k * k) % n)));
        let mut t = Triplets::new(Shape::new(n, n));
        for (i, j) in entries {
            t.push(i, j, if i == j { 1.0 } else { next() }).unwrap();
        }
        t.push(n - 1, 0, 1.0).unwrap();
        let a = t.to_csr();
        let factors = ilut(&a, n, 0.0, true).unwrap();
        let mut sorted = factors.columns.clone();
        sorted.sort_unstable();
        let all: Vec<usize> = (0..n).collect();
        assert_eq!(sorted, all);
        let want = dense(&a.permuted(&all, &factors.columns).unwrap());
        for (got, want) in product(&factors).iter().flatten().zip(want.iter().flatten()) {
            near(*got, *want, 1e-10);
        }
        // Of a row of U no element is more than ten pivots, in units of which it is stored.
        assert!(factors.upper.values().iter().all(|v| v.abs() <= 10.0 + 1e-9));
        assert!(
            factors.lower.entries().all(|(i, j, _)| j < i) && factors.upper.entries().all(|(i, j, _)| j > i)
        );
    }
    let a = dominant(40, 4, false, 4);
    let [with, without] = [true, false].map(|exchanges| ilut(&a, 5, 1e-3, exchanges).unwrap());
    assert_eq!((with.columns, with.upper), (without.columns, without.upper));
    // [0 1; 1 0]
    let exchange = Triplets::from_entries(Shape::new(2, 2), [(0, 1, 1.0), (1, 0, 1.0)]).unwrap().to_csr();
    let factors = ilut(&exchange, 2, 0.0, true).unwrap();
    assert_eq!((factors.columns, factors.diagonal), (vec![1, 0], vec![1.0, 1.0]));
}

#[test]
fn without_fill_they_are_exact_on_the_pattern() {
    for symmetric in [false, true] {
        let a = dominant(40, 3, symmetric, 5);
        let mut all = vec![ilu0(&a).unwrap()];
        if symmetric {
            all.push(ic0(&a).unwrap());
        }
        for factors in all {
            assert_eq!(factors.lower.nnz() + factors.upper.nnz() + 40, a.nnz());
            let product = product(&factors);
            a.entries().for_each(|(i, j, v)| near(product[i][j], v, 1e-12));
        }
    }
    // Fill is what is allowed, and what is small is dropped.
    let a = problems::poisson_2d(8, 8).to_csr();
    let nnz = |f: &Factors| f.lower.nnz() + f.upper.nnz();
    let none = nnz(&ilu0(&a).unwrap());
    let (two, all) = (nnz(&ilut(&a, 2, 0.0, false).unwrap()), nnz(&ilut(&a, 64, 0.0, false).unwrap()));
    assert!(none < two && two <= none + 4 * 64 && two < all, "{none}, {two}, {all}");
    assert!(nnz(&ilut(&a, 64, 0.1, false).unwrap()) < all);
}

#[test]
fn pivots_that_are_next_to_nothing_are_replaced() {
    // Kershaw's matrix: positive definite, and IC(0) meets a negative pivot.
    let values = [3.0, -2.0, 0.0, 2.0, -2.0, 3.0, -2.0, 0.0, 0.0, -2.0, 3.0, -2.0, 2.0, 0.0, -2.0, 3.0];
    let kershaw = Triplets::from_dense(Shape::new(4, 4), &values).unwrap().to_csr();
    assert!(ilu0(&kershaw).unwrap().diagonal.iter().any(|d| *d < 0.0));
    let factors = ic0(&kershaw).unwrap();
    assert!(factors.diagonal.iter().all(|d| *d > 0.0));
    assert_eq!(factors.upper, factors.lower.transposed());
    // Zeros, rows of zeros, and magnitudes that are far apart.
    for values in [[0.0, 1.0, 1.0, 0.0], [0.0; 4], [1.0, 1.0, 1.0, 1.0], [1e150, 1.0, -1.0, 1e-150]] {
        let a = Triplets::from_dense(Shape::new(2, 2), &values).unwrap().to_csr();
        for factors in [ilu0(&a).unwrap(), ilut(&a, 2, 1e-3, false).unwrap()] {
            let all = factors.lower.values().iter().chain(factors.upper.values()).chain(&factors.diagonal);
            assert!(
                all.clone().all(|v| v.is_finite()) && factors.diagonal.iter().all(|d| *d != 0.0),
                "{values:?}"
            );
        }
    }
}

#[test]
fn sweeps_come_to_what_substitution_does() {
    let a = problems::poisson_2d(9, 7).to_csr();
    let factors = ilut(&a, 5, 1e-3, false).unwrap();
    let mut next = numbers(11);
    let r: Vec<f64> = (0..63).map(|_| next()).collect();
    for (triangle, is_upper) in [(&factors.lower, false), (&factors.upper, true)] {
        let exact = substituted(triangle, is_upper, &r);
        // (I + T) z = r
        let back = triangle.mul_vec(&exact).unwrap();
        (0..63).for_each(|i| near(exact[i] + back[i], r[i], 1e-13));
        let all = links(triangle, is_upper);
        let run = |count| (0..count).fold(r.clone(), |z, _| swept(triangle, &r, &z));
        // Each row in the same order, from numbers that are final.
        assert_eq!(run(all), exact);
        assert_ne!(run(all / 4), exact);
    }
    let [coarse, fine, exact] = [0.1, 1e-4, 0.0].map(|tolerance| factors.sweeps(tolerance));
    for k in 0..2 {
        assert!(
            0 < coarse[k] && coarse[k] < fine[k] && fine[k] < exact[k],
            "{coarse:?}, {fine:?}, {exact:?}"
        );
    }
    assert!(exact[0] <= links(&factors.lower, false) && exact[1] <= links(&factors.upper, true), "{exact:?}");
    // What grows on the way is solved exactly: a chain whose powers are large before they vanish.
    let steep = Triplets::from_entries(
        Shape::new(30, 30),
        (1..30).map(|i| (i, i - 1, -40.0)).chain((0..30).map(|i| (i, i, 1.0))).collect::<Vec<_>>(),
    );
    assert_eq!(ilu0(&steep.unwrap().to_csr()).unwrap().sweeps(1e-2), [29, 0]);
    assert_eq!(ilu0(&Triplets::from_diagonal(&[1.0, 2.0]).to_csr()).unwrap().sweeps(1e-2), [0, 0]);
    assert_eq!(ilu0(&problems::poisson_1d(0).to_csr()).unwrap().sweeps(1e-2), [0, 0]);
}

/// Every unknown once, a grid in far shorter chains than row by row, and a star from its points.
#[test]
fn minimum_degree_fills_least() {
    let grid = problems::poisson_2d(30, 30).to_csr();
    let order = minimum_degree(&grid);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..900).collect::<Vec<_>>());
    let measure = |a: &Csr| {
        let f = ilut(a, 900, 0.0, false).unwrap();
        (f.lower.nnz(), links(&f.lower, false))
    };
    let (band, least) = (measure(&grid), measure(&grid.permuted(&order, &order).unwrap()));
    assert!(2 * least.0 < band.0 && 3 * least.1 < band.1, "{band:?} to {least:?}");
    let star = (1..60).flat_map(|i| [(0, i, 1.0), (i, 0, 1.0)]).chain((0..60).map(|i| (i, i, 9.0)));
    let star = Triplets::from_entries(Shape::new(60, 60), star.collect::<Vec<_>>()).unwrap().to_csr();
    let order = minimum_degree(&star);
    assert_eq!(ilut(&star.permuted(&order, &order).unwrap(), 60, 0.0, false).unwrap().lower.nnz(), 59);
    for n in [0, 1] {
        assert_eq!(minimum_degree(&problems::poisson_1d(n).to_csr()).len(), n);
    }
}
