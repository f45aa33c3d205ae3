//! Contexts that texla has to itself: nothing is saved, nothing put back, and results have the bits that they have for a guest.
#![cfg(all(feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use glow::HasContext;

use common::everything::{Around, PARTS, captures, draws};
use common::harness::{fitting, limits, on_both};
use common::hostile::{HOSTILE, Host, Hostile};
use common::random::uniform;
use common::state::{assert_same, feedback_can_pause, snapshot};
use texla::gl::Api;
use texla::{Device, DeviceOptions, Error, Headless, HeadlessOptions, HostState, Vector, ops};

/// A context of its own.
fn owner(api: Api) -> Headless {
    let options = DeviceOptions::default().with_limits(limits()).with_host_state(HostState::Own);
    Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options)).unwrap()
}

/// One more device in the context that is current.
fn beside(dev: &Device, host_state: HostState) -> Device {
    let options = DeviceOptions::default().with_limits(limits()).with_host_state(host_state);
    // SAFETY: the context is current until the test ends.
    unsafe { Device::from_glow_with(dev.glow(), options) }.unwrap()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn saves(dev: &Device) -> u64 {
    dev.counters().state_saves
}

/// Every call, in one of the dialects by turns: by itself, within a scope, within two; and now and then everything is freed that
/// can be made again.
#[test]
fn an_owner_has_the_bits_of_a_guest() {
    on_both(|dev| {
        let here = usize::from(dev.api() == Api::ALL[1]);
        let every = |dev: &Device, around: Around<'_>| -> Vec<f32> {
            PARTS.iter().skip(here).step_by(2).flat_map(|part| part.run(dev, around)).collect()
        };
        let guest = every(dev, &mut |_, call| call());
        let own = owner(dev.api());
        let dev = own.device();
        let mut number = 0;
        let owned = every(dev, &mut |_, call| {
            number += 1;
            let open: Vec<_> = (0..number % 3).map(|_| dev.scope().unwrap()).collect();
            call();
            if number % 5 == 0 {
                dev.trim().unwrap();
            }
            drop(open);
        });
        assert!(number > 100, "{number}");
        assert!(bits(&guest) == bits(&owned));
        assert_eq!(saves(dev), 1);
    });
}

/// Whatever others have set, once they say so; and nothing that they had comes back.
#[test]
fn an_owner_sets_all_that_it_needs() {
    on_both(|dev| {
        let some = |dev: &Device| {
            let mut results = draws(dev, &mut |_, call| call());
            results.extend(captures(dev, &mut |_, call| call()));
            let x = Vector::from_slice(dev, &uniform(1, fitting(dev, 1237))).unwrap();
            let mut y = Vector::zeros(dev, x.len()).unwrap();
            ops::add(&mut y, &x, &x).unwrap();
            results.push(ops::dot(&x, &y).unwrap().read().unwrap());
            results.extend(y.read().unwrap());
            results
        };
        let guest = some(dev);
        let own = owner(dev.api());
        let dev = own.device();
        let host = Host::new(dev.glow());
        // A feedback under way is for the application to end.
        let hostile = HOSTILE.iter().filter(|h| h.exists(&host) && h.name != "active transform feedback");
        let mut hostile: Vec<_> = hostile.collect();
        assert!(hostile.len() > 40, "{}", hostile.len());
        // In either order, since some of them undo others.
        for _ in 0..2 {
            hostile.reverse();
            hostile.iter().for_each(|h| h.set(&host));
            let before = (saves(dev), host.snapshot());
            dev.reset_state();
            let saved = saves(dev);
            if bits(&guest) != bits(&some(dev)) {
                // Which of them it is.
                let alone = |h: &&&Hostile| {
                    hostile.iter().rev().for_each(|h| h.unset(&host));
                    h.set(&host);
                    dev.reset_state();
                    bits(&guest) != bits(&some(dev))
                };
                let guilty: Vec<_> = hostile.iter().filter(alone).map(|h| h.name).collect();
                panic!("other results with all; alone with {guilty:?}");
            }
            assert_eq!((saved, saves(dev)), (before.0, before.0 + 1));
            assert!(host.snapshot() != before.1);
        }
        hostile.iter().rev().for_each(|h| h.unset(&host));
        // One that the application has paused is no place to capture into; what it has captured stays its own.
        let gl = dev.glow();
        if !feedback_can_pause(&gl) {
            return;
        }
        // SAFETY: the context is current; what is begun is ended.
        unsafe {
            let feedback = gl.create_transform_feedback().unwrap();
            let bind = |it| gl.bind_transform_feedback(glow::TRANSFORM_FEEDBACK, it);
            bind(Some(feedback));
            host.begin_feedback();
            gl.pause_transform_feedback();
            dev.reset_state();
            assert!(bits(&guest) == bits(&some(dev)));
            bind(Some(feedback));
            host.end_feedback();
            bind(None);
            gl.delete_transform_feedback(feedback);
            dev.reset_state();
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
    });
}

/// Owners take turns in one context, a guest comes and goes between them and within; a scope of the guest's is no place for an
/// owner.
#[test]
fn an_owner_knows_other_devices() {
    on_both(|dev| {
        let own = owner(dev.api());
        let first = own.device();
        let (second, guest) = (beside(first, HostState::Own), beside(first, HostState::Keep));
        let devices = [first, &second, &guest];
        let values = uniform(2, fitting(first, 300));
        let twice: Vec<f32> = values.iter().map(|v| v + v).collect();
        let xs = devices.map(|d| Vector::from_slice(d, &values).unwrap());
        let mut ys = devices.map(|d| Vector::zeros(d, values.len()).unwrap());
        let mut call = |k: usize| {
            let x = &xs[k];
            ops::add(&mut ys[k], x, x)?;
            // Another program, and other targets.
            ops::dot(x, x)?;
            ys[k].read()
        };
        for turn in [0, 1, 0, 0, 2, 1, 1, 2, 0, 2, 2, 1, 0] {
            assert_eq!(call(turn).unwrap(), twice, "{turn}");
        }
        let scope = first.scope().unwrap();
        let before = snapshot();
        assert_eq!(call(2).unwrap(), twice);
        assert_same(&before, &snapshot(), "a guest within");
        assert_eq!(call(0).unwrap(), twice);
        assert!(matches!(call(1), Err(Error::Unsupported { .. })));
        drop(scope);
        let scope = guest.scope().unwrap();
        for owner in [0, 1] {
            assert!(matches!(call(owner), Err(Error::Unsupported { .. })));
        }
        assert_eq!(call(2).unwrap(), twice);
        drop(scope);
        for turn in [1, 0] {
            assert_eq!(call(turn).unwrap(), twice, "{turn}");
        }
        drop((xs, ys, second, guest));
        let x = Vector::from_slice(first, &values).unwrap();
        assert_eq!(x.read().unwrap(), values);
    });
}

/// What an owner has left in use when its objects go, or when it goes itself, be it in the midst of a guest's scope, is in nobody's way.
#[test]
fn what_an_owner_leaves_behind_may_go() {
    on_both(|dev| {
        let gl = dev.glow();
        let clean = || {
            // SAFETY: the context is current.
            unsafe { (gl.get_error(), gl.get_parameter_i32(glow::CURRENT_PROGRAM)) }
        };
        let x = Vector::from_slice(dev, &uniform(3, 50)).unwrap();
        let guest = || ops::dot(&x, &x).unwrap().read().unwrap();
        let expected = guest();
        let work = |own: &Device| {
            let v = Vector::filled(own, 10, 0.5).unwrap();
            assert_eq!(ops::dot(&v, &v).unwrap().read().unwrap(), 2.5);
            assert!(clean().1 > 0);
        };

        let own = beside(dev, HostState::Own);
        work(&own);
        own.trim().unwrap();
        assert_eq!(guest(), expected);
        work(&own);
        drop(own);
        assert_eq!(clean(), (glow::NO_ERROR, 0));
        assert_eq!(guest(), expected);

        // Two of them: what the first has bound to a second unit is no business of the other's, and met by the guest.
        let owners = [beside(dev, HostState::Own), beside(dev, HostState::Own)];
        let [first, second] = &owners;
        let v = Vector::filled(first, 10, 0.5).unwrap();
        let mut sum = Vector::zeros(first, 10).unwrap();
        ops::add(&mut sum, &v, &Vector::filled(first, 10, 2.0).unwrap()).unwrap();
        ops::fill(&mut Vector::zeros(second, 10).unwrap(), 1.0).unwrap();
        drop((v, sum));
        let (scope, objects) = (dev.scope().unwrap(), owners.each_ref().map(Device::ledger));
        assert_eq!(guest(), expected);
        drop(owners);
        assert_eq!(guest(), expected);
        drop(scope);
        for objects in objects {
            assert_eq!(objects.live_objects().total(), 0);
        }
        assert_eq!(clean(), (glow::NO_ERROR, 0));
        assert_eq!(guest(), expected);
    });
}
