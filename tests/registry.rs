//! The extensions of the registries whose state changes results, on simulated drivers that have them.
#![allow(unsafe_code)]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::driver::Driver;
use common::driver::extensions::Extension;
use common::driver::registry::{Outcome, QCOM_TEXTURE_FOVEATED, ROWS, TEXTURE_FOVEATED_FEATURE_BITS};
use common::driver::states::*;
use common::harness::{alone, headless, limits, on_both};
use glow::HasContext;
use texla::gl::Api;
use texla::kernel::{Kernel, NoParams};
use texla::{Device, DeviceOptions, Error, HostState, Picture, Vector, ops};

/// Extensions that are tried on real drivers: by `tests/host_state.rs`, where llvmpipe has them.
const TRIED_ELSEWHERE: [&str; 11] = [
    "ARB_clip_control",
    "ARB_draw_buffers_blend",
    "ARB_query_buffer_object",
    "ARB_transform_feedback2",
    "ARB_viewport_array",
    "EXT_clip_control",
    "EXT_draw_buffers_indexed",
    "NV_viewport_array",
    "OES_draw_buffers_indexed",
    "OES_viewport_array",
    "QCOM_texture_foveated",
];

/// The page's tables: heading, and the names of extensions in the first column, some with stars.
fn tables() -> BTreeMap<&'static str, Vec<&'static str>> {
    let page = include_str!("../src/guide/registry.md");
    let tables = page.split("\n# ").map(|part| {
        let (heading, body) = part.split_once('\n').unwrap();
        let rows = body.lines().filter(|line| line.starts_with("| `"));
        let names = rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2));
        (heading, names.collect())
    });
    tables.collect()
}

/// Whether a name is of this form: a star is any text, a question mark one letter.
fn is_like(name: &str, form: &str) -> bool {
    match (name.chars().next(), form.chars().next()) {
        (_, Some('*')) => (0..=name.len()).any(|n| is_like(&name[n..], &form[1..])),
        (Some(a), Some(b)) => (a == b || b == '?') && is_like(&name[1..], &form[1..]),
        (None, None) => true,
        _ => false,
    }
}

/// The names that the code asks a driver for, without their `GL_`.
fn asked_for() -> BTreeSet<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gl");
    let state = src.join("state").read_dir().unwrap().map(|file| file.unwrap().path());
    let files = state.chain(["state.rs", "objects.rs"].map(|name| src.join(name)));
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let literals = text.split('"').skip(1).step_by(2);
        found.extend(literals.filter_map(|literal| literal.strip_prefix("GL_")).filter_map(|name| {
            let (vendor, rest) = name.split_once('_')?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            // Constants are capitals to the end.
            let extension = rest.chars().any(|c| c.is_ascii_lowercase()) && name.chars().all(is_name);
            (extension && !vendor.is_empty()).then(|| name.to_owned())
        }));
    }
    found
}

/// Every extension of the registries that has state has a row on the page, by its name or by a form.
#[test]
fn every_extension_with_state_has_a_row() {
    let tables = tables();
    let all: Vec<&str> = tables.values().flatten().copied().collect();
    let listed: Vec<&str> = include_str!("registry/extensions.txt").lines().collect();
    assert!(listed.len() > 500 && listed.is_sorted(), "{}", listed.len());
    let missing: Vec<_> = listed.iter().filter(|name| !all.iter().any(|form| is_like(name, form))).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
    let in_vain: Vec<_> = all.iter().filter(|form| form.contains(['*', '?'])).collect();
    let in_vain: Vec<_> =
        in_vain.iter().filter(|form| !listed.iter().any(|name| is_like(name, form))).collect();
    assert!(in_vain.is_empty(), "of no extension: {in_vain:?}");
    let (once, mut seen): (Vec<_>, _) = (all.clone(), BTreeSet::new());
    let twice: Vec<_> = once.into_iter().filter(|name| !seen.insert(*name)).collect();
    assert!(twice.is_empty(), "in two rows: {twice:?}");
}

/// What the page says to be neutralised or refused is what the code asks for, and is tried.
#[test]
fn the_page_is_what_the_code_does() {
    let tables = tables();
    let of = |heading: &str| tables[heading].iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    let said: BTreeSet<_> = of("Neutralised by extension").union(&of("Refused")).cloned().collect();
    let found = asked_for();
    let [unsaid, undone] = [found.difference(&said), said.difference(&found)].map(|d| d.collect::<Vec<_>>());
    assert!(
        unsaid.is_empty() && undone.is_empty(),
        "asked for alone: {unsaid:?}, on the page alone: {undone:?}"
    );
    let simulated: BTreeSet<_> = ROWS.iter().map(|row| &row.extension.name["GL_".len()..]).collect();
    for name in &said {
        // A browser's are tried there.
        let tried = simulated.contains(name.as_str()) || TRIED_ELSEWHERE.contains(&name.as_str());
        assert!(tried || name.starts_with("WEBGL_"), "{name} is tried nowhere");
    }
}

/// Each value changes no result and is there afterwards, or is refused.
#[test]
fn state_of_extensions_changes_no_result() {
    for api in Api::ALL {
        let (tried, found) = swept(api);
        // Of OpenGL all, and of OpenGL ES all that 3.0 can have.
        assert!(tried >= 28, "{tried}");
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
}

/// A driver that names extensions and knows none of their values, as NVIDIA's does of several GPUs: it works, and no error is left.
#[test]
fn extensions_without_their_values_are_passed_over() {
    for api in Api::ALL {
        let _alone = alone();
        let context = headless(api);
        drop(context.device().scope().unwrap());
        let real = context.glow().supported_extensions().clone();
        let named = ROWS.iter().map(|row| row.extension.name).filter(|name| !real.contains(*name));
        let named: Vec<_> = named.map(|name| Extension { name, ..Extension::NONE }).collect();
        let named: &'static [Extension] = named.leak();
        assert!(named.len() > 20, "{}", named.len());
        let driver =
            named.iter().fold(Driver::new("empty names"), |driver, empty| driver.with(empty)).install();
        let dev = driver.device(DeviceOptions::default().with_limits(limits()));
        let found = work(&dev);
        assert_eq!(bits(&found), bits(&work(context.device())), "{api}");
        // SAFETY: the context is current.
        assert_eq!(unsafe { context.glow().get_error() }, glow::NO_ERROR);
        drop(dev);
    }
}

/// A device without a loader refuses what glow cannot set, by its name and with a way out; nothing has been drawn, and the
/// application's value is as it was.
#[test]
fn what_a_loader_sets_is_refused_without_one() {
    let mut looked = 0;
    on_each_driver(|api, rows, driver| {
        // SAFETY: the context is current while the device lives.
        let dev =
            unsafe { Device::from_glow_with(driver.glow(), DeviceOptions::default().with_limits(limits())) };
        let dev = dev.unwrap();
        let x = Vector::from_slice(&dev, &[1.0, 2.0]).unwrap();
        for row in rows {
            let Outcome::KeptByLoader(word) = row.outcome else { continue };
            set(driver, row);
            let (before, name) = (driver.state(), row.extension.name);
            let error = ops::sum(&x).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{name} on {api}: {error}");
            for word in [word, "Device::from_loader"] {
                assert!(error.to_string().contains(word), "{name} on {api}: {error}");
            }
            assert_eq!((driver.state(), driver.spoiled()), (before, 0), "{name} on {api}");
            unset(driver, row);
            assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0, "{name} on {api}");
            looked += 1;
        }
    });
    let by_loader = ROWS.iter().filter(|row| matches!(row.outcome, Outcome::KeptByLoader(_)));
    let least: usize = by_loader.filter(|row| row.version.is_none()).map(|row| row.apis.len()).sum();
    assert!(looked >= least && least > 10, "{looked}, expected {least}");
}

/// A device that owns the context sets these values once, and again when it is told to.
#[test]
fn a_device_that_owns_the_context_sets_the_state_of_extensions() {
    on_each_driver(|api, rows, driver| {
        let kept: Vec<_> = rows.iter().filter(|row| !matches!(row.outcome, Outcome::Refused(_))).collect();
        kept.iter().for_each(|row| set(driver, row));
        let options = DeviceOptions::default().with_limits(limits()).with_host_state(HostState::Own);
        let dev = driver.device(options);
        let x = Vector::from_slice(&dev, &[1.0, 2.0]).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0, "on {api}");
        kept.iter().for_each(|row| set(driver, row));
        dev.reset_state();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0, "on {api}");
        assert_eq!(driver.spoiled(), 0, "on {api}");
    });
}

/// A device that is made while the values are set finds the capabilities that it finds without them.
#[test]
fn state_of_extensions_changes_no_capability() {
    in_each_context(|api, rows, install| {
        let options = || DeviceOptions::default().with_limits(limits());
        let expected = install("nothing set").device(options()).capabilities();
        // By another name, by which nothing is known of it.
        let driver = install("values set");
        let kept = rows.iter().filter(|row| !matches!(row.outcome, Outcome::Refused(_)));
        kept.for_each(|row| set(&driver, row));
        let before = driver.state();
        let mut found = driver.device(options()).capabilities();
        assert_ne!(found.renderer, expected.renderer);
        (found.renderer, found.fingerprint) = (expected.renderer.clone(), expected.fingerprint);
        assert_eq!(found, expected, "on {api}");
        assert_eq!((driver.state(), driver.spoiled()), (before, 0), "on {api}");
    });
}

/// A kernel that asks which side of a primitive it is on does not see what the application takes for the front.
#[test]
fn the_front_of_a_primitive_is_texlas() {
    on_both(|dev| {
        let gl = dev.glow();
        let body = "vec4 kernel(ivec2 p) { return vec4(gl_FrontFacing ? 1.0 : 0.0); }";
        let kernel = Kernel::<NoParams>::new(dev, "front", [], body).unwrap();
        let run = || {
            let mut out = Vector::zeros(dev, 5).unwrap();
            kernel.with([], &NoParams).run(&mut out).unwrap();
            out.read().unwrap()
        };
        let expected = run();
        // SAFETY: the context is current.
        unsafe {
            gl.front_face(glow::CW);
            assert_eq!(run(), expected);
            assert_eq!(gl.get_parameter_i32(glow::FRONT_FACE) as u32, glow::CW);
            gl.front_face(glow::CCW);
        }
    });
}

/// A texture of which the driver leaves out texels is refused where it is lent, and as it was before that.
#[test]
fn a_foveated_texture_is_not_drawn_into() {
    let _alone = alone();
    let context = headless(Api::Es30);
    drop(context.device().scope().unwrap());
    let driver = Driver::new("foveated").with(&QCOM_TEXTURE_FOVEATED).install();
    let dev = driver.device(DeviceOptions::default().with_limits(limits()));
    let lent = Picture::new(&dev, 5, 3).unwrap();
    // SAFETY: the texture lives until the end of the test, and has this extent.
    let lend = || unsafe { Picture::from_texture(&dev, lent.texture(), 5, 3) };
    drop(lend().unwrap());
    driver.value(TEXTURE_FOVEATED_FEATURE_BITS, &[1.0]);
    let refused = lend().unwrap_err().to_string();
    assert!(refused.contains("glTextureFoveationParametersQCOM"), "{refused}");
    driver.value(TEXTURE_FOVEATED_FEATURE_BITS, &[0.0]);
    drop(lend().unwrap());
}
