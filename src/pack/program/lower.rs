//! From an expression and its packing to instructions.

use super::block_row::BlockRow;
use super::ir::{Instruction, Operation};
use super::{LowerOptions, Program, ShaderStage, constants, one_constant, registers};
use crate::error::{Error, Result};
use crate::pack::terms::{is_trivial, terms};
use crate::pack::{Form, Instructions, LinearExpression, Packing, SimdMachine};

impl Program {
    /// The program of `e` in the order of `packing`, block row after block row:
    ///
    /// 1. Row-major terms: a DP4 for each of their rows, and an ADD for each term.
    /// 2. Column-major terms: a MUL or MAD for each peel; peel k holds the k-th non-zero of each row from the left.
    /// 3. Gauss-Seidel has, of either kind, the terms of the old x before those of the new, and at the end the L part of its
    ///    diagonal block: a DP4 for each row, one after the other, with the coefficient 1 at the row's own place, which adds
    ///    what has been summed so far.
    ///
    /// Where column-major terms reach rows that no row-major term has, the first of their peels goes in front: it is the
    /// instruction that takes b into all four components. If it can be, the last MAD of a block row writes all four too.
    ///
    /// # How many instructions
    ///
    /// The program has C(E) + z of them, C(E) being the cost by [`SimdMachine`]. z counts the block rows that need one more
    /// than the formula says, less those that need one fewer:
    ///
    /// - b is trivial there, some term is row-major, some column-major, a peel reaches a row that no DP4 has written, and
    ///   no column-major term can begin with a MUL that leaves the written rows alone;
    /// - Gauss-Seidel: off-diagonal L terms are row-major and the diagonal block has no L part, so that there is no DP4 to
    ///   add them to the rest (where b is trivial, only if some U term is row-major too);
    /// - one fewer: Gauss-Seidel where b is trivial, the diagonal block has an L part, other L terms are row-major and no U
    ///   term is: the formula has a sum for the first of them, to which there is nothing to add.
    ///
    /// It is 0 for all instances of \[Bajaj04\], in their first order and in the best.
    ///
    /// MOVs that only give a value another name do not count, as in the paper: y = b, rows that are always zero, and
    /// components of a result that are complete before the last instruction. They are marked as
    /// [aliases](Instruction::alias). TEX is counted apart too.
    ///
    /// Identical coefficient vectors share a register, components that no lane uses being free to match anything.
    ///
    /// *Cost*: O(nnz log nnz). *Errors*: [`Error::LengthMismatch`] for a packing of another size; [`Error::Parameter`] for
    /// one of two orders where the expression works in place, and in the fragment stage for Gauss-Seidel, whose quads would be
    /// made at the same time, and for `one_constant`.
    ///
    /// *Source*: \[Bajaj04\] sections 2.3.1, 3.3 and 4.
    pub fn lower(e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Result<Self> {
        let op = "Program::lower";
        e.check_packing(op, packing)?;
        if options.stage == ShaderStage::Fragment && e.form() == Form::GaussSeidel {
            let (name, value) = ("stage", "the fragment stage".to_owned());
            let expected = "the vertex stage: a quad of a Gauss-Seidel iteration needs those before it";
            return Err(Error::Parameter { op, name, value, expected });
        }
        if options.stage == ShaderStage::Fragment && options.one_constant {
            let (name, value) = ("one_constant", "true, in the fragment stage".to_owned());
            let expected = "the vertex stage: x and b stand in textures otherwise, not in constant registers";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let mut program = Program {
            stage: options.stage,
            one_constant: options.one_constant,
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
            // A result in a constant register is in the way of the others.
            let in_place = e.form() == Form::GaussSeidel && !options.one_constant;
            let constants = std::mem::take(&mut program.constants);
            let trivial = is_trivial(e, packing, quad);
            let mut row = BlockRow::new(quad, trivial, in_place, next, constants);
            row.evaluate(terms(e, packing, quad));
            if options.subtract_b {
                row.subtract();
            }
            if options.stage == ShaderStage::Fragment {
                row.fetch();
            }
            let cost = SimdMachine::block_row(e, packing, quad);
            let counted = |i: &&Instruction| !i.alias && !matches!(i.operation, Operation::Tex(_));
            program.extra += row.out.iter().filter(counted).count() as i32 - cost as i32;
            program.cost.0 += cost;
            program.starts.push(program.instructions.len());
            program.instructions.append(&mut row.out);
            (next, program.constants) = (row.next, row.constants);
        }
        constants::share(&mut program);
        if options.one_constant {
            one_constant::obey(&mut program, next);
        }
        registers::allocate(&mut program);
        Ok(program)
    }
}
