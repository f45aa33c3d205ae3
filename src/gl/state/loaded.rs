//! Values that change results and that glow can read but not set: set and put back where the loader knows how, refused
//! where there is no loader, or where only the application knows how.

use glow::HasContext;

use super::table::{extension, since};
use crate::error::{Error, Result};
use crate::gl::api::Api;
use crate::gl::context::GlInner;
use crate::gl::entry::{EntryPoints, SetTwo};
use crate::platform::BROWSER;

const CLIP_ORIGIN: u32 = 0x935C;
const CLIP_DEPTH_MODE: u32 = 0x935D;
const NEGATIVE_ONE_TO_ONE: u32 = 0x935E;
const CLAMP_READ_COLOR: u32 = 0x891C;
const FIXED_ONLY: u32 = 0x891D;
const WINDOW_RECTANGLE_MODE: u32 = 0x8F13;
const NUM_WINDOW_RECTANGLES: u32 = 0x8F15;
const EXCLUSIVE: u32 = 0x8F11;

/// One such value: the two arguments of the function that sets it.
struct Loaded {
    exists: fn(&GlInner) -> bool,
    read: unsafe fn(&glow::Context) -> [u32; 2],
    /// What changes no result; the first is what texla sets.
    harmless: &'static [[u32; 2]],
    /// `None` where nobody sets it, be there a loader or not.
    set: Option<fn(&EntryPoints) -> Option<SetTwo>>,
    /// What the application has set, and what it would do.
    what: &'static str,
    why: &'static str,
}

/// The function that sets a value, and the host's arguments.
pub(super) type Kept = (SetTwo, [u32; 2]);

/// Whether `glClipControl` is there. In the clip space of 0..1 all depths lie elsewhere, and so every mask would be wrong.
fn clip_control(gl: &GlInner) -> bool {
    let name = if gl.api == Api::Gl33 { "GL_ARB_clip_control" } else { "GL_EXT_clip_control" };
    since(gl, (4, 5), (9, 9)) || extension(gl, name)
}

static LOADED: &[Loaded] = &[
    Loaded {
        exists: clip_control,
        // SAFETY: the caller's; both values exist.
        read: |gl| unsafe { [CLIP_ORIGIN, CLIP_DEPTH_MODE].map(|q| gl.get_parameter_i32(q) as u32) },
        harmless: &[[glow::LOWER_LEFT, NEGATIVE_ONE_TO_ONE]],
        set: Some(|entry| entry.clip_control),
        what: "the application's glClipControl in place",
        why: "rows would be mirrored and depths moved; set it to GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE",
    },
    Loaded {
        exists: |gl| gl.api == Api::Gl33,
        // SAFETY: the caller's; the value exists.
        read: |gl| [CLAMP_READ_COLOR, unsafe { gl.get_parameter_i32(CLAMP_READ_COLOR) } as u32],
        harmless: &[[CLAMP_READ_COLOR, FIXED_ONLY], [CLAMP_READ_COLOR, 0]],
        set: Some(|entry| entry.clamp_color),
        what: "the application's GL_CLAMP_READ_COLOR set to GL_TRUE",
        why: "it would clamp every value read back to 0..1; set it to GL_FIXED_ONLY",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_WEBGL_polygon_mode"),
        // SAFETY: the caller's; the value exists.
        read: |gl| [glow::FRONT_AND_BACK, unsafe { gl.get_parameter_i32(glow::POLYGON_MODE) } as u32],
        harmless: &[[glow::FRONT_AND_BACK, glow::FILL]],
        set: None,
        what: "the application's polygonModeWEBGL in place",
        why: "rectangles would be outlines; set it to FILL_WEBGL",
    },
    Loaded {
        exists: |gl| extension(gl, "GL_EXT_window_rectangles"),
        // SAFETY: the caller's; both values exist.
        read: |gl| unsafe {
            [WINDOW_RECTANGLE_MODE, NUM_WINDOW_RECTANGLES].map(|q| gl.get_parameter_i32(q) as u32)
        },
        harmless: &[[EXCLUSIVE, 0]],
        set: None,
        what: "the application's glWindowRectanglesEXT in place",
        why: "they cut away parts of what is drawn to textures; set GL_EXCLUSIVE_EXT and none",
    },
];

/// Refuses what is neither harmless nor can be set; returns what has to be put back. Changes nothing but the values that
/// it returns, and those only when it refuses none.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn take(gl: &GlInner) -> Result<Vec<Kept>> {
    let mut changes = Vec::new();
    for row in LOADED.iter().filter(|row| (row.exists)(gl)) {
        // SAFETY: the caller's.
        let found = unsafe { (row.read)(&gl.raw) };
        let Some(neutral) = row.harmless.first().filter(|_| !row.harmless.contains(&found)) else { continue };
        let Some(set) = row.set.and_then(|set| set(&gl.entry)) else {
            let or = if row.set.is_some() && !BROWSER {
                ", or make the device by `Device::from_loader`"
            } else {
                ""
            };
            return Err(Error::Unsupported {
                what: format!("entering with {}", row.what),
                why: format!("{} around texla's calls{or}", row.why),
            });
        };
        changes.push((set, found, *neutral));
    }
    for (set, _, [a, b]) in &changes {
        // SAFETY: the caller's; the function is of this context.
        unsafe { set(*a, *b) };
    }
    Ok(changes.into_iter().map(|(set, found, _)| (set, found)).collect())
}

/// Puts back what [`take`] has changed.
///
/// # Safety
/// The context is current.
pub(super) unsafe fn restore(kept: &[Kept]) {
    for (set, [a, b]) in kept {
        // SAFETY: the caller's; the function is of this context.
        unsafe { set(*a, *b) };
    }
}
