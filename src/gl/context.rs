//! The shared context: who may enter, what waits to be deleted, which framebuffers exist.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::rc::{Rc, Weak};

use glow::HasContext;

use super::api::Api;
use super::caps::{Capabilities, Limits};
use super::counters::{Ledger, LiveObjects};
use super::entry::EntryPoints;
use super::fences::Fences;
use super::framebuffers::Framebuffers;
use super::graveyard::Dead;
use super::handed::Handed;
use super::raw::Raw;
use super::recorded::Trace;
use super::state::{HostState, Nesting, Rows, Saved, Shadow, Viewports};
use crate::error::{Error, Result};
use crate::platform::BROWSER;

/// Keeps a platform context alive and makes it current. texla calls it at every entry, so several contexts can be
/// used in turn on one thread.
pub trait CurrentContext {
    /// Makes the context current on this thread if it is not; cheap when it is.
    ///
    /// # Errors
    /// A sentence saying why the context cannot be made current.
    fn make_current(&self) -> std::result::Result<(), String>;
}

/// A function that looks up a GL entry point by name.
pub(crate) type Loader = Box<dyn Fn(&str) -> *const std::ffi::c_void>;

pub(crate) struct GlOptions {
    pub owner: Option<Box<dyn CurrentContext>>,
    pub loader: Option<Loader>,
    pub limits: Limits,
    /// What was found in an earlier run.
    pub saved: Option<Capabilities>,
    pub host_state: HostState,
    /// The folder that keeps linked programs.
    pub programs: Option<PathBuf>,
}

/// The context and everything that is per context. Shared by all handles; dropped with the last of them.
pub(crate) struct GlInner {
    pub raw: Raw,
    pub api: Api,
    pub version: (u32, u32),
    pub ledger: Ledger,
    pub caps: RefCell<Capabilities>,
    pub saved: RefCell<Option<Saved>>,
    pub shadow: RefCell<Shadow>,
    pub nesting: Nesting,
    pub host_state: HostState,
    /// The state of the context is as this device, which owns it, has left it.
    pub settled: Cell<bool>,
    pub vertex_array: glow::VertexArray,
    /// One for each [`Filter`], in its order.
    pub samplers: [glow::Sampler; 2],
    /// Where texla captures vertices, if the context has objects for that.
    pub feedback: Cell<Option<glow::TransformFeedback>>,
    /// Draw buffers of the device, whatever the limits say.
    pub draw_buffers: u32,
    pub entry: EntryPoints,
    /// The folder that keeps linked programs.
    pub programs: Option<PathBuf>,
    pub viewports: Viewports,
    /// The values of the host's state that this context has.
    pub(super) rows: OnceCell<Rows>,
    pub lost: Cell<bool>,
    /// Work is not asked for errors: see [`check_work`](Gl::check_work).
    quiet: Cell<bool>,
    /// Some of it has not been asked.
    unasked: Cell<bool>,
    pub(super) graveyard: RefCell<Vec<Dead>>,
    pub(super) fences: RefCell<Fences>,
    /// The vertex stage may run before what was drawn into its inputs is there.
    pub(super) vertices_overtake: Cell<bool>,
    pub(super) framebuffers: RefCell<Framebuffers>,
    pub(super) clock: Cell<u64>,
    pub(super) handed: RefCell<Handed>,
    /// Open traces, the innermost last; whether there is one; values of uniforms that have a name so far.
    pub(super) traces: RefCell<Vec<Trace>>,
    pub tracing: Cell<bool>,
    pub(super) values: Cell<u64>,
    /// Scopes so far, nested ones too.
    pub(super) entries: Cell<u64>,
    owner: Option<Box<dyn CurrentContext>>,
}

/// A cheap handle on the shared context.
#[derive(Clone)]
pub(crate) struct Gl(Rc<GlInner>);

impl std::ops::Deref for Gl {
    type Target = GlInner;

    fn deref(&self) -> &GlInner {
        &self.0
    }
}

impl Gl {
    /// Takes over a current context. The state guard is used around the probing too, so the host sees no trace.
    pub fn new(raw: Raw, options: GlOptions) -> Result<Self> {
        if let Some(owner) = &options.owner {
            owner.make_current().map_err(Error::NoContext)?;
        }
        let version = raw.version();
        let (api, least) = if version.is_embedded { (Api::Es30, (3, 0)) } else { (Api::Gl33, (3, 3)) };
        let version = (version.major, version.minor);
        if version < least {
            return Err(Error::NoContext(format!(
                "the context is {} {}.{}, texla needs OpenGL 3.3 core or OpenGL ES 3.0",
                if api == Api::Es30 { "OpenGL ES" } else { "OpenGL" },
                version.0,
                version.1
            )));
        }
        // SAFETY: the context is current (promised by the caller, or made so just now).
        match unsafe { take_error(&raw) } {
            glow::NO_ERROR => {}
            glow::CONTEXT_LOST => return Err(Error::ContextLost),
            code => return Err(Error::HostGl { code }),
        }
        refuse_compatibility(&raw, api)?;
        let ledger = Ledger::default();
        // SAFETY: as above.
        let unavailable = |what: &str, e: String| match unsafe { take_error(&raw) } {
            glow::CONTEXT_LOST => Error::ContextLost,
            _ => Error::NoContext(format!(
                "cannot create a {what}: {e} (is the context current on this thread?)"
            )),
        };
        // SAFETY: as above.
        let vertex_array =
            unsafe { raw.create_vertex_array() }.map_err(|e| unavailable("vertex array", e))?;
        let entry = options.loader.as_ref().map(|l| EntryPoints::load(l, api)).unwrap_or_default();
        // SAFETY: as above. Nearest, clamped: a texel is a number, not a picture; linear where an average is asked for.
        let made = unsafe {
            let marked = raw.mark(vertex_array, entry.is_vertex_array);
            match (marked, make_sampler(&raw, glow::NEAREST), make_sampler(&raw, glow::LINEAR)) {
                (Ok(()), Ok(nearest), Ok(linear)) => Ok([nearest, linear]),
                (marked, nearest, linear) => {
                    [&nearest, &linear].into_iter().flatten().for_each(|s| raw.delete_sampler(*s));
                    raw.unmark();
                    raw.delete_vertex_array(vertex_array);
                    let sampler = || nearest.err().or(linear.err()).unwrap_or_default();
                    Err(marked.map_or_else(|e| ("framebuffer", e), |()| ("sampler", sampler())))
                }
            }
        };
        let samplers = made.map_err(|(what, e)| unavailable(what, e))?;
        ledger.change_live(|l| {
            l.vertex_arrays += 1;
            l.samplers += 2;
            l.framebuffers += raw.marks();
            l.textures += raw.marks();
        });
        // SAFETY: as above.
        let draw_buffers = unsafe { raw.get_parameter_i32(glow::MAX_DRAW_BUFFERS) }.max(1) as u32;
        let viewports = Viewports::of(&raw, api, version, &entry);
        let gl = Gl(Rc::new(GlInner {
            raw,
            api,
            version,
            ledger,
            caps: RefCell::new(Capabilities::default()),
            saved: RefCell::new(None),
            shadow: RefCell::new(Shadow::default()),
            nesting: Nesting::default(),
            host_state: options.host_state,
            settled: Cell::new(false),
            vertex_array,
            samplers,
            feedback: Cell::new(None),
            draw_buffers,
            entry,
            programs: options.programs,
            viewports,
            rows: OnceCell::new(),
            lost: Cell::new(false),
            quiet: Cell::new(false),
            unasked: Cell::new(false),
            graveyard: RefCell::new(Vec::new()),
            fences: RefCell::new(None),
            vertices_overtake: Cell::new(false),
            framebuffers: RefCell::default(),
            clock: Cell::new(0),
            handed: RefCell::default(),
            traces: RefCell::default(),
            tracing: Cell::new(false),
            values: Cell::new(0),
            entries: Cell::new(0),
            owner: options.owner,
        }));
        if super::state::feedback_can_pause(&gl) {
            // SAFETY: as above.
            let feedback = unsafe { gl.raw.create_transform_feedback() };
            gl.feedback.set(Some(gl.made("transform feedback object", feedback)?));
            gl.ledger.change_live(|l| l.transform_feedbacks += 1);
        }
        super::caps::probe(&gl, &options.limits, options.saved).map_err(|e| gl.unless_lost(e))?;
        gl.quiet.set(BROWSER);
        Ok(gl)
    }

    /// True if both are handles on the same context.
    pub fn same(&self, other: &Gl) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// A handle that keeps nothing alive, and the device behind one.
    pub fn downgrade(&self) -> Weak<GlInner> {
        Rc::downgrade(&self.0)
    }

    pub fn upgrade(weak: &Weak<GlInner>) -> Option<Self> {
        weak.upgrade().map(Gl)
    }

    /// What every entry begins with that others' code may have run before: the context is current, or an error.
    pub fn be_current(&self) -> Result<()> {
        match &self.owner {
            Some(owner) => owner.make_current().map_err(Error::NoContext),
            None => self.check_current(),
        }
    }

    /// What every outermost entry does first: context current, no foreign error pending, the dead buried.
    pub fn enter(&self) -> Result<()> {
        if self.lost.get() {
            return Err(Error::ContextLost);
        }
        // Before errors are asked for, which in another context are another's.
        self.be_current()?;
        // A browser that has nobody else's errors is not asked: see `check_work`.
        let quiet = self.quiet.get() && self.host_state == HostState::Own;
        // SAFETY: the context is current.
        let found = if quiet { glow::NO_ERROR } else { unsafe { take_error(&self.raw) } };
        match found {
            glow::NO_ERROR => {
                self.bury();
                Ok(())
            }
            glow::CONTEXT_LOST => Err(self.lose()),
            // Nobody knows whose it is.
            code if self.unasked.take() => Err(Error::Gl {
                op: "work since something was last read back, or the application's".into(),
                code,
            }),
            code => Err(Error::HostGl { code }),
        }
    }

    /// Turns an error raised by texla's own calls into an `Err`.
    pub fn check(&self, op: &str) -> Result<()> {
        self.unasked.set(false);
        // SAFETY: the context is current inside a scope.
        match unsafe { take_error(&self.raw) } {
            glow::NO_ERROR => Ok(()),
            glow::CONTEXT_LOST => Err(self.lose()),
            code => Err(Error::Gl { op: op.to_owned(), code }),
        }
    }

    /// The same of draws, copies and uploads to what has its memory. A browser is not asked: each question waits for another
    /// process, for longer than most draws take. There, what they have raised is found when memory is given, a program
    /// linked or something read back.
    pub fn check_work(&self, op: &str) -> Result<()> {
        self.unasked.set(self.quiet.get());
        if self.quiet.get() { Ok(()) } else { self.check(op) }
    }

    /// The context is gone with all that was in it: no name of it is kept, no state put back.
    pub fn abandon(&self) {
        self.lose();
        let saved = self.saved.take();
        if let Some(saved) = saved {
            super::state::end(self, saved);
        }
        self.graveyard.take();
        self.fences.take();
        self.framebuffers.take();
        self.handed.borrow_mut().clear();
        self.ledger.change_live(|l| *l = LiveObjects::default());
    }

    /// The object that the driver has made, or why there is none.
    pub fn made<T>(&self, what: &str, object: std::result::Result<T, String>) -> Result<T> {
        object.map_err(|e| self.unless_lost(Error::NoContext(format!("cannot create a {what}: {e}"))))
    }

    /// What went wrong, where that may be no more than a consequence: in a lost context nothing works. Clears what is
    /// pending of it.
    pub fn unless_lost(&self, error: Error) -> Error {
        match self.check("") {
            Err(Error::ContextLost) => Error::ContextLost,
            _ => error,
        }
    }
}

impl GlInner {
    /// From here on nothing is asked of the context.
    pub(super) fn lose(&self) -> Error {
        self.lost.set(true);
        Error::ContextLost
    }

    /// Whether what follows meets the device's own context: makes it current where texla keeps it, else asks.
    pub(super) fn is_ours(&self) -> bool {
        match &self.owner {
            _ if self.lost.get() => false,
            Some(owner) => owner.make_current().is_ok(),
            None => self.check_current().is_ok(),
        }
    }
}

impl Drop for GlInner {
    fn drop(&mut self) {
        // The owner outlives this body: its field is dropped after it. Where another context is current, its names are other
        // objects: ours stay, and go with their context.
        if !self.is_ours() {
            return;
        }
        // Drivers have been seen to fall over a context that goes while its last scenes are still being drawn.
        // SAFETY: the context is current.
        unsafe { self.raw.finish() };
        self.bury();
        self.trim_framebuffers();
        self.trim_fences();
        // SAFETY: as above.
        let marks = unsafe {
            self.raw.delete_vertex_array(self.vertex_array);
            if let Some(feedback) = self.feedback.get() {
                self.raw.delete_transform_feedback(feedback);
            }
            self.samplers.iter().for_each(|s| self.raw.delete_sampler(*s));
            self.raw.unmark()
        };
        self.ledger.change_live(|l| {
            l.vertex_arrays -= 1;
            l.samplers -= 2;
            l.framebuffers -= marks;
            l.textures -= marks;
            l.transform_feedbacks -= u64::from(self.feedback.get().is_some());
        });
    }
}

/// Error flags that are cleared at most: a lost context may raise its own at every call.
const ERROR_FLAGS: usize = 16;

/// The pending GL error, or `NO_ERROR`. Drivers may hold several flags, and one fault may raise several: all are cleared,
/// and the one that explains the others is returned.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn take_error(gl: &Raw) -> u32 {
    let mut found = glow::NO_ERROR;
    for _ in 0..ERROR_FLAGS {
        // SAFETY: the caller's.
        match unsafe { gl.error() } {
            glow::NO_ERROR => break,
            glow::CONTEXT_LOST => return glow::CONTEXT_LOST,
            code if found == glow::NO_ERROR || code == glow::OUT_OF_MEMORY => found = code,
            _ => {}
        }
    }
    found
}

/// Refuses the compatibility profile. Its state that changes what is drawn, uploaded and read back has no end that could
/// be saved: alpha test, stipples and clamping, but also scales, biases and maps of every transfer, the imaging subset,
/// the render mode, and display lists, which keep calls instead of running them.
fn refuse_compatibility(gl: &glow::Context, api: Api) -> Result<()> {
    if api != Api::Gl33 {
        return Ok(());
    }
    // SAFETY: the context is current; the query exists from GL 3.2 on.
    let profile = unsafe { gl.get_parameter_i32(glow::CONTEXT_PROFILE_MASK) } as u32;
    let named = gl.supported_extensions().contains("GL_ARB_compatibility");
    if profile & glow::CONTEXT_CORE_PROFILE_BIT == 0
        && (named || profile & glow::CONTEXT_COMPATIBILITY_PROFILE_BIT != 0)
    {
        return Err(Error::Unsupported {
            what: "a context of the compatibility profile".into(),
            why: "its fixed-function state (alpha test, stipples, pixel transfer, display lists) would change results; \
                  make the context with the core profile, or one of its own for texla"
                .into(),
        });
    }
    Ok(())
}

/// A sampler object with this filter, clamped to the edge.
///
/// # Safety
/// The context is current.
unsafe fn make_sampler(gl: &glow::Context, filter: u32) -> std::result::Result<glow::Sampler, String> {
    // SAFETY: the caller's.
    unsafe {
        let sampler = gl.create_sampler()?;
        for (name, value) in [
            (glow::TEXTURE_MIN_FILTER, filter),
            (glow::TEXTURE_MAG_FILTER, filter),
            (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
            (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
        ] {
            gl.sampler_parameter_i32(sampler, name, value as i32);
        }
        Ok(sampler)
    }
}

impl Gl {
    /// Waits for the device.
    pub fn finish(&self) {
        self.keep_fence();
        // SAFETY: the context is current inside a scope.
        unsafe { self.raw.finish() };
    }
}
