//! Products accumulated in double-float: right to one rounding where plain 32-bit sums have nothing left.

mod common;

use common::bounds::{assert_componentwise, ratio, ulp};
use common::harness::on_both;
use common::{random, systems};
use texla::host::Csr;
use texla::ops::{self, Accuracy, Accurate, Combine};
use texla::{BandedMatrix, Device, Error, SparseFormat, SparseMatrix, Vector};

/// A double-double sum of exact products: what the device is compared with.
#[derive(Clone, Copy, Default)]
struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    fn add(&mut self, v: f64) {
        let s = self.high + v;
        let t = s - self.high;
        self.low += (self.high - (s - t)) + (v - t);
        self.high = s;
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let p = a * b;
        self.add(p);
        self.low += a.mul_add(b, -p);
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

/// `alpha A x + beta z` with the full coefficients, and the bound: 1 ulp of the result and k 2^-44 of the magnitudes.
fn expected(a: &Csr, alpha: f64, x: &[f32], plus: Option<(f64, &[f32])>) -> (Vec<f64>, Vec<f64>) {
    let row = |(i, (cols, values)): (usize, (&[u32], &[f64]))| {
        let mut sum = Exact::default();
        let mut size = 0.0;
        for (col, v) in cols.iter().zip(values) {
            let x = alpha * f64::from(x[*col as usize]);
            sum.add_product(*v, x);
            size += (v * x).abs();
        }
        if let Some((beta, z)) = plus {
            sum.add(beta * f64::from(z[i]));
            size += (beta * f64::from(z[i])).abs();
        }
        let terms = cols.len() + usize::from(plus.is_some());
        (sum.value(), ulp(sum.value()) + terms as f64 * 2f64.powi(-44) * size)
    };
    a.rows().enumerate().map(row).unzip()
}

/// The two operations as one.
#[allow(clippy::large_enum_variant)] // a handful in a test
enum Stored {
    Sparse(SparseMatrix),
    Banded(BandedMatrix),
}

impl Stored {
    /// Every form that takes this matrix and fits.
    fn all(device: &Device, a: &Csr, most_bands: usize) -> Vec<(&'static str, Stored)> {
        let mut all = Vec::new();
        if systems::gather_fits(device, a) {
            let sparse = |format| Stored::Sparse(SparseMatrix::from_csr(device, a.clone(), format).unwrap());
            all.push(("gather", sparse(SparseFormat::Gather)));
            if device.capabilities().float_blend {
                all.push(("points", sparse(SparseFormat::Points)));
            }
        }
        if a.distinct_diagonals() <= most_bands {
            let banded = BandedMatrix::from_csr(device, a.clone()).unwrap();
            all.push(("banded", Stored::Banded(banded)));
        }
        all
    }

    fn accurate(&self, out: &mut Vector, terms: Accurate<'_>) -> texla::Result<Accuracy> {
        match self {
            Stored::Sparse(a) => ops::product_accurate(out, a, terms),
            Stored::Banded(a) => ops::product_accurate(out, a, terms),
        }
    }

    /// `y = alpha op(A) x + z` in 32 bits.
    fn plain(&self, y: &mut Vector, transposed: bool, alpha: f32, x: &Vector, z: &Vector) {
        let c = Combine::AddTo(z);
        match (self, transposed) {
            (Stored::Sparse(a), false) => ops::product(y, c, alpha, a, x),
            (Stored::Sparse(a), true) => ops::product_transposed(y, c, alpha, a, x),
            (Stored::Banded(a), false) => ops::product(y, c, alpha, a, x),
            (Stored::Banded(a), true) => ops::product_transposed(y, c, alpha, a, x),
        }
        .unwrap();
    }
}

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

#[track_caller]
fn assert_padding(name: &str, v: &Vector) {
    assert!(v.read_texels().unwrap()[v.len()..].iter().all(|l| *l == 0.0), "{name}: padding is not zero");
}

/// Runs one form on `op(A) = side` and holds it to the bound.
fn check(
    device: &Device,
    name: &str,
    stored: &Stored,
    side: &Csr,
    transposed: bool,
    (alpha, hx): (f32, &[f32]),
    plus: Option<(f32, &[f32])>,
) {
    let (want, bound) = expected(side, f64::from(alpha), hx, plus.map(|(b, z)| (f64::from(b), z)));
    let x = Vector::from_slice(device, hx).unwrap();
    let z = plus.map(|(b, z)| (b, Vector::from_slice(device, z).unwrap()));
    let run = || {
        let mut out = Vector::zeros(device, side.shape().rows).unwrap();
        let plus = z.as_ref().map(|(b, z)| (*b, z));
        stored.accurate(&mut out, Accurate { transposed, alpha, x: &x, plus }).unwrap();
        assert_padding(name, &out);
        out.read().unwrap()
    };
    let got = run();
    assert_componentwise(name, &got, &want, &bound);
    let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got), bits(&run()), "{name}: not the same bits when repeated");
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
                    for (form, stored) in Stored::all(device, &a, 30) {
                        let label = format!("{name}, {form}, transposed {transposed}");
                        let plus = plus.map(|z| (1.0, z));
                        check(device, &label, &stored, &side, transposed, (1.0, &hx), plus);

                        // The plain product of the same matrix.
                        let (want, bound) = expected(&side, 1.0, &hx, plus.map(|(b, z)| (f64::from(b), z)));
                        let x = Vector::from_slice(device, &hx).unwrap();
                        let z = match plus {
                            Some((_, z)) => Vector::from_slice(device, z).unwrap(),
                            None => Vector::zeros(device, rows).unwrap(),
                        };
                        let mut y = Vector::zeros(device, rows).unwrap();
                        stored.plain(&mut y, transposed, 1.0, &x, &z);
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
                for (form, stored) in Stored::all(device, &a, 30) {
                    for (alpha, beta) in [(1.0, Some(-0.5)), (-4.0, Some(2f32.powi(20))), (0.125, None)] {
                        let alpha = alpha * 2f32.powi(-exponent);
                        let plus = beta.map(|b: f32| (b, hz.as_slice()));
                        let label = format!("2^{exponent} {form} {transposed} {alpha:e} {beta:?}");
                        check(device, &label, &stored, &side, transposed, (alpha, &hx), plus);
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
                    for (form, stored) in Stored::all(device, &a, 30) {
                        for plus in [None, Some((-1.0, hz.as_slice()))] {
                            let label =
                                format!("{rows}x{cols}, {} diagonals, {form}, {transposed}", offsets.len());
                            check(device, &label, &stored, &side, transposed, (1.0, &hx), plus);
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
                for (form, stored) in Stored::all(device, &a, 30) {
                    for plus in [None, Some((2.0, hz.as_slice()))] {
                        let label = format!("{rows}x{cols} {form} {transposed}");
                        check(device, &label, &stored, &side, transposed, (-2.0, &hx), plus);
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
            for (form, stored) in Stored::all(device, a, 13) {
                if form != "points" {
                    let label = format!("{name} {form}");
                    check(device, &label, &stored, a, false, (-1.0, &hx), Some((1.0, &hb)));
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
        for (form, stored) in Stored::all(device, &a, 30) {
            let expected_op = "product_accurate";
            for transposed in [false, true] {
                let (m, x) = if transposed { (9, &six) } else { (6, &nine) };
                let terms = |x, plus| Accurate { transposed, alpha: 1.0, x, plus };
                for (result, name) in [
                    (stored.accurate(&mut vector(m), terms(&odd, None)), "x"),
                    (stored.accurate(&mut vector(7), terms(x, None)), "y"),
                    (stored.accurate(&mut vector(m), terms(x, Some((1.0, &odd)))), "z"),
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
