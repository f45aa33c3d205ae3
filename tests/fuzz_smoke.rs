//! Every target of the fuzzer on the stable toolchain: what it begins from, and mutations of that.
#![cfg(all(feature = "headless", feature = "io", feature = "pack", feature = "script"))]

mod common;
#[path = "fuzz/mutate.rs"]
mod mutate;
#[path = "fuzz/targets.rs"]
mod targets;

use common::harness::on_both;
use mutate::run;
use targets::TARGETS;

#[test]
fn every_target_survives() {
    on_both(|dev| {
        for target in &TARGETS {
            eprintln!("{}: {} inputs", target.name, run(dev, target, target.mutations));
        }
    });
}

#[test]
#[ignore = "long; `make soak` runs it"]
fn every_target_survives_for_long() {
    on_both(|dev| {
        for target in &TARGETS {
            eprintln!("{}: {} inputs", target.name, run(dev, target, 50 * target.mutations));
        }
    });
}

/// A target that no program runs, or a program that nothing tries out here, is none.
#[test]
fn the_fuzzer_has_the_same_targets() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");
    let manifest = std::fs::read_to_string(format!("{root}/Cargo.toml")).unwrap();
    let listed: Vec<_> =
        manifest.split("[[bin]]\nname = \"").skip(1).filter_map(|b| b.split('"').next()).collect();
    assert_eq!(listed, TARGETS.map(|target| target.name));
    for target in &TARGETS {
        let files = std::fs::read_dir(format!("{root}/seeds/{}", target.name)).unwrap();
        assert_eq!(files.count(), target.seeds.len(), "{}: seeds that nobody reads", target.name);
    }
    for name in listed {
        let program = std::fs::read_to_string(format!("{root}/fuzz_targets/{name}.rs")).unwrap();
        assert!(program.contains(&format!("targets::on_device(targets::{name}, bytes)")), "{name}");
    }
}
