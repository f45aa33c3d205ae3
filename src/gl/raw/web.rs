//! A browser's context: an object, and so are those in it. glow keeps its own ones apart from the host's and panics where it meets
//! one of those; so the host's are kept as they come, and bound again by the browser's functions.

use std::ops::Deref;
use std::sync::Arc;

use glow::HasContext;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{WebGl2RenderingContext, WebGlSync};

use super::Place;
use crate::error::{Error, Result};
use crate::gl::api::Api;
use crate::gl::context::{Gl, GlInner};
use crate::gl::entry::{GetQuery, IsObject};

/// The name of the device itself, and not the browser's.
const UNMASKED_RENDERER: u32 = 0x9246;
/// What a browser says in place of `GL_CONTEXT_LOST`.
const CONTEXT_LOST_WEBGL: u32 = 0x9242;

/// Extensions by which an application may have set what changes results. Their values can be asked for once they are switched on;
/// that sets none.
const ASKED: [&str; 5] = [
    "EXT_clip_control",
    "EXT_depth_clamp",
    "WEBGL_clip_cull_distance",
    "WEBGL_polygon_mode",
    "WEBGL_shader_pixel_local_storage",
];

/// A sync object of the host's.
pub(crate) type HostFence = WebGlSync;

/// A context that is always current.
#[derive(Clone)]
pub(crate) struct Raw {
    glow: Arc<glow::Context>,
    web: WebGl2RenderingContext,
    /// Which of [`ASKED`] have been switched on.
    on: [bool; ASKED.len()],
}

impl Deref for Raw {
    type Target = glow::Context;

    fn deref(&self) -> &glow::Context {
        &self.glow
    }
}

/// An object of the host's; null for none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound(JsValue);

impl Bound {
    pub fn is_none(&self) -> bool {
        self.0.is_null() || self.0.is_undefined()
    }

    /// A texture that has been deleted cannot be bound again; says whether it was this one.
    pub fn forget_texture(&mut self, raw: &Raw, _: glow::Texture) -> bool {
        self.forget(|object| raw.web.is_texture(Some(object.unchecked_ref())))
    }

    /// Nor can a buffer.
    pub fn forget_buffer(&mut self, raw: &Raw, _: glow::Buffer) -> bool {
        self.forget(|object| raw.web.is_buffer(Some(object.unchecked_ref())))
    }

    fn forget(&mut self, is_there: impl Fn(&JsValue) -> bool) -> bool {
        let gone = !self.is_none() && !is_there(&self.0);
        if gone {
            self.0 = JsValue::NULL;
        }
        gone
    }

    /// As what it is; only for what a query has given.
    fn get<T: JsCast>(&self) -> Option<&T> {
        (!self.is_none()).then(|| self.0.unchecked_ref())
    }
}

/// Whether an extension is there, which is switched on then. A page may be kept from one that the browser lists.
fn switched_on(web: &WebGl2RenderingContext, name: &str) -> bool {
    matches!(web.get_extension(name), Ok(Some(_)))
}

impl Raw {
    /// Takes a context. *Errors*: [`Error::ContextLost`].
    pub fn new(web: WebGl2RenderingContext) -> Result<Self> {
        // Of which glow would ask what it does not answer any more; it takes for granted that there is a list of extensions.
        if web.is_context_lost() || web.get_supported_extensions().is_none() {
            return Err(Error::ContextLost);
        }
        let on = ASKED.map(|name| switched_on(&web, name));
        // The handle is shared by cheap clones on one thread.
        #[allow(clippy::arc_with_non_send_sync)]
        let glow = Arc::new(glow::Context::from_webgl2_context(web.clone()));
        Ok(Raw { glow, web, on })
    }

    pub fn shared(&self) -> Arc<glow::Context> {
        Arc::clone(&self.glow)
    }

    /// As natively; `None` where the browser hides which device it is, so that nothing is known of another context.
    pub fn functions(&self) -> Option<u64> {
        switched_on(&self.web, "WEBGL_debug_renderer_info").then_some(0)
    }

    /// Whether the browser has this extension, of those whose values may be asked for.
    pub fn has_extension(&self, name: &str) -> bool {
        let name = name.strip_prefix("GL_").unwrap_or(name);
        ASKED.iter().zip(self.on).any(|(asked, on)| on && *asked == name)
    }

    /// The object that a query names.
    ///
    /// # Safety
    /// Browsers have the query.
    pub unsafe fn bound(&self, query: u32) -> Bound {
        Bound(self.web.get_parameter(query).unwrap_or(JsValue::NULL))
    }

    /// The object that a query names at an index.
    ///
    /// # Safety
    /// Browsers have the query, and the index.
    pub unsafe fn bound_at(&self, query: u32, index: u32) -> Bound {
        Bound(self.web.get_indexed_parameter(query, index).unwrap_or(JsValue::NULL))
    }

    /// Binds an object of the host's.
    ///
    /// # Safety
    /// It was bound there, and has not been deleted.
    pub unsafe fn bind(&self, place: Place, object: &Bound) {
        let gl = &self.web;
        match place {
            Place::Program => gl.use_program(object.get()),
            Place::VertexArray => gl.bind_vertex_array(object.get()),
            Place::Feedback => gl.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, object.get()),
            Place::Framebuffer(target) => gl.bind_framebuffer(target, object.get()),
            Place::Buffer(target) => gl.bind_buffer(target, object.get()),
            Place::Base(target, index) => gl.bind_buffer_base(target, index, object.get()),
            Place::Range(target, index, [offset, size]) => {
                gl.bind_buffer_range_with_i32_and_i32(target, index, object.get(), offset, size);
            }
            Place::Texture => gl.bind_texture(glow::TEXTURE_2D, object.get()),
            Place::Sampler(unit) => gl.bind_sampler(unit, object.get()),
        }
    }

    /// Whether the host has deleted the program that is in use, and whether its last linking went well.
    ///
    /// # Safety
    /// It is a program.
    pub unsafe fn state_of(&self, program: &Bound) -> (bool, bool) {
        let Some(program) = program.get() else { return (false, true) };
        let ask = |parameter| self.web.get_program_parameter(program, parameter).is_truthy();
        (ask(glow::DELETE_STATUS), ask(glow::LINK_STATUS))
    }

    /// Whether the browser has taken the context away. It knows that itself: nothing waits for the device.
    pub fn is_lost(&self) -> bool {
        self.web.is_context_lost()
    }

    /// One error flag, which it clears. Waits for another process.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn error(&self) -> u32 {
        if self.is_lost() {
            return glow::CONTEXT_LOST;
        }
        match self.web.get_error() {
            CONTEXT_LOST_WEBGL => glow::CONTEXT_LOST,
            code => code,
        }
    }

    /// The name of the device; the browser's own, where that is all that it tells.
    pub fn renderer(&self) -> String {
        let query = if switched_on(&self.web, "WEBGL_debug_renderer_info") {
            UNMASKED_RENDERER
        } else {
            glow::RENDERER
        };
        self.web.get_parameter(query).ok().and_then(|name| name.as_string()).unwrap_or_default()
    }

    /// A fence behind all work so far.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn fence(&self) -> std::result::Result<glow::Fence, String> {
        // SAFETY: browsers have the function.
        unsafe { self.glow.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) }
    }

    /// A fence for the host, behind all work so far: one that glow has not made, so that the host can use it.
    ///
    /// # Safety
    /// None but that of all.
    pub unsafe fn host_fence(&self) -> std::result::Result<HostFence, String> {
        self.web.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0).ok_or_else(|| "it is null".into())
    }

    /// The first bytes of the buffer bound for packing. Browsers map none: they copy, and wait for that.
    ///
    /// # Safety
    /// The buffer has so many.
    pub unsafe fn packed(&self, bytes: usize) -> Option<Vec<u8>> {
        let mut found = vec![0; bytes];
        // SAFETY: the caller's.
        unsafe { self.glow.get_buffer_sub_data(glow::PIXEL_PACK_BUFFER, 0, &mut found) };
        (!self.is_lost()).then_some(found)
    }

    /// What the browser says of a query.
    ///
    /// # Safety
    /// The query has ended.
    pub unsafe fn ask(&self, _: Api, _: Option<GetQuery>, query: glow::Query, parameter: u32) -> u32 {
        // SAFETY: the caller's.
        unsafe { self.glow.get_query_parameter_u32(query, parameter) }
    }

    /// Nothing has to be told apart: each context is reached by its own object.
    ///
    /// # Safety
    /// None.
    pub unsafe fn mark(&self, _: glow::VertexArray, _: Option<IsObject>) -> std::result::Result<(), String> {
        Ok(())
    }

    /// # Safety
    /// None.
    pub unsafe fn unmark(&self) -> u64 {
        0
    }

    pub fn marks(&self) -> u64 {
        0
    }
}

impl GlInner {
    /// Whether the context is there.
    pub(in crate::gl) fn check_current(&self) -> Result<()> {
        if self.raw.is_lost() { Err(self.lose()) } else { Ok(()) }
    }

    /// Whether a device that enters its context does so in ours, which has a scope open.
    pub(in crate::gl) fn shares_with(&self, entering: &Gl) -> bool {
        let [ours, theirs]: [&JsValue; 2] = [self.raw.web.as_ref(), entering.raw.web.as_ref()];
        !self.lost.get() && ours == theirs
    }
}
