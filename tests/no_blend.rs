//! A device that cannot blend floats: the same results wherever blending is not essential, a typed error where it is.

mod common;

use common::harness::{fitting, headless_with, limits, on_both_with};
use common::random::{nonzero, wide_range};
use texla::gl::{Api, Limits};
use texla::kernel::{Accum, Domain, Kernel, NoParams};
use texla::{Device, Error, Layout, Shape, Vector, ops};

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

#[test]
fn blended_passes_are_refused_before_they_are_drawn() {
    on_both_with(without_blend(), |dev| {
        let caps = dev.capabilities();
        assert!(!caps.float_blend && !caps.float_min_max, "{caps:?}");
        let body = "vec4 kernel(ivec2 p) { return vec4(1.0); }";
        let kernel = Kernel::<NoParams>::new(dev, "ones", [], body).unwrap();
        let mut out = Vector::filled(dev, 5, 2.0).unwrap();
        for accum in [Accum::Add, Accum::Max, Accum::Min] {
            let before = dev.counters().draws;
            let e = kernel.with([], &NoParams).accumulate(accum).run(&mut out).unwrap_err();
            assert!(matches!(e, Error::Unsupported { .. }), "{e}");
            assert_eq!(dev.counters().draws, before);
        }
        assert_eq!(out.read().unwrap(), [2.0; 5]);
    });
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
