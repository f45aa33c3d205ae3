//! Passes that are described once and drawn many times: what an iteration draws is the same every time, and only the first
//! time has to be said.
//!
//! As CUDA graphs are, a [`Recording`] is captured from code that draws: each pass is drawn as ever and, with all that its
//! description has led to (program, textures, uniforms, framebuffer, viewport), appended to a list. A replay goes through the
//! list, and between two draws makes only the GL calls by which they differ.

use std::cell::RefCell;
use std::rc::Weak;

use smallvec::SmallVec;

use super::pass::{Tail, View};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{CallList, Ended, Format, Place, Texture, TextureInner, TextureName};
use crate::shape::Extent;

/// What messages call it.
const NAME: &str = "recording";

/// A list of draws and clears, captured from code that has drawn them.
///
/// *Textures.* Those that the code took from the pool and gave back belong to the recording until it is dropped. All others
/// are kept, too, but for those named as [`Slots`]: a replay exchanges these for others of the same extent.
///
/// *What is not replayed.* Decisions of the code between its draws: whatever they depend on has to be the same at each replay,
/// and who keeps a recording sees to that. Values of parameters are part of the list.
pub(crate) struct Recording {
    device: Device,
    list: RefCell<CallList>,
    slots: RefCell<Vec<Slot>>,
}

shown!(Recording, |recording| "Recording({} calls)", recording.list.borrow().calls.len());

/// A texture that replays exchange, as it was named last.
struct Slot {
    texture: Weak<TextureInner>,
    raw: TextureName,
    /// Of the data, and of the texture.
    extents: [Extent; 2],
    tail: Tail,
    format: Format,
    /// Where it stands, call by call.
    uses: Vec<(usize, Place)>,
}

impl Slot {
    fn new(view: View<'_>) -> Self {
        Slot {
            texture: view.texture.downgrade(),
            raw: view.texture.raw(),
            extents: [view.extent, view.texture.extent()],
            tail: view.tail,
            format: view.texture.format(),
            uses: Vec::new(),
        }
    }

    fn is_written(&self) -> bool {
        self.uses.iter().any(|(_, place)| place.is_written())
    }
}

/// The number of a slot of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(usize);

/// Names textures, while a recording is captured, that replays exchange.
pub(crate) struct Slots {
    device: Device,
    slots: Vec<Slot>,
    open: bool,
}

impl Slots {
    /// Names the texture of this data, which may be the texture of a slot already: then it is that one. To be called while the
    /// texture holds what it holds at that point of a replay: of a vector whose texture the code exchanges, before and after.
    pub fn add(&mut self, view: View<'_>) -> SlotId {
        if let Some(known) = self.slots.iter().position(|slot| view.texture.is(&slot.texture)) {
            return SlotId(known);
        }
        self.device.gl().hold_in_trace(view.texture);
        if !view.device.same(&self.device) || view.tiles != 1 {
            self.device.gl().refuse_recording("data in several textures, or of another device");
        }
        self.slots.push(Slot::new(view));
        SlotId(self.slots.len() - 1)
    }

    /// Begins a capture.
    fn begin(device: &Device) -> Self {
        device.gl().begin_trace();
        Slots { device: device.clone(), slots: Vec::new(), open: true }
    }

    /// Ends the capture; what was captured.
    fn recording(mut self) -> std::result::Result<Recording, &'static str> {
        let list = self.end()?;
        Ok(Recording::of(&self.device, list, std::mem::take(&mut self.slots)))
    }

    /// Ends the capture.
    fn end(&mut self) -> std::result::Result<CallList, &'static str> {
        self.open = false;
        let names: Vec<_> = self.slots.iter().map(|slot| slot.raw).collect();
        let Ended { list, back } = self.device.gl().end_trace(&names);
        back.iter().for_each(|texture| self.device.give_back(texture));
        list
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        if self.open {
            self.device.gl().refuse_recording("an error");
            _ = self.end();
        }
    }
}

/// What the code has returned, and the recording of what it has drawn, or the first thing that cannot be recorded: an upload, a
/// readback, a query, what the vertex stage captures, a uniform block.
pub(crate) struct Captured<T> {
    pub value: T,
    pub recording: std::result::Result<Recording, &'static str>,
}

impl Recording {
    /// Runs code that draws, and records what it draws. Within another capture both record it.
    ///
    /// *Errors*: those of the code; then nothing is recorded, and a capture around this one cannot be replayed.
    pub fn capture<T>(device: &Device, draw: impl FnOnce(&mut Slots) -> Result<T>) -> Result<Captured<T>> {
        let _scope = device.scope()?;
        let mut slots = Slots::begin(device);
        let value = draw(&mut slots)?;
        Ok(Captured { value, recording: slots.recording() })
    }

    fn of(device: &Device, list: CallList, mut slots: Vec<Slot>) -> Self {
        for (at, call) in list.calls.iter().enumerate() {
            for (place, texture) in call.textures() {
                if let Some(slot) = slots.iter_mut().find(|slot| slot.raw == texture) {
                    slot.uses.push((at, place));
                }
            }
        }
        Recording { device: device.clone(), list: RefCell::new(list), slots: RefCell::new(slots) }
    }

    /// Whether any call reads or writes the texture of a slot.
    pub fn uses(&self, slot: SlotId) -> bool {
        self.slots.borrow().get(slot.0).is_some_and(|slot| !slot.uses.is_empty())
    }

    /// Makes all calls again, with these textures in the slots. Each slot that a call uses has to be named.
    ///
    /// *Cost*: its draws and clears, which count as when they were captured. *Errors*: [`Error::WrongDevice`];
    /// [`Error::Interface`] for data of another extent or length; [`Error::Feedback`] where a texture that is written is
    /// also in another slot, or one that the recording keeps; [`Error::Unsupported`] to write what is borrowed to be read;
    /// [`Error::Internal`] for a slot that is not named; those of the draws.
    pub fn replay(&self, exchanged: &[(SlotId, View<'_>)]) -> Result<()> {
        self.replay_times(exchanged, 1)
    }

    /// [`replay`](Self::replay), so many times one after the other.
    pub fn replay_times(&self, exchanged: &[(SlotId, View<'_>)], times: usize) -> Result<()> {
        let _scope = self.device.scope()?;
        self.exchange(exchanged)?;
        let list = self.list.borrow();
        let mut textures: SmallVec<[&Texture; 4]> = SmallVec::new();
        if self.device.gl().tracing.get() {
            let slots = self.slots.borrow();
            let used = |slot: &SlotId| slots.get(slot.0).is_some_and(|slot| !slot.uses.is_empty());
            textures.extend(exchanged.iter().filter(|(slot, _)| used(slot)).map(|(_, view)| view.texture));
        }
        (0..times).try_for_each(|_| self.device.gl().run(&list, &textures))
    }

    /// Puts other textures in the slots, where they are others.
    fn exchange(&self, exchanged: &[(SlotId, View<'_>)]) -> Result<()> {
        let mut slots = self.slots.borrow_mut();
        let mut views: SmallVec<[Option<View<'_>>; 32]> = SmallVec::from_elem(None, slots.len());
        for (slot, view) in exchanged.iter().rev() {
            views.get_mut(slot.0).into_iter().for_each(|named| *named = Some(*view));
        }
        let view_of = |i: usize| views.get(i).copied().flatten();
        let mut changed = false;
        for (i, slot) in slots.iter().enumerate().filter(|(_, slot)| !slot.uses.is_empty()) {
            let Some(view) = view_of(i) else {
                let detail = "a slot of a recording was given no texture";
                return Err(Error::Internal { place: "Recording::replay", detail });
            };
            changed |= !view.texture.is(&slot.texture);
            // The same texture may hold a vector of another length.
            if view.extent != slot.extents[0] || view.tail != slot.tail {
                return Err(unlike(i, &view, slot));
            }
        }
        if !changed {
            return Ok(());
        }
        let mut list = self.list.borrow_mut();
        self.check(&list, &slots, &view_of)?;
        for (i, slot) in slots.iter_mut().enumerate().filter(|(_, slot)| !slot.uses.is_empty()) {
            let Some(view) = view_of(i).filter(|view| !view.texture.is(&slot.texture)) else { continue };
            (slot.texture, slot.raw) = (view.texture.downgrade(), view.texture.raw());
            for (call, place) in &slot.uses {
                if let Some(call) = list.calls.get_mut(*call) {
                    call.exchange(*place, slot.raw);
                }
            }
        }
        Ok(())
    }

    /// What can be wrong with other textures.
    fn check<'v>(
        &self,
        list: &CallList,
        slots: &[Slot],
        view_of: &dyn Fn(usize) -> Option<View<'v>>,
    ) -> Result<()> {
        let used = || slots.iter().enumerate().filter(|(_, slot)| !slot.uses.is_empty());
        for (i, slot) in used() {
            let Some(view) = view_of(i) else { continue };
            if !view.device.same(&self.device) {
                return Err(Error::WrongDevice { op: NAME.into(), operand: format!("slot {i}") });
            }
            let texture = view.texture;
            if texture.extent() != slot.extents[1] || texture.format() != slot.format || view.tiles != 1 {
                return Err(unlike(i, &view, slot));
            }
            if slot.is_written() && !texture.is_writable() {
                let why = "a texture borrowed from the host is read-only".into();
                return Err(Error::Unsupported { what: format!("slot {i} of a {NAME}"), why });
            }
            let raw = texture.raw();
            let shared = used().any(|(j, other)| {
                j != i
                    && (slot.is_written() || other.is_written())
                    && view_of(j).is_some_and(|other| other.texture.raw() == raw)
            });
            if shared || list.held.iter().any(|held| held.raw() == raw && clashes(list, slot, raw)) {
                return Err(Error::Feedback { kernel: NAME.into(), input: format!("slot {i}") });
            }
        }
        Ok(())
    }
}

/// Whether a texture that the list names by itself may not be in the slot: one of the two is written.
fn clashes(list: &CallList, slot: &Slot, raw: TextureName) -> bool {
    let mut uses = list.calls.iter().flat_map(|call| call.textures());
    slot.is_written() || uses.any(|(place, texture)| texture == raw && place.is_written())
}

fn unlike(i: usize, view: &View<'_>, slot: &Slot) -> Error {
    let detail = format!(
        "slot {i} is given data of {} in {} texels, expected {} in {} with the same padding",
        view.extent,
        view.texture.extent(),
        slot.extents[0],
        slot.extents[1]
    );
    Error::Interface { kernel: NAME.into(), detail }
}

impl Drop for Recording {
    fn drop(&mut self) {
        for texture in &self.list.get_mut().held {
            if texture.release() {
                self.device.give_back(texture);
            }
        }
    }
}
