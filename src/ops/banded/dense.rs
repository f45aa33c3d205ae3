//! Diagonals put into a dense matrix.

use crate::data::{Band, BandedMatrix, FoldedBands, Matrix, Tile};
use crate::error::Result;
use crate::gl::{Format, UniformKind, UniformValue, glsl};
use crate::kernel::{Field, FieldType, KernelSpec, ParamType, Pass, PooledTexture, View};

/// Diagonals of a pass, besides which it reads what earlier ones gave.
const MOST: usize = 12;

/// `out = A`, in 32 bits.
pub(crate) fn banded_to_matrix(out: &mut Matrix, a: &BandedMatrix) -> Result<()> {
    put(out, a, 0)
}

/// The same where an offset below zero stands for one larger by the number of rows.
pub(crate) fn folded_to_matrix(out: &mut Matrix, a: &FoldedBands) -> Result<()> {
    put(out, &a.wide, a.shape().rows)
}

fn put(out: &mut Matrix, a: &BandedMatrix, wrap: usize) -> Result<()> {
    let _scope = a.device().scope()?;
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
    let (mut names, mut inputs, mut constants) = (Vec::new(), Vec::new(), Vec::new());
    let mut text = "#define BANDS".to_owned();
    for (i, band) in bands.iter().enumerate() {
        let value = match band {
            Band::Stored { high, .. } => {
                names.push(format!("d{i}"));
                inputs.push(View::whole(device, high.texture()));
                constants.push(0.0);
                format!("d{i}_texel(t)")
            }
            Band::Constant { high, .. } => {
                constants.push(*high);
                format!("vec4(constants[{i}])")
            }
        };
        text.push_str(&format!(" sum += {value} * vec4(equal(offset, ivec4(offsets[{i}])));"));
    }
    let start = if before.is_some() { "before_at(p)" } else { "vec4(0.0)" };
    let count = bands.len() as u32;
    let kernel = device.kernel(&format!("bands to dense {start} {text}"), || {
        let mut inputs: Vec<_> = names.iter().map(String::as_str).collect();
        inputs.extend(before.map(|_| "before"));
        let fields = [
            Field { name: "origin", kind: <[i32; 2]>::KIND },
            Field { name: "wrap", kind: i32::KIND },
            Field { name: "offsets", kind: FieldType(UniformKind::Ints(count)) },
            Field { name: "constants", kind: FieldType(UniformKind::Floats(count)) },
            Field { name: "factors", kind: <[f32; 2]>::KIND },
        ];
        KernelSpec::fragment(glsl!("banded/dense.frag"), &inputs, &fields, &["out"])
            .with(&format!("{text}\n#define START {start}"))
            .masked()
    })?;
    // Offsets and origins are those of a dense matrix, whose elements 32 bits count.
    let (row, col) = tile.origin;
    let params = vec![
        UniformValue::IVec2([col as i32, (row / 4) as i32]),
        UniformValue::Int(wrap as i32),
        UniformValue::Ints(offsets.iter().map(|o| *o as i32).collect()),
        UniformValue::Floats(constants),
        UniformValue::Vec2(a.scaling.factors(1.0)),
    ];
    inputs.extend(before.map(|t| View::whole(device, t.texture())));
    device.execute(&Pass::new(&kernel, vec![target], inputs).params(params))
}
