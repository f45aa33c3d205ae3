//! The `matrices` example from outside: exit codes, the table, the JSON report, the pictures.
#![cfg(all(feature = "io", feature = "headless"))]

mod common;

use std::fs;
use std::path::Path;

use common::cli::{Ran, assert_refused, json, pixels, run, scratch, write};
use texla::solve::PreconditionerKind;

const EXAMPLE: &str = "matrices";

/// A folder of this test's own with these files in it.
fn folder(name: &str, files: &[(&str, &str)]) -> String {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, text) in files {
        let path = Path::new(&folder).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const DEFINITE: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 3\n2 1 -1\n2 2 3\n3 2 -1\n3 3 3\n";
/// Symmetric, with nothing on the diagonal.
const HOLLOW: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 2\n";
const BAD: &str = "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";

#[test]
fn where_nothing_can_be_read_the_exit_code_says_so() {
    let bad = folder("bad", &[("a.mtx", BAD), ("b.mtx", "no matrix\n")]);
    assert_refused(EXAMPLE, &[&bad], "none of 2 files could be read, the first for this: ");
    assert_refused(EXAMPLE, &[&bad, "--compare"], "a.mtx");
    let empty = folder("empty", &[("readme.txt", "")]);
    assert_refused(EXAMPLE, &[&empty], "no file that ends in .mtx");
    assert_refused(EXAMPLE, &["no/such/file.mtx"], "no/such/file.mtx");
    // One of several is told, and not the end.
    let mixed = folder("mixed", &[("a.mtx", BAD), ("b.mtx", DEFINITE)]);
    let Ran { code, stdout, stderr } = run(EXAMPLE, &[&mixed]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("not read    ") && stdout.contains("2 of 2 systems reached"), "{stdout}");
    // A few bytes that would fill the memory are not believed.
    let huge = "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1.0\n";
    let mixed = folder("huge", &[("a.MTX", DEFINITE), ("huge.mtx", huge)]);
    let (code, report) = json(EXAMPLE, &[&mixed]);
    assert_eq!((code, &report["systems"]), (0, &2.into()), "{report}");
    let unread = report["not_read"].as_array().unwrap();
    assert!(unread.len() == 1 && unread[0].as_str().unwrap().contains("all but empty"), "{report}");
    assert_refused(EXAMPLE, &[&format!("{mixed}/huge.mtx")], "all but empty");
    assert_refused(EXAMPLE, &[&format!("{mixed}/huge.mtx"), "--compare"], "all but empty");
}

/// A folder that links to the one it is in is not gone through for ever.
#[cfg(unix)]
#[test]
fn links_back_are_not_followed() {
    let looped = folder("looped", &[("a.mtx", DEFINITE), ("sub/b.mtx", DEFINITE)]);
    std::os::unix::fs::symlink("..", Path::new(&looped).join("sub/back")).unwrap();
    assert_eq!(json(EXAMPLE, &[&looped]).1["systems"], 4);
}

/// The units of a system change nothing, also where preconditioners are compared.
#[test]
fn units_change_nothing() {
    let [three, one] = [3.0, -1.0].map(|v: f64| format!(" {:e}\n", v * 2f64.powi(-990)));
    let small = DEFINITE.replace(" 3\n", &three).replace(" -1\n", &one);
    let [plain, small] = [("plain", DEFINITE), ("small", small.as_str())].map(|(name, text)| {
        let file = write(&format!("units_{name}.mtx"), text);
        let ended = |args: &[&str]| {
            let rows = json(EXAMPLE, args).1["rows"].as_array().unwrap().clone();
            let told = |row: &serde_json::Value| (row["reason"].clone(), row["iterations"].clone());
            rows.iter().map(told).collect::<Vec<_>>()
        };
        [ended(&[&file]), ended(&[&file, "--compare"])]
    });
    assert_eq!(plain, small);
    assert!(plain[1].iter().filter(|(reason, _)| *reason == "converged").count() >= 6, "{plain:?}");
}

#[test]
fn flags_out_of_range_are_refused_once() {
    let file = write("tolerance.mtx", DEFINITE);
    for (args, text) in [
        (["--tol", "0"], "--tol 0: expected at least 1e-18 and less than 1"),
        (["--tol", "NaN"], "--tol NaN: expected at least 1e-18"),
        (["--max-iters", "16777216"], "--max-iters 16777216: expected less than 2^24"),
    ] {
        assert_refused(EXAMPLE, &[&[file.as_str()], &args[..]].concat(), text);
        assert_refused(EXAMPLE, &[&["--compare", file.as_str()], &args[..]].concat(), text);
    }
}

/// Names that begin alike and names that are the same stay apart, in the table and beside the pictures.
#[test]
fn matrices_and_their_pictures_keep_their_names() {
    let long = "a_name_that_is_longer_than_two_dozen_letters";
    let [first, second] = ["1", "2"].map(|end| format!("{long}_{end}"));
    let [first_file, second_file] = [&first, &second].map(|name| format!("{name}.mtx"));
    let files = [
        ("x/same.mtx", DEFINITE),
        ("y/same.mtx", HOLLOW),
        ("y/Plain.mtx", DEFINITE),
        ("z/plain.mtx", DEFINITE),
        (first_file.as_str(), DEFINITE),
        (second_file.as_str(), HOLLOW),
    ];
    let all = folder("named", &files);
    let plots = scratch("plots");
    let Ran { code, stdout, stderr } = run(EXAMPLE, &[&all, "--plot", &plots]);
    assert_eq!(code, 0, "{stdout} {stderr}");
    for label in ["x/same", "y/same", "Plain", "plain", &first, &second] {
        let rows = stdout.lines().filter(|line| line.split_whitespace().next() == Some(label)).count();
        assert_eq!(rows, 2, "{label}: {stdout}");
    }
    let mut found: Vec<String> = fs::read_dir(&plots)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut expected =
        ["x-same", "y-same", "Plain", "plain-2", &first, &second].map(|name| format!("{name}.png"));
    expected.sort();
    assert_eq!(found, expected);
    // 512 over 3 and 512 over 2 pixels an entry.
    let side = |name: &str| pixels(Path::new(&plots).join(name)).len().isqrt();
    assert_eq!((side("x-same.png"), side("y-same.png")), (510, 512));
}

/// Each preconditioner has its row, also where it is refused: the table then says why.
#[test]
fn what_is_refused_has_its_row_in_the_comparison() {
    let all = folder("compared", &[("definite.mtx", DEFINITE), ("hollow.mtx", HOLLOW)]);
    let (code, report) = json(EXAMPLE, &[&all, "--compare"]);
    assert_eq!(code, 0, "{report}");
    let rows = report["rows"].as_array().unwrap();
    let words = PreconditionerKind::WORDS.iter().map(|(word, _)| *word).collect::<Vec<_>>();
    assert_eq!(rows.len(), 2 * words.len(), "{report}");
    for (k, row) in rows.iter().enumerate() {
        assert_eq!(row["preconditioner"], words[k % words.len()], "{row}");
        assert_ne!(row["error"].is_null(), row["iterations"].is_null(), "{row}");
    }
    let of = |matrix: &str, preconditioner: &str| {
        let is = |row: &&serde_json::Value| {
            row["matrix"].as_str().unwrap().ends_with(matrix) && row["preconditioner"] == preconditioner
        };
        rows.iter().find(is).unwrap()
    };
    let error = of("hollow.mtx", "fsai")["error"].as_str().unwrap();
    assert_eq!(
        error,
        "fsai: the matrix has the diagonal entry 0 at 0 (counted from 0), expected a positive number"
    );
    assert!(of("definite.mtx", "fsai")["iterations"].as_u64().unwrap() <= 4);
    let Ran { stdout, .. } = run(EXAMPLE, &[&all, "--compare"]);
    let row = stdout.lines().find(|line| line.starts_with("hollow") && line.contains("with fsai ")).unwrap();
    assert!(row.contains("  -  ") && row.contains("expected a positive number"), "{row}");
}
