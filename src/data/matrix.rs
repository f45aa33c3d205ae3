//! A dense matrix on the device.

use std::ops::Range;

use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::Format;
use crate::host::{Csr, Triplets};
use crate::kernel::{Operand, PooledTexture, Tail, TargetOperand, View};
use crate::shape::{Extent, Shape, TileGrid};

/// A dense matrix of 32-bit floats \[Moravanszky03\] 2.1: four elements of a column in each RGBA texel, so that an
/// n x m matrix is a texture of m by `ceil(n / 4)` texels ([`Layout::Column4`](crate::Layout::Column4)). Lanes past the
/// last row are zero after every operation.
///
/// A matrix past the texture size is cut into tiles ([`TileGrid`]), which operations see to; only
/// [`texture`](Self::texture) and a kernel of one's own need it to lie in one.
///
/// Column vectors that are not part of matrix algebra are better kept as a [`Vector`](crate::Vector), which is folded nearly
/// square.
///
/// ```
/// use texla::{Matrix, Shape, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let mut b = Matrix::zeros(dev, Shape::new(2, 3))?;
/// ops::scaled(&mut b, 2.0, &a)?;
/// assert_eq!(b.read()?, [2., 4., 6., 8., 10., 12.]);
/// let mut c = Matrix::zeros(dev, Shape::new(2, 2))?;
/// ops::matmul_bt(&mut c, &a, &a)?; // A Aᵀ
/// assert_eq!(c.read()?, [14., 32., 32., 77.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Matrix {
    device: Device,
    grid: TileGrid,
    /// The tile at the upper left: there always is one.
    first: PooledTexture,
    rest: Vec<PooledTexture>,
}

/// One texture of a [`Matrix`], for reading: see [`Matrix::tiles`].
#[derive(Clone, Copy)]
pub struct Tile<'a> {
    texture: &'a PooledTexture,
    /// The matrix's row and column that the tile's first element is.
    pub origin: (usize, usize),
    /// Rows and columns of the tile.
    pub shape: Shape,
}

shown!(Tile<'_>, |tile| "Tile({} at {:?})", tile.shape, tile.origin);

impl Tile<'_> {
    /// The RGBA32F texture: element (i, j) of the tile is channel `i % 4` of texel `(j, i / 4)`. Filters are restricted as for
    /// [`Matrix::texture`].
    pub fn texture(&self) -> glow::Texture {
        self.texture.texture().hand_out()
    }

    /// The texture's extent in texels.
    pub fn extent(&self) -> Extent {
        self.texture.texture().extent()
    }
}

impl<'a> Tile<'a> {
    /// The tile as a kernel sees it.
    pub(crate) fn part(&self) -> View<'a> {
        let rows = if self.shape.is_empty() { 0 } else { self.shape.rows };
        View { tail: Tail::columns(rows), ..View::whole(self.texture.device(), self.texture.texture()) }
    }

    /// The matrix's rows and columns that the tile holds.
    pub(crate) fn ranges(&self) -> (Range<usize>, Range<usize>) {
        let (i, j) = self.origin;
        (i..i + self.shape.rows, j..j + self.shape.cols)
    }
}

impl Operand for Tile<'_> {
    fn view(&self) -> View<'_> {
        self.part()
    }
}

impl Matrix {
    /// Refuses a shape past what a device can address, with no more work than that takes.
    pub(crate) fn grid(device: &Device, shape: Shape) -> Result<TileGrid> {
        TileGrid::new(shape, device.max_texture_size())
    }

    /// A matrix whose elements are yet to be written. Every element must be, padding included.
    pub(crate) fn uninit(device: &Device, shape: Shape) -> Result<Self> {
        let grid = Self::grid(device, shape)?;
        let texture = |(i, j)| device.texture(grid.extent(i, j), Format::Rgba32F, "Matrix");
        let first = texture((0, 0))?;
        let rest = grid.places().skip(1).map(texture).collect::<Result<_>>()?;
        Ok(Matrix { device: device.clone(), grid, first, rest })
    }

    /// A matrix of zeros.
    ///
    /// *Cost*: 1 clear a tile. *Errors*: [`Error::TooLarge`] from 2³¹ elements on, before anything is allocated;
    /// [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, shape: Shape) -> Result<Self> {
        Self::grid(device, shape)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, shape)?;
        made.set_zero()?;
        Ok(made)
    }

    /// A matrix from its elements, row by row.
    ///
    /// *Cost*: 1 upload a tile. *Errors*: [`Error::LengthMismatch`]; [`Error::NonFinite`] with the position of the
    /// first NaN or infinity; [`Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn from_rows(device: &Device, shape: Shape, values: &[f32]) -> Result<Self> {
        Self::grid(device, shape)?;
        check_length("Matrix::from_rows", "values", values.len(), shape)?;
        check_values("Matrix::from_rows", values)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, shape)?;
        made.upload(values)?;
        Ok(made)
    }

    /// A matrix from its elements, row by row, each rounded to 32 bits. *Cost* and *errors*: as
    /// [`from_rows`](Self::from_rows); a value that overflows 32 bits is [`Error::NonFinite`].
    pub fn from_f64(device: &Device, shape: Shape, values: &[f64]) -> Result<Self> {
        Self::grid(device, shape)?;
        check_length("Matrix::from_f64", "values", values.len(), shape)?;
        check_values("Matrix::from_f64", values)?;
        let rounded: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        Self::from_rows(device, shape, &rounded)
    }

    /// Sets every element to zero. *Cost*: 1 clear a tile.
    pub fn set_zero(&mut self) -> Result<()> {
        let _scope = self.device.scope()?;
        self.textures().try_for_each(|t| self.device.gl().clear(t.texture(), [0.0; 4], "Matrix"))
    }

    /// Replaces all elements, row by row. *Cost*: 1 upload a tile. *Errors*: [`Error::LengthMismatch`],
    /// [`Error::NonFinite`].
    pub fn write(&mut self, values: &[f32]) -> Result<()> {
        check_length("Matrix::write", "values", values.len(), self.shape())?;
        check_values("Matrix::write", values)?;
        self.upload(values)
    }

    fn upload(&mut self, values: &[f32]) -> Result<()> {
        let _scope = self.device.scope()?;
        let cols = self.shape().cols;
        for ((i, j), tile) in self.grid.places().zip(self.textures()) {
            let (shape, extent) = (self.grid.tile_shape(i, j), self.grid.extent(i, j));
            let cut;
            let part = if self.rest.is_empty() {
                values
            } else {
                let row = |row: usize| values.get(row * cols..).and_then(|v| v.get(self.grid.cols(j)));
                cut = self.grid.rows(i).filter_map(row).flatten().copied().collect::<Vec<_>>();
                &cut
            };
            let texels =
                if shape.is_empty() { vec![0.0; 4] } else { TileGrid::LAYOUT.texels(shape, extent, part)? };
            self.device.gl().upload(tile.texture(), bytemuck::cast_slice(&texels), "Matrix")?;
        }
        Ok(())
    }

    /// Copies the elements to the host, row by row. *Cost*: 1 readback a tile, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        let _scope = self.device.scope()?;
        let (shape, cols) = (self.shape(), self.shape().cols);
        if shape.is_empty() {
            return Ok(Vec::new());
        }
        let mut values = Vec::new();
        for ((i, j), tile) in self.grid.places().zip(self.textures()) {
            let texels = self.device.gl().read(tile.texture(), "Matrix")?;
            let part =
                TileGrid::LAYOUT.elements(self.grid.tile_shape(i, j), self.grid.extent(i, j), &texels)?;
            if self.rest.is_empty() {
                return Ok(part);
            }
            values.resize(shape.len(), 0.0);
            for (row, from) in self.grid.rows(i).zip(part.chunks(self.grid.cols(j).len().max(1))) {
                if let Some(to) = values.get_mut(row * cols..).and_then(|v| v.get_mut(self.grid.cols(j))) {
                    to.copy_from_slice(from);
                }
            }
        }
        Ok(values)
    }

    /// The nonzero elements on the host, which give a [`BandedMatrix`](crate::BandedMatrix) or a
    /// [`SparseMatrix`](crate::SparseMatrix) their pattern. *Cost*: as [`read`](Self::read). *Errors*:
    /// [`Error::ContextLost`].
    pub fn to_csr(&self) -> Result<Csr> {
        csr_of(self.shape(), &self.read()?)
    }

    /// Copies the elements into a slice, row by row. *Cost*: as [`read`](Self::read). *Errors*:
    /// [`Error::LengthMismatch`].
    pub fn read_into(&self, out: &mut [f32]) -> Result<()> {
        check_length("Matrix::read_into", "out", out.len(), self.shape())?;
        out.copy_from_slice(&self.read()?);
        Ok(())
    }

    /// One element on the host. *Cost*: 1 readback of a texel, which waits for the device. *Errors*:
    /// [`Error::IndexOutOfRange`].
    pub fn element(&self, row: usize, col: usize) -> Result<f32> {
        let Shape { rows, cols } = self.shape();
        for (what, index, bound) in
            [("Matrix::element: row", row, rows), ("Matrix::element: column", col, cols)]
        {
            if index >= bound {
                return Err(Error::IndexOutOfRange { what, index, bound });
            }
        }
        let _scope = self.device.scope()?;
        let (i, j) = (row / self.grid.tile_rows(), col / self.grid.tile_cols());
        let (row, col) = (row % self.grid.tile_rows(), col % self.grid.tile_cols());
        // Both indices lie within the matrix, and so within the tile.
        let Some(tile) = self.textures().nth(i * self.grid.across() + j) else {
            let (place, detail) = ("Matrix::element", "an element within the matrix lies in no tile");
            return Err(Error::Internal { place, detail });
        };
        let at = [col as u32, (row / 4) as u32];
        let texel = self.device.gl().read_region(tile.texture(), at, Extent::new(1, 1), "Matrix")?;
        Ok(texel.get(row % 4).copied().unwrap_or_default())
    }

    /// All texels of all tiles, padding lanes included: for tests of the rule that those are zero. *Cost*: 1 readback
    /// a tile.
    pub fn read_texels(&self) -> Result<Vec<Vec<f32>>> {
        let _scope = self.device.scope()?;
        self.textures().map(|t| self.device.gl().read(t.texture(), "Matrix")).collect()
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.grid.shape()
    }

    /// How the matrix is cut into tiles.
    pub fn tile_grid(&self) -> TileGrid {
        self.grid
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The RGBA32F texture that holds the matrix, for the host to sample or draw: element (i, j) is channel `i % 4` of
    /// texel `(j, i / 4)`. It stays texla's: valid until the matrix drops or an operation in place exchanges it.
    ///
    /// Sample it with a nearest filter. Where OpenGL ES or WebGL has no `OES_texture_float_linear`, a float texture is incomplete
    /// under a linear filter and samples black; a [`Picture`](crate::Picture) can be filtered everywhere.
    ///
    /// *Errors*: [`Error::Unsupported`] when the matrix is tiled; see [`tiles`](Self::tiles).
    pub fn texture(&self) -> Result<glow::Texture> {
        if self.rest.is_empty() {
            return Ok(self.first.texture().hand_out());
        }
        let (shape, tiles) = (self.shape(), self.grid.len());
        let why = format!("the matrix of {shape} lies in {tiles} textures; use Matrix::tiles");
        Err(Error::Unsupported { what: "Matrix::texture".into(), why })
    }

    /// All textures of the matrix, row by row of the [grid](Self::tile_grid).
    pub fn tiles(&self) -> impl Iterator<Item = Tile<'_>> {
        self.textures().zip(self.grid.places()).map(|(texture, (i, j))| Tile {
            texture,
            origin: (self.grid.rows(i).start, self.grid.cols(j).start),
            shape: self.grid.tile_shape(i, j),
        })
    }

    fn textures(&self) -> impl Iterator<Item = &PooledTexture> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// Gives tile `k` another texture of the same extent.
    pub(crate) fn replace_tile(&mut self, k: usize, texture: PooledTexture) {
        match k.checked_sub(1) {
            None => self.first = texture,
            Some(k) => {
                if let Some(tile) = self.rest.get_mut(k) {
                    *tile = texture;
                }
            }
        }
    }
}

fn check_length(op: &'static str, operand: &'static str, found: usize, shape: Shape) -> Result<()> {
    let expected = shape.len();
    if found == expected { Ok(()) } else { Err(Error::LengthMismatch { op, operand, found, expected }) }
}

/// The nonzeros of a dense matrix given row by row.
pub(super) fn csr_of(shape: Shape, values: &[f32]) -> Result<Csr> {
    let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    Ok(Triplets::from_dense(shape, &values)?.to_csr())
}

impl Operand for Matrix {
    /// The first tile; if there are others, using the view as it is will be refused.
    fn view(&self) -> View<'_> {
        let rows = if self.shape().is_empty() { 0 } else { self.grid.rows(0).len() };
        let whole = View::whole(&self.device, self.first.texture());
        View { tail: Tail::columns(rows), tiles: self.grid.len(), ..whole }
    }
}

impl TargetOperand for Matrix {}

impl std::fmt::Debug for Matrix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Matrix({} in {} textures)", self.shape(), self.grid.len())
    }
}
