//! Values that change results and that glow can read but not set: set and restored by functions of the loader's, refused where
//! there is no loader, or where nobody can restore them. The page `guide::registry` has a row for each.

use glow::HasContext;
use smallvec::SmallVec;

use super::setters::{self, Setter};
use super::table::{desktop, extension, since};
use crate::error::{Error, Result};
use crate::gl::context::GlInner;
use crate::gl::entry::Address;
use crate::platform::BROWSER;

const CLIP_ORIGIN: u32 = 0x935C;
const CLIP_DEPTH_MODE: u32 = 0x935D;
const NEGATIVE_ONE_TO_ONE: u32 = 0x935E;
const CLAMP_READ_COLOR: u32 = 0x891C;
const FIXED_ONLY: u32 = 0x891D;
const WINDOW_RECTANGLE: u32 = 0x8F12;
const WINDOW_RECTANGLE_MODE: u32 = 0x8F13;
const NUM_WINDOW_RECTANGLES: u32 = 0x8F15;
const EXCLUSIVE: u32 = 0x8F11;
const SHADING_RATE_QCOM: u32 = 0x96A4;
const SHADING_RATE_1X1_QCOM: u32 = 0x96A6;
const SHADING_RATE_EXT: u32 = 0x96D0;
const SHADING_RATE_1X1_EXT: u32 = 0x96A6;
const VIEWPORT_SWIZZLE_X_NV: u32 = 0x9358;
const POSITIVE_X_NV: u32 = 0x9350;
const SUBPIXEL_PRECISION_BIAS_X_BITS_NV: u32 = 0x9347;
const PRIMITIVE_BOUNDING_BOX: u32 = 0x92BE;
const UNIFORM_BUFFER_UNIFIED_NV: u32 = 0x936E;
const RENDER_GPU_MASK_NV: u32 = 0x9558;
const UPLOAD_GPU_MASK_NVX: u32 = 0x954A;
const MULTICAST_GPUS_NV: u32 = 0x92BA;
const SHADER_PIXEL_LOCAL_STORAGE_EXT: u32 = 0x8F64;
const PIXEL_LOCAL_STORAGE_ACTIVE_PLANES: u32 = 0x96E2;

/// A value as the arguments of the function that sets it; floats by their bits.
pub(super) type Words = SmallVec<[u32; 8]>;

/// One such value.
pub(super) struct Loaded {
    exists: fn(&GlInner) -> bool,
    read: unsafe fn(&GlInner) -> Words,
    /// The values that change no result; texla sets the first.
    harmless: &'static [&'static [u32]],
    /// `None` where texla cannot restore the value, with a loader or without one.
    set: Option<&'static Setter>,
    /// What the application has set, and what that would do.
    what: &'static str,
    why: &'static str,
}

/// A row that exists in a context, with its functions where the loader knows all of them.
pub(super) struct Prepared {
    row: &'static Loaded,
    functions: Option<(&'static Setter, SmallVec<[Address; 2]>)>,
}

/// A value of the host's, and the index of its row among those that exist.
pub(super) type Kept = (usize, Words);

/// The first value that a query names. Some drivers answer with more than the extension says, as NVIDIA's does with two polygon
/// modes.
unsafe fn word(gl: &GlInner, query: u32) -> u32 {
    let mut found = [0; 16];
    // SAFETY: the caller's. A browser's glow takes answers of the very length.
    unsafe {
        if BROWSER {
            return gl.raw.get_parameter_i32(query) as u32;
        }
        gl.raw.get_parameter_i32_slice(query, &mut found);
    }
    let [first, ..] = found;
    first as u32
}

/// Whether a switch is on, behind its name.
unsafe fn client_state(gl: &GlInner, cap: u32) -> Words {
    // SAFETY: the caller's.
    Words::from_iter([cap, u32::from(unsafe { gl.raw.is_enabled(cap) })])
}

/// Values of the clip space. In the clip space of 0..1 all depths lie elsewhere, and so every mask would be wrong.
const fn clip_control(exists: fn(&GlInner) -> bool, set: &'static Setter) -> Loaded {
    Loaded {
        exists,
        // SAFETY: the caller's; both values exist.
        read: |gl| unsafe { [CLIP_ORIGIN, CLIP_DEPTH_MODE].map(|q| word(gl, q)).into_iter().collect() },
        harmless: &[&[glow::LOWER_LEFT, NEGATIVE_ONE_TO_ONE]],
        set: Some(set),
        what: "the application's glClipControl in place",
        why: "rows would be mirrored and depths moved; set it to GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE",
    }
}

const fn polygon_mode(
    exists: fn(&GlInner) -> bool,
    set: Option<&'static Setter>,
    what: &'static str,
) -> Loaded {
    Loaded {
        exists,
        // SAFETY: the caller's; the value exists.
        read: |gl| unsafe { [glow::FRONT_AND_BACK, word(gl, glow::POLYGON_MODE)].into_iter().collect() },
        harmless: &[&[glow::FRONT_AND_BACK, glow::FILL]],
        set,
        what,
        why: "rectangles would be outlines or points; set it to GL_FILL",
    }
}

/// A bounding box past which a rasteriser may leave fragments out.
const fn bounding_box(exists: fn(&GlInner) -> bool, set: &'static Setter) -> Loaded {
    const NEGATIVE: u32 = 0xBF80_0000;
    const POSITIVE: u32 = 0x3F80_0000;
    Loaded {
        exists,
        read: |gl| {
            let mut corners = [0.0; 8];
            // SAFETY: the caller's; the value exists, and is eight floats.
            unsafe { gl.raw.get_parameter_f32_slice(PRIMITIVE_BOUNDING_BOX, &mut corners) };
            corners.map(f32::to_bits).into_iter().collect()
        },
        harmless: &[&[NEGATIVE, NEGATIVE, NEGATIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE, POSITIVE]],
        set: Some(set),
        what: "the application's glPrimitiveBoundingBox in place",
        why: "what lies outside the box may stay undrawn; set it to -1, -1, -1, 1, 1, 1, 1, 1",
    }
}

/// A mask of GPUs that has to name all of them.
const fn gpu_mask(
    exists: fn(&GlInner) -> bool,
    read: unsafe fn(&GlInner) -> Words,
    what: &'static str,
) -> Loaded {
    Loaded {
        exists,
        read,
        harmless: &[&[0]],
        set: None,
        what,
        why: "the other GPUs would keep old values; name all GPUs",
    }
}

/// The GPUs that a mask leaves out. Drivers of a single GPU name the extension and have no mask.
unsafe fn missing_gpus(gl: &GlInner, query: u32) -> Words {
    // SAFETY: the caller's.
    let count = unsafe { word(gl, MULTICAST_GPUS_NV) };
    if count < 2 {
        return Words::from_iter([0]);
    }
    // SAFETY: the caller's.
    let mask = unsafe { word(gl, query) };
    let all = 1u32.checked_shl(count).unwrap_or(0).wrapping_sub(1);
    Words::from_iter([all & !mask])
}

/// Pixel local storage under way: its contents end with any other framebuffer.
const fn local_storage(
    exists: fn(&GlInner) -> bool,
    read: unsafe fn(&GlInner) -> Words,
    what: &'static str,
) -> Loaded {
    Loaded { exists, read, harmless: &[&[0]], set: None, what, why: "its contents would be lost; end it" }
}

static LOADED: &[Loaded] = &[
    clip_control(
        |gl| desktop(gl) && (since(gl, (4, 5), (9, 9)) || extension(gl, "GL_ARB_clip_control")),
        &setters::CLIP_CONTROL,
    ),
    clip_control(|gl| extension(gl, "GL_EXT_clip_control"), &setters::CLIP_CONTROL_EXT),
    Loaded {
        exists: desktop,
        // SAFETY: the caller's; the value exists.
        read: |gl| unsafe { [CLAMP_READ_COLOR, word(gl, CLAMP_READ_COLOR)].into_iter().collect() },
        harmless: &[&[CLAMP_READ_COLOR, FIXED_ONLY], &[CLAMP_READ_COLOR, 0]],
        set: Some(&setters::CLAMP_COLOR),
        what: "the application's GL_CLAMP_READ_COLOR set to GL_TRUE",
        why: "it would clamp every value read back to 0..1; set it to GL_FIXED_ONLY",
    },
    polygon_mode(
        |gl| extension(gl, "GL_WEBGL_polygon_mode"),
        None,
        "the application's polygonModeWEBGL in place",
    ),
    polygon_mode(
        |gl| !desktop(gl) && extension(gl, "GL_NV_polygon_mode"),
        Some(&setters::POLYGON_MODE_NV),
        "the application's glPolygonModeNV in place",
    ),
    polygon_mode(
        |gl| extension(gl, "GL_ANGLE_polygon_mode") && !extension(gl, "GL_NV_polygon_mode"),
        Some(&setters::POLYGON_MODE_ANGLE),
        "the application's glPolygonModeANGLE in place",
    ),
    Loaded {
        exists: |gl| extension(gl, "GL_EXT_window_rectangles"),
        read: |gl| {
            // SAFETY: the caller's; both values exist.
            let [mode, count] =
                unsafe { [WINDOW_RECTANGLE_MODE, NUM_WINDOW_RECTANGLES].map(|q| word(gl, q)) };
            let mut words = Words::from_iter([mode, count]);
            for i in 0..count {
                // SAFETY: the caller's; there are so many.
                words.extend(unsafe { setters::four_at(gl, WINDOW_RECTANGLE, i) }.into_iter().flatten());
            }
            words
        },
        harmless: &[&[EXCLUSIVE, 0]],
        set: Some(&setters::WINDOW_RECTANGLES),
        what: "the application's glWindowRectanglesEXT in place",
        why: "they cut away parts of what is drawn to textures; set GL_EXCLUSIVE_EXT and none",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_QCOM_shading_rate"),
        // SAFETY: the caller's; the value exists.
        read: |gl| unsafe { Words::from_iter([word(gl, SHADING_RATE_QCOM)]) },
        harmless: &[&[SHADING_RATE_1X1_QCOM]],
        set: Some(&setters::SHADING_RATE_QCOM),
        what: "the application's glShadingRateQCOM in place",
        why: "several texels would share one value; set GL_SHADING_RATE_1X1_PIXELS_QCOM",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_EXT_fragment_shading_rate"),
        // SAFETY: the caller's; the value exists.
        read: |gl| unsafe { Words::from_iter([word(gl, SHADING_RATE_EXT)]) },
        harmless: &[&[SHADING_RATE_1X1_EXT]],
        set: Some(&setters::SHADING_RATE_EXT),
        what: "the application's glShadingRateEXT in place",
        why: "several texels would share one value; set GL_SHADING_RATE_1X1_PIXELS_EXT",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_NV_viewport_swizzle"),
        // SAFETY: the caller's; the values exist for each viewport, and texla draws to the first.
        read: |gl| unsafe {
            (0..4).map(|i| gl.raw.get_parameter_indexed_i32(VIEWPORT_SWIZZLE_X_NV + i, 0) as u32).collect()
        },
        harmless: &[&[POSITIVE_X_NV, POSITIVE_X_NV + 2, POSITIVE_X_NV + 4, POSITIVE_X_NV + 6]],
        set: Some(&setters::VIEWPORT_SWIZZLE_NV),
        what: "the application's glViewportSwizzleNV in place",
        why: "coordinates would be exchanged; set the positive ones for the first viewport",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_NV_conservative_raster"),
        // SAFETY: the caller's; both values exist.
        read: |gl| unsafe { (0..2).map(|i| word(gl, SUBPIXEL_PRECISION_BIAS_X_BITS_NV + i)).collect() },
        harmless: &[&[0, 0]],
        set: Some(&setters::SUBPIXEL_PRECISION_BIAS_NV),
        what: "the application's glSubpixelPrecisionBiasNV in place",
        why: "vertices would be rounded to other positions; set 0, 0",
    },
    bounding_box(|gl| since(gl, (9, 9), (3, 2)), &setters::BOUNDING_BOX),
    bounding_box(|gl| extension(gl, "GL_ARB_ES3_2_compatibility"), &setters::BOUNDING_BOX_ARB),
    bounding_box(
        |gl| !since(gl, (0, 0), (3, 2)) && extension(gl, "GL_EXT_primitive_bounding_box"),
        &setters::BOUNDING_BOX_EXT,
    ),
    bounding_box(
        |gl| {
            !since(gl, (0, 0), (3, 2))
                && extension(gl, "GL_OES_primitive_bounding_box")
                && !extension(gl, "GL_EXT_primitive_bounding_box")
        },
        &setters::BOUNDING_BOX_OES,
    ),
    // NVIDIA's driver 580 does not say whether this is on: there the row does not exist.
    Loaded {
        exists: |gl| extension(gl, "GL_NV_uniform_buffer_unified_memory"),
        // SAFETY: the caller's; the value exists.
        read: |gl| unsafe { client_state(gl, UNIFORM_BUFFER_UNIFIED_NV) },
        harmless: &[&[UNIFORM_BUFFER_UNIFIED_NV, 0]],
        set: Some(&setters::CLIENT_STATE),
        what: "the application's GL_UNIFORM_BUFFER_UNIFIED_NV enabled",
        why: "uniform blocks would come from its addresses; disable it",
    },
    Loaded {
        exists: |gl| desktop(gl) && extension(gl, "GL_EXT_separate_shader_objects"),
        read: |gl| {
            // SAFETY: the caller's; the values exist.
            let [program, stages @ ..] = unsafe {
                [glow::CURRENT_PROGRAM, glow::VERTEX_SHADER, glow::FRAGMENT_SHADER].map(|q| word(gl, q))
            };
            let apart = stages.iter().any(|stage| *stage != 0 && *stage != program);
            Words::from_iter([u32::from(apart)])
        },
        harmless: &[&[0]],
        set: None,
        what: "programs of the application's in use by glUseShaderProgramEXT",
        why: "they could not be used again; use one program by glUseProgram, or none",
    },
    Loaded {
        exists: |gl| desktop(gl) && extension(gl, "GL_NV_depth_buffer_float"),
        read: |gl| {
            let mut range = [0.0; 2];
            // SAFETY: the caller's; the value exists.
            unsafe { gl.raw.get_parameter_f32_slice(glow::DEPTH_RANGE, &mut range) };
            let outside = range.iter().any(|end| !(0.0..=1.0).contains(end));
            Words::from_iter([u32::from(outside)])
        },
        harmless: &[&[0]],
        set: None,
        what: "the application's glDepthRangedNV in place, outside 0..1",
        why: "it would come back clamped; set 0, 1",
    },
    gpu_mask(
        |gl| extension(gl, "GL_NV_gpu_multicast"),
        // SAFETY: the caller's; the value exists.
        |gl| unsafe { missing_gpus(gl, RENDER_GPU_MASK_NV) },
        "the application's glRenderGpuMaskNV in place",
    ),
    gpu_mask(
        |gl| extension(gl, "GL_NVX_gpu_multicast2"),
        // SAFETY: as above.
        |gl| unsafe { missing_gpus(gl, UPLOAD_GPU_MASK_NVX) },
        "the application's glUploadGpuMaskNVX in place",
    ),
    local_storage(
        |gl| extension(gl, "GL_EXT_shader_pixel_local_storage"),
        // SAFETY: as above.
        |gl| unsafe { Words::from_iter([u32::from(gl.raw.is_enabled(SHADER_PIXEL_LOCAL_STORAGE_EXT))]) },
        "the application's GL_SHADER_PIXEL_LOCAL_STORAGE_EXT enabled",
    ),
    local_storage(
        |gl| {
            extension(gl, "GL_ANGLE_shader_pixel_local_storage")
                || extension(gl, "GL_WEBGL_shader_pixel_local_storage")
        },
        // SAFETY: as above.
        |gl| unsafe { Words::from_iter([word(gl, PIXEL_LOCAL_STORAGE_ACTIVE_PLANES)]) },
        "planes of the application's active (glBeginPixelLocalStorageANGLE)",
    ),
];

/// The functions that may be asked of a loader.
pub(in crate::gl) fn functions() -> impl Iterator<Item = &'static str> {
    LOADED.iter().filter_map(|row| row.set).flat_map(|set| set.names).copied()
}

/// The rows that exist in a context.
pub(super) fn prepare(gl: &GlInner) -> Vec<Prepared> {
    let found = |set: &'static Setter| {
        let addresses: Option<_> = set.names.iter().map(|name| gl.entry.address(name)).collect();
        addresses.map(|addresses| (set, addresses))
    };
    // SAFETY: the context is current, and the driver names the extension.
    let is_answered = |row: &&Loaded| super::is_answered(gl, || _ = unsafe { (row.read)(gl) });
    let existing = LOADED.iter().filter(|row| (row.exists)(gl)).filter(is_answered);
    existing.map(|row| Prepared { row, functions: row.set.and_then(found) }).collect()
}

/// Refuses what is neither harmless nor can be set; returns what has to be put back. Changes nothing but the values that
/// it returns, and those only when it refuses none.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn take(gl: &GlInner) -> Result<Vec<Kept>> {
    let mut changes = Vec::new();
    let rows = &gl.rows().loaded;
    for (i, Prepared { row, functions }) in rows.iter().enumerate() {
        // SAFETY: the caller's.
        let found = unsafe { (row.read)(gl) };
        if row.harmless.contains(&found.as_slice()) {
            continue;
        }
        if functions.is_none() {
            let or = if row.set.is_some() && !BROWSER {
                ", or make the device by `Device::from_loader`"
            } else {
                ""
            };
            return Err(Error::Unsupported {
                what: format!("entering with {}", row.what),
                why: format!("{} around texla's calls{or}", row.why),
            });
        }
        changes.push((i, found));
    }
    for (i, _) in &changes {
        let row = rows.get(*i);
        if let Some(neutral) = row.and_then(|row| row.row.harmless.first()) {
            // SAFETY: the caller's.
            unsafe { set(gl, *i, neutral) };
        }
    }
    Ok(changes)
}

/// Puts back what [`take`] has changed.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn restore(gl: &GlInner, kept: &[Kept]) {
    for (i, found) in kept {
        // SAFETY: the caller's.
        unsafe { set(gl, *i, found) };
    }
}

unsafe fn set(gl: &GlInner, i: usize, words: &[u32]) {
    if let Some((setter, functions)) = gl.rows().loaded.get(i).and_then(|row| row.functions.as_ref()) {
        // SAFETY: the caller's; the functions are of this context, and the value is one of the row's.
        unsafe { (setter.call)(functions, words) };
    }
}
