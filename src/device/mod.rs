//! The device: a cheap handle that composes the gl layer, the kernels compiled so far, and the texture pool.

mod host;
mod options;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::error::{Error, Result};
use crate::gl::{
    Api, Capabilities, Counters, CurrentContext, Format, Gl, GlOptions, LiveObjects, Source, StateGuard,
};
use crate::gl::{Ledger, Raw, Texture};
use crate::kernel::{Compiled, Description, Forget, Pool, PoolStats, PooledTexture};
use crate::profile::{DeviceProfile, Workload};
use crate::shape::Extent;

pub use options::DeviceOptions;

struct DeviceInner {
    // Dropped before `gl`, so that their objects are in the graveyard when the context goes.
    kernels: RefCell<FxHashMap<Box<Description>, Rc<Compiled>>>,
    /// Whoever keeps recordings that can be made again.
    forgetful: RefCell<Vec<Weak<dyn Forget>>>,
    /// The room of the last draw's description, which is too large to ask for at every draw.
    spare: Cell<Option<Box<Description>>>,
    pool: RefCell<Pool>,
    profile: RefCell<Option<Rc<DeviceProfile>>>,
    /// Profiles that were set so far.
    choices: Cell<u64>,
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

impl Device {
    pub(crate) fn new(
        gl: Raw,
        loader: Option<crate::gl::Loader>,
        owner: Option<Box<dyn CurrentContext>>,
        options: DeviceOptions,
    ) -> Result<Self> {
        let DeviceOptions { limits, pool_budget, program_folder: programs, host_state, capabilities: saved } =
            options;
        if programs.as_ref().is_some_and(|folder| folder.as_os_str().is_empty()) {
            // It would be the current directory, whatever that is.
            let (op, name, value) = ("Device", "program_folder", "\"\"".to_owned());
            return Err(Error::Parameter { op, name, value, expected: "the path of a folder" });
        }
        let gl = Gl::new(gl, GlOptions { owner, loader, limits, saved, host_state, programs })?;
        let (kernels, pool) = (RefCell::default(), RefCell::new(Pool::new(pool_budget)));
        Ok(Device(Rc::new(DeviceInner {
            kernels,
            forgetful: RefCell::default(),
            spare: Cell::default(),
            pool,
            profile: RefCell::default(),
            choices: Cell::new(0),
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
        self.0.choices.set(self.0.choices.get() + 1);
    }

    /// A number that changes with what choices between ways to the same go by.
    pub(crate) fn choices(&self) -> u64 {
        self.0.choices.get()
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
    /// GL calls before or after it. One that is forgotten (`std::mem::forget`) lasts for ever, and no [owner](crate::HostState::Own) gets in.
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
    /// ([`HostState::Own`](crate::HostState::Own)): the next one sets all the state that it needs. A device that keeps the application's state needs no
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

    /// What probing found, or what was given back by [`DeviceOptions::capabilities`].
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

    /// Frees everything that can be made again: unused textures, cached framebuffers, kernels compiled for
    /// texla's own operations, and recordings of what solvers have drawn, with the textures that these keep.
    ///
    /// *Cost*: deletions now, allocations and compilations at the next use. *Errors*: as [`scope`](Self::scope).
    pub fn trim(&self) -> Result<()> {
        let _scope = self.scope()?;
        let forgetful = std::mem::take(&mut *self.0.forgetful.borrow_mut());
        forgetful.iter().filter_map(Weak::upgrade).for_each(|keeper| keeper.forget());
        self.0.pool.borrow_mut().shrink(0);
        self.0.kernels.borrow_mut().clear();
        self.0.gl.trim_framebuffers();
        self.0.gl.trim_fences();
        self.0.gl.bury();
        Ok(())
    }

    /// Waits until the device has done all work given to it. For measurements; no operation needs it. For another context that
    /// is to use a result, [`fence`](Self::fence) lets that one wait instead.
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

    /// Notes somebody who keeps recordings, which a [trim](Self::trim) is to drop.
    pub(crate) fn may_forget(&self, keeper: &Rc<dyn Forget>) {
        let mut forgetful = self.0.forgetful.borrow_mut();
        forgetful.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&Rc::downgrade(keeper)));
        forgetful.push(Rc::downgrade(keeper));
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
        let gl = &self.0.gl;
        // What a recording draws to it keeps, and there the host should not know it.
        let tracing = gl.tracing.get();
        if let Some(texture) = if tracing { gl.take_private(extent, format) } else { None } {
            return Ok(PooledTexture::new(self, texture));
        }
        let suits = |texture: &Texture| !tracing || !texture.is_handed_out();
        let texture = loop {
            let waiting = self.0.pool.borrow_mut().take(extent, format, suits);
            match waiting {
                None => {
                    let texture = self.allocate(|| Texture::new(gl, extent, format, what))?;
                    self.0.pool.borrow_mut().allocated(&texture);
                    break texture;
                }
                Some(texture) if texture.change_hands() => break texture,
                // The host has spoiled it.
                Some(texture) => self.0.pool.borrow_mut().discard(&texture),
            }
        };
        if tracing {
            gl.note_taken(&texture);
        }
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

    /// Takes back a texture that nobody uses any more, unless a recording does.
    pub(crate) fn give_back(&self, texture: &Texture) {
        if self.0.gl.tracing.get() && self.0.gl.give_private(texture) {
            return;
        }
        match texture.recordings() {
            0 => self.0.pool.borrow_mut().give(texture.clone()),
            _ => texture.leave_to_recordings(),
        }
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
