//! The statements of a recipe that are no sums, scalar steps or vector updates.

use super::misuse::{FIXED, NO_VECTOR, UNWRITTEN, misused, other_number};
use super::places::{Meaning, Stored};
use super::{Number, Operand, Register, Root, Source, Space};
use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand as _};
use crate::ops::{self, Combine, Summand};
use crate::solve::drive::null_space::project_parts;

impl Space<'_, '_> {
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
            return Err(misused(p, NO_VECTOR));
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

    /// The iterate and its residual are in places of their own.
    fn check_own(register: Register) -> Result<()> {
        if register != Self::X && register != Self::R {
            return Ok(());
        }
        let value = "the iterate or its residual".into();
        let expected =
            "a register of the method: those two are written by `update`, `copy` and `scatter` alone";
        Err(Error::Parameter { op: "Space", name: "a register to write", value, expected })
    }

    /// Makes this what a register holds.
    fn put(&mut self, register: Register, stored: Stored) -> Result<()> {
        Self::check_own(register)?;
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
        if self.root(r.into())?.0 == Root::Vector(z) {
            let value = "what is read".into();
            return Err(Error::Parameter {
                op: "Space::precondition",
                name: "z",
                value,
                expected: "another register",
            });
        }
        if self.is_inline(r)? {
            let version = self.own.place_of(r)?.version;
            let weighted = !self.m.is_identity();
            self.own.changed(z)?;
            self.own.place_mut(z)?.meaning = Meaning::Is(Operand { register: r, weighted }, version);
            return Ok(());
        }
        let (Root::Vector(of), false) = self.root(r.into())? else {
            return Err(misused(r, NO_VECTOR));
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
            return Err(misused(p, NO_VECTOR));
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
            _ => Err(misused(v, NO_VECTOR)),
        }
    }

    /// The vector of a register, to be changed.
    pub(in crate::solve) fn vector_mut(&mut self, v: Register) -> Result<&mut Vector> {
        self.own.changed(v)?;
        match &mut self.own.place_mut(v)?.front {
            Some(Stored { high, .. }) => Ok(high),
            None => Err(misused(v, UNWRITTEN)),
        }
    }

    /// The texel that a number is in.
    pub(in crate::solve) fn texel(&self, number: Number) -> Result<&Scalar> {
        let group = self.own.groups.get(number.group).map(|group| group.texel.front());
        group.ok_or_else(other_number)
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
                let own = if a <= Self::R.0 || a >= self.own.places.len() { a } else { b };
                return Err(misused(Register(own), FIXED));
            }
            self.own.places.swap(a, b);
            // What stands for one of them stands for it where it is now.
            let moved = |of: &mut Register| {
                of.0 = if of.0 == a {
                    b
                } else if of.0 == b {
                    a
                } else {
                    of.0
                };
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

    /// Gives back the room for what a register is to be next, which it will not be for a while.
    pub(in crate::solve) fn rest(&mut self, v: Register) -> Result<()> {
        self.own.place_mut(v)?.back = None;
        Ok(())
    }

    /// `v = 0`.
    pub fn clear(&mut self, v: Register) -> Result<()> {
        Self::check_own(v)?;
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
            None => Err(other_number()),
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
    pub(super) fn renewed(&mut self) -> Result<()> {
        self.forget_other_scales();
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
