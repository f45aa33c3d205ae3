//! Operators on grids as plain numbers.

use texla::{Device, Grid, Side, Sides, Stencil, StencilParams};

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
