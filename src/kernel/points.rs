//! Vertices to be scattered as points, and kernels that place them [Krueger05] 44.2.3, [BeyondVector] 28.4.3.

use std::rc::Rc;

use super::call::Call;
use super::domain::Domain;
use super::params::Params;
use super::pass::{Compiled, Operand};
use super::spec::{KernelSpec, StageSpec};
use super::user::Kernel;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Attribute, VertexBuffer};

/// A set of vertices with the same attributes, on the device.
pub struct Points {
    device: Device,
    buffer: Rc<VertexBuffer>,
}

shown!(Points, |points| "Points({})", points.len());

impl Points {
    /// Uploads one or more arrays of four floats a vertex; the kernel sees them as `attribute0`, `attribute1`, ...
    ///
    /// *Cost*: one upload for each array. *Errors*: [`Error::LengthMismatch`] when the arrays differ in length,
    /// [`Error::NonFinite`], [`Error::TooLarge`] for more than 16 arrays or 2³¹ bytes in one, [`Error::OutOfMemory`].
    pub fn new(device: &Device, arrays: &[&[[f32; 4]]]) -> Result<Self> {
        let count = arrays.first().map_or(0, |a| a.len());
        for array in arrays {
            if array.len() != count {
                let (found, expected) = (array.len(), count);
                return Err(Error::LengthMismatch { op: "Points::new", operand: "arrays", found, expected });
            }
            crate::error::check_finite("Points::new", array.iter().flatten().map(|v| f64::from(*v)))?;
        }
        let words: Vec<&[u32]> = arrays.iter().map(|a| bytemuck::cast_slice(a)).collect();
        Self::with_attributes(device, count, &vec![Attribute::Vec4; arrays.len()], &words)
    }

    /// `count` vertices that carry nothing but their number, the `i` of a kernel: for kernels that read all they need
    /// from their inputs.
    ///
    /// *Cost*: none. *Errors*: [`Error::TooLarge`] from 2³¹ vertices on.
    pub fn numbered(device: &Device, count: usize) -> Result<Self> {
        Self::with_attributes(device, count, &[], &[])
    }

    pub(crate) fn with_attributes(
        device: &Device,
        count: usize,
        attributes: &[Attribute],
        words: &[&[u32]],
    ) -> Result<Self> {
        let _scope = device.scope()?;
        let make = || VertexBuffer::new(device.gl(), count, attributes, words, "points");
        let buffer = Rc::new(device.allocate(make)?);
        Ok(Points { device: device.clone(), buffer })
    }

    /// Replaces one attribute's array; the number of vertices stays.
    pub(crate) fn fill(&self, attribute: usize, words: &[u32]) -> Result<()> {
        let _scope = self.device.scope()?;
        self.device.allocate(|| self.buffer.fill(attribute, words, "points"))
    }

    /// Refuses points that a kernel cannot read: those with other attributes, or of another device.
    pub(super) fn check(&self, kernel: &Compiled) -> Result<()> {
        let (found, attributes) = (self.buffer.attributes().len(), kernel.spec().stage.attributes().len());
        if found == attributes && self.device.gl().same(kernel.gl()) {
            return Ok(());
        }
        let detail =
            format!("the points have {found} attributes, expected {attributes} on the kernel's device");
        Err(Error::Interface { kernel: kernel.spec().name.clone(), detail })
    }

    pub(crate) fn buffer(&self) -> &Rc<VertexBuffer> {
        &self.buffer
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.buffer.count()
    }

    /// True if there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The attributes as kernels see them. *Errors*: [`Error::Interface`] for more than there are.
pub(super) fn attribute_names(kernel: &str, count: usize) -> Result<Vec<(String, Attribute)>> {
    if count > VertexBuffer::ATTRIBUTES {
        let detail = format!("{count} attributes, expected at most {}", VertexBuffer::ATTRIBUTES);
        return Err(Error::Interface { kernel: kernel.to_owned(), detail });
    }
    Ok((0..count).map(|i| (format!("attribute{i}"), Attribute::Vec4)).collect())
}

/// A kernel that places points: `void point(int i, out ivec2 texel, out vec4 value)`, run in the vertex stage.
///
/// A texel outside the target drops the point. Points meet the target in their order, so results repeat. Lanes past
/// the end of a vector are kept zero.
///
/// ```
/// use texla::kernel::{Accum, NoParams, Points, PointsKernel};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let body = "void point(int i, out ivec2 texel, out vec4 value) {
///     texel = texel_position(int(attribute0.x));   // a bin
///     value = vec4(attribute0.y, 0.0, 0.0, 0.0);   // a weight
/// }";
/// let histogram = PointsKernel::<NoParams>::new(dev, "histogram", [], 1, body)?;
/// let points = Points::new(dev, &[&[[1., 2., 0., 0.], [0., 1., 0., 0.], [1., 3., 0., 0.]]])?;
/// let mut bins = texla::Vector::zeros(dev, 8)?;
/// histogram.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut bins)?;
/// assert_eq!(bins.read()?, [1., 0., 0., 0., 5., 0., 0., 0.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct PointsKernel<P: Params>(Kernel<P>);

shown!([P: Params] PointsKernel<P>, |k| "PointsKernel({})", k.0.compiled.spec().name);

impl<P: Params> PointsKernel<P> {
    /// Compiles a kernel that reads `inputs` and `attributes` arrays of four floats a vertex.
    ///
    /// *Errors*: as [`Kernel::new`](super::Kernel::new), and [`Error::Interface`] for more than 16 attributes.
    pub fn new<const N: usize>(
        device: &Device,
        name: &str,
        inputs: [&str; N],
        attributes: usize,
        body: &str,
    ) -> Result<Self> {
        let stage = StageSpec::Points { attributes: attribute_names(name, attributes)?, mask: true };
        Kernel::compile(device, KernelSpec::users(name, stage, &inputs, P::FIELDS, body)).map(PointsKernel)
    }

    /// The kernel with what it reads and the points that it scatters.
    #[inline]
    pub fn with<'a, const N: usize>(
        &'a self,
        inputs: [&'a dyn Operand; N],
        points: &'a Points,
        params: &P,
    ) -> Call<'a> {
        self.0.with(inputs, params).on(Domain::Points(points))
    }
}
