//! The GL calls of a small draw by themselves: what a draw of texla's is measured against.

use glow::HasContext;
use texla::Device;

/// Adds two textures of 2x2 texels into two others in turns, with the calls that texla makes of it: framebuffer, draw,
/// error flag.
pub struct RawAdd {
    gl: std::sync::Arc<glow::Context>,
    program: glow::Program,
    array: glow::VertexArray,
    inputs: [glow::Texture; 2],
    targets: [glow::Framebuffer; 2],
    turn: usize,
}

const VERTEX: &str = "void main() {
    vec2 p = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(p, 0.5, 1.0);
}";
const FRAGMENT: &str = "uniform highp sampler2D x;
uniform highp sampler2D y;
out highp vec4 sum;
void main() { sum = texelFetch(x, ivec2(gl_FragCoord.xy), 0) + texelFetch(y, ivec2(gl_FragCoord.xy), 0); }";

impl RawAdd {
    /// Needs an open scope of the device's, which puts back what is changed here.
    pub fn new(device: &Device) -> Self {
        let gl = device.glow();
        let header = match device.api() {
            texla::gl::Api::Gl33 => "#version 330 core\n",
            _ => "#version 300 es\nprecision highp float;\n",
        };
        // SAFETY: the device's context is current.
        unsafe {
            let program = gl.create_program().expect("program");
            for (kind, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)] {
                let shader = gl.create_shader(kind).expect("shader");
                gl.shader_source(shader, &format!("{header}{text}"));
                gl.compile_shader(shader);
                assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
                gl.attach_shader(program, shader);
                gl.delete_shader(shader);
            }
            gl.link_program(program);
            assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
            let texture = || {
                let texture = gl.create_texture().expect("texture");
                gl.active_texture(glow::TEXTURE0);
                let held = gl.get_parameter_i32(glow::TEXTURE_BINDING_2D);
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA32F, 2, 2);
                gl.bind_texture(glow::TEXTURE_2D, bound(held).map(glow::NativeTexture));
                texture
            };
            let framebuffer = || {
                let held = gl.get_parameter_i32(glow::DRAW_FRAMEBUFFER_BINDING);
                let framebuffer = gl.create_framebuffer().expect("framebuffer");
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
                let attachment = glow::COLOR_ATTACHMENT0;
                gl.framebuffer_texture_2d(
                    glow::FRAMEBUFFER,
                    attachment,
                    glow::TEXTURE_2D,
                    Some(texture()),
                    0,
                );
                assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
                gl.bind_framebuffer(glow::FRAMEBUFFER, bound(held).map(glow::NativeFramebuffer));
                framebuffer
            };
            RawAdd {
                inputs: [texture(), texture()],
                targets: [framebuffer(), framebuffer()],
                array: gl.create_vertex_array().expect("vertex array"),
                program,
                gl: gl.clone(),
                turn: 0,
            }
        }
    }

    /// This many draws, inside the scope; what texla believes to be bound is bound again afterwards.
    pub fn run(&mut self, draws: usize) -> usize {
        let gl = &self.gl;
        // SAFETY: the device's context is current, and the objects are alive.
        unsafe {
            let [framebuffer, program, array, unit] = [
                glow::DRAW_FRAMEBUFFER_BINDING,
                glow::CURRENT_PROGRAM,
                glow::VERTEX_ARRAY_BINDING,
                glow::ACTIVE_TEXTURE,
            ]
            .map(|name| gl.get_parameter_i32(name));
            let mut viewport = [0; 4];
            gl.get_parameter_i32_slice(glow::VIEWPORT, &mut viewport);
            let held = [0, 1].map(|k| {
                gl.active_texture(glow::TEXTURE0 + k);
                let texture = gl.get_parameter_i32(glow::TEXTURE_BINDING_2D);
                gl.bind_texture(glow::TEXTURE_2D, Some(self.inputs[k as usize]));
                texture
            });
            gl.use_program(Some(self.program));
            gl.uniform_1_i32(gl.get_uniform_location(self.program, "y").as_ref(), 1);
            gl.bind_vertex_array(Some(self.array));
            gl.viewport(0, 0, 2, 2);
            for _ in 0..draws {
                self.turn ^= 1;
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.targets[self.turn]));
                gl.draw_arrays(glow::TRIANGLES, 0, 3);
                assert_eq!(gl.get_error(), glow::NO_ERROR);
            }
            for (k, texture) in held.into_iter().enumerate() {
                gl.active_texture(glow::TEXTURE0 + k as u32);
                gl.bind_texture(glow::TEXTURE_2D, bound(texture).map(glow::NativeTexture));
            }
            gl.active_texture(unit as u32);
            gl.bind_framebuffer(glow::FRAMEBUFFER, bound(framebuffer).map(glow::NativeFramebuffer));
            gl.use_program(bound(program).map(glow::NativeProgram));
            gl.bind_vertex_array(bound(array).map(glow::NativeVertexArray));
            let [x, y, width, height] = viewport;
            gl.viewport(x, y, width, height);
        }
        draws
    }
}

fn bound(name: i32) -> Option<std::num::NonZeroU32> {
    std::num::NonZeroU32::new(name as u32)
}
