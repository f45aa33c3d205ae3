//! Gauss-Seidel in the vertex stage.

use super::check_length;
use super::vertex::Parts;
use crate::data::BufferVector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::NoParams;
use crate::pack::{Form, LinearExpression, LowerOptions, Packing, Program};

/// Gauss-Seidel iterations in the vertex stage: one vertex goes through all unknowns, one after the other in the order of
/// the packing, each with the newest values of the others.
///
/// *Shapes*: x and b are [`BufferVector`]s of 4 ceil(n / 4) elements in packed order; b is D^-1 times the right-hand side, as
/// the [expression](LinearExpression::gauss_seidel) has it.
///
/// *Cost*: of an iteration, a draw that rasterises nothing for every
/// [`max_vertex_outputs`](crate::gl::Capabilities::max_vertex_outputs) quads, and between two of them a copy on the device.
///
/// *Source*: \[Bajaj04\] sections 3.3 and 3.5, where 64 unknowns take 174 iterations.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{BufferVector, host::problems, solve::VertexGaussSeidel};
/// use texla::pack::{LinearExpression, Packing};
/// let e = LinearExpression::gauss_seidel(&problems::poisson_1d(4))?; // x_i = b_i + (x_(i-1) + x_(i+1)) / 2
/// let mut iteration = VertexGaussSeidel::new(dev, &e, &Packing::identity(4))?;
/// let b = BufferVector::from_slice(dev, &[1.0, 0.0, 0.0, 2.0])?;
/// let mut x = BufferVector::zeros(dev, 4)?;
/// iteration.iterate(&mut x, &b, 1)?;
/// assert_eq!(x.read()?, [1.0, 0.5, 0.25, 2.125]);
/// iteration.iterate(&mut x, &b, 60)?;
/// let exact = [2.4, 2.8, 3.2, 3.6];
/// assert!(x.read()?.iter().zip(exact).all(|(x, exact)| (x - exact).abs() < 1e-5));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct VertexGaussSeidel {
    parts: Parts,
    program: Program,
    next: BufferVector,
}

shown!(VertexGaussSeidel, |e| "VertexGaussSeidel({:?})", e.next);

impl VertexGaussSeidel {
    /// Lowers and compiles the iteration in this packing.
    ///
    /// *Errors*: as [`VertexExpression::new`](super::VertexExpression::new); [`Error::Parameter`] unless the expression is an
    /// iteration of Gauss and Seidel.
    pub fn new(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        if e.form() != Form::GaussSeidel {
            let (op, name, value) = ("VertexGaussSeidel::new", "e", format!("{:?}", e.form()));
            let expected = "an iteration: LinearExpression::gauss_seidel";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let program = Program::lower(e, packing, LowerOptions::VERTEX)?;
        let parts = Parts::new(device, &program)?;
        Ok(Self { parts, next: BufferVector::zeros(device, 4 * program.quads())?, program })
    }

    /// Carries out so many iterations in place. Nothing is read back.
    ///
    /// *Errors*: [`Error::LengthMismatch`], [`Error::WrongDevice`]; x is then as it was.
    pub fn iterate(&mut self, x: &mut BufferVector, b: &BufferVector, iterations: usize) -> Result<()> {
        let (op, expected) = ("VertexGaussSeidel::iterate", 4 * self.program.quads());
        check_length(op, "x", x.len(), expected)?;
        check_length(op, "b", b.len(), expected)?;
        for (operand, vector) in [("x", &*x), ("b", b)] {
            crate::ops::check_device(op, operand, vector.device(), self.next.device())?;
        }
        let device = self.next.device().clone();
        let _scope = device.scope()?;
        for _ in 0..iterations {
            for (first, quads, kernel) in self.parts.iter() {
                kernel.run(&mut self.next, *first, [&*x, b], &NoParams)?;
                let end = first + quads;
                // The last part leaves all of the new x behind; an earlier one what the next part reads.
                if end < self.program.quads() {
                    x.copy_range(4 * first, &self.next, 4 * first..4 * end)?;
                }
            }
            std::mem::swap(x, &mut self.next);
        }
        Ok(())
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        &self.program
    }
}
