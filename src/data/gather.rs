//! The gather format: rows padded within slices.
//!
//! A fragment computes the four rows of one texel. Slot `k` of a texel holds the `k`-th coefficient of its four rows
//! (a float texel) and their columns (an integer texel). Sixteen texels, 64 rows, form a slice whose slots lie
//! interleaved and which is as wide as its longest row:
//!
//! ```text
//! slice s:  base(s) ..   k = 0: texels 0 1 2 ... 15 | k = 1: texels 0 1 2 ... 15 | ...
//! ```

use super::coefficients::Scaling;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Format;
use crate::host::Csr;
use crate::host::parallel::Threads;
use crate::kernel::PooledTexture;
use crate::shape::{Extent, fold_extent};

/// Texels in a slice: 64 rows.
pub(crate) const SLICE: usize = 16;

/// A matrix in the gather format.
pub(crate) struct Gather {
    pub values: PooledTexture,
    pub low: Option<PooledTexture>,
    pub columns: PooledTexture,
    /// For each slice: its first slot and its width.
    pub slices: PooledTexture,
    table: Vec<[u32; 4]>,
    slots: usize,
}

impl Gather {
    /// Width of each slice: the longest of its rows.
    fn widths(csr: &Csr) -> Vec<usize> {
        let lengths: Vec<usize> = csr.rows().map(|(cols, _)| cols.len()).collect();
        Self::widths_of(&lengths).collect()
    }

    /// The same where the rows have these lengths.
    fn widths_of(lengths: &[usize]) -> impl Iterator<Item = usize> {
        lengths.chunks(4 * SLICE).map(|rows| rows.iter().copied().max().unwrap_or(0))
    }

    /// Bytes on the device for rows of these lengths: coefficients with their remainders, columns, and the table of slices.
    #[cfg(feature = "script")]
    pub fn bytes(device: &Device, lengths: &[usize]) -> u64 {
        let slots: u64 = Self::widths_of(lengths).map(|width| (width * SLICE) as u64).sum();
        let texture = |texels: u64| match slot_extent(device, texels) {
            Ok(extent) => extent.in_blocks().area().saturating_mul(16),
            // More than a texture holds: making it will say so.
            Err(_) => texels.saturating_mul(16),
        };
        texture(slots).saturating_mul(3).saturating_add(texture(lengths.len().div_ceil(4 * SLICE) as u64))
    }

    /// Coefficients stored for this matrix, padding included.
    pub fn slots(csr: &Csr) -> u64 {
        Self::widths(csr).iter().map(|w| (*w * SLICE * 4) as u64).sum()
    }

    /// Whether no row is too long for the loop of a fragment that adds it up.
    pub fn suits(device: &Device, csr: &Csr) -> bool {
        Self::widths(csr).iter().all(|w| *w <= Self::widest(device))
    }

    fn widest(device: &Device) -> usize {
        device.gl().caps.borrow().loop_rounds as usize
    }

    pub fn new(device: &Device, csr: &Csr, scaling: Scaling) -> Result<Self> {
        let mut table = Vec::new();
        let mut slots = 0u64;
        for width in Self::widths(csr) {
            if width > Self::widest(device) {
                return Err(Error::TooLarge {
                    what: "row of a SparseMatrix in the gather format",
                    requested: width as u64,
                    limit: Self::widest(device) as u64,
                    unit: "nonzeros",
                });
            }
            let base = u32::try_from(slots).map_err(|_| too_large(slots))?;
            table.push([base, width as u32, 0, 0]);
            slots += (width * SLICE) as u64;
        }
        let extent = slot_extent(device, slots)?;
        let slots = extent.area() as usize;
        let _scope = device.scope()?;
        let columns = placed(csr, &table, slots, |col, _| col);
        let columns_texture = device.texture(extent, Format::Rgba32Ui, "SparseMatrix")?;
        device.gl().upload(columns_texture.texture(), &columns, "SparseMatrix")?;
        let slices_extent = slot_extent(device, table.len() as u64)?;
        let slices = device.texture(slices_extent, Format::Rgba32Ui, "SparseMatrix")?;
        let mut words: Vec<u32> = table.iter().flatten().copied().collect();
        words.resize(4 * slices_extent.area() as usize, 0);
        device.gl().upload(slices.texture(), &words, "SparseMatrix")?;
        let (values, low) = upload_values(device, csr, scaling, &table, extent)?;
        Ok(Gather { values, low, columns: columns_texture, slices, table, slots })
    }

    /// Slots that a texel of the result adds up, on average.
    pub fn rounds(&self) -> u64 {
        self.slots as u64 / (self.table.len() * SLICE).max(1) as u64
    }

    /// New coefficients for the same pattern.
    pub fn set_values(&mut self, device: &Device, csr: &Csr, scaling: Scaling) -> Result<()> {
        let extent = self.values.texture().extent();
        debug_assert_eq!(self.slots as u64, extent.area());
        (self.values, self.low) = upload_values(device, csr, scaling, &self.table, extent)?;
        Ok(())
    }
}

fn too_large(slots: u64) -> Error {
    Error::TooLarge { what: "SparseMatrix", requested: slots, limit: u64::from(u32::MAX), unit: "slots" }
}

fn slot_extent(device: &Device, texels: u64) -> Result<Extent> {
    let extent = fold_extent(texels.saturating_mul(4), device.max_texture_size()).map_err(|e| match e {
        Error::TooLarge { limit, .. } => Error::TooLarge {
            what: "SparseMatrix in the gather format",
            requested: texels,
            limit: limit / 4,
            unit: "slots",
        },
        other => other,
    })?;
    Ok(Extent::new(extent.width.max(1), extent.height.max(1)))
}

/// What `of` makes of column and value of every entry, where it belongs in so many slots of four.
fn placed<T: Copy + Default + Send + Sync>(
    csr: &Csr,
    table: &[[u32; 4]],
    slots: usize,
    of: impl Fn(u32, f64) -> T + Sync,
) -> Vec<T> {
    /// Slices that are worth a thread.
    const LEAST: usize = 64;
    let threads = Threads::all();
    let parts = threads.parts(table.len(), LEAST, |part| {
        let mut made = Vec::new();
        for slice in part {
            let width = table.get(slice).map_or(0, |[_, width, ..]| *width as usize);
            let begin = made.len();
            made.resize(begin + 4 * SLICE * width, T::default());
            let list = made.get_mut(begin..).unwrap_or_default();
            for at in 0..4 * SLICE {
                let (cols, values) = csr.row_slices(4 * SLICE * slice + at);
                let places = list.iter_mut().skip(at).step_by(4 * SLICE);
                places.zip(cols.iter().zip(values)).for_each(|(place, (c, v))| *place = of(*c, *v));
            }
        }
        made
    });
    let mut all = threads.concat(parts);
    all.resize(4 * slots, T::default());
    all
}

fn upload_values(
    device: &Device,
    csr: &Csr,
    scaling: Scaling,
    table: &[[u32; 4]],
    extent: Extent,
) -> Result<(PooledTexture, Option<PooledTexture>)> {
    let slots = extent.area() as usize;
    let high = placed(csr, table, slots, |_, value| scaling.split(value).0);
    let low = match csr.values().iter().all(|value| scaling.split(*value).1 == 0.0) {
        true => Vec::new(),
        false => placed(csr, table, slots, |_, value| scaling.split(value).1),
    };
    let upload = |data: &[f32]| -> Result<PooledTexture> {
        let texture = device.texture(extent, Format::Rgba32F, "SparseMatrix")?;
        device.gl().upload(texture.texture(), bytemuck::cast_slice(data), "SparseMatrix")?;
        Ok(texture)
    };
    let values = upload(&high)?;
    let low = if low.is_empty() { None } else { Some(upload(&low)?) };
    Ok((values, low))
}
