//! Which entries of the matrix each instruction multiplies: the line segments of the paper's figures.

use std::collections::HashMap;

use super::Program;
use super::ir::{Instruction, Operation, Register, Source, WriteMask};
use crate::pack::Form;

/// The entries of the placed matrix that one instruction multiplies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "Product")]
pub struct ProductEntries {
    /// Number of the instruction in the program.
    pub instruction: usize,
    /// True for a dot product along a row, drawn straight in \[Bajaj04\]; false for a peel, drawn curved.
    pub row_major: bool,
    /// The entries (position of the row, position of the column), from the top, then from the left.
    pub entries: Vec<(usize, usize)>,
}

/// The temporaries that hold a whole register: quads fetched, constants moved.
#[derive(Default)]
struct Held(HashMap<Register, Register>);

impl Held {
    /// What an instruction changes.
    fn note(&mut self, instruction: &Instruction) {
        self.0.remove(&instruction.target);
        if let Operation::Tex(from) | Operation::Mov(from) = instruction.operation
            && from == Source::from(from.register)
            && instruction.mask == WriteMask::ALL
        {
            self.0.insert(instruction.target, from.register);
        }
    }

    /// Where the value of a register comes from.
    fn origin(&self, register: Register) -> Register {
        self.0.get(&register).copied().unwrap_or(register)
    }
}

impl Program {
    /// Every instruction that multiplies entries of the matrix, with those entries: all non-zeros of 32 bits, each
    /// once.
    ///
    /// ```
    /// use texla::pack::{LowerOptions, Packing, Program, instances};
    /// let block = instances::poisson_2d_s8()?;
    /// let program = Program::lower(&block, &Packing::identity(8), LowerOptions::default())?;
    /// let entries: usize = program.products().map(|p| p.entries.len()).sum();
    /// assert_eq!((program.products().count(), entries), (6, 14)); // 6 instructions for 14 non-zeros, of 24 possible
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn products(&self) -> impl Iterator<Item = ProductEntries> + '_ {
        let mut held = Held::default();
        self.prologue().iter().for_each(|i| held.note(i));
        self.starts
            .iter()
            .enumerate()
            .flat_map(move |(quad, &first)| self.products_of(quad, first, &mut held))
    }

    /// Those of one block row, which begins with instruction `first`.
    fn products_of(&self, quad: usize, first: usize, held: &mut Held) -> Vec<ProductEntries> {
        let mut products = Vec::new();
        for (instruction, number) in self.block_row(quad).iter().zip(first..) {
            let product = match instruction.operation {
                Operation::Mul(c, x) | Operation::Mad(c, x, _) => Some((false, c, x)),
                Operation::Dp4(c, x) => Some((true, c, x)),
                _ => None,
            };
            if let Some((row_major, c, x)) = product
                && let Register::Constant(c) = held.origin(c.register)
                && let Some(from) = self.quad_of(held.origin(x.register), quad)
            {
                let entries = self.entries(quad, instruction, c, (from, x));
                products.push(ProductEntries { instruction: number, row_major, entries });
            }
            held.note(instruction);
        }
        products
    }

    /// The quad of x that block row `quad` finds in a register. A temporary that nothing was moved to is the sum that
    /// Gauss-Seidel's last dot products go on with: its own quad.
    fn quad_of(&self, register: Register, quad: usize) -> Option<usize> {
        match register {
            Register::X(from) | Register::Y(from) => Some(from as usize),
            Register::Temp(_) if self.form == Form::GaussSeidel => Some(quad),
            _ => None,
        }
    }

    fn entries(
        &self,
        quad: usize,
        instruction: &Instruction,
        c: u32,
        (from, x): (usize, Source),
    ) -> Vec<(usize, usize)> {
        let coefficients = self.constants.get(c as usize).copied().unwrap_or_default();
        let dot_row = matches!(instruction.operation, Operation::Dp4(..))
            .then(|| instruction.mask.lanes().next().unwrap_or_default());
        let entry = |lane: usize| {
            let value = coefficients.get(lane).copied().unwrap_or_default();
            let (row, col) = (4 * quad + dot_row.unwrap_or(lane), 4 * from + x.swizzle.lane(lane));
            // The unit coefficient by which Gauss-Seidel adds the sum so far is no entry: A has no diagonal there.
            let fused = self.form == Form::GaussSeidel && row == col;
            (value != 0.0 && !fused).then_some((row, col))
        };
        let mut entries: Vec<_> = instruction.lanes_read().lanes().filter_map(entry).collect();
        entries.sort_unstable();
        entries
    }
}
