//! Contexts without a window: which device, which API, and what is said where there is none.
#![allow(unsafe_code)]

mod common;

use std::process::Command;

use common::egl::loader;
use common::harness::headless;
use texla::gl::{Api, ExactForm};
use texla::{Device, DeviceOptions, Error, Headless, HeadlessOptions, Vector, ops};

fn options(device: Option<&str>, api: Option<Api>) -> HeadlessOptions {
    HeadlessOptions::default().with_device(device.map(str::to_owned)).with_api(api)
}

/// The sentence of a `NoContext`.
fn sentence(result: texla::Result<Headless>) -> String {
    match result.map(|context| context.name().to_owned()) {
        Err(Error::NoContext(sentence)) => sentence,
        other => panic!("expected no context, found {other:?}"),
    }
}

#[test]
fn the_api_can_be_chosen() {
    for api in Api::ALL {
        let context = Headless::new(options(None, Some(api))).unwrap();
        assert_eq!(context.device().api(), api);
        assert_eq!(context.glow().version_is_embedded(), api == Api::Es30);
        assert_eq!(api.to_string().parse::<Api>(), Ok(api));
        let caps = context.device().capabilities();
        assert!(context.name().contains(&caps.renderer), "{}", context.name());
    }
    assert!("gl21".parse::<Api>().unwrap_err().contains("gl33 or es30"));
}

trait Embedded {
    fn version_is_embedded(&self) -> bool;
}

impl Embedded for glow::Context {
    fn version_is_embedded(&self) -> bool {
        glow::HasContext::version(self).is_embedded
    }
}

#[test]
fn the_device_can_be_chosen_by_index_and_by_part_of_its_name() {
    let first = Headless::new(options(None, Some(Api::Gl33))).unwrap();
    let renderer = first.device().capabilities().renderer;
    let part = renderer.split([' ', '(']).next().unwrap().to_uppercase();
    let by_name = Headless::new(options(Some(&part), Some(Api::Gl33))).unwrap();
    assert!(by_name.name().to_uppercase().contains(&part), "{}", by_name.name());
    let index = first.name().strip_prefix("EGL device ").unwrap();
    let index: String = index.chars().take_while(char::is_ascii_digit).collect();
    let by_index = Headless::new(options(Some(&index), Some(Api::Gl33))).unwrap();
    assert_eq!(by_index.name(), first.name());
}

#[test]
fn an_unknown_device_is_one_sentence() {
    for wanted in ["no such device", "999"] {
        let sentence = sentence(Headless::new(options(Some(wanted), Some(Api::Gl33))));
        assert!(
            sentence.contains(&format!("no usable EGL device matches `{wanted}` for gl33")),
            "{sentence}"
        );
        assert!(!sentence.contains('\n'), "{sentence}");
    }
}

/// A program that makes a context with the default options and reports: this test binary itself, run again.
fn child(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "report", "--nocapture", "--ignored"]);
    for name in ["TEXLA_DEVICE", "TEXLA_API"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let report = text.split_once("<<").and_then(|(_, rest)| rest.split_once(">>"));
    report.unwrap_or_else(|| panic!("no report in {text}")).0.to_owned()
}

#[test]
#[ignore = "what the child processes of the other tests run"]
fn report() {
    let named = std::env::var("TEXLA_TEST_NAMED").ok();
    match Headless::new(options(named.as_deref(), None)) {
        Ok(context) => {
            let x = Vector::from_slice(context.device(), &[1.0, 2.0]).unwrap();
            assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0);
            println!("<<{} {}>>", context.device().api(), context.name());
        }
        Err(e) => println!("<<{e:?}>>"),
    }
}

#[test]
fn the_environment_chooses_where_the_program_does_not() {
    assert!(child(&[]).starts_with("gl33 EGL device "));
    assert!(child(&[("TEXLA_API", ""), ("TEXLA_DEVICE", "")]).starts_with("gl33 EGL device "));
    assert!(child(&[("TEXLA_API", "es30")]).starts_with("es30 EGL device "));
    let name = headless(Api::Gl33).name().to_owned();
    let index: String = name["EGL device ".len()..].chars().take_while(char::is_ascii_digit).collect();
    assert_eq!(child(&[("TEXLA_DEVICE", &index)]), format!("gl33 {name}"));
    let unknown = child(&[("TEXLA_DEVICE", "no such device")]);
    assert!(unknown.starts_with("NoContext(") && unknown.contains("matches `no such device`"), "{unknown}");
    // An empty name is none.
    assert_eq!(child(&[("TEXLA_DEVICE", "no such device"), ("TEXLA_TEST_NAMED", " ")]), unknown);
    let api = child(&[("TEXLA_API", "gl21")]);
    assert_eq!(api, "NoContext(\"TEXLA_API: unknown API `gl21`, expected gl33 or es30\")");
}

#[test]
fn without_a_driver_the_packages_are_named() {
    // Vendors of EGL come from these files alone: none is left.
    let variables =
        [("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent"), ("__EGL_VENDOR_LIBRARY_DIRS", "/nonexistent")];
    let sentence = child(&variables);
    assert!(sentence.starts_with("NoContext("), "{sentence}");
    for package in ["libegl1", "libegl-mesa0", "libgl1-mesa-dri"] {
        assert!(sentence.contains(package), "{sentence}");
    }
}

#[test]
fn a_loader_serves_as_well_as_glow() {
    for api in Api::ALL {
        let host = headless(api);
        // The host's own calls make its context current.
        drop(host.device().scope().unwrap());
        // SAFETY: the context is current until the guest has gone, and EGL knows the functions.
        let guest = unsafe { Device::from_loader(loader(), DeviceOptions::default()) }.unwrap();
        assert_eq!(guest.api(), api);
        assert!(!guest.same(host.device()));
        let ledger = guest.ledger();
        let x = Vector::from_slice(&guest, &[3.0, 4.0]).unwrap();
        assert_eq!(ops::norm2(&x).unwrap().read().unwrap(), 5.0);
        // SAFETY: `x` lives longer than what borrows its texture: one context, two devices.
        let shared = unsafe { Vector::from_texture(host.device(), x.texture(), x.extent(), 4) }.unwrap();
        assert_eq!(ops::sum(&shared).unwrap().read().unwrap(), 7.0);
        drop(shared);
        drop((x, guest));
        assert_eq!(ledger.live_objects().total(), 0);
    }
}

#[test]
fn a_loader_without_a_context_is_an_error() {
    // Each test has a thread of its own, and this one has made no context current.
    // SAFETY: the loaders give null or the function asked for; that no context is current is what is tested.
    let results = unsafe {
        [
            Device::from_loader(|_| std::ptr::null(), DeviceOptions::default()),
            Device::from_loader(loader(), DeviceOptions::default()),
        ]
    };
    let expected = [
        "the loader returns null for `glGetString` (is a GL context current on this thread?)",
        "no GL context is current on this thread",
    ];
    for (result, expected) in results.into_iter().zip(expected) {
        let Err(Error::NoContext(said)) = result.map(|_| ()) else { panic!("{expected}") };
        assert!(said.starts_with(expected), "{said}");
    }
}

/// Where a probe fails, something slower or less takes its place and gives right results too: other tests cannot tell.
#[test]
fn every_probe_succeeds_on_llvmpipe() {
    for api in Api::ALL {
        let context = headless(api);
        let caps = context.device().capabilities();
        if !caps.renderer.contains("llvmpipe") {
            eprintln!("not looked at on {}", caps.renderer);
            continue;
        }
        let found = [
            ("blending", caps.float_blend),
            ("max and min", caps.float_min_max),
            ("filtering", caps.float_filter),
            ("coordinates", caps.computed_coordinates),
            ("lines", caps.exact_lines),
            ("derivatives", caps.exact_derivatives),
            ("sample queries", caps.sample_queries),
        ];
        assert_eq!(found.map(|(what, _)| (what, true)), found, "{api}");
        assert_eq!(caps.exact_form, Some(ExactForm::BitCast), "{api}");
        assert_eq!((caps.loop_rounds, caps.points_a_draw), (65_535, 1 << 16), "{api}");
        assert_eq!(caps.rounds_a_draw, 1 << 19, "{api}");
        assert!(caps.max_vertex_outputs >= 15 && caps.max_block_vec4s >= 1024, "{caps:?}");
    }
}
