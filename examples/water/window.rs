//! Live, in a window: texla computes in the context that the window is drawn with.
#![allow(unsafe_code)] // the renderer's promise

use std::time::Instant;

use texla::{Device, Grid};
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::ActiveEventLoop;

use crate::Args;
use crate::player::{self, Pace, Play, Title};
use crate::pool::{Pool, RATE, STEPS, TOLERANCE};
use crate::render::Renderer;
use crate::support::{Failure, Report, Result};
use crate::surface::Surface;

pub fn run(args: &Args, report: &mut Report) -> Result {
    let seen = player::play(args.frames, |events| Live::open(events, args, report))?;
    report.at_most("relative residual of the last step", 2.0 * TOLERANCE, seen.residual);
    report.at_most("readbacks and looks in all steps", 0.0, seen.waited as f64);
    Ok(())
}

/// What is left when the window has closed.
struct Seen {
    residual: f64,
    waited: u64,
}

struct Live {
    pool: Pool,
    device: Device,
    renderer: Renderer,
    cells: usize,
    frames: usize,
    /// Where the mouse is, and which button is down.
    mouse: PhysicalPosition<f64>,
    pressed: Option<MouseButton>,
    pace: Pace,
    title: Title,
    surface: Surface,
}

impl Live {
    fn open(events: &ActiveEventLoop, args: &Args, report: &mut Report) -> Result<Self> {
        let surface = Surface::open(events, "texla: water", (1280, 720), args.common.api)?;
        let cells = args.cells();
        let device = surface.device().clone();
        // SAFETY: the context is current, stays so, and is dropped after everything that lives in it.
        let renderer =
            unsafe { Renderer::new(surface.glow(), Grid::new_2d(cells, cells), surface.size(), 2) }?;
        player::announce(&device, report);
        Ok(Live {
            pool: Pool::new(&device, cells, true)?,
            device,
            renderer,
            cells,
            frames: 0,
            mouse: PhysicalPosition::new(0.0, 0.0),
            pressed: None,
            pace: Pace::new(STEPS as f64 / RATE, 2),
            title: Title::new(),
            surface,
        })
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
}

impl Play for Live {
    type Seen = Seen;

    fn surface(&self) -> &Surface {
        &self.surface
    }

    fn picture(&mut self, paused: bool) -> Result<usize> {
        for _ in 0..self.pace.due(paused) {
            let started = Instant::now();
            self.pool.advance(false)?;
            self.frames += 1;
            let (took, iterations) = (started.elapsed(), self.pool.wave.iterations());
            self.title.set(&self.surface, || {
                format!(
                    "texla: water - {n}x{n} cells, {STEPS} implicit steps of {iterations} iterations in {:.1} ms, \
                     nothing read back",
                    1e3 * took.as_secs_f64(),
                    n = self.cells,
                )
            });
        }
        self.renderer.show(&self.pool.wave);
        Ok(self.frames)
    }

    fn restart(&mut self) -> Result {
        self.pool = Pool::new(&self.device, self.cells, true)?;
        Ok(())
    }

    fn resize(&mut self, size: (u32, u32)) {
        self.renderer.resize(size);
    }

    fn event(&mut self, event: WindowEvent, _: bool) -> Result {
        match event {
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
            _ => {}
        }
        Ok(())
    }

    fn close(self) -> Result<Seen> {
        let last = self.pool.wave.report()?.ok_or_else(|| Failure::unsolved("no step was done"))?;
        Ok(Seen { residual: last.residual, waited: self.pool.waited() })
    }
}
