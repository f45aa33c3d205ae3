//! A banded matrix, kept as its diagonals.

use std::cell::OnceCell;

use super::coefficients::{Rest, Scaling, is_power_of_two};
use super::storage::folded_texels;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Format;
use crate::host::parallel::Threads;
use crate::host::problems::poisson_2d_rows;
use crate::host::{Csr, Diagonal, Triplets};
use crate::kernel::PooledTexture;
use crate::profile::{Fetches, Workload};
use crate::shape::{Extent, Shape, fold_extent};

/// A matrix whose nonzeros lie on a few diagonals, each kept as a folded vector with zero padding
/// \[Krueger05\] 44.2.3: entry `i` of the diagonal with offset `o` is `A[i, i + o]`. A diagonal whose coefficients are
/// all equal is kept as that number.
///
/// Coefficients are given in 64 bits and kept as pairs of 32-bit floats where 32 bits do not hold them: products use
/// the rounded part, certified residuals both; what those two leave of 64 bits is added to residuals of unknowns in pairs.
///
/// ```
/// use texla::{BandedMatrix, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 3, 2)?;
/// assert_eq!(a.offsets(), [-3, -1, 0, 1, 3]);
/// let x = Vector::filled(dev, 6, 1.0)?;
/// let mut y = Vector::zeros(dev, 6)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [2.0, 1.0, 2.0, 2.0, 1.0, 2.0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BandedMatrix {
    device: Device,
    shape: Shape,
    /// Of a [grid](Self::poisson_2d) made when they are first asked for.
    csr: OnceCell<Csr>,
    grid: [usize; 2],
    offsets: Vec<i64>,
    pub(crate) bands: Vec<Band>,
    pub(crate) scaling: Scaling,
    rest: Rest<BandedMatrix>,
}

shown!(BandedMatrix, |a| "BandedMatrix({}, {} diagonals)", a.shape, a.offsets.len());

/// One diagonal, in double-float: rounded coefficients, and what rounding left.
pub(crate) enum Band {
    /// A folded vector \[Krueger05\] 44.2.3.
    /// Products with `powers`, of two, and zeros have no remainder.
    Stored { high: PooledTexture, low: Option<PooledTexture>, powers: bool },
    /// The same coefficient all along: a number in place of a texture, and a fetch less.
    Constant { high: f32, low: f32 },
}

impl Band {
    /// Whether all coefficients are powers of two or zero.
    pub(crate) fn is_of_powers(&self) -> bool {
        match self {
            Band::Stored { powers, .. } => *powers,
            Band::Constant { high, low } => *low == 0.0 && is_power_of_two(f64::from(*high)),
        }
    }
}

impl BandedMatrix {
    /// A banded matrix from its entries; every diagonal that holds one is stored.
    ///
    /// *Cost*: one upload for each diagonal (two where 32 bits do not hold the coefficients), `4 rows` bytes each.
    /// *Errors*: [`Error::NonFinite`] with the number of the first entry that does not fit 32 bits;
    /// [`Error::TooLarge`] past the texture area, [`Error::OutOfMemory`].
    pub fn from_triplets(device: &Device, triplets: &Triplets) -> Result<Self> {
        check_sides(device, "BandedMatrix", triplets.shape())?;
        Self::from_csr(device, triplets.to_csr())
    }

    /// As [`from_triplets`](Self::from_triplets), from compressed rows: the same cost and errors.
    pub fn from_csr(device: &Device, csr: Csr) -> Result<Self> {
        check_sides(device, "BandedMatrix", csr.shape())?;
        let scaling = Scaling::new("BandedMatrix", csr.values())?;
        let mut made = BandedMatrix {
            device: device.clone(),
            shape: csr.shape(),
            csr: OnceCell::from(csr),
            grid: [0; 2],
            offsets: Vec::new(),
            bands: Vec::new(),
            scaling,
            rest: Rest::unknown(),
        };
        made.upload()?;
        Ok(made)
    }

    /// The five-point finite-difference Laplacian on an `nx` by `ny` grid with Dirichlet sides: 4 on the diagonal, -1
    /// for each neighbour. *Cost*: two uploads of a vector each; the [pattern](Self::pattern) is made when it is first asked for.
    /// *Errors*: as of [`from_csr`](Self::from_csr).
    pub fn poisson_2d(device: &Device, nx: usize, ny: usize) -> Result<Self> {
        let cells = nx.saturating_mul(ny);
        let shape = Shape::new(cells, cells);
        check_sides(device, "BandedMatrix", shape)?;
        if nx < 2 || ny < 2 {
            // Fewer diagonals.
            return Self::from_csr(device, poisson_2d_rows(nx, ny));
        }
        let scaling = Scaling::new("BandedMatrix", &[4.0, -1.0])?;
        let constant = |value: f64| {
            let (high, low) = scaling.split(value);
            Band::Constant { high, low }
        };
        let (minus, _) = scaling.split(-1.0);
        let beside = |is_last: usize| {
            let entry = |i: usize| if (i + is_last).is_multiple_of(nx) { 0.0 } else { minus };
            let high = upload_folded(device, &Threads::all().made(cells, entry), "BandedMatrix")?;
            Ok::<_, Error>(Band::Stored { high, low: None, powers: true })
        };
        let _scope = device.scope()?;
        let width = nx as i64;
        Ok(BandedMatrix {
            device: device.clone(),
            shape,
            csr: OnceCell::new(),
            grid: [nx, ny],
            offsets: vec![-width, -1, 0, 1, width],
            bands: vec![constant(-1.0), beside(0)?, constant(4.0), beside(1)?, constant(-1.0)],
            scaling,
            rest: Rest::none(),
        })
    }

    fn csr(&self) -> &Csr {
        let [nx, ny] = self.grid;
        self.csr.get_or_init(|| poisson_2d_rows(nx, ny))
    }

    /// Replaces the coefficients and keeps the pattern: `values` in the order of [`pattern`](Self::pattern).
    ///
    /// *Cost*: as creation. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`]; the matrix is then unchanged.
    pub fn set_values(&mut self, values: &[f64]) -> Result<()> {
        let scaling = Scaling::new("BandedMatrix::set_values", values)?;
        let csr = OnceCell::from(self.csr().with_values(values)?);
        let (old_csr, old_scaling) =
            (std::mem::replace(&mut self.csr, csr), std::mem::replace(&mut self.scaling, scaling));
        let kept = self.upload();
        if kept.is_err() {
            (self.csr, self.scaling) = (old_csr, old_scaling);
        } else {
            self.rest = Rest::unknown();
        }
        kept
    }

    /// What a product comes to with a matrix of diagonals at these offsets, ascending, that are constant or stored. A texel of
    /// `x` that several diagonals of a pass need is fetched once, that under the fragment as its own; of a constant diagonal
    /// nothing is. `None` past the texture size.
    pub(crate) fn count(device: &Device, shape: Shape, diagonals: &[(i64, bool)]) -> Option<Workload> {
        let extent = |side| fold_extent(side as u64, device.max_texture_size()).ok();
        let (y, square) = (extent(shape.rows)?, extent(shape.rows) == extent(shape.cols));
        let texels = y.area() as f64;
        let pass = |(k, diagonals): (usize, &[(i64, bool)])| {
            let offsets: Vec<i64> = diagonals.iter().map(|(offset, _)| *offset).collect();
            let shifts = texel_shifts(&offsets);
            let here = usize::from(square && shifts.contains(&0));
            let constant = diagonals.iter().filter(|(_, constant)| *constant).count();
            // And the sum so far.
            let own = here + diagonals.len() - constant + usize::from(k > 0);
            let fetches = Fetches::default()
                .with_own(own as f64 * texels)
                .with_shifted((shifts.len() - here) as f64 * texels);
            let pass = Workload::pass(y, 1, fetches).cut(constant > 0);
            pass.with_multiply_adds(4.0 * diagonals.len() as f64 * texels)
        };
        // A matrix without entries takes a pass too.
        let none: &[(i64, bool)] = &[];
        let empty = diagonals.is_empty().then_some(none);
        Some(diagonals.chunks(bands_a_pass(device)).chain(empty).enumerate().map(pass).sum())
    }

    /// What a product comes to.
    pub(crate) fn work(&self) -> Option<Workload> {
        let constant = self.bands.iter().map(|band| matches!(band, Band::Constant { .. }));
        let diagonals: Vec<_> = self.offsets.iter().copied().zip(constant).collect();
        Self::count(&self.device, self.shape(), &diagonals)
    }

    /// Bytes on the device of so many diagonals with their remainders, none of which is constant.
    #[cfg(feature = "script")]
    pub(crate) fn bytes(device: &Device, rows: usize, bands: usize) -> u64 {
        let band = match fold_extent(rows as u64, device.max_texture_size()) {
            Ok(extent) => extent.in_blocks().area().saturating_mul(16),
            // More than a vector of the device: making it will say so.
            Err(_) => (rows as u64).saturating_mul(4),
        };
        band.saturating_mul(2).saturating_mul(bands as u64)
    }

    fn upload(&mut self) -> Result<()> {
        let _scope = self.device.scope()?;
        let found = self.csr().diagonals(usize::MAX).unwrap_or_default();
        let band = |diagonal: &Diagonal| match diagonal.constant(self.shape()) {
            Some(value) => {
                let (high, low) = self.scaling.split(value);
                Ok(Band::Constant { high, low })
            }
            None => self.stored(diagonal.offset),
        };
        self.bands = found.iter().map(band).collect::<Result<_>>()?;
        self.offsets = found.iter().map(|diagonal| diagonal.offset).collect();
        Ok(())
    }

    /// A diagonal whose coefficients are stored.
    fn stored(&self, offset: i64) -> Result<Band> {
        let (csr, scaling) = (self.csr(), self.scaling);
        let pair = |i: usize| {
            let (cols, values) = csr.row_slices(i);
            let col = u32::try_from(i as i64 + offset).ok()?;
            let value = values.get(cols.binary_search(&col).ok()?)?;
            Some(scaling.split(*value))
        };
        let threads = Threads::all();
        let mut list = vec![0.0f32; self.shape().rows];
        // Whether any has a remainder, and whether all are powers of two.
        let blocks = threads.blocks(&mut list, |begin, block| {
            (begin..).zip(block).fold((false, true), |(rest, powers), (i, slot)| {
                let (high, low) = pair(i).unwrap_or_default();
                *slot = high;
                (rest || low != 0.0, powers && is_power_of_two(f64::from(high)))
            })
        });
        let (has_rest, powers) = blocks.into_iter().fold((false, true), |a, b| (a.0 || b.0, a.1 && b.1));
        let high = self.texture(&list)?;
        if !has_rest {
            return Ok(Band::Stored { high, low: None, powers });
        }
        threads.blocks(&mut list, |begin, block| {
            (begin..).zip(block).for_each(|(i, slot)| *slot = pair(i).map_or(0.0, |(_, low)| low));
        });
        Ok(Band::Stored { high, low: Some(self.texture(&list)?), powers: false })
    }

    fn texture(&self, values: &[f32]) -> Result<PooledTexture> {
        upload_folded(&self.device, values, "BandedMatrix")
    }

    /// What pairs leave of the coefficients.
    pub(crate) fn rest(&self) -> Result<Option<&BandedMatrix>> {
        self.rest.get(|| self.csr(), self.scaling, |rest| Self::from_csr(&self.device, rest))
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Offsets of the stored diagonals in ascending order: column minus row.
    pub fn offsets(&self) -> &[i64] {
        &self.offsets
    }

    /// The entries as given: the pattern whose order [`set_values`](Self::set_values) follows.
    pub fn pattern(&self) -> &Csr {
        self.csr()
    }

    /// The first pair of places that differ from the transposed matrix, looked for once.
    pub(crate) fn asymmetry(&self) -> Option<(usize, usize, f64, f64)> {
        // That of a grid has none.
        self.csr.get().and_then(Csr::asymmetry)
    }

    /// `floor(log2 max |a_ij|)`; 0 for a matrix of zeros.
    pub fn exponent(&self) -> i32 {
        self.scaling.exponent
    }

    /// The device the matrix lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

/// Textures that a pass of a product reads besides diagonals: x, z, and a partial sum.
pub(crate) const BESIDE_BANDS: usize = 3;

/// Diagonals that a pass of a product takes.
pub(crate) fn bands_a_pass(device: &Device) -> usize {
    let units = device.gl().caps.borrow().texture_units as usize;
    units.saturating_sub(BESIDE_BANDS).clamp(1, 12)
}

/// How many texels on diagonals at these offsets read `x`, ascending, each once.
pub(crate) fn texel_shifts(offsets: &[i64]) -> Vec<i32> {
    let texels = offsets.iter().flat_map(|o| [o.div_euclid(4), (o + 3).div_euclid(4)]);
    let mut shifts: Vec<i32> = texels.map(|q| q as i32).collect();
    shifts.sort_unstable();
    shifts.dedup();
    shifts
}

/// Refuses sides that no vector could have, before anything is allocated.
pub(crate) fn check_sides(device: &Device, what: &'static str, shape: Shape) -> Result<()> {
    for side in [shape.rows, shape.cols] {
        fold_extent(side as u64, device.max_texture_size()).map_err(|e| match e {
            Error::TooLarge { requested, limit, .. } => {
                Error::TooLarge { what, requested, limit, unit: "rows or columns" }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// A folded vector that is a part of a matrix.
pub(crate) fn upload_folded(device: &Device, values: &[f32], what: &'static str) -> Result<PooledTexture> {
    let extent = fold_extent(values.len() as u64, device.max_texture_size())?;
    let extent = Extent::new(extent.width.max(1), extent.height.max(1));
    let texels = folded_texels(values, extent)?;
    let texture = device.texture(extent, Format::Rgba32F, what)?;
    device.gl().upload(texture.texture(), bytemuck::cast_slice(&texels), what)?;
    Ok(texture)
}
