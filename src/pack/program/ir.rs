//! Instructions, registers, swizzles and masks.

/// A four-wide register of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Register {
    /// R: a temporary, read and written.
    Temp(u32),
    /// C: a vector of coefficients, read only.
    Constant(u32),
    /// X: a quad of the x that goes in, read only.
    X(u32),
    /// B: a quad of b, read only; zero where b is trivial.
    B(u32),
    /// Y: a quad of the result. Written only, but for Gauss-Seidel, which reads its new values.
    Y(u32),
}

/// A set of the components x, y, z, w: which of them an instruction writes. Bit k stands for component k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "Mask")]
pub struct WriteMask(u8);

impl WriteMask {
    /// No component.
    pub const NONE: WriteMask = WriteMask(0);
    /// All four.
    pub const ALL: WriteMask = WriteMask(15);

    /// Component `k` alone; none for k > 3.
    pub const fn one(k: usize) -> Self {
        WriteMask(if k < 4 { 1 << k } else { 0 })
    }

    /// The components for which `holds`.
    pub fn of(holds: impl Fn(usize) -> bool) -> Self {
        (0..4).filter(|&k| holds(k)).fold(WriteMask::NONE, |mask, k| mask.with(WriteMask::one(k)))
    }

    /// True if component `k` is in it.
    pub const fn has(self, k: usize) -> bool {
        self.0 & WriteMask::one(k).0 != 0
    }

    /// True if there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of components.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Those of both together.
    #[must_use]
    pub const fn with(self, other: WriteMask) -> Self {
        WriteMask(self.0 | other.0)
    }

    /// Those that both have.
    #[must_use]
    pub const fn and(self, other: WriteMask) -> Self {
        WriteMask(self.0 & other.0)
    }

    /// Those that `other` does not have.
    #[must_use]
    pub const fn without(self, other: WriteMask) -> Self {
        WriteMask(self.0 & !other.0)
    }

    /// The components in it, ascending.
    pub fn lanes(self) -> impl Iterator<Item = usize> {
        (0..4).filter(move |&k| self.has(k))
    }
}

/// Which component of a source each lane reads: any of the four, any number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Swizzle([u8; 4]);

impl Swizzle {
    /// xyzw.
    pub const IDENTITY: Swizzle = Swizzle([0, 1, 2, 3]);

    /// Component `lanes[k]` for lane k; components from 4 on count modulo 4.
    pub fn new(lanes: [u8; 4]) -> Self {
        Swizzle(lanes.map(|lane| lane % 4))
    }

    /// The component that lane `k` reads.
    pub fn lane(self, k: usize) -> usize {
        self.0.get(k).map_or(0, |&lane| lane as usize)
    }

    /// The components that the lanes in `mask` read.
    pub fn reads(self, mask: WriteMask) -> WriteMask {
        mask.lanes().fold(WriteMask::NONE, |read, k| read.with(WriteMask::one(self.lane(k))))
    }
}

/// What an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The register.
    pub register: Register,
    /// Its components in the order of the lanes.
    pub swizzle: Swizzle,
    /// Whether the lanes get the negatives; free, like the swizzle.
    pub negate: bool,
}

impl Source {
    /// A register with its components in a given order.
    pub fn new(register: Register, swizzle: Swizzle) -> Self {
        Source { register, swizzle, negate: false }
    }
}

impl From<Register> for Source {
    fn from(register: Register) -> Self {
        Source::new(register, Swizzle::IDENTITY)
    }
}

/// What an instruction computes, lane by lane: \[Bajaj04\] Table 1, and TEX from section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// s0.
    Mov(Source),
    /// s0 + s1.
    Add(Source, Source),
    /// s0 s1.
    Mul(Source, Source),
    /// s0 s1 + s2, the product rounded.
    Mad(Source, Source, Source),
    /// The four-component dot product of s0 and s1, for every lane: ((x + y) + z) + w of the rounded products.
    Dp4(Source, Source),
    /// A quad of x or b fetched from its texture.
    Tex(Source),
}

impl Operation {
    /// The mnemonic.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Mov(_) => "MOV",
            Operation::Add(..) => "ADD",
            Operation::Mul(..) => "MUL",
            Operation::Mad(..) => "MAD",
            Operation::Dp4(..) => "DP4",
            Operation::Tex(_) => "TEX",
        }
    }

    /// The sources in their order.
    pub fn sources(&self) -> impl Iterator<Item = Source> {
        let (a, b, c) = match *self {
            Operation::Mov(a) | Operation::Tex(a) => (a, None, None),
            Operation::Add(a, b) | Operation::Mul(a, b) | Operation::Dp4(a, b) => (a, Some(b), None),
            Operation::Mad(a, b, c) => (a, Some(b), Some(c)),
        };
        [Some(a), b, c].into_iter().flatten()
    }

    /// The same operation with every source replaced.
    #[must_use]
    pub fn map(self, mut f: impl FnMut(Source) -> Source) -> Self {
        match self {
            Operation::Mov(a) => Operation::Mov(f(a)),
            Operation::Tex(a) => Operation::Tex(f(a)),
            Operation::Add(a, b) => Operation::Add(f(a), f(b)),
            Operation::Mul(a, b) => Operation::Mul(f(a), f(b)),
            Operation::Dp4(a, b) => Operation::Dp4(f(a), f(b)),
            Operation::Mad(a, b, c) => Operation::Mad(f(a), f(b), f(c)),
        }
    }
}

/// One instruction: all sources are read before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Instruction {
    /// What is computed.
    pub operation: Operation,
    /// The register written: a temporary or a result.
    pub target: Register,
    /// Which of its components are written; the others keep their values.
    pub mask: WriteMask,
    /// A MOV that the cost does not count: y = b, a row that is always zero, or one value under two names.
    pub alias: bool,
}

impl Instruction {
    /// An instruction that counts.
    pub fn new(operation: Operation, target: Register, mask: WriteMask) -> Self {
        Instruction { operation, target, mask, alias: false }
    }

    /// A MOV that does not count.
    pub fn alias(source: impl Into<Source>, target: Register, mask: WriteMask) -> Self {
        Instruction { operation: Operation::Mov(source.into()), target, mask, alias: true }
    }

    /// The lanes of the sources that it reads: those that it writes, or all for a dot product.
    pub fn lanes_read(&self) -> WriteMask {
        match self.operation {
            Operation::Dp4(..) => WriteMask::ALL,
            Operation::Tex(_) => WriteMask::NONE,
            _ => self.mask,
        }
    }

    /// The components of `register` that it reads.
    pub fn reads(&self, register: Register) -> WriteMask {
        let of = |source: Source| source.swizzle.reads(self.lanes_read());
        self.operation
            .sources()
            .filter(|s| s.register == register)
            .fold(WriteMask::NONE, |read, s| read.with(of(s)))
    }
}
