//! Choices of order, layout and schedule: what they are counted by, what profiles make of them, and what runs then.

use texla::host::Triplets;
use texla::pack::StencilBoundary::{Copied, Dropped};
use texla::pack::{CostModel, LinearExpression, Order, Packing, RepeatedExpression, SimdMachine};
use texla::profile::{DeviceProfile, Fetches};
use texla::solve::{
    BlockExpression, BlockLayout, BlockPlan, BlockUse, Direction, EnhancedBlockJacobi, Smoother,
};
use texla::{Device, Error, Grid, Shape, Vector};

use crate::blocks::{Bounded, System, systems, wide};
use crate::common::grids::laplace;
use crate::common::harness::on_both;
use crate::common::random::uniform;
use crate::{check, random_expression};

const USES: [BlockUse; 2] = [BlockUse::Apply, BlockUse::Iterate];

/// Blocks of 40 and of 32 with corners, and some that are no whole quads.
fn expressions() -> Vec<RepeatedExpression> {
    let sides = [[Dropped; 2], [Copied; 2], [Copied; 2]];
    let of = |grid, pieces, dimensions| {
        let a = RepeatedExpression::stencil(grid, pieces, &laplace(dimensions), sides, true).unwrap();
        a.jacobi().unwrap()
    };
    vec![
        of(Grid::new_3d(40, 7, 6), 1, 3),
        of(Grid::new_2d(64, 9), 2, 2),
        of(Grid::new_2d(7, 12), 1, 2),
        of(Grid::new_2d(3, 5), 1, 2),
    ]
}

fn dear_at(set: impl Fn(&mut DeviceProfile)) -> DeviceProfile {
    let mut profile = DeviceProfile::default();
    set(&mut profile);
    profile
}

/// The candidates on a device of this profile, and the choice.
fn planned(
    dev: &Device,
    profile: DeviceProfile,
    e: &RepeatedExpression,
    used: BlockUse,
) -> (Vec<BlockPlan>, BlockPlan) {
    dev.set_profile(Some(profile));
    let found = (BlockPlan::candidates(dev, e, used).unwrap(), BlockPlan::choose(dev, e, used).unwrap());
    dev.set_profile(None);
    found
}

#[test]
fn candidates_are_counted_as_they_run() {
    on_both(|dev| {
        for e in expressions() {
            for used in USES {
                for plan in BlockPlan::candidates(dev, &e, used).unwrap() {
                    let made = BlockExpression::with(dev, &e, &plan.order, plan.params).unwrap();
                    assert_eq!(made.workload(used), plan.workload);
                    assert_eq!(plan.seconds, None);
                    let pack = |seed| {
                        made.pack(&Vector::from_slice(dev, &uniform(seed, e.unknowns())).unwrap()).unwrap()
                    };
                    let (mut x, b, mut y) = (pack(1), pack(2), made.zeros().unwrap());
                    let mut counted = |times: usize| {
                        let before = dev.counters();
                        match used {
                            BlockUse::Iterate => made.iterate(&mut x, &b, times, Direction::Forward).unwrap(),
                            _ => made.apply(&mut y, &x, &b).unwrap(),
                        }
                        let work = dev.counters().since(&before);
                        [work.draws, work.passes].map(|n| n as f64)
                    };
                    // Of many iterations: copies in the end differ by where the quads stand then, and an iteration may begin in the
                    // texture in which the last one has ended.
                    let stacked = plan.params.layout == BlockLayout::Stacked; // single unknowns are no candidates there
                    let (draws, passes, off) = match used {
                        BlockUse::Iterate => {
                            let ([d, p], [draws, passes]) = (counted(4), counted(44));
                            ((draws - d) / 40.0, (passes - p) / 40.0, if stacked { 1.0 } else { 0.0 })
                        }
                        _ => {
                            let [draws, passes] = counted(1);
                            (draws, passes, 0.0)
                        }
                    };
                    let off_by = |found: f64, counted: f64| (found - counted).abs();
                    let counts = (plan.workload.draws, plan.workload.target_changes);
                    assert!(
                        off_by(draws, counts.0) <= off && off_by(passes, counts.1) <= off,
                        "{draws} draws and {passes} changes, counted {counts:?}: {plan}"
                    );
                }
            }
        }
    });
}

#[test]
fn choices_repeat_and_are_the_least_that_is_predicted() {
    on_both(|dev| {
        let ordinary = dear_at(|p| {
            (p.draw, p.target_change, p.written_texel) = (1e-6, 1e-5, [3e-10, 3e-10, 4e-10, 5e-10]);
            p.fetch = Fetches::default().with_own(1e-10).with_adjacent(2e-10);
            p.multiply_add = 1e-11;
        });
        for e in expressions() {
            for used in USES {
                let by_rule = BlockPlan::choose(dev, &e, used).unwrap();
                assert_eq!(BlockPlan::choose(dev, &e, used).unwrap(), by_rule);
                assert_eq!(BlockPlan::candidates(dev, &e, used).unwrap().first(), Some(&by_rule));
                assert_eq!((by_rule.seconds, by_rule.params.layout), (None, BlockLayout::Apart));
                let (all, chosen) = planned(dev, ordinary.clone(), &e, used);
                let least = all.iter().map(|plan| plan.seconds.unwrap()).fold(f64::MAX, f64::min);
                assert_eq!(chosen.seconds, Some(least));
                assert!(all.iter().all(|plan| plan.seconds == Some(ordinary.predict(&plan.workload))));
                // No order takes fewer instructions than that of the rule.
                let cost = |plan: &BlockPlan| {
                    SimdMachine.cost(e.block(), &Packing::symmetric(plan.order.clone())).unwrap()
                };
                assert!(all.iter().all(|plan| cost(plan) >= cost(&by_rule)));
            }
        }
    });
}

#[test]
fn what_is_dear_is_avoided() {
    on_both(|dev| {
        let [deep, wave, ..]: [RepeatedExpression; 4] = expressions().try_into().unwrap();
        let most = dev.capabilities().max_draw_buffers as f64;
        let fetching = dear_at(|p| {
            p.fetch = Fetches::default().with_own(1.0).with_adjacent(1.0);
            p.fetch_r32f = p.fetch;
        });
        let wide = dear_at(|p| {
            p.fetch = Fetches::default().with_own(9.0).with_adjacent(9.0);
            p.fetch_r32f = Fetches::default().with_own(1.0).with_adjacent(1.0);
            p.written_texel = [1e-3; 4];
        });
        let changing = dear_at(|p| (p.target_change, p.draw) = (1.0, 1e-9));
        let several = dear_at(|p| (p.written_texel, p.draw) = ([1.0, 9.0, 9.0, 9.0], 1e-9));
        for e in [&deep, &wave] {
            for used in USES {
                let of = |profile: &DeviceProfile| planned(dev, profile.clone(), e, used).1;
                // Fetches are least where as many quads as can be share them.
                let (all, chosen) = planned(dev, fetching.clone(), e, used);
                let fetches = |plan: &BlockPlan| {
                    let work = plan.workload;
                    [work.fetches, work.fetches_r32f].map(|f| f.own + f.adjacent).iter().sum::<f64>()
                };
                assert_eq!(all.iter().map(fetches).fold(f64::MAX, f64::min), fetches(&chosen));
                assert!(chosen.workload.draws < (e.block().quads() / 2) as f64);
                // One texture is one target; in place, a colour is.
                let chosen = of(&changing);
                let expected = if used == BlockUse::Apply { 1.0 } else { 2.0 };
                assert_eq!(chosen.workload.target_changes, expected, "{chosen}");
                if e.block().quads() as f64 > 2.0 * most {
                    assert_eq!(chosen.params.layout, BlockLayout::Stacked);
                }
                // Where a texel of one channel is fetched for less than a quarter, of what is applied, unknowns are single.
                let (all, chosen) = planned(dev, wide.clone(), e, used);
                let is_single = |plan: &BlockPlan| plan.params.layout.lanes() == 1;
                assert_eq!(is_single(&chosen), used == BlockUse::Apply, "{chosen}");
                for plan in all.iter().filter(|plan| is_single(plan)) {
                    // Each row's entries and its b, of which those that share a draw fetch some together.
                    let work = plan.workload;
                    let fetches = work.fetches_r32f.own + work.fetches_r32f.adjacent;
                    let blocks = e.blocks().iter().product::<usize>();
                    let all = (e.nnz() + e.block().unknowns()) * blocks;
                    let alone = work.draws as usize == e.block().unknowns();
                    assert!(fetches as usize == all || !alone && fetches < all as f64, "{fetches} of {all}");
                    assert_eq!(work.fetches, Fetches::default());
                    assert!(work.multiply_adds as usize <= all);
                }
                // And where several targets are dear, each quad is drawn alone.
                assert_eq!(of(&several).workload.draws, e.block().quads() as f64);
            }
        }
    });
}

#[test]
fn small_systems_for_many_right_hand_sides() {
    on_both(|dev| {
        for (n, columns) in [(13, 37), (32, 5)] {
            let one = random_expression(n, 3, n as u64);
            let e = RepeatedExpression::new(one.clone(), [columns, 2], [[Dropped; 2]; 2]).unwrap();
            let (made, _) = BlockExpression::chosen(dev, &e, BlockUse::Apply).unwrap();
            let (x, mut b) = (uniform(5, e.unknowns()), uniform(6, e.unknowns()));
            // Where it is trivial it is zero.
            b.iter_mut().enumerate().filter(|(i, _)| !one.is_nontrivial(i % n)).for_each(|(_, b)| *b = 0.0);
            let pack = |v: &[f32]| made.pack(&Vector::from_slice(dev, v).unwrap()).unwrap();
            let (mut y, mut out) = (made.zeros().unwrap(), Vector::zeros(dev, x.len()).unwrap());
            made.apply(&mut y, &pack(&x), &pack(&b)).unwrap();
            made.unpack(&mut out, &y).unwrap();
            let found = out.read().unwrap();
            for ((x, b), found) in x.chunks(n).zip(b.chunks(n)).zip(found.chunks(n)) {
                check(&one, 1.0, x, b, found, "one of many");
            }
        }
    });
}

#[test]
fn a_chosen_smoother_is_that_of_64_bits() {
    on_both(|dev| {
        for system in systems().into_iter().step_by(4).filter(|system| system.n < 100) {
            let (len, a) = (system.grid.len(), system.expression());
            let (jacobi, plan) = EnhancedBlockJacobi::chosen(dev, &a).unwrap();
            let (start, b) = (uniform(3, len), uniform(4, len));
            let mut x = Vector::from_slice(dev, &start).unwrap();
            jacobi.smooth(&mut x, &Vector::from_slice(dev, &b).unwrap(), 3).unwrap();
            let mut twin = Bounded::exact(&start);
            (0..3).for_each(|_| system.sweep(&plan.order, &mut twin, &wide(&b)));
            twin.check(&x.read().unwrap(), 1.0, &format!("{}, {plan}", system.grid));
        }
    });
}

#[test]
fn quads_in_two_colours_take_two_draws_and_couple_as_they_did() {
    on_both(|dev| {
        let system = System::new(Grid::new_3d(40, 4, 3), 1, laplace(3), [[Dropped; 2]; 3]);
        let e = system.expression().jacobi().unwrap();
        let plan = BlockPlan::choose(dev, &e, BlockUse::Iterate).unwrap();
        let most = dev.capabilities().max_draw_buffers as usize;
        let draws = if most < 5 { 3 } else { 2 };
        assert_eq!((plan.coloured, plan.workload.draws), (true, f64::from(draws)), "{plan}");
        assert_eq!(e.cost(&plan.order).unwrap().0, 60);
        // Of every two neighbours in different quads one is newer, whatever the order of the quads.
        let newer = |order: &Order| {
            let pairs = (1..40).flat_map(|i| [(i, i - 1), (i - 1, i)]);
            pairs.filter(|&(i, j)| order.position(j) / 4 < order.position(i) / 4).count()
        };
        assert_eq!(newer(&plan.order), newer(&Order::accordion(40)));
        assert!(newer(&plan.order) > newer(&Order::identity(40)));
    });
}

#[test]
fn blocks_that_read_more_textures_than_there_are_units_are_refused_as_such() {
    on_both(|dev| {
        // Every row reads every quad.
        let quads = dev.capabilities().texture_units as usize + 1;
        let shape = Shape::new(4 * quads, 4 * quads);
        let all = (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| (i, j, 1.0)));
        let full =
            LinearExpression::new(&Triplets::from_entries(shape, all).unwrap(), &vec![false; shape.rows]);
        let e = RepeatedExpression::new(full.unwrap(), [2, 1], Default::default()).unwrap();
        let found = BlockPlan::choose(dev, &e, BlockUse::Apply);
        assert!(matches!(found, Err(Error::Unsupported { .. })), "{found:?}");
    });
}
