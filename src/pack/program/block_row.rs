//! The instructions of one block row.

use super::ir::{Instruction, Operation, Register, Source, WriteMask};
use super::peel::{Peel, dots, peels, serial_dots};
use crate::pack::terms::{Method, Part, Term};

/// A block row in the making. Every instruction that needs one has a constant of its own, every value a temporary.
pub(super) struct BlockRow {
    pub quad: u32,
    /// Where the sum grows: a temporary, or for Gauss-Seidel the result itself, which may be read.
    pub sum: Register,
    /// Which components of it have been written.
    pub written: WriteMask,
    /// What the others stand for: b, or zero where all of it is trivial.
    pub b: Option<Register>,
    /// The instructions so far.
    pub out: Vec<Instruction>,
    /// The constants of all block rows so far.
    pub constants: Vec<[f32; 4]>,
    /// The first temporary that nothing uses.
    pub next: u32,
}

/// When the first peel comes, and what it writes besides its own rows, so that those after it find something to add to.
enum First {
    /// In front of the row-major terms, into all four components: added to b, or to nothing.
    InFront,
    /// After them, into its own rows: they have written all that column-major terms reach.
    After,
    /// After them, a MUL into all components that they leave. This term can begin with a peel that spares theirs.
    Beside(usize),
}

impl BlockRow {
    /// Block row `quad` with nothing in it. The sum grows in the result itself if it is `in_place`.
    pub fn new(quad: usize, trivial: bool, in_place: bool, next: u32, constants: Vec<[f32; 4]>) -> Self {
        let quad = quad as u32;
        let b = (!trivial).then_some(Register::B(quad));
        let (sum, next) = if in_place { (Register::Y(quad), next) } else { (Register::Temp(next), next + 1) };
        Self { quad, sum, written: WriteMask::NONE, b, out: Vec::new(), constants, next }
    }

    /// All of its instructions, which leave the result in `Y(quad)`.
    pub fn evaluate(&mut self, terms: Vec<Term>) {
        let (serial, terms): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| term.serial);
        let (dots, mut columns): (Vec<_>, Vec<_>) =
            terms.into_iter().partition(|term| term.method() == Method::RowMajor);
        let by_dots = reached(&dots);
        let fresh = reached(&columns).without(by_dots);
        let first = self.first(&dots, &columns);
        let late = if let First::Beside(term) = first {
            let chosen = columns.remove(term);
            columns.insert(0, chosen);
            by_dots
        } else {
            WriteMask::NONE
        };
        let peel_all = |(k, term): (usize, &Term)| {
            let late = if k == 0 { late } else { WriteMask::NONE };
            let x = operand(term);
            peels(term, late).into_iter().map(move |peel| (x, peel))
        };
        let mut peels = columns.iter().enumerate().flat_map(peel_all);
        if matches!(first, First::InFront)
            && let Some((x, peel)) = peels.next()
        {
            self.product(x, &peel, WriteMask::ALL);
        }
        for term in &dots {
            self.row_major(term);
        }
        if matches!(first, First::Beside(_))
            && let Some((x, peel)) = peels.next()
        {
            self.product(x, &peel, fresh);
        }
        for (x, peel) in peels {
            self.product(x, &peel, peel.rows);
        }
        for term in &serial {
            self.serial(term);
        }
        self.finish();
    }

    fn first(&self, dots: &[Term], columns: &[Term]) -> First {
        let by_dots = reached(dots);
        if dots.is_empty() {
            return First::InFront;
        }
        if reached(columns).without(by_dots).is_empty() {
            return First::After;
        }
        if self.b.is_some() {
            return First::InFront;
        }
        // Rows that can wait for a later peel are those with fewer non-zeros than there are peels.
        let full = |term: &Term| WriteMask::of(|k| term.counts().get(k) == Some(&term.peels()));
        let spares = |term: &Term| full(term).and(by_dots).is_empty();
        columns.iter().position(spares).map_or(First::InFront, First::Beside)
    }

    /// A peel into the components `mask` of the sum: added to what is there, to b, or to nothing.
    fn product(&mut self, x: Register, peel: &Peel, mask: WriteMask) {
        let (c, x) = (self.constant(peel.coefficients), Source::new(x, peel.swizzle));
        let operation = match self.addend(mask) {
            Some(addend) => Operation::Mad(c.into(), x, addend.into()),
            None => Operation::Mul(c.into(), x),
        };
        self.accumulate(operation, mask);
    }

    /// What stands in the components `mask` of the sum; `None` for zero.
    fn addend(&mut self, mask: WriteMask) -> Option<Register> {
        let missing = mask.without(self.written);
        if missing == mask {
            return self.b;
        }
        self.complete(missing);
        Some(self.sum)
    }

    /// A row-major term: its dot products, and their sum with what is there.
    fn row_major(&mut self, term: &Term) {
        let rows = term_rows(term);
        // Without b, the first value of a component needs no sum. A term all of whose rows are new gets one nevertheless:
        // the cost counts a sum for each term.
        let first = self.out.is_empty();
        let direct = match self.b {
            None if first || !rows.and(self.written).is_empty() => rows.without(self.written),
            _ => WriteMask::NONE,
        };
        let part = Register::Temp(self.next);
        self.next += 1;
        for dot in dots(term) {
            let target = if dot.rows.and(direct).is_empty() { part } else { self.sum };
            self.dot(Source::new(operand(term), dot.swizzle), &dot, target);
        }
        self.written = self.written.with(direct);
        let rest = rows.without(direct);
        if !rest.is_empty() {
            let addend = self.addend(rest).unwrap_or_else(|| self.constant([0.0; 4]));
            self.accumulate(Operation::Add(part.into(), addend.into()), rest);
        }
    }

    /// The L part of a diagonal block, row after row.
    fn serial(&mut self, term: &Term) {
        self.complete(WriteMask::ALL.without(self.written));
        for dot in serial_dots(term) {
            self.dot(Source::new(self.sum, dot.swizzle), &dot, self.sum);
        }
    }

    fn dot(&mut self, x: Source, dot: &Peel, target: Register) {
        let c = self.constant(dot.coefficients);
        self.out.push(Instruction::new(Operation::Dp4(c.into(), x), target, dot.rows));
    }

    fn accumulate(&mut self, operation: Operation, mask: WriteMask) {
        self.written = self.written.with(mask);
        self.out.push(Instruction::new(operation, self.sum, mask));
    }

    /// Gives components that nothing has written their value: b or zero.
    pub fn complete(&mut self, missing: WriteMask) {
        if !missing.is_empty() {
            let value = self.b.unwrap_or_else(|| self.constant([0.0; 4]));
            self.out.push(Instruction::alias(value, self.sum, missing));
            self.written = self.written.with(missing);
        }
    }

    fn constant(&mut self, values: [f32; 4]) -> Register {
        self.constants.push(values);
        Register::Constant(self.constants.len() as u32 - 1)
    }
}

/// The rows of a term that hold a non-zero.
fn term_rows(term: &Term) -> WriteMask {
    let counts = term.counts();
    WriteMask::of(|k| counts.get(k).is_some_and(|&count| count > 0))
}

/// The rows of all of these together.
fn reached(terms: &[Term]) -> WriteMask {
    terms.iter().fold(WriteMask::NONE, |rows, term| rows.with(term_rows(term)))
}

/// The quad that a term multiplies.
fn operand(term: &Term) -> Register {
    match term.part {
        Part::Old => Register::X(term.quad as u32),
        Part::New => Register::Y(term.quad as u32),
    }
}
