//! Scopes of several devices in one context: the state that one of them finds is another's, and goes back to that first.

use std::cell::{Cell, RefCell};
use std::rc::Weak;

use super::{Saved, restore};
use crate::error::{Error, Result};
use crate::gl::context::{Gl, GlInner};

thread_local! {
    /// The devices of this thread whose scopes are open, in the order in which they were opened.
    static OPEN: RefCell<Vec<Weak<GlInner>>> = const { RefCell::new(Vec::new()) };
}

/// What a device's scope has to do with those of others.
#[derive(Default)]
pub(crate) struct Nesting {
    /// A scope of another device in this context has begun within ours and not ended.
    covered: Cell<bool>,
    /// The state to put back when that ends, where ours has ended before it.
    late: RefCell<Option<Saved>>,
}

/// Refuses a call on a device whose context another one is at work in: what that has set would be taken for our own.
pub(super) fn refuse_covered(gl: &Gl) -> Result<()> {
    if !gl.nesting.covered.get() {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "a call on a device within a scope of another device in the same context".into(),
        why: "the state belongs to that one; end its scope first".into(),
    })
}

/// Begins a device's scope; returns the device in whose scope it lies, if there is one.
pub(super) fn begin(gl: &Gl) -> Option<Gl> {
    let begin = |open: &mut Vec<Weak<GlInner>>| {
        // Guards that were leaked have left theirs behind.
        open.retain(|device| device.strong_count() > 0);
        let others = open.iter().rev().filter_map(Gl::upgrade);
        let outer = others.into_iter().find(|other| !other.nesting.covered.get() && other.shares_with(gl));
        open.push(gl.downgrade());
        outer
    };
    let outer = OPEN.try_with(|open| begin(&mut open.borrow_mut())).ok().flatten();
    if let Some(outer) = &outer {
        outer.nesting.covered.set(true);
    }
    outer
}

/// Ends a device's scope: now, or when the one that has begun within it ends.
pub(in crate::gl) fn end(gl: &Gl, mut saved: Saved) {
    if gl.nesting.covered.get() {
        gl.nesting.late.replace(Some(saved));
        return;
    }
    if gl.is_ours() {
        restore(gl, &mut saved);
        // After restoring: what the host has bound is unbound by deleting it, and not the other way round.
        gl.bury();
    }
    // A thread that ends has no list any more.
    let _ = OPEN.try_with(|open| {
        open.borrow_mut().retain(|device| !Gl::upgrade(device).is_some_and(|device| device.same(gl)));
    });
    if let Some(outer) = saved.outer.take() {
        outer.nesting.covered.set(false);
        let late = outer.nesting.late.take();
        if let Some(late) = late {
            end(&outer, late);
        }
    }
}
