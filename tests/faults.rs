//! What a failing driver does to texla: lack of memory, several error flags at once, a lost context. One failure is one
//! typed error or none, and the next call works.
#![cfg(all(feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use std::collections::BTreeSet;
use std::sync::Arc;

use common::everything::{captures, draws, every};
use common::harness::{headless, limits, on_both};
use common::hostile::Host;
use common::loader::Entry::{self, glBufferData, glDrawArrays, glTexImage2D};
use common::loader::sweep::{LONG, SOME, sweep};
use common::loader::{
    self, TABLE, calls, fail, fail_any, heal, left, looked, lose, numbered, pending, raise,
};
use common::state::snapshot;
use glow::{CONTEXT_LOST, INVALID_OPERATION, INVALID_VALUE, OUT_OF_MEMORY};
use texla::gl::{Api, Limits};
use texla::kernel::{Points, PointsKernel};
use texla::solve::{CgParams, ConjugateGradient};
use texla::{
    BandedMatrix, BufferVector, Device, DeviceOptions, Error, Result, SparseFormat, SparseMatrix, Vector, ops,
};

/// A guest of the current context whose driver fails to order.
fn guest_with(limits: Limits) -> Result<Device> {
    // SAFETY: the context is current while the tests hold the guest; the loader knows the functions.
    unsafe { Device::from_loader(loader::loader(), DeviceOptions::default().with_limits(limits)) }
}

fn guest() -> Device {
    heal();
    guest_with(limits()).unwrap()
}

/// Memory for a texture, memory for a buffer, a draw.
const FAIL: [Entry; 3] = [glTexImage2D, glBufferData, glDrawArrays];

/// Textures in the pool for it to let go of.
fn fill_pool(dev: &Device) {
    drop(Vector::zeros(dev, 500).unwrap());
    assert!(dev.pool_stats().free > 0);
}

/// A failure in passing makes no device that can do less, neither at once nor later: what is probed is either right or
/// not remembered.
#[test]
fn one_failure_while_probing_is_forgotten() {
    on_both(|_| {
        heal();
        let mut number = 1000;
        // Limits that no other test has, and that limit nothing.
        let mut fresh = || {
            number += 1;
            limits().with_max_texture_size(Some(64)).with_max_vertex_outputs(Some(number))
        };
        fail(glDrawArrays, 0..0, &[]);
        let clean = guest_with(fresh()).unwrap().capabilities();
        let seen = FAIL.map(calls);
        assert!(seen[0] >= 20 && seen[1] >= 3 && seen[2] >= 10, "{seen:?}");
        for (call, count) in FAIL.into_iter().zip(seen) {
            for flags in [&[OUT_OF_MEMORY][..], &[INVALID_OPERATION], &[CONTEXT_LOST]] {
                let expected = match flags {
                    [CONTEXT_LOST] => |e: &Error| *e == Error::ContextLost,
                    [OUT_OF_MEMORY] => |e: &Error| {
                        matches!(e, Error::OutOfMemory { .. } | Error::Gl { code: OUT_OF_MEMORY, .. })
                    },
                    _ => |e: &Error| matches!(e, Error::Gl { code: INVALID_OPERATION, .. }),
                };
                let (mut made, mut refused) = (0, 0);
                // Memory is what fails in passing; of the others a few, where there are many.
                let step = if flags == [OUT_OF_MEMORY] || count < 7 { 1 } else { 7 };
                for at in (0..count).step_by(step) {
                    let limits = fresh();
                    fail(call, at..at + 1, flags);
                    match guest_with(limits.clone()) {
                        Ok(dev) => {
                            // A side for which the driver lacked memory is halved: a smaller one is no wrong answer.
                            let mut found = dev.capabilities();
                            let short = found.max_texture_size < clean.max_texture_size;
                            assert_eq!(
                                found.fingerprint == 0,
                                short,
                                "what lack of memory decided is not taken back"
                            );
                            found.fingerprint = clean.fingerprint; // of other limits
                            if call == glTexImage2D && flags == [OUT_OF_MEMORY] {
                                found.max_texture_size = clean.max_texture_size;
                            }
                            assert_eq!(found, clean, "{call:?} {at}");
                            made += 1;
                        }
                        Err(e) => {
                            assert!(expected(&e), "{call:?} {at}: {e:?}");
                            refused += 1;
                        }
                    }
                    heal();
                    let next = guest_with(limits).unwrap();
                    let mut found = next.capabilities();
                    found.fingerprint = clean.fingerprint;
                    assert_eq!(found, clean, "the next device after {call:?} {at}");
                }
                assert!(refused > 0, "{call:?} {flags:?}: no failure is noticed");
                assert!(flags != [CONTEXT_LOST] || made == 0);
            }
        }
    });
}

/// What needs buffers, and the numbers that come of it.
type Case<'a> = &'a dyn Fn() -> Result<Vec<f32>>;

#[test]
fn a_driver_that_lacks_memory_for_a_buffer_is_asked_again() {
    on_both(|_| {
        let dev = guest();
        let x = Vector::from_slice(&dev, &[1.0, 2.0, 3.0]).unwrap();
        let buffer = BufferVector::zeros(&dev, 9).unwrap();
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = attribute0; }";
        let place = PointsKernel::<texla::kernel::NoParams>::new(&dev, "place", [], 1, body).unwrap();
        let csr = texla::host::problems::poisson_1d(30).to_csr();
        let cases: [(&str, Case<'_>); 6] = [
            ("BufferVector::from_slice", &|| BufferVector::from_slice(&dev, &[5.0; 7])?.read()),
            ("BufferVector::from_vector", &|| BufferVector::from_vector(&x)?.read()),
            ("Points", &|| {
                let points = Points::new(&dev, &[&[[1.0, 2.0, 3.0, 4.0]]])?;
                let mut out = Vector::zeros(&dev, 8)?;
                place.with([], &points, &texla::kernel::NoParams).run(&mut out)?;
                out.read()
            }),
            ("a matrix of points", &|| {
                let mut a = SparseMatrix::from_csr(&dev, csr.clone(), SparseFormat::Points)?;
                let mut y = Vector::zeros(&dev, 30)?;
                let ones = Vector::filled(&dev, 30, 1.0)?;
                ops::product(&mut y, ops::Combine::Replace, 1.0, &a, &ones)?;
                let twice: Vec<f64> = csr.values().iter().map(|v| 2.0 * v).collect();
                a.set_values(&twice)?;
                ops::product(&mut y, ops::Combine::Replace, 1.0, &a, &ones)?;
                y.read()
            }),
            ("read_async", &|| x.read_async()?.wait()),
            ("read_async of a scalar", &|| ops::sum(&x)?.read_async()?.wait()),
        ];
        for (name, case) in cases {
            fail(glBufferData, 0..0, &[]);
            let clean = case().unwrap();
            let buffers = calls(glBufferData);
            assert!(buffers > 0, "{name}");
            // Two flags of one fault, as drivers with several raise them.
            for flags in
                [&[OUT_OF_MEMORY][..], &[INVALID_OPERATION, OUT_OF_MEMORY], &[OUT_OF_MEMORY, INVALID_VALUE]]
            {
                for at in 0..buffers {
                    fill_pool(&dev);
                    fail(glBufferData, at..at + 1, flags);
                    let found = case().unwrap_or_else(|e| panic!("{name}, buffer {at}, {flags:x?}: {e:?}"));
                    assert_eq!(found, clean, "{name}, buffer {at}");
                    assert_eq!(pending(), 0);
                    fill_pool(&dev);
                    fail(glBufferData, at..u32::MAX, flags);
                    let live = dev.live_objects().buffers;
                    let error = case().unwrap_err();
                    assert!(matches!(error, Error::OutOfMemory { .. }), "{name}, buffer {at}: {error:?}");
                    heal();
                    drop(dev.scope().unwrap());
                    assert_eq!(dev.live_objects().buffers, live, "{name}");
                    assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 6.0, "the next call works");
                }
            }
        }
        assert_eq!(buffer.read().unwrap(), [0.0; 9]);
    });
}

/// The looks of a solver are asynchronous readbacks, each with a buffer.
#[test]
fn a_solver_whose_looks_lack_memory_goes_on() {
    on_both(|_| {
        let dev = guest();
        let a = BandedMatrix::poisson_2d(&dev, 9, 7).unwrap();
        let b = Vector::filled(&dev, 63, 1.0).unwrap();
        let solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        let solve = || {
            let mut x = Vector::zeros(&dev, 63)?;
            let report = solver.solve(&mut x, &b)?;
            assert!(report.converged());
            x.read()
        };
        fail(glBufferData, 0..0, &[]);
        let clean = solve().unwrap();
        let looks = calls(glBufferData);
        assert!(looks > 0);
        for at in 0..looks {
            fail(glBufferData, at..at + 1, &[OUT_OF_MEMORY]);
            assert_eq!(solve().unwrap(), clean, "look {at}");
            fail(glBufferData, at..u32::MAX, &[OUT_OF_MEMORY, INVALID_OPERATION]);
            let solved = solve();
            // How often a solver looks is a matter of time on a device that works by itself.
            if calls(glBufferData) > at {
                let error = solved.unwrap_err();
                assert!(matches!(error, Error::OutOfMemory { .. }), "{error:?}");
            } else {
                assert!(at > 0 && solved.unwrap() == clean, "look {at}");
            }
            heal();
        }
        assert_eq!(solve().unwrap(), clean);
    });
}

/// All flags of one fault go with it: the next call does not find one and blame the application.
#[test]
fn several_flags_are_one_error() {
    on_both(|_| {
        let dev = guest();
        let x = Vector::from_slice(&dev, &[1.0, 2.0]).unwrap();
        let mut y = Vector::zeros(&dev, 2).unwrap();
        fail(glDrawArrays, 0..1, &[INVALID_OPERATION, INVALID_VALUE, INVALID_OPERATION]);
        let error = ops::add(&mut y, &x, &x).unwrap_err();
        assert!(matches!(error, Error::Gl { code: INVALID_OPERATION, .. }), "{error:?}");
        ops::add(&mut y, &x, &x).unwrap();
        assert_eq!(y.read().unwrap(), [2.0, 4.0]);
        // The application's, too, are reported once and cleared.
        raise(&[INVALID_VALUE, INVALID_OPERATION]);
        assert_eq!(ops::add(&mut y, &x, &x), Err(Error::HostGl { code: INVALID_VALUE }));
        ops::add(&mut y, &x, &x).unwrap();
        raise(&[INVALID_VALUE, INVALID_OPERATION]);
        assert_eq!(guest_with(limits()).map(|_| ()), Err(Error::HostGl { code: INVALID_VALUE }));
        drop(guest_with(limits()).unwrap());
    });
}

/// A context that is lost says so, be it before the device is made, while it is made, or later.
#[test]
fn a_lost_context_is_not_the_hosts_error() {
    on_both(|_| {
        heal();
        // SAFETY: the context is current.
        let gl = Arc::new(unsafe { glow::Context::from_loader_function(loader::loader()) });
        lose();
        assert_eq!(guest_with(limits()).map(|_| ()), Err(Error::ContextLost), "by the loader");
        // SAFETY: as above.
        let made = unsafe { Device::from_glow(Arc::clone(&gl)) };
        assert_eq!(made.map(|_| ()), Err(Error::ContextLost), "by glow");
        heal();
        let dev = guest();
        let x = Vector::from_slice(&dev, &[1.0, 2.0]).unwrap();
        fail(glDrawArrays, 0..1, &[INVALID_OPERATION, CONTEXT_LOST]);
        assert_eq!(ops::sum(&x).map(|_| ()), Err(Error::ContextLost));
        assert_eq!(x.read().map(|_| ()), Err(Error::ContextLost));
        heal();
        assert_eq!(x.read().map(|_| ()), Err(Error::ContextLost), "from then on");
    });
}

/// A device that cannot be made leaves nothing behind, and the next one is there: whichever call fails, once or from then on.
/// What it can do is known here: probing has a test of its own.
#[test]
fn a_device_that_cannot_be_made_leaves_nothing() {
    on_both(|_| {
        loader::begin();
        drop(guest());
        fail_any(0..0);
        drop(guest_with(limits()).unwrap());
        let fallible = numbered();
        assert!(fallible >= 3, "a vertex array and samplers are made");
        let mut refused = 0;
        for range in (0..fallible).flat_map(|n| [n..n + 1, n..u32::MAX]) {
            fail_any(range.clone());
            let made = guest_with(limits()).map(drop);
            heal();
            match made {
                Ok(()) => {}
                Err(Error::NoContext(_)) => refused += 1,
                Err(e) => panic!("{range:?}: {e}"),
            }
            assert_eq!(left(), Default::default(), "{range:?}: left, and deleted of others");
            assert_eq!(guest_with(limits()).map(drop), Ok(()), "{range:?}: the next one");
        }
        assert!(refused >= 6, "{refused} of {fallible}");
    });
}

/// Each function changes what the table of all says, and no other is called.
#[test]
fn every_call_of_gl_is_known() {
    let mut called = BTreeSet::new();
    let mut unknown = Vec::new();
    for api in Api::ALL {
        let context = headless(api);
        loader::begin();
        let dev = guest();
        let host = Host::new(context.glow());
        host.set_all();
        loader::look(|| {
            let before = snapshot();
            Box::new(move || before.changes(&snapshot()).into_iter().map(|(_, number)| number).collect())
        });
        every(&dev, &mut |_, call| call());
        drop(dev);
        host.unset_all();
        for (entry, changed) in looked() {
            let allowed = TABLE[entry as usize].changes;
            let more: Vec<u32> = changed.into_iter().filter(|n| !allowed.contains(n)).collect();
            if !more.is_empty() {
                unknown.push(format!("{entry:?} changes {more:x?}, too"));
            }
        }
        called.extend(loader::called());
        assert_eq!(left(), Default::default(), "left, and deleted of others");
        drop(context);
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
    // What is left is for other versions and extensions, and for shaders that are wrong.
    eprintln!("{} of {} functions called", called.len(), TABLE.len());
    assert!(called.len() >= 110, "{called:?}");
}

/// Whatever fails, in whatever operation: an error that says so or the right result, nothing left behind, and the next
/// call works. One place in so many; every call that can fail by `make soak`.
#[test]
fn whatever_fails_is_an_error_and_nothing_more() {
    for api in Api::ALL {
        let found = sweep(api, SOME);
        eprintln!("{api}: {found:?}");
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
        assert!(found.steps >= 30 && found.errors >= 150 && found.losses >= 20, "{found:?}");
    }
}

#[test]
#[ignore = "hours"]
fn whatever_fails_anywhere_is_an_error_and_nothing_more() {
    for api in Api::ALL {
        let found = sweep(api, LONG);
        eprintln!("{api}: {found:?}");
        assert!(found.broken.is_empty(), "{:#?}", found.broken);
    }
}

/// A loader that gives null for one function: an error that names it, or a device that never calls it.
#[test]
fn functions_that_a_loader_does_not_know() {
    for api in Api::ALL {
        let context = headless(api);
        let norm = |dev: &Device| ops::norm2(&Vector::filled(dev, 90, 2.0)?)?.read();
        let expected = norm(context.device());
        let mut refused = 0;
        for row in TABLE {
            let loader = common::egl::loader();
            let unknown = move |name: &str| if name == row.name { std::ptr::null() } else { loader(name) };
            // SAFETY: the context is current, and EGL knows the functions.
            match unsafe { Device::from_loader(unknown, DeviceOptions::default().with_limits(limits())) } {
                Err(Error::NoContext(why)) => {
                    assert!(why.contains(&format!("`{}`", row.name)), "{}: {why}", row.name);
                    refused += 1;
                }
                other => {
                    let dev = other.unwrap();
                    assert_eq!(norm(&dev), expected, "{}", row.name);
                    captures(&dev, &mut |_, call| call());
                    draws(&dev, &mut |_, call| call());
                }
            }
        }
        assert!(refused > 100 && refused < TABLE.len(), "{refused} of {}", TABLE.len());
    }
}
