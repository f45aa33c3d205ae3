//! The device: a cheap handle that composes the gl layer, the kernels compiled so far, and the texture pool.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::gl::{
    Api, Capabilities, Counters, CurrentContext, Format, Gl, GlOptions, HostState, Limits, LiveObjects,
    Source, StateGuard,
};
use crate::gl::{Ledger, Raw, Texture};
use crate::kernel::{Compiled, Description, Pool, PoolStats, PooledTexture};
use crate::profile::{DeviceProfile, Workload};
use crate::shape::Extent;

/// How a [`Device`] is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// Limits below the device's own.
    pub limits: Limits,
    /// Bytes of unused textures that the pool keeps for reuse.
    pub pool_budget: u64,
    /// A folder that keeps linked programs (`glGetProgramBinary`) from one run to the next, where the driver hands them out
    /// ([`Capabilities::program_binaries`]); made when the first one is kept. They are found again by the whole text of
    /// their stages and by the names of driver and device; what is damaged, or what the driver does not know any more, is
    /// compiled as if it were not there, and where nothing can be written nothing is kept. The folder is the application's
    /// own: a driver is handed what stands in it. [`Counters::programs_taken_back`] says how often it helped.
    /// An empty path is refused.
    pub program_folder: Option<PathBuf>,
    /// Whose the context's GL state is. With [`HostState::Keep`] the application may have any state at any call: it makes no
    /// difference, and comes back. [`HostState::Own`] is for a context that nobody but texla sets state in: it is set once, when
    /// the device first works, and each operation changes of it what it needs. That saves what entering and leaving costs, 30 us on
    /// llvmpipe and milliseconds in a browser; a [scope](Device::scope) around operations then gains nothing.
    ///
    /// An application that draws in such a context all the same says so by [`Device::reset_state`] before texla's next call,
    /// and sets what its own draws need: after texla's calls anything may be bound and switched. No feedback of its own is active
    /// during them.
    pub host_state: HostState,
}

with!(const DeviceOptions:
    with_limits(limits: Limits),
    with_pool_budget(pool_budget: u64),
    with_host_state(host_state: HostState),
);

with!(DeviceOptions:
    with_program_folder(program_folder: Option<PathBuf>),
);

impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions {
            limits: Limits::default(),
            pool_budget: 256 << 20,
            program_folder: None,
            host_state: HostState::Keep,
        }
    }
}

struct DeviceInner {
    // Dropped before `gl`, so that their objects are in the graveyard when the context goes.
    kernels: RefCell<FxHashMap<Box<Description>, Rc<Compiled>>>,
    /// The room of the last draw's description, which is too large to ask for at every draw.
    spare: Cell<Option<Box<Description>>>,
    pool: RefCell<Pool>,
    profile: RefCell<Option<Rc<DeviceProfile>>>,
    gl: Gl,
}

/// A GL context made ready for linear algebra. Clones are handles on the same device; the context lives until the
/// last of them, and of the data made with them, is dropped.
#[derive(Clone)]
pub struct Device(Rc<DeviceInner>);

/// Holds the application's GL state: see [`Device::scope`].
pub struct Scope {
    _guard: StateGuard,
}

shown!(Scope, |_scope| "Scope");

/// Numbers that outlive the device, for tests: see [`Device::ledger`].
#[derive(Clone)]
pub struct LedgerHandle(Ledger);

shown!(LedgerHandle, |ledger| "LedgerHandle({:?})", ledger.live_objects());

impl LedgerHandle {
    /// GL objects alive.
    pub fn live_objects(&self) -> LiveObjects {
        self.0.live()
    }

    /// Work done.
    pub fn counters(&self) -> Counters {
        self.0.counters()
    }
}

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
    /// loader at hand, what glow cannot ask for or set is saved and restored too: the colour masks of all draw buffers,
    /// `glClipControl` and `glClampColor`.
    ///
    /// *Errors*: as [`from_glow`](Self::from_glow); [`Error::NoContext`] when no context is current, or the loader gives null for a
    /// function that the context's version has and texla calls.
    ///
    /// # Safety
    /// As for [`from_glow`](Self::from_glow); and the loader returns, for each name, null or the address of the GL
    /// function of that name.
    #[allow(unsafe_code)]
    pub unsafe fn from_loader(
        loader: impl Fn(&str) -> *const std::ffi::c_void + 'static,
        options: DeviceOptions,
    ) -> Result<Self> {
        // SAFETY: handed on to the caller.
        let gl = unsafe { crate::gl::load(&loader) }?;
        Self::new(gl.into(), Some(Box::new(loader)), None, options)
    }
}

#[cfg(target_arch = "wasm32")]
impl Device {
    /// Takes a browser's WebGL 2 context, of a canvas of the page's or of one that a worker has, as it is. Capabilities are probed by
    /// drawing. What differs from other contexts is told in [the guide](crate::guide::web).
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
}

impl Device {
    pub(crate) fn new(
        gl: Raw,
        loader: Option<crate::gl::Loader>,
        owner: Option<Box<dyn CurrentContext>>,
        options: DeviceOptions,
    ) -> Result<Self> {
        let DeviceOptions { limits, pool_budget, program_folder: programs, host_state } = options;
        if programs.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
            // It would be the current directory, whatever that is.
            let (op, name, value) = ("Device", "program_folder", "\"\"".to_owned());
            return Err(Error::Parameter { op, name, value, expected: "the path of a folder" });
        }
        let gl = Gl::new(gl, GlOptions { owner, loader, limits, host_state, programs })?;
        let (kernels, pool) = (RefCell::default(), RefCell::new(Pool::new(pool_budget)));
        Ok(Device(Rc::new(DeviceInner {
            kernels,
            spare: Cell::default(),
            pool,
            profile: RefCell::default(),
            gl,
        })))
    }

    /// Lets choices go by predictions instead of fixed rules, from now on and for all handles on this device; `None` goes
    /// back to the rules. What is chosen: the windows of [`Windows::Balanced`](crate::ops::Windows::Balanced),
    /// [`MatmulSchedule::Auto`](crate::ops::MatmulSchedule::Auto),
    /// [`CgSchedule::Auto`](crate::solve::CgSchedule::Auto), [`SparseFormat::Auto`](crate::SparseFormat::Auto) and
    /// [`MatrixFormat::Auto`](crate::MatrixFormat::Auto), in how many passes [`WeightedJacobi`](crate::solve::WeightedJacobi)
    /// sweeps, [`JacobiSchedule::best`](crate::solve::JacobiSchedule::best), and `BlockPlan::choose`.
    ///
    /// Choices differ in the order of sums: results repeat bit for bit as long as the profile is the same. Keep its text, then,
    /// or set none. Bounds are named by the order that runs ([`ReducePlan::on`](crate::ops::ReducePlan::on) tells that of a
    /// sum).
    ///
    /// *Cost*: nothing on the device; of each choice, that of a few predictions.
    ///
    /// ```
    /// use texla::ops::{self, MatmulForm, MatmulSchedule, Reason};
    /// use texla::{Matrix, Shape, profile::DeviceProfile};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// // `DeviceProfile::measure(dev)?`, or the text of one; here of a device on which changing the target takes a minute.
    /// let mut profile = DeviceProfile::default();
    /// profile.target_change = 60.0;
    /// dev.set_profile(Some(profile));
    /// let a = Matrix::filled(dev, Shape::new(256, 256), 1.0)?;
    /// let mut c = Matrix::zeros(dev, Shape::new(256, 256))?;
    /// let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &a, MatmulSchedule::Auto)?;
    /// assert_eq!((report.schedule, report.reason), (MatmulSchedule::OnePass, Reason::Predicted));
    /// dev.set_profile(None);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn set_profile(&self, profile: Option<DeviceProfile>) {
        *self.0.profile.borrow_mut() = profile.map(Rc::new);
    }

    /// The profile that choices go by, if one is [set](Self::set_profile).
    pub fn profile(&self) -> Option<Rc<DeviceProfile>> {
        self.0.profile.borrow().clone()
    }

    /// The way that the profile predicts to take least, of ways that lead to the same, with what each comes to; the first of
    /// equals. `None` without a profile, where the rule decides, where there is no way, and of a profile whose numbers are none:
    /// its fields are public.
    pub(crate) fn quickest<T, I: IntoIterator<Item = (T, Workload)>>(
        &self,
        ways: impl FnOnce() -> I,
    ) -> Option<T> {
        let profile = self.profile()?;
        let predicted = ways().into_iter().map(|(way, work)| (way, profile.predict(&work)));
        let predicted = predicted.filter(|(_, seconds)| seconds.is_finite() && *seconds >= 0.0);
        predicted.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(way, _)| way)
    }

    /// Saves the application's GL state until the returned guard drops. Every call of texla's does so by itself; a
    /// scope around many of them pays for it once. Re-entrant. Inside, the state belongs to texla: draw with your own
    /// GL calls before or after it. One that is forgotten (`std::mem::forget`) lasts for ever, and no [owner](HostState::Own) gets in.
    ///
    /// *Errors*: [`Error::HostGl`] when a GL error of the application's is pending: it is reported here and cleared,
    /// and nothing else is done. [`Error::ContextLost`].
    pub fn scope(&self) -> Result<Scope> {
        Ok(Scope { _guard: StateGuard::enter(&self.0.gl, false)? })
    }

    /// The same around code of texla's own alone: no operator, preconditioner, observer or closure of a user's runs before
    /// it drops. Draws inside need not ask which context is current, which costs as much as a tenth of a small one.
    pub(crate) fn exclusive_scope(&self) -> Result<Scope> {
        Ok(Scope { _guard: StateGuard::enter(&self.0.gl, true)? })
    }

    /// Says that GL calls of others have been made since texla's last call, in a context that is texla's own
    /// ([`HostState::Own`]): the next one sets all the state that it needs. A device that keeps the application's state needs no
    /// telling. To be called outside of scopes: what they find when they begin they rely on.
    ///
    /// *Cost*: nothing now; then once about 10 us, without a question to the driver.
    pub fn reset_state(&self) {
        self.0.gl.settled.set(false);
    }

    /// Which dialect the context speaks.
    pub fn api(&self) -> Api {
        self.0.gl.api
    }

    /// What probing found.
    pub fn capabilities(&self) -> Capabilities {
        self.0.gl.caps.borrow().clone()
    }

    /// Work done since the device was made.
    pub fn counters(&self) -> Counters {
        self.0.gl.ledger.counters()
    }

    /// GL objects alive, those in the pool included.
    pub fn live_objects(&self) -> LiveObjects {
        self.0.gl.ledger.live()
    }

    /// A handle on the same numbers that can be asked after the device is gone.
    pub fn ledger(&self) -> LedgerHandle {
        LedgerHandle(self.0.gl.ledger.clone())
    }

    /// What the texture pool holds and has done: textures and bytes in use, at their peak, waiting, reused, created.
    /// *Cost*: nothing.
    pub fn pool_stats(&self) -> PoolStats {
        self.0.pool.borrow().stats()
    }

    /// Frees everything that can be made again: unused textures, cached framebuffers, and kernels compiled for
    /// texla's own operations.
    ///
    /// *Cost*: deletions now, allocations and compilations at the next use. *Errors*: as [`scope`](Self::scope).
    pub fn trim(&self) -> Result<()> {
        let _scope = self.scope()?;
        self.0.pool.borrow_mut().shrink(0);
        self.0.kernels.borrow_mut().clear();
        self.0.gl.trim_framebuffers();
        self.0.gl.trim_fences();
        self.0.gl.bury();
        Ok(())
    }

    /// Waits until the device has done all work given to it. For measurements; no operation needs it.
    ///
    /// *Errors*: as [`scope`](Self::scope).
    pub fn finish(&self) -> Result<()> {
        let _scope = self.scope()?;
        self.0.gl.finish();
        Ok(())
    }

    /// Tells that the context is gone, or that it will never be current on this thread again: no call is made to GL from now on.
    /// Whatever the device holds is forgotten, data and kernels made with it drop in silence, and every use of them is an
    /// error. For an application whose window or driver went before texla did; all handles on the device are meant.
    ///
    /// *Cost*: nothing. *Errors* afterwards: [`Error::ContextLost`], of everything that asks the device.
    ///
    /// ```
    /// use texla::{Error, Headless, Vector, ops};
    /// let ctx = Headless::new(Default::default())?;
    /// let x = Vector::filled(ctx.device(), 3, 1.0)?;
    /// ctx.device().abandon();
    /// assert_eq!(x.read(), Err(Error::ContextLost));
    /// assert_eq!(ctx.device().live_objects().total(), 0);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn abandon(&self) {
        self.0.gl.abandon();
        self.0.pool.borrow_mut().shrink(0);
        self.0.kernels.borrow_mut().clear();
    }

    /// True if both are handles on the same device.
    pub fn same(&self, other: &Device) -> bool {
        self.0.gl.same(&other.0.gl)
    }

    pub(crate) fn gl(&self) -> &Gl {
        &self.0.gl
    }

    /// The largest texture side in use; cheaper than all capabilities.
    pub(crate) fn max_texture_size(&self) -> u32 {
        self.0.gl.caps.borrow().max_texture_size
    }

    /// See [`Capabilities::software`].
    pub(crate) fn is_software(&self) -> bool {
        self.0.gl.caps.borrow().software
    }

    /// The beginning of a description in a box, be it a used one.
    pub(crate) fn description(&self, source: Source<'static>) -> Box<Description> {
        match self.0.spare.take() {
            Some(mut room) => {
                room.begin(source);
                room
            }
            None => Box::new(Description::new(source)),
        }
    }

    /// A kernel of texla's own: the one kept, or the first of its kind.
    pub(crate) fn kernel(&self, description: Box<Description>) -> Result<Rc<Compiled>> {
        if let Some(kernel) = self.0.kernels.borrow().get(&description) {
            self.0.spare.set(Some(description));
            return Ok(Rc::clone(kernel));
        }
        let kernel = Rc::new(Compiled::new(self, description.spec())?);
        self.0.kernels.borrow_mut().insert(description, Rc::clone(&kernel));
        Ok(kernel)
    }

    /// A texture of exactly this extent, from the pool or the driver. The contents are undefined.
    pub(crate) fn texture(
        &self,
        extent: Extent,
        format: Format,
        what: &'static str,
    ) -> Result<PooledTexture> {
        let _scope = self.scope()?;
        if let Some(texture) = self.0.pool.borrow_mut().take(extent, format) {
            return Ok(PooledTexture::new(self, texture));
        }
        let texture = Rc::new(self.allocate(|| Texture::new(&self.0.gl, extent, format, what))?);
        self.0.pool.borrow_mut().allocated(&texture);
        Ok(PooledTexture::new(self, texture))
    }

    /// Asks the driver for memory, and once more after the pool has given back all that waits. Needs an open scope.
    pub(crate) fn allocate<T>(&self, ask: impl Fn() -> Result<T>) -> Result<T> {
        let made = ask();
        if !matches!(made, Err(Error::OutOfMemory { .. })) {
            return made;
        }
        self.0.pool.borrow_mut().shrink(0);
        self.0.gl.bury();
        ask()
    }

    /// A texture that holds at least this extent, shared by size class.
    pub(crate) fn scratch(&self, extent: Extent, what: &'static str) -> Result<PooledTexture> {
        self.texture(self.scratch_extent(extent), Format::Rgba32F, what)
    }

    /// The extent of the texture that [`scratch`](Self::scratch) gives for this one.
    pub(crate) fn scratch_extent(&self, extent: Extent) -> Extent {
        Pool::scratch_class(extent, self.max_texture_size())
    }

    pub(crate) fn give_back(&self, texture: Rc<Texture>) {
        self.0.pool.borrow_mut().give(texture);
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({}, {})", self.0.gl.caps.borrow().renderer, self.0.gl.api)
    }
}

impl Device {
    /// The context's raw GL functions, shared with the host.
    pub fn glow(&self) -> Arc<glow::Context> {
        self.0.gl.raw.shared()
    }
}
