//! Hand-overs between threads, many of them and under load: texla on a worker computes a new pattern each time, the thread that draws
//! waits for its fence in the middle of a frame and shows it. Frames are those without texla, and no pattern is unfinished.
//!
//! `threads [--hand-overs N] [--pictures N] [--wait gpu|thread|nobody]`: how many, of how many pictures that take turns, and who waits
//! for the fences. With `nobody` there are none, and what is unfinished is only counted.
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use glow::HasContext;
use glutin::api::egl::context::{NotCurrentContext, PossiblyCurrentContext};
use texla::kernel::Kernel;
use texla::{Device, DeviceOptions, Picture};
use texla_hosts::hand_over::Fence;
use texla_hosts::offscreen::Egl;
use texla_hosts::scene::{Depth, Scene};
use texla_hosts::{FRAMES, Result, SIZE, assert_identical_in};

/// The side of a pattern in texels.
const SIDE: usize = 64;
/// What is tried: so many hand-overs of so many pictures, which take turns, and who waits.
#[derive(Clone, Copy)]
struct Plan {
    hand_overs: u32,
    pictures: u32,
    wait: Wait,
}

/// Who waits for a fence.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    Gpu,
    Thread,
    Nobody,
}

impl Wait {
    /// # Safety
    /// As for [`Fence::hold_commands_of`].
    unsafe fn before(self, fence: Option<Fence>, gl: &glow::Context) -> Result {
        // SAFETY: the caller's.
        unsafe {
            match (self, fence) {
                (Wait::Gpu, Some(fence)) => fence.hold_commands_of(gl),
                (Wait::Thread, Some(fence)) => fence.hold_this_thread(gl)?,
                _ => {}
            }
        }
        Ok(())
    }
}

texla::params! { struct Number { number: u32 } }

/// A pattern that takes a while, and that every texel has its own number in.
const PATTERN: &str = "
    vec4 kernel(ivec2 p) {
        uint h = uint(p.x + 64 * p.y) + 4096u * number;
        for (int i = 0; i < 40; i++) h = 1664525u * h + 1013904223u;
        return vec4(uvec4(h >> 24, h >> 16, h >> 8, 255u) & 255u) / 255.0;
    }";

/// The same, row by row: red, green and blue of texel `i`.
fn pattern(number: u32, i: u32) -> [u8; 3] {
    let step = |h: u32, _| h.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    let h = (0..40).fold(i.wrapping_add(number.wrapping_mul(4096)), step);
    [24, 16, 8].map(|shift| (h >> shift) as u8)
}

/// A pattern's texture, with the fence to wait for unless nobody does.
type Pattern = (NonZeroU32, Option<Fence>);

/// The worker: patterns, each in the picture that has been drawn longest ago.
fn work(
    context: NotCurrentContext,
    Plan { hand_overs, pictures: count, wait }: Plan,
    loader: impl Fn(&str) -> *const std::ffi::c_void + 'static,
    (finished, drawn): (&mpsc::Sender<Pattern>, &mpsc::Receiver<Option<Fence>>),
) -> Result {
    let _context = context.make_current_surfaceless()?;
    // SAFETY: the context is current on this thread until the function returns.
    let device = unsafe { Device::from_loader(loader, DeviceOptions::default()) }?;
    let kernel = Kernel::<Number>::new(&device, "pattern", [], PATTERN)?;
    let pictures = (0..count).map(|_| Picture::new(&device, SIDE, SIDE));
    let mut pictures = pictures.collect::<texla::Result<Vec<_>>>()?;
    for number in 0..hand_overs {
        let picture = &mut pictures[(number % count) as usize];
        if number >= count {
            // SAFETY: the worker's context is current, and shares with the other.
            unsafe { wait.before(drawn.recv()?, &device.glow()) }?;
        }
        kernel.run(picture, [], &Number { number })?;
        let fence = (wait != Wait::Nobody).then(|| device.fence()).transpose()?;
        finished.send((picture.texture().0, fence.map(Fence::from)))?;
    }
    for _ in 0..count.min(hand_overs) {
        // SAFETY: as above.
        unsafe { wait.before(drawn.recv()?, &device.glow()) }?;
    }
    Ok(())
}

/// The thread that draws.
struct Ui {
    /// Frames without texla.
    frames: Vec<Vec<u8>>,
    scene: Scene,
    gl: Arc<glow::Context>,
    /// Dropped after what has been made in it.
    current: PossiblyCurrentContext,
    egl: Egl,
}

impl Ui {
    fn new() -> Result<Self> {
        let egl = Egl::new()?;
        let current = egl.context(None)?.make_current_surfaceless()?;
        // SAFETY: the context is current as long as this lives, and EGL gives its functions.
        unsafe {
            let gl = Arc::new(glow::Context::from_loader_function(egl.loader()));
            let scene = Scene::new(Arc::clone(&gl), SIZE, Depth::Reversed, &egl.loader());
            clear_edges(&gl);
            let frames = (0..FRAMES).map(|i| scene.frame(i, &mut || {})).collect();
            Ok(Ui { frames, scene, gl, current, egl })
        }
    }

    /// Frames, in the middle of each of which a pattern is received: the first of them, and how many patterns were unfinished.
    fn run(&self, plan: Plan) -> Result<(Vec<Vec<u8>>, u32)> {
        let (to_draw, finished) = mpsc::channel();
        let (to_worker, drawn) = mpsc::channel();
        let (context, loader) = (self.egl.context(Some(&self.current))?, self.egl.loader());
        let worker =
            thread::spawn(move || work(context, plan, loader, (&to_draw, &drawn)).map_err(|e| e.to_string()));
        let (mut first, mut unfinished) = (Vec::new(), 0);
        for number in 0..plan.hand_overs {
            let i = number as usize % FRAMES;
            let mut texture = None;
            // SAFETY: this thread's context is current, and shares with the worker's.
            unsafe {
                let frame = self.scene.frame(i, &mut || {
                    if let Ok((name, fence)) = finished.recv() {
                        texture = plan.wait.before(fence, &self.gl).ok().map(|()| name);
                    }
                });
                assert!(frame == self.frames[i], "frame {number} is not what it is without texla");
                first.extend((number < FRAMES as u32).then_some(frame));
                let Some(texture) = texture else { break }; // the worker says why
                let shown = self.scene.show(glow::NativeTexture(texture), SIDE as u32);
                clear_edges(&self.gl);
                unfinished += u32::from(!is_pattern(number, &shown));
                let fence = (plan.wait != Wait::Nobody).then(|| Fence::after_commands_of(&self.gl));
                to_worker.send(fence.transpose()?)?;
            }
        }
        worker.join().map_err(|_| "the worker has panicked")??;
        Ok((first, unfinished))
    }
}

/// Clears what lies outside the scene's scissors, which its frames leave as it is.
///
/// # Safety
/// The context is current.
unsafe fn clear_edges(gl: &glow::Context) {
    // SAFETY: the caller's.
    unsafe {
        gl.disable(glow::SCISSOR_TEST);
        gl.clear(glow::COLOR_BUFFER_BIT);
        gl.enable(glow::SCISSOR_TEST);
    }
}

/// Whether the lower left corner of a frame shows this pattern.
fn is_pattern(number: u32, frame: &[u8]) -> bool {
    (0..SIDE * SIDE).all(|i| {
        let at = 4 * (i / SIDE * SIZE.0 as usize + i % SIDE);
        frame[at..at + 3] == pattern(number, i as u32)
    })
}

fn main() -> Result {
    let (mut hand_overs, mut pictures, mut wait) = (500, 3, None);
    let mut args = std::env::args().skip(1);
    while let Some(flag) = args.next() {
        let value = args.next().unwrap_or_default();
        match (flag.as_str(), value.as_str()) {
            ("--hand-overs", number) => hand_overs = number.parse()?,
            ("--pictures", number) => pictures = number.parse()?,
            ("--wait", "gpu") => wait = Some(Wait::Gpu),
            ("--wait", "thread") => wait = Some(Wait::Thread),
            ("--wait", "nobody") => wait = Some(Wait::Nobody),
            _ => return Err(format!("unknown: {flag} {value}").into()),
        }
    }
    // Load: more threads than cores.
    let over = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism()?.get();
    let load: Vec<_> = (0..cores)
        .map(|_| {
            let over = Arc::clone(&over);
            thread::spawn(move || while !over.load(Ordering::Relaxed) {})
        })
        .collect();
    let ui = Ui::new()?;
    let mut ways = vec![ui.frames.clone()];
    for wait in wait.map_or(vec![Wait::Gpu, Wait::Thread], |only| vec![only]) {
        let started = std::time::Instant::now();
        let (frames, unfinished) = ui.run(Plan { hand_overs, pictures, wait })?;
        let took = started.elapsed().as_secs_f64();
        println!("threads: {unfinished} of {hand_overs} hand-overs unfinished, {wait:?} waits; {took:.1} s");
        assert!(unfinished == 0 || wait == Wait::Nobody);
        ways.push(frames);
    }
    over.store(true, Ordering::Relaxed);
    load.into_iter().for_each(|thread| drop(thread.join()));
    if wait.is_none() {
        assert_identical_in("threads", ["where the GPU waits", "where the thread waits"], &ways);
    }
    Ok(())
}
