//! Masks, predicated passes, and loops of variable length for each cell [BeyondVector] 28.4.1.

#![allow(unsafe_code)]

mod common;

use common::harness::{fitting, headless, lengths, limits, on_both, on_both_with};
use common::random::{Rng, uniform};
use glow::HasContext;
use texla::gl::Api;
use texla::kernel::{
    Accum, Bodies, Condition, IterateWhile, Kernel, Mask, NoParams, PingPong, Points, PointsKernel,
    Predicate, SplatKernel, WhileParams, WhileSchedule,
};
use texla::{Device, Error, Matrix, Plane, Shape, Vector};

texla::params! { struct Bound { bound: f32 } }

/// Texels in use by a vector of this length.
fn texels(n: usize) -> usize {
    n.div_ceil(4)
}

fn above(dev: &Device) -> Condition<Bound> {
    Condition::new(dev, "above", ["x"], "bool kernel(ivec2 p) { return x(p).x > bound; }").unwrap()
}

/// How many texels a mask admits, by drawing into them: what the queries are compared with.
fn admitted(dev: &Device, mask: &Mask, like: &Vector) -> usize {
    let one = Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }").unwrap();
    let mut out = Vector::zeros(dev, like.len()).unwrap();
    one.with([], &NoParams).only(Predicate::If(mask)).run(&mut out).unwrap();
    out.read().unwrap().chunks(4).filter(|t| t[0] == 1.0).count()
}

/// On both dialects, by queries and, as in a browser, without.
fn on_all(test: impl Fn(&Device)) {
    on_both(&test);
    on_both_with(limits().without_sample_queries(true), test);
}

fn check_count(dev: &Device, mask: &Mask, want: usize) {
    let before = dev.counters();
    assert_eq!(mask.any().unwrap(), want > 0);
    let any = dev.counters().since(&before).readbacks;
    assert_eq!(mask.count().unwrap(), want as u64);
    let count = dev.counters().since(&before).readbacks - any;
    let queries = dev.capabilities().sample_queries;
    let sums = [!queries, !queries || dev.api() == Api::Es30];
    assert_eq!([any, count], sums.map(u64::from), "a sum is read once, a query by no readback");
}

/// Both branches of a condition together are every texel once, for a condition that also holds for zeros: texels past
/// the end are none of the vector's.
#[test]
fn a_mask_divides_the_texels_and_is_counted() {
    on_all(|dev| {
        for n in lengths(dev, 70_000) {
            let values = uniform(3, n);
            let x = Vector::from_slice(dev, &values).unwrap();
            let condition = above(dev);
            for bound in [-2.0, -0.25, 0.5, 2.0] {
                let mask = condition.mask(&x, [&x], &Bound { bound }).unwrap();
                let want = values.chunks(4).filter(|t| t[0] > bound).count();
                check_count(dev, &mask, want);
                assert_eq!(admitted(dev, &mask, &x), want, "{n} above {bound}");
                let text = "vec4 kernel(ivec2 p) { return vec4(1.0); }";
                let one = Kernel::<NoParams>::new(dev, "one", [], text).unwrap();
                let mut both = Vector::zeros(dev, n).unwrap();
                for predicate in [Predicate::If(&mask), Predicate::Unless(&mask)] {
                    let mut out = Vector::zeros(dev, n).unwrap();
                    one.with([], &NoParams).only(predicate).run(&mut out).unwrap();
                    texla::ops::accumulate(&mut both, &out).unwrap();
                }
                assert!(both.read().unwrap().iter().all(|v| *v == 1.0), "{n} above {bound}");
            }
        }
    });
}

/// Points and splats meet the depth test like any other pass.
#[test]
fn points_and_splats_are_restricted_too() {
    on_both(|dev| {
        let (w, h) = (13, 9);
        let fresh = || Plane::zeros(dev, w, h).unwrap();
        let chess = Condition::<NoParams>::new(
            dev,
            "chess",
            [],
            "bool kernel(ivec2 p) { return (p.x + p.y) % 3 == 0; }",
        );
        let mask = chess.unwrap().mask(&fresh(), [], &NoParams).unwrap();
        let every = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = ivec2(i % 13, i / 13); value = vec4(1.0 + float(i)); }";
        let points = PointsKernel::<NoParams>::new(dev, "every", [], 0, every).unwrap();
        let whole =
            "void splat(int i, out vec4 r, out vec4 v) { r = vec4(0.0, 0.0, 13.0, 9.0); v = vec4(2.0); }";
        let body = "vec4 kernel(ivec2 p, vec4 v) { return v; }";
        let bodies = Bodies { vertex: whole, fragment: body };
        let splats = SplatKernel::<NoParams>::new(dev, "whole", [], 0, bodies).unwrap();
        for (predicate, inside) in [(Predicate::If(&mask), true), (Predicate::Unless(&mask), false)] {
            let admitted = |i: usize| (i % w + i / w).is_multiple_of(3) == inside;
            let mut out = fresh();
            let all = Points::numbered(dev, w * h).unwrap();
            points.with([], &all, &NoParams).accumulate(Accum::Add).only(predicate).run(&mut out).unwrap();
            let want = (0..w * h).map(|i| if admitted(i) { 1.0 + i as f32 } else { 0.0 });
            assert_eq!(out.read().unwrap(), want.collect::<Vec<_>>());
            let mut out = fresh();
            let three = Points::numbered(dev, 3).unwrap();
            splats.with([], &three, &NoParams).accumulate(Accum::Add).only(predicate).run(&mut out).unwrap();
            let want = (0..w * h).map(|i| if admitted(i) { 6.0 } else { 0.0 });
            assert_eq!(out.read().unwrap(), want.collect::<Vec<_>>());
        }
        let mut other = Plane::zeros(dev, w + 1, h).unwrap();
        let all = Points::numbered(dev, 5).unwrap();
        let e = points.with([], &all, &NoParams).only(Predicate::If(&mask)).run(&mut other).unwrap_err();
        assert!(matches!(e, Error::Interface { .. }), "{e}");
    });
}

/// An if within an if, and within its else, against the same on the CPU; the outer mask is used again afterwards.
#[test]
fn masks_nest_and_are_reused() {
    on_all(|dev| {
        for n in [1, 7, 1009, fitting(dev, 40_000)] {
            let (a, b) = (uniform(5, n), uniform(6, n));
            let [x, y] = [&a, &b].map(|v| Vector::from_slice(dev, v).unwrap());
            let condition = above(dev);
            let outer = condition.mask(&x, [&x], &Bound { bound: 0.1 }).unwrap();
            let inner =
                condition.mask_within(Predicate::If(&outer), &x, [&y], &Bound { bound: -0.3 }).unwrap();
            let other =
                condition.mask_within(Predicate::Unless(&outer), &x, [&y], &Bound { bound: 0.4 }).unwrap();
            let mut narrowed = condition.mask(&x, [&x], &Bound { bound: 0.1 }).unwrap();
            condition.narrow(&mut narrowed, [&y], &Bound { bound: -0.3 }).unwrap();
            let count =
                |f: &dyn Fn(f32, f32) -> bool| (0..texels(n)).filter(|t| f(a[4 * t], b[4 * t])).count();
            check_count(dev, &inner, count(&|a, b| a > 0.1 && b > -0.3));
            check_count(dev, &narrowed, count(&|a, b| a > 0.1 && b > -0.3));
            check_count(dev, &other, count(&|a, b| a <= 0.1 && b > 0.4));
            check_count(dev, &outer, count(&|a, _| a > 0.1));
            // What has been taken out is out for good, and is the else branch's.
            condition.narrow(&mut narrowed, [&y], &Bound { bound: -2.0 }).unwrap();
            check_count(dev, &narrowed, count(&|a, b| a > 0.1 && b > -0.3));
            let one = Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }")
                .unwrap();
            let mut rest = Vector::zeros(dev, n).unwrap();
            let unless = Predicate::Unless(&narrowed);
            one.with([], &NoParams).only(unless).run(&mut rest).unwrap();
            let rest = rest.read().unwrap();
            for t in 0..texels(n) {
                let want = f32::from(u8::from(!(a[4 * t] > 0.1 && b[4 * t] > -0.3)));
                assert_eq!(rest[4 * t], want, "texel {t} of {n}");
            }
        }
    });
}

const COLLATZ: &str = "bool unfinished(ivec2 p, vec4 s) { return s.x > 1.0; }
vec4 advance(ivec2 p, vec4 s) {
    bool odd = mod(s.x, 2.0) == 1.0;
    return vec4(odd ? 3.0 * s.x + 1.0 : 0.5 * s.x, s.y + 1.0, s.z + s.x, s.w);
}";

/// `[1, steps, sum of values, start]` of the Collatz sequence: lengths differ wildly between neighbours.
fn collatz(start: u32) -> [f32; 4] {
    let (mut x, mut steps, mut sum) = (start, 0u32, 0u32);
    while x > 1 {
        sum += x;
        x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
        steps += 1;
    }
    [x as f32, steps as f32, sum as f32, start as f32]
}

/// Whether loops know how many cells are left.
fn counting(dev: &Device) -> bool {
    dev.api() == Api::Gl33 || !dev.capabilities().sample_queries
}

/// Readbacks of a loop that ends of itself after so many passes, of which one in ten may be in vain: none with queries.
fn readbacks(dev: &Device, passes: usize) -> u64 {
    let (mut read, mut seen) = (0, 0);
    while !dev.capabilities().sample_queries && seen <= passes {
        // One pass more than may be in vain, or the room for counts.
        seen += ((seen / 10).max(1) + 1).min(64);
        read += 1;
    }
    read
}

/// Every cell runs for as long as it takes, whatever the steps in a pass, the schedule, and the number of cells.
#[test]
fn loops_run_for_as_long_as_each_cell_takes() {
    on_all(|dev| {
        let kernel = IterateWhile::<NoParams>::new(dev, "collatz", [], COLLATZ).unwrap();
        for cells in [1, 2, 5, 97, 1000] {
            let mut random = Rng::new(cells as u64);
            // Sums stay below 2^24: exact. Some cells are done before the first step.
            let starts: Vec<u32> = (0..cells).map(|_| 1 + random.below(400) as u32).collect();
            let starts: Vec<u32> =
                starts.into_iter().map(|s| if collatz(s)[2] < 16e6 { s } else { 1 }).collect();
            let values: Vec<f32> = starts.iter().flat_map(|s| [*s as f32, 0.0, 0.0, *s as f32]).collect();
            let want: Vec<f32> = starts.iter().flat_map(|s| collatz(*s)).collect();
            let longest = starts.iter().map(|s| collatz(*s)[1] as usize).max().unwrap();
            for (steps_per_pass, schedule) in [1, 3, 64]
                .into_iter()
                .flat_map(|k| [WhileSchedule::Predicated, WhileSchedule::Branching].map(|s| (k, s)))
            {
                // What the back buffer holds must not matter.
                let junk = Vector::from_slice(dev, &vec![7.0; values.len()]).unwrap();
                let mut state = PingPong::new(Vector::from_slice(dev, &values).unwrap(), junk);
                let before = dev.counters();
                let limits = WhileParams::default()
                    .with_steps_per_pass(steps_per_pass)
                    .with_max_passes(1000)
                    .with_schedule(schedule);
                let report = kernel.run(&mut state, [], &NoParams, limits).unwrap();
                let done = dev.counters().since(&before);
                assert_eq!(done.async_checks, 0);
                assert_eq!(done.readbacks, readbacks(dev, report.passes), "{} passes", report.passes);
                assert!(report.finished);
                assert_eq!(report.passes, longest.div_ceil(steps_per_pass as usize));
                assert!(
                    state.front().read().unwrap() == want,
                    "{cells} cells, {steps_per_pass} steps, {schedule:?}"
                );
                let active = |pass: usize| {
                    let made = (pass * steps_per_pass as usize) as f32;
                    starts.iter().filter(|s| collatz(**s)[1] > made).count() as u64
                };
                let counts: Vec<u64> = (0..=report.passes).map(active).collect();
                assert_eq!(report.active, if counting(dev) { counts } else { vec![] });
            }
        }
    });
}

/// A loop cut short says so, with what is left, and its state is that of a loop over so many steps.
#[test]
fn passes_can_run_out() {
    on_all(|dev| {
        let kernel = IterateWhile::<NoParams>::new(dev, "collatz", [], COLLATZ).unwrap();
        let starts = [1u32, 2, 3, 27, 97, 8];
        let values: Vec<f32> = starts.iter().flat_map(|s| [*s as f32, 0.0, 0.0, *s as f32]).collect();
        for schedule in [WhileSchedule::Predicated, WhileSchedule::Branching] {
            for max_passes in [0, 1, 2, 3, 7] {
                let [front, back] = [&values, &values].map(|v| Vector::from_slice(dev, v).unwrap());
                let mut state = PingPong::new(front, back);
                let limits = WhileParams::default()
                    .with_steps_per_pass(2)
                    .with_max_passes(max_passes)
                    .with_schedule(schedule);
                let report = kernel.run(&mut state, [], &NoParams, limits).unwrap();
                assert_eq!((report.passes, report.finished), (max_passes, false), "{schedule:?}");
                let counts = (0..=max_passes)
                    .map(|k| starts.iter().filter(|s| collatz(**s)[1] > 2.0 * k as f32).count() as u64);
                assert_eq!(report.active, if counting(dev) { counts.collect() } else { vec![] });
                let steps: Vec<f32> = state.front().read().unwrap().chunks(4).map(|t| t[1]).collect();
                let want: Vec<f32> =
                    starts.iter().map(|s| collatz(*s)[1].min(2.0 * max_passes as f32)).collect();
                assert_eq!(steps, want);
            }
        }
        // Done just at the end of the passes.
        let mut state = PingPong::new(
            Vector::from_slice(dev, &[8.0, 0.0, 0.0, 8.0]).unwrap(),
            Vector::zeros(dev, 4).unwrap(),
        );
        let limits = WhileParams::default().with_steps_per_pass(1).with_max_passes(3);
        let report = kernel.run(&mut state, [], &NoParams, limits).unwrap();
        assert!(report.finished && report.passes == 3, "{report:?}");
        assert_eq!(state.front().read().unwrap(), collatz(8));
    });
}

/// A vector whose last texel and last rows are padding: those cells never count as unfinished.
#[test]
fn padding_does_not_keep_a_loop_alive() {
    on_all(|dev| {
        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < limit_here().x; }
            vec4 advance(ivec2 p, vec4 s) { return s + 1.0; }";
        let kernel = IterateWhile::<NoParams>::new(dev, "count up", ["limit"], body).unwrap();
        for n in [1, 2, 3, 5, 4 * 67 + 1, 4001] {
            let limit = Vector::filled(dev, n, 5.0).unwrap();
            let mut state = PingPong::new(Vector::zeros(dev, n).unwrap(), Vector::zeros(dev, n).unwrap());
            let report = kernel.run(&mut state, [&limit], &NoParams, WhileParams::default()).unwrap();
            assert!(report.finished && report.passes == 1, "{report:?}");
            assert_eq!(state.front().read().unwrap(), vec![5.0; n]);
            let first = report.active.first().copied().unwrap_or(texels(n) as u64);
            assert_eq!(first, texels(n) as u64);
        }
        // A plane has a texel for each element, and none besides.
        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < float(p.x + p.y); }
            vec4 advance(ivec2 p, vec4 s) { return s + 1.0; }";
        let kernel = IterateWhile::<NoParams>::new(dev, "ramp", [], body).unwrap();
        let mut state = PingPong::new(Plane::zeros(dev, 19, 11).unwrap(), Plane::zeros(dev, 19, 11).unwrap());
        let limits = WhileParams::default().with_steps_per_pass(2);
        assert_eq!(kernel.run(&mut state, [], &NoParams, limits).unwrap().passes, 14);
        let want: Vec<f32> = (0..19 * 11).map(|i| (i % 19 + i / 19) as f32).collect();
        assert_eq!(state.front().read().unwrap(), want);
    });
}

#[test]
fn what_cannot_run_is_refused() {
    on_both(|dev| {
        let kernel = IterateWhile::<NoParams>::new(dev, "collatz", [], COLLATZ).unwrap();
        let fresh = |n| Vector::zeros(dev, n).unwrap();
        let none = WhileParams::default().with_steps_per_pass(0);
        let e = kernel.run(&mut PingPong::new(fresh(4), fresh(4)), [], &NoParams, none).unwrap_err();
        assert!(matches!(e, Error::Parameter { name: "steps_per_pass", .. }), "{e}");
        for other in [8, 3] {
            let mut unlike = PingPong::new(fresh(4), fresh(other));
            let e = kernel.run(&mut unlike, [], &NoParams, WhileParams::default()).unwrap_err();
            assert!(matches!(e, Error::Interface { .. }), "{e}");
        }
        let mut state = PingPong::new(fresh(4), fresh(4));
        let e = kernel.run(&mut state, [&fresh(4)], &NoParams, WhileParams::default()).unwrap_err();
        assert!(e.to_string().contains("inputs given"), "{e}");
        let broken = "bool unfinished(ivec2 p, vec4 s) { return false; }\n\nvec4 advance(ivec2 p, vec4 s) { return t; }";
        let e = IterateWhile::<NoParams>::new(dev, "broken", [], broken).err().unwrap().to_string();
        assert!(e.contains("broken:3"), "{e}");
        let (x, y) = (fresh(4), fresh(400));
        let condition = above(dev);
        let mask = condition.mask(&x, [&x], &Bound { bound: 0.0 }).unwrap();
        let e = condition.mask_within(Predicate::If(&mask), &y, [&y], &Bound { bound: 0.0 }).err().unwrap();
        assert!(matches!(e, Error::Interface { .. }), "{e}");
        let elsewhere = headless(dev.api());
        let theirs = above(elsewhere.device());
        let mut mine = condition.mask(&x, [&x], &Bound { bound: 0.0 }).unwrap();
        let z = Vector::zeros(elsewhere.device(), 4).unwrap();
        let e = theirs.narrow(&mut mine, [&z], &Bound { bound: 0.0 }).unwrap_err();
        assert!(matches!(e, Error::WrongDevice { .. }), "{e}");
    });
}

/// The application counts samples itself: the API has room for one such query, so texla says that its own cannot begin,
/// and leaves the application's alone.
#[test]
fn an_applications_own_query_is_left_alone() {
    on_both(|dev| {
        let gl = dev.glow();
        let x = Vector::from_slice(dev, &[1.0, 0.0, 0.0, 0.0]).unwrap();
        let mask = above(dev).mask(&x, [&x], &Bound { bound: 0.5 }).unwrap();
        let kernel = IterateWhile::<NoParams>::new(dev, "collatz", [], COLLATZ).unwrap();
        let live = dev.live_objects().queries;
        let targets: &[u32] = match dev.api() {
            Api::Gl33 => &[glow::SAMPLES_PASSED, glow::ANY_SAMPLES_PASSED],
            Api::Es30 => &[glow::ANY_SAMPLES_PASSED, glow::ANY_SAMPLES_PASSED_CONSERVATIVE],
        };
        for target in targets {
            // SAFETY: the context is current, here and below.
            let query = unsafe {
                let query = gl.create_query().unwrap();
                gl.begin_query(*target, query);
                assert_eq!(gl.get_error(), glow::NO_ERROR);
                query
            };
            let e = mask.any().unwrap_err();
            assert!(matches!(e, Error::Unsupported { .. }), "{e}");
            assert!(e.to_string().contains("occlusion query"), "{e}");
            let mut state = PingPong::new(
                Vector::from_slice(dev, &[8.0, 0.0, 0.0, 8.0]).unwrap(),
                Vector::zeros(dev, 4).unwrap(),
            );
            for schedule in [WhileSchedule::Predicated, WhileSchedule::Branching] {
                let (drawn, params) = (dev.counters().draws, WhileParams::default().with_schedule(schedule));
                let e = kernel.run(&mut state, [], &NoParams, params).unwrap_err();
                assert!(matches!(e, Error::Unsupported { .. }), "{e}");
                assert_eq!(state.front().read().unwrap(), [8.0, 0.0, 0.0, 8.0]);
                assert_eq!(dev.counters().draws, drawn, "nothing counts in the application's");
            }
            // SAFETY: as above.
            unsafe {
                gl.end_query(*target);
                gl.delete_query(query);
                assert_eq!(gl.get_error(), glow::NO_ERROR, "the application's query is still its own");
            }
            assert!(mask.any().unwrap(), "the next call works");
        }
        // What waits to be deleted goes with the next entry.
        dev.trim().unwrap();
        assert_eq!(dev.live_objects().queries, live);
    });
}

/// Sums are no queries: one of the application's may be active.
#[test]
fn sums_leave_room_for_an_applications_query() {
    on_both_with(limits().without_sample_queries(true), |dev| {
        let gl = dev.glow();
        let x = Vector::from_slice(dev, &[1.0, 0.0, 0.0, 0.0]).unwrap();
        let mask = above(dev).mask(&x, [&x], &Bound { bound: 0.5 }).unwrap();
        // SAFETY: the context is current, here and below.
        let query = unsafe {
            let query = gl.create_query().unwrap();
            gl.begin_query(glow::ANY_SAMPLES_PASSED, query);
            query
        };
        check_count(dev, &mask, 1);
        // SAFETY: as above.
        unsafe {
            gl.end_query(glow::ANY_SAMPLES_PASSED);
            gl.delete_query(query);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        assert_eq!(dev.live_objects().queries, 0, "and texla has made none");
    });
}

/// A loop of so many passes that all counts which are read together are in use.
#[test]
fn long_loops_read_as_many_counts_as_there_is_room_for() {
    on_both_with(limits().without_sample_queries(true), |dev| {
        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 800.0; }
            vec4 advance(ivec2 p, vec4 s) { return s + 1.0; }";
        let kernel = IterateWhile::<NoParams>::new(dev, "count up", [], body).unwrap();
        let mut state = PingPong::new(Vector::zeros(dev, 4).unwrap(), Vector::zeros(dev, 4).unwrap());
        let before = dev.counters();
        let report =
            kernel.run(&mut state, [], &NoParams, WhileParams::default().with_steps_per_pass(1)).unwrap();
        assert_eq!(dev.counters().since(&before).readbacks, readbacks(dev, 800));
        let counts: Vec<u64> = [1; 800].into_iter().chain([0]).collect();
        assert!(report.finished && report.passes == 800 && report.active == counts, "{report:?}");
        assert_eq!(state.front().read().unwrap(), [800.0; 4]);
    });
}

/// Counts past 2^16, which are in both halves of a texel, and past 2^24, from where floats leave numbers out.
#[test]
fn large_masks_are_counted_exactly() {
    on_both_with(limits().without_sample_queries(true), |dev| {
        let most = dev.capabilities().max_texture_size as usize;
        for (width, height) in [(257, 256), (4099, 4097)].map(|(w, h)| (w.min(most), h.min(most))) {
            let body = "bool kernel(ivec2 p) { return p != ivec2(5, 7) && p.y != 17; }";
            let some = Condition::<NoParams>::new(dev, "some", [], body).unwrap();
            let mask = some.mask(&Plane::zeros(dev, width, height).unwrap(), [], &NoParams).unwrap();
            assert_eq!(mask.count().unwrap(), (width * (height - 1) - 1) as u64);
        }
    });
}

/// A mask is one texture: of data in several it would say what holds in the first of them alone.
#[test]
fn a_mask_of_data_in_several_textures_is_refused() {
    let small = limits().with_max_texture_size(Some(64));
    on_both_with(small, |dev| {
        let always =
            Condition::<NoParams>::new(dev, "always", [], "bool kernel(ivec2 p) { return true; }").unwrap();
        let tiled = Matrix::zeros(dev, Shape::new(4, 65)).unwrap();
        assert_eq!(tiled.tiles().count(), 2);
        let e = always.mask(&tiled, [], &NoParams).err().unwrap();
        assert!(matches!(e, Error::Unsupported { .. }), "{e}");
        let whole = Matrix::zeros(dev, Shape::new(4, 64)).unwrap();
        check_count(dev, &always.mask(&whole, [], &NoParams).unwrap(), 64);
    });
}
