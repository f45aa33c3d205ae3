//! Recordings: the same bits and counts as without, textures that belong to whom they should, errors that say what is wrong.

use crate::gl::{Counters, glsl};
use crate::kernel::{
    Accum, Captured, Condition, Domain, Draw, Kernel, NoParams, Operand, Predicate, Recording, Replays,
    SlotId,
};
use crate::ops::{self, Combine};
use crate::{BandedMatrix, Device, Error, Headless, Matrix, Result, Shape, Vector};

const N: usize = 1024;

fn headless() -> Headless {
    Headless::new(Default::default()).unwrap()
}

fn numbers(seed: usize) -> Vec<f32> {
    (0..N).map(|i| ((i * 7919 + seed * 104_729) % 1000) as f32 / 500.0 - 1.0).collect()
}

fn vector(device: &Device, seed: usize) -> Vector {
    Vector::from_slice(device, &numbers(seed)).unwrap()
}

/// The work that does not depend on the clock.
fn work(device: &Device, run: impl FnOnce()) -> Counters {
    let before = device.counters();
    run();
    let mut done = device.counters().since(&before);
    (done.state_saves, done.compiles, done.compile_time) = (0, 0, Default::default());
    done
}

/// What a solver might do between two looks: products, sums in place, pooled textures, a mask, part of a target, blending, a
/// clear, two targets.
struct Work {
    a: BandedMatrix,
    dense: Matrix,
    positive: Condition<NoParams>,
    one: Kernel<NoParams>,
    two: Kernel<NoParams>,
}

impl Work {
    fn new(device: &Device) -> Self {
        let inputs = "vec4 kernel(ivec2 p) { return x(p) + 0.25; }";
        let both = "void kernel(ivec2 p, out vec4 o0, out vec4 o1) { o0 = 0.5 * x(p); o1 = x(p) + y(p); }";
        let condition = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
        let rows: Vec<f32> = (0..16 * N).map(|i| (i % 13) as f32 / 64.0).collect();
        Work {
            a: BandedMatrix::poisson_2d(device, 32, 32).unwrap(),
            dense: Matrix::from_rows(device, Shape::new(16, N), &rows).unwrap(),
            positive: Condition::new(device, "positive", ["x"], condition).unwrap(),
            one: Kernel::new(device, "one", ["x"], inputs).unwrap(),
            two: Kernel::with_outputs(device, "two", ["x", "y"], 2, both).unwrap(),
        }
    }

    /// `x` is read, changes places with pooled vectors and is written; `b` is read.
    fn run(&self, x: &mut Vector, b: &Vector) -> Result<()> {
        let device = b.device();
        let fresh = || Vector::uninit(device, N);
        let (mut p, mut q, mut r) = (fresh()?, fresh()?, Vector::zeros(device, N)?);
        ops::product(&mut p, Combine::SubtractFrom(b), 1.0, &self.a, x)?;
        ops::product(x, Combine::Accumulate, 0.125, &self.a, &p)?;
        let mask = self.positive.mask(&p, [&p], &NoParams)?;
        self.one.with([&*x], &NoParams).only(Predicate::If(&mask)).run(&mut r)?;
        self.one.with([&p], &NoParams).on(Domain::Column(3)).accumulate(Accum::Add).run(&mut r)?;
        self.one.with([&p], &NoParams).on(Domain::Row(5)).accumulate(Accum::Max).run(&mut r)?;
        self.two.with([&r, &p], &NoParams).run_many([&mut q, x])?;
        let mut short = Vector::uninit(device, 16)?;
        ops::product(&mut short, Combine::Replace, 0.5, &self.dense, &q)?;
        let sum = ops::dot(&q, b)?;
        let mut next = fresh()?;
        ops::axpy(&mut next, &sum, &q, x)?;
        std::mem::swap(x, &mut next);
        ops::scale(x, 1.0 / 1024.0)
    }
}

/// Finite numbers, and the same bits.
fn assert_same(found: &Vector, expected: &Vector, what: usize) {
    let [found, expected] = [found, expected].map(|v| v.read_texels().unwrap());
    assert!(expected.iter().all(|v| v.is_finite()) && expected.iter().any(|v| *v != 0.0), "{what}");
    let first = found.iter().zip(&expected).position(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(first, None, "{what}: the first number that differs");
}

/// A recording of the work on vectors that are exchanged, with the slots of `x` before, `x` after and `b`.
fn recorded(work: &Work, x: &mut Vector, b: &Vector) -> (Recording, [SlotId; 3]) {
    let Captured { value, recording } = Recording::capture(b.device(), |slots| {
        let (before, b_slot) = (slots.add(x.view()), slots.add(b.view()));
        work.run(x, b)?;
        Ok([before, slots.add(x.view()), b_slot])
    })
    .unwrap();
    (recording.unwrap(), value)
}

#[test]
fn replays_draw_the_same_bits_and_count_the_same() {
    let context = headless();
    let device = context.device();
    let (works, replays) = (Work::new(device), Replays::default());
    let (mut plain, mut replayed) = (vector(device, 1), vector(device, 1));
    works.run(&mut vector(device, 1), &vector(device, 2)).unwrap(); // compiles
    for k in 0..5 {
        let b = vector(device, 2 + k % 3);
        let described = work(device, || works.run(&mut plain, &b).unwrap());
        let again = work(device, || {
            let run = |x: &mut Vector| works.run(x, &b);
            replays.run(device, ((), 1), &mut replayed, &[&b], &|| Vector::uninit(device, N), &run).unwrap();
        });
        // Whether a pass begins with the target of the one before depends on what the pool gives.
        assert!(described.passes.abs_diff(again.passes) <= 1, "{k}: {described:?} {again:?}");
        assert_eq!(Counters { passes: again.passes, ..described }, again, "{k}");
        assert_same(&replayed, &plain, k);
        // Draws of others in between, with the same programs and other numbers, make no difference.
        works.run(&mut vector(device, 9), &vector(device, 8)).unwrap();
        ops::scale(&mut vector(device, 7), 3.0).unwrap();
    }
}

#[test]
fn a_replay_takes_other_textures_and_writes_no_others() {
    let context = headless();
    let device = context.device();
    let works = Work::new(device);
    let (mut x, b) = (vector(device, 1), vector(device, 2));
    let (recording, [before, after, b_slot]) = recorded(&works, &mut x, &b);
    assert!(before != after && recording.uses(before) && recording.uses(after) && recording.uses(b_slot));
    let first = x.read().unwrap();
    for seed in 3..6 {
        let (start, other_b, out) = (vector(device, seed), vector(device, seed + 10), vector(device, 0));
        let slots = [(after, out.view()), (before, start.view()), (b_slot, other_b.view())];
        recording.replay(&slots).unwrap();
        let mut expected = vector(device, seed);
        works.run(&mut expected, &other_b).unwrap();
        assert_same(&out, &expected, seed);
        assert_eq!(other_b.read().unwrap(), numbers(seed + 10));
    }
    assert_eq!((x.read().unwrap(), b.read().unwrap()), (first, numbers(2)));
}

/// Textures that a recording draws to serve nobody else, and those that it reads stay as they are, whatever becomes of the
/// vectors: until it is dropped.
#[test]
fn textures_belong_to_the_recording_until_it_is_dropped() {
    let context = headless();
    let device = context.device();
    let works = Work::new(device);
    let constant = vector(device, 4);
    let (mut x, b) = (vector(device, 1), vector(device, 2));
    let live = device.pool_stats().live;
    let Captured { value: (before, after), recording } = Recording::capture(device, |slots| {
        let before = slots.add(x.view());
        works.run(&mut x, &b)?;
        let mut sum = Vector::uninit(device, N)?;
        ops::add(&mut sum, &x, &constant)?;
        std::mem::swap(&mut x, &mut sum);
        Ok((before, slots.add(x.view())))
    })
    .unwrap();
    let recording = recording.unwrap();
    let expected = x.read().unwrap();
    let kept = device.pool_stats().live - live;
    assert!(kept >= 5, "{kept}");
    drop((constant, b));
    assert_eq!(device.pool_stats().live, live + kept); // `constant` and `b` are the recording's now
    let others: Vec<Vector> = (0..20).map(|seed| vector(device, seed)).collect();
    let (start, out) = (vector(device, 1), vector(device, 0));
    recording.replay(&[(before, start.view()), (after, out.view())]).unwrap();
    assert_eq!(out.read().unwrap(), expected);
    for (seed, other) in others.iter().enumerate() {
        assert_eq!(other.read().unwrap(), numbers(seed));
    }
    drop((others, start, out, x));
    assert_eq!(device.pool_stats().live, live - 3 + kept + 2);
    drop(recording);
    assert_eq!(device.pool_stats().live, live - 3);
}

#[test]
fn nothing_is_left_at_the_end() {
    let context = headless();
    let device = context.device().clone();
    let ledger = device.ledger();
    let works = Work::new(&device);
    let replays = Replays::default();
    let (mut x, b) = (vector(&device, 1), vector(&device, 2));
    for round in 0..3 {
        let run = |x: &mut Vector| works.run(x, &b);
        replays.run(&device, (round % 2, 1), &mut x, &[&b], &|| Vector::uninit(&device, N), &run).unwrap();
        // Framebuffers, programs of texla's own and what waits in the pool go; a recording makes the first anew.
        device.trim().unwrap();
        replays.run(&device, (round % 2, 1), &mut x, &[&b], &|| Vector::uninit(&device, N), &run).unwrap();
    }
    drop((replays, works, x, b));
    assert_eq!(device.pool_stats().live, 0);
    drop((device, context));
    assert_eq!(ledger.live_objects().total(), 0);
}

/// A device that has gone takes recordings with it, as it takes data.
#[test]
fn a_lost_context_is_an_error_and_leaves_nothing() {
    let context = headless();
    let device = context.device();
    let works = Work::new(device);
    let (mut x, b) = (vector(device, 1), vector(device, 2));
    let (recording, [before, after, b_slot]) = recorded(&works, &mut x, &b);
    let out = vector(device, 0);
    device.abandon();
    let slots = [(before, x.view()), (after, out.view()), (b_slot, b.view())];
    assert_eq!(recording.replay(&slots).err(), device.scope().err());
    drop(recording);
    assert_eq!(device.live_objects().total(), 0);
}

#[test]
fn what_cannot_be_exchanged_is_refused_by_what_it_is() {
    let (context, another) = (headless(), headless());
    let device = context.device();
    let works = Work::new(device);
    let (mut x, b) = (vector(device, 1), vector(device, 2));
    let constant = vector(device, 5);
    let Captured { value: [before, after, b_slot], recording } = Recording::capture(device, |slots| {
        let (before, b_slot) = (slots.add(x.view()), slots.add(b.view()));
        works.run(&mut x, &b)?;
        let mut sum = Vector::uninit(device, N)?;
        ops::add(&mut sum, &x, &constant)?;
        std::mem::swap(&mut x, &mut sum);
        Ok([before, slots.add(x.view()), b_slot])
    })
    .unwrap();
    let recording = recording.unwrap();
    let (p, q, r) = (vector(device, 6), vector(device, 7), vector(device, 8));
    let run = |x: &Vector, next: &Vector, b: &Vector| {
        let before_draws = device.counters().draws;
        let done = recording.replay(&[(before, x.view()), (after, next.view()), (b_slot, b.view())]);
        assert_eq!(device.counters().draws > before_draws, done.is_ok());
        done
    };
    let feedback =
        |slot: usize| Err(Error::Feedback { kernel: "recording".into(), input: format!("slot {slot}") });
    assert_eq!(run(&p, &p, &q), feedback(0)); // written over while it is read
    assert_eq!(run(&p, &q, &q), feedback(1));
    assert_eq!(run(&p, &constant, &q), feedback(2)); // read by the recording itself
    assert_eq!(run(&p, &q, &constant), Ok(())); // which may read it twice
    assert_eq!(run(&p, &q, &p), Ok(())); // as it may read one texture in two slots
    let short = Vector::zeros(device, N - 1).unwrap();
    let found = run(&p, &q, &short);
    assert!(matches!(&found, Err(Error::Interface { detail, .. }) if detail.contains("slot 1")), "{found:?}");
    let long = Vector::zeros(device, 4 * N).unwrap();
    assert!(matches!(run(&long, &q, &r), Err(Error::Interface { .. })));
    let foreign = vector(another.device(), 1);
    assert!(matches!(run(&p, &q, &foreign), Err(Error::WrongDevice { .. })));
    let unnamed = recording.replay(&[(before, p.view()), (b_slot, r.view())]);
    assert!(matches!(unnamed, Err(Error::Internal { place: "Recording::replay", .. })));
    // After all that it still does what it did.
    assert_eq!(run(&p, &q, &r), Ok(()));
    let mut expected = vector(device, 6);
    works.run(&mut expected, &r).unwrap();
    let mut sum = vector(device, 0);
    ops::add(&mut sum, &expected, &constant).unwrap();
    assert_same(&q, &sum, 0);
}

#[test]
fn what_cannot_be_recorded_is_named_and_described_again() {
    let context = headless();
    let device = context.device();
    let x = vector(device, 1);
    let positive =
        Condition::<NoParams>::new(device, "p", ["x"], "bool kernel(ivec2 p) { return x(p).x > 0.0; }");
    let positive = positive.unwrap();
    let tries: [(&str, &dyn Fn() -> Result<()>); 6] = [
        ("an upload", &|| Vector::from_slice(device, &[1.0]).map(drop)),
        ("a readback", &|| x.read().map(drop)),
        ("a readback", &|| x.read_async().map(drop)),
        ("a query", &|| positive.mask(&x, [&x], &NoParams)?.any().map(drop)),
        ("an upload to a buffer", &|| crate::BufferVector::from_slice(device, &[1.0]).map(drop)),
        ("an upload of vertices", &|| crate::kernel::Points::new(device, &[&[[0.0; 4]]]).map(drop)),
    ];
    for (what, run) in tries {
        let live = device.pool_stats().live;
        let inner = |_: &mut _| {
            let Captured { recording, .. } = Recording::capture(device, |_| {
                let mut y = Vector::uninit(device, N)?;
                ops::scaled(&mut y, 2.0, &x)?;
                run()
            })?;
            assert_eq!(recording.err(), Some(what));
            Ok(())
        };
        // What misses something inside another capture is missed there.
        let outer = Recording::capture(device, inner).unwrap();
        assert_eq!(outer.recording.err(), Some(what));
        assert_eq!(device.pool_stats().live, live, "{what}");
    }
    let (replays, mut y) = (Replays::default(), vector(device, 0));
    for value in [2.0, 3.0] {
        let describe = |y: &mut Vector| ops::add(y, &x, &Vector::filled(device, N, value)?);
        replays.run(device, ((), 1), &mut y, &[&x], &|| Vector::uninit(device, N), &describe).unwrap();
    }
    // A value of the closure's, which a recording would not have seen: what is kept by `Replays` may not depend on it.
    let doubled: Vec<f32> = numbers(1).iter().map(|v| v + 2.0).collect();
    assert_eq!(y.read().unwrap(), doubled);
    let replays = Replays::default();
    for value in [2.0, 3.0] {
        let describe = |y: &mut Vector| ops::add(y, &x, &Vector::from_slice(device, &[value; N])?);
        replays.run(device, ((), 1), &mut y, &[&x], &|| Vector::uninit(device, N), &describe).unwrap();
    }
    let tripled: Vec<f32> = numbers(1).iter().map(|v| v + 3.0).collect();
    assert_eq!(y.read().unwrap(), tripled);
}

#[test]
fn an_error_in_a_capture_leaves_nothing_open() {
    let context = headless();
    let device = context.device();
    let (x, mut y) = (vector(device, 1), vector(device, 2));
    let live = device.pool_stats().live;
    let failing = Recording::capture(device, |_| {
        let _kept = Vector::zeros(device, N)?;
        ops::scaled(&mut y, 2.0, &x)?;
        ops::add(&mut y, &x, &Vector::zeros(device, 3)?)
    });
    assert!(matches!(failing, Err(Error::ShapeMismatch { .. })));
    assert_eq!(device.pool_stats().live, live);
    // A texture that was given back within serves others again, and draws are recorded nowhere.
    let before = device.pool_stats();
    drop(Vector::zeros(device, N).unwrap());
    assert_eq!(device.pool_stats().allocated, before.allocated);
    assert!(!device.gl().tracing.get());
}

#[test]
fn recordings_nest() {
    let context = headless();
    let device = context.device();
    let works = Work::new(device);
    let b = vector(device, 2);
    let inner = Replays::default();
    let step = |x: &mut Vector| {
        inner.run(device, ((), 1), x, &[&b], &|| Vector::uninit(device, N), &|x| works.run(x, &b))?;
        ops::scale(x, 0.5)
    };
    let outer = Replays::default();
    let (mut x, mut plain) = (vector(device, 1), vector(device, 1));
    let twice = |x: &mut Vector| (0..2).try_for_each(|_| step(x));
    let described = |x: &mut Vector| {
        works.run(x, &b)?;
        ops::scale(x, 0.5)
    };
    for round in 0..4 {
        let counted = work(device, || {
            outer.run(device, ((), 1), &mut x, &[&b], &|| Vector::uninit(device, N), &twice).unwrap();
        });
        let expected = work(device, || (0..2).for_each(|_| described(&mut plain).unwrap()));
        assert_eq!(counted.draws, expected.draws, "{round}");
        assert_same(&x, &plain, round);
    }
    // The outer one has all that it needs, and gives it back.
    drop(inner);
    let others: Vec<Vector> = (0..20).map(|seed| vector(device, seed)).collect();
    let unused = |_: &mut Vector| panic!("it is described already");
    outer.run(device, ((), 1), &mut x, &[&b], &|| Vector::uninit(device, N), &unused).unwrap();
    (0..2).for_each(|_| described(&mut plain).unwrap());
    assert_same(&x, &plain, 4);
    drop((outer, others));
    drop((x, plain, b, works));
    assert_eq!(device.pool_stats().live, 0);
}

/// A rectangle in bands, and draws with programs that share nothing but their uniforms' values.
#[test]
fn bands_and_uniforms_are_those_of_the_call() {
    let context = headless();
    let device = context.device();
    let x = vector(device, 1);
    let scaled = |y: &Vector, factor: f32, rounds: u64| {
        Draw::new(device, glsl!("solve/relax.frag"))
            .define("SCALED", false)
            .define("WEIGHTED", false)
            .input("x", x.view())
            .input("r", x.view())
            .param("factor", factor)
            .rounds(rounds)
            .target(y.view())
            .run()
    };
    let [p, q] = [vector(device, 0), vector(device, 0)];
    let run = || {
        scaled(&p, 2.0, 1 << 40)?;
        scaled(&q, -0.0, 1)?;
        scaled(&p, 3.0, 1)
    };
    let recording = Recording::capture(device, |_| run()).unwrap().recording.unwrap();
    let expected = [&p, &q].map(|v| v.read().unwrap());
    for _ in 0..2 {
        scaled(&p, 0.0, 1).unwrap();
        scaled(&q, 7.0, 1).unwrap();
        let counted = work(device, || recording.replay(&[]).unwrap());
        assert_eq!((counted.draws, counted.passes), (3, 3));
        assert_eq!([&p, &q].map(|v| v.read().unwrap()), expected);
    }
}
