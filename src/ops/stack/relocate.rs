//! Columns from and to matrices and vectors, whole texels at a time.

use crate::data::{ColumnStack, Matrix, Vector};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Domain, Draw, Operand, View};
use crate::ops::{check_device, check_shape};
use crate::shape::{Shape, StackGrid};

/// A draw in one direction.
fn moving<'a>(direction: &'static str, x: View<'a>) -> Draw<'a> {
    Draw::new(x.device, glsl!("stack/move.frag")).define(direction, 1u8).input("x", x)
}

/// Tells it how columns lie in a panel, and where the matrix begins.
fn between<'a>(draw: Draw<'a>, grid: &StackGrid, origin: [i32; 2]) -> Draw<'a> {
    let [across, down] = grid.unit_tiles();
    draw.param("tile", pair(grid.tile.width as usize, grid.tile.height as usize))
        .param("origin", origin)
        .param("unit_tiles", pair(across, down))
        .param("across", grid.across as i32)
}

fn pair(x: usize, y: usize) -> [i32; 2] {
    // Texels lie within a texture, whose sides fit.
    [x as i32, y as i32]
}

/// `S = A`; `S` is all zero before.
fn from_matrix(out: &mut ColumnStack, a: &Matrix) -> Result<()> {
    for panel in out.panels() {
        for tile in a.tiles() {
            let (rows, cols) = tile.ranges();
            let part = &panel.part.columns;
            if rows.is_empty() || cols.start.max(part.start) >= cols.end.min(part.end) {
                continue;
            }
            let origin = [(cols.start as i64 - part.start as i64) as i32, (rows.start / 4) as i32];
            between(moving("FROM_MATRIX", tile.part()), out.grid(), origin)
                .param("columns", part.len() as i32)
                .target(panel.view)
                .run()?;
        }
    }
    Ok(())
}

/// `A = S`.
fn to_matrix(out: &mut Matrix, a: &ColumnStack) -> Result<()> {
    for tile in out.tiles() {
        let (rows, cols) = tile.ranges();
        for panel in a.panels() {
            let part = &panel.part.columns;
            let (begin, end) = (cols.start.max(part.start), cols.end.min(part.end));
            if rows.is_empty() || begin >= end {
                continue;
            }
            let (x, width) = ((begin - cols.start) as u32, (end - begin) as u32);
            let domain = Domain::Rect { x, y: 0, width, height: rows.len().div_ceil(4) as u32 };
            let origin = [(cols.start as i64 - part.start as i64) as i32, (rows.start / 4) as i32];
            between(moving("TO_MATRIX", panel.view), a.grid(), origin)
                .target(tile.part())
                .on(domain)
                .run()?;
        }
    }
    Ok(())
}

/// The texture of a column and the texel at which it begins.
fn place(a: &ColumnStack, j: usize) -> Option<(View<'_>, [u32; 2])> {
    let (k, at) = a.grid().place(j);
    Some((a.panels().nth(k)?.view, at))
}

/// `x = column j of S`.
fn column(out: &mut Vector, a: &ColumnStack, j: usize) -> Result<()> {
    let Some((view, [x, y])) = place(a, j) else { return Ok(()) };
    moving("TO_VECTOR", view).param("origin", pair(x as usize, y as usize)).target(out.view()).run()
}

/// `column j of S = x`.
fn set_column(out: &mut ColumnStack, j: usize, x: &Vector) -> Result<()> {
    let op = "ColumnStack::set_column";
    check_shape(op, "x", x.shape(), Shape::column(out.shape().rows))?;
    check_device(op, "x", x.device(), out.device())?;
    let tile = out.grid().tile;
    let Some((view, [left, below])) = place(out, j) else { return Ok(()) };
    let domain = Domain::Rect { x: left, y: below, width: tile.width, height: tile.height };
    moving("FROM_VECTOR", x.view())
        .param("tile", pair(tile.width as usize, tile.height as usize))
        .param("origin", pair(left as usize, below as usize))
        .target(view)
        .on(domain)
        .run()
}

impl ColumnStack {
    /// The same matrix as a stack, exactly.
    ///
    /// *Cost*: 1 draw for each tile and texture that share a column, 1 fetch a texel; no readback. *Errors*: those of
    /// [`zeros`](Self::zeros).
    ///
    /// ```
    /// use texla::{ColumnStack, Matrix};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let e = Matrix::identity(ctx.device(), 5)?;
    /// assert_eq!(ColumnStack::from_matrix(&e)?.to_matrix()?.read()?, e.read()?);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn from_matrix(a: &Matrix) -> Result<Self> {
        let _scope = a.device().exclusive_scope()?;
        let mut made = Self::zeros(a.device(), a.shape())?;
        from_matrix(&mut made, a)?;
        Ok(made)
    }

    /// The same matrix in 4x1 columns, exactly. *Cost*: as [`from_matrix`](Self::from_matrix). *Errors*:
    /// [`Error::OutOfMemory`].
    pub fn to_matrix(&self) -> Result<Matrix> {
        let _scope = self.device().exclusive_scope()?;
        let mut made = Matrix::zeros(self.device(), self.shape())?;
        to_matrix(&mut made, self)?;
        Ok(made)
    }

    /// Column `j` as a vector. *Cost*: 1 draw, 1 fetch a texel. *Errors*: [`Error::IndexOutOfRange`].
    pub fn column(&self, j: usize) -> Result<Vector> {
        self.check_column("ColumnStack::column", j)?;
        let _scope = self.device().exclusive_scope()?;
        let mut out = Vector::uninit(self.device(), self.shape().rows)?;
        column(&mut out, self, j)?;
        Ok(out)
    }

    /// Replaces column `j`. *Cost*: 1 draw over that column, 1 fetch a texel. *Errors*: [`Error::IndexOutOfRange`],
    /// [`Error::ShapeMismatch`], [`Error::WrongDevice`].
    pub fn set_column(&mut self, j: usize, x: &Vector) -> Result<()> {
        self.check_column("ColumnStack::set_column", j)?;
        set_column(self, j, x)
    }

    fn check_column(&self, what: &'static str, index: usize) -> Result<()> {
        let bound = self.shape().cols;
        if index < bound { Ok(()) } else { Err(Error::IndexOutOfRange { what, index, bound }) }
    }
}
