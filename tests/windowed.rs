//! Contexts in windows: what is drawn is to be seen, and a host that draws in one does not notice texla.
#![allow(unsafe_code)]

mod common;
#[path = "../examples/hosts/src/guest.rs"]
mod guest;
#[path = "../examples/hosts/src/scene.rs"]
mod scene;

use std::process::Command;

use common::harness::{alone, headless, limits};
use common::screen::{Screen, Window};
use glow::HasContext;
use guest::{Guest, SIDE};
use raw_window_handle::{DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, WindowHandle};
use scene::{Depth, Scene, own_texture};
use texla::gl::Api;
use texla::{Device, DeviceOptions, Error, Picture, Vector, Windowed, WindowedOptions, ops};

const SIZE: (u32, u32) = (96, 64);

fn options(api: Api) -> WindowedOptions {
    let options = DeviceOptions::default().with_limits(limits());
    WindowedOptions::default().with_api(Some(api)).with_options(options)
}

/// A window with all that the scene needs.
fn windowed(screen: &Screen, api: Api) -> Windowed<Window> {
    let window = Window::open(screen, SIZE, true);
    Windowed::new(window, SIZE, options(api).with_depth_bits(24).with_stencil_bits(8)).unwrap()
}

fn fill(gl: &glow::Context, [r, g, b]: [f32; 3]) {
    // SAFETY: the context is current.
    unsafe {
        gl.clear_color(r, g, b, 1.0);
        gl.clear(glow::COLOR_BUFFER_BIT);
    }
}

#[test]
fn what_is_drawn_is_to_be_seen() {
    let (_alone, screen) = (alone(), Screen::start());
    for api in Api::ALL {
        for with_visual in [true, false] {
            let window = Window::open(&screen, SIZE, with_visual);
            let windowed = Windowed::new(window, SIZE, options(api)).unwrap();
            assert_eq!(windowed.device().api(), api);
            let gl = windowed.glow();
            fill(&gl, [1.0, 0.0, 0.0]);
            // The library's own draws go elsewhere.
            let x = Vector::filled(windowed.device(), 50, 2.0).unwrap();
            assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 100.0);
            windowed.swap().unwrap();
            assert_eq!(windowed.window().pixel(95, 63), [255, 0, 0], "{api}");
            windowed.window().resize((150, 100));
            windowed.resize((150, 100));
            for colour in [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
                fill(&gl, colour);
                windowed.swap().unwrap();
                assert_eq!(windowed.window().pixel(149, 99), colour.map(|c| (255.0 * c) as u8), "{api}");
            }
            windowed.resize((0, 0));
            assert!(!windowed.address("glClear").is_null());
            assert!(windowed.address("a name with a \0").is_null());
        }
    }
}

/// A window and a context without one: each call of texla's makes its own current, and the application says when it draws.
#[test]
fn windows_take_turns() {
    let (_alone, screen) = (alone(), Screen::start());
    for api in Api::ALL {
        let [red, blue] = [windowed(&screen, api), windowed(&screen, api)];
        let other = headless(api);
        let vectors: Vec<_> = [red.device(), other.device(), blue.device()]
            .map(|dev| Vector::filled(dev, 10, 1.5).unwrap())
            .into_iter()
            .collect();
        for _ in 0..2 {
            red.make_current().unwrap();
            fill(&red.glow(), [1.0, 0.0, 0.0]);
            for x in &vectors {
                assert_eq!(ops::sum(x).unwrap().read().unwrap(), 15.0);
            }
            blue.make_current().unwrap();
            fill(&blue.glow(), [0.0, 0.0, 1.0]);
            assert_eq!(ops::sum(&vectors[1]).unwrap().read().unwrap(), 15.0);
            // Neither is current.
            red.swap().unwrap();
            blue.swap().unwrap();
            assert_eq!(red.window().pixel(50, 30), [255, 0, 0]);
            assert_eq!(blue.window().pixel(50, 30), [0, 0, 255]);
        }
    }
}

#[test]
fn a_window_closes_after_everything_in_it() {
    let (_alone, screen) = (alone(), Screen::start());
    for api in Api::ALL {
        let windowed = windowed(&screen, api);
        let (open, ledger) = (windowed.window().is_open(), windowed.device().ledger());
        let device = windowed.device().clone();
        let x = Vector::filled(&device, 10, 1.5).unwrap();
        drop(windowed);
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 15.0);
        drop(device);
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 15.0);
        assert!(open.get());
        drop(x);
        assert!(!open.get());
        assert_eq!(ledger.live_objects().total(), 0);
    }
}

#[test]
fn a_window_has_the_buffers_asked_for() {
    let (_alone, screen) = (alone(), Screen::start());
    let open = |options| Windowed::new(Window::open(&screen, SIZE, true), SIZE, options);
    for api in Api::ALL {
        let windowed =
            open(options(api).with_depth_bits(16).with_stencil_bits(8).with_samples(3).with_in_step(false))
                .unwrap();
        let gl = windowed.glow();
        let of = |buffer, what| {
            // SAFETY: the context is current, and its window has this buffer.
            unsafe { gl.get_framebuffer_attachment_parameter_i32(glow::FRAMEBUFFER, buffer, what) }
        };
        assert!(of(glow::DEPTH, glow::FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE) >= 16);
        assert!(of(glow::STENCIL, glow::FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE) >= 8);
        // SAFETY: the context is current.
        assert_eq!(unsafe { gl.get_parameter_i32(glow::SAMPLES) }, 4);
        for refused in [options(api).with_depth_bits(200), options(api).with_samples(129)] {
            let Err(Error::NoContext(sentence)) = open(refused) else { panic!("there is no such window") };
            assert!(sentence.contains("no configuration of the window's for"), "{sentence}");
            assert!(sentence.ends_with("ask for less") && !sentence.contains('\n'), "{sentence}");
        }
        // Those that were refused have not been in the way.
        let x = Vector::filled(windowed.device(), 10, 1.5).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 15.0);
    }
}

/// A window that is gone, or has not come yet.
struct NoWindow;

impl HasWindowHandle for NoWindow {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        Err(HandleError::Unavailable)
    }
}

impl HasDisplayHandle for NoWindow {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        Err(HandleError::Unavailable)
    }
}

#[test]
fn a_window_without_a_handle_is_one_sentence() {
    let Err(Error::NoContext(sentence)) = Windowed::new(NoWindow, SIZE, options(Api::Gl33)) else {
        panic!("there is no window")
    };
    assert!(sentence.starts_with("the window has no handle: "), "{sentence}");
}

#[test]
#[ignore = "what the child process of the next test runs"]
fn child() {
    let screen = Screen::start();
    match Windowed::new(Window::open(&screen, SIZE, true), SIZE, options(Api::Gl33)) {
        Ok(windowed) => println!("<<{windowed:?}>>"),
        Err(e) => println!("<<{e}>>"),
    }
}

#[test]
fn without_a_driver_the_packages_are_named() {
    let _alone = alone();
    let ran = |vendors: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--nocapture", "--ignored"]);
        if let Some(path) = vendors {
            command.envs(["FILENAMES", "DIRS"].map(|kind| (format!("__EGL_VENDOR_LIBRARY_{kind}"), path)));
        }
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text.split_once("<<").and_then(|(_, rest)| rest.split_once(">>")).unwrap().0.to_owned()
    };
    assert!(ran(None).starts_with("Windowed(Device("));
    let sentence = ran(Some("/nonexistent"));
    assert!(sentence.contains("EGL has no display for the window"), "{sentence}");
    for package in ["libegl1", "libegl-mesa0", "libgl1-mesa-dri"] {
        assert!(sentence.contains(package), "{sentence}");
    }
}

/// Frames of a renderer that set its state once: without texla, with its calls one by one, and in a scope.
fn is_not_noticed(screen: &Screen, api: Api, depth: Depth) {
    let windowed = windowed(screen, api);
    // SAFETY: the window's context is current.
    let scene = unsafe { Scene::new(windowed.glow(), SIZE, depth, &|name| windowed.address(name)) };
    // SAFETY: as above.
    let frames = |guest: &mut dyn FnMut()| -> Vec<Vec<u8>> {
        (0..5).map(|i| unsafe { scene.frame(i, guest) }).collect()
    };
    let without = frames(&mut || {});
    for (i, frame) in without.iter().enumerate() {
        let colours: std::collections::BTreeSet<_> = frame.chunks(4).collect();
        assert!(colours.len() > 100, "frame {i} shows {} colours", colours.len());
        assert!(without[..i].iter().all(|other| other != frame), "frame {i} has been there");
    }
    let mut guest = Guest::new(windowed.device()).unwrap();
    guest.work(false).unwrap();
    let result = guest.result().unwrap();
    for in_a_scope in [false, true] {
        let with = frames(&mut || guest.work(in_a_scope).unwrap());
        assert!(with == without, "{api}, in a scope: {in_a_scope}");
        assert_eq!(guest.result().unwrap(), result);
    }

    // A result that is shown where it is, and one in a texture of the application's.
    let side = SIDE as u32;
    let expected: Vec<[u8; 4]> = guest.picture().read().unwrap();
    // SAFETY: the context is current, and the texture lives as long as the picture that borrows it.
    unsafe {
        let gl = windowed.glow();
        let own = own_texture(&gl, side);
        let mut lent = Picture::from_texture(windowed.device(), own, SIDE, SIDE).unwrap();
        guest.draw_into(&mut lent).unwrap();
        for (what, texture) in [("texla's", guest.picture().texture()), ("its own", own)] {
            frames(&mut || {});
            let shown = scene.show(texture, side);
            for (i, texel) in expected.iter().enumerate() {
                let at = 4 * (i / SIDE * SIZE.0 as usize + i % SIDE);
                assert_eq!(shown[at..at + 3], texel[..3], "{what} texel {i}, {api}");
            }
        }
        drop(lent);
        gl.delete_texture(own);
        scene.to_window();
    }
    windowed.swap().unwrap();
    let texel = expected[3 * SIDE + 5];
    assert_eq!(windowed.window().pixel(5, SIZE.1 as i32 - 4), texel[..3], "on the screen");
}

#[test]
fn a_plain_host_does_not_notice() {
    let (_alone, screen) = (alone(), Screen::start());
    Api::ALL.into_iter().for_each(|api| is_not_noticed(&screen, api, Depth::Usual));
}

/// The clip space of 0..1 is texla's to set and put back, or to refuse where it has no loader.
#[test]
fn a_host_of_reversed_depth_does_not_notice() {
    let (_alone, screen) = (alone(), Screen::start());
    let windowed = windowed(&screen, Api::Gl33);
    let extensions = windowed.glow().supported_extensions().clone();
    if !extensions.contains("GL_ARB_clip_control") {
        eprintln!("not looked at without glClipControl");
        return;
    }
    is_not_noticed(&screen, Api::Gl33, Depth::Reversed);
    windowed.make_current().unwrap();
    // SAFETY: the window's context is current.
    unsafe {
        let scene = Scene::new(windowed.glow(), SIZE, Depth::Reversed, &|name| windowed.address(name));
        // A device may be made, where one has been before; none of its calls does anything.
        let entered = Device::from_glow(windowed.glow()).and_then(|device| device.scope().map(drop));
        let refused =
            matches!(&entered, Err(Error::Unsupported { what, .. }) if what.contains("glClipControl"));
        assert!(refused, "{entered:?}");
        scene.frame(0, &mut || {});
    }
}
