//! Operators on grids as plain numbers.

use texla::{Device, Grid, Side, Sides, Stencil, StencilParams};

/// Neighbours (dx, dy, dz) with their coefficients.
pub type Taps = Vec<([i32; 3], f64)>;

/// The Laplacian in so many dimensions: 4 or 6, and -1 for each neighbour.
pub fn laplace(dimensions: usize) -> Taps {
    let mut taps = vec![([0; 3], 2.0 * dimensions as f64)];
    for axis in 0..dimensions {
        for step in [-1, 1] {
            let mut offset = [0; 3];
            offset[axis] = step;
            taps.push((offset, -1.0));
        }
    }
    taps
}

#[derive(Clone, Debug)]
pub struct Case {
    pub grid: Grid,
    pub shift: f64,
    pub weights: [f64; 3],
    pub sides: [[Side; 2]; 3],
    pub solid: Vec<bool>,
}

impl Case {
    /// The Laplacian with sides of one kind.
    pub fn plain(grid: Grid, side: Side) -> Self {
        let weights = [1.0, 1.0, if grid.nz > 1 { 1.0 } else { 0.0 }];
        Case { grid, shift: 0.0, weights, sides: [[side; 2]; 3], solid: Vec::new() }
    }

    pub fn stencil(&self, dev: &Device) -> Stencil {
        let [x, y, z] = self.sides;
        let params = StencilParams::new(self.weights, Sides { x, y, z })
            .with_shift(self.shift)
            .with_solid(&self.solid);
        Stencil::new(dev, self.grid, params).unwrap()
    }
}
