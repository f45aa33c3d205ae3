//! Framebuffers, made when they are first drawn to and kept by what is attached to them.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use glow::HasContext;
use rustc_hash::FxHashMap;

use super::context::{Gl, GlInner};
use super::objects::Texture;
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

/// A framebuffer that is kept.
pub(super) struct Framebuffer {
    raw: glow::Framebuffer,
    /// The time of its last use.
    used: Cell<u64>,
    deleted: Cell<bool>,
}

impl Framebuffer {
    pub fn raw(&self) -> glow::Framebuffer {
        self.raw
    }
}

/// By what is attached.
pub(super) type Framebuffers = FxHashMap<Key, Rc<Framebuffer>>;

impl Gl {
    /// The framebuffer with these attachments, made and checked for completeness on first use.
    pub fn framebuffer(
        &self,
        colours: impl IntoIterator<Item = glow::Texture>,
        depth: Option<glow::Texture>,
        what: &str,
    ) -> Result<glow::Framebuffer> {
        self.kept_framebuffer(colours, depth, what).map(|kept| kept.raw)
    }

    /// The framebuffer with one target, which knows it.
    pub(super) fn framebuffer_of(&self, target: &Texture, what: &str) -> Result<glow::Framebuffer> {
        let raw = || std::iter::once(target.raw());
        let mut known = target.target.borrow_mut();
        if let Some(kept) = &*known
            && self.is_usable(kept, raw())
        {
            return Ok(kept.raw);
        }
        Ok(known.insert(self.kept_framebuffer(raw(), None, what)?).raw)
    }

    /// The same, to be looked at again: see [`is_usable`](Self::is_usable).
    pub(super) fn kept_framebuffer(
        &self,
        colours: impl IntoIterator<Item = glow::Texture>,
        depth: Option<glow::Texture>,
        what: &str,
    ) -> Result<Rc<Framebuffer>> {
        let now = self.tick();
        let mut key = Key { colours: [None; COLOURS], depth };
        key.colours.iter_mut().zip(colours).for_each(|(place, colour)| *place = Some(colour));
        self.reset_attached(key.colours.into_iter().flatten());
        if let Some(kept) = self.framebuffers.borrow().get(&key) {
            kept.used.set(now);
            return Ok(Rc::clone(kept));
        }
        self.drop_oldest_framebuffer();
        let raw = self.make_framebuffer(&key, what)?;
        let kept = Rc::new(Framebuffer { raw, used: Cell::new(now), deleted: Cell::new(false) });
        self.framebuffers.borrow_mut().insert(key, Rc::clone(&kept));
        Ok(kept)
    }

    /// Whether a framebuffer with these attachments still exists; if so it counts as used.
    pub(super) fn is_usable(&self, kept: &Framebuffer, colours: impl Iterator<Item = glow::Texture>) -> bool {
        if kept.deleted.get() {
            return false;
        }
        self.reset_attached(colours);
        kept.used.set(self.tick());
        true
    }

    fn tick(&self) -> u64 {
        let now = self.clock.get() + 1;
        self.clock.set(now);
        now
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
        let oldest = framebuffers.iter().min_by_key(|(_, kept)| kept.used.get()).map(|(key, _)| *key);
        if let Some(framebuffer) = oldest.and_then(|key| framebuffers.remove(&key)) {
            drop(framebuffers);
            self.delete_framebuffer(&framebuffer);
        }
    }
}

impl GlInner {
    /// Deletes all cached framebuffers; they come back on use.
    pub fn trim_framebuffers(&self) {
        let all: Vec<_> =
            self.framebuffers.borrow_mut().drain().map(|(_, framebuffer)| framebuffer).collect();
        all.iter().for_each(|framebuffer| self.delete_framebuffer(framebuffer));
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
            .map(|(_, framebuffer)| framebuffer)
            .collect();
        stale.iter().for_each(|framebuffer| self.delete_framebuffer(framebuffer));
    }

    fn delete_framebuffer(&self, Framebuffer { raw: framebuffer, deleted, .. }: &Framebuffer) {
        deleted.set(true);
        let framebuffer = *framebuffer;
        let mut shadow = self.shadow.borrow_mut();
        if shadow.framebuffer == Some(framebuffer) {
            shadow.framebuffer = None;
        }
        // SAFETY: the context is current; the framebuffer is ours and no longer in the cache.
        unsafe { self.raw.delete_framebuffer(framebuffer) };
        self.ledger.change_live(|l| l.framebuffers -= 1);
    }
}
