//! Matchings against all there are, and scales that are undone.

use super::*;
use crate::host::problems;
use crate::shape::Shape;

fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// The largest product of a matching by trying all, as a logarithm, and the most columns that any matches.
fn best(a: &[Vec<f64>]) -> (usize, f64) {
    fn from(a: &[Vec<f64>], j: usize, taken: &mut Vec<bool>) -> (usize, f64) {
        let n = a.len();
        if j == n {
            return (0, 0.0);
        }
        // A column may stay without a row.
        let mut most = from(a, j + 1, taken);
        for i in 0..n {
            if !taken[i] && a[i][j] != 0.0 {
                taken[i] = true;
                let (count, log) = from(a, j + 1, taken);
                taken[i] = false;
                let (count, log) = (count + 1, log + a[i][j].abs().ln());
                if count > most.0 || count == most.0 && log > most.1 {
                    most = (count, log);
                }
            }
        }
        most
    }
    from(a, 0, &mut vec![false; a.len()])
}

#[test]
fn the_product_on_the_diagonal_is_the_largest() {
    let mut next = numbers(3);
    for round in 0..400 {
        let n = 1 + round % 6;
        let density = 0.2 + 0.7 * next();
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| {
                (0..n)
                    .map(|_| {
                        if next() < density {
                            (20.0 * next() - 10.0).exp() * if next() < 0.5 { -1.0 } else { 1.0 }
                        } else {
                            0.0
                        }
                    })
                    .collect()
            })
            .collect();
        let a = Triplets::from_dense(Shape::new(n, n), &rows.concat()).unwrap().to_csr();
        let prepared = Prepared::new(&a).unwrap();
        let mut order = prepared.rows().to_vec();
        order.sort_unstable();
        assert_eq!(order, (0..n).collect::<Vec<_>>(), "a permutation");
        let (rank, log) = best(&rows);
        assert_eq!(prepared.structural_rank(), rank, "{rows:?}");
        if rank < n {
            continue;
        }
        let found: f64 = prepared.rows().iter().enumerate().map(|(j, i)| rows[*i][j].abs().ln()).sum();
        assert!((found - log).abs() < 1e-9 * (1.0 + log.abs()), "{found} for {log}: {rows:?}");
        // Powers of two leave a factor of two at most on either side.
        for (i, j, v) in prepared.matrix().entries() {
            assert!(v.abs() <= 2.000001, "{v} at {i}, {j}");
            assert!(i != j || v.abs() >= 0.499999, "{v} on the diagonal");
        }
    }
}

#[test]
fn scales_are_exact_and_undone() {
    let mut next = numbers(5);
    let n = 50;
    let mut t = Triplets::new(Shape::new(n, n));
    for i in 0..n {
        t.push(i, (7 * i + 3) % n, (60.0 * next() - 30.0).exp()).unwrap();
        for _ in 0..3 {
            t.push(i, (next() * n as f64) as usize, (60.0 * next() - 30.0).exp()).unwrap();
        }
    }
    let a = t.to_csr();
    for prepared in [Prepared::new(&a).unwrap(), Prepared::new(&a).unwrap().reordered().unwrap()] {
        let is_power = |v: &f64| v.log2().fract() == 0.0;
        assert!(prepared.row_scales().iter().chain(prepared.column_scales()).all(is_power));
        let mut original: Vec<(usize, usize, f64)> = prepared
            .matrix()
            .entries()
            .map(|(i, j, v)| {
                let scale = prepared.row_scales()[i] * prepared.column_scales()[j];
                (prepared.rows()[i], prepared.columns()[j], v / scale)
            })
            .collect();
        original.sort_by_key(|e| (e.0, e.1));
        assert_eq!(original, a.entries().collect::<Vec<_>>());
        let x: Vec<f64> = (0..n).map(|i| i as f64 - 20.0).collect();
        let mut y = vec![0.0; n];
        (0..n).for_each(|j| y[j] = x[prepared.columns()[j]] / prepared.column_scales()[j]);
        assert_eq!(prepared.solution(&y).unwrap(), x);
        let [rows, columns] = prepared.factors().unwrap();
        assert_eq!(rows.to_csr().mul_vec(&x).unwrap(), prepared.right(&x).unwrap());
        assert_eq!(columns.to_csr().mul_vec(&y).unwrap(), x);
        assert!(prepared.right(&x[1..]).is_err() && prepared.solution(&y[1..]).is_err());
    }
}

#[test]
fn odd_matrices() {
    for a in [
        Triplets::new(Shape::new(0, 0)),
        Triplets::new(Shape::new(3, 3)),
        Triplets::from_diagonal(&[0.0, -1e-300, 1e300]),
    ] {
        let prepared = Prepared::new(&a.to_csr()).unwrap();
        assert!(prepared.matrix().values().iter().all(|v| v.is_finite()));
        assert_eq!(prepared.structural_rank(), a.to_csr().diagonal().iter().filter(|d| **d != 0.0).count());
    }
    assert!(matches!(
        Prepared::new(&Triplets::new(Shape::new(2, 3)).to_csr()),
        Err(Error::Matrix { op: "Prepared", .. })
    ));
    // Thousands of rows, each with its partner far away.
    let n = 4001;
    let entries = (0..n)
        .flat_map(|i| [(i, (i * 17 + 5) % n, 8.0), (i, (i * 17 + 6) % n, 1.0), (i, (i * 3) % n, 0.125)]);
    let a = Triplets::from_entries(Shape::new(n, n), entries.collect::<Vec<_>>()).unwrap().to_csr();
    let prepared = Prepared::new(&a).unwrap();
    assert!(prepared.rows().iter().enumerate().all(|(j, i)| (i * 17 + 5) % n == j));
}

#[test]
fn orders_bring_neighbours_together() {
    let grid = problems::poisson_2d(20, 15).to_csr();
    let shuffled: Vec<usize> = (0..300).map(|i| i * 77 % 300).collect();
    let a = grid.permuted(&shuffled, &shuffled).unwrap();
    let order = a.reverse_cuthill_mckee();
    let again = a.permuted(&order, &order).unwrap();
    assert!(a.bandwidth() > 150 && again.bandwidth() <= 20, "{} to {}", a.bandwidth(), again.bandwidth());
    assert_eq!(again.nnz(), a.nnz());
    let prepared = Prepared::new(&a).unwrap().reordered().unwrap();
    assert!(prepared.matrix().bandwidth() <= 20);
    for (rows, cols) in
        [(vec![0; 300], shuffled.clone()), (shuffled.clone(), vec![300; 300]), (vec![0], shuffled)]
    {
        assert!(a.permuted(&rows, &cols).is_err());
    }
}
