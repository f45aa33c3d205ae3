//! Without a window: a picture, an animation, and the checks.
#![allow(unsafe_code)] // the renderer's promise

use std::time::Instant;

use crate::Args;
use crate::pool::{Pool, RATE, STEPS, TOLERANCE};
use crate::render::Renderer;
use crate::support::ceiling::Ceiling;
use crate::support::clock::Rounds;
use crate::support::{
    Animation, Failure, Progress, Report, Result, differing_bits, json, say, worst, write_rgb,
};

/// What depends on the size of the run.
struct Plan {
    cells: usize,
    frames: usize,
    size: (u32, u32),
    /// Every so many frames, one of the animation.
    shown_every: usize,
    picture_at: usize,
}

impl Plan {
    fn new(args: &Args) -> Result<Self> {
        let (frames, size, shown_every) =
            if args.common.quick { (24, (240, 135), 2) } else { (90, (480, 270), 2) };
        let frames = args.frames.unwrap_or(frames);
        let picture_at = args.picture_at.unwrap_or(3 * frames / 4);
        if picture_at >= frames {
            return Err(Failure::bad_input(format_args!(
                "--picture-at {picture_at}: the last of {frames} frames is {}",
                frames - 1
            )));
        }
        Ok(Plan { cells: args.cells(), frames, size, shown_every, picture_at })
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

pub fn run(args: &Args, report: &mut Report) -> Result {
    let plan = Plan::new(args)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let cells = plan.cells;
    let mut pool = Pool::new(device, cells, true)?;
    // SAFETY: the context is current from here on, and outlives the renderer.
    let mut renderer = unsafe { Renderer::new(context.glow(), pool.wave.params().grid, plan.size, 2) }?;
    let params = *pool.wave.params();
    say(format_args!("device      {} ({})", context.name(), device.api()));
    say(format_args!(
        "pool        {cells}x{cells} cells, {} frames of {STEPS} implicit steps; {:.2} cells a step",
        plan.frames,
        params.courant()
    ));
    say(format_args!(
        "solver      {} iterations a step, bound {TOLERANCE:e}; an explicit step could be {:.4} s, this one is {:.4} s",
        pool.wave.iterations(),
        params.explicit_limit(),
        params.dt
    ));

    let mut animation = Animation::new(plan.size, (RATE as usize / STEPS / plan.shown_every) as u16);
    let mut shown = Vec::new();
    let (mut residual, mut simulated, mut drawn) = (0.0f64, Rounds::default(), Rounds::default());
    let progress = Progress::new("frame", 2 * plan.frames as u64);
    for frame in 0..plan.frames {
        let started = Instant::now();
        pool.advance(true)?;
        device.finish()?;
        simulated.push(1e3 * started.elapsed().as_secs_f64() / STEPS as f64);
        if let (Some(path), true) = (&args.picture, frame == plan.picture_at) {
            let size = (960, 540);
            renderer.resize(size);
            write_rgb(path, size.0, size.1, &renderer.picture(&pool.wave))?;
            renderer.resize(plan.size);
        }
        if frame.is_multiple_of(plan.shown_every) {
            let started = Instant::now();
            let picture = renderer.picture(&pool.wave);
            drawn.push(1e3 * started.elapsed().as_secs_f64());
            shown.push((frame, hash(&picture)));
            animation.push(picture);
        }
        if frame % 10 == 9 || frame + 1 == plan.frames {
            let solved = pool.wave.report()?.ok_or_else(|| Failure::unsolved("no step was implicit"))?;
            residual = worst(residual, solved.residual);
            report.row(json!({
                "frame": frame, "time": pool.wave.time(), "residual": solved.residual,
                "iterations": solved.iterations, "iterations_issued": pool.wave.iterations(),
                "energy": f64::from(pool.wave.energy()?.read()?),
            }));
        }
        progress.set(frame as u64);
    }
    args.animation.as_deref().map_or(Ok(()), |path| animation.write(path))?;

    // The same once more, from the beginning; a few of the pictures too.
    let mut again = Pool::new(device, cells, true)?;
    let mut different = 0u32;
    for frame in 0..plan.frames {
        again.advance(false)?;
        let same =
            |(shown, picture): &&(usize, u64)| *shown == frame && shown.is_multiple_of(10) && *picture != 0;
        if let Some((_, picture)) = shown.iter().find(same) {
            different += u32::from(hash(&renderer.picture(&again.wave)) != *picture);
        }
        progress.set((plan.frames + frame) as u64);
    }
    progress.finish();
    let heights = |pool: &Pool| pool.wave.displacement().read();
    different += u32::from(differing_bits(&heights(&pool)?, &heights(&again)?) > 0);

    let energies = pool.energies()?;
    let most = energies.iter().fold(0.0, |m, (e, _)| worst(m, *e));
    let growth = energies.windows(2).filter(|pair| !pair[1].1).map(|pair| (pair[1].0 - pair[0].0) / most);
    let growth = growth.fold(f64::NEG_INFINITY, worst);
    let draws = pool.draws();
    let uneven = draws.iter().filter(|d| **d != draws[0]).count();
    say(format_args!(
        "{:.1} ms a step, {:.0} draws each; {:.1} ms a picture",
        simulated.mean(),
        draws[0],
        drawn.mean()
    ));
    for (what, path) in [("animation", &args.animation), ("picture", &args.picture)] {
        if let Some(path) = path {
            say(format_args!("{what:<11} {}", path.display()));
        }
    }
    report.set("cells", cells).set("frames", plan.frames).set("draws_per_step", draws[0]);
    report.set("iterations_per_step", pool.wave.iterations());
    report.rounds("ms_per_step", &simulated).rounds("ms_per_picture", &drawn);
    let least = Ceiling::measure(device, cells * cells, 3)?.wave_step(pool.wave.iterations());
    report.set("share_of_ceiling", 1e3 * least / simulated.median());
    report.set("last_picture", format!("{:016x}", shown.last().map_or(0, |(_, hash)| *hash)));
    report.at_most("largest relative residual of a step that was looked at", 2.0 * TOLERANCE, residual);
    report.at_most("readbacks and looks in all steps", 0.0, pool.waited() as f64);
    report.at_most("steps with another number of draws than the first", 0.0, uneven as f64);
    report.at_most("largest growth of the energy in a step without a drop, of the most", 1e-4, growth);
    report.at_most("pictures and surfaces that differ in a second run", 0.0, different);
    Ok(())
}
