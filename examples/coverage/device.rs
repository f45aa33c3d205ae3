//! The map on the device: by scattering discs, and by gathering from all towers in every cell.

use texla::kernel::{Accum, Bodies, Domain, Kernel, NoParams, Points, SplatKernel};
use texla::ops::{ReducePlan, Windows};
use texla::{Device, Plane, Result, Scalar, Vector, ops};

use crate::grid::Grid;
use crate::support::bytes_of;

texla::params! {
    struct Part { first: i32, end: i32 }
}

texla::params! {
    struct Bound { bound: f32 }
}

texla::params! {
    struct Mark { mark: f32 }
}

texla::params! {
    struct Paint { strongest: f32 }
}

/// Evaluations in a draw, so that none takes long.
const MOST: usize = 1 << 25;
/// Towers in a loop of the shader: llvmpipe leaves one after 65535 rounds, without a word.
const MOST_ROUNDS: usize = 1 << 14;

pub struct Kernels {
    scatter: SplatKernel<NoParams>,
    gather: Kernel<Part>,
    above: Kernel<Bound>,
    mark: SplatKernel<Mark>,
    paint: Kernel<Paint>,
}

impl Kernels {
    pub fn new(device: &Device) -> Result<Self> {
        let with_signal = |body: &str| format!("{}{body}", include_str!("signal.glsl"));
        let scatter = with_signal(include_str!("scatter.frag"));
        let gather = with_signal(include_str!("gather.frag"));
        let scatter = Bodies { vertex: include_str!("place.glsl"), fragment: &scatter };
        let mark = Bodies { vertex: include_str!("mark_place.glsl"), fragment: include_str!("mark.frag") };
        let paint = include_str!("paint.frag");
        Ok(Kernels {
            scatter: SplatKernel::new(device, "coverage/scatter", [], 1, scatter)?,
            gather: Kernel::new(device, "coverage/gather", ["towers"], &gather)?,
            above: Kernel::new(device, "coverage/above", ["map"], include_str!("above.frag"))?,
            mark: SplatKernel::new(device, "coverage/mark", [], 1, mark)?,
            paint: Kernel::new(device, "coverage/paint", ["map", "marks"], paint)?,
        })
    }
}

/// Towers on the device: a vertex each, and a texel each.
pub struct Towers {
    points: Points,
    texels: Vector,
    count: usize,
    grid: [usize; 2],
}

impl Towers {
    pub fn new(device: &Device, grid: &Grid) -> Result<Self> {
        Ok(Towers {
            points: Points::new(device, &[&grid.towers])?,
            texels: Vector::from_slice(device, grid.towers.as_flattened())?,
            count: grid.towers.len(),
            grid: [grid.width, grid.height],
        })
    }

    fn plane(&self) -> Result<Plane> {
        Plane::zeros(self.texels.device(), self.grid[0], self.grid[1])
    }

    /// Discs, blended.
    pub fn scatter(&self, kernels: &Kernels) -> Result<Plane> {
        let mut map = self.plane()?;
        kernels.scatter.with([], &self.points, &NoParams).accumulate(Accum::Max).run(&mut map)?;
        Ok(map)
    }

    /// A loop over all towers in each cell; where they are many, over some at a time, and blending joins them.
    pub fn gather(&self, kernels: &Kernels) -> Result<Plane> {
        let mut map = self.plane()?;
        let [width, height] = self.grid;
        let rows = (MOST / (width * self.count.min(MOST_ROUNDS))).clamp(1, height);
        for first in (0..self.count).step_by(MOST_ROUNDS) {
            let end = (first + MOST_ROUNDS).min(self.count);
            let params = Part { first: first as i32, end: end as i32 };
            for y in (0..height).step_by(rows) {
                let size = [0, y, width, rows.min(height - y)].map(|v| v as u32);
                let band = Domain::Rect { x: size[0], y: size[1], width: size[2], height: size[3] };
                let accum = if first == 0 { Accum::Replace } else { Accum::Max };
                kernels.gather.with([&self.texels], &params).on(band).accumulate(accum).run(&mut map)?;
            }
        }
        Ok(map)
    }

    /// Three bytes a cell, row by row from the top.
    pub fn picture(&self, kernels: &Kernels, map: &Plane, strongest: f64) -> Result<Vec<u8>> {
        let mut marks = self.plane()?;
        let longer = self.grid[0].max(self.grid[1]) as f32;
        let mark = Mark { mark: (longer / 170.0).max(2.0) };
        kernels.mark.with([], &self.points, &mark).accumulate(Accum::Max).run(&mut marks)?;
        let mut picture = Vector::zeros(map.device(), 4 * map.len())?;
        kernels.paint.run(
            &mut picture,
            [map, &marks],
            &Paint { strongest: (strongest as f32).max(f32::MIN_POSITIVE) },
        )?;
        Ok(bytes_of(&picture.read()?))
    }
}

/// Shares of the strongest signal for which cells are counted.
pub const SHARES: [f64; 5] = [0.0, 0.2, 0.4, 0.6, 0.8];

/// What reductions on the device say of a map.
pub struct Statistics {
    pub strongest: f64,
    pub sum: f64,
    /// Additions that follow one another in the sum.
    pub chain: u64,
    /// Cells above each of [`SHARES`], and the bound that this is.
    pub above: [(f32, f64); SHARES.len()],
}

impl Statistics {
    pub fn new(kernels: &Kernels, map: &Plane) -> Result<Self> {
        let device = map.device();
        let mut signals = Vector::zeros(device, map.len())?;
        ops::plane_to_vector(&mut signals, map)?;
        let strongest = ops::max_element(&signals)?.read()?;
        let mut ones = Vector::zeros(device, map.len())?;
        let mut count = Scalar::zero(device)?;
        let mut above = [(0.0, 0.0); SHARES.len()];
        for (above, share) in above.iter_mut().zip(SHARES) {
            let bound = share as f32 * strongest;
            kernels.above.run(&mut ones, [&signals], &Bound { bound })?;
            ops::reduce_into(&mut count, ops::Reduction::Sum, &ones, None, Windows::Balanced)?;
            *above = (bound, f64::from(count.read()?));
        }
        let chain = ReducePlan::new(signals.extent(), Windows::Balanced).longest_chain();
        let sum = f64::from(ops::sum(&signals)?.read()?);
        Ok(Statistics { strongest: f64::from(strongest), sum, chain, above })
    }
}
