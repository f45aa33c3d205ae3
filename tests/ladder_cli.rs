//! The example `jacobi_ladder` from outside: exit codes, the JSON report, the chart.
#![cfg(feature = "headless")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the example, which cargo builds beside this test: `target/PROFILE/examples/jacobi_ladder`.
fn run(args: &[&str]) -> Output {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(format!("jacobi_ladder{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is not built: a plain `cargo test` does it", program.display());
    Command::new(program).args(args).env_remove("TEXLA_API").output().unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ladder-{name}"));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let plot = scratch("refused.png");
    let plot = plot.to_str().unwrap();
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
        let Output { status, stderr, .. } = run(args);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains(text), "{args:?}: {stderr}");
    }
    assert!(!Path::new(plot).exists());
}

#[test]
fn the_ladder_is_measured_and_checked_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let [json, plot] = ["json", "png"].map(|end| scratch(&format!("{api}.{end}")));
        let files = ["--json", json.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
        let Output { status, stderr, .. } =
            run(&[&["--quick", "--size", "4096", "--rounds", "1", "--api", api][..], &files].concat());
        assert_eq!(status.code(), Some(0), "{api}: {}", String::from_utf8_lossy(&stderr));
        let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
        assert_eq!((&report["example"], &report["api"]), (&"jacobi_ladder".into(), &api.into()));
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 14);
        for row in rows {
            let (ms, mflops) = (row["ms"].as_f64().unwrap(), row["mflops"].as_f64().unwrap());
            assert!((mflops * ms / (20e-3 * 4096.0) - 1.0).abs() < 1e-9, "{row}");
            let on_device = row["draws"] != 0;
            assert_eq!(row["share_of_fetch_ceiling"].is_f64(), on_device, "{row}");
        }
        let checks = report["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 14);
        assert!(checks.iter().all(|check| check["pass"] == true), "{checks:?}");
        // The tutorial's own columns stand apart, with their gap.
        let papers = report["papers_table_2005"].as_array().unwrap();
        assert_eq!((papers.len(), &papers[5]["mflops"][1]), (6, &serde_json::Value::Null));
        assert!(fs::metadata(&plot).unwrap().len() > 1000);
    }
}
