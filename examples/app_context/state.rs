//! The application's own list of the GL state that it relies on.

use glow::HasContext;

const NUMBERS: &[u32] = &[
    glow::CURRENT_PROGRAM,
    glow::VERTEX_ARRAY_BINDING,
    glow::ARRAY_BUFFER_BINDING,
    glow::ELEMENT_ARRAY_BUFFER_BINDING,
    glow::PIXEL_PACK_BUFFER_BINDING,
    glow::PIXEL_UNPACK_BUFFER_BINDING,
    glow::COPY_READ_BUFFER,
    glow::COPY_WRITE_BUFFER,
    glow::UNIFORM_BUFFER_BINDING,
    glow::TRANSFORM_FEEDBACK_BUFFER_BINDING,
    glow::DRAW_FRAMEBUFFER_BINDING,
    glow::READ_FRAMEBUFFER_BINDING,
    glow::RENDERBUFFER_BINDING,
    glow::READ_BUFFER,
    glow::DRAW_BUFFER0,
    glow::DRAW_BUFFER1,
    glow::ACTIVE_TEXTURE,
    glow::BLEND_SRC_RGB,
    glow::BLEND_DST_RGB,
    glow::BLEND_SRC_ALPHA,
    glow::BLEND_DST_ALPHA,
    glow::BLEND_EQUATION_RGB,
    glow::BLEND_EQUATION_ALPHA,
    glow::DEPTH_FUNC,
    glow::DEPTH_WRITEMASK,
    glow::STENCIL_FUNC,
    glow::STENCIL_REF,
    glow::STENCIL_VALUE_MASK,
    glow::STENCIL_WRITEMASK,
    glow::STENCIL_FAIL,
    glow::STENCIL_PASS_DEPTH_FAIL,
    glow::STENCIL_PASS_DEPTH_PASS,
    glow::UNPACK_ALIGNMENT,
    glow::UNPACK_ROW_LENGTH,
    glow::UNPACK_SKIP_ROWS,
    glow::UNPACK_SKIP_PIXELS,
    glow::PACK_ALIGNMENT,
    glow::PACK_ROW_LENGTH,
    glow::PACK_SKIP_ROWS,
    glow::PACK_SKIP_PIXELS,
];

const SWITCHES: &[u32] = &[
    glow::SCISSOR_TEST,
    glow::BLEND,
    glow::DEPTH_TEST,
    glow::STENCIL_TEST,
    glow::CULL_FACE,
    glow::DITHER,
    glow::POLYGON_OFFSET_FILL,
    glow::RASTERIZER_DISCARD,
    glow::SAMPLE_ALPHA_TO_COVERAGE,
    glow::SAMPLE_COVERAGE,
];

const FLOATS: &[(u32, usize)] = &[
    (glow::VIEWPORT, 4),
    (glow::SCISSOR_BOX, 4),
    (glow::BLEND_COLOR, 4),
    (glow::COLOR_CLEAR_VALUE, 4),
    (glow::COLOR_WRITEMASK, 4),
    (glow::DEPTH_RANGE, 2),
    (glow::DEPTH_CLEAR_VALUE, 1),
    (glow::LINE_WIDTH, 1),
    (glow::POLYGON_OFFSET_FACTOR, 1),
    (glow::POLYGON_OFFSET_UNITS, 1),
];

/// Every value with what it is called: the query's number, and the unit for what is kept per texture unit.
pub fn read(gl: &glow::Context) -> Vec<(String, f64)> {
    let mut values = Vec::new();
    // SAFETY: the context is current; all of this exists in OpenGL 3.3 and in OpenGL ES 3.0.
    unsafe {
        for query in NUMBERS {
            values.push((format!("0x{query:04x}"), f64::from(gl.get_parameter_i32(*query))));
        }
        for cap in SWITCHES {
            values.push((format!("0x{cap:04x}"), f64::from(u8::from(gl.is_enabled(*cap)))));
        }
        for (query, count) in FLOATS {
            let mut found = [0.0f32; 4];
            gl.get_parameter_f32_slice(*query, &mut found);
            let named = found.iter().take(*count).enumerate();
            values.extend(named.map(|(i, v)| (format!("0x{query:04x}[{i}]"), f64::from(*v))));
        }
        let active = gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32;
        for unit in 0..8 {
            gl.active_texture(glow::TEXTURE0 + unit);
            for query in [glow::TEXTURE_BINDING_2D, glow::SAMPLER_BINDING] {
                values.push((format!("unit {unit} 0x{query:04x}"), f64::from(gl.get_parameter_i32(query))));
            }
        }
        gl.active_texture(active);
    }
    values
}
