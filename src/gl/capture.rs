//! A program run for its vertices alone: what the vertex stage computes goes into a buffer, nothing is rasterised.

use glow::HasContext;

use super::buffer::{DataBuffer, VEC4_BYTES};
use super::context::Gl;
use super::objects::Texture;
use super::program::{Program, UniformValue};
use crate::error::Result;

/// Everything a captured draw depends on.
pub(crate) struct CaptureCall<'a> {
    pub name: &'a str,
    /// Writes `outputs` `vec4`s a vertex.
    pub program: &'a Program,
    pub target: &'a DataBuffer,
    /// The first `vec4` of the target to be written.
    pub first: usize,
    pub outputs: usize,
    /// The uniform blocks in the order of their binding points, with the number of `vec4`s that the program declares.
    pub inputs: Vec<(&'a DataBuffer, usize)>,
    pub uniforms: Vec<UniformValue>,
    /// Uniform slots before the first of `uniforms`: the blocks.
    pub first_uniform: usize,
    /// Vertices, each numbered by `gl_VertexID`.
    pub count: usize,
    /// A render target that is never drawn to. See [`Gl::lacks_framebuffer`].
    pub bystander: Option<&'a Texture>,
}

impl Gl {
    /// GL refuses a draw while an incomplete framebuffer is bound, even one that rasterises nothing, and the default
    /// one of a context without a window is incomplete. Any that texla has bound will do.
    pub fn lacks_framebuffer(&self) -> bool {
        self.shadow.borrow().framebuffer.is_none()
    }

    /// Runs the vertices. The ranges lie within their buffers. Needs an open scope.
    pub fn capture(&self, call: &CaptureCall<'_>) -> Result<()> {
        self.refuse_recording("vertices captured in a buffer");
        if let (true, Some(texture)) = (self.lacks_framebuffer(), call.bystander) {
            let framebuffer = self.framebuffer([texture.raw()], None, call.name)?;
            self.use_framebuffer(framebuffer);
        }
        self.take_feedback()?;
        for ((input, vec4s), index) in call.inputs.iter().zip(0..) {
            self.bind_range(glow::UNIFORM_BUFFER, index, input.raw(), [0, vec4s * VEC4_BYTES])?;
        }
        self.use_program(call.program);
        for (i, value) in call.uniforms.iter().enumerate() {
            call.program.set(call.first_uniform + i, value);
        }
        self.use_vertex_array(self.vertex_array);
        let range = [call.first, call.outputs * call.count].map(|vec4s| (vec4s * VEC4_BYTES) as i32);
        let most = self.caps.borrow().points_a_draw.max(1) as usize;
        let (raw, target) = (&self.raw, glow::TRANSFORM_FEEDBACK_BUFFER);
        // SAFETY: the context is current inside a scope; the program is linked, the range lies within the buffer, and
        // the bindings have been taken from the host.
        unsafe {
            raw.bind_buffer_range(target, 0, Some(call.target.raw()), range[0], range[1]);
            raw.enable(glow::RASTERIZER_DISCARD);
            raw.begin_transform_feedback(glow::POINTS);
            for first in (0..call.count).step_by(most) {
                raw.draw_arrays(glow::POINTS, first as i32, most.min(call.count - first) as i32);
                self.ledger.count(|c| c.draws += 1);
            }
            raw.end_transform_feedback();
            raw.disable(glow::RASTERIZER_DISCARD);
            // A binding left behind would keep the buffer's memory after its deletion.
            raw.bind_buffer_base(target, 0, None);
        }
        self.check_work(call.name)
    }
}
