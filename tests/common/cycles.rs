//! Devices that come and go.
#![allow(unsafe_code)]

use glow::HasContext;
use texla::gl::Api;
use texla::{Device, DeviceOptions, Headless, Vector, ops};

use super::alloc::resident;
use super::egl::{core, loader};
use super::harness::{headless, limits};

/// A guest of the current context.
pub fn guest() -> Device {
    // SAFETY: the context exists while the tests hold the guest. That another may be current is what they are about.
    unsafe { Device::from_loader(loader(), DeviceOptions::default().with_limits(limits())) }.unwrap()
}

/// How many textures, buffers, programs and framebuffers the driver knows in the current context, by trying all names up to a new
/// one.
fn known(gl: &glow::Context) -> [usize; 4] {
    macro_rules! count {
        ($create:ident, $is:ident, $delete:ident, $name:ident) => {{
            let new = gl.$create().unwrap();
            let names = (1..new.0.get()).filter_map(std::num::NonZeroU32::new);
            let count = names.filter(|name| gl.$is(glow::$name(*name))).count();
            gl.$delete(new);
            count
        }};
    }
    // SAFETY: the context is current; any number may be asked for.
    unsafe {
        [
            count!(create_texture, is_texture, delete_texture, NativeTexture),
            count!(create_buffer, is_buffer, delete_buffer, NativeBuffer),
            count!(create_program, is_program, delete_program, NativeProgram),
            count!(create_framebuffer, is_framebuffer, delete_framebuffer, NativeFramebuffer),
        ]
    }
}

/// What devices that came and went have left.
#[derive(Debug)]
pub struct Cycles {
    /// Textures, buffers, programs and framebuffers that the driver knows afterwards, and what texla itself counts.
    pub objects: usize,
    /// Bytes that the process holds more than after the first quarter.
    pub grown: u64,
}

/// Creates and drops devices with work, as guests and with contexts of their own.
pub fn cycles(api: Api, count: usize) -> Cycles {
    let context = core(api, None);
    let gl = guest().glow();
    let (mut start, mut objects) = (0, known(&gl).iter().sum::<usize>());
    for cycle in 0..count {
        if cycle == count / 4 {
            start = resident();
        }
        context.make_current_surfaceless().unwrap();
        let guest = guest();
        let ledger = guest.ledger();
        let x = Vector::filled(&guest, 9, 1.0).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 9.0);
        match cycle % 16 {
            0 => drop((x, guest)),
            1..=3 | 9 => {
                // With a context of its own, which goes too. Three of them before the count begins: from the third context on
                // glibc keeps what softpipe gives back, which is 145 MB, and gives it to the next one: a thousand contexts more take
                // half a megabyte.
                let own: Headless = headless(api);
                drop(Vector::filled(own.device(), 9, 1.0).unwrap());
                drop(own);
                context.make_current_surfaceless().unwrap();
                drop((guest, x));
            }
            _ => drop((guest, x)),
        }
        objects += ledger.live_objects().total() as usize;
        if cycle % 64 == 63 || cycle + 1 == count {
            objects += known(&gl).iter().sum::<usize>();
        }
    }
    Cycles { objects, grown: resident().saturating_sub(start) }
}
