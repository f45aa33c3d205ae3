//! Every function of GL that texla calls: its arguments, how it can fail, and what it may change.
#![allow(non_camel_case_types, non_snake_case)]
#![allow(clippy::too_many_arguments)] // as GL has them

use std::ffi::c_void;

#[allow(unused_imports)]
use glow::*;

use super::{Fault, Ptr, Row, Status, driver, gone, made, passes, watched};

macro_rules! entries {
    ($($name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?, $fault:ident, [$($change:ident),*] $(=> $then:expr)?;)*) => {
        /// A function, by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Entry { $($name),* }

        /// In the order of [`Entry`].
        pub const TABLE: &[Row] = &[$(
            Row { name: stringify!($name), fault: Fault::$fault, changes: &[$($change),*] }
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
    glActiveTexture(texture: u32), Never, [];
    glAttachShader(program: u32, shader: u32), Never, [];
    glBeginQuery(target: u32, id: u32), Never, [];
    glBeginTransformFeedback(mode: u32), Never, [];
    glBindAttribLocation(program: u32, index: u32, name: Ptr), Never, [];
    glBindBuffer(target: u32, buffer: u32), Never, [];
    glBindBufferBase(target: u32, index: u32, buffer: u32), Never, [];
    glBindBufferRange(target: u32, index: u32, buffer: u32, offset: isize, size: isize), Never, [];
    glBindFramebuffer(target: u32, framebuffer: u32), Never, [];
    glBindSampler(unit: u32, sampler: u32), Never, [];
    glBindTexture(target: u32, texture: u32), Never, [];
    glBindTransformFeedback(target: u32, id: u32), Never, [];
    glBindVertexArray(array: u32), Never, [];
    glBlendEquation(mode: u32), Never, [];
    glBlendEquationSeparate(rgb: u32, alpha: u32), Never, [];
    glBlendEquationSeparatei(buf: u32, rgb: u32, alpha: u32), Never, [];
    glBlendEquationi(buf: u32, mode: u32), Never, [];
    glBlendFunc(sfactor: u32, dfactor: u32), Never, [];
    glBlendFuncSeparate(a: u32, b: u32, c: u32, d: u32), Never, [];
    glBlendFuncSeparatei(buf: u32, a: u32, b: u32, c: u32, d: u32), Never, [];
    glBufferData(target: u32, size: isize, data: Ptr, usage: u32), Memory, [];
    glBufferSubData(target: u32, offset: isize, size: isize, data: Ptr), Memory, [];
    glCheckFramebufferStatus(target: u32) -> Status, Undone, [];
    glClampColor(target: u32, clamp: u32), Never, [];
    glClearBufferfv(buffer: u32, index: i32, value: Ptr), Never, [];
    glClientWaitSync(sync: Ptr, flags: u32, timeout: u64) -> u32, Never, [];
    glClipControl(origin: u32, depth: u32), Never, [];
    glClipControlEXT(origin: u32, depth: u32), Never, [];
    glColorMask(red: u8, green: u8, blue: u8, alpha: u8), Never, [];
    glColorMaski(index: u32, r: u8, g: u8, b: u8, a: u8), Never, [];
    glCompileShader(shader: u32), Undone, [];
    glCopyBufferSubData(from: u32, to: u32, start: isize, end: isize, size: isize), Memory, [];
    glCreateProgram() -> u32, Undone, [] => |name| made("Programs", [name as usize]);
    glCreateShader(kind: u32) -> u32, Undone, [] => |name| made("Shaders", [name as usize]);
    glDeleteBuffers(n: i32, names: Ptr), Never, [] => |_| gone("Buffers", names.names(n));
    glDeleteFramebuffers(n: i32, names: Ptr), Never, [] => |_| gone("Framebuffers", names.names(n));
    glDeleteProgram(name: u32), Never, [] => |_| gone("Programs", [name as usize]);
    glDeleteQueries(n: i32, names: Ptr), Never, [] => |_| gone("Queries", names.names(n));
    glDeleteSamplers(n: i32, names: Ptr), Never, [] => |_| gone("Samplers", names.names(n));
    glDeleteShader(name: u32), Never, [] => |_| gone("Shaders", [name as usize]);
    glDeleteSync(fence: Ptr), Never, [] => |_| gone("Fences", [fence.0 as usize]);
    glDeleteTextures(n: i32, names: Ptr), Never, [] => |_| gone("Textures", names.names(n));
    glDeleteTransformFeedbacks(n: i32, names: Ptr), Never, [] => |_| gone("TransformFeedbacks", names.names(n));
    glDeleteVertexArrays(n: i32, names: Ptr), Never, [] => |_| gone("VertexArrays", names.names(n));
    glDepthFunc(func: u32), Never, [];
    glDepthMask(flag: u8), Never, [];
    glDepthRange(n: f64, f: f64), Never, [];
    glDepthRangeArrayfvNV(first: u32, count: i32, v: Ptr), Never, [];
    glDepthRangeArrayfvOES(first: u32, count: i32, v: Ptr), Never, [];
    glDepthRangeArrayv(first: u32, count: i32, v: Ptr), Never, [];
    glDepthRangef(n: f32, f: f32), Never, [];
    glDetachShader(program: u32, shader: u32), Never, [];
    glDisable(cap: u32), Never, [];
    glDisablei(target: u32, index: u32), Never, [];
    glDisableiNV(target: u32, index: u32), Never, [];
    glDisableiOES(target: u32, index: u32), Never, [];
    glDrawArrays(mode: u32, first: i32, count: i32), Memory, [];
    glDrawArraysInstanced(mode: u32, first: i32, count: i32, instances: i32), Memory, [];
    glDrawBuffers(n: i32, bufs: Ptr), Never, [];
    glEnable(cap: u32), Never, [];
    glEnableVertexAttribArray(index: u32), Never, [];
    glEnablei(target: u32, index: u32), Never, [];
    glEnableiNV(target: u32, index: u32), Never, [];
    glEnableiOES(target: u32, index: u32), Never, [];
    glEndQuery(target: u32), Never, [];
    glEndTransformFeedback(), Never, [];
    glFenceSync(condition: u32, flags: u32) -> Ptr, Undone, [] => |fence: Ptr| made("Fences", [fence.0 as usize]);
    glFinish(), Never, [];
    glFlush(), Never, [];
    glFramebufferTexture2D(target: u32, attachment: u32, textarget: u32, texture: u32, level: i32), Never, [];
    glGenBuffers(n: i32, names: Ptr), Undone, [] => |_| made("Buffers", names.names(n));
    glGenFramebuffers(n: i32, names: Ptr), Undone, [] => |_| made("Framebuffers", names.names(n));
    glGenQueries(n: i32, names: Ptr), Undone, [] => |_| made("Queries", names.names(n));
    glGenSamplers(n: i32, names: Ptr), Undone, [] => |_| made("Samplers", names.names(n));
    glGenTextures(n: i32, names: Ptr), Undone, [] => |_| made("Textures", names.names(n));
    glGenTransformFeedbacks(n: i32, names: Ptr), Undone, [] => |_| made("TransformFeedbacks", names.names(n));
    glGenVertexArrays(n: i32, names: Ptr), Undone, [] => |_| made("VertexArrays", names.names(n));
    glGetActiveUniform(program: u32, index: u32, most: i32, length: Ptr, size: Ptr, kind: Ptr, name: Ptr), Never, [];
    glGetActiveUniformBlockiv(program: u32, block: u32, what: u32, params: Ptr), Never, [];
    glGetActiveUniformName(program: u32, index: u32, most: i32, length: Ptr, name: Ptr), Never, [];
    glGetBooleani_v(target: u32, index: u32, data: Ptr), Never, [];
    glGetBooleanv(what: u32, data: Ptr), Never, [];
    glGetDoublei_v(target: u32, index: u32, data: Ptr), Never, [];
    glGetDoublev(what: u32, data: Ptr), Never, [];
    glGetError() -> u32, Never, [];
    glGetFloatv(what: u32, data: Ptr), Never, [];
    glGetFramebufferAttachmentParameteriv(target: u32, attachment: u32, what: u32, params: Ptr), Never, [];
    glGetInteger64i_v(target: u32, index: u32, data: Ptr), Never, [];
    glGetIntegeri_v(target: u32, index: u32, data: Ptr), Never, [];
    glGetIntegerv(what: u32, data: Ptr), Never, [];
    glGetProgramInfoLog(program: u32, most: i32, length: Ptr, log: Ptr), Never, [];
    glGetProgramiv(program: u32, what: u32, params: Ptr), Never, [];
    glGetQueryObjectui64v(id: u32, what: u32, params: Ptr), Never, [];
    glGetQueryObjectuiv(id: u32, what: u32, params: Ptr), Never, [];
    glGetShaderInfoLog(shader: u32, most: i32, length: Ptr, log: Ptr), Never, [];
    glGetShaderiv(shader: u32, what: u32, params: Ptr), Never, [];
    glGetString(name: u32) -> Ptr, Never, [];
    glGetStringi(name: u32, index: u32) -> Ptr, Never, [];
    glGetTexLevelParameteriv(target: u32, level: i32, what: u32, params: Ptr), Never, [];
    glGetTexParameteriv(target: u32, what: u32, params: Ptr), Never, [];
    glGetUniformBlockIndex(program: u32, name: Ptr) -> u32, Never, [];
    glGetUniformLocation(program: u32, name: Ptr) -> i32, Never, [];
    glIsEnabled(cap: u32) -> u8, Never, [];
    glLineWidth(width: f32), Never, [];
    glLinkProgram(program: u32), Undone, [];
    glMapBufferRange(target: u32, offset: isize, length: isize, access: u32) -> Ptr, Memory, [];
    glPauseTransformFeedback(), Never, [];
    glPixelStorei(what: u32, param: i32), Never, [];
    glPolygonMode(face: u32, mode: u32), Never, [];
    glReadBuffer(src: u32), Never, [];
    glReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, pixels: Ptr), Memory, [];
    glResumeTransformFeedback(), Never, [];
    glSamplerParameteri(sampler: u32, what: u32, param: i32), Never, [];
    glShaderSource(shader: u32, count: i32, string: Ptr, length: Ptr), Never, [];
    glTexImage2D(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, pixels: Ptr), Memory, [];
    glTexParameteri(target: u32, what: u32, param: i32), Never, [];
    glTexSubImage2D(target: u32, level: i32, xoffset: i32, yoffset: i32, width: i32, height: i32, format: u32, kind: u32, pixels: Ptr), Memory, [];
    glTransformFeedbackVaryings(program: u32, count: i32, varyings: Ptr, mode: u32), Never, [];
    glUniform1f(location: i32, v0: f32), Never, [];
    glUniform1fv(location: i32, count: i32, value: Ptr), Never, [];
    glUniform1i(location: i32, v0: i32), Never, [];
    glUniform1iv(location: i32, count: i32, value: Ptr), Never, [];
    glUniform1ui(location: i32, v0: u32), Never, [];
    glUniform2f(location: i32, v0: f32, v1: f32), Never, [];
    glUniform2i(location: i32, v0: i32, v1: i32), Never, [];
    glUniform3f(location: i32, v0: f32, v1: f32, v2: f32), Never, [];
    glUniform3i(location: i32, v0: i32, v1: i32, v2: i32), Never, [];
    glUniform4f(location: i32, v0: f32, v1: f32, v2: f32, v3: f32), Never, [];
    glUniform4i(location: i32, v0: i32, v1: i32, v2: i32, v3: i32), Never, [];
    glUniformBlockBinding(program: u32, block: u32, binding: u32), Never, [];
    glUnmapBuffer(target: u32) -> u8, Never, [];
    glUseProgram(program: u32), Never, [];
    glVertexAttribDivisor(index: u32, divisor: u32), Never, [];
    glVertexAttribIPointer(index: u32, size: i32, kind: u32, stride: i32, pointer: Ptr), Never, [];
    glVertexAttribPointer(index: u32, size: i32, kind: u32, normalized: u8, stride: i32, pointer: Ptr), Never, [];
    glViewport(x: i32, y: i32, width: i32, height: i32), Never, [];
    glViewportArrayv(first: u32, count: i32, v: Ptr), Never, [];
    glViewportArrayvNV(first: u32, count: i32, v: Ptr), Never, [];
    glViewportArrayvOES(first: u32, count: i32, v: Ptr), Never, [];
}
