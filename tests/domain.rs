//! What a pass covers: exactly the texels that were asked for, each with its own position.
#![allow(unsafe_code)]

mod common;

use std::process::Command;

use common::harness::{fitting, limits, on_both, on_both_with};
use common::loader::{self, Entry::glDrawArrays};
use texla::kernel::{
    Accum, Bodies, Domain, Kernel, NoParams, Points, PointsKernel, SplatKernel, TargetOperand,
};
use texla::{Device, DeviceOptions, Error, Plane, Result, Vector, ops};

/// Adds to each texel covered what says where it is: 1, x, y, and its number.
const WHERE: &str =
    "vec4 kernel(ivec2 p) { return vec4(1.0, float(p.x), float(p.y), float(texel_index(p))); }";

fn cover(dev: &Device, out: &mut impl TargetOperand, domain: Domain<'_>, accum: Accum) -> Result<()> {
    let kernel = Kernel::<NoParams>::new(dev, "where", [], WHERE)?;
    kernel.with([], &NoParams).on(domain).accumulate(accum).run(out)
}

/// Extents 64x40, 8x8, 4x2, 2x1, 1x1.
const LENGTHS: [usize; 5] = [4 * 64 * 40, 256, 32, 8, 4];

fn check(dev: &Device, accum: Accum) {
    for n in LENGTHS {
        let (w, h) = { Vector::zeros(dev, n).map(|v| (v.extent().width, v.extent().height)).unwrap() };
        let rectangle =
            |x, y, width, height| (Domain::Rect { x, y, width, height }, [x, y, x + width, y + height]);
        let row = |y| (Domain::Row(y), [0, y, w, y + 1]);
        let column = |x| (Domain::Column(x), [x, 0, x + 1, h]);
        let interior = rectangle(1.min(w - 1), 1.min(h - 1), (w - 1).max(1), (h - 1).max(1));
        let mut cases = vec![(Domain::Full, [0, 0, w, h]), interior, rectangle(0, 0, w, h)];
        cases.extend([0, h / 2, h - 1].map(row));
        cases.extend([0, w / 2, w - 1].map(column));
        for (domain, [left, low, right, high]) in cases {
            let mut out = Vector::zeros(dev, n).unwrap();
            cover(dev, &mut out, domain, accum).unwrap();
            let mut want = vec![0.0; n];
            for (y, x) in (low..high).flat_map(|y| (left..right).map(move |x| (y, x))) {
                let t = y * w + x;
                want[4 * t as usize..][..4].copy_from_slice(&[1.0, x as f32, y as f32, t as f32]);
            }
            assert!(out.read().unwrap() == want, "{w}x{h}: [{left}, {low}) to [{right}, {high})");
        }
    }
}

#[test]
fn each_texel_of_the_domain_and_no_other() {
    on_both(|dev| check(dev, Accum::Replace));
}

/// A texel touched twice would show in the sum.
#[test]
fn each_texel_only_once() {
    on_both(|dev| check(dev, Accum::Add));
}

/// Where lines cannot be trusted, rectangles take their place.
#[test]
fn rows_and_columns_without_lines() {
    let limits = common::harness::limits().without_float_blend(true);
    on_both_with(limits, |dev| {
        assert!(!dev.capabilities().exact_lines);
        check(dev, Accum::Replace);
        check(dev, Accum::Add);
    });
}

#[test]
fn domains_outside_the_target_are_refused() {
    on_both(|dev| {
        let mut out = Vector::zeros(dev, 32).unwrap();
        let (w, h) = (out.extent().width, out.extent().height);
        let row = cover(dev, &mut out, Domain::Row(h), Accum::Replace).unwrap_err();
        assert_eq!(row, Error::IndexOutOfRange { what: "row", index: h as usize, bound: h as usize });
        let column = cover(dev, &mut out, Domain::Column(u32::MAX), Accum::Replace).unwrap_err();
        let index = u32::MAX as usize;
        assert_eq!(column, Error::IndexOutOfRange { what: "column", index, bound: w as usize });
        for [x, y, width, height] in [[0, 0, w + 1, 1], [0, h, 1, 1], [1, 0, w, 1], [u32::MAX, 0, 2, 1]] {
            let e = cover(dev, &mut out, Domain::Rect { x, y, width, height }, Accum::Replace).unwrap_err();
            assert!(matches!(e, Error::Interface { .. }), "{e}");
        }
        assert_eq!(out.read().unwrap(), [0.0; 32]);
    });
}

/// Extents that are no powers of two, one texel wide or high, and not square.
const EXTENTS: [[usize; 2]; 8] = [[1, 1], [1, 37], [41, 1], [2, 3], [7, 5], [16, 16], [61, 13], [33, 64]];

/// Each covered texel of `out` holds 1, all others 0, when each texel is touched exactly once.
fn assert_once(out: &Plane, [w, h]: [usize; 2], covered: impl Fn(usize, usize) -> bool, what: &str) {
    let want: Vec<f32> = (0..w * h).map(|i| f32::from(u8::from(covered(i % w, i / w)))).collect();
    assert!(out.read().unwrap() == want, "{what} on {w}x{h}");
}

/// Every kind of domain on every extent, added up: a texel left out or touched twice shows.
fn cover_all(dev: &Device) {
    let one = Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }").unwrap();
    let points = PointsKernel::<NoParams>::new(
        dev,
        "number",
        [],
        0,
        "void point(int i, out ivec2 texel, out vec4 value) { texel = texel_position(i); value = vec4(1.0); }",
    )
    .unwrap();
    let bodies = Bodies {
        vertex: "void splat(int i, out vec4 rectangle, out vec4 value) { rectangle = attribute0; value = vec4(1.0); }",
        fragment: "vec4 kernel(ivec2 p, vec4 value) { return value; }",
    };
    let splats = SplatKernel::<NoParams>::new(dev, "rectangle", [], 1, bodies).unwrap();
    let bodies = Bodies {
        vertex: "void splat(int i, out vec4 rectangle, out vec4 value) {
            rectangle = vec4(-1.0, -1.0, 1e3, 1e3);
            rectangle[int(attribute0.x)] = uintBitsToFloat(0x7fc00000u + uint(i));
            value = vec4(1.0);
        }",
        fragment: "vec4 kernel(ivec2 p, vec4 value) { return value; }",
    };
    let no_number = SplatKernel::<NoParams>::new(dev, "not a number", [], 1, bodies).unwrap();
    for [w, h] in EXTENTS {
        let fresh = || Plane::zeros(dev, w, h).unwrap();
        let (columns, rows) = (w as u32, h as u32);
        let drawn = |domain, accum| {
            let mut out = fresh();
            one.with([], &NoParams).on(domain).accumulate(accum).run(&mut out).unwrap();
            out
        };
        assert_once(&drawn(Domain::Full, Accum::Add), [w, h], |_, _| true, "full");
        for x in 0..columns {
            assert_once(&drawn(Domain::Column(x), Accum::Add), [w, h], |i, _| i == x as usize, "column");
        }
        for y in 0..rows {
            assert_once(&drawn(Domain::Row(y), Accum::Add), [w, h], |_, j| j == y as usize, "row");
        }
        // Interior, left and right column: the passes of a Jacobi sweep [Goeddeke05], each texel in exactly one.
        let mut out = fresh();
        let (left, right) = (Domain::Column(0), Domain::Column(columns - 1));
        let interior = Domain::Rect { x: 1, y: 0, width: columns.saturating_sub(2), height: rows };
        let parts = [left, right, interior];
        for domain in parts.into_iter().take(columns.min(3) as usize) {
            one.with([], &NoParams).on(domain).accumulate(Accum::Add).run(&mut out).unwrap();
        }
        assert_once(&out, [w, h], |_, _| true, "interior and sides");
        let mut out = fresh();
        let all = Points::numbered(dev, w * h).unwrap();
        points.with([], &all, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        assert_once(&out, [w, h], |_, _| true, "points");
        // Rectangles that share edges tile the target, whatever lies past it.
        let (cut, line) = ((w / 2) as f32, (h / 3) as f32);
        let tiles = [
            [-5.0, -1e9, cut, line],
            [cut, -7.0, 1e9, line],
            [-1e30, line, cut, 1e30],
            [cut, line, w as f32 + 0.5, h as f32],
            [cut, line, cut, line + 1.0],
            [w as f32, 0.0, w as f32 + 4.0, h as f32],
        ];
        let mut out = fresh();
        let tiles = Points::new(dev, &[&tiles]).unwrap();
        splats.with([], &tiles, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        assert_once(&out, [w, h], |_, _| true, "splats");
        // A texel belongs to the rectangle that its centre lies in.
        let mut out = fresh();
        let inner = Points::new(dev, &[&[[0.49, 0.51, 2.51, 1e3]]]).unwrap();
        splats.with([], &inner, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        assert_once(&out, [w, h], |i, j| i < 3 && j > 0, "centres");
        // Exactly so: rasterisers that round positions to 1/16 or 1/256 must not show.
        for [low, high] in [[1.5, 3.5], [1.500_1, 3.500_1], [1.499_9, 3.499_9], [0.5 - 3e-8, 0.5]] {
            let mut out = fresh();
            let close = Points::new(dev, &[&[[low, low, high, high]]]).unwrap();
            splats.with([], &close, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
            let within = |i: usize| (low..high).contains(&(i as f32 + 0.5));
            assert_once(&out, [w, h], |i, j| within(i) && within(j), &format!("{low} to {high}"));
        }
        // What is no rectangle covers nothing.
        for side in 0..4 {
            let mut out = fresh();
            let number = Points::new(dev, &[&[[side as f32, 0.0, 0.0, 0.0]]]).unwrap();
            no_number.with([], &number, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
            assert_once(&out, [w, h], |_, _| false, &format!("NaN for side {side}"));
        }
    }
    numbers_hold(dev);
}

/// Every vertex of a long array knows its number; softpipe alone would lose count after 4,096.
fn numbers_hold(dev: &Device) {
    let body = "void point(int i, out ivec2 texel, out vec4 value) {
        texel = ivec2(0); value = vec4(attribute0.x == float(i) ? 1.0 : 0.0); }";
    let count = PointsKernel::<NoParams>::new(dev, "known", [], 1, body).unwrap();
    let numbers: Vec<[f32; 4]> = (0..20_000).map(|i| [i as f32; 4]).collect();
    let mut known = Plane::zeros(dev, 1, 1).unwrap();
    count
        .with([], &Points::new(dev, &[&numbers]).unwrap(), &NoParams)
        .accumulate(Accum::Add)
        .run(&mut known)
        .unwrap();
    assert_eq!(known.read().unwrap(), [20_000.0]);
}

#[test]
fn every_domain_touches_each_texel_exactly_once() {
    on_both(cover_all);
}

/// A rectangle is drawn in bands, none of which has more than a watchdog bears: as many calls as the texels ask for, and every
/// texel once.
#[test]
fn long_rectangles_are_cut_into_bands() {
    on_both(|dev| {
        loader::begin();
        // SAFETY: the context is current while the test holds the guest; the loader knows the functions.
        let options = DeviceOptions::default().with_limits(limits());
        let guest = unsafe { Device::from_loader(loader::loader(), options) }.unwrap();
        let caps = guest.capabilities();
        let most = if caps.software { 1 << 17 } else { 1 << 23 };
        for texels in [most, 2 * most, 3 * most] {
            let n = fitting(dev, 4 * texels as usize);
            let x = Vector::filled(&guest, n, 1.0).unwrap();
            let mut y = Vector::zeros(&guest, n).unwrap();
            ops::scaled(&mut y, 2.0, &x).unwrap(); // compiled
            loader::fail_any(0..0); // counts from here
            let draws = guest.counters().draws;
            ops::scaled(&mut y, 3.0, &x).unwrap();
            let calls = loader::calls(glDrawArrays) as usize;
            // Bands end with tiles of the rasteriser: some are a little smaller.
            let least = y.extent().area().div_ceil(most) as usize;
            assert!(calls >= least && calls <= 2 * least, "{calls} calls for {} texels", y.extent().area());
            assert_eq!(guest.counters().draws, draws + 1);
            assert!(y.read().unwrap().iter().all(|v| *v == 3.0));
        }
    });
}

/// More points, and more texels under splats, than one draw takes.
#[test]
fn long_draws_are_split_and_nothing_is_lost_between() {
    on_both(|dev| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = ivec2(i % 3, 0); value = vec4(1.0); }";
        let points = PointsKernel::<NoParams>::new(dev, "thirds", [], 0, body).unwrap();
        let mut out = Plane::zeros(dev, 3, 1).unwrap();
        let count: usize = (1 << 18) + 5;
        let before = dev.counters();
        let all = Points::numbered(dev, count).unwrap();
        points.with([], &all, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        let a_draw = dev.capabilities().points_a_draw as usize;
        assert_eq!(dev.counters().since(&before).draws, count.div_ceil(a_draw) as u64);
        let want = [0, 1, 2].map(|k| ((count + 2 - k) / 3) as f32);
        assert_eq!(out.read().unwrap(), want);
        let splats_a_draw = if dev.capabilities().software { 1 << 13 } else { 1 << 14 };
        // 64x64 texels. Each is one texel, named by its number and by its attribute.
        let bodies = Bodies {
            vertex: "void splat(int i, out vec4 rectangle, out vec4 value) {
                ivec2 p = texel_position(i % 4096);
                rectangle = vec4(vec2(p), vec2(p) + 1.0);
                value = vec4(attribute0.x == float(i) ? 1.0 : 0.0);
            }",
            fragment: "vec4 kernel(ivec2 p, vec4 value) { return value; }",
        };
        let splats = SplatKernel::<NoParams>::new(dev, "texels", [], 1, bodies).unwrap();
        let count: usize = (1 << 14) + 100;
        let numbers: Vec<[f32; 4]> = (0..count).map(|i| [i as f32, 0.0, 0.0, 0.0]).collect();
        let numbers = Points::new(dev, &[&numbers]).unwrap();
        let mut out = Plane::zeros(dev, 64, 64).unwrap();
        let before = dev.counters();
        splats.with([], &numbers, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        assert_eq!(dev.counters().since(&before).draws, count.div_ceil(a_draw.min(splats_a_draw)) as u64);
        let want: Vec<f32> = (0..4096).map(|i| if i < 100 { 5.0 } else { 4.0 }).collect();
        assert!(out.read().unwrap() == want);
        // The same vertices as points afterwards: one for each vertex again, from the first on.
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = ivec2(0, 0); value = vec4(attribute0.x == float(i) ? 1.0 : 0.0); }";
        let each = PointsKernel::<NoParams>::new(dev, "each", [], 1, body).unwrap();
        let mut out = Plane::zeros(dev, 1, 1).unwrap();
        each.with([], &numbers, &NoParams).accumulate(Accum::Add).run(&mut out).unwrap();
        assert_eq!(out.read().unwrap(), [count as f32]);
    });
}

/// An interpolated varying is the affine function that the corners give, on every domain.
#[test]
fn varyings_are_interpolated_between_the_corners() {
    on_both(|dev| {
        let corner = "void vertex(vec2 p) { place = vec4(p, p.x - 2.0 * p.y, 1.0); }";
        let body = "vec4 kernel(ivec2 p) {
            vec2 here = vec2(p) + 0.5;
            vec4 want = vec4(here, here.x - 2.0 * here.y, 1.0);
            return vec4(all(lessThan(abs(place - want), vec4(1e-3))) ? 1.0 : -1.0); }";
        let bodies = Bodies { vertex: corner, fragment: body };
        let kernel = Kernel::<NoParams>::interpolated(dev, "place", [], ["place"], bodies).unwrap();
        for [w, h] in EXTENTS {
            let (x, y) = (w as u32 / 2, h as u32 / 2);
            let rectangle = Domain::Rect { x, y, width: w as u32 - x, height: h as u32 - y };
            let inside = |i: usize, j: usize| i >= x as usize && j >= y as usize;
            type Covered<'a> = &'a dyn Fn(usize, usize) -> bool;
            let cases: [(Domain<'_>, Covered<'_>); 4] = [
                (Domain::Full, &|_, _| true),
                (rectangle, &inside),
                (Domain::Row(y), &|_, j| j == y as usize),
                (Domain::Column(x), &|i, _| i == x as usize),
            ];
            for (domain, covered) in cases {
                let mut out = Plane::zeros(dev, w, h).unwrap();
                kernel.with([], &NoParams).on(domain).accumulate(Accum::Add).run(&mut out).unwrap();
                assert_once(&out, [w, h], covered, "interpolated");
            }
        }
        let bodies = Bodies { vertex: "void vertex(vec2 p) {\n    place = nothing; }", fragment: body };
        let wrong = Kernel::<NoParams>::interpolated(dev, "mine", [], ["place"], bodies);
        let e = wrong.err().unwrap().to_string();
        assert!(e.contains("mine (vertex):2"), "{e}");
    });
}

/// The same on softpipe, which rasterises by other code; as a process of its own, since Mesa reads the variable once.
#[test]
fn every_domain_touches_each_texel_exactly_once_on_another_driver() {
    const CHILD: &str = "TEXLA_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        on_both(|dev| {
            assert!(dev.capabilities().renderer.contains("softpipe"), "{}", dev.capabilities().renderer);
            cover_all(dev);
        });
        return;
    }
    let me = "every_domain_touches_each_texel_exactly_once_on_another_driver";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args([me, "--exact", "--nocapture"]).env(CHILD, "1").env("GALLIUM_DRIVER", "softpipe");
    let out = child.output().unwrap();
    assert!(
        out.status.success(),
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}
