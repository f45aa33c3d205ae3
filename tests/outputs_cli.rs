//! What every program keeps to: outputs are checked before the work and replaced as a whole, nothing that is printed is
//! lost without a word, and messages are safe to show.
#![cfg(all(feature = "headless", feature = "pack", feature = "io", feature = "script", feature = "sim"))]

mod common;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::cli::{Ran, assert_refused, command, ended, feed, finish, passed, run, scratch, write};

const SMALL: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n";

/// Programs with the flags by which their source names files to be written.
fn output_flags() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let main = if entry.is_dir() { entry.join("main.rs") } else { entry };
        let Ok(text) = fs::read_to_string(&main) else { continue };
        if !text.contains("support::main_with(") {
            continue;
        }
        found.push((name.clone(), "--json".to_owned()));
        let (mut attribute, mut inside) = (String::new(), false);
        for line in text.lines().map(str::trim) {
            inside |= line.starts_with("struct Args");
            inside &= line != "}";
            if line.starts_with("#[arg") {
                attribute.push_str(line);
            } else if let Some((field, kind)) =
                line.split_once(": ").filter(|_| inside && !line.starts_with("//"))
            {
                if kind.contains("PathBuf") && !attribute.contains("value_hint") {
                    found.push((name.clone(), format!("--{}", field.replace('_', "-"))));
                }
                attribute.clear();
            }
        }
    }
    found
}

#[test]
fn outputs_that_cannot_be_written_are_noticed_before_the_work() {
    let flags = output_flags();
    assert!(flags.len() > 40, "{flags:?}");
    for (name, flag) in
        [("solve", "--out"), ("smoke", "--animation"), ("cavity", "--plot"), ("pack", "--picture")]
    {
        assert!(flags.contains(&(name.to_owned(), flag.to_owned())), "{name} {flag}");
    }
    // A name that flags of figures take too.
    let folder = scratch("folder.svg");
    let _ = fs::create_dir(&folder);
    for (name, flag) in flags {
        assert_refused(&name, &[&flag, "no such folder/file.svg"], "cannot write no such folder/file.svg");
        assert_refused(&name, &[&flag, &folder], "it is a folder");
    }
}

/// By the same path, a link, or a second name of the file.
#[cfg(unix)]
#[test]
fn inputs_are_not_replaced() {
    // Named as figures are, or their flags refuse it for that.
    let matrix = write("kept.svg", SMALL);
    let script = write("kept.texla", "print(1)\n");
    let names = |file: &str| {
        let [soft, hard] = ["soft", "hard"].map(|kind| scratch(&format!("{kind}-{}.svg", file.len())));
        std::os::unix::fs::symlink(file, &soft).unwrap();
        fs::hard_link(file, &hard).unwrap();
        [file.to_owned(), soft, hard]
    };
    for name in names(&matrix) {
        for flag in ["--out", "--json", "--plot"] {
            assert_refused("solve", &["--matrix", &matrix, flag, &name], "is an input");
        }
        assert_refused("pack", &["--matrix", &matrix, "--picture", &name], "is an input");
    }
    for name in names(&script) {
        assert_refused("script", &[&script, "--json", &name], "is an input");
    }
    let out = scratch("twice");
    assert_refused("solve", &["--quick", "--out", &out, "--json", &out], "two outputs");
    assert_eq!(fs::read_to_string(&matrix).unwrap(), SMALL);
    assert_eq!(fs::read_to_string(&script).unwrap(), "print(1)\n");
    // What the shell has opened for the program counts too.
    let text = fs::read(&script).unwrap();
    let ran = ended(command("script").args(["-", "--json", &script]).stdin(File::open(&script).unwrap()));
    assert_eq!(ran.code, 2);
    let log = scratch("log");
    let quick = ["--quick", "--json", &log];
    assert_eq!(ended(command("solve").args(quick).stdout(File::create(&log).unwrap())).code, 2);
    assert_eq!((fs::read(&script).unwrap(), fs::read(&log).unwrap()), (text, Vec::new()));
    assert_eq!(ended(command("solve").args(quick).stderr(File::create(&log).unwrap())).code, 2);
    assert!(fs::read_to_string(&log).unwrap().contains("is standard error"));
}

/// An output of before is there until its successor is complete, and no part of that is left.
#[test]
fn outputs_are_replaced_as_a_whole() {
    let folder = PathBuf::from(scratch("whole"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let path = |name: &str| folder.join(name).into_os_string().into_string().unwrap();
    let (out, report) = (path("x.mtx"), path("r.json"));
    fs::write(&out, "old").unwrap();
    let unsymmetric =
        write("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n1 2 5\n2 2 1\n");
    let ran = run("solve", &["--matrix", &unsymmetric, "--method", "cg", "--out", &out, "--json", &report]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    let matrix = write("good.mtx", SMALL);
    assert_eq!(run("solve", &["--matrix", &matrix, "--out", &out, "--json", &report]).code, 0);
    assert_eq!(texla::host::market::read_vector(&out).unwrap().len(), 2);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn what_standard_output_refuses_is_not_lost() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let program = ["--instance", "rk20", "--proposals", "1000", "--emit", "listing"];
    let whole = run("pack", &program).stdout;
    let listing: Vec<&str> =
        whole.lines().filter(|line| line.contains("MAD") || line.contains("DP4")).collect();
    assert!(listing.len() >= 10, "{whole}");
    let report = scratch("full.json");
    let Ran { code, stderr, .. } =
        ended(command("pack").args(program).args(["--json", &report]).stdout(full()));
    assert_eq!(code, 2, "{stderr}");
    let last = stderr.lines().last().unwrap();
    assert!(last.starts_with("pack: cannot write the output: ") && last.contains("space"), "{stderr}");
    assert!(listing.iter().all(|line| stderr.contains(line)), "{stderr}");
    assert!(fs::read_to_string(&report).unwrap().contains("\"order\""));
    // A check that fails as well keeps its code.
    let failed = ["--quick", "--max-iters", "3"];
    let Ran { code, stderr, .. } = ended(command("solve").args(failed).stdout(full()));
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.lines().last().unwrap().starts_with("solve: cannot write the output: "), "{stderr}");
    // A script ends at its first print, and so says help.
    for args in [&["--help"][..], &["-"]] {
        let mut script = command("script");
        let ran = feed(script.args(args).stdout(full()).stderr(Stdio::piped()), b"print(1)\n");
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("cannot write the output"), "{args:?}: {}", ran.stderr);
    }
    // A pipe by its name is written as it is.
    let ran = run("solve", &["--quick", "--out", "/dev/stdout"]);
    assert!(ran.code == 0 && ran.stdout.contains("%%MatrixMarket"), "{}{}", ran.stdout, ran.stderr);
    // A reader that has seen enough is no fault.
    for name in ["pack", "script"] {
        let mut ended = command(name);
        let args: &[&str] = if name == "pack" { &program } else { &["--quick"] };
        let mut child = ended.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = child.wait_with_output().unwrap();
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), &b""[..]), "{name}");
    }
}

#[test]
fn messages_are_safe_and_say_how_to_go_on() {
    let hostile = write("esc.mtx", "%%MatrixMarket matrix \u{1b}[2J\u{202e} real general\n");
    let unsymmetric =
        write("unsym.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 2\n");
    let cases: [(&str, &[&str], &str); 11] = [
        ("solve", &["--matrix", &hostile], "\\u{1b}[2j\\u{202e}"),
        ("solve", &["--matrix", "no\u{1b}[31m/such.mtx"], "no\\u{1b}[31m/such.mtx: No such file"),
        ("script", &["no\u{7}such"], "no\\u{7}such: "),
        ("solve", &["--matrix", "nope.mtx"], "solve: nope.mtx: No such file"),
        (
            "solve",
            &["--matrix", &unsymmetric, "--method", "cg"],
            "--method gmres takes it, with --precond ilut at best, and --method auto",
        ),
        ("solve", &["--quick", "--tol", "1e300"], "--tol 1e300: expected"),
        ("solve", &["--quick", "--tol", "1e-30"], "--tol 1e-30: expected"),
        ("solve", &["--quick", "--check-every", "1001"], "--check-every 1001: expected 1 to 1000"),
        ("solve", &["--quick", "--check-every", "1000000000000"], "expected 1 to 1000"),
        ("pack", &["--seconds", "1e300"], "--seconds 1e300: expected a number from 0.001 to 1000000"),
        ("regula_falsi", &["--tolerance", "1e-30"], "--tolerance 1e-30:"),
    ];
    for (name, args, text) in cases {
        assert_refused(name, args, text);
        let stderr = run(name, args).stderr;
        assert!(!stderr.trim_end().chars().any(|c| c.is_control() || c == '\u{202e}'), "{stderr:?}");
        assert!(stderr.len() < 400, "{stderr}");
    }
    // The ways that the message names.
    for way in [&["--method", "gmres", "--precond", "ilut"][..], &["--method", "auto"]] {
        let report = passed("solve", &[&["--matrix", &unsymmetric], way].concat());
        assert_eq!(report["reason"], "converged");
    }
    let ran = finish(command("script").arg("-"), "print(\"\u{1b}[2J\")\nx = \"\u{9b}\"".as_bytes());
    assert!(!ran.stderr.contains('\u{9b}') && ran.stderr.contains("\\u{9b}"), "{:?}", ran.stderr);
}
