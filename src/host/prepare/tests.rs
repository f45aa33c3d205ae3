//! What prepared matrices promise.

use super::*;
use crate::Shape;
use crate::host::{Triplets, problems};

/// Seeded numbers (splitmix64).
pub(in crate::host) struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// `per_row` entries a row at places of no kind, beside a scattered diagonal; magnitudes of `digits` digits.
    pub fn matrix(&mut self, n: usize, per_row: usize, digits: f64) -> Csr {
        let mut a = Triplets::new(Shape::new(n, n));
        for i in 0..n {
            // 7 has no factor in common with the sizes here.
            let along = std::iter::once(7 * i % n);
            for j in along.chain((1..per_row).map(|_| self.below(n))).collect::<Vec<_>>() {
                let v = 10f64.powf(digits * (self.unit() - 0.5));
                a.push(i, j, if self.below(2) == 0 { v } else { -v }).unwrap();
            }
        }
        a.to_csr()
    }
}

fn is_power_of_two(x: f64) -> bool {
    x.is_normal() && x > 0.0 && x.to_bits() << 12 == 0
}

/// A' is A in another order and times powers of two, bit for bit, and the way back gives what went in.
fn check_exact(a: &Csr, prepared: &Prepared) {
    let (r, c) = (prepared.row_scales(), prepared.column_scales());
    for s in r.iter().chain(c) {
        assert!(is_power_of_two(*s) && (2f64.powi(-100)..=2f64.powi(100)).contains(s), "{s}");
    }
    let entry = |(i, j, v): (usize, usize, f64)| {
        assert_eq!((v / r[i] / c[j] * r[i] * c[j]).to_bits(), v.to_bits());
        (prepared.rows()[i], prepared.columns()[j], v / r[i] / c[j])
    };
    let back = prepared.matrix().entries().map(entry);
    assert_eq!(Triplets::from_entries(a.shape(), back).unwrap().to_csr(), *a);

    let n = a.shape().rows;
    let x: Vec<f64> = (0..n).map(|j| 1.0 + j as f64 / 3.0).collect();
    let y = prepared.unknowns(&x).unwrap();
    assert_eq!(prepared.solution(&y).unwrap(), x);
    // Terms come in another order, so the sums are equal only up to that.
    let (left, right) =
        (prepared.matrix().mul_vec(&y).unwrap(), prepared.right(&a.mul_vec(&x).unwrap()).unwrap());
    let size = |v: f64| v.abs();
    let absolute: Vec<f64> = prepared.matrix().values().iter().copied().map(size).collect();
    let absolute = prepared.matrix().with_values(&absolute).unwrap();
    let bounds = absolute.mul_vec(&y.iter().copied().map(size).collect::<Vec<_>>()).unwrap();
    for ((l, r), bound) in left.iter().zip(&right).zip(&bounds) {
        assert!((l - r).abs() <= 1e-13 * bound, "{l} {r}");
    }
}

fn check_sizes(prepared: &Prepared) {
    assert_eq!(prepared.structural_rank(), prepared.matrix().shape().rows);
    assert!(prepared.matrix().max_abs() < 2.0);
    for d in prepared.matrix().diagonal() {
        assert!((0.499..2.0).contains(&d.abs()), "{d}");
    }
}

#[test]
fn scattered_matrices_get_a_diagonal() {
    let mut numbers = Numbers(2);
    for (n, per_row, digits) in [(1, 1, 3.0), (5, 2, 1.0), (40, 3, 8.0), (300, 6, 20.0), (1000, 4, 2.0)] {
        let a = numbers.matrix(n, per_row, digits);
        let prepared = Prepared::new(&a).unwrap();
        check_exact(&a, &prepared);
        check_sizes(&prepared);
        assert!(prepared.columns().iter().copied().eq(0..n));
        let reordered = prepared.clone().reordered();
        check_exact(&a, &reordered);
        check_sizes(&reordered);
        assert!(reordered.matrix().bandwidth() <= prepared.matrix().bandwidth());
    }
}

#[test]
fn rows_and_columns_of_many_sizes_become_alike() {
    // A grid's matrix with its rows shuffled, and rows and columns times powers of ten over 40 digits.
    let grid = problems::poisson_2d(12, 10).to_csr();
    let (n, mut numbers) = (120, Numbers(3));
    let mut scales = || -> Vec<f64> { (0..n).map(|_| 10f64.powf(40.0 * numbers.unit() - 20.0)).collect() };
    let (r, c) = (scales(), scales());
    let rows: Vec<usize> = (0..n).map(|i| 77 * i % n).collect();
    let scaled = grid.permuted(&rows, &(0..n).collect::<Vec<_>>()).unwrap();
    let values: Vec<f64> = scaled.entries().map(|(i, j, v)| r[i] * v * c[j]).collect();
    let a = scaled.with_values(&values).unwrap();
    let prepared = Prepared::new(&a).unwrap();
    check_exact(&a, &prepared);
    check_sizes(&prepared);
    // The order is undone: the grid's diagonal has the largest product.
    let found: Vec<usize> = prepared.rows().iter().map(|&i| rows[i]).collect();
    assert!(found.iter().copied().eq(0..n));
}

#[test]
fn symmetric_matrices_stay_symmetric() {
    let mut grid = scaled_alike(&problems::poisson_2d(8, 7));
    grid.push(0, 0, 1e-3).unwrap();
    let a = grid.to_csr();
    assert!(a.is_symmetric());
    let prepared = Prepared::new(&a).unwrap();
    check_exact(&a, &prepared);
    check_sizes(&prepared);
    assert!(prepared.matrix().is_symmetric());
    assert_eq!(prepared.row_scales(), prepared.column_scales());
    assert!(prepared.reordered().matrix().is_symmetric());
    // Of this one the largest product is off the diagonal.
    let b = Triplets::from_dense(Shape::new(2, 2), &[1.0, 3.0, 3.0, 1.0]).unwrap().to_csr();
    assert_eq!(Prepared::new(&b).unwrap().rows(), [1, 0]);
}

/// Rows and columns times 10^(i mod 9 - 4).
fn scaled_alike(a: &Triplets) -> Triplets {
    let s = |i: usize| 10f64.powi((i % 9) as i32 - 4);
    let entries = a.entries().map(|(i, j, v)| (i, j, s(i.max(j)) * v * s(i.min(j))));
    Triplets::from_entries(a.shape(), entries).unwrap()
}

#[test]
fn what_is_ready_stays_as_it_is() {
    let ready =
        Triplets::from_dense(Shape::new(3, 3), &[1.0, -0.5, 0.0, 0.25, -1.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
    let a = ready.to_csr();
    let prepared = Prepared::new(&a).unwrap();
    assert!(prepared.is_identity());
    assert_eq!(*prepared.matrix(), a);
    assert!(!prepared.reordered().is_identity());
    let doubled = a.with_values(&a.values().iter().map(|v| 4.0 * v).collect::<Vec<_>>()).unwrap();
    assert!(!Prepared::new(&doubled).unwrap().is_identity());
    assert!(Prepared::new(&Triplets::new(Shape::new(0, 0)).to_csr()).unwrap().is_identity());
}

#[test]
fn scales_end_at_their_limit() {
    // The largest would need 2^-498 on either side.
    let values = [1e-300, 1e300, 1e50, 1e-50, 1.0];
    let a = Triplets::from_diagonal(&values).to_csr();
    let prepared = Prepared::new(&a).unwrap();
    check_exact(&a, &prepared);
    let (low, high) = (2f64.powi(-100), 2f64.powi(100));
    assert_eq!(prepared.row_scales()[..2], [high, low]);
    assert_eq!(prepared.column_scales()[..2], [high, low]);
    let d = prepared.matrix().diagonal();
    assert_eq!(d[..2], [1e-300 * high * high, 1e300 * low * low]);
    assert!(d[2..].iter().all(|d| (0.5..=2.0).contains(d)));
    // Neighbours that far apart come to what they can, and none overflows.
    let a = Triplets::from_dense(Shape::new(2, 2), &[1e300, 1e-300, 1e-300, 1e300]).unwrap().to_csr();
    let prepared = Prepared::new(&a).unwrap();
    assert!(prepared.matrix().values().iter().all(|v| v.is_finite()));
    let a = Triplets::from_dense(Shape::new(2, 2), &[1e300, 1e-300, 1e-300, 0.0]).unwrap().to_csr();
    let prepared = Prepared::new(&a).unwrap();
    assert!(prepared.matrix().values().iter().all(|v| v.is_finite()));
}

#[test]
fn rows_and_columns_share_the_way() {
    let (a, b) = (2f64.powi(150), 2f64.powi(-150));
    let dense = [a, 0.5 * a, 0.0, 0.0, a, 0.0, 0.0, 0.0, b];
    let prepared = Prepared::new(&Triplets::from_dense(Shape::new(3, 3), &dense).unwrap().to_csr()).unwrap();
    let half = 2f64.powi(75);
    assert_eq!(prepared.row_scales(), [half.recip(), half.recip(), half]);
    assert_eq!(prepared.column_scales(), [half.recip(), half.recip(), half]);
    assert_eq!(prepared.matrix().values(), [1.0, 0.5, 1.0, 1.0]);
}

#[test]
fn singular_patterns_are_counted_and_scaled() {
    // Columns 3 to 9 share the rows 0, 1 and 2; row and column 10 are empty, but for a stored zero.
    let mut a = Triplets::new(Shape::new(12, 12));
    for j in 0..10 {
        for i in 0..3 {
            a.push(i, j, 10f64.powi(3 * i as i32 - j as i32)).unwrap();
        }
    }
    a.push(10, 10, 0.0).unwrap();
    a.push(4, 11, 1e6).unwrap();
    let a = a.to_csr();
    let prepared = Prepared::new(&a).unwrap();
    check_exact(&a, &prepared);
    assert_eq!(prepared.structural_rank(), 4);
    assert_eq!(prepared.matrix().diagonal().iter().filter(|d| **d != 0.0).count(), 4);
    assert!(prepared.matrix().max_abs() < 2.0);
    let top = |list: &mut dyn Iterator<Item = f64>| list.fold(0.0, |top: f64, v| top.max(v.abs()));
    for m in [prepared.matrix().clone(), prepared.matrix().transposed()] {
        let tops = (0..12).map(|i| top(&mut m.row(i).map(|(_, v)| v)));
        assert!(tops.filter(|top| *top > 0.0).all(|top| (0.25..2.0).contains(&top)));
    }
}

#[test]
fn what_cannot_be_prepared_is_named() {
    let wide = Triplets::new(Shape::new(2, 3)).to_csr();
    assert!(matches!(Prepared::new(&wide), Err(Error::Matrix { op: "Prepared", .. })));
    let holes = Triplets::from_diagonal(&[1.0, f64::NAN]).to_csr();
    let error = Prepared::new(&holes).unwrap_err().to_string();
    assert_eq!(error, "Prepared: the matrix has NaN at (1, 1), expected finite entries");
    let prepared = Prepared::new(&problems::poisson_1d(3).to_csr()).unwrap();
    for (result, operand) in [
        (prepared.right(&[1.0; 2]), "b"),
        (prepared.solution(&[1.0; 4]), "y"),
        (prepared.unknowns(&[1.0; 4]), "x"),
    ] {
        assert!(matches!(result, Err(Error::LengthMismatch { operand: o, expected: 3, .. }) if o == operand));
    }
}
