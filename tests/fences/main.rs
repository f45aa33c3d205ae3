//! Rasteriser threads of llvmpipe and the fences that they signal: see "On llvmpipe" in the guide. Threads are chosen when a process
//! makes its first context, so each test runs this program again.
#![cfg(feature = "headless")]

#[path = "../common/mod.rs"]
mod common;

use std::process::{Command, Output};

use common::harness::headless;
use texla::gl::Api;
use texla::{Vector, ops};

/// The fences alive after some hundred changes of the target, after a trim, and after the device.
const CHILD: &str = "TEXLA_TEST_SWITCHES";

fn again(threads: &str, switches: u32, preload: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "switches_in_a_process", "--nocapture", "--test-threads=1"]);
    command.env(CHILD, switches.to_string()).env("LP_NUM_THREADS", threads);
    if let Some(library) = preload {
        command.env("LD_PRELOAD", library);
    }
    command.output().unwrap()
}

/// What the others run: without them it has nothing to do.
#[test]
fn switches_in_a_process() {
    let Some(switches) = std::env::var(CHILD).ok().and_then(|n| n.parse::<u32>().ok()) else { return };
    for api in Api::ALL {
        let context = headless(api);
        let dev = context.device();
        let ledger = dev.ledger();
        let one = Vector::filled(dev, 4096, 1.0).unwrap();
        let [mut x, mut y] = [0; 2].map(|_| Vector::zeros(dev, 4096).unwrap());
        for _ in 0..switches / 2 {
            ops::axpy(&mut x, 0.5, &y, &one).unwrap();
            ops::axpy(&mut y, 0.5, &x, &one).unwrap();
        }
        assert!((y.read().unwrap()[4095] - 2.0).abs() < 1e-6);
        let kept = ledger.live_objects().fences;
        dev.trim().unwrap();
        let trimmed = ledger.live_objects().fences;
        drop((one, x, y, context));
        println!("\nfences {kept} {trimmed} {}", ledger.live_objects().fences);
    }
}

fn of_llvmpipe() -> bool {
    let renderer = headless(Api::Gl33).device().capabilities().renderer;
    let of_it = renderer.contains("llvmpipe");
    if !of_it {
        eprintln!("not looked at on {renderer}");
    }
    of_it
}

#[test]
fn fences_are_kept_where_there_are_threads() {
    if !of_llvmpipe() {
        return;
    }
    for (threads, expected) in [("0", "fences 0 0 0"), ("2", "fences 256 1 0")] {
        let out = again(threads, 300, None);
        assert!(out.status.success(), "{out:?}");
        let out = String::from_utf8(out.stdout).unwrap();
        let found: Vec<_> = out.lines().filter(|line| line.starts_with("fences")).collect();
        assert_eq!(found, [expected; 2], "{threads} threads");
    }
}

/// Without the kept fences, two of three such runs with one thread end in the driver.
#[test]
#[ignore = "long, and needs a compiler of C; `make soak` runs it"]
fn fences_outlive_slow_threads() {
    if !of_llvmpipe() {
        return;
    }
    let library = concat!(env!("CARGO_TARGET_TMPDIR"), "/slow.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fences/slow.c");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]).status();
    assert!(built.unwrap().success());
    for run in 0..12 {
        for threads in ["1", "2"] {
            let out = again(threads, 10_000, Some(library));
            assert!(out.status.success(), "run {run}, {threads} threads: {out:?}");
        }
    }
}
