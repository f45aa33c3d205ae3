//! The example `jacobi_ladder` from outside: exit codes, the JSON report, the chart.
#![cfg(feature = "headless")]

mod common;

use std::path::Path;

use common::cli::{assert_refused, figure, passed, scratch};

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let plot = scratch("refused.png");
    let plot = plot.as_str();
    let cases: [(&[&str], &str); 9] = [
        (&["--rounds", "0"], "--rounds 0"),
        (&["--rounds", "1001"], "from 1 to 1000"),
        (&["--rounds=-1"], "--rounds"),
        (&["--size", "4095", "--plot", plot], "--size 4095: expected one of 4096, 16384"),
        (&["--size", "0"], "--size 0"),
        (&["--size", "many"], "--size"),
        (&["--plot", "no such folder/a.png"], "folder does not exist"),
        (&["--plot", plot, "--json", plot], "two outputs"),
        (&["--api", "gl12"], "--api"),
    ];
    for (args, text) in cases {
        assert_refused("jacobi_ladder", args, text);
    }
    assert!(!Path::new(plot).exists());
}

#[test]
fn the_ladder_is_measured_and_checked_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let plot = scratch(&format!("{api}.svg"));
        let args = ["--quick", "--size", "4096", "--rounds", "1", "--api", api, "--plot", &plot];
        let report = passed("jacobi_ladder", &args);
        assert_eq!(report["api"], api);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 14);
        for row in rows {
            let (ms, mflops) = (row["ms"].as_f64().unwrap(), row["mflops"].as_f64().unwrap());
            assert!((mflops * ms / (20e-3 * 4096.0) - 1.0).abs() < 1e-9, "{row}");
            let on_device = row["draws"] != 0;
            // Single channels have another ceiling.
            let shared = on_device && !row["rung"].as_str().unwrap().starts_with("RED");
            assert_eq!(row["share_of_fetch_ceiling"].is_f64(), shared, "{row}");
        }
        // Every rung; and once more with full diagonals, which the four packed ones refuse.
        assert_eq!(report["checks"].as_array().unwrap().len(), 14 + 10);
        // The tutorial's own columns stand apart, with their gap.
        let papers = report["papers_table_2005"].as_array().unwrap();
        assert_eq!((papers.len(), &papers[5]["mflops"][1]), (6, &serde_json::Value::Null));
        let names = ["CPU, one loop", "RED, interpolated", "RGBA, one shader", "packed, 4 rows"];
        figure(&plot, &names);
        figure(&plot, &["Nine-band Jacobi, by rung", "MFLOP/s (log scale)", "N = 4096"]);
    }
}
