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

/// The middle one of some values, or the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[middle],
        _ => 0.5 * (sorted[middle - 1] + sorted[middle]),
    }
}
