//! Vectors: to the device and back, bit for bit, and what is refused on the way.

mod common;

use std::time::{Duration, Instant};

use common::bounds::bits;
use common::harness::{assert_padded, fitting, lengths, on_both};
use common::random::any_bits;
use texla::{Device, Error, Layout, Packed, PendingRead, Scalar, Shape, Vector};

/// The largest vector of the device.
fn largest(device: &Device) -> usize {
    fitting(device, usize::MAX)
}

/// Polls without ever waiting, for at most ten seconds.
fn polled(pending: &PendingRead) -> Vec<f32> {
    let started = Instant::now();
    loop {
        if let Some(values) = pending.poll().unwrap() {
            return values;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "the copy never arrives");
        std::thread::yield_now();
    }
}

#[test]
fn uploads_come_back_bit_for_bit() {
    on_both(|dev| {
        for n in lengths(dev, 1 << 22) {
            let values = any_bits(n as u64, n);
            let x = Vector::from_slice(dev, &values).unwrap();
            assert_eq!((x.len(), x.is_empty()), (n, n == 0));
            assert!(bits(&x.read().unwrap()) == bits(&values), "{n} elements");
            assert_padded(&x, "from_slice");
        }
    });
}

#[test]
fn single_elements_are_those_of_the_whole() {
    on_both(|dev| {
        for n in [1usize, 5, 50, 1009, 65_537] {
            let n = fitting(dev, n);
            let values = any_bits(n as u64, n);
            let x = Vector::from_slice(dev, &values).unwrap();
            for i in [0, n / 3, n / 2, n.saturating_sub(2), n - 1] {
                assert_eq!(x.element(i).unwrap().to_bits(), values[i].to_bits(), "{i} of {n}");
            }
            let e = x.element(n).unwrap_err();
            assert!(
                matches!(e, Error::IndexOutOfRange { index, bound, .. } if index == n && bound == n),
                "{e}"
            );
        }
    });
}

#[test]
fn zeros_filled_and_write_are_what_they_say() {
    on_both(|dev| {
        for n in lengths(dev, 1 << 16) {
            let mut x = Vector::zeros(dev, n).unwrap();
            assert_eq!(x.read().unwrap(), vec![0.0; n]);
            assert_padded(&x, "zeros");
            let values = any_bits(1, n);
            x.write(&values).unwrap();
            assert_eq!(bits(&x.read().unwrap()), bits(&values));
            assert_padded(&x, "write");
            x.set_zero().unwrap();
            assert_eq!(x.read().unwrap(), vec![0.0; n]);
            let x = Vector::filled(dev, n, -0.123_456_7).unwrap();
            assert_eq!(x.read().unwrap(), vec![-0.123_456_7; n]);
            assert_padded(&x, "filled");
        }
    });
}

/// A texture from the pool holds what its last user left.
#[test]
fn reused_textures_leave_no_trace() {
    on_both(|dev| {
        for n in [1usize, 5, 50, 1009] {
            drop(Vector::filled(dev, n.next_multiple_of(4), 7.0).unwrap());
            let before = dev.pool_stats();
            let x = Vector::zeros(dev, n).unwrap();
            assert_eq!(dev.pool_stats().reused, before.reused + 1, "the same extent for {n}");
            assert_eq!(x.read_texels().unwrap(), vec![0.0; x.extent().area() as usize * 4]);
        }
    });
}

#[test]
fn f64_is_rounded_once() {
    on_both(|dev| {
        let values = [0.1, -1.0 / 3.0, 16_777_217.0, 3.402_823_466e38, 1e-300, -0.0];
        let x = Vector::from_f64(dev, &values).unwrap();
        assert_eq!(bits(&x.read().unwrap()), bits(&values.map(|v| v as f32)));
    });
}

#[test]
fn read_into_fills_a_slice_of_the_right_length() {
    on_both(|dev| {
        let values = any_bits(3, 50);
        let x = Vector::from_slice(dev, &values).unwrap();
        let mut out = vec![0.0; 50];
        x.read_into(&mut out).unwrap();
        assert_eq!(bits(&out), bits(&values));
        let e = x.read_into(&mut out[..49]).unwrap_err();
        let (op, operand) = ("Vector::read_into", "out");
        assert_eq!(e, Error::LengthMismatch { op, operand, found: 49, expected: 50 });
    });
}

#[test]
fn asynchronous_reads_arrive_without_waiting() {
    on_both(|dev| {
        for n in [0, 1, 5, 1009, fitting(dev, 1 << 18)] {
            let values = any_bits(n as u64, n);
            let x = Vector::from_slice(dev, &values).unwrap();
            let before = dev.counters();
            let pending = x.read_async().unwrap();
            let arrived = polled(&pending);
            let done = dev.counters().since(&before);
            assert_eq!((done.async_checks, done.readbacks), (1, 0));
            assert_eq!(bits(&arrived), bits(&values));
            // The values stay, and waiting for them gives the same.
            assert_eq!(bits(&polled(&pending)), bits(&values));
            assert_eq!(bits(&pending.wait().unwrap()), bits(&values));
        }
    });
}

/// What is read is the vector at the time of the call, and a read that nobody asks for again leaves nothing behind.
#[test]
fn asynchronous_reads_see_no_later_work() {
    on_both(|dev| {
        let mut x = Vector::filled(dev, 1009, 1.0).unwrap();
        let pending = x.read_async().unwrap();
        drop(x.read_async().unwrap());
        x.write(&[2.0; 1009]).unwrap();
        assert_eq!(pending.wait().unwrap(), [1.0; 1009]);
        drop(x);
        assert_eq!(pending.wait().unwrap(), [1.0; 1009]);
        let s = Scalar::new(dev, 2.5).unwrap();
        assert_eq!(polled(&s.read_async().unwrap()), [2.5]);
    });
}

#[test]
fn lengths_past_the_texture_area_are_refused_before_anything_is_done() {
    on_both(|dev| {
        let limit = largest(dev);
        let before = (dev.live_objects(), dev.counters(), dev.pool_stats());
        for n in [limit + 1, 2 * limit, usize::MAX / 2, usize::MAX] {
            for make in [|d: &Device, n| Vector::zeros(d, n), |d: &Device, n| Vector::filled(d, n, 1.0)] {
                let started = Instant::now();
                let e = make(dev, n).unwrap_err();
                let took = started.elapsed();
                let (requested, limit) = (n as u64, limit as u64);
                assert_eq!(
                    e,
                    Error::TooLarge { what: "a folded vector", requested, limit, unit: "elements" }
                );
                assert!(took < Duration::from_millis(10), "refusing {n} elements took {took:?}");
            }
        }
        // The host can hold one element too many only where textures are small.
        if limit <= 1 << 22 {
            let (values, wide) = (vec![1.0; limit + 1], vec![1.0; limit + 1]);
            let started = Instant::now();
            let refused = [Vector::from_slice(dev, &values), Vector::from_f64(dev, &wide)];
            let took = started.elapsed();
            assert!(refused.iter().all(|r| matches!(r, Err(Error::TooLarge { .. }))), "{refused:?}");
            assert!(took < Duration::from_millis(10), "refusing slices took {took:?}");
        }
        assert_eq!((dev.live_objects(), dev.counters(), dev.pool_stats()), before);
    });
}

#[test]
fn the_largest_vector_can_be_made() {
    on_both(|dev| {
        // On a large device the driver may have less memory than its textures could take: then it says so.
        let n = fitting(dev, 1 << 24);
        let x = Vector::filled(dev, n, 1.0).unwrap();
        assert_eq!(texla::ops::max_element(&x).unwrap().read().unwrap(), 1.0);
    });
}

/// The finite-input rule.
#[test]
fn values_that_are_not_finite_are_refused_with_their_index() {
    let refused = |result: texla::Result<()>, what: &str, at: usize| match result {
        Err(Error::NonFinite { what: named, index, value }) => {
            assert_eq!((named.as_str(), index), (what, at));
            assert!(!(value as f32).is_finite(), "{value}");
        }
        other => panic!("{what}: {other:?}"),
    };
    on_both(|dev| {
        let before = dev.live_objects();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.5e38, -1e300] {
            let narrow = bad as f32;
            for at in [0, 1, 4, 12] {
                let mut values = vec![1.0; 13];
                values[at] = bad;
                let rounded: Vec<f32> = values.iter().map(|v| *v as f32).collect();
                refused(Vector::from_f64(dev, &values).map(drop), "Vector::from_f64", at);
                refused(Vector::from_slice(dev, &rounded).map(drop), "Vector::from_slice", at);
                let packed = Packed::from_rows(dev, Shape::new(13, 1), Layout::Column4, &rounded);
                refused(packed.map(drop), "Packed::from_rows", at);
                let mut x = Vector::filled(dev, 13, 2.0).unwrap();
                refused(x.write(&rounded), "Vector::write", at);
                assert_eq!(x.read().unwrap(), [2.0; 13], "a refused write leaves the vector as it was");
            }
            refused(Vector::filled(dev, 13, narrow).map(drop), "Vector::filled", 0);
            refused(Scalar::new(dev, narrow).map(drop), "Scalar::new", 0);
        }
        dev.trim().unwrap();
        assert_eq!(dev.live_objects().textures, before.textures);
    });
}

#[test]
fn a_number_of_values_that_does_not_fit_is_refused() {
    on_both(|dev| {
        let mut x = Vector::filled(dev, 5, 2.0).unwrap();
        for found in [0, 4, 6, 8] {
            let e = x.write(&vec![1.0; found]).unwrap_err();
            let (op, operand) = ("Vector::write", "values");
            assert_eq!(e, Error::LengthMismatch { op, operand, found, expected: 5 });
        }
        assert_eq!(x.read().unwrap(), [2.0; 5]);
    });
}
