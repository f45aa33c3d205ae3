//! Where a method keeps what it has from one iteration to the next.

use std::borrow::Cow;

use super::arrangement::Iterations;
use super::misuse::{OTHER_STORE, misused};
use super::{Number, Operand, Recipe, Register, Space};
use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand as _, PingPong};
use crate::ops::Windows;
use crate::profile::Workload;
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::state::Bounds;
use crate::solve::precondition::Preconditioner;

/// A vector, or the two of a register of pairs.
pub(super) struct Stored {
    pub(super) high: Vector,
    pub(super) low: Option<Vector>,
}

/// What a register stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Its own vector.
    Own,
    /// Another register, as long as that stays what it was then: who reads it reads that.
    Is(Operand, u64),
    /// The same for once: passes read it as if it had a vector of its own, so that they are those of later iterations.
    Borrows(Register, u64),
    /// The operator's product with another one, computed where it is read.
    Product(Register, u64),
}

impl Meaning {
    /// The same of another version.
    pub(super) fn at(self, version: u64) -> Self {
        match self {
            Meaning::Own => self,
            Meaning::Is(of, _) => Meaning::Is(of, version),
            Meaning::Borrows(of, _) => Meaning::Borrows(of, version),
            Meaning::Product(of, _) => Meaning::Product(of, version),
        }
    }

    /// The register that it stands for, and that one's version.
    pub(super) fn of(self) -> Option<(Register, u64)> {
        match self {
            Meaning::Own => None,
            Meaning::Is(of, version) => Some((of.register, version)),
            Meaning::Borrows(of, version) | Meaning::Product(of, version) => Some((of, version)),
        }
    }
}

/// A register's place.
pub(super) struct Place {
    pub(super) front: Option<Stored>,
    pub(super) back: Option<Stored>,
    /// Room for a third one, where an update of the iterate waits for the direction of before.
    pub(super) spare: Option<Stored>,
    pub(super) meaning: Meaning,
    /// Counts what it has been.
    pub(super) version: u64,
    /// Low parts are not settled: a sum of two floats as products leave it.
    pub(super) loose: bool,
    /// Of the operator's rows, or else of its columns.
    pub(super) of_rows: bool,
}

/// Numbers in one texel.
pub(super) struct Group {
    pub(super) names: Vec<&'static str>,
    pub(super) texel: PingPong<Scalar>,
    /// Its last channel is 1 where what follows is to move by these numbers, else 0.
    pub(super) gates: bool,
    /// In this iteration.
    pub(super) written: bool,
}

/// How passes are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::solve) struct Options {
    /// Products are computed where they are read.
    pub inlines: bool,
    /// The iterate is updated every second time.
    pub defers: bool,
}

/// An update of the iterate that has been left to the next one.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Owed {
    pub(super) factor: Number,
    pub(super) along: Register,
    /// There is no next one: its numbers are those of the last iteration.
    pub(super) settles: bool,
}

/// What a method keeps from one iteration to the next: its registers and numbers. A [`Recipe`] gets its own from it.
pub struct Store {
    pub(super) reducer: Reducer,
    pub(super) wide: bool,
    pub(super) options: Options,
    pub(super) places: Vec<Place>,
    pub(super) groups: Vec<Group>,
    pub(super) report: PingPong<Scalar>,
    /// (threshold on r.r, ceiling, most iterations, 0)
    pub(super) bounds: PingPong<Scalar>,
    /// The threshold becomes relative to the first residual.
    pub(super) finds_unit: bool,
    /// The next scalar step is the first of an iteration.
    pub(super) begins: bool,
    /// The iterate alone is asked for.
    pub(super) last: bool,
    pub(super) owed: Option<Owed>,
    /// By how much larger directions are than updates of the iterate are to be, besides what all scales say.
    pub(in crate::solve) lift: f32,
    pub(super) versions: u64,
    /// The work so far, where it is counted and nothing is drawn.
    pub(super) counted: Option<Workload>,
    pub(super) iterations: Iterations,
    /// Looks at the text of a step with so many sums.
    pub(super) text_of: Option<TextOf>,
}

pub(super) type TextOf = fn(&str, usize) -> Result<Cow<'_, str>>;

/// By how much the operator's products are larger than for a matrix of about 1, of pairs. That is stored at 2^-20 to 2^60, and what
/// it meets is multiplied by what is missing: by 2^-40 at least, where 2^-60 would lose low parts below the range of floats, and by
/// 2^40 at most, so that directions may grow.
pub(super) const ROOM: f64 = (1u32 << 20) as f64;

shown!(Store, |s| "Store({} registers, {} texels of numbers)", s.places.len(), s.groups.len());

impl Store {
    pub(in crate::solve) fn new(
        device: &Device,
        windows: Windows,
        wide: bool,
        options: Options,
    ) -> Result<Self> {
        let pair = || Ok::<_, Error>(PingPong::new(Scalar::uninit(device)?, Scalar::uninit(device)?));
        let mut store = Store {
            reducer: Reducer::new(device, windows),
            wide,
            options,
            places: Vec::new(),
            groups: Vec::new(),
            report: pair()?,
            bounds: pair()?,
            finds_unit: false,
            begins: false,
            last: false,
            owed: None,
            lift: 1.0,
            versions: 0,
            counted: None,
            iterations: Iterations::default(),
            text_of: None,
        };
        // The iterate and its residual.
        for of_rows in [false, true] {
            store.place(of_rows);
        }
        Ok(store)
    }

    fn place(&mut self, of_rows: bool) -> Register {
        self.versions += 1;
        self.places.push(Place {
            front: None,
            back: None,
            spare: None,
            meaning: Meaning::Own,
            version: self.versions,
            loose: false,
            of_rows,
        });
        Register(self.places.len() - 1)
    }

    /// Vectors as long as the operator has rows.
    pub fn registers<const N: usize>(&mut self) -> [Register; N] {
        [(); N].map(|()| self.place(true))
    }

    /// Vectors as long as it has columns.
    pub fn registers_of_columns<const N: usize>(&mut self) -> [Register; N] {
        [(); N].map(|()| self.place(false))
    }

    /// Scalars by the names that they have in the text of scalar steps, for vector updates: each three in a texel, or one pair.
    ///
    /// *Errors*: [`Error::OutOfMemory`].
    pub fn coefficients<const N: usize>(&mut self, names: [&'static str; N]) -> Result<[Number; N]> {
        let most = if self.wide { 1 } else { 3 };
        self.grouped(names, most, true)
    }

    /// Scalars for scalar steps alone, as a rule: each four in a texel, or two pairs. *Errors*: as `coefficients`.
    pub fn numbers<const N: usize>(&mut self, names: [&'static str; N]) -> Result<[Number; N]> {
        let most = if self.wide { 2 } else { 4 };
        self.grouped(names, most, false)
    }

    fn grouped<const N: usize>(
        &mut self,
        names: [&'static str; N],
        most: usize,
        gates: bool,
    ) -> Result<[Number; N]> {
        let first = self.groups.len();
        self.group(&names, most, gates)?;
        let mut places = (0..N).map(|k| Number { group: first + k / most, place: k % most });
        Ok(names.map(|_| places.next().unwrap_or(Number { group: first, place: 0 })))
    }

    fn group(&mut self, names: &[&'static str], most: usize, gates: bool) -> Result<()> {
        let device = self.reducer.device.clone();
        for chunk in names.chunks(most) {
            let texel = PingPong::new(Scalar::uninit(&device)?, Scalar::uninit(&device)?);
            self.groups.push(Group { names: chunk.to_vec(), texel, gates, written: false });
        }
        Ok(())
    }

    pub(in crate::solve) fn is_wide(&self) -> bool {
        self.wide
    }

    /// The report texel.
    pub(in crate::solve) fn report(&self) -> &Scalar {
        self.report.front()
    }

    /// The report texel, for good.
    pub(in crate::solve) fn into_report(self) -> Scalar {
        self.report.into_inner().0
    }

    /// Running again, with so many iterations done.
    pub(in crate::solve) fn restart(&mut self, bounds: Bounds, iterations: usize) -> Result<()> {
        self.owed = None;
        self.report.front_mut().set_texel([0.0, iterations as f32, 0.0, 0.0])?;
        let Bounds { threshold, ceiling, limit } = bounds;
        self.bounds.front_mut().set_texel([threshold, ceiling, limit as f32, 0.0])
    }

    /// Sums are taken in units in which the largest element of `b` is about 1, and the threshold is relative to the square of its
    /// norm: that of the first residual that is tested, where it `is_next`. *Cost*: a reduction; where not, two and a draw.
    pub(in crate::solve) fn relative_to(&mut self, b: &Vector, is_next: bool) -> Result<()> {
        self.reducer.relative_to(b)?;
        self.finds_unit = is_next;
        if is_next {
            return Ok(());
        }
        let square = self.reducer.totals(Dots::Residual, &[b, b])?;
        Draw::new(&self.reducer.device, glsl!("solve/relative.frag"))
            .input("bounds", self.bounds.front().view())
            .input("square", square.view())
            .target(self.bounds.back().view())
            .run()?;
        self.bounds.swap();
        Ok(())
    }

    /// The same with iterations that are kept from one solve to the next.
    pub(in crate::solve) fn keeping(self, iterations: &Iterations) -> Self {
        Store { iterations: iterations.clone(), ..self }
    }

    /// All that scalars lie in.
    pub(super) fn scalars(&self) -> impl Iterator<Item = &PingPong<Scalar>> {
        self.groups.iter().map(|group| &group.texel).chain([&self.report, &self.bounds])
    }

    /// The same, to be exchanged.
    pub(super) fn scalars_mut(&mut self) -> impl Iterator<Item = &mut PingPong<Scalar>> {
        self.groups.iter_mut().map(|group| &mut group.texel).chain([&mut self.report, &mut self.bounds])
    }

    /// The work of an iteration, counted without drawing: on average, where updates wait.
    pub(in crate::solve) fn count<R: Recipe>(
        &mut self,
        m: &dyn Preconditioner,
        at: &mut Iterate<'_>,
        recipe: &mut R,
    ) -> Result<Workload> {
        self.counted = Some(Workload::default());
        let mut space = Space { at, m, own: self };
        for _ in 0..2 {
            space.begins(false);
            recipe.iterate(&mut space)?;
        }
        Ok(self.counted.take().unwrap_or_default() * 0.5)
    }

    pub(super) fn place_of(&self, Register(k): Register) -> Result<&Place> {
        self.places.get(k).ok_or_else(|| misused(Register(k), OTHER_STORE))
    }

    pub(super) fn place_mut(&mut self, Register(k): Register) -> Result<&mut Place> {
        self.places.get_mut(k).ok_or_else(|| misused(Register(k), OTHER_STORE))
    }

    pub(super) fn changed(&mut self, register: Register) -> Result<()> {
        self.versions += 1;
        let version = self.versions;
        let place = self.place_mut(register)?;
        (place.version, place.meaning, place.loose) = (version, Meaning::Own, false);
        Ok(())
    }
}
