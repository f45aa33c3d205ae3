//! What a run aims at, and whether runs are worthwhile.

use super::terms::{Policy, Sweeps, Traits};
use crate::solve::drive::state::Flag;

/// A run that does not cut the recomputed residual below this share of the best one has reached what the arithmetic can.
pub(super) const WORTH_ANOTHER: f64 = 0.5;

/// A kept direction along which the residual grows by more than this does not belong to that residual.
pub(super) const KEPT_GROWTH: f64 = 100.0;

/// Iterations after which the residual of pairs is replaced in any case. A product `A d` of 32 bits errs by 2⁻²⁴ `|A| |d|`,
/// which for a smooth direction is far more than 2⁻²⁴ `|A d|`: the recurrence then keeps the residual from falling, and the
/// bound, or an aim on the way, takes long to reach. Of 50, 100 and 200 this took the fewest iterations on most matrices
/// that were tried.
pub(in crate::solve) const SPELL: usize = 100;

/// How far down one run of sweeps for pairs goes: a correction of 32 bits leaves `2⁻²⁴ ‖A‖ ‖y‖` of the residual, which is 3 %
/// of it for Poisson's equation on 4096x4096, and a run that aims lower creeps towards its end. Multigrid cycles to 1e-9 on
/// 1024x1024 and 2048x2048 are 13 and 13 at 0.1 and at 0.03, 13 and 31 at 0.01, 32 and 31 at 0.001; recomputing residuals
/// more often at 0.1 than at 0.03 takes a tenth of the time.
pub(in crate::solve) const AT_ONCE_OF_PAIRS: f64 = 0.1;

/// What the judge asks of a run before it orders one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reached {
    /// How the last run has ended.
    pub flag: Flag,
    /// The residual by the recurrence of a run whose direction may be kept.
    pub recurrence: Option<f64>,
    /// The recomputed residual.
    pub residual: f64,
    /// It is hardly less than the best one before.
    pub hardly: bool,
}

/// What a run aims at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Aim {
    pub residual: f64,
    pub keep_direction: bool,
}

/// The state behind a [`Policy`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    Recurrence(Replacements),
    Sweeps(Misses),
}

impl Pace {
    pub fn new(policy: &Policy, wide: bool) -> Self {
        match policy {
            Policy::Recurrence(traits) => Pace::Recurrence(Replacements::new(traits, wide)),
            Policy::Sweeps(sweeps) => Pace::Sweeps(Misses::new(*sweeps)),
        }
    }

    /// Whether another run would gain too little.
    pub fn is_stuck(&self, flag: Flag, idle: bool, hardly: bool) -> bool {
        let idle = idle && hardly;
        match self {
            Pace::Recurrence(plan) => idle || hardly && plan.last_aim_met(flag),
            Pace::Sweeps(misses) => idle || misses.is_stuck(flag, hardly),
        }
    }

    /// Whether 32 bits of the recurrence are too few for what the last run was to gain.
    pub fn gains_little(&self, flag: Flag, residual: f64) -> bool {
        match self {
            Pace::Recurrence(plan) => plan.gains_little(flag, residual),
            Pace::Sweeps(_) => false,
        }
    }

    /// The aim of the next run, on the way to `bound`.
    pub fn aim(&mut self, reached: Reached, bound: f64) -> Aim {
        match self {
            Pace::Recurrence(plan) => plan.next(reached, bound),
            Pace::Sweeps(misses) => misses.next(reached, bound),
        }
    }
}

/// When the recurrence's residual is replaced by the true one, and what is aimed at next.
///
/// On the way down the two are exchanged while they still agree: the search direction then stays valid, and rounding
/// errors of the large early steps are left behind (H. A. van der Vorst and Q. Ye, SIAM J. Sci. Comput. 22, 2000). At
/// the end a residual that does not hold what the recurrence promised means a fresh start with a closer aim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Replacements {
    /// Stops still to come on the way; none are planned before a residual is known.
    stops: Option<usize>,
    fell_short: usize,
    /// The residual of before.
    before: f64,
    /// The last aim was no stop on the way.
    last: bool,
    /// That aim.
    aimed: f64,
    /// A run is a correction that is to gain a lot.
    dear: bool,
}

impl Replacements {
    /// Digits between two stops: what 32 bits gather meanwhile is little beside the residual at their end.
    const DIGITS: f64 = 1.5;

    /// Further down than this 32 bits of a recurrence say nothing of the true residual, and lead away from the solution where
    /// the matrix is singular.
    const AT_ONCE: f64 = 1e-5;

    /// A true residual of more than this many times the recurrence's own is another one: the direction does not belong
    /// to it, and going on along that diverges.
    const AGREES: f64 = 2.0;

    fn new(traits: &Traits, wide: bool) -> Self {
        let stops = (traits.direct || wide).then_some(0);
        let dear = traits.dear;
        Replacements { stops, fell_short: 0, before: f64::INFINITY, last: false, aimed: 0.0, dear }
    }

    /// The next residual to aim at, and whether to keep the direction on the way there. The recurrence has a residual once it
    /// has run, and no direction before. A run that has used up its iterations did not reach its aim, which stays.
    fn next(&mut self, reached: Reached, bound: f64) -> Aim {
        let Reached { flag, recurrence, residual, .. } = reached;
        let agrees = recurrence.is_some_and(|r| residual <= Self::AGREES * r);
        if flag == Flag::Exhausted {
            return Aim { residual: self.aimed, keep_direction: agrees };
        }
        let falls = recurrence.is_none() || residual <= WORTH_ANOTHER * self.before;
        self.before = residual;
        let (aim, keep) = self.aim(residual, bound, falls);
        self.aimed = aim;
        Aim { residual: aim, keep_direction: keep && agrees }
    }

    fn aim(&mut self, residual: f64, bound: f64, falls: bool) -> (f64, bool) {
        // Aims on the way, as long as the residual falls.
        if falls {
            let digits = (residual / bound).log10();
            let left = (digits / Self::DIGITS - 1.0).max(0.0) as usize;
            let stops = self.stops.get_or_insert(left);
            *stops = left.min(*stops);
            let share = 1.0 / (*stops as f64 + 1.0);
            let aim = (residual * (bound / residual).powf(share)).max(residual * Self::AT_ONCE);
            *stops = stops.saturating_sub(1);
            if aim > 2.0 * bound {
                self.last = false;
                return (aim, true);
            }
        }
        self.last = true;
        self.fell_short += 1;
        let first = self.fell_short == 1;
        let aim = if first { bound } else { 0.5 * bound };
        (aim.max(residual * Self::AT_ONCE), first)
    }

    /// A correction that has met its aim by the recurrence, and is so far from it that it has not even gained ten times.
    fn gains_little(&self, flag: Flag, residual: f64) -> bool {
        self.dear && flag == Flag::Met && residual > (10.0 * self.aimed).max(self.before / 10.0)
    }

    /// Whether the recurrence has met the bound itself, not an aim on the way, for the second time.
    fn last_aim_met(&self, flag: Flag) -> bool {
        flag == Flag::Met && self.fell_short > 1 && self.last
    }
}

/// Whether residuals recomputed on the way still fall: by half from one of these stretches to the next. Where directions in
/// 32 bits do not tell small eigenvalues apart they stay as large for thousands of iterations, and may fall in the end; but
/// on the way to that they grow on well-conditioned grids, too, at the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gains {
    /// Iterations after which nothing is gained in any case: in exact arithmetic half of them would do.
    most: usize,
    /// Where the stretch began.
    begin: usize,
    /// Least residual of the one before, and of this one.
    before: f64,
    least: f64,
}

impl Gains {
    const STRETCH: usize = 4 * SPELL;

    pub fn new(unknowns: usize) -> Self {
        let most = unknowns.saturating_add(SPELL).saturating_mul(2);
        Gains { most, begin: 0, before: f64::INFINITY, least: f64::INFINITY }
    }

    /// Whether the stretch that ends here, if one does, has gained nothing.
    pub fn none(&mut self, iterations: usize, residual: f64) -> bool {
        if iterations == 0 {
            return false;
        }
        self.least = self.least.min(residual);
        if iterations >= self.most {
            return true;
        }
        if iterations < self.begin + Self::STRETCH {
            return false;
        }
        let none = self.least > WORTH_ANOTHER * self.before;
        *self = Gains { begin: iterations, before: self.least, least: f64::INFINITY, ..*self };
        none
    }
}

/// Runs of sweeps that met their aim where the recomputed residual does not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Misses {
    sweeps: Sweeps,
    /// So many count towards the end, and so often the aim was halved.
    count: usize,
    closer: usize,
    /// The last run aimed at the bound itself, or closer.
    last: bool,
}

impl Misses {
    fn new(sweeps: Sweeps) -> Self {
        Misses { sweeps, count: 0, closer: 0, last: false }
    }

    /// With the run that has just ended.
    fn counted(mut self, flag: Flag, hardly: bool) -> Self {
        let Sweeps { pairs, forgives, .. } = self.sweeps;
        if flag != Flag::Met {
            return self;
        }
        if pairs && forgives {
            self.count = if hardly { self.count + 1 } else { 0 };
            self.closer += usize::from(self.last);
        } else if self.last || pairs && hardly {
            // Nor do pairs follow where a run far from the bound gains nothing.
            self.count += 1;
            self.closer += 1;
        }
        self
    }

    fn is_stuck(self, flag: Flag, hardly: bool) -> bool {
        // A correction of 32 bits that stalls may be half of the way for pairs.
        let halted = flag == Flag::Stalled && (hardly || !self.sweeps.pairs);
        halted || hardly && self.counted(flag, hardly).count > 1
    }

    fn next(&mut self, Reached { flag, residual, hardly, .. }: Reached, bound: f64) -> Aim {
        *self = self.counted(flag, hardly);
        let wanted = bound * 0.5f64.powi(i32::try_from(self.closer).unwrap_or(i32::MAX));
        let on_the_way = residual * self.sweeps.at_once;
        // Less than a factor of two is not worth another run.
        self.last = on_the_way <= 2.0 * wanted;
        Aim { residual: if self.last { wanted } else { on_the_way }, keep_direction: false }
    }
}
