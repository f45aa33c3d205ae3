//! The machine of \[Bajaj04\] section 3.4: one constant register an instruction.

use std::collections::{BTreeMap, BTreeSet};

use super::Program;
use super::ir::{Instruction, Operation, Register, Source, WriteMask};
use crate::pack::Form;

/// True for registers that the GeForce FX kept among its constants: all but temporaries.
pub(super) fn is_constant(register: Register) -> bool {
    !matches!(register, Register::Temp(_))
}

/// The constant registers that an instruction reads, each once.
pub(super) fn constants_read(instruction: &Instruction) -> BTreeSet<Register> {
    instruction.operation.sources().map(|s| s.register).filter(|&r| is_constant(r)).collect()
}

/// Adds moves until no instruction reads two constant registers; `next` is the first temporary that is free.
///
/// A product reads a coefficient and a quad of x. Whichever of both there are fewer of, all coefficients or all quads that
/// stand in such an instruction, is moved to temporaries once, in front of everything; the quads of an iteration change, so
/// there it is the coefficients. What then still reads two is a product added to b: b is moved in front of it.
pub(super) fn obey(program: &mut Program, mut next: u32) {
    let mut free = || {
        next += 1;
        Register::Temp(next - 1)
    };
    let crowded = |i: &&Instruction| constants_read(i).len() > 1;
    let read: BTreeSet<Register> =
        program.instructions.iter().filter(crowded).flat_map(constants_read).collect();
    let coefficients = read.iter().filter(|r| matches!(r, Register::Constant(_)));
    let quads = read.iter().filter(|r| matches!(r, Register::X(_)));
    let by_quads = program.form == Form::Affine && quads.clone().count() < coefficients.clone().count();
    let moved: Vec<Register> = if by_quads { quads.collect::<Vec<_>>() } else { coefficients.collect() }
        .into_iter()
        .copied()
        .collect();
    let places: BTreeMap<Register, Register> = moved.into_iter().map(|r| (r, free())).collect();
    let mov =
        |from: Register, to: Register| Instruction::new(Operation::Mov(from.into()), to, WriteMask::ALL);

    let mut out: Vec<Instruction> = places.iter().map(|(&from, &to)| mov(from, to)).collect();
    let mut starts = Vec::with_capacity(program.starts.len());
    for quad in 0..program.quads() {
        starts.push(out.len());
        for &instruction in program.block_row(quad) {
            let mut instruction = instruction;
            instruction.operation = instruction
                .operation
                .map(|s| Source { register: places.get(&s.register).copied().unwrap_or(s.register), ..s });
            while constants_read(&instruction).len() > 1 {
                let Some(last) =
                    instruction.operation.sources().map(|s| s.register).filter(|&r| is_constant(r)).last()
                else {
                    break;
                };
                let place = free();
                out.push(mov(last, place));
                let replaced =
                    |s: Source| if s.register == last { Source { register: place, ..s } } else { s };
                instruction.operation = instruction.operation.map(replaced);
            }
            // Between a temporary and the constants nothing is only another name.
            let sources = instruction.operation.sources().map(|s| s.register);
            instruction.alias &= sources.chain([instruction.target]).all(is_constant);
            out.push(instruction);
        }
    }
    (program.instructions, program.starts) = (out, starts);
}
