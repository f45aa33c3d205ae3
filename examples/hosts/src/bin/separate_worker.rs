//! texla on a thread of its own, in a context that nothing else knows of. Values go from thread to thread; whoever draws uploads
//! them into a texture of its own, if it draws by OpenGL at all.
use std::sync::{Arc, mpsc};
use std::thread;

use glow::HasContext;
use texla::Headless;
use texla_hosts::count::{Count, assert_frame};
use texla_hosts::guest::SIDE;
use texla_hosts::offscreen::Egl;
use texla_hosts::scene::{Depth, Scene, own_texture};
use texla_hosts::{Result, SIZE};

fn work(finished: mpsc::SyncSender<Vec<f32>>) -> Result {
    let context = Headless::new(Default::default())?;
    let mut count = Count::new(context.device())?;
    let mut under_way = None;
    for _ in 0..50 {
        count.step()?;
        // The values of this frame are on their way while the next one is computed.
        if let Some(earlier) = under_way.replace(count.values().read_async()?) {
            finished.send(earlier.wait()?)?;
        }
    }
    if let Some(last) = under_way {
        finished.send(last.wait()?)?;
    }
    Ok(())
}

fn main() -> Result {
    let (to_draw, finished) = mpsc::sync_channel(2);
    let worker = thread::spawn(move || work(to_draw).map_err(|e| e.to_string()));

    let egl = Egl::new()?;
    let _context = egl.context(None)?.make_current_surfaceless()?;
    // SAFETY: the context is current until the end of `main`, and EGL gives its functions.
    let (gl, scene, texture) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(egl.loader()));
        let scene = Scene::new(Arc::clone(&gl), SIZE, Depth::Reversed, &egl.loader());
        let texture = own_texture(&gl, SIDE as u32);
        (gl, scene, texture)
    };
    for (frame, values) in finished.iter().enumerate() {
        let texels: Vec<u8> = values.iter().flat_map(|v| [*v as u8, *v as u8, *v as u8, 255]).collect();
        // SAFETY: the context is current; there are four bytes for each texel.
        let pixels = unsafe {
            let (side, format, kind) = (SIDE as i32, glow::RGBA, glow::UNSIGNED_BYTE);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            let data = glow::PixelUnpackData::Slice(Some(&texels));
            gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, side, side, format, kind, data);
            scene.show(texture, SIDE as u32)
        };
        assert_frame(frame, &pixels, SIZE.0);
    }
    // SAFETY: as above.
    unsafe { gl.delete_texture(texture) };
    worker.join().map_err(|_| "the worker has panicked")??;
    println!("separate_worker: 50 frames of another thread, copied");
    Ok(())
}
