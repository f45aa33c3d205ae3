//! The host's GL state: one table of everything texla touches, saved once per outermost scope and restored on drop; or, where
//! texla has the context to itself, set once.
//!
//! Each row says how a value is read, what texla needs it to be (the neutral value), and how it is written back.
//! Texture units, indexed buffer bindings and the colour masks of higher draw buffers are saved when first touched inside a scope.

mod bindings;
mod draw_buffers;
mod loaded;
mod nesting;
mod setters;
mod table;
mod viewports;

use glow::HasContext;

use draw_buffers::{BlendOf, set_mask};
use table::{Row, TABLE, Value, since};

use super::context::{Gl, GlInner, take_error};
use super::raw::{Bound, Place, Raw};
use crate::error::{Error, Result};
use crate::platform::BROWSER;

pub(super) use loaded::functions;
pub(super) use nesting::{Nesting, end};
pub(super) use viewports::{Viewports, set_viewport};

/// What was on a texture unit.
struct Unit {
    index: u32,
    texture: Bound,
    sampler: Bound,
}

/// What becomes of the GL state that a device finds when it is called: see [`DeviceOptions`](crate::DeviceOptions::host_state).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostState {
    /// It is the application's: it makes no difference to results, and afterwards it is as it was.
    #[default]
    Keep,
    /// Nobody but texla sets state in the context: nothing is saved, nothing put back. Who does all the same says so by
    /// [`Device::reset_state`](crate::Device::reset_state).
    Own,
}

/// A scope, from the outermost entry on.
pub(crate) struct Saved {
    depth: usize,
    /// How many of the open guards vouch that nobody else's code runs.
    exclusive: usize,
    /// `None` where the context is texla's own.
    host: Option<Kept>,
    /// Draw buffers whose masks are texla's to set.
    masks_touched: usize,
    /// The device in whose scope, in the same context, this one lies.
    outer: Option<Gl>,
    /// The devices whose own state was found here.
    _owners: Vec<Gl>,
}

/// The rows that exist in a context. Which extensions it has is asked once.
pub(super) struct Rows {
    table: Vec<&'static Row>,
    loaded: Vec<loaded::Prepared>,
    first: Vec<viewports::Switch>,
}

impl Rows {
    fn of(gl: &GlInner) -> Self {
        // SAFETY: the context is current, and says that it has the value.
        let is_answered = |row: &&Row| is_answered(gl, || _ = unsafe { (row.read)(&gl.raw) });
        let table = TABLE.iter().filter(|row| (row.exists)(gl)).filter(is_answered).collect();
        Rows { table, loaded: loaded::prepare(gl), first: viewports::switches(gl) }
    }
}

/// Whether a question raises no error: some drivers name an extension and have not all of its values. No error is pending before.
fn is_answered(gl: &GlInner, ask: impl FnOnce()) -> bool {
    ask();
    // A browser has what it names, and each question for errors waits for another process.
    // SAFETY: the context is current.
    BROWSER || matches!(unsafe { take_error(&gl.raw) }, glow::NO_ERROR | glow::CONTEXT_LOST)
}

impl GlInner {
    /// The rows that exist here. First asked for when no error is pending.
    fn rows(&self) -> &Rows {
        self.rows.get_or_init(|| Rows::of(self))
    }
}

/// The host's state.
struct Kept {
    /// Of the rows that exist, in their order.
    values: Vec<Value>,
    blend: Vec<BlendOf>,
    masks: Vec<[bool; 4]>,
    loaded: Vec<loaded::Kept>,
    viewport: viewports::Kept,
    active_unit: i32,
    units: Vec<Unit>,
    bindings: Vec<bindings::Binding>,
    /// The transform feedback object, once texla has bound its own.
    feedback: Option<Bound>,
    resume_feedback: bool,
}

/// How a texture's texels are read by a sampling function; `texelFetch` knows no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// One texel.
    Nearest,
    /// Four, weighted by where the coordinates lie between them: see
    /// [`Capabilities::float_filter`](super::Capabilities::float_filter).
    Linear,
}

/// What texla itself has set since the scope began, so that nothing is set twice.
#[derive(Default)]
pub(crate) struct Shadow {
    pub framebuffer: Option<glow::Framebuffer>,
    pub program: Option<glow::Program>,
    pub vertex_array: Option<glow::VertexArray>,
    pub viewport: Option<[i32; 4]>,
    pub blend: super::draw::Blend,
    pub depth: Option<super::draw::Depth>,
    pub active_unit: Option<u32>,
    pub units: Vec<Option<(glow::Texture, Filter)>>,
    pub colour_writes: Option<bool>,
}

impl Saved {
    /// A texture that is deleted cannot be bound again.
    pub fn forget_texture(&mut self, raw: &Raw, texture: glow::Texture) {
        let Some(host) = &mut self.host else { return };
        host.units.iter_mut().for_each(|unit| _ = unit.texture.forget_texture(raw, texture));
    }

    /// Nor can a buffer.
    pub fn forget_buffer(&mut self, raw: &Raw, buffer: glow::Buffer) {
        let Some(host) = &mut self.host else { return };
        host.bindings.iter_mut().for_each(|b| b.forget(raw, buffer));
        for value in &mut host.values {
            if let Value::Buffer(bound) = value {
                bound.forget_buffer(raw, buffer);
            }
        }
    }
}

impl Shadow {
    pub fn forget_texture(&mut self, texture: glow::Texture) {
        for unit in &mut self.units {
            if unit.is_some_and(|(bound, _)| bound == texture) {
                *unit = None;
            }
        }
    }
}

/// Holds the host's GL state; the outermost one restores it on drop, be it by `?`, by panic or by the end of a block.
pub(crate) struct StateGuard {
    gl: Gl,
    exclusive: bool,
}

impl StateGuard {
    /// Enters texla: re-entrant, the state is read on the outermost entry alone. An `exclusive` one vouches that until it
    /// drops nobody else's code runs: inside, no one asks again which context is current.
    pub fn enter(gl: &Gl, exclusive: bool) -> Result<Self> {
        nesting::refuse_covered(gl)?;
        if let Some(saved) = gl.saved.borrow_mut().as_mut() {
            // Another device, or the application in a context of its own, may have been at work since the outermost entry.
            if saved.exclusive == 0 {
                gl.be_current()?;
            }
            saved.depth += 1;
            saved.exclusive += usize::from(exclusive);
            gl.entries.set(gl.entries.get() + 1);
            return Ok(Self { gl: gl.clone(), exclusive });
        }
        gl.enter()?;
        // What a lost context answers looks like something to be refused.
        let taken = match gl.host_state {
            HostState::Keep => take_over(gl).map(Some),
            HostState::Own => own(gl).map(|()| None),
        };
        let host = taken.map_err(|e| gl.unless_lost(e))?;
        let masks_touched = if host.is_some() { 1 } else { gl.draw_buffers as usize };
        let saved = Saved {
            depth: 1,
            exclusive: usize::from(exclusive),
            host,
            masks_touched,
            outer: nesting::begin(gl),
            _owners: nesting::owners(gl),
        };
        *gl.saved.borrow_mut() = Some(saved);
        gl.entries.set(gl.entries.get() + 1);
        Ok(Self { gl: gl.clone(), exclusive })
    }
}

impl Drop for StateGuard {
    fn drop(&mut self) {
        let outermost = {
            let mut saved = self.gl.saved.borrow_mut();
            match saved.as_mut() {
                Some(s) if s.depth > 1 => {
                    s.depth -= 1;
                    s.exclusive -= usize::from(self.exclusive);
                    None
                }
                _ => saved.take(),
            }
        };
        if let Some(saved) = outermost {
            end(&self.gl, saved);
        }
    }
}

/// Whether transform feedback has objects, and an active one can be asked for and paused: before GL 4.0 by an
/// extension.
pub(super) fn feedback_can_pause(gl: &GlInner) -> bool {
    since(gl, (4, 0), (3, 0)) || gl.raw.supported_extensions().contains("GL_ARB_transform_feedback2")
}

/// An active transform feedback that cannot be paused: say so instead of computing something else.
fn refuse_active_feedback(gl: &Gl) -> Result<()> {
    if feedback_can_pause(gl) {
        return Ok(());
    }
    // SAFETY: the context is current.
    let refused = unsafe {
        // A program cannot be changed, not even to itself, while the feedback is active.
        gl.raw.bind(Place::Program, &gl.raw.bound(glow::CURRENT_PROGRAM));
        take_error(&gl.raw) != glow::NO_ERROR
    };
    if refused {
        return Err(Error::Unsupported {
            what: "entering with the application's transform feedback active".into(),
            why: "this context cannot pause it; call texla before it begins or after it has ended".into(),
        });
    }
    Ok(())
}

/// A program in use that could not be used again: deleted, it goes when another takes its place; linked once more and in
/// vain, it works on as it was, and is refused from then on.
fn refuse_last_use(gl: &Gl) -> Result<()> {
    // SAFETY: the context is current; what is in use is a program.
    let (deleted, linked) = unsafe { gl.raw.state_of(&gl.raw.bound(glow::CURRENT_PROGRAM)) };
    if deleted || !linked {
        let what = if deleted { "has deleted" } else { "has linked again, in vain" };
        return Err(Error::Unsupported {
            what: format!("entering with a program in use that the application {what}"),
            why: "it could not be used again afterwards; use another one, or none, before texla's calls"
                .into(),
        });
    }
    Ok(())
}

/// Saves the host's state, and sets what texla needs.
fn take_over(gl: &Gl) -> Result<Kept> {
    refuse_last_use(gl)?;
    refuse_active_feedback(gl)?;
    let kept = save(gl)?;
    *gl.shadow.borrow_mut() = Shadow::default();
    gl.ledger.count(|c| c.state_saves += 1);
    Ok(kept)
}

/// Sets what texla needs, unless it is as texla has left it.
fn own(gl: &Gl) -> Result<()> {
    nesting::refuse_covering(gl)?;
    if !nesting::was_last(gl) {
        gl.settled.set(false);
    }
    if gl.settled.get() {
        return Ok(());
    }
    // SAFETY: the context is current; rows that exist can be set.
    unsafe {
        loaded::take(gl)?;
        gl.rows().table.iter().for_each(|row| (row.neutral)(&gl.raw));
        viewports::neutralise(gl);
        draw_buffers::neutralise_blend(&gl.raw);
        (0..gl.draw_buffers).for_each(|i| set_mask(gl, i, [true; 4]));
        if let Some(feedback) = gl.feedback.get() {
            gl.raw.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, Some(feedback));
        }
    }
    *gl.shadow.borrow_mut() = Shadow::default();
    gl.ledger.count(|c| c.state_saves += 1);
    gl.settled.set(true);
    Ok(())
}

fn save(gl: &Gl) -> Result<Kept> {
    let raw = &gl.raw;
    // SAFETY: the context is current; every query asks for what this version has.
    unsafe {
        // All draw buffers that the device has, not those that texla may use: `glEnable(GL_BLEND)` sets every one.
        let (blend, masks) = draw_buffers::read(gl, gl.draw_buffers)?;
        // What may be refused comes before what changes anything.
        let loaded = loaded::take(gl)?;
        let resume_feedback = feedback_can_pause(gl)
            && raw.get_parameter_bool(glow::TRANSFORM_FEEDBACK_ACTIVE)
            && !raw.get_parameter_bool(glow::TRANSFORM_FEEDBACK_PAUSED);
        if resume_feedback {
            raw.pause_transform_feedback();
        }
        let rows = &gl.rows().table;
        let values = rows.iter().map(|row| (row.read)(raw)).collect();
        let viewport = viewports::take(gl);
        let kept = Kept {
            values,
            blend,
            masks,
            loaded,
            viewport,
            active_unit: raw.get_parameter_i32(glow::ACTIVE_TEXTURE),
            units: Vec::new(),
            bindings: Vec::new(),
            feedback: None,
            resume_feedback,
        };
        rows.iter().for_each(|row| (row.neutral)(raw));
        draw_buffers::neutralise_blend(raw);
        set_mask(gl, 0, [true; 4]);
        Ok(kept)
    }
}

/// Puts the host's state back, where it is kept.
fn restore(gl: &Gl, saved: &mut Saved) {
    let (raw, masks_touched) = (&gl.raw, saved.masks_touched);
    let Some(host) = &mut saved.host else { return };
    gl.keep_fence();
    // SAFETY: the context is current; each value was read from it when the scope began.
    unsafe {
        for unit in &host.units {
            raw.active_texture(glow::TEXTURE0 + unit.index);
            raw.bind(Place::Texture, &unit.texture);
            raw.bind(Place::Sampler(unit.index), &unit.sampler);
        }
        raw.active_texture(host.active_unit as u32);
        loaded::restore(gl, &host.loaded);
        viewports::restore(gl, &host.viewport);
        draw_buffers::write_blends(gl, &host.blend);
        for (i, mask) in host.masks.iter().enumerate().take(masks_touched) {
            set_mask(gl, i as u32, *mask);
        }
        for (row, value) in gl.rows().table.iter().zip(&host.values) {
            (row.write)(raw, value);
        }
        gl.return_feedback(host);
        bindings::restore(gl, &host.bindings);
        if host.resume_feedback {
            raw.resume_transform_feedback();
        }
    }
}

impl Gl {
    /// Lets the first `count` draw buffers be written (or none of them, for passes that write depth alone).
    pub fn set_colour_writes(&self, count: usize, on: bool) {
        let mut saved = self.saved.borrow_mut();
        let mut shadow = self.shadow.borrow_mut();
        let Some(saved) = saved.as_mut() else { return };
        let unchanged = shadow.colour_writes.unwrap_or(true) == on;
        if unchanged && count <= saved.masks_touched {
            return;
        }
        let count = count.max(saved.masks_touched);
        for i in 0..count {
            // SAFETY: the context is current inside a scope; restored with the scope.
            unsafe { set_mask(self, i as u32, [on; 4]) };
        }
        saved.masks_touched = count;
        shadow.colour_writes = Some(on);
    }

    /// Puts a texture on a unit with one of texla's own samplers; what was there is remembered on first touch.
    pub fn bind_unit(&self, index: u32, texture: glow::Texture, filter: Filter) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.units.len() <= index as usize {
            shadow.units.resize(index as usize + 1, None);
        }
        let held = shadow.units.get(index as usize).copied().flatten();
        let due = self.is_due(texture);
        if held == Some((texture, filter)) && !due {
            return;
        }
        let [nearest, linear] = self.samplers;
        // SAFETY: the context is current inside a scope; texture and sampler are alive.
        unsafe {
            if shadow.active_unit != Some(index) {
                self.raw.active_texture(glow::TEXTURE0 + index);
                shadow.active_unit = Some(index);
            }
            if let Some(host) = self.saved.borrow_mut().as_mut().and_then(|saved| saved.host.as_mut())
                && !host.units.iter().any(|u| u.index == index)
            {
                let texture = self.raw.bound(glow::TEXTURE_BINDING_2D);
                let sampler = self.raw.bound(glow::SAMPLER_BINDING);
                host.units.push(Unit { index, texture, sampler });
            }
            if held.map(|(_, filter)| filter) != Some(filter) {
                let sampler = if filter == Filter::Linear { linear } else { nearest };
                self.raw.bind_sampler(index, Some(sampler));
            }
            self.raw.bind_texture(glow::TEXTURE_2D, Some(texture));
            if due {
                self.reset_handed(texture);
            }
        }
        if let Some(unit) = shadow.units.get_mut(index as usize) {
            *unit = Some((texture, filter));
        }
    }
}
