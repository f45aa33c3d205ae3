//! The GL functions by name, as an application's window library hands them out.
#![allow(unsafe_code)]

use std::ffi::{CString, c_void};

use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::config::{Api, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Robustness, Version};
use glutin::display::GlDisplay;

/// A current context of the compatibility profile, on the first device.
pub fn compatibility() -> PossiblyCurrentContext {
    context(texla::gl::Api::Gl33, ContextAttributesBuilder::new().with_profile(GlProfile::Compatibility))
}

/// A current context as texla takes it, on the first device; it shares textures, buffers and programs with another, if one is named.
pub fn core(api: texla::gl::Api, shared: Option<&PossiblyCurrentContext>) -> PossiblyCurrentContext {
    let mut attributes = ContextAttributesBuilder::new().with_profile(GlProfile::Core);
    if let Some(other) = shared {
        attributes = attributes.with_sharing(other);
    }
    context(api, attributes)
}

/// A current context as texla takes it that raises no errors (`EGL_KHR_create_context_no_error`): what would be one is
/// undefined there. GLFW, SDL and glutin make such contexts.
pub fn no_error(api: texla::gl::Api) -> PossiblyCurrentContext {
    let attributes = ContextAttributesBuilder::new().with_profile(GlProfile::Core);
    context(api, attributes.with_robustness(Robustness::NoError))
}

fn context(api: texla::gl::Api, attributes: ContextAttributesBuilder) -> PossiblyCurrentContext {
    let device = Device::query_devices().unwrap().next().expect("no EGL device");
    let (of_config, of_context) = match api {
        texla::gl::Api::Gl33 => (Api::OPENGL, ContextApi::OpenGl(Some(Version::new(3, 3)))),
        texla::gl::Api::Es30 => (Api::GLES3, ContextApi::Gles(Some(Version::new(3, 0)))),
    };
    let template = ConfigTemplateBuilder::new()
        .with_api(of_config)
        .with_surface_type(ConfigSurfaceTypes::empty())
        .with_alpha_size(0)
        .build();
    let attributes = attributes.with_context_api(of_context);
    // SAFETY: neither the template nor the attributes name a native window.
    unsafe {
        let display = Display::with_device(&device, None).unwrap();
        let config = display.find_configs(template).unwrap().next().expect("no configuration");
        let context = display.create_context(&config, &attributes.build(None)).unwrap();
        context.make_current_surfaceless().unwrap()
    }
}

/// A loader that works without a context, for whatever context is current when its functions are called.
pub fn loader() -> impl Fn(&str) -> *const c_void + Clone + 'static {
    let device = Device::query_devices().unwrap().next().expect("no EGL device");
    // SAFETY: no display handle is passed in.
    let display = unsafe { Display::with_device(&device, None) }.unwrap();
    move |name: &str| display.get_proc_address(&CString::new(name).unwrap())
}

/// A function of an extension.
///
/// # Safety
/// An address under this name is a function of this type, and the context has the extension.
pub unsafe fn function<F: Copy>(name: &str) -> F {
    let address = loader()(name);
    assert!(!address.is_null(), "{name}");
    // SAFETY: the caller's.
    unsafe { std::mem::transmute_copy(&address) }
}

/// Functions that glow does not offer.
pub struct Extra {
    clip_control: Option<unsafe extern "system" fn(u32, u32)>,
    clamp_color: Option<unsafe extern "system" fn(u32, u32)>,
    primitive_restart_index: Option<unsafe extern "system" fn(u32)>,
    primitive_bounding_box: Option<unsafe extern "system" fn(f32, f32, f32, f32, f32, f32, f32, f32)>,
    sample_mask: Option<unsafe extern "system" fn(u32, u32)>,
    logic_op: Option<unsafe extern "system" fn(u32)>,
    point_size: Option<unsafe extern "system" fn(f32)>,
    scissor_indexed: Option<unsafe extern "system" fn(u32, i32, i32, i32, i32)>,
    viewports: Option<unsafe extern "system" fn(u32, i32, *const f32)>,
    depth_ranges: Option<unsafe extern "system" fn(u32, i32, *const f32)>,
    scissor_indexed_es: Option<unsafe extern "system" fn(u32, i32, i32, i32, i32)>,
    embedded: bool,
}

macro_rules! load {
    ($loader:expr, $name:literal) => {{
        let at = $loader($name);
        // SAFETY: an address under this name is a function of the type of the field that it is put into; a null
        // pointer is `None`.
        unsafe { std::mem::transmute::<*const c_void, Option<_>>(at) }
    }};
}

impl Extra {
    /// For the context that is current.
    pub fn load() -> Self {
        let loader = loader();
        let get_string: Option<unsafe extern "system" fn(u32) -> *const std::ffi::c_char> =
            load!(loader, "glGetString");
        // SAFETY: a context is current, and its version is a text that ends with zero.
        let version = unsafe { std::ffi::CStr::from_ptr(get_string.unwrap()(glow::VERSION)) };
        let embedded = version.to_string_lossy().starts_with("OpenGL ES");
        Extra {
            clip_control: load!(loader, "glClipControl").or(load!(loader, "glClipControlEXT")),
            clamp_color: load!(loader, "glClampColor"),
            primitive_restart_index: load!(loader, "glPrimitiveRestartIndex"),
            primitive_bounding_box: load!(loader, "glPrimitiveBoundingBox"),
            sample_mask: load!(loader, "glSampleMaski"),
            logic_op: load!(loader, "glLogicOp"),
            point_size: load!(loader, "glPointSize"),
            scissor_indexed: load!(loader, "glScissorIndexed"),
            viewports: load!(loader, "glViewportArrayvOES"),
            depth_ranges: load!(loader, "glDepthRangeArrayfvOES"),
            scissor_indexed_es: load!(loader, "glScissorIndexedOES"),
            embedded,
        }
    }

    /// Sets viewports from the first on, by `GL_OES_viewport_array`.
    pub fn set_viewports(&self, viewports: &mut [[f32; 4]]) {
        // SAFETY: as above; there are four floats for each. Mesa clamps them in place.
        unsafe { self.viewports.unwrap()(0, viewports.len() as i32, viewports.as_mut_ptr().cast()) }
    }

    /// Sets depth ranges from the first on, by `GL_OES_viewport_array`.
    pub fn set_depth_ranges(&self, ranges: &mut [[f32; 2]]) {
        // SAFETY: as above; there are two floats for each.
        unsafe { self.depth_ranges.unwrap()(0, ranges.len() as i32, ranges.as_mut_ptr().cast()) }
    }

    pub fn clip_control(&self, origin: u32, depth: u32) {
        // SAFETY: a context with this function is current.
        unsafe { self.clip_control.unwrap()(origin, depth) }
    }

    pub fn clamp_color(&self, target: u32, clamp: u32) {
        // SAFETY: as above.
        unsafe { self.clamp_color.unwrap()(target, clamp) }
    }

    pub fn primitive_restart_index(&self, index: u32) {
        // SAFETY: as above.
        unsafe { self.primitive_restart_index.unwrap()(index) }
    }

    pub fn primitive_bounding_box(&self, [a, b, c, d, e, f, g, h]: [f32; 8]) {
        // SAFETY: as above.
        unsafe { self.primitive_bounding_box.unwrap()(a, b, c, d, e, f, g, h) }
    }

    pub fn sample_mask(&self, mask: u32) {
        // SAFETY: as above.
        unsafe { self.sample_mask.unwrap()(0, mask) }
    }

    pub fn logic_op(&self, op: u32) {
        // SAFETY: as above.
        unsafe { self.logic_op.unwrap()(op) }
    }

    pub fn point_size(&self, size: f32) {
        // SAFETY: as above.
        unsafe { self.point_size.unwrap()(size) }
    }

    pub fn scissor_indexed(&self, i: u32, [x, y, w, h]: [i32; 4]) {
        let scissor = if self.embedded { self.scissor_indexed_es } else { self.scissor_indexed };
        // SAFETY: as above.
        unsafe { scissor.unwrap()(i, x, y, w, h) }
    }
}
