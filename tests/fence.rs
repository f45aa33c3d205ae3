//! Results that leave their context: finished when the other context has waited for the device's fence.
#![allow(unsafe_code)]

mod common;

use std::sync::mpsc::{Receiver, Sender, channel};

use common::egl::{core, loader};
use common::harness::{alone, limits, on_both};
use common::loader::Entry;
use glow::HasContext;
use glutin::prelude::*;
use texla::gl::Api;
use texla::{Device, DeviceOptions, Vector, ops};

const ELEMENTS: usize = 4096;
/// Texels of such a vector in each direction.
const SIDE: usize = 32;

fn guest() -> Device {
    // SAFETY: the callers keep the context current until the device has gone.
    unsafe { Device::from_loader(loader(), DeviceOptions::default().with_limits(limits())) }.unwrap()
}

/// Work of a few draws that ends in as many numbers of this value.
fn work(x: &mut Vector, value: f32) {
    ops::fill(x, value).unwrap();
    for _ in 0..20 {
        ops::scale(x, 2.0).unwrap();
        ops::scale(x, 0.5).unwrap();
    }
}

/// Another context's view of textures, through a framebuffer of its own.
struct Reader {
    gl: glow::Context,
    framebuffer: glow::NativeFramebuffer,
}

impl Reader {
    /// In the context that is current.
    fn new() -> Self {
        // SAFETY: the caller's context is current.
        unsafe {
            let gl = glow::Context::from_loader_function(loader());
            let framebuffer = gl.create_framebuffer().unwrap();
            Reader { gl, framebuffer }
        }
    }

    /// Waits, binds, reads: how many numbers are not this one.
    fn wrong(&self, texture: u32, fence: usize, value: f32) -> usize {
        let (gl, target) = (&self.gl, glow::FRAMEBUFFER);
        let texture = glow::NativeTexture(texture.try_into().unwrap());
        let fence = glow::NativeFence(fence as _);
        let mut found = vec![f32::NAN; ELEMENTS];
        // SAFETY: the context is current; texture and fence are of its share group, and the pixels fill the slice.
        unsafe {
            gl.wait_sync(fence, 0, glow::TIMEOUT_IGNORED);
            gl.delete_sync(fence);
            gl.bind_framebuffer(target, Some(self.framebuffer));
            gl.framebuffer_texture_2d(target, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, Some(texture), 0);
            let into = glow::PixelPackData::Slice(Some(bytemuck::cast_slice_mut(&mut found)));
            gl.read_pixels(0, 0, SIDE as i32, SIDE as i32, glow::RGBA, glow::FLOAT, into);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        found.iter().filter(|v| **v != value).count()
    }
}

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
        let dev = unsafe { Device::from_loader(common::loader::loader(), DeviceOptions::default()) }.unwrap();
        common::loader::heal(); // and count from here
        // SAFETY: as above; the fence is the caller's.
        unsafe { dev.glow().delete_sync(dev.fence().unwrap()) };
        let [fences, flushes] = [Entry::glFenceSync, Entry::glFlush].map(common::loader::calls);
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

/// A worker computes, this thread looks: none of the results is unfinished. Two vectors take turns, and the worker goes on while the
/// last result is looked at.
#[test]
fn another_thread_waits() {
    const FRAMES: usize = 300;
    let _alone = alone();
    for api in Api::ALL {
        let theirs = core(api, None);
        let ours = core(api, Some(&theirs)).make_not_current().unwrap();
        theirs.make_current_surfaceless().unwrap();
        let reader = Reader::new();
        let (send, results): (Sender<(u32, usize)>, Receiver<_>) = channel();
        let (free, freed): (Sender<()>, Receiver<_>) = channel();
        let worker = std::thread::spawn(move || {
            let ours = ours.make_current_surfaceless().unwrap();
            let dev = guest();
            let mut pair = [0; 2].map(|_| Vector::zeros(&dev, ELEMENTS).unwrap());
            for i in 0..FRAMES {
                if i >= 2 {
                    freed.recv().unwrap(); // the one of two frames ago has been read
                }
                let x = &mut pair[i % 2];
                work(x, i as f32 + 1.0);
                send.send((x.texture().0.get(), dev.fence().unwrap().0 as usize)).unwrap();
            }
            while freed.recv().is_ok() {}
            drop((pair, dev));
            drop(ours);
        });
        let mut unfinished = 0;
        for i in 0..FRAMES {
            let (name, fence) = results.recv().unwrap();
            unfinished += usize::from(reader.wrong(name, fence, i as f32 + 1.0) > 0);
            free.send(()).unwrap();
        }
        drop(free);
        worker.join().unwrap();
        assert_eq!(unfinished, 0, "{api}: of {FRAMES} results");
    }
}
