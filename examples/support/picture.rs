//! What programs that draw with GL of their own share: the picture they draw into, finer than it is shown, and fields in
//! half floats that are filtered.
#![allow(unsafe_code)] // a host that calls GL

use std::sync::Arc;

use glow::HasContext;

use super::outcome::{Failure, Result};
use super::program::read_rgb;

/// A buffer to draw into, and one of the size that is shown.
pub struct Picture {
    gl: Arc<glow::Context>,
    drawn: glow::Framebuffer,
    shown: glow::Framebuffer,
    /// Of the first: colours and, for those who ask, depth; and the colours of the second.
    colours: glow::Renderbuffer,
    depth: Option<glow::Renderbuffer>,
    resolved: glow::Renderbuffer,
    size: (i32, i32),
    /// Pixels that are drawn to a side of a pixel that is shown.
    samples: i32,
}

impl Picture {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: &Arc<glow::Context>, size: (u32, u32), samples: u32, depth: bool) -> Result<Self> {
        // SAFETY: the caller's.
        unsafe {
            let renderbuffer = || gl.create_renderbuffer().map_err(Failure::unsolved);
            let framebuffer = || gl.create_framebuffer().map_err(Failure::unsolved);
            let mut made = Picture {
                gl: Arc::clone(gl),
                drawn: framebuffer()?,
                shown: framebuffer()?,
                colours: renderbuffer()?,
                depth: depth.then(renderbuffer).transpose()?,
                resolved: renderbuffer()?,
                size: (0, 0),
                samples: samples.max(1) as i32,
            };
            made.resize(size);
            let attach = |target, to, what| {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
                gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, to, glow::RENDERBUFFER, Some(what));
            };
            attach(made.drawn, glow::COLOR_ATTACHMENT0, made.colours);
            if let Some(depth) = made.depth {
                attach(made.drawn, glow::DEPTH_ATTACHMENT, depth);
            }
            attach(made.shown, glow::COLOR_ATTACHMENT0, made.resolved);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            Ok(made)
        }
    }

    /// Pictures of another size from now on.
    pub fn resize(&mut self, size: (u32, u32)) {
        let size = (size.0.max(1) as i32, size.1.max(1) as i32);
        if self.size == size {
            return;
        }
        self.size = size;
        let gl = &self.gl;
        let store = |buffer, format, scale: i32| {
            // SAFETY: the context is current, see `new`.
            unsafe {
                gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage(glow::RENDERBUFFER, format, scale * size.0, scale * size.1);
                gl.bind_renderbuffer(glow::RENDERBUFFER, None);
            }
        };
        store(self.colours, glow::RGBA8, self.samples);
        if let Some(depth) = self.depth {
            store(depth, glow::DEPTH_COMPONENT24, self.samples);
        }
        store(self.resolved, glow::RGBA8, 1);
    }

    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.size.0 as f32 / self.size.1 as f32
    }

    /// Draws go into the picture from now on; how many pixels it has.
    pub fn begin(&self) -> (i32, i32) {
        let (w, h) = (self.samples * self.size.0, self.samples * self.size.1);
        // SAFETY: the context is current, see `new`.
        unsafe {
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.drawn));
            self.gl.viewport(0, 0, w, h);
        }
        (w, h)
    }

    /// Brings what was drawn to the size that is shown: to the window, or to where it can be read.
    pub fn finish(&self, to_window: bool) {
        let (gl, (w, h)) = (&self.gl, self.size);
        // SAFETY: the context is current, see `new`.
        unsafe {
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.drawn));
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, (!to_window).then_some(self.shown));
            // Exactly halved, the linear filter is the mean of the samples.
            let (from, what) = ((self.samples * w, self.samples * h), glow::COLOR_BUFFER_BIT);
            gl.blit_framebuffer(0, 0, from.0, from.1, 0, 0, w, h, what, glow::LINEAR);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        }
    }

    /// What was finished last, but not to the window: three bytes a pixel, rows from the top.
    pub fn read(&self) -> Vec<u8> {
        // SAFETY: the context is current, see `new`.
        unsafe { read_rgb(&self.gl, self.shown, self.size) }
    }
}

impl Drop for Picture {
    fn drop(&mut self) {
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            for buffer in [Some(self.colours), self.depth, Some(self.resolved)].into_iter().flatten() {
                self.gl.delete_renderbuffer(buffer);
            }
            for target in [self.drawn, self.shown] {
                self.gl.delete_framebuffer(target);
            }
        }
    }
}

/// A texture of four half floats a cell, and a framebuffer around it; with smaller sizes for those who ask.
///
/// # Safety
/// The context is current.
pub unsafe fn field(
    gl: &glow::Context,
    (width, height): (i32, i32),
    mipmaps: bool,
) -> Result<(glow::Texture, glow::Framebuffer)> {
    // SAFETY: the caller's.
    unsafe {
        let texture = gl.create_texture().map_err(Failure::unsolved)?;
        let target = gl.create_framebuffer().map_err(Failure::unsolved)?;
        let d2 = glow::TEXTURE_2D;
        gl.active_texture(glow::TEXTURE0);
        gl.bind_texture(d2, Some(texture));
        let (none, format) = (glow::PixelUnpackData::Slice(None), glow::RGBA16F as i32);
        gl.tex_image_2d(d2, 0, format, width, height, 0, glow::RGBA, glow::HALF_FLOAT, none);
        if mipmaps {
            gl.generate_mipmap(d2);
        }
        for (name, value) in [
            (glow::TEXTURE_MIN_FILTER, if mipmaps { glow::LINEAR_MIPMAP_LINEAR } else { glow::LINEAR }),
            (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
            (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
            (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
        ] {
            gl.tex_parameter_i32(d2, name, value as i32);
        }
        gl.bind_texture(d2, None);
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
        gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, d2, Some(texture), 0);
        if gl.check_framebuffer_status(glow::FRAMEBUFFER) != glow::FRAMEBUFFER_COMPLETE {
            return Err(Failure::no_gl("pictures in half floats cannot be drawn here"));
        }
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        Ok((texture, target))
    }
}

/// Nothing but fragments: no tests, no blending, all channels.
///
/// # Safety
/// The context is current.
pub unsafe fn plain_fragments(gl: &glow::Context) {
    let tests = [glow::SCISSOR_TEST, glow::DEPTH_TEST, glow::STENCIL_TEST];
    // SAFETY: the caller's.
    unsafe {
        for cap in tests.into_iter().chain([glow::BLEND, glow::CULL_FACE, glow::DITHER]) {
            gl.disable(cap);
        }
        gl.color_mask(true, true, true, true);
    }
}
