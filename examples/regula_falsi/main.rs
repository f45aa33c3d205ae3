//! Regula falsi for very many equations at once, [BeyondVector] exercise 28.4-1: the roots of
//! `(2 - a - b) x³ + a x² + b x - 1` in [0, 1], one for each pair of parameters. The polynomial is a reconstruction: the
//! exercise's equation is not legible in the text at hand, which has left two parameters and a bracket; this one has both, and
//! a root between the ends for every pair. Equations that are done are culled by the
//! depth test; the example measures what that gains.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use cpu::Pair;
use device::Equations;
use support::clock::Rounds;
use support::figure::{self, Raster, UNITS};
use support::paint::{heading, text, width};
use support::plot::{frame, linear, value};
use support::{CommonArgs, Failure, Report, Result, Table, bytes_of, count, json, say};
use texla::host::number;
use texla::kernel::{WhileParams, WhileReport, WhileSchedule};

mod cpu;
mod device;
#[path = "../support/mod.rs"]
mod support;

/// Roots of very many equations by regula falsi; those that are done are culled.
#[derive(clap::Parser)]
#[command(name = "regula_falsi")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Equations along either parameter; 512 unless given (96 with --quick)
    #[arg(long, value_name = "N")]
    side: Option<usize>,
    /// Parameters lie between -R and R
    #[arg(long, value_name = "R", default_value_t = 20.0)]
    range: f64,
    /// An equation is done when its polynomial is no larger
    #[arg(long, value_name = "T", default_value_t = 5e-5)]
    tolerance: f64,
    /// Times that each schedule is measured; 5 unless given (3 with --quick)
    #[arg(long, value_name = "N")]
    rounds: Option<usize>,
    /// Write a picture of the steps taken
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    png: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// Steps after which an equation is given up.
const MOST: u32 = 1 << 15;
/// Steps in a pass that are measured; the last is the whole loop in one pass.
const STEPS_PER_PASS: [u32; 5] = [1, 4, 16, 64, MOST];

/// Pixels of the picture's side, at least, and colours of its scale.
const PICTURE: usize = 512;
const SCALE: usize = 256;

/// One schedule, its report and the median of its times.
struct Measured {
    params: WhileParams,
    report: WhileReport,
    rounds: Rounds,
}

fn main() -> ExitCode {
    support::main_with("regula_falsi", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let side = args.side.unwrap_or(if quick { 96 } else { 512 });
    support::in_range("--side", side, 2..=4096)?;
    if !(args.range > 0.0 && args.range <= 100.0) {
        return Err(Failure::bad_input(format_args!(
            "--range {}: expected a number above 0, at most 100",
            number(args.range)
        )));
    }
    // A 32-bit polynomial with such coefficients is no more exact than this.
    let (tolerance, least) = (args.tolerance, 2e-6 * (1.0 + args.range));
    if !(tolerance >= least && tolerance < 1.0) {
        return Err(Failure::bad_input(format_args!(
            "--tolerance {}: expected a number from {least:e} (for --range {}) to 1",
            number(tolerance),
            args.range
        )));
    }
    let rounds = args.rounds.unwrap_or(if quick { 3 } else { 5 });
    support::in_range("--rounds", rounds, 1..=1000)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let version = device.capabilities().version;
    say(format_args!("device      {} ({}, {version})", context.name(), device.api()));

    let at = |i: usize| ((2.0 * (i as f64 + 0.5) / side as f64 - 1.0) * args.range) as f32;
    let pairs: Vec<Pair> = (0..side * side).map(|i| [at(i % side), at(i / side)]).collect();
    let tolerance = tolerance as f32;
    let equations = Equations::new(device, &pairs, tolerance)?;
    let (measured, cells) = measure(&equations, rounds)?;

    let started = Instant::now();
    let twin: Vec<[f32; 4]> = pairs.iter().map(|pair| cpu::solve(*pair, tolerance, MOST)).collect();
    let on_cpu = started.elapsed().as_secs_f64();
    let (steps, most) =
        twin.iter().fold((0.0, 0.0f32), |(sum, most), c| (sum + f64::from(c[3]), most.max(c[3])));
    say(format_args!(
        "equations   {}, {:.1} steps each, at most {most}\n",
        pairs.len(),
        steps / pairs.len() as f64
    ));
    print(&measured, on_cpu);
    for m in &measured {
        let row = json!({
            "schedule": name(m.params.schedule), "steps_per_pass": m.params.steps_per_pass,
            "passes": m.report.passes, "active": m.report.active,
        });
        report.row(m.rounds.in_row(row, "seconds"));
    }
    report.set("equations", pairs.len()).set("cpu_seconds", on_cpu);
    report.set("steps", json!({ "mean": steps / pairs.len() as f64, "most": most }));
    report.set("gain", json!(gains(&measured)));
    if let Some(path) = &args.png {
        let picture = equations.paint(&cells, side, most)?;
        write_picture(path, args.range, (side, &picture), (most, &equations.scale(SCALE, most)?))?;
        say(format_args!("picture: {}", path.display()));
    }
    check(&measured, &cells.read()?, &pairs, &twin, tolerance, report);
    Ok(())
}

/// All schedules in turn, round after round, and the cells of the first.
fn measure(equations: &Equations, rounds: usize) -> Result<(Vec<Measured>, texla::Vector)> {
    let schedules = STEPS_PER_PASS
        .into_iter()
        .flat_map(|k| [WhileSchedule::Predicated, WhileSchedule::Branching].map(|schedule| (k, schedule)));
    let all: Vec<WhileParams> = schedules
        .filter(|(k, schedule)| *k < MOST || *schedule == WhileSchedule::Branching)
        .map(|(steps_per_pass, schedule)| {
            WhileParams::default()
                .with_steps_per_pass(steps_per_pass)
                .with_schedule(schedule)
                .with_max_passes(MOST.div_ceil(steps_per_pass) as usize)
        })
        .collect();
    let mut times = vec![Rounds::default(); all.len()];
    let mut reports = Vec::new();
    let mut first: Option<(texla::Vector, Vec<f32>)> = None;
    // The first round, which compiles, is not counted.
    for round in 0..=rounds {
        for (params, times) in all.iter().zip(&mut times) {
            let mut cells = equations.cells()?;
            cells.front().device().finish()?;
            let started = Instant::now();
            let report = equations.solve(&mut cells, *params)?;
            cells.front().device().finish()?;
            let seconds = started.elapsed().as_secs_f64();
            if round > 0 {
                times.push(seconds);
                continue;
            }
            reports.push(report);
            let (cells, _) = cells.into_inner();
            let values = cells.read()?;
            match &first {
                None => first = Some((cells, values)),
                Some((_, want)) if *want != values => {
                    return Err(Failure::unsolved("two schedules differ in their results"));
                }
                Some(_) => {}
            }
        }
    }
    let measured = all.into_iter().zip(reports).zip(times);
    let measured = measured.map(|((params, report), rounds)| Measured { params, report, rounds }).collect();
    Ok((measured, first.expect("a schedule").0))
}

fn name(schedule: WhileSchedule) -> &'static str {
    match schedule {
        WhileSchedule::Predicated => "predicated",
        WhileSchedule::Branching => "branch in the shader",
        _ => "another schedule",
    }
}

/// For each number of steps in a pass, how much faster cells are culled than branched over; and the fastest predicated
/// schedule against the whole loop in one pass.
fn gains(measured: &[Measured]) -> Vec<(String, f64)> {
    let of = |steps, schedule| {
        let same = |m: &&Measured| m.params.steps_per_pass == steps && m.params.schedule == schedule;
        measured.iter().find(same).map(|m| m.rounds.median())
    };
    let pairs = STEPS_PER_PASS.into_iter().filter_map(|k| {
        let (culled, branched) = (of(k, WhileSchedule::Predicated)?, of(k, WhileSchedule::Branching)?);
        Some((format!("{} a pass", count(k as usize, "step", "steps")), branched / culled))
    });
    let predicated = measured.iter().filter(|m| m.params.schedule == WhileSchedule::Predicated);
    let best = predicated.map(|m| m.rounds.median()).fold(f64::INFINITY, f64::min);
    let whole =
        of(MOST, WhileSchedule::Branching).map(|whole| ("best against one pass".into(), whole / best));
    pairs.chain(whole).collect()
}

fn print(measured: &[Measured], on_cpu: f64) {
    let mut table = Table::new(["schedule", "steps a pass", "passes", "ms", "of the CPU loop"]);
    for m in measured {
        let steps = match m.params.steps_per_pass {
            MOST => "all".into(),
            k => k.to_string(),
        };
        table.row([
            name(m.params.schedule).into(),
            steps,
            m.report.passes.to_string(),
            format!("{:.2}", 1e3 * m.rounds.median()),
            format!("{:.2}", m.rounds.median() / on_cpu),
        ]);
    }
    table.row([
        "CPU loop, 1 thread".into(),
        "".into(),
        "".into(),
        format!("{:.2}", 1e3 * on_cpu),
        "1".into(),
    ]);
    table.print();
    say("\nculling against a branch in the shader:");
    for (what, gain) in gains(measured) {
        say(format_args!("  {what:24} {gain:.2}x"));
    }
}

/// The steps that each equation took over its two parameters, and a scale with numbers.
fn write_picture(
    path: &Path,
    range: f64,
    (side, picture): (usize, &[f32]),
    (most, scale): (f32, &[f32]),
) -> Result {
    let title = "Regula falsi: steps to the root of (2 - a - b)x\u{b3} + ax\u{b2} + bx - 1";
    let zoom = (PICTURE / side).max(1);
    let shown = (zoom * side) as u32;
    figure::write(path, title, (shown + 170, shown + 270), |area, rasters| {
        let rest = heading(area, title, "pale lines: where the root is a multiple of a tenth")?;
        let (rest, below) = rest.split_vertically((UNITS * (shown + 80)) as i32);
        let (rest, _) = rest.split_horizontally((UNITS * (shown + 135)) as i32);
        let axis = || linear([-range, range], 10);
        let chart = frame(&rest, [axis(), axis()], ["a", "b"], [&value, &value])?;
        let corner = chart.plotting_area().get_base_pixel();
        let [x, y] = [corner.0, corner.1].map(|at| at as u32 / UNITS);
        let pixels = bytes_of(picture);
        rasters.push(Raster { at: (x, y), scale: zoom as u32, width: side as u32, pixels });

        let zoom = shown / SCALE as u32;
        let line = bytes_of(&scale[..4 * SCALE]).repeat(16 / zoom.max(1) as usize);
        rasters.push(Raster { at: (x, shown + 190), scale: zoom, width: SCALE as u32, pixels: line });
        text(&below, "steps (log scale)", (f64::from(x), 12.0))?;
        let place = |steps: f32| f64::from((1.0 + steps).log2() / (1.0 + most).log2());
        let round = [0.0, 1.0, 10.0, 100.0, 1e3, 1e4].into_iter().filter(|steps| place(*steps) < 0.92);
        round.chain([most]).try_for_each(|steps| {
            let (label, wide) = (steps.to_string(), f64::from(SCALE as u32 * zoom));
            let middle = f64::from(x) + wide * place(steps);
            text(&below, &label, (middle - 0.5 * width(&label, 16.0), 54.0))
        })
    })
}

/// Every schedule has finished; every root is one, in 64 bits; the cells are those of the CPU's loop.
fn check(
    measured: &[Measured],
    cells: &[f32],
    pairs: &[Pair],
    twin: &[[f32; 4]],
    tolerance: f32,
    report: &mut Report,
) {
    let unfinished = measured.iter().filter(|m| !m.report.finished).count();
    report.at_most("schedules that did not finish", 0.0, unfinished as f64);
    let cells: Vec<[f32; 4]> = cells.chunks(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let beyond = |cell: &[f32; 4], pair: &Pair| {
        let (value, rounding) = cpu::exactly(*pair, cpu::root(*cell));
        value.abs() / (f64::from(tolerance) + rounding)
    };
    let worst = support::worst_of(&cells, pairs, beyond);
    report.at_most("largest polynomial at a root, of the tolerance and its rounding", 1.0, worst);
    let outside = cells.iter().filter(|c| !(0.0 <= c[0] && c[0] <= c[1] && c[1] <= 1.0)).count();
    report.at_most("brackets that are none", 0.0, outside as f64);
    // A compiler may contract a x + b into one rounding: then a cell can be a step earlier or later.
    let same = cells.len() - support::differing(&cells, twin);
    report.set("cells_equal_to_the_cpu", same);
    say(format_args!("\n{same} of {} cells are those of the CPU's loop, bit for bit", cells.len()));
}
