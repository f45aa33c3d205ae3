//! Anisotropic diffusion of an image: along one direction it is smoothed, across it hardly. Every step is the same nine
//! coefficients at every pixel, so that it is an expression whose blocks repeat (32 pixels of a row), and the library
//! chooses the order of the pixels in their texels, the layout and the schedule, and generates the shaders
//! ([Bajaj04] section 4).
//!
//! The tensor is constant. Where it follows the image, as in Perona and Malik's equation, coefficients differ from pixel to
//! pixel and from step to step: those would have to be fetched, and what is fetched is no part of a program.

use std::path::PathBuf;
use std::process::ExitCode;

use photo::Photo;
use support::clock::{self, Rounds};
use support::{CommonArgs, Failure, Report, Result, in_range, json, say, worst, write_rgb};
use texla::ops::{self, Combine, LinOp};
use texla::pack::RepeatedExpression;
use texla::profile::DeviceProfile;
use texla::solve::{BlockExpression, BlockUse};
use texla::{BandedMatrix, Device, Grid, SparseFormat, SparseMatrix, Vector};
use twin::{Scene, Tensor};

#[path = "../support/photo.rs"]
mod photo;
#[path = "../support/mod.rs"]
mod support;
mod twin;

/// Pixels of a row that are a block: eight quads.
const BLOCK: usize = 32;

/// Smooths an image along one direction by generated shaders.
#[derive(clap::Parser)]
#[command(name = "anisotropic_diffusion")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// An image: PNG, Radiance HDR or OpenEXR, of which a multiple of 32 columns is taken; without one a pattern is drawn
    #[arg(long, value_name = "FILE", conflicts_with = "size", value_hint = clap::ValueHint::FilePath)]
    input: Option<PathBuf>,
    /// Where to write the picture: before on the left, after on the right
    #[arg(long, value_name = "F.png", default_value = "out/anisotropic_diffusion.png")]
    output: PathBuf,
    /// Pixels on a side of the drawn pattern: a multiple of 32 [default: 512, 128 with --quick]
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Steps [default: 200, 20 with --quick]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Direction of the diffusion in degrees from the x axis
    #[arg(long, value_name = "DEGREES", default_value_t = 30.0, allow_negative_numbers = true)]
    angle: f64,
    /// Diffusion across the direction, of 1 along it
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    across: f64,
    /// Time of a step, in squares of a pixel
    #[arg(long, value_name = "T", default_value_t = 0.2)]
    time: f64,
    /// Measure the device first and choose by what it predicts, not by the rule
    #[arg(long)]
    measure: bool,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("anisotropic_diffusion", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let angle = in_range("--angle", args.angle, -360.0..=360.0)?.to_radians();
    let across = in_range("--across", args.across, 0.0..=1.0)?;
    // Past 1 / (2 (1 + across)) the shortest waves grow.
    let time = in_range("--time", args.time, 1e-6..=0.5 / (1.0 + across))?;
    let quick = args.common.quick;
    let steps = in_range("--steps", args.steps.unwrap_or(if quick { 20 } else { 200 }), 1..=100_000)?;
    let size = args.size.unwrap_or(if quick { 128 } else { 512 });
    if size == 0 || !size.is_multiple_of(BLOCK) || size > 4096 {
        return Err(Failure::bad_input(format_args!("--size {size}: expected a multiple of 32 up to 4096")));
    }
    let scene = match &args.input {
        None => Scene::pattern(size, angle),
        Some(path) => {
            let photo = Photo::read(path)?;
            Scene::cropped(photo.width, photo.height, &photo.pixels).ok_or_else(|| {
                let (path, width) = (path.display(), photo.width);
                Failure::bad_input(format_args!("{path}: {width} columns, expected 32 at least"))
            })?
        }
    };
    let (width, height) = (scene.width, scene.height);
    let tensor = Tensor::new(angle, across, time);

    let context = args.common.headless(report)?;
    let device = context.device();
    say(format_args!("device      {} ({})", context.name(), device.api()));
    say(format_args!("image       {width}x{height}, {steps} steps"));
    let profile = args.measure.then(|| DeviceProfile::measure(device)).transpose()?;
    device.set_profile(profile.clone());

    let e = expression(width, height, &tensor)?;
    let (step, plan) = BlockExpression::chosen(device, &e, BlockUse::Apply)?;
    say(format_args!("chosen      {plan}"));
    let work = plan.workload;
    let blocks = e.blocks().iter().product::<usize>() as f64;
    report.set("size", json!([width, height])).set("steps", steps).set("plan", plan.to_string());
    report.set("instructions", step.program().counts().total());
    report.set("fetches", (work.fetches.own + work.fetches.adjacent) / blocks);
    report.set("predicted_ms", plan.seconds.map(|seconds| 1e3 * seconds));

    // Each channel by itself; nothing is added, so b is zero and none of it is read.
    let none = step.zeros()?;
    let mut after = Vec::new();
    let mut off = 0.0f64;
    for channel in &scene.channels {
        let mut now = step.pack(&Vector::from_slice(device, channel)?)?;
        let mut next = step.zeros()?;
        let before = device.counters();
        {
            let _scope = device.scope()?;
            for _ in 0..steps {
                step.apply(&mut next, &now, &none)?;
                std::mem::swap(&mut now, &mut next);
            }
        }
        let spent = device.counters().since(&before);
        report.at_most("draws of a step", work.draws, spent.draws as f64 / steps as f64);
        report.at_most("readbacks of all steps", 0.0, spent.readbacks as f64);
        let mut out = Vector::zeros(device, channel.len())?;
        step.unpack(&mut out, &now)?;
        let found = out.read()?;
        let expected = tensor.steps(width, channel, steps);
        off = worst(off, twin::apart(&found, &expected) / tensor.bound(channel, steps));
        after.push(found);
    }
    report.at_most("off by, of the bound in the 2-norm", 1.0, off);

    let generated =
        timed(device, &scene, steps.min(50), |now, next| step.apply(next, now, &none), |v| step.pack(v))?;
    row(report, "generated", &generated, plan.seconds);
    // The same matrix stored: what goes around makes diagonals of its own.
    let triplets = e.to_triplets()?;
    let bands = BandedMatrix::from_triplets(device, &triplets)?;
    let rows = SparseMatrix::from_triplets(device, &triplets, SparseFormat::Gather)?;
    let again = |v: &Vector| Vector::from_slice(device, &v.read()?);
    let mut of_stored = f64::INFINITY;
    for (by, stored) in [("stored diagonals", &bands as &dyn LinOp), ("stored rows", &rows)] {
        let product =
            |now: &Vector, next: &mut Vector| ops::product(next, Combine::Replace, 1.0, stored, now);
        let seconds = timed(device, &scene, steps.min(50), product, again)?;
        row(report, by, &seconds, profile.as_ref().and_then(|p| Some(p.predict(&stored.workload()?))));
        of_stored = of_stored.min(seconds.median());
    }
    say(format_args!("{:16} {:.2} times as fast as the better of them", "", of_stored / generated.median()));
    device.set_profile(None);

    let picture = scene.beside(&after);
    write_rgb(&args.output, 2 * width as u32, height as u32, &picture)?;
    say(format_args!("written     {}", args.output.display()));
    Ok(())
}

/// The step as an expression: rows of pixels in pieces, around at all sides.
fn expression(width: usize, height: usize, tensor: &Tensor) -> Result<RepeatedExpression> {
    use texla::pack::StencilBoundary::{Dropped, Periodic};
    let sides = [[Periodic; 2], [Periodic; 2], [Dropped; 2]];
    let grid = Grid::new_2d(width, height);
    Ok(RepeatedExpression::stencil(grid, width / BLOCK, &tensor.taps(), sides, false)?)
}

/// Seconds of a step, in each of a few runs of so many.
fn timed<T>(
    device: &Device,
    scene: &Scene,
    steps: usize,
    step: impl Fn(&T, &mut T) -> texla::Result<()>,
    made: impl Fn(&Vector) -> texla::Result<T>,
) -> Result<Rounds> {
    let start = Vector::from_slice(device, &scene.channels[0])?;
    let (mut now, mut next) = (made(&start)?, made(&start)?);
    let ((), seconds) = clock::rounds(device, 5, || {
        let _scope = device.scope()?;
        for _ in 0..steps {
            step(&now, &mut next)?;
            std::mem::swap(&mut now, &mut next);
        }
        Ok(())
    })?;
    Ok(seconds.times(1.0 / steps as f64))
}

fn row(report: &mut Report, by: &str, seconds: &Rounds, predicted: Option<f64>) {
    let ms = seconds.times(1e3);
    let beside = predicted.map_or(String::new(), |p| format!(", {:.4} predicted", 1e3 * p));
    say(format_args!("{by:16} {:.4} ms a step{beside}", ms.median()));
    report.row(ms.in_row(json!({ "by": by, "predicted_ms": predicted.map(|p| 1e3 * p) }), "ms"));
}
