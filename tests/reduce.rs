//! Reductions: the plan by itself, the figures' error bound, exactness, and what they cost.

mod common;

use common::bounds::{DIV_ULPS, SQRT_ULPS, TINY, U, assert_within, gamma, reduction_bound, ulp};
use common::harness::{fitting, lengths, limits, on_both, on_both_with, write_bits};
use common::random::{any_bits, cancelling, cancelling_pair, uniform, wide_range};
use common::reference::{self, widen};
use proptest::prelude::*;
use texla::ops::{self, ReducePlan, Reduction, Window, Windows, reduce};
use texla::{Device, Error, Extent, Matrix, Scalar, Shape, Vector};

/// Windows of the papers, of the library, and of every awkward kind.
fn windows() -> Vec<Window> {
    [(2, 2), (16, 16), (3, 5), (1, 2), (2, 1), (64, 1), (1, 64), (7, 3)]
        .map(|(w, h)| Window::new(w, h).unwrap())
        .to_vec()
}

// --- the plan, without any GL ---

/// Checks one plan by carrying out its windows on counts: how many elements each texel holds, and through how many
/// additions the worst of them went.
fn follow(extent: Extent, window: impl Into<Windows> + Copy + std::fmt::Debug) {
    let plan = ReducePlan::new(extent, window);
    let stages = plan.stages();
    assert_eq!(stages.first().map(|s| s.source), Some(extent));
    assert_eq!(stages.last().map(|s| s.target), Some(Extent::new(1, 1)));
    let mut held = vec![(1u64, 0u64); extent.area() as usize];
    for (i, stage) in stages.iter().enumerate() {
        let (source, target) = (stage.source, stage.target);
        assert!(stages.get(i + 1).is_none_or(|next| next.source == target), "a gap after stage {i}");
        assert!(target.width <= source.width && target.height <= source.height);
        assert!(target.area() < source.area() || source.area() == 1, "stage {i} does not shrink {source}");
        let mut next = Vec::new();
        for y in 0..target.height {
            for x in 0..target.width {
                let range = |at: u32, side: u32, apart: u32, end: u32| {
                    let (from, step) = if stage.spread { (at, apart) } else { (at * side, 1) };
                    (0..side).map(move |k| from + k * step).filter(move |at| *at < end)
                };
                let columns = range(x, stage.window.width, target.width, source.width);
                let rows = range(y, stage.window.height, target.height, source.height);
                let inside = rows.flat_map(|j| columns.clone().map(move |i| (j * source.width + i) as usize));
                let window: Vec<_> = inside.map(|t| held[t]).collect();
                assert!(!window.is_empty(), "texel ({x}, {y}) of stage {i} combines nothing");
                let deepest = window.iter().map(|h| h.1).max().unwrap();
                next.push((window.iter().map(|h| h.0).sum(), deepest + window.len() as u64 - 1));
            }
        }
        held = next;
    }
    // As many elements as there were, and windows that do not overlap: each exactly once.
    assert_eq!(held[0].0, extent.area());
    // Two more additions for the lanes.
    assert_eq!(plan.longest_chain(), held[0].1 + 2, "{extent} by {window:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_cover_everything_once(w in 1u32..300, h in 1u32..300, x in 1u32..40, y in 1u32..40) {
        prop_assume!(x * y >= 2);
        follow(Extent::new(w, h), Window::new(x, y).unwrap());
    }

    #[test]
    fn balanced_plans_cover_everything_once(w in 1u32..1100, h in 1u32..1100) {
        follow(Extent::new(w, h), Windows::Balanced);
    }
}

#[test]
fn plans_of_strips_and_single_texels() {
    for window in windows() {
        for (w, h) in [(1, 1), (2, 1), (1, 2), (10_007, 1), (1, 10_007), (2, 4097), (4097, 2)] {
            follow(Extent::new(w, h), window);
        }
    }
}

/// Windows far larger than any texture, and fields set without `Window::new`.
#[test]
fn plans_end_whatever_the_window() {
    let extents =
        [(1, 1), (5, 3), (16_384, 16_384), (u32::MAX, u32::MAX), (0, 0)].map(|(w, h)| Extent::new(w, h));
    let sides = [0, 1, 2, 70_000, u32::MAX];
    for extent in extents {
        for window in sides.iter().flat_map(|&width| sides.map(|height| Window { width, height })) {
            let plan = ReducePlan::new(extent, window);
            assert_eq!(
                plan.stages().last().map(|s| s.target),
                Some(Extent::new(1, 1)),
                "{extent} by {window:?}"
            );
            let fits =
                |s: &reduce::Stage| s.window.width <= s.source.width && s.window.height <= s.source.height;
            assert!(plan.stages().iter().all(fits), "{plan:?}");
            assert!(plan.longest_chain() >= 2);
        }
    }
    for (w, h) in [(0, 0), (0, 5), (5, 0), (1, 1)] {
        assert!(matches!(Window::new(w, h), Err(Error::Parameter { .. })), "{w}x{h}");
    }
}

// --- sums ---

fn chain(x: &Vector, window: impl Into<Windows> + Copy + std::fmt::Debug) -> usize {
    ReducePlan::new(x.extent(), window).longest_chain() as usize
}

fn reduced(
    reduction: Reduction,
    x: &Vector,
    y: Option<&Vector>,
    window: impl Into<Windows> + Copy + std::fmt::Debug,
) -> f32 {
    let mut out = Scalar::zero(x.device()).unwrap();
    reduce::reduce_into(&mut out, reduction, x, y, window).unwrap();
    out.read().unwrap()
}

/// Sum and dot product of these values within the reduction bound, for one window.
fn check_sums(dev: &Device, x: &[f32], y: &[f32], window: impl Into<Windows> + Copy + std::fmt::Debug) {
    let [xs, ys] = [x, y].map(|v| Vector::from_slice(dev, v).unwrap());
    let (x, y) = (widen(x), widen(y));
    let d = chain(&xs, window);
    let name = format!("sum of {} by {window:?}", x.len());
    let bound = reduction_bound(d, reference::abs_sum(&x));
    assert_within(&name, reduced(Reduction::Sum, &xs, None, window), reference::sum(&x), bound);
    let bound = reduction_bound(d, reference::abs_dot(&x, &y));
    assert_within(&name, reduced(Reduction::Dot, &xs, Some(&ys), window), reference::dot(&x, &y), bound);
}

#[test]
fn sums_of_every_length_are_within_their_bound() {
    on_both(|dev| {
        for n in lengths(dev, 20_000) {
            for window in windows() {
                check_sums(dev, &uniform(n as u64, n), &wide_range(n as u64 + 1, n, 10), window);
            }
        }
    });
}

#[test]
fn cancelling_sums_are_within_their_bound() {
    on_both(|dev| {
        for n in [2, 5, 50, 1009, fitting(dev, 65_537)] {
            for window in windows() {
                let (x, y) = cancelling_pair(n as u64, n);
                check_sums(dev, &x, &y, window);
                check_sums(dev, &cancelling(n as u64, n), &vec![1.0; n], window);
            }
        }
    });
}

#[test]
fn long_sums_are_within_their_bound() {
    on_both(|dev| {
        let n = fitting(dev, 1 << 22);
        let (x, y) = cancelling_pair(22, n);
        check_sums(dev, &x, &y, Windows::Balanced);
        check_sums(dev, &cancelling(23, n - 1), &uniform(24, n - 1), Window::PAPERS);
    });
}

/// The named functions are the default window.
#[test]
fn the_named_functions_agree_with_the_general_one() {
    on_both(|dev| {
        let [x, y] = [1, 2].map(|seed| Vector::from_slice(dev, &uniform(seed, 5003)).unwrap());
        let by = |reduction, y| reduced(reduction, &x, y, Windows::Balanced).to_bits();
        let named = |s: texla::Result<Scalar>| s.unwrap().read().unwrap().to_bits();
        assert_eq!(named(ops::sum(&x)), by(Reduction::Sum, None));
        assert_eq!(named(ops::dot(&x, &y)), by(Reduction::Dot, Some(&y)));
        assert_eq!(named(ops::max_element(&x)), by(Reduction::Max, None));
        assert_eq!(named(ops::min_element(&x)), by(Reduction::Min, None));
        assert_eq!(named(ops::max_abs(&x)), by(Reduction::MaxAbs, None));
        assert_eq!(named(ops::nonfinite(&x)), by(Reduction::NonFinite, None));
    });
}

#[test]
fn windows_larger_than_the_texture_sum_everything() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &[1.0; 1009]).unwrap();
        for (w, h) in
            [(70_000, 70_000), (u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX), (1 << 16, 1 << 15)]
        {
            assert_eq!(reduced(Reduction::Sum, &x, None, Window::new(w, h).unwrap()), 1009.0, "{w}x{h}");
        }
    });
}

// --- extremes ---

#[test]
fn extremes_are_exact() {
    on_both(|dev| {
        for n in lengths(dev, 20_000).into_iter().filter(|n| *n > 0) {
            let mixed = any_bits(n as u64, n);
            let positive: Vec<_> = mixed.iter().map(|v| v.abs()).collect();
            let negative: Vec<_> = mixed.iter().map(|v| -v.abs()).collect();
            for values in [mixed, positive, negative] {
                let x = Vector::from_slice(dev, &values).unwrap();
                let wide = widen(&values);
                for window in [Windows::Balanced, Window::PAPERS.into(), Window::new(64, 1).unwrap().into()] {
                    for (reduction, want) in [
                        (Reduction::Max, reference::max(&wide)),
                        (Reduction::Min, reference::min(&wide)),
                        (Reduction::MaxAbs, reference::max_abs(&wide)),
                    ] {
                        let got = reduced(reduction, &x, None, window);
                        assert_eq!(f64::from(got), want, "{reduction:?} of {n} by {window:?}");
                    }
                }
            }
        }
    });
}

/// The extreme in every single place, among neighbours of the opposite sign.
#[test]
fn no_place_is_overlooked() {
    on_both(|dev| {
        let n = 131;
        let mut x = Vector::zeros(dev, n).unwrap();
        for at in 0..n {
            let mut values = vec![-2.0; n];
            values[at] = -1.0;
            x.write(&values).unwrap();
            assert_eq!(reduced(Reduction::Max, &x, None, Window::PAPERS), -1.0, "at {at}");
            assert_eq!(reduced(Reduction::Sum, &x, None, Window::PAPERS), 1.0 - 2.0 * n as f32);
            values.iter_mut().for_each(|v| *v = -*v);
            x.write(&values).unwrap();
            assert_eq!(reduced(Reduction::Min, &x, None, Window::PAPERS), 1.0, "at {at}");
        }
    });
}

#[test]
fn no_elements_at_all() {
    on_both(|dev| {
        let x = Vector::zeros(dev, 0).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 0.0);
        assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 0.0);
        assert_eq!(ops::max_abs(&x).unwrap().read().unwrap(), 0.0);
        assert_eq!(ops::norm2(&x).unwrap().read().unwrap(), 0.0);
        assert_eq!(ops::nonfinite(&x).unwrap().read().unwrap(), 0.0);
        for e in [ops::max_element(&x).map(drop), ops::min_element(&x).map(drop)] {
            assert!(matches!(e, Err(Error::Parameter { op: "reduce", name: "x.len()", .. })), "{e:?}");
        }
    });
}

/// Windows decide on last digits, whether texels lie side by side or apart among them; those of the library's choice are the same
/// on all kinds of devices.
#[test]
fn windows_decide_on_last_digits() {
    on_both(|dev| {
        // One vector may have the same sum in all orders.
        let differ = (77..85).filter(|seed| {
            let x = Vector::from_slice(dev, &uniform(*seed, fitting(dev, 100_000))).unwrap();
            let eight = Windows::Each(Window::new(8, 8).unwrap());
            let stages = |windows| ReducePlan::new(x.extent(), windows).stages().to_vec();
            let (beside, spread) = (stages(eight), stages(Windows::Balanced));
            assert_eq!(beside[0].window, spread[0].window);
            assert!(!beside[0].spread && spread.iter().all(|stage| stage.spread));
            reduced(Reduction::Sum, &x, None, eight) != reduced(Reduction::Sum, &x, None, Windows::Balanced)
        });
        assert!(differ.count() > 0, "windows decide on no digit");
    });
}

// --- what is not finite ---

/// Finite numbers, those next to infinity among them, and the bits of what is none: both infinities, NaN quiet, signalling,
/// negative.
const FINITE: [u32; 5] = [0x3f80_0000, 0, 0x7f7f_ffff, 0xff7f_ffff, 0x0080_0000];
const NON_FINITE: [u32; 6] = [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001, 0xffff_ffff, 0xff80_0001];

#[test]
fn what_is_not_finite_is_counted() {
    on_both(|dev| {
        for n in lengths(dev, 5_000) {
            let mut rng = common::random::Rng::new(n as u64);
            let bits: Vec<u32> = (0..n)
                .map(|_| match rng.below(3) {
                    0 => NON_FINITE[rng.below(NON_FINITE.len())],
                    _ => FINITE[rng.below(FINITE.len())],
                })
                .collect();
            let mut x = Vector::zeros(dev, n).unwrap();
            write_bits(&mut x, &bits);
            assert!(x.read().unwrap().iter().zip(&bits).all(|(v, b)| v.to_bits() == *b), "made as wanted");
            let want = bits.iter().filter(|b| !f32::from_bits(**b).is_finite()).count();
            for window in [Windows::Balanced, Window::PAPERS.into(), Window::new(64, 1).unwrap().into()] {
                assert_eq!(reduced(Reduction::NonFinite, &x, None, window), want as f32, "{n} by {window:?}");
            }
        }
    });
}

/// One of each kind in every place, in a vector and in a matrix of several textures.
#[test]
fn nothing_that_is_not_finite_is_overlooked() {
    on_both(|dev| {
        let n = 37;
        let mut x = Vector::zeros(dev, n).unwrap();
        for (at, kind) in (0..n).flat_map(|at| NON_FINITE.map(|kind| (at, kind))) {
            let mut bits = vec![FINITE[at % FINITE.len()]; n];
            bits[at] = kind;
            write_bits(&mut x, &bits);
            assert_eq!(ops::nonfinite(&x).unwrap().read().unwrap(), 1.0, "{kind:x} at {at}");
        }
        assert_eq!(ops::nonfinite(&Scalar::new(dev, f32::MAX).unwrap()).unwrap().read().unwrap(), 0.0);
    });
    on_both_with(limits().with_max_texture_size(Some(16)), |dev| {
        let mut a = Matrix::filled(dev, Shape::new(80, 40), f32::MAX).unwrap();
        assert!(a.tiles().count() > 1);
        assert_eq!(ops::nonfinite(&a).unwrap().read().unwrap(), 0.0);
        ops::scale(&mut a, -2.0).unwrap();
        assert_eq!(ops::nonfinite(&a).unwrap().read().unwrap(), 3200.0);
    });
}

/// As documented: what the extremes make of infinities.
#[test]
fn infinities_among_the_extremes() {
    on_both(|dev| {
        let mut x = Vector::zeros(dev, 5).unwrap();
        for (value, max, min) in
            [(f32::INFINITY, f32::INFINITY, f32::MAX), (f32::NEG_INFINITY, f32::MIN, f32::NEG_INFINITY)]
        {
            write_bits(&mut x, &[value.to_bits(); 5]);
            assert_eq!(ops::max_element(&x).unwrap().read().unwrap(), max);
            assert_eq!(ops::min_element(&x).unwrap().read().unwrap(), min);
            assert_eq!(ops::max_abs(&x).unwrap().read().unwrap(), f32::INFINITY);
            let mut y = Vector::zeros(dev, 5).unwrap();
            ops::clamp(&mut y, &x, -2.0, 3.0).unwrap();
            assert_eq!(y.read().unwrap(), [value.clamp(-2.0, 3.0); 5]);
        }
    });
}

/// As documented: a NaN may be passed over, be the result, or hide others, but what comes out is one of the elements (or
/// what no element at all would give), and [`ops::nonfinite`] tells. A clamped one lies between the bounds or stays NaN.
#[test]
fn nan_among_the_extremes() {
    on_both(|dev| {
        let others = [-3.0, 0.5, 7.0, 2.0, -0.25, 6.0, 1.5];
        for (at, kind) in (0..others.len()).flat_map(|at| NON_FINITE.map(|kind| (at, kind))) {
            if !f32::from_bits(kind).is_nan() {
                continue;
            }
            let mut bits = others.map(f32::to_bits);
            bits[at] = kind;
            let mut x = Vector::zeros(dev, others.len()).unwrap();
            write_bits(&mut x, &bits);
            let left = || (0..others.len()).filter(|i| *i != at).map(|i| others[i]);
            for (what, found, sized) in [
                ("max", ops::max_element(&x), false),
                ("min", ops::min_element(&x), false),
                ("max_abs", ops::max_abs(&x), true),
            ] {
                let found = found.unwrap().read().unwrap();
                let one = left().any(|v| found == if sized { v.abs() } else { v });
                assert!(one || found.is_nan(), "{what} of {kind:x} at {at}: {found}");
            }
            assert_eq!(ops::nonfinite(&x).unwrap().read().unwrap(), 1.0, "{kind:x} at {at}");
            let mut y = Vector::zeros(dev, others.len()).unwrap();
            ops::clamp(&mut y, &x, -1.0, 5.0).unwrap();
            for (i, v) in y.read().unwrap().into_iter().enumerate() {
                let fits = if i == at {
                    v.is_nan() || (-1.0..=5.0).contains(&v)
                } else {
                    v == others[i].clamp(-1.0, 5.0)
                };
                assert!(fits, "clamp of {kind:x} at {at}: element {i} is {v}");
            }
        }
    });
}

// --- the window of the papers ---

/// The 2x2 halving of [BeyondVector] 28.4.2, stage by stage in 32-bit floats; odd sides are rounded up.
fn halved(mut texels: Vec<[f32; 4]>, extent: Extent) -> f32 {
    let (mut width, mut height) = (extent.width as usize, extent.height as usize);
    loop {
        // A side of one texel lends its share to the other.
        let (w, h) = match (width, height) {
            (1, _) => (1, 4),
            (_, 1) => (4, 1),
            _ => (2, 2),
        };
        let mut next = Vec::new();
        for y in (0..height).step_by(h) {
            for x in (0..width).step_by(w) {
                let mut sum = [0.0f32; 4];
                for j in y..(y + h).min(height) {
                    for i in x..(x + w).min(width) {
                        sum.iter_mut().zip(texels[j * width + i]).for_each(|(s, v)| *s += v);
                    }
                }
                next.push(sum);
            }
        }
        (texels, width, height) = (next, width.div_ceil(w), height.div_ceil(h));
        if let [[a, b, c, d]] = texels.as_slice() {
            return (a + b) + (c + d);
        }
    }
}

#[test]
fn the_papers_window_is_its_twin_bit_for_bit() {
    on_both(|dev| {
        for n in lengths(dev, 20_000) {
            let x = Vector::from_slice(dev, &uniform(n as u64 + 5, n)).unwrap();
            let texels = x.read_texels().unwrap().chunks(4).map(|t| [t[0], t[1], t[2], t[3]]).collect();
            let got = reduced(Reduction::Sum, &x, None, Window::PAPERS);
            assert_eq!(got, halved(texels, x.extent()), "{n}");
        }
    });
}

// --- filtered windows ---

#[test]
fn filtered_sums_are_within_their_bound() {
    on_both(|dev| {
        // Mesa's rasteriser is known to: this must not be passed over there.
        let caps = dev.capabilities();
        assert!(caps.float_filter || !caps.renderer.contains("llvmpipe"), "{caps:?}");
        if !caps.float_filter {
            return;
        }
        for n in lengths(dev, 20_000) {
            check_sums(dev, &uniform(n as u64, n), &wide_range(n as u64 + 1, n, 10), Windows::Filtered);
            check_sums(dev, &wide_range(n as u64 + 1, n, 30), &cancelling(n as u64, n), Windows::Filtered);
        }
        let n = fitting(dev, 1 << 20);
        let (x, y) = cancelling_pair(22, n);
        check_sums(dev, &x, &y, Windows::Filtered);
    });
}

/// The plan counts four roundings for a whole window; and windows do go through the sampler, which rounds in another way
/// than three additions do.
#[test]
fn filtered_windows_are_filtered() {
    let plan = |windows: Windows| ReducePlan::new(Extent::new(64, 64), windows).longest_chain();
    assert_eq!((plan(Window::PAPERS.into()), plan(Windows::Filtered)), (6 * 3 + 2, 6 * 4 + 2));
    on_both(|dev| {
        if !dev.capabilities().float_filter {
            return;
        }
        let differ = (0..20).filter(|seed| {
            let x = Vector::from_slice(dev, &uniform(*seed, 64 * 64)).unwrap();
            let by = |windows: Windows| reduced(Reduction::Sum, &x, None, windows).to_bits();
            by(Windows::Filtered) != by(Window::PAPERS.into())
        });
        assert!(differ.count() > 5);
    });
}

/// Texels past an odd edge belong to somebody else: the filter must not see them. They are made huge first.
#[test]
fn filtered_windows_end_at_odd_edges() {
    on_both(|dev| {
        if !dev.capabilities().float_filter {
            return;
        }
        for n in [1, 5, 13, 36, 60, 100, 250, 251, 1009, 4 * 33 * 32, fitting(dev, 10_007)] {
            let huge = Vector::filled(dev, fitting(dev, 4 * n.next_power_of_two()), f32::MAX).unwrap();
            drop(huge);
            for window in [Window::PAPERS, Window::new(3, 5).unwrap()] {
                let huge = Vector::filled(dev, fitting(dev, 4 * n), f32::MAX).unwrap();
                reduced(Reduction::Max, &huge, None, window);
            }
            let x = Vector::filled(dev, n, 1.0).unwrap();
            assert_eq!(reduced(Reduction::Sum, &x, None, Windows::Filtered), n as f32);
            assert_eq!(reduced(Reduction::Dot, &x, Some(&x), Windows::Filtered), n as f32);
            // The mean is divided once, which a GPU need not round correctly.
            let mean = f64::from(reduced(Reduction::Mean, &x, None, Windows::Filtered));
            assert!((mean - 1.0).abs() <= f64::from(f32::EPSILON) * DIV_ULPS, "{n}: {mean}");
        }
    });
}

#[test]
fn filtering_is_refused_where_it_would_be_wrong() {
    on_both(|dev| {
        let x = Vector::filled(dev, 9, 1.0).unwrap();
        let mut out = Scalar::new(dev, 5.0).unwrap();
        for reduction in [Reduction::Max, Reduction::Min, Reduction::MaxAbs, Reduction::NonFinite] {
            let e = reduce::reduce_into(&mut out, reduction, &x, None, Windows::Filtered).unwrap_err();
            assert!(matches!(e, Error::Parameter { op: "reduce", name: "windows", .. }), "{e}");
        }
        assert_eq!(out.read().unwrap(), 5.0);
    });
    on_both_with(limits().without_float_filter(true), |dev| {
        assert!(!dev.capabilities().float_filter);
        let x = Vector::filled(dev, 9, 1.0).unwrap();
        let mut out = Scalar::new(dev, 5.0).unwrap();
        let e = reduce::reduce_into(&mut out, Reduction::Sum, &x, None, Windows::Filtered).unwrap_err();
        assert!(matches!(e, Error::Unsupported { .. }), "{e}");
        assert_eq!(out.read().unwrap(), 5.0);
    });
}

// --- the mean ---

#[test]
fn means_are_within_their_bound() {
    on_both(|dev| {
        let mut all = vec![Windows::Balanced, Window::PAPERS.into()];
        all.extend(dev.capabilities().float_filter.then_some(Windows::Filtered));
        for n in lengths(dev, 5_000).into_iter().chain([fitting(dev, 300_007)]).filter(|n| *n > 0) {
            let values = wide_range(n as u64, n, 10);
            let (x, wide) = (Vector::from_slice(dev, &values).unwrap(), widen(&values));
            for windows in &all {
                let d = chain(&x, *windows);
                let bound = gamma(d + 7) * reference::abs_sum(&wide) / n as f64 + (n + 1) as f64 * TINY;
                let got = reduced(Reduction::Mean, &x, None, *windows);
                assert_within(
                    &format!("mean of {n} by {windows:?}"),
                    got,
                    reference::sum(&wide) / n as f64,
                    bound,
                );
            }
            assert_eq!(
                ops::mean(&x).unwrap().read().unwrap(),
                reduced(Reduction::Mean, &x, None, Windows::Balanced)
            );
        }
        let matrix = texla::Matrix::filled(dev, Shape::new(150, 90), 2.5).unwrap();
        assert_eq!(ops::mean(&matrix).unwrap().read().unwrap(), 2.5);
        let e = ops::mean(&Vector::zeros(dev, 0).unwrap()).err().unwrap();
        assert!(matches!(e, Error::Parameter { op: "reduce", name: "x.len()", .. }), "{e}");
    });
}

// --- the norm ---

fn check_norm(dev: &Device, values: &[f32]) {
    let x = Vector::from_slice(dev, values).unwrap();
    let want = reference::norm2(&widen(values));
    // Half the error of the sum of squares, the root, and a division by a power of two. What is flushed of the
    // squares was less than 2^-126 of the largest, each.
    let d = chain(&x, Windows::Balanced);
    let flushed = values.len() as f64 * 2f64.powi(-126);
    let bound = (gamma(d + 1) + flushed + U * U) * want + (SQRT_ULPS + DIV_ULPS) * ulp(want);
    let got = ops::norm2(&x).unwrap().read().unwrap();
    assert_within(&format!("norm of {} values like {:e}", values.len(), values[0]), got, want, bound);
}

#[test]
fn norms_neither_overflow_nor_vanish() {
    on_both(|dev| {
        for n in [1, 2, 5, 50, 1009, fitting(dev, 100_003)] {
            for magnitude in [1.0, 1e-19, 1e19, 1e-30, 1e30, 1e-37, 1e35, 2f32.powi(60), 2f32.powi(-60)] {
                let mut values: Vec<_> = uniform(n as u64, n).iter().map(|v| v * magnitude).collect();
                // The products must stay normal floats for the twin's sake.
                values.iter_mut().filter(|v| !v.is_normal()).for_each(|v| *v = 0.0);
                values[0] = magnitude;
                check_norm(dev, &values);
            }
            check_norm(dev, &wide_range(n as u64, n, 40));
            let mut mixed = vec![1e-30; n];
            mixed[n / 2] = 1e30;
            check_norm(dev, &mixed);
        }
        check_norm(dev, &[f32::MAX]);
        check_norm(dev, &[f32::MIN_POSITIVE, 0.0, -f32::MIN_POSITIVE]);
        let zeros = Vector::zeros(dev, 1009).unwrap();
        assert_eq!(ops::norm2(&zeros).unwrap().read().unwrap(), 0.0);
    });
}

/// Scale invariance in the small: a power of two goes through the norm unchanged.
#[test]
fn norms_scale_with_powers_of_two() {
    on_both(|dev| {
        let values = uniform(3, 1009);
        let norm = |scale: f32| {
            let scaled: Vec<_> = values.iter().map(|v| v * scale).collect();
            ops::norm2(&Vector::from_slice(dev, &scaled).unwrap()).unwrap().read().unwrap()
        };
        let plain = norm(1.0);
        for exponent in [-60, -30, -1, 1, 30, 60] {
            let scale = 2f32.powi(exponent);
            assert_eq!(norm(scale).to_bits(), (plain * scale).to_bits(), "2^{exponent}");
        }
    });
}

// --- cost and repetition ---

#[test]
fn results_stay_on_the_device_until_they_are_read() {
    on_both(|dev| {
        for n in [1, 5, 1009, fitting(dev, 100_003)] {
            let x = Vector::filled(dev, n, 1.0).unwrap();
            for window in windows() {
                let stages = ReducePlan::new(x.extent(), window).stages().len() as u64;
                let mut out = Scalar::zero(dev).unwrap();
                let before = dev.counters();
                reduce::reduce_into(&mut out, Reduction::Dot, &x, Some(&x), window).unwrap();
                let done = dev.counters().since(&before);
                assert_eq!((done.draws, done.readbacks, done.async_checks, done.uploads), (stages, 0, 0, 0));
                assert!(done.passes <= stages);
                assert_eq!(out.read().unwrap(), n as f32);
                assert_eq!(dev.counters().since(&before).readbacks, 1);
            }
            let before = dev.counters();
            let _norm = ops::norm2(&x).unwrap();
            let stages = ReducePlan::new(x.extent(), Windows::Balanced).stages().len() as u64;
            let done = dev.counters().since(&before);
            assert_eq!((done.draws, done.readbacks), (2 * stages, 0));
        }
    });
}

/// Repeatability within a process; tests/determinism.rs looks across processes.
#[test]
fn repetition_changes_no_bit() {
    on_both(|dev| {
        let n = fitting(dev, 100_003);
        let (x, y) = cancelling_pair(7, n);
        let [x, y] = [x, y].map(|v| Vector::from_slice(dev, &v).unwrap());
        let once = || {
            let results =
                [ops::sum(&x), ops::dot(&x, &y), ops::norm2(&x), ops::max_abs(&y), ops::nonfinite(&y)];
            results.map(|s| s.unwrap().read().unwrap().to_bits())
        };
        let first = once();
        for _ in 0..20 {
            assert_eq!(once(), first);
        }
    });
}

#[test]
fn scratch_is_reused() {
    on_both(|dev| {
        let x = Vector::filled(dev, fitting(dev, 100_003), 1.0).unwrap();
        drop(ops::norm2(&x).unwrap());
        let before = dev.pool_stats().allocated;
        for _ in 0..10 {
            drop(ops::norm2(&x).unwrap());
        }
        assert_eq!(dev.pool_stats().allocated, before);
    });
}

#[test]
fn operands_that_do_not_fit_are_named() {
    on_both(|dev| {
        let [five, six] = [5, 6].map(|n| Vector::filled(dev, n, 1.0).unwrap());
        let (op, operand) = ("reduce", "y");
        let (found, expected) = (Shape::column(6), Shape::column(5));
        assert_eq!(ops::dot(&five, &six).err(), Some(Error::ShapeMismatch { op, operand, found, expected }));
        let mut out = Scalar::zero(dev).unwrap();
        for (reduction, y) in [(Reduction::Sum, Some(&five)), (Reduction::Dot, None)] {
            let e = reduce::reduce_into(&mut out, reduction, &five, y, Windows::Balanced).unwrap_err();
            assert!(matches!(e, Error::Parameter { op: "reduce", name: "y", .. }), "{e}");
        }
    });
}
