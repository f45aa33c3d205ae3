//! Which context is current: asked of GL itself, since an application's platform is not known here, and in questions that are legal
//! in every context, since another one may have been made to raise no errors (`GL_KHR_no_error`).
//!
//! Vertex arrays are never shared between contexts. texla's own carries a number that no other has, where no draw looks: the divisor
//! of its last attribute, which stays disabled. Whether there is a vertex array of that name `glIsVertexArray` says; glow has no such
//! function, and so without a loader a framebuffer says so instead. It carries the same number: its attachments are layers of a texture
//! array. Drivers may share it within a share group, whose contexts are of one kind: if ours raises errors, so do they.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use glow::HasContext;

use super::{Place, Raw};
use crate::error::{Error, Result};
use crate::gl::context::{GlInner, take_error};
use crate::gl::entry::IsObject;
use crate::gl::vertices::VertexBuffer;

/// The attribute whose divisor is the number.
const PLACE: u32 = VertexBuffer::ATTRIBUTES as u32 - 1;

/// What tells one context from others: names, which another context may have for other objects, and the number.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    array: glow::VertexArray,
    /// Where `glIsVertexArray` is not known.
    framebuffer: Option<(glow::Framebuffer, glow::Texture)>,
    number: u32,
}

/// The attachments, each with so many bits of the number: GL promises four of them, and 256 layers.
const ATTACHMENTS: [u32; 3] = [glow::COLOR_ATTACHMENT0, glow::COLOR_ATTACHMENT1, glow::COLOR_ATTACHMENT2];
const BITS: u32 = 8;

impl Mark {
    /// The layer that stands for the bits of the attachment with this index.
    fn layer(self, index: usize) -> i32 {
        (self.number >> (BITS * index as u32) & ((1 << BITS) - 1)) as i32
    }
}

/// A number that no other device of this process has, also one of another copy of texla: counted from where the counter lies.
/// It has 24 bits, which a float holds: glow asks for attributes as floats.
fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let copy = (&raw const NEXT as usize >> 2) as u32;
    NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(copy) & 0x00ff_ffff
}

impl Raw {
    /// Numbers a vertex array that has just been made; without `glIsVertexArray` also a framebuffer. A failure leaves nothing behind.
    ///
    /// # Safety
    /// The context is current, and the vertex array its own.
    pub unsafe fn mark(
        &self,
        array: glow::VertexArray,
        is_array: Option<IsObject>,
    ) -> std::result::Result<(), String> {
        let number = next();
        // SAFETY: the caller's; every version has the query and the function.
        unsafe {
            let bound = self.bound(glow::VERTEX_ARRAY_BINDING);
            self.bind_vertex_array(Some(array));
            self.vertex_attrib_divisor(PLACE, number);
            self.bind(Place::VertexArray, &bound);
        }
        let mut mark = Mark { array, framebuffer: None, number };
        if is_array.is_none() {
            // SAFETY: the caller's.
            mark.framebuffer = Some(unsafe { self.numbered_framebuffer(&mark) }?);
        }
        self.mark.set(Some(mark));
        if self.is_marked(is_array) {
            return Ok(());
        }
        // SAFETY: the caller's.
        unsafe { self.unmark() };
        Err("it does not keep which layers of a texture are attached".into())
    }

    /// # Safety
    /// The context is current.
    unsafe fn numbered_framebuffer(
        &self,
        mark: &Mark,
    ) -> std::result::Result<(glow::Framebuffer, glow::Texture), String> {
        // SAFETY: the caller's; every version has the functions.
        unsafe {
            let framebuffer = self.create_framebuffer()?;
            let texture = self.create_texture().inspect_err(|_| self.delete_framebuffer(framebuffer))?;
            let array = NonZeroU32::new(self.get_parameter_i32(glow::TEXTURE_BINDING_2D_ARRAY) as u32);
            // Bound for the first time, a name becomes a texture of this kind.
            self.bind_texture(glow::TEXTURE_2D_ARRAY, Some(texture));
            self.bind_texture(glow::TEXTURE_2D_ARRAY, array.map(glow::NativeTexture));
            let bound = self.bound(glow::READ_FRAMEBUFFER_BINDING);
            self.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(framebuffer));
            for (i, at) in ATTACHMENTS.into_iter().enumerate() {
                let (target, layer) = (glow::READ_FRAMEBUFFER, mark.layer(i));
                self.framebuffer_texture_layer(target, at, Some(texture), 0, layer);
            }
            self.bind(Place::Framebuffer(glow::READ_FRAMEBUFFER), &bound);
            Ok((framebuffer, texture))
        }
    }

    /// Deletes what [`mark`](Self::mark) has made; says how many framebuffers, and textures, that were.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn unmark(&self) -> u64 {
        let Some((framebuffer, texture)) = self.mark.take().and_then(|mark| mark.framebuffer) else {
            return 0;
        };
        // SAFETY: the caller's; both are ours.
        unsafe {
            self.delete_framebuffer(framebuffer);
            self.delete_texture(texture);
        }
        1
    }

    /// How many framebuffers, and textures, there are to tell the context from others.
    pub fn marks(&self) -> u64 {
        u64::from(self.mark.get().is_some_and(|mark| mark.framebuffer.is_some()))
    }

    /// Whether the current context is the one with our mark. Any context may be current, or none.
    fn is_marked(&self, is_array: Option<IsObject>) -> bool {
        let Some(mark) = self.mark.get() else { return false };
        let is_there = match (is_array, mark.framebuffer) {
            // SAFETY: a function of GL's that may be called with any name.
            (Some(is_array), _) => unsafe { is_array(mark.array.0.get()) != 0 },
            (None, Some((framebuffer, _))) => self.is_numbered_framebuffer(&mark, framebuffer),
            (None, None) => false,
        };
        is_there && self.is_numbered_array(&mark)
    }

    fn is_numbered_array(&self, mark: &Mark) -> bool {
        let mut found = [-1.0];
        // SAFETY: every version has the functions; the name is a vertex array's, or one of a context that raises errors.
        unsafe {
            let bound = self.bound(glow::VERTEX_ARRAY_BINDING);
            self.bind_vertex_array(Some(mark.array));
            if self.get_parameter_i32(glow::VERTEX_ARRAY_BINDING) as u32 == mark.array.0.get() {
                let divisor = glow::VERTEX_ATTRIB_ARRAY_DIVISOR;
                self.get_vertex_attrib_parameter_f32_slice(PLACE, divisor, &mut found);
                self.bind(Place::VertexArray, &bound);
            }
        }
        found == [mark.number as f32]
    }

    fn is_numbered_framebuffer(&self, mark: &Mark, framebuffer: glow::Framebuffer) -> bool {
        // SAFETY: every version has the functions. The name is asked for before it is bound, the kind of an attachment before its
        // layer: that is legal in every context.
        unsafe {
            if !self.is_framebuffer(framebuffer) {
                return false;
            }
            let bound = self.bound(glow::READ_FRAMEBUFFER_BINDING);
            self.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(framebuffer));
            let ask =
                |at, what| self.get_framebuffer_attachment_parameter_i32(glow::READ_FRAMEBUFFER, at, what);
            let found = ATTACHMENTS.into_iter().enumerate().all(|(i, at)| {
                ask(at, glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 == glow::TEXTURE
                    && ask(at, glow::FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER) == mark.layer(i)
            });
            self.bind(Place::Framebuffer(glow::READ_FRAMEBUFFER), &bound);
            found
        }
    }
}

impl GlInner {
    /// Refuses another context than the one that the device was made in, whose state stays as it was.
    pub(in crate::gl) fn check_current(&self) -> Result<()> {
        if self.raw.is_marked(self.entry.is_vertex_array) {
            return Ok(());
        }
        // A lost context denies what it has, and says that it is lost. In another one a pending error goes by this question.
        // SAFETY: every version has the function.
        match unsafe { take_error(&self.raw) } {
            glow::CONTEXT_LOST => Err(self.lose()),
            _ => Err(Error::NoContext(
                "the current context is not the one that the device was made in; make that one current"
                    .into(),
            )),
        }
    }

    /// Whether the current context, whoever has made it so, is the one that the device was made in.
    pub(super) fn is_here(&self) -> bool {
        !self.lost.get() && self.raw.is_marked(self.entry.is_vertex_array)
    }
}
