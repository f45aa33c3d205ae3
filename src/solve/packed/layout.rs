//! Where the quads of a block lie in textures, and which of them a draw writes.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::BlockUse;
use crate::error::{Error, Result};
use crate::gl::Capabilities;
use crate::pack::{Order, Program, QuadPart, RepeatedExpression, Tiles};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// How the quads of the blocks lie in textures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockLayout {
    /// A texture for each quad, a texel in it for each block: \[Bajaj04\] section 4. A draw may write several quads.
    #[default]
    Apart,
    /// One texture with a rectangle for each quad, a texel in it for each block: as nearly square as the texture size lets it
    /// be. A draw writes one rectangle, and draws that follow one another write to the same target.
    Stacked,
    /// A texture of one channel (R32F) for each unknown, a texel in it for each block: \[Bajaj04\]'s programs for blocks of
    /// one. Where the others have quads, of everything said of quads, these have single unknowns, in the order of their
    /// positions: in place, each sees the new values of all before it.
    Single,
    /// One texture of one channel with a rectangle for each unknown.
    SingleStacked,
}

impl BlockLayout {
    /// Unknowns in a texel: 4, or 1.
    pub fn lanes(self) -> usize {
        match self {
            BlockLayout::Apart | BlockLayout::Stacked => 4,
            BlockLayout::Single | BlockLayout::SingleStacked => 1,
        }
    }

    /// Whether all quads share a texture.
    pub(super) fn is_stacked(self) -> bool {
        matches!(self, BlockLayout::Stacked | BlockLayout::SingleStacked)
    }

    /// The expression whose quads are what stands in a texel, and its order.
    pub(super) fn lowered<'a>(
        self,
        e: &'a RepeatedExpression,
        order: &'a Order,
    ) -> Result<(Cow<'a, RepeatedExpression>, Cow<'a, Order>)> {
        if self.lanes() == 4 {
            return Ok((Cow::Borrowed(e), Cow::Borrowed(order)));
        }
        let spread = e.spread(&order.compact())?;
        let identity = Order::identity(spread.block().unknowns());
        Ok((Cow::Owned(spread), Cow::Owned(identity)))
    }
}

/// How a [`BlockExpression`](super::BlockExpression) is laid out and drawn. Results are the same to the bit, among layouts of
/// quads and among those of [single unknowns](BlockLayout::Single).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockParams {
    /// How the quads lie in textures.
    pub layout: BlockLayout,
    /// How many quads a draw writes at most, each to a target of its own; as many as the device has draw buffers, and units
    /// for what they read, are not passed, nor one with stacked quads. What quads of a draw read
    /// is fetched once for all of them. In place, those that read new values of one another are never drawn together: an
    /// order in which quads next to one another do not is drawn with the fewest draws.
    pub targets: usize,
    /// y = A x - b in place of y = A x + b, at the same cost: two steps back in time have that sign.
    pub subtract_b: bool,
}

with!(const BlockParams:
    with_layout(layout: BlockLayout),
    with_targets(targets: usize),
    with_subtract_b(subtract_b: bool),
);

impl Default for BlockParams {
    /// Quads apart, one a draw, and b added.
    fn default() -> Self {
        BlockParams { layout: BlockLayout::Apart, targets: 1, subtract_b: false }
    }
}

/// The rectangles of `quads` quads of (width, height) blocks in the squarest texture there is room for.
pub(super) fn tiles(e: &RepeatedExpression, layout: BlockLayout, limit: u32) -> Result<Option<Tiles>> {
    let what = "BlockVector";
    if let Some(&side) = e.blocks().iter().find(|&&side| side > limit as usize) {
        let unit = "blocks in one direction";
        return Err(Error::TooLarge { what, requested: side as u64, limit: u64::from(limit), unit });
    }
    if !layout.is_stacked() {
        return Ok(None);
    }
    // Sides within the texture size.
    let (size, quads) = (e.blocks().map(|side| side as u32), e.block().quads() as u64);
    let sides = |columns: u64| [u64::from(size[0]) * columns, u64::from(size[1]) * quads.div_ceil(columns)];
    let longest = |columns: &u64| sides(*columns).into_iter().max();
    let Some(columns) = (1..=quads).min_by_key(longest) else { return Ok(None) };
    match sides(columns).into_iter().max() {
        Some(side) if side > u64::from(limit) => {
            let unit = "texels in one direction with all quads in one texture";
            Err(Error::TooLarge { what, requested: side, limit: u64::from(limit), unit })
        }
        _ => Ok(Some(Tiles { size, columns: columns as u32 })),
    }
}

/// Which quads are drawn together.
pub(crate) struct Schedule {
    /// Each once: those of both lists.
    pub parts: Vec<QuadPart>,
    /// The numbers of the parts, all of which read old values.
    pub at_once: Vec<usize>,
    /// The same, where none reads what another quad of it becomes.
    pub in_turn: Vec<usize>,
}

impl Schedule {
    pub fn new(
        e: &RepeatedExpression,
        program: &Program,
        tiles: Option<Tiles>,
        params: BlockParams,
        caps: &Capabilities,
        uses: &[BlockUse],
    ) -> Result<Self> {
        program.verify()?;
        let quads = e.block().quads();
        let single: Result<Vec<QuadPart>> = (0..quads).map(|k| e.part(program, tiles, k..k + 1)).collect();
        let mut parts = single?;
        let (at_once, in_turn) = if tiles.is_some() || params.targets <= 1 {
            ((0..quads).collect(), (0..quads).collect())
        } else {
            let most = params.targets.min(caps.max_draw_buffers as usize);
            let ranges = [false, true].map(|apart| ranges(&parts, most, caps.texture_units as usize, apart));
            let mut numbered = |ranges: Vec<Range<usize>>| -> Result<Vec<usize>> {
                let mut numbers = Vec::new();
                for range in ranges {
                    let same = |part: &QuadPart| part.first == range.start && part.quads == range.len();
                    numbers.push(match parts.iter().position(same) {
                        Some(known) => known,
                        None => {
                            parts.push(e.part(program, tiles, range)?);
                            parts.len() - 1
                        }
                    });
                }
                Ok(numbers)
            };
            let [at_once, in_turn] = ranges;
            (numbered(at_once)?, numbered(in_turn)?)
        };
        let wanted = |list: Vec<usize>, used| if uses.contains(&used) { list } else { Vec::new() };
        let (at_once, in_turn) = (wanted(at_once, BlockUse::Apply), wanted(in_turn, BlockUse::Iterate));
        // Those that are never drawn alone go.
        let used: BTreeSet<usize> = at_once.iter().chain(&in_turn).copied().collect();
        let renumbered = |list: Vec<usize>| list.iter().map(|k| used.range(..k).count()).collect();
        let (at_once, in_turn) = (renumbered(at_once), renumbered(in_turn));
        let kept = parts.into_iter().enumerate().filter(|(k, _)| used.contains(k)).map(|(_, part)| part);
        Ok(Self { parts: kept.collect(), at_once, in_turn })
    }

    /// The draws of an application, or of an iteration one way.
    pub fn numbers(&self, used: BlockUse) -> &[usize] {
        match used {
            BlockUse::Apply => &self.at_once,
            BlockUse::Iterate => &self.in_turn,
        }
    }

    /// What these come to.
    pub fn workload(&self, used: BlockUse, extent: Extent, layout: BlockLayout) -> Workload {
        let parts = self.numbers(used).iter().filter_map(|&k| self.parts.get(k));
        workload(parts, extent, layout, used)
    }
}

/// What an application comes to, or an iteration one way, of quads with a texel for each block of an `extent`.
pub(super) fn workload<'a>(
    parts: impl Iterator<Item = &'a QuadPart>,
    extent: Extent,
    layout: BlockLayout,
    used: BlockUse,
) -> Workload {
    let blocks = extent.area() as f64;
    // What stands in the target of the draw before.
    let mut written: Option<BTreeSet<usize>> = None;
    let mut all = Workload::default();
    for part in parts {
        let [own, linked] = part.fetches.map(|n| n as f64 * blocks);
        let fetches = Fetches::default().with_own(own).with_adjacent(linked);
        let pass = Workload::pass(extent, part.quads, fetches);
        let pass = match layout.lanes() {
            1 => pass.with_fetches(Fetches::default()).with_fetches_r32f(pass.fetches),
            _ => pass,
        };
        all = all + pass.with_multiply_adds(part.operations as f64 * blocks);
        // The next rectangle of the same texture, unless something of it is read.
        let read = |quads: &BTreeSet<usize>| part.reads.iter().any(|k| quads.contains(k));
        match &mut written {
            Some(quads) if layout.is_stacked() && (used == BlockUse::Apply || !read(quads)) => {
                all.target_changes -= 1.0;
                quads.extend(part.range());
            }
            written => *written = Some(part.range().collect()),
        }
    }
    all
}

/// Quads next to one another, as many as may be drawn together; those that read one another not, where they are kept `apart`.
fn ranges(quads: &[QuadPart], most: usize, units: usize, apart: bool) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for (k, quad) in quads.iter().enumerate() {
        let joins = |range: &&mut Range<usize>| {
            let held = quads.get((**range).clone()).unwrap_or_default();
            let reading = |other: &QuadPart| other.reads.contains(&k) || quad.reads.contains(&other.first);
            let read: BTreeSet<usize> =
                held.iter().flat_map(|q| &q.reads).chain(&quad.reads).copied().collect();
            let biased = held.iter().map(|q| q.reads_b.len()).sum::<usize>() + quad.reads_b.len();
            held.len() < most && read.len() + biased <= units && !(apart && held.iter().any(reading))
        };
        match all.last_mut().filter(joins) {
            Some(range) => range.end = k + 1,
            None => all.push(k..k + 1),
        }
    }
    all
}
