//! Rows of the table: each a method, kept to one tolerance from step to step.

use std::time::Instant;

use texla::{Device, Grid};

use crate::cpu;
use crate::is_papers;
use crate::run::{Criterion, Method, TOLERANCES};
use crate::support::clock::Rounds;
use crate::support::{Report, Result, Table, json, say, worst};

/// What the paper prints at a tolerance.
#[derive(Clone, Copy)]
struct Papers {
    /// With transfer where there is one: section 4.1.3.
    ms: f64,
    iterations: u32,
    without_transfer: Option<f64>,
}

/// What a row is.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    /// At each tolerance, of the paper's grid.
    papers: Option<[Papers; 3]>,
    /// Also by the change of x.
    pub changes: bool,
}

const fn kind(name: &'static str, papers: Option<[Papers; 3]>, changes: bool) -> Kind {
    Kind { name, papers, changes }
}

const fn papers(ms: f64, iterations: u32, without_transfer: Option<f64>) -> Papers {
    Papers { ms, iterations, without_transfer }
}

/// A method of the CPU transfers nothing.
const fn on_cpu(ms: f64, iterations: u32) -> Papers {
    papers(ms, iterations, Some(ms))
}

pub const JACOBI: Kind = kind("Jacobi", None, false);
pub const PLAIN: Kind = kind(
    "enhanced block Jacobi",
    Some([papers(62.8, 20, None), papers(142.4, 84, None), papers(419.1, 291, None)]),
    true,
);
/// The first time without transfer is illegible.
pub const FOLDED: Kind = kind(
    "the same, optimised",
    Some([papers(49.1, 19, None), papers(111.6, 77, Some(68.3)), papers(315.9, 253, Some(272.6))]),
    true,
);
pub const ONE_THREAD: Kind =
    kind("Gauss-Seidel, CPU", Some([on_cpu(101.6, 16), on_cpu(364.8, 61), on_cpu(1178.6, 200)]), true);
pub const TWO_THREADS: Kind = kind("the same, two threads", None, true);
pub const GRADIENTS: Kind = kind("conjugate gradients", None, false);
pub const MULTIGRID: Kind = kind("the same, multigrid", None, false);

/// A method on its way through the steps.
pub struct Row<'a> {
    pub kind: Kind,
    pub criterion: Criterion,
    /// Which of [`TOLERANCES`].
    pub column: usize,
    papers: Option<Papers>,
    method: Box<dyn Method + 'a>,
    pub sweeps: usize,
    pub met: bool,
    /// Milliseconds of each system: solving alone, and with b brought and x read.
    times: [Rounds; 2],
    steps: usize,
    /// The largest residual in 64 bits over b, and by how much it is over the tolerance as a share of what rounding may do.
    residual: f64,
    excess: f64,
}

impl<'a> Row<'a> {
    pub fn new(
        kind: Kind,
        (criterion, column): (Criterion, usize),
        grid: Grid,
        method: Box<dyn Method + 'a>,
    ) -> Self {
        let (times, residual, excess) = (Default::default(), 0.0, 0.0);
        let papers = kind.papers.filter(|_| is_papers(grid)).map(|papers| papers[column]);
        Self {
            kind,
            criterion,
            column,
            papers,
            method,
            sweeps: 0,
            met: true,
            times,
            steps: 0,
            residual,
            excess,
        }
    }

    fn tolerance(&self) -> f64 {
        TOLERANCES[self.column]
    }

    /// The next system.
    pub fn step(&mut self, device: &Device, grid: Grid, b: &[f32]) -> Result<Vec<f32>> {
        let (norm_b, tolerance) = (cpu::norm(b), self.tolerance());
        device.finish()?;
        let mut started = Instant::now();
        let mut lap = || -> Result<f64> {
            device.finish()?;
            Ok(1e3 * std::mem::replace(&mut started, Instant::now()).elapsed().as_secs_f64())
        };
        self.method.upload(b)?;
        let brought = lap()?;
        let (sweeps, met) = self.method.solve(norm_b, self.criterion, tolerance)?;
        let solved = lap()?;
        let x = self.method.read()?;
        let read = lap()?;
        self.times[0].push(solved);
        self.times[1].push(brought + solved + read);
        let [residual, rounding] = cpu::residual(grid, &x, b);
        self.residual = worst(self.residual, residual / norm_b);
        if met {
            self.excess = worst(self.excess, (residual - tolerance * norm_b) / rounding);
        }
        self.sweeps += sweeps;
        self.met &= met;
        self.steps += 1;
        Ok(x)
    }

    fn per_step(&self, total: f64) -> f64 {
        total / self.steps as f64
    }

    fn iterations(&self) -> f64 {
        self.per_step(self.sweeps as f64)
    }

    /// Milliseconds a system without transfer, and with.
    fn ms(&self) -> [f64; 2] {
        self.times.each_ref().map(Rounds::mean)
    }

    fn on_cpu(&self) -> bool {
        [ONE_THREAD, TWO_THREADS].iter().any(|kind| kind.name == self.kind.name)
    }

    /// What a recomputed residual is held to.
    pub fn check(&self, report: &mut Report) {
        if self.criterion == Criterion::Residual && self.column == 0 {
            let name = format!("{}: every system met {:e}", self.kind.name, self.tolerance());
            report.check(name, 1.0, f64::from(u8::from(self.met)), self.met);
        }
        if self.criterion == Criterion::Residual && self.met {
            let name = format!(
                "{} at {:e}: residual in 64 bits over the tolerance, of rounding",
                self.kind.name,
                self.tolerance()
            );
            report.at_most(name, 1.0, self.excess);
        }
    }

    pub fn json(&self) -> serde_json::Value {
        let [without, with] = self.ms();
        let papers = self.papers;
        let mut row = json!({
            "method": self.kind.name, "criterion": self.criterion.name(), "tolerance": self.tolerance(),
            "iterations": self.iterations(), "met": self.met, "ms": without,
            "ms_with_transfer": (!self.on_cpu()).then_some(with), "true_residual": self.residual,
            "papers_ms": papers.map(|papers| papers.ms), "papers_iterations": papers.map(|papers| papers.iterations),
            "papers_ms_without_transfer": papers.and_then(|papers| papers.without_transfer),
        });
        self.times[0].put_range(&mut row, "ms");
        if !self.on_cpu() {
            self.times[1].put_range(&mut row, "ms_with_transfer");
        }
        row
    }
}

/// A line for each method that has rows of this criterion.
fn lines<'a>(
    rows: &'a [Row<'a>],
    criterion: Criterion,
    mut line: impl FnMut(&'static str, Vec<&'a Row<'a>>),
) {
    for kind in ORDER {
        let is = |row: &&Row<'_>| row.criterion == criterion && row.kind.name == kind.name;
        let cells: Vec<_> = rows.iter().filter(is).collect();
        if !cells.is_empty() {
            line(kind.name, cells);
        }
    }
}

pub fn print(rows: &[Row<'_>], criterion: Criterion) {
    let mut heading = vec![criterion.name().to_owned()];
    for tolerance in TOLERANCES {
        let columns = ["iterations", "paper's", "ms", "paper's", "with transfer", "paper's"];
        heading.push(format!("{tolerance:.0e}: {}", columns[0]));
        heading.extend(columns[1..].iter().map(|&column| column.to_owned()));
    }
    let mut table = Table::new(heading);
    let or_dash = |value: Option<String>| value.unwrap_or("-".to_owned());
    lines(rows, criterion, |name, cells| {
        let mut line = vec![name.to_owned()];
        for row in cells {
            let [without, with] = row.ms();
            let papers = row.papers;
            let beyond = if row.met { "" } else { ">" };
            line.extend([
                format!("{beyond}{:.1}", row.iterations()),
                or_dash(papers.map(|papers| papers.iterations.to_string())),
                format!("{without:.1}"),
                or_dash(papers.and_then(|papers| papers.without_transfer).map(|ms| ms.to_string())),
                or_dash((!row.on_cpu()).then(|| format!("{with:.1}"))),
                or_dash(papers.filter(|_| !row.on_cpu()).map(|papers| papers.ms.to_string())),
            ]);
        }
        table.row(line);
    });
    table.print();
    say("");
}

/// What each criterion leaves, in 64 bits.
pub fn residuals(rows: &[Row<'_>]) {
    for criterion in Criterion::ALL {
        let mut heading = vec![format!("largest true residual, by the {}", criterion.name())];
        heading.extend(TOLERANCES.map(|tolerance| format!("{tolerance:.0e}")));
        let mut table = Table::new(heading);
        lines(rows, criterion, |name, cells| {
            let residuals = cells.into_iter().map(|row| format!("{:.1e}", row.residual));
            table.row([name.to_owned()].into_iter().chain(residuals));
        });
        table.print();
        say("");
    }
}

/// In the order of the table.
pub const ORDER: [Kind; 7] = [ONE_THREAD, TWO_THREADS, PLAIN, FOLDED, JACOBI, GRADIENTS, MULTIGRID];
