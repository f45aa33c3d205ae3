//! Times of work on a device.

use std::time::Instant;

use texla::Device;

/// The result of some work and the least of its times: the first, which may compile, and `rounds` more of them, unless
/// they take longer than a second.
pub fn least<T>(
    device: &Device,
    rounds: usize,
    mut work: impl FnMut() -> texla::Result<T>,
) -> texla::Result<(T, f64)> {
    let begun = Instant::now();
    let mut once = || {
        device.finish()?;
        let started = Instant::now();
        let result = work()?;
        device.finish()?;
        Ok::<_, texla::Error>((result, started.elapsed().as_secs_f64()))
    };
    let (mut result, mut least) = once()?;
    for _ in 0..rounds {
        if begun.elapsed().as_secs_f64() > 1.0 {
            break;
        }
        let seconds;
        (result, seconds) = once()?;
        least = least.min(seconds);
    }
    Ok((result, least))
}
