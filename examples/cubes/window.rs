//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // an application that makes a GL context

use std::ffi::CString;
use std::sync::Arc;
use std::time::{Duration, Instant};

use glutin::config::{Api as ConfigApi, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentContext, Version};
use glutin::display::GetGlDisplay;
use glutin::prelude::*;
use glutin::surface::{Surface, SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use glutin_winit::{DisplayBuilder, GlWindow};
use texla::Device;
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::error::EventLoopError;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::raw_window_handle::HasWindowHandle;
use winit::window::{Window, WindowId};

use crate::Args;
use crate::problem::Model;
use crate::render::Renderer;
use crate::simulation::{Frame, Simulation};
use crate::solver::BOUND;
use crate::support::{Api, Failure, Report, Result, say};
use crate::world::Wall;

pub fn run(args: &Args, report: &mut Report) -> Result {
    let events = EventLoop::new().map_err(no_window)?;
    let mut player = Player { args, report, live: None, residual: 0.0, failure: None };
    events.run_app(&mut player).map_err(no_window)?;
    let Player { residual, failure, report, .. } = player;
    failure.map_or(Ok(()), Err)?;
    report.at_most("largest relative natural residual", BOUND, residual);
    Ok(())
}

fn no_window(error: EventLoopError) -> Failure {
    Failure::no_gl(format_args!("no window: {error}"))
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
    surface: Surface<WindowSurface>,
    context: PossiblyCurrentContext,
    window: Window,
}

/// Frames that are computed between two pictures at most: a slow device plays in slow motion.
const MOST: u32 = 3;

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let attributes = Window::default_attributes()
            .with_title("texla: cubes")
            .with_inner_size(LogicalSize::new(960, 540));
        let (config_api, context_api) = match args.common.api.unwrap_or(Api::Gl33) {
            Api::Gl33 => (ConfigApi::OPENGL, ContextApi::OpenGl(Some(Version::new(3, 3)))),
            Api::Es30 => (ConfigApi::GLES3, ContextApi::Gles(Some(Version::new(3, 0)))),
        };
        let template = ConfigTemplateBuilder::new().with_api(config_api);
        let (window, config) = DisplayBuilder::new()
            .with_window_attributes(Some(attributes))
            // The first is the best fit; no configuration at all is an error before this.
            .build(events, template, |mut configs| configs.next().expect("at least one configuration"))
            .map_err(Failure::no_gl)?;
        let window = window.ok_or_else(|| Failure::no_gl("no window"))?;
        let handle = window.window_handle().map_err(Failure::no_gl)?.as_raw();
        let attributes = ContextAttributesBuilder::new()
            .with_profile(GlProfile::Core)
            .with_context_api(context_api)
            .build(Some(handle));
        let display = config.display();
        let surface =
            window.build_surface_attributes(SurfaceAttributesBuilder::new()).map_err(Failure::no_gl)?;
        // SAFETY: the window is alive, and `Live` drops it after surface and context.
        let (surface, context) = unsafe {
            let surface = display.create_window_surface(&config, &surface).map_err(Failure::no_gl)?;
            let context = display.create_context(&config, &attributes).map_err(Failure::no_gl)?;
            let context = context.make_current(&surface).map_err(Failure::no_gl)?;
            (surface, context)
        };
        // Where the display knows no interval, pictures come as fast as they are drawn.
        let _ = surface.set_swap_interval(&context, SwapInterval::Wait(std::num::NonZeroU32::MIN));

        let load = |name: &str| display.get_proc_address(&CString::new(name).unwrap_or_default());
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let (device, renderer) = unsafe {
            let gl = Arc::new(glow::Context::from_loader_function(load));
            let device = Device::from_glow(Arc::clone(&gl))?;
            (device, Renderer::new(gl, window.inner_size().into())?)
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
            context,
            window,
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
        self.window.pre_present_notify();
        self.surface.swap_buffers(&self.context).map_err(Failure::unsolved)
    }

    /// Shows what the last frame has come to, twice a second.
    fn title(&mut self, frame: &Frame) {
        if self.titled.elapsed() < Duration::from_millis(500) {
            return;
        }
        self.titled = Instant::now();
        self.window.set_title(&format!(
            "texla: cubes - {} contacts in {} groups, {:.1} ms, residual {:.0e}",
            frame.contacts, frame.groups, frame.milliseconds, frame.residual
        ));
    }

    fn resize(&mut self, size: PhysicalSize<u32>) {
        self.window.resize_surface(&self.surface, &self.context);
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
                    live.window.request_redraw();
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
