//! Extensions of the registries whose state changes what texla draws, uploads or reads, as drivers that have them behave:
//! what an application may have set, and what has to come of it.

use texla::gl::Api;

use super::extensions::*;

/// What texla does about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It makes no difference, and is there afterwards.
    Kept,
    /// The same through a loader; a device without one refuses it by this name.
    KeptByLoader(&'static str),
    /// It is refused by this name.
    Refused(&'static str),
}

/// One extension, with values that an application has set.
#[derive(Debug)]
pub struct Row {
    pub extension: Extension,
    pub apis: &'static [Api],
    /// Of OpenGL ES, where it is not the driver's own.
    pub version: Option<(u32, u32)>,
    /// Question, index and value.
    pub host: &'static [(u32, u32, &'static [f64])],
    pub outcome: Outcome,
}

const BOTH: &[Api] = &Api::ALL;
const GL: &[Api] = &[Api::Gl33];
const ES: &[Api] = &[Api::Es30];

/// A switch that is off, and that an application has turned on.
macro_rules! switch {
    ($name:literal, $apis:expr, $($cap:literal),+) => {
        Row {
            extension: Extension { name: $name, switches: &[$(($cap, false)),+], ..Extension::NONE },
            apis: $apis,
            version: None,
            host: &[$(($cap, EVERY, &[1.0])),+],
            outcome: Outcome::Kept,
        }
    };
}

/// The planes that clip.
macro_rules! clip_distances {
    ($name:literal) => {
        switch!($name, ES, 0x3000, 0x3001, 0x3002, 0x3003, 0x3004, 0x3005, 0x3006, 0x3007)
    };
}

/// A value of one number that spoils these calls.
macro_rules! value {
    ($name:literal, $apis:expr, $query:literal: $default:expr => $set:expr, $($spoils:ident),+) => {
        Row {
            extension: Extension {
                name: $name,
                values: &[($query, &[$default as f64])],
                spoils: &[$(Call::$spoils),+],
                ..Extension::NONE
            },
            apis: $apis,
            version: None,
            host: &[($query, EVERY, &[$set as f64])],
            outcome: Outcome::Kept,
        }
    };
}

/// A value that only a function of the loader's sets.
macro_rules! loaded {
    ($name:literal, $apis:expr, $version:expr, $functions:expr, $said:literal, $($query:expr => $value:expr, $set:expr);+) => {
        Row {
            extension: Extension {
                name: $name,
                functions: &$functions,
                values: &[$(($query, &$value)),+],
                ..Extension::NONE
            },
            apis: $apis,
            version: $version,
            host: &[$(($query, EVERY, &$set)),+],
            outcome: Outcome::KeptByLoader($said),
        }
    };
}

/// A switch of the client's.
macro_rules! client_state {
    ($name:literal, $cap:literal, $said:literal) => {
        Row {
            extension: Extension {
                name: $name,
                functions: &["glEnableClientState", "glDisableClientState"],
                switches: &[($cap, false)],
                ..Extension::NONE
            },
            apis: GL,
            version: None,
            host: &[($cap, EVERY, &[1.0])],
            outcome: Outcome::KeptByLoader($said),
        }
    };
}

/// A value that texla cannot restore.
macro_rules! refused {
    ($name:literal, $apis:expr, $said:literal, $($query:expr => $value:expr, $set:expr);+) => {
        Row {
            extension: Extension { name: $name, values: &[$(($query, &$value)),+], ..Extension::NONE },
            apis: $apis,
            version: None,
            host: &[$(($query, EVERY, &$set)),+],
            outcome: Outcome::Refused($said),
        }
    };
}

const WHOLE: [f64; 8] = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const HALF: [f64; 8] = [-0.5, -0.5, -0.5, 1.0, 0.5, 0.5, 0.5, 1.0];

/// All of them.
pub static ROWS: &[Row] = &[
    switch!("GL_NV_conservative_raster", BOTH, 0x9346),
    switch!("GL_INTEL_conservative_rasterization", BOTH, 0x83FE),
    switch!("GL_EXT_raster_multisample", BOTH, 0x9327),
    switch!("GL_EXT_depth_bounds_test", GL, 0x8890),
    switch!("GL_NV_fragment_coverage_to_color", BOTH, 0x92DD),
    switch!("GL_NV_representative_fragment_test", BOTH, 0x937F),
    switch!("GL_NV_primitive_shading_rate", BOTH, 0x95B1),
    switch!("GL_QCOM_alpha_test", ES, 0x0BC0),
    switch!("GL_QCOM_writeonly_rendering", ES, 0x8823),
    switch!("GL_INTEL_blackhole_render", BOTH, 0x83FC),
    switch!("GL_NV_clip_space_w_scaling", BOTH, 0x937C),
    switch!("GL_NV_framebuffer_mixed_samples", BOTH, 0x9331),
    switch!("GL_AMD_depth_clamp_separate", GL, 0x901E, 0x901F),
    switch!("GL_EXT_depth_clamp", ES, 0x864F),
    switch!("GL_EXT_multisample_compatibility", ES, 0x809F),
    switch!("GL_EXT_multisampled_compatibility", ES, 0x809F),
    switch!("GL_ANGLE_logic_op", ES, 0x0BF2),
    clip_distances!("GL_EXT_clip_cull_distance"),
    clip_distances!("GL_APPLE_clip_distance"),
    clip_distances!("GL_ANGLE_clip_cull_distance"),
    // Of the first viewport or stream, and of another one.
    Row {
        host: &[(0x9555, 0, &[1.0]), (0x9555, 3, &[1.0])],
        ..switch!("GL_NV_scissor_exclusive", BOTH, 0x9555)
    },
    Row {
        host: &[(0x9563, 0, &[1.0]), (0x9563, 5, &[1.0])],
        ..switch!("GL_NV_shading_rate_image", BOTH, 0x9563)
    },
    Row {
        extension: Extension {
            name: "GL_AMD_transform_feedback4",
            switches: &[(0x91A0, true)],
            ..Extension::NONE
        },
        apis: GL,
        version: None,
        host: &[(0x91A0, 0, &[0.0]), (0x91A0, 1, &[1.0])],
        outcome: Outcome::Kept,
    },
    value!("GL_EXT_clip_volume_hint", GL, 0x80F0: glow::DONT_CARE => glow::FASTEST, Draw),
    value!("GL_APPLE_client_storage", GL, 0x85B2: 0 => 1, Upload),
    value!("GL_MESA_pack_invert", GL, 0x8758: 0 => 1, ReadPixels),
    value!("GL_ANGLE_pack_reverse_row_order", ES, 0x93A4: 0 => 1, ReadPixels),
    Row {
        extension: Extension {
            name: "GL_APPLE_row_bytes",
            values: &[(0x8A15, &[0.0]), (0x8A16, &[0.0])],
            spoils: &[Call::Upload, Call::ReadPixels],
            ..Extension::NONE
        },
        apis: GL,
        version: None,
        host: &[(0x8A15, EVERY, &[4096.0]), (0x8A16, EVERY, &[8192.0])],
        outcome: Outcome::Kept,
    },
    loaded!("GL_NV_polygon_mode", ES, None, ["glPolygonModeNV"], "glPolygonModeNV",
        POLYGON_MODE => [glow::FILL as f64], [glow::LINE as f64]),
    loaded!("GL_ANGLE_polygon_mode", ES, None, ["glPolygonModeANGLE"], "glPolygonModeANGLE",
        POLYGON_MODE => [glow::FILL as f64], [glow::LINE as f64]),
    loaded!("GL_QCOM_shading_rate", ES, None, ["glShadingRateQCOM"], "glShadingRateQCOM",
        SHADING_RATE_QCOM => [RATE_1X1 as f64], [RATE_2X2 as f64]),
    loaded!("GL_EXT_fragment_shading_rate", BOTH, None, ["glShadingRateEXT"], "glShadingRateEXT",
        SHADING_RATE_EXT => [RATE_1X1 as f64], [RATE_2X2 as f64]),
    // For all viewports.
    loaded!("GL_NV_viewport_swizzle", BOTH, None, ["glViewportSwizzleNV"], "glViewportSwizzleNV",
        0x9358 => [0x9350 as f64], [0x9352 as f64];
        0x9359 => [0x9352 as f64], [0x9351 as f64];
        0x935A => [0x9354 as f64], [0x9355 as f64];
        0x935B => [0x9356 as f64], [0x9356 as f64]),
    loaded!("GL_NV_conservative_raster", BOTH, None, ["glSubpixelPrecisionBiasNV"], "glSubpixelPrecisionBiasNV",
        0x9347 => [0.0], [4.0]; 0x9348 => [0.0], [3.0]),
    loaded!("GL_ARB_ES3_2_compatibility", GL, None, ["glPrimitiveBoundingBoxARB"], "glPrimitiveBoundingBox",
        0x92BE => WHOLE, HALF),
    // Of the core: the extension is there too.
    loaded!("GL_EXT_primitive_bounding_box", ES, Some((3, 2)), ["glPrimitiveBoundingBox"], "glPrimitiveBoundingBox",
        0x92BE => WHOLE, HALF),
    loaded!("GL_EXT_primitive_bounding_box", ES, Some((3, 1)), ["glPrimitiveBoundingBoxEXT"], "glPrimitiveBoundingBox",
        0x92BE => WHOLE, HALF),
    loaded!("GL_OES_primitive_bounding_box", ES, Some((3, 1)), ["glPrimitiveBoundingBoxOES"], "glPrimitiveBoundingBox",
        0x92BE => WHOLE, HALF),
    Row {
        host: &[
            (WINDOW_RECTANGLE_MODE, EVERY, &[0x8F10 as f64]),
            (NUM_WINDOW_RECTANGLES, EVERY, &[2.0]),
            (WINDOW_RECTANGLE, 0, &[1.0, 2.0, 3.0, 4.0]),
            (WINDOW_RECTANGLE, 1, &[5.0, 6.0, 7.0, 8.0]),
        ],
        ..loaded!("GL_EXT_window_rectangles", BOTH, None, ["glWindowRectanglesEXT"], "glWindowRectanglesEXT",
            WINDOW_RECTANGLE_MODE => [0x8F11 as f64], [0.0];
            NUM_WINDOW_RECTANGLES => [0.0], [0.0];
            WINDOW_RECTANGLE => [0.0; 4], [0.0; 4])
    },
    client_state!("GL_NV_uniform_buffer_unified_memory", 0x936E, "GL_UNIFORM_BUFFER_UNIFIED_NV"),
    refused!("GL_EXT_separate_shader_objects", GL, "glUseShaderProgramEXT",
        glow::VERTEX_SHADER => [0.0], [77.0]; glow::FRAGMENT_SHADER => [0.0], [78.0]),
    refused!("GL_NV_depth_buffer_float", GL, "glDepthRangedNV",
        glow::DEPTH_RANGE => [0.0, 1.0], [-1.0, 2.0]),
    // Of two GPUs one.
    refused!("GL_NV_gpu_multicast", GL, "glRenderGpuMaskNV", 0x92BA => [2.0], [2.0]; 0x9558 => [3.0], [1.0]),
    refused!("GL_NVX_gpu_multicast2", GL, "glUploadGpuMaskNVX", 0x92BA => [2.0], [2.0]; 0x954A => [3.0], [2.0]),
    refused!("GL_ANGLE_shader_pixel_local_storage", ES, "glBeginPixelLocalStorageANGLE", 0x96E2 => [0.0], [2.0]),
    Row {
        outcome: Outcome::Refused("GL_SHADER_PIXEL_LOCAL_STORAGE_EXT"),
        ..switch!("GL_EXT_shader_pixel_local_storage", ES, 0x8F64)
    },
];

/// A texture that is drawn at fewer points towards its edges: of every texture, here.
pub const QCOM_TEXTURE_FOVEATED: Extension = Extension {
    name: "GL_QCOM_texture_foveated",
    values: &[(TEXTURE_FOVEATED_FEATURE_BITS, &[0.0])],
    ..Extension::NONE
};

pub const TEXTURE_FOVEATED_FEATURE_BITS: u32 = 0x8BFB;

impl Row {
    /// Whether a driver can have both: they answer different questions, in one version.
    fn goes_with(&self, other: &Row) -> bool {
        let asked = |query: u32| other.extension.queries().any(|q| q == query);
        self.version == other.version && !self.extension.queries().any(asked)
    }
}

/// The rows of a dialect, in as few drivers as can have them all.
pub fn drivers(api: Api) -> Vec<Vec<&'static Row>> {
    let mut drivers: Vec<Vec<&Row>> = Vec::new();
    for row in ROWS.iter().filter(|row| row.apis.contains(&api)) {
        match drivers.iter_mut().find(|driver| driver.iter().all(|other| row.goes_with(other))) {
            Some(driver) => driver.push(row),
            None => drivers.push(vec![row]),
        }
    }
    drivers
}
