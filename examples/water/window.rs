//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // the device's and the renderer's promise

use std::time::{Duration, Instant};

use texla::{Device, Grid};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

use crate::Args;
use crate::pool::{Pool, RATE, STEPS, TOLERANCE};
use crate::render::Renderer;
use crate::support::{Failure, Report, Result, say};
use crate::surface::{self, Surface};

pub fn run(args: &Args, report: &mut Report) -> Result {
    let events = EventLoop::new().map_err(surface::no_window)?;
    let mut player = Player { args, report, live: None, seen: None, failure: None };
    events.run_app(&mut player).map_err(surface::no_window)?;
    let Player { seen, failure, report, .. } = player;
    failure.map_or(Ok(()), Err)?;
    let seen = seen.ok_or_else(|| Failure::unsolved("no step was done"))?;
    report.at_most("relative residual of the last step", 2.0 * TOLERANCE, seen.residual);
    report.at_most("readbacks and looks in all steps", 0.0, seen.waited as f64);
    Ok(())
}

/// What is left when the window has closed.
struct Seen {
    residual: f64,
    waited: u64,
}

/// The application between the events that reach it.
struct Player<'a> {
    args: &'a Args,
    report: &'a mut Report,
    live: Option<Live>,
    seen: Option<Seen>,
    failure: Option<Failure>,
}

/// The window with everything that lives in its context, which is dropped last.
struct Live {
    pool: Pool,
    device: Device,
    renderer: Renderer,
    cells: usize,
    paused: bool,
    frames: usize,
    /// Where the mouse is, and which button is down.
    mouse: PhysicalPosition<f64>,
    pressed: Option<MouseButton>,
    /// Time that the pool has not yet caught up with.
    behind: Duration,
    last: Instant,
    titled: Instant,
    surface: Surface,
}

/// Frames that are computed between two pictures at most: a slow device plays in slow motion.
const MOST: u32 = 2;

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: water", (1280, 720), args.common.api)?;
        let cells = args.cells();
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let (device, renderer) = unsafe {
            let device = Device::from_glow(surface.glow())?;
            (device, Renderer::new(surface.glow(), Grid::new_2d(cells, cells), surface.size(), 2)?)
        };
        let found = device.capabilities();
        say(format_args!("{} ({}), {}", found.renderer, device.api(), found.version));
        report.device(found.renderer, found.version, device.api());
        Ok(Live {
            pool: Pool::new(&device, cells, true)?,
            device,
            renderer,
            cells,
            paused: false,
            frames: 0,
            mouse: PhysicalPosition::new(0.0, 0.0),
            pressed: None,
            behind: Duration::ZERO,
            last: Instant::now(),
            titled: Instant::now(),
            surface,
        })
    }

    /// Lets the pool catch up with the time that has passed, and draws.
    fn picture(&mut self) -> Result {
        let frame_time = Duration::from_secs_f64(STEPS as f64 / RATE);
        let now = Instant::now();
        self.behind = (self.behind + now.duration_since(self.last)).min(MOST * frame_time);
        self.last = now;
        if self.paused {
            self.behind = Duration::ZERO;
        }
        while self.behind >= frame_time {
            let started = Instant::now();
            self.pool.advance(false)?;
            self.behind -= frame_time;
            self.frames += 1;
            self.title(started.elapsed());
        }
        self.renderer.show(&self.pool.wave);
        self.surface.present()
    }

    /// Shows what a frame costs the host, twice a second.
    fn title(&mut self, took: Duration) {
        if self.titled.elapsed() < Duration::from_millis(500) {
            return;
        }
        self.titled = Instant::now();
        self.surface.window().set_title(&format!(
            "texla: water - {n}x{n} cells, {STEPS} implicit steps of {} iterations in {:.1} ms, nothing read back",
            self.pool.wave.iterations(),
            1e3 * took.as_secs_f64(),
            n = self.cells,
        ));
    }

    /// The mouse has moved, perhaps with a button down: the left one wets, the right one turns.
    fn moved(&mut self, to: PhysicalPosition<f64>) -> Result {
        let (dx, dy) = (to.x - self.mouse.x, to.y - self.mouse.y);
        self.mouse = to;
        match self.pressed {
            Some(MouseButton::Left) => self.splash(0.05, -0.012),
            Some(MouseButton::Right) => {
                let camera = &mut self.renderer.camera;
                camera.turn -= 0.006 * dx as f32;
                camera.lift = (camera.lift + 0.006 * dy as f32).clamp(0.12, 1.45);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Something falls in where the mouse points.
    fn splash(&mut self, radius: f64, height: f64) -> Result {
        let (width, tall) = self.surface.size();
        let place = [self.mouse.x / f64::from(width.max(1)), self.mouse.y / f64::from(tall.max(1))];
        let place = place.map(|c| c as f32);
        match self.renderer.camera.water_at(place, self.renderer.aspect()) {
            Some(place) => self.pool.drop_at(place, radius, height),
            None => Ok(()),
        }
    }

    fn key(&mut self, key: &Key, events: &ActiveEventLoop) -> Result {
        match key {
            Key::Named(NamedKey::Escape) => events.exit(),
            Key::Named(NamedKey::Space) => self.paused = !self.paused,
            Key::Character(c) if c.eq_ignore_ascii_case("r") => {
                self.pool = Pool::new(&self.device, self.cells, true)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn event(&mut self, event: WindowEvent, events: &ActiveEventLoop, frames: Option<usize>) -> Result {
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => {
                self.surface.resize();
                self.renderer.resize(size.into());
            }
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed && !event.repeat =>
            {
                self.key(&event.logical_key, events)?;
            }
            WindowEvent::CursorMoved { position, .. } => self.moved(position)?,
            WindowEvent::MouseInput { state, button, .. } => {
                self.pressed = (state == ElementState::Pressed).then_some(button);
                if self.pressed == Some(MouseButton::Left) {
                    self.splash(0.11, -0.045)?;
                }
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, y) => y,
                    MouseScrollDelta::PixelDelta(p) => p.y as f32 / 40.0,
                };
                let distance = &mut self.renderer.camera.distance;
                *distance = (*distance * 0.93f32.powf(lines)).clamp(1.6, 9.0);
            }
            WindowEvent::RedrawRequested => {
                self.picture()?;
                if frames.is_some_and(|frames| self.frames >= frames) {
                    events.exit();
                } else {
                    self.surface.window().request_redraw();
                }
            }
            _ => {}
        }
        Ok(())
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
        if let Err(failure) = live.event(event, events, self.args.frames) {
            self.failure = Some(failure);
            events.exit();
        }
    }

    /// The context is current only as long as the event loop has not taken its display down.
    fn exiting(&mut self, _: &ActiveEventLoop) {
        let Some(live) = self.live.take() else { return };
        match live.pool.wave.report() {
            Ok(last) => {
                self.seen = last.map(|last| Seen { residual: last.residual, waited: live.pool.waited() });
            }
            // The first failure is the one that matters.
            Err(error) => _ = self.failure.get_or_insert(Failure::unsolved(error)),
        }
    }
}
