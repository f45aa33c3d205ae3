//! Draws the tunnel with GL calls of the example's own, in the context in which texla computes: dye and velocity go from
//! the fluid's textures to the picture without a copy to the host.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;

use crate::support::{Failure, Result, program, read_rgb};
use crate::tunnel::{DISC, Tunnel};

/// Everything that is needed for a picture.
pub struct Renderer {
    gl: Arc<glow::Context>,
    unpack: glow::NativeProgram,
    scene: glow::NativeProgram,
    array: glow::NativeVertexArray,
    /// Both dyes, speed and vorticity, filtered.
    field: glow::NativeTexture,
    field_target: glow::NativeFramebuffer,
    cells: (i32, i32),
    picture: glow::NativeRenderbuffer,
    picture_target: glow::NativeFramebuffer,
    size: (i32, i32),
}

impl Renderer {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, cells: (usize, usize), size: (u32, u32)) -> Result<Self> {
        let vertex = include_str!("whole.vert");
        // SAFETY: the caller's.
        unsafe {
            let unpack = program(&gl, [vertex, include_str!("unpack.frag")], &[])?;
            let scene = program(&gl, [vertex, include_str!("scene.frag")], &[])?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let framebuffer = || gl.create_framebuffer().map_err(Failure::unsolved);
            let field = gl.create_texture().map_err(Failure::unsolved)?;
            let picture = gl.create_renderbuffer().map_err(Failure::unsolved)?;
            let (field_target, picture_target) = (framebuffer()?, framebuffer()?);
            let cells = (cells.0 as i32, cells.1 as i32);
            let d2 = glow::TEXTURE_2D;
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(d2, Some(field));
            let (none, format) = (glow::PixelUnpackData::Slice(None), glow::RGBA16F as i32);
            gl.tex_image_2d(d2, 0, format, cells.0, cells.1, 0, glow::RGBA, glow::HALF_FLOAT, none);
            for (name, value) in [
                (glow::TEXTURE_MIN_FILTER, glow::LINEAR),
                (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
                (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
                (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
            ] {
                gl.tex_parameter_i32(d2, name, value as i32);
            }
            gl.bind_texture(d2, None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(field_target));
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, d2, Some(field), 0);
            if gl.check_framebuffer_status(glow::FRAMEBUFFER) != glow::FRAMEBUFFER_COMPLETE {
                return Err(Failure::no_gl("pictures in half floats cannot be drawn here"));
            }
            let (gl_, size_) = (Arc::clone(&gl), (0, 0));
            let mut made = Renderer {
                gl: gl_,
                unpack,
                scene,
                array,
                field,
                field_target,
                cells,
                picture,
                picture_target,
                size: size_,
            };
            made.resize(size);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(picture_target));
            let (to, buffer) = (glow::COLOR_ATTACHMENT0, glow::RENDERBUFFER);
            gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, to, buffer, Some(picture));
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
            gl.bind_renderbuffer(glow::RENDERBUFFER, Some(self.picture));
            gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, w, h);
            gl.bind_renderbuffer(glow::RENDERBUFFER, None);
        }
    }

    /// Draws the tunnel to `target`; none is the window.
    fn draw(&self, tunnel: &Tunnel, target: Option<glow::NativeFramebuffer>) -> Result {
        let gl = &self.gl;
        let (w, h) = self.size;
        let d2 = glow::TEXTURE_2D;
        let [amber, blue] = &tunnel.dyes;
        let fields = [
            ("amber", amber.texture()),
            ("blue", blue.texture()),
            ("along", tunnel.fluid.velocity(0)?.texture()),
            ("up", tunnel.fluid.velocity(1)?.texture()),
        ];
        // SAFETY: the context is current, see `new`; the fluid's textures live as long as the tunnel is borrowed.
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

            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.field_target));
            gl.viewport(0, 0, self.cells.0, self.cells.1);
            gl.use_program(Some(self.unpack));
            let at = |name: &str| gl.get_uniform_location(self.unpack, name);
            for (unit, (name, texture)) in (0..).zip(fields) {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_sampler(unit, None);
                gl.bind_texture(d2, Some(texture));
                gl.uniform_1_i32(at(name).as_ref(), unit as i32);
            }
            gl.uniform_2_i32(at("cells").as_ref(), self.cells.0, self.cells.1);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            for unit in (0..fields.len() as u32).rev() {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_texture(d2, None);
            }

            gl.bind_framebuffer(glow::FRAMEBUFFER, target);
            gl.viewport(0, 0, w, h);
            gl.use_program(Some(self.scene));
            let at = |name: &str| gl.get_uniform_location(self.scene, name);
            gl.bind_texture(d2, Some(self.field));
            let ([x, y], radius) = DISC;
            gl.uniform_1_i32(at("field").as_ref(), 0);
            gl.uniform_2_f32(at("size").as_ref(), w as f32, h as f32);
            gl.uniform_2_f32(at("cells").as_ref(), self.cells.0 as f32, self.cells.1 as f32);
            gl.uniform_3_f32(at("disc").as_ref(), x as f32, y as f32, radius as f32);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_texture(d2, None);
            gl.bind_vertex_array(None);
            gl.use_program(None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        }
        Ok(())
    }

    /// Draws the tunnel into the window's own framebuffer.
    pub fn show(&self, tunnel: &Tunnel) -> Result {
        self.draw(tunnel, None)
    }

    /// Draws the tunnel and reads the picture: three bytes a pixel, rows from the top.
    pub fn picture(&self, tunnel: &Tunnel) -> Result<Vec<u8>> {
        self.draw(tunnel, Some(self.picture_target))?;
        // SAFETY: the context is current, see `new`.
        Ok(unsafe { read_rgb(&self.gl, self.picture_target, self.size) })
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
            gl.delete_texture(self.field);
            gl.delete_renderbuffer(self.picture);
            for target in [self.field_target, self.picture_target] {
                gl.delete_framebuffer(target);
            }
        }
    }
}
