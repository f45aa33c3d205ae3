//! Expressions in the vertex stage: one vertex computes all of y.

use super::check_length;
use crate::data::BufferVector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{NoParams, VertexKernel};
use crate::pack::{Form, LinearExpression, LowerOptions, Packing, Program};

/// The kernels of a program, each with the first quad that it writes and the number of quads.
pub(super) struct Parts(Vec<(usize, usize, VertexKernel<NoParams>)>);

impl Parts {
    /// Compiles a program, split where the device captures no more from one vertex.
    pub fn new(device: &Device, program: &Program) -> Result<Self> {
        let most = device.capabilities().max_vertex_outputs as usize;
        let quads = program.quads();
        let compiled = |part: &crate::pack::ProgramPart| {
            let inputs = [("x", quads), ("b", quads)];
            let kernel = VertexKernel::new(device, "packed", inputs, part.quads, &part.body)?;
            Ok((part.first, part.quads, kernel))
        };
        program.vertex_parts(most)?.iter().map(compiled).collect::<Result<Vec<_>>>().map(Parts)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(usize, usize, VertexKernel<NoParams>)> {
        self.0.iter()
    }
}

/// y = A x + b in the vertex stage, by a generated program: the modern form of the vertex state programs of \[Bajaj04\]
/// section 3.5. One vertex computes y, which stays in a buffer that the application draws from.
///
/// *Shapes*: x, y and b are [`BufferVector`]s of 4 ceil(n / 4) elements: x in the order of the packing's columns, y and b in
/// that of its rows. Where b is trivial its elements must be zero.
///
/// *Cost*: 1 draw that rasterises nothing for every
/// [`max_vertex_outputs`](crate::gl::Capabilities::max_vertex_outputs) quads (15 at the least: 60 floats). It takes as long
/// as one processor of the device needs for the whole program: for small systems whose results the vertex stage goes on with.
///
/// *Source*: \[Bajaj04\] sections 3.1 and 3.5.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{BufferVector, pack::{Packing, instances}, solve::VertexExpression};
/// let wave = instances::wave_2d()?; // the next displacement: A now - before
/// let step = VertexExpression::subtracting(dev, &wave, &Packing::identity(64))?;
/// let mut now = vec![0.0; 64];
/// now[8 * 4 + 4] = 1.0;
/// let (now, before) = (BufferVector::from_slice(dev, &now)?, BufferVector::zeros(dev, 64)?);
/// let mut next = BufferVector::zeros(dev, 64)?;
/// step.apply(&mut next, &now, &before)?;
/// let next = next.read()?;
/// assert_eq!((next[8 * 4 + 4], next[8 * 4 + 5], next[8 * 5 + 5]), (1.2, 0.2, 0.0));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct VertexExpression {
    parts: Parts,
    program: Program,
}

shown!(VertexExpression, |e| "VertexExpression({:?})", e.program.form);

impl VertexExpression {
    /// Lowers and compiles the expression in this packing.
    ///
    /// *Errors*: as [`Program::lower`]; [`Error::Parameter`] for Gauss-Seidel, see
    /// [`VertexGaussSeidel`](super::VertexGaussSeidel), and past [`Program::MAX_GLSL_INSTRUCTIONS`]; [`Error::TooLarge`] where
    /// x does not fit a uniform block (4096 unknowns fit everywhere); [`Error::Unsupported`] without transform feedback;
    /// [`Error::Shader`] if the driver's compiler refuses the program.
    pub fn new(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions::VERTEX)
    }

    /// The same for y = A x - b, at the same cost: two steps back in time have that sign.
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn subtracting(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions { subtract_b: true, ..LowerOptions::VERTEX })
    }

    fn of(device: &Device, e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Result<Self> {
        if e.form() != Form::Affine {
            let (op, name, value) = ("VertexExpression::new", "e", format!("{:?}", e.form()));
            return Err(Error::Parameter { op, name, value, expected: "an expression y = A x + b" });
        }
        let program = Program::lower(e, packing, options)?;
        Ok(Self { parts: Parts::new(device, &program)?, program })
    }

    /// Computes y.
    ///
    /// *Errors*: [`Error::LengthMismatch`], [`Error::WrongDevice`].
    pub fn apply(&self, y: &mut BufferVector, x: &BufferVector, b: &BufferVector) -> Result<()> {
        let op = "VertexExpression::apply";
        for (operand, found) in [("y", y.len()), ("x", x.len()), ("b", b.len())] {
            check_length(op, operand, found, 4 * self.program.quads())?;
        }
        let device = y.device().clone();
        let _scope = device.scope()?;
        self.parts.iter().try_for_each(|(first, _, kernel)| kernel.run(y, *first, [x, b], &NoParams))
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        &self.program
    }
}
