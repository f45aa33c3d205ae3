//! Parallelism or reuse, [BeyondVector] 28.4.4: the same quantity computed in every fragment, at the vertices and
//! interpolated, or in an earlier pass and fetched. Which is the fastest depends on how long it takes to compute.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use device::{Kernels, Square};
use quantity::{Quantity, Twin, Way};
use support::clock::{self, Rounds};
use support::{Bar, BarChart, CommonArgs, Failure, Report, Result, Table};
use support::{count, json, say, worst};

mod device;
mod quantity;
#[path = "../support/mod.rs"]
mod support;

/// The same quantity per fragment, at the vertices, or from tables: which is faster.
#[derive(clap::Parser)]
#[command(name = "reuse")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Texels a side of the square, a power of two; 1024 unless given (128 with --quick)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Times that each is measured, unless it takes long; 5 unless given (3 with --quick)
    #[arg(long, value_name = "R")]
    rounds: Option<usize>,
    /// Write a bar chart
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("reuse", run)
}

/// Steps of a computation. Each is a few multiplications and additions of four numbers.
const STEPS: [usize; 5] = [1, 4, 16, 64, 256];
/// Steps of texels that a CPU's loop is still worth waiting for.
const MOST_ON_CPU: usize = 1 << 27;
/// Texels along either side that are checked.
const CHECKED: usize = 33;

/// Seconds for one quantity and number of steps.
struct Measured {
    quantity: Quantity,
    steps: usize,
    /// Of [`Way::ALL`].
    device: [Option<Rounds>; 3],
    /// In every texel, and from tables.
    cpu: [Option<f64>; 2],
}

impl Measured {
    fn median(&self, way: usize) -> Option<f64> {
        self.device[way].as_ref().map(Rounds::median)
    }
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let side = args.size.unwrap_or(if quick { 128 } else { 1024 });
    if !(16..=4096).contains(&side) || !side.is_power_of_two() {
        return Err(Failure::bad_input(format_args!(
            "--size {side}: expected a power of two from 16 to 4096"
        )));
    }
    let rounds = args.rounds.unwrap_or(if quick { 3 } else { 5 });
    support::in_range("--rounds", rounds, 1..=1000)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let version = device.capabilities().version;
    say(format_args!("device      {} ({}, {version})", context.name(), device.api()));

    let kernels = Kernels::new(device)?;
    let mut square = Square::new(device, side)?;
    let mut all = Vec::new();
    for quantity in Quantity::ALL {
        for steps in STEPS {
            let twin = Twin::new(quantity, side, steps);
            let mut seconds = [const { None }; 3];
            for (way, seconds) in
                Way::ALL.into_iter().zip(&mut seconds).filter(|(way, _)| way.suits(quantity))
            {
                let mut compute = || square.compute(&kernels, quantity, way, steps);
                *seconds = Some(clock::rounds(device, rounds, &mut compute)?.1);
                check(&twin, way, &square.target.read()?, side, (quantity, steps), report);
            }
            all.push(Measured { quantity, steps, device: seconds, cpu: on_cpu(quantity, side, steps) });
        }
    }
    print(&all, side);
    for m in &all {
        let mut row = json!({
            "quantity": m.quantity.name(), "steps": m.steps, "texels": side * side,
            "cpu_seconds": m.cpu[0], "cpu_tables_seconds": m.cpu[1],
        });
        let keys = ["per_fragment_seconds", "vertex_seconds", "tables_seconds"];
        for (rounds, key) in m.device.iter().zip(keys) {
            rounds.clone().unwrap_or_default().put(&mut row, key);
        }
        report.row(row);
    }
    report.set("crossings", json!(Quantity::ALL.map(|quantity| crossings(&all, quantity))));
    args.plot.as_ref().map_or(Ok(()), |path| plot(path, &all, context.name(), side))
}

/// Some texels of the square, its corners too, against the twin.
fn check(
    twin: &Twin,
    way: Way,
    found: &[f32],
    side: usize,
    (quantity, steps): (Quantity, usize),
    report: &mut Report,
) {
    let count = CHECKED.min(side);
    let places = || (0..count).map(move |k| k * (side - 1) / (count - 1));
    let mut furthest = 0.0;
    for y in places() {
        for x in places() {
            let texel = &found[4 * (y * side + x)..];
            for (exact, found) in twin.at(way, [x, y]).iter().zip(texel) {
                furthest = worst(furthest, exact.share(f64::from(*found)));
            }
        }
    }
    let name =
        format!("{} of {steps} steps {}: distance from 64 bits, over the bound", quantity.name(), way.name());
    report.at_most(name, 1.0, furthest);
}

/// The same on the CPU, one thread: in every texel, and from tables.
fn on_cpu(quantity: Quantity, side: usize, steps: usize) -> [Option<f64>; 2] {
    let timed = |work: &dyn Fn() -> Vec<[f32; 4]>| {
        let started = Instant::now();
        std::hint::black_box(work());
        started.elapsed().as_secs_f64()
    };
    let texels = || (0..side).flat_map(move |y| (0..side).map(move |x| [x, y]));
    let plain = || texels().map(|at| quantity.at::<f32>(at, side, steps)).collect();
    let tables = || {
        let [across, up] = quantity.tables::<f32>(side, steps);
        texels().map(|[x, y]| quantity.combined(across[x], up[y])).collect()
    };
    let affordable = side * side * steps <= MOST_ON_CPU;
    [affordable.then(|| timed(&plain)), Some(timed(&tables))]
}

/// From how many steps on a way is faster than computing in every fragment; none where it never is.
fn crossings(all: &[Measured], quantity: Quantity) -> serde_json::Value {
    let from = |way: usize| {
        let of = all.iter().filter(|m| m.quantity == quantity);
        let wins = |m: &&Measured| m.median(way).zip(m.median(0)).is_some_and(|(way, plain)| way < plain);
        // The first of those that win without exception.
        let count = of.clone().rev().take_while(wins).count();
        of.rev().take(count).last().map(|m| m.steps)
    };
    json!({ "quantity": quantity.name(), "vertex_from_steps": from(1), "tables_from_steps": from(2) })
}

fn print(all: &[Measured], side: usize) {
    let mut table = Table::new([
        "steps",
        "quantity",
        "per fragment, ms",
        "at vertices, ms",
        "in tables, ms",
        "fastest",
        "CPU, each texel",
        "CPU, tables",
    ]);
    let ms = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{:.3}", 1e3 * s));
    for m in all {
        let timed = Way::ALL.into_iter().enumerate().filter_map(|(k, way)| Some((way, m.median(k)?)));
        let fastest = timed.min_by(|a, b| a.1.total_cmp(&b.1)).map_or("-", |(way, _)| way.name());
        let [a, b, c] = [0, 1, 2].map(|k| ms(m.median(k)));
        let [d, e] = m.cpu.map(ms);
        table.row([m.steps.to_string(), m.quantity.name().to_owned(), a, b, c, fastest.to_owned(), d, e]);
    }
    say(format_args!("square      {side}x{side} texels of four numbers\n"));
    table.print();
    for quantity in Quantity::ALL {
        let found = crossings(all, quantity);
        for (way, key) in [(Way::Vertex, "vertex_from_steps"), (Way::Tables, "tables_from_steps")] {
            match &found[key] {
                _ if !way.suits(quantity) => {}
                serde_json::Value::Null => {
                    say(format_args!("{}: {} it is never faster", quantity.name(), way.name()));
                }
                steps => say(format_args!(
                    "{}: {} it is faster than per fragment from {steps} steps on",
                    quantity.name(),
                    way.name()
                )),
            }
        }
    }
    say("");
}

fn plot(path: &Path, all: &[Measured], device: &str, side: usize) -> Result {
    let mut chart = BarChart {
        title: "Computed again, or reused",
        subtitle: format!("{device}; {side}x{side} texels"),
        axis: "milliseconds (log scale)",
        groups: STEPS.map(|steps| count(steps, "step", "steps")).into(),
        ..BarChart::default()
    };
    for quantity in Quantity::ALL {
        for (k, way) in Way::ALL.into_iter().enumerate().filter(|(_, way)| way.suits(quantity)) {
            let of = all.iter().filter(|m| m.quantity == quantity);
            let bars = of.map(|m| m.median(k).map(|s| Bar::plain(1e3 * s))).collect();
            chart.series.push((format!("{}, {}", quantity.name(), way.name()), bars));
        }
    }
    chart.write(path)
}
