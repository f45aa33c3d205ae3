//! Scopes of several devices in one context: the state that one of them finds is another's, and goes back to that first.

use std::cell::{Cell, RefCell};
use std::rc::Weak;

use super::{Saved, restore};
use crate::error::{Error, Result};
use crate::gl::context::{Gl, GlInner};

thread_local! {
    /// The devices of this thread whose scopes are open, in the order in which they were opened.
    static OPEN: RefCell<Vec<Weak<GlInner>>> = const { RefCell::new(Vec::new()) };
    /// The devices of this thread that have left state of their own behind, the last one last.
    static OWNERS: RefCell<Vec<Weak<GlInner>>> = const { RefCell::new(Vec::new()) };
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

/// Refuses a call on a device that owns its context within a scope of another one in it: whose state is that?
pub(super) fn refuse_covering(gl: &Gl) -> Result<()> {
    if innermost(gl).is_none() {
        return Ok(());
    }
    Err(Error::Unsupported {
        what: "a call on a device that owns its context within a scope of another device in the same context"
            .into(),
        why: "the state belongs to that one; end its scope first, or make both devices with HostState::Keep"
            .into(),
    })
}

/// Whether no other device has left state of its own behind since this one did, which it now does.
pub(super) fn was_last(gl: &Gl) -> bool {
    let this = gl.downgrade();
    let turn = |owners: &mut Vec<Weak<GlInner>>| {
        let last = owners.last().is_some_and(|owner| owner.ptr_eq(&this));
        if !last {
            owners.retain(|owner| owner.strong_count() > 0 && !owner.ptr_eq(&this));
            owners.push(this);
        }
        last
    };
    OWNERS.try_with(|owners| turn(&mut owners.borrow_mut())).unwrap_or(false)
}

/// The devices whose own state lies in the context of this one. Who finds that state to put it back keeps them, with all that the
/// state names, until then.
pub(super) fn owners(gl: &Gl) -> Vec<Gl> {
    let find = |owners: &[Weak<GlInner>]| {
        let owners = owners.iter().filter_map(Gl::upgrade);
        owners.filter(|owner| !owner.same(gl) && owner.shares_with(gl)).collect()
    };
    OWNERS.try_with(|owners| find(&owners.borrow())).unwrap_or_default()
}

/// The device whose scope is the innermost open one in the context of this one.
fn innermost(gl: &Gl) -> Option<Gl> {
    let find = |open: &[Weak<GlInner>]| {
        let others = open.iter().rev().filter_map(Gl::upgrade);
        others.into_iter().find(|other| !other.nesting.covered.get() && other.shares_with(gl))
    };
    OPEN.try_with(|open| find(&open.borrow())).ok().flatten()
}

/// Begins a device's scope; returns the device in whose scope it lies, if there is one.
pub(super) fn begin(gl: &Gl) -> Option<Gl> {
    let outer = innermost(gl);
    let _ = OPEN.try_with(|open| {
        let mut open = open.borrow_mut();
        // Guards that were leaked have left theirs behind.
        open.retain(|device| device.strong_count() > 0);
        open.push(gl.downgrade());
    });
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
    // Nothing to put back, nothing to delete: nobody is asked.
    if (saved.host.is_some() || gl.has_dead()) && gl.is_ours() {
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
