//! Which textures hold what: by that an iteration is recorded once for each of the few arrangements that take turns, and replayed,
//! in this solve and in later ones of the same solver.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use smallvec::SmallVec;

use super::places::{Meaning, Owed, Place, Stored};
use super::{Ends, Recipe, Register, Space};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::gl::TextureName;
use crate::kernel::{Captured, Forget, Layout, Operand, PingPong, Recording, SlotId, View, layout};

/// Distinct textures in the order of their numbers.
type Names = SmallVec<[TextureName; 32]>;

/// The numbers of the textures in all places where passes may read or write one.
type Standing = SmallVec<[Option<u16>; 64]>;

/// Textures in the order of their numbers.
type Views<'v> = SmallVec<[View<'v>; 32]>;

/// Everything by which the passes of one iteration may differ from those of another, but for which textures take part.
#[derive(Clone, PartialEq)]
struct Arrangement {
    standing: Standing,
    /// Of the textures in their order.
    layouts: SmallVec<[Layout; 32]>,
    /// What a register stands for, whether it is still that, and whether its low parts are settled. Versions are not compared.
    meanings: SmallVec<[(Meaning, bool, bool); 8]>,
    owed: Option<Owed>,
    /// The residual is `b`; of the last iteration the iterate alone is asked for; the threshold is found.
    flags: [bool; 3],
    /// Scales, by their bits, and what choices go by.
    scales: [u32; 4],
    choices: u64,
}

/// An iteration as it was drawn from an arrangement, and what that led to.
struct Drawn {
    begin: Arrangement,
    recording: Recording,
    slots: Vec<SlotId>,
    end: Arrangement,
    /// Registers for which the iteration makes vectors: textures numbered past those of the beginning.
    made: Vec<Register>,
}

/// Iterations of a solver as they were drawn, kept from one solve to the next. Clones share them.
#[derive(Clone, Default)]
pub(in crate::solve) struct Iterations(Rc<Known>);

#[derive(Default)]
struct Known {
    drawn: RefCell<Vec<Drawn>>,
    /// Captures that could not be replayed.
    refused: Cell<usize>,
}

impl Forget for Known {
    fn forget(&self) {
        // Dropped when nothing is borrowed any more.
        let _gone = self.drawn.try_borrow_mut().map(|mut drawn| std::mem::take(&mut *drawn));
    }
}

impl Iterations {
    /// Most that are kept, and how many captures may fail before no more are tried.
    const MOST: usize = 12;
    const TRIED: usize = 4;

    /// Keeps an iteration; none where one could not be recorded.
    fn keep(&self, device: &Device, drawn: Option<Drawn>) {
        let Some(drawn) = drawn else { return self.0.refused.set(self.0.refused.get() + 1) };
        let mut all = self.0.drawn.borrow_mut();
        if all.is_empty() {
            let this: Rc<dyn Forget> = self.0.clone();
            device.may_forget(&this);
        }
        if all.len() >= Self::MOST {
            all.remove(0);
        }
        all.push(drawn);
    }

    /// How many are kept.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.drawn.borrow().len()
    }

    fn may_capture(&self) -> bool {
        self.0.refused.get() < Self::TRIED
    }
}

impl Drawn {
    /// Draws it again, from and to these textures of a space, and vectors made for it, which are returned.
    fn replay(&self, space: &Space<'_, '_>, textures: Views<'_>) -> Result<Vec<Vector>> {
        let made = |register: &Register| Vector::uninit(&space.device(), space.len_of(*register)?);
        let made: Vec<Vector> = self.made.iter().map(made).collect::<Result<_>>()?;
        let textures = textures.iter().copied().chain(made.iter().map(Operand::view));
        let exchanged: SmallVec<[_; 32]> = self.slots.iter().copied().zip(textures).collect();
        self.recording.replay(&exchanged)?;
        drop(exchanged);
        Ok(made)
    }
}

fn raw(operand: &impl Operand) -> TextureName {
    operand.view().texture.raw()
}

impl Space<'_, '_> {
    /// An iteration, drawn as it was before where it can be.
    pub(in crate::solve) fn iterated<R: Recipe + Ends>(&mut self, recipe: &mut R) -> Result<()> {
        let known = self.own.iterations.clone();
        let is_replayable =
            self.at.a.is_replayable() && (!self.is_dear() || self.m.is_replayable()) && recipe.repeats();
        if !is_replayable || !known.may_capture() {
            return recipe.iterate(self);
        }
        let (device, mut names) = (self.device(), Names::new());
        let (begin, views) = self.arrangement(&mut names);
        let all = known.0.drawn.borrow();
        if let Some(drawn) = all.iter().find(|drawn| drawn.begin == begin) {
            let made = drawn.replay(self, views)?;
            names.extend(made.iter().map(raw));
            self.arrange(&drawn.end, &names, made);
            return Ok(());
        }
        drop((all, views));
        let drawn = self.captured(begin, names, recipe)?;
        known.keep(&device, drawn);
        Ok(())
    }

    /// Draws an iteration for the first time. `None` where it cannot be replayed.
    fn captured<R: Recipe>(
        &mut self,
        begin: Arrangement,
        names: Names,
        recipe: &mut R,
    ) -> Result<Option<Drawn>> {
        let mut all = names.clone();
        let Captured { value, recording } = Recording::capture(&self.device(), |known| {
            let views = self.arrangement(&mut Names::new()).1;
            let mut slots: Vec<_> = views.into_iter().map(|view| known.add(view)).collect();
            recipe.iterate(self)?;
            let (end, made) = self.arrangement(&mut all);
            slots.extend(made.into_iter().map(|view| known.add(view)));
            Ok((slots, end))
        })?;
        let ((slots, end), Ok(recording)) = (value, recording) else { return Ok(None) };
        let made = all.iter().skip(names.len()).map(|name| self.register_of(*name)).collect();
        Ok(Option::map(made, |made| Drawn { begin, recording, slots, end, made }))
    }

    /// What stands in every place, in the same order each time.
    fn standing(&self) -> SmallVec<[Option<View<'_>>; 64]> {
        let (at, own) = (&*self.at, &*self.own);
        let mut standing = SmallVec::new();
        let low = at.low.as_ref();
        for pair in [Some(&at.y), Some(&at.r), low.map(|low| &low.y), low.map(|low| &low.r)] {
            standing.extend([pair.map(|pair| pair.front().view()), pair.map(|pair| pair.back().view())]);
        }
        for pair in own.scalars() {
            standing.extend([Some(pair.front().view()), Some(pair.back().view())]);
        }
        for stored in own.places.iter().flat_map(|place| [&place.front, &place.back, &place.spare]) {
            standing.push(stored.as_ref().map(|stored| stored.high.view()));
            standing.push(stored.as_ref().and_then(|stored| stored.low.as_ref()).map(Operand::view));
        }
        standing.extend([Some(at.b.view()), own.reducer.scale().map(Operand::view)]);
        standing
    }

    /// How textures are arranged, by their numbers in `names`. Those that are not among them yet are added, and returned.
    fn arrangement(&self, names: &mut Names) -> (Arrangement, Views<'_>) {
        let (at, own) = (&*self.at, &*self.own);
        let (mut standing, mut views) = (Standing::new(), Views::new());
        for view in self.standing() {
            let number = view.map(|view| {
                let name = view.texture.raw();
                names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    views.push(view);
                    names.len() - 1
                })
            });
            standing.push(number.map(|number| u16::try_from(number).unwrap_or(u16::MAX)));
        }
        let arrangement = Arrangement {
            standing,
            layouts: views.iter().map(layout).collect(),
            meanings: own.places.iter().map(|place| self.without_version(place)).collect(),
            owed: own.owed,
            flags: [at.is_b, own.last, own.finds_unit],
            scales: self.scales(),
            choices: at.a.device().choices(),
        };
        (arrangement, views)
    }

    fn scales(&self) -> [u32; 4] {
        let at = &*self.at;
        [at.x_scale(), at.matrix_scale, self.own.lift, at.scale].map(f32::to_bits)
    }

    /// Drops iterations of other scales, which parameters of their passes have: a solve records its own with the textures of those.
    pub(super) fn forget_other_scales(&self) {
        let scales = self.scales();
        self.own.iterations.0.drawn.borrow_mut().retain(|drawn| drawn.begin.scales == scales);
    }

    /// The register that a texture is of.
    fn register_of(&self, name: TextureName) -> Option<Register> {
        let holds = |stored: &Option<Stored>| {
            stored.as_ref().is_some_and(|Stored { high, low }| {
                raw(high) == name || low.as_ref().is_some_and(|low| raw(low) == name)
            })
        };
        let is_of = |place: &Place| [&place.front, &place.back, &place.spare].into_iter().any(holds);
        self.own.places.iter().position(is_of).map(Register)
    }

    fn without_version(&self, place: &Place) -> (Meaning, bool, bool) {
        let is_still = place.meaning.of().is_none_or(|of| self.is_still(of).is_ok());
        (place.meaning.at(0), is_still, place.loose)
    }

    /// Puts the textures of these names, of which some have just been `made`, where they stand in this arrangement.
    fn arrange(&mut self, end: &Arrangement, names: &Names, made: Vec<Vector>) {
        let mut standing = end.standing.iter().map(|number| names.get(usize::from((*number)?)).copied());
        let mut next = || standing.next().flatten();
        let low = self.at.low.as_mut().map(|low| [&mut low.y, &mut low.r]);
        let parts = [Some([&mut self.at.y, &mut self.at.r]), low];
        for pair in parts.into_iter().flat_map(|pairs| pairs.map_or([None, None], |pairs| pairs.map(Some))) {
            turn(pair, [next(), next()]);
        }
        let own = &mut *self.own;
        for pair in own.scalars_mut() {
            turn(Some(pair), [next(), next()]);
        }
        let of_place = |place: &mut Place| [place.front.take(), place.back.take(), place.spare.take()];
        let stored = own.places.iter_mut().flat_map(of_place).flatten();
        let parts = stored.flat_map(|Stored { high, low }| [Some(high), low]);
        let mut vectors: Vec<Option<Vector>> = parts.chain(made.into_iter().map(Some)).collect();
        let mut named = |name: Option<TextureName>| {
            let found = vectors.iter_mut().find(|v| v.as_ref().map(raw) == name && v.is_some());
            found.and_then(Option::take)
        };
        let mut stored = || {
            let [high, low] = [named(next()), named(next())];
            high.map(|high| Stored { high, low })
        };
        let first = own.versions + 1;
        own.versions += own.places.len() as u64;
        for (k, place) in own.places.iter_mut().enumerate() {
            (place.front, place.back, place.spare) = (stored(), stored(), stored());
            place.version = first + k as u64;
            let (meaning, is_still, loose) =
                end.meanings.get(k).copied().unwrap_or((Meaning::Own, true, false));
            place.loose = loose;
            // No register has had version 0.
            let version = |(of, _): (Register, u64)| if is_still { first + of.0 as u64 } else { 0 };
            place.meaning = meaning.at(meaning.of().map_or(0, version));
        }
        (own.owed, own.begins) = (end.owed, false);
        [self.at.is_b, _, own.finds_unit] = end.flags;
    }
}

/// Makes the first of these the front one.
fn turn<T: Operand>(pair: Option<&mut PingPong<T>>, [front, _]: [Option<TextureName>; 2]) {
    if let Some(pair) = pair
        && front != Some(raw(pair.front()))
    {
        pair.swap();
    }
}
