//! The same step in plain Rust: strips of rows, one for each thread, which hand their outermost rows on to each other.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::problem::S;

/// Rows with a zero on either side, between a row from below and one from above; and the level before.
struct Strip {
    stride: usize,
    now: Vec<f32>,
    before: Vec<f32>,
}

/// A way to the strip beside.
type Ends = Option<(Sender<Vec<f32>>, Receiver<Vec<f32>>)>;

pub struct Waves {
    size: usize,
    strips: Vec<Strip>,
}

impl Waves {
    pub fn new(size: usize, threads: usize, start: &[f32]) -> Self {
        let stride = size + 2;
        let padded = |rows: &[f32]| {
            let mut all = vec![0.0; stride];
            for row in rows.chunks(size) {
                all.push(0.0);
                all.extend_from_slice(row);
                all.push(0.0);
            }
            all.resize(all.len() + stride, 0.0);
            all
        };
        let strip = |rows: &[f32]| Strip { stride, now: padded(rows), before: padded(rows) };
        let strips = start.chunks(size * size.div_ceil(threads.max(1))).map(strip).collect();
        Waves { size, strips }
    }

    pub fn run(&mut self, steps: usize) {
        let mut below: Ends = None;
        let count = self.strips.len();
        std::thread::scope(|scope| {
            for (k, strip) in self.strips.iter_mut().enumerate() {
                let (above, next) = if k + 1 < count { linked() } else { (None, None) };
                let ends = [std::mem::replace(&mut below, next), above];
                let mut work = move || (0..steps).for_each(|_| strip.step(&ends));
                // The last strip is this thread's own.
                if k + 1 < count {
                    scope.spawn(work);
                } else {
                    work();
                }
            }
        });
    }

    /// The newest level, and the one before.
    pub fn levels(&self) -> [Vec<f32>; 2] {
        let inner = |rows: &[f32]| -> Vec<f32> {
            let rows = rows[self.size + 2..rows.len() - (self.size + 2)].chunks(self.size + 2);
            rows.flat_map(|row| &row[1..=self.size]).copied().collect()
        };
        [
            self.strips.iter().flat_map(|strip| inner(&strip.now)).collect(),
            self.strips.iter().flat_map(|strip| inner(&strip.before)).collect(),
        ]
    }
}

/// Both ends of a way between two strips.
fn linked() -> (Ends, Ends) {
    let ((to_upper, from_lower), (to_lower, from_upper)) = (channel(), channel());
    (Some((to_upper, from_upper)), Some((to_lower, from_lower)))
}

impl Strip {
    fn step(&mut self, ends: &[Ends; 2]) {
        let (stride, len) = (self.stride, self.now.len());
        // Where the first and the last row are, and where the neighbours' go.
        let own = [stride..2 * stride, len - 2 * stride..len - stride];
        let beside = [0, len - stride];
        for (end, own) in ends.iter().zip(&own) {
            if let Some((sender, _)) = end {
                // Nobody there any more: nothing is asked of this strip either.
                let _ = sender.send(self.now[own.clone()].to_vec());
            }
        }
        for ((end, own), beside) in ends.iter().zip(own).zip(beside) {
            match end.as_ref().and_then(|(_, receiver)| receiver.recv().ok()) {
                Some(row) => self.now[beside..beside + stride].copy_from_slice(&row),
                None => self.now.copy_within(own, beside),
            }
        }
        const A: f32 = (2.0 * (1.0 - 2.0 * S)) as f32;
        const B: f32 = S as f32;
        let inner = stride - 2;
        for first in (stride..len - stride).step_by(stride) {
            // Slices of one length, so that the loop has no bounds to check.
            let row = |from: usize| &self.now[from..from + inner];
            let (west, here, east) = (row(first), row(first + 1), row(first + 2));
            let (low, high) = (row(first + 1 - stride), row(first + 1 + stride));
            let old = &mut self.before[first + 1..first + 1 + inner];
            for ((((w, h), e), (l, u)), old) in
                west.iter().zip(here).zip(east).zip(low.iter().zip(high)).zip(old)
            {
                *old = A * h + B * ((w + e) + (l + u)) - *old;
            }
        }
        std::mem::swap(&mut self.now, &mut self.before);
    }
}
