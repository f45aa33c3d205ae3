//! Everybody who makes the steps: plain Rust, blocks on the device, and `sim::wave`.

use std::mem::swap;
use std::rc::Rc;

use texla::pack::{Order, RepeatedExpression};
use texla::profile::Workload;
use texla::sim::wave::{Boundaries, Boundary, Scheme, Wave, WaveParams};
use texla::solve::{BlockExpression, BlockParams, BlockUse, BlockVector};
use texla::{Device, Vector};

use crate::cpu;
use crate::paint::{Painter, Painting};
use crate::problem::{S, expression};
use crate::support::Result;

/// What a step is followed by: a column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The grid goes to the host, as the paper's had to.
    Readback,
    Nothing,
    /// The grid is drawn from where it is.
    Picture,
}

impl After {
    pub const ALL: [After; 3] = [After::Readback, After::Nothing, After::Picture];

    pub fn name(self) -> &'static str {
        match self {
            After::Readback => "total",
            After::Nothing => "no data transfer",
            After::Picture => "drawn from the textures",
        }
    }
}

/// Waves from the start on.
pub trait Waves {
    fn step(&mut self) -> Result;
    /// The newest level to the host, which keeps it.
    fn read(&mut self) -> Result;
    fn paint(&mut self, painter: &Painter) -> Result;
    /// The newest level and the one before, in natural order.
    fn levels(&mut self) -> Result<[Vec<f32>; 2]>;

    fn run(&mut self, steps: usize, after: After, painter: &Painter) -> Result {
        for _ in 0..steps {
            self.step()?;
            match after {
                After::Readback => self.read()?,
                After::Nothing => (),
                After::Picture => self.paint(painter)?,
            }
        }
        Ok(())
    }
}

/// They are on the host, and are not drawn.
impl Waves for cpu::Waves {
    fn step(&mut self) -> Result {
        cpu::Waves::run(self, 1);
        Ok(())
    }

    fn read(&mut self) -> Result {
        Ok(())
    }

    fn paint(&mut self, _: &Painter) -> Result {
        Ok(())
    }

    fn levels(&mut self) -> Result<[Vec<f32>; 2]> {
        Ok(cpu::Waves::levels(self))
    }

    fn run(&mut self, steps: usize, _: After, _: &Painter) -> Result {
        cpu::Waves::run(self, steps);
        Ok(())
    }
}

/// The kernels of a block length and an order.
pub struct Kernels {
    pub block: RepeatedExpression,
    pub order: Order,
    step: BlockExpression,
    painting: Painting,
}

impl Kernels {
    pub fn new(
        painter: &Painter,
        device: &Device,
        size: usize,
        order: Order,
        params: BlockParams,
    ) -> Result<Rc<Self>> {
        let block = expression(size, order.unknowns())?;
        let step = BlockExpression::with(device, &block, &order, params.with_subtract_b(true))?;
        let painting = painter.of_blocks(&step.zeros()?)?;
        Ok(Rc::new(Kernels { block, order, step, painting }))
    }

    pub fn device(&self) -> &Device {
        self.step.device()
    }

    /// Of a step.
    pub fn workload(&self) -> Workload {
        self.step.workload(BlockUse::Apply)
    }
}

/// Three levels of time that take turns.
pub struct Blocks {
    kernels: Rc<Kernels>,
    now: BlockVector,
    before: BlockVector,
    next: BlockVector,
    /// In natural order.
    heights: Vector,
    host: Vec<f32>,
}

impl Blocks {
    pub fn new(kernels: &Rc<Kernels>, start: &Vector) -> Result<Self> {
        let e = &kernels.step;
        let level = || e.pack(start);
        let heights = Vector::zeros(e.device(), start.len())?;
        let host = vec![0.0; start.len()];
        Ok(Blocks {
            kernels: Rc::clone(kernels),
            now: level()?,
            before: level()?,
            next: e.zeros()?,
            heights,
            host,
        })
    }
}

impl Waves for Blocks {
    fn step(&mut self) -> Result {
        self.kernels.step.apply(&mut self.next, &self.now, &self.before)?;
        swap(&mut self.now, &mut self.before);
        swap(&mut self.now, &mut self.next);
        Ok(())
    }

    fn read(&mut self) -> Result {
        self.kernels.step.unpack(&mut self.heights, &self.now)?;
        Ok(self.heights.read_into(&mut self.host)?)
    }

    fn paint(&mut self, painter: &Painter) -> Result {
        painter.paint_blocks(self.kernels.painting, &self.now);
        Ok(())
    }

    fn levels(&mut self) -> Result<[Vec<f32>; 2]> {
        let mut read = |level| -> Result<Vec<f32>> {
            self.kernels.step.unpack(&mut self.heights, level)?;
            Ok(self.heights.read()?)
        };
        Ok([read(&self.now)?, read(&self.before)?])
    }
}

/// `sim::wave`'s explicit step on the same grid; its zeros lie on the faces of the outermost cells, not a node further.
pub struct Simulation {
    wave: Wave,
    painting: Painting,
    host: Vec<f32>,
}

impl Simulation {
    pub fn new(painting: Painting, size: usize, start: &Vector) -> Result<Self> {
        let device = start.device();
        let boundaries = Boundaries { x: [Boundary::Fixed; 2], y: [Boundary::Reflecting; 2] };
        let params = WaveParams::new(size, size)
            .with_dt(S.sqrt())
            .with_scheme(Scheme::Explicit)
            .with_boundaries(boundaries);
        let mut wave = Wave::new(device, params)?;
        wave.start(start, &Vector::zeros(device, start.len())?)?;
        Ok(Simulation { wave, painting, host: vec![0.0; start.len()] })
    }
}

impl Waves for Simulation {
    fn step(&mut self) -> Result {
        Ok(self.wave.step()?)
    }

    fn read(&mut self) -> Result {
        Ok(self.wave.displacement().read_into(&mut self.host)?)
    }

    fn paint(&mut self, painter: &Painter) -> Result {
        painter.paint(self.painting, self.wave.displacement());
        Ok(())
    }

    fn levels(&mut self) -> Result<[Vec<f32>; 2]> {
        let (y, v) = (self.wave.displacement().read()?, self.wave.increment().read()?);
        let before = y.iter().zip(&v).map(|(y, v)| y - v).collect();
        Ok([y, before])
    }
}
