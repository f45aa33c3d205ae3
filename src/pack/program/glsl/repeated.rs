//! A block row for all blocks: a program for each quad, whose texels are the blocks.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::{Names, literal};
use crate::error::Result;
use crate::pack::program::{Instruction, Register, ShaderStage};
use crate::pack::{Order, Program, RepeatedExpression, StencilBoundary};

/// One quad's program as GLSL: the body of a kernel that computes this quad for every block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuadPart {
    /// The quad that it computes.
    pub quad: usize,
    /// The quads of x that it reads, as inputs `x0`, `x1`, ... by these numbers: textures with a texel for each block.
    pub reads: Vec<usize>,
    /// Whether it reads its quad of b, as an input `b` of the same kind.
    pub reads_b: bool,
    /// The body.
    pub body: String,
}

/// The names in a program whose registers are the quads of the own block, then those of each link.
struct Repeated {
    quads: u32,
    /// For each link whether some of what it leads to is zero, and whether some is multiplied by a factor.
    behind: Vec<[bool; 2]>,
}

impl Repeated {
    /// The link that a quad of x belongs to, counted from 1, and its number there; 0 for the own block.
    fn place(&self, x: u32) -> (usize, u32) {
        ((x / self.quads) as usize, x % self.quads)
    }
}

impl Names for Repeated {
    fn name(&self, register: Register) -> String {
        match register {
            Register::Temp(r) => format!("r{r}"),
            Register::Constant(c) => format!("c{c}"),
            Register::B(_) => "b_at(p)".to_owned(),
            Register::Y(_) => "y".to_owned(),
            Register::X(x) => match self.place(x) {
                (0, k) => format!("x{k}_at(p)"),
                (l, k) => {
                    let [dropped, scaled] = self.behind.get(l - 1).copied().unwrap_or_default();
                    let nearest = format!(
                        "{}x{k}_clamped(q{l})",
                        if scaled { format!("factor{l} * ") } else { String::new() }
                    );
                    // Past an edge the nearest texel: by choice, since zero times an infinity is NaN.
                    if dropped { format!("inside{l} ? {nearest} : vec4(0.0)") } else { nearest }
                }
            },
        }
    }
}

/// Where a link leads from texel `p`: `q1`, `inside1` where that may be zero, and `factor1` where it may be scaled.
fn declared(l: usize, offset: [i32; 2], sides: [StencilBoundary; 2], blocks: [usize; 2]) -> String {
    let (mut inside, mut factors) = (Vec::new(), Vec::new());
    let mut at = Vec::new();
    for (((axis, o), side), n) in ["x", "y"].into_iter().zip(offset).zip(sides).zip(blocks) {
        at.push(match side {
            _ if o == 0 => format!("p.{axis}"),
            StencilBoundary::Periodic => format!("(p.{axis} + {}) % {n}", n as i64 + i64::from(o)),
            _ => format!("p.{axis} {} {}", if o < 0 { '-' } else { '+' }, o.unsigned_abs()),
        });
        let bound = if o < 0 { format!(">= {}", -o) } else { format!("< {}", n as i64 - i64::from(o)) };
        match side {
            _ if o == 0 => {}
            StencilBoundary::Dropped => inside.push(format!("p.{axis} {bound}")),
            StencilBoundary::Scaled(by) => {
                factors.push(format!("(p.{axis} {bound} ? 1.0 : {})", literal(by as f32)));
            }
            _ => {}
        }
    }
    let mut text = format!("    ivec2 q{l} = ivec2({});\n", at.join(", "));
    if !inside.is_empty() {
        let _ = writeln!(text, "    bool inside{l} = {};", inside.join(" && "));
    }
    if !factors.is_empty() {
        let _ = writeln!(text, "    float factor{l} = {};", factors.join(" * "));
    }
    text
}

impl RepeatedExpression {
    /// The bodies of texla kernels, one for each quad of a block in the order of the positions; `subtract_b` for y = A x - b.
    ///
    /// Texel (x, y) of every texture is block (x, y), its lanes the unknowns at the quad's four positions, zeros where padding
    /// stands. Targets have the width and height of [`blocks`](Self::blocks).
    ///
    /// *Cost*: linear. *Errors*: as [`lower`](Self::lower) and [`Program::fragment_parts`].
    ///
    /// *Source*: \[Bajaj04\] section 4.1.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets};
    /// use texla::pack::{LinearExpression, Order, RepeatedExpression, StencilBoundary::{Copied, Dropped}};
    /// let s = Triplets::from_entries(Shape::new(4, 4), [(0, 1, 2.0), (1, 0, 0.5), (2, 3, -1.0), (3, 2, 4.0)])?;
    /// let s = LinearExpression::new(&s, &[true; 4])?;
    /// let e = RepeatedExpression::new(s, [9, 1], [[Copied, Dropped]; 2])?.link([1, 0], &[3.0; 4])?;
    /// assert_eq!(e.fragment_parts(&Order::identity(4), false)?[0].body, "const vec4 c0 = vec4(2.0, 0.5, -1.0, 4.0);
    /// const vec4 c1 = vec4(3.0, 3.0, 3.0, 3.0);
    /// vec4 kernel(ivec2 p) {
    ///     vec4 y;
    ///     vec4 r0, r1, r2;
    ///     ivec2 q1 = ivec2(p.x + 1, p.y);
    ///     bool inside1 = p.x < 8;
    ///     r0 = x0_at(p);
    ///     r1 = inside1 ? x0_clamped(q1) : vec4(0.0);
    ///     r2 = b_at(p);
    ///     r0 = c0 * r0.yxwz + r2;
    ///     y = c1 * r1 + r0;
    ///     return y;
    /// }
    /// ");
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn fragment_parts(&self, order: &Order, subtract_b: bool) -> Result<Vec<QuadPart>> {
        let program = self.lower(order, subtract_b)?;
        let links: Vec<_> = self.links().map(|(offset, _)| (offset, self.sides_behind(offset))).collect();
        let behind = |(offset, sides): &([i32; 2], [StencilBoundary; 2])| {
            let across = || offset.iter().zip(sides).filter(|(o, _)| **o != 0);
            let scaled = |side: &StencilBoundary| matches!(side, StencilBoundary::Scaled(_));
            [
                across().any(|(_, side)| *side == StencilBoundary::Dropped),
                across().any(|(_, side)| scaled(side)),
            ]
        };
        let names =
            Repeated { quads: self.block().quads() as u32, behind: links.iter().map(behind).collect() };
        let fetched = |instructions: &[&Instruction]| -> Vec<Register> {
            instructions.iter().flat_map(|i| i.operation.sources()).map(|s| s.register).collect()
        };
        let (op, expected) = ("RepeatedExpression::fragment_parts", "the fragment stage");
        let bodies = program.split(op, ShaderStage::Fragment, expected, 1, |_, _, instructions| {
            let mut body = program.declared(instructions);
            body.push_str("vec4 kernel(ivec2 p) {\n    vec4 y;\n");
            body.push_str(&Program::temporaries_of(instructions, "    "));
            let read = fetched(instructions).into_iter().filter_map(|register| match register {
                Register::X(x) => Some(names.place(x).0),
                _ => None,
            });
            for l in read.collect::<BTreeSet<_>>() {
                if let Some(&(offset, sides)) = l.checked_sub(1).and_then(|k| links.get(k)) {
                    body.push_str(&declared(l, offset, sides, self.blocks()));
                }
            }
            for instruction in instructions {
                body.push_str("    ");
                body.push_str(&program.statement(instruction, &names));
            }
            body.push_str("    return y;\n}\n");
            body
        })?;
        let part = |(quad, body): (usize, super::ProgramPart)| {
            let registers = fetched(&program.block_row(quad).iter().collect::<Vec<_>>());
            let quads: BTreeSet<usize> = registers
                .iter()
                .filter_map(|register| match register {
                    Register::X(x) => Some(names.place(*x).1 as usize),
                    _ => None,
                })
                .collect();
            let reads_b = registers.iter().any(|register| matches!(register, Register::B(_)));
            QuadPart { quad, reads: quads.into_iter().collect(), reads_b, body: body.body }
        };
        Ok(bodies.into_iter().take(self.block().quads()).enumerate().map(part).collect())
    }
}
