//! The vertex stage as a computer: programs run for their results alone, from buffers into a buffer [Bajaj04] 3.

mod text;

use super::params::{Params, mismatch};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{CaptureCall, DataBuffer, Format, Program, ProgramSource, UniformValue, check_other_dialect};
use crate::shape::Extent;
use text::VertexSpec;

/// A buffer as a vertex kernel sees it.
#[derive(Clone, Copy)]
pub struct BufferView<'a> {
    pub(crate) buffer: &'a DataBuffer,
    pub(crate) device: &'a Device,
    /// Floats; the lanes of the last `vec4` past them are padding.
    pub(crate) length: usize,
}

shown!(BufferView<'_>, |view| "BufferView({})", view.length);

impl BufferView<'_> {
    /// Number of `vec4`s, the last of which may be padded.
    pub fn vec4s(&self) -> usize {
        self.length.div_ceil(4)
    }
}

/// Data in a buffer that a vertex kernel can read.
pub trait BufferOperand {
    /// The data as a kernel sees it.
    fn buffer_view(&self) -> BufferView<'_>;
}

/// Data in a buffer that a vertex kernel can write. The exclusive borrow makes reading and writing one buffer a compile
/// error.
pub trait BufferTarget: BufferOperand {
    /// The data as a target.
    fn buffer_target(&mut self) -> BufferView<'_> {
        self.buffer_view()
    }
}

/// A GLSL program run in the vertex stage, mostly for one vertex, whose results go into a buffer by transform feedback:
/// the modern form of the "vertex state programs" of \[Bajaj04\], section 3.
///
/// The body defines `void kernel(int vertex)`, which sets the `vec4`s `y[0]`, `y[1]`, ... up to the number of outputs; what
/// it does not set is zero, and `y` can be read back. An input `x` is the array `x[0]`, `x[1]`, ... of `vec4`s, as many as
/// declared, in a uniform block: the constant registers of the sources. Parameters are plain variables. The body may
/// `#include "include/exact.glsl"`.
///
/// Vertex `v` of a run that starts at `first` writes the `vec4`s `first + v K` to `first + v K + K - 1` of the target, `K`
/// being the number of outputs. Lanes past the end of the target are kept zero. An input may be longer than declared: the
/// kernel sees its front.
///
/// One run cannot write more than [`max_vertex_outputs`](crate::gl::Capabilities::max_vertex_outputs) `vec4`s a vertex. A
/// longer program is split into kernels that write one target at several offsets, or kernels that read what the earlier
/// ones have left ([`BufferVector::copy_range`](crate::BufferVector::copy_range) moves it).
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{BufferVector, kernel::VertexKernel};
/// texla::params! { struct Step { h: f32 } }
/// // A swing's angle and speed, both halves of eight of them: y = x + h (speed, -angle).
/// let body = "void kernel(int vertex) {
///     y[0] = x[0] + h * x[1];
///     y[1] = x[1] - h * x[0];
/// }";
/// let step = VertexKernel::<Step>::new(dev, "step", [("x", 2)], 2, body)?;
/// let x = BufferVector::from_slice(dev, &[1., 2., 3., 4., 0., 0., 8., 0.])?;
/// let mut y = BufferVector::zeros(dev, 8)?;
/// step.run(&mut y, 0, [&x], &Step { h: 0.5 })?;
/// assert_eq!(y.read()?, [1., 2., 7., 4., -0.5, -1., 6.5, -2.]);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// A target is borrowed exclusively, so reading what the same run writes does not compile:
///
/// ```compile_fail,E0502
/// # use texla::{BufferVector, kernel::{NoParams, VertexKernel}};
/// # fn run(copy: &VertexKernel<NoParams>, y: &mut BufferVector) -> texla::Result<()> {
/// copy.run(y, 0, [&*y], &NoParams)
/// # }
/// ```
pub struct VertexKernel<P: Params> {
    spec: VertexSpec,
    program: Program,
    device: Device,
    params: std::marker::PhantomData<P>,
}

impl<P: Params> VertexKernel<P> {
    /// Compiles a kernel that reads `inputs`, each with the number of its `vec4`s, and writes `outputs` `vec4`s a vertex.
    ///
    /// *Errors*: [`Error::Shader`] and [`Error::Interface`] as [`Kernel::new`](super::Kernel::new), and where there is
    /// nothing to read in an input or to write; [`Error::Unsupported`] past
    /// [`max_vertex_outputs`](crate::gl::Capabilities::max_vertex_outputs) or
    /// [`vertex_blocks`](crate::gl::Capabilities::vertex_blocks); [`Error::TooLarge`] for an input past
    /// [`max_block_vec4s`](crate::gl::Capabilities::max_block_vec4s).
    pub fn new<const N: usize>(
        device: &Device,
        name: &str,
        inputs: [(&str, usize); N],
        outputs: usize,
        body: &str,
    ) -> Result<Self> {
        let spec = VertexSpec::new(name, &inputs, outputs, P::FIELDS, body);
        spec.check(&device.gl().caps.borrow())?;
        let _scope = device.scope()?;
        let program = Program::new(
            device.gl(),
            &ProgramSource {
                name,
                vertex: spec.vertex_stage(),
                fragment: VertexSpec::fragment_stage(),
                uniforms: spec.uniforms(),
                attributes: &[],
                captured: &spec.captured(),
            },
        )?;
        check_other_dialect(device.gl(), name, &spec.vertex_stage(), &VertexSpec::fragment_stage())?;
        Ok(VertexKernel { spec, program, device: device.clone(), params: std::marker::PhantomData })
    }

    /// Runs the kernel for one vertex, number 0, which writes `target` from the `vec4` `first` on.
    ///
    /// *Cost*: 1 draw that rasterises nothing. *Errors*: [`Error::Interface`] when inputs differ in number from what was
    /// declared or are shorter; [`Error::IndexOutOfRange`] past the end of the target; [`Error::WrongDevice`].
    pub fn run<T: BufferTarget, const N: usize>(
        &self,
        target: &mut T,
        first: usize,
        inputs: [&dyn BufferOperand; N],
        params: &P,
    ) -> Result<()> {
        self.run_vertices(target, first, 1, inputs, params)
    }

    /// Runs the kernel for the vertices `0..count`, which write `target` from the `vec4` `first` on, one after the other.
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// use texla::{BufferVector, kernel::{NoParams, VertexKernel}};
    /// let body = "void kernel(int vertex) { y[0] = float(vertex) * x[vertex]; }";
    /// let scale = VertexKernel::<NoParams>::new(dev, "scale", [("x", 3)], 1, body)?;
    /// let x = BufferVector::from_slice(dev, &[1.0; 12])?;
    /// let mut y = BufferVector::zeros(dev, 10)?; // two lanes of padding stay zero
    /// scale.run_vertices(&mut y, 0, 3, [&x], &NoParams)?;
    /// assert_eq!(y.read()?, [0., 0., 0., 0., 1., 1., 1., 1., 2., 2.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// *Cost*: 1 draw for every [`points_a_draw`](crate::gl::Capabilities::points_a_draw) vertices. *Errors*: as
    /// [`run`](Self::run).
    pub fn run_vertices<T: BufferTarget, const N: usize>(
        &self,
        target: &mut T,
        first: usize,
        count: usize,
        inputs: [&dyn BufferOperand; N],
        params: &P,
    ) -> Result<()> {
        let views = inputs.map(|i| i.buffer_view());
        self.check_inputs(&views)?;
        let params: Vec<_> = params.values().into_iter().map(|v| v.0).collect();
        if let Some(detail) = mismatch(P::FIELDS, params.iter()) {
            return Err(self.fail(detail));
        }
        let target = target.buffer_target();
        let tail = self.tail(&target, first, count)?;
        if count == 0 {
            return Ok(());
        }
        let device = &self.device;
        let _scope = device.scope()?;
        let gl = device.gl();
        let what = "VertexKernel";
        let bystander = match gl.lacks_framebuffer() {
            true => Some(device.texture(Extent::new(1, 1), Format::Rgba32F, what)?),
            false => None,
        };
        let mut uniforms = vec![UniformValue::IVec2(tail), UniformValue::Int(0)];
        uniforms.extend(params);
        gl.capture(&CaptureCall {
            name: &self.spec.name,
            program: &self.program,
            target: target.buffer,
            first,
            outputs: self.spec.outputs,
            inputs: views.iter().map(|v| v.buffer).zip(self.spec.inputs.iter().map(|i| i.1)).collect(),
            uniforms,
            first_uniform: self.spec.inputs.len(),
            count,
            bystander: bystander.as_ref().map(|t| t.texture()),
        })
    }

    fn fail(&self, detail: String) -> Error {
        Error::Interface { kernel: self.spec.name.clone(), detail }
    }

    fn wrong_device(&self, operand: &str) -> Error {
        Error::WrongDevice { op: self.spec.name.clone(), operand: operand.to_owned() }
    }

    fn check_inputs(&self, views: &[BufferView<'_>]) -> Result<()> {
        let inputs = &self.spec.inputs;
        if views.len() != inputs.len() {
            let names: Vec<_> = inputs.iter().map(|i| i.0.as_str()).collect();
            let (found, wanted) = (views.len(), names.join(", "));
            return Err(self.fail(format!("{found} inputs given, expected {}: {wanted}", names.len())));
        }
        for (view, (name, vec4s)) in views.iter().zip(inputs) {
            if !view.device.same(&self.device) {
                return Err(self.wrong_device(name));
            }
            if view.vec4s() < *vec4s {
                let found = view.vec4s();
                return Err(self.fail(format!("input `{name}` has {found} vec4s, expected at least {vec4s}")));
            }
        }
        Ok(())
    }

    /// Which vertex writes the padding in its last output (-1: none), and how many lanes are in use there.
    fn tail(&self, target: &BufferView<'_>, first: usize, count: usize) -> Result<[i32; 2]> {
        if !target.device.same(&self.device) {
            return Err(self.wrong_device("target"));
        }
        let bound = target.vec4s();
        let end = count.saturating_mul(self.spec.outputs).saturating_add(first);
        if end > bound {
            let what = "VertexKernel: the vec4s to be written";
            return Err(Error::IndexOutOfRange { what, index: end - 1, bound });
        }
        let lanes = target.length % 4;
        Ok(match lanes {
            1.. if end == bound => [i32::try_from(count).unwrap_or(0) - 1, lanes as i32],
            _ => [-1, 0],
        })
    }
}

impl<P: Params> std::fmt::Debug for VertexKernel<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, inputs) = (&self.spec.name, &self.spec.inputs);
        write!(f, "VertexKernel({name}: {inputs:?} to {} vec4s a vertex)", self.spec.outputs)
    }
}
