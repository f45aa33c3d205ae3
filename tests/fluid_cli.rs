//! The examples `smoke` and `cavity` from outside: exit codes, the JSON reports, the pictures.
#![cfg(all(feature = "headless", feature = "sim"))]

mod common;

use std::collections::HashSet;
use std::fs;

use common::cli::{assert_refused, figure, passed, pixels, scratch};

/// The colours of a picture, coarsely: one of 32768.
fn colours(path: &str) -> HashSet<[u8; 3]> {
    pixels(path).into_iter().map(|pixel| pixel.map(|v| v >> 3)).collect()
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let cases: [(&str, &[&str], &str); 13] = [
        ("smoke", &["--size", "30"], "multiple of 4"),
        ("smoke", &["--size", "1024"], "from 32 to 512"),
        ("smoke", &["--frames", "0"], "--frames"),
        ("smoke", &["--frames", "18446744073709551615"], "--frames 18446744073709551615: expected"),
        ("smoke", &["--picture-at", "3"], "--picture"),
        ("smoke", &["--frames", "4", "--picture", "a.png", "--picture-at", "4"], "the last of 4 frames is 3"),
        ("smoke", &["--window", "--picture", "a.png"], "--picture"),
        ("smoke", &["--animation", "a.png", "--picture", "./a.png"], "two outputs"),
        ("smoke", &["--animation", "no such folder/a.png"], "folder does not exist"),
        ("smoke", &["--picture", "no such folder/a.png"], "folder does not exist"),
        ("cavity", &["--size", "100"], "--size 100"),
        ("cavity", &["--size", "0"], "--size 0"),
        ("cavity", &["--plot", "no such folder/a.png"], "folder does not exist"),
    ];
    for (name, args, text) in cases {
        assert_refused(name, args, text);
    }
}

/// A short run in each API: picture, animation, the divergence before and after, and a second run like the first.
#[test]
fn smoke_reports_and_repeats() {
    for api in ["gl33", "es30"] {
        let [picture, animation] = ["p", "a"].map(|of| scratch(&format!("{api}-{of}.png")));
        let size = ["--quick", "--size", "48", "--frames", "40", "--api", api];
        let files = ["--picture", &picture, "--animation", &animation];
        let report = passed("smoke", &[&size[..], &files].concat());
        assert_eq!(report["cells"], serde_json::json!([96, 48]));
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            let of = |key: &str| row[key].as_f64().unwrap();
            assert!(of("divergence_after") <= 1e-4 * of("divergence_before"), "{row}");
        }
        assert!(report["compared"]["Jacobi sweeps"].as_u64().unwrap() > 1000);
        assert!(colours(&picture).len() > 200, "{} colours", colours(&picture).len());
        assert!(fs::metadata(&animation).unwrap().len() > 10_000);
        let checks = report["checks"].as_array().unwrap();
        assert!(
            checks.iter().any(|check| check["name"] == "states that differ in a second run"),
            "{checks:?}"
        );
    }
}

#[test]
fn the_cavity_reports_and_draws() {
    let plot = scratch("cavity.svg");
    let report = passed("cavity", &["--size", "32", "--plot", &plot]);
    assert_eq!(report["profile_u"].as_array().unwrap().len(), 34);
    assert_eq!(report["rows"][0]["grid"], 32);
    let svg = figure(
        &plot,
        &["Lid-driven cavity, Re = 100", "texla", "Ghia, Ghia, Shin 1982", "x, of the cavity's side"],
    );
    // Both tables of 17 velocities, and the dot of the legend.
    assert_eq!(svg.matches("<circle").count(), 2 * 17 + 1);
}
