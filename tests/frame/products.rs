//! Products against the f64 twin, componentwise within the product bound.

use crate::common::bounds::bits;
use crate::common::forms::{all_forms, full, laplacian, new_forms, stack};
use crate::common::harness::{assert_padded, limits, on_both, on_both_with};
use crate::common::products::{self, COMBINES, apply};
use crate::common::random;
use crate::common::systems;

use texla::host::Csr;
use texla::ops::{self, Combine};
use texla::shape::max_folded_len;
use texla::solve::LinOp;
use texla::{ColumnStack, Device, Error, FoldedBands, Scalar, Shape, Vector};

/// With factors of the host's and of the device's.
fn check(device: &Device, label: &str, form: &dyn LinOp, a: &Csr, seed: u64, combines: &[(&str, f32)]) {
    products::check(device, label, form, a, seed, combines, &[false, true]);
}

fn check_new(device: &Device, a: &Csr, seed: u64, combines: &[(&str, f32)]) {
    for (name, form) in new_forms(device, a) {
        check(device, name, form.as_ref(), a, seed, combines);
    }
}

/// Rows and columns that tend to go wrong: those of the figures, primes, tile edges.
const SIDES: [usize; 16] = [0, 1, 2, 3, 4, 5, 9, 15, 16, 17, 50, 63, 65, 97, 129, 251];

#[test]
fn full_square_matrices() {
    on_both(|device| {
        for n in SIDES {
            let a = full(n, n, &random::nonzero(n as u64, n * n));
            let combines = if [3, 50].contains(&n) { &COMBINES[..] } else { &COMBINES[4..5] };
            check_new(device, &a, 10, combines);
        }
    });
}

#[test]
fn rectangular_stacks() {
    on_both(|device| {
        let most = max_folded_len(device.capabilities().max_texture_size).min(4_100) as usize;
        let shapes =
            [(0, 5), (5, 0), (1, 7), (7, 1), (3, 4), (4, 3), (2, 300), (300, 2), (31, 127), (127, 31)];
        for (m, n) in shapes.into_iter().chain([(most, 3), (3, most), (most, 9)]) {
            let a = full(m, n, &random::nonzero((m + n) as u64, m * n));
            check_new(device, &a, 20, &COMBINES[5..6]);
        }
    });
}

/// Patterns with holes: diagonals of which one, or none, of a pair has entries, and constant ones kept as numbers.
#[test]
fn folded_bands_of_every_pattern() {
    on_both(|device| {
        for n in [1usize, 2, 5, 8, 13, 64, 67] {
            let at = |f: &dyn Fn(usize, usize) -> f64| {
                let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                systems::entries(n, n, all.map(|(i, j)| (i, j, f(i, j))).filter(|e| e.2 != 0.0))
            };
            let mut rng = random::Rng::new(n as u64);
            let noise: Vec<f64> = (0..n * n).map(|_| f64::from(rng.away_from_zero())).collect();
            let entry = |i: usize, j: usize| noise[i * n + j];
            let cases = [
                ("upper", at(&|i, j| if j >= i { entry(i, j) } else { 0.0 })),
                ("lower", at(&|i, j| if j < i { entry(i, j) } else { 0.0 })),
                ("circulant", at(&|i, j| ((j + n - i) % n) as f64 + 1.5)),
                ("sparse", at(&|i, j| if (i + 2 * j) % 5 == 0 { entry(i, j) } else { 0.0 })),
                ("empty", at(&|_, _| 0.0)),
                (
                    "periodic",
                    at(&|i, j| match (j + n - i) % n {
                        0 => 4.0,
                        d if d == 1 || d == n - 1 => -1.0,
                        _ => 0.0,
                    }),
                ),
            ];
            for (name, a) in cases {
                let folded = FoldedBands::from_csr(device, a.clone()).unwrap();
                assert!(folded.offsets().iter().all(|o| (0..n as i64).contains(o)), "{name} {n}");
                check(device, name, &folded, &a, 30, &COMBINES[7..9]);
            }
        }
    });
}

/// Past the texture size: many textures, and columns so long that two or one of them fill a texture.
#[test]
fn past_the_texture_limit() {
    let small = limits().with_max_texture_size(Some(16));
    on_both_with(small, |device| {
        for (m, n, textures) in [(50, 50, 4), (50, 500, 32), (300, 30, 15), (500, 7, 4), (1024, 5, 5)] {
            let a = full(m, n, &random::nonzero((m * n) as u64, m * n));
            let stacked = stack(device, &a);
            assert_eq!(stacked.texture_count(), textures, "{m}x{n}");
            check(device, "small textures", &stacked, &a, 40, &COMBINES[6..8]);
        }
        let n = 512;
        let a = systems::csr(&random::sparse_rows(3, n, n, 3));
        check(device, "largest", &FoldedBands::from_csr(device, a.clone()).unwrap(), &a, 41, &COMBINES[..1]);
        // One more is refused before anything is allocated.
        let before = device.pool_stats();
        let error = FoldedBands::from_csr(device, systems::entries(513, 513, [])).err();
        assert!(matches!(error, Some(Error::TooLarge { what: "FoldedBands", .. })), "{error:?}");
        let error = ColumnStack::zeros(device, Shape::new(1025, 1)).err();
        assert!(matches!(error, Some(Error::TooLarge { .. })), "{error:?}");
        assert_eq!(device.pool_stats(), before);
    });
}

/// Every way of combining, on every form of a matrix, by the one verb.
#[test]
fn every_form_combines_in_every_way() {
    on_both(|device| {
        let a = systems::csr(&random::sparse(5, 37, 37, 0.2));
        let stencil = laplacian(device, 6, 7);
        check(device, "stencil", &stencil, stencil.csr(), 51, &COMBINES);
        for (name, form) in all_forms(device, &a) {
            check(device, name, form.as_ref(), &a, 50, &COMBINES);
        }
    });
}

#[test]
fn draws_are_few() {
    on_both(|device| {
        let draws = |a: &dyn LinOp| {
            let (x, mut y) = (
                Vector::zeros(device, a.shape().cols).unwrap(),
                Vector::zeros(device, a.shape().rows).unwrap(),
            );
            let before = device.counters();
            ops::product(&mut y, Combine::Replace, 1.0, a, &x).unwrap();
            let done = device.counters().since(&before);
            assert_eq!((done.uploads, done.readbacks, done.clears), (0, 0, 0));
            done.draws
        };
        let of = |n| full(n, n, &random::nonzero(1, n * n));
        // A GPU is given more fragments than twenty rows have: ranges of the columns, and their sum.
        let ranges = u64::from(!device.capabilities().software);
        assert_eq!(draws(&stack(device, &of(20))), 1 + ranges);
        if device.capabilities().max_texture_size >= 1024 {
            // All columns in one draw, ranges of them side by side, and one that adds these.
            assert_eq!(draws(&stack(device, &of(500))), 2);
        }
        // x twice, and twelve vectors a pass.
        assert_eq!(draws(&FoldedBands::from_csr(device, of(50)).unwrap()), 1 + 5);
    });
}

/// A borrowed texture of the host's folds otherwise and has no padding.
#[test]
#[allow(unsafe_code)]
fn operands_that_fold_otherwise() {
    on_both(|device| {
        let (n, w, h) = (60, 5, 3);
        let a = full(n, n, &random::nonzero(1, n * n));
        let (hx, hz) = (random::uniform(2, n), random::nonzero(3, n));
        let owned = [&hx, &hz].map(|v| Vector::from_slice(device, v).unwrap());
        for (name, form) in new_forms(device, &a) {
            let lent: Vec<(glow::NativeTexture, Vector)> = [&hx, &hz]
                .iter()
                .map(|values| {
                    use glow::HasContext;
                    let gl = device.glow();
                    // SAFETY: the context is current; the slice covers the texture, which outlives its vector.
                    unsafe {
                        let raw = gl.create_texture().unwrap();
                        gl.bind_texture(glow::TEXTURE_2D, Some(raw));
                        let data = glow::PixelUnpackData::Slice(Some(bytemuck::cast_slice(values)));
                        let internal = glow::RGBA32F as i32;
                        gl.tex_image_2d(
                            glow::TEXTURE_2D,
                            0,
                            internal,
                            w,
                            h,
                            0,
                            glow::RGBA,
                            glow::FLOAT,
                            data,
                        );
                        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
                        gl.bind_texture(glow::TEXTURE_2D, None);
                        (raw, Vector::from_texture(device, raw, w as usize, h as usize).unwrap())
                    }
                })
                .collect();
            for transposed in [false, true] {
                let run = |x: &Vector, z: &Vector| {
                    let mut y = Vector::zeros(device, n).unwrap();
                    apply(form.as_ref(), transposed, &mut y, Combine::Subtract(z), 1.0, x).unwrap();
                    assert_padded(&y, name);
                    bits(&y.read().unwrap())
                };
                assert_eq!(run(&lent[0].1, &lent[1].1), run(&owned[0], &owned[1]), "{name} {transposed}");
            }
            let mut target = ColumnStack::zeros(device, Shape::new(n, 2)).unwrap();
            target.set_column(1, &lent[0].1).unwrap();
            assert_eq!(bits(&target.column(1).unwrap().read().unwrap()), bits(&hx));
            for (raw, vector) in lent {
                drop(vector);
                // SAFETY: as above.
                unsafe { glow::HasContext::delete_texture(&*device.glow(), raw) };
            }
        }
    });
}

/// A factor that only the device knows may be infinite, and zero times that is none: padding lanes stay zero.
#[test]
fn padding_stays_zero_whatever_the_factor() {
    on_both(|device| {
        let a = systems::csr(&random::sparse(5, 37, 37, 0.2));
        let x = Vector::from_slice(device, &random::nonzero(1, 37)).unwrap();
        let factor = Scalar::zero(device).unwrap();
        let mut infinite = Scalar::zero(device).unwrap();
        ops::reciprocal(&mut infinite, &factor).unwrap();
        for (name, form) in all_forms(device, &a) {
            let mut y = Vector::zeros(device, 37).unwrap();
            ops::product(&mut y, Combine::Replace, &infinite, form.as_ref(), &x).unwrap();
            assert_padded(&y, name);
            assert!(y.read().unwrap().iter().any(|v| v.is_infinite()), "{name}");
        }
    });
}

#[test]
fn mistakes_are_named() {
    on_both(|device| {
        let vector = |n| Vector::zeros(device, n).unwrap();
        let a = stack(device, &full(4, 6, &[1.0; 24]));
        let (four, six, odd) = (vector(4), vector(6), vector(5));
        let mut y = vector(4);
        let op_of = |result: texla::Result<()>| match result {
            Err(Error::ShapeMismatch { op, operand, .. }) => (op, operand),
            other => panic!("{other:?}"),
        };
        assert_eq!(op_of(ops::product(&mut y, Combine::Replace, 1.0, &a, &odd)), ("product", "x"));
        let c = Combine::Max(&odd);
        assert_eq!(op_of(ops::product(&mut y, c, 1.0, &a, &six)), ("product", "z"));
        let c = Combine::Replace;
        let result = ops::product_transposed(&mut y, c, 1.0, &a, &four);
        assert_eq!(op_of(result), ("product_transposed", "y"));
        let result = ops::product(&mut y, c, f32::NAN, &a, &six);
        assert!(matches!(result, Err(Error::Parameter { name: "alpha", .. })));
        let mut wide = stack(device, &full(4, 6, &[1.0; 24]));
        assert_eq!(op_of(wide.set_column(0, &odd)), ("ColumnStack::set_column", "x"));
        assert!(matches!(wide.column(6), Err(Error::IndexOutOfRange { index: 6, bound: 6, .. })));
        assert!(matches!(wide.set_column(6, &four), Err(Error::IndexOutOfRange { .. })));

        let folded = FoldedBands::from_csr(device, full(4, 4, &[1.0; 16])).unwrap();
        let result = ops::product(&mut y, c, 1.0, &folded, &odd);
        assert_eq!(op_of(result), ("product", "x"));
        let error = FoldedBands::from_csr(device, full(4, 6, &[1.0; 24])).err().unwrap();
        let text = error.to_string();
        assert_eq!(
            text,
            "FoldedBands: the matrix is 4x6: opposing diagonals are folded for square ones only"
        );
    });
}

/// The finite-input rule.
#[test]
fn what_is_not_finite_is_refused() {
    on_both(|device| {
        let shape = Shape::new(2, 2);
        let at = |result: texla::Result<()>| match result {
            Err(Error::NonFinite { index, .. }) => index,
            other => panic!("{other:?}"),
        };
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert_eq!(at(ColumnStack::from_rows(device, shape, &[1.0, 2.0, bad, 4.0]).map(drop)), 2);
            let values = [1.0, f64::from(bad), 3.0, 4.0];
            assert_eq!(at(ColumnStack::from_f64(device, shape, &values).map(drop)), 1);
            let a = systems::entries(2, 2, [(0, 0, 1.0), (1, 0, f64::from(bad))]);
            assert_eq!(at(FoldedBands::from_csr(device, a.clone()).map(drop)), 1);
            assert_eq!(at(texla::Matrix::from_csr(device, &a).map(drop)), 1);
            let mut folded = FoldedBands::from_csr(device, full(2, 2, &[1., 2., 3., 4.])).unwrap();
            assert_eq!(at(folded.set_values(&[1.0, 2.0, 3.0, f64::from(bad)])), 3);
            assert_eq!(folded.to_matrix().unwrap().read().unwrap(), [1., 2., 3., 4.], "it is unchanged");
        }
        assert_eq!(at(ColumnStack::from_f64(device, shape, &[1.0, 2.0, 3.0, 1e39]).map(drop)), 3);
        let short = ColumnStack::from_rows(device, shape, &[1.0]).map(drop);
        assert!(matches!(short, Err(Error::LengthMismatch { found: 1, expected: 4, .. })));
    });
}
