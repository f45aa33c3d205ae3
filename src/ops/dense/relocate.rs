//! Elements from one place to another: blocks, transposition, vectors to matrices and back. One kernel, which draws a
//! target from all the tiles that hold a part of it.

use std::ops::Range;

use crate::data::{Matrix, Tile, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::check_shape;
use crate::shape::Shape;

/// How elements lie in a texture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// In 4x1 columns.
    Tile,
    /// Folded, row by row with this many columns.
    Folded { cols: usize },
    /// Folded, element k being (k, k).
    Diagonal,
}

impl Order {
    fn is_folded(self) -> bool {
        matches!(self, Order::Folded { .. })
    }

    fn cols(self) -> i32 {
        match self {
            // At most the number of elements, which 32 bits hold.
            Order::Folded { cols } => i32::try_from(cols).unwrap_or(i32::MAX).max(1),
            Order::Tile | Order::Diagonal => 1,
        }
    }
}

/// A texture with a part of a matrix: which rows and columns, and how they lie.
struct Part<'a> {
    view: View<'a>,
    order: Order,
    rows: Range<usize>,
    cols: Range<usize>,
}

impl<'a> Part<'a> {
    fn tile(tile: &Tile<'a>) -> Self {
        let (rows, cols) = tile.ranges();
        Part { view: tile.part(), order: Order::Tile, rows, cols }
    }

    /// A whole matrix of `shape`, row by row in a vector.
    fn folded(view: View<'a>, shape: Shape) -> Self {
        let order = Order::Folded { cols: shape.cols };
        Part { view, order, rows: 0..shape.rows, cols: 0..shape.cols }
    }
}

/// Which element of the source becomes the target's (i, j): (i, j) + offset, or (j, i) + offset.
#[derive(Clone, Copy, Default)]
struct Origin {
    transposed: bool,
    offset: (usize, usize),
}

/// A source that meets the target: in a window of the target's elements, the shift to the source's.
struct Piece<'a> {
    view: View<'a>,
    order: Order,
    window: [i64; 4],
    shift: [i64; 2],
}

/// Where a target and a source meet; nowhere if `None`.
fn meet<'a>(target: &Part<'_>, source: &Part<'a>, origin: Origin) -> Option<Piece<'a>> {
    let start = |range: &Range<usize>| range.start as i64;
    // The target's range along one axis, counted from the part's own begin, that the source's range covers.
    let overlap = |to: &Range<usize>, from: &Range<usize>, offset: usize| {
        let shift = start(to) + offset as i64 - start(from);
        let (begin, end) = ((-shift).max(0), (from.len() as i64 - shift).min(to.len() as i64));
        (begin < end).then_some((begin, end, shift))
    };
    let (row_offset, col_offset) = origin.offset;
    let (from_rows, from_cols) = (&source.rows, &source.cols);
    let (rows, cols) =
        if origin.transposed { (&target.cols, &target.rows) } else { (&target.rows, &target.cols) };
    let (row_begin, row_end, row_shift) = overlap(rows, from_rows, row_offset)?;
    let (col_begin, col_end, col_shift) = overlap(cols, from_cols, col_offset)?;
    let window = if origin.transposed {
        [col_begin, row_begin, col_end, row_end]
    } else {
        [row_begin, col_begin, row_end, col_end]
    };
    Some(Piece { view: source.view, order: source.order, window, shift: [row_shift, col_shift] })
}

/// Draws the target from every source that meets it; elsewhere it holds what `kept` does, or zero.
fn assemble(target: &Part<'_>, kept: Option<View<'_>>, sources: &[Part<'_>], origin: Origin) -> Result<()> {
    let device = target.view.device;
    let pieces: Vec<_> = sources.iter().filter_map(|source| meet(target, source, origin)).collect();
    let Some((last, before)) = pieces.split_last() else {
        return device.gl().clear(target.view.texture, [0.0; 4], "Matrix");
    };
    let mut partial: Option<PooledTexture> = None;
    let onto = |texture: &Option<PooledTexture>, target: View<'_>, piece: &Piece<'_>, order: Order| {
        let kept = texture.as_ref().map(|t| View::whole(device, t.texture())).or(kept);
        draw(device, target, order, kept, piece, origin.transposed)
    };
    for piece in before {
        let next = device.texture(target.view.extent, Format::Rgba32F, "Matrix")?;
        onto(&partial, View::whole(device, next.texture()), piece, target.order)?;
        partial = Some(next);
    }
    onto(&partial, target.view, last, target.order)
}

fn draw(
    device: &Device,
    target: View<'_>,
    order: Order,
    kept: Option<View<'_>>,
    piece: &Piece<'_>,
    transposed: bool,
) -> Result<()> {
    let source_folded = piece.order.is_folded();
    let draw = Draw::new(device, glsl!("dense/move.frag"))
        .define("TARGET_FOLDED", order.is_folded())
        .define("TARGET_DIAGONAL", order == Order::Diagonal)
        .define("SOURCE_FOLDED", source_folded)
        .define("TRANSPOSED", transposed)
        .define("KEEP", kept.is_some());
    let draw = if source_folded { draw.input("x", piece.view) } else { draw.addressed("x", piece.view) };
    // Rows and columns are below 2^31, and so are their differences.
    draw.input_if("kept", kept)
        .param("target_cols", order.cols())
        .param("source_cols", piece.order.cols())
        .param("window", piece.window.map(|v| v as i32))
        .param("shift", piece.shift.map(|v| v as i32))
        .target(target)
        .run()
}

fn parts(a: &Matrix) -> Vec<Part<'_>> {
    a.tiles().map(|tile| Part::tile(&tile)).collect()
}

/// Draws all of a matrix from sources.
fn fill_from(out: &mut Matrix, sources: &[Part<'_>], origin: Origin) -> Result<()> {
    let device = out.device().clone();
    let _scope = device.exclusive_scope()?;
    out.tiles().try_for_each(|tile| assemble(&Part::tile(&tile), None, sources, origin))
}

/// `out = Aᵀ`.
///
/// *Shapes*: `A` n x m, `out` m x n. *Cost*: 1 draw a tile, and one more for each further tile of `A` that it meets;
/// 4 fetches a texel. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`]. *Source*: \[Moravanszky03\] 3.4.
///
/// ```
/// use texla::{Matrix, Shape, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let mut t = Matrix::zeros(dev, Shape::new(3, 2))?;
/// ops::transpose(&mut t, &a)?;
/// assert_eq!(t.read()?, [1., 4., 2., 5., 3., 6.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn transpose(out: &mut Matrix, a: &Matrix) -> Result<()> {
    check_shape("transpose", "out", out.shape(), a.shape().transposed())?;
    fill_from(out, &parts(a), Origin { transposed: true, ..Origin::default() })
}

/// Refuses a block that leaves its matrix.
fn check_block(op: &'static str, whole: Shape, row: usize, col: usize, block: Shape) -> Result<()> {
    let inside =
        |at: usize, length: usize, end: usize| at.checked_add(length).is_some_and(|last| last <= end);
    if inside(row, block.rows, whole.rows) && inside(col, block.cols, whole.cols) {
        return Ok(());
    }
    let value = format!("{block} at ({row}, {col}) of {whole}");
    Err(Error::Parameter { op, name: "block", value, expected: "a block within the matrix" })
}

/// A vector drawn from a matrix: what lies at `origin`, in this order, as a matrix of `shape`.
fn to_vector(a: &Matrix, order: Order, shape: Shape, len: usize, origin: Origin) -> Result<Vector> {
    let _scope = a.device().exclusive_scope()?;
    let out = Vector::uninit(a.device(), len)?;
    let target = Part { view: out.view(), order, rows: 0..shape.rows, cols: 0..shape.cols };
    assemble(&target, None, &parts(a), origin)?;
    Ok(out)
}

/// Row by row.
fn to_folded(a: &Matrix, shape: Shape, offset: (usize, usize)) -> Result<Vector> {
    let order = Order::Folded { cols: shape.cols };
    to_vector(a, order, shape, shape.len(), Origin { transposed: false, offset })
}

fn check_index(what: &'static str, index: usize, bound: usize) -> Result<()> {
    if index < bound { Ok(()) } else { Err(Error::IndexOutOfRange { what, index, bound }) }
}

/// The identity, drawn.
fn fill_identity(out: &mut Matrix) -> Result<()> {
    let device = out.device().clone();
    let _scope = device.exclusive_scope()?;
    out.tiles().try_for_each(|tile| {
        let (row, col) = tile.origin;
        Draw::new(&device, glsl!("dense/identity.frag"))
            .param("shift", (row as i64 - col as i64) as i32)
            .masked(true)
            .target(tile.part())
            .run()
    })
}

impl Matrix {
    /// A vector as a matrix with one column. *Cost*: 1 draw a tile. *Errors*: [`Error::TooLarge`].
    pub fn from_vector(x: &Vector) -> Result<Self> {
        Self::from_vector_rows(x, x.shape())
    }

    /// A vector's elements, row by row, as a matrix of `shape`. *Cost*: 1 draw a tile. *Errors*:
    /// [`Error::ShapeMismatch`] when `shape` has another number of elements, [`Error::TooLarge`].
    pub fn from_vector_rows(x: &Vector, shape: Shape) -> Result<Self> {
        if shape.len() != x.len() {
            let (op, operand, expected) = ("Matrix::from_vector_rows", "x", Shape::column(shape.len()));
            return Err(Error::ShapeMismatch { op, operand, found: x.shape(), expected });
        }
        let _scope = x.device().exclusive_scope()?;
        let mut out = Matrix::uninit(x.device(), shape)?;
        fill_from(&mut out, &[Part::folded(x.view(), shape)], Origin::default())?;
        Ok(out)
    }

    /// The block of `shape` whose first element is (`row`, `col`), as a matrix of its own.
    ///
    /// *Cost*: 1 draw for each pair of tiles that meet. *Errors*: [`Error::Parameter`] when the block leaves the
    /// matrix.
    ///
    /// ```
    /// use texla::{Matrix, Shape};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let mut a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
    /// let b = a.block(0, 1, Shape::new(2, 2))?;
    /// assert_eq!(b.read()?, [2., 3., 5., 6.]);
    /// a.set_block(0, 0, &b)?;
    /// assert_eq!(a.read()?, [2., 3., 3., 5., 6., 6.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn block(&self, row: usize, col: usize, shape: Shape) -> Result<Matrix> {
        check_block("Matrix::block", self.shape(), row, col, shape)?;
        let _scope = self.device().exclusive_scope()?;
        let mut out = Matrix::uninit(self.device(), shape)?;
        fill_from(&mut out, &parts(self), Origin { transposed: false, offset: (row, col) })?;
        Ok(out)
    }

    /// Replaces the block whose first element is (`row`, `col`) by `block`. *Cost*: 1 draw for each pair of tiles that
    /// meet; the tiles that change get another texture of the pool. *Errors*: [`Error::Parameter`] when the block
    /// leaves the matrix, [`Error::WrongDevice`].
    pub fn set_block(&mut self, row: usize, col: usize, block: &Matrix) -> Result<()> {
        let op = "Matrix::set_block";
        check_block(op, self.shape(), row, col, block.shape())?;
        if !block.device().same(self.device()) {
            return Err(Error::WrongDevice { op: op.to_owned(), operand: "block".to_owned() });
        }
        let device = self.device().clone();
        let _scope = device.exclusive_scope()?;
        // The block's own rows and columns are those of the matrix that it will stand at.
        let moved = |part: Part<'_>| {
            (part.rows.start + row..part.rows.end + row, part.cols.start + col..part.cols.end + col)
        };
        let sources: Vec<_> = block
            .tiles()
            .map(|tile| {
                let (rows, cols) = moved(Part::tile(&tile));
                Part { rows, cols, ..Part::tile(&tile) }
            })
            .collect();
        // All new tiles are drawn before any takes its place: an error leaves the matrix as it was.
        let mut changed = Vec::new();
        for (k, tile) in self.tiles().enumerate() {
            let target = Part::tile(&tile);
            if sources.iter().all(|source| meet(&target, source, Origin::default()).is_none()) {
                continue;
            }
            let texture = device.texture(target.view.extent, Format::Rgba32F, "Matrix")?;
            let drawn =
                Part { view: View { texture: texture.texture(), ..target.view }, ..Part::tile(&tile) };
            assemble(&drawn, Some(target.view), &sources, Origin::default())?;
            changed.push((k, texture));
        }
        changed.into_iter().for_each(|(k, texture)| self.replace_tile(k, texture));
        Ok(())
    }

    /// The elements, row by row, as a vector. *Cost*: 1 draw for each tile. *Errors*: [`Error::TooLarge`].
    pub fn to_vector(&self) -> Result<Vector> {
        to_folded(self, self.shape(), (0, 0))
    }

    /// Row `i` as a vector. *Cost*: 1 draw for each tile it crosses. *Errors*: [`Error::IndexOutOfRange`].
    pub fn row(&self, i: usize) -> Result<Vector> {
        check_index("Matrix::row", i, self.shape().rows)?;
        to_folded(self, Shape::new(1, self.shape().cols), (i, 0))
    }

    /// Column `j` as a vector. *Cost* and *errors*: as [`row`](Self::row).
    pub fn column(&self, j: usize) -> Result<Vector> {
        check_index("Matrix::column", j, self.shape().cols)?;
        to_folded(self, Shape::column(self.shape().rows), (0, j))
    }

    /// The main diagonal as a vector. *Cost*: 1 draw for each tile.
    pub fn diagonal(&self) -> Result<Vector> {
        let n = self.shape().rows.min(self.shape().cols);
        to_vector(self, Order::Diagonal, Shape::new(n, n), n, Origin::default())
    }

    /// `Aᵀ` as a matrix of its own. *Cost*: 1 draw for each tile, 4 fetches a texel. Products with a transposed operand
    /// need none: [`ops::matmul_at`](crate::ops::matmul_at), [`ops::matmul_bt`](crate::ops::matmul_bt).
    pub fn transposed(&self) -> Result<Matrix> {
        let mut out = Matrix::uninit(self.device(), self.shape().transposed())?;
        transpose(&mut out, self)?;
        Ok(out)
    }

    /// The n x n identity, drawn on the device. *Cost*: 1 draw a tile. *Errors*: as [`zeros`](Self::zeros).
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let e = texla::Matrix::identity(ctx.device(), 2)?;
    /// assert_eq!(e.read()?, [1., 0., 0., 1.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn identity(device: &Device, n: usize) -> Result<Self> {
        Self::grid(device, Shape::new(n, n))?;
        let _scope = device.exclusive_scope()?;
        let mut made = Self::uninit(device, Shape::new(n, n))?;
        fill_identity(&mut made)?;
        Ok(made)
    }
}
