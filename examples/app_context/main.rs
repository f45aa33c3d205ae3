//! A guest in an application's own context: the application has its GL state, the library computes in the same
//! context, and the application draws the result from the library's textures without a copy. Afterwards every value
//! of the state is as the application left it. Then a solve goes on, a slice a frame, while the application draws.
#![allow(unsafe_code)] // an application that calls GL

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use app::{App, Scene};
use support::{
    Api, CommonArgs, Report, Result, differing, differing_bits, encode, json, say, worst, worst_of,
    write_file,
};
use texla::solve::{CgParams, ConjugateGradient, Slice, Stop};
use texla::{BandedMatrix, Device, Vector};
use wave::Setting;

mod app;
mod state;
#[path = "../support/mod.rs"]
mod support;
mod wave;

/// A wave through two slits, computed in an application's own GL context and drawn by the application.
#[derive(clap::Parser)]
#[command(name = "app_context")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Where to write the picture
    #[arg(long, value_name = "FILE", default_value = "out/app_context.png")]
    png: PathBuf,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("app_context", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let (grid, steps) = if args.common.quick { ((320, 180), 1000) } else { ((640, 360), 2000) };
    let size = (2 * grid.0 as u32, 2 * grid.1 as u32);
    let app = App::new(args.common.api.unwrap_or(Api::Gl33), size)?;
    let before = state::read(&app.gl);

    // The guest moves in.
    // SAFETY: the application's context is current now, at every use of the device, and when its last handle drops.
    let dev = unsafe { Device::from_glow(Arc::clone(&app.gl)) }?;
    report.device(app.name.as_str(), dev.capabilities().version, dev.api());
    let setting = Setting::new(grid, steps);
    let counters = dev.counters();
    let started = Instant::now();
    let field = setting.on_the_device(&dev)?;
    dev.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    let done = dev.counters().since(&counters);

    let after = state::read(&app.gl);
    let changed: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
    for ((name, was), (_, is)) in &changed {
        say(format!("{name} was {was}, is {is}"));
    }

    // The application's turn: its shader samples the library's textures where they are.
    let (surface, intensity) = (field.surface.texture(), field.intensity.texture());
    let (wall, slits, largest) = (setting.wall, setting.slits, field.largest.texture());
    let scene = Scene { surface, intensity, largest, grid, wall, slits };
    let pixels = app.draw(&scene);
    let meanwhile = solve_between_frames(&dev, &app, &scene, &pixels)?;
    write_file(&args.png, &encode(png::ColorType::Rgba, size.0, size.1, &pixels)?)?;
    say(format!(
        "{}x{} cells, {steps} steps in {seconds:.2} s, drawn to {}",
        grid.0,
        grid.1,
        args.png.display()
    ));
    let us = 1e6 * seconds / steps as f64;
    report.row(
        json!({ "width": grid.0, "height": grid.1, "steps": steps, "us_per_step": us, "draws": done.draws }),
    );

    say(format!("a solve of {} iterations, {} frames meanwhile", meanwhile.iterations, meanwhile.frames));
    report.at_least("frames drawn while a solve went on", 5.0, meanwhile.frames as f64);
    report.at_most("of these, frames that differ", 0.0, meanwhile.changed_frames as f64);
    report.at_most("values that the slices changed", 0.0, meanwhile.changed_state as f64);
    report.at_most(
        "elements in which its solution differs from that of a whole solve",
        0.0,
        meanwhile.apart as f64,
    );
    report.at_most("its certified residual", 1e-4, meanwhile.residual);
    report.at_least("values of the state looked at", 60.0, before.len() as f64);
    report.at_most("values that the guest changed", 0.0, differing(&before, &after) as f64);
    report.check("readbacks before the picture", 0.0, done.readbacks as f64, done.readbacks == 0);
    let (expected, exposure) = setting.on_the_cpu();
    report.at_most(
        "largest difference of the surface to the CPU",
        1e-3,
        distance(&field.surface.read()?, &expected),
    );
    let brightest = (0..grid.1).map(|y| exposure[y * grid.0 + setting.screen()]).fold(0.0, worst);
    let error = f64::from(field.largest.read()? / brightest) - 1.0;
    report.at_most("relative error of the brightest place on the screen", 1e-3, error.abs());
    // Bright and dark bands on the screen: the middle is bright, and somewhere it is nearly dark.
    let strip: Vec<u8> = (0..size.1).map(|y| pixels[4 * ((y * size.0 + size.0 - 8) as usize)]).collect();
    let (brightest, darkest) = (strip.iter().max(), strip[strip.len() / 4..strip.len() / 2].iter().min());
    report.at_least("brightest pixel of the screen, of 255", 240.0, f64::from(*brightest.unwrap_or(&0)));
    report.at_most("darkest pixel of the screen, of 255", 60.0, f64::from(*darkest.unwrap_or(&255)));
    Ok(())
}

/// What has come of a solve that went on while the application drew.
struct Meanwhile {
    iterations: usize,
    frames: usize,
    changed_frames: usize,
    changed_state: usize,
    apart: usize,
    residual: f64,
}

/// A slice of the solve, a frame, a slice: nothing waits, and neither notices the other.
fn solve_between_frames(dev: &Device, app: &App, scene: &Scene, picture: &[u8]) -> Result<Meanwhile> {
    let a = BandedMatrix::poisson_2d(dev, 64, 64)?;
    let b = Vector::filled(dev, 64 * 64, 1.0)?;
    let solver = ConjugateGradient::new(&a, CgParams::default().with_stop(Stop::relative(1e-4)))?;
    let mut x = Vector::zeros(dev, 64 * 64)?;
    let mut solving = solver.begin(&mut x, &b);
    let (mut frames, mut changed_frames, mut changed_state) = (0, 0, 0);
    loop {
        let before = state::read(&app.gl);
        let progress = solving.advance(Slice::iterations(8))?;
        changed_state += differing(&before, &state::read(&app.gl));
        if progress.done {
            break;
        }
        changed_frames += usize::from(app.draw(scene) != picture);
        frames += 1;
    }
    let (_, report) = solving.finish();
    let mut whole = Vector::zeros(dev, 64 * 64)?;
    let (sliced, at_once) = (report?, solver.solve(&mut whole, &b)?);
    let apart = differing_bits(&x.read()?, &whole.read()?) + at_once.iterations.abs_diff(sliced.iterations);
    let (iterations, residual) = (sliced.iterations, sliced.true_residual);
    Ok(Meanwhile { iterations, frames, changed_frames, changed_state, apart, residual })
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    worst_of(a, b, |a, b| f64::from((a - b).abs()))
}
