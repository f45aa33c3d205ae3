//! Aggregation against full matrices, and against what is known of the plane.

use super::*;
use crate::host::{BlockOrder, Blocks, NearNullSpace, Triplets, problems};

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
    coarser(threads, Fine { a, diagonal: &diagonal, largest_eigenvalue }, theta).unwrap()
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
    // In as many parts as there are threads.
    let large = problems::poisson_2d(300, 301).to_csr().map(|i, j, v| v * (1.0 + ((i + 3 * j) % 7) as f64));
    let [one, two, eight] = [1, 2, 8].map(|threads| large.transposed_on(Threads::new(threads)));
    assert!(one == two && one == eight && one != large);
    assert_eq!(one.transposed_on(Threads::new(5)), large);
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
    let (a, axes) = springs(90, 80, 1.0);
    let space = NearNullSpace::rigid(Blocks::new(2, BlockOrder::Nodes), &axes).unwrap();
    let diagonal = a.diagonal();
    let by = |threads| {
        let largest_eigenvalue = largest_eigenvalue(Threads::new(threads), &a, &diagonal);
        let fine = Fine { a: &a, diagonal: &diagonal, largest_eigenvalue };
        let (next, space) = coarser_by_blocks(Threads::new(threads), fine, &space).unwrap().unwrap();
        (next.a, next.prolongator, space)
    };
    let [one, two, eight] = [1, 2, 8].map(by);
    assert!(one == two && one == eight);
}

/// Springs of three stiffnesses along the sides and diagonals of a grid of nodes with two components each; free, or held on the left
/// by others so stiff.
fn springs(nx: usize, ny: usize, fixed: f64) -> (Csr, [Vec<f64>; 2]) {
    let mut all = Vec::new();
    let node = |x: usize, y: usize| y * nx + x;
    for (x, y) in (0..ny).flat_map(|y| (0..nx).map(move |x| (x, y))) {
        for (dx, dy) in [(1, 0), (0, 1), (1, 1), (-1, 1)] {
            let (tx, ty) = (x as i64 + dx, y as i64 + dy);
            if !(0..nx as i64).contains(&tx) || ty >= ny as i64 {
                continue;
            }
            let (k, l) = (node(x, y), node(tx as usize, ty as usize));
            let stiffness = 1.0 + ((k * l) % 3) as f64;
            for (c, d) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let along = [dx as f64, dy as f64];
                let v = stiffness * along[c] * along[d];
                all.extend([(2 * k + c, 2 * k + d, v), (2 * l + c, 2 * l + d, v)]);
                all.extend([(2 * k + c, 2 * l + d, -v), (2 * l + c, 2 * k + d, -v)]);
            }
        }
        if x == 0 {
            all.extend([
                (2 * node(x, y), 2 * node(x, y), fixed),
                (2 * node(x, y) + 1, 2 * node(x, y) + 1, fixed),
            ]);
        }
    }
    let places = |of: &dyn Fn(usize) -> usize| (0..nx * ny).map(|k| of(k) as f64).collect();
    (entries(2 * nx * ny, &all), [places(&|k| k % nx), places(&|k| k / nx)])
}

/// What deforms nothing is interpolated exactly, from level to level, and the matrices are those of Galerkin.
#[test]
fn nodes_are_aggregated_by_their_rigid_motions() {
    let (mut a, axes) = springs(17, 13, 0.0);
    let mut space = NearNullSpace::rigid(Blocks::new(2, BlockOrder::Nodes), &axes).unwrap();
    for level in 0..2 {
        let diagonal = a.diagonal();
        let largest_eigenvalue = largest_eigenvalue(Threads::all(), &a, &diagonal);
        let fine = Fine { a: &a, diagonal: &diagonal, largest_eigenvalue };
        let (next, coarse) = coarser_by_blocks(Threads::all(), fine, &space).unwrap().unwrap();
        let (full, p) = (dense(&a), dense(&next.prolongator));
        assert_eq!(dense(&next.restriction.transposed()), p);
        for (fine, coarse) in space.vectors().iter().zip(coarse.vectors()) {
            let back = next.prolongator.mul_vec(coarse).unwrap();
            assert!(back.iter().zip(fine).all(|(b, f)| (b - f).abs() < 1e-12), "level {level}");
        }
        let size = a.max_abs();
        for (g, row) in dense(&next.a).iter().enumerate() {
            for (h, got) in row.iter().enumerate() {
                let ap = |i: usize| (0..full.len()).map(|j| full[i][j] * p[j][h]).sum::<f64>();
                let want: f64 = (0..full.len()).map(|i| p[i][g] * ap(i)).sum();
                assert!((got - want).abs() < 1e-13 * size, "{g} {h}: {got} {want}");
            }
        }
        assert!(next.a.is_symmetric() && 2 * next.a.shape().rows < a.shape().rows);
        // Each coarse node has an unknown for each vector.
        assert!(coarse.nodes().iter().enumerate().all(|(i, node)| *node as usize == i / 3));
        // All of it is mapped to zero, and so found: as it is, or as sums of it.
        let mixed: Vec<Vec<f64>> = (0..3)
            .map(|k| {
                let of = |i: usize| coarse.vectors()[k][i] + 0.5 * coarse.vectors()[(k + 1) % 3][i];
                (0..next.a.shape().rows).map(of).collect()
            })
            .collect();
        for vectors in [coarse.vectors(), &mixed] {
            let null = orthonormal(null_vectors(&next.a, vectors).into_iter());
            assert_eq!(null.len(), 3);
            for (k, v) in null.iter().enumerate() {
                for (l, w) in null.iter().enumerate() {
                    let dot: f64 = v.iter().zip(w).map(|((_, v), (_, w))| v * w).sum();
                    assert!((dot - f64::from(u8::from(k == l))).abs() < 1e-9, "{k} {l}: {dot}");
                }
            }
        }
        (a, space) = (next.a, coarse);
    }
}

/// Vectors of which sums alone are mapped to zero, on parts of their own.
#[test]
fn null_vectors_are_found_in_what_vectors_span() {
    let (a, axes) = springs(5, 4, 0.0);
    let n = a.shape().rows;
    let space = NearNullSpace::rigid(Blocks::new(2, BlockOrder::Nodes), &axes).unwrap();
    // A translation and what is none, in two sums.
    let other: Vec<f64> = (0..n).map(|i| ((i * i) % 7) as f64).collect();
    let sum =
        |f: f64| -> Vec<f64> { space.vectors()[0].iter().zip(&other).map(|(t, o)| t + f * o).collect() };
    let found = null_vectors(&a, &[sum(1.0), sum(2.0)]);
    assert_eq!(found.len(), 1);
    let values: Vec<f64> = found[0].iter().map(|(_, v)| *v).collect();
    let unit = values[0];
    assert!(
        values.iter().enumerate().all(|(i, v)| (v / unit - f64::from(u8::from(i % 2 == 0))).abs() < 1e-9)
    );
    let (held, _) = springs(5, 4, 1.0);
    assert!(null_vectors(&held, space.vectors()).is_empty());
    // Twice, beside each other: each has its own.
    let both =
        entries(2 * n, &a.entries().flat_map(|(i, j, v)| [(i, j, v), (n + i, n + j, v)]).collect::<Vec<_>>());
    let twice: Vec<Vec<f64>> = space.vectors().iter().map(|v| [v.clone(), v.clone()].concat()).collect();
    assert_eq!(null_vectors(&both, &twice).len(), 6);
    assert_eq!(orthonormal(null_vectors(&both, &twice).into_iter()).len(), 6);
    assert_eq!(orthonormal([vec![(0, 1.0)], vec![(0, 2.0)]].into_iter()).len(), 1);
}

/// An aggregate too small for all vectors has fewer unknowns, and vectors without elements there have none.
#[test]
fn small_aggregates_have_as_many_unknowns_as_are_independent() {
    let mut all: Vec<(usize, usize, f64)> = plane(16, 16, [1.0, 1.0], 0.1).entries().collect();
    // Two alone, in a pair.
    all.extend([(256, 256, 2.0), (257, 257, 2.0), (256, 257, -1.0), (257, 256, -1.0)]);
    let a = entries(258, &all);
    let ramp = |power: i32| (0..258).map(|i| f64::from(i % 16).powi(power)).collect::<Vec<f64>>();
    let mut third = ramp(2);
    third[256..].fill(0.0);
    let space = NearNullSpace::new(vec![ramp(0), ramp(1), third]).unwrap();
    let diagonal = a.diagonal();
    let fine = Fine { a: &a, diagonal: &diagonal, largest_eigenvalue: 2.0 };
    let (next, coarse) = coarser_by_blocks(Threads::all(), fine, &space).unwrap().unwrap();
    let last = *coarse.nodes().last().unwrap();
    assert_eq!(coarse.nodes().iter().filter(|node| **node == last).count(), 2);
    assert_eq!(next.prolongator.row(256).count(), 2);
    // Hardly any coarser: as many vectors as unknowns.
    let pairs = entries(4, &[(0, 0, 2.0), (1, 1, 2.0), (0, 1, -1.0), (1, 0, -1.0), (2, 2, 1.0), (3, 3, 1.0)]);
    let space = NearNullSpace::new(vec![vec![1.0; 4], vec![0.0, 1.0, 2.0, 3.0]]).unwrap();
    let fine = Fine { a: &pairs, diagonal: &[2.0, 2.0, 1.0, 1.0], largest_eigenvalue: 1.5 };
    assert!(coarser_by_blocks(Threads::all(), fine, &space).unwrap().is_some());
    let space = NearNullSpace::new(vec![vec![1.0; 2], vec![0.0, 1.0]]).unwrap();
    let pair = entries(2, &[(0, 0, 2.0), (1, 1, 2.0), (0, 1, -1.0), (1, 0, -1.0)]);
    let fine = Fine { a: &pair, diagonal: &[2.0, 2.0], largest_eigenvalue: 1.5 };
    assert!(coarser_by_blocks(Threads::all(), fine, &space).unwrap().is_none());
}

/// Rows that are connected with everything would fill the coarser matrix: that is refused before it is made.
#[test]
fn coarser_matrices_are_not_filled() {
    let n = 60_000;
    let line = |i: usize| [(i, i, 4.0)].into_iter().chain((i + 1 < n).then_some((i, i + 1, -1.0)));
    let below = (1..n).map(|i| (i, i - 1, -0.9));
    let all = (2..n).flat_map(|i| [(0, i, -1e-6), (i, 0, -1e-6)]);
    let a = |with: usize| {
        entries(
            n,
            &(0..n).flat_map(line).chain(below.clone()).chain(all.clone().take(with)).collect::<Vec<_>>(),
        )
    };
    let next = |a: &Csr| {
        let diagonal = a.diagonal();
        let largest_eigenvalue = largest_row_sum(Threads::all(), a, &diagonal);
        coarser_of_any(Threads::all(), Fine { a, diagonal: &diagonal, largest_eigenvalue }, 0.08)
    };
    assert_eq!(next(&a(0)).unwrap().unwrap().a.shape().rows, n / 3);
    let error = next(&a(usize::MAX)).unwrap_err();
    let said = error.to_string();
    assert!(
        matches!(error, Error::Matrix { .. }) && said.contains("of 20000 aggregates of 60000 unknowns"),
        "{said}"
    );
}
