//! The one upload and the one readback: at once (waits for the device) or through a pixel buffer whose fence is
//! polled.

use glow::{HasContext, PixelPackData, PixelUnpackData};

use super::buffer::of_memory;
use super::context::Gl;
use super::graveyard::Dead;
use super::objects::{Format, Texture};
use super::state::Filter;
use crate::error::{Error, Result};
use crate::platform::BROWSER;
use crate::shape::Extent;

/// Bytes as they come from the device, wherever they lie.
pub(super) fn as_floats(bytes: &[u8]) -> Vec<f32> {
    let mut out = vec![0.0f32; bytes.len() / 4];
    bytemuck::cast_slice_mut::<f32, u8>(&mut out).copy_from_slice(bytes);
    out
}

impl Gl {
    /// Writes `words` (row by row from the origin, channels interleaved) into the whole texture.
    pub fn upload(&self, texture: &Texture, words: &[u32], what: &'static str) -> Result<()> {
        self.refuse_recording("an upload");
        let Extent { width, height } = texture.extent();
        let (_, format, kind) = texture.format().gl();
        self.bind_unit(0, texture.raw(), Filter::Nearest);
        self.activate_unit(0);
        self.keep_fence();
        let bytes: &[u8] = bytemuck::cast_slice(words);
        // SAFETY: the context is current inside a scope, unpack state is neutral, and the slice covers the region
        // (checked by the only caller, which sizes it from the same extent).
        unsafe {
            let data = PixelUnpackData::Slice(Some(bytes));
            let (w, h) = (width as i32, height as i32);
            self.raw.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, w, h, format, kind, data);
        }
        self.ledger.count(|c| {
            c.uploads += 1;
            c.upload_bytes += bytes.len() as u64;
        });
        self.check_work(what)
    }

    fn bind_for_read(&self, texture: &Texture, what: &'static str) -> Result<()> {
        self.refuse_recording("a readback");
        let framebuffer = self.framebuffer([texture.raw()], None, what)?;
        self.use_framebuffer(framebuffer);
        self.keep_fence();
        Ok(())
    }

    /// Reads the whole texture; waits until the device has finished it.
    pub fn read(&self, texture: &Texture, what: &'static str) -> Result<Vec<f32>> {
        self.read_region(texture, [0, 0], texture.extent(), what)
    }

    /// Reads the rectangle of this extent at `[x, y]`, which lies within the texture; waits as [`read`](Self::read).
    pub fn read_region(
        &self,
        texture: &Texture,
        [x, y]: [u32; 2],
        extent: Extent,
        what: &'static str,
    ) -> Result<Vec<f32>> {
        let mut out = vec![0.0f32; extent.area() as usize * 4];
        self.read_texels(texture, ([x, y], extent), glow::FLOAT, bytemuck::cast_slice_mut(&mut out), what)?;
        Ok(match texture.format() {
            Format::Rgba32F => out,
            // One-channel textures come back as (r, 0, 0, 1): keep the first of each four.
            _ => out.chunks(4).filter_map(|t| t.first().copied()).collect(),
        })
    }

    /// Reads a texture whose channels are from 0 to 1, in four bytes a texel; waits as [`read`](Self::read).
    pub fn read_bytes(&self, texture: &Texture, what: &'static str) -> Result<Vec<u8>> {
        let extent = texture.extent();
        let mut out = vec![0; extent.area() as usize * 4];
        self.read_texels(texture, ([0, 0], extent), glow::UNSIGNED_BYTE, &mut out, what)?;
        Ok(out)
    }

    /// Fills the slice with four numbers of this type a texel.
    fn read_texels(
        &self,
        texture: &Texture,
        ([x, y], extent): ([u32; 2], Extent),
        kind: u32,
        bytes: &mut [u8],
        what: &'static str,
    ) -> Result<()> {
        let Extent { width, height } = extent;
        self.bind_for_read(texture, what)?;
        let length = bytes.len() as u64;
        // SAFETY: the context is current inside a scope, pack state is neutral, and four channels of the extent fill the slice
        // exactly: the two callers size it so.
        unsafe {
            let data = PixelPackData::Slice(Some(bytes));
            let (x, y, w, h) = (x as i32, y as i32, width as i32, height as i32);
            self.raw.read_pixels(x, y, w, h, glow::RGBA, kind, data);
        }
        self.ledger.count(|c| {
            c.readbacks += 1;
            c.readback_bytes += length;
        });
        self.check(what)
    }

    /// Starts a copy of the texture into a pixel buffer and puts a fence behind it.
    pub fn read_later(&self, texture: &Texture, what: &'static str) -> Result<PendingPixels> {
        let Extent { width, height } = texture.extent();
        let texels = texture.extent().area() as usize;
        let bytes = texels * 16;
        let Ok(size) = i32::try_from(bytes) else {
            let limit = i32::MAX as u64;
            return Err(Error::TooLarge {
                what,
                requested: bytes as u64,
                limit,
                unit: "bytes in a pixel buffer",
            });
        };
        self.bind_for_read(texture, what)?;
        // SAFETY: the context is current inside a scope; the pack buffer binding is in the state table.
        unsafe {
            let buffer = self.made("buffer", self.raw.create_buffer())?;
            self.ledger.change_live(|l| l.buffers += 1);
            let mut pending = PendingPixels {
                gl: self.clone(),
                buffer,
                fence: None,
                bytes,
                channels: texture.format().channels(),
            };
            self.raw.bind_buffer(glow::PIXEL_PACK_BUFFER, Some(buffer));
            self.raw.buffer_data_size(glow::PIXEL_PACK_BUFFER, size, glow::STREAM_READ);
            // Before anything is written to it: into a buffer without memory that is an error of its own.
            if let Err(e) = self.check_memory(what, bytes) {
                self.raw.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
                return Err(e);
            }
            let data = PixelPackData::BufferOffset(0);
            self.raw.read_pixels(0, 0, width as i32, height as i32, glow::RGBA, glow::FLOAT, data);
            self.raw.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            let fence = self.made("fence", self.raw.fence())?;
            self.ledger.change_live(|l| l.fences += 1);
            pending.fence = Some(fence);
            self.raw.flush();
            self.ledger.count(|c| {
                c.async_checks += 1;
                c.readback_bytes += bytes as u64;
            });
            self.check_work(what).map_err(|e| of_memory(e, what, bytes))?;
            Ok(pending)
        }
    }
}

/// Pixels on their way to the host.
pub(crate) struct PendingPixels {
    gl: Gl,
    buffer: glow::Buffer,
    fence: Option<glow::Fence>,
    bytes: usize,
    channels: usize,
}

impl PendingPixels {
    /// Looks whether the copy is done, for at most `wait_ns`; does not wait with 0. Needs an open scope.
    pub fn ready(&self, wait_ns: i32) -> Result<bool> {
        let Some(fence) = self.fence else { return Ok(true) };
        // A browser changes no fence before the task has ended: who would wait takes, and that waits for the device.
        if BROWSER && wait_ns > 0 {
            return Ok(true);
        }
        // SAFETY: the context is current inside a scope.
        match unsafe { self.gl.raw.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, wait_ns) } {
            glow::ALREADY_SIGNALED | glow::CONDITION_SATISFIED => Ok(true),
            glow::TIMEOUT_EXPIRED => Ok(false),
            _ => {
                self.gl.check("waiting for a fence")?;
                Err(Error::ContextLost)
            }
        }
    }

    /// The pixels, once [`ready`](Self::ready) has said so. Needs an open scope.
    pub fn take(&self) -> Result<Vec<f32>> {
        self.gl.refuse_recording("a value read back");
        let out = self.gl.map_floats(self.buffer, self.bytes)?;
        Ok(if self.channels == 4 { out } else { out.chunks(4).filter_map(|t| t.first().copied()).collect() })
    }
}

impl Drop for PendingPixels {
    fn drop(&mut self) {
        self.gl.discard(Dead::Buffer(self.buffer));
        if let Some(fence) = self.fence.take() {
            self.gl.discard(Dead::Fence(fence));
        }
    }
}
