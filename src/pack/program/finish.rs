//! The end of a block row: the result where it belongs, and for the fragment stage the fetches.

use super::block_row::BlockRow;
use super::ir::{Instruction, Operation, Register, Source, WriteMask};

impl BlockRow {
    /// Completes the sum, and brings it to where the result belongs.
    pub fn finish(&mut self) {
        if self.written == WriteMask::ALL && self.sum != Register::Y(self.quad) {
            self.widen();
        }
        self.complete(WriteMask::ALL.without(self.written));
        if self.sum != Register::Y(self.quad) {
            self.retarget();
        }
    }

    /// Lets the last MAD write all four components, so that the result needs no further move. Its coefficients are zero
    /// where it had none.
    fn widen(&mut self) {
        if let Some(Instruction { operation: Operation::Mad(..), mask, .. }) = self.out.last_mut() {
            *mask = WriteMask::ALL;
        }
    }

    /// Components of the sum that nothing reads any more are written to the result at once; the rest is moved at the end.
    fn retarget(&mut self) {
        let (y, sum) = (Register::Y(self.quad), self.sum);
        let (mut read, mut final_ones, mut left) = (WriteMask::NONE, WriteMask::NONE, WriteMask::NONE);
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
    pub fn subtract(&mut self) {
        for instruction in &mut self.out {
            instruction.operation = instruction.operation.map(|s| {
                let b = matches!(s.register, Register::B(_));
                Source { negate: s.negate != b, ..s }
            });
        }
    }

    /// In front of the block row, a TEX for each quad that it reads; what read the quad reads the temporary.
    pub fn fetch(&mut self) {
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
            Instruction::new(Operation::Tex(quad.into()), Register::Temp(base + k), WriteMask::ALL)
        };
        self.out.splice(0..0, needed.iter().zip(0..).map(tex));
    }
}
