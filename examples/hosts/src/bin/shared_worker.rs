//! texla on a thread of its own, in a context that shares its objects with the one of the thread that draws. Names of textures and
//! fences go from thread to thread; the pictures stay where they are.
use std::sync::{Arc, mpsc};
use std::thread;

use glutin::api::egl::context::NotCurrentContext;
use texla::{Device, DeviceOptions, Picture};
use texla_hosts::count::{Count, assert_frame};
use texla_hosts::guest::SIDE;
use texla_hosts::hand_over::{Fence, Finished};
use texla_hosts::offscreen::Egl;
use texla_hosts::scene::{Depth, Scene};
use texla_hosts::{Result, SIZE};

/// One picture is drawn while the next one is computed.
const PICTURES: usize = 2;

fn work(
    context: NotCurrentContext,
    loader: impl Fn(&str) -> *const std::ffi::c_void + 'static,
    finished: mpsc::Sender<Finished>,
    drawn: mpsc::Receiver<Fence>,
) -> Result {
    let _context = context.make_current_surfaceless()?; // dropped last
    // SAFETY: the context is current on this thread until the function returns.
    let device = unsafe { Device::from_loader(loader, DeviceOptions::default()) }?;
    let mut count = Count::new(&device)?;
    let mut pictures = Vec::new();
    for _ in 0..PICTURES {
        pictures.push(Picture::new(&device, SIDE, SIDE)?);
    }
    for frame in 0..50 {
        let picture = &mut pictures[frame % PICTURES];
        count.step()?;
        if frame >= PICTURES {
            // Whoever draws has had this picture before: until that is done, it must not be overwritten.
            // SAFETY: the worker's context is current, and shares with the other.
            unsafe { drawn.recv()?.hold_commands_of(&device.glow()) };
        }
        count.draw_into(picture)?;
        finished.send(Finished { texture: picture.texture().0, fence: device.fence()?.into() })?;
    }
    // The pictures drop with this function: not before they have been drawn for the last time.
    for _ in 0..PICTURES {
        // SAFETY: as above.
        unsafe { drawn.recv()?.hold_commands_of(&device.glow()) };
    }
    Ok(())
}

fn main() -> Result {
    let egl = Egl::new()?;
    let current = egl.context(None)?.make_current_surfaceless()?;
    // SAFETY: the context is current until the end of `main`, and EGL gives its functions.
    let (gl, scene) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(egl.loader()));
        (Arc::clone(&gl), Scene::new(gl, SIZE, Depth::Reversed, &egl.loader()))
    };
    let (to_draw, finished) = mpsc::channel();
    let (to_worker, drawn) = mpsc::channel();
    let (context, loader) = (egl.context(Some(&current))?, egl.loader());
    let worker = thread::spawn(move || work(context, loader, to_draw, drawn).map_err(|e| e.to_string()));

    for (frame, Finished { texture, fence }) in finished.iter().enumerate() {
        // SAFETY: this thread's context is current, and shares with the worker's.
        let pixels = unsafe {
            fence.hold_commands_of(&gl);
            let pixels = scene.show(glow::NativeTexture(texture), SIDE as u32); // binds it, after the wait
            to_worker.send(Fence::after_commands_of(&gl)?)?;
            pixels
        };
        assert_frame(frame, &pixels, SIZE.0);
    }
    worker.join().map_err(|_| "the worker has panicked")??;
    println!("shared_worker: 50 frames of another thread, without a copy");
    Ok(())
}
