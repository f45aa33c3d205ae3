//! Drivers that there are, each in a few lines.

use std::collections::BTreeSet;
use std::ffi::c_void;
use std::path::Path;

use texla::gl::Api;

use super::{Driver, Installed, extensions, real};

/// Mesa's V3D, the driver of the Raspberry Pi 4: OpenGL ES 3.1, textures of 4096, four draw buffers
/// (`src/broadcom/common/v3d_limits.h`), no blending of 32-bit floats, which `EXT_float_blend` would bring. Uniforms and
/// interpolated numbers are as few as OpenGL ES promises.
pub fn v3d() -> Driver {
    Driver::new("simulated")
        .renderer("V3D 4.2")
        .version(3, 1)
        .without_extensions(["GL_EXT_float_blend", "GL_OES_viewport_array", "GL_EXT_clip_control"])
        .limit(glow::MAX_TEXTURE_SIZE, 4096)
        .limit(glow::MAX_DRAW_BUFFERS, 4)
        .limit(glow::MAX_COLOR_ATTACHMENTS, 4)
        .limit(glow::MAX_TEXTURE_IMAGE_UNITS, 16)
        .limit(glow::MAX_VERTEX_TEXTURE_IMAGE_UNITS, 16)
        .limit(glow::MAX_FRAGMENT_UNIFORM_COMPONENTS, 896)
        .limit(glow::MAX_VERTEX_UNIFORM_COMPONENTS, 1024)
        .limit(glow::MAX_VARYING_COMPONENTS, 60)
        .refuses_draws(blends_32_bit_floats)
}

/// The error of OpenGL ES without `EXT_float_blend`: blending is on for a draw buffer with components of 32-bit floats.
fn blends_32_bit_floats() -> Option<u32> {
    type Is = unsafe extern "system" fn(u32) -> u8;
    type Get = unsafe extern "system" fn(u32, *mut i32);
    type Ask = unsafe extern "system" fn(u32, u32, u32, *mut i32);
    const TYPE: u32 = glow::FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE;
    const COMPONENTS: u32 = glow::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE;
    const BITS: u32 = glow::FRAMEBUFFER_ATTACHMENT_RED_SIZE;
    // SAFETY: addresses under these names are functions of these types; the context is current, has four draw buffers, and
    // a framebuffer that the application has made is bound where one of them draws.
    unsafe {
        let is_enabled = std::mem::transmute::<*const c_void, Is>(real("glIsEnabled"));
        let get = std::mem::transmute::<*const c_void, Get>(real("glGetIntegerv"));
        let ask = std::mem::transmute::<*const c_void, Ask>(real("glGetFramebufferAttachmentParameteriv"));
        let mut bound = 0;
        get(glow::DRAW_FRAMEBUFFER_BINDING, &raw mut bound);
        let refused = |i: u32| {
            let of = |what| {
                let mut found = 0;
                ask(glow::DRAW_FRAMEBUFFER, glow::COLOR_ATTACHMENT0 + i, what, &raw mut found);
                found as u32
            };
            is_enabled(glow::BLEND) != 0
                && of(TYPE) != glow::NONE
                && of(COMPONENTS) == glow::FLOAT
                && of(BITS) == 32
        };
        (bound != 0 && (0..4).any(refused)).then_some(glow::INVALID_OPERATION)
    }
}

/// Mesa's i965, for Intel's GPUs before 2014 and long used for later ones: derivatives are of the fragment's own row and column
/// where the hint is `GL_NICEST` (`high_quality_derivatives` in `brw_wm.c`).
pub fn i965() -> Driver {
    Driver::new("as i965").derivatives_by_hint()
}

/// A phone: what Qualcomm's, ARM's and NVIDIA's drivers of OpenGL ES add to the state, in one.
pub fn phone() -> Driver {
    Driver::new("a phone")
        .with(&extensions::QCOM_ALPHA_TEST)
        .with(&extensions::QCOM_SHADING_RATE)
        .with(&extensions::EXT_FRAGMENT_SHADING_RATE)
        .with(&extensions::NV_POLYGON_MODE)
}

/// What an application may have set there: no fragment passes, four share one value, and triangles are outlines.
pub fn set_phone(driver: &Installed) {
    driver.switch(extensions::ALPHA_TEST_QCOM, true);
    driver.value(extensions::ALPHA_TEST_FUNC_QCOM, &[f64::from(glow::NEVER)]);
    driver.value(extensions::SHADING_RATE_QCOM, &[f64::from(extensions::RATE_2X2)]);
    driver.value(extensions::SHADING_RATE_EXT, &[f64::from(extensions::RATE_2X2)]);
    driver.value(extensions::POLYGON_MODE, &[f64::from(glow::LINE)]);
}

/// A loader as `wglGetProcAddress` is: it knows no function of OpenGL 1.1, and in place of null some drivers give 1, 2, 3 or -1
/// (the Khronos wiki, "Load OpenGL Functions").
pub fn wgl(missing: isize) -> Driver {
    Driver::new(format!("wgl {missing}")).without_opengl32().missing(missing)
}

/// Extensions that texla uses, and their functions where it calls any. Those that its sources name do not have to stand here
/// otherwise.
pub const OPTIONAL: &[(&str, &[&str])] = &[
    ("GL_ARB_clip_control", &["glClipControl"]),
    ("GL_ARB_draw_buffers_blend", &["glBlendEquationSeparatei", "glBlendEquationi", "glBlendFuncSeparatei"]),
    ("GL_ARB_get_program_binary", &["glGetProgramBinary", "glProgramBinary", "glProgramParameteri"]),
    (
        "GL_ARB_transform_feedback2",
        &[
            "glBindTransformFeedback",
            "glDeleteTransformFeedbacks",
            "glGenTransformFeedbacks",
            "glPauseTransformFeedback",
            "glResumeTransformFeedback",
        ],
    ),
    ("GL_ARB_viewport_array", &["glDepthRangeArrayv", "glGetDoublei_v", "glViewportArrayv"]),
    ("GL_ARB_gpu_shader5", &[]),
    ("GL_EXT_clip_control", &["glClipControlEXT"]),
    ("GL_EXT_color_buffer_float", &[]),
    ("GL_EXT_float_blend", &[]),
    (
        "GL_OES_draw_buffers_indexed",
        &[
            "glBlendEquationSeparatei",
            "glBlendEquationi",
            "glBlendFuncSeparatei",
            "glColorMaski",
            "glDisablei",
            "glEnablei",
        ],
    ),
    ("GL_OES_texture_float_linear", &[]),
    (
        "GL_OES_viewport_array",
        &["glDepthRangeArrayfvOES", "glDisableiOES", "glEnableiOES", "glViewportArrayvOES"],
    ),
];

/// Functions of OpenGL ES 3.1 and 3.2, and of OpenGL alone, that a loader of OpenGL ES 3.0 does not have.
const NOT_IN_ES_3_0: [&str; 6] = [
    "glClampColor",
    "glDepthRange",
    "glGetBooleani_v",
    "glGetDoublev",
    "glGetTexLevelParameteriv",
    "glPolygonMode",
];

/// The oldest driver that texla takes, with all extensions that are not of [`OPTIONAL`].
fn old(api: Api, name: String) -> Driver {
    match api {
        Api::Gl33 => Driver::new(name).version(3, 3),
        Api::Es30 => Driver::new(name).version(3, 0).without_functions(NOT_IN_ES_3_0),
    }
}

/// The functions that are the context's own, be there the extension or not.
fn core(api: Api, name: &str) -> bool {
    let of_es = ["glGetProgramBinary", "glProgramBinary", "glProgramParameteri"].contains(&name)
        || name.ends_with("TransformFeedback")
        || name.ends_with("TransformFeedbacks");
    match api {
        Api::Gl33 => ["glColorMaski", "glDisablei", "glEnablei"].contains(&name),
        Api::Es30 => of_es,
    }
}

/// The names of all of them: those above, and those that stand between quotation marks in the sources of texla's layer of GL.
pub fn used() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = OPTIONAL.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gl")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let texts = text.split('"').filter_map(|text| text.strip_prefix("GL_"));
            // Constants are in capitals throughout.
            let extensions = texts.filter(|text| text.contains(|c: char| c.is_ascii_lowercase()));
            let plain = extensions.filter(|text| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
            names.extend(plain.map(|text| format!("GL_{text}")));
        }
    }
    names
}

/// The functions that go with an extension, but for those that the oldest context has itself.
fn functions(api: Api, name: &str) -> impl Iterator<Item = &'static str> {
    let all = OPTIONAL.iter().filter(move |(of, _)| *of == name).flat_map(|(_, functions)| *functions);
    all.copied().filter(move |function| !core(api, function)).collect::<Vec<_>>().into_iter()
}

/// An old driver with all extensions but this one, whose functions it does not have.
pub fn without(api: Api, name: &str) -> Driver {
    let driver = old(api, format!("without {name}")).without_extensions([name]);
    driver.without_functions(functions(api, name))
}

/// An old driver without any of them.
pub fn oldest(api: Api) -> Driver {
    let all = used();
    let driver = old(api, "the oldest".into());
    let driver = all.iter().fold(driver, |driver, name| driver.without_functions(functions(api, name)));
    driver.without_extensions(all)
}
