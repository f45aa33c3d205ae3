//! A partial assignment of rows to groups, and what still can come of it.

use super::cases::Case;
use super::counting::{Counting, Fill};
use super::lanes::{GROUPS, Lanes, ROWS, Table, indicator, members, sum, zip, zip3};
use super::least::Least;
use super::pattern::Pattern;

/// Increases of the price of a block row that are told apart; beyond, nothing is refused.
const SLACK: usize = 8;

/// Sets of groups that are told apart from all others.
const CUTS: usize = 6;

/// What does not change during the search of one case.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    pub pattern: &'a Pattern,
    pub least: &'a Least,
    pub counting: &'a Counting,
    /// The most that all groups may cost.
    pub target: u32,
    /// True if every group gets exactly the active rows that its allowance names.
    pub exact: bool,
}

/// A partial assignment: which rows stand where, and where each of the others may go.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// By row: how many of its columns stand in each group.
    counts: Table<Lanes, ROWS>,
    /// By unassigned row: the groups it may go to.
    domain: Table<u16, ROWS>,
    /// By assigned row: its group.
    group: Table<u8, ROWS>,
    pub unassigned: u64,
    /// By group: the rows assigned to it.
    pub members: Table<u64, GROUPS>,
    /// By group: the unassigned rows that may go there.
    candidates: Table<u64, GROUPS>,
    /// By group: how many columns more it can hold.
    room: Table<u8, GROUPS>,
    /// By group: how many of them are of active rows.
    active: Table<u8, GROUPS>,
    /// By group: the kinds of its active rows, a number of [`Least`].
    kinds: Table<u16, GROUPS>,
    /// By group: its number of active rows in the end, and the most it may cost.
    size: Table<u8, GROUPS>,
    cap: Table<u16, GROUPS>,
    /// By group: the least it costs by now.
    floor: Table<u16, GROUPS>,
    total: u32,
    /// Sets of groups of the same allowances, against all others.
    cuts: [u16; CUTS],
    /// Groups and unassigned rows of which something has changed since they were probed.
    dirty_groups: u16,
    dirty_rows: u64,
}

/// A contradiction: nothing can come of this state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dead;

impl State {
    /// Nothing assigned yet.
    pub fn new(p: &Problem, case: &Case) -> Self {
        let mut state = Self::default();
        let rows = p.pattern.active | p.pattern.inert;
        state.unassigned = rows;
        for (g, allowance) in case.iter().enumerate() {
            let inert = if p.exact { 4 - allowance.active } else { 4 };
            state.room.set(g, 4);
            state.size.set(g, allowance.active);
            state.active.set(g, allowance.active);
            state.cap.set(g, u16::from(allowance.cap));
            let active = if allowance.active > 0 { p.pattern.active } else { 0 };
            state.candidates.set(g, active | if inert > 0 { p.pattern.inert } else { 0 });
            for v in members(state.candidates.at(g)) {
                state.domain.change(v, |d| d | 1 << g);
            }
        }
        let steps = case.windows(2).zip(1..).filter(|(pair, _)| pair.first() != pair.last());
        for (cut, (_, g)) in state.cuts.iter_mut().zip(steps) {
            *cut = (1 << g) - 1;
        }
        state.dirty_groups = u16::MAX;
        state.dirty_rows = rows;
        state
    }

    pub fn domain(&self, v: usize) -> u16 {
        self.domain.at(v)
    }

    pub fn candidates(&self, g: usize) -> u64 {
        self.candidates.at(g)
    }

    /// How many active rows group `g` still needs.
    pub fn missing(&self, g: usize) -> u32 {
        u32::from(self.active.at(g))
    }

    /// Groups that are the same as one before: as empty, of the same allowance, open to the same rows.
    pub fn duplicates(&self, p: &Problem) -> u16 {
        let mut found = 0;
        for g in (1..p.pattern.groups).filter(|&g| self.members.at(g) == 0) {
            let same = |&h: &usize| {
                self.members.at(h) == 0
                    && self.candidates.at(h) == self.candidates.at(g)
                    && (self.size.at(h), self.cap.at(h)) == (self.size.at(g), self.cap.at(g))
            };
            if (0..g).any(|h| same(&h)) {
                found |= 1 << g;
            }
        }
        found
    }

    /// Row `v` does not go to group `g`.
    pub fn exclude(&mut self, p: &Problem, v: usize, g: usize) {
        self.domain.change(v, |d| d & !(1 << g));
        self.candidates.change(g, |c| c & !(1 << v));
        self.touch(p, v);
        // The group may now be short of candidates.
        self.dirty_groups |= 1 << g;
    }

    /// Marks the rows that have `v` for a column, and the groups where such rows stand.
    fn touch(&mut self, p: &Problem, v: usize) {
        let readers = p.pattern.readers.at(v);
        self.dirty_rows |= (readers | 1 << v) & self.unassigned;
        self.dirty_groups |= self.groups_of(readers);
    }

    /// The groups where rows of this set stand.
    fn groups_of(&self, rows: u64) -> u16 {
        members(rows & !self.unassigned).fold(0, |set, w| set | 1 << self.group.at(w))
    }

    /// The changes of counts and rooms when `v` goes to `g`, and back.
    #[inline(always)]
    fn place(&mut self, p: &Problem, v: usize, g: usize, by: i8) {
        self.unassigned ^= 1 << v;
        self.members.change(g, |m| m ^ 1 << v);
        self.room.change(g, |r| r.wrapping_add_signed(-by));
        for w in members(p.pattern.readers.at(v)) {
            self.counts.change(w, |mut counts| {
                if let Some(count) = counts.get_mut(g) {
                    *count = count.wrapping_add_signed(by);
                }
                counts
            });
        }
    }

    /// Assigns row `v` to group `g` without a check.
    pub fn assign(&mut self, p: &Problem, v: usize, g: usize) {
        self.touch(p, v);
        for h in members(u64::from(self.domain.at(v))) {
            self.candidates.change(h, |c| c & !(1 << v));
            self.dirty_groups |= 1 << h;
        }
        self.domain.set(v, 1 << g);
        self.group.set(v, g as u8);
        self.place(p, v, g, 1);
        self.dirty_rows &= !(1 << v);
        self.dirty_groups |= 1 << g;
        let active = p.pattern.active >> v & 1 == 1;
        if active {
            self.active.change(g, |a| a.wrapping_sub(1));
            self.kinds.change(g, |k| p.least.add(k, p.pattern.kind.at(v)));
        }
        // Nobody else goes where there is no room.
        let mut full = 0;
        if self.active.at(g) == 0 {
            full |= p.pattern.active;
        }
        let kept = if p.exact { self.active.at(g) } else { 0 };
        if self.room.at(g) == kept {
            full |= p.pattern.inert;
        }
        if self.room.at(g) == 0 {
            full = u64::MAX;
        }
        for w in members(self.candidates.at(g) & full) {
            self.exclude(p, w, g);
        }
    }

    /// True if, as far as is seen, `v` may go to `g`.
    fn probe(&mut self, p: &Problem, v: usize, g: usize) -> bool {
        let active = p.pattern.active >> v & 1 == 1;
        let mut kinds = self.kinds.at(g);
        if active {
            kinds = p.least.add(kinds, p.pattern.kind.at(v));
            if p.least.cost(kinds, self.size.at(g)) > u32::from(self.cap.at(g)) {
                return false;
            }
        }
        let concerned = self.groups_of(p.pattern.readers.at(v)) & !(1 << g);
        let before = self.kinds.at(g);
        self.kinds.set(g, kinds);
        self.place(p, v, g, 1);
        let fits =
            self.floor_of(p, g).is_ok() && members(u64::from(concerned)).all(|h| self.floor_of(p, h).is_ok());
        self.place(p, v, g, -1);
        self.kinds.set(g, before);
        fits
    }

    /// The least that group `g` costs, whatever comes.
    #[inline(always)]
    fn floor_of(&self, p: &Problem, g: usize) -> Result<u32, Dead> {
        let rows = self.members.at(g);
        let (mut peels, mut dots) = ([0u8; GROUPS], [0u8; GROUPS]);
        for v in members(rows) {
            let counts = self.counts.at(v);
            peels = zip(peels, counts, u8::max);
            dots = zip(dots, counts, |r, k| r + u8::from(k > 0));
        }
        let price = zip(peels, dots, |c, r| c.min(r + 1));
        let now = sum(price);
        // Only sums of all trivial rows save an addition.
        let waived = u32::from(rows & !p.pattern.trivial == 0);
        let least = p.least.cost(self.kinds.at(g), self.size.at(g));
        let floor = least.max(now.saturating_sub(waived));
        let others = self.total - u32::from(self.floor.at(g));
        let allowed = u32::from(self.cap.at(g)).min(p.target.saturating_sub(others));
        if floor > allowed {
            return Err(Dead);
        }
        let slack = (allowed + waived - now) as usize;
        if slack >= SLACK {
            return Ok(floor);
        }
        // What each side of each cut must cost more: blocks of both sides are different ones, so that it adds up.
        let mut rises = [[0; 2]; CUTS];
        for v in members(rows) {
            let left = p.pattern.columns.at(v) & self.unassigned;
            if left == 0 {
                continue;
            }
            let gains = gains(self.counts.at(v), [peels, dots, price], slack);
            self.rise(&gains, left, u16::MAX, slack).ok_or(Dead)?;
            for (&cut, rises) in self.cuts.iter().zip(&mut rises).filter(|(cut, _)| **cut != 0) {
                for (side, rise) in [cut, !cut].into_iter().zip(rises) {
                    *rise = (*rise).max(self.rise(&gains, left, side, slack).ok_or(Dead)?);
                }
            }
        }
        if rises.into_iter().any(|[a, b]| a + b > slack) { Err(Dead) } else { Ok(floor) }
    }

    /// The least rise in price at which a row can have those of its columns `left` in the groups of `side` that can go nowhere
    /// else; none if that is more than `slack`.
    #[inline(always)]
    fn rise(&self, gains: &[Lanes; SLACK], left: u64, side: u16, slack: usize) -> Option<usize> {
        let mut open = [0u8; GROUPS];
        let mut needed = 0;
        for b in members(left) {
            let domain = self.domain.at(b);
            if domain & !side == 0 {
                open = zip(open, indicator(domain), |a, b| a + b);
                needed += 1;
            }
        }
        if needed == 0 {
            return Some(0);
        }
        open = zip(open, self.room.0, u8::min);
        let [free, ..] = *gains;
        let free = zip(free, open, u8::min);
        let free_sum = sum(free);
        if free_sum >= needed {
            return Some(0);
        }
        if slack == 0 || sum(open) < needed {
            return None;
        }
        // The most that prices raised by 0, 1, ... in all can hold.
        let mut best = [0u32; SLACK];
        let mut more = [[0u8; GROUPS]; SLACK];
        for (more, &gains) in more.iter_mut().zip(gains).take(slack + 1).skip(1) {
            *more = zip(zip(gains, open, u8::min), free, u8::saturating_sub);
        }
        for lane in 0..GROUPS {
            let of = |d: usize| more.get(d).and_then(|g| g.get(lane)).map_or(0, |&g| u32::from(g));
            if of(slack) == 0 {
                continue;
            }
            for budget in (1..=slack).rev() {
                let with = |d: usize| best.get(budget - d).copied().unwrap_or_default() + of(d);
                let most = (0..=budget).map(with).max().unwrap_or_default();
                if let Some(best) = best.get_mut(budget) {
                    *best = most;
                }
            }
        }
        (1..=slack).find(|&d| free_sum + best.get(d).copied().unwrap_or_default() >= needed)
    }

    /// Checks every group that has changed, and every place of every row that this can concern, until nothing changes.
    pub fn propagate(&mut self, p: &Problem) -> Result<(), Dead> {
        while self.dirty_groups != 0 || self.dirty_rows != 0 {
            let (groups, rows) = (self.dirty_groups, self.dirty_rows);
            (self.dirty_groups, self.dirty_rows) = (0, 0);
            for g in (0..p.pattern.groups).filter(|g| groups >> g & 1 == 1) {
                let floor = self.floor_of(p, g)?;
                self.total = self.total - u32::from(self.floor.at(g)) + floor;
                self.floor.set(g, floor as u16);
                self.complete(p, g)?;
            }
            if groups != 0 {
                self.count(p)?;
            }
            for v in members(self.unassigned) {
                if self.unassigned >> v & 1 == 0 {
                    continue; // assigned meanwhile
                }
                let concerned = rows >> v & 1 == 1 || self.groups_of(p.pattern.readers.at(v)) & groups != 0;
                let mut places = self.domain.at(v);
                if !concerned {
                    places &= groups;
                }
                for g in members(u64::from(places)) {
                    if !self.probe(p, v, g) {
                        self.exclude(p, v, g);
                    }
                }
                let domain = self.domain.at(v);
                if domain == 0 {
                    return Err(Dead);
                }
                if domain.is_power_of_two() {
                    self.assign(p, v, domain.trailing_zeros() as usize);
                }
            }
        }
        Ok(())
    }

    /// Keeps rows out of groups that are needed for rows of other kinds.
    fn count(&mut self, p: &Problem) -> Result<(), Dead> {
        if p.counting.is_empty() {
            return Ok(());
        }
        let fill = Fill { groups: p.pattern.groups, kinds: &self.kinds, size: &self.size, cap: &self.cap };
        let refused = p.counting.refused(p.least, &fill, self.unassigned).ok_or(Dead)?;
        for g in (0..p.pattern.groups).filter(|&g| refused.at(g) != 0) {
            for v in members(self.candidates.at(g) & p.pattern.active) {
                if refused.at(g) >> p.pattern.kind.at(v) & 1 == 1 {
                    self.exclude(p, v, g);
                }
            }
        }
        Ok(())
    }

    /// Gives a group the active rows it needs if only these are left for it.
    fn complete(&mut self, p: &Problem, g: usize) -> Result<(), Dead> {
        if !p.exact {
            return Ok(());
        }
        let (missing, left) = (self.missing(g), self.candidates.at(g) & p.pattern.active);
        if left.count_ones() < missing {
            return Err(Dead);
        }
        if missing > 0 && left.count_ones() == missing {
            for v in members(left) {
                self.assign(p, v, g);
            }
        }
        Ok(())
    }
}

/// How many non-zeros more each block can hold of a row if its price is raised by 0, 1, ... `slack`.
///
/// A block of price p = min(c, r + 1) that may cost p + d holds up to 4 non-zeros of the row if it can be row-major then, and
/// p + d if column-major.
#[inline(always)]
fn gains(counts: Lanes, [peels, dots, price]: [Lanes; 3], slack: usize) -> [Lanes; SLACK] {
    // Row-major with this row in it.
    let dotted = zip(dots, counts, |r, k| r + 1 + u8::from(k == 0));
    let mut gains = [[0; GROUPS]; SLACK];
    for (gains, d) in gains.iter_mut().zip(0u8..).take(slack + 1) {
        let most = zip3(price, dotted, peels, |p, dotted, c| {
            let (p, column) = (p + d, (p + d).min(4));
            if dotted <= p {
                4
            } else if c <= p {
                column
            } else {
                0
            }
        });
        *gains = zip(most, counts, u8::saturating_sub);
    }
    gains
}
