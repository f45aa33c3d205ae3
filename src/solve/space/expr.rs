//! The words in which a recipe says its formulas: registers, numbers, inner products, linear combinations.

use smallvec::SmallVec;

/// A vector of a method, by its name: a handle to a place in the [`Space`](super::Space).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register(pub(super) usize);

/// A scalar of a method, which stays on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub(super) group: usize,
    pub(super) place: usize,
}

/// The preconditioner: `M * r` is what it makes of a register, where it is a diagonal or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M;

/// A register, or [`M`] times one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    pub(super) register: Register,
    pub(super) weighted: bool,
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Operand { register, weighted: false }
    }
}

impl std::ops::Mul<Register> for M {
    type Output = Operand;

    fn mul(self, register: Register) -> Operand {
        Operand { register, weighted: true }
    }
}

/// The inner product of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dot(pub(super) Operand, pub(super) Operand);

/// A register's next value: what it begins with, and multiples that are added to it in their order.
#[derive(Clone, Debug)]
pub struct Update {
    pub(super) target: Register,
    pub(super) base: Base,
    pub(super) terms: SmallVec<[Term; 4]>,
    /// The register stays what it is once the iterates are frozen; else it is anything then.
    pub(super) stays: bool,
    /// It is moved once iterates are frozen, too.
    pub(super) always: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Itself,
    Nothing,
    Of(Operand),
}

/// `factor operand`, added or subtracted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub minus: bool,
    /// None is 1.
    pub factor: Option<Number>,
    pub operand: Operand,
}

impl Register {
    /// `self · other`
    pub fn dot(self, other: impl Into<Operand>) -> Dot {
        Dot(self.into(), other.into())
    }

    /// `self = operand`, and what is added to that.
    pub fn is(self, operand: impl Into<Operand>) -> Update {
        self.from(Base::Of(operand.into()))
    }

    /// `self = 0`, and what is added to that.
    pub fn sums(self) -> Update {
        self.from(Base::Nothing)
    }

    /// `self = self + factor operand`
    pub fn plus(self, factor: Number, operand: impl Into<Operand>) -> Update {
        self.from(Base::Itself).plus(factor, operand)
    }

    /// `self = self - factor operand`
    pub fn minus(self, factor: Number, operand: impl Into<Operand>) -> Update {
        self.from(Base::Itself).minus(factor, operand)
    }

    /// `self = self + operand`, also once iterates are frozen.
    pub(in crate::solve) fn adds(self, operand: impl Into<Operand>) -> Update {
        let update = self.from(Base::Itself).added(false, None, operand.into());
        Update { always: true, ..update }
    }

    fn from(self, base: Base) -> Update {
        Update::new(self, base)
    }
}

impl Update {
    pub(super) fn new(target: Register, base: Base) -> Self {
        Update { target, base, terms: SmallVec::new(), stays: false, always: false }
    }

    /// `+ factor operand`
    pub fn plus(self, factor: Number, operand: impl Into<Operand>) -> Self {
        self.added(false, Some(factor), operand.into())
    }

    /// `- factor operand`
    pub fn minus(self, factor: Number, operand: impl Into<Operand>) -> Self {
        self.added(true, Some(factor), operand.into())
    }

    fn added(mut self, minus: bool, factor: Option<Number>, operand: Operand) -> Self {
        self.terms.push(Term { minus, factor, operand });
        self
    }

    /// The operands in their order.
    pub(super) fn operands(&self) -> impl Iterator<Item = Operand> {
        let base = match self.base {
            Base::Of(operand) => Some(operand),
            Base::Itself => Some(self.target.into()),
            Base::Nothing => None,
        };
        base.into_iter().chain(self.terms.iter().map(|term| term.operand))
    }

    pub(super) fn reads(&self, register: Register) -> bool {
        self.operands().any(|operand| operand.register == register)
    }
}
