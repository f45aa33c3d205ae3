//! The lid-driven cavity at Re = 100 against the published velocities, by the example's own code.

use texla::Device;
use texla::sim::fluid::Advection;

use crate::common::harness::on_both;

#[path = "../../examples/cavity/flow.rs"]
#[allow(dead_code)]
mod flow;
#[path = "../../examples/cavity/table.rs"]
mod table;

/// On this grid, begun on one of 32 cells a side: at most 3 % of the lid's speed off at every point of the table.
fn agrees(dev: &Device, size: usize) {
    let mut n = 32;
    let mut cavity = flow::Cavity::new(dev, n, Advection::MacCormack).unwrap();
    let mut run = cavity.run().unwrap();
    while n < size {
        n *= 2;
        let mut finer = flow::Cavity::new(dev, n, Advection::MacCormack).unwrap();
        finer.begin_with(&cavity).unwrap();
        run = finer.run().unwrap();
        cavity = finer;
    }
    let worst =
        table::deviation(&run.profiles.u, &table::U).0.max(table::deviation(&run.profiles.v, &table::V).0);
    eprintln!("{n}x{n}: {worst:.4} off after {} steps", run.steps);
    assert!(run.change <= flow::STEADY, "{}", run.change);
    assert!(worst <= 0.03, "{n}x{n}: {worst}");
}

#[test]
fn a_small_cavity_agrees_with_the_table() {
    on_both(|dev| agrees(dev, 64));
}

/// The figure's own size.
#[test]
#[ignore = "minutes"]
fn the_cavity_agrees_with_the_table() {
    on_both(|dev| agrees(dev, 128));
}
