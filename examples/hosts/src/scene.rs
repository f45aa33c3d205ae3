//! A renderer that sets its state once and relies on it ever after, as engines do: depth, stencil, blending, culling, scissors, units
//! and samplers, and in the middle of a frame whatever the guest does.
#![allow(unsafe_code)] // a program that calls GL

use std::ffi::c_void;
use std::sync::Arc;

use glow::HasContext;

/// Which depths are near.
#[derive(Clone, Copy, PartialEq)]
pub enum Depth {
    /// 0, in the window's own buffer.
    Usual,
    /// 1, in a buffer of floats, clip space from 0 to 1: what is far away keeps its digits.
    Reversed,
}

const ZERO_TO_ONE: u32 = 0x935F;

const VERTEX: &str = "
    layout(location = 0) in vec3 place;
    layout(location = 1) in vec4 colour;
    uniform vec4 turn;
    uniform float near;
    out vec4 paint;
    out vec2 at;
    void main() {
        vec3 p = vec3(turn.x * place.x - turn.y * place.z, place.y, turn.y * place.x + turn.x * place.z);
        float depth = 0.5 + 0.6 * p.z; // parts lie before the near plane and behind the far one
        gl_Position = vec4(p.xy, near > 0.5 ? 1.0 - depth : 2.0 * depth - 1.0, 1.0);
        paint = colour;
        at = 0.5 * place.xy + 0.5;
    }";
const FRAGMENT: &str = "
    uniform sampler2D weave;
    in vec4 paint;
    in vec2 at;
    out vec4 colour;
    void main() { colour = vec4(paint.rgb * texture(weave, 3.0 * at).rgb, paint.a); }";
const SHOW_VERTEX: &str = "
    uniform vec4 turn;
    void main() {
        vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
        gl_Position = vec4(turn.xy + corner * turn.zw, 0.0, 1.0);
    }";
/// Texel by texel, from the lower left corner of the frame.
const SHOW_FRAGMENT: &str = "
    uniform sampler2D weave;
    out vec4 colour;
    void main() { colour = texelFetch(weave, ivec2(gl_FragCoord.xy), 0); }";

/// Two triangles that pass through each other as they turn, and a pane before them: place and colour of each corner.
#[rustfmt::skip]
const CORNERS: [f32; 63] = [
    -0.9, -0.8, -0.7,  1.0, 0.2, 0.1, 1.0,
     0.9, -0.6,  0.7,  0.2, 1.0, 0.1, 1.0,
     0.0,  0.9,  0.0,  0.1, 0.2, 1.0, 1.0,
    -0.9, -0.5,  0.7,  1.0, 1.0, 0.1, 1.0,
     0.9, -0.9, -0.7,  0.1, 1.0, 1.0, 1.0,
     0.1,  0.8,  0.1,  1.0, 0.1, 1.0, 1.0,
    -0.7, -0.3, -0.4,  1.0, 1.0, 1.0, 0.4,
     0.8, -0.2, -0.3,  0.9, 0.7, 0.2, 0.4,
     0.2,  0.7, -0.2,  0.3, 0.3, 0.9, 0.4,
];

/// The renderer and its objects.
pub struct Scene {
    gl: Arc<glow::Context>,
    size: (u32, u32),
    depth: Depth,
    program: glow::NativeProgram,
    show: glow::NativeProgram,
    array: glow::NativeVertexArray,
    bare: glow::NativeVertexArray,
    corners: glow::NativeBuffer,
    weave: glow::NativeTexture,
    sampler: glow::NativeSampler,
    /// Where it draws to, unless that is the window.
    target: Option<(glow::NativeFramebuffer, glow::NativeTexture, glow::NativeRenderbuffer)>,
}

impl Scene {
    /// Makes the objects and sets all state. The window has depth and stencil unless depths are reversed.
    ///
    /// # Safety
    /// The context is current now and whenever this is used; `address` gives its functions.
    pub unsafe fn new(
        gl: Arc<glow::Context>,
        size: (u32, u32),
        depth: Depth,
        address: &dyn Fn(&str) -> *const c_void,
    ) -> Self {
        let (width, height) = (size.0 as i32, size.1 as i32);
        // SAFETY: the caller's; an address under that name is a function of this type.
        unsafe {
            let program = program(&gl, VERTEX, FRAGMENT);
            let show = program_for_results(&gl);
            let array = gl.create_vertex_array().unwrap();
            let bare = gl.create_vertex_array().unwrap();
            let corners = gl.create_buffer().unwrap();
            gl.bind_vertex_array(Some(array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(corners));
            let bytes: Vec<u8> = CORNERS.iter().flat_map(|v| v.to_ne_bytes()).collect();
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &bytes, glow::STATIC_DRAW);
            for (i, length, offset) in [(0, 3, 0), (1, 4, 12)] {
                gl.enable_vertex_attrib_array(i);
                gl.vertex_attrib_pointer_f32(i, length, glow::FLOAT, false, 28, offset);
            }
            let weave = gl.create_texture().unwrap();
            gl.active_texture(glow::TEXTURE0 + 3);
            gl.bind_texture(glow::TEXTURE_2D, Some(weave));
            // Rows of five texels of three bytes, in a store that is not aligned.
            let texels: Vec<u8> = (0..75u32).map(|i| 120 + (i * i % 130) as u8).collect();
            gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            let pixels = glow::PixelUnpackData::Slice(Some(&texels));
            let (rgb, byte) = (glow::RGB, glow::UNSIGNED_BYTE);
            gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGB8 as i32, 5, 5, 0, rgb, byte, pixels);
            gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
            let sampler = gl.create_sampler().unwrap();
            gl.sampler_parameter_i32(sampler, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
            gl.sampler_parameter_i32(sampler, glow::TEXTURE_WRAP_S, glow::MIRRORED_REPEAT as i32);
            gl.bind_sampler(3, Some(sampler));
            let target = (depth == Depth::Reversed).then(|| float_target(&gl, size));
            if depth == Depth::Reversed {
                let set = address("glClipControl");
                type ClipControl = unsafe extern "system" fn(u32, u32);
                let set = std::mem::transmute::<*const c_void, Option<ClipControl>>(set);
                set.expect("reversed depth needs glClipControl")(glow::LOWER_LEFT, ZERO_TO_ONE);
            }
            let (near, far) = if depth == Depth::Reversed { (glow::GREATER, 0.0) } else { (glow::LESS, 1.0) };
            gl.enable(glow::DEPTH_TEST);
            gl.depth_func(near);
            gl.clear_depth_f32(far);
            gl.clear_color(0.1, 0.15, 0.2, 1.0);
            gl.clear_stencil(1);
            gl.enable(glow::STENCIL_TEST);
            gl.stencil_op(glow::KEEP, glow::KEEP, glow::INCR);
            gl.enable(glow::BLEND);
            gl.blend_equation_separate(glow::FUNC_ADD, glow::MAX);
            gl.blend_func_separate(glow::SRC_ALPHA, glow::ONE_MINUS_SRC_ALPHA, glow::ONE, glow::ONE);
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(2, 2, width - 4, height - 4);
            gl.viewport(1, 1, width - 2, height - 2);
            gl.color_mask(true, true, true, false);
            gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
            gl.use_program(Some(program));
            gl.uniform_1_i32(gl.get_uniform_location(program, "weave").as_ref(), 3);
            let reversed = if depth == Depth::Reversed { 1.0 } else { 0.0 };
            gl.uniform_1_f32(gl.get_uniform_location(program, "near").as_ref(), reversed);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            Scene { gl, size, depth, program, show, array, bare, corners, weave, sampler, target }
        }
    }

    /// Draws frame `i`, with the guest's turn in its middle, and returns its pixels. All state that it needs was set long ago.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn frame(&self, i: usize, guest: &mut dyn FnMut()) -> Vec<u8> {
        let gl = &self.gl;
        let angle = 0.4 * i as f32;
        // SAFETY: the caller's.
        unsafe {
            gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT | glow::STENCIL_BUFFER_BIT);
            gl.stencil_func(glow::ALWAYS, 0, 0xff);
            let turn = gl.get_uniform_location(self.program, "turn");
            gl.uniform_4_f32(turn.as_ref(), angle.cos(), angle.sin(), 0.0, 0.0);
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            guest();
            gl.draw_arrays(glow::TRIANGLES, 3, 3);
            // The pane, where something has been drawn.
            gl.stencil_func(glow::LESS, 1, 0xff);
            gl.draw_arrays(glow::TRIANGLES, 6, 3);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            self.pixels()
        }
    }

    /// Shows a texture texel by texel in the lower left corner, and returns the pixels of the frame.
    ///
    /// # Safety
    /// The context is current, and the texture is one of its.
    pub unsafe fn show(&self, texture: glow::NativeTexture, side: u32) -> Vec<u8> {
        let gl = &self.gl;
        // SAFETY: the caller's.
        unsafe {
            for switch in [glow::DEPTH_TEST, glow::STENCIL_TEST, glow::BLEND, glow::SCISSOR_TEST] {
                gl.disable(switch);
            }
            gl.viewport(0, 0, side as i32, side as i32);
            gl.use_program(Some(self.show));
            gl.bind_vertex_array(Some(self.bare));
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
            let pixels = self.pixels();
            gl.bind_texture(glow::TEXTURE_2D, None);
            gl.active_texture(glow::TEXTURE0 + 3);
            gl.bind_vertex_array(Some(self.array));
            gl.use_program(Some(self.program));
            gl.viewport(1, 1, self.size.0 as i32 - 2, self.size.1 as i32 - 2);
            for switch in [glow::DEPTH_TEST, glow::STENCIL_TEST, glow::BLEND, glow::SCISSOR_TEST] {
                gl.enable(switch);
            }
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            pixels
        }
    }

    unsafe fn pixels(&self) -> Vec<u8> {
        let (width, height) = self.size;
        let mut pixels = vec![0; 4 * (width * height) as usize];
        let into = glow::PixelPackData::Slice(Some(&mut pixels));
        // SAFETY: the caller's; there are four bytes for each pixel.
        unsafe {
            self.gl.read_pixels(0, 0, width as i32, height as i32, glow::RGBA, glow::UNSIGNED_BYTE, into);
        }
        pixels
    }

    /// Copies the frame to the window, if it is not there yet.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn to_window(&self) {
        let Some((framebuffer, ..)) = self.target else { return };
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        let gl = &self.gl;
        // SAFETY: the caller's.
        unsafe {
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, None);
            let (colour, filter) = (glow::COLOR_BUFFER_BIT, glow::NEAREST);
            gl.blit_framebuffer(0, 0, width, height, 0, 0, width, height, colour, filter);
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(framebuffer));
        }
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, as was promised.
        unsafe {
            [self.program, self.show].into_iter().for_each(|p| gl.delete_program(p));
            [self.array, self.bare].into_iter().for_each(|a| gl.delete_vertex_array(a));
            gl.delete_buffer(self.corners);
            gl.delete_texture(self.weave);
            gl.delete_sampler(self.sampler);
            if let Some((framebuffer, colour, depth)) = self.target {
                gl.delete_framebuffer(framebuffer);
                gl.delete_texture(colour);
                gl.delete_renderbuffer(depth);
            }
            // What the next one takes for granted.
            if self.depth == Depth::Usual {
                gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            }
        }
    }
}

/// A texture of the host's own, of bytes, to be lent or shown.
///
/// # Safety
/// The context is current.
pub unsafe fn own_texture(gl: &glow::Context, side: u32) -> glow::NativeTexture {
    let (format, side) = (glow::RGBA8 as i32, side as i32);
    // SAFETY: the caller's.
    unsafe {
        let texture = gl.create_texture().unwrap();
        let before = gl.get_parameter_i32(glow::TEXTURE_BINDING_2D) as u32;
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        let (rgba, byte, none) = (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(glow::TEXTURE_2D, 0, format, side, side, 0, rgba, byte, none);
        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, glow::NEAREST as i32);
        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAG_FILTER, glow::NEAREST as i32);
        gl.bind_texture(glow::TEXTURE_2D, std::num::NonZeroU32::new(before).map(glow::NativeTexture));
        texture
    }
}

unsafe fn float_target(
    gl: &glow::Context,
    (width, height): (u32, u32),
) -> (glow::NativeFramebuffer, glow::NativeTexture, glow::NativeRenderbuffer) {
    let (width, height) = (width as i32, height as i32);
    // SAFETY: the caller's.
    unsafe {
        let colour = gl.create_texture().unwrap();
        gl.active_texture(glow::TEXTURE0);
        gl.bind_texture(glow::TEXTURE_2D, Some(colour));
        let (rgba, byte, none) = (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, width, height, 0, rgba, byte, none);
        gl.bind_texture(glow::TEXTURE_2D, None);
        gl.active_texture(glow::TEXTURE0 + 3);
        let depth = gl.create_renderbuffer().unwrap();
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(depth));
        gl.renderbuffer_storage(glow::RENDERBUFFER, glow::DEPTH32F_STENCIL8, width, height);
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
        let (all, at, kind) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D);
        gl.framebuffer_texture_2d(all, at, kind, Some(colour), 0);
        gl.framebuffer_renderbuffer(all, glow::DEPTH_STENCIL_ATTACHMENT, glow::RENDERBUFFER, Some(depth));
        assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
        (framebuffer, colour, depth)
    }
}

unsafe fn program_for_results(gl: &glow::Context) -> glow::NativeProgram {
    // SAFETY: the caller's.
    unsafe {
        let made = program(gl, SHOW_VERTEX, SHOW_FRAGMENT);
        gl.use_program(Some(made));
        gl.uniform_1_i32(gl.get_uniform_location(made, "weave").as_ref(), 0);
        gl.uniform_4_f32(gl.get_uniform_location(made, "turn").as_ref(), -1.0, -1.0, 2.0, 2.0);
        made
    }
}

unsafe fn program(gl: &glow::Context, vertex: &str, fragment: &str) -> glow::NativeProgram {
    let header = match gl.version().is_embedded {
        true => "#version 300 es\nprecision highp float;\nprecision highp sampler2D;\n",
        false => "#version 330\n",
    };
    // SAFETY: the caller's.
    unsafe {
        let program = gl.create_program().unwrap();
        for (kind, body) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).unwrap();
            gl.shader_source(shader, &format!("{header}{body}"));
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.link_program(program);
        assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
        program
    }
}
