//! Numbers of README.md are those that programs print today.
#![cfg(feature = "headless")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::cli::{Ran, command, finish, run, scratch};
use common::worst::worst;
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
    let ones = ones.to_str().unwrap();
    let rows: [(&str, &[&str], i32); 6] = [
        ("`solve`: Poisson on 512x512", &[], 0),
        ("`solve --tol 1e-10 --rhs` all ones", &["--tol", "1e-10", "--rhs", ones], 0),
        ("`solve --method cg` ", &["--method", "cg"], 0),
        ("`solve --method cg --tol 1e-10 --rhs`", &["--method", "cg", "--tol", "1e-10", "--rhs", ones], 0),
        (
            "`solve --precision double --tol 1e-10 --rhs` all ones",
            &["--precision", "double", "--tol", "1e-10", "--rhs", ones],
            0,
        ),
        (
            "`solve --precision single --method cg --tol 1e-3 --rhs` all ones",
            &["--precision", "single", "--method", "cg", "--tol", "1e-3", "--rhs", ones],
            1,
        ),
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
    let expected = format!("There are {} more examples", words[examples - 4 - 21]);
    assert!(readme.contains(&expected), "{expected}: {examples} in all");
}

/// The numbers of one figure of the book of results on llvmpipe, in its rows whose labels hold all of these.
fn booked(chapter: &str, table: &str, labels: &[&str], names: &[&str]) -> Vec<f64> {
    let book: Value = serde_json::from_str(&read("benches/results/llvmpipe/book.json")).unwrap();
    let named = |all: &Value, key: &str, name: &str| {
        let found = all.as_array().unwrap().iter().find(|one| one[key] == name);
        found.unwrap_or_else(|| panic!("the book has no {name}")).clone()
    };
    let chapter = named(&book["chapters"], "name", chapter);
    let table = named(&chapter["tables"], "caption", table);
    let figures = table["figures"].as_array().unwrap().iter();
    let of = |f: &&Value| {
        let has = |label: &&str| f["labels"].as_array().unwrap().iter().any(|l| l == *label);
        labels.iter().all(has) && names.iter().any(|name| f["name"] == *name)
    };
    let found: Vec<f64> = figures.filter(of).map(|f| f["value"].as_f64().unwrap()).collect();
    assert_eq!(found.len(), names.len(), "{labels:?}, {names:?}");
    found
}

#[test]
fn readme_says_what_the_book_of_results_does() {
    let readme = read("README.md");
    let says = |run: &str, what: String| {
        let row = outcome(&readme, run);
        assert!(row.contains(&what), "{run}: {row}, but the book says: {what}");
    };
    let off = booked("cavity", "Deviation from the published velocities", &["128"], &["in u", "in v"]);
    let off = 100.0 * off.into_iter().fold(0.0, worst);
    says("`cavity`", format!("at most {off:.2} % of the lid's speed"));

    let counts =
        |order| booked("table3", "Instructions of a block of 40 unknowns", &[order], &["instructions"])[0];
    says(
        "`poisson_table3`",
        format!("{} instructions for {}, as in the paper", counts("optimised"), counts("plain")),
    );
    let sweep = |method: &str| booked("table3", "An iteration", &[method], &["time"])[0];
    let [bands, rows] = ["bands", "sparse rows"]
        .map(|stored| sweep(&format!("Jacobi, stored {stored}")) / sweep("the same, optimised"));
    let what =
        format!("a sweep {bands:.1} times as fast as on stored bands, {rows:.1} times as on sparse rows");
    says("`poisson_table3`", what);

    let after = booked("table2", "Instructions", &["wave2d"], &["after"])[0];
    says("`packing_table2`", format!("{after} instructions, as in the paper"));
}
