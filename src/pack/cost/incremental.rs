//! The evaluator of models whose cost is a sum over blocks.

use super::blocks::{Blocks, Weights};
use super::{Axis, Cost, Evaluator};
use crate::error::{Error, Result};
use crate::pack::{LinearExpression, Order, Packing};

/// The largest number of unknowns of an incremental evaluator: its table of blocks then takes 32 MiB.
pub const MAX_UNKNOWNS: usize = 1 << 14;

/// The incremental evaluator of [`SimdMachine`](crate::pack::SimdMachine), [`TexelFetch`](crate::pack::TexelFetch) and
/// [`Measured`](crate::pack::Measured).
///
/// It keeps the number of non-zeros in each row of each block, all four in twelve bits, by which a table gives what the block
/// costs. A swap moves the non-zeros of two rows and two columns; what they change is logged, and undone from the log.
///
/// *Cost*: O(non-zeros in the rows and columns exchanged) a swap, whatever n, and half of that to undo it; ceil(n/4)^2 numbers
/// of 16 bits. For an iteration in place, where there is only one order, an axis alone exchanges both.
#[derive(Clone, Debug)]
pub struct Incremental<C> {
    rows: Places,
    cols: Places,
    by_row: Lists,
    by_col: Lists,
    biased: Vec<bool>,
    unknowns: usize,
    blocks: Blocks,
    /// What is the same in every order.
    constant: u32,
    last: Option<Last>,
    cost: std::marker::PhantomData<C>,
}

/// The last swap, and the cost before it.
#[derive(Clone, Copy, Debug)]
struct Last {
    axis: Axis,
    p: u16,
    q: u16,
    cost: i32,
}

impl<C: Cost + From<u32>> Incremental<C> {
    /// Starts at `packing`; every cost has `constant` added.
    pub(super) fn new(
        e: &LinearExpression,
        packing: &Packing,
        weights: Weights,
        constant: u32,
    ) -> Result<Self> {
        let op = "CostModel::evaluator";
        e.check_packing(op, packing)?;
        if e.unknowns() > MAX_UNKNOWNS {
            let (name, value) = ("expression", format!("of {} unknowns", e.unknowns()));
            return Err(Error::Parameter { op, name, value, expected: "at most 16384 unknowns" });
        }
        let entries = || e.matrix().entries().map(|(i, j, _)| (i as u16, j as u16));
        let unknowns = packing.rows().len();
        let mut evaluator = Self {
            rows: Places::new(packing.rows()),
            cols: Places::new(packing.cols()),
            by_row: Lists::new(unknowns, entries()),
            by_col: Lists::new(unknowns, entries().map(|(i, j)| (j, i))),
            biased: (0..unknowns).map(|i| e.is_nontrivial(i)).collect(),
            unknowns: e.unknowns(),
            blocks: Blocks::new(weights, e),
            constant,
            last: None,
            cost: std::marker::PhantomData,
        };
        for (i, j) in entries() {
            evaluator.blocks.count::<true>(evaluator.rows.position(i), evaluator.cols.position(j));
            evaluator.blocks.mark();
        }
        for i in (0..e.unknowns()).filter(|&i| e.is_nontrivial(i)) {
            evaluator.blocks.bias(evaluator.rows.position(i as u16) as usize / 4, true);
        }
        Ok(evaluator)
    }

    /// The axis that really moves.
    fn axis(&self, axis: Axis) -> Axis {
        if self.blocks.in_place() { Axis::Both } else { axis }
    }

    /// Counts (`ADD`) or discounts the non-zeros of the rows and columns at two positions.
    #[inline]
    fn count<const ADD: bool>(&mut self, axis: Axis, p: u16, q: u16) {
        // Rows past the last unknown: none is left out below.
        let mut moved = [u16::MAX; 2];
        if axis != Axis::Cols {
            moved = [self.rows.at(p), self.rows.at(q)];
            for (row, at) in moved.into_iter().zip([p, q]) {
                for &col in self.by_row.list(row) {
                    self.blocks.count::<ADD>(at, self.cols.position(col));
                }
            }
        }
        if axis != Axis::Rows {
            for at in [p, q] {
                for &row in self.by_col.list(self.cols.at(at)) {
                    if row != moved[0] && row != moved[1] {
                        self.blocks.count::<ADD>(self.rows.position(row), at);
                    }
                }
            }
        }
    }

    /// Exchanges what stands at two positions, b included.
    #[inline]
    fn exchange(&mut self, axis: Axis, p: u16, q: u16) {
        if axis != Axis::Cols {
            let [at_p, at_q] = [p, q].map(|at| self.biased.get(self.rows.at(at) as usize).copied());
            if at_p != at_q {
                self.blocks.bias(p as usize / 4, at_q == Some(true));
                self.blocks.bias(q as usize / 4, at_p == Some(true));
            }
            self.rows.swap(p, q);
        }
        if axis != Axis::Rows {
            self.cols.swap(p, q);
        }
    }
}

impl<C: Cost + From<u32>> Evaluator for Incremental<C> {
    type Cost = C;

    #[inline]
    fn cost(&self) -> C {
        C::from(self.constant.wrapping_add_signed(self.blocks.cost()))
    }

    #[inline]
    fn swap(&mut self, axis: Axis, p: usize, q: usize) -> C {
        self.last = None;
        self.blocks.mark();
        if p != q && p.max(q) < self.rows.len() {
            let (axis, p, q) = (self.axis(axis), p as u16, q as u16);
            self.last = Some(Last { axis, p, q, cost: self.blocks.cost() });
            self.count::<false>(axis, p, q);
            self.exchange(axis, p, q);
            self.count::<true>(axis, p, q);
        }
        self.cost()
    }

    #[inline]
    fn undo(&mut self) {
        if let Some(Last { axis, p, q, cost }) = self.last.take() {
            self.exchange(axis, p, q);
            self.blocks.revert(cost);
        }
    }

    /// Two positions of one quad, but for an iteration in place: there the order within a quad matters.
    #[inline]
    fn is_neutral(&self, _: Axis, p: usize, q: usize) -> bool {
        p / 4 == q / 4 && !self.blocks.in_place()
    }

    fn packing(&self) -> Packing {
        let [rows, cols] = [&self.rows, &self.cols].map(|places| places.order(self.unknowns));
        if rows == cols { Packing::symmetric(rows) } else { Packing::pair(rows, cols) }
    }
}

/// An order in 16 bits: what stands where, and where it stands.
#[derive(Clone, Debug)]
struct Places {
    at: Vec<u16>,
    position: Vec<u16>,
}

impl Places {
    fn new(order: &Order) -> Self {
        let narrow = |wide: &[u32]| wide.iter().map(|&i| i as u16).collect();
        Self { at: narrow(order.indices()), position: narrow(order.positions()) }
    }

    fn len(&self) -> usize {
        self.at.len()
    }

    #[inline]
    fn at(&self, p: u16) -> u16 {
        self.at.get(p as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn position(&self, i: u16) -> u16 {
        self.position.get(i as usize).copied().unwrap_or_default()
    }

    #[inline]
    fn swap(&mut self, p: u16, q: u16) {
        let (i, j) = (self.at(p), self.at(q));
        for (place, value) in [(p, j), (q, i)] {
            self.at.get_mut(place as usize).map(|at| *at = value).unwrap_or_default();
            self.position.get_mut(value as usize).map(|at| *at = place).unwrap_or_default();
        }
    }

    fn order(&self, unknowns: usize) -> Order {
        Order::from_valid(unknowns, self.at.iter().map(|&i| u32::from(i)).collect())
    }
}

/// The columns of every row, or the rows of every column.
#[derive(Clone, Debug)]
struct Lists {
    start: Vec<u32>,
    items: Vec<u16>,
}

impl Lists {
    fn new(n: usize, entries: impl Iterator<Item = (u16, u16)>) -> Self {
        let mut sorted: Vec<(u16, u16)> = entries.collect();
        sorted.sort_unstable();
        let start = |i: usize| sorted.partition_point(|&(row, _)| (row as usize) < i) as u32;
        Self { start: (0..=n).map(start).collect(), items: sorted.iter().map(|&(_, item)| item).collect() }
    }

    #[inline]
    fn list(&self, i: u16) -> &[u16] {
        let bound = |i: usize| self.start.get(i).copied().unwrap_or_default() as usize;
        self.items.get(bound(i as usize)..bound(i as usize + 1)).unwrap_or_default()
    }
}
