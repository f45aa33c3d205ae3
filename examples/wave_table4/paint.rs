//! A picture of the surface, drawn by GL calls of the example's own from texla's textures.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;
use texla::Vector;

use crate::support::{Failure, Result, plain_fragments, program, read_rgb};

/// A triangle over the whole target.
const WHOLE: &str = "
    void main() { gl_Position = vec4(4.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0, 0.0, 1.0); }";

/// Four elements a texel, in natural order.
const OF_A_VECTOR: &str = "
    uniform sampler2D x;
    float height(ivec2 c) {
        int i = c.x + nodes.x * c.y;
        int width = textureSize(x, 0).x;
        return texelFetch(x, ivec2((i >> 2) % width, (i >> 2) / width), 0)[i & 3];
    }";

/// A pixel for each node.
pub struct Painter {
    gl: Arc<glow::Context>,
    size: i32,
    vector: glow::NativeProgram,
    array: glow::NativeVertexArray,
    colours: glow::NativeRenderbuffer,
    target: glow::NativeFramebuffer,
}

impl Painter {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, size: usize) -> Result<Self> {
        let size = size as i32;
        // SAFETY: the caller's.
        unsafe {
            let vector = painting(&gl, OF_A_VECTOR)?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let colours = gl.create_renderbuffer().map_err(Failure::unsolved)?;
            let target = gl.create_framebuffer().map_err(Failure::unsolved)?;
            gl.bind_renderbuffer(glow::RENDERBUFFER, Some(colours));
            gl.renderbuffer_storage(glow::RENDERBUFFER, glow::RGBA8, size, size);
            gl.bind_renderbuffer(glow::RENDERBUFFER, None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
            let (to, what) = (glow::COLOR_ATTACHMENT0, glow::RENDERBUFFER);
            gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, to, what, Some(colours));
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            Ok(Painter { gl, size, vector, array, colours, target })
        }
    }

    /// Draws the surface and leaves the picture on the device.
    pub fn paint(&self, heights: &Vector) {
        self.draw(self.vector, &[heights.texture()]);
    }

    fn draw(&self, with: glow::NativeProgram, textures: &[glow::NativeTexture]) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`; the textures live as long as what they are borrowed from.
        unsafe {
            plain_fragments(gl);
            gl.bind_vertex_array(Some(self.array));
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.target));
            gl.viewport(0, 0, self.size, self.size);
            gl.use_program(Some(with));
            let nodes = gl.get_uniform_location(with, "nodes");
            gl.uniform_2_i32(nodes.as_ref(), self.size, self.size);
            for (unit, texture) in (0..).zip(textures) {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_sampler(unit, None);
                gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
            }
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            for unit in 0..textures.len() as u32 {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_texture(glow::TEXTURE_2D, None);
            }
            gl.use_program(None);
            gl.bind_vertex_array(None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        }
    }

    /// The last picture: three bytes a pixel, rows from the top.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: the context is current, see `new`.
        unsafe { read_rgb(&self.gl, self.target, (self.size, self.size)) }
    }
}

/// # Safety
/// The context is current.
unsafe fn painting(gl: &glow::Context, height: &str) -> Result<glow::NativeProgram> {
    let fragment = format!("uniform ivec2 nodes;\n{height}\n{}", include_str!("heights.frag"));
    // SAFETY: the caller's.
    unsafe { program(gl, [WHOLE, &fragment], &[]) }
}

impl Drop for Painter {
    fn drop(&mut self) {
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            self.gl.delete_program(self.vector);
            self.gl.delete_vertex_array(self.array);
            self.gl.delete_renderbuffer(self.colours);
            self.gl.delete_framebuffer(self.target);
        }
    }
}
