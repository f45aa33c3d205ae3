//! The CPU's answer in 64 bits, to compare with.

use crate::problem::Problem;

/// A part of the problem with its matrix.
pub struct Dense {
    pub n: usize,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
}

impl Dense {
    pub fn new(problem: &Problem, rows: &[usize]) -> Self {
        let b = rows.iter().map(|&i| problem.b[i]).collect();
        Dense { n: rows.len(), a: problem.dense(rows), b }
    }

    /// Element i of A x + b.
    fn excess(&self, i: usize, x: &[f64]) -> f64 {
        self.a[i * self.n..(i + 1) * self.n].iter().zip(x).map(|(a, x)| a * x).sum::<f64>() + self.b[i]
    }

    /// The natural residual: the largest of abs(min(x, A x + b)).
    pub fn residual(&self, x: &[f64]) -> f64 {
        (0..self.n).map(|i| x[i].min(self.excess(i, x)).abs()).fold(0.0, f64::max)
    }

    /// Projected Gauss-Seidel until the natural residual is at most `bound`; the number of sweeps.
    pub fn gauss_seidel(&self, x: &mut [f64], bound: f64, most: usize) -> usize {
        for sweep in 0..most {
            if self.residual(x) <= bound {
                return sweep;
            }
            for i in 0..self.n {
                x[i] = (x[i] - self.excess(i, x) / self.a[i * self.n + i]).max(0.0);
            }
        }
        most
    }
}

impl Dense {
    /// largest eigenvalue of D^-1 A by 50 power iterations
    pub fn lambda(&self) -> f64 {
        let mut v: Vec<f64> = (0..self.n).map(|i| 1.0 + (i % 7) as f64 * 0.1).collect();
        let mut l = 0.0;
        for _ in 0..60 {
            let w: Vec<f64> = (0..self.n).map(|i| self.a[i * self.n..(i + 1) * self.n].iter().zip(&v).map(|(a, x)| a * x).sum::<f64>() / self.a[i * self.n + i]).collect();
            l = w.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>() / v.iter().map(|x| x * x).sum::<f64>();
            let m = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            v = w.iter().map(|x| x / m).collect();
        }
        l
    }
    pub fn jacobi(&self, x: &mut [f64], omega: f64, bound: f64, most: usize, fast: bool) -> usize {
        let mut y = x.to_vec(); let mut prev = x.to_vec(); let mut t = 1.0f64;
        for s in 0..most {
            if s % 10 == 0 && self.residual(x) <= bound { return s; }
            let w: Vec<f64> = (0..self.n).map(|i| self.excess(i, &y)).collect();
            for i in 0..self.n { x[i] = (y[i] - omega * w[i] / self.a[i * self.n + i]).max(0.0); }
            if fast {
                // adaptive restart (gradient)
                let g: f64 = (0..self.n).map(|i| (y[i] - x[i]) * self.a[i*self.n+i] * (x[i] - prev[i])).sum();
                if g > 0.0 { t = 1.0; }
                let t2 = (1.0 + (1.0 + 4.0 * t * t).sqrt()) / 2.0;
                let k = (t - 1.0) / t2; t = t2;
                for i in 0..self.n { y[i] = x[i] + k * (x[i] - prev[i]); }
            } else { y.copy_from_slice(x); }
            prev.copy_from_slice(x);
        }
        most
    }
}
