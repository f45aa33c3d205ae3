//! Buffers of numbers: what shaders read as uniform blocks, and the vertex stage writes by transform feedback.

use glow::HasContext;

use super::context::Gl;
use super::graveyard::Dead;
use super::objects::{Format, Texture};
use super::state::Filter;
use super::transfer::as_floats;
use crate::error::{Error, Result};
use crate::platform::BROWSER;
use crate::shape::Extent;

/// Bytes of a `vec4`: the unit in which buffers are read and written.
pub(crate) const VEC4_BYTES: usize = 16;

/// A buffer of whole `vec4`s.
pub(crate) struct DataBuffer {
    gl: Gl,
    raw: glow::Buffer,
    bytes: usize,
}

impl DataBuffer {
    /// The most `vec4`s: offsets are 32-bit integers for glow.
    pub const MOST: usize = i32::MAX as usize / VEC4_BYTES;

    /// Refuses a size past [`MOST`](Self::MOST), before anything is made.
    pub fn check_size(vec4s: usize, what: &'static str) -> Result<()> {
        if vec4s > Self::MOST {
            let (requested, limit) = (vec4s as u64, Self::MOST as u64);
            return Err(Error::TooLarge { what, requested, limit, unit: "vec4s in a buffer" });
        }
        Ok(())
    }

    /// Allocates at least one `vec4`; the contents are undefined. Needs an open scope, like everything here.
    pub fn new(gl: &Gl, vec4s: usize, what: &'static str) -> Result<Self> {
        Self::check_size(vec4s, what)?;
        let bytes = vec4s.max(1) * VEC4_BYTES;
        // SAFETY: the context is current inside a scope, where no buffer of the host's is bound.
        let buffer = unsafe {
            let raw = gl.made("buffer", gl.raw.create_buffer())?;
            gl.ledger.change_live(|l| l.buffers += 1);
            let buffer = DataBuffer { gl: gl.clone(), raw, bytes };
            gl.raw.bind_buffer(glow::ARRAY_BUFFER, Some(raw));
            gl.raw.buffer_data_size(glow::ARRAY_BUFFER, bytes as i32, glow::DYNAMIC_COPY);
            // A browser captures into no buffer that is bound elsewhere too.
            gl.raw.bind_buffer(glow::ARRAY_BUFFER, None);
            buffer
        };
        gl.check_memory(what, bytes)?;
        Ok(buffer)
    }

    /// Uploads `words` to the front.
    pub fn write(&self, words: &[u32], what: &'static str) -> Result<()> {
        self.gl.refuse_recording("an upload to a buffer");
        let data: &[u8] = bytemuck::cast_slice(words);
        // SAFETY: as above; the driver checks that the data fit.
        unsafe {
            self.gl.raw.bind_buffer(glow::ARRAY_BUFFER, Some(self.raw));
            self.gl.raw.buffer_sub_data_u8_slice(glow::ARRAY_BUFFER, 0, data);
            self.gl.raw.bind_buffer(glow::ARRAY_BUFFER, None);
        }
        self.gl.ledger.count(|c| {
            c.uploads += 1;
            c.upload_bytes += data.len() as u64;
        });
        self.gl.check_work(what).map_err(|e| of_memory(e, what, data.len()))
    }

    /// Everything, padding included; waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        self.gl.refuse_recording("a readback of a buffer");
        let out = self.gl.map_floats(self.raw, self.bytes)?;
        if BROWSER {
            self.gl.check("reading a buffer")?;
        }
        self.gl.ledger.count(|c| {
            c.readbacks += 1;
            c.readback_bytes += self.bytes as u64;
        });
        Ok(out)
    }

    /// Copies `bytes` bytes from one buffer to another; both ranges lie within their buffers.
    pub fn copy(&self, to: usize, source: &DataBuffer, from: usize, bytes: usize) -> Result<()> {
        self.gl.refuse_recording("a copy of a buffer");
        let raw = &self.gl.raw;
        // Bindings that every scope has taken from the host already serve as the two ends.
        let (here, there) = (glow::PIXEL_PACK_BUFFER, glow::ARRAY_BUFFER);
        // SAFETY: as above; sizes of buffers fit 32 bits.
        unsafe {
            raw.bind_buffer(here, Some(self.raw));
            raw.bind_buffer(there, Some(source.raw));
            raw.copy_buffer_sub_data(there, here, from as i32, to as i32, bytes as i32);
            raw.bind_buffer(here, None);
            raw.bind_buffer(there, None);
        }
        self.gl.ledger.count(|c| c.copies += 1);
        self.gl.check_work("copying a buffer")
    }

    /// Copies the first texels of an RGBA texture, as many as the buffer has `vec4`s.
    pub fn copy_texels(&self, texture: &Texture, vec4s: usize) -> Result<()> {
        self.gl.refuse_recording("a copy to a buffer");
        let raw = &self.gl.raw;
        let framebuffer = self.gl.framebuffer([texture.raw()], None, "copying a texture to a buffer")?;
        self.gl.use_framebuffer(framebuffer);
        self.gl.keep_fence();
        // SAFETY: as above; pack state is neutral, and the driver checks that the pixels fit the buffer.
        unsafe {
            raw.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(self.raw));
            for Rows { y, width, height, offset } in Rows::of(texture.extent(), vec4s) {
                let data = glow::PixelPackData::BufferOffset(offset);
                raw.read_pixels(0, y, width, height, glow::RGBA, glow::FLOAT, data);
            }
            raw.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
        }
        self.gl.ledger.count(|c| c.copies += 1);
        self.gl.check_work("copying a texture to a buffer")
    }

    /// Replaces the first texels of an RGBA texture, as many as the buffer has `vec4`s.
    pub fn fill_texels(&self, texture: &Texture, vec4s: usize) -> Result<()> {
        self.gl.refuse_recording("a copy from a buffer");
        let raw = &self.gl.raw;
        let (_, layout, kind) = Format::Rgba32F.gl();
        self.gl.bind_unit(0, texture.raw(), Filter::Nearest);
        self.gl.activate_unit(0);
        self.gl.keep_fence();
        // SAFETY: as above; unpack state is neutral, and the driver checks that the buffer holds the pixels.
        unsafe {
            raw.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(self.raw));
            for Rows { y, width, height, offset } in Rows::of(texture.extent(), vec4s) {
                let data = glow::PixelUnpackData::BufferOffset(offset);
                raw.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, y, width, height, layout, kind, data);
            }
            raw.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
        }
        self.gl.ledger.count(|c| c.copies += 1);
        self.gl.check_work("copying a buffer to a texture")
    }

    pub fn raw(&self) -> glow::Buffer {
        self.raw
    }
}

impl Drop for DataBuffer {
    fn drop(&mut self) {
        self.gl.discard(Dead::Buffer(self.raw));
    }
}

/// Texels in one rectangle, and where the first of them lies in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    y: i32,
    width: i32,
    height: i32,
    offset: u32,
}

impl Rows {
    /// The first `vec4s` texels, row by row: the full rows, and what is begun of the next.
    fn of(extent: Extent, vec4s: usize) -> impl Iterator<Item = Rows> {
        let width = extent.width.max(1) as usize;
        let (full, rest) = (vec4s / width, vec4s % width);
        // Texels of a texture that exists: rows and columns fit 32 bits, and so do bytes of a buffer.
        let offset = (full * width * VEC4_BYTES) as u32;
        let all = Rows { y: 0, width: width as i32, height: full as i32, offset: 0 };
        let last = Rows { y: full as i32, width: rest as i32, height: 1, offset };
        [all, last].into_iter().filter(|r| r.width > 0 && r.height > 0)
    }
}

/// An error after giving the driver `bytes` bytes.
pub(super) fn of_memory(error: Error, what: &'static str, bytes: usize) -> Error {
    match error {
        Error::Gl { code: glow::OUT_OF_MEMORY, .. } => {
            let extent = Extent::new(u32::try_from(bytes).unwrap_or(u32::MAX), 1);
            Error::OutOfMemory { what, extent, bytes: bytes as u64 }
        }
        other => other,
    }
}

impl Gl {
    /// [`check`](Gl::check) after giving the driver `bytes` bytes for a buffer.
    pub(super) fn check_memory(&self, what: &'static str, bytes: usize) -> Result<()> {
        self.check(what).map_err(|e| of_memory(e, what, bytes))
    }

    /// The floats of a buffer.
    pub(super) fn map_floats(&self, buffer: glow::Buffer, bytes: usize) -> Result<Vec<f32>> {
        // SAFETY: the context is current inside a scope, and the buffer has so many bytes.
        let found = unsafe {
            self.raw.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(buffer));
            let found = self.raw.packed(bytes);
            self.raw.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            found
        };
        match found {
            Some(found) => Ok(as_floats(&found)),
            None => {
                self.check_memory("mapping a buffer", bytes)?;
                Err(Error::ContextLost)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_cover_the_first_texels_once() {
        for (width, height) in [(1, 1), (1, 7), (4, 4), (8, 3)] {
            for vec4s in 0..=width * height {
                let mut covered = Vec::new();
                for r in Rows::of(Extent::new(width, height), vec4s as usize) {
                    let first = (r.y as u32) * width;
                    assert_eq!(r.offset, first * 16);
                    assert!(r.height == 1 || r.width as u32 == width);
                    covered.extend(first..first + (r.width * r.height) as u32);
                }
                assert_eq!(covered, (0..vec4s).collect::<Vec<_>>());
            }
        }
    }
}
