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
    for args in [&["-"][..], &[]] {
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
