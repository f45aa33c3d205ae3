//! Products accumulated in double-float: right to one rounding where plain 32-bit sums have nothing left.

mod common;

use common::bounds::ratio;
use common::forms::sparse_forms;
use common::harness::on_both;
use common::products::{Exact, accurate, apply, check_accurate};
use common::{random, systems};
use texla::host::Csr;
use texla::ops::{self, Accuracy, Accurate, Combine};
use texla::{Device, Error, SparseFormat, SparseMatrix, Vector};

/// Coefficients that 32 bits do not hold: 53 random bits.
fn full(rng: &mut random::Rng) -> f64 {
    let magnitude = 0.5 + rng.unit();
    if rng.next_u32() & 1 == 0 { magnitude } else { -magnitude }
}

/// Rows whose last entry is chosen so that the row times `x` is tiny, plus `z`.
fn cancelling(seed: u64, pattern: &[Vec<usize>], cols: usize, x: &[f32], z: Option<&[f32]>) -> Csr {
    let mut rng = random::Rng::new(seed);
    let mut list = Vec::new();
    for (i, row) in pattern.iter().enumerate() {
        let mut sum = Exact::default();
        sum.add(z.map_or(0.0, |z| f64::from(z[i])));
        for (k, col) in row.iter().enumerate() {
            let last = k + 1 == row.len() && k > 0;
            let xv = f64::from(x[*col]);
            // What is left is of the size 2^-20 in every second row, of 2^-50 in the others.
            let rest = if i % 2 == 0 { full(&mut rng) * 2f64.powi(-20) } else { 0.0 };
            let value = if last { (rest - sum.value()) / xv } else { full(&mut rng) };
            sum.add_product(value, xv);
            list.push((i, *col, value));
        }
    }
    systems::entries(pattern.len(), cols, list)
}

fn pattern_random(seed: u64, rows: usize, cols: usize, per_row: usize) -> Vec<Vec<usize>> {
    let a = random::sparse_rows(seed, rows, cols, per_row);
    (0..rows).map(|i| a.col_idx[a.row_ptr[i]..a.row_ptr[i + 1]].to_vec()).collect()
}

fn pattern_banded(rows: usize, cols: usize, offsets: &[i64]) -> Vec<Vec<usize>> {
    let inside = |i: usize, o: &i64| usize::try_from(i as i64 + o).ok().filter(|j| *j < cols);
    (0..rows).map(|i| offsets.iter().filter_map(|o| inside(i, o)).collect()).collect()
}

fn skip_without_exact_arithmetic(device: &Device) -> bool {
    if device.capabilities().exact_form.is_some() {
        return false;
    }
    // Nothing can be exact here, and the operation says so, and computes in 32 bits.
    let a = SparseMatrix::from_csr(device, systems::entries(1, 1, [(0, 0, 1.0)]), SparseFormat::Gather);
    let (x, mut y) = (Vector::zeros(device, 1).unwrap(), Vector::zeros(device, 1).unwrap());
    let terms = Accurate { transposed: false, alpha: 1.0, x: &x, plus: None };
    assert_eq!(ops::product_accurate(&mut y, &a.unwrap(), terms).unwrap(), Accuracy::Single);
    true
}

/// Where heavy cancellation leaves plain 32-bit sums more than a hundred times outside the bound.
#[test]
fn heavy_cancellation_leaves_the_right_result() {
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        let (rows, cols) = (131, 118);
        let cases = [
            ("random", pattern_random(1, rows, cols, 9)),
            ("two entries a row", pattern_random(2, rows, cols, 2)),
            ("five diagonals", pattern_banded(rows, cols, &[-11, -1, 0, 1, 11])),
            ("nineteen diagonals", pattern_banded(rows, cols, &(-9..10).collect::<Vec<_>>())),
        ];
        for (name, pattern) in cases {
            let hx = random::nonzero(3, cols);
            let hz = random::nonzero(4, rows);
            for (plus, seed) in [(None, 5), (Some(hz.as_slice()), 6)] {
                let side = cancelling(seed, &pattern, cols, &hx, plus);
                for transposed in [false, true] {
                    let a = if transposed { side.transposed() } else { side.clone() };
                    for (form, stored) in sparse_forms(device, &a, 30) {
                        let label = format!("{name}, {form}, transposed {transposed}");
                        let plus = plus.map(|z| (1.0, z));
                        check_accurate(device, &label, stored.as_ref(), &side, transposed, (1.0, &hx), plus);

                        // The plain product of the same matrix.
                        let (want, bound) = accurate(&side, 1.0, &hx, plus);
                        let x = Vector::from_slice(device, &hx).unwrap();
                        let z = match plus {
                            Some((_, z)) => Vector::from_slice(device, z).unwrap(),
                            None => Vector::zeros(device, rows).unwrap(),
                        };
                        let mut y = Vector::zeros(device, rows).unwrap();
                        apply(stored.as_ref(), transposed, &mut y, Combine::AddTo(&z), 1.0, &x).unwrap();
                        let got = y.read().unwrap();
                        let beyond =
                            (0..rows).filter(|i| ratio(got[*i], want[*i], bound[*i]) > 100.0).count();
                        assert!(beyond > rows / 2, "{label}: the plain product fails in {beyond} rows only");
                    }
                }
            }
        }
    });
}

#[test]
fn factors_that_are_powers_of_two_are_exact() {
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        let n = 61;
        let hx = random::nonzero(1, n);
        let hz = random::nonzero(2, n);
        let offsets = [-17, -4, -1, 0, 2, 3, 8];
        let base = cancelling(3, &pattern_banded(n, n, &offsets), n, &hx, None);
        // Also coefficients that are stored divided by a power of two.
        for exponent in [0, 40, 80, -80, 110] {
            let side = systems::mapped(&base, |v| v * 2f64.powi(exponent));
            for transposed in [false, true] {
                let a = if transposed { side.transposed() } else { side.clone() };
                for (form, stored) in sparse_forms(device, &a, 30) {
                    for (alpha, beta) in [(1.0, Some(-0.5)), (-4.0, Some(2f32.powi(20))), (0.125, None)] {
                        let alpha = alpha * 2f32.powi(-exponent);
                        let plus = beta.map(|b: f32| (b, hz.as_slice()));
                        let label = format!("2^{exponent} {form} {transposed} {alpha:e} {beta:?}");
                        check_accurate(
                            device,
                            &label,
                            stored.as_ref(),
                            &side,
                            transposed,
                            (alpha, &hx),
                            plus,
                        );
                    }
                }
            }
        }
    });
}

/// One to twenty diagonals, some kept as numbers whose remainder counts, on square and rectangular matrices.
#[test]
fn constant_diagonals_keep_their_remainders() {
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        for (rows, cols) in [(45, 45), (30, 41), (41, 30)] {
            let hx = random::nonzero(1, cols);
            let hz = random::uniform(2, rows);
            for offsets in [vec![0], vec![-5, 0, 3], (-7..8).collect::<Vec<i64>>()] {
                let mut list = Vec::new();
                let mut rng = random::Rng::new(3);
                for (i, row) in pattern_banded(rows, cols, &offsets).iter().enumerate() {
                    for j in row {
                        // 1/3, 2/5 ... by diagonal; every fourth diagonal varies.
                        let o = *j as i64 - i as i64;
                        let value = if o % 4 == 1 { full(&mut rng) } else { (2.0 + o as f64) / 3.7 };
                        list.push((i, *j, value));
                    }
                }
                let side = systems::entries(rows, cols, list);
                for transposed in [false, true] {
                    let a = if transposed { side.transposed() } else { side.clone() };
                    for (form, stored) in sparse_forms(device, &a, 30) {
                        for plus in [None, Some((-1.0, hz.as_slice()))] {
                            let label =
                                format!("{rows}x{cols}, {} diagonals, {form}, {transposed}", offsets.len());
                            check_accurate(
                                device,
                                &label,
                                stored.as_ref(),
                                &side,
                                transposed,
                                (1.0, &hx),
                                plus,
                            );
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn empty_and_tiny_matrices() {
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        for (rows, cols) in [(0, 0), (0, 3), (3, 0), (5, 5), (1, 1)] {
            let list = if rows == 1 { vec![(0, 0, 1.0 / 3.0)] } else { Vec::new() };
            let side = systems::entries(rows, cols, list);
            let (hx, hz) = (random::nonzero(1, cols), random::nonzero(2, rows));
            for transposed in [false, true] {
                let a = if transposed { side.transposed() } else { side.clone() };
                for (form, stored) in sparse_forms(device, &a, 30) {
                    for plus in [None, Some((2.0, hz.as_slice()))] {
                        let label = format!("{rows}x{cols} {form} {transposed}");
                        check_accurate(device, &label, stored.as_ref(), &side, transposed, (-2.0, &hx), plus);
                    }
                }
            }
        }
    });
}

#[test]
fn every_matrix_of_the_data_set() {
    let all = [("spd", 15), ("sym", 1), ("unsym", 6), ("rect", 4)];
    let matrices = systems::data_matrices(&all, "accurate products with real matrices");
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        for (name, a) in &matrices {
            if !systems::fits(device, a, texla::MatrixFormat::Sparse(SparseFormat::Points)) {
                continue;
            }
            // The residual of the vector of ones: everything cancels.
            let hx = vec![1.0; a.shape().cols];
            let hb: Vec<f32> = systems::rhs_of_ones(a).iter().map(|v| *v as f32).collect();
            for (form, stored) in sparse_forms(device, a, 13) {
                if form != "points" {
                    let label = format!("{name} {form}");
                    check_accurate(device, &label, stored.as_ref(), a, false, (-1.0, &hx), Some((1.0, &hb)));
                }
            }
        }
    });
}

#[test]
fn shape_mismatches_name_operation_and_operand() {
    on_both(|device| {
        if skip_without_exact_arithmetic(device) {
            return;
        }
        let a = systems::csr(&random::sparse(1, 6, 9, 0.4));
        let vector = |n| Vector::zeros(device, n).unwrap();
        let (six, nine, odd) = (vector(6), vector(9), vector(7));
        for (form, stored) in sparse_forms(device, &a, 30) {
            let expected_op = "product_accurate";
            for transposed in [false, true] {
                let (m, x) = if transposed { (9, &six) } else { (6, &nine) };
                let terms = |x, plus| Accurate { transposed, alpha: 1.0, x, plus };
                for (result, name) in [
                    (ops::product_accurate(&mut vector(m), stored.as_ref(), terms(&odd, None)), "x"),
                    (ops::product_accurate(&mut vector(7), stored.as_ref(), terms(x, None)), "y"),
                    (
                        ops::product_accurate(&mut vector(m), stored.as_ref(), terms(x, Some((1.0, &odd)))),
                        "z",
                    ),
                ] {
                    match result {
                        Err(Error::ShapeMismatch { op, operand, .. }) => {
                            assert_eq!((op, operand), (expected_op, name));
                        }
                        other => panic!("{form} {name}: {other:?}"),
                    }
                }
            }
        }
    });
}
