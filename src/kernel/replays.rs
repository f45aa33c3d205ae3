//! Work that is done again and again on operands of the same layout: captured the first time, replayed after that.

use std::cell::{Ref, RefCell};
use std::rc::Rc;

use smallvec::SmallVec;

use super::pass::{Operand, Tail, TargetOperand, View};
use super::recording::{Captured, Recording, SlotId};
use crate::device::Device;
use crate::error::Result;
use crate::shape::Extent;

/// Kinds of work, and layouts of its operands, that are kept; the oldest goes first.
const KEPT: usize = 4;

/// How data lies in its texture: the extents of both, and the padding.
pub(crate) type Layout = ([Extent; 2], Tail);

pub(crate) fn layout(view: &View<'_>) -> Layout {
    ([view.extent, view.texture.extent()], view.tail)
}

/// What decides between the passes that are drawn: the kind of work, the layouts, and the device's choices.
#[derive(Clone, PartialEq)]
struct Key<K> {
    kind: K,
    choices: u64,
    layouts: SmallVec<[Layout; 3]>,
}

/// What has become of captures.
enum Stretch {
    Recorded(Recording, Slots),
    /// So many could not be replayed.
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

/// What the device lets go of when it is [trimmed](Device::trim): recordings, which can be made again.
pub(crate) trait Forget {
    /// Drops them.
    fn forget(&self);
}

struct Known<K>(RefCell<Vec<(Key<K>, Stretch)>>);

impl<K> Forget for Known<K> {
    fn forget(&self) {
        // Dropped when nothing is borrowed any more.
        let _gone = self.0.try_borrow_mut().map(|mut known| std::mem::take(&mut *known));
    }
}

/// Recordings of work `x = f(x, reads)`, one for each kind `K` of it. Whoever keeps them vouches that the kind, the layouts and
/// the device's choices are all that `f` depends on.
pub(crate) struct Replays<K>(Rc<Known<K>>);

impl<K> Default for Replays<K> {
    fn default() -> Self {
        Replays(Rc::new(Known(RefCell::default())))
    }
}

impl<K: Clone + PartialEq + 'static> Replays<K> {
    /// Does the work so many times: by `describe` the first time, and where it cannot be recorded; by replays else. `fresh` is
    /// an operand like `x` with anything in it, with which `x` may change places, as it may in `describe`.
    pub fn run<T: TargetOperand>(
        &self,
        device: &Device,
        (kind, times): (K, usize),
        x: &mut T,
        reads: &[&dyn Operand],
        fresh: &dyn Fn() -> Result<T>,
        describe: &dyn Fn(&mut T) -> Result<()>,
    ) -> Result<()> {
        let layouts = std::iter::once(x.view()).chain(reads.iter().map(|read| read.view()));
        let key =
            Key { kind, choices: device.choices(), layouts: layouts.map(|view| layout(&view)).collect() };
        let mut left = times;
        let mut refused = 0;
        while left > 0 && refused < TRIED {
            let known = self.0.0.borrow();
            refused = match known.iter().find(|(known, _)| *known == key).map(|(_, stretch)| stretch) {
                Some(Stretch::Recorded(recording, slots)) if slots.suit(reads) => {
                    return slots.replay(recording, x, reads, fresh, left);
                }
                Some(Stretch::Recorded(..)) => TRIED,
                Some(Stretch::Refused(times)) => *times,
                None => 0,
            };
            drop(known);
            if refused < TRIED {
                let stretch = capture(device, x, reads, describe, refused)?;
                self.keep(device, &key, stretch);
                left -= 1;
            }
        }
        (0..left).try_for_each(|_| describe(x))
    }

    fn keep(&self, device: &Device, key: &Key<K>, stretch: Stretch) {
        let mut known = self.0.0.borrow_mut();
        if known.is_empty() {
            let this: Rc<dyn Forget> = self.0.clone();
            device.may_forget(&this);
        }
        known.retain(|(known, _)| known != key);
        if known.len() >= KEPT {
            known.remove(0);
        }
        known.push((key.clone(), stretch));
    }
}

/// Does the work, and records it.
fn capture<T: TargetOperand>(
    device: &Device,
    x: &mut T,
    reads: &[&dyn Operand],
    describe: &dyn Fn(&mut T) -> Result<()>,
    refused: u8,
) -> Result<Stretch> {
    let Captured { value: slots, recording } = Recording::capture(device, |slots| {
        let reads = reads.iter().map(|read| slots.add(read.view())).collect();
        let before = slots.add(x.view());
        describe(x)?;
        Ok(Slots { before, after: slots.add(x.view()), reads })
    })?;
    Ok(match recording {
        Ok(recording) => Stretch::Recorded(recording, slots),
        Err(_) => Stretch::Refused(refused + 1),
    })
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
        fresh: &dyn Fn() -> Result<T>,
        times: usize,
    ) -> Result<()> {
        let Slots { before, after, reads: slots } = self;
        let run = |x: &[(SlotId, View<'_>)], times| {
            let read = slots.iter().copied().zip(reads.iter().map(|read| read.view()));
            let exchanged: SmallVec<[_; 4]> = read.chain(x.iter().copied()).collect();
            recording.replay_times(&exchanged, times)
        };
        if before == after || !recording.uses(*before) {
            return run(&[(*after, x.view())], times);
        }
        // What `x` holds is read after the first draw into what it becomes.
        let mut next = fresh()?;
        for _ in 0..times {
            run(&[(*before, x.view()), (*after, next.view())], 1)?;
            std::mem::swap(x, &mut next);
        }
        Ok(())
    }
}

/// Draws that are the same in every second turn, recorded in the first turn of each kind. Whoever keeps them vouches that all
/// that they depend on, but for the textures of the operands that are named, stays the same.
#[derive(Default)]
pub(crate) struct Turns(Rc<BothTurns>);

#[derive(Default)]
struct BothTurns(RefCell<[Turn; 2]>);

impl Forget for BothTurns {
    fn forget(&self) {
        let _gone = self.0.try_borrow_mut().map(|mut turns| std::mem::take(&mut *turns));
    }
}

#[derive(Default)]
enum Turn {
    #[default]
    New,
    Recorded(Recording, SmallVec<[SlotId; 4]>),
    Refused,
}

impl Turns {
    /// Draws what `describe` does in turns of this number, of these operands and of no others that could be exchanged.
    pub fn draw(
        &self,
        device: &Device,
        number: usize,
        operands: &[View<'_>],
        describe: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let odd = !number.is_multiple_of(2);
        match self.0.turn(odd).as_deref() {
            Some(Turn::Recorded(recording, slots)) => {
                let exchanged: SmallVec<[_; 4]> =
                    slots.iter().copied().zip(operands.iter().copied()).collect();
                return recording.replay(&exchanged);
            }
            Some(Turn::Refused) => return describe(),
            Some(Turn::New) | None => {}
        }
        let Captured { value: slots, recording } = Recording::capture(device, |slots| {
            let named = operands.iter().map(|view| slots.add(*view)).collect();
            describe().map(|()| named)
        })?;
        let made = recording.map_or(Turn::Refused, |recording| Turn::Recorded(recording, slots));
        let this: Rc<dyn Forget> = self.0.clone();
        device.may_forget(&this);
        let [even, other] = &mut *self.0.0.borrow_mut();
        *(if odd { other } else { even }) = made;
        Ok(())
    }
}

impl BothTurns {
    fn turn(&self, odd: bool) -> Option<Ref<'_, Turn>> {
        Ref::filter_map(self.0.borrow(), |turns| turns.get(usize::from(odd))).ok()
    }
}
