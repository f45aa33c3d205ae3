//! What a method works on: registers, numbers, the operator and the preconditioner, and how passes are made of its statements.
//!
//! A method is a [`Recipe`]: the formulas of its source in their order. The [`Space`] owns what is the same for all of them: where
//! vectors lie and which of two textures is the front one, scalars on the device, range tests, the flag that freezes the iterates,
//! the report, draw-buffer limits, products that are computed where they are read, updates that may wait, arithmetic in floats or in
//! pairs of them, and what all of that costs.
mod arrangement;
mod expr;
mod misuse;
mod places;
mod reads;
mod run;
mod statements;
mod step;
mod sums;
mod update;
mod wide;

pub(in crate::solve) use arrangement::Iterations;
pub use expr::{Dot, M, Number, Operand, Register, Update};
pub(in crate::solve) use places::Options;
pub use places::Store;
pub(in crate::solve) use run::Running;
pub(in crate::solve) use step::Besides;

use misuse::{CHANGED, NO_VECTOR, UNWRITTEN, misused};
use places::{Meaning, Stored};

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::shape::{Extent, Shape};
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::state::Report;
use crate::solve::drive::{After, SPELL};
use crate::solve::precondition::Preconditioner;

/// A Krylov method as the formulas of its source: what it keeps, how it begins, and what an iteration is.
///
/// An implementation holds handles: [`Register`]s for its vectors and [`Number`]s for its scalars, which it gets from a [`Store`].
/// Its functions make statements on the [`Space`]. The guide says how, with a method that runs: [adding](crate::guide::adding).
pub trait Recipe: Sized {
    /// The name of the method, for errors.
    const NAME: &'static str;

    /// How far the residual may grow in a run that was begun afresh, before that counts as failed.
    const GROWTH: f64 = f64::MAX;

    /// Whether beginning afresh loses what an iteration makes use of: then the residual is not replaced on the way to the bound.
    const LOSES: bool = false;

    /// Begins with the residual just recomputed: afresh, or going on along the direction it has.
    ///
    /// # Errors
    ///
    /// Those of the statements.
    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()>;

    /// One iteration. It reads nothing back.
    ///
    /// # Errors
    ///
    /// Those of the statements.
    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()>;

    /// Multiplies the vectors of a kept direction by a power of two, since residuals are scaled by it now. Of pairs of floats alone.
    ///
    /// # Errors
    ///
    /// Those of the statements.
    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        let _ = (s, factor);
        Ok(())
    }

    /// Whether `meets` stands before `counts` in an iteration: the residual that it reports is then that of the iterate before.
    fn tests_before(&self) -> bool {
        false
    }
}

/// What the library's own recipes say of their ends besides.
pub(in crate::solve) trait Ends {
    /// Does what iterations have left to the next one, once a run has ended.
    fn finish(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let _ = s;
        Ok(())
    }

    /// Whether iterations that are alike to the space are the same passes: of a recipe without counters of its own.
    fn repeats(&self) -> bool {
        true
    }

    /// Whether what an iteration reports is a bound on the residual, with a preconditioner that takes passes of its own or not.
    fn reports_bound(&self, dear: bool) -> bool {
        let _ = dear;
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
        if self.own.wide { (f64::from(scale) * places::ROOM).min(125f64.exp2()) as f32 } else { scale }
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
            return Err(misused(register, NO_VECTOR));
        }
        Ok((root, (weighted || times) && !self.m.is_identity()))
    }

    fn is_still(&self, (register, version): (Register, u64)) -> Result<()> {
        if self.own.place_of(register)?.version == version {
            return Ok(());
        }
        Err(misused(register, CHANGED))
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
            Self::R => {
                Ok(Source { high: self.at.residual_at_hand(), low: low.map(|l| l.r.front()), loose: false })
            }
            _ => match &place.front {
                Some(Stored { high, low }) => Ok(Source { high, low: low.as_ref(), loose: place.loose }),
                None => Err(misused(register, UNWRITTEN)),
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
}

shown!(Space<'_, '_>, |s| "Space({}, {} registers)", s.at.a.shape(), s.own.places.len());
