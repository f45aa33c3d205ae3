//! What a single iteration costs: enhanced block Jacobi beside matrices that are stored, on the same system.

use texla::pack::{Order, Program, RepeatedExpression};
use texla::solve::{BlockExpression, Direction, Smoother, WeightedJacobi};
use texla::{BandedMatrix, SparseFormat, SparseMatrix, Stencil, Vector};

use crate::run::OnCpu;
use crate::support::ceiling::Ceiling;
use crate::support::clock::{Rounds, round};
use crate::support::{Report, Result, Table, clock, json, say, worst_of};

/// What does not run on the device.
const OF_CPU: [&str; 2] = ["Gauss-Seidel, CPU", "the same, two threads"];
/// Sweeps of the first comparison.
const COMPARED: usize = 20;

/// A method and its times.
pub struct Timed {
    name: &'static str,
    /// What of the matrix stands in textures.
    bytes: u64,
    rounds: Rounds,
    /// Writing the unknowns alone, over an iteration; on the device.
    share: Option<f64>,
}

/// Statements of a program that compute, by its text: places and what is behind sides are no arithmetic of the method's.
pub fn computing(e: &RepeatedExpression, order: &Order) -> texla::Result<usize> {
    let declares =
        |line: &str| ["ivec2 ", "bool ", "float "].iter().any(|kind| line.trim_start().starts_with(kind));
    let parts = e.fragment_parts(order, false)?;
    let text = parts.iter().flat_map(|part| part.body.lines()).filter(|line| !declares(line));
    Ok(text.map(crate::count::computing).sum())
}

/// Runs all in turns; how far the stored ones end from the stencil's own sweeps is checked.
pub fn measure(
    a: &Stencil,
    [plain, folded]: [&BlockExpression; 2],
    b: &[f32],
    rounds: usize,
    sweeps: usize,
    report: &mut Report,
) -> Result<Vec<Timed>> {
    let device = a.device();
    let uploaded = || device.counters().upload_bytes;
    let before = uploaded();
    let banded = BandedMatrix::from_csr(device, a.csr().clone())?;
    let bands = uploaded() - before;
    let sparse = SparseMatrix::from_csr(device, a.csr().clone(), SparseFormat::Gather)?;
    let points = uploaded() - before - bands;
    let jacobi = WeightedJacobi::new(a, 1.0)?;
    let (banded, sparse) = (WeightedJacobi::new(&banded, 1.0)?, WeightedJacobi::new(&sparse, 1.0)?);
    let b = Vector::from_slice(device, b)?;

    let swept = |method: &dyn Smoother| -> Result<Vec<f64>> {
        let mut x = Vector::zeros(device, b.len())?;
        method.smooth(&mut x, &b, COMPARED)?;
        Ok(x.read()?.into_iter().map(f64::from).collect())
    };
    let (wanted, found) = (swept(&jacobi)?, [swept(&banded)?, swept(&sparse)?]);
    // Rows add up to 1 at most, so that no sweep enlarges what the ones before have lost: gamma(13) twice in each, of x and b.
    let largest = worst_of(&wanted, &wanted, |x, _| x.abs());
    let sizes = b.read()?.into_iter().map(|b| f64::from(b).abs() / 3.0).collect::<Vec<_>>();
    let bound = 4.0 * COMPARED as f64 * 13.0 / 16_777_216.0 * (largest + worst_of(&sizes, &sizes, |b, _| *b));
    for (name, found) in ["bands", "sparse rows"].into_iter().zip(&found) {
        let far = worst_of(found, &wanted, |x, y| (x - y).abs());
        report.at_most(format!("{name}: {COMPARED} sweeps, distance from the stencil's"), bound, far);
    }

    let (rest, mut states) = ([plain, folded].map(|e| e.pack(&b)), [plain.pack(&b)?, folded.pack(&b)?]);
    let [plain_b, folded_b] = rest;
    let (plain_b, folded_b) = (plain_b?, folded_b?);
    let [plain_x, folded_x] = &mut states;
    let mut xs =
        [Vector::zeros(device, b.len())?, Vector::zeros(device, b.len())?, Vector::zeros(device, b.len())?];
    let [x0, x1, x2] = &mut xs;
    let (mut of_one, mut of_two) = (OnCpu::new(a.grid(), 1), OnCpu::new(a.grid(), 2));
    let host = b.read()?;
    let on_cpu = |method: &mut OnCpu, sweeps| {
        method.sweeps.sweep(&mut method.x, &host, sweeps);
        Ok(())
    };
    type Job<'a> = (&'static str, u64, clock::Job<'a>);
    let mut jobs: Vec<Job<'_>> = vec![
        (
            "enhanced block Jacobi",
            0,
            Box::new(|sweeps| Ok(plain.iterate(plain_x, &plain_b, sweeps, Direction::Forward)?)),
        ),
        (
            "the same, optimised",
            0,
            Box::new(|sweeps| Ok(folded.iterate(folded_x, &folded_b, sweeps, Direction::Forward)?)),
        ),
        ("Jacobi, stencil", 0, Box::new(|sweeps| Ok(jacobi.smooth(x0, &b, sweeps)?))),
        ("Jacobi, stored bands", bands, Box::new(|sweeps| Ok(banded.smooth(x1, &b, sweeps)?))),
        ("Jacobi, stored sparse rows", points, Box::new(|sweeps| Ok(sparse.smooth(x2, &b, sweeps)?))),
        (OF_CPU[0], 0, Box::new(|sweeps| on_cpu(&mut of_one, sweeps))),
        (OF_CPU[1], 0, Box::new(|sweeps| on_cpu(&mut of_two, sweeps))),
    ];
    let mut times = vec![Rounds::default(); jobs.len()];
    let counted = device.counters();
    for k in 0..=rounds {
        for ((_, _, job), times) in jobs.iter_mut().zip(&mut times) {
            let seconds = round(device, job, sweeps)?;
            // The first compiles.
            if k > 0 {
                times.push(seconds);
            }
        }
    }
    report.at_most("readbacks in sweeps", 0.0, device.counters().since(&counted).readbacks as f64);
    let write = Ceiling::measure(device, b.len(), rounds)?.write;
    let timed = jobs.into_iter().zip(times).map(|((name, bytes, _), rounds)| {
        let share = (!OF_CPU.contains(&name)).then(|| write / rounds.median());
        Timed { name, bytes, rounds, share }
    });
    Ok(timed.collect())
}

impl Timed {
    pub fn json(&self) -> serde_json::Value {
        let row = json!({ "method": self.name, "matrix_bytes": self.bytes, "share_of_ceiling": self.share });
        self.rounds.times(1e3).in_row(row, "ms")
    }
}

pub fn print(timed: &[Timed], programs: [&Program; 2], rounds: usize) {
    let mut table = Table::new(["an iteration", "bytes of the matrix", "ms", "times the optimised"]);
    let optimised = timed.get(1).map_or(f64::NAN, |timed| timed.rounds.median());
    for t in timed {
        let ms = format!("{:.3}", 1e3 * t.rounds.median());
        table.row([
            t.name.to_owned(),
            t.bytes.to_string(),
            ms,
            format!("{:.2}", t.rounds.median() / optimised),
        ]);
    }
    table.print();
    let [plain, folded] = programs.map(|program| {
        let counts = program.counts();
        (f64::from(counts.total()), f64::from(counts.tex))
    });
    say(format_args!(
        "Medians of {rounds} rounds in turn. Plain over optimised: fetches {:.2}, arithmetic {:.2}, measured {:.2}.\n",
        plain.1 / folded.1,
        plain.0 / folded.0,
        timed.first().map_or(f64::NAN, |timed| timed.rounds.median() / optimised),
    ));
}
