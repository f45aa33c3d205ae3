//! Products in 32 bits.

use super::{draw, inner, power};
use crate::data::{ColumnStack, Panel, Vector};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::dense::{factors, shares};
use crate::ops::product::{Ending, Product};
use crate::profile::{Fetches, Workload};
use crate::shape::{Extent, fold_extent};

/// Of the first columns alone, where that is fewer: others cost nothing, whatever they hold.
pub(super) fn product(
    y: &mut Vector,
    a: &ColumnStack,
    columns: usize,
    terms: Product<'_>,
    transposed: bool,
) -> Result<()> {
    let device = a.device();
    let _scope = device.exclusive_scope()?;
    let factors = factors(terms.factor());
    let all = columns >= a.shape().cols;
    let panels: Vec<_> = a
        .panels()
        .enumerate()
        .filter(|(i, p)| *i == 0 || p.part.columns.start < columns)
        .map(|(_, p)| p)
        .collect();
    let inner_of = |panel: &Panel<'_>| {
        let own = columns.saturating_sub(panel.part.columns.start).div_ceil(a.grid().unit_columns());
        let length = inner(a.shape(), panel, transposed);
        if transposed { length } else { length.min(own) }
    };
    let longest = panels.iter().map(inner_of).max().unwrap_or(0);
    // A small result would leave most of the device idle: ranges are summed side by side, each as a tile like y.
    let own = y.extent();
    let texels = u32::try_from(y.len().div_ceil(4)).unwrap_or(u32::MAX);
    let shares = shares(device, texels, 4 * longest, own.width as usize);
    let wide = Extent::new(own.width * shares, own.height);
    let scratch = |what| device.texture(wide, crate::gl::Format::Rgba32F, what);
    let mut carried: Option<PooledTexture> = None;
    for (i, panel) in panels.iter().enumerate() {
        let whole = shares == 1 && i + 1 == panels.len();
        let length = inner_of(panel);
        let range = [0, length, length.div_ceil(shares as usize)];
        let draw = draw(glsl!("stack/product.frag"), (a, panel), terms.x, range, factors)
            .param("fold", power(own.width))
            .define("TRANSPOSED", transposed)
            .carried(
                "START",
                ("carried", "carried_here()"),
                carried.as_ref().map(|t| View::whole(device, t.texture())),
            );
        if whole {
            let ending = terms.ending();
            return ending
                .describe(draw.define("FINISH(P)", "COMBINE((P) * factors.x)"))
                .masked(ending.fills_padding(y) || !all)
                .target(y.view())
                .run();
        }
        let sums = scratch("product")?;
        draw.define("FINISH(P)", "(P)").target(View::whole(device, sums.texture())).run()?;
        carried = Some(sums);
    }
    match carried {
        Some(sums) => total(y, terms.ending(), &sums, (shares, !all), factors),
        None => Ok(()), // there always is a panel
    }
}

/// What a product `A x` comes to.
pub(super) fn workload(a: &ColumnStack) -> Option<Workload> {
    let device = a.device();
    let y = fold_extent(a.shape().rows as u64, device.max_texture_size()).ok()?;
    let panels: Vec<_> = a.panels().map(|p| inner(a.shape(), &p, false)).collect();
    let texels = u32::try_from(a.shape().rows.div_ceil(4)).unwrap_or(u32::MAX);
    let longest = panels.iter().copied().max().unwrap_or(0);
    let shares = shares(device, texels, 4 * longest, y.width as usize);
    let wide = Extent::new(y.width * shares, y.height);
    let of = |(i, length): (usize, &usize)| {
        let (blocks, before) =
            (*length as f64 * y.area() as f64, if i > 0 { wide.area() as f64 } else { 0.0 });
        let fetches = Fetches::default().with_own(before).with_adjacent(5.0 * blocks);
        Workload::pass(wide, 1, fetches).with_multiply_adds(16.0 * blocks)
    };
    let sums: Workload = panels.iter().enumerate().map(of).sum();
    if shares == 1 {
        return Some(sums);
    }
    let added = wide.area() as f64;
    let total = Workload::pass(y, 1, Fetches::default().with_looped(added));
    Some(sums + total.with_multiply_adds(4.0 * added))
}

/// The ranges added up.
fn total(
    y: &mut Vector,
    ending: Ending<'_>,
    sums: &PooledTexture,
    (shares, cut): (u32, bool),
    factors: [f32; 2],
) -> Result<()> {
    let device = sums.device();
    let draw = Draw::new(device, glsl!("stack/total.frag"))
        .addressed("partial", View::whole(device, sums.texture()))
        .param("shares", shares as i32)
        .param("width", y.extent().width as i32)
        .param("factors", factors);
    ending.describe(draw).masked(ending.fills_padding(y) || cut).target(y.view()).run()
}
