//! Contexts without a window system: an EGL device, no surface.

use std::sync::Arc;

use glutin::api::egl::device::Device as EglDevice;

use crate::device::{Device, DeviceOptions};
use crate::egl::{self, Context, PACKAGES, variable};
use crate::error::{Error, Result};
use crate::gl::Api;

/// Which context to make.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct HeadlessOptions {
    /// The EGL device: an index, or part of its name, vendor or renderer. `None` or an empty one: the environment variable
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

impl Headless {
    /// Makes a context on the chosen device.
    ///
    /// *Errors*: [`Error::NoContext`] with one sentence: no EGL library, no device of that name, or why the context
    /// could not be made; it names the Debian packages to install where that would help.
    /// [`Error::Parameter`] for options that no device bears.
    pub fn new(options: HeadlessOptions) -> Result<Self> {
        let api = egl::api(options.api)?;
        let wanted = options
            .device
            .clone()
            .filter(|name| !name.trim().is_empty())
            .or_else(|| variable("TEXLA_DEVICE"));
        let devices = egl::devices()?;
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
                // No device bears these options.
                Err(e @ Error::Parameter { .. }) => return Err(e),
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
        let device = Context::on_device(egl_device, api)?.device(options.clone())?;
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
