//! The examples `water` and `framework_table44_1` from outside: exit codes, the JSON reports, the pictures.
#![cfg(all(feature = "headless", feature = "sim"))]

mod common;

use std::collections::HashSet;
use std::fs;

use common::cli::{assert_refused, figure, passed, pixels, scratch};
use serde_json::Value;

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let cases: [(&str, &[&str], &str); 13] = [
        ("water", &["--size", "8"], "from 16 to 1024"),
        ("water", &["--size", "4096"], "from 16 to 1024"),
        ("water", &["--frames", "0"], "--frames"),
        ("water", &["--frames", "18446744073709551615"], "--frames 18446744073709551615: expected"),
        ("water", &["--picture-at", "3"], "--picture"),
        ("water", &["--frames", "4", "--picture", "a.png", "--picture-at", "4"], "the last of 4 frames is 3"),
        ("water", &["--window", "--picture", "a.png"], "--picture"),
        ("water", &["--animation", "a.png", "--picture", "./a.png"], "two outputs"),
        ("water", &["--animation", "no such folder/a.png"], "folder does not exist"),
        ("water", &["--picture", "no such folder/a.png"], "folder does not exist"),
        ("framework_table44_1", &["--rounds", "0"], "--rounds 0"),
        ("framework_table44_1", &["--courant", "0"], "--courant 0"),
        ("framework_table44_1", &["--plot", "no such folder/a.png"], "folder does not exist"),
    ];
    for (name, args, text) in cases {
        assert_refused(name, args, text);
    }
}

#[test]
fn water_is_drawn_and_checked_on_both_dialects() {
    let mut pictures = Vec::new();
    for api in ["gl33", "es30"] {
        let [animation, picture] = ["a", "p"].map(|of| scratch(&format!("{api}-{of}.png")));
        let args = ["--quick", "--size", "48", "--frames", "4", "--picture-at", "3", "--api", api];
        let files = ["--animation", &animation, "--picture", &picture];
        let report = passed("water", &[&args[..], &files].concat());
        assert_eq!(report["cells"], 48);
        assert!(report["draws_per_step"].as_u64().unwrap() > report["iterations_per_step"].as_u64().unwrap());
        assert!(fs::metadata(&animation).unwrap().len() > 1000);
        let picture = pixels(&picture);
        assert_eq!(picture.len(), 960 * 540);
        let colours: HashSet<_> = picture.iter().collect();
        assert!(colours.len() > 5000, "{} colours", colours.len());
        // The water is blue, the deck is not.
        let blue = picture.iter().filter(|[r, _, b]| *b > r.saturating_add(40)).count() as f64;
        let share = blue / picture.len() as f64;
        assert!((0.2..0.8).contains(&share), "{share} of the picture is water");
        pictures.push(picture);
    }
    // The two dialects draw the same, but for the last digit here and there.
    let apart = pictures[0].iter().zip(&pictures[1]);
    let apart = apart.filter(|(p, q)| p.iter().zip(*q).any(|(a, b)| a.abs_diff(*b) > 8)).count();
    assert!(apart < 960 * 540 / 100, "{apart} pixels differ");
}

#[test]
fn the_table_has_its_rows() {
    let plot = scratch("table.svg");
    let report = passed("framework_table44_1", &["--quick", "--rounds", "1", "--plot", &plot]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 4);
    for row in rows {
        assert!(row["ms"].as_f64().unwrap() > 0.0 && row["readbacks"] == 0, "{row}");
        let demo = row["operation"] == "wave demo" || row["operation"] == "wave step";
        assert_eq!(row["fps"].is_f64(), demo, "{row}");
        assert_eq!(row["share_of_ceiling"].is_f64(), row["operation"] != "wave demo", "{row}");
    }
    assert_eq!(report["checks"].as_array().unwrap().len(), 3 * 6);
    figure(
        &plot,
        &["Table 44-1: here and in 2005", "milliseconds (log scale)", "256x256", "512x256", "512x512"],
    );
    let svg = figure(&plot, &["vector reduce", "vector-vector op, 2005", "wave demo", "wave demo, 2005"]);
    // Every bar has its number above it.
    assert_eq!(svg.matches("rotate(270").count(), 3 * 6 + 1);
}

/// Equation 44-7 with pack and repack, as the paper prints it.
#[test]
fn the_printed_program_is_timed_beside_the_table() {
    let report = passed("framework_table44_1", &["--quick", "--rounds", "1", "--printed"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3 * 6);
    let printed = |row: &&Value| row["operation"] == "printed step" || row["operation"] == "printed demo";
    let printed: Vec<_> = rows.iter().filter(printed).collect();
    assert_eq!(printed.len(), 3 * 2);
    for row in printed {
        assert!(row["ms"].as_f64().unwrap() > 0.0 && row["readbacks"] == 0, "{row}");
        // The average of two levels needs half as many again as that of three.
        assert_eq!(row["iterations"], 12, "{row}");
    }
}
