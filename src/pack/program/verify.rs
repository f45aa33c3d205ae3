//! What a program has to keep to.

use super::ir::{Instruction, Operation, Register, Source, Swizzle, WriteMask};
use super::one_constant::constants_read;
use super::{Program, ShaderStage};
use crate::error::{Error, Result};
use crate::pack::Form;

impl Program {
    /// Checks that the program is one that the machine can run, and that computes all of y.
    ///
    /// # Invariants
    ///
    /// 1. There is a block row for each quad of unknowns; they follow one another in `instructions`. In the fragment stage
    ///    nothing stands in front of them.
    /// 2. Constants are normal 32-bit floats or zero.
    /// 3. Every register exists: R below `temporaries`, C below the number of constants, X, B and Y below the number of quads.
    /// 4. Only R and Y are written, and each instruction writes at least one component.
    /// 5. Every component of R and Y that is read has been written before. In the fragment stage, where each block row is
    ///    a program by itself, before in the same block row.
    /// 6. DP4 writes one component.
    /// 7. TEX stands in the fragment stage alone, fetches a whole quad of X or B into R, and is all that reads X and B there.
    /// 8. Only a MOV is an alias.
    /// 9. Block row I writes Y_I and no other quad of y, and in the end all of its components; each of them once, unless the
    ///    form is Gauss-Seidel. The instructions before the first block row write no result.
    /// 10. Y is read in Gauss-Seidel alone. There block row I reads Y_J for J <= I, the new values, and X_J for J >= I, the old
    ///     ones.
    /// 11. Block row I reads no quad of b but B_I.
    /// 12. If `one_constant` holds, no instruction reads two different registers out of C, X, B and Y.
    ///
    /// *Cost*: linear. *Errors*: [`Error::Program`] for the first instruction that breaks one, with its number.
    ///
    /// ```
    /// use texla::pack::{LowerOptions, Packing, Program, instances};
    /// let wave = instances::wave_2d()?;
    /// let mut program = Program::lower(&wave, &Packing::identity(64), LowerOptions::default())?;
    /// program.verify()?;
    /// program.instructions.pop();
    /// assert!(program.verify().is_err()); // a component of y is missing
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn verify(&self) -> Result<()> {
        let quads = self.nontrivial.len().div_ceil(4);
        let orders = [self.packing.rows(), self.packing.cols()];
        let fits = orders.iter().all(|order| order.unknowns() == self.nontrivial.len());
        let ends = self.starts.iter().copied().chain([self.instructions.len()]);
        if !fits || self.quads() != quads || !ends.is_sorted() {
            let detail = format!(
                "its {} block rows and its packing do not fit {} unknowns and {} instructions",
                self.quads(),
                self.nontrivial.len(),
                self.instructions.len()
            );
            return Err(Error::Program { instruction: 0, detail });
        }
        let flushed = |c: &[f32; 4]| !c.iter().all(|v| v.is_normal() || *v == 0.0);
        if let Some(c) = self.constants.iter().position(flushed) {
            let detail = format!("the constant C{c} is not finite or below the normal range");
            return Err(Error::Program { instruction: 0, detail });
        }
        let mut state = State {
            program: self,
            temporaries: vec![WriteMask::NONE; self.temporaries as usize],
            results: vec![WriteMask::NONE; quads],
        };
        let fail = |at: usize, detail: String| Err(Error::Program { instruction: at, detail });
        if self.stage == ShaderStage::Fragment && !self.prologue().is_empty() {
            return fail(
                0,
                "a texel runs its own block row alone, not what stands in front of all".to_owned(),
            );
        }
        for (at, instruction) in self.prologue().iter().enumerate() {
            state.step(instruction, None).or_else(|detail| fail(at, detail))?;
        }
        for (quad, &start) in self.starts.iter().enumerate() {
            if self.stage == ShaderStage::Fragment {
                state.temporaries.fill(WriteMask::NONE);
            }
            let rows = self.block_row(quad);
            for (at, instruction) in rows.iter().enumerate() {
                state.step(instruction, Some(quad as u32)).or_else(|detail| fail(start + at, detail))?;
            }
            if state.results.get(quad) != Some(&WriteMask::ALL) {
                let last = (start + rows.len()).saturating_sub(1);
                return fail(last, format!("block row {quad} ends before all of Y{quad} is written"));
            }
        }
        Ok(())
    }
}

/// Which components have been written so far.
struct State<'a> {
    program: &'a Program,
    temporaries: Vec<WriteMask>,
    results: Vec<WriteMask>,
}

impl State<'_> {
    /// One instruction of block row `quad`, or in front of all.
    fn step(&mut self, instruction: &Instruction, quad: Option<u32>) -> Result<(), String> {
        let name = instruction.operation.name();
        let tex = matches!(instruction.operation, Operation::Tex(_));
        for source in instruction.operation.sources() {
            let read = source.swizzle.reads(instruction.lanes_read());
            self.source(source, read, quad)?;
            let input = matches!(source.register, Register::X(_) | Register::B(_));
            let fragment = self.program.stage == ShaderStage::Fragment;
            if tex && (!fragment || !input || source.swizzle != Swizzle::IDENTITY) {
                return Err("TEX fetches whole quads of X and B, in the fragment stage alone".to_owned());
            }
            if fragment && input && !tex {
                return Err(format!("{name} reads {source}, which TEX has to fetch in the fragment stage"));
            }
        }
        if instruction.alias && !matches!(instruction.operation, Operation::Mov(_)) {
            return Err(format!("{name} is marked as an alias, which only a MOV can be"));
        }
        if matches!(instruction.operation, Operation::Dp4(..)) && instruction.mask.len() != 1 {
            return Err(format!("DP4 writes {} components, expected one", instruction.mask.len()));
        }
        if instruction.mask.is_empty() {
            return Err(format!("{name} writes no component"));
        }
        if tex && !(matches!(instruction.target, Register::Temp(_)) && instruction.mask == WriteMask::ALL) {
            return Err("TEX writes all components of a temporary".to_owned());
        }
        if self.program.one_constant && constants_read(instruction).len() > 1 {
            return Err(format!("{name} reads more than one constant register"));
        }
        self.target(instruction, quad)
    }

    fn source(&self, source: Source, read: WriteMask, quad: Option<u32>) -> Result<(), String> {
        let in_place = self.program.form == Form::GaussSeidel;
        let quads = self.results.len();
        let (r, bound) = match source.register {
            Register::Temp(r) => (r, self.temporaries.len()),
            Register::Constant(r) => (r, self.program.constants.len()),
            Register::X(r) | Register::B(r) | Register::Y(r) => (r, quads),
        };
        if r as usize >= bound {
            return Err(format!("{source} does not exist: there are {bound}"));
        }
        let allowed = match source.register {
            Register::Temp(_) | Register::Constant(_) => true,
            Register::X(j) => !in_place || quad.is_none_or(|i| j >= i),
            Register::B(j) => quad.is_none_or(|i| j == i),
            Register::Y(j) => in_place && quad.is_some_and(|i| j <= i),
        };
        if !allowed {
            return Err(format!("{source} is not for block row {} to read", quad.unwrap_or_default()));
        }
        let written = match source.register {
            Register::Temp(r) => self.temporaries.get(r as usize).copied().unwrap_or_default(),
            Register::Y(r) => self.results.get(r as usize).copied().unwrap_or_default(),
            Register::Constant(_) | Register::X(_) | Register::B(_) => WriteMask::ALL,
        };
        let missing = read.without(written);
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("{source} is read before its component{missing} is written"))
    }

    fn target(&mut self, instruction: &Instruction, quad: Option<u32>) -> Result<(), String> {
        let target = Source::from(instruction.target);
        let once = self.program.form == Form::Affine;
        let (written, once) = match instruction.target {
            Register::Temp(r) => (self.temporaries.get_mut(r as usize), false),
            Register::Y(r) if Some(r) == quad => (self.results.get_mut(r as usize), once),
            Register::Y(_) => return Err(format!("{target} belongs to another block row")),
            Register::Constant(_) | Register::X(_) | Register::B(_) => {
                return Err(format!("{target} cannot be written"));
            }
        };
        let Some(written) = written else { return Err(format!("{target} does not exist")) };
        if once && !written.and(instruction.mask).is_empty() {
            return Err(format!("{target} is written a second time"));
        }
        *written = written.with(instruction.mask);
        Ok(())
    }
}
