//! What an incremental evaluator counts: the non-zeros in each row of each block, and what the blocks weigh.

use crate::pack::{Form, LinearExpression};

/// The number of different blocks: four counts from 0 to 7 (more than 4 never stand there), and one bit more that marks a
/// serial block, the L part of a diagonal one.
const KEYS: usize = 1 << 13;
const SERIAL: u16 = 1 << 12;

/// In a weight, the bit that marks a row-major block, whose sum with the others of its block row costs an addition.
const SUM: u8 = 1 << 7;

/// What a block weighs by its counts: in the lower bits its cost with its addition, in the highest whether it has one.
#[derive(Clone, Debug)]
pub(crate) struct Weights(Box<[u8; KEYS]>);

impl Weights {
    /// `weight` maps the counts of the four rows, and whether the block is serial, to cost and whether it is row-major.
    pub fn new(weight: impl Fn([u32; 4], bool) -> (u8, bool)) -> Self {
        let entry = |key: usize| {
            let (cost, sum) =
                weight([0, 3, 6, 9].map(|at| (key >> at & 7) as u32), key & SERIAL as usize != 0);
            cost | if sum { SUM } else { 0 }
        };
        Self(Box::new(std::array::from_fn(entry)))
    }

    #[inline]
    fn of(&self, key: u16) -> u8 {
        self.0.get(key as usize % KEYS).copied().unwrap_or_default()
    }
}

/// The counts of all blocks, their cost, and what the last exchange has changed.
///
/// The counts of a block are one number, three bits for each row: its weight is one look into a table. Block (I, J) is number
/// I 2^s + J; the serial blocks follow.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    weights: Weights,
    keys: Vec<u16>,
    shift: u32,
    serial: usize,
    in_place: bool,
    /// Row-major terms: of block row I at 2 I, of its sum of new values at 2 I + 1.
    sums: Vec<u16>,
    /// Rows with a non-trivial b in each block row.
    biased: Vec<u8>,
    /// Blocks with their additions, less one for every sum that starts with its first term.
    cost: i32,
    /// (block, counts before) and (sum, terms before) of the exchange under way.
    changed: Vec<(u32, u16)>,
    resummed: Vec<(u32, u16)>,
}

impl Blocks {
    /// No non-zero yet.
    pub fn new(weights: Weights, e: &LinearExpression) -> Self {
        let quads = e.quads();
        let shift = quads.next_power_of_two().trailing_zeros();
        let serial = quads << shift;
        let in_place = e.form() == Form::GaussSeidel;
        let mut keys = vec![0; serial];
        keys.resize(serial + if in_place { quads } else { 0 }, SERIAL);
        let (sums, biased) = (vec![0; 2 * quads], vec![0; quads]);
        let (changed, resummed) = (Vec::new(), Vec::new());
        Self { weights, keys, shift, serial, in_place, sums, biased, cost: 0, changed, resummed }
    }

    /// The cost now.
    #[inline]
    pub fn cost(&self) -> i32 {
        self.cost
    }

    /// True if one order serves rows and columns.
    pub fn in_place(&self) -> bool {
        self.in_place
    }

    /// Counts a non-zero at a position (`ADD`), or no longer.
    #[inline]
    pub fn count<const ADD: bool>(&mut self, row: u16, col: u16) {
        let (row, col) = (row as usize, col as usize);
        let new = self.in_place && col < row;
        let block = row >> 2 << self.shift | col >> 2;
        let block = if new && row >> 2 == col >> 2 { self.serial + (row >> 2) } else { block };
        let one = 1u16 << (3 * (row & 3));
        let Some(key) = self.keys.get_mut(block) else { return };
        let before = *key;
        *key = if ADD { before.wrapping_add(one) } else { before.wrapping_sub(one) };
        let (old, now) = (self.weights.of(before), self.weights.of(*key));
        self.changed.push((block as u32, before));
        self.cost += i32::from(now & !SUM) - i32::from(old & !SUM);
        if (old ^ now) & SUM != 0 {
            self.resum(2 * (row >> 2) + usize::from(new), now & SUM != 0);
        }
    }

    /// One row-major term more, or fewer, in a sum.
    fn resum(&mut self, sum: usize, more: bool) {
        let starts_bare = self.starts_bare(sum);
        let Some(terms) = self.sums.get_mut(sum) else { return };
        let before = *terms;
        *terms = if more { before.wrapping_add(1) } else { before.wrapping_sub(1) };
        if starts_bare {
            self.cost += i32::from(before > 0) - i32::from(*terms > 0);
        }
        self.resummed.push((sum as u32, before));
    }

    /// True if the first term of a sum needs no addition: there is no b to add it to.
    fn starts_bare(&self, sum: usize) -> bool {
        sum % 2 == 1 || self.biased.get(sum / 2).is_some_and(|&b| b == 0)
    }

    /// One row with a non-trivial b more, or fewer, in a block row.
    pub fn bias(&mut self, quad: usize, more: bool) {
        let (bare, terms) = (self.starts_bare(2 * quad), self.sums.get(2 * quad).is_some_and(|&n| n > 0));
        if let Some(rows) = self.biased.get_mut(quad) {
            *rows = if more { rows.wrapping_add(1) } else { rows.wrapping_sub(1) };
        }
        if terms {
            self.cost += i32::from(bare) - i32::from(self.starts_bare(2 * quad));
        }
    }

    /// From here on changes can be taken back.
    #[inline]
    pub fn mark(&mut self) {
        self.changed.clear();
        self.resummed.clear();
    }

    /// Takes back what was counted since the mark; the cost was `cost` there. What [`bias`](Self::bias) did is the caller's.
    #[inline]
    pub fn revert(&mut self, cost: i32) {
        for &(block, before) in self.changed.iter().rev() {
            if let Some(key) = self.keys.get_mut(block as usize) {
                *key = before;
            }
        }
        for &(sum, before) in self.resummed.iter().rev() {
            if let Some(terms) = self.sums.get_mut(sum as usize) {
                *terms = before;
            }
        }
        self.mark();
        self.cost = cost;
    }
}
