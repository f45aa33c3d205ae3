//! What no kernel of the device passes: draws that do nothing but write, read, or fetch what their neighbours fetch
//! too.

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
    run: Box<dyn FnMut() -> texla::Result<()>>,
}

impl Draw {
    /// Reads `x` by the kernel and writes so many elements.
    fn new(name: String, body: &str, x: &Rc<Vector>, elements: usize, accum: Accum) -> texla::Result<Self> {
        let device = x.device();
        let kernel = Kernel::<NoParams>::new(device, "ceiling", ["x"], body)?;
        let (mut out, x) = (Turns::new(device, elements)?, Rc::clone(x));
        let run = move || kernel.with([&*x], &NoParams).accumulate(accum).run(out.next());
        Ok(Draw { name, run: Box::new(run) })
    }

    pub fn run(&mut self) -> texla::Result<()> {
        (self.run)()
    }

    /// Again and again. The host's state is saved once a round, not once a draw: a ceiling is the device's.
    fn job(mut self, device: &Device) -> Job<'static> {
        let device = device.clone();
        Box::new(move |times| {
            let _scope = device.scope()?;
            Ok((0..times).try_for_each(|_| self.run())?)
        })
    }
}

const WRITE: &str = "vec4 kernel(ivec2 p) { return vec4(1.0); }";

/// Writing `n` elements by itself; and reading as many, by windows of several sizes, of which one is the best.
pub fn draws(device: &Device, n: usize) -> texla::Result<Vec<Draw>> {
    let x = Rc::new(Vector::filled(device, n, 1.0)?);
    let mut draws = vec![Draw::new("write".into(), WRITE, &x, n, Accum::Replace)?];
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
        let (name, small) = (format!("read {side}x{side} a texel"), 4 * (width * height) as usize);
        draws.push(Draw::new(name, &body, &x, small, Accum::Replace)?);
    }
    Ok(draws)
}

/// Writing that does something besides: one fetch, or blending where the device does that.
pub fn writes_and_more(device: &Device, n: usize) -> texla::Result<Vec<Draw>> {
    let x = Rc::new(Vector::filled(device, n, 1.0)?);
    let copy = "vec4 kernel(ivec2 p) { return x_here(); }";
    let mut draws = vec![Draw::new("write after one fetch".into(), copy, &x, n, Accum::Replace)?];
    if device.capabilities().float_blend {
        draws.push(Draw::new("blend".into(), WRITE, &x, n, Accum::Add)?);
    }
    Ok(draws)
}

/// [`draws`] as jobs, for [`Ceiling::of`].
pub fn jobs(device: &Device, n: usize) -> Result<Vec<Job<'static>>> {
    Ok(draws(device, n)?.into_iter().map(|draw| draw.job(device)).collect())
}

/// Fetching texels that neighbours fetch too, by windows of several sizes, of which one is the best.
pub struct Fetching {
    /// Each, with the texels that it fetches.
    pub jobs: Vec<(Job<'static>, f64)>,
}

impl Fetching {
    /// By as many fragments as `n` elements have.
    pub fn new(device: &Device, n: usize) -> Result<Self> {
        let x = Rc::new(Vector::filled(device, n, 1.0)?);
        let fragments = x.extent().area() as f64;
        let job = |side: u32| {
            let body = format!(
                "vec4 kernel(ivec2 p) {{ vec4 s = vec4(0.0); vec2 c = x_place(vec2(p));
                 for (int j = 0; j < {side}; ++j) for (int i = 0; i < {side}; ++i)
                 s += x_placed(c + x_step() * vec2(i, j));
                 return s; }}"
            );
            let draw = Draw::new("fetch".into(), &body, &x, n, Accum::Replace)?;
            Ok((draw.job(device), f64::from(side * side) * fragments))
        };
        Ok(Fetching { jobs: [3, 4, 6, 8].into_iter().map(job).collect::<Result<_>>()? })
    }

    /// Texels a second, at best.
    pub fn rate(&mut self, device: &Device, seconds: f64) -> Result<f64> {
        self.jobs.iter_mut().try_fold(0.0_f64, |best, (job, texels)| {
            let times = clock::often(device, job, seconds)?;
            Ok(best.max(*texels / clock::round(device, job, times)?))
        })
    }
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
