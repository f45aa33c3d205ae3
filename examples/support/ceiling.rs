//! What no kernel of the device passes: draws that do nothing but write or read.

use std::rc::Rc;

use texla::kernel::{Accum, Kernel, NoParams};
use texla::{Device, Vector};

use super::clock::{self, Job, Rounds};
use super::outcome::Result;

/// Targets in turns. A draw that covers all of what the draw before it has left may spare the device that one: Mesa's
/// software rasteriser drops what is not rasterised yet.
pub struct Turns([Vector; 2]);

impl Turns {
    pub fn new(device: &Device, n: usize) -> texla::Result<Self> {
        Ok(Turns([Vector::zeros(device, n)?, Vector::zeros(device, n)?]))
    }

    pub fn next(&mut self) -> &mut Vector {
        self.0.swap(0, 1);
        &mut self.0[0]
    }
}

/// A draw that does as little as a draw of its kind can.
pub struct Draw {
    pub name: String,
    pub run: Box<dyn FnMut() -> texla::Result<()>>,
}

impl Draw {
    /// Reads `x` by a kernel and writes so many elements.
    pub fn new(name: &str, body: &str, x: &Rc<Vector>, elements: usize, accum: Accum) -> texla::Result<Self> {
        let kernel = Kernel::<NoParams>::new(x.device(), "ceiling", ["x"], body)?;
        let (mut out, x) = (Turns::new(x.device(), elements)?, Rc::clone(x));
        let run = move || kernel.with([&*x], &NoParams).accumulate(accum).run(out.next());
        Ok(Draw { name: name.to_owned(), run: Box::new(run) })
    }

    /// Sums windows of so many texels a side, from where `at` begins and as far as `step` is apart.
    pub fn window(side: u32, at: &str, step: &str, x: &Rc<Vector>, elements: usize) -> texla::Result<Self> {
        let body = format!(
            "vec4 kernel(ivec2 p) {{ vec4 s = vec4(0.0); vec2 c = x_place(vec2(p));
             for (int j = 0; j < {side}; ++j) for (int i = 0; i < {side}; ++i) s += {at} {step});
             return s; }}"
        );
        Self::new(&format!("read {side}x{side} a texel"), &body, x, elements, Accum::Replace)
    }

    /// Again and again. The host's state is saved once a round, not once a draw: a ceiling is the device's.
    pub fn job(mut self, device: &Device) -> Job<'static> {
        let device = device.clone();
        Box::new(move |times| {
            let _scope = device.scope()?;
            Ok((0..times).try_for_each(|_| (self.run)())?)
        })
    }
}

pub const WRITE: &str = "vec4 kernel(ivec2 p) { return vec4(1.0); }";

/// Writing as many elements as `x` has; and reading `x`, by windows of several sizes, of which one is the best.
pub fn draws(x: &Rc<Vector>) -> texla::Result<Vec<Draw>> {
    let mut draws = vec![Draw::new("write", WRITE, x, x.len(), Accum::Replace)?];
    for side in [2, 4, 8, 16] {
        // Fragments side by side read texels side by side.
        let [width, height] = [x.extent().width, x.extent().height].map(|whole| whole.div_ceil(side));
        let step = format!("ivec2(i * {width}, j * {height})");
        draws.push(Draw::window(side, "x_at(p +", &step, x, 4 * (width * height) as usize)?);
    }
    Ok(draws)
}

/// [`draws`] as jobs, for [`Ceiling::of`].
pub fn jobs(device: &Device, n: usize) -> Result<Vec<Job<'static>>> {
    let draws = draws(&Rc::new(Vector::filled(device, n, 1.0)?))?;
    Ok(draws.into_iter().map(|draw| draw.job(device)).collect())
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
