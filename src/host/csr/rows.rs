//! Matrices made row by row, on several threads.

use super::Csr;
use crate::host::parallel::Threads;
use crate::shape::Shape;

/// Rows are shared out so many at a time, at least.
const LEAST: usize = 2048;

/// Rows of a matrix under way.
#[derive(Default)]
pub(crate) struct Rows {
    ends: Vec<usize>,
    pub(super) cols: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Rows {
    /// Adds an entry to the row that is made, after its last.
    pub fn push(&mut self, col: u32, value: f64) {
        self.cols.push(col);
        self.values.push(value);
    }
}

impl Csr {
    /// A matrix whose rows `row` makes, of entries that ascend by column; each thread has a `room` of its own for that. About as many
    /// entries as said are expected.
    pub(crate) fn by_rows<R>(
        threads: Threads,
        shape: Shape,
        expected: usize,
        room: impl Fn() -> R + Sync,
        row: impl Fn(usize, &mut R, &mut Rows) + Sync,
    ) -> Self {
        let parts = threads.parts(shape.rows, LEAST, |part| {
            let (mut room, mut rows) = (room(), Rows::default());
            let share = part.len() as f64 / shape.rows.max(1) as f64;
            let expected = (share * expected as f64).ceil() as usize;
            rows.ends.reserve_exact(part.len());
            rows.cols.reserve(expected);
            rows.values.reserve(expected);
            for i in part {
                row(i, &mut room, &mut rows);
                rows.ends.push(rows.cols.len());
            }
            rows
        });
        let mut row_ptr = Vec::with_capacity(shape.rows.saturating_add(1));
        row_ptr.push(0);
        let mut begin = 0;
        for part in &parts {
            row_ptr.extend(part.ends.iter().map(|end| begin + end));
            begin += part.cols.len();
        }
        let (cols, values) = parts.into_iter().map(|part| (part.cols, part.values)).unzip();
        Csr::of_parts(shape, row_ptr, threads.concat(cols), threads.concat(values))
    }

    /// What `of` makes of row, column and value of each entry, in the order of [`values`](Self::values).
    pub(crate) fn mapped(&self, threads: Threads, of: impl Fn(usize, usize, f64) -> f64 + Sync) -> Vec<f64> {
        let made = threads.parts(self.shape.rows, LEAST, |part| {
            let mut made = Vec::new();
            for i in part {
                made.extend(self.row(i).map(|(j, value)| of(i, j, value)));
            }
            made
        });
        threads.concat(made)
    }

    /// The same pattern with values made of row, column and value.
    pub(crate) fn map(self, of: impl Fn(usize, usize, f64) -> f64 + Sync) -> Self {
        let values = self.mapped(Threads::all(), of);
        self.valued(values)
    }

    /// The mean of the matrix and its transpose, of a symmetric pattern: exactly symmetric.
    pub(crate) fn evened(self, threads: Threads) -> Self {
        let mirrored = |i: usize, j: usize| {
            let (cols, values) = self.row_slices(j);
            cols.binary_search(&(i as u32)).ok().and_then(|at| values.get(at).copied())
        };
        let values = self
            .mapped(threads, |i, j, v| if i == j { v } else { 0.5 * v + 0.5 * mirrored(i, j).unwrap_or(v) });
        self.valued(values)
    }
}
