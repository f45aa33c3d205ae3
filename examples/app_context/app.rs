//! The application: a context of its own, made as any program makes one, its shader, its buffers, its framebuffer.

use std::ffi::CString;
use std::sync::Arc;

use glow::HasContext;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device as EglDevice;
use glutin::api::egl::display::Display;
use glutin::config::{Api as ConfigApi, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::prelude::*;

use crate::support::{Api, Failure, Result, program};

/// What the picture is made from: names of textures, handed over by the library.
pub struct Scene {
    pub surface: glow::NativeTexture,
    pub intensity: glow::NativeTexture,
    pub largest: glow::NativeTexture,
    pub grid: (usize, usize),
    pub wall: usize,
    pub slits: [usize; 4],
}

/// The application's context and everything it has made there.
pub struct App {
    pub gl: Arc<glow::Context>,
    pub name: String,
    program: glow::NativeProgram,
    array: glow::NativeVertexArray,
    corners: glow::NativeBuffer,
    framebuffer: glow::NativeFramebuffer,
    picture: glow::NativeTexture,
    atlas: glow::NativeTexture,
    smooth: glow::NativeSampler,
    size: (u32, u32),
    // Dropped last: everything above lives in it.
    _context: PossiblyCurrentContext,
}

fn open(
    egl_device: &EglDevice,
    api: Api,
) -> std::result::Result<(Display, PossiblyCurrentContext), glutin::error::Error> {
    // SAFETY: no display handle is passed in.
    let display = unsafe { Display::with_device(egl_device, None) }?;
    let (config_api, context_api) = match api {
        Api::Gl33 => (ConfigApi::OPENGL, ContextApi::OpenGl(Some(Version::new(3, 3)))),
        Api::Es30 => (ConfigApi::GLES3, ContextApi::Gles(Some(Version::new(3, 0)))),
    };
    let template = ConfigTemplateBuilder::new()
        .with_api(config_api)
        .with_surface_type(ConfigSurfaceTypes::empty())
        .build();
    // SAFETY: neither the template nor the attributes name a native window.
    unsafe {
        let config = display.find_configs(template)?.next().ok_or(glutin::error::ErrorKind::BadConfig)?;
        let attributes =
            ContextAttributesBuilder::new().with_profile(GlProfile::Core).with_context_api(context_api);
        let context = display.create_context(&config, &attributes.build(None))?;
        let context = context.make_current_surfaceless()?;
        Ok((display, context))
    }
}

impl App {
    /// A context on the device that `TEXLA_DEVICE` names, or on the first that works, and a picture to draw into.
    pub fn new(api: Api, size: (u32, u32)) -> Result<Self> {
        let wanted = std::env::var("TEXLA_DEVICE").ok().filter(|w| !w.is_empty());
        let devices = EglDevice::query_devices().map_err(Failure::no_gl)?;
        let mut why = "there is no EGL device".to_owned();
        for (i, egl_device) in devices.enumerate() {
            let (display, context) = match open(&egl_device, api) {
                Ok(opened) => opened,
                Err(e) => {
                    why = e.to_string();
                    continue;
                }
            };
            let load = |name: &str| display.get_proc_address(&CString::new(name).unwrap_or_default());
            // SAFETY: the context is current, and EGL knows its functions.
            let (gl, name) = unsafe {
                let gl = Arc::new(glow::Context::from_loader_function(load));
                let name = gl.get_parameter_string(glow::RENDERER);
                (gl, name)
            };
            let chosen = wanted.as_ref().is_none_or(|w| {
                w.parse() == Ok(i)
                    || (w.parse::<usize>().is_err() && name.to_lowercase().contains(&w.to_lowercase()))
            });
            if chosen {
                // SAFETY: the context is current and stays so.
                return unsafe { Self::with(gl, name, context, size) };
            }
            why = format!("no EGL device matches `{}`", wanted.as_deref().unwrap_or_default());
        }
        Err(Failure::no_gl(why))
    }

    unsafe fn with(
        gl: Arc<glow::Context>,
        name: String,
        context: PossiblyCurrentContext,
        size: (u32, u32),
    ) -> Result<Self> {
        let stages = [include_str!("colour.vert"), include_str!("colour.frag")];
        // SAFETY: the caller's: the context is current.
        unsafe {
            let program = program(&gl, stages, &["corner"])?;
            let array = gl.create_vertex_array().map_err(Failure::unsolved)?;
            let corners = gl.create_buffer().map_err(Failure::unsolved)?;
            gl.bind_vertex_array(Some(array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(corners));
            let data = [-1.0f32, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0].map(f32::to_ne_bytes).concat();
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, &data, glow::STATIC_DRAW);
            gl.enable_vertex_attrib_array(0);
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 0, 0);

            let rgba8 = |w: u32, h: u32| -> Result<glow::NativeTexture> {
                let texture = gl.create_texture().map_err(Failure::unsolved)?;
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                let (format, none) = (glow::RGBA8 as i32, glow::PixelUnpackData::Slice(None));
                let (w, h) = (w as i32, h as i32);
                gl.tex_image_2d(glow::TEXTURE_2D, 0, format, w, h, 0, glow::RGBA, glow::UNSIGNED_BYTE, none);
                Ok(texture)
            };
            let picture = rgba8(size.0, size.1)?;
            let atlas = rgba8(64, 64)?;
            let framebuffer = gl.create_framebuffer().map_err(Failure::unsolved)?;
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (target, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(target, at, glow::TEXTURE_2D, Some(picture), 0);
            let smooth = gl.create_sampler().map_err(Failure::unsolved)?;
            gl.sampler_parameter_i32(smooth, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
            let _context = context;
            let app = App {
                gl,
                name,
                program,
                array,
                corners,
                framebuffer,
                picture,
                atlas,
                smooth,
                size,
                _context,
            };
            app.set_state();
            Ok(app)
        }
    }

    /// The state in which this application likes to be between its frames: far from the default.
    fn set_state(&self) {
        let gl = &self.gl;
        // SAFETY: the context is current.
        unsafe {
            gl.use_program(Some(self.program));
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            gl.viewport(3, 5, 100, 80);
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(10, 20, 30, 40);
            gl.enable(glow::BLEND);
            gl.blend_func_separate(glow::SRC_ALPHA, glow::ONE_MINUS_SRC_ALPHA, glow::ONE, glow::ZERO);
            gl.blend_equation_separate(glow::FUNC_ADD, glow::FUNC_REVERSE_SUBTRACT);
            gl.blend_color(0.1, 0.2, 0.3, 0.4);
            gl.color_mask(true, true, true, false);
            gl.enable(glow::DEPTH_TEST);
            gl.depth_func(glow::GEQUAL);
            gl.depth_range_f32_or_f64(0.25, 0.75);
            gl.enable(glow::STENCIL_TEST);
            gl.stencil_func(glow::NOTEQUAL, 2, 7);
            gl.enable(glow::CULL_FACE);
            gl.cull_face(glow::FRONT);
            gl.disable(glow::DITHER);
            gl.clear_color(0.2, 0.4, 0.6, 0.8);
            gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            gl.pixel_store_i32(glow::PACK_ROW_LENGTH, 17);
            for unit in 0..4 {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_texture(glow::TEXTURE_2D, Some(self.atlas));
                gl.bind_sampler(unit, Some(self.smooth));
            }
        }
    }

    /// Draws the scene and reads the picture, rows from the top.
    pub fn draw(&self, scene: &Scene) -> Vec<u8> {
        let gl = &self.gl;
        let (w, h) = (self.size.0 as i32, self.size.1 as i32);
        let textures = [scene.surface, scene.intensity, scene.largest];
        let mut pixels = vec![0; 4 * (w * h) as usize];
        // SAFETY: the context is current; the textures live while the scene is drawn.
        unsafe {
            for cap in
                [glow::SCISSOR_TEST, glow::BLEND, glow::DEPTH_TEST, glow::STENCIL_TEST, glow::CULL_FACE]
            {
                gl.disable(cap);
            }
            gl.color_mask(true, true, true, true);
            gl.viewport(0, 0, w, h);
            let place = |name| gl.get_uniform_location(self.program, name);
            for ((texture, name), unit) in textures.iter().zip(["surface", "intensity", "largest"]).zip(0..) {
                gl.active_texture(glow::TEXTURE0 + unit);
                gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
                gl.bind_sampler(unit, None);
                gl.uniform_1_i32(place(name).as_ref(), unit as i32);
            }
            let slits = scene.slits.map(|s| s as i32);
            gl.uniform_2_i32(place("grid").as_ref(), scene.grid.0 as i32, scene.grid.1 as i32);
            gl.uniform_1_i32(place("wall").as_ref(), scene.wall as i32);
            gl.uniform_4_i32(place("slits").as_ref(), slits[0], slits[1], slits[2], slits[3]);
            gl.draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
            gl.pixel_store_i32(glow::PACK_ROW_LENGTH, 0);
            let data = glow::PixelPackData::Slice(Some(&mut pixels));
            gl.read_pixels(0, 0, w, h, glow::RGBA, glow::UNSIGNED_BYTE, data);
        }
        pixels.chunks(4 * w as usize).rev().flatten().copied().collect()
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: the context is current, and nothing of this is used again.
        unsafe {
            gl.delete_program(self.program);
            gl.delete_vertex_array(self.array);
            gl.delete_buffer(self.corners);
            gl.delete_framebuffer(self.framebuffer);
            gl.delete_texture(self.picture);
            gl.delete_texture(self.atlas);
            gl.delete_sampler(self.smooth);
        }
    }
}

trait DepthRange {
    unsafe fn depth_range_f32_or_f64(&self, near: f32, far: f32);
}

impl DepthRange for glow::Context {
    /// OpenGL before 4.1 has the one, OpenGL ES the other.
    unsafe fn depth_range_f32_or_f64(&self, near: f32, far: f32) {
        // SAFETY: the caller's.
        unsafe {
            if self.version().is_embedded {
                self.depth_range_f32(near, far);
            } else {
                self.depth_range_f64(near.into(), far.into());
            }
        }
    }
}
