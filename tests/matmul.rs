//! Dense products: every form and schedule against the f64 twin within the product bound, in one texture and in
//! several, and with fewer draw buffers and no blending.

mod common;

use common::bounds::{assert_componentwise, assert_within, gamma, product_bounds};
use common::harness::{
    assert_matrix_padded, assert_padded, block_schedules, headless, limits, on_both, on_both_with,
};
use common::random::{uniform, wide_range};
use common::reference::{self, abs, dense_matvec, widen};
use texla::gl::{Api, Limits};
use texla::ops::{self, Accurate, Combine, MatmulForm, MatmulSchedule, Reason};
use texla::{Device, Error, Matrix, Shape, Vector};

const FORMS: [MatmulForm; 3] = [MatmulForm::Plain, MatmulForm::TransposedA, MatmulForm::TransposedB];

/// (rows of C, inner dimension, columns of C): the figures' sizes, not square, the inner dimension no multiple of four,
/// past a tile of the small device in each direction.
const SIZES: [(usize, usize, usize); 22] = [
    (0, 0, 0),
    (0, 3, 2),
    (3, 0, 2),
    (2, 3, 0),
    (1, 1, 1),
    (2, 2, 2),
    (3, 3, 3),
    (5, 5, 5),
    (9, 9, 9),
    (1, 9, 5),
    (9, 5, 1),
    (7, 1, 6),
    (14, 30, 12),
    (50, 50, 50),
    (13, 127, 3),
    (127, 127, 127),
    (4, 64, 64),
    (65, 66, 67),
    (257, 5, 9),
    (9, 257, 70),
    (130, 300, 1),
    (300, 70, 129),
];

/// One schedule of each kind that the device has.
fn kinds(dev: &Device) -> Vec<MatmulSchedule> {
    let mut all =
        vec![MatmulSchedule::Auto, MatmulSchedule::Passes { multiply_adds: 3 }, MatmulSchedule::OnePass];
    all.extend(block_schedules(dev));
    all
}

fn schedules(device: &Device) -> Vec<MatmulSchedule> {
    let more = [
        MatmulSchedule::Passes { multiply_adds: 1 },
        MatmulSchedule::PAPER,
        MatmulSchedule::PAPER_TRANSPOSED,
        MatmulSchedule::MatrixVector,
        MatmulSchedule::Outer,
    ];
    kinds(device).into_iter().chain(more).collect()
}

/// Whether a schedule is for products of this shape.
fn is_for(schedule: MatmulSchedule, form: MatmulForm, inner: usize, cols: usize) -> bool {
    match schedule {
        MatmulSchedule::MatrixVector => cols == 1 && form != MatmulForm::TransposedB,
        MatmulSchedule::Outer => inner == 1,
        _ => true,
    }
}

fn check(dev: &Device, sizes: &[(usize, usize, usize)], schedules: &[MatmulSchedule]) {
    for &(n, q, m) in sizes {
        let (a, b) = (wide_range(1, n * q, 8), wide_range(2, q * m, 8));
        let (a64, b64) = (widen(&a), widen(&b));
        let want = reference::matmul(&a64, &b64, n, q, m);
        let magnitudes = reference::matmul(&abs(&a64), &abs(&b64), n, q, m);
        let bounds = product_bounds(&magnitudes, vec![q; n * m]);
        let plain = [(Shape::new(n, q), &a), (Shape::new(q, m), &b)]
            .map(|(shape, values)| Matrix::from_rows(dev, shape, values).unwrap());
        let transposed = plain.each_ref().map(|m| m.transposed().unwrap());
        for form in FORMS {
            let (a, b) = match form {
                MatmulForm::Plain => (&plain[0], &plain[1]),
                MatmulForm::TransposedA => (&transposed[0], &plain[1]),
                MatmulForm::TransposedB => (&plain[0], &transposed[1]),
            };
            for &schedule in schedules {
                let what = format!("{schedule:?} {form:?} {n}x{q}x{m}");
                let mut c = Matrix::filled(dev, Shape::new(n, m), 7.0).unwrap();
                let before = dev.counters();
                let done = ops::matmul_with(&mut c, form, a, b, schedule);
                if !is_for(schedule, form, q, m) {
                    let e = done.unwrap_err();
                    assert!(matches!(e, Error::Unsupported { .. }), "{what}: {e}");
                    continue;
                }
                let report = done.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(dev.counters().since(&before).readbacks, 0, "{what}");
                assert_eq!(report.draws, dev.counters().since(&before).draws, "{what}");
                assert_ne!(report.schedule, MatmulSchedule::Auto);
                let asked = schedule != MatmulSchedule::Auto;
                assert_eq!(report.reason == Reason::Asked, asked, "{what}: {report:?}");
                assert_componentwise(&what, &c.read().unwrap(), &want, &bounds);
                assert_matrix_padded(&c, &what);
            }
        }
    }
}

#[test]
fn every_schedule_computes_the_product() {
    on_both(|dev| check(dev, &SIZES, &schedules(dev)));
}

#[test]
fn past_the_texture_size_too() {
    let of_side = |side| limits().with_max_texture_size(Some(side));
    on_both_with(of_side(64), |dev| check(dev, &SIZES[15..], &kinds(dev)));
    // A side that is no multiple of four, and one that is hardly a texture.
    on_both_with(of_side(61), |dev| check(dev, &SIZES[20..21], &kinds(dev)));
    on_both_with(of_side(5), |dev| check(dev, &SIZES[8..10], &kinds(dev)));
}

#[test]
fn without_blending_and_with_few_draw_buffers() {
    for max_draw_buffers in [Some(4), None] {
        let max_texture_size = Some(64);
        let limits = Limits::default()
            .without_float_blend(true)
            .with_max_texture_size(max_texture_size)
            .with_max_draw_buffers(max_draw_buffers);
        on_both_with(limits, |dev| check(dev, &SIZES[19..21], &kinds(dev)));
    }
}

/// With `B` in a uniform buffer, an inner dimension longer than a block has room for.
#[test]
fn past_one_uniform_block() {
    on_both(|dev| {
        let uniform: Vec<_> =
            block_schedules(dev).into_iter().filter(|s| *s == MatmulSchedule::Uniform).collect();
        let caps = dev.capabilities();
        assert_eq!(uniform.is_empty(), caps.max_draw_buffers < 8, "{caps:?}");
        let room = caps.max_block_vec4s.min(caps.max_texture_size) as usize / 2;
        check(dev, &[(13, room, 9), (150, room + 1, 61), (3, 2 * room + 6, 5)], &uniform);
    });
}

/// Sizes for which the default schedule is a blocked one, and the figures' largest.
#[test]
fn large_products_in_blocks() {
    on_both(|dev| {
        let largest = dev.capabilities().max_draw_buffers;
        for (n, q, m) in [(1000, 1000, 1000), (127, 1009, 130), (1003, 257, 515)] {
            let (a, b) = (uniform(1, n * q), uniform(2, q * m));
            let (a64, b64) = (widen(&a), widen(&b));
            let [a, b] = [(Shape::new(n, q), &a), (Shape::new(q, m), &b)]
                .map(|(shape, values)| Matrix::from_rows(dev, shape, values).unwrap());
            let mut c = Matrix::zeros(dev, Shape::new(n, m)).unwrap();
            let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &b, MatmulSchedule::Auto).unwrap();
            if largest >= 4 {
                let buffers = if largest >= 8 { 8 } else { 4 };
                let caps = dev.capabilities();
                assert!(caps.exact_derivatives || caps.renderer.contains("softpipe"), "{caps:?}");
                let expected = match caps.exact_derivatives {
                    true => MatmulSchedule::Split { buffers },
                    false => MatmulSchedule::Blocked { buffers },
                };
                assert_eq!((report.schedule, report.reason), (expected, Reason::Rule));
            }
            let got = c.read().unwrap();
            // All rows would take the twin long: some of them, edges included.
            for i in [0, 1, n / 2, n - 2, n - 1] {
                let row = &a64[i * q..(i + 1) * q];
                let want = reference::matmul(row, &b64, 1, q, m);
                let magnitudes = reference::matmul(&abs(row), &abs(&b64), 1, q, m);
                let bounds = product_bounds(&magnitudes, vec![q; m]);
                assert_componentwise("a row of the product", &got[i * m..(i + 1) * m], &want, &bounds);
            }
            assert_matrix_padded(&c, "blocked");
        }
    });
}

/// The result of a computation is symmetric where mathematics says so, to the last bit.
#[test]
fn a_product_with_its_own_transpose_is_symmetric() {
    on_both(|dev| {
        let a = Matrix::from_rows(dev, Shape::new(150, 61), &uniform(3, 150 * 61)).unwrap();
        for schedule in schedules(dev) {
            let mut c = Matrix::zeros(dev, Shape::new(150, 150)).unwrap();
            if ops::matmul_with(&mut c, MatmulForm::TransposedB, &a, &a, schedule).is_ok() {
                assert_eq!(c.read().unwrap(), c.transposed().unwrap().read().unwrap(), "{schedule:?}");
            }
        }
    });
}

#[test]
fn what_does_not_fit_is_named() {
    on_both(|dev| {
        let of = |rows, cols| Matrix::filled(dev, Shape::new(rows, cols), 1.0).unwrap();
        let (a, b, mut c) = (of(2, 3), of(3, 4), of(2, 4));
        let before = dev.counters().draws;
        let e = ops::matmul(&mut c, &a, &of(4, 4)).unwrap_err();
        assert_eq!(e.to_string(), "matmul: operand `b` is 4x4, expected 3x4");
        let e = ops::matmul_at(&mut c, &a, &b).unwrap_err();
        assert_eq!(e.to_string(), "matmul_at: operand `b` is 3x4, expected 2x4");
        let e = ops::matmul_bt(&mut c, &a, &b).unwrap_err();
        assert_eq!(e.to_string(), "matmul_bt: operand `b` is 3x4, expected 3x3");
        let e = ops::matmul(&mut of(4, 2), &a, &b).unwrap_err();
        assert_eq!(e.to_string(), "matmul: operand `c` is 4x2, expected 2x4");
        for schedule in [MatmulSchedule::Passes { multiply_adds: 0 }, MatmulSchedule::Blocked { buffers: 3 }]
        {
            let e = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &b, schedule).unwrap_err();
            assert!(matches!(e, Error::Parameter { .. }), "{e}");
        }
        assert_eq!(dev.counters().draws, before + 2, "only the two that were made");
        let other = headless(Api::Gl33);
        let there = Matrix::filled(other.device(), Shape::new(3, 4), 1.0).unwrap();
        let e = ops::matmul(&mut c, &a, &there).unwrap_err();
        assert_eq!(e, Error::WrongDevice { op: "matmul".into(), operand: "b".into() });
    });
}

const COMBINES: usize = 6;

/// (the operation, what it does to the product's element and z's)
fn combine<'a>(k: usize, z: &'a Vector) -> (Combine<'a>, fn(f64, f64) -> f64) {
    match k {
        0 => (Combine::Replace, |p, _| p),
        1 => (Combine::Accumulate, |p, z| z + p),
        2 => (Combine::AddTo(z), |p, z| z + p),
        3 => (Combine::SubtractFrom(z), |p, z| z - p),
        4 => (Combine::Subtract(z), |p, z| p - z),
        _ => (Combine::Multiply(z), |p, z| p * z),
    }
}

fn check_vectors(dev: &Device, sizes: &[(usize, usize)]) {
    for &(n, m) in sizes {
        let values = wide_range(1, n * m, 8);
        let a = Matrix::from_rows(dev, Shape::new(n, m), &values).unwrap();
        let a64 = widen(&values);
        let t64 = reference::transpose(&a64, n, m);
        for transposed in [false, true] {
            let (rows, cols, a64) = if transposed { (m, n, &t64) } else { (n, m, &a64) };
            let (x, z) = (wide_range(2, cols, 8), wide_range(3, rows, 8));
            let (x64, z64) = (widen(&x), widen(&z));
            let alpha = -0.723_456_7f32;
            let scaled = reference::scale(alpha.into(), &dense_matvec(a64, rows, cols, &x64));
            let size =
                reference::scale(f64::from(alpha).abs(), &dense_matvec(&abs(a64), rows, cols, &abs(&x64)));
            let [x, z] = [&x, &z].map(|v| Vector::from_slice(dev, v).unwrap());
            for k in 0..COMBINES {
                let mut y = Vector::zeros(dev, rows).unwrap();
                ops::copy(&mut y, &z).unwrap();
                let (combine, means) = combine(k, &z);
                let before = dev.counters();
                if transposed {
                    ops::product_transposed(&mut y, combine, alpha, &a, &x).unwrap();
                } else {
                    ops::product(&mut y, combine, alpha, &a, &x).unwrap();
                }
                assert_eq!(dev.counters().since(&before).readbacks, 0);
                let want = reference::map2(&scaled, &z64, means);
                // The other vector is one more term, or one more factor.
                let size = reference::map2(&size, &abs(&z64), |s, z| match k {
                    0 => s,
                    5 => s * z,
                    _ => s + z,
                });
                let what = format!("{n}x{m}, transposed: {transposed}, combine {k}");
                let bounds = product_bounds(&size, vec![cols + 1; rows]);
                assert_componentwise(&what, &y.read().unwrap(), &want, &bounds);
                assert_padded(&y, &what);
            }
            // In double-float: one rounding, and next to nothing beside it.
            let (alpha, beta) = (-0.5f32, 2.0f32);
            let terms = |plus| Accurate { transposed, alpha, x: &x, plus };
            let product = reference::scale(alpha.into(), &dense_matvec(a64, rows, cols, &x64));
            let size = reference::scale(0.5, &dense_matvec(&abs(a64), rows, cols, &abs(&x64)));
            for plus in [false, true] {
                let mut y = Vector::zeros(dev, rows).unwrap();
                ops::product_accurate(&mut y, &a, terms(plus.then_some((beta, &z)))).unwrap();
                let added = reference::scale(if plus { beta.into() } else { 0.0 }, &z64);
                let want = reference::add(&product, &added);
                let bounds: Vec<_> = (0..rows)
                    .map(|i| {
                        let tiny = (size[i] + added[i].abs()) * (cols as f64 + 4.0) * 2f64.powi(-45);
                        gamma(1) * want[i].abs() + tiny + (cols as f64 + 2.0) * 2f64.powi(-120)
                    })
                    .collect();
                let what = format!("accurate {n}x{m}, transposed: {transposed}, plus: {plus}");
                assert_componentwise(&what, &y.read().unwrap(), &want, &bounds);
                assert_padded(&y, &what);
            }
        }
    }
}

const VECTOR_SIZES: [(usize, usize); 16] = [
    (0, 0),
    (0, 5),
    (5, 0),
    (1, 1),
    (2, 3),
    (3, 2),
    (5, 9),
    (50, 50),
    (127, 9),
    (9, 127),
    (1, 700),
    (700, 1),
    (257, 65),
    (65, 257),
    (300, 301),
    (1000, 1000),
];

#[test]
fn matrix_times_vector() {
    on_both(|dev| check_vectors(dev, &VECTOR_SIZES));
}

#[test]
fn matrix_times_vector_past_the_texture_size() {
    on_both_with(limits().with_max_texture_size(Some(64)), |dev| check_vectors(dev, &VECTOR_SIZES[..15]));
    on_both_with(limits().with_max_texture_size(Some(20)), |dev| check_vectors(dev, &VECTOR_SIZES[7..12]));
}

#[test]
fn outer_products() {
    let test = |dev: &Device| {
        for (n, m) in [(0, 0), (1, 1), (2, 3), (5, 1), (1, 5), (9, 50), (127, 127), (300, 70)] {
            let (x, y) = (uniform(1, n), uniform(2, m));
            let alpha = 1.7f32;
            let want: Vec<_> = x
                .iter()
                .flat_map(|a| y.iter().map(move |b| f64::from(alpha) * f64::from(*a) * f64::from(*b)))
                .collect();
            let bounds: Vec<_> = want.iter().map(|w| gamma(2) * w.abs()).collect();
            let [x, y] = [&x, &y].map(|v| Vector::from_slice(dev, v).unwrap());
            let mut c = Matrix::filled(dev, Shape::new(n, m), 7.0).unwrap();
            ops::outer(&mut c, alpha, &x, &y).unwrap();
            assert_componentwise("outer", &c.read().unwrap(), &want, &bounds);
            assert_matrix_padded(&c, "outer");
        }
        let (x, mut c) = (Vector::zeros(dev, 3).unwrap(), Matrix::zeros(dev, Shape::new(3, 2)).unwrap());
        assert!(matches!(ops::outer(&mut c, 1.0, &x, &x), Err(Error::ShapeMismatch { operand: "y", .. })));
        assert!(matches!(ops::outer(&mut c, f32::NAN, &x, &x), Err(Error::ShapeMismatch { .. })));
    };
    on_both(test);
    on_both_with(limits().with_max_texture_size(Some(64)), test);
}

#[test]
fn norms_and_traces() {
    let test = |dev: &Device| {
        for (n, m) in VECTOR_SIZES {
            let values = uniform(4, n * m);
            let a = Matrix::from_rows(dev, Shape::new(n, m), &values).unwrap();
            let a64 = abs(&widen(&values));
            let largest = |sums: Vec<f64>| reference::max_abs(&sums);
            let row_sums = largest(dense_matvec(&a64, n, m, &vec![1.0; m]));
            let col_sums = largest(dense_matvec(&reference::transpose(&a64, n, m), m, n, &vec![1.0; n]));
            let inf = ops::norm_inf(&a).unwrap().read().unwrap();
            assert_within("norm_inf", inf, row_sums, gamma(m + 2) * row_sums);
            let one = ops::norm1(&a).unwrap().read().unwrap();
            assert_within("norm1", one, col_sums, gamma(n + 2) * col_sums);
            let diagonal: Vec<f64> = (0..n.min(m)).map(|k| f64::from(values[k * m + k])).collect();
            let magnitude = reference::abs_sum(&diagonal);
            let trace = ops::trace(&a).unwrap().read().unwrap();
            assert_within("trace", trace, reference::sum(&diagonal), gamma(n.min(m) + 2) * magnitude);
        }
    };
    on_both(test);
    on_both_with(limits().with_max_texture_size(Some(80)), |dev| {
        let a = Matrix::filled(dev, Shape::new(500, 200), -1.0).unwrap();
        assert_eq!(ops::norm_inf(&a).unwrap().read().unwrap(), 200.0);
        assert_eq!(ops::norm1(&a).unwrap().read().unwrap(), 500.0);
        assert_eq!(ops::trace(&a).unwrap().read().unwrap(), -200.0);
    });
}
