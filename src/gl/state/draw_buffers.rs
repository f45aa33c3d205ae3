//! What each draw buffer has of its own: blending and the colour mask.

use glow::HasContext;

use super::table::{extension, since};
use crate::error::{Error, Result};
use crate::gl::api::Api;
use crate::gl::context::GlInner;
use crate::platform::BROWSER;

/// Blend state of one draw buffer: enabled, source and destination factors, equations.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct BlendOf {
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

/// Whether enabling and masks are separate, and can be set so: from GL 3.0 and ES 3.2 on.
fn separate_masks(gl: &GlInner) -> bool {
    since(gl, (3, 0), (3, 2))
}

/// Whether factors and equations are separate, and can be set so: from GL 4.0 and ES 3.2 on.
fn separate_functions(gl: &GlInner) -> bool {
    since(gl, (4, 0), (3, 2))
}

/// Whether they may be separate though glow cannot set them so: by an extension before those versions. A browser is not asked:
/// that would be a question for each value of each draw buffer.
fn separate_by_extension(gl: &GlInner) -> bool {
    let extensions = match gl.api {
        Api::Gl33 => ["GL_ARB_draw_buffers_blend"].as_slice(),
        Api::Es30 => &["GL_OES_draw_buffers_indexed", "GL_EXT_draw_buffers_indexed"],
    };
    !BROWSER && !separate_functions(gl) && extensions.iter().any(|name| extension(gl, name))
}

/// Blending and mask of every draw buffer.
///
/// *Errors*: [`Error::Unsupported`] where they differ by draw buffer in a way that glow cannot set again.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn read(gl: &GlInner, buffers: u32) -> Result<(Vec<BlendOf>, Vec<[bool; 4]>)> {
    let by_extension = separate_by_extension(gl);
    let buffers = if by_extension || separate_masks(gl) { buffers } else { 1 };
    // SAFETY: the caller's.
    let (blends, masks): (Vec<_>, _) = unsafe {
        (
            (0..buffers).map(|i| read_blend(gl, i, by_extension)).collect(),
            read_masks(gl, buffers, by_extension),
        )
    };
    let pairs = || blends.iter().zip(blends.iter().skip(1));
    let restorable = !by_extension
        || pairs().all(|(a, b)| (a.factors, a.equations) == (b.factors, b.equations))
            && (separate_masks(gl)
                || pairs().all(|(a, b)| a.on == b.on) && masks.windows(2).all(|m| m.first() == m.last()));
    if !restorable {
        return Err(Error::Unsupported {
            what: "entering with the application's blending or colour masks different by draw buffer".into(),
            why: "this context sets them apart by an extension that texla cannot use; set them alike around its calls"
                .into(),
        });
    }
    Ok((blends, masks))
}

unsafe fn read_blend(gl: &GlInner, i: u32, by_extension: bool) -> BlendOf {
    let ask = |query, separate| {
        // SAFETY: the caller's.
        unsafe {
            if separate || by_extension {
                gl.raw.get_parameter_indexed_i32(query, i)
            } else {
                gl.raw.get_parameter_i32(query)
            }
        }
    };
    // A browser answers with no number.
    let on = if separate_masks(gl) || by_extension {
        ask(glow::BLEND, true) != 0
    } else {
        // SAFETY: the caller's.
        unsafe { gl.raw.is_enabled(glow::BLEND) }
    };
    let [a, b, c, d, e, f] = BLEND_QUERIES.map(|q| ask(q, separate_functions(gl)) as u32);
    BlendOf { on, factors: [a, b, c, d], equations: [e, f] }
}

/// What texla's draws need of blending, whether it is on or off: Mesa refuses several targets for factors of a second
/// source. Equations count where blending is on, which sets them.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn neutralise_blend(gl: &glow::Context) {
    // SAFETY: the caller's.
    unsafe {
        gl.disable(glow::BLEND);
        gl.blend_func(glow::ONE, glow::ONE);
    }
}

/// Puts back what [`read`] has found.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn write_blends(gl: &GlInner, blends: &[BlendOf]) {
    let raw = &gl.raw;
    for (BlendOf { on, factors: [src_rgb, dst_rgb, src_a, dst_a], equations: [rgb, alpha] }, i) in
        blends.iter().zip(0..)
    {
        // SAFETY: the caller's.
        unsafe {
            match (separate_masks(gl), on) {
                (true, true) => raw.enable_draw_buffer(glow::BLEND, i),
                (true, false) => raw.disable_draw_buffer(glow::BLEND, i),
                (false, true) => raw.enable(glow::BLEND),
                (false, false) => raw.disable(glow::BLEND),
            }
            // An advanced equation is one for colour and alpha, and no argument of the separate calls.
            match (separate_functions(gl), rgb == alpha) {
                (true, true) => raw.blend_equation_draw_buffer(i, *rgb),
                (true, false) => raw.blend_equation_separate_draw_buffer(i, *rgb, *alpha),
                (false, true) => raw.blend_equation(*rgb),
                (false, false) => raw.blend_equation_separate(*rgb, *alpha),
            }
            if separate_functions(gl) {
                raw.blend_func_separate_draw_buffer(i, *src_rgb, *dst_rgb, *src_a, *dst_a);
            } else {
                raw.blend_func_separate(*src_rgb, *dst_rgb, *src_a, *dst_a);
            }
        }
    }
}

/// The colour mask of every draw buffer. Without `glGetBooleani_v` those past the first are taken to equal it, which
/// holds for every application that calls `glColorMask` and not `glColorMaski`.
unsafe fn read_masks(gl: &GlInner, buffers: u32, by_extension: bool) -> Vec<[bool; 4]> {
    // SAFETY: the caller's; the indexed query writes four booleans.
    unsafe {
        let first = gl.raw.get_parameter_bool_array::<4>(glow::COLOR_WRITEMASK);
        // The function came with ES 3.1, and the extension may be there before it.
        let asked = separate_masks(gl) || by_extension && since(gl, (3, 0), (3, 1));
        let indexed = gl.entry.get_boolean_indexed.filter(|_| asked);
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

/// # Safety
/// The context is current.
pub(super) unsafe fn set_mask(gl: &GlInner, i: u32, [r, g, b, a]: [bool; 4]) {
    // SAFETY: the caller's.
    unsafe {
        if separate_masks(gl) {
            gl.raw.color_mask_draw_buffer(i, r, g, b, a);
        } else if i == 0 {
            gl.raw.color_mask(r, g, b, a);
        }
    }
}
