//! What a kernel is made of, as plain data, and what can be wrong with that.

use super::body::Body;
use super::domain::Accum;
use super::names::check_names;
use super::params::Field;
use crate::error::{Error, Result};
use crate::gl::{Attribute, Capabilities, Source, UniformKind};

/// One input of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct InputSpec {
    pub name: String,
    /// An unsigned integer texture.
    pub unsigned: bool,
    /// Read by positions in its own texture alone: how it lies against the target makes no difference.
    pub addressed: bool,
    /// Averaged over 2x2 texels by a filtered fetch; then also read by texel, and in no other way.
    pub filtered: bool,
}

impl InputSpec {
    pub fn float(name: &str) -> Self {
        InputSpec { name: name.to_owned(), unsigned: false, addressed: false, filtered: false }
    }
}

/// Where the body runs and what it defines.
#[derive(Clone, Debug)]
pub(crate) enum StageSpec {
    /// `vec4 kernel(ivec2 p)` for one output, `void kernel(ivec2 p, out vec4 o0, ...)` for several.
    Fragment { outputs: Vec<String>, mask: bool },
    /// `bool kernel(ivec2 p)` and what its result does to depth [BeyondVector] 28.4.1.
    Condition(Test),
    /// `void point(int i, out ivec2 texel, out vec4 value)` in the vertex stage.
    Points { attributes: Vec<(String, Attribute)>, mask: bool },
    /// `void splat(int i, out vec4 rectangle, out vec4 value)` in the vertex stage, and `vec4 kernel(ivec2 p, vec4
    /// value)` for the texels of the rectangle.
    Splats { attributes: Vec<(String, Attribute)>, mask: bool },
}

/// What becomes of a condition. It never holds for texels past the end of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Test {
    /// Depth 0.8 where it holds, 0.2 where not.
    Write,
    /// The same, where it also has to hold, or has not to hold, for the mask that is the last input, [`WITHIN`].
    WriteWithin(bool),
    /// Fragments for which it holds are discarded: the others leave their own depth in the mask.
    Narrow,
    /// Fragments for which it does not hold are discarded, and the others counted.
    Count,
}

/// What outputs need one of each.
pub(super) const OUTPUTS: &str = "draw buffers for its outputs";

/// The mask within which a condition is asked.
pub(crate) const WITHIN: &str = "texla_within";

impl StageSpec {
    /// What a vertex carries.
    pub fn attributes(&self) -> &[(String, Attribute)] {
        match self {
            StageSpec::Points { attributes, .. } | StageSpec::Splats { attributes, .. } => attributes,
            StageSpec::Fragment { .. } | StageSpec::Condition(_) => &[],
        }
    }

    /// What a user's body has to define.
    fn wanted(&self) -> String {
        match self {
            StageSpec::Fragment { outputs, .. } if outputs.len() > 1 => {
                let outputs: String = outputs.iter().map(|o| format!(", out vec4 {o}")).collect();
                format!("void kernel(ivec2 p{outputs})")
            }
            StageSpec::Fragment { .. } => "vec4 kernel(ivec2 p)".to_owned(),
            StageSpec::Condition(_) => "bool kernel(ivec2 p)".to_owned(),
            StageSpec::Points { .. } => "void point(int i, out ivec2 texel, out vec4 value)".to_owned(),
            StageSpec::Splats { .. } => "vec4 kernel(ivec2 p, vec4 value)".to_owned(),
        }
    }

    /// And a user's vertex body beside it.
    fn wanted_of_vertex(&self) -> String {
        match self {
            StageSpec::Splats { .. } => "void splat(int i, out vec4 rectangle, out vec4 value)".to_owned(),
            _ => "void vertex(vec2 p)".to_owned(),
        }
    }
}

/// The vertex stage of a kernel that has more in it than where to draw.
#[derive(Clone, Debug)]
pub(crate) struct VertexSpec {
    /// `vec4`s that the vertex stage writes and the fragment stage reads, interpolated.
    pub varyings: Vec<String>,
    /// The body's file name, for messages.
    pub file: String,
    /// `void vertex(vec2 p)`, which sets the varyings for the position `p` in texels; or `splat`.
    pub text: String,
}

/// The whole description of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct KernelSpec {
    pub name: String,
    pub stage: StageSpec,
    pub inputs: Vec<InputSpec>,
    /// A uniform block, and the `vec4`s in it.
    pub block: Option<(String, u32)>,
    pub params: Vec<Field>,
    /// `#define`s and other text in front of the body.
    pub generated: String,
    /// The body's file name, for messages.
    pub file: String,
    pub text: String,
    /// The functions that a user's body has to define. None for kernels of texla's own, which are not looked into.
    pub wanted: Vec<String>,
    /// Absent where the vertex stage only says where to draw.
    pub vertex: Option<VertexSpec>,
    /// How the shader itself combines each output with the target's texel, which is an input ([`before`]).
    pub combines: Option<Accum>,
}

/// The input that holds what target `i` held before the draw.
pub(super) fn before(i: usize) -> String {
    format!("texla_before{i}")
}

impl KernelSpec {
    /// A user's kernel: float inputs, and a body known by the kernel's name.
    pub fn users(name: &str, stage: StageSpec, inputs: &[&str], params: &[Field], body: &str) -> Self {
        KernelSpec {
            name: name.to_owned(),
            wanted: vec![stage.wanted()],
            stage,
            inputs: inputs.iter().map(|i| InputSpec::float(i)).collect(),
            block: None,
            params: params.to_vec(),
            generated: String::new(),
            file: name.to_owned(),
            text: body.to_owned(),
            vertex: None,
            combines: None,
        }
    }

    /// The same kernel for targets that are not blended: it combines its outputs with copies of their texels.
    pub fn combining(&self, accum: Accum) -> Self {
        let outputs = match &self.stage {
            StageSpec::Fragment { outputs, .. } => outputs.len(),
            _ => 0,
        };
        let mut made = KernelSpec { combines: Some(accum), ..self.clone() };
        let copy = |i| InputSpec { addressed: true, ..InputSpec::float(&before(i)) };
        made.inputs.extend((0..outputs).map(copy));
        made
    }

    /// The same kernel with a vertex stage of its own: `varyings` are interpolated between what it says at the corners
    /// of the domain [Goeddeke05].
    pub fn interpolating(mut self, varyings: &[&str], body: Source<'_>) -> Self {
        self.vertex = Some(VertexSpec {
            varyings: varyings.iter().map(|v| (*v).to_owned()).collect(),
            file: body.name.to_owned(),
            text: body.text.to_owned(),
        });
        self
    }

    /// The same kernel with text in front of its body.
    pub fn with(mut self, generated: &str) -> Self {
        self.generated.push_str(generated);
        self.generated.push('\n');
        self
    }

    /// Whether the body is a user's.
    pub fn is_users(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// The body and the vertex body as words.
    fn bodies(&self) -> (Body<'_>, Option<Body<'_>>) {
        let vertex = self.vertex.as_ref().map(|v| Body::new(&v.file, &v.text));
        (Body::new(&self.file, &self.text), vertex)
    }

    /// For each input whether a user's body reads it by the target's texels.
    pub fn read_by_target(&self) -> Vec<bool> {
        if !self.is_users() {
            return vec![false; self.inputs.len()];
        }
        let (body, vertex) = self.bodies();
        let reads = |body: &Body<'_>, input: &InputSpec| body.reads_by_target(&input.name);
        let either = |i: &InputSpec| reads(&body, i) || vertex.as_ref().is_some_and(|v| reads(v, i));
        self.inputs.iter().map(either).collect()
    }

    /// Refuses more of anything than the device has.
    pub fn check_limits(&self, caps: &Capabilities) -> Result<()> {
        let outputs = match &self.stage {
            StageSpec::Fragment { outputs, .. } => outputs.len(),
            _ => 0,
        };
        let varyings = self.vertex.as_ref().map_or(0, |v| 4 * v.varyings.len());
        let components = self.uniforms().iter().map(|(_, kind)| kind.components() as usize).sum();
        for (needed, limit, what) in [
            (outputs, caps.max_draw_buffers, OUTPUTS),
            (self.inputs.len(), caps.texture_units, "textures for its inputs"),
            (components, caps.uniform_components, "uniform components for its inputs and parameters"),
            (varyings, caps.varying_components, "varying components"),
        ] {
            Self::check_limit(&self.name, needed, limit, what)?;
        }
        Ok(())
    }

    /// Refuses more than the device has; what users number is asked for before each gets a name.
    pub fn check_limit(kernel: &str, needed: usize, limit: u32, what: &str) -> Result<()> {
        if needed <= limit as usize {
            return Ok(());
        }
        let why = format!("it needs {needed} {what}, the device has {limit}");
        Err(Error::Unsupported { what: format!("kernel `{kernel}`"), why })
    }

    /// Checks sizes against what the device can do; names: identifiers, distinct, not reserved; a user's body.
    pub fn check(&self, caps: &Capabilities) -> Result<()> {
        self.check_limits(caps)?;
        self.check_names()?;
        if self.is_users() {
            let (body, vertex) = self.bodies();
            body.check(&self.name, &self.wanted)?;
            if let Some(vertex) = vertex {
                vertex.check(&self.name, &[self.stage.wanted_of_vertex()])?;
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        if matches!(&self.stage, StageSpec::Fragment { outputs, .. } if outputs.is_empty()) {
            return Err(Error::Interface { kernel: self.name.clone(), detail: "it has no output".into() });
        }
        let mut names: Vec<&str> = self.inputs.iter().map(|i| i.name.as_str()).collect();
        names.extend(self.params.iter().map(|p| p.name));
        if let Some(vertex) = &self.vertex {
            names.extend(vertex.varyings.iter().map(String::as_str));
        }
        names.extend(self.stage.attributes().iter().map(|(name, _)| name.as_str()));
        let inputs: Vec<&str> = self.inputs.iter().map(|i| i.name.as_str()).collect();
        check_names(&self.name, &names, &inputs)
    }

    /// Every uniform in the order in which a pass sets them: samplers, then texla's own, then the parameters; what
    /// is in a block is not set.
    pub fn uniforms(&self) -> Vec<(String, UniformKind)> {
        let mut all = Vec::new();
        for (input, unit) in self.inputs.iter().zip(0..) {
            let kind = if input.unsigned { UniformKind::USampler(unit) } else { UniformKind::Sampler(unit) };
            all.push((format!("texla_in_{}", input.name), kind));
        }
        for input in &self.inputs {
            all.push((format!("texla_inverse_{}", input.name), UniformKind::Vec2));
            all.push((format!("texla_fold_{}", input.name), UniformKind::IVec2));
        }
        all.push(("texla_inverse".into(), UniformKind::Vec2));
        all.push(("texla_width".into(), UniformKind::Int));
        all.push(("texla_tail".into(), UniformKind::IVec4));
        all.push(("texla_zero".into(), UniformKind::Int));
        all.push(("texla_area".into(), UniformKind::IVec4));
        all.extend(self.params.iter().map(|p| (p.name.to_owned(), p.kind.0)));
        all.extend(
            self.block
                .iter()
                .map(|(name, vec4s)| (name.clone(), UniformKind::Block { binding: 0, vec4s: *vec4s })),
        );
        all
    }
}
