//! A program as a function, for bodies that put more around it.

use super::vertex::Vertex;
use crate::error::{Error, Result};
use crate::pack::Form;
use crate::pack::program::{Instruction, Program, ShaderStage};

impl Program {
    /// The function `void NAME(vec4 x[Q], vec4 b[Q], out vec4 y[Q])` for Q [`quads`](Self::quads), and the constants
    /// that it reads: one stage of something larger, such as a Runge-Kutta step.
    ///
    /// *Cost*: linear. *Errors*: [`Error::Parameter`] for a program of the fragment stage or of Gauss-Seidel's form, and past
    /// [`MAX_GLSL_INSTRUCTIONS`](Self::MAX_GLSL_INSTRUCTIONS); as [`verify`](Self::verify).
    ///
    /// ```
    /// use texla::pack::{LowerOptions, Packing, Program, instances};
    /// let block = instances::poisson_2d_s8()?;
    /// let program = Program::lower(&block, &Packing::identity(8), LowerOptions::VERTEX)?;
    /// assert!(program.vertex_function("f")?.contains("void f(vec4 x[2], vec4 b[2], out vec4 y[2]) {"));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn vertex_function(&self, name: &str) -> Result<String> {
        let op = "Program::vertex_function";
        if self.stage != ShaderStage::Vertex || self.form != Form::Affine {
            let (name, value) = ("program", format!("{:?} in the {:?} stage", self.form, self.stage));
            let expected = "y = A x + b, lowered for the vertex stage";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let expected = "a program lowered for the vertex stage";
        let names = Vertex { first: 0 };
        let function = |_, quads, instructions: &[&Instruction]| {
            let mut text = self.declared(instructions);
            text.push_str(&format!(
                "void {name}(vec4 x[{quads}], vec4 b[{quads}], out vec4 y[{quads}]) {{\n"
            ));
            text.push_str(&Self::temporaries_of(instructions, "    "));
            for instruction in instructions {
                text.push_str("    ");
                text.push_str(&self.statement(instruction, &names));
            }
            text.push_str("}\n");
            text
        };
        // One part is all of it.
        let parts = self.split(op, ShaderStage::Vertex, expected, self.quads().max(1), function)?;
        Ok(parts.into_iter().map(|part| part.body).collect())
    }
}
