//! Multigrid on the CPU: the cycle of `texla::solve::Multigrid` for a constant-coefficient operator between walls, on
//! grids whose coarsened sides are even.
//!
//! The same grids, sweeps, transfers and coarsest solve, so that it takes as many iterations. What is not the same is the
//! order: a plane (in two dimensions a row) goes through both sweeps, and through the transfer before or after them,
//! while it is in the cache, so that each half of a cycle passes over its level once.

use faer::Mat;
use faer::linalg::solvers::DenseSolveCore;
use pulp::Arch;
use texla::Grid;

use crate::host::{Operator, Real, dot};

/// A grid in planes of rows: in two dimensions a plane is one row.
struct Level<T> {
    /// Cells of a row, rows of a plane, planes.
    sides: [usize; 3],
    /// Of these three directions.
    weights: [f64; 3],
    w: [T; 3],
    /// Which are coarsened.
    coarse: [bool; 3],
    /// The weights of the two sweeps.
    omegas: [T; 2],
    /// Planes of the first sweep that the second one still needs, and one of zeros for what lies outside.
    ring: [Vec<T>; 3],
    zeros: Vec<T>,
    /// A row, and a row of half its length.
    row: Vec<T>,
    half: Vec<T>,
}

/// As in texla.
const MOST_DENSE: usize = 256;
const MUCH_STRONGER: f64 = 2.5;
/// What interpolation is multiplied by in the cells at a wall.
const AT_WALL: f64 = 2.0 / 3.0;

impl<T: Real> Level<T> {
    fn new(sides: [usize; 3], weights: [f64; 3]) -> Self {
        let able: [bool; 3] =
            std::array::from_fn(|k| weights[k] > 0.0 && sides[k] >= 4 && sides[k].is_multiple_of(2));
        let strongest = (0..3).filter(|k| able[*k]).map(|k| weights[k]).fold(0.0, f64::max);
        let coarse = std::array::from_fn(|k| able[k] && weights[k] * MUCH_STRONGER >= strongest);
        let all = 2.0 * weights.iter().sum::<f64>();
        let seen = (0..3).filter(|k| coarse[*k]).map(|k| weights[k]).fold(f64::INFINITY, f64::min);
        // Chebyshev weights over the eigenvalues of D^-1 A that the coarser grid does not see.
        let low = if seen.is_finite() { 2.0 * seen / all } else { 1.0 };
        let (centre, half) = ((2.0 + low) / 2.0, (2.0 - low) / 2.0);
        let omega = |k: f64| T::of(1.0 / (centre + half * (std::f64::consts::PI * k / 4.0).cos()));
        let plane = sides[0] * sides[1];
        let zeros = |n| vec![T::default(); n];
        Level {
            sides,
            weights,
            w: weights.map(T::of),
            coarse,
            omegas: [omega(1.0), omega(3.0)],
            ring: std::array::from_fn(|_| zeros(plane)),
            zeros: zeros(plane),
            row: zeros(plane),
            half: zeros(sides[0]),
        }
    }

    fn len(&self) -> usize {
        self.sides.iter().product()
    }

    fn coarser(&self) -> Self {
        let halved = |k: usize| if self.coarse[k] { self.sides[k] / 2 } else { self.sides[k] };
        let weights = |k: usize| if self.coarse[k] { self.weights[k] / 4.0 } else { self.weights[k] };
        Level::new(std::array::from_fn(halved), std::array::from_fn(weights))
    }

    /// The coarser cells along a direction that a cell takes part in, with their weights: those of the nearer and the
    /// farther one, less at a wall.
    #[inline(always)]
    fn parents(&self, k: usize, at: usize, [own, other]: [f64; 2]) -> [(usize, T); 2] {
        if !self.coarse[k] {
            return [(at, T::of(1.0)), (at, T::default())];
        }
        let n = self.sides[k];
        let scale = if at == 0 || at + 1 == n { AT_WALL } else { 1.0 };
        let beside = if at % 2 == 1 { Some(at / 2 + 1) } else { (at / 2).checked_sub(1) };
        let beside = beside.filter(|j| *j < n / 2);
        let second = beside.map_or((at / 2, 0.0), |j| (j, scale * other));
        [(at / 2, T::of(scale * own)), (second.0, T::of(second.1))]
    }
}

/// `out = f(A x, x, b, 1 / a_ii)` in plane `u`; `x` is that plane with the ones before and after it.
#[inline(always)]
fn plane<T: Real>(
    (sides, w): ([usize; 3], [T; 3]),
    u: usize,
    x: [&[T]; 3],
    b: &[T],
    out: &mut [T],
    zeros: &[T],
    f: impl Fn(T, T, T, T) -> T + Copy,
) {
    let [n, rows, planes] = sides;
    let ends = |w: T, at: usize, count: usize| {
        let none = T::default();
        w + w + if at == 0 { w } else { none } + if at + 1 == count { w } else { none }
    };
    let outer = ends(w[2], u, planes);
    for j in 0..rows {
        let row = |j: usize| j * n..(j + 1) * n;
        let here = row(j);
        let [before, centre, after] = [&x[0][here.clone()], &x[1][here.clone()], &x[2][here.clone()]];
        let below = if j > 0 { &x[1][row(j - 1)] } else { &zeros[..n] };
        let above = if j + 1 < rows { &x[1][row(j + 1)] } else { &zeros[..n] };
        let middle = if rows > 1 { ends(w[1], j, rows) } else { T::default() };
        let (b, out) = (&b[here.clone()], &mut out[here]);
        let diagonal = outer + middle;
        let around = |i: usize| {
            let along = w[2] * (before[i] + after[i]);
            if rows > 1 { along + w[1] * (below[i] + above[i]) } else { along }
        };
        // The ends of the row, where a neighbour is missing.
        for i in [0, n - 1] {
            let d = diagonal + ends(w[0], i, n);
            let inverse = T::of(1.0) / d;
            let mut beside = T::default();
            if i > 0 {
                beside += centre[i - 1];
            }
            if i + 1 < n {
                beside += centre[i + 1];
            }
            out[i] = f(d * centre[i] - w[0] * beside - around(i), centre[i], b[i], inverse);
        }
        if n <= 2 {
            continue;
        }
        let d = diagonal + w[0] + w[0];
        let inverse = T::of(1.0) / d;
        // Slices of one length: no index is checked in the loop.
        let m = n - 2;
        let (left, here, right) = (&centre[..m], &centre[1..][..m], &centre[2..][..m]);
        let (before, after, below, above) =
            (&before[1..][..m], &after[1..][..m], &below[1..][..m], &above[1..][..m]);
        let (b, out) = (&b[1..][..m], &mut out[1..][..m]);
        if rows > 1 {
            for i in 0..m {
                let beside = w[0] * (left[i] + right[i]);
                let beside = beside + w[1] * (below[i] + above[i]) + w[2] * (before[i] + after[i]);
                out[i] = f(d * here[i] - beside, here[i], b[i], inverse);
            }
        } else {
            for i in 0..m {
                let beside = w[0] * (left[i] + right[i]) + w[2] * (before[i] + after[i]);
                out[i] = f(d * here[i] - beside, here[i], b[i], inverse);
            }
        }
    }
}

/// A plane of a field; zeros outside.
#[inline(always)]
fn at<'a, T>(field: &'a [T], zeros: &'a [T], u: Option<usize>) -> &'a [T] {
    let size = zeros.len();
    u.and_then(|u| field.get(u * size..(u + 1) * size)).unwrap_or(zeros)
}

impl<T: Real> Level<T> {
    /// Two sweeps from zero, and what of the residual the coarser grid sees.
    #[inline(always)]
    fn down(&mut self, x: &mut [T], b: &[T], coarse_b: &mut [T]) {
        let [n, rows, planes] = self.sides;
        let size = n * rows;
        let [first, second] = self.omegas;
        let of = (self.sides, self.w);
        coarse_b.fill(T::default());
        for u in 0..planes + 2 {
            if u < planes {
                let (b, zeros) = (at(b, &self.zeros, Some(u)), &self.zeros);
                let out = &mut self.ring[u % 3];
                plane(of, u, [zeros; 3], b, out, zeros, |_, _, b, inverse| first * b * inverse);
            }
            if let Some(v) = u.checked_sub(1).filter(|v| *v < planes) {
                let zeros = &self.zeros[..];
                let ring =
                    |v: Option<usize>| v.filter(|v| *v < planes).map_or(zeros, |v| &self.ring[v % 3][..]);
                let around = [ring(v.checked_sub(1)), ring(Some(v)), ring(Some(v + 1))];
                let out = &mut x[v * size..(v + 1) * size];
                plane(of, v, around, at(b, zeros, Some(v)), out, zeros, |ax, x, b, inverse| {
                    x + second * (b - ax) * inverse
                });
            }
            if let Some(v) = u.checked_sub(2) {
                let zeros = &self.zeros;
                let around = [v.checked_sub(1), Some(v), Some(v + 1)].map(|v| at(x, zeros, v));
                plane(of, v, around, at(b, zeros, Some(v)), &mut self.row, zeros, |ax, _, b, _| b - ax);
                self.restrict(v, coarse_b);
            }
        }
    }

    /// Adds the plane of residuals to the coarser grid's right-hand side: the transpose of `correct`, halved for each
    /// direction that is coarsened.
    #[inline(always)]
    fn restrict(&mut self, u: usize, coarse_b: &mut [T]) {
        let [n, rows, _] = self.sides;
        let [half_n, half_rows] = [0, 1].map(|k| self.sides[k] / if self.coarse[k] { 2 } else { 1 });
        let (near, far) = (T::of(0.375), T::of(0.125));
        for j in 0..rows {
            let (outer, middle) = (self.parents(2, u, [0.375, 0.125]), self.parents(1, j, [0.375, 0.125]));
            let row = &mut self.row[j * n..(j + 1) * n];
            let half: &[T] = if self.coarse[0] {
                row[0] = row[0] * T::of(AT_WALL);
                row[n - 1] = row[n - 1] * T::of(AT_WALL);
                let half = &mut self.half[..half_n];
                half[0] = near * (row[0] + row[1]) + far * row[2];
                half[half_n - 1] = near * (row[n - 2] + row[n - 1]) + far * row[n - 3];
                for (half, r) in half[1..half_n - 1].iter_mut().zip(row[1..].windows(4).step_by(2)) {
                    *half = near * (r[1] + r[2]) + far * (r[0] + r[3]);
                }
                &self.half[..half_n]
            } else {
                row
            };
            for (p, wp) in outer {
                for (q, wq) in middle {
                    let w = wp * wq;
                    if w.wide() == 0.0 {
                        continue;
                    }
                    let start = (p * half_rows + q) * half_n;
                    let out = &mut coarse_b[start..start + half_n];
                    out.iter_mut().zip(half).for_each(|(out, r)| *out += w * *r);
                }
            }
        }
    }

    /// `x = x + P e`, and two sweeps.
    #[inline(always)]
    fn up(&mut self, x: &mut [T], b: &[T], e: &[T]) {
        let [n, rows, planes] = self.sides;
        let size = n * rows;
        let [first, second] = self.omegas;
        let of = (self.sides, self.w);
        for u in 0..planes + 2 {
            if u < planes {
                self.correct(u, &mut x[u * size..(u + 1) * size], e);
            }
            if let Some(v) = u.checked_sub(1).filter(|v| *v < planes) {
                let zeros = &self.zeros;
                let around = [v.checked_sub(1), Some(v), Some(v + 1)].map(|v| at(x, zeros, v));
                let out = &mut self.ring[v % 3];
                plane(of, v, around, at(b, zeros, Some(v)), out, zeros, |ax, x, b, inverse| {
                    x + first * (b - ax) * inverse
                });
            }
            if let Some(v) = u.checked_sub(2) {
                let zeros = &self.zeros[..];
                let ring =
                    |v: Option<usize>| v.filter(|v| *v < planes).map_or(zeros, |v| &self.ring[v % 3][..]);
                let around = [ring(v.checked_sub(1)), ring(Some(v)), ring(Some(v + 1))];
                let out = &mut x[v * size..(v + 1) * size];
                plane(of, v, around, at(b, zeros, Some(v)), out, zeros, |ax, x, b, inverse| {
                    x + second * (b - ax) * inverse
                });
            }
        }
    }

    /// Interpolates linearly between the centres of coarser cells, to zero at walls.
    #[inline(always)]
    fn correct(&mut self, u: usize, x: &mut [T], e: &[T]) {
        let [n, rows, _] = self.sides;
        let [half_n, half_rows] = [0, 1].map(|k| self.sides[k] / if self.coarse[k] { 2 } else { 1 });
        for j in 0..rows {
            let (outer, middle) = (self.parents(2, u, [0.75, 0.25]), self.parents(1, j, [0.75, 0.25]));
            let half = &mut self.half[..half_n];
            half.fill(T::default());
            for (p, wp) in outer {
                for (q, wq) in middle {
                    let w = wp * wq;
                    if w.wide() == 0.0 {
                        continue;
                    }
                    let start = (p * half_rows + q) * half_n;
                    half.iter_mut().zip(&e[start..]).for_each(|(half, e)| *half += w * *e);
                }
            }
            let row = &mut x[j * n..(j + 1) * n];
            if !self.coarse[0] {
                row.iter_mut().zip(half).for_each(|(x, half)| *x += *half);
                continue;
            }
            let (near, far) = (T::of(0.75), T::of(0.25));
            row[0] += T::of(0.75 * AT_WALL) * half[0];
            row[n - 1] += T::of(0.75 * AT_WALL) * half[half_n - 1];
            // Between two centres lie two cells.
            for (x, half) in row[1..n - 1].chunks_exact_mut(2).zip(half.windows(2)) {
                x[0] += near * half[0] + far * half[1];
                x[1] += far * half[0] + near * half[1];
            }
        }
    }
}

/// A V-cycle for a grid between walls.
pub struct Multigrid<T> {
    levels: Vec<Level<T>>,
    /// Iterate and right-hand side of all levels but the first.
    fields: Vec<[Vec<T>; 2]>,
    inverse: Vec<T>,
}

impl<T: Real> Multigrid<T> {
    /// Nothing where a side is odd before the grid is small enough.
    pub fn new(grid: Grid, weights: [f64; 3]) -> Option<Self> {
        let (sides, weights) = in_planes(grid, weights);
        let mut levels = vec![Level::new(sides, weights)];
        while let Some(last) = levels.last()
            && last.len() > MOST_DENSE
        {
            if !last.coarse.contains(&true) {
                return None;
            }
            levels.push(last.coarser());
        }
        let fields = levels[1..].iter().map(|l| [0; 2].map(|_| vec![T::default(); l.len()])).collect();
        let inverse = inverse(levels.last()?);
        Some(Multigrid { levels, fields, inverse })
    }

    /// One cycle from zero.
    pub fn cycle(&mut self, x: &mut [T], b: &[T]) {
        cycle(&mut self.levels, &mut self.fields, &self.inverse, x, b);
    }
}

fn cycle<T: Real>(levels: &mut [Level<T>], fields: &mut [[Vec<T>; 2]], inverse: &[T], x: &mut [T], b: &[T]) {
    let (Some((level, coarser)), Some(([e, coarse_b], rest))) =
        (levels.split_first_mut(), fields.split_first_mut())
    else {
        let rows = inverse.chunks_exact(b.len());
        let sum = |row: &[T]| row.iter().zip(b).fold(T::default(), |s, (a, b)| s + *a * *b);
        x.iter_mut().zip(rows).for_each(|(x, row)| *x = sum(row));
        return;
    };
    let arch = Arch::new();
    arch.dispatch(
        #[inline(always)]
        || level.down(x, b, coarse_b),
    );
    cycle(coarser, rest, inverse, e, coarse_b);
    arch.dispatch(
        #[inline(always)]
        || level.up(x, b, e),
    );
}

/// A grid in planes of rows.
fn in_planes(grid: Grid, weights: [f64; 3]) -> ([usize; 3], [f64; 3]) {
    let ([nx, ny, nz], [wx, wy, wz]) = (grid.sides(), weights);
    if nz == 1 { ([nx, 1, ny], [wx, 0.0, wy]) } else { ([nx, ny, nz], [wx, wy, wz]) }
}

/// The operator itself, of which nothing is stored.
pub struct Laplacian<T> {
    sides: [usize; 3],
    w: [T; 3],
    zeros: Vec<T>,
}

impl<T: Real> Laplacian<T> {
    pub fn new(grid: Grid, weights: [f64; 3]) -> Self {
        let (sides, weights) = in_planes(grid, weights);
        Laplacian { sides, w: weights.map(T::of), zeros: vec![T::default(); sides[0] * sides[1]] }
    }
}

impl<T: Real> Operator<T> for Laplacian<T> {
    fn rows(&self) -> usize {
        self.sides.iter().product()
    }

    /// Whole planes: it is for one thread.
    fn apply(&self, first: usize, p: &[T], q: &mut [T]) -> f64 {
        assert_eq!((first, q.len()), (0, p.len()));
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut total = 0.0;
                let size = self.zeros.len();
                for (u, q) in q.chunks_exact_mut(size).enumerate() {
                    let around = [u.checked_sub(1), Some(u), Some(u + 1)].map(|u| at(p, &self.zeros, u));
                    plane((self.sides, self.w), u, around, around[1], q, &self.zeros, |ax, _, _, _| ax);
                    total += dot(around[1], q);
                }
                total
            },
        )
    }
}

/// The inverse on the last grid, row by row.
fn inverse<T: Real>(level: &Level<T>) -> Vec<T> {
    let n = level.len();
    let [nx, ny, _] = level.sides;
    let laplacian = Laplacian { sides: level.sides, w: level.weights, zeros: vec![0.0; nx * ny] };
    let mut a = Mat::<f64>::zeros(n, n);
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
    for j in 0..n {
        unit[j] = 1.0;
        laplacian.apply(0, &unit, &mut column);
        unit[j] = 0.0;
        column.iter().enumerate().for_each(|(i, v)| a[(i, j)] = *v);
    }
    let inverse = a.partial_piv_lu().inverse();
    (0..n * n).map(|k| T::of(inverse[(k / n, k % n)])).collect()
}
