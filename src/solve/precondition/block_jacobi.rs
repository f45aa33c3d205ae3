//! Division by the 4x4 blocks on the diagonal: one for each texel.

use super::{Preconditioner, entries};
use crate::data::{Vector, exponent};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::LinOp;
use crate::shape::Shape;
use crate::solve::drive::check::{check_square, check_vectors_of};

/// Block Jacobi: `z = c B⁻¹ r`, where `B` is the block diagonal of `A` with blocks of 4x4, as many unknowns as a texel holds, and
/// `c` a power of two that makes the largest element about 1.
///
/// It pays where neighbouring unknowns are strongly coupled: the components of a vector at a node of a mesh, species at a place.
///
/// *Cost* of an application: one pass of 5 fetches a texel. *Source*: Y. Saad, *Iterative Methods for Sparse Linear Systems* (2003), 4.1.1.
///
/// ```
/// use texla::{SparseFormat, SparseMatrix, Shape, Vector, host::Triplets, solve::{BlockJacobi, Preconditioner}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let entries = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 2.0), (4, 4, 0.5)];
/// let entries = entries.into_iter().chain([(2, 2, 1.0), (3, 3, 1.0)]);
/// let t = Triplets::from_entries(Shape::new(5, 5), entries.collect::<Vec<_>>())?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Auto)?;
/// let mut z = Vector::zeros(dev, 5)?;
/// BlockJacobi::new(&a)?.apply(&mut z, &Vector::from_slice(dev, &[1.0, 1.0, 3.0, 4.0, 5.0])?)?;
/// // The inverse of the first block is [-1 1; 1 -0.5]; c is 1/2.
/// assert_eq!(z.read()?, [0.0, 0.25, 1.5, 2.0, 5.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BlockJacobi {
    /// Columns of the blocks.
    columns: [Vector; 4],
    /// The first row of a block that is not symmetric and positive definite.
    indefinite: Option<usize>,
}

shown!(BlockJacobi, |m| "BlockJacobi({})", m.columns[0].len());

/// Unknowns of a block, and a block row by row.
const SIDE: usize = 4;
type Block = [[f64; SIDE]; SIDE];

impl BlockJacobi {
    /// From the entries of a square operator.
    ///
    /// *Cost*: 4 uploads. *Errors*: [`Error::Matrix`] when it is not square, or naming the rows of a block that is singular;
    /// [`Error::Unsupported`] when it does not give its entries ([`pattern`](crate::ops::LinOp::pattern)).
    pub fn new(a: impl LinOp) -> Result<Self> {
        Self::of(&a)
    }

    fn of(a: &dyn LinOp) -> Result<Self> {
        let op = "BlockJacobi";
        check_square(op, a)?;
        let n = a.shape().rows;
        let mut blocks = vec![[[0.0; SIDE]; SIDE]; n.div_ceil(SIDE)];
        for (i, j, value) in entries(op, a)?.entries().filter(|(i, j, _)| i / SIDE == j / SIDE) {
            let row = blocks.get_mut(i / SIDE).and_then(|block| block.get_mut(i % SIDE));
            if let Some(slot) = row.and_then(|row| row.get_mut(j % SIDE)) {
                *slot += value;
            }
        }
        let mut indefinite = None;
        let mut inverses = Vec::with_capacity(blocks.len());
        for (k, block) in blocks.into_iter().enumerate() {
            let first = k * SIDE;
            let side = (n - first).min(SIDE);
            if indefinite.is_none() && !is_definite(&block, side) {
                indefinite = Some(first);
            }
            inverses.push(inverse(block, side).ok_or_else(|| {
                let last = first + side - 1;
                let detail = format!(
                    "has a singular block in rows and columns {first} to {last} (counted from 0), expected a regular one"
                );
                Error::Matrix { op, detail }
            })?);
        }
        let all = inverses.iter().flatten().flatten();
        let largest = all.fold(0.0f64, |most, v| most.max(v.abs()));
        let scale = if largest > 0.0 { f64::from(-exponent(largest)).exp2() } else { 1.0 };
        let column = |j: usize| {
            let of = |block: &Block| block.map(|row| row.get(j).map_or(0.0, |v| scale * v));
            let values: Vec<f64> = inverses.iter().flat_map(of).take(n).collect();
            Vector::from_f64(a.device(), &values)
        };
        Ok(BlockJacobi { columns: [column(0)?, column(1)?, column(2)?, column(3)?], indefinite })
    }
}

/// Whether the leading part of a block is symmetric and positive definite: Cholesky without its result.
fn is_definite(block: &Block, side: usize) -> bool {
    let at = |m: &Block, i: usize, j: usize| m.get(i).and_then(|row| row.get(j)).copied().unwrap_or(0.0);
    let mut rest = *block;
    for k in 0..side {
        let pivot = at(&rest, k, k);
        if pivot <= 0.0 || pivot.is_nan() || (0..k).any(|j| at(block, k, j) != at(block, j, k)) {
            return false;
        }
        let row = rest.get(k).copied().unwrap_or_default();
        for (i, other) in rest.iter_mut().enumerate().skip(k + 1) {
            let factor = row.get(i).map_or(0.0, |v| v / pivot);
            other.iter_mut().zip(row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    true
}

/// The inverse of the leading part of a block by Gauss-Jordan with row pivots, zero outside of it; `None` where it is singular.
fn inverse(mut a: Block, side: usize) -> Option<Block> {
    let mut inverse = Block::default();
    for (i, row) in inverse.iter_mut().enumerate().take(side) {
        *row.get_mut(i)? = 1.0;
    }
    for k in 0..side {
        let size = |row: &[f64; SIDE]| row.get(k).map_or(0.0, |v| v.abs());
        let (at, _) =
            a.iter().enumerate().take(side).skip(k).max_by(|x, y| size(x.1).total_cmp(&size(y.1)))?;
        a.swap(k, at);
        inverse.swap(k, at);
        let pivot = *a.get(k)?.get(k)?;
        if pivot == 0.0 || !(1.0 / pivot).is_finite() {
            return None;
        }
        let (row, of_row) = (a.get(k)?.map(|v| v / pivot), inverse.get(k)?.map(|v| v / pivot));
        for (i, (other, of_other)) in a.iter_mut().zip(&mut inverse).enumerate().take(side) {
            if i == k {
                (*other, *of_other) = (row, of_row);
                continue;
            }
            let factor = *other.get(k)?;
            other.iter_mut().zip(row).for_each(|(v, r)| *v -= factor * r);
            of_other.iter_mut().zip(of_row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    inverse.iter().flatten().all(|v| v.is_finite()).then_some(inverse)
}

impl Preconditioner for BlockJacobi {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let [first, second, third, fourth] = &self.columns;
        let (device, n) = (first.device(), first.len());
        check_vectors_of("BlockJacobi::apply", device, Shape::new(n, n), z, r)?;
        Draw::new(device, glsl!("solve/block_jacobi.frag"))
            .input("r", r.view())
            .input("first", first.view())
            .input("second", second.view())
            .input("third", third.view())
            .input("fourth", fourth.view())
            .masked(true)
            .target(z.view())
            .run()
    }

    fn indefinite(&self) -> Option<String> {
        let first = self.indefinite?;
        Some(format!(
            "has a block that is not symmetric and positive definite from row {first} on (counted from 0)"
        ))
    }

    fn is_replayable(&self) -> bool {
        true
    }
}
