//! A context of an operating system's: objects have names, which are numbers, and which context is current has to be asked.

use std::cell::Cell;
use std::ffi::c_void;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::sync::Arc;

use glow::HasContext;

use super::{Place, functions, identity};
use crate::error::{Error, Result};
use crate::gl::api::Api;
use crate::gl::context::{Gl, GlInner};
use crate::gl::entry::GetQuery;

/// A sync object of the host's.
pub(crate) type HostFence = glow::Fence;

/// A current context.
#[derive(Clone)]
pub(crate) struct Raw {
    glow: Arc<glow::Context>,
    /// What tells the context from others: see `identity`.
    pub(super) mark: Cell<Option<identity::Mark>>,
    /// See [`functions`](Self::functions).
    functions: Option<u64>,
}

impl From<Arc<glow::Context>> for Raw {
    fn from(glow: Arc<glow::Context>) -> Self {
        // Which functions glow has loaded it shows to nobody.
        Raw { glow, mark: Cell::new(None), functions: None }
    }
}

impl Deref for Raw {
    type Target = glow::Context;

    fn deref(&self) -> &glow::Context {
        &self.glow
    }
}

/// An object of the host's, by its name; 0 for none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound(u32);

impl Bound {
    fn is(&self, name: NonZeroU32) -> bool {
        self.0 == name.get()
    }

    pub fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// A texture that has been deleted cannot be bound again; says whether it was this one.
    pub fn forget_texture(&mut self, _: &Raw, deleted: glow::Texture) -> bool {
        let gone = self.is(deleted.0);
        if gone {
            self.0 = 0;
        }
        gone
    }

    /// Nor can a buffer.
    pub fn forget_buffer(&mut self, _: &Raw, deleted: glow::Buffer) -> bool {
        let gone = self.is(deleted.0);
        if gone {
            self.0 = 0;
        }
        gone
    }
}

/// All functions need the context to be current.
impl Raw {
    pub fn shared(&self) -> Arc<glow::Context> {
        Arc::clone(&self.glow)
    }

    /// A number for the functions through which the context is reached: where it is another one, another driver may answer
    /// under the same names. `None` where they are not known.
    pub fn functions(&self) -> Option<u64> {
        self.functions
    }

    /// Whether the driver names this extension.
    pub fn has_extension(&self, name: &str) -> bool {
        self.glow.supported_extensions().contains(name)
    }

    /// The object that a query names.
    ///
    /// # Safety
    /// This version has the query.
    pub unsafe fn bound(&self, query: u32) -> Bound {
        // SAFETY: the caller's.
        Bound(unsafe { self.glow.get_parameter_i32(query) } as u32)
    }

    /// The object that a query names at an index.
    ///
    /// # Safety
    /// This version has the query, and the index.
    pub unsafe fn bound_at(&self, query: u32, index: u32) -> Bound {
        // SAFETY: the caller's.
        Bound(unsafe { self.glow.get_parameter_indexed_i32(query, index) } as u32)
    }

    /// Binds an object of the host's.
    ///
    /// # Safety
    /// It was bound there, and has not been deleted.
    pub unsafe fn bind(&self, place: Place, object: &Bound) {
        let (gl, name) = (&self.glow, NonZeroU32::new(object.0));
        // SAFETY: the caller's.
        unsafe {
            match place {
                Place::Program => gl.use_program(name.map(glow::NativeProgram)),
                Place::VertexArray => gl.bind_vertex_array(name.map(glow::NativeVertexArray)),
                Place::Feedback => {
                    let object = name.map(glow::NativeTransformFeedback);
                    gl.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, object);
                }
                Place::Framebuffer(target) => gl.bind_framebuffer(target, name.map(glow::NativeFramebuffer)),
                Place::Buffer(target) => gl.bind_buffer(target, name.map(glow::NativeBuffer)),
                Place::Base(target, index) => {
                    gl.bind_buffer_base(target, index, name.map(glow::NativeBuffer));
                }
                Place::Range(target, index, [offset, size]) => {
                    gl.bind_buffer_range(target, index, name.map(glow::NativeBuffer), offset, size);
                }
                Place::Texture => gl.bind_texture(glow::TEXTURE_2D, name.map(glow::NativeTexture)),
                Place::Sampler(unit) => gl.bind_sampler(unit, name.map(glow::NativeSampler)),
            }
        }
    }

    /// Whether the host has deleted the program that is in use, and whether its last linking went well.
    ///
    /// # Safety
    /// It is a program.
    pub unsafe fn state_of(&self, program: &Bound) -> (bool, bool) {
        let Some(name) = NonZeroU32::new(program.0).map(glow::NativeProgram) else { return (false, true) };
        // SAFETY: the caller's.
        unsafe {
            let deleted = self.glow.get_program_parameter_i32(name, glow::DELETE_STATUS) != 0;
            (deleted, self.glow.get_program_link_status(name))
        }
    }

    /// One error flag, which it clears.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn error(&self) -> u32 {
        // SAFETY: every version has the function.
        unsafe { self.glow.get_error() }
    }

    /// The name of the device.
    pub fn renderer(&self) -> String {
        // SAFETY: every version has the query.
        unsafe { self.glow.get_parameter_string(glow::RENDERER) }
    }

    /// A fence behind all work so far.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn fence(&self) -> std::result::Result<glow::Fence, String> {
        // SAFETY: every version has the function.
        let fence = unsafe { self.glow.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) };
        // glow takes null for one.
        fence.and_then(|f| if f.0.is_null() { Err("it is null".into()) } else { Ok(f) })
    }

    /// A fence for the host, behind all work so far.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn host_fence(&self) -> std::result::Result<HostFence, String> {
        // SAFETY: the caller's.
        unsafe { self.fence() }
    }

    /// The first bytes of the buffer bound for packing, if the driver maps it.
    ///
    /// # Safety
    /// The buffer has so many.
    pub unsafe fn packed(&self, bytes: usize) -> Option<Vec<u8>> {
        let gl = &self.glow;
        // SAFETY: the caller's; the mapped range is `bytes` long and is read before the buffer is unmapped.
        unsafe {
            let at = gl.map_buffer_range(glow::PIXEL_PACK_BUFFER, 0, bytes as i32, glow::MAP_READ_BIT);
            if at.is_null() {
                return None;
            }
            let found = std::slice::from_raw_parts(at, bytes).to_vec();
            gl.unmap_buffer(glow::PIXEL_PACK_BUFFER);
            Some(found)
        }
    }

    /// What the driver says of a query. glow's question goes, before OpenGL 4.5, to an extension's function, and glow
    /// panics where the driver has none: OpenGL 3.3 has one of 64 bits, and with a loader ES its own.
    ///
    /// # Safety
    /// No buffer takes the answer; the query has ended.
    pub unsafe fn ask(&self, api: Api, get: Option<GetQuery>, query: glow::Query, parameter: u32) -> u32 {
        // SAFETY: the caller's; each function writes one number to the address.
        unsafe {
            match (api, get) {
                (Api::Gl33, _) => {
                    let mut found = 0u64;
                    let at = (&raw mut found).expose_provenance();
                    self.glow.get_query_parameter_u64_with_offset(query, parameter, at);
                    u32::try_from(found).unwrap_or(u32::MAX)
                }
                (Api::Es30, Some(get)) => {
                    let mut found = 0;
                    get(query.0.get(), parameter, &raw mut found);
                    found
                }
                (Api::Es30, None) => self.glow.get_query_parameter_u32(query, parameter),
            }
        }
    }
}

impl GlInner {
    /// Whether a device that enters its context does so in ours, which has a scope open. Whoever has made it current, the entering
    /// one's is.
    pub(in crate::gl) fn shares_with(&self, _entering: &Gl) -> bool {
        self.is_here()
    }
}

/// Loads the GL functions, after making sure that there is a context to load them from (glow panics without one).
///
/// # Safety
/// The context that the loader belongs to is current, and the loader gives null or the named function's address.
pub(crate) unsafe fn load(loader: &dyn Fn(&str) -> *const c_void) -> Result<Raw> {
    type GetString = unsafe extern "system" fn(u32) -> *const u8;
    type GetError = unsafe extern "system" fn() -> u32;
    let address = loader("glGetString");
    if address.is_null() {
        return Err(functions::unknown("glGetString", " (is a GL context current on this thread?)"));
    }
    // SAFETY: a non-null address under this name is a function of exactly this signature.
    let version = unsafe {
        let get_string = std::mem::transmute::<*const c_void, GetString>(address);
        get_string(glow::VERSION)
    };
    if version.is_null() {
        let address = loader("glGetError");
        // SAFETY: as above, and null is `None`.
        let get_error = unsafe { std::mem::transmute::<*const c_void, Option<GetError>>(address) };
        // SAFETY: a function that may be called without a context too.
        if get_error.is_some_and(|get_error| unsafe { get_error() } == glow::CONTEXT_LOST) {
            return Err(Error::ContextLost);
        }
        return Err(Error::NoContext("no GL context is current on this thread".into()));
    }
    // SAFETY: the caller's. The handle is shared by cheap clones on one thread, as glow's users do.
    let (glow, functions) = unsafe { functions::load(loader) }?;
    #[allow(clippy::arc_with_non_send_sync)]
    let glow = Arc::new(glow);
    Ok(Raw { glow, mark: Cell::new(None), functions: Some(functions) })
}
