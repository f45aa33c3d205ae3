//! Several devices in turn on one thread.

mod common;

use common::harness::{headless, on_both};
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
