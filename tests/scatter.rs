//! Scatter: points that add, or keep the larger or the smaller, into targets of every kind, and histograms.

mod common;

use common::bounds::{TINY, assert_componentwise, gamma};
use common::data::say;
use common::harness::{assert_padded, fitting, headless, limits, on_both, on_both_with};
use common::histogram as twin;
use common::random::{Rng, uniform, wide_range};
use common::reference::widen;
use texla::gl::Api;
use texla::kernel::{Accum, NoParams, Points, PointsKernel, TargetOperand};
use texla::ops::{self, Histogram, OutOfRange};
use texla::{Device, Error, Layout, Packed, Plane, Scalar, Shape, Vector};

const RULES: [OutOfRange; 3] = [OutOfRange::Clamp, OutOfRange::Drop, OutOfRange::Apart];

/// Numbers around 0..10, some far outside.
fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut value = |i: usize| match i % 7 {
        0 => rng.below(13) as f32 - 1.0, // edges of bins, and both ends
        1 => rng.signed() * 1e3,
        _ => 5.0 + 6.0 * rng.signed(),
    };
    (0..n).map(&mut value).collect()
}

// --- histograms ---

/// Device and host results of one histogram against the loop.
fn check_counts(histogram: &Histogram, x: &Vector, want: &[u64], what: &str) {
    assert_eq!(histogram.counts(x).unwrap(), want, "{what}");
    let mut out = Vector::filled(x.device(), histogram.len(), 7.0).unwrap();
    histogram.count(&mut out, x).unwrap();
    assert_eq!(out.read().unwrap().iter().map(|v| *v as u64).collect::<Vec<_>>(), want, "{what}");
    assert_padded(&out, what);
}

#[test]
fn counts_are_those_of_the_loop() {
    on_both(|dev| {
        let vectors = [0, 1, 2, 5, 63, 1009, fitting(dev, 20_011)].map(|n| {
            let values = numbers(n as u64, n);
            (Vector::from_slice(dev, &values).unwrap(), values)
        });
        for bins in [1, 2, 3, 4, 5, 10, 101, 1000] {
            for (min, max) in [(0.0, 10.0), (-3.3, 7.1), (4.999, 5.001), (-1e30, 1e30)] {
                let mut histogram = Histogram::equal_width(dev, min, max, bins).unwrap();
                for rule in RULES {
                    histogram = histogram.out_of_range(rule);
                    assert_eq!((histogram.bins(), histogram.len()), (bins, twin::len(bins, rule)));
                    for (x, values) in &vectors {
                        let positions = values.iter().map(|v| twin::equal_width(*v, min, max, bins));
                        let want = twin::counts(positions, bins, rule);
                        let what = format!("{} in {bins} bins of {min}..{max}, {rule:?}", values.len());
                        check_counts(&histogram, x, &want, &what);
                        if rule != OutOfRange::Drop {
                            assert_eq!(want.iter().sum::<u64>(), values.len() as u64, "{what}");
                        }
                    }
                }
            }
        }
        assert_eq!(ops::histogram(&vectors[5].0, 0.0, 10.0, 4).unwrap().iter().sum::<u64>(), 1009);
    });
}

/// Sums of weights: bit for bit those of the loop where blending is known to run in order, and within the reduction
/// bound anywhere.
#[test]
fn weights_are_summed_in_order() {
    on_both(|dev| {
        let n = fitting(dev, 20_011);
        let (values, weights) = (numbers(3, n), wide_range(4, n, 20));
        let [x, w] = [&values, &weights].map(|v| Vector::from_slice(dev, v).unwrap());
        let magnitudes: Vec<_> = weights.iter().map(|w| w.abs()).collect();
        for (bins, rule) in [(1, RULES[0]), (10, RULES[1]), (10, RULES[2]), (997, RULES[0])] {
            let histogram = Histogram::equal_width(dev, 0.0, 10.0, bins).unwrap().out_of_range(rule);
            let mut out = Vector::filled(dev, histogram.len(), 7.0).unwrap();
            let what = format!("{bins} bins, {rule:?}");
            let positions: Vec<_> = values.iter().map(|v| twin::equal_width(*v, 0.0, 10.0, bins)).collect();
            let want = twin::sums(&positions, &weights, bins, rule);
            for _ in 0..3 {
                histogram.sum(&mut out, &x, &w).unwrap();
                let got = out.read().unwrap();
                if dev.capabilities().software {
                    let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&got), bits(&want), "{what}");
                }
                // The loop's own roundings once more.
                let sizes = widen(&twin::sums(&positions, &magnitudes, bins, rule));
                let bound: Vec<_> = sizes.iter().map(|s| 2.0 * gamma(n) * s + n as f64 * TINY).collect();
                assert_componentwise(&what, &got, &widen(&want), &bound);
            }
            assert_padded(&out, &what);
        }
    });
}

/// Functions of one's own: unequal bins, steps, and values that no integer holds.
#[test]
fn bin_functions_may_give_anything() {
    on_both(|dev| {
        let values = [-3e38, -1.5, -1.0, -0.25, 0.0, 0.25, 1.0, 1.5, 2.0, 2.75, 3.0, 3e38];
        let x = Vector::from_slice(dev, &values).unwrap();
        let nan = "uintBitsToFloat(0x7fc00000u + uint(abs(x) * 1e-38))";
        type Twin = fn(f32) -> f32;
        let functions: [(&str, Twin); 6] = [
            ("x * x", |x| x * x),
            ("x < 1.0 ? 0.0 : 2.0", |x| if x < 1.0 { 0.0 } else { 2.0 }),
            ("x * 1e30", |x| x * 1e30),
            ("x * abs(x)", |x| x * x.abs()),
            ("-x - 1e-30", |x| -x - 1e-30),
            (nan, |_| f32::NAN),
        ];
        for (text, function) in functions {
            let body = format!("float bin(float x) {{\n    return {text};\n}}\n");
            let mut histogram = Histogram::new(dev, 3, &body).unwrap();
            for rule in RULES {
                histogram = histogram.out_of_range(rule);
                check_counts(&histogram, &x, &twin::counts(values.map(function), 3, rule), text);
            }
        }
        // With weights, functions and includes of one's own.
        let body = "#include \"include/prelude.glsl\"\n\
                    float half_of(float v) { return 0.5 * v; }\nfloat bin(float x) { return half_of(x); }";
        let histogram = Histogram::new(dev, 2, body).unwrap();
        let mut out = Vector::zeros(dev, 2).unwrap();
        histogram.sum(&mut out, &x, &Vector::filled(dev, 12, 0.5).unwrap()).unwrap();
        assert_eq!(out.read().unwrap(), [4.0, 2.0]);
    });
}

/// Ends of the range: huge numbers, a range of all floats, and one number that is the upper end.
#[test]
fn ranges_end_where_they_say() {
    on_both(|dev| {
        let values = [f32::MIN, -1.0, 0.0, 1.0, 2.0, f32::MAX];
        let x = Vector::from_slice(dev, &values).unwrap();
        for (min, max) in [(-1.0, 1.0), (f32::MIN, f32::MAX), (0.0, f32::MAX), (-1.0, -1.0 + f32::EPSILON)] {
            for rule in RULES {
                let positions = values.map(|v| twin::equal_width(v, min, max, 1000));
                let histogram = Histogram::equal_width(dev, min, max, 1000).unwrap().out_of_range(rule);
                check_counts(
                    &histogram,
                    &x,
                    &twin::counts(positions, 1000, rule),
                    &format!("{min:e}..{max:e}"),
                );
            }
        }
        let one = Vector::from_slice(dev, &[1.0]).unwrap();
        let histogram = Histogram::equal_width(dev, 0.0, 1.0, 4).unwrap();
        check_counts(&histogram, &one, &[0, 0, 0, 1], "the upper end, clamped");
        check_counts(&histogram.out_of_range(OutOfRange::Apart), &one, &[0, 0, 0, 0, 0, 1], "apart");
    });
}

/// Ten million points: all bins exact. Smaller on lesser devices, whose vectors end before.
#[test]
fn ten_million_points_are_counted_exactly() {
    on_both(|dev| {
        let whole = limits().max_texture_size.is_none();
        let n = fitting(dev, if whole { 10_000_000 } else { 300_000 });
        if n < 10_000_000 {
            say(&format!("scatter: {n} points in place of 10000000 on this device"));
        }
        let mut rng = Rng::new(9);
        let values: Vec<f32> = (0..n).map(|_| rng.signed() + rng.signed()).collect();
        let x = Vector::from_slice(dev, &values).unwrap();
        let positions = values.iter().map(|v| twin::equal_width(*v, -2.0, 2.0, 256));
        let want = twin::counts(positions, 256, OutOfRange::Clamp);
        let before = dev.counters();
        assert_eq!(ops::histogram(&x, -2.0, 2.0, 256).unwrap(), want);
        assert_eq!(dev.counters().since(&before).readbacks, 1);
    });
}

/// Past 2^24, where a float no longer counts by ones: refused on the device, right on the host.
#[test]
fn past_two_to_the_24() {
    let n = (1 << 24) + 5;
    if limits().max_texture_size.is_some() {
        say("scatter: no vector of 2^24 elements on this device");
        return;
    }
    let context = headless(Api::Gl33);
    let dev = context.device();
    let x = Vector::filled(dev, n, 1.5).unwrap();
    let histogram = Histogram::equal_width(dev, 0.0, 3.0, 3).unwrap();
    assert_eq!(histogram.counts(&x).unwrap(), [0, n as u64, 0]);
    let mut out = Vector::filled(dev, 3, 7.0).unwrap();
    let e = histogram.count(&mut out, &x).unwrap_err();
    assert!(matches!(e, Error::Parameter { name: "x.len()", .. }), "{e}");
    assert_eq!(out.read().unwrap(), [7.0; 3], "nothing was drawn");
}

#[test]
fn a_function_that_does_not_compile_is_named_by_its_line() {
    on_both(|dev| {
        let error = |body: &str| Histogram::new(dev, 3, body).expect_err(body);
        let e = error("float bin(float x) {\n    float y = x;\n    return y * z;\n}\n");
        assert!(matches!(&e, Error::Shader { log, .. } if log.contains("bin:3")), "{e}");
        assert!(matches!(error("float bin(float x) { return x"), Error::Shader { .. }));
        for none in ["float position(float x) { return x; }", "float bin(vec2 x) { return x.x; }", ""] {
            let e = error(none);
            assert!(
                matches!(&e, Error::Interface { detail, .. } if detail.contains("`float bin(float x)`")),
                "{e}"
            );
        }
        let own = "uniform float scale; float bin(float x) { return x * scale; }";
        assert!(matches!(error(own), Error::Interface { .. }));
        let e = error("float bin(float x) {\n#include \"no/such.glsl\"\nreturn x; }");
        assert!(matches!(e, Error::Include { line: 2, .. }), "{e}");
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    on_both(|dev| {
        for (min, max) in [(1.0, 1.0), (2.0, 1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (0.0, 1e-42)] {
            let e = Histogram::equal_width(dev, min, max, 8).err().unwrap();
            assert!(matches!(e, Error::Parameter { op: "Histogram::equal_width", .. }), "{min} {max}: {e}");
        }
        for bins in [0, (1 << 24) + 1] {
            let e = Histogram::equal_width(dev, 0.0, 1.0, bins).err().unwrap();
            assert!(matches!(e, Error::Parameter { name: "bins", .. }), "{e}");
        }
        let x = Vector::filled(dev, 9, 1.0).unwrap();
        let histogram = Histogram::equal_width(dev, 0.0, 1.0, 8).unwrap();
        let mut out = Vector::filled(dev, 7, 5.0).unwrap();
        let shape = |e: Error, operand: &str| {
            assert!(matches!(&e, Error::ShapeMismatch { operand: o, .. } if *o == operand), "{e}");
        };
        shape(histogram.count(&mut out, &x).unwrap_err(), "out");
        shape(histogram.sum(&mut out, &x, &x).unwrap_err(), "out");
        assert_eq!(out.read().unwrap(), [5.0; 7]);
        let mut out = Vector::filled(dev, 8, 5.0).unwrap();
        shape(histogram.sum(&mut out, &x, &Vector::filled(dev, 8, 1.0).unwrap()).unwrap_err(), "weights");
        assert_eq!(out.read().unwrap(), [5.0; 8]);
    });
    let small = limits().with_max_texture_size(Some(64));
    on_both_with(small, |dev| {
        let x = Vector::filled(dev, 9, 0.5).unwrap();
        let e = ops::histogram(&x, 0.0, 1.0, 64 * 64 * 4 + 1).unwrap_err();
        assert!(matches!(e, Error::TooLarge { .. }), "{e}");
        let counts = ops::histogram(&x, 0.0, 1.0, 64 * 64 * 4).unwrap();
        assert_eq!((counts[64 * 64 * 2], counts.iter().sum::<u64>()), (9, 9));
    });
}

#[test]
fn operands_of_another_device_are_named() {
    let [one, other] = [Api::Gl33, Api::Es30].map(headless);
    let histogram = Histogram::equal_width(one.device(), 0.0, 1.0, 4).unwrap();
    let near = Vector::filled(one.device(), 4, 0.5).unwrap();
    let mut out = Vector::zeros(one.device(), 4).unwrap();
    let far = Vector::filled(other.device(), 4, 0.5).unwrap();
    for (e, name) in [
        (histogram.count(&mut out, &far), "x"),
        (histogram.sum(&mut out, &near, &far), "weights"),
        (histogram.counts(&far).map(drop), "x"),
    ] {
        assert!(matches!(&e, Err(Error::WrongDevice { operand, .. }) if operand == name), "{e:?}");
    }
}

// --- points into any target ---

/// Where points fall, and with what: many on one texel, some outside.
fn points(seed: u64, count: usize, width: u32, height: u32) -> Vec<([f32; 4], [f32; 4])> {
    let mut rng = Rng::new(seed);
    let mut place = |side: u32| rng.below(side as usize + 2) as f32 - 1.0;
    let places: Vec<_> = (0..count).map(|_| [place(width), place(height), 0.0, 0.0]).collect();
    let values = uniform(seed + 1, 4 * count);
    places.into_iter().zip(values.chunks(4).map(|v| [v[0], v[1], v[2], v[3]])).collect()
}

const PLACED: &str = "void point(int i, out ivec2 texel, out vec4 value) {
    texel = ivec2(attribute0.xy);
    value = attribute1;
}";

/// Scatters into `target`, whose texels are `before`, and gives what the loop makes of the same.
fn scattered<T: TargetOperand>(
    dev: &Device,
    target: &mut T,
    before: &[f32],
    [width, height, channels]: [usize; 3],
    accum: Accum,
) -> Vec<f32> {
    let kernel = PointsKernel::<NoParams>::new(dev, "placed", [], 2, PLACED).unwrap();
    let (places, values): (Vec<_>, Vec<_>) = points(8, 3000, width as u32, height as u32).into_iter().unzip();
    let vertices = Points::new(dev, &[&places, &values]).unwrap();
    kernel.with([], &vertices, &NoParams).accumulate(accum).run(target).unwrap();
    let mut want = before.to_vec();
    for (place, value) in places.iter().zip(&values) {
        let inside = (0.0..width as f32).contains(&place[0]) && (0.0..height as f32).contains(&place[1]);
        if inside {
            let texel = channels * (place[1] as usize * width + place[0] as usize);
            for (old, new) in want[texel..texel + channels].iter_mut().zip(value) {
                *old = match accum {
                    Accum::Replace => *new,
                    Accum::Add => *old + new,
                    Accum::Max => old.max(*new),
                    Accum::Min => old.min(*new),
                };
            }
        }
    }
    want
}

/// Equal bits; for sums on devices whose order nobody vouches for, within the bound.
fn check(dev: &Device, got: &[f32], want: &[f32], accum: Accum, what: &str) {
    if accum == Accum::Add && !dev.capabilities().software {
        // At most 3000 terms of magnitude 1 and what was there.
        let bound = vec![2.0 * gamma(3001) * 3001.0; want.len()];
        assert_componentwise(what, got, &widen(want), &bound);
    } else {
        assert_eq!(got, want, "{what} by {accum:?}");
    }
}

#[test]
fn points_meet_targets_of_every_kind() {
    on_both(|dev| {
        for accum in [Accum::Replace, Accum::Add, Accum::Max, Accum::Min] {
            for n in [1, 4, 60, 64, 1009] {
                let before = uniform(5, n);
                let mut target = Vector::from_slice(dev, &before).unwrap();
                let (extent, texels) = (target.extent(), target.read_texels().unwrap());
                let sides = [extent.width as usize, extent.height as usize, 4];
                let mut want = scattered(dev, &mut target, &texels, sides, accum);
                want.truncate(n);
                check(dev, &target.read().unwrap(), &want, accum, &format!("a vector of {n}"));
                assert_padded(&target, "scatter");
            }
            let before = uniform(6, 35);
            let mut plane = Plane::from_rows(dev, 7, 5, &before).unwrap();
            let want = scattered(dev, &mut plane, &before, [7, 5, 1], accum);
            check(dev, &plane.read().unwrap(), &want, accum, "a plane");
            let mut scalar = Scalar::new(dev, 0.25).unwrap();
            let want = scattered(dev, &mut scalar, &[0.25, 0.0, 0.0, 0.0], [1, 1, 4], accum);
            check(dev, &[scalar.read().unwrap()], &want[..1], accum, "a scalar");
            let mut matrix = texla::Matrix::from_rows(dev, Shape::new(8, 5), &uniform(7, 40)).unwrap();
            let texels = matrix.read_texels().unwrap().concat();
            let want = scattered(dev, &mut matrix, &texels, [5, 2, 4], accum);
            check(dev, &matrix.read_texels().unwrap().concat(), &want, accum, "a matrix");
            let mut packed =
                Packed::from_rows(dev, Shape::new(6, 10), Layout::Block2x2, &uniform(9, 60)).unwrap();
            let texels = packed.read_texels().unwrap();
            let want = scattered(dev, &mut packed, &texels, [5, 3, 4], accum);
            check(dev, &packed.read_texels().unwrap(), &want, accum, "a packed array");
        }
    });
}

/// GL promises 16 attributes. One more is refused before GL can raise an error that the next call would take for the
/// application's.
#[test]
fn more_attributes_than_the_device_has_are_refused() {
    on_both(|dev| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = LAST; }";
        let kernel = |inputs: [&str; 0], n: usize| {
            let body = body.replace("LAST", &format!("attribute{}", n - 1));
            PointsKernel::<NoParams>::new(dev, "many", inputs, n, &body)
        };
        let array: &[[f32; 4]] = &[[1.0, 2.0, 3.0, 4.0]];
        let mut sum = Vector::zeros(dev, 4).unwrap();
        let sixteen = Points::new(dev, &[array; 16]).unwrap();
        kernel([], 16).unwrap().with([], &sixteen, &NoParams).accumulate(Accum::Add).run(&mut sum).unwrap();
        assert_eq!(sum.read().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        let e = kernel([], 17).err().unwrap();
        assert!(matches!(e, Error::Interface { .. }), "{e}");
        let e = Points::new(dev, &[array; 17]).err().unwrap();
        assert!(matches!(e, Error::TooLarge { requested: 17, limit: 16, .. }), "{e}");
        let named = PointsKernel::<NoParams>::new(
            dev,
            "clash",
            ["attribute0"],
            1,
            &body.replace("LAST", "vec4(1.0)"),
        );
        let e = named.err().unwrap();
        assert!(matches!(&e, Error::Interface { detail, .. } if detail.contains("twice")), "{e}");
        assert_eq!(sum.read().unwrap(), [1.0, 2.0, 3.0, 4.0], "no error is left behind");
    });
}
