//! A picture to draw on with GL calls of the example's own, and how it is read.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;

use crate::support::{Failure, Result, read_rgb};

/// Samples a pixel; both dialects promise four.
const SAMPLES: i32 = 4;

/// A framebuffer with colour and depth, and one that it is resolved to.
pub struct Picture {
    gl: Arc<glow::Context>,
    size: (i32, i32),
    buffers: [glow::NativeRenderbuffer; 3],
    drawn: glow::NativeFramebuffer,
    resolved: glow::NativeFramebuffer,
}

impl Picture {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: &Arc<glow::Context>, size: (u32, u32)) -> Result<Self> {
        let (w, h) = (size.0 as i32, size.1 as i32);
        // SAFETY: the caller's.
        unsafe {
            let buffer = || gl.create_renderbuffer().map_err(Failure::unsolved);
            let target = || gl.create_framebuffer().map_err(Failure::unsolved);
            let buffers = [buffer()?, buffer()?, buffer()?];
            let (drawn, resolved) = (target()?, target()?);
            let kinds = [(glow::RGBA8, SAMPLES), (glow::DEPTH_COMPONENT24, SAMPLES), (glow::RGBA8, 0)];
            for (buffer, (format, samples)) in buffers.into_iter().zip(kinds) {
                gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage_multisample(glow::RENDERBUFFER, samples, format, w, h);
            }
            gl.bind_renderbuffer(glow::RENDERBUFFER, None);
            let places = [
                (drawn, glow::COLOR_ATTACHMENT0, buffers[0]),
                (drawn, glow::DEPTH_ATTACHMENT, buffers[1]),
                (resolved, glow::COLOR_ATTACHMENT0, buffers[2]),
            ];
            for (target, place, buffer) in places {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
                gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, place, glow::RENDERBUFFER, Some(buffer));
            }
            let status = gl.check_framebuffer_status(glow::FRAMEBUFFER);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            if status != glow::FRAMEBUFFER_COMPLETE {
                return Err(Failure::no_gl("pictures of 8 bits a channel cannot be drawn here"));
            }
            Ok(Picture { gl: Arc::clone(gl), size: (w, h), buffers, drawn, resolved })
        }
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.size.0 as f32 / self.size.1 as f32
    }

    /// Draws on an empty picture and reads it: three bytes a pixel, rows from the top.
    ///
    /// # Safety
    /// As for [`new`](Self::new); `draw` calls GL for which the same holds.
    pub unsafe fn draw(&self, background: [f32; 3], draw: impl FnOnce(&glow::Context)) -> Vec<u8> {
        let (gl, (w, h)) = (&self.gl, self.size);
        // SAFETY: the caller's.
        unsafe {
            for cap in [glow::SCISSOR_TEST, glow::BLEND, glow::STENCIL_TEST, glow::CULL_FACE, glow::DITHER] {
                gl.disable(cap);
            }
            gl.enable(glow::DEPTH_TEST);
            gl.depth_func(glow::LEQUAL);
            gl.depth_mask(true);
            gl.color_mask(true, true, true, true);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.drawn));
            gl.viewport(0, 0, w, h);
            let [r, g, b] = background;
            gl.clear_color(r, g, b, 1.0);
            gl.clear_depth_f32(1.0);
            gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
            draw(gl);
            gl.bind_vertex_array(None);
            gl.use_program(None);
            gl.disable(glow::DEPTH_TEST);
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.drawn));
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(self.resolved));
            gl.blit_framebuffer(0, 0, w, h, 0, 0, w, h, glow::COLOR_BUFFER_BIT, glow::NEAREST);
            read_rgb(gl, self.resolved, self.size)
        }
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            self.buffers.iter().for_each(|buffer| gl.delete_renderbuffer(*buffer));
            [self.drawn, self.resolved].iter().for_each(|target| gl.delete_framebuffer(*target));
        }
    }
}

/// A vertex array and the buffers that it reads of the example's own.
pub struct Geometry {
    gl: Arc<glow::Context>,
    array: glow::NativeVertexArray,
    buffers: Vec<glow::NativeBuffer>,
}

impl Geometry {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: &Arc<glow::Context>) -> Result<Self> {
        // SAFETY: the caller's.
        let array = unsafe { gl.create_vertex_array() }.map_err(Failure::unsolved)?;
        Ok(Geometry { gl: Arc::clone(gl), array, buffers: Vec::new() })
    }

    pub fn array(&self) -> glow::NativeVertexArray {
        self.array
    }

    /// A new buffer with these bytes, bound to `target` while the vertex array is bound.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub unsafe fn buffer(&mut self, target: u32, bytes: &[u8]) -> Result<glow::NativeBuffer> {
        let gl = &self.gl;
        // SAFETY: the caller's.
        unsafe {
            let buffer = gl.create_buffer().map_err(Failure::unsolved)?;
            self.buffers.push(buffer);
            gl.bind_vertex_array(Some(self.array));
            gl.bind_buffer(target, Some(buffer));
            gl.buffer_data_u8_slice(target, bytes, glow::DYNAMIC_DRAW);
            Ok(buffer)
        }
    }
}

impl Drop for Geometry {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            gl.delete_vertex_array(self.array);
            for buffer in &self.buffers {
                gl.delete_buffer(*buffer);
            }
        }
    }
}
