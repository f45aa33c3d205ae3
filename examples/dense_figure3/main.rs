//! Figure 3 of [Moravanszky03]: six operations with dense matrices of 1000x1000, on the device and on the CPU.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::ceiling::Ceiling;
use support::{Bar, BarChart, CommonArgs, Report, Result, Table, count, json, say};
use texla::ops::MatmulForm;

use device::OnDevice;
use measure::{Cell, Operation, Who};
use problem::Problem;

mod check;
mod cpu;
mod device;
mod measure;
mod problem;
#[path = "../support/mod.rs"]
mod support;

/// Figure 3 of the paper: copy, add, products, conjugate gradients and projected Jacobi with dense matrices.
#[derive(clap::Parser)]
#[command(name = "dense_figure3")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Rows and columns of the matrices; 1000 as in the paper (128 with --quick)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Iterations of conjugate gradients and sweeps of projected Jacobi; no more than N, which is the paper's number
    #[arg(long, value_name = "K")]
    iterations: Option<usize>,
    /// Rounds, of which the medians are shown
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

/// Larger ones take too long in the loops, and too much memory for the copies.
const LARGEST: usize = 4096;

/// What the paper's figure was measured on; its text gives no numbers.
const PAPER: &str = "Radeon 9500 Pro with an Athlon 800 MHz; Radeon 9700 Pro with a Pentium 4 2.4 GHz; \
                     plain C and ATLAS on a Pentium 4 1.6 GHz";

fn main() -> ExitCode {
    support::main_with("dense_figure3", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let n = support::in_range("--size", args.size.unwrap_or(if quick { 128 } else { 1000 }), 1..=LARGEST)?;
    let usual = if quick { 32 } else { 100 };
    let iterations = support::in_range("--iterations", args.iterations.unwrap_or(usual.min(n)), 1..=n)?;
    let rounds = support::in_range("--rounds", args.rounds.unwrap_or(if quick { 3 } else { 5 }), 1..=1000)?;

    let context = args.common.headless(report)?;
    let device = context.device();
    let version = device.capabilities().version;
    let problem = Problem::new(n, iterations);
    let mut on_device = OnDevice::new(device, &problem)?;
    let (plain, transposed) =
        (on_device.chosen(MatmulForm::Plain)?, on_device.chosen(MatmulForm::TransposedA)?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);

    say(format_args!("device      {} ({}, {version})", context.name(), device.api()));
    say(format_args!("CPU         {threads} threads"));
    say(format_args!("matrices    {n}x{n}; {iterations} iterations and sweeps; medians of {rounds} rounds"));
    say(format_args!(
        "schedules   paper: 6 multiply-adds a pass, transposed 4; default: {plain:?}, {transposed:?}"
    ));
    say(
        "            paper: listings 4.1 and 4.2; it copies and adds as the default does, so those are left out",
    );
    say(format_args!("the paper   {PAPER}"));

    let cells = measure::measure(&problem, &mut on_device, rounds)?;
    let ceiling = Ceiling::measure(device, n * n, rounds)?;
    print(&cells, n);
    report.set("size", n).set("iterations", iterations).set("rounds", rounds).set("threads", threads);
    report.set("default_schedule", format!("{plain:?}"));
    report.set("default_schedule_transposed", format!("{transposed:?}"));
    report.set("condition", problem.condition).set("paper_hardware", PAPER);
    for cell in &cells {
        report.row(row(cell, n, &ceiling));
    }
    check::check(&problem, &cells, report);
    match &args.plot {
        Some(path) => plot(path, &cells, n, iterations, context.name()),
        None => Ok(()),
    }
}

fn row(cell: &Cell, n: usize, ceiling: &Ceiling) -> serde_json::Value {
    let mut row = json!({
        "operation": cell.operation.name(),
        "by": cell.who.name(),
        "gflops": gflops(cell, n),
        "iterations": cell.iterations,
        "readbacks": cell.readbacks,
        "ms_per_iteration": per_iteration(cell),
        "share_of_ceiling": cell.share(ceiling),
    });
    cell.rounds.times(1e3).put(&mut row, "ms");
    cell.with_readback.times(1e3).put(&mut row, "ms_with_readback");
    row
}

/// Of products; the operation alone.
fn gflops(cell: &Cell, n: usize) -> Option<f64> {
    cell.operation.is_product().then(|| 2e-9 * (n as f64).powi(3) / cell.seconds())
}

/// Milliseconds, of what iterates; the start, and for the device's conjugate gradients the verdict in double-float at the
/// end, are shared out.
fn per_iteration(cell: &Cell) -> Option<f64> {
    cell.iterations.map(|k| 1e3 * cell.seconds() / k.max(1) as f64)
}

/// Three tables: times, rates of the products, times of an iteration.
fn print(cells: &[Cell], n: usize) {
    let find = |operation: Operation, who: Who| {
        cells.iter().find(|cell| cell.operation == operation && cell.who == who)
    };
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.3}"));
    let mut times = Table::new([
        "ms",
        "paper's, read back",
        "paper's",
        "default, read back",
        "default",
        "plain loops",
        "faer",
        "faer, threads",
    ]);
    for operation in Operation::ALL {
        let mut line = vec![operation.name().to_owned()];
        for who in Who::ALL {
            let cell = find(operation, who);
            if who.on_device() {
                line.push(number(cell.and_then(Cell::with_readback).map(|s| 1e3 * s)));
            }
            line.push(number(cell.map(|c| 1e3 * c.seconds())));
        }
        times.row(line);
    }
    times.print();
    let print = |heading: &str, value: &dyn Fn(&Cell) -> Option<f64>| {
        let mut table = Table::new([heading, "paper's", "default", "plain loops", "faer", "faer, threads"]);
        for operation in Operation::ALL {
            let values = Who::ALL.map(|who| find(operation, who).and_then(value));
            if values.iter().any(Option::is_some) {
                table.row([vec![operation.name().to_owned()], values.map(number).to_vec()].concat());
            }
        }
        table.print();
    };
    print("GFLOP/s", &|cell| gflops(cell, n));
    print("ms an iteration", &per_iteration);
}

fn plot(path: &Path, cells: &[Cell], n: usize, iterations: usize, device: &str) -> Result {
    let mut chart = BarChart {
        title: &format!("Operations with matrices of {n}x{n}"),
        subtitle: format!(
            "{device}; {} and {}",
            count(iterations, "iteration", "iterations"),
            count(iterations, "sweep", "sweeps")
        ),
        axis: "milliseconds (log scale)",
        tops: Some("pale: readback"),
        groups: ["copy", "add", "multiply", "transposed", "conj. grad.", "proj. Jacobi"]
            .map(str::to_owned)
            .into(),
        ..BarChart::default()
    };
    for who in Who::ALL {
        let bars = Operation::ALL.map(|operation| {
            let cell = cells.iter().find(|cell| cell.operation == operation && cell.who == who)?;
            Some(Bar { value: 1e3 * cell.seconds(), with: cell.with_readback().map(|s| 1e3 * s) })
        });
        chart.series.push((who.name().to_owned(), bars.into()));
    }
    chart.write(path)
}
