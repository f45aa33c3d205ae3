//! Choosing order, layout and schedule of repeated blocks.

use std::fmt;

use super::block_vector::Packer;
use super::layout::{Schedule, tiles};
use super::{BlockLayout, BlockParams};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::pack::{
    CostModel, LowerBound, Measured, Order, Orders, Origin, RepeatedExpression, SearchLimits, SearchParams,
    SimdMachine, TexelFetch, optimize,
};
use crate::profile::Workload;

/// Swaps that a search for an order may propose: a fraction of a second.
const PROPOSALS: u64 = 200_000;

/// Targets of a draw that are tried, beside as many as there are.
const TARGETS: [usize; 3] = [1, 2, 4];

/// Layouts of quads, apart and stacked.
const QUADS: [BlockLayout; 2] = [BlockLayout::Apart, BlockLayout::Stacked];

/// And of single unknowns.
const SINGLE: [BlockLayout; 2] = [BlockLayout::Single, BlockLayout::SingleStacked];

/// What a [`BlockExpression`](super::BlockExpression) is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlockUse {
    /// [`apply`](super::BlockExpression::apply): all old values, as in an explicit update or a product.
    #[default]
    Apply,
    /// [`iterate`](super::BlockExpression::iterate): in place, with the newest values.
    Iterate,
}

/// An order, a layout and a schedule for a [`RepeatedExpression`] on a device, and what it comes to.
///
/// Candidates are made of each order that is worth a try (the one that the unknowns come in, and what the search finds under
/// [`SimdMachine`], [`TexelFetch`] and, with a profile, [`Measured`]); for [`BlockUse::Iterate`] also with its quads in
/// colours, quads that do not read one another side by side; and of either layout with one, two, four and as many
/// targets a draw as there are. For [`BlockUse::Apply`] there are also [single](BlockLayout::Single) unknowns, in the order
/// that they come in; an iteration of these is another one, with more values that are new, so that the times of both say
/// nothing about which is better. The generated programs of each are counted.
///
/// On a device with a [profile](Device::set_profile) the choice is the candidate that it predicts to take least. Without one it
/// follows a rule, so that results repeat: the order of fewest instructions; quads apart; as many targets as there are.
///
/// ```
/// use texla::{Grid, profile::DeviceProfile, solve::{BlockLayout, BlockPlan, BlockUse}};
/// use texla::pack::{RepeatedExpression, StencilBoundary::{Copied, Dropped}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let taps = [([-1, 0, 0], 0.2), ([0, 0, 0], 0.2), ([1, 0, 0], 0.2), ([0, -1, 0], 0.2), ([0, 1, 0], 0.2)];
/// let e = RepeatedExpression::stencil(Grid::new_2d(16, 40), 1, &taps, [[Dropped; 2]; 3], true)?;
/// let plan = BlockPlan::choose(dev, &e, BlockUse::Apply)?;
/// assert_eq!((plan.params.layout, plan.workload.draws, plan.seconds), (BlockLayout::Apart, 1.0, None));
/// assert_eq!(plan.workload.fetches.own, 40.0 * 8.0); // the quads of x and of b, once for each line
/// // Of a device on which changing the target takes a minute: two draws of one target beat one of four.
/// let mut profile = DeviceProfile::default();
/// (profile.target_change, profile.draw, profile.written_texel[3]) = (60.0, 1.0, 60.0);
/// dev.set_profile(Some(profile));
/// let plan = BlockPlan::choose(dev, &e, BlockUse::Apply)?;
/// assert_eq!((plan.params.layout, plan.workload.draws, plan.seconds), (BlockLayout::Stacked, 4.0, Some(64.0)));
/// # dev.set_profile(None);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BlockPlan {
    /// The order of the unknowns of each block.
    pub order: Order,
    /// What found it.
    pub origin: Origin,
    /// Whether its quads have been put in colours.
    pub coloured: bool,
    /// The layout and the schedule.
    pub params: BlockParams,
    /// What one application comes to, or one iteration.
    pub workload: Workload,
    /// What the device's profile predicts for it, in seconds; none without a profile.
    pub seconds: Option<f64>,
}

impl fmt::Display for BlockPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BlockPlan { origin, coloured, params, workload, seconds, .. } = self;
        let colours = if *coloured { " in colours" } else { "" };
        let layout = match params.layout {
            BlockLayout::Apart => "apart",
            BlockLayout::Stacked => "stacked",
            BlockLayout::Single => "single",
            BlockLayout::SingleStacked => "single, stacked",
        };
        write!(f, "{origin}{colours}, {layout}, {} draws", workload.draws)?;
        match seconds {
            Some(seconds) => write!(f, ", {:.3} ms predicted", 1e3 * seconds),
            None => write!(f, ", by rule"),
        }
    }
}

impl BlockPlan {
    /// All that a choice is made of, in the order of the rule: its first is the choice without a profile. Schedules that come
    /// to the same draws are there once, and layouts for which the device has no room are not.
    ///
    /// *Cost*: a search for each cost model, some tenths of a second for blocks of tens of unknowns; nothing on the device.
    /// *Errors*: as [`RepeatedExpression::lower`]; [`Error::TooLarge`] for more blocks in one direction than a texture has texels.
    pub fn candidates(device: &Device, e: &RepeatedExpression, used: BlockUse) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for (origin, coloured, order) in Self::orders(device, e, used)? {
            Self::of_order(device, e, used, (origin, coloured, &order), QUADS, &mut all)?;
        }
        // Single unknowns read what they read in any order; in this one those that share it are drawn together.
        if used == BlockUse::Apply {
            let order = Order::identity(e.block().unknowns());
            Self::of_order(device, e, used, (Origin::Identity, false, &order), SINGLE, &mut all)?;
        }
        Ok(all)
    }

    /// The candidate that the device's profile predicts to take least; without a profile that of the rule.
    ///
    /// *Cost* and *errors*: as [`candidates`](Self::candidates); [`Error::Unsupported`] if there is none, for want of texture units.
    pub fn choose(device: &Device, e: &RepeatedExpression, used: BlockUse) -> Result<Self> {
        let all = match device.profile() {
            Some(_) => Self::candidates(device, e, used)?,
            None => {
                let mut all = Vec::new();
                for (origin, coloured, order) in with_colours(e, used, fewest(e)?)? {
                    Self::of_order(device, e, used, (origin, coloured, &order), QUADS, &mut all)?;
                }
                all
            }
        };
        let best = device.quickest(|| all.iter().map(|plan| (plan, plan.workload))).or(all.first()).cloned();
        best.ok_or_else(|| Error::Unsupported {
            what: format!("a plan for blocks of {} unknowns", e.block().unknowns()),
            why: format!(
                "in every order tried the unknowns of some texel depend on more textures than the {} units of this device",
                device.gl().caps.borrow().texture_units
            ),
        })
    }

    fn of_order(
        device: &Device,
        e: &RepeatedExpression,
        used: BlockUse,
        (origin, coloured, order): (Origin, bool, &Order),
        [apart, stacked]: [BlockLayout; 2],
        all: &mut Vec<Self>,
    ) -> Result<()> {
        let (e, places) = apart.lowered(e, order)?;
        let program = e.lower(&places, false)?;
        let caps = device.gl().caps.borrow();
        let most = caps.max_draw_buffers as usize;
        let targets = [most].into_iter().chain(TARGETS.into_iter().rev().filter(|&targets| targets < most));
        let [apart, stacked] = [apart, stacked].map(|layout| BlockParams::default().with_layout(layout));
        let mut known = Vec::new();
        for params in targets.map(|targets| apart.with_targets(targets)).chain([stacked]) {
            let tiles = match tiles(&e, params.layout, caps.max_texture_size) {
                Err(Error::TooLarge { .. }) if params.layout.is_stacked() => continue,
                tiles => tiles?,
            };
            let schedule = Schedule::new(&e, &program, tiles, params, &caps, &[used])?;
            // A quad that reads more than there are units for.
            if schedule.parts.iter().any(|p| p.reads.len() + p.reads_b.len() > caps.texture_units as usize) {
                continue;
            }
            let workload = schedule.workload(used, Packer::extent_of(&e), params.layout);
            let key = (params.layout, workload.draws);
            if known.contains(&key) {
                continue;
            }
            known.push(key);
            let seconds = device.profile().map(|profile| profile.predict(&workload));
            all.push(BlockPlan { order: order.clone(), origin, coloured, params, workload, seconds });
        }
        Ok(())
    }

    /// The orders that are worth a try, each once, the one of fewest instructions first.
    fn orders(device: &Device, e: &RepeatedExpression, used: BlockUse) -> Result<Vec<(Origin, bool, Order)>> {
        let mut found = vec![
            fewest(e)?,
            (Origin::Identity, Order::identity(e.block().unknowns())),
            searched(&TexelFetch, e, None)?,
        ];
        if let Some(profile) = device.profile()
            && let Ok(model) = Measured::new(profile.fetch.adjacent, profile.multiply_add)
        {
            found.push(searched(&model, e, None)?);
        }
        let mut all: Vec<(Origin, bool, Order)> = Vec::new();
        for found in found {
            for (origin, coloured, order) in with_colours(e, used, found)? {
                if all.iter().all(|(_, _, known)| *known != order) {
                    all.push((origin, coloured, order));
                }
            }
        }
        Ok(all)
    }
}

/// The order of fewest instructions.
fn fewest(e: &RepeatedExpression) -> Result<(Origin, Order)> {
    searched(&SimdMachine, e, Some(LowerBound::new(e.block(), Orders::One).value))
}

/// The order with its quads in colours, where that makes a difference, and as it is.
fn with_colours(
    e: &RepeatedExpression,
    used: BlockUse,
    (origin, order): (Origin, Order),
) -> Result<impl Iterator<Item = (Origin, bool, Order)>> {
    let coloured = match used {
        BlockUse::Apply => None,
        BlockUse::Iterate => Some(in_colours(e, &order)?).filter(|coloured| *coloured != order),
    };
    Ok(coloured.map(|coloured| (origin, true, coloured)).into_iter().chain([(origin, false, order)]))
}

/// The order of a block that is best by a model. What it is by is the block alone: links that are diagonals add the same to all.
fn searched<M: CostModel>(
    model: &M,
    e: &RepeatedExpression,
    bound: Option<M::Cost>,
) -> Result<(Origin, Order)> {
    let params = SearchParams::default().with_lower_bound(bound);
    let limits = SearchLimits::default().with_proposals(Some(PROPOSALS));
    let found = optimize(model, e.block(), &params, &limits)?;
    Ok((found.origin, found.packing.rows().clone()))
}

/// The same quads, first those of one colour, then those of the next: each has the lowest colour of which it reads no quad and
/// none reads it.
fn in_colours(e: &RepeatedExpression, order: &Order) -> Result<Order> {
    let program = e.lower(order, false)?;
    let quads = order.len() / 4;
    let parts: Result<Vec<_>> = (0..quads).map(|k| e.part(&program, None, k..k + 1)).collect();
    let parts = parts?;
    let mut colours: Vec<Vec<usize>> = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        let reading = |other: &usize| {
            part.reads.contains(other) || parts.get(*other).is_some_and(|other| other.reads.contains(&k))
        };
        match colours.iter_mut().find(|colour| !colour.iter().any(reading)) {
            Some(colour) => colour.push(k),
            None => colours.push(vec![k]),
        }
    }
    let quads = colours.into_iter().flatten();
    let at: Vec<usize> = quads.flat_map(|quad| 4 * quad..4 * quad + 4).map(|p| order.at(p)).collect();
    Order::new(order.unknowns(), &at)
}
