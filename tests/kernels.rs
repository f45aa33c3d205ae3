//! A user's own kernels: what they cover, read and write, and what is said when they are wrong.
#![allow(unsafe_code)]

mod common;

use common::harness::{headless_with, limits, on_both, on_both_with};
use common::random::{Rng, uniform};
use common::worst::worst;
use texla::gl::Api;
use texla::kernel::{Accum, Condition, Domain, Kernel, NoParams, Operand, Points, PointsKernel, Predicate};
use texla::{Device, Error, Layout, Packed, Result, Scalar, Shape, Vector, ops};

/// Every extent is worth a test that a rasteriser can get wrong: single texels, rows, columns, primes.
const EXTENTS: [(usize, usize); 9] =
    [(1, 1), (1, 7), (7, 1), (2, 2), (13, 11), (64, 3), (3, 64), (61, 59), (17, 1)];

const ONE: &str = "vec4 kernel(ivec2 p) { return vec4(1.0); }";

/// A target of exactly `w` by `h` texels, all zero.
fn grid(dev: &Device, (w, h): (usize, usize)) -> Packed {
    let grid = Packed::from_rows(dev, Shape::new(4 * h, w), Layout::Column4, &vec![0.0; 4 * w * h]).unwrap();
    assert_eq!((grid.extent().width as usize, grid.extent().height as usize), (w, h));
    grid
}

/// How often each texel was touched, row by row.
fn touches(grid: &Packed) -> Vec<f32> {
    let texels = grid.read_texels().unwrap();
    assert!(texels.chunks(4).all(|t| t.iter().all(|v| *v == t[0])));
    texels.chunks(4).map(|t| t[0]).collect()
}

fn expected((w, h): (usize, usize), inside: impl Fn(usize, usize) -> bool) -> Vec<f32> {
    (0..w * h).map(|i| f32::from(u8::from(inside(i % w, i / w)))).collect()
}

#[test]
fn every_domain_touches_each_of_its_texels_once() {
    on_both(|dev| {
        let one = Kernel::<NoParams>::new(dev, "one", [], ONE).unwrap();
        for extent @ (w, h) in EXTENTS {
            let draw = |domain| {
                let mut target = grid(dev, extent);
                one.with([], &NoParams).on(domain).accumulate(Accum::Add).run(&mut target).unwrap();
                touches(&target)
            };
            assert_eq!(draw(Domain::Full), expected(extent, |_, _| true), "{extent:?} full");
            for y in [0, h / 2, h - 1] {
                assert_eq!(
                    draw(Domain::Row(y as u32)),
                    expected(extent, |_, j| j == y),
                    "{extent:?} row {y}"
                );
            }
            for x in [0, w / 2, w - 1] {
                assert_eq!(
                    draw(Domain::Column(x as u32)),
                    expected(extent, |i, _| i == x),
                    "{extent:?} column {x}"
                );
            }
            let mut rng = Rng::new(7);
            for _ in 0..8 {
                let (x, y) = (rng.below(w + 1), rng.below(h + 1));
                let (width, height) = (rng.below(w - x + 1), rng.below(h - y + 1));
                let [a, b, c, d] = [x, y, width, height].map(|v| v as u32);
                let domain = Domain::Rect { x: a, y: b, width: c, height: d };
                let inside = |i, j| i >= x && i < x + width && j >= y && j < y + height;
                assert_eq!(draw(domain), expected(extent, inside), "{extent:?} {a} {b} {c} {d}");
            }
        }
    });
}

#[test]
fn interior_and_boundary_make_up_the_whole() {
    on_both(|dev| {
        let one = Kernel::<NoParams>::new(dev, "one", [], ONE).unwrap();
        let extent @ (w, h) = (23, 14);
        let mut target = grid(dev, extent);
        let (x, y) = (w as u32 - 1, h as u32 - 1);
        for domain in [
            Domain::Rect { x: 1, y: 1, width: x - 1, height: y - 1 },
            Domain::Column(0),
            Domain::Column(x),
            Domain::Row(0),
            Domain::Row(y),
        ] {
            one.with([], &NoParams).on(domain).accumulate(Accum::Add).run(&mut target).unwrap();
        }
        let corner = |i: usize, j: usize| (i == 0 || i == w - 1) && (j == 0 || j == h - 1);
        let counts: Vec<f32> = (0..w * h).map(|t| if corner(t % w, t / w) { 2.0 } else { 1.0 }).collect();
        assert_eq!(touches(&target), counts);
    });
}

#[test]
fn a_row_is_given_the_same_positions_and_inputs_as_the_whole() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) { return x(p) + vec4(p, texel_index(p), 1.0); }";
        let kernel = Kernel::<NoParams>::new(dev, "where", ["x"], body).unwrap();
        let (w, h) = (11, 6);
        let x =
            Packed::from_rows(dev, Shape::new(4 * h, w), Layout::Column4, &uniform(3, 4 * w * h)).unwrap();
        let run = |domains: &[Domain<'_>]| {
            let mut target = grid(dev, (w, h));
            for domain in domains {
                kernel.with([&x], &NoParams).on(*domain).run(&mut target).unwrap();
            }
            target.read_texels().unwrap()
        };
        let whole = run(&[Domain::Full]);
        assert_eq!(run(&(0..h as u32).map(Domain::Row).collect::<Vec<_>>()), whole);
        assert_eq!(run(&(0..w as u32).map(Domain::Column).collect::<Vec<_>>()), whole);
    });
}

#[test]
fn points_touch_each_texel_once() {
    on_both(|dev| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = texel_position(int(attribute0.x)); value = vec4(1.0); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "scatter", [], 1, body).unwrap();
        for extent @ (w, h) in EXTENTS {
            let mut order: Vec<[f32; 4]> = (0..w * h).map(|i| [i as f32, 0.0, 0.0, 0.0]).collect();
            Rng::new(5).shuffle(&mut order);
            let points = Points::new(dev, &[&order]).unwrap();
            let mut target = grid(dev, extent);
            scatter.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut target).unwrap();
            assert_eq!(touches(&target), expected(extent, |_, _| true), "{extent:?}");
        }
        // Those outside the target are dropped, on every side.
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = ivec2(attribute0.xy); value = vec4(1.0); }";
        let place = PointsKernel::<NoParams>::new(dev, "place", [], 1, body).unwrap();
        let vertices: Vec<[f32; 4]> =
            (-3..9).flat_map(|y| (-3..9).map(move |x| [x as f32, y as f32, 0.0, 0.0])).collect();
        let far = [[1e9, 0.0, 0.0, 0.0], [0.0, -1e9, 0.0, 0.0]];
        let points = Points::new(dev, &[&[vertices, far.to_vec()].concat()]).unwrap();
        let mut target = grid(dev, (5, 3));
        place.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut target).unwrap();
        assert_eq!(touches(&target), [1.0; 15]);
    });
}

/// The blending check: blending runs in primitive order and rounds each sum.
#[test]
fn points_into_one_texel_add_up_in_order() {
    on_both(|dev| {
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = attribute0; }";
        let scatter = PointsKernel::<NoParams>::new(dev, "sum", [], 1, body).unwrap();
        let values: Vec<[f32; 4]> =
            uniform(11, 4000).chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
        let points = Points::new(dev, &[&values]).unwrap();
        assert_eq!((points.len(), points.is_empty()), (1000, false));
        let mut sum = [0.0f32; 4];
        values.iter().for_each(|v| sum.iter_mut().zip(v).for_each(|(s, v)| *s += v));
        for _ in 0..5 {
            let mut target = Vector::zeros(dev, 4).unwrap();
            scatter.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut target).unwrap();
            assert_eq!(target.read().unwrap(), sum);
        }
        let mut target = Vector::zeros(dev, 4).unwrap();
        scatter.with([], &points, &NoParams).run(&mut target).unwrap();
        assert_eq!(target.read().unwrap(), values[999], "the last one wins");
        scatter.with([], &points, &NoParams).accumulate(Accum::Max).run(&mut target).unwrap();
        let largest = |c: usize| values.iter().map(|v| v[c]).fold(f32::MIN, worst);
        assert_eq!(target.read().unwrap(), [0, 1, 2, 3].map(largest));
    });
}

#[test]
fn points_keep_padding_lanes_zero() {
    on_both(|dev| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) { texel = texel_position(i); value = attribute0; }";
        let scatter = PointsKernel::<NoParams>::new(dev, "full", [], 1, body).unwrap();
        let points = Points::new(dev, &[&[[1.0, 2.0, 3.0, 4.0]; 4]]).unwrap();
        for n in [1, 3, 5, 6, 9] {
            for accum in [Accum::Replace, Accum::Add, Accum::Max] {
                let mut target = Vector::zeros(dev, n).unwrap();
                scatter.with([], &points, &NoParams).accumulate(accum).run(&mut target).unwrap();
                let texels = target.read_texels().unwrap();
                assert!(texels[n..].iter().all(|v| *v == 0.0), "{n} {accum:?}: {texels:?}");
                assert!(texels[..n].iter().all(|v| *v != 0.0), "{n} {accum:?}: {texels:?}");
            }
        }
    });
}

#[test]
fn several_arrays_of_vertices_and_inputs_in_the_vertex_stage() {
    on_both(|dev| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = texel_position(int(attribute1.y)); value = attribute0 * x_element(uint(i)) * s_value(); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "two", ["x", "s"], 2, body).unwrap();
        let x = Vector::from_slice(dev, &[1.0, 10.0, 100.0]).unwrap();
        let s = Scalar::new(dev, 2.0).unwrap();
        let values = [[1., 2., 3., 4.], [5., 6., 7., 8.], [9., 10., 11., 12.]];
        let places = [[0., 1., 0., 0.], [0., 0., 0., 0.], [0., 1., 0., 0.]];
        let points = Points::new(dev, &[&values, &places]).unwrap();
        let mut target = Vector::zeros(dev, 8).unwrap();
        scatter.with([&x, &s], &points, &NoParams).accumulate(Accum::Add).run(&mut target).unwrap();
        assert_eq!(target.read().unwrap(), [100., 120., 140., 160., 1802., 2004., 2206., 2408.]);
        let error = Points::new(dev, &[&values, &places[..2]]).map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { found: 2, expected: 3, .. }), "{error}");
        let one = Points::new(dev, &[&values]).unwrap();
        let error =
            scatter.with([&x, &s], &one, &NoParams).accumulate(Accum::Add).run(&mut target).unwrap_err();
        assert!(error.to_string().contains("1 attributes, expected 2"), "{error}");
        let empty = Points::new(dev, &[&[], &[]]).unwrap();
        scatter.with([&x, &s], &empty, &NoParams).run(&mut target).unwrap();
        assert_eq!(target.read().unwrap()[0], 100.0);
    });
}

texla::params! {
    struct Everything {
        f: f32, v2: [f32; 2], v3: [f32; 3], v4: [f32; 4],
        i: i32, i2: [i32; 2], i3: [i32; 3], i4: [i32; 4], u: u32,
    }
}

#[test]
fn parameters_of_every_type_arrive() {
    on_both(|dev| {
        let body = "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c, out vec4 d) {
            a = vec4(f, v2, v3.x);
            b = vec4(v3.yz, v4.xy);
            c = vec4(v4.zw, float(i), float(i2.x)) + vec4(i2.y, 0, 0, 0);
            d = vec4(float(i3.x + i3.y + i3.z), float(i4.x - i4.y), float(i4.z * i4.w), float(u));
        }";
        let kernel = Kernel::<Everything>::with_outputs(dev, "everything", [], 4, body).unwrap();
        let mut p = Everything {
            f: 0.1,
            v2: [0.2, 0.3],
            v3: [0.4, 0.5, 0.6],
            v4: [0.7, 0.8, -0.9, 1e-30],
            i: -16_777_215,
            i2: [5, 6],
            i3: [7, 8, 9],
            i4: [10, 11, 12, -13],
            u: 4_000_000_000,
        };
        for round in 0..2 {
            let mut out = [0; 4].map(|_| Vector::zeros(dev, 4).unwrap());
            let [a, b, c, d] = &mut out;
            kernel.with([], &p).run_many([a, b, c, d]).unwrap();
            let [a, b, c, d] = out.map(|v| v.read().unwrap());
            assert_eq!(a, [p.f, p.v2[0], p.v2[1], p.v3[0]], "round {round}");
            assert_eq!(b, [p.v3[1], p.v3[2], p.v4[0], p.v4[1]], "round {round}");
            assert_eq!(c, [p.v4[2] + p.i2[1] as f32, p.v4[3], p.i as f32, p.i2[0] as f32], "round {round}");
            let sum = p.i3.iter().sum::<i32>() as f32;
            assert_eq!(d, [sum, (p.i4[0] - p.i4[1]) as f32, (p.i4[2] * p.i4[3]) as f32, p.u as f32]);
            // What a uniform holds is remembered: the second round must see the change and no other.
            (p.v2[1], p.i4[3], p.u) = (-2.5, 4, 7);
        }
    });
}

#[test]
fn several_outputs_are_written_in_one_draw() {
    on_both(|dev| {
        let most = dev.capabilities().max_draw_buffers as usize;
        let body = |n: usize| {
            let list: Vec<_> = (0..n).map(|i| format!("out vec4 r{i}")).collect();
            let sets: String = (0..n).map(|i| format!("r{i} = {}.0 * x(p);", i + 1)).collect();
            format!("void kernel(ivec2 p, {}) {{ {sets} }}", list.join(", "))
        };
        let values = uniform(9, 45);
        let x = Vector::from_slice(dev, &values).unwrap();
        assert!(most >= 4);
        let kernel = Kernel::<NoParams>::with_outputs(dev, "four", ["x"], 4, &body(4)).unwrap();
        let mut out = [0; 4].map(|_| Vector::zeros(dev, 45).unwrap());
        let draws = dev.counters().draws;
        let targets = out.each_mut().map(|v| v as &mut dyn texla::kernel::TargetOperand);
        kernel.with([&x], &NoParams).run_many(targets).unwrap();
        assert_eq!(dev.counters().draws - draws, 1);
        for (i, out) in out.iter().enumerate() {
            let expected: Vec<f32> = values.iter().map(|v| (i + 1) as f32 * v).collect();
            assert_eq!(out.read().unwrap(), expected);
        }
        // Too many outputs, too few targets, targets of different extents.
        let [a, b, c, _] = &mut out;
        let mut small = Vector::zeros(dev, 4).unwrap();
        let error = kernel.with([&x], &NoParams).run_many([a, b, c, &mut small]).unwrap_err();
        assert!(error.to_string().contains("differ in extent"), "{error}");
        let error = kernel.with([&x], &NoParams).run_many([a, b]).unwrap_err();
        assert!(error.to_string().contains("2 targets given, expected 4"), "{error}");
        if most < 5 {
            let five = Kernel::<NoParams>::with_outputs(dev, "five", ["x"], 5, &body(5));
            let error = five.map(drop).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        }
    });
}

#[test]
fn accumulation_meets_what_the_target_holds() {
    on_both(|dev| {
        let (a, b) = (uniform(1, 101), uniform(2, 101));
        let x = Vector::from_slice(dev, &b).unwrap();
        let copy =
            Kernel::<NoParams>::new(dev, "copy", ["x"], "vec4 kernel(ivec2 p) { return x(p); }").unwrap();
        for (accum, expected) in [
            (Accum::Replace, (|_, b| b) as fn(f32, f32) -> f32),
            (Accum::Add, |a, b| a + b),
            (Accum::Max, f32::max),
            (Accum::Min, f32::min),
        ] {
            let mut target = Vector::from_slice(dev, &a).unwrap();
            copy.with([&x], &NoParams).accumulate(accum).run(&mut target).unwrap();
            let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| expected(*a, *b)).collect();
            assert_eq!(target.read().unwrap(), expected, "{accum:?}");
        }
    });
}

#[test]
fn predicates_choose_each_texel_once() {
    on_both(|dev| {
        let one = Kernel::<NoParams>::new(dev, "one", [], ONE).unwrap();
        let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
        let condition = Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap();
        for extent @ (w, h) in EXTENTS {
            let values = uniform(4, 4 * w * h);
            let x = Packed::from_rows(dev, Shape::new(4 * h, w), Layout::Column4, &values).unwrap();
            let chosen: Vec<bool> = x.read_texels().unwrap().chunks(4).map(|t| t[0] > 0.0).collect();
            let mask = condition.mask(&x, [&x], &NoParams).unwrap();
            assert_eq!(mask.extent(), x.extent());
            let (row, column) = (h as u32 / 2, w as u32 / 2);
            for domain in [Domain::Full, Domain::Row(row), Domain::Column(column)] {
                let inside = |i: usize| match domain {
                    Domain::Row(y) => i / w == y as usize,
                    Domain::Column(x) => i % w == x as usize,
                    _ => true,
                };
                let draw = |predicate| {
                    let mut target = grid(dev, extent);
                    let call = one.with([], &NoParams).on(domain).accumulate(Accum::Add);
                    call.only(predicate).run(&mut target).unwrap();
                    touches(&target)
                };
                let count = |wanted: bool| -> Vec<f32> {
                    let touched = |i| inside(i) && chosen[i] == wanted;
                    (0..w * h).map(|i| f32::from(u8::from(touched(i)))).collect()
                };
                assert_eq!(draw(Predicate::If(&mask)), count(true), "{extent:?}");
                assert_eq!(draw(Predicate::Unless(&mask)), count(false), "{extent:?}");
            }
        }
        let small = grid(dev, (2, 2));
        let mask = condition.mask(&small, [&small], &NoParams).unwrap();
        let mut other = grid(dev, (3, 2));
        let error = one.with([], &NoParams).only(Predicate::If(&mask)).run(&mut other).unwrap_err();
        assert!(error.to_string().contains("the mask has 2x2 texels, the target 3x2 texels"), "{error}");
    });
}

/// Whatever the widths of the two textures, `x(p)` is the texel with the same number.
#[test]
fn inputs_may_be_folded_otherwise() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) {
            int t = texel_index(p);
            vec4 e = vec4(x_element(uint(4 * t)), x_element(uint(4 * t + 1)), x_element(uint(4 * t + 2)),
                          x_element(uint(4 * t + 3)));
            return x(p) + 2.0 * x_texel(t) + 4.0 * e + vec4(x_extent(), 0, 0); }";
        let kernel = Kernel::<NoParams>::new(dev, "fold", ["x"], body).unwrap();
        for (w, h) in [(5, 3), (8, 2), (4, 4), (1, 16), (16, 1), (7, 1), (1, 1), (13, 5)] {
            let n = 4 * w * h;
            let values: Vec<f32> = (0..n).map(|i| i as f32).collect();
            // Texel by texel, so that the values are those of a vector folded to width `w`.
            let rows: Vec<f32> = (0..n).map(|e| values[4 * (e / (4 * w) * w + e % w) + e / w % 4]).collect();
            let x = Packed::from_rows(dev, Shape::new(4 * h, w), Layout::Column4, &rows).unwrap();
            assert_eq!(x.read_texels().unwrap(), values);
            let expected: Vec<f32> =
                (0..n).map(|i| 7.0 * i as f32 + [w as f32, h as f32, 0.0, 0.0][i % 4]).collect();
            let mut folded = Vector::zeros(dev, n).unwrap();
            kernel.run(&mut folded, [&x], &NoParams).unwrap();
            assert_eq!(folded.read().unwrap(), expected, "{w}x{h} into a vector");
            // SAFETY: the texture lives as long as `x`.
            let borrowed = unsafe { Vector::from_texture(dev, x.texture(), w, h) }.unwrap();
            kernel.run(&mut folded, [&borrowed], &NoParams).unwrap();
            assert_eq!(folded.read().unwrap(), expected, "{w}x{h} borrowed");
            let y = Vector::from_slice(dev, &values).unwrap();
            let mut target = grid(dev, (w, h));
            kernel.run(&mut target, [&y], &NoParams).unwrap();
            let (e, texels) = (y.extent(), target.read_texels().unwrap());
            let of = [e.width as f32, e.height as f32, 0.0, 0.0];
            assert!((0..n).all(|i| texels[i] == 7.0 * i as f32 + of[i % 4]), "a vector into {w}x{h}");
        }
    });
}

#[test]
fn scalars_are_the_same_for_every_texel() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) { return x(p) * s_value() + s(p).x; }";
        let kernel = Kernel::<NoParams>::new(dev, "scaled", ["x", "s"], body).unwrap();
        // Sixteenths: exact with and without a fused multiply-add.
        let values: Vec<f32> = uniform(6, 77).iter().map(|v| (v * 16.0).round() / 16.0).collect();
        let (x, s) = (Vector::from_slice(dev, &values).unwrap(), Scalar::new(dev, 3.0).unwrap());
        let mut y = Vector::zeros(dev, 77).unwrap();
        kernel.run(&mut y, [&x, &s], &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), values.iter().map(|v| v * 3.0 + 3.0).collect::<Vec<_>>());
        assert!(y.read_texels().unwrap()[77..].iter().all(|v| *v == 0.0), "padding");
        let mut t = Scalar::zero(dev).unwrap();
        kernel.run(&mut t, [&s, &s], &NoParams).unwrap();
        assert_eq!(t.read().unwrap(), 12.0);
    });
}

/// No aliasing. That a target is borrowed exclusively makes it impossible by type (see the example in the documentation
/// of `Kernel`), except through a texture taken out and borrowed back.
#[test]
fn a_texture_cannot_be_read_and_written_in_one_pass() {
    on_both(|dev| {
        let copy =
            Kernel::<NoParams>::new(dev, "copy", ["x"], "vec4 kernel(ivec2 p) { return x(p); }").unwrap();
        let mut y = Vector::from_slice(dev, &uniform(8, 64)).unwrap();
        let z = Vector::zeros(dev, 64).unwrap();
        let before = y.read().unwrap();
        // SAFETY: the textures live longer than what borrows them.
        let alias = unsafe { Vector::from_texture(dev, y.texture(), 4, 4) }.unwrap();
        let feedback = |result: Result<()>| {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Feedback { .. }), "{error}");
        };
        feedback(copy.run(&mut y, [&alias], &NoParams));
        feedback(ops::add(&mut y, &z, &alias));
        feedback(ops::copy(&mut y, &alias));
        feedback(ops::axpby(&mut y, 1.0, &alias, 2.0, &alias));
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = x_texel(0); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "scatter", ["x"], 1, body).unwrap();
        let points = Points::new(dev, &[&[[0.0; 4]]]).unwrap();
        feedback(scatter.with([&alias], &points, &NoParams).accumulate(Accum::Add).run(&mut y));
        let mut s = Scalar::new(dev, 5.0).unwrap();
        // SAFETY: as above.
        let alias_s = unsafe { Vector::from_texture(dev, s.texture(), 1, 1) }.unwrap();
        feedback(ops::reduce::reduce_into(
            &mut s,
            ops::Reduction::Sum,
            &alias_s,
            None,
            ops::Windows::Balanced,
        ));
        assert_eq!((y.read().unwrap(), s.read().unwrap()), (before, 5.0), "nothing was written");

        // What is borrowed is read-only.
        let mut alias = alias;
        let read_only = |result: Result<()>| {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error}");
            assert!(error.to_string().contains("read-only"), "{error}");
        };
        read_only(copy.run(&mut alias, [&z], &NoParams));
        read_only(ops::copy(&mut alias, &z));
        read_only(ops::fill(&mut alias, 1.0));
        read_only(ops::scale(&mut alias, 2.0));
        read_only(alias.set_zero());
        read_only(alias.write(&[0.0; 64]));
    });
}

#[test]
fn operands_of_another_device_are_refused() {
    on_both(|dev| {
        let other = headless_with(dev.api(), limits());
        let foreign = Vector::zeros(other.device(), 8).unwrap();
        let (mut y, x) = (Vector::zeros(dev, 8).unwrap(), Vector::zeros(dev, 8).unwrap());
        let copy =
            Kernel::<NoParams>::new(dev, "copy", ["x"], "vec4 kernel(ivec2 p) { return x(p); }").unwrap();
        let mut foreign_target = Vector::zeros(other.device(), 8).unwrap();
        for result in [
            copy.run(&mut y, [&foreign], &NoParams),
            copy.run(&mut foreign_target, [&x], &NoParams),
            ops::add(&mut y, &x, &foreign),
            ops::add(&mut foreign_target, &x, &x),
            ops::dot(&x, &foreign).map(|_| ()),
        ] {
            let error = result.unwrap_err();
            assert!(matches!(error, Error::WrongDevice { .. }), "{error}");
        }
    });
}

fn interface(result: Result<()>) -> String {
    match result.unwrap_err() {
        Error::Interface { kernel, detail } => {
            assert_eq!(kernel, "mine");
            detail
        }
        other => panic!("expected an interface error, found {other}"),
    }
}

texla::params! { struct X { x: f32 } }
texla::params! { struct XAt { x_at: f32 } }
texla::params! { struct Kernels { kernel: f32 } }
texla::params! { struct TexelIndex { texel_index: i32 } }

#[test]
fn names_that_clash_are_interface_errors() {
    on_both(|dev| {
        let named =
            |names: [&str; 2]| interface(Kernel::<NoParams>::new(dev, "mine", names, ONE).map(|_| ()));
        assert!(named(["x", "x"]).contains("`x` is used twice"));
        for name in ["gl_x", "texla_x", "a__b", "1x", "", "é", "main", "kernel", "point", "a b", "_x", "x_at"]
        {
            let detail = named([name, "x"]);
            assert!(detail.contains(&format!("`{name}`")) && detail.contains("expected"), "{detail}");
        }
        // Both dialects have room for what is allowed, with what texla puts around it.
        let [longest, longer] = [256, 257].map(|n| "x".repeat(n));
        let body = format!("vec4 kernel(ivec2 p) {{ return {longest}(p) + {longest}_at(ivec2(0)); }}");
        Kernel::<NoParams>::new(dev, "mine", [&longest], &body).unwrap();
        let detail = named([&longer, "x"]);
        assert_eq!(detail, "a name is 257 bytes long, expected 256 at most");
        assert!(interface(Kernel::<X>::new(dev, "mine", ["x"], ONE).map(|_| ())).contains("twice"));
        interface(Kernel::<XAt>::new(dev, "mine", ["x"], ONE).map(|_| ()));
        interface(Kernel::<Kernels>::new(dev, "mine", ["x"], ONE).map(|_| ()));
        interface(Kernel::<TexelIndex>::new(dev, "mine", ["x"], ONE).map(|_| ()));
        interface(
            Condition::<X>::new(dev, "mine", ["x"], "bool kernel(ivec2 p) { return true; }").map(|_| ()),
        );
        interface(PointsKernel::<X>::new(dev, "mine", ["x"], 1, "").map(|_| ()));
        interface(Kernel::<NoParams>::with_outputs(dev, "mine", ["x"], 0, ONE).map(|_| ()));
    });
}

#[test]
fn uniforms_outside_the_interface_are_refused() {
    on_both(|dev| {
        for (body, name) in [
            ("uniform float stray; vec4 kernel(ivec2 p) { return vec4(stray); }", "stray"),
            ("uniform sampler2D s; vec4 kernel(ivec2 p) { return texelFetch(s, p, 0); }", "s"),
            ("struct T { float a; }; uniform T t; vec4 kernel(ivec2 p) { return vec4(t.a); }", "t"),
            ("layout(std140) uniform B { vec4 inside; }; vec4 kernel(ivec2 p) { return inside; }", "B"),
        ] {
            let detail = interface(Kernel::<NoParams>::new(dev, "mine", ["x"], body).map(|_| ()));
            assert!(detail.contains(&format!("`{name}`")) && detail.contains("params!"), "{detail}");
        }
    });
}

#[test]
fn wrong_numbers_of_inputs_are_interface_errors() {
    on_both(|dev| {
        let kernel = Kernel::<NoParams>::new(dev, "mine", ["x", "b"], ONE).unwrap();
        let (mut y, x) = (Vector::zeros(dev, 8).unwrap(), Vector::zeros(dev, 8).unwrap());
        let detail = interface(kernel.run(&mut y, [&x], &NoParams));
        assert_eq!(detail, "1 inputs given, expected 2: x, b");
        let detail = interface(kernel.run(&mut y, [&x as &dyn Operand; 3], &NoParams));
        assert_eq!(detail, "3 inputs given, expected 2: x, b");
        let condition =
            Condition::<NoParams>::new(dev, "mine", ["x"], "bool kernel(ivec2 p) { return true; }").unwrap();
        interface(condition.mask(&x, [], &NoParams).map(|_| ()));
        // More textures than the device can bind.
        let names: [String; 17] = std::array::from_fn(|i| format!("x{i}"));
        let many = Kernel::<NoParams>::new(dev, "many", names.each_ref().map(String::as_str), ONE);
        let error = many.map(drop).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    });
}

/// The log of a body that must not compile.
fn log(result: Result<()>) -> String {
    match result.unwrap_err() {
        Error::Shader { log, .. } => log,
        other => panic!("expected a shader error, found {other}"),
    }
}

#[test]
fn shader_errors_point_at_file_and_line() {
    on_both(|dev| {
        let at = |log: String, file: &str, line: usize| {
            let start = format!("{file}:{line}");
            let next = |l: &str| !l[start.len()..].starts_with(|c: char| c.is_ascii_digit());
            assert!(log.lines().any(|l| l.starts_with(&start) && next(l)), "expected {start} in:\n{log}");
        };
        let fragment = |body: &str| log(Kernel::<NoParams>::new(dev, "mine.frag", ["x"], body).map(|_| ()));
        at(fragment("vec4 kernel(ivec2 p) { return nothing; }"), "mine.frag", 1);
        at(fragment("// one\n// two\nvec4 kernel(ivec2 p) {\n    return nothing;\n}\n"), "mine.frag", 4);
        let exact = "#include \"include/exact.glsl\"";
        at(fragment(&format!("{exact}\nvec4 kernel(ivec2 p) {{\n    return nothing;\n}}")), "mine.frag", 3);
        let twice = format!("// one\n{exact}\n\n#include \"include/prelude.glsl\"\n// five\nnothing;\n{ONE}");
        at(fragment(&twice), "mine.frag", 6);
        // An error in an included file is that file's.
        let inside = fragment(&format!("#define two_sum 1x\n{exact}\n{ONE}"));
        assert!(inside.starts_with("include/exact.glsl:"), "{inside}");
        // An include a second time is no second definition.
        let again = format!("{exact}\n{exact}\n{ONE}");
        Kernel::<NoParams>::new(dev, "again", [], &again).unwrap();
        let condition = "\n\nbool kernel(ivec2 p) { return nothing; }";
        at(log(Condition::<NoParams>::new(dev, "c.frag", [], condition).map(|_| ())), "c.frag", 3);
        let point =
            format!("{exact}\nvoid point(int i, out ivec2 texel, out vec4 value) {{\n  texel = nothing;\n}}");
        at(log(PointsKernel::<NoParams>::new(dev, "p.vert", [], 1, &point).map(|_| ())), "p.vert", 3);
        let message = Kernel::<NoParams>::new(dev, "mine.frag", [], &format!("oops {ONE}"))
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with("kernel `mine.frag`: fragment shader failed:\n"), "{message}");
    });
}

#[test]
fn include_errors_name_the_directive() {
    on_both(|dev| {
        let kernel = |body: &str| Kernel::<NoParams>::new(dev, "mine", [], &format!("{body}\n{ONE}"));
        let include = |body: &str| match kernel(body).map(|_| ()) {
            Err(Error::Include { file, line, detail }) => (file, line, detail),
            other => panic!("{other:?}"),
        };
        let (file, line, detail) = include("\n\n#include \"no.glsl\"\n");
        assert_eq!((file.as_str(), line), ("mine", 3));
        assert!(detail.contains("no.glsl") && detail.contains("include/exact.glsl"), "{detail}");
        assert_eq!(include("#include <exact.glsl>").1, 1);
        assert_eq!(include("#include").1, 1);
        assert_eq!(include("  #include \"include/exact.glsl").1, 1);
    });
}

#[test]
fn domains_outside_the_target_are_refused() {
    on_both(|dev| {
        let one = Kernel::<NoParams>::new(dev, "mine", [], ONE).unwrap();
        let mut target = grid(dev, (5, 3));
        let mut run = |domain| one.with([], &NoParams).on(domain).run(&mut target);
        let error = run(Domain::Row(3)).unwrap_err();
        assert_eq!(error, Error::IndexOutOfRange { what: "row", index: 3, bound: 3 });
        let error = run(Domain::Column(u32::MAX)).unwrap_err();
        assert_eq!(error, Error::IndexOutOfRange { what: "column", index: u32::MAX as usize, bound: 5 });
        for (x, y, width, height) in
            [(0, 0, 6, 3), (0, 0, 5, 4), (5, 0, 1, 1), (u32::MAX, 0, 1, 1), (1, 1, u32::MAX, 1), (0, 4, 0, 0)]
        {
            let detail = interface(run(Domain::Rect { x, y, width, height }));
            assert!(detail.contains("leaves the target of 5x3 texels"), "{detail}");
        }
        run(Domain::Rect { x: 5, y: 3, width: 0, height: 0 }).unwrap();
        let points = Points::new(dev, &[&[[0.0; 4]]]).unwrap();
        interface(run(Domain::Points(&points)));
        assert_eq!(target.read_texels().unwrap(), [0.0; 60], "nothing was drawn");
    });
}

#[test]
fn without_float_blending_accumulation_is_a_typed_error() {
    on_both_with(limits().without_float_blend(true), |dev| {
        assert!(!dev.capabilities().float_blend);
        let one = Kernel::<NoParams>::new(dev, "one", [], ONE).unwrap();
        let mut y = Vector::zeros(dev, 5).unwrap();
        let error = one.with([], &NoParams).accumulate(Accum::Add).run(&mut y).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("Add") && error.to_string().contains("blending"), "{error}");
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = vec4(1.0); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "scatter", [], 1, body).unwrap();
        let points = Points::new(dev, &[&[[0.0; 4]]]).unwrap();
        let error = scatter.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut y).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        one.run(&mut y, [], &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), [1.0; 5], "the next call works");
    });
}

/// `Api::ALL` is what `on_both` runs on.
#[test]
fn both_dialects_are_tested() {
    assert_eq!(Api::ALL.len(), 2);
}

/// Names that texla uses for itself, with a prefix, are free for inputs and parameters.
#[test]
fn plain_names_are_free() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) { return width(p) + zero(p) + tail(p) + inverse_(p) + out0(p) + x(p) + x_fold(p); }";
        let names = ["width", "zero", "tail", "inverse_", "out0", "x", "x_fold"];
        let kernel = Kernel::<NoParams>::new(dev, "plain", names, body).unwrap();
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let mut y = Vector::zeros(dev, 2).unwrap();
        kernel.run(&mut y, [&x as &dyn Operand; 7], &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), [7.0, 14.0]);
    });
}
