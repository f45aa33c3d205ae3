//! Orders of unknowns, and the pairs of them that place a matrix.

use crate::error::{Error, Result};
use crate::pack::Axis;

/// An order of n unknowns in positions 0, 1, ... 4 ceil(n / 4) - 1: a permutation, padded to whole quads.
///
/// Position p holds the unknown `at(p)`; four consecutive positions are the components of one texel, a *quad*. Unknowns
/// from n on are padding: rows and columns of zeros, free to stand anywhere.
///
/// ```
/// use texla::pack::Order;
/// let mut order = Order::new(5, &[4, 0, 1, 2, 3, 5, 6, 7])?;
/// order.swap(0, 4);
/// assert_eq!((order.at(0), order.at(4), order.position(4)), (3, 4, 4));
/// assert_eq!(Order::identity(5).indices().len(), 8);
/// assert!(Order::new(5, &[0, 1, 2, 3, 4, 5, 6, 6]).is_err()); // 6 twice, 7 nowhere
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    at: Vec<u32>,
    position: Vec<u32>,
    unknowns: usize,
}

impl Order {
    /// Unknown p at position p.
    pub fn identity(unknowns: usize) -> Self {
        let at: Vec<u32> = (0u32..).take(padded(unknowns)).collect();
        Self { position: at.clone(), at, unknowns }
    }

    /// A line of unknowns folded in four, padding at its end: for q quads, quad k is {k, 2q-1-k, 2q+k, 4q-1-k}. Neighbours stand in
    /// neighbouring quads, so that the blocks of a tridiagonal matrix are full but for two entries.
    ///
    /// *Source*: the blocks S of \[Bajaj04\] Figures 10(b) and 13(b), which have this form.
    ///
    /// ```
    /// assert_eq!(texla::pack::Order::accordion(8).indices(), [0, 3, 4, 7, 1, 2, 5, 6]);
    /// ```
    pub fn accordion(unknowns: usize) -> Self {
        let q = (padded(unknowns) / 4) as u32;
        let quad = |k| [k, 2 * q - 1 - k, 2 * q + k, 4 * q - 1 - k];
        Self::from_valid(unknowns, (0..q).flat_map(quad).collect())
    }

    /// The order that holds unknown `at[p]` at position p.
    ///
    /// *Errors*: [`Error::LengthMismatch`] unless there are 4 ceil(n / 4) indices; [`Error::IndexOutOfRange`] and
    /// [`Error::Parameter`] for the first that is no position and the first that stands there twice.
    pub fn new(unknowns: usize, at: &[usize]) -> Result<Self> {
        let (op, expected) = ("Order::new", padded(unknowns));
        if at.len() != expected {
            return Err(Error::LengthMismatch { op, operand: "order", found: at.len(), expected });
        }
        let mut order = Self::identity(unknowns);
        let mut seen = vec![false; expected];
        for ((&index, at), p) in at.iter().zip(&mut order.at).zip(0u32..) {
            let (Some(seen), Some(position)) = (seen.get_mut(index), order.position.get_mut(index)) else {
                return Err(Error::IndexOutOfRange { what: "order", index, bound: expected });
            };
            if std::mem::replace(seen, true) {
                let value = format!("{index} a second time, at position {p}");
                let expected = "a permutation: every index once";
                return Err(Error::Parameter { op, name: "order", value, expected });
            }
            *at = index as u32;
            *position = p;
        }
        Ok(order)
    }

    /// The order that holds unknown `at[p]` at position p; a permutation of the right length.
    pub(crate) fn from_valid(unknowns: usize, at: Vec<u32>) -> Self {
        let mut position = at.clone();
        for (&i, p) in at.iter().zip(0u32..) {
            position.get_mut(i as usize).map(|position| *position = p).unwrap_or_default();
        }
        Self { at, position, unknowns }
    }

    /// The same with all padding at the end.
    pub(crate) fn compact(&self) -> Self {
        let is_unknown = |i: &&u32| (**i as usize) < self.unknowns;
        let (unknowns, padding) =
            (self.at.iter().filter(is_unknown), self.at.iter().filter(|i| !is_unknown(i)));
        Self::from_valid(self.unknowns, unknowns.chain(padding).copied().collect())
    }

    /// Number of unknowns, without padding.
    pub fn unknowns(&self) -> usize {
        self.unknowns
    }

    /// Number of positions: 4 ceil(n / 4).
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// True if there is no position.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The unknown at position `p`; `p` itself past the end.
    pub fn at(&self, p: usize) -> usize {
        self.at.get(p).map_or(p, |&i| i as usize)
    }

    /// The position of unknown `i`; `i` itself past the end.
    pub fn position(&self, i: usize) -> usize {
        self.position.get(i).map_or(i, |&p| p as usize)
    }

    /// The unknowns by position.
    pub fn indices(&self) -> &[u32] {
        &self.at
    }

    /// The positions by unknown: the inverse permutation.
    pub fn positions(&self) -> &[u32] {
        &self.position
    }

    /// Exchanges what stands at positions `p` and `q`: the (i, j)-swap of \[Bajaj04\] section 2.3.2. Twice is nothing; a
    /// position past the end changes nothing.
    pub fn swap(&mut self, p: usize, q: usize) {
        if p.max(q) < self.at.len() {
            self.at.swap(p, q);
            let (i, j) = (self.at(p), self.at(q));
            self.position.swap(i, j);
        }
    }

    /// `values` of the unknowns brought into this order, zeros where padding stands.
    ///
    /// ```
    /// use texla::pack::Order;
    /// let order = Order::new(3, &[2, 0, 3, 1])?;
    /// assert_eq!(order.packed(&[1.0, 2.0, 3.0]), [3.0, 1.0, 0.0, 2.0]);
    /// assert_eq!(order.unpacked(&[3.0, 1.0, 0.0, 2.0]), [1.0, 2.0, 3.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn packed<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        let value = |&i: &u32| values.get(i as usize).copied().unwrap_or_default();
        self.at.iter().map(value).collect()
    }

    /// The inverse of [`packed`](Self::packed): values by position brought back into the order of the unknowns.
    pub fn unpacked<T: Copy + Default>(&self, values: &[T]) -> Vec<T> {
        let value = |&p: &u32| values.get(p as usize).copied().unwrap_or_default();
        self.position.iter().take(self.unknowns).map(value).collect()
    }
}

/// Where the rows and the columns of a matrix stand: one order for both, as \[Bajaj04\] section 2.3.2 has it, or two where
/// y never becomes an x of the same layout.
#[derive(Clone, Debug, Eq)]
pub struct Packing {
    rows: Order,
    cols: Option<Order>,
}

/// By where rows and columns stand: two orders that are the same are one.
impl PartialEq for Packing {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows && self.cols() == other.cols()
    }
}

impl Packing {
    /// One order for the rows of A, y and b and for the columns of A and x.
    pub fn symmetric(order: Order) -> Self {
        Self { rows: order, cols: None }
    }

    /// An order for the rows, y and b, another for the columns and x.
    ///
    /// *Errors*: [`Error::LengthMismatch`] if they do not order equally many unknowns.
    pub fn independent(rows: Order, cols: Order) -> Result<Self> {
        let (found, expected) = (cols.unknowns(), rows.unknowns());
        if found != expected {
            return Err(Error::LengthMismatch {
                op: "Packing::independent",
                operand: "cols",
                found,
                expected,
            });
        }
        Ok(Self { rows, cols: Some(cols) })
    }

    /// Two orders of equally many unknowns.
    pub(crate) fn pair(rows: Order, cols: Order) -> Self {
        Self { rows, cols: Some(cols) }
    }

    /// The symmetric identity of `unknowns` unknowns.
    pub fn identity(unknowns: usize) -> Self {
        Self::symmetric(Order::identity(unknowns))
    }

    /// The order of the rows.
    pub fn rows(&self) -> &Order {
        &self.rows
    }

    /// The order of the columns.
    pub fn cols(&self) -> &Order {
        self.cols.as_ref().unwrap_or(&self.rows)
    }

    /// Exchanges two positions of one order, or of both. On a packing of one order, an axis alone makes it two.
    pub fn swap(&mut self, axis: Axis, p: usize, q: usize) {
        if axis == Axis::Cols || (axis == Axis::Rows && self.cols.is_none()) {
            self.cols.get_or_insert_with(|| self.rows.clone());
        }
        if axis != Axis::Cols {
            self.rows.swap(p, q);
        }
        match &mut self.cols {
            Some(cols) if axis != Axis::Rows => cols.swap(p, q),
            _ => {}
        }
    }

    /// True if one order serves both, so that y can be the next x.
    pub fn is_symmetric(&self) -> bool {
        self.cols.as_ref().is_none_or(|cols| *cols == self.rows)
    }
}

/// Unknowns rounded up to whole quads.
const fn padded(unknowns: usize) -> usize {
    unknowns.saturating_add(3) / 4 * 4
}
