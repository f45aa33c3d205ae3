//! Expressions in the fragment stage: a texel a quad.

use super::check_length;
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Kernel, NoParams};
use crate::pack::{LinearExpression, LowerOptions, Packing, Program};

/// y = A x + b in one pass of the fragment stage, by a generated program in which each texel of y has instructions of its
/// own.
///
/// *Shapes*: x, y and b are vectors of 4 ceil(n / 4) elements: x in the order of the packing's columns, y and b in that of
/// its rows. Where b is trivial its elements are not read.
///
/// *Cost*: 1 draw of ceil(n / 4) texels, each with a fetch for every quad that its block row reads; the program is
/// compiled once. Texels that lie together take different branches, so that this is for small systems and for comparing
/// orders; large regular ones are better off with a [`BandedMatrix`](crate::BandedMatrix).
///
/// *Source*: \[Bajaj04\] section 4.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Vector, pack::{Order, Packing, instances}, solve::FragmentExpression};
/// let block = instances::poisson_2d_s8()?; // y_i = b_i - (x_(i-1) + x_(i+1)) / 4, ends / 3
/// let order = Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6])?;
/// let expression = FragmentExpression::new(dev, &block, &Packing::symmetric(order.clone()))?;
/// let x = Vector::from_slice(dev, &order.packed(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]))?;
/// let (b, mut y) = (Vector::filled(dev, 8, 10.0)?, Vector::zeros(dev, 8)?);
/// expression.apply(&mut y, &x, &b)?;
/// assert_eq!(order.unpacked(&y.read()?)[2..6], [9.0, 8.5, 8.0, 7.5]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct FragmentExpression {
    kernel: Kernel<NoParams>,
    program: Program,
}

impl FragmentExpression {
    /// Lowers and compiles the expression in this packing.
    ///
    /// *Errors*: as [`Program::lower`]: Gauss-Seidel is for the vertex stage only; as [`Program::fragment_body`] for one that
    /// is too long; [`Error::Shader`](crate::Error::Shader) if the driver's compiler refuses it.
    pub fn new(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions::FRAGMENT)
    }

    /// The same for y = A x - b, at the same cost.
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn subtracting(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions { subtract_b: true, ..LowerOptions::FRAGMENT })
    }

    fn of(device: &Device, e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Result<Self> {
        let program = Program::lower(e, packing, options)?;
        let kernel = Kernel::new(device, "packed", ["x", "b"], &program.fragment_body()?)?;
        Ok(Self { kernel, program })
    }

    /// Computes y.
    ///
    /// *Errors*: [`Error::LengthMismatch`](crate::Error::LengthMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice).
    pub fn apply(&self, y: &mut Vector, x: &Vector, b: &Vector) -> Result<()> {
        let op = "FragmentExpression::apply";
        for (operand, found) in [("y", y.len()), ("x", x.len()), ("b", b.len())] {
            check_length(op, operand, found, 4 * self.program.quads())?;
        }
        self.kernel.run(y, [x, b], &NoParams)
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        &self.program
    }
}
