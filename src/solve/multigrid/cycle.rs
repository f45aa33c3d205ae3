//! The one cycle of multigrid: from level to level and back, whatever levels are made of.

use super::coarsest::PAIRS_IN_PLACE_OF_SOLVING;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Replays;
use crate::platform::cosine;

/// How often a level turns to the next coarser one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cycle {
    /// Once.
    #[default]
    V,
    /// Twice: dearer, and with weaker smoothing or obstacles better.
    W,
}

/// Where sweeps begin.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// With an `x` that is zero, and not looked at.
    Zero,
    /// After so many of them.
    After(usize),
}

/// Levels from the finest to the coarsest, and the passes on each.
pub(super) trait Levels {
    /// What a level keeps between its two halves.
    type Kept;

    fn device(&self) -> &Device;

    /// The cycles recorded so far; none where an operator is a user's, which may do something else every time.
    fn replays(&self) -> Option<&Replays<Start>>;

    /// How many there are.
    fn count(&self) -> usize;

    /// The sweeps before the correction; the right-hand side of the next level. None on the last.
    fn descend(
        &self,
        depth: usize,
        x: &mut Vector,
        b: &Vector,
        start: Start,
    ) -> Result<Option<(Vector, Self::Kept)>>;

    /// The correction by the next level's `e`, and the sweeps after it.
    fn ascend(&self, depth: usize, x: &mut Vector, b: &Vector, e: &Vector, kept: Self::Kept) -> Result<()>;

    /// Solves on the last level; false where it is too large for that.
    fn solve(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<bool>;

    /// Two sweeps on the last level.
    fn sweep_twice(&self, x: &mut Vector, b: &Vector, start: Start) -> Result<()>;
}

/// So many cycles on all levels; `x` is replaced if it does not hold a start. Drawn as the first was, where that can be.
pub(super) fn cycles<L: Levels>(
    levels: &L,
    kind: Cycle,
    x: &mut Vector,
    b: &Vector,
    (start, count): (Start, usize),
) -> Result<()> {
    let (device, n) = (levels.device(), x.len());
    let describe = |x: &mut Vector| cycle(levels, kind, 0, x, b, start);
    match levels.replays() {
        Some(replays) => {
            replays.run(device, (start, count), x, &[b], &|| Vector::uninit(device, n), &describe)
        }
        None => (0..count).try_for_each(|_| describe(x)),
    }
}

/// One cycle on the levels from `depth` on; `x` is replaced if it does not hold a start.
fn cycle<L: Levels>(
    levels: &L,
    kind: Cycle,
    depth: usize,
    x: &mut Vector,
    b: &Vector,
    start: Start,
) -> Result<()> {
    let Some((coarse_b, kept)) = levels.descend(depth, x, b, start)? else {
        if levels.solve(x, b, start)? {
            return Ok(());
        }
        return (0..PAIRS_IN_PLACE_OF_SOLVING)
            .try_for_each(|k| levels.sweep_twice(x, b, if k == 0 { start } else { Start::After(0) }));
    };
    let mut e = Vector::uninit(levels.device(), coarse_b.len())?;
    // e = A⁻¹ coarse_b, nearly, with the coarser A
    cycle(levels, kind, depth + 1, &mut e, &coarse_b, Start::Zero)?;
    if kind == Cycle::W && depth + 2 < levels.count() {
        cycle(levels, kind, depth + 1, &mut e, &coarse_b, Start::After(0))?;
    }
    levels.ascend(depth, x, b, &e, kept)
}

/// Weight `k` of `count` whose sweeps damp the eigenvalues of `D⁻¹ A` from `low` to `high` best: the roots of a Chebyshev
/// polynomial.
pub(super) fn omega([low, high]: [f64; 2], k: usize, count: usize) -> f32 {
    let (centre, half) = ((high + low) / 2.0, (high - low) / 2.0);
    let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * count) as f64;
    (1.0 / (centre + half * cosine(angle))) as f32
}

/// Refuses no sweeps or too many.
pub(super) fn check_sweeps(op: &'static str, sweeps: usize) -> Result<()> {
    if (1..=8).contains(&sweeps) {
        return Ok(());
    }
    Err(Error::Parameter { op, name: "sweeps", value: sweeps.to_string(), expected: "1 to 8" })
}
