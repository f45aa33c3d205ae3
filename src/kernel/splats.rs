//! Points with a footprint: each becomes a rectangle of texels, shaded one by one [BeyondVector] 28.4.3, exercise 28.4-4.

use super::domain::{Accum, Domain, Predicate};
use super::params::Params;
use super::pass::{Operand, TargetOperand};
use super::points::{PerVertex, Points, attribute_names};
use super::spec::{KernelSpec, StageSpec};
use crate::device::Device;
use crate::error::Result;
use crate::gl::Source;

/// A kernel in two parts: the vertex stage says which rectangle of texels a point covers and hands on four numbers, the
/// fragment stage says what each of these texels gets.
///
/// `vertex_body` defines `void splat(int i, out vec4 rectangle, out vec4 value)` for vertex `i`. `rectangle` is left,
/// bottom, right, top in texels: texel `(x, y)` is covered exactly once if `left <= x + 0.5 < right` and
/// `bottom <= y + 0.5 < top`, on every device; none is where one of the four is NaN. What lies outside the target is
/// dropped. `body` defines `vec4 kernel(ivec2 p, vec4 value)`. Both can read the inputs and the parameters. Splats meet
/// the target in the order of their vertices, so results repeat. Lanes past the end of a vector are kept zero.
///
/// ```
/// use texla::kernel::{Accum, NoParams, Points, Predicate, SplatKernel};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // A transmitter reaches two texels to either side; its signal falls with the distance [BeyondVector] 28.4-4.
/// let place = "void splat(int i, out vec4 rectangle, out vec4 value) {
///     rectangle = vec4(attribute0.x - 2.0, 0.0, attribute0.x + 2.0, 1.0);
///     value = attribute0;
/// }";
/// let signal = "vec4 kernel(ivec2 p, vec4 tower) {
///     return vec4(max(1.0 - abs(float(p.x) + 0.5 - tower.x) / 2.0, 0.0));
/// }";
/// let coverage = SplatKernel::<NoParams>::new(dev, "coverage", [], 1, place, signal)?;
/// let towers = Points::new(dev, &[&[[1.5, 0., 0., 0.], [4.5, 0., 0., 0.]]])?;
/// let mut map = texla::Plane::zeros(dev, 8, 1)?;
/// coverage.run(&mut map, [], &towers, &NoParams, Accum::Max, Predicate::Always)?;
/// assert_eq!(map.read()?, [0.5, 1.0, 0.5, 0.5, 1.0, 0.5, 0.0, 0.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct SplatKernel<P: Params>(PerVertex<P>);

shown!([P: Params] SplatKernel<P>, |k| "SplatKernel({})", k.0.compiled.spec().name);

impl<P: Params> SplatKernel<P> {
    /// Compiles a kernel that reads `inputs` and `attributes` arrays of four floats a vertex.
    ///
    /// *Errors*: as [`Kernel::new`](super::Kernel::new); messages about the vertex body name it `NAME (vertex)`.
    pub fn new<const N: usize>(
        device: &Device,
        name: &str,
        inputs: [&str; N],
        attributes: usize,
        vertex_body: &str,
        body: &str,
    ) -> Result<Self> {
        let stage = StageSpec::Splats { attributes: attribute_names(attributes), mask: true };
        let file = format!("{name} (vertex)");
        let spec = KernelSpec::users(name, stage, &inputs, P::FIELDS, body)
            .interpolating(&[], Source { name: &file, text: vertex_body });
        PerVertex::new(device, spec).map(SplatKernel)
    }

    /// Draws the footprints of `points` into `target`.
    ///
    /// *Cost*: 1 draw, or one for every 2²⁶ texels that the splats could cover at most. *Errors*:
    /// [`Error::Interface`](crate::Error::Interface) when the points have other attributes than the kernel, or the mask
    /// another extent than the target; [`Error::WrongDevice`](crate::Error::WrongDevice);
    /// [`Error::Unsupported`](crate::Error::Unsupported) without float blending.
    pub fn run<T: TargetOperand, const N: usize>(
        &self,
        target: &mut T,
        inputs: [&dyn Operand; N],
        points: &Points,
        params: &P,
        accum: Accum,
        predicate: Predicate<'_>,
    ) -> Result<()> {
        self.0.run(target.target(), &inputs, (points, Domain::Splats(points)), params, accum, predicate)
    }
}
