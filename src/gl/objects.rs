//! Textures: deleted through the graveyard with their last handle.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use glow::HasContext;

use super::context::Gl;
use super::framebuffers::Framebuffer;
use super::graveyard::Dead;
use super::handed::{SHOWN, SWIZZLE};
use super::state::Filter;
use crate::error::{Error, Result};
use crate::platform::BROWSER;
use crate::shape::Extent;

/// What a texture holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Four 32-bit floats a texel: the format of all data.
    Rgba32F,
    /// One 32-bit float a texel \[Goeddeke05\].
    R32F,
    /// Four 32-bit unsigned integers a texel: column indices.
    Rgba32Ui,
    /// A depth value a texel: the mask of a predicate.
    Depth,
    /// Four bytes a texel, from 0 to 1: pictures.
    Rgba8,
}

impl Format {
    /// Internal format, transfer format, transfer type.
    pub(super) const fn gl(self) -> (u32, u32, u32) {
        match self {
            Format::Rgba32F => (glow::RGBA32F, glow::RGBA, glow::FLOAT),
            Format::R32F => (glow::R32F, glow::RED, glow::FLOAT),
            Format::Rgba32Ui => (glow::RGBA32UI, glow::RGBA_INTEGER, glow::UNSIGNED_INT),
            Format::Depth => (glow::DEPTH_COMPONENT32F, glow::DEPTH_COMPONENT, glow::FLOAT),
            Format::Rgba8 => (glow::RGBA8, glow::RGBA, glow::UNSIGNED_BYTE),
        }
    }

    /// Values in one texel.
    pub const fn channels(self) -> usize {
        match self {
            Format::Rgba32F | Format::Rgba32Ui | Format::Rgba8 => 4,
            Format::R32F | Format::Depth => 1,
        }
    }

    /// Bytes of one texel.
    pub const fn bytes(self) -> u64 {
        match self {
            Format::Rgba8 => 4,
            _ => 4 * self.channels() as u64,
        }
    }
}

/// Of `GL_QCOM_texture_foveated`: whether fewer fragments are drawn than there are texels.
const TEXTURE_FOVEATED_FEATURE_BITS: u32 = 0x8BFB;

/// What the channels of an attachment are, and the bits of each.
const TEXEL: [u32; 6] = [
    glow::FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING,
    glow::FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE,
    glow::FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    glow::FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
    glow::FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
    glow::FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE,
];

/// A handle on a texture, owned or borrowed from the host. The texture goes with the last handle.
#[derive(Clone)]
pub(crate) struct Texture(Rc<TextureInner>);

/// A texture itself.
pub(crate) struct TextureInner {
    gl: Gl,
    raw: glow::Texture,
    extent: Extent,
    format: Cell<Format>,
    lent: Option<Lent>,
    /// The host has deleted it: its name may be another texture's.
    gone: Cell<bool>,
    /// The framebuffer with this target alone.
    pub(super) target: RefCell<Option<Rc<Framebuffer>>>,
    /// Recordings that need it: until they are gone, it serves for nothing else.
    recordings: Cell<u32>,
    /// Nobody but recordings has it any more.
    returned: Cell<bool>,
}

impl std::ops::Deref for Texture {
    type Target = TextureInner;

    fn deref(&self) -> &TextureInner {
        &self.0
    }
}

/// What a texture of the host's is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lent {
    ToRead,
    ToDrawInto,
}

impl Texture {
    fn of(gl: &Gl, raw: glow::Texture, extent: Extent, format: Format, lent: Option<Lent>) -> Self {
        let (gl, format, gone) = (gl.clone(), Cell::new(format), Cell::new(false));
        let (target, recordings, returned) = (RefCell::default(), Cell::new(0), Cell::new(false));
        Texture(Rc::new(TextureInner { gl, raw, extent, format, lent, gone, target, recordings, returned }))
    }

    /// A handle that keeps nothing alive, by which the texture is known again.
    pub fn downgrade(&self) -> Weak<TextureInner> {
        Rc::downgrade(&self.0)
    }

    /// Whether this is the texture that a handle was made of.
    pub fn is(&self, handle: &Weak<TextureInner>) -> bool {
        std::ptr::eq(Rc::as_ptr(&self.0), handle.as_ptr())
    }

    /// Allocates; the contents are undefined. `what` names the thing in errors.
    pub fn new(gl: &Gl, extent: Extent, format: Format, what: &'static str) -> Result<Self> {
        let limit = gl.caps.borrow().max_texture_size;
        let longest = extent.width.max(extent.height);
        if longest > limit || extent.area() == 0 {
            return Err(Error::TooLarge {
                what,
                requested: u64::from(longest),
                limit: u64::from(limit),
                unit: "texels in one direction",
            });
        }
        let (internal, layout, kind) = format.gl();
        let bytes = extent.area() * format.bytes();
        // SAFETY: the context is current inside a scope.
        let texture = unsafe {
            let raw = gl.made("texture", gl.raw.create_texture())?;
            gl.ledger.change_live(|l| l.textures += 1);
            Texture::of(gl, raw, extent, format, None)
        };
        // Unit 0 serves for all work on textures that is not drawing.
        gl.bind_unit(0, texture.raw, Filter::Nearest);
        gl.activate_unit(0);
        // SAFETY: as above; the texture is bound.
        unsafe {
            // TexImage, not TexStorage: the latter is GL 4.2. One level, and filters that make the texture complete
            // for a host that samples it without a sampler object.
            let (w, h) = (extent.width as i32, extent.height as i32);
            let none = glow::PixelUnpackData::Slice(None);
            gl.raw.tex_image_2d(glow::TEXTURE_2D, 0, internal as i32, w, h, 0, layout, kind, none);
            gl.raw.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
            for (name, value) in SHOWN {
                gl.raw.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32);
            }
        }
        match gl.check(what) {
            Err(Error::Gl { code: glow::OUT_OF_MEMORY, .. }) => {
                Err(Error::OutOfMemory { what, extent, bytes })
            }
            Err(e) => Err(e),
            Ok(()) => Ok(texture),
        }
    }

    /// A texture of the host's, never deleted.
    pub fn borrowed(gl: &Gl, raw: glow::Texture, extent: Extent, lent: Lent) -> Result<Self> {
        let texture = Texture::of(gl, raw, extent, Format::Rgba32F, Some(lent));
        texture.format.set(texture.checked_format(lent == Lent::ToDrawInto)?);
        Ok(texture)
    }

    /// Refuses a borrowed texture that is not what it is borrowed as: that has another extent (which cannot be asked for
    /// before ES 3.1), hides its first level or exchanges channels, or whose texels are not four floats. To be drawn into they
    /// may be of any kind that takes floats, but for those that a driver encodes on some versions and on others not. Tells as
    /// what they are read.
    fn checked_format(&self, to_draw_into: bool) -> Result<Format> {
        let (gl, raw, what) = (&self.gl, &self.gl.raw, "borrowing a texture");
        let refuse = |why| Err(Error::Unsupported { what: format!("{what} as {}", self.extent), why });
        // SAFETY: the context is current inside a scope; any name may be asked for.
        if !unsafe { raw.is_texture(self.raw) } {
            // OpenGL ES would make one of it where it is bound.
            return refuse("no texture of that name has been bound yet, expected one with an image".into());
        }
        gl.bind_unit(0, self.raw, Filter::Nearest);
        gl.activate_unit(0);
        if let Err(Error::Gl { code: glow::INVALID_OPERATION, .. }) = gl.check(what) {
            gl.shadow.borrow_mut().forget_texture(self.raw); // it was not bound
            return refuse("it is no GL_TEXTURE_2D: it was made for another target".into());
        }
        // SAFETY: the context is current inside a scope; the texture is bound; every version has these queries.
        let (base, swizzle) = unsafe {
            let ask = |query| raw.get_tex_parameter_i32(glow::TEXTURE_2D, query) as u32;
            // Browsers exchange no channels, and have no name for it.
            let swizzle = SWIZZLE.map(|(query, channel)| if BROWSER { channel } else { ask(query) });
            (ask(glow::TEXTURE_BASE_LEVEL), swizzle)
        };
        gl.check(what)?;
        if base != 0 {
            return refuse(format!("its GL_TEXTURE_BASE_LEVEL is {base}, expected 0"));
        }
        if swizzle != SWIZZLE.map(|(_, channel)| channel) {
            return refuse("its swizzle exchanges channels, expected red, green, blue, alpha".into());
        }
        if to_draw_into && raw.has_extension("GL_QCOM_texture_foveated") {
            // SAFETY: as above; the extension has the query.
            let foveated =
                unsafe { raw.get_tex_parameter_i32(glow::TEXTURE_2D, TEXTURE_FOVEATED_FEATURE_BITS) };
            if foveated != 0 {
                return refuse("glTextureFoveationParametersQCOM leaves out some of its texels".into());
            }
        }
        if gl.api != super::Api::Es30 || gl.version >= (3, 1) {
            // SAFETY: as above, in a version that has the queries.
            let [width, height] = unsafe {
                [glow::TEXTURE_WIDTH, glow::TEXTURE_HEIGHT]
                    .map(|q| raw.get_tex_level_parameter_i32(glow::TEXTURE_2D, 0, q).max(0) as u32)
            };
            gl.check(what)?;
            if [width, height] != [self.extent.width, self.extent.height] {
                return refuse(format!("the driver says it has {}", Extent::new(width, height)));
            }
        }
        // As an attachment every version tells what the texels are, and reading them back needs that anyway.
        let expected = match to_draw_into {
            true => "expected a format that is drawn into, such as RGBA8, RGBA16F or RGBA32F",
            false => "expected RGBA32F or RGBA16F",
        };
        match gl.framebuffer([self.raw], None, what) {
            Err(Error::IncompleteFramebuffer { .. }) => {
                return refuse(format!(
                    "the driver cannot draw into it as colours and read them back, {expected}"
                ));
            }
            framebuffer => gl.use_framebuffer(framebuffer?),
        }
        // SAFETY: the context is current inside a scope; the framebuffer is bound and has the attachment.
        let [encoding, kind, sizes @ ..] = unsafe {
            TEXEL.map(|query| {
                let (target, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
                raw.get_framebuffer_attachment_parameter_i32(target, at, query)
            })
        };
        gl.check(what)?;
        if to_draw_into {
            if encoding as u32 == glow::SRGB {
                return refuse(format!("its texels are encoded as sRGB, {expected}"));
            }
            return match kind as u32 {
                glow::FLOAT => Ok(Format::Rgba32F),
                glow::UNSIGNED_NORMALIZED => Ok(Format::Rgba8),
                glow::SIGNED_NORMALIZED => refuse(format!("its texels are from -1 to 1, {expected}")),
                _ => refuse(format!("its texels are integers, {expected}")),
            };
        }
        if kind as u32 != glow::FLOAT || (sizes != [32; 4] && sizes != [16; 4]) {
            let floats = if kind as u32 == glow::FLOAT { "floats" } else { "no floats" };
            return refuse(format!(
                "the channels of its texels have {sizes:?} bits and are {floats}, {expected}"
            ));
        }
        Ok(Format::Rgba32F)
    }
}

impl TextureInner {
    pub fn raw(&self) -> glow::Texture {
        self.raw
    }

    /// The name for the host, who may set parameters by it from now on.
    pub fn hand_out(&self) -> glow::Texture {
        if self.is_owned() {
            self.gl.hand_out(self.raw);
        }
        self.raw
    }

    /// Whether it can hold something else: it is as it was made, whatever the host may have done by its name. What is in it is of no
    /// account any more. Needs an open scope.
    pub fn change_hands(&self) -> bool {
        let (internal, ..) = self.format().gl();
        let found = self.gl.change_hands(self.raw, self.extent, internal);
        self.gone.set(found.is_none());
        found == Some(true)
    }

    pub fn extent(&self) -> Extent {
        self.extent
    }

    pub fn format(&self) -> Format {
        self.format.get()
    }

    pub fn is_owned(&self) -> bool {
        self.lent.is_none()
    }

    pub fn is_writable(&self) -> bool {
        self.lent != Some(Lent::ToRead)
    }

    pub fn bytes(&self) -> u64 {
        self.extent.area() * self.format().bytes()
    }
}

impl TextureInner {
    /// A recording needs it from now on.
    pub fn hold(&self) {
        self.recordings.set(self.recordings.get() + 1);
    }

    /// A recording does not need it any more. True where nobody does, so that it can go back to the pool.
    pub fn release(&self) -> bool {
        self.recordings.set(self.recordings.get().saturating_sub(1));
        self.recordings.get() == 0 && self.returned.take()
    }

    /// Recordings that need it.
    pub fn recordings(&self) -> u32 {
        self.recordings.get()
    }

    /// Nobody but recordings has it any more: the last of them gives it back.
    pub fn leave_to_recordings(&self) {
        self.returned.set(true);
    }

    /// Whether the host may know its name.
    pub fn is_handed_out(&self) -> bool {
        self.gl.is_handed_out(self.raw)
    }
}

impl Drop for TextureInner {
    fn drop(&mut self) {
        if self.gone.get() {
            self.gl.ledger.change_live(|l| l.textures -= 1);
            return;
        }
        self.gl.discard(if self.is_owned() { Dead::Texture(self.raw) } else { Dead::Borrowed(self.raw) });
    }
}

impl Gl {
    /// Makes a unit the active one.
    pub fn activate_unit(&self, index: u32) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.active_unit != Some(index) {
            // SAFETY: the context is current inside a scope.
            unsafe { self.raw.active_texture(glow::TEXTURE0 + index) };
            shadow.active_unit = Some(index);
        }
    }
}
