//! Expressions whose blocks are all alike: one block row, evaluated for every block of a rectangle.

use super::stencil::{check_offsets, check_sides, is_fixed, neighbour};
use crate::error::{Error, Result, check_finite};
use crate::host::Triplets;
use crate::pack::{
    CostModel, Form, Instructions, LinearExpression, LowerBound, LowerOptions, Order, Orders, Packing,
    Program, SimdMachine, StencilBoundary,
};
use crate::shape::{Grid, Shape};

/// Low and high side of an axis.
type Ends = [StencilBoundary; 2];

/// The entries of the block that multiplies x_(m + offset).
#[derive(Clone, Debug, PartialEq)]
struct Link {
    offset: [i32; 2],
    entries: Triplets,
}

impl Link {
    /// Entries other than zero, those at one place summed.
    fn nnz(&self) -> usize {
        self.entries.to_csr().values().iter().filter(|v| **v != 0.0).count()
    }
}

/// One block row for all blocks of a rectangle:
///
/// > y_m = S x_m + sum over the links of L_o x_(m + o) + b_m
///
/// with a block S of n x n, and links to the blocks at the offsets o = (along the width, along the height). Most links are
/// [diagonal](Self::link); where a line of unknowns is cut into pieces, [corners](Self::corner) lead to the next piece. A sparse
/// matrix of a few hundred thousand unknowns is so some forty numbers, which become part of the program: no matrix is fetched.
///
/// *Shapes*: `blocks` = (width, height) of the rectangle; unknown i of block (x, y) is element n (width y + x) + i of a vector.
/// Behind a side of the rectangle x is what its [`StencilBoundary`] says: zero (`Dropped`, Dirichlet: given values go into b),
/// the values of the nearest block, which at offset 1 is the own one (`Copied`, Neumann: clamp to edge), a multiple
/// of these (`Scaled`), or the other end's (`Periodic`). The same sides of the lines themselves are in the coefficients of S.
///
/// *Source*: \[Bajaj04\] section 4; there a block is a line of a grid.
///
/// ```
/// use texla::pack::{Instructions, LinearExpression, Order, RepeatedExpression, StencilBoundary, instances};
/// let neumann = [[StencilBoundary::Copied; 2]; 2];
/// let t: Vec<f64> = (0..8).map(|i| if i % 7 == 0 { -1.0 / 3.0 } else { -0.25 }).collect();
/// let poisson = RepeatedExpression::new(instances::poisson_2d_s8()?, [8, 1], neumann)?
///     .link([-1, 0], &t)?
///     .link([1, 0], &t)?;
/// let optimised = Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6])?;
/// assert_eq!((poisson.nnz(), poisson.cost(&Order::identity(8))?), (30, Instructions(10))); // Figure 10(a)
/// assert_eq!(poisson.cost(&optimised)?, Instructions(8)); // Figure 10(b)
/// assert_eq!(poisson.lower_bound().value, Instructions(8)); // no order is better
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedExpression {
    block: LinearExpression,
    links: Vec<Link>,
    blocks: [usize; 2],
    sides: [Ends; 2],
    /// Whether only the first of every four unknowns is one: programs are then of one lane.
    single: bool,
}

impl RepeatedExpression {
    /// The block S alone, for (width, height) blocks between the low and high sides of either axis.
    ///
    /// *Errors*: [`Error::Parameter`] for an iteration of Gauss and Seidel, for no blocks, for more unknowns than 31 bits count,
    /// for a side that is `Fixed` (rows of S are empty in every block or in none), and for an axis periodic at one end alone;
    /// [`Error::NonFinite`] for a side's factor.
    pub fn new(block: LinearExpression, blocks: [usize; 2], sides: [Ends; 2]) -> Result<Self> {
        let op = "RepeatedExpression::new";
        let refuse = |name, value: String, expected| Err(Error::Parameter { op, name, value, expected });
        if block.form() != Form::Affine {
            return refuse("block", format!("{:?}", block.form()), "an expression y = A x + b");
        }
        let unknowns = blocks.iter().try_fold(block.unknowns(), |n, &side| n.checked_mul(side));
        if unknowns.is_none_or(|n| n == 0 || i32::try_from(n).is_err()) {
            let value = format!("{blocks:?} of {} unknowns", block.unknowns());
            return refuse("blocks", value, "at least one block, and less than 2^31 unknowns");
        }
        if sides.as_flattened().contains(&StencilBoundary::Fixed) {
            let expected = "Dropped, Copied, Scaled or Periodic sides: Fixed ones lie inside of lines";
            return refuse("sides", format!("{sides:?}"), expected);
        }
        check_sides(op, &sides)?;
        Ok(Self { block, links: Vec::new(), blocks, sides, single: false })
    }

    /// The same with `coefficients[i]` times unknown i of the block at `offset` added to row i: a diagonal link, the paper's T.
    ///
    /// *Errors*: [`Error::LengthMismatch`]; [`Error::Parameter`] for the offset (0, 0), which is S, and for one longer than the
    /// rectangle; [`Error::NonFinite`].
    pub fn link(self, offset: [i32; 2], coefficients: &[f64]) -> Result<Self> {
        let (op, operand, expected) = ("RepeatedExpression::link", "coefficients", self.block.unknowns());
        if coefficients.len() != expected {
            return Err(Error::LengthMismatch { op, operand, found: coefficients.len(), expected });
        }
        coefficients.iter().enumerate().try_fold(self, |e, (i, &c)| e.entry(op, offset, [i, i], c))
    }

    /// The same with `value` times unknown `col` of the block at `offset` added to row `row`: a corner link.
    ///
    /// A corner to the next piece of a line means what it should at sides that are `Dropped` or `Periodic`; at a `Copied`
    /// or `Scaled` one it reads unknown `col` of the own block.
    ///
    /// *Errors*: [`Error::IndexOutOfRange`] for `row` or `col`; otherwise as [`link`](Self::link).
    pub fn corner(self, offset: [i32; 2], row: usize, col: usize, value: f64) -> Result<Self> {
        self.entry("RepeatedExpression::corner", offset, [row, col], value)
    }

    fn entry(mut self, op: &'static str, offset: [i32; 2], at: [usize; 2], value: f64) -> Result<Self> {
        check_finite(op, [value])?;
        check_offsets(op, self.grid(), [[offset[0], offset[1], 0]])?;
        if offset == [0, 0] {
            let (name, value) = ("offset", "[0, 0]".to_owned());
            let expected = "the offset of another block: entries within one are the block's";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let n = self.block.unknowns();
        let known = self.links.iter().position(|link| link.offset == offset);
        let entries = match known.and_then(|k| self.links.get_mut(k)) {
            Some(link) => &mut link.entries,
            None => {
                self.links.push(Link { offset, entries: Triplets::new(Shape::new(n, n)) });
                return self.entry(op, offset, at, value);
            }
        };
        if value != 0.0 {
            entries.push(at[0], at[1], value)?;
        }
        Ok(self)
    }

    /// y = A x + b on a grid, every row the same stencil, as [`LinearExpression::stencil`] has it: `taps` are the offsets (dx, dy,
    /// dz) of the neighbours with their coefficients, `sides` the low and the high end of each axis.
    ///
    /// A block is a line along x, or one of `pieces` of one, and the rectangle (ny, nz) blocks; with more pieces than one, of a
    /// grid in two dimensions, (pieces, ny).
    ///
    /// *Errors*: as [`LinearExpression::stencil`] and [`new`](Self::new); [`Error::Parameter`] for pieces that do not divide
    /// a line of a plane grid, and then for sides along x that are neither `Dropped` nor `Periodic`.
    ///
    /// ```
    /// use texla::{Grid, pack::{Instructions, Order, RepeatedExpression, StencilBoundary::{Copied, Dropped}}};
    /// let (a, b) = (2.0 * (1.0 - 2.0 * 0.2), 0.2); // the wave equation, Courant number squared 0.2
    /// let taps = [([0, -1, 0], b), ([-1, 0, 0], b), ([0, 0, 0], a), ([1, 0, 0], b), ([0, 1, 0], b)];
    /// let sides = [[Dropped; 2], [Copied; 2], [Copied; 2]];
    /// let wave = RepeatedExpression::stencil(Grid::new_2d(512, 512), 16, &taps, sides, true)?;
    /// assert_eq!((wave.blocks(), wave.block().unknowns()), ([16, 512], 32));
    /// assert_eq!(wave.cost(&Order::identity(32))?, Instructions(56)); // 38 + 2 corners + 2 x 8
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn stencil(
        grid: Grid,
        pieces: usize,
        taps: &[([i32; 3], f64)],
        sides: [Ends; 3],
        with_b: bool,
    ) -> Result<Self> {
        let op = "RepeatedExpression::stencil";
        check_sides(op, &sides)?;
        check_offsets(op, grid, taps.iter().map(|(offset, _)| *offset))?;
        let ([nx, ny, nz], [along, across, beyond]) = (grid.sides(), sides);
        let ends = |end| matches!(end, StencilBoundary::Dropped | StencilBoundary::Periodic);
        let cut = nx.checked_rem(pieces) == Some(0) && nz == 1 && along.into_iter().all(ends);
        if pieces != 1 && !(cut && taps.iter().all(|(offset, _)| offset[2] == 0)) {
            let value = format!("{pieces} of a line of {grid} with sides {along:?}");
            let expected = "1, or a divisor of the lines of a plane grid whose ends are Dropped or Periodic";
            return Err(Error::Parameter { op, name: "pieces", value, expected });
        }
        let n = nx / pieces;
        let line = (Grid::new_2d(n, 1), [along, Ends::default(), Ends::default()]);
        let (blocks, block_sides) =
            if pieces == 1 { ([ny, nz], [across, beyond]) } else { ([pieces, ny], [along, across]) };
        let mut own = Triplets::new(Shape::new(n, n));
        let mut nontrivial = vec![with_b; n];
        let mut others = Vec::new();
        for (i, nontrivial) in nontrivial.iter_mut().enumerate() {
            if is_fixed(line.0, line.1, [i, 0, 0]) {
                *nontrivial = false;
                continue;
            }
            for &([dx, dy, dz], weight) in taps {
                let (to, offset, weight) = if pieces == 1 {
                    let found = neighbour(line.0, line.1, [i, 0, 0], [dx, 0, 0]);
                    let Some(([to, ..], factor)) = found else { continue };
                    (to, [dy, dz], factor * weight)
                } else {
                    let (to, n) = (i as i64 + i64::from(dx), n as i64);
                    (to.rem_euclid(n) as usize, [to.div_euclid(n) as i32, dy], weight)
                };
                if offset == [0, 0] {
                    own.push(i, to, weight)?;
                } else {
                    others.push((offset, [i, to], weight));
                }
            }
        }
        let made = Self::new(LinearExpression::new(&own, &nontrivial)?, blocks, block_sides)?;
        others.into_iter().try_fold(made, |e, (offset, at, weight)| e.entry(op, offset, at, weight))
    }

    /// One Jacobi iteration for A x = r, A being this expression without its b: y = -D^-1 (A - D) x + b with b = D^-1 r, D
    /// the diagonal of S.
    ///
    /// D is that of S also in blocks at `Copied` sides: there the true diagonal is less, by the coefficient of the link, and the
    /// block's own old value stands in for the difference; so it is at `Scaled` ones. r has to be divided by D there too, or
    /// the fixed point is another.
    ///
    /// *Errors*: as [`LinearExpression::jacobi`], and [`Error::NonFinite`].
    pub fn jacobi(&self) -> Result<Self> {
        let block = LinearExpression::jacobi(&self.block.matrix().to_triplets())?;
        let diagonal = self.block.matrix().diagonal();
        let made = Self { block, links: Vec::new(), ..self.clone() };
        let entries =
            self.links.iter().flat_map(|link| link.entries.entries().map(|entry| (link.offset, entry)));
        let scaled = entries.map(|(offset, (i, j, v))| {
            let d = diagonal.get(i).copied().unwrap_or(1.0);
            (offset, [i, j], -v / d)
        });
        let op = "RepeatedExpression::jacobi";
        scaled.into_iter().try_fold(made, |e, (offset, at, v)| e.entry(op, offset, at, v))
    }

    /// `factor` times the matrix, without b.
    pub(crate) fn times(&self, factor: f64) -> Result<Self> {
        let matrix = self.block.matrix();
        let entries = matrix.entries().map(|(i, j, v)| (i, j, factor * v));
        let block = Triplets::from_entries(matrix.shape(), entries)?;
        let block = LinearExpression::new(&block, &vec![false; self.block.unknowns()])?;
        let mut made = Self { block, ..self.clone() };
        for link in &mut made.links {
            let entries = link.entries.entries().map(|(i, j, v)| (i, j, factor * v));
            link.entries = Triplets::from_entries(link.entries.shape(), entries)?;
        }
        Ok(made)
    }

    /// The same with a quad for each unknown, in the order of their positions, whose other lanes are nothing: what a program for
    /// textures of one channel is lowered from, with the identity for its order.
    ///
    /// *Errors*: as [`lower`](Self::lower).
    pub(crate) fn spread(&self, order: &Order) -> Result<Self> {
        let n = self.block.unknowns();
        check_order("RepeatedExpression::lower", order, n)?;
        let lanes = Shape::new(4 * n, 4 * n);
        let at = |(i, j, v)| (4 * order.position(i), 4 * order.position(j), v);
        let block = Triplets::from_entries(lanes, self.block.matrix().entries().map(at))?;
        let nontrivial: Vec<bool> =
            (0..4 * n).map(|p| p % 4 == 0 && self.block.is_nontrivial(order.at(p / 4))).collect();
        let mut made =
            Self { block: LinearExpression::new(&block, &nontrivial)?, single: true, ..self.clone() };
        for link in &mut made.links {
            link.entries = Triplets::from_entries(lanes, link.entries.entries().map(at))?;
        }
        Ok(made)
    }

    /// Whether it is [spread](Self::spread).
    pub(crate) fn is_single(&self) -> bool {
        self.single
    }

    /// What stands in the block and in the links.
    pub(crate) fn coefficients(&self) -> Vec<f64> {
        let links = self.links.iter().flat_map(|link| link.entries.entries());
        self.block.matrix().entries().chain(links).map(|(_, _, v)| v).collect()
    }

    /// The block S.
    pub fn block(&self) -> &LinearExpression {
        &self.block
    }

    /// Width and height of the rectangle, in blocks.
    pub fn blocks(&self) -> [usize; 2] {
        self.blocks
    }

    /// The offsets of the links with the entries (row, column, value) of their blocks.
    pub fn links(&self) -> impl Iterator<Item = ([i32; 2], &Triplets)> {
        self.links.iter().map(|link| (link.offset, &link.entries))
    }

    /// Number of all unknowns, without padding.
    pub fn unknowns(&self) -> usize {
        self.blocks.iter().product::<usize>() * self.block.unknowns()
    }

    /// Number of non-zero coefficients of a block row: multiplications for a block, away from the sides.
    pub fn nnz(&self) -> usize {
        self.block.nnz() + self.links.iter().map(Link::nnz).sum::<usize>()
    }

    /// Instructions for a block: C(S), and for each quad and link one if the link is diagonal, for each corner one.
    ///
    /// It is the cost by [`SimdMachine`] of the block row, so that blocks of links count like those of S.
    ///
    /// *Errors*: [`Error::LengthMismatch`] for an order of another size.
    pub fn cost(&self, order: &Order) -> Result<Instructions> {
        SimdMachine.cost(&self.row()?, &self.placed("RepeatedExpression::cost", order)?)
    }

    /// What no order can be below: the bound of S, and an instruction for every four entries of a link. Instructions multiply
    /// entries of one block only, so that those of S and of each link add up.
    pub fn lower_bound(&self) -> LowerBound {
        let block = LowerBound::new(&self.block, Orders::One);
        let links: u32 = self.links.iter().map(|link| link.nnz().div_ceil(4) as u32).sum();
        LowerBound { value: Instructions(block.value.0 + links), ..block }
    }

    /// The program of a block, for the fragment stage; `subtract_b` for y = A x - b.
    ///
    /// Its registers are X0, X1, ... X(q-1) for the q quads of the own block, and q more for each link in the order of
    /// [`links`](Self::links). It has as many quads of results; those from Yq on are zeros that nobody needs, and no instruction
    /// that counts is for them.
    ///
    /// *Errors*: as [`cost`](Self::cost) and [`Program::lower`].
    pub fn lower(&self, order: &Order, subtract_b: bool) -> Result<Program> {
        let packing = self.placed("RepeatedExpression::lower", order)?;
        Program::lower(&self.row()?, &packing, LowerOptions { subtract_b, ..LowerOptions::FRAGMENT })
    }

    /// The block row as an expression by itself: the unknowns of the linked blocks follow those of the own one, each block
    /// filled up to whole quads, and have no rows.
    fn row(&self) -> Result<LinearExpression> {
        let n = 4 * self.block.quads();
        let all = n * (1 + self.links.len());
        let mut a = Triplets::with_capacity(Shape::new(all, all), self.nnz());
        for (i, j, v) in self.block.matrix().entries() {
            a.push(i, j, v)?;
        }
        for (link, first) in self.links.iter().zip((n..).step_by(n)) {
            for (i, j, v) in link.entries.entries() {
                a.push(i, first + j, v)?;
            }
        }
        let nontrivial: Vec<bool> = (0..all).map(|i| self.block.is_nontrivial(i)).collect();
        LinearExpression::new(&a, &nontrivial)
    }

    /// An order of the unknowns of a block as one of the block row: the same in every block.
    fn placed(&self, op: &'static str, order: &Order) -> Result<Packing> {
        check_order(op, order, self.block.unknowns())?;
        let n = order.len() as u32;
        let firsts = (0..=self.links.len() as u32).map(|k| k * n);
        let at: Vec<u32> = firsts.flat_map(|first| order.indices().iter().map(move |i| first + i)).collect();
        Ok(Packing::symmetric(Order::from_valid(at.len(), at)))
    }

    /// The matrix of all blocks, in natural order: what [`BandedMatrix`](crate::BandedMatrix) and
    /// [`SparseMatrix`](crate::SparseMatrix) are made of.
    ///
    /// *Cost*: O(unknowns), and memory for each coefficient of each. *Errors*: as [`Triplets::push`].
    pub fn to_triplets(&self) -> Result<Triplets> {
        let (grid, n) = (self.grid(), self.block.unknowns());
        let mut all = Triplets::new(Shape::new(self.unknowns(), self.unknowns()));
        for m in 0..grid.len() {
            for (i, j, v) in self.block.matrix().entries() {
                all.push(n * m + i, n * m + j, v)?;
            }
            for link in &self.links {
                let (x, y, z) = grid.place(m);
                let sides = [self.sides[0], self.sides[1], Ends::default()];
                let offset = [link.offset[0], link.offset[1], 0];
                let Some(([x, y, z], factor)) = neighbour(grid, sides, [x, y, z], offset) else { continue };
                for (i, j, v) in link.entries.entries() {
                    all.push(n * m + i, n * grid.index(x, y, z) + j, factor * v)?;
                }
            }
        }
        Ok(all)
    }

    /// The sides that x at an offset may lie behind, one for each axis along which it leads.
    pub(super) fn sides_behind(&self, offset: [i32; 2]) -> [StencilBoundary; 2] {
        let [x, y] = self.sides;
        [(x, offset[0]), (y, offset[1])].map(|([low, high], o)| if o < 0 { low } else { high })
    }

    fn grid(&self) -> Grid {
        Grid::new_2d(self.blocks[0], self.blocks[1])
    }
}

/// Refuses an order of another number of unknowns.
fn check_order(op: &'static str, order: &Order, expected: usize) -> Result<()> {
    let (operand, found) = ("order", order.unknowns());
    if found == expected { Ok(()) } else { Err(Error::LengthMismatch { op, operand, found, expected }) }
}
