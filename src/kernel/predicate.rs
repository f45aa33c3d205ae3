//! Early-z predication [BeyondVector] 28.4.1: a condition is written to a depth texture once, and later passes let the
//! rasteriser drop the cells where it does not hold. Results are the same whether or not the driver drops them early.

use super::counts::Counts;
use super::domain::Predicate;
use super::draw::Draw;
use super::params::Params;
use super::pass::{Compiled, Operand, Pass, Tail, View};
use super::spec::{KernelSpec, StageSpec, Test, WITHIN};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Api, Area, Depth, Format, Gl, Samples, Texture, glsl};
use crate::kernel::PooledTexture;
use crate::shape::Extent;

/// A condition for each texel of an extent, kept as depth: 0.8 where it holds, less than 0.5 where not.
///
/// It is made once and serves any number of passes, as [`Predicate::If`] and as [`Predicate::Unless`]. It never holds
/// for texels past the end of a vector.
pub struct Mask {
    texture: PooledTexture,
    tail: Tail,
}

shown!(Mask, |mask| "Mask({})", mask.extent());

impl Mask {
    /// The extent to which the mask applies.
    pub fn extent(&self) -> Extent {
        self.texture.texture().extent()
    }

    /// How many texels the condition holds for.
    ///
    /// *Cost*: on OpenGL by a sample query, 1 draw without output, and waiting for its count: no pixel is read. On OpenGL ES, whose
    /// queries say no more than [`any`](Self::any), and where nobody can wait for them
    /// ([`Capabilities::sample_queries`](crate::gl::Capabilities::sample_queries)), the mask is added up: a draw for each factor of 256
    /// in its texels (1 to 4) and 1 readback. *Errors*: [`Error::Unsupported`] for a query while one of the application's is active;
    /// [`Error::OutOfMemory`] for a sum.
    pub fn count(&self) -> Result<u64> {
        let device = self.texture.device();
        let _scope = device.scope()?;
        let counted = match device.api() {
            Api::Gl33 => self.samples()?,
            Api::Es30 => None,
        };
        match counted {
            Some(Samples::Counted(n)) => Ok(n),
            _ => self.added_up(),
        }
    }

    /// Whether the condition holds for any texel. *Cost* and *errors*: those of a query, as for [`count`](Self::count) on OpenGL; those
    /// of a sum where nobody can wait for a query.
    pub fn any(&self) -> Result<bool> {
        let _scope = self.texture.device().scope()?;
        match self.samples()? {
            Some(samples) => Ok(samples.any()),
            None => Ok(self.added_up()? > 0),
        }
    }

    /// What a query says, where it can be waited for. Needs an open scope.
    fn samples(&self) -> Result<Option<Samples>> {
        let gl = self.texture.device().gl();
        let asked = gl.caps.borrow().sample_queries;
        asked.then(|| gl.count_samples(|| self.pass_where_held())?.wait()).transpose()
    }

    /// Needs an open scope.
    fn added_up(&self) -> Result<u64> {
        let mut counts = Counts::new(self.texture.device(), 1)?;
        counts.add(self)?;
        Ok(counts.take()?.into_iter().sum())
    }

    /// Draws nothing: a fragment for each texel passes the test where the condition holds.
    pub(super) fn pass_where_held(&self) -> Result<()> {
        let draw = Draw::new(self.texture.device(), glsl!("predicate/count.frag"));
        draw.condition(Test::Count).test(self, Depth::Less)
    }

    pub(super) fn view(&self) -> View<'_> {
        View::whole(self.texture.device(), self.texture.texture())
    }

    pub(super) fn texture_for(
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

    /// The mask that a pass of a condition writes, for data like this.
    pub(super) fn write(device: &Device, condition: &Pass<'_>, like: View<'_>) -> Result<Self> {
        condition.check_tiles(&like, "like")?;
        let _scope = device.scope()?;
        let texture = device.texture(like.extent, Format::Depth, "mask")?;
        let mask = Mask { texture, tail: like.tail };
        condition.test(&mask, Depth::Write)?;
        Ok(mask)
    }
}

/// A kernel `bool kernel(ivec2 p)` whose result becomes a [`Mask`].
///
/// ```
/// use texla::kernel::{Condition, Kernel, NoParams, Predicate};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[1.0; 4].iter().chain(&[-1.0; 4]).copied().collect::<Vec<f32>>())?;
/// let positive = Condition::<NoParams>::new(dev, "positive", ["x"], "bool kernel(ivec2 p) { return x(p).x > 0.0; }")?;
/// let mask = positive.mask(&x, [&x], &NoParams)?;
/// assert!(mask.any()?);
/// let mut y = texla::Vector::zeros(dev, 8)?;
/// let two = Kernel::<NoParams>::new(dev, "two", [], "vec4 kernel(ivec2 p) { return vec4(2.0); }")?;
/// two.with([], &NoParams).only(Predicate::If(&mask)).run(&mut y)?;
/// assert_eq!(y.read()?, [2., 2., 2., 2., 0., 0., 0., 0.]);
/// // A condition within the else branch: false where the first holds, without being asked there.
/// let first = Condition::<NoParams>::new(dev, "first", [], "bool kernel(ivec2 p) { return p.x == 0; }")?;
/// assert!(!first.mask_within(Predicate::Unless(&mask), &x, [], &NoParams)?.any()?);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Condition<P: Params> {
    write: Compiled,
    within: [Compiled; 2],
    narrow: Compiled,
    device: Device,
    params: std::marker::PhantomData<P>,
}

shown!([P: Params] Condition<P>, |k| "Condition({})", k.write.spec().name);

impl<P: Params> Condition<P> {
    /// Compiles the condition. *Errors*: as [`Kernel::new`](super::Kernel::new).
    pub fn new<const N: usize>(device: &Device, name: &str, inputs: [&str; N], body: &str) -> Result<Self> {
        let of = |test, inputs: &[&str]| {
            Compiled::new(
                device,
                KernelSpec::users(name, StageSpec::Condition(test), inputs, P::FIELDS, body),
            )
        };
        let with_mask: Vec<_> = inputs.iter().copied().chain([WITHIN]).collect();
        let write = of(Test::Write, &inputs)?;
        super::user::compile_now(device, &write)?;
        Ok(Condition {
            write,
            within: [of(Test::WriteWithin(false), &with_mask)?, of(Test::WriteWithin(true), &with_mask)?],
            narrow: of(Test::Narrow, &inputs)?,
            device: device.clone(),
            params: std::marker::PhantomData,
        })
    }

    /// Evaluates the condition for every texel of `like`'s extent.
    ///
    /// *Cost*: 1 draw that writes depth alone. *Errors*: [`Error::Interface`], [`Error::WrongDevice`],
    /// [`Error::OutOfMemory`]; [`Error::Unsupported`] for a matrix in several textures.
    pub fn mask<const N: usize>(
        &self,
        like: &dyn Operand,
        inputs: [&dyn Operand; N],
        params: &P,
    ) -> Result<Mask> {
        self.mask_within(Predicate::Always, like, inputs, params)
    }

    /// The mask of a nested condition: it holds where the predicate admits the texel and the condition holds.
    ///
    /// *Cost*: 1 draw that writes depth alone; the condition is evaluated where the predicate admits it. *Errors*: as
    /// [`mask`](Self::mask); [`Error::Interface`] when the outer mask has another extent.
    pub fn mask_within<const N: usize>(
        &self,
        within: Predicate<'_>,
        like: &dyn Operand,
        inputs: [&dyn Operand; N],
        params: &P,
    ) -> Result<Mask> {
        let [outside, inside] = &self.within;
        let (kernel, outer) = match within {
            Predicate::Always => (&self.write, None),
            Predicate::If(mask) => (inside, Some(mask)),
            Predicate::Unless(mask) => (outside, Some(mask)),
        };
        let like = like.view();
        if let Some(outer) = outer {
            outer.texture_for(&kernel.spec().name, like.extent, like.extent, self.device.gl())?;
        }
        let draw = Draw::of(&self.device, kernel).operands(&inputs).params(params);
        draw.input_if(WITHIN, outer.map(Mask::view)).mask(like)
    }

    /// Takes the texels out of `mask` for which the condition does not hold: it then holds where both do.
    ///
    /// The condition is evaluated only for texels that the mask still admits, and the device may skip the others as
    /// early as in a pass.
    ///
    /// *Cost*: 1 draw that writes depth alone. *Errors*: [`Error::Interface`], [`Error::WrongDevice`].
    pub fn narrow<const N: usize>(
        &self,
        mask: &mut Mask,
        inputs: [&dyn Operand; N],
        params: &P,
    ) -> Result<()> {
        let _scope = self.device.scope()?;
        let extent = mask.extent();
        mask.texture_for(&self.narrow.spec().name, extent, extent, self.device.gl())?;
        Draw::of(&self.device, &self.narrow).operands(&inputs).params(params).test(mask, Depth::Narrow)
    }
}

impl Pass<'_> {
    /// Like `execute`, for a condition: what it draws into is the depth of a mask.
    pub(super) fn test(&self, mask: &Mask, depth: Depth) -> Result<()> {
        self.check_inputs()?;
        let extent = mask.extent();
        let area = Area::Rect([0, 0, extent.width as i32, extent.height as i32]);
        self.draw((extent, extent), mask.tail, area, (Some(mask.texture.texture()), depth))
    }
}
