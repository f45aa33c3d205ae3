//! An application that leaves every value of the GL state other than the library would like it.
#![allow(unsafe_code)]
#![allow(unused_unsafe)] // in the rows that call no unsafe function

use std::sync::Arc;

use glow::HasContext;

use super::egl::{Extra, function};
use super::state::{
    Kind, Object, Snapshot, clip_control, feedback_can_pause, has, several_viewports, since, snapshot_with,
};

/// Switches of extensions, by the extension's name.
const EXTENDED: [(&str, u32); 12] = [
    ("GL_NV_conservative_raster", 0x9346),
    ("GL_INTEL_conservative_rasterization", 0x83FE),
    ("GL_EXT_raster_multisample", 0x9327),
    ("GL_EXT_depth_bounds_test", 0x8890),
    ("GL_NV_fragment_coverage_to_color", 0x92DD),
    ("GL_NV_representative_fragment_test", 0x937F),
    ("GL_NV_shading_rate_image", 0x9563),
    ("GL_NV_scissor_exclusive", 0x9555),
    ("GL_NV_primitive_shading_rate", 0x95B1),
    ("GL_NV_clip_space_w_scaling", 0x937C),
    ("GL_NV_framebuffer_mixed_samples", 0x9331),
    ("GL_INTEL_blackhole_render", 0x83FC),
];

/// The application and its objects.
pub struct Host {
    pub gl: Arc<glow::Context>,
    pub extra: Extra,
    textures: Vec<glow::NativeTexture>,
    samplers: Vec<glow::NativeSampler>,
    buffers: Vec<glow::NativeBuffer>,
    array: glow::NativeVertexArray,
    framebuffer: glow::NativeFramebuffer,
    program: glow::NativeProgram,
    feedback: Option<glow::NativeTransformFeedback>,
}

const UNITS: usize = 16;
const PACK_INVERT: u32 = 0x8758;
const PACK_REVERSE_ROW_ORDER: u32 = 0x93A4;

impl Host {
    /// Makes the application's objects in the current context, and leaves the state as it was.
    pub fn new(gl: Arc<glow::Context>) -> Self {
        // SAFETY: the caller has made the context current.
        unsafe {
            let textures: Vec<_> = (0..UNITS).map(|_| gl.create_texture().unwrap()).collect();
            for texture in &textures {
                gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
                let (format, kind) = (glow::RGBA, glow::UNSIGNED_BYTE);
                let data = glow::PixelUnpackData::Slice(None);
                gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, 4, 4, 0, format, kind, data);
            }
            gl.bind_texture(glow::TEXTURE_2D, None);
            let samplers: Vec<_> = (0..UNITS).map(|_| gl.create_sampler().unwrap()).collect();
            for sampler in &samplers {
                for (name, value) in [
                    (glow::TEXTURE_MIN_FILTER, glow::LINEAR_MIPMAP_LINEAR),
                    (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
                    (glow::TEXTURE_WRAP_S, glow::REPEAT),
                    (glow::TEXTURE_WRAP_T, glow::MIRRORED_REPEAT),
                ] {
                    gl.sampler_parameter_i32(*sampler, name, value as i32);
                }
            }
            let buffers: Vec<_> = (0..8).map(|_| gl.create_buffer().unwrap()).collect();
            for buffer in &buffers {
                gl.bind_buffer(glow::ARRAY_BUFFER, Some(*buffer));
                gl.buffer_data_size(glow::ARRAY_BUFFER, 1 << 16, glow::DYNAMIC_DRAW);
            }
            let array = gl.create_vertex_array().unwrap();
            gl.bind_vertex_array(Some(array));
            for i in 0..3 {
                gl.enable_vertex_attrib_array(i);
                gl.vertex_attrib_pointer_f32(i, 3, glow::FLOAT, false, 20, 4);
            }
            gl.bind_buffer(glow::ELEMENT_ARRAY_BUFFER, Some(buffers[1]));
            gl.bind_vertex_array(None);
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            for (i, texture) in textures.iter().take(2).enumerate() {
                let (at, kind) = (glow::COLOR_ATTACHMENT0 + i as u32, glow::TEXTURE_2D);
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, kind, Some(*texture), 0);
            }
            gl.draw_buffers(&[glow::NONE, glow::COLOR_ATTACHMENT1]);
            gl.read_buffer(glow::COLOR_ATTACHMENT1);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            // Some drivers say at first of a mask only what stencil buffers have of it.
            gl.stencil_func(glow::ALWAYS, 0, u32::MAX);
            gl.stencil_mask(u32::MAX);
            let program = program(&gl);
            let feedback = feedback_can_pause(&gl).then(|| gl.create_transform_feedback().unwrap());
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            let extra = Extra::load();
            Host { gl, extra, textures, samplers, buffers, array, framebuffer, program, feedback }
        }
    }

    /// Everything that the context answers, of the application's objects too.
    pub fn snapshot(&self) -> Snapshot {
        let mut objects: Vec<Object> = vec![
            (Kind::VertexArray, self.array.0.get()),
            (Kind::Framebuffer, self.framebuffer.0.get()),
            (Kind::Program, self.program.0.get()),
        ];
        objects.extend(self.textures.iter().map(|t| (Kind::Texture, t.0.get())));
        objects.extend(self.samplers.iter().map(|s| (Kind::Sampler, s.0.get())));
        objects.extend(self.buffers.iter().map(|b| (Kind::Buffer, b.0.get())));
        snapshot_with(&objects)
    }

    /// Sets every hostile value that exists here, all together.
    pub fn set_all(&self) {
        HOSTILE.iter().filter(|h| h.exists(self)).for_each(|h| h.set(self));
    }

    /// Puts all of them back.
    pub fn unset_all(&self) {
        HOSTILE.iter().rev().filter(|h| h.exists(self)).for_each(|h| h.unset(self));
    }

    /// Captures vertices from here on: the program cannot be changed.
    pub fn begin_feedback(&self) {
        // SAFETY: the context is current.
        unsafe {
            self.gl.use_program(Some(self.program));
            self.gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(self.buffers[7]));
            self.gl.begin_transform_feedback(glow::TRIANGLES);
        }
    }

    /// Captures no more.
    pub fn end_feedback(&self) {
        // SAFETY: as above.
        unsafe {
            self.gl.end_transform_feedback();
            self.gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, None);
            self.gl.use_program(None);
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, and nothing of this is in use any more.
        unsafe {
            self.textures.iter().for_each(|t| gl.delete_texture(*t));
            self.samplers.iter().for_each(|s| gl.delete_sampler(*s));
            self.buffers.iter().for_each(|b| gl.delete_buffer(*b));
            gl.delete_vertex_array(self.array);
            gl.delete_framebuffer(self.framebuffer);
            gl.delete_program(self.program);
            self.feedback.iter().for_each(|f| gl.delete_transform_feedback(*f));
        }
    }
}

/// A program of the application's, which knows nothing of texla; some outputs of its vertex stage may be captured.
///
/// # Safety
/// The context is current.
pub unsafe fn hosts_program(
    gl: &glow::Context,
    vertex: &str,
    fragment: &str,
    captured: &[&str],
) -> glow::NativeProgram {
    let header = match gl.version().is_embedded {
        true => "#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n",
        false => "#version 330 core\n",
    };
    // SAFETY: the caller's.
    unsafe {
        let program = gl.create_program().unwrap();
        for (kind, body) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).unwrap();
            gl.shader_source(shader, &format!("{header}{body}"));
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        if !captured.is_empty() {
            gl.transform_feedback_varyings(program, captured, glow::INTERLEAVED_ATTRIBS);
        }
        gl.link_program(program);
        assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
        program
    }
}

/// A program whose vertex stage can be captured.
unsafe fn program(gl: &glow::Context) -> glow::NativeProgram {
    let vertex = "out vec4 caught; void main() { caught = vec4(1.0); gl_Position = vec4(0.0); }";
    // SAFETY: the caller's.
    unsafe { hosts_program(gl, vertex, "out vec4 colour; void main() { colour = vec4(0.5); }", &["caught"]) }
}

/// One hostile value: where it exists, how it is set and how it is put back to the default.
pub struct Hostile {
    pub name: &'static str,
    /// Only with a loader at hand can a guest put this back; without it refuses, or cannot know.
    pub needs_loader: bool,
    exists: fn(&glow::Context) -> bool,
    on: unsafe fn(&Host),
    off: unsafe fn(&Host),
}

impl Hostile {
    pub fn exists(&self, host: &Host) -> bool {
        (self.exists)(&host.gl)
    }

    pub fn set(&self, host: &Host) {
        // SAFETY: the host's context is current.
        unsafe {
            (self.on)(host);
            assert_eq!(host.gl.get_error(), glow::NO_ERROR, "setting {}", self.name);
        }
    }

    pub fn unset(&self, host: &Host) {
        // SAFETY: as above.
        unsafe {
            (self.off)(host);
            assert_eq!(host.gl.get_error(), glow::NO_ERROR, "unsetting {}", self.name);
        }
    }
}

fn always(_: &glow::Context) -> bool {
    true
}

fn desktop(gl: &glow::Context) -> bool {
    !gl.version().is_embedded
}

macro_rules! hostile {
    ($name:expr, $exists:expr, $on:expr, $off:expr) => {
        Hostile {
            name: $name,
            needs_loader: false,
            exists: $exists,
            on: |h| unsafe { $on(h) },
            off: |h| unsafe { $off(h) },
        }
    };
}

/// What takes a function that glow does not offer.
const fn with_loader(hostile: Hostile) -> Hostile {
    Hostile { needs_loader: true, ..hostile }
}

macro_rules! clip_control {
    ($name:literal, $origin:expr, $depth:expr) => {
        with_loader(hostile!(
            $name,
            clip_control,
            |h: &Host| h.extra.clip_control($origin, $depth),
            |h: &Host| h.extra.clip_control(LOWER_LEFT, NEGATIVE_ONE_TO_ONE)
        ))
    };
}

const LOWER_LEFT: u32 = 0x8CA1;
const UPPER_LEFT: u32 = 0x8CA2;
const NEGATIVE_ONE_TO_ONE: u32 = 0x935E;
const ZERO_TO_ONE: u32 = 0x935F;
const CLAMP_READ_COLOR: u32 = 0x891C;
const FIXED_ONLY: u32 = 0x891D;
const MULTIPLY: u32 = 0x9294;
const COLORBURN: u32 = 0x929A;

fn second_source(gl: &glow::Context) -> bool {
    desktop(gl) || has(gl, "GL_EXT_blend_func_extended")
}

/// The factors of a text renderer with one coverage a subpixel.
unsafe fn blend_by_second_source(gl: &glow::Context) {
    let (one, other) = (glow::SRC1_COLOR, glow::ONE_MINUS_SRC1_COLOR);
    // SAFETY: the caller's.
    unsafe { gl.blend_func_separate(one, other, glow::SRC1_ALPHA, glow::ONE_MINUS_SRC1_ALPHA) };
}

macro_rules! enabled {
    ($name:literal, $cap:expr, $exists:expr) => {
        hostile!($name, $exists, |h: &Host| h.gl.enable($cap), |h: &Host| h.gl.disable($cap))
    };
}

/// The switch of an extension.
macro_rules! extended {
    ($i:literal) => {
        hostile!(
            EXTENDED[$i].0,
            |gl| has(gl, EXTENDED[$i].0),
            |h: &Host| h.gl.enable(EXTENDED[$i].1),
            |h: &Host| h.gl.disable(EXTENDED[$i].1)
        )
    };
}

macro_rules! stored {
    ($name:literal, $store:expr, $value:expr, $default:expr, $exists:expr) => {
        hostile!($name, $exists, |h: &Host| h.gl.pixel_store_i32($store, $value), |h: &Host| h
            .gl
            .pixel_store_i32($store, $default))
    };
}

macro_rules! bound {
    ($name:literal, $target:expr, $buffer:literal) => {
        bound!($name, $target, $buffer, always)
    };
    ($name:literal, $target:expr, $buffer:literal, $exists:expr) => {
        hostile!(
            $name,
            $exists,
            |h: &Host| h.gl.bind_buffer($target, Some(h.buffers[$buffer])),
            |h: &Host| h.gl.bind_buffer($target, None)
        )
    };
}

fn indexed_blend(gl: &glow::Context) -> bool {
    since(gl, (4, 0), (3, 2))
}

/// All of them, in an order in which they can be set together. A captured draw is the last, since a program cannot be
/// changed after it.
pub const HOSTILE: &[Hostile] = &[
    hostile!(
        "scissor of one pixel",
        always,
        |h: &Host| {
            h.gl.enable(glow::SCISSOR_TEST);
            h.gl.scissor(0, 0, 1, 1);
        },
        |h: &Host| {
            h.gl.disable(glow::SCISSOR_TEST);
            h.gl.scissor(0, 0, 0, 0);
        }
    ),
    with_loader(hostile!(
        "scissor of the third viewport of OpenGL ES alone",
        |gl| several_viewports(gl) && gl.version().is_embedded,
        |h: &Host| {
            h.gl.enable_draw_buffer(glow::SCISSOR_TEST, 2);
            h.extra.scissor_indexed(2, [3, 4, 5, 6]);
        },
        |h: &Host| {
            h.gl.disable_draw_buffer(glow::SCISSOR_TEST, 2);
            h.extra.scissor_indexed(2, [0; 4]);
        }
    )),
    hostile!(
        "scissor of the third viewport alone",
        |gl| several_viewports(gl) && !gl.version().is_embedded,
        |h: &Host| {
            h.gl.enable_draw_buffer(glow::SCISSOR_TEST, 2);
            h.extra.scissor_indexed(2, [3, 4, 5, 6]);
        },
        |h: &Host| {
            h.gl.disable_draw_buffer(glow::SCISSOR_TEST, 2);
            h.extra.scissor_indexed(2, [0; 4]);
        }
    ),
    extended!(0),
    extended!(1),
    extended!(2),
    extended!(3),
    extended!(4),
    extended!(5),
    extended!(6),
    extended!(7),
    extended!(8),
    extended!(9),
    extended!(10),
    extended!(11),
    with_loader(hostile!(
        "window rectangles",
        |gl| has(gl, "GL_EXT_window_rectangles"),
        |_: &Host| {
            let boxes = [1, 2, 3, 4, 5, 6, 7, 8];
            function::<unsafe extern "system" fn(u32, i32, *const i32)>("glWindowRectanglesEXT")(
                0x8F10,
                2,
                boxes.as_ptr(),
            );
        },
        |_: &Host| function::<unsafe extern "system" fn(u32, i32, *const i32)>("glWindowRectanglesEXT")(
            0x8F11,
            0,
            std::ptr::null()
        )
    )),
    with_loader(hostile!(
        "viewport swizzle of the first and the third viewport",
        |gl| has(gl, "GL_NV_viewport_swizzle"),
        |_: &Host| {
            let swizzle =
                function::<unsafe extern "system" fn(u32, u32, u32, u32, u32)>("glViewportSwizzleNV");
            swizzle(0, 0x9352, 0x9351, 0x9355, 0x9356);
            swizzle(2, 0x9354, 0x9354, 0x9354, 0x9356);
        },
        |_: &Host| {
            let swizzle =
                function::<unsafe extern "system" fn(u32, u32, u32, u32, u32)>("glViewportSwizzleNV");
            swizzle(0, 0x9350, 0x9352, 0x9354, 0x9356);
            swizzle(2, 0x9350, 0x9352, 0x9354, 0x9356);
        }
    )),
    with_loader(hostile!(
        "bits by which vertices are rounded",
        |gl| has(gl, "GL_NV_conservative_raster"),
        |_: &Host| function::<unsafe extern "system" fn(u32, u32)>("glSubpixelPrecisionBiasNV")(1, 2),
        |_: &Host| function::<unsafe extern "system" fn(u32, u32)>("glSubpixelPrecisionBiasNV")(0, 0)
    )),
    with_loader(hostile!(
        "vertices from addresses",
        |gl| has(gl, "GL_NV_vertex_buffer_unified_memory"),
        |_: &Host| function::<unsafe extern "system" fn(u32)>("glEnableClientState")(0x8F1E),
        |_: &Host| function::<unsafe extern "system" fn(u32)>("glDisableClientState")(0x8F1E)
    )),
    with_loader(hostile!(
        "uniform blocks from addresses",
        // Only where the driver says whether it is on; else nobody can restore it.
        // SAFETY: the context is current.
        |gl| has(gl, "GL_NV_uniform_buffer_unified_memory")
            && unsafe {
                gl.is_enabled(0x936E);
                gl.get_error() == glow::NO_ERROR
            },
        |_: &Host| function::<unsafe extern "system" fn(u32)>("glEnableClientState")(0x936E),
        |_: &Host| function::<unsafe extern "system" fn(u32)>("glDisableClientState")(0x936E)
    )),
    hostile!("nothing in the viewport", always, |h: &Host| h.gl.viewport(7, 9, 0, 0), |h: &Host| h
        .gl
        .viewport(0, 0, 0, 0)),
    hostile!(
        "several viewports at fractions",
        |gl| several_viewports(gl) && !gl.version().is_embedded,
        |h: &Host| {
            // Not a constant: Mesa clamps the caller's array in place.
            let viewports = std::hint::black_box([[0.5, 1.25, 3.75, 2.5], [10.5, 11.5, 12.5, 13.5]]);
            h.gl.viewport_f32_slice(0, 2, &viewports);
        },
        |h: &Host| h.gl.viewport(0, 0, 0, 0)
    ),
    hostile!("depth range reversed", always, |h: &Host| depth_range(&h.gl, 1.0, 0.0), |h: &Host| {
        depth_range(&h.gl, 0.0, 1.0)
    }),
    with_loader(hostile!(
        "several viewports of OpenGL ES at fractions",
        |gl| several_viewports(gl) && gl.version().is_embedded,
        |h: &Host| h.extra.set_viewports(&mut [[0.5, 1.25, 3.75, 2.5], [1.0, 2.0, 30.0, 40.5]]),
        |h: &Host| h.gl.viewport(0, 0, 0, 0)
    )),
    with_loader(hostile!(
        "depth ranges of OpenGL ES that differ",
        |gl| several_viewports(gl) && gl.version().is_embedded,
        |h: &Host| h.extra.set_depth_ranges(&mut [[0.9, 0.1], [0.25, 0.75]]),
        |h: &Host| depth_range(&h.gl, 0.0, 1.0)
    )),
    hostile!(
        "depth ranges that differ",
        |gl| several_viewports(gl) && !gl.version().is_embedded,
        |h: &Host| h.gl.depth_range_f64_slice(0, 3, &[[0.875, 0.125], [0.2, 0.3], [0.4, 0.5]]),
        |h: &Host| depth_range(&h.gl, 0.0, 1.0)
    ),
    // glow reads 32 bits of it.
    with_loader(hostile!(
        "a depth range of 64 bits",
        |gl| several_viewports(gl) && !gl.version().is_embedded,
        |h: &Host| h.gl.depth_range_f64_slice(0, 1, &[[0.9, 0.1]]),
        |h: &Host| depth_range(&h.gl, 0.0, 1.0)
    )),
    hostile!(
        "colour mask off",
        always,
        |h: &Host| h.gl.color_mask(false, false, false, false),
        |h: &Host| h.gl.color_mask(true, true, true, true)
    ),
    with_loader(hostile!(
        "colour masks of each draw buffer",
        |gl| since(gl, (3, 0), (3, 2)),
        |h: &Host| (0..8).for_each(|i| h.gl.color_mask_draw_buffer(
            i,
            i & 1 == 1,
            i & 2 == 2,
            i & 4 == 4,
            i == 3
        )),
        |h: &Host| h.gl.color_mask(true, true, true, true)
    )),
    clip_control!("clip space from the upper left", UPPER_LEFT, NEGATIVE_ONE_TO_ONE),
    clip_control!("clip space of 0 to 1", LOWER_LEFT, ZERO_TO_ONE),
    clip_control!("clip space of 0 to 1 from the upper left", UPPER_LEFT, ZERO_TO_ONE),
    with_loader(hostile!(
        "clamped readbacks",
        desktop,
        |h: &Host| h.extra.clamp_color(CLAMP_READ_COLOR, 1),
        |h: &Host| h.extra.clamp_color(CLAMP_READ_COLOR, FIXED_ONLY)
    )),
    hostile!(
        "factors of a second source, not blending",
        second_source,
        |h: &Host| blend_by_second_source(&h.gl),
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "blending by a second source",
        second_source,
        |h: &Host| {
            h.gl.enable(glow::BLEND);
            blend_by_second_source(&h.gl);
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "factors of a second source for some draw buffers",
        |gl| second_source(gl) && indexed_blend(gl),
        |h: &Host| {
            h.gl.blend_func_draw_buffer(1, glow::SRC1_COLOR, glow::ONE_MINUS_SRC1_COLOR);
            h.gl.blend_func_draw_buffer(3, glow::ONE, glow::SRC1_ALPHA);
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "an advanced blend equation",
        |gl| has(gl, "GL_KHR_blend_equation_advanced"),
        |h: &Host| {
            h.gl.enable(glow::BLEND);
            h.gl.blend_equation(MULTIPLY);
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "an advanced blend equation, not blending",
        |gl| has(gl, "GL_KHR_blend_equation_advanced"),
        |h: &Host| h.gl.blend_equation(COLORBURN),
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "an advanced blend equation for one draw buffer",
        |gl| has(gl, "GL_KHR_blend_equation_advanced") && indexed_blend(gl),
        |h: &Host| {
            h.gl.blend_equation(glow::FUNC_SUBTRACT);
            h.gl.blend_equation_draw_buffer(0, MULTIPLY);
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "blending",
        always,
        |h: &Host| {
            h.gl.enable(glow::BLEND);
            h.gl.blend_color(0.1, 0.2, 0.3, 0.4);
            h.gl.blend_func_separate(
                glow::DST_COLOR,
                glow::ZERO,
                glow::CONSTANT_ALPHA,
                glow::SRC_ALPHA_SATURATE,
            );
            h.gl.blend_equation_separate(glow::FUNC_REVERSE_SUBTRACT, glow::MIN);
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "blending of each draw buffer",
        indexed_blend,
        |h: &Host| {
            for i in 0..8 {
                if i % 3 != 0 {
                    h.gl.enable_draw_buffer(glow::BLEND, i);
                } else {
                    h.gl.disable_draw_buffer(glow::BLEND, i);
                }
                h.gl.blend_func_draw_buffer(
                    i,
                    [glow::ZERO, glow::DST_COLOR][i as usize % 2],
                    glow::SRC_COLOR,
                );
                h.gl.blend_equation_draw_buffer(
                    i,
                    [glow::FUNC_SUBTRACT, glow::MAX, glow::MIN][i as usize % 3],
                );
            }
        },
        |h: &Host| unblend(&h.gl)
    ),
    hostile!(
        "depth test",
        always,
        |h: &Host| {
            h.gl.enable(glow::DEPTH_TEST);
            h.gl.depth_func(glow::NEVER);
            h.gl.depth_mask(false);
        },
        |h: &Host| {
            h.gl.disable(glow::DEPTH_TEST);
            h.gl.depth_func(glow::LESS);
            h.gl.depth_mask(true);
        }
    ),
    hostile!(
        "stencil test",
        always,
        |h: &Host| {
            h.gl.enable(glow::STENCIL_TEST);
            h.gl.stencil_func(glow::NEVER, 3, 5);
            h.gl.stencil_op(glow::INVERT, glow::INCR, glow::DECR);
            h.gl.stencil_mask(6);
        },
        |h: &Host| {
            h.gl.disable(glow::STENCIL_TEST);
            h.gl.stencil_func(glow::ALWAYS, 0, u32::MAX);
            h.gl.stencil_op(glow::KEEP, glow::KEEP, glow::KEEP);
            h.gl.stencil_mask(u32::MAX);
        }
    ),
    hostile!(
        "cull front and back",
        always,
        |h: &Host| {
            h.gl.enable(glow::CULL_FACE);
            h.gl.cull_face(glow::FRONT_AND_BACK);
            h.gl.front_face(glow::CW);
        },
        |h: &Host| {
            h.gl.disable(glow::CULL_FACE);
            h.gl.cull_face(glow::BACK);
            h.gl.front_face(glow::CCW);
        }
    ),
    hostile!(
        "polygon mode line",
        desktop,
        |h: &Host| h.gl.polygon_mode(glow::FRONT_AND_BACK, glow::LINE),
        |h: &Host| h.gl.polygon_mode(glow::FRONT_AND_BACK, glow::FILL)
    ),
    hostile!(
        "polygon offset",
        always,
        |h: &Host| {
            h.gl.enable(glow::POLYGON_OFFSET_FILL);
            h.gl.polygon_offset(4.0, 1e6);
        },
        |h: &Host| {
            h.gl.disable(glow::POLYGON_OFFSET_FILL);
            h.gl.polygon_offset(0.0, 0.0);
        }
    ),
    enabled!("polygon offset of lines", glow::POLYGON_OFFSET_LINE, desktop),
    enabled!("polygon offset of points", glow::POLYGON_OFFSET_POINT, desktop),
    enabled!("rasterizer discard", glow::RASTERIZER_DISCARD, always),
    hostile!(
        "logic op",
        desktop,
        |h: &Host| {
            h.gl.enable(glow::COLOR_LOGIC_OP);
            h.extra.logic_op(0x150A); // GL_INVERT
        },
        |h: &Host| {
            h.gl.disable(glow::COLOR_LOGIC_OP);
            h.extra.logic_op(0x1503); // GL_COPY
        }
    ),
    enabled!("sRGB", glow::FRAMEBUFFER_SRGB, desktop),
    hostile!("no dithering", always, |h: &Host| h.gl.disable(glow::DITHER), |h: &Host| h
        .gl
        .enable(glow::DITHER)),
    enabled!("alpha to coverage", glow::SAMPLE_ALPHA_TO_COVERAGE, always),
    enabled!("alpha to one", glow::SAMPLE_ALPHA_TO_ONE, desktop),
    hostile!(
        "sample coverage",
        always,
        |h: &Host| {
            h.gl.enable(glow::SAMPLE_COVERAGE);
            h.gl.sample_coverage(0.0, false);
        },
        |h: &Host| {
            h.gl.disable(glow::SAMPLE_COVERAGE);
            h.gl.sample_coverage(1.0, false);
        }
    ),
    hostile!(
        "sample mask 0",
        |gl| since(gl, (3, 2), (3, 1)),
        |h: &Host| {
            h.gl.enable(glow::SAMPLE_MASK);
            h.extra.sample_mask(0);
        },
        |h: &Host| {
            h.gl.disable(glow::SAMPLE_MASK);
            h.extra.sample_mask(!0);
        }
    ),
    hostile!("no multisampling", desktop, |h: &Host| h.gl.disable(glow::MULTISAMPLE), |h: &Host| h
        .gl
        .enable(glow::MULTISAMPLE)),
    enabled!("depth clamp", glow::DEPTH_CLAMP, |gl| desktop(gl) || has(gl, "GL_EXT_depth_clamp")),
    with_loader(hostile!(
        "a primitive bounding box",
        |gl| since(gl, (9, 9), (3, 2)),
        |h: &Host| h.extra.primitive_bounding_box([-0.25, -0.5, -1.0, 1.0, 0.0, 0.5, 1.0, 1.0]),
        |h: &Host| h.extra.primitive_bounding_box([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    )),
    hostile!(
        "clip planes",
        |gl| desktop(gl) || has(gl, "GL_EXT_clip_cull_distance"),
        |h: &Host| (0..8).for_each(|i| h.gl.enable(glow::CLIP_DISTANCE0 + i)),
        |h: &Host| (0..8).for_each(|i| h.gl.disable(glow::CLIP_DISTANCE0 + i))
    ),
    hostile!(
        "primitive restart",
        desktop,
        |h: &Host| {
            h.gl.enable(glow::PRIMITIVE_RESTART);
            h.extra.primitive_restart_index(1);
        },
        |h: &Host| {
            h.gl.disable(glow::PRIMITIVE_RESTART);
            h.extra.primitive_restart_index(0);
        }
    ),
    enabled!("primitive restart at the fixed index", 0x8D69, |gl| since(gl, (4, 3), (3, 0))),
    enabled!("line smooth", glow::LINE_SMOOTH, desktop),
    enabled!("polygon smooth", glow::POLYGON_SMOOTH, desktop),
    hostile!("points of 7 pixels", desktop, |h: &Host| h.extra.point_size(7.0), |h: &Host| h
        .extra
        .point_size(1.0)),
    hostile!(
        "clear values",
        always,
        |h: &Host| {
            h.gl.clear_color(0.5, 0.25, 2.0, -1.0);
            h.gl.clear_depth_f32(0.5);
            h.gl.clear_stencil(3);
        },
        |h: &Host| {
            h.gl.clear_color(0.0, 0.0, 0.0, 0.0);
            h.gl.clear_depth_f32(1.0);
            h.gl.clear_stencil(0);
        }
    ),
    stored!("unpack alignment", glow::UNPACK_ALIGNMENT, 8, 4, always),
    stored!("unpack row length", glow::UNPACK_ROW_LENGTH, 1000, 0, always),
    stored!("unpack skip rows", glow::UNPACK_SKIP_ROWS, 3, 0, always),
    stored!("unpack skip pixels", glow::UNPACK_SKIP_PIXELS, 5, 0, always),
    stored!("unpack image height", glow::UNPACK_IMAGE_HEIGHT, 77, 0, always),
    stored!("unpack skip images", glow::UNPACK_SKIP_IMAGES, 1, 0, always),
    stored!("unpack swap bytes", glow::UNPACK_SWAP_BYTES, 1, 0, desktop),
    stored!("unpack lsb first", glow::UNPACK_LSB_FIRST, 1, 0, desktop),
    stored!("pack alignment", glow::PACK_ALIGNMENT, 8, 4, always),
    stored!("pack row length", glow::PACK_ROW_LENGTH, 3, 0, always),
    stored!("pack skip rows", glow::PACK_SKIP_ROWS, 2, 0, always),
    stored!("pack skip pixels", glow::PACK_SKIP_PIXELS, 6, 0, always),
    stored!("pack swap bytes", glow::PACK_SWAP_BYTES, 1, 0, desktop),
    stored!("pack lsb first", glow::PACK_LSB_FIRST, 1, 0, desktop),
    stored!("pack inverted", PACK_INVERT, 1, 0, |gl| has(gl, "GL_MESA_pack_invert")),
    stored!("pack in reverse row order", PACK_REVERSE_ROW_ORDER, 1, 0, |gl| has(
        gl,
        "GL_ANGLE_pack_reverse_row_order"
    )),
    bound!("array buffer", glow::ARRAY_BUFFER, 0),
    bound!("pixel pack buffer", glow::PIXEL_PACK_BUFFER, 2),
    bound!("pixel unpack buffer", glow::PIXEL_UNPACK_BUFFER, 3),
    bound!("copy read buffer", glow::COPY_READ_BUFFER, 4),
    bound!("copy write buffer", glow::COPY_WRITE_BUFFER, 5),
    bound!("uniform buffer", glow::UNIFORM_BUFFER, 6),
    bound!("query buffer", glow::QUERY_BUFFER, 3, |gl| desktop(gl)
        && (since(gl, (4, 4), (9, 9)) || has(gl, "GL_ARB_query_buffer_object"))),
    hostile!("vertex array", always, |h: &Host| h.gl.bind_vertex_array(Some(h.array)), |h: &Host| h
        .gl
        .bind_vertex_array(None)),
    hostile!(
        "framebuffer with other draw buffers",
        always,
        |h: &Host| h.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(h.framebuffer)),
        |h: &Host| h.gl.bind_framebuffer(glow::FRAMEBUFFER, None)
    ),
    hostile!(
        "read framebuffer alone",
        always,
        |h: &Host| h.gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(h.framebuffer)),
        |h: &Host| h.gl.bind_framebuffer(glow::READ_FRAMEBUFFER, None)
    ),
    hostile!(
        "textures on all units",
        always,
        |h: &Host| {
            for (i, texture) in h.textures.iter().enumerate() {
                h.gl.active_texture(glow::TEXTURE0 + i as u32);
                h.gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
            }
            h.gl.active_texture(glow::TEXTURE0);
        },
        |h: &Host| {
            for i in 0..UNITS as u32 {
                h.gl.active_texture(glow::TEXTURE0 + i);
                h.gl.bind_texture(glow::TEXTURE_2D, None);
            }
            h.gl.active_texture(glow::TEXTURE0);
        }
    ),
    hostile!(
        "linear sampler objects on all units",
        always,
        |h: &Host| h.samplers.iter().zip(0..).for_each(|(s, i)| h.gl.bind_sampler(i, Some(*s))),
        |h: &Host| (0..UNITS as u32).for_each(|i| h.gl.bind_sampler(i, None))
    ),
    hostile!("active texture 7", always, |h: &Host| h.gl.active_texture(glow::TEXTURE7), |h: &Host| h
        .gl
        .active_texture(glow::TEXTURE0)),
    hostile!("program", always, |h: &Host| h.gl.use_program(Some(h.program)), |h: &Host| h
        .gl
        .use_program(None)),
    hostile!(
        "uniform buffers at indices",
        always,
        |h: &Host| {
            h.gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(h.buffers[6]));
            h.gl.bind_buffer_range(glow::UNIFORM_BUFFER, 1, Some(h.buffers[5]), 256, 512);
            h.gl.bind_buffer_range(glow::UNIFORM_BUFFER, 3, Some(h.buffers[4]), 0, 16);
            h.gl.bind_buffer(glow::UNIFORM_BUFFER, Some(h.buffers[2]));
        },
        |h: &Host| {
            [0, 1, 3].iter().for_each(|i| h.gl.bind_buffer_base(glow::UNIFORM_BUFFER, *i, None));
            h.gl.bind_buffer(glow::UNIFORM_BUFFER, None);
        }
    ),
    hostile!(
        "transform feedback buffers at indices",
        always,
        |h: &Host| {
            h.gl.bind_buffer_range(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(h.buffers[7]), 64, 1024);
            h.gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 1, Some(h.buffers[6]));
            h.gl.bind_buffer(glow::TRANSFORM_FEEDBACK_BUFFER, Some(h.buffers[3]));
        },
        |h: &Host| {
            (0..2).for_each(|i| h.gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, i, None));
            h.gl.bind_buffer(glow::TRANSFORM_FEEDBACK_BUFFER, None);
        }
    ),
    hostile!(
        "transform feedback object",
        feedback_can_pause,
        |h: &Host| {
            h.gl.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, h.feedback);
            h.gl.bind_buffer_range(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(h.buffers[5]), 32, 96);
        },
        |h: &Host| {
            h.gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, None);
            h.gl.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, None);
        }
    ),
    hostile!("active transform feedback", feedback_can_pause, |h: &Host| h.begin_feedback(), |h: &Host| h
        .end_feedback()),
];

unsafe fn depth_range(gl: &glow::Context, near: f32, far: f32) {
    // SAFETY: the caller's.
    unsafe {
        if gl.version().is_embedded {
            gl.depth_range_f32(near, far);
        } else {
            gl.depth_range_f64(near.into(), far.into());
        }
    }
}

unsafe fn unblend(gl: &glow::Context) {
    // SAFETY: the caller's.
    unsafe {
        gl.disable(glow::BLEND);
        gl.blend_color(0.0, 0.0, 0.0, 0.0);
        gl.blend_func(glow::ONE, glow::ZERO);
        gl.blend_equation(glow::FUNC_ADD);
    }
}
