//! f(G): the least that a group of four rows can cost.

use super::kinds::Kinds;

/// Non-zeros of a row past which shared columns are not looked at.
const LONG: u32 = 16;

/// Some row-major blocks.
#[derive(Clone, Copy, Default)]
struct Dots {
    /// Instructions so far, sums not included.
    cost: u32,
    /// Row-major blocks.
    blocks: u32,
}

impl Kinds {
    /// The least that a group of four rows of these kinds can cost: f in the text of [`LowerBound`](super::LowerBound).
    ///
    /// *Cost*: some hundred operations for each non-zero of the longest row.
    pub fn least_cost(&self, group: [usize; 4]) -> u32 {
        let kinds = group.map(|g| self.list.get(g).copied());
        let degrees = kinds.map(|k| k.map_or(0, |k| k.degree));
        let trivial = kinds.iter().flatten().all(|k| k.trivial);
        let [with_b, without_b] = self.waived;
        let waived = if trivial { without_b } else { with_b };
        let held = self.held(group);
        let Some(own) = self.own(group) else { return spread(degrees, Dots::default(), waived, held) };
        let diagonal = kinds.map(|k| k.is_some_and(|k| k.diagonal));
        let mut least = u32::MAX;
        let mut offer = |room: [u32; 4], dots: Dots| {
            let mut rest = degrees;
            for ((rest, room), own) in rest.iter_mut().zip(room).zip(own) {
                *rest = rest.saturating_sub(room.min(own));
            }
            least = least.min(spread(rest, dots, waived, held));
        };
        // The own block column-major; null only if no row has its diagonal there.
        for peels in u32::from(diagonal.contains(&true))..=4 {
            offer([peels; 4], Dots { cost: peels, blocks: 0 });
        }
        // Or row-major with any one to three rows, among them all that have their diagonal there.
        for rows in 1..15u32 {
            let (mut at, mut fits) = (0, true);
            let room = diagonal.map(|diagonal| {
                let within = rows >> at & 1 == 1;
                at += 1;
                fits &= within || !diagonal;
                if within { 4 } else { 0 }
            });
            if !fits {
                continue;
            }
            let mut room = room;
            for (room, own) in room.iter_mut().zip(own) {
                *room = own.min(*room);
            }
            let dots = Dots { cost: rows.count_ones(), blocks: 1 };
            let most = held.get(dots.cost as usize - 1).copied().unwrap_or(12);
            fillings(room, most, &mut |room| offer(room, dots));
        }
        least
    }

    /// The most non-zeros that a block of four columns has in one, two and three rows of a group.
    ///
    /// Two rows have 4 and one for each column they share. Of three, let x columns be in all and y in two: the pairs share
    /// 3 x + y, and there are 4 + 2 x + y non-zeros, x + y <= 4.
    fn held(&self, group: [usize; 4]) -> [u32; 3] {
        let [a, b, c, d] = group;
        let two = |x, y| 4 + self.shared(x, y);
        let three = |x, y, z| {
            let pairs = [self.shared(x, y), self.shared(x, z), self.shared(y, z)];
            let (sum, least) = (pairs.iter().sum::<u32>(), pairs.into_iter().min().unwrap_or_default());
            (0..=least)
                .filter(|x| 3 * x <= sum)
                .map(|x| 4 + 2 * x + (4 - x).min(sum - 3 * x))
                .max()
                .unwrap_or(12)
        };
        let twos = [two(a, b), two(a, c), two(a, d), two(b, c), two(b, d), two(c, d)];
        let threes = [three(a, b, c), three(a, b, d), three(a, c, d), three(b, c, d)];
        let most = |of: &[u32]| of.iter().copied().max().unwrap_or_default();
        [4, most(&twos), most(&threes)]
    }
}

/// Every way to have `most` non-zeros in a block, `room` in each row; all that there is room for if that is less.
fn fillings(room: [u32; 4], most: u32, visit: &mut impl FnMut([u32; 4])) {
    if room.iter().sum::<u32>() <= most {
        return visit(room);
    }
    let [a, b, c, d] = room;
    for a in 0..=a.min(most) {
        for b in 0..=b.min(most - a) {
            for c in 0..=c.min(most - a - b) {
                let rest = most - a - b - c;
                if rest <= d {
                    visit([a, b, c, rest]);
                }
            }
        }
    }
}

/// The least that four rows cost whose non-zeros lie in any blocks, on top of some row-major blocks.
///
/// After p peels a row still needs t = ceil((degree - p) / 4) dot products. Row-major blocks of one, two or three rows hold
/// `held` non-zeros at most, and as many dot products as they have rows, not two of one row.
fn spread(degrees: [u32; 4], before: Dots, waived: u32, held: [u32; 3]) -> u32 {
    let longest = degrees.into_iter().max().unwrap_or_default();
    let with = |peels: u32| {
        let rest = degrees.map(|d| d.saturating_sub(peels));
        let dots = rest.map(|d| d.div_ceil(4));
        let (sum, most) = (dots.iter().sum::<u32>(), dots.into_iter().max().unwrap_or_default());
        let blocks = most.max(sum.div_ceil(3));
        let cost = before.cost + peels;
        let total = |rows: u32, blocks: u32| cost + rows + (before.blocks + blocks).saturating_sub(waived);
        if longest > LONG {
            return total(sum, blocks);
        }
        // How many blocks have three and two rows; those of one row make up for what is missing.
        let nonzeros: u32 = rest.iter().sum();
        let [one, two, three] = held;
        let triples = 0..=sum.div_ceil(3);
        let split = triples.flat_map(|x| (0..=sum.saturating_sub(3 * x).div_ceil(2)).map(move |y| (x, y)));
        let priced = split.map(|(x, y)| {
            let missing = nonzeros.saturating_sub(three * x + two * y).div_ceil(one);
            let single = missing.max(sum.saturating_sub(3 * x + 2 * y)).max(most.saturating_sub(x + y));
            total(3 * x + 2 * y + single, x + y + single)
        });
        priced.min().unwrap_or(u32::MAX)
    };
    (0..=longest).map(with).min().unwrap_or(before.cost)
}
