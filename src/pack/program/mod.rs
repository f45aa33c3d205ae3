//! Programs for the machine of \[Bajaj04\]: what a packing is worth, written out.
//!
//! ```text
//! (LinearExpression, Packing) ── lower ──> Program ──> verify, run on the CPU, listing, GLSL for either stage
//! ```

mod block_row;
mod constants;
mod finish;
mod glsl;
mod interpret;
mod ir;
mod listing;
mod lower;
mod one_constant;
mod peel;
mod products;
mod registers;
mod verify;

use crate::pack::{Form, Instructions, Packing};

pub(crate) use glsl::Tiles;
pub use glsl::{ProgramPart, QuadPart};
pub use ir::{Instruction, Operation, Register, Source, Swizzle, WriteMask};
pub use products::ProductEntries;

/// Where a program runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(alias = "Stage")]
pub enum ShaderStage {
    /// The vertex stage: one program computes all of y, x and b stand in registers.
    #[default]
    Vertex,
    /// The fragment stage: a texel computes one quad of y, and TEX fetches each quad of x and b that it needs, once.
    Fragment,
}

/// How an expression is lowered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LowerOptions {
    /// The stage that the program is for.
    pub stage: ShaderStage,
    /// No instruction may read two constant registers, which hold the coefficients, x, b and y: the rule of the GeForce FX.
    /// Moves to temporaries are added and count. For the vertex stage alone.
    ///
    /// The coefficients are moved once, in front of all, or the quads of x if there are fewer; b in front of each product
    /// that it is added to. With the orders that cost least, the wave equation then takes 63 + 16 = 79 instructions: 4 vectors
    /// of coefficients, and 12 quads of b, since the thirteenth is added to a DP4, which needs no move. \[Bajaj04\] Table 2 (e)
    /// has 63 + 18, which is what 5 vectors and a move for each of the 13 would make; 5 is the number where vectors have
    /// to agree in components that are not used too. Gauss-Seidel takes 72 + 17 = 89 (1 and 16), where the paper has 72 + 15:
    /// which two moves it saved it does not say. Nor does it say how the 64 further instructions of Runge-Kutta divide. By
    /// the same rule they are 17 + 35: y is moved once (5), b in each of the 4 evaluations (3); equations (6), (8) and (10)
    /// are a MAD for each of the 5 quads, (4) is four.
    pub one_constant: bool,
    /// y = A x - b in place of y = A x + b: b is read negated, which costs nothing.
    pub subtract_b: bool,
}

with!(const LowerOptions:
    with_stage(stage: ShaderStage),
    with_one_constant(one_constant: bool),
    with_subtract_b(subtract_b: bool),
);

impl LowerOptions {
    /// y = A x + b in the vertex stage.
    pub const VERTEX: LowerOptions =
        LowerOptions { stage: ShaderStage::Vertex, one_constant: false, subtract_b: false };
    /// y = A x + b in the fragment stage.
    pub const FRAGMENT: LowerOptions = LowerOptions { stage: ShaderStage::Fragment, ..Self::VERTEX };
}

/// A program that evaluates a linear expression in a given packing. Plain data: [`verify`](Self::verify) says whether it
/// makes sense.
///
/// *Source*: \[Bajaj04\] sections 2.1 and 2.3.1, Table 1.
///
/// ```
/// use texla::pack::{LowerOptions, Packing, Program, instances};
/// let cars = instances::runge_kutta_20()?;
/// let program = Program::lower(&cars, &Packing::identity(20), LowerOptions::default())?;
/// let counts = program.counts();
/// assert_eq!((counts.mad, counts.total()), (20, 20)); // Figure 2(a): four peels a car
/// assert_eq!((program.cost.0, program.extra), (20, 0));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Program {
    /// Where it runs.
    pub stage: ShaderStage,
    /// No instruction reads two constant registers: [`LowerOptions::one_constant`].
    pub one_constant: bool,
    /// Which of both forms it evaluates.
    pub form: Form,
    /// Whether it subtracts b, as its instructions do.
    pub subtract_b: bool,
    /// The order of the unknowns in y and b, and in x.
    pub packing: Packing,
    /// Which b_i are not the constant 0, by unknown.
    pub nontrivial: Vec<bool>,
    /// All instructions, block row after block row.
    pub instructions: Vec<Instruction>,
    /// Where each block row begins in `instructions`. What stands before the first is for all of them.
    pub starts: Vec<usize>,
    /// The vectors of coefficients in C0, C1, ...: no NaN, no infinity, nothing that the device would flush.
    pub constants: Vec<[f32; 4]>,
    /// How many temporaries it needs.
    pub temporaries: u32,
    /// The cost of the expression in this packing by [`SimdMachine`](crate::pack::SimdMachine).
    pub cost: Instructions,
    /// z: instructions beyond the cost, fewer if it is negative; see [`lower`](Self::lower).
    pub extra: i32,
}

/// How often each instruction stands in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct InstructionCounts {
    /// Products.
    pub mul: u32,
    /// Products added to something.
    pub mad: u32,
    /// Dot products.
    pub dp4: u32,
    /// Sums.
    pub add: u32,
    /// Moves that count.
    pub mov: u32,
    /// Fetches.
    pub tex: u32,
    /// Moves that do not count: other names for what is there.
    pub alias: u32,
}

impl InstructionCounts {
    /// All instructions that the cost counts: no aliases, no fetches.
    pub fn total(&self) -> u32 {
        self.mul + self.mad + self.dp4 + self.add + self.mov
    }

    /// The counts by mnemonic, in the order of \[Bajaj04\] Table 1; without aliases.
    pub fn by_name(&self) -> [(&'static str, u32); 6] {
        [
            ("ADD", self.add),
            ("MUL", self.mul),
            ("MAD", self.mad),
            ("DP4", self.dp4),
            ("MOV", self.mov),
            ("TEX", self.tex),
        ]
    }
}

impl Program {
    /// The number of instructions of each kind.
    pub fn counts(&self) -> InstructionCounts {
        let mut counts = InstructionCounts::default();
        for instruction in &self.instructions {
            *match instruction.operation {
                _ if instruction.alias => &mut counts.alias,
                Operation::Mov(_) => &mut counts.mov,
                Operation::Add(..) => &mut counts.add,
                Operation::Mul(..) => &mut counts.mul,
                Operation::Mad(..) => &mut counts.mad,
                Operation::Dp4(..) => &mut counts.dp4,
                Operation::Tex(_) => &mut counts.tex,
            } += 1;
        }
        counts
    }

    /// Number of quads of y, which is the number of block rows.
    pub fn quads(&self) -> usize {
        self.starts.len()
    }

    /// The instructions before the first block row.
    pub fn prologue(&self) -> &[Instruction] {
        let end = self.starts.first().copied().unwrap_or(self.instructions.len());
        self.instructions.get(..end).unwrap_or_default()
    }

    /// The instructions of block row `quad`; none past the last.
    pub fn block_row(&self, quad: usize) -> &[Instruction] {
        let Some(&start) = self.starts.get(quad) else { return &[] };
        let end = self.starts.get(quad + 1).copied().unwrap_or(self.instructions.len());
        self.instructions.get(start..end).unwrap_or_default()
    }
}
