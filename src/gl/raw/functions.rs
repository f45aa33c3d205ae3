//! The functions that a context of a version has, of those that texla calls: glow takes their addresses when it is made, and panics at
//! the call of one that the loader did not know.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::c_void;

use glow::HasContext;

use crate::error::{Error, Result};

/// What has these functions: a version of OpenGL, one of OpenGL ES, an extension of earlier ones.
struct Group {
    gl: Option<(u32, u32)>,
    es: Option<(u32, u32)>,
    extension: Option<&'static str>,
    /// Without their `gl`.
    names: &'static str,
}

const GROUPS: &[Group] = &[
    Group {
        gl: Some((3, 3)),
        es: Some((3, 0)),
        extension: None,
        names: "ActiveTexture AttachShader BeginQuery BeginTransformFeedback BindAttribLocation BindBuffer BindBufferBase BindBufferRange \
            BindFramebuffer BindSampler BindTexture BindVertexArray BlendEquation BlendEquationSeparate BlendFunc BlendFuncSeparate \
            BufferData BufferSubData CheckFramebufferStatus ClearBufferfv ClientWaitSync ColorMask CompileShader CopyBufferSubData \
            CreateProgram CreateShader DeleteBuffers DeleteFramebuffers DeleteProgram DeleteQueries DeleteSamplers DeleteShader \
            DeleteSync DeleteTextures DeleteVertexArrays DepthFunc DepthMask DetachShader Disable DrawArrays DrawArraysInstanced \
            DrawBuffers Enable EnableVertexAttribArray EndQuery EndTransformFeedback FenceSync Finish Flush FramebufferTexture2D \
            FrontFace GenBuffers GenFramebuffers GenQueries GenSamplers GenTextures GenVertexArrays GetActiveUniform GetActiveUniformBlockiv \
            GetBooleanv GetError GetFloatv GetFramebufferAttachmentParameteriv GetInteger64i_v GetIntegeri_v GetIntegerv \
            GetProgramInfoLog GetProgramiv GetQueryObjectuiv GetShaderInfoLog GetShaderiv GetString GetStringi GetTexParameteriv \
            GetUniformBlockIndex GetUniformLocation GetVertexAttribfv Hint IsEnabled IsProgram IsTexture IsVertexArray LineWidth LinkProgram \
            MapBufferRange PixelStorei ReadBuffer ReadPixels SamplerParameteri ShaderSource TexImage2D TexParameterf TexParameterfv TexParameteri TexSubImage2D \
            TransformFeedbackVaryings Uniform1f Uniform1fv Uniform1i Uniform1iv Uniform1ui Uniform2f Uniform2i Uniform3f Uniform3i \
            Uniform4f Uniform4i UniformBlockBinding UnmapBuffer UseProgram VertexAttribDivisor VertexAttribIPointer \
            VertexAttribPointer Viewport",
    },
    Group {
        gl: Some((3, 3)),
        es: None,
        extension: None,
        names: "DepthRange GetDoublev GetQueryObjectui64v PolygonMode",
    },
    Group { gl: None, es: Some((3, 0)), extension: None, names: "DepthRangef" },
    Group {
        gl: Some((3, 3)),
        es: Some((3, 1)),
        extension: None,
        names: "GetBooleani_v GetTexLevelParameteriv",
    },
    Group { gl: Some((3, 3)), es: Some((3, 2)), extension: None, names: "ColorMaski Disablei Enablei" },
    Group {
        gl: Some((4, 0)),
        es: Some((3, 0)),
        extension: Some("GL_ARB_transform_feedback2"),
        names: "BindTransformFeedback DeleteTransformFeedbacks GenTransformFeedbacks PauseTransformFeedback ResumeTransformFeedback",
    },
    Group {
        gl: Some((4, 0)),
        es: Some((3, 2)),
        extension: None,
        names: "BlendEquationSeparatei BlendEquationi BlendFuncSeparatei",
    },
    Group {
        gl: Some((4, 1)),
        es: None,
        extension: Some("GL_ARB_viewport_array"),
        names: "DepthRangeArrayv GetDoublei_v ViewportArrayv",
    },
    Group {
        gl: Some((4, 1)),
        es: Some((3, 0)),
        extension: Some("GL_ARB_get_program_binary"),
        names: "GetProgramBinary ProgramBinary ProgramParameteri",
    },
];

/// Functions of OpenGL 1.1, of those above: `wglGetProcAddress` knows none of them.
const OF_OPENGL_1: &str = "BindTexture BlendFunc ColorMask DeleteTextures DepthFunc DepthMask DepthRange Disable DrawArrays Enable \
    Finish Flush FrontFace GenTextures GetBooleanv GetDoublev GetError GetFloatv GetIntegerv GetString \
    GetTexLevelParameteriv GetTexParameteriv Hint IsEnabled IsTexture LineWidth PixelStorei PolygonMode ReadBuffer ReadPixels TexImage2D TexParameteri \
    TexParameterf TexParameterfv TexSubImage2D Viewport";

/// What a loader knows, without what `wglGetProcAddress` returns on some drivers in place of null.
pub(crate) fn known(
    loader: impl Fn(&str) -> *const c_void + 'static,
) -> impl Fn(&str) -> *const c_void + 'static {
    move |name| {
        let address = loader(name);
        if matches!(address.addr(), 1..=3 | usize::MAX) { std::ptr::null() } else { address }
    }
}

/// Says that a loader has no function of this name (`gl...`), and what there may be to do.
pub(super) fn unknown(name: &str, why: &str) -> Error {
    let of_opengl_1 = OF_OPENGL_1.split_whitespace().any(|known| name.strip_prefix("gl") == Some(known));
    let hint = if of_opengl_1 {
        "; it is a function of OpenGL 1.1, which wglGetProcAddress never returns: on Windows a loader has to ask \
         GetProcAddress of opengl32.dll for it"
    } else {
        ""
    };
    Error::NoContext(format!("the loader returns null for `{name}`{why}{hint}"))
}

/// Makes glow's context of a loader that knows all that texla may call; and a number that is another one for other functions.
///
/// # Safety
/// The context that the loader belongs to is current, and the loader gives null or the named function's address; for `glGetString`
/// the latter.
pub(super) unsafe fn load(loader: &dyn Fn(&str) -> *const c_void) -> Result<(glow::Context, u64)> {
    let unknown_names = RefCell::new(BTreeSet::new());
    let functions = Cell::new(0u64);
    let noted = |name: &str| {
        let address = loader(name);
        if address.is_null() {
            unknown_names.borrow_mut().insert(name.to_owned());
        }
        functions.set(functions.get().rotate_left(7).wrapping_add(address.addr() as u64));
        address
    };
    // It asks for the extensions by these.
    if let Some(name) = ["glGetIntegerv", "glGetStringi"].into_iter().find(|name| loader(name).is_null()) {
        return Err(unknown(name, ""));
    }
    // SAFETY: the caller's.
    let gl = unsafe { glow::Context::from_loader_function(noted) };
    let version = gl.version();
    let (found, es) = ((version.major, version.minor), version.is_embedded);
    let missing = unknown_names.into_inner();
    for group in GROUPS {
        let since = if es { group.es } else { group.gl };
        let by_extension =
            || !es && group.extension.is_some_and(|name| gl.supported_extensions().contains(name));
        if since.is_none_or(|since| found < since) && !by_extension() {
            continue;
        }
        let mut names = group.names.split_whitespace().map(|name| format!("gl{name}"));
        if let Some(name) = names.find(|name| missing.contains(name)) {
            let api = if es { "OpenGL ES" } else { "OpenGL" };
            let why = format!(", which a context of {api} {}.{} has", found.0, found.1);
            return Err(unknown(&name, &why));
        }
    }
    Ok((gl, functions.get()))
}
