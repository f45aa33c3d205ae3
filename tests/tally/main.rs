//! Verdicts of all solvers on random systems, compared with exact arithmetic on the host: none may be false.
//!
//! A seed says everything: system, formats, limits and dialect. `TEXLA_TALLY_SEED` is the first one, `TEXLA_TALLY_COUNT`
//! their number: `TEXLA_TALLY_SEED=17 TEXLA_TALLY_COUNT=1 cargo test --all-features --test tally long -- --ignored
//! --nocapture` repeats what the seed 17 has found. The table is printed, and, of more than one seed, written to
//! `out/`.

#[path = "../common/mod.rs"]
mod common;
mod exact;
mod judge;
mod normal;
mod pairs;
mod run;
mod systems;
mod table;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use common::busy::beside_busy_cores;
use common::harness;
use common::random::Rng;
use judge::Fault;
use run::{Help, Method};
use systems::System;
use table::Table;
use texla::Device;
use texla::gl::{Api, Limits};
use texla::solve::{CgSchedule, Direction, Recurrence, Relaxation, StopReason};

/// The devices that seeds take turns on, each in both dialects: as it is, with the fewest draw buffers that GL promises
/// and textures so small that matrices are tiled, and with less than that.
fn limits() -> [Limits; 3] {
    let small = Limits::default().with_max_texture_size(Some(16)).with_max_draw_buffers(Some(4));
    let poor = small.clone().with_max_draw_buffers(Some(1)).without_float_blend(true);
    [harness::limits(), small, poor]
}

/// Which of [`limits`] a seed is for, and whether it is for the second dialect.
fn place(seed: u64) -> (usize, bool) {
    let limits = match seed / 2 % 16 {
        0..=9 => 0,
        10..=14 => 1,
        _ => 2,
    };
    (limits, seed % 2 == 1)
}

fn number(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok().filter(|v| !v.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is `{value}`, expected a number")))
}

/// How much of each system is tried.
#[derive(Clone, Copy)]
struct Effort {
    /// Of the methods that fit it.
    most: usize,
    /// Nothing but this one.
    only: Option<Method>,
    /// One in so many systems is solved for pairs in other scales, too.
    scaled: u64,
}

/// Tallies `count` systems from the seed `first` on. So many verdicts there have to be at `least`, that a tally of refusals
/// is none.
fn tally(name: &str, first: u64, count: u64, effort: Effort, least: usize) {
    let mut table = Table::default();
    for (k, limits) in limits().into_iter().enumerate() {
        let table = std::cell::RefCell::new(&mut table);
        harness::on_both_with(limits, |device| {
            let here = (k, device.api() != Api::ALL[0]);
            for seed in (first..first + count).filter(|seed| place(*seed) == here) {
                one(&mut table.borrow_mut(), device, seed, effort, count == 1);
            }
        });
    }
    println!("{table}");
    assert_eq!(table.systems as u64, count, "every system is on one of the devices");
    if count > 1 {
        // What repeats one system says nothing of the others.
        table.write(name);
        let single = Method::ALL.into_iter().filter_map(Method::family);
        let in_ways = |m| pairs::ways(m).iter().map(move |way| pairs::family(m, *way));
        let pairs = Method::ALL.into_iter().flat_map(in_ways);
        let families: BTreeSet<&str> = single.chain(pairs).collect();
        assert_eq!(table.converged, families, "these have converged, of these");
    }
    assert_eq!(table.false_answers(), 0, "false answers; see the table");
    assert!(table.verdicts() >= least, "{} verdicts, expected {least} or more", table.verdicts());
}

fn one(table: &mut Table, device: &Device, seed: u64, effort: Effort, talkative: bool) {
    let system = systems::system(seed);
    table.systems += 1;
    if talkative {
        println!("{}\n{:?}\nb = {:?}\nx0 = {:?}", system.name, system.terms, system.b, system.x0);
    }
    let mut methods: Vec<(usize, Method)> = Method::on(&system).into_iter().enumerate().collect();
    Rng::new(seed).shuffle(&mut methods);
    // Few systems have the form for these.
    methods.sort_by_key(|(_, method)| !matches!(method.family(), Some("nine bands" | "multigrid")));
    methods.retain(|(_, method)| effort.only.is_none_or(|only| only == *method));
    methods.truncate(effort.most);
    for (number, method) in methods {
        let all = catch_unwind(AssertUnwindSafe(|| run::run(device, &system, method, number)));
        let label = method.to_string();
        match all {
            Err(_) => table.fault(Fault::Panicked, &label, "", &system, device, ""),
            Ok(Err(error)) if judge::is_internal(&error) => {
                table.fault(Fault::Internal, &label, "", &system, device, &error.to_string());
            }
            Ok(Err(error)) => table.count(&label, &format!("refused: {}", table::name(&error))),
            Ok(Ok(runs)) => {
                for way in pairs::ways(method) {
                    let scaled = seed.is_multiple_of(effort.scaled);
                    in_pairs(table, device, &system, (number, method, *way), scaled, talkative);
                }
                for run in runs {
                    let said = judge::said(&run.outcome);
                    table.count(&label, &said);
                    if run.outcome.reason == Ok(Some(StopReason::Converged)) {
                        table.converged.extend(method.family());
                    }
                    if talkative {
                        let o = &run.outcome;
                        println!("{label} {:?}: {said} {:?} x = {:?}", run.format, o.reported, o.x);
                        if let Err(error) = &o.reason {
                            println!("  {error}");
                        }
                    }
                    let format = format!("{:?}", run.format);
                    for (fault, detail) in run.problem.judge(run.measure, &run.outcome) {
                        table.fault(fault, &label, &format, &system, device, &detail);
                    }
                }
            }
        }
    }
}

/// The system solved for pairs, and times powers of two: if one converges, so have all.
fn in_pairs(
    table: &mut Table,
    device: &Device,
    system: &System,
    (number, method, way): (usize, Method, Recurrence),
    scaled: bool,
    talkative: bool,
) {
    let label = match way {
        Recurrence::Double => format!("{method}, in pairs"),
        _ => format!("{method}, pairs"),
    };
    let mut verdict = None;
    let others = if scaled { pairs::scaled(system, method) } else { Vec::new() };
    for (k, system) in std::iter::once(system).chain(&others).enumerate() {
        let run = match catch_unwind(AssertUnwindSafe(|| pairs::run(device, system, (method, way), number))) {
            Err(_) => {
                table.fault(Fault::Panicked, &label, "", system, device, "");
                continue;
            }
            Ok(Err(error)) if judge::is_internal(&error) => {
                table.fault(Fault::Internal, &label, "", system, device, &error.to_string());
                continue;
            }
            Ok(Err(error)) => {
                table.count(&label, &format!("refused: {}", table::name(&error)));
                continue;
            }
            Ok(Ok(run)) => run,
        };
        let (said, format) = (judge::said(&run.outcome), format!("{:?}", run.format));
        if talkative {
            let (o, bound) = (&run.outcome, run.bound);
            println!("{label} {format} {bound:e}: {said} {:?} {:?} {:?}", run.counts, o.reported, run.x);
            if let Err(error) = &o.reason {
                println!("  {error}");
            }
        }
        for (fault, detail) in run.judge() {
            table.fault(fault, &label, &format, system, device, &detail);
        }
        if k == 0 {
            table.count(&label, &said);
            if way == Recurrence::Auto && run.counts.double_iterations > 0 {
                table.count(&format!("{label}, changed"), &said);
            }
            if run.outcome.reason == Ok(Some(StopReason::Converged)) {
                table.converged.insert(pairs::family(method, way));
            }
            verdict = Some(said);
        } else if let Some(verdict) = &verdict {
            table.count(&format!("{label}, scaled"), &said);
            let converged = StopReason::Converged.to_string();
            if said != *verdict && [&said, verdict].contains(&&converged) {
                let detail = format!("{said}, not {verdict}");
                table.fault(Fault::Scaled, &label, &format, system, device, &detail);
            }
        }
    }
}

/// Seeds that have found something, and with which method.
const FOUND: [(u64, Method); 20] = [
    // Low parts of what matrices of 2^60 and more are multiplied by left the range before the coefficients met them: of a
    // direction, and of what `Aᵀ` is applied to.
    (22301, Method::Cg(CgSchedule::Merged, Help::Jacobi)),
    (20817, Method::Cgls(Help::None)),
    (22989, Method::Cgls(Help::None)),
    (6187, Method::BiCgStab(Help::None, 1)),
    (6187, Method::Cgls(Help::Jacobi)),
    // A sweep of a matrix of 2^13 to 2^16 was not brought near 1 as others are.
    (302263, Method::Cg(CgSchedule::Auto, Help::GaussSeidel)),
    // Bounds counted low parts of coefficients for lost that are in range.
    (22030, Method::Cgls(Help::Jacobi)),
    (4045, Method::GaussSeidel(1.0, Direction::Symmetric)),
    // And coefficients of zero in dense matrices.
    (170457, Method::Cg(CgSchedule::Fused, Help::None)),
    // What the norm of `Aᵀb` might have lost was more than a few in a thousand of it.
    (20149, Method::Cgls(Help::None)),
    (22901, Method::Cgls(Help::Jacobi)),
    (22084, Method::Cgls(Help::None)),
    (5192, Method::Cgls(Help::Jacobi)),
    // Or all of it, and 32 bits did not ask.
    (21622, Method::Cgls(Help::None)),
    // A dense matrix of nothing but what a device takes for zero passed for orthogonal to `b`.
    (4462, Method::Cgls(Help::None)),
    // `Aᵀb` vanished in the scale of a start that was given up.
    (6451, Method::Cgls(Help::None)),
    // The judge did not know that complementarity is told without low parts that are lost, nor that `Aᵀ r` misses what a device
    // takes for zero.
    (180120, Method::Batch(Relaxation::Fixed(0.5))),
    (180072, Method::Cgls(Help::None)),
    (20280, Method::Cgls(Help::None)),
    // Of a right-hand side of 2^-92 and a start along the null space, low parts of what is left fall below the normal range.
    (2000330, Method::Cg(CgSchedule::Auto, Help::Multigrid)),
];

#[test]
fn what_was_found_is_found_no_more() {
    for (seed, method) in FOUND {
        tally("tally-found", seed, 1, Effort { most: 1, only: Some(method), scaled: 1 }, 0);
    }
}

/// llvmpipe runs the vertex stage in the thread that draws, and does not wait for what its other threads still draw into the textures
/// that it reads. Without texla's own wait products by points are wrong in some of these runs, and with them residuals: the threads
/// of the driver are late where other work takes their cores.
#[test]
fn threads_of_the_driver_change_nothing() {
    let again = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "what_was_found_is_found_no_more", "--test-threads=1"]);
        command.env("LP_NUM_THREADS", "2").output().unwrap()
    };
    for out in beside_busy_cores(|| [again(), again(), again()]) {
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    }
}

/// The short form: a part of the methods on each system.
#[test]
fn short() {
    tally("tally-short", 0, 240, Effort { most: 4, only: None, scaled: 3 }, 1000);
}

/// The long form: more of both.
#[test]
#[ignore = "long: part of `make soak`"]
fn long() {
    let first = number("TEXLA_TALLY_SEED").unwrap_or(1000);
    let count = number("TEXLA_TALLY_COUNT").unwrap_or(3200);
    let most = if count == 1 { usize::MAX } else { 8 };
    // Of one system all methods may be refused.
    let least = if count == 1 { 0 } else { 4 * count as usize };
    tally("tally", first, count, Effort { most, only: None, scaled: 1 }, least);
}

fn normal_forms(seeds: std::ops::Range<u64>) {
    let count = (seeds.end - seeds.start) as usize;
    harness::on_both(|device| {
        if !common::pairs::is_exact(device) {
            return;
        }
        let ends = normal::try_all(device, seeds.clone());
        println!(
            "{} converged, {} did not, {} without a solution",
            ends.converged, ends.others, ends.refused
        );
        assert!(ends.wrong.is_empty(), "{:#?}", ends.wrong);
        assert!(2 * ends.converged > count, "{ends:?}");
    });
}

#[test]
fn normal_forms_short() {
    normal_forms(0..40);
}

#[test]
#[ignore = "long: part of `make soak`"]
fn normal_forms_long() {
    let first = number("TEXLA_TALLY_SEED").unwrap_or(1000);
    normal_forms(first..first + number("TEXLA_TALLY_COUNT").unwrap_or(2500));
}
