//! How much a vertex can write into a buffer, and read from a uniform block.

use glow::HasContext;

use super::{Probe, WITNESSES};
use crate::error::Result;
use crate::gl::buffer::DataBuffer;
use crate::gl::capture::CaptureCall;
use crate::gl::program::{Program, ProgramSource, Stage, UniformKind};
use crate::gl::source::{Source, glsl};

/// More than any program of texla's asks for; drivers whose blocks have no end exist.
const MOST_BLOCK_VEC4S: u32 = 1 << 12;

/// What GL 3.3 and ES 3.0 promise: 60 varying components, and 16 KiB in a block.
const PROMISED: (u32, u32) = (15, 1 << 10);

impl Probe<'_> {
    /// `vec4`s that a vertex writes, `vec4`s in a uniform block, blocks; the first is 0 where nothing can be captured.
    pub(super) fn capture(&self) -> Result<[u32; 3]> {
        let query = |name| {
            // SAFETY: the context is current; these queries exist in every version.
            unsafe { self.gl.raw.get_parameter_i32(name) }.max(0) as u32
        };
        // The position counts as an output, though it is no varying.
        let outputs = [
            query(glow::MAX_VARYING_COMPONENTS),
            query(glow::MAX_VERTEX_OUTPUT_COMPONENTS).saturating_sub(4),
            query(glow::MAX_TRANSFORM_FEEDBACK_INTERLEAVED_COMPONENTS),
            self.limits.max_vertex_outputs.unwrap_or(u32::MAX).saturating_mul(4),
        ];
        let outputs = outputs.into_iter().min().unwrap_or(0) / 4;
        let block = (query(glow::MAX_UNIFORM_BLOCK_SIZE) / 16).min(MOST_BLOCK_VEC4S);
        let blocks = query(glow::MAX_VERTEX_UNIFORM_BLOCKS).min(query(glow::MAX_UNIFORM_BUFFER_BINDINGS));
        let (few, short) = PROMISED;
        for (outputs, block) in [(outputs, block), (outputs.min(few), block.min(short))] {
            if outputs > 0 && self.holds(|| self.captures(outputs, block))? {
                return Ok([outputs, block, blocks]);
            }
        }
        Ok([0, block, blocks])
    }

    /// Two vertices copy what stands at either end of a block, bit for bit, and nothing beside it is touched.
    fn captures(&self, outputs: u32, block: u32) -> Result<bool> {
        let gl = self.gl;
        let names: Vec<String> = (0..outputs).map(|i| format!("captured{i}")).collect();
        let kind = UniformKind::Block { binding: 0, vec4s: block };
        let declarations: String = names.iter().map(|name| format!("out vec4 {name};\n")).collect();
        let copies: String = (0..outputs)
            .map(|i| format!("captured{i} = x[gl_VertexID == 0 ? {i} : {}];\n", block - 1 - i))
            .collect();
        let text = format!("void main() {{\n{copies}}}\n");
        let program = Program::new(
            gl,
            &ProgramSource {
                name: "probe",
                vertex: Stage {
                    before: kind.declare("x") + &declarations,
                    body: Source { name: "probe/capture (generated)", text: &text },
                    after: String::new(),
                },
                fragment: Stage { before: String::new(), body: glsl!("capture.frag"), after: String::new() },
                uniforms: vec![("x".into(), kind)],
                attributes: &[],
                captured: &names,
            },
        )?;
        let value = |i: usize| WITNESSES.map(|w| f32::from_bits(w.to_bits() ^ i as u32));
        let values: Vec<[f32; 4]> = (0..block as usize).map(value).collect();
        let source = DataBuffer::new(gl, values.len(), "probe")?;
        source.write(bytemuck::cast_slice(&values), "probe")?;
        let (length, guard) = (outputs as usize, [7.0f32; 4]);
        let mut wanted = vec![guard; 2 * length + 2];
        let target = DataBuffer::new(gl, wanted.len(), "probe")?;
        target.write(bytemuck::cast_slice(&wanted), "probe")?;
        let ends = values.iter().take(length).chain(values.iter().rev().take(length));
        wanted.iter_mut().skip(1).zip(ends).for_each(|(w, v)| *w = *v);
        let bystander = self.texture(1, 1, None)?;
        gl.capture(&CaptureCall {
            name: "probe",
            program: &program,
            target: &target,
            first: 1,
            outputs: length,
            inputs: vec![(&source, values.len())],
            uniforms: Vec::new(),
            first_uniform: 1,
            count: 2,
            bystander: Some(&bystander),
        })?;
        let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        Ok(bits(&target.read()?) == bits(wanted.as_flattened()))
    }
}
