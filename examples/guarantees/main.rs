//! What a host can rely on: each promise, its bound and what it comes to now, by the sweeps of the tests themselves. The tests hold
//! each row to its bound; here are the numbers, on whatever device this is.
#![allow(unsafe_code)] // a guest of a context whose driver is watched

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

use common::driver::states;
use common::loader::sweep::{SOME, Stride, sweep};
use common::loader::{self, TABLE};
use common::{cycles, hand_over, harness, manners, refusals, scratch};
use support::{Api, CommonArgs, Report, Result, Table, json, say};
use targets::TARGETS;
use texla::{Device, DeviceOptions, Headless, HeadlessOptions, Vector, ops};

#[path = "../../tests/common/mod.rs"]
mod common;
mod draws;
mod drivers;
mod limits;
#[path = "../../tests/fuzz/mutate.rs"]
mod mutate;
mod scene;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../tests/fuzz/targets.rs"]
mod targets;

/// Every promise to a host, its bound, and the value measured now; here in both dialects, unless --api names one. With --quick less
/// than a minute on llvmpipe; on softpipe, which interprets shaders, some minutes a part.
#[derive(clap::Parser)]
#[command(name = "guarantees")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// How much is looked at.
struct Amount {
    /// One call in so many, around which everything is compared.
    stride: usize,
    /// Each hostile value by itself too.
    singly: bool,
    faults: Stride,
    /// Of all operations, one in so many is tried on simulated drivers.
    on_drivers: usize,
    devices: usize,
    /// Results handed to another thread.
    hand_overs: usize,
    /// Times as many mutations as the smoke test tries, divided by eight.
    mutations: usize,
    /// Of the vectors whose draws are timed.
    side: usize,
}

const QUICK: Amount = Amount {
    stride: 40,
    singly: false,
    faults: Stride { steps: 45, faults: 30, losses: 3000 },
    on_drivers: 8,
    devices: 16,
    hand_overs: 300,
    mutations: 1,
    side: 512,
};

const WHOLE: Amount = Amount {
    stride: manners::EVERY,
    singly: true,
    faults: SOME,
    on_drivers: 1,
    devices: 1000,
    hand_overs: 10_000,
    mutations: 80,
    side: 2048,
};

/// The rows of one dialect.
struct Promises<'a> {
    api: Api,
    table: Table,
    report: &'a mut Report,
}

impl Promises<'_> {
    fn row(&mut self, promise: &str, bound: f64, value: f64, shown: [String; 2], holds: bool) {
        let verdict = if holds { "holds" } else { "BROKEN" };
        let [bound_shown, value_shown] = shown;
        self.table.row([promise, &bound_shown, &value_shown, verdict]);
        self.report.check(format!("{promise} ({})", self.api), bound, value, holds);
        self.report
            .row(json!({ "promise": promise, "api": self.api.to_string(), "bound": bound, "value": value }));
    }

    fn exactly(&mut self, promise: &str, bound: usize, value: usize) {
        self.row(promise, bound as f64, value as f64, [bound.to_string(), value.to_string()], value == bound);
    }

    fn at_least(&mut self, promise: &str, bound: usize, value: usize) {
        let shown = [format!(">= {bound}"), value.to_string()];
        self.row(promise, bound as f64, value as f64, shown, value >= bound);
    }

    fn at_most(&mut self, promise: &str, bound: usize, value: usize, unit: &str) {
        let shown = [format!("<= {bound} {unit}"), format!("{value} {unit}")];
        self.row(promise, bound as f64, value as f64, shown, value <= bound);
    }

    /// Nothing is promised of it by a number: it says how much the rows around it have looked at.
    fn told(&mut self, what: &str, value: impl ToString) {
        self.table.row([what, "", &value.to_string(), ""]);
    }

    /// A sweep that asserts: what it has found, unless it stopped at a promise that does not hold.
    fn swept<T>(&mut self, promise: &str, sweep: impl FnOnce() -> T) -> Option<T> {
        let found = catch_unwind(AssertUnwindSafe(sweep)).ok();
        self.exactly(promise, 0, usize::from(found.is_none()));
        found
    }
}

/// Adds the rows of one part.
type Look = fn(&mut Promises<'_>, &Amount) -> Result;

const PARTS: [(&str, Look); 10] = [
    ("the application's state", state),
    ("its pictures", scenes),
    ("lesser devices and limits", lesser),
    ("drivers that are not here", simulated),
    ("a driver that fails", faults),
    ("devices that come and go", lives),
    ("results for other threads", hand_overs),
    ("any bytes at all", inputs),
    ("programs in a folder", programs),
    ("lengths of draws", lengths),
];

fn main() -> ExitCode {
    support::main_with("guarantees", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let amount = if args.common.quick { QUICK } else { WHOLE };
    {
        let context = args.common.headless(report)?;
        say(format_args!("device      {}, {}", context.name(), context.device().capabilities().version));
    }
    for api in Api::ALL.into_iter().filter(|api| args.common.api.is_none_or(|asked| asked == *api)) {
        // Each part is shown when it has been looked at: a whole run takes its time.
        for (part, look) in PARTS {
            let table = Table::new([&format!("{part}, on {api}"), "bound", "now", ""]);
            let mut promises = Promises { api, table, report };
            look(&mut promises, &amount)?;
            promises.table.print();
            say("");
        }
    }
    Ok(())
}

/// The application's state, and that it does not matter.
fn state(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    let context = harness::headless(promises.api);
    let dev = context.device();
    let mut operations = 0;
    let run = |dev: &Device| refusals::everything(dev, &mut |_, call| call());
    let first = refusals::everything(dev, &mut |_, call| {
        operations += 1;
        call();
    });
    let mut results = BTreeSet::from([first]);
    {
        let _scope = dev.scope()?;
        results.insert(run(dev));
    }
    let other = harness::headless(promises.api);
    results.insert(run(other.device()));
    drop(other);
    // What the host asks in the context of its own accord does not make it current.
    let _ = dev.finish();
    promises.told("operations whose results are hashed, each with its refusals", operations);
    promises.exactly("hashes of all results: again, in a scope, on another device", 1, results.len());
    let found = promises
        .swept("sweeps that a changed value of the state has ended, everything hostile at once", || {
            manners::together(dev, amount.stride)
        });
    if let Some(found) = found {
        promises.told("hostile values", found.hostile);
        promises.told("values of the state compared around a call", found.values);
        promises.told(&compared(amount), found.calls);
        promises.told("results compared bit by bit", found.results);
    }
    if amount.singly {
        let found = promises
            .swept("sweeps that a changed value of the state has ended, each hostile one alone", || {
                manners::singly(dev, &|_| true, manners::SOME)
            });
        promises.told("calls with everything compared around them", found.map_or(0, |f| f.calls));
    }
    Ok(())
}

fn compared(amount: &Amount) -> String {
    let which =
        if amount.stride == manners::EVERY { "all".to_owned() } else { format!("one in {}", amount.stride) };
    format!("calls with everything compared around them, {which} of the operations'")
}

/// The application's pictures.
fn scenes(promises: &mut Promises<'_>, _: &Amount) -> Result {
    let [pixels, by_finish, changed] = scene::pixels(promises.api)?;
    promises.told("pixels of a host that draws", pixels);
    promises.told("pixels changed by glFinish between its calls", by_finish);
    promises.exactly("pixels changed by texla at work there instead", 0, changed);
    Ok(())
}

/// Devices that can do less, what is past all limits, and what the compiler sees to.
fn lesser(promises: &mut Promises<'_>, _: &Amount) -> Result {
    for (lack, limits) in limits::lesser() {
        let (looked, wrong) = limits::wrong(promises.api, limits)?;
        promises.exactly(&format!("of {looked} results out of their bounds, {lack}"), 0, wrong);
    }
    let (requests, accepted) = limits::overflows(promises.api);
    promises.told("requests past all limits", requests);
    promises.exactly("of them no typed error, or textures allocated", 0, accepted);
    let budget = 1 << 20;
    let most = limits::pooled(promises.api, budget)?;
    promises.at_most(
        "waiting in a pool of that budget",
        (budget >> 10) as usize,
        most.div_ceil(1 << 10) as usize,
        "KiB",
    );
    let (types, mobile) = limits::mobile();
    promises.exactly(
        &format!("of {types} types that need the context could leave its thread or be shared"),
        0,
        mobile,
    );
    Ok(())
}

/// Drivers that are simulated in front of the one that is here: see `tests/common/driver`.
fn simulated(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    let extensions = include_str!("../../tests/registry/extensions.txt").lines().count();
    promises.told("extensions of the registries that have state, a row for each in the guide", extensions);
    let api = promises.api;
    let found = promises.swept("sweeps of extensions' state that have stopped", || states::swept(api));
    if let Some((tried, faults)) = found {
        promises.at_least("values of extensions tried", 28, tried);
        let what =
            format!("of {tried} of them set on drivers that have them, other bits or values afterwards");
        promises.exactly(&what, 0, faults.len());
    }
    for (name, wrong, refused, steps) in drivers::simulated(promises.api, amount.on_drivers)? {
        let what = format!("of {steps} operations, other bits, errors or values of the application's {name}");
        promises.exactly(&what, 0, wrong);
        promises.told(&format!("of them refused {name}"), refused);
    }
    Ok(())
}

/// A driver that fails at any call.
fn faults(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    promises.told("functions of GL in the table; another one stops the run", TABLE.len());
    let found = sweep(promises.api, amount.faults);
    let injected = (found.errors + found.right) as usize;
    promises.at_least("faults injected, each an error that says so or no matter", 20, injected);
    promises.at_least("contexts lost", 1, found.losses as usize);
    promises.told("next calls with the right bits", found.recovered);
    promises.exactly(
        "panics, wrong results, errors that say something else, objects left",
        0,
        found.broken.len(),
    );
    Ok(())
}

/// Devices that come and go.
fn lives(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    let left = cycles::cycles(promises.api, amount.devices);
    promises.told("devices made and dropped", amount.devices);
    promises.exactly("objects left by them", 0, left.objects);
    promises.at_most("growth of memory by them", 32 << 10, (left.grown >> 10) as usize, "KiB");
    Ok(())
}

/// Results that another thread looks at, in a context that shares objects with the device's.
fn hand_overs(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    promises.told("results handed to another thread with a fence, on a busy machine", amount.hand_overs);
    let unfinished = hand_over::unfinished(promises.api, amount.hand_overs);
    promises.exactly("of them unfinished when the fence has been waited for", 0, unfinished);
    Ok(())
}

/// Any bytes at all.
fn inputs(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    let context = harness::headless(promises.api);
    let found = promises.swept(
        "sweeps that a panic or an object left has ended: files, scripts, kernels, orders, parameters",
        || {
            let mutations = |target: &targets::Target| (target.mutations * amount.mutations).div_ceil(8);
            TARGETS
                .iter()
                .map(|target| mutate::run(context.device(), target, mutations(target)))
                .sum::<usize>()
        },
    );
    promises.told("mutations of them tried", found.unwrap_or(0));
    Ok(())
}

/// A folder that keeps linked programs.
fn programs(promises: &mut Promises<'_>, _: &Amount) -> Result {
    let folder = scratch::folder().join(format!("texla-guarantees-{}", std::process::id()));
    let run = |folder: &Path| -> Result<(u64, f64)> {
        let options = DeviceOptions::default().with_program_folder(Some(folder.to_owned()));
        let options = HeadlessOptions::default().with_api(Some(promises.api)).with_options(options);
        let context = Headless::new(options).map_err(support::Failure::no_gl)?;
        let begun = context.device().counters();
        let x = Vector::filled(context.device(), 1000, 0.5)?;
        ops::norm2(&x)?;
        let done = context.device().counters().since(&begun);
        Ok((done.compiles, done.compile_time.as_secs_f64() * 1e3))
    };
    let ((first, linked), (second, taken)) = (run(&folder)?, run(&folder)?);
    let kept = folder.exists();
    let _ = std::fs::remove_dir_all(folder); // there is none where the driver hands no program out
    promises.told("milliseconds of compiling the first programs", format!("{linked:.1}"));
    if kept {
        promises.told("and of taking them back", format!("{taken:.1}"));
        promises.exactly("programs compiled a second time, of those in a folder", 0, second as usize);
    } else {
        promises.told("programs, which this driver does not hand out", first);
    }
    Ok(())
}

/// No draw holds the display up. Timed, so that a busy machine may break it: it is told, and no check.
fn lengths(promises: &mut Promises<'_>, amount: &Amount) -> Result {
    let context = harness::headless(promises.api);
    loader::begin();
    // SAFETY: the context is current while the guest is there; the loader knows the functions.
    let guest = unsafe { Device::from_loader(loader::loader(), DeviceOptions::default()) }?;
    for (name, longest) in draws::longest(&guest, amount.side)? {
        let ms = longest.as_secs_f64() * 1e3;
        promises.table.row([
            &format!("longest draw: {name}"),
            "<= 100 ms",
            &format!("{ms:.1} ms"),
            "told alone",
        ]);
        let api = promises.api.to_string();
        promises.report.row(
            json!({ "promise": "longest draw", "of": name, "api": api, "bound": 0.1, "value": ms / 1e3 }),
        );
    }
    drop(guest);
    drop(context);
    Ok(())
}
