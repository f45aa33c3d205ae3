//! Framebuffers, made when they are first drawn to and kept by what is attached to them.

use std::hash::{Hash, Hasher};

use glow::HasContext;
use rustc_hash::FxHashMap;

use super::context::{Gl, GlInner};
use crate::error::{Error, Result};

/// Attached colour textures in draw-buffer order, and the depth texture.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    colours: [Option<glow::Texture>; COLOURS],
    depth: Option<glow::Texture>,
}

/// By the first texture and the depth: few share both, and every draw hashes one.
impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, ..] = self.colours;
        (first, self.depth).hash(state);
    }
}

/// Most colour attachments that are used.
pub(super) const COLOURS: usize = 8;

/// Most framebuffers kept; the least recently used one goes first.
const FRAMEBUFFERS_KEPT: usize = 96;

/// With the time of their last use.
pub(super) type Framebuffers = FxHashMap<Key, (glow::Framebuffer, u64)>;

impl Gl {
    /// The framebuffer with these attachments, made and checked for completeness on first use.
    pub fn framebuffer(
        &self,
        colours: impl IntoIterator<Item = glow::Texture>,
        depth: Option<glow::Texture>,
        what: &str,
    ) -> Result<glow::Framebuffer> {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        let mut key = Key { colours: [None; COLOURS], depth };
        key.colours.iter_mut().zip(colours).for_each(|(place, colour)| *place = Some(colour));
        self.reset_attached(key.colours.into_iter().flatten());
        if let Some((framebuffer, used)) = self.framebuffers.borrow_mut().get_mut(&key) {
            *used = now;
            return Ok(*framebuffer);
        }
        self.drop_oldest_framebuffer();
        let framebuffer = self.make_framebuffer(&key, what)?;
        self.framebuffers.borrow_mut().insert(key, (framebuffer, now));
        Ok(framebuffer)
    }

    fn make_framebuffer(&self, key: &Key, what: &str) -> Result<glow::Framebuffer> {
        let gl = &self.raw;
        let Key { colours, depth } = key;
        // SAFETY: the context is current; both framebuffer bindings are in the state table and the shadow is told.
        unsafe {
            let framebuffer = self.made("framebuffer", gl.create_framebuffer())?;
            self.ledger.change_live(|l| l.framebuffers += 1);
            self.use_framebuffer(framebuffer);
            let mut buffers = Vec::new();
            for (i, colour) in colours.iter().flatten().enumerate() {
                let attachment = glow::COLOR_ATTACHMENT0 + i as u32;
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, attachment, glow::TEXTURE_2D, Some(*colour), 0);
                buffers.push(attachment);
            }
            if depth.is_some() {
                gl.framebuffer_texture_2d(
                    glow::FRAMEBUFFER,
                    glow::DEPTH_ATTACHMENT,
                    glow::TEXTURE_2D,
                    *depth,
                    0,
                );
            }
            if buffers.is_empty() {
                buffers.push(glow::NONE);
            }
            gl.draw_buffers(&buffers);
            let read = if colours.iter().all(Option::is_none) { glow::NONE } else { glow::COLOR_ATTACHMENT0 };
            gl.read_buffer(read);
            let status = gl.check_framebuffer_status(glow::FRAMEBUFFER);
            if status != glow::FRAMEBUFFER_COMPLETE {
                gl.bind_framebuffer(glow::FRAMEBUFFER, None);
                self.shadow.borrow_mut().framebuffer = None;
                gl.delete_framebuffer(framebuffer);
                self.ledger.change_live(|l| l.framebuffers -= 1);
                self.check(what)?;
                return Err(Error::IncompleteFramebuffer { what: what.to_owned(), status });
            }
            Ok(framebuffer)
        }
    }

    fn drop_oldest_framebuffer(&self) {
        let mut framebuffers = self.framebuffers.borrow_mut();
        if framebuffers.len() < FRAMEBUFFERS_KEPT {
            return;
        }
        let oldest = framebuffers.iter().min_by_key(|(_, (_, used))| *used).map(|(key, _)| *key);
        if let Some((framebuffer, _)) = oldest.and_then(|key| framebuffers.remove(&key)) {
            drop(framebuffers);
            self.delete_framebuffer(framebuffer);
        }
    }
}

impl GlInner {
    /// Deletes all cached framebuffers; they come back on use.
    pub fn trim_framebuffers(&self) {
        let all: Vec<_> =
            self.framebuffers.borrow_mut().drain().map(|(_, (framebuffer, _))| framebuffer).collect();
        for framebuffer in all {
            self.delete_framebuffer(framebuffer);
        }
    }

    /// Deletes those that hold one of these textures.
    pub fn drop_framebuffers_of(&self, gone: &[glow::Texture]) {
        if gone.is_empty() {
            return;
        }
        let held = |t: &glow::Texture, key: &Key| key.colours.contains(&Some(*t)) || key.depth == Some(*t);
        let stale: Vec<_> = self
            .framebuffers
            .borrow_mut()
            .extract_if(|key, _| gone.iter().any(|t| held(t, key)))
            .map(|(_, (framebuffer, _))| framebuffer)
            .collect();
        stale.into_iter().for_each(|framebuffer| self.delete_framebuffer(framebuffer));
    }

    fn delete_framebuffer(&self, framebuffer: glow::Framebuffer) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.framebuffer == Some(framebuffer) {
            shadow.framebuffer = None;
        }
        // SAFETY: the context is current; the framebuffer is ours and no longer in the cache.
        unsafe { self.raw.delete_framebuffer(framebuffer) };
        self.ledger.change_live(|l| l.framebuffers -= 1);
    }
}
