//! The two operators of a wave.
//! (Stands in for the stencil.)

use super::params::{Boundary, WaveParams};
use crate::data::BandedMatrix;
use crate::device::Device;
use crate::error::Result;
use crate::host::Triplets;
use crate::shape::Shape;

fn build(device: &Device, p: &WaveParams, shift: f64, weight: f64, absorbing: f64) -> Result<BandedMatrix> {
    let (nx, ny) = (p.grid.nx, p.grid.ny);
    let n = p.grid.len();
    let mut t = Triplets::with_capacity(Shape::new(n, n), 5 * n);
    for y in 0..ny {
        for x in 0..nx {
            let i = x + nx * y;
            let mut d = shift;
            let axes = [(x, nx, 1, p.boundaries.x), (y, ny, nx, p.boundaries.y)];
            for (at, cells, stride, sides) in axes {
                let [low, high] = sides;
                for (side, end, to, wrap) in [
                    (low, at == 0, i.wrapping_sub(stride), i + (cells - 1) * stride),
                    (high, at + 1 == cells, i + stride, i.wrapping_sub((cells - 1) * stride)),
                ] {
                    if !end {
                        d += weight;
                        t.push(i, to, -weight)?;
                        continue;
                    }
                    match side {
                        Boundary::Reflecting => {}
                        Boundary::Fixed => d += 2.0 * weight,
                        Boundary::Absorbing => d += absorbing,
                        Boundary::Periodic if cells > 1 => {
                            d += weight;
                            t.push(i, wrap, -weight)?;
                        }
                        Boundary::Periodic => {}
                    }
                }
            }
            t.push(i, i, d)?;
        }
    }
    BandedMatrix::from_triplets(device, &t)
}

pub(super) fn stiffness(device: &Device, p: &WaveParams) -> Result<BandedMatrix> {
    build(device, p, 0.0, 1.0, 0.0)
}

pub(super) fn matrix(device: &Device, p: &WaveParams) -> Result<BandedMatrix> {
    build(device, p, 1.0 + p.uniform_loss(), p.scheme.theta() * p.alpha(), 0.5 * p.courant())
}
