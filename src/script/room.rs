//! The room that all values of an interpreter share, counted in bytes before they are taken.
//!
//! What counts is what the machine has to find: textures with the padding of their layout and of the driver's blocks, the
//! entries that a sparse matrix keeps on the host, and for as long as a statement needs them the copies between host and
//! device, what an operation works with, and what a sparse matrix is made from. Elements alone would say little: one of a
//! row takes 64 bytes, one of a column 4.

use std::cell::Cell;
use std::rc::Rc;

use super::error::ScriptErrorKind as Kind;
use crate::data::StoredMatrix;
use crate::device::Device;
use crate::host::Csr;
use crate::shape::{Extent, Shape, fold_extent};

/// Bytes of an RGBA32F texel.
const TEXEL: u64 = 16;

/// How many bytes all values of an interpreter may take together.
pub(super) struct Room {
    limit: Cell<u64>,
    used: Cell<u64>,
}

/// What a value takes of the room, from before it is made.
pub(super) struct Charge {
    room: Rc<Room>,
    bytes: u64,
}

impl Charge {
    /// What the value has come to: less than was needed to make it.
    pub(super) fn settle(&mut self, bytes: u64) {
        let used = self.room.used.get().saturating_sub(self.bytes);
        self.room.used.set(used.saturating_add(bytes));
        self.bytes = bytes;
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.room.used.set(self.room.used.get().saturating_sub(self.bytes));
    }
}

impl Room {
    pub(super) fn new(limit: u64) -> Rc<Self> {
        Rc::new(Room { limit: Cell::new(limit), used: Cell::new(0) })
    }

    /// A charge for data that are there already, the host's: it takes what they are found to be.
    pub(super) fn nothing(self: &Rc<Self>) -> Charge {
        Charge { room: Rc::clone(self), bytes: 0 }
    }

    pub(super) fn set_limit(&self, limit: u64) {
        self.limit.set(limit);
    }

    /// Takes so many bytes before anything is allocated, or refuses: `what` takes them.
    pub(super) fn take(self: &Rc<Self>, bytes: u64, what: impl FnOnce() -> String) -> Result<Charge, Kind> {
        let (limit, used) = (self.limit.get(), self.used.get());
        if bytes <= limit.saturating_sub(used) {
            self.used.set(used.saturating_add(bytes));
            return Ok(Charge { room: Rc::clone(self), bytes });
        }
        let beside = if used == 0 { String::new() } else { format!(", beside {used} in use") };
        Err(Kind::Limit { what: format!("{} {bytes} bytes{beside}", what()), limit })
    }
}

/// A texture of this extent.
fn texture_bytes(extent: Extent) -> u64 {
    extent.in_blocks().area().saturating_mul(TEXEL)
}

/// A vector of this length, which is folded.
pub(super) fn vector_bytes(device: &Device, len: usize) -> u64 {
    match fold_extent(len as u64, device.max_texture_size()) {
        Ok(extent) => texture_bytes(Extent::new(extent.width.max(1), extent.height.max(1))),
        // Longer than the device's vectors are: the library will say so.
        Err(_) => (len as u64).saturating_mul(4),
    }
}

/// A matrix in 4x1 columns. Its tiles end at multiples of four texels, so what it takes in blocks does not depend on them.
pub(super) fn matrix_bytes(shape: Shape) -> u64 {
    let sides = if shape.is_empty() { [1, 1] } else { [shape.cols as u64, (shape.rows as u64).div_ceil(4)] };
    let [width, height] = sides.map(|side| side.div_ceil(4) * 4);
    width.saturating_mul(height).saturating_mul(TEXEL)
}

/// A dense value of this shape: a column is a vector, and a 1x1 takes no room.
pub(super) fn dense_bytes(device: &Device, shape: Shape) -> u64 {
    match shape {
        Shape { rows: 1, cols: 1 } => 0,
        Shape { rows, cols: 1 } => vector_bytes(device, rows),
        _ => matrix_bytes(shape),
    }
}

/// What a tile of a matrix takes twice more while it is put together from pieces: of several tiles, or of one turned.
pub(super) fn pieces_bytes(device: &Device, shape: Shape) -> u64 {
    let side = device.max_texture_size() as usize;
    let tile = Shape::new(shape.rows.min(side.saturating_mul(4)), shape.cols.min(side));
    // What is turned meets other limits: it lay in tiles a quarter as wide, or lies in such ones.
    let fits = |n: usize| n <= side;
    if fits(shape.rows) && fits(shape.cols) { 0 } else { matrix_bytes(tile).saturating_mul(2) }
}

/// A dense value on its way between host and device: its elements row by row, its texels, and the widths of its columns
/// where they are printed. A matrix of several tiles is put together from parts.
pub(super) fn copy_bytes(device: &Device, shape: Shape) -> u64 {
    let elements = (shape.len() as u64).saturating_mul(4);
    let side = u64::from(device.max_texture_size());
    let tiled = shape.cols as u64 > side || shape.rows.div_ceil(4) as u64 > side;
    let parts = if tiled && shape.cols != 1 { elements } else { 0 };
    let widths = 8 * shape.cols as u64;
    dense_bytes(device, shape).saturating_add(elements).saturating_add(parts).saturating_add(widths)
}

/// What a sparse matrix takes, in bytes.
pub(super) struct SparseBytes {
    /// For as long as it is there: its entries on the host, and both it and its transpose on the device, since products
    /// with either may be asked for.
    pub(super) kept: u64,
    /// Beside that, while either form is put on the device.
    pub(super) making: u64,
}

/// Entries and row starts of a [`Csr`].
fn csr_bytes(shape: Shape, entries: usize) -> u64 {
    let rows = (shape.rows as u64).saturating_add(1).saturating_mul(8);
    (entries as u64).saturating_mul(12).saturating_add(rows)
}

/// A sparse matrix with these entries.
pub(super) fn sparse_bytes(device: &Device, csr: &Csr) -> SparseBytes {
    let [own, transposed] = StoredMatrix::bytes(device, csr);
    let kept = csr_bytes(csr.shape(), csr.nnz()).saturating_add(own).saturating_add(transposed);
    // What goes up lies on the host once; the transpose is sorted from a list of its entries.
    let making = own.max(transposed.saturating_add(sorting_bytes(csr.shape().transposed(), csr.nnz())));
    SparseBytes { kept, making }
}

/// So many entries as a list, sorted, and what comes of that: a [`Csr`] of this shape.
pub(super) fn sorting_bytes(shape: Shape, entries: usize) -> u64 {
    // The list, one in another order, the sorted one, and what sorting takes: 16 bytes for each entry every time.
    csr_bytes(shape, entries).saturating_add((entries as u64).saturating_mul(4 * 16))
}
