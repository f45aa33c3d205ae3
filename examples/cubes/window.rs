//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // an application that makes a GL context

use std::time::{Duration, Instant};

use texla::Device;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

use crate::Args;
use crate::problem::Model;
use crate::render::Renderer;
use crate::simulation::{Frame, Simulation};
use crate::solver::BOUND;
use crate::support::{Failure, Report, Result, say};
use crate::surface::{self, Surface};
use crate::world::Wall;

pub fn run(args: &Args, report: &mut Report) -> Result {
    let events = EventLoop::new().map_err(surface::no_window)?;
    let mut player = Player { args, report, live: None, residual: 0.0, failure: None };
    events.run_app(&mut player).map_err(surface::no_window)?;
    let Player { residual, failure, report, .. } = player;
    failure.map_or(Ok(()), Err)?;
    report.at_most("largest relative natural residual", BOUND, residual);
    Ok(())
}

/// The application between the events that reach it.
struct Player<'a> {
    args: &'a Args,
    report: &'a mut Report,
    live: Option<Live>,
    /// The largest of all frames.
    residual: f64,
    failure: Option<Failure>,
}

/// The window with everything that lives in its context, which is dropped last.
struct Live {
    simulation: Simulation,
    device: Device,
    renderer: Renderer,
    model: Model,
    paused: bool,
    frames: usize,
    residual: f64,
    /// Time that the simulation has not yet caught up with.
    behind: Duration,
    last: Instant,
    titled: Instant,
    surface: Surface,
}

/// Frames that are computed between two pictures at most: a slow device plays in slow motion.
const MOST: u32 = 3;

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: cubes", (960, 540), args.common.api)?;
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let (device, renderer) = unsafe {
            let device = Device::from_glow(surface.glow())?;
            (device, Renderer::new(surface.glow(), surface.size())?)
        };
        let found = device.capabilities();
        say(format_args!("{} ({}), {}", found.renderer, device.api(), found.version));
        report.device(found.renderer, found.version, device.api());
        let model = Model::new(args.friction);
        Ok(Live {
            simulation: Simulation::new(&device, Wall::PAPERS, model),
            device,
            renderer,
            model,
            paused: false,
            frames: 0,
            residual: 0.0,
            behind: Duration::ZERO,
            last: Instant::now(),
            titled: Instant::now(),
            surface,
        })
    }

    /// Lets the simulation catch up with the time that has passed, and draws.
    fn picture(&mut self) -> Result {
        let frame_time = Duration::from_secs_f64(self.model.dt);
        let now = Instant::now();
        self.behind = (self.behind + now.duration_since(self.last)).min(MOST * frame_time);
        self.last = now;
        if self.paused {
            self.behind = Duration::ZERO;
        }
        while self.behind >= frame_time {
            let frame = self.simulation.frame(false)?;
            self.behind -= frame_time;
            self.frames += 1;
            self.residual = self.residual.max(frame.residual);
            self.title(&frame);
        }
        let world = &self.simulation.world;
        self.renderer.show(&world.cubes, &world.paint);
        self.surface.present()
    }

    /// Shows what the last frame has come to, twice a second.
    fn title(&mut self, frame: &Frame) {
        if self.titled.elapsed() < Duration::from_millis(500) {
            return;
        }
        self.titled = Instant::now();
        self.surface.window().set_title(&format!(
            "texla: cubes - {} contacts in {} groups, {:.1} ms, residual {:.0e}",
            frame.contacts, frame.groups, frame.milliseconds, frame.residual
        ));
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        self.surface.resize();
        self.renderer.resize(size.into());
    }

    fn key(&mut self, key: &Key, events: &ActiveEventLoop) {
        match key {
            Key::Named(NamedKey::Escape) => events.exit(),
            Key::Named(NamedKey::Space) => self.paused = !self.paused,
            Key::Character(c) if c.eq_ignore_ascii_case("r") => {
                self.simulation = Simulation::new(&self.device, Wall::PAPERS, self.model);
            }
            _ => {}
        }
    }
}

impl ApplicationHandler for Player<'_> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        events.set_control_flow(ControlFlow::Poll);
        if self.live.is_none() {
            match Live::open(events, self.args, self.report) {
                Ok(live) => self.live = Some(live),
                Err(failure) => {
                    self.failure = Some(failure);
                    events.exit();
                }
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(live) = &mut self.live else { return };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => live.resize(size),
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed && !event.repeat =>
            {
                live.key(&event.logical_key, events);
            }
            WindowEvent::RedrawRequested => {
                if let Err(failure) = live.picture() {
                    self.failure = Some(failure);
                    events.exit();
                } else if self.args.frames.is_some_and(|frames| live.frames >= frames) {
                    events.exit();
                } else {
                    live.surface.window().request_redraw();
                }
            }
            _ => {}
        }
    }

    /// The context is current only as long as the event loop has not taken its display down.
    fn exiting(&mut self, _: &ActiveEventLoop) {
        self.residual = self.live.take().map_or(0.0, |live| live.residual);
    }
}
