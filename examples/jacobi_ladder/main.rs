//! The performance tutorial of [Goeddeke05]: Jacobi sweeps with the nine bands of bilinear finite elements, from a CPU
//! loop up the tutorial's ladder to texla's own rungs, beside the tutorial's table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use support::{Bar, BarChart, CommonArgs, Failure, Progress, Report, Result, Table, json, say};
use texla::solve::{JacobiLayout, JacobiSchedule, JacobiStep};

use measure::{Measured, check_row_ends, measure};

mod fetching;
mod measure;
#[path = "../support/mod.rs"]
mod support;
mod twin;

/// The Jacobi ladder: MFLOP/s of nine-band sweeps by every schedule, N = 4096 ... 4194304.
#[derive(clap::Parser)]
#[command(name = "jacobi_ladder")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Rounds, of which the medians are shown [default: 7, 3 with --quick]
    #[arg(long, value_name = "R")]
    rounds: Option<usize>,
    /// One size in place of all: 4096, 16384, 65536, 262144, 1048576 or 4194304
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Write a bar chart
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// A row of the tutorial's table of 2005: MFLOP/s of two cards, RGBA and RED. N counts the unknowns of all four systems.
struct Paper {
    n: usize,
    /// 5900U RGBA, 5900U RED, 6800 RGBA, 6800 RED.
    mflops: [Option<f64>; 4],
}

const PAPERS_CARDS: [&str; 4] = ["5900U RGBA", "5900U RED", "6800 RGBA", "6800 RED"];

const fn paper(n: usize, [a, b, c, d]: [f64; 4]) -> Paper {
    Paper { n, mflops: [Some(a), Some(b), Some(c), Some(d)] }
}

const PAPER: [Paper; 6] = [
    paper(4096, [807.0, 451.0, 283.0, 474.0]),
    paper(16_384, [1595.0, 594.0, 669.0, 1233.0]),
    paper(65_536, [1925.0, 639.0, 979.0, 1894.0]),
    paper(262_144, [1504.0, 643.0, 1083.0, 2238.0]),
    paper(1_048_576, [1363.0, 632.0, 1002.0, 2358.0]),
    // Three values for four columns: by their size, the second column's is the one that is missing.
    Paper { n: 4_194_304, mflops: [Some(1280.0), None, Some(984.0), Some(2240.0)] },
];

/// The size at which rungs are compared.
const COMPARED: usize = 1 << 20;

fn main() -> ExitCode {
    support::main_with("jacobi_ladder", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let rounds = args.rounds.unwrap_or(if quick { 3 } else { 7 });
    support::in_range("--rounds", rounds, 1..=1000)?;
    let rows: Vec<&Paper> = match args.size {
        Some(n) => PAPER.iter().filter(|row| row.n == n).collect(),
        None => PAPER.iter().take(if quick { 2 } else { 6 }).collect(),
    };
    if rows.is_empty() {
        let sizes = PAPER.map(|row| row.n.to_string()).join(", ");
        let size = args.size.unwrap_or_default();
        return Err(Failure::bad_input(format_args!("--size {size}: expected one of {sizes}")));
    }
    let context = args.common.headless(report)?;
    let device = context.device();
    let caps = device.capabilities();
    say(format_args!("device     {} ({}, {})", context.name(), device.api(), caps.version));
    say("matrix     bilinear elements on bent quadrilaterals, varying coefficient; 20 N operations a sweep");
    say(format_args!("           medians of {rounds} rounds; gain: over the rung before, median of ratios"));
    say("           RGBA at size N: four systems of N / 4 unknowns\n");
    check_row_ends(device, report)?;
    let progress = Progress::new("size", rows.len() as u64);
    let mut all = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        progress.note(row.n.to_string());
        let side = row.n.isqrt();
        let mut rungs = JacobiSchedule::LADDER.to_vec();
        rungs.retain(|s| s.fits(device, side));
        let (measured, together) = measure(device, side, &rungs, rounds, report)?;
        progress.set(k as u64 + 1);
        device.trim()?;
        print(row, &measured, together);
        measured.iter().for_each(|m| {
            report.row(json_row(row, m, together));
        });
        if row.n == COMPARED && !quick {
            compare(&measured, caps.software, report);
        }
        all.push((row.n, measured));
    }
    progress.finish();
    let papers: Vec<_> = PAPER.iter().map(|row| json!({ "n": row.n, "mflops": row.mflops })).collect();
    report
        .set("rounds", rounds)
        .set("papers_cards_2005", json!(PAPERS_CARDS))
        .set("papers_table_2005", papers);
    advise(&all, report);
    args.plot.as_ref().map_or(Ok(()), |path| plot(path, &all, context.name()))
}

/// A rung's name.
pub fn name(schedule: JacobiSchedule) -> String {
    match schedule {
        JacobiSchedule::HostLoop => "CPU, one loop".into(),
        JacobiSchedule::HostBands => "CPU, band by band".into(),
        JacobiSchedule::Tutorial(layout, step) => {
            let layout = if layout == JacobiLayout::Red { "RED" } else { "RGBA" };
            let step = match step {
                JacobiStep::OneShader => "one shader",
                JacobiStep::Inverse => "inverse diagonal",
                JacobiStep::ThreePass => "three passes",
                JacobiStep::Interpolated => "interpolated",
            };
            format!("{layout}, {step}")
        }
        JacobiSchedule::Packed { rows: 1 } => "packed, 1 row".into(),
        JacobiSchedule::Packed { rows } => format!("packed, {rows} rows"),
        other => format!("{other:?}"),
    }
}

fn json_row(paper: &Paper, m: &Measured, together: bool) -> serde_json::Value {
    let n = paper.n;
    // The tutorial's table is of its last rungs; of its two cards the 6800 is the later one.
    let papers = match m.schedule {
        JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::Interpolated) => paper.mflops[2],
        JacobiSchedule::Tutorial(JacobiLayout::Red, JacobiStep::Interpolated) => paper.mflops[3],
        _ => None,
    };
    let mut row = json!({
        "n": n, "rung": name(m.schedule), "systems": m.schedule.systems(), "draws": m.schedule.draws(),
        "gain": m.gain, "share_of_fetch_ceiling": m.share, "in_turns": together, "paper_mflops": papers,
    });
    m.rounds.times(1e3).put(&mut row, "ms");
    m.rates(n).put(&mut row, "mflops");
    row
}

fn print(row: &Paper, measured: &[Measured], together: bool) {
    let turns = if together { "" } else { ", one rung after the other" };
    let heading = format!("N = {}{turns}", row.n);
    let mut table = Table::new([heading.as_str(), "ms a sweep", "MFLOP/s", "gain", "% of fetches"]);
    for m in measured {
        let gain = m.gain.map_or(String::new(), |gain| format!("{gain:.2}"));
        let share = m.share.map_or(String::new(), |share| format!("{:.0}", 100.0 * share));
        table.row([
            name(m.schedule),
            format!("{:.3}", 1e3 * m.seconds()),
            format!("{:.0}", m.mflops(row.n)),
            gain,
            share,
        ]);
    }
    for (card, mflops) in PAPERS_CARDS.into_iter().zip(row.mflops) {
        let mflops = mflops.map_or("-".to_owned(), |v| format!("{v:.0}"));
        table.row([format!("the paper's, 2005: {card}"), String::new(), mflops]);
    }
    table.print();
}

/// MFLOP/s of a rung do not matter here: all are of one size.
fn seconds(measured: &[Measured], schedule: JacobiSchedule) -> f64 {
    measured.iter().find(|m| m.schedule == schedule).map_or(f64::NAN, |m| m.seconds())
}

/// The ladder's figures at one size. They are bounds where they were set, on a software rasteriser; what a GPU gains is
/// stated.
fn compare(measured: &[Measured], software: bool, report: &mut Report) {
    let of = |layout, step| seconds(measured, JacobiSchedule::Tutorial(layout, step));
    let layouts = [JacobiLayout::Red, JacobiLayout::Rgba];
    let passes = layouts.map(|l| of(l, JacobiStep::OneShader) / of(l, JacobiStep::ThreePass));
    let device = measured.iter().filter(|m| m.schedule.draws() > 0);
    let best = device.map(|m| m.seconds()).fold(f64::INFINITY, f64::min);
    let first = layouts.map(|l| of(l, JacobiStep::OneShader) / best);
    let figures =
        [("three passes over one shader", 1.0, passes), ("the best rung over the first", 3.0, first)];
    for (what, bound, [red, rgba]) in figures {
        say(format_args!("N = {COMPARED}: gain of {what}: RED {red:.2}, RGBA {rgba:.2}"));
        if software {
            report.at_least(format!("N = {COMPARED}: gain of {what}"), bound, red.max(rgba));
        }
    }
    report.set("gain_of_three_passes", json!({ "red": passes[0], "rgba": passes[1] }));
    report.set("gain_of_the_best", json!({ "red": first[0], "rgba": first[1] }));
}

/// What the tutorial advises: run it, and take the layout that is best here.
fn advise(all: &[(usize, Vec<Measured>)], report: &mut Report) {
    let best = |measured: &[Measured], which: &dyn Fn(JacobiSchedule) -> bool| {
        let of = measured.iter().filter(|m| which(m.schedule));
        of.min_by(|a, b| a.seconds().total_cmp(&b.seconds())).map(|m| name(m.schedule))
    };
    let mut table = Table::new(["N", "best here", "best of the tutorial's"]);
    let mut advice = Vec::new();
    for (n, measured) in all {
        let here = best(measured, &|s| s.draws() > 0).unwrap_or_default();
        let tutorial = best(measured, &|s| matches!(s, JacobiSchedule::Tutorial(..))).unwrap_or_default();
        table.row([n.to_string(), here.clone(), tutorial.clone()]);
        advice.push(json!({ "n": n, "best": here, "best_of_the_tutorials": tutorial }));
    }
    table.print();
    report.set("advice", advice);
}

fn plot(path: &Path, all: &[(usize, Vec<Measured>)], device: &str) -> Result {
    let mut chart = BarChart {
        title: "Nine-band Jacobi, by rung",
        subtitle: format!("{device}; 20 N operations a sweep"),
        axis: "MFLOP/s (log scale)",
        groups: all.iter().map(|(n, _)| format!("N = {n}")).collect(),
        ..BarChart::default()
    };
    for schedule in [
        JacobiSchedule::HostLoop,
        JacobiSchedule::Tutorial(JacobiLayout::Red, JacobiStep::OneShader),
        JacobiSchedule::Tutorial(JacobiLayout::Red, JacobiStep::Interpolated),
        JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::OneShader),
        JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::Interpolated),
        JacobiSchedule::Packed { rows: 4 },
    ] {
        let bar = |(n, measured): &(usize, Vec<Measured>)| {
            measured.iter().find(|m| m.schedule == schedule).map(|m| Bar::plain(m.mflops(*n)))
        };
        chart.series.push((name(schedule), all.iter().map(bar).collect()));
    }
    chart.write(path)
}
