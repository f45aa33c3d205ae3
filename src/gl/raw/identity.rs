//! Which context is current: asked of GL itself, since an application's platform is not known here, and in questions that are an
//! error in no context, since another one may have been made to raise none (`GL_KHR_no_error`).
//!
//! Framebuffers are never shared between contexts. One of texla's, which nothing is drawn to, carries a number that no other has: its
//! attachments are layers of a texture array, whose numbers can be asked for.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use glow::HasContext;

use super::{Place, Raw};
use crate::error::{Error, Result};
use crate::gl::context::GlInner;

/// The framebuffer of one context. Names, which another context may have for other objects.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    framebuffer: glow::Framebuffer,
    texture: glow::Texture,
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
fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let copy = (&raw const NEXT as usize >> 2) as u32;
    NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(copy)
}

impl Raw {
    /// Marks the current context. A failure leaves nothing behind.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn mark(&self) -> std::result::Result<(), String> {
        // SAFETY: the caller's; every version has the functions, and binds what it has told.
        unsafe {
            let framebuffer = self.create_framebuffer()?;
            let texture = self.create_texture().inspect_err(|_| self.delete_framebuffer(framebuffer))?;
            let mark = Mark { framebuffer, texture, number: next() };
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
            self.mark.set(Some(mark));
            if self.is_marked() {
                return Ok(());
            }
            self.unmark();
        }
        Err("it does not keep which layers of a texture are attached".into())
    }

    /// Deletes what [`mark`](Self::mark) has made.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn unmark(&self) {
        let Some(Mark { framebuffer, texture, .. }) = self.mark.get() else { return };
        // SAFETY: the caller's; both are ours.
        unsafe {
            self.delete_framebuffer(framebuffer);
            self.delete_texture(texture);
        }
    }

    /// Whether the current context is the one with our mark. Any context may be current, or none.
    fn is_marked(&self) -> bool {
        let Some(mark) = self.mark.get() else { return false };
        // SAFETY: every version has the functions. The name is asked for before it is bound, the kind of an attachment before its
        // layer: that is legal in every context.
        unsafe {
            if !self.is_framebuffer(mark.framebuffer) {
                return false;
            }
            let bound = self.bound(glow::READ_FRAMEBUFFER_BINDING);
            self.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(mark.framebuffer));
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
        if self.raw.is_marked() {
            return Ok(());
        }
        // A lost context denies what it has, and says that it is lost. In another one a pending error goes by this question.
        // SAFETY: every version has the function.
        match unsafe { self.raw.error() } {
            glow::CONTEXT_LOST => Err(self.lose()),
            _ => Err(Error::NoContext(
                "the current context is not the one that the device was made in; make that one current"
                    .into(),
            )),
        }
    }

    /// Whether the current context, whoever has made it so, is the one that the device was made in.
    pub(super) fn is_here(&self) -> bool {
        !self.lost.get() && self.raw.is_marked()
    }
}
