//! What a pass covers: exactly the texels that were asked for, each with its own position.

mod common;

use common::harness::{on_both, on_both_with};
use texla::gl::Limits;
use texla::kernel::{Accum, Domain, Kernel, NoParams, Predicate};
use texla::{Device, Error, Result, Vector};

/// Adds to each texel covered what says where it is: 1, x, y, and its number.
const WHERE: &str =
    "vec4 kernel(ivec2 p) { return vec4(1.0, float(p.x), float(p.y), float(texel_index(p))); }";

fn cover(dev: &Device, out: &mut Vector, domain: Domain<'_>, accum: Accum) -> Result<()> {
    let kernel = Kernel::<NoParams>::new(dev, "where", [], WHERE)?;
    kernel.run_on(out, [], &NoParams, domain, accum, Predicate::Always)
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
    let limits = Limits { without_float_blend: true, ..common::harness::limits() };
    on_both_with(limits, |dev| {
        assert!(!dev.capabilities().exact_lines);
        check(dev, Accum::Replace);
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
