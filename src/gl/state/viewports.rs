//! Viewport, depth range, and the switches that each viewport has of its own. Where there are several viewports the plain calls set
//! them all: so texla sets the first alone, the only one that its draws use.

use glow::HasContext;
use smallvec::SmallVec;

use super::table::extension;
use crate::gl::api::Api;
use crate::gl::context::GlInner;
use crate::gl::entry::{EntryPoints, ViewportArray};
use crate::platform::BROWSER;

/// How the first viewport is set, and what belongs to it.
#[derive(Clone, Copy)]
pub(crate) enum Viewports {
    /// By the plain calls: there is no other, or none that could be set apart.
    Plain,
    /// By index: GL 4.1, or before it by `GL_ARB_viewport_array`, whose functions have the same names.
    Indexed,
    /// By the functions of an extension of OpenGL ES, which glow does not have.
    Loaded(ViewportArray),
}

impl Viewports {
    /// What this context has.
    pub fn of(raw: &glow::Context, api: Api, version: (u32, u32), entry: &EntryPoints) -> Self {
        let has = |name: &str| raw.supported_extensions().contains(name);
        match api {
            Api::Gl33 if version >= (4, 1) || has("GL_ARB_viewport_array") => Viewports::Indexed,
            Api::Gl33 => Viewports::Plain,
            Api::Es30 => {
                let [oes, nv] = entry.viewport_arrays;
                let oes = oes.filter(|_| has("GL_OES_viewport_array"));
                let found = oes.or(nv.filter(|_| has("GL_NV_viewport_array")));
                found.map_or(Viewports::Plain, Viewports::Loaded)
            }
        }
    }
}

/// A switch that each viewport, or each stream of vertices, has of its own.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    cap: u32,
    neutral: bool,
}

const SCISSOR_TEST_EXCLUSIVE_NV: u32 = 0x9555;
const SHADING_RATE_IMAGE_NV: u32 = 0x9563;
const STREAM_RASTERIZATION_AMD: u32 = 0x91A0;

/// The switches that a context has.
pub(super) fn switches(gl: &GlInner) -> Vec<Switch> {
    let extended = [
        ("GL_NV_scissor_exclusive", Switch { cap: SCISSOR_TEST_EXCLUSIVE_NV, neutral: false }),
        ("GL_NV_shading_rate_image", Switch { cap: SHADING_RATE_IMAGE_NV, neutral: false }),
        ("GL_AMD_transform_feedback4", Switch { cap: STREAM_RASTERIZATION_AMD, neutral: true }),
    ];
    let is_there = |(name, switch): &(&str, Switch)| {
        // SAFETY: the context is current.
        extension(gl, name) && super::is_answered(gl, || _ = unsafe { gl.raw.is_enabled(switch.cap) })
    };
    let found = extended.into_iter().filter(is_there).map(|(_, switch)| switch);
    [Switch { cap: glow::SCISSOR_TEST, neutral: false }].into_iter().chain(found).collect()
}

/// The host's values of the first viewport.
#[derive(Clone)]
pub(super) struct Kept {
    viewport: [f32; 4],
    /// Of the switches that exist, in their order.
    on: SmallVec<[bool; 4]>,
    depth_range: [f64; 2],
}

/// Reads the host's values, and sets what texla's draws need.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn take(gl: &GlInner) -> Kept {
    let (mut viewport, mut depth_range) = ([0.0; 4], [0.0; 2]);
    // SAFETY: the caller's. Of several, the plain queries tell the first.
    let on = unsafe {
        if BROWSER {
            // Which keeps integers, and of them glow makes no floats.
            let mut whole = [0; 4];
            gl.raw.get_parameter_i32_slice(glow::VIEWPORT, &mut whole);
            viewport = whole.map(|v| v as f32);
        } else {
            gl.raw.get_parameter_f32_slice(glow::VIEWPORT, &mut viewport);
        }
        match (gl.viewports, gl.entry.get_double_indexed, gl.entry.get_double) {
            (Viewports::Indexed, Some(get), _) => get(glow::DEPTH_RANGE, 0, depth_range.as_mut_ptr()),
            (_, _, Some(get)) => get(glow::DEPTH_RANGE, depth_range.as_mut_ptr()),
            _ => {
                // Exactly as long as the value: a browser's glow insists on that.
                let mut rounded = [0.0; 2];
                gl.raw.get_parameter_f32_slice(glow::DEPTH_RANGE, &mut rounded);
                depth_range = rounded.map(f64::from);
            }
        }
        gl.rows().first.iter().map(|switch| gl.raw.is_enabled(switch.cap)).collect()
    };
    // SAFETY: the caller's.
    unsafe { neutralise(gl) };
    Kept { viewport, on, depth_range }
}

/// Sets what texla's draws need; the viewport is set by each draw.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn neutralise(gl: &GlInner) {
    // SAFETY: the caller's.
    unsafe {
        gl.rows().first.iter().for_each(|switch| set_switch(gl, switch.cap, switch.neutral));
        set_depth_range(gl, [0.0, 1.0]);
    }
}

/// Puts the host's values back.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn restore(gl: &GlInner, kept: &Kept) {
    // SAFETY: the caller's.
    unsafe {
        set_viewport(gl, kept.viewport);
        let switches = gl.rows().first.iter().zip(&kept.on);
        switches.for_each(|(switch, on)| set_switch(gl, switch.cap, *on));
        set_depth_range(gl, kept.depth_range);
    }
}

pub(in crate::gl) unsafe fn set_viewport(gl: &GlInner, viewport: [f32; 4]) {
    // Mesa clamps the array in place: it must be a variable.
    let mut one = [viewport];
    let one = &*std::hint::black_box(&mut one);
    // SAFETY: the caller's; the functions are of this context.
    unsafe {
        match gl.viewports {
            Viewports::Indexed => gl.raw.viewport_f32_slice(0, 1, one),
            Viewports::Loaded(loaded) => (loaded.viewports)(0, 1, one.as_ptr().cast()),
            Viewports::Plain => {
                let [x, y, w, h] = viewport.map(|v| v as i32);
                gl.raw.viewport(x, y, w, h);
            }
        }
    }
}

unsafe fn set_switch(gl: &GlInner, cap: u32, on: bool) {
    // SAFETY: the caller's; the functions are of this context.
    unsafe {
        match (gl.viewports, on) {
            (Viewports::Indexed, true) => gl.raw.enable_draw_buffer(cap, 0),
            (Viewports::Indexed, false) => gl.raw.disable_draw_buffer(cap, 0),
            (Viewports::Loaded(loaded), true) => (loaded.enable)(cap, 0),
            (Viewports::Loaded(loaded), false) => (loaded.disable)(cap, 0),
            (Viewports::Plain, true) => gl.raw.enable(cap),
            (Viewports::Plain, false) => gl.raw.disable(cap),
        }
    }
}

/// Desktop GL before 4.1 has the f64 form alone, ES the f32 form alone.
unsafe fn set_depth_range(gl: &GlInner, [near, far]: [f64; 2]) {
    // SAFETY: the caller's; the functions are of this context.
    unsafe {
        match gl.viewports {
            Viewports::Indexed => {
                let mut one = [[near, far]];
                gl.raw.depth_range_f64_slice(0, 1, &*std::hint::black_box(&mut one));
            }
            Viewports::Loaded(loaded) => {
                let mut one = [near, far].map(|v| v as f32);
                (loaded.depth_ranges)(0, 1, std::hint::black_box(&mut one).as_ptr());
            }
            Viewports::Plain if gl.api == Api::Es30 => gl.raw.depth_range_f32(near as f32, far as f32),
            Viewports::Plain => gl.raw.depth_range_f64(near, far),
        }
    }
}
