//! The vectors of a cycle of GMRES, and the small least-squares problem that they make of a large one.

use crate::data::{ColumnStack, Scalar, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};
use crate::kernel::{Draw, Operand, PingPong, PooledTexture, View};
use crate::ops::reduce::Partial;
use crate::ops::{self, Combine};
use crate::shape::{Extent, Shape};

/// See `glsl/include/rotations.glsl`.
pub(super) struct Basis {
    vectors: ColumnStack,
    factor: PingPong<PooledTexture>,
}

impl Basis {
    pub fn new(device: &Device, n: usize, restart: usize) -> Result<Self> {
        // No larger than a texture is wide.
        let side = u32::try_from(restart).unwrap_or(u32::MAX);
        let factor = || device.texture(Extent::new(side + 1, side), Format::Rgba32F, "GMRES");
        let vectors = ColumnStack::zeros(device, Shape::new(n, restart))?;
        Ok(Basis { vectors, factor: PingPong::new(factor()?, factor()?) })
    }

    /// Most vectors.
    pub fn restart(&self) -> usize {
        self.vectors.shape().cols
    }

    pub fn set(&mut self, j: usize, v: &Vector) -> Result<()> {
        self.vectors.set_column(j, v)
    }

    /// `y = combine(V x)`, of as many vectors as `x` has elements.
    pub fn product(&self, y: &mut Vector, combine: Combine<'_>, x: &Vector) -> Result<()> {
        ops::product_of_columns(y, combine, &self.vectors, x)
    }

    /// Makes `w` orthogonal to the first vectors; returns what has been taken out. Once.
    pub fn take_out(&self, w: &mut Vector, count: usize) -> Result<Vector> {
        let mut h = Vector::uninit(w.device(), count)?;
        ops::product_of_columns_transposed(&mut h, &self.vectors, w)?;
        let mut rest = Vector::uninit(w.device(), w.len())?;
        self.product(&mut rest, Combine::SubtractFrom(w), &h)?;
        *w = rest;
        Ok(h)
    }

    /// Column `j` of the triangle, from what has been taken out of `A M v_j` in both passes and the square of what is left.
    pub fn column(
        &mut self,
        j: usize,
        [first, second]: [&Vector; 2],
        left: Option<&Partial>,
        (report, state): (&Scalar, &Scalar),
    ) -> Result<()> {
        let device = self.vectors.device();
        let draw = Draw::new(device, glsl!("solve/gmres_column.frag"));
        let draw = match left {
            Some(left) => left.left_to(draw),
            None => return Err(Error::Internal { place: "GMRES", detail: "no sum" }),
        };
        let draw = draw.input("last", report.view()).input("state", state.view());
        let draw = draw.input("first", first.view()).input("second", second.view());
        self.told(draw).param("j", int(j)).target(whole(self.factor.back())).run()?;
        self.factor.swap();
        Ok(())
    }

    /// The triangle and its rotations.
    pub fn factor(&self) -> View<'_> {
        whole(self.factor.front())
    }

    /// The coefficients of the least residual, of the columns that count; no more than so many.
    pub fn solve(&self, state: &Scalar, count: usize) -> Result<Vector> {
        let device = self.vectors.device();
        let y = Vector::uninit(device, count)?;
        let draw = Draw::new(device, glsl!("solve/gmres_solve.frag")).input("state", state.view());
        self.told(draw).define("RESTART", int(self.restart()) as u32).masked(true).target(y.view()).run()?;
        Ok(y)
    }

    fn told<'a>(&'a self, draw: Draw<'a>) -> Draw<'a> {
        draw.input("factor", self.factor()).param("restart", int(self.restart()))
    }
}

fn whole(texture: &PooledTexture) -> View<'_> {
    View::whole(texture.device(), texture.texture())
}

fn int(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
