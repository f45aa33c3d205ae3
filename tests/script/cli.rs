//! The example from outside: exit codes, messages, standard input, the JSON report.

use std::fs;

use crate::common::cli::{self, Ran, assert_refused, passed, write};

fn run(args: &[&str], input: &[u8]) -> Ran {
    cli::finish(cli::command("script").args(args), input)
}

#[test]
fn a_file_and_standard_input() {
    let script = write("ok.texla", "A = [1 2; 3 4]\nprint(A * A)\n");
    for api in ["gl33", "es30"] {
        let ran = run(&[&script, "--api", api], b"");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, " 7  10\n15  22\n", ""));
    }
    for args in [&["-"][..], &[], &["--precision", "Single"]] {
        let ran = run(args, b"print(1 + 2)");
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "3\n", ""), "{args:?}");
    }
}

#[test]
fn the_first_error_ends_with_exit_code_2_and_a_caret() {
    let script = write("bad.texla", "print(1)\nA = ones(3, 2)\nC = A * A\nprint(2)\n");
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
        assert_refused("script", args, text);
    }
}

/// `save` and `load` work relative to the folder in which the program runs.
#[test]
fn files_of_the_current_folder() {
    let folder = crate::common::scratch::folder().join("script-cli-folder");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("s.texla"),
        "save([1 2], \"x.mtx\")\nprint(load(\"x.mtx\") * 2)\nsave(unknown, \"y.mtx\")",
    )
    .unwrap();
    let ran = cli::finish(cli::command("script").arg("s.texla").current_dir(&folder), b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, "2  4\n"));
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["s.texla", "x.mtx"]);
}

#[test]
fn the_bundled_scripts_and_the_report() {
    let report = passed("script", &["--quick"]);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["checks"].as_array().unwrap().len(), 3);
    let names: Vec<&str> =
        report["rows"].as_array().unwrap().iter().map(|row| row["script"].as_str().unwrap()).collect();
    assert_eq!(names, ["cg.texla", "lcp.texla", "tour.texla"]);
    assert!(report["rows"][0]["draws"].as_u64().unwrap() > 50);
}

/// The report is written by the program after the script, whatever name the script gives the file.
#[test]
fn the_report_is_out_of_the_scripts_hands() {
    let matrix = "%%MatrixMarket matrix array real general\n1 2\n1\n2\n";
    let file = write("report.mtx", matrix);
    let (folder, name) = file.rsplit_once('/').unwrap();
    for path in [file.clone(), format!("{folder}/./{name}")] {
        for text in [format!("A = load(\"{path}\")\n"), format!("save([3 4], \"{path}\")\n")] {
            let ran = run(&[&write("report.texla", &text), "--json", &file], b"");
            assert_eq!(ran.code, 2, "{text}: {}", ran.stderr);
            assert!(ran.stderr.contains("writes that file itself"), "{text}: {}", ran.stderr);
            assert_eq!(fs::read_to_string(&file).unwrap(), matrix, "{text}");
        }
    }
}

/// The script and what the shell has opened may be read, and are not saved over, by whatever name.
#[cfg(unix)]
#[test]
fn what_the_program_is_using_is_not_saved_over() {
    let log = write("used.log", "");
    let hard = cli::scratch("used-hard.texla");
    let script = write("used.texla", "");
    fs::hard_link(&script, &hard).unwrap();
    for name in [&script, &hard, &log] {
        let text = format!("print(1)\nsave([3 4], \"{name}\")\n");
        fs::write(&script, &text).unwrap();
        for args in [&[script.as_str()][..], &["-"]] {
            let mut command = cli::command("script");
            command.args(args).stdin(fs::File::open(&script).unwrap());
            let Ran { code, stderr, .. } = cli::ended(command.stdout(fs::File::create(&log).unwrap()));
            assert_eq!(code, 2, "{args:?} {name}: {stderr}");
            assert!(stderr.contains("is using that file"), "{args:?} {name}: {stderr}");
            assert_eq!(
                (fs::read_to_string(&log).unwrap().as_str(), &fs::read_to_string(&script).unwrap()),
                ("1\n", &text)
            );
        }
    }
    fs::write(&script, "1 2 # numbers, and no script\n").unwrap();
    let loads = write("loads.texla", &format!("# 1 2\nA = load(\"{script}\")\nprint(A)\n"));
    assert_eq!(run(&[&loads], b"").stdout, "1  2\n");
    let itself = write("itself.txt", "# 7");
    fs::write(&itself, format!("B = load(\"{itself}\")\n")).unwrap();
    assert!(run(&[&itself], b"").stderr.contains("line 1: `B`"), "a script may read itself");
}

/// At a prompt too: the session ends before its report replaces what was meant to be read.
#[cfg(target_os = "linux")]
#[test]
fn a_prompt_leaves_a_file_alone_that_was_to_be_loaded() {
    use std::process::Command;
    let tool = Command::new("script").arg("--version").output();
    assert!(
        tool.is_ok(),
        "the tool `script`, which gives a program a terminal, is missing: package bsdutils"
    );
    let session = |json: &str, text: &str| {
        let line = format!("'{}' --json '{json}'", cli::command("script").get_program().display());
        let mut terminal = Command::new("script");
        cli::finish(terminal.args(["-q", "-e", "-c", &line, "/dev/null"]), format!("{text}\u{4}").as_bytes())
    };
    let json = cli::scratch("prompt.json");
    let ran = session(&json, "x = 2 * 21\nnone\nx\n");
    assert!(ran.code == 0 && ran.stdout.contains("42"), "{}", ran.stdout);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["entered"], 3);
    let data = write("prompt.txt", "1 2\n");
    for text in [format!("A = load(\"{data}\")\n"), format!("save(1, \"{data}\")\n")] {
        let ran = session(&data, &text);
        assert!(ran.code == 2 && ran.stdout.contains("writes that file itself"), "{text}: {}", ran.stdout);
        assert_eq!(fs::read_to_string(&data).unwrap(), "1 2\n", "{text}");
    }
}
