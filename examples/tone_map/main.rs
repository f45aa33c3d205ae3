//! Tone mapping [BeyondVector] 28.4-2: an image of high dynamic range on the device, its maximum and log-average by
//! reduction, and two global operators that bring it to the screen: linear, so that the maximum becomes one, and Reinhard's.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use device::ToneMap;
use photo::Photo;
use support::clock::{self, Rounds};
use support::figure::{self, Raster};
use support::plot::rounded;
use support::{CommonArgs, Failure, Report, Result, Table, json, paint, say, worst, worst_of};
use texla::host::number;
use texla::ops::{ReducePlan, Window, Windows};
use texla::{Device, Vector};

mod cpu;
mod device;
#[path = "../support/photo.rs"]
mod photo;
#[path = "../support/mod.rs"]
mod support;

/// Brings an image of high dynamic range to the screen.
#[derive(clap::Parser)]
#[command(name = "tone_map")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// An image: Radiance HDR, OpenEXR or PNG; without one a scene is rendered
    #[arg(long, value_name = "FILE", conflicts_with = "width", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Where to write the picture
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file(), default_value = "out/tone_map.png")]
    output: PathBuf,
    /// Which operator; both: linear on the left, Reinhard on the right, with captions
    #[arg(long, value_enum, default_value_t = Operator::Both)]
    operator: Operator,
    /// Reinhard: what the log-average becomes
    #[arg(long, value_name = "A", default_value_t = 0.18)]
    key: f64,
    /// Reinhard: the scaled luminance that becomes white [default: the largest there is]
    #[arg(long, value_name = "L")]
    white: Option<f64>,
    /// Pixels in a row of the rendered scene, half as many rows: a power of two [default: 1024, 256 with --quick]
    #[arg(long, value_name = "N")]
    width: Option<usize>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Linear,
    Reinhard,
    Both,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// What Reinhard's operator is told.
pub struct Settings {
    key: f64,
    white: Option<f64>,
}

/// Pixels around pictures that have captions, of the captions' height, and of the longest.
const MARGIN: usize = 16;
const HEAD: usize = 48;
const CAPTION: usize = 480;

/// What is added to luminances before their logarithm is taken, as a share of the largest.
pub const DARK: f64 = 1.0 / 1_048_576.0;

/// Ends of the range in which the largest luminance and the largest channel have to lie.
const LIGHT: [f64; 2] = [1e-20, 1e30];

/// What a logarithm of the device's may be off by, of 1 and of its size. GL 4.1 promises half of this; ES says nothing.
const LOG_ERROR: f64 = 1.0 / 1_048_576.0;

/// What the mean of the logarithms may be off by: their own errors, and those of a mean by these windows.
fn log_bound(tone_map: &ToneMap, windows: Windows, size: f64) -> f64 {
    let chain = ReducePlan::new(tone_map.logarithm.extent(), windows).longest_chain();
    LOG_ERROR * (1.0 + size) + (chain + 7) as f64 / 16_777_216.0 * size
}

fn main() -> ExitCode {
    support::main_with("tone_map", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    if !args.key.is_normal() || !(1e-6..=1e6).contains(&args.key) {
        return Err(Failure::bad_input(format_args!(
            "--key {}: expected a number from 1e-6 to 1e6",
            number(args.key)
        )));
    }
    if let Some(white) = args.white.filter(|white| !(1e-3..=1e12).contains(white)) {
        return Err(Failure::bad_input(format_args!(
            "--white {}: expected a number from 1e-3 to 1e12",
            number(white)
        )));
    }
    let width = args.width.unwrap_or(if args.common.quick { 256 } else { 1024 });
    if !width.is_power_of_two() || !(16..=8192).contains(&width) {
        return Err(Failure::bad_input(format_args!("--width {width}: expected 16, 32, ... 8192")));
    }
    let photo = args.input.as_deref().map(Photo::read).transpose()?;
    if let (Some(photo), Some(path)) = (&photo, &args.input) {
        check_light(&cpu::find(&photo.pixels), path)?;
    }

    let context = args.common.headless(report)?;
    let device = context.device();
    let (width, height, on_device) = match &photo {
        Some(photo) => (photo.width, photo.height, device::upload(device, &photo.pixels)?),
        None => (width, width / 2, device::scene(device, width, width / 2)?),
    };
    let pixels: Vec<[f32; 3]> = match photo {
        Some(photo) => photo.pixels,
        None => on_device.read()?.chunks_exact(4).map(|p| [p[0], p[1], p[2]]).collect(),
    };
    let found = cpu::find(&pixels);
    say(format_args!("device      {} ({})", context.name(), device.api()));
    say(format_args!("image       {width}x{height}"));

    let settings = Settings { key: args.key, white: args.white };
    let mut tone_map = ToneMap::new(device, pixels.len())?;
    let mut pictures = Vec::new();
    let mut apart = 0.0f64;
    for reinhard in [false, true] {
        tone_map.run(&on_device, &settings, reinhard)?;
        let bytes = eight_bits(&tone_map.screen.read()?);
        let of_texel = worst_of(&bytes, &pixels, |texel, pixel| {
            // Half a level is the rounding's own.
            let want = cpu::map(*pixel, &found, &settings, reinhard);
            worst_of(texel, &want, |got, want| (f64::from(*got) - 255.0 * want).abs() - 0.5)
        });
        apart = worst(apart, of_texel);
        pictures.push(bytes);
    }
    let [largest, brightest, mean_log] = [&tone_map.largest, &tone_map.brightest, &tone_map.mean_log];
    let [largest, brightest, mean_log] =
        [f64::from(largest.read()?), f64::from(brightest.read()?), f64::from(mean_log.read()?)];
    say(format_args!("largest     {largest:.4e}, luminance {brightest:.4e}"));
    say(format_args!("log-average {:.4e}", mean_log.exp()));
    report.set("size", json!([width, height])).set("largest", largest).set("brightest", brightest);
    report.set("log_average", mean_log.exp()).set("filtered", device.capabilities().float_filter);

    time(&mut tone_map, &on_device, &pixels, &settings, args.common.quick, report)?;
    if device.capabilities().float_filter {
        tone_map.average(Windows::Filtered)?;
        let off = (f64::from(tone_map.mean_log.read()?) - found.mean_log).abs();
        let bound = log_bound(&tone_map, Windows::Filtered, found.mean_size);
        report.at_most("log-average by filtered windows: error of its logarithm", bound, off);
    }
    report.at_most("largest channel: difference from the CPU", 0.0, (largest - found.largest).abs());
    // Two products, two sums and three coefficients that are rounded.
    let relative = (brightest - found.brightest).abs() / found.brightest;
    report.at_most("largest luminance: relative error", 8.0 / 16_777_216.0, relative);
    let bound = log_bound(&tone_map, Windows::Balanced, found.mean_size);
    report.at_most("log-average: error of its logarithm", bound, (mean_log - found.mean_log).abs());
    report.at_most("pixels: levels apart from the CPU, past the rounding", 0.5, apart);
    let captions = [
        format!("linear: divided by the largest channel, {}", rounded(largest, 3)),
        format!("Reinhard: log-average {} becomes {}", rounded(mean_log.exp(), 3), args.key),
    ];
    let mut shown: Vec<_> = captions.into_iter().zip(pictures).collect();
    match args.operator {
        Operator::Linear => shown.truncate(1),
        Operator::Reinhard => drop(shown.remove(0)),
        Operator::Both => {}
    }
    write_picture(&args.output, shown, (width, height))?;
    say(format_args!("picture     {}", args.output.display()));
    Ok(())
}

/// Refuses an image that 32 bits cannot be trusted with: all that the operators make of one in this range, with any key
/// and white that are let through, is far from the ends of what a device can hold and divide by.
fn check_light(found: &cpu::Found, path: &Path) -> Result {
    let name = path.display();
    let (largest, brightest) = (found.largest, found.brightest);
    if largest <= 0.0 {
        return Err(Failure::bad_input(format_args!("{name} is black: there is nothing to map")));
    }
    if brightest < LIGHT[0] || largest > LIGHT[1] {
        let [low, high] = LIGHT;
        return Err(Failure::bad_input(format_args!(
            "{name}: the largest luminance is {brightest:.3e} and the largest channel {largest:.3e}, expected {low:e} to {high:e}"
        )));
    }
    Ok(())
}

/// 0..1 to 0..255.
fn eight_bits(screen: &[f32]) -> Vec<[u8; 3]> {
    screen.chunks_exact(4).map(|p| [0, 1, 2].map(|c| (255.0 * p[c]).round() as u8)).collect()
}

/// One picture as it is, or both side by side, each below what made it.
fn write_picture(path: &Path, shown: Vec<(String, Vec<[u8; 3]>)>, (width, height): (usize, usize)) -> Result {
    let several = shown.len() > 1;
    let (margin, head) = if several { (MARGIN, HEAD) } else { (0, 0) };
    let scale = if several { (CAPTION / width).max(1) } else { 1 };
    let panel = if several { (scale * width).max(CAPTION) } else { width } + margin;
    let size = (panel * shown.len() + margin, head + scale * height + margin);
    figure::write(path, "Tone mapping", (size.0 as u32, size.1 as u32), |area, rasters| {
        for (k, (caption, pixels)) in shown.into_iter().enumerate() {
            let at = ((margin + k * panel) as u32, head as u32);
            if several {
                paint::text(area, &caption, (f64::from(at.0), 0.5 * head as f64))?;
            }
            let pixels = pixels.into_flattened();
            rasters.push(Raster { at, scale: scale as u32, width: width as u32, pixels });
        }
        Ok(())
    })
}

/// Medians of some rounds, and what they are of.
struct Clock<'a> {
    device: &'a Device,
    rounds: usize,
    rows: Vec<(&'static str, &'static str, Rounds)>,
}

impl Clock<'_> {
    fn time(
        &mut self,
        part: &'static str,
        by: &'static str,
        work: impl FnMut() -> texla::Result<()>,
    ) -> texla::Result<()> {
        let ((), times) = clock::rounds(self.device, self.rounds, work)?;
        self.rows.push((part, by, times.times(1e3)));
        Ok(())
    }
}

/// Times every part, on the device by each kind of window, and on the CPU.
fn time(
    tone_map: &mut ToneMap,
    image: &Vector,
    pixels: &[[f32; 3]],
    settings: &Settings,
    quick: bool,
    report: &mut Report,
) -> Result {
    let device = &image.device().clone();
    let _scope = device.scope()?;
    let mut clock = Clock { device, rounds: if quick { 3 } else { 9 }, rows: Vec::new() };
    clock.time("luminance", "texture", || tone_map.luminance(image))?;
    clock.time("both maxima", "2x2 windows", || tone_map.maxima(image, Window::PAPERS.into()))?;
    clock.time("both maxima", "balanced", || tone_map.maxima(image, Windows::Balanced))?;
    clock.time("logarithm", "texture", || tone_map.logarithm())?;
    clock.time("its mean", "2x2 windows", || tone_map.average(Window::PAPERS.into()))?;
    if device.capabilities().float_filter {
        clock.time("its mean", "2x2, filtered", || tone_map.average(Windows::Filtered))?;
    }
    clock.time("its mean", "balanced", || tone_map.average(Windows::Balanced))?;
    clock.time("Reinhard", "texture", || tone_map.map(image, settings, true))?;
    clock.time("all of it", "balanced", || tone_map.run(image, settings, true))?;

    let mut kept = 0.0;
    let luminances = cpu::plain::luminances(pixels);
    let mut keep = |value: f64| {
        kept += value;
        Ok(())
    };
    clock.time("luminance", "CPU", || keep(cpu::plain::luminances(pixels)[0].into()))?;
    clock.time("both maxima", "CPU", || {
        keep((cpu::plain::largest(pixels.as_flattened()) + cpu::plain::largest(&luminances)).into())
    })?;
    let dark = DARK as f32;
    let brightest = cpu::plain::largest(&luminances);
    let mean_log = cpu::plain::mean_log(&luminances, dark * brightest);
    clock.time("logarithm and its mean", "CPU", || {
        keep(cpu::plain::mean_log(&luminances, dark * brightest))
    })?;
    clock.time("Reinhard", "CPU", || {
        keep(cpu::plain::reinhard(pixels, [brightest, mean_log as f32], settings)[0][0].into())
    })?;
    clock.time("all of it", "CPU", || keep(cpu::plain::run(pixels, dark, settings)[0][0].into()))?;
    std::hint::black_box(kept); // or the loops would be left out
    let mut table = Table::new(["part", "by", "ms"]);
    for (part, by, ms) in clock.rows {
        table.row([part.to_owned(), by.to_owned(), format!("{:.3}", ms.median())]);
        report.row(ms.in_row(json!({ "part": part, "by": by }), "ms"));
    }
    table.print();
    Ok(())
}
