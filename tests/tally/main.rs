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
mod run;
mod systems;
mod table;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::harness;
use common::random::Rng;
use judge::Fault;
use run::Method;
use table::Table;
use texla::Device;
use texla::gl::{Api, Limits};
use texla::solve::StopReason;

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

/// Tallies `count` systems from the seed `first` on; of the methods that fit each, `most` are tried. So many verdicts
/// there have to be at `least`, that a tally of refusals is none.
fn tally(name: &str, first: u64, count: u64, most: usize, least: usize) {
    let mut table = Table::default();
    for (k, limits) in limits().into_iter().enumerate() {
        let table = std::cell::RefCell::new(&mut table);
        harness::on_both_with(limits, |device| {
            let here = (k, device.api() != Api::ALL[0]);
            for seed in (first..first + count).filter(|seed| place(*seed) == here) {
                one(&mut table.borrow_mut(), device, seed, most, count == 1);
            }
        });
    }
    println!("{table}");
    assert_eq!(table.systems as u64, count, "every system is on one of the devices");
    if count > 1 {
        // What repeats one system says nothing of the others.
        table.write(name);
        let families: BTreeSet<&str> = Method::ALL.into_iter().filter_map(Method::family).collect();
        assert_eq!(table.converged, families, "these have converged, of these");
    }
    assert_eq!(table.false_answers(), 0, "false answers; see the table");
    assert!(table.verdicts() >= least, "{} verdicts, expected {least} or more", table.verdicts());
}

fn one(table: &mut Table, device: &Device, seed: u64, most: usize, talkative: bool) {
    let system = systems::system(seed);
    table.systems += 1;
    if talkative {
        println!("{}\n{:?}\nb = {:?}\nx0 = {:?}", system.name, system.terms, system.b, system.x0);
    }
    let mut methods: Vec<(usize, Method)> = Method::on(&system).into_iter().enumerate().collect();
    Rng::new(seed).shuffle(&mut methods);
    methods.truncate(most);
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

/// The short form: a part of the methods on each system.
#[test]
fn short() {
    tally("tally-short", 0, 240, 4, 756);
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
    tally("tally", first, count, most, least);
}
