//! Capabilities found by doing: render, read, compare. An extension string is a promise, not a fact.

mod blend;
mod capabilities;
mod capture;
mod exact;
mod filter;
mod known;
mod limits;
mod loops;

use std::cell::Cell;
use std::rc::Rc;

use glow::HasContext;

use super::context::Gl;
use super::draw::{Area, Blend, Depth, DrawCall};
use super::objects::{Format, Texture};
use super::program::{Program, ProgramSource, Stage, UniformKind, UniformValue};
use super::source::{Source, glsl};
use super::state::{Filter, StateGuard};
use super::vertices::{Attribute, VertexBuffer};
use crate::error::{Error, Result};
use crate::platform::BROWSER;
use crate::shape::Extent;

pub use capabilities::{Capabilities, ExactForm};
pub use limits::Limits;

/// Finds out what the device can do: from capabilities that were saved in this context or found in it before, else by probing.
pub(super) fn probe(gl: &Gl, limits: &Limits, saved: Option<Capabilities>) -> Result<()> {
    let named = named(gl, limits);
    gl.know_threads(&named.renderer);
    let known = saved.filter(|saved| saved.fit(&named)).or_else(|| known::find(gl, &named));
    if let Some(known) = known {
        *gl.caps.borrow_mut() = known;
        return Ok(());
    }
    *gl.caps.borrow_mut() = named;
    let probe = Probe { gl, limits, short_of_memory: Cell::new(false) };
    let mut found = probe.run()?;
    if probe.short_of_memory.get() {
        found.fingerprint = 0;
    } else {
        known::keep(gl, &found);
    }
    *gl.caps.borrow_mut() = found;
    Ok(())
}

/// Limits that every version can be asked for.
const STATED: [u32; 8] = [
    glow::MAX_TEXTURE_SIZE,
    glow::MAX_DRAW_BUFFERS,
    glow::MAX_COLOR_ATTACHMENTS,
    glow::MAX_TEXTURE_IMAGE_UNITS,
    glow::MAX_VERTEX_TEXTURE_IMAGE_UNITS,
    glow::MAX_FRAGMENT_UNIFORM_COMPONENTS,
    glow::MAX_VERTEX_UNIFORM_COMPONENTS,
    glow::MAX_VARYING_COMPONENTS,
];

/// What the driver says of itself, before anything is tried: an upper bound of what it can do.
fn named(gl: &Gl, limits: &Limits) -> Capabilities {
    // SAFETY: the context is current; these queries exist in every version.
    let [vendor, version] =
        unsafe { [glow::VENDOR, glow::VERSION].map(|name| gl.raw.get_parameter_string(name)) };
    let renderer = gl.raw.renderer();
    // SAFETY: the context is current; these queries exist in every version.
    let [size, buffers, attachments, units, vertex_units, uniforms, vertex_uniforms, varyings] =
        unsafe { STATED.map(|limit| gl.raw.get_parameter_i32(limit).max(0) as u32) };
    let buffers = buffers
        .min(attachments)
        .min(super::framebuffers::COLOURS as u32)
        .min(limits.max_draw_buffers.unwrap_or(8))
        .max(1);
    let names = ["llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader"];
    let lower = renderer.to_lowercase();
    let software = names.iter().any(|name| lower.contains(name));
    Capabilities {
        fingerprint: known::fingerprint(gl, limits),
        software,
        renderer,
        vendor,
        version,
        max_texture_size: size.min(limits.max_texture_size.unwrap_or(u32::MAX)).max(1),
        max_draw_buffers: buffers,
        texture_units: units.min(vertex_units).min(16),
        uniform_components: uniforms.min(vertex_uniforms),
        varying_components: varyings,
        points_a_draw: if software { 1 << 16 } else { 1 << 18 },
        rounds_a_draw: match software {
            // Interprets shaders, which the others compile.
            true if lower.contains("softpipe") => 1 << 10,
            true => 1 << 19,
            false => 1 << 25,
        },
        program_binaries: super::binaries::offered(gl),
        sample_queries: !BROWSER && !limits.without_sample_queries,
        ..Capabilities::default()
    }
}

struct Probe<'a> {
    gl: &'a Gl,
    limits: &'a Limits,
    /// The driver lacked memory for a side: that may be said of the device, or of this moment.
    short_of_memory: Cell<bool>,
}

/// A value with all of its 24 bits in use, one past half-float range, one below it, one near the top.
const WITNESSES: [f32; 4] = [0.123_456_7, 70_001.25, -1.234_567_8e-30, 3.1e38];

impl Probe<'_> {
    fn run(&self) -> Result<Capabilities> {
        let gl = self.gl;
        let _guard = StateGuard::enter(gl, true)?;
        self.float_textures()?;
        self.texture_size()?;
        self.draw_buffers()?;
        let [outputs, block, blocks] = self.capture()?;
        let may_blend = !self.limits.without_float_blend;
        let blend = may_blend && self.holds(|| self.blend())?;
        let min_max = may_blend && self.holds(|| self.min_max())?;
        let coordinates = self.computed_coordinates()?;
        let counted = self.numbered_points()?;
        let loop_rounds = self.loop_rounds()?;
        // Lines are counted by blending: where floats cannot be blended that is a GL error, not an answer.
        let lines = blend && self.lines()?;
        let filter = !self.limits.without_float_filter && self.holds(|| self.filter())?;
        // Where derivatives do something else, products are summed without them.
        let derivatives = self.holds(|| self.derivatives())?;
        {
            let mut caps = gl.caps.borrow_mut();
            caps.float_blend = blend;
            caps.float_min_max = min_max;
            caps.float_filter = filter;
            caps.computed_coordinates = coordinates;
            caps.exact_lines = lines;
            caps.loop_rounds = loop_rounds;
            caps.max_vertex_outputs = outputs;
            caps.max_block_vec4s = block;
            caps.vertex_blocks = blocks;
            if !counted {
                caps.points_a_draw = 1 << 12;
            }
            caps.exact_derivatives = derivatives;
        }
        for form in [ExactForm::BitCast, ExactForm::Precise] {
            gl.caps.borrow_mut().exact_form = Some(form);
            // A compiler that does not know a form refuses it: that is an answer, not an error.
            if self.holds(|| self.exact())? {
                break;
            }
            gl.caps.borrow_mut().exact_form = None;
        }
        Ok(gl.caps.borrow().clone())
    }

    /// Whether something holds, where being refused is an answer too: it does not. A refusal is believed when it comes
    /// twice, and lack of memory or a lost context is none: it says nothing about the device.
    fn holds(&self, ask: impl Fn() -> Result<bool>) -> Result<bool> {
        let refusal = match ask().or_else(|_| ask()) {
            Ok(answer) => return Ok(answer),
            Err(refusal) => self.gl.unless_lost(refusal),
        };
        match refusal {
            Error::OutOfMemory { .. } | Error::ContextLost | Error::NoContext(_) => Err(refusal),
            Error::Gl { code: glow::OUT_OF_MEMORY, .. } => Err(refusal),
            _ => Ok(false),
        }
    }

    fn texture(&self, width: u32, height: u32, data: Option<&[f32]>) -> Result<Texture> {
        let texture = Texture::new(self.gl, Extent::new(width, height), Format::Rgba32F, "probe")?;
        if let Some(data) = data {
            self.gl.upload(&texture, bytemuck::cast_slice(data), "probe")?;
        }
        Ok(texture)
    }

    fn program(
        &self,
        vertex: Source<'_>,
        fragment: Source<'_>,
        samplers: &[&str],
        outputs: usize,
    ) -> Result<Rc<Program>> {
        let mut uniforms: Vec<_> =
            samplers.iter().zip(0..).map(|(s, unit)| ((*s).to_owned(), UniformKind::Sampler(unit))).collect();
        uniforms.push(("texla_zero".into(), UniformKind::Int));
        uniforms.push(("inverse_extent".into(), UniformKind::Vec2));
        let declarations: String = uniforms.iter().map(|(name, kind)| kind.declare(name)).collect();
        let outs =
            (0..outputs).map(|i| format!("layout(location = {i}) out vec4 out{i};\n")).collect::<String>();
        let program = Program::new(
            self.gl,
            &ProgramSource {
                name: "probe",
                vertex: Stage { before: declarations.clone(), body: vertex, after: String::new() },
                fragment: Stage { before: declarations + &outs, body: fragment, after: String::new() },
                uniforms,
                attributes: &[("attribute0", Attribute::Vec4)],
                captured: &[],
            },
        );
        program.map(Rc::new)
    }

    fn draw(
        &self,
        program: &Rc<Program>,
        targets: &[&Texture],
        inputs: &[&Texture],
        area: Area<'_>,
        blend: Blend,
    ) -> Result<()> {
        let inputs: Vec<_> = inputs.iter().map(|t| (*t, Filter::Nearest)).collect();
        self.draw_sampled(program, targets, &inputs, area, blend)
    }

    fn draw_sampled(
        &self,
        program: &Rc<Program>,
        targets: &[&Texture],
        inputs: &[(&Texture, Filter)],
        area: Area<'_>,
        blend: Blend,
    ) -> Result<()> {
        let extent = inputs.first().map_or(Extent::new(1, 1), |(t, _)| t.extent());
        self.gl.draw(&DrawCall {
            name: "probe",
            program,
            targets: targets.iter().copied().collect(),
            depth_target: None,
            inputs: inputs.iter().copied().collect(),
            block: None,
            uniforms: &[],
            params: &[
                UniformValue::Int(0),
                UniformValue::Vec2([1.0 / extent.width as f32, 1.0 / extent.height as f32]),
            ],
            first_param: inputs.len(),
            area,
            rounds: Some(1),
            blend,
            depth: Depth::Off,
        })
    }

    /// Float textures can be filled, sampled without loss, rendered to and read back; else nothing works.
    fn float_textures(&self) -> Result<()> {
        let gl = self.gl;
        let needs = |what: &str| {
            let caps = gl.caps.borrow();
            Error::NoContext(format!(
                "{} ({}) cannot {what}; texla needs 32-bit float render targets \
                 (OpenGL ES: EXT_color_buffer_float)",
                caps.renderer, caps.version
            ))
        };
        let input = self.texture(1, 1, Some(&WITNESSES))?;
        let target = self.texture(1, 1, None)?;
        let program = self.program(glsl!("quad.vert"), glsl!("probe/copy.frag"), &["a"], 1)?;
        match self.draw(&program, &[&target], &[&input], Area::Rect([0, 0, 1, 1]), Blend::Replace) {
            Err(Error::IncompleteFramebuffer { .. }) => return Err(needs("render to 32-bit float textures")),
            other => other?,
        }
        if gl.read(&target, "probe")? != WITNESSES {
            return Err(needs("carry 32-bit floats through a shader unchanged"));
        }
        Ok(())
    }

    fn texture_size(&self) -> Result<()> {
        loop {
            let side = self.gl.caps.borrow().max_texture_size;
            let fits = |w, h| {
                let fits = self.holds(|| {
                    let texture = self.texture(w, h, None)?;
                    self.gl.framebuffer([texture.raw()], None, "probe").map(|_| true)
                });
                if matches!(fits, Err(Error::OutOfMemory { .. })) {
                    self.short_of_memory.set(true);
                    return Ok(false);
                }
                fits
            };
            if side == 1 || (fits(side, 1)? && fits(1, side)?) {
                return Ok(());
            }
            self.gl.caps.borrow_mut().max_texture_size = side / 2;
        }
    }

    fn draw_buffers(&self) -> Result<()> {
        loop {
            let count = self.gl.caps.borrow().max_draw_buffers;
            let fragment: String = (0..count).map(|i| format!("out{i} = vec4({i}.5);")).collect();
            let text = format!("void main() {{ {fragment} }}");
            let fragment = Source { name: "probe/draw_buffers (generated)", text: &text };
            let right = || -> Result<bool> {
                let program = self.program(glsl!("quad.vert"), fragment, &[], count as usize)?;
                let targets: Vec<_> = (0..count).map(|_| self.texture(1, 1, None)).collect::<Result<_>>()?;
                let refs: Vec<_> = targets.iter().collect();
                self.draw(&program, &refs, &[], Area::Rect([0, 0, 1, 1]), Blend::Replace)?;
                for (i, target) in targets.iter().enumerate() {
                    if self.gl.read(target, "probe")? != [i as f32 + 0.5; 4] {
                        return Ok(false);
                    }
                }
                Ok(true)
            };
            if count == 1 || self.holds(right)? {
                return Ok(());
            }
            self.gl.caps.borrow_mut().max_draw_buffers = count / 2;
        }
    }

    /// Every vertex of a draw of 2^14 knows its number, and so do those of a draw that begins with another than the first.
    fn numbered_points(&self) -> Result<bool> {
        let program = self.program(glsl!("probe/numbers.vert"), glsl!("probe/points.frag"), &[], 1)?;
        let count = 1 << 14;
        let numbers: Vec<[f32; 4]> = (0..count).map(|i| [i as f32, 0.0, 0.0, 1.0]).collect();
        let words: &[u32] = bytemuck::cast_slice(&numbers);
        let vertices = Rc::new(VertexBuffer::new(self.gl, count, &[Attribute::Vec4], &[words], "probe")?);
        let wrong = self.texture(1, 1, Some(&[0.0; 4]))?;
        for first in [0, 1000] {
            let area = Area::Points { vertices: &vertices, first, count: count - first };
            self.draw(&program, &[&wrong], &[], area, Blend::Replace)?;
        }
        Ok(self.gl.read(&wrong, "probe")? == [0.0; 4])
    }

    /// Compares both fetch forms along the longest row and the longest column that can exist.
    fn computed_coordinates(&self) -> Result<bool> {
        let side = self.gl.caps.borrow().max_texture_size;
        let program = self.program(glsl!("quad.vert"), glsl!("probe/coordinates.frag"), &["a"], 1)?;
        for (w, h) in [(side, 1), (1, side), (side.min(1021), side.min(61))] {
            let indices: Vec<f32> = (0..w * h).flat_map(|i| [i as f32; 4]).collect();
            let source = self.texture(w, h, Some(&indices))?;
            let target = self.texture(w, h, None)?;
            self.draw(
                &program,
                &[&target],
                &[&source],
                Area::Rect([0, 0, w as i32, h as i32]),
                Blend::Replace,
            )?;
            if self.gl.read(&target, "probe")?.iter().any(|d| *d != 0.0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lines(&self) -> Result<bool> {
        let program = self.program(glsl!("quad.vert"), glsl!("probe/one.frag"), &[], 1)?;
        let side = self.gl.caps.borrow().max_texture_size.min(67);
        for (w, h, row) in [(side, 5, true), (5, side, false), (1, 1, true), (1, 1, false)] {
            let at = if row { h / 2 } else { w / 2 };
            let target = self.texture(w, h, Some(&vec![0.0; (w * h * 4) as usize]))?;
            let area = if row { Area::Row(at as i32) } else { Area::Column(at as i32) };
            self.draw(&program, &[&target], &[], area, Blend::Add)?;
            let inside = |i: u32| if row { i / w == at } else { i % w == at };
            let hit = self.gl.read(&target, "probe")?;
            if !hit.chunks(4).zip(0..).all(|(t, i)| t.first() == Some(&f32::from(u8::from(inside(i))))) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// A small generator for the probes: full 24-bit mantissas in (-1, 1).
struct Lcg(u64);

impl Lcg {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 40) as f32 + 0.5) / 8_388_608.0 - 1.0
    }
}
