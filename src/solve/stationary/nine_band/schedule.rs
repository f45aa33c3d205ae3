//! The rungs of the ladder as values.

use crate::device::Device;
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// The longest rows that the arithmetic with `floor` gets right: unknowns' numbers and halves are floats, also after a
/// division that is off by an ulp.
pub(super) const LONGEST_WRAPPED: usize = 2048;

/// Rows of a packed fragment that there are shaders for.
pub(super) const PACKED_ROWS: [u32; 4] = [1, 2, 4, 8];

/// Texels of bands that a packed fragment has for each of its rows.
pub(super) const BANDS: usize = 8;

/// Texels in a row of what a packed fragment has `parts` of for each of its rows, four fragments together.
pub(super) const fn packed_width(side: usize, rows: u32, parts: usize) -> usize {
    side.div_ceil(16) * 4 * rows as usize * parts
}

/// How many systems a texel serves \[Goeddeke05\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JacobiLayout {
    /// One: an unknown a texel (R32F), its bands in the channels of three textures.
    Red,
    /// Four of the same size at once: the same unknown of each (RGBA32F), every band a texture.
    Rgba,
}

/// The tutorial's improvements, each with those before it \[Goeddeke05\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JacobiStep {
    /// One shader for all unknowns, which finds the neighbours by arithmetic with `floor`, fetches texels by their
    /// numbers, as `texRECT` did, and divides.
    OneShader,
    /// The inverse of the diagonal is computed beforehand.
    Inverse,
    /// A rectangle for the interior and a line for each end of the rows, without that arithmetic.
    ThreePass,
    /// Where the neighbours lie is computed in the vertex stage and interpolated: as texture coordinates, which are
    /// fetched from without a conversion.
    Interpolated,
}

/// How [`NineBandJacobi`](super::NineBandJacobi) computes its sweeps. All compute the same, but for the packed ones, which
/// refuse bands that are not zero at the ends of grid rows.
///
/// ```
/// use texla::solve::{JacobiLayout, JacobiSchedule, JacobiStep};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let three = JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::ThreePass);
/// assert_eq!((three.systems(), three.draws()), (4, 3));
/// let best = JacobiSchedule::best(dev, 1000);
/// assert_eq!((best.systems(), best.draws(), best.fits(dev, 1000)), (1, 1, true));
/// assert!(!three.fits(dev, 1 << 20)); // wider than any texture
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JacobiSchedule {
    /// On the host: one loop over the unknowns.
    HostLoop,
    /// On the host: a loop for each band, as a call to BLAS would be.
    HostBands,
    /// As the tutorial has it.
    Tutorial(JacobiLayout, JacobiStep),
    /// One system, four unknowns of a row in a texel; a fragment computes this many rows (1, 2, 4 or 8), each into a
    /// target of its own. All that it needs of the matrix lies side by side in one texture, divided by the diagonal.
    Packed {
        /// Rows of a fragment.
        rows: u32,
    },
}

impl JacobiSchedule {
    /// All rungs, from the host's to texla's own; each layout of the tutorial by itself.
    pub const LADDER: [JacobiSchedule; 14] = {
        use JacobiLayout::{Red, Rgba};
        use JacobiSchedule::{HostBands, HostLoop, Packed, Tutorial};
        use JacobiStep::{Interpolated, Inverse, OneShader, ThreePass};
        [
            HostLoop,
            HostBands,
            Tutorial(Red, OneShader),
            Tutorial(Red, Inverse),
            Tutorial(Red, ThreePass),
            Tutorial(Red, Interpolated),
            Tutorial(Rgba, OneShader),
            Tutorial(Rgba, Inverse),
            Tutorial(Rgba, ThreePass),
            Tutorial(Rgba, Interpolated),
            Packed { rows: 1 },
            Packed { rows: 2 },
            Packed { rows: 4 },
            Packed { rows: 8 },
        ]
    };

    /// The schedule that was within a quarter of the fastest wherever it was measured (see `benches/JOURNAL.md`), from
    /// 16384 unknowns on: four rows a fragment, or as many as the device has room for. A rule, not a measurement; on a
    /// device with a [profile](Device::set_profile) as many as that predicts to take least.
    pub fn best(device: &Device, side: usize) -> Self {
        // In the order of the rule, which never comes to the last.
        let packed = || {
            let all = [4, 2, 1, 8].map(|rows| (JacobiSchedule::Packed { rows }, packed_work(side, rows)));
            all.into_iter().filter(|(schedule, _)| schedule.fits(device, side))
        };
        let rule = || packed().next().map(|(schedule, _)| schedule);
        device.quickest(packed).or_else(rule).unwrap_or(JacobiSchedule::Packed { rows: 1 })
    }

    /// Whether there is such a schedule, and the device's textures and draw buffers are enough for rows of `side`
    /// unknowns.
    pub fn fits(self, device: &Device, side: usize) -> bool {
        let caps = device.gl().caps.borrow();
        let limit = caps.max_texture_size as usize;
        match self {
            JacobiSchedule::HostLoop | JacobiSchedule::HostBands => true,
            JacobiSchedule::Tutorial(_, JacobiStep::OneShader | JacobiStep::Inverse) => {
                side <= limit.min(LONGEST_WRAPPED)
            }
            JacobiSchedule::Tutorial(..) => side <= limit,
            JacobiSchedule::Packed { rows } => {
                PACKED_ROWS.contains(&rows)
                    && rows <= caps.max_draw_buffers
                    && packed_width(side, rows, BANDS) <= limit
            }
        }
    }

    /// Systems that are swept at once.
    pub fn systems(self) -> usize {
        match self {
            JacobiSchedule::Tutorial(JacobiLayout::Rgba, _) => 4,
            _ => 1,
        }
    }

    /// Draws of a sweep; the three passes are less where rows are shorter than three.
    pub fn draws(self) -> usize {
        match self {
            JacobiSchedule::HostLoop | JacobiSchedule::HostBands => 0,
            JacobiSchedule::Tutorial(_, JacobiStep::ThreePass | JacobiStep::Interpolated) => 3,
            _ => 1,
        }
    }
}

/// What a sweep of [`JacobiSchedule::Packed`] comes to: three texels of each line that a fragment reads, eight bands and the
/// right-hand side for each that it writes.
fn packed_work(side: usize, rows: u32) -> Workload {
    let across = |n: usize, by: u32| u32::try_from(n.div_ceil(by as usize)).unwrap_or(u32::MAX);
    let extent = Extent::new(across(side, 4), across(side, rows));
    let (fragments, rows) = (extent.area() as f64, f64::from(rows));
    let fetches = Fetches::default().with_adjacent((3.0 * (rows + 2.0) + 9.0 * rows) * fragments);
    let pass = Workload::pass(extent, rows as usize, fetches);
    pass.with_multiply_adds(4.0 * 10.0 * rows * fragments)
}
