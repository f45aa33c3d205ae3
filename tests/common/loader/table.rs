//! Every function of GL that texla calls: its arguments, how it can fail, and what it may change.
#![allow(non_camel_case_types, non_snake_case)]
#![allow(clippy::too_many_arguments)] // as GL has them

use std::ffi::c_void;

use glow::*;

use super::{Fault, Ptr, Row, Status, driver, gone, made, passes, watched};

const CLAMP_READ_COLOR: u32 = 0x891C;
const CLIP_ORIGIN: u32 = 0x935C;
const CLIP_DEPTH_MODE: u32 = 0x935D;
const LINE_WIDTH: u32 = 0x0B21;

/// What is asked of the active unit, and which that is.
const UNIT: &[u32] = &[ACTIVE_TEXTURE, TEXTURE_BINDING_2D, SAMPLER_BINDING];
const FEEDBACK: &[u32] = &[
    TRANSFORM_FEEDBACK_ACTIVE,
    TRANSFORM_FEEDBACK_PAUSED,
    TRANSFORM_FEEDBACK_BINDING,
    TRANSFORM_FEEDBACK_BUFFER_BINDING,
];
const BUFFERS: &[u32] = &[
    ARRAY_BUFFER_BINDING,
    PIXEL_PACK_BUFFER_BINDING,
    PIXEL_UNPACK_BUFFER_BINDING,
    QUERY_BUFFER_BINDING,
    TRANSFORM_FEEDBACK_BUFFER_BINDING,
];
const RANGES: &[u32] = &[
    UNIFORM_BUFFER_BINDING,
    UNIFORM_BUFFER_START,
    UNIFORM_BUFFER_SIZE,
    TRANSFORM_FEEDBACK_BUFFER_BINDING,
    TRANSFORM_FEEDBACK_BUFFER_START,
    TRANSFORM_FEEDBACK_BUFFER_SIZE,
    0x8DEF, // of GL_EXT_bindable_uniform
];
/// Bindings, and what is asked of the framebuffer that is bound: attachments, bits of its channels, how it is read.
const FRAMEBUFFER: &[u32] = &[
    0x8CA6, 0x8CAA, 0x0C01, 0x0C02, 0x0D52, 0x0D53, 0x0D54, 0x0D55, 0x0D56, 0x0D57, 0x80A8, 0x80A9, 0x8820,
    0x8825, 0x8826, 0x8827, 0x8828, 0x8829, 0x882A, 0x882B, 0x882C, 0x888E, 0x8B9A, 0x8B9B, 0x8C3C,
];
/// The same without the bindings.
const OF_FRAMEBUFFER: &[u32] = FRAMEBUFFER.split_at(2).1;
/// The array, what its attributes are, and what was bound last. From 0x8650 on: an attribute each, by GL_NV_vertex_program.
const VERTICES: &[u32] = &[
    0x82D6, 0x82D7, 0x82D8, 0x85B5, 0x8622, 0x8623, 0x8624, 0x8625, 0x8645, 0x8650, 0x8651, 0x8652, 0x8653,
    0x8895, 0x889F, 0x88FD, 0x88FE, 0x8F1E, 0x8F4F,
];
/// The program, and which stages it has, as NVIDIA's driver answers.
const PROGRAM: &[u32] = &[CURRENT_PROGRAM, 0x8B30, 0x8B31, 0x8DD9, 0x8E87, 0x8E88, 0x91B9, 0x9559, 0x955A];
const FACTORS: &[u32] = &[0x0BE0, 0x0BE1, BLEND_SRC_RGB, BLEND_DST_RGB, BLEND_SRC_ALPHA, BLEND_DST_ALPHA];
const SWITCHES: &[u32] = &[
    0x0B20, 0x0B41, 0x0B44, 0x0B71, 0x0B90, 0x0BD0, 0x0BE2, 0x0BF2, 0x0C11, 0x3000, 0x3001, 0x3002, 0x3003,
    0x3004, 0x3005, 0x3006, 0x3007, 0x8037, 0x809E, 0x809F, 0x80A0, 0x8558, 0x8642, 0x864F, 0x8C89, 0x8D69,
    0x8890, 0x8DB9, 0x8E51, 0x8F9D, 0x92DD, 0x9327, 0x932B, 0x9331, 0x9346, 0x937C, 0x937F, 0x9555, 0x9563,
    0x95B1,
];
const STORE: &[u32] = &[
    0x0CF0, 0x0CF2, 0x0CF3, 0x0CF4, 0x0CF5, 0x0D00, 0x0D02, 0x0D03, 0x0D04, 0x0D05, 0x806D, 0x806E, 0x8758,
    0x93A4,
];

/// What is under way, also as some drivers answer it without its kind.
const QUERY: &[u32] = &[SAMPLES_PASSED, ANY_SAMPLES_PASSED, CURRENT_QUERY];

macro_rules! entries {
    ($($name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?, $fault:ident, $changes:expr $(=> $then:expr)?;)*) => {
        /// A function, by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Entry { $($name),* }

        /// In the order of [`Entry`].
        pub const TABLE: &[Row] = &[$(
            Row { name: stringify!($name), fault: Fault::$fault, changes: $changes }
        ),*];

        pub fn find(name: &str) -> Option<Entry> {
            match name {
                $(stringify!($name) => Some(Entry::$name),)*
                _ => None,
            }
        }

        /// The function in front of the driver's.
        pub fn shim(entry: Entry) -> *const c_void {
            match entry {
                $(Entry::$name => {
                    type Function = unsafe extern "system" fn($($kind),*) $(-> $out)?;
                    unsafe extern "system" fn $name($($arg: $kind),*) $(-> $out)? {
                        if !passes(Entry::$name) {
                            return Default::default();
                        }
                        // SAFETY: an address under this name is a function of this type; the rest is the caller's.
                        unsafe {
                            let call = std::mem::transmute::<*const c_void, Function>(driver(Entry::$name));
                            let out = watched(Entry::$name, || call($($arg),*));
                            $({
                                let then = $then;
                                then(out);
                            })?
                            out
                        }
                    }
                    $name as Function as *const c_void
                })*
            }
        }
    };
}

entries! {
    glActiveTexture(texture: u32), Never, UNIT;
    glAttachShader(program: u32, shader: u32), Never, &[];
    glBeginQuery(target: u32, id: u32), Never, QUERY;
    glBeginTransformFeedback(mode: u32), Never, FEEDBACK;
    glBindAttribLocation(program: u32, index: u32, name: Ptr), Never, &[];
    glBindBuffer(target: u32, buffer: u32), Never, BUFFERS;
    glBindBufferBase(target: u32, index: u32, buffer: u32), Never, RANGES;
    glBindBufferRange(target: u32, index: u32, buffer: u32, offset: isize, size: isize), Never, RANGES;
    glBindFramebuffer(target: u32, framebuffer: u32), Never, FRAMEBUFFER;
    glBindSampler(unit: u32, sampler: u32), Never, &[SAMPLER_BINDING];
    glBindTexture(target: u32, texture: u32), Never, &[TEXTURE_BINDING_2D, TEXTURE_BINDING_2D_ARRAY];
    glBindTransformFeedback(target: u32, id: u32), Never, FEEDBACK;
    glBindVertexArray(array: u32), Never, VERTICES;
    glBlendEquation(mode: u32), Never, &[BLEND_EQUATION_RGB, BLEND_EQUATION_ALPHA];
    glBlendEquationSeparate(rgb: u32, alpha: u32), Never, &[BLEND_EQUATION_RGB, BLEND_EQUATION_ALPHA];
    glBlendEquationSeparatei(buf: u32, rgb: u32, alpha: u32), Never, &[BLEND_EQUATION_RGB, BLEND_EQUATION_ALPHA];
    glBlendEquationi(buf: u32, mode: u32), Never, &[BLEND_EQUATION_RGB, BLEND_EQUATION_ALPHA];
    glBlendFunc(sfactor: u32, dfactor: u32), Never, FACTORS;
    glBlendFuncSeparate(a: u32, b: u32, c: u32, d: u32), Never, FACTORS;
    glBlendFuncSeparatei(buf: u32, a: u32, b: u32, c: u32, d: u32), Never, FACTORS;
    glBufferData(target: u32, size: isize, data: Ptr, usage: u32), Memory, &[];
    glBufferSubData(target: u32, offset: isize, size: isize, data: Ptr), Memory, &[];
    glCheckFramebufferStatus(target: u32) -> Status, Undone, &[];
    glClampColor(target: u32, clamp: u32), Never, &[CLAMP_READ_COLOR];
    glClearBufferfv(buffer: u32, index: i32, value: Ptr), Never, &[];
    glClientWaitSync(sync: Ptr, flags: u32, timeout: u64) -> u32, Never, &[];
    glClipControl(origin: u32, depth: u32), Never, &[CLIP_ORIGIN, CLIP_DEPTH_MODE];
    glClipControlEXT(origin: u32, depth: u32), Never, &[CLIP_ORIGIN, CLIP_DEPTH_MODE];
    glColorMask(red: u8, green: u8, blue: u8, alpha: u8), Never, &[COLOR_WRITEMASK];
    glColorMaski(index: u32, r: u8, g: u8, b: u8, a: u8), Never, &[COLOR_WRITEMASK];
    glCompileShader(shader: u32), Undone, &[];
    glCopyBufferSubData(from: u32, to: u32, start: isize, end: isize, size: isize), Memory, &[];
    glCreateProgram() -> u32, Undone, &[] => |name| made("Programs", [name as usize]);
    glCreateShader(kind: u32) -> u32, Undone, &[] => |name| made("Shaders", [name as usize]);
    glDeleteBuffers(n: i32, names: Ptr), Never, &[] => |_| gone("Buffers", names.names(n));
    glDeleteFramebuffers(n: i32, names: Ptr), Never, &[] => |_| gone("Framebuffers", names.names(n));
    glDeleteProgram(name: u32), Never, &[] => |_| gone("Programs", [name as usize]);
    glDeleteQueries(n: i32, names: Ptr), Never, &[] => |_| gone("Queries", names.names(n));
    glDeleteSamplers(n: i32, names: Ptr), Never, &[] => |_| gone("Samplers", names.names(n));
    glDeleteShader(name: u32), Never, &[] => |_| gone("Shaders", [name as usize]);
    glDeleteSync(fence: Ptr), Never, &[] => |_| gone("Fences", [fence.0 as usize]);
    glDeleteTextures(n: i32, names: Ptr), Never, &[] => |_| gone("Textures", names.names(n));
    glDeleteTransformFeedbacks(n: i32, names: Ptr), Never, &[] => |_| gone("TransformFeedbacks", names.names(n));
    glDeleteVertexArrays(n: i32, names: Ptr), Never, &[] => |_| gone("VertexArrays", names.names(n));
    glDepthFunc(func: u32), Never, &[DEPTH_FUNC];
    glDepthMask(flag: u8), Never, &[DEPTH_WRITEMASK];
    glDepthRange(n: f64, f: f64), Never, &[DEPTH_RANGE];
    glDepthRangeArrayfvNV(first: u32, count: i32, v: Ptr), Never, &[DEPTH_RANGE];
    glDepthRangeArrayfvOES(first: u32, count: i32, v: Ptr), Never, &[DEPTH_RANGE];
    glDepthRangeArrayv(first: u32, count: i32, v: Ptr), Never, &[DEPTH_RANGE];
    glDepthRangef(n: f32, f: f32), Never, &[DEPTH_RANGE];
    glDetachShader(program: u32, shader: u32), Never, &[];
    glDisable(cap: u32), Never, SWITCHES;
    glDisableClientState(cap: u32), Never, &[0x8F1E, 0x8F1F, 0x936E];
    glDisablei(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glDisableiNV(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glDisableiOES(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glDrawArrays(mode: u32, first: i32, count: i32), Memory, &[];
    glDrawArraysInstanced(mode: u32, first: i32, count: i32, instances: i32), Memory, &[];
    glDrawBuffers(n: i32, bufs: Ptr), Never, OF_FRAMEBUFFER;
    glEnable(cap: u32), Never, SWITCHES;
    glEnableClientState(cap: u32), Never, &[0x8F1E, 0x8F1F, 0x936E];
    glEnableVertexAttribArray(index: u32), Never, VERTICES;
    glEnablei(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glEnableiNV(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glEnableiOES(target: u32, index: u32), Never, &[BLEND, SCISSOR_TEST, 0x9555, 0x9563];
    glEndQuery(target: u32), Never, QUERY;
    glEndTransformFeedback(), Never, FEEDBACK;
    glFenceSync(condition: u32, flags: u32) -> Ptr, Undone, &[] => |fence: Ptr| made("Fences", [fence.0 as usize]);
    glFinish(), Never, &[];
    glFlush(), Never, &[];
    glFramebufferTexture2D(target: u32, attachment: u32, textarget: u32, texture: u32, level: i32), Never, OF_FRAMEBUFFER;
    glFrontFace(mode: u32), Never, &[FRONT_FACE];
    glGenBuffers(n: i32, names: Ptr), Undone, &[] => |_| made("Buffers", names.names(n));
    glGenFramebuffers(n: i32, names: Ptr), Undone, &[] => |_| made("Framebuffers", names.names(n));
    glGenQueries(n: i32, names: Ptr), Undone, &[] => |_| made("Queries", names.names(n));
    glGenSamplers(n: i32, names: Ptr), Undone, &[] => |_| made("Samplers", names.names(n));
    glGenTextures(n: i32, names: Ptr), Undone, &[] => |_| made("Textures", names.names(n));
    glGenTransformFeedbacks(n: i32, names: Ptr), Undone, &[] => |_| made("TransformFeedbacks", names.names(n));
    glGenVertexArrays(n: i32, names: Ptr), Undone, &[] => |_| made("VertexArrays", names.names(n));
    glGetActiveUniform(program: u32, index: u32, most: i32, length: Ptr, size: Ptr, kind: Ptr, name: Ptr), Never, &[];
    glGetActiveUniformBlockiv(program: u32, block: u32, what: u32, params: Ptr), Never, &[];
    glGetBooleani_v(target: u32, index: u32, data: Ptr), Never, &[];
    glGetBooleanv(what: u32, data: Ptr), Never, &[];
    glGetDoublei_v(target: u32, index: u32, data: Ptr), Never, &[];
    glGetDoublev(what: u32, data: Ptr), Never, &[];
    glGetError() -> u32, Never, &[];
    glGetFloatv(what: u32, data: Ptr), Never, &[];
    glGetFramebufferAttachmentParameteriv(target: u32, attachment: u32, what: u32, params: Ptr), Never, &[];
    glGetInteger64i_v(target: u32, index: u32, data: Ptr), Never, &[];
    glGetIntegeri_v(target: u32, index: u32, data: Ptr), Never, &[];
    glGetIntegerv(what: u32, data: Ptr), Never, &[];
    glGetProgramBinary(program: u32, most: i32, length: Ptr, form: Ptr, binary: Ptr), Never, &[];
    glGetProgramInfoLog(program: u32, most: i32, length: Ptr, log: Ptr), Never, &[];
    glGetProgramiv(program: u32, what: u32, params: Ptr), Never, &[];
    glGetQueryObjectui64v(id: u32, what: u32, params: Ptr), Never, &[];
    glGetQueryObjectuiv(id: u32, what: u32, params: Ptr), Never, &[];
    glGetShaderInfoLog(shader: u32, most: i32, length: Ptr, log: Ptr), Never, &[];
    glGetShaderiv(shader: u32, what: u32, params: Ptr), Never, &[];
    glGetString(name: u32) -> Ptr, Never, &[];
    glGetStringi(name: u32, index: u32) -> Ptr, Never, &[];
    glGetTexLevelParameteriv(target: u32, level: i32, what: u32, params: Ptr), Never, &[];
    glGetTexParameteriv(target: u32, what: u32, params: Ptr), Never, &[];
    glGetUniformBlockIndex(program: u32, name: Ptr) -> u32, Never, &[];
    glGetUniformLocation(program: u32, name: Ptr) -> i32, Never, &[];
    glGetVertexAttribfv(index: u32, what: u32, params: Ptr), Never, &[];
    glHint(target: u32, mode: u32), Never, &[FRAGMENT_SHADER_DERIVATIVE_HINT];
    glIsEnabled(cap: u32) -> u8, Never, &[];
    glIsProgram(program: u32) -> u8, Never, &[];
    glIsTexture(texture: u32) -> u8, Never, &[];
    glIsVertexArray(array: u32) -> u8, Never, &[];
    glLineWidth(width: f32), Never, &[LINE_WIDTH];
    glLinkProgram(program: u32), Undone, &[];
    glMapBufferRange(target: u32, offset: isize, length: isize, access: u32) -> Ptr, Memory, &[];
    glPauseTransformFeedback(), Never, FEEDBACK;
    glPixelStorei(what: u32, param: i32), Never, STORE;
    glPolygonMode(face: u32, mode: u32), Never, &[POLYGON_MODE];
    glPrimitiveBoundingBox(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32), Never, &[0x92BE];
    glPrimitiveBoundingBoxARB(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32), Never, &[0x92BE];
    glPrimitiveBoundingBoxEXT(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32), Never, &[0x92BE];
    glProgramBinary(program: u32, form: u32, binary: Ptr, length: i32), Undone, &[];
    glProgramParameteri(program: u32, what: u32, value: i32), Never, &[];
    glReadBuffer(src: u32), Never, OF_FRAMEBUFFER;
    glReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, pixels: Ptr), Memory, &[];
    glResumeTransformFeedback(), Never, FEEDBACK;
    glSamplerParameteri(sampler: u32, what: u32, param: i32), Never, &[];
    glShaderSource(shader: u32, count: i32, string: Ptr, length: Ptr), Never, &[];
    glSubpixelPrecisionBiasNV(x: u32, y: u32), Never, &[0x9347, 0x9348];
    glTexImage2D(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, pixels: Ptr), Memory, &[];
    glTexParameterf(target: u32, what: u32, param: f32), Never, &[];
    glTexParameterfv(target: u32, what: u32, params: Ptr), Never, &[];
    glTexParameteri(target: u32, what: u32, param: i32), Never, &[];
    glTexSubImage2D(target: u32, level: i32, xoffset: i32, yoffset: i32, width: i32, height: i32, format: u32, kind: u32, pixels: Ptr), Memory, &[];
    glTransformFeedbackVaryings(program: u32, count: i32, varyings: Ptr, mode: u32), Never, &[];
    glUniform1f(location: i32, v0: f32), Never, &[];
    glUniform1fv(location: i32, count: i32, value: Ptr), Never, &[];
    glUniform1i(location: i32, v0: i32), Never, &[];
    glUniform1iv(location: i32, count: i32, value: Ptr), Never, &[];
    glUniform1ui(location: i32, v0: u32), Never, &[];
    glUniform2f(location: i32, v0: f32, v1: f32), Never, &[];
    glUniform2i(location: i32, v0: i32, v1: i32), Never, &[];
    glUniform3f(location: i32, v0: f32, v1: f32, v2: f32), Never, &[];
    glUniform3i(location: i32, v0: i32, v1: i32, v2: i32), Never, &[];
    glUniform4f(location: i32, v0: f32, v1: f32, v2: f32, v3: f32), Never, &[];
    glUniform4i(location: i32, v0: i32, v1: i32, v2: i32, v3: i32), Never, &[];
    glUniformBlockBinding(program: u32, block: u32, binding: u32), Never, &[];
    glUnmapBuffer(target: u32) -> u8, Never, &[];
    glUseProgram(program: u32), Never, PROGRAM;
    glVertexAttribDivisor(index: u32, divisor: u32), Never, VERTICES;
    glVertexAttribIPointer(index: u32, size: i32, kind: u32, stride: i32, pointer: Ptr), Never, VERTICES;
    glVertexAttribPointer(index: u32, size: i32, kind: u32, normalized: u8, stride: i32, pointer: Ptr), Never, VERTICES;
    glViewport(x: i32, y: i32, width: i32, height: i32), Never, &[VIEWPORT];
    glViewportArrayv(first: u32, count: i32, v: Ptr), Never, &[VIEWPORT];
    glViewportArrayvNV(first: u32, count: i32, v: Ptr), Never, &[VIEWPORT];
    glViewportArrayvOES(first: u32, count: i32, v: Ptr), Never, &[VIEWPORT];
    glViewportSwizzleNV(index: u32, x: u32, y: u32, z: u32, w: u32), Never, &[0x9358, 0x9359, 0x935A, 0x935B];
    glWindowRectanglesEXT(mode: u32, count: i32, boxes: Ptr), Never, &[0x8F12, 0x8F13, 0x8F15];
}
