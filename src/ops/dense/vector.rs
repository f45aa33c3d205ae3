//! Products of dense matrices with vectors.

use super::matmul::{Stretch, stretches};
use crate::data::{Matrix, Vector, exponent};
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::kernel::{Domain, Draw, Operand, PooledTexture, View};
use crate::ops::product::{Ending, Product};
use crate::profile::{Fetches, Workload};
use crate::shape::{Extent, Shape, TileGrid};

/// How the matrix enters a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub transposed: bool,
    /// `|A|` in place of `A`.
    pub absolute: bool,
}

/// The result of a product: all of a vector, or the tiles of a column.
enum Target<'a> {
    Vector { y: View<'a>, ending: Ending<'a> },
    Column(&'a [View<'a>]),
}

pub(super) fn product(y: &mut Vector, a: &Matrix, terms: Product<'_>, how: Use) -> Result<()> {
    let whole = usize::MAX;
    let (x, alpha) = (&[terms.x.view()], terms.factor());
    Tiled { a, how, x, x_length: whole, y_length: whole, alpha }
        .run(&Target::Vector { y: y.view(), ending: terms.ending() })
}

/// `y = op(A) x` for matrices with one column, given by their tiles.
pub(super) fn product_of_parts(y: &[View<'_>], a: &Matrix, x: &[View<'_>], transposed: bool) -> Result<()> {
    let length = a.tile_grid().tile_rows();
    let how = Use { transposed, absolute: false };
    Tiled { a, how, x, x_length: length, y_length: length, alpha: 1.0 }.run(&Target::Column(y))
}

struct Tiled<'a> {
    a: &'a Matrix,
    how: Use,
    x: &'a [View<'a>],
    /// Elements in a texture of x and of y.
    x_length: usize,
    y_length: usize,
    alpha: f32,
}

/// `α` as two factors of about the same size, so that neither what is multiplied first nor what is multiplied last
/// leaves the range where the result does not: (last, first). The first is a power of two.
pub(crate) fn factors(alpha: f32) -> [f32; 2] {
    let half = exponent(f64::from(alpha.abs())) / 2;
    let first = f64::from(half).exp2();
    [(f64::from(alpha) / first) as f32, first as f32]
}

impl Tiled<'_> {
    fn run(&self, target: &Target<'_>) -> Result<()> {
        let device = self.a.device();
        let _scope = device.exclusive_scope()?;
        let Shape { rows, cols } =
            if self.how.transposed { self.a.shape().transposed() } else { self.a.shape() };
        let grid = self.a.tile_grid();
        let (outer, inner) = if self.how.transposed {
            (grid.tile_cols(), grid.tile_rows())
        } else {
            (grid.tile_rows(), grid.tile_cols())
        };
        let inner: Vec<_> = stretches(cols, inner, self.x_length).collect();
        let outer: Vec<_> = stretches(rows, outer, self.y_length).collect();
        if outer.is_empty() {
            return Ok(()); // all of y is padding, which is zero already
        }
        // Rows of y that other tiles of A gave, where y is one texture.
        let mut kept: Option<PooledTexture> = None;
        for (i, stretch) in outer.iter().enumerate() {
            match target {
                Target::Column(parts) => {
                    let Some(part) = parts.get(stretch.second.0) else { continue };
                    // The column's texels lie one below the other.
                    let first = (stretch.second.1 / 4) as u32;
                    let rect =
                        Domain::Rect { x: 0, y: first, width: 1, height: stretch.length.div_ceil(4) as u32 };
                    self.rows(stretch, &inner, *part, Ending::NONE, None, rect)?;
                }
                Target::Vector { y, ending } if i + 1 == outer.len() => {
                    let kept = kept.as_ref().map(|t| View::whole(device, t.texture()));
                    let kept = if outer.len() > 1 { kept.or(Some(*y)) } else { None };
                    self.rows(stretch, &inner, *y, *ending, kept, Domain::Full)?;
                }
                Target::Vector { y, ending } => {
                    let next = device.texture(y.extent, Format::Rgba32F, "dense product")?;
                    // What is kept of the first has nothing in it yet, and every row is written once.
                    let before = match &kept {
                        Some(t) => View::whole(device, t.texture()),
                        None => *y,
                    };
                    let part = View { texture: next.texture(), ..*y };
                    self.rows(stretch, &inner, part, *ending, Some(before), Domain::Full)?;
                    kept = Some(next);
                }
            }
        }
        Ok(())
    }

    /// The rows of one stretch.
    fn rows(
        &self,
        rows: &Stretch,
        inner: &[Stretch],
        target: View<'_>,
        ending: Ending<'_>,
        kept: Option<View<'_>>,
        domain: Domain<'_>,
    ) -> Result<()> {
        let device = self.a.device();
        let height = rows.length.div_ceil(4) as u32;
        if let ([range], None, Domain::Full) = (inner, kept, domain)
            && shares(device, height, range.length, side(device, 1) as usize) == 1
        {
            return self.share(rows, range, target, Some(ending), [0, 1, 1], Domain::Full);
        }
        let scale = factors(self.alpha);
        // As many tiles at a time as have room side by side; all but the last sums wait in textures like the target.
        let side = side(device, inner.len());
        let mut chunks = inner.chunks((device.max_texture_size() / side) as usize).peekable();
        let mut before: Option<PooledTexture> = None;
        while let Some(chunk) = chunks.next() {
            let (partial, count) = self.shares(rows, chunk, height, side)?;
            let shares = View::part(device, partial.texture(), side_by_side(side, count, height));
            let first_row = rows.second.1 / 4;
            let sum = Total { shares, side, count, height, first_row, before: before.as_ref(), domain };
            if chunks.peek().is_none() {
                return sum.add(target, ending, kept, scale);
            }
            let next = device.texture(target.texture.extent(), Format::Rgba32F, "dense product")?;
            sum.add(View { texture: next.texture(), ..target }, Ending::NONE, None, [1.0, scale[1]])?;
            before = Some(next);
        }
        // Without an inner dimension there are no shares to add.
        let none = device.scratch(Extent::new(1, height), "dense product")?;
        let shares = View::part(device, none.texture(), Extent::new(1, height));
        let first_row = rows.second.1 / 4;
        Total { shares, side, count: 0, height, first_row, before: None, domain }
            .add(target, ending, kept, scale)
    }

    /// The shares of some ranges side by side, and how many they are.
    fn shares(
        &self,
        rows: &Stretch,
        inner: &[Stretch],
        height: u32,
        side: u32,
    ) -> Result<(PooledTexture, u32)> {
        let device = self.a.device();
        let ranges = inner.len() * side as usize;
        let counts: Vec<u32> =
            inner.iter().map(|range| shares(device, height, range.length, ranges)).collect();
        let all = counts.iter().sum::<u32>();
        let extent = side_by_side(side, all, height);
        let texture = device.scratch(extent, "dense product")?;
        let partial = View::part(device, texture.texture(), extent);
        let mut first = 0;
        for (range, count) in inner.iter().zip(counts) {
            let Extent { width, height } = side_by_side(side, count, height);
            let domain = Domain::Rect { x: first * side, y: 0, width, height };
            self.share(rows, range, partial, None, [first, count, side], domain)?;
            first += count;
        }
        Ok((texture, all))
    }

    /// The shares of one range of the inner dimension, or all there is where `ending` is given.
    fn share(
        &self,
        rows: &Stretch,
        range: &Stretch,
        target: View<'_>,
        ending: Option<Ending<'_>>,
        [first, count, side]: [u32; 3],
        domain: Domain<'_>,
    ) -> Result<()> {
        let (row, col) = (rows.first.0, range.first.0);
        let (i, j) = if self.how.transposed { (col, row) } else { (row, col) };
        let tile = self.a.tiles().nth(i * self.a.tile_grid().across() + j);
        let (Some(tile), Some(x)) = (tile, self.x.get(range.second.0)) else { return Ok(()) };
        let quads = range.length.div_ceil(4) as u32;
        let draw = Draw::new(self.a.device(), glsl!("dense/partial.frag"))
            .define("WHOLE", ending.is_some())
            .define("A_TRANSPOSED", self.how.transposed)
            .define("ABSOLUTE", self.how.absolute)
            .define("SIDE", side)
            .addressed("a", tile.part())
            .input("x", *x)
            .param("begin", [(range.first.1 / 4) as i32, (range.second.1 / 4) as i32])
            .param("quads", quads as i32)
            .param("first_share", first as i32)
            .param("share", quads.div_ceil(count) as i32)
            .param("first_row", (rows.first.1 / 4) as i32)
            .param("factors", factors(self.alpha))
            .masked(ending.is_some())
            .rounds(u64::from(quads.div_ceil(count)));
        let draw = match ending {
            Some(ending) => ending.describe(draw),
            None => draw,
        };
        draw.target(target).on(domain).run()
    }
}

/// The addition of shares.
struct Total<'a> {
    /// So many shares of so many texels of the result, [`side_by_side`].
    shares: View<'a>,
    side: u32,
    count: u32,
    height: u32,
    /// The texel of the result that the first row belongs to.
    first_row: usize,
    /// Sums of earlier shares, which lie as the target does.
    before: Option<&'a PooledTexture>,
    domain: Domain<'a>,
}

impl Total<'_> {
    /// Texels outside of the rows at hand stay as they are in `kept`.
    fn add(
        &self,
        target: View<'_>,
        ending: Ending<'_>,
        kept: Option<View<'_>>,
        factors: [f32; 2],
    ) -> Result<()> {
        let draw = Draw::new(target.device, glsl!("dense/total.frag"))
            .define("KEPT", kept.is_some())
            .define("SIDE", self.side)
            .addressed("partial", self.shares)
            .carried(
                "START",
                ("before", "before_here()"),
                self.before.map(|t| View { texture: t.texture(), ..target }),
            )
            .input_if("kept", kept)
            .param("first_row", self.first_row as i32)
            .param("shares", [self.count as i32, self.height as i32])
            .param("factors", factors)
            .masked(true);
        ending.describe(draw).target(target).on(self.domain).run()
    }
}

/// What a product comes to: `op(A) x` with a matrix of these tiles, into a vector of the extent `y`, or into the tiles of a
/// column.
pub(super) fn workload(device: &Device, grid: TileGrid, transposed: bool, y: Option<Extent>) -> Workload {
    let Shape { rows, cols } = if transposed { grid.shape().transposed() } else { grid.shape() };
    let (tall, wide) = (grid.tile_rows(), grid.tile_cols());
    let (outer, inner) = if transposed { (wide, tall) } else { (tall, wide) };
    // The vector's own tiles, where it has some, are as tall as those of the matrix.
    let (x_length, y_length) = if y.is_some() { (usize::MAX, usize::MAX) } else { (tall, tall) };
    let inner: Vec<_> = stretches(cols, inner, x_length).collect();
    let outer: Vec<_> = stretches(rows, outer, y_length).collect();
    let kept = y.is_some() && outer.len() > 1;
    let of = |stretch: &Stretch| {
        let height = stretch.length.div_ceil(4) as u32;
        let target = y.unwrap_or(Extent::new(1, height));
        // For four of the inner dimension: a block and its share of x.
        let part = |extent: Extent, quads: f64| {
            let pass = Workload::pass(extent, 1, Fetches::default().with_adjacent(5.0 * quads));
            pass.with_multiply_adds(16.0 * quads)
        };
        let quads = |range: &Stretch| range.length.div_ceil(4) as f64;
        let side = side(device, inner.len());
        let ranges = inner.len() * side as usize;
        let counts = inner.iter().map(|range| (range, shares(device, height, range.length, ranges)));
        let counts: Vec<_> = counts.collect();
        if let ([(range, 1)], false, Some(y)) = (counts.as_slice(), kept, y) {
            return part(y, quads(range) * y.area() as f64).cut(true);
        }
        // Side by side in one target.
        let shares = counts.iter().enumerate().map(|(i, (range, count))| {
            let pass = part(side_by_side(side, *count, height), quads(range) * f64::from(height));
            if i == 0 { pass } else { pass.with_target_changes(0.0) }
        });
        let (width, texels) = (counts.iter().map(|(_, count)| count).sum::<u32>(), target.area() as f64);
        let own = if kept { texels } else { 0.0 };
        let fetches = Fetches::default().with_own(own).with_looped(f64::from(width) * texels);
        let total = Workload::pass(target, 1, fetches).cut(true);
        shares.sum::<Workload>() + total.with_multiply_adds(4.0 * f64::from(width) * texels)
    };
    outer.iter().map(of).sum()
}

/// Texels of the result that lie side by side in each share; the others follow row by row. A software rasteriser computes
/// 4x2 fragments at once, and these then read of a matrix or of its transpose what lies side by side or close by. It is so as
/// long as all `ranges` have room in one texture.
fn side(device: &Device, ranges: usize) -> u32 {
    if device.is_software() && 4 * ranges <= device.max_texture_size() as usize { 4 } else { 1 }
}

/// The extent of `count` shares of `height` texels each, `side` wide.
fn side_by_side(side: u32, count: u32, height: u32) -> Extent {
    Extent::new(count * side, height.div_ceil(side))
}

/// In how many ranges `inner` columns are summed side by side for `height` texels of the result: enough to keep the
/// device busy, none shorter than is worth a fragment, and with room for `ranges` of that many in a texture.
pub(crate) fn shares(device: &Device, height: u32, inner: usize, ranges: usize) -> u32 {
    // A software rasteriser has a few threads, but pays for the second pass; a GPU wants many thousands of fragments.
    let (fragments, shortest) = if device.is_software() { (4_096, 32) } else { (32_768, 16) };
    let most = u32::try_from(inner.div_ceil(shortest)).unwrap_or(u32::MAX);
    let room = device.max_texture_size() / u32::try_from(ranges).unwrap_or(u32::MAX).max(1);
    (fragments / height.max(1)).min(256).min(most).min(room).max(1)
}
