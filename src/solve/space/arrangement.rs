//! Which textures hold what: by that an iteration is recorded once for each of the few arrangements that take turns, and replayed.

use super::places::{Meaning, Owed, Place, Stored};
use super::{Ends, Recipe, Register, Space};
use crate::data::Scalar;
use crate::error::Result;
use crate::gl::TextureName;
use crate::kernel::{Captured, Operand, PingPong, Recording};

/// Everything by which the passes of one iteration may differ from those of another.
#[derive(Clone, PartialEq)]
pub(super) struct Arrangement {
    textures: Vec<Option<TextureName>>,
    /// And whether what a register stands for is still that. Versions are not compared.
    meanings: Vec<(Meaning, bool)>,
    owed: Option<Owed>,
    is_b: bool,
    last: bool,
    finds_unit: bool,
    loose: Vec<bool>,
    /// Scales, by their bits, and what choices go by.
    scales: [u32; 4],
    choices: u64,
}

impl Arrangement {
    fn names(&self) -> Vec<TextureName> {
        let mut names: Vec<TextureName> = self.textures.iter().flatten().copied().collect();
        names.sort_unstable();
        names
    }
}

/// Iterations as they were drawn from an arrangement, and what that led to.
#[derive(Default)]
pub(super) struct Iterations {
    known: Vec<(Arrangement, Recording, Arrangement)>,
    /// Captures that could not be replayed.
    refused: usize,
}

/// Most arrangements that are kept; and how many captures may fail before no more are tried.
const MOST: usize = 12;
const TRIED: usize = 4;

fn raw(operand: &impl Operand) -> TextureName {
    operand.view().texture.raw()
}

impl Space<'_, '_> {
    /// An iteration, drawn as it was before where it can be.
    pub(in crate::solve) fn iterated<R: Recipe + Ends>(&mut self, recipe: &mut R) -> Result<()> {
        let can = recipe.repeats()
            && !self.own.wide
            && self.at.a.is_replayable()
            && (!self.is_dear() || self.m.is_replayable())
            && self.own.iterations.refused < TRIED;
        if !can {
            return recipe.iterate(self);
        }
        let begin = self.arrangement();
        if let Some((_, recording, end)) =
            self.own.iterations.known.iter().find(|(known, ..)| *known == begin)
        {
            recording.replay(&[])?;
            let end = end.clone();
            self.arrange(&end);
            return Ok(());
        }
        let device = self.device();
        let Captured { recording, .. } = Recording::capture(&device, |_| recipe.iterate(self))?;
        let end = self.arrangement();
        // An iteration that makes vectors is drawn from these the next time.
        match recording {
            Ok(recording) if begin.names() == end.names() && self.own.iterations.known.len() < MOST => {
                self.own.iterations.known.push((begin, recording, end));
            }
            _ => self.own.iterations.refused += 1,
        }
        Ok(())
    }

    fn arrangement(&self) -> Arrangement {
        let (at, own) = (&*self.at, &*self.own);
        let mut textures: Vec<Option<TextureName>> = [&at.y, &at.r]
            .iter()
            .flat_map(|pair| [Some(raw(pair.front())), Some(raw(pair.back()))])
            .collect();
        let scalars = own.groups.iter().map(|group| &group.texel).chain([&own.report, &own.bounds]);
        textures.extend(scalars.flat_map(|pair| [Some(raw(pair.front())), Some(raw(pair.back()))]));
        let stored = |stored: &Option<Stored>| stored.as_ref().map(|stored| raw(&stored.high));
        textures
            .extend(own.places.iter().flat_map(|p| [stored(&p.front), stored(&p.back), stored(&p.spare)]));
        let scales = [at.x_scale(), at.matrix_scale, own.lift, at.scale].map(f32::to_bits);
        Arrangement {
            textures,
            meanings: own.places.iter().map(|place| self.without_version(place.meaning)).collect(),
            owed: own.owed,
            is_b: at.is_b,
            last: own.last,
            finds_unit: own.finds_unit,
            loose: own.places.iter().map(|place| place.loose).collect(),
            scales,
            choices: at.a.device().choices(),
        }
    }

    fn without_version(&self, meaning: Meaning) -> (Meaning, bool) {
        let is_still = |of, version| self.is_still((of, version)).is_ok();
        match meaning {
            Meaning::Own => (Meaning::Own, true),
            Meaning::Is(of, version) => (Meaning::Is(of, 0), is_still(of.register, version)),
            Meaning::Borrows(of, version) => (Meaning::Borrows(of, 0), is_still(of, version)),
            Meaning::Product(of, version) => (Meaning::Product(of, 0), is_still(of, version)),
        }
    }

    /// Puts the textures where they are in this arrangement of the same ones.
    fn arrange(&mut self, end: &Arrangement) {
        let mut names = end.textures.iter().copied();
        let mut pair = || [names.next().flatten(), names.next().flatten()];
        for vectors in [&mut self.at.y, &mut self.at.r] {
            if pair()[0] != Some(raw(vectors.front())) {
                vectors.swap();
            }
        }
        let own = &mut *self.own;
        let scalars = own.groups.iter_mut().map(|group| &mut group.texel);
        for scalars in scalars.chain([&mut own.report, &mut own.bounds]) {
            turned(scalars, pair()[0]);
        }
        let of_place = |place: &mut Place| [place.front.take(), place.back.take(), place.spare.take()];
        let mut vectors: Vec<Option<Stored>> = own.places.iter_mut().flat_map(of_place).collect();
        let mut next = || {
            let name = names.next().flatten()?;
            vectors.iter_mut().find(|v| v.as_ref().is_some_and(|v| raw(&v.high) == name))?.take()
        };
        let first = own.versions + 1;
        own.versions += own.places.len() as u64;
        for (k, place) in own.places.iter_mut().enumerate() {
            (place.front, place.back, place.spare) = (next(), next(), next());
            place.version = first + k as u64;
            place.loose = end.loose.get(k).copied().unwrap_or(false);
            // No register has had version 0.
            let version = |of: Register, is_still: bool| if is_still { first + of.0 as u64 } else { 0 };
            place.meaning = match end.meanings.get(k).copied().unwrap_or((Meaning::Own, true)) {
                (Meaning::Own, _) => Meaning::Own,
                (Meaning::Is(of, _), still) => Meaning::Is(of, version(of.register, still)),
                (Meaning::Borrows(of, _), still) => Meaning::Borrows(of, version(of, still)),
                (Meaning::Product(of, _), still) => Meaning::Product(of, version(of, still)),
            };
        }
        (own.owed, own.begins) = (end.owed, false);
        own.finds_unit = end.finds_unit;
        self.at.is_b = end.is_b;
    }
}

fn turned(scalars: &mut PingPong<Scalar>, front: Option<TextureName>) {
    if front != Some(raw(scalars.front())) {
        scalars.swap();
    }
}
