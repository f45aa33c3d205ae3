//! The host's GL state: one table of everything texla touches, saved once per outermost scope and restored on drop.
//!
//! Each row says how a value is read, what texla needs it to be (the neutral value), and how it is written back.
//! Texture units, indexed buffer bindings and the colour masks of higher draw buffers are saved when first touched inside a scope.

mod bindings;
mod table;

use glow::HasContext;

use table::{TABLE, Value, name, since};

use super::api::Api;
use super::context::{Gl, GlInner, Loader};
use crate::error::{Error, Result};

pub(super) use table::set_viewport;

/// `glGetBooleani_v`, which glow does not offer and without which the masks of draw buffers past the first cannot
/// be read.
pub(crate) type GetBooleanIndexed = unsafe extern "system" fn(u32, u32, *mut u8);

pub(super) fn load_get_boolean_indexed(loader: &Loader) -> Option<GetBooleanIndexed> {
    let address = loader("glGetBooleani_v");
    // SAFETY: a non-null address under this name is a function of exactly this signature (GL 3.0, ES 3.1).
    (!address.is_null())
        .then(|| unsafe { std::mem::transmute::<*const std::ffi::c_void, GetBooleanIndexed>(address) })
}
const CLAMP_READ_COLOR: u32 = 0x891C;
const CLIP_ORIGIN: u32 = 0x935C;

/// Blend state of one draw buffer: enabled, source and destination factors, equations.
#[derive(Clone, Copy)]
struct BlendOf {
    on: bool,
    factors: [u32; 4],
    equations: [u32; 2],
}

const BLEND_QUERIES: [u32; 6] = [
    glow::BLEND_SRC_RGB,
    glow::BLEND_DST_RGB,
    glow::BLEND_SRC_ALPHA,
    glow::BLEND_DST_ALPHA,
    glow::BLEND_EQUATION_RGB,
    glow::BLEND_EQUATION_ALPHA,
];

/// What was on a texture unit.
struct Unit {
    index: u32,
    texture: i32,
    sampler: i32,
}

/// The host's state, taken at the outermost entry.
pub(crate) struct Saved {
    depth: usize,
    values: Vec<Option<Value>>,
    blend: Vec<BlendOf>,
    masks: Vec<[bool; 4]>,
    masks_touched: usize,
    active_unit: i32,
    units: Vec<Unit>,
    bindings: Vec<bindings::Binding>,
    /// The transform feedback object, once texla has bound its own.
    feedback: Option<i32>,
    resume_feedback: bool,
}

/// How a texture's texels are read by a sampling function; `texelFetch` knows no filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// One texel.
    Nearest,
    /// Four, weighted by where the coordinates lie between them: see
    /// [`Capabilities::float_filter`](super::Capabilities::float_filter).
    Linear,
}

/// What texla itself has set since the scope began, so that nothing is set twice.
#[derive(Default)]
pub(crate) struct Shadow {
    pub framebuffer: Option<glow::NativeFramebuffer>,
    pub program: Option<glow::NativeProgram>,
    pub vertex_array: Option<glow::NativeVertexArray>,
    pub viewport: Option<[i32; 4]>,
    pub blend: Option<super::draw::Blend>,
    pub depth: Option<super::draw::Depth>,
    pub active_unit: Option<u32>,
    pub units: Vec<Option<(glow::NativeTexture, Filter)>>,
    pub colour_writes: Option<bool>,
}

impl Saved {
    /// A texture that is deleted cannot be bound again.
    pub fn forget_texture(&mut self, texture: glow::NativeTexture) {
        for unit in &mut self.units {
            if unit.texture == texture.0.get() as i32 {
                unit.texture = 0;
            }
        }
    }

    /// Nor can a buffer.
    pub fn forget_buffer(&mut self, buffer: glow::NativeBuffer) {
        self.bindings.iter_mut().for_each(|b| b.forget(buffer));
        for value in self.values.iter_mut().flatten() {
            if *value == Value::Buffer(buffer.0.get() as i32) {
                *value = Value::Buffer(0);
            }
        }
    }
}

impl Shadow {
    pub fn forget_texture(&mut self, texture: glow::NativeTexture) {
        for unit in &mut self.units {
            if unit.is_some_and(|(bound, _)| bound == texture) {
                *unit = None;
            }
        }
    }
}

/// Holds the host's GL state; the outermost one restores it on drop, be it by `?`, by panic or by the end of a block.
pub(crate) struct StateGuard {
    gl: Gl,
}

impl StateGuard {
    /// Enters texla: re-entrant, the state is read on the outermost entry alone.
    pub fn enter(gl: &Gl) -> Result<Self> {
        if let Some(saved) = gl.saved.borrow_mut().as_mut() {
            // Another device may have been at work since the outermost entry.
            gl.make_current()?;
            saved.depth += 1;
            return Ok(Self { gl: gl.clone() });
        }
        gl.enter()?;
        refuse_unrestorable(gl)?;
        let saved = save(gl);
        *gl.saved.borrow_mut() = Some(saved);
        *gl.shadow.borrow_mut() = Shadow::default();
        gl.ledger.count(|c| c.state_saves += 1);
        Ok(Self { gl: gl.clone() })
    }
}

impl Drop for StateGuard {
    fn drop(&mut self) {
        let outermost = {
            let mut saved = self.gl.saved.borrow_mut();
            match saved.as_mut() {
                Some(s) if s.depth > 1 => {
                    s.depth -= 1;
                    None
                }
                _ => saved.take(),
            }
        };
        if let Some(mut saved) = outermost
            && self.gl.make_current().is_ok()
        {
            restore(&self.gl, &mut saved);
            // After restoring: what the host has bound is unbound by deleting it, and not the other way round.
            self.gl.bury();
        }
    }
}

/// Whether transform feedback has objects, and an active one can be asked for and paused: before GL 4.0 by an
/// extension.
pub(super) fn feedback_can_pause(gl: &GlInner) -> bool {
    since(gl, (4, 0), (3, 0)) || gl.raw.supported_extensions().contains("GL_ARB_transform_feedback2")
}

/// Values that would change results and that texla cannot change and put back, none of them met in practice: say so
/// instead of computing something else.
fn refuse_unrestorable(gl: &Gl) -> Result<()> {
    // SAFETY: the context is current.
    unsafe {
        if !feedback_can_pause(gl) {
            // A program cannot be changed, not even to itself, while the feedback is active.
            let program = gl.raw.get_parameter_i32(glow::CURRENT_PROGRAM);
            gl.raw.use_program(name(program).map(glow::NativeProgram));
            if gl.raw.get_error() != glow::NO_ERROR {
                return Err(Error::Unsupported {
                    what: "entering with the application's transform feedback active".into(),
                    why: "this context cannot pause it; call texla before it begins or after it has ended"
                        .into(),
                });
            }
        }
        if gl.api == Api::Gl33 && gl.raw.get_parameter_i32(CLAMP_READ_COLOR) == 1 {
            return Err(Error::Unsupported {
                what: "entering with the application's GL_CLAMP_READ_COLOR set to GL_TRUE".into(),
                why: "it would clamp every value read back to 0..1; set it to GL_FIXED_ONLY".into(),
            });
        }
        if since(gl, (4, 5), (9, 9)) && gl.raw.get_parameter_i32(CLIP_ORIGIN) as u32 != glow::LOWER_LEFT {
            return Err(Error::Unsupported {
                what: "entering with the application's glClipControl origin at the upper left".into(),
                why: "points would land in mirrored rows; set it to GL_LOWER_LEFT around texla's calls"
                    .into(),
            });
        }
    }
    Ok(())
}

fn save(gl: &Gl) -> Saved {
    let raw = &gl.raw;
    // SAFETY: the context is current; every query asks for what this version has.
    unsafe {
        let resume_feedback = feedback_can_pause(gl)
            && raw.get_parameter_bool(glow::TRANSFORM_FEEDBACK_ACTIVE)
            && !raw.get_parameter_bool(glow::TRANSFORM_FEEDBACK_PAUSED);
        if resume_feedback {
            raw.pause_transform_feedback();
        }
        let values = TABLE.iter().map(|row| (row.exists)(gl).then(|| (row.read)(raw))).collect();
        // All that the device has, not those that texla may use: `glEnable(GL_BLEND)` sets every one.
        let buffers = gl.draw_buffers;
        let saved = Saved {
            depth: 1,
            values,
            blend: (0..indexed_blend_count(gl, buffers)).map(|i| read_blend(gl, i)).collect(),
            masks: read_masks(gl, buffers),
            masks_touched: 1,
            active_unit: raw.get_parameter_i32(glow::ACTIVE_TEXTURE),
            units: Vec::new(),
            bindings: Vec::new(),
            feedback: None,
            resume_feedback,
        };
        for row in TABLE.iter().filter(|row| (row.exists)(gl)) {
            (row.neutral)(raw);
        }
        set_mask(gl, 0, [true; 4]);
        saved
    }
}

fn restore(gl: &Gl, saved: &mut Saved) {
    let raw = &gl.raw;
    // SAFETY: the context is current; each value was read from it when the scope began.
    unsafe {
        for unit in &saved.units {
            raw.active_texture(glow::TEXTURE0 + unit.index);
            raw.bind_texture(glow::TEXTURE_2D, name(unit.texture).map(glow::NativeTexture));
            raw.bind_sampler(unit.index, name(unit.sampler).map(glow::NativeSampler));
        }
        raw.active_texture(saved.active_unit as u32);
        for (i, blend) in saved.blend.iter().enumerate() {
            write_blend(gl, i as u32, *blend, saved.blend.len() > 1);
        }
        for (i, mask) in saved.masks.iter().enumerate().take(saved.masks_touched) {
            set_mask(gl, i as u32, *mask);
        }
        for (row, value) in TABLE.iter().zip(&saved.values) {
            if let Some(value) = value {
                (row.write)(raw, *value);
            }
        }
        gl.return_feedback(saved);
        bindings::restore(gl, &saved.bindings);
        if saved.resume_feedback {
            raw.resume_transform_feedback();
        }
    }
}

/// Draw buffers whose blend state is separate: enabling is per buffer from GL 3.0 and ES 3.2 on.
fn indexed_blend_count(gl: &GlInner, buffers: u32) -> u32 {
    if since(gl, (3, 0), (3, 2)) { buffers } else { 1 }
}

unsafe fn read_blend(gl: &GlInner, i: u32) -> BlendOf {
    let per_buffer = since(gl, (4, 0), (3, 2));
    // SAFETY: the caller's.
    unsafe {
        let on = if since(gl, (3, 0), (3, 2)) {
            gl.raw.get_parameter_indexed_i32(glow::BLEND, i) != 0
        } else {
            gl.raw.is_enabled(glow::BLEND)
        };
        let read = |q| {
            if per_buffer { gl.raw.get_parameter_indexed_i32(q, i) } else { gl.raw.get_parameter_i32(q) }
        };
        let [a, b, c, d, e, f] = BLEND_QUERIES.map(|q| read(q) as u32);
        BlendOf { on, factors: [a, b, c, d], equations: [e, f] }
    }
}

unsafe fn write_blend(gl: &GlInner, i: u32, blend: BlendOf, indexed: bool) {
    let [src_rgb, dst_rgb, src_a, dst_a] = blend.factors;
    let [eq_rgb, eq_a] = blend.equations;
    // SAFETY: the caller's.
    unsafe {
        match (indexed, blend.on) {
            (true, true) => gl.raw.enable_draw_buffer(glow::BLEND, i),
            (true, false) => gl.raw.disable_draw_buffer(glow::BLEND, i),
            (false, true) => gl.raw.enable(glow::BLEND),
            (false, false) => gl.raw.disable(glow::BLEND),
        }
        if since(gl, (4, 0), (3, 2)) {
            gl.raw.blend_func_separate_draw_buffer(i, src_rgb, dst_rgb, src_a, dst_a);
            gl.raw.blend_equation_separate_draw_buffer(i, eq_rgb, eq_a);
        } else if i == 0 {
            gl.raw.blend_func_separate(src_rgb, dst_rgb, src_a, dst_a);
            gl.raw.blend_equation_separate(eq_rgb, eq_a);
        }
    }
}

/// The colour mask of every draw buffer. Without `glGetBooleani_v` those past the first are taken to equal it, which
/// holds for every application that calls `glColorMask` and not `glColorMaski`.
unsafe fn read_masks(gl: &GlInner, buffers: u32) -> Vec<[bool; 4]> {
    // SAFETY: the caller's; the indexed query writes four booleans.
    unsafe {
        let first = gl.raw.get_parameter_bool_array::<4>(glow::COLOR_WRITEMASK);
        let indexed = gl.get_boolean_indexed.filter(|_| since(gl, (3, 0), (3, 2)));
        let mut masks = vec![first; buffers as usize];
        if let Some(get) = indexed {
            for (i, mask) in masks.iter_mut().enumerate() {
                let mut bytes = [0u8; 4];
                get(glow::COLOR_WRITEMASK, i as u32, bytes.as_mut_ptr());
                *mask = bytes.map(|b| b != 0);
            }
        }
        masks
    }
}

unsafe fn set_mask(gl: &GlInner, i: u32, [r, g, b, a]: [bool; 4]) {
    // SAFETY: the caller's.
    unsafe {
        if since(gl, (3, 0), (3, 2)) {
            gl.raw.color_mask_draw_buffer(i, r, g, b, a);
        } else if i == 0 {
            gl.raw.color_mask(r, g, b, a);
        }
    }
}

impl Gl {
    /// Lets the first `count` draw buffers be written (or none of them, for passes that write depth alone).
    pub fn set_colour_writes(&self, count: usize, on: bool) {
        let mut saved = self.saved.borrow_mut();
        let mut shadow = self.shadow.borrow_mut();
        let Some(saved) = saved.as_mut() else { return };
        let unchanged = shadow.colour_writes.unwrap_or(true) == on;
        if unchanged && count <= saved.masks_touched {
            return;
        }
        let count = count.max(saved.masks_touched);
        for i in 0..count {
            // SAFETY: the context is current inside a scope; restored with the scope.
            unsafe { set_mask(self, i as u32, [on; 4]) };
        }
        saved.masks_touched = count;
        shadow.colour_writes = Some(on);
    }

    /// Puts a texture on a unit with one of texla's own samplers; what was there is remembered on first touch.
    pub fn bind_unit(&self, index: u32, texture: glow::NativeTexture, filter: Filter) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.units.len() <= index as usize {
            shadow.units.resize(index as usize + 1, None);
        }
        let held = shadow.units.get(index as usize).copied().flatten();
        if held == Some((texture, filter)) {
            return;
        }
        let [nearest, linear] = self.samplers;
        // SAFETY: the context is current inside a scope; texture and sampler are alive.
        unsafe {
            if shadow.active_unit != Some(index) {
                self.raw.active_texture(glow::TEXTURE0 + index);
                shadow.active_unit = Some(index);
            }
            if let Some(saved) = self.saved.borrow_mut().as_mut()
                && !saved.units.iter().any(|u| u.index == index)
            {
                let bound = self.raw.get_parameter_i32(glow::TEXTURE_BINDING_2D);
                let sampler = self.raw.get_parameter_i32(glow::SAMPLER_BINDING);
                saved.units.push(Unit { index, texture: bound, sampler });
            }
            if held.map(|(_, filter)| filter) != Some(filter) {
                let sampler = if filter == Filter::Linear { linear } else { nearest };
                self.raw.bind_sampler(index, Some(sampler));
            }
            self.raw.bind_texture(glow::TEXTURE_2D, Some(texture));
        }
        if let Some(unit) = shadow.units.get_mut(index as usize) {
            *unit = Some((texture, filter));
        }
    }
}
