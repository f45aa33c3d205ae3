//! A device that cannot blend floats: the same bits from quads, histograms and whatever does not blend, and an error that
//! names what works for points and splats.

mod common;

use common::harness::{assert_padded, fitting, headless_with, limits, on_both_with};
use common::histogram as twin;
use common::random::{Rng, nonzero, wide_range};
use texla::gl::{Api, Limits};
use texla::kernel::{
    Accum, Bodies, Condition, Domain, Kernel, NoParams, Operand, Points, PointsKernel, Predicate,
    SplatKernel, TargetOperand,
};
use texla::ops::{Histogram, OutOfRange};
use texla::shape::Extent;
use texla::{Device, Error, Layout, Matrix, Packed, Picture, Plane, Scalar, Shape, Vector, ops};

fn without_blend() -> Limits {
    limits().without_float_blend(true)
}

/// The bits of everything that layer 4 computes from seeded data, on rows and columns too.
fn results(dev: &Device) -> Vec<(&'static str, Vec<u32>)> {
    let n = fitting(dev, 10_007);
    let x = Vector::from_slice(dev, &wide_range(1, n, 10)).unwrap();
    let y = Vector::from_slice(dev, &nonzero(2, n)).unwrap();
    let mut out = Vector::zeros(dev, n).unwrap();
    let mut all = Vec::new();
    let mut note = |name, values: Vec<f32>| all.push((name, values.iter().map(|v| v.to_bits()).collect()));
    ops::axpby(&mut out, 0.7, &x, -1.3, &y).unwrap();
    note("axpby", out.read().unwrap());
    ops::div(&mut out, &x, &y).unwrap();
    note("div", out.read().unwrap());
    ops::mul_add(&mut out, &x, &y, &x).unwrap();
    note("mul_add", out.read().unwrap());
    for (name, scalar) in [
        ("sum", ops::sum(&x)),
        ("dot", ops::dot(&x, &y)),
        ("norm2", ops::norm2(&x)),
        ("max", ops::max_element(&x)),
        ("nonfinite", ops::nonfinite(&x)),
        ("min", ops::min_element(&x)),
    ] {
        note(name, vec![scalar.unwrap().read().unwrap()]);
    }
    let packed = x.to_packed(Shape::new(n, 1), Layout::Batch4).unwrap();
    note("repack", packed.read().unwrap());

    let body = "vec4 kernel(ivec2 p) { return x(p) + 1.0; }";
    let kernel = Kernel::<NoParams>::new(dev, "increment", ["x"], body).unwrap();
    let extent = out.extent();
    for (name, domain) in [
        ("row", Domain::Row(extent.height / 2)),
        ("column", Domain::Column(extent.width / 2)),
        ("rectangle", Domain::Rect { x: 1, y: 1, width: extent.width - 2, height: extent.height - 2 }),
    ] {
        kernel.with([&x], &NoParams).on(domain).run(&mut out).unwrap();
        note(name, out.read().unwrap());
    }
    all
}

#[test]
fn nothing_but_blending_changes() {
    for api in Api::ALL {
        let [with, without] = [limits(), without_blend()].map(|l| results(headless_with(api, l).device()));
        for ((name, a), (_, b)) in with.iter().zip(&without) {
            assert!(a == b, "{name} on {api}");
        }
    }
}

/// Quads on targets of every kind, in every way: the bits of what each target holds.
fn combined(dev: &Device) -> Vec<(String, Vec<u32>)> {
    let mut all = Vec::new();
    let wave = "vec4 wave(ivec2 p) { return sin(vec4(texel_index(p)) + vec4(0.0, 1.0, 2.0, 3.0)); }\n";
    let body = format!(
        "{wave}vec4 kernel(ivec2 p) {{ if (p.x == 1) discard; return factor * wave(p) + s_value(); }}"
    );
    let one = Kernel::<Factor>::new(dev, "one", ["s"], &body).unwrap();
    let body =
        format!("{wave}void kernel(ivec2 p, out vec4 a, out vec4 b) {{ a = wave(p); b = 0.3 * a.wzyx; }}");
    let two = Kernel::<NoParams>::with_outputs(dev, "two", [], 2, &body).unwrap();
    let scalar = Scalar::new(dev, 0.1).unwrap();
    let factor = Factor { factor: 1.7 };
    for accum in [Accum::Add, Accum::Max, Accum::Min] {
        let mut note = |what: &str, values: Vec<f32>| all.push((format!("{what}, {accum:?}"), bits(&values)));
        for n in [1, 5, 64, 1009] {
            let start = nonzero(n as u64, n);
            let mut x = Vector::from_slice(dev, &start).unwrap();
            let Extent { width, height } = x.extent();
            let low = Vector::from_slice(dev, &start.iter().map(|v| v.min(0.0)).collect::<Vec<_>>()).unwrap();
            let negative = "bool kernel(ivec2 p) { return low(p).x < 0.0; }";
            let negative = Condition::<NoParams>::new(dev, "negative", ["low"], negative).unwrap();
            let mask = negative.mask(&low, [&low], &NoParams).unwrap();
            for domain in [
                Domain::Full,
                Domain::Row(height - 1),
                Domain::Column(width - 1),
                Domain::Rect {
                    x: width / 2,
                    y: height / 2,
                    width: width - width / 2,
                    height: height - height / 2,
                },
                Domain::Rect { x: 0, y: 0, width: 0, height: 0 },
            ] {
                for predicate in [Predicate::Always, Predicate::If(&mask), Predicate::Unless(&mask)] {
                    let call = one.with([&scalar], &factor).on(domain).only(predicate);
                    call.accumulate(accum).run(&mut x).unwrap();
                }
                assert_padded(&x, "a combined pass");
                note(&format!("a vector of {n} on {domain:?}"), x.read().unwrap());
            }
            let mut y = Vector::from_slice(dev, &start).unwrap();
            two.with([], &NoParams).accumulate(accum).run_many([&mut x, &mut y]).unwrap();
            assert_padded(&y, "two targets");
            note(&format!("two vectors of {n}"), [x.read().unwrap(), y.read().unwrap()].concat());
        }
        let run = |target: &mut dyn TargetOperand| {
            one.with([&scalar], &factor).accumulate(accum).run_many([target]).unwrap();
        };
        let mut plane = Plane::from_rows(dev, 7, 5, &nonzero(6, 35)).unwrap();
        run(&mut plane);
        note("a plane", plane.read().unwrap());
        let mut number = Scalar::new(dev, 0.25).unwrap();
        run(&mut number);
        note("a scalar", vec![number.read().unwrap()]);
        let mut matrix = Matrix::from_rows(dev, Shape::new(7, 5), &nonzero(7, 35)).unwrap();
        run(&mut matrix);
        note("a matrix", matrix.read_texels().unwrap().concat());
        let mut packed =
            Packed::from_rows(dev, Shape::new(6, 10), Layout::Block2x2, &nonzero(9, 60)).unwrap();
        run(&mut packed);
        note("a packed array", packed.read().unwrap());
    }
    all
}

texla::params! { struct Factor { factor: f32 } }

#[test]
fn quads_are_combined_to_the_same_bits() {
    for api in Api::ALL {
        let [blended, combined] =
            [limits(), without_blend()].map(|l| combined(headless_with(api, l).device()));
        assert!(blended.len() > 60);
        for ((what, want), (_, got)) in blended.iter().zip(&combined) {
            assert!(got == want, "{what} on {api}");
        }
    }
}

/// A copy of the target and the draw; what only replaces costs what it always does.
#[test]
fn a_combined_quad_costs_a_draw_more_for_each_target() {
    on_both_with(without_blend(), |dev| {
        let body = "void kernel(ivec2 p, out vec4 a, out vec4 b) { a = vec4(1.0); b = vec4(2.0); }";
        let two = Kernel::<NoParams>::with_outputs(dev, "two", [], 2, body).unwrap();
        let [mut x, mut y] = [1.0, 2.0].map(|v| Vector::filled(dev, 5, v).unwrap());
        for (accum, draws) in [(Accum::Replace, 1), (Accum::Add, 3), (Accum::Add, 3)] {
            let before = dev.counters();
            two.with([], &NoParams).accumulate(accum).run_many([&mut x, &mut y]).unwrap();
            assert_eq!(dev.counters().since(&before).draws, draws, "{accum:?}");
        }
        assert_eq!((x.read().unwrap(), y.read().unwrap()), (vec![3.0; 5], vec![6.0; 5]));
        // Every input has a texture unit, and so has the copy.
        let units = dev.capabilities().texture_units as usize;
        assert_eq!(units, 16, "this test has 16 inputs");
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "q"];
        let full =
            Kernel::<NoParams>::new(dev, "full", names, "vec4 kernel(ivec2 p) { return a(p) + q(p); }");
        let (full, one) = (full.unwrap(), Vector::filled(dev, 5, 1.0).unwrap());
        let inputs = || [&one as &dyn Operand; 16];
        full.run(&mut x, inputs(), &NoParams).unwrap();
        let e = full.with(inputs(), &NoParams).accumulate(Accum::Add).run(&mut x).unwrap_err();
        assert!(matches!(&e, Error::Unsupported { why, .. } if why.contains("17 textures")), "{e}");
        assert_eq!(x.read().unwrap(), [2.0; 5]);
    });
}

/// Points and splats may meet on a texel: the error names what works in their place.
#[test]
fn points_and_splats_are_refused_before_they_are_drawn() {
    on_both_with(without_blend(), |dev| {
        let caps = dev.capabilities();
        assert!(!caps.float_blend && !caps.float_min_max, "{caps:?}");
        let (points, splats, some) = scatterers(dev);
        let mut out = Vector::filled(dev, 5, 2.0).unwrap();
        for accum in [Accum::Add, Accum::Max, Accum::Min] {
            for call in [points.with([], &some, &NoParams), splats.with([], &some, &NoParams)] {
                let before = dev.counters().draws;
                let e = call.accumulate(accum).run(&mut out).unwrap_err();
                let Error::Unsupported { what, why } = &e else { panic!("{e}") };
                assert!(what.contains(&format!("{accum:?}")), "{e}");
                for works in ["Accum::Replace", "Picture", "`Kernel`"] {
                    assert!(why.contains(works), "{e}");
                }
                for sums in ["ops::Histogram", "SparseFormat::Gather"] {
                    assert_eq!(why.contains(sums), accum == Accum::Add, "{e}");
                }
                assert_eq!(dev.counters().draws, before);
            }
        }
        assert_eq!(out.read().unwrap(), [2.0; 5]);
        points.with([], &some, &NoParams).run(&mut out).unwrap();
        assert_eq!(out.read().unwrap(), [0.6, 0.4, 0.2, 1.0, 2.0], "points replace");
    });
}

/// A kernel of points and one of splats, all on texel 0 or around it, and the points.
fn scatterers(dev: &Device) -> (PointsKernel<NoParams>, SplatKernel<NoParams>, Points) {
    let point =
        "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = attribute0; }";
    let points = PointsKernel::new(dev, "points", [], 1, point).unwrap();
    let vertex = "void splat(int i, out vec4 rectangle, out vec4 value) {
        rectangle = vec4(0.0, 0.0, 2.0, 1.0);
        value = attribute0;
    }";
    let bodies = Bodies { vertex, fragment: "vec4 kernel(ivec2 p, vec4 value) { return value; }" };
    let splats = SplatKernel::new(dev, "splats", [], 1, bodies).unwrap();
    let some = Points::new(dev, &[&[[0.2, 0.0, 0.4, 1.0], [0.6, 0.4, 0.2, 1.0]]]).unwrap();
    (points, splats, some)
}

/// Fixed-point texels are blended by every device.
#[test]
fn pictures_of_bytes_are_blended_everywhere() {
    for api in Api::ALL {
        let [with, without] = [limits(), without_blend()].map(|limits| {
            let context = headless_with(api, limits);
            let (points, splats, some) = scatterers(context.device());
            let mut pixels = Vec::new();
            for accum in [Accum::Replace, Accum::Add, Accum::Max, Accum::Min] {
                let mut picture = Picture::new(context.device(), 3, 2).unwrap();
                points.with([], &some, &NoParams).accumulate(accum).run(&mut picture).unwrap();
                splats.with([], &some, &NoParams).accumulate(accum).run(&mut picture).unwrap();
                pixels.extend(picture.read().unwrap());
            }
            pixels
        });
        assert_eq!(with, without, "{api}");
        // Two points and two splats, the sums of splats alone, and neither.
        let sums = [[255, 204, 255, 255], [204, 102, 153, 255], [0, 0, 0, 255]];
        assert_eq!([without[6], without[7], without[8]], sums);
    }
}

/// Making the device must not blend either: where floats cannot be blended, that is a GL error.
#[test]
fn with_blending_all_ways_of_accumulating_work() {
    on_both_with(limits(), |dev| {
        let caps = dev.capabilities();
        assert!(caps.float_blend && caps.float_min_max, "{caps:?}");
        let body = "vec4 kernel(ivec2 p) { return x(p); }";
        let kernel = Kernel::<NoParams>::new(dev, "copied", ["x"], body).unwrap();
        let x = Vector::from_slice(dev, &[1.0, -1.0, 5.0, 0.5, 3.0]).unwrap();
        for (accum, want) in [
            (Accum::Add, [3.0, 1.0, 7.0, 2.5, 5.0]),
            (Accum::Max, [2.0, 2.0, 5.0, 2.0, 3.0]),
            (Accum::Min, [1.0, -1.0, 2.0, 0.5, 2.0]),
        ] {
            let mut out = Vector::filled(dev, 5, 2.0).unwrap();
            kernel.with([&x], &NoParams).accumulate(accum).run(&mut out).unwrap();
            assert_eq!(out.read().unwrap(), want, "{accum:?}");
            common::harness::assert_padded(&out, "a blended pass");
        }
    });
}

// --- histograms ---

const RULES: [OutOfRange; 3] = [OutOfRange::Clamp, OutOfRange::Drop, OutOfRange::Apart];

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// Numbers around 0..10, some on the edges of bins, some far outside.
fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut value = |i: usize| match i % 7 {
        0 => rng.below(13) as f32 - 1.0,
        1 => rng.signed() * 1e3,
        _ => 5.0 + 6.0 * rng.signed(),
    };
    (0..n).map(&mut value).collect()
}

/// Weights whose sums depend on their order: they cancel, and reach over 40 binades.
fn weights(seed: u64, n: usize) -> Vec<f32> {
    wide_range(seed, n, 20)
}

/// `count`, `counts` and `sum` of a histogram, which agree among themselves.
fn counts_and_sums(histogram: &Histogram, x: &Vector, w: &Vector, what: &str) -> (Vec<u64>, Vec<u32>) {
    let counts = histogram.counts(x).unwrap();
    let mut out = Vector::filled(x.device(), histogram.len(), 7.0).unwrap();
    histogram.count(&mut out, x).unwrap();
    assert_eq!(out.read().unwrap().iter().map(|v| *v as u64).collect::<Vec<_>>(), counts, "{what}");
    assert_padded(&out, what);
    histogram.sum(&mut out, x, w).unwrap();
    assert_padded(&out, what);
    (counts, bits(&out.read().unwrap()))
}

/// Both ways on every dialect, and the loop in 32-bit floats: equal bits.
#[test]
fn histograms_are_gathered_to_the_same_bits() {
    for api in Api::ALL {
        let contexts = [limits(), without_blend()].map(|limits| headless_with(api, limits));
        let ways = contexts.each_ref().map(|context| context.device());
        assert!(!ways[1].capabilities().float_blend);
        for n in [0, 1, 4, 5, 63, 128, 1009, fitting(ways[0], 10_007)] {
            let (values, weights) = (numbers(n as u64, n), weights(1 + n as u64, n));
            let data = ways.map(|dev| [&values, &weights].map(|v| Vector::from_slice(dev, v).unwrap()));
            for bins in [1, 2, 5, 64, 997, 1000] {
                let position = |v: &f32| twin::equal_width(*v, 0.0, 10.0, bins);
                let positions: Vec<_> = values.iter().map(position).collect();
                for rule in RULES {
                    let what = format!("{n} numbers in {bins} bins, {rule:?}, {api}");
                    let of = |(dev, [x, w]): (&Device, &[Vector; 2])| {
                        let histogram = Histogram::equal_width(dev, 0.0, 10.0, bins).unwrap();
                        counts_and_sums(&histogram.out_of_range(rule), x, w, &what)
                    };
                    let [blended, gathered] = [0, 1].map(|way| of((ways[way], &data[way])));
                    let sums = twin::sums(&positions, &weights, bins, rule);
                    assert_eq!(gathered.0, twin::counts(positions.iter().copied(), bins, rule), "{what}");
                    assert!(gathered == blended, "{what}");
                    if ways[0].capabilities().software {
                        assert!(gathered.1 == bits(&sums), "{what}: the loop");
                    }
                }
            }
        }
    }
}

/// The sums of [`weights`] tell one order from another.
#[test]
fn the_order_of_the_weights_shows() {
    let (n, reversed) = (1009, |v: Vec<f32>| v.into_iter().rev().collect::<Vec<_>>());
    let sums = |positions: Vec<f32>, weights: Vec<f32>| twin::sums(&positions, &weights, 5, RULES[0]);
    let (positions, weights) = (numbers(3, n).iter().map(|v| v / 2.0).collect(), weights(4, n));
    let forth = sums(Vec::clone(&positions), weights.clone());
    let back = sums(reversed(positions), reversed(weights));
    assert!(forth.iter().zip(&back).all(|(a, b)| a.to_bits() != b.to_bits()), "{forth:?}, {back:?}");
}

/// A custom function that no device need round in the same way in two stages, and NaN.
#[test]
fn custom_bins_are_those_of_the_blended_way() {
    let body = "float bin(float x) { return x < -900.0 ? uintBitsToFloat(0x7fc00000u + uint(abs(x) * 1e-38)) : \
                9.0 * log2(abs(x)) + sin(x); }";
    for api in Api::ALL {
        let [blended, gathered] = [limits(), without_blend()].map(|limits| {
            let context = headless_with(api, limits);
            let dev = context.device();
            let n = fitting(dev, 10_007);
            let [x, w] = [numbers(5, n), weights(6, n)].map(|v| Vector::from_slice(dev, &v).unwrap());
            RULES.map(|rule| {
                let histogram = Histogram::new(dev, 37, body).unwrap().out_of_range(rule);
                counts_and_sums(&histogram, &x, &w, "a custom function")
            })
        });
        assert!(blended == gathered, "{api}");
        assert!(gathered[2].0.iter().filter(|count| **count > 0).count() > 30, "{:?}", gathered[2].0);
    }
}

/// Loops are cut where the device cuts them, and sums go on where they were.
#[test]
fn long_sums_go_on_in_the_next_pass() {
    on_both_with(without_blend(), |dev| {
        let caps = dev.capabilities();
        let n = fitting(dev, 300_000);
        let (values, weights) = (numbers(7, n), weights(8, n));
        let [x, w] = [&values, &weights].map(|v| Vector::from_slice(dev, v).unwrap());
        for bins in [1, 4, 7] {
            let histogram = Histogram::equal_width(dev, 0.0, 10.0, bins).unwrap();
            let mut out = Vector::zeros(dev, bins).unwrap();
            histogram.sum(&mut out, &x, &w).unwrap();
            let before = dev.counters();
            histogram.sum(&mut out, &x, &w).unwrap();
            let draws = dev.counters().since(&before).draws;
            let rounds = (caps.rounds_a_draw / (2 * out.extent().width)).min(caps.loop_rounds).min(1 << 15);
            // And one for the places, one for the result.
            assert_eq!(draws, 2 + n.div_ceil(4).div_ceil(rounds as usize) as u64);
            assert!(limits().max_texture_size.is_some() || draws > 4, "{draws} draws");
            let positions: Vec<_> = values.iter().map(|v| twin::equal_width(*v, 0.0, 10.0, bins)).collect();
            let got = out.read().unwrap();
            let want = twin::sums(&positions, &weights, bins, OutOfRange::Clamp);
            assert!(bits(&got) == bits(&want), "{bins} bins: {got:?}, expected {want:?}");
            let want = twin::counts(positions, bins, OutOfRange::Clamp);
            assert_eq!(histogram.counts(&x).unwrap(), want);
        }
    });
}

/// Past 2^24 elements there are two parts: counts are added on the host, sums go on from the first part's.
#[test]
fn parts_of_a_long_vector_are_gathered_one_after_another() {
    if limits().max_texture_size.is_some() {
        common::data::say("no_blend: no vector of 2^24 elements on this device");
        return;
    }
    let context = headless_with(Api::Es30, without_blend());
    let (dev, n) = (context.device(), (1 << 24) + 5);
    let mut values = vec![1.5f32; n];
    values[..9].fill(0.5);
    values[n - 3..].fill(2.5);
    let x = Vector::from_slice(dev, &values).unwrap();
    let histogram = Histogram::equal_width(dev, 0.0, 4.0, 4).unwrap();
    assert_eq!(histogram.counts(&x).unwrap(), [9, n as u64 - 12, 3, 0]);
    // 0.25 is exact to 2^24 quarters, from there on it is lost.
    let mut out = Vector::filled(dev, 4, 7.0).unwrap();
    values.iter_mut().for_each(|v| *v = 0.25);
    values[n - 2] = 3.0;
    histogram.sum(&mut out, &x, &Vector::from_slice(dev, &values).unwrap()).unwrap();
    assert_eq!(out.read().unwrap(), [2.25, (n - 12) as f32 / 4.0, 3.5, 0.0]);
}

/// The most bins that there are: the last one, and those apart behind it, whose numbers no float holds.
#[test]
fn places_past_two_to_the_24_are_told_apart() {
    if limits().max_texture_size.is_some() {
        common::data::say("no_blend: no vector of 2^24 elements on this device");
        return;
    }
    let values = [16_777_215.0, 16_777_214.0, 16_777_216.0, 1e30, -1.0, 16_777_215.0, -0.5];
    for limits in [limits(), without_blend()] {
        let context = headless_with(Api::Gl33, limits);
        let dev = context.device();
        let x = Vector::from_slice(dev, &values).unwrap();
        let body = "float bin(float x) { return x; }";
        let histogram = Histogram::new(dev, 1 << 24, body).unwrap().out_of_range(OutOfRange::Apart);
        let counts = histogram.counts(&x).unwrap();
        assert_eq!(counts[(1 << 24) - 3..], [0, 1, 2, 2, 2]);
        assert_eq!(counts.iter().sum::<u64>(), 7);
    }
}
