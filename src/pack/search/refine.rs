//! Descent to a packing that no swap, and no pair of swaps between two quads, makes cheaper.

use super::schedule::SearchStop;
use crate::pack::{Axis, Evaluator};

/// Swaps between two looks at the clock: some 0.1 ms.
const UNWATCHED: u64 = 1024;

/// The ways to choose two positions of a quad. Those of the other quad need only the first three: to exchange two components
/// is, but for the names of the quads, to exchange the other two.
const PAIRS: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

/// A descent from where the evaluator stands.
pub(super) struct Descent<'a, E> {
    pub evaluator: &'a mut E,
    /// Number of positions.
    pub n: usize,
    pub axes: &'a [Axis],
    /// Asked now and then, with the swaps since it was asked last: whether to stop.
    pub watch: &'a dyn Fn(u64) -> Option<SearchStop>,
    /// Swaps that `watch` does not know of yet.
    pub unseen: u64,
}

impl<E: Evaluator> Descent<'_, E> {
    /// Swaps until none helps any more, then pairs of swaps, then swaps again if one has helped.
    pub fn run(mut self) {
        // Why it stopped is known to the watch.
        let _ = self.descend();
        (self.watch)(self.unseen);
    }

    fn descend(&mut self) -> Result<(), SearchStop> {
        loop {
            while self.swaps()? {}
            if !self.pairs()? {
                return Ok(());
            }
        }
    }

    /// Every swap once; true if one has helped.
    fn swaps(&mut self) -> Result<bool, SearchStop> {
        let mut helped = false;
        for &axis in self.axes {
            for p in 0..self.n {
                for q in p + 1..self.n {
                    helped |= !self.evaluator.is_neutral(axis, p, q) && self.attempt(axis, &[(p, q)])?;
                }
            }
        }
        Ok(helped)
    }

    /// Every exchange of two components of one quad with two of another.
    fn pairs(&mut self) -> Result<bool, SearchStop> {
        let mut helped = false;
        for &axis in self.axes {
            for i in (0..self.n).step_by(4) {
                for j in (i + 4..self.n).step_by(4) {
                    for [a, b] in PAIRS.into_iter().take(3) {
                        for [c, d] in PAIRS {
                            helped |= self.attempt(axis, &[(i + a, j + c), (i + b, j + d)])?;
                        }
                    }
                }
            }
        }
        Ok(helped)
    }

    /// Keeps the swaps if the cost falls.
    fn attempt(&mut self, axis: Axis, swaps: &[(usize, usize)]) -> Result<bool, SearchStop> {
        self.unseen += swaps.len() as u64;
        let seen = self.unseen < UNWATCHED;
        if let Some(stop) = if seen { None } else { (self.watch)(std::mem::take(&mut self.unseen)) } {
            return Err(stop);
        }
        let before = self.evaluator.cost();
        for &(p, q) in swaps {
            self.evaluator.swap(axis, p, q);
        }
        if self.evaluator.cost() < before {
            return Ok(true);
        }
        self.evaluator.undo();
        // Only one can be undone; the others are their own inverse.
        for &(p, q) in swaps.iter().rev().skip(1) {
            self.evaluator.swap(axis, p, q);
        }
        Ok(false)
    }
}
