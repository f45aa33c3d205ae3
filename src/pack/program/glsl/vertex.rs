//! The vertex stage: one vertex computes all of y, or as many quads as it can write.

use super::Names;
use crate::error::{Error, Result};
use crate::pack::program::{Instruction, Program, Register, Stage};

/// A piece of a program for the vertex stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexPart {
    /// The first quad of y that it writes.
    pub first: usize,
    /// How many it writes.
    pub quads: usize,
    /// The body: `void kernel(int vertex)`, which reads `x[0]`, `x[1]`, ... and `b[0]`, `b[1]`, ..., all quads of either,
    /// and sets `y[0]` to quad `first`, `y[1]` to the next, ...
    pub body: String,
}

/// The names in a part that begins with quad `first`.
struct Vertex {
    first: u32,
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
    /// packing, that together compute y; b is zero where it is trivial. None writes more than `max_outputs` quads.
    ///
    /// Parts of y = A x + b can run in any order. Those of a Gauss-Seidel iteration run in theirs, and each needs what the
    /// earlier ones have made: before a part runs, the quads of `x` in front of its [`first`](VertexPart::first) have to be
    /// the new ones; the others are the old ones.
    ///
    /// *Cost*: linear. *Errors*: [`Error::Parameter`] for a program of the fragment stage, for no outputs, and for a part past
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
    /// assert!(parts[1].body.contains("y[0] = c0 * x[14] + y[0];")); // a neighbour that the first part has made
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn vertex_parts(&self, max_outputs: usize) -> Result<Vec<VertexPart>> {
        let op = "Program::vertex_parts";
        if self.stage != Stage::Vertex {
            let (name, value) = ("stage", "the fragment stage".to_owned());
            let expected = "a program lowered for the vertex stage";
            return Err(Error::Parameter { op, name, value, expected });
        }
        if max_outputs == 0 {
            let (name, value, expected) = ("max_outputs", "0".to_owned(), "at least one quad a part");
            return Err(Error::Parameter { op, name, value, expected });
        }
        let firsts = (0..self.quads()).step_by(max_outputs);
        let parts = firsts.map(|first| (first, max_outputs.min(self.quads() - first)));
        let of = |(first, quads): (usize, usize)| {
            let rows = (first..first + quads).flat_map(|quad| self.block_row(quad));
            (first, quads, self.prologue().iter().chain(rows).collect::<Vec<_>>())
        };
        let parts: Vec<_> = parts.map(of).collect();
        self.check_text(op, parts.iter().map(|part| part.2.len()).max().unwrap_or_default())?;
        Ok(parts.into_iter().map(|(first, quads, rows)| self.part(first, quads, &rows)).collect())
    }

    fn part(&self, first: usize, quads: usize, instructions: &[&Instruction]) -> VertexPart {
        let mut body = self.declared(instructions);
        body.push_str("void kernel(int vertex) {\n");
        body.push_str(&Self::temporaries_of(instructions, "    "));
        let names = Vertex { first: first as u32 };
        for instruction in instructions {
            body.push_str("    ");
            body.push_str(&self.statement(instruction, &names));
        }
        body.push_str("}\n");
        VertexPart { first, quads, body }
    }
}
