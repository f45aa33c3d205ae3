//! Every target of the fuzzer on the stable toolchain: what it begins from, and mutations of that.
#![cfg(all(feature = "headless", feature = "io", feature = "pack", feature = "script"))]

mod common;
#[path = "fuzz/targets.rs"]
mod targets;

use common::harness::on_both;
use common::random::Rng;
use targets::{TARGETS, Target};
use texla::Device;

/// One of the changes that find most: a bit, a byte of any value or of one that text is made of, a part taken out or twice, the end
/// cut off, a part of another seed.
fn mutated(rng: &mut Rng, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        let to = (at + 1 + rng.below(6)).min(bytes.len());
        let text = b"0123456789.-+eE()[]{};,'\" \n\r%#*/";
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.next_u32() as u8,
            2 => bytes.insert(at, text[rng.below(text.len())]),
            3 => drop(bytes.drain(at..to)),
            4 => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            5 => bytes.truncate(at),
            _ => {
                let from = rng.below(other.len());
                bytes.splice(at..to, other[from..(from + 8).min(other.len())].iter().copied());
            }
        }
    }
    bytes
}

/// So many mutations of each seed; a failure names the bytes.
fn run(dev: &Device, target: &Target, mutations: usize) {
    let mut rng = Rng::new(20);
    let try_out = |bytes: &[u8]| {
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (target.run)(dev, bytes)));
        assert!(ran.is_ok(), "{} fails on b\"{}\"", target.name, bytes.escape_ascii());
    };
    for (i, seed) in target.seeds.iter().enumerate() {
        try_out(seed);
        let other = target.seeds[(i + 1) % target.seeds.len()];
        (0..mutations).for_each(|_| try_out(&mutated(&mut rng, seed, other)));
    }
    eprintln!("{}: {} inputs", target.name, target.seeds.len() * (mutations + 1));
}

#[test]
fn every_target_survives() {
    on_both(|dev| TARGETS.iter().for_each(|target| run(dev, target, target.mutations)));
}

#[test]
#[ignore = "long; `make soak` runs it"]
fn every_target_survives_for_long() {
    on_both(|dev| TARGETS.iter().for_each(|target| run(dev, target, 50 * target.mutations)));
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
