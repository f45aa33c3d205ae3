//! Contexts in a window, made from its raw handles: winit's or anyone's.

use std::rc::Rc;
use std::sync::Arc;

use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::device::{Device, DeviceOptions};
use crate::egl::{self, Buffers, Context};
use crate::error::Result;
use crate::gl::Api;

/// Which context to make in a window.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WindowedOptions {
    /// The API. `None`: the environment variable `TEXLA_API` (`gl33` or `es30`) if set and not empty, else GL 3.3.
    pub api: Option<Api>,
    /// Bits of depth that the window has at least; 0 unless set: texla needs none.
    pub depth_bits: u8,
    /// Bits of stencil that the window has at least.
    pub stencil_bits: u8,
    /// Samples a pixel of the window, rounded up to a power of two; 0 for a window without multisampling.
    pub samples: u8,
    /// Whether [`swap`](Windowed::swap) keeps step with the display, as far as it can. True unless set.
    pub in_step: bool,
    /// Options of the device.
    pub options: DeviceOptions,
}

impl Default for WindowedOptions {
    fn default() -> Self {
        let options = DeviceOptions::default();
        WindowedOptions { api: None, depth_bits: 0, stencil_bits: 0, samples: 0, in_step: true, options }
    }
}

with!(WindowedOptions:
    with_api(api: Option<Api>),
    with_depth_bits(depth_bits: u8),
    with_stencil_bits(stencil_bits: u8),
    with_samples(samples: u8),
    with_in_step(in_step: bool),
    with_options(options: DeviceOptions),
);

/// A window with a GL context of the core profile, in which texla computes and the application draws.
///
/// The window is anything with raw handles (`raw-window-handle` 0.6): winit's, SDL's, one of the application's own, or an `Rc` or
/// `Arc` of one that others hold too. It is closed when this handle, every clone of the device and all data made with it have been
/// dropped. The context is made through EGL: on X11; on Wayland where the program turns on the feature `wayland` of glutin 0.32; on
/// Windows with ANGLE. Where a window library makes the context, [`Device::from_loader`] takes that.
///
/// ```no_run
/// use texla::{Vector, Windowed, WindowedOptions, ops};
/// # fn frame<W>(window: W, size: (u32, u32)) -> texla::Result<()>
/// # where W: raw_window_handle::HasWindowHandle + raw_window_handle::HasDisplayHandle + 'static {
/// let windowed = Windowed::new(window, size, WindowedOptions::default())?; // a `winit::window::Window`, say
/// let gl = windowed.glow(); // to draw with
/// let x = Vector::filled(windowed.device(), 1000, 1.0)?;
/// assert_eq!(ops::sum(&x)?.read()?, 1000.0);
/// windowed.swap()
/// # }
/// ```
pub struct Windowed<W> {
    device: Device,
    context: Rc<Context>,
    window: Rc<W>,
}

shown!([W] Windowed<W>, |w| "Windowed({:?})", w.device);

impl<W: HasWindowHandle + HasDisplayHandle + 'static> Windowed<W> {
    /// Makes a context in a window of this width and height in pixels. It is current from here on.
    ///
    /// *Errors*: [`Error::NoContext`](crate::Error::NoContext) with one sentence: the window has no handles, there is no EGL for its
    /// window system (with the Debian packages to install), or nothing has the buffers asked for; what
    /// [`Device::from_loader`] refuses.
    pub fn new(window: W, size: (u32, u32), options: WindowedOptions) -> Result<Self> {
        let WindowedOptions { api, depth_bits, stencil_bits, samples, in_step, options } = options;
        let (window, api) = (Rc::new(window), egl::api(api)?);
        let buffers = Buffers { depth_bits, stencil_bits, samples };
        let context = Context::in_window(Rc::clone(&window), size, api, buffers, in_step)?;
        let device = context.device(options)?;
        Ok(Windowed { device, context, window })
    }

    /// The window.
    pub fn window(&self) -> &W {
        &self.window
    }

    /// The device. Clones of it keep context and window alive.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The raw GL functions of this context, to draw with.
    pub fn glow(&self) -> Arc<glow::Context> {
        self.device.glow()
    }

    /// The address of a GL function of this context, or null: for another version of glow, or another loader.
    pub fn address(&self, name: &str) -> *const std::ffi::c_void {
        self.context.address(name)
    }

    /// Makes the context current, with the window for the default framebuffer. texla's own calls do that by themselves; the
    /// application does it before it draws, if another context may have been current.
    ///
    /// *Errors*: [`Error::NoContext`](crate::Error::NoContext).
    pub fn make_current(&self) -> Result<()> {
        self.context.bind()
    }

    /// Shows what has been drawn to the window. The context is current afterwards.
    ///
    /// *Errors*: [`Error::NoContext`](crate::Error::NoContext) when the window is there no more.
    pub fn swap(&self) -> Result<()> {
        self.context.swap()
    }

    /// To be called when the window has another size; some platforms need to be told. What is 0 is taken for 1.
    pub fn resize(&self, size: (u32, u32)) {
        self.context.resize(size);
    }
}
