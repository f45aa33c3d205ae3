//! Programs as GLSL, in the common subset of GLSL 3.30 and ESSL 3.00.
//!
//! DP4 is written out as a sum: the order inside `dot()` differs between drivers.

mod fragment;
mod function;
mod repeated;
mod vertex;

use std::collections::BTreeSet;
use std::fmt::Write;

pub use repeated::QuadPart;
pub(crate) use repeated::Tiles;

use super::ir::{Instruction, Operation, Register, Source, WriteMask};
use super::{Program, ShaderStage};
use crate::error::{Error, Result};

/// A piece of a program as GLSL: a kernel that computes some quads of y.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramPart {
    /// The first quad of y that it computes.
    pub first: usize,
    /// How many.
    pub quads: usize,
    /// The body of the kernel.
    pub body: String,
}

/// How a stage names its registers.
trait Names {
    fn name(&self, register: Register) -> String;
}

impl Program {
    /// The most instructions, moves and fetches included, that become one piece of GLSL.
    pub const MAX_GLSL_INSTRUCTIONS: usize = 32_768;

    /// The program in parts of `most` quads, each made by `body` from its first quad, their number, and its instructions.
    fn split(
        &self,
        op: &'static str,
        stage: ShaderStage,
        expected: &'static str,
        most: usize,
        body: impl Fn(usize, usize, &[&Instruction]) -> String,
    ) -> Result<Vec<ProgramPart>> {
        if self.stage != stage {
            return Err(Error::Parameter { op, name: "stage", value: format!("{:?}", self.stage), expected });
        }
        if most == 0 {
            let expected = "at least one quad a part";
            return Err(Error::Parameter { op, name: "quads", value: "0".to_owned(), expected });
        }
        self.verify()?;
        let part = |first: usize| {
            let quads = most.min(self.quads() - first);
            let rows = (first..first + quads).flat_map(|quad| self.block_row(quad));
            let instructions: Vec<_> = self.prologue().iter().chain(rows).collect();
            check_length(op, quads, instructions.len())?;
            Ok(ProgramPart { first, quads, body: body(first, quads, &instructions) })
        };
        (0..self.quads()).step_by(most).map(part).collect()
    }

    /// The declarations of the constants that these instructions read.
    fn declared(&self, instructions: &[&Instruction]) -> String {
        let used: BTreeSet<u32> =
            instructions.iter().flat_map(|i| i.operation.sources()).filter_map(constant).collect();
        let mut text = String::new();
        for c in used {
            let values = self.constants.get(c as usize).copied().unwrap_or_default();
            let _ = writeln!(text, "const vec4 c{c} = vec4({});", values.map(literal).join(", "));
        }
        text
    }

    /// The declarations of the temporaries that these instructions write.
    fn temporaries_of(instructions: &[&Instruction], indent: &str) -> String {
        let written = instructions.iter().filter_map(|i| match i.target {
            Register::Temp(r) => Some(r),
            _ => None,
        });
        let used: BTreeSet<u32> = written.collect();
        match used.is_empty() {
            true => String::new(),
            false => {
                let names: Vec<String> = used.iter().map(|r| format!("r{r}")).collect();
                format!("{indent}vec4 {};\n", names.join(", "))
            }
        }
    }

    /// One instruction as a statement.
    fn statement(&self, instruction: &Instruction, names: &dyn Names) -> String {
        let mask = instruction.mask;
        let of = |source: Source| operand(source, mask, names);
        let value = match instruction.operation {
            Operation::Mov(a) => of(a),
            Operation::Add(a, b) => format!("{} + {}", of(a), of(b)),
            Operation::Mul(a, b) => format!("{} * {}", of(a), of(b)),
            Operation::Mad(a, b, c) => format!("{} * {} + {}", of(a), of(b), of(c)),
            Operation::Dp4(a, b) => self.dot(a, b, names),
            Operation::Tex(a) => names.name(a.register),
        };
        format!("{}{mask} = {value};\n", names.name(instruction.target))
    }

    /// The lanes of a dot product in which no coefficient is zero.
    fn dotted(&self, a: Source, b: Source) -> impl Iterator<Item = usize> {
        let zero = move |source: Source, k: usize| {
            let values = constant(source).and_then(|c| self.constants.get(c as usize));
            values.and_then(|v| v.get(source.swizzle.lane(k))).is_some_and(|&v| v == 0.0)
        };
        (0..4).filter(move |&k| !zero(a, k) && !zero(b, k))
    }

    /// Operations on single numbers that an instruction comes to.
    fn operations(&self, instruction: &Instruction) -> usize {
        match instruction.operation {
            Operation::Mov(_) | Operation::Tex(_) => 0,
            // The same value for every lane.
            Operation::Dp4(a, b) => self.dotted(a, b).count(),
            Operation::Add(..) | Operation::Mul(..) | Operation::Mad(..) => instruction.mask.len(),
        }
    }

    /// A dot product from x to w; products with a coefficient of zero are left out.
    fn dot(&self, a: Source, b: Source, names: &dyn Names) -> String {
        let factor = |s: Source, k: usize| operand(s, WriteMask::one(k), names);
        let product = |k: usize| format!("{} * {}", factor(a, k), factor(b, k));
        let products: Vec<String> = self.dotted(a, b).map(product).collect();
        if products.is_empty() { "0.0".to_owned() } else { products.join(" + ") }
    }
}

/// Refuses more instructions than become one piece of GLSL.
fn check_length(op: &'static str, quads: usize, instructions: usize) -> Result<()> {
    if instructions > Program::MAX_GLSL_INSTRUCTIONS {
        let value = format!("{instructions} in {quads} quads");
        let expected = "at most 32768 in one piece of GLSL: smaller parts";
        return Err(Error::Parameter { op, name: "instructions", value, expected });
    }
    Ok(())
}

fn constant(source: Source) -> Option<u32> {
    match source.register {
        Register::Constant(c) => Some(c),
        _ => None,
    }
}

/// What the lanes in `mask` read of a source.
fn operand(source: Source, mask: WriteMask, names: &dyn Names) -> String {
    let sign = if source.negate { "-" } else { "" };
    format!("{sign}{}{}", names.name(source.register), components(source, mask))
}

/// `.zy`: the components of a source that the lanes in `mask` read; nothing for xyzw.
fn components(source: Source, mask: WriteMask) -> String {
    if mask == WriteMask::ALL {
        return source.swizzle.to_string();
    }
    let letters: String = mask.lanes().filter_map(|k| "xyzw".chars().nth(source.swizzle.lane(k))).collect();
    format!(".{letters}")
}

/// A float as a literal that reads back as the same bits: the shortest such decimal, with a point.
fn literal(value: f32) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}
