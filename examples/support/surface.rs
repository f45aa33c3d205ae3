//! A window with a GL context: what the examples that play live have in common. Each says
//! `#[path = "../support/surface.rs"] mod surface;` beside `mod support;`.

use std::sync::Arc;

use texla::{Device, Windowed, WindowedOptions};
use winit::dpi::LogicalSize;
use winit::error::EventLoopError;
use winit::event_loop::ActiveEventLoop;
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

/// A window and its context, which is current. To be dropped after everything of the application's that lives in the context.
pub struct Surface(Windowed<Window>);

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
        let window = events.create_window(attributes).map_err(Failure::no_gl)?;
        let size = window.inner_size().into();
        let options = WindowedOptions::default().with_api(api);
        Ok(Surface(Windowed::new(window, size, options)?))
    }

    /// The device in the window's context.
    pub fn device(&self) -> &Device {
        self.0.device()
    }

    /// The context's functions.
    pub fn glow(&self) -> Arc<glow::Context> {
        self.0.glow()
    }

    pub fn window(&self) -> &Window {
        self.0.window()
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        self.window().inner_size().into()
    }

    /// After the window's size has changed.
    pub fn resize(&self) {
        self.0.resize(self.size());
    }

    /// Shows what has been drawn.
    pub fn present(&self) -> Result {
        self.window().pre_present_notify();
        Ok(self.0.swap()?)
    }
}
