//! texla on drivers that this machine does not have: simulated ones, in front of its own.
#![cfg(all(feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::driver::drivers::{self, OPTIONAL};
use common::driver::outcomes::{Outcomes, all, differences, options, plain};
use common::driver::{Driver, Installed, extensions};
use common::egl;
use common::everything;
use common::harness::{alone, limits};
use common::loader::TABLE;
use common::random::uniform;
use common::state::{assert_same, snapshot};
use glow::HasContext;
use texla::gl::{Api, Limits};
use texla::{Device, DeviceOptions, Error, Matrix, Result, Shape, Vector, ops};

/// Something small that draws, reduces and reads back.
fn norm(dev: &Device) -> f32 {
    ops::norm2(&Vector::filled(dev, 90, 2.0).unwrap()).unwrap().read().unwrap()
}

#[track_caller]
fn assert_same_outcomes(got: &Outcomes, expected: &Outcomes, what: &str) {
    let differences = differences(got, expected);
    assert!(differences.is_empty(), "{what}: {differences:#?}");
}

/// Runs this with a device on a driver, in a context of its own. No object may be left.
#[track_caller]
fn on<T>(api: Api, driver: Driver, test: impl FnOnce(&Installed, &Device) -> T) -> T {
    let _current = egl::core(api, None);
    on_current(driver, options(), test)
}

#[track_caller]
fn on_current<T>(driver: Driver, options: DeviceOptions, test: impl FnOnce(&Installed, &Device) -> T) -> T {
    let driver = driver.install();
    let dev = driver.device(options);
    let ledger = dev.ledger();
    let out = test(&driver, &dev);
    drop(dev);
    let left = ledger.live_objects();
    assert_eq!(left.total(), 0, "objects left: {left:?}");
    out
}

/// By hand: a driver answers for itself, by its name, its limits, and an extension with a switch and two values.
#[test]
fn a_driver_is_what_it_says() {
    let _alone = alone();
    let _current = egl::core(Api::Es30, None);
    // SAFETY: the context is current.
    let minor =
        unsafe { glow::Context::from_loader_function(egl::loader()).get_parameter_i32(glow::MINOR_VERSION) };
    let driver = Driver::new("small")
        .version(3, 1)
        .limit(glow::MAX_TEXTURE_SIZE, 2048)
        .without_extensions(["GL_EXT_float_blend"])
        .with(&extensions::QCOM_ALPHA_TEST)
        .install();
    let gl = driver.glow();
    // SAFETY: the context is current.
    unsafe {
        assert!(gl.get_parameter_string(glow::RENDERER).ends_with(" (small)"));
        // Of this version, where the real driver has it.
        let shown = minor.min(1);
        assert_eq!((gl.version().major, gl.version().minor), (3, shown as u32));
        assert_eq!(gl.get_parameter_i32(glow::MINOR_VERSION), shown);
        assert_eq!(gl.get_parameter_i32(glow::MAX_TEXTURE_SIZE), 2048);
        assert!(!gl.supported_extensions().contains("GL_EXT_float_blend"));
        assert!(gl.supported_extensions().contains("GL_QCOM_alpha_test"));
        gl.enable(extensions::ALPHA_TEST_QCOM);
        assert!(gl.is_enabled(extensions::ALPHA_TEST_QCOM));
        type AlphaFunc = unsafe extern "system" fn(u32, f32);
        let alpha_func: AlphaFunc = std::mem::transmute((driver.loader())("glAlphaFuncQCOM"));
        alpha_func(glow::NEVER, 0.5);
        assert_eq!(gl.get_parameter_i32(extensions::ALPHA_TEST_FUNC_QCOM) as u32, glow::NEVER);
        assert_eq!(gl.get_parameter_f32(extensions::ALPHA_TEST_REF_QCOM), 0.5);
        assert_eq!(driver.state().len(), 3 * extensions::INDICES as usize);
        gl.clear(glow::COLOR_BUFFER_BIT);
        assert_eq!(driver.spoiled(), 0, "draws alone are tested");
        gl.draw_arrays(glow::POINTS, 0, 1);
        assert_eq!(driver.spoiled(), 1);
        gl.disable(extensions::ALPHA_TEST_QCOM);
        while gl.get_error() != glow::NO_ERROR {}
    }
    drop(driver);
    // SAFETY: as above.
    unsafe {
        assert_eq!(gl.get_parameter_i32(glow::MINOR_VERSION), minor, "the real driver's");
        assert!(!gl.is_enabled(extensions::ALPHA_TEST_QCOM));
    }
}

/// A program of this fragment shader that covers everything.
///
/// # Safety
/// The context is current.
unsafe fn program(gl: &glow::Context, api: Api, fragment: &str) -> glow::Program {
    let version =
        if api == Api::Gl33 { "#version 330 core" } else { "#version 300 es\nprecision highp float;" };
    let vertex = "void main() { gl_Position = vec4(vec2[3](vec2(-1, -1), vec2(3, -1), vec2(-1, 3))[gl_VertexID], 0, 1); }";
    // SAFETY: the caller's.
    unsafe {
        let program = gl.create_program().unwrap();
        for (kind, body) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).unwrap();
            gl.shader_source(shader, &format!("{version}\n{body}"));
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        program
    }
}

/// By hand: where the hint is not `GL_NICEST`, all of a quad have the derivatives of its first fragment.
#[test]
fn derivatives_follow_the_hint_on_i965() {
    let _alone = alone();
    for api in Api::ALL {
        let _current = egl::core(api, None);
        let driver = drivers::i965().install();
        let gl = driver.glow();
        let body = "out vec4 colour;
            void main() { float v = gl_FragCoord.x * gl_FragCoord.y; colour = vec4(dFdx(v), dFdy(v), 0, 0); }";
        // SAFETY: the context is current; there is room for what is read.
        let by_hint = unsafe {
            let program = program(&gl, api, body);
            assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
            assert_eq!(gl.get_active_uniforms(program), 0);
            gl.use_program(Some(program));
            gl.bind_vertex_array(Some(gl.create_vertex_array().unwrap()));
            let texture = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA32F, 2, 2);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(gl.create_framebuffer().unwrap()));
            let (at, kind) = (glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D);
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, kind, Some(texture), 0);
            gl.viewport(0, 0, 2, 2);
            [glow::NICEST, glow::DONT_CARE, glow::FASTEST].map(|hint| {
                gl.hint(glow::FRAGMENT_SHADER_DERIVATIVE_HINT, hint);
                gl.draw_arrays(glow::TRIANGLES, 0, 3);
                let mut read = [0.0f32; 16];
                let data = glow::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut read)));
                gl.read_pixels(0, 0, 2, 2, glow::RGBA, glow::FLOAT, data);
                assert_eq!(gl.get_error(), glow::NO_ERROR);
                [0, 4, 8, 12].map(|i| (read[i], read[i + 1]))
            })
        };
        let own = [(0.5, 0.5), (0.5, 1.5), (1.5, 0.5), (1.5, 1.5)];
        assert_eq!(by_hint, [own, [(0.5, 0.5); 4], [(0.5, 0.5); 4]], "{api}");
    }
}

/// By hand: who asks whether a program is ready hears no, and yes later; who asks for its status waits.
#[test]
fn programs_may_be_compiled_beside() {
    let _alone = alone();
    const COMPLETION_STATUS: u32 = 0x91B1;
    let time = Duration::from_millis(50);
    let _current = egl::core(Api::Es30, None);
    let driver = Driver::new("slow").compiles_beside(time).install();
    let gl = driver.glow();
    let body = "out vec4 colour; void main() { colour = vec4(1); }";
    // SAFETY: the context is current.
    unsafe {
        let begun = Instant::now();
        let program = program(&gl, Api::Es30, body);
        assert!(begun.elapsed() < time, "{:?}", begun.elapsed());
        assert_eq!(gl.get_program_parameter_i32(program, COMPLETION_STATUS), 0);
        assert!(gl.get_program_link_status(program));
        assert!(begun.elapsed() >= time, "{:?}", begun.elapsed());
        assert_eq!(gl.get_program_parameter_i32(program, COMPLETION_STATUS), 1);
    }
}

/// A driver that can do less does what one does that is asked to do no more: the same bits, the same refusals, and no draw
/// that the driver refuses.
#[test]
fn everything_on_v3d() {
    let _alone = alone();
    let _current = egl::core(Api::Es30, None);
    let least = |a: Option<u32>, b| Some(a.unwrap_or(b).min(b));
    let Limits { max_texture_size, max_draw_buffers, .. } = limits();
    let limits = limits()
        .with_max_texture_size(least(max_texture_size, 4096))
        .with_max_draw_buffers(least(max_draw_buffers, 4))
        .without_float_blend(true);
    let expected = on_current(
        // Of the same kind by its name, on which the order of sums depends.
        Driver::new("able").renderer("V3D 4.2"),
        DeviceOptions::default().with_limits(limits),
        |_, dev| all(dev, &|_| {}),
    );
    let got = on_current(drivers::v3d(), options(), |driver, dev| {
        let caps = dev.capabilities();
        assert!(!caps.float_blend && !caps.float_min_max && !caps.software, "{caps:?}");
        assert!(caps.max_texture_size <= 4096 && caps.max_draw_buffers <= 4, "{caps:?}");
        let probed = driver.refused();
        assert!(probed > 0, "blending is tried, whatever the driver says");
        all(dev, &|name| assert_eq!(driver.refused(), probed, "a draw of {name} is refused"))
    });
    assert_same_outcomes(&got, &expected, "on V3D");
    let refused: Vec<_> =
        got.iter().filter_map(|(name, got)| got.as_ref().err().map(|e| (name, e))).collect();
    eprintln!("{} of {} steps are refused", refused.len(), got.len());
    for (name, error) in &refused {
        assert!(error.starts_with("Unsupported") && error.contains("blend"), "{name}: {error}");
    }
    assert!(refused.len() < got.len() / 10, "{refused:#?}");
}

/// A host's hint, set before the device was made or after, changes no bit, and is the host's again after each call.
#[test]
fn everything_on_i965() {
    let _alone = alone();
    for (api, hints) in
        [(Api::Gl33, [glow::NICEST, glow::FASTEST]), (Api::Es30, [glow::DONT_CARE, glow::NICEST])]
    {
        let expected = plain(api);
        let _current = egl::core(api, None);
        let driver = drivers::i965().install();
        let gl = driver.glow();
        // SAFETY: the context is current.
        let hint = |hint| unsafe { gl.hint(glow::FRAGMENT_SHADER_DERIVATIVE_HINT, hint) };
        // SAFETY: as above.
        let is = || unsafe { gl.get_parameter_i32(glow::FRAGMENT_SHADER_DERIVATIVE_HINT) } as u32;
        hint(hints[0]);
        let dev = driver.device(options());
        assert!(dev.capabilities().exact_derivatives, "found out with the hint at {:#x}", hints[0]);
        assert_eq!(is(), hints[0]);
        hint(hints[1]);
        let got = all(&dev, &|name| assert_eq!(is(), hints[1], "{name}"));
        assert_same_outcomes(&got, expected, &format!("with the hint at {hints:x?}"));
    }
}

/// The default product, whose rows are summed by derivatives, is right whatever the hint.
#[test]
fn a_product_on_i965() {
    let _alone = alone();
    for api in Api::ALL {
        let product = |before, after| {
            let _current = egl::core(api, None);
            let driver = drivers::i965().install();
            let gl = driver.glow();
            // SAFETY: the context is current.
            let hint = |hint| unsafe { gl.hint(glow::FRAGMENT_SHADER_DERIVATIVE_HINT, hint) };
            hint(before);
            let dev = driver.device(options());
            let n = 256;
            let of = |seed| Matrix::from_rows(&dev, Shape::new(n, n), &uniform(seed, n * n)).unwrap();
            let mut c = Matrix::zeros(&dev, Shape::new(n, n)).unwrap();
            hint(after);
            ops::matmul(&mut c, &of(1), &of(2)).unwrap();
            c.read().unwrap()
        };
        let expected = product(glow::NICEST, glow::NICEST);
        for (before, after) in [(glow::NICEST, glow::DONT_CARE), (glow::FASTEST, glow::NICEST)] {
            let wrong = product(before, after).iter().zip(&expected).filter(|(a, b)| a != b).count();
            assert_eq!(wrong, 0, "elements of {} on {api}", expected.len());
        }
    }
}

/// In a context that raises no errors, texla makes none that it would need to hear of.
#[test]
fn everything_without_errors() {
    let _alone = alone();
    const NO_ERROR_BIT: i32 = 8;
    for api in Api::ALL {
        let expected = plain(api);
        let _current = egl::no_error(api);
        // SAFETY: the context is current as long as the device lives.
        let dev = unsafe { Device::from_loader(egl::loader(), options()) }.unwrap();
        // SAFETY: as above.
        let flags = unsafe { dev.glow().get_parameter_i32(glow::CONTEXT_FLAGS) };
        let gl = dev.glow();
        let version = gl.version();
        // OpenGL ES can be asked from 3.2 on.
        let asked = api == Api::Gl33 || (version.major, version.minor) >= (3, 2);
        assert!(!asked || flags & NO_ERROR_BIT != 0, "a context that raises errors, flags {flags:#x}");
        assert_same_outcomes(&all(&dev, &|_| {}), expected, "without errors");
    }
}

/// A context of another library's, which raises no errors, is current when a device of ours is called and when its last
/// handle drops: an error, and nothing.
#[test]
fn a_context_without_errors_beside_ours() {
    let _alone = alone();
    // Names of ours are names there too, or not.
    let ways = [
        (Api::Gl33, Api::Gl33, false),
        (Api::Gl33, Api::Gl33, true),
        (Api::Es30, Api::Es30, false),
        (Api::Es30, Api::Gl33, true),
    ];
    for (i, (api, other, objects)) in ways.iter().cycle().copied().take(4 * ways.len()).enumerate() {
        let (in_a_scope, by_loader) = (i / ways.len() % 2 == 1, i / ways.len() < 2);
        let ours = egl::core(api, None);
        // SAFETY: the device has to find out that its context is not current.
        let dev = unsafe {
            if by_loader {
                Device::from_loader(egl::loader(), options())
            } else {
                Device::from_glow_with(
                    Arc::new(glow::Context::from_loader_function(egl::loader())),
                    options(),
                )
            }
        };
        let dev = dev.unwrap();
        let x = Vector::filled(&dev, 9, 1.0).unwrap();
        let scope = in_a_scope.then(|| dev.scope().unwrap());
        let theirs = egl::no_error(other);
        // SAFETY: the context is current.
        let gl = unsafe { glow::Context::from_loader_function(egl::loader()) };
        if objects {
            // SAFETY: as above.
            unsafe {
                gl.bind_vertex_array(Some(gl.create_vertex_array().unwrap()));
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(gl.create_framebuffer().unwrap()));
                gl.bind_texture(glow::TEXTURE_2D, Some(gl.create_texture().unwrap()));
            }
        }
        // Which values there are cannot be tried out here: asking for others is no error, and anything may happen.
        let bindings = [
            glow::VERTEX_ARRAY_BINDING,
            glow::DRAW_FRAMEBUFFER_BINDING,
            glow::READ_FRAMEBUFFER_BINDING,
            glow::TEXTURE_BINDING_2D,
            glow::TEXTURE_BINDING_2D_ARRAY,
            glow::ACTIVE_TEXTURE,
            glow::ARRAY_BUFFER_BINDING,
            glow::CURRENT_PROGRAM,
        ];
        // SAFETY: the context is current.
        let state = || bindings.map(|binding| unsafe { gl.get_parameter_i32(binding) });
        let before = state();
        for done in [x.read().map(drop), ops::sum(&x).map(drop), Vector::zeros(&dev, 3).map(drop)] {
            assert!(matches!(done, Err(Error::NoContext(_))), "{done:?}");
        }
        drop((scope, x, dev));
        assert_eq!(state(), before, "what is bound in the other context");
        drop((theirs, ours));
    }
}

/// Without the functions of OpenGL 1.1 the error says where they are on Windows.
#[test]
fn a_loader_as_wgl_is() {
    let _alone = alone();
    for api in Api::ALL {
        let _current = egl::core(api, None);
        for missing in [0, 1, 2, 3, -1] {
            let driver = drivers::wgl(missing).install();
            match driver.try_device(options()) {
                Err(Error::NoContext(why)) => assert!(why.contains("opengl32.dll"), "{missing}: {why}"),
                other => panic!("{missing}: {other:?}"),
            }
        }
    }
}

/// A function that the driver lacks is refused by name, or not needed, whatever stands in the place of null; 1, 2, 3 and -1
/// are never called.
#[test]
fn functions_that_wgl_does_not_know() {
    let _alone = alone();
    let try_without = |name: &'static str, missing| {
        let driver = Driver::new(format!("{missing} for {name}"));
        let driver = driver.without_functions([name]).missing(missing).install();
        driver.try_device(options()).map(|dev| norm(&dev))
    };
    let outcome = |of: Result<f32>| of.map(f32::to_bits).map_err(|e| e.to_string());
    for api in Api::ALL {
        let _current = egl::core(api, None);
        let mut refused = 0;
        for (i, row) in TABLE.iter().enumerate() {
            let with_null = outcome(try_without(row.name, 0));
            // Those that are not refused take a whole probing: one value for each is enough.
            let values: &[isize] = match &with_null {
                Err(why) => {
                    assert!(why.contains(&format!("`{}`", row.name)), "{}: {why}", row.name);
                    refused += 1;
                    &[1, 2, 3, -1]
                }
                Ok(_) => &[[1, 2, 3, -1][i % 4]],
            };
            for missing in values {
                assert_eq!(outcome(try_without(row.name, *missing)), with_null, "{missing} for {}", row.name);
            }
        }
        assert!(refused > 100, "{refused}");
    }
}

/// State that only phones have changes no bit, and is the host's again after each call.
#[test]
fn everything_on_a_phone() {
    let _alone = alone();
    let expected = plain(Api::Es30);
    let _current = egl::core(Api::Es30, None);
    let driver = drivers::phone().install();
    drivers::set_phone(&driver);
    let before = driver.state();
    let dev = driver.device(options());
    assert_eq!(driver.state(), before, "after the device was made");
    let got = all(&dev, &|name| assert_eq!(driver.state(), before, "{name}"));
    assert_eq!(driver.spoiled(), 0, "draws without effect");
    assert_same_outcomes(&got, expected, "on a phone");
}

/// On the oldest drivers that texla takes, without any extension that it uses: the same bits, and the state is the host's.
#[test]
fn everything_on_the_oldest_drivers() {
    let _alone = alone();
    for api in Api::ALL {
        let expected = plain(api);
        on(api, drivers::oldest(api), |_, dev| {
            let before = snapshot();
            let got = all(dev, &|_| {});
            assert_same(&before, &snapshot(), "everything");
            assert_same_outcomes(&got, expected, &format!("on the oldest {api}"));
        });
    }
}

/// The same with one extension less than all.
#[test]
fn without_each_extension() {
    let _alone = alone();
    for api in Api::ALL {
        let some = |dev: &Device| {
            let mut values = everything::draws(dev, &mut |_, call| call());
            values.extend(everything::captures(dev, &mut |_, call| call()));
            values.into_iter().map(f32::to_bits).collect::<Vec<_>>()
        };
        let expected = on(api, Driver::new("whole"), |_, dev| some(dev));
        let names = drivers::used();
        assert!(names.len() > OPTIONAL.len(), "{names:?}");
        for name in &names {
            on(api, drivers::without(api, name), |driver, dev| {
                assert!(!driver.glow().supported_extensions().contains(name));
                assert!(some(dev) == expected, "without {name} on {api}");
            });
        }
    }
}

/// Where compiling takes long, results are the same, and the time is counted.
#[test]
fn slow_compilers() {
    let _alone = alone();
    let time = Duration::from_millis(1);
    for api in Api::ALL {
        let expected = on(api, Driver::new("quick"), |_, dev| norm(dev));
        for (driver, least) in [
            // Both shaders and the program, one after the other.
            (Driver::new("slow").compiles_within(time), 3 * time),
            (Driver::new("slow, beside").compiles_beside(time), time),
        ] {
            on(api, driver, |_, dev| {
                assert_eq!(norm(dev), expected);
                let counted = dev.counters();
                assert!(counted.compiles > 10, "{counted:?}");
                let programs = u32::try_from(counted.compiles).unwrap();
                assert!(counted.compile_time >= programs * least, "{counted:?}");
            });
        }
    }
}
