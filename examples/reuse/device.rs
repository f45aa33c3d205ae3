//! Either quantity on the device, in every fragment, at the corners, or in tables first.

use texla::kernel::{Bodies, Domain, Kernel};
use texla::{Device, Result, Vector};

use crate::quantity::{OFFSET, Quantity, TURN, WIDTHS, Way};

texla::params! {
    struct Affine { steps: i32, turn: [f32; 2], offset: [f32; 4] }
}

texla::params! {
    struct AffineTable { steps: i32, turn: [f32; 2], offset: [f32; 4], along: i32 }
}

texla::params! {
    struct Bells { steps: i32, scale: f32, widths: [f32; 4] }
}

/// Steps of texels in a draw, so that none takes long.
const MOST: usize = 1 << 25;

pub struct Kernels {
    device: Device,
    affine: [Kernel<Affine>; 3],
    affine_table: Kernel<AffineTable>,
    bells: [Kernel<Bells>; 2],
    bells_table: Kernel<Bells>,
}

impl Kernels {
    pub fn new(device: &Device) -> Result<Self> {
        let affine = |body: &str| format!("{}{body}", include_str!("affine.glsl"));
        let lobe = |body: &str| format!("{}{body}", include_str!("lobe.glsl"));
        let tables = ["across", "up"];
        let fragment = affine(include_str!("affine_fragment.frag"));
        let corner = affine(include_str!("affine_corner.glsl"));
        let between = Bodies { vertex: &corner, fragment: include_str!("affine_interpolated.frag") };
        let fetched = include_str!("affine_fetched.frag");
        let bells_fetched = include_str!("lobe_fetched.frag");
        Ok(Kernels {
            device: device.clone(),
            affine: [
                Kernel::new(device, "reuse/affine_fragment", tables, &fragment)?,
                Kernel::interpolated(device, "reuse/affine", tables, ["mapped"], between)?,
                Kernel::new(device, "reuse/affine_fetched", tables, fetched)?,
            ],
            affine_table: Kernel::new(
                device,
                "reuse/affine_table",
                [],
                &affine(include_str!("affine_table.frag")),
            )?,
            bells: [
                Kernel::new(
                    device,
                    "reuse/lobe_fragment",
                    ["across"],
                    &lobe(include_str!("lobe_fragment.frag")),
                )?,
                Kernel::new(device, "reuse/lobe_fetched", ["across"], bells_fetched)?,
            ],
            bells_table: Kernel::new(device, "reuse/lobe_table", [], &lobe(include_str!("lobe_table.frag")))?,
        })
    }
}

/// A square of `side` by `side` texels, which is how a vector of so many folds, and its tables.
pub struct Square {
    side: usize,
    pub target: Vector,
    across: Vector,
    up: Vector,
}

impl Square {
    /// `side` is a power of two.
    pub fn new(device: &Device, side: usize) -> Result<Self> {
        let table = || Vector::zeros(device, 4 * side);
        Ok(Square { side, target: Vector::zeros(device, 4 * side * side)?, across: table()?, up: table()? })
    }

    /// Fills the square. *Cost*: a draw where it is short, and one for each table.
    pub fn compute(&mut self, kernels: &Kernels, quantity: Quantity, way: Way, steps: usize) -> Result<()> {
        let _scope = kernels.device.scope()?;
        match quantity {
            Quantity::Affine => self.affine(kernels, way, steps),
            Quantity::Bells => self.bells(kernels, way, steps),
        }
    }

    fn affine(&mut self, kernels: &Kernels, way: Way, steps: usize) -> Result<()> {
        let params = Affine { steps: steps as i32, turn: TURN, offset: OFFSET };
        if way == Way::Tables {
            for (along, table) in [(0, &mut self.across), (1, &mut self.up)] {
                let params = AffineTable { steps: params.steps, turn: TURN, offset: OFFSET, along };
                kernels.affine_table.run(table, [], &params)?;
            }
        }
        let [fragment, vertex, fetched] = &kernels.affine;
        let inputs = [&self.across as &dyn texla::kernel::Operand, &self.up];
        match way {
            Way::Fragment => {
                for band in bands(self.side, steps) {
                    fragment.with(inputs, &params).on(band).run(&mut self.target)?;
                }
                Ok(())
            }
            Way::Vertex => vertex.run(&mut self.target, inputs, &params),
            Way::Tables => fetched.run(&mut self.target, inputs, &params),
        }
    }

    fn bells(&mut self, kernels: &Kernels, way: Way, steps: usize) -> Result<()> {
        let params = Bells { steps: steps as i32, scale: 2.0 / self.side as f32, widths: WIDTHS };
        let [fragment, fetched] = &kernels.bells;
        if way == Way::Tables {
            kernels.bells_table.run(&mut self.across, [], &params)?;
            return fetched.run(&mut self.target, [&self.across], &params);
        }
        for band in bands(self.side, 2 * steps) {
            fragment.with([&self.across], &params).on(band).run(&mut self.target)?;
        }
        Ok(())
    }
}

/// Rows of the square in draws of their own.
fn bands(side: usize, steps: usize) -> impl Iterator<Item = Domain<'static>> {
    let rows = (MOST / (side * steps)).clamp(1, side);
    (0..side).step_by(rows).map(move |y| Domain::Rect {
        x: 0,
        y: y as u32,
        width: side as u32,
        height: rows.min(side - y) as u32,
    })
}
