//! The functions that stand in front of the real driver's.
#![allow(non_snake_case)]
#![allow(clippy::too_many_arguments)] // as GL has them

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null;
use std::time::{Duration, Instant};

use super::{Call, Compile, extensions, real, set, with};

/// Those of OpenGL 1.1, of which `wglGetProcAddress` knows none, as far as the core profile has them.
pub const OPENGL32: [&str; 62] = [
    "glBindTexture",
    "glBlendFunc",
    "glClear",
    "glClearColor",
    "glClearDepth",
    "glClearStencil",
    "glColorMask",
    "glCopyTexImage1D",
    "glCopyTexImage2D",
    "glCopyTexSubImage1D",
    "glCopyTexSubImage2D",
    "glCullFace",
    "glDeleteTextures",
    "glDepthFunc",
    "glDepthMask",
    "glDepthRange",
    "glDisable",
    "glDrawArrays",
    "glDrawBuffer",
    "glDrawElements",
    "glEnable",
    "glFinish",
    "glFlush",
    "glFrontFace",
    "glGenTextures",
    "glGetBooleanv",
    "glGetDoublev",
    "glGetError",
    "glGetFloatv",
    "glGetIntegerv",
    "glGetPointerv",
    "glGetString",
    "glGetTexImage",
    "glGetTexLevelParameterfv",
    "glGetTexLevelParameteriv",
    "glGetTexParameterfv",
    "glGetTexParameteriv",
    "glHint",
    "glIsEnabled",
    "glIsTexture",
    "glLineWidth",
    "glLogicOp",
    "glPixelStoref",
    "glPixelStorei",
    "glPointSize",
    "glPolygonMode",
    "glPolygonOffset",
    "glReadBuffer",
    "glReadPixels",
    "glScissor",
    "glStencilFunc",
    "glStencilMask",
    "glStencilOp",
    "glTexImage1D",
    "glTexImage2D",
    "glTexParameterf",
    "glTexParameterfv",
    "glTexParameteri",
    "glTexParameteriv",
    "glTexSubImage1D",
    "glTexSubImage2D",
    "glViewport",
];

const COMPLETION_STATUS: u32 = 0x91B1;
const MAX_COMBINED_TEXTURE_IMAGE_UNITS: u32 = 0x8B4D;

/// The uniform by which a draw's hint reaches the shader.
const COARSE: &CStr = c"simulated_coarse";

/// The real driver's function of this name and type.
macro_rules! real {
    ($name:ident: fn($($kind:ty),*) $(-> $out:ty)?) => {
        // SAFETY: an address under this name is a function of this type.
        unsafe {
            std::mem::transmute::<*const c_void, unsafe extern "system" fn($($kind),*) $(-> $out)?>(
                real(stringify!($name)),
            )
        }
    };
}

macro_rules! fronts {
    ($($name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)? => |$real:ident| $body:expr;)*) => {
        /// The function in front of the real driver's, if there is one.
        pub fn function(name: &str) -> Option<*const c_void> {
            match name {
                $(stringify!($name) => {
                    type Function = unsafe extern "system" fn($($kind),*) $(-> $out)?;
                    unsafe extern "system" fn $name($($arg: $kind),*) $(-> $out)? {
                        let $real = real!($name: fn($($kind),*) $(-> $out)?);
                        // SAFETY: the caller's, which are those of the real function.
                        unsafe { $body }
                    }
                    Some($name as Function as *const c_void)
                })*
                _ => None,
            }
        }
    };
}

fronts! {
    // What the driver is, and what it can do.
    glGetString(query: u32) -> *const c_char => |real| match with(|s| s.strings.get(&query).map(|s| s.as_ptr())) {
        Some(Some(text)) => text,
        _ => real(query),
    };
    glGetStringi(query: u32, index: u32) -> *const c_char => |real| match query {
        glow::EXTENSIONS => with(|s| s.extensions.get(index as usize).map_or(null(), |s| s.as_ptr()))
            .unwrap_or_else(|| real(query, index)),
        _ => real(query, index),
    };
    glGetBooleanv(query: u32, out: *mut u8) => |real|
        write(answer(query, 0), out, |v| u8::from(v != 0.0)).unwrap_or_else(|| real(query, out));
    glGetIntegerv(query: u32, out: *mut i32) => |real|
        write(answer(query, 0), out, |v| v as i64 as i32).unwrap_or_else(|| real(query, out));
    glGetInteger64v(query: u32, out: *mut i64) => |real|
        write(answer(query, 0), out, |v| v as i64).unwrap_or_else(|| real(query, out));
    glGetFloatv(query: u32, out: *mut f32) => |real|
        write(answer(query, 0), out, |v| v as f32).unwrap_or_else(|| real(query, out));
    glGetDoublev(query: u32, out: *mut f64) => |real|
        write(answer(query, 0), out, |v| v).unwrap_or_else(|| real(query, out));
    glGetBooleani_v(query: u32, index: u32, out: *mut u8) => |real|
        write(answer(query, index), out, |v| u8::from(v != 0.0)).unwrap_or_else(|| real(query, index, out));
    glGetIntegeri_v(query: u32, index: u32, out: *mut i32) => |real|
        write(answer(query, index), out, |v| v as i64 as i32).unwrap_or_else(|| real(query, index, out));
    glGetInteger64i_v(query: u32, index: u32, out: *mut i64) => |real|
        write(answer(query, index), out, |v| v as i64).unwrap_or_else(|| real(query, index, out));
    glGetFloati_v(query: u32, index: u32, out: *mut f32) => |real|
        write(answer(query, index), out, |v| v as f32).unwrap_or_else(|| real(query, index, out));
    glGetDoublei_v(query: u32, index: u32, out: *mut f64) => |real|
        write(answer(query, index), out, |v| v).unwrap_or_else(|| real(query, index, out));
    glGetTexParameteriv(target: u32, query: u32, out: *mut i32) => |real|
        write(answer(query, 0), out, |v| v as i32).unwrap_or_else(|| real(target, query, out));
    glGetError() -> u32 => |real| with(|s| s.errors.pop_front()).flatten().unwrap_or_else(|| real());

    // Switches.
    glEnable(cap: u32) => |real| if !set((cap, extensions::EVERY), &[1.0]) { real(cap) };
    glDisable(cap: u32) => |real| if !set((cap, extensions::EVERY), &[0.0]) { real(cap) };
    glIsEnabled(cap: u32) -> u8 => |real| on(cap, 0).unwrap_or_else(|| real(cap));
    glEnablei(cap: u32, index: u32) => |real| if !set((cap, index), &[1.0]) { real(cap, index) };
    glDisablei(cap: u32, index: u32) => |real| if !set((cap, index), &[0.0]) { real(cap, index) };
    glIsEnabledi(cap: u32, index: u32) -> u8 => |real| on(cap, index).unwrap_or_else(|| real(cap, index));

    glEnableiOES(cap: u32, index: u32) => |real| if !set((cap, index), &[1.0]) { real(cap, index) };
    glDisableiOES(cap: u32, index: u32) => |real| if !set((cap, index), &[0.0]) { real(cap, index) };

    // Other values.
    glPixelStorei(what: u32, value: i32) => |real|
        if !set((what, extensions::EVERY), &[f64::from(value)]) { real(what, value) };
    glHint(target: u32, mode: u32) => |real|
        if !set((target, extensions::EVERY), &[f64::from(mode)]) { real(target, mode) };

    // What they and the rules do.
    glDrawArrays(mode: u32, first: i32, count: i32) => |real| if draws() { real(mode, first, count) };
    glDrawArraysInstanced(mode: u32, first: i32, count: i32, instances: i32) => |real|
        if draws() { real(mode, first, count, instances) };
    glDrawElements(mode: u32, count: i32, kind: u32, indices: *const c_void) => |real|
        if draws() { real(mode, count, kind, indices) };
    glClear(mask: u32) => |real| if passes(Call::Clear) { real(mask) };
    glClearBufferfv(buffer: u32, index: i32, value: *const f32) => |real|
        if passes(Call::Clear) { real(buffer, index, value) };
    glReadPixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, out: *mut c_void) => |real|
        if passes(Call::ReadPixels) { real(x, y, width, height, format, kind, out) };

    // Limits.
    glTexImage2D(
        target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32,
        data: *const c_void
    ) => |real|
        if within(glow::MAX_TEXTURE_SIZE, width.max(height), glow::INVALID_VALUE)
            && (data.is_null() || passes(Call::Upload))
        {
            real(target, level, internal, width, height, border, format, kind, data)
        };
    glTexSubImage2D(
        target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, data: *const c_void
    ) => |real| if passes(Call::Upload) { real(target, level, x, y, width, height, format, kind, data) };
    glDrawBuffers(count: i32, buffers: *const u32) => |real|
        if within(glow::MAX_DRAW_BUFFERS, count, glow::INVALID_VALUE) { real(count, buffers) };
    glFramebufferTexture2D(target: u32, attachment: u32, kind: u32, texture: u32, level: i32) => |real| {
        let colour = attachment.wrapping_sub(glow::COLOR_ATTACHMENT0);
        if colour >= 32 || within(glow::MAX_COLOR_ATTACHMENTS, colour as i32 + 1, glow::INVALID_OPERATION) {
            real(target, attachment, kind, texture, level)
        }
    };
    glActiveTexture(unit: u32) => |real| {
        let number = unit.wrapping_sub(glow::TEXTURE0) as i32 + 1;
        if within(MAX_COMBINED_TEXTURE_IMAGE_UNITS, number, glow::INVALID_ENUM) { real(unit) }
    };

    // Shaders and programs.
    glShaderSource(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32) => |real| {
        if with(|s| s.derivatives_by_hint) == Some(true) {
            let text = CString::new(with_coarse_derivatives(&joined(count, texts, lengths))).unwrap();
            let text = text.as_ptr();
            real(shader, 1, &raw const text, null())
        } else {
            real(shader, count, texts, lengths)
        }
    };
    glCompileShader(shader: u32) => |real| { begin(shader); real(shader) };
    glLinkProgram(program: u32) => |real| { begin(program); real(program) };
    glUseProgram(program: u32) => |real| { wait(program); real(program) };
    glGetShaderiv(shader: u32, query: u32, out: *mut i32) => |real| match query {
        COMPLETION_STATUS if beside() => *out = i32::from(left(shader).is_none()),
        _ => { wait(shader); real(shader, query, out) }
    };
    glGetProgramiv(program: u32, query: u32, out: *mut i32) => |real| match query {
        COMPLETION_STATUS if beside() => *out = i32::from(left(program).is_none()),
        _ => {
            wait(program);
            real(program, query, out);
            if query == glow::ACTIVE_UNIFORMS && hidden(program).is_some() { *out -= 1; }
        }
    };
    glGetActiveUniform(
        program: u32, index: u32, room: i32, length: *mut i32, size: *mut i32, kind: *mut u32, name: *mut c_char
    ) => |real| {
        let past = hidden(program).is_some_and(|hidden| index >= hidden);
        real(program, index + u32::from(past), room, length, size, kind, name)
    };
    glGetUniformLocation(program: u32, name: *const c_char) -> i32 => |real| { wait(program); real(program, name) };
}

/// The simulated driver's answer, without the borrow of it.
fn answer(query: u32, index: u32) -> Option<Vec<f64>> {
    with(|s| s.answer(query, index)).flatten()
}

/// Writes an answer, if there is one.
///
/// # Safety
/// There is room for it.
unsafe fn write<T>(answer: Option<Vec<f64>>, out: *mut T, into: impl Fn(f64) -> T) -> Option<()> {
    for (i, value) in answer?.into_iter().enumerate() {
        // SAFETY: the caller's.
        unsafe { out.add(i).write(into(value)) };
    }
    Some(())
}

fn on(cap: u32, index: u32) -> Option<u8> {
    with(|s| s.holds(cap, index)).flatten().map(|v| u8::from(v != [0.0]))
}

/// Whether this call does anything, as far as simulated extensions decide.
fn passes(call: Call) -> bool {
    with(|s| {
        let spoiled = s.spoils(call);
        s.spoiled += usize::from(spoiled);
        !spoiled
    })
    .unwrap_or(true)
}

/// Whether a draw is drawn; if so, all is set for it.
fn draws() -> bool {
    if !passes(Call::Draw) {
        return false;
    }
    let rules = with(|s| s.rules.clone()).unwrap_or_default();
    if let Some(error) = rules.iter().find_map(|refuses| refuses()) {
        with(|s| {
            s.refused += 1;
            s.errors.push_back(error);
        });
        return false;
    }
    if with(|s| s.derivatives_by_hint) == Some(true) {
        set_coarse();
    }
    true
}

/// Whether a number is within a limit of the simulated driver; else it raises the error.
fn within(limit: u32, number: i32, error: u32) -> bool {
    with(|s| {
        let within = s.limits.get(&limit).is_none_or(|most| f64::from(number) <= *most);
        s.errors.extend((!within).then_some(error));
        within
    })
    .unwrap_or(true)
}

// Derivatives.

/// The text, with derivatives that are those of the first fragment of the quad where the uniform is 1: that fragment's row
/// is the own one or the one before, by which derivatives in x differ by their own derivative in y.
fn with_coarse_derivatives(text: &str) -> String {
    if !text.contains("dFdx") && !text.contains("dFdy") {
        return text.to_owned();
    }
    let last =
        |line: &&str| ["#version", "#extension", "precision"].iter().any(|word| line.starts_with(word));
    let head = text.lines().collect::<Vec<_>>();
    let at = head.iter().rposition(last).map_or(0, |at| at + 1);
    let uniform = COARSE.to_str().unwrap();
    let mut lines = head[..at].join("\n");
    lines.push_str(&format!(
        "\nuniform highp float {uniform};\n\
         #define dFdx(v) (dFdx(v) - {uniform} * float(int(gl_FragCoord.y) & 1) * dFdy(dFdx(v)))\n\
         #define dFdy(v) (dFdy(v) - {uniform} * float(int(gl_FragCoord.x) & 1) * dFdx(dFdy(v)))\n"
    ));
    lines + &head[at..].join("\n") + "\n"
}

/// Tells the program in use which derivatives it has.
fn set_coarse() {
    let get = real!(glGetIntegerv: fn(u32, *mut i32));
    let location = real!(glGetUniformLocation: fn(u32, *const c_char) -> i32);
    let set = real!(glUniform1f: fn(i32, f32));
    let [mut program, mut hint] = [0, 0];
    // SAFETY: the questions are answered by one number each; the program in use has been linked.
    unsafe {
        get(glow::CURRENT_PROGRAM, &raw mut program);
        if program == 0 {
            return;
        }
        let at = location(program as u32, COARSE.as_ptr());
        if at >= 0 {
            get(glow::FRAGMENT_SHADER_DERIVATIVE_HINT, &raw mut hint);
            set(at, if hint as u32 == glow::NICEST { 0.0 } else { 1.0 });
        }
    }
}

/// The number of the uniform that the application does not see.
fn hidden(program: u32) -> Option<u32> {
    with(|s| s.derivatives_by_hint).filter(|by_hint| *by_hint)?;
    let indices = real!(glGetUniformIndices: fn(u32, i32, *const *const c_char, *mut u32));
    let (name, mut index) = (COARSE.as_ptr(), glow::INVALID_INDEX);
    // SAFETY: one name, and one number.
    unsafe { indices(program, 1, &raw const name, &raw mut index) };
    (index != glow::INVALID_INDEX).then_some(index)
}

/// # Safety
/// There are so many texts, and lengths or null.
unsafe fn joined(count: i32, texts: *const *const c_char, lengths: *const i32) -> String {
    let one = |i: usize| {
        // SAFETY: the caller's; a text without a length ends with zero.
        unsafe {
            let text = *texts.add(i);
            let length = if lengths.is_null() { -1 } else { *lengths.add(i) };
            let bytes = match usize::try_from(length) {
                Ok(length) => std::slice::from_raw_parts(text.cast::<u8>(), length),
                Err(_) => CStr::from_ptr(text).to_bytes(),
            };
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    (0..count as usize).map(one).collect()
}

// Compiling.

/// Begins to compile or to link.
fn begin(object: u32) {
    match with(|s| s.compile) {
        Some(Compile::Within(time)) => std::thread::sleep(time),
        Some(Compile::Beside(time)) => _ = with(|s| s.ready.insert(object, Instant::now() + time)),
        _ => {}
    }
}

fn beside() -> bool {
    matches!(with(|s| s.compile), Some(Compile::Beside(_)))
}

/// How long the object is not yet ready.
fn left(object: u32) -> Option<Duration> {
    let ready = with(|s| s.ready.get(&object).copied()).flatten()?;
    ready.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

fn wait(object: u32) {
    if let Some(left) = left(object) {
        std::thread::sleep(left);
    }
}
