//! Profiles: measured with the host's state untouched, written and read exactly, and predictions of counted work.

mod common;

use common::harness::{fitting, limits, on_both, on_both_with};
use common::hostile::Host;
use common::state::assert_same;
use proptest::prelude::*;
use texla::host::problems;
use texla::ops::{
    self, Combine, LinOp, MatmulForm, MatmulSchedule, Reason, ReducePlan, Reduction, Window, Windows,
};
use texla::profile::{DeviceProfile, Fetches, Workload};
use texla::solve::{
    CgParams, CgSchedule, ConjugateGradient, Jacobi, JacobiSchedule, Multigrid, MultigridParams, Smoother,
    Stop, WeightedJacobi,
};
use texla::{
    BandedMatrix, ColumnStack, Device, Error, FoldedBands, Grid, Matrix, MatrixFormat, Scalar, Shape, Side,
    Sides, SparseFormat, SparseMatrix, Stencil, StencilParams, StoredMatrix, Vector,
};

/// Every number of a profile, as the text has them.
const NUMBERS: usize = 28;

fn fetches([own, adjacent, shifted, looped, indexed, strided, scattered]: [f64; 7]) -> Fetches {
    let near = Fetches::default().with_own(own).with_adjacent(adjacent).with_shifted(shifted);
    near.with_looped(looped).with_indexed(indexed).with_strided(strided).with_scattered(scattered)
}

/// A profile of these numbers.
fn profile(values: [f64; NUMBERS]) -> DeviceProfile {
    let part = |from: usize| std::array::from_fn(|k| values[from + k]);
    let mut made = DeviceProfile::default();
    [made.draw, made.target_change] = [values[0], values[1]];
    made.written_texel = std::array::from_fn(|k| values[2 + k]);
    (made.fetch, made.fetch_r32f) = (fetches(part(6)), fetches(part(13)));
    [made.narrow_fetch, made.chained_fetch, made.cut_texel] = std::array::from_fn(|k| values[20 + k]);
    [made.multiply_add, made.blended_texel, made.point] = std::array::from_fn(|k| values[23 + k]);
    [made.readback, made.overlap] = [values[26], values[27]];
    made
}

/// A profile of a device that takes time for one thing alone.
fn dear_at(kind: usize) -> DeviceProfile {
    profile(std::array::from_fn(|k| f64::from(u8::from(k == kind))))
}

/// One of each kind of work, in the order of the numbers; the last of these counts nothing.
fn one_of(kind: usize) -> Workload {
    let none = Workload::default();
    let of = |from: usize| fetches(std::array::from_fn(|k| f64::from(u8::from(from + k == kind))));
    match kind {
        0 => none.with_draws(1.0),
        1 => none.with_target_changes(1.0),
        2..=5 => none.with_written_texels([2, 3, 4, 5].map(|k| f64::from(u8::from(k == kind)))),
        6..=12 => none.with_fetches(of(6)),
        13..=19 => none.with_fetches_r32f(of(13)),
        20 => none.with_narrow_fetches(1.0),
        21 => none.with_chained_fetches(1.0),
        22 => none.with_cut_texels(1.0),
        23 => none.with_multiply_adds(1.0),
        24 => none.with_blended_texels(1.0),
        25 => none.with_points(1.0),
        26 => none.with_readbacks(1.0),
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
        let (live, state) = (dev.live_objects().textures, host.snapshot());
        assert_measured(&DeviceProfile::measure(dev).unwrap(), dev);
        assert_same(&state, &host.snapshot(), "DeviceProfile::measure");
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
        bits in prop::collection::vec(any::<u64>(), NUMBERS),
        share in 0.0..=1.0f64,
        device in "[^\r\n]*",
        driver in "( |=|[a-z])*",
    ) {
        // Of all sizes, the smallest included; a sign is taken off.
        let finite = |bits: u64| Some(f64::from_bits(bits & !(1 << 63))).filter(|v| v.is_finite()).unwrap_or(0.0);
        let mut values: [f64; NUMBERS] = std::array::from_fn(|k| finite(bits[k]));
        values[NUMBERS - 1] = share;
        let mut written = profile(values);
        (written.device, written.driver) = (device, driver);
        let read: DeviceProfile = written.to_string().parse().unwrap();
        prop_assert_eq!(read, written);
    }

    /// More work takes more time, if any, in every profile.
    #[test]
    fn predictions_are_monotone(
        rates in prop::collection::vec(0.0..=1.0f64, NUMBERS),
        counts in prop::collection::vec(0.0..1e3f64, NUMBERS),
        kind in 0..NUMBERS,
        more in 0.0..1e3f64,
    ) {
        let profile = profile(std::array::from_fn(|k| rates[k]));
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
    // Of writing, fetches and arithmetic only the longest counts, or the half of the rest too.
    let sum = |kinds: std::ops::Range<usize>| values[kinds].iter().sum::<f64>();
    let (written, fetched, computed) = (sum(2..6), sum(6..20), sum(23..24));
    let others = profile.predict(&all) - written - fetched - computed;
    profile.overlap = 1.0;
    assert_eq!(profile.predict(&all), others + computed);
    profile.overlap = 0.5;
    assert_eq!(profile.predict(&all), others + computed + 0.5 * (written + fetched));
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
            let plan = ReducePlan::new(x.extent(), windows);
            let filtered = windows == Windows::Filtered;
            if filtered && !dev.capabilities().float_filter {
                continue;
            }
            let counted = plan.workload(1);
            let read = counted.fetches.adjacent + counted.fetches.looped;
            assert!(filtered || read >= texels);
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
        let folded = FoldedBands::from_csr(dev, csr.clone()).unwrap();
        let sides = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
        let stencil = Stencil::new(dev, Grid::new_2d(40, 30), sides).unwrap();
        let odd = Stencil::new(dev, Grid::new_2d(25, 48), sides).unwrap();
        let dense = texla::Matrix::from_csr(dev, &csr).unwrap();
        let stack = ColumnStack::from_matrix(&dense).unwrap();
        matrices.extend([("folded", &folded as &dyn LinOp), ("stencil", &stencil), ("odd stencil", &odd)]);
        matrices.extend([("dense", &dense as &dyn LinOp), ("stack", &stack)]);
        for (name, a) in matrices {
            let counted = a.workload().unwrap();
            check(name, counted, &mut || ops::product(&mut y, Combine::Replace, 1.0, a, &x).unwrap());
            // Every coefficient, and what is padded beside it.
            assert!(counted.multiply_adds >= csr.nnz() as f64, "{name}");
        }
        // A row's neighbours lie next to those of the row before: nothing is scattered.
        assert_eq!(gather.workload().unwrap().fetches.scattered, 0.0);

        let mut swept = Vector::zeros(dev, 1200).unwrap();
        for a in [&banded as &dyn LinOp, &gather, &points, &stencil] {
            let jacobi = WeightedJacobi::new(a, 0.8).unwrap();
            let counted = jacobi.workload().unwrap().unwrap();
            check("sweep", counted, &mut || jacobi.smooth(&mut swept, &b, 1).unwrap());
        }

        let jacobi = Jacobi::new(&banded).unwrap();
        for schedule in [CgSchedule::Auto, CgSchedule::Fused, CgSchedule::Merged, CgSchedule::Listing] {
            if matches!(schedule, CgSchedule::Fused | CgSchedule::Merged)
                && dev.capabilities().max_draw_buffers < 3
            {
                continue;
            }
            let stop = Stop::relative(1e-4).check_every(8);
            let params = CgParams::default().with_stop(stop).with_schedule(schedule);
            for m in [None, Some(&jacobi)] {
                let cg = ConjugateGradient::preconditioned(&banded, m, params).unwrap();
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
        assert_eq!(cg.workload().unwrap(), None);
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

/// The same for products of dense matrices, by every schedule.
#[test]
fn counted_products_are_what_is_done() {
    on_both(|dev| {
        for (n, q, m) in [(30, 20, 25), (90, 300, 50), (300, 70, 90), (40, 30, 1), (20, 1, 30)] {
            let all = [MatmulForm::Plain, MatmulForm::TransposedA, MatmulForm::TransposedB];
            for (form, a, b) in all.map(|form| match form {
                MatmulForm::Plain => (form, Shape::new(n, q), Shape::new(q, m)),
                MatmulForm::TransposedA => (form, Shape::new(q, n), Shape::new(q, m)),
                MatmulForm::TransposedB => (form, Shape::new(n, q), Shape::new(m, q)),
            }) {
                let (a, b) = (Matrix::filled(dev, a, 1.0).unwrap(), Matrix::filled(dev, b, 0.5).unwrap());
                let mut c = Matrix::zeros(dev, Shape::new(n, m)).unwrap();
                let schedules = [
                    MatmulSchedule::Auto,
                    MatmulSchedule::PAPER,
                    MatmulSchedule::OnePass,
                    MatmulSchedule::Blocked { buffers: 4 },
                    MatmulSchedule::Blocked { buffers: 8 },
                    MatmulSchedule::Split { buffers: 4 },
                    MatmulSchedule::Split { buffers: 8 },
                    MatmulSchedule::Uniform,
                ];
                for schedule in schedules {
                    let counted = ops::matmul_workload(dev, form, a.shape(), b.shape(), schedule);
                    drop(Vector::filled(dev, 4, 1.0).unwrap());
                    let done = ops::matmul_with(&mut c, form, &a, &b, schedule);
                    let (Ok(counted), Ok(done)) = (&counted, &done) else {
                        assert_eq!(counted.err().map(|e| e.to_string()), done.err().map(|e| e.to_string()));
                        continue;
                    };
                    let found = [done.draws, done.passes].map(|n| n as f64);
                    let what = format!("{n} {q} {m} {form:?} {schedule:?}");
                    assert_eq!(found, [counted.draws, counted.target_changes], "{what}");
                    assert!(counted.multiply_adds >= (n * q * m) as f64, "{what}: {counted:?}");
                }
            }
        }
    });
}

/// With a profile that charges for one thing alone, each choice avoids that; results are the same within their bounds, and
/// without a profile the rule is back.
#[test]
fn choices_go_by_the_profile() {
    // Places among the numbers.
    const TARGET_CHANGE: usize = 1;
    const WRITTEN: usize = 2;
    const WRITTEN_BY_THREE: usize = 4;
    const WRITTEN_BY_FOUR: usize = 5;
    const ADJACENT: usize = 7;
    const SHIFTED: usize = 8;
    const LOOPED: usize = 9;
    const INDEXED: usize = 10;
    const CUT: usize = 22;
    const POINT: usize = 25;
    on_both(|dev| {
        let caps = dev.capabilities();
        let under = |kind: usize, of: &mut dyn FnMut()| {
            dev.set_profile(Some(dear_at(kind)));
            assert_eq!(dev.profile().as_deref(), Some(&dear_at(kind)));
            of();
            dev.set_profile(None);
        };

        // Windows: few stages, or none with a loop. Integers are summed exactly.
        let n = fitting(dev, 40_000);
        let x = Vector::from_slice(dev, &(0..n).map(|i| (i % 7) as f32).collect::<Vec<_>>()).unwrap();
        let sum: f32 = (0..n).map(|i| (i % 7) as f32).sum();
        let plan = || ReducePlan::on(dev, x.extent(), Windows::Balanced, 1);
        let rule = ReducePlan::new(x.extent(), Windows::Balanced);
        let stages = std::cell::Cell::new([0; 2]);
        for (k, kind) in [TARGET_CHANGE, LOOPED].into_iter().enumerate() {
            under(kind, &mut || {
                let before = dev.counters();
                let found = ops::sum(&x).unwrap();
                let draws = dev.counters().since(&before).draws;
                assert_eq!((found.read().unwrap(), draws), (sum, plan().stages().len() as u64));
                if kind == LOOPED {
                    assert_eq!(plan().workload(1).fetches.looped, 0.0);
                }
                assert!(plan().stages().iter().all(|stage| stage.spread), "{:?}", plan());
                let mut both = stages.get();
                both[k] = draws;
                stages.set(both);
            });
        }
        // What fits into small textures is summed in two stages either way.
        let [fewest, unrolled] = stages.get();
        assert!(fewest < unrolled || n < 40_000 && fewest == unrolled, "{stages:?}");
        assert_eq!(plan(), rule);

        // Conjugate gradients: what writes less, what changes targets less, what has no pass of three targets.
        let csr = problems::poisson_2d(40, 30).to_csr();
        let a = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
        let b = Vector::from_slice(dev, &(0..1200).map(|i| (i % 7) as f32).collect::<Vec<_>>()).unwrap();
        let params = CgParams::default().with_stop(Stop::relative(1e-4));
        let counted = |schedule| {
            let cg = ConjugateGradient::new(&a, params.with_schedule(schedule)).unwrap();
            cg.workload().unwrap()
        };
        let by_rule = counted(CgSchedule::Auto);
        if caps.max_draw_buffers >= 3 {
            for (kind, expected) in [
                (WRITTEN, CgSchedule::Fused),
                (WRITTEN_BY_THREE, CgSchedule::Listing),
                (CUT, CgSchedule::Merged),
            ] {
                under(kind, &mut || {
                    // The product of this matrix is cut, once, or by fusing once in a pass of three targets.
                    assert_eq!(counted(CgSchedule::Auto), counted(expected), "{expected:?}");
                    let mut x = Vector::zeros(dev, 1200).unwrap();
                    let report = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
                    assert!(report.true_residual <= 1e-4, "{expected:?} {report:?}");
                });
            }
        }
        assert_eq!(counted(CgSchedule::Auto), by_rule);

        // Dense products: one pass, or blocks.
        let shape = Shape::new(60, 60);
        let m = Matrix::filled(dev, shape, 0.5).unwrap();
        let mut c = Matrix::zeros(dev, shape).unwrap();
        let mut product = || {
            let report = ops::matmul_with(&mut c, MatmulForm::Plain, &m, &m, MatmulSchedule::Auto).unwrap();
            assert!(c.read().unwrap().iter().all(|v| *v == 15.0));
            report
        };
        under(TARGET_CHANGE, &mut || {
            let report = product();
            assert_eq!((report.schedule, report.reason), (MatmulSchedule::OnePass, Reason::Predicted));
        });
        under(ADJACENT, &mut || {
            let report = product();
            assert_eq!(report.schedule == MatmulSchedule::OnePass, caps.max_draw_buffers < 4, "{report:?}");
        });
        assert_eq!(product().reason, Reason::Rule);

        // Sparse formats.
        let format = || SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Auto).unwrap().format();
        under(POINT, &mut || assert_eq!(format(), SparseFormat::Gather));
        if caps.float_blend {
            under(INDEXED, &mut || assert_eq!(format(), SparseFormat::Points));
        }
        assert_eq!(format(), SparseFormat::Gather);
        // And diagonals beside them.
        let format = || StoredMatrix::new(dev, csr.clone(), MatrixFormat::Auto).unwrap().format();
        under(SHIFTED, &mut || assert!(matches!(format(), MatrixFormat::Sparse(_))));
        under(INDEXED, &mut || assert_eq!(format(), MatrixFormat::Banded));
        assert_eq!(format(), MatrixFormat::Banded);

        // Rows of a fragment, of sweeps with nine bands: many where fetches are dear, less than four where their targets are.
        let rows = || match JacobiSchedule::best(dev, 40) {
            JacobiSchedule::Packed { rows } => rows,
            _ => 0,
        };
        let by_rule = rows();
        let most = [8, 4, 2, 1].into_iter().find(|rows| JacobiSchedule::Packed { rows: *rows }.fits(dev, 40));
        under(ADJACENT, &mut || assert_eq!(rows(), most.unwrap_or(1)));
        under(WRITTEN_BY_FOUR, &mut || assert!(rows() < 4));
        assert_eq!(rows(), by_rule);

        // Sweeps: of a gathered product alone nothing is cut.
        let gather = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Gather).unwrap();
        let jacobi = WeightedJacobi::new(&gather, 0.8).unwrap();
        let sweep = || {
            let mut x = Vector::zeros(dev, 1200).unwrap();
            let before = dev.counters();
            jacobi.smooth(&mut x, &b, 3).unwrap();
            (dev.counters().since(&before).draws, x.read().unwrap())
        };
        let (draws, rule) = sweep();
        for (kind, passes) in [(CUT, 2), (WRITTEN, 1)] {
            under(kind, &mut || {
                let (found, values) = sweep();
                assert_eq!(found, draws + 3 * (passes - 1));
                // Sums of six numbers below 8, three times.
                assert!(values.iter().zip(&rule).all(|(v, r)| (v - r).abs() <= 1e-5), "{kind}");
            });
        }
    });
}
