//! The flow in a square cavity whose lid moves, at a Reynolds number of 100, against the published velocities on its
//! centre lines (Ghia, Ghia and Shin 1982). It is computed on coarse grids first, each of which begins with the flow on
//! the one before.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use flow::{Cavity, STEADY};
use support::{CommonArgs, Failure, Report, Result, Table, json, say};
use texla::sim::fluid::Advection;

mod chart;
mod flow;
#[path = "../support/mod.rs"]
mod support;
mod table;

/// Lid-driven cavity at Re = 100 against published velocities.
#[derive(clap::Parser)]
#[command(name = "cavity")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Cells a side of the finest grid, 16 times a power of two; 128 (64 with --quick)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Advection without MacCormack's correction
    #[arg(long)]
    first_order: bool,
    /// Write a chart of both profiles
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// Largest deviation from the table, of the lid's speed.
const BOUND: f64 = 0.03;

fn main() -> ExitCode {
    support::main_with("cavity", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let size = args.size.unwrap_or(if args.common.quick { 64 } else { 128 });
    if !(16..=1024).contains(&size) || !size.is_multiple_of(16) || !(size / 16).is_power_of_two() {
        return Err(Failure::bad_input(format_args!("--size {size}: expected 16, 32, 64, ... 1024")));
    }
    let context = args.common.headless(report)?;
    let device = context.device();

    let advection = if args.first_order { Advection::SemiLagrangian } else { Advection::MacCormack };
    let mut table =
        Table::new(["grid", "steps", "iterations a step", "seconds", "change", "off in u", "off in v"]);
    let mut n = size.min(32);
    let mut coarse: Option<Cavity> = None;
    let last = loop {
        let started = Instant::now();
        let mut cavity = Cavity::new(device, n, advection)?;
        if let Some(coarse) = &coarse {
            cavity.begin_with(coarse)?;
        }
        let run = cavity.run()?;
        let seconds = started.elapsed().as_secs_f64();
        let off =
            [table::deviation(&run.profiles.u, &table::U), table::deviation(&run.profiles.v, &table::V)];
        let iterations = run.iterations as f64 / run.steps as f64;
        table.row([
            format!("{n}x{n}"),
            run.steps.to_string(),
            format!("{iterations:.1}"),
            format!("{seconds:.1}"),
            format!("{:.1e}", run.change),
            format!("{:.4} at y = {}", off[0].0, off[0].1),
            format!("{:.4} at x = {}", off[1].0, off[1].1),
        ]);
        report.row(json!({
            "grid": n, "steps": run.steps, "pressure_iterations": run.iterations, "seconds": seconds,
            "change": run.change, "divergence": run.divergence,
            "deviation_u": off[0].0, "at_y": off[0].1, "deviation_v": off[1].0, "at_x": off[1].1,
        }));
        if n == size {
            break (run, off);
        }
        coarse = Some(cavity);
        n *= 2;
    };
    table.print();
    let (run, off) = last;
    let worst = support::worst(off[0].0, off[1].0);
    say(format_args!("\nlargest deviation from the table: {:.2} % of the lid's speed", 100.0 * worst));
    report.set("profile_u", json!(run.profiles.u)).set("profile_v", json!(run.profiles.v));
    if let Some(path) = &args.plot {
        let subtitle = format!("texla on {size}x{size} cells; largest deviation {worst:.4}");
        chart::write(path, &run.profiles, &subtitle)?;
        say(format_args!("chart: {}", path.display()));
    }
    report.at_most("largest deviation from the published velocities, of the lid's speed", BOUND, worst);
    report.at_most("largest change on the centre lines in a unit of time", STEADY, run.change);
    // A divergence of one would be a velocity that vanishes within the cavity's side.
    report.at_most("largest divergence", 1e-2, run.divergence);
    Ok(())
}
