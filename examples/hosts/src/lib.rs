//! What the hosts have in common: a window to run in, and what is asserted of all of them.
pub mod count;
pub mod guest;
pub mod hand_over;
pub mod offscreen;
pub mod scene;

use std::error::Error;
use std::ffi::CString;
use std::num::NonZeroU32;
use std::sync::Arc;

use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::{config::Config, display::Display, surface::Surface};
use glutin::config::{Api, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, Version};
use glutin::prelude::*;
use glutin::surface::{SurfaceAttributesBuilder, WindowSurface};
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::raw_window_handle::{HasDisplayHandle, HasWindowHandle};
use winit::window::{Window, WindowId};

use guest::{Guest, SIDE};
use scene::{Depth, Scene, own_texture};
use texla::{Picture, Windowed, WindowedOptions};

pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The size of every host's window.
pub const SIZE: (u32, u32) = (320, 200);
/// Frames that are compared.
pub const FRAMES: usize = 6;

/// Opens a window and runs `body` in it once.
pub fn in_window(title: &str, body: impl FnOnce(Window) -> Result) -> Result {
    struct Once<'a, F>(&'a str, Option<F>, Option<Result>);

    impl<F: FnOnce(Window) -> Result> ApplicationHandler for Once<'_, F> {
        fn resumed(&mut self, events: &ActiveEventLoop) {
            if let Some(body) = self.1.take() {
                let size = PhysicalSize::new(SIZE.0, SIZE.1);
                let attributes = Window::default_attributes().with_title(self.0).with_inner_size(size);
                let window = events.create_window(attributes);
                self.2 = Some(window.map_err(Into::into).and_then(body));
            }
            events.exit();
        }

        fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, _: WindowEvent) {}
    }

    let mut once = Once(title, Some(body), None);
    EventLoop::new()?.run_app(&mut once)?;
    once.2.unwrap_or_else(|| Err("the window never opened".into()))
}

/// Where a host draws that makes its context by itself.
///
/// # Safety
/// The window outlives what is made of this.
pub unsafe fn surface(window: &Window) -> Result<(Display, Config, Surface<WindowSurface>)> {
    let (native, screen) = (window.window_handle()?.as_raw(), window.display_handle()?.as_raw());
    // SAFETY: the caller's.
    unsafe {
        let display = Display::new(screen)?;
        let template = ConfigTemplateBuilder::new().with_api(Api::OPENGL).with_alpha_size(0);
        let config = display.find_configs(template.compatible_with_native_window(native).build())?.next();
        let config = config.ok_or("no configuration")?;
        let [width, height] = [SIZE.0, SIZE.1].map(|n| NonZeroU32::new(n).unwrap());
        let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(native, width, height);
        let surface = display.create_window_surface(&config, &attributes)?;
        Ok((display, config, surface))
    }
}

/// A context in which texla has never been, current in the window.
///
/// # Safety
/// The window outlives what is made of this.
pub unsafe fn bare(window: &Window) -> Result<(Display, Surface<WindowSurface>, PossiblyCurrentContext)> {
    // SAFETY: the caller's.
    unsafe {
        let (display, config, surface) = surface(window)?;
        let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
        let attributes = ContextAttributesBuilder::new().with_context_api(version).build(None);
        let current = display.create_context(&config, &attributes)?.make_current(&surface)?;
        Ok((display, surface, current))
    }
}

/// Frames with texla are those without, byte for byte; and they are not all the same picture.
pub fn assert_identical(host: &str, ways: &[Vec<Vec<u8>>]) {
    assert_identical_in(host, ["on", "on in a scope"], ways);
}

/// The same for two other ways in which texla takes part.
pub fn assert_identical_in(host: &str, names: [&str; 2], ways: &[Vec<Vec<u8>>]) {
    let [without, with @ ..] = ways else { panic!("{host}: no frames") };
    assert!(without.len() >= FRAMES && with.len() == 2, "{host}: {} frames", without.len());
    for (i, frame) in without.iter().enumerate() {
        let colours: std::collections::BTreeSet<_> = frame.chunks(4).collect();
        assert!(colours.len() > 20, "{host}: frame {i} has {} colours", colours.len());
        assert!(without[..i].iter().all(|other| other != frame), "{host}: frame {i} has been there");
    }
    for (name, frames) in names.iter().zip(with) {
        for (i, (frame, expected)) in frames.iter().zip(without).enumerate() {
            let differ = frame.iter().zip(expected).filter(|(a, b)| a != b).count();
            assert_eq!((frame.len(), differ), (expected.len(), 0), "{host}: frame {i} with texla {name}");
        }
        assert_eq!(frames.len(), without.len(), "{host}: texla {name}");
    }
    let [one, other] = names;
    println!("{host}: {} frames are the same with texla off, {one}, and {other}", without.len());
}

/// The lower left corner of a frame, whose rows begin below, shows this picture.
pub fn assert_shown(host: &str, what: &str, frame: &[u8], width: u32, picture: &Picture) -> Result {
    for (i, texel) in picture.read()?.iter().enumerate() {
        let at = 4 * (i / SIDE * width as usize + i % SIDE);
        assert_eq!(frame[at..at + 3], texel[..3], "{host}: texel {i} of {what}");
    }
    println!("{host}: {what} is shown without a copy");
    Ok(())
}

/// A renderer's frames, with what the guest does in the middle of each.
fn frames(
    scene: &Scene,
    turn: &mut dyn FnMut() -> texla::Result<()>,
    swap: &dyn Fn() -> Result,
) -> Result<Vec<Vec<u8>>> {
    let frame = |i| {
        // SAFETY: the window's context is current.
        let pixels = unsafe { scene.frame(i, &mut || turn().unwrap()) };
        // SAFETY: as above.
        unsafe { scene.to_window() };
        swap()?;
        Ok(pixels)
    };
    (0..FRAMES).map(frame).collect()
}

/// A renderer in glow, in a context of its own in which texla has never been, and in one that texla has made.
pub fn run_scene(host: &'static str, depth: Depth) -> Result {
    in_window(host, |window| {
        let mut ways = {
            // SAFETY: the window lives on.
            let (display, surface, current) = unsafe { bare(&window) }?;
            let loader =
                |name: &str| CString::new(name).map_or(std::ptr::null(), |n| display.get_proc_address(&n));
            // SAFETY: the context is current, and EGL gives its functions.
            let scene = unsafe {
                Scene::new(Arc::new(glow::Context::from_loader_function(loader)), SIZE, depth, &loader)
            };
            vec![frames(&scene, &mut || Ok(()), &|| Ok(surface.swap_buffers(&current)?))?]
        };
        let options = WindowedOptions::default().with_depth_bits(24).with_stencil_bits(8);
        let windowed = Windowed::new(window, SIZE, options)?;
        // SAFETY: the window's context is current.
        let scene = unsafe { Scene::new(windowed.glow(), SIZE, depth, &|name| windowed.address(name)) };
        let frames =
            |turn: &mut dyn FnMut() -> texla::Result<()>| frames(&scene, turn, &|| Ok(windowed.swap()?));
        let mut guest = Guest::new(windowed.device())?;
        for in_a_scope in [false, true] {
            ways.push(frames(&mut || guest.work(in_a_scope))?);
        }
        assert_identical(host, &ways);

        // SAFETY: as above; the texture lives longer than the picture that borrows it.
        unsafe {
            let gl = windowed.glow();
            let shown = scene.show(guest.picture().texture(), SIDE as u32);
            assert_shown(host, "texla's picture", &shown, SIZE.0, guest.picture())?;
            let own = own_texture(&gl, SIDE as u32);
            let mut lent = Picture::from_texture(windowed.device(), own, SIDE, SIDE)?;
            guest.draw_into(&mut lent)?;
            let shown = scene.show(own, SIDE as u32);
            assert_shown(host, "the host's own texture", &shown, SIZE.0, guest.picture())?;
            drop(lent);
            glow::HasContext::delete_texture(&*gl, own);
        }
        windowed.swap()?;
        Ok(())
    })
}
