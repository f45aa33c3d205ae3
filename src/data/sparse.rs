//! A sparse matrix, as points or in a gather format.

use std::cell::OnceCell;

use super::banded::check_sides;
use super::coefficients::{Rest, Scaling};
use super::gather::Gather;
use super::matrix::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Attribute;
use crate::host::{Csr, Triplets};
use crate::kernel::Points;
use crate::profile::{Fetches, Workload};
use crate::shape::{Shape, fold_extent, max_folded_len};

/// How a [`SparseMatrix`] is kept on the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SparseFormat {
    /// [`Gather`](SparseFormat::Gather), unless padding makes it store more than [`POINTS_PAY_FROM`] slots for each
    /// nonzero, or more than a texture holds, or a row is too long for it, and the device blends floats: then
    /// [`Points`](SparseFormat::Points). Where either serves and the device has a [profile](Device::set_profile), the one
    /// whose product is predicted to take less.
    #[default]
    Auto,
    /// One vertex for four nonzeros of a row, scattered as points with additive blending \[Krueger05\] 44.2.3.
    Points,
    /// Rows padded within slices of 64, gathered by each texel. For rows of at most
    /// [`loop_rounds`](crate::gl::Capabilities::loop_rounds) nonzeros; residuals that are certified need it too.
    Gather,
}

/// Slots for each nonzero from which points are chosen: a gathered slot costs about a sixth of a scattered nonzero on
/// the slowest device measured (81 against 14 million a second).
pub const POINTS_PAY_FROM: f64 = 6.0;

/// A matrix with few nonzeros in no particular place.
///
/// Coefficients are given in 64 bits and kept as pairs of 32-bit floats where 32 bits do not hold them: products use
/// the rounded part, certified residuals both; what those two leave of 64 bits is added to residuals of unknowns in pairs.
///
/// ```
/// use texla::{Shape, SparseFormat, SparseMatrix, Vector, host::Triplets, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let t = Triplets::from_entries(Shape::new(2, 3), [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)])?;
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Auto)?;
/// let x = Vector::from_slice(dev, &[1.0, 10.0, 100.0])?;
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [201.0, 30.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct SparseMatrix {
    device: Device,
    csr: Csr,
    scaling: Scaling,
    rest: Rest<SparseMatrix>,
    format: SparseFormat,
    points: [OnceCell<Points>; 2],
    gathers: [OnceCell<Gather>; 2],
    /// What a product comes to, by the pattern.
    work: OnceCell<Option<Workload>>,
}

shown!(SparseMatrix, |a| "SparseMatrix({}, {} nonzeros, {:?})", a.csr.shape(), a.csr.nnz(), a.format);

impl SparseMatrix {
    /// A sparse matrix from its entries.
    ///
    /// *Cost*: points: 3 uploads, 36 bytes for four nonzeros of a row; gather: 3 uploads, 8 bytes a slot (a fourth,
    /// with 4 more bytes a slot, where 32 bits do not hold the coefficients). *Errors*: [`Error::NonFinite`] with the
    /// number of the first entry that does not fit 32 bits; [`Error::TooLarge`], [`Error::OutOfMemory`];
    /// [`Error::Unsupported`] for points on a device that does not blend floats.
    pub fn from_triplets(device: &Device, triplets: &Triplets, format: SparseFormat) -> Result<Self> {
        check_sides(device, "SparseMatrix", triplets.shape())?;
        Self::from_csr(device, triplets.to_csr(), format)
    }

    /// As [`from_triplets`](Self::from_triplets), from compressed rows: the same cost and errors.
    pub fn from_csr(device: &Device, csr: Csr, format: SparseFormat) -> Result<Self> {
        Self::made(device, csr, format, false)
    }

    /// The same, perhaps without the remainders of coefficients, which take a third of the upload and of the memory.
    pub(super) fn made(device: &Device, csr: Csr, format: SparseFormat, rounds: bool) -> Result<Self> {
        check_sides(device, "SparseMatrix", csr.shape())?;
        let scaling = Scaling { rounds, ..Scaling::new("SparseMatrix", csr.values())? };
        let blends = device.gl().caps.borrow().float_blend;
        let format = match format {
            SparseFormat::Auto => Self::suitable(device, &csr),
            SparseFormat::Points if !blends => {
                let why = "the device does not blend 32-bit floats; use SparseFormat::Gather".into();
                return Err(Error::Unsupported { what: "SparseFormat::Points".into(), why });
            }
            chosen => chosen,
        };
        let made = SparseMatrix {
            device: device.clone(),
            csr,
            scaling,
            rest: Rest::unknown(),
            format,
            points: Default::default(),
            gathers: Default::default(),
            work: OnceCell::new(),
        };
        match made.format {
            SparseFormat::Points => made.points(false).map(|_| ())?,
            _ => made.gather(false).map(|_| ())?,
        }
        Ok(made)
    }

    /// What [`SparseFormat::Auto`] chooses.
    pub(super) fn suitable(device: &Device, csr: &Csr) -> SparseFormat {
        let slots = Gather::slots(csr);
        let padded = slots as f64 > POINTS_PAY_FROM * csr.nnz() as f64;
        let fits = slots <= max_folded_len(device.max_texture_size()) && Gather::suits(device, csr);
        let blends = device.gl().caps.borrow().float_blend;
        let predicted = device.quickest(|| {
            let formats = [SparseFormat::Gather, SparseFormat::Points].into_iter().filter(|_| blends && fits);
            formats.filter_map(|format| Some((format, Self::count(device, csr, format)?)))
        });
        let scatter = blends && (padded || !fits);
        predicted.unwrap_or(if scatter { SparseFormat::Points } else { SparseFormat::Gather })
    }

    /// What a product with a matrix of these entries comes to in a format. A column is fetched as scattered where that of the
    /// next fragment or vertex lies far from it. `None` past the texture size.
    pub(super) fn count(device: &Device, csr: &Csr, format: SparseFormat) -> Option<Workload> {
        let y = fold_extent(csr.shape().rows as u64, device.max_texture_size()).ok()?;
        let none = Fetches::default();
        if format == SparseFormat::Points {
            let points: usize = csr.rows().map(|(cols, _)| cols.len().div_ceil(4)).sum();
            let far = far(csr, 1);
            let near = 4.0 * points as f64 - far;
            // A clear, then points into the same target.
            let draws = points.div_ceil(device.gl().caps.borrow().points_a_draw.max(1) as usize);
            let fetches = none.with_adjacent(near).with_scattered(far);
            let pass = Workload::pass(y, 1, none).with_draws(draws as f64).with_points(points as f64);
            return Some(pass.with_fetches(fetches).with_multiply_adds(4.0 * points as f64));
        }
        // Of the next texel: the same lane four rows on. Padding reads the first column.
        let (slots, far) = (Gather::slots(csr) as f64, far(csr, 4));
        // And the slice of a texel.
        let fetches = none.with_adjacent(y.area() as f64).with_indexed(slots - far).with_scattered(far);
        Some(Workload::pass(y, 1, fetches).with_multiply_adds(slots))
    }

    /// Bytes on the device of `A` and of `Aᵀ`, which is made when it is first asked for, in the format that
    /// [`SparseFormat::Auto`] chooses. No more than that is taken: coefficients are counted with remainders, which few have.
    #[cfg(feature = "script")]
    pub(crate) fn bytes(device: &Device, csr: &Csr) -> [u64; 2] {
        let rows: Vec<usize> = csr.rows().map(|(cols, _)| cols.len()).collect();
        let mut cols = vec![0; csr.shape().cols];
        for col in csr.cols() {
            if let Some(count) = cols.get_mut(*col as usize) {
                *count += 1;
            }
        }
        let format = Self::suitable(device, csr);
        [rows, cols].map(|lengths| match format {
            SparseFormat::Points => lengths.iter().map(|n| n.div_ceil(4) as u64 * POINT_BYTES).sum(),
            _ => Gather::bytes(device, &lengths),
        })
    }

    /// Replaces the coefficients and keeps the pattern: `values` in the order of [`pattern`](Self::pattern).
    ///
    /// *Cost*: the uploads of coefficients alone; indices stay. *Errors*: [`Error::LengthMismatch`],
    /// [`Error::NonFinite`]; the matrix is then unchanged.
    pub fn set_values(&mut self, values: &[f64]) -> Result<()> {
        let scaling = Scaling::new("SparseMatrix::set_values", values)?;
        let csr = self.csr.with_values(values)?;
        let _scope = self.device.scope()?;
        for (points, transposed) in self.points.iter_mut().zip([false, true]) {
            if let Some(points) = points.get() {
                let side = if transposed { &csr.transposed() } else { &csr };
                points.fill(VALUES, bytemuck::cast_slice(&point_values(side, scaling)))?;
            }
        }
        for (gather, transposed) in self.gathers.iter_mut().zip([false, true]) {
            if let Some(gather) = gather.get_mut() {
                let side = if transposed { &csr.transposed() } else { &csr };
                gather.set_values(&self.device, side, scaling)?;
            }
        }
        (self.csr, self.scaling) = (csr, scaling);
        self.rest = Rest::unknown();
        Ok(())
    }

    /// The points of `A` or of `Aᵀ`, made on first use.
    pub(crate) fn points(&self, transposed: bool) -> Result<&Points> {
        made_once(&self.points, transposed, || {
            let csr = if transposed { &self.csr.transposed() } else { &self.csr };
            let (mut rows, mut cols) = (Vec::new(), Vec::new());
            for ((columns, _), row) in csr.rows().zip(0u32..) {
                for four in columns.chunks(4) {
                    rows.push(row);
                    let last = four.last().copied().unwrap_or_default();
                    cols.extend(four.iter().copied().chain(std::iter::repeat(last)).take(4));
                }
            }
            let values = point_values(csr, self.scaling);
            let words: [&[u32]; 3] = [bytemuck::cast_slice(&values), &cols, &rows];
            let attributes = [Attribute::Vec4, Attribute::UVec4, Attribute::UInt];
            Points::with_attributes(&self.device, rows.len(), &attributes, &words)
        })
    }

    /// The gather format of `A` or of `Aᵀ`, made on first use.
    pub(crate) fn gather(&self, transposed: bool) -> Result<&Gather> {
        made_once(&self.gathers, transposed, || {
            let csr = if transposed { &self.csr.transposed() } else { &self.csr };
            Gather::new(&self.device, csr, self.scaling)
        })
    }

    /// The same matrix in 4x1 columns, as products see it: rounded to 32 bits. *Cost* and *errors*: as
    /// [`Matrix::from_csr`], from the pattern that the host keeps.
    pub fn to_matrix(&self) -> Result<Matrix> {
        Matrix::from_csr(&self.device, &self.csr)
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.csr.shape()
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.csr.nnz()
    }

    /// The format in use: never [`SparseFormat::Auto`].
    pub fn format(&self) -> SparseFormat {
        self.format
    }

    /// The entries as given: the pattern whose order [`set_values`](Self::set_values) follows.
    pub fn pattern(&self) -> &Csr {
        &self.csr
    }

    /// The first pair of places that differ from the transposed matrix, looked for once.
    pub(crate) fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        self.csr.asymmetry()
    }

    /// What a product comes to, counted once: rows are gone through for that.
    pub(crate) fn work(&self) -> Option<Workload> {
        *self.work.get_or_init(|| Self::count(&self.device, &self.csr, self.format))
    }

    /// `floor(log2 max |a_ij|)`; 0 for a matrix of zeros.
    pub fn exponent(&self) -> i32 {
        self.scaling.exponent
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What pairs leave of the coefficients.
    pub(crate) fn rest(&self) -> Result<Option<&SparseMatrix>> {
        let form = |rest| Self::from_csr(&self.device, rest, SparseFormat::Gather);
        self.rest.get(|| &self.csr, self.scaling, form)
    }

    pub(crate) fn scaling(&self) -> Scaling {
        self.scaling
    }
}

/// Entries whose column is far from that of the entry in the same place so many rows on: more than sixteen texels.
fn far(csr: &Csr, rows_on: usize) -> f64 {
    let rows: Vec<&[u32]> = csr.rows().map(|(cols, _)| cols).collect();
    let entries =
        rows.iter().zip(rows.iter().skip(rows_on)).flat_map(|(here, next)| here.iter().zip(next.iter()));
    entries.filter(|(here, next)| here.abs_diff(**next) > 64).count() as f64
}

/// Bytes of a vertex: four coefficients, four columns, the row.
#[cfg(feature = "script")]
const POINT_BYTES: u64 = 36;

/// The attribute that holds the coefficients of points.
const VALUES: usize = 0;

/// Four coefficients for each vertex, zero where a row has no more.
fn point_values(csr: &Csr, scaling: Scaling) -> Vec<f32> {
    let mut out = Vec::new();
    for (_, values) in csr.rows() {
        for four in values.chunks(4) {
            out.extend(four.iter().map(|v| scaling.split(*v).0).chain(std::iter::repeat(0.0)).take(4));
        }
    }
    out
}

/// The content of a cell of the pair (for `A`, for `Aᵀ`), made on first use.
fn made_once<T>(cells: &[OnceCell<T>; 2], transposed: bool, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    let [plain, other] = cells;
    let cell = if transposed { other } else { plain };
    match cell.get() {
        Some(made) => Ok(made),
        None => {
            let made = make()?;
            Ok(cell.get_or_init(|| made))
        }
    }
}
