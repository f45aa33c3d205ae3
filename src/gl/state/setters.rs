//! Functions of the loader's that set values which glow cannot set.

use std::mem::transmute_copy;

use crate::gl::context::GlInner;
use crate::gl::entry::Address;

/// The functions that set a value, and the call that hands them the value's words.
pub(super) struct Setter {
    pub names: &'static [&'static str],
    /// # Safety
    /// The context is current; the addresses are those of the functions in `names`, in their order; the words are a value of the row
    /// that the setter stands in.
    pub call: unsafe fn(&[Address], &[u32]),
}

/// Defines a setter that hands its first function some words, each as `$convert` makes it.
macro_rules! setter {
    ($id:ident, $name:literal, ($($word:ident: $kind:ty = $convert:expr),+)) => {
        pub(super) static $id: Setter = Setter {
            names: &[$name],
            call: |functions, words| {
                if let ([function, ..], [$($word,)+ ..]) = (functions, words) {
                    type Function = unsafe extern "system" fn($($kind),+);
                    // SAFETY: the caller's: an address under this name is a function of exactly this type.
                    unsafe { transmute_copy::<Address, Function>(function)($($convert),+) };
                }
            },
        };
    };
}

/// A setter of enumerants and integers.
macro_rules! integers {
    ($id:ident, $name:literal, $($word:ident),+) => {
        setter!($id, $name, ($($word: u32 = *$word),+));
    };
}

/// A setter of the two opposite corners of a box.
macro_rules! corners {
    ($id:ident, $name:literal) => {
        setter!($id, $name, (
            a: f32 = f32::from_bits(*a), b: f32 = f32::from_bits(*b), c: f32 = f32::from_bits(*c), d: f32 = f32::from_bits(*d),
            e: f32 = f32::from_bits(*e), f: f32 = f32::from_bits(*f), g: f32 = f32::from_bits(*g), h: f32 = f32::from_bits(*h)
        ));
    };
}

integers!(CLIP_CONTROL, "glClipControl", origin, depth);
integers!(CLIP_CONTROL_EXT, "glClipControlEXT", origin, depth);
integers!(CLAMP_COLOR, "glClampColor", target, clamp);
integers!(POLYGON_MODE_NV, "glPolygonModeNV", face, mode);
integers!(POLYGON_MODE_ANGLE, "glPolygonModeANGLE", face, mode);
integers!(SHADING_RATE_QCOM, "glShadingRateQCOM", rate);
integers!(SHADING_RATE_EXT, "glShadingRateEXT", rate);
integers!(SUBPIXEL_PRECISION_BIAS_NV, "glSubpixelPrecisionBiasNV", x, y);
corners!(BOUNDING_BOX, "glPrimitiveBoundingBox");
corners!(BOUNDING_BOX_ARB, "glPrimitiveBoundingBoxARB");
corners!(BOUNDING_BOX_EXT, "glPrimitiveBoundingBoxEXT");
corners!(BOUNDING_BOX_OES, "glPrimitiveBoundingBoxOES");

/// The swizzle of the first viewport.
pub(super) static VIEWPORT_SWIZZLE_NV: Setter = Setter {
    names: &["glViewportSwizzleNV"],
    call: |functions, words| {
        if let ([function], [x, y, z, w]) = (functions, words) {
            type Function = unsafe extern "system" fn(u32, u32, u32, u32, u32);
            // SAFETY: the caller's.
            unsafe { transmute_copy::<Address, Function>(function)(0, *x, *y, *z, *w) };
        }
    },
};

/// A switch of the client's: its name, and whether it is on.
pub(super) static CLIENT_STATE: Setter = Setter {
    names: &["glEnableClientState", "glDisableClientState"],
    call: |functions, words| {
        if let ([enable, disable], [cap, on]) = (functions, words) {
            type Function = unsafe extern "system" fn(u32);
            let function = if *on == 0 { disable } else { enable };
            // SAFETY: the caller's.
            unsafe { transmute_copy::<Address, Function>(function)(*cap) };
        }
    },
};

const GET_INTEGERS_AT: &str = "glGetIntegeri_v";

/// Mode, count, and four integers for each rectangle. The second function reads those: see [`four_at`].
pub(super) static WINDOW_RECTANGLES: Setter = Setter {
    names: &["glWindowRectanglesEXT", GET_INTEGERS_AT],
    call: |functions, words| {
        if let ([function, _], [mode, count, boxes @ ..]) = (functions, words) {
            type Function = unsafe extern "system" fn(u32, i32, *const u32);
            // SAFETY: the caller's; there are four integers for each.
            unsafe { transmute_copy::<Address, Function>(function)(*mode, *count as i32, boxes.as_ptr()) };
        }
    },
};

/// Four integers that a query gives at an index, where the loader knows how; glow makes room for one.
///
/// # Safety
/// The context is current, and has the query and the index.
pub(super) unsafe fn four_at(gl: &GlInner, query: u32, index: u32) -> Option<[u32; 4]> {
    type Function = unsafe extern "system" fn(u32, u32, *mut u32);
    let address = gl.entry.address(GET_INTEGERS_AT)?;
    let mut found = [0; 4];
    // SAFETY: the caller's; an address under this name is a function of exactly this type.
    unsafe { transmute_copy::<Address, Function>(&address)(query, index, found.as_mut_ptr()) };
    Some(found)
}
