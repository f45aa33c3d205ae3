//! Which entries of the matrix each instruction multiplies: the line segments of the paper's figures.

use std::collections::HashMap;

use super::Program;
use super::ir::{Instruction, Operation, Register, Source};
use crate::pack::Form;

/// The entries of the placed matrix that one instruction multiplies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product {
    /// Number of the instruction in the program.
    pub instruction: usize,
    /// True for a dot product along a row, drawn straight in \[Bajaj04\]; false for a peel, drawn curved.
    pub row_major: bool,
    /// The entries (position of the row, position of the column), from the top, then from the left.
    pub entries: Vec<(usize, usize)>,
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
    pub fn products(&self) -> impl Iterator<Item = Product> + '_ {
        self.starts.iter().enumerate().flat_map(|(quad, &first)| self.products_of(quad, first))
    }

    /// Those of one block row, which begins with instruction `first`.
    fn products_of(&self, quad: usize, first: usize) -> Vec<Product> {
        // Which quads the temporaries hold that have been fetched.
        let mut fetched = HashMap::new();
        let mut products = Vec::new();
        for (instruction, number) in self.block_row(quad).iter().zip(first..) {
            let (row_major, c, x) = match instruction.operation {
                Operation::Mul(c, x) | Operation::Mad(c, x, _) => (false, c, x),
                Operation::Dp4(c, x) => (true, c, x),
                _ => {
                    fetched.remove(&instruction.target);
                    if let Operation::Tex(Source { register: Register::X(from), .. }) = instruction.operation
                    {
                        fetched.insert(instruction.target, from);
                    }
                    continue;
                }
            };
            let from = match x.register {
                Register::X(from) | Register::Y(from) => Some(from),
                temporary => fetched.get(&temporary).copied(),
            };
            if let Some(from) = from {
                let entries = self.entries(quad, instruction, c, (from as usize, x));
                products.push(Product { instruction: number, row_major, entries });
            }
            fetched.remove(&instruction.target);
        }
        products
    }

    fn entries(
        &self,
        quad: usize,
        instruction: &Instruction,
        c: Source,
        (from, x): (usize, Source),
    ) -> Vec<(usize, usize)> {
        let coefficients = match c.register {
            Register::Constant(k) => self.constants.get(k as usize).copied().unwrap_or_default(),
            _ => [0.0; 4],
        };
        let dot_row = matches!(instruction.operation, Operation::Dp4(..))
            .then(|| instruction.mask.lanes().next().unwrap_or_default());
        let entry = |lane: usize| {
            let value = coefficients.get(c.swizzle.lane(lane)).copied().unwrap_or_default();
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
