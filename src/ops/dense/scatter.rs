//! A dense matrix from compressed rows.

use std::collections::BTreeMap;

use crate::data::Matrix;
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Attribute, glsl};
use crate::host::Csr;
use crate::kernel::{Domain, Draw, Points};

impl Matrix {
    /// A matrix from compressed rows, each element rounded to 32 bits.
    ///
    /// *Cost*: 1 clear and, for each tile, 1 draw of a point for every texel that holds a nonzero, 24 bytes of upload
    /// each; no blending and no readback. *Errors*: as [`zeros`](Self::zeros), and as [`from_f64`](Self::from_f64).
    ///
    /// ```
    /// use texla::{Matrix, host::problems};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let a = Matrix::from_csr(ctx.device(), &problems::poisson_1d(3).to_csr())?;
    /// assert_eq!(a.read()?, [2., -1., 0., -1., 2., -1., 0., -1., 2.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn from_csr(device: &Device, a: &Csr) -> Result<Self> {
        Self::grid(device, a.shape())?;
        crate::error::check_values("Matrix::from_csr", a.values())?;
        let _scope = device.exclusive_scope()?;
        let mut made = Self::zeros(device, a.shape())?;
        scatter(&mut made, a)?;
        Ok(made)
    }
}

/// `out = A`, each element rounded to 32 bits; `out` is all zero before.
fn scatter(out: &mut Matrix, a: &Csr) -> Result<()> {
    let device = out.device();
    for tile in out.tiles() {
        let (rows, cols) = tile.ranges();
        let mut texels: BTreeMap<(u32, u32), [f32; 4]> = BTreeMap::new();
        let entries = a.rows().enumerate().skip(rows.start).take(rows.len());
        for (i, (columns, values)) in entries {
            let i = i - rows.start;
            for (j, value) in columns.iter().zip(values).filter(|(j, _)| cols.contains(&(**j as usize))) {
                // Both are places within a texture.
                let texel = texels.entry(((i / 4) as u32, j - cols.start as u32)).or_default();
                if let Some(lane) = texel.get_mut(i % 4) {
                    *lane = *value as f32;
                }
            }
        }
        if texels.is_empty() {
            continue;
        }
        let (quads, columns): (Vec<u32>, Vec<u32>) = texels.keys().copied().unzip();
        let values: Vec<f32> = texels.into_values().flatten().collect();
        let words: [&[u32]; 3] = [bytemuck::cast_slice(&values), &columns, &quads];
        let attributes = [Attribute::Vec4, Attribute::UInt, Attribute::UInt];
        let points = Points::with_attributes(device, columns.len(), &attributes, &words)?;
        Draw::new(device, glsl!("dense/scatter.vert"))
            .placing(&[
                ("coefficients", Attribute::Vec4),
                ("column", Attribute::UInt),
                ("quad", Attribute::UInt),
            ])
            .target(tile.part())
            .on(Domain::Points(&points))
            .run()?;
    }
    Ok(())
}
