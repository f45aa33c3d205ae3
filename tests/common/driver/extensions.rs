//! Extensions that the real driver does not have: their state, the functions that set it, and what it does.
//!
//! A new one is a constant at the end of this file. Where its function is not yet known, that is a row of [`setters`].
#![allow(non_snake_case)]

use std::ffi::c_void;

use super::set;

/// Calls that state of an extension can spoil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Draw,
    Clear,
    ReadPixels,
    /// Of pixels to a texture.
    Upload,
}

/// An extension with state of its own. While that is not at its default, the calls that it spoils do nothing at all, which
/// no result can miss: what a real driver does (fragments fall away, are shaded together, lie elsewhere) differs by
/// driver and by drawing.
#[derive(Debug)]
pub struct Extension {
    pub name: &'static str,
    /// Its functions, each of which is one of [`setter`]'s.
    pub functions: &'static [&'static str],
    /// `glEnable`, `glDisable` and `glIsEnabled` know these, which begin like this. If there are any, they decide whether
    /// the extension is at work.
    pub switches: &'static [(u32, bool)],
    /// Questions, and their answers in the beginning.
    pub values: &'static [(u32, &'static [f64])],
    pub spoils: &'static [Call],
}

/// Indices (viewports, draw buffers) that a value can have.
pub const INDICES: u32 = 16;

/// The index of what is set for all of them at once.
pub const EVERY: u32 = u32::MAX;

impl Extension {
    /// Changes nothing: what others are written in terms of.
    pub const NONE: Extension = Extension {
        name: "GL_TEXLA_none",
        functions: &[],
        switches: &[],
        values: &[],
        spoils: &[Call::Draw],
    };

    /// The answer in the beginning.
    pub fn default(&self, query: u32) -> Option<Vec<f64>> {
        let switch = self.switches.iter().find(|(of, _)| *of == query);
        let value = self.values.iter().find(|(of, _)| *of == query);
        switch.map(|(_, on)| vec![f64::from(u8::from(*on))]).or_else(|| value.map(|(_, v)| v.to_vec()))
    }

    /// All that can be asked.
    pub fn queries(&self) -> impl Iterator<Item = u32> {
        self.switches.iter().map(|(query, _)| *query).chain(self.values.iter().map(|(query, _)| *query))
    }

    /// What decides whether the extension is at work.
    pub fn deciding(&self) -> impl Iterator<Item = u32> {
        let switched = !self.switches.is_empty();
        self.queries().take(if switched { self.switches.len() } else { usize::MAX })
    }
}

/// Functions by name: their arguments, the index among them if there is one, and which arguments answer which questions.
macro_rules! setters {
    ($($name:ident($($arg:ident: $kind:ty),*) $(at $index:ident)? { $($query:literal: [$($part:ident),*]),* })*) => {
        /// The function of an extension.
        pub fn setter(name: &str) -> *const c_void {
            match name {
                $(stringify!($name) => {
                    type Function = unsafe extern "system" fn($($kind),*);
                    unsafe extern "system" fn $name($($arg: $kind),*) {
                        // An argument may be of no question, as a face is.
                        $(let _ = $arg;)*
                        #[allow(unused_mut, unused_assignments)]
                        let mut index = EVERY;
                        $(index = $index;)?
                        $(set(($query, index), &[$(f64::from($part)),*]);)*
                    }
                    $name as Function as *const c_void
                })*
                "glDisableClientState" => disable_client_state as ClientState as *const c_void,
                "glEnableClientState" => enable_client_state as ClientState as *const c_void,
                "glWindowRectanglesEXT" => window_rectangles as WindowRectangles as *const c_void,
                _ => panic!("no setter of the name `{name}`: add a row to `setters!`"),
            }
        }
    };
}

type ClientState = unsafe extern "system" fn(u32);

unsafe extern "system" fn enable_client_state(cap: u32) {
    set((cap, EVERY), &[1.0]);
}

unsafe extern "system" fn disable_client_state(cap: u32) {
    set((cap, EVERY), &[0.0]);
}

type WindowRectangles = unsafe extern "system" fn(u32, i32, *const i32);

unsafe extern "system" fn window_rectangles(mode: u32, count: i32, boxes: *const i32) {
    set((WINDOW_RECTANGLE_MODE, EVERY), &[f64::from(mode)]);
    set((NUM_WINDOW_RECTANGLES, EVERY), &[f64::from(count)]);
    set((WINDOW_RECTANGLE, EVERY), &[0.0; 4]);
    for i in 0..count {
        // SAFETY: the caller's: there are four numbers for each.
        let corners = unsafe { boxes.add(4 * i as usize).cast::<[i32; 4]>().read() };
        set((WINDOW_RECTANGLE, i as u32), &corners.map(f64::from));
    }
}

setters! {
    glAlphaFuncQCOM(func: u32, reference: f32) { 0x0BC1: [func], 0x0BC2: [reference] }
    glPolygonModeANGLE(face: u32, mode: u32) { 0x0B40: [mode] }
    glPolygonModeNV(face: u32, mode: u32) { 0x0B40: [mode] }
    glPrimitiveBoundingBox(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32) {
        0x92BE: [a, b, c, d, e, f, g, h]
    }
    glPrimitiveBoundingBoxARB(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32) {
        0x92BE: [a, b, c, d, e, f, g, h]
    }
    glPrimitiveBoundingBoxEXT(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32) {
        0x92BE: [a, b, c, d, e, f, g, h]
    }
    glPrimitiveBoundingBoxOES(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32) {
        0x92BE: [a, b, c, d, e, f, g, h]
    }
    glScissorExclusiveNV(x: i32, y: i32, width: i32, height: i32) { 0x9556: [x, y, width, height] }
    glShadingRateEXT(rate: u32) { 0x96D0: [rate] }
    glShadingRateQCOM(rate: u32) { 0x96A4: [rate] }
    glSubpixelPrecisionBiasNV(x: u32, y: u32) { 0x9347: [x], 0x9348: [y] }
    glViewportPositionWScaleNV(index: u32, x: f32, y: f32) at index { 0x937D: [x], 0x937E: [y] }
    glViewportSwizzleNV(index: u32, x: u32, y: u32, z: u32, w: u32) at index {
        0x9358: [x], 0x9359: [y], 0x935A: [z], 0x935B: [w]
    }
}

pub const WINDOW_RECTANGLE: u32 = 0x8F12;
pub const WINDOW_RECTANGLE_MODE: u32 = 0x8F13;
pub const NUM_WINDOW_RECTANGLES: u32 = 0x8F15;

// Numbers and defaults are those of the "New State" tables of the extensions' texts.

pub const ALPHA_TEST_QCOM: u32 = 0x0BC0;
pub const ALPHA_TEST_FUNC_QCOM: u32 = 0x0BC1;
pub const ALPHA_TEST_REF_QCOM: u32 = 0x0BC2;

/// Fragments whose alpha fails a test fall away.
pub const QCOM_ALPHA_TEST: Extension = Extension {
    name: "GL_QCOM_alpha_test",
    functions: &["glAlphaFuncQCOM"],
    switches: &[(ALPHA_TEST_QCOM, false)],
    values: &[(ALPHA_TEST_FUNC_QCOM, &[glow::ALWAYS as f64]), (ALPHA_TEST_REF_QCOM, &[0.0])],
    ..Extension::NONE
};

pub const SHADING_RATE_QCOM: u32 = 0x96A4;
pub const SHADING_RATE_EXT: u32 = 0x96D0;
/// One fragment a pixel, in both extensions.
pub const RATE_1X1: u32 = 0x96A6;
/// One for two by two.
pub const RATE_2X2: u32 = 0x96A9;

/// One fragment is shaded for several pixels.
pub const QCOM_SHADING_RATE: Extension = Extension {
    name: "GL_QCOM_shading_rate",
    functions: &["glShadingRateQCOM"],
    values: &[(SHADING_RATE_QCOM, &[RATE_1X1 as f64])],
    ..Extension::NONE
};

/// The same by another name.
pub const EXT_FRAGMENT_SHADING_RATE: Extension = Extension {
    name: "GL_EXT_fragment_shading_rate",
    functions: &["glShadingRateEXT"],
    values: &[(SHADING_RATE_EXT, &[RATE_1X1 as f64])],
    ..Extension::NONE
};

pub const POLYGON_MODE: u32 = 0x0B40;

/// Rectangles are drawn as their outlines, or as their corners, on OpenGL ES.
pub const NV_POLYGON_MODE: Extension = Extension {
    name: "GL_NV_polygon_mode",
    functions: &["glPolygonModeNV"],
    values: &[(POLYGON_MODE, &[glow::FILL as f64])],
    ..Extension::NONE
};

/// The same by another name.
pub const ANGLE_POLYGON_MODE: Extension = Extension {
    name: "GL_ANGLE_polygon_mode",
    functions: &["glPolygonModeANGLE"],
    values: &[(POLYGON_MODE, &[glow::FILL as f64])],
    ..Extension::NONE
};
