//! Table 4 and Figure 14 of [Bajaj04]: two-dimensional waves in eight textures by eight kernels, before and after their
//! packing, beside plain Rust, and drawn from the textures they are in, which the paper could not yet do.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use support::{CommonArgs, Failure, Report, Result, Table, clock, count, in_range, json, say};
use texla::Device;
use texla::pack::{
    LowerBound, Order, Orders, RepeatedExpression, SearchLimits, SearchParams, SimdMachine, optimize,
};
use texla::profile::DeviceProfile;
use texla::solve::{BlockPlan, BlockUse};

use counts::Counts;
use measure::{Plan, Timed};
use waves::After;

mod counts;
mod cpu;
mod figure14;
mod measure;
mod paint;
#[allow(dead_code)] // one panel at a time
#[path = "../pack/picture.rs"]
mod picture;
mod problem;
#[path = "../support/mod.rs"]
mod support;
mod waves;

/// Table 4 of [Bajaj04]: a step of two-dimensional waves on the CPU, on the device, and packed; Figure 14 with --plot
#[derive(clap::Parser)]
#[command(name = "wave_table4")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Steps of time, of which the means are the table [default: 2000, 60 with --quick]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Nodes along a side, a multiple of 32 [default: 512, 128 with --quick]
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Draw Figure 14: the waves after 200 steps at most, and S* before and after
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("wave_table4", run)
}

/// The paper's blocks.
const PIECE: usize = 32;

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let steps = in_range("--steps", args.steps.unwrap_or(if quick { 60 } else { 2000 }), 1..=1_000_000)?;
    let size = in_range("--size", args.size.unwrap_or(if quick { 128 } else { 512 }), PIECE..=2048)?;
    if !size.is_multiple_of(PIECE) {
        return Err(Failure::bad_input(format_args!("--size {size}: expected a multiple of {PIECE}")));
    }
    let context = args.common.headless(report)?;
    let device = context.device();
    say(format_args!("device     {} ({}, {})", context.name(), device.api(), device.capabilities().version));
    say(format_args!(
        "waves      {size}x{size} nodes, λ² = {}, {}\n",
        problem::S,
        count(steps, "step", "steps")
    ));

    let row = problem::expression(size, PIECE)?;
    let orders = [Order::identity(PIECE), best(size, PIECE)?];
    let [before, after] = orders.each_ref().map(|order| Counts::new(&row, order));
    let counts = [&before?, &after?];
    counts::print(counts);
    counts::check(report, counts);

    let rounds = if quick { 3 } else { 20 };
    let plan = Plan { steps, size, rounds: rounds.min(steps), checked: steps.min(200) };
    let limit = Duration::from_millis(if quick { 100 } else { 1400 });
    let profile = DeviceProfile::measure_within(device, limit)?;
    let (timed, snapshot) = measure::measure(&context, &plan, &profile, report)?;
    print(&timed, &plan);
    choose(device, &row, profile, report)?;
    timed.iter().for_each(|row| {
        row.json().into_iter().for_each(|row| {
            report.row(row);
        })
    });
    report.set("size", size).set("steps", steps).set("rounds", plan.rounds);
    compare(&timed, quick, report);
    let Some(path) = &args.plot else { return Ok(()) };
    figure14::write(path, size, plan.checked, &snapshot, row.block(), &orders)
}

/// The order of a block's unknowns that takes the fewest instructions.
fn best(size: usize, piece: usize) -> Result<Order> {
    let row = problem::expression(size, piece)?;
    let bound = LowerBound::new(row.block(), Orders::One).value;
    let params = SearchParams::default().with_lower_bound(Some(bound));
    let found = optimize(&SimdMachine, row.block(), &params, &SearchLimits::default())?;
    Ok(found.packing.rows().clone())
}

/// Milliseconds a step.
fn number(seconds: f64) -> String {
    format!("{:.3}", 1e3 * seconds)
}

fn print(timed: &[Timed], plan: &Plan) {
    let mut table = Table::new([
        "ms a step",
        "total",
        "2004",
        "no data transfer",
        "2004",
        "predicted",
        "drawn",
        "draws",
        "instructions",
        "fetches",
    ]);
    for row in timed {
        let ms = |after| row.seconds(after).map_or("-".to_owned(), number);
        let paper = |k: usize| row.paper[k].map_or(String::new(), |ms: f64| ms.to_string());
        table.row([
            row.name.clone(),
            ms(After::Readback),
            paper(0),
            ms(After::Nothing),
            paper(1),
            row.predicted.map_or(String::new(), number),
            ms(After::Picture),
            row.draws.map_or(String::new(), |draws| draws.to_string()),
            row.instructions.map_or(String::new(), |count| count.to_string()),
            row.fetches.map_or(String::new(), |count| count.to_string()),
        ]);
    }
    table.print();
    say(format_args!(
        "Medians of {} rounds in turn, {} steps in all. Total: the grid is read back after every step, as in the paper",
        plan.rounds, plan.steps
    ));
    say(
        "(GeForce FX 5900 Ultra, Pentium 4 at 2.66 GHz). Drawn: from the textures, nothing is read back. Draws: of a",
    );
    say(
        "step without transfer; predicted: such a step by this device's charges. Instructions, fetches: for 32 nodes.\n",
    );
}

/// What the device's charges choose for the paper's blocks.
fn choose(device: &Device, row: &RepeatedExpression, profile: DeviceProfile, report: &mut Report) -> Result {
    device.set_profile(Some(profile));
    let chosen = BlockPlan::choose(device, row, BlockUse::Apply);
    device.set_profile(None);
    let chosen = chosen?;
    say(format_args!("Chosen for blocks of {PIECE} by this device's charges: {chosen}."));
    report.set(
        "chosen",
        json!({ "plan": chosen.to_string(), "predicted_ms": chosen.seconds.map(|s| 1e3 * s) }),
    );
    Ok(())
}

/// Blocks beside `sim::wave`, without transfer: medians over the rounds, since the machine's speed may change between them.
fn compare(timed: &[Timed], quick: bool, report: &mut Report) {
    let Some(simulation) = timed.iter().find(|row| row.name == measure::SIMULATION) else { return };
    let times = |row: &Timed| {
        let [simulation, blocks] = [simulation, row].map(|row| row.rounds(After::Nothing));
        clock::median(simulation.iter().zip(blocks.iter()).map(|(simulation, blocks)| simulation / blocks))
    };
    let blocks = timed.iter().filter(|row| row.instructions.is_some()).map(|row| (row, times(row)));
    let all: Vec<(&Timed, f64)> = blocks.collect();
    let Some((best, most)) = all.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
    let list: Vec<String> = all.iter().map(|(row, times)| format!("{} {times:.2}", row.name)).collect();
    say(format_args!("Times as fast as a step of sim::wave: {}.\n", list.join("; ")));
    report
        .set("times_simulation", all.iter().map(|(row, times)| json!([row.name, times])).collect::<Vec<_>>());
    report.set("fastest", best.name.as_str());
    // A short run on a busy machine says nothing of speed.
    if !quick {
        report.at_least("step of sim::wave over the fastest on blocks", 1.0, *most);
    }
}
