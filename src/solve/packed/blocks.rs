//! Repeated expressions in the fragment stage: a program and a texture for each quad.

use super::block_vector::{BlockVector, Packer};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Compiled, Draw, KernelSpec, PooledTexture, StageSpec, compile_now};
use crate::ops::{check_device, check_shape};
use crate::pack::{Order, Program, QuadPart, RepeatedExpression};
use crate::shape::Shape;
use crate::solve::stationary::Direction;

/// y = A x + b for a [`RepeatedExpression`]: a kernel for each quad of a block, drawn over all blocks.
///
/// Coefficients are part of the kernels: no matrix stands in a texture, and texels beside one another run the same program.
///
/// *Shapes*: [`BlockVector`]s of this expression; vectors in natural order, of all [unknowns](RepeatedExpression::unknowns).
///
/// *Cost*: a draw for each quad; for a block the instructions and fetches of the [program](Self::program), no readback. *Bound*
/// for k terms in a row: `γ_(k+2) (|A| |x| + |b|)`. *Source*: \[Bajaj04\] section 4.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Grid, Vector, solve::{BlockExpression, Direction}};
/// use texla::pack::{Order, RepeatedExpression, StencilBoundary::{Copied, Dropped}};
/// let taps = [([-1, 0, 0], 1.0), ([0, -1, 0], 10.0), ([0, 1, 0], 10.0)];
/// let sides = [[Dropped; 2], [Copied; 2], [Copied; 2]];
/// let e = RepeatedExpression::stencil(Grid::new_2d(5, 2), 1, &taps, sides, true)?;
/// let e = BlockExpression::new(dev, &e, &Order::identity(5))?;
/// let x = e.pack(&Vector::from_slice(dev, &[1., 2., 3., 4., 5., 0., 0., 0., 0., 1.])?)?;
/// let (mut y, mut out) = (e.zeros()?, Vector::zeros(dev, 10)?);
/// e.apply(&mut y, &x, &e.zeros()?)?;
/// e.unpack(&mut out, &y)?;
/// assert_eq!(out.read()?, [10., 21., 32., 43., 64., 10., 20., 30., 40., 60.]);
/// // In place: the second quad, unknown 4 of either line, sees what the first has become.
/// let mut x = x;
/// e.iterate(&mut x, &e.zeros()?, 1, Direction::Forward)?;
/// e.unpack(&mut out, &x)?;
/// assert_eq!(out.read()?, [10., 21., 32., 43., 103., 10., 20., 30., 40., 100.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BlockExpression {
    packer: Packer,
    quads: Vec<Quad>,
    program: Program,
}

/// The kernel of a quad and what it reads.
struct Quad {
    kernel: Compiled,
    part: QuadPart,
}

shown!(BlockExpression, |e| "BlockExpression({} quads)", e.quads.len());

impl BlockExpression {
    /// Lowers and compiles the expression with the unknowns of each block in this order.
    ///
    /// *Errors*: as [`RepeatedExpression::fragment_parts`]; [`Error::TooLarge`](crate::Error::TooLarge) for more blocks in one
    /// direction than a texture has texels; [`Error::Unsupported`](crate::Error::Unsupported) for a quad that reads more
    /// others than there are texture units; [`Error::Shader`](crate::Error::Shader) if the driver's compiler refuses it.
    pub fn new(device: &Device, e: &RepeatedExpression, order: &Order) -> Result<Self> {
        Self::of(device, e, order, false)
    }

    /// The same for y = A x - b, at the same cost: two steps back in time have that sign.
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn subtracting(device: &Device, e: &RepeatedExpression, order: &Order) -> Result<Self> {
        Self::of(device, e, order, true)
    }

    fn of(device: &Device, e: &RepeatedExpression, order: &Order, subtract_b: bool) -> Result<Self> {
        let program = e.lower(order, subtract_b)?;
        let packer = Packer::new(device, e, order)?;
        let compiled = |part: QuadPart| {
            let mut names: Vec<String> = part.reads.iter().map(|k| format!("x{k}")).collect();
            names.extend(part.reads_b.then(|| "b".to_owned()));
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let stage = StageSpec::Fragment { outputs: vec!["o0".to_owned()], mask: false };
            // Not a user's: the body is our own, and reads places in its inputs alone.
            let mut spec = KernelSpec::users("blocks", stage, &names, &[], &part.body);
            spec.wanted.clear();
            spec.inputs.iter_mut().for_each(|input| input.addressed = true);
            let kernel = Compiled::new(device, spec)?;
            compile_now(device, &kernel)?;
            Ok(Quad { kernel, part })
        };
        let quads: Result<_> = e.fragment_parts(order, subtract_b)?.into_iter().map(compiled).collect();
        Ok(Self { packer, quads: quads?, program })
    }

    /// A vector of zeros in the layout of this expression. *Cost*: a clear for each quad.
    pub fn zeros(&self) -> Result<BlockVector> {
        let _scope = self.device().scope()?;
        self.packer.zeros()
    }

    /// The elements of a vector in natural order in the layout of this expression.
    ///
    /// *Cost*: a draw for each quad, 4 fetches a texel. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
    /// [`Error::WrongDevice`](crate::Error::WrongDevice).
    pub fn pack(&self, v: &Vector) -> Result<BlockVector> {
        self.pack_weighted("BlockExpression::pack", v, |_| 1.0)
    }

    /// The same, with what belongs to unknown i of a block multiplied by `weight(i)`.
    pub(super) fn pack_weighted(
        &self,
        op: &'static str,
        v: &Vector,
        weight: impl Fn(usize) -> f32,
    ) -> Result<BlockVector> {
        check_shape(op, "v", v.shape(), Shape::column(self.packer.unknowns()))?;
        check_device(op, "v", v.device(), self.device())?;
        let _scope = self.device().scope()?;
        self.packer.pack(v, weight)
    }

    /// The elements of `v` in natural order.
    ///
    /// *Cost*: 1 draw for every 14 quads or so (the texture units less two), 8 fetches a texel. *Errors*:
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice);
    /// [`Error::Parameter`](crate::Error::Parameter) for a vector of another layout;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for an `out` borrowed from the host.
    pub fn unpack(&self, out: &mut Vector, v: &BlockVector) -> Result<()> {
        let op = "BlockExpression::unpack";
        out.writable(op)?;
        check_shape(op, "out", out.shape(), Shape::column(self.packer.unknowns()))?;
        check_device(op, "out", out.device(), self.device())?;
        self.packer.check(op, "v", v)?;
        let _scope = self.device().scope()?;
        self.packer.unpack(out, v)
    }

    /// Computes y, from the x that there is.
    ///
    /// *Errors*: [`Error::Parameter`](crate::Error::Parameter) for a vector of another layout,
    /// [`Error::WrongDevice`](crate::Error::WrongDevice).
    pub fn apply(&self, y: &mut BlockVector, x: &BlockVector, b: &BlockVector) -> Result<()> {
        for (operand, v) in [("y", &*y), ("x", x), ("b", b)] {
            self.packer.check("BlockExpression::apply", operand, v)?;
        }
        let _scope = self.device().scope()?;
        self.quads.iter().zip(&y.quads).try_for_each(|(quad, target)| self.draw(quad, x, b, target))
    }

    /// Replaces x by A x + b so many times, in place and quad by quad: each quad reads the new values of those before it, in
    /// all blocks, and the old ones of itself and of those after it. Backward, those after it are the new ones; symmetric
    /// is forward, then backward.
    ///
    /// *Cost* of an iteration: a draw for each quad (two, if symmetric), and one texture beside those of x. *Errors*: as
    /// [`apply`](Self::apply). *Source*: \[Bajaj04\] section 4.1 ("immediate replacement").
    pub fn iterate(
        &self,
        x: &mut BlockVector,
        b: &BlockVector,
        iterations: usize,
        direction: Direction,
    ) -> Result<()> {
        for (operand, v) in [("x", &*x), ("b", b)] {
            self.packer.check("BlockExpression::iterate", operand, v)?;
        }
        let _scope = self.device().scope()?;
        // What a quad becomes is written to a texture that none reads, which then takes the place of the quad's.
        let mut spare = self.packer.texture()?;
        let mut replace = |quad: &Quad| -> Result<()> {
            self.draw(quad, x, b, &spare)?;
            if let Some(texture) = x.quads.get_mut(quad.part.quad) {
                std::mem::swap(texture, &mut spare);
            }
            Ok(())
        };
        for _ in 0..iterations {
            if direction != Direction::Backward {
                self.quads.iter().try_for_each(&mut replace)?;
            }
            if direction != Direction::Forward {
                self.quads.iter().rev().try_for_each(&mut replace)?;
            }
        }
        Ok(())
    }

    fn draw(&self, quad: &Quad, x: &BlockVector, b: &BlockVector, target: &PooledTexture) -> Result<()> {
        let read = quad.part.reads.iter().filter_map(|&k| x.quads.get(k));
        let b = b.quads.get(quad.part.quad).filter(|_| quad.part.reads_b);
        let draw = Draw::of(self.device(), &quad.kernel);
        let draw = read.chain(b).fold(draw, |draw, texture| draw.addressed("", self.packer.view(texture)));
        draw.target(self.packer.view(target)).run()
    }

    /// The program that runs for a block: see [`RepeatedExpression::lower`].
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The device it was compiled for.
    pub fn device(&self) -> &Device {
        self.packer.device()
    }
}
