//! Contexts without a window system: an EGL device, no surface.
#![allow(unsafe_code)]

use std::sync::Arc;

use glutin::api::egl::Egl;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device as EglDevice;
use glutin::api::egl::display::Display;
use glutin::config::{Api as ConfigApi, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{AsRawContext, ContextApi, ContextAttributesBuilder, GlProfile, RawContext, Version};
use glutin::prelude::*;

use crate::device::{Device, DeviceOptions};
use crate::error::{Error, Result};
use crate::gl::{Api, CurrentContext};

/// What to say when there is no EGL, no device or no driver.
const PACKAGES: &str = "install the Debian packages libegl1, libegl-mesa0 and libgl1-mesa-dri";

/// Which context to make.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HeadlessOptions {
    /// The EGL device: an index, or part of its name, vendor or renderer. `None`: the environment variable
    /// `TEXLA_DEVICE` if set and not empty, else the first device that works.
    pub device: Option<String>,
    /// The API. `None`: the environment variable `TEXLA_API` (`gl33` or `es30`) if set and not empty, else GL 3.3.
    pub api: Option<Api>,
    /// Options of the device.
    pub options: DeviceOptions,
}

with!(HeadlessOptions:
    with_device(device: Option<String>),
    with_api(api: Option<Api>),
    with_options(options: DeviceOptions),
);

/// A context of its own without a window, on any EGL device: Mesa's software rasteriser or a GPU.
///
/// The context lives until this handle, every clone of the device and all data made with it are dropped, in whatever
/// order. Several can be used in turn on one thread: each entry makes its own context current.
///
/// ```
/// use texla::{Headless, HeadlessOptions, Vector, ops};
/// let ctx = Headless::new(HeadlessOptions::default())?;
/// let x = Vector::from_slice(ctx.device(), &[1.0, 2.0, 3.0])?;
/// assert_eq!(ops::dot(&x, &x)?.read()?, 14.0);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct Headless {
    device: Device,
    name: String,
}

/// The platform context, kept alive by the device.
struct Owner {
    context: PossiblyCurrentContext,
    /// What EGL calls it.
    handle: Option<*const std::ffi::c_void>,
    egl: &'static Egl,
}

impl Owner {
    fn new(context: PossiblyCurrentContext, display: &Display) -> Self {
        // Where another crate of the program turns on GLX, this has a second variant, which no EGL context is of.
        #[allow(unreachable_patterns)]
        let handle = match context.raw_context() {
            RawContext::Egl(handle) => Some(handle),
            _ => None,
        };
        Owner { context, handle, egl: display.egl() }
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

impl CurrentContext for Owner {
    fn make_current(&self) -> std::result::Result<(), String> {
        if self.is_current() {
            return Ok(());
        }
        self.context
            .make_current_surfaceless()
            .map_err(|e| format!("the EGL context cannot be made current: {e}"))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A context that is current cannot be destroyed: EGL would keep it until it no longer is.
        if self.is_current() {
            let _ = self.context.make_not_current_in_place();
        }
    }
}

impl Headless {
    /// Makes a context on the chosen device.
    ///
    /// *Errors*: [`Error::NoContext`] with one sentence: no EGL library, no device of that name, or why the context
    /// could not be made; it names the Debian packages to install where that would help.
    pub fn new(options: HeadlessOptions) -> Result<Self> {
        let api = match options.api {
            Some(api) => api,
            None => match variable("TEXLA_API") {
                Some(value) => value.parse().map_err(|e| Error::NoContext(format!("TEXLA_API: {e}")))?,
                None => Api::Gl33,
            },
        };
        let wanted = options.device.clone().or_else(|| variable("TEXLA_DEVICE"));
        let devices: Vec<_> = EglDevice::query_devices()
            .map_err(|e| Error::NoContext(format!("no usable EGL library ({e}); {PACKAGES}")))?
            .collect();
        let mut failures = Vec::new();
        let index = wanted.as_ref().and_then(|w| w.parse::<usize>().ok());
        for (i, egl_device) in devices.iter().enumerate() {
            if index.is_some_and(|index| index != i) {
                continue;
            }
            match Self::on(egl_device, i, api, &options.options) {
                Ok(made) if index.is_none() && wanted.as_ref().is_some_and(|w| !made.is_called(w)) => {
                    failures.push(format!("{i}: {}", made.name));
                }
                Ok(made) => return Ok(made),
                Err(e) => failures.push(format!("{i}: {e}")),
            }
        }
        let seen = if failures.is_empty() { "none".to_owned() } else { failures.join("; ") };
        Err(Error::NoContext(match wanted {
            Some(w) => {
                let count = devices.len();
                format!("no usable EGL device matches `{w}` for {api} ({count} devices; tried: {seen})")
            }
            None => format!("no EGL device offers {api} (tried: {seen}); {PACKAGES}"),
        }))
    }

    fn on(egl_device: &EglDevice, index: usize, api: Api, options: &DeviceOptions) -> Result<Self> {
        let fail =
            |what: &'static str| move |e: glutin::error::Error| Error::NoContext(format!("{what}: {e}"));
        // SAFETY: no display handle is passed in.
        let display = unsafe { Display::with_device(egl_device, None) }.map_err(fail("no display"))?;
        let (config_api, context_api) = match api {
            Api::Gl33 => (ConfigApi::OPENGL, ContextApi::OpenGl(Some(Version::new(3, 3)))),
            Api::Es30 => (ConfigApi::GLES3, ContextApi::Gles(Some(Version::new(3, 0)))),
        };
        let template = ConfigTemplateBuilder::new()
            .with_api(config_api)
            .with_surface_type(ConfigSurfaceTypes::empty())
            .with_alpha_size(0)
            .build();
        // SAFETY: the template names no native window.
        let config = unsafe { display.find_configs(template) }
            .map_err(fail("no configuration"))?
            .next()
            .ok_or_else(|| Error::NoContext(format!("no configuration for {api}")))?;
        let attributes = ContextAttributesBuilder::new()
            .with_profile(GlProfile::Core)
            .with_context_api(context_api)
            .build(None);
        // SAFETY: the attributes hold no native window.
        let context = unsafe { display.create_context(&config, &attributes) }.map_err(fail("no context"))?;
        let context = context.make_current_surfaceless().map_err(fail("no surfaceless context"))?;
        let loader_display = display.clone();
        let loader = move |name: &str| match std::ffi::CString::new(name) {
            Ok(name) => loader_display.get_proc_address(&name),
            Err(_) => std::ptr::null(),
        };
        // SAFETY: the context was made current above, and EGL gives null or the address of the named function.
        let gl = unsafe { crate::gl::load(&loader) }?;
        let owner = Owner::new(context, &display);
        let device = Device::new(gl, Some(Box::new(loader)), Some(Box::new(owner)), options.clone())?;
        let name = format!(
            "EGL device {index}{}, {}",
            egl_device.name().map(|n| format!(" {n}")).unwrap_or_default(),
            device.capabilities().renderer
        );
        Ok(Headless { device, name })
    }

    fn is_called(&self, part: &str) -> bool {
        let caps = self.device.capabilities();
        let part = part.to_lowercase();
        [&self.name, &caps.vendor, &caps.renderer].iter().any(|s| s.to_lowercase().contains(&part))
    }

    /// The device. Clones of it keep the context alive.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The EGL device and the renderer, for people to read.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The raw GL functions of this context, for a host that draws in it too.
    pub fn glow(&self) -> Arc<glow::Context> {
        self.device.glow()
    }
}

/// An environment variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|v| !v.is_empty())
}
