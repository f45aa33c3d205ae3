//! texla on drivers that this machine does not have: simulated ones, in front of its own.
#![allow(unsafe_code)]

mod common;

use common::driver::{Driver, extensions};
use common::harness::{alone, headless};
use glow::HasContext;
use texla::gl::Api;
use texla::{DeviceOptions, Vector, ops};

/// A simulated driver answers for itself: its name, its limits, an extension with a switch and two values.
#[test]
fn a_driver_is_what_it_says() {
    let _alone = alone();
    let _context = headless(Api::Es30);
    let driver = Driver::new("a phone")
        .version(3, 1)
        .limit(glow::MAX_TEXTURE_SIZE, 2048)
        .without_extensions(["GL_EXT_float_blend"])
        .with(&extensions::QCOM_ALPHA_TEST)
        .install();
    let gl = driver.glow();
    // SAFETY: the context is current.
    unsafe {
        assert!(gl.get_parameter_string(glow::RENDERER).ends_with(" (a phone)"));
        assert_eq!((gl.version().major, gl.version().minor), (3, 1));
        assert_eq!(gl.get_parameter_i32(glow::MINOR_VERSION), 1);
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
        assert_eq!(driver.state().len(), 3 * 16);
        gl.clear(glow::COLOR_BUFFER_BIT);
        assert_eq!(driver.spoiled(), 0, "only draws are tested");
        gl.draw_arrays(glow::POINTS, 0, 1);
        assert_eq!(driver.spoiled(), 1);
        gl.disable(extensions::ALPHA_TEST_QCOM);
        while gl.get_error() != glow::NO_ERROR {}
    }
}

#[test]
fn sums_on_a_smaller_driver() {
    for api in Api::ALL {
        let _alone = alone();
        let _context = headless(api);
        let driver = Driver::new("small").limit(glow::MAX_TEXTURE_SIZE, 2048).install();
        let dev = driver.device(DeviceOptions::default());
        assert_eq!(dev.capabilities().max_texture_size, 2048);
        let x = Vector::from_slice(&dev, &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 6.0);
    }
}
