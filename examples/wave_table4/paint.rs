//! A picture of the surface, drawn by GL calls of the example's own from texla's textures.
#![allow(unsafe_code)] // an application that calls GL

use std::cell::RefCell;
use std::sync::Arc;

use glow::HasContext;
use texla::Vector;
use texla::solve::BlockVector;

use crate::support::{Failure, Result, plain_fragments, program, read_rgb};

/// A triangle over the whole target.
const WHOLE: &str = "
    void main() { gl_Position = vec4(4.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0, 0.0, 1.0); }";

/// Four elements a texel, in natural order.
const OF_A_VECTOR: &str = "
    uniform sampler2D x0;
    float height(ivec2 c) {
        int i = c.x + nodes.x * c.y;
        int width = textureSize(x0, 0).x;
        return texelFetch(x0, ivec2((i >> 2) % width, (i >> 2) / width), 0)[i & 3];
    }";

/// The quads of pieces of lines, each in a texture of its own or in a rectangle of one.
fn of_blocks(v: &BlockVector) -> (String, usize) {
    let n = v.order().unknowns();
    let list = |all: Vec<String>| all.join(", ");
    let places = list((0..n).map(|i| v.order().position(i).to_string()).collect());
    let quads: Vec<_> = (0..).map_while(|k| v.texture(k)).collect();
    let count = quads.len();
    let origins =
        list(quads.iter().map(|quad| format!("ivec2({}, {})", quad.origin[0], quad.origin[1])).collect());
    let shared = count > 1 && quads.iter().all(|quad| quad.texture == quads[0].texture);
    let textures = if shared { 1 } else { count };
    let samplers: String = (0..textures).map(|k| format!("    uniform sampler2D x{k};\n")).collect();
    // Of several textures each is fetched from where devices have no branches.
    let fetched: String = (1..textures).map(|k| format!("k == {k} ? texelFetch(x{k}, q, 0) : ")).collect();
    let text = format!(
        "{samplers}
    const int places[{n}] = int[{n}]({places});
    const ivec2 origins[{count}] = ivec2[{count}]({origins});
    float height(ivec2 c) {{
        int piece = c.x / {n};
        int p = places[c.x - {n} * piece];
        int k = p >> 2;
        ivec2 q = ivec2(piece, c.y) + origins[k];
        vec4 texel = {fetched}texelFetch(x0, q, 0);
        return texel[p & 3];
    }}"
    );
    (text, textures)
}

/// A way to draw from so many textures.
#[derive(Clone, Copy, Debug)]
pub struct Painting {
    program: glow::NativeProgram,
    textures: usize,
}

/// A pixel for each node.
pub struct Painter {
    gl: Arc<glow::Context>,
    size: i32,
    paintings: RefCell<Vec<Painting>>,
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
            Ok(Painter { gl, size, paintings: RefCell::default(), array, colours, target })
        }
    }

    /// For vectors in natural order.
    pub fn of_vectors(&self) -> Result<Painting> {
        self.painting(OF_A_VECTOR, 1)
    }

    /// For vectors of the same blocks as this one.
    pub fn of_blocks(&self, v: &BlockVector) -> Result<Painting> {
        let (height, textures) = of_blocks(v);
        self.painting(&height, textures)
    }

    fn painting(&self, height: &str, textures: usize) -> Result<Painting> {
        let fragment = format!("uniform ivec2 nodes;\n{height}\n{}", include_str!("heights.frag"));
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`.
        let made = unsafe {
            let made = program(gl, [WHOLE, &fragment], &[])?;
            gl.use_program(Some(made));
            let at = |name: &str| gl.get_uniform_location(made, name);
            gl.uniform_2_i32(at("nodes").as_ref(), self.size, self.size);
            (0..textures as i32).for_each(|k| gl.uniform_1_i32(at(&format!("x{k}")).as_ref(), k));
            gl.use_program(None);
            Painting { program: made, textures }
        };
        self.paintings.borrow_mut().push(made);
        Ok(made)
    }

    /// Draws the surface and leaves the picture on the device.
    pub fn paint(&self, how: Painting, heights: &Vector) {
        self.draw(how, std::iter::once(heights.texture()));
    }

    /// The same, straight from the blocks' textures.
    pub fn paint_blocks(&self, how: Painting, heights: &BlockVector) {
        self.draw(how, (0..).map_while(|quad| heights.texture(quad)).map(|quad| quad.texture));
    }

    fn draw(&self, how: Painting, textures: impl Iterator<Item = glow::NativeTexture>) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`; the textures live as long as what they are borrowed from.
        unsafe {
            plain_fragments(gl);
            gl.bind_vertex_array(Some(self.array));
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.target));
            gl.viewport(0, 0, self.size, self.size);
            gl.use_program(Some(how.program));
            for (unit, texture) in (0..).zip(textures.take(how.textures)) {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_sampler(unit, None);
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            }
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            for unit in 0..how.textures as u32 {
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

impl Drop for Painter {
    fn drop(&mut self) {
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            self.paintings.borrow().iter().for_each(|painting| self.gl.delete_program(painting.program));
            self.gl.delete_vertex_array(self.array);
            self.gl.delete_renderbuffer(self.colours);
            self.gl.delete_framebuffer(self.target);
        }
    }
}
