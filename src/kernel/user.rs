//! A user's own kernel.

use super::accessors::Fold;
use super::call::Call;
use super::params::{Field, Params};
use super::pass::{Compiled, Operand, TargetOperand};
use super::spec::{InputSpec, KernelSpec, OUTPUTS, StageSpec};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Source, check_other_dialect};

/// Compiles the form that most runs will use, so that errors show when the kernel is made and not when it is run; a user's
/// in the other dialect too, if the device can.
pub(crate) fn compile_now(device: &Device, compiled: &Compiled) -> Result<()> {
    let _scope = device.scope()?;
    let spec = compiled.spec();
    // The program that draws where widths do not matter, which is found again there.
    let fold =
        |input: &InputSpec| if input.addressed || input.filtered { Fold::Addressed } else { Fold::Same };
    let folds: Vec<Fold> = spec.inputs.iter().map(fold).collect();
    compiled.program(folds.iter().copied())?;
    match spec.is_users() {
        true => check_other_dialect(
            device.gl(),
            &spec.name,
            &spec.vertex_stage(&folds),
            &spec.fragment_stage(&folds),
        ),
        false => Ok(()),
    }
}

/// The bodies of a kernel with a vertex stage of its own. Messages about the vertex body name it `NAME (vertex)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bodies<'a> {
    /// What is run for a corner or a point: `vertex` or `splat`.
    pub vertex: &'a str,
    /// What is run for each texel: `kernel`.
    pub fragment: &'a str,
}

impl Bodies<'_> {
    pub(super) fn spec(
        self,
        name: &str,
        stage: StageSpec,
        inputs: &[&str],
        params: &[Field],
        varyings: &[&str],
    ) -> KernelSpec {
        let file = format!("{name} (vertex)");
        KernelSpec::users(name, stage, inputs, params, self.fragment)
            .interpolating(varyings, Source { name: &file, text: self.vertex })
    }
}

/// A GLSL function run once for each texel of a target.
///
/// The body defines `vec4 kernel(ivec2 p)`, or `void kernel(ivec2 p, out vec4 o0, out vec4 o1, ...)` for several
/// targets. For an input `x` it can call `x(p)`, `x_at(q)`, `x_texel(t)`, `x_element(i)`, `x_value()` and
/// `x_extent()`; the parameters are plain variables; `texel_index(p)` numbers the target's texels, four elements each.
/// Lanes past the end of a vector are kept zero. The body may `#include "include/exact.glsl"` for exact arithmetic.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Vector, kernel::Kernel};
/// texla::params! { struct Relax { omega: f32 } }
/// let body = "vec4 kernel(ivec2 p) { return x(p) + omega * (b(p) - x(p)); }";
/// let relax = Kernel::<Relax>::new(dev, "relax", ["x", "b"], body)?;
/// let (x, b) = (Vector::from_slice(dev, &[1.0, 2.0, 3.0])?, Vector::from_slice(dev, &[3.0, 2.0, 1.0])?);
/// let mut y = Vector::zeros(dev, 3)?;
/// relax.run(&mut y, [&x, &b], &Relax { omega: 0.5 })?;
/// assert_eq!(y.read()?, [2.0, 2.0, 2.0]);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// A target is borrowed exclusively, so reading what the same pass writes does not compile:
///
/// ```compile_fail,E0502
/// # use texla::{Vector, kernel::{Kernel, NoParams}};
/// # fn run(copy: &Kernel<NoParams>, y: &mut Vector) -> texla::Result<()> {
/// copy.run(y, [&*y], &NoParams)
/// # }
/// ```
pub struct Kernel<P: Params> {
    pub(super) compiled: Compiled,
    device: Device,
    params: std::marker::PhantomData<P>,
}

shown!([P: Params] Kernel<P>, |k| "Kernel({}: {:?})", k.compiled.spec().name, k.compiled.spec().inputs);

impl<P: Params> Kernel<P> {
    /// Compiles a kernel with one target.
    ///
    /// *Errors*: [`Error::Shader`](crate::Error::Shader) with file and line,
    /// [`Error::Interface`](crate::Error::Interface) when names clash or are GLSL's, the body does not define the function
    /// wanted, declares uniforms of its own or uses words that one dialect reserves;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for more inputs, outputs, parameters or varyings than the device has.
    /// What one dialect refuses is refused in both: see [kernels](crate::guide::kernels).
    pub fn new<const N: usize>(device: &Device, name: &str, inputs: [&str; N], body: &str) -> Result<Self> {
        Self::with_outputs(device, name, inputs, 1, body)
    }

    /// Compiles a kernel with `outputs` targets, written in one pass. *Errors*: as [`new`](Self::new).
    pub fn with_outputs<const N: usize>(
        device: &Device,
        name: &str,
        inputs: [&str; N],
        outputs: usize,
        body: &str,
    ) -> Result<Self> {
        let most = device.gl().caps.borrow().max_draw_buffers;
        KernelSpec::check_limit(name, outputs, most, OUTPUTS)?;
        let outputs = (0..outputs).map(|i| format!("o{i}")).collect();
        let spec =
            KernelSpec::users(name, StageSpec::Fragment { outputs, mask: true }, &inputs, P::FIELDS, body);
        Self::compile(device, spec)
    }

    /// Compiles a kernel whose `varyings` are computed at the corners of the domain and interpolated between them by
    /// the rasteriser: right for what is linear in the position \[Goeddeke05\], \[BeyondVector\] 28.4.4.
    ///
    /// The vertex body defines `void vertex(vec2 p)`, which sets each varying (a `vec4`) for the position `p` in texels;
    /// a fragment lies at its texel plus one half. Both bodies can read the inputs and the parameters. The corners lie
    /// outside the domain, at up to twice its size: an interpolated value is rounded relative to those.
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// use texla::{Vector, kernel::{Bodies, Kernel, NoParams}};
    /// let corner = "void vertex(vec2 p) { ramp = vec4(4.0 * p.x - 2.0) + vec4(0.0, 1.0, 2.0, 3.0); }";
    /// let bodies = Bodies { vertex: corner, fragment: "vec4 kernel(ivec2 p) { return ramp; }" };
    /// let ramp = Kernel::<NoParams>::interpolated(dev, "ramp", [], ["ramp"], bodies)?;
    /// let mut y = Vector::zeros(dev, 8)?;
    /// ramp.run(&mut y, [], &NoParams)?;
    /// let near = |(y, want): (f32, f32)| (y - want).abs() < 1e-5;
    /// assert!(y.read()?.into_iter().zip([0., 1., 2., 3., 4., 5., 6., 7.]).all(near));
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn interpolated<const N: usize, const V: usize>(
        device: &Device,
        name: &str,
        inputs: [&str; N],
        varyings: [&str; V],
        bodies: Bodies<'_>,
    ) -> Result<Self> {
        let stage = StageSpec::Fragment { outputs: vec!["o0".into()], mask: true };
        Self::compile(device, bodies.spec(name, stage, &inputs, P::FIELDS, &varyings))
    }

    pub(super) fn compile(device: &Device, spec: KernelSpec) -> Result<Self> {
        let compiled = Compiled::new(device, spec)?;
        compile_now(device, &compiled)?;
        Ok(Kernel { compiled, device: device.clone(), params: std::marker::PhantomData })
    }

    /// Runs the kernel on every texel of `target`: [`with`](Self::with) in short. *Cost*: 1 draw. *Errors*: as
    /// [`Call::run`].
    pub fn run<T: TargetOperand, const N: usize>(
        &self,
        target: &mut T,
        inputs: [&dyn Operand; N],
        params: &P,
    ) -> Result<()> {
        self.with(inputs, params).run(target)
    }

    /// The kernel with what it reads, to be run on part of a target, blended, under a mask, or with several targets.
    #[inline]
    pub fn with<'a, const N: usize>(&'a self, inputs: [&'a dyn Operand; N], params: &P) -> Call<'a> {
        Call::new(&self.device, &self.compiled, &inputs, params)
    }
}
