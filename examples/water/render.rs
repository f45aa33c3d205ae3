//! Draws the pool with GL calls of the example's own, in the context in which texla computes: the displacement goes from
//! the solver's texture to the picture without a copy to the host.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;
use texla::Grid;
use texla::sim::wave::Wave;

use crate::support::{Failure, Result, program, read_rgb};
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
    unpack: glow::NativeProgram,
    scene: glow::NativeProgram,
    array: glow::NativeVertexArray,
    /// The surface with slopes, filtered and in all sizes.
    surface: glow::NativeTexture,
    surface_target: glow::NativeFramebuffer,
    /// Of the grid.
    cells: [i32; 2],
    picture: glow::NativeRenderbuffer,
    picture_target: glow::NativeFramebuffer,
    resolved: glow::NativeRenderbuffer,
    resolved_target: glow::NativeFramebuffer,
    size: (i32, i32),
    /// Pixels of the picture's buffer to a side of a pixel that is shown.
    samples: i32,
    pub camera: Camera,
}

impl Renderer {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, grid: Grid, size: (u32, u32), samples: u32) -> Result<Self> {
        let vertex = include_str!("unpack.vert");
        // SAFETY: the caller's.
        unsafe {
            let unpack = program(&gl, [vertex, include_str!("unpack.frag")], &[])?;
            let scene = program(&gl, [vertex, include_str!("scene.frag")], &[])?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let renderbuffer = || gl.create_renderbuffer().map_err(Failure::unsolved);
            let framebuffer = || gl.create_framebuffer().map_err(Failure::unsolved);
            let surface = gl.create_texture().map_err(Failure::unsolved)?;
            let (picture, resolved) = (renderbuffer()?, renderbuffer()?);
            let (surface_target, picture_target, resolved_target) =
                (framebuffer()?, framebuffer()?, framebuffer()?);
            let cells = [grid.nx as i32, grid.ny as i32];
            let d2 = glow::TEXTURE_2D;
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(d2, Some(surface));
            let none = glow::PixelUnpackData::Slice(None);
            let format = glow::RGBA16F as i32;
            gl.tex_image_2d(d2, 0, format, cells[0], cells[1], 0, glow::RGBA, glow::HALF_FLOAT, none);
            gl.generate_mipmap(d2);
            for (name, value) in [
                (glow::TEXTURE_MIN_FILTER, glow::LINEAR_MIPMAP_LINEAR),
                (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
                (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
                (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
            ] {
                gl.tex_parameter_i32(d2, name, value as i32);
            }
            gl.bind_texture(d2, None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(surface_target));
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, d2, Some(surface), 0);
            if gl.check_framebuffer_status(glow::FRAMEBUFFER) != glow::FRAMEBUFFER_COMPLETE {
                return Err(Failure::no_gl("pictures in half floats cannot be drawn here"));
            }
            let mut made = Renderer {
                gl: Arc::clone(&gl),
                unpack,
                scene,
                array,
                surface,
                surface_target,
                cells,
                picture,
                picture_target,
                resolved,
                resolved_target,
                size: (0, 0),
                samples: samples.max(1) as i32,
                camera: Camera::default(),
            };
            made.resize(size);
            for (target, what) in [(picture_target, picture), (resolved_target, resolved)] {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
                let (to, buffer) = (glow::COLOR_ATTACHMENT0, glow::RENDERBUFFER);
                gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, to, buffer, Some(what));
            }
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            Ok(made)
        }
    }

    /// Pictures of another size from now on.
    pub fn resize(&mut self, size: (u32, u32)) {
        let (gl, (w, h)) = (&self.gl, (size.0.max(1) as i32, size.1.max(1) as i32));
        if self.size == (w, h) {
            return;
        }
        self.size = (w, h);
        // SAFETY: the context is current, see `new`.
        unsafe {
            for (buffer, scale) in [(self.picture, self.samples), (self.resolved, 1)] {
                gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, scale * w, scale * h);
            }
            gl.bind_renderbuffer(glow::RENDERBUFFER, None);
        }
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.size.0 as f32 / self.size.1 as f32
    }

    /// Draws the pool and brings the picture to `target`; none is the window.
    fn draw(&self, wave: &Wave, target: Option<glow::NativeFramebuffer>) {
        let gl = &self.gl;
        let (w, h) = (self.samples * self.size.0, self.samples * self.size.1);
        let d2 = glow::TEXTURE_2D;
        let longest = self.cells[0].max(self.cells[1]) as f32;
        // SAFETY: the context is current, see `new`; the solver's texture lives as long as the wave is borrowed.
        unsafe {
            for cap in [
                glow::SCISSOR_TEST,
                glow::BLEND,
                glow::DEPTH_TEST,
                glow::STENCIL_TEST,
                glow::CULL_FACE,
                glow::DITHER,
            ] {
                gl.disable(cap);
            }
            gl.color_mask(true, true, true, true);
            gl.bind_vertex_array(Some(self.array));
            gl.active_texture(glow::TEXTURE0);
            gl.bind_sampler(0, None);

            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.surface_target));
            gl.viewport(0, 0, self.cells[0], self.cells[1]);
            gl.use_program(Some(self.unpack));
            let at = |name: &str| gl.get_uniform_location(self.unpack, name);
            gl.bind_texture(d2, Some(wave.displacement().texture()));
            gl.uniform_1_i32(at("displacement").as_ref(), 0);
            gl.uniform_2_i32(at("cells").as_ref(), self.cells[0], self.cells[1]);
            gl.uniform_1_f32(at("cell").as_ref(), SIDE as f32 / longest);
            // Of a flat slope s, light is turned by about s (1 - 1 / 1.333).
            gl.uniform_1_f32(at("bend").as_ref(), 0.25 * DEPTH);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_texture(d2, Some(self.surface));
            gl.generate_mipmap(d2);

            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.picture_target));
            gl.viewport(0, 0, w, h);
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

            // Exactly halved, the linear filter is the mean of the samples.
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.picture_target));
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, target);
            let (tw, th) = self.size;
            gl.blit_framebuffer(0, 0, w, h, 0, 0, tw, th, glow::COLOR_BUFFER_BIT, glow::LINEAR);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        }
    }

    /// Draws the pool into the window's own framebuffer.
    pub fn show(&self, wave: &Wave) {
        self.draw(wave, None);
    }

    /// Draws the pool and leaves the picture on the device.
    pub fn draw_only(&self, wave: &Wave) {
        self.draw(wave, Some(self.resolved_target));
    }

    /// Draws the pool and reads the picture: three bytes a pixel, rows from the top.
    pub fn picture(&self, wave: &Wave) -> Vec<u8> {
        self.draw(wave, Some(self.resolved_target));
        // SAFETY: the context is current, see `new`.
        unsafe { read_rgb(&self.gl, self.resolved_target, self.size) }
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
            for buffer in [self.picture, self.resolved] {
                gl.delete_renderbuffer(buffer);
            }
            for target in [self.surface_target, self.picture_target, self.resolved_target] {
                gl.delete_framebuffer(target);
            }
        }
    }
}
