//! Without a window: every frame in a line of its own, an animation, and the checks.
#![allow(unsafe_code)] // the renderer's promise

use std::path::Path;

use texla::Headless;

use crate::Args;
use crate::compare::{self, Form, PAPERS_DENSE};
use crate::problem::{Model, RATE};
use crate::render::Renderer;
use crate::simulation::{Frame, Simulation};
use crate::solver::BOUND;
use crate::support::{Animation, Report, Result, json, say, worst, write_rgb};
use crate::world::{Wall, World};

/// What depends on the size of the run.
struct Plan {
    wall: Wall,
    frames: usize,
    size: (u32, u32),
    /// Every so many frames, one of the animation.
    shown_every: usize,
    /// Every so many frames, all forms are compared; 0 is never.
    compare: usize,
}

impl Plan {
    fn new(args: &Args) -> Self {
        let plan = if args.common.quick {
            let wall = Wall { columns: 5, rows: 5 };
            Plan { wall, frames: 120, size: (320, 180), shown_every: 6, compare: 20 }
        } else {
            Plan { wall: Wall::PAPERS, frames: 360, size: (640, 360), shown_every: 3, compare: 10 }
        };
        // With friction there are four times as many unknowns, and the paper's relaxation lets the sweeps diverge.
        let compare = if args.friction > 0.0 { 0 } else { plan.compare };
        Plan { frames: args.frames.unwrap_or(plan.frames), compare: args.compare.unwrap_or(compare), ..plan }
    }
}

/// What has been seen over all frames.
#[derive(Default)]
struct Seen {
    /// The worst of all frames.
    depth: f64,
    growth: f64,
    residual: f64,
    unconverged: usize,
    /// The states after each frame.
    hashes: Vec<u64>,
    compared: Vec<Vec<Form>>,
}

pub fn run(args: &Args, report: &mut Report) -> Result {
    let context = args.common.headless(report)?;
    let device = context.device();
    let (plan, model) = (Plan::new(args), Model::new(args.friction));

    let mut simulation = Simulation::new(device, plan.wall, model);
    let top = simulation.world.top();
    let seen = play(&mut simulation, &context, &plan, args, report)?;
    if let Some(path) = &args.animation {
        say(format_args!("animation: {}", path.display()));
    }
    let (table, forms) = compare::summary(&seen.compared);
    if !seen.compared.is_empty() {
        say(format_args!("\n{} frames in all forms:", seen.compared.len()));
        table.print();
    }
    if let Some((line, figure4)) = compare::statement(&seen.compared) {
        say(format_args!("\n{line}"));
        report.set("figure4", figure4);
    }
    let hash = seen.hashes.last().map_or(String::new(), |hash| format!("{hash:016x}"));
    say(format_args!("\nall states of the last frame: {hash}"));
    report.set("forms", forms).set("friction", args.friction).set("last_frame", hash);

    // The same once more, from the beginning.
    let mut again = Simulation::new(device, plan.wall, model);
    let mut different = 0u32;
    for hash in &seen.hashes {
        again.frame(false)?;
        different += u32::from(again.world.hash() != *hash);
    }
    report.at_most("deepest overlap, relative to the edge", 0.05, seen.depth);
    report.at_most("largest growth of the energy in a frame, relative to the start", 1e-6, seen.growth);
    report.at_most("largest relative natural residual", BOUND, seen.residual);
    report.at_most("frames whose solve did not converge", 0.0, seen.unconverged as f64);
    report.at_most("frames that differ in a second run", 0.0, different);
    // With friction a hole is all that comes about, and a few frames are not enough.
    if args.friction == 0.0 && args.frames.is_none() {
        let name = "height of the highest cube at the end, relative to the start";
        report.at_most(name, 0.75, simulation.world.top() / top);
    }
    Ok(())
}

/// Plays all frames, prints them, and writes animation and picture.
fn play(
    simulation: &mut Simulation,
    context: &Headless,
    plan: &Plan,
    args: &Args,
    report: &mut Report,
) -> Result<Seen> {
    // SAFETY: the context is current from here on, and outlives the renderer.
    let mut renderer = unsafe { Renderer::new(context.glow(), plan.size) }?;
    let mut animation = Animation::new(plan.size, (RATE as usize / plan.shown_every) as u16);
    let start = simulation.world.energy();
    let mut energy = start;
    let mut seen = Seen::default();
    say(HEADING);
    for number in 0..plan.frames {
        let frame = simulation.frame(plan.compare > 0 && number.is_multiple_of(plan.compare))?;
        let world = &simulation.world;
        let (now, depth) = (world.energy(), world.deepest());
        print(number, &frame, depth, now);
        report.row(row(number, &frame, depth, now));
        seen.depth = worst(seen.depth, depth);
        seen.growth = worst(seen.growth, (now - energy) / start);
        seen.residual = worst(seen.residual, frame.residual);
        seen.unconverged += usize::from(!frame.converged);
        seen.hashes.push(world.hash());
        seen.compared.extend(frame.forms);
        energy = now;
        if number.is_multiple_of(plan.shown_every) {
            animation.push(renderer.picture(&world.cubes, &world.paint));
        }
        if let (Some(path), true) = (&args.picture, number == args.picture_at) {
            write_picture(&mut renderer, world, path)?;
            renderer.resize(plan.size);
        }
    }
    args.animation.as_deref().map_or(Ok(()), |path| animation.write(path))?;
    Ok(seen)
}

/// A larger picture of the present frame.
fn write_picture(renderer: &mut Renderer, world: &World, path: &Path) -> Result {
    let size = (960, 540);
    renderer.resize(size);
    write_rgb(path, size.0, size.1, &renderer.picture(&world.cubes, &world.paint))
}

const HEADING: &str =
    "               |     to a residual, in groups        | 2n sweeps, 1 problem |   deepest
frame contacts | groups largest sweeps     ms residual |       ms    residual | of an edge   energy";

fn print(number: usize, frame: &Frame, depth: f64, energy: f64) {
    let papers = frame.forms.as_ref().map_or(format!("{:>8} {:>11}", "-", "-"), |forms| {
        format!("{:8.1} {:11.1e}", forms[PAPERS_DENSE].milliseconds, forms[PAPERS_DENSE].residual)
    });
    say(format_args!(
        "{number:5} {:8} | {:6} {:7} {:6} {:6.1} {:8.1e} | {papers} | {depth:10.4} {energy:8.1}",
        frame.contacts, frame.groups, frame.largest, frame.sweeps, frame.milliseconds, frame.residual,
    ));
}

fn row(number: usize, frame: &Frame, depth: f64, energy: f64) -> serde_json::Value {
    let papers = frame.forms.as_ref().map(|forms| &forms[PAPERS_DENSE]);
    json!({
        "frame": number, "contacts": frame.contacts, "unknowns": frame.unknowns, "groups": frame.groups,
        "largest_group": frame.largest, "rounds": frame.rounds, "sweeps": frame.sweeps, "ms": frame.milliseconds,
        "residual": frame.residual, "papers_ms": papers.map(|form| form.milliseconds),
        "papers_residual": papers.map(|form| form.residual), "deepest": depth, "energy": energy,
    })
}
