//! The cycle of multigrid by aggregation in f64, with a bound on what rounding to 32 bits changes in it.

use texla::host::Csr;
use texla::solve::{AggregationMultigrid, AggregationParams, Cycle, LinOp};

use super::bounds::gamma;
use super::reference::abs;
use super::systems;

/// Values, and how far those of the device may be from them.
#[derive(Clone)]
pub struct Near {
    pub value: Vec<f64>,
    pub error: Vec<f64>,
}

impl Near {
    pub fn exact(value: Vec<f64>) -> Self {
        Near { error: vec![0.0; value.len()], value }
    }

    /// `z + A x`, where all that is rounded in a row is as much as so many roundings more than its terms.
    fn product(z: &Near, a: &Csr, x: &Near, more: usize) -> Near {
        let size = systems::mapped(a, f64::abs);
        let sum = a.mul_vec(&x.value).unwrap();
        let spread = size.mul_vec(&x.error).unwrap();
        let all = size.mul_vec(&abs(&x.value)).unwrap();
        let value: Vec<f64> = z.value.iter().zip(&sum).map(|(z, p)| z + p).collect();
        let terms = systems::row_terms(a);
        let error = (0..value.len()).map(|i| {
            z.error[i]
                + spread[i]
                + gamma(terms[i] + more) * (all[i] + spread[i] + z.value[i].abs() + z.error[i])
        });
        Near { error: error.collect(), value }
    }

    pub fn zeros(n: usize) -> Near {
        Near::exact(vec![0.0; n])
    }

    /// `x + f (r)`, element by element.
    fn step(x: &Near, f: &[f64], r: &Near) -> Near {
        let value = (0..f.len()).map(|i| x.value[i] + f[i] * r.value[i]).collect();
        let error = (0..f.len()).map(|i| {
            let (change, spread) = (f[i] * r.value[i].abs(), f[i] * r.error[i]);
            x.error[i] + spread + gamma(12) * (x.value[i].abs() + x.error[i] + change + spread)
        });
        Near { error: error.collect(), value }
    }
}

/// The cycle in f64, from the matrices of the levels. Roundings of numbers that are multiplied in count as those of products
/// do: what a sweep begins with, its weight, the unit of the matrix.
pub struct Twin {
    levels: Vec<TwinLevel>,
    inverse: Option<Csr>,
    params: AggregationParams,
    symmetric: bool,
}

struct TwinLevel {
    minus_a: Csr,
    inverse: Vec<f64>,
    p: Option<[Csr; 2]>,
    high: f64,
}

/// Roundings of a product beside its terms, and of the numbers in it.
const MORE: usize = 10;

impl Twin {
    pub fn new(m: &AggregationMultigrid<impl LinOp>, params: AggregationParams) -> Self {
        let mut levels = Vec::new();
        let mut last = None;
        for (depth, level) in m.levels().enumerate() {
            let unit = if depth == 0 { unit(level.a) } else { 1.0 };
            let a = systems::mapped(&systems::rounded(level.a), |v| v * unit);
            let p = level.p.zip(level.r).map(|transfer| <[&Csr; 2]>::from(transfer).map(systems::rounded));
            let inverse = a.diagonal().iter().map(|d| 1.0 / d).collect();
            last = Some(systems::mapped(level.a, |v| v * unit));
            let minus_a = systems::mapped(&a, |v| -v);
            levels.push(TwinLevel { minus_a, inverse, p, high: level.largest_eigenvalue });
        }
        let inverse = last.filter(|a| a.shape().rows <= 256).map(|a| inverse(&a));
        let symmetric = m.levels().next().is_some_and(|level| level.a.is_symmetric());
        Twin { levels, inverse, params: params.with_sweeps(m.sweeps()), symmetric }
    }

    fn sweeps(&self, depth: usize, x: Near, b: &Near, count: usize) -> Near {
        let level = &self.levels[depth];
        (0..count).fold(x, |x, k| {
            let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * count) as f64;
            let part = if self.symmetric { 1.0 / (0.625 + 0.375 * angle.cos()) } else { 1.2 };
            let omega = part / level.high;
            let f: Vec<f64> = level.inverse.iter().map(|d| d * omega).collect();
            Near::step(&x, &f, &Near::product(b, &level.minus_a, &x, MORE))
        })
    }

    pub fn cycle(&self, depth: usize, x: Near, b: &Near) -> Near {
        let level = &self.levels[depth];
        let Some([p, r]) = &level.p else {
            let Some(inverse) = &self.inverse else {
                return (0..12).fold(x, |x, _| self.sweeps(depth, x, b, 2));
            };
            return Near::product(&x, inverse, &Near::product(b, &level.minus_a, &x, MORE), MORE);
        };
        let x = self.sweeps(depth, x, b, self.params.sweeps);
        let left = Near::product(b, &level.minus_a, &x, MORE);
        let coarse = Near::product(&Near::zeros(r.shape().rows), r, &left, MORE);
        let mut e = self.cycle(depth + 1, Near::zeros(r.shape().rows), &coarse);
        if self.params.cycle == Cycle::W && depth + 2 < self.levels.len() {
            e = self.cycle(depth + 1, e, &coarse);
        }
        self.sweeps(depth, Near::product(&x, p, &e, MORE), b, self.params.sweeps)
    }
}

impl Twin {
    /// Roundings one after another in a cycle on the levels from this one on: errors that have nothing to do with one another
    /// hardly come to more of the largest element, where those that [`Near`] bounds all add up.
    pub fn roundings(&self, depth: usize) -> usize {
        let most = |a: &Csr| systems::row_terms(a).into_iter().max().unwrap_or(0) + MORE;
        let level = &self.levels[depth];
        let a = most(&level.minus_a);
        let Some(transfer) = &level.p else {
            return self.inverse.as_ref().map_or(24 * a, |inverse| a + most(inverse));
        };
        let below = if self.params.cycle == Cycle::W { 2 } else { 1 };
        let between: usize = transfer.iter().map(most).sum();
        (2 * self.params.sweeps + 1) * a + between + below * self.roundings(depth + 1)
    }
}

/// A power of two that makes the smallest diagonal entry about 1.
pub fn unit(a: &Csr) -> f64 {
    let smallest = a.diagonal().into_iter().fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { 2f64.powi(-(smallest.log2().floor() as i32).clamp(-100, 100)) } else { 1.0 }
}

/// By elimination without pivots.
fn inverse(a: &Csr) -> Csr {
    let n = a.shape().rows;
    let mut rows = vec![vec![0.0; 2 * n]; n];
    a.entries().for_each(|(i, j, v)| rows[i][j] += v);
    (0..n).for_each(|i| rows[i][n + i] = 1.0);
    for k in 0..n {
        let pivot = rows[k][k];
        rows[k].iter_mut().for_each(|v| *v /= pivot);
        let of = rows[k].clone();
        for row in rows.iter_mut().enumerate().filter(|(i, _)| *i != k).map(|(_, row)| row) {
            let factor = row[k];
            row.iter_mut().zip(&of).for_each(|(v, p)| *v -= factor * p);
        }
    }
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    systems::entries(n, n, all.map(|(i, j)| (i, j, rows[i][n + j])))
}
