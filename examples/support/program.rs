//! What host applications do with GL beside the library's kernels: shader programs of their own, and reading what they drew.
#![allow(unsafe_code)] // a host that calls GL

use glow::HasContext;

use super::outcome::{Failure, Result};

/// Compiles and links a program whose stages are written in the common subset of GLSL 3.30 and ESSL 3.00; attributes
/// get their places in the order given.
///
/// # Safety
/// The context is current.
pub unsafe fn program(
    gl: &glow::Context,
    [vertex, fragment]: [&str; 2],
    attributes: &[&str],
) -> Result<glow::Program> {
    let header = if gl.version().is_embedded {
        "#version 300 es\nprecision highp float;\nprecision highp int;\n\
         precision highp sampler2D;\nprecision highp sampler2DShadow;\n"
    } else {
        "#version 330 core\n"
    };
    // SAFETY: the caller's.
    unsafe {
        let program = gl.create_program().map_err(Failure::unsolved)?;
        for (kind, body) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).map_err(Failure::unsolved)?;
            gl.shader_source(shader, &format!("{header}{body}"));
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                return Err(Failure::unsolved(gl.get_shader_info_log(shader)));
            }
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        for (place, name) in (0..).zip(attributes) {
            gl.bind_attrib_location(program, place, name);
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            return Err(Failure::unsolved(gl.get_program_info_log(program)));
        }
        Ok(program)
    }
}

/// The picture in a framebuffer of 8 bits a channel: three bytes a pixel, rows from the top. No framebuffer is bound afterwards.
///
/// # Safety
/// The context is current, and nothing but texla's state guard has touched its pixel pack state.
pub unsafe fn read_rgb(gl: &glow::Context, from: glow::Framebuffer, (w, h): (i32, i32)) -> Vec<u8> {
    let mut pixels = vec![0; 4 * (w * h) as usize];
    // SAFETY: the caller's.
    unsafe {
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(from));
        gl.pixel_store_i32(glow::PACK_ALIGNMENT, 4);
        let data = glow::PixelPackData::Slice(Some(&mut pixels));
        gl.read_pixels(0, 0, w, h, glow::RGBA, glow::UNSIGNED_BYTE, data);
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
    }
    let rows = pixels.chunks(4 * w as usize).rev();
    rows.flat_map(|row| row.chunks(4)).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect()
}
