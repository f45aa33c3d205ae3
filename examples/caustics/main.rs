//! Caustics, exercise 28.4-3 of [BeyondVector]: photons from a point light, reflected and refracted by a glass sphere and
//! scattered onto a diffuse square. The vertex stage follows a photon and places it; blending counts.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use check::{Table as Ways, check, count};
use device::Tracer;
use photons::Source;
use scene::Scene;
use support::clock::Rounds;
use support::{CommonArgs, Failure, Progress, Report, Result, Table, json, say};
use twin::PATHS;

mod check;
mod device;
mod photons;
mod scene;
#[path = "../support/mod.rs"]
mod support;
mod twin;
mod view;

/// Photons through a glass sphere onto a square, scattered as points.
#[derive(clap::Parser)]
#[command(name = "caustics", allow_negative_numbers = true)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Photons sent, up to 16777216; 3145728 unless given (196608 with --quick)
    #[arg(long, value_name = "N")]
    photons: Option<usize>,
    /// Texels a side of the square, and pixels a side of the pictures; 512 unless given (128 with --quick)
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Of the photons' directions and chances
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The sphere's refractive index for green light; below 1 it is a bubble
    #[arg(long, value_name = "N", default_value_t = 1.45)]
    ior: f32,
    /// Abbe's number of the glass: the smaller, the further red and blue are apart
    #[arg(long, value_name = "V", default_value_t = 20.0)]
    abbe: f32,
    /// Where the light is
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [-1.2, 0.9, 2.4])]
    light: Vec<f32>,
    /// Write a picture of the scene
    #[arg(long, value_name = "F.png")]
    png: Option<PathBuf>,
    /// Write the square as seen from above
    #[arg(long, value_name = "F.png")]
    map: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("caustics", run)
}

/// Whole numbers up to here are sums of ones in 32 bits.
const MOST: usize = 1 << 24;
/// Runs that are timed.
const ROUNDS: usize = 3;

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let photons = args.photons.unwrap_or(if quick { 196_608 } else { 3_145_728 });
    support::in_range("--photons", photons, 1..=MOST)?;
    let size = args.size.unwrap_or(if quick { 128 } else { 512 });
    support::in_range("--size", size, 16..=2048)?;
    let light = <[f32; 3]>::try_from(args.light.as_slice())
        .map_err(|_| Failure::bad_input("--light: three numbers"))?;
    let scene = Scene::new(light, args.ior, args.abbe)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let capabilities = device.capabilities();
    if !capabilities.float_blend {
        return Err(Failure::no_gl(
            "the device cannot add floats by blending, which is how photons are counted",
        ));
    }

    let source = Source::new(&scene, photons, args.seed);
    let tracer = Tracer::new(device, &scene, size)?;
    let progress = Progress::new("scattering", ((1 + ROUNDS) * source.batches()) as u64);
    // The first run warms up, the others are timed and have to give the same.
    let scattered = |round: usize| {
        tracer.scatter(&source, |batch| progress.set((round * source.batches() + batch) as u64 + 1))
    };
    let once = scattered(0)?.read()?;
    let (mut times, mut map) = (Rounds::default(), scattered(1)?);
    times.push(map.seconds);
    for round in 2..=ROUNDS {
        map = scattered(round)?;
        times.push(map.seconds);
    }
    progress.finish();
    let differing = support::differing_bits(&once, &map.read()?);

    let (exact, f64_seconds) = count::<f64>(&scene, &source, size);
    let (_, f32_seconds) = count::<f32>(&scene, &source, size);
    let checked = check(&scene, &source, &tracer, (&map, &exact), (photons, size), report)?;
    report.at_most("numbers of the map that differ in a second run", 0.0, differing as f64);

    say(format_args!("device      {} ({}, {})", context.name(), device.api(), capabilities.version));
    say(format_args!("photons     {photons} onto {size}x{size} texels, {:.1} % of them land", {
        100.0 * checked.landed as f64 / photons as f64
    }));
    print_ways(&checked.table, photons);
    let mut shown = Table::new(["traced and counted by", "seconds", "million photons a second"]);
    for (who, rounds) in [
        ("the device, 32 bits, with upload", times),
        ("plain Rust, one thread, 32 bits", [f32_seconds].into_iter().collect()),
        ("plain Rust, one thread, 64 bits", [f64_seconds].into_iter().collect()),
    ] {
        let seconds = rounds.median();
        let rate = photons as f64 / seconds;
        shown.row([who.to_owned(), format!("{seconds:.3}"), format!("{:.2}", 1e-6 * rate)]);
        report.row(rounds.in_row(json!({ "by": who, "photons_per_second": rate }), "seconds"));
    }
    shown.print();
    report
        .set("photons", photons)
        .set("size", size)
        .set("ways", json!(PATHS.iter().zip(&checked.table).collect::<Vec<_>>()))
        .set("unsure", checked.unsure);
    let started = Instant::now();
    let drawn = view::draw(&map, &scene, photons, size, [args.png.is_some(), args.map.is_some()])?;
    report.set("seconds_for_pictures", started.elapsed().as_secs_f64());
    for (path, pixels) in [&args.png, &args.map].into_iter().zip(drawn) {
        if let (Some(path), Some(pixels)) = (path, pixels) {
            support::write_rgb(path, size as u32, size as u32, &pixels)?;
            say(format_args!("picture: {}", path.display()));
        }
    }
    Ok(())
}

fn print_ways(ways: &Ways, photons: usize) {
    let mut table = Table::new(["% of the photons", "on the square", "past it", "absorbed"]);
    let share = |count: u64| match count {
        0 => "-".to_owned(),
        count => format!("{:.3}", 100.0 * count as f64 / photons as f64),
    };
    for (path, row) in PATHS.iter().zip(ways) {
        table.row([(*path).to_owned()].into_iter().chain(row.map(share)));
    }
    table.print();
}
