//! A run of a user's kernel, said call by call.

use super::domain::{Accum, Domain, Predicate};
use super::draw::Draw;
use super::params::Params;
use super::pass::{Compiled, Operand, TargetOperand};
use crate::device::Device;
use crate::error::{Error, Result};

/// A kernel with what it reads: [`Kernel::with`](super::Kernel::with), [`PointsKernel::with`](super::PointsKernel::with),
/// [`SplatKernel::with`](super::SplatKernel::with). It replaces every texel that the kernel covers, unless it is told
/// otherwise, and draws when it is [`run`](Self::run).
///
/// ```
/// use texla::{Plane, kernel::{Accum, Domain, Kernel}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// texla::params! { struct Level { level: f32 } }
/// let body = "vec4 kernel(ivec2 p) { return x(p) + level; }";
/// let raise = Kernel::<Level>::new(dev, "raise", ["x"], body)?;
/// let x = Plane::from_rows(dev, 3, 2, &[1., 2., 3., 4., 5., 6.])?;
/// let mut y = Plane::from_rows(dev, 3, 2, &[9.0; 6])?;
/// raise.with([&x], &Level { level: 0.5 }).on(Domain::Column(0)).run(&mut y)?;
/// raise.with([&x], &Level { level: 1.0 }).on(Domain::Row(1)).accumulate(Accum::Max).run(&mut y)?;
/// assert_eq!(y.read()?, [1.5, 9.0, 9.0, 5.0, 9.0, 9.0]);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// What it reads is borrowed until it is run, so reading what the same pass writes does not compile:
///
/// ```compile_fail,E0502
/// # use texla::{Vector, kernel::{Kernel, NoParams}};
/// # fn run(copy: &Kernel<NoParams>, y: &mut Vector) -> texla::Result<()> {
/// copy.with([&*y], &NoParams).run(y)
/// # }
/// ```
#[must_use = "a call draws only when it is run"]
pub struct Call<'a> {
    draw: Draw<'a>,
    kernel: &'a Compiled,
}

shown!(Call<'_>, |call| "Call({})", call.kernel.spec().name);

impl<'a> Call<'a> {
    #[inline]
    pub(super) fn new(
        device: &'a Device,
        kernel: &'a Compiled,
        inputs: &[&'a dyn Operand],
        params: &impl Params,
    ) -> Self {
        Call { draw: Draw::of(device, kernel).operands(inputs).params(params), kernel }
    }

    /// Covers part of the target, not all of it.
    #[inline]
    pub fn on(self, domain: Domain<'a>) -> Self {
        Call { draw: self.draw.on(domain), ..self }
    }

    /// Meets what the target holds in this way, not by [`Accum::Replace`].
    #[inline]
    pub fn accumulate(self, accum: Accum) -> Self {
        Call { draw: self.draw.accumulate(accum), ..self }
    }

    /// Leaves out the texels that the predicate does not admit.
    #[inline]
    pub fn only(self, predicate: Predicate<'a>) -> Self {
        Call { draw: self.draw.only(predicate), ..self }
    }

    /// Runs the kernel.
    ///
    /// *Cost*: 1 draw, and 1 for each target where it is not blended ([`Accum`]); for points 1 for every [`points_a_draw`](crate::gl::Capabilities::points_a_draw) of them, mostly
    /// 262,144; for splats 1, or 1 for every 2²⁶ texels that they could cover at most. *Errors*: [`Error::Interface`] when
    /// inputs, targets or attributes differ in number from what was declared, an input read by `x(p)` is shorter than the
    /// target, or the mask has another extent; [`Error::WrongDevice`]; [`Error::Unsupported`] for points and splats that the device
    /// cannot blend ([`Accum`]).
    pub fn run<T: TargetOperand>(self, target: &mut T) -> Result<()> {
        self.run_many([target])
    }

    /// Runs a kernel with several targets of one extent. *Cost* and *errors*: as [`run`](Self::run).
    pub fn run_many<const M: usize>(self, targets: [&mut dyn TargetOperand; M]) -> Result<()> {
        let targets = targets.map(|t| t.target());
        let following = targets.iter().skip(1);
        if targets.iter().zip(following).any(|(t, next)| t.extent == next.extent && t.tail != next.tail) {
            let detail = "the targets differ in length".into();
            return Err(Error::Interface { kernel: self.kernel.spec().name.clone(), detail });
        }
        self.draw.targets(targets).run()
    }
}
