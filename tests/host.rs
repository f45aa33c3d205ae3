//! Sparse matrices on the host, checked against dense arithmetic.

#[path = "../examples/support/worst.rs"]
#[allow(dead_code)]
mod worst;

use proptest::prelude::*;
use texla::host::{Csr, Triplets, problems};
use texla::{Error, Shape};
use worst::worst;

/// Small integers: sums and products are exact in any order.
fn matrix() -> impl Strategy<Value = Triplets> {
    (1usize..12, 1usize..12).prop_flat_map(|(rows, cols)| {
        prop::collection::vec((0..rows, 0..cols, -9i32..=9), 0..60).prop_map(move |entries| {
            let entries = entries.into_iter().map(|(r, c, v)| (r, c, f64::from(v)));
            Triplets::from_entries(Shape::new(rows, cols), entries).unwrap()
        })
    })
}

fn dense(a: &Triplets) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; a.shape().cols]; a.shape().rows];
    a.entries().for_each(|(row, col, value)| out[row][col] += value);
    out
}

fn well_formed(a: &Csr) {
    assert_eq!(a.row_ptr().len(), a.shape().rows + 1);
    assert_eq!((a.row_ptr()[0], *a.row_ptr().last().unwrap()), (0, a.nnz()));
    assert!(a.row_ptr().is_sorted());
    assert_eq!(a.rows().count(), a.shape().rows);
    for (cols, values) in a.rows() {
        assert_eq!(cols.len(), values.len());
        assert!(cols.windows(2).all(|w| w[0] < w[1]), "{cols:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn compressed_rows_are_the_matrix(a in matrix(), seed in 0usize..1000) {
        let (csr, full, shape) = (a.to_csr(), dense(&a), a.shape());
        well_formed(&csr);
        let places: std::collections::BTreeSet<_> = a.entries().map(|(r, c, _)| (r, c)).collect();
        prop_assert_eq!(csr.nnz(), places.len());
        for (row, col, value) in csr.entries() {
            prop_assert_eq!(value, full[row][col]);
        }
        let number = |i: usize| ((i * 7 + seed) % 11) as f64 - 5.0;
        let x: Vec<f64> = (0..shape.cols).map(number).collect();
        let y: Vec<f64> = full.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        prop_assert_eq!(csr.mul_vec(&x).unwrap(), y);
        let x: Vec<f64> = (0..shape.rows).map(number).collect();
        prop_assert_eq!(csr.mul_vec_transposed(&x).unwrap(), csr.transposed().mul_vec(&x).unwrap());
        prop_assert_eq!(a.transposed().to_csr(), csr.transposed());
        prop_assert_eq!(csr.transposed().transposed(), csr.clone());
        prop_assert_eq!(csr.to_triplets().to_csr(), csr);
    }

    #[test]
    fn measures_are_those_of_the_dense_matrix(a in matrix()) {
        let (csr, full, shape) = (a.to_csr(), dense(&a), a.shape());
        let diagonal: Vec<f64> = (0..shape.rows.min(shape.cols)).map(|i| full[i][i]).collect();
        prop_assert_eq!(&csr.diagonal(), &diagonal);
        prop_assert_eq!(&a.diagonal(), &diagonal);
        let norm1 = (0..shape.cols).map(|j| full.iter().map(|row| row[j].abs()).sum::<f64>()).fold(0.0, worst);
        prop_assert_eq!(csr.norm1(), norm1);
        prop_assert_eq!(csr.max_abs(), full.iter().flatten().map(|v| v.abs()).fold(0.0, worst));
        let offsets: std::collections::BTreeSet<i64> = a.entries().map(|(r, c, _)| c as i64 - r as i64).collect();
        prop_assert_eq!(csr.distinct_diagonals(), offsets.len());
        let width = offsets.iter().map(|o| o.unsigned_abs() as usize).max().unwrap_or(0);
        prop_assert_eq!(csr.bandwidth(), width);
        if let Some((row, col, v, mirrored)) = csr.asymmetry() {
            prop_assert_eq!(full[row].get(col).copied().unwrap_or(0.0), v);
            prop_assert_eq!(full.get(col).and_then(|r| r.get(row)).copied().unwrap_or(0.0), mirrored);
        }
        if shape.is_square() {
            let flags = csr.clone() == csr.transposed();
            prop_assert_eq!(csr.is_symmetric(), flags);
            let both: Vec<_> = a.entries().chain(a.transposed().entries().collect::<Vec<_>>()).collect();
            prop_assert!(Triplets::from_entries(shape, both).unwrap().to_csr().is_symmetric());
        } else {
            prop_assert!(!csr.is_symmetric());
        }
    }

    #[test]
    fn groups_are_what_the_entries_connect(a in matrix()) {
        let n = a.shape().rows.min(a.shape().cols);
        let inside: Vec<_> = a.entries().filter(|(r, c, _)| *r < n && *c < n).collect();
        // By spreading the smallest number until nothing changes.
        let mut label: Vec<usize> = (0..n).collect();
        for _ in 0..n {
            for (r, c, _) in &inside {
                let least = label[*r].min(label[*c]);
                (label[*r], label[*c]) = (least, least);
            }
        }
        let firsts: std::collections::BTreeSet<_> = label.iter().copied().collect();
        let of = |first: &usize| (0..n).filter(|i| label[*i] == *first).collect::<Vec<_>>();
        let expected: Vec<Vec<usize>> = firsts.iter().map(of).collect();
        prop_assert_eq!(a.to_csr().independent_groups(), expected);
    }

    #[test]
    fn dense_input_is_the_matrix(rows in 0usize..6, cols in 0usize..6, seed in 0usize..50) {
        let values: Vec<f64> = (0..rows * cols).map(|i| ((i * 5 + seed) % 4) as f64).collect();
        let a = Triplets::from_dense(Shape::new(rows, cols), &values).unwrap();
        prop_assert_eq!(dense(&a).concat(), values);
        prop_assert!(a.entries().all(|(_, _, v)| v != 0.0));
    }
}

#[test]
fn duplicates_are_summed_in_order_and_zeros_stay() {
    // 1 + 1e100 - 1e100 is 0 from the left and 1 from the right.
    let entries = [(0, 0, 1.0), (1, 1, -2.0), (0, 0, 1e100), (1, 1, 2.0), (0, 0, -1e100), (1, 0, -0.0)];
    let a = Triplets::from_entries(Shape::new(2, 2), entries).unwrap().to_csr();
    assert_eq!(a.values(), [0.0, -0.0, 0.0]);
    assert!(a.values()[1].is_sign_negative());
    assert_eq!((a.row_ptr(), a.cols()), (&[0, 1, 3][..], &[0, 0, 1][..]));
}

#[test]
fn asymmetry_tells_a_missing_entry_from_a_zero() {
    let a = |entries: &[(usize, usize, f64)]| {
        Triplets::from_entries(Shape::new(3, 3), entries.iter().copied()).unwrap().to_csr()
    };
    assert_eq!(a(&[(0, 1, 0.0)]).asymmetry(), Some((0, 1, 0.0, 0.0)));
    assert_eq!(a(&[(2, 0, 5.0)]).asymmetry(), Some((0, 2, 0.0, 5.0)));
    assert_eq!(a(&[(0, 1, 1.0), (1, 0, 1.0), (2, 1, 4.0), (1, 2, 4.5)]).asymmetry(), Some((1, 2, 4.5, 4.0)));
    assert_eq!(a(&[(0, 1, 1.0), (1, 0, 1.0), (2, 2, 4.0)]).asymmetry(), None);
    assert!(a(&[(1, 1, f64::NAN)]).asymmetry().is_some());
}

#[test]
fn wrong_sizes_are_named() {
    let mut a = Triplets::new(Shape::new(2, 3));
    let out_of_range = |what, index, bound| Err(Error::IndexOutOfRange { what, index, bound });
    assert_eq!(a.push(2, 0, 1.0), out_of_range("row index", 2, 2));
    assert_eq!(a.push(0, 3, 1.0), out_of_range("column index", 3, 3));
    assert_eq!(a.nnz(), 0);
    let mut huge = Triplets::new(Shape::new(usize::MAX, 1));
    assert_eq!(huge.push(u32::MAX as usize, 0, 1.0), Ok(()));
    assert!(huge.push(u32::MAX as usize + 1, 0, 1.0).is_err());
    let length = |op, operand, found, expected| Error::LengthMismatch { op, operand, found, expected };
    let csr = a.to_csr();
    assert_eq!(csr.mul_vec(&[0.0; 2]), Err(length("Csr::mul_vec", "x", 2, 3)));
    assert_eq!(csr.mul_vec_transposed(&[0.0; 3]), Err(length("Csr::mul_vec_transposed", "x", 3, 2)));
    let dense = Triplets::from_dense(Shape::new(2, 3), &[0.0; 5]);
    assert_eq!(dense, Err(length("Triplets::from_dense", "values", 5, 6)));
}

#[test]
fn empty_matrices() {
    for shape in [Shape::new(0, 0), Shape::new(0, 4), Shape::new(4, 0)] {
        let a = Triplets::new(shape).to_csr();
        well_formed(&a);
        assert_eq!(a.mul_vec(&vec![0.0; shape.cols]).unwrap(), vec![0.0; shape.rows]);
        assert_eq!(a.mul_vec_transposed(&vec![0.0; shape.rows]).unwrap(), vec![0.0; shape.cols]);
        assert_eq!((a.norm1(), a.max_abs(), a.bandwidth(), a.distinct_diagonals()), (0.0, 0.0, 0, 0));
        assert_eq!((a.diagonal(), a.asymmetry()), (Vec::new(), None));
    }
    assert_eq!(problems::poisson_2d(0, 3).shape(), Shape::new(0, 0));
}

#[test]
fn poisson_has_its_known_eigenvectors() {
    let angle = |k: usize, n: usize| std::f64::consts::PI * k as f64 / (n + 1) as f64;
    for (nx, ny, k, l) in [(1, 1, 1, 1), (7, 1, 2, 1), (5, 8, 3, 2), (1, 6, 1, 6)] {
        let a = problems::poisson_2d(nx, ny).to_csr();
        assert!(a.is_symmetric());
        assert_eq!(a.nnz(), 5 * nx * ny - 2 * nx - 2 * ny);
        let wave = |i: usize| {
            (angle(k, nx) * (i % nx + 1) as f64).sin() * (angle(l, ny) * (i / nx + 1) as f64).sin()
        };
        let v: Vec<f64> = (0..nx * ny).map(wave).collect();
        let lambda = 4.0 - 2.0 * angle(k, nx).cos() - 2.0 * angle(l, ny).cos();
        for (av, v) in a.mul_vec(&v).unwrap().iter().zip(&v) {
            assert!((av - lambda * v).abs() < 1e-14, "{av} {}", lambda * v);
        }
    }
    let a = problems::poisson_1d(6).to_csr();
    assert_eq!((a.nnz(), a.bandwidth(), a.diagonal_offsets()), (16, 1, vec![-1, 0, 1]));
    assert_eq!(a.mul_vec(&[1.0; 6]).unwrap(), [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    let d = Triplets::from_diagonal(&[1.0, 0.0, 3.0]).to_csr();
    assert_eq!((d.nnz(), d.diagonal(), d.bandwidth()), (3, vec![1.0, 0.0, 3.0], 0));
}
