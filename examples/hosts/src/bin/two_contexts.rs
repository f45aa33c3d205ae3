//! Two contexts on one thread that share their objects: each waits for the other's fence before it uses the picture.
use std::sync::Arc;

use glutin::prelude::*;
use texla::{Device, DeviceOptions, Picture};
use texla_hosts::count::{Count, assert_frame};
use texla_hosts::guest::SIDE;
use texla_hosts::hand_over::Fence;
use texla_hosts::offscreen::Egl;
use texla_hosts::scene::{Depth, Scene};
use texla_hosts::{Result, SIZE};

fn main() -> Result {
    let egl = Egl::new()?;
    let theirs = egl.context(None)?.make_current_surfaceless()?;
    // SAFETY: the context is current whenever the application draws, and EGL gives its functions.
    let (gl, scene) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(egl.loader()));
        (Arc::clone(&gl), Scene::new(gl, SIZE, Depth::Reversed, &egl.loader()))
    };

    let ours = egl.context(Some(&theirs))?.treat_as_possibly_current();
    ours.make_current_surfaceless()?;
    // SAFETY: the context is current around each of texla's calls.
    let device = unsafe { Device::from_loader(egl.loader(), DeviceOptions::default()) }?;
    let mut count = Count::new(&device)?;
    let mut picture = Picture::new(&device, SIDE, SIDE)?;

    let mut drawn = None;
    for frame in 0..50 {
        ours.make_current_surfaceless()?;
        count.step()?; // touches nothing that the application draws
        // SAFETY: texla's context is current, and shares with the application's.
        drawn.take().into_iter().for_each(|fence: Fence| unsafe { fence.hold_commands_of(&device.glow()) });
        count.draw_into(&mut picture)?;
        let computed = Fence::from(device.fence()?);

        theirs.make_current_surfaceless()?;
        // SAFETY: the application's context is current, and shares with texla's.
        let pixels = unsafe {
            computed.hold_commands_of(&gl);
            let pixels = scene.show(picture.texture(), SIDE as u32); // binds the texture, after the wait
            drawn = Some(Fence::after_commands_of(&gl)?);
            pixels
        };
        assert_frame(frame, &pixels, SIZE.0);
    }

    ours.make_current_surfaceless()?;
    // SAFETY: texla's context is current, and shares with the application's.
    drawn.into_iter().for_each(|fence| unsafe { fence.hold_commands_of(&device.glow()) });
    drop((picture, count, device));
    theirs.make_current_surfaceless()?; // for the scene
    println!("two_contexts: 50 frames, each after its fence");
    Ok(())
}
