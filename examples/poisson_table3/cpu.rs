//! What runs on the CPU: the Gauss-Seidel method of the table, made fast, and residuals in 64 bits.

use std::array;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use texla::Grid;

/// Planes that are swept together, skewed against one another so that their lines do not wait for each other.
const SKEWED: usize = 4;

/// A part of the grid: whole planes, and what lies below and above.
struct Slab<'a> {
    grid: Grid,
    /// The first plane, and the planes.
    first: usize,
    x: &'a mut [f32],
    b: &'a [f32],
}

/// Gauss-Seidel for the Laplacian in natural order: zero behind both ends of x, nothing flows through the other sides.
///
/// Each line first sums what does not depend on itself, eight or four cells at a time; then its cells follow one
/// another. Four lines, of four planes one row apart, take turns there: none of them needs what another has yet to
/// find, so that the result is that of one line after the other to the last bit.
pub struct GaussSeidel {
    pub grid: Grid,
    /// 1 or 2. Two threads have half of the planes each, the upper one a sweep behind: it begins once the plane below
    /// it is done, whose values it is sent, and sends its own lowest plane back. Also this is natural order to the last bit.
    pub threads: usize,
}

impl GaussSeidel {
    /// `‖b - A x‖`, rows in 32 bits as on the device, a line at a time.
    pub fn residual(&self, x: &[f32], b: &[f32]) -> f64 {
        let Grid { nx, ny, nz } = self.grid;
        let line = |j: usize, k: usize| &x[nx * (j + ny * k)..][..nx];
        let mut squares = vec![0.0f32; nx];
        let mut total = 0.0;
        for (j, k) in (0..nz).flat_map(|k| (0..ny).map(move |j| (j, k))) {
            let own = line(j, k);
            // Nothing flows to a neighbour that is not there: the own line in its place.
            let neighbours = [
                if j > 0 { line(j - 1, k) } else { own },
                if j + 1 < ny { line(j + 1, k) } else { own },
                if k > 0 { line(j, k - 1) } else { own },
                if k + 1 < nz { line(j, k + 1) } else { own },
            ];
            let [w, x, y, z] = neighbours;
            let b = &b[nx * (j + ny * k)..][..nx];
            for i in 1..nx - 1 {
                let sum = ((w[i] + x[i]) + (y[i] + z[i])) + (own[i - 1] + own[i + 1]);
                squares[i] = (b[i] + (sum - 6.0 * own[i])).powi(2);
            }
            for (i, beside) in [(0, own[1]), (nx - 1, own[nx - 2])] {
                let sum = ((w[i] + x[i]) + (y[i] + z[i])) + beside;
                squares[i] = (b[i] + (sum - 6.0 * own[i])).powi(2);
            }
            total += f64::from(squares.iter().sum::<f32>());
        }
        total.sqrt()
    }

    pub fn sweep(&self, x: &mut [f32], b: &[f32], sweeps: usize) {
        let (grid, middle) = (self.grid, self.grid.nz / 2);
        let split = grid.nx * grid.ny * middle;
        if self.threads < 2 || middle == 0 {
            let mut all = Slab { grid, first: 0, x, b };
            (0..sweeps).for_each(|_| all.planes(0..grid.nz, None, None));
            return;
        }
        let ((low, high), (b_low, b_high)) = (x.split_at_mut(split), b.split_at(split));
        let plane = grid.nx * grid.ny;
        let (mut above, mut below) = (high[..plane].to_vec(), Vec::new());
        let ((up, from_below), (down, from_above)): (Channel, Channel) = (channel(), channel());
        let mut low = Slab { grid, first: 0, x: low, b: b_low };
        let mut high = Slab { grid, first: middle, x: high, b: b_high };
        thread::scope(|scope| {
            // What is sent arrives, or the other thread has panicked, which ends both.
            scope.spawn(move || {
                let last = middle.saturating_sub(SKEWED);
                for sweep in 0..sweeps {
                    low.planes(0..last, None, None);
                    if sweep > 0 {
                        above = from_above.recv().unwrap_or_default();
                    }
                    low.planes(last..middle, None, Some(&above));
                    let _ = up.send(low.x[split - plane..].to_vec());
                }
            });
            for _ in 0..sweeps {
                below.clone_from(&from_below.recv().unwrap_or_default());
                let first = (middle + SKEWED).min(grid.nz);
                high.planes(middle..first, Some(&below), None);
                let _ = down.send(high.x[..plane].to_vec());
                high.planes(first..grid.nz, None, None);
            }
        });
    }
}

type Channel = (Sender<Vec<f32>>, Receiver<Vec<f32>>);

impl Slab<'_> {
    /// One sweep over these planes; `below` and `above` are those next to the slab, where there are any.
    fn planes(&mut self, planes: std::ops::Range<usize>, below: Option<&[f32]>, above: Option<&[f32]>) {
        let Grid { nx, ny, .. } = self.grid;
        let mut sums: [Vec<f32>; SKEWED] = array::from_fn(|_| vec![0.0; nx]);
        let zeros = vec![0.0; nx];
        for first in planes.clone().step_by(SKEWED) {
            let count = SKEWED.min(planes.end - first);
            for step in 0..ny + count - 1 {
                let mut lines = [(0, 0.0); SKEWED];
                let mut active = 0;
                for m in 0..count {
                    if let Some(j) = step.checked_sub(m).filter(|j| *j < ny) {
                        lines[active] = self.sums(j, first + m, [below, above], &zeros, &mut sums[active]);
                        active += 1;
                    }
                }
                if active == SKEWED {
                    follow_all(&mut sums, lines.map(|(_, share)| share));
                } else {
                    for (sums, (_, share)) in sums.iter_mut().zip(lines).take(active) {
                        follow(sums, share);
                    }
                }
                for (sums, (start, _)) in sums.iter().zip(lines).take(active) {
                    self.x[start..start + nx].copy_from_slice(sums);
                }
            }
        }
    }

    /// (b + the neighbours but the one before) / diagonal of line (j, k). Where it starts in the slab, and 1 / diagonal.
    fn sums(
        &self,
        j: usize,
        k: usize,
        [below, above]: [Option<&[f32]>; 2],
        zeros: &[f32],
        out: &mut [f32],
    ) -> (usize, f32) {
        let Grid { nx, ny, nz } = self.grid;
        let local = k - self.first;
        let at = |j: usize, plane: usize| nx * (j + ny * plane);
        let start = at(j, local);
        let inside = |from: usize| Some(&self.x[from..from + nx]);
        let neighbours = [
            if j > 0 { inside(at(j - 1, local)) } else { None },
            if j + 1 < ny { inside(at(j + 1, local)) } else { None },
            match (k, local) {
                (0, _) => None,
                (_, 0) => beside(below, j, nx),
                _ => inside(at(j, local - 1)),
            },
            if k + 1 == nz {
                None
            } else if start + nx * ny < self.x.len() {
                inside(at(j, local + 1))
            } else {
                beside(above, j, nx)
            },
        ];
        let share = 1.0 / (2 + neighbours.iter().flatten().count()) as f32;
        let [w, x, y, z] = neighbours.map(|line| &line.unwrap_or(zeros)[..nx]);
        let (own, b, out) = (&self.x[start..start + nx], &self.b[start..start + nx], &mut out[..nx]);
        for i in 0..nx - 1 {
            out[i] = share * (b[i] + ((w[i] + x[i]) + (y[i] + z[i])) + own[i + 1]);
        }
        let i = nx - 1;
        out[i] = share * (b[i] + ((w[i] + x[i]) + (y[i] + z[i])));
        (start, share)
    }
}

/// Line j of a plane.
fn beside(plane: Option<&[f32]>, j: usize, nx: usize) -> Option<&[f32]> {
    plane.map(|plane| &plane[nx * j..nx * (j + 1)])
}

/// Each cell takes its share of the one before.
fn follow(sums: &mut [f32], share: f32) {
    let mut before = 0.0;
    for sum in sums {
        before = *sum + share * before;
        *sum = before;
    }
}

/// The same for as many lines at once as stand beside one another.
fn follow_all(sums: &mut [Vec<f32>; SKEWED], shares: [f32; SKEWED]) {
    let [w, x, y, z] = sums;
    let mut before = [0.0; SKEWED];
    for (((w, x), y), z) in w.iter_mut().zip(x).zip(y).zip(z) {
        for ((before, sum), share) in before.iter_mut().zip([&mut *w, x, y, z]).zip(shares) {
            *before = *sum + share * *before;
            *sum = *before;
        }
    }
}

/// A x in a cell of the same operator, in 64 bits, and the sum of its terms' magnitudes.
fn row(grid: Grid, x: &[f32], cell: usize) -> (f64, f64) {
    let (i, j, k) = grid.place(cell);
    let (nx, plane) = (grid.nx, grid.nx * grid.ny);
    let along = [(i, nx, 1, true), (j, grid.ny, nx, false), (k, grid.nz, plane, false)];
    let (mut sum, mut size, own) = (0.0, 0.0, f64::from(x[cell]));
    for (at, n, stride, held) in along {
        for neighbour in [(at > 0).then(|| cell - stride), (at + 1 < n).then(|| cell + stride)] {
            let other = neighbour.map(|cell| f64::from(x[cell])).or(held.then_some(0.0));
            sum += other.map_or(0.0, |other| own - other);
            size += other.map_or(0.0, |other| own.abs() + other.abs());
        }
    }
    (sum, size)
}

/// The residual `‖b - A x‖` and how far a device may be off it that computes it in 32 bits: fifteen roundings a row.
pub fn residual(grid: Grid, x: &[f32], b: &[f32]) -> [f64; 2] {
    const ROUNDINGS: f64 = 16.0 / 16_777_216.0;
    let rows = b.iter().enumerate().map(|(cell, b)| (f64::from(*b), row(grid, x, cell)));
    let [square, size] = rows.fold([0.0, 0.0], |[square, size], (b, (product, terms))| {
        [square + (b - product).powi(2), size + (b.abs() + terms).powi(2)]
    });
    [square.sqrt(), ROUNDINGS * size.sqrt()]
}

/// The norm of a vector.
pub fn norm(values: &[f32]) -> f64 {
    values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt()
}
