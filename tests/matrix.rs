//! Dense matrices: to the device and back, moved about on it, reduced, and what is refused; in one texture and in several.

mod common;

use common::bounds::{assert_within, bits, reduction_bound};
use common::harness::{assert_matrix_padded, assert_padded, limits, on_both, on_both_with};
use common::random::{Rng, any_bits, uniform};
use common::reference::{self, widen};
use texla::kernel::{Kernel, NoParams};
use texla::{Device, Error, Matrix, Shape, Vector, ops};

/// The shapes that tend to go wrong: those of the figures, primes, one more or less than a tile of a small device.
const SHAPES: [(usize, usize); 22] = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (2, 2),
    (3, 3),
    (1, 9),
    (9, 1),
    (4, 5),
    (5, 4),
    (50, 3),
    (7, 127),
    (127, 9),
    (255, 63),
    (256, 64),
    (257, 65),
    (1, 200),
    (600, 1),
    (600, 2),
    (3, 129),
    (300, 130),
    (513, 129),
];

fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES.into_iter().map(|(rows, cols)| Shape::new(rows, cols))
}

/// Both dialects, with the limits of the run and with textures of at most 64 texels a side.
fn in_one_and_in_many(test: impl Fn(&Device)) {
    on_both(&test);
    on_both_with(limits().with_max_texture_size(Some(64)), &test);
}

/// The element (i, j) of row-major values.
fn at(values: &[f32], shape: Shape, i: usize, j: usize) -> f32 {
    values[i * shape.cols + j]
}

#[test]
fn uploads_come_back_bit_for_bit() {
    in_one_and_in_many(|dev| {
        for shape in shapes() {
            let values = any_bits(shape.rows as u64, shape.len());
            let mut a = Matrix::from_rows(dev, shape, &values).unwrap();
            assert_eq!(a.shape(), shape);
            assert!(bits(&a.read().unwrap()) == bits(&values), "{shape}");
            assert_matrix_padded(&a, "from_rows");
            let other = any_bits(7, shape.len());
            a.write(&other).unwrap();
            let mut back = vec![1.0; shape.len()];
            a.read_into(&mut back).unwrap();
            assert!(bits(&back) == bits(&other), "{shape}");
            assert_matrix_padded(&a, "write");
            a.set_zero().unwrap();
            assert_eq!(a.read().unwrap(), vec![0.0; shape.len()]);
            let filled = Matrix::filled(dev, shape, -0.123_456_7).unwrap();
            assert_eq!(filled.read().unwrap(), vec![-0.123_456_7; shape.len()]);
            assert_matrix_padded(&filled, "filled");
            let doubles: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
            assert!(bits(&Matrix::from_f64(dev, shape, &doubles).unwrap().read().unwrap()) == bits(&values));
        }
    });
}

#[test]
fn tiles_cover_the_matrix_once() {
    on_both_with(limits().with_max_texture_size(Some(64)), |dev| {
        for shape in shapes() {
            let a = Matrix::zeros(dev, shape).unwrap();
            let mut seen = vec![0; shape.len()];
            for tile in a.tiles() {
                assert!(tile.extent().width <= 64 && tile.extent().height <= 64);
                for i in 0..tile.shape.rows {
                    for j in 0..tile.shape.cols {
                        seen[(tile.origin.0 + i) * shape.cols + tile.origin.1 + j] += 1;
                    }
                }
            }
            assert!(seen.iter().all(|n| *n == 1), "{shape}");
            let tiled = shape.rows > 256 || shape.cols > 64;
            assert_eq!(a.tiles().count() > 1, tiled, "{shape}");
            assert_eq!(a.texture().is_err(), tiled, "{shape}");
            if let Err(e) = a.texture() {
                assert!(matches!(e, Error::Unsupported { .. }) && e.to_string().contains("textures"), "{e}");
            }
        }
    });
}

#[test]
fn elements_rows_columns_and_diagonals() {
    in_one_and_in_many(|dev| {
        for shape in shapes() {
            let values = uniform(3, shape.len());
            let a = Matrix::from_rows(dev, shape, &values).unwrap();
            let mut random = Rng::new(5);
            for _ in 0..usize::from(!shape.is_empty()) * 5 {
                let (i, j) = (random.below(shape.rows), random.below(shape.cols));
                assert_eq!(a.element(i, j).unwrap(), at(&values, shape, i, j));
                let row = a.row(i).unwrap();
                assert_eq!(row.read().unwrap(), values[i * shape.cols..(i + 1) * shape.cols]);
                assert_padded(&row, "row");
                let column = a.column(j).unwrap();
                let want: Vec<_> = (0..shape.rows).map(|i| at(&values, shape, i, j)).collect();
                assert_eq!(column.read().unwrap(), want);
                assert_padded(&column, "column");
            }
            let diagonal = a.diagonal().unwrap();
            let want: Vec<_> = (0..shape.rows.min(shape.cols)).map(|k| at(&values, shape, k, k)).collect();
            assert_eq!(diagonal.read().unwrap(), want);
            assert_padded(&diagonal, "diagonal");
            let last = shape.rows;
            let e = a.element(last, 0).unwrap_err();
            assert!(
                matches!(e, Error::IndexOutOfRange { index, bound, .. } if index == last && bound == last),
                "{e}"
            );
            assert!(a.row(last).is_err() && a.column(shape.cols).is_err());
        }
    });
}

#[test]
fn identity_and_transpose() {
    in_one_and_in_many(|dev| {
        for n in [0, 1, 2, 3, 5, 9, 50, 127, 300] {
            let e = Matrix::identity(dev, n).unwrap();
            let want: Vec<_> = (0..n * n).map(|k| f32::from(u8::from(k / n == k % n))).collect();
            assert_eq!(e.read().unwrap(), want, "{n}");
            assert_matrix_padded(&e, "identity");
        }
        for shape in shapes() {
            let values = any_bits(1, shape.len());
            let t = Matrix::from_rows(dev, shape, &values).unwrap().transposed().unwrap();
            assert_eq!(t.shape(), shape.transposed());
            let want: Vec<_> = (0..shape.cols)
                .flat_map(|j| (0..shape.rows).map(move |i| (i, j)))
                .map(|(i, j)| at(&values, shape, i, j).to_bits())
                .collect();
            assert!(bits(&t.read().unwrap()) == want, "{shape}");
            assert_matrix_padded(&t, "transpose");
        }
    });
}

#[test]
fn vectors_become_matrices_and_back() {
    in_one_and_in_many(|dev| {
        for shape in shapes() {
            if shape.len() > 64 * 64 * 4 {
                continue; // past the vectors of the smaller device
            }
            let values = any_bits(2, shape.len());
            let x = Vector::from_slice(dev, &values).unwrap();
            let a = Matrix::from_vector_rows(&x, shape).unwrap();
            assert!(bits(&a.read().unwrap()) == bits(&values), "{shape}");
            assert_matrix_padded(&a, "from_vector_rows");
            let back = a.to_vector().unwrap();
            assert!(bits(&back.read().unwrap()) == bits(&values), "{shape}");
            assert_padded(&back, "to_vector");
            let column = Matrix::from_vector(&x).unwrap();
            assert_eq!(column.shape(), Shape::column(shape.len()));
            assert!(bits(&column.read().unwrap()) == bits(&values), "{shape}");
        }
        let e = Matrix::from_vector_rows(&Vector::zeros(dev, 5).unwrap(), Shape::new(2, 3)).unwrap_err();
        assert!(matches!(e, Error::ShapeMismatch { .. }), "{e}");
    });
}

#[test]
fn blocks_are_cut_out_and_put_in() {
    in_one_and_in_many(|dev| {
        let mut random = Rng::new(11);
        for shape in shapes() {
            let values = uniform(4, shape.len());
            let a = Matrix::from_rows(dev, shape, &values).unwrap();
            for _ in 0..6 {
                let (row, col) = (random.below(shape.rows + 1), random.below(shape.cols + 1));
                let part = Shape::new(random.below(shape.rows - row + 1), random.below(shape.cols - col + 1));
                let want: Vec<_> = (0..part.rows)
                    .flat_map(|i| (0..part.cols).map(move |j| (i, j)))
                    .map(|(i, j)| at(&values, shape, row + i, col + j))
                    .collect();
                let block = a.block(row, col, part).unwrap();
                assert_eq!(block.read().unwrap(), want, "{part} at ({row}, {col}) of {shape}");
                assert_matrix_padded(&block, "block");

                let new = uniform(random.next_u64(), part.len());
                let mut changed = a.block(0, 0, shape).unwrap();
                changed.set_block(row, col, &Matrix::from_rows(dev, part, &new).unwrap()).unwrap();
                let mut want = values.clone();
                for i in 0..part.rows {
                    let to = (row + i) * shape.cols + col;
                    want[to..to + part.cols].copy_from_slice(&new[i * part.cols..(i + 1) * part.cols]);
                }
                assert_eq!(changed.read().unwrap(), want, "{part} into ({row}, {col}) of {shape}");
                assert_matrix_padded(&changed, "set_block");
            }
            let over = Shape::new(shape.rows + 1, shape.cols.max(1));
            assert!(matches!(a.block(0, 0, over), Err(Error::Parameter { name: "block", .. })));
            assert!(matches!(a.block(usize::MAX, 0, Shape::new(1, 1)), Err(Error::Parameter { .. })));
        }
    });
}

#[test]
fn reductions_over_one_texture_and_several() {
    in_one_and_in_many(|dev| {
        for shape in shapes() {
            let (x, y) = (uniform(5, shape.len()), uniform(6, shape.len()));
            let [a, b] = [&x, &y].map(|v| Matrix::from_rows(dev, shape, v).unwrap());
            let (x, y) = (widen(&x), widen(&y));
            // Longer than any tree: a chain over all elements of a tile's lane.
            let chain = 64;
            let within = |name: &str, got: texla::Scalar, want: f64, magnitude: f64| {
                assert_within(name, got.read().unwrap(), want, reduction_bound(chain, magnitude));
            };
            within("sum", ops::sum(&a).unwrap(), reference::sum(&x), reference::abs_sum(&x));
            within("dot", ops::dot(&a, &b).unwrap(), reference::dot(&x, &y), reference::abs_dot(&x, &y));
            let squares = reference::dot(&x, &x);
            within("norm_squared", ops::norm_squared(&a).unwrap(), squares, squares);
            within("norm2", ops::norm2(&a).unwrap(), squares.sqrt(), squares.sqrt());
            assert_eq!(f64::from(ops::max_abs(&a).unwrap().read().unwrap()), reference::max_abs(&x));
            if shape.is_empty() {
                assert!(ops::max_element(&a).is_err());
                continue;
            }
            assert_eq!(f64::from(ops::max_element(&a).unwrap().read().unwrap()), reference::max(&x));
            assert_eq!(f64::from(ops::min_element(&a).unwrap().read().unwrap()), reference::min(&x));
            // Where all elements are below zero, padding must not win.
            ops::max_element(&a).unwrap();
            let negative = Matrix::filled(dev, shape, -2.5).unwrap();
            assert_eq!(ops::max_element(&negative).unwrap().read().unwrap(), -2.5, "{shape}");
        }
    });
}

#[test]
fn what_cannot_be_made_is_refused_before_anything_is_allocated() {
    on_both(|dev| {
        let before = (dev.live_objects(), dev.counters());
        let huge = Shape::new(1 << 20, 1 << 12);
        for made in [
            Matrix::zeros(dev, huge),
            Matrix::filled(dev, Shape::new(usize::MAX, usize::MAX), 1.0),
            Matrix::identity(dev, 1 << 16),
            Matrix::from_rows(dev, huge, &[]),
        ] {
            assert!(matches!(made, Err(Error::TooLarge { what: "a dense matrix", .. })), "{made:?}");
        }
        let two = Shape::new(1, 2);
        let e = Matrix::from_rows(dev, two, &[1.0]).unwrap_err();
        assert_eq!(e.to_string(), "Matrix::from_rows: `values` has 1 values, expected 2");
        for bad in [f64::NAN, f64::INFINITY, 1e39] {
            let e = Matrix::from_f64(dev, two, &[1.0, bad]).unwrap_err();
            assert!(matches!(e, Error::NonFinite { index: 1, .. }), "{e}");
        }
        assert!(matches!(Matrix::filled(dev, two, f32::NAN), Err(Error::NonFinite { .. })));
        assert_eq!(dev.live_objects(), before.0);
        assert_eq!(dev.counters().draws, before.1.draws);
    });
}

#[test]
fn a_kernel_of_the_users_runs_on_one_texture_and_refuses_several() {
    on_both_with(limits().with_max_texture_size(Some(64)), |dev| {
        let body = "vec4 kernel(ivec2 p) { return x(p) + 1.0; }";
        let kernel = Kernel::<NoParams>::new(dev, "increment", ["x"], body).unwrap();
        for shape in [Shape::new(5, 3), Shape::new(1, 64), Shape::new(250, 33)] {
            let values = uniform(9, shape.len());
            let a = Matrix::from_rows(dev, shape, &values).unwrap();
            let mut out = Matrix::zeros(dev, shape).unwrap();
            kernel.run(&mut out, [&a], &NoParams).unwrap();
            assert_eq!(out.read().unwrap(), values.iter().map(|v| v + 1.0).collect::<Vec<_>>());
            assert_matrix_padded(&out, "a user's kernel");
        }
        let tiled = Matrix::zeros(dev, Shape::new(5, 65)).unwrap();
        let mut small = Matrix::zeros(dev, Shape::new(5, 64)).unwrap();
        let e = kernel.run(&mut small, [&tiled], &NoParams).unwrap_err();
        assert!(
            matches!(&e, Error::Unsupported { what, why } if what.contains("increment") && why.contains('x')),
            "{e}"
        );
        let mut tiled = tiled;
        let e = kernel.run(&mut tiled, [&small], &NoParams).unwrap_err();
        assert!(matches!(&e, Error::Unsupported { why, .. } if why.contains("target")), "{e}");
        // Each of its textures is an operand by itself.
        for tile in tiled.tiles() {
            let mut out = Matrix::zeros(dev, tile.shape).unwrap();
            kernel.run(&mut out, [&tile], &NoParams).unwrap();
            assert_eq!(out.read().unwrap(), vec![1.0; tile.shape.len()]);
        }
    });
}

#[test]
fn debug_says_kind_and_shape_and_reads_nothing() {
    on_both(|dev| {
        let a = Matrix::zeros(dev, Shape::new(3, 5)).unwrap();
        let x = Vector::zeros(dev, 5).unwrap();
        let banded = texla::BandedMatrix::poisson_2d(dev, 3, 2).unwrap();
        let before = dev.counters();
        assert_eq!(format!("{banded:?}"), format!("BandedMatrix({}, 5 diagonals)", banded.shape()));
        assert!(format!("{:?}", ops::Combine::AddTo(&x)).starts_with("AddTo(Vector(5 in "));
        assert!(format!("{a:?}").starts_with(&format!("Matrix({} in ", a.shape())));
        assert_eq!(dev.counters(), before);
    });
}
