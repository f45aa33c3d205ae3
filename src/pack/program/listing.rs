//! Programs as text in the notation of \[Bajaj04\].

use std::fmt;

use super::ir::{Instruction, Register, Source, Swizzle, WriteMask};
use super::{Program, ShaderStage};
use crate::pack::Form;

const NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Register::Temp(r) => write!(f, "R{r}"),
            Register::Constant(r) => write!(f, "C{r}"),
            Register::X(r) => write!(f, "X{r}"),
            Register::B(r) => write!(f, "B{r}"),
            Register::Y(r) => write!(f, "Y{r}"),
        }
    }
}

/// `.xz`; nothing for all four.
impl fmt::Display for WriteMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == WriteMask::ALL {
            return Ok(());
        }
        let letters: String = self.lanes().filter_map(|k| NAMES.get(k)).collect();
        write!(f, ".{letters}")
    }
}

/// `.zzzy`; nothing for xyzw.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Swizzle::IDENTITY {
            return Ok(());
        }
        let letters: String = (0..4).filter_map(|k| NAMES.get(self.lane(k))).collect();
        write!(f, ".{letters}")
    }
}

/// `R4.zzzy`, `-R4` where it is negated.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", if self.negate { "-" } else { "" }, self.register, self.swizzle)
    }
}

/// `MAD R3, C28, R4.zzzy, R3`.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.operation.name(), self.target, self.mask)?;
        self.operation.sources().try_for_each(|source| write!(f, ", {source}"))
    }
}

impl Program {
    /// The program as text in the notation of \[Bajaj04\]: what each register holds, then an instruction a line, block row
    /// after block row. Moves that do not count are marked.
    ///
    /// *Source*: \[Bajaj04\] section 2.3.1.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// use texla::pack::{LinearExpression, LowerOptions, Packing, Program};
    /// let a = Triplets::from_entries(Shape::new(3, 3), [(0, 1, 2.0), (1, 0, 0.5), (2, 0, -1.0)])?;
    /// let e = LinearExpression::new(&a, &[true; 3])?;
    /// let program = Program::lower(&e, &Packing::identity(3), LowerOptions::default())?;
    /// assert!(program.listing().ends_with("\n# Y0\nMAD Y0, C0, X0.yxxy, B0\n"));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn listing(&self) -> String {
        self.to_string()
    }
}

/// The [listing](Program::listing).
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.nontrivial.len();
        let formula = match (self.form, self.subtract_b) {
            (Form::Affine, false) => "y = A x + b",
            (Form::Affine, true) => "y = A x - b",
            (Form::GaussSeidel, false) => "Gauss-Seidel, X the old x and Y the new one",
            (Form::GaussSeidel, true) => "Gauss-Seidel with -B for b, X the old x and Y the new one",
        };
        let stage = match self.stage {
            ShaderStage::Vertex => "vertex",
            ShaderStage::Fragment => "fragment",
        };
        writeln!(f, "# {formula}. Unknowns: {n}, quads: {}; for the {stage} stage", self.quads())?;
        let counts = self.counts();
        let kinds = counts.by_name().into_iter().filter(|&(_, count)| count > 0);
        let kinds: Vec<String> = kinds.map(|(name, count)| format!("{count} {name}")).collect();
        let kinds = if kinds.is_empty() { "none".to_owned() } else { kinds.join(", ") };
        writeln!(f, "# Instructions: {kinds}. Moves that do not count: {}", counts.alias)?;
        writeln!(f, "# Temporaries: {}. Constants: {}", self.temporaries, self.constants.len())?;
        let (rows, cols) = (self.packing.rows(), self.packing.cols());
        let names = if self.packing.is_symmetric() { "X, B, Y" } else { "B, Y" };
        for (order, names) in [(rows, names), (cols, "X")] {
            if names == "X" && self.packing.is_symmetric() {
                continue;
            }
            writeln!(f, "#\n# Unknowns in the components of {names}:")?;
            for (quad, unknowns) in order.indices().chunks(4).enumerate() {
                let unknown = |&i: &u32| if (i as usize) < n { i.to_string() } else { "-".to_owned() };
                writeln!(f, "# {quad}: {}", unknowns.iter().map(unknown).collect::<Vec<_>>().join(" "))?;
            }
        }
        if !self.constants.is_empty() {
            writeln!(f, "#\n# Constants:")?;
        }
        for (c, values) in self.constants.iter().enumerate() {
            writeln!(f, "# C{c} = {}", values.map(|v| format!("{v:?}")).join(" "))?;
        }
        for instruction in self.prologue() {
            writeln!(f, "{instruction}")?;
        }
        for quad in 0..self.quads() {
            writeln!(f, "\n# Y{quad}")?;
            for instruction in self.block_row(quad) {
                writeln!(f, "{instruction}{}", if instruction.alias { "  # not counted" } else { "" })?;
            }
        }
        Ok(())
    }
}
