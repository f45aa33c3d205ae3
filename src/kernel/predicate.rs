//! Early-z predication [BeyondVector] 28.4.1: a condition is written to a depth texture once, and later passes let the
//! rasteriser drop the cells where it does not hold. Results are the same whether or not the driver drops them early.

use super::accessors::{KernelSpec, StageSpec};
use super::params::Params;
use super::pass::{Compiled, Operand, Pass};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Area, Blend, Depth, DrawCall, Format, Gl, Texture, UniformValue};
use crate::kernel::PooledTexture;
use crate::shape::Extent;

/// A condition for each texel of an extent, kept as depth: 0.8 where it holds, 0.2 where not.
pub struct Mask {
    texture: PooledTexture,
}

impl Mask {
    /// The extent to which the mask applies.
    pub fn extent(&self) -> Extent {
        self.texture.texture().extent()
    }

    pub(crate) fn texture_for(
        &self,
        kernel: &str,
        extent: Extent,
        whole: Extent,
        gl: &Gl,
    ) -> Result<&Texture> {
        if !gl.same(self.texture.device().gl()) {
            return Err(Error::WrongDevice { op: kernel.to_owned(), operand: "predicate".into() });
        }
        if self.extent() != extent || extent != whole {
            let detail = format!("the mask has {}, the target {whole}", self.extent());
            return Err(Error::Interface { kernel: kernel.to_owned(), detail });
        }
        Ok(self.texture.texture())
    }
}

/// A kernel `bool kernel(ivec2 p)` whose result becomes a [`Mask`].
///
/// ```
/// use texla::kernel::{Accum, Condition, Domain, Kernel, NoParams, Predicate};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0; 4].iter().chain(&[-1.0; 4]).copied().collect::<Vec<f32>>())?;
/// let positive = Condition::<NoParams>::new(dev, "positive", ["x"], "bool kernel(ivec2 p) { return x(p).x > 0.0; }")?;
/// let mask = positive.mask(&x, [&x], &NoParams)?;
/// let mut y = texla::Vector::zeros(dev, 8)?;
/// let two = Kernel::<NoParams>::new(dev, "two", [], "vec4 kernel(ivec2 p) { return vec4(2.0); }")?;
/// two.run_on(&mut y, [], &NoParams, Domain::Full, Accum::Replace, Predicate::If(&mask))?;
/// assert_eq!(y.read()?, [2., 2., 2., 2., 0., 0., 0., 0.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Condition<P: Params> {
    compiled: Compiled,
    device: Device,
    params: std::marker::PhantomData<P>,
}

impl<P: Params> Condition<P> {
    /// Compiles the condition. *Errors*: [`Error::Shader`] with file and line, [`Error::Interface`].
    pub fn new<const N: usize>(device: &Device, name: &str, inputs: [&str; N], body: &str) -> Result<Self> {
        let spec = KernelSpec::users(name, StageSpec::Condition, &inputs, P::FIELDS, body);
        let compiled = Compiled::new(device, spec)?;
        super::user::compile_now(device, &compiled)?;
        Ok(Condition { compiled, device: device.clone(), params: std::marker::PhantomData })
    }

    /// Evaluates the condition for every texel of `like`'s extent.
    ///
    /// *Cost*: 1 draw that writes depth alone. *Errors*: [`Error::Interface`], [`Error::OutOfMemory`].
    pub fn mask<const N: usize>(
        &self,
        like: &dyn Operand,
        inputs: [&dyn Operand; N],
        params: &P,
    ) -> Result<Mask> {
        let _scope = self.device.scope()?;
        let pass = Pass::new(&self.compiled, Vec::new(), inputs.iter().map(|i| i.view()).collect())
            .params(params.values().into_iter().map(|v| v.0).collect());
        Mask::write(&self.device, &pass, like.view().extent())
    }
}

impl Mask {
    /// The mask that a pass of a condition writes.
    pub(crate) fn write(device: &Device, condition: &Pass<'_>, extent: Extent) -> Result<Self> {
        let _scope = device.scope()?;
        let texture = device.texture(extent, Format::Depth, "mask")?;
        condition.execute_condition(&texture, extent)?;
        Ok(Mask { texture })
    }
}

impl Pass<'_> {
    /// Like `execute`, with a depth texture for a target.
    fn execute_condition(&self, mask: &PooledTexture, extent: Extent) -> Result<()> {
        self.check_inputs()?;
        let prepared = self.prepare(extent, None)?;
        self.kernel.gl().draw(&DrawCall {
            name: &self.kernel.spec().name,
            program: &prepared.program,
            targets: Vec::new(),
            depth_target: Some(mask.texture()),
            inputs: self.sampled(),
            uniforms: prepared.uniforms,
            first_uniform: self.inputs.len(),
            area: Area::Rect([0, 0, extent.width as i32, extent.height as i32]),
            blend: Blend::Replace,
            depth: Depth::Write,
        })
    }
}

/// A program chosen for a pass with the values of its uniforms.
pub(super) struct Prepared {
    pub program: std::rc::Rc<crate::gl::Program>,
    pub uniforms: Vec<UniformValue>,
}
