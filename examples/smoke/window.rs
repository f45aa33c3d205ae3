//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // the device's and the renderer's promise

use std::time::{Duration, Instant};

use texla::Device;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

use crate::Args;
use crate::compare::AIM;
use crate::render::Renderer;
use crate::support::{Failure, Report, Result, say};
use crate::surface::{self, Surface};
use crate::tunnel::{LENGTH, Tunnel};

pub fn run(args: &Args, report: &mut Report) -> Result {
    let events = EventLoop::new().map_err(surface::no_window)?;
    let mut player = Player { args, report, live: None, left: None, failure: None };
    events.run_app(&mut player).map_err(surface::no_window)?;
    let Player { left, failure, report, .. } = player;
    failure.map_or(Ok(()), Err)?;
    // Without a step there is nothing to pass.
    let left = left.unwrap_or(f64::NAN);
    report.at_most("divergence after the last projection, of that before it", AIM, left);
    Ok(())
}

/// The application between the events that reach it.
struct Player<'a> {
    args: &'a Args,
    report: &'a mut Report,
    live: Option<Live>,
    /// What a last step has left of the divergence.
    left: Option<f64>,
    failure: Option<Failure>,
}

/// The window with everything that lives in its context, which is dropped last.
struct Live {
    tunnel: Tunnel,
    device: Device,
    renderer: Renderer,
    height: usize,
    paused: bool,
    frames: usize,
    /// Where the mouse is, in heights of the tunnel, and whether it stirs.
    mouse: [f64; 2],
    pressed: bool,
    titled: Instant,
    surface: Surface,
}

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: smoke", (1280, 640), args.common.api)?;
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let device = unsafe { Device::from_glow(surface.glow()) }?;
        let tunnel = Tunnel::new(&device, args.height())?;
        // SAFETY: as above.
        let renderer =
            unsafe { Renderer::new(surface.glow(), (tunnel.cells.nx, tunnel.cells.ny), surface.size()) }?;
        let found = device.capabilities();
        say(format_args!("{} ({}), {}", found.renderer, device.api(), found.version));
        report.device(found.renderer, found.version, device.api());
        Ok(Live {
            tunnel,
            device,
            renderer,
            height: args.height(),
            paused: false,
            frames: 0,
            mouse: [0.0; 2],
            pressed: false,
            titled: Instant::now(),
            surface,
        })
    }

    /// A step, and a picture of it.
    fn picture(&mut self) -> Result {
        if !self.paused {
            let started = Instant::now();
            self.tunnel.step()?;
            self.frames += 1;
            self.title(started.elapsed());
        }
        self.renderer.show(&self.tunnel)?;
        self.surface.present()
    }

    /// Shows what a step costs the host, twice a second.
    fn title(&mut self, took: Duration) {
        if self.titled.elapsed() < Duration::from_millis(500) {
            return;
        }
        self.titled = Instant::now();
        self.surface.window().set_title(&format!(
            "texla: smoke - {}, a step in {:.1} ms, nothing read back",
            self.tunnel.cells,
            1e3 * took.as_secs_f64(),
        ));
    }

    fn moved(&mut self, to: PhysicalPosition<f64>) -> Result {
        let (width, tall) = self.surface.size();
        let now = [LENGTH * to.x / f64::from(width.max(1)), 1.0 - to.y / f64::from(tall.max(1))];
        let way = [now[0] - self.mouse[0], now[1] - self.mouse[1]];
        self.mouse = now;
        if self.pressed && !self.paused {
            // As fast as the mouse, which moves so far in a step; but no faster than a few times the stream.
            let speed = way.map(|d| (d / self.tunnel.dt).clamp(-4.0, 4.0));
            self.tunnel.stir(now, speed)?;
        }
        Ok(())
    }

    fn key(&mut self, key: &Key, events: &ActiveEventLoop) -> Result {
        match key {
            Key::Named(NamedKey::Escape) => events.exit(),
            Key::Named(NamedKey::Space) => self.paused = !self.paused,
            Key::Character(c) if c.eq_ignore_ascii_case("r") => {
                self.tunnel = Tunnel::new(&self.device, self.height)?;
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
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                self.pressed = state == ElementState::Pressed;
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
        let Some(mut live) = self.live.take() else { return };
        match live.tunnel.step_with_look() {
            Ok((look, _)) => self.left = Some(look.after / look.before),
            // The first failure is the one that matters.
            Err(error) => _ = self.failure.get_or_insert(Failure::unsolved(error)),
        }
    }
}
