//! What is not part of a matrix takes no part in a product, whatever `x` holds there: padding of sparse rows, and what
//! diagonals would meet past the ends of `x`. An infinity times zero would be NaN.

mod common;

use common::harness::{limits, on_both, on_both_with, write_bits};
use common::random::{Rng, nonzero};
use texla::gl::Limits;
use texla::host::{Csr, Triplets};
use texla::ops::{self, Accurate, Combine, Histogram};
use texla::solve::LinOp;
use texla::{BandedMatrix, Device, Shape, SparseFormat, SparseMatrix, Vector};

/// These values, but infinity or NaN, by its bits, at one place.
fn spoilt(dev: &Device, values: &[f32], at: usize, bits: u32) -> Vector {
    let mut all: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
    all[at] = bits;
    let mut x = Vector::zeros(dev, values.len()).unwrap();
    write_bits(&mut x, &all);
    assert!(!x.read().unwrap()[at].is_finite());
    x
}

/// Every product with `x` spoilt at each of these places: rows that do not meet it are, bit for bit, those of a finite `x`.
fn check(name: &str, a: &dyn LinOp, csr: &Csr, places: &[usize]) {
    let dev = a.device();
    let mut met_anywhere = 0;
    for transposed in [false, true] {
        let shape = if transposed { a.shape().transposed() } else { a.shape() };
        let values = nonzero(3, shape.cols);
        let x = Vector::from_slice(dev, &values).unwrap();
        let z = Vector::from_slice(dev, &nonzero(4, shape.rows)).unwrap();
        for at in places.iter().map(|at| at % shape.cols) {
            let meets = |row: usize| {
                csr.entries()
                    .any(|(i, j, _)| if transposed { (j, i) == (row, at) } else { (i, j) == (row, at) })
            };
            for bits in [f32::INFINITY.to_bits(), 0x7fc0_0000] {
                let spoilt = spoilt(dev, &values, at, bits);
                for form in 0..3 {
                    let product = |x: &Vector| {
                        let mut y = Vector::zeros(dev, shape.rows).unwrap();
                        let combine = Combine::SubtractFrom(&z);
                        match form {
                            0 if transposed => ops::product_transposed(&mut y, Combine::Replace, 1.5, a, x),
                            0 => ops::product(&mut y, Combine::Replace, 1.5, a, x),
                            1 if transposed => ops::product_transposed(&mut y, combine, 1.0, a, x),
                            1 => ops::product(&mut y, combine, 1.0, a, x),
                            _ => {
                                let terms = Accurate { transposed, alpha: -1.0, x, plus: Some((1.0, &z)) };
                                ops::product_accurate(&mut y, a, terms).map(drop)
                            }
                        }
                        .unwrap();
                        y.read().unwrap()
                    };
                    let (got, want) = (product(&spoilt), product(&x));
                    for (row, (got, want)) in got.iter().zip(&want).enumerate() {
                        if meets(row) {
                            met_anywhere += 1;
                            continue;
                        }
                        let what = format!("{name}, form {form} {transposed}, row {row}, {bits:x} at {at}");
                        assert_eq!(got.to_bits(), want.to_bits(), "{what}: {got:e}, expected {want:e}");
                    }
                }
            }
        }
    }
    assert!(met_anywhere > 0 || csr.entries().next().is_none(), "{name}");
}

#[test]
fn padding_of_sparse_rows_takes_no_part() {
    on_both(|dev| {
        let shape = Shape::new(150, 131);
        let mut rng = Rng::new(5);
        // Rows of 0 to 7 entries, of which few meet the first column, where padding slots point.
        let mut entries = std::collections::BTreeMap::new();
        for row in 0..shape.rows {
            for _ in 0..rng.below(8) {
                entries.insert((row, 1 + rng.below(shape.cols - 1)), 0.5 + rng.below(7) as f64);
            }
        }
        entries.extend((0..shape.rows).step_by(9).map(|row| ((row, 0), 2.0)));
        // A coefficient of which 32 bits are not enough makes the accurate form read remainders.
        for third in [false, true] {
            let value = |v: f64| if third { v / 3.0 } else { v };
            let list: Vec<_> = entries.iter().map(|((i, j), v)| (*i, *j, value(*v))).collect();
            let triplets = Triplets::from_entries(shape, list).unwrap();
            for format in [SparseFormat::Gather, SparseFormat::Points] {
                let a = SparseMatrix::from_triplets(dev, &triplets, format).unwrap();
                check(&format!("{format:?}"), &a, &triplets.to_csr(), &[0, 1, 77]);
            }
        }
    });
}

/// A texel holds four bins, and a point adds to one of them.
#[test]
fn an_infinite_weight_stays_in_its_bin() {
    an_infinite_weight(limits());
    an_infinite_weight(limits().without_float_blend(true));
}

fn an_infinite_weight(limits: Limits) {
    on_both_with(limits, |dev| {
        let x = Vector::from_slice(dev, &[0.5, 1.5, 2.5, 3.5, 4.5, 2.5]).unwrap();
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let histogram = Histogram::equal_width(dev, 0.0, 5.0, 5).unwrap();
        for bits in [f32::INFINITY.to_bits(), f32::NAN.to_bits()] {
            let mut out = Vector::zeros(dev, 5).unwrap();
            histogram.sum(&mut out, &x, &spoilt(dev, &values, 1, bits)).unwrap();
            let out = out.read().unwrap();
            assert!(!out[1].is_finite());
            assert_eq!([out[0], out[2], out[3], out[4]], [1.0, 9.0, 4.0, 5.0]);
        }
    });
}

#[test]
fn diagonals_end_where_the_matrix_does() {
    on_both(|dev| {
        for (rows, cols) in [(133usize, 133usize), (64, 64), (40, 90), (90, 40)] {
            for constant in [false, true] {
                let mut list = Vec::new();
                for (k, offset) in [-37isize, -4, -1, 0, 2, 8, 35].into_iter().enumerate() {
                    for i in 0..rows {
                        let Some(j) = i.checked_add_signed(offset).filter(|j| *j < cols) else { continue };
                        list.push((i, j, (k + 1) as f64 + if constant { 0.0 } else { i as f64 / 3.0 }));
                    }
                }
                let triplets = Triplets::from_entries(Shape::new(rows, cols), list).unwrap();
                let name = format!("{rows}x{cols} constant {constant}");
                let a = BandedMatrix::from_triplets(dev, &triplets).unwrap();
                check(&name, &a, &triplets.to_csr(), &[0, 3, 20, cols - 1, rows - 1, 63]);
            }
        }
    });
}
