//! Objects whose last handles are gone: another context may be current then, so that they are deleted at the next entry.

use glow::HasContext;

use super::context::GlInner;
use super::state::HostState;

/// An object whose last handle is gone and which is deleted at the next entry.
pub(crate) enum Dead {
    Texture(glow::Texture),
    /// A texture of the host's: it stays, but the framebuffers that hold it go. The host may give its name to another.
    Borrowed(glow::Texture),
    Buffer(glow::Buffer),
    VertexArray(glow::VertexArray),
    Program(glow::Program),
    Fence(glow::Fence),
    Query(glow::Query),
}

impl GlInner {
    /// Whether something waits to be deleted.
    pub fn has_dead(&self) -> bool {
        !self.graveyard.borrow().is_empty()
    }

    /// Hands an object to the graveyard: another context may be current when a handle drops.
    pub fn discard(&self, dead: Dead) {
        if !self.lost.get() {
            self.graveyard.borrow_mut().push(dead);
        }
    }

    /// Deletes what has been discarded, and the framebuffers that hold a discarded texture.
    pub fn bury(&self) {
        let dead = std::mem::take(&mut *self.graveyard.borrow_mut());
        if dead.is_empty() {
            return;
        }
        let gone = |d: &Dead| if let Dead::Texture(t) | Dead::Borrowed(t) = d { Some(*t) } else { None };
        self.drop_framebuffers_of(&dead.iter().filter_map(gone).collect::<Vec<_>>());
        let own_programs =
            self.host_state == HostState::Own && dead.iter().any(|d| matches!(d, Dead::Program(_)));
        for object in dead {
            // SAFETY: the context is current; each object is ours and its last handle is gone.
            unsafe {
                match object {
                    Dead::Texture(t) => {
                        self.shadow.borrow_mut().forget_texture(t);
                        self.handed.borrow_mut().forget(t);
                        self.raw.delete_texture(t);
                        if let Some(saved) = self.saved.borrow_mut().as_mut() {
                            saved.forget_texture(&self.raw, t);
                        }
                        self.ledger.change_live(|l| l.textures -= 1);
                    }
                    Dead::Borrowed(t) => self.shadow.borrow_mut().forget_texture(t),
                    Dead::Buffer(b) => {
                        let mut saved = self.saved.borrow_mut();
                        if let Some(saved) = saved.as_mut() {
                            // A feedback object that is not bound would keep the buffer.
                            saved.return_feedback(self);
                        }
                        self.raw.delete_buffer(b);
                        if let Some(saved) = saved.as_mut() {
                            saved.forget_buffer(&self.raw, b);
                        }
                        self.ledger.change_live(|l| l.buffers -= 1);
                    }
                    Dead::VertexArray(v) => {
                        // Its name may come back, and is bound no more.
                        self.shadow.borrow_mut().vertex_array.take_if(|bound| *bound == v);
                        self.raw.delete_vertex_array(v);
                        self.ledger.change_live(|l| l.vertex_arrays -= 1);
                    }
                    Dead::Program(p) => {
                        self.shadow.borrow_mut().program.take_if(|used| *used == p);
                        // Of all objects this alone is an error to delete where the host has done so already.
                        if self.raw.is_program(p) {
                            self.raw.delete_program(p);
                        }
                        self.ledger.change_live(|l| l.programs -= 1);
                    }
                    Dead::Fence(f) => {
                        self.raw.delete_sync(f);
                        self.ledger.change_live(|l| l.fences -= 1);
                    }
                    Dead::Query(q) => {
                        self.raw.delete_query(q);
                        self.ledger.change_live(|l| l.queries -= 1);
                    }
                }
            }
        }
        // SAFETY: the context is current.
        unsafe {
            // Deleted and still in use, one would stand in the way of whoever has to put back what is in use.
            if own_programs && self.raw.state_of(&self.raw.bound(glow::CURRENT_PROGRAM)).0 {
                self.raw.use_program(None);
            }
        }
    }
}
