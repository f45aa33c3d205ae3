//! The same operations on the CPU: plain loops, and the library faer.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::problem::Problem;

/// `C = A B` or `Aᵀ B` by plain loops, in an order in which the innermost runs along rows.
pub fn multiply(c: &mut [f32], transposed: bool, a: &[f32], b: &[f32], n: usize) {
    c.fill(0.0);
    for i in 0..n {
        for k in 0..n {
            let factor = if transposed { a[k * n + i] } else { a[i * n + k] };
            let row = &b[k * n..(k + 1) * n];
            c[i * n..(i + 1) * n].iter_mut().zip(row).for_each(|(c, b)| *c += factor * b);
        }
    }
}

/// `y = A x` by plain loops, with as many sums side by side as make a vector register.
pub fn product(y: &mut [f32], a: &[f32], x: &[f32]) {
    for (y, row) in y.iter_mut().zip(a.chunks(x.len())) {
        *y = dot(row, x);
    }
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    let mut sums = [0.0f32; 8];
    let (xs, x_rest) = x.as_chunks::<8>();
    let (ys, y_rest) = y.as_chunks::<8>();
    for (x, y) in xs.iter().zip(ys) {
        (0..8).for_each(|lane| sums[lane] += x[lane] * y[lane]);
    }
    let rest: f32 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// Conjugate gradients \[Moravanszky03\] 4.1 with a product of one's choice; the iterations done, too.
pub fn conjugate_gradients(p: &Problem, mut multiply: impl FnMut(&mut [f32], &[f32])) -> (Vec<f32>, usize) {
    let (mut x, mut r, mut q) = (vec![0.0; p.n], p.spd_b.clone(), vec![0.0; p.n]);
    let mut d = r.clone();
    let mut rr = dot(&r, &r);
    for done in 0..p.iterations {
        multiply(&mut q, &d);
        let dq = dot(&d, &q);
        if rr == 0.0 || dq == 0.0 {
            return (x, done);
        }
        let alpha = rr / dq;
        x.iter_mut().zip(&d).for_each(|(x, d)| *x += alpha * d);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let next = dot(&r, &r);
        let beta = next / rr;
        d.iter_mut().zip(&r).for_each(|(d, r)| *d = r + beta * *d);
        rr = next;
    }
    (x, p.iterations)
}

/// Projected Jacobi \[Moravanszky03\] 4.2 with a product of one's choice.
pub fn projected_jacobi(p: &Problem, mut multiply: impl FnMut(&mut [f32], &[f32])) -> Vec<f32> {
    let (mut x, mut w) = (vec![0.0f32; p.n], vec![0.0; p.n]);
    for _ in 0..p.iterations {
        multiply(&mut w, &x);
        let terms = w.iter().zip(&p.lcp_b).zip(&p.lcp_d);
        x.iter_mut().zip(terms).for_each(|(x, ((w, b), d))| *x = (*x - d * (w + b)).max(0.0));
    }
    x
}

/// Matrices as faer keeps them: column by column.
pub struct Library {
    a: Mat<f32>,
    b: Mat<f32>,
    c: Mat<f32>,
    spd: Mat<f32>,
    lcp: Mat<f32>,
    par: Par,
}

impl Library {
    pub fn new(p: &Problem, par: Par) -> Self {
        let matrix = |values: &[f32]| Mat::from_fn(p.n, p.n, |i, j| values[i * p.n + j]);
        let (a, b, spd, lcp) = (matrix(&p.a), matrix(&p.b), matrix(&p.spd), matrix(&p.lcp));
        Library { a, b, c: Mat::zeros(p.n, p.n), spd, lcp, par }
    }

    pub fn copy(&mut self) {
        self.c.copy_from(&self.a);
    }

    pub fn add(&mut self) {
        faer::zip!(&mut self.c, &self.a, &self.b).for_each(|faer::unzip!(c, a, b)| *c = *a + *b);
    }

    pub fn multiply(&mut self, transposed: bool) {
        let a = if transposed { self.a.transpose() } else { self.a.as_ref() };
        matmul(&mut self.c, Accum::Replace, a, &self.b, 1.0, self.par);
    }

    pub fn conjugate_gradients(&self, p: &Problem) -> (Vec<f32>, usize) {
        conjugate_gradients(p, |y, x| self.product(y, &self.spd, x))
    }

    pub fn projected_jacobi(&self, p: &Problem) -> Vec<f32> {
        projected_jacobi(p, |y, x| self.product(y, &self.lcp, x))
    }

    fn product(&self, y: &mut [f32], a: &Mat<f32>, x: &[f32]) {
        let n = x.len();
        let y = MatMut::from_column_major_slice_mut(y, n, 1);
        matmul(y, Accum::Replace, a, MatRef::from_column_major_slice(x, n, 1), 1.0, self.par);
    }

    /// The last result of a matrix operation, row by row.
    pub fn result(&self) -> Vec<f32> {
        let n = self.c.nrows();
        (0..n * n).map(|k| self.c[(k / n, k % n)]).collect()
    }
}
