//! The `dense_figure3` example from outside: exit codes, the JSON report, the chart.
#![cfg(feature = "headless")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the example, which cargo builds beside this test: `target/PROFILE/examples/dense_figure3`.
fn run(args: &[&str]) -> Output {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let name = format!("dense_figure3{}", std::env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    assert!(program.is_file(), "{} is not built: a plain `cargo test` does it", program.display());
    Command::new(program).args(args).env_remove("TEXLA_API").output().unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("figure3-{name}"));
    let _ = fs::remove_file(&path);
    path
}

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
        let Output { status, stderr, .. } = run(args);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains(text), "{args:?}: {stderr}");
    }
}

/// Sizes that fill no texel and no 4x4 block, too.
#[test]
fn every_operation_is_timed_and_checked() {
    for size in ["1", "7", "40"] {
        let (json, png) = (scratch(&format!("{size}.json")), scratch(&format!("{size}.png")));
        let paths = [json.to_str().unwrap(), png.to_str().unwrap()];
        let Output { status, stderr, .. } =
            run(&["--size", size, "--rounds", "1", "--json", paths[0], "--plot", paths[1]]);
        assert_eq!(status.code(), Some(0), "{size}: {}", String::from_utf8_lossy(&stderr));
        let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
        assert_eq!(report["example"], "dense_figure3");
        // Six operations by five programs; with all threads faer neither copies nor adds.
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 28);
        assert!(rows.iter().all(|row| row["ms"].as_f64().unwrap() > 0.0), "{rows:?}");
        let read_back = |row: &&serde_json::Value| row["ms_with_readback"].is_f64();
        assert_eq!(rows.iter().filter(read_back).count(), 12);
        // One for each row, one more for each row of projected Jacobi, and four between the two schedules.
        let checks = report["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 28 + 5 + 4);
        assert!(checks.iter().all(|check| check["pass"] == true), "{checks:?}");
        assert!(fs::metadata(&png).unwrap().len() > 1000);
    }
}
