//! Results that leave their context: a worker's device computes, another thread's context looks.
#![allow(unsafe_code)]

use std::sync::mpsc::{Receiver, Sender, channel};

use glow::HasContext;
use glutin::prelude::*;
use texla::gl::Api;
use texla::{Device, DeviceOptions, Vector, ops};

use super::busy::beside_busy_cores;
use super::egl::{core, loader};
use super::harness::{alone, limits};

pub const ELEMENTS: usize = 4096;
/// Texels of such a vector in each direction.
pub const SIDE: usize = 32;

/// A device in the current context.
pub fn guest() -> Device {
    // SAFETY: the callers keep the context current until the device has gone.
    unsafe { Device::from_loader(loader(), DeviceOptions::default().with_limits(limits())) }.unwrap()
}

/// Work of a few draws that ends in as many numbers of this value. No texture held it before the last draw.
pub fn work(x: &mut Vector, value: f32) {
    ops::fill(x, value).unwrap();
    for factor in [[2.0; 20], [0.5; 20]].concat() {
        ops::scale(x, factor).unwrap();
    }
}

/// Another context's view of textures, through a framebuffer of its own.
pub struct Reader {
    gl: glow::Context,
    framebuffer: glow::NativeFramebuffer,
}

impl Reader {
    /// In the context that is current.
    pub fn new() -> Self {
        // SAFETY: the caller's context is current.
        unsafe {
            let gl = glow::Context::from_loader_function(loader());
            let framebuffer = gl.create_framebuffer().unwrap();
            Reader { gl, framebuffer }
        }
    }

    /// Waits, binds, reads: how many numbers are not this one.
    pub fn wrong(&self, texture: u32, fence: usize, value: f32) -> usize {
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

/// So many results from a worker to this thread, while two more threads keep the processor busy: how many were unfinished when the
/// fence had been waited for. Two vectors take turns. The worker goes on while the first of two results is looked at, and waits
/// for the second: a driver that draws when more is asked of it would finish the first without a fence.
pub fn unfinished(api: Api, results: usize) -> usize {
    let _alone = alone();
    let theirs = core(api, None);
    let ours = core(api, Some(&theirs)).make_not_current().unwrap();
    theirs.make_current_surfaceless().unwrap();
    let reader = Reader::new();
    let (send, made): (Sender<(u32, usize)>, Receiver<_>) = channel();
    let (free, freed): (Sender<()>, Receiver<_>) = channel();
    let handed_over = || {
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let ours = ours.make_current_surfaceless().unwrap();
                let dev = guest();
                let mut pair = [0; 2].map(|_| Vector::zeros(&dev, ELEMENTS).unwrap());
                let mut read = 0;
                for i in 0..results {
                    // At least the one of two results ago has been read.
                    let needed = if i % 2 == 0 { i } else { i - 1 };
                    while read < needed && freed.recv().is_ok() {
                        read += 1;
                    }
                    if read < needed {
                        break;
                    }
                    let x = &mut pair[i % 2];
                    work(x, i as f32 + 1.0);
                    let fence = dev.fence().unwrap();
                    if send.send((x.texture().0.get(), fence.0 as usize)).is_err() {
                        break;
                    }
                }
                while freed.recv().is_ok() {}
                drop((pair, dev));
                drop(ours);
            });
            // At the end, be it by a panic, the worker ends too.
            let free = free;
            let wrong = |i: usize| {
                let (name, fence) = made.recv().unwrap();
                let wrong = reader.wrong(name, fence, i as f32 + 1.0);
                let _ = free.send(()); // nobody waits for the last ones
                wrong > 0
            };
            (0..results).filter(|i| wrong(*i)).count()
        })
    };
    beside_busy_cores(handed_over)
}
