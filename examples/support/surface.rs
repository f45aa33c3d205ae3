//! A window with a GL context: what the examples that play live have in common. Each says
//! `#[path = "../support/surface.rs"] mod surface;` beside `mod support;`.
#![allow(unsafe_code)] // an application that makes a GL context

use std::ffi::CString;
use std::num::NonZeroU32;
use std::sync::Arc;

use glutin::config::{Api as ConfigApi, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, PossiblyCurrentContext, Version};
use glutin::display::GetGlDisplay;
use glutin::prelude::*;
use glutin::surface::{SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use glutin_winit::{DisplayBuilder, GlWindow};
use winit::dpi::LogicalSize;
use winit::error::EventLoopError;
use winit::event_loop::ActiveEventLoop;
use winit::raw_window_handle::HasWindowHandle;
use winit::window::Window;

use crate::support::{Api, Failure, Result};

/// No events, no window. What the operating system says of it names places in a library's source.
pub fn no_window(error: EventLoopError) -> Failure {
    match error {
        EventLoopError::Os(_) | EventLoopError::NotSupported(_) => Failure::no_gl(
            "no window system: neither DISPLAY nor WAYLAND_DISPLAY leads to one; run without --window",
        ),
        other => Failure::no_gl(format_args!("no window: {other}")),
    }
}

/// A window and its context, which is current. To be dropped after everything that lives in the context.
pub struct Surface {
    gl: Arc<glow::Context>,
    surface: glutin::surface::Surface<WindowSurface>,
    context: PossiblyCurrentContext,
    window: Window,
}

impl Surface {
    /// Opens a window, without depth or samples of its own.
    pub fn open(
        events: &ActiveEventLoop,
        title: &str,
        (width, height): (u32, u32),
        api: Option<Api>,
    ) -> Result<Self> {
        let attributes =
            Window::default_attributes().with_title(title).with_inner_size(LogicalSize::new(width, height));
        let (config_api, context_api) = match api.unwrap_or(Api::Gl33) {
            Api::Gl33 => (ConfigApi::OPENGL, ContextApi::OpenGl(Some(Version::new(3, 3)))),
            Api::Es30 => (ConfigApi::GLES3, ContextApi::Gles(Some(Version::new(3, 0)))),
        };
        let template = ConfigTemplateBuilder::new().with_api(config_api);
        let (window, config) = DisplayBuilder::new()
            .with_window_attributes(Some(attributes))
            // The first is the best fit; no configuration at all is an error before this.
            .build(events, template, |mut configs| configs.next().expect("at least one configuration"))
            .map_err(Failure::no_gl)?;
        let window = window.ok_or_else(|| Failure::no_gl("no window"))?;
        let handle = window.window_handle().map_err(Failure::no_gl)?.as_raw();
        let attributes = ContextAttributesBuilder::new()
            .with_profile(GlProfile::Core)
            .with_context_api(context_api)
            .build(Some(handle));
        let display = config.display();
        let surface =
            window.build_surface_attributes(SurfaceAttributesBuilder::new()).map_err(Failure::no_gl)?;
        // SAFETY: the window is alive, and dropped after surface and context.
        let (surface, context) = unsafe {
            let surface = display.create_window_surface(&config, &surface).map_err(Failure::no_gl)?;
            let context = display.create_context(&config, &attributes).map_err(Failure::no_gl)?;
            let context = context.make_current(&surface).map_err(Failure::no_gl)?;
            (surface, context)
        };
        // Where the display knows no interval, pictures come as fast as they are drawn.
        let _ = surface.set_swap_interval(&context, SwapInterval::Wait(NonZeroU32::MIN));
        let load = |name: &str| display.get_proc_address(&CString::new(name).unwrap_or_default());
        // SAFETY: the context is current, and functions of its own display are loaded.
        let gl = Arc::new(unsafe { glow::Context::from_loader_function(load) });
        Ok(Surface { gl, surface, context, window })
    }

    /// The context's functions.
    pub fn glow(&self) -> Arc<glow::Context> {
        Arc::clone(&self.gl)
    }

    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.window.inner_size().into()
    }

    /// After the window's size has changed.
    pub fn resize(&self) {
        self.window.resize_surface(&self.surface, &self.context);
    }

    /// Shows what has been drawn.
    pub fn present(&self) -> Result {
        self.window.pre_present_notify();
        self.surface.swap_buffers(&self.context).map_err(Failure::unsolved)
    }
}
