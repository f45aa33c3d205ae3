//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // the renderer's promise

use std::time::Instant;

use texla::Device;
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, WindowEvent};
use winit::event_loop::ActiveEventLoop;

use crate::Args;
use crate::compare::AIM;
use crate::player::{self, Play, Title};
use crate::render::Renderer;
use crate::support::{Report, Result};
use crate::surface::Surface;
use crate::tunnel::{LENGTH, Tunnel};

pub fn run(args: &Args, report: &mut Report) -> Result {
    let left = player::play(args.frames, |events| Live::open(events, args, report))?;
    report.at_most("divergence after the last projection, of that before it", AIM, left);
    Ok(())
}

struct Live {
    tunnel: Tunnel,
    device: Device,
    renderer: Renderer,
    height: usize,
    frames: usize,
    /// Where the mouse is, in heights of the tunnel, and whether it stirs.
    mouse: [f64; 2],
    pressed: bool,
    title: Title,
    surface: Surface,
}

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: smoke", (1280, 640), args.common.api)?;
        let device = surface.device().clone();
        let tunnel = Tunnel::new(&device, args.height())?;
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let renderer =
            unsafe { Renderer::new(surface.glow(), (tunnel.cells.nx, tunnel.cells.ny), surface.size()) }?;
        player::announce(&device, report);
        Ok(Live {
            tunnel,
            device,
            renderer,
            height: args.height(),
            frames: 0,
            mouse: [0.0; 2],
            pressed: false,
            title: Title::new(),
            surface,
        })
    }

    fn moved(&mut self, to: PhysicalPosition<f64>, paused: bool) -> Result {
        let (width, tall) = self.surface.size();
        let now = [LENGTH * to.x / f64::from(width.max(1)), 1.0 - to.y / f64::from(tall.max(1))];
        let way = [now[0] - self.mouse[0], now[1] - self.mouse[1]];
        self.mouse = now;
        if self.pressed && !paused {
            // As fast as the mouse, which moves so far in a step; but no faster than a few times the stream.
            let speed = way.map(|d| (d / self.tunnel.dt).clamp(-4.0, 4.0));
            self.tunnel.stir(now, speed)?;
        }
        Ok(())
    }
}

impl Play for Live {
    /// What a last step leaves of the divergence.
    type Seen = f64;

    fn surface(&self) -> &Surface {
        &self.surface
    }

    fn picture(&mut self, paused: bool) -> Result<usize> {
        if !paused {
            let started = Instant::now();
            self.tunnel.step()?;
            self.frames += 1;
            let (took, cells) = (started.elapsed(), self.tunnel.cells);
            self.title.set(&self.surface, || {
                let ms = 1e3 * took.as_secs_f64();
                format!("texla: smoke - {cells}, a step in {ms:.1} ms, nothing read back")
            });
        }
        self.renderer.show(&self.tunnel)?;
        Ok(self.frames)
    }

    fn restart(&mut self) -> Result {
        self.tunnel = Tunnel::new(&self.device, self.height)?;
        Ok(())
    }

    fn resize(&mut self, size: (u32, u32)) {
        self.renderer.resize(size);
    }

    fn event(&mut self, event: WindowEvent, paused: bool) -> Result {
        match event {
            WindowEvent::CursorMoved { position, .. } => self.moved(position, paused)?,
            WindowEvent::MouseInput { state, button: MouseButton::Left, .. } => {
                self.pressed = state == ElementState::Pressed;
            }
            _ => {}
        }
        Ok(())
    }

    fn close(mut self) -> Result<f64> {
        let (look, _) = self.tunnel.step_with_look()?;
        Ok(look.after / look.before)
    }
}
