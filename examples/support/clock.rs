//! Times of work on a device.

use std::time::Instant;

use serde_json::Value;
use texla::Device;

use super::outcome::Result;

/// The times of some rounds of the same work.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounds(Vec<f64>);

impl Rounds {
    pub fn push(&mut self, seconds: f64) {
        self.0.push(seconds);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        self.0.iter().copied()
    }

    pub fn median(&self) -> f64 {
        median(self.iter())
    }

    pub fn mean(&self) -> f64 {
        self.iter().sum::<f64>() / self.0.len() as f64
    }

    pub fn least(&self) -> f64 {
        self.iter().min_by(f64::total_cmp).unwrap_or(f64::NAN)
    }

    pub fn most(&self) -> f64 {
        self.iter().max_by(f64::total_cmp).unwrap_or(f64::NAN)
    }

    /// In another unit, or for another count of the work.
    pub fn times(&self, factor: f64) -> Self {
        self.iter().map(|time| factor * time).collect()
    }

    /// Adds the keys of a report: KEY is the median, KEY_least and KEY_most are how far the rounds are apart. Of no
    /// rounds KEY is null.
    pub fn put(&self, row: &mut Value, key: &str) {
        row[key] = self.median().into(); // NaN becomes null
        self.put_range(row, key);
    }

    /// Those of the range alone, where KEY is another mean.
    pub fn put_range(&self, row: &mut Value, key: &str) {
        if !self.is_empty() {
            row[format!("{key}_least")] = self.least().into();
            row[format!("{key}_most")] = self.most().into();
        }
    }

    /// `row` with the keys of [`Rounds::put`].
    pub fn in_row(&self, mut row: Value, key: &str) -> Value {
        self.put(&mut row, key);
        row
    }
}

impl FromIterator<f64> for Rounds {
    fn from_iter<I: IntoIterator<Item = f64>>(times: I) -> Self {
        Rounds(times.into_iter().collect())
    }
}

/// The result of some work, and the seconds until the device is done with it.
fn timed<T, E: From<texla::Error>>(
    device: &Device,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<(T, f64), E> {
    device.finish()?;
    let started = Instant::now();
    let result = work()?;
    device.finish()?;
    Ok((result, started.elapsed().as_secs_f64()))
}

/// The result of some work and its times in `rounds` rounds, fewer if they take longer than a second. The first time of
/// all, which may compile, counts only if that took a second already.
pub fn rounds<T>(
    device: &Device,
    rounds: usize,
    mut work: impl FnMut() -> texla::Result<T>,
) -> texla::Result<(T, Rounds)> {
    let begun = Instant::now();
    let (mut result, first) = timed(device, &mut work)?;
    let mut times = Rounds::default();
    while times.0.len() < rounds && begun.elapsed().as_secs_f64() <= 1.0 {
        let seconds;
        (result, seconds) = timed(device, &mut work)?;
        times.push(seconds);
    }
    if times.is_empty() {
        times.push(first);
    }
    Ok((result, times))
}

/// Something to be timed: does its work this many times.
pub type Job<'a> = Box<dyn FnMut(usize) -> Result + 'a>;

/// Once, of so many times in a row, until the device is done.
pub fn round(device: &Device, job: &mut Job<'_>, times: usize) -> Result<f64> {
    Ok(timed(device, || job(times))?.1 / times as f64)
}

/// How many times fill a round of so many seconds, so that the clock does not matter.
pub fn often(device: &Device, job: &mut Job<'_>, seconds: f64) -> Result<usize> {
    round(device, job, 1)?; // compiles
    Ok((seconds / round(device, job, 1)?.max(1e-6)).clamp(1.0, 10_000.0) as usize)
}

/// All jobs take turns in rounds of at least so many seconds: the speed of machines drifts, and so it drifts for all
/// alike.
pub fn in_turns(device: &Device, jobs: &mut [Job<'_>], rounds: usize, seconds: f64) -> Result<Vec<Rounds>> {
    // A GPU that has waited is slow for a while: how often would be found too low.
    let begun = Instant::now();
    while !jobs.is_empty() && begun.elapsed().as_secs_f64() < 0.2 {
        jobs.iter_mut().try_for_each(|job| job(1))?;
        device.finish()?;
    }
    let often = jobs.iter_mut().map(|job| often(device, job, seconds)).collect::<Result<Vec<_>>>()?;
    let mut all = vec![Rounds::default(); jobs.len()];
    for _ in 0..rounds {
        for ((job, &times), of) in jobs.iter_mut().zip(&often).zip(&mut all) {
            of.push(round(device, job, times)?);
        }
    }
    Ok(all)
}

/// The middle one of some values, or the mean of the two in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n == 0 { f64::NAN } else { 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]) }
}
