//! Without a window: every frame in a line of its own, an animation, and the checks.
#![allow(unsafe_code)] // the renderer's promise

use texla::gl::Api as Dialect;
use texla::{Headless, HeadlessOptions};

use crate::Args;
use crate::animation::Animation;
use crate::compare::{self, GROUPS, PAPERS_DENSE};
use crate::problem::Model;
use crate::render::Renderer;
use crate::simulation::{Frame, Simulation};
use crate::solver::BOUND;
use crate::support::{Api, Failure, Report, Result, check_writable, json, say, write_rgb};
use crate::world::{Wall, World};

/// Frames of the simulation to one of the animation.
const SHOWN_EVERY: usize = 3;

/// What depends on the size of the run.
struct Plan {
    wall: Wall,
    frames: usize,
    size: (u32, u32),
    shown_every: usize,
    compare: usize,
}

impl Plan {
    fn new(args: &Args) -> Self {
        let full = Plan {
            wall: Wall { columns: 10, rows: 6 },
            frames: 330,
            size: (640, 360),
            shown_every: SHOWN_EVERY,
            compare: 10,
        };
        let quick = Plan {
            wall: Wall { columns: 5, rows: 5 },
            frames: 120,
            size: (320, 180),
            shown_every: 2 * SHOWN_EVERY,
            compare: 20,
        };
        let plan = if args.common.quick { quick } else { full };
        Plan {
            frames: args.frames.unwrap_or(plan.frames),
            compare: args.compare.unwrap_or(plan.compare),
            ..plan
        }
    }

    fn compares(&self, frame: usize) -> bool {
        self.compare > 0 && frame.is_multiple_of(self.compare)
    }
}

/// The worst of all frames.
#[derive(Default)]
struct Worst {
    depth: f64,
    growth: f64,
    residual: f64,
    unconverged: usize,
}

pub fn run(args: &Args, report: &mut Report) -> Result {
    if let Some(folder) = args.animation.parent().filter(|_| args.animation.starts_with("out")) {
        let _ = std::fs::create_dir_all(folder); // what is wrong with it shows in the next line
    }
    for path in [Some(&args.animation), args.picture.as_ref()].into_iter().flatten() {
        check_writable(path)?;
    }
    let plan = Plan::new(args);
    let api = args.common.api.map(|api| match api {
        Api::Gl33 => Dialect::Gl33,
        Api::Es30 => Dialect::Es30,
    });
    let options = HeadlessOptions { api, ..HeadlessOptions::default() };
    let context = Headless::new(options).map_err(Failure::no_gl)?;
    let device = context.device();
    report.device(context.name(), device.capabilities().version, device.api());
    // SAFETY: the context is current from here on, and outlives the renderer.
    let mut renderer = unsafe { Renderer::new(context.glow(), plan.size) }?;
    let mut animation = Animation::new(plan.size, (90 / plan.shown_every) as u16);

    let model = Model::new(args.friction);
    let mut simulation = Simulation::new(device, plan.wall, model);
    let (start, top) = (simulation.world.energy(), simulation.world.top());
    let mut energy = start;
    let mut worst = Worst::default();
    let mut hashes = Vec::with_capacity(plan.frames);
    let mut compared = Vec::new();
    say(HEADING);
    for number in 0..plan.frames {
        let frame = simulation.frame(plan.compares(number))?;
        let world = &simulation.world;
        let now = world.energy();
        let depth = world.deepest();
        print(number, &frame, depth, now);
        report.row(row(number, &frame, depth, now));
        worst.depth = worst.depth.max(depth);
        worst.growth = worst.growth.max((now - energy) / start);
        worst.residual = worst.residual.max(frame.residual);
        worst.unconverged += usize::from(!frame.converged);
        energy = now;
        hashes.push(world.hash());
        compared.extend(frame.forms);
        if number.is_multiple_of(plan.shown_every) {
            animation.push(renderer.picture(&world.cubes, &world.paint));
        }
        if let (Some(path), true) = (&args.picture, number == args.picture_at) {
            write_picture(&mut renderer, world, path)?;
            renderer.resize(plan.size);
        }
    }
    animation.write(&args.animation)?;
    say(format_args!("animation: {}", args.animation.display()));
    let (table, forms) = compare::summary(&compared);
    if !compared.is_empty() {
        say(format_args!("\n{} frames in all forms:", compared.len()));
        table.print();
    }
    report.set("forms", forms);
    report.set("friction", args.friction);
    let hash = hashes.last().map_or(String::new(), |hash| format!("{hash:016x}"));
    say(format_args!("\nall states of the last frame: {hash}"));
    report.set("last_frame", hash);

    // The same once more, from the beginning.
    let mut again = Simulation::new(device, plan.wall, model);
    let mut different = 0u32;
    for hash in &hashes {
        again.frame(false)?;
        different += u32::from(again.world.hash() != *hash);
    }
    report.at_most("deepest overlap, relative to the edge", 0.05, worst.depth);
    report.at_most("largest growth of the energy in a frame, relative to the start", 1e-6, worst.growth);
    report.at_most("largest relative natural residual", BOUND, worst.residual);
    report.at_most("frames whose solve did not converge", 0.0, worst.unconverged as f64);
    report.at_most("frames that differ in a second run", 0.0, different);
    if args.friction == 0.0 {
        // With friction a hole is all that comes about.
        report.at_most(
            "height of the highest cube at the end, relative to the start",
            0.75,
            simulation.world.top() / top,
        );
    }
    Ok(())
}

/// A larger picture of the present frame.
fn write_picture(renderer: &mut Renderer, world: &World, path: &std::path::Path) -> Result {
    let size = (960, 540);
    renderer.resize(size);
    write_rgb(path, size.0, size.1, &renderer.picture(&world.cubes, &world.paint))
}

const HEADING: &str = "             |       to a residual, groups         | 2n sweeps, one problem |  deepest\n\
     frame contacts | groups largest sweeps     ms residual |       ms  residual     | of an edge   energy";

fn print(number: usize, frame: &Frame, depth: f64, energy: f64) {
    let papers = frame.forms.as_ref().map_or(format!("{:>8}  {:>8}", "-", "-"), |forms| {
        format!("{:8.1}  {:8.1e}", forms[PAPERS_DENSE].milliseconds, forms[PAPERS_DENSE].residual)
    });
    say(format_args!(
        "{number:5} {:8} | {:6} {:7} {:6} {:6.1} {:8.1e} | {papers}     | {depth:10.4} {energy:8.1}",
        frame.contacts, frame.groups, frame.largest, frame.sweeps, frame.milliseconds, frame.residual,
    ));
}

fn row(number: usize, frame: &Frame, depth: f64, energy: f64) -> serde_json::Value {
    let own = frame.forms.as_ref().map(|forms| forms[GROUPS].milliseconds);
    let papers = frame.forms.as_ref().map(|forms| &forms[PAPERS_DENSE]);
    json!({
        "frame": number, "contacts": frame.contacts, "unknowns": frame.unknowns, "groups": frame.groups,
        "largest_group": frame.largest, "rounds": frame.rounds, "sweeps": frame.sweeps, "ms": frame.milliseconds,
        "residual": frame.residual, "deepest": depth, "energy": energy, "first_problem_ms": own,
        "papers_ms": papers.map(|form| form.milliseconds), "papers_residual": papers.map(|form| form.residual),
    })
}
