//! A kernel of one's own: reaction and diffusion on a grid, checked against a plain loop on the CPU.
//!
//! The library is not touched. The kernel is a GLSL function in `gray_scott.frag`, its parameters are a Rust struct,
//! and what does not fit together is an error when the kernel is made.

use std::process::ExitCode;
use std::time::Instant;

use support::{CommonArgs, Progress, Report, Result, json, say, worst_of};
use texla::kernel::{Kernel, PingPong};
use texla::{Vector, ops};

#[path = "../support/mod.rs"]
mod support;

/// Gray-Scott reaction and diffusion by a kernel of one's own.
#[derive(clap::Parser)]
#[command(name = "custom_kernel")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Steps in time; 2000 unless given (200 with --quick)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: Option<u32>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

texla::params! {
    /// Names and types as the kernel sees them.
    struct GrayScott { columns: i32, rows: i32, diffusion: [f32; 2], feed: f32, kill: f32 }
}

fn main() -> ExitCode {
    support::main_with("custom_kernel", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let context = args.common.headless(report)?;
    let dev = context.device();

    // Neither side is a power of two: the texture is folded otherwise than the grid.
    let (columns, rows) = if args.common.quick { (60, 44) } else { (180, 140) };
    let steps = args.steps.unwrap_or(if args.common.quick { 200 } else { 2000 });
    let p = GrayScott { columns, rows, diffusion: [1.0, 0.5], feed: 0.037, kill: 0.06 };
    let start = initial(&p);

    let kernel = Kernel::<GrayScott>::new(dev, "gray_scott", ["x"], include_str!("gray_scott.frag"))?;
    let mut grid = PingPong::new(Vector::from_slice(dev, &start)?, Vector::zeros(dev, start.len())?);
    let progress = Progress::new("reacting", u64::from(steps));
    let (before, started) = (dev.counters(), Instant::now());
    {
        let _scope = dev.scope()?; // the GL state is saved once for all steps
        for step in 0..steps {
            let (now, next) = grid.split(); // reading and writing one texture would not compile
            kernel.run(next, [now], &p)?;
            grid.swap();
            progress.set(u64::from(step) + 1);
        }
    }
    dev.finish()?;
    let seconds = started.elapsed().as_secs_f64();
    let done = dev.counters().since(&before);
    progress.finish();
    let found = grid.front().read()?;

    let started = Instant::now();
    let expected = on_the_cpu(&p, start.clone(), steps);
    let cpu_seconds = started.elapsed().as_secs_f64();
    let off = worst_of(&found, &expected, |a, b| f64::from((a - b).abs()));
    let alive = |cells: &[f32]| cells.chunks(4).filter(|c| c[1] > 0.1).count() as f64;
    say(format!(
        "{columns}x{rows} cells, {steps} steps: {:.1} us a step, {:.1} us on the CPU; {} of the cells react",
        1e6 * seconds / f64::from(steps),
        1e6 * cpu_seconds / f64::from(steps),
        alive(&found),
    ));
    report.row(json!({
        "columns": columns, "rows": rows, "steps": steps,
        "us_per_step": 1e6 * seconds / f64::from(steps), "cpu_us_per_step": 1e6 * cpu_seconds / f64::from(steps),
        "reacting": alive(&found), "draws": done.draws,
    }));
    // Rounding errors stay small here: the pattern is an attractor. A cell read wrong shows at once.
    report.at_most("largest difference to the CPU", 1e-3, off);
    report.at_least("cells that react, relative to the start", 1.0, alive(&found) / alive(&start));
    report.at_most("largest concentration", 1.0 + 1e-5, f64::from(ops::max_element(grid.front())?.read()?));
    report.at_least("smallest concentration", -1e-5, f64::from(ops::min_element(grid.front())?.read()?));
    report.check("draws a step", 1.0, done.draws as f64 / f64::from(steps), done.draws == u64::from(steps));
    report.check("readbacks in the loop", 0.0, done.readbacks as f64, done.readbacks == 0);
    Ok(())
}

/// Nothing but u, with squares of v here and there.
fn initial(p: &GrayScott) -> Vec<f32> {
    let at = |i: i32, j: i32| {
        let square = |x: i32, y: i32| (i - x).abs() <= 4 && (j - y).abs() <= 4;
        let spots = [(3, 3), (5, 2), (2, 6), (6, 6)].map(|(x, y)| square(p.columns * x / 8, p.rows * y / 8));
        if spots.contains(&true) { [0.5, 0.25, 0.0, 0.0] } else { [1.0, 0.0, 0.0, 0.0] }
    };
    (0..p.rows).flat_map(|j| (0..p.columns).flat_map(move |i| at(i, j))).collect()
}

/// The same as the kernel, one cell after another.
fn on_the_cpu(p: &GrayScott, mut now: Vec<f32>, steps: u32) -> Vec<f32> {
    let mut next = now.clone();
    for _ in 0..steps {
        for j in 0..p.rows {
            for i in 0..p.columns {
                let index = |i: i32, j: i32| {
                    4 * (j.rem_euclid(p.rows) * p.columns + i.rem_euclid(p.columns)) as usize
                };
                let laplacian = |c: usize| {
                    let at = |di: i32, dj: i32| now[index(i + di, j + dj) + c];
                    let sides = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1);
                    let corners = at(-1, -1) + at(1, -1) + at(-1, 1) + at(1, 1);
                    0.2 * sides + 0.05 * corners - at(0, 0)
                };
                let here = index(i, j);
                let (u, v) = (now[here], now[here + 1]);
                let reaction = u * v * v;
                next[here] = u + (p.diffusion[0] * laplacian(0) + (p.feed * (1.0 - u) - reaction));
                next[here + 1] = v + (p.diffusion[1] * laplacian(1) + (reaction - (p.feed + p.kill) * v));
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    now
}
