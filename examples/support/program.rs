//! Shader programs of a host application's own, beside the library's kernels.
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
) -> Result<glow::NativeProgram> {
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
