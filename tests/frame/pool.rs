//! The memory manager, seen from outside: work that is repeated creates nothing.

use crate::common::forms::{all_forms, full};
use crate::common::harness::{headless_with, limits, on_both};
use crate::common::random;
use texla::gl::Api;
use texla::ops::{self, Combine};
use texla::solve::{CgParams, Cgls, CglsParams, ConjugateGradient, Stop};
use texla::{Device, Plane, Scalar, Vector};

/// Runs `round` four times; the last two create nothing, and leave as much in use and waiting as they found.
fn repeats(device: &Device, what: &str, round: &dyn Fn()) {
    round();
    round();
    let before = device.pool_stats();
    round();
    round();
    let after = device.pool_stats();
    assert_eq!(after.allocated, before.allocated, "{what} creates textures in every round");
    assert_eq!(after.allocated_bytes, before.allocated_bytes, "{what}");
    assert!(after.reused > before.reused && after.reused_bytes > before.reused_bytes, "{what} reuses none");
    let kept =
        |s: texla::kernel::PoolStats| (s.live, s.live_bytes, s.free, s.free_bytes, s.peak, s.peak_bytes);
    assert_eq!(kept(after), kept(before), "{what}");
}

#[test]
fn repeated_work_creates_nothing() {
    on_both(|device| {
        let n = 60;
        let a = crate::common::systems::csr(&random::spd(1, n, 0.3));
        let x = Vector::from_slice(device, &random::uniform(1, n)).unwrap();
        let b = Vector::from_slice(device, &random::nonzero(2, n)).unwrap();
        repeats(device, "norm2", &|| drop(ops::norm2(&x).unwrap()));
        repeats(device, "vectors", &|| {
            let mut y = Vector::zeros(device, n).unwrap();
            ops::accumulate_scaled(&mut y, 2.0, &x).unwrap();
            ops::scale_and_add(&mut y, 2.0, &b).unwrap();
        });
        repeats(device, "planes", &|| {
            let mut plane = Plane::zeros(device, 10, 6).unwrap();
            ops::vector_to_plane(&mut plane, &x).unwrap();
        });
        for (name, form) in all_forms(device, &a) {
            repeats(device, &format!("products, {name}"), &|| {
                let mut y = Vector::zeros(device, n).unwrap();
                ops::product(&mut y, Combine::Accumulate, 1.0, form.as_ref(), &x).unwrap();
                ops::product_transposed(&mut y, Combine::Multiply(&b), 1.0, form.as_ref(), &x).unwrap();
            });
            repeats(device, &format!("conjugate gradients, {name}"), &|| {
                let params = CgParams::default().with_stop(Stop::relative(1e-5));
                let mut y = Vector::zeros(device, n).unwrap();
                ConjugateGradient::new(form.as_ref(), params).unwrap().solve(&mut y, &b).unwrap();
            });
            repeats(device, &format!("least squares, {name}"), &|| {
                let params = CglsParams::default().with_max_iters(5);
                let mut y = Vector::zeros(device, n).unwrap();
                Cgls::new(form.as_ref(), params).unwrap().solve(&mut y, &b).unwrap();
            });
        }
    });
}

/// Figures to the byte, and that `trim` and the budget are the two ways out.
#[test]
fn numbers_are_those_of_the_textures() {
    for api in Api::ALL {
        let context = headless_with(api, limits());
        let device = context.device();
        let start = device.pool_stats();
        assert_eq!((start.live, start.free, start.peak, start.reused), (0, 0, 0, 0));
        let x = Vector::zeros(device, 1000).unwrap(); // 16 x 16 texels
        let plane = Plane::zeros(device, 20, 10).unwrap(); // 4 bytes a texel
        let s = Scalar::new(device, 1.0).unwrap();
        let stats = device.pool_stats();
        assert_eq!((stats.live, stats.live_bytes), (3, 4096 + 800 + 16));
        assert_eq!((stats.allocated, stats.allocated_bytes), (3, stats.live_bytes));
        assert_eq!((stats.peak, stats.peak_bytes), (3, stats.live_bytes));
        drop((x, s));
        let stats = device.pool_stats();
        assert_eq!((stats.live, stats.live_bytes, stats.free, stats.free_bytes), (1, 800, 2, 4112));
        // Another format and another extent find nothing that fits.
        let other = (Plane::zeros(device, 16, 16).unwrap(), Vector::zeros(device, 100).unwrap());
        assert_eq!((device.pool_stats().reused, device.pool_stats().allocated), (0, 5));
        drop(other);
        let again = Vector::zeros(device, 999).unwrap();
        let stats = device.pool_stats();
        assert_eq!((stats.reused, stats.reused_bytes, stats.allocated), (1, 4096, 5));
        assert_eq!(stats.peak, 3, "the peak is of what was in use at once");
        device.trim().unwrap();
        assert_eq!((device.pool_stats().free, device.pool_stats().free_bytes), (0, 0));
        assert_eq!(device.live_objects().textures, 2);
        drop((again, plane));
    }
}

/// A stack of columns and its products hold no more than the matrix and vectors need.
#[test]
fn a_product_needs_little_besides_its_operands() {
    on_both(|device| {
        let n = 200;
        let a = crate::common::forms::stack(device, &full(n, n, &random::nonzero(1, n * n)));
        let x = Vector::filled(device, n, 1.0).unwrap();
        let mut y = Vector::zeros(device, n).unwrap();
        let held = device.pool_stats().live;
        ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
        assert_eq!(device.pool_stats().live, held);
    });
}
