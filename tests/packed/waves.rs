//! The waves of [Bajaj04] section 4.2 on blocks: many steps in every layout, against 64 bits, with their energy; the problem
//! and its bounds are those of the example `wave_table4`.

use std::mem::swap;

use texla::Vector;
use texla::pack::Order;
use texla::solve::{BlockExpression, BlockLayout, BlockParams, BlockUse};

use crate::common::harness::on_both;
use crate::shuffled;

#[allow(dead_code)]
#[path = "../../examples/wave_table4/problem.rs"]
mod problem;

use problem::{Twin, energy, expression, start};

const SIZE: usize = 64;
const STEPS: usize = 50;

fn layouts() -> [BlockParams; 3] {
    let apart = BlockParams::default().with_subtract_b(true);
    [apart, apart.with_targets(8), apart.with_layout(BlockLayout::Stacked)]
}

#[test]
fn waves_on_blocks_are_those_of_64_bits_and_keep_their_energy() {
    let first = start(SIZE);
    let mut twin = Twin::new(SIZE, &first);
    (0..STEPS).for_each(|_| twin.step());
    // A bound that is small beside what it is of.
    assert!(twin.bound() < 0.01 * twin.norm() && twin.drift < 0.01 * twin.energy);
    on_both(|dev| {
        let first = Vector::from_slice(dev, &first).unwrap();
        for order in [Order::accordion(32), shuffled(16, 3), Order::identity(4)] {
            let piece = order.unknowns();
            let mut found: Vec<[Vec<f32>; 2]> = Vec::new();
            for params in layouts() {
                let what = format!("pieces of {piece}, {:?}, {params:?}", order.indices());
                let e = BlockExpression::with(dev, &expression(SIZE, piece).unwrap(), &order, params);
                let e = e.unwrap();
                let level = || e.pack(&first).unwrap();
                let (mut now, mut before, mut next) = (level(), level(), e.zeros().unwrap());
                let (work, pool) = (dev.counters(), dev.pool_stats());
                for _ in 0..STEPS {
                    e.apply(&mut next, &now, &before).unwrap();
                    swap(&mut now, &mut before);
                    swap(&mut now, &mut next);
                }
                let done = dev.counters().since(&work);
                let draws = STEPS as u64 * e.workload(BlockUse::Apply).draws as u64;
                assert_eq!((done.draws, done.readbacks, done.uploads), (draws, 0, 0), "{what}");
                assert_eq!(dev.pool_stats().allocated, pool.allocated, "{what}");

                let mut heights = Vector::zeros(dev, SIZE * SIZE).unwrap();
                let levels = [&now, &before].map(|level| {
                    e.unpack(&mut heights, level).unwrap();
                    heights.read().unwrap()
                });
                let off = twin.distance(&levels[0]);
                assert!(off <= twin.bound(), "{what}: {off:e}, bound {:e}", twin.bound());
                let [next, now] =
                    levels.each_ref().map(|v| v.iter().map(|&w| w.into()).collect::<Vec<f64>>());
                let moved = (energy(SIZE, &next, &now) - twin.energy).abs();
                assert!(moved <= twin.drift, "{what}: energy {moved:e}, bound {:e}", twin.drift);
                found.push(levels);
            }
            // Each quad is computed by the same instructions, wherever it lies.
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "pieces of {piece}");
        }
    });
}
