//! What was probed is kept for the context and driver that it was probed in, within a process and by the application.
#![allow(unsafe_code)]

mod common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use common::egl;
use common::harness::{alone, headless, limits};
use texla::gl::{Api, Capabilities, Limits};
use texla::{Device, DeviceOptions, Error, Headless, HeadlessOptions, Vector, ops};

fn with(api: Api, options: DeviceOptions) -> Headless {
    Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options)).unwrap()
}

/// Programs that making a device has compiled.
fn compiled(dev: &Device) -> u64 {
    dev.counters().compiles
}

/// Something that follows from capabilities.
fn works(dev: &Device) -> f32 {
    let x = Vector::filled(dev, 1000, 0.5).unwrap();
    ops::sum(&x).unwrap().read().unwrap()
}

/// By hand: a text, given back.
#[test]
fn saved_capabilities_spare_probing() {
    let _alone = alone();
    for api in Api::ALL {
        let found = headless(api).device().capabilities();
        let saved: Capabilities = found.to_string().parse().unwrap();
        assert_eq!(saved, found);
        let options = DeviceOptions::default().with_limits(limits()).with_capabilities(Some(saved));
        let context = with(api, options);
        assert_eq!((compiled(context.device()), context.device().capabilities()), (0, found));
        assert_eq!(works(context.device()), 500.0);
    }
}

/// Which functions a `glow::Context` has loaded nobody knows: each device is probed, unless it is given what was found.
#[test]
fn what_was_found_through_other_functions_is_not_taken() {
    let _alone = alone();
    for api in Api::ALL {
        let _current = egl::core(api, None);
        // SAFETY: the context is current until the devices have gone.
        let gl = Arc::new(unsafe { glow::Context::from_loader_function(egl::loader()) });
        let made = |saved: Option<Capabilities>| {
            let options = DeviceOptions::default().with_limits(limits()).with_capabilities(saved);
            // SAFETY: as above.
            let dev = unsafe { Device::from_glow_with(Arc::clone(&gl), options) }.unwrap();
            (compiled(&dev), dev.capabilities())
        };
        let (first, second) = (made(None), made(None));
        assert!(first.0 > 10 && first == second, "{api}: {first:?}, {second:?}");
        assert_eq!(made(Some(first.1.clone())), (0, first.1));
    }
}

/// In a context that says something else of itself, under other limits or in another dialect, the device is probed.
#[test]
fn capabilities_of_another_context_are_not_taken() {
    let _alone = alone();
    let [gl, es] = Api::ALL.map(|api| headless(api).device().capabilities());
    assert_ne!(gl.fingerprint, es.fingerprint);
    let small = Limits::default().with_max_texture_size(Some(77)).with_max_draw_buffers(Some(1));
    for (api, given) in [(Api::Gl33, es), (Api::Es30, gl)] {
        let options =
            DeviceOptions::default().with_limits(small.clone()).with_capabilities(Some(given.clone()));
        let context = with(api, options);
        let found = context.device().capabilities();
        assert_eq!((found.max_texture_size, found.max_draw_buffers), (77, 1));
        assert_ne!(found.fingerprint, given.fingerprint);
        assert_eq!(works(context.device()), 500.0);
    }
}

/// The same driver and sizes, and yet another device: only the fingerprint knows.
#[test]
fn capabilities_of_other_limits_are_not_taken() {
    let _alone = alone();
    let found = headless(Api::Gl33).device().capabilities();
    assert!(found.float_blend && found.fingerprint != 0);
    let without = limits().without_float_blend(true);
    let options = DeviceOptions::default().with_limits(without).with_capabilities(Some(found.clone()));
    let context = with(Api::Gl33, options);
    assert!(!context.device().capabilities().float_blend);
    let mut other = found;
    (other.float_blend, other.fingerprint) = (false, other.fingerprint ^ 1);
    let options = DeviceOptions::default().with_limits(limits()).with_capabilities(Some(other));
    assert!(with(Api::Gl33, options).device().capabilities().float_blend);
}

/// Claims past what the driver states are not believed, though the fingerprint is right.
#[test]
fn claims_past_the_drivers_are_not_believed() {
    let _alone = alone();
    let context = headless(Api::Gl33);
    let found = context.device().capabilities();
    type Change = fn(&mut Capabilities);
    let changes: [Change; 7] = [
        |c| c.max_texture_size = 1 << 20,
        |c| c.max_texture_size = 0,
        |c| c.max_draw_buffers = 9,
        |c| c.max_draw_buffers = 0,
        |c| c.points_a_draw = 0,
        |c| c.texture_units += 1,
        |c| c.software = !c.software,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut claimed = found.clone();
        change(&mut claimed);
        let options = DeviceOptions::default().with_limits(limits()).with_capabilities(Some(claimed));
        let next = with(Api::Gl33, options);
        assert_eq!(next.device().capabilities(), found, "change {i}");
        assert_eq!(works(next.device()), 500.0);
    }
}

/// Every byte of a text counts, and an error says the line.
#[test]
fn a_damaged_text_is_refused() {
    let _alone = alone();
    let text = headless(Api::Gl33).device().capabilities().to_string();
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= 1;
        let Ok(damaged) = String::from_utf8(bytes) else { continue };
        let read: Result<Capabilities, Error> = damaged.parse();
        // Blanks at the end are no part of it.
        if at + 1 < text.len() {
            assert!(matches!(read, Err(Error::File { .. })), "byte {at}: {read:?}");
        }
    }
    // An editor or a version control may have changed the ends of lines.
    assert!(text.replace('\n', "\r\n").parse::<Capabilities>().is_ok());
    let cut: Result<Capabilities, Error> = text[..text.len() / 2].parse();
    let said = cut.unwrap_err().to_string();
    assert!(said.contains("capabilities: line"), "{said}");
    let sum = text.replace("float_blend = true", "float_blend = false").parse::<Capabilities>();
    let said = sum.unwrap_err().to_string();
    assert!(said.contains("damaged"), "{said}");
    let empty = "".parse::<Capabilities>().unwrap_err().to_string();
    assert!(empty.contains("found `the end`, expected `texla capabilities 1`"), "{empty}");
}

/// What a loader on Windows returns: nothing for the functions of OpenGL 1.1, and numbers that are no addresses.
#[test]
fn loaders_like_that_of_windows_are_told_what_they_lack() {
    let _alone = alone();
    let _current = egl::core(Api::Gl33, None);
    let asked = std::rc::Rc::new(RefCell::new(BTreeMap::<String, u32>::new()));
    let like_wgl = |without: &'static str, instead: usize| {
        let (real, asked) = (egl::loader(), asked.clone());
        move |name: &str| {
            *asked.borrow_mut().entry(name.to_owned()).or_default() += 1;
            if name == without { std::ptr::without_provenance(instead) } else { real(name) }
        }
    };
    for instead in [0, 1, 2, 3, usize::MAX] {
        for (without, of_opengl_1) in
            [("glGetString", true), ("glGetIntegerv", true), ("glBindTexture", true), ("glFenceSync", false)]
        {
            // SAFETY: the context is current; what is no address is null to texla.
            let refused =
                unsafe { Device::from_loader(like_wgl(without, instead), DeviceOptions::default()) };
            let Err(Error::NoContext(said)) = refused else { panic!("{without} as {instead}: {refused:?}") };
            assert!(said.contains(without), "{said}");
            assert_eq!(said.contains("opengl32.dll"), of_opengl_1, "{said}");
        }
        // What texla can do without.
        // SAFETY: as above.
        let dev =
            unsafe { Device::from_loader(like_wgl("glClipControl", instead), DeviceOptions::default()) };
        assert_eq!(works(&dev.unwrap()), 500.0);
    }
    assert!(asked.borrow().contains_key("glClipControl"));
}
