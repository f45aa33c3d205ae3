//! What a product comes to, schedule by schedule: pure arithmetic on shapes.

use super::plan::{MatmulForm, Plan, stretches};
use super::run::Kind;
use super::schedule::{self, MatmulSchedule};
use super::uniform;
use crate::device::Device;
use crate::error::Result;
use crate::ops::check_shape;
use crate::ops::dense::vector;
use crate::profile::{Fetches, Workload};
use crate::shape::{Extent, Shape, TileGrid};

/// What [`matmul_with`](super::matmul_with) comes to for matrices of these shapes, on this device: `q / 4` times 5 fetches
/// and 16 multiply-adds a texel of `C` for one pass, fewer fetches for blocks; the panels of those, which are copied; and
/// operands that are transposed first.
///
/// *Cost*: nothing on the device. *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch),
/// [`Error::TooLarge`](crate::Error::TooLarge) for a matrix that no device holds, and those that
/// [`matmul_with`](super::matmul_with) has for the schedule.
///
/// ```
/// use texla::ops::{MatmulForm, MatmulSchedule, matmul_workload};
/// use texla::Shape;
/// # let ctx = texla::Headless::new(Default::default())?;
/// let (a, b) = (Shape::new(8, 12), Shape::new(12, 10)); // C has 2 x 10 texels
/// let work = matmul_workload(ctx.device(), MatmulForm::Plain, a, b, MatmulSchedule::OnePass)?;
/// assert_eq!((work.draws, work.written_texels[0]), (1.0, 20.0));
/// assert_eq!((work.fetches.adjacent, work.multiply_adds), (20.0 * 3.0 * 5.0, 20.0 * 3.0 * 16.0));
/// # Ok::<(), texla::Error>(())
/// ```
pub fn matmul_workload(
    device: &Device,
    form: MatmulForm,
    a: Shape,
    b: Shape,
    schedule: MatmulSchedule,
) -> Result<Workload> {
    let (op_a, op_b) = form.shapes(a, b);
    check_shape("matmul_workload", "b", op_b, Shape::new(op_a.cols, op_b.cols))?;
    let (schedule, _) = schedule::choose(device, form, op_a, op_b, schedule)?;
    if op_a.cols == 0 || op_a.rows == 0 || op_b.cols == 0 {
        return Ok(Workload::default());
    }
    counted(device, form, a, b, schedule)
}

/// The same for a schedule that can run.
pub(super) fn counted(
    device: &Device,
    form: MatmulForm,
    a: Shape,
    b: Shape,
    schedule: MatmulSchedule,
) -> Result<Workload> {
    let side = device.max_texture_size();
    let (op_a, op_b) = form.shapes(a, b);
    let grid = TileGrid::new(Shape::new(op_a.rows, op_b.cols), side)?;
    let kind = match schedule {
        MatmulSchedule::MatrixVector => {
            return Ok(vector::workload(device, TileGrid::new(a, side)?, form.transposes_a(), None));
        }
        MatmulSchedule::Outer => {
            let plan = Plan::new(form, a, b, grid, 1);
            let of = |(fresh, extent): (bool, Extent)| {
                let texels = extent.area() as f64;
                let pass = Workload::pass(extent, 1, Fetches::default().with_adjacent(2.0 * texels));
                let pass = pass.with_target_changes(f64::from(u8::from(fresh)));
                pass.cut(true).with_multiply_adds(4.0 * texels)
            };
            return Ok(regions(&plan).map(of).sum());
        }
        MatmulSchedule::Blocked { .. } | MatmulSchedule::Split { .. } | MatmulSchedule::Uniform
            if form.transposes_b() =>
        {
            let product = counted(device, MatmulForm::Plain, a, b.transposed(), schedule)?;
            return Ok(transposition(side, b)? + product);
        }
        MatmulSchedule::Split { buffers } => {
            let wanted = if device.is_software() { MatmulForm::Plain } else { MatmulForm::TransposedA };
            if form != wanted {
                return Ok(transposition(side, a)? + counted(device, wanted, a.transposed(), b, schedule)?);
            }
            Kind::Split(buffers)
        }
        MatmulSchedule::Uniform => Kind::Uniform(side),
        MatmulSchedule::Blocked { buffers } => Kind::Blocked(buffers),
        MatmulSchedule::Passes { multiply_adds } => Kind::Unrolled(multiply_adds),
        MatmulSchedule::OnePass | MatmulSchedule::Auto => Kind::Blocked(1),
    };
    let plan = Plan::new(form, a, b, grid, kind.quads(device));
    let inner: Vec<usize> = plan.inner.iter().map(|range| range.length).collect();
    let blends = device.gl().caps.borrow().float_blend;
    Ok(regions(&plan).map(|region| of_region(kind, form, region, &inner, blends)).sum())
}

/// Parts of `C` that are computed by themselves, and whether each lies in another tile than the one before.
fn regions(plan: &Plan) -> impl Iterator<Item = (bool, Extent)> {
    let extent = |rows: usize, cols: usize| Extent::new(cols as u32, rows.div_ceil(4) as u32);
    let mut last = None;
    let all = plan.rows.iter().flat_map(move |r| plan.cols.iter().map(move |c| (r, c)));
    all.map(move |(r, c)| {
        let tile = Some((r.first.0, c.first.0));
        (std::mem::replace(&mut last, tile) != tile, extent(r.length, c.length))
    })
}

fn of_region(
    kind: Kind,
    form: MatmulForm,
    (fresh, region): (bool, Extent),
    inner: &[usize],
    blends: bool,
) -> Workload {
    let (targets, panel) = (kind.targets(), kind.panel(region));
    let fragments = panel.area() as f64;
    // For four of the inner dimension.
    let fetched = match (kind, targets) {
        (Kind::Split(_), 8) => 6.0,
        (Kind::Split(_) | Kind::Uniform(_), _) => 4.0,
        (_, 1) if form.transposes_b() => 8.0,
        (_, 1) => 5.0,
        (_, n) => f64::from(n + 4),
    };
    let pass = |(i, length): (usize, &usize)| {
        let quads = length.div_ceil(4) as f64;
        let carried = if i > 0 && !blends { f64::from(targets) } else { 0.0 };
        let fetches = Fetches::default();
        let fetches = fetches.with_own(carried * fragments).with_adjacent(fetched * quads * fragments);
        let copies = match kind {
            Kind::Uniform(_) => uniform::copies(panel, length.div_ceil(4) as u32, form),
            _ => Workload::default(),
        };
        let pass = Workload::pass(panel, targets as usize, fetches).cut(true);
        let pass = pass
            .with_draws(match kind {
                Kind::Uniform(_) => f64::from(panel.height / 2),
                _ => 1.0,
            })
            .with_multiply_adds(16.0 * f64::from(targets) * quads * fragments);
        if i == 0 || !blends {
            return copies + pass;
        }
        // Added to the same targets.
        let blended = f64::from(targets) * fragments;
        // Which are the ones at hand still, where nothing else was drawn.
        let changes = copies.target_changes.min(1.0);
        let pass = pass.with_target_changes(changes).with_written_texels([0.0; 4]);
        copies + pass.with_blended_texels(blended)
    };
    let computed: Workload = inner.iter().enumerate().map(pass).sum();
    if targets == 1 && (blends || inner.len() == 1) {
        // Into `C` itself.
        let changes = computed.target_changes - f64::from(u8::from(!fresh));
        return computed.with_target_changes(changes);
    }
    let copy = |(i, (_, _, extent)): (usize, (u32, [u32; 2], Extent))| {
        let copied =
            Workload::pass(extent, 1, Fetches::default().with_adjacent(extent.area() as f64)).cut(true);
        // All into one tile.
        if i == 0 { copied } else { copied.with_target_changes(0.0) }
    };
    computed + kind.covered(region).enumerate().map(copy).sum()
}

/// What a transposed copy comes to: each tile is drawn once for each tile of the other matrix that it meets.
fn transposition(side: u32, from: Shape) -> Result<Workload> {
    let to = TileGrid::new(from.transposed(), side)?;
    let (tall, wide) = (to.tile_rows(), to.tile_cols());
    let mut all = Workload::default();
    for (i, j) in to.places() {
        let (extent, shape) = (to.extent(i, j), to.tile_shape(i, j));
        let met = stretches(shape.rows, tall, wide).count() * stretches(shape.cols, wide, tall).count();
        let texels = extent.area() as f64;
        let first = Workload::pass(extent, 1, Fetches::default().with_strided(4.0 * texels)).cut(true);
        let kept = Workload::default().with_fetches(Fetches::default().with_own(texels));
        all = all + first * met as f64 + kept * met.saturating_sub(1) as f64;
    }
    Ok(all)
}
