//! CPU time of draws beside that of the same GL calls by themselves, in one run: `cargo bench --bench dispatch -- [--rounds R]`.
//!
//! A second device in the same context does the same work through functions that write down each call and its arguments. The list
//! is then made again without texla. What is measured is the time that calls take to be given to the driver, in bursts that its
//! queue has room for; between two bursts the device is waited for.
#![allow(unsafe_code)] // functions of GL in the place of the driver's

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Instant;

use glutin::api::egl::device::Device as EglDevice;
use glutin::api::egl::display::Display;
use glutin::display::GlDisplay;
use texla::sim::wave::{Scheme, Wave, WaveParams};
use texla::solve::{
    AggregationMultigrid, AggregationParams, Chebyshev, ChebyshevParams, Direction, GaussSeidel, Multigrid,
    MultigridParams, Preconditioner, Smoother, WeightedJacobi,
};
use texla::{
    BandedMatrix, Device, DeviceOptions, Grid, Headless, Result, Side, Sides, Stencil, StencilParams, Vector,
    ops,
};

/// Whether calls are written down, and those that have been.
static LOGGING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static LOG: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
}

fn log(call: impl FnOnce() -> Call) {
    if LOGGING.load(Ordering::Relaxed) {
        LOG.with_borrow_mut(|log| log.push(call()));
    }
}

/// Functions of GL that are written down: name, arguments.
macro_rules! functions {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        #[derive(Clone)]
        #[allow(non_camel_case_types)]
        enum Call {
            $($name($($type),*),)*
            Viewports([f32; 4]),
            Ints(i32, Vec<i32>),
            Floats(i32, Vec<f32>),
            Clear(i32, [f32; 4]),
            Error,
        }

        /// The driver's own, and those that stand before them.
        #[allow(non_upper_case_globals, non_snake_case)]
        mod real {
            use super::*;
            $(pub static $name: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());)*
        }

        #[allow(non_snake_case)]
        mod noted {
            use super::*;
            $(pub unsafe extern "system" fn $name($($arg: $type),*) {
                log(|| Call::$name($($arg),*));
                // SAFETY: the caller's.
                unsafe { call::$name($($arg),*) }
            })*
        }

        #[allow(non_snake_case)]
        mod call {
            use super::*;
            $(pub unsafe fn $name($($arg: $type),*) {
                let at = real::$name.load(Ordering::Relaxed);
                // SAFETY: the address under this name is a function of this type.
                unsafe {
                    std::mem::transmute::<*mut c_void, unsafe extern "system" fn($($type),*)>(at)($($arg),*);
                }
            })*
        }

        fn stand_in(name: &str, found: *const c_void) -> Option<*const c_void> {
            match name {
                $(concat!("gl", stringify!($name)) => {
                    real::$name.store(found.cast_mut(), Ordering::Relaxed);
                    Some(noted::$name as *const c_void)
                })*
                _ => None,
            }
        }

        /// # Safety
        /// The context is current, and the objects are alive.
        unsafe fn again(call: &Call) {
            // SAFETY: the caller's.
            unsafe {
                match call {
                    $(Call::$name($($arg),*) => call::$name($(*$arg),*),)*
                    Call::Viewports(viewport) => others::viewports(viewport),
                    Call::Ints(at, values) => others::ints(*at, values),
                    Call::Floats(at, values) => others::floats(*at, values),
                    Call::Clear(index, value) => others::clear(*index, value),
                    Call::Error => assert_eq!(others::error(), 0),
                }
            }
        }
    };
}

functions! {
    BindFramebuffer(target: u32, name: u32);
    UseProgram(name: u32);
    ActiveTexture(unit: u32);
    BindTexture(target: u32, name: u32);
    BindSampler(unit: u32, name: u32);
    Uniform1f(at: i32, x: f32);
    Uniform2f(at: i32, x: f32, y: f32);
    Uniform3f(at: i32, x: f32, y: f32, z: f32);
    Uniform4f(at: i32, x: f32, y: f32, z: f32, w: f32);
    Uniform1i(at: i32, x: i32);
    Uniform2i(at: i32, x: i32, y: i32);
    Uniform3i(at: i32, x: i32, y: i32, z: i32);
    Uniform4i(at: i32, x: i32, y: i32, z: i32, w: i32);
    Uniform1ui(at: i32, x: u32);
    Viewport(x: i32, y: i32, w: i32, h: i32);
    DrawArrays(mode: u32, first: i32, count: i32);
    ColorMask(r: u8, g: u8, b: u8, a: u8);
    ColorMaski(i: u32, r: u8, g: u8, b: u8, a: u8);
    Enable(what: u32);
    Disable(what: u32);
    BlendEquation(equation: u32);
    DepthFunc(function: u32);
    DepthMask(on: u8);
}

/// Those with arrays, and the one that answers.
mod others {
    use super::*;

    type Ints = unsafe extern "system" fn(i32, i32, *const i32);
    type Floats = unsafe extern "system" fn(i32, i32, *const f32);
    type Viewports = unsafe extern "system" fn(u32, i32, *const f32);
    type Clear = unsafe extern "system" fn(u32, i32, *const f32);
    type GetError = unsafe extern "system" fn() -> u32;

    static INTS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    static FLOATS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    static VIEWPORTS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    static CLEAR: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    static ERROR: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

    unsafe fn real<F: Copy>(at: &AtomicPtr<c_void>) -> F {
        let address = at.load(Ordering::Relaxed);
        // SAFETY: the address under its name is a function of this type.
        unsafe { std::mem::transmute_copy(&address) }
    }

    pub unsafe fn ints(at: i32, values: &[i32]) {
        // SAFETY: the caller's.
        unsafe { real::<Ints>(&INTS)(at, values.len() as i32, values.as_ptr()) }
    }

    pub unsafe fn floats(at: i32, values: &[f32]) {
        // SAFETY: the caller's.
        unsafe { real::<Floats>(&FLOATS)(at, values.len() as i32, values.as_ptr()) }
    }

    pub unsafe fn viewports(viewport: &[f32; 4]) {
        let mut copy = *viewport; // which Mesa clamps in place
        // SAFETY: the caller's.
        unsafe { real::<Viewports>(&VIEWPORTS)(0, 1, std::hint::black_box(&mut copy).as_ptr()) }
    }

    pub unsafe fn clear(index: i32, value: &[f32; 4]) {
        // SAFETY: the caller's.
        unsafe { real::<Clear>(&CLEAR)(glow::COLOR, index, value.as_ptr()) }
    }

    pub unsafe fn error() -> u32 {
        // SAFETY: the caller's.
        unsafe { real::<GetError>(&ERROR)() }
    }

    unsafe extern "system" fn note_ints(at: i32, count: i32, values: *const i32) {
        // SAFETY: GL reads so many.
        let values = unsafe { std::slice::from_raw_parts(values, count as usize) };
        log(|| Call::Ints(at, values.to_vec()));
        // SAFETY: the caller's.
        unsafe { ints(at, values) }
    }

    unsafe extern "system" fn note_floats(at: i32, count: i32, values: *const f32) {
        // SAFETY: GL reads so many.
        let values = unsafe { std::slice::from_raw_parts(values, count as usize) };
        log(|| Call::Floats(at, values.to_vec()));
        // SAFETY: the caller's.
        unsafe { floats(at, values) }
    }

    unsafe extern "system" fn note_viewports(first: u32, count: i32, values: *const f32) {
        assert_eq!((first, count), (0, 1));
        // SAFETY: GL reads four.
        let viewport = unsafe { *values.cast::<[f32; 4]>() };
        log(|| Call::Viewports(viewport));
        // SAFETY: the caller's.
        unsafe { viewports(&viewport) }
    }

    unsafe extern "system" fn note_clear(buffer: u32, index: i32, values: *const f32) {
        assert_eq!(buffer, glow::COLOR);
        // SAFETY: GL reads four.
        let value = unsafe { *values.cast::<[f32; 4]>() };
        log(|| Call::Clear(index, value));
        // SAFETY: the caller's.
        unsafe { clear(index, &value) }
    }

    unsafe extern "system" fn note_error() -> u32 {
        log(|| Call::Error);
        // SAFETY: the caller's.
        unsafe { error() }
    }

    pub fn stand_in(name: &str, found: *const c_void) -> Option<*const c_void> {
        let (at, noted) = match name {
            "glUniform1iv" => (&INTS, note_ints as *const c_void),
            "glUniform1fv" => (&FLOATS, note_floats as *const c_void),
            "glViewportArrayv" => (&VIEWPORTS, note_viewports as *const c_void),
            "glClearBufferfv" => (&CLEAR, note_clear as *const c_void),
            "glGetError" => (&ERROR, note_error as *const c_void),
            _ => return None,
        };
        at.store(found.cast_mut(), Ordering::Relaxed);
        Some(noted)
    }
}

/// Another device in the current context, whose calls can be written down.
fn logged() -> Device {
    let device = EglDevice::query_devices().expect("EGL devices").next().expect("no EGL device");
    // SAFETY: no display handle is passed in.
    let display = unsafe { Display::with_device(&device, None) }.expect("display");
    let load = move |name: &str| {
        let found = display.get_proc_address(&CString::new(name).expect("a name"));
        if found.is_null() {
            return found;
        }
        stand_in(name, found).or_else(|| others::stand_in(name, found)).unwrap_or(found)
    };
    // SAFETY: the context is current as long as the process lasts; the loader knows its functions.
    unsafe { Device::from_loader(load, DeviceOptions::default()) }.expect("device")
}

/// Some work on a device, over and over; its first calls make ready what later ones find.
type Work<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// The calls of one turn of the work, within a scope, and its draws.
fn calls(device: &Device, work: &mut Work<'_>) -> (Vec<Call>, u64) {
    (0..4).for_each(|_| work().expect("work"));
    let before = device.counters().draws;
    LOGGING.store(true, Ordering::Relaxed);
    work().expect("work");
    LOGGING.store(false, Ordering::Relaxed);
    (LOG.with_borrow_mut(std::mem::take), device.counters().draws - before)
}

/// Microseconds of a turn in the median burst, and in the shortest.
fn middle(mut bursts: Vec<f64>) -> [f64; 2] {
    bursts.sort_by(f64::total_cmp);
    [bursts[bursts.len() / 2], bursts[0]]
}

/// Draws in a burst, about.
const BURST: u64 = 240;

/// Measures work on `device`, against the calls that it makes on `noted`.
fn row(name: &str, rounds: usize, [device, noted]: [&Device; 2], make: &dyn Fn(&Device) -> Work<'_>) {
    // Until the end: the list begins with the state that the turn before has left, and names what has to live. The other device
    // leaves the state as it finds it.
    let _scope = noted.scope().expect("scope");
    let mut noted_work = make(noted);
    let (list, draws) = calls(noted, &mut noted_work);
    let turns = (BURST / draws.max(1)).max(1);
    let mut work = make(device);
    (0..4).for_each(|_| work().expect("work"));
    let mut bursts = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        {
            let _scope = device.scope().expect("scope");
            device.finish().expect("finish");
            let start = Instant::now();
            (0..turns).for_each(|_| work().expect("work"));
            bursts[0].push(start.elapsed().as_secs_f64() * 1e6 / turns as f64);
            device.finish().expect("finish");
        }
        noted.finish().expect("finish");
        // SAFETY: the context is current, and the objects are alive.
        let run = || unsafe { list.iter().for_each(|call| again(call)) };
        run();
        noted.finish().expect("finish");
        let start = Instant::now();
        (0..turns).for_each(|_| run());
        bursts[1].push(start.elapsed().as_secs_f64() * 1e6 / turns as f64);
        noted.finish().expect("finish");
    }
    let [ours, raw] = bursts.map(middle).map(|us| us.map(|us| us / draws as f64));
    println!(
        "{name:44} {draws:>6} {:>8} {:>8.3} {:>8.3} {:>7.3} {:>8.3} {:>8.3} {:>7.3}",
        list.len(),
        ours[0],
        raw[0],
        ours[0] / raw[0],
        ours[1],
        raw[1],
        ours[1] / raw[1]
    );
}

fn stencil(device: &Device, side: usize) -> Stencil {
    let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL));
    Stencil::new(device, Grid::new_2d(side, side), params).expect("stencil")
}

fn main() {
    let flag = |name: &str| std::env::args().skip_while(move |arg| arg != name).nth(1);
    let rounds = flag("--rounds").and_then(|n| n.parse().ok()).unwrap_or(31);
    let only = flag("--only").unwrap_or_default();
    let context = Headless::new(Default::default()).expect("context");
    let (device, noted) = (context.device(), logged());
    println!("device {}, {rounds} rounds; microseconds of the CPU for a draw", context.name());
    println!(
        "{:44} {:>6} {:>8} {:>8} {:>8} {:>7} {:>8} {:>8} {:>7}",
        "row", "draws", "calls", "texla", "alone", "ratio", "least", "alone", "ratio"
    );
    let on = [device, &noted];
    let row = |name: &str, make: &dyn Fn(&Device) -> Work<'_>| {
        if name.contains(&only) {
            row(name, rounds, on, make);
        }
    };
    row("add of 2x2 texels, two targets in turns", &|device| {
        let x = Vector::filled(device, 16, 1.0).expect("x");
        let mut turns = [Vector::zeros(device, 16).expect("y"), Vector::zeros(device, 16).expect("y")];
        Box::new(move || turns.iter_mut().try_for_each(|y| ops::add(y, &x, &x)))
    });
    for side in [16, 64, 256] {
        row(&format!("V-cycle, stencil of {side}x{side}, from zero"), &|device| {
            let m = Multigrid::new(stencil(device, side), MultigridParams::default()).expect("multigrid");
            let r = Vector::filled(device, side * side, 1.0).expect("r");
            let mut z = Vector::zeros(device, side * side).expect("z");
            Box::new(move || m.apply(&mut z, &r))
        });
    }
    row("V-cycle, stencil of 64x64, as a smoother", &|device| {
        let m = Multigrid::new(stencil(device, 64), MultigridParams::default()).expect("multigrid");
        let b = Vector::filled(device, 64 * 64, 1.0).expect("b");
        let mut x = Vector::zeros(device, 64 * 64).expect("x");
        Box::new(move || m.smooth(&mut x, &b, 1))
    });
    row("V-cycle, aggregation, bands of 64x64", &|device| {
        let a = std::rc::Rc::new(BandedMatrix::poisson_2d(device, 64, 64).expect("bands"));
        let m = AggregationMultigrid::new(a, AggregationParams::default()).expect("multigrid");
        let r = Vector::filled(device, 64 * 64, 1.0).expect("r");
        let mut z = Vector::zeros(device, 64 * 64).expect("z");
        Box::new(move || m.apply(&mut z, &r))
    });
    row("8 sweeps of weighted Jacobi, stencil of 64x64", &|device| {
        let a = std::rc::Rc::new(stencil(device, 64));
        let jacobi = WeightedJacobi::new(a, 0.8).expect("jacobi");
        let b = Vector::filled(device, 64 * 64, 1.0).expect("b");
        let mut x = Vector::zeros(device, 64 * 64).expect("x");
        Box::new(move || jacobi.smooth(&mut x, &b, 8))
    });
    row("wave, explicit, of 64x64, two steps", &|device| {
        let params = WaveParams::new(64, 64).with_dt(0.5).with_scheme(Scheme::Explicit);
        let mut wave = Wave::new(device, params).expect("wave");
        Box::new(move || (0..2).try_for_each(|_| wave.step()))
    });
    row("SSOR, bands of 64x64", &|device| {
        let a = std::rc::Rc::new(BandedMatrix::poisson_2d(device, 64, 64).expect("bands"));
        let m = GaussSeidel::new(a, 1.0, Direction::Symmetric).expect("SSOR");
        let r = Vector::filled(device, 64 * 64, 1.0).expect("r");
        let mut z = Vector::zeros(device, 64 * 64).expect("z");
        Box::new(move || m.apply(&mut z, &r))
    });
    row("Chebyshev of degree 4, bands of 64x64", &|device| {
        let a = std::rc::Rc::new(BandedMatrix::poisson_2d(device, 64, 64).expect("bands"));
        let m = Chebyshev::new(a, ChebyshevParams::default()).expect("chebyshev");
        let r = Vector::filled(device, 64 * 64, 1.0).expect("r");
        let mut z = Vector::zeros(device, 64 * 64).expect("z");
        Box::new(move || m.apply(&mut z, &r))
    });
}
