//! Results that leave their context: finished when the other context has waited for the device's fence.
#![allow(unsafe_code)]

mod common;

use common::egl::core;
use common::hand_over::{ELEMENTS, Reader, SIDE, guest, unfinished, work};
use common::harness::{alone, on_both};
use common::loader::{self, Entry};
use glow::HasContext;
use glutin::prelude::*;
use texla::gl::Api;
use texla::{Device, DeviceOptions, Vector};

/// By hand: the fence is signalled by and by without another call, and is the host's to delete.
#[test]
fn a_fence_is_flushed_and_counted_nowhere() {
    on_both(|dev| {
        let mut x = Vector::zeros(dev, ELEMENTS).unwrap();
        work(&mut x, 3.0);
        let kept = |dev: &Device| {
            dev.trim().unwrap(); // of the fences that texla may keep for itself
            dev.live_objects().fences
        };
        let before = kept(dev);
        let fence = dev.fence().unwrap();
        assert_eq!(kept(dev), before);
        let gl = dev.glow();
        // SAFETY: the context is current. No flag asks for a flush: there has been one.
        unsafe {
            let waited = (0..1000)
                .map(|_| gl.client_wait_sync(fence, 0, 10_000_000))
                .find(|s| *s != glow::TIMEOUT_EXPIRED);
            assert!(matches!(waited, Some(glow::ALREADY_SIGNALED | glow::CONDITION_SATISFIED)), "{waited:?}");
            gl.delete_sync(fence);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
    });
}

/// Mesa flushes when it makes a fence; others wait for the call.
#[test]
fn a_fence_takes_a_flush() {
    let _alone = alone();
    for api in Api::ALL {
        let ours = core(api, None);
        // SAFETY: the context is current until the device has gone.
        let dev = unsafe { Device::from_loader(loader::loader(), DeviceOptions::default()) }.unwrap();
        loader::heal(); // and count from here
        // SAFETY: as above; the fence is the caller's.
        unsafe { dev.glow().delete_sync(dev.fence().unwrap()) };
        let [fences, flushes] = [Entry::glFenceSync, Entry::glFlush].map(loader::calls);
        assert!(fences > 0 && flushes == 1, "{fences} fences, {flushes} flushes");
        drop((dev, ours));
    }
}

/// Two contexts on one thread that share their objects.
#[test]
fn another_context_on_the_thread_waits() {
    let _alone = alone();
    for api in Api::ALL {
        let theirs = core(api, None);
        let reader = Reader::new();
        let ours = core(api, Some(&theirs));
        let dev = guest();
        let mut x = Vector::zeros(&dev, ELEMENTS).unwrap();
        assert_eq!((x.extent().width, x.extent().height), (SIDE as u32, SIDE as u32));
        for i in 1..20 {
            ours.make_current_surfaceless().unwrap();
            work(&mut x, i as f32);
            let (name, fence) = (x.texture().0.get(), dev.fence().unwrap().0 as usize);
            theirs.make_current_surfaceless().unwrap();
            assert_eq!(reader.wrong(name, fence, i as f32), 0, "{api}, {i}");
        }
        ours.make_current_surfaceless().unwrap();
        drop((x, dev));
    }
}

/// A worker computes, this thread looks: none of the results is unfinished.
#[test]
fn another_thread_waits() {
    for api in Api::ALL {
        assert_eq!(unfinished(api, 300), 0, "{api}: of 300 results");
    }
}
