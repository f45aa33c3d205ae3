//! A guest's manners: the host's GL state neither matters to texla nor is changed by it.
#![cfg(all(feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use std::sync::Arc;

use common::egl::Extra;
use common::everything::captures;
use common::harness::{fitting, headless, on_both};
use common::hostile::{HOSTILE, Host, Hostile};
use common::manners;
use common::refusals::refused_captures;
use common::state::{assert_same, blends_apart, clip_control, since, snapshot};
use glow::HasContext;
use texla::gl::Api;
use texla::kernel::{Accum, Condition, Kernel, NoParams, Predicate, VertexKernel};
use texla::{BufferVector, Device, DeviceOptions, Error, Scalar, Vector, ops};

const CLAMP_READ_COLOR: u32 = 0x891C;
const FIXED_ONLY: u32 = 0x891D;
const LOWER_LEFT: u32 = 0x8CA1;
const UPPER_LEFT: u32 = 0x8CA2;
const NEGATIVE_ONE_TO_ONE: u32 = 0x935E;
const ZERO_TO_ONE: u32 = 0x935F;

#[test]
fn no_public_call_changes_the_hosts_state() {
    on_both(|dev| {
        let found = manners::together(dev, manners::EVERY);
        eprintln!("{found:?}");
        assert!(found.calls >= 1400 && found.values >= 3000, "{found:?}");
    });
}

#[test]
fn taking_a_context_over_changes_nothing() {
    on_both(|dev| {
        let gl = dev.glow();
        let host = Host::new(Arc::clone(&gl));
        // Without a loader the masks of draw buffers cannot be read one by one: they are taken to be equal. What else
        // needs one is refused: see below.
        for with_loader in [false, true] {
            let hostile: Vec<_> =
                HOSTILE.iter().filter(|h| h.exists(&host) && (with_loader || !h.needs_loader)).collect();
            hostile.iter().for_each(|h| h.set(&host));
            let before = host.snapshot();
            for without_float_blend in [false, true] {
                // Limits that no other test has, so that the probing is done and not remembered.
                let max_texture_size = Some(if with_loader { 61 } else { 62 });
                let limits = texla::gl::Limits::default()
                    .with_max_texture_size(max_texture_size)
                    .with_max_draw_buffers(Some(2))
                    .without_float_blend(without_float_blend);
                let options = DeviceOptions::default().with_limits(limits);
                // SAFETY: the context is current until the test ends.
                let guest = unsafe {
                    if with_loader {
                        Device::from_loader(common::egl::loader(), options)
                    } else {
                        Device::from_glow_with(Arc::clone(&gl), options)
                    }
                };
                let guest = guest.unwrap();
                assert_same(&before, &host.snapshot(), "taking over");
                let ledger = guest.ledger();
                let x = Vector::from_slice(&guest, &[1.0, 2.0, 3.0]).unwrap();
                assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 14.0);
                assert_same(&before, &host.snapshot(), "working");
                drop((x, guest));
                assert_same(&before, &host.snapshot(), "dropping the guest");
                assert_eq!(ledger.live_objects().total(), 0);
            }
            hostile.iter().rev().for_each(|h| h.unset(&host));
        }
    });
}

/// Hostile values that extensions bring, on llvmpipe whatever version it is told to be; the last on the desktop alone.
const OF_EXTENSIONS: [&str; 8] = [
    "clip space from the upper left",
    "clip space of 0 to 1",
    "clip space of 0 to 1 from the upper left",
    "factors of a second source, not blending",
    "blending by a second source",
    "an advanced blend equation",
    "an advanced blend equation, not blending",
    "pack inverted",
];

/// A hostile value that does not exist is left out of the sweeps, which then say nothing of it.
#[test]
fn llvmpipe_has_the_hostile_values() {
    on_both(|dev| {
        if !dev.capabilities().renderer.contains("llvmpipe") {
            eprintln!("not looked at on {}", dev.capabilities().renderer);
            return;
        }
        let host = Host::new(dev.glow());
        let count = OF_EXTENSIONS.len() - usize::from(dev.api() == texla::gl::Api::Es30);
        for name in &OF_EXTENSIONS[..count] {
            assert!(HOSTILE.iter().any(|h| h.name == *name && h.exists(&host)), "{name} on {}", dev.api());
        }
        let several = HOSTILE.iter().filter(|h| h.name.contains("viewport") && h.exists(&host)).count();
        // Of OpenGL ES from 3.1 on: Mesa may be told to offer less.
        assert!(several >= 3 || !since(&host.gl, (0, 0), (3, 1)), "several viewports on {}", dev.api());
    });
}

/// Each value by itself, in one of the dialects by turns where both have it: that takes a minute as it is, and the code that
/// saves and restores is one. Tiny textures make more draws of the same calls: every fourth value there.
#[test]
fn hostile_state_changes_no_bit_of_a_result() {
    let exist = Api::ALL.map(|api| {
        let host = Host::new(headless(api).device().glow());
        HOSTILE.iter().map(|h| h.exists(&host)).collect::<Vec<_>>()
    });
    on_both(|dev| {
        let here = usize::from(dev.api() == Api::ALL[1]);
        let share = if dev.capabilities().max_texture_size < 1024 { 4 } else { 1 };
        let in_turn = |k: usize| !exist[1 - here][k] || k % 2 == here;
        let turn = |k: usize| exist[here][k] && in_turn(k) && (k / 2).is_multiple_of(share);
        let found = manners::singly(dev, &turn, manners::SOME);
        eprintln!("{found:?}");
        assert!(found.hostile >= 20 / share && found.calls >= 500 / share, "{found:?}");
    });
}

/// Each value by itself, around every call, within a scope and without.
#[test]
#[ignore = "half an hour"]
fn no_public_call_changes_any_hostile_state() {
    on_both(|dev| eprintln!("{:?}", manners::singly(dev, &|_| true, manners::EVERY)));
}

#[test]
fn a_pending_error_is_the_hosts() {
    on_both(|dev| {
        let gl = dev.glow();
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let mut y = Vector::zeros(dev, 2).unwrap();
        // SAFETY: the context is current; the calls are wrong on purpose.
        let enum_error = || unsafe { gl.enable(0xFFFF) };
        // SAFETY: as above.
        let value_error = || unsafe { gl.viewport(0, 0, -1, -1) };
        // SAFETY: as above.
        let operation_error = || unsafe { gl.end_transform_feedback() };
        let raise: [(&dyn Fn(), u32); 3] = [
            (&enum_error, glow::INVALID_ENUM),
            (&value_error, glow::INVALID_VALUE),
            (&operation_error, glow::INVALID_OPERATION),
        ];
        let mut z = Vector::zeros(dev, 2).unwrap();
        for (raise, code) in raise {
            let before = snapshot();
            let (counters, live) = (dev.counters(), dev.live_objects());
            let expected = Error::HostGl { code };
            macro_rules! reports {
                ($($call:expr),* $(,)?) => {$(
                    raise();
                    assert_eq!($call.map(|_| ()).unwrap_err(), expected, "{}", stringify!($call));
                )*};
            }
            reports![
                ops::add(&mut y, &x, &z),
                ops::scale(&mut z, 2.0),
                ops::dot(&x, &x),
                x.read(),
                x.read_async(),
                Vector::from_slice(dev, &[1.0]),
                Vector::zeros(dev, 5),
                Scalar::new(dev, 1.0),
                BufferVector::zeros(dev, 5),
                dev.scope(),
                dev.trim(),
                dev.finish(),
                Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }"),
            ];
            let guest = || {
                // SAFETY: the context is current.
                unsafe { Device::from_glow(dev.glow()) }
            };
            reports![guest()];
            let done = dev.counters().since(&counters);
            assert_eq!(
                (done.draws, done.uploads, done.readbacks, done.clears, done.compiles),
                (0, 0, 0, 0, 0)
            );
            assert_eq!(dev.live_objects(), live);
            assert_same(&before, &snapshot(), "reporting an error");
            assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 5.0, "the next call works");
        }
    });
}

#[test]
fn a_panic_in_a_scope_restores() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        host.set_all();
        let before = host.snapshot();
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _outer = dev.scope().unwrap();
            let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
            let _inner = dev.scope().unwrap();
            ops::sum(&x).unwrap();
            panic!("on purpose");
        }));
        std::panic::set_hook(hook);
        assert!(result.is_err());
        assert_same(&before, &host.snapshot(), "a panic");
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0);
        host.unset_all();
    });
}

#[test]
fn nested_scopes_save_once() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0]).unwrap();
        let mut y = Vector::zeros(dev, 3).unwrap();
        let saves = || dev.counters().state_saves;
        let before = saves();
        {
            let _scope = dev.scope().unwrap();
            for _ in 0..10 {
                let _inner = dev.scope().unwrap();
                ops::axpy(&mut y, 2.0, &x, &x).unwrap();
                ops::norm2(&y).unwrap();
            }
            assert_eq!(y.read().unwrap(), [3.0, 6.0, 9.0]);
        }
        assert_eq!(saves() - before, 1);
        for (name, call) in [
            ("norm2", &(|| drop(ops::norm2(&x).unwrap())) as &dyn Fn()),
            ("zeros", &|| drop(Vector::zeros(dev, 100).unwrap())),
            ("read", &|| drop(x.read().unwrap())),
        ] {
            let before = saves();
            call();
            assert_eq!(saves() - before, 1, "{name}");
        }
    });
}

/// Values that cannot be set through glow and would change results: without a loader refused, with a word on what to do;
/// with one they work, as the sweeps above show, and leave no trace.
#[test]
fn what_glow_cannot_set_is_refused_without_a_loader() {
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        // SAFETY: the context is current until the test ends.
        let guest = unsafe { Device::from_glow(Arc::clone(&gl)) }.unwrap();
        let x = Vector::from_slice(&guest, &[1.0, 2.0]).unwrap();
        let own = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let refused = |what: &str| {
            let before = snapshot();
            for result in [x.read().map(|_| ()), ops::sum(&x).map(|_| ()), guest.scope().map(|_| ())] {
                let error = result.unwrap_err();
                assert!(matches!(error, Error::Unsupported { .. }), "{error}");
                for word in [what, "Device::from_loader"] {
                    assert!(error.to_string().contains(word), "{error}");
                }
            }
            assert_eq!(own.read().unwrap(), [1.0, 2.0], "{what}");
            assert_eq!(ops::sum(&own).unwrap().read().unwrap(), 3.0, "{what}");
            assert_same(&before, &snapshot(), what);
        };
        if dev.api() == texla::gl::Api::Gl33 {
            extra.clamp_color(CLAMP_READ_COLOR, 1);
            refused("GL_CLAMP_READ_COLOR");
            // No clamping at all harms nobody.
            extra.clamp_color(CLAMP_READ_COLOR, 0);
            assert_eq!(x.read().unwrap(), [1.0, 2.0]);
            extra.clamp_color(CLAMP_READ_COLOR, FIXED_ONLY);
        }
        if clip_control(&gl) {
            for (origin, depth) in
                [(UPPER_LEFT, NEGATIVE_ONE_TO_ONE), (LOWER_LEFT, ZERO_TO_ONE), (UPPER_LEFT, ZERO_TO_ONE)]
            {
                extra.clip_control(origin, depth);
                refused("glClipControl");
            }
            extra.clip_control(LOWER_LEFT, NEGATIVE_ONE_TO_ONE);
        }
        assert_eq!(x.read().unwrap(), [1.0, 2.0]);
    });
}

/// What a renderer with a reversed depth buffer sets, and what a window system with its rows upside down does: masks lie
/// in depth, and rows in their order.
#[test]
fn masks_hold_in_every_clip_space() {
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        let spaces: Vec<(u32, u32)> = [LOWER_LEFT, UPPER_LEFT]
            .into_iter()
            .flat_map(|origin| [NEGATIVE_ONE_TO_ONE, ZERO_TO_ONE].map(|depth| (origin, depth)))
            .filter(|space| clip_control(&gl) || *space == (LOWER_LEFT, NEGATIVE_ONE_TO_ONE))
            .collect();
        let llvmpipe = dev.capabilities().renderer.contains("llvmpipe");
        assert!(spaces.len() == 4 || !llvmpipe, "{spaces:x?}");
        let n = fitting(dev, 4 * 77);
        let values: Vec<f32> = (0..n).map(|i| if i < n / 3 { 1.0 } else { -1.0 }).collect();
        for (origin, depth) in spaces {
            if clip_control(&gl) {
                extra.clip_control(origin, depth);
            }
            let before = snapshot();
            let x = Vector::from_slice(dev, &values).unwrap();
            let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
            let condition = Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap();
            let mask = condition.mask(&x, [&x], &NoParams).unwrap();
            let body = "vec4 kernel(ivec2 p) { return vec4(5.0); }";
            let five = Kernel::<NoParams>::new(dev, "five", [], body).unwrap();
            let holds = |texel: usize| values[4 * texel] > 0.0;
            for (predicate, wanted) in [(Predicate::If(&mask), true), (Predicate::Unless(&mask), false)] {
                let mut out = Vector::zeros(dev, n).unwrap();
                five.with([], &NoParams).only(predicate).run(&mut out).unwrap();
                for (i, value) in out.read().unwrap().iter().enumerate() {
                    let expected = if holds(i / 4) == wanted { 5.0 } else { 0.0 };
                    assert_eq!(*value, expected, "{origin:x} {depth:x} {wanted} {i}");
                }
            }
            assert!(mask.any().unwrap());
            let count = (0..n.div_ceil(4)).filter(|t| holds(*t)).count() as u64;
            assert_eq!(mask.count().unwrap(), count);
            assert_same(&before, &snapshot(), "masks");
        }
        if clip_control(&gl) {
            extra.clip_control(LOWER_LEFT, NEGATIVE_ONE_TO_ONE);
        }
    });
}

/// The compatibility profile has state without end that changes what is drawn and moved: refused, before anything is made.
#[test]
fn the_compatibility_profile_is_refused() {
    let _context = common::egl::compatibility();
    let loader = common::egl::loader();
    // SAFETY: the context is current until the test ends, and EGL knows the functions.
    let (gl, results) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(loader.clone()));
        let by_glow = Device::from_glow(Arc::clone(&gl));
        (gl, [by_glow, Device::from_loader(loader, DeviceOptions::default())])
    };
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("core profile"), "{error}");
    }
    // SAFETY: as above.
    unsafe {
        // The driver says of itself which profile it is.
        assert_eq!(gl.get_parameter_i32(glow::CONTEXT_PROFILE_MASK), 2);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

/// The application draws from a vector's buffer and leaves it bound everywhere; then the vector goes.
#[test]
fn a_buffer_that_the_host_has_bound_may_go() {
    on_both(|dev| {
        let gl = dev.glow();
        let clean = snapshot();
        let x = BufferVector::from_slice(dev, &[1.0; 64]).unwrap();
        let targets = [glow::ARRAY_BUFFER, glow::PIXEL_PACK_BUFFER, glow::PIXEL_UNPACK_BUFFER];
        // SAFETY: the context is current; the buffer is alive.
        unsafe {
            targets.iter().for_each(|t| gl.bind_buffer(*t, Some(x.buffer())));
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(x.buffer()));
            gl.bind_buffer_range(glow::UNIFORM_BUFFER, 1, Some(x.buffer()), 0, 64);
            gl.bind_buffer_range(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(x.buffer()), 16, 32);
        }
        let bound = snapshot();
        let run = || {
            let _scope = dev.scope().unwrap();
            captures(dev, &mut |_, call| call());
            refused_captures(dev, &mut |_, call| call());
        };
        run();
        assert_same(&bound, &snapshot(), "working");
        {
            // Deleted while the bindings to it are put aside.
            let _scope = dev.scope().unwrap();
            run();
            drop(x);
            dev.trim().unwrap();
        }
        assert_same(&clean, &snapshot(), "after its deletion");
        run();
    });
}

/// True in a process of the test's own, in which Mesa offers GL 3.3 and ES 3.1 and has these variables, of which it reads
/// each once; else runs that process, and the test is done.
fn alone_with(test: &str, variables: &[(&str, &str)]) -> bool {
    const CHILD: &str = "TEXLA_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let versions = [
        ("MESA_GL_VERSION_OVERRIDE", "3.3"),
        ("MESA_GLSL_VERSION_OVERRIDE", "330"),
        ("MESA_GLES_VERSION_OVERRIDE", "3.1"),
    ];
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .envs(versions.iter().chain(variables).copied())
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
}

/// Before GL 4.0 and ES 3.2 draw buffers may blend apart by an extension that texla cannot set: alike they are put back,
/// and different ones are refused.
#[test]
fn draw_buffers_that_blend_apart_by_an_extension_are_refused() {
    if !alone_with("draw_buffers_that_blend_apart_by_an_extension_are_refused", &[]) {
        return;
    }
    on_both(|dev| {
        let gl = dev.glow();
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let several = "void kernel(ivec2 p, out vec4 a, out vec4 b) { a = x(p); b = 2.0 * a; }";
        let several = Kernel::<NoParams>::with_outputs(dev, "several", ["x"], 2, several).unwrap();
        let run = || {
            let (mut a, mut b) = (Vector::zeros(dev, 2)?, Vector::zeros(dev, 2)?);
            several.with([&x], &NoParams).accumulate(Accum::Add).run_many([&mut a, &mut b])?;
            b.read()
        };
        assert_eq!(run().unwrap(), [2.0, 4.0]);
        // SAFETY: the context is current.
        unsafe {
            gl.blend_func_separate(glow::SRC_ALPHA, glow::ONE_MINUS_SRC1_COLOR, glow::SRC1_ALPHA, glow::ZERO);
            gl.blend_equation_separate(glow::FUNC_SUBTRACT, glow::MAX);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        let before = snapshot();
        assert_eq!(run().unwrap(), [2.0, 4.0]);
        assert_same(&before, &snapshot(), "draw buffers alike");
        assert!(blends_apart(&gl));
        // SAFETY: as above.
        unsafe {
            gl.blend_func_draw_buffer(1, glow::DST_COLOR, glow::ONE);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        let before = snapshot();
        if since(&gl, (4, 0), (3, 2)) {
            assert_eq!(run().unwrap(), [2.0, 4.0]);
        } else {
            let error = run().unwrap_err();
            assert!(
                matches!(&error, Error::Unsupported { what, .. } if what.contains("draw buffer")),
                "{error}"
            );
        }
        assert_same(&before, &snapshot(), "draw buffers apart");
        // SAFETY: as above.
        unsafe {
            gl.blend_func(glow::ONE, glow::ZERO);
            gl.blend_equation(glow::FUNC_ADD);
        }
        assert_eq!(run().unwrap(), [2.0, 4.0]);
    });
}

/// Several viewports before GL 4.1: an extension brings them, and the host's others stay as they are.
#[test]
fn viewports_by_an_extension_are_left_alone() {
    if !alone_with("viewports_by_an_extension_are_left_alone", &[]) {
        return;
    }
    on_both(|dev| {
        let host = Host::new(dev.glow());
        let of_viewports = |h: &&Hostile| {
            ["viewport", "depth range", "scissor"].iter().any(|word| h.name.contains(word)) && h.exists(&host)
        };
        let hostile: Vec<_> = HOSTILE.iter().filter(of_viewports).collect();
        if dev.api() == texla::gl::Api::Gl33 && dev.capabilities().renderer.contains("llvmpipe") {
            assert!(!since(&host.gl, (4, 1), (9, 9)) && hostile.len() >= 6, "{} values", hostile.len());
        }
        hostile.iter().for_each(|h| h.set(&host));
        let before = host.snapshot();
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 14.0);
        assert_same(&before, &host.snapshot(), "a dot product");
        hostile.iter().rev().for_each(|h| h.unset(&host));
    });
}

/// GL 3.3 without ARB_transform_feedback2 has one binding for feedback, the host's: it is put back, and a feedback under
/// way is in the way. Mesa takes extensions away by a variable that it reads once, so this is a process of its own.
#[test]
fn without_feedback_objects_the_one_binding_comes_back() {
    let test = "without_feedback_objects_the_one_binding_comes_back";
    if !alone_with(test, &[("MESA_EXTENSION_OVERRIDE", "-GL_ARB_transform_feedback2")]) {
        return;
    }
    let context = common::harness::headless(texla::gl::Api::Gl33);
    let dev = context.device();
    let mesa = dev.capabilities().renderer.contains("llvmpipe");
    assert!(!mesa || dev.live_objects().transform_feedbacks == 0, "the extension is still there");
    let clean = captures(dev, &mut |_, call| call());
    let host = Host::new(dev.glow());
    for name in ["uniform buffers at indices", "transform feedback buffers at indices", "uniform buffer"] {
        HOSTILE.iter().find(|h| h.name == name).unwrap().set(&host);
    }
    let before = host.snapshot();
    let bits = captures(dev, &mut |name, call| {
        call();
        assert_same(&before, &host.snapshot(), name);
    });
    assert!(bits == clean, "hostile bindings change results");
    let mut y = BufferVector::zeros(dev, 4).unwrap();
    let body = "void kernel(int vertex) { y[0] = vec4(1.0); }";
    let one = VertexKernel::<NoParams>::new(dev, "one", [], 1, body).unwrap();
    host.begin_feedback();
    if mesa {
        let error = one.run(&mut y, 0, [], &NoParams).unwrap_err();
        assert!(matches!(&error, Error::Unsupported { what, .. } if what.contains("feedback")), "{error}");
    }
    host.end_feedback();
    one.run(&mut y, 0, [], &NoParams).unwrap();
    assert_eq!(y.read().unwrap(), [1.0; 4]);
}

/// GL takes no names of outputs while a feedback of the object that is bound is under way, be it paused: a program is linked with
/// texla's own bound.
#[test]
fn kernels_of_vertices_are_made_while_a_feedback_is_under_way() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        host.begin_feedback();
        let before = host.snapshot();
        let body = "void kernel(int vertex) { y[0] = vec4(3.0, 5.0, 7.0, float(vertex)); }";
        let four = VertexKernel::<NoParams>::new(dev, "four", [], 1, body).unwrap();
        assert_same(&before, &host.snapshot(), "a kernel that is made");
        let mut y = BufferVector::zeros(dev, 4).unwrap();
        four.run(&mut y, 0, [], &NoParams).unwrap();
        assert_same(&before, &host.snapshot(), "a kernel that runs");
        host.end_feedback();
        assert_eq!(y.read().unwrap(), [3.0, 5.0, 7.0, 0.0]);
    });
}
