//! Coefficient vectors share registers.

use std::collections::HashMap;

use super::Program;
use super::ir::{Instruction, Operation, Register, WriteMask};

/// Bits of the components that matter, zero elsewhere.
type Key = (WriteMask, [u32; 4]);

/// Gives instructions with the same coefficients the same constant. Components that an instruction does not use match
/// anything: vectors with more components in use go first, and fill what they leave open with the first that they use, so that
/// later ones find more that match. Registers are numbered by first use.
///
/// Linear: a vector in place is entered under each of its 15 sets of components.
pub(super) fn share(program: &mut Program) {
    let mut wanted: Vec<Key> =
        program.instructions.iter().flat_map(|i| uses(i, &program.constants)).collect();
    wanted.sort_by_key(|&(mask, _)| std::cmp::Reverse(mask.len()));
    let mut found: HashMap<Key, [u32; 4]> = HashMap::new();
    for (mask, bits) in wanted {
        if found.contains_key(&(mask, bits)) {
            continue;
        }
        let first = mask.lanes().next().and_then(|k| bits.get(k).copied()).unwrap_or_default();
        let mut lanes = bits.iter().zip(0..);
        let full = bits.map(|_| lanes.next().map_or(first, |(&b, k)| if mask.has(k) { b } else { first }));
        for set in 1..16u8 {
            let set = WriteMask::of(|k| set >> k & 1 == 1);
            found.entry((set, only(full, set))).or_insert(full);
        }
    }
    let (mut numbers, mut constants) = (HashMap::new(), Vec::new());
    for instruction in &mut program.instructions {
        let lanes = instruction.lanes_read();
        instruction.operation = instruction.operation.map(|mut source| {
            let Register::Constant(c) = source.register else { return source };
            let key = key(&program.constants, c, source.swizzle.reads(lanes));
            if let Some(&full) = found.get(&key) {
                let number = *numbers.entry(full).or_insert_with(|| {
                    constants.push(full.map(f32::from_bits));
                    constants.len() as u32 - 1
                });
                source.register = Register::Constant(number);
            }
            source
        });
    }
    program.constants = constants;
}

/// The constants that an instruction reads, and which components of them.
fn uses(instruction: &Instruction, constants: &[[f32; 4]]) -> Vec<Key> {
    let lanes = instruction.lanes_read();
    let constant = |source: super::Source| match source.register {
        Register::Constant(c) => Some(key(constants, c, source.swizzle.reads(lanes))),
        _ => None,
    };
    debug_assert!(!matches!(instruction.operation, Operation::Tex(_)) || lanes.is_empty());
    instruction.operation.sources().filter_map(constant).collect()
}

fn key(constants: &[[f32; 4]], c: u32, mask: WriteMask) -> Key {
    let values = constants.get(c as usize).copied().unwrap_or_default();
    (mask, only(values.map(f32::to_bits), mask))
}

fn only(bits: [u32; 4], mask: WriteMask) -> [u32; 4] {
    let mut lanes = bits.iter().zip(0..);
    bits.map(|_| lanes.next().map_or(0, |(&b, k)| if mask.has(k) { b } else { 0 }))
}
