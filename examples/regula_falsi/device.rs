//! The equations on the device: a cell is a texel, and the pairs lie in a texture.

use texla::kernel::{IterateWhile, Kernel, PingPong, WhileParams, WhileReport};
use texla::{Device, Result, Vector};

use super::cpu::{Pair, START};

texla::params! { struct Tolerance { tolerance: f32 } }
texla::params! { struct Picture { side: i32, most: f32 } }

pub struct Equations {
    device: Device,
    solver: IterateWhile<Tolerance>,
    paint: Kernel<Picture>,
    pairs: Vector,
    start: Vec<f32>,
    tolerance: f32,
}

impl Equations {
    pub fn new(device: &Device, pairs: &[Pair], tolerance: f32) -> Result<Self> {
        let texels: Vec<f32> = pairs.iter().flat_map(|[a, b]| [*a, *b, 0.0, 0.0]).collect();
        Ok(Equations {
            device: device.clone(),
            solver: IterateWhile::new(device, "regula falsi", ["pairs"], include_str!("cell.glsl"))?,
            paint: Kernel::new(device, "paint", ["cells"], include_str!("paint.frag"))?,
            pairs: Vector::from_slice(device, &texels)?,
            start: pairs.iter().flat_map(|_| START).collect(),
            tolerance,
        })
    }

    /// Every cell at its start.
    pub fn cells(&self) -> Result<PingPong<Vector>> {
        let start = Vector::from_slice(&self.device, &self.start)?;
        Ok(PingPong::new(start, Vector::zeros(&self.device, self.start.len())?))
    }

    /// Runs all cells until their polynomial is within the tolerance.
    pub fn solve(&self, cells: &mut PingPong<Vector>, params: WhileParams) -> Result<WhileReport> {
        self.solver.run(cells, [&self.pairs], &Tolerance { tolerance: self.tolerance }, params)
    }

    /// The steps of all cells as a picture, RGB and alpha in 0 to 1.
    pub fn paint(&self, cells: &Vector, side: usize, most: f32) -> Result<Vec<f32>> {
        let mut picture = Vector::zeros(&self.device, cells.len())?;
        self.paint.run(&mut picture, [cells], &Picture { side: side as i32, most })?;
        picture.read()
    }

    /// The colours from no steps to the most, row by row the same.
    pub fn scale(&self, colours: usize, most: f32) -> Result<Vec<f32>> {
        let steps = |k: usize| (1.0 + most).powf(k as f32 / (colours - 1) as f32) - 1.0;
        let cells: Vec<f32> =
            (0..colours * colours).flat_map(|i| [0.05, 0.05, 0.0, steps(i % colours)]).collect();
        self.paint(&Vector::from_slice(&self.device, &cells)?, colours, most)
    }
}
