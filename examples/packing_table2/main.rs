//! Table 2 and Figure 8 of [Bajaj04]: what packing saves on the paper's linear expressions, how close to the best possible
//! it comes, how annealing gets there, and what it gains in the vertex stage.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use search::{PAPER, Row};
use support::{CommonArgs, Failure, Files, Progress, Report, Result, in_range, json, say};

mod count;
mod figure8;
mod print;
mod search;
#[path = "../support/mod.rs"]
mod support;
mod twin;
mod vertex;

/// Table 2 of [Bajaj04] with bounds, programs and times of the vertex stage; Figure 8 with --plots
#[derive(clap::Parser)]
#[command(name = "packing_table2")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Seconds for the search of each expression [default: 2, 0.5 with --quick]
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Of the random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Threads of the search; 0 for all cores
    #[arg(long, value_name = "T", default_value_t = 0)]
    threads: usize,
    /// Search exhaustively where the bound is below the cost, for so many seconds at most [600 if none are given]
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "600")]
    prove: Option<f64>,
    /// Rounds in the vertex stage, of which the medians are shown [default: 15, 3 with --quick]
    #[arg(long, value_name = "R")]
    rounds: Option<usize>,
    /// Draw Figure 8 into this folder: packing-wave2d.svg, packing-rk20.svg and packing-gs64.svg
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    plots: Option<PathBuf>,
    /// Annealing runs for each curve of Figure 8, the best of which is drawn [default: 12, 1 with --quick]
    #[arg(long, value_name = "R", requires = "plots")]
    runs: Option<u64>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// What the search is allowed.
struct Budget {
    time: Duration,
    proof: Option<Duration>,
    seed: u64,
    threads: usize,
}

fn main() -> ExitCode {
    support::main_with("packing_table2", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let seconds = args.seconds.unwrap_or(if quick { 0.5 } else { 2.0 });
    let time = Duration::from_secs_f64(in_range("--seconds", seconds, 0.001..=86_400.0)?);
    let proof = args.prove.map(|s| in_range("--prove", s, 0.001..=86_400.0)).transpose()?;
    let threads = in_range("--threads", args.threads, 0..=1024)?;
    let rounds = in_range("--rounds", args.rounds.unwrap_or(if quick { 3 } else { 15 }), 1..=1000)?;
    let runs = in_range("--runs", args.runs.unwrap_or(if quick { 1 } else { 12 }), 1..=1000)?;
    let plots = args.plots.as_deref().map(figure8::paths).transpose()?;
    let outputs = plots.iter().flatten().chain(&args.common.json).cloned().collect();
    Files { outputs, ..Files::default() }.check()?;
    let context = args.common.headless(report)?;
    let device = context.device();
    say(format_args!("device     {} ({}, {})", context.name(), device.api(), device.capabilities().version));
    say(format_args!("search     {seconds} s for each expression at most, seed {}\n", args.seed));

    let budget = Budget { time, proof: proof.map(Duration::from_secs_f64), seed: args.seed, threads };
    let progress = Progress::new("expression", PAPER.len() as u64);
    let mut rows = Vec::new();
    for (k, paper) in PAPER.iter().enumerate() {
        progress.note(paper.instance);
        rows.push(Row::new(paper, &budget, &progress)?);
        progress.set(k as u64 + 1);
    }
    progress.finish();
    print::costs(&rows);
    print::programs(&rows);
    for row in &rows {
        row.check(report);
        report.row(row.json());
    }

    let timed = vertex::measure(device, &rows, rounds, if quick { 0.005 } else { 0.05 }, report)?;
    print::times(&timed, rounds);
    report.set("rounds", rounds);
    report.set("vertex_stage", timed.iter().map(vertex::Timed::json).collect::<Vec<_>>());
    report.set("papers_gauss_seidel_ms", json!(vertex::PAPERS_MS));
    let Some(paths) = plots else { return Ok(()) };
    let figures = figure8::anneal(runs, args.seed)?;
    figures.iter().for_each(figure8::Figure::print);
    report.set("runs", runs);
    report.set("figure8", figures.iter().map(figure8::Figure::json).collect::<Vec<_>>());
    figures.iter().zip(&paths).try_for_each(|(figure, path)| figure.plot(path))
}

/// The instance of this name.
fn instance(name: &str) -> Result<texla::pack::LinearExpression> {
    let found = texla::pack::instances::ALL.iter().find(|(known, _)| *known == name);
    let (_, make) = found.ok_or_else(|| Failure::unsolved(format_args!("no instance {name}")))?;
    Ok(make()?)
}
