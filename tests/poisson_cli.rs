//! The example `poisson_table3` from outside: exit codes, the JSON report, the sheet of figures.
#![cfg(all(feature = "headless", feature = "pack", feature = "sim"))]

mod common;

use std::collections::HashSet;

use common::cli::{assert_refused, passed, pixels, scratch};
use serde_json::Value;

#[test]
fn flags_that_make_no_sense_are_refused() {
    let taken = scratch("taken.png");
    let cases: [(&[&str], &str); 8] = [
        (&["--size", "40x80"], "--size 40x80: expected three numbers"),
        (&["--size", "40x80x1"], "from 2 to 512"),
        (&["--size", "40x80x513"], "from 2 to 512"),
        (&["--size", "40 x 8 x 8"], "--size"),
        (&["--steps", "0"], "--steps 0: expected a number from 1 to 10000"),
        (&["--steps=-3"], "--steps"),
        (&["--plot", "no such folder/a.png"], "folder does not exist"),
        (&["--plot", &taken, "--json", &taken], "two outputs"),
    ];
    for (args, text) in cases {
        assert_refused("poisson_table3", args, text);
    }
}

const PAPERS: [&str; 3] = ["papers_iterations", "papers_ms", "papers_ms_without_transfer"];

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key}: {row}"))
}

#[test]
fn the_papers_counts_and_the_order_of_the_methods_on_both_dialects() {
    let methods = [
        "Gauss-Seidel, CPU",
        "the same, two threads",
        "enhanced block Jacobi",
        "the same, optimised",
        "Jacobi",
        "conjugate gradients",
        "the same, multigrid",
    ];
    for api in ["gl33", "es30"] {
        let args = ["--quick", "--size", "40x5x4", "--steps", "2", "--api", api];
        let report = passed("poisson_table3", &args);
        assert_eq!((&report["api"], &report["size"]), (&api.into(), &serde_json::json!([40, 5, 4])));
        let programs = report["programs"].as_array().unwrap();
        let counts = programs.iter().map(|p| (number(p, "instructions"), number(p, "fetches")));
        assert_eq!(counts.collect::<Vec<_>>(), [(78.0, 78.0), (60.0, 70.0)]);
        let shares = programs.iter().map(|p| format!("{:.1}", number(p, "efficiency")));
        assert_eq!(shares.collect::<Vec<_>>(), ["76.3", "99.2"]);

        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 3 * methods.len() + 3 * 4);
        let of = |criterion: &str, method: &str| -> Vec<&Value> {
            let is = |row: &&Value| row["criterion"] == criterion && row["method"] == method;
            rows.iter().filter(is).collect()
        };
        for method in methods {
            let rows = of("residual over b", method);
            let iterations: Vec<f64> = rows.iter().map(|row| number(row, "iterations")).collect();
            assert!(iterations.is_sorted() && iterations[0] >= 1.0, "{method}: {iterations:?}");
            for row in rows {
                assert_eq!(row["met"], true, "{row}");
                assert!(number(row, "true_residual") <= 1.01 * number(row, "tolerance"), "{row}");
                assert!(number(row, "ms") > 0.0);
            }
        }
        // One thread and two are one method, to the last bit.
        for criterion in ["residual over b", "change of x over x"] {
            let counts = |method| {
                of(criterion, method).into_iter().map(|row| number(row, "iterations")).collect::<Vec<_>>()
            };
            assert_eq!(counts(methods[0]), counts(methods[1]));
        }
        for row in of("residual over b", "the same, optimised") {
            assert!(number(row, "ms_with_transfer") >= number(row, "ms"), "{row}");
        }
        // The paper's numbers are those of its own grid.
        for (row, key) in rows.iter().flat_map(|row| PAPERS.map(|key| (row, key))) {
            assert!(row.as_object().unwrap().contains_key(key) && row[key].is_null(), "{key}: {row}");
        }
        let each = report["iterations"].as_array().unwrap();
        let bytes: Vec<u64> = each.iter().map(|row| row["matrix_bytes"].as_u64().unwrap()).collect();
        assert_eq!(&bytes[..3], [0; 3], "no matrix is fetched");
        assert!(bytes[4] > bytes[3] && bytes[3] > 4 * 800, "{bytes:?}");
    }
}

#[test]
fn any_size_is_packed() {
    let report = passed("poisson_table3", &["--quick", "--size", "7x3x2", "--steps", "1"]);
    let counts = |name: &str| number(&report[format!("from_zero_{name}")], "sweeps");
    assert!(counts("plain") >= counts("optimised"));
}

#[test]
fn the_sheet_shows_matrices_slabs_and_slices() {
    let sheet = scratch("sheet.png");
    passed("poisson_table3", &["--quick", "--size", "12x6x5", "--steps", "1", "--plot", &sheet]);
    let pixels = pixels(&sheet);
    assert_eq!(pixels.len(), 1560 * 1060);
    let of = |color: [u8; 3]| pixels.iter().filter(|pixel| **pixel == color).count();
    // Entries are squares of 5 or 8 pixels: Figure 9 has 8 x 14 in S and 8 x 16 in T; Figure 13 twice 76 and 2 at the ends.
    assert_eq!(of([230, 140, 0]), 25 * 8 * 16);
    assert_eq!(of([0, 98, 178]), 25 * 8 * 14 + 2 * 64 * 76);
    assert_eq!(of([200, 60, 50]), 2 * 64 * 2);
    assert!(pixels.iter().collect::<HashSet<_>>().len() > 60);
}
