//! Draws the cubes with GL calls of the example's own, in the context in which texla computes.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;

use crate::body::Cube;
use crate::math::{Vec3, vec3};
use crate::support::{Failure, Picture, Result, program};
use crate::view;

/// Pixels of the picture's texture to a side of a pixel that is shown.
const SAMPLES: u32 = 2;
/// The side of the shadow map.
const MAP: i32 = 2048;
/// As many as the fragment shader has room for.
const MOST: usize = 64;

/// Everything that is needed for a picture.
pub struct Renderer {
    gl: Arc<glow::Context>,
    scene: glow::NativeProgram,
    depth: glow::NativeProgram,
    array: glow::NativeVertexArray,
    instances: glow::NativeBuffer,
    shadow: glow::NativeTexture,
    shadow_target: glow::NativeFramebuffer,
    picture: Picture,
}

/// Where the camera stands and what it looks at, in edges of a cube.
const EYE: Vec3 = vec3(7.4, 5.4, 13.6);
const AT: Vec3 = vec3(0.25, 2.0, 0.0);
const SUN: Vec3 = vec3(-0.52, 0.7, 0.55);

impl Renderer {
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: Arc<glow::Context>, size: (u32, u32)) -> Result<Self> {
        let attributes = ["place", "rotation", "paint"];
        let vertex = include_str!("scene.vert");
        // SAFETY: the caller's.
        unsafe {
            let scene = program(&gl, [vertex, include_str!("scene.frag")], &attributes)?;
            let depth = program(&gl, [vertex, include_str!("depth.frag")], &attributes)?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let instances = gl.create_buffer().map_err(Failure::unsolved)?;
            gl.bind_vertex_array(Some(array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(instances));
            for (place, (width, offset)) in (0..).zip([(4, 0), (4, 16), (3, 32)]) {
                gl.enable_vertex_attrib_array(place);
                gl.vertex_attrib_pointer_f32(place, width, glow::FLOAT, false, 44, offset);
                gl.vertex_attrib_divisor(place, 1);
            }
            gl.bind_vertex_array(None);

            let (shadow, shadow_target) = shadow_map(&gl)?;
            let picture = Picture::new(&gl, size, SAMPLES, true)?;
            Ok(Renderer { gl, scene, depth, array, instances, shadow, shadow_target, picture })
        }
    }

    /// Pictures of another size from now on.
    pub fn resize(&mut self, size: (u32, u32)) {
        self.picture.resize(size);
    }

    /// Draws the cubes for the window or to be read.
    fn draw(&self, cubes: &[Cube], paint: &[[f32; 3]], to_window: bool) {
        let gl = &self.gl;
        let cubes = &cubes[..cubes.len().min(MOST)];
        let mut instances: Vec<f32> = Vec::new();
        let mut balls: Vec<f32> = Vec::new();
        for (cube, paint) in cubes.iter().zip(paint) {
            let place = cube.position.to_array().map(|v| v as f32);
            instances.extend(place);
            instances.push(cube.half as f32);
            instances.extend(cube.rotation().to_array().map(|v| v as f32));
            instances.extend(paint);
            balls.extend(place);
            balls.push(1.15 * cube.half as f32);
        }
        // The floor is the top of a very large cube.
        instances.extend([0.0, -60.0, 0.0, 60.0, 1.0, 0.0, 0.0, 0.0, 0.46, 0.45, 0.43]);
        let bytes: Vec<u8> = instances.iter().flat_map(|v| v.to_ne_bytes()).collect();

        let count = cubes.len() as i32;
        let aspect = f64::from(self.picture.aspect());
        let camera = view::product(&view::perspective(0.66, aspect, 1.0, 150.0), &view::look_at(EYE, AT));
        let sun = SUN.unit();
        let sun_view = view::product(
            &view::parallel(13.0, 60.0),
            &view::look_at(sun * 30.0 + vec3(0.0, 1.0, -1.0), vec3(0.0, 1.0, -1.0)),
        );
        // SAFETY: the context is current, see `new`.
        unsafe {
            for cap in [glow::SCISSOR_TEST, glow::BLEND, glow::STENCIL_TEST, glow::DITHER] {
                gl.disable(cap);
            }
            for cap in [glow::DEPTH_TEST, glow::CULL_FACE] {
                gl.enable(cap);
            }
            gl.cull_face(glow::BACK);
            gl.depth_func(glow::LESS);
            gl.depth_mask(true);
            gl.color_mask(true, true, true, true);
            gl.bind_vertex_array(Some(self.array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.instances));
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &bytes, glow::STREAM_DRAW);
            let set = |program, name: &str, m: &view::Mat4| {
                let place = gl.get_uniform_location(program, name);
                gl.uniform_matrix_4_f32_slice(place.as_ref(), false, &view::to_f32(m));
            };

            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.shadow_target));
            gl.viewport(0, 0, MAP, MAP);
            gl.clear(glow::DEPTH_BUFFER_BIT);
            gl.use_program(Some(self.depth));
            set(self.depth, "view", &sun_view);
            gl.draw_arrays_instanced(glow::TRIANGLES, 0, 36, count);

            self.picture.begin();
            gl.clear_color(0.87, 0.90, 0.935, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
            gl.use_program(Some(self.scene));
            set(self.scene, "view", &camera);
            set(self.scene, "sun_view", &sun_view);
            let place = |name| gl.get_uniform_location(self.scene, name);
            for (name, v) in [("eye", EYE), ("sun", sun)] {
                gl.uniform_3_f32(place(name).as_ref(), v.x as f32, v.y as f32, v.z as f32);
            }
            gl.uniform_4_f32_slice(place("balls").as_ref(), &balls);
            gl.uniform_1_i32(place("count").as_ref(), count);
            gl.uniform_1_i32(place("shadow").as_ref(), 0);
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, Some(self.shadow));
            gl.bind_sampler(0, None);
            gl.draw_arrays_instanced(glow::TRIANGLES, 0, 36, count + 1);
            gl.bind_vertex_array(None);
            gl.use_program(None);
        }
        self.picture.finish(to_window);
    }

    /// Draws the cubes into the window's own framebuffer.
    pub fn show(&self, cubes: &[Cube], paint: &[[f32; 3]]) {
        self.draw(cubes, paint, true);
    }

    /// Draws the cubes and reads the picture: three bytes a pixel, rows from the top.
    pub fn picture(&self, cubes: &[Cube], paint: &[[f32; 3]]) -> Vec<u8> {
        self.draw(cubes, paint, false);
        self.picture.read()
    }
}

/// A depth texture to compare with, and a framebuffer around it.
///
/// # Safety
/// The context is current.
unsafe fn shadow_map(gl: &glow::Context) -> Result<(glow::NativeTexture, glow::NativeFramebuffer)> {
    // SAFETY: the caller's.
    unsafe {
        let texture = gl.create_texture().map_err(Failure::unsolved)?;
        let target = gl.create_framebuffer().map_err(Failure::unsolved)?;
        let d2 = glow::TEXTURE_2D;
        gl.active_texture(glow::TEXTURE0);
        gl.bind_texture(d2, Some(texture));
        let (format, none) = (glow::DEPTH_COMPONENT24 as i32, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(d2, 0, format, MAP, MAP, 0, glow::DEPTH_COMPONENT, glow::UNSIGNED_INT, none);
        for (name, value) in [
            (glow::TEXTURE_MIN_FILTER, glow::LINEAR),
            (glow::TEXTURE_MAG_FILTER, glow::LINEAR),
            (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
            (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
            (glow::TEXTURE_COMPARE_MODE, glow::COMPARE_REF_TO_TEXTURE),
            (glow::TEXTURE_COMPARE_FUNC, glow::LEQUAL),
        ] {
            gl.tex_parameter_i32(d2, name, value as i32);
        }
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
        gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::DEPTH_ATTACHMENT, d2, Some(texture), 0);
        gl.draw_buffers(&[glow::NONE]);
        gl.read_buffer(glow::NONE);
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        Ok((texture, target))
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, see `new`, and nothing of this is used again.
        unsafe {
            for program in [self.scene, self.depth] {
                gl.delete_program(program);
            }
            gl.delete_vertex_array(self.array);
            gl.delete_buffer(self.instances);
            gl.delete_texture(self.shadow);
            gl.delete_framebuffer(self.shadow_target);
        }
    }
}
