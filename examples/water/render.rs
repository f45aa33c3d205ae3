//! Draws the pool with GL calls of the example's own, in the context in which texla computes: the displacement goes from
//! the solver's texture to the picture without a copy to the host.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;
use texla::sim::wave::Wave;
use texla::{Grid, Plane};

use crate::support::{Failure, Picture, Result, field, plain_fragments, program, shader};
use crate::view::{Camera, unit};

/// The longer side of the pool, and how deep it is to the eye: the waves are those of shallow water, of one speed for all
/// lengths.
pub const SIDE: f64 = 2.0;
const DEPTH: f32 = 0.62;
/// Towards the sun.
const SUN: [f32; 3] = [-0.40, 0.78, -0.44];

/// Everything that is needed for a picture.
pub struct Renderer {
    gl: Arc<glow::Context>,
    unpack: glow::Program,
    scene: glow::Program,
    array: glow::VertexArray,
    /// The surface with slopes, filtered and in all sizes.
    surface: glow::Texture,
    surface_target: glow::Framebuffer,
    /// Of the grid.
    cells: [i32; 2],
    picture: Picture,
    pub camera: Camera,
}

impl Renderer {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, grid: Grid, size: (u32, u32), samples: u32) -> Result<Self> {
        let vertex = shader!("water/unpack.vert");
        // SAFETY: the caller's.
        unsafe {
            let unpack = program(&gl, [vertex, shader!("water/unpack.frag")], &[])?;
            let scene = program(&gl, [vertex, shader!("water/scene.frag")], &[])?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let cells = [grid.nx as i32, grid.ny as i32];
            let (surface, surface_target) = field(&gl, cells.into(), true)?;
            let picture = Picture::new(&gl, size, samples, false)?;
            let camera = Camera::default();
            Ok(Renderer { gl, unpack, scene, array, surface, surface_target, cells, picture, camera })
        }
    }

    /// Pictures of another size from now on.
    pub fn resize(&mut self, size: (u32, u32)) {
        self.picture.resize(size);
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.picture.aspect()
    }

    /// Draws the pool for the window or to be read, of a displacement with 2^lanes elements a texel.
    fn draw(&self, displacement: glow::Texture, lanes: i32, to_window: bool) {
        let gl = &self.gl;
        let d2 = glow::TEXTURE_2D;
        let longest = self.cells[0].max(self.cells[1]) as f32;
        // SAFETY: the context is current, see `new`; the texture lives as long as what it is borrowed from.
        unsafe {
            plain_fragments(gl);
            gl.bind_vertex_array(Some(self.array));
            gl.active_texture(glow::TEXTURE0);
            gl.bind_sampler(0, None);

            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.surface_target));
            gl.viewport(0, 0, self.cells[0], self.cells[1]);
            gl.use_program(Some(self.unpack));
            let at = |name: &str| gl.get_uniform_location(self.unpack, name);
            gl.bind_texture(d2, Some(displacement));
            gl.uniform_1_i32(at("displacement").as_ref(), 0);
            gl.uniform_1_i32(at("lanes").as_ref(), lanes);
            gl.uniform_2_i32(at("cells").as_ref(), self.cells[0], self.cells[1]);
            gl.uniform_1_f32(at("cell").as_ref(), SIDE as f32 / longest);
            // Of a flat slope s, light is turned by about s (1 - 1 / 1.333).
            gl.uniform_1_f32(at("bend").as_ref(), 0.25 * DEPTH);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_texture(d2, Some(self.surface));
            gl.generate_mipmap(d2);

            let (w, h) = self.picture.begin();
            gl.use_program(Some(self.scene));
            let at = |name: &str| gl.get_uniform_location(self.scene, name);
            let [x, y] = Camera::half_view(self.aspect());
            let sun = unit(SUN);
            gl.uniform_1_i32(at("surface").as_ref(), 0);
            gl.uniform_3_f32_slice(at("eye").as_ref(), &self.camera.eye());
            gl.uniform_matrix_3_f32_slice(at("camera").as_ref(), false, self.camera.axes().as_flattened());
            gl.uniform_2_f32(at("half_view").as_ref(), x, y);
            gl.uniform_2_f32(at("size").as_ref(), w as f32, h as f32);
            gl.uniform_1_f32(at("cells").as_ref(), longest);
            gl.uniform_1_f32(at("depth").as_ref(), DEPTH);
            gl.uniform_3_f32_slice(at("sun").as_ref(), &sun);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_texture(d2, None);
            gl.bind_vertex_array(None);
            gl.use_program(None);
        }
        self.picture.finish(to_window);
    }

    /// Draws the pool into the window's own framebuffer.
    pub fn show(&self, wave: &Wave) {
        self.draw(wave.displacement().texture(), 2, true);
    }

    /// Draws the pool and leaves the picture on the device.
    pub fn draw_only(&self, wave: &Wave) {
        self.draw(wave.displacement().texture(), 2, false);
    }

    /// The same of a surface that has been unpacked, one element a texel.
    pub fn draw_unpacked(&self, surface: &Plane) {
        self.draw(surface.texture(), 0, false);
    }

    /// Draws the pool and reads the picture: three bytes a pixel, rows from the top.
    pub fn picture(&self, wave: &Wave) -> Vec<u8> {
        self.draw_only(wave);
        self.picture.read()
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            for program in [self.unpack, self.scene] {
                gl.delete_program(program);
            }
            gl.delete_vertex_array(self.array);
            gl.delete_texture(self.surface);
            gl.delete_framebuffer(self.surface_target);
        }
    }
}
