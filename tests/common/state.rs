//! The host's view of the GL state: a list of its own, not derived from the library's table, so that a value which
//! the library forgets is missed by one list alone.
#![allow(unsafe_code)]

use glow::HasContext;

use super::egl::Extra;

/// Values by name; floats as their bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(Vec<(String, Vec<i64>)>);

impl Snapshot {
    /// Number of values compared.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What differs, as sentences.
    pub fn differences(&self, after: &Snapshot) -> Vec<String> {
        assert_eq!(self.len(), after.len());
        let changed = self.0.iter().zip(&after.0).filter(|(a, b)| a != b);
        changed.map(|(a, b)| format!("{}: was {:x?}, is {:x?}", a.0, a.1, b.1)).collect()
    }
}

const FRONT_FACE: u32 = 0x0B46;
const CULL_FACE_MODE: u32 = 0x0B45;
const PROVOKING_VERTEX: u32 = 0x8E4F;
const PRIMITIVE_RESTART_INDEX: u32 = 0x8F9E;
const PRIMITIVE_RESTART_FIXED_INDEX: u32 = 0x8D69;
const CLAMP_READ_COLOR: u32 = 0x891C;
const PACK_INVERT: u32 = 0x8758;
const PACK_REVERSE_ROW_ORDER: u32 = 0x93A4;
const CLIP_ORIGIN: u32 = 0x935C;
const CLIP_DEPTH_MODE: u32 = 0x935D;
const SAMPLE_MASK_VALUE: u32 = 0x8E52;
const POINT_SIZE: u32 = 0x0B11;
const LOGIC_OP_MODE: u32 = 0x0BF0;

/// One number in every version.
const INTS: &[(&str, u32)] = &[
    ("program", glow::CURRENT_PROGRAM),
    ("vertex array", glow::VERTEX_ARRAY_BINDING),
    ("array buffer", glow::ARRAY_BUFFER_BINDING),
    ("element array buffer", glow::ELEMENT_ARRAY_BUFFER_BINDING),
    ("pixel pack buffer", glow::PIXEL_PACK_BUFFER_BINDING),
    ("pixel unpack buffer", glow::PIXEL_UNPACK_BUFFER_BINDING),
    ("copy read buffer", glow::COPY_READ_BUFFER),
    ("copy write buffer", glow::COPY_WRITE_BUFFER),
    ("uniform buffer", glow::UNIFORM_BUFFER_BINDING),
    ("transform feedback buffer", glow::TRANSFORM_FEEDBACK_BUFFER_BINDING),
    ("draw framebuffer", glow::DRAW_FRAMEBUFFER_BINDING),
    ("read framebuffer", glow::READ_FRAMEBUFFER_BINDING),
    ("renderbuffer", glow::RENDERBUFFER_BINDING),
    ("read buffer", glow::READ_BUFFER),
    ("active unit", glow::ACTIVE_TEXTURE),
    ("depth func", glow::DEPTH_FUNC),
    ("depth mask", glow::DEPTH_WRITEMASK),
    ("stencil func", glow::STENCIL_FUNC),
    ("stencil reference", glow::STENCIL_REF),
    ("stencil value mask", glow::STENCIL_VALUE_MASK),
    ("stencil write mask", glow::STENCIL_WRITEMASK),
    ("stencil fail", glow::STENCIL_FAIL),
    ("stencil depth fail", glow::STENCIL_PASS_DEPTH_FAIL),
    ("stencil pass", glow::STENCIL_PASS_DEPTH_PASS),
    ("stencil back func", glow::STENCIL_BACK_FUNC),
    ("stencil back write mask", glow::STENCIL_BACK_WRITEMASK),
    ("stencil clear", glow::STENCIL_CLEAR_VALUE),
    ("cull mode", CULL_FACE_MODE),
    ("front face", FRONT_FACE),
    ("sample coverage invert", glow::SAMPLE_COVERAGE_INVERT),
    ("unpack alignment", glow::UNPACK_ALIGNMENT),
    ("unpack row length", glow::UNPACK_ROW_LENGTH),
    ("unpack skip rows", glow::UNPACK_SKIP_ROWS),
    ("unpack skip pixels", glow::UNPACK_SKIP_PIXELS),
    ("unpack image height", glow::UNPACK_IMAGE_HEIGHT),
    ("unpack skip images", glow::UNPACK_SKIP_IMAGES),
    ("pack alignment", glow::PACK_ALIGNMENT),
    ("pack row length", glow::PACK_ROW_LENGTH),
    ("pack skip rows", glow::PACK_SKIP_ROWS),
    ("pack skip pixels", glow::PACK_SKIP_PIXELS),
    ("derivative hint", glow::FRAGMENT_SHADER_DERIVATIVE_HINT),
];

/// One number on the desktop alone.
const DESKTOP_INTS: &[(&str, u32)] = &[
    ("logic op mode", LOGIC_OP_MODE),
    ("provoking vertex", PROVOKING_VERTEX),
    ("primitive restart index", PRIMITIVE_RESTART_INDEX),
    ("clamp read colour", CLAMP_READ_COLOR),
    ("unpack swap bytes", glow::UNPACK_SWAP_BYTES),
    ("unpack lsb first", glow::UNPACK_LSB_FIRST),
    ("pack swap bytes", glow::PACK_SWAP_BYTES),
    ("pack lsb first", glow::PACK_LSB_FIRST),
];

/// Switches in every version.
const SWITCHES: &[(&str, u32)] = &[
    ("scissor test", glow::SCISSOR_TEST),
    ("blend", glow::BLEND),
    ("depth test", glow::DEPTH_TEST),
    ("stencil test", glow::STENCIL_TEST),
    ("cull face", glow::CULL_FACE),
    ("dither", glow::DITHER),
    ("polygon offset", glow::POLYGON_OFFSET_FILL),
    ("rasterizer discard", glow::RASTERIZER_DISCARD),
    ("alpha to coverage", glow::SAMPLE_ALPHA_TO_COVERAGE),
    ("sample coverage", glow::SAMPLE_COVERAGE),
];

/// Switches on the desktop alone.
const DESKTOP_SWITCHES: &[(&str, u32)] = &[
    ("logic op", glow::COLOR_LOGIC_OP),
    ("depth clamp", glow::DEPTH_CLAMP),
    ("sRGB", glow::FRAMEBUFFER_SRGB),
    ("multisample", glow::MULTISAMPLE),
    ("line smooth", glow::LINE_SMOOTH),
    ("polygon smooth", glow::POLYGON_SMOOTH),
    ("polygon offset line", glow::POLYGON_OFFSET_LINE),
    ("polygon offset point", glow::POLYGON_OFFSET_POINT),
    ("primitive restart", glow::PRIMITIVE_RESTART),
    ("point size by program", glow::PROGRAM_POINT_SIZE),
    ("alpha to one", glow::SAMPLE_ALPHA_TO_ONE),
    ("seamless cube maps", glow::TEXTURE_CUBE_MAP_SEAMLESS),
    ("sample mask", glow::SAMPLE_MASK),
    ("clip distance 0", glow::CLIP_DISTANCE0),
    ("clip distance 1", glow::CLIP_DISTANCE1),
    ("clip distance 2", glow::CLIP_DISTANCE2),
    ("clip distance 3", glow::CLIP_DISTANCE3),
    ("clip distance 4", glow::CLIP_DISTANCE4),
    ("clip distance 5", glow::CLIP_DISTANCE5),
    ("clip distance 6", glow::CLIP_DISTANCE6),
    ("clip distance 7", glow::CLIP_DISTANCE7),
];

/// Switches of extensions, by the extension's name.
pub const EXTENDED: [(&str, u32); 7] = [
    ("GL_NV_conservative_raster", 0x9346),
    ("GL_INTEL_conservative_rasterization", 0x83FE),
    ("GL_EXT_raster_multisample", 0x9327),
    ("GL_EXT_depth_bounds_test", 0x8890),
    ("GL_NV_fragment_coverage_to_color", 0x92DD),
    ("GL_NV_representative_fragment_test", 0x937F),
    ("GL_NV_shading_rate_image", 0x9563),
];

/// Floats in every version, with their number.
const FLOATS: &[(&str, u32, usize)] = &[
    ("viewport", glow::VIEWPORT, 4),
    ("scissor box", glow::SCISSOR_BOX, 4),
    ("blend colour", glow::BLEND_COLOR, 4),
    ("depth range", glow::DEPTH_RANGE, 2),
    ("clear depth", glow::DEPTH_CLEAR_VALUE, 1),
    ("clear colour", glow::COLOR_CLEAR_VALUE, 4),
    ("polygon offset factor", glow::POLYGON_OFFSET_FACTOR, 1),
    ("polygon offset units", glow::POLYGON_OFFSET_UNITS, 1),
    ("line width", glow::LINE_WIDTH, 1),
    ("sample coverage value", glow::SAMPLE_COVERAGE_VALUE, 1),
];

const BLEND: [(&str, u32); 6] = [
    ("source rgb", glow::BLEND_SRC_RGB),
    ("target rgb", glow::BLEND_DST_RGB),
    ("source alpha", glow::BLEND_SRC_ALPHA),
    ("target alpha", glow::BLEND_DST_ALPHA),
    ("equation rgb", glow::BLEND_EQUATION_RGB),
    ("equation alpha", glow::BLEND_EQUATION_ALPHA),
];

const UNIT: [(&str, u32); 5] = [
    ("2-D texture", glow::TEXTURE_BINDING_2D),
    ("sampler", glow::SAMPLER_BINDING),
    ("3-D texture", glow::TEXTURE_BINDING_3D),
    ("2-D array texture", glow::TEXTURE_BINDING_2D_ARRAY),
    ("cube map", glow::TEXTURE_BINDING_CUBE_MAP),
];

/// True from this desktop version or this ES version on.
pub fn since(gl: &glow::Context, desktop: (u32, u32), es: (u32, u32)) -> bool {
    let version = gl.version();
    (version.major, version.minor) >= if version.is_embedded { es } else { desktop }
}

/// Whether an active transform feedback can be asked for, and paused.
pub fn feedback_can_pause(gl: &glow::Context) -> bool {
    since(gl, (4, 0), (3, 0)) || gl.supported_extensions().contains("GL_ARB_transform_feedback2")
}

/// Whether the driver names this extension.
pub fn has(gl: &glow::Context, extension: &str) -> bool {
    gl.supported_extensions().contains(extension)
}

/// Whether the clip space can be another.
pub fn clip_control(gl: &glow::Context) -> bool {
    let name = if gl.version().is_embedded { "GL_EXT_clip_control" } else { "GL_ARB_clip_control" };
    since(gl, (4, 5), (9, 9)) || has(gl, name)
}

/// Whether there are viewports past the first.
pub fn several_viewports(gl: &glow::Context) -> bool {
    if gl.version().is_embedded {
        return since(gl, (9, 9), (3, 2)) && has(gl, "GL_OES_viewport_array");
    }
    since(gl, (4, 1), (9, 9)) || has(gl, "GL_ARB_viewport_array")
}

/// Whether each draw buffer has factors and equations of its own.
pub fn blends_apart(gl: &glow::Context) -> bool {
    let extensions = if gl.version().is_embedded {
        ["GL_OES_draw_buffers_indexed", "GL_EXT_draw_buffers_indexed"].as_slice()
    } else {
        &["GL_ARB_draw_buffers_blend"]
    };
    since(gl, (4, 0), (3, 2)) || extensions.iter().any(|name| has(gl, name))
}

/// Everything in the lists above, and what is kept for each texture unit, draw buffer, viewport and attribute.
pub fn snapshot(gl: &glow::Context, extra: &Extra) -> Snapshot {
    let mut values = Vec::new();
    let mut add = |name: String, value: Vec<i64>| {
        // SAFETY: the caller has made the context current.
        assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{name} cannot be asked for here");
        values.push((name, value));
    };
    let desktop = !gl.version().is_embedded;
    // SAFETY: the caller has made the context current; every query asks for what this version has.
    unsafe {
        assert_eq!(gl.get_error(), glow::NO_ERROR, "an error is pending before the snapshot");
        let int = |query| vec![i64::from(gl.get_parameter_i32(query))];
        let indexed = |query, i| vec![i64::from(gl.get_parameter_indexed_i32(query, i))];
        let switch = |cap| vec![i64::from(gl.is_enabled(cap))];
        let floats = |query, count| {
            let mut found = [f32::NAN; 4];
            gl.get_parameter_f32_slice(query, &mut found);
            found.iter().take(count).map(|f: &f32| i64::from(f.to_bits())).collect::<Vec<_>>()
        };
        for (name, query) in INTS.iter().chain(DESKTOP_INTS.iter().filter(|_| desktop)) {
            // A stencil mask counts as far as stencil buffers go; what drivers say of the bits above differs.
            let bits = if name.starts_with("stencil") && name.contains("mask") { 0xff } else { !0 };
            add((*name).into(), int(*query).into_iter().map(|v| v & bits).collect());
        }
        let extended = EXTENDED.iter().filter(|(name, _)| has(gl, name));
        for (name, cap) in SWITCHES.iter().chain(DESKTOP_SWITCHES.iter().filter(|_| desktop)).chain(extended)
        {
            add((*name).into(), switch(*cap));
        }
        for (name, query, count) in FLOATS {
            add((*name).into(), floats(*query, *count));
        }
        if desktop {
            let mut mode = [0; 4];
            gl.get_parameter_i32_slice(glow::POLYGON_MODE, &mut mode);
            add("polygon mode".into(), vec![i64::from(mode[0])]);
            add("point size".into(), floats(POINT_SIZE, 1));
        }
        if since(gl, (3, 2), (3, 1)) {
            add("sample mask value".into(), indexed(SAMPLE_MASK_VALUE, 0));
        }
        if since(gl, (4, 3), (3, 0)) {
            add("primitive restart at the fixed index".into(), switch(PRIMITIVE_RESTART_FIXED_INDEX));
        }
        if clip_control(gl) {
            add("clip origin".into(), int(CLIP_ORIGIN));
            add("clip depth mode".into(), int(CLIP_DEPTH_MODE));
        }
        for (name, query) in [
            ("GL_MESA_pack_invert", PACK_INVERT),
            ("GL_ANGLE_pack_reverse_row_order", PACK_REVERSE_ROW_ORDER),
        ] {
            if has(gl, name) {
                add(name.into(), int(query));
            }
        }
        if feedback_can_pause(gl) {
            add("transform feedback active".into(), int(glow::TRANSFORM_FEEDBACK_ACTIVE));
            add("transform feedback paused".into(), int(glow::TRANSFORM_FEEDBACK_PAUSED));
            add("transform feedback".into(), int(glow::TRANSFORM_FEEDBACK_BINDING));
        }
        for i in 0..4 {
            for (name, bound, start, size) in [
                (
                    "uniform buffer",
                    glow::UNIFORM_BUFFER_BINDING,
                    glow::UNIFORM_BUFFER_START,
                    glow::UNIFORM_BUFFER_SIZE,
                ),
                (
                    "transform feedback buffer",
                    glow::TRANSFORM_FEEDBACK_BUFFER_BINDING,
                    glow::TRANSFORM_FEEDBACK_BUFFER_START,
                    glow::TRANSFORM_FEEDBACK_BUFFER_SIZE,
                ),
            ] {
                let range = [start, size].map(|q| gl.get_parameter_indexed_i64(q, i));
                let buffer = i64::from(gl.get_parameter_indexed_i32(bound, i));
                add(format!("{name} {i}"), vec![buffer, range[0], range[1]]);
            }
        }
        for i in 0..gl.get_parameter_i32(glow::MAX_DRAW_BUFFERS) as u32 {
            add(format!("draw buffer {i}"), int(glow::DRAW_BUFFER0 + i));
            if since(gl, (3, 0), (3, 2)) {
                add(format!("blend {i}"), indexed(glow::BLEND, i));
                let mask = extra.colour_mask(i).map(i64::from);
                add(format!("colour mask {i}"), mask.to_vec());
            }
            if blends_apart(gl) {
                for (name, query) in BLEND {
                    add(format!("blend {i} {name}"), indexed(query, i));
                }
            }
        }
        for (name, query) in BLEND {
            add(format!("blend {name}"), int(query));
        }
        let mask = gl.get_parameter_bool_array::<4>(glow::COLOR_WRITEMASK);
        add("colour mask".into(), mask.map(i64::from).to_vec());
        if several_viewports(gl) {
            for i in 0..16 {
                add(format!("viewport {i}"), (extra.viewport(i)).map(|f| i64::from(f.to_bits())).to_vec());
                add(format!("depth range {i}"), extra.depth_range(i).map(|f| f.to_bits() as i64).to_vec());
                add(format!("scissor test {i}"), vec![i64::from(extra.scissor_test(i))]);
            }
        }
        let active = gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32;
        for unit in 0..16 {
            gl.active_texture(glow::TEXTURE0 + unit);
            for (name, query) in UNIT {
                add(format!("unit {unit} {name}"), int(query));
            }
        }
        gl.active_texture(active);
        for i in 0..4 {
            for (name, query) in [
                ("enabled", glow::VERTEX_ATTRIB_ARRAY_ENABLED),
                ("size", glow::VERTEX_ATTRIB_ARRAY_SIZE),
                ("stride", glow::VERTEX_ATTRIB_ARRAY_STRIDE),
                ("buffer", glow::VERTEX_ATTRIB_ARRAY_BUFFER_BINDING),
            ] {
                let mut found = [0.0; 4];
                gl.get_vertex_attrib_parameter_f32_slice(i, query, &mut found);
                add(format!("attribute {i} {name}"), vec![found[0] as i64]);
            }
        }
        assert_eq!(gl.get_error(), glow::NO_ERROR, "a query of the snapshot is wrong");
    }
    Snapshot(values)
}

/// What the snapshot was for: nothing has changed.
pub fn assert_same(before: &Snapshot, after: &Snapshot, what: &str) {
    let differences = before.differences(after);
    assert!(differences.is_empty(), "{what} changed the host's state: {differences:#?}");
}
