//! Textures whose names the host has asked for. It may set their parameters at any time, so they are not relied on: what decides
//! which texel is read or drawn is set back before texla's first use in each scope, and the rest before they hold other data.

use glow::HasContext;
use rustc_hash::FxHashMap;

use super::api::Api;
use super::context::{Gl, GlInner};
use super::state::Filter;
use crate::platform::BROWSER;
use crate::shape::Extent;

/// Where each channel of a texel comes from, and where it has to.
pub(super) const SWIZZLE: [(u32, u32); 4] = [
    (glow::TEXTURE_SWIZZLE_R, glow::RED),
    (glow::TEXTURE_SWIZZLE_G, glow::GREEN),
    (glow::TEXTURE_SWIZZLE_B, glow::BLUE),
    (glow::TEXTURE_SWIZZLE_A, glow::ALPHA),
];

/// How a host that samples without a sampler object sees a texture that is new. texla's own samplers overrule it.
pub(super) const SHOWN: [(u32, u32); 4] = [
    (glow::TEXTURE_MIN_FILTER, glow::NEAREST),
    (glow::TEXTURE_MAG_FILTER, glow::NEAREST),
    (glow::TEXTURE_WRAP_S, glow::CLAMP_TO_EDGE),
    (glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE),
];

const TEXTURE_SRGB_DECODE: u32 = 0x8A48;
const DECODE: u32 = 0x8A49;
const TEXTURE_REDUCTION_MODE: u32 = 0x9366;
const WEIGHTED_AVERAGE: u32 = 0x9367;

/// What a texture needs before texla uses it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Due {
    /// The entry before which its levels and channels were set last.
    since: u64,
    /// It holds other data than when its name was handed out.
    new: bool,
}

/// By name.
#[derive(Default)]
pub(super) struct Handed(FxHashMap<glow::Texture, Due>);

impl Handed {
    /// The name is nobody's any more.
    pub fn forget(&mut self, texture: glow::Texture) {
        self.0.remove(&texture);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl GlInner {
    /// From now on the host may know this name.
    pub(super) fn hand_out(&self, texture: glow::Texture) {
        self.handed.borrow_mut().0.entry(texture).or_insert(Due { since: 0, new: false });
    }

    /// Whether the host may know this name.
    pub(super) fn is_handed_out(&self, texture: glow::Texture) -> bool {
        self.handed.borrow().0.contains_key(&texture)
    }

    /// Whether its parameters have to be set before texla uses it.
    pub(super) fn is_due(&self, texture: glow::Texture) -> bool {
        let handed = self.handed.borrow();
        !handed.0.is_empty() && handed.0.get(&texture).is_some_and(|due| due.since != self.entries.get())
    }

    /// Sets the parameters of the texture that is bound to the active unit.
    ///
    /// # Safety
    /// The context is current inside a scope, and the texture is bound there.
    pub(super) unsafe fn reset_handed(&self, texture: glow::Texture) {
        let Some(due) = self
            .handed
            .borrow_mut()
            .0
            .get_mut(&texture)
            .map(|due| std::mem::replace(due, Due { since: self.entries.get(), new: false }))
        else {
            return;
        };
        // SAFETY: the caller's; every version has these parameters but for those of OpenGL and of extensions.
        let set =
            |name: u32, value: i32| unsafe { self.raw.tex_parameter_i32(glow::TEXTURE_2D, name, value) };
        set(glow::TEXTURE_BASE_LEVEL, 0);
        set(glow::TEXTURE_MAX_LEVEL, 0);
        if !BROWSER {
            // Browsers exchange no channels, and have no name for it.
            SWIZZLE.into_iter().for_each(|(name, channel)| set(name, channel as i32));
        }
        if !due.new {
            return;
        }
        SHOWN.into_iter().for_each(|(name, value)| set(name, value as i32));
        set(glow::TEXTURE_WRAP_R, glow::REPEAT as i32);
        set(glow::TEXTURE_COMPARE_MODE, glow::NONE as i32);
        set(glow::TEXTURE_COMPARE_FUNC, glow::LEQUAL as i32);
        // SAFETY: as above.
        let set_float =
            |name: u32, value: f32| unsafe { self.raw.tex_parameter_f32(glow::TEXTURE_2D, name, value) };
        set_float(glow::TEXTURE_MIN_LOD, -1000.0);
        set_float(glow::TEXTURE_MAX_LOD, 1000.0);
        if self.api == Api::Gl33 {
            set_float(glow::TEXTURE_LOD_BIAS, 0.0);
            // SAFETY: as above.
            unsafe {
                self.raw.tex_parameter_f32_slice(glow::TEXTURE_2D, glow::TEXTURE_BORDER_COLOR, &[0.0; 4])
            };
        }
        let names = self.raw.supported_extensions();
        let any = |extensions: &[&str]| extensions.iter().any(|name| names.contains(*name));
        if any(&["GL_EXT_texture_filter_anisotropic", "GL_ARB_texture_filter_anisotropic"]) {
            set_float(glow::TEXTURE_MAX_ANISOTROPY, 1.0);
        }
        if any(&["GL_EXT_texture_sRGB_decode"]) {
            set(TEXTURE_SRGB_DECODE, DECODE as i32);
        }
        if any(&["GL_EXT_texture_filter_minmax", "GL_ARB_texture_filter_minmax"]) {
            set(TEXTURE_REDUCTION_MODE, WEIGHTED_AVERAGE as i32);
        }
    }
}

impl Gl {
    /// The texture is to hold other data, whose host has set nothing yet. False where the host has given it another image, as far as
    /// the version can be asked: it would spoil these data. `None` where it has deleted it. Needs an open scope.
    pub(super) fn change_hands(&self, texture: glow::Texture, extent: Extent, internal: u32) -> Option<bool> {
        match self.handed.borrow_mut().0.get_mut(&texture) {
            Some(due) => *due = Due { since: 0, new: true },
            None => return Some(true),
        }
        if BROWSER {
            return Some(true);
        }
        // SAFETY: the context is current inside a scope; any name may be asked for.
        if !unsafe { self.raw.is_texture(texture) } {
            self.handed.borrow_mut().forget(texture);
            self.shadow.borrow_mut().forget_texture(texture);
            self.drop_framebuffers_of(&[texture]);
            return None;
        }
        if self.api == Api::Es30 && self.version < (3, 1) {
            return Some(true);
        }
        self.bind_unit(0, texture, Filter::Nearest);
        self.activate_unit(0);
        let expected = [extent.width, extent.height, internal];
        let asked = [glow::TEXTURE_WIDTH, glow::TEXTURE_HEIGHT, glow::TEXTURE_INTERNAL_FORMAT];
        // SAFETY: the context is current inside a scope, the texture is bound, and the version has the queries.
        let found = asked
            .map(|what| unsafe { self.raw.get_tex_level_parameter_i32(glow::TEXTURE_2D, 0, what) as u32 });
        Some(found == expected)
    }

    /// Before textures are attached to be drawn to or read: to a framebuffer whose levels are out of range, it would not be complete.
    pub(super) fn reset_attached(&self, textures: impl Iterator<Item = glow::Texture>) {
        for texture in textures.filter(|texture| self.is_due(*texture)) {
            self.bind_unit(0, texture, Filter::Nearest);
        }
    }
}
