//! Temporaries share registers.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Program;
use super::ir::Register;

/// Gives each temporary the lowest register that is free from its first to its last use. An instruction may write to the
/// register whose value it is the last to read, since it reads first.
///
/// Linear, but for a heap of free registers.
pub(super) fn allocate(program: &mut Program) {
    let mut last: HashMap<u32, usize> = HashMap::new();
    for (at, instruction) in program.instructions.iter().enumerate() {
        let sources = instruction.operation.sources().map(|s| s.register);
        for register in sources.chain([instruction.target]) {
            if let Register::Temp(t) = register {
                last.insert(t, at);
            }
        }
    }
    let (mut free, mut count) = (BinaryHeap::new(), 0);
    let mut places: HashMap<u32, u32> = HashMap::new();
    for (at, instruction) in program.instructions.iter_mut().enumerate() {
        let ends = |t: &u32| last.get(t) == Some(&at);
        let mut place = |t: u32, free: &mut BinaryHeap<Reverse<u32>>| {
            *places.entry(t).or_insert_with(|| match free.pop() {
                Some(Reverse(register)) => register,
                None => {
                    count += 1;
                    count - 1
                }
            })
        };
        let mut ended = Vec::new();
        instruction.operation = instruction.operation.map(|mut source| {
            if let Register::Temp(t) = source.register {
                let register = place(t, &mut free);
                if ends(&t) && !ended.contains(&register) {
                    ended.push(register);
                }
                source.register = Register::Temp(register);
            }
            source
        });
        // A register that ends as a source is free for a value that begins; one that ends as the target is only read before.
        let target = instruction.target;
        let own = if let Register::Temp(t) = target { places.get(&t).copied() } else { None };
        free.extend(ended.iter().filter(|&&r| Some(r) != own).map(|&r| Reverse(r)));
        if let Register::Temp(t) = target {
            let register = own.unwrap_or_else(|| {
                free.pop().map_or_else(
                    || {
                        count += 1;
                        count - 1
                    },
                    |Reverse(register)| register,
                )
            });
            places.insert(t, register);
            if ends(&t) {
                free.push(Reverse(register));
            }
            instruction.target = Register::Temp(register);
        }
    }
    program.temporaries = count;
}
