//! Water and smoke, a picture at a time.
#![allow(unsafe_code)] // the renderers' promise: in a browser a context is always current

use texla::Device;
use wasm_bindgen::prelude::*;

use super::gpu::Gpu;
use super::{Page, object, thrown};
use crate::pool::Pool;
use crate::support::Failure;
use crate::tunnel::{LENGTH, RADIUS, Tunnel};
use crate::{render, smoke_render};

/// A pool with rain, and what falls in where a pointer is.
#[wasm_bindgen]
pub struct Water {
    pool: Pool,
    renderer: render::Renderer,
    device: Device,
}

#[wasm_bindgen]
impl Water {
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, cells: usize, width: u32, height: u32, samples: u32) -> Page<Water> {
        let device = gpu.device.clone();
        let pool = Pool::new(&device, cells, true).map_err(thrown)?;
        // SAFETY: a browser's context is current at every call.
        let made = unsafe {
            render::Renderer::new(device.glow(), pool.wave.params().grid, (width, height), samples)
        };
        Ok(Water { pool, renderer: made.map_err(thrown)?, device })
    }

    /// Moves on by so many steps of 1/60 s, and draws.
    pub fn frame(&mut self, steps: u32) -> Page {
        {
            let _scope = self.device.scope().map_err(thrown)?;
            for _ in 0..steps {
                self.pool.step(false).map_err(thrown)?;
            }
        }
        self.renderer.show(&self.pool.wave);
        Ok(())
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        self.renderer.resize((width, height));
    }

    /// Something falls in at a place of the picture, in shares of it from the upper left corner. Whether there is water.
    pub fn touch(&mut self, x: f32, y: f32, radius: f64, height: f64) -> Page<bool> {
        let Some(place) = self.renderer.camera.water_at([x, y], self.renderer.aspect()) else {
            return Ok(false);
        };
        self.pool.drop_at(place, radius, height).map_err(thrown)?;
        Ok(true)
    }

    /// Turns the camera, by radians.
    pub fn turn(&mut self, around: f32, up: f32) {
        let camera = &mut self.renderer.camera;
        camera.turn += around;
        camera.lift = (camera.lift + up).clamp(0.12, 1.45);
    }

    /// How far away the camera is.
    pub fn set_distance(&mut self, distance: f32) {
        self.renderer.camera.distance = distance.clamp(1.6, 9.0);
    }

    pub fn distance(&self) -> f32 {
        self.renderer.camera.distance
    }

    /// How well the last step was solved. It reads, and so it waits.
    pub fn report(&self) -> Page<JsValue> {
        let report = self.pool.wave.report().map_err(thrown)?;
        let report = report.ok_or_else(|| thrown(Failure::unsolved("no step was done")))?;
        Ok(object([
            ("residual", report.residual.into()),
            ("iterations", (report.iterations as f64).into()),
            ("waited", (self.pool.waited() as f64).into()),
        ]))
    }
}

/// A tunnel with smoke.
#[wasm_bindgen]
pub struct Smoke {
    tunnel: Tunnel,
    renderer: smoke_render::Renderer,
}

#[wasm_bindgen]
impl Smoke {
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, cells: usize, width: u32, height: u32) -> Page<Smoke> {
        let device = &gpu.device;
        let tunnel = Tunnel::new(device, cells).map_err(thrown)?;
        let grid = (tunnel.cells.nx, tunnel.cells.ny);
        // SAFETY: a browser's context is current at every call.
        let made = unsafe { smoke_render::Renderer::new(device.glow(), grid, (width, height)) };
        Ok(Smoke { tunnel, renderer: made.map_err(thrown)? })
    }

    /// Moves on by so many steps, and draws.
    pub fn frame(&mut self, steps: u32) -> Page {
        for _ in 0..steps {
            self.tunnel.step().map_err(thrown)?;
        }
        self.renderer.show(&self.tunnel).map_err(thrown)
    }

    pub fn resize(&mut self, width: u32, height: u32) {
        self.renderer.resize((width, height));
    }

    /// Stirs at a place of the picture by a way across it, in shares of it from the upper left corner.
    pub fn stir(&mut self, x: f64, y: f64, dx: f64, dy: f64) -> Page {
        // As fast as the pointer, but no faster than a few times the stream.
        let way = [LENGTH * dx, -dy].map(|d| (d / self.tunnel.dt).clamp(-4.0, 4.0));
        self.tunnel.stir([LENGTH * x, 1.0 - y], way).map_err(thrown)
    }

    /// Whether a place of the picture shows the disc.
    pub fn is_disc(&self, x: f64, y: f64) -> bool {
        let [cx, cy] = self.tunnel.disc;
        (LENGTH * x - cx).hypot(1.0 - y - cy) < 1.3 * RADIUS
    }

    /// Puts the disc at a place of the picture.
    pub fn move_disc(&mut self, x: f64, y: f64) -> Page {
        self.tunnel.move_disc([LENGTH * x, 1.0 - y]).map_err(thrown)
    }

    /// Where the disc is, in shares of the picture.
    pub fn disc(&self) -> Vec<f64> {
        let [x, y] = self.tunnel.disc;
        vec![x / LENGTH, 1.0 - y]
    }

    /// A step, and the largest divergence before and after its projection. It reads, and so it waits.
    pub fn look(&mut self) -> Page<JsValue> {
        let (look, _) = self.tunnel.step_with_look().map_err(thrown)?;
        Ok(object([("before", look.before.into()), ("after", look.after.into())]))
    }
}
