//! From having the matrix to having the answer: everything counted, in a context of its own.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use texla::host::Csr;
use texla::solve::{
    CgParams, Choice, ConjugateGradient, DirectUse, HostSystem, HostSystemParams, MethodKind, Multigrid,
    MultigridParams, PreconditionerKind, Stop,
};
use texla::{Device, DoubleVector, Result, Stencil, Vector};

use crate::problem::{Problem, System};

/// What is had at the start, and what is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The matrix' entries, without a word on the method.
    Entries,
    /// The matrix' entries and algebraic multigrid: what is solved so where no grid is found.
    Aggregation,
    /// The coefficients of a grid.
    Stencil,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::Entries, Way::Aggregation, Way::Stencil];
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Entries => "from entries, default",
            Way::Aggregation => "from entries, aggregation",
            Way::Stencil => "from a stencil, geometric",
        })
    }
}

/// Seconds from the matrix to the solution on the host, and what they went by with.
#[derive(Clone, Default)]
pub struct Parts {
    pub upload: f64,
    pub set_up: f64,
    pub compile: f64,
    pub iterate: f64,
    pub total: f64,
    pub iterations: usize,
    pub by: String,
    pub x: Vec<f64>,
    /// Says why, where it is no solution.
    pub gave_up: Option<String>,
}

/// Time, and how much of it went by while programs were compiled.
struct Clock<'d> {
    device: &'d Device,
    at: Instant,
    compiled: Duration,
}

impl<'d> Clock<'d> {
    fn start(device: &'d Device) -> Self {
        Clock { device, at: Instant::now(), compiled: device.counters().compile_time }
    }

    /// Seconds since the last call: of work, and of compiling.
    fn lap(&mut self) -> [f64; 2] {
        let (now, compiled) = (Instant::now(), self.device.counters().compile_time);
        let compile = (compiled - self.compiled).as_secs_f64();
        let all = (now - self.at).as_secs_f64();
        (self.at, self.compiled) = (now, compiled);
        [all - compile, compile]
    }
}

/// An answer in pairs of floats on a device that has done nothing yet.
pub fn answer(
    device: &Device,
    (problem, csr, b): (&Problem, &Csr, &[f64]),
    way: Way,
    tol: f64,
) -> Result<Parts> {
    let stop = Stop::relative(tol);
    let given = csr.clone();
    let mut clock = Clock::start(device);
    let mut parts = Parts::default();
    match way {
        Way::Entries | Way::Aggregation => {
            let mut params = HostSystemParams::default();
            params.auto.stop = stop;
            if way == Way::Aggregation {
                params.direct = DirectUse::Never;
                params.auto.choices = vec![Choice::new(MethodKind::Cg, PreconditionerKind::Amg)];
            }
            let system = HostSystem::new(device, given, params)?;
            let [upload, compile] = clock.lap();
            let (x, report) = system.solve(b)?;
            let [solving, compiling] = clock.lap();
            let made = report.runs.iter().map(|run| run.set_up).sum::<Duration>().as_secs_f64();
            (parts.upload, parts.set_up, parts.iterate) = (upload, made, solving - made);
            (parts.compile, parts.iterations) = (compile + compiling, report.solved.iterations);
            parts.by = report.by.to_string();
            parts.gave_up = (!report.converged()).then(|| report.solved.to_string());
            parts.x = x;
        }
        Way::Stencil => {
            let stencil: Stencil = problem.stencil(device).expect("a grid");
            let right = Vector::from_f64(device, b)?;
            let [upload, c0] = clock.lap();
            let multigrid = Multigrid::new(&stencil, MultigridParams::default())?;
            let [set_up, c1] = clock.lap();
            let params = CgParams::default().with_stop(stop);
            let mut x = DoubleVector::zeros(device, b.len())?;
            let report =
                ConjugateGradient::preconditioned(&stencil, &multigrid, params)?.solve(&mut x, &right)?;
            parts.x = x.read()?;
            let [iterate, c2] = clock.lap();
            (parts.upload, parts.set_up, parts.iterate) = (upload, set_up, iterate);
            (parts.compile, parts.iterations) = (c0 + c1 + c2, report.iterations);
            parts.gave_up = (!report.converged()).then(|| report.to_string());
            parts.by = "cg with multigrid".to_owned();
        }
    }
    parts.total = parts.upload + parts.set_up + parts.compile + parts.iterate;
    Ok(parts)
}

/// What Python's libraries take for the same system, a JSON object for each; where there are none, one that says so.
pub fn peers(system: &System, b: &[f64], tol: f64, most: f64) -> Vec<Value> {
    let left_out = |why: String| serde_json::json!({ "left_out": why });
    let folder = std::env::temp_dir().join(format!("texla-peers-{}", std::process::id()));
    let python = std::env::var_os("TEXLA_PYTHON").unwrap_or_else(|| "python3".into());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("time_to_solution/peers.py");
    let ran = written(&folder, system.csr(), b).and_then(|()| {
        Command::new(&python).arg(script).arg(&folder).args([tol, most].map(|v| v.to_string())).output()
    });
    // A folder that stays behind in the one for such folders harms nobody.
    let _ = std::fs::remove_dir_all(&folder);
    let output = match ran {
        Ok(output) => output,
        Err(error) => return vec![left_out(format!("SciPy ({}: {error})", Path::new(&python).display()))],
    };
    let lines = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().last().map_or_else(|| format!("more than {most} s"), str::to_owned);
        found.push(left_out(format!("what follows ({why})")));
    }
    found
}

fn written(folder: &Path, a: &Csr, b: &[f64]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let write = |name: &str, bytes: &mut dyn Iterator<Item = Vec<u8>>| {
        let mut file = std::io::BufWriter::new(std::fs::File::create(folder.join(name))?);
        for bytes in bytes {
            file.write_all(&bytes)?;
        }
        file.flush()
    };
    let mut end = 0;
    let ends = a.rows().map(|(cols, _)| {
        end += cols.len() as i64;
        end
    });
    write("ends.i64", &mut std::iter::once(0).chain(ends).map(|v: i64| v.to_le_bytes().to_vec()))?;
    write("cols.i32", &mut a.rows().flat_map(|(cols, _)| cols).map(|j| j.to_le_bytes().to_vec()))?;
    write("values.f64", &mut a.values().iter().map(|v| v.to_le_bytes().to_vec()))?;
    write("b.f64", &mut b.iter().map(|v| v.to_le_bytes().to_vec()))
}
