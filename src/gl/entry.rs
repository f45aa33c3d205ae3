//! Entry points that glow does not offer.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;

use super::api::Api;
use super::context::Loader;
use super::state;

/// `glGetBooleani_v`, without which the masks of draw buffers past the first cannot be read.
pub(crate) type GetBooleanIndexed = unsafe extern "system" fn(u32, u32, *mut u8);

/// `glGetDoublev` and `glGetDoublei_v`, without which a depth range comes back rounded to 32 bits where a driver keeps 64.
pub(crate) type GetDouble = unsafe extern "system" fn(u32, *mut f64);
pub(crate) type GetDoubleIndexed = unsafe extern "system" fn(u32, u32, *mut f64);

/// The address of a function.
pub(crate) type Address = NonNull<c_void>;

/// A function of an enumerant and an index: `glEnablei`.
pub(crate) type SetTwo = unsafe extern "system" fn(u32, u32);

/// `glGetQueryObjectuiv`, for which glow takes an extension's before OpenGL 4.5.
pub(crate) type GetQuery = unsafe extern "system" fn(u32, u32, *mut u32);

/// `glIsVertexArray`, which glow has not.
pub(crate) type IsObject = unsafe extern "system" fn(u32) -> u8;

/// Functions of `GL_OES_viewport_array`, or of `GL_NV_viewport_array` with other names: these set one viewport of several, its
/// depth range and its scissor test.
#[derive(Clone, Copy)]
pub(crate) struct ViewportArray {
    /// `glViewportArrayv`: first, count, four floats for each.
    pub viewports: unsafe extern "system" fn(u32, i32, *const f32),
    /// `glDepthRangeArrayfv`: first, count, two floats for each.
    pub depth_ranges: unsafe extern "system" fn(u32, i32, *const f32),
    /// `glEnablei`.
    pub enable: SetTwo,
    /// `glDisablei`.
    pub disable: SetTwo,
}

/// What could be found. A loader may know a function that the context does not offer: whoever calls one asks for its
/// version or extension first.
#[derive(Clone, Default)]
pub(crate) struct EntryPoints {
    pub get_boolean_indexed: Option<GetBooleanIndexed>,
    /// Of OpenGL alone.
    pub get_double: Option<GetDouble>,
    /// Of OpenGL with several viewports alone. A driver may round what the plain question asks for.
    pub get_double_indexed: Option<GetDoubleIndexed>,
    pub get_query: Option<GetQuery>,
    pub is_vertex_array: Option<IsObject>,
    /// Of `GL_OES_viewport_array` and of `GL_NV_viewport_array`.
    pub viewport_arrays: [Option<ViewportArray>; 2],
    /// Of the functions that set values of extensions, those that the loader knows, by name.
    setters: BTreeMap<&'static str, Address>,
}

impl EntryPoints {
    pub fn load(loader: &Loader, api: Api) -> Self {
        // SAFETY: an address under these names is a function of exactly the type of the field that it is put into
        // (GL 3.0, ES 3.1; GL 1.0, 4.1; GL 1.5, ES 3.0; GL 3.0, ES 3.0), and null is `None`.
        unsafe {
            let get_boolean_indexed = loader("glGetBooleani_v");
            let [get_double, get_double_indexed] = ["glGetDoublev", "glGetDoublei_v"]
                .map(|name| if api == Api::Gl33 { loader(name) } else { std::ptr::null() });
            EntryPoints {
                get_boolean_indexed: std::mem::transmute::<*const c_void, Option<GetBooleanIndexed>>(
                    get_boolean_indexed,
                ),
                get_double: std::mem::transmute::<*const c_void, Option<GetDouble>>(get_double),
                get_double_indexed: std::mem::transmute::<*const c_void, Option<GetDoubleIndexed>>(
                    get_double_indexed,
                ),
                get_query: std::mem::transmute::<*const c_void, Option<GetQuery>>(loader(
                    "glGetQueryObjectuiv",
                )),
                is_vertex_array: std::mem::transmute::<*const c_void, Option<IsObject>>(loader(
                    "glIsVertexArray",
                )),
                viewport_arrays: ["OES", "NV"].map(|suffix| viewport_array(loader, suffix)),
                setters: state::functions()
                    .filter_map(|name| NonNull::new(loader(name).cast_mut()).map(|address| (name, address)))
                    .collect(),
            }
        }
    }

    /// The address of a function that sets values of an extension.
    pub fn address(&self, name: &str) -> Option<Address> {
        self.setters.get(name).copied()
    }
}

/// All functions of the extension with this suffix, or none.
///
/// # Safety
/// The loader gives null or the named function's address.
unsafe fn viewport_array(loader: &Loader, suffix: &str) -> Option<ViewportArray> {
    type SetArray = unsafe extern "system" fn(u32, i32, *const f32);
    let find = |name: &str| loader(&format!("{name}{suffix}"));
    let [viewports, depth_ranges] = ["glViewportArrayv", "glDepthRangeArrayfv"].map(find);
    let [enable, disable] = ["glEnablei", "glDisablei"].map(find);
    // SAFETY: an address under these names is a function of exactly the type of the field that it is put into, and null is
    // `None`.
    unsafe {
        Some(ViewportArray {
            viewports: std::mem::transmute::<*const c_void, Option<SetArray>>(viewports)?,
            depth_ranges: std::mem::transmute::<*const c_void, Option<SetArray>>(depth_ranges)?,
            enable: std::mem::transmute::<*const c_void, Option<SetTwo>>(enable)?,
            disable: std::mem::transmute::<*const c_void, Option<SetTwo>>(disable)?,
        })
    }
}
