//! Products with stacks of columns, and columns on their way in and out.

mod accurate;
mod product;
mod relocate;

pub use accurate::stack_accurate;
pub use product::{stack_product, stack_product_transposed};

pub(crate) use accurate::stack_part;

pub(crate) use relocate::{column_of_stack, set_column_of_stack, stack_from_matrix, stack_to_matrix};

use crate::data::{ColumnStack, Panel};
use crate::gl::UniformValue;
use crate::kernel::{Field, ParamType};
use crate::shape::Shape;

/// The uniforms through which `glsl/include/stack.glsl` finds a block, and those of every product.
const FIELDS: [Field; 9] = [
    Field { name: "across", kind: <[i32; 2]>::KIND },
    Field { name: "unit_size", kind: <[f32; 2]>::KIND },
    Field { name: "tile_width", kind: <[i32; 2]>::KIND },
    Field { name: "lanes_x", kind: <[f32; 4]>::KIND },
    Field { name: "lanes_y", kind: <[f32; 4]>::KIND },
    Field { name: "lanes", kind: <[f32; 4]>::KIND },
    Field { name: "units", kind: <[i32; 2]>::KIND },
    Field { name: "range", kind: <[i32; 3]>::KIND },
    Field { name: "factors", kind: <[f32; 2]>::KIND },
];

/// A power of two as shaders divide by it: mask and shift.
fn power(n: u32) -> [i32; 2] {
    [n as i32 - 1, n.trailing_zeros() as i32]
}

/// Their values for a panel; `range` is begin, end and the length of a share, in units or (transposed) in texels.
fn params(a: &ColumnStack, panel: &Panel<'_>, range: [usize; 3], factors: [f32; 2]) -> Vec<UniformValue> {
    let (grid, part) = (a.grid(), &panel.part);
    let extent = panel.view.extent();
    let inverse = [1.0 / extent.width as f32, 1.0 / extent.height as f32];
    let unit = grid.unit_extent();
    let (mut x, mut y, mut lanes) = ([0.0; 4], [0.0; 4], [0.0; 4]);
    let offsets = x.iter_mut().zip(&mut y).zip(&mut lanes).skip(part.first_lane);
    for (k, ((x, y), lane)) in offsets.take(grid.unit_columns()).enumerate() {
        let [left, below] = grid.lane(k);
        (*x, *y, *lane) = (left as f32 * inverse[0], below as f32 * inverse[1], 1.0);
    }
    let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    vec![
        UniformValue::IVec2(power(grid.across)),
        UniformValue::Vec2([unit.width as f32 * inverse[0], unit.height as f32 * inverse[1]]),
        UniformValue::IVec2(power(grid.tile.width)),
        UniformValue::Vec4(x),
        UniformValue::Vec4(y),
        UniformValue::Vec4(lanes),
        UniformValue::IVec2([int(part.first_quad), int(part.first_quad + part.units)]),
        UniformValue::IVec3(range.map(int)),
        UniformValue::Vec2(factors),
    ]
}

/// How long a panel's inner dimension is: its units, or the texels of a column.
fn inner(shape: Shape, panel: &Panel<'_>, transposed: bool) -> usize {
    if transposed { shape.rows.div_ceil(4) } else { panel.part.units }
}
