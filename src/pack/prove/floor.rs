//! What a group costs at least, whatever comes.

use super::lanes::{GROUPS, Lanes, indicator, members, sum, zip, zip3};
use super::state::{CUTS, Dead, Problem, State};

/// Increases of the price of a block row that are told apart; beyond, nothing is refused.
const SLACK: usize = 8;

impl State {
    /// The least that group `g` costs, whatever comes.
    #[inline(always)]
    pub(super) fn floor_of(&self, p: &Problem, g: usize) -> Result<u32, Dead> {
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
