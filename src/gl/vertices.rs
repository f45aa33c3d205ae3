//! Vertex buffers: owned by value, deleted through the graveyard when dropped.

use std::cell::Cell;

use glow::HasContext;

use super::context::Gl;
use super::graveyard::Dead;
use crate::error::{Error, Result};

/// The type of one vertex attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Attribute {
    /// Four floats.
    Vec4,
    /// Four unsigned integers.
    UVec4,
    /// One unsigned integer.
    UInt,
}

impl Attribute {
    pub const fn words(self) -> usize {
        match self {
            Attribute::Vec4 | Attribute::UVec4 => 4,
            Attribute::UInt => 1,
        }
    }

    pub const fn glsl(self) -> &'static str {
        match self {
            Attribute::Vec4 => "vec4",
            Attribute::UVec4 => "uvec4",
            Attribute::UInt => "uint",
        }
    }
}

/// Vertices as separate arrays, one buffer for each attribute, with the vertex array that reads them.
pub(crate) struct VertexBuffer {
    gl: Gl,
    array: glow::VertexArray,
    buffers: Vec<glow::Buffer>,
    attributes: Vec<Attribute>,
    count: usize,
    /// For how many instances each element serves (0: one for each vertex), and which is the first.
    reads: Cell<(u32, usize)>,
}

impl VertexBuffer {
    /// Attributes that GL 3.3 and ES 3.0 promise; asking for more leaves an error behind.
    pub const ATTRIBUTES: usize = 16;

    /// Uploads `words[i]` for `attributes[i]`; each slice holds `count` vertices.
    pub fn new(
        gl: &Gl,
        count: usize,
        attributes: &[Attribute],
        words: &[&[u32]],
        what: &'static str,
    ) -> Result<Self> {
        if attributes.len() > Self::ATTRIBUTES {
            let (requested, limit) = (attributes.len() as u64, Self::ATTRIBUTES as u64);
            return Err(Error::TooLarge { what, requested, limit, unit: "attributes" });
        }
        // Offsets into a buffer are 32-bit integers for glow.
        let widest = attributes.iter().map(|a| 4 * a.words()).max().unwrap_or(1);
        let limit = (i32::MAX as usize / widest) as u64;
        if count as u64 > limit {
            return Err(Error::TooLarge { what, requested: count as u64, limit, unit: "vertices" });
        }
        // SAFETY: the context is current inside a scope.
        let array = gl.made("vertex array", unsafe { gl.raw.create_vertex_array() })?;
        gl.ledger.change_live(|l| l.vertex_arrays += 1);
        let mut this = VertexBuffer {
            gl: gl.clone(),
            array,
            buffers: Vec::new(),
            attributes: attributes.to_vec(),
            count,
            reads: Cell::new((0, 0)),
        };
        gl.use_vertex_array(array);
        for (i, (attribute, data)) in attributes.iter().zip(words).enumerate() {
            // SAFETY: as above.
            let buffer = gl.made("buffer", unsafe { gl.raw.create_buffer() })?;
            gl.ledger.change_live(|l| l.buffers += 1);
            this.buffers.push(buffer);
            this.fill(i, data, what)?;
            // SAFETY: as above; `fill` left the buffer bound.
            unsafe {
                gl.raw.enable_vertex_attrib_array(i as u32);
                this.point_at(i as u32, *attribute, 0);
            }
        }
        gl.check(what)?;
        Ok(this)
    }

    /// Lets an attribute of the bound vertex array read the bound buffer from this element on.
    ///
    /// # Safety
    /// The context is current inside a scope.
    unsafe fn point_at(&self, index: u32, attribute: Attribute, first: usize) {
        let (raw, size) = (&self.gl.raw, attribute.words() as i32);
        // Buffers end at 2^31 bytes: see `new`.
        let offset = i32::try_from(4 * attribute.words() * first).unwrap_or(i32::MAX);
        // SAFETY: the caller's.
        unsafe {
            match attribute {
                Attribute::Vec4 => raw.vertex_attrib_pointer_f32(index, size, glow::FLOAT, false, 0, offset),
                _ => raw.vertex_attrib_pointer_i32(index, size, glow::UNSIGNED_INT, 0, offset),
            }
        }
    }

    /// Lets the next draw read one element for each vertex (`divisor` 0), or for each instance (1) from `first` on.
    pub fn advance(&self, divisor: u32, first: usize) -> Result<()> {
        if self.reads.get() == (divisor, first) {
            return Ok(());
        }
        self.gl.use_vertex_array(self.array);
        for ((i, attribute), buffer) in (0..).zip(&self.attributes).zip(&self.buffers) {
            // SAFETY: the context is current inside a scope, where no buffer of the host's is bound.
            unsafe {
                self.gl.raw.bind_buffer(glow::ARRAY_BUFFER, Some(*buffer));
                self.point_at(i, *attribute, first);
                self.gl.raw.vertex_attrib_divisor(i, divisor);
            }
        }
        self.reads.set((divisor, first));
        self.gl.check_work("vertices")
    }

    /// Uploads one attribute's array anew.
    pub fn fill(&self, attribute: usize, data: &[u32], what: &'static str) -> Result<()> {
        self.gl.refuse_recording("an upload of vertices");
        let Some(buffer) = self.buffers.get(attribute) else { return Ok(()) };
        let bytes: &[u8] = bytemuck::cast_slice(data);
        // SAFETY: the context is current inside a scope, where no buffer of the host's is bound.
        unsafe {
            self.gl.raw.bind_buffer(glow::ARRAY_BUFFER, Some(*buffer));
            self.gl.raw.buffer_data_u8_slice(glow::ARRAY_BUFFER, bytes, glow::STATIC_DRAW);
        }
        self.gl.ledger.count(|c| {
            c.uploads += 1;
            c.upload_bytes += bytes.len() as u64;
        });
        self.gl.check_memory(what, bytes.len())
    }

    pub fn array(&self) -> glow::VertexArray {
        self.array
    }

    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for VertexBuffer {
    fn drop(&mut self) {
        for buffer in self.buffers.drain(..) {
            self.gl.discard(Dead::Buffer(buffer));
        }
        self.gl.discard(Dead::VertexArray(self.array));
    }
}
