//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // the renderer's promise

use texla::Device;
use winit::event_loop::ActiveEventLoop;

use crate::Args;
use crate::player::{self, Pace, Play, Title};
use crate::problem::Model;
use crate::render::Renderer;
use crate::simulation::Simulation;
use crate::solver::BOUND;
use crate::support::{Failure, Report, Result, worst};
use crate::surface::Surface;
use crate::world::Wall;

pub fn run(args: &Args, report: &mut Report) -> Result {
    let residual = player::play(args.frames, |events| Live::open(events, args, report))?;
    report.at_most("largest relative natural residual", BOUND, residual);
    Ok(())
}

struct Live {
    simulation: Simulation,
    device: Device,
    renderer: Renderer,
    model: Model,
    frames: usize,
    /// The largest of all frames.
    residual: f64,
    pace: Pace,
    title: Title,
    surface: Surface,
}

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: cubes", (960, 540), args.common.api)?;
        let device = surface.device().clone();
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let renderer = unsafe { Renderer::new(surface.glow(), surface.size()) }?;
        player::announce(&device, report);
        let model = Model::new(args.friction);
        Ok(Live {
            simulation: Simulation::new(&device, Wall::PAPERS, model),
            device,
            renderer,
            model,
            frames: 0,
            residual: 0.0,
            pace: Pace::new(model.dt, 3),
            title: Title::new(),
            surface,
        })
    }
}

impl Play for Live {
    /// The largest residual of all frames.
    type Seen = f64;

    fn surface(&self) -> &Surface {
        &self.surface
    }

    fn picture(&mut self, paused: bool) -> Result<usize> {
        for _ in 0..self.pace.due(paused) {
            let frame = self.simulation.frame(false)?;
            self.frames += 1;
            self.residual = worst(self.residual, frame.residual);
            self.title.set(&self.surface, || {
                format!(
                    "texla: cubes - {} contacts in {} groups, {:.1} ms, residual {:.0e}",
                    frame.contacts, frame.groups, frame.milliseconds, frame.residual
                )
            });
        }
        let world = &self.simulation.world;
        self.renderer.show(&world.cubes, &world.paint);
        Ok(self.frames)
    }

    fn restart(&mut self) -> Result {
        self.simulation = Simulation::new(&self.device, Wall::PAPERS, self.model);
        Ok(())
    }

    fn resize(&mut self, size: (u32, u32)) {
        self.renderer.resize(size);
    }

    fn close(self) -> Result<f64> {
        if self.frames == 0 { Err(Failure::unsolved("no frame was done")) } else { Ok(self.residual) }
    }
}
