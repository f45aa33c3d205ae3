//! The page that solves: a problem by name or from the text of a Matrix Market file, solved by what suits it a slice at a time, and
//! checked in 64 bits on the host.

use std::rc::Rc;

use texla::host::{Csr, Triplets, market, problems};
use texla::solve::{Auto, AutoParams, AutoReport, Precision, Slice, SolveProgress, Solving, Stop};
use texla::{Device, DoubleVector, Error, MatrixFormat, StoredMatrix, Vector};

use crate::support::{Failure, Ordinary, Result, believable, residual};

/// A problem and what it came to.
pub struct Solved {
    pub matrix: String,
    pub report: AutoReport,
    /// `‖b - A x‖ / ‖b‖` by the host, in 64 bits.
    pub residual: f64,
    pub solution: Vec<f32>,
}

/// A built-in problem: `poisson` on N x N, `flow` (the same with flow across it, not symmetric), `layers` (a conductivity that
/// jumps by 1000).
pub fn built_in(name: &str, side: usize) -> Result<Csr> {
    if !(1..=1024).contains(&side) {
        return Err(Failure::bad_input(format_args!("a side of {side}, expected 1 to 1024")));
    }
    match name {
        "poisson" => Ok(problems::poisson_2d(side, side).to_csr()),
        "flow" => {
            let mut flow = problems::poisson_2d(side, side);
            for row in (0..side * side - 1).filter(|row| row % side != side - 1) {
                flow.push(row, row + 1, 0.6)?;
                flow.push(row + 1, row, -0.6)?;
            }
            Ok(flow.to_csr())
        }
        "layers" => {
            let conducts = |row: usize| if (row / side / 8).is_multiple_of(2) { 1.0 } else { 1000.0 };
            let mut layers = Triplets::new(texla::Shape::new(side * side, side * side));
            for row in 0..side * side {
                let mut diagonal = 0.0;
                let (x, y) = (row % side, row / side);
                let near = [
                    (x > 0, -1),
                    (x + 1 < side, 1),
                    (y > 0, -(side as isize)),
                    (y + 1 < side, side as isize),
                ];
                for (inside, step) in near {
                    let other = row.wrapping_add_signed(step);
                    let c = if inside {
                        2.0 / (1.0 / conducts(row) + 1.0 / conducts(other))
                    } else {
                        conducts(row)
                    };
                    diagonal += c;
                    if inside {
                        layers.push(row, other, -c)?;
                    }
                }
                layers.push(row, row, diagonal)?;
            }
            Ok(layers.to_csr())
        }
        _ => Err(Failure::bad_input(format_args!("there is no problem {name}"))),
    }
}

/// The matrix of a file.
pub fn from_text(name: &str, text: &[u8]) -> Result<Csr> {
    believable(&market::parse_matrix(text, name).map_err(Error::from)?.triplets, name)
}

fn norm(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A solve under way: of `A x = A 1`, in units in which it is [ordinary](Ordinary), by pairs of floats where the device certifies them.
pub struct Solve {
    a: Csr,
    b: Vec<f64>,
    unknowns: Unknowns,
}

enum Unknowns {
    Single(Solving<'static, Box<Vector>, AutoReport>),
    Pairs(Solving<'static, Box<DoubleVector>, AutoReport>),
}

impl Solve {
    pub fn new(device: &Device, a: Csr, tolerance: f64) -> Result<Self> {
        let (n, b) = (a.shape().cols, a.mul_vec(&vec![1.0; a.shape().cols])?);
        let Ordinary { a, b, .. } = Ordinary::new(a, b)?;
        let stored = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto)?;
        let params = AutoParams::default().with_stop(Stop::relative(tolerance));
        let params = params.with_recurrence(Precision::Auto.recurrence());
        let auto = Auto::new(Rc::new(stored), params)?;
        let unknowns = if device.capabilities().exact_form.is_some() {
            let x = Box::new(DoubleVector::zeros(device, n)?);
            Unknowns::Pairs(auto.begin(x, Box::new(DoubleVector::from_f64(device, &b)?)))
        } else {
            let x = Box::new(Vector::zeros(device, n)?);
            Unknowns::Single(auto.begin(x, Box::new(Vector::from_f64(device, &b)?)))
        };
        Ok(Solve { a, b, unknowns })
    }

    /// Goes on, for a slice at most.
    pub fn advance(&mut self, slice: Slice) -> Result<SolveProgress> {
        Ok(match &mut self.unknowns {
            Unknowns::Single(solving) => solving.advance(slice)?,
            Unknowns::Pairs(solving) => solving.advance(slice)?,
        })
    }

    /// What it came to; waits where it is not done.
    pub fn finish(self) -> Result<Solved> {
        let (report, x) = match self.unknowns {
            Unknowns::Single(solving) => {
                let (x, report) = solving.finish();
                (report?, x.read()?.into_iter().map(f64::from).collect())
            }
            Unknowns::Pairs(solving) => {
                let (x, report) = solving.finish();
                (report?, x.read()?)
            }
        };
        let left = norm(residual(&self.a, &x, &self.b));
        let residual = if left == 0.0 { 0.0 } else { left / norm(self.b) };
        let matrix = format!("{}, {} nonzeros", self.a.shape(), self.a.nnz());
        Ok(Solved { matrix, report, residual, solution: x.iter().map(|x| *x as f32).collect() })
    }
}
