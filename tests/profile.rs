//! Profiles: measured with the host's state untouched, written and read exactly, and predictions of counted work.

mod common;

use common::harness::{fitting, limits, on_both, on_both_with};
use common::hostile::Host;
use common::state::{assert_same, snapshot};
use proptest::prelude::*;
use texla::host::problems;
use texla::ops::{self, Combine, LinOp, ReducePlan, Reduction, Window, Windows};
use texla::profile::{DeviceProfile, Fetches, Workload};
use texla::solve::{CgParams, CgSchedule, ConjugateGradient, Jacobi, Multigrid, MultigridParams, Stop};
use texla::{
    BandedMatrix, Device, Error, Grid, MatrixFormat, Scalar, Side, Sides, SparseFormat, SparseMatrix,
    Stencil, StencilParams, StoredMatrix, Vector,
};

/// Every number of a profile, as the text has them.
const NUMBERS: usize = 19;

/// A profile of these numbers.
fn profile(values: [f64; NUMBERS]) -> DeviceProfile {
    let [
        draw,
        change,
        w1,
        w2,
        w3,
        w4,
        o,
        a,
        s,
        x,
        ro,
        ra,
        rs,
        rx,
        multiply_add,
        blended,
        point,
        readback,
        overlap,
    ] = values;
    let mut made = DeviceProfile::default();
    (made.draw, made.target_change, made.written_texel) = (draw, change, [w1, w2, w3, w4]);
    made.fetch = Fetches::default().with_own(o).with_adjacent(a).with_strided(s).with_scattered(x);
    made.fetch_r32f = Fetches::default().with_own(ro).with_adjacent(ra).with_strided(rs).with_scattered(rx);
    (made.multiply_add, made.blended_texel, made.point) = (multiply_add, blended, point);
    (made.readback, made.overlap) = (readback, overlap);
    made
}

/// One of each kind of work, in the order of the numbers; the last of these counts nothing.
fn one_of(kind: usize) -> Workload {
    let none = Workload::default();
    let fetch = |kind| match kind {
        0 => Fetches::default().with_own(1.0),
        1 => Fetches::default().with_adjacent(1.0),
        2 => Fetches::default().with_strided(1.0),
        _ => Fetches::default().with_scattered(1.0),
    };
    match kind {
        0 => none.with_draws(1.0),
        1 => none.with_target_changes(1.0),
        2..=5 => none.with_written_texels([2, 3, 4, 5].map(|k| f64::from(u8::from(k == kind)))),
        6..=9 => none.with_fetches(fetch(kind - 6)),
        10..=13 => none.with_fetches_r32f(fetch(kind - 10)),
        14 => none.with_multiply_adds(1.0),
        15 => none.with_blended_texels(1.0),
        16 => none.with_points(1.0),
        17 => none.with_readbacks(1.0),
        _ => none,
    }
}

fn assert_measured(profile: &DeviceProfile, dev: &Device) {
    let caps = dev.capabilities();
    assert_eq!((&profile.device, &profile.driver), (&caps.renderer, &caps.version));
    for kind in 0..NUMBERS - 1 {
        let seconds = profile.predict(&one_of(kind));
        assert!(seconds > 0.0 && seconds < 60.0, "{kind}: {profile:?}");
    }
    assert!((0.0..=1.0).contains(&profile.overlap), "{profile:?}");
    assert_eq!(profile.to_string().parse::<DeviceProfile>().unwrap(), *profile);
}

#[test]
fn a_profile_is_measured_and_nothing_else_is_changed() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        dev.trim().unwrap();
        let (live, state) = (dev.live_objects().textures, snapshot(&host.gl, &host.extra));
        assert_measured(&DeviceProfile::measure(dev).unwrap(), dev);
        assert_same(&state, &snapshot(&host.gl, &host.extra), "DeviceProfile::measure");
        dev.trim().unwrap();
        assert_eq!(dev.live_objects().textures, live);
    });
}

/// Whatever the device lacks, a profile has all numbers.
#[test]
fn small_devices_have_profiles() {
    let short = |dev: &Device| DeviceProfile::measure_within(dev, std::time::Duration::ZERO).unwrap();
    on_both_with(limits().with_max_texture_size(Some(3)).with_max_draw_buffers(Some(1)), |dev| {
        let profile = short(dev);
        assert_measured(&profile, dev);
        assert_eq!(profile.written_texel, [profile.written_texel[0]; 4]);
    });
    on_both_with(limits().without_float_blend(true), |dev| {
        let profile = short(dev);
        assert_measured(&profile, dev);
        assert_eq!(profile.blended_texel, profile.written_texel[0] + profile.fetch.own);
    });
}

proptest! {
    #[test]
    fn text_is_read_back_exactly(
        bits in prop::array::uniform19(any::<u64>()),
        share in 0.0..=1.0f64,
        device in "[^\r\n]*",
        driver in "( |=|[a-z])*",
    ) {
        // Of all sizes, the smallest included; a sign is taken off.
        let finite = |bits: u64| Some(f64::from_bits(bits & !(1 << 63))).filter(|v| v.is_finite()).unwrap_or(0.0);
        let mut values = bits.map(finite);
        values[NUMBERS - 1] = share;
        let mut written = profile(values);
        (written.device, written.driver) = (device, driver);
        let read: DeviceProfile = written.to_string().parse().unwrap();
        prop_assert_eq!(read, written);
    }

    /// More work takes more time, if any, in every profile.
    #[test]
    fn predictions_are_monotone(
        rates in prop::array::uniform19(0.0..=1.0f64),
        counts in prop::collection::vec(0.0..1e3f64, NUMBERS),
        kind in 0..NUMBERS,
        more in 0.0..1e3f64,
    ) {
        let profile = profile(rates);
        let work = (0..NUMBERS).fold(Workload::default(), |sum, kind| sum + one_of(kind) * counts[kind]);
        let (less, more) = (profile.predict(&work), profile.predict(&(work + one_of(kind) * more)));
        prop_assert!(more >= less * (1.0 - 1e-12), "{more} {less}");
    }
}

#[test]
fn predictions_are_what_one_computes_by_hand() {
    // Powers of two, so that nothing is rounded.
    let values: [f64; NUMBERS] =
        std::array::from_fn(|k| if k == NUMBERS - 1 { 0.0 } else { f64::from(1 << k) });
    let mut profile = profile(values);
    for (kind, value) in values.iter().enumerate() {
        assert_eq!(profile.predict(&one_of(kind)), *value, "{kind}");
    }
    let all = (0..NUMBERS).map(one_of).fold(Workload::default(), |sum, one| sum + one);
    assert_eq!(profile.predict(&all), f64::from((1 << (NUMBERS - 1)) - 1));
    assert_eq!(profile.predict(&(all * 3.0)), 3.0 * profile.predict(&all));
    // Of writing (4 to 32), fetches (64 to 8192) and arithmetic (16384) only the longest counts, or the half of the rest too.
    let others = f64::from(1 + 2 + (1 << 15) + (1 << 16) + (1 << 17));
    profile.overlap = 1.0;
    assert_eq!(profile.predict(&all), others + 16384.0);
    profile.overlap = 0.5;
    assert_eq!(profile.predict(&all), others + 16384.0 + 0.5 * (60.0 + 16320.0));
}

#[test]
fn texts_that_are_no_profile_are_refused_by_line() {
    let good = profile([0.25; NUMBERS]).to_string();
    let lines: Vec<&str> = good.lines().collect();
    assert_eq!(lines.len(), 3 + NUMBERS);
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let refused = |text: &str, at: usize, parts: &[&str]| {
        let error = text.parse::<DeviceProfile>().unwrap_err();
        let said = error.to_string();
        let expected = format!("device profile: line {at}: found `");
        assert!(matches!(error, Error::File { .. }) && said.starts_with(&expected), "{said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
    };
    refused("", 1, &["`the end`", "texla device profile 1"]);
    refused(
        &good.replacen("profile 1", "profile 2", 1),
        1,
        &["profile 2", "expected `texla device profile 1`"],
    );
    for k in 1..lines.len() {
        let name = lines[k].split(" = ").next().unwrap();
        // Missing, and doubled.
        let without = joined(&[&lines[..k], &lines[k + 1..]].concat());
        refused(&without, lines.len(), &["`the end`", &format!("`{name} = ...`")]);
        refused(&format!("{good}{}\n", lines[k]), lines.len() + 1, &[name, "not given before"]);
        refused(&good.replacen(&format!("\n{name} ="), "\nwarp =", 1), k + 1, &["warp", name]);
        refused(
            &good.replacen(&format!("\n{name} = "), &format!("\n{name}: "), 1),
            k + 1,
            &["`name = value`"],
        );
    }
    for value in ["NaN", "inf", "-inf", "-1e-9", "-0", "", "1,5", "1e-9 s", " 1", "1e999", "0x10"] {
        for k in [3, lines.len() - 2] {
            let name = lines[k].split(" = ").next().unwrap();
            let text = good.replacen(lines[k], &format!("{name} = {value}"), 1);
            refused(&text, k + 1, &["expected seconds, 0 or more"]);
        }
    }
    refused(&good.replace("overlap = 2.5e-1", "overlap = 1.5"), lines.len(), &["from 0 to 1"]);
    refused(&good.replacen("\ndraw", "\n\ndraw", 1), 4, &["found ``", "`name = value`"]);
    let order: Vec<&str> = lines[..1].iter().chain(lines[1..].iter().rev()).copied().collect();
    assert_eq!(joined(&order).parse::<DeviceProfile>().unwrap(), profile([0.25; NUMBERS]));
    assert_eq!(good.replace('\n', "\r\n").parse::<DeviceProfile>().unwrap(), profile([0.25; NUMBERS]));
}

/// Draws and changes of the target are those that are counted when the operation runs.
#[test]
fn counted_work_is_what_is_done() {
    on_both(|dev| {
        let n = fitting(dev, 40_000);
        let software = dev.capabilities().software;
        let [x, y] = [0.5, 2.0].map(|v| Vector::filled(dev, n, v).unwrap());
        let check = |name: &str, counted: Workload, run: &mut dyn FnMut()| {
            run();
            // Another target.
            drop(Vector::filled(dev, 4, 1.0).unwrap());
            let before = dev.counters();
            run();
            let spent = dev.counters().since(&before);
            let found = (spent.draws as f64, spent.passes as f64);
            assert_eq!(found, (counted.draws, counted.target_changes), "{name}");
        };
        let mut out = Vector::zeros(dev, n).unwrap();
        check("copy", Workload::elementwise(&out, 1, 0), &mut || ops::copy(&mut out, &x).unwrap());
        check("add", Workload::elementwise(&out, 2, 1), &mut || ops::add(&mut out, &x, &y).unwrap());
        let texels = x.extent().area() as f64;
        assert_eq!(Workload::elementwise(&out, 2, 1).fetches.own, 2.0 * texels);
        let tiled = texla::Matrix::filled(dev, texla::Shape::new(90, 90), 1.0).unwrap();
        let mut target = texla::Matrix::zeros(dev, tiled.shape()).unwrap();
        let copied = Workload::elementwise(&tiled, 1, 0);
        check("copy of a matrix", copied, &mut || ops::copy(&mut target, &tiled).unwrap());

        let mut slot = Scalar::zero(dev).unwrap();
        for windows in [Windows::Balanced, Window::PAPERS.into(), Windows::Filtered] {
            let plan = ReducePlan::new(x.extent(), windows, software);
            let filtered = windows == Windows::Filtered;
            if filtered && !dev.capabilities().float_filter {
                continue;
            }
            let counted = plan.workload(1);
            assert!(filtered || counted.fetches.adjacent >= texels);
            check("sum", counted, &mut || {
                ops::reduce_into(&mut slot, Reduction::Sum, &x, None, windows).unwrap()
            });
            check("dot", plan.workload(2), &mut || {
                ops::reduce_into(&mut slot, Reduction::Dot, &x, Some(&y), windows).unwrap()
            });
        }

        let csr = problems::poisson_2d(40, 30).to_csr();
        let x = Vector::filled(dev, 1200, 1.0).unwrap();
        let b = Vector::from_slice(dev, &(0..1200).map(|i| (i % 7) as f32).collect::<Vec<_>>()).unwrap();
        let mut y = Vector::zeros(dev, 1200).unwrap();
        let banded = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
        let stored = StoredMatrix::new(dev, csr.clone(), MatrixFormat::Banded).unwrap();
        assert_eq!(banded.workload(), stored.workload());
        let mut matrices: Vec<(&str, &dyn LinOp)> = vec![("banded", &banded)];
        let [gather, points] = [SparseFormat::Gather, SparseFormat::Points]
            .map(|format| SparseMatrix::from_csr(dev, csr.clone(), format).unwrap());
        matrices.extend([("gather", &gather as &dyn LinOp), ("points", &points)]);
        for (name, a) in matrices {
            let counted = a.workload().unwrap();
            check(name, counted, &mut || ops::product(&mut y, Combine::Replace, 1.0, a, &x).unwrap());
            // Every coefficient, and what is padded beside it.
            assert!(counted.multiply_adds >= csr.nnz() as f64, "{name}");
        }
        // A row's neighbours lie next to those of the row before: nothing is scattered.
        assert_eq!(gather.workload().unwrap().fetches.scattered, 0.0);

        let jacobi = Jacobi::new(&banded).unwrap();
        for schedule in [CgSchedule::Auto, CgSchedule::Fused, CgSchedule::Merged, CgSchedule::Listing] {
            if matches!(schedule, CgSchedule::Fused | CgSchedule::Merged)
                && dev.capabilities().max_draw_buffers < 3
            {
                continue;
            }
            let stop = Stop::relative(1e-4).check_every(8);
            let params = CgParams::default().with_stop(stop).with_schedule(schedule);
            for cg in [
                ConjugateGradient::new(&banded, params).unwrap(),
                ConjugateGradient::preconditioned(&banded, &jacobi, params).unwrap(),
            ] {
                let mut x = Vector::zeros(dev, 1200).unwrap();
                let report = cg.solve(&mut x, &b).unwrap();
                let counted = cg.workload().unwrap().unwrap();
                let found = [report.draws_per_iteration, report.passes_per_iteration].map(|n| n as f64);
                assert_eq!(found, [counted.draws, counted.target_changes], "{schedule:?}");
            }
        }
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
        let stencil = Stencil::new(dev, Grid::new_2d(16, 16), params).unwrap();
        let multigrid = Multigrid::new(&stencil, MultigridParams::default()).unwrap();
        let cg = ConjugateGradient::preconditioned(&stencil, &multigrid, CgParams::default()).unwrap();
        assert_eq!((stencil.workload(), cg.workload().unwrap()), (None, None));
    });
}

/// Columns all over the place are told from those in order.
#[test]
fn scattered_columns_are_counted_as_such() {
    on_both(|dev| {
        let n = 1024;
        let entries = (0..n).map(|i| (i, (i * 389) % n, 1.0));
        let far = texla::host::Triplets::from_entries(texla::Shape::new(n, n), entries.collect::<Vec<_>>())
            .unwrap();
        for (format, least) in [(SparseFormat::Gather, 0.8), (SparseFormat::Points, 0.8)] {
            let a = SparseMatrix::from_csr(dev, far.to_csr(), format).unwrap();
            let fetches = a.workload().unwrap().fetches;
            assert!(fetches.scattered >= least * n as f64, "{fetches:?}");
        }
    });
}
