//! Layouts and schedules of repeated blocks: all to the same bits, and those within the bounds of 64 bits.

use texla::gl::Limits;
use texla::pack::{
    LinearExpression, Order, RepeatedExpression,
    StencilBoundary::{Dropped, Scaled},
};
use texla::solve::{
    BlockExpression, BlockLayout, BlockParams, BlockTexture, BlockUse, BlockVector, Direction,
};
use texla::{Device, Error, Grid, Vector};

use crate::blocks::{Bounded, System, orders, systems, wide};
use crate::common::grids::laplace;
use crate::common::harness::{on_both, on_both_with};
use crate::common::random::uniform;

/// Quads of even numbers before those of odd ones: neighbours in a line are never drawn one after the other.
fn coloured(order: &Order) -> Order {
    let quads = order.len() / 4;
    let of = |quad: usize| order.indices()[4 * quad..4 * quad + 4].iter().map(|&i| i as usize);
    let at: Vec<usize> = (0..quads).step_by(2).chain((1..quads).step_by(2)).flat_map(of).collect();
    Order::new(order.unknowns(), &at).unwrap()
}

/// All kinds but the plain one.
fn others() -> [BlockParams; 3] {
    let apart = BlockParams::default();
    [apart.with_layout(BlockLayout::Stacked), apart.with_targets(3), apart.with_targets(usize::MAX)]
}

/// Single unknowns, one by one first.
fn singles() -> [BlockParams; 4] {
    let single = BlockParams::default().with_layout(BlockLayout::Single);
    let stacked = BlockParams::default().with_layout(BlockLayout::SingleStacked);
    [single, stacked, single.with_targets(3), single.with_targets(usize::MAX)]
}

/// Kinds whose results are the same to the bit, the plain one first: single unknowns of short lines alone, since each has a program.
fn alike(n: usize) -> Vec<Vec<BlockParams>> {
    let quads = [BlockParams::default()].into_iter().chain(others()).collect();
    if n > 9 { vec![quads] } else { vec![quads, singles().to_vec()] }
}

/// Systems of all kinds, of which there are fewer: programs take long to compile.
fn some(of: usize, among: usize) -> impl Iterator<Item = System> {
    systems().into_iter().skip(of).step_by(among).filter(|system| system.n < 100)
}

/// Quads stacked in textures of this device, which need not have room for them.
fn made(dev: &Device, e: &RepeatedExpression, order: &Order, params: BlockParams) -> Option<BlockExpression> {
    match BlockExpression::with(dev, e, order, params) {
        Ok(made) => Some(made),
        Err(Error::TooLarge { limit, .. }) => {
            let [width, height] = e.blocks();
            let limit = limit as usize;
            let (stacked, quads) = match params.layout {
                BlockLayout::Stacked => (true, order.len() / 4),
                layout => (layout == BlockLayout::SingleStacked, order.unknowns()),
            };
            let fits = (1..=quads).any(|k| k * width <= limit && quads.div_ceil(k) * height <= limit);
            assert!(stacked && !fits, "{params:?} of {:?}", e.blocks());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn packed(e: &BlockExpression, values: &[f32]) -> BlockVector {
    e.pack(&Vector::from_slice(e.device(), values).unwrap()).unwrap()
}

fn unpacked(e: &BlockExpression, v: &BlockVector, len: usize) -> Vec<f32> {
    let mut out = Vector::filled(e.device(), len, 1e6).unwrap();
    e.unpack(&mut out, v).unwrap();
    out.read().unwrap()
}

/// y of one application; x after one forward iteration, three backward and two symmetric ones; and `b` and `x` as they were.
fn results(e: &BlockExpression, x: &[f32], b: &[f32]) -> [Vec<f32>; 4] {
    let (from, held) = (packed(e, x), packed(e, b));
    let mut y = e.zeros().unwrap();
    e.apply(&mut y, &from, &held).unwrap();
    let all = [(1, Direction::Forward), (3, Direction::Backward), (2, Direction::Symmetric)];
    let [forward, backward, symmetric] = all.map(|(iterations, direction)| {
        let mut moved = packed(e, x);
        e.iterate(&mut moved, &held, iterations, direction).unwrap();
        unpacked(e, &moved, x.len())
    });
    assert_eq!(unpacked(e, &from, x.len()), x);
    assert_eq!(unpacked(e, &held, x.len()), b);
    [unpacked(e, &y, x.len()), forward, backward, symmetric]
}

#[test]
fn layouts_and_schedules_agree_to_the_bit() {
    on_both(|dev| {
        for system in some(0, 3) {
            let len = system.grid.len();
            let (x, b) = (uniform(8, len), uniform(9, len));
            let e = system.expression().jacobi().unwrap();
            for order in orders(system.n) {
                let coloured = coloured(&order);
                let orders = if coloured == order { vec![order] } else { vec![order, coloured] };
                for order in orders {
                    for kinds in alike(system.n) {
                        let plain = BlockExpression::with(dev, &e, &order, kinds[0]).unwrap();
                        let expected = results(&plain, &x, &b);
                        for &params in &kinds[1..] {
                            let Some(other) = made(dev, &e, &order, params) else { continue };
                            assert_eq!(other.params(), params);
                            let found = results(&other, &x, &b);
                            assert_eq!(found, expected, "{}, {:?}, {params:?}", system.grid, order.indices());
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn layouts_agree_at_sides_that_scale() {
    on_both(|dev| {
        let taps: Vec<([i32; 3], f64)> =
            (0..27).map(|k| ([k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1], f64::from(k - 9) / 64.0)).collect();
        let sides = [[Scaled(-1.0), Dropped], [Scaled(0.5), Scaled(-1.0)], [Dropped, Scaled(2.0)]];
        for grid in [Grid::new_3d(9, 3, 4), Grid::new_3d(16, 1, 5)] {
            let e = RepeatedExpression::stencil(grid, 1, &taps, sides, true).unwrap();
            let (x, b) = (uniform(8, grid.len()), uniform(9, grid.len()));
            let order = Order::identity(grid.nx);
            for kinds in alike(grid.nx) {
                let expected = results(&BlockExpression::with(dev, &e, &order, kinds[0]).unwrap(), &x, &b);
                for &params in &kinds[1..] {
                    let Some(other) = made(dev, &e, &order, params) else { continue };
                    assert_eq!(results(&other, &x, &b), expected, "{grid}, {params:?}");
                }
            }
        }
    });
}

#[test]
fn quads_drawn_together_and_single_unknowns_are_those_of_64_bits() {
    on_both(|dev| {
        for system in some(1, 4) {
            let len = system.grid.len();
            let (x, b) = (uniform(3, len), uniform(4, len));
            // What the iteration adds is D^-1 b.
            let weighted: Vec<f32> =
                (0..len).map(|cell| (f64::from(b[cell]) / system.diagonal[cell % system.n]) as f32).collect();
            let e = system.expression().jacobi().unwrap();
            for order in orders(system.n).map(|order| coloured(&order)) {
                for params in alike(system.n).into_iter().flatten().skip(1) {
                    let Some(e) = made(dev, &e, &order, params) else { continue };
                    let (mut state, held) = (packed(&e, &x), packed(&e, &weighted));
                    e.iterate(&mut state, &held, 2, Direction::Forward).unwrap();
                    let mut twin = Bounded::exact(&x);
                    let lanes = params.layout.lanes();
                    (0..2).for_each(|_| system.sweep_of(&order, lanes, &mut twin, &wide(&b)));
                    let what = format!("{}, {:?}, {params:?}", system.grid, order.indices());
                    twin.check(&unpacked(&e, &state, len), 1.0, &what);
                }
            }
        }
    });
}

/// All lanes of a quad of every block, padding included, as a host would read them.
fn texels(dev: &Device, v: &BlockVector, quad: usize) -> Vec<[f32; 4]> {
    let place = v.texture(quad).unwrap();
    let [w, h] = [place.whole.width, place.whole.height].map(|n| n as usize);
    // SAFETY: the texture is one of this device's, of this extent, and outlives the vector that borrows it.
    #[allow(unsafe_code)]
    let whole = unsafe { Vector::from_texture(dev, place.texture, w, h) }.unwrap();
    let whole = whole.read().unwrap();
    let ([left, low], width) = (place.origin, place.whole.width);
    let texel = |x: u32, y: u32| 4 * ((low + y) * width + left + x) as usize;
    let (columns, rows) = (place.extent.width, place.extent.height);
    (0..rows)
        .flat_map(|y| (0..columns).map(move |x| texel(x, y)))
        .map(|first| std::array::from_fn(|lane| whole[first + lane]))
        .collect()
}

#[test]
fn a_host_finds_every_unknown_and_padding_is_zero() {
    on_both(|dev| {
        for system in some(2, 4) {
            let values: Vec<f32> = uniform(2, system.grid.len()).into_iter().map(|v| v + 2.0).collect();
            let e = system.expression().jacobi().unwrap();
            for order in orders(system.n) {
                for params in others().into_iter().chain([BlockParams::default()]) {
                    let Some(e) = made(dev, &e, &order, params) else { continue };
                    let mut v = packed(&e, &values);
                    let check = |v: &BlockVector, values: &[f32]| {
                        assert_eq!(v.order(), &order);
                        for quad in 0..order.len() / 4 {
                            for (m, lanes) in texels(dev, v, quad).into_iter().enumerate() {
                                for (lane, found) in lanes.into_iter().enumerate() {
                                    let i = order.at(4 * quad + lane);
                                    let expected = if i < system.n { values[system.n * m + i] } else { 0.0 };
                                    assert_eq!(found, expected, "unknown {i} of block {m}, {params:?}");
                                }
                            }
                        }
                        assert!(v.texture(order.len() / 4).is_none());
                    };
                    check(&v, &values);
                    let mut infinite = Vector::filled(dev, values.len(), 3e38).unwrap();
                    texla::ops::scale(&mut infinite, 1e30).unwrap();
                    check(&e.pack(&infinite).unwrap(), &vec![f32::INFINITY; values.len()]);
                    // What an iteration leaves has padding of its own.
                    let b = packed(&e, &values);
                    e.iterate(&mut v, &b, 1, Direction::Forward).unwrap();
                    check(&v, &unpacked(&e, &v, values.len()));
                }
            }
        }
    });
}

#[test]
fn single_unknowns_stand_in_the_order_without_padding_each_in_a_place_of_its_own() {
    on_both(|dev| {
        for n in [1, 5, 7] {
            let e = System::new(Grid::new_2d(n, 3), 1, laplace(2), [[Dropped; 2]; 3]).expression();
            let order = orders(n)[2].clone();
            let unknowns: Vec<usize> =
                order.indices().iter().map(|&i| i as usize).filter(|&i| i < n).collect();
            for params in singles() {
                let v = BlockExpression::with(dev, &e, &order, params).unwrap().zeros().unwrap();
                assert!(unknowns.iter().enumerate().all(|(p, &i)| v.order().position(i) == p));
                let places: Vec<_> = (0..n).map(|p| v.texture(p).unwrap()).collect();
                assert!(v.texture(n).is_none());
                for (p, place) in places.iter().enumerate() {
                    assert_eq!((place.extent.width, place.extent.height), (3, 1));
                    assert!(place.origin[0] + 3 <= place.whole.width && place.origin[1] < place.whole.height);
                    let same = |other: &&BlockTexture| {
                        (other.texture, other.origin) == (place.texture, place.origin)
                    };
                    assert_eq!(places.iter().filter(same).count(), 1, "{p}");
                }
            }
        }
    });
}

#[test]
fn draws_and_targets_are_those_of_the_schedule() {
    on_both(|dev| {
        let most = dev.capabilities().max_draw_buffers as usize;
        let system = System::new(Grid::new_3d(40, 8, 7), 1, laplace(3), [[Dropped; 2]; 3]);
        let (len, e) = (system.grid.len(), system.expression().jacobi().unwrap());
        let b = uniform(1, len);
        let folded = Order::accordion(40);
        let (pairs, together) = (BlockParams::default().with_targets(2), others()[2]);
        let all = if most < 8 { 3 } else { 2 };
        // As many as there are targets, or units for what they and those at the ends read, and for b.
        let units = dev.capabilities().texture_units as usize;
        let single = 40usize.div_ceil(most.min((units - 2) / 2));
        // Folded quads read those next to them. In two colours, the last of one and the first of the other may go together.
        for (order, params, draws) in [
            (folded.clone(), BlockParams::default(), [10, 10]),
            (folded.clone(), pairs, [5, 10]),
            (folded.clone(), together, [all, 10]),
            (coloured(&folded), BlockParams::default(), [10, 10]),
            (coloured(&folded), pairs, [5, 5]),
            (coloured(&folded), together, [all, all]),
            (coloured(&folded), others()[0], [10, 10]),
            (folded.clone(), singles()[0], [40, 40]),
            (folded.clone(), singles()[1], [40, 40]),
            // Each reads the one before, in place, if the order is that of the line.
            (Order::identity(40), singles()[3], [single, 40]),
        ] {
            let Some(e) = made(dev, &e, &order, params) else { continue };
            let counts = [BlockUse::Apply, BlockUse::Iterate].map(|used| e.workload(used).draws as usize);
            assert_eq!(counts, draws, "{params:?}");
            let (mut x, held) = (packed(&e, &b), packed(&e, &b));
            let mut y = e.zeros().unwrap();
            let counted = |run: &mut dyn FnMut()| {
                let before = dev.counters();
                run();
                let work = dev.counters().since(&before);
                assert_eq!(work.readbacks, 0);
                work.draws as usize
            };
            assert_eq!(counted(&mut || e.apply(&mut y, &x, &held).unwrap()), draws[0]);
            let mut iterate =
                |times| counted(&mut || e.iterate(&mut x, &held, times, Direction::Forward).unwrap());
            let copies = match params.layout {
                BlockLayout::Stacked => 0..=9,
                BlockLayout::SingleStacked => 0..=39,
                _ => 0..=0,
            };
            for times in [1, 2, 5] {
                assert!(copies.contains(&(iterate(times) - times * draws[1])));
            }
        }
    });
}

#[test]
fn stacked_quads_take_what_room_there_is() {
    let small = Limits::default().with_max_texture_size(Some(64));
    on_both_with(small, |dev| {
        let stacked = BlockParams::default().with_layout(BlockLayout::Stacked);
        let whole = |n: usize, blocks: [usize; 2]| {
            let s = LinearExpression::jacobi(&texla::host::problems::poisson_2d(n, 1)).unwrap();
            let e = RepeatedExpression::new(s, blocks, [[Dropped; 2]; 2]).unwrap();
            BlockExpression::with(dev, &e, &Order::identity(n), stacked).map(|e| {
                let whole = e.zeros().unwrap().texture(0).unwrap().whole;
                (whole.width, whole.height)
            })
        };
        assert_eq!(whole(4, [64, 64]).unwrap(), (64, 64));
        assert_eq!(whole(16, [32, 32]).unwrap(), (64, 64));
        assert_eq!(whole(32, [8, 64]).unwrap(), (64, 64));
        assert_eq!(whole(12, [64, 20]).unwrap(), (64, 60));
        for (n, blocks) in [(8, [64, 33]), (20, [32, 32]), (36, [8, 64])] {
            let error = whole(n, blocks).unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit: 64, .. }), "{error}");
        }
        assert!(matches!(whole(4, [65, 1]), Err(Error::TooLarge { requested: 65, .. })));
    });
}

#[test]
fn a_vector_of_another_layout_is_refused() {
    on_both(|dev| {
        let system = System::new(Grid::new_2d(6, 3), 1, laplace(2), [[Dropped; 2]; 3]);
        let e = system.expression();
        let [apart, stacked] = [BlockLayout::Apart, BlockLayout::Stacked].map(|layout| {
            BlockExpression::with(dev, &e, &Order::identity(6), BlockParams::default().with_layout(layout))
                .unwrap()
        });
        let (mut y, b) = (apart.zeros().unwrap(), stacked.zeros().unwrap());
        let refused = |found: texla::Result<()>| {
            assert!(matches!(found, Err(Error::Parameter { name: "b", .. })), "{found:?}");
        };
        refused(apart.iterate(&mut y, &b, 1, Direction::Forward));
        refused(apart.apply(&mut y, &apart.zeros().unwrap(), &b));
    });
}
