//! What a method works on: registers, numbers, the operator and the preconditioner, and how passes are made of its statements.
//!
//! A method is a [`Recipe`]: the formulas of its source in their order. The [`Space`] owns what is the same for all of them: where
//! vectors lie and which of two textures is the front one, scalars on the device, range tests, the flag that freezes the iterates,
//! the report, draw-buffer limits, products that are computed where they are read, updates that may wait, arithmetic in floats or in
//! pairs of them, and what all of that costs.

mod arrangement;
mod expr;
mod run;
mod step;
mod sums;
mod update;
mod wide;

pub use expr::{Dot, M, Number, Operand, Register, Update};
pub(in crate::solve) use run::Running;
pub(in crate::solve) use step::Besides;

use arrangement::Iterations;

use std::fmt::Write as _;

use crate::data::{Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Name, Operand as _, PingPong, View};
use crate::ops::{self, Combine, Summand, Windows};
use crate::profile::Workload;
use crate::shape::{Extent, Shape};
use crate::solve::drive::dots::{Dots, Reducer};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::null_space::project_parts;
use crate::solve::drive::state::{Bounds, Report};
use crate::solve::drive::{After, SPELL};
use crate::solve::precondition::Preconditioner;

/// A method of Krylov's kind: what it keeps, how it begins, and what an iteration is.
pub trait Recipe: Sized {
    /// Its name, for errors.
    const NAME: &'static str;

    /// How far the residual may grow in a run that was begun afresh.
    const GROWTH: f64 = f64::MAX;

    /// Whether beginning afresh loses what an iteration makes use of: the residual is not replaced on the way to the bound.
    const LOSES: bool = false;

    /// Begins with the residual just recomputed: afresh, or going on along the direction it has.
    ///
    /// *Errors*: those of the statements.
    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()>;

    /// Makes what the method keeps of the residual, which is scaled by this factor now, belong to that: vectors times the factor,
    /// their squares times its square. Of pairs, before it goes on along the direction it has.
    ///
    /// *Errors*: those of the statements.
    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        let _ = (s, factor);
        Ok(())
    }

    /// One iteration, without a readback. *Errors*: those of the statements.
    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()>;

    /// Does what iterations have left to the next one, once a run has ended. *Errors*: those of the statements.
    fn finish(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let _ = s;
        Ok(())
    }

    /// Whether iterations that are alike to the space are the same passes: of a recipe without counters of its own.
    fn repeats(&self) -> bool {
        true
    }

    /// Whether the residual that an iteration reports, unless it freezes, is that of before its update.
    fn tests_before(&self) -> bool {
        false
    }

    /// How often in a row a start has failed: the next run takes another one, if there are several.
    fn attempt(&mut self, failed: usize) {
        let _ = failed;
    }

    /// Iterations after which the residual is recomputed in any case, of unknowns that are pairs or not.
    fn spell(&self, is_double: bool) -> Option<usize> {
        is_double.then_some(SPELL)
    }

    /// What the theory says of a run that has ended like this.
    fn after(&self, last: &Report) -> After {
        last.breakdown().map_or(After::Judge, After::End)
    }
}

/// A vector, or the two of a register of pairs.
struct Stored {
    high: Vector,
    low: Option<Vector>,
}

/// What a register stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Its own vector.
    Own,
    /// Another register, as long as that stays what it was then: who reads it reads that.
    Is(Operand, u64),
    /// The same for once: passes read it as if it had a vector of its own, so that they are those of later iterations.
    Borrows(Register, u64),
    /// The operator's product with another one, computed where it is read.
    Product(Register, u64),
}

/// A register's place.
struct Place {
    front: Option<Stored>,
    back: Option<Stored>,
    /// Room for a third one, where an update of the iterate waits for the direction of before.
    spare: Option<Stored>,
    meaning: Meaning,
    /// Counts what it has been.
    version: u64,
    /// Low parts are not settled: a sum of two floats as products leave it.
    loose: bool,
    /// Of the operator's rows, or else of its columns.
    of_rows: bool,
}

/// Numbers in one texel.
struct Group {
    names: Vec<&'static str>,
    texel: PingPong<Scalar>,
    /// Its last channel is 1 where what follows is to move by these numbers, else 0.
    gates: bool,
    /// In this iteration.
    written: bool,
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
struct Owed {
    factor: Number,
    along: Register,
}

/// What a method keeps from one iteration to the next.
pub(in crate::solve) struct Store {
    reducer: Reducer,
    wide: bool,
    options: Options,
    places: Vec<Place>,
    groups: Vec<Group>,
    report: PingPong<Scalar>,
    /// (threshold on r.r, ceiling, most iterations, 0)
    bounds: PingPong<Scalar>,
    /// The threshold becomes relative to the first residual.
    finds_unit: bool,
    /// The next scalar step is the first of an iteration.
    begins: bool,
    /// The iterate alone is asked for.
    last: bool,
    owed: Option<Owed>,
    /// By how much larger directions are than updates of the iterate are to be, besides what all scales say.
    pub lift: f32,
    versions: u64,
    /// What it comes to, where nothing is drawn.
    counted: Option<Workload>,
    iterations: Iterations,
}

/// By how much the operator's products are larger than for a matrix of about 1, of pairs. That is stored at 2^-20 to 2^60, and what
/// it meets is multiplied by what is missing: by 2^-40 at least, where 2^-60 would lose low parts below the range of floats, and by
/// 2^40 at most, so that directions may grow.
const ROOM: f64 = (1u32 << 20) as f64;

impl Store {
    pub fn new(device: &Device, windows: Windows, wide: bool, options: Options) -> Result<Self> {
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
        let device = self.reducer.device.clone();
        let first = self.groups.len();
        for chunk in names.chunks(most) {
            let texel = PingPong::new(Scalar::uninit(&device)?, Scalar::uninit(&device)?);
            self.groups.push(Group { names: chunk.to_vec(), texel, gates, written: false });
        }
        let mut places = (0..N).map(|k| Number { group: first + k / most, place: k % most });
        Ok(names.map(|_| places.next().unwrap_or(Number { group: first, place: 0 })))
    }

    pub fn is_wide(&self) -> bool {
        self.wide
    }

    /// The report texel.
    pub fn report(&self) -> &Scalar {
        self.report.front()
    }

    /// The report texel, for good.
    pub fn into_report(self) -> Scalar {
        self.report.into_inner().0
    }

    /// Running again, with so many iterations done.
    pub fn restart(&mut self, bounds: Bounds, iterations: usize) -> Result<()> {
        self.owed = None;
        self.report.front_mut().set_texel([0.0, iterations as f32, 0.0, 0.0])?;
        let Bounds { threshold, ceiling, limit } = bounds;
        self.bounds.front_mut().set_texel([threshold, ceiling, limit as f32, 0.0])
    }

    /// Sums are taken in units in which the largest element of `b` is about 1, and the threshold is relative to the square of its
    /// norm: that of the first residual that is tested, where it `is_next`. *Cost*: a reduction; where not, two and a draw.
    pub fn relative_to(&mut self, b: &Vector, is_next: bool) -> Result<()> {
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

    /// What an iteration comes to, with nothing drawn: on average, where updates wait.
    pub fn count<R: Recipe>(&mut self, m: &dyn Preconditioner, at: &mut Iterate<'_>, recipe: &mut R) -> Result<Workload> {
        self.counted = Some(Workload::default());
        let mut space = Space { at, m, own: self };
        for _ in 0..2 {
            space.begins(false);
            recipe.iterate(&mut space)?;
        }
        Ok(self.counted.take().unwrap_or_default() * 0.5)
    }

    fn place_of(&self, Register(k): Register) -> Result<&Place> {
        self.places.get(k).ok_or(Error::Internal { place: "Space", detail: "a register of another space" })
    }

    fn place_mut(&mut self, Register(k): Register) -> Result<&mut Place> {
        self.places.get_mut(k).ok_or(Error::Internal { place: "Space", detail: "a register of another space" })
    }

    fn changed(&mut self, register: Register) -> Result<()> {
        self.versions += 1;
        let version = self.versions;
        let place = self.place_mut(register)?;
        (place.version, place.meaning, place.loose) = (version, Meaning::Own, false);
        Ok(())
    }
}

/// What a register holds, for a pass that reads it.
#[derive(Clone, Copy)]
struct Source<'v> {
    high: &'v Vector,
    low: Option<&'v Vector>,
    loose: bool,
}

/// An operand traced to what has to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Vector(Register),
    /// The operator times that.
    Product(Register),
}

/// A system and the registers of the method that solves it.
pub struct Space<'s, 'a> {
    pub(in crate::solve) at: &'s mut Iterate<'a>,
    pub(in crate::solve) m: &'s dyn Preconditioner,
    pub(in crate::solve) own: &'s mut Store,
}

impl<'s, 'a> Space<'s, 'a> {
    /// The iterate.
    pub const X: Register = Register(0);
    /// Its residual by the recurrence.
    pub const R: Register = Register(1);

    pub(in crate::solve) fn device(&self) -> Device {
        self.at.a.device().clone()
    }

    /// The diagonal of the preconditioner, where passes can read it with the texels that it is for.
    fn diagonal(&self) -> Option<&'s Vector> {
        self.m.diagonal()
    }

    /// Whether the preconditioner takes passes of its own.
    pub fn is_dear(&self) -> bool {
        self.m.is_dear()
    }

    fn is_inline(&self, register: Register) -> Result<bool> {
        if self.m.is_identity() {
            return Ok(true);
        }
        let len = self.len_of(register)?;
        let extent = self.extent_of(register)?;
        Ok(self.diagonal().is_some_and(|m| {
            m.len() == len && m.extent() == extent && m.device().gl().same(self.at.a.device().gl())
        }))
    }

    fn extent_of(&self, register: Register) -> Result<Extent> {
        let of_rows = self.own.place_of(register)?.of_rows;
        Ok(if of_rows { self.at.r.front().extent() } else { self.at.y.front().extent() })
    }

    fn len_of(&self, register: Register) -> Result<usize> {
        let Shape { rows, cols } = self.at.a.shape();
        Ok(if self.own.place_of(register)?.of_rows { rows } else { cols })
    }

    /// By what the operator is scaled in products.
    fn matrix_scale(&self) -> f32 {
        let scale = self.at.matrix_scale;
        if self.own.wide { (f64::from(scale) * ROOM).min(125f64.exp2()) as f32 } else { scale }
    }

    /// What an operand is read from, and whether it is multiplied by the diagonal.
    fn root(&self, Operand { register, weighted }: Operand) -> Result<(Root, bool)> {
        let (of, root, times) = match self.own.place_of(register)?.meaning {
            Meaning::Own | Meaning::Borrows(..) => {
                return Ok((Root::Vector(register), weighted && !self.m.is_identity()));
            }
            Meaning::Is(of, version) => {
                let (root, times) = self.root(of)?;
                ((of.register, version), root, times)
            }
            Meaning::Product(of, version) => ((of, version), Root::Product(of), false),
        };
        self.is_still(of)?;
        if weighted && times {
            return Err(Error::Internal { place: "Space", detail: "the preconditioner applied twice" });
        }
        Ok((root, (weighted || times) && !self.m.is_identity()))
    }

    fn is_still(&self, (register, version): (Register, u64)) -> Result<()> {
        if self.own.place_of(register)?.version == version {
            return Ok(());
        }
        let detail = "a register is read that stands for one which has changed since";
        Err(Error::Internal { place: "Space", detail })
    }

    /// What a register holds that is read as a vector.
    fn source(&self, register: Register) -> Result<Source<'_>> {
        let place = self.own.place_of(register)?;
        if let Meaning::Borrows(of, version) = place.meaning {
            self.is_still((of, version))?;
            return self.source(of);
        }
        let low = self.at.low.as_ref();
        match register {
            Self::X => Ok(Source { high: self.at.y.front(), low: low.map(|l| l.y.front()), loose: false }),
            Self::R => Ok(Source { high: self.at.residual_at_hand(), low: low.map(|l| l.r.front()), loose: false }),
            _ => match &place.front {
                Some(Stored { high, low }) => Ok(Source { high, low: low.as_ref(), loose: place.loose }),
                None => {
                    Err(Error::Internal { place: "Space", detail: "a register is read before it is written" })
                }
            },
        }
    }

    fn stored(&self, register: Register) -> Result<Stored> {
        let (device, len) = (self.device(), self.len_of(register)?);
        let low = if self.own.wide { Some(Vector::uninit(&device, len)?) } else { None };
        Ok(Stored { high: Vector::uninit(&device, len)?, low })
    }

    /// Makes room for what a register is to be next.
    fn with_back(&mut self, register: Register) -> Result<()> {
        if register == Self::X || register == Self::R || self.own.place_of(register)?.back.is_some() {
            return Ok(());
        }
        let stored = self.stored(register)?;
        self.own.place_mut(register)?.back = Some(stored);
        Ok(())
    }

    /// Where a register's next value is written.
    fn target(&self, register: Register) -> Result<(&Vector, Option<&Vector>)> {
        let low = self.at.low.as_ref();
        match register {
            Self::X => Ok((self.at.y.back(), low.map(|l| l.y.back()))),
            Self::R => Ok((self.at.r.back(), low.map(|l| l.r.back()))),
            _ => match &self.own.place_of(register)?.back {
                Some(Stored { high, low }) => Ok((high, low.as_ref())),
                None => Err(Error::Internal { place: "Space", detail: "a register without room" }),
            },
        }
    }

    /// What has been written is what the register holds.
    fn written(&mut self, register: Register) -> Result<()> {
        match register {
            Self::X => {
                self.at.y.swap();
                self.at.low.iter_mut().for_each(|low| low.y.swap());
            }
            Self::R => {
                self.at.is_b = false;
                self.at.r.swap();
                self.at.low.iter_mut().for_each(|low| low.r.swap());
            }
            _ => {
                let place = self.own.place_mut(register)?;
                std::mem::swap(&mut place.front, &mut place.back);
            }
        }
        self.own.changed(register)
    }

    /// `q = A p`: written, or left to its readers.
    ///
    /// *Errors*: those of the operator.
    pub fn product(&mut self, q: Register, p: Register) -> Result<()> {
        self.multiplied(q, p, false)
    }

    /// `q = Aᵀ p`. *Errors*: those of the operator.
    pub fn transposed_product(&mut self, q: Register, p: Register) -> Result<()> {
        self.multiplied(q, p, true)
    }

    /// `q = v + Aᵀ p`, in 32 bits. *Errors*: those of the operator.
    pub fn transposed_onto(&mut self, q: Register, v: Register, p: Register) -> Result<()> {
        let mut next = self.taken(q)?;
        let (a, scale, onto) = (self.at.a, self.matrix_scale(), self.source(v)?.high);
        let x = self.source(p)?.high;
        let done = ops::product_transposed(&mut next.high, Combine::AddTo(onto), scale, a, x);
        self.put(q, next)?;
        done
    }

    fn multiplied(&mut self, q: Register, p: Register, transposed: bool) -> Result<()> {
        if self.root(p.into())?.1 {
            self.materialise(p)?;
        }
        let (Root::Vector(of), false) = self.root(p.into())? else {
            return Err(Error::Internal { place: "Space::product", detail: "a product of what is not written" });
        };
        if self.own.options.inlines && !transposed {
            let version = self.own.place_of(p)?.version;
            self.own.changed(q)?;
            self.own.place_mut(q)?.meaning = Meaning::Product(p, version);
            return Ok(());
        }
        if let Some(counted) = &mut self.own.counted {
            *counted = *counted + self.at.a.workload().unwrap_or_default();
            return self.own.changed(q);
        }
        let (a, scale) = (self.at.a, self.matrix_scale());
        if self.own.wide {
            let Source { high, low, .. } = self.source(of)?;
            let terms = Summand { transposed, alpha: scale, x: high, x_low: low };
            let [high, low] = ops::pair_product(a, terms)?;
            self.put(q, Stored { high, low: Some(low) })?;
            self.own.place_mut(q)?.loose = true;
            return Ok(());
        }
        let mut next = self.taken(q)?;
        let x = self.source(of)?.high;
        let done = match transposed {
            false => ops::product(&mut next.high, Combine::Replace, scale, a, x),
            true => ops::product_transposed(&mut next.high, Combine::Replace, scale, a, x),
        };
        self.put(q, next)?;
        done
    }

    /// The vector of a register of which nothing is needed once the next one is written.
    fn taken(&mut self, register: Register) -> Result<Stored> {
        match self.own.place_mut(register)?.front.take() {
            Some(stored) => Ok(stored),
            None => self.stored(register),
        }
    }

    /// Makes this what a register holds.
    fn put(&mut self, register: Register, stored: Stored) -> Result<()> {
        self.own.place_mut(register)?.front = Some(stored);
        self.own.changed(register)
    }

    /// Makes a register hold this vector, in 32 bits.
    pub(in crate::solve) fn load(&mut self, register: Register, high: Vector) -> Result<()> {
        self.put(register, Stored { high, low: None })
    }

    /// `z = M r`: nothing is done where the preconditioner is a diagonal, or none: who reads `z` reads `r`.
    ///
    /// *Errors*: those of the preconditioner.
    pub fn precondition(&mut self, z: Register, r: Register) -> Result<()> {
        if self.is_inline(r)? {
            let version = self.own.place_of(r)?.version;
            let weighted = !self.m.is_identity();
            self.own.changed(z)?;
            self.own.place_mut(z)?.meaning = Meaning::Is(Operand { register: r, weighted }, version);
            return Ok(());
        }
        let (Root::Vector(of), false) = self.root(r.into())? else {
            return Err(Error::Internal { place: "Space::precondition", detail: "of what is not written" });
        };
        let mut next = self.taken(z)?;
        let done = self.m.precondition(&mut next.high, self.source(of)?.high);
        if let Some(low) = &mut next.low {
            low.set_zero()?;
        }
        self.put(z, next)?;
        done
    }

    /// `r = r - A p`, in 32 bits. *Errors*: those of the operator.
    pub(in crate::solve) fn subtract_product(&mut self, r: Register, p: Register) -> Result<()> {
        if self.root(p.into())?.1 {
            self.materialise(p)?;
        }
        let (Root::Vector(of), false) = self.root(p.into())? else {
            return Err(Error::Internal { place: "Space::product", detail: "a product of what is not written" });
        };
        let mut next = Vector::uninit(&self.device(), self.len_of(r)?)?;
        let (Source { high: from, .. }, Source { high: x, .. }) = (self.source(r)?, self.source(of)?);
        ops::product(&mut next, Combine::SubtractFrom(from), self.matrix_scale(), self.at.a, x)?;
        if r != Self::R {
            return self.load(r, next);
        }
        *self.at.r.back_mut() = next;
        self.written(r)
    }

    /// The vector that a register is read from, in 32 bits.
    pub(in crate::solve) fn vector(&mut self, v: Register) -> Result<&Vector> {
        if self.root(v.into())?.1 {
            self.materialise(v)?;
        }
        match self.root(v.into())? {
            (Root::Vector(of), false) => Ok(self.source(of)?.high),
            _ => Err(Error::Internal { place: "Space", detail: "a vector of what is not written" }),
        }
    }

    /// The vector of a register, to be changed.
    pub(in crate::solve) fn vector_mut(&mut self, v: Register) -> Result<&mut Vector> {
        self.own.changed(v)?;
        match &mut self.own.place_mut(v)?.front {
            Some(Stored { high, .. }) => Ok(high),
            None => Err(Error::Internal { place: "Space", detail: "a register is changed before it is written" }),
        }
    }

    /// The texel that a number is in.
    pub(in crate::solve) fn texel(&self, number: Number) -> Result<&Scalar> {
        let group = self.own.groups.get(number.group).map(|group| group.texel.front());
        group.ok_or(Error::Internal { place: "Space", detail: "a number of another space" })
    }

    /// The report after the last step.
    pub(in crate::solve) fn report(&self) -> &Scalar {
        self.own.report()
    }

    /// Registers change places: each takes what the next one holds, the last one what the first held.
    pub fn turn<const N: usize>(&mut self, registers: [Register; N]) -> Result<()> {
        for pair in registers.windows(2) {
            let [Register(a), Register(b)] = *pair else { continue };
            if a <= Self::R.0 || b <= Self::R.0 || a.max(b) >= self.own.places.len() {
                return Err(Error::Internal { place: "Space::turn", detail: "registers that cannot change places" });
            }
            self.own.places.swap(a, b);
            // What stands for one of them stands for it where it is now.
            let moved = |of: &mut Register| {
                of.0 = if of.0 == a { b } else if of.0 == b { a } else { of.0 };
            };
            for place in &mut self.own.places {
                match &mut place.meaning {
                    Meaning::Own => {}
                    Meaning::Is(operand, _) => moved(&mut operand.register),
                    Meaning::Borrows(of, _) | Meaning::Product(of, _) => moved(of),
                }
            }
        }
        Ok(())
    }

    /// `v = 0`.
    pub fn clear(&mut self, v: Register) -> Result<()> {
        self.with_back(v)?;
        if let Some(Stored { high, low }) = &mut self.own.place_mut(v)?.back {
            high.set_zero()?;
            low.iter_mut().try_for_each(Vector::set_zero)?;
        }
        self.written(v)
    }

    /// Makes a number this one, and those that it is kept with zero. *Cost*: 1 clear.
    pub fn set(&mut self, number: Number, value: f32) -> Result<()> {
        self.set_two(number, [value, 0.0])
    }

    /// The same of a number and the next one that it is kept with.
    pub fn set_two(&mut self, number: Number, values: [f32; 2]) -> Result<()> {
        let mut texel = [0.0; 4];
        let step = if self.own.wide { 2 } else { 1 };
        for (k, value) in values.into_iter().enumerate() {
            texel.get_mut((number.place + k) * step).into_iter().for_each(|v| *v = value);
        }
        match self.own.groups.get_mut(number.group) {
            Some(group) => group.texel.front_mut().set_texel(texel),
            None => Ok(()),
        }
    }

    /// `v = u`, in a vector of its own.
    pub fn copy(&mut self, v: Register, u: Register) -> Result<()> {
        self.update_as(v, u.into())
    }

    /// Numbers from 1/2 to 3/2 and their negatives, by a hash of their places and a seed. *Cost*: 1 draw.
    pub fn scatter(&mut self, v: Register, seed: usize) -> Result<()> {
        self.with_back(v)?;
        Draw::new(&self.device(), glsl!("solve/shadow.frag"))
            .param("seed", i32::try_from(seed).unwrap_or(i32::MAX))
            .masked(true)
            .target(self.target(v)?.0.view())
            .run()?;
        if let Some(Stored { low: Some(low), .. }) = &mut self.own.place_mut(v)?.back {
            low.set_zero()?;
        }
        self.written(v)
    }

    /// A vector of its own for what stands for another one.
    fn materialise(&mut self, v: Register) -> Result<()> {
        match self.own.place_of(v)?.meaning {
            Meaning::Is(operand, _) => self.update_as(v, operand),
            _ => Ok(()),
        }
    }

    /// Takes out what lies in the operator's null space.
    pub fn project(&mut self, v: Register) -> Result<()> {
        let null_space = self.at.a.null_space();
        match &mut self.own.place_mut(v)?.front {
            Some(Stored { high, low }) => project_parts(high, low.as_mut(), null_space),
            None => Ok(()),
        }
    }

    /// Multiplies what a register holds by a power of two.
    pub fn scale(&mut self, v: Register, factor: f32) -> Result<()> {
        self.with_back(v)?;
        let Source { high, low, .. } = self.source(v)?;
        let (mut next, mut next_low) =
            (Vector::uninit(high.device(), high.len())?, Vector::uninit(high.device(), high.len())?);
        ops::scaled(&mut next, factor, high)?;
        let low = match low {
            Some(low) => {
                ops::scaled(&mut next_low, factor, low)?;
                Some(next_low)
            }
            None => None,
        };
        self.own.place_mut(v)?.back = Some(Stored { high: next, low });
        self.written(v)
    }

    /// The residual has been recomputed.
    fn renewed(&mut self) -> Result<()> {
        self.own.changed(Self::X)?;
        self.own.changed(Self::R)
    }

    /// The next statement is the first one of an iteration; of the last one the iterate alone is asked for.
    pub(in crate::solve) fn begins(&mut self, is_last: bool) {
        (self.own.begins, self.own.last) = (true, is_last);
    }

    /// Settles what iterations have left to the next one.
    pub(in crate::solve) fn settle(&mut self) -> Result<()> {
        self.pay()
    }
}

/// The text of a pass and what it reads, as it is put together.
#[derive(Default)]
struct Reads {
    roots: Vec<Register>,
    /// The register whose product is computed in the pass.
    product: Option<Register>,
    weighted: bool,
    /// Registers that are assigned before they are read.
    unread: Vec<Register>,
}

impl Reads {
    /// The variable for a register's texel.
    fn of(&mut self, space: &Space<'_, '_>, operand: Operand) -> Result<String> {
        let (root, weighted) = space.root(operand)?;
        let name = match root {
            Root::Vector(register) => self.variable(register),
            Root::Product(of) => {
                self.product = Some(of);
                "t_q".to_owned()
            }
        };
        if weighted {
            self.weighted = true;
            return Ok(format!("weighted(t_m, {name})"));
        }
        Ok(name)
    }

    fn variable(&mut self, register: Register) -> String {
        let k = self.roots.iter().position(|r| *r == register).unwrap_or_else(|| {
            self.roots.push(register);
            self.roots.len() - 1
        });
        format!("t{k}")
    }

    /// The register that is the input `x`.
    fn factor(&self, space: &Space<'_, '_>) -> Result<Option<Register>> {
        let Some(of) = self.product else { return Ok(None) };
        match space.root(of.into())? {
            (Root::Vector(register), false) => Ok(Some(register)),
            _ => Err(Error::Internal { place: "Space", detail: "a product of what is not written" }),
        }
    }

    /// How many textures are read besides that.
    fn count(&self, space: &Space<'_, '_>) -> Result<usize> {
        let x = self.factor(space)?;
        let others = self.roots.iter().filter(|r| x != Some(**r) && !self.unread.contains(r)).count();
        Ok(others * if space.own.wide { 2 } else { 1 } + usize::from(self.weighted))
    }

    /// Loads all of that, by accessors of this kind; and what is fetched.
    fn loads(
        &self,
        space: &Space<'_, '_>,
        by: &str,
        [open, close]: [&str; 2],
    ) -> Result<String> {
        let mut text = String::new();
        let x = self.factor(space)?;
        for (k, register) in self.roots.iter().enumerate() {
            if self.unread.contains(register) {
                let _ = write!(text, "Texel t{k} = NOTHING; ");
            } else if x == Some(*register) {
                let _ = write!(text, "Texel t{k} = {open}x_own{close}; ");
            } else if space.own.wide {
                let loose = space.source(*register)?.loose;
                let made = if loose { "two_sum4" } else { "Pair4" };
                let _ = write!(text, "Texel t{k} = {made}(v{k}_{by}, v{k}_low_{by}); ");
            } else {
                let _ = write!(text, "Texel t{k} = {open}v{k}_{by}{close}; ");
            }
        }
        if self.weighted {
            let _ = write!(text, "vec4 t_m = m_{by}; ");
        }
        Ok(text)
    }

    /// The inputs that these loads are of.
    fn inputs<'v>(&self, space: &'v Space<'_, '_>) -> Result<Vec<(Name, View<'v>)>> {
        let x = self.factor(space)?;
        let mut inputs: Vec<(Name, View<'v>)> = Vec::new();
        let read = |register: &Register| x != Some(*register) && !self.unread.contains(register);
        for (k, register) in self.roots.iter().enumerate().filter(|(_, register)| read(register)) {
            let Source { high, low, .. } = space.source(*register)?;
            inputs.push((("v", k).into(), high.view()));
            if space.own.wide {
                let low = low.ok_or(Error::Internal { place: "Space", detail: "pairs without low parts" })?;
                inputs.push((("v", k, "_low").into(), low.view()));
            }
        }
        if let Some(m) = space.diagonal().filter(|_| self.weighted) {
            inputs.push(("m".into(), m.view()));
        }
        Ok(inputs)
    }
}
