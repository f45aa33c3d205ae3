//! Without a window: a picture, an animation, and the checks.
#![allow(unsafe_code)] // the renderer's promise

use std::time::Instant;

use texla::Grid;

use crate::render::Renderer;
use crate::support::clock::Rounds;
use crate::support::{Animation, Failure, Progress, Report, Result, json, say, worst, write_rgb};
use crate::tunnel::Tunnel;
use crate::{Args, compare};

/// What depends on the size of the run.
struct Plan {
    height: usize,
    frames: usize,
    size: (u32, u32),
    /// Every so many frames, one of the animation.
    shown_every: usize,
    picture_at: usize,
    /// Cells from floor to ceiling where methods are compared.
    compared: usize,
}

impl Plan {
    fn new(args: &Args) -> Result<Self> {
        let (frames, size, compared) =
            if args.common.quick { (60, (320, 160), 32) } else { (300, (480, 240), 48) };
        let frames = args.frames.unwrap_or(frames);
        let picture_at = args.picture_at.unwrap_or(frames - 1);
        if picture_at >= frames {
            return Err(Failure::bad_input(format_args!(
                "--picture-at {picture_at}: the last of {frames} frames is {}",
                frames - 1
            )));
        }
        Ok(Plan { height: args.height(), frames, size, shown_every: 4, picture_at, compared })
    }
}

/// Every so many frames, and in the last one, the divergence is looked at.
const LOOK_EVERY: usize = 20;

/// Where the stream has brought dye to after [`ARRIVED`]: the disc ends at 0.505.
const BEHIND: std::ops::Range<f64> = 0.55..0.75;
/// The stream's speed is 1; around the disc it is faster, and slower in its wake.
const ARRIVED: f64 = 0.9;

/// FNV-1a.
fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Velocity and dye, all bits of them.
fn state(tunnel: &Tunnel) -> Result<u64> {
    let mut all = Vec::new();
    for field in [tunnel.fluid.velocity(0)?, tunnel.fluid.velocity(1)?].into_iter().chain(&tunnel.dyes) {
        all.extend(field.read()?);
    }
    Ok(hash(all.into_iter().flat_map(f32::to_ne_bytes)))
}

/// The mean over a strip from wall to wall, just behind the disc.
fn mean_behind(cells: Grid, values: &[f32]) -> f64 {
    let x = |i: usize| (cells.place(i).0 as f64 + 0.5) / cells.ny as f64;
    let strip = |i: &usize| BEHIND.contains(&x(*i));
    let (count, sum) =
        (0..values.len()).filter(strip).fold((0u32, 0.0), |(n, s), i| (n + 1, s + f64::from(values[i])));
    sum / f64::from(count)
}

pub fn run(args: &Args, report: &mut Report) -> Result {
    let plan = Plan::new(args)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let mut tunnel = Tunnel::new(device, plan.height)?;
    let cells = tunnel.cells;
    // SAFETY: the context is current from here on, and outlives the renderer.
    let mut renderer = unsafe { Renderer::new(context.glow(), (cells.nx, cells.ny), plan.size) }?;
    say(format_args!("device      {} ({})", context.name(), device.api()));
    say(format_args!("tunnel      {cells}, {} frames of {:.4} s", plan.frames, tunnel.dt));

    let mut animation = Animation::new(plan.size, 18);
    let (mut simulated, mut readbacks, mut left) = (Rounds::default(), 0, 0.0f64);
    let mut draws = 0;
    let progress = Progress::new("frame", 2 * plan.frames as u64);
    for frame in 0..plan.frames {
        if frame % LOOK_EVERY == LOOK_EVERY - 1 || frame + 1 == plan.frames {
            let (look, _) = tunnel.step_with_look()?;
            left = worst(left, look.after / look.before);
            report.row(json!({
                "frame": frame, "time": tunnel.time,
                "divergence_before": look.before, "divergence_after": look.after,
            }));
            if frame + LOOK_EVERY >= plan.frames || frame == LOOK_EVERY - 1 {
                say(format_args!(
                    "frame {frame:4}  largest divergence {:.3e}, after the projection {:.3e}",
                    look.before, look.after
                ));
            }
        } else {
            let (started, counted) = (Instant::now(), device.counters());
            tunnel.step()?;
            device.finish()?;
            simulated.push(1e3 * started.elapsed().as_secs_f64());
            let done = device.counters().since(&counted);
            readbacks += done.readbacks;
            draws += done.draws;
        }
        if let (Some(path), true) = (&args.picture, frame == plan.picture_at) {
            let size = (960, 480);
            renderer.resize(size);
            write_rgb(path, size.0, size.1, &renderer.picture(&tunnel)?)?;
            renderer.resize(plan.size);
        }
        if frame.is_multiple_of(plan.shown_every) {
            animation.push(renderer.picture(&tunnel)?);
        }
        progress.set(frame as u64);
    }
    args.animation.as_deref().map_or(Ok(()), |path| animation.write(path))?;

    // The same once more, from the beginning, without a look or a picture.
    let mut again = Tunnel::new(device, plan.height)?;
    for frame in 0..plan.frames {
        again.step()?;
        progress.set((plan.frames + frame) as u64);
    }
    progress.finish();
    let (first, second) = (state(&tunnel)?, state(&again)?);
    let (mut outside, mut behind) = (0.0, 0.0);
    for dye in &tunnel.dyes {
        let values = dye.read()?;
        outside = values.iter().map(|v| f64::from(*v)).fold(outside, |o, v| worst(worst(o, -v), v - 1.0));
        behind += mean_behind(cells, &values);
    }
    let steps = simulated.iter().len().max(1);
    say(format_args!("{:.1} ms a step, {:.0} draws", simulated.mean(), draws as f64 / steps as f64));
    for (what, path) in [("animation", &args.animation), ("picture", &args.picture)] {
        if let Some(path) = path {
            say(format_args!("{what:<11} {}", path.display()));
        }
    }
    let (sweeps, left_by_jacobi, counts) = compare::run(device, plan.compared)?;
    report.set("cells", json!([cells.nx, cells.ny])).set("frames", plan.frames);
    report.rounds("ms_per_step", &simulated).set("compared", counts).set("compared_height", plan.compared);
    report.set("last_state", format!("{first:016x}"));
    report.at_most("largest divergence after a projection, of that before it", compare::AIM, left);
    report.at_most("readbacks in steps", 0.0, readbacks as f64);
    report.at_most("states that differ in a second run", 0.0, u32::from(first != second));
    report.at_most("dye outside of its range", 1e-5, outside);
    if tunnel.time >= ARRIVED {
        report.at_least("mean of both dyes behind the disc", 0.05, behind);
    }
    report.at_most(
        "divergence that Jacobi's sweeps leave, of that before them",
        compare::AIM,
        left_by_jacobi,
    );
    // Were it fewer, there would be no need for a better solver.
    report.at_least("Jacobi sweeps for what conjugate gradients do", 1000.0, sweeps as f64);
    Ok(())
}
