//! What texla does in a host's frame: a solver, points that are blended, a capture of vertices, and a picture of the result.

use texla::kernel::{NoParams, VertexKernel};
use texla::ops::{self, Histogram, Shades};
use texla::solve::{CgParams, ConjugateGradient, Stop};
use texla::{BandedMatrix, BufferVector, Device, Picture, Result, Vector};

/// The side of the grid, and of the picture.
pub const SIDE: usize = 32;

/// The shades that results are shown in.
pub fn shades() -> Shades {
    Shades::viridis(0.0, 80.0)
}

/// texla in a host: it holds its solver with the matrix, and everything that it needs from frame to frame.
pub struct Guest {
    device: Device,
    solver: ConjugateGradient<BandedMatrix>,
    load: Vector,
    field: Vector,
    histogram: Histogram,
    counts: Vector,
    doubled: VertexKernel<NoParams>,
    vertices: [BufferVector; 2],
    picture: Picture,
}

impl Guest {
    pub fn new(device: &Device) -> Result<Self> {
        let n = SIDE * SIDE;
        let a = BandedMatrix::poisson_2d(device, SIDE, SIDE)?;
        let params = CgParams::default().with_stop(Stop::relative(1e-3));
        let body = "void kernel(int vertex) { y[0] = x[0] + x[0]; }";
        let vertices = [BufferVector::from_slice(device, &[1.5; 4])?, BufferVector::zeros(device, 4)?];
        Ok(Guest {
            device: device.clone(),
            solver: ConjugateGradient::new(a, params)?,
            load: Vector::filled(device, n, 1.0)?,
            field: Vector::zeros(device, n)?,
            histogram: Histogram::equal_width(device, 0.0, 80.0, 8)?,
            counts: Vector::zeros(device, 8)?,
            doubled: VertexKernel::new(device, "doubled", [("x", 1)], 1, body)?,
            vertices,
            picture: Picture::new(device, SIDE, SIDE)?,
        })
    }

    /// The work of a frame, each call by itself or all in one scope. Nothing is read back.
    pub fn work(&mut self, in_a_scope: bool) -> Result<()> {
        let _state = in_a_scope.then(|| self.device.scope()).transpose()?;
        ops::fill(&mut self.field, 0.0)?;
        self.solver.solve(&mut self.field, &self.load)?;
        self.histogram.count(&mut self.counts, &self.field)?;
        let [x, y] = &mut self.vertices;
        self.doubled.run(y, 0, [&*x], &NoParams)?;
        ops::vector_to_picture(&mut self.picture, &self.field, &shades())
    }

    /// Draws the result into a texture that the host has lent.
    pub fn draw_into(&self, lent: &mut Picture) -> Result<()> {
        ops::vector_to_picture(lent, &self.field, &shades())
    }

    /// The picture, whose texture the host shows.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// What has been computed, as bits: the field, its histogram, the vertices.
    pub fn result(&self) -> Result<Vec<u32>> {
        let (field, counts) = (self.field.read()?, self.counts.read()?);
        let vertices = self.vertices[1].read()?;
        Ok([field, counts, vertices].concat().into_iter().map(f32::to_bits).collect())
    }
}
