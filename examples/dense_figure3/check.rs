//! Every result against the same computation in 64 bits. The bounds follow from the number of roundings.

use crate::measure::{Cell, Operation, Who};
use crate::problem::{OMEGA, Problem, REDUCTION};
use crate::support::{Report, differing, share, worst, worst_of};

/// Unit roundoff of float32, and what a flushed result is wrong by at most.
const U: f64 = 1.0 / 16_777_216.0;
const TINY: f64 = f32::MIN_POSITIVE as f64;
/// Rows of a product that are computed again, spread over all.
const ROWS: usize = 16;

fn gamma(k: usize) -> f64 {
    let ku = k as f64 * U;
    ku / (1.0 - ku)
}

pub fn check(problem: &Problem, cells: &[Cell], report: &mut Report) {
    let n = problem.n;
    for operation in Operation::ALL {
        let cells: Vec<&Cell> = cells.iter().filter(|cell| cell.operation == operation).collect();
        match operation {
            Operation::Copy => {
                let wrong = |cell: &Cell| differing(&cell.result, &problem.a) as f64;
                of_all(report, (&cells, n), "elements not copied", 0.0, wrong);
            }
            Operation::Add => {
                of_all(report, (&cells, n), "error in roundings", 1.0, |cell| sum_error(problem, cell))
            }
            Operation::Multiply | Operation::TransposedMultiply => {
                let rows = Rows::new(problem, operation == Operation::TransposedMultiply);
                of_all(report, (&cells, n), "error over bound", 1.0, |cell| rows.error(&cell.result));
                // Either may be off by the bound.
                between(report, (&cells, n), "difference over bound", 2.0, |x, y| rows.difference(x, y));
            }
            Operation::ConjugateGradients => {
                // From the energy norm of the error to the residual; the last digit is left to rounding.
                let root = problem.condition.sqrt();
                let bound = 20.0 * root * REDUCTION;
                of_all(report, (&cells, n), "relative residual", bound, |cell| {
                    residual(problem, &cell.result)
                });
                let norm = norm2(problem.spd_b.iter().map(|b| f64::from(*b)));
                // The least eigenvalue is 1.
                between(report, (&cells, n), "difference", 2.0 * bound, |x, y| {
                    norm2(x.iter().zip(y).map(|(x, y)| f64::from(x - y))) / norm
                });
            }
            Operation::ProjectedJacobi => {
                let lcp = Complementarity::new(problem);
                of_all(report, (&cells, n), "natural residual", lcp.residual_bound(), |c| {
                    lcp.residual(&c.result)
                });
                // NaN is none of the good ones.
                let good = |c: &Cell| c.result.iter().filter(|x| **x >= 0.0).count();
                let bad = |c: &Cell| (n - good(c)) as f64;
                of_all(report, (&cells, n), "elements below zero", 0.0, bad);
                between(report, (&cells, n), "difference", 2.0 * lcp.distance, |x, y| {
                    worst_of(x, y, |x, y| f64::from(x - y).abs())
                });
            }
        }
    }
}

/// A check of each program's result.
fn of_all(
    report: &mut Report,
    (cells, n): (&[&Cell], usize),
    what: &str,
    bound: f64,
    value: impl Fn(&Cell) -> f64,
) {
    for cell in cells {
        let name = format!("{} by {}: {what}", cell.operation.name(), cell.who.name());
        // A result that is too short, or none, is no good one.
        report.at_most(name, bound, if cell.is_complete(n) { value(cell) } else { f64::NAN });
    }
}

/// A check of the device's two schedules against each other, where there are two.
fn between(
    report: &mut Report,
    (cells, n): (&[&Cell], usize),
    what: &str,
    bound: f64,
    value: impl Fn(&[f32], &[f32]) -> f64,
) {
    let of = |who: Who| cells.iter().find(|cell| cell.who == who);
    if let (Some(paper), Some(default)) = (of(Who::Paper), of(Who::Default)) {
        let name = format!("{}, one schedule and the other: {what}", paper.operation.name());
        let complete = paper.is_complete(n) && default.is_complete(n);
        report.at_most(name, bound, if complete { value(&paper.result, &default.result) } else { f64::NAN });
    }
}

fn sum_error(problem: &Problem, cell: &Cell) -> f64 {
    let sums = problem.a.iter().zip(&problem.b).map(|(a, b)| f64::from(*a) + f64::from(*b));
    let error = |c: &f32, sum: &f64| share((f64::from(*c) - sum).abs(), U * sum.abs() + TINY);
    worst_of(&cell.result, &sums.collect::<Vec<_>>(), error)
}

/// Some rows of a product, with their bounds `γ_(n+2) |A| |B|`.
struct Rows {
    n: usize,
    rows: Vec<usize>,
    exact: Vec<f64>,
    bound: Vec<f64>,
}

impl Rows {
    fn new(p: &Problem, transposed: bool) -> Self {
        let n = p.n;
        // The first and the last one too.
        let count = ROWS.min(n);
        let rows: Vec<usize> = (0..count).map(|k| k * (n - 1) / (count - 1).max(1)).collect();
        let (mut exact, mut bound) = (vec![0.0; count * n], vec![0.0; count * n]);
        for (r, &i) in rows.iter().enumerate() {
            let (exact, bound) = (&mut exact[r * n..(r + 1) * n], &mut bound[r * n..(r + 1) * n]);
            for k in 0..n {
                let factor = f64::from(if transposed { p.a[k * n + i] } else { p.a[i * n + k] });
                for ((sum, size), b) in exact.iter_mut().zip(bound.iter_mut()).zip(&p.b[k * n..]) {
                    let term = factor * f64::from(*b);
                    *sum += term;
                    *size += term.abs();
                }
            }
            bound.iter_mut().for_each(|b| *b = gamma(n + 2) * *b + (n + 2) as f64 * TINY);
        }
        Rows { n, rows, exact, bound }
    }

    /// These rows of a result.
    fn of<'a>(&'a self, result: &'a [f32]) -> impl Iterator<Item = f64> + 'a {
        let n = self.n;
        self.rows.iter().flat_map(move |i| &result[i * n..(i + 1) * n]).map(|c| f64::from(*c))
    }

    fn error(&self, result: &[f32]) -> f64 {
        self.worst(self.of(result).zip(&self.exact).map(|(c, e)| (c - e).abs()))
    }

    fn difference(&self, x: &[f32], y: &[f32]) -> f64 {
        self.worst(self.of(x).zip(self.of(y)).map(|(x, y)| (x - y).abs()))
    }

    fn worst(&self, errors: impl Iterator<Item = f64>) -> f64 {
        errors.zip(&self.bound).map(|(error, bound)| share(error, *bound)).fold(0.0, worst)
    }
}

/// `A x` in 64 bits.
fn product(a: &[f32], x: &[f32]) -> Vec<f64> {
    let row = |row: &[f32]| row.iter().zip(x).map(|(a, x)| f64::from(*a) * f64::from(*x)).sum();
    a.chunks(x.len()).map(row).collect()
}

fn norm2(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

/// `|b - A x| / |b|`.
fn residual(p: &Problem, x: &[f32]) -> f64 {
    let terms = product(&p.spd, x).into_iter().zip(&p.spd_b);
    norm2(terms.map(|(ax, b)| f64::from(*b) - ax)) / norm2(p.spd_b.iter().map(|b| f64::from(*b)))
}

/// How near the sweeps come: they contract the largest error by `rate`, and each adds its roundings.
struct Complementarity<'a> {
    problem: &'a Problem,
    /// Of the last sweep's result from the solution, at most.
    distance: f64,
    /// The largest row sum of `|A|`.
    norm: f64,
}

impl<'a> Complementarity<'a> {
    fn new(p: &'a Problem) -> Self {
        let (n, omega) = (p.n, f64::from(OMEGA));
        let (mut rate, mut norm, mut least) = (0.0f64, 0.0f64, f64::INFINITY);
        for (i, row) in p.lcp.chunks(n).enumerate() {
            let sum: f64 = row.iter().map(|a| f64::from(a.abs())).sum();
            let diagonal = f64::from(row[i]);
            rate = worst(rate, (1.0 - omega).abs() + omega * (sum - diagonal) / diagonal);
            (norm, least) = (norm.max(sum), least.min(diagonal));
        }
        let largest_b = p.lcp_b.iter().map(|b| f64::from(b.abs())).fold(0.0, worst);
        // From zero, the first sweep goes this far at most, and all sweeps together no further than `reach`.
        let first = omega * largest_b / least;
        let reach = first / (1.0 - rate);
        // One sweep: the product and b, the factor, the difference; d itself was rounded.
        let rounding = omega / least * gamma(n + 4) * (norm * reach + largest_b) + U * reach + TINY;
        let distance = rate.powi(p.iterations as i32) * reach + rounding / (1.0 - rate);
        Complementarity { problem: p, distance, norm }
    }

    /// The natural residual is zero at the solution and grows by `max(1, |A|)` with the distance.
    fn residual_bound(&self) -> f64 {
        self.norm.max(1.0) * self.distance
    }

    /// `max_i |min(x_i, (A x + b)_i)|`.
    fn residual(&self, x: &[f32]) -> f64 {
        let w = product(&self.problem.lcp, x).into_iter().zip(&self.problem.lcp_b);
        let least = w.zip(x).map(|((ax, b), x)| (ax + f64::from(*b)).min(f64::from(*x)).abs());
        least.fold(0.0, worst)
    }
}
