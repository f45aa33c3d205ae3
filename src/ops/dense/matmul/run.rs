//! From a plan to passes.

use super::plan::{MatmulForm, Plan, Stretch};
use super::schedule::MatmulSchedule;
use super::uniform;
use crate::data::{Matrix, Tile};
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Accum, Domain, Draw, PooledTexture, View};
use crate::ops::dense::outer::outer_part;
use crate::ops::dense::vector;
use crate::shape::{Extent, Shape};

/// Runs a product with an inner dimension and a result that are not empty.
pub(super) fn run(
    c: &mut Matrix,
    form: MatmulForm,
    a: &Matrix,
    b: &Matrix,
    schedule: MatmulSchedule,
) -> Result<()> {
    let side = c.device().max_texture_size();
    match schedule {
        MatmulSchedule::MatrixVector => {
            let x: Vec<_> = b.tiles().map(|t| t.part()).collect();
            let y: Vec<_> = c.tiles().map(|t| t.part()).collect();
            vector::product_of_parts(&y, a, &x, form.transposes_a())
        }
        MatmulSchedule::Outer => outer(c, form, a, b),
        MatmulSchedule::Blocked { .. } | MatmulSchedule::Split { .. } | MatmulSchedule::Uniform
            if form.transposes_b() =>
        {
            // Four elements of a row of B lie in four texels: transposing it once is cheaper than fetching each four times.
            run(c, MatmulForm::Plain, a, &b.transposed()?, schedule)
        }
        MatmulSchedule::Split { buffers } => {
            // A quad of the rasteriser reads A in four places at once. On GPUs those are neighbours when A is read as its
            // transpose; a software rasteriser reads along the rows of textures best. Either is worth a pass.
            let wanted = if c.device().is_software() { MatmulForm::Plain } else { MatmulForm::TransposedA };
            if form == wanted {
                return Product { c, form, a, b, kind: Kind::Split(buffers) }.run();
            }
            Product { c, form: wanted, a: &a.transposed()?, b, kind: Kind::Split(buffers) }.run()
        }
        MatmulSchedule::Uniform => Product { c, form, a, b, kind: Kind::Uniform(side) }.run(),
        MatmulSchedule::Blocked { buffers } => Product { c, form, a, b, kind: Kind::Blocked(buffers) }.run(),
        MatmulSchedule::Passes { multiply_adds } => {
            Product { c, form, a, b, kind: Kind::Unrolled(multiply_adds) }.run()
        }
        MatmulSchedule::OnePass | MatmulSchedule::Auto => {
            Product { c, form, a, b, kind: Kind::Blocked(1) }.run()
        }
    }
}

/// What a pass of a product is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// This many multiply-adds, in a program without a loop, for one target.
    Unrolled(u32),
    /// A block over 1, 4 or 8 targets.
    Blocked(u32),
    /// The same, each fragment summing a quarter of the inner dimension for all four of its quad.
    Split(u32),
    /// Eight columns for each draw, with `B` in a uniform buffer, in textures up to this side.
    Uniform(u32),
}

impl Kind {
    pub fn targets(self) -> u32 {
        match self {
            Kind::Unrolled(_) => 1,
            Kind::Blocked(targets) | Kind::Split(targets) => targets,
            Kind::Uniform(_) => uniform::COLUMNS,
        }
    }

    /// Panels of `C` side by side and one above the other, a target for each.
    fn panels(self) -> (u32, u32) {
        match (self, self.targets()) {
            (Kind::Uniform(_), _) => (uniform::COLUMNS, 1),
            (_, 8) => (4, 2),
            (_, 4) => (4, 1),
            _ => (1, 1),
        }
    }

    /// What of a region's texels a target holds: all, or a part. Quads of the rasteriser are whole where they count.
    fn share(self, region: Extent) -> Extent {
        let (across, up) = self.panels();
        let (width, height) = (region.width.div_ceil(across), region.height.div_ceil(up));
        match self {
            Kind::Split(_) => Extent::new(width.next_multiple_of(2), height.next_multiple_of(2)),
            Kind::Blocked(_) | Kind::Unrolled(_) | Kind::Uniform(_) => Extent::new(width, height),
        }
    }

    /// The extent of a target, in which these may lie otherwise than in `C`.
    pub fn panel(self, region: Extent) -> Extent {
        let share = self.share(region);
        match self {
            Kind::Uniform(side) => Extent::new(uniform::width(region, side), 2 * share.width),
            _ => share,
        }
    }

    /// Groups of four inner indices in one pass at most.
    pub fn quads(self, device: &Device) -> usize {
        match self {
            Kind::Unrolled(n) => n as usize,
            Kind::Blocked(_) | Kind::Split(_) => usize::MAX,
            Kind::Uniform(_) => uniform::most_quads(device).unwrap_or(1) as usize,
        }
    }

    /// What of a region the panels cover: their places in it and their extents, those all beyond its edge left out.
    pub fn covered(self, region: Extent) -> impl Iterator<Item = (u32, [u32; 2], Extent)> {
        let (panel, (across, _)) = (self.share(region), self.panels());
        (0..self.targets()).filter_map(move |k| {
            let (left, below) = ((k % across) * panel.width, (k / across) * panel.height);
            let width = region.width.saturating_sub(left).min(panel.width);
            let height = region.height.saturating_sub(below).min(panel.height);
            (width > 0 && height > 0).then_some((k, [left, below], Extent::new(width, height)))
        })
    }
}

/// A product that is a plan of passes.
pub(super) struct Product<'a> {
    pub c: &'a Matrix,
    pub form: MatmulForm,
    pub a: &'a Matrix,
    pub b: &'a Matrix,
    kind: Kind,
}

/// A rectangle of a tile of `C` that depends on one row of tiles of `op(A)` and one column of tiles of `op(B)`.
pub(super) struct Region<'a> {
    pub rows: &'a Stretch,
    pub cols: &'a Stretch,
    /// Its place among the texels of the tile.
    at: [u32; 2],
    pub extent: Extent,
}

impl Product<'_> {
    fn run(&self) -> Result<()> {
        let device = self.c.device();
        let grid = self.c.tile_grid();
        let plan = Plan::new(self.form, self.a.shape(), self.b.shape(), grid, self.kind.quads(device));
        let tiles: Vec<_> = self.c.tiles().collect();
        for rows in &plan.rows {
            for cols in &plan.cols {
                let Some(tile) = tiles.get(rows.first.0 * grid.across() + cols.first.0) else { continue };
                // Within a texture, sizes fit 32 bits.
                let at = [cols.first.1 as u32, (rows.first.1 / 4) as u32];
                let extent = Extent::new(cols.length as u32, rows.length.div_ceil(4) as u32);
                let region = Region { rows, cols, at, extent };
                let blends = device.gl().caps.borrow().float_blend;
                if self.kind.targets() == 1 && (blends || plan.inner.len() == 1) {
                    self.directly(tile, &region, &plan.inner)?;
                } else {
                    self.in_panels(tile, &region, &plan.inner, blends)?;
                }
            }
        }
        Ok(())
    }

    /// Into `C` itself.
    fn directly(&self, tile: &Tile<'_>, region: &Region<'_>, inner: &[Stretch]) -> Result<()> {
        for (i, range) in inner.iter().enumerate() {
            let accum = if i == 0 { Accum::Replace } else { Accum::Add };
            self.pass(&[tile.part()], region.at, region, range, accum, &[])?;
        }
        Ok(())
    }

    /// Into one scratch texture for each target, from which `C` is put together.
    fn in_panels(&self, tile: &Tile<'_>, region: &Region<'_>, inner: &[Stretch], blends: bool) -> Result<()> {
        let device = self.c.device();
        let (extent, targets) = (self.kind.panel(region.extent), self.kind.targets());
        let fresh = || (0..targets).map(|_| device.scratch(extent, "matmul")).collect::<Result<Vec<_>>>();
        let mut panels: Vec<PooledTexture> = Vec::new();
        for (i, range) in inner.iter().enumerate() {
            // Without blending, a pass reads the sums so far and writes others.
            let carried =
                if i == 0 || !blends { std::mem::replace(&mut panels, fresh()?) } else { Vec::new() };
            let carried: Vec<_> = carried.iter().map(|t| View::part(device, t.texture(), extent)).collect();
            let targets: Vec<_> = panels.iter().map(|t| View::part(device, t.texture(), extent)).collect();
            let accum = if i == 0 || !blends { Accum::Replace } else { Accum::Add };
            match self.kind {
                Kind::Uniform(_) => self.uniform_pass(&targets, region, range, accum, &carried)?,
                _ => self.pass(&targets, [0, 0], region, range, accum, &carried)?,
            }
        }
        for (k, [left, below], Extent { width, height }) in self.kind.covered(region.extent) {
            let Some(panel) = panels.get(k as usize) else { continue };
            let (x, y) = (region.at[0] + left, region.at[1] + below);
            Draw::new(device, glsl!("dense/assemble.frag"))
                .define("FOLDED", matches!(self.kind, Kind::Uniform(_)))
                .addressed("panel", View::part(device, panel.texture(), extent))
                .param("origin", [x as i32, y as i32])
                .param("width", extent.width as i32)
                .masked(true)
                .target(tile.part())
                .on(Domain::Rect { x, y, width, height })
                .run()?;
        }
        Ok(())
    }

    /// One range of the inner dimension. The region lies at `at` in the targets.
    fn pass(
        &self,
        targets: &[View<'_>],
        at: [u32; 2],
        region: &Region<'_>,
        range: &Stretch,
        accum: Accum,
        carried: &[View<'_>],
    ) -> Result<()> {
        let device = self.c.device();
        let a = operand(self.a, self.form.transposes_a(), region.rows.second.0, range.first.0);
        let b = operand(self.b, self.form.transposes_b(), range.second.0, region.cols.second.0);
        let (Some(a), Some(b)) = (a, b) else { return Ok(()) };
        let Extent { width, height } = self.kind.panel(region.extent);
        let count = self.kind.targets();
        let source = match self.kind {
            Kind::Split(_) => glsl!("dense/split.frag"),
            _ => glsl!("dense/matmul.frag"),
        };
        let offset = |k: usize| k as i32;
        let (quads, is_carried) = (offset(range.length.div_ceil(4)), !carried.is_empty());
        let draw = Draw::new(device, source)
            .define("TARGETS", count)
            .define("A_TRANSPOSED", self.form.transposes_a())
            .define("B_TRANSPOSED", self.form.transposes_b())
            .addressed("a", a)
            .addressed("b", b)
            .inputs("carried", carried.iter().copied())
            .param("begin", [offset(range.first.1 / 4), offset(range.second.1 / 4)])
            .param(
                "origin",
                [
                    offset(region.cols.second.1) - at[0] as i32,
                    offset(region.rows.second.1 / 4) - at[1] as i32,
                ],
            )
            .param("slabs", [width as i32, height as i32])
            .param("inner_end", offset(range.second.1 + range.length));
        // A program of the paper's has its multiply-adds written out; the last pass has fewer.
        match self.kind {
            Kind::Unrolled(_) => draw.define("QUADS", quads),
            _ => draw.define("QUADS", "quads").param("quads", quads),
        }
        .define("START(carried)", if is_carried { "(carried)" } else { "vec4(0.0)" })
        .masked(true)
        .targets(targets.iter().copied())
        .on(Domain::Rect { x: at[0], y: at[1], width, height })
        .accumulate(accum)
        .rounds(quads.unsigned_abs().into())
        .run()
    }
}

/// The tile of an operand that is (`row`, `col`) of `op(M)`.
pub(super) fn operand(m: &Matrix, transposed: bool, row: usize, col: usize) -> Option<View<'_>> {
    let (i, j) = if transposed { (col, row) } else { (row, col) };
    m.tiles().nth(i * m.tile_grid().across() + j).map(|tile| tile.part())
}

/// `C_ij = op(A)_i1 op(B)_1j`.
fn outer(c: &Matrix, form: MatmulForm, a: &Matrix, b: &Matrix) -> Result<()> {
    let (a_row, b_row) = (form.transposes_a(), !form.transposes_b());
    // A plan with an inner dimension of 1: one range.
    let plan = Plan::new(form, a.shape(), b.shape(), c.tile_grid(), 1);
    let tiles: Vec<_> = c.tiles().collect();
    for rows in &plan.rows {
        for cols in &plan.cols {
            let Some(tile) = tiles.get(rows.first.0 * c.tile_grid().across() + cols.first.0) else {
                continue;
            };
            let x = operand(a, form.transposes_a(), rows.second.0, 0);
            let y = operand(b, form.transposes_b(), 0, cols.second.0);
            let (Some(x), Some(y)) = (x, y) else { continue };
            let at = [cols.first.1 as u32, (rows.first.1 / 4) as u32];
            let from = [cols.second.1 as i32, (rows.second.1 / 4) as i32];
            let extent = Shape::new(rows.length, cols.length);
            outer_part(&tile.part(), (at, extent), (&x, a_row), (&y, b_row), from, 1.0)?;
        }
    }
    Ok(())
}
