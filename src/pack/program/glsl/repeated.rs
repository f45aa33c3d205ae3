//! A block row for all blocks: a program for each quad, whose texels are the blocks.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;

use super::{Names, check_length, literal};
use crate::error::Result;
use crate::pack::program::{Instruction, Operation, Register, WriteMask};
use crate::pack::{Order, Program, RepeatedExpression, StencilBoundary};

/// A part of a block's program as GLSL: the body of a kernel that computes some of its quads, for every block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuadPart {
    /// The first quad that it computes.
    pub first: usize,
    /// How many, each an output of its own.
    pub quads: usize,
    /// The quads of x that it reads, as inputs `x0`, `x1`, ... by these numbers, each with a texel for every block.
    pub reads: Vec<usize>,
    /// The quads of b that it reads, as inputs `b0`, `b1`, ... of the same kind.
    pub reads_b: Vec<usize>,
    /// Fetches for a block: of texels of the own block, and of linked ones. Each texel is fetched once.
    pub fetches: [usize; 2],
    /// Products, sums and products with a sum for a block, of single numbers.
    pub operations: usize,
    /// The body.
    pub body: String,
}

impl QuadPart {
    /// The quads that it computes.
    pub(crate) fn range(&self) -> Range<usize> {
        self.first..self.first + self.quads
    }
}

/// Rectangles of (width, height) texels in one texture, `columns` beside one another: where quad k of every block stands if
/// quads share a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiles {
    pub size: [u32; 2],
    pub columns: u32,
}

impl Tiles {
    /// The texel of block (0, 0) in quad `k`.
    pub fn origin(self, k: usize) -> [u32; 2] {
        let (k, columns) = (k as u32, self.columns.max(1));
        [self.size[0] * (k % columns), self.size[1] * (k / columns)]
    }
}

/// The names in a program whose registers are the quads of the own block, then those of each link.
struct Repeated {
    quads: u32,
    /// For each link whether some of what it leads to is zero, and whether some is multiplied by a factor.
    behind: Vec<[bool; 2]>,
    tiles: Option<Tiles>,
    /// The first quad and how many the part computes.
    first: u32,
    outputs: usize,
}

impl Repeated {
    /// The link that a quad of x belongs to, counted from 1, and its number there; 0 for the own block.
    fn place(&self, x: u32) -> (usize, u32) {
        ((x / self.quads) as usize, x % self.quads)
    }

    /// Quad k of an input at the texel of block `at`.
    fn texel(&self, input: char, k: u32, at: &str) -> String {
        match self.tiles.map(|tiles| tiles.origin(k as usize)) {
            None | Some([0, 0]) => format!("{input}{k}_at({at})"),
            Some([x, y]) => format!("{input}{k}_at({at} + ivec2({x}, {y}))"),
        }
    }

    /// What a TEX fetches.
    fn fetched(&self, register: Register) -> String {
        let Register::X(x) = register else { return self.name(register) };
        let (l, k) = self.place(x);
        // Past an edge the nearest block: by choice, since zero times an infinity is NaN. Where quads share a texture, the
        // place has been clamped before.
        let linked = match self.tiles {
            None => format!("x{k}_clamped(q{l})"),
            Some(_) => self.texel('x', k, &format!("q{l}")),
        };
        let Some([dropped, scaled]) =
            l.checked_sub(1).map(|l| self.behind.get(l).copied().unwrap_or_default())
        else {
            return self.texel('x', k, "p");
        };
        let linked = if scaled { format!("factor{l} * {linked}") } else { linked };
        if dropped { format!("inside{l} ? {linked} : vec4(0.0)") } else { linked }
    }
}

impl Names for Repeated {
    fn name(&self, register: Register) -> String {
        match register {
            Register::Temp(r) => format!("r{r}"),
            Register::Constant(c) => format!("c{c}"),
            Register::B(b) => self.texel('b', b, "p"),
            Register::Y(_) if self.outputs == 1 => "y".to_owned(),
            Register::Y(y) => format!("y{}", y.saturating_sub(self.first)),
            // Quads of one part share what they read.
            Register::X(x) if self.outputs > 1 => format!("t{x}"),
            Register::X(_) => self.fetched(register),
        }
    }
}

/// Where a link leads from block `p`: `q1`, `clamped` into the rectangle or not; `inside1` where that may be zero, and `factor1`
/// where it may be scaled.
fn declared(
    l: usize,
    offset: [i32; 2],
    sides: [StencilBoundary; 2],
    blocks: [usize; 2],
    clamped: bool,
) -> String {
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
    let [last_x, last_y] = blocks.map(|n| n.saturating_sub(1));
    let mut text = match (at.join(", "), clamped) {
        (at, false) => format!("    ivec2 q{l} = ivec2({at});\n"),
        (at, true) => format!("    ivec2 q{l} = clamp(ivec2({at}), ivec2(0), ivec2({last_x}, {last_y}));\n"),
    };
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
    ///     r2 = b0_at(p);
    ///     r0 = c0 * r0.yxwz + r2;
    ///     y = c1 * r1 + r0;
    ///     return y;
    /// }
    /// ");
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn fragment_parts(&self, order: &Order, subtract_b: bool) -> Result<Vec<QuadPart>> {
        let program = self.lower(order, subtract_b)?;
        program.verify()?;
        (0..self.block().quads()).map(|quad| self.part(&program, None, quad..quad + 1)).collect()
    }

    /// The body of a kernel that computes some quads by a program of this expression's, which makes sense; with an output
    /// for each, or for one alone, whose rectangle is drawn.
    pub(crate) fn part(
        &self,
        program: &Program,
        tiles: Option<Tiles>,
        quads: Range<usize>,
    ) -> Result<QuadPart> {
        let op = "RepeatedExpression::fragment_parts";
        let links: Vec<_> = self.links().map(|(offset, _)| (offset, self.sides_behind(offset))).collect();
        let behind = |(offset, sides): &([i32; 2], [StencilBoundary; 2])| {
            let across = || offset.iter().zip(sides).filter(|(o, _)| **o != 0);
            let scaled = |side: &StencilBoundary| matches!(side, StencilBoundary::Scaled(_));
            [
                across().any(|(_, side)| *side == StencilBoundary::Dropped),
                across().any(|(_, side)| scaled(side)),
            ]
        };
        let names = Repeated {
            quads: self.block().quads() as u32,
            behind: links.iter().map(behind).collect(),
            tiles,
            first: quads.start as u32,
            outputs: quads.len(),
        };
        let rows = quads.clone().flat_map(|quad| program.block_row(quad));
        let mut instructions: Vec<_> = program.prologue().iter().chain(rows).copied().collect();
        if self.is_single() {
            // What is fetched has one lane as it is.
            let first = |i: &mut Instruction| {
                i.mask = if matches!(i.operation, Operation::Tex(_)) {
                    i.mask
                } else {
                    i.mask.and(WriteMask::one(0))
                };
                !i.mask.is_empty()
            };
            instructions.retain_mut(first);
        }
        let instructions: Vec<_> = instructions.iter().collect();
        check_length(op, quads.len(), instructions.len())?;
        // What is read, in the order of the instructions.
        let mut read: Vec<Register> = Vec::new();
        for source in instructions.iter().flat_map(|i| i.operation.sources()) {
            if matches!(source.register, Register::X(_) | Register::B(_)) && !read.contains(&source.register)
            {
                read.push(source.register);
            }
        }
        let places: Vec<(usize, u32)> = read
            .iter()
            .filter_map(|register| match register {
                Register::X(x) => Some(names.place(*x)),
                _ => None,
            })
            .collect();
        let sorted = |all: &mut dyn Iterator<Item = u32>| -> Vec<usize> {
            all.map(|k| k as usize).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let reads_b = sorted(&mut read.iter().filter_map(|register| match register {
            Register::B(b) => Some(*b),
            _ => None,
        }));
        let own = places.iter().filter(|(l, _)| *l == 0).count() + reads_b.len();

        let mut body = program.declared(&instructions);
        let outputs: Vec<String> = (0..quads.len()).map(|k| format!("out vec4 y{k}")).collect();
        match quads.len() {
            1 => body.push_str(if self.is_single() {
                "vec4 kernel(ivec2 p) {\n    vec4 y = vec4(0.0);\n"
            } else {
                "vec4 kernel(ivec2 p) {\n    vec4 y;\n"
            }),
            _ => {
                let _ = writeln!(body, "void kernel(ivec2 p, {}) {{", outputs.join(", "));
            }
        }
        body.push_str(&Program::temporaries_of(&instructions, "    "));
        if let Some([x, y]) = tiles.map(|tiles| tiles.origin(quads.start)).filter(|origin| *origin != [0, 0])
        {
            let _ = writeln!(body, "    p -= ivec2({x}, {y});");
        }
        for l in places.iter().map(|(l, _)| *l).collect::<BTreeSet<_>>() {
            if let Some(&(offset, sides)) = l.checked_sub(1).and_then(|k| links.get(k)) {
                body.push_str(&declared(l, offset, sides, self.blocks(), tiles.is_some()));
            }
        }
        let mut known = BTreeSet::new();
        for instruction in &instructions {
            for source in instruction.operation.sources().filter(|_| quads.len() > 1) {
                if let Register::X(x) = source.register
                    && known.insert(x)
                {
                    let _ = writeln!(body, "    vec4 t{x} = {};", names.fetched(source.register));
                }
            }
            body.push_str("    ");
            body.push_str(&program.statement(instruction, &names));
        }
        body.push_str(if quads.len() == 1 { "    return y;\n}\n" } else { "}\n" });
        Ok(QuadPart {
            first: quads.start,
            quads: quads.len(),
            reads: sorted(&mut places.iter().map(|(_, k)| *k)),
            reads_b,
            fetches: [own, read.len() - own],
            operations: instructions.iter().map(|i| program.operations(i)).sum(),
            body,
        })
    }
}
