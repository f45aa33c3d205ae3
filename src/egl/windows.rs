//! In a window, by its raw handles.

use std::num::NonZeroU32;
use std::rc::Rc;

use glutin::api::egl::config::Config;
use glutin::api::egl::display::Display;
use glutin::api::egl::surface::Surface;
use glutin::config::ConfigTemplateBuilder;
use glutin::prelude::*;
use glutin::surface::{SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawWindowHandle};

use super::{Context, PACKAGES, address, configs, lacking};
use crate::error::{Error, Result};
use crate::gl::Api;

/// What the window's default framebuffer has besides colours.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Buffers {
    pub depth_bits: u8,
    pub stencil_bits: u8,
    pub samples: u8,
}

impl Context {
    /// A context in this window, whose pictures take turns with the display's where `in_step`.
    pub fn in_window<W: HasWindowHandle + HasDisplayHandle + 'static>(
        window: Rc<W>,
        size: (u32, u32),
        api: Api,
        buffers: Buffers,
        in_step: bool,
    ) -> Result<Rc<Self>> {
        let no_handle = |e| Error::NoContext(format!("the window has no handle: {e}"));
        let native = window.window_handle().map_err(no_handle)?.as_raw();
        let display = window.display_handle().map_err(no_handle)?.as_raw();
        // SAFETY: the window is alive, and so is its display.
        let display = unsafe { Display::new(display) }
            .map_err(|e| Error::NoContext(format!("EGL has no display for the window ({e}); {PACKAGES}")))?;
        let mut template = ConfigTemplateBuilder::new()
            .with_depth_size(buffers.depth_bits)
            .with_stencil_size(buffers.stencil_bits)
            .compatible_with_native_window(native);
        if buffers.samples > 0 {
            template =
                template.with_multisampling(buffers.samples.checked_next_power_of_two().unwrap_or(128));
        }
        let mut failures = Vec::new();
        for config in configs(&display, api, template)? {
            // A window of unknown visual: the surface tells which configurations are of it.
            match surface(&display, &config, native, size) {
                Ok(surface) => {
                    let context = Context::new(display, &config, api, Some(surface), Some(window))?;
                    // Where the display knows no interval, pictures come as fast as they are drawn.
                    let interval =
                        if in_step { SwapInterval::Wait(NonZeroU32::MIN) } else { SwapInterval::DontWait };
                    if let Some(surface) = &context.surface {
                        let _ = surface.set_swap_interval(&context.context, interval);
                    }
                    return Ok(Rc::new(context));
                }
                Err(e) => failures.push(e.to_string()),
            }
        }
        failures.dedup();
        // What is not to be had is asked for more often than EGL is missing, which has found the display.
        let help = if buffers == Buffers::default() { PACKAGES } else { "ask for less" };
        let tried = if failures.is_empty() { "none fits".to_owned() } else { failures.join("; ") };
        let Buffers { depth_bits, stencil_bits, samples } = buffers;
        Err(Error::NoContext(format!(
            "no configuration of the window's for {api} with {depth_bits} bits of depth, {stencil_bits} of stencil and \
             {samples} samples ({tried}); {help}"
        )))
    }

    /// Shows what has been drawn to the window.
    pub fn swap(&self) -> Result<()> {
        if !self.is_current() {
            self.bind()?;
        }
        match &self.surface {
            Some(surface) => {
                surface.swap_buffers(&self.context).map_err(lacking("the window shows no picture"))
            }
            None => Ok(()),
        }
    }

    /// The window has this size from now on.
    pub fn resize(&self, size: (u32, u32)) {
        if let Some(surface) = &self.surface {
            let (width, height) = at_least_one(size);
            surface.resize(&self.context, width, height);
        }
    }

    /// The address of a GL function in this context, or null.
    pub fn address(&self, name: &str) -> *const std::ffi::c_void {
        address(&self.display, name)
    }
}

fn surface(
    display: &Display,
    config: &Config,
    window: RawWindowHandle,
    size: (u32, u32),
) -> std::result::Result<Surface<WindowSurface>, glutin::error::Error> {
    let (width, height) = at_least_one(size);
    let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(window, width, height);
    // SAFETY: the window is alive, and the context that gets the surface keeps it so.
    unsafe { display.create_window_surface(config, &attributes) }
}

/// A window that is not to be seen may have no size; a surface has one.
fn at_least_one((width, height): (u32, u32)) -> (NonZeroU32, NonZeroU32) {
    let side = |n| NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN);
    (side(width), side(height))
}
