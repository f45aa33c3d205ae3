//! The fragment stage: a texel of the target is a quad of y.

use std::fmt::Write;

use super::Names;
use crate::error::{Error, Result};
use crate::pack::program::{Instruction, Program, Register, Stage};

struct Fragment;

impl Names for Fragment {
    fn name(&self, register: Register) -> String {
        match register {
            Register::Temp(r) => format!("r{r}"),
            Register::Constant(c) => format!("c{c}"),
            Register::X(j) => format!("x_texel({j})"),
            Register::B(j) => format!("b_texel({j})"),
            Register::Y(_) => "y".to_owned(),
        }
    }
}

impl Program {
    /// The body of a texla kernel with the inputs `x` and `b`, vectors of 4 [`quads`](Self::quads) elements in the order of
    /// the packing; b is zero where it is trivial. The target, another such vector, becomes y.
    ///
    /// A texel computes the block row of its number, found by bisection. It fetches each quad that it needs once: see
    /// [`InstructionCounts::tex`](crate::pack::InstructionCounts::tex).
    ///
    /// *Cost*: linear. *Errors*: [`Error::Parameter`] for a program of the vertex stage, and past
    /// [`MAX_GLSL_INSTRUCTIONS`](Self::MAX_GLSL_INSTRUCTIONS); as [`verify`](Self::verify).
    ///
    /// *Source*: \[Bajaj04\] section 4, where each quad has a shader of its own.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// use texla::pack::{LinearExpression, LowerOptions, Packing, Program, Stage};
    /// let a = Triplets::from_entries(Shape::new(3, 3), [(0, 1, 2.0), (1, 0, 0.5), (2, 0, -1.0)])?;
    /// let e = LinearExpression::new(&a, &[true; 3])?;
    /// let fragment = LowerOptions { stage: Stage::Fragment };
    /// let body = Program::lower(&e, &Packing::identity(3), fragment)?.fragment_body()?;
    /// assert_eq!(body, "const vec4 c0 = vec4(2.0, 0.5, -1.0, 0.0);
    /// vec4 kernel(ivec2 p) {
    ///     int t = texel_index(p);
    ///     vec4 y;
    ///     vec4 r0, r1;
    ///     r0 = x_texel(0);
    ///     r1 = b_texel(0);
    ///     y = c0 * r0.yxxy + r1;
    ///     return y;
    /// }
    /// ");
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn fragment_body(&self) -> Result<String> {
        let op = "Program::fragment_body";
        if self.stage != Stage::Fragment {
            let (name, value) = ("stage", "the vertex stage".to_owned());
            let expected = "a program lowered for the fragment stage";
            return Err(Error::Parameter { op, name, value, expected });
        }
        self.check_text(op, self.instructions.len())?;
        let all: Vec<&Instruction> = self.instructions.iter().collect();
        let mut text = self.declared(&all);
        text.push_str("vec4 kernel(ivec2 p) {\n    int t = texel_index(p);\n    vec4 y;\n");
        text.push_str(&Self::temporaries_of(&all, "    "));
        for instruction in self.prologue() {
            text.push_str("    ");
            text.push_str(&self.statement(instruction, &Fragment));
        }
        self.select(&mut text, 0, self.quads(), 1);
        text.push_str("    return y;\n}\n");
        Ok(text)
    }

    /// The block rows `from..to`, half of them on either side of a test.
    fn select(&self, text: &mut String, from: usize, to: usize, depth: usize) {
        let indent = "    ".repeat(depth);
        if to - from > 1 {
            let middle = from.midpoint(to);
            let _ = writeln!(text, "{indent}if (t < {middle}) {{");
            self.select(text, from, middle, depth + 1);
            let _ = writeln!(text, "{indent}}} else {{");
            self.select(text, middle, to, depth + 1);
            let _ = writeln!(text, "{indent}}}");
        } else {
            for instruction in self.block_row(from) {
                text.push_str(&indent);
                text.push_str(&self.statement(instruction, &Fragment));
            }
        }
    }
}
