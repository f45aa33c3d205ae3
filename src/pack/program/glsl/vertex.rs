//! The vertex stage: one vertex computes all of y, or as many quads as it can write.

use super::{Names, ProgramPart};
use crate::error::Result;
use crate::pack::program::{Program, Register, ShaderStage};

/// The names in a part that begins with quad `first`.
pub(super) struct Vertex {
    pub first: u32,
}

impl Names for Vertex {
    fn name(&self, register: Register) -> String {
        match register {
            Register::Temp(r) => format!("r{r}"),
            Register::Constant(c) => format!("c{c}"),
            Register::X(j) => format!("x[{j}]"),
            Register::B(j) => format!("b[{j}]"),
            // New values of an earlier part have taken the places of the old ones.
            Register::Y(j) => match j.checked_sub(self.first) {
                Some(k) => format!("y[{k}]"),
                None => format!("x[{j}]"),
            },
        }
    }
}

impl Program {
    /// The bodies of vertex kernels with the inputs `x` and `b`, each [`quads`](Self::quads) `vec4`s in the order of the
    /// packing, that together compute y; b is zero where it is trivial. Each sets `y[0]`, `y[1]`, ... to the quads from
    /// [`first`](ProgramPart::first) on, at most `max_outputs` of them.
    ///
    /// Parts of y = A x + b can run in any order. Those of a Gauss-Seidel iteration run in theirs, and each needs what the
    /// earlier ones have made: before a part runs, the quads of `x` in front of its [`first`](ProgramPart::first) have to be
    /// the new ones; the others are the old ones.
    ///
    /// *Cost*: linear. *Errors*: [`Error::Parameter`](crate::Error::Parameter) for a program of the fragment stage, for parts of no quad, and for a part past
    /// [`MAX_GLSL_INSTRUCTIONS`](Self::MAX_GLSL_INSTRUCTIONS); as [`verify`](Self::verify).
    ///
    /// *Source*: \[Bajaj04\] section 3.5: the vertex state program, its results captured in place of kept in registers.
    ///
    /// ```
    /// use texla::pack::{LowerOptions, Packing, Program, instances};
    /// let cube = instances::gauss_seidel_64()?;
    /// let program = Program::lower(&cube, &Packing::identity(64), LowerOptions::default())?;
    /// let parts = program.vertex_parts(15)?; // 60 floats
    /// assert_eq!(parts.iter().map(|p| (p.first, p.quads)).collect::<Vec<_>>(), [(0, 15), (15, 1)]);
    /// assert!(parts[1].body.contains(" * x[14] + y[0];")); // a quad that the first part has made
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn vertex_parts(&self, max_outputs: usize) -> Result<Vec<ProgramPart>> {
        let (op, expected) = ("Program::vertex_parts", "a program lowered for the vertex stage");
        self.split(op, ShaderStage::Vertex, expected, max_outputs, |first, _, instructions| {
            let mut body = self.declared(instructions);
            body.push_str("void kernel(int vertex) {\n");
            body.push_str(&Self::temporaries_of(instructions, "    "));
            let names = Vertex { first: first as u32 };
            for instruction in instructions {
                body.push_str("    ");
                body.push_str(&self.statement(instruction, &names));
            }
            body.push_str("}\n");
            body
        })
    }
}
