//! What no kernel of the device passes: draws that do nothing but write, read, or fetch what their neighbours fetch
//! too.

use std::rc::Rc;

use texla::kernel::{Kernel, NoParams};
use texla::{Device, Vector};

use super::clock::{self, Job, Rounds};
use super::outcome::Result;

/// Draws again and again into so many elements. The host's state is saved once a round, not once a draw: a ceiling is
/// the device's.
fn job(
    device: &Device,
    elements: usize,
    mut draw: impl FnMut(&mut Vector) -> texla::Result<()> + 'static,
) -> Result<Job<'static>> {
    let (device, mut out) = (device.clone(), Vector::zeros(device, elements)?);
    Ok(Box::new(move |times| {
        let _scope = device.scope()?;
        Ok((0..times).try_for_each(|_| draw(&mut out))?)
    }))
}

/// Reads `x` and writes so many elements.
fn read(device: &Device, body: &str, x: &Rc<Vector>, elements: usize) -> Result<Job<'static>> {
    let (kernel, x) = (Kernel::<NoParams>::new(device, "ceiling", ["x"], body)?, Rc::clone(x));
    job(device, elements, move |out| kernel.run(out, [&*x], &NoParams))
}

/// One that writes `n` elements, and some that read as many by windows of several sizes, of which one is the best.
pub fn jobs(device: &Device, n: usize) -> Result<Vec<Job<'static>>> {
    let kernel =
        Kernel::<NoParams>::new(device, "ceiling", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }")?;
    let mut jobs = vec![job(device, n, move |out| kernel.run(out, [], &NoParams))?];
    let x = Rc::new(Vector::filled(device, n, 1.0)?);
    let extent = x.extent();
    for side in [2, 4, 8, 16] {
        // Fragments side by side read texels side by side.
        let [width, height] = [extent.width, extent.height].map(|whole| whole.div_ceil(side));
        let body = format!(
            "vec4 kernel(ivec2 p) {{ vec4 s = vec4(0.0);
             for (int j = 0; j < {side}; ++j) for (int i = 0; i < {side}; ++i)
             s += x_at(p + ivec2(i * {width}, j * {height}));
             return s; }}"
        );
        jobs.push(read(device, &body, &x, 4 * (width * height) as usize)?);
    }
    Ok(jobs)
}

/// Fetches sixteen texels for each of the `n` elements' own, from a window that neighbours share; and how many that is.
pub fn fetches(device: &Device, n: usize) -> Result<(Job<'static>, f64)> {
    let body = "vec4 kernel(ivec2 p) { vec4 s = vec4(0.0); vec2 c = x_place(vec2(p));
        for (int j = 0; j < 4; ++j) for (int i = 0; i < 4; ++i) s += x_placed(c + x_step() * vec2(i, j));
        return s; }";
    let x = Rc::new(Vector::filled(device, n, 1.0)?);
    Ok((read(device, body, &x, n)?, 16.0 * x.extent().area() as f64))
}

/// Writing and reading a vector of one size, measured.
pub struct Ceiling {
    /// Seconds of each.
    pub write: f64,
    pub read: f64,
}

impl Ceiling {
    pub fn measure(device: &Device, n: usize, rounds: usize) -> Result<Self> {
        let mut jobs = jobs(device, n)?;
        Ok(Self::of(&clock::in_turns(device, &mut jobs, rounds, 0.01)?))
    }

    /// Of the times of [`jobs`].
    pub fn of(times: &[Rounds]) -> Self {
        let [write, reads @ ..] = times else { return Ceiling { write: f64::NAN, read: f64::NAN } };
        let read = reads.iter().map(Rounds::median).fold(f64::INFINITY, f64::min);
        Ceiling { write: write.median(), read }
    }

    /// The least time of a step of waves with so many iterations of conjugate gradients, none of whose schedules does
    /// without: an iteration writes r and d, x every second time, and reads r and d for its sums; a step besides writes
    /// the right-hand side and the new surface.
    pub fn wave_step(&self, iterations: usize) -> f64 {
        let k = iterations as f64;
        (2.5 * k + 2.0) * self.write + 2.0 * k * self.read
    }
}
