//! The fragment stage: a texel of the target is a quad of y.

use std::fmt::Write;

use super::{Names, ProgramPart};
use crate::error::Result;
use crate::pack::program::{Program, Register, ShaderStage};

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
    /// The bodies of texla kernels with the inputs `x` and `b`, vectors of 4 [`quads`](Self::quads) elements in the order of
    /// the packing, that together compute y; b is zero where it is trivial. Each is for the texels
    /// [`first`](ProgramPart::first) to `first + quads - 1` of the target, another such vector, and there are at most
    /// `max_quads` of them; what it writes to other texels means nothing.
    ///
    /// A texel computes the block row of its number, found by bisection. It fetches each quad that it needs once: see
    /// [`InstructionCounts::tex`](crate::pack::InstructionCounts::tex).
    ///
    /// Drivers take longer than in proportion to compile a long text: llvmpipe 0.7 s for 16 quads of the wave equation, 4.4 s
    /// for 64, a minute for 256. Parts of a few rows of the target keep that down.
    ///
    /// *Cost*: linear. *Errors*: [`Error::Parameter`](crate::Error::Parameter) for a program of the vertex stage, for parts of no quad, and for a part
    /// past [`MAX_GLSL_INSTRUCTIONS`](Self::MAX_GLSL_INSTRUCTIONS); as [`verify`](Self::verify).
    ///
    /// *Source*: \[Bajaj04\] section 4, where each quad has a shader of its own.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// use texla::pack::{LinearExpression, LowerOptions, Packing, Program};
    /// let a = Triplets::from_entries(Shape::new(3, 3), [(0, 1, 2.0), (1, 0, 0.5), (2, 0, -1.0)])?;
    /// let e = LinearExpression::new(&a, &[true; 3])?;
    /// let parts = Program::lower(&e, &Packing::identity(3), LowerOptions::FRAGMENT)?.fragment_parts(1)?;
    /// assert_eq!(parts[0].body, "const vec4 c0 = vec4(2.0, 0.5, -1.0, 0.0);
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
    pub fn fragment_parts(&self, max_quads: usize) -> Result<Vec<ProgramPart>> {
        let (op, expected) = ("Program::fragment_parts", "a program lowered for the fragment stage");
        self.split(op, ShaderStage::Fragment, expected, max_quads, |first, quads, instructions| {
            let mut body = self.declared(instructions);
            body.push_str("vec4 kernel(ivec2 p) {\n    int t = texel_index(p);\n    vec4 y;\n");
            body.push_str(&Self::temporaries_of(instructions, "    "));
            self.select(&mut body, first, first + quads, 1);
            body.push_str("    return y;\n}\n");
            body
        })
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
