//! One context: texla computes, the application draws. GL runs their commands in the order of the calls.
use std::sync::Arc;

use texla::{Device, DeviceOptions, Picture};
use texla_hosts::count::{Count, assert_frame};
use texla_hosts::guest::SIDE;
use texla_hosts::offscreen::Egl;
use texla_hosts::scene::{Depth, Scene};
use texla_hosts::{Result, SIZE};

fn main() -> Result {
    let egl = Egl::new()?;
    let _context = egl.context(None)?.make_current_surfaceless()?;
    // SAFETY: the context is current until the end of `main`, and EGL gives its functions.
    let (scene, device) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(egl.loader()));
        let scene = Scene::new(gl, SIZE, Depth::Reversed, &egl.loader());
        (scene, Device::from_loader(egl.loader(), DeviceOptions::default())?)
    };
    let mut count = Count::new(&device)?;
    let mut picture = Picture::new(&device, SIDE, SIDE)?;
    for frame in 0..50 {
        count.step()?;
        count.draw_into(&mut picture)?;
        // SAFETY: the context is current.
        let pixels = unsafe { scene.show(picture.texture(), SIDE as u32) };
        assert_frame(frame, &pixels, SIZE.0);
    }
    println!("one_context: 50 frames, nothing to wait for");
    Ok(())
}
