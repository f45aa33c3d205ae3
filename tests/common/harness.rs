//! Devices for the tests: every test runs on both dialects, and a missing GL driver fails it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use texla::gl::{Api, Limits};
use texla::kernel::{Kernel, NoParams};
use texla::ops::MatmulSchedule;
use texla::{Device, DeviceOptions, Headless, HeadlessOptions, Vector};

/// A number from the environment, or `None` when the variable is unset or empty. Anything else fails the test.
fn number(name: &str) -> Option<u32> {
    let value = std::env::var(name).ok().filter(|v| !v.is_empty())?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is `{value}`, expected a number")))
}

/// The limits under which the suite runs: CI repeats it with small textures and few draw buffers.
pub fn limits() -> Limits {
    Limits::default()
        .with_max_texture_size(number("TEXLA_TEST_TEXTURE_LIMIT"))
        .with_max_draw_buffers(number("TEXLA_TEST_DRAW_BUFFERS"))
}

/// A headless context of this dialect under [`limits`].
pub fn headless(api: Api) -> Headless {
    headless_with(api, limits())
}

/// A headless context of this dialect under limits of the test's own.
pub fn headless_with(api: Api, limits: Limits) -> Headless {
    let options = DeviceOptions::default().with_limits(limits);
    Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options))
        .unwrap_or_else(|e| panic!("no {api} context for the tests: {e}"))
}

/// Runs a test on both dialects. Afterwards no GL object may be left.
pub fn on_both(test: impl Fn(&Device)) {
    for api in Api::ALL {
        on(api, limits(), &test);
    }
}

/// Runs a test on both dialects under limits of its own.
pub fn on_both_with(limits: Limits, test: impl Fn(&Device)) {
    for api in Api::ALL {
        on(api, limits.clone(), &test);
    }
}

/// One context draws at a time: llvmpipe of Mesa 22.3 crashes now and then when two threads of a process draw in
/// contexts of their own, and it spreads one context's work over all cores anyway.
static DRAWING: Mutex<()> = Mutex::new(());

/// No other test draws as long as this is held.
pub fn alone() -> MutexGuard<'static, ()> {
    // A test that failed while it held the lock has done no harm to the next one.
    DRAWING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn on(api: Api, limits: Limits, test: &impl Fn(&Device)) {
    let _alone = alone();
    eprintln!("on {api}");
    let context = headless_with(api, limits);
    let ledger = context.device().ledger();
    test(context.device());
    drop(context);
    let left = ledger.live_objects();
    assert_eq!(left.total(), 0, "objects left on {api}: {left:?}");
}

/// The largest vector of the device, or `wanted` if that is smaller: sizes shrink under those limits.
pub fn fitting(device: &Device, wanted: usize) -> usize {
    let largest = texla::shape::max_folded_len(device.capabilities().max_texture_size);
    wanted.min(usize::try_from(largest).unwrap())
}

/// Lengths that tend to go wrong, each once: those of the figures, primes, and one more or less than full textures.
/// None is past `largest` or past the device.
pub fn lengths(device: &Device, largest: usize) -> Vec<usize> {
    let largest = fitting(device, largest);
    let mut all = vec![0, 1, 2, 3, 4, 5, 9, 50, 7, 13, 97, 251, 1009, 10_007, 65_537, 1_048_573, largest];
    for side in [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] {
        for full in [4 * side, 4 * side * side, 2 * side * side] {
            all.extend([full - 1, full, full + 1]);
        }
    }
    all.retain(|n| *n <= largest);
    all.sort_unstable();
    all.dedup();
    all
}

/// Writes these bits, which no upload would take where they are no finite numbers: the halves of each as numbers, put
/// together on the device.
pub fn write_bits(y: &mut Vector, bits: &[u32]) {
    let body = "vec4 kernel(ivec2 p) {
        return uintBitsToFloat((uvec4(high(p)) << uvec4(16u)) | uvec4(low(p))); }";
    let whole = Kernel::<NoParams>::new(y.device(), "bits", ["high", "low"], body).unwrap();
    let half = |shift: u32| bits.iter().map(|b| (b >> shift & 0xffff) as f32).collect::<Vec<_>>();
    let [high, low] = [16, 0].map(|shift| Vector::from_slice(y.device(), &half(shift)).unwrap());
    whole.run(y, [&high, &low], &NoParams).unwrap();
}

/// Fails unless the padding lanes of a vector are zero.
#[track_caller]
pub fn assert_padded(vector: &Vector, what: &str) {
    let texels = vector.read_texels().unwrap();
    let first = texels.iter().skip(vector.len()).position(|v| *v != 0.0);
    if let Some(lane) = first {
        let value = texels[vector.len() + lane];
        panic!("{what}: padding lane {lane} of {vector:?} is {value}");
    }
}

/// Fails unless the padding lanes of a matrix are zero: those past the last row of each tile.
#[track_caller]
pub fn assert_matrix_padded(matrix: &texla::Matrix, what: &str) {
    for (tile, texels) in matrix.tiles().zip(matrix.read_texels().unwrap()) {
        let width = tile.extent().width as usize;
        for (lane, value) in texels.iter().enumerate() {
            let row = 4 * (lane / 4 / width) + lane % 4;
            let padding = row >= tile.shape.rows || tile.shape.is_empty();
            assert!(!padding || *value == 0.0, "{what}: padding lane {lane} of {matrix:?} is {value}");
        }
    }
}

/// The schedules of dense products by several draw buffers that the device has: one split over a quad needs derivatives
/// that are exact.
pub fn block_schedules(device: &Device) -> Vec<MatmulSchedule> {
    let caps = device.capabilities();
    let split = |buffers| caps.exact_derivatives.then_some(MatmulSchedule::Split { buffers });
    let buffers = [4, 8].into_iter().filter(|n| *n <= caps.max_draw_buffers);
    let blocked = buffers.flat_map(|n| [Some(MatmulSchedule::Blocked { buffers: n }), split(n)]).flatten();
    let uniform = caps.max_draw_buffers >= 8 && caps.max_texture_size >= 64;
    blocked.chain(uniform.then_some(MatmulSchedule::Uniform)).collect()
}
