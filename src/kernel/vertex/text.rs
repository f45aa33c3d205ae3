//! The text around a vertex kernel's body: uniform blocks, parameters, outputs, and `main`.

use std::fmt::Write;

use crate::error::{Error, Result};
use crate::gl::{Capabilities, Source, Stage, UniformKind, glsl};
use crate::kernel::body::Body;
use crate::kernel::names::check_names;
use crate::kernel::params::Field;

/// What the body calls its outputs.
const OUTPUT: &str = "y";

/// The whole description of a vertex kernel.
pub(super) struct VertexSpec {
    pub name: String,
    /// Names, and the `vec4`s of each.
    pub inputs: Vec<(String, usize)>,
    /// `vec4`s that a vertex writes.
    pub outputs: usize,
    params: Vec<Field>,
    text: String,
}

impl VertexSpec {
    pub fn new(name: &str, inputs: &[(&str, usize)], outputs: usize, params: &[Field], body: &str) -> Self {
        VertexSpec {
            name: name.to_owned(),
            inputs: inputs.iter().map(|(name, vec4s)| ((*name).to_owned(), *vec4s)).collect(),
            outputs,
            params: params.to_vec(),
            text: body.to_owned(),
        }
    }

    /// Checks names, and sizes against what the device can do.
    pub fn check(&self, caps: &Capabilities) -> Result<()> {
        let fail = |detail: &str| Error::Interface { kernel: self.name.clone(), detail: detail.to_owned() };
        let unsupported =
            |why| Err(Error::Unsupported { what: format!("vertex kernel `{}`", self.name), why });
        let mut names: Vec<&str> = self.inputs.iter().map(|i| i.0.as_str()).collect();
        names.extend(self.params.iter().map(|p| p.name));
        names.push(OUTPUT);
        let components: u32 = self.uniforms().iter().map(|(_, kind)| kind.components()).sum();
        if components > caps.uniform_components {
            let limit = caps.uniform_components;
            return unsupported(format!(
                "it needs {components} uniform components for its parameters, the device has {limit}"
            ));
        }
        check_names(&self.name, &names, &[])?;
        if self.outputs == 0 {
            return Err(fail("it has no output"));
        }
        for (name, vec4s) in &self.inputs {
            if *vec4s == 0 {
                return Err(fail(&format!("input `{name}` has 0 vec4s, expected at least 1")));
            }
            if *vec4s > caps.max_block_vec4s as usize {
                let (what, unit) = ("an input of a vertex kernel", "vec4s in a uniform block");
                let (requested, limit) = (*vec4s as u64, u64::from(caps.max_block_vec4s));
                return Err(Error::TooLarge { what, requested, limit, unit });
            }
        }
        match caps.max_vertex_outputs {
            0 => return unsupported("the device does not capture what its vertex stage computes".into()),
            most if self.outputs > most as usize => {
                return unsupported(format!(
                    "it writes {} vec4s a vertex, the device captures {most}: split it",
                    self.outputs
                ));
            }
            _ => {}
        }
        if self.inputs.len() > caps.vertex_blocks as usize {
            let (found, limit) = (self.inputs.len(), caps.vertex_blocks);
            return unsupported(format!("it reads {found} inputs, the device has {limit} uniform blocks"));
        }
        Body::new(&self.name, &self.text).check(&self.name, &["void kernel(int vertex)".to_owned()])
    }

    /// The outputs as the linker sees them.
    pub fn captured(&self) -> Vec<String> {
        (0..self.outputs).map(|i| format!("texla_{OUTPUT}{i}")).collect()
    }

    /// Every uniform in the order in which a run sets them: blocks, then texla's own, then the parameters.
    pub fn uniforms(&self) -> Vec<(String, UniformKind)> {
        let block = |(name, vec4s): &(String, usize), binding| {
            // No larger than a block may be: see `check`.
            (name.clone(), UniformKind::Block { binding, vec4s: *vec4s as u32 })
        };
        let mut all: Vec<_> = self.inputs.iter().zip(0..).map(|(i, binding)| block(i, binding)).collect();
        all.push(("texla_tail".into(), UniformKind::IVec2));
        all.push(("texla_zero".into(), UniformKind::Int));
        all.extend(self.params.iter().map(|p| (p.name.to_owned(), p.kind.0)));
        all
    }

    /// The vertex stage. There is no position, since nothing is drawn: llvmpipe then skips what comes after the capture.
    /// Outputs are computed in an array, which the body can index, read back and write by component, and handed over in
    /// the end.
    pub fn vertex_stage(&self) -> Stage<'_> {
        let (outputs, last) = (self.outputs, self.outputs.saturating_sub(1));
        let mut before: String = self.uniforms().iter().map(|(name, kind)| kind.declare(name)).collect();
        let _ = writeln!(before, "vec4 {OUTPUT}[{outputs}];");
        let mut after = String::new();
        let mut main = String::from("void main() {\n");
        for i in 0..outputs {
            let _ = writeln!(main, "    {OUTPUT}[{i}] = vec4(0.0);");
        }
        let _ = writeln!(
            main,
            "    kernel(gl_VertexID);\n    \
             if (gl_VertexID == texla_tail.x) {{\n        \
             if (texla_tail.y < 2) {OUTPUT}[{last}].y = 0.0;\n        \
             if (texla_tail.y < 3) {OUTPUT}[{last}].z = 0.0;\n        \
             {OUTPUT}[{last}].w = 0.0;\n    }}"
        );
        for (i, name) in self.captured().iter().enumerate() {
            let _ = writeln!(after, "out vec4 {name};");
            let _ = writeln!(main, "    {name} = {OUTPUT}[{i}];");
        }
        main.push_str("}\n");
        Stage { before, body: Source { name: &self.name, text: &self.text }, after: after + &main }
    }

    /// The fragment stage, which never runs.
    pub fn fragment_stage() -> Stage<'static> {
        Stage { before: String::new(), body: glsl!("capture.frag"), after: String::new() }
    }
}
