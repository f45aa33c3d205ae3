//! Coverage by transmitters, exercise 28.4-4 of [BeyondVector]: the signal falls linearly with the distance. Every tower
//! is rasterised as a disc, and blending keeps the strongest signal.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use device::{Kernels, SHARES, Statistics, Towers};
use grid::Grid;
use support::bounded::Bounded;
use support::clock::{self, Rounds};
use support::{CommonArgs, Failure, Report, Result, Table, json, say, worst_of};
use texla::Device;
use towers::{made_up, read};
use twin::strongest;

mod device;
mod grid;
#[path = "../support/mod.rs"]
mod support;
mod towers;
mod twin;

/// Signals of transmitters on a map: discs, the strongest kept by blending.
#[derive(clap::Parser)]
#[command(name = "coverage")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Transmitters, comma-separated under a heading: x, y, range and, if they differ, strength; else 160 made up
    #[arg(long, value_name = "F.csv", value_hint = clap::ValueHint::FilePath)]
    towers: Option<PathBuf>,
    /// Cells along the longer side of the map; 1024 unless given (256 with --quick)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Of the transmitters that are made up
    #[arg(long, value_name = "S", default_value_t = 1, conflicts_with = "towers")]
    seed: u64,
    /// Write the map as a picture
    #[arg(long, value_name = "F.png")]
    png: Option<PathBuf>,
    /// Write what area has how much signal
    #[arg(long, value_name = "F.csv")]
    csv: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("coverage", run)
}

/// Evaluations that are still worth waiting for in a comparison, and in the twin.
const MOST_COMPARED: f64 = 2e9;
const MOST_CHECKED: f64 = 1e8;

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let size = args.size.unwrap_or(if quick { 256 } else { 1024 });
    support::in_range("--size", size, 16..=4096)?;
    let towers = args.towers.as_deref().map_or_else(|| Ok(made_up(160, args.seed)), read)?;
    let grid = Grid::new(&towers, size)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let capabilities = device.capabilities();
    if !capabilities.float_min_max {
        return Err(Failure::no_gl(
            "the device cannot blend floats, which is how the strongest signal is kept",
        ));
    }
    let kernels = Kernels::new(device)?;
    let on_device = Towers::new(device, &grid)?;
    let map = on_device.scatter(&kernels)?;
    let signals = map.read()?;
    let statistics = Statistics::new(&kernels, &map)?;

    say(format_args!("device      {} ({}, {})", context.name(), device.api(), capabilities.version));
    say(format_args!(
        "map         {} towers on {}x{} cells of {:.4}",
        towers.len(),
        grid.width,
        grid.height,
        grid.cell
    ));
    let areas = areas(&grid, &statistics);
    let mean = statistics.sum / grid.cells() as f64;
    print_areas(&areas);
    say(format_args!("mean signal {mean:.4}, strongest {:.4}", statistics.strongest));
    report
        .set("towers", towers.len())
        .set("cells", json!([grid.width, grid.height]))
        .set("cell", grid.cell)
        .set("mean", mean)
        .set("strongest", statistics.strongest)
        .set("areas", json!(areas.iter().map(Area::json).collect::<Vec<_>>()));

    check_map(&grid, &signals, "scattered", report);
    check_statistics(&statistics, &signals, report);
    let again = on_device.scatter(&kernels)?.read()?;
    let differing = support::differing_bits(&again, &signals);
    report.at_most("cells that differ in a second run", 0.0, differing as f64);
    compare(device, &kernels, &grid, args, report)?;

    let picture = args
        .png
        .as_ref()
        .map(|path| on_device.picture(&kernels, &map, statistics.strongest).map(|pixels| (path, pixels)));
    let picture = picture.transpose()?;
    if let Some(path) = &args.csv {
        write_areas(path, &areas)?;
        say(format_args!("areas: {}", path.display()));
    }
    if let Some((path, pixels)) = picture {
        support::write_rgb(path, grid.width as u32, grid.height as u32, &pixels)?;
        say(format_args!("picture: {}", path.display()));
    }
    Ok(())
}

/// Cells above a bound.
struct Area {
    above: f64,
    cells: f64,
    area: f64,
    share: f64,
}

impl Area {
    fn json(&self) -> serde_json::Value {
        json!({ "above": self.above, "cells": self.cells, "area": self.area, "share": self.share })
    }
}

fn areas(grid: &Grid, statistics: &Statistics) -> Vec<Area> {
    let area = |(bound, cells): &(f32, f64)| Area {
        above: f64::from(*bound),
        cells: *cells,
        area: cells * grid.cell * grid.cell,
        share: cells / grid.cells() as f64,
    };
    statistics.above.iter().map(area).collect()
}

fn print_areas(areas: &[Area]) {
    let mut table = Table::new(["signal above", "of the strongest", "cells", "area", "% of the map"]);
    for (area, share) in areas.iter().zip(SHARES) {
        table.row([
            format!("{:.4}", area.above),
            format!("{share:.1}"),
            format!("{}", area.cells),
            if area.area < 1e7 { format!("{:.4}", area.area) } else { format!("{:.4e}", area.area) },
            format!("{:.2}", 100.0 * area.share),
        ]);
    }
    table.print();
}

fn write_areas(path: &Path, areas: &[Area]) -> Result {
    let mut text = "above,cells,area,share\n".to_owned();
    for Area { above, cells, area, share } in areas {
        text += &format!("{above},{cells},{area},{share}\n");
    }
    support::write_file(path, text.as_bytes())
}

/// Against the twin, on all rows or on as many as do not take long.
fn check_map(grid: &Grid, signals: &[f32], how: &str, report: &mut Report) {
    let step = ((grid.covered() / MOST_CHECKED).ceil() as usize).clamp(1, grid.height);
    let rows = strongest::<Bounded>(grid, step);
    let found: Vec<&[f32]> = signals.chunks(grid.width).step_by(step).collect();
    let furthest = worst_of(&found, &rows, |found, exact| {
        worst_of(found, exact, |found, exact| exact.share(f64::from(*found)))
    });
    let which = if step == 1 { String::new() } else { format!(", every {step}th row") };
    report.at_most(format!("{how} signal's distance from 64 bits, over the bound{which}"), 1.0, furthest);
}

fn check_statistics(statistics: &Statistics, signals: &[f32], report: &mut Report) {
    let off: f64 = statistics
        .above
        .iter()
        .map(|(bound, cells)| (signals.iter().filter(|v| *v > bound).count() as f64 - cells).abs())
        .sum();
    report.at_most("cells counted otherwise than on the CPU", 0.0, off);
    let sum: f64 = signals.iter().map(|v| f64::from(*v)).sum();
    // Nothing is negative: the sum is that of the magnitudes.
    let ku = (statistics.chain + 1) as f64 / 16_777_216.0;
    let bound = ku / (1.0 - ku) * sum;
    let share = support::share((statistics.sum - sum).abs(), bound);
    report.at_most("sum of all signals, distance from 64 bits over the bound", 1.0, share);
}

/// Scattering against gathering, for the given towers or for more and more that reach less and less.
fn compare(device: &Device, kernels: &Kernels, grid: &Grid, args: &Args, report: &mut Report) -> Result {
    let size = grid.width.max(grid.height);
    let counts: &[usize] = match (&args.towers, args.common.quick) {
        (Some(_), _) => &[],
        (None, true) => &[4, 16, 64],
        (None, false) => &[1, 4, 16, 64, 256, 1024],
    };
    let mut grids = vec![grid.clone()];
    for count in counts {
        grids.push(Grid::new(&made_up(*count, args.seed), size)?);
    }
    let mut table = Table::new([
        "towers",
        "discs over map",
        "scatter, ms",
        "gather, ms",
        "gather / scatter",
        "one CPU thread, ms",
    ]);
    let rounds = if args.common.quick { 3 } else { 5 };
    for grid in &grids {
        let towers = Towers::new(device, grid)?;
        let scatter = clock::rounds(device, rounds, || towers.scatter(kernels))?.1;
        let evaluations = (grid.cells() * grid.towers.len()) as f64;
        let gather = if evaluations <= MOST_COMPARED {
            let (map, seconds) = clock::rounds(device, rounds, || towers.gather(kernels))?;
            let name = format!("{} towers, gathered", grid.towers.len());
            check_map(grid, &map.read()?, &name, report);
            Some(seconds)
        } else {
            None
        };
        let cpu = (grid.covered() <= MOST_COMPARED).then(|| {
            let started = Instant::now();
            std::hint::black_box(strongest::<f32>(grid, 1));
            started.elapsed().as_secs_f64()
        });
        let ms = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{:.2}", 1e3 * s));
        table.row([
            grid.towers.len().to_string(),
            format!("{:.2}", grid.covered() / grid.cells() as f64),
            ms(Some(scatter.median())),
            ms(gather.as_ref().map(Rounds::median)),
            gather
                .as_ref()
                .map_or("-".to_owned(), |gather| format!("{:.2}", gather.median() / scatter.median())),
            ms(cpu),
        ]);
        let mut row = json!({
            "towers": grid.towers.len(), "cells": grid.cells(), "cells_of_discs": grid.covered(), "cpu_seconds": cpu,
        });
        scatter.put(&mut row, "scatter_seconds");
        gather.unwrap_or_default().put(&mut row, "gather_seconds");
        report.row(row);
    }
    say("");
    table.print();
    Ok(())
}
