//! The page that solves: a problem by name or from the text of a Matrix Market file, solved by what suits it a slice at a time, and
//! checked in 64 bits on the host.

use std::rc::Rc;

use texla::host::{Csr, Triplets, market, problems};
use texla::solve::{
    AutoParams, DirectUse, HostReport, HostSystem, HostSystemParams, Precision, Slice, SolveProgress,
    Solving, Stop,
};
use texla::{Device, Error};

use crate::support::{Failure, Result, believable, residual};

/// A problem and its solution.
pub struct Solved {
    pub matrix: String,
    pub report: HostReport,
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

/// A solve under way, of `A x = A 1` in its normal form.
pub struct Solve {
    a: Csr,
    b: Vec<f64>,
    solving: Solving<'static, Vec<f64>, HostReport>,
}

impl Solve {
    pub fn new(device: &Device, a: Csr, tolerance: f64, direct: DirectUse) -> Result<Self> {
        let n = a.shape().cols;
        let b = a.mul_vec(&vec![1.0; n])?;
        let auto = AutoParams::default()
            .with_stop(Stop::relative(tolerance))
            .with_recurrence(Precision::Auto.recurrence());
        let params = HostSystemParams::default().with_auto(auto).with_direct(direct);
        let system = Rc::new(HostSystem::new(device, a.clone(), params)?);
        Ok(Solve { solving: system.begin(b.clone(), vec![0.0; n]), a, b })
    }

    /// Goes on, for a slice at most.
    pub fn advance(&mut self, slice: Slice) -> Result<SolveProgress> {
        Ok(self.solving.advance(slice)?)
    }

    /// The solution; waits where it is not done.
    pub fn finish(self) -> Result<Solved> {
        let (x, report) = self.solving.finish();
        let left = norm(residual(&self.a, &x, &self.b));
        let residual = if left == 0.0 { 0.0 } else { left / norm(self.b) };
        let matrix = format!("{}, {} nonzeros", self.a.shape(), self.a.nnz());
        let solution = x.iter().map(|x| *x as f32).collect();
        Ok(Solved { matrix, report: report?, residual, solution })
    }
}
