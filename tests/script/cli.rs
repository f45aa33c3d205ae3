//! The example from outside: exit codes, messages, standard input, the JSON report.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The example, which cargo builds beside this test: `target/PROFILE/examples/script`.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(format!("script{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} is not built: run `cargo build --example script` first",
        program.display()
    );
    program
}

/// A file of its own for each test.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("script-cli-{name}"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn run(args: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(program());
    command.args(args).env_remove("TEXLA_API").env_remove("TEXLA_DEVICE");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that refuses its flags does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    Ran { code: output.status.code().unwrap(), stdout, stderr }
}

#[test]
fn a_file_and_standard_input() {
    let script = file("ok.texla", "A = [1 2; 3 4]\nprint(A * A)\n");
    for api in ["gl33", "es30"] {
        let ran = run(&[&script, "--api", api], b"");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, " 7  10\n15  22\n", ""));
    }
    for args in [&["-"][..], &[]] {
        let ran = run(args, b"print(1 + 2)");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "3\n", ""), "{args:?}");
    }
}

#[test]
fn the_first_error_ends_with_exit_code_2_and_a_caret() {
    let script = file("bad.texla", "print(1)\nA = ones(3, 2)\nC = A * A\nprint(2)\n");
    let ran = run(&[&script], b"");
    let expected = format!(
        "script: {script}: line 3, column 7: A is 3x2 and A is 3x2: A * A needs as many rows in A as A has columns\n    \
         C = A * A\n          ^\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (2, "1\n", expected));
    // A mistake in the text is told before anything runs.
    let ran = run(&["-"], b"print(1)\nx = (\n");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(
        ran.stderr.starts_with("script: standard input: line 2, column 5: the script ends before"),
        "{}",
        ran.stderr
    );
    let ran = run(&["-"], b"x = \xff");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("the byte 0xff is no UTF-8 text"), "{}", ran.stderr);
}

#[test]
fn bad_flags_and_files() {
    for (args, text) in [
        (&["/nowhere/x.texla"][..], "/nowhere/x.texla: "),
        (&["--sideways"], "--sideways"),
        (&["a", "b"], "unexpected"),
    ] {
        let ran = run(args, b"");
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("script: ") && ran.stderr.contains(text), "{}", ran.stderr);
    }
}

/// `save` and `load` work relative to the folder in which the program runs.
#[test]
fn files_of_the_current_folder() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script-cli-folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("s.texla"),
        "save([1 2], \"x.mtx\")\nprint(load(\"x.mtx\") * 2)\nsave(unknown, \"y.mtx\")",
    )
    .unwrap();
    let output = Command::new(program()).arg("s.texla").current_dir(&folder).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b"2  4\n"[..]));
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["s.texla", "x.mtx"]);
}

#[test]
fn the_bundled_scripts_and_the_report() {
    let json = file("quick.json", "");
    let ran = run(&["--quick", "--json", &json], b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let report: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!((&report["schema"], &report["example"]), (&1.into(), &"script".into()));
    let checks = report["checks"].as_array().unwrap();
    assert!(checks.len() == 3 && checks.iter().all(|check| check["pass"] == true), "{report}");
    let names: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["script"].as_str().unwrap()).collect();
    assert_eq!(names, ["cg.texla", "lcp.texla", "tour.texla"]);
    assert!(report["rows"][0]["draws"].as_u64().unwrap() > 50);
}
