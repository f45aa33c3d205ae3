//! What is timed, in turns.

use std::time::Instant;

use faer::Par;

use crate::cpu::{self, Library};
use crate::device::OnDevice;
use crate::problem::Problem;
use crate::support::ceiling::Ceiling;
use crate::support::clock::Rounds;
use crate::support::{Progress, Result};

/// A group of bars of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Copy,
    Add,
    Multiply,
    TransposedMultiply,
    ConjugateGradients,
    ProjectedJacobi,
}

impl Operation {
    pub const ALL: [Operation; 6] = [
        Operation::Copy,
        Operation::Add,
        Operation::Multiply,
        Operation::TransposedMultiply,
        Operation::ConjugateGradients,
        Operation::ProjectedJacobi,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operation::Copy => "copy",
            Operation::Add => "add",
            Operation::Multiply => "multiply",
            Operation::TransposedMultiply => "transposed multiply",
            Operation::ConjugateGradients => "conjugate gradients",
            Operation::ProjectedJacobi => "projected Jacobi",
        }
    }

    pub fn is_product(self) -> bool {
        matches!(self, Operation::Multiply | Operation::TransposedMultiply)
    }

    fn iterates(self) -> bool {
        matches!(self, Operation::ConjugateGradients | Operation::ProjectedJacobi)
    }
}

/// Who does it. Where the paper does as the library does by default, there is nothing to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Paper,
    Default,
    Loops,
    Library,
    LibraryThreads,
}

impl Who {
    pub const ALL: [Who; 5] = [Who::Paper, Who::Default, Who::Loops, Who::Library, Who::LibraryThreads];

    pub fn name(self) -> &'static str {
        match self {
            Who::Paper => "device, paper's schedule",
            Who::Default => "device, default schedule",
            Who::Loops => "plain loops, one thread",
            Who::Library => "faer, one thread",
            Who::LibraryThreads => "faer, all threads",
        }
    }

    pub fn on_device(self) -> bool {
        matches!(self, Who::Paper | Who::Default)
    }

    /// The paper copies and adds as [`texla::ops`] does: one primitive, each operand's texel fetched once and written as
    /// it is or added \[Moravanszky03\] 3.1, 3.2. faer copies and adds with one thread whatever it is told.
    fn has(self, operation: Operation) -> bool {
        let alike = matches!(operation, Operation::Copy | Operation::Add);
        !(alike && matches!(self, Who::Paper | Who::LibraryThreads))
    }
}

/// One run.
pub struct Run {
    /// Until the result was there.
    pub seconds: f64,
    /// Until it was on the host; of the device.
    pub with_readback: Option<f64>,
    pub result: Vec<f32>,
    /// Of what iterates.
    pub iterations: Option<usize>,
    /// How often the device was waited for before the result was there.
    pub readbacks: u64,
}

/// All rounds of one operation by one program.
pub struct Cell {
    pub operation: Operation,
    pub who: Who,
    pub rounds: Rounds,
    pub with_readback: Rounds,
    pub result: Vec<f32>,
    pub iterations: Option<usize>,
    pub readbacks: u64,
}

impl Cell {
    /// Whether the result has as many elements as it has to: a column of `n`, or a matrix.
    pub fn is_complete(&self, n: usize) -> bool {
        self.result.len() == if self.operation.iterates() { n } else { n * n }
    }

    /// Median of the rounds.
    pub fn seconds(&self) -> f64 {
        self.rounds.median()
    }

    /// Median of the rounds with the readback, if it is the device's.
    pub fn with_readback(&self) -> Option<f64> {
        (!self.with_readback.is_empty()).then(|| self.with_readback.median())
    }

    /// Of copies and sums, which write a matrix: what writing takes, over what they take.
    pub fn share(&self, ceiling: &Ceiling) -> Option<f64> {
        let writes = matches!(self.operation, Operation::Copy | Operation::Add);
        (writes && self.who.on_device()).then(|| ceiling.write / self.seconds())
    }
}

/// Runs everything once to warm up, then `rounds` times, each time all in turn: the speed of machines drifts, and so it
/// drifts for all alike.
pub fn measure(problem: &Problem, device: &mut OnDevice<'_>, rounds: usize) -> Result<Vec<Cell>> {
    let mut cells: Vec<Cell> = Vec::new();
    for operation in Operation::ALL {
        for who in Who::ALL.into_iter().filter(|who| who.has(operation)) {
            let (rounds, with_readback, result) = (Rounds::default(), Rounds::default(), Vec::new());
            let (iterations, readbacks) = (None, 0);
            cells.push(Cell { operation, who, rounds, with_readback, result, iterations, readbacks });
        }
    }
    let mut host = Host {
        problem,
        c: vec![0.0; problem.n * problem.n],
        library: Library::new(problem, Par::Seq),
        threads: Library::new(problem, Par::rayon(0)),
    };
    let count = cells.len();
    let progress = Progress::new("round", (count * (rounds + 1)) as u64);
    for round in 0..=rounds {
        for (k, cell) in cells.iter_mut().enumerate() {
            let run = match cell.who {
                who if who.on_device() => device.run(cell.operation, cell.who == Who::Paper)?,
                who => host.run(cell.operation, who),
            };
            if round > 0 {
                cell.rounds.push(run.seconds);
                run.with_readback.into_iter().for_each(|seconds| cell.with_readback.push(seconds));
            }
            // Of the last round: what was timed is what is checked.
            (cell.result, cell.iterations, cell.readbacks) = (run.result, run.iterations, run.readbacks);
            progress.set((round * count + k) as u64);
            progress.note(cell.operation.name());
        }
    }
    progress.finish();
    Ok(cells)
}

/// The CPU's side.
struct Host<'a> {
    problem: &'a Problem,
    c: Vec<f32>,
    library: Library,
    threads: Library,
}

impl Host<'_> {
    fn run(&mut self, operation: Operation, who: Who) -> Run {
        let p = self.problem;
        let started = Instant::now();
        let solved = match who {
            Who::Library => by_library(&mut self.library, operation, p),
            Who::LibraryThreads => by_library(&mut self.threads, operation, p),
            _ => by_loops(&mut self.c, operation, p),
        };
        let seconds = started.elapsed().as_secs_f64();
        let (result, iterations) = match solved {
            Some((x, iterations)) => (x, Some(iterations)),
            None => (
                match who {
                    Who::Library => self.library.result(),
                    Who::LibraryThreads => self.threads.result(),
                    _ => self.c.clone(),
                },
                None,
            ),
        };
        Run { seconds, with_readback: None, result, iterations, readbacks: 0 }
    }
}

/// The solution and its iterations; nothing for an operation on matrices, whose result stays in place.
fn by_library(library: &mut Library, operation: Operation, p: &Problem) -> Option<(Vec<f32>, usize)> {
    match operation {
        Operation::Copy => library.copy(),
        Operation::Add => library.add(),
        Operation::Multiply => library.multiply(false),
        Operation::TransposedMultiply => library.multiply(true),
        Operation::ConjugateGradients => return Some(library.conjugate_gradients(p)),
        Operation::ProjectedJacobi => return Some((library.projected_jacobi(p), p.iterations)),
    }
    None
}

fn by_loops(c: &mut [f32], operation: Operation, p: &Problem) -> Option<(Vec<f32>, usize)> {
    match operation {
        Operation::Copy => c.copy_from_slice(&p.a),
        Operation::Add => c.iter_mut().zip(p.a.iter().zip(&p.b)).for_each(|(c, (a, b))| *c = a + b),
        Operation::Multiply => cpu::multiply(c, false, &p.a, &p.b, p.n),
        Operation::TransposedMultiply => cpu::multiply(c, true, &p.a, &p.b, p.n),
        Operation::ConjugateGradients => {
            return Some(cpu::conjugate_gradients(p, |y, x| cpu::product(y, &p.spd, x)));
        }
        Operation::ProjectedJacobi => {
            return Some((cpu::projected_jacobi(p, |y, x| cpu::product(y, &p.lcp, x)), p.iterations));
        }
    }
    None
}
