//! Threads, contexts and lifetimes: what a device is bound to, and what its end leaves to others.
#![cfg(all(feature = "headless", feature = "pack", feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use common::cycles::{cycles, guest};
use common::egl::{core, loader};
use common::harness::on_both;
use common::hostile::Host;
use common::state::assert_same;
use common::threads::{each, held, told};
use glow::HasContext;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::prelude::*;
use texla::gl::Api;
use texla::solve::{CgParams, ConjugateGradient};
use texla::{BandedMatrix, Device, Error, Vector, ops};

#[test]
fn what_the_device_holds_stays_on_its_thread() {
    let each = each().map(|(_, answer)| answer);
    assert_eq!(each, [(true, true), (true, true), (false, false), (true, false), (false, true)]);
    for (name, answer) in held() {
        assert_eq!(answer, (false, false), "{name}");
    }
    for (name, answer) in told() {
        assert_eq!(answer, (true, true), "{name}");
    }
}

/// Everything that a context can hold by name, as many of each as texla may have: names begin at 1 in every context.
struct Objects {
    gl: glow::Context,
    textures: Vec<glow::NativeTexture>,
    buffers: Vec<glow::NativeBuffer>,
    programs: Vec<glow::NativeProgram>,
    framebuffers: Vec<glow::NativeFramebuffer>,
    arrays: Vec<glow::NativeVertexArray>,
    samplers: Vec<glow::NativeSampler>,
}

impl Objects {
    /// In the current context; the last vertex array stays bound.
    fn new() -> Self {
        const EACH: usize = 40;
        // SAFETY: the context is current.
        unsafe {
            let gl = glow::Context::from_loader_function(loader());
            let objects = Objects {
                textures: (0..EACH).map(|_| gl.create_texture().unwrap()).collect(),
                buffers: (0..EACH).map(|_| gl.create_buffer().unwrap()).collect(),
                programs: (0..EACH).map(|_| gl.create_program().unwrap()).collect(),
                framebuffers: (0..EACH).map(|_| gl.create_framebuffer().unwrap()).collect(),
                arrays: (0..EACH).map(|_| gl.create_vertex_array().unwrap()).collect(),
                samplers: (0..EACH).map(|_| gl.create_sampler().unwrap()).collect(),
                gl,
            };
            objects.touch();
            objects.assert_there("made");
            objects
        }
    }

    /// Binds each: a name stands for an object from then on, and that raises an error once it is deleted.
    unsafe fn touch(&self) {
        let gl = &self.gl;
        // SAFETY: the caller's: the context is current.
        unsafe {
            self.textures.iter().for_each(|t| gl.bind_texture(glow::TEXTURE_2D, Some(*t)));
            self.buffers.iter().for_each(|b| gl.bind_buffer(glow::ARRAY_BUFFER, Some(*b)));
            self.framebuffers.iter().for_each(|f| gl.bind_framebuffer(glow::FRAMEBUFFER, Some(*f)));
            self.arrays.iter().for_each(|a| gl.bind_vertex_array(Some(*a)));
            self.samplers.iter().for_each(|s| gl.bind_sampler(0, Some(*s)));
        }
    }

    fn assert_there(&self, when: &str) {
        let gl = &self.gl;
        // SAFETY: the context is current.
        unsafe {
            assert_eq!(gl.get_error(), glow::NO_ERROR, "{when}");
            let bound = gl.get_parameter_i32(glow::VERTEX_ARRAY_BINDING) as u32;
            assert_eq!(bound, self.arrays.last().unwrap().0.get(), "{when}");
            assert!(self.textures.iter().all(|t| gl.is_texture(*t)), "{when}");
            assert!(self.buffers.iter().all(|b| gl.is_buffer(*b)), "{when}");
            assert!(self.programs.iter().all(|p| gl.is_program(*p)), "{when}");
            assert!(self.framebuffers.iter().all(|f| gl.is_framebuffer(*f)), "{when}");
            self.touch();
            assert_eq!(gl.get_error(), glow::NO_ERROR, "{when}");
        }
    }
}

/// The ways in which two contexts may be related.
fn pairs(api: Api, test: impl Fn(&PossiblyCurrentContext, &PossiblyCurrentContext)) {
    for shared in [false, true] {
        let ours = core(api, None);
        let theirs = core(api, shared.then_some(&ours));
        eprintln!("shared: {shared}");
        test(&ours, &theirs);
    }
}

/// Work that leaves objects of every class.
fn work(dev: &Device) -> Vector {
    let a = BandedMatrix::poisson_2d(dev, 8, 8).unwrap();
    let b = Vector::filled(dev, 64, 1.0).unwrap();
    let mut x = Vector::zeros(dev, 64).unwrap();
    ConjugateGradient::new(&a, CgParams::default()).unwrap().solve(&mut x, &b).unwrap();
    drop(x.read_async().unwrap());
    x
}

/// Neither a call nor a drop touches another context, whose objects have the same names. What has dropped there goes at the next
/// call at home.
#[test]
fn another_context_is_left_alone() {
    on_both(|dev| {
        pairs(dev.api(), |ours, theirs| {
            ours.make_current_surfaceless().unwrap();
            let guest = guest();
            let ledger = guest.ledger();
            let mut x = work(&guest);
            let kept = Vector::filled(&guest, 5, 3.0).unwrap();
            guest.trim().unwrap();
            let before = ledger.live_objects();

            theirs.make_current_surfaceless().unwrap();
            let refused = |result: texla::Result<()>| {
                assert!(
                    matches!(&result, Err(Error::NoContext(why)) if why.contains("not the one")),
                    "{result:?}"
                );
            };
            // Where the name of its vertex array means nothing, and where it means another.
            refused(ops::scale(&mut x, 2.0));
            let objects = Objects::new();
            refused(ops::scale(&mut x, 2.0));
            refused(kept.read().map(|_| ()));
            refused(guest.scope().map(|_| ()));
            refused(guest.trim());
            objects.assert_there("after refused calls");
            drop(x);
            objects.assert_there("after a drop");
            assert_eq!(ledger.live_objects(), before);

            ours.make_current_surfaceless().unwrap();
            assert_eq!(kept.read().unwrap(), [3.0; 5]);
            guest.trim().unwrap();
            assert_eq!(ledger.live_objects(), before.with_textures(before.textures - 1));

            // A scope that ends elsewhere puts nothing back there.
            let scope = guest.scope().unwrap();
            assert_eq!(ops::sum(&kept).unwrap().read().unwrap(), 15.0);
            theirs.make_current_surfaceless().unwrap();
            // SAFETY: the context is current.
            unsafe { objects.gl.viewport(1, 2, 3, 4) };
            drop(scope);
            let mut viewport = [0; 4];
            // SAFETY: as above.
            unsafe { objects.gl.get_parameter_i32_slice(glow::VIEWPORT, &mut viewport) };
            assert_eq!(viewport, [1, 2, 3, 4]);
            objects.assert_there("after the end of a scope");

            // Nor does the end of the device: its objects stay until their context goes.
            drop((kept, guest));
            objects.assert_there("after the device");
            assert!(ledger.live_objects().total() > 0);
            ours.make_current_surfaceless().unwrap();
        });
    });
}

/// With no context at all nothing happens either, and the host's own pending error stays for the host.
#[test]
fn no_context_is_refused_and_errors_stay() {
    on_both(|dev| {
        let ours = core(dev.api(), None);
        let guest = guest();
        let x = Vector::filled(&guest, 5, 3.0).unwrap();
        let none = ours.make_not_current().unwrap();
        assert!(matches!(x.read(), Err(Error::NoContext(_))));
        let ours = none.make_current_surfaceless().unwrap();
        let gl = guest.glow();
        // SAFETY: the context is current; the call is wrong on purpose.
        unsafe { gl.active_texture(1) };
        drop((x, guest));
        // SAFETY: as above.
        assert_eq!(unsafe { gl.get_error() }, glow::INVALID_ENUM);
        drop(ours);
    });
}

/// After `abandon` no call is made: not even what would be right is deleted or put back.
#[test]
fn an_abandoned_device_is_silent() {
    on_both(|dev| {
        let ours = core(dev.api(), None);
        let guest = guest();
        let gl = guest.glow();
        let ledger = guest.ledger();
        let mut x = work(&guest);
        let [dropped, kept] = [1.0, 2.0].map(|v| Vector::filled(&guest, 5, v).unwrap());
        let names = [dropped.texture(), kept.texture(), x.texture()];
        drop(dropped);
        let pending = kept.read_async().unwrap();
        let outer = guest.scope().unwrap();
        let inner = guest.scope().unwrap();
        let clone = guest.clone();
        clone.abandon();
        assert_eq!(ledger.live_objects().total(), 0);
        assert_eq!(ops::scale(&mut x, 2.0), Err(Error::ContextLost));
        assert_eq!(ops::sum(&x).map(|_| ()), Err(Error::ContextLost));
        assert_eq!(Vector::zeros(&guest, 9).map(|_| ()), Err(Error::ContextLost));
        assert_eq!(pending.wait().map(|_| ()), Err(Error::ContextLost));
        assert_eq!(guest.trim(), Err(Error::ContextLost));
        assert_eq!(guest.scope().map(|_| ()), Err(Error::ContextLost));
        guest.abandon();
        // SAFETY: the context is current, here and below; the call is wrong on purpose: whoever asks for the error, takes it.
        unsafe {
            gl.viewport(1, 2, 3, 4);
            gl.active_texture(1);
        }
        drop((inner, outer, kept, x, guest, clone));
        let mut viewport = [0; 4];
        // SAFETY: as above.
        unsafe {
            gl.get_parameter_i32_slice(glow::VIEWPORT, &mut viewport);
            assert_eq!(viewport, [1, 2, 3, 4], "no state is put back");
            assert_eq!(gl.get_error(), glow::INVALID_ENUM, "no error is asked for");
            assert!(names.iter().all(|name| gl.is_texture(*name)), "no name is deleted");
        }
        assert_eq!(ledger.live_objects().total(), 0);
        // The context itself is as good as before.
        let fresh = self::guest();
        assert_eq!(Vector::filled(&fresh, 5, 3.0).unwrap().read().unwrap(), [3.0; 5]);
        drop(fresh);
        drop(ours);
    });
}

/// Several devices in one context, and in contexts that share objects, with scopes within scopes.
#[test]
fn devices_share_contexts() {
    on_both(|dev| {
        pairs(dev.api(), |ours, theirs| {
            ours.make_current_surfaceless().unwrap();
            let [first, second] = [guest(), guest()];
            theirs.make_current_surfaceless().unwrap();
            let third = guest();
            let ledgers = [&first, &second, &third].map(Device::ledger);
            let c = Vector::filled(&third, 50, 3.0).unwrap();
            assert!(!first.same(&second));
            ours.make_current_surfaceless().unwrap();
            let mut a = Vector::filled(&first, 50, 1.0).unwrap();
            let mut b = Vector::filled(&second, 50, 2.0).unwrap();
            assert!(matches!(ops::add(&mut a, &b, &b), Err(Error::WrongDevice { .. })));
            for k in 1..4 {
                let outer = first.scope().unwrap();
                ops::scale(&mut a, 2.0).unwrap();
                let inner = second.scope().unwrap();
                ops::scale(&mut b, 2.0).unwrap();
                drop(inner);
                ops::scale(&mut a, 2.0).unwrap();
                drop(outer);
                assert_eq!(b.read().unwrap(), [2.0 * 2f32.powi(k); 50]);
                assert_eq!(a.read().unwrap(), [4f32.powi(k); 50]);
                theirs.make_current_surfaceless().unwrap();
                assert_eq!(ops::sum(&c).unwrap().read().unwrap(), 150.0);
                ours.make_current_surfaceless().unwrap();
            }
            drop((a, first));
            assert_eq!(ledgers[0].live_objects().total(), 0);
            assert_eq!(ops::sum(&b).unwrap().read().unwrap(), 800.0);
            drop((b, second));
            assert_eq!(ledgers[1].live_objects().total(), 0);
            theirs.make_current_surfaceless().unwrap();
            assert_eq!(c.read().unwrap(), [3.0; 50]);
            drop((c, third));
            assert_eq!(ledgers[2].live_objects().total(), 0);
        });
    });
}

/// Scopes of several devices in one context that end in whatever order: what the application has set is there when the last
/// of them has ended, and a device within whose scope another one is at work is not to be called.
#[test]
fn scopes_of_devices_in_one_context_end_in_any_order() {
    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    on_both(|dev| {
        pairs(dev.api(), |ours, theirs| {
            theirs.make_current_surfaceless().unwrap();
            let other = guest();
            ours.make_current_surfaceless().unwrap();
            let devices = [guest(), guest(), guest()];
            let host = Host::new(devices[0].glow());
            host.set_all();
            let before = host.snapshot();
            let mut vectors = devices.each_ref().map(|d| Vector::filled(d, 50, 1.0).unwrap());
            for order in ORDERS {
                let mut scopes = devices.each_ref().map(|d| Some(d.scope().unwrap()));
                let mut open = [true; 3];
                for ends in order {
                    for (k, y) in vectors.iter_mut().enumerate() {
                        // All that has ended, or in whose scope another one lies that has not, has to wait.
                        let waits = open.iter().skip(k + 1).any(|later| *later);
                        match ops::scale(y, 1.0) {
                            Ok(()) => assert!(!waits, "{order:?}: {k} is called within another's scope"),
                            Err(Error::Unsupported { .. }) => assert!(waits, "{order:?}: {k} is refused"),
                            Err(e) => panic!("{order:?}: {e}"),
                        }
                    }
                    drop(scopes[ends].take());
                    open[ends] = false;
                    // A device in a context of its own is not concerned.
                    theirs.make_current_surfaceless().unwrap();
                    assert_eq!(Vector::filled(&other, 5, 2.0).unwrap().read().unwrap(), [2.0; 5]);
                    ours.make_current_surfaceless().unwrap();
                }
                assert_same(&before, &host.snapshot(), &format!("{order:?}"));
                assert!(vectors.iter().all(|y| y.read().unwrap() == [1.0; 50]));
            }
            // Scopes outlive the handles.
            let scopes = devices.each_ref().map(|d| d.scope().unwrap());
            drop((vectors, devices));
            drop(scopes);
            assert_same(&before, &host.snapshot(), "dropped");
            host.unset_all();
            // What is given up covers nothing.
            let [first, second] = [guest(), guest()];
            let scopes = [&first, &second].map(|d| d.scope().unwrap());
            second.abandon();
            assert!(first.scope().is_ok());
            drop((scopes, first, second));
            theirs.make_current_surfaceless().unwrap();
            drop(other);
            ours.make_current_surfaceless().unwrap();
        });
    });
}

/// Neither objects nor memory grow.
fn assert_cycles(count: usize) {
    on_both(|dev| {
        let left = cycles(dev.api(), count);
        eprintln!("{left:?}");
        assert!(left.objects == 0 && left.grown < 32 << 20, "{left:?}");
    });
}

#[test]
fn devices_come_and_go() {
    assert_cycles(64);
}

#[test]
#[ignore = "long; `make soak` runs it"]
fn ten_thousand_devices_come_and_go() {
    assert_cycles(10_000);
}
