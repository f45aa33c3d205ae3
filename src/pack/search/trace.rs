//! The course of an annealing run, for plots.

/// A point of the course.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TracePoint<C> {
    /// Swaps proposed so far.
    pub proposals: u64,
    /// Swaps accepted so far, those within one quad of a plain expression left out.
    pub accepted: u64,
    /// T.
    pub temperature: f64,
    /// The cost now.
    pub cost: C,
    /// The least cost so far.
    pub best: C,
}

/// The course of a run: points at equal distances in proposals, and its end. What \[Bajaj04\] Figure 8 plots.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trace<C> {
    /// By number of proposals.
    pub points: Vec<TracePoint<C>>,
    /// Proposals from one point to the next.
    pub stride: u64,
}

impl<C> Trace<C> {
    /// For `total` proposals, with at most `length` points and one more for the end; without any if `length` is 0.
    pub(super) fn new(total: u64, length: usize) -> Self {
        let stride = if length == 0 { u64::MAX } else { total.div_ceil(length as u64).max(1) };
        Self { points: Vec::new(), stride }
    }

    /// Proposals until the next point.
    pub(super) fn until_next(&self, proposals: u64) -> u64 {
        self.stride - proposals % self.stride
    }
}
