//! Repeated expressions in the fragment stage: a program for each quad, or for several.

use super::block_vector::{BlockVector, Packer};
use super::layout::{BlockParams, Schedule, workload};
use super::moving::Moving;
use super::{BlockPlan, BlockUse};
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Compiled, Draw, KernelSpec, PooledTexture, StageSpec, compile_now};
use crate::ops::{check_device, check_shape};
use crate::pack::{Order, Program, QuadPart, RepeatedExpression};
use crate::profile::Workload;
use crate::shape::Shape;
use crate::solve::stationary::Direction;

/// y = A x + b for a [`RepeatedExpression`]: a kernel for each quad of a block, drawn over all blocks.
///
/// Coefficients are part of the kernels: no matrix stands in a texture, and texels beside one another run the same program.
///
/// *Shapes*: [`BlockVector`]s of this expression; vectors in natural order, of all [unknowns](RepeatedExpression::unknowns).
///
/// *Cost*: a draw for each quad, or for as many as [go together](BlockParams::targets); for a block the instructions and fetches
/// of the [program](Self::program), fewer fetches where quads are drawn together; no readback. *Bound*
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
    passes: Vec<Pass>,
    /// The numbers of the passes that read old values alone, and of those that read the newest.
    at_once: Vec<usize>,
    in_turn: Vec<usize>,
    program: Program,
    params: BlockParams,
}

/// The kernel of some quads and what it reads.
struct Pass {
    kernel: Compiled,
    part: QuadPart,
}

shown!(BlockExpression, |e| "BlockExpression({} quads, {:?})", e.packer.quads(), e.params);

impl BlockExpression {
    /// Lowers and compiles the expression with the unknowns of each block in this order, quads apart and drawn one by one.
    ///
    /// *Errors*: as [`RepeatedExpression::fragment_parts`]; [`Error::TooLarge`](crate::Error::TooLarge) for more blocks in one
    /// direction than a texture has texels; [`Error::Unsupported`](crate::Error::Unsupported) for a quad that reads more
    /// others than there are texture units; [`Error::Shader`](crate::Error::Shader) if the driver's compiler refuses it.
    pub fn new(device: &Device, e: &RepeatedExpression, order: &Order) -> Result<Self> {
        Self::with(device, e, order, BlockParams::default())
    }

    /// The same for y = A x - b, at the same cost.
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn subtracting(device: &Device, e: &RepeatedExpression, order: &Order) -> Result<Self> {
        Self::with(device, e, order, BlockParams::default().with_subtract_b(true))
    }

    /// The same in a layout and by a schedule of one's own.
    ///
    /// *Errors*: as [`new`](Self::new); [`Error::TooLarge`](crate::Error::TooLarge) too if all quads do not fit into one texture
    /// and should.
    pub fn with(device: &Device, e: &RepeatedExpression, order: &Order, params: BlockParams) -> Result<Self> {
        Self::of(device, e, order, params, &[BlockUse::Apply, BlockUse::Iterate])
    }

    /// The same with the kernels for these uses alone; of another one nothing may be asked.
    pub(super) fn of(
        device: &Device,
        e: &RepeatedExpression,
        order: &Order,
        params: BlockParams,
        uses: &[BlockUse],
    ) -> Result<Self> {
        let (lowered, places) = params.layout.lowered(e, order)?;
        let program = lowered.lower(&places, params.subtract_b)?;
        let packer = Packer::new(device, &lowered, order, params)?;
        let schedule = {
            let caps = device.gl().caps.borrow();
            Schedule::new(&lowered, &program, packer.tiles(), params, &caps, uses)?
        };
        let compiled = |part: QuadPart| {
            let mut names: Vec<String> = part.reads.iter().map(|k| format!("x{k}")).collect();
            names.extend(part.reads_b.iter().map(|k| format!("b{k}")));
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let outputs = (0..part.quads).map(|k| format!("o{k}")).collect();
            let stage = StageSpec::Fragment { outputs, mask: false };
            // Not a user's: the body is our own, and reads places in its inputs alone.
            let mut spec = KernelSpec::users("blocks", stage, &names, &[], &part.body);
            spec.wanted.clear();
            spec.inputs.iter_mut().for_each(|input| input.addressed = true);
            let kernel = Compiled::new(device, spec)?;
            compile_now(device, &kernel)?;
            Ok(Pass { kernel, part })
        };
        let passes: Result<_> = schedule.parts.into_iter().map(compiled).collect();
        let (at_once, in_turn) = (schedule.at_once, schedule.in_turn);
        Ok(Self { packer, passes: passes?, at_once, in_turn, program, params })
    }

    /// The same in the order and layout, and by the schedule, that are [chosen](BlockPlan::choose) for a use on this device;
    /// and what was chosen.
    ///
    /// *Errors*: as [`BlockPlan::choose`] and [`new`](Self::new).
    pub fn chosen(device: &Device, e: &RepeatedExpression, used: BlockUse) -> Result<(Self, BlockPlan)> {
        let plan = BlockPlan::choose(device, e, used)?;
        Ok((Self::with(device, e, &plan.order, plan.params)?, plan))
    }

    /// A vector of zeros in the layout of this expression. *Cost*: a clear for each texture.
    pub fn zeros(&self) -> Result<BlockVector> {
        let _scope = self.device().scope()?;
        self.packer.zeros()
    }

    /// A vector whose texels are yet to be written.
    pub(super) fn uninit(&self) -> Result<BlockVector> {
        self.packer.uninit()
    }

    /// The elements of a vector in natural order in the layout of this expression.
    ///
    /// *Cost*: a draw for as many quads as there are draw buffers, or for each stacked one; 4 fetches a texel. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
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
    /// *Cost*: 1 draw for every 14 quads or so (the texture units less two), 1 if they are stacked; 8 fetches a texel. *Errors*:
    /// [`Error::ShapeMismatch`](crate::Error::ShapeMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice);
    /// [`Error::Parameter`](crate::Error::Parameter) for a vector of another layout;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for an `out` borrowed from the host.
    pub fn unpack(&self, out: &mut Vector, v: &BlockVector) -> Result<()> {
        self.unpack_scaled(out, v, [1.0; 2])
    }

    /// The same, times both factors.
    pub(super) fn unpack_scaled(&self, out: &mut Vector, v: &BlockVector, factors: [f32; 2]) -> Result<()> {
        let op = "BlockExpression::unpack";
        out.writable(op)?;
        check_shape(op, "out", out.shape(), Shape::column(self.packer.unknowns()))?;
        check_device(op, "out", out.device(), self.device())?;
        self.packer.check(op, "v", v)?;
        let _scope = self.device().scope()?;
        self.packer.unpack(out, v, factors)
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
        self.passes_of(&self.at_once).try_for_each(|pass| {
            let targets = pass.part.range().filter_map(|k| self.packer.held(y, k));
            self.draw(pass, |k| self.packer.held(x, k), b, targets)
        })
    }

    /// Replaces x by A x + b so many times, in place and quad by quad: each quad reads the new values of those before it, in
    /// all blocks, and the old ones of itself and of those after it. Backward, those after it are the new ones; symmetric
    /// is forward, then backward.
    ///
    /// *Cost* of an iteration: a draw for each quad or for as many as go together (twice that, if symmetric), and as many textures
    /// beside those of x as a draw has targets. Stacked quads move among three or four textures, and a copy for each quad
    /// at most brings them together in the end. *Errors*: as [`apply`](Self::apply). *Source*: \[Bajaj04\] section 4.1
    /// ("immediate replacement").
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
        let mut moving = Moving::new(&self.packer, &mut x.textures);
        let done = (0..iterations).try_for_each(|_| {
            if direction != Direction::Backward {
                self.passes_of(&self.in_turn).try_for_each(|pass| self.replace(pass, &mut moving, b))?;
            }
            if direction != Direction::Forward {
                self.passes_of(&self.in_turn)
                    .rev()
                    .try_for_each(|pass| self.replace(pass, &mut moving, b))?;
            }
            Ok(())
        });
        let settled = moving.settle(&mut x.textures);
        done.and(settled)
    }

    /// What the quads of a pass become, written to textures that it does not read, takes their places.
    fn replace(&self, pass: &Pass, moving: &mut Moving<'_>, b: &BlockVector) -> Result<()> {
        let free = moving.free(&pass.part)?;
        let targets = free.iter().filter_map(|&t| moving.texture(t));
        self.draw(pass, |k| moving.held(k), b, targets)?;
        moving.moved(&pass.part, &free);
        Ok(())
    }

    fn passes_of<'a>(&'a self, numbers: &'a [usize]) -> impl DoubleEndedIterator<Item = &'a Pass> {
        numbers.iter().filter_map(|&k| self.passes.get(k))
    }

    fn draw<'a>(
        &'a self,
        pass: &'a Pass,
        x: impl Fn(usize) -> Option<&'a PooledTexture>,
        b: &'a BlockVector,
        targets: impl Iterator<Item = &'a PooledTexture>,
    ) -> Result<()> {
        let Pass { kernel, part } = pass;
        let b = part.reads_b.iter().filter_map(|&k| self.packer.held(b, k));
        let read = part.reads.iter().filter_map(|&k| x(k)).chain(b);
        let draw = Draw::of(self.device(), kernel);
        let draw = read.fold(draw, |draw, texture| draw.addressed("", self.packer.view(texture)));
        let targets = targets.map(|texture| self.packer.view(texture));
        draw.targets(targets).on(self.packer.domain(part.first)).run()
    }

    /// The order of the unknowns of a block.
    pub(super) fn order(&self) -> &Order {
        self.packer.order()
    }

    /// The layout and the schedule.
    pub fn params(&self) -> BlockParams {
        self.params
    }

    /// What [`apply`](Self::apply) comes to, or an iteration one way, without the copies that stacked quads need in the end.
    pub fn workload(&self, used: BlockUse) -> Workload {
        let numbers = match used {
            BlockUse::Apply => &self.at_once,
            BlockUse::Iterate => &self.in_turn,
        };
        let parts = self.passes_of(numbers).map(|pass| &pass.part);
        workload(parts, self.packer.extent(), self.params.layout, used)
    }

    /// What bringing a vector into the layout and another one back comes to.
    pub(super) fn relayout(&self) -> Workload {
        self.packer.workload()
    }

    /// The program that runs for a block: see [`RepeatedExpression::lower`]. Of [single](super::BlockLayout::Single) unknowns
    /// it is one with a quad for each, of which the first lane alone is computed.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The device it was compiled for.
    pub fn device(&self) -> &Device {
        self.packer.device()
    }
}
