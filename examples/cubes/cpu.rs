//! The CPU's answer in 64 bits, to compare with, and the residual by which all answers are judged.

use std::time::Instant;

use crate::problem::Problem;
use crate::support::worst;

/// (A x + b)_i.
fn excess(problem: &Problem, i: usize, x: &[f64]) -> f64 {
    let (from, to) = (problem.a.row_ptr()[i], problem.a.row_ptr()[i + 1]);
    let terms = problem.a.cols()[from..to].iter().zip(&problem.a.values()[from..to]);
    terms.map(|(col, a)| a * x[*col as usize]).sum::<f64>() + problem.b[i]
}

/// The natural residual of some of the unknowns: the largest abs(min(x_i, (A x + b)_i)), relative to the largest
/// abs(b_i).
fn relative(problem: &Problem, group: &[usize], x: &[f64]) -> f64 {
    let largest = |of: &dyn Fn(usize) -> f64| group.iter().map(|&i| of(i).abs()).fold(0.0, worst);
    let residual = largest(&|i| x[i].min(excess(problem, i, x)));
    if residual == 0.0 { 0.0 } else { residual / largest(&|i| problem.b[i]) }
}

/// The relative natural residual of the worst of the independent groups.
pub fn residual(problem: &Problem, groups: &[Vec<usize>], x: &[f32]) -> f64 {
    let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    groups.iter().map(|group| relative(problem, group, &x)).fold(0.0, worst)
}

/// Projected Gauss-Seidel, group by group, until the relative natural residual is at most `bound`: the solution and the
/// milliseconds.
pub fn gauss_seidel(problem: &Problem, groups: &[Vec<usize>], bound: f64) -> (Vec<f64>, f64) {
    let started = Instant::now();
    let mut x: Vec<f64> = problem.start.iter().map(|x| f64::from(*x)).collect();
    let diagonal = problem.a.diagonal();
    for group in groups {
        for _ in 0..20_000 {
            if relative(problem, group, &x) <= bound {
                break;
            }
            for &i in group {
                x[i] = (x[i] - excess(problem, i, &x) / diagonal[i]).max(0.0);
            }
        }
    }
    (x, 1e3 * started.elapsed().as_secs_f64())
}
