//! The examples `smoke` and `cavity` from outside: exit codes, the JSON reports, the pictures.
#![cfg(feature = "headless")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs an example, which cargo builds beside this test: `target/PROFILE/examples/NAME`.
fn run(name: &str, args: &[&str]) -> Output {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is not built: a plain `cargo test` does it", program.display());
    Command::new(program).args(args).env_remove("TEXLA_API").output().unwrap()
}

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fluid-{name}"));
    let _ = fs::remove_file(&path);
    path
}

fn report(path: &Path) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["pass"] == true), "{checks:?}");
    report
}

/// The colours of a picture, coarsely: one of 32768.
fn colours(path: &Path) -> HashSet<[u8; 3]> {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    bytes.chunks_exact(3).map(|p| [p[0] >> 3, p[1] >> 3, p[2] >> 3]).collect()
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let cases: [(&str, &[&str], &str); 13] = [
        ("smoke", &["--size", "30"], "multiple of 4"),
        ("smoke", &["--size", "1024"], "from 32 to 512"),
        ("smoke", &["--frames", "0"], "--frames"),
        ("smoke", &["--frames", "18446744073709551615"], "--frames takes"),
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
        let Output { status, stderr, .. } = run(name, args);
        let stderr = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(2), "{name} {args:?}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains(text), "{name} {args:?}: {stderr}");
    }
}

/// A short run in each API: picture, animation, the divergence before and after, and a second run like the first.
#[test]
fn smoke_reports_and_repeats() {
    for api in ["gl33", "es30"] {
        let (json, picture, animation) = (
            scratch(&format!("{api}.json")),
            scratch(&format!("{api}.png")),
            scratch(&format!("{api}-a.png")),
        );
        let paths = [&json, &picture, &animation].map(|path| path.to_str().unwrap());
        let size = ["--quick", "--size", "48", "--frames", "40", "--api", api];
        let files = ["--json", paths[0], "--picture", paths[1], "--animation", paths[2]];
        let output = run("smoke", &[size.as_slice(), &files].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let report = report(&json);
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
    let (json, plot) = (scratch("cavity.json"), scratch("cavity.png"));
    let files = ["--json", json.to_str().unwrap(), "--plot", plot.to_str().unwrap()];
    let output = run("cavity", &[["--size", "32"].as_slice(), &files].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = report(&json);
    assert_eq!(report["profile_u"].as_array().unwrap().len(), 34);
    assert_eq!(report["rows"][0]["grid"], 32);
    assert!(colours(&plot).len() > 10);
}
