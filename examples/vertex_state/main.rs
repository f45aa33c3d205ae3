//! Section 3 of [Bajaj04]: waves, cars on springs and an iteration of Gauss and Seidel, each a packed program that one
//! vertex runs; what it leaves in its buffer is drawn from there.

use std::path::PathBuf;
use std::process::ExitCode;

use support::{CommonArgs, Report, Result, say};
use texla::pack::{
    Cost, CostModel, LinearExpression, Packing, SearchLimits, SearchParams, SimdMachine, optimize,
};

mod bound;
mod canvas;
mod gauss_seidel;
mod lanes;
#[path = "../support/mod.rs"]
mod support;
mod surface;
mod suspension;
mod traffic;
mod waves;

/// Waves, cars and Gauss-Seidel by packed programs of the vertex stage.
#[derive(clap::Parser)]
#[command(name = "vertex_state")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Steps of the waves and the cars, 60 a second; 600 unless given (60 with --quick)
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Write the waves as an animated PNG
    #[arg(long, value_name = "F.png")]
    waves: Option<PathBuf>,
    /// Write the cars as an animated PNG
    #[arg(long, value_name = "F.png")]
    cars: Option<PathBuf>,
    /// Plot bounce and pitch of the cars
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// Seconds a step, and steps between two pictures of an animation.
const STEP: f64 = 1.0 / 60.0;
const SHOWN_EVERY: usize = 3;
const PICTURES_A_SECOND: u16 = 20;

fn main() -> ExitCode {
    support::main_with("vertex_state", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let steps = args.steps.unwrap_or(if args.common.quick { 60 } else { 600 });
    support::in_range("--steps", steps, 1..=100_000)?;
    let context = args.common.headless(report)?;
    say(format_args!("device      {} ({})", context.name(), context.device().api()));
    waves::run(&context, steps, args.waves.as_deref(), report)?;
    traffic::run(&context, steps, args.cars.as_deref(), args.plot.as_deref(), report)?;
    gauss_seidel::run(&context, report)
}

/// The order as it is and the best that is found, by what they are called.
fn packings(name: &str, e: &LinearExpression, report: &mut Report) -> Result<[(&'static str, Packing); 2]> {
    let limits = SearchLimits::default().with_proposals(Some(2_000_000));
    let found = optimize(&SimdMachine, e, &SearchParams::default(), &limits)?;
    let identity = Packing::identity(e.unknowns());
    let before = SimdMachine.cost(e, &identity)?;
    say(format_args!("{name:<11} {} unknowns: {before}, packed {}", e.unknowns(), found.cost));
    report.row(support::json!({
        "program": name, "unknowns": e.unknowns(), "before": before.value() as u64, "after": found.cost.value() as u64,
    }));
    Ok([("as it was", identity), ("packed", found.packing)])
}
