//! Which context is current: asked of GL itself, since an application's platform is not known here.
//!
//! Vertex arrays are never shared between contexts. texla's own carries a number that no other has, where no draw looks: the
//! divisor of its last attribute, which stays disabled.

use std::sync::atomic::{AtomicU32, Ordering};

use glow::HasContext;

use super::{Place, Raw};
use crate::error::{Error, Result};
use crate::gl::context::{GlInner, take_error};
use crate::gl::objects::VertexBuffer;

const PLACE: u32 = VertexBuffer::ATTRIBUTES as u32 - 1;

/// A number that no other device of this process has, also one of another copy of texla: counted from where the counter lies.
/// It has 24 bits, which a float holds: glow asks for attributes as floats.
fn next() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let copy = (&raw const NEXT as usize >> 2) as u32;
    NEXT.fetch_add(1, Ordering::Relaxed).wrapping_add(copy) & 0x00ff_ffff
}

/// Numbers a vertex array that has just been made.
///
/// # Safety
/// The context is current, and the vertex array its own.
pub(super) unsafe fn number(gl: &Raw, array: glow::VertexArray) -> u32 {
    let number = next();
    // SAFETY: the caller's; every version has the query and the function.
    unsafe {
        let bound = gl.bound(glow::VERTEX_ARRAY_BINDING);
        gl.bind_vertex_array(Some(array));
        gl.vertex_attrib_divisor(PLACE, number);
        gl.bind(Place::VertexArray, &bound);
    }
    number
}

impl GlInner {
    /// Refuses another context than the one that the device was made in. There the state stays as it was, and the error that this may
    /// raise is cleared.
    pub(in crate::gl) fn check_current(&self) -> Result<()> {
        match self.look() {
            Ok(()) => Ok(()),
            Err(glow::CONTEXT_LOST) => Err(self.lose()),
            Err(_) => Err(Error::NoContext(
                "the current context is not the one that the device was made in; make that one current"
                    .into(),
            )),
        }
    }

    /// Whether the current context, whoever has made it so, is the one that the device was made in.
    pub(super) fn is_here(&self) -> bool {
        !self.lost.get() && self.look().is_ok()
    }

    /// Looks for the vertex array with our number; else says what GL does.
    fn look(&self) -> std::result::Result<(), u32> {
        let raw = &self.raw;
        // SAFETY: every version has the query.
        let bound = unsafe { raw.bound(glow::VERTEX_ARRAY_BINDING) };
        let mut found = [-1.0];
        // SAFETY: every version has the functions; a name that the context does not know raises an error, and nothing is bound.
        let error = unsafe {
            raw.bind_vertex_array(Some(self.vertex_array));
            if raw.get_parameter_i32(glow::VERTEX_ARRAY_BINDING) as u32 == self.vertex_array.0.get() {
                raw.get_vertex_attrib_parameter_f32_slice(
                    PLACE,
                    glow::VERTEX_ATTRIB_ARRAY_DIVISOR,
                    &mut found,
                );
                raw.bind(Place::VertexArray, &bound);
                // No divisor is negative: nothing has answered. Else an error is the application's, in another context.
                if found == [-1.0] { take_error(raw) } else { glow::NO_ERROR }
            } else {
                take_error(raw)
            }
        };
        if found == [raw.number as f32] { Ok(()) } else { Err(error) }
    }
}
