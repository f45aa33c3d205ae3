//! Operations on random data against a plain twin in 64 bits, componentwise, and what they cost.

use crate::common::bounds::{
    self, DIV_ULPS, ROUNDED_ULPS, assert_componentwise, gamma, tree_chain, ulp_bounds,
};
use crate::common::harness::on_both;
use crate::common::random;
use crate::common::worst::worst;
use crate::support::{run, value};
use texla::script::{Data, Interpreter};
use texla::{Device, Matrix, MatrixFormat, Shape, SparseFormat, StoredMatrix, Vector, host::Triplets, ops};

/// A dense matrix of the host's, row by row.
#[derive(Clone, Debug)]
struct Host {
    shape: Shape,
    values: Vec<f32>,
}

impl Host {
    fn new(seed: u64, rows: usize, cols: usize) -> Self {
        Host { shape: Shape::new(rows, cols), values: random::nonzero(seed, rows * cols) }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        f64::from(self.values[i * self.shape.cols + j])
    }

    fn transposed(&self) -> Self {
        let shape = self.shape.transposed();
        let values = (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| (j, i)));
        let values = values.map(|(i, j)| self.values[i * self.shape.cols + j]).collect();
        Host { shape, values }
    }

    /// A variable of its kind, put there by the host.
    fn set(&self, interpreter: &mut Interpreter, name: &str, device: &Device) {
        interpreter.set(name, Matrix::from_rows(device, self.shape, &self.values).unwrap()).unwrap();
    }
}

/// The twin of a product with the bound of each element, for sums of `cols` terms in any order.
fn product(a: &Host, b: &Host) -> (Shape, Vec<f64>, Vec<f64>) {
    let shape = Shape::new(a.shape.rows, b.shape.cols);
    let (mut want, mut bound) = (Vec::new(), Vec::new());
    for i in 0..shape.rows {
        for j in 0..shape.cols {
            let terms = (0..a.shape.cols).map(|k| a.at(i, k) * b.at(k, j));
            want.push(terms.clone().sum::<f64>());
            bound.push(bounds::product_bound(terms.map(f64::abs).sum(), a.shape.cols));
        }
    }
    (shape, want, bound)
}

/// All ways to write a product: dense or sparse on either side, transposed or not, with shapes from empty on.
#[test]
fn products_of_every_kind() {
    let shapes = [
        (0, 0, 0),
        (1, 3, 2),
        (2, 0, 3),
        (3, 1, 1),
        (1, 1, 4),
        (2, 3, 1),
        (1, 5, 1),
        (5, 1, 9),
        (9, 5, 3),
        (50, 9, 2),
        (13, 50, 17),
    ];
    on_both(|device| {
        for (seed, (n, k, m)) in (1..).zip(shapes) {
            let (a, b) = (Host::new(seed, n, k), Host::new(seed + 100, k, m));
            let (shape, want, bound) = product(&a, &b);
            let mut interpreter = Interpreter::new(device);
            a.set(&mut interpreter, "A", device);
            b.set(&mut interpreter, "B", device);
            a.transposed().set(&mut interpreter, "At", device);
            b.transposed().set(&mut interpreter, "Bt", device);
            run(&mut interpreter, "SA = sparse(A)\nSB = sparse(B)\nSAt = sparse(At)\nSBt = sparse(Bt)");
            for left in ["A", "At'", "SA", "SAt'"] {
                for right in ["B", "Bt'", "SB", "SBt'"] {
                    let sparse = |text: &str| {
                        text.starts_with('S')
                            && matches!(
                                interpreter.get(text.trim_end_matches('\'')).unwrap().data(),
                                Data::Sparse(_)
                            )
                    };
                    if sparse(left) && sparse(right) {
                        continue;
                    }
                    let text = format!("C = {left} * {right}");
                    run(&mut interpreter, &text);
                    let (found, got) = value(&interpreter, "C");
                    assert_eq!(found, shape, "{text} {n} {k} {m}");
                    // Where one side is 1x1 the other is scaled: a rounding, which the bound covers.
                    assert_componentwise(&format!("{text} {n} {k} {m}"), &got, &want, &bound);
                }
            }
        }
    });
}

/// Whether 1x1 operands are numbers or scalars, and which side they are on, makes no difference but rounding.
#[test]
fn one_by_one_is_broadcast() {
    on_both(|device| {
        for (seed, (rows, cols)) in (1..).zip([(7, 1), (1, 7), (5, 6), (1, 1), (0, 4)]) {
            let x = Host::new(seed, rows, cols);
            let s = 1.7f32;
            let mut interpreter = Interpreter::new(device);
            x.set(&mut interpreter, "X", device);
            interpreter.set("n", f64::from(s)).unwrap();
            interpreter.set("d", texla::Scalar::new(device, s).unwrap()).unwrap();
            type Twin = fn(f64, f64) -> f64;
            let operations: [(&str, Twin, f64); 6] = [
                ("+", |x, y| x + y, ROUNDED_ULPS),
                ("-", |x, y| x - y, ROUNDED_ULPS),
                (".*", |x, y| x * y, ROUNDED_ULPS),
                ("./", |x, y| x / y, DIV_ULPS),
                ("max", f64::max, 0.0),
                ("min", f64::min, 0.0),
            ];
            for (sign, twin, ulps) in operations {
                for scalar in ["n", "d"] {
                    for (left, right) in [("X", scalar), (scalar, "X"), ("X", "X")] {
                        let text = if sign.len() == 3 {
                            format!("Y = {sign}({left}, {right})")
                        } else {
                            format!("Y = {left} {sign} {right}")
                        };
                        run(&mut interpreter, &text);
                        let (shape, got) = value(&interpreter, "Y");
                        assert_eq!(shape, x.shape, "{text}");
                        let of = |name: &str, v: f32| f64::from(if name == "X" { v } else { s });
                        let want: Vec<f64> =
                            x.values.iter().map(|v| twin(of(left, *v), of(right, *v))).collect();
                        assert_componentwise(&text, &got, &want, &ulp_bounds(&want, ulps));
                    }
                }
            }
        }
    });
}

/// The four multiply-adds of the paper, on vectors, rows and matrices.
#[test]
fn multiply_adds() {
    on_both(|device| {
        for (rows, cols) in [(9, 1), (1, 9), (5, 7)] {
            let all: Vec<Host> = (1..5).map(|seed| Host::new(seed, rows, cols)).collect();
            let mut interpreter = Interpreter::new(device);
            for (host, name) in all.iter().zip(["A", "B", "C", "D"]) {
                host.set(&mut interpreter, name, device);
            }
            interpreter.set("c", texla::Scalar::new(device, -0.3).unwrap()).unwrap();
            run(
                &mut interpreter,
                "x = mad(A, B, c)\ny = mad(A, B, -0.3)\nz = mad(A, B, C)\nw = madad(A, B, C, D)\na = A\na += B",
            );
            let v = |k: usize, i: usize| f64::from(all[k].values[i]);
            let scale = f64::from(-0.3f32);
            type Twin<'a> = Box<dyn Fn(usize) -> (f64, f64) + 'a>;
            // The result, and the sum of the magnitudes of what was rounded.
            let twins: [(&str, Twin<'_>, usize); 5] = [
                ("x", Box::new(|i| (v(0, i) + v(1, i) * scale, v(0, i).abs() + (v(1, i) * scale).abs())), 2),
                ("y", Box::new(|i| (v(0, i) + v(1, i) * scale, v(0, i).abs() + (v(1, i) * scale).abs())), 2),
                (
                    "z",
                    Box::new(|i| (v(0, i) + v(1, i) * v(2, i), v(0, i).abs() + (v(1, i) * v(2, i)).abs())),
                    2,
                ),
                (
                    "w",
                    Box::new(|i| {
                        let product = (v(1, i) + v(2, i)) * v(3, i);
                        (v(0, i) + product, v(0, i).abs() + (v(1, i).abs() + v(2, i).abs()) * v(3, i).abs())
                    }),
                    3,
                ),
                ("a", Box::new(|i| (v(0, i) + v(1, i), v(0, i).abs() + v(1, i).abs())), 1),
            ];
            for (name, twin, roundings) in twins {
                let (shape, got) = value(&interpreter, name);
                assert_eq!(shape, Shape::new(rows, cols));
                let (want, sums): (Vec<f64>, Vec<f64>) = (0..rows * cols).map(twin).unzip();
                let bound: Vec<f64> = sums.iter().map(|s| gamma(roundings) * s + bounds::TINY).collect();
                assert_componentwise(name, &got, &want, &bound);
            }
        }
    });
}

/// Sums, norms and dot products of vectors and matrices.
#[test]
fn reductions() {
    on_both(|device| {
        for (seed, (rows, cols)) in (1..).zip([(1, 1), (37, 1), (1, 37), (9, 5), (5, 50)]) {
            let a = Host::new(seed, rows, cols);
            let mut interpreter = Interpreter::new(device);
            a.set(&mut interpreter, "A", device);
            let n = rows * cols;
            // No tree of additions is longer than all of them in a row.
            let chain = tree_chain(n.max(2), n.max(2));
            let magnitudes: f64 = a.values.iter().map(|v| f64::from(v.abs())).sum();
            let squares: f64 = a.values.iter().map(|v| f64::from(*v).powi(2)).sum();
            let total: f64 = a.values.iter().map(|v| f64::from(*v)).sum();
            run(
                &mut interpreter,
                "s = sum(A, \"all\")\nf = norm(A, \"fro\")\nhi = max(A, \"all\")\nlo = min(A, \"all\")",
            );
            let one = |name: &str| value(&interpreter, name).1[0];
            bounds::assert_within("sum", one("s"), total, bounds::reduction_bound(chain, magnitudes));
            bounds::assert_within("norm", one("f"), squares.sqrt(), (gamma(chain + 6)) * squares.sqrt());
            assert_eq!(one("hi"), a.values.iter().copied().fold(f32::MIN, worst));
            assert_eq!(one("lo"), a.values.iter().copied().fold(f32::MAX, f32::min));
            if rows == 1 || cols == 1 {
                continue;
            }
            run(
                &mut interpreter,
                "c = sum(A)\nm = max(A)\nl = min(A)\none = norm(A, 1)\ninf_ = norm(A, inf)\nS = sparse(A)\nsc = sum(S)",
            );
            let column = |j: usize| (0..rows).map(move |i| (i, j));
            let each = |f: &dyn Fn(&mut dyn Iterator<Item = f64>) -> f64| -> Vec<f64> {
                (0..cols).map(|j| f(&mut column(j).map(|(i, j)| a.at(i, j)))).collect()
            };
            let sums = each(&|column| column.sum());
            let bound: Vec<f64> = each(&|column| column.map(f64::abs).sum())
                .iter()
                .map(|s| bounds::product_bound(*s, rows))
                .collect();
            assert_componentwise("sum of columns", &value(&interpreter, "c").1, &sums, &bound);
            assert_componentwise("sum of sparse columns", &value(&interpreter, "sc").1, &sums, &bound);
            let zero = vec![0.0; cols];
            assert_componentwise(
                "max",
                &value(&interpreter, "m").1,
                &each(&|c| c.fold(f64::MIN, worst)),
                &zero,
            );
            assert_componentwise(
                "min",
                &value(&interpreter, "l").1,
                &each(&|c| c.fold(f64::MAX, f64::min)),
                &zero,
            );
            let largest = |of: &dyn Fn(usize) -> f64, count: usize| (0..count).map(of).fold(0.0, worst);
            let one_norm = largest(&|j| (0..rows).map(|i| a.at(i, j).abs()).sum(), cols);
            let inf_norm = largest(&|i| (0..cols).map(|j| a.at(i, j).abs()).sum(), rows);
            bounds::assert_within(
                "norm 1",
                value(&interpreter, "one").1[0],
                one_norm,
                gamma(rows + 2) * one_norm,
            );
            bounds::assert_within(
                "norm inf",
                value(&interpreter, "inf_").1[0],
                inf_norm,
                gamma(cols + 2) * inf_norm,
            );
        }
    });
}

/// `A' * B` and `A * B'` are the operations of the class: no transposition besides, and none of `A' * x`.
#[test]
fn nothing_is_transposed_in_memory() {
    on_both(|device| {
        let (a, b) = (Host::new(1, 20, 12), Host::new(2, 20, 9));
        let mut interpreter = Interpreter::new(device);
        a.set(&mut interpreter, "A", device);
        b.set(&mut interpreter, "B", device);
        b.transposed().set(&mut interpreter, "Bt", device);
        a.transposed().set(&mut interpreter, "At", device);
        interpreter.set("x", Vector::from_slice(device, &random::nonzero(3, 20)).unwrap()).unwrap();
        let made = |shape: Shape| Matrix::zeros(device, shape).unwrap();
        let on_device = |h: &Host| Matrix::from_rows(device, h.shape, &h.values).unwrap();
        let (da, db, dat, dbt) =
            (on_device(&a), on_device(&b), on_device(&a.transposed()), on_device(&b.transposed()));
        let x = Vector::from_slice(device, &random::nonzero(3, 20)).unwrap();
        let (mut c, mut y) = (made(Shape::new(12, 9)), Vector::zeros(device, 12).unwrap());
        let draws = |f: &mut dyn FnMut() -> texla::Result<()>| {
            f().unwrap(); // compiled
            let before = device.counters();
            f().unwrap();
            device.counters().since(&before).draws
        };
        let at = draws(&mut || ops::matmul_at(&mut c, &da, &db));
        let bt = draws(&mut || ops::matmul_bt(&mut c, &dat, &dbt));
        let atx = draws(&mut || ops::product_transposed(&mut y, ops::Combine::Replace, 1.0, &da, &x));
        for (text, expected) in [
            ("C = A' * B", at),
            ("C = transpose(A) * B", at),
            ("C = At * Bt'", bt),
            ("y = A' * x", atx),
            ("y = (A)' * x", atx),
        ] {
            run(&mut interpreter, text);
            let before = device.counters();
            run(&mut interpreter, text);
            let work = device.counters().since(&before);
            assert_eq!((work.draws, work.uploads, work.readbacks), (expected, 0, 0), "{text}");
        }
    });
}

/// Each operation that the class has with a constant or a multiply-add is one draw.
#[test]
fn short_forms_are_one_draw() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        for (seed, name) in [(1, "A"), (2, "B"), (3, "C"), (4, "D")] {
            Host::new(seed, 6, 5).set(&mut interpreter, name, device);
        }
        interpreter.set("s", texla::Scalar::new(device, 2.0).unwrap()).unwrap();
        for text in [
            "A + 1",
            "1 + A",
            "A - 1",
            "A * 3",
            "3 * A",
            "A * s",
            "s + A",
            "max(A, 0)",
            "max(0, A)",
            "mad(A, B, 2)",
            "mad(A, B, s)",
            "mad(A, B, C)",
            "madad(A, B, C, D)",
            "-A",
            "A + B",
            "A .* B",
            "s * s",
            "-s",
        ] {
            let text = format!("Y = {text}");
            run(&mut interpreter, &text);
            let before = device.counters();
            run(&mut interpreter, &text);
            let work = device.counters().since(&before);
            assert_eq!((work.draws, work.uploads, work.readbacks), (1, 0, 0), "{text}");
        }
    });
}

/// A stored matrix of the host's is a sparse variable in whatever format.
#[test]
fn sparse_formats() {
    let t = Triplets::from_entries(Shape::new(3, 4), [(0, 0, 1.0), (2, 1, -2.0), (1, 3, 0.5)]).unwrap();
    on_both(|device| {
        for format in [
            MatrixFormat::Banded,
            MatrixFormat::Sparse(SparseFormat::Gather),
            MatrixFormat::Sparse(SparseFormat::Points),
        ] {
            let Ok(stored) = StoredMatrix::new(device, t.to_csr(), format) else { continue };
            let mut interpreter = Interpreter::new(device);
            interpreter.set("S", stored).unwrap();
            run(&mut interpreter, "y = S * [1 2 3 4]'\nz = S' * [1 2 3]'\nF = full(S)");
            assert_eq!(value(&interpreter, "y").1, [1.0, 2.0, -4.0], "{format:?}");
            assert_eq!(value(&interpreter, "z").1, [1.0, -6.0, 0.0, 1.0], "{format:?}");
            assert_eq!(
                value(&interpreter, "F").1,
                [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, -2.0, 0.0, 0.0]
            );
        }
    });
}
