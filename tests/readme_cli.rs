//! Numbers of README.md are those that programs print today.
#![cfg(feature = "headless")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::cli::{Ran, command, finish, run, scratch};
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: impl AsRef<Path>) -> String {
    let path = root().join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The outcome in the row of README's table that begins like this.
fn outcome(readme: &str, run: &str) -> String {
    let start = format!("| {run}");
    let row = readme.lines().find(|line| line.starts_with(&start));
    let cells: Vec<&str> = row.unwrap_or_else(|| panic!("README: no row {run}")).split(" | ").collect();
    cells[1].trim_end_matches(" |").to_owned()
}

#[test]
fn readme_says_what_solve_comes_to() {
    let (readme, report) = (read("README.md"), PathBuf::from(scratch("solve.json")));
    assert!(readme.contains("on Mesa 22.3.6 llvmpipe"));
    let ones = PathBuf::from(scratch("ones.mtx"));
    let values = "1\n".repeat(512 * 512);
    fs::write(&ones, format!("%%MatrixMarket matrix array real general\n{} 1\n{values}", 512 * 512)).unwrap();
    let rows: [(&str, &[&str], i32); 3] = [
        ("`solve`: Poisson on 512x512", &[], 0),
        ("`solve --tol 1e-6`", &["--tol", "1e-6"], 1),
        ("`solve --tol 1e-3 --rhs` all ones", &["--tol", "1e-3", "--rhs", ones.to_str().unwrap()], 1),
    ];
    for (row, args, ends) in rows {
        let Ran { code, stderr, .. } = finish(command("solve").args(args).arg("--json").arg(&report), b"");
        assert_eq!(code, ends, "{row}: {stderr}");
        let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        let residual = format!("{:.2e}", report["true_relative_residual"].as_f64().unwrap());
        let (iterations, readbacks) = (&report["iterations"], &report["readbacks_in_loop"]);
        assert_eq!(
            (report["reason"].as_str(), readbacks),
            (Some(["converged", "stagnated"][ends as usize]), &0.into())
        );
        let said = match ends {
            0 => format!(
                "converged after {iterations} iterations, true residual {residual}, {readbacks} readbacks in the loop"
            ),
            _ => format!("**stagnated** after {iterations} iterations at {residual}:"),
        };
        // Other drivers round otherwise, and end elsewhere.
        let there = [&report["device"], &report["driver"]].map(Value::to_string).concat();
        let quoted = there.contains("llvmpipe") && there.contains("Mesa 22.3.6");
        assert!(!quoted || outcome(&readme, row).starts_with(&said), "{row}: {said}");
    }
}

#[test]
fn readme_counts_examples_and_values_of_state() {
    let readme = read("README.md");
    let report = PathBuf::from(scratch("context.json"));
    assert_eq!(run("app_context", &["--quick", "--json", report.to_str().unwrap()]).code, 0);
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let looked_at = checks.iter().find(|c| c["name"] == "values of the state looked at").unwrap();
    let expected =
        format!("Of {} values of\nGL state, none is changed", looked_at["value"].as_f64().unwrap());
    assert!(readme.contains(&expected.replace('\n', " ")) || readme.contains(&expected), "{expected}");

    let manifests = ["Cargo.toml", "examples/Cargo.toml", "benches/Cargo.toml"].map(read);
    let examples: usize = manifests.iter().map(|manifest| manifest.matches("[[example]]").count()).sum();
    let words = ["twenty-one", "twenty-two", "twenty-three", "twenty-four", "twenty-five", "twenty-six"];
    let expected = format!("There are [{} more examples]", words[examples - 4 - 21]);
    assert!(readme.contains(&expected), "{expected}: {examples} in all");
}
