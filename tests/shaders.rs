//! Every file in `glsl/` compiles in both dialects, and is driven through the public API.
#![cfg(feature = "sim")]
#![allow(unsafe_code)] // a device whose driver tells what it is handed

mod common;

use std::collections::BTreeMap;

use common::everything::every;
use common::harness::{headless, limits, on_both};
use common::sources;
use texla::gl::{Api, Counters};
use texla::kernel::{Accum, Condition, Kernel, NoParams};
use texla::ops::histogram;
use texla::{Device, DeviceOptions, Layout, Packed, Shape, Vector};

/// The files below `glsl/`, each of which begins with a comment of its own, and their texts.
fn files() -> BTreeMap<String, String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl");
    let mut found = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Draws, and whatever else data on the device is asked.
fn work(spent: &Counters) -> u64 {
    spent.draws + spent.clears + spent.uploads + spent.readbacks + spent.async_checks + spent.copies
}

/// On a device that has compiled nothing, every operation by itself, none of which lives on what another has left: all of
/// `glsl/` comes to the driver, and every step of the one list to the device.
#[test]
fn every_file_and_every_operation_compile_in_both_dialects() {
    let files = files();
    assert!(files.len() >= 80);
    for api in Api::ALL {
        let _context = headless(api);
        let with = |limits| {
            let options = DeviceOptions::default().with_limits(limits);
            // SAFETY: the context is current until the test ends, and EGL knows the functions.
            unsafe { Device::from_loader(sources::loader(), options) }.unwrap()
        };
        sources::taken();
        // The probes run when a device is made with limits that are new to this process.
        with(limits().with_max_texture_size(Some(61)));
        // All draw buffers that there are: one schedule of products needs eight.
        let dev = with(limits().with_max_draw_buffers(None));
        let (mut drawing, mut compiled) = (0, 0);
        every(&dev, &mut |name, call| {
            let before = dev.counters();
            call();
            let spent = dev.counters().since(&before);
            // A method may only move data; an operation draws.
            let asked = if name.contains("::") { work(&spent) } else { spent.draws };
            assert!(asked > 0 || name.ends_with("on the host"), "{name} draws nothing on {api}");
            drawing += usize::from(spent.draws > 0);
            compiled += usize::from(spent.compiles > 0);
        });
        eprintln!("{compiled} of {drawing} steps that draw have compiled");
        // Where sample queries tell how many texels a mask holds for, nothing is added up.
        let unasked = with(limits().without_sample_queries(true));
        let x = Vector::from_slice(&unasked, &[1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let body = "bool kernel(ivec2 p) { return x(p).x > 0.5; }";
        let held = Condition::<NoParams>::new(&unasked, "held", ["x"], body).unwrap();
        assert_eq!(held.mask(&x, [&x], &NoParams).unwrap().count().unwrap(), 2);
        // Where floats are blended, the bins of a histogram gather nothing, and no target is copied.
        let unblended = with(limits().without_float_blend(true));
        let mut x = Vector::from_slice(&unblended, &[1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(histogram(&x, 0.0, 2.0, 2).unwrap(), [3, 2]);
        let body = "vec4 kernel(ivec2 p) { return vec4(1.0); }";
        let one = Kernel::<NoParams>::new(&unblended, "one", [], body).unwrap();
        one.with([], &NoParams).accumulate(Accum::Add).run(&mut x).unwrap();
        assert_eq!(x.read().unwrap(), [2.0, 1.0, 1.0, 1.0, 2.0]);
        assert!(compiled > 100, "{compiled} of {drawing} steps have compiled on {api}");
        let handed = sources::taken();
        let left: Vec<&String> = files
            .iter()
            .filter(|(_, text)| {
                // Up to where other files stand in it.
                let own = text.split("#include").next().unwrap();
                !handed.iter().any(|source| source.contains(own))
            })
            .map(|(name, _)| name)
            .collect();
        assert!(left.is_empty(), "driven by nothing on {api}: {left:?}");
    }
}

/// Both forms of a fetch, and all ways in which an input can lie against a target, in both stages.
#[test]
fn the_generated_accessors_compile() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) {
            return x(p) + x_at(p) + x_texel(1) + x_shifted(-1) + vec4(x_element(2u)) + x_value() + vec4(x_extent(), 0, 0)
                + vec4(texel_index(p)) + vec4(texel_position(1), 0, 0); }";
        let kernel = Kernel::<NoParams>::new(dev, "all", ["x"], body).unwrap();
        let mut y = Vector::zeros(dev, 64).unwrap();
        let programs = dev.live_objects().programs;
        for n in [64, 1, 100] {
            kernel.run(&mut y, [&Vector::zeros(dev, n).unwrap()], &NoParams).unwrap();
        }
        let odd = Packed::from_rows(dev, Shape::new(16, 5), Layout::Column4, &[0.0; 80]).unwrap();
        kernel.run(&mut y, [&odd], &NoParams).unwrap();
        assert_eq!(dev.live_objects().programs - programs, 3, "one program for each fold");
        kernel.run(&mut y, [&odd], &NoParams).unwrap();
        assert_eq!(dev.live_objects().programs - programs, 3, "and no more on further runs");
    });
}
