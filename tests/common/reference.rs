//! The f64 twin: every operation again in double precision on the CPU, as plainly as it can be said.
//!
//! Inputs are float32 values widened by [`widen`]. Products of two such values are exact in f64, and sums are
//! compensated, so that the twin's own error is negligible beside any float32 bound, also under cancellation.

use super::worst::worst;

/// float32 values as f64, exactly.
pub fn widen(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&v| f64::from(v)).collect()
}

// --- element by element ---

pub fn map1(x: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    x.iter().map(|&v| f(v)).collect()
}

pub fn map2(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(&a, &b)| f(a, b)).collect()
}

pub fn add(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| a + b)
}

pub fn sub(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| a - b)
}

pub fn mul(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| a * b)
}

pub fn div(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| a / b)
}

pub fn min2(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| -worst(-a, -b))
}

pub fn max2(x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, worst)
}

pub fn neg(x: &[f64]) -> Vec<f64> {
    map1(x, |v| -v)
}

pub fn abs(x: &[f64]) -> Vec<f64> {
    map1(x, f64::abs)
}

pub fn sqrt(x: &[f64]) -> Vec<f64> {
    map1(x, f64::sqrt)
}

pub fn recip(x: &[f64]) -> Vec<f64> {
    map1(x, |v| 1.0 / v)
}

pub fn clamp(x: &[f64], low: f64, high: f64) -> Vec<f64> {
    map1(x, |v| v.clamp(low, high))
}

pub fn scale(alpha: f64, x: &[f64]) -> Vec<f64> {
    map1(x, |v| alpha * v)
}

/// `alpha x + y`
pub fn axpy(alpha: f64, x: &[f64], y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| alpha * a + b)
}

/// `alpha x + beta y`
pub fn axpby(alpha: f64, x: &[f64], beta: f64, y: &[f64]) -> Vec<f64> {
    map2(x, y, |a, b| alpha * a + beta * b)
}

// --- reductions ---

/// Neumaier's compensated sum.
fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0);
    for v in terms {
        let next = sum + v;
        lost += if sum.abs() >= v.abs() { (sum - next) + v } else { (v - next) + sum };
        sum = next;
    }
    sum + lost
}

pub fn sum(x: &[f64]) -> f64 {
    compensated(x.iter().copied())
}

pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    compensated(x.iter().zip(y).map(|(a, b)| a * b))
}

/// `sum abs(x_i)`, what the bound of [`sum`] scales with.
pub fn abs_sum(x: &[f64]) -> f64 {
    compensated(x.iter().map(|v| v.abs()))
}

/// `sum abs(x_i y_i)`, what the bound of [`dot`] scales with.
pub fn abs_dot(x: &[f64], y: &[f64]) -> f64 {
    dot(&abs(x), &abs(y))
}

/// Float32 values neither overflow nor underflow here.
pub fn norm2(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// The largest value; minus infinity for none.
pub fn max(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::NEG_INFINITY, worst)
}

/// The smallest value; infinity for none.
pub fn min(x: &[f64]) -> f64 {
    x.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The largest magnitude; zero for none.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().map(|v| v.abs()).fold(0.0, worst)
}

// --- products; with `abs` of matrix and vector they give the sums that the bounds scale with ---

/// `y = A x` with A by compressed rows.
pub fn csr_matvec(row_ptr: &[usize], cols: &[usize], values: &[f64], x: &[f64]) -> Vec<f64> {
    let row = |w: &[usize]| compensated((w[0]..w[1]).map(|e| values[e] * x[cols[e]]));
    row_ptr.windows(2).map(row).collect()
}

/// `y = transpose(A) x` with A by compressed rows, of `n_cols` columns.
pub fn csr_matvec_t(row_ptr: &[usize], cols: &[usize], values: &[f64], n_cols: usize, x: &[f64]) -> Vec<f64> {
    let mut terms = vec![Vec::new(); n_cols];
    for (row, w) in row_ptr.windows(2).enumerate() {
        (w[0]..w[1]).for_each(|e| terms[cols[e]].push(values[e] * x[row]));
    }
    terms.into_iter().map(|t| compensated(t.into_iter())).collect()
}

/// `y_i = sum_d D_d[i] x[i + offset_d]`, where that column exists: diagonals stored by row.
pub fn banded_matvec(offsets: &[isize], diagonals: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    assert_eq!(offsets.len(), diagonals.len());
    let rows = diagonals.first().map_or(0, Vec::len);
    let term = |i: usize, d: usize| Some(diagonals[d][i] * x.get(i.checked_add_signed(offsets[d])?)?);
    (0..rows).map(|i| compensated((0..offsets.len()).filter_map(|d| term(i, d)))).collect()
}

/// `y = A x` with A dense by rows, `rows x cols`.
pub fn dense_matvec(a: &[f64], rows: usize, cols: usize, x: &[f64]) -> Vec<f64> {
    matmul(a, x, rows, cols, 1)
}

/// `C = A B`, dense by rows; A is `rows x inner`, B is `inner x cols`.
pub fn matmul(a: &[f64], b: &[f64], rows: usize, inner: usize, cols: usize) -> Vec<f64> {
    assert_eq!((a.len(), b.len()), (rows * inner, inner * cols));
    let element = |i: usize, j: usize| compensated((0..inner).map(|k| a[i * inner + k] * b[k * cols + j]));
    (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))).map(|(i, j)| element(i, j)).collect()
}

/// Rows and columns of a dense matrix exchanged.
pub fn transpose(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    assert_eq!(a.len(), rows * cols);
    (0..cols).flat_map(|j| (0..rows).map(move |i| a[i * cols + j])).collect()
}

/// `norm1(b - A x) / (norm1(A) norm1(x) 2^-24)`, the LAPACK ratio; `norm1(A)` is the largest column sum.
pub fn lapack_ratio(row_ptr: &[usize], cols: &[usize], values: &[f64], x: &[f64], b: &[f64]) -> f64 {
    let residual = abs_sum(&sub(b, &csr_matvec(row_ptr, cols, values, x)));
    let ones = vec![1.0; b.len()];
    let norm_a = max_abs(&csr_matvec_t(row_ptr, cols, &abs(values), x.len(), &ones));
    residual / (norm_a * abs_sum(x) * super::bounds::U)
}

// --- solvers ---

/// What a solver of the twin came to.
#[derive(Debug, Clone)]
pub struct Solution {
    pub x: Vec<f64>,
    /// Steps taken.
    pub iterations: usize,
    /// The norm tested, before the first step and after each.
    pub history: Vec<f64>,
    pub converged: bool,
    /// The iteration, from 0, whose p.Ap was not positive.
    pub breakdown: Option<usize>,
}

/// Conjugate gradients from `x0` until the recursive `norm2(r) <= tol norm2(b)`; preconditioned by `diagonal` if given.
pub fn cg(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    b: &[f64],
    x0: &[f64],
    diagonal: Option<&[f64]>,
    tol: f64,
    max_iterations: usize,
) -> Solution {
    let precondition = |r: &[f64]| diagonal.map_or_else(|| r.to_vec(), |d| div(r, d));
    let mut x = x0.to_vec();
    let mut r = sub(b, &apply(&x));
    let mut z = precondition(&r);
    let mut p = z.clone();
    let mut rho = dot(&r, &z);
    let target = tol * norm2(b);
    let mut history = vec![norm2(&r)];
    let mut breakdown = None;
    while history[history.len() - 1] > target && history.len() <= max_iterations {
        let q = apply(&p);
        let curvature = dot(&p, &q);
        if curvature.is_nan() || curvature <= 0.0 {
            breakdown = Some(history.len() - 1);
            break;
        }
        let alpha = rho / curvature;
        x = axpy(alpha, &p, &x);
        r = axpy(-alpha, &q, &r);
        z = precondition(&r);
        let old = std::mem::replace(&mut rho, dot(&r, &z));
        p = axpy(rho / old, &p, &z);
        history.push(norm2(&r));
    }
    let converged = history[history.len() - 1] <= target;
    Solution { x, iterations: history.len() - 1, history, converged, breakdown }
}

/// Conjugate gradients on the normal equations (CGLS) from `x0`, until `norm2(At r) <= tol norm2(At b)`.
pub fn cgls(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    apply_t: impl Fn(&[f64]) -> Vec<f64>,
    b: &[f64],
    x0: &[f64],
    tol: f64,
    max_iterations: usize,
) -> Solution {
    let mut x = x0.to_vec();
    let mut r = sub(b, &apply(&x));
    let mut s = apply_t(&r);
    let mut p = s.clone();
    let mut gamma = dot(&s, &s);
    let target = tol * norm2(&apply_t(b));
    let mut history = vec![gamma.sqrt()];
    let mut breakdown = None;
    while history[history.len() - 1] > target && history.len() <= max_iterations {
        let q = apply(&p);
        let curvature = dot(&q, &q);
        if curvature.is_nan() || curvature <= 0.0 {
            breakdown = Some(history.len() - 1);
            break;
        }
        let alpha = gamma / curvature;
        x = axpy(alpha, &p, &x);
        r = axpy(-alpha, &q, &r);
        s = apply_t(&r);
        let old = std::mem::replace(&mut gamma, dot(&s, &s));
        p = axpy(gamma / old, &p, &s);
        history.push(gamma.sqrt());
    }
    let converged = history[history.len() - 1] <= target;
    Solution { x, iterations: history.len() - 1, history, converged, breakdown }
}
