//! The `dense_figure3` example from outside: exit codes, the JSON report, the chart.
#![cfg(feature = "headless")]

mod common;

use common::cli::{assert_refused, figure, passed, scratch};
use serde_json::Value;

const EXAMPLE: &str = "dense_figure3";

#[test]
fn sizes_that_make_no_sense_are_bad_input() {
    let cases: [(&[&str], &str); 5] = [
        (&["--size", "0"], "--size 0"),
        (&["--size", "100000"], "from 1 to 4096"),
        (&["--size", "8", "--iterations", "9"], "--iterations 9"),
        (&["--rounds", "0"], "--rounds 0"),
        (&["--plot", "no such folder/figure.png"], "folder does not exist"),
    ];
    for (args, text) in cases {
        assert_refused(EXAMPLE, args, text);
    }
}

/// Sizes that fill no texel and no 4x4 block, too.
#[test]
fn every_operation_is_timed_and_checked() {
    for size in ["1", "7", "40"] {
        let plot = scratch(&format!("{size}.svg"));
        let report = passed(EXAMPLE, &["--size", size, "--rounds", "1", "--plot", &plot]);
        // Six operations by five programs; the paper copies and adds as the library does, and with all threads faer does
        // neither.
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 26);
        let by = |operation: &str, by: &str| {
            rows.iter().find(|row| row["operation"] == operation && row["by"] == by)
        };
        let (paper, default) = ("device, paper's schedule", "device, default schedule");
        assert!(["copy", "add"].iter().all(|name| by(name, paper).is_none() && by(name, default).is_some()));
        // Its conjugate gradients wait for two numbers an iteration; its projected Jacobi for none.
        let cg = by("conjugate gradients", paper).unwrap();
        assert_eq!(cg["readbacks"].as_u64().unwrap(), 2 * cg["iterations"].as_u64().unwrap());
        assert_eq!(by("projected Jacobi", paper).unwrap()["readbacks"], 0);
        assert!(rows.iter().all(|row| row["ms"].as_f64().unwrap() > 0.0), "{rows:?}");
        let read_back = |row: &&Value| row["ms_with_readback"].is_f64();
        assert_eq!(rows.iter().filter(read_back).count(), 10);
        // One for each row, one more for each row of projected Jacobi, and four between the two schedules.
        assert_eq!(report["checks"].as_array().unwrap().len(), 26 + 5 + 4);
        let title = format!("Operations with matrices of {size}x{size}");
        figure(
            &plot,
            &[&title, "milliseconds (log scale)", "copy", "proj. Jacobi", paper, default, "pale: readback"],
        );
    }
}
