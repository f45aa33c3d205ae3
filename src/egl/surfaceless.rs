//! On an EGL device, without a surface.

use std::rc::Rc;

use glutin::api::egl::device::Device as EglDevice;
use glutin::api::egl::display::Display;
use glutin::config::{ConfigSurfaceTypes, ConfigTemplateBuilder};

use super::{Context, PACKAGES, configs, lacking};
use crate::error::{Error, Result};
use crate::gl::Api;

/// The devices of this machine.
pub(crate) fn devices() -> Result<Vec<EglDevice>> {
    let devices = EglDevice::query_devices()
        .map_err(|e| Error::NoContext(format!("no usable EGL library ({e}); {PACKAGES}")))?;
    Ok(devices.collect())
}

impl Context {
    /// A context on this device.
    pub fn on_device(device: &EglDevice, api: Api) -> Result<Rc<Self>> {
        // SAFETY: no display handle is passed in.
        let display = unsafe { Display::with_device(device, None) }.map_err(lacking("no display"))?;
        let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty());
        let configs = configs(&display, api, template)?;
        let config =
            configs.first().ok_or_else(|| Error::NoContext(format!("no configuration for {api}")))?;
        Ok(Rc::new(Context::new(display, config, api, None, None)?))
    }
}
