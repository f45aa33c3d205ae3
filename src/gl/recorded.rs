//! GL calls written down as they are made, with everything in them resolved, to be made again: see `kernel::recording`.
//!
//! While a trace is open, each draw and each clear is appended to it. Whatever else texla asks of GL for data (uploads,
//! readbacks, copies, queries) makes the trace unusable by name, so that nothing is left out in silence.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::context::{Gl, GlInner};
use super::draw::{Area, Blend, Depth, DrawCall};
use super::framebuffers::Framebuffer;
use super::objects::{Format, Texture};
use super::program::{Program, UniformValue};
use super::state::Filter;
use super::vertices::VertexBuffer;
use crate::error::Result;
use crate::shape::Extent;

/// What GL calls a texture.
pub(crate) type TextureName = glow::Texture;

/// Where a texture stands in a recorded call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Target(usize),
    Depth,
    Input(usize),
}

impl Place {
    /// Whether the call writes the texture there.
    pub fn is_written(self) -> bool {
        !matches!(self, Place::Input(_))
    }
}

/// What is rasterised, as [`Area`] with what it needs kept alive.
#[derive(Clone)]
enum Shape {
    /// The viewports of a rectangle, band by band.
    Bands(SmallVec<[[i32; 4]; 1]>),
    Row(i32),
    Column(i32),
    Points {
        vertices: Rc<VertexBuffer>,
        first: usize,
        count: usize,
    },
    Splats {
        vertices: Rc<VertexBuffer>,
        first: usize,
        count: usize,
    },
}

/// A draw with everything that it depends on. Textures are names here: who has the list keeps them alive.
#[derive(Clone)]
pub(crate) struct RecordedDraw {
    /// Names the values of the uniforms: see [`Program::holds_values_of`].
    values: u64,
    name: Rc<str>,
    program: Rc<Program>,
    targets: SmallVec<[glow::Texture; 2]>,
    depth_target: Option<glow::Texture>,
    framebuffer: RefCell<Option<Rc<Framebuffer>>>,
    inputs: SmallVec<[(glow::Texture, Filter); 4]>,
    /// Those that the program has, by their places in its interface.
    uniforms: Box<[(usize, UniformValue)]>,
    shape: Shape,
    extent: Extent,
    blend: Blend,
    depth: Depth,
}

/// A recorded call.
#[derive(Clone)]
pub(crate) enum Recorded {
    Draw(Box<RecordedDraw>),
    Clear { target: glow::Texture, value: [f32; 4], what: &'static str },
}

impl RecordedDraw {
    fn area(&self) -> Area<'_> {
        match &self.shape {
            Shape::Bands(_) => Area::Rect([0; 4]),
            Shape::Row(y) => Area::Row(*y),
            Shape::Column(x) => Area::Column(*x),
            Shape::Points { vertices, first, count } => {
                Area::Points { vertices, first: *first, count: *count }
            }
            Shape::Splats { vertices, first, count } => {
                Area::Splats { vertices, first: *first, count: *count }
            }
        }
    }

    fn issue(&self, gl: &Gl) -> Result<()> {
        let colours = || self.targets.iter().copied();
        {
            let mut framebuffer = self.framebuffer.borrow_mut();
            let kept = match &*framebuffer {
                Some(kept) if gl.is_usable(kept, colours()) => kept,
                _ => framebuffer.insert(gl.kept_framebuffer(colours(), self.depth_target, &self.name)?),
            };
            gl.use_framebuffer(kept.raw());
        }
        gl.use_modes(self.targets.len(), self.blend, self.depth);
        gl.use_program(&self.program);
        for (i, (input, filter)) in self.inputs.iter().enumerate() {
            gl.bind_unit(i as u32, *input, *filter);
        }
        if !self.program.holds_values_of(self.values) {
            self.uniforms.iter().for_each(|(slot, value)| self.program.set(*slot, value));
            self.program.note_values_of(self.values);
        }
        gl.wait_for_inputs(&self.program);
        match &self.shape {
            Shape::Bands(bands) => gl.rasterise_bands(bands.iter().copied(), self.depth),
            _ => gl.rasterise(&self.area(), self.extent)?,
        }
        gl.ledger.count(|c| c.draws += 1);
        gl.check_work(&self.name)
    }
}

impl Recorded {
    /// The call as it has just been made, from the bands into which its rectangle was cut.
    fn of(gl: &Gl, call: &DrawCall<'_>, extent: Extent) -> Self {
        let values = gl.next_values();
        let program = Rc::clone(call.program);
        let params = (call.first_param..).zip(call.params.iter().cloned());
        let uniforms = call.uniforms.iter().cloned().chain(params);
        let uniforms = uniforms.filter(|(slot, _)| program.has(*slot)).collect();
        Recorded::Draw(Box::new(RecordedDraw {
            values,
            name: call.name.into(),
            targets: call.targets.iter().map(|t| t.raw()).collect(),
            depth_target: call.depth_target.map(|t| t.raw()),
            framebuffer: RefCell::new(None),
            inputs: call.inputs.iter().map(|(t, filter)| (t.raw(), *filter)).collect(),
            uniforms,
            shape: match call.area {
                Area::Rect(rect) => Shape::Bands(gl.bands_of(rect, call.rounds).collect()),
                Area::Row(y) => Shape::Row(y),
                Area::Column(x) => Shape::Column(x),
                Area::Points { vertices, first, count } => {
                    Shape::Points { vertices: Rc::clone(vertices), first, count }
                }
                Area::Splats { vertices, first, count } => {
                    Shape::Splats { vertices: Rc::clone(vertices), first, count }
                }
            },
            extent,
            blend: call.blend,
            depth: call.depth,
            program,
        }))
    }

    fn issue(&self, gl: &Gl) -> Result<()> {
        match self {
            Recorded::Draw(draw) => draw.issue(gl),
            Recorded::Clear { target, value, what } => gl.clear_raw(*target, *value, what),
        }
    }

    /// Every texture of the call with its place.
    pub fn textures(&self) -> SmallVec<[(Place, glow::Texture); 8]> {
        match self {
            Recorded::Draw(draw) => {
                let targets = draw.targets.iter().enumerate().map(|(i, t)| (Place::Target(i), *t));
                let inputs = draw.inputs.iter().enumerate().map(|(i, (t, _))| (Place::Input(i), *t));
                let depth = draw.depth_target.map(|t| (Place::Depth, t));
                targets.chain(depth).chain(inputs).collect()
            }
            Recorded::Clear { target, .. } => SmallVec::from_iter([(Place::Target(0), *target)]),
        }
    }

    /// Puts another texture in a place.
    pub fn exchange(&mut self, place: Place, texture: glow::Texture) {
        let draw = match self {
            Recorded::Draw(draw) => draw,
            Recorded::Clear { target, .. } => {
                *target = texture;
                return;
            }
        };
        let slot = match place {
            Place::Target(i) => draw.targets.get_mut(i),
            Place::Depth => draw.depth_target.as_mut(),
            Place::Input(i) => draw.inputs.get_mut(i).map(|(input, _)| input),
        };
        if let Some(slot) = slot {
            *slot = texture;
        }
        if place.is_written() {
            *draw.framebuffer.get_mut() = None;
        }
    }
}

/// Calls that are being written down.
#[derive(Default)]
pub(super) struct Trace {
    calls: Vec<Recorded>,
    /// Every texture that the calls name, and those that will be exchanged.
    held: FxHashMap<glow::Texture, Texture>,
    /// The first thing that cannot be written down.
    refused: Option<&'static str>,
    /// Textures that came from the pool or the driver meanwhile.
    taken: FxHashSet<glow::Texture>,
    /// Those of them that were given back: they serve this trace and nobody else.
    free: Vec<Texture>,
}

impl Trace {
    fn hold(&mut self, texture: &Texture) {
        if let Entry::Vacant(place) = self.held.entry(texture.raw()) {
            texture.hold();
            place.insert(texture.clone());
        }
    }

    fn append<'t>(&mut self, calls: &[Recorded], textures: impl IntoIterator<Item = &'t Texture>) {
        textures.into_iter().for_each(|texture| self.hold(texture));
        self.calls.extend_from_slice(calls);
    }

    fn refuse(&mut self, what: &'static str) {
        self.refused.get_or_insert(what);
    }
}

/// A finished list of calls.
pub(crate) struct CallList {
    pub calls: Vec<Recorded>,
    /// The textures that the calls name, but for those that are exchanged. Each is [held](super::objects::TextureInner::hold).
    pub held: Vec<Texture>,
}

/// What becomes of a trace.
pub(crate) struct Ended {
    /// The calls, or what could not be written down.
    pub list: std::result::Result<CallList, &'static str>,
    /// Textures for the pool.
    pub back: Vec<Texture>,
}

impl Gl {
    /// Opens a trace, within those that are open.
    pub fn begin_trace(&self) {
        self.traces.borrow_mut().push(Trace::default());
        self.tracing.set(true);
    }

    /// Ends the innermost trace. Textures named in `exchanged` are not held. The trace around it gets the same calls.
    pub fn end_trace(&self, exchanged: &[glow::Texture]) -> Ended {
        let mut traces = self.traces.borrow_mut();
        let Trace { calls, mut held, mut refused, taken, free } = traces.pop().unwrap_or_default();
        self.tracing.set(!traces.is_empty());
        let lent = |t: &&Texture| !t.is_owned() && !exchanged.contains(&t.raw());
        let mut outer = traces.last_mut();
        if let (Some(outer), None) = (&mut outer, refused) {
            outer.append(&calls, held.values());
        }
        if held.values().find(lent).is_some() {
            // The host may delete it as soon as nobody but the list reads it.
            refused.get_or_insert("a texture of the host's");
        }
        if let Some(outer) = outer {
            refused.into_iter().for_each(|what| outer.refuse(what));
            let given: FxHashSet<_> = free.iter().map(|texture| texture.raw()).collect();
            outer.taken.extend(taken.difference(&given));
        }
        let mut back: Vec<Texture> = Vec::new();
        let released = held.extract_if(|raw, _| refused.is_some() || exchanged.contains(raw));
        back.extend(released.map(|(_, texture)| texture).filter(|texture| texture.release()));
        for texture in free {
            if texture.recordings() > 0 {
                texture.leave_to_recordings();
            } else {
                back.push(texture);
            }
        }
        let list = match refused {
            Some(what) => Err(what),
            None => Ok(CallList { calls, held: held.into_values().collect() }),
        };
        Ended { list, back }
    }

    /// Makes all calls again. `exchanged` are the textures that the list does not hold. Needs an open scope.
    pub fn run(&self, list: &CallList, exchanged: &[&Texture]) -> Result<()> {
        let done = list.calls.iter().try_for_each(|call| call.issue(self));
        if self.tracing.get() {
            self.trace(|trace| match done {
                Ok(()) => trace.append(&list.calls, list.held.iter().chain(exchanged.iter().copied())),
                Err(_) => trace.refuse("a draw that failed"),
            });
        }
        done
    }

    /// Writes down a draw that has been made.
    pub(super) fn record_draw(&self, call: &DrawCall<'_>, extent: Extent) {
        if call.block.is_some() {
            self.refuse_recording("a uniform block");
            return;
        }
        let recorded = Recorded::of(self, call, extent);
        self.trace(|trace| {
            let inputs = call.inputs.iter().map(|(texture, _)| *texture);
            let textures = call.targets.iter().copied().chain(call.depth_target).chain(inputs);
            trace.append(&[recorded], textures);
        });
    }

    /// Writes down a clear that has been made.
    pub(super) fn record_clear(&self, target: &Texture, value: [f32; 4], what: &'static str) {
        self.trace(|trace| trace.append(&[Recorded::Clear { target: target.raw(), value, what }], [target]));
    }
}

impl GlInner {
    fn trace(&self, write: impl FnOnce(&mut Trace)) {
        if let Some(trace) = self.traces.borrow_mut().last_mut() {
            write(trace);
        }
    }

    /// Says that the open trace, if there is one, misses something.
    pub(crate) fn refuse_recording(&self, what: &'static str) {
        if self.tracing.get() {
            self.trace(|trace| trace.refuse(what));
        }
    }

    /// Keeps a texture from serving as anything else while the innermost trace is open.
    pub(crate) fn hold_in_trace(&self, texture: &Texture) {
        self.trace(|trace| trace.hold(texture));
    }

    /// A texture that serves the innermost trace alone and waits.
    pub(crate) fn take_private(&self, extent: Extent, format: Format) -> Option<Texture> {
        let mut traces = self.traces.borrow_mut();
        let free = &mut traces.last_mut()?.free;
        let at = free.iter().rposition(|t| t.extent() == extent && t.format() == format)?;
        Some(free.remove(at))
    }

    /// Notes that a texture was taken meanwhile.
    pub(crate) fn note_taken(&self, texture: &Texture) {
        self.trace(|trace| _ = trace.taken.insert(texture.raw()));
    }

    /// Takes back a texture that was taken within an open trace; false for any other. One that a list besides that trace needs
    /// is left to the lists.
    pub(crate) fn give_private(&self, texture: &Texture) -> bool {
        let mut traces = self.traces.borrow_mut();
        let Some(trace) = traces.iter_mut().rev().find(|trace| trace.taken.contains(&texture.raw())) else {
            return false;
        };
        let own = u32::from(trace.held.contains_key(&texture.raw()));
        if texture.recordings() > own {
            trace.taken.remove(&texture.raw());
            texture.leave_to_recordings();
        } else {
            trace.free.push(texture.clone());
        }
        true
    }

    /// A number that names values of uniforms.
    fn next_values(&self) -> u64 {
        let next = self.values.get() + 1;
        self.values.set(next);
        next
    }
}
