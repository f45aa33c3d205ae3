//! Several devices in turn on one thread.
#![allow(unsafe_code)]

mod common;

use common::egl::{compatibility, loader};
use common::harness::{headless, on_both};
use glow::HasContext;
use glutin::prelude::*;
use texla::gl::Api;
use texla::kernel::{NoParams, VertexKernel};
use texla::{BufferVector, Vector, ops};

#[test]
fn devices_take_turns() {
    on_both(|dev| {
        for api in Api::ALL {
            let other = headless(api);
            let here = Vector::filled(dev, 50, 1.0).unwrap();
            let there = Vector::filled(other.device(), 50, 2.0).unwrap();
            let mut sum_here = Vector::zeros(dev, 50).unwrap();
            let mut sum_there = Vector::zeros(other.device(), 50).unwrap();
            for _ in 0..3 {
                ops::axpy(&mut sum_here, 2.0, &here, &here).unwrap();
                ops::axpy(&mut sum_there, 2.0, &there, &there).unwrap();
                assert_eq!(sum_here.read().unwrap(), [3.0; 50]);
                assert_eq!(sum_there.read().unwrap(), [6.0; 50]);
            }
        }
    });
}

/// A scope says whose state is saved, not who is spoken to.
#[test]
fn an_open_scope_does_not_hold_the_other_device_back() {
    on_both(|dev| {
        for api in Api::ALL {
            let other = headless(api);
            let scope = dev.scope().unwrap();
            let mut here = Vector::filled(dev, 50, 1.0).unwrap();
            let there = Vector::filled(other.device(), 50, 2.0).unwrap();
            assert_eq!(ops::sum(&there).unwrap().read().unwrap(), 100.0);
            ops::scale(&mut here, 3.0).unwrap();
            assert_eq!(here.read().unwrap(), [3.0; 50]);
            let both = other.device().scope().unwrap();
            ops::scale(&mut here, 3.0).unwrap();
            drop(scope);
            assert_eq!(here.read().unwrap(), [9.0; 50]);
            assert_eq!(there.read().unwrap(), [2.0; 50]);
            drop(both);
            assert_eq!(ops::sum(&there).unwrap().read().unwrap(), 100.0);
        }
    });
}

/// A context that texla knows nothing of may become current inside a scope, or none at all: each call asks the platform, and
/// so does the end of the scope. Neither context's state is lost by it.
#[test]
fn a_context_made_current_inside_a_scope_is_noticed() {
    // SAFETY: in all of these the context that `gl` belongs to is current.
    let set = |gl: &glow::Context, viewport: [i32; 4]| unsafe {
        let [x, y, w, h] = viewport;
        gl.viewport(x, y, w, h);
        gl.enable(glow::SCISSOR_TEST);
    };
    let found = |gl: &glow::Context| unsafe {
        let mut viewport = [0; 4];
        gl.get_parameter_i32_slice(glow::VIEWPORT, &mut viewport);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
        assert!(gl.is_enabled(glow::SCISSOR_TEST));
        viewport
    };
    on_both(|dev| {
        let ours = dev.glow();
        set(&ours, [7, 8, 9, 10]);
        let scope = dev.scope().unwrap();
        let mut x = Vector::filled(dev, 50, 1.0).unwrap();
        let other = compatibility();
        // SAFETY: the context is current.
        let theirs = unsafe { glow::Context::from_loader_function(loader()) };
        set(&theirs, [1, 2, 3, 4]);
        let mut expected = 1.0;
        let mut call = |what: &str| {
            expected *= 3.0;
            ops::scale(&mut x, 3.0).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(x.read().unwrap(), [expected; 50], "{what}");
            assert!(!other.is_current(), "{what}");
        };
        call("another context was current");
        call("its own was current");
        other.make_current_surfaceless().unwrap();
        assert_eq!(found(&theirs), [1, 2, 3, 4]);
        call("another context was current again");
        other.make_current_surfaceless().unwrap();
        drop(scope);
        assert!(!other.is_current());
        assert_eq!(found(&ours), [7, 8, 9, 10], "the scope's own state is put back where it was taken");
        other.make_current_surfaceless().unwrap();
        assert_eq!(found(&theirs), [1, 2, 3, 4], "and the other's is as it was");
        let scope = dev.scope().unwrap();
        other.make_current_surfaceless().unwrap();
        let none = other.make_not_current().unwrap();
        ops::scale(&mut x, 3.0).unwrap();
        assert_eq!(x.read().unwrap(), [3.0 * expected; 50], "no context was current");
        drop((scope, none));
        assert_eq!(found(&ours), [7, 8, 9, 10]);
        // SAFETY: the device's context is current.
        unsafe { ours.disable(glow::SCISSOR_TEST) };
    });
}

/// Each device captures into buffers of its own, also within the other's scope.
#[test]
fn vertex_kernels_take_turns() {
    let body = "void kernel(int vertex) { y[0] = x[0] + x[0]; }";
    on_both(|dev| {
        for api in Api::ALL {
            let other = headless(api);
            let made = [dev, other.device()].map(|dev| {
                let kernel = VertexKernel::<NoParams>::new(dev, "twice", [("x", 1)], 1, body).unwrap();
                let x = BufferVector::from_slice(dev, &[1.0; 4]).unwrap();
                (kernel, x, BufferVector::zeros(dev, 4).unwrap())
            });
            let scope = dev.scope().unwrap();
            let mut expected = 1.0;
            let mut made = made;
            for _ in 0..5 {
                expected *= 2.0;
                for (kernel, x, y) in &mut made {
                    kernel.run(y, 0, [&*x], &NoParams).unwrap();
                    assert_eq!(y.read().unwrap(), [expected; 4]);
                    std::mem::swap(x, y);
                }
            }
            drop(scope);
        }
    });
}
