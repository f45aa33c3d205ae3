//! The formulas of GMRES: in floats by a basis, in pairs by [directions](Directions).

use super::basis::Basis;
use super::directions::Directions;
use crate::data::Vector;
use crate::error::Result;
use crate::ops::Combine;
use crate::solve::drive::state::{Flag, Report};
use crate::solve::drive::{After, SPELL};
use crate::solve::space::{Besides, Ends, Number, Recipe, Register, Space, Store};

/// Saad and Schultz (1986), by rotations (`glsl/include/rotations.glsl`): `count` columns of the cycle count, `inverse` is 1 over the norm
/// of the next vector, `left` is what is left of the right-hand side, `cycle` r·r where the cycle began.
pub(super) struct Arnoldi {
    v: Register,
    w: Register,
    z: Register,
    sum: Register,
    update: Register,
    count: Number,
    inverse: Number,
    /// Vectors of the cycle, and of a flexible one what the preconditioner has made of them.
    basis: Basis,
    mapped: Option<Basis>,
    /// How many there are so far.
    done: usize,
}

/// Ends a run whose last cycle has taken next to nothing off the residual.
pub(super) const STALLED: &str = "breaks(rr > 0.998 * cycle, STALLED, sqrt(rr / cycle));";

impl Arnoldi {
    pub fn new(places: &mut Store, basis: Basis, mapped: Option<Basis>) -> Result<Self> {
        let [v, w, z, sum, update] = places.registers();
        // One texel, which `Basis` reads.
        let [count, inverse, ..] = places.numbers(["count", "inverse", "left", "cycle"])?;
        Ok(Arnoldi { v, w, z, sum, update, count, inverse, basis, mapped, done: 0 })
    }

    /// A cycle begins with the residual; one that has taken next to nothing off it is the last.
    fn cycle(&mut self, s: &mut Space<'_, '_>, is_fresh: bool) -> Result<()> {
        let stalled = if is_fresh { "" } else { STALLED };
        let text =
            "inverse = flag == RUNNING ? inversesqrt(rr) : 0.0; left = sqrt(rr); cycle = rr; count = 0.0;";
        let text = ["meets(rr);", stalled, text].concat();
        let none = Besides { frozen: "count = 0.0; inverse = 0.0;", ..Besides::default() };
        s.numbers_besides(&[("rr", Space::R.dot(Space::R))], &text, none)?;
        self.done = 0;
        self.next(s, Space::R)
    }

    /// The next vector of the basis, of what is to become one by its norm; zero once iterates are frozen.
    fn next(&mut self, s: &mut Space<'_, '_>, w: Register) -> Result<()> {
        s.update([self.v.sums().plus(self.inverse, w)])?;
        self.basis.set(self.done, s.vector(self.v)?)
    }

    /// x = x + M V R⁻¹ g, and r = r - A M V R⁻¹ g if there is to be another cycle.
    fn gather(&mut self, s: &mut Space<'_, '_>, goes_on: bool) -> Result<()> {
        let count = std::mem::take(&mut self.done);
        if count == 0 {
            return Ok(());
        }
        let coefficients = self.basis.solve(s.texel(self.count)?, count)?;
        let mut sum = Vector::uninit(&s.device(), s.vector(self.v)?.len())?;
        self.mapped.as_ref().unwrap_or(&self.basis).product(&mut sum, Combine::Replace, &coefficients)?;
        s.load(self.sum, sum)?;
        let update = match self.mapped {
            Some(_) => self.sum,
            None => {
                s.precondition(self.update, self.sum)?;
                self.update
            }
        };
        s.update([Space::X.adds(update)])?;
        if goes_on { s.subtract_product(Space::R, update) } else { Ok(()) }
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Arnoldi { v, w, z, .. } = *self;
        // w = A M v
        s.precondition(z, v)?;
        s.product(w, z)?;
        if let Some(mapped) = &mut self.mapped {
            mapped.set(self.done, s.vector(z)?)?;
        }
        // h = Vᵀ w, w = w - V h, twice; the column of the triangle, and the rotation that takes out what is left below
        let (j, count) = (self.done, self.done + 1);
        let first = self.basis.take_out(s.vector_mut(w)?, count)?;
        let second = self.basis.take_out(s.vector_mut(w)?, count)?;
        let below = s.sums(&[w.dot(w)])?;
        self.basis.column(j, [&first, &second], below.as_ref(), (s.report(), s.texel(self.count)?))?;
        let text = "
            vec4 turned = factor_at(ivec2(restart, j));
            float diagonal = factor_at(ivec2(j)).x;
            breaks(!(diagonal > 0.0), CURVATURE, diagonal);
            left = -turned.y * left;
            count = float(j + 1);
            counts();
            will_meet(left * left);
            inverse = flag == RUNNING ? 1.0 / turned.w : 0.0;";
        let [j, restart] = [j, self.basis.restart()].map(|n| i32::try_from(n).unwrap_or(i32::MAX));
        let besides = Besides {
            inputs: &[("factor", self.basis.factor())],
            ints: &[("j", j), ("restart", restart)],
            frozen: "inverse = 0.0;",
        };
        s.numbers_besides(&[], text, besides)?;
        self.done = count;
        if count < self.basis.restart() {
            return self.next(s, w);
        }
        self.gather(s, true)?;
        self.cycle(s, false)
    }
}

/// Either of them.
pub(in crate::solve) struct Cycles {
    pub(super) kind: Kind,
    pub(super) restart: usize,
    pub(super) unknowns: usize,
}

pub(super) enum Kind {
    Floats(Arnoldi),
    Pairs(Directions),
}

impl Recipe for Cycles {
    const NAME: &'static str = "GMRES";
    const LOSES: bool = true;

    fn begin(&mut self, s: &mut Space<'_, '_>, _: bool) -> Result<()> {
        match &mut self.kind {
            Kind::Floats(arnoldi) => arnoldi.cycle(s, true),
            Kind::Pairs(directions) => directions.cycle(s, true),
        }
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        match &mut self.kind {
            Kind::Floats(arnoldi) => arnoldi.iterate(s),
            Kind::Pairs(directions) => directions.iterate(s),
        }
    }
}

impl Ends for Cycles {
    fn finish(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        match &mut self.kind {
            Kind::Floats(arnoldi) => arnoldi.gather(s, false),
            Kind::Pairs(_) => Ok(()),
        }
    }

    fn repeats(&self) -> bool {
        false
    }

    /// Whole cycles.
    fn spell(&self, is_double: bool) -> Option<usize> {
        is_double.then(|| SPELL.next_multiple_of(self.restart))
    }

    fn after(&self, last: &Report) -> After {
        let (quantity, expected) = match last.flag {
            Flag::Curvature => (
                "|AMv|",
                "more than 0: the matrix or the preconditioner is singular, or what they make of v lies below the range of \
                 floats",
            ),
            // No cycle is longer than there are unknowns.
            Flag::Stalled if self.restart < self.unknowns => (
                "|r| by that of a cycle before",
                "less than 0.999: longer cycles or another preconditioner may help",
            ),
            Flag::Stalled => (
                "|r| by that of a cycle before",
                "less than 0.999: the matrix is singular or nearly so, and another preconditioner may help",
            ),
            _ => return After::Judge,
        };
        After::UnlessProgress(last.broken(quantity, expected))
    }
}
