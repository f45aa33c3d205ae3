//! Compile, link, and reflection checked against the kernel's typed interface.

use std::cell::{Cell, RefCell};

use glow::{HasContext, ProgramBinary};

use super::api::Api;
use super::binaries::Place;
use super::context::Gl;
use super::graveyard::Dead;
use super::source::{Assembly, Source};
use super::vertices::Attribute;
use crate::error::{Error, Result};
use crate::platform::Instant;

/// The type of a uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UniformKind {
    Float,
    Vec2,
    Vec3,
    Vec4,
    Int,
    IVec2,
    IVec3,
    IVec4,
    UInt,
    /// An array of this many integers.
    Ints(u32),
    /// An array of this many floats.
    Floats(u32),
    /// A uniform block of this many `vec4`s at the binding point of this number.
    Block {
        binding: u32,
        vec4s: u32,
    },
    /// A float texture on the unit of this number.
    Sampler(u32),
    /// An unsigned integer texture.
    USampler(u32),
}

impl UniformKind {
    /// GLSL type, GL type, array length.
    fn describe(self) -> (&'static str, u32, u32) {
        match self {
            UniformKind::Float => ("float", glow::FLOAT, 1),
            UniformKind::Vec2 => ("vec2", glow::FLOAT_VEC2, 1),
            UniformKind::Vec3 => ("vec3", glow::FLOAT_VEC3, 1),
            UniformKind::Vec4 => ("vec4", glow::FLOAT_VEC4, 1),
            UniformKind::Int => ("int", glow::INT, 1),
            UniformKind::IVec2 => ("ivec2", glow::INT_VEC2, 1),
            UniformKind::IVec3 => ("ivec3", glow::INT_VEC3, 1),
            UniformKind::IVec4 => ("ivec4", glow::INT_VEC4, 1),
            UniformKind::UInt => ("uint", glow::UNSIGNED_INT, 1),
            UniformKind::Ints(n) => ("int", glow::INT, n),
            UniformKind::Floats(n) => ("float", glow::FLOAT, n),
            UniformKind::Block { vec4s, .. } => ("vec4", glow::FLOAT_VEC4, vec4s),
            UniformKind::Sampler(_) => ("sampler2D", glow::SAMPLER_2D, 1),
            UniformKind::USampler(_) => ("usampler2D", glow::UNSIGNED_INT_SAMPLER_2D, 1),
        }
    }

    /// Numbers in it.
    pub fn components(self) -> u32 {
        match self {
            UniformKind::Vec2 | UniformKind::IVec2 => 2,
            UniformKind::Vec3 | UniformKind::IVec3 => 3,
            UniformKind::Vec4 | UniformKind::IVec4 => 4,
            UniformKind::Ints(n) | UniformKind::Floats(n) => n,
            // Blocks have limits of their own.
            UniformKind::Block { .. } => 0,
            _ => 1,
        }
    }

    /// Its type in GLSL, of an array that of an element.
    pub fn glsl(self) -> &'static str {
        self.describe().0
    }

    /// The declaration of a uniform of this kind.
    pub fn declare(self, name: &str) -> String {
        match self {
            UniformKind::Ints(n) | UniformKind::Floats(n) => {
                format!("uniform {} {name}[{n}];\n", self.glsl())
            }
            UniformKind::Block { vec4s, .. } => {
                format!("layout(std140) uniform {} {{ vec4 {name}[{vec4s}]; }};\n", block_name(name))
            }
            _ => format!("uniform {} {name};\n", self.glsl()),
        }
    }
}

/// The name of the block around an array.
fn block_name(name: &str) -> String {
    format!("texla_block_{name}")
}

/// The value of a uniform.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum UniformValue {
    Float(f32),
    Vec2([f32; 2]),
    Vec3([f32; 3]),
    Vec4([f32; 4]),
    Int(i32),
    IVec2([i32; 2]),
    IVec3([i32; 3]),
    IVec4([i32; 4]),
    UInt(u32),
    Ints(Vec<i32>),
    Floats(Vec<f32>),
}

impl UniformValue {
    /// The type that it has.
    pub fn kind(&self) -> UniformKind {
        match self {
            UniformValue::Float(_) => UniformKind::Float,
            UniformValue::Vec2(_) => UniformKind::Vec2,
            UniformValue::Vec3(_) => UniformKind::Vec3,
            UniformValue::Vec4(_) => UniformKind::Vec4,
            UniformValue::Int(_) => UniformKind::Int,
            UniformValue::IVec2(_) => UniformKind::IVec2,
            UniformValue::IVec3(_) => UniformKind::IVec3,
            UniformValue::IVec4(_) => UniformKind::IVec4,
            UniformValue::UInt(_) => UniformKind::UInt,
            // As many as a device has room for, which is few.
            UniformValue::Ints(v) => UniformKind::Ints(v.len() as u32),
            UniformValue::Floats(v) => UniformKind::Floats(v.len() as u32),
        }
    }

    /// Bit for bit: `==` would take -0.0 for 0.0.
    fn same(&self, other: &UniformValue) -> bool {
        fn bits(a: &[f32], b: &[f32]) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        }
        match (self, other) {
            (UniformValue::Float(a), UniformValue::Float(b)) => a.to_bits() == b.to_bits(),
            (UniformValue::Vec2(a), UniformValue::Vec2(b)) => bits(a, b),
            (UniformValue::Vec3(a), UniformValue::Vec3(b)) => bits(a, b),
            (UniformValue::Vec4(a), UniformValue::Vec4(b)) => bits(a, b),
            (UniformValue::Floats(a), UniformValue::Floats(b)) => bits(a, b),
            _ => self == other,
        }
    }
}

/// All that is needed to make a program. The generated parts declare every uniform in `uniforms`.
pub(crate) struct ProgramSource<'a> {
    pub name: &'a str,
    pub vertex: Stage<'a>,
    pub fragment: Stage<'a>,
    pub uniforms: Vec<(String, UniformKind)>,
    pub attributes: &'a [(&'a str, Attribute)],
    /// Outputs of the vertex stage that go into a buffer, one after the other; mostly none.
    pub captured: &'a [String],
}

/// One shader: generated text, the file, generated text.
pub(crate) struct Stage<'a> {
    pub before: String,
    pub body: Source<'a>,
    pub after: String,
}

/// A uniform's place in the linked program (`None` when the compiler found it unused) and what it holds now.
struct Slot {
    location: Option<glow::UniformLocation>,
    holds: RefCell<Option<UniformValue>>,
}

/// A linked program whose active uniforms are exactly the declared ones.
pub(crate) struct Program {
    gl: Gl,
    raw: glow::Program,
    slots: Vec<Slot>,
    /// The recorded draw whose values its uniforms hold; 0 where that is not known.
    values: Cell<u64>,
    /// Its vertex stage has textures to read.
    reads_early: bool,
}

/// A shader object that goes with its scope, on errors too.
struct Shader<'a> {
    gl: &'a Gl,
    raw: glow::Shader,
}

impl Drop for Shader<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is current inside the scope that compiles; the shader is ours.
        unsafe { self.gl.raw.delete_shader(self.raw) };
        self.gl.ledger.change_live(|l| l.shaders -= 1);
    }
}

/// The whole text of a stage in this dialect.
fn assemble(gl: &Gl, api: Api, kernel: &str, stage: &Stage<'_>) -> Result<Assembly> {
    let mut text = Assembly::new(api.header(), kernel);
    text.generated(&gl.caps.borrow().defines(api == gl.api));
    text.generated(&stage.before);
    text.file(stage.body)?;
    text.generated(&stage.after);
    Ok(text)
}

fn compile<'a>(gl: &'a Gl, api: Api, kernel: &str, kind: u32, text: &Assembly) -> Result<Shader<'a>> {
    let own = api == gl.api;
    let stage_name = match (kind == glow::VERTEX_SHADER, own) {
        (true, true) => "vertex shader",
        (false, true) => "fragment shader",
        (true, false) => "vertex shader in the other dialect, GLSL ES 3.00,",
        (false, false) => "fragment shader in the other dialect, GLSL ES 3.00,",
    };
    let fail = |log: String| Error::Shader { kernel: kernel.to_owned(), stage: stage_name, log };
    // SAFETY: the context is current inside a scope.
    unsafe {
        let raw = gl.raw.create_shader(kind).map_err(|e| gl.unless_lost(fail(e)))?;
        gl.ledger.change_live(|l| l.shaders += 1);
        let shader = Shader { gl, raw };
        gl.raw.shader_source(raw, &text.text);
        gl.raw.compile_shader(raw);
        if !gl.raw.get_shader_compile_status(raw) {
            return Err(gl.unless_lost(fail(text.explain(&gl.raw.get_shader_info_log(raw)))));
        }
        Ok(shader)
    }
}

/// Compiles both stages, and keeps neither, in the dialect that the context does not speak: what passes here and is refused
/// there, an implicit conversion above all, is refused on both. From OpenGL that takes `ARB_ES3_compatibility`, which 4.3
/// includes; without it, and from OpenGL ES, nothing is looked at.
pub(crate) fn check_other_dialect(
    gl: &Gl,
    kernel: &str,
    vertex: &Stage<'_>,
    fragment: &Stage<'_>,
) -> Result<()> {
    if gl.api != Api::Gl33 {
        return Ok(());
    }
    let passes = |kind, stage: &Stage<'_>| {
        let text = assemble(gl, Api::Es30, kernel, stage)?;
        compile(gl, Api::Es30, kernel, kind, &text).map(drop)
    };
    passes(glow::VERTEX_SHADER, vertex).and_then(|()| passes(glow::FRAGMENT_SHADER, fragment)).or_else(
        |refused| {
            // Does the driver know the dialect at all?
            let body = Source { name: kernel, text: "void main() {}" };
            let trivial = Stage { before: String::new(), body, after: String::new() };
            passes(glow::FRAGMENT_SHADER, &trivial).map_or(Ok(()), |()| Err(refused))
        },
    )
}

impl Program {
    pub fn new(gl: &Gl, source: &ProgramSource<'_>) -> Result<Self> {
        let started = Instant::now();
        let made = Self::build(gl, source);
        gl.ledger.count(|c| c.compile_time += started.elapsed());
        let mut made = made?;
        made.reads_early = source.vertex.before.contains("sampler2D");
        Ok(made)
    }

    fn build(gl: &Gl, source: &ProgramSource<'_>) -> Result<Self> {
        if !source.captured.is_empty() {
            // What is captured cannot be named while a feedback of the host's is the current one, even a paused one.
            gl.take_feedback()?;
        }
        let [vertex, fragment] =
            [&source.vertex, &source.fragment].map(|stage| assemble(gl, gl.api, source.name, stage));
        let (vertex, fragment) = (vertex?, fragment?);
        let place = Place::of(gl, {
            let attributes = source.attributes.iter().map(|(name, _)| *name);
            let captured = source.captured.iter().map(String::as_str);
            [vertex.text.as_str(), &fragment.text]
                .into_iter()
                .chain(attributes)
                .chain(["captured"])
                .chain(captured)
        });
        if let Some(kept) = place.as_ref().and_then(Place::load)
            && let Some(program) = Self::taken_back(gl, source, &kept)?
        {
            return Ok(program);
        }
        let mut program = Self::link(gl, source, &vertex, &fragment, place.is_some())?;
        program.reflect(source).map_err(|e| gl.unless_lost(e))?;
        gl.check("linking a program")?;
        if let Some(place) = place {
            // SAFETY: the context is current inside a scope; the program is linked.
            if let Some(binary) = unsafe { gl.raw.get_program_binary(program.raw) } {
                place.store(&binary);
            }
            gl.check("asking for a linked program")?;
        }
        Ok(program)
    }

    /// An empty program.
    fn create(gl: &Gl) -> Result<Self> {
        // SAFETY: the context is current inside a scope.
        let raw = gl.made("program", unsafe { gl.raw.create_program() })?;
        gl.ledger.change_live(|l| l.programs += 1);
        Ok(Program { gl: gl.clone(), raw, slots: Vec::new(), values: Cell::new(0), reads_early: false })
    }

    /// A program as it was once linked, unless the driver, perhaps another one by now, does not know it any more.
    fn taken_back(gl: &Gl, source: &ProgramSource<'_>, kept: &ProgramBinary) -> Result<Option<Self>> {
        let mut program = Self::create(gl)?;
        // SAFETY: the context is current inside a scope.
        let known = unsafe {
            gl.raw.program_binary(program.raw, kept);
            gl.raw.get_program_link_status(program.raw)
        };
        let taken = known && program.reflect(source).is_ok();
        match gl.check("taking back a linked program") {
            Err(Error::ContextLost) => Err(Error::ContextLost),
            Ok(()) if taken => {
                gl.ledger.count(|c| c.programs_taken_back += 1);
                Ok(Some(program))
            }
            _ => Ok(None),
        }
    }

    /// Compiles and links; `keep` says that the binary will be asked for.
    fn link(
        gl: &Gl,
        source: &ProgramSource<'_>,
        vertex: &Assembly,
        fragment: &Assembly,
        keep: bool,
    ) -> Result<Self> {
        let vertex = compile(gl, gl.api, source.name, glow::VERTEX_SHADER, vertex)?;
        let fragment = compile(gl, gl.api, source.name, glow::FRAGMENT_SHADER, fragment)?;
        let program = Self::create(gl)?;
        // GL takes no names of outputs while the feedback object that is bound has one under way, be it paused; and Firefox, which
        // gives it no names as well, then links nothing.
        gl.take_feedback()?;
        gl.ledger.count(|c| c.compiles += 1);
        let (raw_gl, raw) = (&gl.raw, program.raw);
        // SAFETY: the context is current inside a scope.
        unsafe {
            raw_gl.attach_shader(raw, vertex.raw);
            raw_gl.attach_shader(raw, fragment.raw);
            for (i, (name, _)) in source.attributes.iter().enumerate() {
                raw_gl.bind_attrib_location(raw, i as u32, name);
            }
            if !source.captured.is_empty() {
                let names: Vec<&str> = source.captured.iter().map(String::as_str).collect();
                raw_gl.transform_feedback_varyings(raw, &names, glow::INTERLEAVED_ATTRIBS);
            }
            if keep {
                raw_gl.program_binary_retrievable_hint(raw, true);
            }
            // ES has no glBindFragDataLocation; there the outputs carry `layout(location = i)`, as they do in 3.30.
            raw_gl.link_program(raw);
            raw_gl.detach_shader(raw, vertex.raw);
            raw_gl.detach_shader(raw, fragment.raw);
            if !raw_gl.get_program_link_status(raw) {
                let log = raw_gl.get_program_info_log(raw);
                let log = log.trim_end_matches(['\0', '\n']).to_owned();
                let kernel = source.name.to_owned();
                return Err(gl.unless_lost(Error::Shader { kernel, stage: "link", log }));
            }
        }
        Ok(program)
    }

    /// Checks every active uniform against the interface and puts the samplers on their units.
    fn reflect(&mut self, source: &ProgramSource<'_>) -> Result<()> {
        let raw_gl = &self.gl.raw;
        // SAFETY: the context is current inside a scope; the program is linked.
        unsafe {
            for i in 0..raw_gl.get_active_uniforms(self.raw) {
                let Some(active) = raw_gl.get_active_uniform(self.raw, i) else { continue };
                let name = active.name.trim_end_matches('\0').trim_end_matches("[0]");
                let declared = source.uniforms.iter().find(|(n, _)| n == name);
                let fail = |detail| Error::Interface { kernel: source.name.to_owned(), detail };
                let Some((_, kind)) = declared else {
                    return Err(fail(format!(
                        "the body declares the uniform `{name}`, expected none of its own: parameters are declared by \
                         `params!`, textures are inputs"
                    )));
                };
                let (glsl, gl_type, _) = kind.describe();
                if active.utype != gl_type {
                    return Err(fail(format!(
                        "uniform `{name}` is declared `{glsl}`, the program has GL type 0x{:04x}",
                        active.utype
                    )));
                }
            }
            raw_gl.use_program(Some(self.raw));
            self.gl.shadow.borrow_mut().program = Some(self.raw);
            for (name, kind) in &source.uniforms {
                let location = raw_gl.get_uniform_location(self.raw, name);
                if let (Some(at), UniformKind::Sampler(unit) | UniformKind::USampler(unit)) =
                    (&location, kind)
                {
                    raw_gl.uniform_1_i32(Some(at), *unit as i32);
                }
                if let UniformKind::Block { binding, vec4s } = kind {
                    self.bind_block(source, name, *binding, *vec4s)?;
                }
                self.slots.push(Slot { location, holds: RefCell::new(None) });
            }
        }
        Ok(())
    }

    /// Puts a uniform block at its binding point, if the compiler found it used.
    fn bind_block(&self, source: &ProgramSource<'_>, name: &str, binding: u32, vec4s: u32) -> Result<()> {
        let gl = &self.gl.raw;
        // SAFETY: the context is current inside a scope; the program is linked.
        let bytes = unsafe {
            let Some(block) = gl.get_uniform_block_index(self.raw, &block_name(name)) else { return Ok(()) };
            gl.uniform_block_binding(self.raw, block, binding);
            gl.get_active_uniform_block_parameter_i32(self.raw, block, glow::UNIFORM_BLOCK_DATA_SIZE)
        };
        // A range bound to it must not be smaller than what the driver says here.
        if i64::from(bytes) > 16 * i64::from(vec4s) {
            let detail = format!("input `{name}` has {bytes} bytes in the program, expected {}", 16 * vec4s);
            return Err(Error::Interface { kernel: source.name.to_owned(), detail });
        }
        Ok(())
    }

    pub fn raw(&self) -> glow::Program {
        self.raw
    }

    /// Whether its vertex stage has textures to read.
    pub fn reads_early(&self) -> bool {
        self.reads_early
    }

    /// Whether a place in the interface is a uniform that the program has.
    pub fn has(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(|slot| slot.location.is_some())
    }

    /// Whether the uniforms hold what the recorded draw of this number has set.
    pub(super) fn holds_values_of(&self, draw: u64) -> bool {
        self.values.get() == draw
    }

    pub(super) fn note_values_of(&self, draw: u64) {
        self.values.set(draw);
    }

    /// Sets a uniform by its place in the interface, unless it holds the value already. The program is in use.
    pub fn set(&self, slot: usize, value: &UniformValue) {
        let Some(Slot { location: Some(at), holds }) = self.slots.get(slot) else { return };
        let mut holds = holds.borrow_mut();
        if holds.as_ref().is_some_and(|held| held.same(value)) {
            return;
        }
        self.values.set(0);
        let (gl, at) = (&self.gl.raw, Some(at));
        // SAFETY: the context is current inside a scope, and the value's type is the declared one (see `Params`).
        unsafe {
            match value {
                UniformValue::Float(x) => gl.uniform_1_f32(at, *x),
                UniformValue::Vec2([x, y]) => gl.uniform_2_f32(at, *x, *y),
                UniformValue::Vec3([x, y, z]) => gl.uniform_3_f32(at, *x, *y, *z),
                UniformValue::Vec4([x, y, z, w]) => gl.uniform_4_f32(at, *x, *y, *z, *w),
                UniformValue::Int(x) => gl.uniform_1_i32(at, *x),
                UniformValue::IVec2([x, y]) => gl.uniform_2_i32(at, *x, *y),
                UniformValue::IVec3([x, y, z]) => gl.uniform_3_i32(at, *x, *y, *z),
                UniformValue::IVec4([x, y, z, w]) => gl.uniform_4_i32(at, *x, *y, *z, *w),
                UniformValue::UInt(x) => gl.uniform_1_u32(at, *x),
                UniformValue::Ints(v) => gl.uniform_1_i32_slice(at, v),
                UniformValue::Floats(v) => gl.uniform_1_f32_slice(at, v),
            }
        }
        *holds = Some(value.clone());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.gl.discard(Dead::Program(self.raw));
    }
}
