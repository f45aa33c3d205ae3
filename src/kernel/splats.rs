//! Points with a footprint: each becomes a rectangle of texels, shaded one by one [BeyondVector] 28.4.3, exercise 28.4-4.

use super::call::Call;
use super::domain::Domain;
use super::params::Params;
use super::pass::Operand;
use super::points::{Points, attribute_names};
use super::spec::StageSpec;
use super::user::{Bodies, Kernel};
use crate::device::Device;
use crate::error::Result;

/// A kernel in two parts: the vertex stage says which rectangle of texels a point covers and hands on four numbers, the
/// fragment stage says what each of these texels gets.
///
/// The vertex body defines `void splat(int i, out vec4 rectangle, out vec4 value)` for vertex `i`. `rectangle` is left,
/// bottom, right, top in texels: texel `(x, y)` is covered exactly once if `left <= x + 0.5 < right` and
/// `bottom <= y + 0.5 < top`, on every device; none is where one of the four is NaN. What lies outside the target is
/// dropped. The fragment body defines `vec4 kernel(ivec2 p, vec4 value)`. Both can read the inputs and the parameters.
/// Splats meet the target in the order of their vertices, so results repeat. Lanes past the end of a vector are kept zero.
///
/// ```
/// use texla::kernel::{Accum, Bodies, NoParams, Points, SplatKernel};
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
/// let bodies = Bodies { vertex: place, fragment: signal };
/// let coverage = SplatKernel::<NoParams>::new(dev, "coverage", [], 1, bodies)?;
/// let towers = Points::new(dev, &[&[[1.5, 0., 0., 0.], [4.5, 0., 0., 0.]]])?;
/// let mut map = texla::Plane::zeros(dev, 8, 1)?;
/// coverage.with([], &towers, &NoParams).accumulate(Accum::Max).run(&mut map)?;
/// assert_eq!(map.read()?, [0.5, 1.0, 0.5, 0.5, 1.0, 0.5, 0.0, 0.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct SplatKernel<P: Params>(Kernel<P>);

shown!([P: Params] SplatKernel<P>, |k| "SplatKernel({})", k.0.compiled.spec().name);

impl<P: Params> SplatKernel<P> {
    /// Compiles a kernel that reads `inputs` and `attributes` arrays of four floats a vertex.
    ///
    /// *Errors*: as [`Kernel::new`](super::Kernel::new).
    pub fn new<const N: usize>(
        device: &Device,
        name: &str,
        inputs: [&str; N],
        attributes: usize,
        bodies: Bodies<'_>,
    ) -> Result<Self> {
        let stage = StageSpec::Splats { attributes: attribute_names(name, attributes)?, mask: true };
        Kernel::compile(device, bodies.spec(name, stage, &inputs, P::FIELDS, &[])).map(SplatKernel)
    }

    /// The kernel with what it reads and the points whose footprints it draws.
    #[inline]
    pub fn with<'a, const N: usize>(
        &'a self,
        inputs: [&'a dyn Operand; N],
        points: &'a Points,
        params: &P,
    ) -> Call<'a> {
        self.0.with(inputs, params).on(Domain::Splats(points))
    }
}
