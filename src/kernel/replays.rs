//! Work that is done again and again on operands of the same layout: captured the first time, replayed after that.

use std::cell::RefCell;

use smallvec::SmallVec;

use super::pass::{Operand, Tail, TargetOperand, View};
use super::recording::{Captured, Recording, SlotId};
use crate::device::Device;
use crate::error::Result;
use crate::shape::Extent;

/// Kinds of work, and layouts of its operands, that are kept; the oldest goes first.
const KEPT: usize = 4;

/// How data lies in its texture.
type Layout = ([Extent; 2], Tail);

fn layout(view: &View<'_>) -> Layout {
    ([view.extent, view.texture.extent()], view.tail)
}

/// What decides between the passes that are drawn: the kind of work, the layouts, and the device's choices.
#[derive(PartialEq)]
struct Key<K> {
    kind: K,
    choices: u64,
    layouts: SmallVec<[Layout; 3]>,
}

/// What has become of captures.
enum Stretch {
    Recorded(Recording, Slots),
    /// So many were in vain.
    Refused(u8),
}

/// Captures after which work counts as none that can be recorded. The first may have made what later ones find, such as a
/// transpose.
const TRIED: u8 = 2;

/// What is exchanged: `x` as it comes and as it goes, and what is read.
struct Slots {
    before: SlotId,
    after: SlotId,
    reads: SmallVec<[SlotId; 2]>,
}

/// Recordings of work `x = f(x, reads)`, one for each kind `K` of it. Whoever keeps them vouches that the kind, the layouts and
/// the device's choices are all that `f` depends on.
pub(crate) struct Replays<K>(RefCell<Vec<(Key<K>, Stretch)>>);

impl<K> Default for Replays<K> {
    fn default() -> Self {
        Replays(RefCell::default())
    }
}

impl<K: PartialEq> Replays<K> {
    /// Does the work: by `describe` the first time, and where it cannot be recorded; by a replay else. `fresh` is an operand
    /// like `x` with anything in it, with which `x` may change places, as it may in `describe`.
    pub fn run<T: TargetOperand>(
        &self,
        device: &Device,
        kind: K,
        x: &mut T,
        reads: &[&dyn Operand],
        fresh: impl FnOnce() -> Result<T>,
        describe: impl FnOnce(&mut T) -> Result<()>,
    ) -> Result<()> {
        let layouts = std::iter::once(x.view()).chain(reads.iter().map(|read| read.view()));
        let key =
            Key { kind, choices: device.choices(), layouts: layouts.map(|view| layout(&view)).collect() };
        let known = self.0.borrow();
        let refused = match known.iter().find(|(known, _)| *known == key).map(|(_, stretch)| stretch) {
            Some(Stretch::Recorded(recording, slots)) if slots.suit(reads) => {
                return slots.replay(recording, x, reads, fresh);
            }
            Some(Stretch::Recorded(..)) => TRIED,
            Some(Stretch::Refused(times)) => *times,
            None => 0,
        };
        drop(known);
        match refused {
            TRIED.. => describe(x),
            _ => self.capture(device, key, x, reads, describe, refused),
        }
    }

    fn capture<T: TargetOperand>(
        &self,
        device: &Device,
        key: Key<K>,
        x: &mut T,
        reads: &[&dyn Operand],
        describe: impl FnOnce(&mut T) -> Result<()>,
        refused: u8,
    ) -> Result<()> {
        let Captured { value: slots, recording } = Recording::capture(device, |slots| {
            let reads = reads.iter().map(|read| slots.add(read.view())).collect();
            let before = slots.add(x.view());
            describe(x)?;
            Ok(Slots { before, after: slots.add(x.view()), reads })
        })?;
        let stretch = match recording {
            Ok(recording) => Stretch::Recorded(recording, slots),
            Err(_) => Stretch::Refused(refused + 1),
        };
        let mut known = self.0.borrow_mut();
        known.retain(|(known, _)| *known != key);
        if known.len() >= KEPT {
            known.remove(0);
        }
        known.push((key, stretch));
        Ok(())
    }
}

impl Slots {
    /// Whether operands that were one texture still are.
    fn suit(&self, reads: &[&dyn Operand]) -> bool {
        let pairs = || self.reads.iter().zip(reads);
        pairs().enumerate().all(|(i, (slot, read))| {
            let same = |(other, view): (&SlotId, &&dyn Operand)| {
                other != slot || view.view().texture.raw() == read.view().texture.raw()
            };
            pairs().take(i).all(same)
        })
    }

    fn replay<T: TargetOperand>(
        &self,
        recording: &Recording,
        x: &mut T,
        reads: &[&dyn Operand],
        fresh: impl FnOnce() -> Result<T>,
    ) -> Result<()> {
        let Slots { before, after, reads: slots } = self;
        let read = || slots.iter().copied().zip(reads.iter().map(|read| read.view()));
        if before == after || !recording.uses(*before) {
            let exchanged: SmallVec<[_; 4]> = read().chain([(*after, x.view())]).collect();
            return recording.replay(&exchanged);
        }
        // What `x` holds is read after the first draw into what it becomes.
        let mut next = fresh()?;
        {
            let both = [(*before, x.view()), (*after, next.view())];
            let exchanged: SmallVec<[_; 4]> = read().chain(both).collect();
            recording.replay(&exchanged)?;
        }
        std::mem::swap(x, &mut next);
        Ok(())
    }
}
