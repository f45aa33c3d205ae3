//! A host whose context has the compatibility profile, as SDL makes it unless told otherwise, and draws by the functions of OpenGL 1.
//! texla refuses to work in such a context, whose state has no end. So it gets a core context of its own, which shares textures with
//! the host's: results are shown without a copy as anywhere else.
use std::ffi::{CString, c_void};

use glow::HasContext;
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::prelude::*;
use texla::{Device, DeviceOptions, Error, Picture};
use texla_hosts::guest::{Guest, SIDE};
use texla_hosts::hand_over::Fence;
use texla_hosts::scene::own_texture;
use texla_hosts::{FRAMES, SIZE, assert_identical, assert_shown, in_window, surface};

/// Functions that the core profile has no more.
struct Legacy {
    enable: unsafe extern "system" fn(u32),
    disable: unsafe extern "system" fn(u32),
    begin: unsafe extern "system" fn(u32),
    end: unsafe extern "system" fn(),
    vertex: unsafe extern "system" fn(f32, f32, f32),
    colour: unsafe extern "system" fn(f32, f32, f32, f32),
    coordinates: unsafe extern "system" fn(f32, f32),
    identity: unsafe extern "system" fn(),
    rotate: unsafe extern "system" fn(f32, f32, f32, f32),
    alpha_test: unsafe extern "system" fn(u32, f32),
    transfer: unsafe extern "system" fn(u32, f32),
    stipple: unsafe extern "system" fn(*const u8),
    shade: unsafe extern "system" fn(u32),
}

const ALPHA_TEST: u32 = 0x0BC0;
const POLYGON_STIPPLE: u32 = 0x0B42;
const GREEN_SCALE: u32 = 0x0D18;
const BLUE_BIAS: u32 = 0x0D1B;
const SMOOTH: u32 = 0x1D01;

impl Legacy {
    /// # Safety
    /// The context has the compatibility profile, and the loader gives its functions.
    unsafe fn load(loader: &dyn Fn(&str) -> *const c_void) -> Self {
        macro_rules! load {
            ($name:literal) => {{
                let address = loader($name);
                assert!(!address.is_null(), $name);
                std::mem::transmute(address)
            }};
        }
        // SAFETY: the address under each name is a function of the field's type.
        unsafe {
            Legacy {
                enable: load!("glEnable"),
                disable: load!("glDisable"),
                begin: load!("glBegin"),
                end: load!("glEnd"),
                vertex: load!("glVertex3f"),
                colour: load!("glColor4f"),
                coordinates: load!("glTexCoord2f"),
                identity: load!("glLoadIdentity"),
                rotate: load!("glRotatef"),
                alpha_test: load!("glAlphaFunc"),
                transfer: load!("glPixelTransferf"),
                stipple: load!("glPolygonStipple"),
                shade: load!("glShadeModel"),
            }
        }
    }

    /// # Safety
    /// The context is current.
    unsafe fn set_up(&self, gl: &glow::Context) {
        // SAFETY: the caller's.
        unsafe {
            gl.viewport(0, 0, SIZE.0 as i32, SIZE.1 as i32);
            gl.clear_color(0.2, 0.1, 0.3, 1.0);
            gl.enable(glow::DEPTH_TEST);
            (self.enable)(ALPHA_TEST);
            (self.alpha_test)(glow::GREATER, 0.35);
            (self.enable)(POLYGON_STIPPLE);
            let pattern: Vec<u8> = (0..128).map(|i| if i / 4 % 2 == 0 { 0xee } else { 0xbb }).collect();
            (self.stipple)(pattern.as_ptr());
            // What would change everything that texla uploads and reads back.
            (self.transfer)(GREEN_SCALE, 0.5);
            (self.transfer)(BLUE_BIAS, 0.25);
            (self.shade)(SMOOTH);
        }
    }

    /// # Safety
    /// The context is current.
    unsafe fn triangle(&self, tilt: f32) {
        // SAFETY: the caller's.
        unsafe {
            (self.begin)(glow::TRIANGLES);
            let corners =
                [([1.0, 0.2, 0.2, 1.0], -0.8), ([0.2, 1.0, 0.3, 0.6], 0.8), ([0.3, 0.2, 1.0, 0.1], 0.0)];
            for ([r, g, b, a], x) in corners {
                (self.colour)(r, g, b, a);
                (self.vertex)(x, if x == 0.0 { 0.8 } else { -0.6 }, tilt * x);
            }
            (self.end)();
        }
    }

    /// Shows a texture texel by texel in the lower left corner.
    ///
    /// # Safety
    /// The context is current, and the texture is one of its.
    unsafe fn show(&self, gl: &glow::Context, texture: glow::NativeTexture) -> Vec<u8> {
        let switches = [ALPHA_TEST, POLYGON_STIPPLE, glow::DEPTH_TEST];
        // SAFETY: the caller's.
        unsafe {
            switches.into_iter().for_each(|s| (self.disable)(s));
            (self.transfer)(GREEN_SCALE, 1.0);
            (self.transfer)(BLUE_BIAS, 0.0);
            gl.viewport(0, 0, SIDE as i32, SIDE as i32);
            (self.enable)(glow::TEXTURE_2D);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            (self.identity)();
            (self.colour)(1.0, 1.0, 1.0, 1.0);
            (self.begin)(glow::TRIANGLE_STRIP);
            for [u, v] in [[0.0f32, 0.0f32], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
                (self.coordinates)(u, v);
                (self.vertex)(2.0 * u - 1.0, 2.0 * v - 1.0, 0.0);
            }
            (self.end)();
            (self.disable)(glow::TEXTURE_2D);
            gl.bind_texture(glow::TEXTURE_2D, None);
            pixels(gl)
        }
    }
}

/// # Safety
/// The context is current.
unsafe fn pixels(gl: &glow::Context) -> Vec<u8> {
    let mut pixels = vec![0; 4 * (SIZE.0 * SIZE.1) as usize];
    let into = glow::PixelPackData::Slice(Some(&mut pixels));
    // SAFETY: the caller's; there are four bytes for each pixel.
    unsafe { gl.read_pixels(0, 0, SIZE.0 as i32, SIZE.1 as i32, glow::RGBA, glow::UNSIGNED_BYTE, into) };
    pixels
}

fn main() -> texla_hosts::Result {
    let host = "compatibility";
    in_window(host, |window| {
        // The host's context, and one for texla that shares its textures. Neither has an end before the window.
        // SAFETY: the window is alive.
        let (display, theirs, surface, ours) = unsafe {
            let (display, config, surface) = surface(&window)?;
            let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
            let attributes = || ContextAttributesBuilder::new().with_context_api(version);
            let old = attributes().with_profile(GlProfile::Compatibility).build(None);
            let theirs = display.create_context(&config, &old)?.make_current(&surface)?;
            let core = attributes().with_profile(GlProfile::Core).with_sharing(&theirs).build(None);
            let ours = display.create_context(&config, &core)?.treat_as_possibly_current();
            (display, theirs, surface, ours)
        };
        let loader =
            move |name: &str| CString::new(name).map_or(std::ptr::null(), |n| display.get_proc_address(&n));
        // SAFETY: the host's context is current, of the compatibility profile, and EGL gives its functions.
        let (gl, legacy) = unsafe {
            let gl = glow::Context::from_loader_function(&loader);
            let legacy = Legacy::load(&loader);
            legacy.set_up(&gl);
            (gl, legacy)
        };
        let frames = |turn: &mut dyn FnMut() -> texla_hosts::Result| -> texla_hosts::Result<_> {
            let mut frames = Vec::new();
            for i in 0..FRAMES {
                // SAFETY: the host's context is current.
                unsafe {
                    gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
                    (legacy.identity)();
                    (legacy.rotate)(25.0 * i as f32, 0.3, 1.0, 0.2);
                    legacy.triangle(0.4);
                    turn()?;
                    legacy.triangle(-0.5);
                    assert_eq!(gl.get_error(), glow::NO_ERROR);
                    frames.push(pixels(&gl));
                }
                surface.swap_buffers(&theirs)?;
            }
            Ok(frames)
        };
        let mut ways = vec![frames(&mut || Ok(()))?];
        // texla moves in when frames without it have been seen.
        // SAFETY: a context is current.
        let refused = unsafe { Device::from_loader(loader.clone(), DeviceOptions::default()) };
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");

        ours.make_current_surfaceless()?;
        // SAFETY: texla's context is made current around each of its calls.
        let device = unsafe { Device::from_loader(loader, DeviceOptions::default()) }?;
        let mut guest = Guest::new(&device)?;
        theirs.make_current(&surface)?;
        for in_a_scope in [false, true] {
            ways.push(frames(&mut || {
                ours.make_current_surfaceless()?;
                guest.work(in_a_scope)?;
                theirs.make_current(&surface)?;
                Ok(())
            })?);
        }
        assert_identical(host, &ways);

        // SAFETY: the host's context is current where it draws, and texla's where texla does.
        unsafe {
            theirs.make_current(&surface)?;
            let own = own_texture(&gl, SIDE as u32);
            let made = Fence::after_commands_of(&gl)?;

            ours.make_current_surfaceless()?;
            made.hold_commands_of(&device.glow());
            let mut lent = Picture::from_texture(&device, own, SIDE, SIDE)?;
            guest.draw_into(&mut lent)?;
            let drawn = Fence::from(device.fence()?);

            theirs.make_current(&surface)?;
            drawn.hold_commands_of(&gl);
            let of_texla = legacy.show(&gl, guest.picture().texture());
            let of_the_host = legacy.show(&gl, own);
            surface.swap_buffers(&theirs)?;
            ours.make_current_surfaceless()?;
            assert_shown(host, "texla's picture", &of_texla, SIZE.0, guest.picture())?;
            assert_shown(host, "the host's own texture", &of_the_host, SIZE.0, guest.picture())?;
            drop((lent, guest, device));
            theirs.make_current(&surface)?;
            gl.delete_texture(own);
        }
        Ok(())
    })
}
