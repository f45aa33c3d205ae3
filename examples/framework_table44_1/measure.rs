//! What is timed, in turns, and the ceilings beside it.
#![allow(unsafe_code)] // the renderer's promise

use texla::sim::wave::{Drop, Scheme, Wave, WaveParams};
use texla::{Device, Headless, Scalar, Vector, ops};

use crate::printed::Printed;
use crate::render::Renderer;
use crate::support::ceiling::{self, Ceiling, Turns};
use crate::support::clock::{self, Job, Rounds};
use crate::support::{Progress, Report, Result, share, worst_of};

/// Bound on the relative residual of an implicit step.
pub const TOLERANCE: f64 = 1e-4;
/// A round of anything takes at least this long, so that the clock does not matter.
const ROUND: f64 = 0.03;

/// A column of the paper's table: milliseconds of the first two rows, frames a second of the third.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub nx: usize,
    pub ny: usize,
    papers: [f64; 3],
}

const fn size(nx: usize, ny: usize, papers: [f64; 3]) -> Size {
    Size { nx, ny, papers }
}

/// The paper's columns, from right to left.
pub const SIZES: [Size; 6] = [
    size(256, 256, [0.14, 0.02, 335.0]),
    size(512, 256, [0.16, 0.04, 185.0]),
    size(512, 512, [0.17, 0.08, 102.0]),
    size(1024, 512, [0.28, 0.15, 52.0]),
    size(1024, 1024, [0.49, 0.31, 27.0]),
    size(2048, 1024, [1.11, 0.89, 12.0]),
];

impl Size {
    pub fn name(&self) -> String {
        format!("{}x{}", self.nx, self.ny)
    }

    pub fn cells(&self) -> usize {
        self.nx * self.ny
    }
}

/// A row of the table, and the step of the demo without its picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Reduce,
    Operation,
    Step,
    Demo,
}

impl What {
    pub const ALL: [What; 4] = [What::Reduce, What::Operation, What::Step, What::Demo];

    pub fn name(self) -> &'static str {
        match self {
            What::Reduce => "vector reduce",
            What::Operation => "vector-vector op",
            What::Step => "wave step",
            What::Demo => "wave demo",
        }
    }

    /// Counted in frames.
    pub fn is_demo(self) -> bool {
        matches!(self, What::Step | What::Demo)
    }

    /// What the paper says.
    pub fn papers_ms(self, size: &Size) -> Option<f64> {
        match self {
            What::Reduce => Some(size.papers[0]),
            What::Operation => Some(size.papers[1]),
            What::Step => None,
            What::Demo => Some(1e3 / size.papers[2]),
        }
    }
}

/// One size, measured.
pub struct Measured {
    pub size: Size,
    /// Of [`What::ALL`].
    rounds: Vec<Rounds>,
    ceiling: Ceiling,
    pub iterations: usize,
    pub passes_per_iteration: u64,
    /// Of a step.
    pub draws: u64,
    /// In everything that was timed.
    pub readbacks: u64,
    /// The paper's own program, where it was asked for.
    pub printed: Option<MeasuredProgram>,
}

/// The program of 44.4.1 as it is printed.
pub struct MeasuredProgram {
    /// A step, and a step with its picture.
    pub rounds: [Rounds; 2],
    pub iterations: usize,
    /// Of a step.
    pub draws: u64,
    pub readbacks: u64,
}

/// How it is measured.
#[derive(Clone, Copy)]
pub struct Plan {
    pub rounds: usize,
    pub courant: f64,
    /// The paper's own program too.
    pub printed: bool,
}

impl Measured {
    pub fn rounds(&self, what: What) -> &Rounds {
        &self.rounds[what as usize]
    }

    pub fn seconds(&self, what: What) -> f64 {
        self.rounds(what).median()
    }

    /// The least time the device could take, over the time it takes: a reduction reads a vector, an operation writes one. A
    /// picture has no such floor.
    pub fn share(&self, what: What) -> Option<f64> {
        let least = match what {
            What::Reduce => self.ceiling.read,
            What::Operation => self.ceiling.write,
            What::Step => self.ceiling.wave_step(self.iterations),
            What::Demo => return None,
        };
        Some(least / self.seconds(what))
    }
}

/// Does something again and again.
fn again<'a>(mut once: impl FnMut() -> Result + 'a) -> Job<'a> {
    Box::new(move |times| (0..times).try_for_each(|_| once()))
}

/// Measures all sizes, each in rounds in which everything takes its turn.
pub fn measure(context: &Headless, sizes: &[Size], plan: Plan, report: &mut Report) -> Result<Vec<Measured>> {
    let progress = Progress::new("size", sizes.len() as u64);
    let mut all = Vec::new();
    for (k, size) in sizes.iter().enumerate() {
        progress.note(size.name());
        all.push(measure_size(context, *size, plan, report)?);
        progress.set(k as u64 + 1);
        context.device().trim()?;
    }
    progress.finish();
    Ok(all)
}

fn measure_size(context: &Headless, size: Size, plan: Plan, report: &mut Report) -> Result<Measured> {
    let Plan { rounds, courant, printed } = plan;
    let device = context.device();
    let n = size.cells();
    // All of one sign, so that the sum's bound would see a few elements missing.
    let value = |i: usize| ((i * 7919) % 1000) as f32 / 1000.0 + 0.5;
    let host: Vec<f32> = (0..n).map(value).collect();
    let other: Vec<f32> = (0..n).map(|i| value(i + 13)).collect();
    let (x, y) = (Vector::from_slice(device, &host)?, Vector::from_slice(device, &other)?);
    let mut out = Turns::new(device, n)?;
    let mut sum = Scalar::zero(device)?;
    let (mut step, mut demo) = (wave(device, size, courant)?, wave(device, size, courant)?);
    // SAFETY: the context is current, and outlives the renderer.
    let renderer = unsafe { Renderer::new(context.glow(), step.params().grid, (640, 480), 1) }?;

    // What a step issues, once for all; twice the iterations tell what one takes.
    let iterations = step.iterations();
    let doubled = (*step.params()).with_iterations(Some(2 * iterations));
    let mut doubled = Wave::new(device, doubled)?;
    let cost = |wave: &mut Wave| -> Result<_> {
        wave.step()?; // compiled, if it was not
        let before = device.counters();
        wave.step()?;
        Ok(device.counters().since(&before))
    };
    let (once, twice) = (cost(&mut step)?, cost(&mut doubled)?);
    drop(doubled);

    let before = device.counters();
    let mut rounds = {
        let mut jobs: Vec<Job<'_>> = vec![
            again(|| Ok(ops::reduce_into(&mut sum, ops::Reduction::Sum, &x, None, ops::Windows::Balanced)?)),
            again(|| Ok(ops::add(out.next(), &x, &y)?)),
            again(|| Ok(step.step()?)),
            again(|| {
                demo.step()?;
                renderer.draw_only(&demo);
                Ok(())
            }),
        ];
        jobs.extend(ceiling::jobs(device, n)?);
        clock::in_turns(device, &mut jobs, rounds, ROUND)?
    };
    let ceiling = Ceiling::of(&rounds.split_off(What::ALL.len()));
    let readbacks = device.counters().since(&before).readbacks;

    check(report, size, (&host, &other), (out.next(), &sum), [&step, &demo])?;
    let name = |what: &str| format!("{}: {what}", size.name());
    report.at_most(name("readbacks in everything timed"), 0.0, readbacks as f64);
    let before = device.counters();
    step.step()?;
    let again = device.counters().since(&before).draws;
    report.check(
        name("draws of a step, the first and the last"),
        once.draws as f64,
        again as f64,
        once.draws == again,
    );
    let printed =
        printed.then(|| measure_program(&renderer, size, plan, step.displacement(), report)).transpose()?;
    Ok(Measured {
        size,
        rounds,
        ceiling,
        iterations,
        passes_per_iteration: (twice.passes - once.passes) / iterations as u64,
        draws: once.draws,
        readbacks,
        printed,
    })
}

/// The paper's own program, from a surface as the waves have left it, in rounds of its own.
fn measure_program(
    renderer: &Renderer,
    size: Size,
    plan: Plan,
    start: &Vector,
    report: &mut Report,
) -> Result<MeasuredProgram> {
    let device = start.device();
    let params = WaveParams::new(size.nx, size.ny).with_dt(plan.courant).with_tolerance(TOLERANCE);
    let iterations = params.with_scheme(Scheme::CurrentAndNext).iterations();
    let (grid, alpha, start) = ([size.nx, size.ny], plan.courant.powi(2), start.read()?);
    let program = || Printed::new(device, grid, alpha, &start, TOLERANCE, iterations);
    let (mut step, mut demo) = (program()?, program()?);
    step.step()?; // compiled, if it was not
    let before = device.counters();
    step.step()?;
    let draws = device.counters().since(&before).draws;
    let before = device.counters();
    let mut jobs = [
        again(|| Ok(step.step().map(|_| ())?)),
        again(|| {
            demo.step()?;
            // renderHF(cluCurrent->m_pVectorTexture);
            renderer.draw_unpacked(&demo.cluCurrent);
            Ok(())
        }),
    ];
    let mut rounds = clock::in_turns(device, &mut jobs, plan.rounds, ROUND)?;
    drop(jobs);
    let rounds = [0, 1].map(|k| std::mem::take(&mut rounds[k]));
    let readbacks = device.counters().since(&before).readbacks;
    let name = |what: &str| format!("{}: {what}", size.name());
    report.at_most(name("readbacks in the printed program"), 0.0, readbacks as f64);
    let met = step.step()?.read()?.met && demo.step()?.read()?.met;
    report.check(name("the printed program's bound is met"), 1.0, f64::from(u8::from(met)), met);
    Ok(MeasuredProgram { rounds, iterations, draws, readbacks })
}

/// An implicit wave with a drop in it.
fn wave(device: &Device, size: Size, courant: f64) -> Result<Wave> {
    let params = WaveParams::new(size.nx, size.ny).with_dt(courant).with_tolerance(TOLERANCE);
    let mut wave = Wave::new(device, params)?;
    let middle = [size.nx as f64 / 2.0, size.ny as f64 / 2.0];
    wave.drop(Drop { centre: middle, radius: size.ny as f64 / 8.0, height: 1.0, balanced: true })?;
    Ok(wave)
}

/// Every result against 64 bits.
fn check(
    report: &mut Report,
    size: Size,
    (x, y): (&[f32], &[f32]),
    (out, sum): (&Vector, &Scalar),
    waves: [&Wave; 2],
) -> Result {
    const U: f64 = 1.0 / 16_777_216.0;
    let name = |what: &str| format!("{}: {what}", size.name());
    let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
    let magnitudes: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
    let windows = ops::Windows::Balanced;
    let plan = ops::ReducePlan::new(out.extent(), windows);
    let bound = (plan.longest_chain() as f64 + 1.0) * U * 1.01 * magnitudes;
    report.at_most(name("error of the sum"), bound, (f64::from(sum.read()?) - exact).abs());
    let exact: Vec<f64> = x.iter().zip(y).map(|(x, y)| f64::from(*x) + f64::from(*y)).collect();
    let error = |out: &f32, exact: &f64| share((f64::from(*out) - exact).abs(), U * exact.abs());
    let most = worst_of(&out.read()?, &exact, error);
    report.at_most(name("error of the addition in roundings"), 1.0, most);
    for (wave, what) in waves.into_iter().zip(["step", "frame"]) {
        let residual = wave.report()?.map_or(f64::NAN, |report| report.residual);
        report.at_most(name(&format!("relative residual of the last {what}")), 2.0 * TOLERANCE, residual);
    }
    Ok(())
}
