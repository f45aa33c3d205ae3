//! Table 44-1 of [Krueger05]: vector reduce, vector-vector operation and the 2D wave equation demo, on the paper's six
//! sizes, beside the paper's figures and this device's own ceilings.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::{Bar, BarChart, CommonArgs, Report, Result, Table, json, say, worst};

use measure::{Measured, SIZES, What};

mod measure;
mod printed;
#[allow(dead_code)] // drawn without a window
#[path = "../water/render.rs"]
mod render;
#[path = "../support/mod.rs"]
mod support;
#[allow(dead_code)]
#[path = "../water/view.rs"]
mod view;

/// Table 44-1 of the paper: reduce, vector operation and the wave demo on six sizes.
#[derive(clap::Parser)]
#[command(name = "framework_table44_1")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Rounds, of which the medians are shown [default: 7, 3 with --quick]
    #[arg(long, value_name = "R")]
    rounds: Option<usize>,
    /// Cells that a wave crosses in an implicit step; past 0.7 an explicit one is unstable
    #[arg(long, value_name = "C", default_value_t = 1.0)]
    courant: f64,
    /// The demo by the paper's own program too: Equation 44-7 on unpacked grids, with repack and unpack
    #[arg(long)]
    printed: bool,
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
    support::main_with("framework_table44_1", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let rounds = args.rounds.unwrap_or(if quick { 3 } else { 7 });
    support::in_range("--rounds", rounds, 1..=1000)?;
    // Iterations grow with it: at 10 a step takes about 100.
    support::in_range("--courant", args.courant, 0.01..=10.0)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let version = device.capabilities().version;
    let sizes = if quick { &SIZES[..3] } else { &SIZES[..] };
    let plan = measure::Plan { rounds, courant: args.courant, printed: args.printed };
    let measured = measure::measure(&context, sizes, plan, report)?;
    say(format_args!("device      {} ({}, {version})", context.name(), device.api()));
    say(format_args!("the paper   {PAPER}"));
    say(format_args!(
        "wave        Crank-Nicholson, {} cells a step, conjugate gradients to {:e}",
        args.courant,
        measure::TOLERANCE,
    ));
    say(format_args!("            medians of {rounds} rounds; the picture has 640x480 pixels\n"));
    print(&measured);
    for size in &measured {
        for what in What::ALL {
            report.row(row(size, what));
        }
        if let Some(printed) = &size.printed {
            let [step, demo] = printed.rounds.each_ref().map(|rounds| rounds.median());
            say(format_args!(
                "{:9}   the printed program: {:.3} ms a step, {:.1} frames a second, {} iterations, {} draws",
                size.size.name(),
                1e3 * step,
                1.0 / demo,
                printed.iterations,
                printed.draws
            ));
            for (operation, rounds) in ["printed step", "printed demo"].into_iter().zip(&printed.rounds) {
                let row = json!({
                    "size": size.size.name(), "operation": operation, "fps": 1.0 / rounds.median(),
                    "iterations": printed.iterations, "draws": printed.draws, "readbacks": printed.readbacks,
                });
                report.row(rounds.times(1e3).in_row(row, "ms"));
            }
        }
    }
    if !quick {
        // A tenth for noise: a ceiling is what nothing passes.
        let shares = measured.iter().flat_map(|m| What::ALL.into_iter().filter_map(|what| m.share(what)));
        report.at_most("largest share of the ceiling", 1.1, shares.fold(0.0, worst));
    }
    report.set("rounds", rounds).set("courant", args.courant).set("paper_hardware", PAPER);
    args.plot.as_ref().map_or(Ok(()), |path| plot(path, &measured, context.name()))
}

/// What the paper's table was measured on.
const PAPER: &str = "NVIDIA GeForce 6800 GT";

fn row(m: &Measured, what: What) -> serde_json::Value {
    let seconds = m.seconds(what);
    let row = json!({
        "size": m.size.name(), "operation": what.name(), "fps": what.is_demo().then(|| 1.0 / seconds),
        "elements_per_second": m.size.cells() as f64 / seconds, "share_of_ceiling": m.share(what),
        "paper_ms": what.papers_ms(&m.size), "iterations": what.is_demo().then_some(m.iterations),
        "passes_per_iteration": what.is_demo().then_some(m.passes_per_iteration),
        "draws": what.is_demo().then_some(m.draws), "readbacks": m.readbacks,
    });
    m.rounds(what).times(1e3).in_row(row, "ms")
}

fn print(measured: &[Measured]) {
    let number = |v: f64| match v {
        v if v >= 99.95 => format!("{v:.0}"),
        v if v >= 9.995 => format!("{v:.1}"),
        v if v >= 0.9995 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    };
    let mut table = Table::new([
        "size",
        "operation",
        "ms",
        "fps",
        "ms 2005",
        "fps 2005",
        "Melem/s",
        "% of ceiling",
        "iterations",
        "passes each",
        "draws",
        "readbacks",
    ]);
    for m in measured {
        for what in What::ALL {
            let (ms, paper) = (1e3 * m.seconds(what), what.papers_ms(&m.size));
            let wave = |count: u64| if what.is_demo() { count.to_string() } else { String::new() };
            let fps = |ms: f64| if what.is_demo() { number(1e3 / ms) } else { String::new() };
            table.row([
                m.size.name(),
                what.name().to_owned(),
                number(ms),
                fps(ms),
                paper.map_or(String::new(), number),
                paper.map_or(String::new(), fps),
                number(1e-3 * m.size.cells() as f64 / ms),
                m.share(what).map_or(String::new(), |share| format!("{:.0}", 100.0 * share)),
                wave(m.iterations as u64),
                wave(m.passes_per_iteration),
                wave(m.draws),
                m.readbacks.to_string(),
            ]);
        }
    }
    table.print();
}

fn plot(path: &Path, measured: &[Measured], device: &str) -> Result {
    let mut chart = BarChart {
        title: "Table 44-1: here and in 2005",
        subtitle: format!("{device}; the paper: {PAPER}"),
        axis: "milliseconds (log scale)",
        groups: measured.iter().map(|m| m.size.name()).collect(),
        ..BarChart::default()
    };
    for what in [What::Reduce, What::Operation, What::Demo] {
        let here = measured.iter().map(|m| Some(Bar::plain(1e3 * m.seconds(what))));
        chart.series.push((what.name().to_owned(), here.collect()));
        let paper = measured.iter().map(|m| what.papers_ms(&m.size).map(Bar::plain));
        chart.series.push((format!("{}, 2005", what.name()), paper.collect()));
    }
    chart.write(path)
}
