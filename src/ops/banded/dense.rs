//! Diagonals put into a dense matrix.

use super::stored;
use crate::data::{Band, BandedMatrix, FoldedBands, Matrix, Tile};
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::kernel::{Draw, PooledTexture, View};

/// Diagonals of a pass, besides which it reads what earlier ones gave.
const MOST: usize = 12;

impl BandedMatrix {
    /// The same matrix in 4x1 columns, as products see it: rounded to 32 bits.
    ///
    /// *Cost*: 1 draw for every 12 diagonals and each tile; no readback. *Errors*: [`Error::TooLarge`](crate::Error::TooLarge),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let a = texla::BandedMatrix::poisson_2d(ctx.device(), 2, 1)?.to_matrix()?;
    /// assert_eq!(a.read()?, [4., -1., -1., 4.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn to_matrix(&self) -> Result<Matrix> {
        let mut made = Matrix::uninit(self.device(), self.shape())?;
        put(&mut made, self, 0)?;
        Ok(made)
    }
}

impl FoldedBands {
    /// The same matrix in 4x1 columns, as products see it: rounded to 32 bits.
    ///
    /// *Cost*: 1 draw for every 12 vectors and each tile; no readback. *Errors*: [`Error::TooLarge`](crate::Error::TooLarge),
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn to_matrix(&self) -> Result<Matrix> {
        let mut made = Matrix::uninit(self.device(), self.shape())?;
        // An offset below zero stands for one larger by the number of rows.
        put(&mut made, &self.wide, self.shape().rows)?;
        Ok(made)
    }
}

/// `out = A`, in 32 bits.
fn put(out: &mut Matrix, a: &BandedMatrix, wrap: usize) -> Result<()> {
    let _scope = a.device().exclusive_scope()?;
    if a.offsets().is_empty() {
        return out.set_zero();
    }
    let units = a.device().gl().caps.borrow().texture_units as usize;
    let most = units.saturating_sub(1).clamp(1, MOST);
    out.tiles().try_for_each(|tile| {
        let mut partial: Option<PooledTexture> = None;
        let mut groups = a.offsets().chunks(most).zip(a.bands.chunks(most)).peekable();
        while let Some(group) = groups.next() {
            if groups.peek().is_none() {
                return draw(a, &tile, tile.part(), partial.as_ref(), group, wrap);
            }
            let next = a.device().texture(tile.extent(), Format::Rgba32F, "Matrix")?;
            let target = View { texture: next.texture(), ..tile.part() };
            draw(a, &tile, target, partial.as_ref(), group, wrap)?;
            partial = Some(next);
        }
        Ok(())
    })
}

fn draw(
    a: &BandedMatrix,
    tile: &Tile<'_>,
    target: View<'_>,
    before: Option<&PooledTexture>,
    (offsets, bands): (&[i64], &[Band]),
    wrap: usize,
) -> Result<()> {
    let device = a.device();
    // Offsets and origins are those of a dense matrix, whose elements 32 bits count.
    let (row, col) = tile.origin;
    let constant = |band: &Band| match band {
        Band::Stored { .. } => 0.0,
        Band::Constant { high, .. } => *high,
    };
    let draw = Draw::new(device, glsl!("banded/dense.frag"))
        .lines_made(generate, bands.iter().map(|band| i64::from(stored(band).is_some())).collect())
        .param("origin", [col as i32, (row / 4) as i32])
        .param("wrap", wrap as i32)
        .ints("offsets", offsets.iter().map(|o| *o as i32).collect())
        .floats("constants", bands.iter().map(constant).collect())
        .param("factors", a.scaling.factors(1.0));
    let diagonals = bands.iter().enumerate();
    diagonals
        .fold(draw, |draw, (i, band)| draw.input_if(("d", i), stored(band)))
        .carried("START", ("before", "before_at(p)"), before.map(|t| View::whole(device, t.texture())))
        .masked(true)
        .target(target)
        .run()
}

/// The macro `BANDS`, of a word for each diagonal: whether it is stored.
fn generate(words: &[i64]) -> String {
    let mut text = "#define BANDS".to_owned();
    for (i, is_stored) in words.iter().enumerate() {
        let value = match is_stored {
            0 => format!("vec4(constants[{i}])"),
            _ => format!("d{i}_texel(t)"),
        };
        text.push_str(&format!(" sum += {value} * vec4(equal(offset, ivec4(offsets[{i}])));"));
    }
    text
}
