//! Products of dense matrices with vectors.

use std::rc::Rc;

use super::matmul::{Stretch, stretches};
use crate::data::{Matrix, Vector, exponent};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, UniformValue, glsl};
use crate::kernel::{Compiled, Domain, Field, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};
use crate::ops::product::{Accurate, Combine, accumulate, check_product};
use crate::ops::{check_shape, require_exact};
use crate::shape::{Extent, Shape};

/// `y = combine(α A x)` for a dense matrix.
///
/// *Shapes*: `A` n x m, `x` m, `y` and the vector in `combine` n. *Cost*: 1 draw for small matrices; else 2, the first
/// of which sums ranges of columns side by side; for a tiled matrix 2 for each row of tiles and 1 for each tile.
/// 5 fetches for 16 multiply-adds. No readback. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`],
/// [`Error::Parameter`] for an `α` that is not finite. *Bound*: `γ_(m+2) (|α| |A| |x| + |z|)_i`. *Source*:
/// \[Moravanszky03\] 4.1.
///
/// ```
/// use texla::{Matrix, Shape, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let x = Vector::from_slice(dev, &[1., 10., 100.])?;
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::dense_product(&mut y, Combine::Replace, 2.0, &a, &x)?;
/// assert_eq!(y.read()?, [642., 1308.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn dense_product(y: &mut Vector, combine: Combine<'_>, alpha: f32, a: &Matrix, x: &Vector) -> Result<()> {
    check_product("dense_product", a.shape(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, Use { transposed: false, absolute: false })
}

/// `y = combine(α Aᵀ x)` for a dense matrix, without transposing it in memory.
///
/// *Shapes*: `A` n x m, `x` n, `y` and the vector in `combine` m. *Cost*, *errors* and *bound*: as [`dense_product`].
pub fn dense_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &Matrix,
    x: &Vector,
) -> Result<()> {
    check_product("dense_product_transposed", a.shape().transposed(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, Use { transposed: true, absolute: false })
}

/// How the matrix enters a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Use {
    pub transposed: bool,
    /// `|A|` in place of `A`.
    pub absolute: bool,
}

/// The result of a product: all of a vector, or the tiles of a column.
enum Target<'a> {
    Vector { y: View<'a>, combine: Combine<'a> },
    Column(&'a [View<'a>]),
}

pub(super) fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &Matrix,
    x: &Vector,
    how: Use,
) -> Result<()> {
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| product(sum, combine, alpha, a, x, how));
    }
    let whole = usize::MAX;
    Product { a, how, x: &[x.view()], x_length: whole, y_length: whole, alpha }
        .run(&Target::Vector { y: y.view(), combine })
}

/// `y = op(A) x` for matrices with one column, given by their tiles.
pub(super) fn product_of_parts(y: &[View<'_>], a: &Matrix, x: &[View<'_>], transposed: bool) -> Result<()> {
    let length = a.tile_grid().tile_rows();
    let how = Use { transposed, absolute: false };
    Product { a, how, x, x_length: length, y_length: length, alpha: 1.0 }.run(&Target::Column(y))
}

struct Product<'a> {
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
fn factors(alpha: f32) -> [f32; 2] {
    let half = exponent(f64::from(alpha.abs())) / 2;
    let first = f64::from(half).exp2();
    [(f64::from(alpha) / first) as f32, first as f32]
}

impl Product<'_> {
    fn run(&self, target: &Target<'_>) -> Result<()> {
        let device = self.a.device();
        let _scope = device.scope()?;
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
                    self.rows(stretch, &inner, *part, Combine::Replace, None, rect)?;
                }
                Target::Vector { y, combine } if i + 1 == outer.len() => {
                    let kept = kept.as_ref().map(|t| View::whole(device, t.texture()));
                    let kept = if outer.len() > 1 { kept.or(Some(*y)) } else { None };
                    self.rows(stretch, &inner, *y, *combine, kept, Domain::Full)?;
                }
                Target::Vector { y, combine } => {
                    let next = device.texture(y.extent, Format::Rgba32F, "dense product")?;
                    // What is kept of the first has nothing in it yet, and every row is written once.
                    let before = match &kept {
                        Some(t) => View::whole(device, t.texture()),
                        None => *y,
                    };
                    let part = View { texture: next.texture(), ..*y };
                    self.rows(stretch, &inner, part, *combine, Some(before), Domain::Full)?;
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
        combine: Combine<'_>,
        kept: Option<View<'_>>,
        domain: Domain<'_>,
    ) -> Result<()> {
        let device = self.a.device();
        let height = rows.length.div_ceil(4) as u32;
        let shares: Vec<u32> =
            inner.iter().map(|range| shares(device.is_software(), height, range.length)).collect();
        if let ([range], [1], None, Domain::Full) = (inner, shares.as_slice(), kept, domain) {
            return self.share(rows, range, target, Some(combine), 0, 1, Domain::Full);
        }
        let extent = Extent::new(shares.iter().sum::<u32>().max(1), height);
        let partial = device.scratch(extent, "dense product")?;
        let partial = View::part(device, partial.texture(), extent);
        let mut first = 0;
        for (range, count) in inner.iter().zip(&shares) {
            let domain = Domain::Rect { x: first, y: 0, width: *count, height };
            self.share(rows, range, partial, None, first, *count, domain)?;
            first += count;
        }
        let z = combine.operand();
        let key = format!("dense total {} {}", combine.define(), kept.is_some());
        let kernel = device.kernel(&key, || {
            let fields = [
                Field { name: "first_row", kind: i32::KIND },
                Field { name: "shares", kind: <[i32; 2]>::KIND },
                Field { name: "factors", kind: <[f32; 2]>::KIND },
            ];
            let mut inputs = vec!["partial"];
            inputs.extend(kept.map(|_| "kept"));
            inputs.extend(z.map(|_| "z"));
            KernelSpec::fragment(glsl!("dense/total.frag"), &inputs, &fields, &["out"])
                .with(&format!("#define KEPT {}", u8::from(kept.is_some())))
                .with(combine.define())
                .masked()
        })?;
        // Without an inner dimension there are no shares to add.
        let count = if inner.is_empty() { 0 } else { extent.width as i32 };
        let params = vec![
            UniformValue::Int((rows.second.1 / 4) as i32),
            UniformValue::IVec2([count, height as i32]),
            UniformValue::Vec2(factors(self.alpha)),
        ];
        let mut inputs = vec![partial];
        inputs.extend(kept);
        inputs.extend(z.map(Operand::view));
        device.execute(&Pass::new(&kernel, vec![target], inputs).params(params).on(domain))
    }

    /// The shares of one range of the inner dimension, or all there is where `combine` is given.
    #[allow(clippy::too_many_arguments)]
    fn share(
        &self,
        rows: &Stretch,
        range: &Stretch,
        target: View<'_>,
        combine: Option<Combine<'_>>,
        first: u32,
        count: u32,
        domain: Domain<'_>,
    ) -> Result<()> {
        let device = self.a.device();
        let (row, col) = (rows.first.0, range.first.0);
        let (i, j) = if self.how.transposed { (col, row) } else { (row, col) };
        let tile = self.a.tiles().nth(i * self.a.tile_grid().across() + j);
        let (Some(tile), Some(x)) = (tile, self.x.get(range.second.0)) else { return Ok(()) };
        let kernel = self.partial_kernel(device, combine)?;
        let quads = range.length.div_ceil(4) as u32;
        let params = vec![
            UniformValue::IVec2([(range.first.1 / 4) as i32, (range.second.1 / 4) as i32]),
            UniformValue::Int(quads as i32),
            UniformValue::Int(first as i32),
            UniformValue::Int(quads.div_ceil(count) as i32),
            UniformValue::Int((rows.first.1 / 4) as i32),
            UniformValue::Vec2(factors(self.alpha)),
        ];
        let mut inputs = vec![tile.part(), *x];
        inputs.extend(combine.and_then(|c| c.operand()).map(Operand::view));
        device.execute(&Pass::new(&kernel, vec![target], inputs).params(params).on(domain))
    }

    fn partial_kernel(&self, device: &Device, combine: Option<Combine<'_>>) -> Result<Rc<Compiled>> {
        let flag = |on: bool| u8::from(on);
        let defines = format!(
            "#define WHOLE {}\n#define A_TRANSPOSED {}\n#define ABSOLUTE {}\n{}",
            flag(combine.is_some()),
            flag(self.how.transposed),
            flag(self.how.absolute),
            combine.as_ref().map_or("", Combine::define),
        );
        device.kernel(&format!("dense partial {defines}"), || {
            let int = |name| Field { name, kind: i32::KIND };
            let fields = [
                Field { name: "begin", kind: <[i32; 2]>::KIND },
                int("quads"),
                int("first_share"),
                int("share"),
                int("first_row"),
                Field { name: "factors", kind: <[f32; 2]>::KIND },
            ];
            let mut inputs = vec!["a", "x"];
            inputs.extend(combine.and_then(|c| c.operand()).map(|_| "z"));
            let spec =
                KernelSpec::fragment(glsl!("dense/partial.frag"), &inputs, &fields, &["out"]).with(&defines);
            if combine.is_some() { spec.masked() } else { spec }
        })
    }
}

/// In how many ranges `inner` columns are summed side by side for `height` texels of the result: enough to keep the
/// device busy, none shorter than is worth a fragment.
fn shares(software: bool, height: u32, inner: usize) -> u32 {
    // A software rasteriser has a few threads, but pays for the second pass; a GPU wants many thousands of fragments.
    let (fragments, shortest) = if software { (4_096, 32) } else { (32_768, 16) };
    let most = u32::try_from(inner.div_ceil(shortest)).unwrap_or(u32::MAX);
    (fragments / height.max(1)).clamp(1, 256).min(most.max(1))
}

/// `out = α op(A) x + β z` accumulated in double-float, rounded once.
///
/// *Shapes*: as [`dense_product`]. *Cost*: 1 draw into two targets for every `2²³ / n` columns (`2²⁸ / n` on a GPU) of
/// each tile. *Errors*: [`Error::ShapeMismatch`]; [`Error::Unsupported`] where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `m 2⁻⁴⁶ |A| |x|`.
pub fn dense_accurate(out: &mut Vector, a: &Matrix, terms: Accurate<'_>) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "dense_accurate";
    let shape = if transposed { a.shape().transposed() } else { a.shape() };
    check_product(op, shape, out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    require_exact(device, op)?;
    let _scope = device.scope()?;
    let grid = a.tile_grid();
    let (tall, wide) = (grid.tile_rows(), grid.tile_cols());
    let (outer, inner) = if transposed { (wide, tall) } else { (tall, wide) };
    let work = if device.is_software() { 1 << 23 } else { 1 << 28 };
    let most = (work / shape.rows.clamp(1, outer)).max(4);
    let most = (most - most % 4).min(inner);
    let rows: Vec<_> = stretches(shape.rows, outer, usize::MAX).collect();
    let cols: Vec<_> = stretches(shape.cols, inner, usize::MAX)
        .flat_map(|whole| {
            (0..whole.length).step_by(most).map(move |begin| Stretch {
                length: most.min(whole.length - begin),
                first: (whole.first.0, whole.first.1 + begin),
                second: (whole.second.0, whole.second.1 + begin),
            })
        })
        .collect();
    let passes: Vec<_> = rows.iter().flat_map(|r| cols.iter().map(move |c| (r, c))).collect();
    if passes.is_empty() {
        return match plus {
            Some((beta, z)) => crate::ops::scaled(out, beta, z),
            None => out.set_zero(),
        };
    }
    let scratch = || device.texture(out.extent(), Format::Rgba32F, op);
    let mut carried: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (rows, cols)) in passes.iter().enumerate() {
        let last = i + 1 == passes.len();
        let kernel = accurate_kernel(device, transposed, carried.is_some(), plus.is_some())?;
        let (r, c) = (rows.first.0, cols.first.0);
        let (r, c) = if transposed { (c, r) } else { (r, c) };
        let Some(tile) = a.tiles().nth(r * grid.across() + c) else { continue };
        let mut inputs = vec![tile.part(), x.view()];
        match &carried {
            Some((high, low)) => inputs.extend([like(out, high), like(out, low)]),
            None => inputs.extend(plus.map(|(_, z)| z.view())),
        }
        let half = f64::from(exponent(f64::from(alpha.abs())) / 2).exp2();
        let params = vec![
            UniformValue::IVec2([(cols.first.1 / 4) as i32, (cols.second.1 / 4) as i32]),
            UniformValue::Int(cols.length.div_ceil(4) as i32),
            UniformValue::IVec2([(rows.second.1 / 4) as i32, rows.length.div_ceil(4) as i32]),
            UniformValue::Int((rows.first.1 / 4) as i32),
            UniformValue::Vec2([(f64::from(alpha) / half) as f32, half as f32]),
            UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)),
        ];
        let low = scratch()?;
        if last {
            let targets = vec![out.view(), like(out, &low)];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
        } else {
            let high = scratch()?;
            let targets = vec![like(out, &high), like(out, &low)];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            carried = Some((high, low));
        }
    }
    Ok(())
}

/// A texture of the same extent, with the same padding lanes.
fn like<'a>(out: &'a Vector, texture: &'a PooledTexture) -> View<'a> {
    View { texture: texture.texture(), ..out.view() }
}

fn accurate_kernel(device: &Device, transposed: bool, carried: bool, added: bool) -> Result<Rc<Compiled>> {
    device.kernel(&format!("dense accurate {transposed} {carried} {added}"), || {
        let int = |name| Field { name, kind: i32::KIND };
        let pair = |name| Field { name, kind: <[i32; 2]>::KIND };
        let fields = [
            pair("begin"),
            int("quads"),
            pair("rows"),
            int("first_row"),
            Field { name: "factors", kind: <[f32; 2]>::KIND },
            Field { name: "beta", kind: f32::KIND },
        ];
        let mut inputs = vec!["a", "x"];
        let (mut high, mut low) = ("vec4(0.0)", "vec4(0.0)");
        if carried {
            inputs.extend(["carried_high", "carried_low"]);
            (high, low) = ("carried_high_here()", "carried_low_here()");
        } else if added {
            inputs.push("z");
            high = "beta * z_here()";
        }
        KernelSpec::fragment(glsl!("dense/accurate.frag"), &inputs, &fields, &["high_part", "low_part"])
            .with(&format!("#define A_TRANSPOSED {}", u8::from(transposed)))
            .with(&format!("#define START_HIGH {high}\n#define START_LOW {low}"))
            .masked()
    })
}

/// `C_ij = α x_i y_j`.
///
/// *Shapes*: `x` n, `y` m, `C` n x m. *Cost*: 1 draw a tile, 2 fetches a texel. *Errors*: [`Error::ShapeMismatch`],
/// [`Error::WrongDevice`], [`Error::Parameter`] for an `α` that is not finite.
///
/// ```
/// use texla::{Matrix, Shape, Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let (x, y) = (Vector::from_slice(dev, &[1., 2.])?, Vector::from_slice(dev, &[3., 4., 5.])?);
/// let mut c = Matrix::zeros(dev, Shape::new(2, 3))?;
/// ops::outer(&mut c, 10.0, &x, &y)?;
/// assert_eq!(c.read()?, [30., 40., 50., 60., 80., 100.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn outer(c: &mut Matrix, alpha: f32, x: &Vector, y: &Vector) -> Result<()> {
    let op = "outer";
    check_shape(op, "x", x.shape(), Shape::column(c.shape().rows))?;
    check_shape(op, "y", y.shape(), Shape::column(c.shape().cols))?;
    if !alpha.is_finite() {
        let (name, value, expected) = ("alpha", alpha.to_string(), "a finite number");
        return Err(Error::Parameter { op, name, value, expected });
    }
    let device = c.device().clone();
    let _scope = device.scope()?;
    c.tiles().try_for_each(|tile| {
        let (row, col) = tile.origin;
        let from = [col as i32, (row / 4) as i32];
        let all = ([0, 0], tile.shape);
        if tile.shape.is_empty() {
            return Ok(());
        }
        outer_part(&tile.part(), all, (&x.view(), false), (&y.view(), false), from, alpha)
    })
}

/// A rectangle of an outer product: where it lies among the target's texels and how many elements it has; either
/// operand, and whether it is a row of a matrix; the first column and the first texel row that meet it.
pub(super) fn outer_part(
    target: &View<'_>,
    (at, shape): ([u32; 2], Shape),
    (x, x_row): (&View<'_>, bool),
    (y, y_row): (&View<'_>, bool),
    from: [i32; 2],
    alpha: f32,
) -> Result<()> {
    let device = target.device;
    let defines = format!("#define X_ROW {}\n#define Y_ROW {}", u8::from(x_row), u8::from(y_row));
    let kernel = device.kernel(&format!("outer {defines}"), || {
        let fields =
            [Field { name: "origin", kind: <[i32; 2]>::KIND }, Field { name: "alpha", kind: f32::KIND }];
        KernelSpec::fragment(glsl!("dense/outer.frag"), &["x", "y"], &fields, &["out"])
            .with(&defines)
            .masked()
    })?;
    let params = vec![
        UniformValue::IVec2([from[0] - at[0] as i32, from[1] - at[1] as i32]),
        UniformValue::Float(alpha),
    ];
    let (width, height) = (shape.cols as u32, shape.rows.div_ceil(4) as u32);
    let domain = Domain::Rect { x: at[0], y: at[1], width, height };
    device.execute(&Pass::new(&kernel, vec![*target], vec![*x, *y]).params(params).on(domain))
}
