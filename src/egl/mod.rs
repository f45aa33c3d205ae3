//! Contexts of texla's own, made through EGL: what those without a window and those of a window have in common.
#![allow(unsafe_code)]

use std::any::Any;
use std::ffi::{CString, c_void};
use std::rc::Rc;

use glutin::api::egl::Egl;
use glutin::api::egl::config::Config;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::display::Display;
use glutin::api::egl::surface::Surface;
use glutin::config::{Api as ConfigApi, ConfigTemplateBuilder};
use glutin::context::{AsRawContext, ContextApi, ContextAttributesBuilder, GlProfile, RawContext, Version};
use glutin::prelude::*;
use glutin::surface::WindowSurface;

use crate::device::{Device, DeviceOptions};
use crate::error::{Error, Result};
use crate::gl::{Api, CurrentContext};

#[cfg(feature = "headless")]
mod surfaceless;
#[cfg(feature = "window")]
mod windows;

#[cfg(feature = "headless")]
pub(crate) use surfaceless::devices;
#[cfg(feature = "window")]
pub(crate) use windows::Buffers;

/// What to say when there is no EGL, no device or no driver.
pub(crate) const PACKAGES: &str = "install the Debian packages libegl1, libegl-mesa0 and libgl1-mesa-dri";

/// An environment variable that is set and not empty.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}

/// The API asked for, else that of the environment variable `TEXLA_API`, else GL 3.3.
pub(crate) fn api(wanted: Option<Api>) -> Result<Api> {
    match (wanted, variable("TEXLA_API")) {
        (Some(api), _) => Ok(api),
        (None, Some(value)) => value.parse().map_err(|e| Error::NoContext(format!("TEXLA_API: {e}"))),
        (None, None) => Ok(Api::Gl33),
    }
}

/// What could not be had, and what EGL says of it.
fn lacking(what: &'static str) -> impl Fn(glutin::error::Error) -> Error {
    move |e| Error::NoContext(format!("{what}: {e}"))
}

/// The configurations that this template asks for, in EGL's order, the best first.
fn configs(display: &Display, api: Api, template: ConfigTemplateBuilder) -> Result<Vec<Config>> {
    let api = match api {
        Api::Gl33 => ConfigApi::OPENGL,
        Api::Es30 => ConfigApi::GLES3,
    };
    // Alpha is what a compositor would look through.
    let template = template.with_api(api).with_alpha_size(0).build();
    // SAFETY: a native window in the template is alive, and of this display.
    Ok(unsafe { display.find_configs(template) }.map_err(lacking("no configuration"))?.collect())
}

/// A platform context with what it draws to by default; kept alive by the device, as are window and surface by it.
pub(crate) struct Context {
    context: PossiblyCurrentContext,
    /// What EGL calls it.
    handle: Option<*const c_void>,
    surface: Option<Surface<WindowSurface>>,
    display: Display,
    egl: &'static Egl,
    /// The last to go: the surface is a part of it.
    _window: Option<Rc<dyn Any>>,
}

impl Context {
    /// A context of the core profile, which is current from here on.
    fn new(
        display: Display,
        config: &Config,
        api: Api,
        surface: Option<Surface<WindowSurface>>,
        window: Option<Rc<dyn Any>>,
    ) -> Result<Self> {
        let api = match api {
            Api::Gl33 => ContextApi::OpenGl(Some(Version::new(3, 3))),
            Api::Es30 => ContextApi::Gles(Some(Version::new(3, 0))),
        };
        let attributes =
            ContextAttributesBuilder::new().with_profile(GlProfile::Core).with_context_api(api).build(None);
        // SAFETY: the attributes hold no native window.
        let context =
            unsafe { display.create_context(config, &attributes) }.map_err(lacking("no context"))?;
        let context = match &surface {
            None => context.make_current_surfaceless().map_err(lacking("no surfaceless context"))?,
            Some(surface) => context.make_current(surface).map_err(lacking("no context in the window"))?,
        };
        // Where another crate of the program turns on GLX, this has a second variant, which no EGL context is of.
        #[allow(unreachable_patterns)]
        let handle = match context.raw_context() {
            RawContext::Egl(handle) => Some(handle),
            _ => None,
        };
        let egl = display.egl();
        Ok(Context { context, handle, surface, display, egl, _window: window })
    }

    /// The device in this context, which keeps it alive.
    pub fn device(self: &Rc<Self>, options: DeviceOptions) -> Result<Device> {
        self.bind()?;
        let display = self.display.clone();
        let loader = move |name: &str| address(&display, name);
        // SAFETY: the context was made current above, and EGL gives null or the address of the named function.
        let gl = unsafe { crate::gl::load(&loader) }?;
        Device::new(gl, Some(Box::new(loader)), Some(Box::new(Rc::clone(self))), options)
    }

    /// Makes the context current, and its surface what the default framebuffer is.
    pub fn bind(&self) -> Result<()> {
        match &self.surface {
            None => self.context.make_current_surfaceless(),
            Some(surface) => self.context.make_current(surface),
        }
        .map_err(|e| Error::NoContext(format!("the EGL context cannot be made current: {e}")))
    }

    /// One question to EGL: this is asked at every entry, and glutin's own `is_current` asks for the bound API as well. A
    /// context of OpenGL is current or one of OpenGL ES is, never both, so which API is bound makes no difference; where
    /// an EGL sees that otherwise, the answer is "none" and the context is made current again.
    fn is_current(&self) -> bool {
        // SAFETY: the function takes nothing and is there since EGL 1.0.
        let current = unsafe { self.egl.GetCurrentContext() };
        self.handle == Some(current)
    }
}

impl CurrentContext for Rc<Context> {
    fn make_current(&self) -> std::result::Result<(), String> {
        if self.is_current() {
            return Ok(());
        }
        self.bind().map_err(|e| match e {
            Error::NoContext(why) => why,
            other => other.to_string(),
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // A context that is current cannot be destroyed: EGL would keep it until it no longer is.
        if self.is_current() {
            let _ = self.context.make_not_current_in_place();
        }
    }
}

/// The address of a GL function, or null.
fn address(display: &Display, name: &str) -> *const c_void {
    CString::new(name).map_or(std::ptr::null(), |name| display.get_proc_address(&name))
}
