//! What crosses between the application and the device: its context on the way in, a fence on the way out.

#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;

use super::{Device, DeviceOptions};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
#[cfg(target_arch = "wasm32")]
use crate::gl::Raw;

#[cfg(not(target_arch = "wasm32"))]
impl Device {
    /// Takes the application's context as it is. Capabilities are probed by drawing; the application's state is put
    /// back as it was.
    ///
    /// *Errors*: [`Error::NoContext`] below OpenGL 3.3 or OpenGL ES 3.0, or without float render targets;
    /// [`Error::HostGl`] when an error of the application's is pending; [`Error::Unsupported`] for a context of the
    /// compatibility profile; [`Error::OutOfMemory`] and [`Error::ContextLost`], which say nothing about the device.
    ///
    /// # Safety
    /// The context is current on this thread now, at every later call on the device or on data made with it, and when
    /// the last of these handles drops.
    #[allow(unsafe_code)]
    pub unsafe fn from_glow(gl: Arc<glow::Context>) -> Result<Self> {
        // SAFETY: handed on to the caller.
        unsafe { Self::from_glow_with(gl, DeviceOptions::default()) }
    }

    /// As [`from_glow`](Self::from_glow), with options.
    ///
    /// # Safety
    /// As for [`from_glow`](Self::from_glow).
    #[allow(unsafe_code)]
    pub unsafe fn from_glow_with(gl: Arc<glow::Context>, options: DeviceOptions) -> Result<Self> {
        Self::new(gl.into(), None, None, options)
    }

    /// Loads the GL functions by name, for applications that use another loader or another version of glow. With the
    /// loader available, what glow cannot ask for or set is saved and restored too: the colour masks of all draw buffers,
    /// `glClipControl` and `glClampColor`.
    ///
    /// *Errors*: as [`from_glow`](Self::from_glow); [`Error::NoContext`] when no context is current, or the loader gives null for a
    /// function that the context's version has and texla calls.
    ///
    /// # Safety
    /// As for [`from_glow`](Self::from_glow); and the loader returns, for each name, null or the address of the GL
    /// function of that name. 1, 2, 3 and -1, which `wglGetProcAddress` returns on some drivers, count as null.
    #[allow(unsafe_code)]
    pub unsafe fn from_loader(
        loader: impl Fn(&str) -> *const std::ffi::c_void + 'static,
        options: DeviceOptions,
    ) -> Result<Self> {
        let loader = crate::gl::known(loader);
        // SAFETY: handed on to the caller.
        let gl = unsafe { crate::gl::load(&loader) }?;
        Self::new(gl, Some(Box::new(loader)), None, options)
    }

    /// Returns a sync object (`glFenceSync`) behind all work given to the device so far, for another context or thread to wait
    /// for before it uses a result. The work is flushed, so the fence is signalled without another call of texla's.
    ///
    /// Within one context GL orders texla's draws before the application's later ones, and no fence is needed. In another
    /// context, even one that shares its objects, a texture that texla has drawn into is undefined until that context has
    /// waited for the fence (`glWaitSync`, or `glClientWaitSync` until it is signalled) and has bound the texture again. See
    /// [Threads and contexts](crate::guide::threads).
    ///
    /// The sync object belongs to the caller, who deletes it (`glDeleteSync`) in any context of the share group; texla's
    /// [live objects](Self::live_objects) do not count it. Its name is a pointer: send it to another thread as a `usize`.
    ///
    /// # Errors
    /// As [`scope`](Self::scope), and [`Error::NoContext`] if the driver makes no sync object.
    ///
    /// # Cost
    /// One flush; nothing is waited for.
    ///
    /// # Examples
    /// ```
    /// use texla::glow::{self, HasContext};
    /// use texla::{Vector, ops};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let mut x = Vector::filled(dev, 1000, 1.0)?;
    /// ops::scale(&mut x, 3.0)?;
    /// let fence = dev.fence()?;
    /// // In the context that draws `x.texture()`: here the same one, elsewhere that of the thread that draws.
    /// let gl = dev.glow();
    /// // SAFETY: the context is current, and the sync object has not been deleted.
    /// unsafe {
    ///     gl.wait_sync(fence, 0, glow::TIMEOUT_IGNORED); // the GPU waits, the thread does not
    ///     gl.delete_sync(fence);
    /// }
    /// assert_eq!(x.element(999)?, 3.0);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn fence(&self) -> Result<glow::Fence> {
        let _scope = self.scope()?;
        self.0.gl.host_fence()
    }
}

#[cfg(target_arch = "wasm32")]
impl Device {
    /// Takes a browser's WebGL 2 context, of a canvas of the page's or of one that a worker has, as it is. Capabilities are probed by
    /// drawing. What differs from other contexts is in [the guide](crate::guide::web).
    ///
    /// *Errors*: [`Error::NoContext`] without float render targets (`EXT_color_buffer_float`); [`Error::HostGl`] when an error
    /// of the application's is pending; [`Error::ContextLost`] when the browser has taken the context away;
    /// [`Error::OutOfMemory`].
    ///
    /// ```rust,ignore
    /// let context = context().ok_or_else(|| JsError::new("this browser has no WebGL 2"))?;
    /// let options = DeviceOptions::default().with_host_state(HostState::Own); // nobody else draws here
    /// let dev = Device::from_webgl2(context, options)?;
    /// let x = Vector::from_slice(&dev, values)?;
    /// Ok(ops::norm2(&x)?.read()?)
    /// ```
    /// The [guide](crate::guide::web#a-page) has the whole page: where a context comes from, and how it is built.
    pub fn from_webgl2(context: web_sys::WebGl2RenderingContext, options: DeviceOptions) -> Result<Self> {
        Self::new(Raw::new(context)?, None, None, options)
    }

    /// Returns a sync object (`fenceSync`) behind all work given to the device so far, flushed. A page polls it
    /// (`clientWaitSync` with a timeout of 0, or `getSyncParameter`), in a later task than the one that made it: browsers
    /// change its status between tasks only. Contexts of WebGL share no objects, so it says when the work is done, for example
    /// before a frame's pixels go to another canvas.
    ///
    /// The sync object belongs to the caller; texla's [live objects](Self::live_objects) do not count it.
    ///
    /// # Errors
    /// As [`scope`](Self::scope), and [`Error::NoContext`] if the browser makes no sync object.
    ///
    /// # Cost
    /// One flush; nothing is waited for.
    pub fn fence(&self) -> Result<web_sys::WebGlSync> {
        let _scope = self.scope()?;
        self.0.gl.host_fence()
    }
}
