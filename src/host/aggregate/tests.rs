//! Aggregation against full matrices, and against what is known of the plane.

use super::*;
use crate::host::{Triplets, problems};

fn entries(n: usize, all: &[(usize, usize, f64)]) -> Csr {
    Triplets::from_entries(Shape::new(n, n), all.iter().copied()).unwrap().to_csr()
}

/// The five-point matrix with a weight for neighbours along x, and for those along y, and rows that sum to the shift.
fn plane(nx: usize, ny: usize, [x, y]: [f64; 2], shift: f64) -> Csr {
    let mut all = Vec::new();
    for i in 0..nx * ny {
        let neighbours = [(i % nx + 1 < nx, i + 1, x), (i + nx < nx * ny, i + nx, y)];
        for (_, j, w) in neighbours.into_iter().filter(|n| n.0) {
            all.extend([(i, j, -w), (j, i, -w), (i, i, w), (j, j, w)]);
        }
        all.push((i, i, shift));
    }
    entries(nx * ny, &all)
}

fn made(a: &Csr, theta: f64) -> Option<Coarser> {
    next_on(Threads::all(), a, theta)
}

fn next_on(threads: Threads, a: &Csr, theta: f64) -> Option<Coarser> {
    let diagonal = a.diagonal();
    let largest_eigenvalue = largest_eigenvalue(threads, a, &diagonal);
    coarser(threads, Fine { a, diagonal: &diagonal, largest_eigenvalue }, theta)
}

fn dense(a: &Csr) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; a.shape().cols]; a.shape().rows];
    a.entries().for_each(|(i, j, v)| rows[i][j] += v);
    rows
}

#[test]
fn products_and_transposes_are_those_of_full_matrices() {
    let a = entries(4, &[(0, 0, 1.0), (0, 3, -2.0), (2, 1, 3.0), (2, 3, 0.5), (3, 0, 7.0)]);
    let b = Triplets::from_entries(
        Shape::new(4, 3),
        [(0, 2, 2.0), (0, 0, 1.0), (1, 1, 4.0), (3, 2, 1.0), (3, 1, 5.0)],
    );
    let b = b.unwrap().to_csr();
    let c = a.mul(&b).unwrap();
    let (fa, fb) = (dense(&a), dense(&b));
    let want = fa.iter().map(|row| (0..3).map(|j| (0..4).map(|k| row[k] * fb[k][j]).sum()).collect());
    assert_eq!(dense(&c), want.collect::<Vec<Vec<f64>>>());
    // A sum of zero is stored.
    assert_eq!(c.row(0).collect::<Vec<_>>(), [(0, 1.0), (1, -10.0), (2, 0.0)]);
    assert_eq!((c.row(1).count(), c.row_ptr().len()), (0, 5));
    let t = b.transposed();
    let turned: Vec<Vec<f64>> = (0..3).map(|j| (0..4).map(|i| fb[i][j]).collect()).collect();
    assert_eq!((t.shape(), dense(&t), t.transposed()), (Shape::new(3, 4), turned, b));
    assert!(c.mul(&a).is_err());
}

#[test]
fn aggregates_are_neighbourhoods_that_fill_the_plane() {
    let (nx, ny) = (19, 14);
    let a = plane(nx, ny, [1.0, 1.0], 1e-3);
    let (of, count) = aggregates(&a);
    let mut sizes = vec![0; count];
    of.iter().for_each(|&group| sizes[group as usize] += 1);
    assert!(sizes.iter().all(|n| (3..=10).contains(n)), "{sizes:?}");
    // The first is a corner with both neighbours, and within each all are two steps apart at most, or four when joined.
    assert_eq!((of[0], of[1], of[nx], of[2] == 0), (0, 0, 0, false));
    for i in 0..nx * ny {
        for j in (0..nx * ny).filter(|j| of[*j] == of[i]) {
            assert!((i % nx).abs_diff(j % nx) + (i / nx).abs_diff(j / nx) <= 4);
        }
    }
    // One that is joined goes where its connection is strongest, not first.
    let chain = entries(
        5,
        &[
            (0, 1, -1.0),
            (1, 0, -1.0),
            (1, 2, -1.0),
            (2, 1, -1.0),
            (2, 3, -2.0),
            (3, 2, -2.0),
            (3, 4, -1.0),
            (4, 3, -1.0),
        ],
    );
    assert_eq!(aggregates(&chain), (vec![0, 0, 1, 1, 1], 2));
}

#[test]
fn weak_connections_do_not_aggregate_and_rows_sum_to_what_they_did() {
    let (nx, ny) = (12, 10);
    let a = plane(nx, ny, [1.0, 0.01], 0.0);
    let next = made(&a, 0.08).unwrap();
    for i in 0..nx * ny {
        // Constants are interpolated exactly, and along x alone.
        let row: Vec<_> = next.prolongator.row(i).collect();
        assert!((row.iter().map(|e| e.1).sum::<f64>() - 1.0).abs() < 1e-14);
        for j in 0..nx * ny {
            let shared = next.prolongator.row(j).any(|(g, _)| row.iter().any(|e| e.0 == g));
            assert!(!shared || i / nx == j / nx, "{i} {j}");
        }
    }
    assert!(next.prolongator.row(5).count() > 1, "smoothed");
    // At a threshold that all exceed both axes are followed.
    let both = made(&a, 1e-4).unwrap();
    assert!(both.prolongator.shape().cols < next.prolongator.shape().cols);
    // Zero row sums stay so.
    for next in [next, both] {
        let size = next.a.max_abs();
        assert!(
            next.a.mul_vec(&vec![1.0; next.a.shape().rows]).unwrap().iter().all(|s| s.abs() < 1e-13 * size)
        );
    }
}

#[test]
fn the_coarser_matrix_is_that_of_galerkin() {
    let a = plane(9, 7, [1.0, 0.5], 0.1);
    let next = made(&a, 0.08).unwrap();
    let (a, p, c) = (dense(&a), dense(&next.prolongator), dense(&next.a));
    assert_eq!(dense(&next.restriction.transposed()), p);
    assert!(next.a.is_symmetric());
    for (g, row) in c.iter().enumerate() {
        for (h, got) in row.iter().enumerate() {
            let ap = |i: usize| (0..a.len()).map(|j| a[i][j] * p[j][h]).sum::<f64>();
            let want: f64 = (0..a.len()).map(|i| p[i][g] * ap(i)).sum();
            assert!((got - want).abs() < 1e-14, "{g} {h}: {got} {want}");
        }
    }
}

/// The formula of the prolongator, for a matrix all of whose connections are strong.
#[test]
fn the_prolongator_is_a_smoothed_one() {
    let a = plane(8, 8, [1.0, 1.0], 0.3);
    let (of, count) = aggregates(&a);
    let omega = 4.0 / 3.0 / largest_eigenvalue(Threads::all(), &a, &a.diagonal());
    let (full, next) = (dense(&a), made(&a, 0.08).unwrap());
    let p = dense(&next.prolongator);
    for i in 0..64 {
        assert_eq!(p[i].len(), count);
        for (g, got) in p[i].iter().enumerate() {
            let t = |i: usize| f64::from(u8::from(of[i] as usize == g));
            let at: f64 = (0..64).map(|j| full[i][j] * t(j)).sum();
            assert!((got - (t(i) - omega / full[i][i] * at)).abs() < 1e-15, "{i} {g}");
        }
    }
}

#[test]
fn what_is_alone_is_in_no_aggregate() {
    let mut all: Vec<_> = plane(6, 5, [1.0, 1.0], 0.1).entries().collect();
    all.extend((30..40).map(|i| (i, i, 2.0)));
    // A connection too weak to count.
    all.extend([(30, 31, 0.01), (31, 30, 0.01)]);
    let next = made(&entries(40, &all), 0.08).unwrap();
    assert!((30..40).all(|i| next.prolongator.row(i).count() == 0));
    assert!((0..30).all(|i| next.prolongator.row(i).count() > 0));
    assert!(next.a.diagonal().iter().all(|d| *d > 0.0));
    assert!(made(&entries(3, &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 1.0)]), 0.08).is_none());
    assert!(made(&entries(0, &[]), 0.08).is_none());
}

#[test]
fn the_largest_eigenvalue_is_hardly_missed() {
    for n in [1usize, 2, 3, 10, 40] {
        let a = problems::poisson_2d(n, n).to_csr();
        let exact = 1.0 + (std::f64::consts::PI / (n + 1) as f64).cos();
        let found = largest_eigenvalue(Threads::all(), &a, &a.diagonal());
        assert!((exact..=1.1 * exact + 1e-9).contains(&found), "{n}: {found} for {exact}");
    }
    assert_eq!(largest_eigenvalue(Threads::all(), &entries(0, &[]), &[]), 1.0);
}

/// Matrices large enough for many threads.
#[test]
fn threads_change_no_bit() {
    for weights in [[1.0, 1.0], [1.0, 0.01]] {
        let mut a = plane(211, 173, weights, 1e-3).map(|i, j, v| v * (1.0 + ((i + j) % 7) as f64));
        for _ in 0..2 {
            let [one, two, eight] =
                [1, 2, 8].map(|threads| next_on(Threads::new(threads), &a, 0.08).unwrap());
            assert_eq!((&one.a, &one.prolongator), (&two.a, &two.prolongator));
            assert_eq!((&one.a, &one.prolongator), (&eight.a, &eight.prolongator));
            a = one.a;
        }
    }
}
