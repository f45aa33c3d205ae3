//! Work as counts of what a profile has rates for.

use std::ops::{Add, Mul};

use crate::shape::Extent;

/// A number for each kind of fetch: how many, or what one of them takes in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Fetches {
    /// Of the texel under the fragment, in a texture of the target's extent: operands of element-wise operations.
    pub own: f64,
    /// At computed places, neighbours reading neighbours: windows of reductions, shifted vectors, slots of rows.
    pub adjacent: f64,
    /// At computed places, neighbours in a row reading from different rows: a transposed matrix.
    pub strided: f64,
    /// All over the texture, with nothing in common between neighbours: columns of an irregular sparse matrix.
    pub scattered: f64,
}

with!(const Fetches:
    with_own(own: f64),
    with_adjacent(adjacent: f64),
    with_strided(strided: f64),
    with_scattered(scattered: f64),
);

impl Fetches {
    pub(super) fn each(self) -> [f64; 4] {
        [self.own, self.adjacent, self.strided, self.scattered]
    }

    pub(super) fn of([own, adjacent, strided, scattered]: [f64; 4]) -> Self {
        Fetches { own, adjacent, strided, scattered }
    }

    pub(super) fn times(self, other: Fetches) -> f64 {
        self.each().iter().zip(other.each()).map(|(a, b)| a * b).sum()
    }
}

/// Work to be done, counted: [`DeviceProfile::predict`](super::DeviceProfile::predict) says how long it takes. Counts are
/// floats, so that they may be averages; workloads add up, and can be multiplied.
///
/// The operations count themselves: [`Workload::elementwise`], [`ReducePlan::workload`](crate::ops::ReducePlan::workload),
/// [`LinOp::workload`](crate::ops::LinOp::workload),
/// [`ConjugateGradient::workload`](crate::solve::ConjugateGradient::workload).
///
/// ```
/// use texla::profile::Workload;
/// let step = Workload::default().with_draws(2.0).with_target_changes(1.0);
/// let hundred = step * 100.0 + Workload::default().with_readbacks(1.0);
/// assert_eq!((hundred.draws, hundred.target_changes, hundred.readbacks), (200.0, 100.0, 1.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Workload {
    /// Draws.
    pub draws: f64,
    /// Draws whose target is not that of the draw before.
    pub target_changes: f64,
    /// Texels written (RGBA32F), all targets counted, by draws with one target, two, three and four.
    pub written_texels: [f64; 4],
    /// Fetches from RGBA32F textures.
    pub fetches: Fetches,
    /// Fetches from R32F textures.
    pub fetches_r32f: Fetches,
    /// Products of two floats with the addition of a third; an addition or a product alone counts as one.
    pub multiply_adds: f64,
    /// Texels to which a draw of a rectangle adds by blending.
    pub blended_texels: f64,
    /// Points of a texel's size, blended.
    pub points: f64,
    /// Readbacks of little, each waited for.
    pub readbacks: f64,
}

with!(const Workload:
    with_draws(draws: f64),
    with_target_changes(target_changes: f64),
    with_written_texels(written_texels: [f64; 4]),
    with_fetches(fetches: Fetches),
    with_fetches_r32f(fetches_r32f: Fetches),
    with_multiply_adds(multiply_adds: f64),
    with_blended_texels(blended_texels: f64),
    with_points(points: f64),
    with_readbacks(readbacks: f64),
);

impl Workload {
    /// A draw that replaces all texels of `targets` textures of this extent, and so changes the target.
    pub(crate) fn pass(extent: Extent, targets: usize) -> Self {
        let mut written_texels = [0.0; 4];
        // More targets than four are as dear a texel as four.
        if let Some(texels) = written_texels.get_mut(targets.clamp(1, 4) - 1) {
            *texels = (extent.area() * targets as u64) as f64;
        }
        Workload { draws: 1.0, target_changes: 1.0, written_texels, ..Workload::default() }
    }

    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64 + Copy) -> Self {
        let fetches = |a: Fetches, b: Fetches| {
            let ([a, b, c, d], [e, g, h, i]) = (a.each(), b.each());
            Fetches::of([f(a, e), f(b, g), f(c, h), f(d, i)])
        };
        let mut written_texels = self.written_texels;
        written_texels.iter_mut().zip(other.written_texels).for_each(|(a, b)| *a = f(*a, b));
        Workload {
            draws: f(self.draws, other.draws),
            target_changes: f(self.target_changes, other.target_changes),
            written_texels,
            fetches: fetches(self.fetches, other.fetches),
            fetches_r32f: fetches(self.fetches_r32f, other.fetches_r32f),
            multiply_adds: f(self.multiply_adds, other.multiply_adds),
            blended_texels: f(self.blended_texels, other.blended_texels),
            points: f(self.points, other.points),
            readbacks: f(self.readbacks, other.readbacks),
        }
    }
}

impl Add for Workload {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Mul<f64> for Workload {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        self.zip(self, |a, _| a * times)
    }
}
