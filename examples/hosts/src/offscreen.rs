//! Contexts without a window, made as an application makes its own: by glutin, on EGL.

use std::ffi::{CString, c_void};

use glutin::api::egl::context::{NotCurrentContext, PossiblyCurrentContext};
use glutin::api::egl::{config::Config, device::Device, display::Display};
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, Version};
use glutin::prelude::*;

use crate::Result;

/// Where the contexts come from.
pub struct Egl {
    display: Display,
    config: Config,
}

impl Egl {
    /// The first device of EGL.
    pub fn new() -> Result<Self> {
        let device = Device::query_devices()?.next().ok_or("no EGL device")?;
        let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty());
        // SAFETY: no handle of a window or a display is passed in.
        unsafe {
            let display = Display::with_device(&device, None)?;
            let config = display.find_configs(template.with_alpha_size(0).build())?.next();
            Ok(Egl { config: config.ok_or("no configuration")?, display })
        }
    }

    /// A context of OpenGL 3.3 core. It shares textures, buffers and sync objects with `other`, if there is one.
    pub fn context(&self, other: Option<&PossiblyCurrentContext>) -> Result<NotCurrentContext> {
        let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
        let mut attributes = ContextAttributesBuilder::new().with_context_api(version);
        if let Some(other) = other {
            attributes = attributes.with_sharing(other);
        }
        // SAFETY: no window is named.
        Ok(unsafe { self.display.create_context(&self.config, &attributes.build(None)) }?)
    }

    /// Finds GL functions by name, for any thread.
    pub fn loader(&self) -> impl Fn(&str) -> *const c_void + Clone + Send + 'static {
        let display = self.display.clone();
        move |name: &str| CString::new(name).map_or(std::ptr::null(), |n| display.get_proc_address(&n))
    }
}
