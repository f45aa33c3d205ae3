//! Buffer bindings with an index, and the transform feedback object: taken from the host when first changed inside a
//! scope, as texture units are.

use glow::HasContext;

use crate::error::{Error, Result};
use crate::gl::context::{Gl, GlInner};
use crate::gl::raw::{Bound, Place, Raw};
use crate::gl::state::{Kept, Saved};

/// A buffer binding of the host's.
pub(super) struct Binding {
    target: u32,
    /// `None` is the general binding point that every indexed one changes too.
    index: Option<u32>,
    buffer: Bound,
    /// Offset and size; both 0 for the whole buffer.
    range: [i32; 2],
}

/// What asks for the buffer, the offset and the size at an index.
fn queries(target: u32) -> [u32; 3] {
    if target == glow::UNIFORM_BUFFER {
        [glow::UNIFORM_BUFFER_BINDING, glow::UNIFORM_BUFFER_START, glow::UNIFORM_BUFFER_SIZE]
    } else {
        [
            glow::TRANSFORM_FEEDBACK_BUFFER_BINDING,
            glow::TRANSFORM_FEEDBACK_BUFFER_START,
            glow::TRANSFORM_FEEDBACK_BUFFER_SIZE,
        ]
    }
}

impl Binding {
    pub fn forget(&mut self, raw: &Raw, buffer: glow::Buffer) {
        if self.buffer.forget_buffer(raw, buffer) {
            self.range = [0, 0];
        }
    }
}

/// Puts bindings back. The transform feedback object of the host's is bound already.
///
/// # Safety
/// The context is current, and every buffer is alive.
pub(super) unsafe fn restore(gl: &Gl, bindings: &[Binding]) {
    let raw = &gl.raw;
    // An indexed call changes the general binding too: those come last.
    let indexed = bindings.iter().filter_map(|b| b.index.map(|index| (b, index)));
    for (Binding { target, buffer, range: [offset, size], .. }, index) in indexed {
        let whole = buffer.is_none() || *size == 0;
        let place =
            if whole { Place::Base(*target, index) } else { Place::Range(*target, index, [*offset, *size]) };
        // SAFETY: the caller's.
        unsafe { raw.bind(place, buffer) };
    }
    for Binding { target, buffer, .. } in bindings.iter().filter(|b| b.index.is_none()) {
        // SAFETY: the caller's.
        unsafe { raw.bind(Place::Buffer(*target), buffer) };
    }
}

impl Saved {
    /// Lets the host's transform feedback object, if it has one, be the bound one.
    pub(in crate::gl) fn return_feedback(&mut self, gl: &GlInner) {
        if let Some(host) = &mut self.host {
            gl.return_feedback(host);
        }
    }
}

impl GlInner {
    /// Binds the host's transform feedback object again, if texla has bound its own.
    pub(super) fn return_feedback(&self, host: &mut Kept) {
        if let Some(object) = host.feedback.take() {
            // SAFETY: the context is current inside a scope, and has such objects: else texla would have none.
            unsafe { self.raw.bind(Place::Feedback, &object) };
        }
    }
}

impl Gl {
    /// Remembers a binding of the host's, unless that has been done in this scope.
    fn keep_binding(&self, target: u32, index: Option<u32>) -> Result<()> {
        let mut saved = self.saved.borrow_mut();
        let Some(host) = saved.as_mut().and_then(|saved| saved.host.as_mut()) else { return Ok(()) };
        if host.bindings.iter().any(|b| b.target == target && b.index == index) {
            return Ok(());
        }
        let [bound, start, size] = queries(target);
        // SAFETY: the context is current inside a scope; every version has these queries.
        let (buffer, range) = unsafe {
            match index {
                None => (self.raw.bound(bound), [0, 0]),
                Some(i) => (
                    self.raw.bound_at(bound, i),
                    [start, size].map(|q| self.raw.get_parameter_indexed_i64(q, i)),
                ),
            }
        };
        let [Ok(offset), Ok(size)] = range.map(i32::try_from) else {
            return Err(Error::Unsupported {
                what: "entering with a range of 2 GiB or more of a buffer of the application's bound".into(),
                why: "it could not be bound again; bind the whole buffer around texla's calls".into(),
            });
        };
        host.bindings.push(Binding { target, index, buffer, range: [offset, size] });
        Ok(())
    }

    /// Binds a range of a buffer, offset and size in bytes, at an index; what was there comes back with the scope.
    pub fn bind_range(
        &self,
        target: u32,
        index: u32,
        buffer: glow::Buffer,
        [offset, size]: [usize; 2],
    ) -> Result<()> {
        self.keep_binding(target, None)?;
        self.keep_binding(target, Some(index))?;
        // SAFETY: the context is current inside a scope; the buffer is alive, and sizes of buffers fit 32 bits.
        unsafe { self.raw.bind_buffer_range(target, index, Some(buffer), offset as i32, size as i32) };
        Ok(())
    }

    /// Takes transform feedback over from the host: by an object of texla's own, which a feedback of the host's that
    /// is paused does not disturb; before GL 4.0 without an extension there is only the one binding, and entering with
    /// an active feedback has been refused.
    pub fn take_feedback(&self) -> Result<()> {
        let target = glow::TRANSFORM_FEEDBACK_BUFFER;
        self.keep_binding(target, None)?;
        let Some(own) = self.feedback.get() else { return self.keep_binding(target, Some(0)) };
        if let Some(host) = self.saved.borrow_mut().as_mut().and_then(|saved| saved.host.as_mut())
            && host.feedback.is_none()
        {
            // SAFETY: the context is current inside a scope, and has such objects: else there would be no `own`.
            unsafe {
                host.feedback = Some(self.raw.bound(glow::TRANSFORM_FEEDBACK_BINDING));
                self.raw.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, Some(own));
                // A browser puts that off until something is drawn, and links programs meanwhile; a buffer takes it along.
                self.raw.bind_buffer_base(target, 0, None);
            }
        }
        Ok(())
    }
}
