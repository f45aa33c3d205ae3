//! From an expression and its packing to instructions.

use super::ir::{Instruction, Mask, Operation, Register, Source};
use super::peel::{Peel, dots, peels, serial_dots};
use super::{LowerOptions, Program, Stage, constants, registers};
use crate::error::{Error, Result};
use crate::pack::terms::{Method, Part, Term, is_trivial, terms};
use crate::pack::{Form, Instructions, LinearExpression, Packing, SimdMachine};

impl Program {
    /// The program of `e` in the order of `packing`, block row after block row:
    ///
    /// 1. Row-major terms: a DP4 for each of their rows, and an ADD for each term.
    /// 2. Column-major terms: a MUL or MAD for each peel; peel k holds the k-th non-zero of each row from the left.
    /// 3. Gauss-Seidel has the terms of the old x first, and at the end the L part of its diagonal block: a DP4 for each
    ///    row, one after the other, with the coefficient 1 at the row's own place, which adds what has been summed so far.
    ///
    /// Where b is non-trivial and a block row has column-major terms, the first of their peels goes in front: it is the
    /// instruction that takes b into all four components. The last MAD of a block row writes all four too.
    ///
    /// # How many instructions
    ///
    /// The program has C(E) + z of them, C(E) being the cost by [`SimdMachine`]. z is the number of block rows that need one
    /// more than the formula says:
    ///
    /// - b is trivial there, some term is row-major, some column-major, a peel reaches a row that no DP4 has written, and
    ///   no column-major term can begin with a MUL that leaves the written rows alone;
    /// - Gauss-Seidel: off-diagonal L terms are row-major and the diagonal block has no L part, so that there is no DP4 to
    ///   add them to the rest.
    ///
    /// No instance of \[Bajaj04\] has such block rows in any order of the paper's.
    ///
    /// MOVs that only give a value another name do not count, as in the paper: y = b, rows that are always zero, and
    /// components of a result that are complete before the last instruction. They are marked as
    /// [aliases](Instruction::alias). TEX is counted apart too.
    ///
    /// Identical coefficient vectors share a register, components that no lane uses being free to match anything.
    ///
    /// *Cost*: O(nnz log nnz). *Errors*: [`Error::LengthMismatch`] for a packing of another size; [`Error::Parameter`] for
    /// one of two orders where the expression works in place, and for Gauss-Seidel in the fragment stage, whose quads are
    /// made at the same time; [`Error::NonFinite`] for a coefficient past the range of 32-bit floats.
    ///
    /// *Source*: \[Bajaj04\] sections 2.3.1, 3.3 and 4.
    pub fn lower(e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Result<Self> {
        let op = "Program::lower";
        e.check_packing(op, packing)?;
        if options.stage == Stage::Fragment && e.form() == Form::GaussSeidel {
            let (name, value) = ("stage", "the fragment stage".to_owned());
            let expected = "the vertex stage: a quad of a Gauss-Seidel iteration needs those before it";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let mut program = Program {
            stage: options.stage,
            form: e.form(),
            subtract_b: options.subtract_b,
            packing: packing.clone(),
            nontrivial: (0..e.unknowns()).map(|i| e.is_nontrivial(i)).collect(),
            instructions: Vec::new(),
            starts: Vec::with_capacity(e.quads()),
            constants: Vec::new(),
            temporaries: 0,
            cost: Instructions(0),
            extra: 0,
        };
        let mut next = 0;
        for quad in 0..e.quads() {
            let mut row = BlockRow::new(e, packing, quad, next, std::mem::take(&mut program.constants));
            row.evaluate(terms(e, packing, quad));
            if options.subtract_b {
                row.subtract();
            }
            if options.stage == Stage::Fragment {
                row.fetch();
            }
            let cost = SimdMachine::block_row(e, packing, quad);
            let counted = |i: &&Instruction| !i.alias && !matches!(i.operation, Operation::Tex(_));
            program.extra += (row.out.iter().filter(counted).count() as u32).saturating_sub(cost);
            program.cost.0 += cost;
            program.starts.push(program.instructions.len());
            program.instructions.append(&mut row.out);
            (next, program.constants) = (row.next, row.constants);
        }
        constants::share(&mut program);
        registers::allocate(&mut program);
        Ok(program)
    }
}

/// A block row in the making. Every instruction that needs one has a constant of its own, every value a temporary.
struct BlockRow {
    quad: u32,
    /// Where the sum grows: a temporary; for Gauss-Seidel the result itself, which may be read.
    sum: Register,
    /// Which components of it have been written.
    written: Mask,
    /// What the others stand for: b, or zero where all of it is trivial.
    b: Option<Register>,
    out: Vec<Instruction>,
    constants: Vec<[f32; 4]>,
    next: u32,
}

impl BlockRow {
    fn new(
        e: &LinearExpression,
        packing: &Packing,
        quad: usize,
        next: u32,
        constants: Vec<[f32; 4]>,
    ) -> Self {
        let q = quad as u32;
        let b = (!is_trivial(e, packing, quad)).then_some(Register::B(q));
        let (sum, next) = match e.form() {
            Form::Affine => (Register::Temp(next), next + 1),
            Form::GaussSeidel => (Register::Y(q), next),
        };
        Self { quad: q, sum, written: Mask::NONE, b, out: Vec::new(), constants, next }
    }

    fn evaluate(&mut self, terms: Vec<Term>) {
        let (serial, terms): (Vec<_>, Vec<_>) = terms.into_iter().partition(|term| term.serial);
        let (dots, columns): (Vec<_>, Vec<_>) =
            terms.iter().partition(|term| term.method() == Method::RowMajor);
        let mut peels = self.in_order(&dots, &columns);
        // A first instruction that fills all four components, unless the dot products do better.
        let fills = dots.is_empty() || self.b.is_some() || peels.first_mul.is_none();
        if fills && !peels.all.is_empty() {
            let (x, first) = peels.all.remove(0);
            self.product(x, &first, Mask::ALL);
        }
        for term in dots {
            self.row_major(term);
        }
        for (x, peel) in peels.all {
            // A MUL in place of a MAD for components that nothing has written yet.
            let fresh = peels.first_mul.take().unwrap_or_default();
            let mask = if fresh.is_empty() || fills { peel.rows } else { fresh };
            self.product(x, &peel, mask);
        }
        for term in &serial {
            self.serial(term);
        }
        self.finish();
    }

    /// All peels in their order. `first_mul` is what a MUL in front of the others has to write, where b is trivial and dot
    /// products come first: empty if they leave nothing to be written, `None` if no peel can do it.
    fn in_order(&self, dots: &[&Term], columns: &[&Term]) -> Peels {
        let rows = |terms: &[&Term]| terms.iter().fold(Mask::NONE, |rows, term| rows.with(occupied(term)));
        let by_dots = rows(dots);
        let fresh = rows(columns).without(by_dots);
        // The rows of a term that can wait until its second peel are those with fewer non-zeros than it has peels.
        let avoids = |term: &&&Term| {
            let full = Mask::of(|k| term.counts().get(k).is_some_and(|&count| count == term.peels()));
            full.and(by_dots).is_empty()
        };
        let chosen = if self.b.is_some() || fresh.is_empty() || dots.is_empty() {
            None
        } else {
            columns.iter().position(|term| avoids(&term))
        };
        let mut all = Vec::new();
        let order = chosen.into_iter().chain((0..columns.len()).filter(|&k| Some(k) != chosen));
        for (place, term) in order.enumerate().filter_map(|(place, k)| Some((place, columns.get(k)?))) {
            let late = if chosen.is_some() && place == 0 { by_dots } else { Mask::NONE };
            let x = operand(term);
            all.extend(peels(term, late).into_iter().map(|peel| (x, peel)));
        }
        let first_mul = (fresh.is_empty() || chosen.is_some()).then_some(fresh);
        Peels { all, first_mul }
    }

    /// A peel into the components `mask` of the sum: added to what is there, to b, or to nothing.
    fn product(&mut self, x: Register, peel: &Peel, mask: Mask) {
        let (c, x) = (self.constant(peel.coefficients), Source::new(x, peel.swizzle));
        let operation = match self.addend(mask) {
            Some(addend) => Operation::Mad(c.into(), x, addend.into()),
            None => Operation::Mul(c.into(), x),
        };
        self.accumulate(operation, mask);
    }

    /// What stands in the components `mask` of the sum; `None` for zero.
    fn addend(&mut self, mask: Mask) -> Option<Register> {
        let missing = mask.without(self.written);
        if missing == mask {
            return self.b;
        }
        self.complete(missing);
        Some(self.sum)
    }

    /// A row-major term: its dot products, and their sum with what is there.
    fn row_major(&mut self, term: &Term) {
        let rows = occupied(term);
        // Without b, the first value of a component needs no sum. A term all of whose rows are new gets one nevertheless:
        // the cost counts a sum for each term.
        let first = self.out.is_empty();
        let direct = match self.b {
            None if first || !rows.and(self.written).is_empty() => rows.without(self.written),
            _ => Mask::NONE,
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
        self.complete(Mask::ALL.without(self.written));
        for dot in serial_dots(term) {
            self.dot(Source::new(self.sum, dot.swizzle), &dot, self.sum);
        }
    }

    fn dot(&mut self, x: Source, dot: &Peel, target: Register) {
        let c = self.constant(dot.coefficients);
        self.out.push(Instruction::new(Operation::Dp4(c.into(), x), target, dot.rows));
    }

    fn accumulate(&mut self, operation: Operation, mask: Mask) {
        self.written = self.written.with(mask);
        self.out.push(Instruction::new(operation, self.sum, mask));
    }

    /// Gives components that nothing has written their value: b or zero.
    fn complete(&mut self, missing: Mask) {
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

    /// Completes the sum, and brings it to where the result belongs.
    fn finish(&mut self) {
        if self.written == Mask::ALL && self.sum != Register::Y(self.quad) {
            self.widen();
        }
        self.complete(Mask::ALL.without(self.written));
        if self.sum != Register::Y(self.quad) {
            self.retarget();
        }
    }

    /// Lets the last MAD write all four components, so that the result needs no further move. Its coefficients are zero
    /// where it had none.
    fn widen(&mut self) {
        if let Some(Instruction { operation: Operation::Mad(..), mask, .. }) = self.out.last_mut() {
            *mask = Mask::ALL;
        }
    }

    /// Components of the sum that nothing reads any more are written to the result at once; the rest is moved at the end.
    fn retarget(&mut self) {
        let (y, sum) = (Register::Y(self.quad), self.sum);
        let (mut read, mut final_ones, mut left) = (Mask::NONE, Mask::NONE, Mask::NONE);
        for instruction in self.out.iter_mut().rev() {
            let reads = instruction.reads(sum);
            if instruction.target == sum {
                let mask = instruction.mask;
                if mask.and(read.with(final_ones)).is_empty() {
                    instruction.target = y;
                } else {
                    left = left.with(mask.without(final_ones));
                }
                final_ones = final_ones.with(mask);
            }
            read = read.with(reads);
        }
        if !left.is_empty() {
            self.out.push(Instruction::alias(sum, y, left));
        }
    }

    /// Reads b negated.
    fn subtract(&mut self) {
        for instruction in &mut self.out {
            instruction.operation = instruction.operation.map(|s| {
                let b = matches!(s.register, Register::B(_));
                Source { negate: s.negate != b, ..s }
            });
        }
    }

    /// In front of the block row, a TEX for each quad that it reads; what read the quad reads the temporary.
    fn fetch(&mut self) {
        let mut needed: Vec<Register> =
            self.out.iter().flat_map(|i| i.operation.sources()).map(|s| s.register).collect();
        needed.retain(|r| matches!(r, Register::X(_) | Register::B(_)));
        needed.sort_unstable();
        needed.dedup();
        let base = self.next;
        self.next += needed.len() as u32;
        for instruction in &mut self.out {
            instruction.operation = instruction.operation.map(|s| match needed.binary_search(&s.register) {
                Ok(k) => Source { register: Register::Temp(base + k as u32), ..s },
                Err(_) => s,
            });
        }
        let tex = |(&quad, k): (&Register, u32)| {
            Instruction::new(Operation::Tex(quad.into()), Register::Temp(base + k), Mask::ALL)
        };
        self.out.splice(0..0, needed.iter().zip(0..).map(tex));
    }
}

struct Peels {
    all: Vec<(Register, Peel)>,
    first_mul: Option<Mask>,
}

/// The rows of a term that hold a non-zero.
fn occupied(term: &Term) -> Mask {
    let counts = term.counts();
    Mask::of(|k| counts.get(k).is_some_and(|&count| count > 0))
}

/// The quad that a term multiplies.
fn operand(term: &Term) -> Register {
    match term.part {
        Part::Old => Register::X(term.quad as u32),
        Part::New => Register::Y(term.quad as u32),
    }
}
