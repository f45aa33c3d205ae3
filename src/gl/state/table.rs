//! The table of the host's state: how each value is read, what texla needs it to be, how it is written back.

use glow::HasContext;

use crate::gl::api::Api;
use crate::gl::context::GlInner;
use crate::gl::raw::{Bound, Place, Raw};
use crate::platform::BROWSER;

/// A saved value of any of the kinds in the table.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Flag(bool),
    Ints([i32; 4]),
    Floats([f32; 4]),
    Buffer(Bound),
    /// Any other object.
    Object(Bound),
}

/// One row of the table.
pub(super) struct Row {
    /// Whether this context has the value at all.
    pub exists: fn(&GlInner) -> bool,
    pub read: unsafe fn(&Raw) -> Value,
    /// Sets what texla's draws and transfers need.
    pub neutral: unsafe fn(&Raw),
    pub write: unsafe fn(&Raw, &Value),
}

fn always(_: &GlInner) -> bool {
    true
}

pub(super) fn desktop(gl: &GlInner) -> bool {
    gl.api == Api::Gl33
}

/// True from this desktop version or this ES version on; `(9, 9)` means never.
pub(super) fn since(gl: &GlInner, desktop: (u32, u32), es: (u32, u32)) -> bool {
    gl.version >= if gl.api == Api::Gl33 { desktop } else { es }
}

/// True where the driver names this extension; in a browser, where names begin after `GL_`, where it has been switched on too.
pub(super) fn extension(gl: &GlInner, name: &str) -> bool {
    gl.raw.has_extension(name)
}

/// True on OpenGL, and on OpenGL ES where the driver names one of these extensions.
fn desktop_or(gl: &GlInner, extensions: &[&str]) -> bool {
    desktop(gl) || extensions.iter().any(|name| extension(gl, name))
}

/// Whether there are planes that clip though no shader of texla's says what.
fn clips(gl: &GlInner) -> bool {
    desktop_or(
        gl,
        &[
            "GL_EXT_clip_cull_distance",
            "GL_APPLE_clip_distance",
            "GL_ANGLE_clip_cull_distance",
            "GL_WEBGL_clip_cull_distance",
        ],
    )
}

/// A capability that is switched off (or on) while texla draws.
macro_rules! switch {
    ($cap:expr, $on:expr, $exists:expr) => {
        Row {
            exists: $exists,
            read: |gl| unsafe { Value::Flag(gl.is_enabled($cap)) },
            neutral: |gl| unsafe { if $on { gl.enable($cap) } else { gl.disable($cap) } },
            write: |gl, v| unsafe {
                if *v == Value::Flag(true) { gl.enable($cap) } else { gl.disable($cap) }
            },
        }
    };
}

/// A switch of an extension's that decides which fragments there are, or what becomes of them.
macro_rules! raster_switch {
    ($cap:expr, $extension:literal) => {
        switch!($cap, false, |gl| extension(gl, $extension))
    };
}

/// An integer that a function of one argument sets, with its neutral value.
macro_rules! integer {
    ($name:expr, $set:ident($($target:expr)?), $neutral:expr, $exists:expr) => {
        Row {
            exists: $exists,
            read: |gl| unsafe { Value::Ints([gl.get_parameter_i32($name), 0, 0, 0]) },
            neutral: |gl| unsafe { gl.$set($($target,)? $neutral) },
            write: |gl, v| unsafe {
                if let Value::Ints([i, ..]) = v {
                    gl.$set($($target,)? *i as u32);
                }
            },
        }
    };
}

/// A pixel-store integer with its neutral value.
macro_rules! pixel_store {
    ($name:expr, $neutral:expr, $exists:expr) => {
        Row {
            exists: $exists,
            read: |gl| unsafe { Value::Ints([gl.get_parameter_i32($name), 0, 0, 0]) },
            neutral: |gl| unsafe { gl.pixel_store_i32($name, $neutral) },
            write: |gl, v| unsafe {
                if let Value::Ints([i, ..]) = v {
                    gl.pixel_store_i32($name, *i);
                }
            },
        }
    };
}

/// A buffer binding that is cleared while texla works.
macro_rules! buffer_binding {
    ($query:expr, $target:expr, $exists:expr) => {
        Row {
            exists: $exists,
            read: |gl| unsafe { Value::Buffer(gl.bound($query)) },
            neutral: |gl| unsafe { gl.bind_buffer($target, None) },
            write: |gl, v| unsafe {
                if let Value::Buffer(buffer) = v {
                    gl.bind(Place::Buffer($target), buffer);
                }
            },
        }
    };
}

/// The binding of another object, which is left alone or cleared while texla works.
macro_rules! object_binding {
    ($query:expr, $place:expr, $neutral:expr) => {
        Row {
            exists: always,
            read: |gl| unsafe { Value::Object(gl.bound($query)) },
            neutral: $neutral,
            write: |gl, v| unsafe {
                if let Value::Object(object) = v {
                    gl.bind($place, object);
                }
            },
        }
    };
}

/// A pixel-store flag that browsers alone have.
macro_rules! browser_store {
    ($name:expr) => {
        Row {
            exists: |_| BROWSER,
            read: |gl| unsafe { Value::Flag(gl.get_parameter_bool($name)) },
            neutral: |gl| unsafe { gl.pixel_store_bool($name, false) },
            write: |gl, v| unsafe { gl.pixel_store_bool($name, *v == Value::Flag(true)) },
        }
    };
}

const PRIMITIVE_RESTART_FIXED_INDEX: u32 = 0x8D69;
const UNPACK_FLIP_Y_WEBGL: u32 = 0x9240;
const UNPACK_PREMULTIPLY_ALPHA_WEBGL: u32 = 0x9241;
const PACK_INVERT_MESA: u32 = 0x8758;
const PACK_REVERSE_ROW_ORDER_ANGLE: u32 = 0x93A4;
const CONSERVATIVE_RASTERIZATION_NV: u32 = 0x9346;
const CONSERVATIVE_RASTERIZATION_INTEL: u32 = 0x83FE;
const RASTER_MULTISAMPLE_EXT: u32 = 0x9327;
const DEPTH_BOUNDS_TEST_EXT: u32 = 0x8890;
const FRAGMENT_COVERAGE_TO_COLOR_NV: u32 = 0x92DD;
const REPRESENTATIVE_FRAGMENT_TEST_NV: u32 = 0x937F;
const SHADING_RATE_IMAGE_PER_PRIMITIVE_NV: u32 = 0x95B1;
const DEPTH_CLAMP_NEAR_AMD: u32 = 0x901E;
const DEPTH_CLAMP_FAR_AMD: u32 = 0x901F;
const ALPHA_TEST_QCOM: u32 = 0x0BC0;
const WRITEONLY_RENDERING_QCOM: u32 = 0x8823;
const BLACKHOLE_RENDER_INTEL: u32 = 0x83FC;
const VIEWPORT_POSITION_W_SCALE_NV: u32 = 0x937C;
const COVERAGE_MODULATION_TABLE_NV: u32 = 0x9331;
const UNPACK_CLIENT_STORAGE_APPLE: u32 = 0x85B2;
const UNPACK_ROW_BYTES_APPLE: u32 = 0x8A16;
const PACK_ROW_BYTES_APPLE: u32 = 0x8A15;
const CLIP_VOLUME_CLIPPING_HINT_EXT: u32 = 0x80F0;

/// Everything texla touches and everything that changes what its draws and transfers do, in the order in which it is restored. The vertex array stands before the array buffer
/// and the framebuffers last, so that nothing written later changes an object of the host's.
pub(super) static TABLE: &[Row] = &[
    // Written together with the program, so that a transform feedback of the host's stays paused meanwhile.
    object_binding!(glow::CURRENT_PROGRAM, Place::Program, |gl| unsafe { gl.use_program(None) }),
    object_binding!(glow::VERTEX_ARRAY_BINDING, Place::VertexArray, |gl| unsafe {
        gl.bind_vertex_array(None)
    }),
    buffer_binding!(glow::ARRAY_BUFFER_BINDING, glow::ARRAY_BUFFER, always),
    buffer_binding!(glow::PIXEL_PACK_BUFFER_BINDING, glow::PIXEL_PACK_BUFFER, always),
    buffer_binding!(glow::PIXEL_UNPACK_BUFFER_BINDING, glow::PIXEL_UNPACK_BUFFER, always),
    // The answer to a query would go into it.
    buffer_binding!(glow::QUERY_BUFFER_BINDING, glow::QUERY_BUFFER, |gl| desktop(gl)
        && (since(gl, (4, 4), (9, 9)) || extension(gl, "GL_ARB_query_buffer_object"))),
    pixel_store!(glow::UNPACK_ALIGNMENT, 4, always),
    pixel_store!(glow::UNPACK_ROW_LENGTH, 0, always),
    pixel_store!(glow::UNPACK_SKIP_ROWS, 0, always),
    pixel_store!(glow::UNPACK_SKIP_PIXELS, 0, always),
    pixel_store!(glow::UNPACK_IMAGE_HEIGHT, 0, always),
    pixel_store!(glow::UNPACK_SKIP_IMAGES, 0, always),
    pixel_store!(glow::UNPACK_SWAP_BYTES, 0, desktop),
    pixel_store!(glow::PACK_ALIGNMENT, 4, always),
    pixel_store!(glow::PACK_ROW_LENGTH, 0, always),
    pixel_store!(glow::PACK_SKIP_ROWS, 0, always),
    pixel_store!(glow::PACK_SKIP_PIXELS, 0, always),
    pixel_store!(glow::PACK_SWAP_BYTES, 0, desktop),
    pixel_store!(PACK_INVERT_MESA, 0, |gl| extension(gl, "GL_MESA_pack_invert")),
    pixel_store!(PACK_REVERSE_ROW_ORDER_ANGLE, 0, |gl| extension(gl, "GL_ANGLE_pack_reverse_row_order")),
    // Textures would keep the address of the memory that they are filled from.
    pixel_store!(UNPACK_CLIENT_STORAGE_APPLE, 0, |gl| extension(gl, "GL_APPLE_client_storage")),
    pixel_store!(UNPACK_ROW_BYTES_APPLE, 0, |gl| extension(gl, "GL_APPLE_row_bytes")),
    pixel_store!(PACK_ROW_BYTES_APPLE, 0, |gl| extension(gl, "GL_APPLE_row_bytes")),
    switch!(glow::STENCIL_TEST, false, always),
    switch!(glow::CULL_FACE, false, always),
    switch!(glow::DITHER, false, always),
    switch!(glow::POLYGON_OFFSET_FILL, false, always),
    switch!(glow::RASTERIZER_DISCARD, false, always),
    switch!(glow::SAMPLE_ALPHA_TO_COVERAGE, false, always),
    switch!(glow::SAMPLE_COVERAGE, false, always),
    switch!(glow::SAMPLE_MASK, false, |gl| since(gl, (3, 2), (3, 1))),
    switch!(glow::SAMPLE_ALPHA_TO_ONE, false, |gl| {
        // By the name in its own text, and by that in the registry's list.
        desktop_or(gl, &["GL_EXT_multisample_compatibility", "GL_EXT_multisampled_compatibility"])
    }),
    switch!(glow::COLOR_LOGIC_OP, false, |gl| desktop_or(gl, &["GL_ANGLE_logic_op"])),
    switch!(glow::DEPTH_CLAMP, false, |gl| desktop_or(gl, &["GL_EXT_depth_clamp"])),
    // After that of both planes, which sets these.
    raster_switch!(DEPTH_CLAMP_NEAR_AMD, "GL_AMD_depth_clamp_separate"),
    raster_switch!(DEPTH_CLAMP_FAR_AMD, "GL_AMD_depth_clamp_separate"),
    switch!(glow::FRAMEBUFFER_SRGB, false, desktop),
    switch!(glow::LINE_SMOOTH, false, desktop),
    switch!(glow::POLYGON_SMOOTH, false, desktop),
    switch!(glow::PRIMITIVE_RESTART, false, desktop),
    // Always on in a browser, which has no name for it.
    switch!(PRIMITIVE_RESTART_FIXED_INDEX, false, |gl| !BROWSER && since(gl, (4, 3), (3, 0))),
    browser_store!(UNPACK_FLIP_Y_WEBGL),
    browser_store!(UNPACK_PREMULTIPLY_ALPHA_WEBGL),
    switch!(glow::PROGRAM_POINT_SIZE, true, desktop),
    switch!(glow::CLIP_DISTANCE0, false, clips),
    switch!(glow::CLIP_DISTANCE1, false, clips),
    switch!(glow::CLIP_DISTANCE2, false, clips),
    switch!(glow::CLIP_DISTANCE3, false, clips),
    switch!(glow::CLIP_DISTANCE4, false, clips),
    switch!(glow::CLIP_DISTANCE5, false, clips),
    switch!(glow::CLIP_DISTANCE6, false, clips),
    switch!(glow::CLIP_DISTANCE7, false, clips),
    raster_switch!(CONSERVATIVE_RASTERIZATION_NV, "GL_NV_conservative_raster"),
    raster_switch!(CONSERVATIVE_RASTERIZATION_INTEL, "GL_INTEL_conservative_rasterization"),
    raster_switch!(RASTER_MULTISAMPLE_EXT, "GL_EXT_raster_multisample"),
    raster_switch!(DEPTH_BOUNDS_TEST_EXT, "GL_EXT_depth_bounds_test"),
    raster_switch!(FRAGMENT_COVERAGE_TO_COLOR_NV, "GL_NV_fragment_coverage_to_color"),
    raster_switch!(REPRESENTATIVE_FRAGMENT_TEST_NV, "GL_NV_representative_fragment_test"),
    raster_switch!(SHADING_RATE_IMAGE_PER_PRIMITIVE_NV, "GL_NV_primitive_shading_rate"),
    raster_switch!(ALPHA_TEST_QCOM, "GL_QCOM_alpha_test"),
    raster_switch!(WRITEONLY_RENDERING_QCOM, "GL_QCOM_writeonly_rendering"),
    raster_switch!(BLACKHOLE_RENDER_INTEL, "GL_INTEL_blackhole_render"),
    raster_switch!(VIEWPORT_POSITION_W_SCALE_NV, "GL_NV_clip_space_w_scaling"),
    raster_switch!(COVERAGE_MODULATION_TABLE_NV, "GL_NV_framebuffer_mixed_samples"),
    // By which an application may promise that nothing has to be clipped.
    integer!(CLIP_VOLUME_CLIPPING_HINT_EXT, hint(CLIP_VOLUME_CLIPPING_HINT_EXT), glow::DONT_CARE, |gl| {
        extension(gl, "GL_EXT_clip_volume_hint")
    }),
    // What `gl_FrontFacing` says to a kernel.
    integer!(glow::FRONT_FACE, front_face(), glow::CCW, always),
    switch!(glow::DEPTH_TEST, false, always),
    integer!(glow::DEPTH_FUNC, depth_func(), glow::LESS, always),
    // Which derivatives a shader gets is up to it on some drivers (i965 of Mesa): products are summed by those of the quad.
    integer!(
        glow::FRAGMENT_SHADER_DERIVATIVE_HINT,
        hint(glow::FRAGMENT_SHADER_DERIVATIVE_HINT),
        glow::NICEST,
        always
    ),
    Row {
        exists: always,
        read: |gl| unsafe { Value::Flag(gl.get_parameter_bool(glow::DEPTH_WRITEMASK)) },
        neutral: |gl| unsafe { gl.depth_mask(false) },
        write: |gl, v| unsafe { gl.depth_mask(*v == Value::Flag(true)) },
    },
    Row {
        exists: always,
        read: |gl| unsafe { Value::Floats([gl.get_parameter_f32(glow::LINE_WIDTH), 0.0, 0.0, 0.0]) },
        neutral: |gl| unsafe { gl.line_width(1.0) },
        write: |gl, v| unsafe {
            if let Value::Floats([w, ..]) = v {
                gl.line_width(*w);
            }
        },
    },
    Row {
        exists: desktop,
        read: |gl| unsafe {
            let mut v = [0; 4];
            gl.get_parameter_i32_slice(glow::POLYGON_MODE, &mut v);
            Value::Ints(v)
        },
        neutral: |gl| unsafe { gl.polygon_mode(glow::FRONT_AND_BACK, glow::FILL) },
        write: |gl, v| unsafe {
            if let Value::Ints([mode, ..]) = v {
                gl.polygon_mode(glow::FRONT_AND_BACK, *mode as u32);
            }
        },
    },
    // The framebuffers: both bindings, whatever is bound (0 is not the default framebuffer everywhere).
    object_binding!(glow::DRAW_FRAMEBUFFER_BINDING, Place::Framebuffer(glow::DRAW_FRAMEBUFFER), |_| {}),
    object_binding!(glow::READ_FRAMEBUFFER_BINDING, Place::Framebuffer(glow::READ_FRAMEBUFFER), |_| {}),
];
