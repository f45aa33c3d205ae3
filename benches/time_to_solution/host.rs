//! Conjugate gradients on the CPU, in 32 or 64 bits: what one would write without a GPU.
//!
//! Loops run in the widest instructions that the CPU has (`pulp`), passes over several threads are divided by
//! `rayon::join`. In 32 bits the recurrence's residual is replaced by the true one on the way, as texla does: so both take
//! about the same iterations, and both come to the same bounds.

use std::cell::RefCell;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Instant;

use pulp::Arch;
use texla::host::Csr;

use crate::host_multigrid::{Laplacian, Multigrid};
use crate::method::{Answer, Method};
use crate::problem::System;

/// Floats of 32 or 64 bits.
pub trait Real:
    Copy
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Digits that the recurrence goes down in one go before it is brought in line.
    const AT_EASE: f64;

    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
}

impl Real for f32 {
    const AT_EASE: f64 = 2.0;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const AT_EASE: f64 = f64::INFINITY;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

/// A symmetric operator.
pub trait Operator<T>: Sync {
    fn rows(&self) -> usize;

    /// `q = (A p)` in the rows from `first` on; returns `p·q` of those.
    fn apply(&self, first: usize, p: &[T], q: &mut [T]) -> f64;
}

/// Compressed rows.
pub struct Compressed<T> {
    starts: Vec<u32>,
    cols: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Compressed<T> {
    pub fn new(a: &Csr) -> Self {
        Compressed {
            starts: a.row_ptr().iter().map(|k| *k as u32).collect(),
            cols: a.cols().to_vec(),
            values: a.values().iter().map(|v| T::of(*v)).collect(),
        }
    }

    #[inline(always)]
    fn product(&self, first: usize, p: &[T], q: &mut [T]) -> f64 {
        let ends = &self.starts[first + 1..];
        let mut at = self.starts[first] as usize;
        for (q, end) in q.iter_mut().zip(ends) {
            let end = *end as usize;
            let row = self.values[at..end].iter().zip(&self.cols[at..end]);
            *q = row.fold(T::default(), |sum, (v, j)| sum + *v * p[*j as usize]);
            at = end;
        }
        dot(&p[first..first + q.len()], q)
    }
}

impl<T: Real> Operator<T> for Compressed<T> {
    fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    fn apply(&self, first: usize, p: &[T], q: &mut [T]) -> f64 {
        Arch::new().dispatch(
            #[inline(always)]
            || self.product(first, p, q),
        )
    }
}

/// A dense matrix, row by row.
pub struct Dense<T> {
    n: usize,
    values: Vec<T>,
}

impl<T: Real> Dense<T> {
    pub fn new(n: usize, values: &[f64]) -> Self {
        Dense { n, values: values.iter().map(|v| T::of(*v)).collect() }
    }
}

impl<T: Real> Operator<T> for Dense<T> {
    fn rows(&self) -> usize {
        self.n
    }

    fn apply(&self, first: usize, p: &[T], q: &mut [T]) -> f64 {
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let rows = self.values[first * self.n..].chunks_exact(self.n);
                q.iter_mut().zip(rows).for_each(|(q, row)| *q = T::of(dot(row, p)));
                dot(&p[first..first + q.len()], q)
            },
        )
    }
}

/// Elements that are summed in their own precision, and sums side by side.
const BLOCK: usize = 4096;
const LANES: usize = 16;

#[inline(always)]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    let mut total = 0.0;
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let mut sums = [T::default(); LANES];
        let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let rest = a.remainder().iter().zip(b.remainder()).fold(T::default(), |s, (a, b)| s + *a * *b);
        for (a, b) in a.zip(b) {
            for k in 0..LANES {
                sums[k] += a[k] * b[k];
            }
        }
        total += rest.wide() + sums.iter().map(|s| s.wide()).sum::<f64>();
    }
    total
}

/// `q = A p`; returns `p·q`.
fn apply<T: Real>(threads: usize, a: &dyn Operator<T>, first: usize, p: &[T], q: &mut [T]) -> f64 {
    if threads <= 1 {
        return a.apply(first, p, q);
    }
    let middle = q.len() / 2;
    let (low, high) = q.split_at_mut(middle);
    let (s, t) = rayon::join(
        || apply(threads / 2, a, first, p, low),
        || apply(threads - threads / 2, a, first + middle, p, high),
    );
    s + t
}

/// `y += alpha d`, `r -= alpha q`; returns `r·r`.
fn step<T: Real>(threads: usize, alpha: T, [d, q]: [&[T]; 2], [y, r]: [&mut [T]; 2]) -> f64 {
    if threads > 1 {
        let middle = y.len() / 2;
        let ((d0, d1), (q0, q1)) = (d.split_at(middle), q.split_at(middle));
        let ((y0, y1), (r0, r1)) = (y.split_at_mut(middle), r.split_at_mut(middle));
        let (s, t) = rayon::join(
            || step(threads / 2, alpha, [d0, q0], [y0, r0]),
            || step(threads - threads / 2, alpha, [d1, q1], [y1, r1]),
        );
        return s + t;
    }
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut total = 0.0;
            let blocks = d.chunks(BLOCK).zip(q.chunks(BLOCK));
            for ((d, q), (y, r)) in blocks.zip(y.chunks_mut(BLOCK).zip(r.chunks_mut(BLOCK))) {
                y.iter_mut().zip(d).for_each(|(y, d)| *y += alpha * *d);
                r.iter_mut().zip(q).for_each(|(r, q)| *r -= alpha * *q);
                total += dot(r, r);
            }
            total
        },
    )
}

/// `d = z + beta d`
fn turn<T: Real>(threads: usize, beta: T, z: &[T], d: &mut [T]) {
    if threads > 1 {
        let middle = d.len() / 2;
        let ((z0, z1), (d0, d1)) = (z.split_at(middle), d.split_at_mut(middle));
        rayon::join(|| turn(threads / 2, beta, z0, d0), || turn(threads - threads / 2, beta, z1, d1));
        return;
    }
    Arch::new().dispatch(
        #[inline(always)]
        || d.iter_mut().zip(z).for_each(|(d, z)| *d = *z + beta * *d),
    );
}

/// `r·z`
fn inner<T: Real>(r: &[T], z: &[T]) -> f64 {
    Arch::new().dispatch(
        #[inline(always)]
        || dot(r, z),
    )
}

/// `z = M r`
pub type Preconditioner<'a, T> = &'a mut dyn FnMut(&mut [T], &[T]);

/// A system in the precision of the iterates, and in 64 bits for the certificate.
pub struct Host<'a, T> {
    pub a: &'a dyn Operator<T>,
    pub exact: &'a dyn Operator<f64>,
    pub b: &'a [f32],
    pub tol: f64,
    pub threads: usize,
    /// It takes few iterations.
    pub few: bool,
}

/// A system on the CPU, with what the methods asked for need.
pub struct OnHost<'a> {
    system: &'a System,
    narrow: Option<Box<dyn Operator<f32>>>,
    /// In 64 bits, for the certificate too.
    wide: Option<Box<dyn Operator<f64>>>,
    multigrid: Option<OnGrid>,
    tol: f64,
}

/// The operator of a grid with nothing stored, in both precisions, and a cycle for it.
struct OnGrid {
    narrow: Laplacian<f32>,
    wide: Laplacian<f64>,
    cycle: RefCell<Multigrid<f32>>,
}

impl<'a> OnHost<'a> {
    /// Nothing where no such method is asked for. The CPU's multigrid is struck off the list where sides are odd.
    pub fn new(system: &'a System, methods: &mut Vec<Method>, tol: f64) -> Option<Self> {
        let mut multigrid = None;
        if methods.contains(&Method::HostMultigridCg) {
            let stencil = system.stencil.as_ref().expect("a problem on a grid");
            let (grid, weights) = (stencil.grid(), stencil.weights());
            multigrid = Multigrid::new(grid, weights).map(|cycle| OnGrid {
                narrow: Laplacian::new(grid, weights),
                wide: Laplacian::new(grid, weights),
                cycle: RefCell::new(cycle),
            });
            if multigrid.is_none() {
                methods.retain(|m| *m != Method::HostMultigridCg);
            }
        }
        let narrow = methods.iter().any(|m| matches!(m, Method::HostCg(_) | Method::HostJacobiCg));
        if !narrow && !methods.contains(&Method::HostCg64) && multigrid.is_none() {
            return None;
        }
        let mut made = OnHost { system, narrow: None, wide: None, multigrid, tol };
        if narrow || methods.contains(&Method::HostCg64) {
            let csr = system.csr();
            made.wide = Some(match system.dense {
                Some(n) => Box::new(Dense::new(n, csr.values())),
                None => Box::new(Compressed::new(csr)),
            });
            made.narrow = narrow.then(|| match system.dense {
                Some(n) => Box::new(Dense::new(n, csr.values())) as Box<dyn Operator<f32>>,
                None => Box::new(Compressed::new(csr)),
            });
        }
        Some(made)
    }

    /// One solve from zero, or nothing if the method is the device's.
    pub fn solve(&self, method: Method) -> Option<Answer> {
        let (b, tol, exact) = (&self.system.b[..], self.tol, self.wide.as_deref());
        Some(match method {
            Method::HostCg(threads) => {
                Host { a: self.narrow.as_deref()?, exact: exact?, b, tol, threads, few: false }.solve(None)
            }
            Method::HostCg64 => Host { a: exact?, exact: exact?, b, tol, threads: 1, few: false }.solve(None),
            Method::HostJacobiCg => {
                let inverse: Vec<f32> =
                    self.system.csr().diagonal().iter().map(|d| (1.0 / d) as f32).collect();
                let host = Host { a: self.narrow.as_deref()?, exact: exact?, b, tol, threads: 1, few: false };
                host.solve(Some(&mut |z, r| {
                    z.iter_mut().zip(r).zip(&inverse).for_each(|((z, r), d)| *z = d * r);
                }))
            }
            Method::HostMultigridCg => {
                let OnGrid { narrow, wide, cycle } = self.multigrid.as_ref()?;
                let mut cycle = cycle.borrow_mut();
                Host { a: narrow, exact: wide, b, tol, threads: 1, few: true }
                    .solve(Some(&mut |z, r| cycle.cycle(z, r)))
            }
            _ => return None,
        })
    }

    /// Seconds of a V-cycle from zero: the mean of many.
    pub fn cycle(&self) -> Option<f64> {
        let mut cycle = self.multigrid.as_ref()?.cycle.borrow_mut();
        let mut z = vec![0.0; self.system.b.len()];
        let mut measured = |count: usize| {
            let started = Instant::now();
            (0..count).for_each(|_| cycle.cycle(&mut z, std::hint::black_box(&self.system.b)));
            started.elapsed().as_secs_f64() / count as f64
        };
        measured(1);
        let one = measured(1);
        Some(measured((0.5 / one.max(1e-6)).clamp(1.0, 1000.0) as usize))
    }
}

/// As many as texla does at most.
const MAX_ITERS: usize = 20_000;

impl<T: Real> Host<'_, T> {
    /// Solves from zero, until the residual in 64 bits meets the bound or no longer falls.
    pub fn solve(&self, mut m: Option<Preconditioner<'_, T>>) -> Answer {
        let pool = (self.threads > 1)
            .then(|| rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().expect("threads"));
        let started = Instant::now();
        let (x, iterations, residual) = match &pool {
            Some(pool) => {
                assert!(m.is_none(), "preconditioners are for one thread");
                pool.install(|| self.run(None))
            }
            None => self.run(m.take()),
        };
        let seconds = started.elapsed().as_secs_f64();
        let solved = residual <= self.tol;
        let gave_up = (!solved).then(|| match iterations {
            MAX_ITERS.. => format!("max_iterations at {residual:.1e}"),
            _ => format!("stagnated at {residual:.1e}"),
        });
        Answer { seconds, iterations, draws: None, over_useful: None, gave_up, x, first: false }
    }

    /// The solution, the iterations and the true residual.
    fn run(&self, mut m: Option<Preconditioner<'_, T>>) -> (Vec<f64>, usize, f64) {
        let n = self.a.rows();
        let zeros = || vec![T::default(); n];
        let (mut y, mut r, mut d, mut q) = (zeros(), zeros(), zeros(), zeros());
        let mut z = if m.is_some() { zeros() } else { Vec::new() };
        let (mut x, mut ax) = (vec![0.0f64; n], vec![0.0f64; n]);
        let unit = self.b.iter().map(|b| f64::from(*b).powi(2)).sum::<f64>().sqrt();
        // Evenly on the way in digits; few iterations gather little rounding.
        let stops = if self.few { 0.0 } else { (-self.tol.log10() / T::AT_EASE - 1.0).floor() };
        let all = (1..).map(f64::from).take_while(|k| *k <= stops);
        let mut aims = all.map(|k| self.tol.powf(k / (stops + 1.0)));
        let (mut iterations, mut fell_short) = (0, 0);
        let (mut least, mut recurrence, mut rz) = (f64::INFINITY, 0.0, 0.0);
        loop {
            // x = x + y in the precision of the answer, r = b - A x
            for (x, y) in x.iter_mut().zip(&mut y) {
                *x = T::of(*x + std::mem::take(y).wide()).wide();
            }
            apply(self.threads, self.exact, 0, &x, &mut ax);
            let mut rr = 0.0;
            for ((r, b), ax) in r.iter_mut().zip(self.b).zip(&ax) {
                let exact = f64::from(*b) - ax;
                rr += exact * exact;
                *r = T::of(exact);
            }
            let residual = rr.sqrt() / unit;
            let stuck = fell_short > 1 && residual > 0.5 * least;
            if residual <= self.tol || stuck || !residual.is_finite() || iterations >= MAX_ITERS {
                return (x, iterations, residual);
            }
            least = least.min(residual);
            let keep = residual <= 2.0 * recurrence && fell_short == 0;
            let aim = aims.by_ref().find(|aim| *aim < residual).unwrap_or_else(|| {
                fell_short += 1;
                if fell_short == 1 { self.tol } else { 0.5 * self.tol }
            });
            let target = (aim * unit).powi(2);
            let mut rz_of = |r: &[T], z: &mut Vec<T>, rr: f64| match &mut m {
                None => rr,
                Some(m) => {
                    m(z, r);
                    inner(r, z)
                }
            };
            let next = rz_of(&r, &mut z, rr);
            let preconditioned = !z.is_empty();
            let beta = if keep { next / rz } else { 0.0 };
            turn(self.threads, T::of(beta), if preconditioned { &z } else { &r }, &mut d);
            rz = next;
            while rr > target && iterations < MAX_ITERS {
                // q = A d, alpha = r.z / d.q
                let alpha = T::of(rz / apply(self.threads, self.a, 0, &d, &mut q));
                rr = step(self.threads, alpha, [&d, &q], [&mut y, &mut r]);
                iterations += 1;
                if rr <= target {
                    break;
                }
                let next = rz_of(&r, &mut z, rr);
                // d = z + beta d
                turn(self.threads, T::of(next / rz), if preconditioned { &z } else { &r }, &mut d);
                rz = next;
            }
            recurrence = rr.sqrt() / unit;
        }
    }
}
