//! Work as counts of what a profile has rates for.

use std::iter::Sum;
use std::ops::{Add, Mul};

use crate::shape::Extent;

/// Texels of a pass that is one tile of a rasteriser.
const TILE: u64 = 64 * 64;

/// A number for each kind of fetch: how many, or what one of them takes in seconds, with the arithmetic on indices that
/// goes with it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Fetches {
    /// Of the texel under the fragment, in a texture of the target's extent: operands of element-wise operations.
    pub own: f64,
    /// At computed places, neighbours reading neighbours: windows of reductions, blocks of dense matrices.
    pub adjacent: f64,
    /// By the texel's number in a folded vector, which may lie outside: diagonals, neighbours on a grid.
    pub shifted: f64,
    /// One in each round of a loop: windows of reductions past 64 texels, or with sides that are no powers of two.
    pub looped: f64,
    /// Of one element at a place read from another texture, near that of the next fragment, with its share of reading
    /// places and coefficients by fours: gathered rows.
    pub indexed: f64,
    /// At computed places, neighbours in a row reading from different rows: a transposed matrix.
    pub strided: f64,
    /// As [`indexed`](Self::indexed), all over the texture: columns of an irregular sparse matrix.
    pub scattered: f64,
}

with!(const Fetches:
    with_own(own: f64),
    with_adjacent(adjacent: f64),
    with_shifted(shifted: f64),
    with_looped(looped: f64),
    with_indexed(indexed: f64),
    with_strided(strided: f64),
    with_scattered(scattered: f64),
);

impl Fetches {
    fn each(self) -> [f64; 7] {
        let Fetches { own, adjacent, shifted, looped, indexed, strided, scattered } = self;
        [own, adjacent, shifted, looped, indexed, strided, scattered]
    }

    fn of([own, adjacent, shifted, looped, indexed, strided, scattered]: [f64; 7]) -> Self {
        Fetches { own, adjacent, shifted, looped, indexed, strided, scattered }
    }

    pub(super) fn times(self, other: Fetches) -> f64 {
        self.each().iter().zip(other.each()).map(|(a, b)| a * b).sum()
    }

    fn total(self) -> f64 {
        self.each().iter().sum()
    }
}

/// Work to be done, counted: [`DeviceProfile::predict`](super::DeviceProfile::predict) says how long it takes. Counts are
/// floats, so that they may be averages; workloads add up, and can be multiplied.
///
/// The operations count themselves: [`Workload::elementwise`], [`ReducePlan::workload`](crate::ops::ReducePlan::workload),
/// [`LinOp::workload`](crate::ops::LinOp::workload), [`matmul_workload`](crate::ops::matmul_workload),
/// [`WeightedJacobi::workload`](crate::solve::WeightedJacobi::workload),
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
    /// Fetches, of whatever kind, in passes of at most a tile of 64x64 texels, which may keep but one of a software
    /// rasteriser's threads busy: they are counted by their kind too.
    pub narrow_fetches: f64,
    /// Fetches that one fragment of such a pass does one after another: a GPU waits for each.
    pub chained_fetches: f64,
    /// Texels written by draws that force lanes past the end to zero.
    pub cut_texels: f64,
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
    with_narrow_fetches(narrow_fetches: f64),
    with_chained_fetches(chained_fetches: f64),
    with_cut_texels(cut_texels: f64),
    with_multiply_adds(multiply_adds: f64),
    with_blended_texels(blended_texels: f64),
    with_points(points: f64),
    with_readbacks(readbacks: f64),
);

impl Workload {
    /// A draw that replaces all texels of `targets` textures of this extent, and so changes the target, with the fetches of
    /// all its fragments.
    pub(crate) fn pass(extent: Extent, targets: usize, fetches: Fetches) -> Self {
        let area = extent.area() as f64;
        let mut written_texels = [0.0; 4];
        // More targets than four are as dear a texel as four.
        if let Some(texels) = written_texels.get_mut(targets.clamp(1, 4) - 1) {
            *texels = area * targets as f64;
        }
        let pass = Workload { draws: 1.0, target_changes: 1.0, written_texels, ..Workload::default() };
        pass.fetching(extent, fetches)
    }

    /// With the fetches of all fragments of a pass of this extent.
    pub(crate) fn fetching(self, extent: Extent, fetches: Fetches) -> Self {
        let total = fetches.total();
        let narrow = if extent.area() <= TILE { total } else { 0.0 };
        let fetching = Workload { narrow_fetches: narrow, fetches, ..Workload::default() };
        self + fetching.with_chained_fetches(narrow / (extent.area() as f64).max(1.0))
    }

    /// With lanes past the end forced to zero in all that is written.
    pub(crate) fn cut(self, cut: bool) -> Self {
        let texels = if cut { self.written_texels.iter().sum() } else { 0.0 };
        self.with_cut_texels(texels)
    }

    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64 + Copy) -> Self {
        let fetches = |a: Fetches, b: Fetches| {
            let (mut sum, other) = (a.each(), b.each());
            sum.iter_mut().zip(other).for_each(|(a, b)| *a = f(*a, b));
            Fetches::of(sum)
        };
        let mut written_texels = self.written_texels;
        written_texels.iter_mut().zip(other.written_texels).for_each(|(a, b)| *a = f(*a, b));
        Workload {
            draws: f(self.draws, other.draws),
            target_changes: f(self.target_changes, other.target_changes),
            written_texels,
            fetches: fetches(self.fetches, other.fetches),
            fetches_r32f: fetches(self.fetches_r32f, other.fetches_r32f),
            narrow_fetches: f(self.narrow_fetches, other.narrow_fetches),
            chained_fetches: f(self.chained_fetches, other.chained_fetches),
            cut_texels: f(self.cut_texels, other.cut_texels),
            multiply_adds: f(self.multiply_adds, other.multiply_adds),
            blended_texels: f(self.blended_texels, other.blended_texels),
            points: f(self.points, other.points),
            readbacks: f(self.readbacks, other.readbacks),
        }
    }
}

impl Sum for Workload {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Workload::default(), Add::add)
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
