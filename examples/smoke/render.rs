//! Draws the tunnel with GL calls of the example's own, in the context in which texla computes: dye and velocity go from
//! the fluid's textures to the picture without a copy to the host.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;

use crate::support::{Failure, Picture, Result, field, plain_fragments, program, shader};
use crate::tunnel::{RADIUS, Tunnel};

/// Everything that is needed for a picture.
pub struct Renderer {
    gl: Arc<glow::Context>,
    unpack: glow::Program,
    scene: glow::Program,
    array: glow::VertexArray,
    /// Both dyes, speed and vorticity, filtered.
    field: glow::Texture,
    field_target: glow::Framebuffer,
    cells: (i32, i32),
    picture: Picture,
}

impl Renderer {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, cells: (usize, usize), size: (u32, u32)) -> Result<Self> {
        let vertex = shader!("smoke/whole.vert");
        // SAFETY: the caller's.
        unsafe {
            let unpack = program(&gl, [vertex, shader!("smoke/unpack.frag")], &[])?;
            let scene = program(&gl, [vertex, shader!("smoke/scene.frag")], &[])?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let cells = (cells.0 as i32, cells.1 as i32);
            let (field, field_target) = field(&gl, cells, false)?;
            let picture = Picture::new(&gl, size, 1, false)?;
            Ok(Renderer { gl, unpack, scene, array, field, field_target, cells, picture })
        }
    }

    /// Pictures of another size from now on.
    pub fn resize(&mut self, size: (u32, u32)) {
        self.picture.resize(size);
    }

    /// Draws the tunnel for the window or to be read.
    fn draw(&self, tunnel: &Tunnel, to_window: bool) -> Result {
        let gl = &self.gl;
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
            plain_fragments(gl);
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

            let (w, h) = self.picture.begin();
            gl.use_program(Some(self.scene));
            let at = |name: &str| gl.get_uniform_location(self.scene, name);
            gl.bind_texture(d2, Some(self.field));
            let [x, y] = tunnel.disc;
            gl.uniform_1_i32(at("field").as_ref(), 0);
            gl.uniform_2_f32(at("size").as_ref(), w as f32, h as f32);
            gl.uniform_2_f32(at("cells").as_ref(), self.cells.0 as f32, self.cells.1 as f32);
            gl.uniform_3_f32(at("disc").as_ref(), x as f32, y as f32, RADIUS as f32);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            gl.bind_texture(d2, None);
            gl.bind_vertex_array(None);
            gl.use_program(None);
        }
        self.picture.finish(to_window);
        Ok(())
    }

    /// Draws the tunnel into the window's own framebuffer.
    pub fn show(&self, tunnel: &Tunnel) -> Result {
        self.draw(tunnel, true)
    }

    /// Draws the tunnel and reads the picture: three bytes a pixel, rows from the top.
    pub fn picture(&self, tunnel: &Tunnel) -> Result<Vec<u8>> {
        self.draw(tunnel, false)?;
        Ok(self.picture.read())
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
            gl.delete_framebuffer(self.field_target);
        }
    }
}
